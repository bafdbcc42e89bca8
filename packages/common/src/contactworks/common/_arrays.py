"""Turning arguments into arrays: one place that checks dtype, shape and finiteness."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from jaxtyping import Float

from contactworks.common.errors import ModelError, ShapeError

__all__ = [
    "MatrixLike",
    "QuaternionLike",
    "ScalarLike",
    "VectorLike",
    "as_finite_array",
    "as_float_array",
    "components",
    "frozen_array",
    "lengths",
    "refuse_where",
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
    try:
        raw = np.asarray(value)
        # NumPy would drop an imaginary part with a mere warning.
        if raw.dtype.kind not in "biuf":
            raise TypeError(f"dtype {raw.dtype}")
        array = raw.astype(np.float64, copy=False)
    except (TypeError, ValueError) as error:
        raise ShapeError(f"{name}: expected real numbers, got {value!r} ({error})") from error
    if array.ndim < len(tail) or array.shape[array.ndim - len(tail) :] != tail:
        expected = ", ".join(["...", *map(str, tail)])
        raise ShapeError(f"{name}: got shape {array.shape}, expected ({expected})")
    return array


def as_finite_array(
    value: npt.ArrayLike, name: str, tail: tuple[int, ...]
) -> Float[np.ndarray, "*any"]:
    """Return ``as_float_array(value, name, tail)`` after a check that all numbers are finite.

    Raises:
        ShapeError: as :func:`as_float_array`.
        ModelError: for NaN or infinity; the message names the first place.
    """
    array = as_float_array(value, name, tail)
    if not np.isfinite(array).all():
        place = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise ModelError(f"{name}{list(place)}: got {array[place]}, expected a finite number")
    return array


def frozen_array(value: npt.ArrayLike, name: str, shape: tuple[int, ...]) -> Any:
    """Return a read-only finite float64 copy of ``value`` with exactly ``shape``.

    Raises:
        ShapeError: for ragged or non-numeric input, or another shape.
        ModelError: for NaN or infinity.
    """
    array = np.array(as_finite_array(value, name, shape), order="C")
    if array.shape != shape:
        raise ShapeError(f"{name}: got shape {array.shape}, expected {shape}")
    array.setflags(write=False)
    return array


def components(value: Float[np.ndarray, "*batch n"]) -> tuple[Any, ...]:
    """Return the n entries of the last dimension as arrays (...)."""
    return tuple(np.moveaxis(value, -1, 0))


def lengths(vector: Float[np.ndarray, "*batch 3"]) -> Any:
    """Return the Euclidean lengths (...), free of overflow and underflow of the squares."""
    return np.hypot(np.hypot(vector[..., 0], vector[..., 1]), vector[..., 2])


def unit_vectors(value: npt.ArrayLike, name: str, size: int) -> Float[np.ndarray, "*batch size"]:
    """Return vectors (..., size) scaled to unit length.

    Raises:
        ShapeError: where the last dimension is not ``size``.
        ModelError: where a vector is zero, NaN or infinite.
    """
    array = as_finite_array(value, name, (size,))
    largest = np.abs(array).max(axis=-1, keepdims=True)
    refuse_where(largest[..., 0] == 0.0, name, "has length zero, expected a direction")
    scaled = array / largest  # keeps the squares from overflow and underflow
    return np.asarray(scaled / np.linalg.norm(scaled, axis=-1, keepdims=True))


def refuse_where(is_bad: npt.ArrayLike, name: str, complaint: str) -> None:
    """Raise ModelError where any entry of ``is_bad`` (...) is true; name the first place."""
    if np.any(is_bad):
        place = [int(i) for i in np.argwhere(is_bad)[0]]
        raise ModelError(f"{name}{place if place else ''} {complaint}")
