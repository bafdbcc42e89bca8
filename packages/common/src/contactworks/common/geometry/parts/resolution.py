"""How finely curved surfaces are cut into facets."""

from __future__ import annotations

import math
import numbers
from typing import TypeAlias

from contactworks.common.errors import GeometryError

__all__ = [
    "DEFAULT_SEGMENTS",
    "MAX_SEGMENTS",
    "Resolution",
    "chord_error",
    "least_bore_segments",
    "segments_per_turn",
]

Resolution: TypeAlias = int | float | None
"""An ``int``: segments of a full turn. A ``float``: chord error [m]. ``None``: the default."""

DEFAULT_SEGMENTS = 128
"""Segments of a full turn: a chord error of 0.03 % of the radius."""

MAX_SEGMENTS = 100_000
"""More would not fit into memory as a mesh; a chord error that asks for more is a slip."""


def segments_per_turn(
    resolution: Resolution,
    radius: float,
    *,
    default: int = DEFAULT_SEGMENTS,
    minimum: int = 3,
    is_circumscribed: bool = False,
) -> int:
    """Return the number of segments that cut a full turn of ``radius`` at a resolution.

    A chord over the angle 2π/N falls short of its circle by r (1 - cos(π/N)); a facet that touches
    the circle has vertices r (1/cos(π/N) - 1) outside it.

    Args:
        resolution: an ``int``, the number of segments; a ``float``, the chord error [m]; or
            ``None``, for ``default``.
        radius: the largest radius [m] that is cut.
        default: the number of segments where ``resolution`` is ``None``.
        minimum: the least number of segments that the part can do with.
        is_circumscribed: whether a chord error is that of facets that touch the circle from
            outside.

    Raises:
        GeometryError: a number that is out of range.
    """
    if resolution is None:
        return max(default, minimum)
    if isinstance(resolution, bool) or not isinstance(resolution, numbers.Real):
        raise GeometryError(
            f"resolution: got {resolution!r}, expected an int (segments of a turn), "
            "a float (chord error in metres) or None"
        )
    if isinstance(resolution, numbers.Integral):
        if not minimum <= resolution <= MAX_SEGMENTS:
            raise GeometryError(
                f"resolution: got {resolution} segments, expected {minimum} to {MAX_SEGMENTS}"
            )
        return int(resolution)
    error = float(resolution)
    if not 0.0 < error < radius:
        raise GeometryError(
            f"resolution: got a chord error of {error} m, expected above 0 and below the radius "
            f"{radius} m (a number of segments must be an int)"
        )
    # acos(1 - e) loses all digits for small e; 2 asin(sqrt(e / 2)) is the same and keeps them.
    share = error / radius
    share = share / (1.0 + share) if is_circumscribed else share
    half_angle = 2.0 * math.asin(math.sqrt(0.5 * share))
    count = max(minimum, math.ceil(math.pi / half_angle))
    if count > MAX_SEGMENTS:
        raise GeometryError(
            f"resolution: a chord error of {error} m at radius {radius} m asks for {count} "
            f"segments, expected at most {MAX_SEGMENTS}"
        )
    return count


def chord_error(segments: int, radius: float) -> float:
    """Return by how much chords over 1/``segments`` of a turn fall short of the circle [m]."""
    return 2.0 * radius * math.sin(0.5 * math.pi / segments) ** 2


def least_bore_segments(inner_radius: float, outer_radius: float) -> int:
    """Return the least number of segments of a clear bore that leaves half of the wall.

    The corners of a clear bore lie at r / cos(π/N), which must stay inside the outer radius.

    Raises:
        GeometryError: a wall so thin that no mesh of reasonable size keeps it.
    """
    middle = 0.5 * (inner_radius + outer_radius)
    half_angle = 2.0 * math.asin(math.sqrt(0.5 * (middle - inner_radius) / middle))
    if half_angle * MAX_SEGMENTS < math.pi:
        raise GeometryError(
            f"mesh: a wall from {inner_radius} m to {outer_radius} m needs more than "
            f"{MAX_SEGMENTS} segments for a clear bore; use bore_fit='inscribed' or a thicker wall"
        )
    return max(3, math.ceil(math.pi / half_angle))
