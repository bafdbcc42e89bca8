from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from contactworks.common.calibration import (
    Alternating,
    Block,
    CalibrationProblem,
    CmaEs,
    GradientDescent,
    GridSearch,
    LeastSquares,
    Method,
    Objective,
    Parameter,
    ParameterSpace,
    SearchMethod,
)
from contactworks.common.errors import CalibrationError

WIDE = ParameterSpace([Parameter("x", "1", -2.0, 2.0), Parameter("y", "1", -1.0, 3.0)])
LOG = ParameterSpace(
    [Parameter("k", "N/m", 1e2, 1e6, "log"), Parameter("c", "N s/m", 1e-3, 1e1, "log")]
)
ALL_METHODS = [
    GridSearch(3),
    CmaEs(60),
    LeastSquares(60),
    GradientDescent(60),
    Alternating([Block(["x"], GridSearch(3)), Block(["y"], CmaEs(20))], sweeps=2),
]


def rosenbrock(v: dict[str, float]) -> float:
    return (1.0 - v["x"]) ** 2 + 100.0 * (v["y"] - v["x"] ** 2) ** 2


def rosenbrock_gradient(v: dict[str, float]) -> list[float]:
    bend = v["y"] - v["x"] ** 2
    return [-2.0 * (1.0 - v["x"]) - 400.0 * v["x"] * bend, 200.0 * bend]


def rosenbrock_residuals(v: dict[str, float]) -> list[float]:
    return [np.sqrt(2.0) * (1.0 - v["x"]), np.sqrt(200.0) * (v["y"] - v["x"] ** 2)]


ROSENBROCK = CalibrationProblem(
    WIDE, rosenbrock, residuals=rosenbrock_residuals, gradient=rosenbrock_gradient
)


def log_residuals(v: dict[str, float]) -> list[float]:
    return [
        np.log10(v["k"] / 3e4),
        2.0 * np.log10(v["c"] / 0.05),
        np.log10(v["k"] * v["c"] / 1.5e3),
    ]


@pytest.mark.parametrize("method", ALL_METHODS, ids=lambda m: m.name)
def test_every_method_has_the_common_shape(method: SearchMethod) -> None:
    assert isinstance(method, Method)
    result = method.run(ROSENBROCK, rng=3, identifiability=False)
    inside = (result.history.values >= WIDE.lower) & (result.history.values <= WIDE.upper)
    assert inside.all()
    assert result.loss == result.history.loss.min()
    assert result.method == method.name
    assert result.options == method.options()
    assert result.seed == 3
    again = method.run(ROSENBROCK, rng=3, identifiability=False)
    assert np.array_equal(result.history.values, again.history.values)
    assert np.array_equal(result.history.loss, again.history.loss)


def test_grid_finds_the_known_optimum() -> None:
    """x in -2, -1, 0, 1, 2 and y in -1 ... 3: the minimum (1, 1) is a point of the grid."""
    result = GridSearch(5).run(ROSENBROCK, rng=0, identifiability=False)
    assert result.values == {"x": 1.0, "y": 1.0}
    assert result.loss == 0.0
    assert result.evaluations == 25
    assert np.unique(result.history.values[:, 0]).tolist() == [-2.0, -1.0, 0.0, 1.0, 2.0]


