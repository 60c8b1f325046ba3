--[[
look - say how devices stand in every lane, and what keeps them out; changes nothing.

Of a device are told its site, tasks pending, weight, cap, rate, whether it is paused and in which lanes alone; of each of
its lanes what the index of waiting devices says, tasks waiting, in flight, the order of the first, the gate that is shut,
when it opens, the end of a backoff, what it was given of late, and its weight if it is active there.

KEYS
  1 root         string  the epoch key: carries the prefix
ARGV
  1 given_now    int     epoch ms, or empty for the server's clock
  2 lanes        string  all lanes, separated by spaces
  3 macs         string  the devices, separated by spaces
BUILDS
  mac:meta:{mac} mac:queue:{mac}:{lane} mac:oldest:{lane}
RETURNS
  seen           now_ms, then of each device seven values and of each of its lanes nine
COST  O(devices * lanes * log n); the caller bounds them
FLAGS no-writes
]]
--@include keys
--@include record
--@include lane
--@include site
--@include gates

local given_now, lanes, macs = ARGV[1], ARGV[2], ARGV[3]

local now = now_from(given_now)
local reply = {'seen', digits(now)}

local TOLD = {'site', 'pending_count', 'weight', 'max_inflight', 'rate_per_minute', 'paused', 'paused_lanes'}

local function say(value) reply[#reply + 1] = value end

local function say_lane(device)
  local head = redis.call('ZRANGE', line_key(device.mac, device.lane), 0, 0, 'WITHSCORES')
  local gate, opens = shut_gate(device, now)
  say(redis.call('ZSCORE', oldest_key(device.lane), device.mac) or '')
  say(digits(redis.call('ZCARD', line_key(device.mac, device.lane))))
  say(digits(lane_get(device, 'inflight')))
  say(head[2] or '')
  say(gate or '')
  say(digits(opens or 0))
  say(digits(lane_get(device, 'unschedulable_until')))
  say(digits(served(device.part, now)))
  say(digits(lane_get(device, 'active')))
end

for mac in string.gmatch(macs, '%S+') do
  local is_first = true
  for lane_name in string.gmatch(lanes, '%S+') do
    local device = open_device(mac, lane_name)
    if is_first then
      for _, field in ipairs(TOLD) do say(text(device, field)) end
    end
    is_first = false
    say_lane(device)
  end
end
return reply
