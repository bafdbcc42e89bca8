"""crisp's prediction of tosses: a box on a plane with Coulomb friction and a compliant contact."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from contactworks.common.calibration import Parameter, ParameterSpace
from contactworks.common.geometry.shapes import Box, Plane
from contactworks.crisp.builder import ModelBuilder
from contactworks.crisp.data import Data
from contactworks.crisp.model import Model
from contactworks.crisp.options import Options
from contactworks.crisp.simulation import reset, step

from .metric import Prediction
from .predictor import BODY_PARAMETERS, MASS_CENTER_PARAMETERS, mass_center
from .window import Window

__all__ = ["CrispPredictor", "cube_on_table"]

_CONTACT_PARAMETERS = (
    Parameter("friction", "1", 0.05, 1.0, "log", initial=0.2),
    Parameter("restitution", "1", 0.0, 0.9, initial=0.3),
    Parameter("stiffness", "N/m", 3e3, 3e6, "log", initial=1e5),
)


@dataclass(frozen=True, slots=True)
class CrispPredictor:
    """crisp with unknown friction, restitution, stiffness, table height and inertia.

    Attributes:
        has_mass_center: whether the centre of mass is unknown too; otherwise it is the tracked
            centre of the cube.
        steps_per_frame: time steps between two frames.
    """

    has_mass_center: bool = True
    steps_per_frame: int = 7

    @property
    def name(self) -> str:
        """Return the name for tables and plots."""
        return "crisp"

    @property
    def space(self) -> ParameterSpace:
        """Return the parameters to calibrate."""
        extra = MASS_CENTER_PARAMETERS if self.has_mass_center else ()
        return ParameterSpace([*_CONTACT_PARAMETERS, *BODY_PARAMETERS, *extra])

    def predict(self, window: Window, values: Mapping[str, float]) -> Prediction:
        """Return the motion from the start states of ``window``.

        Args:
            window: the start states.
            values: a value for each parameter of the space.

        Raises:
            ModelError: a value or a start state that cannot be simulated.
            ConvergenceError: a step had no finite solution.
        """
        model = cube_on_table(window, values, steps_per_frame=self.steps_per_frame)
        data = Data(model)
        position = np.full_like(window.position, np.nan)
        quaternion = np.full_like(window.quaternion, np.nan)
        unconverged = 0
        for i in range(len(window)):
            reset(model, data)
            data.qpos[:3] = window.position[i, 0]
            data.qpos[3:] = window.quaternion[i, 0]
            data.qvel[:3] = window.linear_velocity[i]
            data.qvel[3:] = window.angular_velocity[i]
            position[i, 0], quaternion[i, 0] = data.qpos[:3], data.qpos[3:]
            for k in range(1, int(window.frames[i]) + 1):
                step(model, data, self.steps_per_frame)
                position[i, k], quaternion[i, k] = data.qpos[:3], data.qpos[3:]
                unconverged += data.solver.unconverged_steps
        return Prediction(position, quaternion, unconverged)


def cube_on_table(window: Window, values: Mapping[str, float], *, steps_per_frame: int) -> Model:
    """Return the model of the tracked cube, body ``"cube"``, and the table, the world's plane.

    Args:
        window: gives the time between two frames, the size and the mass of the cube.
        values: ``friction``, ``restitution``, ``stiffness`` [N/m] of the contact,
            ``table_height`` [m], ``inertia_scale``, and optionally ``mass_center_x``, ``_y``,
            ``_z`` [m].
        steps_per_frame: time steps between two frames.

    Raises:
        ModelError: a value is out of range.
    """
    builder = ModelBuilder(Options(timestep=window.dt / steps_per_frame))
    friction, restitution = values["friction"], values["restitution"]
    builder.world.add_geom(
        Plane(),
        position=(0.0, 0.0, values["table_height"]),
        friction=friction,
        restitution=restitution,
    )
    inertia = window.mass * (2.0 * window.half_width) ** 2 / 6.0 * values["inertia_scale"]
    cube = builder.add_body(
        "cube", mass=window.mass, inertia=(inertia,) * 3, center_of_mass=mass_center(values)
    )
    cube.add_geom(
        Box((window.half_width,) * 3),
        friction=friction,
        restitution=restitution,
        stiffness=values["stiffness"],
    )
    return builder.build()
