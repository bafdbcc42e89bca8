from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.spatial.transform import Rotation

from contactworks.common.errors import ModelError, ShapeError
from contactworks.common.metrics import (
    accuracy,
    bootstrap_interval,
    paired_bootstrap,
    relative_error,
    rotation_error,
)


def test_relative_error_by_hand() -> None:
    observed = np.array([[3.0, 4.0], [0.0, 2.0]])
    predicted = np.array([[3.0, 3.0], [1.0, 2.0]])
    np.testing.assert_allclose(relative_error(predicted, observed), [1.0 / 5.0, 0.5])
    np.testing.assert_allclose(relative_error(predicted[0], observed[0]), 0.2)


def test_relative_error_scales_components() -> None:
    """With L = 0.5 the spin of 4 rad/s counts as 2 m/s."""
    observed, predicted = np.array([[1.0, 2.0, 4.0]]), np.array([[1.0, 2.0, 5.0]])
    error = relative_error(predicted, observed, scale=[1.0, 1.0, 0.5])
    np.testing.assert_allclose(error, 0.5 / 3.0)


def test_relative_error_of_rest_is_zero_or_infinite() -> None:
    error = relative_error([[0.0, 0.0], [1e-9, 0.0]], [[0.0, 0.0], [0.0, 0.0]])
    assert error.tolist() == [0.0, math.inf]


@given(st.floats(1e-3, 1e3), st.integers(0, 1000))
def test_relative_error_has_no_unit(factor: float, seed: int) -> None:
    generator = np.random.default_rng(seed)
    a, b = generator.standard_normal((2, 5, 3))
    np.testing.assert_allclose(
        relative_error(factor * a, factor * b), relative_error(a, b), rtol=1e-10
    )


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_nan_is_refused_everywhere(bad: float) -> None:
    good, broken = np.ones((2, 3)), np.array([[1.0, 1.0, 1.0], [1.0, bad, 1.0]])
    for predicted, observed, name in ((broken, good, "predicted"), (good, broken, "observed")):
        with pytest.raises(ModelError, match=rf"{name}\[1, 1\]"):
            relative_error(predicted, observed)
        with pytest.raises(ModelError, match=name):
            accuracy(predicted, observed, 0.1, length_scale=0.1)
    with pytest.raises(ModelError, match="finite"):
        rotation_error([1.0, bad, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0])
    with pytest.raises(ModelError, match="finite"):
        bootstrap_interval([1.0, bad, 2.0])
    with pytest.raises(ModelError, match="finite"):
        paired_bootstrap([1.0, 2.0], [bad, 2.0])


def test_wrong_shapes_are_refused() -> None:
    with pytest.raises(ShapeError, match="as observed"):
        relative_error(np.ones((3, 2)), np.ones((2, 2)))
    with pytest.raises(ShapeError, match=r"\(n, 3\)|\.\.\., 3"):
        accuracy(np.ones((2, 7)), np.ones((2, 7)), 0.1, length_scale=0.1)
    with pytest.raises(ShapeError, match="length_scale"):
        accuracy(np.ones((2, 3)), np.ones((2, 3)), 0.1, length_scale=[0.1, 0.2, 0.3])
    with pytest.raises(ModelError, match="scale"):
        relative_error(np.ones((1, 2)), np.ones((1, 2)), scale=[1.0, 0.0])


def test_accuracy_counts_strictly_below_alpha() -> None:
    observed = np.tile([4.0, 0.0, 0.0], (4, 1))
    predicted = observed + np.array([[0.0, 0.0, 0.0], [0.25, 0, 0], [0.5, 0, 0], [1.0, 0, 0]])
    # Relative errors 0, 1/16, 1/8 and 1/4, all exact in binary.
    assert accuracy(predicted, observed, 0.125, length_scale=0.05) == 0.5
    assert accuracy(predicted, observed, 0.126, length_scale=0.05) == 0.75


def test_accuracy_depends_on_the_length_scale() -> None:
    observed, predicted = np.array([[1.0, 0.0, 10.0]]), np.array([[1.0, 0.0, 12.0]])
    assert accuracy(predicted, observed, 0.1, length_scale=0.04) == 1.0  # 0.08 / 1.077
    assert accuracy(predicted, observed, 0.1, length_scale=0.2) == 0.0  # 0.4 / 2.236
    both = accuracy(
        np.tile(predicted, (2, 1)), np.tile(observed, (2, 1)), 0.1, length_scale=[0.04, 0.2]
    )
    assert both == 0.5


def test_accuracy_has_no_default_length_and_refuses_nonsense() -> None:
    with pytest.raises(TypeError):
        accuracy(np.ones((1, 3)), np.ones((1, 3)), 0.1)  # type: ignore[call-arg]
    for kwargs in ({"length_scale": 0.0}, {"length_scale": -1.0}):
        with pytest.raises(ModelError, match="scale"):
            accuracy(np.ones((1, 3)), np.ones((1, 3)), 0.1, **kwargs)
    with pytest.raises(ModelError, match="alpha"):
        accuracy(np.ones((1, 3)), np.ones((1, 3)), 0.0, length_scale=1.0)
    with pytest.raises(ModelError, match="no samples"):
        accuracy(np.ones((0, 3)), np.ones((0, 3)), 0.1, length_scale=1.0)


