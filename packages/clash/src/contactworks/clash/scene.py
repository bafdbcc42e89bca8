"""The strike: a block slides into an object that rests on a table.

The world frame stands on the table, z upwards.  The object's axes are those of the world before the
strike.  The block is a slim upright cylinder, free to move in the plane; it stands for the tool in
the hand of a robot, whose inertia is its mass.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from jaxtyping import Float

from contactworks.clash._touch import travel_to_touch
from contactworks.clash.shapes import StrikeShape, strike_shape
from contactworks.common.arrays import as_finite_array, positive_scalar
from contactworks.common.calibration import Parameter, ParameterSpace
from contactworks.common.errors import ModelError, ShapeError
from contactworks.common.inertia import MassProperties
from contactworks.common.records import to_jsonable

__all__ = [
    "PARAMETER_COLUMNS",
    "POST_COLUMNS",
    "PRE_COLUMNS",
    "ImpactBlock",
    "StrikeOptions",
    "StrikeScene",
]

PRE_COLUMNS: dict[str, str] = {
    "speed": "m/s",
    "theta": "rad",
    "theta1": "rad",
    "object_x": "m",
    "object_y": "m",
}
"""Columns and units of the state before a strike."""

PARAMETER_COLUMNS: dict[str, str] = {
    "mu_block": "1",
    "mu_ground": "1",
    "e_block": "1",
    "e_ground": "1",
}
"""Columns and units of the contact parameters."""

POST_COLUMNS: dict[str, str] = {
    "vx": "m/s",
    "vy": "m/s",
    "wz": "rad/s",
    "dx": "m",
    "dy": "m",
    "dyaw": "rad",
    "elapsed": "s",
}
"""Columns and units of the state after a strike."""

# The block starts this far from the object [m]: more than MuJoCo's tolerance of distance (1e-6), so
# that every strike begins with the same phase of the time steps, and less than it moves in a step.
_START_GAP = 2e-6
# The block does not rub on the table [m].
_CLEARANCE = 1e-3


@dataclass(frozen=True, slots=True)
class ImpactBlock:
    """What strikes: an upright cylinder that moves freely in the plane.

    Attributes:
        mass: mass [kg], above 0.
        radius: radius [m], above 0.
        height: height [m], above 0; its lower end is 1 mm above the table.

    Raises:
        ModelError: a field that is not a finite number above 0.
    """

    mass: float = 2.0
    radius: float = 0.01
    height: float = 0.04

    def __post_init__(self) -> None:
        _refuse_unless_positive(self, "mass", "radius", "height")


@dataclass(frozen=True, slots=True)
class StrikeOptions:
    """How a strike is simulated.

    Attributes:
        timestep: length of a step [s], above 0; at most half the time constant.
        time_constant: time constant of both contacts [s], MuJoCo's ``solref[0]``.
        impedance: impedance of both contacts, in (0, 1).  It is constant over the depth, so that an
            impact without other loads scales with its speed.
        duration: longest time that a strike is followed [s].
        clear_states: states in a row without contact that count as separation, at least 1; the last
            of them is the state after the strike.
        placement: the object lies at random within this distance of the origin, along x and along y
            [m], 0 or more.
        gravity: acceleration of gravity [m/s²], 0 or more.

    Raises:
        ModelError: a field is not as said above.
    """

    timestep: float = 5e-4
    time_constant: float = 4e-3
    impedance: float = 0.95
    duration: float = 0.06
    clear_states: int = 2
    placement: float = 0.1
    gravity: float = 9.81

    def __post_init__(self) -> None:
        _refuse_unless_positive(self, "timestep", "time_constant", "impedance", "duration")
        if not self.impedance < 1.0:
            raise ModelError(f"impedance: got {self.impedance}, expected a number in (0, 1)")
        if not 2.0 * self.timestep <= self.time_constant:
            raise ModelError(
                f"timestep: got {self.timestep} s, expected at most half the time constant of "
                f"{self.time_constant} s; MuJoCo would lengthen it"
            )
        if self.clear_states < 1:
            raise ModelError(f"clear_states: got {self.clear_states}, expected at least 1")
        for name in ("placement", "gravity"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= 0.0):
                raise ModelError(f"{name}: got {value}, expected a finite number >= 0")

    @property
    def steps(self) -> int:
        """Number of steps that a strike is followed."""
        return max(1, round(self.duration / self.timestep))


class StrikeScene:
    """An object at rest on a table and the block that strikes it.

    Args:
        shape: name of the object's shape; at this version ``"semicylinder"``.
        density: density of the object [kg/m³].
        mass_properties: mass and inertia of the object in place of those of its density; the centre
            of mass must be the origin.
        block: what strikes.
        options: how it is simulated.

    Raises:
        ModelError: an unknown shape, a density that is not positive, or a centre of mass elsewhere.

    Source: CLASH paper, section III-B and Table II.  The paper does not state the inertia of the
        struck scene, the time constant or the time step; ours are those of ``ImpactBlock`` and
        ``StrikeOptions``.

    Example:
        >>> scene = StrikeScene("semicylinder")
        >>> round(scene.mass_properties.mass, 4)
        0.1806
    """

    def __init__(
        self,
        shape: str = "semicylinder",
        *,
        density: float = 1150.0,
        mass_properties: MassProperties | None = None,
        block: ImpactBlock | None = None,
        options: StrikeOptions | None = None,
    ) -> None:
        self.shape: StrikeShape = strike_shape(shape)
        self.block = block or ImpactBlock()
        self.options = options or StrikeOptions()
        if mass_properties is None:
            mass_properties = self.shape.mass_properties(density)
        self.mass_properties = mass_properties
        offset = np.abs(mass_properties.center_of_mass).max()
        if offset > 1e-9 * self.shape.radius:
            raise ModelError(
                f"mass_properties: got a centre of mass {mass_properties.center_of_mass}, expected "
                "the origin of the object's frame"
            )

    @property
    def length_scale(self) -> float:
        """Length [m] by which angular velocities are scaled; the radius of the half disc."""
        return self.shape.length_scale

    @property
    def parameter_space(self) -> ParameterSpace:
        """The contact parameters P and their ranges.

        ``mu_block`` and ``mu_ground`` are the frictions of the object with the block and with the
        ground, ``e_block`` and ``e_ground`` MuJoCo's damping ratios (``solref[1]``) of the same.

        Source: CLASH paper, Table II.
        """
        return ParameterSpace(
            [
                Parameter("mu_block", "1", 0.05, 1.0),
                Parameter("mu_ground", "1", 0.02, 1.0),
                Parameter("e_block", "1", 0.1, 3.0),
                Parameter("e_ground", "1", 0.1, 3.0),
            ]
        )

    @property
    def state_space(self) -> ParameterSpace:
        """Speed, impact angle and deflection before a strike, and their ranges.

        Source: CLASH paper, Table II.
        """
        low, high = self.shape.impact_range
        return ParameterSpace(
            [
                Parameter("speed", "m/s", 0.2, 0.8),
                Parameter("theta", "rad", low, high),
                Parameter("theta1", "rad", -math.pi / 12.0, math.pi / 12.0),
            ]
        )

    def sample(
        self, count: int, *, rng: np.random.Generator | int | None = None
    ) -> tuple[Float[np.ndarray, "n 5"], Float[np.ndarray, "n 4"]]:
        """Return random states before a strike (n, 5) and parameters (n, 4).

        Both are uniform in their ranges.  The first rows of a longer sample of the same seed are
        those of a shorter one.

        Raises:
            ModelError: a negative count.
        """
        if count < 0:
            raise ModelError(f"count: got {count}, expected a number >= 0")
        unit = np.random.default_rng(rng).random((count, 9))
        place = self.options.placement * (2.0 * unit[:, 3:5] - 1.0)
        states = self.state_space.denormalize(unit[:, :3])
        return np.hstack([states, place]), self.parameter_space.denormalize(unit[:, 5:])

    def initial_states(
        self, pre: Float[npt.ArrayLike, "n 5"]
    ) -> tuple[Float[np.ndarray, "n 9"], Float[np.ndarray, "n 8"]]:
        """Return MuJoCo's qpos (n, 9) and qvel (n, 8) just before the block touches the object.

        Args:
            pre: speed of the block [m/s]; impact angle theta about the shape's pivot [rad]; angle
                theta1 by which the velocity is turned from the inward normal [rad],
                counter-clockwise; x and y of the object's centre of mass [m].

        Raises:
            ShapeError: another shape.
            ModelError: NaN or infinity, or a speed that is not positive.
        """
        state = as_finite_array(pre, "pre", (5,))
        if state.ndim != 2:
            raise ShapeError(f"pre: got shape {state.shape}, expected (n, 5)")
        speed, theta, theta1 = state[:, 0], state[:, 1], state[:, 2]
        if (speed <= 0.0).any():
            row = int(np.flatnonzero(speed <= 0.0)[0])
            raise ModelError(f"pre[{row}], speed: got {speed[row]} m/s, expected a number above 0")
        point, normal = self.shape.impact_points(theta)
        heading = theta + math.pi + theta1
        direction = np.column_stack([np.cos(heading), np.sin(heading)])
        start = point + (self.block.radius + _START_GAP) * normal
        travel = travel_to_touch(
            self.shape.outline(), self.block.radius + _START_GAP, start, direction
        )
        # A block that passes by is not brought any nearer.
        travel[~np.isfinite(travel)] = 0.0
        qpos, qvel = np.zeros((len(state), 9)), np.zeros((len(state), 8))
        qpos[:, 0:2] = state[:, 3:5]
        qpos[:, 2] = 0.5 * self.shape.height
        qpos[:, 3] = 1.0
        qpos[:, 7:9] = state[:, 3:5] + start + travel[:, None] * direction
        qvel[:, 6:8] = speed[:, None] * direction
        return qpos, qvel

    def mjcf(self) -> str:
        """Return the scene as MJCF.

        Bodies ``object`` (free) and ``block`` (on two slides); contact pairs ``block-object`` and
        ``object-ground``; the sensor ``touch`` tells whether block and object touch.
        """
        options, block, mass = self.options, self.block, self.mass_properties
        half = 0.5 * self.shape.height
        corners = self.shape.outline()
        vertices = " ".join(
            f"{x!r} {y!r} {z!r}" for x, y in corners.tolist() for z in (-half, half)
        )
        i = mass.inertia.tolist()
        inertia = (i[0][0], i[1][1], i[2][2], i[0][1], i[0][2], i[1][2])
        contact = (
            f'condim="3" solref="{options.time_constant!r} 1" '
            f'solimp="{options.impedance!r} {options.impedance!r} 0.001"'
        )
        return f"""
