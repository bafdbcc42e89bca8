"""The whole job on made tosses: split, calibration, comparison, report, picture, command."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from contactworks.common.errors import ModelError
from contactworks.crisp.cli import main
from contactworks.crisp.tosses.crisp_predictor import CrispPredictor
from contactworks.crisp.tosses.metric import measure
from contactworks.crisp.tosses.start_velocity import correct_start, velocity_lag
from contactworks.crisp.tosses.study import Study, StudyOptions, calibrate, loss, run_study, split
from contactworks.crisp.tosses.synthetic import hidden_parameters, synthetic_tosses
from contactworks.crisp.tosses.window import window


@pytest.fixture(scope="module")
def small_study() -> Study:
    tosses, _ = synthetic_tosses(6, seed=3)
    return run_study(tosses, StudyOptions(seed=1, evaluations=12, calibration_tosses=2))


def test_split_is_a_shuffle_without_overlap() -> None:
    known, new = split(150, StudyOptions(seed=4))
    assert (len(known), len(new)) == (10, 100)
    assert len(set(known) | set(new)) == 110
    again, _ = split(150, StudyOptions(seed=4))
    other, _ = split(150, StudyOptions(seed=5))
    assert known.tolist() == again.tolist() != other.tolist()
    assert len(split(40, StudyOptions())[1]) == 30  # all that are left


@pytest.mark.parametrize(
    "change", [{"evaluations": 11}, {"seed": -1}, {"predicted_tosses": 1}, {"steps_per_frame": 0}]
)
def test_options_out_of_range_are_refused(change: dict[str, int]) -> None:
    with pytest.raises(ModelError, match=next(iter(change))):
        StudyOptions(**change)


def test_too_few_tosses_are_refused() -> None:
    with pytest.raises(ModelError, match="got 11, expected at least 12"):
        split(11, StudyOptions())


def test_made_tosses_repeat_with_the_seed() -> None:
    (a, hidden_a), (b, hidden_b) = (synthetic_tosses(2, seed=1, frames=10) for _ in range(2))
    (c, hidden_c) = synthetic_tosses(2, seed=2, frames=10)
    assert hidden_a == hidden_b != hidden_c
    assert a.tosses[1].position.tobytes() == b.tosses[1].position.tobytes()
    assert not np.array_equal(a.tosses[1].position, c.tosses[1].position)
    with pytest.raises(ModelError, match="at least 1"):
        synthetic_tosses(0)


def test_made_tosses_look_like_tracked_ones() -> None:
    tosses, _ = synthetic_tosses(20, seed=0, frames=8)  # flight
    acceleration = np.mean(
        [np.polyfit(tosses.dt * np.arange(8), t.position[:, 2], 2)[0] * 2 for t in tosses.tosses]
    )
    assert acceleration == pytest.approx(-9.81, abs=0.5)
    backward = [
        np.diff(t.position, axis=0) / tosses.dt - t.linear_velocity[1:] for t in tosses.tosses
    ]
    np.testing.assert_allclose(np.concatenate(backward), 0.0, atol=1e-9)
    assert velocity_lag(tosses) == pytest.approx(0.5 * tosses.dt, rel=0.05)
    spins = np.array([np.linalg.norm(t.angular_velocity, axis=1).mean() for t in tosses.tosses])
    assert 1.4 < spins.min() < spins.max() < 6.6


def test_hidden_parameters_can_be_found_within_the_bounds() -> None:
    space = CrispPredictor(True).space
    for seed in range(20):
        hidden = hidden_parameters(np.random.default_rng(seed))
        assert (np.abs(space.normalize(space.from_dict(hidden)) - 0.5) < 0.5).all()


def test_hidden_parameters_predict_better_than_wrong_ones() -> None:
    tosses, hidden = synthetic_tosses(6, seed=0)
    seen = correct_start(window(tosses), velocity_lag(tosses))
    predictor = CrispPredictor(True)
    true = loss(measure(seen, predictor.predict(seen, hidden)))
    for name, value in (("friction", 0.45), ("inertia_scale", 0.8), ("mass_center_x", -0.012)):
        wrong = loss(measure(seen, predictor.predict(seen, hidden | {name: value})))
        assert wrong > 1.3 * true


def test_calibration_finds_hidden_friction_and_table() -> None:
    tosses, hidden = synthetic_tosses(4, seed=0, frames=45)
    seen = correct_start(window(tosses, starts=(2, 8, 14), frames=25), velocity_lag(tosses))
    predictor = CrispPredictor(True)
    begin = dict(zip(predictor.space.names, predictor.space.initial, strict=True))
    result = calibrate(predictor, seen, evaluations=200, seed=0)
    assert result.loss < 0.6 * loss(measure(seen, predictor.predict(seen, begin)))
    assert result.values["friction"] == pytest.approx(hidden["friction"], rel=0.25)
    assert result.values["table_height"] == pytest.approx(hidden["table_height"], abs=2.5e-3)


def test_study_is_complete_and_repeats(small_study: Study) -> None:
    assert set(small_study.outcomes) == {
        "crisp",
        "crisp_basic",
        "mujoco",
        "mujoco_mass_center",
        "mujoco_defaults",
    }
    assert not set(small_study.calibrated) & set(small_study.predicted)
    for key, outcome in small_study.outcomes.items():
        if key == "mujoco_defaults":
            assert outcome.calibration is None
        else:
            assert outcome.calibration is not None
            assert 0 < outcome.calibration.evaluations <= 12
    tosses, _ = synthetic_tosses(6, seed=3)
    again = run_study(tosses, StudyOptions(seed=1, evaluations=12, calibration_tosses=2))
    for key, outcome in small_study.outcomes.items():
        assert outcome.summary == again.outcomes[key].summary
        assert dict(outcome.values) == dict(again.outcomes[key].values)


def test_prediction_never_looks_at_what_comes_later() -> None:
    tosses, _ = synthetic_tosses(2, seed=5, frames=30)
    seen = window(tosses)
    blind = window(tosses)
    blind.position[:, 1:], blind.quaternion[:, 1:] = np.nan, np.nan
    predictor = CrispPredictor(False)
    values = dict(zip(predictor.space.names, predictor.space.initial, strict=True))
    a, b = predictor.predict(seen, values), predictor.predict(blind, values)
    assert a.position.tobytes() == b.position.tobytes()


def test_command_writes_figures_and_picture(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report, picture = tmp_path / "out.json", tmp_path / "out.png"
    options = ["--evaluations", "12", "--tosses", "3", "--seed", "2"]
    code = main(["run", "cube-toss", *options, "--json", str(report), "--plot", str(picture)])
    assert code == 0
    assert "tosses are made" in capsys.readouterr().out
    content = json.loads(report.read_text())
    assert content["seed"] == 2
    assert set(content["metrics"]["engines"]) >= {"crisp", "mujoco", "mujoco_defaults"}
    for prefix in ("", "mujoco_", "mujoco_mass_center_", "mujoco_defaults_"):
        for name in ("position_error_percent", "rotation_error_deg"):
            low, high = content[f"{prefix}{name}_interval"]
            assert low <= content[f"{prefix}{name}"] <= high
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out.json", "out.png"]


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (["--data", "nowhere.npz"], "nowhere.npz"),
        (["--evaluations", "3"], "evaluations: got 3"),
        (["--evaluations", "many"], "many"),
        (["--plot", "picture.txt"], "picture.txt"),
    ],
)
def test_wrong_input_ends_with_status_two_and_one_line(
    arguments: list[str], fault: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "cube-toss", *arguments]) == 2
    lines = capsys.readouterr().err.strip().splitlines()
    assert len(lines) == 1
    assert fault in lines[0]
