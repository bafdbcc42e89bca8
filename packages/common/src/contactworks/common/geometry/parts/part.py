"""What every parametric part offers: a mesh, a signed distance and mass properties that agree."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy.typing as npt
from jaxtyping import Float

from contactworks.common.errors import GeometryError
from contactworks.common.geometry.base import BoundingBox, Shape
from contactworks.common.geometry.parts.resolution import Resolution
from contactworks.common.geometry.polyhedra import Mesh
from contactworks.common.geometry.sdf import DistanceGradient
from contactworks.common.inertia import MassProperties

__all__ = ["BoreFit", "Part", "PartSdf", "check_bore_fit"]

BoreFit: TypeAlias = Literal["clear", "inscribed"]
"""How a chord mesh treats a round opening, see :func:`check_bore_fit`."""


class Part(Shape):
    """A solid with few parameters, described exactly, in its own frame, in metres.

    Subclasses are frozen, slotted dataclasses, equal by value.
    """

    __slots__ = ()

    @abstractmethod
    def mesh(self, resolution: Resolution = None) -> Mesh:
        """Return a watertight, outward oriented triangle mesh of the part.

        Args:
            resolution: an ``int`` is the number of segments of a full turn, a ``float`` the largest
                chord error [m] of curved surfaces, ``None`` the default of the part.

        Raises:
            GeometryError: a resolution that is out of range or too coarse for the part.
        """

    @abstractmethod
    def signed_distance(self, points: Float[npt.ArrayLike, "n 3"]) -> DistanceGradient:
        """Return the signed distance (n,) [m], negative inside, and its gradient (n, 3).

        Args:
            points: query points (n, 3) [m] in the frame of the part.
        """

    @abstractmethod
    def mass_properties(self, density: float) -> MassProperties:
        """Return mass, centre of mass and inertia at ``density`` [kg/m³], from the exact shape.

        Raises:
            ModelError: a density that is not a finite number above 0.
        """

    @property
    @abstractmethod
    def sdf_parameters(self) -> dict[str, float]:
        """Return the numbers [m or rad] that the signed distance needs, in a fixed order."""

    @property
    def is_exact(self) -> bool:
        """Return whether the signed distance is exact everywhere, not only at the surface."""
        return True

    def sdf(self) -> PartSdf:
        """Return the signed distance as an object that can be called on points (n, 3)."""
        return PartSdf(self)


@dataclass(frozen=True, slots=True)
class PartSdf:
    """The signed distance of a part.

    Zero on the surface, negative inside, 1-Lipschitz: its magnitude never exceeds the distance to
    the surface.  The gradient is a unit vector on the surface and points outwards.

    Attributes:
        part: the part.

    Example:
        >>> import numpy as np
        >>> from contactworks.common.geometry.parts import Peg
        >>> distance, gradient = Peg(0.025, 0.1).sdf()(np.array([[0.03, 0.0, 0.0]]))
        >>> round(float(distance[0]), 12)
        0.005
    """

    part: Part

    def __call__(self, points: Float[npt.ArrayLike, "n 3"]) -> DistanceGradient:
        """Return the signed distance (n,) [m] and its gradient (n, 3) at ``points`` (n, 3) [m]."""
        return self.part.signed_distance(points)

    def signed_distance(self, points: Float[npt.ArrayLike, "n 3"]) -> DistanceGradient:
        """Return the same as a call does, under the name that shapes use."""
        return self.part.signed_distance(points)

    @property
    def kind(self) -> str:
        """Return the name of the part's family, e.g. ``"bolt"``: which formula to evaluate."""
        return type(self.part).__name__.lower()

    @property
    def parameters(self) -> dict[str, float]:
        """Return the numbers [m or rad] of the formula, by name, in a fixed order."""
        return self.part.sdf_parameters

    @property
    def is_exact(self) -> bool:
        """Return whether the distance is exact everywhere, not only at the surface."""
        return self.part.is_exact

    def bounding_box(self) -> BoundingBox:
        """Return the lower and the upper corner (3,) [m] of the part."""
        return self.part.bounding_box()


def check_bore_fit(bore_fit: str) -> None:
    """Refuse a bore fit that is neither "clear" nor "inscribed".

    "clear": the facets of the opening touch the exact surface from the side of the material, so the
    mesh never narrows the clearance.  "inscribed": the vertices lie on the exact surface, so the
    facets narrow a bore of radius r with N segments by r (1 - cos(π / N)).

    Raises:
        GeometryError: another word.
    """
    if bore_fit not in ("clear", "inscribed"):
        raise GeometryError(f"bore_fit: got {bore_fit!r}, expected 'clear' or 'inscribed'")
