-- May this device put one more task in line? Limits count waiting, delayed and in flight: a claim frees nothing.

-- Seconds until there is likely room: one end of the whole lane, or one of this device's share of the ends.
local function retry_after(lane, device, is_own_limit, default_s, now)
  -- The rate is an average over a minute, quiet ones included; what runs now ends at the latest in about its cost.
  local rate = math.max(drain_rate(lane, now), get(lane, 'busy') / largest_estimate(lane))
  if rate <= 0 then return default_s end
  local ends = is_own_limit and math.max(1, get(lane, 'phi') / weight_of(device)) or 1
  return math.min(600, math.max(1, math.ceil(ends / rate / 1000)))
end

-- At the rate at which tasks end now and its share of it, the device's backlog outlasts a task's time to live.
local function would_expire(lane, device, late_ms, now)
  local rate, active, phi = drain_rate(lane, now), lane_get(device, 'active'), site_get(lane, 'phi')
  if late_ms == 0 or rate <= 0 or active <= 0 then return false end
  local share = active / math.max(phi, active) * site_weight(lane) / math.max(get(lane, 'phi'), site_weight(lane))
  return get(device, 'pending_count') / (rate * share) > late_ms
end

-- 'open', or why not: 'full' (everybody), 'device_full' (this device), 'closed' (to all, because others are full),
-- 'too_late' (it would expire in line).
local function admission(lane, device, max_total, max_per_mac, scope, late_ms, now)
  -- Nothing is left of the limit that the other shards count in.
  if max_total <= 0 then return 'closed' end
  if tonumber(redis.call('GET', global_pending_key()) or 0) >= max_total then return 'full' end
  if get(device, 'pending_count') >= max_per_mac then return 'device_full' end
  if scope == 'all' and redis.call('SCARD', overloaded_key()) > 0 then return 'closed' end
  if would_expire(lane, device, late_ms, now) then return 'too_late' end
  return 'open'
end

-- The reply for a door that is not open; whoever shut it, to the caller the service is full.
local function refusal(lane, device, verdict, default_s, now)
  local is_own_limit = verdict == 'device_full' or verdict == 'too_late'
  return {is_own_limit and verdict or 'full', retry_after(lane, device, is_own_limit, default_s, now)}
end
