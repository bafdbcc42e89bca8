"""Contact-rich rigid-body simulation with the exact contact law.

An independent implementation from the CRISP paper; not the authors' code. Names are loaded at first
use, so that the command line answers at once.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from contactworks.common.geometry.shapes import Box as Box
    from contactworks.common.geometry.shapes import Capsule as Capsule
    from contactworks.common.geometry.shapes import Cylinder as Cylinder
    from contactworks.common.geometry.shapes import Plane as Plane
    from contactworks.common.geometry.shapes import Sphere as Sphere

    from . import scenes as scenes
    from .builder import BodyBuilder as BodyBuilder
    from .builder import ModelBuilder as ModelBuilder
    from .data import Contacts as Contacts
    from .data import Data as Data
    from .data import Snapshot as Snapshot
    from .data import SolverReport as SolverReport
    from .engine import CrispEngine as CrispEngine
    from .model import Model as Model
    from .options import Options as Options
    from .simulation import forward as forward
    from .simulation import reset as reset
    from .simulation import step as step

__version__ = "0.1.0"

_SHAPES = "contactworks.common.geometry.shapes"
_HOMES = {
    "BodyBuilder": f"{__name__}.builder",
    "Box": _SHAPES,
    "Capsule": _SHAPES,
    "Contacts": f"{__name__}.data",
    "CrispEngine": f"{__name__}.engine",
    "Cylinder": _SHAPES,
    "Data": f"{__name__}.data",
    "Model": f"{__name__}.model",
    "ModelBuilder": f"{__name__}.builder",
    "Options": f"{__name__}.options",
    "Plane": _SHAPES,
    "Snapshot": f"{__name__}.data",
    "SolverReport": f"{__name__}.data",
    "Sphere": _SHAPES,
    "forward": f"{__name__}.simulation",
    "reset": f"{__name__}.simulation",
    "step": f"{__name__}.simulation",
}

__all__ = [
    "BodyBuilder",
    "Box",
    "Capsule",
    "Contacts",
    "CrispEngine",
    "Cylinder",
    "Data",
    "Model",
    "ModelBuilder",
    "Options",
    "Plane",
    "Snapshot",
    "SolverReport",
    "Sphere",
    "forward",
    "reset",
    "scenes",
    "step",
]


def __getattr__(name: str) -> Any:
    """Load a public name from the module that defines it."""
    if name == "scenes":
        return importlib.import_module(f"{__name__}.scenes")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
