"""The command ``contactworks-tac2real``."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import tyro

from contactworks.common.command import (
    check_plot_path,
    result_console,
    run_command,
    write_report,
)
from contactworks.common.errors import ModelError

if TYPE_CHECKING:
    from contactworks.tac2real.gel import Gel
    from contactworks.tac2real.ipc.patch_tests import PatchRow

__all__ = ["main"]

_PROGRAM = "contactworks-tac2real"
_DESCRIPTION = "A visuotactile sensor: at this version its gel and its elasticity."
_BLOCK_OPTIONS = ("size", "cells", "grading")
_FILE_OPTIONS = ("scale", "as_is", "flip_inverted", "drop_unused")
ModelName = Literal["neo-hookean", "stable-neo-hookean", "arap", "fixed-corotated"]


@dataclass(frozen=True, slots=True)
class GelCommand:
    """Show a gel mesh: counts, volume, back plate, quality of the elements."""

    file: tyro.conf.Positional[Path | None] = None
    """Mesh file that meshio reads (.msh, .vtk, ...); without it a structured block is made."""
    size: tuple[float, float, float] = (25.25e-3, 20.75e-3, 4e-3)
    """Extent of the block along x, y, z [m]."""
    cells: tuple[int, int, int] = (16, 13, 3)
    """Cells of the block along x, y, z."""
    grading: float = 1.0
    """Thickness of the block's lowest layer of cells over the uppermost, in [1, 1000]."""
    scale: float = 1.0
    """Metres per unit of the file."""
    as_is: bool = False
    """Keep the file's origin instead of moving the mesh to the sensor frame."""
    flip_inverted: bool = False
    """Swap two corners of the file's inverted elements."""
    drop_unused: bool = False
    """Leave out the file's nodes that are in no tetrahedron."""
    seed: int = 0
    """Recorded; nothing here is random."""
    json: Path | None = None
    """Write the figures to this file."""
    plot: Path | None = None
    """Write a picture to this file (.png, .pdf, .svg)."""


@dataclass(frozen=True, slots=True)
class PatchTestCommand:
    """Run the patch tests: stress of a mesh against closed forms, forces against differences."""

    models: tuple[ModelName, ...] = (
        "neo-hookean",
        "stable-neo-hookean",
        "arap",
        "fixed-corotated",
    )
    """Elastic models; arap runs with Poisson's ratio 0, its only one."""
    young: float = 1e5
    """Young's modulus [Pa], above 0."""
    poisson: float = 0.45
    """Poisson's ratio, in [0, 0.5)."""
    stretch: float = 0.95
    """Stretch along z of the confined and the uniaxial case, above 0."""
    shear: float = 0.1
    """Shear of the shear case."""
    backend: Literal["taichi", "numpy"] = "taichi"
    """Compiled code, or the NumPy reference."""
    arch: Literal["cpu", "cuda", "vulkan", "metal"] = "cpu"
    """Where the compiled code runs."""
    precision: Literal["f64", "f32"] = "f64"
    """Type of the compiled code."""
    seed: int = 0
    """For the irregular mesh and the test directions."""
    json: Path | None = None
    """Write the figures to this file."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status.

    Status 0: success; 1: a patch test failed; 2: wrong input, with one line on stderr; 130:
    interrupted.
    """
    return run_command(
        _PROGRAM,
        _DESCRIPTION,
        {"gel": (GelCommand, _show_gel), "patch-test": (PatchTestCommand, _patch_test)},
        arguments,
    )


def _show_gel(command: GelCommand) -> int:
    from contactworks.tac2real.meshing import load_gel, structured_gel
    from contactworks.tac2real.plots import plot_gel

    _check_options(command)
    check_plot_path(command.plot)
    if command.file is None:
        gel = structured_gel(command.size, command.cells, grading=command.grading)
    else:
        gel = load_gel(
            command.file,
            scale=command.scale,
            translation=(0.0, 0.0, 0.0) if command.as_is else "sensor",
            flip_inverted=command.flip_inverted,
            drop_unused=command.drop_unused,
        )
    metrics = _gel_metrics(gel)
    _print_gel(str(command.file or "structured block"), metrics)
    write_report(f"{_PROGRAM} gel", command, metrics)
    if command.plot is not None:
        plot_gel(gel, command.plot)
    return 0


