"""Real tosses of a cube: read, calibrate on a few, predict the others, compare with MuJoCo."""

from __future__ import annotations
