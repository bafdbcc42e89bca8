"""The contact law at one contact: exact solve, projections and residual.

The law is Signorini's condition with Coulomb friction, in velocities and impulses:
0 <= u_n + e + c l_n  complementary to  l_n >= 0,  |l_t| <= mu l_n,  and sliding opposes u_t.
Source: CRISP section V-A and Appendix C; De Saxce and Feng (1998) for the corrected cone form.
"""

from __future__ import annotations

import math

from contactworks.common._jit import kernel

_ROOT_TOLERANCE = 1e-14
_ROOT_STEPS = 60


@kernel
def relative_velocity(contact, velocity):
    """Return u = J v of a contact: n, t1, t2 components of the velocity of b against a [m/s]."""
    a = contact.body_a
    b = contact.body_b
    frame = contact.frame
    arm_a = contact.arm_a
    arm_b = contact.arm_b
    x = velocity[b, 0] - velocity[a, 0]
    y = velocity[b, 1] - velocity[a, 1]
    z = velocity[b, 2] - velocity[a, 2]
    ax = velocity[a, 3]
    ay = velocity[a, 4]
    az = velocity[a, 5]
    bx = velocity[b, 3]
    by = velocity[b, 4]
    bz = velocity[b, 5]
    un = (
        frame[0, 0] * x + frame[0, 1] * y + frame[0, 2] * z
        + arm_b[0, 0] * bx + arm_b[0, 1] * by + arm_b[0, 2] * bz
        - arm_a[0, 0] * ax - arm_a[0, 1] * ay - arm_a[0, 2] * az
    )  # fmt: skip
    u1 = (
        frame[1, 0] * x + frame[1, 1] * y + frame[1, 2] * z
        + arm_b[1, 0] * bx + arm_b[1, 1] * by + arm_b[1, 2] * bz
        - arm_a[1, 0] * ax - arm_a[1, 1] * ay - arm_a[1, 2] * az
    )  # fmt: skip
    u2 = (
        frame[2, 0] * x + frame[2, 1] * y + frame[2, 2] * z
        + arm_b[2, 0] * bx + arm_b[2, 1] * by + arm_b[2, 2] * bz
        - arm_a[2, 0] * ax - arm_a[2, 1] * ay - arm_a[2, 2] * az
    )  # fmt: skip
    return un, u1, u2


@kernel
def apply_impulse(contact, dn, d1, d2, velocity):
    """Add M^-1 J^T d to the velocities of the contact's two bodies."""
    a = contact.body_a
    b = contact.body_b
    frame = contact.frame
    x = dn * frame[0, 0] + d1 * frame[1, 0] + d2 * frame[2, 0]
    y = dn * frame[0, 1] + d1 * frame[1, 1] + d2 * frame[2, 1]
    z = dn * frame[0, 2] + d1 * frame[1, 2] + d2 * frame[2, 2]
    ma = contact.inverse_mass_a
    mb = contact.inverse_mass_b
    if ma > 0.0:
        response = contact.response_a
        velocity[a, 0] -= ma * x
        velocity[a, 1] -= ma * y
        velocity[a, 2] -= ma * z
        for k in range(3):
            velocity[a, 3 + k] -= dn * response[0, k] + d1 * response[1, k] + d2 * response[2, k]
    if mb > 0.0:
        response = contact.response_b
        velocity[b, 0] += mb * x
        velocity[b, 1] += mb * y
        velocity[b, 2] += mb * z
        for k in range(3):
            velocity[b, 3 + k] += dn * response[0, k] + d1 * response[1, k] + d2 * response[2, k]


@kernel
def project_cone(xn, x1, x2, friction):
    """Return the Euclidean projection of x on the friction cone |l_t| <= mu l_n."""
    tangential = math.sqrt(x1 * x1 + x2 * x2)
    if tangential <= friction * xn:
        return xn, x1, x2
    if friction * tangential <= -xn:
        return 0.0, 0.0, 0.0
    normal = (xn + friction * tangential) / (1.0 + friction * friction)
    if tangential == 0.0:
        return normal, 0.0, 0.0
    scale = friction * normal / tangential
    return normal, scale * x1, scale * x2


@kernel
def project_normal_first(xn, x1, x2, friction):
    """Return the projection that keeps the normal part: l_n = max(0, x_n), then |l_t| <= mu l_n.

    Source: CRISP Appendix C, eq. (8). Its fixed points are the exact contact law.
    """
    if xn <= 0.0:
        return 0.0, 0.0, 0.0
    tangential = math.sqrt(x1 * x1 + x2 * x2)
    limit = friction * xn
    if tangential <= limit:
        return xn, x1, x2
    scale = limit / tangential
    return xn, scale * x1, scale * x2


