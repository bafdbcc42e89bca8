"""Drawing a calibration result; Matplotlib is imported only here."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from contactworks.common.calibration.history import Status
from contactworks.common.records import atomic_path

if TYPE_CHECKING:
    from contactworks.common.calibration.result import CalibrationResult

__all__ = ["plot_result"]

_COLORS = {
    "identified": "tab:green",
    "weak": "tab:orange",
    "not informed": "tab:red",
    "undetermined": "tab:gray",
}


def plot_result(result: CalibrationResult, target: Any) -> Any:
    """Draw ``result`` into axes, a file, or new axes, and return the axes of the losses."""
    if isinstance(target, str | os.PathLike):
        from matplotlib.figure import Figure

        height = max(3.5, 0.45 * len(result.space) + 1.5)
        figure = Figure(figsize=(10.0, height), layout="constrained")
        left, right = figure.subplots(1, 2)
        _losses(result, left)
        _ranges(result, right)
        with atomic_path(target) as temporary:
            figure.savefig(temporary, format=Path(target).suffix.lstrip(".") or "png", dpi=150)
        return left
    if target is None:
        from matplotlib import pyplot

        target = pyplot.subplots()[1]
    _losses(result, target)
    return target


def _losses(result: CalibrationResult, axes: Any) -> None:
    history = result.history
    search = np.flatnonzero(history.is_search)
    loss, status = history.loss[search], history.status[search]
    count, is_ok = np.arange(1, search.size + 1), status == Status.OK
    axes.plot(count[is_ok], loss[is_ok], ".", color="tab:blue", alpha=0.4, label="candidates")
    best = history.best_so_far()[search]
    seen = np.isfinite(best)
    axes.plot(count[seen], best[seen], "-", color="tab:orange", label="best so far")
    if not is_ok.all():
        top = np.full(np.count_nonzero(~is_ok), loss[is_ok].max())
        axes.plot(count[~is_ok], top, "x", color="tab:red", label="failed (drawn at the top)")
    if is_ok.any() and loss[is_ok].min() > 0.0:
        axes.set_yscale("log")
    axes.set_xlabel("evaluation")
    axes.set_ylabel("loss")
    axes.set_title(f"{result.method}: {result.stop_reason}")
    axes.legend()


def _ranges(result: CalibrationResult, axes: Any) -> None:
    """Draw where in its range each parameter ended, with its width."""
    space, report = result.space, result.identifiability
    unit = space.normalize(space.from_dict(result.values))
    for i, parameter in enumerate(space):
        width = None if report is None else report.widths[i]
        color = "tab:blue" if report is None else _COLORS[report.verdicts[i]]
        axes.errorbar(unit[i], i, xerr=width, fmt="o", color=color, capsize=4)
        label = f"{result.values[parameter.name]:.4g} {parameter.unit}"
        axes.annotate(label, (unit[i], i), (0, 8), textcoords="offset points", ha="center")
    axes.set_yticks(range(len(space)), space.names)
    axes.set_xlim(-0.05, 1.05)
    axes.set_ylim(len(space) - 0.5, -0.7)
    axes.set_xlabel("place in the range (0: lower bound, 1: upper bound)")
    axes.set_title("one standard deviation")
