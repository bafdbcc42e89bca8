"""Rebounds: height e^2 h for any step, tilt and offset, and no energy from nowhere."""

from __future__ import annotations

import math

import numpy as np
import pytest

from contactworks import crisp
from contactworks.common.rotations import quaternion_exp, random_quaternion, rotate
from contactworks.crisp import scenes

from ..oracles import energy, moment  # noqa: TID252


def true_energy(model, data):
    """Energy of the parabola through the end of a step: its velocity is v + g dt / 2.

    Semi-implicit Euler's own velocity lags by half a step, which would look like a gain at every
    turn from falling to rising.
    """
    state = moment(model, data.qpos, data.qvel)
    state.velocity[1:, :3] += 0.5 * model.options.timestep * np.array(model.options.gravity)
    return energy(model, state)


@pytest.mark.parametrize("timestep", [0.01, 0.002, 0.0005])
@pytest.mark.parametrize("coefficient", [0.0, 0.2, 0.5, 0.8, 1.0])
def test_rebound_height(coefficient, timestep):
    """A ball dropped from 0.5 m returns to e^2 of it, whatever the time step.

    The drop is one of the scheme's own parabola: released at rest, its vertex is g dt^2 / 8 higher.
    """
    scene = scenes.bouncing_sphere(coefficient, timestep=timestep)
    scene.run(0.32 + 0.4 * coefficient)
    exact = coefficient**2 * (1.0 + 9.81 * timestep**2 / 8.0 / 0.5)
    assert scene.metrics()["rebound_ratio"] == pytest.approx(exact, rel=1e-9, abs=1e-8)


def test_many_bounces_without_loss():
    """With e = 1 the height returns after every one of some thirty bounces."""
    builder = crisp.ModelBuilder(crisp.Options(timestep=0.002))
    builder.world.add_geom(crisp.Plane(), restitution=1.0)
    builder.add_body("ball", position=(0, 0, 0.25)).add_geom(crisp.Sphere(0.05))
    model = builder.build()
    data = crisp.Data(model)
    start = true_energy(model, data)
    bounces, falling = 0, True
    for _ in range(5000):
        crisp.step(model, data)
        bounces += int(falling and data.qvel[2] > 0.0)
        falling = data.qvel[2] <= 0.0
        assert true_energy(model, data) == pytest.approx(start, rel=1e-9)
    assert bounces >= 20


@pytest.mark.parametrize("coefficient", [0.3, 0.8])
def test_an_oblique_bounce_without_friction(coefficient):
    """On a slope: the normal speed turns by -e, the tangential one stays."""
    turn = quaternion_exp([0.4, 0.0, 0.0])
    normal = rotate(turn, np.array([0.0, 0.0, 1.0]))
    builder = crisp.ModelBuilder(crisp.Options(gravity=(0, 0, 0), timestep=0.001))
    builder.world.add_geom(crisp.Plane(), quaternion=turn, friction=0.0, restitution=coefficient)
    builder.add_body("ball", position=0.3 * normal).add_geom(crisp.Sphere(0.1), friction=0.0)
    model = builder.build()
    data = crisp.Data(model)
    before = np.array([0.5, 0.3, -2.0])
    data.qvel[:3] = before
    crisp.step(model, data, 300)
    speed = before @ normal
    np.testing.assert_allclose(
        data.qvel[:3], before - (1.0 + coefficient) * speed * normal, atol=1e-9
    )
    np.testing.assert_allclose(data.qvel[3:], 0.0, atol=1e-9)


