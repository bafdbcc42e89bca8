"""Broad phase and narrow phase: poses in, contact records out, in a fixed order."""

from __future__ import annotations

import math

from contactworks.common._jit import kernel
from contactworks.common._kernels.rotations import quaternion_multiply, quaternion_to_matrix

from .layout import (
    BOX,
    CAPSULE,
    CONTACT_OVERFLOW,
    CYLINDER,
    FRICTION_GEOMETRIC,
    FRICTION_MAX,
    OK,
    PAIR_ENABLED,
    PAIR_OVERFLOW,
    PAIR_OWN_LAW,
    PLANE,
    SPHERE,
)
from .narrow_box import box_box
from .narrow_plane import plane_box, plane_capsule, plane_cylinder, plane_sphere
from .narrow_round import (
    capsule_box,
    capsule_capsule,
    sphere_box,
    sphere_capsule,
    sphere_sphere,
)


@kernel
def place_geoms(bodies, geoms, qpos, states, geom_states, velocity, settings):
    """Write the world pose and the grown axis-aligned box of every geom."""
    for g in range(geoms.shape[0]):
        geom = geoms[g]
        state = geom_states[g]
        body = bodies[geom.body]
        r = states[geom.body].rotation
        center = states[geom.body].center
        p = geom.position
        c = body.center
        for k in range(3):
            state.position[k] = (
                center[k]
                + r[k, 0] * (p[0] - c[0])
                + r[k, 1] * (p[1] - c[1])
                + r[k, 2] * (p[2] - c[2])
            )
        q = geom.quaternion
        if body.qpos >= 0:
            i = body.qpos + 3
            w, x, y, z = quaternion_multiply(
                qpos[i], qpos[i + 1], qpos[i + 2], qpos[i + 3], q[0], q[1], q[2], q[3]
            )
        else:
            w, x, y, z = q[0], q[1], q[2], q[3]
        quaternion_to_matrix(w, x, y, z, state.rotation)
        grow = 0.5 * settings.contact_margin + settings.timestep * _speed(
            velocity, geom.body, body.radius
        )
        for k in range(3):
            reach = _reach(geom.kind, geom.dimensions, state.rotation, k) + grow
            state.lower[k] = state.position[k] - reach
            state.upper[k] = state.position[k] + reach


@kernel
def _speed(velocity, body, radius):
    """Return a bound on the speed of the body's points [m/s]."""
    v = velocity[body]
    return math.sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) + radius * math.sqrt(
        v[3] * v[3] + v[4] * v[4] + v[5] * v[5]
    )


@kernel
def _reach(kind, size, rotation, axis):
    """Return the half extent of a shape along a world axis."""
    if kind == SPHERE:
        return size[0]
    if kind == CAPSULE:
        return size[0] + size[1] * abs(rotation[axis, 2])
    if kind == CYLINDER:
        z = rotation[axis, 2]
        return size[1] * abs(z) + size[0] * math.sqrt(max(1.0 - z * z, 0.0))
    return (
        size[0] * abs(rotation[axis, 0])
        + size[1] * abs(rotation[axis, 1])
        + size[2] * abs(rotation[axis, 2])
    )


@kernel
def _may_touch(bodies, geoms, pair_flags, g, h):
    """Return whether two geoms belong to different bodies, one moving, with the pair enabled."""
    a = geoms[g].body
    b = geoms[h].body
    return (
        a != b
        and bodies[a].inverse_mass + bodies[b].inverse_mass > 0.0
        and pair_flags[a, b] & PAIR_ENABLED != 0
    )


@kernel
def broad_phase(bodies, geoms, geom_states, pair_flags, order, keys):
    """Write the keys (first geom * geom count + second) of all pairs whose boxes overlap, sorted.

    Sort and sweep along x; planes meet every geom whose box reaches them. Returns the number of
    pairs, which may exceed the capacity of ``keys``.
    """
    n = geoms.shape[0]
    for i in range(1, n):  # insertion sort: nearly sorted from one step to the next
        g = order[i]
        low = geom_states[g].lower[0]
        j = i - 1
        while j >= 0 and geom_states[order[j]].lower[0] > low:
            order[j + 1] = order[j]
            j -= 1
        order[j + 1] = g
    count = 0
    for i in range(n):
        g = order[i]
        first = geom_states[g]
        if geoms[g].kind == PLANE:
            for h in range(n):
                if geoms[h].kind == PLANE or not _may_touch(bodies, geoms, pair_flags, g, h):
                    continue
                second = geom_states[h]
                height = 0.0
                for k in range(3):
                    middle = 0.5 * (second.lower[k] + second.upper[k])
                    half = 0.5 * (second.upper[k] - second.lower[k])
                    normal = first.rotation[k, 2]
                    height += normal * (middle - first.position[k]) - half * abs(normal)
                if height <= 0.5 * (first.upper[0] - first.lower[0]):
                    if count < keys.shape[0]:
                        keys[count] = g * n + h
                    count += 1
            continue
        for j in range(i + 1, n):
            h = order[j]
            second = geom_states[h]
            if second.lower[0] > first.upper[0]:
                break
            if (
                geoms[h].kind == PLANE
                or second.lower[1] > first.upper[1]
                or second.upper[1] < first.lower[1]
                or second.lower[2] > first.upper[2]
                or second.upper[2] < first.lower[2]
                or not _may_touch(bodies, geoms, pair_flags, g, h)
            ):
                continue
            swap = geoms[g].kind > geoms[h].kind or (geoms[g].kind == geoms[h].kind and g > h)
            if count < keys.shape[0]:
                keys[count] = h * n + g if swap else g * n + h
            count += 1
    if count <= keys.shape[0]:
        keys[:count].sort()
    return count