def test_rotation_error_against_scipy() -> None:
    first, second = Rotation.random(200, rng=1), Rotation.random(200, rng=2)
    a, b = first.as_quat(scalar_first=True), second.as_quat(scalar_first=True)
    expected = (first.inv() * second).magnitude()
    np.testing.assert_allclose(rotation_error(a, b), expected, atol=1e-12)
    np.testing.assert_allclose(rotation_error(-a, b), expected, atol=1e-12)


def test_rotation_error_is_exact_for_small_angles() -> None:
    """An arc cosine of the dot product would give zero here."""
    angle = 1e-9
    q = [math.cos(angle / 2), 0.0, math.sin(angle / 2), 0.0]
    assert rotation_error([1.0, 0.0, 0.0, 0.0], q) == pytest.approx(angle, rel=1e-9)


def test_rotation_error_takes_rounded_and_refuses_other_quaternions() -> None:
    assert rotation_error([1.0004, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]) == 0.0
    with pytest.raises(ModelError, match=r"observed\[1\].*unit length"):
        rotation_error([1.0, 0.0, 0.0, 0.0], [[1.0, 0.0, 0.0, 0.0], [1.0, 1.0, 0.0, 0.0]])


def test_bootstrap_agrees_with_scipy() -> None:
    values = np.random.default_rng(3).gamma(2.0, size=80)
    found = bootstrap_interval(values, confidence=0.9, samples=6000, rng=0)
    oracle = stats.bootstrap(
        (values,), np.mean, confidence_level=0.9, n_resamples=6000, method="percentile", rng=1
    ).confidence_interval
    error = values.std() / np.sqrt(80)
    assert found.estimate == values.mean()
    assert found.low == pytest.approx(oracle.low, abs=0.1 * error)
    assert found.high == pytest.approx(oracle.high, abs=0.1 * error)


def test_bootstrap_covers_the_truth_as_often_as_it_says() -> None:
    generator = np.random.default_rng(0)
    hits = 0
    for _ in range(200):
        found = bootstrap_interval(
            generator.normal(3.0, 1.0, 40), confidence=0.8, samples=300, rng=generator
        )
        hits += found.low <= 3.0 <= found.high
    # Binomial: 160 +- 5.7; the percentile interval is a little narrow at 40 values.
    assert 140 <= hits <= 177


def test_frames_of_a_toss_are_not_independent() -> None:
    """All frames of a toss are equal, so 60 frames tell no more than one."""
    tosses = np.random.default_rng(1).normal(size=50)
    frames = np.repeat(tosses[:, None], 60, axis=1)
    grouped = bootstrap_interval(frames, rng=5)
    single = bootstrap_interval(tosses, rng=5)
    naive = bootstrap_interval(frames.ravel(), samples=500, rng=5)
    assert grouped.low == pytest.approx(single.low)
    assert grouped.high == pytest.approx(single.high)
    assert naive.high - naive.low < 0.3 * (single.high - single.low)


def test_groups_of_unequal_length_and_other_statistics() -> None:
    groups = [[1.0], [2.0, 2.0, 2.0], [3.0]]
    assert bootstrap_interval(groups, rng=0).estimate == 2.0
    found = bootstrap_interval(groups, np.median, rng=0)
    assert {found.low, found.high} <= {1.0, 1.5, 2.0, 2.5, 3.0}
    assert found.low <= found.estimate <= found.high


def test_paired_bootstrap_sees_a_small_steady_gain() -> None:
    """B is worse by 0.1 +- 0.1 on every toss, while tosses differ by 3: only pairing sees it."""
    generator = np.random.default_rng(2)
    hard = generator.normal(10.0, 3.0, 60)
    a, b = hard, hard + generator.normal(0.1, 0.1, 60)
    found = paired_bootstrap(a, b, rng=0)
    assert found.probability_a_better > 0.999
    assert found.high < 0.0
    assert found.difference == pytest.approx((a - b).mean())
    swapped = paired_bootstrap(b, a, rng=0)
    assert swapped.probability_a_better == pytest.approx(1.0 - found.probability_a_better)
    equal = paired_bootstrap(a, a, rng=0)
    assert equal.probability_a_better == 0.5
    assert (equal.low, equal.high) == (0.0, 0.0)


def test_bootstrap_is_seeded_and_refuses_nonsense() -> None:
    values = np.arange(10.0)
    assert bootstrap_interval(values, rng=7) == bootstrap_interval(
        values, rng=np.random.default_rng(7)
    )
    with pytest.raises(ModelError, match="at least two"):
        bootstrap_interval([1.0])
    with pytest.raises(ModelError, match=r"values\[1\].*empty"):
        bootstrap_interval([[1.0], []])
    with pytest.raises(ModelError, match="confidence"):
        bootstrap_interval(values, confidence=1.0)
    with pytest.raises(ModelError, match="samples"):
        bootstrap_interval(values, samples=0)
    with pytest.raises(ModelError, match="statistic"):
        bootstrap_interval(values, lambda v: math.nan)
    with pytest.raises(ShapeError, match="groups"):
        paired_bootstrap([1.0, 2.0], [1.0, 2.0, 3.0])
