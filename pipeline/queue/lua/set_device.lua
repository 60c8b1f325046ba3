--[[
set_device - change how one device is served, at once: its weight acts on the backlog that is already there.

KEYS
  1 root            string  the epoch key: carries the prefix
ARGV
  1 given_now       int     epoch ms, or empty for the server's clock
  2 mac             string  12 lowercase hex digits
  3 policy          string  fair | aging
  4 lanes           string  all lanes, separated by spaces
  5 weight          float   share against other devices of its site; empty for 1
  6 max_inflight    int     tasks in flight per lane; empty for no cap
  7 rate_per_minute float   tasks begun per minute and lane; empty for no limit
  8 paused          string  1, or empty
  9 paused_lanes    string  lanes paused, separated by spaces; empty for none
BUILDS
  lane:{lane} mac:meta:{mac} mac:queue:{mac}:{lane} mac:schedule:{lane}:{site} site:schedule:{lane} mac:oldest:{lane} mac:oldest:{lane}:{site}
  wake:{lane} backoff paused_macs
RETURNS
  set
COST  O(lanes log n)
FLAGS allow-oom
]]
--@include keys
--@include record
--@include lane
--@include site
--@include gates
--@include device

local given_now, mac, policy, lanes = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local wanted = {
  weight = ARGV[5], max_inflight = ARGV[6], rate_per_minute = ARGV[7], paused = ARGV[8], paused_lanes = ARGV[9],
}

local now = now_from(given_now)
for field, value in pairs(wanted) do
  if value == '' then
    redis.call('HDEL', meta_key(mac), field)
  else
    redis.call('HSET', meta_key(mac), field, value)
  end
end
redis.call('PERSIST', meta_key(mac))
redis.call(wanted.paused == '1' and 'SADD' or 'SREM', paused_key(), mac)
for lane_name in string.gmatch(lanes, '%S+') do
  local device = open_device(mac, lane_name)
  local lane = open_lane(lane_name, device.site, now)
  local counted = lane_get(device, 'active')
  if counted > 0 then
    site_add(lane, 'phi', weight_of(device) - counted)
    lane_put(device, 'active', weight_of(device))
  end
  if device.site ~= '' then
    reseat(lane, device, policy, now)
    save(device)
    save(lane)
  end
end
return {'set'}
