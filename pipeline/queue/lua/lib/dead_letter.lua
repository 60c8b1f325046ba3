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
