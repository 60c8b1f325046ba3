-- A hash, read once and written once: `open_record` reads the named fields, `put` remembers a change, `save` writes
-- all changes with one HSET.

-- Redis would print a large whole number as 1.8e+15 and Lua's own tostring keeps 14 digits only.
local function digits(number)
  if number == math.floor(number) then return string.format('%.0f', number) end
  return string.format('%.17g', number)
end

local function open_record(key, fields)
  local values = redis.call('HMGET', key, unpack(fields))
  local record = {key = key, value = {}, changed = {}}
  for i, field in ipairs(fields) do record.value[field] = values[i] end
  return record
end

local function get(record, field) return tonumber(record.value[field] or 0) or 0 end

local function text(record, field) return record.value[field] or '' end

local function put(record, field, value)
  record.value[field] = value
  record.changed[field] = true
end

local function add(record, field, amount) put(record, field, get(record, field) + amount) end

local function save(record)
  local flat = {}
  for field in pairs(record.changed) do
    local value = record.value[field]
    flat[#flat + 1] = field
    flat[#flat + 1] = type(value) == 'number' and digits(value) or value
  end
  if #flat > 0 then redis.call('HSET', record.key, unpack(flat)) end
  record.changed = {}
end
