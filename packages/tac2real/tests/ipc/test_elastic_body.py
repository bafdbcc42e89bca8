"""Energy, forces and products of a mesh: NumPy, Taichi, batches, and a converged reference."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from contactworks.common.errors import ModelError, ShapeError
from contactworks.tac2real import (
    ELASTIC_MODELS,
    ElasticBatch,
    ElasticBody,
    Gel,
    Material,
    load_gel,
    structured_gel,
)
from contactworks.tac2real.ipc.elastic_body import RestShape

from ..oracles import mesh_energy  # noqa: TID252

NAMES = list(ELASTIC_MODELS)
SMALL = structured_gel(cells=(3, 2, 2), grading=2.0)


def material(model: str, num_envs: int | None = None, seed: int = 0) -> Material:
    poisson = 0.0 if model == "arap" else 0.45
    if num_envs is None:
        return Material(young=1e5, poisson=poisson)
    rng = np.random.default_rng(seed)
    spread = 0.0 if model == "arap" else rng.uniform(-0.05, 0.04, num_envs)
    return Material(young=rng.uniform(2e4, 2e5, num_envs), poisson=poisson + spread)


def deformed(gel: Gel, num_envs: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return turned, sheared and disturbed positions, and directions of their size."""
    rng = np.random.default_rng(seed)
    turn = Rotation.random(num_envs, rng=rng).as_matrix()
    shear = np.eye(3) + 0.15 * rng.standard_normal((num_envs, 3, 3))
    edge = gel.quality().minimum_edge.min()
    noise = 0.04 * edge * rng.standard_normal((num_envs, *gel.nodes.shape))
    x = (
        gel.nodes @ np.swapaxes(turn @ shear, 1, 2)
        + noise
        + rng.uniform(-0.1, 0.1, (num_envs, 1, 3))
    )
    return x, edge * rng.standard_normal(x.shape)


def close(ours: np.ndarray, theirs: np.ndarray, limit: float) -> None:
    """Assert agreement, per environment, relative to its largest value."""
    scale = np.abs(theirs).max(axis=tuple(range(1, theirs.ndim)), keepdims=True)
    assert np.abs((ours - theirs) / scale).max() <= limit


@pytest.mark.parametrize("model", NAMES)
def test_energy_of_a_mesh_is_the_sum_over_its_elements(model: str) -> None:
    x, _ = deformed(SMALL, 2)
    body = ElasticBody(SMALL, material(model), model)
    mu, la = (float(v) for v in body.material.lame())
    slow = [mesh_energy(model, SMALL.nodes, SMALL.tets, one, mu, la) for one in x]
    np.testing.assert_allclose(body.energy(x), slow, rtol=1e-10)


@pytest.mark.parametrize("model", NAMES)
def test_forces_and_product_agree_with_differences(model: str) -> None:
    x, p = deformed(SMALL, 2)
    for body in (
        ElasticBody(SMALL, material(model), model),
        ElasticBatch(SMALL, material(model), model, num_envs=2),
    ):
        h = 1e-5
        slope = -np.sum(body.forces(x) * p, axis=(1, 2))
        difference = (body.energy(x + h * p) - body.energy(x - h * p)) / (2 * h)
        size = np.linalg.norm(body.forces(x), axis=(1, 2)) * np.linalg.norm(p, axis=(1, 2))
        assert (np.abs(slope - difference) <= 1e-6 * size).all()
        product = body.hessian_product(x, p)
        close(-(body.forces(x + h * p) - body.forces(x - h * p)) / (2 * h), product, 1e-6)


@pytest.mark.parametrize("model", NAMES)
def test_single_component_of_the_force_agrees_with_a_difference(model: str) -> None:
    x, _ = deformed(SMALL, 1, seed=4)
    body = ElasticBatch(SMALL, material(model), model)
    forces = body.forces(x)
    h = 1e-9
    for node, axis in ((0, 0), (17, 2), (len(SMALL.nodes) - 1, 1)):
        step = np.zeros_like(x)
        step[0, node, axis] = h
        difference = -(body.energy(x + step) - body.energy(x - step))[0] / (2 * h)
        assert difference == pytest.approx(forces[0, node, axis], abs=1e-6 * np.abs(forces).max())


