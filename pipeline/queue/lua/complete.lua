--[[
complete - end the task well, give the slot back, charge the device what the work really cost.

KEYS
  1 root         string  the epoch key: carries the prefix
ARGV
  1 given_now    int     epoch ms, or empty for the server's clock
  2 task_id      string
  3 token        int     of the lease
  4 cost_ms      int     worker-ms used
  5 policy       string  fair | aging
  6 dedupe_ms    int     how long an ended task is remembered
  7 max_per_mac  int     tasks, one device
BUILDS
  lane:{lane} task:{task_id} mac:meta:{mac} mac:queue:{mac}:{lane} mac:schedule:{lane}:{site} site:schedule:{lane} mac:oldest:{lane} mac:oldest:{lane}:{site} wake:{lane}
  leases:{lane} expiry global_pending overloaded_macs
RETURNS
  done
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
local policy, dedupe_ms, max_per_mac = ARGV[5], tonumber(ARGV[6]), tonumber(ARGV[7])

local task = open_task(task_id)
if not holds(task, token) then return {'lost', text(task, 'state')} end
local now = now_from(given_now)
local lane, device = open_owner(task, now)
release(lane, device, task, cost_ms)
add(lane, 'worked', math.max(0, cost_ms))
learn_cost(lane, text(task, 'class'), cost_ms)
end_task(lane, device, task, 'done', '', dedupe_ms, max_per_mac, now)
reseat(lane, device, policy, now)
save_device(device)
save(lane)
return {'done'}
