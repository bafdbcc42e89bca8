"""crisp behind the engine protocol of ``contactworks.common``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from contactworks.common.engine import ContactState, ContactTarget, UnsupportedPropertyError
from contactworks.common.errors import ConvergenceError, ModelError
from contactworks.common.poses import Pose, Twist
from contactworks.common.rotations import rotate_inverse

from .builder import ModelBuilder
from .data import Data, Snapshot
from .model import MAXIMUM_FRICTION, Model
from .simulation import forward, reset, step

__all__ = ["CrispEngine", "EngineSnapshot"]


@dataclass(frozen=True, slots=True)
class EngineSnapshot:
    """What ``CrispEngine.snapshot`` returns."""

    model: Model
    data: Snapshot


class CrispEngine:
    """A crisp simulation as an ``Engine``.

    Args:
        source: a ``Model`` or a ``ModelBuilder``.

    Raises:
        ModelError: the source is something else.

    Example:
        >>> from contactworks import crisp
        >>> from contactworks.common import engine
        >>> builder = crisp.ModelBuilder()
        >>> _ = builder.add_body("ball", position=(0, 0, 1)).add_geom(crisp.Sphere(0.05))
        >>> world = engine.load("crisp")(builder)
        >>> world.body_names
        ('world', 'ball')
    """

    def __init__(self, source: Model | ModelBuilder, /) -> None:
        if isinstance(source, ModelBuilder):
            source = source.build()
        if not isinstance(source, Model):
            raise ModelError(
                f"CrispEngine: got a {type(source).__name__}, expected a Model or ModelBuilder"
            )
        self._data = Data(source)
        self._watched: dict[frozenset[str], float] = {}

    @property
    def name(self) -> str:
        """Name of the engine, ``"crisp"``."""
        return "crisp"

    @property
    def model(self) -> Model:
        """The model with the contact parameters and the time step as they are now."""
        return self._data.model

    @property
    def data(self) -> Data:
        """The state; write it through the engine or call ``crisp.forward`` afterwards."""
        return self._data

    @property
    def body_names(self) -> tuple[str, ...]:
        """Names of the bodies, first ``"world"``."""
        return self.model.body_names

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return self._data.time

    @property
    def timestep(self) -> float:
        """Length of a step [s]."""
        return self.model.options.timestep

    @timestep.setter
    def timestep(self, value: float) -> None:
        self._data.model = self.model.with_options(timestep=value)

    def pose(self, body: str) -> Pose:
        """Return the pose of a body in the world."""
        i = self.model.body_id(body)
        return Pose(self._data.body_position[i], self._data.body_quaternion[i])

    def set_pose(self, body: str, pose: Pose) -> None:
        """Put a body somewhere; its twist stays.

        Raises:
            ModelError: the body is fixed or unknown.
        """
        place = self.model.qpos_slice(body)
        twist = self.twist(body)
        self._data.qpos[place] = np.concatenate([pose.position, pose.quaternion])
        forward(self.model, self._data)
        self.set_twist(body, twist)

    def twist(self, body: str) -> Twist:
        """Return the twist of a body."""
        row = self._data.body_twist[self.model.body_id(body)]
        return Twist(row[:3], row[3:])

    def set_twist(self, body: str, twist: Twist) -> None:
        """Give a body a velocity.

        Raises:
            ModelError: the body is fixed or unknown.
        """
        place = self.model.qvel_slice(body)
        turn = self._data.body_quaternion[self.model.body_id(body)]
        self._data.qvel[place] = np.concatenate([twist.linear, rotate_inverse(turn, twist.angular)])
        forward(self.model, self._data)

    def watch(self, first: str, second: str, distance: float) -> None:
        """Ask for the contact of two bodies to be measured within a distance [m].

        Raises:
            ModelError: a body is unknown, both are the same, or the distance is negative.
        """
        pair = self._pair(first, second)
        if not distance >= 0.0:
            raise ModelError(f"watch: got distance {distance}, expected 0 or more metres")
        self._watched[pair] = float(distance)

    def unwatch(self, first: str, second: str) -> None:
        """Stop measuring a pair."""
        self._watched.pop(self._pair(first, second), None)

    def contact(self, first: str, second: str) -> ContactState | None:
        """Return the contact of a watched pair, None beyond its distance.

        Raises:
            ModelError: the pair is not watched.
        """
        pair = self._pair(first, second)
        if pair not in self._watched:
            raise ModelError(f"contact: the pair {first!r}, {second!r} is not watched")
        found = self._data.nearest(first, second, self._watched[pair])
        return None if found is None else ContactState(*found)

    def contact_enabled(self, first: str, second: str) -> bool:
        """Return whether two bodies may push each other."""
        self._pair(first, second)
        return self._data.pair_enabled(first, second)

    def set_contact_enabled(self, first: str, second: str, enabled: bool) -> None:
        """Let two bodies push each other or pass through each other."""
        self._pair(first, second)
        self._data.set_pair_enabled(first, second, enabled)

    def friction(self, target: ContactTarget) -> float:
        """Return the Coulomb coefficient of a body's geoms or of a pair."""
        return self._get(target, "friction")

    def set_friction(self, target: ContactTarget, value: float) -> None:
        """Set the Coulomb coefficient, >= 0."""
        self._set(target, "friction", value, lambda x: 0.0 <= x <= MAXIMUM_FRICTION, "0 to 1e4")

    def stiffness(self, target: ContactTarget) -> float:
        """Return the contact stiffness [N/m]; inf where rigid."""
        return self._get(target, "stiffness")

    def set_stiffness(self, target: ContactTarget, value: float) -> None:
        """Set the contact stiffness [N/m], > 0 or inf."""
        self._set(target, "stiffness", value, lambda x: x > 0.0, "positive")

    def restitution(self, target: ContactTarget) -> float:
        """Return the coefficient of restitution."""
        return self._get(target, "restitution")

    def set_restitution(self, target: ContactTarget, value: float) -> None:
        """Set the coefficient of restitution, 0 to 1."""
        self._set(target, "restitution", value, lambda x: 0.0 <= x <= 1.0, "0 to 1")

    def step(self, count: int = 1) -> None:
        """Advance by ``count`` steps.

        Raises:
            ModelError: the state cannot be simulated; it is then as before the call.
        """
        if count < 1:
            raise ModelError(f"step: got count {count}, expected 1 or more")
        before = self._data.snapshot()
        try:
            step(self.model, self._data, count)
        except (ModelError, ConvergenceError) as error:
            if np.isfinite(before.qpos).all() and np.isfinite(before.qvel).all():
                self._data.restore(before)
            raise ModelError(str(error)) from error

    def reset(self) -> None:
        """Return to the initial state and time; contact parameters and switches stay."""
        flags, laws = self._data._pair_flags.copy(), self._data._pair_laws
        reset(self.model, self._data)
        self._data._pair_flags[:] = flags
        self._data._pair_laws = laws

    def snapshot(self) -> EngineSnapshot:
        """Return all that decides the motion from here on."""
        return EngineSnapshot(self.model, self._data.snapshot())

    def restore(self, snapshot: EngineSnapshot) -> None:
        """Return to a snapshot; the motion from there is bitwise the same."""
        self._data.model = snapshot.model
        self._data.restore(snapshot.data)

    def _pair(self, first: str, second: str) -> frozenset[str]:
        self.model.body_id(first)
        self.model.body_id(second)
        if first == second:
            raise ModelError(f"got the pair {first!r}, {second!r}; expected two different bodies")
        return frozenset((first, second))

    def _geoms_of(self, body: str) -> np.ndarray:
        rows = np.flatnonzero(self.model.geoms["body"] == self.model.body_id(body))
        if len(rows) == 0:
            raise UnsupportedPropertyError(f"body {body!r} has no geoms, so no contact parameters")
        return rows

    def _get(self, target: ContactTarget, what: str) -> float:
        if isinstance(target, str):
            values = self.model.geoms[what][self._geoms_of(target)]
            if not np.all(values == values[0]):
                raise UnsupportedPropertyError(
                    f"{what} of body {target!r}: its geoms differ, got {values.tolist()}"
                )
            return float(values[0])
        return self._law(*target)[what]

    def _law(self, first: str, second: str) -> dict[str, float]:
        """Return the contact parameters of a pair: its own, or mixed from the bodies'."""
        self._pair(first, second)
        own = self._data.pair_law(first, second)
        if own is not None:
            return dict(zip(("friction", "stiffness", "restitution"), own, strict=True))
        one, two = self._get(first, "friction"), self._get(second, "friction")
        rule = self.model.options.friction_rule
        friction = {"geometric": (one * two) ** 0.5, "max": max(one, two), "min": min(one, two)}
        softness = 1.0 / self._get(first, "stiffness") + 1.0 / self._get(second, "stiffness")
        return {
            "friction": friction[rule],
            "stiffness": 1.0 / softness if softness > 0.0 else np.inf,
            "restitution": max(self._get(first, "restitution"), self._get(second, "restitution")),
        }

    def _set(
        self,
        target: ContactTarget,
        what: str,
        value: float,
        accepts: Callable[[float], bool],
        expected: str,
    ) -> None:
        if not accepts(value):
            raise ModelError(f"{what} of {target!r}: got {value}, expected {expected}")
        if isinstance(target, str):
            geoms = self.model.geoms.copy()
            geoms[what][self._geoms_of(target)] = value
            self._data.model = self.model.with_geoms(geoms)
        else:
            law = self._law(*target)
            law[what] = float(value)
            first, second = target
            self._data.set_pair_law(first, second, **law)
