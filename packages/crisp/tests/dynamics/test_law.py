"""Every step of random scenes, recomputed from contacts and masses with NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from contactworks import crisp
from contactworks.common.rotations import random_quaternion

from ..oracles import energy, moment, step_errors  # noqa: TID252
from ..scenarios import heap, tower  # noqa: TID252


def checked_run(model, data, steps, every=1):
    """Step, and return the worst errors of the recomputation and of the report against it."""
    worst = np.zeros(4)
    mismatch = 0.0
    for k in range(steps):
        before = data.qpos.copy(), data.qvel.copy()
        crisp.step(model, data)
        if k % every:
            continue
        found = step_errors(model, before, (data.qpos, data.qvel), data.contacts, data.body_wrench)
        errors = (found.dual, found.natural, found.cone, found.complementarity)
        worst = np.maximum(worst, errors)
        mismatch = max(mismatch, abs(found.natural - data.solver.natural_residual))
    return worst, mismatch


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("solver", ["hybrid", "canal"])
def test_momentum_balance_and_law_in_every_step(solver, seed):
    """M (v+ - v_free) = J^T l, and Signorini's and Coulomb's laws, to what the report says."""
    model = heap(seed, solver=solver)
    data = crisp.Data(model)
    rng = np.random.default_rng(seed)
    data.qvel[:] = rng.uniform(-1.0, 1.0, model.nv)
    data.body_wrench[1:] = rng.uniform(-0.3, 0.3, (model.body_count - 1, 6)) * [1, 1, 1, 0, 0, 0.01]
    worst, mismatch = checked_run(model, data, 400, every=7)
    dual, natural, cone, complementarity = worst
    assert mismatch < 1e-13  # the reported residual is the true one
    assert natural < 1e-8
    assert dual < 1e-9
    assert cone < 1e-14
    assert complementarity < 1e-9


@pytest.mark.parametrize("rule", ["max", "min"])
def test_the_friction_rule_enters_the_law(rule):
    model = heap(20, friction_rule=rule)
    worst, mismatch = checked_run(model, crisp.Data(model), 300, every=5)
    assert worst[1] < 1e-8
    assert mismatch < 1e-13


def test_both_solvers_find_the_same_velocities_where_these_are_unique():
    """One body with up to three contacts, or balls: the velocity of a step is unique."""
    for seed in range(15):
        rng = np.random.default_rng(seed)
        states = []
        turn, spin = random_quaternion(rng=rng), rng.uniform(-3.0, 3.0, 6)
        for solver in ("hybrid", "canal"):
            builder = crisp.ModelBuilder(crisp.Options(solver=solver))
            builder.world.add_geom(crisp.Plane(), friction=0.5)
            for i in range(3):
                builder.add_body(f"{i}", position=(0.01 * i, 0.0, 0.06 + 0.11 * i)).add_geom(
                    crisp.Sphere(0.05), friction=0.5
                )
            builder.add_body("box", position=(1.0, 0.0, 0.2), quaternion=turn).add_geom(
                crisp.Box((0.05, 0.04, 0.03)), friction=0.3
            )
            model = builder.build()
            data = crisp.Data(model)
            data.qvel[18:] = spin
            crisp.step(model, data, 80)
            states.append(data.qvel.copy())
        np.testing.assert_allclose(*states, atol=1e-7)


def test_canal_alone_and_hybrid_hold_the_same_tower():
    """The impulses of a tower are not unique, the rest is."""
    for solver in ("hybrid", "canal"):
        model = tower(6, solver=solver)
        data = crisp.Data(model)
        crisp.step(model, data, 100)
        heights = data.body_position[1:, 2]
        np.testing.assert_allclose(heights, 0.05 + 0.1 * np.arange(6), atol=2e-8)
        assert data.solver.converged


@pytest.mark.parametrize("seed", range(6))
def test_energy_never_rises_without_restitution(seed):
    """Balls and cubes, whose free motion is exact: contact takes energy, friction too.

    Semi-implicit Euler loses m g^2 dt^2 / 2 a step in free fall. Where a corner turns past the end
    of the step, the overlap of second order that it leaves is pushed out again at erp / dt.
    """
    rng = np.random.default_rng(seed)
    builder = crisp.ModelBuilder(crisp.Options(timestep=0.001))
    builder.world.add_geom(crisp.Plane(), friction=rng.uniform(0.0, 1.0))
    for i in range(8):
        shape = crisp.Sphere(0.05) if i % 2 else crisp.Box((0.05, 0.05, 0.05))
        builder.add_body(
            f"{i}",
            position=(*rng.uniform(-0.06, 0.06, 2), 0.1 + 0.14 * i),
            quaternion=random_quaternion(rng=rng),
        ).add_geom(shape, friction=rng.uniform(0.0, 1.0))
    model = builder.build()
    data = crisp.Data(model)
    before = start = energy(model, moment(model, data.qpos, data.qvel))
    gained = 0.0
    for _ in range(1200):
        crisp.step(model, data)
        after = energy(model, moment(model, data.qpos, data.qvel))
        assert after - before < 1e-5 * start
        gained += max(0.0, after - before)
        before = after
    assert gained < 1e-4 * start
