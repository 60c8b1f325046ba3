--[[
restore - put a task that the ledger holds and the queue has lost where it stood; no limit applies.

KEYS
  1 root         string  the epoch key: carries the prefix
ARGV
  1  given_now   int     epoch ms, or empty for the server's clock
  2  lane_name   string
  3  mac         string  12 lowercase hex digits
  4  max_per_mac int     tasks, one device
  5  policy      string  fair | aging
  6  task_id     string
  7  site        string
  8  class       int     size class
  9  created_ms  int     epoch ms, 0 for now
  10 boost_ms    int     how much earlier it stands in line
  11 ttl_ms      int     how long it may wait
  12 payload     bytes
  13 due_ms      int     it is delayed until then, epoch ms; 0 when it stands in line
  14 attempts    int     counted so far
  15 last_token  int     the newest that the ledger has seen: later ones must be greater
BUILDS
  lane:{lane} task:{task_id} mac:meta:{mac} mac:queue:{mac}:{lane} mac:schedule:{lane}:{site} site:schedule:{lane} mac:oldest:{lane} mac:oldest:{lane}:{site} wake:{lane}
  delayed expiry global_pending overloaded_macs
RETURNS
  queued
  duplicate      state
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

local given_now, lane_name, mac, max_per_mac, policy = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]), ARGV[5]
local task_id, site, class, created_ms, boost_ms = ARGV[6], ARGV[7], ARGV[8], tonumber(ARGV[9]), tonumber(ARGV[10])
local ttl_ms, payload, due_ms = tonumber(ARGV[11]), ARGV[12], tonumber(ARGV[13])
local attempts, last_token = tonumber(ARGV[14]), tonumber(ARGV[15])

local known = redis.call('HGET', task_key(task_id), 'state')
if known then return {'duplicate', known} end
--@include enter
put(lane, 'token', math.max(get(lane, 'token'), last_token))
local created = created_ms > 0 and created_ms or now
local order, is_delayed = created - boost_ms, due_ms > now
-- What is delayed beyond its time to live has its chance when it is due, as it would have had.
local expires = math.max(created + ttl_ms, due_ms)
local member = write_task(is_delayed and 'delayed' or 'queued', order, expires, attempts, 0)
if is_delayed then
  redis.call('ZADD', delayed_key(), digits(due_ms), address(lane_name, mac, task_id))
  add(lane, 'delayed', 1)
else
  put_in_line(order, member)
end
count_in()
return {'queued'}
