from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from contactworks.clash.dataset import CollisionDataset, CollisionStatus
from contactworks.common.errors import FileFormatError, ModelError, ShapeError


def made(count: int = 5, **changes: Any) -> CollisionDataset:
    rng = np.random.default_rng(0)
    fields: dict[str, Any] = {
        "pre": rng.random((count, 5)),
        "parameters": rng.random((count, 4)),
        "post": rng.random((count, 7)),
        "status": np.arange(count) % 3,
        "length_scale": 0.05,
        "attributes": {"seed": 3, "scene": {"shape": "semicylinder"}},
    }
    return CollisionDataset(**{**fields, **changes})


def test_a_file_returns_the_same_dataset(tmp_path: Path) -> None:
    post = np.random.default_rng(1).random((5, 7))
    post[3] = np.nan
    data = made(post=post, status=[0, 1, 2, 3, 0])
    path = tmp_path / "folder" / "data.h5"
    data.save(path)
    back = CollisionDataset.load(path)
    for name in ("pre", "parameters", "post", "status"):
        assert np.array_equal(getattr(back, name), getattr(data, name), equal_nan=True)
    assert back.length_scale == data.length_scale
    assert back.attributes == data.attributes


def test_a_file_tells_units_and_format(tmp_path: Path) -> None:
    made().save(tmp_path / "data.h5")
    with h5py.File(tmp_path / "data.h5") as file:
        assert file.attrs["format"] == "contactworks-collisions"
        assert set(file) == {"pre", "parameters", "post", "status"}
        assert '"wz": "rad/s"' in file.attrs["attributes"]


def test_a_failed_write_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "data.h5"
    made().save(path)
    before = path.read_bytes()

    def fail(*_: Any, **__: Any) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(h5py.Group, "create_dataset", fail)
    with pytest.raises(OSError, match="disk full"):
        made(3).save(path)
    assert path.read_bytes() == before
    assert [item.name for item in tmp_path.iterdir()] == ["data.h5"]


def test_other_files_are_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"absent\.h5"):
        CollisionDataset.load(tmp_path / "absent.h5")
    with pytest.raises(FileFormatError, match=r"data\.csv"):
        made().save(tmp_path / "data.csv")
    (tmp_path / "text.h5").write_text("not HDF5")
    with pytest.raises(FileFormatError, match=r"text\.h5"):
        CollisionDataset.load(tmp_path / "text.h5")
    made().save(tmp_path / "bad.h5")
    with h5py.File(tmp_path / "bad.h5", "r+") as file:
        file["pre"][2, 1] = np.nan
    with pytest.raises(FileFormatError, match=r"bad\.h5: pre\[2, 1\]"):
        CollisionDataset.load(tmp_path / "bad.h5")
    with h5py.File(tmp_path / "bad.h5", "r+") as file:
        del file["post"]
    with pytest.raises(FileFormatError, match=r"bad\.h5.*post"):
        CollisionDataset.load(tmp_path / "bad.h5")


def test_rows_are_counted_by_status_and_chosen() -> None:
    data = made(7)
    assert data.counts() == {"separated": 3, "in_contact": 2, "missed": 2, "unstable": 0}
    chosen = data.subset(data.is_separated)
    assert np.array_equal(chosen.pre, data.pre[[0, 3, 6]])
    assert len(data.subset(slice(2, 4))) == 2
    assert np.array_equal(data.subset([5, 1]).status, data.status[[5, 1]])


def test_arrays_are_copies_and_read_only() -> None:
    pre = np.zeros((5, 5))
    data = made(pre=pre)
    pre[0] = 1.0
    assert data.pre[0, 0] == 0.0
    with pytest.raises(ValueError, match="read-only"):
        data.post[0, 0] = 1.0


@pytest.mark.parametrize(
    ("changes", "error", "text"),
    [
        ({"pre": np.zeros((4, 5))}, ShapeError, "pre"),
        ({"pre": np.zeros((5, 6))}, ShapeError, "pre"),
        ({"parameters": np.full((5, 4), np.inf)}, ModelError, "parameters"),
        ({"post": np.full((5, 7), np.nan)}, ModelError, r"post\[0\]"),
        ({"status": np.full(5, 9)}, ModelError, r"status\[0\]"),
        ({"status": np.zeros(5)}, ShapeError, "status"),
        ({"length_scale": 0.0}, ModelError, "length_scale"),
    ],
)
def test_wrong_contents_are_refused(
    changes: dict[str, Any], error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        made(**changes)


def test_statuses_are_the_numbers_of_the_file() -> None:
    assert [(s.name, s.value) for s in CollisionStatus] == [
        ("SEPARATED", 0),
        ("IN_CONTACT", 1),
        ("MISSED", 2),
        ("UNSTABLE", 3),
    ]
