"""Tosses in the folder of the public ContactNets repository, as a user would clone it.

Source: S. Pfrommer, M. Halm, M. Posa, "ContactNets: Learning Discontinuous Contact Dynamics with
    Smooth, Implicit Representations", CoRL 2020; github.com/DAIRLab/contact-nets (BSD-3-Clause).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from contactworks.common.errors import FileFormatError, MissingDependencyError

from .data import DEFAULT_HALF_WIDTH, DEFAULT_MASS, MINIMUM_FRAMES, TossSet, check_rows

__all__ = ["find_contactnets", "read_contactnets"]

_RATE = 148.0  # frames per second of the motion tracking
_LENGTH_UNIT = 0.0524  # m; the files count lengths in half widths of their cube
_STATE = 13  # position, quaternion, velocity, angular velocity; control columns follow
_SUBFOLDERS = ("data/tosses_processed", "tosses_processed", ".")


def find_contactnets(path: Path) -> Path | None:
    """Return the folder of ``0.pt, 1.pt, ...`` in or below ``path``, or None if there is none."""
    for name in _SUBFOLDERS:
        folder = path / name
        if folder.is_dir() and any(_is_toss(file) for file in folder.iterdir()):
            return folder
    return None


def read_contactnets(
    folder: Path, *, half_width: float | None = None, mass: float | None = None
) -> TossSet:
    """Return the tosses in ``0.pt, 1.pt, ...``, in the order of their numbers.

    Each file holds a tensor (1, frames, 19): position, quaternion wxyz, velocity (lengths in units
    of 0.0524 m), angular velocity in the body frame, and control columns, which are not used; 148
    frames per second.

    Args:
        folder: the folder with the files.
        half_width: half the edge of the cube [m]; None: 0.0524.
        mass: mass of the cube [kg]; None: 0.37.

    Raises:
        MissingDependencyError: PyTorch is not installed.
        FileFormatError: a file is not such a tensor, or a state is impossible.
    """
    try:
        import torch
    except ImportError as error:
        raise MissingDependencyError(
            f"{folder}: reading .pt files needs PyTorch: pip install torch"
        ) from error
    files = sorted((f for f in folder.iterdir() if _is_toss(f)), key=lambda f: int(f.stem))
    blocks = [_read_file(file, torch) for file in files]
    return TossSet.from_rows(
        np.concatenate(blocks),
        np.cumsum([0, *(len(block) for block in blocks)]),
        [file.stem for file in files],
        dt=1.0 / _RATE,
        half_width=DEFAULT_HALF_WIDTH if half_width is None else half_width,
        mass=DEFAULT_MASS if mass is None else mass,
        source="ContactNets repository",
    )


def _is_toss(path: Path) -> bool:
    return path.suffix == ".pt" and path.stem.isdecimal()


def _read_file(path: Path, torch: Any) -> np.ndarray:
    try:
        tensor = torch.load(path, map_location="cpu", weights_only=True)
    # A damaged file makes torch raise errors of many kinds, also its pickle reader's own.
    except Exception as error:
        reason = " ".join(str(error).split())[:120]
        raise FileFormatError(f"{path}: not a readable tensor ({reason})") from error
    shape = tuple(getattr(tensor, "shape", ()))
    if (
        not isinstance(tensor, torch.Tensor)
        or len(shape) != 3
        or shape[0] != 1
        or shape[2] < _STATE
    ):
        raise FileFormatError(
            f"{path}: got {type(tensor).__name__} of shape {shape}, "
            "expected a tensor (1, frames, 19)"
        )
    if shape[1] < MINIMUM_FRAMES:
        raise FileFormatError(
            f"{path}: got a toss of {shape[1]} frame(s), expected at least {MINIMUM_FRAMES}"
        )
    rows = tensor[0, :, :_STATE].detach().to(torch.float64).numpy().copy()
    check_rows(rows, lambda row: f"{path}, frame {row}")
    rows[:, 0:3] *= _LENGTH_UNIT
    rows[:, 7:10] *= _LENGTH_UNIT
    return np.asarray(rows)
