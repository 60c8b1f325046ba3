-- A server without memory (`maxmemory`) refuses new work, and must let what it has come to an end. It looks at the first
-- write of a script only, and one that needs no memory lets the others pass. Shown by tests/integration/queue/test_full_server.py.

local function go_on_when_full() redis.call('PERSIST', KEYS[1]) end
