--[[
bury - end the task badly: a permanent error (failed), or nothing left to try (dead); the full record is kept.

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
  8 dead_max     int     dead letters kept
  9 ending       string  failed | dead
  10 code        string  error code
  11 message     string  for people
BUILDS
  lane:{lane} task:{task_id} mac:meta:{mac} mac:queue:{mac}:{lane} mac:schedule:{lane}:{site} site:schedule:{lane} mac:oldest:{lane} mac:oldest:{lane}:{site} wake:{lane}
  leases:{lane} expiry global_pending overloaded_macs dead_letter
RETURNS
  buried
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
--@include dead_letter

local given_now, task_id, token, cost_ms = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local policy, dedupe_ms, max_per_mac, dead_max = ARGV[5], tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])
local ending, code, message = ARGV[9], ARGV[10], ARGV[11]

local task = open_task(task_id)
if not holds(task, token) then return {'lost', text(task, 'state')} end
local now = now_from(given_now)
local lane, device = open_owner(task, now)
if text(task, 'state') == 'leased' then return_credit(device, now) end
release(lane, device, task, cost_ms)
add(lane, 'worked', math.max(0, cost_ms))
write_dead_letter(task, ending, code, message, dead_max, now)
end_task(lane, device, task, ending, code, dedupe_ms, max_per_mac, now)
reseat(lane, device, policy, now)
save_device(device)
save(lane)
return {'buried'}
