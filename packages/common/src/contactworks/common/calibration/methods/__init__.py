"""Calibration methods, one file each."""

from __future__ import annotations

from contactworks.common.calibration.methods.alternating import Alternating, Block
from contactworks.common.calibration.methods.base import Method, SearchMethod
from contactworks.common.calibration.methods.cmaes import CmaEs
from contactworks.common.calibration.methods.gradient import GradientDescent, GradientMethod
from contactworks.common.calibration.methods.grid import GridSearch
from contactworks.common.calibration.methods.least_squares import LeastSquares

__all__ = [
    "Alternating",
    "Block",
    "CmaEs",
    "GradientDescent",
    "GradientMethod",
    "GridSearch",
    "LeastSquares",
    "Method",
    "SearchMethod",
]
