-- Within the limits, or by making room: the oldest waiting task of the same device may have to go. Part of enqueue.lua
-- and replay.lua.

-- Of all lanes of the device, the task that has waited longest; nil when none waits.
local function oldest_waiting()
  local oldest = nil
  for name in string.gmatch(lanes, '%S+') do
    local head = head_of(mac, name)
    if head and head.task_id ~= '' and (not oldest or head.order < oldest.order) then oldest = head end
  end
  return oldest
end

-- End it, and read anew what that has changed; '' when there is none.
local function evict_oldest()
  local oldest = oldest_waiting()
  local task = oldest and open_task(oldest.task_id)
  if not task or text(task, 'state') ~= 'queued' then return '' end
  end_wherever(task, 'evicted', 'evicted', policy, dedupe_ms, max_per_mac, now)
  device = open_device(mac, lane_name)
  lane = open_lane(lane_name, device.site, now)
  return task.id
end

-- The task that had to go for this one, '' for none; nil and why when there is no room.
local function make_room()
  local verdict = admission(lane, device, max_total, max_per_mac, scope, late_ms, now)
  if verdict == 'open' then return '' end
  -- A door that others have shut is not opened by ending a task of one's own.
  local evicted = overload == 'drop_oldest' and verdict ~= 'closed' and evict_oldest() or ''
  if evicted ~= '' then return evicted end
  return nil, verdict
end

local function enter(replays)
  local evicted, verdict = make_room()
  if not evicted then return refusal(lane, device, verdict, default_s, now) end
  local order = (created_ms > 0 and created_ms or now) - boost_ms
  local member = write_task('queued', order, order + boost_ms + ttl_ms, 0, replays)
  put_in_line(order, member)
  count_in()
  return {'queued', evicted, digits(place_in_line(mac, lane_name, member))}
end
