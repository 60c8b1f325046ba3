--[[
complete - end tasks well, give their slots back, charge their devices what the work really cost.

A lease that is lost costs the others nothing.

KEYS
  1 root         string  the epoch key: carries the prefix
ARGV
  1 given_now    int     epoch ms, or empty for the server's clock
  2 ends         string  of each lease: task_id token cost_ms (worker-ms used), separated by spaces
  3 policy       string  fair | aging
  4 dedupe_ms    int     how long an ended task is remembered
  5 max_per_mac  int     tasks, one device
BUILDS
  lane:{lane} task:{task_id} mac:meta:{mac} mac:queue:{mac}:{lane} mac:schedule:{lane}:{site} site:schedule:{lane} mac:oldest:{lane} mac:oldest:{lane}:{site} wake:{lane}
  leases:{lane} expiry global_pending overloaded_macs
RETURNS
  done           of each lease: nothing, or, when it is lost, what its task is now
COST  O(leases log n)
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

local given_now, ends, policy = ARGV[1], ARGV[2], ARGV[3]
local dedupe_ms, max_per_mac = tonumber(ARGV[4]), tonumber(ARGV[5])

local now = now_from(given_now)

--@include tour

local function complete(task_id, token, cost_ms)
  local task = open_task(task_id)
  if not holds(task, token) then return text(task, 'state') ~= '' and text(task, 'state') or 'unknown' end
  local lane, device = go_to(text(task, 'lane'), text(task, 'site')), open_device(text(task, 'mac'), text(task, 'lane'))
  release(lane, device, task, cost_ms)
  add(lane, 'worked', math.max(0, cost_ms))
  learn_cost(lane, text(task, 'class'), cost_ms)
  end_task(lane, device, task, 'done', '', dedupe_ms, max_per_mac, now)
  reseat(lane, device, policy, now)
  save_device(device)
  return ''
end

local reply = {'done'}
for task_id, token, cost_ms in string.gmatch(ends, '(%S+) (%S+) (%S+)') do
  reply[#reply + 1] = complete(task_id, token, tonumber(cost_ms))
end
leave()
return reply
