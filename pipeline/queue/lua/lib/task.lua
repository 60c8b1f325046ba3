-- One task: its record, its owner, its names.

local TASK = schema_of({
  'lane', 'mac', 'site', 'state', 'token', 'attempts', 'defers', 'losses', 'class', 'order', 'member', 'payload',
  'enqueued_ms', 'charged', 'claimed_ms', 'started_ms', 'replays', 'share',
})
local IS_END = {done = true, failed = true, dead = true, expired = true, evicted = true, cancelled = true}

local function open_task(task_id)
  local task = open_record(task_key(task_id), TASK)
  task.id = task_id
  return task
end

-- The caller holds the lease named by this token.
local function holds(task, token)
  local state = text(task, 'state')
  return (state == 'leased' or state == 'running') and text(task, 'token') == token
end

-- What a leased task keeps busy of a slot: all of it, unless it shares it with others.
local function share_of(task)
  local share = get(task, 'share')
  return share > 0 and share or 1
end

-- Worker-ms for which the task has been leased.
local function used_ms(task, now) return (now - get(task, 'claimed_ms')) * share_of(task) end

-- Sums of shares of slots are whole numbers again once all of a slot have ended, and never below nothing.
local function sum_of_shares(sum)
  local whole = math.floor(sum + 0.5)
  return math.max(0, math.abs(sum - whole) < 1e-6 and whole or sum)
end

-- So many slots more work for the lane and the site.
local function keep_busy(lane, slots)
  put(lane, 'busy', sum_of_shares(get(lane, 'busy') + slots))
  site_put(lane, 'inflight', sum_of_shares(site_get(lane, 'inflight') + slots))
end

-- The lane, with the task's site, and the device that the task belongs to.
local function open_owner(task, now)
  local lane = open_lane(text(task, 'lane'), text(task, 'site'), now)
  return lane, open_device(text(task, 'mac'), lane.name)
end

-- Where a member stands in its device's line, from 1; 0 when it does not.
local function place_in_line(mac, lane_name, member)
  local rank = redis.call('ZRANK', line_key(mac, lane_name), member)
  return rank and rank + 1 or 0
end

-- How the sets of leases and of delayed tasks name it: with its owner, who must be found even when its record is gone.
local function address(lane_name, mac, task_id) return lane_name .. ':' .. mac .. ':' .. task_id end
local function address_of(task) return address(text(task, 'lane'), text(task, 'mac'), task.id) end

-- The record, lane name and MAC of the task at an address.
local function open_address(where)
  local lane_name, mac, task_id = string.match(where, '^([^:]*):([^:]*):(.*)$')
  return open_task(task_id or ''), lane_name, mac
end

-- Write the device; once nothing of it is pending, what is left is forgotten in a day unless an operator set it.
local function save_device(device)
  save(device)
  local is_set = text(device, 'weight') .. text(device, 'max_inflight') .. text(device, 'rate_per_minute')
    .. text(device, 'paused') .. text(device, 'paused_lanes') ~= ''
  if get(device, 'pending_count') <= 0 and not is_set then redis.call('EXPIRE', device.key, IDLE_META_SECONDS) end
end
