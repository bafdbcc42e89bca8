"""Winding numbers of triangle meshes, and which of their bodies lie inside others."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float, Int

__all__ = ["enclosures", "winding_number"]

# Pairs of point and triangle handled at a time.
_CHUNK = 2_000_000


def winding_number(
    points: Float[np.ndarray, "n 3"],
    vertices: Float[np.ndarray, "k 3"],
    faces: Int[np.ndarray, "m 3"],
) -> Float[np.ndarray, " n"]:
    """Return how often the mesh winds around each point: 1 inside, 0 outside, by all triangles.

    Args:
        points: query points (n, 3) [m].
        vertices: vertices (k, 3) [m].
        faces: vertex indices (m, 3).

    Source:
        A. van Oosterom and J. Strackee, "The solid angle of a plane triangle", IEEE Trans. Biomed.
        Eng. 30 (1983) 125-126; summed as by A. Jacobson et al., "Robust inside-outside
        segmentation using generalized winding numbers", ACM TOG 32 (2013).
    """
    result = np.empty(len(points))
    step = max(1, _CHUNK // max(1, len(faces)))
    corners = vertices[faces]
    for start in range(0, len(points), step):
        block = corners[None] - points[start : start + step, None, None]
        length = np.linalg.norm(block, axis=3)
        a, b, c = (block[:, :, i] for i in range(3))
        la, lb, lc = (length[:, :, i] for i in range(3))
        triple = np.einsum("nmi,nmi->nm", a, np.cross(b, c))
        ab, bc, ca = (np.einsum("nmi,nmi->nm", *pair) for pair in ((a, b), (b, c), (c, a)))
        angle = np.arctan2(triple, la * lb * lc + ab * lc + bc * la + ca * lb)
        result[start : start + step] = angle.sum(axis=1) / (2.0 * np.pi)
    return result


def enclosures(
    vertices: Float[np.ndarray, "n 3"], faces: Int[np.ndarray, "m 3"], labels: Int[np.ndarray, " m"]
) -> Bool[np.ndarray, "bodies bodies"]:
    """Return whether body i lies inside body j, whatever the sense of their faces.

    Bodies must not cut one another: the first vertex of a body stands for the whole of it.

    Args:
        vertices: points (n, 3) [m].
        faces: vertex indices (m, 3).
        labels: the body (m,) of each face.
    """
    count = int(labels.max()) + 1
    order = np.argsort(labels, kind="stable")
    bodies = np.split(faces[order], np.cumsum(np.bincount(labels, minlength=count))[:-1])
    lower = np.array([vertices[body.reshape(-1)].min(axis=0) for body in bodies])
    upper = np.array([vertices[body.reshape(-1)].max(axis=0) for body in bodies])
    is_inside = np.zeros((count, count), dtype=bool)
    for j, body in enumerate(bodies):
        fits = ((lower >= lower[j]) & (upper <= upper[j])).all(axis=1)
        fits[j] = False
        inner = np.flatnonzero(fits)
        if inner.size:
            probes = vertices[[bodies[i][0, 0] for i in inner]]
            is_inside[inner, j] = np.abs(winding_number(probes, vertices, body)) > 0.5
    return is_inside
