"""Gradient methods: what they need, and a projected descent with line search."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Float

from contactworks.common.calibration.methods.base import SearchMethod
from contactworks.common.calibration.objective import Objective
from contactworks.common.calibration.parameters import ParameterSpace
from contactworks.common.errors import CalibrationError

__all__ = ["GradientDescent", "GradientMethod"]


class GradientMethod(SearchMethod):
    """Base of the methods that need the gradient of the loss.

    A subclass gives :meth:`descend`, which may call ``objective.loss_and_gradient``; the chain rule
    from values to coordinates is done there.
    """

    __slots__ = ()

    def search(
        self, objective: Objective, start: Float[np.ndarray, " k"], rng: np.random.Generator
    ) -> str:
        """Check that there is a gradient, then descend."""
        if not objective.has_gradient:
            raise CalibrationError(f"{self.name}: the problem has no gradient, expected one")
        return self.descend(objective, start, rng)

    @abstractmethod
    def descend(
        self, objective: Objective, start: Float[np.ndarray, " k"], rng: np.random.Generator
    ) -> str:
        """Evaluate candidates and return why the search ended; see :meth:`SearchMethod.search`."""


@dataclass(frozen=True, slots=True)
class GradientDescent(GradientMethod):
    """Spectral projected gradient in [0, 1]^d, with a line search that never accepts a rise.

    Attributes:
        evaluations: upper limit of evaluations of loss and gradient together.
        tolerance: the search ends when the projected gradient step is below this share of the
            range in every coordinate, with the gradient scaled so that the first one has length
            one (the size of a loss is not known in general); positive.

    Raises:
        CalibrationError: an option out of its range.

    Source: E. G. Birgin, J. M. Martinez, M. Raydan, "Nonmonotone spectral projected gradient
        methods on convex sets", SIAM J. Optim. 10 (2000) 1196-1211, algorithm SPG2 with memory
        M = 1 (monotone), so that the last point is the best one.
    """

    name: ClassVar[str] = "gradient-descent"
    evaluations: int = 1000
    tolerance: float = 1e-8

    def __post_init__(self) -> None:
        if self.evaluations < 1 or not self.tolerance > 0.0:
            raise CalibrationError(
                f"gradient-descent: got evaluations {self.evaluations}, tolerance "
                f"{self.tolerance}, expected at least 1, and positive"
            )

    def expected_evaluations(self, space: ParameterSpace) -> int:
        """Return the limit."""
        return self.evaluations

    def descend(
        self, objective: Objective, start: Float[np.ndarray, " k"], rng: np.random.Generator
    ) -> str:
        """Descend to a point where the projected gradient vanishes."""
        x = start
        loss, slope = objective.loss_and_gradient(x)
        if not np.isfinite(loss):
            return "the start failed"
        size = float(np.abs(slope).max())
        length = first_length = 1.0 / size if size > 0.0 else 1.0
        while True:
            if np.abs(np.clip(x - first_length * slope, 0.0, 1.0) - x).max() < self.tolerance:
                return "gradient tolerance"
            direction = np.clip(x - length * slope, 0.0, 1.0) - x
            share, descent = 1.0, float(slope @ direction)
            while True:
                if objective.evaluations >= self.evaluations:
                    return "evaluations used up"
                trial = np.clip(x + share * direction, 0.0, 1.0)
                found, gradient = objective.loss_and_gradient(trial)
                if found <= loss + 1e-4 * share * descent:
                    break
                share *= 0.5
                if share * np.abs(direction).max() < 1e-15:
                    return "no lower loss along the gradient"
            step, change = trial - x, gradient - slope
            bend = float(step @ change)
            length = (
                float(np.clip(step @ step / bend, 1e-10 * first_length, 1e10 * first_length))
                if bend > 0.0
                else 1e10 * first_length
            )
            x, loss, slope = trial, found, gradient
