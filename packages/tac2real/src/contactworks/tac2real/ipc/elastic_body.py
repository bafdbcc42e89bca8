"""Elastic energy, nodal forces and Hessian products of a gel, for a batch of environments.

Two classes with the same methods: :class:`ElasticBody` in NumPy, the readable reference, and
:class:`ElasticBatch` in Taichi, on the CPU or a GPU.

Linear tetrahedra: F = Ds Dm⁻¹, with the edges from corner 0 as columns of Ds (deformed) and Dm
(rest); the gradient at corners 1 to 3 are the columns of V P Dm⁻ᵀ, corner 0 takes minus their sum.
Source: Sifakis and Barbič, FEM simulation of 3D deformable solids, 2012, part I, section 4.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from contactworks.common.arrays import require_shape
from contactworks.common.errors import ModelError
from contactworks.tac2real import _runtime
from contactworks.tac2real.ipc.elasticity import ElasticModel, elastic_model

if TYPE_CHECKING:
    from jaxtyping import Float, Int

    from contactworks.tac2real.gel import Gel
    from contactworks.tac2real.material import Material

    Positions = Float[np.ndarray, "E n 3"]
    PerEnv = Float[np.ndarray, " E"]

__all__ = ["ElasticBatch", "ElasticBody", "RestShape"]


@dataclass(frozen=True, slots=True)
class RestShape:
    """What the elastic energy needs of an undeformed mesh.

    Attributes:
        tets: Corner indices, shape (m, 4).
        rest_inverse: Dm⁻¹ [1/m], shape (m, 3, 3).
        volumes: Rest volumes [m³], shape (m,).
        start: Entries start[v] to start[v + 1] of ``incident`` belong to node v, shape (n + 1,).
        incident: 4 t + corner for the elements t of each node in ascending order, shape (4 m,).
    """

    tets: Int[np.ndarray, "m 4"]
    rest_inverse: Float[np.ndarray, "m 3 3"]
    volumes: Float[np.ndarray, " m"]
    start: Int[np.ndarray, " n1"]
    incident: Int[np.ndarray, " m4"]

    @classmethod
    def of(cls, gel: Gel) -> RestShape:
        """Return the rest shape of a gel."""
        corners = gel.tets.ravel()
        count = np.bincount(corners, minlength=len(gel.nodes))
        return cls(
            tets=gel.tets,
            rest_inverse=np.linalg.inv(_edges(gel.nodes, gel.tets)),
            volumes=gel.volumes,
            start=np.concatenate([[0], np.cumsum(count)]),
            incident=np.argsort(corners, kind="stable"),
        )


class ElasticBody:
    """A gel's elastic energy in NumPy: the reference that the compiled code is compared with.

    Positions have shape (E, n, 3) [m], E the number of environments.  An environment with an
    element outside the domain of the model (inverted, or not finite) gets energy +inf and NaN
    forces and products; the others are not touched.

    Args:
        gel: The mesh.
        material: One for all environments, or with arrays of length E.
        model: Name in :data:`.ELASTIC_MODELS`, or a model.

    Raises:
        ModelError: If there is no such model or it cannot represent the material.

    Example:
        >>> from contactworks import tac2real
        >>> gel = tac2real.structured_gel(cells=(4, 3, 2))
        >>> body = tac2real.ElasticBody(gel, tac2real.Material(young=1e5, poisson=0.45))
        >>> x = gel.nodes[None] * (1.0, 1.0, 0.95)
        >>> bool(body.energy(x)[0] > 0.0), body.forces(x).shape
        (True, (1, 60, 3))
    """

    def __init__(
        self, gel: Gel, material: Material, model: str | ElasticModel = "neo-hookean"
    ) -> None:
        self.gel = gel
        self.material = material
        self.model = elastic_model(model)
        self.model.check_material(material.poisson)
        self.rest = RestShape.of(gel)

    def energy(self, positions: Positions) -> PerEnv:
        """Return the total elastic energy [J], shape (E,)."""
        gradient, mu, la = self._gradient(positions)
        density = self.model.energy_density(gradient, mu, la)
        return np.asarray(np.sum(self.rest.volumes * density, axis=1))

    def forces(self, positions: Positions) -> Positions:
        """Return the nodal forces [N], minus the gradient of the energy, shape (E, n, 3)."""
        gradient, mu, la = self._gradient(positions)
        return -self._assemble(self.model.stress(gradient, mu, la))

    def hessian_product(self, positions: Positions, direction: Positions) -> Positions:
        """Return the Hessian of the energy at ``positions`` times ``direction`` [m]: [N].

        Both of shape (E, n, 3).
        """
        gradient, mu, la = self._gradient(positions)
        direction = _checked(direction, self.gel, "direction", len(gradient))
        change = _edges(direction, self.rest.tets) @ self.rest.rest_inverse
        return self._assemble(self.model.stress_product(gradient, change, mu, la))

    def volume_ratio(self, positions: Positions) -> PerEnv:
        """Return the smallest J over the elements, shape (E,); not above 0 means inverted."""
        gradient, _, _ = self._gradient(positions)
        return np.asarray(np.linalg.det(gradient).min(axis=1))

    def _gradient(self, positions: Positions) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return F (E, m, 3, 3), µ and λ (E, 1)."""
        positions = _checked(positions, self.gel, "positions", None)
        mu, la = self.material.lame_of_envs(len(positions))
        gradient = _edges(positions, self.rest.tets) @ self.rest.rest_inverse
        return gradient, mu[:, None], la[:, None]

    def _assemble(self, stress: np.ndarray) -> Positions:
        columns = self.rest.volumes[:, None, None] * (
            stress @ np.swapaxes(self.rest.rest_inverse, 1, 2)
        )
        corner = np.concatenate([-columns.sum(axis=3, keepdims=True), columns], axis=3)
        result = np.zeros((len(stress), len(self.gel.nodes), 3))
        for env in range(len(stress)):
            np.add.at(result[env], self.rest.tets, np.swapaxes(corner[env], 1, 2))
        return result


