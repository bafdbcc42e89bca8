"""A spur gear with involute teeth and a bore."""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from jaxtyping import Float

from contactworks.common.arrays import finite_scalar, points_array
from contactworks.common.errors import GeometryError
from contactworks.common.geometry import sdf
from contactworks.common.geometry.base import BoundingBox, set_positive
from contactworks.common.geometry.parts.extrusion import (
    extrude_distance,
    prism_mesh,
    regular_polygon,
)
from contactworks.common.geometry.parts.involute import ToothForm, involute
from contactworks.common.geometry.parts.moments import SectionMoments, disc_moments
from contactworks.common.geometry.parts.part import BoreFit, Part, check_bore_fit
from contactworks.common.geometry.parts.resolution import (
    DEFAULT_SEGMENTS,
    Resolution,
    chord_error,
    least_bore_segments,
    segments_per_turn,
)
from contactworks.common.geometry.polyhedra import Mesh
from contactworks.common.inertia import MassProperties

__all__ = ["Gear"]

_ADDENDUM = 1.0
_DEDENDUM = 1.25
_LEAST_TEETH = 5


@dataclass(frozen=True, slots=True, eq=False)
class Gear(Part):
    """A spur gear along z; the origin is its centroid, a tooth is centred on the x axis.

    The flanks are involutes, continued below the base circle by radial lines.  Tip and root circles
    lie one module outside and 1.25 modules inside the pitch circle.  There is no undercut: where
    teeth are fewer than 2/sin²(pressure angle) (17.1 at 20 degrees) the tips of a large mating gear
    would touch the radial lines.

    Two gears of the same module and pressure angle mesh at :meth:`center_distance`.

    Attributes:
        module: pitch diameter over number of teeth [m], above 0.
        teeth: number of teeth, at least 5.
        thickness: thickness along z [m], above 0.
        bore: diameter of the bore [m], below that of the root circle; 0 for none.
        pressure_angle: angle of the line of action [rad]; 20 degrees unless asked otherwise.
        backlash: by how much a tooth is thinner than half of the pitch, as an arc of the pitch
            circle [m]; 0 or more.

    Raises:
        GeometryError: a field out of range, or fields with which teeth come to a point below the
            tip circle or leave no space between them.

    Source: basic rack of ISO 53, profile A, with sharp root corners; the involute as in
    :mod:`contactworks.common.geometry.parts.involute`.

    Example:
        >>> gear = Gear(module=0.004, teeth=25, thickness=0.01, bore=0.02)
        >>> round(gear.pitch_radius, 6), round(gear.tip_radius, 6)
        (0.05, 0.054)
    """

    module: float
    teeth: int
    thickness: float
    bore: float
    pressure_angle: float = math.radians(20.0)
    backlash: float = 0.0

    def __post_init__(self) -> None:
        set_positive(self, "module", "thickness", "pressure_angle")
        if (
            isinstance(self.teeth, bool)
            or not isinstance(self.teeth, numbers.Integral)
            or self.teeth < _LEAST_TEETH
        ):
            raise GeometryError(
                f"Gear.teeth: got {self.teeth!r}, expected an int of at least {_LEAST_TEETH}"
            )
        object.__setattr__(self, "teeth", int(self.teeth))
        for name in ("bore", "backlash"):
            value = finite_scalar(getattr(self, name), f"Gear.{name}", error=GeometryError)
            if value < 0.0:
                raise GeometryError(f"Gear.{name}: got {value} m, expected 0 or more")
            object.__setattr__(self, name, value)
        if self.bore >= 2.0 * self.root_radius:
            raise GeometryError(
                f"Gear.bore: got a diameter of {self.bore} m, expected below that of the root "
                f"circle, {2.0 * self.root_radius} m"
            )
        self._check_teeth()

    @property
    def pitch_radius(self) -> float:
        """Return the radius of the pitch circle [m]."""
        return 0.5 * self.module * self.teeth

    @property
    def base_radius(self) -> float:
        """Return the radius of the base circle [m]."""
        return self.pitch_radius * math.cos(self.pressure_angle)

    @property
    def tip_radius(self) -> float:
        """Return the radius of the tip circle [m]."""
        return self.pitch_radius + _ADDENDUM * self.module

    @property
    def root_radius(self) -> float:
        """Return the radius of the root circle [m]."""
        return self.pitch_radius - _DEDENDUM * self.module

    @property
    def tooth_form(self) -> ToothForm:
        """Return the outline of the gear without its bore."""
        half_tooth = 0.5 * math.pi / self.teeth - 0.5 * self.backlash / self.pitch_radius
        base_angle = half_tooth + involute(self.pitch_radius, self.base_radius)
        return ToothForm(
            self.teeth, self.base_radius, self.root_radius, self.tip_radius, base_angle
        )

    def center_distance(self, other: Gear) -> float:
        """Return the distance of the axes [m] at which the pitch circles of two gears touch.

        Raises:
            GeometryError: gears that do not mesh: another module or pressure angle.
        """
        mine, others = (self.module, self.pressure_angle), (other.module, other.pressure_angle)
        if not np.allclose(mine, others, rtol=1e-9, atol=0.0):
            raise GeometryError(
                f"Gear.center_distance: got module and pressure angle {others}, expected {mine}"
            )
        return self.pitch_radius + other.pitch_radius

    def meshing_angle(self, other: Gear) -> float:
        """Return the turn [rad] of ``other`` that puts a space where this gear has a tooth.

        For this gear unturned at the origin and the other on the positive x axis.  A turn of this
        gear by b then goes with a further turn of the other by -b · teeth / other.teeth.
        """
        self.center_distance(other)
        return math.pi - math.pi / other.teeth

    def mesh(self, resolution: Resolution = None, *, bore_fit: BoreFit = "clear") -> Mesh:
        """Return a watertight mesh whose teeth never reach beyond the exact ones.

        Args:
            resolution: segments per turn (int), chord error [m] (float), or None for 128 segments.
                The flanks are cut to the chord error that the segments have at the tip circle;
                every tip and every root has one segment at least.
            bore_fit: "clear" (default): the facets of the bore touch it from the side of the
                material; its vertices lie r (1/cos(π/N) - 1) outside.  "inscribed": the vertices
                lie on the bore and the facets narrow it by r (1 - cos(π/N)).

        Raises:
            GeometryError: a resolution that is out of range or too coarse for the rim.
        """
        check_bore_fit(bore_fit)
        segments = segments_per_turn(resolution, self.tip_radius)
        outer = self.tooth_form.polygon(segments, chord_error(segments, self.tip_radius))
        half = 0.5 * self.thickness
        if self.bore == 0.0:
            return prism_mesh(outer, -half, half)
        return prism_mesh(
            outer, -half, half, hole=self._bore_polygon(resolution, outer, bore_fit == "clear")
        )

    def signed_distance(self, points: Float[npt.ArrayLike, "n 3"]) -> sdf.DistanceGradient:
        """Return the exact signed distance (n,) [m] and its gradient (n, 3)."""
        points = points_array(points)
        distance, slope = self.tooth_form.distance(points[:, :2])
        if self.bore > 0.0:
            rho = np.hypot(points[:, 0], points[:, 1])
            is_bore = 0.5 * self.bore - rho > distance
            distance = np.where(is_bore, 0.5 * self.bore - rho, distance)
            scale = np.where(rho > 0.0, rho, 1.0)[:, None]
            inwards = np.where((rho > 0.0)[:, None], -points[:, :2] / scale, np.array([-1.0, 0.0]))
            slope = np.where(is_bore[:, None], inwards, slope)
        half = 0.5 * self.thickness
        return extrude_distance((distance, slope), points[:, 2], -half, half)

    def mass_properties(self, density: float) -> MassProperties:
        """Return mass, centre of mass and inertia at ``density`` [kg/m³], in closed form."""
        area, polar = self.tooth_form.area_and_polar_moment()
        # Five or more equal teeth: the section has the same second moment about every axis in it.
        section = SectionMoments(area, np.zeros(2), 0.5 * polar * np.eye(2))
        if self.bore > 0.0:
            section = section - disc_moments(0.5 * self.bore)
        half = 0.5 * self.thickness
        return section.extruded(-half, half).mass_properties(density)

    def bounding_box(self) -> BoundingBox:
        """Return the lower and the upper corner (3,) [m]."""
        x_upper, y_upper, x_lower, y_lower = (
            self.tooth_form.extent(0.5 * math.pi * quarter) for quarter in range(4)
        )
        half = 0.5 * self.thickness
        return np.array([-x_lower, -y_lower, -half]), np.array([x_upper, y_upper, half])

    @property
    def sdf_parameters(self) -> dict[str, float]:
        """Return the numbers of :class:`ToothForm`, ``bore_radius`` and ``half_thickness``."""
        form = self.tooth_form
        return {
            "teeth": float(self.teeth),
            "base_radius": form.base_radius,
            "root_radius": form.root_radius,
            "tip_radius": form.tip_radius,
            "base_angle": form.base_angle,
            "bore_radius": 0.5 * self.bore,
            "half_thickness": 0.5 * self.thickness,
        }

    def _bore_polygon(
        self, resolution: Resolution, outer: Float[np.ndarray, "n 2"], is_clear: bool
    ) -> Float[np.ndarray, "m 2"]:
        """Return the corners (m, 2) of the bore, which must stay inside the polygon ``outer``."""
        radius = 0.5 * self.bore
        # Chords of the root come nearer to the axis than the root circle.
        following = np.roll(outer, -1, axis=0)
        rim = float(np.hypot(*(0.5 * (outer + following)).T).min())
        if rim > radius:
            needed = least_bore_segments(radius, rim) if is_clear else 3
            count = segments_per_turn(
                resolution, self.tip_radius, default=max(DEFAULT_SEGMENTS, needed)
            )
        if rim <= radius or count < needed:
            raise GeometryError(
                f"Gear.mesh: at resolution {resolution} the rim between the bore of radius "
                f"{radius} m and the root chords at {rim} m is too thin; use a finer resolution"
            )
        return regular_polygon(radius / math.cos(math.pi / count) if is_clear else radius, count)

    def _check_teeth(self) -> None:
        """Refuse a pressure angle or backlash with which there are no teeth or no spaces."""
        if self.pressure_angle >= 0.25 * math.pi:
            raise GeometryError(
                f"Gear.pressure_angle: got {self.pressure_angle} rad, expected below π/4"
            )
        form = self.tooth_form
        if form.tip_angle <= 0.0:
            raise GeometryError(
                f"Gear: teeth come to a point below the tip circle (half angle {form.tip_angle} "
                "rad); expected more teeth, a smaller pressure angle or less backlash"
            )
        if form.root_angle >= form.half_sector:
            raise GeometryError(
                f"Gear: no space between the teeth at the root (half angle {form.root_angle} rad "
                f"of {form.half_sector}); expected another pressure angle"
            )
