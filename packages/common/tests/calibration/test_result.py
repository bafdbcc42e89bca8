from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure

from contactworks.common.calibration import (
    CalibrationProblem,
    CalibrationResult,
    CmaEs,
    Parameter,
    ParameterSpace,
)
from contactworks.common.errors import FileFormatError
from contactworks.common.records import write_record

SPACE = ParameterSpace(
    [Parameter("mu", "1", 0.0, 2.0), Parameter("stiffness", "N/m", 1e2, 1e6, "log")]
)


def loss(v: dict[str, float]) -> float:
    if v["mu"] > 1.8:
        raise ValueError("sticks")
    return float(0.1 + (v["mu"] - 0.6) ** 2 + np.log10(v["stiffness"] / 2e4) ** 2)


@pytest.fixture(scope="module")
def result() -> CalibrationResult:
    return CmaEs(240, sigma=0.5).run(CalibrationProblem(SPACE, loss), rng=4)


@pytest.mark.parametrize("suffix", [".npz", ".h5"])
@pytest.mark.parametrize("has_report", [True, False])
def test_save_and_load_keep_everything(
    result: CalibrationResult, tmp_path: Path, suffix: str, has_report: bool
) -> None:
    if not has_report:
        problem = CalibrationProblem(SPACE, loss)
        result = CmaEs(60).run(problem, rng=4, identifiability=False)
    path = tmp_path / f"result{suffix}"
    result.save(path)
    loaded = CalibrationResult.load(path)
    assert loaded.values == result.values
    assert loaded.space == result.space
    for name in ("loss", "seed", "versions", "method", "options", "stop_reason", "messages"):
        assert getattr(loaded, name) == getattr(result, name)
    for name in ("values", "loss", "status", "generation", "is_search"):
        a, b = getattr(loaded.history, name), getattr(result.history, name)
        assert a.dtype == b.dtype
        assert np.array_equal(a, b, equal_nan=name == "loss")
    assert loaded.summary() == result.summary()
    assert (loaded.identifiability is not None) == has_report
    if loaded.identifiability is not None and result.identifiability is not None:
        assert np.array_equal(loaded.identifiability.hessian, result.identifiability.hessian)
        assert loaded.identifiability.threshold == result.identifiability.threshold
        assert loaded.identifiability.free_directions == result.identifiability.free_directions


def test_result_says_how_it_came_about(result: CalibrationResult) -> None:
    assert {"python", "numpy", "cma", "contactworks-common"} <= set(result.versions)
    assert result.seed == 4
    assert result.options["sigma"] == 0.5
    assert result.failures > 0
    assert result.evaluations == len(result.history) > 240
    assert result.history.is_search.sum() == 240
    best = np.nanargmin(np.where(result.history.is_search, result.history.loss, np.inf))
    assert SPACE.to_dict(result.history.values[best]) == result.values


def test_summary_is_a_table(result: CalibrationResult) -> None:
    lines = result.summary().splitlines()
    assert lines[0].split() == ["parameter", "value", "unit", "width", "verdict"]
    assert lines[1].split()[0] == "mu"
    assert "+-" in lines[1]
    assert "N/m" in lines[2]
    assert "x/" in lines[2]
    assert "seed 4" in result.summary()
    assert "ValueError: sticks" in lines[-1]


def test_best_so_far_never_rises_and_ignores_failures(result: CalibrationResult) -> None:
    best = result.history.best_so_far()
    assert np.all(best[1:] <= best[:-1])
    assert best[-1] == result.loss


def test_plot_into_axes_and_file(result: CalibrationResult, tmp_path: Path) -> None:
    axes = Figure().subplots()
    assert result.plot(axes) is axes
    drawn = {line.get_label(): line.get_xydata() for line in axes.get_lines()}
    np.testing.assert_array_equal(drawn["best so far"][-1], [240, result.loss])
    assert len(drawn["failed (drawn at the top)"]) == np.count_nonzero(
        result.history.status[result.history.is_search]
    )
    for name in ("plot.png", "plot.pdf", "plot.svg"):
        result.plot(tmp_path / name)
        assert (tmp_path / name).stat().st_size > 1000
    assert sorted(p.name for p in tmp_path.iterdir()) == ["plot.pdf", "plot.png", "plot.svg"]


def test_plot_into_new_axes(result: CalibrationResult, monkeypatch: pytest.MonkeyPatch) -> None:
    mpl.use("Agg")
    from matplotlib import pyplot

    axes = result.plot()
    assert axes.get_ylabel() == "loss"
    pyplot.close(axes.figure)


def test_plot_without_report_and_of_negative_losses(
    unit_space: Callable[..., Any], tmp_path: Path
) -> None:
    problem = CalibrationProblem(unit_space("a", "b"), lambda v: -v["a"])
    CmaEs(60).run(problem, rng=0, identifiability=False).plot(tmp_path / "plot.png")
    assert (tmp_path / "plot.png").stat().st_size > 1000


def test_other_files_are_refused(result: CalibrationResult, tmp_path: Path) -> None:
    path = tmp_path / "other.npz"
    write_record(path, {"values": [1.0]}, format="something-else", version=1)
    with pytest.raises(FileFormatError, match=r"other\.npz.*'something-else'"):
        CalibrationResult.load(path)
    write_record(path, {"values": [1.0]}, format="contactworks-calibration", version=1)
    with pytest.raises(FileFormatError, match=r"other\.npz: arrays missing"):
        CalibrationResult.load(path)
    write_record(path, {"values": [1.0]}, format="contactworks-calibration", version=99)
    with pytest.raises(FileFormatError, match="version 99"):
        CalibrationResult.load(path)
    result.save(path)
    path.write_bytes(path.read_bytes()[:1000])
    with pytest.raises(FileFormatError, match=r"other\.npz"):
        CalibrationResult.load(path)


def test_import_is_light() -> None:
    script = (
        "import sys, contactworks.common.calibration, contactworks.common.metrics\n"
        "import contactworks.common.records, contactworks.common.progress\n"
        "heavy = {'cma', 'h5py', 'matplotlib', 'scipy.optimize', 'rich', 'mujoco', 'trimesh'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert run.stdout.strip() == "[]"
