-- One task: its record, its way out of a lease, its end.

local TASK_FIELDS = {
  'lane', 'mac', 'site', 'state', 'token', 'attempts', 'defers', 'losses', 'class', 'order', 'member', 'payload',
  'enqueued_ms', 'charged', 'claimed_ms', 'started_ms', 'replays',
}
local IS_END = {done = true, failed = true, dead = true, expired = true, evicted = true, cancelled = true}

local function open_task(task_id)
  local task = open_record(task_key(task_id), TASK_FIELDS)
  task.id = task_id
  return task
end

-- The caller holds the lease named by this token.
local function holds(task, token)
  local state = text(task, 'state')
  return (state == 'leased' or state == 'running') and text(task, 'token') == token
end

-- The lane, with the task's site, and the device that the task belongs to.
local function open_owner(task, now)
  local lane = open_lane(text(task, 'lane'), text(task, 'site'), now)
  return lane, open_device(text(task, 'mac'), lane.name)
end

-- Take the task out of flight and charge its device and its site what it really cost.
local function release(lane, device, task, cost)
  -- A clock that was set back must not pay the device.
  cost = math.max(0, cost)
  redis.call('ZREM', leases_key(lane.name), task.id)
  add(lane, 'busy', -1)
  site_add(lane, 'inflight', -1)
  site_put(lane, 'charge', math.max(0, site_get(lane, 'charge') - get(task, 'charged')))
  site_add(lane, 'tag', cost / site_weight(lane))
  lane_add(device, 'inflight', -1)
  lane_put(device, 'charge', math.max(0, lane_get(device, 'charge') - get(task, 'charged')))
  lane_add(device, 'tag', cost / weight_of(device))
  put(task, 'charged', 0)
end

-- Back into its device's line at its old place, which is the head: everything older has been claimed before.
local function put_back(lane, device, task)
  redis.call('ZADD', line_key(device.mac, lane.name), text(task, 'order'), text(task, 'member'))
  put(task, 'state', 'queued')
  add(lane, 'waiting', 1)
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

-- A task in line whose record is gone: as if it had never been put in line. The ledger still has it, so the reconciler
-- puts it back. False when no such task was ever in line.
local function forget(lane, device, task_id)
  if redis.call('ZREM', expiry_key(), task_id) == 0 then return false end
  add(lane, 'waiting', -1)
  add(lane, 'accepted', -1)
  add(device, 'pending_count', -1)
  redis.call('DECR', global_pending_key())
  return true
end

-- Write the device; once nothing of it is pending, what is left is forgotten in a day unless an operator set it.
local function save_device(device)
  save(device)
  local is_set = text(device, 'weight') .. text(device, 'max_inflight') .. text(device, 'rate_per_minute')
    .. text(device, 'paused') ~= ''
  if get(device, 'pending_count') <= 0 and not is_set then redis.call('EXPIRE', device.key, IDLE_META_SECONDS) end
end
