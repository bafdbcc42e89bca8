"""Convex shapes that are given by differentiable support functions (DSF).

The sharpness p defaults to 5e4 and the flatness at the poles to 1e-10.  Smaller p makes fat shapes:
a box face bulges by ln4 · half_size / p and the wall of a cylinder by ln2 · radius / p, which at
p = 500 and a radius of 25 mm are 35 µm; epsilon = 1e-4 lifts the ends of that cylinder by 250 µm.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from jaxtyping import Float

from contactworks.common.arrays import finite_scalar, frozen_array, positive_scalar
from contactworks.common.errors import GeometryError
from contactworks.common.geometry.base import BoundingBox, ConvexShape
from contactworks.common.geometry.hulls import inner_radius
from contactworks.common.geometry.support import (
    SupportValue,
    axis_support,
    vertex_support,
)

__all__ = [
    "DEFAULT_EPSILON",
    "DEFAULT_SHARPNESS",
    "AxisDsf",
    "VertexDsf",
    "checked_sharpness",
    "require_origin_inside",
]

DEFAULT_SHARPNESS = 5e4
DEFAULT_EPSILON = 1e-10

# How far inside its hull the origin must lie, relative to the size of the shape.
_INSIDE = 1e-12


@dataclass(frozen=True, slots=True, eq=False, init=False)
class VertexDsf(ConvexShape):
    """The smoothed convex hull of vertices.

    Attributes:
        vertices: vertices (k, 3) [m] with the origin strictly inside their hull.
        p: sharpness, finite and above 1 (twice differentiable above 2).

    Raises:
        ShapeError: vertices that are not (k, 3).
        GeometryError: fewer than 4 vertices, NaN, coplanar vertices, the origin not inside, or p
            out of range.

    Source:
        CRISP paper, Appendix A, first formula.
    """

    vertices: Float[np.ndarray, "k 3"]
    p: float

    def __init__(self, vertices: Float[npt.ArrayLike, "k 3"], p: float = DEFAULT_SHARPNESS) -> None:
        array = frozen_array(
            vertices, "VertexDsf.vertices", ("k", 3), minimum_rows=4, error=GeometryError
        )
        require_origin_inside(array, "VertexDsf.vertices")
        object.__setattr__(self, "vertices", array)
        object.__setattr__(self, "p", checked_sharpness(p, "VertexDsf.p"))

    def evaluate(self, x: Float[npt.ArrayLike, "n 3"]) -> SupportValue:
        """Return value, gradient and Hessian of the support function at directions (n, 3)."""
        return vertex_support(x, self.vertices, self.p)

    def bounding_box(self) -> BoundingBox:
        """Return the lower and the upper corner (3,) [m]."""
        return _box_of(self)

    def excess_bound(self) -> float:
        """Return a bound [m] on how far the shape stands out of the sharp hull."""
        return _growth(len(self.vertices), self.p) * _size(self.vertices)

    def _support(self, unit: Float[np.ndarray, "n 3"]) -> Float[np.ndarray, "n 3"]:
        return self.evaluate(unit).gradient


@dataclass(frozen=True, slots=True, eq=False, init=False)
class AxisDsf(ConvexShape):
    """A smoothed convex solid of revolution about z.

    Attributes:
        profile: vertices (k, 2) [m] of the half profile: radius >= 0, height z; the hull of the
            profile and its mirror image has the origin strictly inside.
        p: sharpness, finite and above 1 (twice differentiable above 2).
        epsilon: flatness at the poles, above 0: a flat end becomes a dome of radius · √epsilon.

    Raises:
        ShapeError: a profile that is not (k, 2).
        GeometryError: NaN, a negative radius, the origin not inside, p or epsilon out of range.

    Source:
        CRISP paper, Appendix A, second formula.  Deviation: mirrored vertices (radius < 0) are
        refused, because they add a bulge of ln2/p times the height at the poles.

    Example:
        >>> peg = AxisDsf([[0.025, -0.05], [0.025, 0.05]])
        >>> peg.support([0.0, 0.0, 1.0]).round(5)
        array([0.  , 0.  , 0.05])
    """

    profile: Float[np.ndarray, "k 2"]
    p: float
    epsilon: float

    def __init__(
        self,
        profile: Float[npt.ArrayLike, "k 2"],
        p: float = DEFAULT_SHARPNESS,
        epsilon: float = DEFAULT_EPSILON,
    ) -> None:
        array = frozen_array(
            profile, "AxisDsf.profile", ("k", 2), minimum_rows=2, error=GeometryError
        )
        if array[:, 0].min() < 0.0:
            row = int(np.argmax(array[:, 0] < 0.0))
            raise GeometryError(
                f"AxisDsf.profile[{row}]: got radius {array[row, 0]}, expected at least 0 (give "
                "one half of the profile, without its mirror image)"
            )
        reach = (array[:, 0].max(), array[:, 1].max(), -array[:, 1].min())
        if min(reach) <= _INSIDE * _size(array):
            raise GeometryError(
                f"AxisDsf.profile: reaches radius {reach[0]}, up {reach[1]}, down {reach[2]}, "
                "expected all above 0: the origin must lie strictly inside"
            )
        object.__setattr__(self, "profile", array)
        object.__setattr__(self, "p", checked_sharpness(p, "AxisDsf.p"))
        object.__setattr__(
            self, "epsilon", positive_scalar(epsilon, "AxisDsf.epsilon", error=GeometryError)
        )

    def evaluate(self, x: Float[npt.ArrayLike, "n 3"]) -> SupportValue:
        """Return value, gradient and Hessian of the support function at directions (n, 3)."""
        return axis_support(x, self.profile, self.p, self.epsilon)

    def bounding_box(self) -> BoundingBox:
        """Return the lower and the upper corner (3,) [m]."""
        return _box_of(self)

    def excess_bound(self) -> float:
        """Return a bound [m] on how far the shape stands out of the sharp solid of revolution."""
        growth = _growth(len(self.profile), self.p)
        dome = float(self.profile[:, 0].max()) * math.sqrt(self.epsilon)
        return growth * _size(self.profile) + (1.0 + growth) * dome

    def _support(self, unit: Float[np.ndarray, "n 3"]) -> Float[np.ndarray, "n 3"]:
        return self.evaluate(unit).gradient


def checked_sharpness(p: float, name: str) -> float:
    """Return the sharpness p as a float, or refuse one that is not finite and above 1."""
    number = finite_scalar(p, name, error=GeometryError)
    if number <= 1.0:
        raise GeometryError(f"{name}: got {number}, expected a finite number above 1")
    return number


def require_origin_inside(vertices: Float[np.ndarray, "k d"], name: str) -> None:
    """Refuse vertices (k, d) whose hull does not hold the origin strictly inside."""
    radius = inner_radius(vertices)
    if radius <= _INSIDE * _size(vertices):
        raise GeometryError(
            f"{name}: the origin is not strictly inside their hull (signed depth {radius} m), as a "
            "support function needs; shift the vertices, for example by their mean"
        )


def _size(vertices: np.ndarray) -> float:
    return float(np.linalg.norm(vertices, axis=1).max())


def _growth(count: int, p: float) -> float:
    """Return count^(1/p) - 1, the largest relative growth of a smoothed support function."""
    return math.expm1(math.log(count) / p)


def _box_of(shape: VertexDsf | AxisDsf) -> BoundingBox:
    value = shape.evaluate(np.vstack([np.eye(3), -np.eye(3)])).value
    return -value[3:], value[:3]
