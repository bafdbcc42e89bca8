"""Contact-rich rigid-body simulation with the exact contact law.

An independent implementation from the CRISP paper; not the authors' code.
"""

from __future__ import annotations

from contactworks.common.geometry.shapes import Box, Capsule, Cylinder, Plane, Sphere

from .builder import BodyBuilder, ModelBuilder
from .data import Contacts, Data, Snapshot, SolverReport
from .model import Model
from .options import Options
from .simulation import forward, reset, step

__all__ = [
    "BodyBuilder",
    "Box",
    "Capsule",
    "Contacts",
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
    "step",
]

__version__ = "0.1.0"
