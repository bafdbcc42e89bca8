"""A calibration problem: a space of parameters and what measures how well they explain the data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from contactworks.common.calibration.parameters import ParameterSpace
from contactworks.common.errors import CalibrationError

__all__ = ["CalibrationProblem"]

Loss: TypeAlias = Callable[[dict[str, float]], Any]
BatchLoss: TypeAlias = Callable[[np.ndarray], npt.ArrayLike]
Vector: TypeAlias = Callable[[dict[str, float]], npt.ArrayLike]


@dataclass(frozen=True, slots=True)
class CalibrationProblem:
    """What to calibrate.

    Functions of one candidate take a mapping from parameter name to value, in the unit of the
    parameter.  The batched loss takes an array, because a batched simulator wants columns.
    At least one of ``loss``, ``batch_loss`` and ``residuals`` is needed.  A method that compares
    losses takes ``batch_loss`` where given, else ``loss``, else half the squared norm of the
    residuals; :class:`LeastSquares` always takes that last one.

    A candidate may fail: NaN, infinity or an exception costs only that candidate (see
    :class:`CalibrationResult`).  If a batched call raises, its candidates are repeated one by one.

    Attributes:
        space: the parameters.
        loss: one candidate to a number; smaller is better.
        batch_loss: candidates (n, d), columns in the order of the space, to losses (n,).
        residuals: one candidate to residuals (m,), m the same for all; weighted so that their
            variances are alike.
        gradient: one candidate to the derivatives (d,) of ``loss`` by the values, in the order of
            the space; for gradient methods.

    Raises:
        CalibrationError: nothing to evaluate, or ``gradient`` without a loss.

    Example:
        >>> from contactworks.common.calibration import GridSearch, Parameter
        >>> space = ParameterSpace([Parameter("mu", "1", 0.0, 1.0)])
        >>> problem = CalibrationProblem(space, lambda v: (v["mu"] - 0.25) ** 2)
        >>> GridSearch(5).run(problem, rng=0).values
        {'mu': 0.25}
    """

    space: ParameterSpace
    loss: Loss | None = None
    batch_loss: BatchLoss | None = None
    residuals: Vector | None = None
    gradient: Vector | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.space, ParameterSpace):
            raise CalibrationError(f"problem, space: got {self.space!r}, expected a ParameterSpace")
        for name in ("loss", "batch_loss", "residuals", "gradient"):
            function = getattr(self, name)
            if function is not None and not callable(function):
                raise CalibrationError(f"problem, {name}: got {function!r}, expected a function")
        if self.loss is None and self.batch_loss is None and self.residuals is None:
            raise CalibrationError("problem: got no loss, batch_loss or residuals, expected one")
        if self.gradient is not None and self.loss is None and self.batch_loss is None:
            raise CalibrationError("problem: got a gradient without a loss, expected both")

    def fix(self, values: Mapping[str, float]) -> CalibrationProblem:
        """Return the problem in which some parameters are held at given values.

        Args:
            values: the parameters to hold, by name.

        Raises:
            CalibrationError: an unknown name, a value outside its bounds, or nothing left to find.
        """
        full = self.space
        held = full.subset(values)
        held.normalize(held.from_dict(values))
        free = [i for i, name in enumerate(full.names) if name not in values]
        if not free:
            raise CalibrationError("problem: all parameters are held, expected at least one free")
        template = np.array([float(values.get(name, 0.0)) for name in full.names])

        def whole(part: dict[str, float]) -> dict[str, float]:
            return {name: part[name] if name in part else values[name] for name in full.names}

        def of_one(function: Vector | None) -> Vector | None:
            return None if function is None else lambda part: function(whole(part))

        def batch(part: np.ndarray) -> npt.ArrayLike:
            rows = np.tile(template, (len(part), 1))
            rows[:, free] = part
            assert self.batch_loss is not None
            return self.batch_loss(rows)

        def gradient(part: dict[str, float]) -> npt.ArrayLike:
            assert self.gradient is not None
            return np.asarray(self.gradient(whole(part)))[free]

        return CalibrationProblem(
            full.subset([full.names[i] for i in free]),
            loss=of_one(self.loss),
            batch_loss=None if self.batch_loss is None else batch,
            residuals=of_one(self.residuals),
            gradient=None if self.gradient is None else gradient,
        )
