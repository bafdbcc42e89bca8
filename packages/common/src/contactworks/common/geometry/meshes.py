"""Loading, cleaning and converting triangle meshes."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from jaxtyping import Float, Int

from contactworks.common.arrays import mesh_arrays, positive_scalar
from contactworks.common.errors import FileFormatError, GeometryError
from contactworks.common.geometry._mesh_topology import body_labels, consistent_faces
from contactworks.common.geometry.mesh_checks import (
    check_mesh,
    face_volumes,
    zero_area_faces,
)
from contactworks.common.geometry.polyhedra import Mesh
from contactworks.common.geometry.winding import enclosures

if TYPE_CHECKING:
    import trimesh

__all__ = [
    "MESH_SUFFIXES",
    "UNITS",
    "Mesh",
    "clean_mesh",
    "from_trimesh",
    "load_mesh",
    "split_bodies",
    "to_trimesh",
]

_LOG = logging.getLogger(__name__)

#: File types that :func:`load_mesh` reads.
MESH_SUFFIXES = (".stl", ".obj", ".ply", ".off")

#: Length of each unit [m].
UNITS = {"m": 1.0, "dm": 0.1, "cm": 0.01, "mm": 0.001, "um": 1e-6, "in": 0.0254, "ft": 0.3048}


def load_mesh(
    path: str | os.PathLike[str],
    *,
    unit: str = "m",
    scale: float = 1.0,
    merge_tolerance: float = 0.0,
    drop_degenerate: bool = False,
    fix_orientation: bool = False,
    solid: bool = False,
) -> Mesh:
    """Return the triangle mesh in a file, in metres.

    Vertices at one place are merged (an STL file repeats them for every face).  Nothing else is
    changed unless asked for.  All groups of a file make one mesh.

    Args:
        path: an STL, OBJ, PLY or OFF file.
        unit: unit of the file's numbers: m, dm, cm, mm, um, in or ft.
        scale: further factor, above 0.
        merge_tolerance: vertices nearer than this [m] along each axis are merged too.
        drop_degenerate: remove faces without area instead of refusing them; the number is logged.
        fix_orientation: turn faces so that they agree and point outwards; the number is logged.
        solid: refuse a mesh that does not enclose a volume with its faces pointing outwards.

    Raises:
        FileFormatError: a file that is missing, of another type, unreadable, or holds no triangles;
            names the file.
        GeometryError: a mesh that is refused, or an argument out of range; names the file.
    """
    source = Path(path)
    if unit not in UNITS:
        raise GeometryError(f"unit: got {unit!r}, expected one of {', '.join(UNITS)}")
    factor = UNITS[unit] * positive_scalar(scale, "scale", error=GeometryError)
    vertices, faces = _read(source)
    try:
        mesh = clean_mesh(
            vertices * factor,
            faces,
            merge_tolerance=merge_tolerance,
            drop_degenerate=drop_degenerate,
            fix_orientation=fix_orientation,
            solid=solid,
        )
    except GeometryError as error:
        raise GeometryError(f"{source}: {error}") from error
    bodies = int(body_labels(mesh.faces, len(mesh.vertices)).max()) + 1
    if bodies > 1:
        _LOG.info("%s: holds %d disconnected bodies", source, bodies)
    return mesh


def clean_mesh(
    vertices: Float[npt.ArrayLike, "n 3"],
    faces: Int[npt.ArrayLike, "m 3"],
    *,
    merge_tolerance: float = 0.0,
    drop_degenerate: bool = False,
    fix_orientation: bool = False,
    solid: bool = False,
) -> Mesh:
    """Return a mesh with vertices at one place merged and unused vertices removed.

    Args:
        vertices: points (n, 3) [m].
        faces: vertex indices (m, 3).
        merge_tolerance: vertices nearer than this [m] along each axis are merged too.
        drop_degenerate: remove faces without area instead of refusing them; the number is logged.
        fix_orientation: turn faces so that they agree and point outwards; the number is logged.
        solid: refuse a mesh that does not enclose a volume with its faces pointing outwards.

    Raises:
        ShapeError: arrays of another shape.
        GeometryError: empty, NaN, an index out of range, a face without area, or (``solid``) what
            keeps the mesh from enclosing a volume.
    """
    points, triangles = mesh_arrays(vertices, faces, owner="Mesh.", minimum_vertices=3)
    points, triangles = _merged(points, triangles, merge_tolerance)
    if drop_degenerate:
        flat = zero_area_faces(points, triangles)
        if flat.size:
            _LOG.warning("removed %d of %d faces without area", flat.size, len(triangles))
            triangles = np.delete(triangles, flat, axis=0)
    if fix_orientation and len(triangles):
        triangles = _oriented(points, triangles)
    used, compact = np.unique(triangles, return_inverse=True)
    mesh = Mesh(points[used], compact.reshape(-1, 3))
    if solid:
        problems = check_mesh(mesh.vertices, mesh.faces).problems()
        if problems:
            raise GeometryError(f"mesh: {'; '.join(problems)}")
    return mesh


def split_bodies(mesh: Mesh) -> tuple[Mesh, ...]:
    """Return the connected bodies of a mesh, in the order of their first faces."""
    labels = body_labels(mesh.faces, len(mesh.vertices))
    bodies = []
    for label in range(int(labels.max()) + 1):
        used, faces = np.unique(mesh.faces[labels == label], return_inverse=True)
        bodies.append(Mesh(mesh.vertices[used], faces.reshape(-1, 3)))
    return tuple(bodies)


def from_trimesh(mesh: trimesh.Trimesh) -> Mesh:
    """Return a trimesh object as a mesh; its vertices and faces are taken as they are [m]."""
    return Mesh(mesh.vertices, mesh.faces)


def to_trimesh(mesh: Mesh) -> trimesh.Trimesh:
    """Return a mesh as a trimesh object; vertices and faces keep their order."""
    import trimesh

    # Without processing: trimesh would merge vertices closer than 1e-8 m.
    return trimesh.Trimesh(np.array(mesh.vertices), np.array(mesh.faces), process=False)


def _read(source: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return the vertices (n, 3) and the faces (m, 3) in a file, as they stand there."""
    import trimesh

    if source.suffix.lower() not in MESH_SUFFIXES:
        raise FileFormatError(
            f"{source}: got file type {source.suffix!r}, expected {', '.join(MESH_SUFFIXES)}"
        )
    if not source.is_file():
        raise FileFormatError(f"{source}: no such file")
    try:
        loaded: Any = trimesh.load(source, process=False, force="mesh", skip_materials=True)
        vertices = np.asarray(loaded.vertices, dtype=np.float64)
        faces = np.asarray(loaded.faces)
    except Exception as error:  # the readers of trimesh raise whatever they run into
        raise FileFormatError(
            f"{source}: cannot be read as a mesh ({type(error).__name__}: {error})"
        ) from error
    if vertices.size == 0 or faces.size == 0:
        raise FileFormatError(
            f"{source}: holds no triangles that can be read (empty, cut short, or only points?)"
        )
    return vertices, faces


