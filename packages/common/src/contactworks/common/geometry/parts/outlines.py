"""Exact signed distances to planar outlines of line segments and circular arcs.

An outline is a chain of pieces that is walked with the material on the left.  The nearest point of
the boundary is the foot of a perpendicular on a piece, or a corner between two pieces; the signed
distance is the one with the smallest magnitude.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
from jaxtyping import Bool, Float

from contactworks.common.geometry.parts.moments import (
    SectionMoments,
    disc_segment_moments,
    polygon_moments,
)

__all__ = [
    "Arc",
    "Piece",
    "PlanarDistance",
    "Segment",
    "chain_distance",
    "outline_moments",
    "polygon_outline",
    "sample_outline",
]

Point: TypeAlias = Float[np.ndarray, " 2"]

PlanarDistance: TypeAlias = tuple[Float[np.ndarray, " n"], Float[np.ndarray, "n 2"]]
"""Signed distance (n,) [m] in the plane and its gradient (n, 2)."""


class Piece(Protocol):
    """A smooth curve with the material on its left."""

    def end_points(self) -> tuple[Point, Point]:
        """Return the first and the last point (2,) [m]."""
        ...

    def end_normals(self) -> tuple[Point, Point]:
        """Return the outward unit normals (2,) at the first and the last point."""
        ...

    def feet(
        self, points: Float[np.ndarray, "n 2"]
    ) -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, "n 2"], Bool[np.ndarray, " n"]]:
        """Return signed distance (n,), gradient (n, 2) and whether the foot lies on the piece."""
        ...


@dataclass(frozen=True, slots=True)
class Segment:
    """A line segment.

    Attributes:
        start: first point (x, y) [m].
        end: last point (x, y) [m], different from the first.
    """

    start: tuple[float, float]
    end: tuple[float, float]

    def end_points(self) -> tuple[Point, Point]:
        """Return the first and the last point (2,) [m]."""
        return np.array(self.start), np.array(self.end)

    def end_normals(self) -> tuple[Point, Point]:
        """Return the outward unit normals (2,), which are equal."""
        tangent, _ = self._direction()
        normal = np.array([tangent[1], -tangent[0]])
        return normal, normal

    def feet(
        self, points: Float[np.ndarray, "n 2"]
    ) -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, "n 2"], Bool[np.ndarray, " n"]]:
        """Return signed distance (n,), gradient (n, 2) and whether the foot lies on the piece."""
        tangent, length = self._direction()
        normal = np.array([tangent[1], -tangent[0]])
        offset = points - np.array(self.start)
        along = offset @ tangent
        gradient = np.broadcast_to(normal, offset.shape)
        return offset @ normal, gradient, (along >= 0.0) & (along <= length)

    def _direction(self) -> tuple[Point, float]:
        delta = np.array(self.end) - np.array(self.start)
        length = float(np.hypot(*delta))
        return delta / length, length


@dataclass(frozen=True, slots=True)
class Arc:
    """A circular arc.

    Attributes:
        center: centre of the circle (x, y) [m].
        radius: radius [m].
        start: angle of the first point [rad].
        sweep: signed angle [rad], at most a full turn; above 0 the arc runs counter-clockwise and
            the material lies inside the circle, below 0 outside.
    """

    center: tuple[float, float]
    radius: float
    start: float
    sweep: float

    def end_points(self) -> tuple[Point, Point]:
        """Return the first and the last point (2,) [m]."""
        first, last = self._radial(np.array([0.0, self.sweep]))
        return np.array(self.center) + self.radius * first, np.array(
            self.center
        ) + self.radius * last

    def end_normals(self) -> tuple[Point, Point]:
        """Return the outward unit normals (2,) at the first and the last point."""
        first, last = math.copysign(1.0, self.sweep) * self._radial(np.array([0.0, self.sweep]))
        return first, last

    def feet(
        self, points: Float[np.ndarray, "n 2"]
    ) -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, "n 2"], Bool[np.ndarray, " n"]]:
        """Return signed distance (n,), gradient (n, 2) and whether the foot lies on the piece."""
        sign = math.copysign(1.0, self.sweep)
        offset = points - np.array(self.center)
        rho = np.hypot(offset[:, 0], offset[:, 1])
        # At the centre every point of the arc is nearest; its middle is the fixed choice.
        is_center = rho == 0.0
        middle = self._radial(np.array([0.5 * self.sweep]))[0]
        unit = np.where(is_center[:, None], middle, offset / np.where(is_center, 1.0, rho)[:, None])
        along = np.mod(sign * (np.arctan2(unit[:, 1], unit[:, 0]) - self.start), 2.0 * math.pi)
        return sign * (rho - self.radius), sign * unit, along <= abs(self.sweep)

    def sample(self, count: int) -> Float[np.ndarray, "count 2"]:
        """Return ``count`` points (count, 2) at equal angles, the first but not the last."""
        radial = self._radial(self.sweep * np.arange(count) / count)
        return np.asarray(np.array(self.center) + self.radius * radial)

    def _radial(self, along: Float[np.ndarray, " n"]) -> Float[np.ndarray, "n 2"]:
        angle = self.start + along
        return np.column_stack([np.cos(angle), np.sin(angle)])


def polygon_outline(vertices: Float[np.ndarray, "n 2"]) -> tuple[Segment, ...]:
    """Return the sides of a polygon whose corners (n, 2) run counter-clockwise."""
    corners = [(float(x), float(y)) for x, y in vertices]
    return tuple(Segment(a, b) for a, b in zip(corners, corners[1:] + corners[:1], strict=True))


def chain_distance(
    pieces: Sequence[Piece], points: Float[np.ndarray, "n 2"], *, is_closed: bool = True
) -> PlanarDistance:
    """Return the exact signed distance to a chain of pieces, and its gradient.

    Args:
        pieces: the pieces in order, each beginning where the one before ends, with the material on
            the left.
        points: query points (n, 2) [m].
        is_closed: whether the last piece meets the first.  The ends of an open chain are no
            corners: the caller must know that no query point has its nearest point there.

    Returns:
        Signed distance (n,) [m], negative in the material, and gradient (n, 2), a unit vector; of
        one nearest point where there are several.
    """
    distance = np.full(len(points), np.inf)
    gradient = np.zeros((len(points), 2))
    for piece in pieces:
        candidate, slope, is_on_piece = piece.feet(points)
        is_nearer = is_on_piece & (np.abs(candidate) < np.abs(distance))
        distance = np.where(is_nearer, candidate, distance)
        gradient[is_nearer] = slope[is_nearer]
    count = len(pieces)
    for k in range(count if is_closed else count - 1):
        corner = pieces[k].end_points()[1]
        # Between the two normals of a convex corner lies the outside, of a re-entrant one the
        # inside; the sum of the normals tells them apart, and stands in for a zero offset.
        bisector = pieces[k].end_normals()[1] + pieces[(k + 1) % count].end_normals()[0]
        offset = points - corner
        length = np.hypot(offset[:, 0], offset[:, 1])
        sign = np.where(offset @ bisector < 0.0, -1.0, 1.0)
        is_nearer = length < np.abs(distance)
        distance = np.where(is_nearer, sign * length, distance)
        unit = np.where(
            (length > 0.0)[:, None],
            sign[:, None] * offset / np.where(length > 0.0, length, 1.0)[:, None],
            bisector / np.hypot(*bisector),
        )
        gradient[is_nearer] = unit[is_nearer]
    return distance, gradient


def outline_moments(pieces: Sequence[Segment | Arc]) -> SectionMoments:
    """Return area and moments of the region inside a closed chain, in closed form.

    The polygon of the end points, and the region between each arc and its chord.
    """
    total = polygon_moments(np.array([piece.end_points()[0] for piece in pieces]))
    for piece in pieces:
        if isinstance(piece, Arc):
            center = np.array(piece.center)
            total = total + disc_segment_moments(center, piece.radius, piece.start, piece.sweep)
    return total


def sample_outline(pieces: Sequence[Segment | Arc], segments: int) -> Float[np.ndarray, "n 2"]:
    """Return the corners (n, 2) [m] of a polygon whose vertices lie on a closed chain.

    Args:
        pieces: the pieces in order.
        segments: number of segments per full turn of an arc.
    """
    parts = []
    for piece in pieces:
        if isinstance(piece, Arc):
            share = abs(piece.sweep) / (2.0 * math.pi)
            # The slack keeps a half turn of 2 k segments at k, whatever its rounding.
            parts.append(piece.sample(max(1, math.ceil(segments * share - 1e-9))))
        else:
            parts.append(np.array([piece.start]))
    return np.concatenate(parts)
