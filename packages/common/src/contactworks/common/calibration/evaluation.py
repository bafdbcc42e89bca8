"""The one place where a calibration calls the user's functions: counted, recorded, resumable.

Every run is a pure function of its problem, options and seed.  So a checkpoint needs no state of
the method: it holds the evaluated candidates and their losses, and a resumed run starts anew and is
served from the file, bitwise, until the file ends.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from contactworks.common.calibration.history import (
    Checkpoint,
    Generation,
    History,
    Kind,
    Stage,
    Status,
    write_checkpoint,
)
from contactworks.common.calibration.problem import CalibrationProblem
from contactworks.common.errors import CalibrationError, ShapeError
from contactworks.common.progress import NullProgress, Progress

__all__ = ["Ledger"]

_LOGGER = logging.getLogger(__name__)
_KEPT_MESSAGES = 5


class Ledger:
    """All evaluations of one run.

    Args:
        problem: whose functions are called.
        header: method, options, seed, parameters; goes into the checkpoint.
        checkpoint: file that is rewritten after each generation, or None.
        resume: what an earlier run left in that file, or None.
        progress: told of each generation.
    """

    def __init__(
        self,
        problem: CalibrationProblem,
        *,
        header: Mapping[str, Any] | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        resume: Checkpoint | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.problem = problem
        self.stage: Stage = "search"
        self.messages: list[str] = list(resume.messages) if resume else []
        self._header = dict(header or {})
        self._path = None if checkpoint is None else Path(checkpoint)
        self._stored = list(resume.generations) if resume else []
        self._stored_versions = resume.header.get("versions") if resume else None
        self._progress: Progress = NullProgress() if progress is None else progress
        self._done: list[Generation] = []
        self._best: tuple[np.ndarray, float] | None = None
        self._worst = -np.inf
        self._width: int | None = None  # number of residuals, once known

    def evaluate(self, unit: Float[np.ndarray, "n d"], kind: Kind = "loss") -> Generation:
        """Return the evaluation of candidates at coordinates (n, d) in [0, 1].

        Raises:
            CalibrationError: every candidate of the first generation failed, or the checkpoint does
                not belong to this run.
        """
        unit = np.array(unit, dtype=np.float64, order="C")
        generation = self._replay(unit, kind)
        is_new = generation is None
        if generation is None:
            generation = self._compute(unit, kind)
        self._done.append(generation)
        self._note_extremes(generation)
        best = "" if self._best is None else f"best {self._best[1]:.6g}"
        self._progress.advance(generation.loss.size, best)
        if is_new and self._path is not None:
            write_checkpoint(self._path, self._header, self._done, self.messages)
        return generation

    @property
    def best(self) -> tuple[Float[np.ndarray, " d"], float]:
        """Return the coordinates (d,) and the loss of the best candidate of the search.

        Raises:
            CalibrationError: no candidate succeeded.
        """
        if self._best is None:
            raise CalibrationError(f"calibration: no candidate succeeded; {self.messages[:1]}")
        return self._best

    @property
    def penalty(self) -> float:
        """Return what a failed candidate counts as: above all losses of the search so far."""
        if self._best is None:
            return 1.0
        spread = self._worst - self._best[1]
        limits = np.finfo(float)
        return float(min(self._worst + max(spread, abs(self._worst), limits.tiny), limits.max))

    def history(self) -> History:
        """Return every evaluation so far."""
        sizes = [g.loss.size for g in self._done]
        return History(
            values=self.problem.space.denormalize(np.concatenate([g.unit for g in self._done])),
            loss=np.concatenate([g.loss for g in self._done]),
            status=np.concatenate([g.status for g in self._done]),
            generation=np.repeat(np.arange(len(sizes)), sizes),
            is_search=np.repeat([g.stage == "search" for g in self._done], sizes),
        )

    def _replay(self, unit: np.ndarray, kind: Kind) -> Generation | None:
        """Return the stored evaluation of these candidates, or None where the file has ended."""
        if len(self._done) >= len(self._stored):
            return None
        found = self._stored[len(self._done)]
        if found.stage == "identifiability" and self.stage == "search":
            _LOGGER.info("the search goes on beyond the checkpoint, whose report is made anew")
            del self._stored[len(self._done) :]
            return None
        is_same = found.kind == kind and found.stage == self.stage
        if not is_same or not np.array_equal(found.unit, unit):
            raise CalibrationError(
                f"checkpoint {self._path}, generation {len(self._done)}: holds other candidates "
                "than this run asks for, expected the same problem, options, seed and versions "
                f"(stored versions: {self._stored_versions})"
            )
        return found

    def _compute(self, unit: np.ndarray, kind: Kind) -> Generation:
        values = self.problem.space.denormalize(unit)
        errors: dict[int, Exception] = {}
        outputs: np.ndarray | None = None
        if kind == "loss" and not self._takes_residuals:
            loss = self._losses(values, errors)
        elif kind == "gradient":
            loss = self._losses(values, errors)
            outputs = self._rows(values, self.problem.gradient, "gradient", values.shape[1], errors)
        else:
            outputs = self._rows(values, self.problem.residuals, "residuals", self._width, errors)
            with np.errstate(over="ignore", invalid="ignore"):
                loss = 0.5 * np.sum(outputs * outputs, axis=1)
            loss[list(errors)] = np.nan
            self._width = outputs.shape[1] if outputs.shape[1] else self._width
            outputs = outputs if kind == "residuals" else None
        status = np.where(np.isnan(loss), Status.NAN, np.where(np.isinf(loss), Status.INFINITE, 0))
        status[list(errors)] = Status.ERROR
        status = status.astype(np.int8)
        self._keep_messages(values, loss, status, errors)
        if not self._done and np.all(status != Status.OK):
            raise CalibrationError(
                f"calibration: all {status.size} candidate(s) of the first generation failed; "
                + "; ".join(self.messages)
            ) from next(iter(errors.values()), None)
        return Generation(kind, self.stage, unit, loss, status, outputs)

    @property
    def _takes_residuals(self) -> bool:
        return self.problem.loss is None and self.problem.batch_loss is None

    def _losses(self, values: np.ndarray, errors: dict[int, Exception]) -> np.ndarray:
        """Return losses (n,), NaN where the function raised; fill ``errors``."""
        batch = self.problem.batch_loss
        if batch is not None:
            try:
                return _as_vector(batch(values.copy()), len(values), "batch_loss")
            except Exception as error:
                _LOGGER.warning("batch_loss raised, its candidates are repeated singly: %r", error)
        single = self.problem.loss
        losses = np.full(len(values), np.nan)
        for i, row in enumerate(values):
            try:
                if single is not None:
                    losses[i] = float(single(self.problem.space.to_dict(row)))
                elif batch is not None:
                    losses[i] = _as_vector(batch(row[None].copy()), 1, "batch_loss")[0]
            except Exception as error:
                errors[i] = error
        return losses

    def _rows(
        self,
        values: np.ndarray,
        function: Callable[[dict[str, float]], Any] | None,
        label: str,
        width: int | None,
        errors: dict[int, Exception],
    ) -> np.ndarray:
        """Return one vector for each candidate (n, width), NaN where the function raised."""
        if function is None:
            raise CalibrationError(
                f"problem, {label}: got none, expected a function for this method"
            )
        rows: list[np.ndarray | None] = []
        for i, value in enumerate(values):
            try:
                row = np.asarray(function(self.problem.space.to_dict(value)), dtype=np.float64)
                row = _as_vector(row, row.size if width is None else width, label)
                width = row.size
                rows.append(row)
            except Exception as error:
                errors.setdefault(i, error)
                rows.append(None)
        empty = np.full(width or 0, np.nan)
        return np.stack([empty if row is None else row for row in rows])

    def _keep_messages(
        self,
        values: np.ndarray,
        loss: np.ndarray,
        status: np.ndarray,
        errors: Mapping[int, Exception],
    ) -> None:
        for i in np.flatnonzero(status != Status.OK):
            if len(self.messages) >= _KEPT_MESSAGES:
                return
            error = errors.get(int(i))
            reason = f"loss {loss[i]}" if error is None else f"{type(error).__name__}: {error}"
            at = ", ".join(f"{k}={v:.6g}" for k, v in self.problem.space.to_dict(values[i]).items())
            self.messages.append(f"generation {len(self._done)}, candidate {i} ({at}): {reason}")
            _LOGGER.warning("calibration candidate failed: %s", self.messages[-1])

    def _note_extremes(self, generation: Generation) -> None:
        usable = np.flatnonzero(generation.status == Status.OK)
        if generation.stage != "search" or usable.size == 0:
            return
        i = usable[np.argmin(generation.loss[usable])]
        self._worst = max(self._worst, float(generation.loss[usable].max()))
        if self._best is None or generation.loss[i] < self._best[1]:
            self._best = (generation.unit[i].copy(), float(generation.loss[i]))


def _as_vector(value: Any, size: int, name: str) -> np.ndarray:
    array = np.asarray(value, dtype=np.float64)
    if array.shape != (size,):
        raise ShapeError(f"{name}: got the shape {array.shape}, expected ({size},)")
    return array
