"""Material of a gel: elasticity, density and friction."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from contactworks.common.errors import ModelError, ShapeError

if TYPE_CHECKING:
    from jaxtyping import Bool, Float

__all__ = ["Material"]

_RANGES = {
    "young": "above 0",
    "poisson": "in [0, 0.5)",
    "density": "above 0",
    "friction": "at least 0",
}


@dataclass(frozen=True, slots=True, eq=False)
class Material:
    """Isotropic material, the same in all environments or one value for each of E of them.

    Every value is a number or an array of shape (E,); numbers and arrays may be mixed.  Arrays are
    copied and made read-only.

    Attributes:
        young: Young's modulus [Pa], above 0.
        poisson: Poisson's ratio, in [0, 0.5).
        density: Mass density [kg/m³], above 0.
        friction: Coulomb friction coefficient against the indenter, at least 0.

    Raises:
        ModelError: If a value is out of range or not finite.
        ShapeError: If an array is not of shape (E,), or two arrays differ in length.
    """

    young: float | Float[np.ndarray, " E"] = 1e5
    poisson: float | Float[np.ndarray, " E"] = 0.45
    density: float | Float[np.ndarray, " E"] = 1000.0
    friction: float | Float[np.ndarray, " E"] = 1.0

    def __post_init__(self) -> None:
        lengths: dict[str, int] = {}
        for name, text in _RANGES.items():
            value = _checked(name, getattr(self, name))
            bad = np.flatnonzero(~(np.isfinite(value) & _is_allowed(name, value)))
            if bad.size:
                where = f"[{bad[0]}]" if value.ndim else ""
                raise ModelError(
                    f"Material.{name}{where}: got {value.flat[bad[0]]}, expected finite and {text}"
                )
            if value.ndim:
                lengths[name] = value.size
                value.setflags(write=False)
            object.__setattr__(self, name, value if value.ndim else float(value))
        if len(set(lengths.values())) > 1:
            raise ShapeError(f"Material: arrays of one length expected, got lengths {lengths}")

    @property
    def num_envs(self) -> int | None:
        """Number of environments E, or None if all values are numbers."""
        sizes = [v.size for v in self._values() if isinstance(v, np.ndarray)]
        return sizes[0] if sizes else None

    def lame(self) -> tuple[Float[np.ndarray, "*E"], Float[np.ndarray, "*E"]]:
        """Return the shear modulus µ and Lamé's first parameter λ [Pa], shapes (E,) or ().

        Source: linear elasticity, µ = Y / (2 (1 + ν)), λ = Y ν / ((1 + ν) (1 - 2 ν)).
        """
        young, poisson = np.asarray(self.young), np.asarray(self.poisson)
        mu = young / (2.0 * (1.0 + poisson))
        la = young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson))
        return mu, la

    def lame_of_envs(
        self, num_envs: int
    ) -> tuple[Float[np.ndarray, " E"], Float[np.ndarray, " E"]]:
        """Return (µ, λ) [Pa] for each environment, both of shape (num_envs,).

        Raises:
            ShapeError: If the material has arrays of another length.
        """
        if self.num_envs not in (None, num_envs):
            raise ShapeError(
                f"Material: has values for {self.num_envs} environments, expected {num_envs}"
            )
        mu, la = self.lame()
        return np.broadcast_to(mu, (num_envs,)).copy(), np.broadcast_to(la, (num_envs,)).copy()

    def __eq__(self, other: object) -> bool:
        """Return True if all values are equal."""
        if not isinstance(other, Material):
            return NotImplemented
        pairs = zip(self._values(), other._values(), strict=True)
        return all(np.array_equal(a, b) for a, b in pairs)

    __hash__ = None  # type: ignore[assignment]

    def _values(self) -> list[Any]:
        return [getattr(self, field.name) for field in fields(self)]


def _is_allowed(name: str, value: Float[np.ndarray, "*E"]) -> Bool[np.ndarray, "*E"]:
    if name == "poisson":
        return (value >= 0.0) & (value < 0.5)
    return value >= 0.0 if name == "friction" else value > 0.0


def _checked(name: str, value: object) -> Float[np.ndarray, "*E"]:
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ModelError(
            f"Material.{name}: got {value!r}, expected a number or an array of numbers"
        ) from error
    if array.ndim > 1 or array.size == 0:
        raise ShapeError(
            f"Material.{name}: got shape {array.shape}, expected a number or shape (E,)"
        )
    return array
