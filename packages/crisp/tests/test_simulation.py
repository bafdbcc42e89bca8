"""Stepping: counts, refusals that leave the state alone, buffers that grow, threads."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from contactworks import crisp
from contactworks.common.errors import ModelError

from .scenarios import ball_and_box, crowd, heap, state_of, tower

# Counts


@pytest.mark.parametrize("seed", range(3))
def test_ten_steps_at_once_are_ten_steps(seed):
    """Bitwise, the time and the warm start included."""
    model = heap(seed)
    at_once, one_by_one = crisp.Data(model), crisp.Data(model)
    for _ in range(40):
        crisp.step(model, at_once, count=10)
        for _ in range(10):
            crisp.step(model, one_by_one)
        assert state_of(at_once) == state_of(one_by_one)


def test_no_steps():
    model = ball_and_box()
    data = crisp.Data(model)
    crisp.step(model, data, 100)
    before = state_of(data)
    crisp.step(model, data, 0)
    assert state_of(data) == before


@pytest.mark.parametrize("count", [-1, 2.0, "3", None, 1.5])
def test_bad_counts_are_refused(count):
    model = ball_and_box()
    data = crisp.Data(model)
    with pytest.raises(ModelError, match=r"step: got count .*expected a whole number"):
        crisp.step(model, data, count)
    assert data.time == 0.0


def test_numpy_counts_are_counts():
    model = ball_and_box()
    data = crisp.Data(model)
    crisp.step(model, data, np.int64(3))
    assert data.time == pytest.approx(0.006)


def test_the_report_covers_the_whole_call():
    """The worst step of a call stands in the report, even if the last one is fine."""
    model = heap(5, solver="canal", max_iterations=2)
    data = crisp.Data(model)
    worst, missed = 0.0, 0
    reference = crisp.Data(model)
    for _ in range(400):
        crisp.step(model, reference)
        worst = max(worst, reference.solver.natural_residual)
        missed += reference.solver.unconverged_steps
    crisp.step(model, data, 400)
    assert missed > 0
    assert data.solver.worst_natural_residual == worst
    assert data.solver.unconverged_steps == missed


# Refusals


def test_data_of_another_model_is_refused():
    one, two = ball_and_box(), ball_and_box()
    data = crisp.Data(one)
    for call in (crisp.step, crisp.forward, crisp.reset):
        with pytest.raises(ModelError, match="Data was made for another Model"):
            call(two, data)


BAD = [math.nan, math.inf, -math.inf]


@pytest.mark.parametrize("value", BAD)
@pytest.mark.parametrize("entry", [("qpos", 8), ("qpos", 10), ("qvel", 7), ("qvel", 11)])
def test_a_state_that_is_not_finite_names_the_body(entry, value):
    model = ball_and_box()
    data = crisp.Data(model)
    crisp.step(model, data, 60)
    name, index = entry
    keep = getattr(data, name)[index]
    before = state_of(data)
    getattr(data, name)[index] = value
    broken = state_of(data)
    with pytest.raises(ModelError) as caught:
        crisp.step(model, data, 5)
    message = str(caught.value)
    assert "body 'box'" in message
    assert "at time 0.12 s" in message
    assert str(value) in message
    assert "expected finite numbers" in message
    assert state_of(data) == broken
    with pytest.raises(ModelError, match="forward: qpos or qvel"):
        crisp.forward(model, data)
    getattr(data, name)[index] = keep
    assert state_of(data) == before


@pytest.mark.parametrize("quaternion", [(2, 0, 0, 0), (0, 0, 0, 0), (1, 0.01, 0, 0)])
def test_a_quaternion_that_is_no_rotation_is_refused(quaternion):
    model = ball_and_box()
    data = crisp.Data(model)
    data.qpos[model.qpos_slice("ball")][3:] = quaternion
    with pytest.raises(ModelError, match=r"body 'ball'.*unit quaternion"):
        crisp.step(model, data)
    assert data.time == 0.0


@pytest.mark.parametrize("value", [*BAD, 1e300 * 1e8])
def test_a_wrench_that_is_not_finite_names_the_body(value):
    """The state, the contacts and the warm start stay: what follows is as if nothing had been."""
    model = ball_and_box()
    data, reference = crisp.Data(model), crisp.Data(model)
    for one in (data, reference):
        crisp.step(model, one, 80)
    assert len(data.contacts) > 0
    data.body_wrench[2, 4] = value
    before = state_of(data)
    with pytest.raises(ModelError) as caught:
        crisp.step(model, data, 3)
    assert "body 'box'" in str(caught.value)
    assert "body_wrench" in str(caught.value)
    assert state_of(data) == before
    data.body_wrench[:] = 0.0
    crisp.step(model, data, 50)
    crisp.step(model, reference, 50)
    assert state_of(data) == state_of(reference)


def test_a_force_beyond_floating_point_is_refused_before_it_does_harm():
    model = ball_and_box()
    data = crisp.Data(model)
    crisp.step(model, data, 80)
    before = data.qpos.copy()
    data.body_wrench[2, 2] = -1e306
    with pytest.raises(ModelError, match="'box': body_wrench"):
        crisp.step(model, data, 3)
    np.testing.assert_array_equal(data.qpos, before)
    data.body_wrench[:] = 0.0
    crisp.step(model, data, 100)
    assert np.isfinite(data.qpos).all()
    assert data.solver.converged


def test_steps_before_the_failing_one_count():
    """A body speeds up until its speed is out of range: all arrays show the last good state."""
    builder = crisp.ModelBuilder(crisp.Options(gravity=(0, 0, 0)))
    builder.add_body("rocket", mass=1.0, inertia=(1, 1, 1))
    model = builder.build()
    data = crisp.Data(model)
    data.body_wrench[1, 0] = 1e100
    data.qvel[0] = 0.99e100
    with pytest.raises(ModelError, match="rocket"):
        crisp.step(model, data, 1000)
    assert 0 < data.time < 2.0
    assert np.isfinite(data.qvel).all()
    np.testing.assert_array_equal(data.body_position[1], data.qpos[:3])
    np.testing.assert_array_equal(data.body_twist[1, :3], data.qvel[:3])


# Buffers


@pytest.mark.parametrize("count", [12, 40])
def test_buffers_grow_without_losing_anything(count):
    """Many balls in one place: small buffers give bitwise what large ones give."""
    model = crowd(count)
    small, large = crisp.Data(model), crisp.Data(model)
    small._allocate(1, 1)
    large._allocate(20_000, 20_000)
    for _ in range(15):
        crisp.step(model, small, 2)
        crisp.step(model, large, 2)
        assert state_of(small) == state_of(large)
        assert small.solver == large.solver
    assert len(small._contacts) < 20_000


def test_all_pairs_that_meet_are_found():
    """At the same place all touch all: n (n - 1) / 2 contacts and n with the floor."""
    builder = crisp.ModelBuilder()
    builder.world.add_geom(crisp.Plane())
    for i in range(30):
        builder.add_body(f"{i}", position=(0, 0, 0.1 + 1e-3 * i)).add_geom(crisp.Sphere(0.1))
    model = builder.build()
    data = crisp.Data(model)
    assert len(data._contacts) < 435
    crisp.step(model, data)
    pairs = {tuple(pair) for pair in data.contacts.geom}
    assert len(data.contacts) == 30 * 29 // 2 + len([p for p in pairs if p[0] == 0])
    assert len(pairs) == len(data.contacts)


def test_growing_in_the_middle_of_a_call():
    """Two groups meet after some steps: the call goes on where the buffers were too small."""
    builder = crisp.ModelBuilder(crisp.Options(gravity=(0, 0, 0)))
    for i in range(20):
        side = 1.0 if i % 2 else -1.0
        builder.add_body(f"{i}", position=(side, 0.09 * (i // 2), 0)).add_geom(
            crisp.Capsule(0.05, 0.3)
        )
    model = builder.build()
    small, large = crisp.Data(model), crisp.Data(model)
    small._allocate(1, 1)
    large._allocate(5000, 5000)
    for data in (small, large):
        data.qvel[0::6] = np.where(np.arange(20) % 2, -5.0, 5.0)
        crisp.step(model, data, 200)
    assert small.time == pytest.approx(0.4)
    assert state_of(small) == state_of(large)


# Repetition and threads


def test_the_same_run_twice():
    model = heap(6, count=10)
    states = []
    for _ in range(2):
        data = crisp.Data(model)
        crisp.step(model, data, 400)
        states.append(state_of(data))
    assert states[0] == states[1]


def test_two_threads_on_one_model():
    """Bitwise equal to one after the other, whatever the threads do at the same time."""
    model = heap(7, count=8)

    def run(seed):
        data = crisp.Data(model)
        data.qvel[:] = np.random.default_rng(seed).uniform(-1.0, 1.0, model.nv)
        crisp.step(model, data, 500)
        return state_of(data)

    alone = [run(seed) for seed in range(6)]
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(run, range(6))) == alone


def test_the_order_of_bodies_does_not_matter():
    """Renumbered balls that fall on one another end up in the same places."""
    places = {f"b{i}": (0.02 * i, 0.01 * (i % 2), 0.05 + 0.11 * i) for i in range(4)}
    results = {}
    for order in (list(places), list(places)[::-1]):
        builder = crisp.ModelBuilder()
        for name in order:
            builder.add_body(name, position=places[name]).add_geom(crisp.Sphere(0.05))
        builder.world.add_geom(crisp.Plane())
        model = builder.build()
        data = crisp.Data(model)
        crisp.step(model, data, 60)
        results[order[0]] = np.array([data.body_position[model.body_id(name)] for name in places])
    np.testing.assert_allclose(*results.values(), atol=1e-9)


def test_tower_at_rest_is_bitwise_at_rest():
    model = tower(3)
    data = crisp.Data(model)
    crisp.step(model, data, 300)
    before = data.qpos.copy()
    crisp.step(model, data, 300)
    np.testing.assert_array_equal(data.qpos, before)
    np.testing.assert_array_equal(data.qvel, 0.0)
