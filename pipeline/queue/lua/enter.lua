--[[
enter - write the entry of a worker in the registry anew, for a while; also where a server has no memory left, or all
its workers would seem dead.

KEYS
  1 root         string  the epoch key: carries the prefix
ARGV
  1 worker_id    string  <hostname>:<pid>
  2 entry        string  a JSON object: field -> text
  3 expires_ms   int     when the worker is forgotten, epoch ms
  4 ttl_ms       int     the same from now on
BUILDS
  worker:{worker_id} workers
RETURNS
  entered
COST  O(log n): n workers
FLAGS allow-oom
]]
--@include keys

local worker_id, entry, expires_ms, ttl_ms = ARGV[1], cjson.decode(ARGV[2]), ARGV[3], ARGV[4]

-- First what needs no memory; see lib/full.lua.
redis.call('DEL', worker_key(worker_id))
for field, value in pairs(entry) do redis.call('HSET', worker_key(worker_id), field, value) end
redis.call('PEXPIRE', worker_key(worker_id), ttl_ms)
redis.call('ZADD', workers_key(), expires_ms, worker_id)
return {'entered'}
