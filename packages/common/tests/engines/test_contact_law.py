from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from contactworks.common.engines._contact_law import (
    SMALLEST_RESTITUTION,
    damping_ratio_of_restitution,
    direct_solref,
    oscillator,
    restitution_of_damping_ratio,
)
from contactworks.common.errors import ModelError


def integrated_restitution(ratio: float) -> float:
    """Integrate x'' + 2 z x' + x = 0 from x = 0, x' = 1 until the force would pull."""

    def force(_: float, state: np.ndarray) -> float:
        return float(2.0 * ratio * state[1] + state[0])

    force.terminal = True  # type: ignore[attr-defined]
    force.direction = -1.0  # type: ignore[attr-defined]
    result = solve_ivp(
        lambda t, y: [y[1], -force(t, y)],
        (0.0, 200.0),
        [1e-12, 1.0],
        events=force,
        rtol=1e-10,
        atol=1e-13,
        method="DOP853",
    )
    return -float(result.y[1, -1])


@pytest.mark.parametrize("ratio", [0.01, 0.1, 0.5, math.sqrt(0.5), 0.95, 1.0, 1.05, 2.0, 6.0])
def test_restitution_is_that_of_the_oscillator(ratio: float) -> None:
    expected = integrated_restitution(ratio)
    assert restitution_of_damping_ratio(ratio) == pytest.approx(expected, rel=1e-6)


def test_limits_of_restitution() -> None:
    assert restitution_of_damping_ratio(0.0) == 1.0
    assert restitution_of_damping_ratio(math.inf) == 0.0
    near = [restitution_of_damping_ratio(1.0 + d) for d in (-1e-6, -1e-10, 1e-10, 1e-6)]
    assert near == pytest.approx([math.exp(-2.0)] * 4, rel=1e-5)


@given(st.floats(SMALLEST_RESTITUTION, 1.0))
def test_the_inverse_returns(restitution: float) -> None:
    ratio = damping_ratio_of_restitution(restitution)
    assert restitution_of_damping_ratio(ratio) == pytest.approx(restitution, rel=1e-9)


@pytest.mark.parametrize("value", [0.0, -0.1, 1.1, math.nan])
def test_the_inverse_refuses_what_it_cannot_give(value: float) -> None:
    with pytest.raises(ModelError, match="restitution"):
        damping_ratio_of_restitution(value)


def test_both_formats_of_solref_agree() -> None:
    rate, damping = oscillator(np.array([0.02, 0.7]))
    assert damping / (2.0 * math.sqrt(rate)) == pytest.approx(0.7)
    assert 1.0 / (0.7 * math.sqrt(rate)) == pytest.approx(0.02)
    direct = direct_solref(rate, 0.7)
    assert oscillator(np.array(direct)) == pytest.approx((rate, damping))
