"""Motion-tracked tosses of a cube: what is held in memory, and what every reader checks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from contactworks.common.errors import FileFormatError, ModelError, ShapeError

__all__ = [
    "COLUMNS",
    "DEFAULT_HALF_WIDTH",
    "DEFAULT_MASS",
    "MINIMUM_FRAMES",
    "Toss",
    "TossSet",
    "check_rows",
    "check_times",
]

#: Names of the state columns of a row, in the order that files and messages use.
COLUMNS = ("x", "y", "z", "qw", "qx", "qy", "qz", "vx", "vy", "vz", "wx", "wy", "wz")

#: Half the edge [m] and the mass [kg] of the cube of the ContactNets data.
DEFAULT_HALF_WIDTH = 0.0524
DEFAULT_MASS = 0.37

#: A prediction starts at frame 2, so a shorter toss leaves nothing to predict.
MINIMUM_FRAMES = 4

_UNIT_TOLERANCE = 1e-3  # files hold rounded quaternions
_STEP_TOLERANCE = 0.01  # share of the time step


@dataclass(frozen=True, slots=True, eq=False)
class Toss:
    """One toss.

    Attributes:
        id: its name in the source.
        position: (n, 3) centre of the cube [m], world frame, z up.
        quaternion: (n, 4) orientation wxyz, unit, body to world.
        linear_velocity: (n, 3) of the centre [m/s], world frame.
        angular_velocity: (n, 3) [rad/s], body frame.
    """

    id: str
    position: Float[np.ndarray, "n 3"]
    quaternion: Float[np.ndarray, "n 4"]
    linear_velocity: Float[np.ndarray, "n 3"]
    angular_velocity: Float[np.ndarray, "n 3"]

    def __len__(self) -> int:
        return len(self.position)


@dataclass(frozen=True, slots=True, eq=False)
class TossSet:
    """Tosses of one cube, tracked at one rate.

    Attributes:
        tosses: the tosses.
        dt: time between two frames [s].
        half_width: half the edge of the cube [m].
        mass: mass of the cube [kg].
        source: where they come from, for reports.

    Raises:
        ModelError: no tosses, or a scalar that is not positive and finite.
        ShapeError: the arrays of a toss do not fit together.
    """

    tosses: tuple[Toss, ...]
    dt: float
    half_width: float
    mass: float
    source: str

    def __post_init__(self) -> None:
        for name in ("dt", "half_width", "mass"):
            value = getattr(self, name)
            if not (np.isfinite(value) and value > 0.0):
                raise ModelError(f"TossSet.{name}: got {value!r}, expected a positive number")
        if not self.tosses:
            raise ModelError("TossSet.tosses: got none, expected at least one")
        widths = {"position": 3, "quaternion": 4, "linear_velocity": 3, "angular_velocity": 3}
        for toss in self.tosses:
            for name, width in widths.items():
                shape = getattr(toss, name).shape
                if shape != (len(toss), width):
                    raise ShapeError(
                        f"toss {toss.id}, {name}: got shape {shape}, expected {(len(toss), width)}"
                    )

    def __len__(self) -> int:
        return len(self.tosses)

    def take(self, indices: Sequence[int] | Int[np.ndarray, " k"]) -> TossSet:
        """Return the tosses at ``indices``, in that order."""
        chosen = tuple(self.tosses[int(i)] for i in indices)
        return TossSet(chosen, self.dt, self.half_width, self.mass, self.source)

    @classmethod
    def from_rows(
        cls,
        rows: Float[np.ndarray, "n 13"],
        start: Int[np.ndarray, " tosses_and_one"],
        ids: Sequence[str],
        *,
        dt: float,
        half_width: float,
        mass: float,
        source: str,
    ) -> TossSet:
        """Return the set of checked rows; quaternions are made exactly unit.

        Args:
            rows: states in the order of :data:`COLUMNS`, SI units.
            start: rows ``start[i]`` up to ``start[i + 1]`` are toss i.
            ids: a name for each toss.
            dt: time between two frames [s].
            half_width: half the edge of the cube [m].
            mass: mass of the cube [kg].
            source: where they come from.
        """
        rows = np.asarray(rows, dtype=float)
        quaternion = rows[:, 3:7] / np.linalg.norm(rows[:, 3:7], axis=1, keepdims=True)
        tosses = []
        for name, a, b in zip(ids, start[:-1], start[1:], strict=True):
            parts = (rows[a:b, :3], quaternion[a:b], rows[a:b, 7:10], rows[a:b, 10:13])
            tosses.append(Toss(str(name), *(np.ascontiguousarray(part) for part in parts)))
        return cls(tuple(tosses), float(dt), float(half_width), float(mass), source)


def check_rows(rows: Float[np.ndarray, "n 13"], where: Callable[[int], str]) -> None:
    """Refuse states that no cube can have.

    Args:
        rows: states in the order of :data:`COLUMNS`.
        where: names the file and place of a row, for the message.

    Raises:
        FileFormatError: NaN or infinity, or a quaternion that is not of unit length.
    """
    bad = np.argwhere(~np.isfinite(rows))
    if len(bad):
        row, column = (int(i) for i in bad[0])
        raise FileFormatError(
            f"{where(row)}, {COLUMNS[column]}: got {rows[row, column]}, expected a finite number"
        )
    length = np.linalg.norm(rows[:, 3:7], axis=1)
    bad = np.argwhere(np.abs(length - 1.0) > _UNIT_TOLERANCE)
    if len(bad):
        row = int(bad[0, 0])
        raise FileFormatError(
            f"{where(row)}, qw qx qy qz: got a quaternion of length {length[row]:.6g}, expected 1"
        )


def check_times(
    time: Float[np.ndarray, " n"], where: Callable[[int], str], dt: float | None = None
) -> float:
    """Return the time step of one toss after a check that it is even.

    Args:
        time: times of the frames [s].
        where: names the file and place of a frame, for the message.
        dt: the step that the other tosses have, or None for the first one.

    Raises:
        FileFormatError: fewer than :data:`MINIMUM_FRAMES` frames, time that does not increase, or
            a step that is off by more than 1 %.
    """
    if len(time) < MINIMUM_FRAMES:
        raise FileFormatError(
            f"{where(0)}: got a toss of {len(time)} frame(s), expected at least {MINIMUM_FRAMES}"
        )
    steps = np.diff(time)
    bad = np.flatnonzero(~(steps > 0.0))
    if len(bad):
        row = int(bad[0]) + 1
        raise FileFormatError(
            f"{where(row)}, time: got {time[row]:.9g} after {time[row - 1]:.9g}, expected "
            "increasing times"
        )
    expected = float(np.median(steps)) if dt is None else dt
    bad = np.flatnonzero(np.abs(steps - expected) > _STEP_TOLERANCE * expected)
    if len(bad):
        row = int(bad[0]) + 1
        raise FileFormatError(
            f"{where(row)}, time: got a step of {steps[row - 1]:.9g} s, expected {expected:.9g} s "
            "throughout"
        )
    return expected