@pytest.mark.parametrize("model", NAMES)
@pytest.mark.parametrize("num_envs", [1, 5])
def test_compiled_code_agrees_with_the_reference(model: str, num_envs: int) -> None:
    gel = structured_gel(cells=(6, 5, 3), grading=1.5)
    values = material(model, num_envs)
    x, p = deformed(gel, num_envs, seed=num_envs)
    slow = ElasticBody(gel, values, model)
    fast = ElasticBatch(gel, values, model, num_envs=num_envs)
    assert slow.volume_ratio(x).min() > 0.1
    close(fast.energy(x), slow.energy(x), 1e-12)
    close(fast.forces(x), slow.forces(x), 1e-12)
    close(fast.hessian_product(x, p), slow.hessian_product(x, p), 1e-12)
    close(fast.volume_ratio(x), slow.volume_ratio(x), 1e-12)


@pytest.mark.parametrize("model", NAMES)
def test_compiled_code_agrees_on_an_unstructured_mesh(model: str, public_meshes: Path) -> None:
    gel = load_gel(public_meshes / "fine_tet.msh", translation="sensor")
    x, p = deformed(gel, 2, seed=9)
    slow = ElasticBody(gel, material(model), model)
    fast = ElasticBatch(gel, material(model), model, num_envs=2)
    close(fast.energy(x), slow.energy(x), 1e-12)
    close(fast.forces(x), slow.forces(x), 1e-12)
    close(fast.hessian_product(x, p), slow.hessian_product(x, p), 1e-12)


@pytest.mark.parametrize("model", NAMES)
def test_single_precision_is_close(model: str) -> None:
    x, p = deformed(SMALL, 2)
    slow = ElasticBody(SMALL, material(model), model)
    fast = ElasticBatch(SMALL, material(model), model, num_envs=2, precision="f32")
    # Positions up to 0.1 m from the origin over edges of a mm cost two digits.
    close(fast.energy(x), slow.energy(x), 1e-4)
    close(fast.forces(x), slow.forces(x), 1e-3)
    close(fast.hessian_product(x, p), slow.hessian_product(x, p), 1e-4)
    difference = np.abs(fast.forces(x) - slow.forces(x)).max()
    assert difference > 0.0, "single precision was asked for, double was used"


@pytest.mark.parametrize("model", NAMES)
@pytest.mark.parametrize("precision", ["f64", "f32"])
def test_environment_of_a_batch_equals_a_single_run_bitwise(model: str, precision: str) -> None:
    values = material(model, 4)
    x, p = deformed(SMALL, 4)
    batch = ElasticBatch(SMALL, values, model, num_envs=4, precision=precision)  # type: ignore[arg-type]
    young, poisson = np.asarray(values.young), np.broadcast_to(values.poisson, 4)
    for i in range(4):
        single = ElasticBatch(
            SMALL,
            Material(young=young[i], poisson=poisson[i]),
            model,
            precision=precision,  # type: ignore[arg-type]
        )
        one, direction = x[i : i + 1], p[i : i + 1]
        np.testing.assert_array_equal(single.energy(one)[0], batch.energy(x)[i])
        np.testing.assert_array_equal(single.forces(one)[0], batch.forces(x)[i])
        np.testing.assert_array_equal(
            single.hessian_product(one, direction)[0], batch.hessian_product(x, p)[i]
        )


def test_order_of_environments_permutes_the_results() -> None:
    x, _ = deformed(SMALL, 6)
    body = ElasticBatch(SMALL, Material(), num_envs=6)
    order = np.random.default_rng(1).permutation(6)
    np.testing.assert_array_equal(body.forces(x[order]), body.forces(x)[order])
    np.testing.assert_array_equal(body.forces(x), body.forces(x))


