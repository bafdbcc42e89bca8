"""One compiled call: detect, build rows, solve island by island, integrate, as often as asked."""

from __future__ import annotations

import math

from contactworks.common._jit import kernel
from contactworks.common._kernels.rotations import (
    quaternion_exp,
    quaternion_multiply,
    quaternion_normalize,
    quaternion_to_matrix,
    rotate,
)

from .canal import canal_island
from .contact_law import apply_impulse, natural_residual, primal_residual, relative_velocity
from .detect import detect, nearest_point, place_geoms
from .layout import BAD_SOLUTION, BAD_STATE, OK, SOLVER_HYBRID
from .rows import build_row, warm_start
from .sweep import island_residual, sweep_island, velocity_from_impulses

_FEW_BODIES = 10
_SMALL_ISLAND = 4
_OVERSOLVE = 0.01
_REST_SPEED = 1e-10  # m/s
_ROUNDING = 1e-15
_MASS_RATIO = 30.0


@kernel
def place_bodies(bodies, qpos, qvel, states, velocity):
    """Write centre, rotation, inertia and velocity (of the centre, world frame) of every body.

    Returns the index of the first body whose state is not finite or not a rotation, or -1.
    """
    bad = -1
    for i in range(bodies.shape[0]):
        body = bodies[i]
        state = states[i]
        if body.qpos < 0:
            quaternion_to_matrix(1.0, 0.0, 0.0, 0.0, state.rotation)
            for k in range(3):
                state.center[k] = body.center[k]
            for k in range(6):
                velocity[i, k] = 0.0
            for j in range(3):
                for k in range(3):
                    state.inverse_inertia[j, k] = 0.0
                    state.inertia[j, k] = 0.0
            continue
        q = body.qpos
        d = body.dof
        total = 0.0
        for k in range(7):
            total += abs(qpos[q + k])
        for k in range(6):
            total += abs(qvel[d + k])
        w = qpos[q + 3]
        x = qpos[q + 4]
        y = qpos[q + 5]
        z = qpos[q + 6]
        length = w * w + x * x + y * y + z * z
        if (not math.isfinite(total) or abs(length - 1.0) > 1e-6) and bad < 0:
            bad = i
        r = state.rotation
        quaternion_to_matrix(w, x, y, z, r)
        c = body.center
        ox = r[0, 0] * c[0] + r[0, 1] * c[1] + r[0, 2] * c[2]
        oy = r[1, 0] * c[0] + r[1, 1] * c[1] + r[1, 2] * c[2]
        oz = r[2, 0] * c[0] + r[2, 1] * c[1] + r[2, 2] * c[2]
        state.center[0] = qpos[q] + ox
        state.center[1] = qpos[q + 1] + oy
        state.center[2] = qpos[q + 2] + oz
        wx, wy, wz = rotate(w, x, y, z, qvel[d + 3], qvel[d + 4], qvel[d + 5])
        velocity[i, 0] = qvel[d] + wy * oz - wz * oy
        velocity[i, 1] = qvel[d + 1] + wz * ox - wx * oz
        velocity[i, 2] = qvel[d + 2] + wx * oy - wy * ox
        velocity[i, 3] = wx
        velocity[i, 4] = wy
        velocity[i, 5] = wz
        for j in range(3):
            for k in range(3):
                forward = 0.0
                inverse = 0.0
                for m in range(3):
                    for n in range(3):
                        both = r[j, m] * r[k, n]
                        forward += both * body.inertia[m, n]
                        inverse += both * body.inverse_inertia[m, n]
                state.inertia[j, k] = forward
                state.inverse_inertia[j, k] = inverse
    return bad


@kernel
def free_motion(bodies, states, velocity, wrench, settings, free_velocity):
    """Write the velocities at the end of the step without contact.

    Angular momentum is carried over exactly: the step that led here rotated the body by dt w after
    its momentum was set, so L = exp(-dt w) I w with today's inertia I; to first order that is the
    gyroscopic term.
    """
    dt = settings.timestep
    for i in range(bodies.shape[0]):
        body = bodies[i]
        v = velocity[i]
        out = free_velocity[i]
        if body.inverse_mass == 0.0:
            for k in range(6):
                out[k] = 0.0
            continue
        inertia = states[i].inertia
        inverse = states[i].inverse_inertia
        for k in range(3):
            out[k] = v[k] + dt * (settings.gravity[k] + wrench[i, k] * body.inverse_mass)
        lx = inertia[0, 0] * v[3] + inertia[0, 1] * v[4] + inertia[0, 2] * v[5]
        ly = inertia[1, 0] * v[3] + inertia[1, 1] * v[4] + inertia[1, 2] * v[5]
        lz = inertia[2, 0] * v[3] + inertia[2, 1] * v[4] + inertia[2, 2] * v[5]
        qw, qx, qy, qz = quaternion_exp(-dt * v[3], -dt * v[4], -dt * v[5])
        mx, my, mz = rotate(qw, qx, qy, qz, lx, ly, lz)
        # Only the change is put through the inverse: bodies at rest stay bitwise at rest.
        mx += dt * wrench[i, 3] - lx
        my += dt * wrench[i, 4] - ly
        mz += dt * wrench[i, 5] - lz
        for k in range(3):
            out[3 + k] = v[3 + k] + inverse[k, 0] * mx + inverse[k, 1] * my + inverse[k, 2] * mz


