--[[
reap - take back the tasks of one lane whose lease ran out: to the head of their line, or to the dead letters once
they have cost as many workers as allowed.

KEYS
  1 root         string  the epoch key: carries the prefix
ARGV
  1 given_now    int     epoch ms, or empty for the server's clock
  2 lane_name    string
  3 limit        int     leases looked at, at most
  4 policy       string  fair | aging
  5 max_losses   int     workers a task may lose
  6 dedupe_ms    int     how long an ended task is remembered
  7 max_per_mac  int     tasks, one device
  8 dead_max     int     dead letters kept
  9 lease_ms     int     no lease is longer: one that seems to be is from before the clock was set back
BUILDS
  lane:{lane} task:{task_id} mac:meta:{mac} mac:queue:{mac}:{lane} mac:schedule:{lane}:{site} site:schedule:{lane} mac:oldest:{lane} mac:oldest:{lane}:{site} wake:{lane}
  leases:{lane} expiry global_pending overloaded_macs dead_letter
RETURNS
  reaped         task_id state token ...
COST  O(limit log n)
FLAGS allow-oom
]]
--@include keys
--@include record
--@include lane
--@include site
--@include gates
--@include device
--@include task
--@include leave
--@include dead_letter

local given_now, lane_name, limit, policy = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4]
local max_losses, dedupe_ms = tonumber(ARGV[5]), tonumber(ARGV[6])
local max_per_mac, dead_max, lease_ms = tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[9])

local now = now_from(given_now)

local function reap_one(task)
  local lane, device = open_owner(task, now)
  -- Poison is not free: the device pays for the time its task held a slot.
  release(lane, device, task, used_ms(task, now))
  add(task, 'losses', 1)
  if get(task, 'losses') >= max_losses then
    write_dead_letter(task, 'dead', 'worker_crash', 'its worker was lost each time', dead_max, now)
    end_task(lane, device, task, 'dead', 'worker_crash', dedupe_ms, max_per_mac, now)
  else
    put_back(lane, device, task)
    save(task)
  end
  reseat(lane, device, policy, now)
  save_device(device)
  save(lane)
end

-- The record is gone, the slot is not: what the device was charged for it stays until it has nothing to do.
local function count_out(lane, device)
  keep_busy(lane, -1)
  lane_add(device, 'inflight', -1)
end

local latest = digits(now + lease_ms)
for _, where in ipairs(redis.call('ZRANGEBYSCORE', leases_key(lane_name), '(' .. latest, '+inf', 'LIMIT', 0, limit)) do
  redis.call('ZADD', leases_key(lane_name), latest, where)
end

local reply = {'reaped'}
local overdue = redis.call('ZRANGEBYSCORE', leases_key(lane_name), '-inf', now, 'LIMIT', 0, limit)
for _, where in ipairs(overdue) do
  local task, _, mac = open_address(where)
  local state = text(task, 'state')
  if state == 'leased' or state == 'running' then
    reap_one(task)
    reply[#reply + 1] = task.id
    reply[#reply + 1] = text(task, 'state')
    reply[#reply + 1] = digits(get(task, 'token'))
  else
    redis.call('ZREM', leases_key(lane_name), where)
    if state == '' and mac then forget_lost(lane_name, mac, task.id, policy, max_per_mac, now, count_out) end
  end
end
return reply
