"""From contact points to constraint rows: frames, arms, Delassus block, bias, warm start."""

from __future__ import annotations

import math

from contactworks.common._jit import kernel

from .contact_law import relative_velocity


@kernel
def _cross_row(r0, r1, r2, frame, row, out):
    out[row, 0] = r1 * frame[row, 2] - r2 * frame[row, 1]
    out[row, 1] = r2 * frame[row, 0] - r0 * frame[row, 2]
    out[row, 2] = r0 * frame[row, 1] - r1 * frame[row, 0]


@kernel
def _respond(inverse_inertia, arm, row, out):
    for k in range(3):
        out[row, k] = (
            inverse_inertia[k, 0] * arm[row, 0]
            + inverse_inertia[k, 1] * arm[row, 1]
            + inverse_inertia[k, 2] * arm[row, 2]
        )


@kernel
def _tangents(frame):
    """Complete the normal to a right-handed frame."""
    nx = frame[0, 0]
    ny = frame[0, 1]
    nz = frame[0, 2]
    if abs(nx) <= abs(ny) and abs(nx) <= abs(nz):
        x, y, z = 0.0, nz, -ny  # n x e_x
    elif abs(ny) <= abs(nz):
        x, y, z = -nz, 0.0, nx
    else:
        x, y, z = ny, -nx, 0.0
    scale = 1.0 / math.sqrt(x * x + y * y + z * z)
    x *= scale
    y *= scale
    z *= scale
    frame[1, 0] = x
    frame[1, 1] = y
    frame[1, 2] = z
    frame[2, 0] = ny * z - nz * y
    frame[2, 1] = nz * x - nx * z
    frame[2, 2] = nx * y - ny * x


@kernel
def _delassus_entry(contact, i, j):
    """Return entry (i, j) of W = J M^-1 J^T at one contact."""
    total = 0.0
    for k in range(3):
        total += (contact.inverse_mass_a + contact.inverse_mass_b) * (
            contact.frame[i, k] * contact.frame[j, k]
        )
        total += contact.arm_a[i, k] * contact.response_a[j, k]
        total += contact.arm_b[i, k] * contact.response_b[j, k]
    return total


@kernel
def _turn(matrix, cosine, sine):
    for k in range(3):
        one = matrix[1, k]
        two = matrix[2, k]
        matrix[1, k] = cosine * one + sine * two
        matrix[2, k] = cosine * two - sine * one


@kernel
def build_row(contact, bodies, states, velocity, free_velocity, settings):
    """Fill the frame, arms, Delassus block, compliance and bias of a detected contact.

    On entry ``compliance`` holds 1/stiffness [m/N] and ``bias`` the restitution coefficient.
    """
    a = contact.body_a
    b = contact.body_b
    _tangents(contact.frame)
    contact.inverse_mass_a = bodies[a].inverse_mass
    contact.inverse_mass_b = bodies[b].inverse_mass
    p = contact.position
    ca = states[a].center
    cb = states[b].center
    for row in range(3):
        _cross_row(p[0] - ca[0], p[1] - ca[1], p[2] - ca[2], contact.frame, row, contact.arm_a)
        _cross_row(p[0] - cb[0], p[1] - cb[1], p[2] - cb[2], contact.frame, row, contact.arm_b)
        _respond(states[a].inverse_inertia, contact.arm_a, row, contact.response_a)
        _respond(states[b].inverse_inertia, contact.arm_b, row, contact.response_b)
    softness = contact.compliance
    restitution = contact.bias
    wnn = _delassus_entry(contact, 0, 0)
    _set_normal_law(contact, wnn, softness, restitution, velocity, free_velocity, settings)
    wnn += contact.compliance

    # Turn the tangents so that the Schur complement of the normal is diagonal.
    w1 = _delassus_entry(contact, 0, 1)
    w2 = _delassus_entry(contact, 0, 2)
    s11 = _delassus_entry(contact, 1, 1) - w1 * w1 / wnn
    s12 = _delassus_entry(contact, 1, 2) - w1 * w2 / wnn
    s22 = _delassus_entry(contact, 2, 2) - w2 * w2 / wnn
    angle = 0.5 * math.atan2(2.0 * s12, s11 - s22)
    cosine = math.cos(angle)
    sine = math.sin(angle)
    _turn(contact.frame, cosine, sine)
    _turn(contact.arm_a, cosine, sine)
    _turn(contact.arm_b, cosine, sine)
    _turn(contact.response_a, cosine, sine)
    _turn(contact.response_b, cosine, sine)
    contact.delassus[0] = wnn
    contact.delassus[1] = cosine * w1 + sine * w2
    contact.delassus[2] = cosine * w2 - sine * w1
    contact.delassus[3] = cosine * cosine * s11 + 2.0 * sine * cosine * s12 + sine * sine * s22
    contact.delassus[4] = sine * sine * s11 - 2.0 * sine * cosine * s12 + cosine * cosine * s22
    contact.effective_mass = 1.0 / wnn


