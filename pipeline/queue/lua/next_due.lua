--[[
next_due - say in how many ms something falls due: a delayed task, the end of a backoff, of a lease or of a time to live;
changes nothing.

KEYS
  1 root         string  the epoch key: carries the prefix
ARGV
  1 given_now    int     epoch ms, or empty for the server's clock
  2 lane_names   string  all lanes, separated by blanks
BUILDS
  delayed backoff expiry leases:{lane}
RETURNS
  due            in_ms
  idle
COST  O(log n)
FLAGS no-writes
]]
--@include keys
--@include record
--@include lane

local given_now, lane_names = ARGV[1], ARGV[2]

local places = {delayed_key(), backoff_key(), expiry_key()}
for lane_name in string.gmatch(lane_names, '%S+') do places[#places + 1] = leases_key(lane_name) end

local soonest = math.huge
for _, key in ipairs(places) do
  local first = redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')
  soonest = math.min(soonest, tonumber(first[2]) or math.huge)
end
if soonest == math.huge then return {'idle'} end
return {'due', digits(math.max(0, math.ceil(soonest - now_from(given_now))))}
