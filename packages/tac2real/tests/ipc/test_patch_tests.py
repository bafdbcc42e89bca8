"""The closed forms against independent derivations, and the patch tests themselves."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.sparse.linalg import LinearOperator, cg
from scipy.special import lambertw

from contactworks.common.errors import ModelError
from contactworks.tac2real import (
    ELASTIC_MODELS,
    ElasticBody,
    Gel,
    Material,
    StableNeoHookean,
)
from contactworks.tac2real.ipc.patch_tests import (
    CASES,
    exact_stress,
    irregular_gel,
    run_patch_tests,
)

from ..oracles import free_uniaxial  # noqa: TID252

NAMES = list(ELASTIC_MODELS)
MU, LA = (float(v) for v in Material(young=1e5, poisson=0.45).lame())


def test_closed_forms_give_the_known_numbers() -> None:
    """E 1e5 Pa, ν 0.45: figures that an independent finite-element code reproduced."""
    confined = {m: exact_stress(m, "confined", 0.95, MU, LA)[1][2, 2] for m in NAMES}
    assert confined["neo-hookean"] == pytest.approx(-20295.4501, abs=5e-5)
    assert confined["stable-neo-hookean"] == pytest.approx(-18965.5172, abs=5e-5)
    # Linear in s - 1 with the modulus λ + 2 µ.
    assert confined["fixed-corotated"] == pytest.approx(-0.05 * (LA + 2 * MU), rel=1e-12)
    for model in ("neo-hookean", "stable-neo-hookean"):
        assert exact_stress(model, "shear", 0.1, MU, LA)[1][0, 2] == pytest.approx(
            3448.2759, abs=5e-5
        )


@pytest.mark.parametrize("model", NAMES)
@pytest.mark.parametrize("stretch", [0.6, 0.95, 1.0, 1.5])
def test_uniaxial_agrees_with_the_least_energy_over_the_sides(model: str, stretch: float) -> None:
    la = 0.0 if model == "arap" else LA
    gradient, stress = exact_stress(model, "uniaxial", stretch, MU, la)
    lateral, axial = free_uniaxial(model, stretch, MU, la)
    assert gradient[0, 0] == pytest.approx(lateral, rel=1e-9)
    assert stress[2, 2] == pytest.approx(axial, rel=1e-7, abs=1e-5 * MU * 1e-2)


@pytest.mark.parametrize("stretch", [0.5, 0.95, 2.0])
def test_neo_hookean_lateral_stretch_is_a_lambert_function(stretch: float) -> None:
    a = exact_stress("neo-hookean", "uniaxial", stretch, MU, LA)[0][0, 0]
    ratio = MU / LA
    exact = math.sqrt(lambertw(ratio * math.exp(ratio) / stretch).real / ratio)
    assert a == pytest.approx(exact, rel=1e-13)


@pytest.mark.parametrize("model", NAMES)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("amount", [0.7, 1.3])
def test_closed_forms_agree_with_the_tensor_code(model: str, case: str, amount: float) -> None:
    la = 0.0 if model == "arap" else LA
    gradient, stress = exact_stress(model, case, amount, MU, la)
    code = ELASTIC_MODELS[model].stress(gradient, MU, la)
    np.testing.assert_allclose(code, stress, rtol=0.0, atol=1e-11 * (MU + la))


@pytest.mark.parametrize("model", NAMES)
def test_free_sides_without_volume_stiffness(model: str) -> None:
    gradient, stress = exact_stress(model, "uniaxial", 0.9, MU, 0.0)
    code = ELASTIC_MODELS[model].stress(gradient, MU, 0.0)
    np.testing.assert_allclose(code, stress, atol=1e-11 * MU)


def test_wrong_cases_are_refused() -> None:
    with pytest.raises(ModelError, match="case: got 'twist'"):
        exact_stress("arap", "twist", 1.0, MU, LA)
    with pytest.raises(ModelError, match="model: got 'rubber'"):
        exact_stress("rubber", "shear", 1.0, MU, LA)
    for stretch in (0.0, -1.0, math.nan):
        with pytest.raises(ModelError, match="stretch"):
            exact_stress("arap", "confined", stretch, MU, LA)
        with pytest.raises(ModelError, match="stretch"):
            run_patch_tests(stretch=stretch, backend="numpy")
    with pytest.raises(ModelError, match="material: got arrays"):
        run_patch_tests(material=Material(young=[1.0, 2.0]), backend="numpy")


def test_irregular_gel_is_irregular_inside_only() -> None:
    gel = irregular_gel(rng=4)
    assert np.ptp(gel.volumes) > 0.1 * gel.volumes.mean()
    assert gel.volume == pytest.approx(25.25e-3 * 20.75e-3 * 4e-3)
    with pytest.raises(AssertionError):
        np.testing.assert_array_equal(gel.nodes, irregular_gel(rng=5).nodes)


@pytest.mark.parametrize("backend", ["numpy", "taichi"])
@pytest.mark.parametrize(("stretch", "shear", "seed"), [(0.95, 0.1, 0), (1.4, -0.6, 7)])
def test_all_patch_tests_pass(backend: str, stretch: float, shear: float, seed: int) -> None:
    rows = run_patch_tests(stretch=stretch, shear=shear, backend=backend, rng=seed)  # type: ignore[arg-type]
    assert {row.model for row in rows} == set(NAMES)
    assert [row for row in rows if not row.is_passed] == []


def test_patch_tests_pass_in_single_precision() -> None:
    rows = run_patch_tests(precision="f32")
    assert [row for row in rows if not row.is_passed] == []


def test_patch_tests_find_the_missing_lame_correction(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fault of public codes: λ where λ + µ belongs."""
    right = StableNeoHookean._volume_terms
    monkeypatch.setattr(
        StableNeoHookean, "_volume_terms", lambda self, j, mu, la: right(self, j, mu, la - mu)
    )
    rows = run_patch_tests(["stable-neo-hookean"], backend="numpy")
    failed = {(row.case, row.quantity) for row in rows if not row.is_passed}
    assert ("confined", "P_zz [Pa]") in failed
    # Energy and forces are consistent with each other, only the material is another.
    assert not any("difference" in quantity for _, quantity in failed)


