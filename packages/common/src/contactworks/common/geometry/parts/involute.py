"""The tooth of an involute gear: its outline, exact planar distance and moments.

One half of a tooth and half of the space beside it, the sector 0 <= θ <= π/z, stands for the whole
gear: it is symmetric about both bounds, so that a point of the sector has its nearest point of the
outline in the sector too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from contactworks.common.geometry.parts.outlines import (
    Arc,
    Piece,
    PlanarDistance,
    Point,
    Segment,
    chain_distance,
)

__all__ = ["InvoluteFlank", "ToothForm", "involute"]


def involute(radius: float, base_radius: float) -> float:
    """Return the polar angle inv = tan α - α [rad] of an involute at ``radius``, cos α = r_b/r."""
    roll = math.sqrt(max(0.0, (radius / base_radius) ** 2 - 1.0))
    return roll - math.atan(roll)


@dataclass(frozen=True, slots=True)
class InvoluteFlank:
    """The flank of a tooth, walked from the tip to the root, with the material at smaller angles.

    The flank at radius ρ has the polar angle ``base_angle - inv(ρ)``.

    Attributes:
        base_radius: radius r_b of the base circle [m].
        base_angle: polar angle at which the involute leaves the base circle [rad].
        inner_radius: radius where the flank ends [m], at least r_b.
        outer_radius: radius where it begins [m], above ``inner_radius``.

    Source: involutes of one circle are parallel curves, so that r_b (θ - base_angle + inv(ρ)) is
    the signed distance to the flank.  With the length L = √(ρ² - r_b²) of the tangent to the base
    circle the foot lies at the radius √(r_b² + (L - d)²).
    """

    base_radius: float
    base_angle: float
    inner_radius: float
    outer_radius: float

    def end_points(self) -> tuple[Point, Point]:
        """Return the first and the last point (2,) [m]."""
        first, last = self._at_rolls(np.array(self._rolls()[::-1]))
        return first, last

    def end_normals(self) -> tuple[Point, Point]:
        """Return the outward unit normals (2,) at the first and the last point."""
        angle = self.base_angle - np.array(self._rolls()[::-1])
        first, last = np.column_stack([-np.sin(angle), np.cos(angle)])
        return first, last

    def feet(
        self, points: Float[np.ndarray, "n 2"]
    ) -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, "n 2"], Bool[np.ndarray, " n"]]:
        """Return signed distance (n,), gradient (n, 2) and whether the foot lies on the flank."""
        rho = np.hypot(points[:, 0], points[:, 1])
        theta = np.arctan2(points[:, 1], points[:, 0])
        tangent = np.sqrt(np.maximum((rho - self.base_radius) * (rho + self.base_radius), 0.0))
        # The tangent from the point touches the base circle at this angle; along it, all
        # involutes are crossed at right angles.
        touch = theta - np.arctan2(tangent, self.base_radius)
        length = self.base_radius * (self.base_angle - touch)
        low, high = (self.base_radius * roll for roll in self._rolls())
        has_foot = (rho >= self.base_radius) & (length >= low) & (length <= high)
        gradient = np.column_stack([-np.sin(touch), np.cos(touch)])
        return tangent - length, gradient, has_foot

    def sample(self, error: float) -> Float[np.ndarray, "n 2"]:
        """Return points (n, 2) [m] on the flank, both ends included.

        Args:
            error: the largest distance of the chords from the flank [m].

        Source: at the roll angle t the curvature radius is r_b t and the arc length r_b t dt, so
        that the sagitta of a chord is r_b t dt²/8.
        """
        low, high = self._rolls()
        step = math.sqrt(8.0 * error / (self.base_radius * high))
        count = max(1, math.ceil((high - low) / step))
        return self._at_rolls(np.linspace(high, low, count + 1))

    def _rolls(self) -> tuple[float, float]:
        """Return the roll angles tan α [rad] at the inner and the outer end."""
        low, high = (
            math.sqrt(max(0.0, (radius / self.base_radius) ** 2 - 1.0))
            for radius in (self.inner_radius, self.outer_radius)
        )
        return low, high

    def _at_rolls(self, roll: Float[np.ndarray, " n"]) -> Float[np.ndarray, "n 2"]:
        angle = self.base_angle - roll + np.arctan(roll)
        radius = self.base_radius * np.sqrt(1.0 + roll * roll)
        return np.asarray(radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)]))


@dataclass(frozen=True, slots=True)
class ToothForm:
    """The outline of a gear with ``teeth`` equal teeth, one of them centred on the x axis.

    The flanks are involutes down to the base circle and radial lines below it, down to the root
    circle; tip and root are arcs about the axis.

    Attributes:
        teeth: number of teeth z.
        base_radius: radius r_b of the base circle [m].
        root_radius: radius of the root circle [m].
        tip_radius: radius of the tip circle [m].
        base_angle: half of the angle that a tooth covers at the base circle [rad], the involute
            being continued to there.
    """

    teeth: int
    base_radius: float
    root_radius: float
    tip_radius: float
    base_angle: float

    @property
    def half_sector(self) -> float:
        """Return π/z [rad], the angle from the middle of a tooth to that of a space."""
        return math.pi / self.teeth

    @property
    def tip_angle(self) -> float:
        """Return half of the angle that a tooth covers at its tip [rad]."""
        return self.base_angle - involute(self.tip_radius, self.base_radius)

    @property
    def root_angle(self) -> float:
        """Return half of the angle that a tooth covers at the root circle [rad]."""
        return self.base_angle - involute(self._flank_start, self.base_radius)

    def distance(self, points: Float[np.ndarray, "n 2"]) -> PlanarDistance:
        """Return the exact signed distance (n,) [m] to the outline, and its gradient (n, 2).

        Args:
            points: query points (n, 2) [m].
        """
        rho = np.hypot(points[:, 0], points[:, 1])
        theta = np.arctan2(points[:, 1], points[:, 0])
        turn = 2.0 * self.half_sector * np.round(theta / (2.0 * self.half_sector))
        folded = np.abs(theta - turn)
        side = np.where(theta < turn, -1.0, 1.0)
        sector = rho[:, None] * np.column_stack([np.cos(folded), np.sin(folded)])
        distance, slope = chain_distance(self._half_tooth(), sector, is_closed=False)
        c, s = np.cos(turn), np.sin(turn)
        x, y = slope[:, 0], side * slope[:, 1]
        return distance, np.column_stack([c * x - s * y, s * x + c * y])

    def extent(self, angle: float) -> float:
        """Return how far the outline reaches in the direction ``angle`` [rad] [m]."""
        step = 2.0 * self.half_sector
        past_tip = max(0.0, abs(angle - step * round(angle / step)) - self.tip_angle)
        return self.tip_radius * math.cos(past_tip)

    def area_and_polar_moment(self) -> tuple[float, float]:
        """Return the area [m²] and ∫ r² dA about the axis [m⁴], in closed form.

        Source: ½ ∫ ρ² dθ and ¼ ∫ ρ⁴ dθ along the outline; on an involute ρ² = r_b² (1 + t²) and
        |dθ| = t²/(1 + t²) dt, so that they are r_b² t³/6 and r_b⁴ (t³/3 + t⁵/5)/4.
        """
        low, high = (
            math.sqrt(max(0.0, (radius / self.base_radius) ** 2 - 1.0))
            for radius in (self._flank_start, self.tip_radius)
        )
        space = self.half_sector - self.root_angle
        cubes, fifths = high**3 - low**3, high**5 - low**5
        area = 0.5 * (self.tip_radius**2 * self.tip_angle + self.root_radius**2 * space)
        area += self.base_radius**2 * cubes / 6.0
        polar = 0.25 * (self.tip_radius**4 * self.tip_angle + self.root_radius**4 * space)
        polar += 0.25 * self.base_radius**4 * (cubes / 3.0 + fifths / 5.0)
        return 2.0 * self.teeth * area, 2.0 * self.teeth * polar

    def polygon(self, segments: int, error: float) -> Float[np.ndarray, "n 2"]:
        """Return the corners (n, 2) [m] of a polygon with all vertices on the outline.

        Args:
            segments: number of segments per full turn of the arcs, at least one an arc.
            error: the largest distance of the chords from the flanks [m].
        """
        tip, flank, *_, root = self._half_tooth()
        assert isinstance(tip, Arc)
        assert isinstance(flank, InvoluteFlank)
        assert isinstance(root, Arc)
        falling = [flank.sample(error)]
        if self.root_radius < self.base_radius:
            falling.append(root.end_points()[0][None, :])
        side = np.concatenate(falling)
        rising = side[::-1] * np.array([1.0, -1.0])
        tip_points = _symmetric_arc(tip.radius, -self.tip_angle, self.tip_angle, segments)
        root_points = _symmetric_arc(
            root.radius, self.root_angle, 2.0 * self.half_sector - self.root_angle, segments
        )
        tooth = np.concatenate([rising, tip_points, side, root_points])
        angle = 2.0 * self.half_sector * np.arange(self.teeth)[:, None]
        c, s = np.cos(angle), np.sin(angle)
        x, y = tooth[:, 0], tooth[:, 1]
        return np.stack([c * x - s * y, s * x + c * y], axis=-1).reshape(-1, 2)

    @property
    def _flank_start(self) -> float:
        """Return the radius at which the involute begins [m]."""
        return max(self.base_radius, self.root_radius)

    def _half_tooth(self) -> list[Piece]:
        """Return the outline in the sector, from the middle of the tip to that of the root.

        Both arcs go on beyond the bounds of the sector: rounding must not push a foot off them.
        """
        beyond = 0.5 * self.half_sector
        tip = Arc((0.0, 0.0), self.tip_radius, -beyond, self.tip_angle + beyond)
        flank = InvoluteFlank(self.base_radius, self.base_angle, self._flank_start, self.tip_radius)
        space = self.half_sector - self.root_angle
        root = Arc((0.0, 0.0), self.root_radius, self.root_angle, space + beyond)
        pieces: list[Piece] = [tip, flank]
        if self.root_radius < self.base_radius:
            c, s = math.cos(self.base_angle), math.sin(self.base_angle)
            pieces.append(
                Segment(
                    (self.base_radius * c, self.base_radius * s),
                    (self.root_radius * c, self.root_radius * s),
                )
            )
        return [*pieces, root]


def _symmetric_arc(
    radius: float, start: float, end: float, segments: int
) -> Float[np.ndarray, "n 2"]:
    """Return the inner points (n, 2) of an arc about the origin, without its ends."""
    count = max(1, math.ceil(segments * (end - start) / (2.0 * math.pi)))
    angle = start + (end - start) * np.arange(1, count) / count
    return radius * np.column_stack([np.cos(angle), np.sin(angle)])
