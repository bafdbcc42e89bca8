"""CANAL: augmented Lagrangian with a semismooth Newton method on an island's velocities.

Source: CRISP section V-B and Appendix C, eq. (3), (5)-(8); Lee et al. (2022).
Deviation: the projection of eq. (8), which keeps the normal part, stands inside the Newton
function, so that its fixed points meet the exact law and no De Saxce term is lagged (lagging
contracts by only 0.6 to 0.75 per outer iteration). The penalty is scaled per contact by its
effective mass and adapted: it grows after a quick inner solve and shrinks after a failed one.
"""

from __future__ import annotations

import math

import numpy as np

from contactworks.common._jit import kernel

from .block_lu import factorise, solve, symbolic
from .contact_law import apply_impulse, relative_velocity
from .sweep import island_residual, restore_best, velocity_from_impulses

_INNER_LIMIT = 8
_BACKTRACKS = 7
_PENALTY_MAX = 1e8
_PENALTY_MIN = 0.1


@kernel
def _project(contact, velocity, penalty):
    """Set the trial multiplier P(l - beta (J v + e)); return (beta, normal scale, x)."""
    beta = penalty / (contact.delassus[0] - contact.compliance)
    scale = 1.0 / (1.0 + beta * contact.compliance)
    un, u1, u2 = relative_velocity(contact, velocity)
    xn = contact.multiplier[0] - beta * (un + contact.bias)
    x1 = contact.multiplier[1] - beta * u1
    x2 = contact.multiplier[2] - beta * u2
    trial = contact.trial
    if xn <= 0.0:
        trial[0] = 0.0
        trial[1] = 0.0
        trial[2] = 0.0
        return beta, scale, xn, x1, x2
    trial[0] = scale * xn
    limit = contact.friction * trial[0]
    size = math.sqrt(x1 * x1 + x2 * x2)
    if size <= limit:
        trial[1] = x1
        trial[2] = x2
    else:
        trial[1] = x1 * limit / size
        trial[2] = x2 * limit / size
    return beta, scale, xn, x1, x2


@kernel
def _newton_residual(contacts, members, island, bodies, states, free_velocity, velocity, y):
    """Set y = v_f + M^-1 J^T l(v) - v; return (|y|_M^2, largest entry [m/s])."""
    for body in island:
        for k in range(6):
            y[body, k] = free_velocity[body, k] - velocity[body, k]
    for index in members:
        contact = contacts[index]
        trial = contact.trial
        if trial[0] != 0.0:
            apply_impulse(contact, trial[0], trial[1], trial[2], y)
    norm = 0.0
    largest = 0.0
    for body in island:
        inertia = states[body].inertia
        radius = bodies[body].radius
        for k in range(3):
            norm += bodies[body].mass * y[body, k] * y[body, k]
            largest = max(largest, abs(y[body, k]))
            largest = max(largest, abs(y[body, 3 + k]) * radius)
            for m in range(3):
                norm += y[body, 3 + k] * inertia[k, m] * y[body, 3 + m]
    return norm, largest


@kernel
def _derivative(contact, beta, scale, xn, x1, x2, d):
    """Write beta D, D the generalised Jacobian of the projection, into d (3, 3); False if open."""
    if xn <= 0.0:
        return False
    for i in range(3):
        for j in range(3):
            d[i, j] = 0.0
    d[0, 0] = beta * scale
    limit = contact.friction * scale * xn
    size = math.sqrt(x1 * x1 + x2 * x2)
    if size <= limit:
        d[1, 1] = beta
        d[2, 2] = beta
        return True
    t1 = x1 / size
    t2 = x2 / size
    # Not symmetric: a change of the normal impulse moves the friction bound.
    d[1, 0] = beta * contact.friction * scale * t1
    d[2, 0] = beta * contact.friction * scale * t2
    shrink = beta * limit / size
    d[1, 1] = shrink * (1.0 - t1 * t1)
    d[1, 2] = -shrink * t1 * t2
    d[2, 1] = d[1, 2]
    d[2, 2] = shrink * (1.0 - t2 * t2)
    return True


@kernel
def _jacobian(contact, side, row, k):
    """Return entry k of a row of the contact's Jacobian for body a (0) or b (1)."""
    if side == 0:
        return -contact.frame[row, k] if k < 3 else -contact.arm_a[row, k - 3]
    return contact.frame[row, k] if k < 3 else contact.arm_b[row, k - 3]


@kernel
def _add_contact(contact, d, local, pointer, blocks, work):
    """Add J^T (beta D) J of one contact to the blocks of its moving bodies."""
    for q in range(2):
        body_q = contact.body_a if q == 0 else contact.body_b
        if (contact.inverse_mass_a if q == 0 else contact.inverse_mass_b) == 0.0:
            continue
        for row in range(3):
            for k in range(6):
                total = 0.0
                for m in range(3):
                    total += d[row, m] * _jacobian(contact, q, m, k)
                work[row, k] = total
        for p in range(2):
            body_p = contact.body_a if p == 0 else contact.body_b
            if (contact.inverse_mass_a if p == 0 else contact.inverse_mass_b) == 0.0:
                continue
            block = blocks[pointer[local[body_p], local[body_q]]]
            for i in range(6):
                j0 = _jacobian(contact, p, 0, i)
                j1 = _jacobian(contact, p, 1, i)
                j2 = _jacobian(contact, p, 2, i)
                for k in range(6):
                    block[i, k] += j0 * work[0, k] + j1 * work[1, k] + j2 * work[2, k]


