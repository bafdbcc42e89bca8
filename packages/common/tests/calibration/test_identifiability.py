from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from contactworks.common.calibration import (
    CalibrationProblem,
    CmaEs,
    IdentifiabilityOptions,
    Parameter,
    ParameterSpace,
    identifiability,
    profile,
)
from contactworks.common.errors import CalibrationError

MATRIX = np.array([[40.0, -12.0, 3.0], [-12.0, 90.0, 8.0], [3.0, 8.0, 25.0]])
PRIOR = 12.0 * np.eye(3)  # inverse variance of a uniform distribution on [0, 1]


def quadratic(offset: float, target: np.ndarray, matrix: np.ndarray) -> Callable[..., Any]:
    def loss(v: dict[str, float]) -> float:
        d = np.array(list(v.values())) - target
        return float(offset + 0.5 * d @ matrix @ d)

    return loss


def noise_of(values: np.ndarray) -> float:
    """A standard normal number that depends on every bit of ``values``."""
    digest = hashlib.sha256(values.tobytes()).digest()
    return float(np.random.default_rng(list(digest)).standard_normal())


@pytest.mark.parametrize("offset", [0.0, 1.0, -3.0])
def test_quadratic_gives_its_matrix_and_its_widths(
    unit_space: Callable[..., Any], offset: float
) -> None:
    problem = CalibrationProblem(
        unit_space("a", "b", "c"), quadratic(offset, np.array([0.4, 0.5, 0.6]), MATRIX)
    )
    report = identifiability(
        problem,
        {"a": 0.4, "b": 0.5, "c": 0.6},
        options=IdentifiabilityOptions(threshold=0.02),
    )
    np.testing.assert_allclose(report.hessian, MATRIX, atol=1e-6 * (1 + abs(offset)))
    np.testing.assert_allclose(report.eigenvalues, np.linalg.eigvalsh(MATRIX), rtol=1e-6)
    posterior = np.linalg.inv(MATRIX / 0.04 + PRIOR)
    np.testing.assert_allclose(report.widths, np.sqrt(np.diag(posterior)), rtol=1e-5)
    held = 1.0 / np.sqrt(np.diag(MATRIX) / 0.04 + 12.0)
    np.testing.assert_allclose(report.conditional_widths, held, rtol=1e-5)
    assert report.verdicts == ("identified",) * 3
    assert report.free_directions == ()
    assert report.threshold == 0.02
    assert report.is_minimum


def test_hessian_is_in_normalized_coordinates() -> None:
    space = ParameterSpace(
        [Parameter("k", "N/m", 1e2, 1e6, "log"), Parameter("x", "m", -5.0, 15.0)]
    )
    problem = CalibrationProblem(
        space, lambda v: 1.0 + np.log10(v["k"] / 3e3) ** 2 + 0.05 * (v["x"] - 2.0) ** 2
    )
    report = identifiability(problem, {"k": 3e3, "x": 2.0})
    # Four decades and twenty metres: second derivatives 2 * 4^2 and 0.1 * 20^2.
    np.testing.assert_allclose(report.hessian, np.diag([32.0, 40.0]), rtol=1e-6, atol=1e-5)


def test_absent_parameter_is_found(unit_space: Callable[..., Any]) -> None:
    problem = CalibrationProblem(
        unit_space("a", "idle", "b"),
        lambda v: 0.2 + 5.0 * (v["a"] - 0.3) ** 2 + 9.0 * (v["b"] - 0.8) ** 2,
    )
    result = CmaEs(800).run(problem, rng=0)
    report = result.identifiability
    assert report is not None
    assert report.verdicts == ("identified", "not informed", "identified")
    assert report.widths[1] == pytest.approx(1.0 / np.sqrt(12.0), rel=1e-3)
    assert len(report.free_directions) == 1
    assert list(report.free_directions[0]) == ["idle"]
    assert "not informed along: +1.00 idle" in result.summary()


