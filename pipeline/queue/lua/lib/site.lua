-- The site's seat among the sites of its lane: in the ready set iff one of its devices is.

-- What stands in a line: {member, order, class, expires, task_id}; nil for an entry that no fairlane wrote.
local function parse_entry(member, order)
  local class, expires, task_id = string.match(member, '^%d+:(%d+):(%d+):(.+)$')
  if not class then return nil end
  return {member = member, order = tonumber(order), class = class, expires = tonumber(expires), task_id = task_id}
end

-- The first task in line, or nil.
local function head_of(mac, lane_name)
  local first = redis.call('ZRANGE', line_key(mac, lane_name), 0, 0, 'WITHSCORES')
  if #first == 0 then return nil end
  return parse_entry(first[1], first[2]) or {member = first[1], order = tonumber(first[2]), class = '0', task_id = ''}
end

-- Whoever begins with a cheap task begins earlier by what the dearest would cost more: its first tag is then below that
-- of everybody who has a dear one waiting, also at the end of a round and while scores are from before the estimates.
local function head_start(lane, head)
  return head and largest_estimate(lane) - estimate(lane, head.class) or 0
end

local function site_score(lane, first, policy)
  -- Under aging only the age of the oldest task counts, whoever's it is.
  if policy == 'aging' then return first.score end
  local head = head_of(string.match(first.member, ':(.+)$'), lane.name)
  local ahead = site_get(lane, 'charge') + (head and estimate(lane, head.class) or largest_estimate(lane))
  return site_get(lane, 'tag') + ahead / site_weight(lane)
end

-- The device of the site whose turn is next: {member, score}, or nil.
local function first_device(lane_name, site)
  for _ = 1, 8 do
    local first = redis.call('ZRANGE', schedule_key(lane_name, site), 0, 0, 'WITHSCORES')
    if #first == 0 then return nil end
    if string.find(first[1], ':.') then return {member = first[1], score = tonumber(first[2])} end
    -- No fairlane wrote that.
    redis.call('ZREM', schedule_key(lane_name, site), first[1])
  end
  return nil
end

-- A site that was out of the ready set does not come back with more credit than one task of the dearest kind.
local function clamp_site(lane)
  local floor = get(lane, 'v') - largest_estimate(lane) / site_weight(lane)
  site_put(lane, 'tag', math.max(site_get(lane, 'tag'), floor))
end

local function seat_site(lane, first, policy)
  local turn = text(lane.part, 'turn')
  if first then
    if turn == '' then
      turn = next_seq(lane) .. ':' .. lane.site
      site_put(lane, 'turn', turn)
      clamp_site(lane)
    end
    redis.call('ZADD', sites_key(lane.name), digits(site_score(lane, first, policy)), turn)
  elseif turn ~= '' then
    redis.call('ZREM', sites_key(lane.name), turn)
    site_put(lane, 'turn', '')
  end
end

-- While one site is alone its score is not kept up to date by claims; it must be once there is another.
local function rescore_the_lonely(lane, policy)
  local lonely = redis.call('ZRANGE', sites_key(lane.name), 0, 0)[1]
  if not lonely then return end
  local site = string.match(lonely, ':(.+)$')
  if not site or site == lane.site then return end
  local other = open_lane(lane.name, site, get(lane, 't'))
  local first = first_device(lane.name, site)
  if first then redis.call('ZADD', sites_key(lane.name), digits(site_score(other, first, policy)), lonely) end
end

-- A site is active while one of its devices is; phi of the lane is the sum of the weights of its active sites.
local function account_site(lane, phi_before, head, policy)
  local phi = site_get(lane, 'phi')
  if phi_before == 0 and phi > 0 then
    local floor = get(lane, 'v') - head_start(lane, head) / site_weight(lane)
    site_put(lane, 'tag', math.max(site_get(lane, 'tag'), floor))
    put(lane, 'phi', get(lane, 'phi') + site_weight(lane))
    add(lane, 'sites', 1)
    if get(lane, 'sites') == 2 then rescore_the_lonely(lane, policy) end
  elseif phi_before > 0 and phi == 0 then
    site_put(lane, 'charge', 0)
    add(lane, 'sites', -1)
    local rest = get(lane, 'phi') - site_weight(lane)
    put(lane, 'phi', get(lane, 'sites') > 0 and math.max(rest, 0) or 0)
  end
end
