--[[
defer - put the task back for later without spending an attempt, and its device's lane into backoff with it.

Both wait: the task has its own due time, so nothing that opens the device early can run it early.

KEYS
  1 root         string  the epoch key: carries the prefix
ARGV
  1 given_now    int     epoch ms, or empty for the server's clock
  2 task_id      string
  3 token        int     of the lease
  4 policy       string  fair | aging
  5 base_ms      int     first backoff; doubles with each defer of the task
  6 max_ms       int     longest backoff
  7 max_defers   int     one more and the task is dead
  8 dedupe_ms    int     how long an ended task is remembered
  9 max_per_mac  int     tasks, one device
  10 dead_max    int     dead letters kept
  11 code        string  why
BUILDS
  lane:{lane} task:{task_id} mac:meta:{mac} mac:queue:{mac}:{lane} mac:schedule:{lane}:{site} site:schedule:{lane} mac:oldest:{lane} mac:oldest:{lane}:{site} wake:{lane}
  leases:{lane} delayed backoff bell expiry global_pending overloaded_macs dead_letter
RETURNS
  delayed        due_ms
  dead
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

local given_now, task_id, token, policy = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local base_ms, max_ms, max_defers = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])
local dedupe_ms, max_per_mac, dead_max, code = tonumber(ARGV[8]), tonumber(ARGV[9]), tonumber(ARGV[10]), ARGV[11]

local task = open_task(task_id)
if not holds(task, token) then return {'lost', text(task, 'state')} end
local now = now_from(given_now)
local lane, device = open_owner(task, now)
-- A started attempt that is deferred was no attempt.
if text(task, 'state') == 'running' then add(task, 'attempts', -1) end
release(lane, device, task, 0)
return_credit(device, now)
add(task, 'defers', 1)

local reply
if get(task, 'defers') > max_defers then
  write_dead_letter(task, 'dead', code, 'deferred too often', dead_max, now)
  end_task(lane, device, task, 'dead', code, dedupe_ms, max_per_mac, now)
  reply = {'dead'}
else
  local due = now + math.min(base_ms * 2 ^ (get(task, 'defers') - 1), max_ms)
  delay(lane, task, due)
  save(task)
  lane_put(device, 'unschedulable_until', math.max(due, lane_get(device, 'unschedulable_until')))
  reply = {'delayed', digits(due)}
end
reseat(lane, device, policy, now)
save_device(device)
save(lane)
return reply
