--[[
renew - hold the lease for another while and charge the device for what its task has used beyond the estimate.

KEYS
  1 root         string  the epoch key: carries the prefix
ARGV
  1 given_now    int     epoch ms, or empty for the server's clock
  2 task_id      string
  3 token        int     of the lease
  4 lease_ms     int     lease length from now
  5 max_run_ms   int     how long a task may be held in all
  6 policy       string  fair | aging
BUILDS
  lane:{lane} task:{task_id} mac:meta:{mac} mac:queue:{mac}:{lane} mac:schedule:{lane}:{site} site:schedule:{lane} leases:{lane}
RETURNS
  renewed        lease_ends_ms
  overrun        held_ms
  lost           state
COST  O(log n)
FLAGS allow-oom
]]
--@include keys
--@include record
--@include lane
--@include site
--@include gates
--@include device
--@include task

local given_now, task_id, token = ARGV[1], ARGV[2], ARGV[3]
local lease_ms, max_run_ms, policy = tonumber(ARGV[4]), tonumber(ARGV[5]), ARGV[6]

local task = open_task(task_id)
if not holds(task, token) then return {'lost', text(task, 'state')} end
local now = now_from(given_now)
local held_ms = now - get(task, 'claimed_ms')
if held_ms > max_run_ms then return {'overrun', digits(held_ms)} end
redis.call('ZADD', leases_key(text(task, 'lane')), digits(now + lease_ms), address_of(task))
local excess = used_ms(task, now) - get(task, 'charged')
if excess > 0 then
  local lane, device = open_owner(task, now)
  add(task, 'charged', excess)
  site_add(lane, 'charge', excess)
  lane_add(device, 'charge', excess)
  seat(lane, device, head_of(device.mac, lane.name), policy, now)
  seat_site(lane, first_device(lane.name, lane.site), policy)
  save(task)
  save(device)
  save(lane)
end
return {'renewed', digits(now + lease_ms)}
