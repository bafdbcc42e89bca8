"""The command ``contactworks-clash``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from contactworks.common.command import check_plot_path, run_command, write_report
from contactworks.common.errors import ModelError

if TYPE_CHECKING:
    from contactworks.clash.dataset import CollisionDataset

__all__ = ["CollectCommand", "main"]

_PROGRAM = "contactworks-clash"
_DESCRIPTION = "Learned collisions: at this version the collection of simulated strikes."


@dataclass(frozen=True, slots=True)
class CollectCommand:
    """Simulate strikes with random states and contact parameters."""

    count: int = 1000
    """Number of strikes, at least 1."""
    seed: int = 0
    """Seed of the random states and parameters, 0 or more."""
    shape: str = "semicylinder"
    """Name of the object's shape."""
    workers: int | None = None
    """Number of threads; all cores by default. The result does not depend on it."""
    out: Path | None = None
    """Write the collisions to this file (.h5). A run that was interrupted goes on from the file
    beside it that ends with .partial.h5."""
    json: Path | None = None
    """Write the figures to this file."""
    plot: Path | None = None
    """Write a picture to this file (.png, .pdf, .svg)."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status.

    Status 0: success; 2: wrong input, with one line on stderr; 130: interrupted.
    """
    return run_command(_PROGRAM, _DESCRIPTION, {"collect": (CollectCommand, _collect)}, arguments)


def _collect(command: CollectCommand) -> int:
    import time

    from contactworks.clash.collection import collect
    from contactworks.clash.scene import StrikeScene
    from contactworks.common.progress import rich_progress

    if command.out is not None and command.out.suffix != ".h5":
        raise ModelError(f"--out: got '{command.out}', expected a name that ends with '.h5'")
    check_plot_path(command.plot)
    scene = StrikeScene(command.shape)
    partial = None if command.out is None else command.out.with_suffix(".partial.h5")
    start = time.perf_counter()
    try:
        data = collect(
            scene,
            command.count,
            seed=command.seed,
            workers=command.workers,
            progress=rich_progress(),
            checkpoint=partial,
        )
    except KeyboardInterrupt:
        kept = "" if partial is None else f"{partial} keeps what is done"
        raise KeyboardInterrupt(kept) from None
    seconds = time.perf_counter() - start
    if command.out is not None and partial is not None:
        data.save(command.out)
        partial.unlink(missing_ok=True)
    metrics = _metrics(data, seconds)
    _print(data, metrics, command.out)
    write_report(f"{_PROGRAM} collect", command, metrics)
    if command.plot is not None:
        from contactworks.clash.plots import plot_collisions

        plot_collisions(data, command.plot)
    return 0


def _metrics(data: CollisionDataset, seconds: float) -> dict[str, Any]:
    from contactworks.clash.scene import POST_COLUMNS

    post = data.post[data.is_separated]
    return {
        "count": len(data),
        "status": data.counts(),
        "length_scale_m": data.length_scale,
        "seconds": seconds,
        "post_mean": dict(zip(POST_COLUMNS, post.mean(axis=0).tolist(), strict=True))
        if len(post)
        else None,
        "post_std": dict(zip(POST_COLUMNS, post.std(axis=0).tolist(), strict=True))
        if len(post)
        else None,
    }


def _print(data: CollisionDataset, metrics: dict[str, Any], out: Path | None) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title=f"{len(data)} strikes in {metrics['seconds']:.1f} s", title_justify="left")
    table.add_column("outcome")
    table.add_column("strikes", justify="right")
    for name, number in metrics["status"].items():
        table.add_row(name.replace("_", " "), str(number))
    console = Console()
    console.print(table)
    if out is not None:
        console.print(f"written to {out}")


if __name__ == "__main__":
    raise SystemExit(main())
