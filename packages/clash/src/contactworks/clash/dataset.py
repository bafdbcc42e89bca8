"""Collisions: states before and after, contact parameters, and what became of each row."""

from __future__ import annotations

import enum
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from jaxtyping import Bool, Float, Int

from contactworks.clash.scene import PARAMETER_COLUMNS, POST_COLUMNS, PRE_COLUMNS
from contactworks.common.arrays import as_finite_array, as_float_array, positive_scalar
from contactworks.common.errors import FileFormatError, ModelError, ShapeError
from contactworks.common.records import read_record, write_record

__all__ = ["CollisionDataset", "CollisionStatus"]

_FORMAT = "contactworks-collisions"
_VERSION = 1
_ARRAYS = ("pre", "parameters", "post", "status")


class CollisionStatus(enum.IntEnum):
    """What became of a collision."""

    SEPARATED = 0
    """The bodies touched and separated: the state after is that just after separation."""
    IN_CONTACT = 1
    """They still touched at the end of the time: the state after is that of the end."""
    MISSED = 2
    """They never touched: the state after is that of the end."""
    UNSTABLE = 3
    """The simulation broke down or gained energy: the state after is NaN."""


@dataclass(frozen=True, slots=True, eq=False)
class CollisionDataset:
    """Collisions of a block with an object, one a row.

    Attributes:
        pre: state before (n, 5): speed of the block [m/s], impact angle theta and deflection theta1
            [rad], x and y of the object's centre of mass [m].
        parameters: contact parameters (n, 4): friction with block and ground, damping ratio with
            block and ground.
        post: state after (n, 7): velocity vx, vy of the object's centre of mass [m/s], angular
            velocity wz [rad/s], displacement dx, dy [m], turn dyaw [rad], time since the block
            reached the object [s]; in axes of the world, which were the object's before.
        status: a :class:`CollisionStatus` each (n,).
        length_scale: length [m] by which angular velocities are scaled to compare with linear ones.
        attributes: where the rows come from: scene, seed, versions.

    Raises:
        ShapeError: arrays of other shapes.
        ModelError: NaN or infinity, but for the state after of unstable rows; an unknown status; a
            length scale that is not positive.
    """

    pre: Float[np.ndarray, "n 5"]
    parameters: Float[np.ndarray, "n 4"]
    post: Float[np.ndarray, "n 7"]
    status: Int[np.ndarray, " n"]
    length_scale: float
    attributes: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        status = _as_status(self.status)
        count = len(status)
        post = _rows(as_float_array(self.post, "post", (len(POST_COLUMNS),)), "post", count)
        sound = status != CollisionStatus.UNSTABLE
        bad = ~np.isfinite(post).all(axis=1) & sound
        if bad.any():
            row = int(np.flatnonzero(bad)[0])
            raise ModelError(
                f"post[{row}]: got {post[row]}, expected finite numbers in a row that is not "
                "marked unstable"
            )
        positive_scalar(self.length_scale, "length_scale [m]")
        arrays = {
            "pre": _rows(as_finite_array(self.pre, "pre", (len(PRE_COLUMNS),)), "pre", count),
            "parameters": _rows(
                as_finite_array(self.parameters, "parameters", (len(PARAMETER_COLUMNS),)),
                "parameters",
                count,
            ),
            "post": post,
            "status": status,
        }
        for name, value in arrays.items():
            copy = np.array(value, order="C")
            copy.setflags(write=False)
            object.__setattr__(self, name, copy)

    def __len__(self) -> int:
        return len(self.status)

    @property
    def is_separated(self) -> Bool[np.ndarray, " n"]:
        """Which rows (n,) hold a whole collision."""
        return np.asarray(self.status == CollisionStatus.SEPARATED)

    def counts(self) -> dict[str, int]:
        """Return the number of rows of each status, by its name in small letters."""
        return {item.name.lower(): int((self.status == item).sum()) for item in CollisionStatus}

    def subset(
        self, rows: Bool[npt.ArrayLike, " n"] | Int[npt.ArrayLike, " m"] | slice
    ) -> CollisionDataset:
        """Return some of the rows, chosen by a mask, by indices or by a slice.

        Example:
            >>> pre, parameters, post = [[0.5, 1.6, 0.0, 0, 0]], [[0.3, 0.3, 1, 1]], [[0.0] * 7]
            >>> data = CollisionDataset(pre, parameters, post, [2], 0.05)
            >>> len(data.subset(data.is_separated))
            0
        """
        chosen = rows if isinstance(rows, slice) else np.asarray(rows)
        return CollisionDataset(
            self.pre[chosen],
            self.parameters[chosen],
            self.post[chosen],
            self.status[chosen],
            self.length_scale,
            self.attributes,
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write an HDF5 file (``.h5``) with columns, units and the attributes.

        Raises:
            FileFormatError: the suffix is another.
            OSError: the file cannot be written; no half-written file stays.
        """
        _refuse_suffix(path)
        write_record(
            path,
            {name: getattr(self, name) for name in _ARRAYS},
            format=_FORMAT,
            version=_VERSION,
            attributes={
                "columns": {
                    "pre": PRE_COLUMNS,
                    "parameters": PARAMETER_COLUMNS,
                    "post": POST_COLUMNS,
                },
                "statuses": {str(item.value): item.name.lower() for item in CollisionStatus},
                "length_scale": self.length_scale,
                "attributes": dict(self.attributes),
            },
            package="contactworks-clash",
        )

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> CollisionDataset:
        """Return the dataset of a file.

        Raises:
            FileNotFoundError: there is no such file.
            FileFormatError: the file is no dataset, is damaged, or its contents do not fit.
        """
        _refuse_suffix(path)
        record = read_record(path, format=_FORMAT, versions=[_VERSION], required=_ARRAYS)
        try:
            pre, parameters, post, status = (record.arrays[name] for name in _ARRAYS)
            scale = float(record.attributes["length_scale"])
            return cls(pre, parameters, post, status, scale, record.attributes["attributes"])
        except (ModelError, KeyError, TypeError) as error:
            raise FileFormatError(f"{os.fspath(path)}: {error}") from error


def _rows(array: Float[np.ndarray, "*any"], name: str, count: int) -> Float[np.ndarray, "n k"]:
    if array.ndim != 2 or len(array) != count:
        raise ShapeError(
            f"{name}: got shape {array.shape}, expected ({count}, {array.shape[-1]}) as status has "
            f"{count} rows"
        )
    return array


def _as_status(value: Any) -> Int[np.ndarray, " n"]:
    status = np.asarray(value)
    if status.ndim != 1 or (status.size and status.dtype.kind not in "iu"):
        raise ShapeError(
            f"status: got shape {status.shape} of {status.dtype}, expected (n,) of int"
        )
    known = [int(item) for item in CollisionStatus]
    if not np.isin(status, known).all():
        row = int(np.flatnonzero(~np.isin(status, known))[0])
        raise ModelError(f"status[{row}]: got {status[row]}, expected one of {known}")
    return np.asarray(status, dtype=np.int64)


def _refuse_suffix(path: str | os.PathLike[str]) -> None:
    if not os.fspath(path).endswith(".h5"):
        raise FileFormatError(f"{os.fspath(path)}: expected a name that ends with '.h5'")