def _merged(
    points: np.ndarray, faces: np.ndarray, tolerance: float
) -> tuple[np.ndarray, np.ndarray]:
    """Merge vertices at one place; the first of them stands for all."""
    if not 0.0 <= tolerance < np.inf:
        raise GeometryError(f"merge_tolerance: got {tolerance}, expected 0 or a length in metres")
    _, first, inverse = np.unique(points + 0.0, axis=0, return_index=True, return_inverse=True)
    representative = first[inverse.reshape(-1)]
    if tolerance > 0.0:
        from scipy.sparse import coo_matrix
        from scipy.sparse.csgraph import connected_components
        from scipy.spatial import cKDTree

        pairs = cKDTree(points).query_pairs(tolerance, p=np.inf, output_type="ndarray")
        graph = coo_matrix(
            (np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(len(points), len(points))
        )
        labels = connected_components(graph, directed=False)[1]
        _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
        representative = first[inverse]
    return points, representative[faces]


def _oriented(points: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """Return the faces turned so that they agree and that bodies point outwards.

    Within a body the majority of the faces decides, so that a cavity stays one; a body inside
    another one turns with it.
    """
    result = consistent_faces(faces)
    labels = body_labels(result, len(points))
    changes = np.bincount(labels, weights=(result != faces).any(axis=1))
    _turn(result, (2.0 * changes > np.bincount(labels))[labels])
    volumes = np.bincount(labels, weights=face_volumes(points, result))
    if (volumes < 0.0).any():
        is_inside = enclosures(points, result, labels)
        is_outermost = ~is_inside.any(axis=1)
        container = np.argmax(is_inside & is_outermost, axis=1)
        root = np.where(is_outermost, np.arange(len(volumes)), container)
        _turn(result, (volumes[root] < 0.0)[labels])
    changed = int((result != faces).any(axis=1).sum())
    if changed:
        _LOG.warning("turned %d of %d faces to point outwards", changed, len(faces))
    return result


def _turn(faces: np.ndarray, is_turned: np.ndarray) -> None:
    """Reverse the sense of the chosen faces in place; the first corner stays the first."""
    faces[is_turned] = faces[is_turned][:, [0, 2, 1]]
