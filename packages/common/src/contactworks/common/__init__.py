"""Shared geometry, rigid-body mathematics, calibration and engine protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING

from contactworks.common.lazy import lazy_names

if TYPE_CHECKING:
    from contactworks.common import engine as engine
    from contactworks.common import errors as errors
    from contactworks.common import rotations as rotations
    from contactworks.common.calibration import CalibrationResult as CalibrationResult
    from contactworks.common.calibration import Parameter as Parameter
    from contactworks.common.calibration import ParameterSpace as ParameterSpace
    from contactworks.common.inertia import MassProperties as MassProperties
    from contactworks.common.poses import Pose as Pose
    from contactworks.common.poses import Twist as Twist
    from contactworks.common.poses import Wrench as Wrench

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

_HOMES = {
    "CalibrationResult": "calibration",
    "MassProperties": "inertia",
    "Parameter": "calibration",
    "ParameterSpace": "calibration",
    "Pose": "poses",
    "Twist": "poses",
    "Wrench": "poses",
    "engine": "",
    "errors": "",
    "rotations": "",
}

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
