"""Slow, obvious versions of the rigid-body mathematics, against which the tests compare."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from scipy.spatial.transform import Rotation

Profile = Callable[[float], tuple[float, float]]


def scipy_rotation(quaternion):
    """Return SciPy's rotation of a quaternion (w, x, y, z)."""
    return Rotation.from_quat(np.asarray(quaternion), scalar_first=True)


def hamilton_product(a, b):
    """Return the product of two quaternions from the multiplication table of 1, i, j, k."""
    table = {  # (row, column): (sign, unit)
        (0, 0): (1, 0), (0, 1): (1, 1), (0, 2): (1, 2), (0, 3): (1, 3),
        (1, 0): (1, 1), (1, 1): (-1, 0), (1, 2): (1, 3), (1, 3): (-1, 2),
        (2, 0): (1, 2), (2, 1): (-1, 3), (2, 2): (-1, 0), (2, 3): (1, 1),
        (3, 0): (1, 3), (3, 1): (1, 2), (3, 2): (-1, 1), (3, 3): (-1, 0),
    }  # fmt: skip
    product = np.zeros(4)
    for (i, j), (sign, unit) in table.items():
        product[unit] += sign * a[i] * b[j]
    return product


def same_rotation(a, b, tolerance=1e-12):
    """Return whether two unit quaternions (..., 4) agree up to sign."""
    a, b = np.asarray(a), np.asarray(b)
    difference = np.minimum(np.abs(a - b).max(axis=-1), np.abs(a + b).max(axis=-1))
    return bool(np.all(difference <= tolerance))


def revolved_moments(
    pieces: Sequence[tuple[float, float, Profile]], density: float
) -> tuple[float, np.ndarray, np.ndarray]:
    """Return mass, centre and inertia about it of a solid of revolution about z.

    Gauss quadrature along z and along the radius; exact where the squared radii are polynomials
    in z, as for balls, cylinders and tubes.

    Args:
        pieces: (z_low, z_high, profile) with ``profile(z) = (inner radius, outer radius)``.
        density: density [kg/m^3].
    """
    nodes, weights = np.polynomial.legendre.leggauss(12)
    mass = first = axial = radial = 0.0  # integrals of 1, z, z^2 and x^2 = y^2
    for low, high, profile in pieces:
        for node, weight in zip(nodes, weights, strict=True):
            z = 0.5 * (low + high) + 0.5 * (high - low) * node
            inner, outer = profile(z)
            for ring_node, ring_weight in zip(nodes, weights, strict=True):
                r = 0.5 * (inner + outer) + 0.5 * (outer - inner) * ring_node
                dm = density * weight * 0.5 * (high - low) * ring_weight * 0.5 * (outer - inner)
                dm *= 2.0 * math.pi * r
                mass += dm
                first += dm * z
                axial += dm * z * z
                radial += dm * 0.5 * r * r
    center = first / mass
    across = radial + axial - mass * center**2
    return mass, np.array([0.0, 0.0, center]), np.diag([across, across, 2.0 * radial])


def cloud_moments(points, masses) -> tuple[float, np.ndarray, np.ndarray]:
    """Return mass, centre and inertia about it of point masses, by the definition."""
    mass = float(sum(masses))
    center = sum(m * np.asarray(p) for m, p in zip(masses, points, strict=True)) / mass
    inertia = np.zeros((3, 3))
    for m, p in zip(masses, points, strict=True):
        x, y, z = np.asarray(p) - center
        inertia += m * np.array(
            [
                [y * y + z * z, -x * y, -x * z],
                [-x * y, x * x + z * z, -y * z],
                [-x * z, -y * z, x * x + y * y],
            ]
        )
    return mass, center, inertia
