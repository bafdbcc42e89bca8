"""Which frames are predicted, and from which start states; the same for every engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from contactworks.common.errors import ModelError

from .data import TossSet

__all__ = ["PREDICTED_FRAMES", "START_FRAME", "Window", "window"]

#: Predictions start here (0-based): the first two frames of a tracked toss are smoothed.
START_FRAME = 2

#: Frames that are predicted after the start, or up to the end of a shorter toss.
PREDICTED_FRAMES = 60


@dataclass(frozen=True, slots=True, eq=False)
class Window:
    """Start states in tosses, and what was then observed; t is the number of starts.

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
        """Return (t, frames) bool: whether frame k + 1 after each start exists."""
        return np.arange(self.position.shape[1] - 1) < self.frames[:, None]


def window(
    tosses: TossSet,
    *,
    starts: Sequence[int] = (START_FRAME,),
    frames: int = PREDICTED_FRAMES,
) -> Window:
    """Return the start states at frames ``starts`` of each toss and the ``frames`` frames after.

    Entries are ordered by start, then by toss.  A start in the last frame of a toss or after it
    has nothing to predict and is left out.

    Args:
        tosses: the tosses.
        starts: frames to start from, 0-based.
        frames: frames to predict from each start, or up to the end of a shorter toss.

    Raises:
        ModelError: no toss is long enough for any of the starts.
    """
    pieces = [(toss, s) for s in starts for toss in tosses.tosses if len(toss) > s + 1]
    if not pieces:
        raise ModelError(f"window: no toss has a frame after the starts {list(starts)}")
    lengths = np.array([min(frames, len(toss) - 1 - start) for toss, start in pieces])
    position = np.full((len(pieces), lengths.max() + 1, 3), np.nan)
    quaternion = np.full((len(pieces), lengths.max() + 1, 4), np.nan)
    for i, (toss, start) in enumerate(pieces):
        seen = slice(start, start + lengths[i] + 1)
        position[i, : lengths[i] + 1] = toss.position[seen]
        quaternion[i, : lengths[i] + 1] = toss.quaternion[seen]
    return Window(
        position=position,
        quaternion=quaternion,
        linear_velocity=np.array([toss.linear_velocity[start] for toss, start in pieces]),
        angular_velocity=np.array([toss.angular_velocity[start] for toss, start in pieces]),
        frames=lengths,
        dt=tosses.dt,
        half_width=tosses.half_width,
        mass=tosses.mass,
    )
