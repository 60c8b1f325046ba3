--[[
claim - lease the head of the line of the device whose turn it is; no two callers get the same task.

A head that is past its TTL, that has lost its record or that no fairlane wrote is put aside on the way and the next one
is taken: at most 8 of them in one call; the reconciler tells the ledger.

KEYS
  1 root         string  the epoch key: carries the prefix
ARGV
  1 given_now    int     epoch ms, or empty for the server's clock
  2 lane_name    string
  3 lease_ms     int     lease length
  4 policy       string  fair | aging
  5 dedupe_ms    int     how long an ended task is remembered
  6 max_per_mac  int     tasks, one device
  7 dead_max     int     dead letters kept
BUILDS
  lane:{lane} task:{task_id} mac:meta:{mac} mac:queue:{mac}:{lane} mac:schedule:{lane} mac:oldest:{lane} wake:{lane}
  leases:{lane} expiry global_pending overloaded_macs dead_letter
RETURNS
  claimed        task_id mac token payload attempts enqueued_ms lease_ends_ms
  empty
COST  O(log n); 12 commands for a claim of one
]]
--@include keys
--@include record
--@include lane
--@include device
--@include task
--@include dead_letter

local given_now, lane_name, lease_ms = ARGV[1], ARGV[2], tonumber(ARGV[3])
local policy, dedupe_ms, max_per_mac, dead_max = ARGV[4], tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])

local now = now_from(given_now)
local lane = open_lane(lane_name, now)

local function parse(member)
  local class, task_id = string.match(member, '^%d+:(%d+):(.+)$')
  return class, task_id
end

-- The first task in line that can run, and the one behind it.
local function take_head(device)
  local line = line_key(device.mac, lane_name)
  for _ = 1, 8 do
    local two = redis.call('ZRANGE', line, 0, 1, 'WITHSCORES')
    if #two == 0 then return nil, nil end
    local next_head = two[3] and {member = two[3], order = tonumber(two[4]), class = parse(two[3])} or nil
    local class, task_id = parse(two[1])
    redis.call('ZREM', line, two[1])
    local task = open_task(task_id or two[1])
    local is_ours = text(task, 'state') == 'queued'
    if is_ours and get(task, 'expires_ms') > now then return task, next_head, class end
    if is_ours then
      add(lane, 'waiting', -1)
      end_task(lane, device, task, 'expired', 'expired', dedupe_ms, max_per_mac, now)
    elseif not forget(lane, device, task) then
      write_dead_letter(task, 'dead', 'poisoned_entry', 'the line named a task that is not waiting', dead_max, now)
    end
  end
  return nil, head_of(device.mac, lane_name)
end

local function lease(device, task, class)
  local token = next_token(lane, now)
  put(task, 'state', 'leased')
  put(task, 'token', token)
  add(task, 'deliveries', 1)
  put(task, 'claimed_ms', now)
  put(task, 'charged', estimate(lane, class))
  save(task)
  redis.call('ZADD', leases_key(lane_name), now + lease_ms, task.id)
  add(lane, 'busy', 1)
  add(lane, 'waiting', -1)
  lane_add(device, 'inflight', 1)
  lane_add(device, 'charge', get(task, 'charged'))
end

for _ = 1, 8 do
  local first = redis.call('ZPOPMIN', schedule_key(lane_name))
  if #first == 0 then break end
  local device = open_device(string.match(first[1], ':(.+)$'), lane_name)
  put(lane, 'v', math.max(get(lane, 'v'), lane_get(device, 'tag')))
  lane_put(device, 'turn', '')
  local task, next_head, class = take_head(device)
  if task then lease(device, task, class) end
  if not next_head then redis.call('ZREM', oldest_key(lane_name), device.mac) end
  seat(lane, device, next_head, policy, now)
  save_device(device)
  if task then
    save(lane)
    return {'claimed', task.id, device.mac, digits(get(task, 'token')), text(task, 'payload'),
      digits(get(task, 'attempts')), digits(get(task, 'enqueued_ms')), digits(now + lease_ms)}
  end
end
-- Whatever wake-ups are left are stale: nothing can be served now.
redis.call('DEL', wake_key(lane_name))
save(lane)
return {'empty'}
