"""Profile of the loss over one parameter: at each value the others are fitted anew."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from jaxtyping import Float

from contactworks.common.calibration.methods import CmaEs, LeastSquares, Method
from contactworks.common.calibration.problem import CalibrationProblem
from contactworks.common.errors import CalibrationError

__all__ = ["LossProfile", "profile"]


@dataclass(frozen=True, slots=True, eq=False)
class LossProfile:
    """The smallest loss that is possible at each value of one parameter.

    Attributes:
        name: the parameter.
        values: its values (n,), ascending, in its unit.
        losses: smallest losses (n,); infinite where every fit failed.
        others: the other parameters at each value, as mappings.
        evaluations: evaluations in all.
    """

    name: str
    values: Float[np.ndarray, " n"]
    losses: Float[np.ndarray, " n"]
    others: tuple[Mapping[str, float], ...]
    evaluations: int

    def interval(self, threshold: float) -> tuple[float, float]:
        """Return the lowest and the highest value whose loss is within ``threshold`` of the least.

        An end that is a bound of the profile says that the data do not limit the parameter there.
        """
        inside = self.values[self.losses <= self.losses.min() + threshold]
        return float(inside.min()), float(inside.max())


def profile(
    problem: CalibrationProblem,
    values: Mapping[str, float],
    name: str,
    *,
    points: int | Float[npt.ArrayLike, " n"] = 11,
    method: Method | None = None,
    rng: np.random.Generator | int | None = None,
) -> LossProfile:
    """Return the profile of the loss over one parameter.

    Fits start from the neighbour's answer, from the best value outwards to both sides.  Unlike the
    curvature at the best values this also follows a bent valley.

    Args:
        problem: the problem, with at least two parameters.
        values: the best values, such as ``result.values``.
        name: the parameter.
        points: how many values from bound to bound (evenly in the logarithm on a log scale), or the
            values themselves.
        method: fits the others; by default least squares where the problem has residuals and no
            other loss, else CMA-ES with 100 evaluations per parameter.
        rng: a generator, a seed, or None for a fresh one.

    Raises:
        CalibrationError: unknown names, values out of bounds, or fewer than two parameters.
    """
    space = problem.space
    best = space.to_dict(space.from_dict(values))
    alone = space.subset([name])
    if len(space) < 2:
        raise CalibrationError("profile: the problem has one parameter, expected at least two")
    if isinstance(points, int | np.integer):
        if points < 2:
            raise CalibrationError(f"profile, points: got {points}, expected at least two")
        unit = np.linspace(0.0, 1.0, int(points))
    else:
        unit = np.sort(alone.normalize(np.asarray(points, dtype=np.float64)[:, None])[:, 0])
    if method is None:
        only_residuals = problem.loss is None and problem.batch_loss is None
        budget = 100 * (len(space) - 1)
        method = LeastSquares(budget) if only_residuals else CmaEs(budget, sigma=0.1)
    generator = np.random.default_rng(rng)
    grid = alone.denormalize(unit[:, None])[:, 0]
    middle = int(np.argmin(np.abs(grid - best[name])))
    found: dict[int, tuple[float, Mapping[str, float]]] = {}
    count = 0
    for order in (range(middle, grid.size), range(middle - 1, -1, -1)):
        start = {k: v for k, v in best.items() if k != name}
        if middle in found:
            start = dict(found[middle][1])
        for i in order:
            try:
                result = method.run(
                    problem.fix({name: float(grid[i])}),
                    rng=generator,
                    start=start,
                    identifiability=False,
                )
            except CalibrationError:
                found[i] = (np.inf, start)
                continue
            start, count = dict(result.values), count + result.evaluations
            found[i] = (result.loss, start)
    ordered = [found[i] for i in range(grid.size)]
    return LossProfile(
        name, grid, np.array([f[0] for f in ordered]), tuple(f[1] for f in ordered), count
    )
