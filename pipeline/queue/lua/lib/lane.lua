-- The lane's work clock and books, and in it one site: its tag among the sites, and the clock of its own devices.
-- V advances by the work being done per unit of active weight, so it never waits for an estimate to come true
-- (docs/why/fairness.md). A site lives in fields `<site>|<name>` of the lane's hash: both are read and written at once.

local LANE = schema_of({
  'v', 't', 'phi', 'busy', 'token', 'seq', 'sites', 'estimates', 'rate', 'rate_t', 'waiting', 'delayed', 'accepted',
  'done', 'failed', 'dead', 'expired', 'evicted', 'cancelled', 'worked',
}, {'tag', 'charge', 'inflight', 'weight', 'turn', 'v', 't', 'phi', 'served', 'served_t'})
-- Worker-ms charged for a task of a lane that has never finished one.
local FIRST_ESTIMATE = 100
-- Memory of the drain rate, ms.
local RATE_WINDOW = 60000
-- Memory of what a device and a site were given, ms: what was given so long ago counts for a third.
local SERVED_WINDOW = 600000

local function now_from(given)
  if given ~= '' then return tonumber(given) end
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

local function site_get(lane, name) return get(lane.part, name) end
local function site_put(lane, name, value) put(lane.part, name, value) end
local function site_add(lane, name, amount) add(lane.part, name, amount) end

local function weight_or_one(weight) return weight > 0 and weight or 1 end
local function site_weight(lane) return weight_or_one(site_get(lane, 'weight')) end

-- A clock that jumps back stands still here instead.
local function work_done(busy, phi, since, now)
  if since == 0 or phi == 0 then return 0 end
  return busy * math.max(0, now - since) / phi
end

local function open_lane(name, site, now)
  local lane = open_record(lane_key(name), LANE, site .. '|', '')
  lane.name = name
  lane.site = site
  put(lane, 'v', get(lane, 'v') + work_done(get(lane, 'busy'), get(lane, 'phi'), get(lane, 't'), now))
  put(lane, 't', math.max(now, get(lane, 't')))
  local done = work_done(site_get(lane, 'inflight'), site_get(lane, 'phi'), site_get(lane, 't'), now)
  site_put(lane, 'v', site_get(lane, 'v') + done)
  site_put(lane, 't', math.max(now, site_get(lane, 't')))
  local packed = text(lane, 'estimates')
  lane.estimates = packed ~= '' and cjson.decode(packed) or {}
  return lane
end

-- The most shards there can be; `shards.py` has the same number.
local SHARDS_MAX = 64

-- Tokens grow for ever, also over a lost AOF tail or an empty start: they are never below the clock in microseconds.
-- A shard's tokens leave its number as the rest of a division by SHARDS_MAX, so whoever holds one knows where to go.
local function next_token(lane, now)
  local token = math.max(get(lane, 'token') + 1, now * 1000)
  if SHARD then token = token + (SHARD - token) % SHARDS_MAX end
  put(lane, 'token', token)
  return token
end

local function next_seq(lane)
  add(lane, 'seq', 1)
  return string.format('%016.0f', get(lane, 'seq'))
end

-- The most a task of any known class costs, worker-ms.
local function largest_estimate(lane)
  local largest = nil
  if lane.largest then return lane.largest end
  for _, cost in pairs(lane.estimates) do largest = math.max(largest or 0, cost) end
  lane.largest = largest or FIRST_ESTIMATE
  return lane.largest
end

local function estimate(lane, class) return lane.estimates[class] or largest_estimate(lane) end

-- A decayed maximum: one dear task is remembered, a change for the cheaper is learnt within about ten tasks.
local function decayed_maximum(known, cost)
  if known and cost < known then cost = known - (known - cost) * 0.1 end
  return math.max(1, math.floor(cost))
end

local function learn_cost(lane, class, cost)
  lane.estimates[class] = decayed_maximum(lane.estimates[class], cost)
  lane.largest = nil
  put(lane, 'estimates', cjson.encode(lane.estimates))
end

-- Ends per ms, exponentially weighted over RATE_WINDOW.
local function drain_rate(lane, now)
  return get(lane, 'rate') * math.exp(-math.max(0, now - get(lane, 'rate_t')) / RATE_WINDOW)
end

-- Worker-ms that a device or a site, whose part of a hash this is, was given of late.
local function served(part, now)
  return get(part, 'served') * math.exp(-math.max(0, now - get(part, 'served_t')) / SERVED_WINDOW)
end

local function note_served(part, cost, now)
  put(part, 'served', math.floor(served(part, now) + cost + 0.5))
  put(part, 'served_t', now)
end

local function count_drain(lane, now)
  put(lane, 'rate', drain_rate(lane, now) + 1 / RATE_WINDOW)
  put(lane, 'rate_t', now)
end
