"""Spheres: sliding to rolling, an inelastic hit, a bounce, a rest on a compliant contact."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from contactworks.common.errors import ModelError
from contactworks.common.geometry.shapes import Box, Plane, Sphere
from contactworks.crisp.builder import ModelBuilder
from contactworks.crisp.data import Data
from contactworks.crisp.options import Options

from .scene import Scene

__all__ = ["bouncing_sphere", "compliant_rest", "rolling_sphere", "sphere_collision"]

_RADIUS = 0.05


def rolling_sphere(speed: float = 1.0, *, friction: float = 0.3, timestep: float = 0.002) -> Scene:
    """Return a sphere that slides without spin; friction makes it roll at 5/7 of its speed."""
    builder = ModelBuilder(Options(timestep=timestep))
    builder.world.add_geom(Plane(), friction=friction)
    builder.add_body("ball", position=(0.0, 0.0, _RADIUS)).add_geom(
        Sphere(_RADIUS), friction=friction
    )
    model = builder.build()
    data = Data(model)
    data.qvel[0] = speed

    def measure(scene: Scene) -> dict[str, float]:
        twist = scene.data.body_twist[1]
        return {
            "speed_ratio": float(twist[0]) / speed,
            "slip": float(twist[0] - _RADIUS * twist[4]),
            "lift": abs(float(scene.data.body_position[1, 2]) - _RADIUS),
        }

    return Scene(model, data, {"launch_speed": speed, "friction": friction}, measure)


def sphere_collision(
    mass_a: float = 1.0, mass_b: float = 3.0, *, speed: float = 1.0, timestep: float = 0.002
) -> Scene:
    """Return two spheres in free space that meet head on, without restitution.

    Afterwards both have the common velocity m_a v / (m_a + m_b).
    """
    builder = ModelBuilder(Options(timestep=timestep, gravity=(0.0, 0.0, 0.0)))
    for name, mass, x in (("a", mass_a, 0.0), ("b", mass_b, 0.2)):
        builder.add_body(name, position=(x, 0.0, 0.0), mass=mass).add_geom(Sphere(_RADIUS))
    model = builder.build()
    data = Data(model)
    data.qvel[0] = speed
    common = mass_a * speed / (mass_a + mass_b)

    def measure(scene: Scene) -> dict[str, float]:
        velocity = scene.data.body_twist[1:, 0]
        gap = float(scene.data.body_position[2, 0] - scene.data.body_position[1, 0]) - 2 * _RADIUS
        return {"velocity_error": float(np.abs(velocity - common).max()), "gap": gap}

    return Scene(model, data, {"mass_a": mass_a, "mass_b": mass_b, "speed": speed}, measure)


def bouncing_sphere(
    restitution: float = 0.8, *, height: float = 0.5, timestep: float = 0.002
) -> Scene:
    """Return a sphere dropped from a height [m]; its first rebound reaches e^2 of it."""
    builder = ModelBuilder(Options(timestep=timestep))
    builder.world.add_geom(Plane())
    builder.add_body("ball", position=(0.0, 0.0, height + _RADIUS)).add_geom(
        Sphere(_RADIUS), restitution=restitution
    )
    model = builder.build()
    record = {"bounces": 0.0, "peak": 0.0, "falling": 1.0}

    def observe(scene: Scene) -> None:
        rising = scene.data.qvel[2] > 0.0
        if rising and record["falling"]:
            record["bounces"] += 1
        record["falling"] = float(not rising)
        if record["bounces"] == 1:
            # The vertex of the parabola through the step's end (velocity lags by half a step).
            velocity = scene.data.qvel[2] - 0.5 * 9.81 * timestep
            level = scene.data.body_position[1, 2] - _RADIUS + velocity * abs(velocity) / 19.62
            record["peak"] = max(record["peak"], float(level))

    def measure(scene: Scene) -> dict[str, float]:
        return {"rebound_ratio": record["peak"] / height, "bounces": record["bounces"]}

    return Scene(
        model,
        Data(model),
        {"restitution": restitution, "height": height},
        measure,
        observe=observe,
    )


def compliant_rest(
    shape: str = "sphere", *, stiffness: float = 1e5, mass: float = 1.0, timestep: float = 0.002
) -> Scene:
    """Return a sphere or box of 1 kg that rests on a contact of given stiffness [N/m].

    The pair's stiffness is shared over the points of the manifold, so both sink m g / k.

    Raises:
        ModelError: ``shape`` is neither ``"sphere"`` nor ``"box"``.
    """
    shapes: dict[str, Sphere | Box] = {
        "sphere": Sphere(_RADIUS),
        "box": Box((_RADIUS, _RADIUS, _RADIUS)),
    }
    if shape not in shapes:
        raise ModelError(f"compliant_rest: got shape {shape!r}, expected one of {list(shapes)}")
    builder = ModelBuilder(replace(Options(), timestep=timestep))
    builder.world.add_geom(Plane())
    body = builder.add_body(shape, position=(0.0, 0.0, _RADIUS), mass=mass)
    body.add_geom(shapes[shape], stiffness=stiffness)
    model = builder.build()

    def measure(scene: Scene) -> dict[str, float]:
        return {
            "depth": _RADIUS - float(scene.data.body_position[1, 2]),
            "speed": float(np.abs(scene.data.qvel).max()),
        }

    return Scene(model, Data(model), {"stiffness": stiffness, "mass": mass}, measure)
