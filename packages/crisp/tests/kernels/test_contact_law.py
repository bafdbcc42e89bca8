"""The law at one contact: exact solve, projections and residuals against slow versions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contactworks.crisp._kernels.contact_law import (
    natural_residual,
    primal_residual,
    project_cone,
    project_normal_first,
    solve_one_contact,
)
from contactworks.crisp._kernels.layout import CONTACT, make_records

from .. import oracles  # noqa: TID252

FRICTIONS = [0.0, 1e-9, 1e-3, 0.5, 1.0, 10.0]
every_friction = pytest.mark.parametrize("friction", FRICTIONS)
numbers = st.floats(-10.0, 10.0)
triples = st.tuples(numbers, numbers, numbers)
frictions = st.sampled_from(FRICTIONS) | st.floats(0.0, 10.0)


def random_delassus(rng, spread=1.0, coupling=1.0):
    """A symmetric positive definite W (3, 3), its normal coupled to the tangents."""
    factor = (
        np.diag(np.exp(rng.uniform(-spread, spread, 3)))
        @ np.linalg.qr(rng.standard_normal((3, 3)))[0]
    )
    w = factor.T @ factor
    w[0, 1:] *= coupling
    w[1:, 0] *= coupling
    return w


def solve(w, q, friction, slip=0.0):
    """Bring W to the kernel's form (tangents that make the Schur complement diagonal), and back."""
    schur = w[1:, 1:] - np.outer(w[1:, 0], w[0, 1:]) / w[0, 0]
    _, turn = np.linalg.eigh(schur)
    coupling = turn.T @ w[1:, 0]
    diagonal = np.diag(turn.T @ schur @ turn)
    delassus = np.array([w[0, 0], *coupling, *diagonal])
    q_t = turn.T @ q[1:]
    ln, l1, l2, alpha = solve_one_contact(delassus, q[0], q_t[0], q_t[1], friction, slip)
    return np.array([ln, *(turn @ [l1, l2])]), alpha


def as_contact(friction, mass=1.0, bias=0.0, compliance=0.0, impulse=(0.0, 0.0, 0.0)):
    contact = make_records(1, CONTACT)
    contact["friction"] = friction
    contact["effective_mass"] = mass
    contact["bias"] = bias
    contact["compliance"] = compliance
    contact["impulse"] = impulse
    return contact[0]


@pytest.mark.kernel
@every_friction
def test_the_solution_meets_every_condition_of_the_law(friction):
    """Complementarity, the friction cone, and sliding opposes: for well and badly scaled W."""
    rng = np.random.default_rng(0)
    for k in range(300):
        w = random_delassus(rng, spread=(0.5, 2.0, 4.0)[k % 3], coupling=rng.uniform(0.0, 1.0))
        q = rng.standard_normal(3) * (1.0, 1.0, 10.0)
        impulse, _ = solve(w, q, friction)
        velocity = q + w @ impulse
        assert oracles.law_violation(impulse, velocity, friction) < 1e-11