<mujoco model="strike">
  <option timestep="{options.timestep!r}" gravity="0 0 {-options.gravity!r}" cone="elliptic"
          jacobian="dense"/>
  <default><geom contype="0" conaffinity="0"/></default>
  <asset><mesh name="object" vertex="{vertices}"/></asset>
  <worldbody>
    <geom name="ground" type="plane" size="2 2 0.1"/>
    <body name="object" pos="0 0 {half!r}">
      <freejoint/>
      <inertial pos="0 0 0" mass="{mass.mass!r}" fullinertia="{" ".join(map(repr, inertia))}"/>
      <geom name="object" type="mesh" mesh="object"/>
    </body>
    <body name="block" pos="0 0 {_CLEARANCE + 0.5 * block.height!r}">
      <joint name="block_x" type="slide" axis="1 0 0"/>
      <joint name="block_y" type="slide" axis="0 1 0"/>
      <geom name="block" type="cylinder" size="{block.radius!r} {0.5 * block.height!r}"
            mass="{block.mass!r}"/>
    </body>
  </worldbody>
  <contact>
    <pair name="block-object" geom1="block" geom2="object" {contact}/>
    <pair name="object-ground" geom1="object" geom2="ground" {contact}/>
  </contact>
  <sensor><contact name="touch" geom1="block" geom2="object" data="found" num="1"/></sensor>
</mujoco>"""

    def model(self) -> Any:
        """Return the compiled ``mujoco.MjModel``."""
        import mujoco

        return mujoco.MjModel.from_xml_string(self.mjcf())

    def description(self) -> dict[str, Any]:
        """Return all that decides the outcome of a strike, as plain values for a file's header."""
        mass = self.mass_properties
        plain: dict[str, Any] = to_jsonable(
            {
                "shape": self.shape.name,
                "height": self.shape.height,
                "radius": self.shape.radius,
                "length_scale": self.length_scale,
                "object": {"mass": mass.mass, "inertia": mass.inertia},
                "block": self.block,
                "options": self.options,
            },
            "scene",
        )
        return plain


def _refuse_unless_positive(item: Any, *names: str) -> None:
    for name in names:
        positive_scalar(getattr(item, name), name)