@kernel
def _set_normal_law(contact, wnn, softness, restitution, velocity, free_velocity, settings):
    """Set compliance c [m/s per N s] and bias e [m/s] of the normal law."""
    dt = settings.timestep
    gap = contact.gap
    if softness > 0.0:
        # Spring and damper over the step's end: l = -dt (k (gap + dt u) + d u), as c l + u + e = 0.
        # The damper belongs to the restitution of a linear spring-damper with the contact's
        # effective mass; none (restitution 0) is critical damping. It acts on overlap alone.
        stiffness = 1.0 / softness
        ratio = 1.0
        if restitution > 0.0:
            logarithm = -math.log(restitution)
            ratio = logarithm / math.sqrt(math.pi * math.pi + logarithm * logarithm)
        damping = 2.0 * ratio * math.sqrt(stiffness / wnn)
        contact.compliance = 1.0 / (dt * (dt * stiffness + damping))
        contact.bias = gap / dt if gap > 0.0 else dt * stiffness * gap * contact.compliance
        return
    contact.compliance = 0.0
    band = settings.dead_band
    if gap > band:
        bias = (gap - band) / dt
    elif gap < -band:
        bias = max(settings.erp * (gap + band) / dt, -settings.max_correction_speed)
    else:
        bias = 0.0
    if restitution > 0.0:
        bias = min(bias, _rebound(contact, restitution, velocity, free_velocity, settings))
    contact.bias = bias


@kernel
def _rebound(contact, restitution, velocity, free_velocity, settings):
    """Return the bias that makes an impact of this step rebound to e^2 of its energy, else +inf.

    Newton's law u+ = -e u- at the surface, carried to the step's ends: w = u + a dt/2 is the
    velocity of the parabola that semi-implicit Euler follows exactly, so that the energy per mass
    w^2/2 - a gap (a: acceleration along the normal) holds the rebound height for any step.
    """
    dt = settings.timestep
    gap = max(contact.gap, 0.0)
    before, _, _ = relative_velocity(contact, velocity)
    free, _, _ = relative_velocity(contact, free_velocity)
    g = settings.gravity
    threshold = 2.0 * dt * math.sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]) + 1e-9
    if before > -threshold or gap + dt * free > 0.0:
        return math.inf
    acceleration = (free - before) / dt
    speed = before + 0.5 * (free - before)
    energy = restitution * restitution * (0.5 * speed * speed - acceleration * gap)
    inside = 2.0 * (acceleration * gap + energy)
    if inside <= 0.0:
        return math.inf
    rebound = 0.5 * acceleration * dt + math.sqrt(inside)
    if rebound <= -gap / dt:
        return math.inf
    return -rebound


@kernel
def warm_start(contact, previous, first, last, used, rotation_b, center_b):
    """Take the impulse of the nearest unused point of the same pair in the last step.

    ``previous[first:last]`` are the last step's contacts of the pair; points are compared in b's
    frame. Each is used once: twice would double the impulse.
    """
    for k in range(3):
        contact.local_b[k] = (
            rotation_b[0, k] * (contact.position[0] - center_b[0])
            + rotation_b[1, k] * (contact.position[1] - center_b[1])
            + rotation_b[2, k] * (contact.position[2] - center_b[2])
        )
        contact.impulse[k] = 0.0
    contact.slip = 0.0
    best = -1
    nearest = 0.02 * 0.02
    for i in range(first, last):
        if used[i] != 0:
            continue
        d = 0.0
        for k in range(3):
            d += (previous[i].local_b[k] - contact.local_b[k]) ** 2
        if d < nearest:
            nearest = d
            best = i
    if best < 0:
        return
    used[best] = 1
    old = previous[best].impulse_world
    for row in range(3):
        contact.impulse[row] = (
            contact.frame[row, 0] * old[0]
            + contact.frame[row, 1] * old[1]
            + contact.frame[row, 2] * old[2]
        )
    if contact.impulse[0] <= 0.0:
        for row in range(3):
            contact.impulse[row] = 0.0
        return
    contact.slip = previous[best].slip
    limit = contact.friction * contact.impulse[0]
    size = math.sqrt(contact.impulse[1] ** 2 + contact.impulse[2] ** 2)
    if size > limit:
        contact.impulse[1] *= limit / size
        contact.impulse[2] *= limit / size
