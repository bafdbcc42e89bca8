"""The margin grows with speed: fast bodies do not pass through floors, sheets and one another."""

from __future__ import annotations

import numpy as np
import pytest

from contactworks import crisp
from contactworks.common.rotations import quaternion_exp, random_quaternion

from ..drivers import at  # noqa: TID252
from ..oracles import core_distance  # noqa: TID252

SHAPES = {
    "sphere": crisp.Sphere(0.02),
    "capsule": crisp.Capsule(0.01, 0.03),
    "box": crisp.Box((0.02, 0.03, 0.02)),
    "cylinder": crisp.Cylinder(0.02, 0.03),
}


def lowest_run(shape, target, seed, spin):
    """Shoot a body at 50 m/s with 10 ms steps; return its lowest height and the last."""
    rng = np.random.default_rng(seed)
    turn = random_quaternion(rng=rng)
    if isinstance(shape, crisp.Capsule):  # lands flat, to 3 degrees
        turn = quaternion_exp([0.5 * np.pi + rng.uniform(-0.05, 0.05), 0.0, 0.0])
    builder = crisp.ModelBuilder(crisp.Options(timestep=0.01, gravity=(0, 0, 0)))
    if target == "plane":
        builder.world.add_geom(crisp.Plane())
    else:
        builder.world.add_geom(crisp.Box((1.0, 1.0, 0.005)), position=(0, 0, -0.005))
    body = builder.add_body("bullet", position=(0, 0, rng.uniform(0.3, 1.0)), quaternion=turn)
    body.add_geom(shape)
    model = builder.build()
    data = crisp.Data(model)
    data.qvel[:3] = [*rng.uniform(-5.0, 5.0, 2), -50.0]
    data.qvel[3:] = rng.uniform(-spin, spin, 3)
    lowest = np.inf
    for _ in range(200):
        crisp.step(model, data)
        lowest = min(lowest, data.qpos[2])
    return lowest, data.qpos[2]


@pytest.mark.parametrize(
    ("name", "target"),
    [(name, "plane") for name in SHAPES]
    + [(name, "sheet") for name in SHAPES if name != "cylinder"],  # no cylinder on boxes yet
)
def test_a_bullet_does_not_tunnel(name, target):
    """Half a metre a step against a sheet of 1 cm.

    Not shown: a long thin body that hits with one end. It spins on by several radians a step,
    which no linearised contact follows, and works its way in.
    """
    for seed in range(25):
        lowest, last = lowest_run(SHAPES[name], target, seed, spin=0.0)
        inside = 0.01 if name == "capsule" else 0.02
        assert lowest > inside - 5e-4
        assert last > inside - 1e-6


def test_a_spinning_ball_is_met_as_early():
    for target in ("plane", "sheet"):
        for seed in range(10):
            assert lowest_run(SHAPES["sphere"], target, seed, spin=100.0)[0] > 0.02 - 1e-6


def test_two_bullets_meet():
    """Head on at 50 m/s each: the closing speed counts, not that of one body."""
    for first, second in (("sphere", "sphere"), ("sphere", "box"), ("box", "box")):
        builder = crisp.ModelBuilder(crisp.Options(timestep=0.01, gravity=(0, 0, 0)))
        for name, x, shape in (("a", -0.8, first), ("b", 0.7, second)):
            builder.add_body(name, position=(x, 0, 0), mass=1.0).add_geom(SHAPES[shape])
        model = builder.build()
        data = crisp.Data(model)
        data.qvel[0], data.qvel[6] = 50.0, -50.0
        crisp.step(model, data, 20)
        # Without restitution both stop where they meet.
        np.testing.assert_allclose(data.qvel, 0.0, atol=1e-9)
        gap, _, _ = data.nearest("a", "b", 1.0)
        assert gap == pytest.approx(0.0, abs=2e-8)


@pytest.mark.parametrize("speed", [0.1, 1.0, 10.0])
def test_a_landing_ends_on_the_surface(speed):
    """No landing penetration: the step that would pass the floor ends on it."""
    builder = crisp.ModelBuilder(crisp.Options(timestep=0.01))
    builder.world.add_geom(crisp.Plane())
    builder.add_body("foot", position=(0, 0, 0.333)).add_geom(crisp.Sphere(0.05))
    model = builder.build()
    data = crisp.Data(model)
    data.qvel[2] = -speed
    for _ in range(60):
        crisp.step(model, data)
        assert data.qpos[2] >= 0.05 - 2e-9
    assert data.qpos[2] == pytest.approx(0.05, abs=2e-9)


def test_a_near_miss_is_not_stopped():
    """A ball that passes a box at a distance keeps its course."""
    builder = crisp.ModelBuilder(crisp.Options(timestep=0.001, gravity=(0, 0, 0)))
    builder.world.add_geom(crisp.Box((0.1, 0.1, 0.1)))
    builder.add_body("ball", position=(-0.5, 0, 0.16)).add_geom(crisp.Sphere(0.05))
    model = builder.build()
    data = crisp.Data(model)
    data.qvel[0] = 2.0
    crisp.step(model, data, 500)
    np.testing.assert_array_equal(data.qvel, [2.0, 0, 0, 0, 0, 0])


def test_tilted_boxes_do_not_sink_in():
    """One step of two boxes, tilted by 0 to 0.1 rad: no pair is deeper than 0.1 mm after it.

    A single edge point for nearly parallel faces let the far side sink by 4 mm.
    """
    for seed in range(60):
        rng = np.random.default_rng(seed)
        builder = crisp.ModelBuilder(crisp.Options(timestep=0.002))
        builder.world.add_geom(crisp.Box((0.1, 0.1, 0.05)), position=(0, 0, -0.05))
        tilt = rng.uniform(-1.0, 1.0, 3) * 10.0 ** rng.uniform(-6.0, -1.0)
        box = crisp.Box((0.05, 0.05, 0.05))
        turn = quaternion_exp(tilt)
        low = float(at(box, (0, 0, 0), turn).support(np.array([[0.0, 0.0, -1.0]]))[0, 2])
        builder.add_body("box", position=(0, 0, 1e-4 - low), quaternion=turn).add_geom(box)
        model = builder.build()
        data = crisp.Data(model)
        data.qvel[2] = -1.0
        for _ in range(30):
            crisp.step(model, data)
            assert data.contacts.gap.min(initial=1.0) > -1e-4
        assert np.all(np.isfinite(data.qpos))
    slab = at(crisp.Box((0.1, 0.1, 0.05)), (0, 0, -0.05))
    assert core_distance(slab, at(box, data.qpos[:3], data.qpos[3:])) < 1e-2
