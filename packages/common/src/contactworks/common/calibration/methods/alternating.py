"""Block coordinate search: one group of parameters after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float

from contactworks.common.calibration.methods.base import SearchMethod
from contactworks.common.calibration.objective import Objective
from contactworks.common.errors import CalibrationError

__all__ = ["Alternating", "Block"]


@dataclass(frozen=True, slots=True)
class Block:
    """A group of parameters and the method that finds them while the others are held.

    Attributes:
        names: the parameters of the group.
        method: its method; its options hold for each visit.
    """

    names: Sequence[str]
    method: SearchMethod

    def __post_init__(self) -> None:
        if isinstance(self.names, str) or not self.names:
            raise CalibrationError(f"block, names: got {self.names!r}, expected a list of names")
        if not isinstance(self.method, SearchMethod):
            raise CalibrationError(f"block, method: got {self.method!r}, expected a SearchMethod")
        object.__setattr__(self, "names", tuple(self.names))


@dataclass(frozen=True, slots=True)
class Alternating(SearchMethod):
    """Visit blocks in turn, each from the best point so far, until a sweep brings nothing more.

    A visit never makes the point worse: where the block finds nothing better, it stays.

    Losses of different blocks are compared, so a block with :class:`LeastSquares` beside one with
    another method needs a problem whose loss is half the squared norm of its residuals.

    Attributes:
        blocks: the groups; together they hold every parameter once.
        sweeps: largest number of sweeps over all blocks, at least one.
        tolerance: the search ends after a sweep that lowers the loss by less than this share of
            it; not negative.

    Raises:
        CalibrationError: no blocks, a name in two blocks, or an option out of its range.
    """

    name: ClassVar[str] = "alternating"
    blocks: Sequence[Block]
    sweeps: int = 10
    tolerance: float = 1e-3

    def __post_init__(self) -> None:
        object.__setattr__(self, "blocks", tuple(self.blocks))
        names = [name for block in self.blocks for name in block.names]
        twice = sorted({name for name in names if names.count(name) > 1})
        if not names:
            raise CalibrationError("alternating: got no blocks, expected at least one")
        if twice:
            raise CalibrationError(f"alternating: got {twice} in two blocks, expected each once")
        if self.sweeps < 1 or not self.tolerance >= 0.0:
            raise CalibrationError(
                f"alternating: got sweeps {self.sweeps}, tolerance {self.tolerance}, expected "
                "at least 1, and not negative"
            )

    def options(self) -> dict[str, Any]:
        """Return the options as plain JSON values, with those of the inner methods."""
        return {
            "blocks": [
                {"names": list(b.names), "method": b.method.name, "options": b.method.options()}
                for b in self.blocks
            ],
            "sweeps": self.sweeps,
            "tolerance": self.tolerance,
        }

    def search(
        self, objective: Objective, start: Float[np.ndarray, " k"], rng: np.random.Generator
    ) -> str:
        """Sweep over the blocks."""
        names = objective.names
        held = sorted(name for block in self.blocks for name in block.names)
        if held != sorted(names):
            raise CalibrationError(f"alternating: got blocks of {held}, expected {sorted(names)}")
        point, best = start.copy(), np.inf
        for _ in range(self.sweeps):
            before = best
            for block in self.blocks:
                places = [names.index(name) for name in block.names]
                inner = objective.block(block.names, point)
                block.method.search(inner, point[places].copy(), rng)
                if inner.best_unit is not None and inner.best_loss < best:
                    point[places], best = inner.best_unit, inner.best_loss
            if before - best <= self.tolerance * abs(before) and np.isfinite(before):
                return "no further improvement"
        return "sweeps used up"
