-- One turn: the device of a site whose turn it is, and how many of its tasks it is worth. Part of claim.lua.

-- Somebody else who could be served has waited too long: the index may name an older time than the line's head has,
-- never a younger one, so a few entries are enough to know.
local function is_other_starved(mac)
  for _, other in ipairs(redis.call('ZRANGEBYSCORE', oldest_key(lane_name), '-inf', now - starved_ms, 'LIMIT', 0, 4)) do
    local head = other ~= mac and head_of(other, lane_name)
    if head and head.order <= now - starved_ms and text(open_device(other, lane_name).part, 'turn') ~= '' then
      return true
    end
  end
  return false
end

-- Lease up to `batch` tasks of the device; returns them and the entry behind the last.
local function lease_turn(lane, device, batch)
  local allowed = batch > 1 and is_other_starved(device.mac) and 1 or batch
  local leased, behind = {}, nil
  repeat
    local one
    one, behind = lease_head(lane, device)
    if one then leased[#leased + 1] = one end
  until not one or not behind or #leased >= allowed or got.is_closed or shut_gate(device, now)
  return leased, behind
end

-- The smaller of the device just served and the one behind it in the ring.
local function next_of(seated, second)
  if seated and second and second.score < seated.score then return second end
  return seated or second
end

-- Serve the site's next device; nil when it turned out that nothing could be leased.
local function serve_site(site)
  local lane = go_to(lane_name, site)
  local two = redis.call('ZRANGE', schedule_key(lane_name, site), 0, 1, 'WITHSCORES')
  if #two == 0 then
    -- Emptied by the last claim, which leaves this to the next one.
    seat_site(lane, nil, policy)
    return nil
  end
  local mac = string.match(two[1], ':(.+)$')
  if not mac then
    -- No fairlane wrote that.
    redis.call('ZREM', schedule_key(lane_name, site), two[1])
    return nil
  end
  local device = open_device(mac, lane_name)
  put(lane, 'v', math.max(get(lane, 'v'), site_get(lane, 'tag')))
  site_put(lane, 'v', math.max(site_get(lane, 'v'), lane_get(device, 'tag')))
  local leased, behind = lease_turn(lane, device, math.min(batch_max, limit - got.tasks))
  -- An emptied line leaves the index of waiting devices when its tasks in flight end, or here when there are none.
  if #leased == 0 and not behind then leave_oldest(lane, device) end
  local seated = seat(lane, device, behind, policy, now)
  local second = two[3] and {member = two[3], score = tonumber(two[4])} or nil
  -- While one site is alone, the order of sites decides nothing.
  if get(lane, 'sites') > 1 then
    local first = next_of(seated, second)
    if first then seat_site(lane, first, policy) end
  end
  save_device(device)
  if #leased == 0 then return nil end
  for _, one in ipairs(leased) do
    for _, value in ipairs({device.mac, site, unpack(one)}) do got.rows[#got.rows + 1] = value end
  end
  got.turns = got.turns + 1
  got.sites = get(lane, 'sites')
  got.weighed[site] = {digits(site_weight(lane)), digits(site_get(lane, 'phi'))}
  return true
end

-- The tasks of one slot keep it busy together, and end together: each counts for its share.
local function share_slot()
  local share, of_site = 1 / got.tasks, {}
  for i = 1, #got.rows, #got.rows / got.tasks do
    local site, task_id = got.rows[i + 1], got.rows[i + 2]
    redis.call('HSET', task_key(task_id), 'share', digits(share))
    of_site[site] = (of_site[site] or 0) + 1
  end
  for site, tasks in pairs(of_site) do
    keep_busy(go_to(lane_name, site), tasks * (share - 1))
  end
end
