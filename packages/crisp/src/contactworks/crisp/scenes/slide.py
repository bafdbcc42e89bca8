"""A block on a slope, and a cube launched over a floor: does friction do what Coulomb says?

Source: CRISP section VI and Appendix D4.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from contactworks.common.geometry.shapes import Box, Plane
from contactworks.common.rotations import quaternion_exp, quaternion_multiply, rotate
from contactworks.crisp.builder import ModelBuilder
from contactworks.crisp.data import Data
from contactworks.crisp.options import Options

from .scene import Scene

__all__ = ["launched_cube", "oblique_slide"]

_HALF = 0.05
_SLOPE = math.radians(30.0)


def oblique_slide(
    friction_angle: float = 25.0,
    *,
    timestep: float = 0.01,
    drop: float = 0.1,
    options: Options | None = None,
    rotation: Sequence[float] | np.ndarray = (1.0, 0.0, 0.0, 0.0),
) -> Scene:
    """Return a cube of 0.1 m and 1 kg that drops on a slope of 30 degrees.

    With the friction angle of the slope, 30 degrees, the impact's friction just arrests it; with
    25 degrees it slides on with a = g (sin 30 - tan 25 cos 30) = 0.9434 m/s^2.

    Args:
        friction_angle: the friction coefficient is its tangent [degrees].
        timestep: [s].
        drop: distance [m] of the bottom face from the slope at the start.
        options: other options; time step and gravity are those of the scene.
        rotation: quaternion wxyz by which the whole world is turned, gravity included.

    Source: CRISP Appendix D4.
    """
    world = np.array(rotation, dtype=float)
    turn = quaternion_multiply(world, quaternion_exp([_SLOPE, 0.0, 0.0]))
    normal = rotate(turn, np.array([0.0, 0.0, 1.0]))
    downhill = rotate(turn, np.array([0.0, -1.0, 0.0]))
    gx, gy, gz = (float(g) for g in rotate(world, np.array([0.0, 0.0, -9.81])))
    builder = ModelBuilder(replace(options or Options(), timestep=timestep, gravity=(gx, gy, gz)))
    friction = math.tan(math.radians(friction_angle))
    builder.world.add_geom(Plane(), quaternion=turn, friction=friction)
    block = builder.add_body(
        "block",
        position=(_HALF + drop) * normal - 2.0 * downhill,
        quaternion=turn,
        mass=1.0,
        inertia=np.full(3, 1e-3),
    )
    block.add_geom(Box((_HALF, _HALF, _HALF)), friction=friction)
    model = builder.build()
    record: dict[str, float] = {"lift": 0.0}
    history: list[tuple[float, float]] = []

    def observe(scene: Scene) -> None:
        position = scene.data.body_position[1]
        height = float(position @ normal) - _HALF
        if history or scene.data.contacts.is_active.any():
            history.append((scene.data.time, float(scene.data.body_twist[1, :3] @ downhill)))
            # The landing step may end above the slope; lift counts once the block is down.
            if len(history) > 2:
                record["lift"] = max(record["lift"], height)

    def measure(scene: Scene) -> dict[str, float]:
        speed = float(np.linalg.norm(scene.data.body_twist[1]))
        result = {"speed": speed, "lift": record["lift"], "acceleration": math.nan}
        tail = history[2:]
        if len(tail) > 2:
            (t0, v0), (t1, v1) = tail[0], tail[-1]
            result["acceleration"] = (v1 - v0) / (t1 - t0)
        return result

    return Scene(
        model,
        Data(model),
        {"friction": friction, "slope": _SLOPE, "drop": drop},
        measure,
        observe=observe,
    )


def launched_cube(
    speed: float = 6.0,
    *,
    friction: float = 0.5,
    timestep: float = 0.002,
    options: Options | None = None,
) -> Scene:
    """Return a cube of 0.1 m that rests on the floor and is launched along it.

    It stops after v^2 / (2 mu g) = 3.6697 m and never lifts.
    """
    builder = ModelBuilder(replace(options or Options(), timestep=timestep))
    builder.world.add_geom(Plane(), friction=friction)
    cube = builder.add_body("cube", position=(0.0, 0.0, _HALF))
    cube.add_geom(Box((_HALF, _HALF, _HALF)), friction=friction)
    model = builder.build()
    data = Data(model)
    data.qvel[0] = speed
    record = {"lift": 0.0}

    def observe(scene: Scene) -> None:
        lowest = float(scene.data.body_position[1, 2]) - _HALF
        record["lift"] = max(record["lift"], abs(lowest))

    def measure(scene: Scene) -> dict[str, float]:
        return {
            "distance": float(scene.data.body_position[1, 0]),
            "speed": float(np.linalg.norm(scene.data.body_twist[1])),
            "lift": record["lift"],
        }

    return Scene(
        model, data, {"friction": friction, "launch_speed": speed}, measure, observe=observe
    )
