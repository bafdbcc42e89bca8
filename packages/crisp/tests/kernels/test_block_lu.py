"""Block elimination against numpy.linalg.solve on random graphs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contactworks.crisp._kernels.block_lu import factorise, solve, symbolic


def random_system(rng, n, density):
    """A block matrix like that of Newton: mass, plus a contact's non-symmetric J^T D J per edge."""
    adjacent = np.triu(rng.random((n, n)) < density, 1)
    full = np.zeros((6 * n, 6 * n))
    for i in range(n):
        root = rng.standard_normal((6, 6))
        full[6 * i : 6 * i + 6, 6 * i : 6 * i + 6] = root @ root.T + np.eye(6)
    for i, j in zip(*np.nonzero(adjacent), strict=True):
        rows = np.zeros((3, 6 * n))
        rows[:, 6 * i : 6 * i + 6] = rng.standard_normal((3, 6))
        rows[:, 6 * j : 6 * j + 6] = rng.standard_normal((3, 6))
        weights = np.diag(rng.uniform(0.1, 10.0, 3))
        weights[1, 0] = 0.3  # friction's coupling
        full += rows.T @ weights @ rows
    return (adjacent | adjacent.T).astype(np.uint8), full


def run(adjacent, full, rhs):
    n = len(adjacent)
    original = adjacent.copy()
    order, start, later, pointer, count = symbolic(adjacent.copy())
    blocks = np.zeros((count, 6, 6))
    for i in range(n):
        for j in range(n):
            if i == j or original[i, j]:
                blocks[pointer[i, j]] = full[6 * i : 6 * i + 6, 6 * j : 6 * j + 6]
    ok = factorise(blocks, order, start, later, pointer, np.empty((6, 6)))
    x = rhs.reshape(n, 6).copy()
    if ok:
        solve(blocks, order, start, later, pointer, x)
    return ok, x.ravel(), (order, start, later, pointer, count)


@given(n=st.integers(1, 12), density=st.floats(0.0, 1.0), seed=st.integers(0, 2**32 - 1))
@settings(max_examples=80, deadline=None)
def test_against_a_dense_solve(n, density, seed):
    rng = np.random.default_rng(seed)
    adjacent, full = random_system(rng, n, density)
    rhs = rng.standard_normal(6 * n)
    ok, x, _ = run(adjacent, full, rhs)
    assert ok
    np.testing.assert_allclose(x, np.linalg.solve(full, rhs), rtol=1e-7, atol=1e-9)


@pytest.mark.kernel
def test_a_chain_and_a_clique():
    rng = np.random.default_rng(1)
    for adjacent in (np.eye(4, k=1) + np.eye(4, k=-1), np.ones((3, 3)) - np.eye(3)):
        graph = adjacent.astype(np.uint8)
        full = random_system(rng, len(graph), 0.0)[1]
        for i, j in zip(*np.nonzero(np.triu(graph)), strict=True):
            full[6 * i : 6 * i + 6, 6 * j : 6 * j + 6] = 0.1 * rng.standard_normal((6, 6))
            full[6 * j : 6 * j + 6, 6 * i : 6 * i + 6] = 0.1 * rng.standard_normal((6, 6))
        rhs = rng.standard_normal(len(full))
        ok, x, _ = run(graph, full, rhs)
        assert ok
        np.testing.assert_allclose(x, np.linalg.solve(full, rhs), rtol=1e-9)


@given(n=st.integers(1, 15), density=st.floats(0.0, 1.0), seed=st.integers(0, 2**32 - 1))
@settings(max_examples=80, deadline=None)
def test_the_order_is_a_permutation_and_fill_is_closed(n, density, seed):
    """Whatever is eliminated links all its later neighbours: no update may lack a block."""
    adjacent, _ = random_system(np.random.default_rng(seed), n, density)
    order, start, later, pointer, count = symbolic(adjacent.copy())
    assert sorted(order) == list(range(n))
    place = {int(body): step for step, body in enumerate(order)}
    used = pointer[pointer >= 0]
    assert sorted(used) == list(range(count))
    assert np.array_equal(pointer >= 0, (pointer >= 0).T)
    assert np.all((pointer >= 0) >= (adjacent > 0))
    for step in range(n):
        neighbours = later[start[step] : start[step + 1]]
        assert all(place[int(i)] > step for i in neighbours)
        assert all(pointer[i, j] >= 0 for i in neighbours for j in neighbours)


def test_a_chain_has_no_fill():
    graph = (np.eye(30, k=1) + np.eye(30, k=-1)).astype(np.uint8)
    np.random.default_rng(2).shuffle(shuffled := np.arange(30))
    *_, count = symbolic(graph[np.ix_(shuffled, shuffled)].copy())
    assert count == 30 + 2 * 29


@pytest.mark.kernel
def test_a_singular_block_is_reported():
    full = np.zeros((6, 6))
    ok, _, _ = run(np.zeros((1, 1), np.uint8), full, np.ones(6))
    assert not ok
    full = np.eye(6)
    full[5, 5] = np.nan
    ok, _, _ = run(np.zeros((1, 1), np.uint8), full, np.ones(6))
    assert not ok


@pytest.mark.kernel
def test_a_zero_on_the_diagonal_is_pivoted():
    """Row exchanges happen inside a block."""
    full = np.eye(6)[::-1].copy()
    rhs = np.arange(6.0)
    ok, x, _ = run(np.zeros((1, 1), np.uint8), full, rhs)
    assert ok
    np.testing.assert_array_equal(x, rhs[::-1])
