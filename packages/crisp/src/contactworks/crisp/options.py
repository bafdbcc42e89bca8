"""Options of a simulation: time step, solver and contact handling."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Literal, get_args

import numpy as np

from contactworks.common.errors import ModelError

from ._kernels.layout import (
    FRICTION_GEOMETRIC,
    FRICTION_MAX,
    FRICTION_MIN,
    SETTINGS,
    SOLVER_CANAL,
    SOLVER_HYBRID,
)

__all__ = ["Options"]

Solver = Literal["hybrid", "canal"]
Preset = Literal["auto", "accurate"]
FrictionRule = Literal["geometric", "max", "min"]

_SOLVERS = {"hybrid": SOLVER_HYBRID, "canal": SOLVER_CANAL}
_RULES = {"geometric": FRICTION_GEOMETRIC, "max": FRICTION_MAX, "min": FRICTION_MIN}
_LIMITS = {"auto": (100, 200), "accurate": (150, 250)}  # sweeps, Newton steps per island
_DEAD_BAND = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How a model is simulated.

    Attributes:
        timestep: time step [s], > 0.
        gravity: acceleration of gravity [m/s^2] in the world frame, (3,).
        solver: ``"hybrid"`` warms up by projected Gauss-Seidel sweeps and finishes with CANAL;
            ``"canal"`` is the augmented-Lagrangian Newton method alone.
        preset: limits of the work per island and step. ``"auto"``: 100 sweeps and 200 Newton
            steps; ``"accurate"``: 150 and 250.
        tolerance: natural residual [m/s] at which an island counts as solved. ``None``: 1e-10 for
            islands of up to 10 bodies, else 1e-8.
        max_iterations: Newton steps per island and time step; ``None``: the preset's.
        contact_margin: distance [m] within which contact points are found; it grows with the
            distance that two bodies may close in one step.
        erp: share of an overlap that is corrected per step, 0 to 1.
        max_correction_speed: bound [m/s] on the speed of that correction; ``inf`` is none.
        friction_rule: friction of a pair from those of its geoms: ``"geometric"`` mean, ``"max"``
            or ``"min"``.

    Raises:
        ModelError: a value is out of range.
    """

    timestep: float = 0.002
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)
    solver: Solver = "hybrid"
    preset: Preset = "auto"
    tolerance: float | None = None
    max_iterations: int | None = None
    contact_margin: float = 0.01
    erp: float = 0.1
    max_correction_speed: float = 0.5
    friction_rule: FrictionRule = "geometric"

    def __post_init__(self) -> None:
        _require_number("timestep", self.timestep, "a positive number of seconds", above=0.0)
        try:
            gravity = tuple(float(value) for value in self.gravity)
        except (TypeError, ValueError):
            gravity = ()
        _require(
            len(gravity) == 3 and all(math.isfinite(value) for value in gravity),
            "gravity",
            self.gravity,
            "three finite numbers",
        )
        object.__setattr__(self, "gravity", gravity)
        for name, choices in (
            ("solver", get_args(Solver)),
            ("preset", get_args(Preset)),
            ("friction_rule", get_args(FrictionRule)),
        ):
            value = getattr(self, name)
            _require(value in choices, name, value, f"one of {choices}")
        if self.tolerance is not None:
            _require_number("tolerance", self.tolerance, "a positive speed or None", above=0.0)
        if self.max_iterations is not None:
            _require(
                isinstance(self.max_iterations, Integral) and self.max_iterations >= 1,
                "max_iterations",
                self.max_iterations,
                "a whole number, 1 or more, or None",
            )
        _require_number("contact_margin", self.contact_margin, "0 or more metres")
        _require_number("erp", self.erp, "0 to 1", top=1.0)
        if self.max_correction_speed != math.inf:
            _require_number("max_correction_speed", self.max_correction_speed, "0 or more m/s")

    def to_settings(self) -> np.ndarray:
        """Return the options as the one-record array that the kernels read."""
        settings = np.zeros(1, SETTINGS)
        record = settings[0]
        sweeps, newton = _LIMITS[self.preset]
        record["timestep"] = self.timestep
        record["gravity"] = self.gravity
        record["tolerance"] = self.tolerance or 0.0
        record["max_sweeps"] = sweeps
        record["max_newton"] = self.max_iterations or newton
        record["solver"] = _SOLVERS[self.solver]
        record["contact_margin"] = self.contact_margin
        record["erp"] = self.erp
        record["max_correction_speed"] = self.max_correction_speed
        record["dead_band"] = _DEAD_BAND
        record["friction_rule"] = _RULES[self.friction_rule]
        return settings


def _require(condition: bool, name: str, got: object, expected: str) -> None:
    if not condition:
        raise ModelError(f"Options.{name}: got {got!r}, expected {expected}")


def _require_number(
    name: str, value: object, expected: str, *, above: float | None = None, top: float = math.inf
) -> None:
    """Refuse what is not a finite number from 0, or above a bound, to ``top``. A NaN fails too."""
    number = float(value) if isinstance(value, Real) else math.nan
    is_fine = math.isfinite(number) and 0.0 <= number <= top
    _require(is_fine and (above is None or number > above), name, value, expected)
