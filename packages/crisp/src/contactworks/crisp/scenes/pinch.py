"""A capsule pinched between two boxes: friction alone must hold it."""

from __future__ import annotations

import numpy as np

from contactworks.common.geometry.shapes import Box, Capsule, Plane
from contactworks.common.rotations import quaternion_exp
from contactworks.crisp.builder import ModelBuilder
from contactworks.crisp.data import Data
from contactworks.crisp.options import Options

from .scene import Scene

__all__ = ["pinched_capsule"]

_RADIUS = 0.004
_HALF_LENGTH = 0.02
_HALF = 0.05


def pinched_capsule(
    force: float = 20.0, *, friction: float = 0.7, timestep: float = 0.002
) -> Scene:
    """Return a 45 g capsule with horizontal axis between two 1 kg boxes on a slippery floor.

    Each box is pushed towards the capsule by ``force`` [N]. The friction that holds the capsule's
    weight is 20 times smaller than what Coulomb's law admits, so it must not move at all.
    """
    builder = ModelBuilder(Options(timestep=timestep))
    builder.world.add_geom(Plane(), friction=0.0)
    for name, side in (("left", -1.0), ("right", 1.0)):
        box = builder.add_body(name, position=(side * (_HALF + _RADIUS), 0.0, _HALF), mass=1.0)
        box.add_geom(Box((_HALF, _HALF, _HALF)), friction=friction)
    capsule = builder.add_body(
        "capsule",
        position=(0.0, 0.0, _HALF),
        quaternion=quaternion_exp([0.5 * np.pi, 0.0, 0.0]),  # axis along y
        mass=0.045,
    )
    capsule.add_geom(Capsule(_RADIUS, _HALF_LENGTH), friction=friction)
    model = builder.build()
    data = Data(model)
    data.body_wrench[model.body_id("left"), 0] = force
    data.body_wrench[model.body_id("right"), 0] = -force
    index = model.body_id("capsule")
    start = float(data.body_position[index, 2])
    record = {"speed": 0.0}

    def observe(scene: Scene) -> None:
        if scene.data.time > 0.1:
            speed = float(np.abs(scene.data.body_twist[index]).max())
            record["speed"] = max(record["speed"], speed)

    def measure(scene: Scene) -> dict[str, float]:
        return {
            "sink": start - float(scene.data.body_position[index, 2]),
            "largest_speed": record["speed"],
        }

    return Scene(model, data, {"force": force, "friction": friction}, measure, observe=observe)
