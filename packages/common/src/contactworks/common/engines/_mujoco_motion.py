"""Poses and twists of MuJoCo bodies, read and written through whatever joints they hang on.

Derived fields of ``MjData`` belong to the start of the last step, so everything here is taken from
``qpos`` and ``qvel`` or computed anew.  A free joint keeps the angular velocity in the body frame.
"""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
from jaxtyping import Float

from contactworks.common.errors import ModelError
from contactworks.common.poses import Pose, Twist

__all__ = ["body_pose", "body_twist", "write_pose", "write_twist"]

# Largest error of a written pose [m, rad] or twist, relative to its size, that counts as rounding.
_ROUNDING = 1e-9


def body_pose(model: Any, data: Any, body: int) -> Pose:
    """Return the pose of a body at the current state."""
    address = _free_joint(model, body)
    if address is not None:
        position = data.qpos[address[0] : address[0] + 3]
        return Pose(position, _unit(data.qpos[address[0] + 3 : address[0] + 7]))
    mujoco.mj_kinematics(model, data)
    return Pose(data.xpos[body], _unit(data.xquat[body]))


def body_twist(model: Any, data: Any, body: int) -> Twist:
    """Return the twist of a body at the current state."""
    address = _free_joint(model, body)
    if address is not None:
        quaternion = _unit(data.qpos[address[0] + 3 : address[0] + 7])
        velocity = data.qvel[address[1] : address[1] + 6]
        return Twist(velocity[:3], _rotated(velocity[3:], quaternion))
    return Twist.from_vector(_jacobian(model, data, body) @ data.qvel)


def write_pose(model: Any, data: Any, body: int, pose: Pose, name: str) -> None:
    """Put a body somewhere and keep its twist.

    Raises:
        ModelError: the body is fixed, or its joints do not let it be there; the state is unchanged.
    """
    mocap = int(model.body_mocapid[body])
    if mocap >= 0:
        data.mocap_pos[mocap], data.mocap_quat[mocap] = pose.position, pose.quaternion
        return
    address = _free_joint(model, body)
    if address is not None:
        twist = body_twist(model, data, body)
        data.qpos[address[0] : address[0] + 3] = pose.position
        data.qpos[address[0] + 3 : address[0] + 7] = pose.quaternion
        write_twist(model, data, body, twist, name)
        return
    _slide_to(model, data, body, pose, name)


def write_twist(model: Any, data: Any, body: int, twist: Twist, name: str) -> None:
    """Give a body a twist through its own joints; what it hangs on keeps its motion.

    Raises:
        ModelError: the body is fixed, or its joints do not let it move so; the state is unchanged.
    """
    address = _free_joint(model, body)
    if address is not None:
        quaternion = _unit(data.qpos[address[0] + 3 : address[0] + 7])
        inverse = quaternion * (1.0, -1.0, -1.0, -1.0)
        data.qvel[address[1] : address[1] + 3] = twist.linear
        data.qvel[address[1] + 3 : address[1] + 6] = _rotated(twist.angular, inverse)
        return
    own = _own_dofs(model, body, name)
    jacobian = _jacobian(model, data, body)
    wanted = twist.to_vector()
    velocity = data.qvel.copy()
    velocity[own] = 0.0
    velocity[own] = np.linalg.lstsq(jacobian[:, own], wanted - jacobian @ velocity, rcond=None)[0]
    error = np.abs(jacobian @ velocity - wanted).max()
    if error > _ROUNDING * (1.0 + np.abs(wanted).max()):
        raise ModelError(
            f"body '{name}': its joints cannot give it the twist {wanted} (v, w); they miss it by "
            f"{error:.3g}"
        )
    data.qvel[:] = velocity


def _slide_to(model: Any, data: Any, body: int, pose: Pose, name: str) -> None:
    """Move a body that hangs on sliding joints only."""
    own = _own_dofs(model, body, name)
    first, count = int(model.body_jntadr[body]), int(model.body_jntnum[body])
    joints = range(first, first + count)
    if any(model.jnt_type[j] != mujoco.mjtJoint.mjJNT_SLIDE for j in joints):
        raise ModelError(
            f"body '{name}': got a pose, but it hangs on hinges or balls; expected a free body, a "
            "mocap body or one on sliding joints"
        )
    here = body_pose(model, data, body)
    kept = data.qpos.copy()
    axes = _jacobian(model, data, body)[:3, own]
    travel = np.linalg.lstsq(axes, pose.position - here.position, rcond=None)[0]
    for j, distance in zip(joints, travel, strict=True):
        data.qpos[model.jnt_qposadr[j]] += distance
    there = body_pose(model, data, body)
    size = 1.0 + float(np.abs(pose.position).max())
    if not there.is_close(
        pose, position_tolerance=_ROUNDING * size, angle_tolerance=100.0 * _ROUNDING
    ):
        data.qpos[:] = kept
        raise ModelError(
            f"body '{name}': its sliding joints cannot take it to position {pose.position}, "
            f"quaternion {pose.quaternion}; they reach {there.position}, {there.quaternion}"
        )


def _free_joint(model: Any, body: int) -> tuple[int, int] | None:
    """Return the places of a body's free joint in qpos and qvel, None where it has none."""
    joint = int(model.body_jntadr[body])
    if joint < 0 or model.jnt_type[joint] != mujoco.mjtJoint.mjJNT_FREE:
        return None
    return int(model.jnt_qposadr[joint]), int(model.jnt_dofadr[joint])


def _own_dofs(model: Any, body: int, name: str) -> slice:
    first, count = int(model.body_dofadr[body]), int(model.body_dofnum[body])
    if count == 0:
        raise ModelError(f"body '{name}': it is fixed to its parent, expected one that can move")
    return slice(first, first + count)


def _jacobian(model: Any, data: Any, body: int) -> Float[np.ndarray, "6 nv"]:
    """Return d (v, w) / d qvel of the body origin (6, nv) at the current positions."""
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    jacobian = np.zeros((6, model.nv))
    mujoco.mj_jacBody(model, data, jacobian[:3], jacobian[3:], body)
    return jacobian


def _unit(quaternion: Float[np.ndarray, " 4"]) -> Float[np.ndarray, " 4"]:
    """Return a quaternion of length one; MuJoCo lets the stored one drift."""
    return np.asarray(quaternion / np.linalg.norm(quaternion))


def _rotated(
    vector: Float[np.ndarray, " 3"], quaternion: Float[np.ndarray, " 4"]
) -> Float[np.ndarray, " 3"]:
    """Return a rotated vector (3,); MuJoCo's own function, as this runs once a step."""
    result = np.empty(3)
    mujoco.mju_rotVecQuat(result, vector, quaternion)
    return result