def test_grid_of_given_values_and_counts() -> None:
    problem = CalibrationProblem(LOG, residuals=log_residuals)
    grid = GridSearch({"k": [1e3, 3e4, 5e5], "c": 5})
    result = grid.run(problem, rng=0, identifiability=False)
    np.testing.assert_allclose(np.unique(result.history.values[:, 0]), [1e3, 3e4, 5e5], rtol=1e-12)
    np.testing.assert_allclose(
        np.unique(result.history.values[:, 1]), [1e-3, 1e-2, 1e-1, 1.0, 1e1], rtol=1e-12
    )
    assert result.values["k"] == pytest.approx(3e4)
    middle = GridSearch({"k": 1, "c": 2}).run(problem, rng=0, identifiability=False)
    assert middle.history.values[:, 0] == pytest.approx([1e4, 1e4])


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: GridSearch(batch_size=0), "batch_size"),
        (lambda: GridSearch(0), "points of 'x'"),
        (lambda: GridSearch({"x": 3}), "expected"),
        (lambda: GridSearch({"x": 3, "y": []}), "got none"),
        (lambda: GridSearch({"x": 3, "y": [9.0]}), "'y'"),
        (lambda: GridSearch(2000), "at most 1000000"),
        (lambda: CmaEs(sigma=0.0), "sigma"),
        (lambda: CmaEs(population=2), "population"),
        (lambda: CmaEs(evaluations=3), "at least one generation of 6"),
        (lambda: CmaEs(step_tolerance=-1.0), "step_tolerance"),
        (lambda: LeastSquares(0), "evaluations"),
        (lambda: LeastSquares(difference_step=0.6), "difference_step"),
        (lambda: LeastSquares(tolerance=0.0), "tolerance"),
        (lambda: GradientDescent(tolerance=0.0), "tolerance"),
        (lambda: Alternating([]), "no blocks"),
        (lambda: Alternating([Block(["x"], CmaEs()), Block(["x"], CmaEs())]), "two blocks"),
        (lambda: Alternating([Block(["x"], GridSearch(3))]), r"expected \['x', 'y'\]"),
        (lambda: Alternating([Block(["x"], GridSearch(3))], sweeps=0), "sweeps"),
        (lambda: Block("x", CmaEs()), "list of names"),
        (lambda: Block(["x"], "cma-es"), "SearchMethod"),  # type: ignore[arg-type]
    ],
)
def test_wrong_options_are_refused(make: Callable[[], SearchMethod], text: str) -> None:
    with pytest.raises(CalibrationError, match=text):
        make().run(CalibrationProblem(WIDE, rosenbrock))


def test_cma_solves_rosenbrock() -> None:
    result = CmaEs(2000).run(ROSENBROCK, rng=0, identifiability=False)
    assert result.values["x"] == pytest.approx(1.0, abs=1e-6)
    assert result.values["y"] == pytest.approx(1.0, abs=1e-6)
    assert result.evaluations <= 2000


def test_cma_finds_log_parameters_over_four_decades() -> None:
    result = CmaEs(1500).run(
        CalibrationProblem(LOG, residuals=log_residuals), rng=1, identifiability=False
    )
    assert result.values["k"] == pytest.approx(3e4, rel=1e-5)
    assert result.values["c"] == pytest.approx(0.05, rel=1e-5)


def test_cma_reaches_a_minimum_on_the_bounds(unit_space: Callable[..., Any]) -> None:
    problem = CalibrationProblem(unit_space("a", "b"), lambda v: v["a"] - v["b"])
    result = CmaEs(1000).run(problem, rng=0, identifiability=False)
    assert result.values["a"] == pytest.approx(0.0, abs=1e-6)
    assert result.values["b"] == pytest.approx(1.0, abs=1e-6)


def test_cma_does_not_depend_on_the_size_of_the_loss(unit_space: Callable[..., Any]) -> None:
    """A loss in square metres may be 1e-12 all over; a fixed loss tolerance would stop at once."""
    problem = CalibrationProblem(
        unit_space("a", "b"),
        lambda v: 1e-20 * (v["a"] - v["b"] ** 2) ** 2 + 1e-20 * (v["b"] - 0.5) ** 2,
    )
    result = CmaEs(1000).run(problem, rng=0, identifiability=False)
    assert result.values["a"] == pytest.approx(0.25, abs=1e-5)


@pytest.mark.parametrize("target", [0.0, 0.7, 1.0])
def test_cma_takes_one_parameter(unit_space: Callable[..., Any], target: float) -> None:
    problem = CalibrationProblem(unit_space("a"), lambda v: (v["a"] - target) ** 2)
    for seed in range(8):
        result = CmaEs(300, sigma=0.5).run(problem, rng=seed, identifiability=False)
        assert result.values["a"] == pytest.approx(target, abs=1e-5)