@pytest.mark.parametrize("offset", [0.0, 0.05])
@pytest.mark.parametrize("at", [(1.0, 1.0), (4.0, 0.25), (10.0, 0.1)])
def test_only_the_product_matters(offset: float, at: tuple[float, float]) -> None:
    """Along ln(a) + ln(b) = const nothing changes; (10, 0.1) is a corner of the box."""
    space = ParameterSpace(
        [
            Parameter("a", "1", 0.1, 10.0, "log"),
            Parameter("b", "1", 0.1, 40.0, "log"),
            Parameter("c", "1", 0.0, 1.0),
        ]
    )
    problem = CalibrationProblem(
        space, lambda v: offset + (v["a"] * v["b"] - 1.0) ** 2 + (v["c"] - 0.4) ** 2
    )
    report = identifiability(problem, {"a": at[0], "b": at[1], "c": 0.4})
    assert report.verdicts == ("weak", "weak", "identified")
    (direction,) = report.free_directions
    expected = np.array([np.log(400.0), -np.log(100.0)])
    expected /= np.linalg.norm(expected)
    assert direction["a"] == pytest.approx(expected[0], abs=0.03)
    assert direction["b"] == pytest.approx(expected[1], abs=0.03)


def test_bent_valley_is_not_taken_for_curvature() -> None:
    """On linear scales the valley a b = 1 is a hyperbola: a straight line leaves it."""
    space = ParameterSpace([Parameter("a", "1", 0.5, 2.0), Parameter("b", "1", 0.4, 2.5)])
    problem = CalibrationProblem(space, lambda v: 1e-3 + (v["a"] * v["b"] - 1.0) ** 2)
    report = identifiability(problem, {"a": 0.8, "b": 1.25})
    assert report.verdicts == ("weak", "weak")
    (direction,) = report.free_directions
    tangent = np.array([0.8 / 1.5, -1.25 / 2.1])
    tangent /= np.linalg.norm(tangent)
    found = np.array([direction["a"], direction["b"]])
    assert abs(found @ tangent) == pytest.approx(1.0, abs=1e-3)


def test_widths_are_the_spread_of_repeated_experiments(vector: Callable[..., Any]) -> None:
    """The oracle: fit the same line to 400 sets of noisy data and look how the answers spread."""
    generator = np.random.default_rng(8)
    design = np.column_stack([np.ones(30), np.linspace(0.0, 1.0, 30)])
    sigma, truth = 0.3, np.array([1.0, 2.0])
    data = design @ truth + sigma * generator.standard_normal((400, 30))
    answers = np.array([np.linalg.lstsq(design, row, rcond=None)[0] for row in data])
    space = ParameterSpace([Parameter(n, "1", -10.0, 10.0) for n in ("offset", "slope")])

    def residuals_of(row: np.ndarray) -> Callable[[dict[str, float]], np.ndarray]:
        return lambda v: design @ vector(v) - row

    widths = []
    for row, answer in zip(data[:60], answers, strict=False):
        problem = CalibrationProblem(space, residuals=residuals_of(row))
        report = identifiability(problem, space.to_dict(answer))
        widths.append(20.0 * report.widths)
    np.testing.assert_allclose(np.mean(widths, axis=0), answers.std(axis=0), rtol=0.1)


def test_residuals_give_gauss_newton(
    unit_space: Callable[..., Any], vector: Callable[..., Any]
) -> None:
    jacobian = np.random.default_rng(4).random((9, 3))
    target = np.array([0.2, 0.5, 0.9])
    problem = CalibrationProblem(
        unit_space("a", "b", "c"),
        residuals=lambda v: np.append(jacobian @ (vector(v) - target), 0.05),
    )
    report = identifiability(problem, {"a": 0.2, "b": 0.5, "c": 0.9})
    np.testing.assert_allclose(report.hessian, jacobian.T @ jacobian, atol=1e-9)
    assert report.threshold == pytest.approx(0.5 * 0.05**2 / (10 - 3))


