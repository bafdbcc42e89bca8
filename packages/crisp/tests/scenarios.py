"""Small models that several tests use."""

from __future__ import annotations

import numpy as np

from contactworks import crisp
from contactworks.common.rotations import quaternion_exp, random_quaternion


def ball_and_box(**options) -> crisp.Model:
    """A ball and a box that fall on a floor; the box's origin is off its centre of mass."""
    builder = crisp.ModelBuilder(crisp.Options(**options))
    builder.world.add_geom(crisp.Plane(), friction=0.7)
    builder.add_body("ball", position=(0.0, 0.0, 0.12)).add_geom(crisp.Sphere(0.05))
    builder.add_body(
        "box", position=(0.3, 0.0, 0.2), quaternion=quaternion_exp([0.3, 0.2, 0.1])
    ).add_geom(crisp.Box((0.05, 0.08, 0.03)), position=(0.02, 0.01, 0.0))
    return builder.build()


def tower(count: int, **options) -> crisp.Model:
    """Cubes of 0.1 m, one on another on a floor."""
    builder = crisp.ModelBuilder(crisp.Options(**options))
    builder.world.add_geom(crisp.Plane())
    for i in range(count):
        builder.add_body(f"box{i}", position=(0.0, 0.0, 0.05 + 0.1 * i)).add_geom(
            crisp.Box((0.05, 0.05, 0.05))
        )
    return builder.build()


def crowd(count: int, **options) -> crisp.Model:
    """Balls, most of which overlap one another: as many contacts as pairs."""
    builder = crisp.ModelBuilder(crisp.Options(**options))
    builder.world.add_geom(crisp.Plane())
    generator = np.random.default_rng(0)
    for i in range(count):
        place = generator.uniform(-0.02, 0.02, 3) + [0.0, 0.0, 0.05]
        builder.add_body(f"ball{i}", position=place).add_geom(crisp.Sphere(0.03))
    return builder.build()


def heap(seed: int, count: int = 6, **options) -> crisp.Model:
    """Bodies of random shapes, some of two geoms, that fall on a floor and a tilted slab."""
    rng = np.random.default_rng(seed)
    builder = crisp.ModelBuilder(crisp.Options(**options))
    builder.world.add_geom(crisp.Plane(), friction=0.7)
    builder.world.add_geom(
        crisp.Box((0.3, 0.3, 0.05)),
        position=(0.0, 0.0, 0.05),
        quaternion=quaternion_exp([0.2, 0.1, 0.0]),
        friction=0.3,
    )
    for i in range(count):
        body = builder.add_body(
            f"body{i}",
            position=(*rng.uniform(-0.15, 0.15, 2), 0.25 + 0.12 * i),
            quaternion=random_quaternion(rng=rng),
        )
        size = rng.uniform(0.02, 0.06, 3)
        kind = int(rng.integers(4))
        friction = rng.uniform(0.0, 1.5)
        offset = rng.uniform(-0.02, 0.02, 3)
        if kind == 3:
            body.add_geom(crisp.Box(size), friction=friction)
            body.add_geom(crisp.Sphere(size[1]), position=2.0 * offset, density=5000.0)
        else:
            shape = (crisp.Sphere(size[0]), crisp.Capsule(size[0], size[1]), crisp.Box(size))[kind]
            body.add_geom(shape, friction=friction, position=offset)
    return builder.build()


def state_of(data: crisp.Data) -> bytes:
    """Return all of the state and the outputs, to compare bitwise."""
    contacts = data.contacts
    arrays = (
        data.qpos,
        data.qvel,
        data.body_position,
        data.body_quaternion,
        data.body_twist,
        data.body_wrench,
        contacts.geom,
        contacts.position,
        contacts.normal,
        contacts.gap,
        contacts.impulse,
        np.array([data.time]),
    )
    return b"".join(array.tobytes() for array in arrays)
