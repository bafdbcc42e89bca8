"""Parameters with bounds, and the space that they span, normalized to [0, 1]."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from jaxtyping import Float

from contactworks.common.arrays import as_float_array, finite_scalar
from contactworks.common.errors import CalibrationError

__all__ = ["Parameter", "ParameterSpace"]

# Rounding on the way to and from [0, 1]; anything farther out is a mistake of the caller.
_OUTSIDE = 1e-9


@dataclass(frozen=True, slots=True)
class Parameter:
    """One unknown of a calibration.

    Attributes:
        name: its name, unique in a space.
        unit: its unit, such as ``"N/m"``; ``"1"`` for a pure number.
        lower: lower bound, finite; positive on a logarithmic scale.
        upper: upper bound, finite, above ``lower``.
        scale: ``"linear"``, or ``"log"`` where factors rather than differences matter.
        initial: where a search starts, within the bounds; by default the middle (on a logarithmic
            scale the geometric mean).

    Raises:
        CalibrationError: a field is not as said above.
    """

    name: str
    unit: str
    lower: float
    upper: float
    scale: Literal["linear", "log"] = "linear"
    initial: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise CalibrationError(f"parameter name: got {self.name!r}, expected a non-empty text")
        where = f"parameter '{self.name}'"
        if not isinstance(self.unit, str) or not self.unit:
            raise CalibrationError(
                f"{where}, unit: got {self.unit!r}, expected a text ('1' if none)"
            )
        if self.scale not in ("linear", "log"):
            raise CalibrationError(
                f"{where}, scale: got {self.scale!r}, expected 'linear' or 'log'"
            )
        lower, upper = (
            _number(self.lower, f"{where}, lower"),
            _number(self.upper, f"{where}, upper"),
        )
        if not (lower < upper and math.isfinite(upper - lower)):
            raise CalibrationError(
                f"{where}: got bounds [{lower}, {upper}], expected lower < upper"
            )
        if self.scale == "log" and lower <= 0.0:
            raise CalibrationError(
                f"{where}: got the lower bound {lower} on a log scale, expected a positive one"
            )
        object.__setattr__(self, "lower", lower)
        object.__setattr__(self, "upper", upper)
        if self.initial is not None:
            initial = _number(self.initial, f"{where}, initial")
            if not lower <= initial <= upper:
                raise CalibrationError(
                    f"{where}, initial: got {initial}, expected a value in [{lower}, {upper}]"
                )
            object.__setattr__(self, "initial", initial)


@dataclass(frozen=True, slots=True)
class ParameterSpace:
    """The box of several parameters, and its map to and from [0, 1]^d.

    A linear parameter maps by ``(value - lower) / (upper - lower)``, a logarithmic one by the same
    with logarithms.  Arrays hold parameters in the last dimension, in the order of the space;
    leading dimensions are populations.

    Attributes:
        parameters: the parameters in order.

    Raises:
        CalibrationError: no parameters, or a name twice.

    Example:
        >>> mu, k = Parameter("mu", "1", 0.1, 0.5), Parameter("k", "N/m", 1e3, 1e5, "log")
        >>> ParameterSpace([mu, k]).denormalize([[0.0, 0.0], [0.5, 0.5]]).round(6)
        array([[1.e-01, 1.e+03],
               [3.e-01, 1.e+04]])
    """

    parameters: tuple[Parameter, ...]

    def __init__(self, parameters: Iterable[Parameter]) -> None:
        items = tuple(parameters)
        for item in items:
            if not isinstance(item, Parameter):
                raise CalibrationError(f"parameter space: got {item!r}, expected a Parameter")
        names = [item.name for item in items]
        if not names:
            raise CalibrationError("parameter space: got no parameters, expected at least one")
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise CalibrationError(f"parameter space: got the name(s) {twice} more than once")
        object.__setattr__(self, "parameters", items)

    def __len__(self) -> int:
        return len(self.parameters)

    def __iter__(self) -> Iterator[Parameter]:
        return iter(self.parameters)

    def __getitem__(self, name: str) -> Parameter:
        return self.parameters[self.index(name)]

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names in order."""
        return tuple(p.name for p in self.parameters)

    @property
    def lower(self) -> Float[np.ndarray, " d"]:
        """Return the lower bounds (d,)."""
        return np.array([p.lower for p in self.parameters])

    @property
    def upper(self) -> Float[np.ndarray, " d"]:
        """Return the upper bounds (d,)."""
        return np.array([p.upper for p in self.parameters])

    @property
    def initial(self) -> Float[np.ndarray, " d"]:
        """Return the values (d,) where a search starts."""
        middle = self.denormalize(np.full(len(self), 0.5))
        return np.array(
            [m if p.initial is None else p.initial for m, p in zip(middle, self, strict=True)]
        )

    def index(self, name: str) -> int:
        """Return the place of a parameter.

        Raises:
            CalibrationError: there is no such parameter.
        """
        for i, parameter in enumerate(self.parameters):
            if parameter.name == name:
                return i
        raise CalibrationError(f"parameter '{name}': not in this space, which has {self.names}")

    def subset(self, names: Iterable[str]) -> ParameterSpace:
        """Return the space of some of the parameters, in the order of ``names``.

        Raises:
            CalibrationError: an unknown name, a name twice, or none.
        """
        return ParameterSpace([self[name] for name in names])

    def normalize(self, values: Float[npt.ArrayLike, "*batch d"]) -> Float[np.ndarray, "*batch d"]:
        """Return the coordinates (..., d) in [0, 1] of values (..., d).

        Raises:
            ShapeError: the last dimension is not d.
            CalibrationError: a value is NaN or outside its bounds.
        """
        array = as_float_array(values, "values", (len(self),))
        low, high, is_log = self._frame()
        self._refuse_outside(array, self.lower, self.upper, "value")
        safe = np.clip(array, self.lower, self.upper)
        unit = (np.where(is_log, np.log(np.where(is_log, safe, 1.0)), safe) - low) / (high - low)
        return np.asarray(np.clip(unit, 0.0, 1.0))

    def denormalize(self, unit: Float[npt.ArrayLike, "*batch d"]) -> Float[np.ndarray, "*batch d"]:
        """Return the values (..., d) at coordinates (..., d); 0 and 1 give the exact bounds.

        Raises:
            ShapeError: the last dimension is not d.
            CalibrationError: a coordinate is NaN or outside [0, 1].
        """
        array = as_float_array(unit, "unit", (len(self),))
        low, high, is_log = self._frame()
        self._refuse_outside(array, np.zeros(len(self)), np.ones(len(self)), "coordinate")
        inner = low + np.clip(array, 0.0, 1.0) * (high - low)
        values = np.where(is_log, np.exp(np.where(is_log, inner, 0.0)), inner)
        # exp(log(bound)) is the bound only up to rounding.
        values = np.where(array <= 0.0, self.lower, np.where(array >= 1.0, self.upper, values))
        return np.clip(values, self.lower, self.upper)

    def slope(self, unit: Float[npt.ArrayLike, "*batch d"]) -> Float[np.ndarray, "*batch d"]:
        """Return d value / d coordinate (..., d), the factor that turns gradients.

        Raises:
            ShapeError: the last dimension is not d.
            CalibrationError: a coordinate is NaN or outside [0, 1].
        """
        low, high, is_log = self._frame()
        return np.asarray((high - low) * np.where(is_log, self.denormalize(unit), 1.0))

    def to_dict(self, values: Float[npt.ArrayLike, " d"]) -> dict[str, float]:
        """Return one set of values (d,) as a mapping from name to value.

        Raises:
            ShapeError: ``values`` is not of shape (d,).
        """
        array = as_float_array(values, "values", (len(self),)).reshape(len(self))
        return dict(zip(self.names, array.tolist(), strict=True))

    def from_dict(self, values: Mapping[str, float]) -> Float[np.ndarray, " d"]:
        """Return the values (d,) of a mapping from name to value, in the order of the space.

        Raises:
            CalibrationError: a name is missing or unknown, or a value is no finite number.
        """
        missing = [name for name in self.names if name not in values]
        unknown = sorted(str(name) for name in values if name not in self.names)
        if missing or unknown:
            raise CalibrationError(
                f"values: missing {missing}, unknown {unknown}, expected exactly {list(self.names)}"
            )
        return np.array([_number(values[name], f"parameter '{name}'") for name in self.names])

    def sample(
        self, count: int, *, rng: np.random.Generator | int | None = None
    ) -> Float[np.ndarray, "count d"]:
        """Return values (count, d) drawn uniformly in [0, 1]^d (log-uniformly on a log scale)."""
        return self.denormalize(np.random.default_rng(rng).random((count, len(self))))

    def _frame(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return bounds in the coordinates in which the map is linear, and which are logarithms."""
        is_log = np.array([p.scale == "log" for p in self.parameters])
        low, high = self.lower, self.upper
        low[is_log], high[is_log] = np.log(low[is_log]), np.log(high[is_log])
        return low, high, is_log

    def _refuse_outside(
        self, array: np.ndarray, low: np.ndarray, high: np.ndarray, kind: str
    ) -> None:
        margin = _OUTSIDE * (high - low)
        bad = ~((array >= low - margin) & (array <= high + margin))
        if bad.any():
            place = tuple(int(i) for i in np.argwhere(bad)[0])
            i = place[-1]
            raise CalibrationError(
                f"parameter '{self.names[i]}': got the {kind} {array[place]} at {list(place)}, "
                f"expected one in [{low[i]}, {high[i]}]"
            )


def _number(value: Any, where: str) -> float:
    return finite_scalar(value, where, error=CalibrationError)
