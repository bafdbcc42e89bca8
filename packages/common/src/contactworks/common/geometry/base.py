"""What every shape offers: comparison by value, a bounding box, safe copies."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from jaxtyping import Float

from contactworks.common.arrays import points_array, positive_scalar, unit_vectors
from contactworks.common.errors import GeometryError

__all__ = ["BoundingBox", "ConvexShape", "Shape", "set_positive", "unit_directions"]

BoundingBox: TypeAlias = tuple[Float[np.ndarray, " 3"], Float[np.ndarray, " 3"]]
"""Lower and upper corner (3,) [m] of an axis-aligned box in the frame of the shape."""


class Shape(ABC):
    """An immutable description of a body's geometry, in its own frame, in metres.

    Subclasses are frozen, slotted dataclasses.  Their array fields are read-only copies.  Two
    shapes are equal when they are of one class and all their fields are equal.
    """

    __slots__ = ()

    @abstractmethod
    def bounding_box(self) -> BoundingBox:
        """Return the lower and the upper corner (3,) [m] of the axis-aligned bounding box."""

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(self) is not type(other):
            return NotImplemented
        pairs = zip(_field_values(self), _field_values(other), strict=True)
        return all(_is_equal(a, b) for a, b in pairs)

    def __hash__(self) -> int:
        return hash((type(self), *map(_hashable, _field_values(self))))

    def __reduce__(self) -> tuple[Any, ...]:
        # Through the constructor: pickled arrays would come back writable.
        return type(self), _field_values(self)


class ConvexShape(Shape):
    """A convex shape: it also tells its farthest point in a direction."""

    __slots__ = ()

    def support(self, direction: Float[npt.ArrayLike, "*n 3"]) -> Float[np.ndarray, "*n 3"]:
        """Return the points of the shape that lie farthest in the given directions.

        Where the farthest point is not unique (a face, an edge) one of them is returned, by a
        fixed rule.

        Args:
            direction: one direction (3,) or several (n, 3), of any length above zero.

        Returns:
            Points [m] of the same shape as ``direction``.

        Raises:
            ShapeError: another shape.
            GeometryError: a zero or non-finite direction.
        """
        given = np.asarray(direction, dtype=np.float64)
        unit = unit_directions(np.atleast_2d(given), columns=3)
        return self._support(unit).reshape(given.shape)

    @abstractmethod
    def _support(self, unit: Float[np.ndarray, "n 3"]) -> Float[np.ndarray, "n 3"]:
        """Return the support points of unit directions (n, 3)."""


def unit_directions(vectors: Any, columns: int) -> Float[np.ndarray, "n columns"]:
    """Return ``vectors`` (n, columns) scaled to unit length.

    Raises:
        ShapeError: another shape.
        GeometryError: a zero or non-finite vector; names its row.
    """
    array = points_array(vectors, columns, name="direction")
    return unit_vectors(array, "direction", columns, error=GeometryError)


def set_positive(item: object, *names: str) -> None:
    """Turn the named fields of a frozen dataclass into finite floats above 0, or refuse them.

    Raises:
        GeometryError: names the class, the field and the value.
    """
    for name in names:
        where = f"{type(item).__name__}.{name}"
        value = positive_scalar(getattr(item, name), where, error=GeometryError)
        object.__setattr__(item, name, value)


def _field_values(shape: Any) -> tuple[Any, ...]:
    return tuple(getattr(shape, field.name) for field in dataclasses.fields(shape))


def _is_equal(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return np.array_equal(a, b)
    if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
        return all(map(_is_equal, a, b))
    return bool(a == b)


def _hashable(value: Any) -> Any:
    """Return something hashable that is equal for equal values; a sample stands for an array."""
    if isinstance(value, np.ndarray):
        step = max(1, value.size // 64)
        return value.shape, tuple(value.reshape(-1)[::step].tolist())
    if isinstance(value, tuple):
        return tuple(map(_hashable, value))
    return value
