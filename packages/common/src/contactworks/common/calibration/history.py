"""Every evaluation of a calibration, and the file that lets a stopped run go on."""

from __future__ import annotations

import enum
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from jaxtyping import Float, Int

from contactworks.common.errors import FileFormatError
from contactworks.common.records import read_record, write_record

__all__ = ["Checkpoint", "Generation", "History", "Status", "read_checkpoint", "write_checkpoint"]

Kind: TypeAlias = Literal["loss", "residuals", "gradient"]
Stage: TypeAlias = Literal["search", "identifiability"]

_FORMAT = "contactworks-calibration-checkpoint"
_KINDS: tuple[Kind, ...] = ("loss", "residuals", "gradient")
_STAGES: tuple[Stage, ...] = ("search", "identifiability")


class Status(enum.IntEnum):
    """How the evaluation of one candidate ended."""

    OK = 0
    NAN = 1
    INFINITE = 2
    ERROR = 3


@dataclass(frozen=True, slots=True, eq=False)
class History:
    """Every evaluation, in order.

    Attributes:
        values: candidates (n, d) in the units of the parameters.
        loss: losses (n,); NaN or infinite where the candidate failed.
        status: :class:`Status` of each (n,).
        generation: index of the call (n,) in which each was evaluated.
        is_search: true (n,) for the search itself, false for the identifiability report.
    """

    values: Float[np.ndarray, "n d"]
    loss: Float[np.ndarray, " n"]
    status: Int[np.ndarray, " n"]
    generation: Int[np.ndarray, " n"]
    is_search: np.ndarray

    def __len__(self) -> int:
        return int(self.loss.size)

    @property
    def failures(self) -> int:
        """Return how many candidates failed."""
        return int(np.count_nonzero(self.status != Status.OK))

    def best_so_far(self) -> Float[np.ndarray, " n"]:
        """Return the smallest loss of the search up to each evaluation (n,); inf before any."""
        usable = (self.status == Status.OK) & self.is_search
        return np.minimum.accumulate(np.where(usable, self.loss, np.inf))


@dataclass(frozen=True, slots=True, eq=False)
class Generation:
    """Candidates that were evaluated in one call.

    Attributes:
        kind: what was evaluated.
        stage: what for.
        unit: coordinates (n, d) in [0, 1].
        loss: losses (n,), NaN or infinite where the candidate failed.
        status: :class:`Status` of each (n,).
        outputs: residuals or gradients (n, k); NaN where the candidate failed.  None for losses.
    """

    kind: Kind
    stage: Stage
    unit: Float[np.ndarray, "n d"]
    loss: Float[np.ndarray, " n"]
    status: Int[np.ndarray, " n"]
    outputs: np.ndarray | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Checkpoint:
    """What a checkpoint file holds.

    Attributes:
        header: method, options, seed, parameters and versions of the run.
        generations: the evaluations so far.
        messages: the first messages of failed candidates.
    """

    header: dict[str, Any]
    generations: list[Generation]
    messages: list[str]


def write_checkpoint(
    path: str | os.PathLike[str],
    header: Mapping[str, Any],
    generations: Sequence[Generation],
    messages: Sequence[str],
) -> None:
    """Write the evaluations so far; the old file stays whole until the new one is.

    Raises:
        FileFormatError: the suffix is neither ``.npz`` nor ``.h5``.
        OSError: the file cannot be written.
    """
    arrays: dict[str, Any] = {
        "unit": np.concatenate([g.unit for g in generations]),
        "loss": np.concatenate([g.loss for g in generations]),
        "status": np.concatenate([g.status for g in generations]),
        "size": np.array([g.loss.size for g in generations]),
        "kind": np.array([_KINDS.index(g.kind) for g in generations]),
        "stage": np.array([_STAGES.index(g.stage) for g in generations]),
    }
    for kind in _KINDS[1:]:
        outputs = [g.outputs for g in generations if g.kind == kind and g.outputs is not None]
        if outputs:
            arrays[kind] = np.concatenate(outputs)
    attributes = {"header": dict(header), "messages": list(messages)}
    write_record(path, arrays, format=_FORMAT, version=1, attributes=attributes)


def read_checkpoint(path: str | os.PathLike[str]) -> Checkpoint:
    """Return the evaluations in a checkpoint file.

    Raises:
        FileFormatError: the file is of another kind or damaged.
    """
    names = ("unit", "loss", "status", "size", "kind", "stage")
    record = read_record(path, format=_FORMAT, versions=[1], required=names)
    arrays = record.arrays
    used = dict.fromkeys(_KINDS, 0)
    generations, row = [], 0
    try:
        for size, kind_index, stage_index in zip(
            arrays["size"], arrays["kind"], arrays["stage"], strict=True
        ):
            kind, rows = _KINDS[kind_index], slice(row, row + int(size))
            outputs = None
            if kind in arrays and kind != "loss":
                outputs = arrays[kind][used[kind] : used[kind] + int(size)]
                used[kind] += int(size)
            generations.append(
                Generation(
                    kind,
                    _STAGES[stage_index],
                    arrays["unit"][rows],
                    arrays["loss"][rows],
                    arrays["status"][rows],
                    outputs,
                )
            )
            row += int(size)
        header, messages = dict(record.attributes["header"]), list(record.attributes["messages"])
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise FileFormatError(f"{path}: a damaged checkpoint ({error!r})") from error
    if row != arrays["loss"].size:
        raise FileFormatError(
            f"{path}: got {arrays['loss'].size} losses, expected {row} as its generations say"
        )
    return Checkpoint(header, generations, messages)