@kernel
def _set_mass_blocks(island, bodies, states, local, pointer, blocks, y, rhs):
    """Start the matrix with M and the right-hand side with M y."""
    blocks[:] = 0.0
    for body in island:
        i = local[body]
        block = blocks[pointer[i, i]]
        mass = bodies[body].mass
        inertia = states[body].inertia
        for k in range(3):
            block[k, k] = mass
            rhs[i, k] = mass * y[body, k]
            total = 0.0
            for m in range(3):
                block[3 + k, 3 + m] = inertia[k, m]
                total += inertia[k, m] * y[body, 3 + m]
            rhs[i, 3 + k] = total


@kernel
def canal_island(
    contacts, members, island, bodies, states, free_velocity, velocity, work, local, control
):
    """Solve the island to the tolerance; return (residual, Newton steps).

    ``control`` is (tolerance, goal, first penalty, growth, Newton limit): the solve goes on to the
    goal while it gains, and may end between goal and tolerance. Impulses and velocities end at the
    best iterate seen, the starting one included.
    """
    tolerance, target, penalty, growth, limit = control
    y, saved = work
    n = island.shape[0]
    adjacent = np.zeros((n, n), np.uint8)
    for i in range(n):
        local[island[i]] = i
    for index in members:
        contact = contacts[index]
        for k in range(3):
            contact.best[k] = contact.impulse[k]
            contact.multiplier[k] = contact.impulse[k]
        if contact.inverse_mass_a > 0.0 and contact.inverse_mass_b > 0.0:
            i = local[contact.body_a]
            j = local[contact.body_b]
            adjacent[i, j] = 1
            adjacent[j, i] = 1
    order, start, later, pointer, block_count = symbolic(adjacent)
    blocks = np.empty((block_count, 6, 6))
    rhs = np.empty((n, 6))
    d = np.empty((3, 3))
    small = np.empty((6, 6))

    best = island_residual(contacts, members, velocity)
    residual = best
    newton = 0
    while newton < limit and best > target:
        for body in island:
            for k in range(6):
                saved[body, k] = velocity[body, k]
        for index in members:
            _project(contacts[index], velocity, penalty)
        norm, largest = _newton_residual(
            contacts, members, island, bodies, states, free_velocity, velocity, y
        )
        goal = max(0.02 * target, min(0.1 * residual, 1e-3))
        inner = 0
        solved = largest <= goal
        while not solved and inner < _INNER_LIMIT and newton < limit:
            _set_mass_blocks(island, bodies, states, local, pointer, blocks, y, rhs)
            for index in members:
                contact = contacts[index]
                beta, scale, xn, x1, x2 = _project(contact, velocity, penalty)
                if _derivative(contact, beta, scale, xn, x1, x2, d):
                    _add_contact(contact, d, local, pointer, blocks, small)
            newton += 1
            inner += 1
            if not factorise(blocks, order, start, later, pointer, small):
                break
            solve(blocks, order, start, later, pointer, rhs)
            accepted = False
            taken = 0.0
            step = 1.0
            for _ in range(_BACKTRACKS):
                for body in island:
                    for k in range(6):
                        velocity[body, k] += (step - taken) * rhs[local[body], k]
                taken = step
                for index in members:
                    _project(contacts[index], velocity, penalty)
                new_norm, largest = _newton_residual(
                    contacts, members, island, bodies, states, free_velocity, velocity, y
                )
                if new_norm <= (1.0 - 2e-4 * step) * norm:
                    accepted = True
                    norm = new_norm
                    break
                if largest <= goal:  # at rounding level the norm may not fall any more
                    accepted = True
                    break
                step *= 0.5
            if not accepted:
                break
            solved = largest <= goal
        if solved:
            for index in members:
                contact = contacts[index]
                for k in range(3):
                    contact.impulse[k] = contact.trial[k]
                    contact.multiplier[k] = contact.trial[k]
            velocity_from_impulses(contacts, members, island, free_velocity, velocity)
            residual = island_residual(contacts, members, velocity)
            if best <= tolerance and residual > 0.5 * best:
                limit = newton  # rounding: no gain any more
            if residual < best:
                best = residual
                for index in members:
                    contact = contacts[index]
                    for k in range(3):
                        contact.best[k] = contact.impulse[k]
            if inner <= 3:
                penalty = min(penalty * growth, _PENALTY_MAX)
            if inner == 0:
                newton += 1  # a pass without a Newton step still counts, so that the loop ends
        else:
            if best <= tolerance:
                break
            for body in island:
                for k in range(6):
                    velocity[body, k] = saved[body, k]
            if penalty <= _PENALTY_MIN:
                break
            penalty = max(0.1 * penalty, _PENALTY_MIN)
    restore_best(contacts, members)
    velocity_from_impulses(contacts, members, island, free_velocity, velocity)
    return best, newton
