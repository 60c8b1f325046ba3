"""A store across a fork: usable after it, and after use before it an error where the client would hang for ever."""

import subprocess
import sys
from pathlib import Path

import pytest

#: A process asks a store, or only makes it, and forks; its child asks. Python 3.12 warns of a fork beside threads.
FORKER = """
import os, sys
from pipeline.errors import StorageUnavailable
from pipeline.storage import open_store

os.environ |= {"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret"}
is_used, url = sys.argv[1] == "used", sys.argv[2]


def fault(store):
    try:
        store.check()
    except StorageUnavailable as exc:
        return str(exc)
    return ""


store = open_store(url)
if is_used:
    assert "fork" not in fault(store)
for _ in range(2):
    pid = os.fork()
    if pid == 0:
        faults = [fault(store), fault(open_store(url))]
        os._exit(0 if all(("forked off" in each) == is_used for each in faults) else 1)
    assert os.waitpid(pid, 0)[1] == 0
"""


@pytest.mark.parametrize("use", ["used", "made"])
@pytest.mark.parametrize("place", ["folder", "s3://bucket/prefix?endpoint=http://127.0.0.1:1&region=eu-1"])
def test_a_store_is_used_on_one_side_of_a_fork_only(use: str, place: str, tmp_path: Path) -> None:
    url = str(tmp_path) if place == "folder" else place
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKER, use, url], capture_output=True, text=True, timeout=60
    )

    assert (done.returncode, done.stderr) == (0, "")
