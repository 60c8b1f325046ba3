--[[
forget - take a task out as if it had never come in: the ledger has no such task, its submit was refused or withdrawn
after all.

KEYS
  1 root         string  the epoch key: carries the prefix
ARGV
  1 given_now    int     epoch ms, or empty for the server's clock
  2 task_id      string
  3 token        int     of the last lease, as the caller knows it
  4 policy       string  fair | aging
  5 max_per_mac  int     tasks, one device
BUILDS
  lane:{lane} task:{task_id} mac:meta:{mac} mac:queue:{mac}:{lane} mac:schedule:{lane}:{site} site:schedule:{lane} mac:oldest:{lane} mac:oldest:{lane}:{site} wake:{lane}
  leases:{lane} delayed expiry global_pending overloaded_macs
RETURNS
  forgotten
  kept           state
  unknown
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

local given_now, task_id, token, policy, max_per_mac = ARGV[1], ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5])

local task = open_task(task_id)
local state = text(task, 'state')
if state == '' then return {'unknown'} end
if text(task, 'token') ~= token or IS_END[state] then return {'kept', state} end
local now = now_from(given_now)
local lane, device = open_owner(task, now)
take_out(lane, device, task, now)
forget_task(lane, device, task_id, max_per_mac)
redis.call('DEL', task.key)
reseat(lane, device, policy, now)
save_device(device)
save(lane)
return {'forgotten'}
