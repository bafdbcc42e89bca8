"""Hyperelastic energies: density, first Piola stress and Hessian product, in NumPy.

Notation: F deformation gradient, C = FᵀF, I = tr C, J = det F, R the rotation of F = R S, H = ∂J/∂F
the cofactor matrix, µ and λ Lamé's parameters.  Each energy is

    Ψ(F) = f(F) + w(J),   f = µ/2 (I - 3) or µ |F - R|²,

so that P = ∂f/∂F + w'(J) H and δP = ∂²f:δF + w''(J) (H:δF) H + w'(J) δH.  For small strains each
is linear elasticity with the material's Young's modulus and Poisson's ratio.

These functions are the readable definition; :mod:`._kernels.elasticity` holds the same formulas for
the compiler, and the tests compare the two.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from contactworks.common.errors import ModelError

if TYPE_CHECKING:
    from jaxtyping import Float

    Scalars = Float[np.ndarray, "*b"]
    Matrices = Float[np.ndarray, "*b 3 3"]

__all__ = [
    "ELASTIC_MODELS",
    "Arap",
    "ElasticModel",
    "FixedCorotated",
    "NeoHookean",
    "StableNeoHookean",
    "elastic_model",
]


class ElasticModel(ABC):
    """An isotropic hyperelastic energy.

    Deformation gradients have shape (..., 3, 3), µ and λ [Pa] broadcast against (...).  Where the
    energy is not defined (J ≤ 0 or F not finite, if :attr:`needs_positive_volume`) the density is
    +inf and stress and product are NaN, there only.
    """

    name: ClassVar[str]
    code: ClassVar[int]  # the kernels' number of the model
    needs_positive_volume: ClassVar[bool]
    is_corotated: ClassVar[bool]

    def energy_density(self, gradient: Matrices, mu: Scalars, la: Scalars) -> Scalars:
        """Return the energy per rest volume Ψ [J/m³], shape (...)."""
        gradient, jacobian, is_valid = self._domain(gradient)
        mu, la = np.asarray(mu), np.asarray(la)
        if self.is_corotated:
            change = gradient - _polar(gradient)[0]
            shape_part = mu * np.sum(change * change, axis=(-2, -1))
        else:
            shape_part = mu / 2.0 * (np.sum(gradient * gradient, axis=(-2, -1)) - 3.0)
        density = shape_part + self._volume_terms(jacobian, mu, la)[0]
        return np.where(is_valid, density, np.inf)

    def stress(self, gradient: Matrices, mu: Scalars, la: Scalars) -> Matrices:
        """Return the first Piola stress P = ∂Ψ/∂F [Pa], shape (..., 3, 3)."""
        gradient, jacobian, is_valid = self._domain(gradient)
        mu, la = np.asarray(mu), np.asarray(la)
        if self.is_corotated:
            shape_part = 2.0 * mu[..., None, None] * (gradient - _polar(gradient)[0])
        else:
            shape_part = mu[..., None, None] * gradient
        first = self._volume_terms(jacobian, mu, la)[1]
        stress = shape_part + first[..., None, None] * cofactor(gradient)
        return np.where(is_valid[..., None, None], stress, np.nan)

    def stress_product(
        self, gradient: Matrices, change: Matrices, mu: Scalars, la: Scalars
    ) -> Matrices:
        """Return δP = ∂²Ψ/∂F² : δF [Pa] for changes δF, both of shape (..., 3, 3)."""
        gradient, jacobian, is_valid = self._domain(gradient)
        mu, la = np.asarray(mu), np.asarray(la)
        if self.is_corotated:
            turn = _rotation_change(gradient, change)
            shape_part = 2.0 * mu[..., None, None] * (change - turn)
        else:
            shape_part = mu[..., None, None] * change
        _, first, second = self._volume_terms(jacobian, mu, la)
        normal = cofactor(gradient)
        rate = np.sum(normal * change, axis=(-2, -1))
        product = (
            shape_part
            + (second * rate)[..., None, None] * normal
            + first[..., None, None] * cofactor_change(gradient, change)
        )
        return np.where(is_valid[..., None, None], product, np.nan)

    def check_material(self, poisson: float | Float[np.ndarray, " E"]) -> None:
        """Refuse a Poisson's ratio that the model cannot represent; by default none is.

        Raises:
            ModelError: In models that restrict it.
        """
        return

    @abstractmethod
    def _volume_terms(
        self, jacobian: Scalars, mu: Scalars, la: Scalars
    ) -> tuple[Scalars, Scalars, Scalars]:
        """Return w, w', w'' at J, each of shape (...)."""

    def _domain(self, gradient: Matrices) -> tuple[Matrices, Scalars, Scalars]:
        """Return F and J, replaced by the identity outside the domain, and where it is valid."""
        gradient = np.asarray(gradient, dtype=np.float64)
        is_valid = np.isfinite(gradient).all(axis=(-2, -1))
        gradient = np.where(is_valid[..., None, None], gradient, np.eye(3))
        jacobian = determinant(gradient)
        if self.needs_positive_volume:
            is_valid = is_valid & (jacobian > 0.0)
            gradient = np.where(is_valid[..., None, None], gradient, np.eye(3))
            jacobian = np.where(is_valid, jacobian, 1.0)
        return gradient, jacobian, is_valid