@pytest.mark.parametrize("model", NAMES)
def test_broken_environment_leaves_the_others_untouched(model: str) -> None:
    x, p = deformed(SMALL, 3)
    values = material(model, 3)
    intact = x.copy()
    x[1] = x[1] * [1.0, 1.0, -1.0]
    for body in (
        ElasticBody(SMALL, values, model),
        ElasticBatch(SMALL, values, model, num_envs=3),
    ):
        for bad in (x, np.where(np.arange(3)[:, None, None] == 1, np.nan, x)):
            is_lost = ELASTIC_MODELS[model].needs_positive_volume or not np.isfinite(bad).all()
            energy, forces = body.energy(bad), body.forces(bad)
            product = body.hessian_product(bad, p)
            assert np.isinf(energy[1]) == is_lost
            assert np.isnan(forces[1]).any() == is_lost
            assert np.isnan(product[1]).any() == is_lost
            for i in (0, 2):
                np.testing.assert_array_equal(energy[i], body.energy(intact)[i])
                np.testing.assert_array_equal(forces[i], body.forces(intact)[i])
                np.testing.assert_array_equal(product[i], body.hessian_product(intact, p)[i])


def test_volume_ratio_names_the_inverted_environment() -> None:
    x = np.stack([SMALL.nodes, SMALL.nodes * [1.0, 1.0, -0.8], SMALL.nodes * 1.1])
    for body in (ElasticBody(SMALL, Material()), ElasticBatch(SMALL, Material(), num_envs=3)):
        np.testing.assert_allclose(body.volume_ratio(x), [1.0, -0.8, 1.331], rtol=1e-12)


@pytest.mark.parametrize("model", NAMES)
def test_rigid_motion_and_balance(model: str) -> None:
    x, p = deformed(SMALL, 2)
    turn = Rotation.random(rng=7).as_matrix()
    for body in (
        ElasticBody(SMALL, material(model), model),
        ElasticBatch(SMALL, material(model), model, num_envs=2),
    ):
        forces = body.forces(x)
        size = np.abs(forces).max()
        rigid = np.stack([SMALL.nodes @ turn.T + [0.01, 0.02, 0.03], SMALL.nodes])
        assert np.abs(body.forces(rigid)).max() <= 1e-11 * size
        assert np.abs(body.energy(rigid)).max() <= 1e-12 * body.energy(x).max()
        close(body.energy(x @ turn.T), body.energy(x), 1e-11)
        close(body.forces(x @ turn.T), forces @ turn.T, 1e-11)
        assert np.abs(forces.sum(axis=1)).max() <= 1e-12 * size
        assert np.abs(np.cross(x, forces).sum(axis=1)).max() <= 1e-12 * size
        # Turning about an axis moves nothing at rest: the Hessian has rigid motions in its kernel.
        spin = np.cross([0.3, -0.2, 0.9], SMALL.nodes)
        rest = np.broadcast_to(SMALL.nodes, x.shape)
        product = body.hessian_product(rest, np.broadcast_to(spin, x.shape))
        assert np.abs(product).max() <= 1e-10 * np.abs(body.hessian_product(rest, p)).max()


@pytest.mark.parametrize("model", NAMES)
def test_hessian_is_symmetric(model: str) -> None:
    x, p = deformed(SMALL, 2)
    _, q = deformed(SMALL, 2, seed=8)
    body = ElasticBatch(SMALL, material(model), model, num_envs=2)
    pq = np.sum(p * body.hessian_product(x, q), axis=(1, 2))
    qp = np.sum(q * body.hessian_product(x, p), axis=(1, 2))
    size = np.linalg.norm(p) * np.linalg.norm(body.hessian_product(x, q))
    assert np.abs(pq - qp).max() <= 1e-12 * size


