"""What every scene offers: a model, its state, a control and metrics."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from contactworks.common.errors import ModelError
from contactworks.crisp.data import Data
from contactworks.crisp.model import Model
from contactworks.crisp.simulation import step

__all__ = ["Scene"]


@dataclass(eq=False)
class Scene:
    """A ready scene.

    Attributes:
        model: the model.
        data: its state, at the start of the scene.
        parameters: the numbers that define the scene, SI units.
        measure: returns the scene's figures from its present state and history.
        control: called with the scene before each step, to set wrenches; None if there is none.
        worst_residual: largest natural residual of the steps taken so far [m/s].
        unconverged_steps: steps so far that missed the solver's tolerance.
    """

    model: Model
    data: Data
    parameters: dict[str, float]
    measure: Callable[[Scene], dict[str, float]]
    control: Callable[[Scene], None] | None = None
    worst_residual: float = 0.0
    unconverged_steps: int = 0
    record: dict[str, float] = field(default_factory=dict)
    observe: Callable[[Scene], None] | None = None

    def step(self) -> None:
        """Advance one time step."""
        if self.control is not None:
            self.control(self)
        step(self.model, self.data)
        report = self.data.solver
        self.worst_residual = max(self.worst_residual, report.natural_residual)
        self.unconverged_steps += report.unconverged_steps
        if self.observe is not None:
            self.observe(self)

    def run(self, duration: float) -> None:
        """Advance by a duration [s], rounded to whole time steps.

        Raises:
            ModelError: the duration is negative.
        """
        if not duration >= 0.0:
            raise ModelError(f"Scene.run: got duration {duration}, expected 0 or more seconds")
        for _ in range(round(duration / self.model.options.timestep)):
            self.step()

    def metrics(self) -> dict[str, float]:
        """Return the scene's figures and how well its steps were solved."""
        return {
            **self.measure(self),
            "worst_residual": self.worst_residual,
            "unconverged_steps": float(self.unconverged_steps),
        }
