"""Plain JSON values from dataclasses, arrays, paths and the like; public through ``records``."""

from __future__ import annotations

import dataclasses
import enum
import math
import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from contactworks.common.errors import ModelError

__all__ = ["to_jsonable", "without_nonfinite"]


def to_jsonable(value: Any, name: str = "value") -> Any:
    """Return ``value`` as plain dicts, lists, strings, numbers, booleans and None.

    Dataclasses become dicts, tuples, sets (sorted) and arrays become lists, paths and enumerations
    become strings.  NaN and infinity stay as they are.

    Args:
        value: what to turn.
        name: its name, for the message.

    Raises:
        ModelError: a part of ``value`` has no JSON form, or a key is no string or whole number.
    """
    if value is None or isinstance(value, bool | str):
        return value.value if isinstance(value, enum.Enum) else value
    if isinstance(value, enum.Enum):
        return to_jsonable(value.value, name)
    if isinstance(value, np.generic):
        return to_jsonable(value.item(), name)
    if isinstance(value, int | float):
        return value
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, np.ndarray):
        return (
            [to_jsonable(v, f"{name}[{i}]") for i, v in enumerate(value)]
            if value.ndim
            else (to_jsonable(value.item(), name))
        )
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = [field.name for field in dataclasses.fields(value)]
        return {f: to_jsonable(getattr(value, f), f"{name}.{f}") for f in fields}
    if isinstance(value, Mapping):
        return {_key(k, name): to_jsonable(v, f"{name}.{k}") for k, v in value.items()}
    if isinstance(value, set | frozenset):
        return [to_jsonable(v, name) for v in sorted(value)]
    if isinstance(value, list | tuple):
        return [to_jsonable(v, f"{name}[{i}]") for i, v in enumerate(value)]
    raise ModelError(
        f"{name}: got {type(value).__name__}, expected numbers, strings, lists, mappings or "
        "dataclasses of them"
    )


def _key(key: Any, name: str) -> str:
    if isinstance(key, enum.Enum):
        key = key.value
    if isinstance(key, str | int | np.integer) and not isinstance(key, bool):
        return str(key)
    raise ModelError(f"{name}: got the key {key!r}, expected a string or a whole number")


def without_nonfinite(value: Any, name: str, places: list[str]) -> Any:
    """Return plain ``value`` with None for NaN and infinity, whose names go into ``places``."""
    if isinstance(value, dict):
        return {k: without_nonfinite(v, f"{name}.{k}", places) for k, v in value.items()}
    if isinstance(value, list):
        return [without_nonfinite(v, f"{name}[{i}]", places) for i, v in enumerate(value)]
    if isinstance(value, float) and not math.isfinite(value):
        places.append(name)
        return None
    return value