@kernel
def narrow_phase(geoms, geom_states, g, h, margin, points, scratch):
    """Write the points of the pair (kind of g <= kind of h); return (count, manifold size)."""
    a = geom_states[g]
    b = geom_states[h]
    size_a = geoms[g].dimensions
    size_b = geoms[h].dimensions
    kind_a = geoms[g].kind
    kind_b = geoms[h].kind
    if kind_a == PLANE:
        if kind_b == SPHERE:
            return plane_sphere(a, b, size_b, margin, points)
        if kind_b == CAPSULE:
            return plane_capsule(a, b, size_b, margin, points)
        if kind_b == BOX:
            return plane_box(a, b, size_b, margin, points)
        return plane_cylinder(a, b, size_b, margin, points)
    if kind_a == SPHERE:
        if kind_b == SPHERE:
            return sphere_sphere(a, size_a, b, size_b, margin, points)
        if kind_b == CAPSULE:
            return sphere_capsule(a, size_a, b, size_b, margin, points)
        return sphere_box(a, size_a, b, size_b, margin, points)
    if kind_a == CAPSULE:
        if kind_b == CAPSULE:
            return capsule_capsule(a, size_a, b, size_b, margin, points)
        return capsule_box(a, size_a, b, size_b, margin, points)
    if kind_a == BOX and kind_b == BOX:
        return box_box(a, size_a, b, size_b, margin, points, scratch)
    return 0, 1


@kernel
def _mix(first, second, rule):
    """Return friction, compliance 1/k [m/N] of springs in series, restitution of two geoms."""
    if rule == FRICTION_GEOMETRIC:
        friction = math.sqrt(first.friction * second.friction)
    elif rule == FRICTION_MAX:
        friction = max(first.friction, second.friction)
    else:
        friction = min(first.friction, second.friction)
    softness = 1.0 / first.stiffness + 1.0 / second.stiffness
    return friction, softness, max(first.restitution, second.restitution)


@kernel
def _own_law(laws, a, b):
    """Return friction, compliance and restitution that were given to a pair of bodies."""
    for i in range(laws.shape[0]):
        law = laws[i]
        if (law.body_a == a and law.body_b == b) or (law.body_a == b and law.body_b == a):
            return law.friction, 1.0 / law.stiffness, law.restitution
    return 0.0, 0.0, 0.0  # not reached: the flag and the table are written together


@kernel
def pair_margin(bodies, velocity, a, b, settings):
    """Return the margin of two bodies [m], grown by what they may close in one step."""
    travel = 0.0
    for k in range(3):
        travel += (velocity[b, k] - velocity[a, k]) ** 2
    travel = math.sqrt(travel)
    for body in (a, b):
        v = velocity[body]
        travel += bodies[body].radius * math.sqrt(v[3] * v[3] + v[4] * v[4] + v[5] * v[5])
    return settings.contact_margin + settings.timestep * travel


@kernel
def nearest_point(geoms, geom_states, a, b, margin, work, out):
    """Write the row of the smallest gap between the geoms of two bodies; return whether any."""
    points, scratch = work
    best = math.inf
    for i in range(geoms.shape[0]):
        for j in range(geoms.shape[0]):
            if geoms[i].body != a or geoms[j].body != b:
                continue
            swap = geoms[i].kind > geoms[j].kind or (geoms[i].kind == geoms[j].kind and i > j)
            g = j if swap else i
            h = i if swap else j
            found, _ = narrow_phase(geoms, geom_states, g, h, margin, points, scratch)
            for row in range(found):
                if points[row, 6] <= best:  # an edge point follows the face points that tie
                    best = points[row, 6]
                    for k in range(7):
                        out[k] = points[row, k]
                    if swap:
                        for k in range(3, 6):
                            out[k] = -out[k]
    return best <= margin


@kernel
def detect(
    bodies, geoms, geom_states, pair_flags, laws, velocity, settings, order, keys, contacts, work
):
    """Fill ``contacts`` with all points within the margin; return (status, contacts, pairs).

    The margin of a pair grows with the distance that the two may close in one step, so that fast
    bodies are met as early as slow ones.
    """
    points, scratch = work
    n = geoms.shape[0]
    pairs = broad_phase(bodies, geoms, geom_states, pair_flags, order, keys)
    if pairs > keys.shape[0]:
        return PAIR_OVERFLOW, 0, pairs
    count = 0
    for index in range(pairs):
        g = keys[index] // n
        h = keys[index] - g * n
        first = geoms[g]
        second = geoms[h]
        a = first.body
        b = second.body
        margin = pair_margin(bodies, velocity, a, b, settings)
        found, manifold = narrow_phase(geoms, geom_states, g, h, margin, points, scratch)
        if count + found > contacts.shape[0]:
            return CONTACT_OVERFLOW, count + found, pairs
        if pair_flags[a, b] & PAIR_OWN_LAW != 0:
            friction, softness, restitution = _own_law(laws, a, b)
        else:
            friction, softness, restitution = _mix(first, second, settings.friction_rule)
        softness *= manifold  # a stiffness is shared over the points of the manifold
        for i in range(found):
            contact = contacts[count]
            contact.geom_a = g
            contact.geom_b = h
            contact.body_a = a
            contact.body_b = b
            for k in range(3):
                contact.position[k] = points[i, k]
                contact.frame[0, k] = points[i, 3 + k]
            contact.gap = points[i, 6]
            contact.friction = friction
            contact.compliance = softness  # in m/N here; the step turns it into velocity/impulse
            contact.bias = restitution  # likewise
            count += 1
    return OK, count, pairs
