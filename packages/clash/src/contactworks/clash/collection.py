"""Collecting collisions: simulated strikes with random states and parameters."""

from __future__ import annotations

import logging
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from jaxtyping import Float

from contactworks.clash._strikes import StrikeBatch, post_states
from contactworks.clash.dataset import CollisionDataset
from contactworks.clash.scene import PARAMETER_COLUMNS, StrikeScene
from contactworks.common.arrays import as_finite_array
from contactworks.common.errors import FileFormatError, ModelError, ShapeError
from contactworks.common.progress import NullProgress, Progress
from contactworks.common.records import (
    installed_versions,
    read_record,
    to_jsonable,
    write_record,
)

__all__ = ["collect", "simulate"]

_LOGGER = logging.getLogger(__name__)
_FORMAT = "contactworks-collect-checkpoint"
_VERSION = 1
# Strikes of one run of the batch, and the least time between two checkpoints [s].
_CHUNK = 500
_CHECKPOINT_SECONDS = 5.0


def collect(
    scene: StrikeScene,
    count: int = 1000,
    *,
    seed: int = 0,
    workers: int | None = None,
    progress: Progress | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
) -> CollisionDataset:
    """Return simulated strikes of a scene with random states and contact parameters.

    The result depends on the scene, the count and the seed, not on the number of workers, nor on
    whether the work was interrupted.  The first rows of a larger count are those of a smaller one.
    Strikes that do not separate, miss or go unstable are kept, and their status says so.

    Args:
        scene: what is struck by what.
        count: number of strikes, at least 1.
        seed: a whole number, 0 or more.
        workers: number of threads, or None for all cores.
        progress: what is told of every finished strike.
        checkpoint: file (``.h5``) that takes what is done, every few seconds and when the work is
            interrupted; where it exists, the work goes on from there.  It stays when all is done.

    Raises:
        ModelError: a count, a seed or a number of workers that is not as said.
        FileFormatError: the checkpoint is of another scene, seed or version of MuJoCo, or no
            checkpoint.

    Source: CLASH paper, section III-B, eq. 1, and Table II for the ranges.  Beside velocities we
        keep displacement, turn and time, without which a simulator that jumps over the collision
        misplaces the object by the way that it goes in contact.

    Example:
        >>> data = collect(StrikeScene("semicylinder"), 20, seed=0)
        >>> data.post.shape
        (20, 7)
    """
    _refuse_count("count", count)
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise ModelError(f"seed: got {seed!r}, expected a whole number >= 0")
    pre, parameters = scene.sample(int(count), rng=int(seed))
    attributes = {"scene": scene.description(), "seed": int(seed), "versions": installed_versions()}
    store = None if checkpoint is None else _Checkpoint(Path(checkpoint), attributes)
    post, status = _run(scene, pre, parameters, workers, progress, store)
    return CollisionDataset(pre, parameters, post, status, scene.length_scale, attributes)


def simulate(
    scene: StrikeScene,
    pre: Float[npt.ArrayLike, "n 5"],
    parameters: Float[npt.ArrayLike, "n 4"],
    *,
    workers: int | None = None,
    progress: Progress | None = None,
) -> CollisionDataset:
    """Return the outcome of given strikes.

    Args:
        scene: what is struck by what.
        pre: states before (n, 5), as in :class:`CollisionDataset`; any values, also outside the
            ranges of the scene.
        parameters: contact parameters (n, 4): frictions >= 0, damping ratios > 0.  MuJoCo takes no
            friction below 1e-5.
        workers: number of threads, or None for all cores.
        progress: what is told of every finished strike.

    Raises:
        ShapeError: arrays of other shapes.
        ModelError: NaN or infinity, a speed or a damping ratio that is not positive, a negative
            friction, or a number of workers below 1.

    Example:
        >>> scene = StrikeScene("semicylinder")
        >>> data = simulate(scene, [[0.5, 1.5708, 0.0, 0.0, 0.0]], [[0.3, 0.3, 1.0, 1.0]])
        >>> bool(data.post[0, 1] < 0.0)  # struck from above, it moves along -y
        True
    """
    states = as_finite_array(pre, "pre", (5,))
    values = as_finite_array(parameters, "parameters", (len(PARAMETER_COLUMNS),))
    if states.ndim != 2 or values.shape != (len(states), len(PARAMETER_COLUMNS)):
        raise ShapeError(
            f"pre, parameters: got shapes {states.shape} and {values.shape}, expected (n, 5) and "
            "(n, 4)"
        )
    bad = (values < 0.0) | ((values == 0.0) & (np.arange(4) >= 2))
    if bad.any():
        row, column = (int(i) for i in np.argwhere(bad)[0])
        raise ModelError(
            f"parameters[{row}], {list(PARAMETER_COLUMNS)[column]}: got {values[row, column]}, "
            f"expected a number {'> 0' if column >= 2 else '>= 0'}"
        )
    attributes = {"scene": scene.description(), "versions": installed_versions()}
    post, status = _run(scene, states, values, workers, progress, None)
    return CollisionDataset(states, values, post, status, scene.length_scale, attributes)


