"""The main job on real tosses: better than MuJoCo calibrated on the same ones with equal effort."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="module")
def report(cube_tosses: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return the JSON report of the whole job, which all tests here share: about 40 CPU seconds."""
    folder = tmp_path_factory.mktemp("cube-toss")
    command = [sys.executable, "-m", "contactworks.crisp.cli", "run", "cube-toss"]
    command += ["--data", str(cube_tosses), "--json", "report.json", "--plot", "report.png"]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert (folder / "report.png").stat().st_size > 10_000
    found: dict[str, Any] = json.loads((folder / "report.json").read_text())
    return found


@pytest.mark.parametrize("error", ["position_error_percent", "rotation_error_deg"])
def test_is_better_than_calibrated_mujoco(report: dict[str, Any], error: str) -> None:
    assert report[error] < report[f"mujoco_{error}"]


@pytest.mark.parametrize("error", ["position_error_percent", "rotation_error_deg"])
@pytest.mark.parametrize("engine", ["", "mujoco_", "mujoco_defaults_"])
def test_intervals_enclose_the_errors(report: dict[str, Any], engine: str, error: str) -> None:
    low, high = report[f"{engine}{error}_interval"]
    assert 0.0 < low < report[f"{engine}{error}"] < high


@pytest.mark.parametrize(
    ("key", "measured_elsewhere", "tolerance"),
    [
        ("mujoco_defaults_position_error_percent", 45.9, 0.15),
        ("mujoco_defaults_rotation_error_deg", 31.0, 0.15),
        ("mujoco_position_error_percent", 6.9, 0.25),
        ("mujoco_rotation_error_deg", 10.5, 0.25),
    ],
)
def test_the_yardstick_is_the_known_one(
    report: dict[str, Any], key: str, measured_elsewhere: float, tolerance: float
) -> None:
    """MuJoCo's figures were measured before by other code, on other draws of the same tosses."""
    assert report[key] == pytest.approx(measured_elsewhere, rel=tolerance)


def test_report_tells_how_to_repeat_it(report: dict[str, Any]) -> None:
    assert report["command"] == "contactworks-crisp run cube-toss"
    assert report["seed"] == 0
    assert {"python", "numpy", "mujoco", "contactworks-crisp"} <= set(report["versions"])
