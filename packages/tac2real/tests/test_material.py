"""Values, ranges and Lamé's parameters of a material."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contactworks.common.errors import ModelError, ShapeError
from contactworks.tac2real import Material


def test_lame_parameters_of_the_reference_gel() -> None:
    mu, la = Material(young=1e5, poisson=0.45).lame()
    assert mu == pytest.approx(1e5 / 2.9, rel=1e-15)
    assert la == pytest.approx(0.45e5 / (1.45 * 0.1), rel=1e-14)


@given(young=st.floats(1.0, 1e9), poisson=st.floats(0.0, 0.499))
def test_lame_parameters_give_back_young_and_poisson(young: float, poisson: float) -> None:
    mu, la = Material(young=young, poisson=poisson).lame()
    assert mu * (3 * la + 2 * mu) / (la + mu) == pytest.approx(young, rel=1e-12)
    assert la / (2 * (la + mu)) == pytest.approx(poisson, rel=1e-12, abs=1e-15)


def test_numbers_and_arrays_mix() -> None:
    material = Material(young=[1e4, 2e4, 3e4], poisson=0.4, friction=np.array([0, 1, 2]))
    assert material.num_envs == 3
    mu, la = material.lame_of_envs(3)
    np.testing.assert_allclose(mu, np.array([1e4, 2e4, 3e4]) / 2.8)
    assert la.shape == (3,)
    assert Material().num_envs is None
    assert np.ptp(Material().lame_of_envs(5)[0]) == 0.0


def test_arrays_are_copied_and_read_only() -> None:
    young = np.array([1e4, 2e4])
    material = Material(young=young)
    young[0] = -1.0
    assert np.asarray(material.young)[0] == 1e4
    with pytest.raises(ValueError, match="read-only"):
        np.asarray(material.young)[0] = 1.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        material.poisson = 0.3  # type: ignore[misc]


def test_equality_compares_values() -> None:
    assert Material() == Material(young=100000)
    assert Material(young=[1.0, 2.0]) == Material(young=[1.0, 2.0])
    assert Material(young=[1.0, 2.0]) != Material(young=[1.0, 3.0])
    assert Material() != "material"


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"young": 0.0}, "young: got 0.0, expected finite and above 0"),
        ({"young": [1e5, np.nan]}, r"young\[1\]: got nan"),
        ({"young": np.inf}, "young: got inf"),
        ({"poisson": 0.5}, r"poisson: got 0.5, expected finite and in \[0, 0.5\)"),
        ({"poisson": -0.1}, "poisson"),
        ({"density": -1.0}, "density"),
        ({"friction": [0.0, 1.0, -1.0]}, r"friction\[2\]: got -1.0"),
        ({"young": "soft"}, "young: got 'soft', expected a number"),
    ],
)
def test_values_out_of_range_are_named(values: dict[str, object], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        Material(**values)  # type: ignore[arg-type]


def test_arrays_of_other_lengths_are_refused() -> None:
    with pytest.raises(ShapeError, match="'young': 2, 'poisson': 3"):
        Material(young=[1.0, 2.0], poisson=[0.1, 0.2, 0.3])
    with pytest.raises(ShapeError, match="young: got shape"):
        Material(young=np.ones((2, 2)))
    with pytest.raises(ShapeError, match="young: got shape"):
        Material(young=[])
    with pytest.raises(ShapeError, match="values for 2 environments, expected 3"):
        Material(young=[1.0, 2.0]).lame_of_envs(3)
