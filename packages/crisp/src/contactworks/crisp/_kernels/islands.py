"""Islands: groups of moving bodies that touch one another, solved one by one."""

from __future__ import annotations

from contactworks.common._jit import kernel


@kernel
def _root(parent, i):
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@kernel
def find_islands(bodies, contacts, count, parent, body_start, body_list, start, members):
    """Group moving bodies that touch; return the number of islands that have contacts.

    Island k has the contacts ``members[start[k]:start[k + 1]]`` and the bodies
    ``body_list[body_start[k]:body_start[k + 1]]``, in the order of their indices.
    """
    n = bodies.shape[0]
    for i in range(n):
        parent[i] = i
    for c in range(count):
        a = contacts[c].body_a
        b = contacts[c].body_b
        if bodies[a].inverse_mass > 0.0 and bodies[b].inverse_mass > 0.0:
            ra = _root(parent, a)
            rb = _root(parent, b)
            if ra != rb:
                parent[max(ra, rb)] = min(ra, rb)
    islands = 0
    # ``body_start`` serves as the number of a root's island while islands are counted.
    for i in range(n):
        start[i] = 0
        body_start[i] = -1
    for c in range(count):
        contact = contacts[c]
        body = contact.body_a if bodies[contact.body_a].inverse_mass > 0.0 else contact.body_b
        root = _root(parent, body)
        if body_start[root] < 0:
            body_start[root] = islands
            islands += 1
        contact.island = body_start[root]
        start[contact.island] += 1
    total = 0
    for k in range(islands):
        size = start[k]
        start[k] = total
        total += size
    start[islands] = total
    for c in range(count):
        members[start[contacts[c].island]] = c
        start[contacts[c].island] += 1
    for k in range(islands, 0, -1):
        start[k] = start[k - 1]
    start[0] = 0
    # Bodies, by counting over their root's island.
    for i in range(n):
        root = _root(parent, i)
        parent[i] = root
    for i in range(n):
        body_list[i] = body_start[parent[i]] if bodies[i].inverse_mass > 0.0 else -1
    for k in range(islands + 1):
        body_start[k] = 0
    for i in range(n):
        if body_list[i] >= 0:
            body_start[body_list[i] + 1] += 1
    for k in range(islands):
        body_start[k + 1] += body_start[k]
    for i in range(n):
        parent[i] = body_list[i]
    for i in range(n):
        if parent[i] >= 0:
            body_list[body_start[parent[i]]] = i
            body_start[parent[i]] += 1
    for k in range(islands, 0, -1):
        body_start[k] = body_start[k - 1]
    body_start[0] = 0
    return islands
