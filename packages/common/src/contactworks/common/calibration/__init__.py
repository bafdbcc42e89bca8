"""Calibration: parameters with bounds, problems, methods, and results that say what they know.

A :class:`CalibrationProblem` is a :class:`ParameterSpace` and a loss.  A method
(:class:`GridSearch`, :class:`CmaEs`, :class:`Alternating`, :class:`LeastSquares`,
:class:`GradientDescent`) works in coordinates from 0 to 1 and returns a :class:`CalibrationResult`.
"""

from __future__ import annotations

from contactworks.common.calibration.history import History, Status
from contactworks.common.calibration.identifiability import (
    IdentifiabilityOptions,
    IdentifiabilityReport,
    identifiability,
)
from contactworks.common.calibration.methods import (
    Alternating,
    Block,
    CmaEs,
    GradientDescent,
    GradientMethod,
    GridSearch,
    LeastSquares,
    Method,
    SearchMethod,
)
from contactworks.common.calibration.objective import Objective
from contactworks.common.calibration.parameters import Parameter, ParameterSpace
from contactworks.common.calibration.problem import CalibrationProblem
from contactworks.common.calibration.profile import LossProfile, profile
from contactworks.common.calibration.result import CalibrationResult

__all__ = [
    "Alternating",
    "Block",
    "CalibrationProblem",
    "CalibrationResult",
    "CmaEs",
    "GradientDescent",
    "GradientMethod",
    "GridSearch",
    "History",
    "IdentifiabilityOptions",
    "IdentifiabilityReport",
    "LeastSquares",
    "LossProfile",
    "Method",
    "Objective",
    "Parameter",
    "ParameterSpace",
    "SearchMethod",
    "Status",
    "identifiability",
    "profile",
]
