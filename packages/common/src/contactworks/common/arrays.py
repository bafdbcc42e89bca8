"""The checks of arrays and numbers that the packages share.

Each function turns an argument into float64 (indices into int64) or refuses it: the message holds
the argument's name, the first bad place, what was got and what was expected.  A wrong shape is a
ShapeError; a wrong value is a ModelError, or what the caller names with ``error``.  Points and
meshes are geometry, so theirs is a GeometryError.
"""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from jaxtyping import Float, Int

from contactworks.common.errors import ContactworksError, GeometryError, ModelError, ShapeError

__all__ = [
    "MatrixLike",
    "QuaternionLike",
    "ScalarLike",
    "VectorLike",
    "as_finite_array",
    "as_float_array",
    "components",
    "finite_scalar",
    "frozen_array",
    "lengths",
    "mesh_arrays",
    "points_array",
    "positive_scalar",
    "refuse_where",
    "require_shape",
    "unit_vectors",
]

# Arguments that hold one item, or any batch of them in leading dimensions.
ScalarLike: TypeAlias = Float[npt.ArrayLike, "*batch"]
VectorLike: TypeAlias = Float[npt.ArrayLike, "*batch 3"]
QuaternionLike: TypeAlias = Float[npt.ArrayLike, "*batch 4"]
MatrixLike: TypeAlias = Float[npt.ArrayLike, "*batch 3 3"]


def as_float_array(
    value: npt.ArrayLike, name: str, tail: tuple[int, ...]
) -> Float[np.ndarray, "*any"]:
    """Return ``value`` as a float64 array whose last dimensions are ``tail``.

    Args:
        value: anything that NumPy can turn into real numbers.
        name: the name of the argument, for the message.
        tail: sizes of the last dimensions; any leading dimensions may come before them.

    Raises:
        ShapeError: for ragged or non-numeric input, or other last dimensions.
    """
    array = _real_numbers(value, name)
    if array.ndim < len(tail) or array.shape[array.ndim - len(tail) :] != tail:
        expected = ", ".join(["...", *map(str, tail)])
        raise ShapeError(f"{name}: got shape {array.shape}, expected ({expected})")
    return array


def as_finite_array(
    value: npt.ArrayLike,
    name: str,
    tail: tuple[int, ...],
    *,
    error: type[ContactworksError] = ModelError,
) -> Float[np.ndarray, "*any"]:
    """Return ``as_float_array(value, name, tail)`` after a check that all numbers are finite.

    Raises:
        ShapeError: as :func:`as_float_array`.
        ModelError: for NaN or infinity; the message names the first place.
    """
    array = as_float_array(value, name, tail)
    _refuse_nonfinite(array, name, error)
    return array


def frozen_array(
    value: npt.ArrayLike,
    name: str,
    shape: tuple[int | str, ...],
    *,
    minimum_rows: int = 1,
    error: type[ContactworksError] = ModelError,
) -> Float[np.ndarray, "*any"]:
    """Return a read-only, C-contiguous, finite float64 copy of ``value`` with exactly ``shape``.

    Args:
        value: anything that NumPy can turn into real numbers.
        name: the name of the argument, for the message.
        shape: sizes of all dimensions, see :func:`require_shape`.
        minimum_rows: least size of the dimensions that a letter stands for.
        error: what is raised for a wrong value.

    Raises:
        ShapeError: for ragged or non-numeric input, or another shape.
        ModelError: for NaN or infinity, or too few rows.

    Example:
        >>> frozen_array([[1, 2], [3, 4]], "corners", ("n", 2))
        array([[1., 2.],
               [3., 4.]])
    """
    array = np.array(_real_numbers(value, name), order="C", copy=True)
    # A shape or a mesh made of nothing is a wrong value, not only an array of another shape.
    is_value = error is GeometryError or any(isinstance(size, str) for size in shape)
    if array.size == 0 and minimum_rows > 0 and is_value:
        raise error(f"{name}: got an empty array {array.shape}, expected {_text(shape)}")
    require_shape(array, name, shape)
    for got, wanted in zip(array.shape, shape, strict=True):
        if isinstance(wanted, str) and got < minimum_rows:
            raise error(f"{name}: got {got} entries, expected at least {minimum_rows}")
    _refuse_nonfinite(array, name, error)
    array.setflags(write=False)
    return array


def points_array(
    points: npt.ArrayLike, columns: int = 3, *, name: str = "points"
) -> Float[np.ndarray, "n columns"]:
    """Return ``points`` as a finite float64 array (n, columns); n may be 0.

    Raises:
        ShapeError: not two-dimensional, or another number of columns.
        GeometryError: a coordinate that is not finite; names the first.
    """
    array = _real_numbers(points, name)
    require_shape(array, name, ("n", columns))
    _refuse_nonfinite(array, name, GeometryError)
    return array


def mesh_arrays(
    vertices: Float[npt.ArrayLike, "n 3"],
    faces: Int[npt.ArrayLike, "m 3"],
    *,
    owner: str = "",
    minimum_vertices: int = 1,
) -> tuple[Float[np.ndarray, "n 3"], Int[np.ndarray, "m 3"]]:
    """Return read-only, C-contiguous copies of the arrays of a triangle mesh.

    Args:
        vertices: points (n, 3) [m].
        faces: vertex indices (m, 3).
        owner: what holds the arrays, such as ``"Mesh."``; put before their names in a message.
        minimum_vertices: least number of points.

    Raises:
        ShapeError: arrays of another shape.
        GeometryError: arrays that are empty or hold NaN, faces that are not whole numbers or refer
            to vertices that do not exist.
    """
    points = frozen_array(
        vertices,
        f"{owner}vertices",
        ("n", 3),
        minimum_rows=minimum_vertices,
        error=GeometryError,
    )
    index = _face_indices(faces, f"{owner}faces")
    is_bad = (index < 0) | (index >= len(points))
    if is_bad.any():
        row, column = (int(i) for i in np.argwhere(is_bad)[0])
        raise GeometryError(
            f"{owner}faces[{row}, {column}]: got index {index[row, column]}, expected 0 to "
            f"{len(points) - 1} for {len(points)} vertices"
        )
    return points, index


