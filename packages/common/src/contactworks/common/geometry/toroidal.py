"""Toroidal shapes: a convex section swept along a closed convex path (TDSF)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from jaxtyping import Float

from contactworks.common.arrays import frozen_array
from contactworks.common.errors import GeometryError
from contactworks.common.geometry.base import BoundingBox, Shape, set_positive
from contactworks.common.geometry.dsf import (
    DEFAULT_SHARPNESS,
    checked_sharpness,
    require_origin_inside,
)
from contactworks.common.geometry.hulls import inner_radius
from contactworks.common.geometry.support import (
    SupportValue,
    ToroidalPoint,
    circle_support,
    toroidal_support,
    vertex_support,
)

__all__ = ["PlanarCircle", "PlanarVertexDsf", "Tdsf"]


@dataclass(frozen=True, slots=True)
class PlanarCircle:
    """A circle about the origin, as the path or the section of a :class:`Tdsf`.

    Attributes:
        radius: radius [m], above 0.

    Raises:
        GeometryError: a radius that is not a finite number above 0.
    """

    radius: float

    def __post_init__(self) -> None:
        set_positive(self, "radius")

    def evaluate(self, x: Float[npt.ArrayLike, "n 2"]) -> SupportValue:
        """Return value, gradient and Hessian of the support function at directions (n, 2)."""
        return circle_support(x, self.radius)

    def inner_radius(self) -> float:
        """Return the radius [m] of the largest circle about the origin that fits inside."""
        return self.radius


@dataclass(frozen=True, slots=True, eq=False, init=False)
class PlanarVertexDsf:
    """A smoothed convex polygon, as the path or the section of a :class:`Tdsf`.

    Attributes:
        vertices: vertices (k, 2) [m] with the origin strictly inside their hull.
        p: sharpness, finite and above 1 (twice differentiable above 2).

    Raises:
        ShapeError: vertices that are not (k, 2).
        GeometryError: fewer than 3 vertices, NaN, the origin not inside, or p out of range.
    """

    vertices: Float[np.ndarray, "k 2"]
    p: float

    def __init__(self, vertices: Float[npt.ArrayLike, "k 2"], p: float = DEFAULT_SHARPNESS) -> None:
        array = frozen_array(
            vertices, "PlanarVertexDsf.vertices", ("k", 2), minimum_rows=3, error=GeometryError
        )
        require_origin_inside(array, "PlanarVertexDsf.vertices")
        object.__setattr__(self, "vertices", array)
        object.__setattr__(self, "p", checked_sharpness(p, "PlanarVertexDsf.p"))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PlanarVertexDsf):
            return NotImplemented
        return self.p == other.p and np.array_equal(self.vertices, other.vertices)

    def __hash__(self) -> int:
        return hash((self.p, self.vertices.tobytes()))

    def __reduce__(self) -> tuple[type[PlanarVertexDsf], tuple[np.ndarray, float]]:
        return PlanarVertexDsf, (self.vertices, self.p)

    def evaluate(self, x: Float[npt.ArrayLike, "n 2"]) -> SupportValue:
        """Return value, gradient and Hessian of the support function at directions (n, 2)."""
        return vertex_support(x, self.vertices, self.p)

    def inner_radius(self) -> float:
        """Return the radius [m] of the largest circle about the origin in the sharp polygon."""
        return inner_radius(self.vertices)


@dataclass(frozen=True, slots=True, eq=False)
class Tdsf(Shape):
    """The solid that a convex section sweeps along a closed convex path in the x-y plane.

    The section stands upright: its first axis points along the outward normal of the path, its
    second along z.

    Attributes:
        path: planar support function of the path, about the origin.
        section: planar support function of the section, about the path.

    Raises:
        GeometryError: a field of another type, or a section that closes the hole.

    Source:
        CRISP paper, Sec. IV-A3.

    Example:
        >>> torus = Tdsf(PlanarCircle(0.05), PlanarCircle(0.01))
        >>> torus.bounding_box()[1]
        array([0.06, 0.06, 0.01])
    """

    path: PlanarCircle | PlanarVertexDsf
    section: PlanarCircle | PlanarVertexDsf

    def __post_init__(self) -> None:
        for name in ("path", "section"):
            value = getattr(self, name)
            if not isinstance(value, PlanarCircle | PlanarVertexDsf):
                raise GeometryError(
                    f"Tdsf.{name}: got {type(value).__name__}, expected PlanarCircle or "
                    "PlanarVertexDsf"
                )
        reach = float(self.section.evaluate([[-1.0, 0.0]]).value[0])
        if reach >= self.path.inner_radius():
            raise GeometryError(
                f"Tdsf.section: reaches {reach} m towards the axis, expected less than the inner "
                f"radius {self.path.inner_radius()} m of the path: the hole would close"
            )

    def evaluate(
        self, u: Float[npt.ArrayLike, "n 2"], v: Float[npt.ArrayLike, "n 2"]
    ) -> ToroidalPoint:
        """Return value, surface point and normal at path and section directions (n, 2), (n, 2)."""
        return toroidal_support(u, v, self.path, self.section)

    def bounding_box(self) -> BoundingBox:
        """Return corners (3,) [m]: tight for a circle as path, else possibly a little too wide."""
        axes = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
        outward, up, inward, down = self.section.evaluate(axes).value
        # At a corner of the path the section turns, and its inner end may come to lie outermost.
        width = outward if isinstance(self.path, PlanarCircle) else max(outward, inward)
        x, y, minus_x, minus_y = self.path.evaluate(axes).value + width
        return np.array([-minus_x, -minus_y, -down]), np.array([x, y, up])
