"""The triangular 45 degree thread: its surface, distance and moments.

The surface is a right-handed screw: at azimuth a and height z its radius is

    r(f) = r0 + P |f_c|,    f = z/P - a/(2π),    f_c = f - 1/2, wrapped to (-1/2, 1/2],

so that it runs from the inner edge r0 (f_c = 0) to the outer edge r0 + P/2 (f an integer) along
straight flanks at 45 degrees.  The outer edge meets the x axis at z = 0.  A turn by an angle b
together with a move by P b/(2π) along z maps the surface onto itself.

Source: ``r(f)`` and the flank distances follow from the geometry; the damping and the clamps that
make them 1-Lipschitz are derived at :meth:`ThreadForm.distance`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from contactworks.common.errors import GeometryError
from contactworks.common.geometry.parts.moments import SectionMoments, SolidMoments
from contactworks.common.geometry.sdf import DistanceGradient

__all__ = ["MAX_PITCH_RATIO", "ThreadForm"]

MAX_PITCH_RATIO = 0.7
"""Largest pitch in units of the inner radius (metric screws from M2 up stay below 0.54)."""

_CORE_DEPTH = 0.5 / (math.sqrt(2.0) - 1.0)
"""How far below r0, in pitches, the flank distance is certain to exceed the core's."""


