from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from contactworks.common.calibration import CalibrationProblem, CmaEs, GridSearch, Status
from contactworks.common.errors import CalibrationError, ShapeError


def test_problem_needs_something_to_evaluate(unit_space: Callable[..., Any]) -> None:
    with pytest.raises(CalibrationError, match="no loss"):
        CalibrationProblem(unit_space("x"))
    with pytest.raises(CalibrationError, match="gradient without a loss"):
        CalibrationProblem(unit_space("x"), residuals=lambda v: [0.0], gradient=lambda v: [0.0])
    with pytest.raises(CalibrationError, match="expected a function"):
        CalibrationProblem(unit_space("x"), loss=3.0)  # type: ignore[arg-type]
    with pytest.raises(CalibrationError, match="expected a ParameterSpace"):
        CalibrationProblem(["x"], loss=lambda v: 0.0)  # type: ignore[arg-type]


def test_batch_and_single_give_the_same_history(unit_space: Callable[..., Any]) -> None:
    space = unit_space("x", "y")
    sizes: list[int] = []

    def batch(values: np.ndarray) -> np.ndarray:
        sizes.append(len(values))
        return (values[:, 0] - 0.25) ** 2 + (values[:, 1] - 0.5) ** 2

    single = CalibrationProblem(space, lambda v: (v["x"] - 0.25) ** 2 + (v["y"] - 0.5) ** 2)
    first = GridSearch(5, batch_size=10).run(single, rng=0, identifiability=False)
    second = GridSearch(5, batch_size=10).run(
        CalibrationProblem(space, batch_loss=batch), rng=0, identifiability=False
    )
    assert np.array_equal(first.history.loss, second.history.loss)
    assert first.values == second.values == {"x": 0.25, "y": 0.5}
    assert sizes == [10, 10, 5]
    assert second.history.generation.tolist() == [0] * 10 + [1] * 10 + [2] * 5


def test_failures_cost_only_their_candidate(unit_space: Callable[..., Any]) -> None:
    def loss(values: dict[str, float]) -> float:
        x = values["x"]
        if x < 0.15:
            raise ArithmeticError(f"no contact at {x:.1f}")
        if x > 0.85:
            return math.nan
        return math.inf if x > 0.75 else (x - 0.4) ** 2

    problem = CalibrationProblem(unit_space("x"), loss)
    result = GridSearch(11).run(problem, rng=0, identifiability=False)
    assert result.values["x"] == pytest.approx(0.4)
    expected = [Status.ERROR] * 2 + [Status.OK] * 6 + [Status.INFINITE] + [Status.NAN] * 2
    assert result.history.status.tolist() == expected
    assert result.failures == 5
    assert len(result.messages) == 5
    assert "ArithmeticError: no contact at 0.0" in result.messages[0]
    assert "candidate 0 (x=0)" in result.messages[0]
    assert "failed: 2 nan, 1 infinite, 2 error" in result.summary()


def test_cma_finds_the_minimum_beside_failures(
    unit_space: Callable[..., Any], vector: Callable[..., Any]
) -> None:
    target = np.array([0.3, 0.6])

    def loss(values: dict[str, float]) -> float:
        if values["a"] + values["b"] > 1.0:
            raise ValueError("unstable")
        return float(np.sum((vector(values) - target) ** 2))

    result = CmaEs(600).run(
        CalibrationProblem(unit_space("a", "b"), loss), rng=2, identifiability=False
    )
    assert result.failures > 0
    np.testing.assert_allclose(vector(result.values), target, atol=1e-6)


@pytest.mark.parametrize("has_single", [True, False])
def test_batch_that_raises_is_repeated_singly(
    unit_space: Callable[..., Any], has_single: bool
) -> None:
    def batch(values: np.ndarray) -> np.ndarray:
        if (values[:, 0] == 1.0).any():
            raise RuntimeError("candidate diverged")
        return values[:, 0]

    def single(values: dict[str, float]) -> float:
        return float(batch(np.array([[values["x"]]]))[0])

    problem = CalibrationProblem(unit_space("x"), single if has_single else None, batch_loss=batch)
    result = GridSearch(3).run(problem, rng=0, identifiability=False)
    assert result.history.status.tolist() == [Status.OK, Status.OK, Status.ERROR]
    assert result.history.loss[:2].tolist() == [0.0, 0.5]
    assert "candidate diverged" in result.messages[0]


def test_batch_of_the_wrong_shape_is_an_error(unit_space: Callable[..., Any]) -> None:
    problem = CalibrationProblem(unit_space("x"), batch_loss=lambda values: values)
    with pytest.raises(CalibrationError) as caught:
        GridSearch(3).run(problem)
    assert isinstance(caught.value.__cause__, ShapeError)


