--[[
expire - end the tasks that have waited longer than their TTL; touches only what is due.

KEYS
  1 root         string  the epoch key: carries the prefix
ARGV
  1 given_now    int     epoch ms, or empty for the server's clock
  2 limit        int     tasks looked at, at most
  3 policy       string  fair | aging
  4 dedupe_ms    int     how long an ended task is remembered
  5 max_per_mac  int     tasks, one device
  6 lease_ms     int     when to look again at a task that is being worked on
BUILDS
  lane:{lane} task:{task_id} mac:meta:{mac} mac:queue:{mac}:{lane} mac:schedule:{lane}:{site} site:schedule:{lane} mac:oldest:{lane} mac:oldest:{lane}:{site} wake:{lane}
  delayed expiry global_pending overloaded_macs
RETURNS
  expired        task_id token ...
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

local given_now, limit, policy = ARGV[1], tonumber(ARGV[2]), ARGV[3]
local dedupe_ms, max_per_mac, lease_ms = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])

local now = now_from(given_now)

local reply = {'expired'}
for _, task_id in ipairs(redis.call('ZRANGEBYSCORE', expiry_key(), '-inf', now, 'LIMIT', 0, limit)) do
  local task = open_task(task_id)
  local state = text(task, 'state')
  if state == 'queued' or state == 'delayed' then
    end_wherever(task, 'expired', 'expired', policy, dedupe_ms, max_per_mac, now)
    reply[#reply + 1] = task_id
    reply[#reply + 1] = digits(get(task, 'token'))
  elseif IS_END[state] then
    redis.call('ZREM', expiry_key(), task_id)
  else
    -- It was claimed in time: only should it come back to the line is it over. Or its record is gone: whoever meets it at
    -- its place forgets it.
    redis.call('ZADD', expiry_key(), digits(now + lease_ms), task_id)
  end
end
return reply