def _check_options(command: GelCommand) -> None:
    """Refuse options that would have no effect."""
    has_file = command.file is not None
    useless = _BLOCK_OPTIONS if has_file else _FILE_OPTIONS
    standard = GelCommand()
    for name in useless:
        if getattr(command, name) != getattr(standard, name):
            flag = name.replace("_", "-")
            raise ModelError(
                f"--{flag}: has no effect {'with' if has_file else 'without'} a mesh file, "
                f"expected {'no file' if has_file else 'a file'} beside it"
            )


def _gel_metrics(gel: Gel) -> dict[str, Any]:
    quality = gel.quality()
    return {
        "nodes": len(gel.nodes),
        "tetrahedra": len(gel.tets),
        "surface_triangles": len(gel.surface),
        "back_nodes": int(gel.back.sum()),
        "size_m": gel.size.tolist(),
        "volume_m3": gel.volume,
        "minimum_element_volume_m3": float(gel.volumes.min()),
        "maximum_element_volume_m3": float(gel.volumes.max()),
        "minimum_edge_m": float(quality.minimum_edge.min()),
        "maximum_edge_m": float(quality.maximum_edge.max()),
        "minimum_radius_ratio": float(quality.radius_ratio.min()),
        "mean_radius_ratio": float(quality.radius_ratio.mean()),
        "minimum_dihedral_angle_deg": float(quality.minimum_dihedral_angle_deg.min()),
    }


def _print_gel(title: str, metrics: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title, show_header=False, title_justify="left")
    size = " x ".join(f"{1e3 * value:.4g}" for value in metrics["size_m"])
    table.add_row("nodes", f"{metrics['nodes']}, {metrics['back_nodes']} of them on the back plate")
    table.add_row("tetrahedra", str(metrics["tetrahedra"]))
    table.add_row("surface triangles", str(metrics["surface_triangles"]))
    table.add_row("size x, y, z", f"{size} mm")
    table.add_row("volume", f"{1e9 * metrics['volume_m3']:.6g} mm³")
    smallest, largest = (1e9 * metrics[f"{m}_element_volume_m3"] for m in ("minimum", "maximum"))
    table.add_row("element volumes", f"{smallest:.4g} to {largest:.4g} mm³")
    shortest, longest = (1e3 * metrics[f"{m}_edge_m"] for m in ("minimum", "maximum"))
    table.add_row("edges", f"{shortest:.4g} to {longest:.4g} mm")
    worst, mean = metrics["minimum_radius_ratio"], metrics["mean_radius_ratio"]
    table.add_row("radius ratio", f"{worst:.3f} worst, {mean:.3f} mean (1: regular)")
    table.add_row("smallest dihedral angle", f"{metrics['minimum_dihedral_angle_deg']:.1f}°")
    Console().print(table)


def _patch_test(command: PatchTestCommand) -> int:
    from contactworks.tac2real.ipc.patch_tests import run_patch_tests
    from contactworks.tac2real.material import Material

    rows = run_patch_tests(
        command.models,
        Material(young=command.young, poisson=command.poisson),
        stretch=command.stretch,
        shear=command.shear,
        backend=command.backend,
        arch=command.arch,
        precision=command.precision,
        rng=command.seed,
    )
    failed = [row for row in rows if not row.is_passed]
    _print_rows(rows)
    metrics = {
        "passed": len(rows) - len(failed),
        "failed": len(failed),
        "rows": [{**dataclasses.asdict(row), "is_passed": row.is_passed} for row in rows],
    }
    write_report(f"{_PROGRAM} patch-test", command, metrics)
    return 1 if failed else 0


def _print_rows(rows: list[PatchRow]) -> None:
    from rich.table import Table

    table = Table(title="patch tests", title_justify="left")
    for heading in ("model", "case", "quantity"):
        table.add_column(heading)
    for heading in ("measured", "exact", "error", "limit"):
        table.add_column(heading, justify="right")
    table.add_column("")
    for row, previous in zip(rows, [None, *rows], strict=False):
        if previous is not None and previous.model != row.model:
            table.add_section()
        table.add_row(
            row.model,
            row.case,
            row.quantity,
            f"{row.measured:.9g}",
            f"{row.exact:.9g}",
            f"{row.error:.1e}",
            f"{row.limit:.0e}",
            "ok" if row.is_passed else "FAILED",
        )
    passed = sum(row.is_passed for row in rows)
    console = result_console()
    console.print(table)
    console.print(f"{passed} of {len(rows)} passed")


if __name__ == "__main__":
    raise SystemExit(main())