@kernel
def solve_one_contact(delassus, qn, q1, q2, friction, slip):
    """Return the impulse that meets the contact law alone: (l_n, l_1, l_2, slip).

    The local velocity is q + W l. ``delassus`` holds W in tangent axes that make the Schur
    complement of the normal diagonal, so that sliding leaves a scalar root search for the ratio
    of sliding speed to friction impulse (``slip``).
    """
    if qn >= 0.0:
        return 0.0, 0.0, 0.0, slip
    wnn = delassus[0]
    wn1 = delassus[1]
    wn2 = delassus[2]
    s1 = delassus[3]
    s2 = delassus[4]
    if friction == 0.0:
        return -qn / wnn, 0.0, 0.0, slip
    ratio = qn / wnn
    h1 = q1 - wn1 * ratio
    h2 = q2 - wn2 * ratio
    l1 = -h1 / s1
    l2 = -h2 / s2
    ln = -ratio - (wn1 * l1 + wn2 * l2) / wnn
    if ln >= 0.0 and l1 * l1 + l2 * l2 <= friction * friction * ln * ln:
        return ln, l1, l2, slip

    lower = 0.0
    upper = -1.0  # unknown yet
    alpha = slip if slip > 0.0 else 0.1 * (s1 + s2)
    for _ in range(_ROOT_STEPS):
        i1 = 1.0 / (s1 + alpha)
        i2 = 1.0 / (s2 + alpha)
        l1 = -h1 * i1
        l2 = -h2 * i2
        ln = -ratio - (wn1 * l1 + wn2 * l2) / wnn
        size = math.sqrt(l1 * l1 + l2 * l2)
        value = size - friction * ln
        if abs(value) <= _ROOT_TOLERANCE * (size + friction * abs(ln)):
            break
        if value > 0.0:
            lower = alpha
        else:
            upper = alpha
        # Newton on 1/|l_t| - 1/(mu l_n), which is nearly linear in alpha.
        step = -1.0
        if size > 0.0 and ln > 0.0:
            dsize = -(l1 * l1 * i1 + l2 * l2 * i2) / size
            dln = (wn1 * l1 * i1 + wn2 * l2 * i2) / wnn
            slope = -dsize / (size * size) + dln / (friction * ln * ln)
            if slope != 0.0:
                step = alpha - (1.0 / size - 1.0 / (friction * ln)) / slope
        if step <= lower or (upper >= 0.0 and step >= upper) or not math.isfinite(step):
            # By the geometric mean: a stored slip may be many powers of ten off.
            if upper < 0.0:
                step = 4.0 * alpha + 1e-12 * (s1 + s2)
            elif lower > 0.0:
                step = math.sqrt(lower * upper)
            else:
                step = 0.1 * upper
        if step == alpha:
            break
        alpha = step
    ln = max(ln, 0.0)
    # The pair ends exactly on the cone, whatever the last digit of the root is.
    size = math.sqrt(l1 * l1 + l2 * l2)
    if size > 0.0:
        scale = friction * ln / size
        l1 *= scale
        l2 *= scale
    return ln, l1, l2, alpha


@kernel
def natural_residual(contact, un, u1, u2):
    """Return the natural residual of the law at one contact [m/s].

    |l - P_K(l - m (u + (e + c l_n) n + mu |u_t| n))| / m, with the effective mass m. It is zero
    exactly when the law holds. Source: CRISP Appendix C with the De Saxce correction.
    """
    impulse = contact.impulse
    mass = contact.effective_mass
    friction = contact.friction
    wn = un + contact.bias + contact.compliance * impulse[0]
    if impulse[0] == 0.0 and wn >= 0.0:
        return 0.0
    wn += friction * math.sqrt(u1 * u1 + u2 * u2)
    pn, p1, p2 = project_cone(
        impulse[0] - mass * wn, impulse[1] - mass * u1, impulse[2] - mass * u2, friction
    )
    return (
        math.sqrt((impulse[0] - pn) ** 2 + (impulse[1] - p1) ** 2 + (impulse[2] - p2) ** 2) / mass
    )


@kernel
def primal_residual(contact, un, u1, u2):
    """Return |Jv - z| at one contact [m/s]: z is the velocity that the law admits with l.

    z belongs to the projected multiplier of an augmented-Lagrangian step whose weight is the
    effective mass. Source: CRISP Appendix C.
    """
    impulse = contact.impulse
    mass = contact.effective_mass
    pn, p1, p2 = project_normal_first(
        impulse[0] - mass * (un + contact.bias + contact.compliance * impulse[0]),
        impulse[1] - mass * u1,
        impulse[2] - mass * u2,
        contact.friction,
    )
    return (
        math.sqrt((impulse[0] - pn) ** 2 + (impulse[1] - p1) ** 2 + (impulse[2] - p2) ** 2) / mass
    )
