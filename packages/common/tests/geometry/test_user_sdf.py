"""Signed distance functions of a user: evaluation, bounds and checks."""

from __future__ import annotations

import logging
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contactworks.common.errors import GeometryError, ShapeError
from contactworks.common.geometry import Sdf, sdf
from contactworks.common.geometry._sdf_bounds import TOLERANCE


def ball(x: float, y: float, z: float, p: np.ndarray) -> float:
    return math.sqrt(x * x + y * y + z * z) - float(p[0])


def ball_gradient(x: float, y: float, z: float, p: np.ndarray) -> tuple[float, float, float]:
    length = math.sqrt(x * x + y * y + z * z)
    return x / length, y / length, z / length


def box(x: float, y: float, z: float, p: np.ndarray) -> float:
    """Return the exact distance to a box of half size p[:3] about p[3:6]."""
    a, b, c = abs(x - p[3]) - p[0], abs(y - p[4]) - p[1], abs(z - p[5]) - p[2]
    outside = math.sqrt(max(a, 0.0) ** 2 + max(b, 0.0) ** 2 + max(c, 0.0) ** 2)
    return float(outside + min(max(a, b, c), 0.0))


def half_space(x: float, y: float, z: float, p: np.ndarray) -> float:
    return z


def test_evaluation_is_that_of_the_scalar_function() -> None:
    shape = Sdf(ball, parameters=[0.3])
    x = np.random.default_rng(0).normal(size=(200, 3))
    exact, gradient = sdf.sphere_sdf(x, 0.3)
    distance, slope = shape.signed_distance(x)
    np.testing.assert_allclose(distance, exact, atol=1e-15)
    np.testing.assert_allclose(slope, gradient, atol=1e-7)
    given_slope = Sdf(ball, gradient=ball_gradient, parameters=[0.3]).signed_distance(x)[1]
    np.testing.assert_allclose(given_slope, gradient, atol=1e-15)


@pytest.mark.parametrize("scale", [1e-6, 1e-3, 1.0, 1e3])
def test_differences_keep_their_accuracy_at_any_size(scale: float) -> None:
    x = np.random.default_rng(0).normal(size=(100, 3)) * scale
    exact = sdf.sphere_sdf(x, scale)[1]
    bounds = ([-scale] * 3, [scale] * 3)
    for shape in (Sdf(ball, parameters=[scale]), Sdf(ball, parameters=[scale], bounds=bounds)):
        # Without bounds the step is never below 1e-10 m: 1e-4 of a shape of a micrometre.
        tolerance = 1e-6 if scale > 1e-5 or shape.bounds is not None else 1e-3
        np.testing.assert_allclose(shape.signed_distance(x)[1], exact, atol=tolerance)


sizes = st.floats(0.01, 1.0)
places = st.floats(-2.0, 2.0)


@settings(max_examples=25, deadline=None)
@given(half=st.tuples(sizes, sizes, sizes), center=st.tuples(places, places, places))
def test_bounds_hold_the_shape_and_are_tight(
    half: tuple[float, ...], center: tuple[float, ...]
) -> None:
    lower, upper = Sdf(box, parameters=[*half, *center]).bounding_box()
    true_lower, true_upper = np.array(center) - half, np.array(center) + half
    assert (lower <= true_lower).all()
    assert (upper >= true_upper).all()
    slack = 2 * TOLERANCE * max(half)  # a share of the largest extent
    assert (true_lower - lower).max() <= slack
    assert (upper - true_upper).max() <= slack


@pytest.mark.parametrize("scale", [1e-5, 1.0, 1e4])
def test_bounds_do_not_depend_on_the_scale(scale: float) -> None:
    lower, upper = Sdf(ball, parameters=[scale]).bounding_box()
    assert (np.abs([lower, upper]) >= scale).all()
    assert (np.abs([lower, upper]) <= (1 + 2 * TOLERANCE) * scale).all()


def test_bounds_allow_for_steep_functions() -> None:
    # Three times the distance: taken for a distance, it would prove cells empty that are not.
    def steep(x: float, y: float, z: float, p: np.ndarray) -> float:
        return 3.0 * box(x, y, z, p)

    lower, upper = Sdf(steep, parameters=[0.4, 0.1, 0.2, 0.3, 0.0, 0.0]).bounding_box()
    assert (lower <= [-0.1, -0.1, -0.2]).all()
    assert (upper >= [0.7, 0.1, 0.2]).all()


