"""Round parts: a peg and the hole that it goes into."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from jaxtyping import Float

from contactworks.common.errors import GeometryError
from contactworks.common.geometry import sdf
from contactworks.common.geometry.base import BoundingBox, set_positive
from contactworks.common.geometry.parts.extrusion import disc_mesh, regular_polygon, tube_mesh
from contactworks.common.geometry.parts.part import BoreFit, Part, check_bore_fit
from contactworks.common.geometry.parts.resolution import (
    DEFAULT_SEGMENTS,
    Resolution,
    least_bore_segments,
    segments_per_turn,
)
from contactworks.common.geometry.polyhedra import Mesh
from contactworks.common.inertia import (
    MassProperties,
    cylinder_mass_properties,
    tube_mass_properties,
)

__all__ = ["Hole", "Peg"]


@dataclass(frozen=True, slots=True, eq=False)
class Peg(Part):
    """A cylinder along z with sharp edges; the origin is its centroid.

    Attributes:
        radius: radius [m], above 0.
        length: length along z [m], above 0.

    Raises:
        GeometryError: a field that is not a finite number above 0.

    Example:
        >>> round(Peg(radius=0.025, length=0.1).mass_properties(2700.0).mass, 6)
        0.530144
    """

    radius: float
    length: float

    def __post_init__(self) -> None:
        set_positive(self, "radius", "length")

    def mesh(self, resolution: Resolution = None) -> Mesh:
        """Return a watertight mesh whose vertices lie on the cylinder, so that it never bulges.

        Args:
            resolution: segments per turn (int), chord error [m] (float), or None for 128 segments.

        Raises:
            GeometryError: a resolution that is out of range.
        """
        count = segments_per_turn(resolution, self.radius)
        half = 0.5 * self.length
        return disc_mesh(regular_polygon(self.radius, count), -half, half)

    def signed_distance(self, points: Float[npt.ArrayLike, "n 3"]) -> sdf.DistanceGradient:
        """Return the exact signed distance (n,) [m] and its gradient (n, 3)."""
        return sdf.cylinder_sdf(points, self.radius, 0.5 * self.length)

    def mass_properties(self, density: float) -> MassProperties:
        """Return mass, centre of mass and inertia at ``density`` [kg/m³]."""
        return cylinder_mass_properties(self.radius, 0.5 * self.length, density)

    def bounding_box(self) -> BoundingBox:
        """Return the lower and the upper corner (3,) [m]."""
        upper = np.array([self.radius, self.radius, 0.5 * self.length])
        return -upper, upper

    @property
    def sdf_parameters(self) -> dict[str, float]:
        """Return ``radius`` and ``half_length`` [m]."""
        return {"radius": self.radius, "half_length": 0.5 * self.length}


@dataclass(frozen=True, slots=True, eq=False)
class Hole(Part):
    """A tube along z, open at both ends, with sharp edges; the origin is its centroid.

    Attributes:
        inner_radius: radius of the bore [m], above 0.
        outer_radius: outer radius [m], above ``inner_radius``.
        length: length along z [m], above 0.

    Raises:
        GeometryError: a field out of range.
    """

    inner_radius: float
    outer_radius: float
    length: float

    def __post_init__(self) -> None:
        set_positive(self, "inner_radius", "outer_radius", "length")
        if self.outer_radius <= self.inner_radius:
            raise GeometryError(
                f"Hole.outer_radius: got {self.outer_radius} m, "
                f"expected above inner_radius {self.inner_radius} m"
            )

    def mesh(self, resolution: Resolution = None, *, bore_fit: BoreFit = "clear") -> Mesh:
        """Return a watertight mesh of the tube.

        Args:
            resolution: segments per turn (int), chord error [m] (float), or None for 128 segments
                (more where the wall is so thin that its two polygons would cross).
            bore_fit: "clear" (default): the facets of the bore touch it from the side of the
                material, so that whatever fits the exact bore fits the mesh; its vertices lie
                r (1/cos(π/N) - 1) outside.  "inscribed": the vertices lie on the bore and the
                facets narrow it by r (1 - cos(π/N)).  The vertices of the outer wall always lie on
                it.

        Raises:
            GeometryError: a resolution that is out of range or too coarse for the wall.
        """
        check_bore_fit(bore_fit)
        is_clear = bore_fit == "clear"
        needed = least_bore_segments(self.inner_radius, self.outer_radius) if is_clear else 3
        count = segments_per_turn(
            resolution,
            self.outer_radius,
            default=max(DEFAULT_SEGMENTS, needed),
            is_circumscribed=is_clear,
        )
        if count < needed:
            raise GeometryError(
                f"Hole.mesh: got {count} segments, expected at least {needed} for a clear bore of "
                f"radius {self.inner_radius} m in a wall of radius {self.outer_radius} m"
            )
        inner = self.inner_radius / math.cos(math.pi / count) if is_clear else self.inner_radius
        half = 0.5 * self.length
        return tube_mesh(
            regular_polygon(self.outer_radius, count), regular_polygon(inner, count), -half, half
        )

    def signed_distance(self, points: Float[npt.ArrayLike, "n 3"]) -> sdf.DistanceGradient:
        """Return the exact signed distance (n,) [m] and its gradient (n, 3)."""
        return sdf.tube_sdf(points, self.inner_radius, self.outer_radius, 0.5 * self.length)

    def mass_properties(self, density: float) -> MassProperties:
        """Return mass, centre of mass and inertia at ``density`` [kg/m³]."""
        return tube_mass_properties(
            self.inner_radius, self.outer_radius, 0.5 * self.length, density
        )

    def bounding_box(self) -> BoundingBox:
        """Return the lower and the upper corner (3,) [m]."""
        upper = np.array([self.outer_radius, self.outer_radius, 0.5 * self.length])
        return -upper, upper

    @property
    def sdf_parameters(self) -> dict[str, float]:
        """Return ``inner_radius``, ``outer_radius`` and ``half_length`` [m]."""
        return {
            "inner_radius": self.inner_radius,
            "outer_radius": self.outer_radius,
            "half_length": 0.5 * self.length,
        }
