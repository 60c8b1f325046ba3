--[[
amend - end a task as the ledger says that it ended: one the queue has not ended yet, or has ended otherwise.

The ledger is right: whoever holds a task writes there first, and may die before the queue hears of it.

KEYS
  1 root         string  the epoch key: carries the prefix
ARGV
  1 given_now    int     epoch ms, or empty for the server's clock
  2 task_id      string
  3 token        int     of the last lease, as the caller knows it: a task that has gone on since is left alone; empty: any
  4 ending       string  done | failed | dead | expired | evicted | cancelled
  5 code         string  why
  6 policy       string  fair | aging
  7 dedupe_ms    int     how long an ended task is remembered
  8 max_per_mac  int     tasks, one device
  9 dead_max     int     dead letters kept
BUILDS
  lane:{lane} task:{task_id} mac:meta:{mac} mac:queue:{mac}:{lane} mac:schedule:{lane}:{site} site:schedule:{lane} mac:oldest:{lane} mac:oldest:{lane}:{site} wake:{lane}
  leases:{lane} delayed expiry global_pending overloaded_macs dead_letter
RETURNS
  amended        state
  kept           state
  unknown
COST  O(log n), and a look at the newest dead letters
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

local given_now, task_id, token, ending, code = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local policy, dedupe_ms, max_per_mac, dead_max = ARGV[6], tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[9])

local task = open_task(task_id)
local state = text(task, 'state')
if state == '' then return {'unknown'} end
if token ~= '' and text(task, 'token') ~= token or state == ending then return {'kept', state} end
local now = now_from(given_now)
local function is_buried(how) return how == 'failed' or how == 'dead' end

if IS_END[state] then
  local lane = open_owner(task, now)
  add(lane, state, -1)
  add(lane, ending, 1)
  put(task, 'state', ending)
  put(task, 'code', code)
  save(task)
  save(lane)
  if is_buried(state) then withdraw_dead_letter(task_id) end
else
  end_wherever(task, ending, code, policy, dedupe_ms, max_per_mac, now)
end
if is_buried(ending) then write_dead_letter(task, ending, code, 'as the ledger has it', dead_max, now) end
return {'amended', state}