@pytest.mark.parametrize("coefficient", [0.0, 0.5, 1.0])
def test_two_balls_in_free_space(coefficient):
    """Newton's law: the velocities part at e times their approach, momentum is kept."""
    builder = crisp.ModelBuilder(crisp.Options(gravity=(0, 0, 0), timestep=0.001))
    for name, mass, x in (("a", 1.0, 0.0), ("b", 3.0, 0.25)):
        builder.add_body(name, position=(x, 0, 0), mass=mass).add_geom(
            crisp.Sphere(0.1), restitution=coefficient
        )
    model = builder.build()
    data = crisp.Data(model)
    data.qvel[0] = 2.0
    crisp.step(model, data, 100)
    one, two = data.qvel[0], data.qvel[6]
    assert two - one == pytest.approx(2.0 * coefficient, abs=1e-9)
    assert one + 3.0 * two == pytest.approx(2.0, abs=1e-9)


def drop(seed, coefficient, friction, timestep=0.002):
    """Drop a cube on a corner; return start energy, largest gain of a step, largest excess."""
    rng = np.random.default_rng(seed)
    builder = crisp.ModelBuilder(crisp.Options(timestep=timestep))
    builder.world.add_geom(crisp.Plane(), friction=friction)
    builder.add_body("cube", position=(0, 0, 0.3), quaternion=random_quaternion(rng=rng)).add_geom(
        crisp.Box((0.05, 0.05, 0.05)), restitution=coefficient, friction=friction
    )
    model = builder.build()
    data = crisp.Data(model)
    before = start = true_energy(model, data)
    gain = excess = 0.0
    for _ in range(round(1.5 / timestep)):
        crisp.step(model, data)
        after = true_energy(model, data)
        gain, excess = max(gain, after - before), max(excess, after - start)
        before = after
    return start, gain, excess


@pytest.mark.parametrize("coefficient", [0.3, 0.8, 1.0])
def test_a_corner_drop_without_friction_gains_nothing(coefficient):
    for seed in range(10):
        start, gain, excess = drop(seed, coefficient, 0.0)
        assert gain < 1e-5 * start
        assert excess < 1e-9 * start


@pytest.mark.parametrize("friction", [0.2, 0.5, 1.0])
def test_a_corner_drop_with_friction_gains_nothing(friction):
    """With the small restitution of real cubes."""
    for seed in range(10):
        start, gain, excess = drop(seed, 0.3, friction)
        assert gain < 1e-5 * start
        assert excess < 1e-9 * start


@pytest.mark.xfail(
    strict=True,
    reason="Newton's law of restitution with friction can gain energy (Kane's paradox): up to a "
    "quarter of the drop in one impact at e = 1",
)
@pytest.mark.parametrize("coefficient", [0.8, 1.0])
def test_a_bouncy_corner_drop_with_friction_gains_nothing(coefficient):
    for seed in range(10):
        start, gain, _ = drop(seed, coefficient, 0.5)
        assert gain < 1e-3 * start


def test_slow_contacts_do_not_rebound():
    """Below two steps of gravity there is no impact: a ball comes to rest, and stays."""
    builder = crisp.ModelBuilder()
    builder.world.add_geom(crisp.Plane(), restitution=0.8)
    builder.add_body("ball", position=(0, 0, 0.07)).add_geom(crisp.Sphere(0.05))
    model = builder.build()
    data = crisp.Data(model)
    crisp.step(model, data, 2000)
    assert data.qpos[2] == pytest.approx(0.05, abs=1e-8)
    assert np.abs(data.qvel).max() < 1e-9


def test_a_pair_takes_the_larger_coefficient():
    heights = []
    for ball, floor in ((0.7, 0.0), (0.0, 0.7), (0.7, 0.3)):
        builder = crisp.ModelBuilder()
        builder.world.add_geom(crisp.Plane(), restitution=floor)
        builder.add_body("ball", position=(0, 0, 0.55)).add_geom(
            crisp.Sphere(0.05), restitution=ball
        )
        model = builder.build()
        data = crisp.Data(model)
        peak = 0.0
        for _ in range(330):
            crisp.step(model, data)
            if data.time > math.sqrt(2 * 0.5 / 9.81) + 0.004:
                peak = max(peak, data.qpos[2] - 0.05)
        heights.append(peak)
    np.testing.assert_allclose(heights, 0.49 * 0.5, atol=1e-4)
