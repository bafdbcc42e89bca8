"""Slow, obvious versions of what the package computes."""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import brentq


def energy_of_stretches(model: str, gradient: np.ndarray, mu: float, la: float) -> float:
    """Return the energy density from the principal stretches of one F with det F > 0."""
    stretches = np.sqrt(np.linalg.eigvalsh(gradient.T @ gradient))
    volume = float(np.prod(stretches))
    squares = float(sum(s * s for s in stretches))
    offsets = float(sum((s - 1.0) ** 2 for s in stretches))
    log = math.log(volume)
    return {
        "neo-hookean": mu / 2 * (squares - 3) - mu * log + la / 2 * log**2,
        "stable-neo-hookean": mu / 2 * (squares - 3)
        - mu * (volume - 1)
        + (la + mu) / 2 * (volume - 1) ** 2,
        "arap": mu * offsets,
        "fixed-corotated": mu * offsets + la / 2 * (volume - 1) ** 2,
    }[model]


def mesh_energy(
    model: str, nodes: np.ndarray, tets: np.ndarray, x: np.ndarray, mu: float, la: float
) -> float:
    """Return the energy of one deformed mesh, element by element; F from a linear solve."""
    total = 0.0
    for corners in tets:
        rest = np.array([nodes[c] - nodes[corners[0]] for c in corners[1:]])
        now = np.array([x[c] - x[corners[0]] for c in corners[1:]])
        gradient = np.linalg.solve(rest, now).T
        total += np.linalg.det(rest) / 6 * energy_of_stretches(model, gradient, mu, la)
    return total


def linear_stress(strain: np.ndarray, young: float, poisson: float) -> np.ndarray:
    """Return Hooke's stress, from the compliance relation written out and inverted."""
    e, n = young, poisson
    compliance = np.array([[1, -n, -n], [-n, 1, -n], [-n, -n, 1]]) / e
    stress = np.diag(np.linalg.solve(compliance, np.diag(strain)))
    shear = e / (1 + n)
    return stress + shear * (strain - np.diag(np.diag(strain)))


def free_uniaxial(model: str, stretch: float, mu: float, la: float) -> tuple[float, float]:
    """Return the lateral stretch and axial stress of a bar with free sides.

    Only the energy of stretches is used: the lateral stretch minimises it, the axial stress is its
    slope; both by central differences of 5th order or a bracketed root.
    """

    def energy(a: float, s: float) -> float:
        return energy_of_stretches(model, np.diag([a, a, s]), mu, la) / mu

    def slope(function, at: float, h: float = 1e-3) -> float:
        f = [function(at + k * h) for k in (-3, -2, -1, 1, 2, 3)]
        return (-f[0] + 9 * f[1] - 45 * f[2] + 45 * f[3] - 9 * f[4] + f[5]) / (60 * h)

    a = brentq(lambda a: slope(lambda v: energy(v, stretch), a), 0.5, 2.0, xtol=1e-14)
    return a, mu * slope(lambda s: energy(a, s), stretch)


def conforming(tets: np.ndarray) -> bool:
    """Return whether every face belongs to one or two tetrahedra."""
    count: dict[tuple[int, ...], int] = {}
    for tet in tets.tolist():
        for skip in range(4):
            face = tuple(sorted(tet[:skip] + tet[skip + 1 :]))
            count[face] = count.get(face, 0) + 1
    return set(count.values()) <= {1, 2}
