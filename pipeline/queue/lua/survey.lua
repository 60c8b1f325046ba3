--[[
survey - say how a lane gets on: what it has finished, what a task costs, how many of its devices starve; changes nothing.

KEYS
  1 root         string  the epoch key: carries the prefix
ARGV
  1 given_now    int     epoch ms, or empty for the server's clock
  2 lane_name    string
  3 starved_ms   int     wait after which a device that could be served starves
  4 limit        int     devices looked at, the longest waiting first
BUILDS
  lane:{lane} mac:meta:{mac} mac:queue:{mac}:{lane} mac:oldest:{lane}
RETURNS
  surveyed       worked_ms finished cost_ms ends_per_s starved
COST  O(limit log n)
FLAGS no-writes
]]
--@include keys
--@include record
--@include lane
--@include site
--@include gates

local given_now, lane_name, starved_ms, limit = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])

local now = now_from(given_now)
local lane = open_lane(lane_name, '', now)

local function mean_estimate()
  local sum, classes = 0, 0
  for _, cost in pairs(lane.estimates) do sum, classes = sum + cost, classes + 1 end
  return classes > 0 and sum / classes or FIRST_ESTIMATE
end

local starved = 0
local since = now - starved_ms
for _, mac in ipairs(redis.call('ZRANGEBYSCORE', oldest_key(lane_name), '-inf', since, 'LIMIT', 0, limit)) do
  -- The index may name an older time than the line's head has.
  local head = head_of(mac, lane_name)
  if head and head.order <= since and not shut_gate(open_device(mac, lane_name), now) then starved = starved + 1 end
end

return {
  'surveyed',
  digits(get(lane, 'worked')),
  digits(get(lane, 'done') + get(lane, 'failed')),
  digits(mean_estimate()),
  digits(drain_rate(lane, now) * 1000),
  digits(starved),
}
