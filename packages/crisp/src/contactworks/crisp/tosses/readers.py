"""Reading tosses from a file or a folder, whatever its format."""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path

import numpy as np

from contactworks.common.errors import FileFormatError

from .contactnets_reader import find_contactnets, read_contactnets
from .csv_reader import read_csv
from .data import MINIMUM_FRAMES, TossSet, check_rows

__all__ = ["read_npz", "read_tosses"]

_ARRAYS = {"pos": 3, "quat_wxyz": 4, "linvel": 3, "angvel_body": 3}
_SCALARS = ("dt", "half_width", "mass")
_NPZ_IN_FOLDER = "tosses.npz"


def read_tosses(
    path: str | Path, *, half_width: float | None = None, mass: float | None = None
) -> TossSet:
    """Return the tosses in a file or folder.

    Known are ``.npz`` files, ``.csv`` files, folders of ``.csv`` files, a folder with
    ``tosses.npz``, and the public ContactNets repository (its root, its ``data`` folder or
    ``data/tosses_processed``; this needs PyTorch).

    Args:
        path: the file or folder.
        half_width: half the edge of the cube [m]; None: what the file says, else 0.0524.
        mass: mass of the cube [kg]; None: what the file says, else 0.37.

    Raises:
        FileNotFoundError: there is nothing at ``path``.
        FileFormatError: the content is not what it should be; the message names file and place.
        MissingDependencyError: PyTorch is needed and not installed.
    """
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"{path}: no such file or folder")
    if path.is_file():
        if path.suffix.lower() == ".npz":
            return read_npz(path, half_width=half_width, mass=mass)
        if path.suffix.lower() == ".csv":
            return read_csv([path], half_width=half_width, mass=mass, source=path.name)
        raise FileFormatError(
            f"{path}: got the suffix '{path.suffix}', expected '.npz', '.csv' or a folder"
        )
    folder = find_contactnets(path)
    if folder is not None:
        return read_contactnets(folder, half_width=half_width, mass=mass)
    if (path / _NPZ_IN_FOLDER).is_file():
        return read_npz(path / _NPZ_IN_FOLDER, half_width=half_width, mass=mass)
    files = sorted(f for f in path.iterdir() if f.is_file() and f.suffix.lower() == ".csv")
    if files:
        return read_csv(files, half_width=half_width, mass=mass, source=path.name)
    raise FileFormatError(
        f"{path}: got a folder without tosses, expected .csv files, {_NPZ_IN_FOLDER}, or the "
        "ContactNets repository (data/tosses_processed with 0.pt, 1.pt, ...)"
    )


def read_npz(
    path: str | Path, *, half_width: float | None = None, mass: float | None = None
) -> TossSet:
    """Return the tosses in an ``.npz`` file.

    Its arrays: ``pos`` (N, 3), ``quat_wxyz`` (N, 4), ``linvel`` (N, 3), ``angvel_body`` (N, 3),
    ``start`` (T + 1,), optionally ``toss_id`` (T,), and the scalars ``dt``, ``half_width``,
    ``mass``.

    Args:
        path: the file.
        half_width: overrides the file's [m].
        mass: overrides the file's [kg].

    Raises:
        FileFormatError: an array is missing or has another shape, or a state is impossible.
    """
    path = Path(path)
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile, zlib.error) as error:
        raise FileFormatError(f"{path}: not a readable .npz file ({error})") from error
    missing = [n for n in (*_ARRAYS, "start", *_SCALARS) if n not in arrays]
    # The arguments stand in for scalars that the file lacks.
    given = {"half_width": half_width, "mass": mass}
    missing = [name for name in missing if given.get(name) is None]
    if missing:
        raise FileFormatError(f"{path}: arrays missing: {', '.join(missing)}")
    rows = _rows(path, arrays)
    start = _start(path, arrays["start"], len(rows))
    toss_of_row = np.repeat(np.arange(len(start) - 1), np.diff(start))
    ids = arrays.get("toss_id", np.arange(len(start) - 1))
    if ids.shape != (len(start) - 1,):
        raise FileFormatError(
            f"{path}, toss_id: got shape {ids.shape}, expected ({len(start) - 1},)"
        )

    def where(row: int) -> str:
        toss = int(toss_of_row[row])
        return f"{path}, row {row} (toss {ids[toss]}, frame {row - int(start[toss])})"

    check_rows(rows, where)
    scalars = {
        name: value if value is not None else _scalar(path, name, arrays[name])
        for name, value in {"dt": None, **given}.items()
    }
    names = [str(name) for name in ids.tolist()]
    return TossSet.from_rows(rows, start, names, source=path.name, **scalars)


def _rows(path: Path, arrays: dict[str, np.ndarray]) -> np.ndarray:
    count = len(np.atleast_1d(arrays["pos"]))
    for name, width in _ARRAYS.items():
        array = arrays[name]
        if array.shape != (count, width) or array.dtype.kind not in "fiu":
            raise FileFormatError(
                f"{path}, {name}: got shape {array.shape} of {array.dtype}, expected numbers of "
                f"shape ({count}, {width})"
            )
    return np.concatenate([np.asarray(arrays[name], dtype=float) for name in _ARRAYS], axis=1)


def _start(path: Path, start: np.ndarray, count: int) -> np.ndarray:
    is_good = start.ndim == 1 and start.dtype.kind in "iu" and len(start) > 1
    if not is_good or start[0] != 0 or start[-1] != count:
        raise FileFormatError(
            f"{path}, start: got {start.dtype} {start.shape}, expected whole numbers that begin "
            f"with 0 and end with the number of rows, {count}"
        )
    start = start.astype(np.int64)
    short = np.flatnonzero(np.diff(start) < MINIMUM_FRAMES)
    if len(short):
        toss = int(short[0])
        raise FileFormatError(
            f"{path}, start: toss {toss} (row {start[toss]}) has {start[toss + 1] - start[toss]} "
            f"frame(s), expected at least {MINIMUM_FRAMES}"
        )
    return start


def _scalar(path: Path, name: str, array: np.ndarray) -> float:
    if array.size != 1 or array.dtype.kind not in "fiu":
        raise FileFormatError(f"{path}, {name}: got shape {array.shape}, expected one number")
    value = float(array.reshape(()))
    if not (np.isfinite(value) and value > 0.0):
        raise FileFormatError(f"{path}, {name}: got {value}, expected a positive number")
    return value
