"""A visuotactile sensor simulated with incremental potential contact."""

from __future__ import annotations

__version__ = "0.1.0"
