"""Convex hulls of points: the shape and the facets behind it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt
from jaxtyping import Float, Int

from contactworks.common.arrays import frozen_array
from contactworks.common.errors import GeometryError
from contactworks.common.geometry.base import BoundingBox, ConvexShape
from contactworks.common.geometry.polyhedra import Mesh
from contactworks.common.geometry.sdf import DistanceGradient

if TYPE_CHECKING:
    from contactworks.common.inertia import MassProperties

__all__ = ["ConvexHull", "HullFacets", "hull_facets", "inner_radius"]

# Points flatter than this, relative to their extent, are taken to lie in one plane.
_FLATNESS = 1e-12


class HullFacets(NamedTuple):
    """The facets of a convex hull in d dimensions.

    Attributes:
        simplices: vertex indices (m, d) of each facet; in space counter-clockwise from outside.
        normals: outward unit normals (m, d).
        offsets: normal · x on the facets (m,) [m].
    """

    simplices: Int[np.ndarray, "m d"]
    normals: Float[np.ndarray, "m d"]
    offsets: Float[np.ndarray, " m"]


@dataclass(frozen=True, slots=True, eq=False, init=False)
class ConvexHull(ConvexShape):
    """The convex hull of vertices.

    Attributes:
        vertices: points (n, 3) [m], not all in one plane; those inside the hull do no harm.

    Raises:
        ShapeError: vertices that are not (n, 3).
        GeometryError: fewer than 4 vertices, NaN, or all vertices in one plane.

    Example:
        >>> tetrahedron = ConvexHull([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
        >>> tetrahedron.support([1.0, 0.0, 0.0])
        array([1., 0., 0.])
    """

    vertices: Float[np.ndarray, "n 3"]

    def __init__(self, vertices: Float[npt.ArrayLike, "n 3"]) -> None:
        array = frozen_array(
            vertices, "ConvexHull.vertices", ("n", 3), minimum_rows=4, error=GeometryError
        )
        if _is_flat(array):
            raise GeometryError(
                f"ConvexHull.vertices: all {len(array)} points lie in one plane, expected a volume"
            )
        object.__setattr__(self, "vertices", array)

    def bounding_box(self) -> BoundingBox:
        """Return the lower and the upper corner (3,) [m]."""
        return self.vertices.min(axis=0), self.vertices.max(axis=0)

    def mesh(self) -> Mesh:
        """Return the surface of the hull, without the points inside it.

        Raises:
            GeometryError: a hull so thin that its facets do not close.
        """
        return _hull_mesh(self)

    def signed_distance(self, points: Float[npt.ArrayLike, "n 3"]) -> DistanceGradient:
        """Return the exact signed distance (n,) [m] and its gradient (n, 3)."""
        return self.mesh().signed_distance(points)

    def mass_properties(self, density: float) -> MassProperties:
        """Return mass, centre of mass and inertia at ``density`` [kg/m³]."""
        return self.mesh().mass_properties(density)

    def _support(self, unit: Float[np.ndarray, "n 3"]) -> Float[np.ndarray, "n 3"]:
        return np.asarray(self.vertices[np.argmax(unit @ self.vertices.T, axis=1)])


@lru_cache(maxsize=32)
def _hull_mesh(hull: ConvexHull) -> Mesh:
    simplices = hull_facets(hull.vertices, "ConvexHull.vertices").simplices
    used, faces = np.unique(simplices, return_inverse=True)
    return Mesh(hull.vertices[used], faces.reshape(-1, 3))


def hull_facets(points: Float[np.ndarray, "n d"], name: str = "points") -> HullFacets:
    """Return the facets of the convex hull of points in the plane or in space.

    Args:
        points: points (n, d) [m], d = 2 or 3.
        name: what the points are called in the message.

    Raises:
        GeometryError: all points on one line or in one plane.
    """
    from scipy.spatial import ConvexHull as Qhull
    from scipy.spatial import QhullError

    center = 0.5 * (points.min(axis=0) + points.max(axis=0))
    size = float(np.abs(points - center).max())
    if size == 0.0 or _is_flat(points):
        raise GeometryError(f"{name}: all {len(points)} points lie in one plane or on one line")
    try:
        # Qhull's own thresholds suit points of order one.
        hull = Qhull((points - center) / size)
    except QhullError as error:
        reason = str(error).splitlines()[0]
        raise GeometryError(f"{name}: no convex hull of {len(points)} points: {reason}") from None
    simplices, normals = hull.simplices.astype(np.int64), hull.equations[:, :-1]
    if points.shape[1] == 3:
        a, b, c = (points[simplices[:, i]] for i in range(3))
        is_clockwise = np.einsum("ij,ij->i", np.cross(b - a, c - a), normals) < 0.0
        simplices[is_clockwise] = simplices[is_clockwise][:, ::-1]
    offsets = -hull.equations[:, -1] * size + normals @ center
    return HullFacets(simplices, normals, offsets)


def inner_radius(points: Float[np.ndarray, "n d"]) -> float:
    """Return the depth [m] of the origin inside the hull of points; at or below 0 if not inside.

    Args:
        points: points (n, d) [m], d = 2 or 3; if all lie in one plane or line the depth is 0.
    """
    if _is_flat(points):
        return 0.0
    return float(hull_facets(points).offsets.min())


def _is_flat(points: np.ndarray) -> bool:
    centered = points - points.mean(axis=0)
    extent = np.linalg.svd(centered, compute_uv=False)
    # Coordinates far from the origin carry a rounding that is not shape.
    noise = 4.0 * np.finfo(float).eps * np.abs(points).max() * np.sqrt(len(points))
    return len(extent) < points.shape[1] or bool(extent[-1] <= max(_FLATNESS * extent[0], noise))
