--[[
hand_back - return a claimed task to the head of its device's line as if it had not been claimed: no attempt, no
backoff. What a worker does that stops, or whose host is over a watermark.

KEYS
  1 root         string  the epoch key: carries the prefix
ARGV
  1 given_now    int     epoch ms, or empty for the server's clock
  2 task_id      string
  3 token        int     of the lease
  4 cost_ms      int     worker-ms used, 0 when it was not started
  5 policy       string  fair | aging
BUILDS
  lane:{lane} task:{task_id} mac:meta:{mac} mac:queue:{mac}:{lane} mac:schedule:{lane}:{site} site:schedule:{lane} mac:oldest:{lane} mac:oldest:{lane}:{site} wake:{lane}
  leases:{lane}
RETURNS
  queued
  lost           state
COST  O(log n)
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

local given_now, task_id, token, cost_ms, policy = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]), ARGV[5]

local task = open_task(task_id)
if not holds(task, token) then return {'lost', text(task, 'state')} end
local now = now_from(given_now)
local lane, device = open_owner(task, now)
if text(task, 'state') == 'running' then add(task, 'attempts', -1) end
release(lane, device, task, cost_ms)
return_credit(device, now)
put_back(lane, device, task)
save(task)
reseat(lane, device, policy, now)
save(device)
save(lane)
return {'queued'}
