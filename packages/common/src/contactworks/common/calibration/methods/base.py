"""What every calibration method has in common: how it is run, seeded, stopped and resumed."""

from __future__ import annotations

import dataclasses
import logging
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float

from contactworks.common.calibration.evaluation import Ledger
from contactworks.common.calibration.history import Checkpoint, read_checkpoint
from contactworks.common.calibration.identifiability import IdentifiabilityOptions, measure
from contactworks.common.calibration.objective import Objective
from contactworks.common.calibration.parameters import ParameterSpace
from contactworks.common.calibration.problem import CalibrationProblem
from contactworks.common.calibration.result import CalibrationResult
from contactworks.common.errors import CalibrationError
from contactworks.common.progress import NullProgress, Progress
from contactworks.common.records import installed_versions, to_jsonable

__all__ = ["Method", "SearchMethod"]

_LOGGER = logging.getLogger(__name__)


@runtime_checkable
class Method(Protocol):
    """Anything that solves a calibration problem."""

    @property
    def name(self) -> str:
        """Return the name of the method, such as ``"cma-es"``."""

    def options(self) -> dict[str, Any]:
        """Return the options as plain JSON values."""

    def run(
        self,
        problem: CalibrationProblem,
        *,
        rng: np.random.Generator | int | None = None,
        start: Mapping[str, float] | None = None,
        progress: Progress | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        identifiability: bool | IdentifiabilityOptions = True,
    ) -> CalibrationResult:
        """Return the best values found; see :meth:`SearchMethod.run`."""


class SearchMethod(ABC):
    """Base of the methods here and of a user's own; a subclass is a frozen dataclass of options.

    A subclass gives ``name`` and :meth:`search`.  The search must draw random numbers from its
    generator only, so that the same seed gives the same candidates: that is what resuming needs.
    """

    __slots__ = ()
    name: ClassVar[str]
    minimizes_residuals: ClassVar[bool] = False

    @abstractmethod
    def search(
        self, objective: Objective, start: Float[np.ndarray, " k"], rng: np.random.Generator
    ) -> str:
        """Evaluate candidates and return why the search ended, in a few words.

        Args:
            objective: the loss over coordinates in [0, 1]; it remembers the best candidate.
            start: coordinates (k,) to start from.
            rng: the only source of random numbers.
        """

    def expected_evaluations(self, space: ParameterSpace) -> int | None:
        """Return how many evaluations the search takes at most, or None if not known before."""
        return None

    def options(self) -> dict[str, Any]:
        """Return the options as plain JSON values."""
        return dict(to_jsonable(self, self.name)) if dataclasses.is_dataclass(self) else {}

    def run(
        self,
        problem: CalibrationProblem,
        *,
        rng: np.random.Generator | int | None = None,
        start: Mapping[str, float] | None = None,
        progress: Progress | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        identifiability: bool | IdentifiabilityOptions = True,
    ) -> CalibrationResult:
        """Return the best values found.

        With ``checkpoint`` the evaluations are written there after each generation.  If the file
        exists, the run goes on from it and ends at the same answer, bitwise, as a run that was
        never stopped; only the number of evaluations may have been changed in between.

        Args:
            problem: what to calibrate.
            rng: a generator, a seed, or None for a fresh seed (or the seed of the checkpoint).
            start: values to start from; by default the initial ones of the space.
            progress: told of each generation.
            checkpoint: a file (``.npz`` or ``.h5``) to stop and resume, or None.
            identifiability: whether, or how, to measure afterwards which parameters the data
                inform.  This takes further evaluations: about 30, and 15 to 25 per parameter.

        Raises:
            CalibrationError: every candidate of the first generation failed (the error of the
                first one is the cause), the start is out of bounds, or the checkpoint belongs to
                another run.
            FileFormatError: the checkpoint is damaged or is another kind of file.
        """
        space = problem.space
        first = space.initial if start is None else space.from_dict(start)
        unit = space.normalize(first)
        resume = read_checkpoint(checkpoint) if checkpoint and Path(checkpoint).exists() else None
        seed = _resolve_seed(rng, resume)
        header = self._header(space, unit, seed)
        if resume is not None:
            _check_resume(checkpoint, header, resume)
        with NullProgress() if progress is None else progress as shown:
            shown.start(self.expected_evaluations(space), f"calibration by {self.name}")
            ledger = Ledger(
                problem, header=header, checkpoint=checkpoint, resume=resume, progress=shown
            )
            objective = Objective(ledger, unit)
            reason = self.search(objective, unit.copy(), np.random.default_rng(seed))
            best, loss = ledger.best
            report = None
            if identifiability:
                wanted = IdentifiabilityOptions() if identifiability is True else identifiability
                takes_residuals = self.minimizes_residuals or (
                    problem.loss is None and problem.batch_loss is None
                )
                report = measure(ledger, best, wanted, use_residuals=takes_residuals)
        _LOGGER.info("%s ended (%s), best loss %g", self.name, reason, loss)
        return CalibrationResult(
            values=space.to_dict(space.denormalize(best)),
            loss=loss,
            space=space,
            history=ledger.history(),
            identifiability=report,
            seed=seed,
            versions=installed_versions(),
            method=self.name,
            options=header["options"],
            stop_reason=reason,
            messages=tuple(ledger.messages),
        )

    def _header(self, space: ParameterSpace, start: np.ndarray, seed: int) -> dict[str, Any]:
        header: dict[str, Any] = to_jsonable(
            {
                "method": self.name,
                "options": self.options(),
                "space": space,
                "start": start,
                "seed": seed,
                "versions": installed_versions(),
            }
        )
        return header


def _resolve_seed(rng: np.random.Generator | int | None, resume: Checkpoint | None) -> int:
    if isinstance(rng, np.random.Generator):
        return int(rng.integers(2**63 - 1))
    if rng is not None:
        if isinstance(rng, bool) or not isinstance(rng, int | np.integer) or rng < 0:
            raise CalibrationError(f"rng: got {rng!r}, expected a generator, a seed >= 0 or None")
        return int(rng)
    if resume is not None:
        return int(resume.header.get("seed", 0))
    return int(np.random.SeedSequence().generate_state(1, np.uint64)[0] >> np.uint64(1))


def _check_resume(path: Any, header: Mapping[str, Any], resume: Checkpoint) -> None:
    """Refuse a checkpoint of another run; only the number of evaluations may differ."""
    for key in ("method", "options", "space", "start", "seed"):
        found, wanted = resume.header.get(key), header[key]
        if key == "options" and isinstance(found, dict):
            found = {k: v for k, v in found.items() if k != "evaluations"}
            wanted = {k: v for k, v in wanted.items() if k != "evaluations"}
        if found != wanted:
            raise CalibrationError(
                f"checkpoint {path}, {key}: got {found}, expected {wanted} as in this run; remove "
                "the file to start anew"
            )
