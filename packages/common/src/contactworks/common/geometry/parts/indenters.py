"""The indenters that press into a tactile gel, by name."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from jaxtyping import Float

from contactworks.common.arrays import points_array
from contactworks.common.errors import GeometryError
from contactworks.common.geometry import sdf
from contactworks.common.geometry.base import BoundingBox
from contactworks.common.geometry.parts.extrusion import (
    disc_mesh,
    extrude_distance,
    prism_mesh,
    regular_polygon,
)
from contactworks.common.geometry.parts.outlines import (
    Arc,
    Segment,
    chain_distance,
    outline_moments,
    polygon_outline,
    sample_outline,
)
from contactworks.common.geometry.parts.part import Part
from contactworks.common.geometry.parts.prisms import triangle_corners
from contactworks.common.geometry.parts.resolution import Resolution, segments_per_turn
from contactworks.common.geometry.parts.spherical_cap import (
    cap_distance,
    cap_mesh,
    cap_moments,
    cap_rim_radius,
)
from contactworks.common.geometry.polyhedra import Mesh
from contactworks.common.inertia import MassProperties

__all__ = ["INDENTER_NAMES", "Indenter"]

Outline: TypeAlias = tuple[Segment | Arc, ...]

INDENTER_NAMES = ("cube", "cylinder", "triangle", "moon", "sphere")
"""The names of the indenters."""

_HEIGHT = 2e-3
_CUBE_SIDE = 6e-3
_CYLINDER_RADIUS = 3e-3
_TRIANGLE_CIRCUMRADIUS = 4e-3
_MOON_RADIUS = 4e-3
_MOON_BITE_RADIUS = 3.2e-3
_MOON_BITE_OFFSET = 2e-3
_SPHERE_RADIUS = 4e-3
_DEFAULT_SEGMENTS = 48


@dataclass(frozen=True, slots=True, eq=False)
class Indenter(Part):
    """A small solid that presses into a gel with its face at z = 0; the body lies towards +z.

    The origin is the centre of the face that touches.  All are 2 mm high.

    =========  =================================================================================
    name       section (a prism along z, but for the sphere)
    =========  =================================================================================
    cube       a square of 6 mm, sides along x and y
    cylinder   a disc of radius 3 mm
    triangle   an equilateral triangle of circumradius 4 mm, one corner at +y
    moon       a disc of radius 4 mm about the origin, without a disc of radius 3.2 mm whose
               centre lies 2 mm away on the positive x axis
    sphere     the lower 2 mm of a ball of radius 4 mm that touches the origin from above
    =========  =================================================================================

    Attributes:
        name: one of ``INDENTER_NAMES``.

    Raises:
        GeometryError: another name.

    Example:
        >>> Indenter("cube").bounding_box()[1]
        array([0.003, 0.003, 0.002])
    """

    name: str

    def __post_init__(self) -> None:
        if self.name not in INDENTER_NAMES:
            raise GeometryError(
                f"Indenter.name: got {self.name!r}, expected one of {', '.join(INDENTER_NAMES)}"
            )

    @property
    def height(self) -> float:
        """Return the height along z [m]."""
        return _HEIGHT

    def mesh(self, resolution: Resolution = None) -> Mesh:
        """Return a watertight mesh whose vertices lie on the surface.

        The facets lie inside the exact solid, but those along the hollow side of the moon, which
        reach out of it by the chord error.

        Args:
            resolution: segments per full turn (int), chord error [m] (float), or None for 48; cube
                and triangle are exact and take no notice.

        Raises:
            GeometryError: a resolution that is out of range.
        """
        if self.name == "sphere":
            segments = self._segments(resolution, _SPHERE_RADIUS)
            return cap_mesh(_SPHERE_RADIUS, _HEIGHT, segments)
        if self.name == "cylinder":
            segments = self._segments(resolution, _CYLINDER_RADIUS)
            return disc_mesh(regular_polygon(_CYLINDER_RADIUS, segments), 0.0, _HEIGHT)
        segments = 1 if self.name != "moon" else self._segments(resolution, _MOON_RADIUS)
        return prism_mesh(sample_outline(self._outline(), segments), 0.0, _HEIGHT)

    def signed_distance(self, points: Float[npt.ArrayLike, "n 3"]) -> sdf.DistanceGradient:
        """Return the exact signed distance (n,) [m] and its gradient (n, 3)."""
        points = points_array(points)
        middle = points - np.array([0.0, 0.0, 0.5 * _HEIGHT])
        if self.name == "sphere":
            return cap_distance(points, _SPHERE_RADIUS, _HEIGHT)
        if self.name == "cylinder":
            return sdf.cylinder_sdf(middle, _CYLINDER_RADIUS, 0.5 * _HEIGHT)
        if self.name == "cube":
            return sdf.box_sdf(middle, (0.5 * _CUBE_SIDE, 0.5 * _CUBE_SIDE, 0.5 * _HEIGHT))
        planar = chain_distance(self._outline(), points[:, :2])
        return extrude_distance(planar, points[:, 2], 0.0, _HEIGHT)

    def mass_properties(self, density: float) -> MassProperties:
        """Return mass, centre of mass and inertia at ``density`` [kg/m³], in closed form."""
        if self.name == "sphere":
            return cap_moments(_SPHERE_RADIUS, _HEIGHT).mass_properties(density)
        return outline_moments(self._outline()).extruded(0.0, _HEIGHT).mass_properties(density)

    def bounding_box(self) -> BoundingBox:
        """Return the lower and the upper corner (3,) [m]."""
        if self.name == "sphere":
            half = cap_rim_radius(_SPHERE_RADIUS, _HEIGHT)
            return np.array([-half, -half, 0.0]), np.array([half, half, _HEIGHT])
        r = _TRIANGLE_CIRCUMRADIUS
        horn_x, _ = _moon_horn()
        x_range, y_range = {
            "cube": ((-0.5 * _CUBE_SIDE, 0.5 * _CUBE_SIDE),) * 2,
            "cylinder": ((-_CYLINDER_RADIUS, _CYLINDER_RADIUS),) * 2,
            "triangle": ((-0.5 * math.sqrt(3.0) * r, 0.5 * math.sqrt(3.0) * r), (-0.5 * r, r)),
            "moon": ((-_MOON_RADIUS, horn_x), (-_MOON_RADIUS, _MOON_RADIUS)),
        }[self.name]
        return (
            np.array([x_range[0], y_range[0], 0.0]),
            np.array([x_range[1], y_range[1], _HEIGHT]),
        )

    @property
    def sdf_parameters(self) -> dict[str, float]:
        """Return the numbers of the section [m], and ``height``."""
        section = {
            "cube": {"side": _CUBE_SIDE},
            "cylinder": {"radius": _CYLINDER_RADIUS},
            "triangle": {"circumradius": _TRIANGLE_CIRCUMRADIUS},
            "moon": {
                "radius": _MOON_RADIUS,
                "bite_radius": _MOON_BITE_RADIUS,
                "bite_offset": _MOON_BITE_OFFSET,
            },
            "sphere": {"radius": _SPHERE_RADIUS},
        }[self.name]
        return {**section, "height": _HEIGHT}

    def _outline(self) -> Outline:
        """Return the section of a prism, counter-clockwise."""
        if self.name == "cube":
            half = 0.5 * _CUBE_SIDE
            return polygon_outline(
                half * np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
            )
        if self.name == "triangle":
            return polygon_outline(triangle_corners(_TRIANGLE_CIRCUMRADIUS))
        if self.name == "cylinder":
            return (Arc((0.0, 0.0), _CYLINDER_RADIUS, 0.0, 2.0 * math.pi),)
        x, y = _moon_horn()
        outer = math.atan2(y, x)
        inner = math.atan2(y, x - _MOON_BITE_OFFSET)
        return (
            Arc((0.0, 0.0), _MOON_RADIUS, outer, 2.0 * (math.pi - outer)),
            Arc((_MOON_BITE_OFFSET, 0.0), _MOON_BITE_RADIUS, -inner, -2.0 * (math.pi - inner)),
        )

    def _segments(self, resolution: Resolution, radius: float) -> int:
        return segments_per_turn(resolution, radius, default=_DEFAULT_SEGMENTS, minimum=8)


def _moon_horn() -> tuple[float, float]:
    """Return the upper point (x, y) [m] where the two circles of the moon cross."""
    x = (_MOON_RADIUS**2 - _MOON_BITE_RADIUS**2 + _MOON_BITE_OFFSET**2) / (2.0 * _MOON_BITE_OFFSET)
    return x, math.sqrt(_MOON_RADIUS**2 - x**2)
