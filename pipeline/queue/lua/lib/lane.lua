-- The lane's work clock and books. V advances by the work being done per unit of active weight, so it never waits for
-- an estimate to come true (docs/why/fairness.md).

local LANE_FIELDS = {
  'v', 't', 'phi', 'busy', 'token', 'seq', 'estimates', 'rate', 'rate_t', 'waiting', 'delayed', 'accepted',
  'done', 'failed', 'dead', 'expired', 'evicted', 'cancelled',
}
-- Worker-ms charged for a task of a lane that has never finished one.
local FIRST_ESTIMATE = 100
-- Memory of the drain rate, ms.
local RATE_WINDOW = 60000

local function now_from(given)
  if given ~= '' then return tonumber(given) end
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

local function open_lane(name, now)
  local lane = open_record(lane_key(name), LANE_FIELDS)
  lane.name = name
  -- A clock that jumps back stands still here instead.
  local elapsed = math.max(0, now - get(lane, 't'))
  if get(lane, 't') > 0 and get(lane, 'phi') > 0 then
    put(lane, 'v', get(lane, 'v') + get(lane, 'busy') * elapsed / get(lane, 'phi'))
  end
  put(lane, 't', math.max(now, get(lane, 't')))
  local packed = text(lane, 'estimates')
  lane.estimates = packed ~= '' and cjson.decode(packed) or {}
  return lane
end

-- Tokens grow for ever, also over a lost AOF tail or an empty start: they are never below the clock in microseconds.
local function next_token(lane, now)
  put(lane, 'token', math.max(get(lane, 'token') + 1, now * 1000))
  return get(lane, 'token')
end

local function next_seq(lane)
  add(lane, 'seq', 1)
  return string.format('%016.0f', get(lane, 'seq'))
end

-- The most a task of any known class costs, worker-ms.
local function largest_estimate(lane)
  local largest = nil
  for _, cost in pairs(lane.estimates) do largest = math.max(largest or 0, cost) end
  return largest or FIRST_ESTIMATE
end

local function estimate(lane, class) return lane.estimates[class] or largest_estimate(lane) end

-- A decayed maximum: one dear task is remembered, a change for the cheaper is learnt within about ten tasks.
local function learn_cost(lane, class, cost)
  local known = lane.estimates[class]
  if known and cost < known then cost = known - (known - cost) * 0.1 end
  lane.estimates[class] = math.max(1, math.floor(cost))
  put(lane, 'estimates', cjson.encode(lane.estimates))
end

-- Ends per ms, exponentially weighted over RATE_WINDOW.
local function drain_rate(lane, now)
  return get(lane, 'rate') * math.exp(-math.max(0, now - get(lane, 'rate_t')) / RATE_WINDOW)
end

local function count_drain(lane, now)
  put(lane, 'rate', drain_rate(lane, now) + 1 / RATE_WINDOW)
  put(lane, 'rate_t', now)
end
