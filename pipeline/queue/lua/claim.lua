--[[
claim - lease tasks from the head of the line of the device whose turn it is; no two callers get the same one.

One turn serves one device: up to `limit` tasks, but one only while another device that could be served has waited for
`starved_ms`. A head that is past its TTL, that has lost its record or that no fairlane wrote is put aside on the way
and the next one is taken: at most 8 of them in one call; the reconciler tells the ledger. What the turn charges and
what the site weighs here is for consumers that choose among shards.

KEYS
  1 root         string  the epoch key: carries the prefix
ARGV
  1 given_now    int     epoch ms, or empty for the server's clock
  2 lane_name    string
  3 lease_ms     int     lease length
  4 policy       string  fair | aging
  5 dedupe_ms    int     how long an ended task is remembered
  6 max_per_mac  int     tasks, one device
  7 dead_max     int     dead letters kept
  8 limit        int     tasks of one turn, the caller's free slots at most
  9 starved_ms   int     wait after which another device ends a turn early
BUILDS
  lane:{lane} task:{task_id} mac:meta:{mac} mac:queue:{mac}:{lane} mac:schedule:{lane}:{site} site:schedule:{lane}
  mac:oldest:{lane} wake:{lane} leases:{lane} backoff expiry global_pending overloaded_macs dead_letter
RETURNS
  claimed        mac site lease_ends_ms charge site_weight device_weights sites, then of each task: task_id token
  empty
COST  O(limit log n); 12 commands for a claim of one, 14 while several sites compete
]]
--@include keys
--@include record
--@include lane
--@include site
--@include gates
--@include device
--@include task
--@include dead_letter

local given_now, lane_name, lease_ms, policy = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4]
local dedupe_ms, max_per_mac, dead_max = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])
local limit, starved_ms = tonumber(ARGV[8]), tonumber(ARGV[9])

local now = now_from(given_now)

local function bury_foreign(device, member)
  local foreign = {id = member, value = {mac = device.mac, lane = lane_name}}
  write_dead_letter(foreign, 'dead', 'poisoned_entry', 'the line held what no fairlane wrote', dead_max, now)
end

local function expire_head(lane, device, entry)
  local task = open_task(entry.task_id)
  if text(task, 'state') == '' then return forget(lane, device, entry.task_id) end
  add(lane, 'waiting', -1)
  end_task(lane, device, task, 'expired', 'expired', dedupe_ms, max_per_mac, now)
end

-- Write the lease on the task's record; false when there is no such record.
local function lease(lane, device, entry)
  local charged = estimate(lane, entry.class)
  local token = next_token(lane, now)
  local is_missing = redis.call('HSET', task_key(entry.task_id), 'state', 'leased', 'token', digits(token),
    'claimed_ms', digits(now), 'charged', digits(charged)) > 0
  if is_missing then
    redis.call('DEL', task_key(entry.task_id))
    if not forget(lane, device, entry.task_id) then bury_foreign(device, entry.member) end
    return false
  end
  redis.call('ZADD', leases_key(lane_name), digits(now + lease_ms), entry.task_id)
  add(lane, 'busy', 1)
  add(lane, 'waiting', -1)
  site_add(lane, 'inflight', 1)
  site_add(lane, 'charge', charged)
  lane_add(device, 'inflight', 1)
  lane_add(device, 'charge', charged)
  take_credit(device, now)
  return token
end

-- Lease the first task in line that can run. Returns its id and token, and the entry behind it.
local function lease_head(lane, device)
  local line = line_key(device.mac, lane_name)
  for _ = 1, 8 do
    local two = redis.call('ZRANGE', line, 0, 1, 'WITHSCORES')
    if #two == 0 then return nil, nil end
    local entry = parse_entry(two[1], two[2])
    redis.call('ZREM', line, two[1])
    local behind = two[3] and (parse_entry(two[3], two[4]) or head_of(device.mac, lane_name)) or nil
    if not entry then
      bury_foreign(device, two[1])
    elseif entry.expires <= now then
      expire_head(lane, device, entry)
    else
      local token = lease(lane, device, entry)
      if token then return {entry.task_id, digits(token)}, behind end
    end
  end
  return nil, head_of(device.mac, lane_name)
end

--@include turn

for _ = 1, 8 do
  local site_turn = redis.call('ZRANGE', sites_key(lane_name), 0, 0)[1]
  if not site_turn then break end
  local reply = serve_site(string.match(site_turn, ':(.+)$'))
  if reply then return reply end
end
-- Whatever wake-ups are left are stale: nothing can be served now.
redis.call('DEL', wake_key(lane_name))
return {'empty'}
