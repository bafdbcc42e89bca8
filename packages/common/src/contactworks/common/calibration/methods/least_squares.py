"""Nonlinear least squares, on SciPy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Float

from contactworks.common.calibration.methods.base import SearchMethod
from contactworks.common.calibration.objective import Objective
from contactworks.common.calibration.parameters import ParameterSpace
from contactworks.common.errors import CalibrationError

__all__ = ["LeastSquares"]


class _UsedUpError(Exception):
    """The evaluations are used up; never leaves this file."""


@dataclass(frozen=True, slots=True)
class LeastSquares(SearchMethod):
    """Trust-region least squares in [0, 1]^d: few evaluations where residuals vary smoothly.

    The Jacobian comes from forward differences (backward at the upper bound), all d in one
    generation; a difference that fails is tried to the other side, and if that fails too, the
    parameter rests for this step.  The loss is half the squared norm of the residuals.

    Attributes:
        evaluations: upper limit of evaluations, those for the Jacobian included.
        difference_step: step of the differences, as a share of the range, in (0, 0.5]; larger for
            a rough simulator.
        tolerance: relative tolerance of loss, step and gradient; positive.

    Raises:
        CalibrationError: an option out of its range.

    Source: M. A. Branch, T. F. Coleman, Y. Li, "A subspace, interior, and conjugate gradient method
        for large-scale bound-constrained minimization problems", SIAM J. Sci. Comput. 21 (1999)
        1-23, as in ``scipy.optimize.least_squares``.
    """

    name: ClassVar[str] = "least-squares"
    minimizes_residuals: ClassVar[bool] = True
    evaluations: int = 1000
    difference_step: float = 1e-6
    tolerance: float = 1e-10

    def __post_init__(self) -> None:
        if self.evaluations < 1:
            raise CalibrationError(
                f"least-squares, evaluations: got {self.evaluations}, expected >= 1"
            )
        if not 0.0 < self.difference_step <= 0.5:
            raise CalibrationError(
                f"least-squares, difference_step: got {self.difference_step}, expected in (0, 0.5]"
            )
        if not self.tolerance > 0.0:
            raise CalibrationError(
                f"least-squares, tolerance: got {self.tolerance}, expected a positive number"
            )

    def expected_evaluations(self, space: ParameterSpace) -> int:
        """Return the limit."""
        return self.evaluations

    def search(
        self, objective: Objective, start: Float[np.ndarray, " k"], rng: np.random.Generator
    ) -> str:
        """Iterate to a local minimum."""
        from scipy.optimize import least_squares

        if not objective.has_residuals:
            raise CalibrationError("least-squares: the problem has no residuals, expected some")
        # The method needs a start strictly inside the bounds.
        inside = np.clip(start, 1e-6, 1.0 - 1e-6)
        first = objective.residuals(inside[None])[0]
        if not np.isfinite(first).all():
            return "the start failed"
        # Scaled, because the tolerance of the gradient is absolute in SciPy.
        scale = float(np.linalg.norm(first)) or 1.0
        last = {inside.tobytes(): first / scale}

        def take(points: np.ndarray) -> np.ndarray:
            if objective.evaluations + len(points) > self.evaluations:
                raise _UsedUpError
            rows: np.ndarray = objective.residuals(points) / scale
            return rows

        def residuals(x: np.ndarray) -> np.ndarray:
            if x.tobytes() not in last:
                found_row = take(x[None])[0]
                last.clear()
                last[x.tobytes()] = found_row
            row: np.ndarray = last[x.tobytes()]
            return row

        def jacobian(x: np.ndarray) -> np.ndarray:
            return self._jacobian(take, x, residuals(x))

        try:
            found = least_squares(
                residuals,
                inside,
                jac=jacobian,
                bounds=(0.0, 1.0),
                ftol=self.tolerance,
                xtol=self.tolerance,
                gtol=self.tolerance,
                max_nfev=self.evaluations,
            )
        except _UsedUpError:
            return "evaluations used up"
        return _REASONS.get(found.status, "evaluations used up")

    def _jacobian(
        self, take: Callable[[np.ndarray], np.ndarray], x: np.ndarray, here: np.ndarray
    ) -> np.ndarray:
        step = np.where(x + self.difference_step <= 1.0, 1.0, -1.0) * self.difference_step
        rows = take(x + np.diag(step))
        failed = np.flatnonzero(~np.isfinite(rows).all(axis=1))
        if failed.size:
            step[failed] *= -1.0
            other = np.clip(x + np.diag(step)[failed], 0.0, 1.0)
            rows[failed] = take(other)
        columns: np.ndarray = (rows - here) / step[:, None]
        columns[~np.isfinite(columns).all(axis=1)] = 0.0
        return columns.T


_REASONS = {1: "gradient tolerance", 2: "loss tolerance", 3: "step tolerance", 4: "tolerance"}
