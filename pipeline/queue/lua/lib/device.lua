-- The turn of one device in one lane: its virtual tag, its line, its seat among the devices of its site.

-- What a device leaves behind when it has nothing pending is forgotten after this, seconds.
local IDLE_META_SECONDS = 86400
-- Wake-ups kept for consumers that are busy now; more would only be stale.
local WAKE_MAX = 64

-- Active means: something in line or in flight. phi of the site is the sum of the weights of its active devices.
local function account_activity(lane, device, head, policy)
  local counted = lane_get(device, 'active')
  local is_active = head ~= nil or lane_get(device, 'inflight') > 0
  local phi_before = site_get(lane, 'phi')
  if is_active and counted == 0 then
    local floor = site_get(lane, 'v') - head_start(lane, head) / weight_of(device)
    lane_put(device, 'tag', math.max(lane_get(device, 'tag'), floor))
    lane_put(device, 'active', weight_of(device))
    site_put(lane, 'phi', phi_before + weight_of(device))
  elseif not is_active and counted > 0 then
    lane_put(device, 'active', 0)
    lane_put(device, 'charge', 0)
    local phi = phi_before - counted
    site_put(lane, 'phi', phi > 1e-9 and phi or 0)
  end
  account_site(lane, phi_before, head, policy)
end

local function turn_score(lane, device, head, policy)
  if policy == 'aging' then return head.order end
  local ahead = lane_get(device, 'charge') + estimate(lane, head.class)
  return lane_get(device, 'tag') + ahead / weight_of(device)
end

-- A device that was out of the ready set does not come back with more credit than one task of the dearest kind.
local function clamp_tag(lane, device)
  local floor = site_get(lane, 'v') - largest_estimate(lane) / weight_of(device)
  lane_put(device, 'tag', math.max(lane_get(device, 'tag'), floor))
end

-- Note when something falls due, and ring for the scheduler when that is sooner than all it could know of.
local function fall_due(key, due, member)
  redis.call('ZADD', key, digits(due), member)
  if redis.call('ZRANGE', key, 0, 0)[1] ~= member then return end
  redis.call('LPUSH', bell_key(), '1')
  redis.call('LTRIM', bell_key(), 0, 0)
end

-- Make the site's ready set agree with the device: seated iff its line is not empty and no gate is shut. Equal scores
-- are served in the order of seating: the member starts with a sequence number, never with the MAC.
-- Returns the score it has there, or nil.
local function seat(lane, device, head, policy, now)
  account_activity(lane, device, head, policy)
  local turn = text(device.part, 'turn')
  local gate, opens = shut_gate(device, now)
  if head and not gate then
    if turn == '' then
      turn = next_seq(lane) .. ':' .. device.mac
      lane_put(device, 'turn', turn)
      clamp_tag(lane, device)
    end
    local score = turn_score(lane, device, head, policy)
    redis.call('ZADD', schedule_key(device.lane, lane.site), digits(score), turn)
    return {member = turn, score = score}
  end
  if head and opens then fall_due(backoff_key(), opens, device.mac .. ':' .. device.lane) end
  if turn ~= '' then
    redis.call('ZREM', schedule_key(device.lane, lane.site), turn)
    lane_put(device, 'turn', '')
  end
  return nil
end

-- Wake one waiting consumer; each wake-up is taken by one only.
local function wake(lane_name)
  redis.call('LPUSH', wake_key(lane_name), '1')
  redis.call('LTRIM', wake_key(lane_name), 0, WAKE_MAX - 1)
end

-- Its line is empty: the indexes of waiting devices, of all and of its site, forget it.
local function leave_oldest(lane, device)
  redis.call('ZREM', oldest_key(device.lane), device.mac)
  redis.call('ZREM', oldest_of_key(device.lane, lane.site), device.mac)
end

-- After any change to the line from outside a claim: seat device and site, keep the index of waiting devices, wake one.
local function reseat(lane, device, policy, now)
  local head = head_of(device.mac, device.lane)
  if head then
    redis.call('ZADD', oldest_key(device.lane), digits(head.order), device.mac)
    redis.call('ZADD', oldest_of_key(device.lane, lane.site), digits(head.order), device.mac)
  else
    leave_oldest(lane, device)
  end
  local seated = seat(lane, device, head, policy, now)
  seat_site(lane, first_device(lane.name, lane.site), policy)
  if seated then wake(device.lane) end
end
