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
  18 is_forced   int     1: the ledger has accepted it, so no limit applies
BUILDS
  lane:{lane} task:{task_id} mac:meta:{mac} mac:queue:{mac}:{lane} mac:schedule:{lane} mac:oldest:{lane} wake:{lane}
  expiry global_pending overloaded_macs
RETURNS
  queued         evicted_task_id
  duplicate      state
  full           retry_after_s
  device_full    retry_after_s
COST  O(log n)
]]
--@include keys
--@include record
--@include lane
--@include device
--@include task
--@include admission

local given_now, lane_name, mac = ARGV[1], ARGV[2], ARGV[3]
local max_total, max_per_mac, scope = tonumber(ARGV[4]), tonumber(ARGV[5]), ARGV[6]
local overload, default_s, policy = ARGV[7], tonumber(ARGV[8]), ARGV[9]
local task_id, site, class = ARGV[10], ARGV[11], ARGV[12]
local created_ms, boost_ms = tonumber(ARGV[13]), tonumber(ARGV[14])
local ttl_ms, dedupe_ms, payload, is_forced = tonumber(ARGV[15]), tonumber(ARGV[16]), ARGV[17], ARGV[18] == '1'

local known = redis.call('HGET', task_key(task_id), 'state')
if known then return {'duplicate', known} end

local now = now_from(given_now)
local lane = open_lane(lane_name, now)
local device = open_device(mac, lane_name)

-- Make room by ending the oldest waiting task of the same device; '' when there is none.
local function evict_oldest()
  local head = head_of(mac, lane_name)
  if not head then return '' end
  local victim = open_task(head.task_id)
  redis.call('ZREM', line_key(mac, lane_name), head.member)
  add(lane, 'waiting', -1)
  end_task(lane, device, victim, 'evicted', 'evicted', dedupe_ms, max_per_mac, now)
  return head.task_id
end

local evicted = ''
local verdict = is_forced and 'open' or admission(device, max_total, max_per_mac, scope)
if verdict ~= 'open' and overload == 'drop_oldest' then
  evicted = evict_oldest()
  if evicted ~= '' then verdict = 'open' end
end
if verdict ~= 'open' then
  return {verdict, retry_after(lane, device, verdict == 'device_full', default_s, now)}
end

local order = (created_ms > 0 and created_ms or now) - boost_ms
local member = next_seq(lane) .. ':' .. class .. ':' .. task_id
redis.call('ZADD', line_key(mac, lane_name), order, member)
redis.call('HSET', task_key(task_id), 'lane', lane_name, 'mac', mac, 'site', site, 'state', 'queued', 'token', '0',
  'attempts', '0', 'defers', '0', 'deliveries', '0', 'class', class, 'order', digits(order), 'member', member,
  'payload', payload, 'enqueued_ms', digits(order + boost_ms), 'expires_ms', digits(order + boost_ms + ttl_ms))
redis.call('ZADD', expiry_key(), digits(order + boost_ms + ttl_ms), task_id)
redis.call('INCR', global_pending_key())
add(lane, 'waiting', 1)
add(lane, 'accepted', 1)
put(device, 'site', site)
if get(device, 'pending_count') <= 0 then redis.call('PERSIST', device.key) end
add(device, 'pending_count', 1)
if get(device, 'pending_count') >= max_per_mac then redis.call('SADD', overloaded_key(), mac) end
reseat(lane, device, policy, now)
save(device)
save(lane)
return {'queued', evicted}