@kernel
def integrate(bodies, states, velocity, settings, qpos, qvel):
    """Move the poses with the new velocities (exponential map) and store the velocities."""
    dt = settings.timestep
    for i in range(bodies.shape[0]):
        body = bodies[i]
        if body.qpos < 0:
            continue
        q = body.qpos
        d = body.dof
        v = velocity[i]
        ew, ex, ey, ez = quaternion_exp(dt * v[3], dt * v[4], dt * v[5])
        w, x, y, z = quaternion_multiply(
            ew, ex, ey, ez, qpos[q + 3], qpos[q + 4], qpos[q + 5], qpos[q + 6]
        )
        w, x, y, z = quaternion_normalize(w, x, y, z)
        c = body.center
        ox, oy, oz = rotate(w, x, y, z, c[0], c[1], c[2])
        qpos[q] = states[i].center[0] + dt * v[0] - ox
        qpos[q + 1] = states[i].center[1] + dt * v[1] - oy
        qpos[q + 2] = states[i].center[2] + dt * v[2] - oz
        qpos[q + 3] = w
        qpos[q + 4] = x
        qpos[q + 5] = y
        qpos[q + 6] = z
        qvel[d] = v[0] - (v[4] * oz - v[5] * oy)
        qvel[d + 1] = v[1] - (v[5] * ox - v[3] * oz)
        qvel[d + 2] = v[2] - (v[3] * oy - v[4] * ox)
        bx, by, bz = rotate(w, -x, -y, -z, v[3], v[4], v[5])
        qvel[d + 3] = bx
        qvel[d + 4] = by
        qvel[d + 5] = bz


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
def _solve(bodies, contacts, count, states, settings, report, velocities, integers):
    """Solve all islands and report the residuals."""
    velocity, free, work_one, work_two = velocities
    parent, body_start, body_list, start, members, local = integers
    islands = find_islands(
        bodies, contacts, count, parent, body_start, body_list, start, members
    )
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


@kernel
def _prepare(bodies, contacts, count, previous, previous_count, states, velocity, free, used, settings):
    """Build the rows of all contacts and give them last step's impulses."""
    for i in range(previous_count):
        used[i] = 0
    first = 0
    last = 0
    for c in range(count):
        contact = contacts[c]
        build_row(contact, bodies, states, velocity, free, settings)
        # Both lists are sorted by pair: one walk finds the pair's contacts of the last step.
        while first < previous_count and (
            previous[first].geom_a < contact.geom_a
            or (
                previous[first].geom_a == contact.geom_a
                and previous[first].geom_b < contact.geom_b
            )
        ):
            first += 1
        last = max(last, first)
        while (
            last < previous_count
            and previous[last].geom_a == contact.geom_a
            and previous[last].geom_b == contact.geom_b
        ):
            last += 1
        key = contact.body_b if bodies[contact.body_b].inverse_mass > 0.0 else contact.body_a
        warm_start(contact, previous, first, last, used, states[key].rotation, states[key].center)


@kernel
def measure(bodies, geoms, settings_array, qpos, qvel, states, geom_states, velocity, work, query):
    """Return whether bodies a and b are within a distance now; write the nearest row.

    ``query`` is (a, b, distance, out).
    """
    a, b, distance, out = query
    place_bodies(bodies, qpos, qvel, states, velocity)
    place_geoms(bodies, geoms, qpos, states, geom_states, velocity, settings_array[0])
    return nearest_point(geoms, geom_states, a, b, distance, work, out)


@kernel
def _first_not_finite(velocity):
    for i in range(velocity.shape[0]):
        for k in range(6):
            if not math.isfinite(velocity[i, k]):
                return i
    return -1


@kernel
def step(
    steps,
    bodies,
    geoms,
    settings_array,
    qpos,
    qvel,
    wrench,
    pair_flags,
    laws,
    states,
    geom_states,
    contacts,
    previous,
    report_array,
    velocities,
    integers,
    buffers,
):
    """Advance ``steps`` time steps in place.

    Returns 1 if the roles of ``contacts`` and ``previous`` were exchanged an odd number of times.
    A step that cannot be done (buffer too small, state not finite) leaves the state as it was
    before that step and says so in the report.
    """
    settings = settings_array[0]
    report = report_array[0]
    velocity = velocities[0]
    free = velocities[1]
    order, keys, used, points, scratch = buffers
    report.worst_natural = 0.0
    report.unconverged_steps = 0
    report.steps_done = 0
    swapped = 0
    for _ in range(steps):
        bad = place_bodies(bodies, qpos, qvel, states, velocity)
        if bad >= 0:
            report.status = BAD_STATE
            report.bad_body = bad
            return swapped
        free_motion(bodies, states, velocity, wrench, settings, free)
        place_geoms(bodies, geoms, qpos, states, geom_states, free, settings)
        # The last step's contacts are the earlier buffer of the two.
        contacts, previous = previous, contacts
        previous_count = report.contact_count
        status, count, pairs = detect(
            bodies,
            geoms,
            geom_states,
            pair_flags,
            laws,
            free,
            settings,
            order,
            keys,
            contacts,
            (points, scratch),
        )
        if status != OK:
            report.status = status
            report.pair_count = max(pairs, count)  # what the caller has to make room for
            return swapped
        swapped = 1 - swapped
        _prepare(
            bodies, contacts, count, previous, previous_count, states, velocity, free, used, settings
        )
        _solve(bodies, contacts, count, states, settings, report, velocities, integers)
        report.contact_count = count
        report.pair_count = pairs
        bad = _first_not_finite(velocity)
        if bad >= 0:
            report.status = BAD_SOLUTION
            report.bad_body = bad
            return swapped
        integrate(bodies, states, velocity, settings, qpos, qvel)
        report.status = OK
        report.worst_natural = max(report.worst_natural, report.natural)
        report.unconverged_steps += 1 - report.converged
        report.steps_done += 1
    return swapped
