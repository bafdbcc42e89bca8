"""A bolt with a hexagonal head and the hexagonal nut that goes onto it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from jaxtyping import Float, Int

from contactworks.common.arrays import points_array
from contactworks.common.errors import GeometryError
from contactworks.common.geometry import sdf
from contactworks.common.geometry.base import BoundingBox, set_positive
from contactworks.common.geometry.parts.extrusion import (
    extrude_distance,
    fan,
    make_mesh,
    regular_polygon,
    ring_wall,
    triangulate,
)
from contactworks.common.geometry.parts.moments import polygon_moments
from contactworks.common.geometry.parts.outlines import chain_distance, polygon_outline
from contactworks.common.geometry.parts.part import BoreFit, Part, check_bore_fit
from contactworks.common.geometry.parts.resolution import Resolution, segments_per_turn
from contactworks.common.geometry.parts.thread_form import ThreadForm
from contactworks.common.geometry.parts.thread_mesh import thread_wall
from contactworks.common.geometry.polyhedra import Mesh
from contactworks.common.inertia import MassProperties

__all__ = ["Bolt", "Nut"]

_LEAST_SEGMENTS = 8


@dataclass(frozen=True, slots=True, eq=False)
class Bolt(Part):
    """A bolt along z: a hexagonal head below z = 0 and a threaded shank above it.

    The origin lies on the axis in the plane where the shank leaves the head.  The thread is
    right-handed, triangular with flanks at 45 degrees, sharp at crest and root, cut off flat at the
    tip; see :mod:`contactworks.common.geometry.parts.thread_form`.  Its crest meets the x axis at
    z = 0.  Two flats of the head are normal to x.

    A nut with the same pitch sits coaxially on the bolt, with the same clearance on both flanks,
    where its frame is moved by z and turned by 2π z / pitch.  The radial clearance is
    ``nut.radius - bolt.radius``.

    Attributes:
        radius: radius of the root of the thread [m] (half the minor diameter); the crest lies
            half a pitch further out.
        pitch: rise per turn [m], at most 0.7 of the radius.
        length: length of the shank, without the head [m], above 0.
        head_width: width of the head across its flats [m], above the diameter of the crest.
        head_height: height of the head [m], above 0.

    Raises:
        GeometryError: a field out of range.
    """

    radius: float
    pitch: float
    length: float
    head_width: float
    head_height: float

    def __post_init__(self) -> None:
        set_positive(self, "radius", "pitch", "length", "head_width", "head_height")
        _check_width("Bolt.head_width", self.head_width, self.form)

    @property
    def form(self) -> ThreadForm:
        """Return the surface of the thread without ends."""
        return ThreadForm(self.radius, self.pitch)

    @property
    def crest_radius(self) -> float:
        """Return the radius of the crest of the thread [m] (half the major diameter)."""
        return self.form.outer_radius

    def mesh(self, resolution: Resolution = None) -> Mesh:
        """Return a watertight mesh that never reaches beyond the exact bolt.

        All vertices lie on its surface.

        Args:
            resolution: segments per turn (int), chord error [m] of the crest (float), or None for
                128 segments.

        Raises:
            GeometryError: a resolution that is out of range.
        """
        segments = segments_per_turn(resolution, self.crest_radius, minimum=_LEAST_SEGMENTS)
        wall = thread_wall(self.form, 0.0, self.length, segments)
        tip = len(wall.vertices)
        hexagon = _hexagon(self.head_width)
        upper = tip + 1 + np.arange(6)
        vertices = np.vstack(
            [
                wall.vertices,
                [[0.0, 0.0, self.length]],
                _at_height(hexagon, 0.0),
                _at_height(hexagon, -self.head_height),
            ]
        )
        return make_mesh(
            vertices,
            wall.faces,
            fan(tip, wall.upper_ring),
            _pierced(hexagon, wall.vertices[wall.lower_ring], upper, wall.lower_ring),
            ring_wall(upper + 6, upper),
            (upper + 6)[triangulate(hexagon)][:, ::-1],
        )

    def signed_distance(self, points: Float[npt.ArrayLike, "n 3"]) -> sdf.DistanceGradient:
        """Return the signed distance (n,) [m] and its gradient (n, 3).

        Zero exactly on the surface and 1-Lipschitz, so that its magnitude never exceeds the
        distance; first-order exact near the flanks, exact near head and tip.  A lower bound
        elsewhere: at least 0.92 of the distance next to crest and root, 0.38 = cos 67.5° next to
        the sharp edges where the flanks run out at the tip, and inside where head and shank join.
        """
        points = points_array(points)
        z = points[:, 2]
        shank = sdf.intersection(
            self.form.distance(points), _slab(z, -self.head_height, self.length)
        )
        planar = chain_distance(polygon_outline(_hexagon(self.head_width)), points[:, :2])
        return sdf.union(shank, extrude_distance(planar, z, -self.head_height, 0.0))

    def groove_flanks(
        self, points: Float[npt.ArrayLike, "n 3"]
    ) -> tuple[Float[np.ndarray, "n 2"], Float[np.ndarray, "n 2 3"]]:
        """Return distances (n, 2) [m] to both flanks of the groove, and unit normals (n, 2, 3).

        See :meth:`ThreadForm.groove_flanks`; the ends of the thread are left out.
        """
        return self.form.groove_flanks(points_array(points))

    def mass_properties(self, density: float) -> MassProperties:
        """Return mass, centre of mass and inertia at ``density`` [kg/m³].

        The inertia has small products: the thread is not a solid of revolution.
        """
        head = polygon_moments(_hexagon(self.head_width)).extruded(-self.head_height, 0.0)
        return (head + self.form.moments(0.0, self.length)).mass_properties(density)

    def bounding_box(self) -> BoundingBox:
        """Return the lower and the upper corner (3,) [m]."""
        x, y = 0.5 * self.head_width, self.head_width / math.sqrt(3.0)
        return np.array([-x, -y, -self.head_height]), np.array([x, y, self.length])

    @property
    def is_exact(self) -> bool:
        """Return False: beyond the surface the distance is a lower bound."""
        return False

    @property
    def sdf_parameters(self) -> dict[str, float]:
        """Return the fields and the constants of the thread's distance [m, 1/m]."""
        return {
            "radius": self.radius,
            "pitch": self.pitch,
            "length": self.length,
            "head_width": self.head_width,
            "head_height": self.head_height,
            "core_radius": self.form.core_radius,
            "damping": self.form.damping,
        }


