from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from contactworks.common.calibration import (
    Alternating,
    Block,
    CalibrationProblem,
    CalibrationResult,
    CmaEs,
    GradientDescent,
    GridSearch,
    LeastSquares,
    Parameter,
    ParameterSpace,
    SearchMethod,
)
from contactworks.common.errors import CalibrationError, FileFormatError

SPACE = ParameterSpace([Parameter("x", "1", -2.0, 2.0), Parameter("k", "N/m", 0.1, 50.0, "log")])
ALTERNATING = Alternating(
    [Block(["x"], CmaEs(30)), Block(["k"], GridSearch(9, batch_size=4))], sweeps=3, tolerance=0.0
)
METHODS = [
    GridSearch(6, batch_size=5),
    CmaEs(120),
    ALTERNATING,
    LeastSquares(80),
    GradientDescent(60),
    Alternating([Block(["x"], LeastSquares(40)), Block(["k"], GradientDescent(20))], sweeps=2),
]


def residuals(v: dict[str, float]) -> np.ndarray:
    if 1.0 < v["x"] < 1.05 or v["x"] < -1.9:
        raise ArithmeticError("no contact")
    k = np.log(v["k"])
    return np.array([v["x"] - 0.3 * k, k - 1.0 + 0.1 * v["x"] ** 2, 0.2])


def loss(v: dict[str, float]) -> float:
    return float(0.5 * np.sum(residuals(v) ** 2))


def gradient(v: dict[str, float]) -> np.ndarray:
    r = residuals(v)
    jacobian = np.array([[1.0, -0.3 / v["k"]], [0.2 * v["x"], 1.0 / v["k"]], [0.0, 0.0]])
    return np.asarray(jacobian.T @ r)


