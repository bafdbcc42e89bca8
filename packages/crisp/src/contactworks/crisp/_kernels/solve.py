"""Solving all islands of a step, with the method that suits each, and reporting how well."""

from __future__ import annotations

import math

from contactworks.common._jit import kernel

from .canal import canal_island
from .contact_law import apply_impulse, natural_residual, primal_residual, relative_velocity
from .islands import find_islands
from .layout import SOLVER_HYBRID
from .sweep import island_residual, sweep_island, velocity_from_impulses

_FEW_BODIES = 10
_SMALL_ISLAND = 4
_MASS_RATIO = 30.0
_OVERSOLVE = 0.01
_REST_SPEED = 1e-10  # m/s
_ROUNDING = 1e-15


@kernel
def _come_to_rest(contacts, members, island, bodies, velocity, work, tolerance):
    """Set the velocities of an island to zero if they are below what the solver resolves.

    Only where the contact law then still holds to the tolerance; the impulses stay. Otherwise
    rounding noise of resting bodies would be integrated, and grow where a rest is unstable.
    Returns whether the island rests.
    """
    speed = min(_REST_SPEED, tolerance)
    for body in island:
        radius = bodies[body].radius
        for k in range(3):
            if abs(velocity[body, k]) > speed or abs(velocity[body, 3 + k]) * radius > speed:
                return False
    for index in members:  # fixed bodies too, whose velocity is zero already
        contact = contacts[index]
        for k in range(6):
            work[contact.body_a, k] = 0.0
            work[contact.body_b, k] = 0.0
    if island_residual(contacts, members, work) > tolerance:
        return False
    for body in island:
        for k in range(6):
            velocity[body, k] = 0.0
    return True


@kernel
def _rounding_floor(contacts, members):
    """Return the residual below which rounding of the velocity updates hides the law [m/s]."""
    worst = 0.0
    for index in members:
        contact = contacts[index]
        worst = max(worst, contact.delassus[0] * contact.impulse[0])
    return _ROUNDING * worst


@kernel
def _is_stiff(island, bodies):
    """Return whether Newton should come first: few bodies, or masses far apart."""
    heaviest = 0.0
    lightest = math.inf
    for body in island:
        heaviest = max(heaviest, bodies[body].mass)
        lightest = min(lightest, bodies[body].mass)
    return island.shape[0] <= _SMALL_ISLAND or heaviest > _MASS_RATIO * lightest


@kernel
def _solve_island(contacts, members, island, bodies, states, free, velocity, work, local, settings):
    """Solve one island by the chosen method; return (residual, converged, sweeps, Newton)."""
    few = island.shape[0] <= _FEW_BODIES
    tolerance = settings.tolerance
    if tolerance <= 0.0:
        tolerance = 1e-10 if few else 1e-8
    # Small islands are solved well below the tolerance: it costs them one Newton step, and errors
    # of the tolerance's size would add up from step to step, e.g. at the very limit of friction.
    target = _OVERSOLVE * tolerance if few else tolerance
    velocity_from_impulses(contacts, members, island, free, velocity)
    residual = island_residual(contacts, members, velocity)
    if residual <= tolerance and _come_to_rest(
        contacts, members, island, bodies, velocity, work[0], tolerance
    ):
        return residual, True, 0, 0
    sweeps = 0
    newton = 0
    # Newton first where islands are small or stiff: sweeps would leave lateral forces there that
    # oppose each other and use up friction. Otherwise sweeps first, since Newton needs an active
    # set that is nearly right. If that does not do, both in turn.
    sweeps_first = settings.solver == SOLVER_HYBRID and not _is_stiff(island, bodies)
    control = (tolerance, target, 1e3, 10.0, settings.max_newton)
    if sweeps_first:
        control = (tolerance, target, 30.0, 3.0, settings.max_newton)
    if residual > target and sweeps_first:
        residual, sweeps = sweep_island(
            contacts, members, island, free, velocity, work, target, settings.max_sweeps
        )
    if residual > target:
        residual, newton = canal_island(
            contacts, members, island, bodies, states, free, velocity, work, local, control
        )
    tolerance = max(tolerance, _rounding_floor(contacts, members))
    if residual > tolerance and settings.solver == SOLVER_HYBRID and not sweeps_first:
        residual, sweeps = sweep_island(
            contacts, members, island, free, velocity, work, target, settings.max_sweeps
        )
        control = (tolerance, target, 30.0, 3.0, settings.max_newton)
        if residual > target:
            residual, more = canal_island(
                contacts, members, island, bodies, states, free, velocity, work, local, control
            )
            newton += more
    _come_to_rest(contacts, members, island, bodies, velocity, work[0], tolerance)
    return residual, residual <= tolerance, sweeps, newton


@kernel
def _dual_residual(bodies, states, contacts, count, free, velocity, work):
    """Return the largest entry of M v - M v_f - J^T l, as linear [N s] and angular [N m s]."""
    for i in range(bodies.shape[0]):
        for k in range(6):
            work[i, k] = velocity[i, k] - free[i, k]
    for c in range(count):
        contact = contacts[c]
        impulse = contact.impulse
        apply_impulse(contact, -impulse[0], -impulse[1], -impulse[2], work)
    worst = 0.0
    for i in range(bodies.shape[0]):
        if bodies[i].inverse_mass == 0.0:
            continue
        inertia = states[i].inertia
        for k in range(3):
            worst = max(worst, abs(bodies[i].mass * work[i, k]))
            total = 0.0
            for m in range(3):
                total += inertia[k, m] * work[i, 3 + m]
            worst = max(worst, abs(total))
    return worst


@kernel
def solve_islands(bodies, contacts, count, states, settings, report, velocities, integers):
    """Solve all islands and report the residuals."""
    velocity, free, work_one, work_two = velocities
    parent, body_start, body_list, start, members, local = integers
    islands = find_islands(bodies, contacts, count, parent, body_start, body_list, start, members)
    report.island_count = islands
    report.sweeps = 0
    report.newton = 0
    report.converged = 1
    for i in range(bodies.shape[0]):
        for k in range(6):
            velocity[i, k] = free[i, k]
    for k in range(islands):
        _, converged, sweeps, newton = _solve_island(
            contacts,
            members[start[k] : start[k + 1]],
            body_list[body_start[k] : body_start[k + 1]],
            bodies,
            states,
            free,
            velocity,
            (work_one, work_two),
            local,
            settings,
        )
        report.sweeps = max(report.sweeps, sweeps)
        report.newton = max(report.newton, newton)
        if not converged:
            report.converged = 0
    report.primal = 0.0
    report.natural = 0.0
    for c in range(count):
        contact = contacts[c]
        un, u1, u2 = relative_velocity(contact, velocity)
        report.primal = max(report.primal, primal_residual(contact, un, u1, u2))
        report.natural = max(report.natural, natural_residual(contact, un, u1, u2))
        for m in range(3):
            contact.impulse_world[m] = (
                contact.impulse[0] * contact.frame[0, m]
                + contact.impulse[1] * contact.frame[1, m]
                + contact.impulse[2] * contact.frame[2, m]
            )
    report.dual = _dual_residual(bodies, states, contacts, count, free, velocity, work_one)
