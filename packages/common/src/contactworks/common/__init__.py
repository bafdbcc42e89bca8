"""Shared geometry, rigid-body mathematics, calibration and engine protocol."""

from __future__ import annotations

from . import engine, errors, rotations
from .calibration import CalibrationResult, Parameter, ParameterSpace
from .inertia import MassProperties
from .poses import Pose, Twist, Wrench

__all__ = [
    "CalibrationResult",
    "MassProperties",
    "Parameter",
    "ParameterSpace",
    "Pose",
    "Twist",
    "Wrench",
    "engine",
    "errors",
    "rotations",
]

__version__ = "0.1.0"
