-- May this device put one more task in line? Limits count waiting, delayed and in flight: a claim frees nothing.

-- Seconds until there is likely room: one end of the whole lane, or one of this device's share of the ends.
local function retry_after(lane, device, is_own_limit, default_s, now)
  local rate = drain_rate(lane, now)
  if rate <= 0 then return default_s end
  local ends = is_own_limit and math.max(1, get(lane, 'phi') / weight_of(device)) or 1
  return math.min(600, math.max(1, math.ceil(ends / rate / 1000)))
end

-- 'open', or the limit that is reached: 'full' (everybody), 'device_full' (this device).
local function admission(device, max_total, max_per_mac, scope)
  if tonumber(redis.call('GET', global_pending_key()) or 0) >= max_total then return 'full' end
  if get(device, 'pending_count') >= max_per_mac then return 'device_full' end
  if scope == 'all' and redis.call('SCARD', overloaded_key()) > 0 then return 'full' end
  return 'open'
end