class NeoHookean(ElasticModel):
    """Neo-Hookean: Ψ = µ/2 (I - 3) - µ ln J + λ/2 ln²J, for J > 0.

    Source: Bonet and Wood, Nonlinear Continuum Mechanics for Finite Element Analysis, the
    compressible neo-Hookean material.
    """

    name = "neo-hookean"
    code = 0
    needs_positive_volume = True
    is_corotated = False

    def _volume_terms(
        self, jacobian: Scalars, mu: Scalars, la: Scalars
    ) -> tuple[Scalars, Scalars, Scalars]:
        log = np.log(jacobian)
        value = -mu * log + la / 2.0 * log**2
        return value, (la * log - mu) / jacobian, (la - la * log + mu) / jacobian**2


class StableNeoHookean(ElasticModel):
    """Stable neo-Hookean: Ψ = µ/2 (I - 3) - µ (J - 1) + (λ + µ)/2 (J - 1)², for all F.

    Source: Smith, de Goes and Kim, Stable Neo-Hookean Flesh Simulation, 2018, section 3, the form
    without the logarithm of I + 1.  Written with one λ' in front of (J - 1)², it behaves for small
    strains as Lamé's λ = λ' - µ; our λ is Lamé's, so λ + µ stands there.
    """

    name = "stable-neo-hookean"
    code = 1
    needs_positive_volume = False
    is_corotated = False

    def _volume_terms(
        self, jacobian: Scalars, mu: Scalars, la: Scalars
    ) -> tuple[Scalars, Scalars, Scalars]:
        growth = jacobian - 1.0
        bulk = la + mu
        return (
            -mu * growth + bulk / 2.0 * growth**2,
            bulk * growth - mu,
            np.broadcast_to(bulk, growth.shape),
        )


class Arap(ElasticModel):
    """As rigid as possible: Ψ = µ |F - R|², for J > 0 and Poisson's ratio 0 only.

    It has no volume term, so its small-strain limit is λ = 0: any other Poisson's ratio is refused
    (use :class:`FixedCorotated`).

    Source: Chao, Pinkall, Sanan and Schröder, A simple geometric model for elastic deformations,
    2010.
    """

    name = "arap"
    code = 2
    needs_positive_volume = True
    is_corotated = True

    def check_material(self, poisson: float | Float[np.ndarray, " E"]) -> None:
        """Refuse any Poisson's ratio but 0.

        Raises:
            ModelError: If there is another.
        """
        if np.any(np.asarray(poisson) != 0.0):
            raise ModelError(
                f"arap: got poisson={poisson}, expected 0: the energy has no volume term; use "
                "fixed-corotated"
            )

    def _volume_terms(
        self, jacobian: Scalars, mu: Scalars, la: Scalars
    ) -> tuple[Scalars, Scalars, Scalars]:
        zero = np.zeros_like(jacobian)
        return zero, zero, zero


