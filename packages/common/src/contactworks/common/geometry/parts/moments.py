"""Moments of planar sections and of solids, and the mass properties that follow.

All moments are taken about the origin of the frame, so that those of parts of a solid add up.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from contactworks.common.arrays import positive_scalar
from contactworks.common.errors import GeometryError
from contactworks.common.inertia import MassProperties

__all__ = [
    "SectionMoments",
    "SolidMoments",
    "disc_moments",
    "disc_segment_moments",
    "polygon_moments",
]


@dataclass(frozen=True, slots=True)
class SectionMoments:
    """Area and its first and second moments in the plane.

    Attributes:
        area: ∫ dA [m²].
        first: ∫ x dA (2,) [m³].
        second: ∫ x xᵀ dA (2, 2) [m⁴].
    """

    area: float
    first: Float[np.ndarray, " 2"]
    second: Float[np.ndarray, "2 2"]

    def __add__(self, other: SectionMoments) -> SectionMoments:
        """Return the moments of two sections that do not overlap."""
        return SectionMoments(
            self.area + other.area, self.first + other.first, self.second + other.second
        )

    def __sub__(self, other: SectionMoments) -> SectionMoments:
        """Return the moments of a section from which a part of it is cut out."""
        return SectionMoments(
            self.area - other.area, self.first - other.first, self.second - other.second
        )

    @property
    def centroid(self) -> Float[np.ndarray, " 2"]:
        """Return the centroid (2,) [m]."""
        return self.first / self.area

    def rotated(self, angle: float) -> SectionMoments:
        """Return the moments after a turn by ``angle`` [rad] about the origin."""
        c, s = math.cos(angle), math.sin(angle)
        rotation = np.array([[c, -s], [s, c]])
        return SectionMoments(self.area, rotation @ self.first, rotation @ self.second @ rotation.T)

    def shifted(self, offset: Float[np.ndarray, " 2"]) -> SectionMoments:
        """Return the moments after a move by ``offset`` (2,) [m]."""
        cross = np.outer(self.first, offset)
        second = self.second + cross + cross.T + self.area * np.outer(offset, offset)
        return SectionMoments(self.area, self.first + self.area * np.asarray(offset), second)

    def extruded(self, lower: float, upper: float) -> SolidMoments:
        """Return the moments of the prism over the section from z = ``lower`` to ``upper`` [m]."""
        height = upper - lower
        middle = 0.5 * (upper + lower)
        second = np.empty((3, 3))
        second[:2, :2] = self.second * height
        second[:2, 2] = second[2, :2] = self.first * height * middle
        second[2, 2] = self.area * height * (middle**2 + height**2 / 12.0)
        first = np.append(self.first, self.area * middle) * height
        return SolidMoments(self.area * height, first, second)


@dataclass(frozen=True, slots=True)
class SolidMoments:
    """Volume and its first and second moments.

    Attributes:
        volume: ∫ dV [m³].
        first: ∫ x dV (3,) [m⁴].
        second: ∫ x xᵀ dV (3, 3) [m⁵].
    """

    volume: float
    first: Float[np.ndarray, " 3"]
    second: Float[np.ndarray, "3 3"]

    def __add__(self, other: SolidMoments) -> SolidMoments:
        """Return the moments of two solids that do not overlap."""
        return SolidMoments(
            self.volume + other.volume, self.first + other.first, self.second + other.second
        )

    def __sub__(self, other: SolidMoments) -> SolidMoments:
        """Return the moments of a solid from which a part of it is cut out."""
        return SolidMoments(
            self.volume - other.volume, self.first - other.first, self.second - other.second
        )

    def mass_properties(self, density: float) -> MassProperties:
        """Return mass, centre of mass and the inertia about it at ``density`` [kg/m³].

        Raises:
            GeometryError: a density that is not a finite number above 0.
        """
        density = positive_scalar(density, "density", error=GeometryError)
        center = self.first / self.volume
        central = self.second - self.volume * np.outer(center, center)
        inertia = density * (np.trace(central) * np.eye(3) - central)
        return MassProperties(density * self.volume, center, inertia)


def disc_moments(radius: float) -> SectionMoments:
    """Return the moments of a disc of ``radius`` [m] about the origin."""
    area = math.pi * radius**2
    return SectionMoments(area, np.zeros(2), 0.25 * area * radius**2 * np.eye(2))


def polygon_moments(vertices: Float[np.ndarray, "n 2"]) -> SectionMoments:
    """Return the moments of a simple polygon, counter-clockwise, by Green's theorem.

    Args:
        vertices: corners (n, 2) [m]; fewer than three enclose nothing.

    Source: sum over the triangles (0, a, b), whose second moment is
    cross(a, b) / 24 · (a aᵀ + b bᵀ + (a + b)(a + b)ᵀ).
    """
    a = np.asarray(vertices, dtype=np.float64)
    b = np.roll(a, -1, axis=0)
    cross = a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]
    total = a + b
    first = (cross[:, None] * total).sum(axis=0) / 6.0
    second = sum(np.einsum("n,ni,nj->ij", cross, vectors, vectors) for vectors in (a, b, total)) * (
        1.0 / 24.0
    )
    return SectionMoments(0.5 * float(cross.sum()), first, np.asarray(second))


def disc_segment_moments(
    center: Float[np.ndarray, " 2"], radius: float, start: float, sweep: float
) -> SectionMoments:
    """Return the moments of the region between an arc and its chord.

    Args:
        center: centre of the circle (2,) [m].
        radius: radius [m].
        start: angle of the start of the arc [rad].
        sweep: angle that the arc covers [rad], up to 2π; where it is negative the arc runs
            clockwise and the moments are negative (the region is cut out).

    Source: sector minus triangle, about the middle of the arc, with half the sweep α: area
    r² (α - s c), first moment (2/3) r³ s³, second moments r⁴/4 (α + s c) - r⁴ s c³ / 2 along and
    r⁴/4 (α - s c) - r⁴ s³ c / 6 across, with s = sin α and c = cos α.
    """
    half = 0.5 * abs(sweep)
    s, c = math.sin(half), math.cos(half)
    sign = math.copysign(1.0, sweep)
    area = sign * radius**2 * (half - s * c)
    first = sign * np.array([2.0 / 3.0 * radius**3 * s**3, 0.0])
    along = 0.25 * (half + s * c) - 0.5 * s * c**3
    across = 0.25 * (half - s * c) - s**3 * c / 6.0
    local = SectionMoments(area, first, sign * radius**4 * np.diag([along, across]))
    return local.rotated(start + 0.5 * sweep).shifted(np.asarray(center, dtype=np.float64))
