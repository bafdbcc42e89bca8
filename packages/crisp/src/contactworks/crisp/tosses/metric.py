"""Errors of a prediction, as the job defines them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from contactworks.common.metrics import (
    Interval,
    PairedComparison,
    bootstrap_interval,
    paired_bootstrap,
    rotation_error,
)

from .window import Window

__all__ = ["ErrorSummary", "Errors", "Prediction", "compare", "measure"]

_CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True, eq=False)
class Prediction:
    """Predicted motion of tosses; entries after the end of a toss are NaN.

    Attributes:
        position: (t, frames + 1, 3) centre of the cube [m], world frame; frame 0 is the start.
        quaternion: (t, frames + 1, 4) orientation wxyz, body to world.
        unconverged_steps: time steps in which the engine's solver missed its tolerance.
    """

    position: Float[np.ndarray, "t k 3"]
    quaternion: Float[np.ndarray, "t k 4"]
    unconverged_steps: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Errors:
    """Errors of each toss and frame; NaN after the end of a toss.

    Attributes:
        position_percent: (t, frames) distance of the centres, in % of the width of the cube.
        rotation_deg: (t, frames) geodesic angle [degrees].
    """

    position_percent: Float[np.ndarray, "t k"]
    rotation_deg: Float[np.ndarray, "t k"]

    @property
    def mean_position_percent(self) -> float:
        """Return the mean over tosses and frames [%]."""
        return float(np.nanmean(self.position_percent))

    @property
    def mean_rotation_deg(self) -> float:
        """Return the mean over tosses and frames [degrees]."""
        return float(np.nanmean(self.rotation_deg))

    def summary(self, *, rng: int = 0) -> ErrorSummary:
        """Return the means with bootstrap intervals over tosses."""
        ends = [
            bootstrap_interval(_groups(values), confidence=_CONFIDENCE, rng=rng)
            for values in (self.position_percent, self.rotation_deg)
        ]
        return ErrorSummary(*ends)


@dataclass(frozen=True, slots=True)
class ErrorSummary:
    """Mean errors with their 95 % bootstrap intervals.

    Attributes:
        position_percent: in % of the width of the cube.
        rotation_deg: in degrees.
    """

    position_percent: Interval
    rotation_deg: Interval


def measure(window: Window, prediction: Prediction) -> Errors:
    """Return the errors of the frames after the start.

    Position: ``|p - p_observed| / (2 half_width)`` in %.  Rotation: the geodesic angle between the
    orientations, in degrees.  Their means weigh every predicted frame of every toss alike.
    """
    distance = np.linalg.norm(prediction.position[:, 1:] - window.position[:, 1:], axis=-1)
    angle = np.full(distance.shape, np.nan)
    here = window.is_predicted
    predicted, observed = prediction.quaternion[:, 1:][here], window.quaternion[:, 1:][here]
    angle[here] = np.degrees(rotation_error(predicted, observed))
    distance[~here] = np.nan
    return Errors(100.0 * distance / (2.0 * window.half_width), angle)


def compare(ours: Errors, theirs: Errors, *, rng: int = 0) -> dict[str, PairedComparison]:
    """Return, per error, how sure it is that ours is smaller: a bootstrap over the same tosses."""
    pairs = {
        "position_percent": (ours.position_percent, theirs.position_percent),
        "rotation_deg": (ours.rotation_deg, theirs.rotation_deg),
    }
    return {
        name: paired_bootstrap(_groups(a), _groups(b), confidence=_CONFIDENCE, rng=rng)
        for name, (a, b) in pairs.items()
    }


def _groups(values: np.ndarray) -> list[np.ndarray]:
    """Return one array per toss, without what lies after its end."""
    return [row[~np.isnan(row)] for row in values]
