"""The results of the cube-toss job as a table for people and as numbers for files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table

    from .study import Outcome, Study

__all__ = ["comparison_lines", "study_metrics", "study_table", "top_level_metrics"]


def study_metrics(study: Study, hidden: Mapping[str, float] | None = None) -> dict[str, Any]:
    """Return all figures of the job as plain values.

    Args:
        study: the finished job.
        hidden: the true parameters where the tosses are made ones.
    """
    return {
        "source": study.source,
        "hidden_parameters": None if hidden is None else dict(hidden),
        "velocity_lag_s": study.lag,
        "calibrated_tosses": list(study.calibrated),
        "predicted_tosses": list(study.predicted),
        "engines": {key: _outcome_metrics(outcome) for key, outcome in study.outcomes.items()},
        "comparisons": {
            pair: {
                error: {
                    "difference": one.difference,
                    "interval": [one.low, one.high],
                    "probability_better": one.probability_a_better,
                }
                for error, one in both.items()
            }
            for pair, both in study.comparisons.items()
        },
    }


def top_level_metrics(study: Study) -> dict[str, Any]:
    """Return the main figures under the keys that stand at the top of the JSON report.

    ``position_error_percent`` and ``rotation_error_deg`` with their intervals are crisp's, with the
    centre of mass among its parameters; ``mujoco_...`` those of MuJoCo calibrated with the same
    budget on friction, solref, table height and inertia, ``mujoco_mass_center_...`` those of MuJoCo
    that is given the centre of mass too, ``crisp_basic_...`` those of crisp without it,
    ``mujoco_defaults_...`` those of MuJoCo's defaults.
    """
    result: dict[str, Any] = {}
    for prefix, key in (
        ("", "crisp"),
        ("mujoco_", "mujoco"),
        ("mujoco_mass_center_", "mujoco_mass_center"),
        ("crisp_basic_", "crisp_basic"),
        ("mujoco_defaults_", "mujoco_defaults"),
    ):
        summary = study.outcomes[key].summary
        for name, value in (
            ("position_error_percent", summary.position_percent),
            ("rotation_error_deg", summary.rotation_deg),
        ):
            result[f"{prefix}{name}"] = value.estimate
            result[f"{prefix}{name}_interval"] = [value.low, value.high]
    return result


def study_table(study: Study) -> Table:
    """Return the table that the command prints."""
    from rich.table import Table

    table = Table(
        title=f"{len(study.predicted)} tosses predicted, {len(study.calibrated)} calibrated on "
        f"({study.source}); 95 % intervals over tosses",
        title_justify="left",
    )
    table.add_column("engine")
    table.add_column("position error, % of width", justify="right")
    table.add_column("rotation error, degrees", justify="right")
    table.add_column("parameters", overflow="fold")
    table.add_column("seconds", justify="right")
    for outcome in study.outcomes.values():
        position, rotation = outcome.summary.position_percent, outcome.summary.rotation_deg
        values = ", ".join(f"{name} {value:.3g}" for name, value in outcome.values.items())
        table.add_row(
            outcome.label,
            f"{position.estimate:.2f} [{position.low:.2f}, {position.high:.2f}]",
            f"{rotation.estimate:.2f} [{rotation.low:.2f}, {rotation.high:.2f}]",
            values,
            f"{outcome.seconds:.0f}",
        )
    return table


def comparison_lines(study: Study) -> list[str]:
    """Return one sentence per comparison: who is better, by how much, how sure that is."""
    units = {"position_percent": "% of width", "rotation_deg": "degrees"}
    lines = []
    for pair, both in study.comparisons.items():
        ours, theirs = (study.outcomes[key].label for key in pair.split("/"))
        parts = [
            f"{one.difference:+.2f} {units[error]} [{one.low:+.2f}, {one.high:+.2f}], "
            f"better with probability {one.probability_a_better:.3f}"
            for error, one in both.items()
        ]
        lines.append(f"{ours} against {theirs}: " + "; ".join(parts))
    return lines


def _outcome_metrics(outcome: Outcome) -> dict[str, Any]:
    position, rotation = outcome.summary.position_percent, outcome.summary.rotation_deg
    return {
        "label": outcome.label,
        "parameters": dict(outcome.values),
        "position_error_percent": position.estimate,
        "position_error_percent_interval": [position.low, position.high],
        "rotation_error_deg": rotation.estimate,
        "rotation_error_deg_interval": [rotation.low, rotation.high],
        "calibration_loss": None if outcome.calibration is None else outcome.calibration.loss,
        "unconverged_steps": outcome.prediction.unconverged_steps,
        "seconds": outcome.seconds,
    }
