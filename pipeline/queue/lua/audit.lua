--[[
audit - recount one lane from the data itself and name what disagrees; changes nothing.

KEYS
  1 root         string  the epoch key: carries the prefix
ARGV
  1 given_now    int     epoch ms, or empty for the server's clock
  2 lane_name    string
BUILDS
  lane:{lane} task:{task_id} mac:meta:{mac} mac:queue:{mac}:{lane} mac:schedule:{lane}:{site} site:schedule:{lane} mac:oldest:{lane} leases:{lane}
  delayed backoff
RETURNS
  books          accepted waiting delayed leased done failed dead expired evicted cancelled fault ...
COST  O(tasks that have not ended): for people and tests, never in the way of a task
]]
--@include keys
--@include record
--@include lane
--@include site
--@include gates
--@include device

local given_now, lane_name = ARGV[1], ARGV[2]

local now = now_from(given_now)
local lane = open_lane(lane_name, '', now)
local faults = {}
local function expect(is_right, fault) if not is_right then faults[#faults + 1] = fault end end

local function expect_state(task_id, wanted, also)
  local state = redis.call('HGET', task_key(task_id), 'state') or 'without a record'
  expect(state == wanted or state == also, task_id .. ': ' .. wanted .. ' by its place, but ' .. state)
end

local waiting = 0
for _, mac in ipairs(redis.call('ZRANGE', oldest_key(lane_name), 0, -1)) do
  local device = open_device(mac, lane_name)
  local members = redis.call('ZRANGE', line_key(mac, lane_name), 0, -1)
  waiting = waiting + #members
  for _, member in ipairs(members) do expect_state(string.match(member, '^%d+:%d+:%d+:(.+)$') or member, 'queued') end
  local turn = text(device, 'turn:' .. lane_name)
  local is_seated = turn ~= '' and redis.call('ZSCORE', schedule_key(lane_name, device.site), turn) and true or false
  expect(#members > 0 or lane_get(device, 'inflight') > 0, mac .. ': listed as waiting with an empty line')
  local is_gated = shut_gate(device, now) ~= nil
  local will_resume = redis.call('ZSCORE', backoff_key(), mac .. ':' .. lane_name)
  expect(#members == 0 or is_seated or is_gated or will_resume,
    mac .. ': stranded: waiting, no gate shut, not in the ready set')
  expect(not (is_seated and is_gated), mac .. ': gated and yet in the ready set')
  expect(lane_get(device, 'active') > 0, mac .. ': waiting but not counted as active')
end

local delayed = 0
for _, task_id in ipairs(redis.call('ZRANGE', delayed_key(), 0, -1)) do
  if redis.call('HGET', task_key(task_id), 'lane') == lane_name then delayed = delayed + 1 end
end

local leases = redis.call('ZRANGE', leases_key(lane_name), 0, -1)
for _, task_id in ipairs(leases) do expect_state(task_id, 'leased', 'running') end
local leased = #leases
expect(waiting == get(lane, 'waiting'), 'the lane counts ' .. get(lane, 'waiting') .. ' waiting, the lines ' .. waiting)
expect(delayed == get(lane, 'delayed'), 'the lane counts ' .. get(lane, 'delayed') .. ' delayed, the set ' .. delayed)
expect(leased == get(lane, 'busy'), 'the lane counts ' .. get(lane, 'busy') .. ' in flight, the leases ' .. leased)

local reply = {'books', digits(get(lane, 'accepted')), digits(waiting), digits(delayed), digits(leased)}
for _, state in ipairs({'done', 'failed', 'dead', 'expired', 'evicted', 'cancelled'}) do
  reply[#reply + 1] = digits(get(lane, state))
end
for _, fault in ipairs(faults) do reply[#reply + 1] = fault end
return reply
