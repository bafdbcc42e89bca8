"""Calls single kernels on small inputs, in the record types that the engine passes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from contactworks.common.geometry.shapes import Box, Capsule, Cylinder, Plane, Sphere
from contactworks.common.poses import Pose
from contactworks.crisp._kernels.detect import narrow_phase
from contactworks.crisp._kernels.layout import (
    BOX,
    CAPSULE,
    CYLINDER,
    GEOM,
    GEOM_STATE,
    PLANE,
    SPHERE,
    make_records,
)

from .oracles import Placed

KINDS = {Plane: PLANE, Sphere: SPHERE, Capsule: CAPSULE, Box: BOX, Cylinder: CYLINDER}


@dataclass(frozen=True)
class Manifold:
    """What the narrow phase returns for a pair, normals from the first to the second shape."""

    position: np.ndarray
    normal: np.ndarray
    gap: np.ndarray
    share: int  # points over which the stiffness of the pair is shared

    def __len__(self) -> int:
        return len(self.gap)

    @property
    def deepest(self) -> int:
        """The last of the deepest points: an edge point comes after the face points that tie."""
        return len(self.gap) - 1 - int(np.argmin(self.gap[::-1]))


def size_of(shape) -> tuple[float, float, float]:
    if isinstance(shape, Plane):
        return (0.0, 0.0, 0.0)
    if isinstance(shape, Sphere):
        return (shape.radius, 0.0, 0.0)
    if isinstance(shape, Box):
        x, y, z = (float(value) for value in shape.half_size)
        return (x, y, z)
    return (shape.radius, shape.half_length, 0.0)


def collide(a: Placed, b: Placed, margin: float = 0.01) -> Manifold:
    """Run the narrow phase on two placed shapes."""
    swap = KINDS[type(a.shape)] > KINDS[type(b.shape)]
    geoms = make_records(2, GEOM)
    states = make_records(2, GEOM_STATE)
    for i, placed in enumerate((b, a) if swap else (a, b)):
        geoms[i]["kind"] = KINDS[type(placed.shape)]
        geoms[i]["dimensions"] = size_of(placed.shape)
        states[i]["position"] = placed.pose.position
        states[i]["rotation"] = placed.pose.rotation_matrix
    geoms.flags.writeable = False  # as a model's are
    points = np.full((26, 7), np.nan)
    count, share = narrow_phase(geoms, states, 0, 1, margin, points, np.zeros((40, 3)))
    rows = points[:count]
    normal = -rows[:, 3:6] if swap else rows[:, 3:6].copy()
    return Manifold(rows[:, :3].copy(), normal, rows[:, 6].copy(), int(share))


def at(shape, position=(0.0, 0.0, 0.0), quaternion=(1.0, 0.0, 0.0, 0.0)) -> Placed:
    return Placed(shape, Pose(position, quaternion))
