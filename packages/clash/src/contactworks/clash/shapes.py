"""The objects that are struck.

At this version there is one, the half disc of the paper.  An object's frame has its origin at the
centre of mass and z upwards.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from jaxtyping import Float

from contactworks.common.errors import ModelError
from contactworks.common.geometry.parts import Part, SemiCylinder
from contactworks.common.inertia import MassProperties

__all__ = ["SHAPE_NAMES", "StrikeShape", "strike_shape"]


@dataclass(frozen=True, slots=True, eq=False)
class StrikeShape:
    """A prism that lies on the table and is struck on its round side.

    Attributes:
        name: its name.
        part: the solid; the origin is its centroid.
        height: height of the prism [m].
        radius: radius of the round side [m].
        pivot: centre of the round side (2,) [m], from which impact angles are measured.
        impact_range: least and largest impact angle on the round side [rad], from the +x axis.
        length_scale: length [m] by which angular velocities are scaled to compare with linear ones.
    """

    name: str
    part: Part
    height: float
    radius: float
    pivot: tuple[float, float]
    impact_range: tuple[float, float]
    length_scale: float

    def mass_properties(self, density: float) -> MassProperties:
        """Return mass, centre of mass and inertia at ``density`` [kg/m³]."""
        return self.part.mass_properties(density)

    def outline(self) -> Float[np.ndarray, "k 2"]:
        """Return the corners (k, 2) [m] of the section, counter-clockwise.

        The round side is cut into chords of 128 to the full turn, so the outline lies inside the
        true curve by at most 0.03 % of its radius.
        """
        vertices = np.asarray(self.part.mesh().vertices)
        corners = vertices[vertices[:, 2] < 0.0][:, :2]
        # A convex section: its corners lie around the centroid in order.
        return np.asarray(corners[np.argsort(np.arctan2(corners[:, 1], corners[:, 0]))])

    def impact_points(
        self, theta: Float[npt.ArrayLike, " n"]
    ) -> tuple[Float[np.ndarray, "n 2"], Float[np.ndarray, "n 2"]]:
        """Return the points (n, 2) [m] of the round side at angles (n,) [rad], and their normals.

        Points and outward unit normals (n, 2) are in the object frame.
        """
        angle = np.asarray(theta, dtype=np.float64)
        normal = np.column_stack([np.cos(angle), np.sin(angle)])
        return np.asarray(self.pivot) + self.radius * normal, normal


def strike_shape(name: str) -> StrikeShape:
    """Return the shape of a name.

    ``"semicylinder"``: radius 50 mm, height 40 mm, flat side along x, round side towards +y; impact
    angles from 15° to 165°.

    Raises:
        ModelError: there is no such shape; the message lists those that exist.

    Source: CLASH paper, Table II (range of the impact angle).

    Example:
        >>> strike_shape("semicylinder").length_scale
        0.05
    """
    if name not in _SHAPES:
        known = ", ".join(f"'{known}'" for known in SHAPE_NAMES)
        raise ModelError(f"shape: got '{name}', expected one of: {known}")
    return _SHAPES[name]()


def _semicylinder() -> StrikeShape:
    radius, height = 0.05, 0.04
    part = SemiCylinder(radius=radius, height=height)
    return StrikeShape(
        name="semicylinder",
        part=part,
        height=height,
        radius=radius,
        pivot=part.circle_center,
        impact_range=(math.pi / 12.0, 11.0 * math.pi / 12.0),
        length_scale=radius,
    )


_SHAPES: dict[str, Callable[[], StrikeShape]] = {"semicylinder": _semicylinder}

SHAPE_NAMES: tuple[str, ...] = tuple(_SHAPES)
"""The shapes that :func:`strike_shape` knows."""
