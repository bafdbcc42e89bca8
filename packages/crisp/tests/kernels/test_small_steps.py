"""Tiny scenes through every kernel: few steps, so that they run with the JIT off too.

The values are those that the other tests check at length; here each is a hand calculation.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from contactworks import crisp
from contactworks.common.errors import ModelError
from contactworks.common.geometry.shapes import Box, Capsule, Cylinder, Plane, Sphere
from contactworks.common.rotations import quaternion_exp

from ..drivers import at, collide  # noqa: TID252
from ..oracles import core_distance, gap, step_errors  # noqa: TID252
from ..scenarios import tower  # noqa: TID252

pytestmark = pytest.mark.kernel

SIDEWAYS = quaternion_exp([0.0, 0.5 * math.pi, 0.0])
DT = 0.002


def checked_step(model, data):
    """Take a step; the law must hold to what the report says."""
    before = data.qpos.copy(), data.qvel.copy()
    crisp.step(model, data)
    found = step_errors(model, before, (data.qpos, data.qvel), data.contacts, data.body_wrench)
    assert found.natural == pytest.approx(data.solver.natural_residual, abs=1e-12)
    assert found.dual < 1e-9
    assert data.solver.converged


def on_floor(shape, height, *, turn=(1, 0, 0, 0), friction=0.5, options=None, **geom):
    builder = crisp.ModelBuilder(options or crisp.Options())
    builder.world.add_geom(crisp.Plane(), friction=friction)
    builder.add_body("body", position=(0, 0, height), quaternion=turn, mass=1.0).add_geom(
        shape, friction=friction, **geom
    )
    model = builder.build()
    return model, crisp.Data(model)


# Steps


def test_free_fall_with_a_wrench_and_an_offset():
    builder = crisp.ModelBuilder()
    builder.add_body("rod", mass=2.0, inertia=(0.1, 0.2, 0.3), center_of_mass=(0.5, 0, 0))
    model = builder.build()
    data = crisp.Data(model)
    data.body_wrench[1] = [2.0, 0, 0, 0, 0, 3.0]
    checked_step(model, data)
    assert data.qvel[0] == pytest.approx(DT, rel=1e-3)  # and a little of the swing
    assert data.qvel[5] == pytest.approx(DT * 10.0)
    # The centre of mass falls; the origin also swings around it.
    assert data.qvel[2] == pytest.approx(-9.81 * DT)
    assert data.qvel[1] == pytest.approx(-0.5 * data.qvel[5], rel=1e-4)


@pytest.mark.parametrize("rule", ["geometric", "max", "min"])
def test_a_ball_that_slides(rule):
    options = crisp.Options(friction_rule=rule)
    model, data = on_floor(crisp.Sphere(0.05), 0.05, options=options)
    data.qvel[0] = 1.0
    checked_step(model, data)
    assert data.qvel[0] == pytest.approx(1.0 - 0.5 * 9.81 * DT)
    assert data.qvel[4] == pytest.approx(2.5 * 0.5 * 9.81 * DT / 0.05)
    checked_step(model, data)  # with a warm start
    assert data.qvel[0] == pytest.approx(1.0 - 2.0 * 0.5 * 9.81 * DT)


@pytest.mark.parametrize("solver", ["hybrid", "canal"])
@pytest.mark.parametrize(
    ("shape", "height", "turn"),
    [
        (crisp.Box((0.05, 0.05, 0.05)), 0.05, (1, 0, 0, 0)),
        (crisp.Capsule(0.05, 0.1), 0.05, SIDEWAYS),
        (crisp.Cylinder(0.05, 0.1), 0.1, (1, 0, 0, 0)),
        (crisp.Cylinder(0.05, 0.1), 0.05, SIDEWAYS),
        (crisp.Cylinder(0.05, 0.1), 0.1, quaternion_exp([0.001, 0, 0])),
    ],
    ids=["box", "capsule", "standing", "lying", "tilted"],
)
def test_bodies_that_rest(shape, height, turn, solver):
    model, data = on_floor(shape, height, turn=turn, options=crisp.Options(solver=solver))
    for _ in range(2):
        checked_step(model, data)
    assert data.qpos[2] == pytest.approx(height, abs=1e-4)
    assert np.abs(data.qvel[:3]).max() < 0.03


def test_an_overlap_and_a_landing():
    for height, speed in ((0.04, 0.5), (0.0501, -0.05)):
        model, data = on_floor(crisp.Sphere(0.05), height)
        data.qvel[2] = -2.0
        checked_step(model, data)
        assert data.qvel[2] == pytest.approx(speed, abs=1e-5)


@pytest.mark.parametrize("restitution", [0.0, 0.5])
def test_a_soft_contact(restitution):
    """One implicit step of spring and damper."""
    model, data = on_floor(crisp.Sphere(0.05), 0.049, stiffness=1e3, restitution=restitution)
    data.qvel[2] = -0.1
    crisp.step(model, data)
    decrement = -math.log(restitution) if restitution else 1.0
    ratio = decrement / math.hypot(math.pi, decrement) if restitution else 1.0
    damping = 2.0 * ratio * math.sqrt(1e3)
    expected = (-0.1 - 9.81 * DT + DT * 1e3 * 0.001) / (1.0 + DT * (DT * 1e3 + damping))
    assert data.qvel[2] == pytest.approx(expected, rel=1e-6)


def test_a_rebound_and_a_touch():
    model, data = on_floor(crisp.Sphere(0.05), 0.05, restitution=0.5)
    data.qvel[2] = -2.0
    crisp.step(model, data)
    assert data.qvel[2] == pytest.approx(1.0, abs=0.02)
    model, data = on_floor(crisp.Sphere(0.05), 0.05, restitution=0.5)
    crisp.step(model, data)
    assert data.qvel[2] == pytest.approx(0.0, abs=1e-9)
    model, data = on_floor(crisp.Sphere(0.05), 0.2, restitution=0.5)
    data.qvel[2] = -2.0
    crisp.step(model, data)
    assert data.qvel[2] == pytest.approx(-2.0 - 9.81 * DT)


def test_a_tower_by_newton():
    model = tower(2)
    data = crisp.Data(model)
    for _ in range(2):
        checked_step(model, data)
    assert data.solver.islands == 1
    np.testing.assert_allclose(data.body_position[1:, 2], [0.05, 0.15], atol=1e-8)


@pytest.mark.parametrize("solver", ["hybrid", "canal"])
def test_a_row_of_balls(solver):
    """Six balls in a row: sweeps first in the hybrid; a push at one end moves the row."""
    builder = crisp.ModelBuilder(crisp.Options(gravity=(0, 0, 0), solver=solver))
    for i in range(6):
        builder.add_body(f"{i}", position=(0.1 * i, 0, 0), mass=1.0).add_geom(
            crisp.Sphere(0.05), friction=0.2
        )
    model = builder.build()
    data = crisp.Data(model)
    data.qvel[0], data.qvel[1] = 6.0, 0.3
    checked_step(model, data)
    assert data.qvel[0::6].sum() == pytest.approx(6.0)
    assert data.qvel[0::6] == pytest.approx(1.0, abs=1e-8)
    assert (data.solver.sweeps > 0) == (solver == "hybrid")


def test_twelve_balls_on_a_floor_in_one_island():
    """More than ten bodies: the looser tolerance."""
    builder = crisp.ModelBuilder(crisp.Options())
    builder.world.add_geom(crisp.Plane())
    for i in range(11):
        builder.add_body(f"{i}", position=(0.1 * i, 0, 0.05), mass=1.0).add_geom(crisp.Sphere(0.05))
    model = builder.build()
    data = crisp.Data(model)
    checked_step(model, data)
    assert data.solver.islands == 1
    np.testing.assert_allclose(data.qvel, 0.0, atol=1e-8)


def test_too_few_iterations():
    """The best iterate stands, and the report says that the island is not solved."""
    for solver in ("hybrid", "canal"):
        model, data = on_floor(
            crisp.Box((0.05, 0.04, 0.03)),
            0.06,
            turn=quaternion_exp([0.7, 0.4, 0.1]),
            options=crisp.Options(solver=solver, max_iterations=1, tolerance=1e-15),
        )
        data.qvel[:] = [1.0, 0.5, -3.0, 2.0, 3.0, 4.0]
        crisp.step(model, data)
        assert np.isfinite(data.qvel).all()
        assert data.solver.natural_residual >= 0.0
        assert data.solver.unconverged_steps == int(not data.solver.converged)


def test_own_laws_and_switches():
    model, data = on_floor(crisp.Sphere(0.05), 0.05)
    data.qvel[0] = 1.0
    data.set_pair_law("body", "world", friction=0.1, stiffness=np.inf, restitution=0.0)
    crisp.step(model, data)
    assert data.qvel[0] == pytest.approx(1.0 - 0.1 * 9.81 * DT)
    data.set_pair_enabled("body", "world", False)
    crisp.step(model, data)
    assert len(data.contacts) == 0


def test_buffers_and_bad_states():
    builder = crisp.ModelBuilder()
    builder.world.add_geom(crisp.Plane())
    for i in range(3):
        builder.add_body(f"{i}", position=(0, 0, 0.05 + 0.004 * i)).add_geom(crisp.Sphere(0.05))
    model = builder.build()
    data = crisp.Data(model)
    data._allocate(1, 1)
    crisp.step(model, data)
    assert len(data.contacts) == 6
    data.qvel[4] = np.nan
    with pytest.raises(ModelError, match="body '0'"):
        crisp.step(model, data)
    crisp.reset(model, data)
    data.body_wrench[2, 0] = np.inf
    with pytest.raises(ModelError, match="body '1'"):
        crisp.step(model, data)


def test_nearest():
    builder = crisp.ModelBuilder()
    builder.world.add_geom(crisp.Plane())
    builder.add_body("box", position=(0, 0, 1)).add_geom(crisp.Box((0.1, 0.1, 0.1)))
    data = crisp.Data(builder.build())
    assert data.nearest("box", "world", 2.0)[0] == pytest.approx(0.9)
    assert data.nearest("world", "box", 2.0)[2] == pytest.approx([0, 0, 1])
    assert data.nearest("world", "box", 0.5) is None


# Single pairs


def test_round_pairs():
    turned = quaternion_exp([0.3, 0.8, 0.2])
    pairs = [
        (at(Sphere(0.1)), at(Sphere(0.2), (0.2, 0.1, 0.25))),
        (at(Sphere(0.1)), at(Capsule(0.1, 0.2), (0.1, 0.2, 0.1), turned)),
        (at(Sphere(0.1)), at(Box((0.1, 0.2, 0.3)), (0.25, 0.1, 0.1), turned)),
        (at(Capsule(0.1, 0.2), (0, 0, 0), SIDEWAYS), at(Capsule(0.1, 0.2), (0.1, 0.25, 0), turned)),
        (at(Capsule(0.1, 0.2)), at(Capsule(0.1, 0.2), (0.25, 0, 0.1))),
        (
            at(Capsule(0.1, 0.2), (0, 0, 0), SIDEWAYS),
            at(Box((0.1, 0.2, 0.3)), (0.1, 0.35, 0), turned),
        ),
    ]
    for a, b in pairs:
        assert collide(a, b, 1.0).gap.min() == pytest.approx(gap(a, b), abs=1e-9)
        assert collide(b, a, 1.0).gap.min() == pytest.approx(gap(a, b), abs=1e-9)
        assert len(collide(a, b.moved(np.array([5.0, 0, 0])))) == 0
    assert collide(at(Sphere(0.1)), at(Sphere(0.1))).gap.min() == pytest.approx(-0.2)


def test_insides():
    """A ball in a box, a pin through a box: out by the nearest face."""
    box = at(Box((0.1, 0.2, 0.3)))
    for place, depth in (((0.08, 0, 0), 0.02), ((0, -0.17, 0), 0.03), ((0, 0, 0.26), 0.04)):
        assert collide(at(Sphere(0.01), place), box).gap.min() == pytest.approx(-depth - 0.01)
    pin = at(Capsule(0.01, 0.5), (0.02, 0.03, 0), quaternion_exp([0.5 * math.pi, 0, 0]))
    assert collide(pin, box).gap.min() == pytest.approx(-0.08 - 0.01)


def test_boxes():
    """A face, an edge on an edge, corners past one another; overlapping and apart."""
    cube = Box((0.1, 0.1, 0.1))
    resting = collide(at(cube), at(cube, (0.02, 0.03, 0.2)))
    assert len(resting) == 4
    assert resting.gap == pytest.approx(0.0, abs=1e-15)
    assert collide(at(cube), at(cube, (0.3, 0.3, 0.3)), 0.2).gap.min() == pytest.approx(
        0.1 * math.sqrt(3.0)
    )
    edge = quaternion_exp([0.25 * math.pi, 0, 0])
    across = quaternion_exp([0, 0.25 * math.pi, 0])
    apex = 0.1 * math.sqrt(2.0)
    for apart in (-0.01, 0.01):
        found = collide(at(cube, (0, 0, 0), edge), at(cube, (0, 0, 2 * apex + apart), across), 0.05)
        assert found.gap.min() == pytest.approx(apart)
        np.testing.assert_allclose(
            found.position[found.deepest], [0, 0, apex + apart / 2], atol=1e-12
        )
    rng = np.random.default_rng(0)
    for _ in range(12):
        turn = quaternion_exp(rng.uniform(-2.0, 2.0, 3))
        other = at(Box(rng.uniform(0.05, 0.2, 3)), rng.uniform(-0.3, 0.3, 3), turn)
        distance = core_distance(at(cube), other)
        found = collide(at(cube), other, 1.0).gap.min()
        assert found == pytest.approx(distance, abs=2e-9) if distance > 1e-5 else found <= 1e-5
        assert len(collide(at(cube), other.moved(np.array([9.0, 0, 0])))) == 0


def test_planes():
    tilted = at(Plane(), (0, 0, 0.1), quaternion_exp([0.2, 0.1, 0]))
    for shape in (Sphere(0.1), Capsule(0.1, 0.2), Box((0.1, 0.2, 0.3)), Cylinder(0.1, 0.2)):
        body = at(shape, (0.1, 0.2, 0.4), quaternion_exp([0.5, 0.4, 0.3]))
        assert collide(tilted, body, 1.0).gap.min() == pytest.approx(gap(tilted, body))


def test_a_pair_without_an_algorithm_gives_nothing():
    found = collide(at(Box((0.1, 0.1, 0.1))), at(Cylinder(0.1, 0.1)))
    assert len(found) == 0
