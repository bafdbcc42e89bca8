"""Strikes in MuJoCo, many at a time."""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from contactworks.clash.dataset import CollisionStatus
from contactworks.clash.scene import StrikeScene

__all__ = ["StrikeBatch", "StrikeOutcome"]

_LOGGER = logging.getLogger(__name__)

# Steps between two looks at which strikes are over.
_BLOCK = 10
# A strike that ends with more energy than this part of what it began with was not simulated well.
_ENERGY = 1.01
# Kept of every step.
_RECORD = ("qpos", "qvel", "sensordata")


@dataclass(frozen=True, slots=True, eq=False)
class StrikeOutcome:
    """How strikes end.

    Attributes:
        qpos: positions (n, 9) after the strike, as MuJoCo has them: object, block.
        qvel: velocities (n, 8).
        elapsed: time since the start [s] (n,).
        status: a :class:`CollisionStatus` each (n,).
    """

    qpos: Float[np.ndarray, "n 9"]
    qvel: Float[np.ndarray, "n 8"]
    elapsed: Float[np.ndarray, " n"]
    status: Int[np.ndarray, " n"]


class StrikeBatch:
    """Runs up to ``size`` strikes of a scene at once on the cores of this machine.

    The outcome of a strike does not depend on the number of threads nor on its neighbours.

    Args:
        scene: what is struck by what.
        size: largest number of strikes of a run.
        workers: number of threads, or None for all cores.
    """

    def __init__(self, scene: StrikeScene, size: int, workers: int | None = None) -> None:
        from mujoco.batch import Batch

        self._scene = scene
        model = scene.model()
        # MuJoCo sorts the pairs when it compiles: they are found by name.
        self._block_pair = int(model.pair("block-object").id)
        self._ground_pair = int(model.pair("object-ground").id)
        self._batch = Batch(model, size, workers or os.cpu_count() or 1)
        self._friction = self._batch.expand("pair_friction")
        self._solref = self._batch.expand("pair_solref")
        self._qpos = self._batch.bind("qpos")
        self._qvel = self._batch.bind("qvel")

    def run(
        self, pre: Float[np.ndarray, "n 5"], parameters: Float[np.ndarray, "n 4"]
    ) -> StrikeOutcome:
        """Return how strikes from states (n, 5) with parameters (n, 4) end; at most ``size``."""
        count = len(pre)
        self._prepare(pre, parameters)
        options = self._scene.options
        qpos, qvel = self._qpos[:count].copy(), self._qvel[:count].copy()
        elapsed = np.full(count, options.steps * options.timestep)
        status = np.full(count, int(CollisionStatus.MISSED))
        clear = np.zeros(count, dtype=np.int64)
        active = np.arange(count)
        for first in range(0, options.steps, _BLOCK):
            if not len(active):
                break
            length = min(_BLOCK, options.steps - first)
            record, has_failed = self._advance(active, length)
            self._follow(first, active, record, (qpos, qvel, elapsed, status, clear))
            status[active[has_failed]] = CollisionStatus.UNSTABLE
            is_over = has_failed | (status[active] == CollisionStatus.SEPARATED)
            active = active[~is_over]
        self._mark_gain(pre, parameters, qvel, status)
        for values in (qpos, qvel, elapsed):
            values[status == CollisionStatus.UNSTABLE] = np.nan
        return StrikeOutcome(qpos, qvel, elapsed, status)

    def _prepare(self, pre: Float[np.ndarray, "n 5"], parameters: Float[np.ndarray, "n 4"]) -> None:
        """Write the states and the parameters into the first rows of the batch."""
        import mujoco

        count = len(pre)
        self._batch.reset(stage=int(mujoco.mjtStage.mjSTAGE_NONE))
        self._qpos[:count], self._qvel[:count] = self._scene.initial_states(pre)
        for pair, friction, damping in ((self._block_pair, 0, 2), (self._ground_pair, 1, 3)):
            self._friction[:count, pair, :2] = parameters[:, friction, None]
            self._solref[:count, pair, 0] = self._scene.options.time_constant
            self._solref[:count, pair, 1] = parameters[:, damping]

    def _advance(
        self, active: Int[np.ndarray, " m"], length: int
    ) -> tuple[tuple[np.ndarray, ...], Bool[np.ndarray, " m"]]:
        """Advance some strikes by a number of steps.

        Returns:
            The states before each of the steps and after the last: qpos (m, length + 1, 9), qvel
            (m, length + 1, 8), and whether block and object touched before each step (m, length);
            and which strikes broke down (m,).
        """
        from mujoco.batch import SimulationError

        start = self._qpos[active].copy(), self._qvel[active].copy()
        shapes = (start[0].shape[1], start[1].shape[1], 1)
        out = {
            name: np.zeros((len(active), length, k))
            for name, k in zip(_RECORD, shapes, strict=True)
        }
        has_failed = np.zeros(len(active), dtype=bool)
        try:
            self._batch.rollout(length, record=_RECORD, ids=active, out=out)
        except SimulationError as error:
            has_failed |= np.isin(active, error.ids)
            _LOGGER.warning("%s", error)
        has_failed |= self._batch.warning[active, :, 1].any(axis=1)
        qpos = np.concatenate([start[0][:, None], out["qpos"]], axis=1)
        qvel = np.concatenate([start[1][:, None], out["qvel"]], axis=1)
        return (qpos, qvel, out["sensordata"][:, :, 0] > 0.0), has_failed

    def _follow(
        self,
        first: int,
        active: Int[np.ndarray, " m"],
        record: tuple[np.ndarray, ...],
        rows: tuple[np.ndarray, ...],
    ) -> None:
        """Look for the first touch and for separation, and write what is found into ``rows``."""
        options = self._scene.options
        positions, velocities, touches = record
        qpos, qvel, elapsed, status, clear = rows
        qpos[active], qvel[active] = positions[:, -1], velocities[:, -1]
        is_open = np.ones(len(active), dtype=bool)
        for k in range(touches.shape[1]):
            touch = touches[:, k]
            has_touched = status[active] == CollisionStatus.IN_CONTACT
            clear[active] = np.where(has_touched & ~touch, clear[active] + 1, 0)
            status[active[touch & is_open]] = CollisionStatus.IN_CONTACT
            is_over = is_open & has_touched & (clear[active] >= options.clear_states)
            over = active[is_over]
            status[over] = CollisionStatus.SEPARATED
            qpos[over], qvel[over] = positions[is_over, k], velocities[is_over, k]
            elapsed[over] = (first + k) * options.timestep
            is_open &= ~is_over

    def _mark_gain(
        self,
        pre: Float[np.ndarray, "n 5"],
        parameters: Float[np.ndarray, "n 4"],
        qvel: Float[np.ndarray, "n 8"],
        status: Int[np.ndarray, " n"],
    ) -> None:
        """Mark strikes that ended with more kinetic energy than they began with."""
        energy = kinetic_energy(self._scene, qvel)
        gained = ~(energy <= _ENERGY * 0.5 * self._scene.block.mass * pre[:, 0] ** 2)
        status[gained] = CollisionStatus.UNSTABLE
        rows = np.flatnonzero(status == CollisionStatus.UNSTABLE)
        if len(rows):
            _LOGGER.warning(
                "%d of %d strikes are unstable; the first: state %s, parameters %s",
                *(len(rows), len(status), pre[rows[0]], parameters[rows[0]]),
            )


