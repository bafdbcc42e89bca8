"""Checks of numbers and arrays that the geometry modules share."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from contactworks.common.errors import GeometryError, ShapeError

__all__ = [
    "finite_array",
    "finite_scalar",
    "index_array",
    "points_array",
    "positive_scalar",
    "require_indices_in_range",
]


def points_array(points: Any, columns: int = 3) -> Float[np.ndarray, "n columns"]:
    """Return ``points`` as a float64 array (n, columns).

    Raises:
        ShapeError: not two-dimensional, or another number of columns.
        GeometryError: a coordinate that is not finite; names the first row.
    """
    array = _as_float(points, "points")
    if array.ndim != 2 or array.shape[1] != columns:
        raise ShapeError(f"points: got shape {array.shape}, expected (n, {columns})")
    _require_finite(array, "points")
    return array


def finite_array(
    values: Any, name: str, shape: tuple[int | None, ...], minimum_rows: int = 1
) -> np.ndarray:
    """Return a read-only, C-contiguous float64 copy of ``values``.

    Args:
        values: anything NumPy can read as numbers.
        name: the name of the field, for the message.
        shape: the expected shape; ``None`` stands for any length.
        minimum_rows: least length of the axes whose expected length is ``None``.

    Raises:
        ShapeError: another number of axes or another length.
        GeometryError: empty, or a value that is not finite.
    """
    array = np.array(_as_float(values, name), dtype=np.float64, order="C", copy=True)
    wanted = "(" + ", ".join("n" if n is None else str(n) for n in shape) + ")"
    if array.size == 0 and minimum_rows > 0:
        raise GeometryError(f"{name}: got an empty array {array.shape}, expected {wanted}")
    matches = array.ndim == len(shape) and all(
        expected is None or got == expected
        for got, expected in zip(array.shape, shape, strict=True)
    )
    if not matches:
        raise ShapeError(f"{name}: got shape {array.shape}, expected {wanted}")
    for got, expected in zip(array.shape, shape, strict=True):
        if expected is None and got < minimum_rows:
            raise GeometryError(f"{name}: got {got} entries, expected at least {minimum_rows}")
    _require_finite(array, name)
    array.setflags(write=False)
    return array


def index_array(values: Any, name: str, columns: int) -> Int[np.ndarray, "n columns"]:
    """Return a read-only, C-contiguous int64 copy of ``values`` (n, columns).

    Raises:
        ShapeError: another shape.
        GeometryError: empty, or entries that are not whole numbers.
    """
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ShapeError(f"{name}: expected rows of {columns} indices ({error})") from None
    if array.size == 0:
        raise GeometryError(f"{name}: got an empty array, expected (n, {columns}) indices")
    if array.ndim != 2 or array.shape[1] != columns:
        raise ShapeError(f"{name}: got shape {array.shape}, expected (n, {columns})")
    if not np.issubdtype(array.dtype, np.integer):
        raise GeometryError(f"{name}: got values of type {array.dtype}, expected integers")
    result = np.array(array, dtype=np.int64, order="C", copy=True)
    result.setflags(write=False)
    return result


def require_indices_in_range(faces: Int[np.ndarray, "m 3"], count: int, name: str) -> None:
    """Refuse faces (m, 3) that refer to a vertex below 0 or at or above ``count``."""
    is_bad = (faces < 0) | (faces >= count)
    if is_bad.any():
        row, column = (int(i) for i in np.argwhere(is_bad)[0])
        raise GeometryError(
            f"{name}[{row}, {column}]: got index {faces[row, column]}, expected 0 to "
            f"{count - 1} for {count} vertices"
        )


def finite_scalar(value: Any, name: str) -> float:
    """Return ``value`` as a finite float.

    Raises:
        GeometryError: not a number, NaN or infinite.
    """
    try:
        if isinstance(value, str | bytes):  # float() would parse them
            raise TypeError
        number = float(value)
    except (TypeError, ValueError):
        raise GeometryError(f"{name}: got {value!r}, expected a number") from None
    if not math.isfinite(number):
        raise GeometryError(f"{name}: got {number}, expected a finite number")
    return number


def positive_scalar(value: Any, name: str) -> float:
    """Return ``value`` as a finite float above zero.

    Raises:
        GeometryError: not a number, NaN, infinite, zero or negative.
    """
    number = finite_scalar(value, name)
    if number <= 0.0:
        raise GeometryError(f"{name}: got {number}, expected a number above 0")
    return number


def _as_float(values: Any, name: str) -> np.ndarray:
    try:
        raw = np.asarray(values)
    except ValueError as error:
        raise ShapeError(f"{name}: expected an array of numbers ({error})") from None
    # Text would be parsed and imaginary parts dropped without a word.
    if raw.dtype.kind not in "biuf":
        raise ShapeError(f"{name}: got values of type {raw.dtype}, expected real numbers")
    return np.asarray(raw, dtype=np.float64)


def _require_finite(array: np.ndarray, name: str) -> None:
    finite = np.isfinite(array)
    if not finite.all():
        first = tuple(int(i) for i in np.argwhere(~finite)[0])
        place = ", ".join(map(str, first))
        count = int(array.size - np.count_nonzero(finite))
        raise GeometryError(
            f"{name}[{place}] is {array[first]} ({count} of {array.size} values are not finite), "
            "expected finite numbers"
        )
