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
  mac:oldest:{lane} mac:oldest:{lane}:{site} wake:{lane} leases:{lane} backoff expiry global_pending overloaded_macs dead_letter
RETURNS
  claimed        mac site lease_ends_ms charge site_weight device_weights sites, then of each task: task_id token
  empty
COST  O(limit log n); 12 commands for a claim of one, 14 while several sites compete
FLAGS allow-oom
]]
--@include keys
--@include record
--@include lane
--@include site
--@include gates
--@include device
--@include task
--@include leave
--@include dead_letter

local given_now, lane_name, lease_ms, policy = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4]
local dedupe_ms, max_per_mac, dead_max = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])
local limit, starved_ms = tonumber(ARGV[8]), tonumber(ARGV[9])

local now = now_from(given_now)

--@include heads
--@include turn

for _ = 1, 8 do
  local site_turn = redis.call('ZRANGE', sites_key(lane_name), 0, 0)[1]
  if not site_turn then break end
  local site = string.match(site_turn, ':(.+)$')
  if not site then redis.call('ZREM', sites_key(lane_name), site_turn) end
  local reply = site and serve_site(site)
  if reply then return reply end
end
-- Whatever wake-ups are left are stale: nothing can be served now.
redis.call('DEL', wake_key(lane_name))
return {'empty'}
