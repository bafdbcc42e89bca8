"""Tosses made by simulation, with hidden parameters and sensor noise, for where no data are given.

They are simulated by crisp itself, at a time step ten times finer than a prediction's.  So they
show whether the job recovers what was hidden; they are no fair comparison with another engine.
"""

from __future__ import annotations

import numpy as np

from contactworks.common.errors import ModelError
from contactworks.common.rotations import (
    quaternion_conjugate,
    quaternion_exp,
    quaternion_log,
    quaternion_multiply,
    random_quaternion,
)

from .crisp_predictor import CrispPredictor
from .data import DEFAULT_HALF_WIDTH, DEFAULT_MASS, Toss, TossSet
from .metric import Prediction
from .window import PREDICTED_FRAMES, START_FRAME, Window

__all__ = ["hidden_parameters", "synthetic_tosses"]

_DT = 1.0 / 148.0
_STEPS_PER_FRAME = 70
_FRAMES = START_FRAME + PREDICTED_FRAMES + 3

# Noise of one pose. Differences over one frame then scatter by 0.01 m/s and 0.1 rad/s, as the
# velocities of the recorded tosses do in free flight.
_POSITION_NOISE = 5e-5  # m
_ROTATION_NOISE = 5e-4  # rad


def synthetic_tosses(
    count: int = 110, *, seed: int = 0, frames: int = _FRAMES
) -> tuple[TossSet, dict[str, float]]:
    """Return made tosses and the parameters that were hidden in them.

    Heights, speeds and spins are drawn from the ranges of the recorded ContactNets tosses.
    Velocities are backward differences of the noisy poses, as a tracker gives them.

    Args:
        count: number of tosses.
        seed: of the parameters, the starts and the noise; the same seed gives the same tosses.
        frames: frames of each toss, at 148 per second.

    Raises:
        ModelError: no toss, or fewer than four frames.
    """
    if count < 1 or frames < START_FRAME + 2:
        raise ModelError(
            f"synthetic tosses: got {count} of {frames} frames, expected at least 1 of "
            f"{START_FRAME + 2}"
        )
    rng = np.random.default_rng(seed)
    hidden = hidden_parameters(rng)
    starts = _starts(count, frames, rng)
    true = CrispPredictor(True, _STEPS_PER_FRAME).predict(starts, hidden)
    return _observe(true, rng), hidden


def hidden_parameters(rng: np.random.Generator) -> dict[str, float]:
    """Return random values of all parameters of :class:`CrispPredictor`, well inside its bounds."""
    values = {
        "friction": rng.uniform(0.10, 0.30),
        "restitution": rng.uniform(0.10, 0.50),
        "stiffness": float(np.exp(rng.uniform(np.log(3e4), np.log(3e5)))),
        "table_height": rng.uniform(-0.002, 0.002),
        "inertia_scale": rng.uniform(1.2, 2.0),
    }
    center = rng.uniform(-0.006, 0.006, 3)
    return values | {f"mass_center_{axis}": float(center[i]) for i, axis in enumerate("xyz")}


def _starts(count: int, frames: int, rng: np.random.Generator) -> Window:
    """Return random start states; one more frame, for the first backward difference."""
    position = np.full((count, frames + 1, 3), np.nan)
    quaternion = np.full((count, frames + 1, 4), np.nan)
    position[:, 0, :2] = rng.uniform(-0.2, 0.2, (count, 2))
    position[:, 0, 2] = rng.uniform(0.13, 0.18, count)  # the lowest corner is 4 cm up, or more
    quaternion[:, 0] = random_quaternion((count,), rng=rng)
    heading = rng.uniform(0.0, 2.0 * np.pi, count)
    speed = rng.uniform(1.0, 1.3, count)
    fall = rng.uniform(-0.3, 0.1, count)
    axis = rng.standard_normal((count, 3))
    axis /= np.linalg.norm(axis, axis=1, keepdims=True)
    return Window(
        position=position,
        quaternion=quaternion,
        linear_velocity=np.stack([speed * np.cos(heading), speed * np.sin(heading), fall], axis=1),
        angular_velocity=rng.uniform(1.6, 6.3, (count, 1)) * axis,
        frames=np.full(count, frames),
        dt=_DT,
        half_width=DEFAULT_HALF_WIDTH,
        mass=DEFAULT_MASS,
    )


def _observe(true: Prediction, rng: np.random.Generator) -> TossSet:
    """Return what a noisy tracker records of a motion."""
    position = true.position + _POSITION_NOISE * rng.standard_normal(true.position.shape)
    turn = quaternion_exp(_ROTATION_NOISE * rng.standard_normal(true.position.shape))
    quaternion = quaternion_multiply(true.quaternion, turn)
    velocity = np.diff(position, axis=1) / _DT
    change = quaternion_multiply(quaternion_conjugate(quaternion[:, :-1]), quaternion[:, 1:])
    spin = quaternion_log(change) / _DT
    tosses = tuple(
        Toss(str(i), position[i, 1:], quaternion[i, 1:], velocity[i], spin[i])
        for i in range(len(position))
    )
    return TossSet(tosses, _DT, DEFAULT_HALF_WIDTH, DEFAULT_MASS, "made tosses")
