--[[
admit - say whether a device may submit one more task; changes nothing.

KEYS
  1 root         string  the epoch key: carries the prefix
ARGV
  1 given_now    int     epoch ms, or empty for the server's clock
  2 lane_name    string
  3 mac          string  12 lowercase hex digits
  4 max_total    int     tasks, all devices
  5 max_per_mac  int     tasks, one device
  6 scope        string  device | all
  7 policy       string  reject | drop_oldest
  8 default_s    int     Retry-After while the drain rate is unknown, s
  9 late_ms      int     refuse what would wait longer than this, 0 to accept it
BUILDS
  lane:{lane} mac:meta:{mac} mac:queue:{mac}:{lane} global_pending overloaded_macs
RETURNS
  open
  full           retry_after_s
  device_full    retry_after_s
  too_late       retry_after_s
COST  O(1)
]]
--@include keys
--@include record
--@include lane
--@include site
--@include gates
--@include device
--@include admission

local given_now, lane_name, mac = ARGV[1], ARGV[2], ARGV[3]
local max_total, max_per_mac, scope = tonumber(ARGV[4]), tonumber(ARGV[5]), ARGV[6]
local policy, default_s, late_ms = ARGV[7], tonumber(ARGV[8]), tonumber(ARGV[9])

local now = now_from(given_now)
local device = open_device(mac, lane_name)
local lane = open_lane(lane_name, device.site, now)
local verdict = admission(lane, device, max_total, max_per_mac, scope, late_ms, now)
if verdict == 'open' then return {'open'} end
if policy == 'drop_oldest' and redis.call('ZCARD', line_key(mac, lane_name)) > 0 then return {'open'} end
return {verdict, retry_after(lane, device, verdict ~= 'full', default_s, now)}
