"""The collision table: pair of shape kinds to algorithm.

Source: CRISP Table III; the kernels stand in ``_kernels/narrow_*.py``, dispatched in
``_kernels/detect.py``.
"""

from __future__ import annotations

from contactworks.crisp._kernels.layout import BOX, CAPSULE, CYLINDER, PLANE, SPHERE

__all__ = ["algorithm", "is_supported"]

_TABLE = {
    (PLANE, SPHERE): "analytic, 1 point",
    (PLANE, CAPSULE): "analytic, 2 points",
    (PLANE, BOX): "corners, up to 8 points",
    (PLANE, CYLINDER): "lowest point of each rim and a ring with it, up to 16 points",
    (SPHERE, SPHERE): "analytic, 1 point",
    (SPHERE, CAPSULE): "analytic, 1 point",
    (SPHERE, BOX): "analytic, 1 point",
    (CAPSULE, CAPSULE): "analytic, up to 5 points",
    (CAPSULE, BOX): "analytic, up to 9 points",
    (BOX, BOX): "separating axes, clipped face and edge point, up to 9 points",
}


def algorithm(kind_a: int, kind_b: int) -> str | None:
    """Return a description of the algorithm of a pair of shape kinds, or None."""
    return _TABLE.get((min(kind_a, kind_b), max(kind_a, kind_b)))


def is_supported(kind_a: int, kind_b: int) -> bool:
    """Return whether the pair of shape kinds can be detected."""
    return algorithm(kind_a, kind_b) is not None
