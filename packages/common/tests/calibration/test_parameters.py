from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contactworks.common.calibration import Parameter, ParameterSpace
from contactworks.common.errors import CalibrationError, ShapeError

MIXED = ParameterSpace(
    [
        Parameter("mu", "1", -0.5, 1.5),
        Parameter("stiffness", "N/m", 1e2, 1e6, "log"),
        Parameter("damping", "N s/m", 1e-3, 1e3, "log", initial=2.0),
    ]
)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("", "1", 0.0, 1.0), "name"),
        ((3, "1", 0.0, 1.0), "name"),
        (("x", "", 0.0, 1.0), "unit"),
        (("x", "1", 1.0, 1.0), "lower < upper"),
        (("x", "1", 2.0, 1.0), "lower < upper"),
        (("x", "1", math.nan, 1.0), "finite"),
        (("x", "1", 0.0, math.inf), "finite"),
        (("x", "1", -1e308, 1e308), "lower < upper"),
        (("x", "1", "low", 1.0), "lower: got 'low', expected a number"),
        (("x", "1", 0.0, 1.0, "log"), "log scale"),
        (("x", "1", -1.0, 1.0, "log"), "log scale"),
        (("x", "1", 0.0, 1.0, "square"), "'linear' or 'log'"),
        (("x", "1", 0.0, 1.0, "linear", 1.1), "initial"),
        (("x", "1", 0.0, 1.0, "linear", math.nan), "initial"),
    ],
)
def test_parameter_refuses(arguments: tuple[object, ...], text: str) -> None:
    with pytest.raises(CalibrationError, match=text):
        Parameter(*arguments)  # type: ignore[arg-type]


def test_space_refuses_duplicates_and_nothing() -> None:
    x = Parameter("x", "1", 0.0, 1.0)
    with pytest.raises(CalibrationError, match=r"\['x'\] more than once"):
        ParameterSpace([x, Parameter("y", "1", 0.0, 1.0), x])
    with pytest.raises(CalibrationError, match="no parameters"):
        ParameterSpace([])
    with pytest.raises(CalibrationError, match="expected a Parameter"):
        ParameterSpace(["x"])  # type: ignore[list-item]


def test_map_has_the_stated_formula() -> None:
    values = MIXED.denormalize([0.25, 0.5, 0.75])
    expected = [-0.5 + 0.25 * 2.0, 1e4, 10.0 ** (-3 + 0.75 * 6)]
    np.testing.assert_allclose(values, expected, rtol=1e-13)
    np.testing.assert_allclose(MIXED.normalize(values), [0.25, 0.5, 0.75], atol=1e-15)


def test_ends_are_the_exact_bounds() -> None:
    ends = MIXED.denormalize([[0.0] * 3, [1.0] * 3])
    assert ends[0].tolist() == MIXED.lower.tolist()
    assert ends[1].tolist() == MIXED.upper.tolist()
    assert MIXED.normalize(ends).tolist() == [[0.0] * 3, [1.0] * 3]


@given(st.lists(st.lists(st.floats(0.0, 1.0), min_size=3, max_size=3), min_size=1, max_size=5))
def test_round_trip_stays_inside(rows: list[list[float]]) -> None:
    unit = np.array(rows)
    values = MIXED.denormalize(unit)
    assert values.shape == unit.shape
    assert np.all((values >= MIXED.lower) & (values <= MIXED.upper))
    np.testing.assert_allclose(MIXED.normalize(values), unit, atol=1e-13)


@pytest.mark.parametrize("bad", [-0.01, 1.01, math.nan, math.inf])
def test_outside_is_refused_by_name(bad: float) -> None:
    with pytest.raises(CalibrationError, match=r"'stiffness'.*\[1, 1\]"):
        MIXED.denormalize([[0.5, 0.5, 0.5], [0.5, bad, 0.5]])
    with pytest.raises(CalibrationError, match=r"'mu'.*expected one in"):
        MIXED.normalize([bad + math.copysign(5.0, bad), 1e3, 1.0])


def test_wrong_width_is_refused() -> None:
    with pytest.raises(ShapeError, match="expected"):
        MIXED.denormalize(np.zeros((4, 2)))


def test_initial_is_middle_unless_given() -> None:
    np.testing.assert_allclose(MIXED.initial, [0.5, 1e4, 2.0], rtol=1e-13)


def test_slope_is_the_derivative() -> None:
    unit, step = np.array([0.3, 0.6, 0.2]), 1e-6
    difference = (MIXED.denormalize(unit + step) - MIXED.denormalize(unit - step)) / (2 * step)
    np.testing.assert_allclose(MIXED.slope(unit), difference, rtol=1e-8)


def test_dict_views() -> None:
    values = {"damping": 4.0, "mu": 0.1, "stiffness": 1e3}
    array = MIXED.from_dict(values)
    assert array.tolist() == [0.1, 1e3, 4.0]
    assert MIXED.to_dict(array) == values
    with pytest.raises(CalibrationError, match=r"missing \['mu'\], unknown \['mue'\]"):
        MIXED.from_dict({"mue": 0.1, "stiffness": 1e3, "damping": 1.0})
    with pytest.raises(CalibrationError, match=r"'mu'.*finite"):
        MIXED.from_dict({**values, "mu": math.nan})


def test_lookup_and_subset() -> None:
    assert MIXED["damping"].unit == "N s/m"
    assert MIXED.subset(["damping", "mu"]).names == ("damping", "mu")
    assert len(MIXED) == 3
    assert [p.name for p in MIXED] == list(MIXED.names)
    with pytest.raises(CalibrationError, match="'speed'"):
        MIXED.index("speed")


def test_sample_is_uniform_in_the_logarithm() -> None:
    sample = MIXED.sample(4000, rng=1)
    unit = MIXED.normalize(sample)
    # Standard error of the mean of a uniform variable: 1 / sqrt(12 n) = 0.0046.
    np.testing.assert_allclose(unit.mean(axis=0), 0.5, atol=0.02)
    np.testing.assert_allclose(unit.var(axis=0), 1 / 12, atol=0.005)
    assert np.array_equal(sample, MIXED.sample(4000, rng=np.random.default_rng(1)))
