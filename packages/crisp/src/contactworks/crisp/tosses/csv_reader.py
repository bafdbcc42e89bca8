"""Tosses in CSV files, one row per frame."""

from __future__ import annotations

import csv
import itertools
import logging
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from contactworks.common.errors import FileFormatError

from .data import (
    COLUMNS,
    DEFAULT_HALF_WIDTH,
    DEFAULT_MASS,
    TossSet,
    check_rows,
    check_times,
)

__all__ = ["read_csv"]

_LOGGER = logging.getLogger(__name__)
_NUMBERS = ("time", *COLUMNS)
_REQUIRED = ("toss", *_NUMBERS)


def read_csv(
    paths: Sequence[Path],
    *,
    half_width: float | None = None,
    mass: float | None = None,
    source: str = "CSV",
) -> TossSet:
    """Return the tosses in CSV files.

    The columns are ``toss,time,x,y,z,qw,qx,qy,qz,vx,vy,vz,wx,wy,wz``: lengths in m, time in s,
    velocity in the world frame, angular velocity in the body frame.  They may stand in any order;
    others are left unread, with a warning in the log.  The rows of a toss must follow each other,
    with one time step in all files.

    Args:
        paths: the files, read in this order.
        half_width: half the edge of the cube [m]; None: 0.0524.
        mass: mass of the cube [kg]; None: 0.37.
        source: name for reports.

    Raises:
        FileFormatError: a missing column, something that is no number, NaN, a quaternion that is
            not unit, uneven or decreasing time, a toss that is too short or in two pieces, or a
            file that cannot be read.  The message names the file and the line.
    """
    blocks: list[np.ndarray] = []
    ids: list[str] = []
    dt: float | None = None
    for path in paths:
        names, lines, numbers = _read_file(path)
        place = _Place(path, lines)
        check_rows(numbers[:, 1:], place)
        bounds = _bounds(names, place)
        for a, b in itertools.pairwise(bounds):
            dt = check_times(numbers[a:b, 0], _Place(path, lines[a:b]), dt)
            ids.append(names[a] if len(paths) == 1 else f"{path.stem}/{names[a]}")
            blocks.append(numbers[a:b, 1:])
    assert dt is not None
    return TossSet.from_rows(
        np.concatenate(blocks),
        np.cumsum([0, *(len(block) for block in blocks)]),
        ids,
        dt=dt,
        half_width=DEFAULT_HALF_WIDTH if half_width is None else half_width,
        mass=DEFAULT_MASS if mass is None else mass,
        source=source,
    )


class _Place:
    """Names the file and line of a row."""

    def __init__(self, path: Path, lines: Sequence[int]) -> None:
        self._path = path
        self._lines = lines

    def __call__(self, row: int) -> str:
        return f"{self._path}, line {self._lines[row]}"


def _read_file(path: Path) -> tuple[list[str], list[int], np.ndarray]:
    """Return the toss names, line numbers and numbers (n, 14) of a file."""
    names: list[str] = []
    lines: list[int] = []
    numbers: list[list[float]] = []
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            reader = csv.reader(file)
            columns = _columns(path, next(reader, []))
            for cells in reader:
                if not any(cell.strip() for cell in cells):
                    continue
                where = f"{path}, line {reader.line_num}"
                if len(cells) < max(columns.values()) + 1:
                    raise FileFormatError(
                        f"{where}: got {len(cells)} cells, expected {max(columns.values()) + 1}"
                    )
                names.append(cells[columns["toss"]].strip())
                lines.append(reader.line_num)
                numbers.append([_number(cells[columns[n]], f"{where}, {n}") for n in _NUMBERS])
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise FileFormatError(f"{path}: not a readable CSV file ({error})") from error
    if not numbers:
        raise FileFormatError(f"{path}: got no rows, expected at least one toss")
    return names, lines, np.array(numbers)


def _columns(path: Path, header: Sequence[str]) -> dict[str, int]:
    names = [name.strip() for name in header]
    missing = [name for name in _REQUIRED if name not in names]
    if missing:
        raise FileFormatError(
            f"{path}, line 1: column(s) missing: {', '.join(missing)}; "
            f"expected {','.join(_REQUIRED)}"
        )
    twice = [name for name in _REQUIRED if names.count(name) > 1]
    if twice:
        raise FileFormatError(f"{path}, line 1: column(s) more than once: {', '.join(twice)}")
    others = [name for name in names if name not in _REQUIRED]
    if others:
        _LOGGER.warning("%s: columns not read: %s", path, ", ".join(others))
    return {name: names.index(name) for name in _REQUIRED}


def _number(text: str, where: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise FileFormatError(f"{where}: got {text!r}, expected a number") from None
    if not np.isfinite(value):
        raise FileFormatError(f"{where}: got {value}, expected a finite number")
    return value


def _bounds(names: Sequence[str], place: _Place) -> list[int]:
    """Return the first rows of the tosses, and the number of rows."""
    first = [i for i, name in enumerate(names) if i == 0 or name != names[i - 1]]
    seen: set[str] = set()
    for i in first:
        if names[i] in seen:
            raise FileFormatError(
                f"{place(i)}, toss: got {names[i]!r} again after another toss, expected its rows "
                "to follow each other"
            )
        seen.add(names[i])
    return [*first, len(names)]
