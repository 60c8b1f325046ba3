--[[
retry - put the task back after a failure, due later; its device goes on with its other tasks.

KEYS
  1 root         string  the epoch key: carries the prefix
ARGV
  1 given_now    int     epoch ms, or empty for the server's clock
  2 task_id      string
  3 token        int     of the lease
  4 cost_ms      int     worker-ms used
  5 policy       string  fair | aging
  6 delay_ms     int     until it is due
  7 is_loss      int     1: the attempt cost an engine, which counts as a lost worker
BUILDS
  lane:{lane} task:{task_id} mac:meta:{mac} mac:queue:{mac}:{lane} mac:schedule:{lane}:{site} site:schedule:{lane} mac:oldest:{lane} mac:oldest:{lane}:{site} wake:{lane}
  leases:{lane} delayed bell
RETURNS
  delayed        due_ms
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

local given_now, task_id, token, cost_ms = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local policy, delay_ms, is_loss = ARGV[5], tonumber(ARGV[6]), ARGV[7] == '1'

local task = open_task(task_id)
if not holds(task, token) then return {'lost', text(task, 'state')} end
local now = now_from(given_now)
local lane, device = open_owner(task, now)
release(lane, device, task, cost_ms)
delay(lane, task, now + delay_ms)
if is_loss then add(task, 'losses', 1) end
save(task)
reseat(lane, device, policy, now)
save(device)
save(lane)
return {'delayed', digits(now + delay_ms)}
