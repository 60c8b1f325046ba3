--[[
promote - put delayed tasks whose time has come back at their place in line.

KEYS
  1 root         string  the epoch key: carries the prefix
ARGV
  1 given_now    int     epoch ms, or empty for the server's clock
  2 limit        int     tasks, at most
  3 policy       string  fair | aging
BUILDS
  lane:{lane} task:{task_id} mac:meta:{mac} mac:queue:{mac}:{lane} mac:schedule:{lane}:{site} site:schedule:{lane} mac:oldest:{lane} wake:{lane}
  delayed
RETURNS
  promoted       task_id ...
COST  O(limit log n)
]]
--@include keys
--@include record
--@include lane
--@include site
--@include gates
--@include device
--@include task

local given_now, limit, policy = ARGV[1], tonumber(ARGV[2]), ARGV[3]

local now = now_from(given_now)
local reply = {'promoted'}
for _, task_id in ipairs(redis.call('ZRANGEBYSCORE', delayed_key(), '-inf', now, 'LIMIT', 0, limit)) do
  redis.call('ZREM', delayed_key(), task_id)
  local task = open_task(task_id)
  if text(task, 'state') == 'delayed' then
    local lane, device = open_owner(task, now)
    add(lane, 'delayed', -1)
    put_back(lane, device, task)
    save(task)
    reseat(lane, device, policy, now)
    save(device)
    save(lane)
    reply[#reply + 1] = task_id
  end
end
return reply
