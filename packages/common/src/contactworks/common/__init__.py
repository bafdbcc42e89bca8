"""Shared geometry, rigid-body mathematics, calibration and engine protocol."""

from __future__ import annotations

__version__ = "0.1.0"
