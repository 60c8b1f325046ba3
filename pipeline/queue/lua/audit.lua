--[[
audit - recount one lane from the data itself and name what disagrees; changes nothing.

KEYS
  1 root         string  the epoch key: carries the prefix
ARGV
  1 given_now    int     epoch ms, or empty for the server's clock
  2 lane_name    string
  3 lanes        string  all lanes, separated by spaces
BUILDS
  lane:{lane} task:{task_id} mac:meta:{mac} mac:queue:{mac}:{lane} mac:schedule:{lane}:{site} site:schedule:{lane} mac:oldest:{lane} mac:oldest:{lane}:{site} leases:{lane}
  delayed backoff global_pending
RETURNS
  books          accepted waiting delayed leased done failed dead expired evicted cancelled fault ...
COST  O(tasks that have not ended): for people and tests, never in the way of a task
FLAGS no-writes
]]
--@include keys
--@include record
--@include lane
--@include site
--@include gates
--@include device
--@include task

local given_now, lane_name, lanes = ARGV[1], ARGV[2], ARGV[3]

local now = now_from(given_now)
local lane = open_lane(lane_name, '', now)
local faults = {}
local function expect(is_right, fault) if not is_right then faults[#faults + 1] = fault end end

local function expect_state(task_id, wanted, also)
  local state = redis.call('HGET', task_key(task_id), 'state') or 'without a record'
  expect(state == wanted or state == also, task_id .. ': ' .. wanted .. ' by its place, but ' .. state)
end

-- Out of line, by device: in flight or delayed, in any lane; how many of them in flight in this one, in how many slots.
local away, inflight, leased, slots = {}, {}, 0, 0
local pending = redis.call('ZCARD', delayed_key())
local function note(where)
  local _, its_lane, mac = open_address(where)
  if mac then away[mac] = (away[mac] or 0) + 1 end
  return its_lane, mac
end
for name in string.gmatch(lanes, '%S+') do
  local leases = redis.call('ZRANGE', leases_key(name), 0, -1)
  pending = pending + #leases
  for _, mac in ipairs(redis.call('ZRANGE', oldest_key(name), 0, -1)) do
    pending = pending + redis.call('ZCARD', line_key(mac, name))
  end
  for _, where in ipairs(leases) do
    local _, mac = note(where)
    if name == lane_name then
      leased = leased + 1
      if mac then inflight[mac] = (inflight[mac] or 0) + 1 end
      expect_state(string.match(where, '[^:]*$'), 'leased', 'running')
      slots = slots + share_of(open_address(where))
    end
  end
end
local delayed = 0
for _, where in ipairs(redis.call('ZRANGE', delayed_key(), 0, -1)) do
  if note(where) == lane_name then
    delayed = delayed + 1
    expect_state(string.match(where, '[^:]*$'), 'delayed')
  end
end
local global = tonumber(redis.call('GET', global_pending_key()) or 0)
expect(global == pending, 'global_pending is ' .. global .. ', pending are ' .. pending)

local function expect_counts(mac, device)
  local own = away[mac] or 0
  for name in string.gmatch(lanes, '%S+') do own = own + redis.call('ZCARD', line_key(mac, name)) end
  expect(get(device, 'pending_count') == own, mac .. ': counts ' .. get(device, 'pending_count') .. ' pending, has ' .. own)
  local held = inflight[mac] or 0
  expect(lane_get(device, 'inflight') == held, mac .. ': counts ' .. lane_get(device, 'inflight') .. ' in flight, has ' .. held)
  inflight[mac] = nil
end

local waiting = 0
for _, mac in ipairs(redis.call('ZRANGE', oldest_key(lane_name), 0, -1)) do
  local device = open_device(mac, lane_name)
  local members = redis.call('ZRANGE', line_key(mac, lane_name), 0, -1)
  waiting = waiting + #members
  for _, member in ipairs(members) do expect_state(string.match(member, '^%d+:%d+:%d+:(.+)$') or member, 'queued') end
  expect_counts(mac, device)
  local turn = text(device.part, 'turn')
  local is_seated = turn ~= '' and redis.call('ZSCORE', schedule_key(lane_name, device.site), turn) and true or false
  expect(#members > 0 or lane_get(device, 'inflight') > 0, mac .. ': listed as waiting with an empty line')
  local is_gated = shut_gate(device, now) ~= nil
  local will_resume = redis.call('ZSCORE', backoff_key(), mac .. ':' .. lane_name)
  expect(#members == 0 or is_seated or is_gated or will_resume,
    mac .. ': stranded: waiting, no gate shut, not in the ready set')
  expect(not (is_seated and is_gated), mac .. ': gated and yet in the ready set')
  expect(lane_get(device, 'active') > 0, mac .. ': waiting but not counted as active')
  expect(redis.call('ZSCORE', oldest_of_key(lane_name, device.site), mac), mac .. ': waiting but not listed for its site')
end

for mac in pairs(inflight) do expect_counts(mac, open_device(mac, lane_name)) end
expect(waiting == get(lane, 'waiting'), 'the lane counts ' .. get(lane, 'waiting') .. ' waiting, the lines ' .. waiting)
expect(delayed == get(lane, 'delayed'), 'the lane counts ' .. get(lane, 'delayed') .. ' delayed, the set ' .. delayed)
expect(math.abs(slots - get(lane, 'busy')) < 1e-6, 'the lane counts ' .. get(lane, 'busy') .. ' busy slots, the leases ' .. slots)

local reply = {'books', digits(get(lane, 'accepted')), digits(waiting), digits(delayed), digits(leased)}
for _, state in ipairs({'done', 'failed', 'dead', 'expired', 'evicted', 'cancelled'}) do
  reply[#reply + 1] = digits(get(lane, state))
end
for _, fault in ipairs(faults) do reply[#reply + 1] = fault end
return reply
