--[[
sample - keep one sample of a lane for a time slot, unless there is one of that slot or a later one.

KEYS
  1 root       string  the epoch key: carries the prefix
ARGV
  1 lane_name  string
  2 slot_ms    int     begin of the slot, epoch ms
  3 limit      int     samples kept, at most
  4 life_ms    int     after so long without another sample all of them go, ms
  5 fields     string  the sample as JSON
BUILDS
  history:{lane}
RETURNS
  kept
  known
COST  O(1)
FLAGS allow-oom
]]
--@include keys

local lane_name, slot_ms, limit, life_ms, fields = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]

local newest = redis.call('XREVRANGE', history_key(lane_name), '+', '-', 'COUNT', 1)[1]
if newest and tonumber(string.match(newest[1], '^%d+')) >= tonumber(slot_ms) then return {'known'} end
redis.call('XADD', history_key(lane_name), 'MAXLEN', limit, slot_ms .. '-0', 'sample', fields)
redis.call('PEXPIRE', history_key(lane_name), life_ms)
return {'kept'}
