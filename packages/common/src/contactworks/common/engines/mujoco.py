"""MuJoCo behind the engine protocol (extra ``[mujoco]``).

Traps of MuJoCo 4.0.0 that are handled here and in the private modules beside this one:

- Derived fields are stale after a step and after a write: nothing is read from them.
- A state that is NaN or huge makes MuJoCo reset the world with no more than a counter: here it is
  an error, and the state before the step stays.  The same holds for contacts that did not fit.
- The sparse Newton factor can be wrong in 4.0.0 (mended in 4.0.1): the dense one is used.
- Pairs are sorted when the model is compiled: they go by name.
"""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from contactworks.common.arrays import positive_scalar
from contactworks.common.engine import ContactState, ContactTarget
from contactworks.common.engines import _mujoco_motion as motion
from contactworks.common.engines._mujoco_pairs import (
    BodyPair,
    PairSwitches,
    candidate_geoms,
    closest_contact,
)
from contactworks.common.engines._mujoco_properties import ContactProperties
from contactworks.common.errors import ModelError
from contactworks.common.poses import Pose, Twist

__all__ = ["MujocoEngine", "MujocoSnapshot"]

_LOGGER = logging.getLogger(__name__)
# MuJoCo takes a larger number in the state for a sign of instability.
_LARGEST = 1e10
_WARNINGS = {
    int(value): name.removeprefix("mjWARN_")
    for name, value in mujoco.mjtWarning.__members__.items()
}
_LAW_FIELDS = (
    "geom_friction",
    "pair_friction",
    "pair_solref",
    "pair_solimp",
    "pair_solreffriction",
)


@dataclass(frozen=True, slots=True, eq=False)
class MujocoSnapshot:
    """All that decides the motion of a :class:`MujocoEngine` from one instant on.

    Attributes:
        state: MuJoCo's integration state, with the warm start of its solver.
        timestep: length of a step [s].
        laws: the contact parameters of the model, by field.
        off: the pairs of bodies that make no force.
    """

    state: np.ndarray
    timestep: float
    laws: dict[str, np.ndarray]
    off: frozenset[BodyPair]


