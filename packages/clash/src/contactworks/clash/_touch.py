"""How far a disc can go in the plane until it touches a convex polygon."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

__all__ = ["travel_to_touch"]

# A disc that touches from the start may overlap by this much [m].
_ROUNDING = 1e-12


def travel_to_touch(
    outline: Float[np.ndarray, "k 2"],
    radius: float,
    centers: Float[np.ndarray, "n 2"],
    directions: Float[np.ndarray, "n 2"],
) -> Float[np.ndarray, " n"]:
    """Return the distances (n,) [m] that discs go until they touch; infinite where they pass by.

    Args:
        outline: corners (k, 2) [m] of a convex polygon, counter-clockwise.
        radius: radius of the discs [m].
        centers: where their centres start (n, 2) [m], outside by at least the radius.
        directions: unit vectors (n, 2) along which they go.

    A disc touches a polygon where its centre meets the polygon grown by the radius: a side moved
    outwards, or a circle about a corner.
    """
    travel = np.full(len(centers), np.inf)
    for corner, following in zip(outline, np.roll(outline, -1, axis=0), strict=True):
        side = following - corner
        length = float(np.linalg.norm(side))
        along = side / length
        outward = np.array([along[1], -along[0]])
        offset = centers - corner
        closing = -(directions @ outward)
        gap = offset @ outward - radius
        meets = closing > 0.0
        to_side = gap / np.where(meets, closing, 1.0)
        reached = offset @ along + to_side * (directions @ along)
        # The sides behind a disc that goes away face it too, and lie behind it.
        is_on_side = meets & (gap >= -_ROUNDING) & (reached >= 0.0) & (reached <= length)
        travel = np.where(is_on_side, np.minimum(travel, to_side), travel)

        half = np.einsum("ni,ni->n", offset, directions)
        reach = half**2 - (np.einsum("ni,ni->n", offset, offset) - radius**2)
        meets = (reach >= 0.0) & (half < 0.0)
        to_corner = np.where(meets, -half - np.sqrt(np.where(meets, reach, 0.0)), np.inf)
        travel = np.minimum(travel, to_corner)
    return travel
