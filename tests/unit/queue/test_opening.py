"""What is opened is what the settings say: plain, or in shards; nothing is connected."""

from pathlib import Path
from typing import Any

import pytest

from pipeline.errors import ConfigurationError
from pipeline.queue import open_consumer_queue, open_inspector, open_pages, open_queue, open_roster
from pipeline.queue.sharded_queue import ShardedQueue
from pipeline.queue.sharded_views import ShardedInspector, ShardedPages
from pipeline.settings import Settings, load_settings


def settings_of(folder: Path, **others: Any) -> Settings:
    return Settings(_env_file=None, data_dir=folder, **others)


def test_one_shard_is_the_plain_layout(tmp_path: Path) -> None:
    settings = settings_of(tmp_path)

    for queue in (open_queue(settings), open_consumer_queue(settings)):
        assert not isinstance(queue, ShardedQueue)
        assert queue.keys.delayed() == "sensitive:delayed"
    assert not isinstance(open_inspector(settings), ShardedInspector)
    assert not isinstance(open_pages(settings), ShardedPages)
    open_roster(settings)


@pytest.mark.parametrize(
    ("others", "prefixes"),
    [
        ({"queue_shards": 2}, ["{sensitive:0}:", "{sensitive:1}:"]),
        ({"redis_url": "redis+cluster://127.0.0.1:1"}, ["{sensitive:0}:"]),
        ({"queue_shards": 2, "key_prefix": "mine"}, ["{mine:0}:", "{mine:1}:"]),
    ],
)
def test_shards_and_clusters_get_prefixes_that_name_a_slot(
    tmp_path: Path, others: dict[str, Any], prefixes: list[str]
) -> None:
    settings = settings_of(tmp_path, **others)

    for queue in (open_queue(settings), open_consumer_queue(settings)):
        assert isinstance(queue, ShardedQueue)
        assert [shard.keys.prefix for shard in queue.shards] == prefixes
    inspector = open_inspector(settings, is_patient=True)
    assert isinstance(inspector, ShardedInspector)
    assert [shard.keys.prefix for shard in inspector.shards] == prefixes
    assert isinstance(open_pages(settings), ShardedPages)
    open_roster(settings)


@pytest.mark.parametrize(("name", "value"), [("queue_shards", 0), ("queue_shards", 65), ("key_prefix", "{mine}:")])
def test_a_layout_that_no_slot_could_tell_apart_is_refused(tmp_path: Path, name: str, value: object) -> None:
    with pytest.raises(ConfigurationError, match=f"FAIRLANE_{name.upper()}"):
        load_settings(data_dir=tmp_path, **{name: value})
