--[[
enqueue - put one task at its place in its device's line, within the limits, once per task id.

KEYS
  1 root         string  the epoch key: carries the prefix
ARGV
  1  given_now   int     epoch ms, or empty for the server's clock
  2  lane_name   string
  3  mac         string  12 lowercase hex digits
  4  max_total   int     tasks, all devices
  5  max_per_mac int     tasks, one device
  6  scope       string  device | all
  7  overload    string  reject | drop_oldest
  8  default_s   int     Retry-After while the drain rate is unknown, s
  9  policy      string  fair | aging
  10 task_id     string
  11 site        string
  12 class       int     size class
  13 created_ms  int     epoch ms, 0 for now
  14 boost_ms    int     how much earlier it stands in line
  15 ttl_ms      int     how long it may wait
  16 dedupe_ms   int     how long an ended task is remembered
  17 payload     bytes
  18 late_ms     int     refuse what would wait longer than this, 0 to accept it
  19 lanes       string  all lanes, separated by spaces
BUILDS
  lane:{lane} task:{task_id} mac:meta:{mac} mac:queue:{mac}:{lane} mac:schedule:{lane}:{site} site:schedule:{lane} mac:oldest:{lane} mac:oldest:{lane}:{site} wake:{lane}
  leases:{lane} delayed expiry global_pending overloaded_macs
RETURNS
  queued         evicted_task_id position
  duplicate      state position, 0 when it does not wait
  full           retry_after_s
  device_full    retry_after_s
  too_late       retry_after_s
COST  O(log n)
]]
--@include keys
--@include record
--@include lane
--@include site
--@include gates
--@include device
--@include task
--@include leave
--@include admission

local given_now, lane_name, mac = ARGV[1], ARGV[2], ARGV[3]
local max_total, max_per_mac, scope = tonumber(ARGV[4]), tonumber(ARGV[5]), ARGV[6]
local overload, default_s, policy = ARGV[7], tonumber(ARGV[8]), ARGV[9]
local task_id, site, class = ARGV[10], ARGV[11], ARGV[12]
local created_ms, boost_ms = tonumber(ARGV[13]), tonumber(ARGV[14])
local ttl_ms, dedupe_ms, payload = tonumber(ARGV[15]), tonumber(ARGV[16]), ARGV[17]
local late_ms, lanes = tonumber(ARGV[18]), ARGV[19]

local known = redis.call('HGET', task_key(task_id), 'state')
if known and known ~= '' then
  local task, place = open_task(task_id), 0
  if known == 'queued' then place = place_in_line(text(task, 'mac'), text(task, 'lane'), text(task, 'member')) end
  return {'duplicate', known, digits(place)}
end
--@include enter
--@include room
return enter(0)
