"""What is wrong with a triangle mesh: open, folded or flat places, bodies, orientation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from jaxtyping import Float, Int

from contactworks.common.arrays import mesh_arrays
from contactworks.common.errors import GeometryError
from contactworks.common.geometry._mesh_topology import EdgeTable, body_labels, edge_table
from contactworks.common.geometry.winding import enclosures

__all__ = [
    "MeshReport",
    "check_mesh",
    "face_areas",
    "face_volumes",
    "require_solid",
    "require_watertight",
    "zero_area_faces",
]

# A face counts as flat when its height is below this fraction of its longest edge.
_FLAT_FACE = 1e-14
# A body counts as flat when its volume is below this fraction of area^(3/2).
_FLAT_BODY = 1e-12


@dataclass(frozen=True, slots=True)
class MeshReport:
    """What :func:`check_mesh` found.

    Attributes:
        vertex_count: number of vertices.
        face_count: number of faces.
        unused_vertices: number of vertices that no face refers to.
        zero_area_faces: faces without area.
        duplicate_faces: faces that repeat the vertices of an earlier one.
        open_edges: edges (k, 2) on a border, as vertex indices.
        flipped_edges: edges (k, 2) whose two faces have opposite orientation.
        branching_edges: edges (k, 2) where more than two faces meet.
        body_volumes: signed volume [m³] of each connected body; NaN for a body that is not closed.
        inverted_bodies: closed bodies whose faces point inwards and which are no cavity of another.
    """

    vertex_count: int
    face_count: int
    unused_vertices: int
    zero_area_faces: tuple[int, ...]
    duplicate_faces: tuple[int, ...]
    open_edges: tuple[tuple[int, int], ...]
    flipped_edges: tuple[tuple[int, int], ...]
    branching_edges: tuple[tuple[int, int], ...]
    body_volumes: tuple[float, ...]
    inverted_bodies: tuple[int, ...]

    @property
    def bodies(self) -> int:
        """Number of connected bodies."""
        return len(self.body_volumes)

    @property
    def volume(self) -> float:
        """Total signed volume [m³]; NaN where a body is not closed."""
        return float(sum(self.body_volumes))

    @property
    def is_watertight(self) -> bool:
        """Whether every edge is shared by faces that fit together, so that there is an inside."""
        return not (self.open_edges or self.flipped_edges)

    @property
    def is_solid(self) -> bool:
        """Whether the mesh encloses a volume and its faces point outwards."""
        return not self.problems()

    def problems(self) -> tuple[str, ...]:
        """Return what keeps the mesh from enclosing a volume, one sentence each."""
        found = []
        if self.zero_area_faces:
            count, first = len(self.zero_area_faces), self.zero_area_faces[0]
            found.append(f"{count} of {self.face_count} faces have no area, the first is {first}")
        if self.duplicate_faces:
            count, first = len(self.duplicate_faces), self.duplicate_faces[0]
            found.append(f"{count} faces repeat the vertices of an earlier face, first {first}")
        if self.open_edges:
            found.append(
                f"not watertight: {len(self.open_edges)} open edges, for example between vertices "
                f"{self.open_edges[0]} (vertices at one place must be merged: clean_mesh does so)"
            )
        if self.flipped_edges:
            found.append(
                f"inconsistent orientation: {len(self.flipped_edges)} edges join faces that "
                f"disagree, for example between vertices {self.flipped_edges[0]} (clean_mesh and "
                "load_mesh repair it with fix_orientation=True)"
            )
        if self.inverted_bodies:
            first = self.inverted_bodies[0]
            found.append(
                f"inverted orientation: the faces of {len(self.inverted_bodies)} of {self.bodies} "
                f"bodies point inwards, first body {first} of volume {self.body_volumes[first]:.6g}"
                " m³ (clean_mesh and load_mesh turn them with fix_orientation=True)"
            )
        if not found and not self.volume > 0.0:
            found.append(f"encloses no volume: got {self.volume:.6g} m³")
        return tuple(found)


def check_mesh(
    vertices: Float[npt.ArrayLike, "n 3"], faces: Int[npt.ArrayLike, "m 3"]
) -> MeshReport:
    """Return a report on a triangle mesh; nothing is changed, and nothing found is raised.

    Args:
        vertices: points (n, 3) [m].
        faces: vertex indices (m, 3).

    Raises:
        ShapeError: arrays of another shape.
        GeometryError: arrays that are empty, hold NaN, or refer to vertices that do not exist.
    """
    return _report(*mesh_arrays(vertices, faces))


def _report(vertices: np.ndarray, faces: np.ndarray) -> MeshReport:
    table = edge_table(faces)
    labels = body_labels(faces, len(vertices))
    volumes = _body_volumes(vertices, faces, labels, table)
    return MeshReport(
        vertex_count=len(vertices),
        face_count=len(faces),
        unused_vertices=len(vertices) - len(np.unique(faces)),
        zero_area_faces=tuple(zero_area_faces(vertices, faces).tolist()),
        duplicate_faces=_duplicate_faces(faces),
        open_edges=_pairs(table.edges[table.is_open]),
        flipped_edges=_pairs(table.edges[table.is_flipped]),
        branching_edges=_pairs(table.edges[table.uses > 2]),
        body_volumes=tuple(volumes.tolist()),
        inverted_bodies=_inverted_bodies(vertices, faces, labels, volumes),
    )


def require_watertight(
    vertices: Float[np.ndarray, "n 3"], faces: Int[np.ndarray, "m 3"], name: str = "mesh"
) -> None:
    """Refuse a mesh that has no inside.

    Raises:
        GeometryError: names the number of open or disagreeing edges and one of them.
    """
    report = check_mesh(vertices, faces)
    if not report.is_watertight:
        raise GeometryError(f"{name}: {'; '.join(report.problems())}")


def require_solid(
    vertices: Float[np.ndarray, "n 3"], faces: Int[np.ndarray, "m 3"], name: str = "mesh"
) -> MeshReport:
    """Return the report on a mesh that encloses a volume with its faces pointing outwards.

    Raises:
        GeometryError: all that is wrong, with counts and first places.
    """
    report = check_mesh(vertices, faces)
    if not report.is_solid:
        raise GeometryError(f"{name}: {'; '.join(report.problems())}")
    return report


def face_areas(
    vertices: Float[np.ndarray, "n 3"], faces: Int[np.ndarray, "m 3"]
) -> Float[np.ndarray, " m"]:
    """Return the area (m,) [m²] of each face."""
    a, b, c = (vertices[faces[:, i]] for i in range(3))
    return np.asarray(0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1))


def face_volumes(
    vertices: Float[np.ndarray, "n 3"], faces: Int[np.ndarray, "m 3"]
) -> Float[np.ndarray, " m"]:
    """Return the signed volume (m,) [m³] between each face and the middle of the vertices."""
    used = vertices[faces]
    center = 0.5 * (used.min(axis=(0, 1)) + used.max(axis=(0, 1)))
    a, b, c = (used[:, i] - center for i in range(3))
    return np.asarray(np.einsum("ij,ij->i", a, np.cross(b, c)) / 6.0)


def zero_area_faces(
    vertices: Float[np.ndarray, "n 3"], faces: Int[np.ndarray, "m 3"]
) -> Int[np.ndarray, " k"]:
    """Return the indices (k,) of the faces without area: a vertex twice, or all on one line."""
    a, b, c = (vertices[faces[:, i]] for i in range(3))
    sides = np.stack([b - a, c - b, a - c])
    # Scaled to order one, so that the squares of tiny faces do not underflow.
    size = np.abs(sides).max(axis=(0, 2))
    scaled = sides / np.where(size > 0.0, size, 1.0)[:, None]
    longest = np.linalg.norm(scaled, axis=2).max(axis=0)
    doubled = np.linalg.norm(np.cross(scaled[0], scaled[1]), axis=1)
    return np.flatnonzero(doubled <= _FLAT_FACE * longest**2)


def _body_volumes(
    vertices: np.ndarray, faces: np.ndarray, labels: np.ndarray, table: EdgeTable
) -> np.ndarray:
    """Return the signed volume of each body; NaN where it is not closed, 0 where it is flat."""
    count = int(labels.max()) + 1
    volumes = np.bincount(labels, weights=face_volumes(vertices, faces), minlength=count)
    areas = np.bincount(labels, weights=face_areas(vertices, faces), minlength=count)
    volumes[np.abs(volumes) <= _FLAT_BODY * areas**1.5] = 0.0
    vertex_label = np.zeros(len(vertices), dtype=np.int64)
    vertex_label[faces.reshape(-1)] = np.repeat(labels, 3)
    is_bad = table.is_open | table.is_flipped
    volumes[vertex_label[table.edges[is_bad, 0]]] = np.nan
    return volumes


def _inverted_bodies(
    vertices: np.ndarray, faces: np.ndarray, labels: np.ndarray, volumes: np.ndarray
) -> tuple[int, ...]:
    """Return the closed bodies of negative volume that are no cavity of another body."""
    if not (volumes < 0.0).any():
        return ()
    is_inside = enclosures(vertices, faces, labels)
    in_solid = (is_inside & (volumes > 0.0)).any(axis=1)
    return tuple(np.flatnonzero((volumes < 0.0) & ~in_solid).tolist())


def _duplicate_faces(faces: np.ndarray) -> tuple[int, ...]:
    _, first = np.unique(np.sort(faces, axis=1), axis=0, return_index=True)
    return tuple(np.setdiff1d(np.arange(len(faces)), first).tolist())


def _pairs(edges: np.ndarray) -> tuple[tuple[int, int], ...]:
    return tuple((int(a), int(b)) for a, b in edges)
