"""The state of a simulation, its contacts and what the solver reports."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from jaxtyping import Bool, Float, Int

from contactworks.common.errors import ModelError, ShapeError

from ._kernels.layout import (
    BODY_STATE,
    CONTACT,
    GEOM_STATE,
    KIND_NAMES,
    PAIR_ENABLED,
    PAIR_LAW,
    PAIR_OWN_LAW,
    REPORT,
    make_records,
)
from ._kernels.output import write_bodies
from ._kernels.step import measure
from .collision.table import is_supported
from .model import MAXIMUM_FRICTION, Model

__all__ = ["Contacts", "Data", "Snapshot", "SolverReport"]

_POINT_ROWS = 26


@dataclass(frozen=True, slots=True)
class Contacts:
    """The contact points of the last solve, sorted by pair of geoms. World frame.

    Attributes:
        geom: (n, 2) indices of the two geoms.
        position: (n, 3) point halfway between the surfaces [m], at the start of the step.
        normal: (n, 3) unit normal from the first to the second geom.
        gap: (n,) signed distance [m], negative is overlap.
        impulse: (n, 3) impulse of that one step on the second geom [N s].
    """

    geom: Int[np.ndarray, "n 2"]
    position: Float[np.ndarray, "n 3"]
    normal: Float[np.ndarray, "n 3"]
    gap: Float[np.ndarray, " n"]
    impulse: Float[np.ndarray, "n 3"]

    def __len__(self) -> int:
        return len(self.gap)

    @property
    def is_active(self) -> Bool[np.ndarray, " n"]:
        """Whether the point carries an impulse, (n,)."""
        active: np.ndarray = np.any(self.impulse != 0.0, axis=1)
        return active


@dataclass(frozen=True, slots=True)
class SolverReport:
    """How well the last step was solved.

    Attributes:
        iterations: sweeps and Newton steps of the island that took most.
        sweeps: Gauss-Seidel sweeps among them.
        newton: Newton steps among them.
        islands: groups of touching bodies.
        primal_residual: largest |Jv - z| [m/s], z the velocity that the law admits with l.
        dual_residual: largest entry of M v - M v_f - J^T l [N s or N m s].
        natural_residual: largest natural residual of the contact law [m/s]; what the tolerance
            bounds.
        converged: whether every island met its tolerance.
        worst_natural_residual: the largest over the steps of the last call.
        unconverged_steps: steps of the last call in which an island missed its tolerance.
    """

    iterations: int
    sweeps: int
    newton: int
    islands: int
    primal_residual: float
    dual_residual: float
    natural_residual: float
    converged: bool
    worst_natural_residual: float
    unconverged_steps: int


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Everything that decides how a simulation goes on. Made by ``Data.snapshot``."""

    time: float
    qpos: np.ndarray
    qvel: np.ndarray
    body_wrench: np.ndarray
    pair_flags: np.ndarray
    pair_laws: np.ndarray
    contacts: np.ndarray
    report: np.ndarray