def test_residuals_with_a_product(unit_space: Callable[..., Any]) -> None:
    problem = CalibrationProblem(
        unit_space("a", "b", "c"),
        residuals=lambda v: [v["a"] * v["b"] - 0.3, v["c"] - 0.4, 0.01, -0.01, 0.01],
    )
    report = identifiability(problem, {"a": 0.6, "b": 0.5, "c": 0.4})
    assert report.verdicts == ("weak", "weak", "identified")
    (direction,) = report.free_directions
    assert direction["a"] / direction["b"] == pytest.approx(-0.6 / 0.5, rel=1e-2)


@pytest.mark.parametrize("seed", range(8))
def test_noise_is_not_taken_for_information(unit_space: Callable[..., Any], seed: int) -> None:
    """Noise of 1e-3 with a curvature that makes 0.25 over half a range."""
    matrix = np.diag([2.0, 20.0, 0.0])
    smooth = quadratic(0.05, np.array([0.3, 0.7, 0.0]), matrix)

    def loss(v: dict[str, float]) -> float:
        return float(smooth(v) + 1e-3 * noise_of(np.array([*v.values(), seed])))

    result = CmaEs(400).run(CalibrationProblem(unit_space("a", "b", "idle"), loss), rng=seed)
    report = result.identifiability
    assert report is not None
    assert report.verdicts == ("identified", "identified", "not informed")
    assert 3e-4 < report.noise < 3e-3
    assert report.hessian[0, 0] == pytest.approx(2.0, rel=0.3)
    assert report.hessian[1, 1] == pytest.approx(20.0, rel=0.3)


def test_smooth_loss_has_no_noise(unit_space: Callable[..., Any]) -> None:
    problem = CalibrationProblem(
        unit_space("a", "b"), lambda v: float(np.exp(np.sin(5 * v["a"]) + v["b"]))
    )
    report = identifiability(problem, {"a": 0.5, "b": 0.5})
    # What is left of the fourth derivative at the spacing of 0.002, beside losses of about 3.
    assert report.noise < 1e-7


def test_value_pressed_against_a_bound_is_identified(unit_space: Callable[..., Any]) -> None:
    problem = CalibrationProblem(unit_space("a", "b"), lambda v: 1.0 + 2.0 * v["a"] - 2.0 * v["b"])
    report = identifiability(problem, {"a": 0.0, "b": 1.0})
    assert report.verdicts == ("identified", "identified")
    # The loss rises by the threshold of 0.05 over 0.025 of the range.
    assert np.all((report.widths > 0.005) & (report.widths < 0.06))


def test_kink_at_the_minimum_is_identified(unit_space: Callable[..., Any]) -> None:
    """Mean absolute errors have a kink where data and model agree exactly."""
    problem = CalibrationProblem(
        unit_space("a", "b"), lambda v: abs(v["a"] - 0.3) + 3.0 * abs(v["b"] - 0.6)
    )
    report = identifiability(problem, {"a": 0.3, "b": 0.6})
    assert report.verdicts == ("identified", "identified")


def test_weak_parameter_is_weak(unit_space: Callable[..., Any]) -> None:
    """Half its range costs two and a half thresholds."""
    problem = CalibrationProblem(
        unit_space("a", "b"),
        lambda v: 1.0 + 20.0 * (v["a"] - 0.5) ** 2 + 0.2 * (v["b"] - 0.5) ** 2,
    )
    report = identifiability(problem, {"a": 0.5, "b": 0.5}, options=IdentifiabilityOptions(0.02))
    assert report.verdicts == ("identified", "weak")
    assert report.widths[1] == pytest.approx(1.0 / np.sqrt(12.0 + 0.4 / 0.04), rel=1e-4)


def test_parameter_that_cannot_be_moved_is_undetermined(unit_space: Callable[..., Any]) -> None:
    def loss(v: dict[str, float]) -> float:
        if v["b"] != 0.5:
            raise ValueError("diverged")
        return 1.0 + 30.0 * (v["a"] - 0.5) ** 2

    report = identifiability(CalibrationProblem(unit_space("a", "b"), loss), {"a": 0.5, "b": 0.5})
    assert report.verdicts == ("identified", "undetermined")


