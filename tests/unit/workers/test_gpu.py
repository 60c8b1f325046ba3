"""A GPU is there when the driver has put a node for it."""

from pathlib import Path

from pipeline.workers.gpu import has_gpu


def test_a_host_has_a_gpu_when_there_is_a_node_for_one(tmp_path: Path) -> None:
    (tmp_path / "nvidiactl").touch()
    assert not has_gpu(tmp_path)

    (tmp_path / "nvidia0").touch()
    assert has_gpu(tmp_path)
