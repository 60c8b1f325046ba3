--[[
take - take one token out of each of some buckets, or out of none when one of them is empty.

A bucket is the time at which it will be full again: one number, gone by itself then.

KEYS
  1 root         string  the epoch key: carries the prefix
ARGV
  1 given_now    int     epoch ms, or empty for the server's clock
  2 buckets      string  names, separated by spaces, 1..8
  3 rates        string  tokens a minute that flow into each, in the same order
  4 sizes        string  tokens each holds, in the same order
BUILDS
  limit:{bucket}
RETURNS
  taken          of each bucket: tokens_left full_in_ms
  empty          of each bucket: tokens_left full_in_ms; then number_of_the_empty_one retry_after_ms
COST  O(buckets)
]]
--@include keys
--@include record
--@include lane

local given_now, buckets, rates, sizes = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

local function words_of(line)
  local words = {}
  for word in string.gmatch(line, '%S+') do words[#words + 1] = word end
  return words
end

local now = now_from(given_now)
local names, flow, size = words_of(buckets), words_of(rates), words_of(sizes)
local full_at, retry_after, empty = {}, 0, 0
for i, name in ipairs(names) do
  local every_ms = 60000 / tonumber(flow[i])
  local before = tonumber(redis.call('GET', limit_key(name)) or 0)
  -- Later than any we write: from before a clock was set back, or by somebody else, or no number. The bucket is full.
  if not before or not (before >= now and before <= now + tonumber(size[i]) * every_ms) then before = now end
  full_at[i] = before + every_ms
  local late = full_at[i] - now - tonumber(size[i]) * every_ms
  if late > 0.001 and late > retry_after then empty, retry_after = i, late end
end

local reply = {empty == 0 and 'taken' or 'empty'}
for i, name in ipairs(names) do
  local every_ms = 60000 / tonumber(flow[i])
  if empty > 0 then full_at[i] = full_at[i] - every_ms end
  local full_in = full_at[i] - now
  if empty == 0 then redis.call('SET', limit_key(name), digits(full_at[i]), 'PX', digits(math.ceil(full_in))) end
  reply[#reply + 1] = digits(math.max(math.floor(tonumber(size[i]) - full_in / every_ms + 0.001), 0))
  reply[#reply + 1] = digits(math.ceil(full_in))
end
if empty > 0 then
  reply[#reply + 1] = digits(empty)
  reply[#reply + 1] = digits(math.ceil(retry_after))
end
return reply
