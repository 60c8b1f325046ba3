--[[
promote - put delayed tasks whose time has come back at their place in line.

KEYS
  1 root         string  the epoch key: carries the prefix
ARGV
  1 given_now    int     epoch ms, or empty for the server's clock
  2 limit        int     tasks, at most
  3 policy       string  fair | aging
  4 max_per_mac  int     tasks, one device
BUILDS
  lane:{lane} task:{task_id} mac:meta:{mac} mac:queue:{mac}:{lane} mac:schedule:{lane}:{site} site:schedule:{lane} mac:oldest:{lane} mac:oldest:{lane}:{site} wake:{lane}
  delayed expiry global_pending overloaded_macs
RETURNS
  promoted       task_id ...
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

local given_now, limit, policy, max_per_mac = ARGV[1], tonumber(ARGV[2]), ARGV[3], tonumber(ARGV[4])

local now = now_from(given_now)

local function promote_one(task)
  local lane, device = open_owner(task, now)
  add(lane, 'delayed', -1)
  put_back(lane, device, task)
  save(task)
  reseat(lane, device, policy, now)
  save(device)
  save(lane)
end

local function count_out(lane) add(lane, 'delayed', -1) end

local reply = {'promoted'}
for _, where in ipairs(redis.call('ZRANGEBYSCORE', delayed_key(), '-inf', now, 'LIMIT', 0, limit)) do
  redis.call('ZREM', delayed_key(), where)
  local task, lane_name, mac = open_address(where)
  if text(task, 'state') == 'delayed' then
    promote_one(task)
    reply[#reply + 1] = task.id
  elseif text(task, 'state') == '' and mac then
    forget_lost(lane_name, mac, task.id, policy, max_per_mac, now, count_out)
  end
end
return reply
