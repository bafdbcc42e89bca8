"""Pairs against a comparison of all boxes with all, in random scenes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contactworks.crisp._kernels.detect import broad_phase
from contactworks.crisp._kernels.layout import (
    BODY,
    BOX,
    GEOM,
    GEOM_STATE,
    PAIR_ENABLED,
    PLANE,
    make_records,
)


def make_scene(rng, count, body_count, planes):
    """Boxes of random places and sizes on random bodies; body 0 and some others do not move."""
    bodies = make_records(body_count, BODY)
    bodies["inverse_mass"] = rng.random(body_count) < 0.8
    bodies[0]["inverse_mass"] = 0.0
    geoms = make_records(count, GEOM)
    states = make_records(count, GEOM_STATE)
    for g in range(count):
        is_plane = g < planes
        geoms[g]["kind"] = PLANE if is_plane else rng.integers(1, BOX + 1)
        geoms[g]["body"] = 0 if is_plane else rng.integers(body_count)
        place = np.round(rng.uniform(-1.0, 1.0, 3), 1)  # ties among the bounds
        half = np.full(3, 0.005) if is_plane else np.round(rng.uniform(0.05, 0.3, 3), 2)
        states[g]["position"] = place
        states[g]["rotation"] = np.linalg.qr(rng.standard_normal((3, 3)))[0]
        states[g]["lower"], states[g]["upper"] = place - half, place + half
    flags = np.full((body_count, body_count), PAIR_ENABLED, np.uint8)
    for a, b in rng.integers(0, body_count, (3, 2)):
        flags[a, b] = flags[b, a] = 0
    return bodies, geoms, states, flags


def brute_force(bodies, geoms, states, flags):
    pairs = set()
    for g, h in itertools.combinations(range(len(geoms)), 2):
        a, b = geoms["body"][g], geoms["body"][h]
        fixed = bodies["inverse_mass"][a] + bodies["inverse_mass"][b] == 0.0
        if a == b or fixed or not flags[a, b] & PAIR_ENABLED:
            continue
        one, two = (g, h) if (geoms["kind"][g], g) < (geoms["kind"][h], h) else (h, g)
        if geoms["kind"][two] == PLANE:
            continue
        if geoms["kind"][one] == PLANE:
            corners = itertools.product(
                *zip(states["lower"][two], states["upper"][two], strict=True)
            )
            normal = states["rotation"][one][:, 2]
            low = min((np.array(c) - states["position"][one]) @ normal for c in corners)
            near = low <= 0.005
        else:
            near = np.all(states["lower"][one] <= states["upper"][two]) and np.all(
                states["lower"][two] <= states["upper"][one]
            )
        if near:
            pairs.add((one, two))
    return pairs


def run(bodies, geoms, states, flags, order, capacity=2000):
    bodies, geoms = bodies.copy(), geoms.copy()
    bodies.flags.writeable = geoms.flags.writeable = False
    keys = np.zeros(capacity, np.int64)
    count = broad_phase(bodies, geoms, states, flags, order, keys)
    return count, keys[: min(count, capacity)]


@given(count=st.integers(0, 30), planes=st.integers(0, 3), seed=st.integers(0, 2**32 - 1))
@settings(max_examples=120, deadline=None)
def test_against_all_pairs(count, planes, seed):
    rng = np.random.default_rng(seed)
    count = max(count, planes)
    scene = make_scene(rng, count, 6, planes)
    expected = brute_force(*scene)
    found, keys = run(*scene, rng.permutation(count).astype(np.int64))
    assert found == len(expected)
    assert {divmod(int(key), count) for key in keys} == expected
    assert np.all(np.diff(keys) > 0)


def test_the_order_of_the_last_step_does_not_matter():
    rng = np.random.default_rng(1)
    scene = make_scene(rng, 20, 6, 2)
    results = [run(*scene, rng.permutation(20).astype(np.int64))[1] for _ in range(10)]
    assert all(np.array_equal(result, results[0]) for result in results)


@pytest.mark.kernel
def test_a_full_buffer_still_tells_the_number():
    scene = make_scene(np.random.default_rng(2), 12, 6, 1)
    expected = brute_force(*scene)
    assert len(expected) > 3
    found, _ = run(*scene, np.arange(12, dtype=np.int64), capacity=2)
    assert found == len(expected)
