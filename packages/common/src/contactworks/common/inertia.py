"""Mass, centre of mass and inertia of rigid bodies: algebra, primitives and watertight meshes.

An inertia tensor is about the centre of mass and in the axes of the body frame:
``I = integral of (|r|^2 1 - r r^T) dm``, so that off-diagonal entries are ``-integral x y dm``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from jaxtyping import Float, Int

from contactworks.common import rotations
from contactworks.common._mesh_integrals import solid_moments
from contactworks.common.arrays import VectorLike, as_float_array, frozen_array
from contactworks.common.errors import ModelError
from contactworks.common.poses import Pose

__all__ = [
    "INERTIA_TOLERANCE",
    "MassProperties",
    "box_mass_properties",
    "capsule_mass_properties",
    "cylinder_mass_properties",
    "mesh_mass_properties",
    "sphere_mass_properties",
    "tube_mass_properties",
]

#: How far an inertia may break symmetry, sign and triangle inequality, relative to its largest
#: principal moment; the six or so digits of robot description files stay within it.
INERTIA_TOLERANCE = 1e-6


@dataclass(frozen=True, slots=True, eq=False, init=False)
class MassProperties:
    """Mass, centre of mass and inertia of a rigid body.

    Attributes:
        mass: mass [kg], positive.
        center_of_mass: centre of mass (3,) [m], in the body frame.
        inertia: inertia (3, 3) [kg m^2] about the centre of mass, in body axes; symmetric,
            positive semi-definite (a point mass or a thin rod is allowed), and no principal moment
            larger than the sum of the other two.  Three numbers (3,) stand for a diagonal.

    The conditions hold to ``INERTIA_TOLERANCE`` times the largest principal moment; the arrays are
    read-only copies, the inertia is stored exactly symmetric.

    Raises:
        ShapeError: for arrays of another shape.
        ModelError: for NaN, a mass that is not positive, or an inertia that no body has.

    Example:
        >>> rod = MassProperties(2.0, (0.0, 0.0, 0.5), (0.1, 0.1, 0.0))
        >>> (rod + rod).mass
        4.0
    """

    mass: float
    center_of_mass: Float[np.ndarray, 3]
    inertia: Float[np.ndarray, "3 3"]

    def __init__(
        self,
        mass: float,
        center_of_mass: VectorLike,
        inertia: Float[npt.ArrayLike, "3 3"] | Float[npt.ArrayLike, 3],
    ) -> None:
        object.__setattr__(self, "mass", _positive(mass, "mass", "kg"))
        center = frozen_array(center_of_mass, "center_of_mass", (3,))
        object.__setattr__(self, "center_of_mass", center)
        object.__setattr__(self, "inertia", _physical_inertia(inertia))

    def __add__(self, other: MassProperties) -> MassProperties:
        """Return the properties of both bodies joined; both are given in the same frame."""
        if not isinstance(other, MassProperties):
            return NotImplemented
        mass = self.mass + other.mass
        # Weights first: a product of mass and position could overflow, and rounds worse.
        center = (self.mass / mass) * self.center_of_mass + (
            other.mass / mass
        ) * other.center_of_mass
        return MassProperties(
            mass, center, self.inertia_about(center) + other.inertia_about(center)
        )

    def transformed(self, pose: Pose) -> MassProperties:
        """Return the same body's properties in the outer frame of ``pose``.

        Args:
            pose: pose of the frame in which the properties are given, in the frame wanted.
        """
        rotation = pose.rotation_matrix
        return MassProperties(
            self.mass, pose.apply(self.center_of_mass), rotation @ self.inertia @ rotation.T
        )

    def with_mass(self, mass: float) -> MassProperties:
        """Return the properties of a body of the same shape and another mass [kg].

        Raises:
            ModelError: for a mass that is not positive.
        """
        ratio = _positive(mass, "mass", "kg") / self.mass
        return MassProperties(mass, self.center_of_mass, ratio * self.inertia)

    def inertia_about(self, point: VectorLike) -> Float[np.ndarray, "3 3"]:
        """Return the inertia (3, 3) [kg m^2] about another point, in the same axes.

        Args:
            point: the point (3,) [m] in the body frame.

        Source: Steiner's parallel-axis theorem.
        """
        arm = self.center_of_mass - frozen_array(point, "point", (3,))
        return np.asarray(
            self.inertia + self.mass * (np.dot(arm, arm) * np.eye(3) - np.outer(arm, arm))
        )

    def principal_axes(self) -> tuple[Float[np.ndarray, 3], Float[np.ndarray, 4]]:
        """Return the principal moments (3,) [kg m^2], ascending, and the axes as a quaternion (4,).

        The unit quaternion maps principal axes to body axes:
        ``inertia = R diag(moments) R^T``.  Where moments are equal the axes are one choice of many.
        """
        moments, axes = np.linalg.eigh(self.inertia)
        if np.linalg.det(axes) < 0.0:
            axes[:, 2] = -axes[:, 2]
        return moments, rotations.quaternion_from_matrix(axes)

    def spatial_inertia(self) -> Float[np.ndarray, "6 6"]:
        """Return the spatial inertia ``M`` (6, 6) about the origin of the body frame.

        For a twist ``V = (v, w)`` of the body origin in body axes, ``V . M V / 2`` is the kinetic
        energy and ``M V`` the momentum and the angular momentum about the origin.

        Source: R. Featherstone, "Rigid Body Dynamics Algorithms", 2008, eq. 2.63, with the linear
            part first.
        """
        first_moment = self.mass * rotations.skew(self.center_of_mass)
        matrix = np.empty((6, 6))
        matrix[:3, :3] = self.mass * np.eye(3)
        matrix[:3, 3:] = -first_moment
        matrix[3:, :3] = first_moment
        matrix[3:, 3:] = self.inertia_about((0.0, 0.0, 0.0))
        return matrix


def sphere_mass_properties(radius: float, density: float) -> MassProperties:
    """Return the properties of a solid ball about its centre.

    Args:
        radius: radius [m].
        density: density [kg/m^3].

    Raises:
        ModelError: for an argument that is not positive.

    Example:
        >>> round(sphere_mass_properties(0.1, 1000.0).mass, 6)
        4.18879
    """
    r, density = _positive(radius, "radius", "m"), _positive(density, "density", "kg/m^3")
    mass = density * 4.0 / 3.0 * math.pi * r**3
    return _centered(mass, (0.4 * mass * r**2,) * 3)


def box_mass_properties(half_size: VectorLike, density: float) -> MassProperties:
    """Return the properties of a solid box about its centre.

    Args:
        half_size: half of the edge lengths (3,) [m].
        density: density [kg/m^3].

    Raises:
        ShapeError: for sizes that are not three numbers.
        ModelError: for an argument that is not positive.

    Example:
        >>> box_mass_properties((0.5, 0.5, 0.5), 6.0).inertia.diagonal()
        array([1., 1., 1.])
    """
    sizes = frozen_array(half_size, "half_size", (3,))
    x, y, z = (_positive(size, f"half_size[{i}]", "m") for i, size in enumerate(sizes))
    mass = 8.0 * _positive(density, "density", "kg/m^3") * x * y * z
    third = mass / 3.0
    return _centered(
        mass, (third * (y * y + z * z), third * (x * x + z * z), third * (x * x + y * y))
    )


def cylinder_mass_properties(radius: float, half_length: float, density: float) -> MassProperties:
    """Return the properties of a solid cylinder along z about its centre.

    Args:
        radius: radius [m].
        half_length: half of the length along z [m].
        density: density [kg/m^3].

    Raises:
        ModelError: for an argument that is not positive.

    Example:
        >>> round(cylinder_mass_properties(0.1, 0.5, 1000.0).mass, 6)
        31.415927
    """
    return tube_mass_properties(0.0, _positive(radius, "radius", "m"), half_length, density)


def tube_mass_properties(
    inner_radius: float, outer_radius: float, half_length: float, density: float
) -> MassProperties:
    """Return the properties of a hollow cylinder along z, open at both ends, about its centre.

    Args:
        inner_radius: radius of the bore [m]; zero means solid.
        outer_radius: outer radius [m], larger than the inner one.
        half_length: half of the length along z [m].
        density: density [kg/m^3].

    Raises:
        ModelError: for a length or density that is not positive, or a bore as wide as the tube.

    Example:
        >>> round(tube_mass_properties(0.05, 0.1, 0.5, 1000.0).mass, 6)
        23.561945
    """
    inner = float(frozen_array(inner_radius, "inner_radius", ()))
    outer = _positive(outer_radius, "outer_radius", "m")
    h = _positive(half_length, "half_length", "m")
    if not 0.0 <= inner < outer:
        raise ModelError(f"inner_radius: got {inner} m, expected at least 0 and below {outer} m")
    # (outer - inner)(outer + inner) keeps the mass of a thin wall accurate.
    area = math.pi * (outer - inner) * (outer + inner)
    mass = 2.0 * _positive(density, "density", "kg/m^3") * area * h
    squares = outer**2 + inner**2
    across = mass * (squares / 4.0 + h * h / 3.0)
    return _centered(mass, (across, across, 0.5 * mass * squares))


def capsule_mass_properties(radius: float, half_length: float, density: float) -> MassProperties:
    """Return the properties of a solid capsule along z about its centre.

    Args:
        radius: radius [m].
        half_length: half of the distance between the centres of the two caps [m].
        density: density [kg/m^3].

    Raises:
        ModelError: for an argument that is not positive.

    Example:
        >>> round(capsule_mass_properties(0.1, 0.5, 1000.0).mass, 6)
        35.604717
    """
    r, h = _positive(radius, "radius", "m"), _positive(half_length, "half_length", "m")
    density = _positive(density, "density", "kg/m^3")
    shaft = 2.0 * density * math.pi * r**2 * h
    caps = density * 4.0 / 3.0 * math.pi * r**3
    # Each cap is half a ball, whose centre of mass lies 3/8 r beyond the end of the shaft.
    across = shaft * (r * r / 4.0 + h * h / 3.0) + caps * (0.4 * r * r + h * h + 0.75 * h * r)
    return _centered(shaft + caps, (across, across, (0.5 * shaft + 0.4 * caps) * r * r))


def mesh_mass_properties(
    vertices: Float[npt.ArrayLike, "n 3"], faces: Int[npt.ArrayLike, "m 3"], density: float
) -> MassProperties:
    """Return the properties of the solid inside a watertight triangle mesh, in the mesh's frame.

    The integrals are exact for the given triangles.

    Args:
        vertices: points (n, 3) [m].
        faces: rows of three vertex indices (m, 3), counter-clockwise seen from outside.
        density: density [kg/m^3].

    Raises:
        ShapeError: for arrays of another shape, or faces that are not integers.
        GeometryError: for a mesh that is empty, holds NaN, points outside its vertices, is not
            watertight, is not consistently oriented, has a face twice, is inside out or flat.
        ModelError: for a density that is not positive.

    Example:
        >>> corners = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
        >>> solid = mesh_mass_properties(corners, [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]], 6.0)
        >>> round(solid.mass, 12), solid.center_of_mass
        (1.0, array([0.25, 0.25, 0.25]))
    """
    density = _positive(density, "density", "kg/m^3")
    moments = solid_moments(vertices, faces)
    inertia = density * (np.trace(moments.second) * np.eye(3) - moments.second)
    return MassProperties(density * moments.volume, moments.centroid, inertia)


def _centered(mass: float, moments: tuple[float, float, float]) -> MassProperties:
    return MassProperties(mass, (0.0, 0.0, 0.0), moments)


def _positive(value: float, name: str, unit: str) -> float:
    number = float(frozen_array(value, name, ()))
    if not number > 0.0:
        raise ModelError(f"{name}: got {number} {unit}, expected a positive number")
    return number


def _physical_inertia(value: npt.ArrayLike) -> Float[np.ndarray, "3 3"]:
    """Return a read-only symmetric inertia (3, 3) after a check that some body can have it."""
    if as_float_array(value, "inertia", (3,)).shape == (3,):
        matrix = np.diag(frozen_array(value, "inertia", (3,)))
    else:
        matrix = np.array(frozen_array(value, "inertia", (3, 3)))
    slack = INERTIA_TOLERANCE * float(np.abs(matrix).max())
    asymmetry = float(np.abs(matrix - matrix.T).max())
    if asymmetry > slack:
        raise ModelError(
            f"inertia: got asymmetry {asymmetry:g} kg m^2, expected a symmetric matrix"
        )
    matrix = 0.5 * (matrix + matrix.T)
    moments = np.linalg.eigvalsh(matrix)
    if moments[0] < -slack:
        raise ModelError(f"inertia: got principal moments {moments} kg m^2, expected none negative")
    if moments[2] > moments[0] + moments[1] + slack:
        raise ModelError(
            f"inertia: got principal moments {moments} kg m^2, expected none larger than the sum "
            "of the other two"
        )
    matrix.setflags(write=False)
    return matrix
