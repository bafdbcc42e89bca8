"""Collision detection: which pairs of shapes can meet, and by which algorithm."""

from __future__ import annotations

from .table import algorithm, is_supported

__all__ = ["algorithm", "is_supported"]
