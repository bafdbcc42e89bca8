"""The energy densities against stretches, differences, Hooke's law and each other."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from contactworks.common.errors import ModelError
from contactworks.tac2real import ELASTIC_MODELS, Arap, Material, NeoHookean
from contactworks.tac2real.ipc.elasticity import (
    cofactor,
    cofactor_change,
    determinant,
    elastic_model,
)

from ..oracles import energy_of_stretches, linear_stress  # noqa: TID252

NAMES = list(ELASTIC_MODELS)
POSITIVE = [name for name in NAMES if ELASTIC_MODELS[name].needs_positive_volume]
MU, LA = (float(v) for v in Material(young=1e5, poisson=0.45).lame())

seeds = st.integers(0, 2**32 - 1)


def random_gradient(rng: np.random.Generator, count: int = 1) -> np.ndarray:
    """Return F = U diag(s) V with rotations U, V and stretches in [0.5, 1.8]."""
    left = Rotation.random(count, rng=rng).as_matrix()
    right = Rotation.random(count, rng=rng).as_matrix()
    return left * rng.uniform(0.5, 1.8, (count, 1, 3)) @ right


@pytest.mark.parametrize("name", NAMES)
@given(seed=seeds)
@settings(max_examples=30, deadline=None)
def test_energy_is_that_of_the_principal_stretches(name: str, seed: int) -> None:
    gradient = random_gradient(np.random.default_rng(seed), 4)
    energy = ELASTIC_MODELS[name].energy_density(gradient, MU, LA)
    slow = [energy_of_stretches(name, f, MU, LA) for f in gradient]
    np.testing.assert_allclose(energy, slow, rtol=1e-10, atol=1e-9 * MU)


@pytest.mark.parametrize("name", NAMES)
@given(seed=seeds)
@settings(max_examples=30, deadline=None)
def test_stress_and_product_agree_with_differences(name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    model = ELASTIC_MODELS[name]
    gradient = random_gradient(rng)[0]
    change = rng.standard_normal((3, 3))
    h = 1e-5

    def central(function):
        return (function(gradient + h * change) - function(gradient - h * change)) / (2 * h)

    stress = model.stress(gradient, MU, LA)
    slope = float(np.sum(stress * change))
    difference = float(central(lambda f: model.energy_density(f, MU, LA)))
    assert abs(slope - difference) <= 1e-6 * np.linalg.norm(stress) * np.linalg.norm(change)
    product = model.stress_product(gradient, change, MU, LA)
    gap = np.linalg.norm(product - central(lambda f: model.stress(f, MU, LA)))
    assert gap <= 1e-6 * np.linalg.norm(product)


@pytest.mark.parametrize("name", NAMES)
def test_small_strains_follow_hookes_law(name: str) -> None:
    young, poisson = 1.3e5, 0.0 if name == "arap" else 0.42
    mu, la = Material(young=young, poisson=poisson).lame()
    model = ELASTIC_MODELS[name]
    change = np.random.default_rng(1).standard_normal((3, 3))
    strain = (change + change.T) / 2
    expected = linear_stress(strain, young, poisson)
    # At rest the Hessian is exactly that of linear elasticity.
    np.testing.assert_allclose(
        model.stress_product(np.eye(3), change, mu, la), expected, rtol=1e-12, atol=1e-12 * young
    )
    assert float(model.energy_density(np.eye(3), mu, la)) == pytest.approx(0.0, abs=1e-10)
    np.testing.assert_allclose(model.stress(np.eye(3), mu, la), 0.0, atol=1e-10 * young)
    # The stress approaches it to first order.
    errors = [
        np.linalg.norm(model.stress(np.eye(3) + e * strain, mu, la) / e - expected)
        for e in (1e-3, 1e-4)
    ]
    assert errors[1] < 1e-3 * np.linalg.norm(expected)
    assert errors[1] == pytest.approx(errors[0] / 10, rel=0.05) or errors[0] < 1e-9 * young


@pytest.mark.parametrize("name", NAMES)
@given(seed=seeds)
@settings(max_examples=20, deadline=None)
def test_frame_indifference_isotropy_and_symmetry(name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    model = ELASTIC_MODELS[name]
    gradient = random_gradient(rng)[0]
    turn = Rotation.random(rng=rng).as_matrix()
    stress = model.stress(gradient, MU, LA)
    size = np.linalg.norm(stress) + MU
    np.testing.assert_allclose(
        model.stress(turn @ gradient, MU, LA), turn @ stress, atol=1e-11 * size
    )
    np.testing.assert_allclose(
        model.stress(gradient @ turn, MU, LA), stress @ turn, atol=1e-11 * size
    )
    kirchhoff = stress @ gradient.T
    np.testing.assert_allclose(kirchhoff, kirchhoff.T, atol=1e-11 * size)
    a, b = rng.standard_normal((2, 3, 3))
    ab = np.sum(b * model.stress_product(gradient, a, MU, LA))
    ba = np.sum(a * model.stress_product(gradient, b, MU, LA))
    assert ab == pytest.approx(ba, rel=1e-9, abs=1e-9 * MU)


@pytest.mark.parametrize("name", NAMES)
def test_arrays_broadcast(name: str) -> None:
    rng = np.random.default_rng(3)
    gradient = random_gradient(rng, 6).reshape(2, 3, 3, 3)
    change = rng.standard_normal(gradient.shape)
    mu, la = np.array([[1.0], [2.0]]), np.array([[4.0], [3.0]])
    model = ELASTIC_MODELS[name]
    whole = (
        model.energy_density(gradient, mu, la),
        model.stress(gradient, mu, la),
        model.stress_product(gradient, change, mu, la),
    )
    for i, j in np.ndindex(2, 3):
        f, d, m, n = gradient[i, j], change[i, j], mu[i, 0], la[i, 0]
        single = (
            model.energy_density(f, m, n),
            model.stress(f, m, n),
            model.stress_product(f, d, m, n),
        )
        for all_of_them, one in zip(whole, single, strict=True):
            np.testing.assert_allclose(all_of_them[i, j], one, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", POSITIVE)
def test_outside_the_domain_only_that_element_is_lost(name: str) -> None:
    inverted = np.diag([1.0, 1.0, -0.5])
    flat = np.diag([1.0, 1.0, 0.0])
    broken = np.full((3, 3), np.nan)
    gradient = np.stack([inverted, 1.1 * np.eye(3), flat, broken])
    model = ELASTIC_MODELS[name]
    lost = [True, False, True, True]
    np.testing.assert_array_equal(np.isinf(model.energy_density(gradient, MU, LA)), lost)
    for result in (
        model.stress(gradient, MU, LA),
        model.stress_product(gradient, np.ones((4, 3, 3)), MU, LA),
    ):
        np.testing.assert_array_equal(np.isnan(result).all(axis=(1, 2)), lost)
        np.testing.assert_array_equal(np.isfinite(result).all(axis=(1, 2)), ~np.array(lost))


def test_energies_grow_without_bound_towards_a_flat_element() -> None:
    flat = [np.diag([1.0, 1.0, s]) for s in (1e-2, 1e-4, 1e-8)]
    energy = NeoHookean().energy_density(np.stack(flat), MU, LA)
    assert (np.diff(energy) > 0.0).all()


def test_stable_model_is_defined_for_inverted_elements() -> None:
    model = elastic_model("stable-neo-hookean")
    gradient = np.diag([1.1, 0.9, -0.5])
    change = np.random.default_rng(0).standard_normal((3, 3))
    h = 1e-6
    difference = model.stress(gradient + h * change, MU, LA) - model.stress(
        gradient - h * change, MU, LA
    )
    product = model.stress_product(gradient, change, MU, LA)
    np.testing.assert_allclose(product, difference / (2 * h), rtol=1e-6)


def test_arap_refuses_what_it_cannot_represent() -> None:
    Arap().check_material(0.0)
    with pytest.raises(ModelError, match=r"arap: got poisson=0.45, expected 0.*fixed-corotated"):
        Arap().check_material(0.45)
    with pytest.raises(ModelError, match="arap"):
        Arap().check_material(np.array([0.0, 0.1]))


def test_models_are_found_by_name() -> None:
    for name, model in ELASTIC_MODELS.items():
        assert elastic_model(name) is model
        assert elastic_model(model) is model
        assert model.name == name
    assert len({model.code for model in ELASTIC_MODELS.values()}) == len(ELASTIC_MODELS)
    with pytest.raises(ModelError, match="model: got 'rubber', expected one of neo-hookean"):
        elastic_model("rubber")


def test_cofactor_matrix() -> None:
    rng = np.random.default_rng(5)
    matrix, change = rng.standard_normal((2, 7, 3, 3))
    inverse = np.linalg.inv(matrix)
    np.testing.assert_allclose(determinant(matrix), np.linalg.det(matrix), rtol=1e-12)
    np.testing.assert_allclose(
        cofactor(matrix), determinant(matrix)[:, None, None] * np.swapaxes(inverse, 1, 2), rtol=1e-9
    )
    # The cofactor is quadratic, so a central difference is exact.
    np.testing.assert_allclose(
        cofactor_change(matrix, change),
        (cofactor(matrix + change) - cofactor(matrix - change)) / 2,
        rtol=1e-9,
        atol=1e-12,
    )
