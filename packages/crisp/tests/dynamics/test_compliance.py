"""Compliant contact: the depth at rest, and the motion against the ODE of spring and damper."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from contactworks import crisp
from contactworks.common.rotations import quaternion_exp
from contactworks.crisp import scenes

SIDEWAYS = quaternion_exp([0.0, 0.5 * math.pi, 0.0])


@pytest.mark.parametrize("timestep", [0.01, 0.002, 0.0005])
@pytest.mark.parametrize("shape", ["sphere", "box"])
@pytest.mark.parametrize(("stiffness", "mass"), [(1e5, 1.0), (1e3, 0.5), (1e8, 20.0)])
def test_depth_at_rest(shape, stiffness, mass, timestep):
    scene = scenes.compliant_rest(shape, stiffness=stiffness, mass=mass, timestep=timestep)
    scene.run(3.0)
    found = scene.metrics()
    assert found["depth"] == pytest.approx(9.81 * mass / stiffness, rel=1e-6)
    assert found["speed"] < 1e-9


@pytest.mark.parametrize(
    ("shape", "height", "turn"),
    [
        (crisp.Capsule(0.05, 0.1), 0.05, SIDEWAYS),
        (crisp.Cylinder(0.05, 0.1), 0.1, (1, 0, 0, 0)),
        (crisp.Cylinder(0.05, 0.1), 0.05, SIDEWAYS),
        (crisp.Box((0.05, 0.06, 0.07)), 0.05, SIDEWAYS),
    ],
    ids=["capsule lying", "cylinder standing", "cylinder lying", "box lying"],
)
def test_stiffness_belongs_to_the_pair(shape, height, turn):
    """Whatever the number of points it is shared over: m g / k deep to one per cent."""
    builder = crisp.ModelBuilder()
    builder.world.add_geom(crisp.Plane())
    builder.add_body("thing", position=(0, 0, height), quaternion=turn, mass=1.0).add_geom(
        shape, stiffness=1e5
    )
    model = builder.build()
    data = crisp.Data(model)
    crisp.step(model, data, 1500)
    assert height - data.qpos[2] == pytest.approx(9.81 / 1e5, rel=0.01)
    assert np.abs(data.qvel).max() < 1e-6


def test_a_box_on_a_box():
    """The manifold of two boxes shares the pair's stiffness as the corners on a plane do."""
    builder = crisp.ModelBuilder()
    builder.world.add_geom(crisp.Box((0.3, 0.3, 0.05)), position=(0, 0, -0.05))
    builder.add_body("box", position=(0, 0, 0.05), mass=1.0).add_geom(
        crisp.Box((0.05, 0.05, 0.05)), stiffness=1e5
    )
    model = builder.build()
    data = crisp.Data(model)
    crisp.step(model, data, 1500)
    assert 0.05 - data.qpos[2] == pytest.approx(9.81 / 1e5, rel=1e-6)


def test_springs_in_series():
    """Two geoms of 1e5 and 3e5 N/m are one spring of 0.75e5 N/m."""
    builder = crisp.ModelBuilder()
    builder.world.add_geom(crisp.Plane(), stiffness=1e5)
    builder.add_body("ball", position=(0, 0, 0.05), mass=1.0).add_geom(
        crisp.Sphere(0.05), stiffness=3e5
    )
    model = builder.build()
    data = crisp.Data(model)
    crisp.step(model, data, 1500)
    assert 0.05 - data.qpos[2] == pytest.approx(9.81 / 0.75e5, rel=1e-6)


def ball_on_spring(timestep, duration, restitution, stiffness=2e3, mass=1.0, speed=-0.5):
    builder = crisp.ModelBuilder(crisp.Options(timestep=timestep))
    builder.world.add_geom(crisp.Plane())
    builder.add_body("ball", position=(0, 0, 0.05), mass=mass).add_geom(
        crisp.Sphere(0.05), stiffness=stiffness, restitution=restitution
    )
    model = builder.build()
    data = crisp.Data(model)
    data.qvel[2] = speed
    heights = []
    for _ in range(round(duration / timestep)):
        crisp.step(model, data)
        heights.append(data.qpos[2] - 0.05)
    return np.array(heights), data.qvel[2]


def exact_motion(duration, restitution, stiffness=2e3, mass=1.0, speed=-0.5):
    """Spring and damper that push but never pull; the damper acts on overlap alone."""
    ratio = 1.0
    if restitution > 0.0:
        decrement = -math.log(restitution)
        ratio = decrement / math.hypot(math.pi, decrement)
    damping = 2.0 * ratio * math.sqrt(stiffness * mass)

    def motion(_, state):
        height, velocity = state
        force = max(0.0, -stiffness * height - damping * velocity) if height <= 0.0 else 0.0
        return [velocity, force / mass - 9.81]

    return solve_ivp(
        motion,
        (0.0, duration),
        [0.0, speed],
        rtol=1e-10,
        atol=1e-12,
        max_step=1e-4,
        dense_output=True,
    )


@pytest.mark.parametrize("restitution", [0.0, 0.3, 0.7])
def test_the_motion_converges_to_the_ode(restitution):
    """Indentation and way back of a ball on a spring-damper: first order in the time step."""
    duration = 0.05
    exact = exact_motion(duration, restitution)
    errors = []
    for timestep in (1e-3, 5e-4, 2.5e-4):
        heights, _ = ball_on_spring(timestep, duration, restitution)
        times = timestep * np.arange(1, len(heights) + 1)
        errors.append(float(np.abs(heights - exact.sol(times)[0]).max()))
    depth = -exact.sol(np.linspace(0.0, duration, 500))[0].min()
    assert errors[-1] < 0.05 * depth
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.all(orders > 0.75)
    assert np.all(orders < 1.5)


def test_restitution_of_a_soft_contact():
    """A ball leaves a spring-damper with the speed that the ODE says, in the limit of small steps.

    That is more than e, since the damper cannot pull: e is what the full half swing would leave.
    """
    for restitution in (0.3, 0.6, 0.9):
        exact = exact_motion(0.02, restitution, stiffness=1e6).y[1, -1]
        errors = []
        for timestep in (2e-5, 1e-5):
            _, found = ball_on_spring(timestep, 0.02, restitution, stiffness=1e6)
            errors.append(abs(found - exact))
        assert errors[1] < 0.6 * errors[0]
        assert errors[1] < 0.01
        assert found > restitution * 0.5 - 0.2


def test_stiff_springs_approach_the_rigid_limit():
    """No hidden softening: the depth at rest falls with the stiffness, down to a rigid contact."""
    depths = []
    for stiffness in (1e6, 1e8, 1e10, math.inf):
        scene = scenes.compliant_rest("box", stiffness=stiffness)
        scene.run(1.0)
        depths.append(scene.metrics()["depth"])
    np.testing.assert_allclose(depths[:3], 9.81 / np.array([1e6, 1e8, 1e10]), rtol=1e-3, atol=2e-9)
    assert abs(depths[3]) < 3e-9


def test_a_soft_contact_gains_no_energy():
    """Without restitution the damping is critical: the ball sinks in and comes to rest, no hop."""
    for timestep in (0.01, 0.002):
        heights, speed = ball_on_spring(timestep, 1.0, 0.0)
        assert heights.max() <= 1e-9
        assert abs(speed) < 1e-6
