--[[
claim - lease tasks from the head of the line of the device whose turn it is; no two callers get the same one.

One turn serves one device: up to `batch_max` tasks, but one only while another device that could be served has waited
for `starved_ms`; then comes the next turn, until there are `limit` tasks, or those of one slot are estimated to keep it
busy for `slot_ms`. A task that has cost a worker or an engine, or of whose size nobody knows the cost, has a slot by
itself. A head that is past its TTL, that has
lost its record or that no fairlane wrote is put aside on the way and the next one is taken: at most 8 of them in one
turn; the reconciler tells the ledger. What was charged and what each site that was served weighs is for consumers that
choose among shards.

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
  8 limit        int     tasks in all
  9 batch_max    int     tasks of one turn
  10 turns       int     how many
  11 starved_ms  int     wait after which another device ends a turn early
  12 slot_ms     int     they are for one slot, about so long; 0: a slot for each
BUILDS
  lane:{lane} task:{task_id} mac:meta:{mac} mac:queue:{mac}:{lane} mac:schedule:{lane}:{site} site:schedule:{lane}
  mac:oldest:{lane} mac:oldest:{lane}:{site} wake:{lane} leases:{lane} backoff expiry global_pending overloaded_macs dead_letter
RETURNS
  claimed        lease_ends_ms charge sites served, of each site served: site site_weight device_weights, of each task: mac site task_id token [attempt losses payload]
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
local limit, batch_max, turns = tonumber(ARGV[8]), tonumber(ARGV[9]), tonumber(ARGV[10])
local starved_ms, slot_ms = tonumber(ARGV[11]), tonumber(ARGV[12])

local now = now_from(given_now)

-- What has been got: the rows of the reply, so many tasks of these devices in so many turns, estimated to cost so many
-- worker-ms; what each site that was served weighs, and how many sites there are.
local got = {rows = {}, tasks = 0, macs = {}, turns = 0, charge = 0, weighed = {}, sites = 0, is_closed = false}
local function is_enough()
  return got.is_closed or got.turns >= turns or got.tasks >= limit or slot_ms > 0 and got.charge >= slot_ms
end

--@include tour
--@include heads
--@include turn

local misses = 0
while not is_enough() and misses < 8 do
  local site_turn = redis.call('ZRANGE', sites_key(lane_name), 0, 0)[1]
  if not site_turn then break end
  local site = string.match(site_turn, ':(.+)$')
  if not site then redis.call('ZREM', sites_key(lane_name), site_turn) end
  local turn = site and serve_site(site)
  misses = turn and misses or misses + 1
end
-- Unless all that was wanted was found, whatever wake-ups are left are stale: nothing can be served now.
if not is_enough() then redis.call('DEL', wake_key(lane_name)) end
if slot_ms > 0 and got.tasks > 1 then share_slot() end
leave()
if got.turns == 0 then return {'empty'} end
local weighed = {}
for site, weights in pairs(got.weighed) do
  for _, value in ipairs({site, unpack(weights)}) do weighed[#weighed + 1] = value end
end
local reply = {'claimed', digits(now + lease_ms), digits(got.charge), digits(got.sites), digits(#weighed / 3)}
for _, value in ipairs(weighed) do reply[#reply + 1] = value end
for _, value in ipairs(got.rows) do reply[#reply + 1] = value end
return reply
