"""Pictures of a simulation: motion and residuals over time."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from .model import Model

__all__ = ["plot_history"]

_NAMED = 8  # more bodies than this are drawn without a legend


def plot_history(model: Model, history: Mapping[str, np.ndarray], title: str, path: Path) -> None:
    """Write heights, speeds and residuals over time to a picture.

    Args:
        model: names the bodies.
        history: ``time`` (n,) [s], ``position`` (n, bodies, 3) [m], ``speed`` (n, bodies) [m/s] and
            ``residual`` (n,) [m/s] of the moving bodies.
        title: of the picture.
        path: the file; its ending chooses the format.

    Raises:
        OSError: the file cannot be written.
    """
    from matplotlib.figure import Figure

    from contactworks.common.records import atomic_path

    figure = Figure(figsize=(9.0, 7.0), layout="constrained")
    height, speed, residual = figure.subplots(3, 1, sharex=True)
    time = history["time"]
    names = model.body_names[1:]
    for i, name in enumerate(names):
        label = name if len(names) <= _NAMED else None
        style = {"linewidth": 1.2 if label else 0.5, "alpha": 1.0 if label else 0.6}
        height.plot(time, history["position"][:, i, 2], label=label, **style)
        speed.plot(time, history["speed"][:, i], **style)
    residual.semilogy(time, np.maximum(history["residual"], 1e-18), ".", markersize=2, color="0.3")
    height.set_ylabel("height [m]")
    speed.set_ylabel("speed [m/s]")
    residual.set_ylabel("natural residual [m/s]")
    residual.set_xlabel("time [s]")
    if len(names) <= _NAMED:
        height.legend(frameon=False, fontsize=8)
    figure.suptitle(title)
    with atomic_path(path) as temporary:
        figure.savefig(temporary, dpi=120, format=path.suffix.lstrip("."))
