-- One device in one lane: what is known of it, and the gates that keep it out of the ready set.

local DEVICE = schema_of({
  'site', 'weight', 'max_inflight', 'rate_per_minute', 'paused', 'paused_lanes', 'pending_count',
}, {
  'tag', 'charge', 'inflight', 'active', 'turn', 'unschedulable_until', 'credit', 'credit_t', 'served', 'served_t',
})

local function open_device(mac, lane_name)
  local device = open_record(meta_key(mac), DEVICE, '', ':' .. lane_name)
  device.mac = mac
  device.lane = lane_name
  device.site = text(device, 'site')
  return device
end

local function lane_get(device, field) return get(device.part, field) end
local function lane_put(device, field, value) put(device.part, field, value) end
local function lane_add(device, field, amount) add(device.part, field, amount) end

local function weight_of(device) return weight_or_one(get(device, 'weight')) end

-- The rate limit is a bucket of tokens that holds one minute's worth, at least one; a claim takes one.
local function bucket_of(device) return math.max(1, get(device, 'rate_per_minute')) end

local function credit_of(device, now)
  if text(device.part, 'credit') == '' then return bucket_of(device) end
  -- A clock that was set back must not stop the tokens until it has caught up.
  if lane_get(device, 'credit_t') > now then lane_put(device, 'credit_t', now) end
  local earned = (now - lane_get(device, 'credit_t')) * get(device, 'rate_per_minute') / 60000
  return math.min(bucket_of(device), lane_get(device, 'credit') + earned)
end

local function take_credit(device, now)
  if get(device, 'rate_per_minute') <= 0 then return end
  lane_put(device, 'credit', credit_of(device, now) - 1)
  lane_put(device, 'credit_t', now)
end

-- What was claimed and not begun gives its token back.
local function return_credit(device, now)
  if get(device, 'rate_per_minute') <= 0 then return end
  lane_put(device, 'credit', math.min(bucket_of(device), credit_of(device, now) + 1))
  lane_put(device, 'credit_t', now)
end

-- When the next token is there: now, or later, epoch ms.
local function rate_opens(device, now)
  local per_minute = get(device, 'rate_per_minute')
  if per_minute <= 0 then return now end
  local missing = 1 - credit_of(device, now)
  return missing <= 1e-9 and now or now + math.ceil(missing * 60000 / per_minute)
end

-- In all lanes, or in this one.
local function is_paused(device)
  if text(device, 'paused') == '1' then return true end
  return string.find(' ' .. text(device, 'paused_lanes') .. ' ', ' ' .. device.lane .. ' ', 1, true) ~= nil
end

-- Which gate keeps the device out, and until when if it opens by itself: 'paused', 'capped', 'deferred', 'rate'; or nil.
local function shut_gate(device, now)
  local cap = get(device, 'max_inflight')
  if is_paused(device) then return 'paused', nil end
  if cap > 0 and lane_get(device, 'inflight') >= cap then return 'capped', nil end
  local deferred_until = lane_get(device, 'unschedulable_until')
  if deferred_until > now then return 'deferred', deferred_until end
  local rate_until = rate_opens(device, now)
  if rate_until > now then return 'rate', rate_until end
  return nil, nil
end
