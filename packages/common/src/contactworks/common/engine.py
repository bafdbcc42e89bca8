"""The protocol that every physics engine satisfies, and how an engine is found.

A collision plug-in or a tactile sensor talks to a simulator through :class:`Engine` only, so that
it runs on MuJoCo and on crisp alike.  Bodies go by name; the fixed world is the body ``"world"``.

How a plug-in takes over the collision of a pair of bodies::

    engine.set_contact_enabled("block", "object", False)   # the pair makes no force any more
    engine.watch("block", "object", distance=0.005)        # but it is measured
    while engine.time < 1.0:
        engine.step()
        contact = engine.contact("block", "object")        # of the state after the step
        if contact is not None and contact.gap <= 0.0:     # onset: no force has acted yet
            engine.set_twist("object", predicted)

An engine may push two bodies before their gap closes (crisp solves with predicted contacts) or in
the very step that makes them overlap, so only a pair that is switched off is met untouched.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import metadata
from typing import Any, Protocol, TypeAlias, cast, runtime_checkable

import numpy as np
from jaxtyping import Float

from contactworks.common.arrays import frozen_array
from contactworks.common.errors import MissingDependencyError, ModelError
from contactworks.common.poses import Pose, Twist

__all__ = [
    "ContactState",
    "ContactTarget",
    "Engine",
    "EngineFactory",
    "UnsupportedPropertyError",
    "installed",
    "load",
]

ENTRY_POINT_GROUP = "contactworks.engines"

# A body (all its geoms), or a pair of bodies.
ContactTarget: TypeAlias = str | tuple[str, str]

# What to install for the engines of this repository.
_PROVIDERS = {
    "mujoco": "pip install 'contactworks-common[mujoco]'",
    "crisp": "pip install contactworks-crisp",
}


class UnsupportedPropertyError(ModelError):
    """Raised when an engine, or this model in it, cannot represent a contact property as asked."""


@dataclass(frozen=True, slots=True, eq=False)
class ContactState:
    """Where two bodies are closest to each other.

    Attributes:
        gap: signed distance of the surfaces [m]; negative where they overlap.
        point: half way between the closest points (3,) [m], world frame.  Where the closest set is
            an edge or a face, some point of it.
        normal: unit vector (3,) from the first to the second body, world frame.

    Raises:
        ShapeError: for arrays of another shape.
        ModelError: for NaN or infinity.
    """

    gap: float
    point: Float[np.ndarray, " 3"]
    normal: Float[np.ndarray, " 3"]

    def __post_init__(self) -> None:
        object.__setattr__(self, "gap", float(frozen_array(self.gap, "gap", ())))
        object.__setattr__(self, "point", frozen_array(self.point, "point", (3,)))
        object.__setattr__(self, "normal", frozen_array(self.normal, "normal", (3,)))


@runtime_checkable
class Engine(Protocol):
    """A simulated world of named bodies.

    All vectors are in the world frame, all units SI.  A twist is the linear velocity of the body
    origin and the angular velocity.  Every method that takes a name raises ``ModelError`` for one
    that the model does not have, and lists those that it has.
    """

    @property
    def name(self) -> str:
        """The engine's own name, as :func:`load` takes it."""

    @property
    def body_names(self) -> tuple[str, ...]:
        """Names of the bodies, first ``"world"``."""

    @property
    def time(self) -> float:
        """Simulated time [s]."""

    @property
    def timestep(self) -> float:
        """Length of a step [s]; may be set between steps."""

    @timestep.setter
    def timestep(self, value: float) -> None: ...

    def pose(self, body: str) -> Pose:
        """Return the pose of a body in the world at the current state."""

    def set_pose(self, body: str, pose: Pose) -> None:
        """Put a body somewhere; its twist stays.

        Raises:
            ModelError: the body is fixed, or its joints do not let it be there.
        """

    def twist(self, body: str) -> Twist:
        """Return the twist of a body at the current state."""

    def set_twist(self, body: str, twist: Twist) -> None:
        """Give a body a velocity.

        Raises:
            ModelError: the body is fixed, or its joints do not let it move so.
        """

    def watch(self, first: str, second: str, distance: float) -> None:
        """Ask for the contact of two bodies to be measured; forces are not touched by this.

        Args:
            first: a body.
            second: another body.
            distance: gap [m] below which :meth:`contact` reports; not negative.

        Raises:
            ModelError: a bad distance, or bodies that the engine cannot measure.
        """

    def unwatch(self, first: str, second: str) -> None:
        """Stop measuring; nothing happens where the pair was not watched."""

    def contact(self, first: str, second: str) -> ContactState | None:
        """Return the contact of a watched pair at the current state, None beyond its distance.

        It is measured whether or not the pair is switched on.

        Raises:
            ModelError: the pair is not watched.
        """

    def contact_enabled(self, first: str, second: str) -> bool:
        """Return whether two bodies may push each other."""

    def set_contact_enabled(self, first: str, second: str, enabled: bool) -> None:
        """Let two bodies push each other, or let them pass through each other.

        Contacts of either with any other body stay as they are.

        Raises:
            UnsupportedPropertyError: the engine cannot switch this pair.
        """

    def friction(self, target: ContactTarget) -> float:
        """Return the coefficient of sliding friction of a body's geoms or of a pair of bodies."""

    def set_friction(self, target: ContactTarget, value: float) -> None:
        """Set the coefficient of sliding friction.

        A body's value is combined with that of the other body by the engine's rule; a pair's value
        stands.

        Raises:
            ModelError: a negative value or NaN.
            UnsupportedPropertyError: the engine cannot represent it for this target.
        """

    def stiffness(self, target: ContactTarget) -> float:
        """Return the normal stiffness [N/m]: weight per depth at rest; infinite where rigid."""

    def set_stiffness(self, target: ContactTarget, value: float) -> None:
        """Set the normal stiffness [N/m].

        Raises:
            ModelError: a value that is not positive, or NaN.
            UnsupportedPropertyError: the engine cannot represent it for this target.
        """

    def restitution(self, target: ContactTarget) -> float:
        """Return the coefficient of restitution: normal speed after over before an impact."""

    def set_restitution(self, target: ContactTarget, value: float) -> None:
        """Set the coefficient of restitution, in [0, 1].

        Raises:
            ModelError: a value outside [0, 1].
            UnsupportedPropertyError: the engine cannot represent it for this target.
        """

    def step(self, count: int = 1) -> None:
        """Advance by ``count`` steps.

        Raises:
            ModelError: the engine could not simulate the state; the state is then the one before
                the call.
        """

    def reset(self) -> None:
        """Return to the model's initial state and time; contact properties and switches stay."""

    def snapshot(self) -> Any:
        """Return all that decides the motion from here on: state, time, contact properties."""

    def restore(self, snapshot: Any) -> None:
        """Return to a snapshot of this engine; the motion from there is bitwise the same."""