class FixedCorotated(ElasticModel):
    """Fixed corotated: Ψ = µ |F - R|² + λ/2 (J - 1)², for J > 0.

    Source: Stomakhin, Howes, Schroeder and Teran, Energetically consistent invertible elasticity,
    2012.  Its use for J ≤ 0 is left out: a gel is never inverted.
    """

    name = "fixed-corotated"
    code = 3
    needs_positive_volume = True
    is_corotated = True

    def _volume_terms(
        self, jacobian: Scalars, mu: Scalars, la: Scalars
    ) -> tuple[Scalars, Scalars, Scalars]:
        growth = jacobian - 1.0
        return la / 2.0 * growth**2, la * growth, np.broadcast_to(la, growth.shape)


ELASTIC_MODELS: dict[str, ElasticModel] = {
    model.name: model for model in (NeoHookean(), StableNeoHookean(), Arap(), FixedCorotated())
}


def elastic_model(model: str | ElasticModel) -> ElasticModel:
    """Return the elastic model of a name, or the model itself.

    Raises:
        ModelError: If there is no such model.
    """
    if isinstance(model, ElasticModel):
        return model
    if model not in ELASTIC_MODELS:
        raise ModelError(f"model: got {model!r}, expected one of {', '.join(ELASTIC_MODELS)}")
    return ELASTIC_MODELS[model]


def cofactor(matrix: Matrices) -> Matrices:
    """Return ∂(det)/∂(matrix): row i is the cross product of the next two rows."""
    a, b, c = (matrix[..., i, :] for i in range(3))
    return np.stack([np.cross(b, c), np.cross(c, a), np.cross(a, b)], axis=-2)


def cofactor_change(matrix: Matrices, change: Matrices) -> Matrices:
    """Return the directional derivative of :func:`cofactor` along ``change``."""
    a, b, c = (matrix[..., i, :] for i in range(3))
    da, db, dc = (change[..., i, :] for i in range(3))
    rows = [
        np.cross(db, c) + np.cross(b, dc),
        np.cross(dc, a) + np.cross(c, da),
        np.cross(da, b) + np.cross(a, db),
    ]
    return np.stack(rows, axis=-2)


def determinant(matrix: Matrices) -> Scalars:
    """Return the determinants; unlike LAPACK's, exact for small whole numbers."""
    a, b, c = (matrix[..., i, :] for i in range(3))
    return np.asarray(np.sum(a * np.cross(b, c), axis=-1))


def _polar(gradient: Matrices) -> tuple[Matrices, Matrices]:
    """Return R and S of F = R S for det F > 0, through the singular value decomposition."""
    left, values, right = np.linalg.svd(gradient)
    stretch = np.swapaxes(right, -1, -2) @ (values[..., None] * right)
    return left @ right, stretch


def _rotation_change(gradient: Matrices, change: Matrices) -> Matrices:
    """Return δR for a change of F = R S.

    From δF = δR S + R δS with δR = R [ω]: [ω] S + S [ω] = RᵀδF - δFᵀR, that is
    (tr S - S) ω = axial vector of the right side.
    """
    rotation, stretch = _polar(gradient)
    local = np.swapaxes(rotation, -1, -2) @ change
    skew = local - np.swapaxes(local, -1, -2)
    axial = np.stack([skew[..., 2, 1], skew[..., 0, 2], skew[..., 1, 0]], axis=-1)
    trace = np.trace(stretch, axis1=-2, axis2=-1)
    omega = np.linalg.solve(trace[..., None, None] * np.eye(3) - stretch, axial[..., None])[..., 0]
    # Row i of R [ω] is (row i of R) x ω.
    return np.cross(rotation, omega[..., None, :])
