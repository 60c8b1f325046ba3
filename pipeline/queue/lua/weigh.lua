--[[
weigh - say what a site weighs in every lane and what it was given of late; changes nothing.

KEYS
  1 root         string  the epoch key: carries the prefix
ARGV
  1 given_now    int     epoch ms, or empty for the server's clock
  2 lanes        string  all lanes, separated by spaces
  3 site         string
BUILDS
  lane:{lane}
RETURNS
  weighed        of each lane: served_ms device_weights
COST  O(lanes)
FLAGS no-writes
]]
--@include keys
--@include record
--@include lane

local given_now, lanes, site = ARGV[1], ARGV[2], ARGV[3]

local now = now_from(given_now)
local reply = {'weighed'}
for lane_name in string.gmatch(lanes, '%S+') do
  local lane = open_lane(lane_name, site, now)
  reply[#reply + 1] = digits(served(lane.part, now))
  reply[#reply + 1] = digits(site_get(lane, 'phi'))
end
return reply
