"""Very many tasks put in line by the server itself, in calls of many, without a client that sends each."""

from pathlib import Path

import redis

from benchmarks.scale_hosts import Place
from pipeline.queue.scripts import expand, script_paths

#: Devices of one call, such that it takes the server less than a second.
_ENQUEUED_AT_ONCE, _DEEPENED_AT_ONCE = 1_000, 10_000
_DEEPEN = Path(__file__).with_name("scale_deepen.lua")
#: Behind the definition of enqueue.lua: its arguments are those of its header.
_ENQUEUE_EACH = """
for device = tonumber(ARGV[2]), tonumber(ARGV[3]) do
  run(KEYS, {ARGV[1], 'text', string.format('%012x', device), '1000000000', '1000000000', 'device', 'reject', '30',
    'fair', string.format('%016x-%019d', device, ARGV[5]), 'local', '0', ARGV[1], '0', ARGV[4], ARGV[4], '{}', '0',
    'ocr text'})
end
"""


def enqueue_all(client: redis.Redis, place: Place, devices: int, number: int = 0) -> None:
    """Put the task of this number of every device in line, by the queue's own enqueue.lua."""
    (path,) = (path for path in script_paths() if path.stem == "enqueue")
    script = client.register_script(expand(path) + _ENQUEUE_EACH)
    for start in range(0, devices, _ENQUEUED_AT_ONCE):
        end = min(start + _ENQUEUED_AT_ONCE, devices) - 1
        script(keys=[f"{place.prefix}epoch"], args=[_now_ms(client), start, end, place.rules.ttl_ms, number])


def deepen(client: redis.Redis, place: Place, devices: int, first: int, last: int) -> None:
    """Put the tasks `first` to `last` of every device behind those that it has, as enqueues would leave them."""
    script = client.register_script(_DEEPEN.read_text("utf-8"))
    now_ms = _now_ms(client)
    for start in range(0, devices, _DEEPENED_AT_ONCE):
        end = min(start + _DEEPENED_AT_ONCE, devices) - 1
        script(
            keys=[f"{place.prefix}epoch"], args=["text", start, end, first, last, now_ms, now_ms + place.rules.ttl_ms]
        )


def _now_ms(client: redis.Redis) -> int:
    seconds, micros = client.time()
    return int(seconds) * 1000 + int(micros) // 1000
