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
  10 lanes       string  all lanes, separated by spaces
BUILDS
  lane:{lane} mac:meta:{mac} mac:queue:{mac}:{lane} global_pending overloaded_macs
RETURNS
  open           now_ms
  full           retry_after_s
  device_full    retry_after_s
  too_late       retry_after_s
COST  O(1)
FLAGS allow-oom
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
local policy, default_s, late_ms, lanes = ARGV[7], tonumber(ARGV[8]), tonumber(ARGV[9]), ARGV[10]

local now = now_from(given_now)
local device = open_device(mac, lane_name)
local lane = open_lane(lane_name, device.site, now)
local verdict = admission(lane, device, max_total, max_per_mac, scope, late_ms, now)
local is_open = verdict == 'open'
if not is_open and policy == 'drop_oldest' and verdict ~= 'closed' then
  for name in string.gmatch(lanes, '%S+') do is_open = is_open or redis.call('ZCARD', line_key(mac, name)) > 0 end
end
if is_open then return {'open', digits(now)} end
return refusal(lane, device, verdict, default_s, now)
