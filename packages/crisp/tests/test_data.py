"""The state: coordinates and body arrays, snapshots, pairs, contacts and the report."""

from __future__ import annotations

import math

import numpy as np
import pytest

from contactworks import crisp
from contactworks.common.errors import ModelError, ShapeError
from contactworks.common.rotations import quaternion_exp, random_quaternion, rotate

from .drivers import at
from .oracles import core_distance, moment
from .scenarios import ball_and_box, crowd, heap, state_of, tower

# Coordinates and body arrays


def test_coordinates_of_a_free_body():
    """qpos: position and quaternion; qvel: linear in the world frame, angular in the body frame."""
    model = ball_and_box()
    data = crisp.Data(model)
    turn = quaternion_exp([0.3, -0.2, 0.5])
    data.qpos[model.qpos_slice("box")] = [1.0, 2.0, 3.0, *turn]
    data.qvel[model.qvel_slice("box")] = [0.1, 0.2, 0.3, 4.0, 5.0, 6.0]
    crisp.forward(model, data)
    i = model.body_id("box")
    np.testing.assert_array_equal(data.body_position[i], [1, 2, 3])
    np.testing.assert_array_equal(data.body_quaternion[i], turn)
    np.testing.assert_array_equal(data.body_twist[i, :3], [0.1, 0.2, 0.3])
    np.testing.assert_allclose(data.body_twist[i, 3:], rotate(turn, [4.0, 5.0, 6.0]), atol=1e-15)


def test_the_world_does_not_move():
    model = heap(1)
    data = crisp.Data(model)
    crisp.step(model, data, 50)
    np.testing.assert_array_equal(data.body_position[0], 0.0)
    np.testing.assert_array_equal(data.body_quaternion[0], [1, 0, 0, 0])
    np.testing.assert_array_equal(data.body_twist[0], 0.0)


def test_the_origin_moves_around_an_offset_centre_of_mass():
    """A free spin about the centre of mass: that moves straight, the origin circles around it."""
    builder = crisp.ModelBuilder(crisp.Options(gravity=(0, 0, 0), timestep=1e-3))
    builder.add_body("rod", mass=2.0, inertia=(0.1, 0.1, 0.1), center_of_mass=(0.5, 0.0, 0.0))
    model = builder.build()
    data = crisp.Data(model)
    spin, drift = np.array([0.0, 0.0, 3.0]), np.array([0.0, 0.7, 0.0])
    data.qvel[:] = [*(drift - np.cross(spin, [0.5, 0, 0])), *spin]  # of the origin
    for k in range(1, 501):
        crisp.step(model, data)
        angle = 3.0 * k * 1e-3
        arm = 0.5 * np.array([math.cos(angle), math.sin(angle), 0.0])
        center = np.array([0.5, 0.0, 0.0]) + drift * k * 1e-3
        np.testing.assert_allclose(data.body_position[1], center - arm, atol=1e-12)
        np.testing.assert_allclose(data.body_twist[1, :3], drift - np.cross(spin, arm), atol=1e-12)


def test_a_force_acts_at_the_centre_of_mass():
    """A pure force on an offset body gives no spin; a pure torque moves no centre of mass."""
    builder = crisp.ModelBuilder(crisp.Options(gravity=(0, 0, 0)))
    builder.add_body(
        "rod",
        mass=2.0,
        inertia=(0.1, 0.2, 0.3),
        center_of_mass=(0.5, 0.2, 0),
        quaternion=quaternion_exp([0.4, 0.5, 0.6]),
    )
    model = builder.build()
    data = crisp.Data(model)
    data.body_wrench[1, :3] = [2.0, 4.0, 6.0]
    crisp.step(model, data, 10)
    np.testing.assert_allclose(data.qvel[:3], np.array([1.0, 2.0, 3.0]) * 0.02, atol=1e-14)
    np.testing.assert_allclose(data.qvel[3:], 0.0, atol=1e-14)
    crisp.reset(model, data)
    torque = np.array([0.3, 0.1, -0.2])
    data.body_wrench[1, 3:] = torque
    crisp.step(model, data)
    state = moment(model, data.qpos, data.qvel)
    # Exact for the angular momentum; the velocity also feels the turned inertia.
    gained = state.inertia[1] @ state.velocity[1, 3:]
    np.testing.assert_allclose(gained, 0.002 * torque, atol=1e-15)
    center = data.body_position[1] + rotate(data.body_quaternion[1], [0.5, 0.2, 0])
    start = rotate(model.qpos0[3:], [0.5, 0.2, 0])
    np.testing.assert_allclose(center, start, atol=1e-14)


