"""Shapes, meshes, signed distances and support functions.

The shapes are immutable descriptions in their own frame, in metres.  Parametric parts (pegs, bolts,
gears, indenters) live in ``contactworks.common.geometry.parts``.
"""

from __future__ import annotations

from contactworks.common.geometry.base import BoundingBox, ConvexShape, Shape
from contactworks.common.geometry.dsf import AxisDsf, VertexDsf
from contactworks.common.geometry.grid_sdf import GridSdf
from contactworks.common.geometry.hulls import ConvexHull
from contactworks.common.geometry.mesh_checks import MeshReport, check_mesh
from contactworks.common.geometry.mesh_distance import MeshDistance
from contactworks.common.geometry.meshes import (
    clean_mesh,
    from_trimesh,
    load_mesh,
    split_bodies,
    to_trimesh,
)
from contactworks.common.geometry.polyhedra import Mesh
from contactworks.common.geometry.shapes import Box, Capsule, Cylinder, Plane, Sphere
from contactworks.common.geometry.toroidal import PlanarCircle, PlanarVertexDsf, Tdsf
from contactworks.common.geometry.user_sdf import Sdf, SdfReport

__all__ = [
    "AxisDsf",
    "BoundingBox",
    "Box",
    "Capsule",
    "ConvexHull",
    "ConvexShape",
    "Cylinder",
    "GridSdf",
    "Mesh",
    "MeshDistance",
    "MeshReport",
    "PlanarCircle",
    "PlanarVertexDsf",
    "Plane",
    "Sdf",
    "SdfReport",
    "Shape",
    "Sphere",
    "Tdsf",
    "VertexDsf",
    "check_mesh",
    "clean_mesh",
    "from_trimesh",
    "load_mesh",
    "split_bodies",
    "to_trimesh",
]
