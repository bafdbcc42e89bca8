"""Windows, errors and the lag of velocities, against values that can be worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from contactworks.common.errors import ModelError, ShapeError
from contactworks.crisp.tosses.data import Toss, TossSet
from contactworks.crisp.tosses.metric import Prediction, compare, measure
from contactworks.crisp.tosses.start_velocity import correct_start, velocity_lag
from contactworks.crisp.tosses.window import window

DT = 0.01


def falling(frames: int, name: str = "0", share: float = 0.0) -> Toss:
    """Return a fall with a thrust; ``share`` 0: central, 1: backward differences as velocity."""
    time = DT * np.arange(-1, frames + 1)
    path = np.stack([time, 0.5 * time**3, 1.0 - 0.5 * 9.81 * time**2], axis=1)
    backward = np.diff(path, axis=0) / DT
    central = 0.5 * (backward[1:] + backward[:-1])
    turn = np.zeros((frames, 4))
    turn[:, 0] = 1.0
    velocity = central + share * (backward[:-1] - central)
    return Toss(name, path[1:-1], turn, velocity, np.zeros((frames, 3)))


def gather(*tosses: Toss) -> TossSet:
    return TossSet(tosses, DT, 0.05, 0.37, "test")


def test_window_starts_at_frame_two_and_ends_with_the_toss() -> None:
    long, short = falling(80, "long"), falling(10, "short")
    seen = window(gather(long, short))
    assert seen.frames.tolist() == [60, 7]
    np.testing.assert_array_equal(seen.position[0, 0], long.position[2])
    np.testing.assert_array_equal(seen.position[0, 60], long.position[62])
    np.testing.assert_array_equal(seen.position[1, 7], short.position[9])
    assert np.isnan(seen.position[1, 8:]).all()
    assert seen.is_predicted.sum(axis=1).tolist() == [60, 7]


def test_window_of_several_starts_leaves_out_what_is_over() -> None:
    seen = window(gather(falling(20, "a"), falling(9, "b")), starts=(2, 8), frames=5)
    assert seen.frames.tolist() == [5, 5, 5]  # frame 8 is the last of b
    with pytest.raises(ModelError, match=r"\[30\]"):
        window(gather(falling(20)), starts=(30,))


def test_errors_of_a_shifted_and_turned_prediction() -> None:
    seen = window(gather(falling(80), falling(10)))
    position = seen.position + np.array([0.006, 0.0, 0.008])  # 10 mm; the cube is 100 mm wide
    half = np.radians(30.0) / 2.0
    quaternion = np.broadcast_to([-np.cos(half), 0.0, -np.sin(half), 0.0], seen.quaternion.shape)
    errors = measure(seen, Prediction(position, np.ascontiguousarray(quaternion)))
    assert np.isnan(errors.position_percent[1, 7:]).all()
    assert np.isnan(errors.rotation_deg[1, 7:]).all()
    assert errors.mean_position_percent == pytest.approx(10.0)
    assert errors.mean_rotation_deg == pytest.approx(30.0)
    summary = errors.summary()
    assert summary.position_percent.low == pytest.approx(10.0)
    assert summary.rotation_deg.high == pytest.approx(30.0)


def test_every_frame_weighs_alike() -> None:
    seen = window(gather(falling(80), falling(10)))
    position = seen.position.copy()
    position[0] += np.array([0.01, 0.0, 0.0])
    errors = measure(seen, Prediction(position, seen.quaternion))
    assert errors.mean_position_percent == pytest.approx(10.0 * 60 / 67)


def test_start_itself_does_not_count() -> None:
    seen = window(gather(falling(80), falling(80)))
    position = seen.position.copy()
    position[:, 0] += 1.0
    assert measure(seen, Prediction(position, seen.quaternion)).mean_position_percent == 0.0


def test_comparison_knows_who_is_better() -> None:
    rng = np.random.default_rng(0)
    seen = window(gather(*(falling(30, str(i)) for i in range(12))))
    far = seen.position + 0.02 * rng.standard_normal((12, 1, 3))
    near = 0.5 * (far + seen.position)
    ours = measure(seen, Prediction(near, seen.quaternion))
    theirs = measure(seen, Prediction(far, seen.quaternion))
    pairs = compare(ours, theirs)
    assert pairs["position_percent"].probability_a_better == 1.0
    assert pairs["position_percent"].difference == pytest.approx(
        -0.5 * theirs.mean_position_percent
    )
    assert pairs["rotation_deg"].difference == 0.0
    assert compare(theirs, ours)["position_percent"].probability_a_better == 0.0


@pytest.mark.parametrize("share", [0.0, 0.4, 1.0])
def test_lag_is_half_a_frame_for_backward_differences(share: float) -> None:
    tosses = gather(falling(40, share=share), falling(20, share=share))
    assert velocity_lag(tosses) == pytest.approx(0.5 * share * DT, abs=1e-12)


def test_corrected_start_is_the_true_velocity() -> None:
    tosses = gather(falling(40, share=1.0))
    start = correct_start(window(tosses), velocity_lag(tosses))
    assert start.linear_velocity[0, 2] == pytest.approx(-9.81 * 2 * DT, abs=1e-12)
    assert start.linear_velocity[0, 0] == pytest.approx(1.0)


def test_sets_refuse_what_cannot_be() -> None:
    good = falling(10)
    with pytest.raises(ModelError, match=r"TossSet\.mass"):
        TossSet((good,), DT, 0.05, 0.0, "test")
    with pytest.raises(ModelError, match=r"TossSet\.tosses"):
        TossSet((), DT, 0.05, 0.37, "test")
    bad = Toss("7", good.position, good.quaternion[:, :3], good.position, good.position)
    with pytest.raises(ShapeError, match="toss 7, quaternion"):
        gather(bad)
