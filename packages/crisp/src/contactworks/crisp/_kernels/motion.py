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
