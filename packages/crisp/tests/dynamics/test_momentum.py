"""Conservation: linear and angular momentum through collisions, and a free spin."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from contactworks import crisp
from contactworks.common.rotations import random_quaternion

from ..oracles import moment, momentum  # noqa: TID252

WEIGHTLESS = (0.0, 0.0, 0.0)


def random_cloud(seed, count=6):
    """Bodies of random shapes, offset and spinning, that fly at one another in free space."""
    rng = np.random.default_rng(seed)
    builder = crisp.ModelBuilder(crisp.Options(gravity=WEIGHTLESS, timestep=0.001))
    places = rng.standard_normal((count, 3))
    places *= 0.25 / np.linalg.norm(places, axis=1, keepdims=True)
    for i in range(count):
        body = builder.add_body(f"{i}", position=places[i], quaternion=random_quaternion(rng=rng))
        size = rng.uniform(0.03, 0.08, 3)
        shape = (crisp.Sphere(size[0]), crisp.Capsule(size[0], size[1]), crisp.Box(size))[i % 3]
        body.add_geom(
            shape,
            position=rng.uniform(-0.03, 0.03, 3),
            density=10.0 ** rng.uniform(2.0, 4.0),
            friction=rng.uniform(0.0, 1.0),
            restitution=rng.uniform(0.0, 1.0) if seed % 2 else 0.0,
        )
    model = builder.build()
    data = crisp.Data(model)
    for i in range(count):
        data.qvel[6 * i : 6 * i + 3] = -3.0 * places[i] + rng.uniform(-0.1, 0.1, 3)
        data.qvel[6 * i + 3 : 6 * i + 6] = rng.uniform(-2.0, 2.0, 3)
    return model, data


@pytest.mark.parametrize("seed", range(10))
def test_momentum_through_collisions_in_free_space(seed):
    """Linear and angular, off-centre hits of several bodies at once, with friction and rebounds."""
    model, data = random_cloud(seed)
    crisp.step(model, data)
    linear, angular = momentum(moment(model, data.qpos, data.qvel))
    touched = 0
    for _ in range(60):
        crisp.step(model, data, 5)
        touched += int(data.contacts.is_active.sum())
        now = momentum(moment(model, data.qpos, data.qvel))
        scale = float(model.body_mass.sum())
        np.testing.assert_allclose(now[0], linear, atol=1e-12 * scale)
        np.testing.assert_allclose(now[1], angular, atol=1e-12 * scale)
    assert touched > 0


def test_action_is_reaction():
    """Each body's momentum changes by the impulses on it: + on the second geom, - on the first."""
    seen = 0
    for seed in range(8):
        model, data = random_cloud(seed)
        for _ in range(200):
            before = moment(model, data.qpos, data.qvel)
            crisp.step(model, data)
            contacts = data.contacts
            if not contacts.is_active.any():
                continue
            after = moment(model, data.qpos, data.qvel)
            gained = before.mass[:, None] * (after.velocity[:, :3] - before.velocity[:, :3])
            bodies = model.geoms["body"][contacts.geom]
            received = np.zeros((model.body_count, 3))
            np.add.at(received, bodies[:, 1], contacts.impulse)
            np.subtract.at(received, bodies[:, 0], contacts.impulse)
            np.testing.assert_allclose(gained[1:], received[1:], atol=1e-11)
            seen += 1
    assert seen > 20


@pytest.mark.parametrize("inertia", [(0.01, 0.02, 0.025), (0.02, 0.02, 0.03), (0.01, 0.01, 0.01)])
def test_a_free_spin_conserves_angular_momentum(inertia):
    """About the unstable middle axis too, over 10,000 steps."""
    builder = crisp.ModelBuilder(crisp.Options(gravity=WEIGHTLESS))
    builder.add_body("top", mass=1.0, inertia=inertia, center_of_mass=(0.1, -0.2, 0.3))
    model = builder.build()
    data = crisp.Data(model)
    data.qvel[3:] = [0.1, 3.0, 0.2]

    def angular():
        state = moment(model, data.qpos, data.qvel)
        return state.inertia[1] @ state.velocity[1, 3:]

    crisp.step(model, data)
    start = angular()
    for _ in range(100):
        crisp.step(model, data, 100)
        np.testing.assert_allclose(angular(), start, atol=1e-10 * np.linalg.norm(start))


def test_the_energy_of_a_free_spin_does_not_drift():
    """Bounded by second order in dt over many tumbles about the unstable axis, at any spin."""
    worst = []
    for timestep in (2e-3, 1e-3):
        builder = crisp.ModelBuilder(crisp.Options(gravity=WEIGHTLESS, timestep=timestep))
        builder.add_body("top", mass=1.0, inertia=(0.01, 0.02, 0.025))
        model = builder.build()
        data = crisp.Data(model)
        data.qvel[3:] = [0.3, 20.0, 0.5]
        start = 0.5 * float(data.qvel[3:] ** 2 @ [0.01, 0.02, 0.025])
        change = 0.0
        for _ in range(round(5.0 / timestep)):
            crisp.step(model, data)
            now = 0.5 * float(data.qvel[3:] ** 2 @ [0.01, 0.02, 0.025])
            change = max(change, abs(now / start - 1.0))
        worst.append(change)
    assert worst[0] < 1e-3
    assert math.log2(worst[0] / worst[1]) == pytest.approx(2.0, abs=0.2)


def test_a_free_spin_follows_eulers_equations():
    """Against SciPy's integration of I w' = (I w) x w in the body frame, second order in dt."""
    inertia = np.array([0.01, 0.02, 0.025])

    def euler(_, w):
        return np.cross(inertia * w, w) / inertia

    exact = solve_ivp(euler, (0.0, 1.0), [0.3, 3.0, 0.2], rtol=1e-11, atol=1e-12).y[:, -1]
    errors = []
    for timestep in (1e-3, 5e-4):
        builder = crisp.ModelBuilder(crisp.Options(gravity=WEIGHTLESS, timestep=timestep))
        builder.add_body("top", mass=1.0, inertia=inertia)
        model = builder.build()
        data = crisp.Data(model)
        data.qvel[3:] = [0.3, 3.0, 0.2]
        crisp.step(model, data, round(1.0 / timestep))
        errors.append(float(np.linalg.norm(data.qvel[3:] - exact)))
    assert errors[1] < 0.01
    assert math.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)


def test_free_fall_is_semi_implicit_euler():
    """Velocity exact, position short of the parabola by g t dt / 2."""
    builder = crisp.ModelBuilder(crisp.Options(timestep=0.01))
    builder.add_body("stone", mass=1.0, inertia=(1, 1, 1))
    model = builder.build()
    data = crisp.Data(model)
    crisp.step(model, data, 100)
    assert data.qvel[2] == pytest.approx(-9.81, abs=1e-12)
    assert data.qpos[2] == pytest.approx(-0.5 * 9.81 * (1.0 + 0.01), abs=1e-12)
