"""What the three commands have in common: help, exit status, complaints, report."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

COMMANDS = ("crisp", "clash", "tac2real")

# A small job of each, as a list of words; "--json" is added.
JOBS = {
    "crisp": "run oblique-slide --duration 0.5",
    "clash": "collect --count 20",
    "tac2real": "gel --cells 4 3 2",
}
WRONG = {
    "crisp": "run oblique-slide --duration -1",
    "clash": "collect --count 0",
    "tac2real": "gel --grading 0",
}


def run(package: str, words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", f"contactworks.{package}.cli", *words.split()]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("package", COMMANDS)
def test_help_tells_the_usage(package: str, tmp_path: Path) -> None:
    found = run(package, "--help", tmp_path)
    assert found.returncode == 0
    assert f"usage: contactworks-{package}" in found.stdout


@pytest.mark.parametrize("package", COMMANDS)
def test_help_does_not_wait_for_heavy_modules(package: str, tmp_path: Path) -> None:
    """``--help`` answers at once, so the parser must not load what only the commands need."""
    code = (
        "import sys\n"
        f"from contactworks.{package}.cli import main\n"
        "status = main(['--help'])\n"
        "print(status, *sys.modules, file=sys.stderr)"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    status, *modules = found.stderr.split()
    assert status == "0"
    heavy = {"torch", "taichi", "mujoco", "matplotlib", "scipy.optimize", "trimesh", "h5py", "cma"}
    assert not heavy & set(modules)


@pytest.mark.parametrize("package", COMMANDS)
def test_job_writes_the_common_report(package: str, tmp_path: Path) -> None:
    found = run(package, f"{JOBS[package]} --seed 3 --json report.json", tmp_path)
    assert found.returncode == 0, found.stderr
    report = json.loads((tmp_path / "report.json").read_text())
    assert {"command", "options", "seed", "versions", "metrics"} <= set(report)
    verbs = " ".join(word for word in JOBS[package].split(" --")[0].split())
    assert report["command"] == f"contactworks-{package} {verbs}"
    assert report["seed"] == 3
    assert report["versions"][f"contactworks-{package}"]
    assert [path.name for path in tmp_path.iterdir()] == ["report.json"]


@pytest.mark.parametrize("package", COMMANDS)
@pytest.mark.parametrize("kind", ["value", "option"])
def test_wrong_input_gets_one_line_and_status_2(package: str, kind: str, tmp_path: Path) -> None:
    words = WRONG[package] if kind == "value" else f"{JOBS[package]} --no-such-option 1"
    found = run(package, words, tmp_path)
    assert found.returncode == 2
    complaint = [line for line in found.stderr.splitlines() if line.strip()]
    # A progress bar may stand before the complaint.
    assert complaint[-1].startswith(f"contactworks-{package}: ")
    assert len(complaint[-1]) > len(f"contactworks-{package}: ") + 10
    assert "Traceback" not in found.stderr
    assert not list(tmp_path.iterdir())
