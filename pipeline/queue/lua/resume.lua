--[[
resume - seat the devices whose backoff has ended, or whose rate allows a task again.

KEYS
  1 root         string  the epoch key: carries the prefix
ARGV
  1 given_now    int     epoch ms, or empty for the server's clock
  2 limit        int     devices, at most
  3 policy       string  fair | aging
BUILDS
  lane:{lane} mac:meta:{mac} mac:queue:{mac}:{lane} mac:schedule:{lane}:{site} site:schedule:{lane} mac:oldest:{lane} mac:oldest:{lane}:{site} wake:{lane} backoff
RETURNS
  resumed        mac ...
COST  O(limit log n)
FLAGS allow-oom
]]
--@include keys
--@include record
--@include lane
--@include site
--@include gates
--@include device

local given_now, limit, policy = ARGV[1], tonumber(ARGV[2]), ARGV[3]

local now = now_from(given_now)

local function open_again(mac, lane_name)
  local device = open_device(mac, lane_name)
  local lane = open_lane(lane_name, device.site, now)
  -- What has opened stays open, also when the clock is set back.
  if lane_get(device, 'unschedulable_until') <= now then lane_put(device, 'unschedulable_until', 0) end
  reseat(lane, device, policy, now)
  save(device)
  save(lane)
end

local reply = {'resumed'}
for _, member in ipairs(redis.call('ZRANGEBYSCORE', backoff_key(), '-inf', now, 'LIMIT', 0, limit)) do
  redis.call('ZREM', backoff_key(), member)
  local mac, lane_name = string.match(member, '^(.+):([^:]+)$')
  -- What is not a device with work is nobody's, and leaves nothing behind.
  if mac and redis.call('EXISTS', line_key(mac, lane_name)) == 1 then
    open_again(mac, lane_name)
    reply[#reply + 1] = mac
  end
end
return reply
