"""Geometry of tetrahedra: volumes, faces, boundary, quality.

A tetrahedron (a, b, c, d) is positive when det(b - a, c - a, d - a) > 0, that is, when d lies on
the side of the triangle (a, b, c) from which it appears counter-clockwise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from jaxtyping import Float, Int

__all__ = [
    "MeshQuality",
    "boundary_triangles",
    "enclosed_volume",
    "face_table",
    "mesh_quality",
    "mean_ratio",
    "signed_volumes",
]

# Faces of a positive tetrahedron, seen counter-clockwise from outside.
_FACES = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
_EDGES = np.array([[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]])


@dataclass(frozen=True, slots=True)
class MeshQuality:
    """Shape of each of the m tetrahedra.

    Attributes:
        radius_ratio: 3 x inscribed / circumscribed radius, in (0, 1], 1 if regular, shape (m,).
        minimum_dihedral_angle_deg: Smallest of six angles [deg], 70.53 if regular, shape (m,).
        minimum_edge: Shortest edge [m], shape (m,).
        maximum_edge: Longest edge [m], shape (m,).
    """

    radius_ratio: Float[np.ndarray, " m"]
    minimum_dihedral_angle_deg: Float[np.ndarray, " m"]
    minimum_edge: Float[np.ndarray, " m"]
    maximum_edge: Float[np.ndarray, " m"]


def signed_volumes(
    nodes: Float[np.ndarray, "n 3"], tets: Int[np.ndarray, "m 4"]
) -> Float[np.ndarray, " m"]:
    """Return the volume of each tetrahedron [m³], negative where inverted."""
    corner = nodes[tets]
    a, b, c = (corner[:, i] - corner[:, 0] for i in (1, 2, 3))
    return np.asarray(np.einsum("mi,mi->m", a, np.cross(b, c)) / 6.0)


def mean_ratio(
    nodes: Float[np.ndarray, "n 3"], tets: Int[np.ndarray, "m 4"]
) -> Float[np.ndarray, " m"]:
    """Return 6 √2 V / l³ with l the rms edge: 1 if regular, 0 if flat, negative if inverted."""
    length = np.sqrt(np.mean(_edge_lengths(nodes, tets) ** 2, axis=1))
    volume = 6.0 * np.sqrt(2.0) * signed_volumes(nodes, tets)
    ratio = np.zeros_like(length)
    np.divide(volume, length**3, out=ratio, where=length > 0.0)
    return np.asarray(ratio)


def face_table(
    tets: Int[np.ndarray, "m 4"],
) -> tuple[Int[np.ndarray, "f 3"], Int[np.ndarray, " g"], Int[np.ndarray, " f"]]:
    """Return the distinct faces of a mesh and which tetrahedra have them.

    Returns:
        Sorted corner indices of the f distinct faces, the index into them of each of the g = 4 m
        faces of tetrahedra (face j of tetrahedron i is entry 4 i + j), and how often each occurs.
    """
    faces = np.sort(tets[:, _FACES].reshape(-1, 3), axis=1)
    distinct, index, count = np.unique(faces, axis=0, return_inverse=True, return_counts=True)
    return distinct, index.reshape(-1), count


def boundary_triangles(tets: Int[np.ndarray, "m 4"]) -> Int[np.ndarray, "s 3"]:
    """Return the faces that belong to one tetrahedron only, counter-clockwise from outside."""
    _, index, count = face_table(tets)
    return np.ascontiguousarray(tets[:, _FACES].reshape(-1, 3)[count[index] == 1])


def enclosed_volume(nodes: Float[np.ndarray, "n 3"], triangles: Int[np.ndarray, "s 3"]) -> float:
    """Return the volume inside a closed surface of outward triangles [m³].

    Source: divergence theorem on the field x / 3.
    """
    a, b, c = (nodes[triangles[:, i]] for i in range(3))
    return float(np.einsum("si,si->", a, np.cross(b, c)) / 6.0)


def mesh_quality(nodes: Float[np.ndarray, "n 3"], tets: Int[np.ndarray, "m 4"]) -> MeshQuality:
    """Return shape measures of valid (positive) tetrahedra; nodes in m."""
    corner = nodes[tets]
    volume = signed_volumes(nodes, tets)
    # Outward face normals, twice the area long.
    p, q, r = (corner[:, _FACES[:, i]] for i in range(3))
    normal = np.cross(q - p, r - p)
    twice_area = np.linalg.norm(normal, axis=2)
    inscribed = 6.0 * volume / twice_area.sum(axis=1)
    a, b, c = (corner[:, i] - corner[:, 0] for i in (1, 2, 3))
    squares = [np.einsum("mi,mi->m", v, v)[:, None] for v in (a, b, c)]
    centre = squares[0] * np.cross(b, c) + squares[1] * np.cross(c, a) + squares[2] * np.cross(a, b)
    circumscribed = np.linalg.norm(centre, axis=1) / (12.0 * volume)
    unit = normal / twice_area[..., None]
    cosines = -np.stack([np.einsum("mi,mi->m", unit[:, i], unit[:, j]) for i, j in _EDGES], axis=1)
    edges = _edge_lengths(nodes, tets)
    return MeshQuality(
        radius_ratio=3.0 * inscribed / circumscribed,
        minimum_dihedral_angle_deg=np.degrees(np.arccos(np.clip(cosines.max(axis=1), -1.0, 1.0))),
        minimum_edge=edges.min(axis=1),
        maximum_edge=edges.max(axis=1),
    )


def _edge_lengths(
    nodes: Float[np.ndarray, "n 3"], tets: Int[np.ndarray, "m 4"]
) -> Float[np.ndarray, "m 6"]:
    corner = nodes[tets]
    return np.asarray(np.linalg.norm(corner[:, _EDGES[:, 1]] - corner[:, _EDGES[:, 0]], axis=2))
