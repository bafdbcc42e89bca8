"""Pictures of collisions."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

from contactworks.common.command import check_plot_path
from contactworks.common.records import atomic_path

if TYPE_CHECKING:
    from contactworks.clash.dataset import CollisionDataset

__all__ = ["plot_collisions"]

# More points than this only make the file large.
_POINTS = 5000


def plot_collisions(data: CollisionDataset, path: str | os.PathLike[str]) -> None:
    """Write a picture of the collisions that separated: speeds, spin, time, and all outcomes.

    Raises:
        FileFormatError: the suffix is no picture format.
        OSError: the file cannot be written.
    """
    check_plot_path(path)
    from matplotlib.figure import Figure

    chosen = data.subset(np.flatnonzero(data.is_separated)[:_POINTS])
    theta_deg = np.degrees(chosen.pre[:, 1])
    speed = chosen.pre[:, 0]
    panels = (
        (np.linalg.norm(chosen.post[:, :2], axis=1) / speed, "speed of the object / of the block"),
        (data.length_scale * chosen.post[:, 2] / speed, "spin, scaled / speed of the block"),
        (1e3 * chosen.post[:, 6], "time until separation [ms]"),
    )
    figure = Figure(figsize=(11.0, 7.0), layout="constrained")
    axes = figure.subplots(2, 2).ravel()
    for axis, (values, label) in zip(axes, panels, strict=False):
        points = axis.scatter(theta_deg, values, c=chosen.parameters[:, 0], s=4, cmap="viridis")
        axis.set_xlabel("impact angle θ [°]")
        axis.set_ylabel(label)
    figure.colorbar(points, ax=axes[:3].tolist(), label="friction with the block")
    counts = data.counts()
    bars = axes[3].barh([name.replace("_", " ") for name in counts], list(counts.values()))
    axes[3].bar_label(bars, padding=3)
    axes[3].set_xlabel("strikes")
    axes[3].margins(x=0.15)
    figure.suptitle(f"{len(data)} simulated strikes, {len(chosen)} of them shown")
    with atomic_path(path) as temporary:
        figure.savefig(temporary, dpi=120)