@pytest.mark.parametrize("model", NAMES)
def test_small_displacements_give_the_linear_stiffness(model: str) -> None:
    """The force on the upper face of a slightly pressed, confined block: Hooke's modulus."""
    values = material(model)
    young, poisson = float(values.young), float(values.poisson)
    modulus = young * (1 - poisson) / ((1 + poisson) * (1 - 2 * poisson))
    strain = 1e-6
    x = SMALL.nodes * [1.0, 1.0, 1.0 - strain]
    forces = ElasticBatch(SMALL, values, model).forces(x[None])[0]
    top = SMALL.nodes[:, 2] == 0.0
    area = SMALL.size[0] * SMALL.size[1]
    assert forces[top, 2].sum() / area == pytest.approx(modulus * strain, rel=1e-5)


def test_young_scales_everything_and_softer_environments_give_less() -> None:
    x, _ = deformed(SMALL, 1)
    x = np.repeat(x, 3, axis=0)
    young = np.array([1e4, 1e5, 3e5])
    forces = ElasticBatch(SMALL, Material(young=young), num_envs=3).forces(x)
    unit = ElasticBody(SMALL, Material(young=1.0)).forces(x[:1])
    close(forces, young[:, None, None] * unit, 1e-11)


def test_rest_shape_lists_each_corner_once() -> None:
    rest = RestShape.of(SMALL)
    assert sorted(rest.incident) == list(range(4 * len(SMALL.tets)))
    for node in range(len(SMALL.nodes)):
        entries = rest.incident[rest.start[node] : rest.start[node + 1]]
        assert (SMALL.tets[entries // 4, entries % 4] == node).all()


def test_wrong_shapes_and_numbers_are_refused() -> None:
    x, p = deformed(SMALL, 2)
    n = len(SMALL.nodes)
    body = ElasticBody(SMALL, Material())
    batch = ElasticBatch(SMALL, Material(), num_envs=2)
    with pytest.raises(
        ShapeError, match=rf"positions: got shape \({n}, 3\), expected \(E, {n}, 3\)"
    ):
        body.energy(x[0])
    with pytest.raises(ShapeError, match=rf"positions: got shape \(1, {n}, 3\), expected \(2, "):
        batch.energy(x[:1])
    for one in (body, batch):
        with pytest.raises(ShapeError, match="direction: got shape"):
            one.hessian_product(x, p[:1])
    with pytest.raises(ShapeError, match="values for 3 environments, expected 2"):
        ElasticBatch(SMALL, Material(young=[1.0, 2.0, 3.0]), num_envs=2)
    with pytest.raises(ShapeError, match="values for 3 environments, expected 2"):
        ElasticBody(SMALL, Material(young=[1.0, 2.0, 3.0])).energy(x)
    with pytest.raises(ModelError, match="num_envs: got 0"):
        ElasticBatch(SMALL, Material(), num_envs=0)
    with pytest.raises(ModelError, match="arap: got poisson"):
        ElasticBatch(SMALL, Material(), "arap")


@pytest.mark.parametrize("name", ["cube_base", "triangle_base"])
def test_converged_reference_is_in_balance(reference_fields: Path, name: str) -> None:
    """An independent solver's converged positions: no force inside, its load on the back plate."""
    with np.load(reference_fields / f"{name}.npz") as stored:
        parameters = json.loads(str(stored["params"]))
        displacement = stored["node_u"].astype(np.float64) * 1e-3
        load = stored["force_uN"] * 1e-6
    gel = structured_gel()
    frames = len(displacement)
    values = Material(young=parameters["E"], poisson=parameters["nu"])
    body = ElasticBatch(gel, values, "neo-hookean", num_envs=frames)
    forces = body.forces(gel.nodes + displacement)
    reaction = forces[:, gel.back].sum(axis=1)
    # What the indenter presses into the gel (that is what the files hold: F_z < 0 under pressure),
    # the gel passes on to its back plate.
    scale = np.linalg.norm(load, axis=1, keepdims=True)
    assert np.abs((reaction - load) / scale).max() < 1e-5
    is_inner = np.ones(len(gel.nodes), dtype=bool)
    is_inner[gel.surface] = False
    residual = np.abs(forces[:, is_inner]).max(axis=(1, 2))
    # Its stated tolerance: 5e-6 mm² times Young's modulus.
    assert (residual < 5e-6 * 1e-6 * parameters["E"]).all()
