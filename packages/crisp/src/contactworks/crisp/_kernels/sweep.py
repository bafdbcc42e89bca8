"""Projected Gauss-Seidel with exact local solves, extrapolated by nonlinear conjugate gradients.

It brings an island near its solution cheaply; the Newton solve of ``canal`` finishes.
Source: Silcowitz, Niebuhr and Erleben (2010) for the extrapolation (Fletcher-Reeves on the change
of a sweep); the local solve is exact for the contact law, see ``contact_law``.
"""

from __future__ import annotations

import math

from contactworks.common._jit import kernel

from .contact_law import apply_impulse, natural_residual, relative_velocity, solve_one_contact

_CHECK_EVERY = 25


@kernel
def island_residual(contacts, members, velocity):
    """Return the largest natural residual over the island's contacts [m/s]."""
    worst = 0.0
    for index in members:
        contact = contacts[index]
        un, u1, u2 = relative_velocity(contact, velocity)
        residual = natural_residual(contact, un, u1, u2)
        if not math.isfinite(residual):  # a NaN must not look like convergence
            return math.inf
        worst = max(worst, residual)
    return worst


@kernel
def velocity_from_impulses(contacts, members, bodies, free_velocity, velocity):
    """Set v = v_f + M^-1 J^T l for the island's bodies: the dynamics then hold to rounding."""
    for body in bodies:
        for k in range(6):
            velocity[body, k] = free_velocity[body, k]
    for index in members:
        contact = contacts[index]
        impulse = contact.impulse
        if impulse[0] != 0.0:
            apply_impulse(contact, impulse[0], impulse[1], impulse[2], velocity)


@kernel
def _sweep(contacts, members, velocity):
    """Solve each contact in turn; return (sum of w |change|^2, largest w |change|)."""
    total = 0.0
    largest = 0.0
    for index in members:
        contact = contacts[index]
        impulse = contact.impulse
        change = contact.change
        un, u1, u2 = relative_velocity(contact, velocity)
        ln = impulse[0]
        qn = un + contact.bias + contact.compliance * ln
        l1 = impulse[1]
        l2 = impulse[2]
        if ln == 0.0 and l1 == 0.0 and l2 == 0.0 and qn >= 0.0:
            change[0] = 0.0
            change[1] = 0.0
            change[2] = 0.0
            continue
        w = contact.delassus
        coupled = w[1] * l1 + w[2] * l2
        nn, n1, n2, slip = solve_one_contact(
            w,
            qn - w[0] * ln - coupled,
            u1 - w[1] * (ln + coupled / w[0]) - w[3] * l1,
            u2 - w[2] * (ln + coupled / w[0]) - w[4] * l2,
            contact.friction,
            contact.slip,
        )
        contact.slip = slip
        dn = nn - ln
        d1 = n1 - l1
        d2 = n2 - l2
        change[0] = dn
        change[1] = d1
        change[2] = d2
        impulse[0] = nn
        impulse[1] = n1
        impulse[2] = n2
        apply_impulse(contact, dn, d1, d2, velocity)
        square = dn * dn + d1 * d1 + d2 * d2
        total += w[0] * square
        largest = max(largest, w[0] * math.sqrt(square))
    return total, largest


@kernel
def _keep_best(contacts, members):
    for index in members:
        contact = contacts[index]
        for k in range(3):
            contact.best[k] = contact.impulse[k]


@kernel
def restore_best(contacts, members):
    """Take back the impulses of the best iterate."""
    for index in members:
        contact = contacts[index]
        for k in range(3):
            contact.impulse[k] = contact.best[k]


@kernel
def sweep_island(contacts, members, bodies, free_velocity, velocity, work, tolerance, limit):
    """Improve the island's impulses; return (residual of the best iterate, sweeps done).

    Impulses and velocities end at the best iterate seen, the starting one included. ``work`` holds
    two velocity arrays (before the sweep; conjugate direction).
    """
    before, momentum = work
    best = island_residual(contacts, members, velocity)
    _keep_best(contacts, members)
    for index in members:
        for k in range(3):
            contacts[index].momentum[k] = 0.0
    for body in bodies:
        for k in range(6):
            momentum[body, k] = 0.0
    previous = math.inf
    done = 0
    for iteration in range(limit):
        for body in bodies:
            for k in range(6):
                before[body, k] = velocity[body, k]
        total, largest = _sweep(contacts, members, velocity)
        done += 1
        last = iteration == limit - 1
        if largest <= tolerance or last or iteration % _CHECK_EVERY == _CHECK_EVERY - 1:
            residual = island_residual(contacts, members, velocity)
            if residual < best:
                best = residual
                _keep_best(contacts, members)
            if best <= tolerance:
                break
        if last:
            break
        if not math.isfinite(total):
            break
        factor = total / previous if total <= previous and previous > 0.0 else 0.0
        for index in members:
            contact = contacts[index]
            for k in range(3):
                step = factor * contact.momentum[k]
                contact.impulse[k] += step
                contact.momentum[k] = step + contact.change[k]
        for body in bodies:
            for k in range(6):
                change = velocity[body, k] - before[body, k]
                step = factor * momentum[body, k]
                velocity[body, k] += step
                momentum[body, k] = step + change
        previous = total
    restore_best(contacts, members)
    velocity_from_impulses(contacts, members, bodies, free_velocity, velocity)
    return best, done