def _run(
    scene: StrikeScene,
    pre: Float[np.ndarray, "n 5"],
    parameters: Float[np.ndarray, "n 4"],
    workers: int | None,
    progress: Progress | None,
    store: _Checkpoint | None,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the states after (n, 7) and the statuses (n,) of strikes."""
    if workers is not None:
        _refuse_count("workers", workers)
    count = len(pre)
    post, status = np.full((count, 7), np.nan), np.zeros(count, dtype=np.int64)
    done = 0 if store is None else store.read(post, status)
    report = NullProgress() if progress is None else progress
    with report:
        report.start(count, f"strikes on {scene.shape.name}")
        report.advance(done)
        batch = StrikeBatch(scene, min(_CHUNK, count - done), workers) if done < count else None
        try:
            while batch is not None and done < count:
                rows = slice(done, min(done + _CHUNK, count))
                outcome = batch.run(pre[rows], parameters[rows])
                post[rows], status[rows] = post_states(outcome, pre[rows]), outcome.status
                report.advance(rows.stop - done)
                done = rows.stop
                if store is not None:
                    store.offer(post[:done], status[:done])
        finally:
            if store is not None:
                store.write(post[:done], status[:done])
    return post, status


class _Checkpoint:
    """What is done so far, in a file.

    Args:
        path: the file.
        attributes: what the work depends on, as in the dataset.
    """

    def __init__(self, path: Path, attributes: dict[str, Any]) -> None:
        self._path = path
        versions = attributes["versions"]
        self._key = to_jsonable(
            {
                "scene": attributes["scene"],
                "seed": attributes["seed"],
                "mujoco": versions.get("mujoco"),
                "contactworks-clash": versions.get("contactworks-clash"),
            }
        )
        self._written = time.monotonic()
        self._count = 0

    def read(self, post: np.ndarray, status: np.ndarray) -> int:
        """Fill in the rows that are done; return their number."""
        if not self._path.exists():
            return 0
        record = read_record(
            self._path, format=_FORMAT, versions=[_VERSION], required=("post", "status")
        )
        found = record.attributes.get("key", {})
        other = sorted(name for name in self._key if found.get(name) != self._key[name])
        if other:
            raise FileFormatError(
                f"{self._path}: this checkpoint is of another {', '.join(other)}, expected that of "
                "this run; name another file or remove it"
            )
        done = min(len(record.arrays["status"]), len(status))
        post[:done], status[:done] = record.arrays["post"][:done], record.arrays["status"][:done]
        self._count = len(record.arrays["status"])
        _LOGGER.info("%s: going on after %d strikes", self._path, done)
        return done

    def offer(self, post: np.ndarray, status: np.ndarray) -> None:
        """Write the rows that are done, if the last time is long enough ago."""
        if time.monotonic() - self._written >= _CHECKPOINT_SECONDS:
            self.write(post, status)

    def write(self, post: np.ndarray, status: np.ndarray) -> None:
        """Write the rows that are done, if they are more than the file has."""
        self._written = time.monotonic()
        if len(status) <= self._count:
            return
        write_record(
            self._path,
            {"post": post, "status": status},
            format=_FORMAT,
            version=_VERSION,
            attributes={"key": self._key},
            package="contactworks-clash",
        )
        self._count = len(status)


def _refuse_count(name: str, value: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise ModelError(f"{name}: got {value!r}, expected a whole number >= 1")
