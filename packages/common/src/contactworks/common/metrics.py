"""Errors of predictions, and how sure they are: relative error, accuracy, rotation, bootstrap.

NaN and infinity in the data are refused everywhere: a prediction that failed must be named by its
author, not averaged away.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from jaxtyping import Float

from contactworks.common.arrays import (
    QuaternionLike,
    as_finite_array,
    finite_scalar,
    positive_scalar,
    refuse_where,
)
from contactworks.common.errors import ModelError, ShapeError
from contactworks.common.rotations import angle_between

__all__ = [
    "Interval",
    "PairedComparison",
    "accuracy",
    "bootstrap_interval",
    "paired_bootstrap",
    "relative_error",
    "rotation_error",
]

Groups: TypeAlias = npt.ArrayLike | Sequence[npt.ArrayLike]
Statistic: TypeAlias = Callable[[np.ndarray], Any]

# Quaternions from files are rounded; beyond this they are more likely not quaternions at all.
_UNIT_TOLERANCE = 1e-3


def relative_error(
    predicted: Float[npt.ArrayLike, "*batch d"],
    observed: Float[npt.ArrayLike, "*batch d"],
    scale: Float[npt.ArrayLike, "*any"] | None = None,
) -> Float[np.ndarray, "*batch"]:
    """Return |s (predicted - observed)| / |s observed| of each sample.

    Where the observed norm is zero, the error is 0 if the prediction is equal and infinite if not.

    Args:
        predicted: predicted vectors (..., d).
        observed: observed vectors (..., d), same shape.
        scale: s, factors that bring the components to one unit; (d,) or (..., d), positive. None
            means 1: then all components must have the same unit.

    Raises:
        ShapeError: the shapes differ.
        ModelError: NaN or infinity, or a scale that is not positive.

    Example:
        >>> relative_error([[1.1, 0.0]], [[1.0, 0.0]]).round(12)
        array([0.1])
    """
    seen = as_finite_array(observed, "observed", ())
    guess = as_finite_array(predicted, "predicted", seen.shape[-1:])
    if seen.ndim == 0 or guess.shape != seen.shape:
        raise ShapeError(f"predicted: got shape {guess.shape}, expected {seen.shape} as observed")
    factors = np.ones(seen.shape[-1:])
    if scale is not None:
        factors = as_finite_array(scale, "scale", seen.shape[-1:])
        refuse_where(factors <= 0.0, "scale", "is not positive, expected positive factors")
    difference = np.linalg.norm(factors * (guess - seen), axis=-1)
    size = np.linalg.norm(factors * seen, axis=-1)
    at_rest = np.where(difference == 0.0, 0.0, np.inf)
    return np.where(size > 0.0, difference / np.where(size > 0.0, size, 1.0), at_rest)


def accuracy(
    predicted: Float[npt.ArrayLike, "n 3"],
    observed: Float[npt.ArrayLike, "n 3"],
    alpha: float,
    *,
    length_scale: Float[npt.ArrayLike, "*samples"],
) -> float:
    """Return the share of planar post-impact states that are predicted within ``alpha``.

    A state is (vx, vy [m/s], wz [rad/s]).  Linear and angular velocity have no common unit, so the
    spin is multiplied by a length L: a sample counts where
    ``|D(vx, vy, L wz)| / |(vx, vy, L wz)| < alpha``, D the difference of predicted and observed.
    The figure depends on L, so it has no default here; usual choices are the radius of a round
    body, or sqrt(2) times the radius of gyration.  A body that stays at rest counts only where
    exactly that was predicted.

    Args:
        predicted: predicted states (n, 3).
        observed: observed states (n, 3).
        alpha: bound of the relative error, positive.
        length_scale: L [m], positive; one number, or (n,) where the samples are of several bodies.

    Raises:
        ShapeError: the shapes differ or are not (n, 3).
        ModelError: no samples, NaN or infinity, or ``alpha`` or ``length_scale`` not positive.

    Source: CLASH, section IV-A, Accuracy(alpha); the paper does not state how it scales the spin.

    Example:
        >>> accuracy([[1.05, 0.0, 0.0]], [[1.0, 0.0, 0.0]], 0.1, length_scale=0.05)
        1.0
    """
    seen = as_finite_array(observed, "observed", (3,))
    length = as_finite_array(length_scale, "length_scale", ())
    if seen.ndim != 2:
        raise ShapeError(f"observed: got shape {seen.shape}, expected (n, 3)")
    if length.shape not in ((), seen.shape[:1]):
        raise ShapeError(f"length_scale: got shape {length.shape}, expected () or {seen.shape[:1]}")
    if seen.shape[0] == 0:
        raise ModelError("observed: got no samples, expected at least one")
    alpha = positive_scalar(alpha, "alpha")
    scale = np.ones(seen.shape)
    scale[:, 2] = length
    return float(np.mean(relative_error(predicted, seen, scale) < alpha))


def rotation_error(predicted: QuaternionLike, observed: QuaternionLike) -> Any:
    """Return the geodesic angles [rad], in [0, pi], between two sets of orientations.

    Args:
        predicted: unit quaternions wxyz (..., 4).
        observed: unit quaternions wxyz (..., 4); leading dimensions broadcast.

    Raises:
        ShapeError: the last dimension is not 4.
        ModelError: NaN or infinity, or a length that is off one by more than 0.001.

    Example:
        >>> float(rotation_error([1, 0, 0, 0], [0, 0, 0, 1]))
        3.141592653589793
    """
    guess = as_finite_array(predicted, "predicted", (4,))
    seen = as_finite_array(observed, "observed", (4,))
    for name, value in (("predicted", guess), ("observed", seen)):
        off = np.abs(np.linalg.norm(value, axis=-1) - 1.0) > _UNIT_TOLERANCE
        refuse_where(off, name, "is not of unit length, expected a unit quaternion (w, x, y, z)")
    return angle_between(guess, seen)


@dataclass(frozen=True, slots=True)
class Interval:
    """A bootstrap interval.

    Attributes:
        estimate: the statistic of the data themselves.
        low: lower end.
        high: upper end.
        confidence: the share of resamples between the ends, in (0, 1).
    """

    estimate: float
    low: float
    high: float
    confidence: float


@dataclass(frozen=True, slots=True)
class PairedComparison:
    """A paired bootstrap of two methods on the same groups.

    Attributes:
        difference: statistic of A minus statistic of B.
        low: lower end of the interval of the difference.
        high: upper end.
        confidence: the share of resamples between the ends, in (0, 1).
        probability_a_better: share of resamples in which A has the smaller statistic; a tie counts
            one half.
    """

    difference: float
    low: float
    high: float
    confidence: float
    probability_a_better: float


def bootstrap_interval(
    values: Groups,
    statistic: Statistic = np.mean,
    *,
    confidence: float = 0.95,
    samples: int = 4000,
    rng: np.random.Generator | int | None = None,
) -> Interval:
    """Return a percentile bootstrap interval of a statistic.

    Whole groups are drawn with replacement, and the statistic is taken of all their values
    together.  The frames of one toss depend on each other, so a toss is a group; to treat frames
    as independent would make the interval far too narrow.

    Args:
        values: one value per group (n,), or one array per group: (n, k) or a sequence of n arrays
            of any length (then a longer group weighs more).
        statistic: takes a 1-D array, returns a number.
        confidence: share of resamples inside, in (0, 1).
        samples: number of resamples.
        rng: a generator, a seed, or None for a fresh one.

    Raises:
        ModelError: fewer than two groups, an empty group, NaN or infinity in the values, a
            confidence outside (0, 1), no resamples, or a statistic that is not finite.

    Source: B. Efron, R. J. Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 13.

    Example:
        >>> bootstrap_interval([1.0, 2.0, 3.0], rng=0).estimate
        2.0
    """
    groups = _groups(values, "values")
    draws = _draws(len(groups), samples, rng)
    found = _resample(groups, statistic, draws)
    low, high = _ends(found, confidence)
    return Interval(_statistic_of(groups, statistic), low, high, confidence)


def paired_bootstrap(
    a: Groups,
    b: Groups,
    statistic: Statistic = np.mean,
    *,
    confidence: float = 0.95,
    samples: int = 4000,
    rng: np.random.Generator | int | None = None,
) -> PairedComparison:
    """Return how sure it is that A has the smaller statistic (error) than B.

    Both are resampled with the same draws of groups, so what makes a group hard for both does not
    blur the comparison.

    Args:
        a: errors of A, as in :func:`bootstrap_interval`.
        b: errors of B on the same groups in the same order.
        statistic: takes a 1-D array, returns a number; smaller is better.
        confidence: share of resamples inside the interval, in (0, 1).
        samples: number of resamples.
        rng: a generator, a seed, or None for a fresh one.

    Raises:
        ModelError: as :func:`bootstrap_interval`.
        ShapeError: A and B have different numbers of groups.

    Example:
        >>> paired_bootstrap([1.0, 2.0, 3.0], [1.5, 2.5, 3.5], rng=0).probability_a_better
        1.0
    """
    first, second = _groups(a, "a"), _groups(b, "b")
    if len(first) != len(second):
        raise ShapeError(f"b: got {len(second)} groups, expected {len(first)} as in a")
    draws = _draws(len(first), samples, rng)
    found = _resample(first, statistic, draws) - _resample(second, statistic, draws)
    low, high = _ends(found, confidence)
    return PairedComparison(
        _statistic_of(first, statistic) - _statistic_of(second, statistic),
        low,
        high,
        confidence,
        float(np.mean(found < 0.0) + 0.5 * np.mean(found == 0.0)),
    )


def _groups(values: Groups, name: str) -> list[np.ndarray]:
    items: Any = values
    groups = [as_finite_array(items[i], f"{name}[{i}]", ()).reshape(-1) for i in range(len(items))]
    if len(groups) < 2:
        raise ModelError(f"{name}: got {len(groups)} group(s), expected at least two to resample")
    for i, group in enumerate(groups):
        if group.size == 0:
            raise ModelError(f"{name}[{i}]: got an empty group, expected at least one value")
    return groups


def _draws(count: int, samples: int, rng: np.random.Generator | int | None) -> np.ndarray:
    if samples < 1:
        raise ModelError(f"samples: got {samples}, expected at least one resample")
    return np.random.default_rng(rng).integers(count, size=(samples, count))


def _statistic_of(groups: Sequence[np.ndarray], statistic: Statistic) -> float:
    return finite_scalar(statistic(np.concatenate(groups)), "statistic")


def _resample(groups: list[np.ndarray], statistic: Statistic, draws: np.ndarray) -> np.ndarray:
    return np.array([_statistic_of([groups[i] for i in draw], statistic) for draw in draws])


def _ends(found: np.ndarray, confidence: float) -> tuple[float, float]:
    if not 0.0 < confidence < 1.0:
        raise ModelError(f"confidence: got {confidence}, expected a number in (0, 1)")
    tail = 0.5 * (1.0 - confidence)
    low, high = np.quantile(found, [tail, 1.0 - tail])
    return float(low), float(high)
