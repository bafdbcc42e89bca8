"""Which frames are predicted, and from which start states; the same for every engine."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from .data import TossSet

__all__ = ["PREDICTED_FRAMES", "START_FRAME", "Window", "window"]

#: Predictions start here (0-based): the first two frames of a tracked toss are smoothed.
START_FRAME = 2

#: Frames that are predicted after the start, or up to the end of a shorter toss.
PREDICTED_FRAMES = 60


@dataclass(frozen=True, slots=True, eq=False)
class Window:
    """Start states of tosses, and what was then observed.

    Frame k = 0 is the start itself.  Entries after the end of a shorter toss are NaN.

    Attributes:
        position: (t, frames + 1, 3) observed centre of the cube [m], world frame.
        quaternion: (t, frames + 1, 4) observed orientation wxyz, body to world.
        linear_velocity: (t, 3) of the centre at the start [m/s], world frame, as recorded.
        angular_velocity: (t, 3) at the start [rad/s], body frame.
        frames: (t,) frames to predict, at least one each.
        dt: time between two frames [s].
        half_width: half the edge of the cube [m].
        mass: mass of the cube [kg].
    """

    position: Float[np.ndarray, "t k 3"]
    quaternion: Float[np.ndarray, "t k 4"]
    linear_velocity: Float[np.ndarray, "t 3"]
    angular_velocity: Float[np.ndarray, "t 3"]
    frames: Int[np.ndarray, " t"]
    dt: float
    half_width: float
    mass: float

    def __len__(self) -> int:
        return len(self.frames)

    @property
    def is_predicted(self) -> np.ndarray:
        """Return (t, frames) bool: whether frame k + 1 exists in toss t."""
        return np.arange(self.position.shape[1] - 1) < self.frames[:, None]


def window(tosses: TossSet, *, start: int = START_FRAME, frames: int = PREDICTED_FRAMES) -> Window:
    """Return the start states at frame ``start`` and the ``frames`` frames after it."""
    count = len(tosses)
    lengths = np.array([min(frames, len(toss) - 1 - start) for toss in tosses.tosses])
    position = np.full((count, lengths.max() + 1, 3), np.nan)
    quaternion = np.full((count, lengths.max() + 1, 4), np.nan)
    for i, toss in enumerate(tosses.tosses):
        seen = slice(start, start + lengths[i] + 1)
        position[i, : lengths[i] + 1] = toss.position[seen]
        quaternion[i, : lengths[i] + 1] = toss.quaternion[seen]
    return Window(
        position=position,
        quaternion=quaternion,
        linear_velocity=np.array([toss.linear_velocity[start] for toss in tosses.tosses]),
        angular_velocity=np.array([toss.angular_velocity[start] for toss in tosses.tosses]),
        frames=lengths,
        dt=tosses.dt,
        half_width=tosses.half_width,
        mass=tosses.mass,
    )
