"""Islands against SciPy's connected components."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from contactworks.crisp._kernels.islands import find_islands
from contactworks.crisp._kernels.layout import BODY, CONTACT, make_records


def islands(moving, links):
    """Return the islands as a list of (contacts, bodies)."""
    n = len(moving)
    bodies = make_records(n, BODY)
    bodies["inverse_mass"] = moving
    bodies.flags.writeable = False  # as a model's are
    contacts = make_records(len(links), CONTACT)
    contacts["body_a"] = [a for a, _ in links]
    contacts["body_b"] = [b for _, b in links]
    parent, body_start, body_list, start = (np.full(n + 2, 77, np.int64) for _ in range(4))
    members = np.full(len(links), 77, np.int64)
    count = find_islands(
        bodies, contacts, len(links), parent, body_start, body_list, start, members
    )
    found = [
        (
            [int(c) for c in members[start[k] : start[k + 1]]],
            [int(b) for b in body_list[body_start[k] : body_start[k + 1]]],
        )
        for k in range(count)
    ]
    assert all(contacts["island"][c] == k for k, (own, _) in enumerate(found) for c in own)
    return found


@given(n=st.integers(2, 30), ties=st.integers(0, 40), seed=st.integers(0, 2**32 - 1))
@settings(max_examples=150, deadline=None)
def test_against_connected_components(n, ties, seed):
    rng = np.random.default_rng(seed)
    moving = np.ones(n)
    moving[0] = 0.0
    moving[rng.random(n) < 0.2] = 0.0
    links = [
        (int(a), int(b)) for a, b in rng.integers(0, n, (ties, 2)) if moving[a] + moving[b] > 0
    ]
    links = [(a, b) for a, b in links if a != b]
    found = islands(moving, links)

    inner = [(a, b) for a, b in links if moving[a] and moving[b]]
    rows, columns = ([pair[k] for pair in inner] for k in (0, 1))
    graph = coo_matrix((np.ones(len(inner)), (rows, columns)), shape=(n, n))
    _, label = connected_components(graph, directed=False)
    touched = {}
    for c, (a, b) in enumerate(links):
        touched.setdefault(label[a if moving[a] else b], []).append(c)
    expected = {
        (tuple(own), tuple(i for i in range(n) if moving[i] and label[i] == key))
        for key, own in touched.items()
    }
    assert {(tuple(own), tuple(members)) for own, members in found} == expected


@pytest.mark.kernel
def test_the_world_joins_nothing():
    """Two bodies on one floor are two islands; a third that touches both makes it one."""
    assert islands([0.0, 1.0, 1.0], [(0, 1), (0, 2)]) == [([0], [1]), ([1], [2])]
    assert islands([0.0, 1.0, 1.0, 1.0], [(0, 1), (3, 2), (0, 2), (1, 3)]) == [
        ([0, 1, 2, 3], [1, 2, 3])
    ]


@pytest.mark.kernel
def test_no_contacts_no_islands():
    assert islands([0.0, 1.0, 1.0], []) == []
