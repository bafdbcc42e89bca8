"""The errors of Contactworks: one root, specific children.

A message says what is wrong, where (name or index), what was got and what was expected.
"""

from __future__ import annotations

__all__ = [
    "CalibrationError",
    "ContactworksError",
    "ConvergenceError",
    "FileFormatError",
    "GeometryError",
    "MissingDependencyError",
    "ModelError",
    "ShapeError",
]


class ContactworksError(Exception):
    """Root of every error that Contactworks raises on purpose."""


class ModelError(ContactworksError, ValueError):
    """Raised when a model, a state or an option has a value that cannot be simulated."""


class ShapeError(ModelError):
    """Raised when an array has the wrong shape."""


class GeometryError(ModelError):
    """Raised when a shape or a mesh cannot be used: empty, not watertight, NaN, degenerate."""


class ConvergenceError(ContactworksError):
    """Raised when a computation was asked to fail rather than return an unconverged result."""


class CalibrationError(ContactworksError, ValueError):
    """Raised when a calibration problem or its result is unusable."""


class FileFormatError(ContactworksError, ValueError):
    """Raised when a file is not what it should be; names the file and the place in it."""


class MissingDependencyError(ContactworksError, ImportError):
    """Raised when an optional package is needed; says what to install."""
