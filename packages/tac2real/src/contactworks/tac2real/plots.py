"""Pictures of a gel; matplotlib is imported here only, without a display."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from contactworks.common.command import check_plot_path
from contactworks.common.records import atomic_path

if TYPE_CHECKING:
    from contactworks.tac2real.gel import Gel

__all__ = ["plot_gel"]

_BACK_COLOR = "#8a8f98"
_GEL_COLOR = "#7fb3d5"


def plot_gel(gel: Gel, path: Path) -> None:
    """Write a picture of the gel's surface and of the quality of its elements.

    Faces on the back plate are grey.  Lengths are in mm.

    Raises:
        FileFormatError: If the suffix is not .png, .pdf or .svg.
        OSError: If the file cannot be written.
    """
    check_plot_path(path)
    from matplotlib.figure import Figure
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection  # type: ignore[import-untyped]

    figure = Figure(figsize=(10.0, 4.5), layout="constrained")
    axes = figure.add_subplot(1, 2, 1, projection="3d")
    corners = 1e3 * gel.nodes[gel.surface]
    is_glued = gel.back[gel.surface].all(axis=1)
    colors = np.where(is_glued, _BACK_COLOR, _GEL_COLOR)
    axes.add_collection3d(
        Poly3DCollection(corners, facecolors=list(colors), edgecolors="#1b2631", linewidths=0.3)
    )
    low, high = corners.min(axis=(0, 1)), corners.max(axis=(0, 1))
    axes.set(
        xlim=(low[0], high[0]),
        ylim=(low[1], high[1]),
        zlim=(low[2], high[2]),
        xlabel="x",
        ylabel="y",
        zticks=(low[2], high[2]),
    )
    axes.set_box_aspect(high - low)
    axes.set_title(f"{len(gel.nodes)} nodes, {len(gel.tets)} tetrahedra; x, y, z in mm")

    histogram = figure.add_subplot(1, 2, 2)
    histogram.hist(gel.quality().radius_ratio, bins=40, range=(0.0, 1.0), color=_GEL_COLOR)
    histogram.set(xlabel="radius ratio (1: regular)", title="tetrahedra by quality")
    with atomic_path(path) as temporary:
        figure.savefig(temporary, dpi=150)
