-- Every key a script builds, one function each; keys.py says what each holds. What they begin with is set anew at each
-- call, from the name of the epoch key, which carries the prefix and, on a Cluster, the slot.
local PREFIX = nil
-- Of a prefix like `{sensitive:3}:`, nil of a plain one.
local SHARD = nil
local function build_keys_of(epoch)
  PREFIX = string.sub(epoch, 1, -string.len('epoch') - 1)
  SHARD = tonumber(string.match(PREFIX, ':(%d+)}:$') or '')
end

local function line_key(mac, lane) return PREFIX .. 'mac:queue:' .. mac .. ':' .. lane end
local function meta_key(mac) return PREFIX .. 'mac:meta:' .. mac end
local function schedule_key(lane, site) return PREFIX .. 'mac:schedule:' .. lane .. ':' .. site end
local function sites_key(lane) return PREFIX .. 'site:schedule:' .. lane end
local function oldest_key(lane) return PREFIX .. 'mac:oldest:' .. lane end
local function oldest_of_key(lane, site) return PREFIX .. 'mac:oldest:' .. lane .. ':' .. site end
local function lane_key(lane) return PREFIX .. 'lane:' .. lane end
local function wake_key(lane) return PREFIX .. 'wake:' .. lane end
local function bell_key() return PREFIX .. 'bell' end
local function leases_key(lane) return PREFIX .. 'leases:' .. lane end
local function task_key(task_id) return PREFIX .. 'task:' .. task_id end
local function delayed_key() return PREFIX .. 'delayed' end
local function backoff_key() return PREFIX .. 'backoff' end
local function expiry_key() return PREFIX .. 'expiry' end
local function global_pending_key() return PREFIX .. 'global_pending' end
local function overloaded_key() return PREFIX .. 'overloaded_macs' end
local function paused_key() return PREFIX .. 'paused_macs' end
local function dead_letter_key() return PREFIX .. 'dead_letter' end
local function history_key(lane) return PREFIX .. 'history:' .. lane end
local function limit_key(bucket) return PREFIX .. 'limit:' .. bucket end
local function worker_key(worker_id) return PREFIX .. 'worker:' .. worker_id end
local function workers_key() return PREFIX .. 'workers' end
local function watermark_key() return PREFIX .. 'watermark' end
