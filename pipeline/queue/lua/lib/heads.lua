-- The head of a device's line: leased, or put aside when it cannot be. Part of claim.lua.

local function bury_foreign(device, member)
  local foreign = new_record(nil, {}, {})
  foreign.id, foreign.value.mac, foreign.value.lane = member, device.mac, lane_name
  write_dead_letter(foreign, 'dead', 'poisoned_entry', 'the line held what no fairlane wrote', dead_max, now)
end

-- An entry whose task has no record: as if it had never come in, unless it never did.
local function drop(lane, device, entry)
  if not forget_task(lane, device, entry.task_id, max_per_mac) then return bury_foreign(device, entry.member) end
  add(lane, 'waiting', -1)
end

local function expire_head(lane, device, entry)
  local task = open_task(entry.task_id)
  if text(task, 'state') == '' then return drop(lane, device, entry) end
  add(lane, 'waiting', -1)
  end_task(lane, device, task, 'expired', 'expired', dedupe_ms, max_per_mac, now)
end

-- What the worker is told of a task of one slot, which begins with its claim: the number of the attempt, what it has cost
-- before, its payload. Nil for others; `is_missing` when there is no such record.
local function beginning_of(entry)
  if slot_ms == 0 then return nil end
  local found = redis.call('HMGET', task_key(entry.task_id), 'attempts', 'losses', 'payload')
  local attempts, losses = tonumber(found[1]) or 0, tonumber(found[2]) or 0
  return {attempt = attempts + 1, losses = losses, payload = found[3], is_missing = not found[3]}
end

-- Write the lease on the task's record; false when there is no such record.
local function write_lease(entry, token, charged, begun)
  local key = task_key(entry.task_id)
  local fields = {'token', digits(token), 'claimed_ms', digits(now), 'charged', digits(charged)}
  if begun then
    if begun.is_missing then return false end
    redis.call('HSET', key, 'state', 'running', 'attempts', digits(begun.attempt), 'started_ms', digits(now), unpack(fields))
    return true
  end
  if redis.call('HSET', key, 'state', 'leased', unpack(fields)) == 0 then return true end
  redis.call('DEL', key)
  return false
end

-- Lease a task; returns the token, false when it has no record.
local function lease(lane, device, entry, begun)
  local charged, token = estimate(lane, entry.class), next_token(lane, now)
  if not write_lease(entry, token, charged, begun) then
    drop(lane, device, entry)
    return false
  end
  redis.call('ZADD', leases_key(lane_name), digits(now + lease_ms), address(lane_name, device.mac, entry.task_id))
  keep_busy(lane, 1)
  add(lane, 'waiting', -1)
  site_add(lane, 'charge', charged)
  got.charge = got.charge + charged
  lane_add(device, 'inflight', 1)
  lane_add(device, 'charge', charged)
  take_credit(device, now)
  return token
end

-- Whether a task has its slot by itself: one that has cost a worker would take its neighbours with it again, and one of
-- a size of which nobody knows the cost yet might keep them waiting.
local function is_alone(lane, entry, begun) return begun.losses > 0 or not lane.estimates[entry.class] end

-- Whether a task goes into a slot that holds some already: not when the slot would be busy for too long, and only one of a
-- device that may have so many in flight, since the others may run beside it.
local function has_place(lane, device, entry)
  if get(device, 'max_inflight') > 0 and got.macs[device.mac] then return false end
  return got.charge + estimate(lane, entry.class) <= slot_ms
end

-- Lease the first task in line that can run. Returns its columns of the reply, and the entry behind it.
local function lease_head(lane, device)
  local line = line_key(device.mac, lane_name)
  for _ = 1, 8 do
    local two = redis.call('ZRANGE', line, 0, 1, 'WITHSCORES')
    if #two == 0 then return nil, nil end
    local entry = parse_entry(two[1], two[2])
    local begun = entry and entry.expires > now and beginning_of(entry)
    local alone = begun and is_alone(lane, entry, begun)
    if begun and got.tasks > 0 and (alone or not has_place(lane, device, entry)) then
      got.is_closed = true
      return nil, entry
    end
    redis.call('ZREM', line, two[1])
    local behind = two[3] and (parse_entry(two[3], two[4]) or head_of(device.mac, lane_name)) or nil
    if not entry then
      bury_foreign(device, two[1])
    elseif entry.expires <= now then
      expire_head(lane, device, entry)
    else
      local token = lease(lane, device, entry, begun)
      if token then
        got.tasks = got.tasks + 1
        got.macs[device.mac] = true
        got.is_closed = alone
        if not begun then return {entry.task_id, digits(token)}, behind end
        return {entry.task_id, digits(token), digits(begun.attempt), digits(begun.losses), begun.payload}, behind
      end
    end
  end
  return nil, head_of(device.mac, lane_name)
end