@every_friction
@given(velocity=triples, seed=st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_any_velocity_is_solved(friction, velocity, seed):
    w = random_delassus(np.random.default_rng(seed))
    q = np.array(velocity)
    impulse, _ = solve(w, q, friction)
    assert oracles.law_violation(impulse, q + w @ impulse, friction) < 1e-11


def test_against_a_slow_iteration():
    """Where the normal is not coupled, the solution is unique: De Saxce's iteration finds it."""
    rng = np.random.default_rng(3)
    for friction in (0.0, 0.2, 0.8, 3.0):
        for _ in range(6):
            w = random_delassus(rng, coupling=0.0)
            q = np.array([-1.0, *(2.0 * rng.standard_normal(2))])
            expected = oracles.de_saxce_iteration(w, q, friction)
            np.testing.assert_allclose(solve(w, q, friction)[0], expected, atol=1e-9)


def test_without_friction_only_the_normal_acts():
    w = random_delassus(np.random.default_rng(1))
    impulse, _ = solve(w, np.array([-2.0, 3.0, 4.0]), 0.0)
    np.testing.assert_allclose(impulse, [2.0 / w[0, 0], 0.0, 0.0])


def test_a_parting_contact_gets_nothing():
    w = random_delassus(np.random.default_rng(1))
    for normal in (0.0, 1e-300, 1.0):
        impulse, _ = solve(w, np.array([normal, 3.0, 4.0]), 0.5)
        assert not impulse.any()


@pytest.mark.kernel
def test_the_stored_slip_does_not_change_the_answer():
    """A wrong start of the root search costs steps, not accuracy."""
    rng = np.random.default_rng(5)
    for _ in range(50):
        w, q = random_delassus(rng, spread=2.0), np.array([-1.0, *rng.standard_normal(2) * 5.0])
        plain, _ = solve(w, q, 0.4)
        for slip in (1e-12, 1e-3, 1e3, 1e12):
            again, _ = solve(w, q, 0.4, slip)
            np.testing.assert_allclose(again, plain, rtol=1e-9, atol=1e-12)


@pytest.mark.kernel
@given(x=triples, friction=frictions)
@settings(max_examples=200, deadline=None)
def test_cone_projection_is_the_nearest_point(x, friction):
    """Optimality of the Euclidean projection: p in K, x - p in the polar cone, orthogonal to p."""
    x = np.array(x)
    p = np.array(project_cone(*x, friction))
    rest = x - p
    assert math.hypot(p[1], p[2]) <= friction * p[0] + 1e-12
    assert rest @ p == pytest.approx(0.0, abs=1e-11)
    # The polar of the cone: <rest, k> <= 0 for its extreme rays (1, mu cos, mu sin).
    assert rest[0] + friction * math.hypot(rest[1], rest[2]) <= 1e-11
    np.testing.assert_allclose(p, oracles.project_cone(x, friction), atol=1e-12)


@pytest.mark.kernel
@given(x=triples, friction=frictions)
@settings(max_examples=100, deadline=None)
def test_normal_first_projection_keeps_the_normal(x, friction):
    x = np.array(x)
    p = np.array(project_normal_first(*x, friction))
    if x[0] <= 0.0:
        assert not p.any()
        return
    assert p[0] == x[0]
    size, bound = math.hypot(x[1], x[2]), friction * x[0]
    if size <= bound:
        np.testing.assert_array_equal(p, x)
    else:
        np.testing.assert_allclose(p[1:], x[1:] * (bound / size), atol=1e-15)


def lawful(rng, friction):
    """An impulse and a velocity that meet the law, in each of its cases."""
    normal = rng.uniform(0.1, 2.0)
    direction = rng.standard_normal(2)
    direction /= np.linalg.norm(direction)
    sliding = np.array([0.0, *(-rng.uniform(0.1, 2.0) * direction)])
    sticking = friction * normal * rng.uniform(0.0, 1.0) * direction
    return [
        (np.zeros(3), np.array([rng.uniform(0.0, 1.0), *rng.standard_normal(2)])),  # open
        (np.array([normal, *sticking]), np.zeros(3)),  # sticking
        (np.array([normal, *(friction * normal * direction)]), sliding),
    ]


@pytest.mark.kernel
@every_friction
def test_residuals_vanish_where_the_law_holds(friction):
    rng = np.random.default_rng(11)
    for _ in range(20):
        for impulse, velocity in lawful(rng, friction):
            contact = as_contact(friction, mass=rng.uniform(0.1, 10.0), impulse=impulse)
            assert natural_residual(contact, *velocity) == pytest.approx(0.0, abs=1e-13)
            assert primal_residual(contact, *velocity) == pytest.approx(0.0, abs=1e-13)


@pytest.mark.parametrize("friction", [0.3, 10.0])
def test_residuals_see_every_violation(friction):
    """Each condition broken on its own by 0.1 gives a residual of that order."""
    rng = np.random.default_rng(12)
    for _ in range(20):
        open_, stick, slide = lawful(rng, friction)
        step = np.array([0.1, 0.0, 0.0])
        turned = np.array([0.0, -slide[1][2], slide[1][1]])
        broken = {
            "approach": (np.zeros(3), open_[1] * (0, 1, 1) - step),
            "impulse on a parting contact": (stick[0], stick[1] + step),
            "friction beyond the cone": (slide[0] * (1, 1.1, 1.1), slide[1]),
            "friction not at the bound": (slide[0] * (1, 0.5, 0.5), slide[1]),
            "friction across the slip": (slide[0], turned),
            "friction along the slip": (slide[0], -slide[1]),
        }
        for what, (impulse, velocity) in broken.items():
            contact = as_contact(friction, impulse=impulse)
            assert natural_residual(contact, *velocity) > 1e-3, what
            assert primal_residual(contact, *velocity) > 1e-3, what


@given(impulse=triples, velocity=triples, friction=frictions, mass=st.floats(0.01, 100.0))
@settings(max_examples=200, deadline=None)
def test_natural_residual_against_the_slow_version(impulse, velocity, friction, mass):
    """With bias and compliance, for impulses in and out of the cone."""
    impulse, velocity = np.array(impulse), np.array(velocity)
    contact = as_contact(friction, mass, bias=0.3, compliance=0.02, impulse=impulse)
    local = velocity + [0.3 + 0.02 * impulse[0], 0.0, 0.0]
    if impulse[0] == 0.0 and local[0] >= 0.0:
        return  # an open contact counts as zero, see the next test
    expected = oracles.natural_residual(impulse, local, friction, mass)
    assert natural_residual(contact, *velocity) == pytest.approx(expected, rel=1e-11, abs=1e-12)


def test_an_open_contact_counts_as_solved():
    contact = as_contact(0.5, bias=1.0)
    assert natural_residual(contact, -0.5, 3.0, 4.0) == 0.0
    assert natural_residual(contact, -1.5, 0.0, 0.0) > 0.4


def test_compliance_is_the_springs_law():
    """l = -(u + e) / c where it presses: residual zero there and nowhere near."""
    contact = as_contact(0.0, bias=-0.4, compliance=0.1, impulse=(3.0, 0.0, 0.0))
    assert natural_residual(contact, 0.1, 0.0, 0.0) == pytest.approx(0.0, abs=1e-15)
    assert natural_residual(contact, 0.11, 0.0, 0.0) > 1e-3