@dataclass(frozen=True, slots=True, eq=False)
class Nut(Part):
    """A hexagonal nut along z with a thread right through; the origin is its middle.

    The thread is that of :class:`Bolt`, cut into the nut: right-handed, 45 degrees, sharp, without
    chamfers.  The outer edge of its groove meets the x axis at z = 0.  Two flats are normal to x.

    Attributes:
        radius: radius of the crest of the thread [m] (half the minor diameter): the radius of the
            fitting bolt plus the radial tolerance; the groove reaches half a pitch further out.
        pitch: rise per turn [m], at most 0.7 of the radius.
        height: height along z [m], above 0.
        width: width across the flats [m], above the diameter of the groove.

    Raises:
        GeometryError: a field out of range.
    """

    radius: float
    pitch: float
    height: float
    width: float

    def __post_init__(self) -> None:
        set_positive(self, "radius", "pitch", "height", "width")
        _check_width("Nut.width", self.width, self.form)

    @property
    def form(self) -> ThreadForm:
        """Return the surface of the thread without ends."""
        return ThreadForm(self.radius, self.pitch)

    @property
    def groove_radius(self) -> float:
        """Return the radius of the bottom of the groove [m] (half the major diameter)."""
        return self.form.outer_radius

    def mesh(self, resolution: Resolution = None, *, bore_fit: BoreFit = "clear") -> Mesh:
        """Return a watertight mesh of the nut.

        Args:
            resolution: segments per turn (int), chord error [m] of the groove (float), or None for
                128 segments.
            bore_fit: "clear" (default): the vertices of the thread lie r (1/cos(π/N) - 1) outside
                the exact surface and no facet reaches into the clearance, so that whatever fits
                the exact thread fits the mesh.  "inscribed": the vertices lie on the exact surface
                and the facets reach up to r (1 - cos(π/N)) into the clearance.

        Raises:
            GeometryError: a resolution that is out of range or too coarse for the wall.
        """
        check_bore_fit(bore_fit)
        is_clear = bore_fit == "clear"
        segments = segments_per_turn(
            resolution, self.groove_radius, minimum=_LEAST_SEGMENTS, is_circumscribed=is_clear
        )
        half = 0.5 * self.height
        wall = thread_wall(self.form, -half, half, segments, is_internal=True, is_clear=is_clear)
        reach = float(np.hypot(wall.vertices[:, 0], wall.vertices[:, 1]).max())
        if reach >= 0.5 * self.width:
            raise GeometryError(
                f"Nut.mesh: with {segments} segments a clear thread reaches {reach} m, expected "
                f"below half the width {0.5 * self.width} m; use a finer resolution"
            )
        hexagon = _hexagon(self.width)
        lower = len(wall.vertices) + np.arange(6)
        upper = lower + 6
        ends = [
            _pierced(hexagon, wall.vertices[ring], corners, ring)
            for ring, corners in ((wall.lower_ring, lower), (wall.upper_ring, upper))
        ]
        vertices = np.vstack([wall.vertices, _at_height(hexagon, -half), _at_height(hexagon, half)])
        return make_mesh(
            vertices, wall.faces[:, ::-1], ends[0][:, ::-1], ends[1], ring_wall(lower, upper)
        )

    def signed_distance(self, points: Float[npt.ArrayLike, "n 3"]) -> sdf.DistanceGradient:
        """Return the signed distance (n,) [m] and its gradient (n, 3).

        Zero exactly on the surface and 1-Lipschitz, so that its magnitude never exceeds the
        distance; first-order exact near the flanks, exact near the faces of the hexagon.  A lower
        bound elsewhere: at least 0.92 of the distance next to crest and root, 0.38 = cos 67.5° next
        to the sharp edges where the flanks run out at both ends.
        """
        points = points_array(points)
        half = 0.5 * self.height
        planar = chain_distance(polygon_outline(_hexagon(self.width)), points[:, :2])
        return sdf.difference(
            extrude_distance(planar, points[:, 2], -half, half), self.form.distance(points)
        )

    def groove_flanks(
        self, points: Float[npt.ArrayLike, "n 3"]
    ) -> tuple[Float[np.ndarray, "n 2"], Float[np.ndarray, "n 2 3"]]:
        """Return distances (n, 2) [m] to both flanks of the groove, and unit normals (n, 2, 3).

        See :meth:`ThreadForm.groove_flanks`; the ends of the thread are left out.
        """
        return self.form.groove_flanks(points_array(points), is_internal=True)

    def mass_properties(self, density: float) -> MassProperties:
        """Return mass, centre of mass and inertia at ``density`` [kg/m³].

        The inertia has small products: the thread is not a solid of revolution.
        """
        half = 0.5 * self.height
        block = polygon_moments(_hexagon(self.width)).extruded(-half, half)
        return (block - self.form.moments(-half, half)).mass_properties(density)

    def bounding_box(self) -> BoundingBox:
        """Return the lower and the upper corner (3,) [m]."""
        upper = np.array([0.5 * self.width, self.width / math.sqrt(3.0), 0.5 * self.height])
        return -upper, upper

    @property
    def is_exact(self) -> bool:
        """Return False: beyond the surface the distance is a lower bound."""
        return False

    @property
    def sdf_parameters(self) -> dict[str, float]:
        """Return the fields and the constants of the thread's distance [m, 1/m]."""
        return {
            "radius": self.radius,
            "pitch": self.pitch,
            "height": self.height,
            "width": self.width,
            "core_radius": self.form.core_radius,
            "damping": self.form.damping,
        }


