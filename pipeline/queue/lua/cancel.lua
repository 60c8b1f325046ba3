--[[
cancel - end a task that has not ended, wherever it is; its holder, if any, loses the lease.

KEYS
  1 root         string  the epoch key: carries the prefix
ARGV
  1 given_now    int     epoch ms, or empty for the server's clock
  2 task_id      string
  3 policy       string  fair | aging
  4 dedupe_ms    int     how long an ended task is remembered
  5 max_per_mac  int     tasks, one device
BUILDS
  lane:{lane} task:{task_id} mac:meta:{mac} mac:queue:{mac}:{lane} mac:schedule:{lane}:{site} site:schedule:{lane} mac:oldest:{lane} mac:oldest:{lane}:{site} wake:{lane}
  leases:{lane} delayed expiry global_pending overloaded_macs
RETURNS
  cancelled
  ended          state
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

local given_now, task_id, policy = ARGV[1], ARGV[2], ARGV[3]
local dedupe_ms, max_per_mac = tonumber(ARGV[4]), tonumber(ARGV[5])

local task = open_task(task_id)
local state = text(task, 'state')
if state == '' then return {'unknown'} end
if IS_END[state] then return {'ended', state} end
end_wherever(task, 'cancelled', 'cancelled', policy, dedupe_ms, max_per_mac, now_from(given_now))
return {'cancelled'}