def test_the_wrench_stays_until_changed():
    model = ball_and_box(gravity=(0, 0, 0))
    data = crisp.Data(model)
    data.body_wrench[1, 0] = 1.0
    crisp.step(model, data, 5)
    first = data.qvel[0]
    crisp.step(model, data, 5)
    assert data.qvel[0] == pytest.approx(2.0 * first)
    assert data.body_wrench[1, 0] == 1.0


@pytest.mark.parametrize("name", ["qpos", "qvel", "body_wrench"])
def test_assigned_arrays_are_checked_and_copied(name):
    data = crisp.Data(ball_and_box())
    value = getattr(data, name).copy()
    setattr(data, name, value)
    value += 1.0
    assert not np.array_equal(getattr(data, name), value)
    with pytest.raises(ShapeError, match=f"Data.{name}: got shape"):
        setattr(data, name, value[:-1])
    value[...] = np.nan
    with pytest.raises(ModelError, match=f"Data.{name}: got a value that is not finite"):
        setattr(data, name, value)
    assert np.isfinite(getattr(data, name)).all()


def test_contacts_are_copies():
    model = tower(2)
    data = crisp.Data(model)
    crisp.step(model, data)
    before = state_of(data)
    for array in (data.contacts.position, data.contacts.impulse, data.contacts.gap):
        array[:] = 99.0
    assert state_of(data) == before


# Contacts and report


def test_contacts_of_a_resting_cube():
    """Four corners, midway normal up from the plane to the cube, together m g dt."""
    model = tower(1)
    data = crisp.Data(model)
    crisp.step(model, data, 100)
    contacts = data.contacts
    assert len(contacts) == 4
    assert contacts.is_active.all()
    np.testing.assert_array_equal(contacts.geom, [[0, 1]] * 4)
    np.testing.assert_allclose(contacts.normal, [[0, 0, 1]] * 4, atol=1e-12)
    np.testing.assert_allclose(np.abs(contacts.position[:, :2]), 0.05, atol=1e-8)
    np.testing.assert_allclose(contacts.gap, 0.0, atol=3e-9)
    impulse = contacts.impulse.sum(axis=0)
    np.testing.assert_allclose(impulse, [0, 0, 9.81 * 0.002 * model.body_mass[1]], atol=1e-9)


def test_impulses_act_on_the_second_geom():
    """The upper cube's impulse acts on the lower one reversed: each cube's sum is its weight."""
    model = tower(3)
    data = crisp.Data(model)
    crisp.step(model, data, 200)
    contacts = data.contacts
    total = np.zeros((4, 3))
    bodies = model.geoms["body"][contacts.geom]
    np.add.at(total, bodies[:, 1], contacts.impulse)
    np.subtract.at(total, bodies[:, 0], contacts.impulse)
    weight = 9.81 * 0.002 * model.body_mass
    np.testing.assert_allclose(total[1:, 2], weight[1:], rtol=1e-6)
    assert total[0, 2] == pytest.approx(-weight.sum(), rel=1e-6)


def test_contacts_are_sorted_by_pair():
    model = heap(3)
    data = crisp.Data(model)
    crisp.step(model, data, 300)
    keys = data.contacts.geom @ [model.geom_count, 1]
    assert len(keys) > 6
    assert np.all(np.diff(keys) >= 0)


def test_the_report_counts():
    model = tower(3)
    data = crisp.Data(model)
    crisp.step(model, data)
    report = data.solver
    assert report.islands == 1
    assert report.iterations == report.sweeps + report.newton > 0
    assert report.converged
    assert report.unconverged_steps == 0
    assert report.natural_residual <= 1e-10
    assert report.worst_natural_residual == report.natural_residual
    assert report.dual_residual < 1e-12
    assert report.primal_residual <= 1e-9


def test_an_unsolved_step_says_so():
    """With one Newton step the island cannot be solved; each such step of the call is counted."""
    model = tower(8, solver="canal", max_iterations=1)
    data = crisp.Data(model)
    crisp.step(model, data, 5)
    report = data.solver
    assert not report.converged
    assert report.unconverged_steps == 5
    assert report.worst_natural_residual >= report.natural_residual > 1e-10


