-- One device in one lane: its virtual tag, its charge for work in flight, its gates, and its seat in the ready set.

-- What a device leaves behind when it has nothing pending is forgotten after this, seconds.
local IDLE_META_SECONDS = 86400
-- Wake-ups kept for consumers that are busy now; more would only be stale.
local WAKE_MAX = 64

local function open_device(mac, lane_name)
  local device = open_record(meta_key(mac), {
    'site', 'weight', 'max_inflight', 'paused', 'pending_count',
    'tag:' .. lane_name, 'charge:' .. lane_name, 'inflight:' .. lane_name, 'active:' .. lane_name,
    'turn:' .. lane_name, 'unschedulable_until:' .. lane_name,
  })
  device.mac = mac
  device.lane = lane_name
  return device
end

local function lane_get(device, field) return get(device, field .. ':' .. device.lane) end
local function lane_put(device, field, value) put(device, field .. ':' .. device.lane, value) end
local function lane_add(device, field, amount) add(device, field .. ':' .. device.lane, amount) end

local function weight_of(device)
  local weight = get(device, 'weight')
  return weight > 0 and weight or 1
end

local function is_gated(device, now)
  local cap = get(device, 'max_inflight')
  return text(device, 'paused') == '1'
    or (cap > 0 and lane_get(device, 'inflight') >= cap)
    or lane_get(device, 'unschedulable_until') > now
end

-- The first task in line: {order, class, task_id, member}, or nil.
local function head_of(mac, lane_name)
  local first = redis.call('ZRANGE', line_key(mac, lane_name), 0, 0, 'WITHSCORES')
  if #first == 0 then return nil end
  local class, task_id = string.match(first[1], '^%d+:(%d+):(.+)$')
  return {member = first[1], order = tonumber(first[2]), class = class, task_id = task_id}
end

-- Active means: something in line or in flight. phi is the sum of the weights of active devices.
local function account_activity(lane, device, has_line)
  local counted = lane_get(device, 'active')
  local is_active = has_line or lane_get(device, 'inflight') > 0
  if is_active and counted == 0 then
    lane_put(device, 'tag', math.max(lane_get(device, 'tag'), get(lane, 'v')))
    lane_put(device, 'active', weight_of(device))
    put(lane, 'phi', get(lane, 'phi') + weight_of(device))
  elseif not is_active and counted > 0 then
    lane_put(device, 'active', 0)
    lane_put(device, 'charge', 0)
    local phi = get(lane, 'phi') - counted
    put(lane, 'phi', phi > 1e-9 and phi or 0)
  end
end

local function turn_score(lane, device, head, policy)
  if policy == 'aging' then return head.order end
  local ahead = lane_get(device, 'charge') + estimate(lane, head.class)
  return lane_get(device, 'tag') + ahead / weight_of(device)
end

-- Make the ready set agree with the device: seated iff its line is not empty and no gate is shut. Equal scores are
-- served in the order of seating: the member starts with a sequence number, never with the MAC.
local function seat(lane, device, head, policy, now)
  account_activity(lane, device, head ~= nil)
  local turn = text(device, 'turn:' .. device.lane)
  if head and not is_gated(device, now) then
    if turn == '' then
      turn = next_seq(lane) .. ':' .. device.mac
      lane_put(device, 'turn', turn)
    end
    redis.call('ZADD', schedule_key(device.lane), digits(turn_score(lane, device, head, policy)), turn)
  elseif turn ~= '' then
    redis.call('ZREM', schedule_key(device.lane), turn)
    lane_put(device, 'turn', '')
  end
end

-- Wake one waiting consumer; each wake-up is taken by one only.
local function wake(lane_name)
  redis.call('LPUSH', wake_key(lane_name), '1')
  redis.call('LTRIM', wake_key(lane_name), 0, WAKE_MAX - 1)
end

-- After any change to the line from outside a claim: seat the device, keep the index of waiting devices, wake one.
local function reseat(lane, device, policy, now)
  local head = head_of(device.mac, device.lane)
  if head then
    redis.call('ZADD', oldest_key(device.lane), digits(head.order), device.mac)
  else
    redis.call('ZREM', oldest_key(device.lane), device.mac)
  end
  seat(lane, device, head, policy, now)
  if text(device, 'turn:' .. device.lane) ~= '' then wake(device.lane) end
end

-- A device that was kept out by a gate must not come back with more credit than one task of the dearest kind.
local function clamp_tag(lane, device)
  local floor = get(lane, 'v') - largest_estimate(lane) / weight_of(device)
  lane_put(device, 'tag', math.max(lane_get(device, 'tag'), floor))
end
