from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from contactworks.clash import collection
from contactworks.clash.collection import collect, simulate
from contactworks.clash.dataset import CollisionDataset
from contactworks.clash.scene import ImpactBlock, StrikeScene
from contactworks.common.errors import FileFormatError, ModelError, ShapeError
from contactworks.common.progress import NullProgress

SCENE = StrikeScene()
COUNT = 60


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collection, "_CHUNK", 16)


@pytest.fixture(scope="module")
def whole() -> CollisionDataset:
    return collect(SCENE, COUNT, seed=3, workers=1)


def same(first: CollisionDataset, second: CollisionDataset) -> bool:
    return all(
        np.array_equal(getattr(first, name), getattr(second, name), equal_nan=True)
        for name in ("pre", "parameters", "post", "status")
    )


class Interruption(NullProgress):
    """Interrupts the work after so many strikes, and counts them."""

    def __init__(self, after: int = 10**9) -> None:
        self.after = after
        self.done = 0
        self.total: int | None = None
        self.is_finished = False

    def start(self, total: int | None, description: str) -> None:
        self.total = total

    def advance(self, count: int = 1, note: str = "") -> None:
        self.done += count
        if self.done >= self.after:
            raise KeyboardInterrupt

    def finish(self) -> None:
        self.is_finished = True


@pytest.mark.parametrize("workers", [2, 3, None])
def test_the_result_does_not_depend_on_the_workers(
    whole: CollisionDataset, workers: int | None
) -> None:
    assert same(collect(SCENE, COUNT, seed=3, workers=workers), whole)


def test_the_result_does_not_depend_on_the_chunks(
    whole: CollisionDataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collection, "_CHUNK", 1000)
    assert same(collect(SCENE, COUNT, seed=3), whole)


def test_another_seed_gives_other_strikes_and_fewer_are_the_first(
    whole: CollisionDataset,
) -> None:
    assert same(collect(SCENE, 20, seed=3), whole.subset(slice(20)))
    other = collect(SCENE, 20, seed=4)
    assert not np.isclose(other.pre[:, :3], whole.pre[:20, :3]).any()


def test_given_strikes_end_as_collected_ones(whole: CollisionDataset) -> None:
    assert same(simulate(SCENE, whole.pre, whole.parameters), whole)
    single = simulate(SCENE, whole.pre[7:8], whole.parameters[7:8])
    assert np.array_equal(single.post[0], whole.post[7])


def test_no_strikes_are_an_empty_dataset() -> None:
    data = simulate(SCENE, np.zeros((0, 5)), np.zeros((0, 4)))
    assert len(data) == 0
    assert data.post.shape == (0, 7)


def test_progress_hears_of_every_strike() -> None:
    progress = Interruption()
    collect(SCENE, 40, seed=0, progress=progress)
    assert (progress.total, progress.done, progress.is_finished) == (40, 40, True)


@pytest.mark.parametrize("after", [1, 17, 48])
def test_an_interrupted_run_goes_on_to_the_same_end(
    whole: CollisionDataset, tmp_path: Path, after: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "c.h5"
    progress = Interruption(after)
    with pytest.raises(KeyboardInterrupt):
        collect(SCENE, COUNT, seed=3, progress=progress, checkpoint=path)
    assert progress.is_finished
    rows: list[int] = []
    original = collection.StrikeBatch.run

    def run(self: Any, pre: np.ndarray, parameters: np.ndarray) -> Any:
        rows.append(len(pre))
        return original(self, pre, parameters)

    monkeypatch.setattr(collection.StrikeBatch, "run", run)
    assert same(collect(SCENE, COUNT, seed=3, checkpoint=path), whole)
    kept = progress.done - 16 if after > 1 else 0
    assert sum(rows) <= COUNT - kept
    rows.clear()
    assert same(collect(SCENE, COUNT, seed=3, checkpoint=path), whole)
    assert rows == []


def test_a_checkpoint_serves_a_longer_and_a_shorter_run(
    whole: CollisionDataset, tmp_path: Path
) -> None:
    path = tmp_path / "c.h5"
    collect(SCENE, 32, seed=3, checkpoint=path)
    assert same(collect(SCENE, 20, seed=3, checkpoint=path), whole.subset(slice(20)))
    with h5py.File(path) as file:
        assert len(file["status"]) == 32  # nothing that was done is thrown away
    assert same(collect(SCENE, COUNT, seed=3, checkpoint=path), whole)


def test_a_checkpoint_of_other_work_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "c.h5"
    collect(SCENE, 4, seed=3, checkpoint=path)
    with pytest.raises(FileFormatError, match=r"c\.h5.*seed"):
        collect(SCENE, 4, seed=4, checkpoint=path)
    with pytest.raises(FileFormatError, match=r"c\.h5.*scene"):
        collect(StrikeScene(block=ImpactBlock(mass=1.0)), 4, seed=3, checkpoint=path)
    collect(SCENE, 4, seed=3).save(tmp_path / "d.h5")
    with pytest.raises(FileFormatError, match=r"d\.h5"):
        collect(SCENE, 4, seed=3, checkpoint=tmp_path / "d.h5")
    path.write_bytes(path.read_bytes()[:500])
    with pytest.raises(FileFormatError, match=r"c\.h5"):
        collect(SCENE, 4, seed=3, checkpoint=path)


def test_the_provenance_tells_scene_seed_and_versions(whole: CollisionDataset) -> None:
    assert whole.attributes["seed"] == 3
    assert whole.attributes["scene"] == SCENE.description()
    assert {"mujoco", "contactworks-clash"} <= set(whole.attributes["versions"])
    assert whole.length_scale == 0.05


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"count": 0}, "count"),
        ({"count": 2.5}, "count"),
        ({"count": 2, "seed": -1}, "seed"),
        ({"count": 2, "seed": 0.5}, "seed"),
        ({"count": 2, "workers": 0}, "workers"),
    ],
)
def test_wrong_numbers_are_refused(options: dict[str, Any], text: str) -> None:
    with pytest.raises(ModelError, match=text):
        collect(SCENE, **options)


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ([[-0.1, 0.3, 1.0, 1.0]], "mu_block"),
        ([[0.1, 0.3, 1.0, 0.0]], "e_ground"),
        ([[0.1, np.nan, 1.0, 1.0]], "parameters"),
    ],
)
def test_wrong_parameters_are_refused(parameters: list[list[float]], text: str) -> None:
    with pytest.raises(ModelError, match=text):
        simulate(SCENE, [[0.5, 1.5, 0.0, 0.0, 0.0]], parameters)


def test_arrays_of_other_lengths_are_refused() -> None:
    with pytest.raises(ShapeError, match="pre, parameters"):
        simulate(SCENE, np.ones((3, 5)), np.ones((2, 4)))
