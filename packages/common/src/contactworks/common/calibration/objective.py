"""The loss as a calibration method sees it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from contactworks.common.calibration.evaluation import Ledger
from contactworks.common.calibration.history import Generation, Kind, Status
from contactworks.common.calibration.parameters import ParameterSpace

__all__ = ["Objective"]


class Objective:
    """The loss as a method sees it: over the free parameters, each in [0, 1].

    Args:
        ledger: does the evaluations.
        base: coordinates (D,) of all parameters; those that are not free stay there.
        free: places of the k free parameters; by default all.

    Attributes:
        evaluations: evaluations through this object.
        best_unit: best coordinates (k,) so far, or None.
        best_loss: their loss; infinite before the first success.
    """

    def __init__(
        self,
        ledger: Ledger,
        base: Float[np.ndarray, " D"],
        free: Sequence[int] | None = None,
    ) -> None:
        self._ledger = ledger
        self._base = np.array(base, dtype=np.float64)
        self._free = list(range(self._base.size)) if free is None else list(free)
        self.evaluations = 0
        self.best_unit: np.ndarray | None = None
        self.best_loss = np.inf

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the free parameters."""
        return tuple(self._ledger.problem.space.names[i] for i in self._free)

    @property
    def space(self) -> ParameterSpace:
        """Return the space of the free parameters."""
        return self._ledger.problem.space.subset(self.names)

    @property
    def has_residuals(self) -> bool:
        """Return whether the problem has residuals."""
        return self._ledger.problem.residuals is not None

    @property
    def has_gradient(self) -> bool:
        """Return whether the problem has a gradient."""
        return self._ledger.problem.gradient is not None

    def losses(self, unit: Float[np.ndarray, "n k"]) -> Float[np.ndarray, " n"]:
        """Return losses (n,) at coordinates (n, k); a failed candidate gets a penalty.

        The penalty is finite and above every loss so far, so that a method that ranks candidates
        puts it last.
        """
        generation = self._evaluate(unit, "loss")
        return np.where(generation.status == Status.OK, generation.loss, self._ledger.penalty)

    def residuals(self, unit: Float[np.ndarray, "n k"]) -> Float[np.ndarray, "n m"]:
        """Return residuals (n, m) at coordinates (n, k); NaN in the row of a failed candidate."""
        generation = self._evaluate(unit, "residuals")
        assert generation.outputs is not None
        failed = generation.status != Status.OK
        return np.where(failed[:, None], np.nan, generation.outputs)

    def loss_and_gradient(self, unit: Float[np.ndarray, " k"]) -> tuple[float, np.ndarray]:
        """Return the loss and its derivatives (k,) by the coordinates; inf and NaN on failure."""
        generation = self._evaluate(np.asarray(unit)[None], "gradient")
        assert generation.outputs is not None
        slope = self._ledger.problem.space.slope(generation.unit[0])
        gradient = (generation.outputs[0] * slope)[self._free]
        if generation.status[0] != Status.OK or not np.isfinite(gradient).all():
            return np.inf, np.full(gradient.shape, np.nan)
        return float(generation.loss[0]), gradient

    def block(self, names: Sequence[str], at: Float[np.ndarray, " k"]) -> Objective:
        """Return the objective over some of the free parameters, the others held at ``at``."""
        base = self._base.copy()
        base[self._free] = at
        return Objective(self._ledger, base, [self._free[self.names.index(n)] for n in names])

    def _evaluate(self, unit: np.ndarray, kind: Kind) -> Generation:
        points = np.tile(self._base, (len(unit), 1))
        points[:, self._free] = unit
        generation = self._ledger.evaluate(points, kind)
        self.evaluations += generation.loss.size
        for row, loss, status in zip(unit, generation.loss, generation.status, strict=True):
            if status == Status.OK and loss < self.best_loss:
                self.best_unit, self.best_loss = np.array(row), float(loss)
        return generation