def kinetic_energy(scene: StrikeScene, qvel: Float[np.ndarray, "n 8"]) -> Float[np.ndarray, " n"]:
    """Return the kinetic energy (n,) [J] of object and block."""
    mass, spin = scene.mass_properties, qvel[:, 3:6]
    rotation = 0.5 * np.einsum("ni,ij,nj->n", spin, mass.inertia, spin)
    linear = 0.5 * mass.mass * np.einsum("ni,ni->n", qvel[:, :3], qvel[:, :3])
    block = 0.5 * scene.block.mass * np.einsum("ni,ni->n", qvel[:, 6:8], qvel[:, 6:8])
    return np.asarray(rotation + linear + block)


def post_states(outcome: StrikeOutcome, pre: Float[np.ndarray, "n 5"]) -> Float[np.ndarray, "n 7"]:
    """Return the states after strikes (n, 7), the columns of a dataset."""
    w, x, y, z = outcome.qpos[:, 3:7].T
    # The world z component of the angular velocity, which MuJoCo keeps in the body frame.
    cosine = w * w - x * x - y * y + z * z
    up = np.column_stack([2.0 * (x * z - w * y), 2.0 * (y * z + w * x), cosine])
    return np.column_stack(
        [
            outcome.qvel[:, 0:2],
            np.einsum("ni,ni->n", up, outcome.qvel[:, 3:6]),
            outcome.qpos[:, 0:2] - pre[:, 3:5],
            np.arctan2(2.0 * (w * z + x * y), w * w + x * x - y * y - z * z),
            outcome.elapsed,
        ]
    )
