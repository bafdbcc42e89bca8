from __future__ import annotations

import dataclasses
import enum
import json
import logging
import math
import os
import re
import sys
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from contactworks.common.errors import FileFormatError, ModelError
from contactworks.common.records import (
    atomic_path,
    installed_versions,
    json_report,
    read_record,
    to_jsonable,
    write_json,
    write_record,
)

ARRAYS = {
    "pose": np.arange(14.0).reshape(2, 7),
    "count": np.array(3),
    "flags": np.array([True, False]),
    "names": np.array(["peg", "hole", "Müller"]),
    "small": np.zeros((0, 3), dtype=np.float32),
    "group/inner": np.array([1 + 2j]),
    "file": np.array([1, 2], dtype=np.int8),
}
ATTRIBUTES = {"seed": 3, "options": {"sigma": 0.1, "limit": math.inf}, "text": "µ"}
SUFFIXES = pytest.mark.parametrize("suffix", [".npz", ".h5"])


def write(path: Path, **changes: Any) -> None:
    write_record(
        path, ARRAYS, **{"format": "demo", "version": 2, "attributes": ATTRIBUTES, **changes}
    )


@SUFFIXES
@pytest.mark.parametrize("compress", [True, False])
def test_round_trip(tmp_path: Path, suffix: str, compress: bool) -> None:
    path = tmp_path / f"record{suffix}"
    write(path, compress=compress)
    record = read_record(path, format="demo", versions=[1, 2])
    assert set(record.arrays) == set(ARRAYS)
    for name, array in ARRAYS.items():
        found = record.arrays[name]
        assert found.shape == array.shape
        assert found.dtype == array.dtype
        assert np.array_equal(found, array)
    assert record.attributes == ATTRIBUTES
    assert record.version == 2
    assert record.package_version == installed_versions()["contactworks-common"]


@SUFFIXES
def test_floats_survive_bitwise(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"record{suffix}"
    values = np.array([0.1, 1e-310, -0.0, math.nan, math.inf, 1.7976931348623157e308])
    write_record(
        path, {"x": values}, format="demo", version=1, attributes={"x": values[:3].tolist()}
    )
    record = read_record(path, format="demo", versions=[1])
    assert record.arrays["x"].tobytes() == values.tobytes()
    assert np.array(record.attributes["x"]).tobytes() == values[:3].tobytes()


def test_same_content_gives_the_same_npz(tmp_path: Path) -> None:
    write(tmp_path / "a.npz")
    write(tmp_path / "b.npz")
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


@SUFFIXES
def test_wrong_format_version_and_arrays_are_named(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"record{suffix}"
    write(path)
    name = re.escape(path.name)
    with pytest.raises(FileFormatError, match=f"{name}: got format 'demo', expected 'other'"):
        read_record(path, format="other", versions=[2])
    with pytest.raises(FileFormatError, match=f"{name}: got version 2.*expected one of: 1, 3"):
        read_record(path, format="demo", versions=[3, 1])
    with pytest.raises(FileFormatError, match=f"{name}: arrays missing: speed"):
        read_record(path, format="demo", versions=[2], required=["pose", "speed"])


@SUFFIXES
@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.99])
def test_truncated_file_is_named(tmp_path: Path, suffix: str, share: float) -> None:
    path = tmp_path / f"record{suffix}"
    write(path)
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(FileFormatError, match=re.escape(path.name)):
        read_record(path, format="demo", versions=[2])


@SUFFIXES
def test_foreign_files_are_named(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"record{suffix}"
    if suffix == ".npz":
        np.savez(path, x=np.ones(3))
    else:
        with h5py.File(path, "w") as file:
            file["x"] = np.ones(3)
    with pytest.raises(FileFormatError, match="without our header"):
        read_record(path, format="demo", versions=[1])
    path.write_text("not at all")
    with pytest.raises(FileFormatError, match=re.escape(path.name)):
        read_record(path, format="demo", versions=[1])
    with pytest.raises(FileNotFoundError, match="absent"):
        read_record(tmp_path / f"absent{suffix}", format="demo", versions=[1])


def test_flipped_bytes_are_noticed(tmp_path: Path) -> None:
    path = tmp_path / "record.npz"
    write_record(path, {"x": np.zeros(1000)}, format="demo", version=1)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match=r"record\.npz"):
        read_record(path, format="demo", versions=[1])