class ElasticBatch:
    """A gel's elastic energy in Taichi, all environments at once.

    The methods and conventions are those of :class:`ElasticBody`.  Two kernels a call: one over
    (environment, element), one that gathers at (environment, node); no atomics, so the result for
    an environment does not depend on the others (bitwise on the CPU).  Memory: 10 m numbers an
    environment.

    Args:
        gel: The mesh.
        material: One for all environments, or with arrays of length ``num_envs``.
        model: Name in :data:`.ELASTIC_MODELS`, or a model.
        num_envs: Number of environments E, at least 1.
        arch: Where to run; one per process.
        precision: Type of all numbers; results are returned in float64.

    Raises:
        ModelError: If an argument is out of range, or the model cannot represent the material.
        ShapeError: If the material's arrays have another length.
        RuntimeConflictError: If the process runs a Taichi program that does not fit; also in later
            calls, if it was replaced in the meantime.
    """

    def __init__(
        self,
        gel: Gel,
        material: Material,
        model: str | ElasticModel = "neo-hookean",
        *,
        num_envs: int = 1,
        arch: _runtime.Arch = "cpu",
        precision: _runtime.Precision = "f64",
    ) -> None:
        if num_envs < 1:
            raise ModelError(f"num_envs: got {num_envs}, expected at least 1")
        self.gel = gel
        self.material = material
        self.model = elastic_model(model)
        self.model.check_material(material.poisson)
        self.num_envs = num_envs
        mu, la = material.lame_of_envs(num_envs)
        self.runtime = _runtime.ensure(arch, precision)
        from contactworks.tac2real.ipc._kernels import elasticity as kernels

        self._kernels = kernels
        self._real = np.dtype(np.float32 if precision == "f32" else np.float64)
        rest = RestShape.of(gel)
        self._mesh = (
            self._device(rest.tets.astype(np.int32)),
            self._device(rest.rest_inverse.astype(self._real)),
            self._device(rest.volumes.astype(self._real)),
            self._device(mu.astype(self._real)),
            self._device(la.astype(self._real)),
        )
        self._start = self._device(rest.start.astype(np.int32))
        self._incident = self._device(rest.incident.astype(np.int32))
        shape = (num_envs, len(gel.tets))
        self._columns = self._empty((*shape, 3, 3))
        self._per_element = self._empty(shape)

    def energy(self, positions: Positions) -> PerEnv:
        """Return the total elastic energy [J], shape (E,)."""
        x = self._input(positions, "positions")
        energy = self._empty((self.num_envs, len(self.gel.tets)))
        self._kernels.element_energy(self.model.code, x, *self._mesh, energy, self._per_element)
        # Summed in double precision: 3,000 terms would cost f32 two digits.
        total = energy.to_numpy().astype(np.float64).sum(axis=1)
        return np.where(self._is_valid(), total, np.inf)

    def forces(self, positions: Positions) -> Positions:
        """Return the nodal forces [N], minus the gradient of the energy, shape (E, n, 3)."""
        x = self._input(positions, "positions")
        self._kernels.element_gradient(
            self.model.code, x, *self._mesh, self._columns, self._per_element
        )
        return -self._gathered()

    def hessian_product(self, positions: Positions, direction: Positions) -> Positions:
        """Return the Hessian of the energy at ``positions`` times ``direction`` [m]: [N].

        Both of shape (E, n, 3).
        """
        x = self._input(positions, "positions")
        p = self._input(direction, "direction")
        self._kernels.element_product(
            self.model.code, x, p, *self._mesh, self._columns, self._per_element
        )
        return self._gathered()

    def volume_ratio(self, positions: Positions) -> PerEnv:
        """Return the smallest J over the elements, shape (E,); not above 0 means inverted."""
        x = self._input(positions, "positions")
        energy = self._empty((self.num_envs, len(self.gel.tets)))
        self._kernels.element_energy(self.model.code, x, *self._mesh, energy, self._per_element)
        return np.asarray(self._per_element.to_numpy().astype(np.float64).min(axis=1))

    def _input(self, values: Positions, name: str) -> np.ndarray:
        self.runtime.check()
        array = _checked(values, self.gel, name, self.num_envs)
        return np.ascontiguousarray(array, dtype=self._real)

    def _gathered(self) -> Positions:
        result = np.empty((self.num_envs, len(self.gel.nodes), 3), dtype=self._real)
        self._kernels.gather_nodes(self._columns, self._start, self._incident, result)
        is_valid = self._is_valid()
        return np.where(is_valid[:, None, None], result.astype(np.float64), np.nan)

    def _is_valid(self) -> np.ndarray:
        ratio = self._per_element.to_numpy()
        is_valid = ratio > 0.0 if self.model.needs_positive_volume else np.isfinite(ratio)
        return np.asarray(is_valid.all(axis=1))

    def _empty(self, shape: tuple[int, ...]) -> Any:
        return _runtime.ti.ndarray(dtype=self.runtime.real, shape=shape)

    def _device(self, array: np.ndarray) -> Any:
        ti = _runtime.ti
        kind = ti.i32 if array.dtype == np.int32 else self.runtime.real
        result = ti.ndarray(dtype=kind, shape=array.shape)
        result.from_numpy(np.ascontiguousarray(array))
        return result


def _edges(nodes: np.ndarray, tets: np.ndarray) -> np.ndarray:
    """Return the edges from corner 0 as columns, shape (..., m, 3, 3)."""
    corner = nodes[..., tets, :]
    return np.swapaxes(corner[..., 1:, :] - corner[..., :1, :], -1, -2)


def _checked(values: object, gel: Gel, name: str, num_envs: int | None) -> np.ndarray:
    array = np.asarray(values, dtype=np.float64)
    require_shape(array, name, ("E" if num_envs is None else num_envs, *gel.nodes.shape))
    return array
