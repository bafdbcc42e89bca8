"""Shapes that a user gives as a plain Python signed distance function."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from jaxtyping import Float

from contactworks.common.arrays import frozen_array, points_array
from contactworks.common.errors import GeometryError
from contactworks.common.geometry._sdf_bounds import estimate_bounds
from contactworks.common.geometry.base import BoundingBox, Shape
from contactworks.common.geometry.sdf import DistanceGradient

__all__ = ["ScalarField", "ScalarGradient", "Sdf", "SdfReport"]

ScalarField: TypeAlias = Callable[[float, float, float, np.ndarray], float]
"""f(x, y, z, p) -> signed distance [m]; p is a 1-D array of parameters."""

ScalarGradient: TypeAlias = Callable[[float, float, float, np.ndarray], tuple[float, float, float]]
"""g(x, y, z, p) -> (∂f/∂x, ∂f/∂y, ∂f/∂z)."""

_LOG = logging.getLogger(__name__)
# A slope above this is more than rounding and differencing: the function is no lower bound.
_STEEP = 1.01
# Step of central differences over the size of the shape.
_STEP = 1e-7


@dataclass(frozen=True, slots=True)
class SdfReport:
    """What :meth:`Sdf.check` found.

    Attributes:
        samples: number of points sampled.
        lipschitz: largest slope |∇f| found; a signed distance function has at most 1.
        median_slope: median of |∇f|; an exact signed distance function has 1.
        least: least value [m] found.
        greatest: greatest value [m] found.
        gradient_error: largest difference between the given gradient and central differences, over
            all but the 2 % of the samples that differ most (kinks); 0 without a given gradient.
    """

    samples: int
    lipschitz: float
    median_slope: float
    least: float
    greatest: float
    gradient_error: float

    @property
    def is_lower_bound(self) -> bool:
        """Whether no slope above 1 was found, so that f never exceeds the true distance."""
        return self.lipschitz <= _STEEP


@dataclass(frozen=True, slots=True, eq=False, init=False)
class Sdf(Shape):
    """A shape given by a signed distance function of the user, negative inside.

    Attributes:
        function: f(x, y, z, p) -> float, plain Python on scalars.
        gradient: g(x, y, z, p) -> (gx, gy, gz); central differences when None.
        parameters: p (k,), passed on as it is.
        bounds: lower and upper corner (3,), (3,) [m] of a box around the shape; estimated by
            :meth:`bounding_box` when None.

    Raises:
        GeometryError: not callable, NaN, or a lower corner that is not below the upper one.

    Source:
        CRISP paper, Sec. IV-A1.

    Example:
        >>> def ball(x, y, z, p):
        ...     return (x * x + y * y + z * z) ** 0.5 - p[0]
        >>> Sdf(ball, parameters=(0.5,)).signed_distance([[0.0, 0.0, 1.0]])[0]
        array([0.5])
    """

    function: ScalarField
    gradient: ScalarGradient | None
    parameters: Float[np.ndarray, " k"]
    bounds: BoundingBox | None

    def __init__(
        self,
        function: ScalarField,
        gradient: ScalarGradient | None = None,
        parameters: Float[npt.ArrayLike, " k"] = (),
        bounds: tuple[npt.ArrayLike, npt.ArrayLike] | None = None,
    ) -> None:
        if not callable(function):
            raise GeometryError(f"Sdf.function: got {function!r}, expected f(x, y, z, p) -> float")
        if gradient is not None and not callable(gradient):
            raise GeometryError(
                f"Sdf.gradient: got {gradient!r}, expected g(x, y, z, p) -> (gx, gy, gz) or None"
            )
        object.__setattr__(self, "function", function)
        object.__setattr__(self, "gradient", gradient)
        object.__setattr__(
            self,
            "parameters",
            frozen_array(parameters, "Sdf.parameters", ("n",), minimum_rows=0, error=GeometryError),
        )
        object.__setattr__(self, "bounds", None if bounds is None else _checked_bounds(bounds))

    def evaluate(self, points: Float[npt.ArrayLike, "n 3"]) -> Float[np.ndarray, " n"]:
        """Return f (n,) [m] at points (n, 3) [m].

        Raises:
            GeometryError: a value that is not a finite number; names the point.
        """
        x = points_array(points)
        f, p = self.function, self.parameters
        values = [f(a, b, c, p) for a, b, c in x.tolist()]
        try:
            result = np.array(values, dtype=np.float64).reshape(len(x))
        except (TypeError, ValueError):
            raise GeometryError(
                f"Sdf.function {_name(f)}: got {type(values[0]).__name__} values, expected floats"
            ) from None
        _require_finite(result, x, f"Sdf.function {_name(f)}")
        return result

    def signed_distance(self, points: Float[npt.ArrayLike, "n 3"]) -> DistanceGradient:
        """Return f (n,) [m] and its gradient (n, 3) at points (n, 3) [m], as the user gave them.

        Without a given gradient, central differences with a step of 1e-7 times the size of the
        shape (or of the coordinates, where the bounds are not given).

        Raises:
            GeometryError: a value that is not a finite number; names the point.
        """
        x = points_array(points)
        values = self.evaluate(x)
        if self.gradient is None:
            return values, self._differences(x)
        g, p = self.gradient, self.parameters
        rows = [g(a, b, c, p) for a, b, c in x.tolist()]
        try:
            slopes = np.array(rows, dtype=np.float64).reshape(len(x), 3)
        except (TypeError, ValueError):
            raise GeometryError(
                f"Sdf.gradient {_name(g)}: got {rows[0]!r}, expected three floats"
            ) from None
        _require_finite(slopes, x, f"Sdf.gradient {_name(g)}")
        return values, slopes

    def bounding_box(self) -> BoundingBox:
        """Return the bounds as given, else an estimate that contains the shape.

        The estimate is right where no slope of f exceeds 1; steeper functions are measured and
        allowed for.  On each side it is at most 2.5 % of the largest extent of the shape too wide.

        Parts that lie apart from the rest by several times its size are not found: give the bounds
        then.

        Raises:
            GeometryError: a shape that is empty, unbounded or too thin: give the bounds then.
        """
        return self.bounds if self.bounds is not None else _estimated_bounds(self)

    def check(self, *, count: int = 4096, rng: np.random.Generator | int | None = 0) -> SdfReport:
        """Return slopes and values of f at random points in and around the bounding box.

        A slope above 1.01 is also logged as a warning: such a function overestimates distances, and
        should be divided by its largest slope.

        Args:
            count: number of points, at least 1.
            rng: random generator or seed.

        Raises:
            GeometryError: a value that is not finite, or no bounds found.
        """
        if count < 1:
            raise GeometryError(f"count: got {count}, expected at least 1")
        lower, upper = self.bounding_box()
        margin = 0.25 * (upper - lower)
        x = np.random.default_rng(rng).uniform(lower - margin, upper + margin, size=(count, 3))
        values = self.evaluate(x)
        differences = self._differences(x, size=float((upper - lower).max()))
        error = 0.0
        if self.gradient is not None:
            gap = np.linalg.norm(self.signed_distance(x)[1] - differences, axis=1)
            error = float(np.quantile(gap, 0.98))
        slope = np.linalg.norm(differences, axis=1)
        report = SdfReport(
            samples=count,
            lipschitz=float(slope.max()),
            median_slope=float(np.median(slope)),
            least=float(values.min()),
            greatest=float(values.max()),
            gradient_error=error,
        )
        if not report.is_lower_bound:
            _LOG.warning(
                "Sdf.function %s: the largest slope found is %.4g, expected at most 1; it "
                "overestimates distances",
                _name(self.function),
                report.lipschitz,
            )
        return report

    def _differences(self, x: np.ndarray, size: float | None = None) -> np.ndarray:
        """Return central differences (n, 3) with steps that the coordinates can hold."""
        if size is None and self.bounds is not None:
            size = float((self.bounds[1] - self.bounds[0]).max())
        largest = np.abs(x).max(axis=1) if len(x) else np.zeros(0)
        scale = np.maximum(largest * 1e-2, size) if size is not None else np.maximum(largest, 1e-3)
        gradient = np.empty_like(x)
        for axis in range(3):
            above, below = x.copy(), x.copy()
            above[:, axis] += _STEP * scale
            below[:, axis] -= _STEP * scale
            # The step that was really made, after rounding.
            step = above[:, axis] - below[:, axis]
            gradient[:, axis] = (self.evaluate(above) - self.evaluate(below)) / step
        return gradient


@lru_cache(maxsize=64)
def _estimated_bounds(shape: Sdf) -> BoundingBox:
    def slopes(x: np.ndarray) -> np.ndarray:
        size = float(np.ptp(x, axis=0).max())
        return np.asarray(np.linalg.norm(shape._differences(x, size=size), axis=1))

    lower, upper = estimate_bounds(shape.evaluate, slopes, f"Sdf.function {_name(shape.function)}")
    for corner in (lower, upper):
        corner.setflags(write=False)  # shared by all callers
    return lower, upper


def _checked_bounds(bounds: tuple[npt.ArrayLike, npt.ArrayLike]) -> BoundingBox:
    if len(bounds) != 2:
        raise GeometryError(f"Sdf.bounds: got {len(bounds)} items, expected (lower, upper)")
    lower = frozen_array(bounds[0], "Sdf.bounds[0]", (3,), error=GeometryError)
    upper = frozen_array(bounds[1], "Sdf.bounds[1]", (3,), error=GeometryError)
    if not (lower < upper).all():
        raise GeometryError(
            f"Sdf.bounds: got lower {lower.tolist()} and upper {upper.tolist()}, expected lower "
            "below upper on every axis"
        )
    return lower, upper


def _require_finite(values: np.ndarray, x: np.ndarray, name: str) -> None:
    is_bad = ~np.isfinite(values)
    if is_bad.any():
        rows = is_bad.reshape(len(x), -1).any(axis=1)
        row = int(np.argmax(rows))
        raise GeometryError(
            f"{name}: got {values[row]} at point {x[row].tolist()} ({int(rows.sum())} of {len(x)} "
            "points are not finite), expected finite numbers"
        )


def _name(function: Callable[..., object]) -> str:
    return getattr(function, "__name__", repr(function))