def test_given_bounds_are_used() -> None:
    shape = Sdf(half_space, bounds=((-1, -2, -3), (4, 5, 6)))
    np.testing.assert_array_equal(shape.bounding_box(), [[-1, -2, -3], [4, 5, 6]])


def test_shapes_without_bounds_are_refused() -> None:
    with pytest.raises(GeometryError, match=r"unbounded.*give the bounds"):
        Sdf(half_space).bounding_box()
    with pytest.raises(GeometryError, match="no point inside"):
        Sdf(lambda x, y, z, p: ball(x, y, z, [0.0]) + 0.5).bounding_box()


def test_check_reports_slopes(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        good = Sdf(ball, gradient=ball_gradient, parameters=[0.3]).check(rng=1)
    assert not caplog.records
    assert good.is_lower_bound
    assert good.lipschitz == pytest.approx(1.0, abs=1e-6)
    assert good.median_slope == pytest.approx(1.0, abs=1e-6)
    assert good.gradient_error < 1e-6
    assert -0.3 <= good.least < 0.0 < good.greatest
    with caplog.at_level(logging.WARNING):
        steep = Sdf(lambda x, y, z, p: 2.5 * ball(x, y, z, p), parameters=[0.3]).check(rng=1)
    assert steep.lipschitz == pytest.approx(2.5, abs=1e-5)
    assert not steep.is_lower_bound
    assert "slope found is 2.5" in caplog.text


def test_check_finds_a_wrong_gradient() -> None:
    def wrong(x: float, y: float, z: float, p: np.ndarray) -> tuple[float, float, float]:
        a, b, c = ball_gradient(x, y, z, p)
        return -a, b, c

    report = Sdf(ball, gradient=wrong, parameters=[0.3]).check()
    assert report.gradient_error > 0.5


def test_check_repeats_with_the_seed() -> None:
    shape = Sdf(ball, parameters=[0.3])
    assert shape.check(rng=3) == shape.check(rng=np.random.default_rng(3))
    assert shape.check(rng=3) != shape.check(rng=4)


def test_non_finite_values_name_the_point() -> None:
    def holey(x: float, y: float, z: float, p: np.ndarray) -> float:
        return float("nan") if x > 1.0 else x

    def steep(x: float, y: float, z: float, p: np.ndarray) -> tuple[float, float, float]:
        return float("inf"), 0.0, 0.0

    with pytest.raises(
        GeometryError, match=r"holey: got nan at point \[2\.0, 0\.0, 0\.0\] \(1 of 2"
    ):
        Sdf(holey).evaluate([[0, 0, 0], [2, 0, 0]])
    with pytest.raises(GeometryError, match=r"Sdf\.gradient steep: got .*inf"):
        Sdf(holey, gradient=steep).signed_distance([[0, 0, 0]])


def test_wrong_fields_are_refused() -> None:
    with pytest.raises(GeometryError, match=r"Sdf\.function: got 3"):
        Sdf(3)  # type: ignore[arg-type]
    with pytest.raises(GeometryError, match=r"Sdf\.gradient: got 3"):
        Sdf(ball, gradient=3)  # type: ignore[arg-type]
    with pytest.raises(GeometryError, match=r"Sdf\.parameters\[0\] is nan"):
        Sdf(ball, parameters=[np.nan])
    with pytest.raises(ShapeError, match=r"Sdf\.parameters"):
        Sdf(ball, parameters=[[1.0, 2.0]])
    with pytest.raises(GeometryError, match="expected lower below upper"):
        Sdf(ball, bounds=([0, 0, 0], [1, 0, 1]))
    with pytest.raises(GeometryError, match=r"Sdf\.bounds: got 1"):
        Sdf(ball, bounds=([0, 0, 0],))  # type: ignore[arg-type]
    with pytest.raises(GeometryError, match="count: got 0"):
        Sdf(ball, parameters=[0.3]).check(count=0)
    with pytest.raises(GeometryError, match=r"got complex values, expected floats"):
        Sdf(lambda x, y, z, p: 1j).evaluate([[0, 0, 0]])
    with pytest.raises(GeometryError, match="expected three floats"):
        Sdf(ball, lambda x, y, z, p: (1.0, 2.0), [1.0]).signed_distance([[0, 0, 0]])
