"""The bounding box of a shape that is known only through its signed distance function."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from contactworks.common.errors import GeometryError
from contactworks.common.geometry.base import BoundingBox

__all__ = ["TOLERANCE", "estimate_bounds"]

#: How far the box may stand off the shape, over the largest extent of the shape.
TOLERANCE = 0.025

Evaluate: TypeAlias = Callable[[np.ndarray], np.ndarray]

_START = 1e-3
_TRIES = 12
_DOUBLINGS = 40
_LEVELS = 24
_MOST_CELLS = 2_000_000
_STEEPEST = 100.0


def estimate_bounds(
    evaluate: Evaluate, slopes: Callable[[np.ndarray], np.ndarray], name: str
) -> BoundingBox:
    """Return a box (3,), (3,) [m] that holds all points where the function is at or below 0.

    A cube around the origin grows until its sides are clear of the shape; then cells that the slope
    of the function proves empty are dropped, and those that could still widen the box are divided.

    Args:
        evaluate: signed distance (n,) at points (n, 3).
        slopes: |∇f| (n,) at points (n, 3).
        name: what the function is called in messages.

    Raises:
        GeometryError: no inside found, an unbounded shape, or a slope above 100.
    """
    samples = np.random.default_rng(0).uniform(-1.0, 1.0, size=(512, 3))
    steepest = 1.0
    # The point of the shape nearest to the origin then lies in the cube.
    least = 1.01 * abs(float(evaluate(np.zeros((1, 3)))[0])) or _START
    for _ in range(_TRIES):
        half = _enclosing_cube(evaluate, least, steepest, name)
        found = float(slopes(half * samples).max())
        if found <= 1.01 * steepest:
            box = _refined_box(evaluate, half, steepest)
            if box is None:  # far from the origin, behind a function that falls short of distance
                least = 2.0 * half
                continue
            lower, upper = box
            around = 0.5 * (lower + upper) + 0.75 * (upper - lower) * samples
            found = float(slopes(around).max())
            if found <= 1.01 * steepest:
                return lower, upper
        steepest = 1.1 * found
        if steepest > _STEEPEST:
            raise GeometryError(
                f"{name}: slope {found:.3g} found, expected about 1; give the bounds"
            )
    raise GeometryError(
        f"{name}: found no point inside the shape (no value at or below 0); if it is very thin or "
        "far from the origin, give the bounds"
    )


def _enclosing_cube(evaluate: Evaluate, least: float, steepest: float, name: str) -> float:
    """Return half the side [m] of a cube whose sides, and those of larger ones, are clear."""
    half = least
    ticks = np.linspace(-1.0, 1.0, 17)
    u, v = (grid.reshape(-1) for grid in np.meshgrid(ticks, ticks))
    sides = np.concatenate(
        [
            np.roll(np.column_stack([np.full_like(u, sign), u, v]), axis, axis=1)
            for axis in range(3)
            for sign in (-1.0, 1.0)
        ]
    )
    reach = steepest * (ticks[1] - ticks[0]) / np.sqrt(2.0)
    clear = 0
    for _ in range(_DOUBLINGS):
        clear = clear + 1 if (evaluate(half * sides) > reach * half).all() else 0
        if clear == 3:
            return half / 4.0
        half *= 2.0
    raise GeometryError(
        f"{name}: the shape seems to be unbounded (it reaches the sides of a cube of {half:.3g} m);"
        " give the bounds"
    )


def _refined_box(evaluate: Evaluate, half: float, steepest: float) -> BoundingBox | None:
    """Return the box around the shape inside the cube of half side ``half``; None if empty."""
    offsets = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
    centers = np.zeros((1, 3))
    inner_lower, inner_upper = np.full(3, np.inf), np.full(3, -np.inf)
    outer_lower, outer_upper = np.full(3, np.inf), np.full(3, -np.inf)
    for level in range(_LEVELS):
        values = evaluate(centers)
        reach = steepest * half * np.sqrt(3.0)
        is_inside = values <= 0.0
        if is_inside.any():
            # A ball around each of these points lies in the shape, too.
            depth = -values[is_inside, None] / steepest
            inner_lower = np.minimum(inner_lower, (centers[is_inside] - depth).min(axis=0))
            inner_upper = np.maximum(inner_upper, (centers[is_inside] + depth).max(axis=0))
        centers = centers[values <= reach]
        over = np.maximum(inner_lower - (centers - half), (centers + half) - inner_upper)
        size = max(float((inner_upper - inner_lower).max()), 0.0)
        # What stands out of the box by less than the tolerance is added without a closer look.
        is_settled = (over.max(axis=1) <= TOLERANCE * size) & (level > 3)
        if is_settled.any():
            outer_lower = np.minimum(outer_lower, (centers[is_settled] - half).min(axis=0))
            outer_upper = np.maximum(outer_upper, (centers[is_settled] + half).max(axis=0))
        centers = centers[~is_settled]
        if not len(centers):
            break
        if len(centers) > _MOST_CELLS // 8:
            break
        half *= 0.5
        centers = (centers[:, None, :] + 2.0 * half * offsets).reshape(-1, 3)
    if not np.isfinite(inner_lower).all():
        return None
    if len(centers):
        outer_lower = np.minimum(outer_lower, (centers - half).min(axis=0))
        outer_upper = np.maximum(outer_upper, (centers + half).max(axis=0))
    return np.minimum(inner_lower, outer_lower), np.maximum(inner_upper, outer_upper)
