"""Rotations as unit quaternions, rotation vectors and matrices, vectorised over leading dimensions.

A quaternion is stored as ``(w, x, y, z)``, has unit length and maps coordinates of the body frame
to coordinates of the world frame: ``x_world = rotate(q, x_body)``.  ``q`` and ``-q`` are the same
rotation.  Functions take anything array-like, broadcast leading dimensions as NumPy does and return
new float64 arrays; the compiled counterparts on scalars stand in ``_kernels/rotations.py``.

Unless said otherwise a quaternion argument must be of unit length; :func:`quaternion_normalize`
makes it so and refuses what has no direction.

Source: J. Diebel, "Representing attitude: Euler angles, unit quaternions, and rotation vectors",
    Stanford University, 2006, sections 6 and 7.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from contactworks.common._rotation_matrices import (
    quaternion_from_matrix,
    quaternion_to_matrix,
    skew,
    unskew,
)
from contactworks.common.arrays import (
    QuaternionLike,
    ScalarLike,
    VectorLike,
    as_float_array,
    components,
    lengths,
    unit_vectors,
)

__all__ = [
    "angle_between",
    "quaternion_between_vectors",
    "quaternion_conjugate",
    "quaternion_exp",
    "quaternion_from_axis_angle",
    "quaternion_from_matrix",
    "quaternion_log",
    "quaternion_multiply",
    "quaternion_normalize",
    "quaternion_slerp",
    "quaternion_to_matrix",
    "random_quaternion",
    "rotate",
    "rotate_inverse",
    "skew",
    "unskew",
]

# Below this sine of the angle between two opposite vectors their cross product is rounding noise.
_PARALLEL_SINE = 1e-14


def quaternion_multiply(a: QuaternionLike, b: QuaternionLike) -> Float[np.ndarray, "*batch 4"]:
    """Return the Hamilton product ``a b``: the rotation ``b`` followed by ``a``.

    Args:
        a: quaternions (..., 4).
        b: quaternions (..., 4).

    Raises:
        ShapeError: where the last dimension is not 4.

    Example:
        >>> quaternion_multiply([0, 1, 0, 0], [0, 0, 1, 0])
        array([0., 0., 0., 1.])
    """
    aw, ax, ay, az = components(as_float_array(a, "a", (4,)))
    bw, bx, by, bz = components(as_float_array(b, "b", (4,)))
    return np.stack(
        [
            aw * bw - ax * bx - ay * by - az * bz,
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
        ],
        axis=-1,
    )


def quaternion_conjugate(
    quaternion: QuaternionLike,
) -> Float[np.ndarray, "*batch 4"]:
    """Return the conjugate, which is the inverse rotation of a unit quaternion.

    Args:
        quaternion: quaternions (..., 4).

    Raises:
        ShapeError: where the last dimension is not 4.

    Example:
        >>> quaternion_conjugate([0.6, 0.0, 0.0, 0.8])
        array([ 0.6,  0. ,  0. , -0.8])
    """
    value = as_float_array(quaternion, "quaternion", (4,))
    # Adding 0.0 turns -0.0 into 0.0.
    return np.asarray(value * np.array([1.0, -1.0, -1.0, -1.0]) + 0.0)


def quaternion_normalize(
    quaternion: QuaternionLike,
) -> Float[np.ndarray, "*batch 4"]:
    """Return the quaternions scaled to unit length.

    Args:
        quaternion: quaternions (..., 4) of any finite length but zero.

    Raises:
        ShapeError: where the last dimension is not 4.
        ModelError: where a quaternion is zero, NaN or infinite; the message names the row.

    Example:
        >>> quaternion_normalize([3, 0, 0, 4])
        array([0.6, 0. , 0. , 0.8])
    """
    return unit_vectors(quaternion, "quaternion", 4)


def quaternion_exp(
    rotation_vector: VectorLike,
) -> Float[np.ndarray, "*batch 4"]:
    """Return the unit quaternion of a rotation vector (axis times angle).

    Args:
        rotation_vector: rotation vectors (..., 3) [rad], of any length, zero included.

    Raises:
        ShapeError: where the last dimension is not 3.

    Example:
        >>> quaternion_exp([0.0, 0.0, np.pi]).round(12)
        array([0., 0., 0., 1.])
    """
    vector = as_float_array(rotation_vector, "rotation_vector", (3,))
    angle = lengths(vector)
    is_zero = angle == 0.0
    # sin(x) / x is accurate down to the smallest x; only zero itself needs the limit.
    scale = np.where(is_zero, 0.5, np.sin(0.5 * angle) / np.where(is_zero, 1.0, angle))
    return np.concatenate([np.cos(0.5 * angle)[..., None], scale[..., None] * vector], axis=-1)


def quaternion_log(
    quaternion: QuaternionLike,
) -> Float[np.ndarray, "*batch 3"]:
    """Return the rotation vector [rad] of the shortest way, at most pi long.

    ``q`` and ``-q`` give the same vector, except at exactly half a turn (``w`` zero), where both
    axes are right and the sign is that of the given quaternion.

    Args:
        quaternion: unit quaternions (..., 4).

    Raises:
        ShapeError: where the last dimension is not 4.

    Example:
        >>> quaternion_log([-1.0, 0.0, 0.0, -1e-9])
        array([0.e+00, 0.e+00, 2.e-09])
    """
    value = as_float_array(quaternion, "quaternion", (4,))
    value = np.where(value[..., :1] < 0.0, -value, value) + 0.0  # + 0.0 turns -0.0 into 0.0
    cosine, vector = value[..., 0], value[..., 1:]
    sine = lengths(vector)
    is_zero = sine == 0.0
    # The arc tangent of both is accurate at zero and at pi, where arc sine and arc cosine are not.
    scale = np.where(is_zero, 2.0, 2.0 * np.arctan2(sine, cosine) / np.where(is_zero, 1.0, sine))
    return scale[..., None] * vector


def quaternion_from_axis_angle(
    axis: VectorLike, angle: ScalarLike
) -> Float[np.ndarray, "*batch 4"]:
    """Return the quaternion that turns by ``angle`` about ``axis`` (right-hand rule).

    Args:
        axis: directions (..., 3) of any length but zero.
        angle: angles (...) [rad].

    Raises:
        ShapeError: where the last dimension of ``axis`` is not 3.
        ModelError: where an axis is zero, NaN or infinite.

    Example:
        >>> quaternion_from_axis_angle([0, 0, 2], np.pi / 2).round(4)
        array([0.7071, 0.    , 0.    , 0.7071])
    """
    direction = unit_vectors(axis, "axis", 3)
    half = 0.5 * as_float_array(angle, "angle", ())
    vector = np.sin(half)[..., None] * direction
    cosine = np.broadcast_to(np.cos(half), vector.shape[:-1])
    return np.concatenate([cosine[..., None], vector], axis=-1)


def quaternion_between_vectors(start: VectorLike, end: VectorLike) -> Float[np.ndarray, "*batch 4"]:
    """Return the shortest rotation that takes the direction of ``start`` to that of ``end``.

    Opposite directions leave the axis open; one perpendicular to ``start`` is taken, the same one
    every time.

    Args:
        start: vectors (..., 3) of any length but zero.
        end: vectors (..., 3) of any length but zero.

    Raises:
        ShapeError: where a last dimension is not 3.
        ModelError: where a vector is zero, NaN or infinite.

    Example:
        >>> quaternion_between_vectors([1, 0, 0], [0, 5, 0]).round(4)
        array([0.7071, 0.    , 0.    , 0.7071])
    """
    u, v = np.broadcast_arrays(
        unit_vectors(start, "start", 3),
        unit_vectors(end, "end", 3),
    )
    cosine_half = 0.5 * lengths(u + v)
    cross = np.cross(u, v)
    obtuse = np.sum(u * v, axis=-1) < 0.0
    # Acute: the vector part is u x v / (2 cos(angle/2)), without cancellation.
    acute_vector = cross / (2.0 * np.where(obtuse, 1.0, cosine_half))[..., None]
    # Obtuse: |u - v| is 2 sin(angle/2).  Near pi the direction of u x v is noisy; the part of the
    # noise that matters lies along u - v and is taken out.
    difference = u - v
    sine_half = 0.5 * lengths(difference)
    along = difference / np.where(obtuse, 2.0 * sine_half, 1.0)[..., None]
    is_opposite = lengths(cross) < _PARALLEL_SINE
    axis = np.where(is_opposite[..., None], np.cross(u, _least_aligned(u)), cross)
    axis = axis - np.sum(axis * along, axis=-1, keepdims=True) * along
    length = np.where(obtuse, lengths(axis), 1.0)
    obtuse_vector = (sine_half / length)[..., None] * axis
    vector = np.where(obtuse[..., None], obtuse_vector, acute_vector)
    return np.concatenate([cosine_half[..., None], vector], axis=-1)


def rotate(quaternion: QuaternionLike, vector: VectorLike) -> Float[np.ndarray, "*batch 3"]:
    """Return the vectors turned by the quaternions: body coordinates to world coordinates.

    Args:
        quaternion: unit quaternions (..., 4).
        vector: vectors (..., 3), of any unit.

    Raises:
        ShapeError: where a last dimension is wrong.

    Example:
        >>> rotate([0, 0, 0, 1], [1.0, 2.0, 3.0])
        array([-1., -2.,  3.])
    """
    q = as_float_array(quaternion, "quaternion", (4,))
    v = as_float_array(vector, "vector", (3,))
    twice = 2.0 * np.cross(q[..., 1:], v)
    return np.asarray(v + q[..., :1] * twice + np.cross(q[..., 1:], twice))


def rotate_inverse(quaternion: QuaternionLike, vector: VectorLike) -> Float[np.ndarray, "*batch 3"]:
    """Return the vectors turned by the inverse: world coordinates to body coordinates.

    Args:
        quaternion: unit quaternions (..., 4).
        vector: vectors (..., 3), of any unit.

    Raises:
        ShapeError: where a last dimension is wrong.

    Example:
        >>> rotate_inverse([0.5**0.5, 0, 0, 0.5**0.5], [0.0, 1.0, 0.0]).round(4) + 0.0
        array([1., 0., 0.])
    """
    return rotate(quaternion_conjugate(quaternion), vector)


def quaternion_slerp(
    start: QuaternionLike,
    end: QuaternionLike,
    fraction: ScalarLike,
) -> Float[np.ndarray, "*batch 4"]:
    """Return the rotations on the shortest path from ``start`` to ``end`` at constant speed.

    Args:
        start: unit quaternions (..., 4), reached at fraction 0.
        end: unit quaternions (..., 4), reached at fraction 1 (perhaps as ``-end``, the same
            rotation).
        fraction: part of the way (...); values outside [0, 1] extrapolate.

    Raises:
        ShapeError: where a last dimension is wrong.

    Source: K. Shoemake, "Animating rotation with quaternion curves", SIGGRAPH 1985; in the form
        ``start exp(t log(start^-1 end))``, which stays accurate for nearly equal inputs.

    Example:
        >>> quaternion_slerp([1, 0, 0, 0], [0, 0, 0, 1], 0.5).round(4)
        array([0.7071, 0.    , 0.    , 0.7071])
    """
    first = as_float_array(start, "start", (4,))
    between = quaternion_log(quaternion_multiply(quaternion_conjugate(first), end))
    part = as_float_array(fraction, "fraction", ())[..., None]
    return quaternion_multiply(first, quaternion_exp(part * between))


def angle_between(a: QuaternionLike, b: QuaternionLike) -> Float[np.ndarray, "*batch"]:
    """Return the geodesic angles [rad], in [0, pi], of the rotations from ``a`` to ``b``.

    Args:
        a: unit quaternions (..., 4).
        b: unit quaternions (..., 4).

    Raises:
        ShapeError: where the last dimension is not 4.

    Example:
        >>> float(angle_between([1, 0, 0, 0], [0, 1, 0, 0]))
        3.141592653589793
    """
    relative = quaternion_multiply(quaternion_conjugate(a), b)
    return np.asarray(2.0 * np.arctan2(lengths(relative[..., 1:]), np.abs(relative[..., 0])))


def random_quaternion(
    shape: int | tuple[int, ...] = (), *, rng: np.random.Generator | int | None = None
) -> Float[np.ndarray, "*batch 4"]:
    """Return rotations drawn uniformly (by Haar measure), as unit quaternions.

    Args:
        shape: the leading dimensions of the result.
        rng: a generator, a seed, or None for a fresh one.

    Source: M. E. Muller, "A note on a method for generating points uniformly on n-dimensional
        spheres", Comm. ACM 2 (1959) 19-20.

    Example:
        >>> random_quaternion(5, rng=0).shape
        (5, 4)
    """
    generator = np.random.default_rng(rng)
    leading = (shape,) if isinstance(shape, int) else tuple(shape)
    return quaternion_normalize(generator.standard_normal((*leading, 4)))


def _least_aligned(direction: np.ndarray) -> np.ndarray:
    """Return the coordinate axes (..., 3) that are most perpendicular to ``direction``."""
    return np.asarray(np.eye(3)[np.argmin(np.abs(direction), axis=-1)])