def test_patch_tests_find_a_wrong_product(monkeypatch: pytest.MonkeyPatch) -> None:
    right = StableNeoHookean.stress_product
    monkeypatch.setattr(
        StableNeoHookean, "stress_product", lambda self, *args: 1.00001 * right(self, *args)
    )
    rows = run_patch_tests(["stable-neo-hookean"], backend="numpy")
    failed = [row.quantity for row in rows if not row.is_passed]
    assert failed == ["Hessian product - differences"]


@pytest.mark.parametrize("model", NAMES)
def test_solved_bar_with_free_sides(model: str) -> None:
    """Press an irregular block between frictionless plates and solve by Newton's method."""
    material = Material(young=1e5, poisson=0.0 if model == "arap" else 0.45)
    mu, la = (float(v) for v in material.lame())
    gel = irregular_gel((3, 3, 2), rng=2)
    gel = Gel(gel.nodes, gel.tets, back=gel.back)
    body = ElasticBody(gel, material, model)
    stretch = 0.9
    is_held = plates(gel)
    x = gel.nodes * [1.0, 1.0, stretch]
    x = solved(body, x, is_held)
    exact, stress = exact_stress(model, "uniaxial", stretch, mu, la)
    corner = gel.nodes.min(axis=0)
    np.testing.assert_allclose(
        (x - x[np.argmin(np.abs(gel.nodes - corner).sum(axis=1))]),
        (gel.nodes - corner) @ exact.T,
        atol=1e-9 * gel.size.max(),
    )
    top = gel.nodes[:, 2] == 0.0
    force = -body.forces(x[None])[0][top, 2].sum()
    assert force / (gel.size[0] * gel.size[1]) == pytest.approx(stress[2, 2], rel=1e-8)


def plates(gel: Gel) -> np.ndarray:
    """Return which components are held: z on both faces, and three to stop rigid motion."""
    low, high = gel.nodes.min(axis=0), gel.nodes.max(axis=0)
    is_held = np.zeros(gel.nodes.shape, dtype=bool)
    is_held[:, 2] = (gel.nodes[:, 2] == low[2]) | (gel.nodes[:, 2] == high[2])
    origin = np.argmin(np.abs(gel.nodes - low).sum(axis=1))
    along_x = np.argmin(np.abs(gel.nodes - [high[0], low[1], low[2]]).sum(axis=1))
    is_held[origin] = True
    is_held[along_x, 1] = True
    return is_held


def solved(body: ElasticBody, x: np.ndarray, is_held: np.ndarray) -> np.ndarray:
    """Return the equilibrium with held components, by Newton's method with exact line search."""
    free = ~is_held
    size = int(free.sum())
    for _ in range(30):
        gradient = -body.forces(x[None])[0][free]

        def product(p: np.ndarray, x: np.ndarray = x) -> np.ndarray:
            full = np.zeros(x.shape)
            full[free] = p.ravel()
            return body.hessian_product(x[None], full[None])[0][free]

        operator = LinearOperator((size, size), matvec=product, dtype=np.float64)
        step = np.zeros(x.shape)
        step[free] = cg(operator, -gradient, rtol=1e-10, maxiter=2000)[0]
        x = x + line_minimum(body, x, step) * step
        if np.abs(step).max() < 1e-13:
            return x
    raise AssertionError("Newton's method did not converge")


def line_minimum(body: ElasticBody, x: np.ndarray, step: np.ndarray) -> float:
    def slope(t: float) -> float:
        return -float(np.sum(body.forces((x + t * step)[None])[0] * step))

    return 1.0 if slope(1.0) <= 0.0 or slope(0.0) >= 0.0 else brentq(slope, 0.0, 1.0)