def finite_scalar(value: Any, name: str, *, error: type[ContactworksError] = ModelError) -> float:
    """Return ``value`` as a finite float.

    Raises:
        ModelError: not a number, NaN or infinite.
    """
    try:
        if isinstance(value, str | bytes):  # float() would parse them
            raise TypeError
        number = float(value)
    except (TypeError, ValueError):
        raise error(f"{name}: got {value!r}, expected a number") from None
    if not math.isfinite(number):
        raise error(f"{name}: got {number}, expected a finite number")
    return number


def positive_scalar(value: Any, name: str, *, error: type[ContactworksError] = ModelError) -> float:
    """Return ``value`` as a finite float above zero.

    Raises:
        ModelError: not a number, NaN, infinite, zero or negative.
    """
    number = finite_scalar(value, name, error=error)
    if number <= 0.0:
        raise error(f"{name}: got {number}, expected a number above 0")
    return number


def components(value: Float[np.ndarray, "*batch n"]) -> tuple[Any, ...]:
    """Return the n entries of the last dimension as arrays (...)."""
    return tuple(np.moveaxis(value, -1, 0))


def lengths(vector: Float[np.ndarray, "*batch 3"]) -> Any:
    """Return the Euclidean lengths (...), free of overflow and underflow of the squares."""
    return np.hypot(np.hypot(vector[..., 0], vector[..., 1]), vector[..., 2])


def unit_vectors(
    value: npt.ArrayLike, name: str, size: int, *, error: type[ContactworksError] = ModelError
) -> Float[np.ndarray, "*batch size"]:
    """Return vectors (..., size) scaled to unit length.

    Raises:
        ShapeError: where the last dimension is not ``size``.
        ModelError: where a vector is zero, NaN or infinite.
    """
    array = as_finite_array(value, name, (size,), error=error)
    largest = np.abs(array).max(axis=-1, keepdims=True)
    is_zero = largest[..., 0] == 0.0
    refuse_where(is_zero, name, "has length zero, expected a non-zero vector", error=error)
    scaled = array / largest  # keeps the squares from overflow and underflow
    return np.asarray(scaled / np.linalg.norm(scaled, axis=-1, keepdims=True))


def require_shape(
    array: Float[np.ndarray, "*any"], name: str, shape: tuple[int | str, ...]
) -> None:
    """Refuse an array whose shape is not ``shape``, in which a text stands for any size.

    Raises:
        ShapeError: another shape.

    Example:
        >>> require_shape(np.zeros((4, 3)), "points", ("n", 3))
    """
    is_same = array.ndim == len(shape) and all(
        isinstance(wanted, str) or got == wanted
        for got, wanted in zip(array.shape, shape, strict=True)
    )
    if not is_same:
        raise ShapeError(f"{name}: got shape {array.shape}, expected {_text(shape)}")


def refuse_where(
    is_bad: npt.ArrayLike,
    name: str,
    complaint: str,
    *,
    error: type[ContactworksError] = ModelError,
) -> None:
    """Raise ``error`` where any entry of ``is_bad`` (...) is true; name the first place."""
    if np.any(is_bad):
        raise error(f"{name}{_place(is_bad)} {complaint}")


def _real_numbers(value: Any, name: str) -> np.ndarray:
    try:
        raw = np.asarray(value)
    except (TypeError, ValueError) as error:
        raise ShapeError(f"{name}: got no array ({error}), expected real numbers") from error
    # Text would be parsed and imaginary parts dropped without a word.
    if raw.dtype.kind not in "biuf":
        raise ShapeError(f"{name}: got values of type {raw.dtype}, expected real numbers")
    return raw.astype(np.float64, copy=False)


def _face_indices(values: Any, name: str) -> np.ndarray:
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ShapeError(f"{name}: got no array ({error}), expected rows of 3 indices") from error
    if array.size == 0:
        raise GeometryError(f"{name}: got an empty array, expected (n, 3) indices")
    require_shape(array, name, ("n", 3))
    if not np.issubdtype(array.dtype, np.integer):
        raise GeometryError(f"{name}: got values of type {array.dtype}, expected integers")
    index = np.array(array, dtype=np.int64, order="C", copy=True)
    index.setflags(write=False)
    return index


def _text(shape: tuple[int | str, ...]) -> str:
    return str(shape).replace("'", "")


def _refuse_nonfinite(array: np.ndarray, name: str, error: type[ContactworksError]) -> None:
    is_bad = ~np.isfinite(array)
    if is_bad.any():
        count = f"{np.count_nonzero(is_bad)} of {array.size} values are not finite"
        complaint = f"is {array[is_bad][0]} ({count}), expected finite numbers"
        raise error(f"{name}{_place(is_bad)} {complaint}")


def _place(is_bad: npt.ArrayLike) -> str:
    """Return the first place where ``is_bad`` is true as ``[i, j]``; no text for a scalar."""
    place = [int(i) for i in np.argwhere(is_bad)[0]]
    return str(place) if place else ""