@dataclass(frozen=True, slots=True)
class ThreadForm:
    """The screw surface r(f) = r0 + P |f_c| without ends.

    Attributes:
        radius: radius r0 of the inner edge [m]: the root of a bolt, the crest of a nut.
        pitch: rise per turn P [m], at most ``MAX_PITCH_RATIO`` of the radius.

    Raises:
        GeometryError: a pitch that is too large for the radius.
    """

    radius: float
    pitch: float

    def __post_init__(self) -> None:
        if self.pitch > MAX_PITCH_RATIO * self.radius:
            raise GeometryError(
                f"thread pitch: got {self.pitch} m, expected at most {MAX_PITCH_RATIO} of the "
                f"radius {self.radius} m"
            )

    @property
    def outer_radius(self) -> float:
        """Return the radius r0 + P/2 of the outer edge [m]."""
        return self.radius + 0.5 * self.pitch

    @property
    def core_radius(self) -> float:
        """Return the radius below which the distance is that to the inner cylinder [m]."""
        return self.radius - _CORE_DEPTH * self.pitch

    @property
    def damping(self) -> float:
        """Return the constant κ [1/m] that keeps the flank distance 1-Lipschitz."""
        slope_squared = (self.pitch / (2.0 * math.pi * self.core_radius)) ** 2
        return 0.5 * slope_squared / ((2.0 + slope_squared) * self.core_radius)

    def radius_at(
        self, azimuth: Float[np.ndarray, " n"], z: Float[np.ndarray, " n"]
    ) -> Float[np.ndarray, " n"]:
        """Return the radius of the surface (n,) [m] at azimuths (n,) [rad] and heights (n,) [m]."""
        phase = z / self.pitch - azimuth / (2.0 * math.pi)
        return np.asarray(self.radius + self.pitch * np.abs(_wrapped(phase - 0.5)))

    def distance(self, points: Float[np.ndarray, "n 3"]) -> DistanceGradient:
        """Return the signed distance to the solid inside the surface, and its gradient.

        With u = ρ - r(f) and ν = 1/√(2 + k²), k = P/(2πρ), the flank distance g = ν u is exact to
        first order.  Its gradient is ν (e_r ∓ (e_z - k e_a)), a unit vector, plus
        g k² ν²/ρ e_r.  Where ρ is at least the core radius the second term is at most 2 κ |g|,
        so that g/(1 + κ |g|) has a gradient of at most (1 + 2 κ|g|)/(1 + κ|g|)² <= 1.  The result
        is clamped between ρ - r_outer and ρ - r0, which are 1-Lipschitz themselves and bound the
        distance outside and inside.  Below the core radius ρ - r0 always wins
        ((r0 - ρ)(1 - ν) >= ν P/2), so that the singularity of k at the axis is never met.

        So: zero exactly on the surface; 1-Lipschitz, hence never larger in magnitude than the
        distance; equal to it up to terms of second order on the flanks and across the edges
        radially; and, within a pitch of the surface, at least 0.92 of it (near the edges, where
        the nearest of flank and cylinder counts, whose normals are 45 degrees apart: cos 22.5°).
        That holds for pitches up to half of the radius; at the steepest pitch κ takes it to 0.75.

        Args:
            points: query points (n, 3) [m].

        Returns:
            Distance (n,) [m], negative inside, and gradient (n, 3).
        """
        rho, e_r, e_a = _cylindrical(points)
        f_c = self._folded_phase(points)
        clamped = np.maximum(rho, self.core_radius)
        k = self.pitch / (2.0 * math.pi * clamped)
        nu = 1.0 / np.sqrt(2.0 + k * k)
        u = rho - self.radius - self.pitch * np.abs(f_c)
        g = nu * u
        damped = 1.0 + self.damping * np.abs(g)
        radial = nu + np.where(rho > self.core_radius, g * k * k * nu * nu / clamped, 0.0)
        side = np.where(f_c < 0.0, -nu, nu)
        gradient = radial[:, None] * e_r + (side * k)[:, None] * e_a
        gradient[:, 2] -= side
        gradient /= (damped * damped)[:, None]
        g = g / damped
        lower, upper = rho - self.outer_radius, rho - self.radius
        is_clamped = (g < lower) | (g > upper)
        gradient[is_clamped] = e_r[is_clamped]
        return np.clip(g, lower, upper), gradient

    def groove_flanks(
        self, points: Float[np.ndarray, "n 3"], *, is_internal: bool = False
    ) -> tuple[Float[np.ndarray, "n 2"], Float[np.ndarray, "n 2 3"]]:
        """Return the distances to both flanks of the groove at each point, and their normals.

        First-order exact near each flank, also beyond its edges, where the flank is continued: a
        contact solver takes each flank as a constraint of its own.

        Args:
            points: query points (n, 3) [m], away from the axis.
            is_internal: whether the material lies outside the surface (a nut).

        Returns:
            Distances (n, 2) [m], positive in the groove, and unit normals (n, 2, 3) that point from
            the material into the groove.
        """
        rho, e_r, e_a = _cylindrical(points)
        k = self.pitch / (2.0 * math.pi * np.maximum(rho, self.core_radius))
        nu = 1.0 / np.sqrt(2.0 + k * k)
        f_c = self._folded_phase(points)
        # A bolt's groove is centred on the inner edge, a nut's on the outer edge.
        phase = _wrapped(f_c - 0.5) if is_internal else f_c
        tilt = k[:, None] * e_a - np.array([0.0, 0.0, 1.0])
        distances = np.empty((len(points), 2))
        normals = np.empty((len(points), 2, 3))
        for column, side in enumerate((1.0, -1.0)):
            if is_internal:
                gap = self.outer_radius - side * phase * self.pitch - rho
                direction = side * tilt - e_r
            else:
                gap = rho - self.radius - side * phase * self.pitch
                direction = side * tilt + e_r
            distances[:, column] = nu * gap
            normals[:, column] = nu[:, None] * direction
        return distances, normals

    def moments(self, lower: float, upper: float) -> SolidMoments:
        """Return the moments of the solid inside the surface from z = ``lower`` to ``upper`` [m].

        The cross section is the same at every height and turns with it, so that the integrals over
        z are closed; those over the section are polynomials times cosines (see
        :meth:`section_moments`).
        """
        section = self.section_moments()
        area, arm = section.area, section.first[0]
        mean = 0.5 * (section.second[0, 0] + section.second[1, 1])
        half_difference = 0.5 * (section.second[0, 0] - section.second[1, 1])
        height, w = upper - lower, 2.0 * math.pi / self.pitch

        def between(antiderivative: Float[np.ndarray, " 2"]) -> float:
            return float(antiderivative[1] - antiderivative[0])

        z = np.array([lower, upper])
        c, s = np.cos(w * z), np.sin(w * z)
        c2 = 0.5 * half_difference / w * between(np.sin(2.0 * w * z))
        s2 = -0.5 * half_difference / w * between(np.cos(2.0 * w * z))
        xz = arm * between(z * s / w + c / w**2)
        yz = arm * between(-z * c / w + s / w**2)
        first = np.array([arm * between(s) / w, -arm * between(c) / w, 0.5 * area * between(z**2)])
        second = np.array(
            [
                [mean * height + c2, s2, xz],
                [s2, mean * height - c2, yz],
                [xz, yz, area * between(z**3) / 3.0],
            ]
        )
        return SolidMoments(area * height, first, second)

    def section_moments(self) -> SectionMoments:
        """Return the moments of the cross section at z = 0, which is symmetric about the x axis.

        Gauss–Legendre quadrature with 40 nodes on half a turn; the integrands are polynomials of
        degree four at most times cosines, so that the error is that of rounding.
        """
        nodes, weights = np.polynomial.legendre.leggauss(40)
        angle = 0.5 * math.pi * (nodes + 1.0)
        weights = math.pi * weights  # both halves of the turn
        r = self.radius + self.pitch * (0.5 - angle / (2.0 * math.pi))
        along = float(weights @ (r**4 * np.cos(angle) ** 2)) / 4.0
        across = float(weights @ (r**4 * np.sin(angle) ** 2)) / 4.0
        first = np.array([float(weights @ (r**3 * np.cos(angle))) / 3.0, 0.0])
        return SectionMoments(0.5 * float(weights @ r**2), first, np.diag([along, across]))

    def _folded_phase(self, points: Float[np.ndarray, "n 3"]) -> Float[np.ndarray, " n"]:
        """Return f_c (n,) in (-1/2, 1/2]: 0 at the inner edge, ±1/2 at the outer edge."""
        azimuth = np.arctan2(points[:, 1], points[:, 0])
        return _wrapped(points[:, 2] / self.pitch - azimuth / (2.0 * math.pi) - 0.5)


def _wrapped(phase: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
    """Return ``phase`` less the integer that brings it into (-1/2, 1/2]."""
    return np.asarray(phase - np.ceil(phase - 0.5))


def _cylindrical(
    points: Float[np.ndarray, "n 3"],
) -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, "n 3"], Float[np.ndarray, "n 3"]]:
    """Return the distance from the z axis and the radial and azimuthal unit vectors."""
    rho = np.hypot(points[:, 0], points[:, 1])
    is_on_axis = rho == 0.0
    scale = 1.0 / np.where(is_on_axis, 1.0, rho)
    x = np.where(is_on_axis, 1.0, points[:, 0] * scale)
    y = points[:, 1] * scale
    zero = np.zeros_like(rho)
    return rho, np.column_stack([x, y, zero]), np.column_stack([-y, x, zero])
