"""Triangle meshes as shapes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from jaxtyping import Float, Int

from contactworks.common.arrays import mesh_arrays
from contactworks.common.errors import GeometryError
from contactworks.common.geometry.base import BoundingBox, Shape
from contactworks.common.geometry.mesh_checks import face_areas, require_solid, zero_area_faces
from contactworks.common.geometry.mesh_distance import MeshDistance
from contactworks.common.geometry.sdf import DistanceGradient

if TYPE_CHECKING:
    from contactworks.common.inertia import MassProperties

__all__ = ["Mesh"]


@dataclass(frozen=True, slots=True, eq=False, init=False)
class Mesh(Shape):
    """A triangle mesh, used as it is: neither made convex nor decomposed.

    Faces are counter-clockwise seen from outside.  A mesh may be open; what needs a volume
    (signed distance, mass properties) then refuses it and names an open edge.

    Attributes:
        vertices: points (n, 3) [m].
        faces: vertex indices (m, 3).

    Raises:
        ShapeError: arrays of another shape.
        GeometryError: empty, NaN, an index out of range, or a face without area.

    Example:
        >>> tetrahedron = Mesh(
        ...     [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]],
        ...     [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]],
        ... )
        >>> round(tetrahedron.volume(), 6)
        0.166667
    """

    vertices: Float[np.ndarray, "n 3"]
    faces: Int[np.ndarray, "m 3"]

    def __init__(
        self, vertices: Float[npt.ArrayLike, "n 3"], faces: Int[npt.ArrayLike, "m 3"]
    ) -> None:
        points, triangles = mesh_arrays(vertices, faces, owner="Mesh.", minimum_vertices=3)
        flat = zero_area_faces(points, triangles)
        if flat.size:
            raise GeometryError(
                f"Mesh.faces: {flat.size} of {len(triangles)} faces have no area, the first is "
                f"face {flat[0]} with vertices {triangles[flat[0]].tolist()}; expected none "
                "(clean_mesh and load_mesh remove them with drop_degenerate=True)"
            )
        object.__setattr__(self, "vertices", points)
        object.__setattr__(self, "faces", triangles)

    def bounding_box(self) -> BoundingBox:
        """Return the lower and the upper corner (3,) [m] of the faces."""
        used = self.vertices[self.faces.reshape(-1)]
        return used.min(axis=0), used.max(axis=0)

    def area(self) -> float:
        """Return the area of the surface [m²]."""
        return float(face_areas(self.vertices, self.faces).sum())

    def volume(self) -> float:
        """Return the enclosed volume [m³].

        Raises:
            GeometryError: a mesh that does not enclose a volume.
        """
        return require_solid(self.vertices, self.faces).volume

    def mass_properties(self, density: float) -> MassProperties:
        """Return mass, centre of mass and inertia at ``density`` [kg/m³].

        Raises:
            GeometryError: a mesh that does not enclose a volume.
        """
        from contactworks.common.inertia import mesh_mass_properties

        require_solid(self.vertices, self.faces)
        return mesh_mass_properties(self.vertices, self.faces, density)

    def signed_distance(self, points: Float[npt.ArrayLike, "n 3"]) -> DistanceGradient:
        """Return the exact signed distance (n,) [m] and its gradient (n, 3).

        The search structure is kept for the last few meshes asked.

        Raises:
            GeometryError: a mesh that does not enclose a volume.
        """
        return _distance(self).signed(points)


@lru_cache(maxsize=8)
def _distance(mesh: Mesh) -> MeshDistance:
    return MeshDistance(mesh.vertices, mesh.faces)
