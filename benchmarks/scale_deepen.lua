-- Give every device from `first` to `last` the tasks `from` to `to` behind those it has, as so many enqueues would: the
-- same keys, fields and numbers (tests/benchmarks compares the two), at a twentieth of the time.
-- KEYS[1] the epoch key; ARGV lane, first, last, from, to, when they were created and when they expire, epoch ms.
local prefix, lane_name = string.sub(KEYS[1], 1, -string.len('epoch') - 1), ARGV[1]
local first, last, from, to = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local created, expires = ARGV[6], ARGV[7]
local lane = prefix .. 'lane:' .. lane_name
local seq = tonumber(redis.call('HGET', lane, 'seq'))
local count = (last - first + 1) * (to - from + 1)

for number = from, to do
  for device = first, last do
    seq = seq + 1
    local mac = string.format('%012x', device)
    local task_id = string.format('%016x-%019d', device, number)
    local member = string.format('%016.0f', seq) .. ':0:' .. expires .. ':' .. task_id
    redis.call('ZADD', prefix .. 'expiry', expires, task_id)
    redis.call('HSET', prefix .. 'task:' .. task_id, 'lane', lane_name, 'mac', mac, 'site', 'local', 'state', 'queued',
      'token', '0', 'attempts', '0', 'defers', '0', 'losses', '0', 'replays', '0', 'class', '0', 'order', created,
      'member', member, 'payload', '{}', 'enqueued_ms', created, 'claimed_ms', '0', 'charged', '0')
    redis.call('ZADD', prefix .. 'mac:queue:' .. mac .. ':' .. lane_name, created, member)
    redis.call('HINCRBY', prefix .. 'mac:meta:' .. mac, 'pending_count', 1)
  end
end
redis.call('HSET', lane, 'seq', string.format('%.0f', seq))
redis.call('HINCRBY', lane, 'waiting', count)
redis.call('HINCRBY', lane, 'accepted', count)
redis.call('INCRBY', prefix .. 'global_pending', count)
