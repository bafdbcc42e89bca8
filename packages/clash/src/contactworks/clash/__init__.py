"""Collisions of a simulator distilled into a small network and fitted to real collisions."""

from __future__ import annotations

__version__ = "0.1.0"
