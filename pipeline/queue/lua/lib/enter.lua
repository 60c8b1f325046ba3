-- Put a task at its place in its device's line, within the limits. Part of enqueue.lua and replay.lua.

local now = now_from(given_now)
local device = open_device(mac, lane_name)
-- A device with something pending stays with its site: its line and its account are there.
if get(device, 'pending_count') <= 0 then
  put(device, 'site', site)
  device.site = site
end
local lane = open_lane(lane_name, device.site, now)

-- Make room by ending the oldest waiting task of the same device; '' when there is none.
local function evict_oldest()
  local head = head_of(mac, lane_name)
  if not head then return '' end
  redis.call('ZREM', line_key(mac, lane_name), head.member)
  add(lane, 'waiting', -1)
  end_task(lane, device, open_task(head.task_id), 'evicted', 'evicted', dedupe_ms, max_per_mac, now)
  return head.task_id
end

-- The task that had to go for this one, '' for none; nil and why when there is no room.
local function make_room()
  local verdict = is_forced and 'open' or admission(lane, device, max_total, max_per_mac, scope, late_ms, now)
  if verdict == 'open' then return '' end
  local evicted = overload == 'drop_oldest' and evict_oldest() or ''
  if evicted ~= '' then return evicted end
  return nil, verdict
end

local function write_task(order, replays)
  local expires = digits(order + boost_ms + ttl_ms)
  local member = next_seq(lane) .. ':' .. class .. ':' .. expires .. ':' .. task_id
  redis.call('DEL', task_key(task_id))
  redis.call('HSET', task_key(task_id), 'lane', lane_name, 'mac', mac, 'site', device.site, 'state', 'queued',
    'token', '0', 'attempts', '0', 'defers', '0', 'losses', '0', 'replays', digits(replays), 'class', class,
    'order', digits(order), 'member', member, 'payload', payload, 'enqueued_ms', digits(order + boost_ms),
    'claimed_ms', '0', 'charged', '0')
  redis.call('ZADD', line_key(mac, lane_name), digits(order), member)
  redis.call('ZADD', expiry_key(), expires, task_id)
end

local function enter(replays)
  local evicted, verdict = make_room()
  if not evicted then
    return {verdict, retry_after(lane, device, verdict ~= 'full', default_s, now)}
  end
  write_task((created_ms > 0 and created_ms or now) - boost_ms, replays)
  redis.call('INCR', global_pending_key())
  add(lane, 'waiting', 1)
  add(lane, 'accepted', 1)
  if get(device, 'pending_count') <= 0 then redis.call('PERSIST', device.key) end
  add(device, 'pending_count', 1)
  if get(device, 'pending_count') >= max_per_mac then redis.call('SADD', overloaded_key(), mac) end
  reseat(lane, device, policy, now)
  save(device)
  save(lane)
  return {'queued', evicted}
end
