--[[
explain - say where a task is and what keeps it there; changes nothing.

KEYS
  1 root         string  the epoch key: carries the prefix
ARGV
  1 given_now    int     epoch ms, or empty for the server's clock
  2 task_id      string
BUILDS
  lane:{lane} task:{task_id} mac:meta:{mac} mac:queue:{mac}:{lane} mac:schedule:{lane}:{site} site:schedule:{lane}
  delayed
RETURNS
  unknown
  known          state due_ms
  waiting        lane gate opens_ms ahead_in_line devices_ahead sites_ahead cost_ms share cap rate_per_minute lane_waiting
COST  O(log n)
FLAGS no-writes
]]
--@include keys
--@include record
--@include lane
--@include site
--@include gates
--@include device
--@include task

local given_now, task_id = ARGV[1], ARGV[2]

local task = open_task(task_id)
local state = text(task, 'state')
if state == '' then return {'unknown'} end
if state ~= 'queued' then
  return {'known', state, state == 'delayed' and redis.call('ZSCORE', delayed_key(), address_of(task)) or '0'}
end

local now = now_from(given_now)
local lane, device = open_owner(task, now)

local function before(key, turn)
  if turn == '' then return 0 end
  return redis.call('ZRANK', key, turn) or 0
end

local gate, opens = shut_gate(device, now)
local device_share = lane_get(device, 'active') / math.max(site_get(lane, 'phi'), lane_get(device, 'active'), 1e-9)
local site_share = site_weight(lane) / math.max(get(lane, 'phi'), site_weight(lane))
return {
  'waiting',
  lane.name,
  gate or 'none',
  digits(opens or 0),
  digits(math.max(0, place_in_line(device.mac, lane.name, text(task, 'member')) - 1)),
  digits(before(schedule_key(lane.name, lane.site), text(device.part, 'turn'))),
  digits(before(sites_key(lane.name), text(lane.part, 'turn'))),
  digits(estimate(lane, text(task, 'class'))),
  digits(device_share * site_share),
  digits(get(device, 'max_inflight')),
  digits(get(device, 'rate_per_minute')),
  digits(get(lane, 'waiting')),
}
