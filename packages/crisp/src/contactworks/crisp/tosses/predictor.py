"""What an engine must offer to be calibrated on tosses and to predict them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from contactworks.common.calibration import Parameter, ParameterSpace

from .metric import Prediction
from .window import Window

__all__ = ["BODY_PARAMETERS", "MASS_CENTER_PARAMETERS", "Predictor", "mass_center"]

#: Unknowns of the cube and the table, which every engine has alike.
#: The inertia is counted in that of a solid cube, m (2 half_width)^2 / 6; a hollow shell has 5/3.
BODY_PARAMETERS = (
    Parameter("table_height", "m", -0.006, 0.006, initial=0.0),
    Parameter("inertia_scale", "1", 0.6, 3.0, initial=1.4),
)

#: Where the centre of mass lies in the body frame, from the tracked centre of the cube.
MASS_CENTER_PARAMETERS = tuple(
    Parameter(f"mass_center_{axis}", "m", -0.015, 0.015, initial=0.0) for axis in "xyz"
)


class Predictor(Protocol):
    """An engine with unknown parameters that predicts tosses."""

    @property
    def name(self) -> str:
        """Return the name for tables and plots."""

    @property
    def space(self) -> ParameterSpace:
        """Return the parameters to calibrate."""

    def predict(self, window: Window, values: Mapping[str, float]) -> Prediction:
        """Return the motion from the start states of ``window``.

        Args:
            window: the start states; what was observed later is not looked at.
            values: a value for each parameter of the space.
        """


def mass_center(values: Mapping[str, float]) -> tuple[float, float, float]:
    """Return the centre of mass [m] in the body frame; zero where ``values`` do not name it."""
    x, y, z = (float(values.get(p.name, 0.0)) for p in MASS_CENTER_PARAMETERS)
    return x, y, z
