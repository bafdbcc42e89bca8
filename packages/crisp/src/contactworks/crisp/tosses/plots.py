"""Pictures of the cube-toss job: real against predicted motion, and errors over time."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from contactworks.common.rotations import rotate

if TYPE_CHECKING:
    from .study import Study
    from .window import Window

__all__ = ["plot_study"]

_REAL = "#222222"
_SHOWN = {"crisp": "#0072b2", "mujoco_mass_center": "#e69f00", "mujoco": "#d55e00"}
_DRAWN = ("crisp", "mujoco")  # in the side views, where a third cube would hide the others
_EXAMPLES = 3
_INSTANTS = 4
_EDGES = [(a, a | bit) for a in range(8) for bit in (1, 2, 4) if not a & bit]


def plot_study(study: Study, path: Path) -> None:
    """Write a picture of the results to ``path``; the ending chooses the format.

    Above: three tosses seen from the side, the recorded cube and the predicted ones at a few
    instants; they are the tosses at the lower quartile, the median and the upper quartile of
    crisp's error, not the best ones. Below: both errors over time, with the band that holds half of
    the tosses.

    Raises:
        OSError: the file cannot be written.
        ValueError: the ending is not a picture format.
    """
    from matplotlib.figure import Figure

    from contactworks.common.records import atomic_path

    figure = Figure(figsize=(12.0, 6.6), layout="constrained")
    parts = figure.subfigures(2, 1, squeeze=False, height_ratios=[0.8, 1.0])
    upper, lower = parts[0, 0], parts[1, 0]
    axes = upper.subplots(1, _EXAMPLES)
    for axis, toss in zip(axes, _example_tosses(study), strict=True):
        _draw_toss(axis, study, toss)
    upper.legend(*axes[0].get_legend_handles_labels(), loc="upper center", ncols=3, fontsize=8)
    axes[0].set_ylabel("height [m]")
    left, right = lower.subplots(1, 2)
    _draw_errors(left, study, "position_percent", "position error [% of width]")
    _draw_errors(right, study, "rotation_deg", "rotation error [degrees]")
    left.legend(loc="upper left", fontsize=8, frameon=False)
    figure.suptitle(
        f"Real and predicted cube tosses ({len(study.predicted)} predicted, "
        f"{len(study.calibrated)} calibrated on)"
        if "made" not in study.source
        else f"Made and predicted cube tosses ({len(study.predicted)} predicted)"
    )
    with atomic_path(path) as temporary:
        figure.savefig(temporary, dpi=130, format=path.suffix.lstrip(".") or None)


def _example_tosses(study: Study) -> list[int]:
    """Return the tosses at the quartiles of crisp's position error."""
    error = np.nanmean(study.outcomes["crisp"].errors.position_percent, axis=1)
    order = np.argsort(error)
    return [int(order[round(share * (len(order) - 1))]) for share in (0.25, 0.5, 0.75)]


def _draw_toss(axis: Any, study: Study, toss: int) -> None:
    """Draw one toss in the vertical plane of its travel."""
    window = study.window
    frames = int(window.frames[toss])
    path = window.position[toss, : frames + 1]
    travel = path[-1, :2] - path[0, :2]
    along = travel / max(float(np.linalg.norm(travel)), 1e-9)
    instants = np.linspace(0, frames, _INSTANTS).round().astype(int)
    origin = path[0, :2]

    def flat(points: np.ndarray) -> np.ndarray:
        return np.stack([(points[..., :2] - origin) @ along, points[..., 2]], axis=-1)

    motions = [("recorded", _REAL, path, window.quaternion[toss])]
    for key in _DRAWN:
        found = study.outcomes[key].prediction
        place = found.position[toss, : frames + 1]
        motions.append((study.outcomes[key].label, _SHOWN[key], place, found.quaternion[toss]))
    for label, color, position, quaternion in motions:
        line = flat(position)
        style = "-" if label == "recorded" else "--"
        axis.plot(line[:, 0], line[:, 1], style, color=color, linewidth=1.3, label=label)
        for k in instants:
            _draw_cube(axis, flat, window, position[k], quaternion[k], color)
    axis.axhline(0.0, color="0.6", linewidth=1.0)
    axis.set_aspect("equal")
    axis.set_xlabel("travel [m]")
    error = float(np.nanmean(study.outcomes["crisp"].errors.position_percent[toss]))
    axis.set_title(f"toss {study.predicted[toss]}: crisp {error:.1f} % of width", fontsize=9)


def _draw_cube(
    axis: Any,
    flat: Any,
    window: Window,
    position: np.ndarray,
    quaternion: np.ndarray,
    color: str,
) -> None:
    signs = np.array([[1 if corner & bit else -1 for bit in (1, 2, 4)] for corner in range(8)])
    corners = flat(position + rotate(quaternion, window.half_width * signs))
    for a, b in _EDGES:
        axis.plot(*corners[[a, b]].T, color=color, linewidth=0.6, alpha=0.55)


def _draw_errors(axis: Any, study: Study, name: str, label: str) -> None:
    for key, color in _SHOWN.items():
        text = study.outcomes[key].label
        values = getattr(study.outcomes[key].errors, name)
        time = study.window.dt * np.arange(1, values.shape[1] + 1)
        low, high = np.nanpercentile(values, [25, 75], axis=0)
        axis.fill_between(time, low, high, color=color, alpha=0.15, linewidth=0)
        axis.plot(time, np.nanmean(values, axis=0), color=color, label=f"{text}: mean")
    axis.set_xlabel("time after the start [s]")
    axis.set_ylabel(label)
    axis.set_ylim(bottom=0.0)
    axis.margins(x=0.0)
