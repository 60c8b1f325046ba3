--[[
start - the holder begins to run the task: from here on it counts as an attempt.

KEYS
  1 root         string  the epoch key: carries the prefix
ARGV
  1 given_now    int     epoch ms, or empty for the server's clock
  2 task_id      string
  3 token        int     of the lease
BUILDS
  task:{task_id}
RETURNS
  running        attempts losses payload
  lost           state
COST  O(1)
FLAGS allow-oom
]]
--@include keys
--@include record
--@include lane
--@include site
--@include gates
--@include device
--@include task

local given_now, task_id, token = ARGV[1], ARGV[2], ARGV[3]

local task = open_task(task_id)
if not holds(task, token) then return {'lost', text(task, 'state')} end
-- A repeated call, after a reply that was lost, counts once.
if text(task, 'state') == 'leased' then
  add(task, 'attempts', 1)
  put(task, 'state', 'running')
  put(task, 'started_ms', now_from(given_now))
  save(task)
end
return {'running', digits(get(task, 'attempts')), digits(get(task, 'losses')), text(task, 'payload')}
