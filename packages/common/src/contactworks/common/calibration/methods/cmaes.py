"""Covariance matrix adaptation (CMA-ES), on the package ``cma``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float

from contactworks.common.calibration.methods.base import SearchMethod
from contactworks.common.calibration.objective import Objective
from contactworks.common.calibration.parameters import ParameterSpace
from contactworks.common.errors import CalibrationError

__all__ = ["CmaEs"]


@dataclass(frozen=True, slots=True)
class CmaEs(SearchMethod):
    """CMA-ES in [0, 1]^d: the method for a loss that is rough, noisy or without derivatives.

    A whole generation is evaluated in one call.  Bounds hold by a smooth transformation of the
    coordinates, so that every candidate lies inside.

    Attributes:
        evaluations: upper limit of evaluations; only whole generations are made.
        population: candidates in a generation; None: 4 + floor(3 ln d).
        sigma: standard deviation of the first generation, as a share of the range, in (0, 1].
        step_tolerance: the search ends when all standard deviations are below this share of the
            range; not negative.
        loss_tolerance: the search ends when recent losses differ by less than this, in the unit of
            the loss; 0 switches this off, as the size of a loss is not known in general.

    Raises:
        CalibrationError: an option out of its range.

    Source: N. Hansen, "The CMA evolution strategy: a tutorial", arXiv:1604.00772 (2016); the
        implementation is ``cma`` (N. Hansen et al.).
    """

    name: ClassVar[str] = "cma-es"
    evaluations: int = 1000
    population: int | None = None
    sigma: float = 0.3
    step_tolerance: float = 1e-8
    loss_tolerance: float = 0.0

    def __post_init__(self) -> None:
        if self.population is not None and self.population < 3:
            raise CalibrationError(f"cma-es, population: got {self.population}, expected >= 3")
        if not 0.0 < self.sigma <= 1.0:
            raise CalibrationError(f"cma-es, sigma: got {self.sigma}, expected a number in (0, 1]")
        for name in ("step_tolerance", "loss_tolerance"):
            if not getattr(self, name) >= 0.0:
                raise CalibrationError(f"cma-es, {name}: got {getattr(self, name)}, expected >= 0")
        if self.evaluations < 1:
            raise CalibrationError(f"cma-es, evaluations: got {self.evaluations}, expected >= 1")

    def expected_evaluations(self, space: ParameterSpace) -> int:
        """Return the number of evaluations in whole generations."""
        size = self._population(len(space))
        return self.evaluations // size * size

    def search(
        self, objective: Objective, start: Float[np.ndarray, " k"], rng: np.random.Generator
    ) -> str:
        """Run generations until the evaluations or the tolerances are used up."""
        size = self._population(start.size)
        if self.evaluations < size:
            raise CalibrationError(
                f"cma-es, evaluations: got {self.evaluations}, expected at least one generation "
                f"of {size}"
            )
        strategy = self._strategy(start, size, rng)
        while objective.evaluations + size <= self.evaluations:
            candidates = np.clip(np.asarray(strategy.ask()), 0.0, 1.0)
            strategy.tell(list(candidates), objective.losses(candidates).tolist())
            reasons = strategy.stop()
            if reasons:
                return ", ".join(sorted(_REASONS.get(r, r) for r in reasons))
        return "evaluations used up"

    def _population(self, dimension: int) -> int:
        return self.population or 4 + int(3.0 * np.log(dimension))

    def _strategy(self, start: np.ndarray, size: int, rng: np.random.Generator) -> Any:
        import cma

        settings = {
            "bounds": [0.0, 1.0],
            "popsize": size,
            # Own normal numbers: the package would seed NumPy's global generator.
            "randn": lambda *shape: rng.standard_normal(shape),
            "seed": np.nan,
            "tolx": self.step_tolerance,
            "tolfun": self.loss_tolerance,
            "tolfunhist": self.loss_tolerance,
            "maxiter": np.inf,
            "verbose": -9,
            "verb_log": 0,
            "verb_disp": 0,
            # The package would otherwise obey a file of this name in the working folder.
            "signals_filename": "",
        }
        if start.size == 1:
            # The package limits deviations by a vector of scales, which it lacks in one dimension.
            settings["maxstd_boundrange"] = np.inf
        return cma.CMAEvolutionStrategy(start.tolist(), self.sigma, settings)


_REASONS = {
    "tolx": "step tolerance",
    "tolfun": "loss tolerance",
    "tolfunhist": "loss tolerance",
    "tolflatfitness": "all losses equal",
    "tolstagnation": "no improvement over many generations",
    "tolxstagnation": "the mean stands still",
    "noeffectaxis": "steps below rounding",
    "noeffectcoord": "steps below rounding",
    "tolconditioncov": "badly conditioned covariance",
}