def test_all_of_the_first_generation_failing_raises_the_cause(
    unit_space: Callable[..., Any],
) -> None:
    cause = FileNotFoundError("mesh.obj")

    def loss(values: dict[str, float]) -> float:
        raise cause

    with pytest.raises(CalibrationError, match=r"all 6 .* first generation.*mesh.obj") as caught:
        CmaEs(population=6).run(CalibrationProblem(unit_space("x", "y"), loss))
    assert caught.value.__cause__ is cause
    with pytest.raises(CalibrationError, match="loss nan"):
        GridSearch(3).run(CalibrationProblem(unit_space("x"), lambda v: math.nan))


def test_a_later_generation_may_fail_altogether(unit_space: Callable[..., Any]) -> None:
    count = 0

    def loss(values: dict[str, float]) -> float:
        nonlocal count
        count += 1
        if count > 4:
            raise ValueError("licence expired")
        return values["x"]

    problem = CalibrationProblem(unit_space("x"), loss)
    result = GridSearch(12, batch_size=4).run(problem, rng=0, identifiability=False)
    assert result.failures == 8
    assert result.loss == result.history.loss[:4].min()


def test_a_corner_that_fails_does_not_stop_a_grid(unit_space: Callable[..., Any]) -> None:
    """In the order of the grid the whole first generation would lie at a = 0."""
    problem = CalibrationProblem(
        unit_space("a", "b"), lambda v: (v["a"] - 0.8) ** 2 + v["b"] if v["a"] > 0.1 else math.nan
    )
    result = GridSearch(21, batch_size=20).run(problem, rng=0, identifiability=False)
    assert result.values == pytest.approx({"a": 0.8, "b": 0.0})
    assert result.failures == 3 * 21


def test_a_loss_that_is_no_number_counts_as_a_failure(unit_space: Callable[..., Any]) -> None:
    problem = CalibrationProblem(unit_space("x"), lambda v: None if v["x"] > 0.9 else v["x"])
    result = GridSearch(3).run(problem, rng=0, identifiability=False)
    assert result.history.status.tolist() == [Status.OK, Status.OK, Status.ERROR]


def test_interrupt_is_not_a_failure(unit_space: Callable[..., Any]) -> None:
    def loss(values: dict[str, float]) -> float:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        GridSearch(3).run(CalibrationProblem(unit_space("x"), loss))


def test_residuals_alone_serve_any_method(unit_space: Callable[..., Any]) -> None:
    problem = CalibrationProblem(
        unit_space("x"), residuals=lambda v: [v["x"] - 0.5, 2.0 * (v["x"] - 0.5)]
    )
    result = GridSearch(5).run(problem, rng=0, identifiability=False)
    np.testing.assert_allclose(
        result.history.loss, [2.5 * (x - 0.5) ** 2 for x in (0.0, 0.25, 0.5, 0.75, 1.0)]
    )


def test_fix_holds_parameters(unit_space: Callable[..., Any]) -> None:
    space = unit_space("a", "b", "c")

    def total(v: dict[str, float]) -> float:
        return v["a"] + 10 * v["b"] + 100 * v["c"]

    problem = CalibrationProblem(
        space,
        total,
        batch_loss=lambda rows: rows @ [1.0, 10.0, 100.0],
        residuals=lambda v: [total(v)],
        gradient=lambda v: [1.0, 10.0, 100.0],
    )
    part = problem.fix({"b": 0.5})
    assert part.space.names == ("a", "c")
    at = {"a": 0.1, "c": 0.2}
    assert part.loss is not None
    assert part.batch_loss is not None
    assert part.residuals is not None
    assert part.gradient is not None
    assert part.loss(at) == pytest.approx(25.1)
    assert part.batch_loss(np.array([[0.1, 0.2]])) == pytest.approx([25.1])
    assert part.residuals(at) == pytest.approx([25.1])
    assert np.asarray(part.gradient(at)).tolist() == [1.0, 100.0]


@pytest.mark.parametrize(
    ("held", "text"),
    [
        ({"a": 0.1, "b": 0.1}, "all parameters are held"),
        ({"z": 0.1}, "'z'"),
        ({"a": 2.0}, "'a'"),
        ({"a": math.nan}, "'a'"),
    ],
)
def test_fix_refuses(unit_space: Callable[..., Any], held: dict[str, float], text: str) -> None:
    problem = CalibrationProblem(unit_space("a", "b"), lambda v: 0.0)
    with pytest.raises(CalibrationError, match=text):
        problem.fix(held)