class MujocoEngine:
    """A MuJoCo model and its state as an :class:`~contactworks.common.engine.Engine`.

    The stiffness of a pair is that of one contact point; a face that rests on n points is n times
    as stiff.  In an impact, MuJoCo's contacts are softer than at rest by 1 - impedance.  The
    restitution holds for central impacts that are slow against the time step.

    Args:
        source: a path to an MJCF or URDF file, MJCF text, or an ``MjModel``.
        data: the state to work on; made anew where it is not given.

    Attributes:
        model: the ``MjModel``; its contact parameters change through the methods of this class.
        data: the ``MjData``.  After a write into it nothing needs to be called.

    Raises:
        ModelError: the model cannot be read.

    Example:
        >>> engine = MujocoEngine('''<mujoco><worldbody><body name="ball" pos="0 0 1">
        ... <freejoint/><geom size="0.1"/></body></worldbody></mujoco>''')
        >>> engine.step(100)
        >>> round(float(engine.pose("ball").position[2]), 4)
        0.8018
    """

    name = "mujoco"

    def __init__(self, source: Any, /, data: Any = None) -> None:
        self.model = _compiled(source)
        if mujoco.__version__ == "4.0.0" and (
            self.model.opt.jacobian != mujoco.mjtJacobian.mjJAC_DENSE
        ):
            self.model.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
            _LOGGER.info("MuJoCo 4.0.0: the constraint Jacobian is set to dense")
        self.data = mujoco.MjData(self.model) if data is None else data
        self._names = [self.model.body(i).name for i in range(self.model.nbody)]
        self._ids = {name: i for i, name in enumerate(self._names) if name}
        self._switches = PairSwitches(self.model)
        self._properties = ContactProperties(self.model, self._names)
        self._watched: dict[BodyPair, float] = {}
        self._geoms: dict[BodyPair, list[tuple[int, int]]] = {}
        self._state_size = mujoco.mj_stateSize(self.model, mujoco.mjtState.mjSTATE_INTEGRATION)

    @property
    def body_names(self) -> tuple[str, ...]:
        """Names of the bodies, first ``"world"``; a body without a name cannot be addressed."""
        return tuple(self._ids)

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return float(self.data.time)

    @property
    def timestep(self) -> float:
        """Length of a step [s]; may be set between steps."""
        return float(self.model.opt.timestep)

    @timestep.setter
    def timestep(self, value: float) -> None:
        self.model.opt.timestep = positive_scalar(value, "timestep [s]")

    def pose(self, body: str) -> Pose:
        """Return the pose of a body in the world at the current state."""
        return motion.body_pose(self.model, self.data, self._id(body))

    def set_pose(self, body: str, pose: Pose) -> None:
        """Put a free body, a mocap body or one on sliding joints somewhere; its twist stays."""
        motion.write_pose(self.model, self.data, self._id(body), pose, body)

    def twist(self, body: str) -> Twist:
        """Return the twist of a body at the current state."""
        return motion.body_twist(self.model, self.data, self._id(body))

    def set_twist(self, body: str, twist: Twist) -> None:
        """Give a body a velocity that its own joints allow."""
        motion.write_twist(self.model, self.data, self._id(body), twist, body)

    def watch(self, first: str, second: str, distance: float) -> None:
        """Ask for the contact of two bodies to be measured; meshes count as their convex hulls."""
        pair = self._pair(first, second)
        if not (np.isfinite(distance) and distance >= 0.0):
            raise ModelError(f"distance: got {distance}, expected a finite number >= 0 [m]")
        if not self._candidates(pair):
            raise ModelError(
                f"bodies '{first}' and '{second}': the model lets no geoms of them meet; expected "
                "matching contype/conaffinity, or a <contact><pair/></contact>"
            )
        self._watched[pair] = float(distance)

    def unwatch(self, first: str, second: str) -> None:
        """Stop measuring; nothing happens where the pair was not watched."""
        self._watched.pop(self._pair(first, second), None)

    def contact(self, first: str, second: str) -> ContactState | None:
        """Return the contact of a watched pair at the current state, None beyond its distance."""
        pair = self._pair(first, second)
        if pair not in self._watched:
            raise ModelError(f"bodies '{first}' and '{second}': not watched, call watch() first")
        mujoco.mj_kinematics(self.model, self.data)
        # MuJoCo reports "nothing nearer" as the limit itself, so it is asked for a little more.
        distance = self._watched[pair]
        found = closest_contact(
            self.model, self.data, self._candidates(pair), distance * (1.0 + 1e-12) + 1e-12
        )
        if found is None or self._id(first) == pair[0]:
            return found
        return ContactState(found.gap, found.point, -found.normal)

    def contact_enabled(self, first: str, second: str) -> bool:
        """Return whether two bodies may push each other."""
        pair = self._pair(first, second)
        return pair not in self._switches.off and bool(self._candidates(pair))

    def set_contact_enabled(self, first: str, second: str, enabled: bool) -> None:
        """Let two bodies push each other, or let them pass through each other.

        Raises:
            ModelError: to be switched on, but the model never lets their geoms meet.
            UnsupportedPropertyError: the contact masks have no bits left.
        """
        pair = self._pair(first, second)
        if enabled and not self._candidates(pair):
            raise ModelError(
                f"bodies '{first}' and '{second}': the model lets no geoms of them meet, so their "
                "contact cannot be switched on"
            )
        off = self._switches.off
        self._switches.set_off(off - {pair} if enabled else off | {pair})

    def friction(self, target: ContactTarget) -> float:
        """Return the coefficient of sliding friction of a body's geoms or of a pair of bodies."""
        return self._properties.friction(*self._resolved(target))

    def set_friction(self, target: ContactTarget, value: float) -> None:
        """Set the sliding friction of a body's geoms, or of the ``<pair>`` of two bodies."""
        self._properties.set_friction(self._resolved(target)[0], float(value))

    def stiffness(self, target: ContactTarget) -> float:
        """Return the stiffness of a pair of bodies at rest [N/m]."""
        return self._properties.stiffness(*self._resolved(target))

    def set_stiffness(self, target: ContactTarget, value: float) -> None:
        """Set the stiffness at rest [N/m] of the ``<pair>`` of two bodies; the restitution stays.

        It becomes ``solref = (-K (1 - d) / m, ...)`` at the constant impedance d, with m the
        effective mass of a central contact.
        """
        self._properties.set_stiffness(self._resolved(target)[0], float(value))

    def restitution(self, target: ContactTarget) -> float:
        """Return the restitution of a pair of bodies."""
        return self._properties.restitution(*self._resolved(target))

    def set_restitution(self, target: ContactTarget, value: float) -> None:
        """Set the restitution of the ``<pair>`` of two bodies, at least 0.001; the stiffness stays.

        It becomes the damping ratio of ``solref`` whose half swing rebounds so.
        """
        self._properties.set_restitution(self._resolved(target)[0], float(value))

    def step(self, count: int = 1) -> None:
        """Advance by ``count`` steps.

        Raises:
            ModelError: the state is NaN or huge, MuJoCo became unstable or lost contacts; the state
                is then the one before the call.
        """
        if count < 1:
            raise ModelError(f"count: got {count}, expected at least one step")
        self._refuse_bad_state()
        state = self._state()
        before = self.data.warning.number.copy()
        mujoco.mj_step(self.model, self.data, nstep=int(count))
        raised = [_WARNINGS[int(i)] for i in np.flatnonzero(self.data.warning.number > before)]
        is_bad = not (_is_sane(self.data.qpos) and _is_sane(self.data.qvel))
        if raised or is_bad:
            at, reason = self.time, ", ".join(raised) or "huge state"
            self._write_state(state)
            raise ModelError(
                f"MuJoCo could not step: warning {reason} at time {at:.6g} s; the state at "
                f"{self.time:.6g} s, before the call, stands; expected a smaller time step, softer "
                "contacts or a sane state"
            )

    def reset(self) -> None:
        """Return to the model's initial state and time; contact properties and switches stay."""
        mujoco.mj_resetData(self.model, self.data)

    def snapshot(self) -> MujocoSnapshot:
        """Return the state, the time, the contact properties and the switches."""
        laws = {name: getattr(self.model, name).copy() for name in _LAW_FIELDS}
        return MujocoSnapshot(self._state(), self.timestep, laws, self._switches.off)

    def restore(self, snapshot: MujocoSnapshot) -> None:
        """Return to a snapshot of this engine, or of another one of the same model.

        Raises:
            ModelError: the snapshot is of another engine or model.
        """
        if not isinstance(snapshot, MujocoSnapshot) or snapshot.state.shape != (self._state_size,):
            raise ModelError("snapshot: it is not of this model, expected one of snapshot()")
        self._write_state(snapshot.state)
        self.timestep = snapshot.timestep
        for name, value in snapshot.laws.items():
            getattr(self.model, name)[:] = value
        self._switches.set_off(snapshot.off)

    def _state(self) -> np.ndarray:
        state = np.empty(self._state_size)
        mujoco.mj_getState(self.model, self.data, state, mujoco.mjtState.mjSTATE_INTEGRATION)
        return state

    def _write_state(self, state: np.ndarray) -> None:
        mujoco.mj_setState(self.model, self.data, state, mujoco.mjtState.mjSTATE_INTEGRATION)

    def _refuse_bad_state(self) -> None:
        for field in ("qpos", "qvel"):
            value = getattr(self.data, field)
            if not _is_sane(value):
                i = int(np.flatnonzero(~(np.abs(value) <= _LARGEST))[0])
                raise ModelError(
                    f"{field}[{i}]: got {value[i]}, expected a finite number of at most "
                    f"{_LARGEST:g}; MuJoCo would reset the world"
                )

    def _id(self, body: str) -> int:
        if body not in self._ids:
            known = ", ".join(f"'{name}'" for name in self._ids)
            raise ModelError(f"body '{body}': not in this model, which has {known}")
        return self._ids[body]

    def _pair(self, first: str, second: str) -> BodyPair:
        ids = sorted((self._id(first), self._id(second)))
        if ids[0] == ids[1]:
            raise ModelError(f"pair of bodies: got '{first}' twice, expected two bodies")
        return ids[0], ids[1]

    def _candidates(self, pair: BodyPair) -> list[tuple[int, int]]:
        if pair not in self._geoms:
            switches = self._switches
            self._geoms[pair] = candidate_geoms(
                self.model, pair, switches.contype, switches.conaffinity
            )
        return self._geoms[pair]

    def _resolved(self, target: ContactTarget) -> tuple[Any, list[tuple[int, int]]]:
        """Return the ids of a target, and the geoms that can meet where it is a pair."""
        if isinstance(target, str):
            return self._id(target), []
        pair = self._pair(*target)
        return pair, self._candidates(pair)


def _is_sane(value: np.ndarray) -> bool:
    """Return whether MuJoCo takes the numbers for a state; NaN fails the comparison."""
    return bool(value.size == 0 or np.abs(value).max() <= _LARGEST)


def _compiled(source: Any) -> Any:
    """Return the ``MjModel`` of a path, of MJCF text or of a model."""
    if isinstance(source, mujoco.MjModel):
        return source
    if not isinstance(source, str | os.PathLike):
        raise ModelError(
            f"model: got {type(source).__name__}, expected a path, MJCF text or an MjModel"
        )
    is_text = isinstance(source, str) and source.lstrip().startswith("<")
    if not is_text and not Path(source).is_file():
        raise ModelError(f"model: no such file: {os.fspath(source)}")
    try:
        if is_text:
            return mujoco.MjModel.from_xml_string(str(source))
        return mujoco.MjModel.from_xml_path(os.fspath(source))
    except ValueError as error:
        label = "MJCF text" if is_text else os.fspath(source)
        raise ModelError(f"model: {label}: MuJoCo cannot read it: {error}") from error