def test_before_the_first_step():
    data = crisp.Data(tower(2))
    assert len(data.contacts) == 0
    assert data.contacts.impulse.shape == (0, 3)
    assert data.solver.iterations == 0


# Snapshots and reset


def test_a_snapshot_restores_bitwise():
    """Warm start, wrench, switches and the time come back; also into another Data."""
    model = heap(2)
    data = crisp.Data(model)
    crisp.step(model, data, 250)
    data.body_wrench[1] = [1, 0, 0, 0, 0.01, 0]
    data.set_pair_law("world", "body1", friction=0.1, stiffness=1e4, restitution=0.0)
    data.set_pair_enabled("body1", "body2", False)
    crisp.step(model, data, 3)
    saved = data.snapshot()
    crisp.step(model, data, 60)
    expected = state_of(data)
    crisp.step(model, data, 60)
    for other in (data, crisp.Data(model)):
        other.restore(saved)
        crisp.step(model, other, 60)
        assert state_of(other) == expected
        assert other.pair_law("body1", "world") == (0.1, 1e4, 0.0)
        assert not other.pair_enabled("body2", "body1")


def test_a_snapshot_is_not_touched_by_what_follows():
    model = heap(2)
    data = crisp.Data(model)
    crisp.step(model, data, 250)
    saved = data.snapshot()
    expected = state_of(data)
    crisp.step(model, data, 10)
    data.restore(saved)
    assert state_of(data) == expected


def test_a_snapshot_with_more_contacts_than_there_is_room_for():
    model = crowd(30, gravity=(0, 0, 0))
    data = crisp.Data(model)
    crisp.step(model, data, 2)
    saved = data.snapshot()
    crisp.step(model, data, 2)
    fresh = crisp.Data(model)
    assert len(saved.contacts) > len(fresh._contacts)
    fresh.restore(saved)
    crisp.step(model, fresh, 2)
    assert state_of(fresh) == state_of(data)


def test_a_snapshot_of_another_size_is_refused():
    data = crisp.Data(tower(2))
    saved = crisp.Data(tower(3)).snapshot()
    before = state_of(data)
    with pytest.raises(ModelError, match="snapshot has nq 21, the model 14"):
        data.restore(saved)
    assert state_of(data) == before


def test_reset_equals_a_fresh_data():
    """Bitwise, in what follows too: no warm start, no wrench, no switch is left over."""
    model = heap(4)
    used, fresh = crisp.Data(model), crisp.Data(model)
    used.body_wrench[2] = 3.0
    used.set_pair_enabled("world", "body0", False)
    used.set_pair_law("world", "body1", friction=0.0, stiffness=1e3, restitution=0.5)
    crisp.step(model, used, 300)
    crisp.reset(model, used)
    assert state_of(used) == state_of(fresh)
    assert used.solver == fresh.solver
    assert used.pair_law("world", "body1") is None
    for _ in range(20):
        crisp.step(model, used, 15)
        crisp.step(model, fresh, 15)
        assert state_of(used) == state_of(fresh)


# Pairs


def test_a_pair_that_is_switched_off_passes_through():
    model = tower(2)
    data = crisp.Data(model)
    data.set_pair_enabled("box1", "box0", False)
    assert not data.pair_enabled("box0", "box1")
    crisp.step(model, data, 200)
    np.testing.assert_allclose(data.body_position[1:, 2], 0.05, atol=1e-8)
    data.set_pair_enabled("box0", "box1", True)
    crisp.step(model, data)
    assert {tuple(pair) for pair in data.contacts.geom} == {(0, 1), (0, 2), (1, 2)}


def test_excluded_bodies_pass_through_and_stay_so_after_reset():
    builder = crisp.ModelBuilder()
    builder.world.add_geom(crisp.Plane())
    builder.add_body("ghost", position=(0, 0, 0.1)).add_geom(crisp.Sphere(0.05))
    builder.exclude("ghost", "world")
    model = builder.build()
    data = crisp.Data(model)
    for _ in range(2):
        crisp.step(model, data, 100)
        assert data.qpos[2] == pytest.approx(0.1 - 4.905 * 0.2**2, abs=3e-3)
        crisp.reset(model, data)