class Data:
    """The state of one simulation of a model.

    Attributes:
        model: the model.
        time: simulated time [s].
        body_position: (body_count, 3) origins of the bodies [m], world frame.
        body_quaternion: (body_count, 4) orientations wxyz, body to world.
        body_twist: (body_count, 6) linear velocity of the body origin [m/s] and angular velocity
            [rad/s], both in the world frame.
        body_wrench: (body_count, 6) external force [N] and torque about the centre of mass [N m],
            world frame; stays until changed.

    ``qpos`` (nq,) holds position and quaternion wxyz of each free body, ``qvel`` (nv,) the linear
    velocity of its origin in the world frame and its angular velocity in the body frame. After
    writing them call ``forward`` to bring the body arrays up to date; ``step`` does it itself.
    """

    def __init__(self, model: Model) -> None:
        n = model.body_count
        self.model = model
        self.time = 0.0
        self._qpos = model.qpos0.copy()
        self._qvel = model.qvel0.copy()
        self.body_position = np.zeros((n, 3))
        self.body_quaternion = np.zeros((n, 4))
        self.body_twist = np.zeros((n, 6))
        self._body_wrench = np.zeros((n, 6))
        self._pair_flags = np.zeros((n, n), np.uint8)
        self._pair_laws = make_records(0, PAIR_LAW)
        self.clear_pairs()
        self._states = make_records(n, BODY_STATE)
        self._geom_states = make_records(model.geom_count, GEOM_STATE)
        self._report = make_records(1, REPORT)
        self._velocities = tuple(np.zeros((n, 6)) for _ in range(4))
        self._order = np.arange(model.geom_count, dtype=np.int64)
        self._points = np.zeros((_POINT_ROWS, 7))
        self._scratch = np.zeros((40, 3))
        self._allocate(contacts=32 + 8 * n, pairs=32 + 4 * model.geom_count)
        self._write_bodies()

    def _write_bodies(self) -> None:
        """Bring the body arrays up to date with the coordinates."""
        write_bodies(
            self.model.bodies,
            self._qpos,
            self._qvel,
            self.body_position,
            self.body_quaternion,
            self.body_twist,
        )

    def _allocate(self, contacts: int, pairs: int) -> None:
        """Make room, keeping the contacts of the last step."""
        n = self.model.body_count
        kept = int(self._report[0]["contact_count"])
        old = getattr(self, "_contacts", make_records(0, CONTACT))
        self._contacts = make_records(contacts, CONTACT)
        self._contacts[:kept] = old[:kept]
        self._previous = make_records(contacts, CONTACT)
        self._keys = np.zeros(pairs, np.int64)
        self._integers = (
            np.zeros(n + 2, np.int64),  # parent
            np.zeros(n + 2, np.int64),  # first body of an island
            np.zeros(n + 2, np.int64),  # bodies by island
            np.zeros(n + 2, np.int64),  # first contact of an island
            np.zeros(contacts, np.int64),  # contacts by island
            np.zeros(n + 2, np.int64),  # body to its number in the island
        )
        self._used = np.zeros(contacts, np.uint8)

    @property
    def qpos(self) -> Float[np.ndarray, " nq"]:
        """Position coordinates, (nq,)."""
        return self._qpos

    @qpos.setter
    def qpos(self, value: npt.ArrayLike) -> None:
        self._qpos[:] = _checked(value, self._qpos.shape, "Data.qpos")

    @property
    def qvel(self) -> Float[np.ndarray, " nv"]:
        """Velocity coordinates, (nv,)."""
        return self._qvel

    @qvel.setter
    def qvel(self, value: npt.ArrayLike) -> None:
        self._qvel[:] = _checked(value, self._qvel.shape, "Data.qvel")

    @property
    def body_wrench(self) -> Float[np.ndarray, "body_count 6"]:
        """External force [N] and torque about the centre of mass [N m], world frame."""
        return self._body_wrench

    @body_wrench.setter
    def body_wrench(self, value: npt.ArrayLike) -> None:
        self._body_wrench[:] = _checked(value, self._body_wrench.shape, "Data.body_wrench")

    @property
    def contacts(self) -> Contacts:
        """The contact points of the last solve, as copies."""
        rows = self._contacts[: int(self._report[0]["contact_count"])]
        return Contacts(
            geom=np.stack([rows["geom_a"], rows["geom_b"]], axis=1),
            position=rows["position"].copy(),
            normal=rows["frame"][:, 0].copy(),
            gap=rows["gap"].copy(),
            impulse=rows["impulse_world"].copy(),
        )

    @property
    def solver(self) -> SolverReport:
        """How well the last step was solved."""
        report = self._report[0]
        return SolverReport(
            iterations=int(report["sweeps"] + report["newton"]),
            sweeps=int(report["sweeps"]),
            newton=int(report["newton"]),
            islands=int(report["island_count"]),
            primal_residual=float(report["primal"]),
            dual_residual=float(report["dual"]),
            natural_residual=float(report["natural"]),
            converged=bool(report["converged"]),
            worst_natural_residual=float(report["worst_natural"]),
            unconverged_steps=int(report["unconverged_steps"]),
        )

    def clear_pairs(self) -> None:
        """Let all bodies touch again but those that the model excludes, with the geoms' values."""
        self._pair_flags[:] = PAIR_ENABLED
        for a, b in self.model.excluded:
            self._pair_flags[a, b] = self._pair_flags[b, a] = 0
        self._pair_laws = make_records(0, PAIR_LAW)

    def pair_enabled(self, body_a: str, body_b: str) -> bool:
        """Return whether two bodies may touch."""
        a, b = self._pair(body_a, body_b)
        return bool(self._pair_flags[a, b] & PAIR_ENABLED)

    def set_pair_enabled(self, body_a: str, body_b: str, enabled: bool) -> None:
        """Let two bodies touch, or pass through each other; lasts until ``reset``.

        Raises:
            ModelError: the bodies are to touch, but have shapes without a collision algorithm.
        """
        a, b = self._pair(body_a, body_b)
        if enabled:
            self._require_algorithms(a, b)
        for i, j in ((a, b), (b, a)):
            if enabled:
                self._pair_flags[i, j] |= PAIR_ENABLED
            else:
                self._pair_flags[i, j] &= ~np.uint8(PAIR_ENABLED)

    def pair_law(self, body_a: str, body_b: str) -> tuple[float, float, float] | None:
        """Return friction, stiffness [N/m] and restitution given to a pair, None if mixed."""
        ids = {self.model.body_id(body_a), self.model.body_id(body_b)}
        for law in self._pair_laws:
            if {int(law["body_a"]), int(law["body_b"])} == ids:
                return float(law["friction"]), float(law["stiffness"]), float(law["restitution"])
        return None

    def set_pair_law(
        self, body_a: str, body_b: str, *, friction: float, stiffness: float, restitution: float
    ) -> None:
        """Give a pair of bodies its own contact parameters; lasts until ``reset``.

        Args:
            body_a: a body.
            body_b: another body.
            friction: Coulomb coefficient, 0 to 1e4.
            stiffness: [N/m], > 0 or inf, shared over the points of a manifold.
            restitution: 0 to 1.

        Raises:
            ModelError: a value is out of range.
        """
        a, b = self._pair(body_a, body_b)
        if not (
            0.0 <= friction <= MAXIMUM_FRICTION and stiffness > 0.0 and 0.0 <= restitution <= 1.0
        ):
            raise ModelError(
                f"pair {body_a!r}, {body_b!r}: got friction {friction}, stiffness {stiffness}, "
                f"restitution {restitution}; expected 0 to {MAXIMUM_FRICTION:g}, > 0, 0 to 1"
            )
        laws = [
            law for law in self._pair_laws if {int(law["body_a"]), int(law["body_b"])} != {a, b}
        ]
        table = make_records(len(laws) + 1, PAIR_LAW)
        table[:-1] = laws
        table[-1] = (a, b, friction, stiffness, restitution)
        self._pair_laws = table
        self._pair_flags[a, b] |= PAIR_OWN_LAW
        self._pair_flags[b, a] |= PAIR_OWN_LAW

    def nearest(
        self, body_a: str, body_b: str, distance: float
    ) -> tuple[float, np.ndarray, np.ndarray] | None:
        """Return the smallest gap between two bodies at the present state, None beyond a distance.

        Whether the pair is switched on does not matter.

        Returns:
            The gap [m], the point (3,) halfway between the surfaces and the normal (3,) from the
            first to the second body, world frame.

        Raises:
            ModelError: the bodies have shapes without a collision algorithm, or are one body.
        """
        out = np.zeros(7)
        model = self.model
        a, b = self._pair(body_a, body_b)
        self._require_algorithms(a, b)
        found = measure(
            model.bodies,
            model.geoms,
            model.settings,
            self._qpos,
            self._qvel,
            self._states,
            self._geom_states,
            self._velocities[0],
            (self._points, self._scratch),
            (a, b, float(distance), out),
        )
        return (float(out[6]), out[:3], out[3:6]) if found else None

    def _pair(self, body_a: str, body_b: str) -> tuple[int, int]:
        a, b = self.model.body_id(body_a), self.model.body_id(body_b)
        if a == b:
            raise ModelError(f"got the pair {body_a!r}, {body_b!r}; expected two different bodies")
        return a, b

    def _require_algorithms(self, a: int, b: int) -> None:
        body, kind = self.model.geoms["body"], self.model.geoms["kind"]
        for one in set(kind[body == a].tolist()):
            for two in set(kind[body == b].tolist()):
                if not is_supported(one, two):
                    names = [self.model.body_names[i] for i in (a, b)]
                    raise ModelError(
                        f"bodies {names[0]!r} and {names[1]!r} have a {KIND_NAMES[one]} and a "
                        f"{KIND_NAMES[two]}: this pair has no collision algorithm"
                    )

    def snapshot(self) -> Snapshot:
        """Return all that decides how the simulation goes on, warm start included."""
        count = int(self._report[0]["contact_count"])
        return Snapshot(
            self.time,
            self._qpos.copy(),
            self._qvel.copy(),
            self.body_wrench.copy(),
            self._pair_flags.copy(),
            self._pair_laws.copy(),
            self._contacts[:count].copy(),
            self._report.copy(),
        )

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to a snapshot of the same model; what follows is bitwise what followed then.

        Raises:
            ModelError: the snapshot belongs to a model of another size.
        """
        if snapshot.qpos.shape != self._qpos.shape:
            raise ModelError(
                f"Data.restore: the snapshot has nq {len(snapshot.qpos)}, the model {self.model.nq}"
            )
        self.time = snapshot.time
        self._qpos[:] = snapshot.qpos
        self._qvel[:] = snapshot.qvel
        self.body_wrench[:] = snapshot.body_wrench
        self._pair_flags[:] = snapshot.pair_flags
        self._pair_laws = snapshot.pair_laws.copy()
        count = len(snapshot.contacts)
        if count > len(self._contacts):
            self._report[0]["contact_count"] = 0
            self._allocate(2 * count, len(self._keys))
        self._contacts[:count] = snapshot.contacts
        self._report[:] = snapshot.report
        self._write_bodies()


def _checked(value: npt.ArrayLike, shape: tuple[int, ...], where: str) -> np.ndarray:
    array = np.asarray(value, dtype=float)
    if array.shape != shape:
        raise ShapeError(f"{where}: got shape {array.shape}, expected {shape}")
    if not np.all(np.isfinite(array)):
        raise ModelError(f"{where}: got a value that is not finite")
    return array
