-- The ways of a task out of its place: back in line, delayed, ended, forgotten.

-- Take the task out of flight and charge its device and its site what it really cost.
local function release(lane, device, task, cost)
  -- A clock that was set back must not pay the device.
  cost = math.max(0, cost)
  redis.call('ZREM', leases_key(lane.name), address_of(task))
  keep_busy(lane, -share_of(task))
  site_put(lane, 'charge', math.max(0, site_get(lane, 'charge') - get(task, 'charged')))
  site_add(lane, 'tag', cost / site_weight(lane))
  lane_add(device, 'inflight', -1)
  lane_put(device, 'charge', math.max(0, lane_get(device, 'charge') - get(task, 'charged')))
  lane_add(device, 'tag', cost / weight_of(device))
  note_served(lane.part, cost, get(lane, 't'))
  note_served(device.part, cost, get(lane, 't'))
  put(task, 'charged', 0)
  if get(task, 'share') > 0 then put(task, 'share', 0) end
end

-- Back into its device's line at its old place, which is the head: everything older has been claimed before.
local function put_back(lane, device, task)
  redis.call('ZADD', line_key(device.mac, lane.name), text(task, 'order'), text(task, 'member'))
  put(task, 'state', 'queued')
  add(lane, 'waiting', 1)
end

-- Delay it until its time has come.
local function delay(lane, task, due)
  fall_due(delayed_key(), due, address_of(task))
  put(task, 'state', 'delayed')
  add(lane, 'delayed', 1)
end

-- Out of its line, of the delayed ones or of its lease, wherever it is.
local function take_out(lane, device, task, now)
  local state = text(task, 'state')
  if state == 'queued' then
    redis.call('ZREM', line_key(device.mac, lane.name), text(task, 'member'))
    add(lane, 'waiting', -1)
  elseif state == 'delayed' then
    redis.call('ZREM', delayed_key(), address_of(task))
    add(lane, 'delayed', -1)
  else
    release(lane, device, task, used_ms(task, now))
  end
end

local function end_task(lane, device, task, state, code, dedupe_ms, max_per_mac, now)
  put(task, 'state', state)
  put(task, 'code', code)
  put(task, 'ended_ms', now)
  save(task)
  redis.call('PEXPIRE', task.key, dedupe_ms)
  redis.call('ZREM', expiry_key(), task.id)
  redis.call('DECR', global_pending_key())
  add(lane, state, 1)
  count_drain(lane, now)
  add(device, 'pending_count', -1)
  if get(device, 'pending_count') < max_per_mac then redis.call('SREM', overloaded_key(), device.mac) end
end

-- End a task that has not ended, wherever it is; its holder, if any, loses the lease.
local function end_wherever(task, state, code, policy, dedupe_ms, max_per_mac, now)
  local lane, device = open_owner(task, now)
  take_out(lane, device, task, now)
  end_task(lane, device, task, state, code, dedupe_ms, max_per_mac, now)
  reseat(lane, device, policy, now)
  save_device(device)
  save(lane)
end

-- As if it had never come in, for a task that has left its place: its record is gone, or was never wanted. If the
-- ledger has it, the reconciler puts it back. False when no such task ever came in.
local function forget_task(lane, device, task_id, max_per_mac)
  if redis.call('ZREM', expiry_key(), task_id) == 0 then return false end
  add(lane, 'accepted', -1)
  redis.call('DECR', global_pending_key())
  add(device, 'pending_count', -1)
  if get(device, 'pending_count') < max_per_mac then redis.call('SREM', overloaded_key(), device.mac) end
  return true
end

-- The same for one that was met at its place: `count_out` takes it off the counts of that place.
local function forget_lost(lane_name, mac, task_id, policy, max_per_mac, now, count_out)
  local device = open_device(mac, lane_name)
  local lane = open_lane(lane_name, device.site, now)
  if not forget_task(lane, device, task_id, max_per_mac) then return end
  count_out(lane, device)
  reseat(lane, device, policy, now)
  save_device(device)
  save(lane)
end
