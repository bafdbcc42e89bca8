"""What a calibration found, with all that is needed to judge and to repeat it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from contactworks.common.calibration.history import History, Status
from contactworks.common.calibration.identifiability import IdentifiabilityReport
from contactworks.common.calibration.parameters import Parameter, ParameterSpace
from contactworks.common.errors import ContactworksError, FileFormatError
from contactworks.common.records import read_record, write_record

__all__ = ["CalibrationResult"]

_FORMAT = "contactworks-calibration"
_REPORT_ARRAYS = ("hessian", "eigenvalues", "eigenvectors", "widths", "conditional_widths")
_REPORT_ATTRIBUTES = ("verdicts", "threshold", "noise", "evaluations", "lower_loss")


@dataclass(frozen=True, slots=True, eq=False)
class CalibrationResult:
    """The result of :meth:`SearchMethod.run`.

    Attributes:
        values: best values by name, in the units of the parameters.
        loss: their loss.
        space: the parameters.
        history: every evaluation.
        identifiability: which parameters the data inform, or None where that was not asked for.
        seed: seed of the run.
        versions: versions of Python, of Contactworks and of the libraries.
        method: name of the method.
        options: its options.
        stop_reason: why the search ended.
        messages: the first messages of candidates that failed.
    """

    values: Mapping[str, float]
    loss: float
    space: ParameterSpace
    history: History
    identifiability: IdentifiabilityReport | None
    seed: int
    versions: Mapping[str, str]
    method: str
    options: Mapping[str, Any]
    stop_reason: str
    messages: tuple[str, ...] = ()

    @property
    def evaluations(self) -> int:
        """Return the number of evaluations, those of the identifiability report included."""
        return len(self.history)

    @property
    def failures(self) -> int:
        """Return how many candidates failed: NaN, infinity or an exception."""
        return self.history.failures

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to one file, ``.npz`` or ``.h5``, in one step.

        Raises:
            FileFormatError: another suffix.
            OSError: the file cannot be written; no half-written file stays.
        """
        arrays = {
            "history_values": self.history.values,
            "history_loss": self.history.loss,
            "history_status": self.history.status,
            "history_generation": self.history.generation,
            "history_is_search": self.history.is_search,
            "values": self.space.from_dict(self.values),
            "loss": np.array(self.loss),
        }
        attributes: dict[str, Any] = {
            "space": self.space,
            "seed": self.seed,
            "versions": dict(self.versions),
            "method": self.method,
            "options": dict(self.options),
            "stop_reason": self.stop_reason,
            "messages": list(self.messages),
        }
        report = self.identifiability
        if report is not None:
            arrays |= {f"report_{name}": getattr(report, name) for name in _REPORT_ARRAYS}
            attributes["report"] = {name: getattr(report, name) for name in _REPORT_ATTRIBUTES}
        write_record(path, arrays, format=_FORMAT, version=1, attributes=attributes)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> CalibrationResult:
        """Return the result that :meth:`save` wrote.

        Raises:
            FileNotFoundError: there is no such file.
            FileFormatError: the file is of another kind or damaged; the message names it.
        """
        names = ["values", "status", "loss", "generation", "is_search"]
        required = ["values", "loss", *(f"history_{name}" for name in names)]
        record = read_record(path, format=_FORMAT, versions=[1], required=required)
        arrays, attributes = record.arrays, record.attributes
        try:
            space = ParameterSpace([Parameter(**p) for p in attributes["space"]["parameters"]])
            report = None
            if "report" in attributes:
                kept: dict[str, Any] = {n: arrays[f"report_{n}"] for n in _REPORT_ARRAYS}
                kept |= {n: attributes["report"][n] for n in _REPORT_ATTRIBUTES}
                kept["verdicts"] = tuple(kept["verdicts"])
                report = IdentifiabilityReport(names=space.names, **kept)
            return cls(
                values=space.to_dict(arrays["values"]),
                loss=float(arrays["loss"]),
                space=space,
                history=History(**{name: arrays[f"history_{name}"] for name in names}),
                identifiability=report,
                seed=int(attributes["seed"]),
                versions=dict(attributes["versions"]),
                method=str(attributes["method"]),
                options=dict(attributes["options"]),
                stop_reason=str(attributes["stop_reason"]),
                messages=tuple(attributes["messages"]),
            )
        except (KeyError, TypeError, ValueError, ContactworksError) as error:
            raise FileFormatError(f"{path}: a damaged calibration result ({error!r})") from error

    def plot(self, target: Any = None) -> Any:
        """Draw the losses over the evaluations and return the axes.

        Args:
            target: axes of Matplotlib to draw into; or a file, which then also shows where in their
                ranges the parameters ended, with their widths; or None for new axes.

        Raises:
            OSError: the file cannot be written.
        """
        from contactworks.common.calibration._plotting import plot_result

        return plot_result(self, target)

    def summary(self) -> str:
        """Return a table of the values, their widths and verdicts, and how the run went.

        A width is one standard deviation, in the unit of the parameter; on a log scale it is the
        factor up and down.
        """
        width = max(9, *(len(name) for name in self.space.names))
        unit = max(4, *(len(p.unit) for p in self.space))
        lines = [f"{'parameter':<{width}}  {'value':>12}  {'unit':<{unit}}  {'width':>12}  verdict"]
        report = self.identifiability
        for i, parameter in enumerate(self.space):
            spread, verdict = "", "not measured"
            if report is not None:
                spread, verdict = _spread(parameter, float(report.widths[i])), report.verdicts[i]
            lines.append(
                f"{parameter.name:<{width}}  {self.values[parameter.name]:>12.6g}  "
                f"{parameter.unit:<{unit}}  {spread:>12}  {verdict}"
            )
        if report is not None:
            lines += report.summary().splitlines()[1 + len(self.space) :]
        lines.append(
            f"loss {self.loss:.6g} by {self.method}, seed {self.seed}, {self.evaluations} "
            f"evaluations, {self.failures} failed; ended: {self.stop_reason}"
        )
        if self.failures:
            names = {s: int(np.count_nonzero(self.history.status == s)) for s in Status}
            parts = [f"{n} {s.name.lower()}" for s, n in names.items() if n and s != Status.OK]
            lines.append(f"failed: {', '.join(parts)}; first: {self.messages[0]}")
        return "\n".join(lines)


def _spread(parameter: Parameter, width: float) -> str:
    if parameter.scale == "log":
        return f"x/ {np.exp(width * np.log(parameter.upper / parameter.lower)):.4g}"
    return f"+- {width * (parameter.upper - parameter.lower):.4g}"
