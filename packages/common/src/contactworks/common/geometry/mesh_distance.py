"""Exact distance from points to a triangle mesh, with the sign of inside and outside."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from jaxtyping import Float, Int

from contactworks.common.arrays import points_array
from contactworks.common.geometry._mesh_topology import edge_table
from contactworks.common.geometry._triangle_tree import FEATURE_EDGES, TriangleTree
from contactworks.common.geometry.mesh_checks import require_solid
from contactworks.common.geometry.sdf import DistanceGradient

__all__ = ["ClosestPoints", "MeshDistance"]

# Nearer than this, relative to the size of the mesh, the direction to the closest point is noise.
_TOUCHING = 1e-13


class ClosestPoints(NamedTuple):
    """The points of a mesh that are closest to n query points.

    Attributes:
        point: closest point (n, 3) [m].
        distance: unsigned distance (n,) [m].
        face: index (n,) of a face that holds the closest point.
        feature: part of that face (n,): 0 its inside, 1-3 corner 0-2, 4-6 the side that starts at
            corner 0-2.
    """

    point: Float[np.ndarray, "n 3"]
    distance: Float[np.ndarray, " n"]
    face: Int[np.ndarray, " n"]
    feature: Int[np.ndarray, " n"]


class MeshDistance:
    """Closest points and signed distances of one mesh; prepared once, asked often.

    Example:
        >>> from contactworks.common.geometry import Mesh
        >>> tetrahedron = Mesh(
        ...     [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]],
        ...     [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]],
        ... )
        >>> query = MeshDistance(tetrahedron.vertices, tetrahedron.faces)
        >>> query.signed([[0.2, 0.2, -0.5]])[0]
        array([0.5])
    """

    def __init__(self, vertices: Float[np.ndarray, "n 3"], faces: Int[np.ndarray, "m 3"]) -> None:
        """Build the search tree of a mesh; the signs are prepared by the first signed query.

        Args:
            vertices: finite points (n, 3) [m].
            faces: vertex indices (m, 3), none without area.
        """
        self._vertices = vertices
        self._faces = faces
        self._tree = TriangleTree(vertices, faces)
        used = vertices[faces.reshape(-1)]
        self._size = float(np.abs(used).max() + np.ptp(used, axis=0).max())
        self._normals: _FeatureNormals | None = None

    def closest(self, points: Float[npt.ArrayLike, "n 3"]) -> ClosestPoints:
        """Return the closest point of the mesh for each point (n, 3) [m]; the mesh may be open."""
        x = points_array(points)
        face, feature, nearest = self._tree.closest(x)
        return ClosestPoints(nearest, np.linalg.norm(x - nearest, axis=1), face, feature)

    def signed(self, points: Float[npt.ArrayLike, "n 3"]) -> DistanceGradient:
        """Return the exact signed distance (n,) [m], negative inside, and its gradient (n, 3).

        The sign comes from the angle-weighted normal of the closest face, edge or corner.  Where a
        mesh intersects itself, the distance is that to the nearest triangle, even one inside.

        Raises:
            GeometryError: a mesh that does not enclose a volume with its faces pointing outwards.

        Source:
            J. A. Baerentzen and H. Aanaes, "Signed distance computation using the angle weighted
            pseudonormal", IEEE TVCG 11 (2005) 243-253.  Its proof (divergence theorem in a small
            ball around the closest point) holds as well where bodies touch in an edge or a corner.
        """
        x = points_array(points)
        if self._normals is None:
            require_solid(self._vertices, self._faces)
            self._normals = _feature_normals(self._vertices, self._faces)
        nearest = self.closest(x)
        normal = self._normals.at(nearest, self._faces)
        offset = x - nearest.point
        height = np.einsum("ij,ij->i", offset, normal)
        sign = np.where(height < 0.0, -1.0, 1.0)
        is_face = nearest.feature == 0
        # Along a face normal the height is the distance, without the rounding of the foot point.
        first = self._vertices[self._faces[nearest.face, 0]]
        plane = np.einsum("ij,ij->i", x - first, normal)
        distance = np.where(is_face, plane, sign * nearest.distance)
        use_normal = is_face | (nearest.distance <= _TOUCHING * self._size)
        safe = np.where(use_normal, 1.0, nearest.distance)
        gradient = np.where(use_normal[:, None], normal, sign[:, None] * offset / safe[:, None])
        return distance, gradient


class _FeatureNormals(NamedTuple):
    """Angle-weighted normals of faces (m, 3), edges (k, 3) and vertices (n, 3)."""

    face: np.ndarray
    edge: np.ndarray
    vertex: np.ndarray
    edge_of_face: np.ndarray

    def at(self, nearest: ClosestPoints, faces: np.ndarray) -> np.ndarray:
        """Return the normal (n, 3) at each closest point."""
        normal = self.face[nearest.face]
        is_vertex = (nearest.feature > 0) & (nearest.feature < FEATURE_EDGES)
        corner = faces[nearest.face[is_vertex], nearest.feature[is_vertex] - 1]
        normal[is_vertex] = self.vertex[corner]
        is_edge = nearest.feature >= FEATURE_EDGES
        side = nearest.feature[is_edge] - FEATURE_EDGES
        normal[is_edge] = self.edge[self.edge_of_face[nearest.face[is_edge], side]]
        return np.asarray(normal)


def _feature_normals(vertices: np.ndarray, faces: np.ndarray) -> _FeatureNormals:
    corners = vertices[faces]
    sides = np.roll(corners, -1, axis=1) - corners
    # Scaled to order one, so that tiny faces do not underflow.
    sides = sides / np.abs(sides).max(axis=(1, 2), keepdims=True)
    normal = _unit(np.cross(sides[:, 0], sides[:, 1]))
    table = edge_table(faces)
    edge = np.zeros((len(table.edges), 3))
    np.add.at(edge, table.of_face.reshape(-1), np.repeat(normal, 3, axis=0))
    back = -np.roll(sides, 1, axis=1)
    sine = np.linalg.norm(np.cross(sides, back), axis=2)
    angle = np.arctan2(sine, np.einsum("mki,mki->mk", sides, back))
    vertex = np.zeros((len(vertices), 3))
    np.add.at(vertex, faces.reshape(-1), (angle[:, :, None] * normal[:, None, :]).reshape(-1, 3))
    return _FeatureNormals(normal, _unit(edge), _unit(vertex), table.of_face)


def _unit(vectors: np.ndarray) -> np.ndarray:
    """Return unit vectors; +z where a vector is zero (two bodies that touch face to face)."""
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = vectors / np.where(length > 0.0, length, 1.0)
    unit[length[:, 0] == 0.0] = (0.0, 0.0, 1.0)
    return np.asarray(unit)
