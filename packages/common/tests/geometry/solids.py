"""Meshes and helpers that the tests of meshes share."""

from __future__ import annotations

import numpy as np
import trimesh

from contactworks.common.geometry import MeshReport, check_mesh

CUBE = trimesh.creation.box(extents=(0.02, 0.04, 0.06))
BALL = trimesh.creation.icosphere(subdivisions=2, radius=0.05)


def report_on(vertices: np.ndarray, faces: np.ndarray) -> MeshReport:
    return check_mesh(np.asarray(vertices), np.asarray(faces))


def joined(*parts: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return the vertices and faces of several meshes as those of one."""
    vertices, faces, count = [], [], 0
    for points, triangles in parts:
        vertices.append(points)
        faces.append(triangles + count)
        count += len(points)
    return np.concatenate(vertices), np.concatenate(faces)
