"""Straight prisms along z over a square, an equilateral triangle and a half disc."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from jaxtyping import Float

from contactworks.common.arrays import points_array
from contactworks.common.geometry import sdf
from contactworks.common.geometry.base import BoundingBox, set_positive
from contactworks.common.geometry.parts.extrusion import (
    extrude_distance,
    prism_mesh,
    regular_polygon,
)
from contactworks.common.geometry.parts.outlines import (
    Arc,
    Segment,
    chain_distance,
    outline_moments,
    polygon_outline,
    sample_outline,
)
from contactworks.common.geometry.parts.part import Part
from contactworks.common.geometry.parts.resolution import Resolution, segments_per_turn
from contactworks.common.geometry.polyhedra import Mesh
from contactworks.common.inertia import MassProperties, box_mass_properties

__all__ = ["SemiCylinder", "SquarePrism", "TrianglePrism"]


@dataclass(frozen=True, slots=True, eq=False)
class SquarePrism(Part):
    """A prism along z over a square with sides along x and y; the origin is its centroid.

    Attributes:
        side: side of the square [m], above 0.
        height: height along z [m], above 0.

    Raises:
        GeometryError: a field that is not a finite number above 0.

    Example:
        >>> round(SquarePrism(side=0.08, height=0.04).mass_properties(1150.0).mass, 6)
        0.2944
    """

    side: float
    height: float

    def __post_init__(self) -> None:
        set_positive(self, "side", "height")

    def mesh(self, resolution: Resolution = None) -> Mesh:
        """Return the exact mesh: 8 vertices, 12 faces; ``resolution`` has no effect."""
        half = 0.5 * self.side
        corners = half * np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
        return prism_mesh(corners, -0.5 * self.height, 0.5 * self.height)

    def signed_distance(self, points: Float[npt.ArrayLike, "n 3"]) -> sdf.DistanceGradient:
        """Return the exact signed distance (n,) [m] and its gradient (n, 3)."""
        return sdf.box_sdf(points, self._half_size())

    def mass_properties(self, density: float) -> MassProperties:
        """Return mass, centre of mass and inertia at ``density`` [kg/m³]."""
        return box_mass_properties(self._half_size(), density)

    def bounding_box(self) -> BoundingBox:
        """Return the lower and the upper corner (3,) [m]."""
        upper = np.array(self._half_size())
        return -upper, upper

    @property
    def sdf_parameters(self) -> dict[str, float]:
        """Return ``half_side`` and ``half_height`` [m]."""
        return {"half_side": 0.5 * self.side, "half_height": 0.5 * self.height}

    def _half_size(self) -> tuple[float, float, float]:
        return 0.5 * self.side, 0.5 * self.side, 0.5 * self.height


@dataclass(frozen=True, slots=True, eq=False)
class TrianglePrism(Part):
    """A prism along z over an equilateral triangle; the origin is its centroid.

    One corner points to +y, the opposite side is parallel to x.

    Attributes:
        side: side of the triangle [m], above 0.
        height: height along z [m], above 0.

    Raises:
        GeometryError: a field that is not a finite number above 0.
    """

    side: float
    height: float

    def __post_init__(self) -> None:
        set_positive(self, "side", "height")

    @property
    def circumradius(self) -> float:
        """Return the distance of the corners from the axis [m]."""
        return self.side / math.sqrt(3.0)

    def mesh(self, resolution: Resolution = None) -> Mesh:
        """Return the exact mesh: 6 vertices, 8 faces; ``resolution`` has no effect."""
        return prism_mesh(self._corners(), -0.5 * self.height, 0.5 * self.height)

    def signed_distance(self, points: Float[npt.ArrayLike, "n 3"]) -> sdf.DistanceGradient:
        """Return the exact signed distance (n,) [m] and its gradient (n, 3)."""
        points = points_array(points)
        planar = chain_distance(polygon_outline(self._corners()), points[:, :2])
        return extrude_distance(planar, points[:, 2], -0.5 * self.height, 0.5 * self.height)

    def mass_properties(self, density: float) -> MassProperties:
        """Return mass, centre of mass and inertia at ``density`` [kg/m³]."""
        moments = outline_moments(polygon_outline(self._corners()))
        return moments.extruded(-0.5 * self.height, 0.5 * self.height).mass_properties(density)

    def bounding_box(self) -> BoundingBox:
        """Return the lower and the upper corner (3,) [m]."""
        half, r, z = 0.5 * self.side, self.circumradius, 0.5 * self.height
        return np.array([-half, -0.5 * r, -z]), np.array([half, r, z])

    @property
    def sdf_parameters(self) -> dict[str, float]:
        """Return ``circumradius`` and ``half_height`` [m]."""
        return {"circumradius": self.circumradius, "half_height": 0.5 * self.height}

    def _corners(self) -> Float[np.ndarray, "3 2"]:
        return triangle_corners(self.circumradius)


@dataclass(frozen=True, slots=True, eq=False)
class SemiCylinder(Part):
    """A prism along z over a half disc; the origin is its centroid.

    The round side faces +y.  The flat side lies in the plane y = -4 r / (3 π), and the axis of the
    circle on it, at x = 0.

    Attributes:
        radius: radius of the half disc [m], above 0.
        height: height along z [m], above 0.

    Raises:
        GeometryError: a field that is not a finite number above 0.

    Example:
        >>> round(SemiCylinder(radius=0.05, height=0.04).mass_properties(1150.0).mass, 6)
        0.180642
    """

    radius: float
    height: float

    def __post_init__(self) -> None:
        set_positive(self, "radius", "height")

    @property
    def circle_center(self) -> tuple[float, float]:
        """Return the centre of the circle (x, y) [m], which lies in the middle of the flat side."""
        return 0.0, -4.0 * self.radius / (3.0 * math.pi)

    def mesh(self, resolution: Resolution = None) -> Mesh:
        """Return a watertight mesh whose vertices lie on the surface, so that it never bulges.

        Args:
            resolution: segments per full turn (int), chord error [m] (float), or None for 128.

        Raises:
            GeometryError: a resolution that is out of range.
        """
        count = segments_per_turn(resolution, self.radius, minimum=4)
        corners = sample_outline(self._outline(), count)
        return prism_mesh(corners, -0.5 * self.height, 0.5 * self.height)

    def signed_distance(self, points: Float[npt.ArrayLike, "n 3"]) -> sdf.DistanceGradient:
        """Return the exact signed distance (n,) [m] and its gradient (n, 3)."""
        points = points_array(points)
        planar = chain_distance(self._outline(), points[:, :2])
        return extrude_distance(planar, points[:, 2], -0.5 * self.height, 0.5 * self.height)

    def mass_properties(self, density: float) -> MassProperties:
        """Return mass, centre of mass and inertia at ``density`` [kg/m³]."""
        moments = outline_moments(self._outline())
        return moments.extruded(-0.5 * self.height, 0.5 * self.height).mass_properties(density)

    def bounding_box(self) -> BoundingBox:
        """Return the lower and the upper corner (3,) [m]."""
        flat, z = self.circle_center[1], 0.5 * self.height
        return (
            np.array([-self.radius, flat, -z]),
            np.array([self.radius, flat + self.radius, z]),
        )

    @property
    def sdf_parameters(self) -> dict[str, float]:
        """Return ``radius``, ``flat_y`` (plane of the flat side) and ``half_height`` [m]."""
        return {
            "radius": self.radius,
            "flat_y": self.circle_center[1],
            "half_height": 0.5 * self.height,
        }

    def _outline(self) -> tuple[Arc, Segment]:
        x, y = self.circle_center
        r = self.radius
        return Arc((x, y), r, 0.0, math.pi), Segment((x - r, y), (x + r, y))


def triangle_corners(circumradius: float) -> Float[np.ndarray, "3 2"]:
    """Return the corners (3, 2) [m] of an equilateral triangle, the first at +y."""
    return regular_polygon(circumradius, 3, 0.5 * math.pi)
