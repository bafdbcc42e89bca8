"""Exhaustive search on a grid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Float

from contactworks.common.calibration.methods.base import SearchMethod
from contactworks.common.calibration.objective import Objective
from contactworks.common.calibration.parameters import ParameterSpace
from contactworks.common.errors import CalibrationError

__all__ = ["GridSearch"]


@dataclass(frozen=True, slots=True)
class GridSearch(SearchMethod):
    """Evaluate every point of a grid and take the best (of equals, the first evaluated).

    Attributes:
        points: number of points of each parameter, evenly spaced from bound to bound (evenly in
            the logarithm on a log scale; one point is the middle); one number for all, or a mapping
            from name to a number or to the values themselves, in the unit of the parameter.
        batch_size: candidates in one generation.
        limit: largest allowed size of the grid.

    Raises:
        CalibrationError: a batch size or a limit that is not positive; on running, a number of
            points below one, names that are not those of the problem, or a grid above the limit.
    """

    name: ClassVar[str] = "grid"
    points: int | Mapping[str, int | Sequence[float]] = 11
    batch_size: int = 256
    limit: int = 1_000_000

    def __post_init__(self) -> None:
        for name in ("batch_size", "limit"):
            if getattr(self, name) < 1:
                raise CalibrationError(f"grid, {name}: got {getattr(self, name)}, expected >= 1")

    def expected_evaluations(self, space: ParameterSpace) -> int:
        """Return the size of the grid."""
        return int(np.prod([axis.size for axis in self._axes(space)]))

    def search(
        self, objective: Objective, start: Float[np.ndarray, " k"], rng: np.random.Generator
    ) -> str:
        """Evaluate the grid: in order if it fits into one generation, else in random order.

        In order, a first generation could lie in one corner where every candidate fails.
        """
        axes = self._axes(objective.space)
        shape = tuple(axis.size for axis in axes)
        total = int(np.prod([float(n) for n in shape]))
        if total > self.limit:
            raise CalibrationError(
                f"grid: got {total} points ({' x '.join(map(str, shape))}), expected at most "
                f"{self.limit}; take fewer points or raise the limit"
            )
        order = np.arange(total) if total <= self.batch_size else rng.permutation(total)
        for first in range(0, total, self.batch_size):
            index = np.unravel_index(order[first : first + self.batch_size], shape)
            points = [axis[i] for axis, i in zip(axes, index, strict=True)]
            objective.losses(np.stack(points, axis=1))
        return "grid complete"

    def _axes(self, space: ParameterSpace) -> list[np.ndarray]:
        given = self.points
        if isinstance(given, Mapping) and set(given) != set(space.names):
            raise CalibrationError(
                f"grid, points: got names {sorted(given)}, expected {sorted(space.names)}"
            )
        axes = []
        for name in space.names:
            wanted = given[name] if isinstance(given, Mapping) else given
            if isinstance(wanted, int | np.integer):
                if wanted < 1:
                    raise CalibrationError(f"grid, points of '{name}': got {wanted}, expected >= 1")
                axes.append(np.linspace(0.0, 1.0, wanted) if wanted > 1 else np.array([0.5]))
            else:
                values = np.array(wanted, dtype=np.float64).reshape(-1, 1)
                if values.size == 0:
                    raise CalibrationError(f"grid, points of '{name}': got none, expected some")
                axes.append(space.subset([name]).normalize(values)[:, 0])
        return axes
