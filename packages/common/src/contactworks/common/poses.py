"""Poses, twists and wrenches of rigid bodies: frames, changes of frame, powers.

Conventions, everywhere in Contactworks:

- A pose of frame B in frame A maps coordinates in B to coordinates in A:
  ``x_A = rotate(q, x_B) + p``.  The pose of a body in the world maps body to world coordinates.
- A twist is the pair (linear velocity of the body origin, angular velocity), in world axes.
- A wrench is the pair (force, torque about the body origin), in world axes.
- Six-vectors put the linear part first: ``(v, w)`` and ``(f, t)``.

Both pairs belong to a reference point (the body origin) and to a set of axes (those of the world).
``shifted`` moves the point, ``rotated`` turns the axes, ``transformed`` does both at once.  The
power ``v . f + w . t`` is the same whatever the point and the axes.

Source: R. Featherstone, "Rigid Body Dynamics Algorithms", Springer, 2008, section 2.8; we put the
    linear part first, he the angular part.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from jaxtyping import Float

from contactworks.common import rotations
from contactworks.common.arrays import (
    QuaternionLike,
    VectorLike,
    as_float_array,
    frozen_array,
)
from contactworks.common.errors import ModelError

__all__ = ["Pose", "Twist", "Wrench"]

# A quaternion typed with four digits is off by 1e-4; more is a mistake.
_UNIT_TOLERANCE = 1e-3


@dataclass(frozen=True, slots=True, eq=False, init=False)
class Pose:
    """Position and orientation of one frame in another (of a body in the world).

    Attributes:
        position: origin of the inner frame (3,) [m], in the axes of the outer frame.
        quaternion: unit quaternion (4,), ``wxyz``, inner to outer frame.

    Both are read-only copies.  A quaternion whose length is within 1e-3 of one (typed with few
    digits) is scaled to length one; any other length is refused.

    Raises:
        ShapeError: for arrays of another shape.
        ModelError: for NaN, infinity or a quaternion that is not of unit length.

    Example:
        >>> lifted = Pose((0.0, 0.0, 1.0))
        >>> turned = Pose((0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0))
        >>> (lifted @ turned).apply([1.0, 0.0, 0.0])
        array([-1.,  0.,  1.])
    """

    position: Float[np.ndarray, 3]
    quaternion: Float[np.ndarray, 4]

    def __init__(
        self,
        position: VectorLike = (0.0, 0.0, 0.0),
        quaternion: QuaternionLike = (1.0, 0.0, 0.0, 0.0),
    ) -> None:
        object.__setattr__(self, "position", frozen_array(position, "position", (3,)))
        object.__setattr__(self, "quaternion", _unit_quaternion(quaternion))

    @classmethod
    def identity(cls) -> Pose:
        """Return the pose of a frame that coincides with the outer one."""
        return cls()

    @classmethod
    def from_matrix(cls, matrix: Float[npt.ArrayLike, "4 4"], *, tolerance: float = 1e-6) -> Pose:
        """Return the pose of a homogeneous matrix.

        Args:
            matrix: ``[[R, p], [0, 1]]`` (4, 4), p in metres.
            tolerance: largest deviation from an orthonormal ``R`` and from the last row
                ``(0, 0, 0, 1)`` that counts as rounding.

        Raises:
            ShapeError: for another shape.
            ModelError: for NaN, another last row, or a block that is no rotation.
        """
        value = frozen_array(matrix, "matrix", (4, 4))
        if np.abs(value[3] - (0.0, 0.0, 0.0, 1.0)).max() > tolerance:
            raise ModelError(f"matrix: got last row {value[3]}, expected (0, 0, 0, 1)")
        quaternion = rotations.quaternion_from_matrix(value[:3, :3], tolerance=tolerance)
        return cls(value[:3, 3], quaternion)

    def to_matrix(self) -> Float[np.ndarray, "4 4"]:
        """Return the homogeneous matrix ``[[R, p], [0, 1]]`` (4, 4)."""
        matrix = np.eye(4)
        matrix[:3, :3] = self.rotation_matrix
        matrix[:3, 3] = self.position
        return matrix

    @property
    def rotation_matrix(self) -> Float[np.ndarray, "3 3"]:
        """The rotation matrix (3, 3); its columns are the inner axes in the outer frame."""
        return rotations.quaternion_to_matrix(self.quaternion)

    def adjoint(self) -> Float[np.ndarray, "6 6"]:
        """Return the matrix (6, 6) that takes twists ``(v, w)`` from the inner to the outer frame.

        It is ``[[R, [p] R], [0, R]]``; wrenches go with its inverse transpose.
        """
        rotation = self.rotation_matrix
        matrix = np.zeros((6, 6))
        matrix[:3, :3] = matrix[3:, 3:] = rotation
        matrix[:3, 3:] = rotations.skew(self.position) @ rotation
        return matrix

    def __matmul__(self, other: Pose) -> Pose:
        """Return the composition: ``other`` is given in the inner frame of ``self``."""
        if not isinstance(other, Pose):
            return NotImplemented
        quaternion = rotations.quaternion_multiply(self.quaternion, other.quaternion)
        return Pose(self.apply(other.position), quaternion)

    def inverse(self) -> Pose:
        """Return the pose of the outer frame in the inner one."""
        quaternion = rotations.quaternion_conjugate(self.quaternion)
        return Pose(-rotations.rotate(quaternion, self.position), quaternion)

    def apply(self, points: VectorLike) -> Float[np.ndarray, "*batch 3"]:
        """Return points (..., 3) [m] of the inner frame in coordinates of the outer one."""
        return np.asarray(rotations.rotate(self.quaternion, points) + self.position)

    def apply_to_vectors(self, vectors: VectorLike) -> Float[np.ndarray, "*batch 3"]:
        """Return free vectors (..., 3) of the inner frame in axes of the outer one."""
        return rotations.rotate(self.quaternion, vectors)

    def interpolate(self, other: Pose, fraction: float) -> Pose:
        """Return the pose part of the way to ``other``.

        The origin moves on a straight line, the axes turn on the shortest path at constant speed.

        Args:
            other: the pose at fraction 1.
            fraction: part of the way; values outside [0, 1] extrapolate.
        """
        part = float(frozen_array(fraction, "fraction", ()))
        return Pose(
            (1.0 - part) * self.position + part * other.position,
            rotations.quaternion_slerp(self.quaternion, other.quaternion, part),
        )

    def is_close(
        self, other: Pose, *, position_tolerance: float = 1e-9, angle_tolerance: float = 1e-9
    ) -> bool:
        """Return whether two poses agree to a distance [m] and an angle [rad]."""
        distance = float(np.linalg.norm(self.position - other.position))
        angle = float(rotations.angle_between(self.quaternion, other.quaternion))
        return distance <= position_tolerance and angle <= angle_tolerance


@dataclass(frozen=True, slots=True, eq=False, init=False)
class Twist:
    """Velocity of a rigid body: of its origin and of its rotation, in world axes.

    Attributes:
        linear: velocity (3,) [m/s] of the body point at the reference point (the body origin).
        angular: angular velocity (3,) [rad/s].

    Both are read-only copies.

    Raises:
        ShapeError: for arrays of another shape.
        ModelError: for NaN or infinity.

    Example:
        >>> spin = Twist(angular=(0.0, 0.0, 2.0))
        >>> spin.shifted((1.0, 0.0, 0.0)).linear
        array([0., 2., 0.])
    """

    linear: Float[np.ndarray, 3]
    angular: Float[np.ndarray, 3]

    def __init__(
        self, linear: VectorLike = (0.0, 0.0, 0.0), angular: VectorLike = (0.0, 0.0, 0.0)
    ) -> None:
        object.__setattr__(self, "linear", frozen_array(linear, "linear", (3,)))
        object.__setattr__(self, "angular", frozen_array(angular, "angular", (3,)))

    @classmethod
    def from_vector(cls, vector: Float[npt.ArrayLike, 6]) -> Twist:
        """Return the twist of a six-vector ``(v, w)`` [m/s, rad/s]."""
        value = frozen_array(vector, "vector", (6,))
        return cls(value[:3], value[3:])

    def to_vector(self) -> Float[np.ndarray, 6]:
        """Return the six-vector ``(v, w)`` [m/s, rad/s]."""
        return np.concatenate([self.linear, self.angular])

    def velocity_at(self, offset: VectorLike) -> Float[np.ndarray, "*batch 3"]:
        """Return the velocities (..., 3) [m/s] of body points at ``offset`` (..., 3) [m].

        Args:
            offset: from the reference point, in the axes of the twist.
        """
        return self.linear + np.cross(self.angular, as_float_array(offset, "offset", (3,)))

    def shifted(self, offset: VectorLike) -> Twist:
        """Return the same motion with the reference point moved by ``offset`` (3,) [m]."""
        return Twist(self.velocity_at(frozen_array(offset, "offset", (3,))), self.angular)

    def rotated(self, quaternion: QuaternionLike) -> Twist:
        """Return the same motion in the axes to which the unit ``quaternion`` (4,) maps."""
        unit = _unit_quaternion(quaternion)
        return Twist(rotations.rotate(unit, self.linear), rotations.rotate(unit, self.angular))

    def transformed(self, pose: Pose) -> Twist:
        """Return the motion in the outer frame of ``pose``.

        The given twist stands at the origin and in the axes of the inner frame, the returned one
        at the origin and in the axes of the outer frame (``pose.adjoint()`` times the six-vector).
        """
        return self.rotated(pose.quaternion).shifted(-pose.position)

    def power(self, wrench: Wrench) -> float:
        """Return the power [W] of a wrench at the same point and in the same axes."""
        return float(self.linear @ wrench.force + self.angular @ wrench.torque)

    def __add__(self, other: Twist) -> Twist:
        return Twist(self.linear + other.linear, self.angular + other.angular)

    def __sub__(self, other: Twist) -> Twist:
        return Twist(self.linear - other.linear, self.angular - other.angular)

    def __neg__(self) -> Twist:
        return Twist(-self.linear, -self.angular)


@dataclass(frozen=True, slots=True, eq=False, init=False)
class Wrench:
    """Force on a rigid body and torque about its origin, in world axes.

    Attributes:
        force: force (3,) [N].
        torque: torque (3,) [N m] about the reference point (the body origin).

    Both are read-only copies.

    Raises:
        ShapeError: for arrays of another shape.
        ModelError: for NaN or infinity.

    Example:
        >>> push = Wrench(force=(0.0, 1.0, 0.0))
        >>> push.shifted((-2.0, 0.0, 0.0)).torque
        array([0., 0., 2.])
    """

    force: Float[np.ndarray, 3]
    torque: Float[np.ndarray, 3]

    def __init__(
        self, force: VectorLike = (0.0, 0.0, 0.0), torque: VectorLike = (0.0, 0.0, 0.0)
    ) -> None:
        object.__setattr__(self, "force", frozen_array(force, "force", (3,)))
        object.__setattr__(self, "torque", frozen_array(torque, "torque", (3,)))

    @classmethod
    def from_vector(cls, vector: Float[npt.ArrayLike, 6]) -> Wrench:
        """Return the wrench of a six-vector ``(f, t)`` [N, N m]."""
        value = frozen_array(vector, "vector", (6,))
        return cls(value[:3], value[3:])

    def to_vector(self) -> Float[np.ndarray, 6]:
        """Return the six-vector ``(f, t)`` [N, N m]."""
        return np.concatenate([self.force, self.torque])

    def shifted(self, offset: VectorLike) -> Wrench:
        """Return the same load with the reference point moved by ``offset`` (3,) [m]."""
        lever = frozen_array(offset, "offset", (3,))
        return Wrench(self.force, self.torque - np.cross(lever, self.force))

    def rotated(self, quaternion: QuaternionLike) -> Wrench:
        """Return the same load in the axes to which the unit ``quaternion`` (4,) maps."""
        unit = _unit_quaternion(quaternion)
        return Wrench(rotations.rotate(unit, self.force), rotations.rotate(unit, self.torque))

    def transformed(self, pose: Pose) -> Wrench:
        """Return the load in the outer frame of ``pose``: its origin and its axes."""
        return self.rotated(pose.quaternion).shifted(-pose.position)

    def __add__(self, other: Wrench) -> Wrench:
        return Wrench(self.force + other.force, self.torque + other.torque)

    def __sub__(self, other: Wrench) -> Wrench:
        return Wrench(self.force - other.force, self.torque - other.torque)

    def __neg__(self) -> Wrench:
        return Wrench(-self.force, -self.torque)


def _unit_quaternion(quaternion: QuaternionLike) -> Float[np.ndarray, 4]:
    """Return a read-only quaternion (4,) of length one; refuse other lengths than about one."""
    given = frozen_array(quaternion, "quaternion", (4,))
    length = float(np.linalg.norm(given))
    if abs(length - 1.0) > _UNIT_TOLERANCE:
        raise ModelError(f"quaternion: got {given} of length {length:.6g}, expected length 1")
    unit = np.asarray(given / length)
    unit.setflags(write=False)
    return unit