def _hexagon(width: float) -> Float[np.ndarray, "6 2"]:
    """Return the corners (6, 2) of a hexagon of ``width`` [m] across flats, two normal to x."""
    return regular_polygon(width / math.sqrt(3.0), 6, math.pi / 6.0)


def _at_height(planar: Float[np.ndarray, "n 2"], z: float) -> Float[np.ndarray, "n 3"]:
    return np.column_stack([planar, np.full(len(planar), z)])


def _pierced(
    hexagon: Float[np.ndarray, "6 2"],
    ring_points: Float[np.ndarray, "n 3"],
    corners: Int[np.ndarray, " 6"],
    ring: Int[np.ndarray, " n"],
) -> Int[np.ndarray, "m 3"]:
    """Return upward faces between a hexagon with vertices ``corners`` and the ring inside it."""
    indices = np.concatenate([corners, ring])
    return np.asarray(indices[triangulate(hexagon, ring_points[:, :2])])


def _slab(z: Float[np.ndarray, " n"], lower: float, upper: float) -> sdf.DistanceGradient:
    """Return the signed distance to the layer between two heights [m]."""
    distance = np.maximum(lower - z, z - upper)
    gradient = np.zeros((len(z), 3))
    gradient[:, 2] = np.where(z - upper >= lower - z, 1.0, -1.0)
    return distance, gradient


def _check_width(name: str, width: float, form: ThreadForm) -> None:
    """Refuse a hexagon that the thread would break through."""
    if 0.5 * width <= form.outer_radius:
        raise GeometryError(
            f"{name}: got {width} m across flats, expected above twice the outer radius of the "
            f"thread, {2.0 * form.outer_radius} m"
        )