def test_cma_leaves_the_global_generator_and_the_folder_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cma_signals.in").write_text("{'timeout': 0}")
    np.random.seed(3)  # noqa: NPY002
    result = CmaEs(120).run(ROSENBROCK, rng=0, identifiability=False)
    assert result.evaluations == 120
    assert np.random.random_sample() == np.random.RandomState(3).random_sample()  # noqa: NPY002
    assert os.listdir(tmp_path) == ["cma_signals.in"]


def test_cma_says_when_all_losses_are_equal(unit_space: Callable[..., Any]) -> None:
    problem = CalibrationProblem(unit_space("a", "b"), lambda v: 1.0)
    result = CmaEs(500).run(problem, rng=0, identifiability=False)
    assert result.stop_reason == "all losses equal"


def test_population_and_budget_are_kept() -> None:
    result = CmaEs(100, population=15).run(ROSENBROCK, rng=0, identifiability=False)
    assert np.bincount(result.history.generation).tolist() == [15] * 6


@pytest.mark.parametrize("method", [LeastSquares(), GradientDescent(5000)], ids=lambda m: m.name)
def test_local_methods_solve_rosenbrock(method: SearchMethod) -> None:
    result = method.run(ROSENBROCK, rng=0, start={"x": -1.2, "y": 1.0}, identifiability=False)
    assert result.values["x"] == pytest.approx(1.0, abs=1e-5)
    assert result.values["y"] == pytest.approx(1.0, abs=1e-5)
    assert result.history.values[0] == pytest.approx([-1.2, 1.0])


def test_least_squares_matches_linear_algebra(
    unit_space: Callable[..., Any], vector: Callable[..., Any]
) -> None:
    generator = np.random.default_rng(5)
    a, b = generator.random((20, 3)), generator.random(20)
    problem = CalibrationProblem(
        ParameterSpace([Parameter(n, "1", -5.0, 5.0) for n in "pqr"]),
        residuals=lambda v: a @ vector(v) - b,
    )
    result = LeastSquares().run(problem, rng=0, identifiability=False)
    exact, squares, *_ = np.linalg.lstsq(a, b, rcond=None)
    np.testing.assert_allclose(vector(result.values), exact, atol=1e-7)
    assert result.loss == pytest.approx(0.5 * squares[0], rel=1e-10)


@pytest.mark.parametrize("factor", [1.0, 1e-9, 1e9])
def test_least_squares_does_not_depend_on_the_size_of_residuals(factor: float) -> None:
    problem = CalibrationProblem(LOG, residuals=lambda v: factor * np.array(log_residuals(v)))
    result = LeastSquares().run(problem, rng=0, identifiability=False)
    assert result.values["k"] == pytest.approx(3e4, rel=1e-6)


def test_least_squares_survives_a_failing_difference(unit_space: Callable[..., Any]) -> None:
    """Nothing above the start can be evaluated, so every forward difference fails."""

    def residuals(v: dict[str, float]) -> list[float]:
        if v["a"] > 0.5 + 1e-12:
            raise ValueError("diverged")
        return [v["a"] - 0.2, 3.0 * (v["b"] - 0.9)]

    problem = CalibrationProblem(unit_space("a", "b"), residuals=residuals)
    result = LeastSquares().run(problem, rng=0, identifiability=False)
    assert result.failures > 0
    assert result.values == pytest.approx({"a": 0.2, "b": 0.9}, abs=1e-6)


def test_budgets_hold() -> None:
    for method in (LeastSquares(7), GradientDescent(7)):
        result = method.run(ROSENBROCK, rng=0, identifiability=False)
        assert result.evaluations <= 7
        assert result.stop_reason == "evaluations used up"


def test_gradient_descent_ends_on_a_bound_and_chains_logarithms() -> None:
    problem = CalibrationProblem(
        LOG,
        lambda v: np.log(v["k"] / 3e4) ** 2 + v["c"],
        gradient=lambda v: [2.0 * np.log(v["k"] / 3e4) / v["k"], 1.0],
    )
    result = GradientDescent().run(problem, rng=0, identifiability=False)
    assert result.values["k"] == pytest.approx(3e4, rel=1e-6)
    assert result.values["c"] == 1e-3
    assert result.stop_reason == "gradient tolerance"


