"""A bounding-volume tree over triangles that finds closest points, many queries at a time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

__all__ = ["FEATURE_EDGES", "TriangleTree", "closest_on_triangles"]

#: Features of a triangle: 0 its inside, 1-3 its corners, from here on its three sides.
FEATURE_EDGES = 4

_FAN = 4
_QUERIES = 8192


class _Discs(NamedTuple):
    """Flat cylinders around groups of triangles, one level of the tree.

    A surface is flat at the scale of a small group, so that a disc along its mean normal leaves far
    less empty room than an axis-aligned box does.
    """

    center: np.ndarray
    axis: np.ndarray
    radius: np.ndarray
    half_height: np.ndarray

    def square_gaps(self, x: np.ndarray, node: np.ndarray) -> np.ndarray:
        """Return the squared distance from each point to the disc of its node."""
        offset = x - self.center[node]
        height = np.einsum("ij,ij->i", offset, self.axis[node])
        square = np.einsum("ij,ij->i", offset, offset)
        across = np.sqrt(np.maximum(square - height * height, 0.0)) - self.radius[node]
        along = np.abs(height) - self.half_height[node]
        return np.asarray(np.maximum(across, 0.0) ** 2 + np.maximum(along, 0.0) ** 2)


class TriangleTree:
    """Discs around triangles that follow one another along a space-filling curve."""

    def __init__(self, vertices: Float[np.ndarray, "n 3"], faces: Int[np.ndarray, "m 3"]) -> None:
        """Sort the triangles and build the discs.

        Args:
            vertices: points (n, 3) [m].
            faces: vertex indices (m, 3).
        """
        from scipy.spatial import cKDTree

        corners = vertices[faces]
        self._order = np.argsort(_morton(corners.mean(axis=1)), kind="stable")
        self._corners = corners[self._order]
        self._levels = []
        size = 1
        while True:
            self._levels.append(_discs(self._corners, size))
            if len(self._levels[-1].radius) <= _FAN:
                break
            size *= _FAN
        # A first bound on the distance: the nearest of all corners and centres.
        used = vertices[np.unique(faces)]
        self._landmarks = cKDTree(np.concatenate([used, corners.mean(axis=1)]))

    def closest(
        self, points: Float[np.ndarray, "n 3"]
    ) -> tuple[Int[np.ndarray, " n"], Int[np.ndarray, " n"], Float[np.ndarray, "n 3"]]:
        """Return face (n,), feature (n,) and closest point (n, 3) for each point (n, 3)."""
        face = np.empty(len(points), dtype=np.int64)
        feature = np.empty(len(points), dtype=np.int64)
        nearest = np.empty((len(points), 3))
        for start in range(0, len(points), _QUERIES):
            part = slice(start, start + _QUERIES)
            face[part], feature[part], nearest[part] = self._closest(points[part])
        return face, feature, nearest

    def _closest(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        # Widened by far more than rounding, so that the disc of the closest triangle survives.
        bound = self._landmarks.query(points)[0] ** 2 * (1.0 + 1e-9)
        bound += 1e-24 * (np.abs(points).max(axis=1) ** 2 + np.abs(self._corners).max() ** 2)
        roots = len(self._levels[-1].radius)
        query = np.repeat(np.arange(len(points)), roots)
        node = np.tile(np.arange(roots), len(points))
        for depth in range(len(self._levels) - 1, -1, -1):
            is_near = self._levels[depth].square_gaps(points[query], node) <= bound[query]
            query, node = query[is_near], node[is_near]
            if depth > 0:
                query = np.repeat(query, _FAN)
                node = (node[:, None] * _FAN + np.arange(_FAN)).reshape(-1)
                is_real = node < len(self._levels[depth - 1].radius)
                query, node = query[is_real], node[is_real]
        point, feature = closest_on_triangles(points[query], self._corners[node])
        square = ((points[query] - point) ** 2).sum(axis=1)
        # The pairs are still sorted by query; the first of equal distances wins.
        start = np.searchsorted(query, np.arange(len(points)))
        least = np.minimum.reduceat(square, start)
        is_least = np.flatnonzero(square == least[query])
        winner = is_least[np.searchsorted(query[is_least], np.arange(len(points)))]
        return self._order[node[winner]], feature[winner], point[winner]


def closest_on_triangles(
    points: Float[np.ndarray, "n 3"], corners: Float[np.ndarray, "n 3 3"]
) -> tuple[Float[np.ndarray, "n 3"], Int[np.ndarray, " n"]]:
    """Return the closest point (n, 3) of each triangle to its point, and the feature it lies on.

    Args:
        points: points (n, 3) [m].
        corners: the corners (n, 3, 3) [m] of one triangle for each point.

    Source:
        C. Ericson, "Real-Time Collision Detection" (2005), section 5.1.5.
    """
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    ab, ac = b - a, c - a
    d1, d2 = _dot(ab, points - a), _dot(ac, points - a)
    d3, d4 = _dot(ab, points - b), _dot(ac, points - b)
    d5, d6 = _dot(ab, points - c), _dot(ac, points - c)
    va, vb, vc = d3 * d6 - d5 * d4, d5 * d2 - d1 * d6, d1 * d4 - d3 * d2
    conditions = [
        (d1 <= 0.0) & (d2 <= 0.0),
        (d3 >= 0.0) & (d4 <= d3),
        (d6 >= 0.0) & (d5 <= d6),
        (vc <= 0.0) & (d1 >= 0.0) & (d3 <= 0.0),
        (va <= 0.0) & (d4 - d3 >= 0.0) & (d5 - d6 >= 0.0),
        (vb <= 0.0) & (d2 >= 0.0) & (d6 <= 0.0),
    ]
    feature = np.select(conditions, [1, 2, 3, 4, 5, 6], default=0)
    along_ab = _fraction(d1, d1 - d3)
    along_bc = _fraction(d4 - d3, (d4 - d3) + (d5 - d6))
    along_ca = _fraction(d2, d2 - d6)
    total = va + vb + vc
    one = np.ones_like(d1)
    v = np.select(
        [feature == k for k in range(1, 7)],
        [0.0 * one, one, 0.0 * one, along_ab, 1.0 - along_bc, 0.0 * one],
        default=_fraction(vb, total),
    )
    w = np.select(
        [feature == k for k in range(1, 7)],
        [0.0 * one, 0.0 * one, one, 0.0 * one, along_bc, along_ca],
        default=_fraction(vc, total),
    )
    return a + v[:, None] * ab + w[:, None] * ac, feature


def _dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.asarray(np.einsum("ij,ij->i", a, b))


def _fraction(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    return part / np.where(whole == 0.0, 1.0, whole)


def _discs(corners: np.ndarray, size: int) -> _Discs:
    """Return the discs around every ``size`` consecutive triangles (m, 3, 3)."""
    starts = np.arange(0, len(corners), size)
    group = np.arange(len(corners)) // size
    lower = np.minimum.reduceat(corners.min(axis=1), starts)
    upper = np.maximum.reduceat(corners.max(axis=1), starts)
    center = 0.5 * (lower + upper)
    doubled = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    axis = np.add.reduceat(doubled, starts)
    length = np.linalg.norm(axis, axis=1)
    has_axis = length > 0.0
    axis[~has_axis] = (0.0, 0.0, 1.0)
    axis[has_axis] /= length[has_axis, None]
    offset = corners - center[group][:, None]
    height = np.einsum("mki,mi->mk", offset, axis[group])
    across = np.linalg.norm(offset - height[:, :, None] * axis[group][:, None], axis=2)
    radius = np.maximum.reduceat(across.max(axis=1), starts)
    highest = np.maximum.reduceat(height.max(axis=1), starts)
    lowest = np.minimum.reduceat(height.min(axis=1), starts)
    center = center + 0.5 * (highest + lowest)[:, None] * axis
    return _Discs(center, axis, radius, 0.5 * (highest - lowest))


def _morton(points: np.ndarray) -> np.ndarray:
    """Return the position of points (n, 3) along a space-filling curve."""
    lower = points.min(axis=0)
    span = np.ptp(points, axis=0).max()
    cells = ((points - lower) / (span if span > 0.0 else 1.0) * 2097151.0).astype(np.uint64)
    code = np.zeros(len(points), dtype=np.uint64)
    for axis in range(3):
        code |= _spread_bits(cells[:, axis]) << np.uint64(axis)
    return code


def _spread_bits(values: np.ndarray) -> np.ndarray:
    """Put two zero bits between the 21 lowest bits of each value."""
    steps = (
        (32, 0x1F00000000FFFF),
        (16, 0x1F0000FF0000FF),
        (8, 0x100F00F00F00F00F),
        (4, 0x10C30C30C30C30C3),
        (2, 0x1249249249249249),
    )
    for shift, mask in steps:
        values = (values | (values << np.uint64(shift))) & np.uint64(mask)
    return values