@pytest.mark.parametrize(
    ("law", "message"),
    [
        ({"friction": -0.1}, "got friction -0.1"),
        ({"friction": math.nan}, "got friction nan"),
        ({"friction": math.inf}, "got friction inf"),
        ({"stiffness": 0.0}, "stiffness 0.0"),
        ({"stiffness": math.nan}, "stiffness nan"),
        ({"restitution": 1.5}, "restitution 1.5"),
    ],
)
def test_bad_pair_laws_are_refused(law, message):
    data = crisp.Data(tower(2))
    full = {"friction": 0.5, "stiffness": math.inf, "restitution": 0.0, **law}
    with pytest.raises(ModelError, match=f"pair 'box0', 'box1': .*{message}"):
        data.set_pair_law("box0", "box1", **full)
    assert data.pair_law("box0", "box1") is None


def test_pairs_need_two_known_bodies():
    data = crisp.Data(tower(2))
    calls = [
        data.pair_enabled,
        lambda a, b: data.set_pair_enabled(a, b, False),
        lambda a, b: data.set_pair_law(a, b, friction=1.0, stiffness=1.0, restitution=0.0),
        lambda a, b: data.nearest(a, b, 1.0),
    ]
    for call in calls:
        with pytest.raises(ModelError, match="no body is named 'box9'"):
            call("box0", "box9")
        with pytest.raises(ModelError, match="two different bodies"):
            call("box0", "box0")


def test_a_pair_law_replaces_the_mixture():
    """Stiffness of its own: the depth is m g / k; a second law replaces the first."""
    model = tower(1)
    data = crisp.Data(model)
    for stiffness in (2e4, 5e4):
        data.set_pair_law("box0", "world", friction=0.3, stiffness=stiffness, restitution=0.0)
        crisp.step(model, data, 500)
        weight = 9.81 * model.body_mass[1]
        assert 0.05 - data.qpos[2] == pytest.approx(weight / stiffness, rel=1e-6)
    assert len(data._pair_laws) == 1


# Nearest points


def test_nearest_points_against_the_shapes():
    """Gap, midpoint and normal between two balls; the sign of the normal follows the order."""
    builder = crisp.ModelBuilder()
    builder.add_body("a", position=(0, 0, 0)).add_geom(crisp.Sphere(0.1))
    builder.add_body("b", position=(0, 0.5, 0)).add_geom(crisp.Sphere(0.2))
    data = crisp.Data(builder.build())
    gap, point, normal = data.nearest("a", "b", 1.0)
    assert gap == pytest.approx(0.2)
    np.testing.assert_allclose(point, [0, 0.2, 0])
    np.testing.assert_allclose(normal, [0, 1, 0])
    np.testing.assert_allclose(data.nearest("b", "a", 1.0)[2], [0, -1, 0])
    assert data.nearest("a", "b", 0.19) is None


def test_nearest_takes_the_nearest_of_several_geoms():
    builder = crisp.ModelBuilder()
    builder.world.add_geom(crisp.Plane())
    body = builder.add_body(
        "dumbbell", position=(0, 0, 0.5), quaternion=quaternion_exp([0.3, 0, 0])
    )
    body.add_geom(crisp.Sphere(0.1), position=(0, 0.3, 0))
    body.add_geom(crisp.Sphere(0.05), position=(0, -0.3, 0))
    data = crisp.Data(builder.build())
    gap, _, normal = data.nearest("dumbbell", "world", 2.0)
    assert gap == pytest.approx(0.5 - 0.3 * math.sin(0.3) - 0.05)
    np.testing.assert_allclose(normal, [0, 0, -1], atol=1e-15)


def test_nearest_of_boxes_is_exact_and_leaves_the_state():
    rng = np.random.default_rng(0)
    for _ in range(50):
        builder = crisp.ModelBuilder()
        shapes = [crisp.Box(rng.uniform(0.02, 0.2, 3)) for _ in range(2)]
        turns = random_quaternion(2, rng=rng)
        places = [np.zeros(3), rng.uniform(0.2, 0.4, 3)]
        for i in range(2):
            builder.add_body(f"{i}", position=places[i], quaternion=turns[i]).add_geom(shapes[i])
        data = crisp.Data(builder.build())
        before = state_of(data)
        distance = core_distance(*(at(*args) for args in zip(shapes, places, turns, strict=True)))
        if distance > 0.0:
            assert data.nearest("0", "1", 1.0)[0] == pytest.approx(distance, abs=2e-9)
        assert state_of(data) == before
