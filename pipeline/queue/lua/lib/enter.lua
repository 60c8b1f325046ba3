-- A task comes in: its record, and the counts. Part of enqueue.lua, replay.lua and restore.lua.

local now = now_from(given_now)
local device = open_device(mac, lane_name)
-- A device with something pending stays with its site: its line and its account are there.
if get(device, 'pending_count') <= 0 then
  put(device, 'site', site)
  device.site = site
end
local lane = open_lane(lane_name, device.site, now)

-- Write the record; returns what stands in line for it.
local function write_task(state, order, expires, attempts, replays)
  local member = next_seq(lane) .. ':' .. class .. ':' .. digits(expires) .. ':' .. task_id
  redis.call('ZADD', expiry_key(), digits(expires), task_id)
  redis.call('DEL', task_key(task_id))
  redis.call('HSET', task_key(task_id), 'lane', lane_name, 'mac', mac, 'site', device.site, 'state', state,
    'token', '0', 'attempts', digits(attempts), 'defers', '0', 'losses', '0', 'replays', digits(replays),
    'class', class, 'order', digits(order), 'member', member, 'payload', payload,
    'enqueued_ms', digits(order + boost_ms), 'claimed_ms', '0', 'charged', '0')
  return member
end

local function put_in_line(order, member)
  redis.call('ZADD', line_key(mac, lane_name), digits(order), member)
  add(lane, 'waiting', 1)
end

-- Count a task that has come in, and seat its device.
local function count_in()
  redis.call('INCR', global_pending_key())
  add(lane, 'accepted', 1)
  if get(device, 'pending_count') <= 0 then redis.call('PERSIST', device.key) end
  add(device, 'pending_count', 1)
  if get(device, 'pending_count') >= max_per_mac then redis.call('SADD', overloaded_key(), mac) end
  reseat(lane, device, policy, now)
  save(device)
  save(lane)
end
