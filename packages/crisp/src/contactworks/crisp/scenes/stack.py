"""Three cubes, the heaviest on top, which is dropped on the other two.

Source: CRISP section VI and Appendix D3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from contactworks.common.geometry.shapes import Box, Plane
from contactworks.common.rotations import rotate
from contactworks.crisp.builder import ModelBuilder
from contactworks.crisp.data import Data
from contactworks.crisp.options import Options

from .scene import Scene

__all__ = ["top_heavy_stack"]

_NAMES = ("bottom", "middle", "top")
_HALF = 0.05


def top_heavy_stack(
    ratio: float = 10.0,
    *,
    timestep: float = 0.001,
    friction: float = 5.0,
    drop: float = 0.05,
    options: Options | None = None,
    order: Sequence[str] = _NAMES,
    rotation: Sequence[float] | np.ndarray = (1.0, 0.0, 0.0, 0.0),
) -> Scene:
    """Return cubes of 0.1 m and mass 1/ratio, 1 and ratio kg; the top one falls by ``drop``.

    Args:
        ratio: mass of the top cube [kg]; the bottom one has its inverse.
        timestep: [s].
        friction: Coulomb coefficient of all geoms.
        drop: height [m] from which the top cube is dropped.
        options: other options; time step and gravity are those of the scene.
        order: in which the bodies are added.
        rotation: quaternion wxyz by which the whole world is turned, gravity included.

    Source: CRISP Appendix D3. The bottom interface carries 108.9 N at ratio 10.
    """
    turn = np.array(rotation, dtype=float)
    up = rotate(turn, np.array([0.0, 0.0, 1.0]))
    gx, gy, gz = (float(value) for value in -9.81 * up)
    builder = ModelBuilder(replace(options or Options(), timestep=timestep, gravity=(gx, gy, gz)))
    builder.world.add_geom(Plane(), quaternion=turn, friction=friction)
    rest = dict(zip(_NAMES, (_HALF, 3 * _HALF, 5 * _HALF), strict=True))
    masses = dict(zip(_NAMES, (1.0 / ratio, 1.0, ratio), strict=True))
    for name in order:
        body = builder.add_body(
            name,
            position=(rest[name] + (drop if name == "top" else 0.0)) * up,
            quaternion=turn,
            mass=masses[name],
            inertia=np.full(3, masses[name] * 1e-3),
        )
        body.add_geom(Box((_HALF, _HALF, _HALF)), friction=friction)
    model = builder.build()

    def measure(scene: Scene) -> dict[str, float]:
        found = {name: float(scene.data.body_position[model.body_id(name)] @ up) for name in _NAMES}
        return {
            **{f"{name}_height": height for name, height in found.items()},
            "height_error": max(abs(found[name] - rest[name]) for name in _NAMES),
            "speed": float(np.abs(scene.data.qvel).max()),
        }

    return Scene(model, Data(model), {"ratio": ratio, "friction": friction, "drop": drop}, measure)
