"""Scenes with known answers; each returns a ``Scene`` that is ready to run."""

from __future__ import annotations

from .pile import bin_of_boxes
from .pinch import pinched_capsule
from .scene import Scene
from .slide import launched_cube, oblique_slide
from .spheres import bouncing_sphere, compliant_rest, rolling_sphere, sphere_collision
from .stack import top_heavy_stack

__all__ = [
    "Scene",
    "bin_of_boxes",
    "bouncing_sphere",
    "compliant_rest",
    "launched_cube",
    "oblique_slide",
    "pinched_capsule",
    "rolling_sphere",
    "sphere_collision",
    "top_heavy_stack",
]