class EngineFactory(Protocol):
    """What :func:`load` returns: a class or function that makes an engine from a model."""

    def __call__(self, source: Any, /, **options: Any) -> Engine:
        """Return an engine for a model: MJCF text, a path, or the engine's own model."""


def installed() -> tuple[str, ...]:
    """Return the names of the engines whose packages are installed, sorted."""
    return tuple(sorted({point.name for point in _entry_points()}))


def load(name: str) -> EngineFactory:
    """Return the engine ``name``, a factory to be called with a model.

    Engines announce themselves in the entry-point group ``contactworks.engines``.

    Args:
        name: ``"mujoco"``, ``"crisp"`` or the name of an engine of another package.

    Raises:
        MissingDependencyError: no such engine, or a package that it needs is absent; the message
            says which engines are there and what to install.

    Example:
        >>> engine = load("mujoco")("<mujoco><worldbody/></mujoco>")
        >>> engine.body_names
        ('world',)
    """
    for point in _entry_points():
        if point.name != name:
            continue
        try:
            return cast(EngineFactory, point.load())
        except ImportError as error:
            raise MissingDependencyError(
                f"engine '{name}': {error}; {_advice(name, point)}"
            ) from error
    here = ", ".join(installed()) or "none"
    raise MissingDependencyError(
        f"engine '{name}': not installed; installed engines: {here}; {_advice(name)}"
    )


def _entry_points() -> list[metadata.EntryPoint]:
    return list(metadata.entry_points(group=ENTRY_POINT_GROUP))


def _advice(name: str, point: metadata.EntryPoint | None = None) -> str:
    """Return what to install for the engine ``name``."""
    if name in _PROVIDERS:
        return f"to get it: {_PROVIDERS[name]}"
    if point is not None and point.dist is not None:
        return f"it belongs to the package {point.dist.name}"
    known = "; ".join(f"{engine}: {command}" for engine, command in _PROVIDERS.items())
    return f"known engines: {known}"
