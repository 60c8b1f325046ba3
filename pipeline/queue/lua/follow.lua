--[[
follow - end a task that waits as the ledger has ended it, or forget it when the ledger has no such task; a task that has
moved since it was looked at is left alone.

KEYS
  1 root         string  the epoch key: carries the prefix
ARGV
  1 given_now    int     epoch ms, or empty for the server's clock
  2 task_id      string
  3 token        int     that it had when it was looked at
  4 ending       string  the state in the ledger, or empty to forget the task
  5 policy       string  fair | aging
  6 dedupe_ms    int     how long an ended task is remembered
  7 max_per_mac  int     tasks, one device
BUILDS
  lane:{lane} task:{task_id} mac:meta:{mac} mac:queue:{mac}:{lane} mac:schedule:{lane}:{site} site:schedule:{lane} mac:oldest:{lane} wake:{lane}
  delayed backoff bell expiry global_pending overloaded_macs
RETURNS
  followed
  moved          state
COST  O(log n)
]]
--@include keys
--@include record
--@include lane
--@include site
--@include gates
--@include device
--@include task

local given_now, task_id, token, ending, policy = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local dedupe_ms, max_per_mac = tonumber(ARGV[6]), tonumber(ARGV[7])

local task = open_task(task_id)
local state = text(task, 'state')
if (state ~= 'queued' and state ~= 'delayed') or text(task, 'token') ~= token then return {'moved', state} end
local now = now_from(given_now)
local lane, device = open_owner(task, now)
if state == 'queued' then
  redis.call('ZREM', line_key(device.mac, lane.name), text(task, 'member'))
  add(lane, 'waiting', -1)
else
  redis.call('ZREM', delayed_key(), task_id)
  add(lane, 'delayed', -1)
end
if ending == '' then
  -- As if it had never been put in line: a ledger that has it after all puts it back.
  redis.call('DEL', task_key(task_id))
  redis.call('ZREM', expiry_key(), task_id)
  redis.call('DECR', global_pending_key())
  add(lane, 'accepted', -1)
  add(device, 'pending_count', -1)
  if get(device, 'pending_count') < max_per_mac then redis.call('SREM', overloaded_key(), device.mac) end
else
  end_task(lane, device, task, ending, 'ended_in_ledger', dedupe_ms, max_per_mac, now)
end
reseat(lane, device, policy, now)
save_device(device)
save(lane)
return {'followed'}
