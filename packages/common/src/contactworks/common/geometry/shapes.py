"""Primitive shapes: plane, sphere, capsule, box and cylinder.

All are given in their own frame, centred on its origin, in metres.  Axes of revolution lie along z.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from jaxtyping import Float

from contactworks.common.arrays import frozen_array
from contactworks.common.errors import GeometryError
from contactworks.common.geometry import sdf
from contactworks.common.geometry.base import BoundingBox, ConvexShape, Shape, set_positive

if TYPE_CHECKING:
    from contactworks.common.inertia import MassProperties

__all__ = ["Box", "Capsule", "Cylinder", "Plane", "Sphere"]


@dataclass(frozen=True, slots=True, eq=False)
class Plane(Shape):
    """The half-space z <= 0, with the outward normal +z.

    Example:
        >>> Plane().signed_distance([[0.0, 0.0, 0.5]])[0]
        array([0.5])
    """

    def bounding_box(self) -> BoundingBox:
        """Return corners (3,): infinite, but for the upper z, which is 0."""
        return np.full(3, -np.inf), np.array([np.inf, np.inf, 0.0])

    def signed_distance(self, points: Float[npt.ArrayLike, "n 3"]) -> sdf.DistanceGradient:
        """Return the exact signed distance (n,) [m] and its gradient (n, 3)."""
        return sdf.plane_sdf(points)


@dataclass(frozen=True, slots=True, eq=False)
class Sphere(ConvexShape):
    """A ball about the origin.

    Attributes:
        radius: radius [m], above 0.

    Raises:
        GeometryError: a radius that is not a finite number above 0.

    Example:
        >>> Sphere(0.5).support([0.0, 0.0, 2.0])
        array([0. , 0. , 0.5])
    """

    radius: float

    def __post_init__(self) -> None:
        set_positive(self, "radius")

    def bounding_box(self) -> BoundingBox:
        """Return the lower and the upper corner (3,) [m]."""
        return _symmetric_box(self.radius, self.radius, self.radius)

    def signed_distance(self, points: Float[npt.ArrayLike, "n 3"]) -> sdf.DistanceGradient:
        """Return the exact signed distance (n,) [m] and its gradient (n, 3)."""
        return sdf.sphere_sdf(points, self.radius)

    def mass_properties(self, density: float) -> MassProperties:
        """Return mass, centre of mass and inertia at ``density`` [kg/m³]."""
        from contactworks.common.inertia import sphere_mass_properties

        return sphere_mass_properties(self.radius, density)

    def _support(self, unit: Float[np.ndarray, "n 3"]) -> Float[np.ndarray, "n 3"]:
        return self.radius * unit


@dataclass(frozen=True, slots=True, eq=False)
class Capsule(ConvexShape):
    """All points within ``radius`` of a segment on the z axis.

    Attributes:
        radius: radius of the shaft and of the caps [m], above 0.
        half_length: half the length of the segment, without the caps [m], above 0.

    Raises:
        GeometryError: a field that is not a finite number above 0.
    """

    radius: float
    half_length: float

    def __post_init__(self) -> None:
        set_positive(self, "radius", "half_length")

    def bounding_box(self) -> BoundingBox:
        """Return the lower and the upper corner (3,) [m]."""
        return _symmetric_box(self.radius, self.radius, self.half_length + self.radius)

    def signed_distance(self, points: Float[npt.ArrayLike, "n 3"]) -> sdf.DistanceGradient:
        """Return the exact signed distance (n,) [m] and its gradient (n, 3)."""
        return sdf.capsule_sdf(points, self.radius, self.half_length)

    def mass_properties(self, density: float) -> MassProperties:
        """Return mass, centre of mass and inertia at ``density`` [kg/m³]."""
        from contactworks.common.inertia import capsule_mass_properties

        return capsule_mass_properties(self.radius, self.half_length, density)

    def _support(self, unit: Float[np.ndarray, "n 3"]) -> Float[np.ndarray, "n 3"]:
        points = self.radius * unit
        points[:, 2] += np.where(unit[:, 2] < 0.0, -self.half_length, self.half_length)
        return points


@dataclass(frozen=True, slots=True, eq=False, init=False)
class Box(ConvexShape):
    """A box with faces normal to x, y and z.

    Attributes:
        half_size: half the edge lengths (3,) [m], above 0.

    Raises:
        ShapeError: not three numbers.
        GeometryError: a half size that is not a finite number above 0.

    Example:
        >>> Box((0.1, 0.2, 0.3)).bounding_box()[1]
        array([0.1, 0.2, 0.3])
    """

    half_size: Float[np.ndarray, " 3"]

    def __init__(self, half_size: Float[npt.ArrayLike, " 3"]) -> None:
        half = frozen_array(half_size, "Box.half_size", (3,), error=GeometryError)
        if half.min() <= 0.0:
            raise GeometryError(
                f"Box.half_size: got {half.tolist()}, expected three numbers above 0"
            )
        object.__setattr__(self, "half_size", half)

    def bounding_box(self) -> BoundingBox:
        """Return the lower and the upper corner (3,) [m]."""
        return _symmetric_box(*self.half_size.tolist())

    def signed_distance(self, points: Float[npt.ArrayLike, "n 3"]) -> sdf.DistanceGradient:
        """Return the exact signed distance (n,) [m] and its gradient (n, 3)."""
        return sdf.box_sdf(points, self.half_size)

    def mass_properties(self, density: float) -> MassProperties:
        """Return mass, centre of mass and inertia at ``density`` [kg/m³]."""
        from contactworks.common.inertia import box_mass_properties

        return box_mass_properties(self.half_size, density)

    def _support(self, unit: Float[np.ndarray, "n 3"]) -> Float[np.ndarray, "n 3"]:
        return np.where(unit < 0.0, -self.half_size, self.half_size)


@dataclass(frozen=True, slots=True, eq=False)
class Cylinder(ConvexShape):
    """A cylinder along z with flat ends.

    Attributes:
        radius: radius [m], above 0.
        half_length: half the height [m], above 0.

    Raises:
        GeometryError: a field that is not a finite number above 0.
    """

    radius: float
    half_length: float

    def __post_init__(self) -> None:
        set_positive(self, "radius", "half_length")

    def bounding_box(self) -> BoundingBox:
        """Return the lower and the upper corner (3,) [m]."""
        return _symmetric_box(self.radius, self.radius, self.half_length)

    def signed_distance(self, points: Float[npt.ArrayLike, "n 3"]) -> sdf.DistanceGradient:
        """Return the exact signed distance (n,) [m] and its gradient (n, 3)."""
        return sdf.cylinder_sdf(points, self.radius, self.half_length)

    def mass_properties(self, density: float) -> MassProperties:
        """Return mass, centre of mass and inertia at ``density`` [kg/m³]."""
        from contactworks.common.inertia import cylinder_mass_properties

        return cylinder_mass_properties(self.radius, self.half_length, density)

    def _support(self, unit: Float[np.ndarray, "n 3"]) -> Float[np.ndarray, "n 3"]:
        # Scaled first: the length of a subnormal direction has few digits.
        largest = np.max(np.abs(unit[:, :2]), axis=1, keepdims=True)
        radial = unit[:, :2] / np.where(largest > 0.0, largest, 1.0)
        rho = np.hypot(radial[:, 0], radial[:, 1])
        # Along the axis the whole end is farthest; its centre is the choice that favours no side.
        radial /= np.where(rho > 0.0, rho, 1.0)[:, None]
        z = np.where(unit[:, 2] < 0.0, -self.half_length, self.half_length)
        return np.column_stack([self.radius * radial, z])


def _symmetric_box(x: float, y: float, z: float) -> BoundingBox:
    upper = np.array([x, y, z])
    return -upper, upper
