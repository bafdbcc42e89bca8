"""Rotation matrices and skew-symmetric matrices; public through the module ``rotations``."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from contactworks.common.arrays import (
    MatrixLike,
    QuaternionLike,
    VectorLike,
    as_finite_array,
    as_float_array,
    components,
    refuse_where,
)

__all__ = ["quaternion_from_matrix", "quaternion_to_matrix", "skew", "unskew"]


def quaternion_to_matrix(
    quaternion: QuaternionLike,
) -> Float[np.ndarray, "*batch 3 3"]:
    """Return the rotation matrices ``R_world_body`` (columns are the body axes in the world).

    Args:
        quaternion: unit quaternions (..., 4).

    Raises:
        ShapeError: where the last dimension is not 4.

    Example:
        >>> quaternion_to_matrix([0, 0, 0, 1]).diagonal()
        array([-1., -1.,  1.])
    """
    w, x, y, z = components(as_float_array(quaternion, "quaternion", (4,)))
    rows = [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
        [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
        [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def quaternion_from_matrix(
    matrix: MatrixLike, *, tolerance: float = 1e-6
) -> Float[np.ndarray, "*batch 4"]:
    """Return the unit quaternions (``w`` not negative) of rotation matrices.

    The largest of the four components is found first and the others are divided by it, so that
    every rotation, also one by half a turn, keeps full accuracy.

    Args:
        matrix: rotation matrices (..., 3, 3).
        tolerance: largest entry of ``R^T R - 1`` that counts as rounding.

    Raises:
        ShapeError: where the last dimensions are not (3, 3).
        ModelError: where a matrix is not orthonormal, is a reflection, or holds NaN.

    Source: S. W. Shepperd, "Quaternion from rotation matrix", J. Guidance and Control 1 (1978)
        223-224.

    Example:
        >>> quaternion_from_matrix(np.diag([-1.0, 1.0, -1.0]))
        array([0., 0., 1., 0.])
    """
    r = as_finite_array(matrix, "matrix", (3, 3))
    _check_rotation(r, tolerance)
    d0, d1, d2 = r[..., 0, 0], r[..., 1, 1], r[..., 2, 2]
    p0, p1, p2 = (
        r[..., 2, 1] + r[..., 1, 2],
        r[..., 0, 2] + r[..., 2, 0],
        r[..., 1, 0] + r[..., 0, 1],
    )
    m0, m1, m2 = (
        r[..., 2, 1] - r[..., 1, 2],
        r[..., 0, 2] - r[..., 2, 0],
        r[..., 1, 0] - r[..., 0, 1],
    )
    # Row i is 4 q_i q: any row is parallel to q, and the one with the largest q_i is the longest.
    candidates = np.stack(
        [
            np.stack([1.0 + d0 + d1 + d2, m0, m1, m2], axis=-1),
            np.stack([m0, 1.0 + d0 - d1 - d2, p2, p1], axis=-1),
            np.stack([m1, p2, 1.0 - d0 + d1 - d2, p0], axis=-1),
            np.stack([m2, p1, p0, 1.0 - d0 - d1 + d2], axis=-1),
        ],
        axis=-2,
    )
    squares = np.diagonal(candidates, axis1=-2, axis2=-1)
    best = np.argmax(squares, axis=-1)[..., None, None]
    value = np.take_along_axis(candidates, best, axis=-2)[..., 0, :]
    value = value / np.linalg.norm(value, axis=-1, keepdims=True)
    return np.asarray(np.where(value[..., :1] < 0.0, -value, value) + 0.0)


def skew(vector: VectorLike) -> Float[np.ndarray, "*batch 3 3"]:
    """Return the matrices ``[v]`` with ``[v] u = v x u``.

    Args:
        vector: vectors (..., 3).

    Raises:
        ShapeError: where the last dimension is not 3.

    Example:
        >>> skew([1.0, 2.0, 3.0]) @ [0.0, 0.0, 1.0]
        array([ 2., -1.,  0.])
    """
    v = as_float_array(vector, "vector", (3,))
    matrix = np.zeros((*v.shape, 3))
    matrix[..., 2, 1], matrix[..., 0, 2], matrix[..., 1, 0] = v[..., 0], v[..., 1], v[..., 2]
    return matrix - np.swapaxes(matrix, -1, -2)


def unskew(matrix: MatrixLike, *, tolerance: float = 1e-9) -> Float[np.ndarray, "*batch 3"]:
    """Return the vectors ``v`` of skew-symmetric matrices ``[v]``.

    Args:
        matrix: skew-symmetric matrices (..., 3, 3).
        tolerance: largest symmetric part, relative to the largest entry, that counts as rounding.

    Raises:
        ShapeError: where the last dimensions are not (3, 3).
        ModelError: where a matrix is not skew-symmetric or holds NaN.

    Example:
        >>> unskew([[0, -3, 2], [3, 0, -1], [-2, 1, 0]])
        array([1., 2., 3.])
    """
    m = as_finite_array(matrix, "matrix", (3, 3))
    m_transposed = np.swapaxes(m, -1, -2)
    symmetric = np.abs(0.5 * m + 0.5 * m_transposed).max(axis=(-1, -2))
    refuse_where(
        symmetric > tolerance * np.abs(m).max(axis=(-1, -2)),
        "matrix",
        "has a symmetric part, expected a skew-symmetric matrix",
    )
    half = 0.5 * m - 0.5 * m_transposed
    return np.stack([half[..., 2, 1], half[..., 0, 2], half[..., 1, 0]], axis=-1)


def _check_rotation(matrix: np.ndarray, tolerance: float) -> None:
    defect = np.swapaxes(matrix, -1, -2) @ matrix - np.eye(3)
    refuse_where(
        np.abs(defect).max(axis=(-1, -2)) > tolerance,
        "matrix",
        f"is not orthonormal to {tolerance:g}, expected a rotation matrix",
    )
    refuse_where(
        np.linalg.det(matrix) < 0.0, "matrix", "is a reflection, expected a rotation matrix"
    )
