-- A hash, read once and written once: `open_record` reads the fields of a schema, `put` remembers a change, `save` writes
-- all changes with one HSET. A part of a hash, whose fields carry a mark, is a record of its own that is read and
-- written with the whole.
-- PERF: what was found stays in the server's reply, where a schema knows the place of each field, and the marked names
-- of a part are kept for the next call: copying and joining them took a quarter of a script.

-- Marks whose names are kept at a time: those of the sites or lanes that are busy.
local MARKS_KEPT = 1000

-- Redis would print a large whole number as 1.8e+15 and Lua's own tostring keeps 14 digits only.
local function digits(number)
  if number == math.floor(number) then return string.format('%.0f', number) end
  return string.format('%.17g', number)
end

-- The fields of a kind of hash, and those of its part.
local function schema_of(fields, part_fields)
  local schema = {fields = fields, part_fields = part_fields or {}, place = {}, part_place = {}, names = {}, kept = 0}
  -- No `ipairs`: while functions are defined, Lua's own ones are not there yet.
  for i = 1, #fields do schema.place[fields[i]] = i end
  for i = 1, #schema.part_fields do schema.part_place[schema.part_fields[i]] = #fields + i end
  return schema
end

-- All names of the hash, the part's with their mark.
local function names_of(schema, before, after)
  local mark = before .. after
  local names = schema.names[mark]
  if names then return names end
  if schema.kept >= MARKS_KEPT then schema.names, schema.kept = {}, 0 end
  names = {unpack(schema.fields)}
  for _, field in ipairs(schema.part_fields) do names[#names + 1] = before .. field .. after end
  schema.names[mark], schema.kept = names, schema.kept + 1
  return names
end

local function new_record(key, found, place)
  return {key = key, found = found, place = place, value = {}, number = {}, changed = {}}
end

local function open_record(key, schema, before, after)
  local names = names_of(schema, before or '', after or '')
  local record = new_record(key, redis.call('HMGET', key, unpack(names)), schema.place)
  record.part = new_record(key, record.found, schema.part_place)
  record.part.names = names
  return record
end

local function text(record, field)
  return record.value[field] or record.found[record.place[field]] or ''
end

local function get(record, field)
  local number = record.number[field]
  if not number then
    number = tonumber(text(record, field)) or 0
    -- Nobody here wrote `nan`, which would make every sum it gets into another one.
    if number ~= number then number = 0 end
    record.number[field] = number
  end
  return number
end

local function put(record, field, value)
  record.value[field] = value
  record.number[field] = tonumber(value)
  record.changed[field] = true
end

local function add(record, field, amount) put(record, field, get(record, field) + amount) end

local function flatten(record, flat)
  local count = #flat
  for field in pairs(record.changed) do
    local value = record.value[field]
    flat[count + 1] = record.names and record.names[record.place[field]] or field
    flat[count + 2] = type(value) == 'number' and digits(value) or value
    count = count + 2
  end
  record.changed = {}
end

local function save(record)
  local flat = {}
  flatten(record, flat)
  flatten(record.part, flat)
  if #flat > 0 then redis.call('HSET', record.key, unpack(flat)) end
end