def problem(stop_after: int | None = None) -> CalibrationProblem:
    """A problem whose user presses Ctrl-C after some evaluations."""
    count = 0

    def counted(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(v: dict[str, float]) -> object:
            nonlocal count
            count += 1
            if stop_after is not None and count > stop_after:
                raise KeyboardInterrupt
            return function(v)

        return call

    return CalibrationProblem(
        SPACE, counted(loss), residuals=counted(residuals), gradient=counted(gradient)
    )


def assert_same(first: CalibrationResult, second: CalibrationResult) -> None:
    assert first.values == second.values
    assert first.loss == second.loss
    assert first.stop_reason == second.stop_reason
    assert first.messages == second.messages
    for name in ("values", "loss", "status", "generation", "is_search"):
        a, b = getattr(first.history, name), getattr(second.history, name)
        assert np.array_equal(a, b, equal_nan=name == "loss")
    assert (first.identifiability is None) == (second.identifiability is None)
    if first.identifiability is not None and second.identifiability is not None:
        assert np.array_equal(first.identifiability.widths, second.identifiability.widths)
        assert first.identifiability.verdicts == second.identifiability.verdicts


@pytest.mark.parametrize("suffix", [".npz", ".h5"])
@pytest.mark.parametrize("method", METHODS, ids=[f"{i}-{m.name}" for i, m in enumerate(METHODS)])
def test_resumed_run_is_bitwise_the_unbroken_run(
    method: SearchMethod, suffix: str, tmp_path: Path
) -> None:
    whole = method.run(problem(), rng=11)
    path = tmp_path / f"state{suffix}"
    stops = 0
    for stop_after in (7, 13, 21, 38):  # each sitting does so many evaluations of its own
        try:
            method.run(problem(stop_after), rng=11, checkpoint=path)
        except KeyboardInterrupt:
            stops += 1
    assert stops >= 2
    assert_same(whole, method.run(problem(), rng=11, checkpoint=path))


def test_finished_run_evaluates_nothing_again(tmp_path: Path) -> None:
    path = tmp_path / "state.npz"
    first = CmaEs(60).run(problem(), rng=1, checkpoint=path)
    assert_same(first, CmaEs(60).run(problem(stop_after=0), rng=1, checkpoint=path))


def test_killed_process_leaves_a_whole_checkpoint(tmp_path: Path) -> None:
    """The process dies without any chance to clean up, in the middle of the fifth generation."""
    path = tmp_path / "state.npz"
    script = textwrap.dedent(
        f"""
        import os
        from contactworks.common.calibration import *
        count = 0
        def loss(v):
            global count
            count += 1
            if count == 4 * 6 + 3:
                os._exit(9)
            return (v["a"] - 0.3) ** 2 + (v["b"] - 0.6) ** 2
        space = ParameterSpace([Parameter(n, "1", 0.0, 1.0) for n in "ab"])
        method, problem = CmaEs(60, population=6), CalibrationProblem(space, loss)
        method.run(problem, rng=3, checkpoint={str(path)!r})
        """
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 9
    space = ParameterSpace([Parameter(n, "1", 0.0, 1.0) for n in "ab"])
    calls: list[int] = []

    def loss(v: dict[str, float]) -> float:
        calls.append(1)
        return (v["a"] - 0.3) ** 2 + (v["b"] - 0.6) ** 2

    ab = CalibrationProblem(space, loss)
    method = CmaEs(60, population=6)
    resumed = method.run(ab, rng=3, checkpoint=path, identifiability=False)
    assert len(calls) == 60 - 4 * 6
    assert_same(method.run(ab, rng=3, identifiability=False), resumed)


def test_evaluations_may_be_raised_after_the_end(tmp_path: Path) -> None:
    path = tmp_path / "state.npz"
    CmaEs(48, population=8).run(problem(), rng=5, checkpoint=path)
    longer = CmaEs(96, population=8).run(problem(), rng=5, checkpoint=path)
    assert_same(CmaEs(96, population=8).run(problem(), rng=5), longer)


def test_seed_of_the_checkpoint_is_used_without_rng(tmp_path: Path) -> None:
    path = tmp_path / "state.npz"
    first = CmaEs(30).run(problem(), checkpoint=path)
    assert_same(first, CmaEs(30).run(problem(), checkpoint=path))
    with pytest.raises(CalibrationError, match="seed"):
        CmaEs(30).run(problem(), rng=first.seed + 1, checkpoint=path)


def test_checkpoint_of_another_run_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "state.npz"
    CmaEs(30).run(problem(), rng=1, checkpoint=path)
    with pytest.raises(CalibrationError, match="method"):
        GridSearch(3).run(problem(), rng=1, checkpoint=path)
    with pytest.raises(CalibrationError, match="options"):
        CmaEs(30, sigma=0.2).run(problem(), rng=1, checkpoint=path)
    with pytest.raises(CalibrationError, match="start"):
        CmaEs(30).run(problem(), rng=1, start={"x": 0.1, "k": 1.0}, checkpoint=path)
    other = CalibrationProblem(SPACE.subset(["k", "x"]), loss)
    with pytest.raises(CalibrationError, match="space"):
        CmaEs(30).run(other, rng=1, checkpoint=path)


def test_checkpoint_of_another_loss_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "state.npz"

    def stop_at(v: dict[str, float]) -> float:
        raise KeyboardInterrupt

    CmaEs(60).run(problem(), rng=1, checkpoint=path, identifiability=False)
    with pytest.raises(KeyboardInterrupt):
        CmaEs(120).run(CalibrationProblem(SPACE, stop_at), rng=1, checkpoint=path)
    # The stored residuals of a least-squares run are not those that a loss would need.
    ls = tmp_path / "ls.npz"
    LeastSquares(20).run(problem(), rng=1, checkpoint=ls)
    with pytest.raises(CalibrationError, match="method"):
        GradientDescent(20).run(problem(), rng=1, checkpoint=ls)


def test_candidates_that_differ_are_refused(tmp_path: Path) -> None:
    """Another version of a library may draw other candidates; going on would mix two runs."""
    path = tmp_path / "state.npz"

    class Shifting(SearchMethod):
        name = "shifting"
        shift = 0.0

        def search(self, objective: object, start: np.ndarray, rng: np.random.Generator) -> str:
            for _ in range(3):
                objective.losses(rng.random((2, 2)) * (1.0 - self.shift))  # type: ignore[attr-defined]
            return "done"

    method = Shifting()
    method.run(problem(), rng=1, checkpoint=path, identifiability=False)
    Shifting.shift = 1e-15
    with pytest.raises(CalibrationError, match="generation 0: holds other candidates"):
        method.run(problem(), rng=1, checkpoint=path, identifiability=False)


def test_damaged_checkpoint_is_named(tmp_path: Path) -> None:
    path = tmp_path / "state.npz"
    CmaEs(30).run(problem(), rng=1, checkpoint=path)
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(FileFormatError, match=r"state\.npz"):
        CmaEs(30).run(problem(), rng=1, checkpoint=path)


def test_nothing_else_is_left_in_the_folder(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "state.npz"
    with pytest.raises(KeyboardInterrupt):
        CmaEs(60).run(problem(20), rng=1, checkpoint=path)
    assert [p.name for p in path.parent.iterdir()] == ["state.npz"]
