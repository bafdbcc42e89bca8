"""Watertight meshes of straight prisms over polygons, with or without a hole, and of rings."""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float, Int

from contactworks.common.errors import GeometryError
from contactworks.common.geometry.parts.outlines import PlanarDistance
from contactworks.common.geometry.polyhedra import Mesh
from contactworks.common.geometry.sdf import DistanceGradient, extrude_2d

__all__ = [
    "disc_mesh",
    "extrude_distance",
    "fan",
    "make_mesh",
    "prism_mesh",
    "regular_polygon",
    "ring_wall",
    "triangulate",
    "tube_mesh",
]


def make_mesh(vertices: Float[np.ndarray, "n 3"], *faces: Int[np.ndarray, "m 3"]) -> Mesh:
    """Return the mesh of the given vertices and groups of faces."""
    return Mesh(vertices, np.concatenate(faces))


def extrude_distance(
    planar: PlanarDistance, z: Float[np.ndarray, " n"], lower: float, upper: float
) -> DistanceGradient:
    """Return the exact distance to the prism from z = ``lower`` to ``upper`` [m] over a section."""
    return extrude_2d(*planar, z - 0.5 * (lower + upper), 0.5 * (upper - lower))


def regular_polygon(radius: float, count: int, first_angle: float = 0.0) -> np.ndarray:
    """Return corners (count, 2) on a circle of ``radius`` [m], counter-clockwise."""
    angle = first_angle + 2.0 * math.pi * np.arange(count) / count
    return radius * np.column_stack([np.cos(angle), np.sin(angle)])


def prism_mesh(
    outer: Float[np.ndarray, "n 2"],
    lower: float,
    upper: float,
    hole: Float[np.ndarray, "m 2"] | None = None,
) -> Mesh:
    """Return the mesh of the prism over a polygon.

    Args:
        outer: corners (n, 2) [m] of a simple polygon, counter-clockwise.
        lower: z of the lower face [m].
        upper: z of the upper face [m].
        hole: corners (m, 2) [m] of a hole, counter-clockwise, strictly inside; or none.

    Raises:
        GeometryError: a polygon that cannot be cut into triangles.
    """
    rings = [outer] if hole is None else [outer, hole]
    cap = triangulate(outer, hole)
    planar = np.concatenate(rings)
    count = len(planar)
    walls = []
    first = 0
    for ring, is_hole in zip(rings, (False, True), strict=False):
        bottom = first + np.arange(len(ring))
        wall = ring_wall(bottom, bottom + count)
        walls.append(wall[:, ::-1] if is_hole else wall)
        first += len(ring)
    return make_mesh(_two_levels(planar, lower, upper), cap[:, ::-1], cap + count, *walls)


def disc_mesh(outer: Float[np.ndarray, "n 2"], lower: float, upper: float) -> Mesh:
    """Return the mesh of a prism over a polygon that every ray from the origin leaves once.

    Its ends are fans about the axis, whose triangles are better shaped than those of
    :func:`prism_mesh` where the polygon stands for a circle.
    """
    count = len(outer)
    planar = np.vstack([outer, np.zeros((1, 2))])
    bottom = np.arange(count)
    top = bottom + count + 1
    return make_mesh(
        _two_levels(planar, lower, upper),
        fan(count, bottom)[:, ::-1],
        fan(2 * count + 1, top),
        ring_wall(bottom, top),
    )


def tube_mesh(
    outer: Float[np.ndarray, "n 2"], inner: Float[np.ndarray, "n 2"], lower: float, upper: float
) -> Mesh:
    """Return the mesh of a tube between two polygons with corners at equal angles."""
    count = len(outer)
    ring = np.arange(count)
    # Each ring is counter-clockwise: outer bottom, inner bottom, outer top, inner top.
    rings = [ring + k * count for k in range(4)]
    return make_mesh(
        _two_levels(np.concatenate([outer, inner]), lower, upper),
        ring_wall(rings[0], rings[2]),
        ring_wall(rings[3], rings[1]),
        ring_wall(rings[1], rings[0]),
        ring_wall(rings[2], rings[3]),
    )


def ring_wall(lower: Int[np.ndarray, " n"], upper: Int[np.ndarray, " n"]) -> np.ndarray:
    """Return the faces (2 n, 3) between two closed rings of vertices.

    The normals point outwards where the rings run counter-clockwise about +z and ``upper`` lies
    above ``lower``.
    """
    next_lower, next_upper = np.roll(lower, -1), np.roll(upper, -1)
    return np.concatenate(
        [
            np.column_stack([lower, next_lower, next_upper]),
            np.column_stack([lower, next_upper, upper]),
        ]
    )


def fan(center: int, ring: Int[np.ndarray, " n"]) -> np.ndarray:
    """Return the faces (n, 3) between a vertex and a closed ring, in the sense of the ring."""
    return np.column_stack([np.full(len(ring), center), ring, np.roll(ring, -1)])


def triangulate(
    outer: Float[np.ndarray, "n 2"], hole: Float[np.ndarray, "m 2"] | None = None
) -> Int[np.ndarray, "k 3"]:
    """Return counter-clockwise triangles (k, 3) that fill a polygon without new vertices.

    Args:
        outer: corners (n, 2), counter-clockwise, numbered from 0.
        hole: corners (m, 2) of a hole, numbered from n; or none.

    Raises:
        GeometryError: the triangles do not fill the polygon (it crosses itself or has repeated
            corners).
    """
    import mapbox_earcut

    rings = [outer] if hole is None else [outer, hole]
    corners = np.ascontiguousarray(np.concatenate(rings), dtype=np.float64)
    ends = np.cumsum([len(ring) for ring in rings]).astype(np.uint32)
    faces = np.asarray(mapbox_earcut.triangulate_float64(corners, ends), dtype=np.int64)
    faces = faces.reshape(-1, 3)
    a, b, c = corners[faces].transpose(1, 2, 0)
    doubled = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
    faces[doubled < 0.0] = faces[doubled < 0.0][:, ::-1]
    wanted = len(corners) - 2 + 2 * (len(rings) - 1)
    areas = [_shoelace(ring) for ring in rings]
    excess = 0.5 * np.abs(doubled).sum() - (areas[0] - sum(areas[1:]))
    if len(faces) != wanted or not (doubled != 0.0).all() or abs(excess) > 1e-9 * areas[0]:
        raise GeometryError(
            f"polygon of {len(corners)} corners: got {len(faces)} triangles, expected {wanted} of "
            "non-zero area that fill it; corners are repeated or sides cross"
        )
    return faces


def _shoelace(ring: Float[np.ndarray, "n 2"]) -> float:
    following = np.roll(ring, -1, axis=0)
    return 0.5 * float((ring[:, 0] * following[:, 1] - ring[:, 1] * following[:, 0]).sum())


def _two_levels(
    planar: Float[np.ndarray, "n 2"], lower: float, upper: float
) -> Float[np.ndarray, "2*n 3"]:
    """Return the planar points at both heights, first the lower ones."""
    return np.vstack(
        [
            np.column_stack([planar, np.full(len(planar), lower)]),
            np.column_stack([planar, np.full(len(planar), upper)]),
        ]
    )
