"""One compiled call: detect, build rows, solve island by island, integrate, as often as asked."""

from __future__ import annotations

from contactworks.common._jit import kernel

from .detect import detect, nearest_point, place_geoms
from .layout import BAD_SOLUTION, BAD_STATE, BAD_WRENCH, OK
from .motion import free_motion, integrate, place_bodies
from .rows import build_row, warm_start
from .solve import solve_islands

_LARGEST_SPEED = 1e100  # its square is still a float


@kernel
def _prepare(bodies, states, contacts, count, previous, velocities, used, settings):
    """Build the rows of all contacts and give them last step's impulses."""
    velocity, free = velocities
    previous_count = previous.shape[0]
    used[:previous_count] = 0
    first = 0
    last = 0
    for c in range(count):
        contact = contacts[c]
        build_row(contact, bodies, states, velocity, free, settings)
        # Both lists are sorted by pair: one walk finds the pair's contacts of the last step.
        while first < previous_count and (
            previous[first].geom_a < contact.geom_a
            or (
                previous[first].geom_a == contact.geom_a and previous[first].geom_b < contact.geom_b
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
def _first_too_fast(velocity):
    """Return the first body whose velocity is NaN or too large to be integrated, or -1."""
    for i in range(velocity.shape[0]):
        for k in range(6):
            if not abs(velocity[i, k]) < _LARGEST_SPEED:
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
        bad = _first_too_fast(free)
        if bad >= 0:
            report.status = BAD_WRENCH
            report.bad_body = bad
            return swapped
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
        last = previous[:previous_count]
        _prepare(bodies, states, contacts, count, last, (velocity, free), used, settings)
        solve_islands(bodies, contacts, count, states, settings, report, velocities, integers)
        bad = _first_too_fast(velocity)
        if bad >= 0:  # the last step's contacts stay, to start the next solve from
            report.status = BAD_SOLUTION
            report.bad_body = bad
            return swapped
        swapped = 1 - swapped
        report.contact_count = count
        report.pair_count = pairs
        integrate(bodies, states, velocity, settings, qpos, qvel)
        report.status = OK
        report.worst_natural = max(report.worst_natural, report.natural)
        report.unconverged_steps += 1 - report.converged
        report.steps_done += 1
    return swapped
