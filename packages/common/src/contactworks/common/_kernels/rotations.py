"""Rotation kernels on scalars: quaternions are (w, x, y, z), unit, body to world."""

from __future__ import annotations

import math

from contactworks.common._jit import kernel


@kernel
def quaternion_multiply(aw, ax, ay, az, bw, bx, by, bz):
    """Return the Hamilton product a b."""
    return (
        aw * bw - ax * bx - ay * by - az * bz,
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
    )


@kernel
def quaternion_exp(x, y, z):
    """Return the quaternion of the rotation vector (x, y, z) [rad]."""
    angle2 = x * x + y * y + z * z
    if angle2 < 1e-8:
        # Series of sin(a/2)/a and cos(a/2); the next terms are below 1e-20.
        scale = 0.5 - angle2 / 48.0
        return 1.0 - angle2 / 8.0 + angle2 * angle2 / 384.0, scale * x, scale * y, scale * z
    angle = math.sqrt(angle2)
    scale = math.sin(0.5 * angle) / angle
    return math.cos(0.5 * angle), scale * x, scale * y, scale * z


@kernel
def quaternion_normalize(w, x, y, z):
    """Return the quaternion scaled to unit length."""
    inverse = 1.0 / math.sqrt(w * w + x * x + y * y + z * z)
    return w * inverse, x * inverse, y * inverse, z * inverse


@kernel
def quaternion_to_matrix(w, x, y, z, out):
    """Write the rotation matrix (3, 3) of a unit quaternion into ``out``."""
    out[0, 0] = 1.0 - 2.0 * (y * y + z * z)
    out[0, 1] = 2.0 * (x * y - w * z)
    out[0, 2] = 2.0 * (x * z + w * y)
    out[1, 0] = 2.0 * (x * y + w * z)
    out[1, 1] = 1.0 - 2.0 * (x * x + z * z)
    out[1, 2] = 2.0 * (y * z - w * x)
    out[2, 0] = 2.0 * (x * z - w * y)
    out[2, 1] = 2.0 * (y * z + w * x)
    out[2, 2] = 1.0 - 2.0 * (x * x + y * y)


@kernel
def rotate(w, x, y, z, vx, vy, vz):
    """Return the vector v rotated by a unit quaternion."""
    tx = 2.0 * (y * vz - z * vy)
    ty = 2.0 * (z * vx - x * vz)
    tz = 2.0 * (x * vy - y * vx)
    return (
        vx + w * tx + y * tz - z * ty,
        vy + w * ty + z * tx - x * tz,
        vz + w * tz + x * ty - y * tx,
    )


@kernel
def rotate_inverse(w, x, y, z, vx, vy, vz):
    """Return the vector v rotated by the inverse of a unit quaternion."""
    return rotate(w, -x, -y, -z, vx, vy, vz)


@kernel
def quaternion_log(w, x, y, z):
    """Return the rotation vector [rad] of a unit quaternion, at most pi long (the short way)."""
    sine2 = x * x + y * y + z * z
    if w < 0.0:
        w, x, y, z = -w, -x, -y, -z
    if sine2 < 1e-8:
        # Series of 2 atan2(s, w) / s; the next term is below 1e-16.
        scale = (2.0 - 2.0 * sine2 / (3.0 * w * w)) / w
    else:
        sine = math.sqrt(sine2)
        scale = 2.0 * math.atan2(sine, w) / sine
    return scale * x, scale * y, scale * z
