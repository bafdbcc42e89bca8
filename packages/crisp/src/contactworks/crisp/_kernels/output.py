"""Body arrays for the user from the coordinates."""

from __future__ import annotations

from contactworks.common._jit import kernel
from contactworks.common._kernels.rotations import rotate


@kernel
def write_bodies(bodies, qpos, qvel, position, quaternion, twist):
    """Write origin, quaternion and twist (world frame) of every body."""
    for i in range(bodies.shape[0]):
        q = bodies[i].qpos
        d = bodies[i].dof
        if q < 0:
            quaternion[i, 0] = 1.0
            continue
        for k in range(3):
            position[i, k] = qpos[q + k]
            twist[i, k] = qvel[d + k]
        for k in range(4):
            quaternion[i, k] = qpos[q + 3 + k]
        x, y, z = rotate(
            qpos[q + 3],
            qpos[q + 4],
            qpos[q + 5],
            qpos[q + 6],
            qvel[d + 3],
            qvel[d + 4],
            qvel[d + 5],
        )
        twist[i, 3] = x
        twist[i, 4] = y
        twist[i, 5] = z