def test_pickles_are_neither_written_nor_read(tmp_path: Path) -> None:
    path = tmp_path / "record.npz"
    with pytest.raises(ModelError, match=r"'x'.*dtype object"):
        write_record(path, {"x": np.array([{}])}, format="demo", version=1)
    assert list(tmp_path.iterdir()) == []

    class Trap:
        def __reduce__(self) -> tuple[Any, ...]:
            return (os.mkdir, (str(tmp_path / "trapped"),))

    header = json.dumps({"format": "demo", "version": 1, "package_version": "0", "attributes": {}})
    np.savez(path, __header__=np.array(header), x=np.array([Trap()], dtype=object))
    with pytest.raises(FileFormatError, match=r"record\.npz"):
        read_record(path, format="demo", versions=[1])
    assert not (tmp_path / "trapped").exists()


@pytest.mark.parametrize("name", ["", "__header__", "/x"])
def test_reserved_names_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ModelError, match="not free"):
        write_record(tmp_path / "r.npz", {name: np.ones(1)}, format="demo", version=1)


def test_other_suffixes_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match=r"'\.pkl'"):
        write(tmp_path / "record.pkl")


@SUFFIXES
def test_failed_write_leaves_the_old_file(
    tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / f"record{suffix}"
    write(path)
    before = path.read_bytes()

    def full_disk(*_: object) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(OSError, match="No space"):
        write_record(path, {"x": np.ones(5)}, format="demo", version=2)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_atomic_path_makes_folders_and_keeps_permissions_of_the_user(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "er" / "text.txt"
    with atomic_path(path) as temporary:
        temporary.write_text("new")
        assert not path.exists()
    assert path.read_text() == "new"
    plain = tmp_path / "plain.txt"
    plain.write_text("x")
    assert path.stat().st_mode == plain.stat().st_mode


class Color(enum.Enum):
    RED = "red"


@dataclasses.dataclass(frozen=True, slots=True)
class Options:
    seed: int
    path: Path
    color: Color
    tail: tuple[float, ...] = (1.0, 2.0)


def test_to_jsonable() -> None:
    value = {
        "options": Options(3, Path("a/b"), Color.RED),
        "whole": np.int64(4),
        "array": np.array([[1.5, 2.0]]),
        "scalar": np.float32(0.5),
        "flag": np.bool_(True),
        "set": {3, 1},
        2: None,
    }
    plain = to_jsonable(value)
    assert json.loads(json.dumps(plain)) == {
        "options": {"seed": 3, "path": "a/b", "color": "red", "tail": [1.0, 2.0]},
        "array": [[1.5, 2.0]],
        "whole": 4,
        "scalar": 0.5,
        "flag": True,
        "set": [1, 3],
        "2": None,
    }
    with pytest.raises(ModelError, match=r"report\.a\[1\]: got object"):
        to_jsonable({"a": [1, object()]}, "report")
    with pytest.raises(ModelError, match="key"):
        to_jsonable({(1, 2): 3})


def test_json_report_has_the_keys_of_the_contract(tmp_path: Path) -> None:
    report = json_report(
        "contactworks-crisp run cube-toss",
        Options(1, Path("x"), Color.RED),
        7,
        {"position_error_percent": np.float64(5.5)},
        top_level={"position_error_percent": 5.5},
    )
    assert list(report) == [
        "command",
        "options",
        "seed",
        "versions",
        "metrics",
        "position_error_percent",
    ]
    write_json(tmp_path / "report.json", report)
    assert json.loads((tmp_path / "report.json").read_text()) == report
    with pytest.raises(ModelError, match="seed"):
        json_report("x", {}, 0, {}, top_level={"seed": 1})


def test_json_has_null_for_nan_and_says_so(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    report = json_report("x", {}, 0, {"error": math.nan, "list": [1.0, math.inf]})
    with caplog.at_level(logging.WARNING):
        write_json(tmp_path / "report.json", report)
    loaded = json.loads((tmp_path / "report.json").read_text())
    assert loaded["metrics"] == {"error": None, "list": [1.0, None]}
    assert "report.metrics.error, report.metrics.list[1]" in caplog.text


def test_installed_versions() -> None:
    found = installed_versions()
    assert found["python"] == ".".join(map(str, sys.version_info[:3]))
    assert found["numpy"] == np.__version__
    assert "contactworks-common" in found
