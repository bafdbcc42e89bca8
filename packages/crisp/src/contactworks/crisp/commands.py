"""What the command ``contactworks-crisp`` does; what it takes stands in ``cli``."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from contactworks.common.command import check_plot_path, result_console, write_report
from contactworks.common.errors import ModelError
from contactworks.common.geometry.shapes import Plane, Sphere

from . import scenes
from .builder import ModelBuilder
from .data import Data
from .scenes import Scene
from .simulation import step

if TYPE_CHECKING:
    from .cli import CubeToss, SceneOptions, Verify

__all__ = ["cube_toss", "run_scene", "verify", "warm_up"]

_PROGRAM = "contactworks-crisp"
_WIDTH = 150  # columns of the tables where the output is a file


def warm_up() -> int:
    """Compile the step; return the exit status."""
    from rich.console import Console

    begin = time.perf_counter()
    builder = ModelBuilder()
    builder.world.add_geom(Plane())
    builder.add_body("ball", mass=1.0).add_geom(Sphere(0.1))
    model = builder.build()
    data = Data(model)
    step(model, data)
    data.nearest("world", "ball", 1.0)
    Console().print(f"compiled in {time.perf_counter() - begin:.1f} s")
    return 0


def cube_toss(command: CubeToss) -> int:
    """Do the cube-toss job; return the exit status."""
    from contactworks.common.progress import rich_progress

    from .tosses.plots import plot_study
    from .tosses.readers import read_tosses
    from .tosses.report import comparison_lines, study_metrics, study_table, top_level_metrics
    from .tosses.study import StudyOptions, run_study

    check_plot_path(command.plot)
    for name in ("half_width", "mass"):
        value = getattr(command, name)
        if value is not None and (command.data is None or not 0.0 < value < math.inf):
            flag = name.replace("_", "-")
            raise ModelError(f"--{flag}: got {value}, expected a positive number, beside --data")
    options = StudyOptions(
        seed=command.seed,
        evaluations=command.evaluations,
        predicted_tosses=command.tosses,
    )
    console = result_console(_WIDTH)
    hidden: Mapping[str, float] | None = None
    if command.data is None:
        console.print(
            "no --data: tosses are made by crisp itself, with hidden parameters and sensor noise; "
            "they show whether the parameters are found, and are no fair comparison with MuJoCo"
        )
        from .tosses.synthetic import synthetic_tosses

        tosses, hidden = synthetic_tosses(seed=command.seed)
    else:
        tosses = read_tosses(command.data, half_width=command.half_width, mass=command.mass)
    study = run_study(tosses, options, progress=lambda label: rich_progress())
    console.print(study_table(study))
    if hidden is not None:
        console.print("hidden: " + ", ".join(f"{k} {v:.4g}" for k, v in hidden.items()))
    for line in comparison_lines(study):
        console.print(line, highlight=False, markup=False)
    write_report(
        f"{_PROGRAM} run cube-toss",
        command,
        study_metrics(study, hidden),
        top_level=top_level_metrics(study),
    )
    if command.plot is not None:
        plot_study(study, command.plot)
    return 0


def run_scene(command: SceneOptions) -> int:
    """Run a built-in scene; return the exit status."""
    from rich.table import Table

    check_plot_path(command.plot)
    name = type(command).__name__
    name = "".join(f"-{c.lower()}" if c.isupper() else c for c in name).lstrip("-")
    options = dataclasses.asdict(command)
    for common in ("seed", "json", "plot", "duration"):
        del options[common]
    if name == "bin-of-boxes":
        options["rng"] = command.seed
    for key, value in {**options, "duration": command.duration}.items():
        if key != "rng" and not (math.isfinite(value) and value >= 0.0):
            raise ModelError(f"--{key.replace('_', '-')}: got {value}, expected 0 or more")
    for key in ("ratio", "timestep", "duration"):
        if options.get(key, command.duration) == 0.0:
            raise ModelError(f"--{key}: got 0, expected a positive number")
    scene = getattr(scenes, name.replace("-", "_"))(**options)
    history = _run_with_history(scene, command.duration)
    metrics = scene.metrics()
    table = Table(title=f"{name}, {command.duration:g} s", title_justify="left", show_header=False)
    for key, value in metrics.items():
        table.add_row(key.replace("_", " "), f"{value:.9g}")
    result_console(_WIDTH).print(table)
    write_report(f"{_PROGRAM} run {name}", command, metrics)
    if command.plot is not None:
        from .render import plot_history

        plot_history(scene.model, history, name, command.plot)
    return 0


def verify(command: Verify) -> int:
    """Run the cases with exact answers; return 0 if all pass, else 1."""
    from rich.markup import escape
    from rich.table import Table

    from contactworks.common.progress import rich_progress

    from .verification import CASES, run_case

    names = command.cases or tuple(CASES)
    unknown = sorted(set(names) - set(CASES))
    if unknown:
        raise ModelError(f"verify: no case {unknown}; there are: {', '.join(CASES)}")
    checks = []
    with rich_progress() as progress:
        progress.start(len(names), "cases")
        for name in names:
            checks += run_case(name)
            progress.advance()
    table = Table(title="cases with exact answers, default options", title_justify="left")
    for heading in ("case", "quantity"):
        table.add_column(heading)
    for heading in ("exact", "measured", "error", "allowed"):
        table.add_column(heading, justify="right")
    table.add_column("")
    for check in checks:
        table.add_row(
            check.case,
            escape(check.quantity),  # units stand in brackets
            f"{check.exact:.7g}",
            f"{check.measured:.7g}",
            f"{check.error:.1e}",
            f"{check.allowed:.1e}",
            "ok" if check.passed else "FAILED",
        )
    failed = sum(not check.passed for check in checks)
    console = result_console(_WIDTH)
    console.print(table)
    console.print(f"{len(checks) - failed} of {len(checks)} passed")
    rows = [{**dataclasses.asdict(c), "error": c.error, "passed": c.passed} for c in checks]
    metrics = {"passed": len(checks) - failed, "failed": failed, "checks": rows}
    write_report(f"{_PROGRAM} verify", command, metrics)
    return 1 if failed else 0


def _run_with_history(scene: Scene, duration: float) -> dict[str, Any]:
    """Run the scene; return time, body positions, speeds and residuals of every step."""
    import numpy as np

    if not duration > 0.0:
        raise ModelError(f"--duration: got {duration}, expected a positive number of seconds")
    data = scene.data
    if duration < scene.model.options.timestep:
        raise ModelError(
            f"--duration: got {duration}, expected a time step "
            f"({scene.model.options.timestep} s) or more"
        )
    rows: list[tuple[float, np.ndarray, np.ndarray, float]] = []
    for _ in range(round(duration / scene.model.options.timestep)):
        scene.step()
        speed = np.linalg.norm(data.body_twist[1:, :3], axis=1)
        rows.append((data.time, data.body_position[1:].copy(), speed, data.solver.natural_residual))
    names = ("time", "position", "speed", "residual")
    columns = zip(*rows, strict=True)
    return {name: np.array(column) for name, column in zip(names, columns, strict=True)}
