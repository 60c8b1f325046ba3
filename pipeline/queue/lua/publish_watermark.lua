--[[
publish_watermark - publish a snapshot of the service for a while, also where a server has no memory left.

KEYS
  1 root         string  the epoch key: carries the prefix
ARGV
  1 snapshot     string  JSON
  2 ttl_ms       int
BUILDS
  watermark
RETURNS
  published
COST  O(1)
FLAGS allow-oom
]]
--@include keys

local snapshot, ttl_ms = ARGV[1], ARGV[2]

-- First what needs no memory; see lib/full.lua.
redis.call('DEL', watermark_key())
redis.call('SET', watermark_key(), snapshot, 'PX', ttl_ms)
return {'published'}
