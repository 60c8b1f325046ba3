-- A hash, read once and written once: `open_record` reads the named fields, `put` remembers a change, `save` writes
-- all changes with one HSET. A part of a hash, whose fields carry a mark, is a record of its own that is read and
-- written with the whole.

-- Redis would print a large whole number as 1.8e+15 and Lua's own tostring keeps 14 digits only.
local function digits(number)
  if number == math.floor(number) then return string.format('%.0f', number) end
  return string.format('%.17g', number)
end

local function new_record(key) return {key = key, value = {}, number = {}, changed = {}} end

-- PERF: a part has plain names in here; to put them together anew at every get cost a tenth of a script.
local function open_record(key, fields, part_fields, before, after)
  local record = new_record(key)
  local names = fields
  if part_fields then
    names = {unpack(fields)}
    for i, field in ipairs(part_fields) do names[#fields + i] = before .. field .. after end
    record.part = new_record()
    record.part.before, record.part.after = before, after
  end
  local values = redis.call('HMGET', key, unpack(names))
  for i, field in ipairs(fields) do record.value[field] = values[i] end
  if part_fields then
    for i, field in ipairs(part_fields) do record.part.value[field] = values[#fields + i] end
  end
  return record
end

local function get(record, field)
  local number = record.number[field]
  if not number then
    number = tonumber(record.value[field] or 0) or 0
    -- Nobody here wrote `nan`, which would make every sum it gets into another one.
    if number ~= number then number = 0 end
    record.number[field] = number
  end
  return number
end

local function text(record, field) return record.value[field] or '' end

local function put(record, field, value)
  record.value[field] = value
  record.number[field] = tonumber(value)
  record.changed[field] = true
end

local function add(record, field, amount) put(record, field, get(record, field) + amount) end

local function flatten(record, flat, before, after)
  for field in pairs(record.changed) do
    local value = record.value[field]
    flat[#flat + 1] = before .. field .. after
    flat[#flat + 1] = type(value) == 'number' and digits(value) or value
  end
  record.changed = {}
end

local function save(record)
  local flat = {}
  flatten(record, flat, '', '')
  if record.part then flatten(record.part, flat, record.part.before, record.part.after) end
  if #flat > 0 then redis.call('HSET', record.key, unpack(flat)) end
end
