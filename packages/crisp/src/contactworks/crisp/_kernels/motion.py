"""Motion of the bodies without contact: places, free velocities, integration."""

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

_SPIN_STEPS = 12  # fixed-point steps; each gains a factor of dt |w| / 2 or more


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

    The gyroscopic term is no part of it: ``integrate`` carries the angular momentum over.
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
        inverse = states[i].inverse_inertia
        for k in range(3):
            out[k] = v[k] + dt * (settings.gravity[k] + wrench[i, k] * body.inverse_mass)
            out[3 + k] = v[3 + k] + dt * (
                inverse[k, 0] * wrench[i, 3]
                + inverse[k, 1] * wrench[i, 4]
                + inverse[k, 2] * wrench[i, 5]
            )


@kernel
def _spin(state, w0, w1, w2, dt):
    """Return the rotation of a step and the angular velocity after it, world frame.

    Implicit midpoint rule with constant angular momentum L = I w: the body turns by E = exp(dt m)
    with I(half way) m = L, which is I m = exp(-dt/2 m) L with the inertia I at the start. It keeps
    momentum exactly and energy without drift. Afterwards w' = E I^-1 E^-1 L.
    Returns (quaternion of E, w').
    """
    inertia = state.inertia
    inverse = state.inverse_inertia
    lx = inertia[0, 0] * w0 + inertia[0, 1] * w1 + inertia[0, 2] * w2
    ly = inertia[1, 0] * w0 + inertia[1, 1] * w1 + inertia[1, 2] * w2
    lz = inertia[2, 0] * w0 + inertia[2, 1] * w1 + inertia[2, 2] * w2
    mx = w0
    my = w1
    mz = w2
    for step in range(_SPIN_STEPS + 1):
        # The last pass turns by the whole step and gives the velocity after it. Only the change
        # of momentum is put through the inverse: bodies at rest stay bitwise at rest.
        share = dt if step == _SPIN_STEPS else 0.5 * dt
        qw, qx, qy, qz = quaternion_exp(share * mx, share * my, share * mz)
        nx, ny, nz = rotate(qw, -qx, -qy, -qz, lx, ly, lz)
        nx -= lx
        ny -= ly
        nz -= lz
        x = w0 + inverse[0, 0] * nx + inverse[0, 1] * ny + inverse[0, 2] * nz
        y = w1 + inverse[1, 0] * nx + inverse[1, 1] * ny + inverse[1, 2] * nz
        z = w2 + inverse[2, 0] * nx + inverse[2, 1] * ny + inverse[2, 2] * nz
        if step == _SPIN_STEPS:
            x, y, z = rotate(qw, qx, qy, qz, x, y, z)
            return qw, qx, qy, qz, x, y, z
        mx = x
        my = y
        mz = z
    return 1.0, 0.0, 0.0, 0.0, w0, w1, w2  # not reached


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
        ew, ex, ey, ez, ax, ay, az = _spin(states[i], v[3], v[4], v[5], dt)
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
        qvel[d] = v[0] - (ay * oz - az * oy)
        qvel[d + 1] = v[1] - (az * ox - ax * oz)
        qvel[d + 2] = v[2] - (ax * oy - ay * ox)
        bx, by, bz = rotate(w, -x, -y, -z, ax, ay, az)
        qvel[d + 3] = bx
        qvel[d + 4] = by
        qvel[d + 5] = bz
