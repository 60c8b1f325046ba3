--[[
take - take one token out of a bucket, unless it is empty.

A bucket is the time at which it will be full again: one number, gone by itself then.

KEYS
  1 root         string  the epoch key: carries the prefix
ARGV
  1 given_now    int     epoch ms, or empty for the server's clock
  2 bucket       string
  3 per_minute   int     tokens that flow into it, > 0
  4 size         int     tokens it holds, > 0
BUILDS
  limit:{bucket}
RETURNS
  taken          tokens_left full_in_ms
  empty          0 full_in_ms retry_after_ms
COST  O(1)
FLAGS allow-oom
]]
--@include keys
--@include record
--@include lane

local given_now, bucket = ARGV[1], ARGV[2]
local per_minute, size = tonumber(ARGV[3]), tonumber(ARGV[4])

local now, every_ms = now_from(given_now), 60000 / per_minute
local longest = size * every_ms
local full_at = tonumber(redis.call('GET', limit_key(bucket)) or 0)
-- Later than any we write: from before a clock was set back, or by somebody else, or no number. The bucket is full.
if not full_at or not (full_at >= now and full_at <= now + longest + 1) then full_at = now end

local full_in = full_at + every_ms - now
local late = full_in - longest
-- Sums of shares of a millisecond are a little off; nobody is refused for that.
if late > 0.001 then return {'empty', '0', digits(math.ceil(full_at - now)), digits(math.ceil(late))} end
full_in = math.min(full_in, longest)
redis.call('SET', limit_key(bucket), digits(now + full_in), 'PX', digits(math.ceil(full_in)))
return {'taken', digits(math.floor((longest - full_in) / every_ms + 0.001)), digits(math.ceil(full_in))}