def test_one_failing_side_is_enough(unit_space: Callable[..., Any]) -> None:
    def loss(v: dict[str, float]) -> float:
        return 1.0 + 30.0 * (v["a"] - 0.5) ** 2 if v["a"] <= 0.5 else float("nan")

    report = identifiability(CalibrationProblem(unit_space("a"), loss), {"a": 0.5})
    assert report.verdicts == ("identified",)
    assert report.hessian[0, 0] == pytest.approx(60.0, rel=1e-6)


def test_point_that_is_no_minimum_is_named(unit_space: Callable[..., Any]) -> None:
    problem = CalibrationProblem(unit_space("a", "b"), quadratic(1.0, np.ones(2), 50 * np.eye(2)))
    report = identifiability(problem, {"a": 0.2, "b": 0.2})
    assert not report.is_minimum
    assert "the search had not ended" in report.summary()


def test_flat_loss_informs_nothing(unit_space: Callable[..., Any]) -> None:
    report = identifiability(
        CalibrationProblem(unit_space("a", "b"), lambda v: 0.0), {"a": 0.5, "b": 0.5}
    )
    assert report.verdicts == ("not informed", "not informed")


def test_wrong_input_is_refused(unit_space: Callable[..., Any]) -> None:
    problem = CalibrationProblem(unit_space("a"), lambda v: 0.0)
    with pytest.raises(CalibrationError, match="unknown"):
        identifiability(problem, {"z": 0.5})
    with pytest.raises(CalibrationError, match="threshold"):
        IdentifiabilityOptions(threshold=0.0)
    with pytest.raises(CalibrationError, match="rise"):
        IdentifiabilityOptions(rise=float("nan"))
    failing = CalibrationProblem(unit_space("a"), lambda v: float("nan"))
    with pytest.raises(CalibrationError, match="first generation"):
        identifiability(failing, {"a": 0.5})


def test_profile_of_a_quadratic_is_its_schur_complement(unit_space: Callable[..., Any]) -> None:
    target = np.array([0.4, 0.5, 0.6])
    problem = CalibrationProblem(unit_space("a", "b", "c"), quadratic(1.0, target, MATRIX))
    values = [0.3, 0.35, 0.4, 0.45]
    found = profile(
        problem, {"a": 0.4, "b": 0.5, "c": 0.6}, "a", points=values, method=CmaEs(600), rng=0
    )
    stiffness = 1.0 / np.linalg.inv(MATRIX)[0, 0]
    expected = 1.0 + 0.5 * stiffness * (np.array(values) - 0.4) ** 2
    np.testing.assert_allclose(found.losses, expected, atol=1e-6)
    assert found.interval(0.5 * stiffness * 0.06**2) == (0.35, 0.45)
    others = -np.linalg.solve(MATRIX[1:, 1:], MATRIX[1:, 0]) * (values[0] - 0.4)
    np.testing.assert_allclose(list(found.others[0].values()), target[1:] + others, atol=1e-3)


def test_profile_follows_a_bent_valley() -> None:
    space = ParameterSpace([Parameter("a", "1", 0.5, 2.0), Parameter("b", "1", 0.4, 2.5)])
    problem = CalibrationProblem(space, residuals=lambda v: [v["a"] * v["b"] - 1.0])
    found = profile(problem, {"a": 1.0, "b": 1.0}, "a", points=7, rng=0)
    np.testing.assert_allclose(found.losses, 0.0, atol=1e-12)
    assert found.interval(1e-9) == (0.5, 2.0)
    np.testing.assert_allclose([o["b"] for o in found.others], 1.0 / found.values, rtol=1e-5)


def test_profile_refuses(unit_space: Callable[..., Any]) -> None:
    alone = CalibrationProblem(unit_space("a"), lambda v: 0.0)
    with pytest.raises(CalibrationError, match="at least two"):
        profile(alone, {"a": 0.5}, "a")
    pair = CalibrationProblem(unit_space("a", "b"), lambda v: 0.0)
    with pytest.raises(CalibrationError, match="'z'"):
        profile(pair, {"a": 0.5, "b": 0.5}, "z")
    with pytest.raises(CalibrationError, match="points"):
        profile(pair, {"a": 0.5, "b": 0.5}, "a", points=1)
