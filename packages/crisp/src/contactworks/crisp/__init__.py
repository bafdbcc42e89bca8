"""Contact-rich rigid-body simulation with the exact contact law.

An independent implementation from the CRISP paper; not the authors' code. Names are loaded at first
use, so that the command line answers at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from contactworks.common.lazy import lazy_names

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
    "BodyBuilder": "builder",
    "Box": _SHAPES,
    "Capsule": _SHAPES,
    "Contacts": "data",
    "CrispEngine": "engine",
    "Cylinder": _SHAPES,
    "Data": "data",
    "Model": "model",
    "ModelBuilder": "builder",
    "Options": "options",
    "Plane": _SHAPES,
    "Snapshot": "data",
    "SolverReport": "data",
    "Sphere": _SHAPES,
    "forward": "simulation",
    "reset": "simulation",
    "scenes": "",
    "step": "simulation",
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

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
