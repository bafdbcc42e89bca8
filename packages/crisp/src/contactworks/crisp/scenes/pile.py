"""Boxes dropped into a bin of planes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from contactworks.common.errors import ModelError
from contactworks.common.geometry.shapes import Box, Plane
from contactworks.common.rotations import quaternion_between_vectors
from contactworks.crisp.builder import ModelBuilder
from contactworks.crisp.data import Data
from contactworks.crisp.options import Options

from .scene import Scene

__all__ = ["bin_of_boxes"]

_WIDTH = 0.6
_PITCH = 0.14


def bin_of_boxes(
    count: int = 50,
    *,
    timestep: float = 0.002,
    friction: float = 0.5,
    rng: np.random.Generator | int | None = 0,
    options: Options | None = None,
) -> Scene:
    """Return boxes of 0.1 m and 1 kg above a bin of 0.6 m, in layers of four by four.

    Args:
        count: number of boxes.
        timestep: [s]; replaces that of ``options``.
        friction: Coulomb coefficient of all geoms.
        rng: for the jitter of +-1 cm of the start positions.
        options: other options.

    Raises:
        ModelError: ``count`` is below 1.
    """
    if count < 1:
        raise ModelError(f"bin_of_boxes: got count {count}, expected 1 or more")
    generator = np.random.default_rng(rng)

    builder = ModelBuilder(replace(options or Options(), timestep=timestep))
    builder.world.add_geom(Plane(), friction=friction)
    for axis in range(2):
        for side in (-1.0, 1.0):
            point = np.zeros(3)
            point[axis] = 0.5 * side * _WIDTH
            builder.world.add_geom(
                Plane(),
                position=point,
                quaternion=quaternion_between_vectors([0.0, 0.0, 1.0], -side * np.eye(3)[axis]),
                friction=friction,
            )
    for i in range(count):
        layer, cell = divmod(i, 16)
        row, column = divmod(cell, 4)
        position = np.array(
            [(column - 1.5) * _PITCH, (row - 1.5) * _PITCH, 0.06 + layer * _PITCH]
        ) + generator.uniform(-0.01, 0.01, 3) * np.array([1.0, 1.0, 0.0])
        body = builder.add_body(f"box{i}", position=position, mass=1.0)
        body.add_geom(Box((0.05, 0.05, 0.05)), friction=friction)
    model = builder.build()

    def measure(scene: Scene) -> dict[str, float]:
        gaps = scene.data.contacts.gap
        return {
            "speed": float(np.abs(scene.data.qvel).max()),
            "worst_overlap": max(0.0, -float(gaps.min())) if len(gaps) else 0.0,
            "contacts": float(len(gaps)),
        }

    return Scene(model, Data(model), {"count": float(count), "friction": friction}, measure)
