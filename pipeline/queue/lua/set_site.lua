--[[
set_site - change the weight of one site, at once: it acts on the backlog that is already there.

KEYS
  1 root         string  the epoch key: carries the prefix
ARGV
  1 given_now    int     epoch ms, or empty for the server's clock
  2 site         string
  3 policy       string  fair | aging
  4 lanes        string  all lanes, separated by spaces
  5 weight       float   share against other sites
BUILDS
  lane:{lane} mac:queue:{mac}:{lane} mac:schedule:{lane}:{site} site:schedule:{lane}
RETURNS
  set
COST  O(lanes log n)
FLAGS allow-oom
]]
--@include keys
--@include record
--@include lane
--@include site

local given_now, site, policy, lanes, weight = ARGV[1], ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5])

local now = now_from(given_now)
for lane_name in string.gmatch(lanes, '%S+') do
  local lane = open_lane(lane_name, site, now)
  if site_get(lane, 'phi') > 0 then add(lane, 'phi', weight - site_weight(lane)) end
  site_put(lane, 'weight', weight)
  seat_site(lane, first_device(lane_name, site), policy)
  save(lane)
end
return {'set'}
