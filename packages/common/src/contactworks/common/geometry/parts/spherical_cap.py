"""A spherical cap about the z axis: its pole at the origin, its flat side above.

The ball has its centre at z = radius; the cap is what lies below z = height.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
from jaxtyping import Float

from contactworks.common.geometry.parts.extrusion import fan, make_mesh, regular_polygon, ring_wall
from contactworks.common.geometry.parts.moments import SolidMoments
from contactworks.common.geometry.parts.outlines import Arc, Segment, chain_distance
from contactworks.common.geometry.polyhedra import Mesh
from contactworks.common.geometry.sdf import DistanceGradient

__all__ = ["cap_distance", "cap_mesh", "cap_moments", "cap_rim_radius"]


def cap_rim_radius(radius: float, height: float) -> float:
    """Return the radius of the circle where ball and flat side meet [m]."""
    return math.sqrt(height * (2.0 * radius - height))


def cap_distance(
    points: Float[np.ndarray, "n 3"], radius: float, height: float
) -> DistanceGradient:
    """Return the exact signed distance to a cap, and its gradient.

    Args:
        points: query points (n, 3) [m].
        radius: radius of the ball [m].
        height: height of the cap [m], at most ``radius``.
    """
    rho = np.hypot(points[:, 0], points[:, 1])
    # In the plane through the axis and the point the section is a segment of a disc.
    half = cap_half_angle(radius, height)
    rim = cap_rim_radius(radius, height)
    section = (
        Arc((0.0, radius), radius, -0.5 * math.pi - half, 2.0 * half),
        Segment((rim, height), (-rim, height)),
    )
    distance, slope = chain_distance(section, np.column_stack([rho, points[:, 2]]))
    scale = np.where(rho > 0.0, rho, 1.0)
    x = np.where(rho > 0.0, points[:, 0] / scale, 1.0)
    y = points[:, 1] / scale
    return distance, np.column_stack([slope[:, 0] * x, slope[:, 0] * y, slope[:, 1]])


def cap_half_angle(radius: float, height: float) -> float:
    """Return the angle between the axis and the rim [rad], seen from the centre of the ball."""
    return 2.0 * math.asin(math.sqrt(0.5 * height / radius))


def cap_moments(radius: float, height: float) -> SolidMoments:
    """Return the moments of a cap.

    Source: discs of the squared radius s(z) = 2 r z - z², whose area is π s and whose second moment
    about a diameter is π s²/4, integrated from 0 to h.
    """
    r, h = radius, height
    volume = math.pi * h**2 * (r - h / 3.0)
    first = math.pi * h**3 * (2.0 * r / 3.0 - h / 4.0)
    along = math.pi * h**4 * (r / 2.0 - h / 5.0)
    across = 0.25 * math.pi * h**3 * (4.0 * r**2 / 3.0 - r * h + h**2 / 5.0)
    return SolidMoments(volume, np.array([0.0, 0.0, first]), np.diag([across, across, along]))


def cap_mesh(radius: float, height: float, segments: int) -> Mesh:
    """Return a watertight mesh of a cap: a vertex at the pole, rings on the ball, a flat fan.

    Args:
        radius: radius of the ball [m].
        height: height of the cap [m].
        segments: number of segments of a ring; rings are no further apart than its segments would
            be on a great circle.
    """
    half = cap_half_angle(radius, height)
    count = max(1, math.ceil(half * segments / (2.0 * math.pi) - 1e-9))
    rings = []
    for k in range(1, count + 1):
        angle = half * k / count
        # The last ring lies on the flat side, whatever the rounding of the angle.
        z = height if k == count else 2.0 * radius * math.sin(0.5 * angle) ** 2
        ring = regular_polygon(cap_rim_radius(radius, z), segments)
        rings.append(np.column_stack([ring, np.full(segments, z)]))
    pole, top = 0, 1 + count * segments
    indices = [1 + k * segments + np.arange(segments) for k in range(count)]
    walls = [ring_wall(a, b) for a, b in itertools.pairwise(indices)]
    vertices = np.vstack([np.zeros((1, 3)), *rings, [[0.0, 0.0, height]]])
    return make_mesh(vertices, fan(pole, indices[0])[:, ::-1], *walls, fan(top, indices[-1]))
