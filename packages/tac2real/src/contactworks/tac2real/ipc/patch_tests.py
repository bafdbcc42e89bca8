"""Patch tests: a mesh under a uniform deformation against stresses in closed form.

Three deformations F of a block, with s the stretch along z and γ the shear:

- ``confined``: F = diag(1, 1, s);
- ``uniaxial``: F = diag(a, a, s), with a such that the sides are free (P_xx = 0);
- ``shear``: F = I + γ e_x e_zᵀ.

All nodes of a mesh, its inner ones out of line, are put at F X.  Inner nodes must feel no force,
and the mean stress from the nodal forces, -(1/V) Σ f Xᵀ (virtual work), must be P(F).
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from contactworks.common.errors import ModelError
from contactworks.tac2real import _runtime
from contactworks.tac2real.gel import Gel
from contactworks.tac2real.ipc.elastic_body import ElasticBatch, ElasticBody
from contactworks.tac2real.ipc.elasticity import ELASTIC_MODELS, elastic_model
from contactworks.tac2real.material import Material
from contactworks.tac2real.meshing import structured_gel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jaxtyping import Float

__all__ = ["CASES", "PatchRow", "exact_stress", "irregular_gel", "run_patch_tests"]

CASES = ("confined", "uniaxial", "shear")
Backend = Literal["numpy", "taichi"]

_STRESS_LIMIT = {"f64": 1e-11, "f32": 1e-4}
_DIFFERENCE = 1e-6
_COMPONENTS = {
    "confined": (("zz", 2, 2), ("xx", 0, 0)),
    "uniaxial": (("zz", 2, 2), ("xx", 0, 0)),
    "shear": (("xz", 0, 2), ("zx", 2, 0), ("zz", 2, 2)),
}
# Step of central differences over the edge length: rounding and truncation are both near 1e-10.
_STEP = 1e-5


@dataclass(frozen=True, slots=True)
class PatchRow:
    """One figure of a patch test.

    Attributes:
        model: Name of the elastic model.
        case: Deformation, or ``any``.
        quantity: What is compared, with its unit.
        measured: From the mesh.
        exact: The right value.
        error: Distance of the two over the scale of the case (for stresses the largest |P|).
        limit: Largest error allowed.
    """

    model: str
    case: str
    quantity: str
    measured: float
    exact: float
    error: float
    limit: float

    @property
    def is_passed(self) -> bool:
        """True if the error is at most the limit."""
        return self.error <= self.limit


def exact_stress(
    model: str, case: str, amount: float, mu: float, la: float
) -> tuple[Float[np.ndarray, "3 3"], Float[np.ndarray, "3 3"]]:
    """Return the deformation gradient of a case and its first Piola stress [Pa] in closed form.

    Derived by hand from Ψ for these F, independently of the tensor code.  For diagonal F with
    stretches a_i, P_i = ∂Ψ/∂a_i.  The free lateral stretch solves P_xx = 0.  Simple shear has J = 1
    and the rotation R_xx = 2/q, R_xz = γ/q with q = √(4 + γ²).

    Args:
        model: Name of the elastic model.
        case: One of :data:`CASES`.
        amount: Stretch s > 0, or shear γ.
        mu: Shear modulus µ [Pa].
        la: Lamé's first parameter λ [Pa].

    Raises:
        ModelError: If the model, the case or the amount cannot be used.
    """
    elastic_model(model)
    if case == "shear":
        return _exact_shear(model, amount, mu)
    if case not in CASES:
        raise ModelError(f"case: got {case!r}, expected one of {', '.join(CASES)}")
    if not amount > 0.0:
        raise ModelError(f"stretch: got {amount}, expected above 0")
    s = amount
    a = 1.0 if case == "confined" else _free_stretch(model, s, mu, la)
    j = a * a * s
    if model == "neo-hookean":
        lateral = mu * (a - 1.0 / a) + la * math.log(j) / a
        axial = mu * (s - 1.0 / s) + la * math.log(j) / s
    elif model == "stable-neo-hookean":
        pressure = (la + mu) * (j - 1.0) - mu
        lateral, axial = mu * a + pressure * a * s, mu * s + pressure * a * a
    else:
        bulk = la if model == "fixed-corotated" else 0.0
        lateral = 2.0 * mu * (a - 1.0) + bulk * (j - 1.0) * a * s
        axial = 2.0 * mu * (s - 1.0) + bulk * (j - 1.0) * a * a
    if case == "uniaxial":
        lateral = 0.0  # by the choice of a
    return np.diag([a, a, s]), np.diag([lateral, lateral, axial])


def irregular_gel(
    cells: Sequence[int] = (4, 3, 2), *, rng: np.random.Generator | int | None = 0
) -> Gel:
    """Return a small block whose inner nodes are moved by up to a tenth of a cell."""
    gel = structured_gel(cells=cells)
    nodes = gel.nodes.copy()
    inner = np.setdiff1d(np.arange(len(nodes)), gel.surface)
    shift = np.random.default_rng(rng).uniform(-0.1, 0.1, (len(inner), 3))
    nodes[inner] += shift * gel.size / np.asarray(cells)
    return Gel(nodes, gel.tets, back=gel.back)


def run_patch_tests(
    models: Sequence[str] = tuple(ELASTIC_MODELS),
    material: Material | None = None,
    *,
    stretch: float = 0.95,
    shear: float = 0.1,
    backend: Backend = "taichi",
    arch: _runtime.Arch = "cpu",
    precision: _runtime.Precision = "f64",
    rng: np.random.Generator | int | None = 0,
) -> list[PatchRow]:
    """Return the rows of all patch tests of the models.

    Args:
        models: Names of elastic models; ``arap`` is run with Poisson's ratio 0, its only one.
        material: Default: ``Material()``; numbers, not arrays.
        stretch: Stretch s of the first two cases, above 0.
        shear: Shear γ.
        backend: ``numpy`` (the reference) or ``taichi`` (then also compared with NumPy).
        arch: Where Taichi runs.
        precision: Taichi's type.  The finite differences are left out in ``f32``.
        rng: For the mesh and the test directions.

    Raises:
        ModelError: If an argument cannot be used.
    """
    material = Material() if material is None else material
    if material.num_envs is not None:
        raise ModelError("material: got arrays, expected one number for each value")
    if not (np.isfinite(stretch) and stretch > 0.0 and np.isfinite(shear)):
        raise ModelError(f"stretch and shear: got {stretch}, {shear}, expected finite, stretch > 0")
    generator = np.random.default_rng(rng)
    gel = irregular_gel(rng=generator)
    limit = _STRESS_LIMIT["f64" if backend == "numpy" else precision]
    rows: list[PatchRow] = []
    for name in models:
        own = dataclasses.replace(material, poisson=0.0) if name == "arap" else material
        reference = ElasticBody(gel, own, name)
        body: ElasticBody | ElasticBatch = reference
        if backend == "taichi":
            body = ElasticBatch(gel, own, name, arch=arch, precision=precision)
        for case in CASES:
            rows += _case_rows(body, case, shear if case == "shear" else stretch, limit)
        rows += _invariance_rows(body, generator, limit)
        if limit == _STRESS_LIMIT["f64"]:
            rows += _difference_rows(body, generator)
        if backend == "taichi":
            rows += _comparison_rows(body, reference, generator, limit)
    return rows


def _exact_shear(
    model: str, shear: float, mu: float
) -> tuple[Float[np.ndarray, "3 3"], Float[np.ndarray, "3 3"]]:
    gradient = np.eye(3)
    gradient[0, 2] = shear
    stress = np.zeros((3, 3))
    if model in ("neo-hookean", "stable-neo-hookean"):
        stress[0, 2] = stress[2, 0] = mu * shear
    else:
        q = math.sqrt(4.0 + shear * shear)
        stress[0, 0] = stress[2, 2] = 2.0 * mu * (1.0 - 2.0 / q)
        stress[0, 2] = 2.0 * mu * (shear - shear / q)
        stress[2, 0] = 2.0 * mu * shear / q
    return gradient, stress


def _free_stretch(model: str, s: float, mu: float, la: float) -> float:
    """Return the lateral stretch a for which P_xx(a, a, s) = 0."""
    if model == "arap" or (la == 0.0 and model != "stable-neo-hookean"):
        return 1.0
    if model == "stable-neo-hookean":
        j = 1.0 + mu * (s - 1.0) / ((la + mu) * s)
        if j <= 0.0:
            raise ModelError(f"stretch: got {s}, too small for free sides in {model}")
        return math.sqrt(j / s)
    if model == "neo-hookean":
        # e^t + r t = 1 - r ln s for t = ln a²; convex and increasing, so Newton's method converges
        # from the right.
        r = la / mu
        right = 1.0 - r * math.log(s)
        t = max(0.0, math.log(right)) if right > 0.0 else 0.0
        for _ in range(100):
            t -= (math.exp(t) + r * t - right) / (math.exp(t) + r)
        return math.exp(t / 2.0)
    # λ s² a³ + (2 µ - λ s) a - 2 µ = 0 has one positive root (Descartes' rule).
    roots = np.roots([la * s * s, 0.0, 2.0 * mu - la * s, -2.0 * mu])
    return float(roots[(np.abs(roots.imag) < 1e-9) & (roots.real > 0.0)].real[0])


def _row(
    model: str, case: str, quantity: str, measured: float, exact: float, scale: float, limit: float
) -> PatchRow:
    error = abs(measured - exact) / max(scale, 1e-300)
    return PatchRow(model, case, quantity, float(measured), float(exact), float(error), limit)


def _case_rows(
    body: ElasticBody | ElasticBatch, case: str, amount: float, limit: float
) -> list[PatchRow]:
    name = body.model.name
    mu, la = (float(v) for v in body.material.lame())
    gradient, exact = exact_stress(name, case, amount, mu, la)
    gel = body.gel
    forces = body.forces((gel.nodes @ gradient.T)[None])[0]
    measured = -forces.T @ gel.nodes / gel.volume
    scale = float(np.abs(exact).max())
    rows = [
        _row(name, case, f"P_{label} [Pa]", measured[i, k], exact[i, k], scale, limit)
        for label, i, k in _COMPONENTS[case]
    ]
    inner = np.setdiff1d(np.arange(len(gel.nodes)), gel.surface)
    residual = float(np.abs(forces[inner]).max())
    largest = float(np.abs(forces).max())
    return [*rows, _row(name, case, "force on inner nodes [N]", residual, 0.0, largest, limit)]


def _invariance_rows(
    body: ElasticBody | ElasticBatch, rng: np.random.Generator, limit: float
) -> list[PatchRow]:
    """Return: turning leaves the energy, rigid motion gives no force, internal forces balance."""
    name = body.model.name
    x, _ = _deformed(body.gel, rng)
    forces = body.forces(x[None])[0]
    total = float(np.abs(forces).sum())
    net = float(np.abs(forces.sum(axis=0)).max())
    moment = float(np.abs(np.cross(x, forces).sum(axis=0)).max())
    turn = _random_rotation(rng)
    energy = float(body.energy(x[None])[0])
    turned = float(body.energy((x @ turn.T + 0.01)[None])[0])
    rigid = float(np.abs(body.forces((body.gel.nodes @ turn.T + 0.01)[None])).max())
    # What cancels in a rigid motion are stresses of the size of Young's modulus.
    floor = float(np.max(body.material.young)) * float(body.gel.size[:2].min()) ** 2
    arm = float(body.gel.size.max())
    return [
        _row(name, "any", "energy after rotation [J]", turned, energy, energy, 100.0 * limit),
        _row(name, "rigid", "largest nodal force [N]", rigid, 0.0, floor, limit),
        _row(name, "any", "net internal force [N]", net, 0.0, total, limit),
        _row(name, "any", "net internal moment [N m]", moment, 0.0, total * arm, limit),
    ]


def _difference_rows(body: ElasticBody | ElasticBatch, rng: np.random.Generator) -> list[PatchRow]:
    """Return: gradient and Hessian product against central differences."""
    name = body.model.name
    x, direction = _deformed(body.gel, rng)
    gradient = -body.forces(x[None])[0]
    # Uphill at every node, so that the slope is not small by chance.
    uphill = np.abs(direction) * np.sign(gradient)
    slope = float(np.sum(gradient * uphill))
    rise = body.energy((x + _STEP * uphill)[None]) - body.energy((x - _STEP * uphill)[None])
    difference = float(rise[0]) / (2.0 * _STEP)
    product = body.hessian_product(x[None], direction[None])[0]
    low, high = (x - _STEP * direction)[None], (x + _STEP * direction)[None]
    change = -(body.forces(high) - body.forces(low))[0] / (2.0 * _STEP)
    gap = float(np.linalg.norm(product - change) / np.linalg.norm(product))
    return [
        _row(name, "any", "slope, exact: differences [J]", slope, difference, slope, _DIFFERENCE),
        _row(name, "any", "Hessian product - differences", gap, 0.0, 1.0, _DIFFERENCE),
    ]


def _comparison_rows(
    body: ElasticBody | ElasticBatch,
    reference: ElasticBody,
    rng: np.random.Generator,
    limit: float,
) -> list[PatchRow]:
    x, direction = (v[None] for v in _deformed(body.gel, rng))
    pairs = {
        "forces": (body.forces(x), reference.forces(x)),
        "Hessian product": (
            body.hessian_product(x, direction),
            reference.hessian_product(x, direction),
        ),
    }
    rows = []
    for quantity, (ours, theirs) in pairs.items():
        gap = float(np.abs(ours - theirs).max() / np.abs(theirs).max())
        rows.append(_row(body.model.name, "any", f"{quantity} - NumPy's", gap, 0.0, 1.0, limit))
    return rows


def _deformed(
    gel: Gel, rng: np.random.Generator
) -> tuple[Float[np.ndarray, "n 3"], Float[np.ndarray, "n 3"]]:
    """Return positions moved at random by 5 % of the shortest edge, and a direction of its size."""
    edge = float(gel.quality().minimum_edge.min())
    shape = gel.nodes.shape
    x = gel.nodes + 0.05 * edge * rng.standard_normal(shape)
    return x, edge * rng.standard_normal(shape)


def _random_rotation(rng: np.random.Generator) -> Float[np.ndarray, "3 3"]:
    q, r = np.linalg.qr(rng.standard_normal((3, 3)))
    q = q * np.sign(np.diag(r))
    return np.asarray(q * np.linalg.det(q))