def test_methods_say_what_the_problem_lacks() -> None:
    bare = CalibrationProblem(WIDE, rosenbrock)
    with pytest.raises(CalibrationError, match="no residuals"):
        LeastSquares().run(bare)
    with pytest.raises(CalibrationError, match="no gradient"):
        GradientDescent().run(bare)


def test_alternating_solves_a_coupled_quadratic(
    unit_space: Callable[..., Any], vector: Callable[..., Any]
) -> None:
    """Gauss-Seidel on a quadratic with a positive definite matrix converges to its minimum."""
    matrix = np.array([[2.0, 0.6, 0.3], [0.6, 1.5, 0.2], [0.3, 0.2, 1.0]])
    target = np.array([0.3, 0.6, 0.45])

    def loss(v: dict[str, float]) -> float:
        d = vector(v) - target
        return float(0.5 * d @ matrix @ d)

    method = Alternating(
        [Block(["c"], GridSearch(41)), Block(["b", "a"], CmaEs(200))], sweeps=12, tolerance=0.0
    )
    result = method.run(
        CalibrationProblem(unit_space("a", "b", "c"), loss), rng=0, identifiability=False
    )
    # 0.45 is a point of the grid of c, so the minimum itself can be reached.
    np.testing.assert_allclose(vector(result.values), target, atol=1e-4)


def test_alternating_never_gets_worse_and_stops(unit_space: Callable[..., Any]) -> None:
    problem = CalibrationProblem(
        unit_space("a", "b"), lambda v: 1.0 + (v["a"] - 0.25) ** 2 + (v["b"] - 0.75) ** 2
    )
    method = Alternating([Block(["a"], GridSearch(5)), Block(["b"], GridSearch(5))], sweeps=9)
    result = method.run(problem, rng=0, identifiability=False)
    assert result.values == {"a": 0.25, "b": 0.75}
    assert result.stop_reason == "no further improvement"
    assert result.evaluations == 2 * 10
    held = result.history.values
    assert (held[:5, 1] == 0.5).all()  # the start
    assert (held[5:10, 0] == 0.25).all()  # what the first block found


def test_own_method_by_subclass(unit_space: Callable[..., Any]) -> None:
    class RandomSearch(SearchMethod):
        name = "random"

        def search(self, objective: Objective, start: np.ndarray, rng: np.random.Generator) -> str:
            objective.losses(rng.random((50, start.size)))
            return "done"

    problem = CalibrationProblem(unit_space("a"), lambda v: (v["a"] - 0.5) ** 2)
    result = RandomSearch().run(problem, rng=0, identifiability=False)
    expected = np.random.default_rng(0).random((50, 1))
    assert np.array_equal(result.history.values, expected)


def test_seed_comes_from_any_kind_of_rng(unit_space: Callable[..., Any]) -> None:
    problem = CalibrationProblem(unit_space("a", "b"), lambda v: v["a"])
    generator = np.random.default_rng(7)
    first = CmaEs(12).run(problem, rng=generator, identifiability=False)
    second = CmaEs(12).run(problem, rng=generator, identifiability=False)
    assert first.seed != second.seed
    repeat = CmaEs(12).run(problem, rng=first.seed, identifiability=False)
    assert np.array_equal(first.history.values, repeat.history.values)
    fresh = [CmaEs(12).run(problem, identifiability=False).seed for _ in range(2)]
    assert fresh[0] != fresh[1]
    for bad in (-1, 1.5, True):
        with pytest.raises(CalibrationError, match="rng"):
            CmaEs(12).run(problem, rng=bad)  # type: ignore[arg-type]


def test_start_is_checked() -> None:
    with pytest.raises(CalibrationError, match="'x'"):
        CmaEs(12).run(ROSENBROCK, start={"x": 9.0, "y": 0.0})
