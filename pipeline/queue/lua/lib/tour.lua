-- The lane with the site that is worked for now: read when that changes, written then and at the end. Part of claim.lua and
-- complete.lua, which go from task to task.
-- PERF: reading and writing the lane for each task anew was a third of either.
local here = nil

local function leave()
  if here then save(here) end
  here = nil
end

local function go_to(name, site)
  if here and here.name == name and here.site == site then return here end
  leave()
  here = open_lane(name, site, now)
  return here
end
