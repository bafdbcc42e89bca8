"""Contact-rich rigid-body simulation with the exact contact law."""

from __future__ import annotations

__version__ = "0.1.0"
