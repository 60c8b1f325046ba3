-- The full record of a task that will not run again, newest first.
local function write_dead_letter(task, state, code, message, keep, now)
  redis.call('LPUSH', dead_letter_key(), cjson.encode({
    task_id = task.id,
    mac = text(task, 'mac'),
    lane = text(task, 'lane'),
    state = state,
    code = code,
    message = message,
    attempts = get(task, 'attempts'),
    defers = get(task, 'defers'),
    losses = get(task, 'losses'),
    created_ms = get(task, 'enqueued_ms'),
    dead_ms = now,
    payload = text(task, 'payload'),
  }))
  redis.call('LTRIM', dead_letter_key(), 0, keep - 1)
end

-- Letters looked at to find one that was written by mistake: it was written a moment ago.
local NEWEST_LETTERS = 200

-- Take a letter back whose task did not die after all.
local function withdraw_dead_letter(task_id)
  local name = '"task_id":' .. cjson.encode(task_id)
  for _, letter in ipairs(redis.call('LRANGE', dead_letter_key(), 0, NEWEST_LETTERS - 1)) do
    if string.find(letter, name, 1, true) then return redis.call('LREM', dead_letter_key(), 1, letter) end
  end
end
