"""Differentiable support functions (DSF) and toroidal ones (TDSF) of the CRISP paper.

A support function h(x) = sup { x·s : s in the body } is positively homogeneous: its gradient is the
support point, the farthest point of the body in the direction x, and its Hessian (at unit x) holds
the radii of curvature there.  All functions here take many directions at once, of any length above
zero, and return value, gradient and Hessian.  They stay accurate at any sharpness p, because no
power a^p is ever formed alone: at p = 500 it would leave the range of floats.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
from jaxtyping import Float

from contactworks.common.errors import GeometryError, ShapeError
from contactworks.common.geometry.base import unit_directions

__all__ = [
    "PlanarSupport",
    "SupportValue",
    "ToroidalPoint",
    "axis_support",
    "circle_support",
    "cylinder_support",
    "toroidal_support",
    "vertex_support",
]


class SupportValue(NamedTuple):
    """A support function at n directions in d dimensions.

    Attributes:
        value: h(x) (n,) [m times the length of x].
        gradient: the support point (n, d) [m].
        hessian: second derivative (n, d, d) [m divided by the length of x]; H x = 0.
    """

    value: Float[np.ndarray, " n"]
    gradient: Float[np.ndarray, "n d"]
    hessian: Float[np.ndarray, "n d d"]


class ToroidalPoint(NamedTuple):
    """A toroidal support function at n pairs of directions.

    Attributes:
        value: h_T(u, v) = point · normal (n,) [m].
        point: the surface point (n, 3) [m].
        normal: the outward unit normal there (n, 3).
    """

    value: Float[np.ndarray, " n"]
    point: Float[np.ndarray, "n 3"]
    normal: Float[np.ndarray, "n 3"]


class PlanarSupport(Protocol):
    """A planar support function, the path or the section of a toroidal one."""

    def evaluate(self, x: Float[npt.ArrayLike, "n 2"]) -> SupportValue:
        """Return value, gradient and Hessian at directions (n, 2)."""


def vertex_support(
    x: Float[npt.ArrayLike, "n d"], vertices: Float[np.ndarray, "k d"], p: float
) -> SupportValue:
    """Return the smoothed support function of a polytope, in the plane or in space.

    h(x) = (Σ max(vᵢ·x, 0)^p)^(1/p).  With k vertices it lies between the sharp support function
    max vᵢ·x and k^(1/p) times that.  The Hessian is continuous for p > 2.

    Args:
        x: directions (n, d), d = 2 or 3.
        vertices: vertices (k, d) [m] with the origin strictly inside their hull.
        p: sharpness, finite and above 1.

    Raises:
        ShapeError: directions of another dimension than the vertices.
        GeometryError: a zero or non-finite direction, or one in which no vertex is positive (the
            origin is not inside).

    Source:
        CRISP paper, Appendix A, first formula.  Gradient and Hessian are derived from it here in a
        form without cancellation: with aᵢ = vᵢ·x, weights πᵢ ∝ aᵢ^p and uᵢ = (h/aᵢ) vᵢ, the
        gradient is g = Σ πᵢ uᵢ and the Hessian (p-1)/h · Σ πᵢ (uᵢ-g)(uᵢ-g)ᵀ.
    """
    directions = np.asarray(x, dtype=np.float64)
    unit = unit_directions(directions, columns=vertices.shape[1])
    heights = unit @ vertices.T
    largest = heights.max(axis=1)
    if not (largest > 0.0).all():
        row = int(np.argmin(largest > 0.0))
        raise GeometryError(
            f"vertices: no vertex lies in the direction {unit[row].tolist()} (row {row}), expected "
            "vertices with the origin strictly inside their hull"
        )
    powers = np.exp(p * _log_ratio(heights, largest[:, None]))
    total = powers.sum(axis=1)
    h = largest * np.exp(np.log(total) / p)
    weights = powers / total[:, None]
    is_active = weights > 0.0
    stretch = np.where(is_active, h[:, None] / np.where(is_active, heights, 1.0), 0.0)
    points = stretch[:, :, None] * vertices
    gradient = np.einsum("nk,nkd->nd", weights, points)
    spread = np.sqrt(weights)[:, :, None] * (points - gradient[:, None, :])
    hessian = np.einsum("nki,nkj->nij", spread, spread) * ((p - 1.0) / h)[:, None, None]
    return _scaled(h, gradient, hessian, directions)


def circle_support(x: Float[npt.ArrayLike, "n 2"], radius: float) -> SupportValue:
    """Return the support function of a circle about the origin, h(x) = radius · |x|.

    Args:
        x: directions (n, 2).
        radius: radius [m].

    Raises:
        ShapeError: directions that are not (n, 2).
        GeometryError: a zero or non-finite direction.
    """
    directions = np.asarray(x, dtype=np.float64)
    unit = unit_directions(directions, columns=2)
    hessian = radius * (np.eye(2) - unit[:, :, None] * unit[:, None, :])
    return _scaled(np.full(len(unit), radius), radius * unit, hessian, directions)


def axis_support(
    x: Float[npt.ArrayLike, "n 3"],
    profile: Float[np.ndarray, "k 2"],
    p: float,
    epsilon: float,
) -> SupportValue:
    """Return the smoothed support function of a solid of revolution about z.

    h(x) = h₂(r, x₃) with r = √(x₁² + x₂² + ε x₃²) and h₂ the planar smoothed support function of
    the profile.  A flat end becomes a dome of height radius · √ε.

    Args:
        x: directions (n, 3).
        profile: vertices (k, 2) [m] of the profile: radius >= 0, height z.
        p: sharpness, finite and above 1.
        epsilon: flatness at the poles, above 0.

    Raises:
        ShapeError: directions that are not (n, 3).
        GeometryError: a zero or non-finite direction, or a profile without the origin inside.

    Source:
        CRISP paper, Appendix A, second formula.  The profile holds only the half with radius >= 0:
        mirrored vertices would add a bulge of ln2/p times the height at the poles.
    """
    directions = np.asarray(x, dtype=np.float64)
    unit = unit_directions(directions, columns=3)
    r, d, r_hessian = _axis_radius(unit, epsilon)
    planar = vertex_support(np.column_stack([r, unit[:, 2]]), profile, p)
    return _revolved(planar, r_hessian, d, directions)


def cylinder_support(
    x: Float[npt.ArrayLike, "n 3"], radius: float, half_length: float, p: float, epsilon: float
) -> SupportValue:
    """Return the smoothed support function of a cylinder along z, in closed form.

    The same function as :func:`axis_support` with the profile (radius, ±half_length).

    Args:
        x: directions (n, 3).
        radius: radius [m].
        half_length: half the height [m].
        p: sharpness, finite and above 1.
        epsilon: flatness at the poles, above 0.

    Raises:
        ShapeError: directions that are not (n, 3).
        GeometryError: a zero or non-finite direction.

    Source:
        CRISP paper, Appendix A, second formula with two vertices; the two heights are
        a, b = radius · r ± half_length · |z|; with t = (b/a)^p the weights are 1/(1+t), t/(1+t).
    """
    directions = np.asarray(x, dtype=np.float64)
    unit = unit_directions(directions, columns=3)
    r, d, r_hessian = _axis_radius(unit, epsilon)
    lift = half_length * np.abs(unit[:, 2])
    near, far = radius * r + lift, radius * r - lift
    t = np.exp(p * _log_ratio(far, near))
    h = near * np.exp(np.log1p(t) / p)
    near_weight, far_weight = 1.0 / (1.0 + t), t / (1.0 + t)
    is_active = far_weight > 0.0
    near_stretch = h / near
    far_stretch = np.where(is_active, h / np.where(is_active, far, 1.0), 0.0)
    end = np.where(unit[:, 2] < 0.0, -half_length, half_length)
    near_point = near_stretch[:, None] * np.column_stack([np.full_like(end, radius), end])
    far_point = far_stretch[:, None] * np.column_stack([np.full_like(end, radius), -end])
    gradient = near_weight[:, None] * near_point + far_weight[:, None] * far_point
    apart = near_point - far_point
    factor = (p - 1.0) / h * near_weight * far_weight
    hessian = factor[:, None, None] * apart[:, :, None] * apart[:, None, :]
    return _revolved(SupportValue(h, gradient, hessian), r_hessian, d, directions)


def toroidal_support(
    u: Float[npt.ArrayLike, "n 2"],
    v: Float[npt.ArrayLike, "n 2"],
    path: PlanarSupport,
    section: PlanarSupport,
) -> ToroidalPoint:
    """Return value, surface point and normal of the solid swept by a section along a path.

    h_T(u, v) = v₁ h₁(u) + h₂(v); the surface point is ∇h₁(u) + u ∂₁h₂(v) + e_z ∂₂h₂(v) and the
    normal (v₁ u, v₂).  v₁ < 0 is the inner wall, v₁ = 0 are the flat rings.

    Args:
        u: directions (n, 2) in the plane of the path (x, y); normalised here.
        v: directions (n, 2) in the plane of the section (outwards, z); normalised here.
        path: planar support function h₁ of the path.
        section: planar support function h₂ of the section, about the path.

    Raises:
        ShapeError: directions of the wrong shape or of different number.
        GeometryError: a zero or non-finite direction.

    Source:
        CRISP paper, Sec. IV-A3; the surface point and the normal follow by differentiation.
    """
    unit_u = unit_directions(u, columns=2)
    unit_v = unit_directions(v, columns=2)
    if len(unit_u) != len(unit_v):
        raise ShapeError(
            f"u, v: got {len(unit_u)} and {len(unit_v)} directions, expected the same number"
        )
    h1, h2 = path.evaluate(unit_u), section.evaluate(unit_v)
    plane = h1.gradient + unit_u * h2.gradient[:, :1]
    point = np.column_stack([plane, h2.gradient[:, 1]])
    normal = np.column_stack([unit_v[:, :1] * unit_u, unit_v[:, 1]])
    return ToroidalPoint(unit_v[:, 0] * h1.value + h2.value, point, normal)


def _log_ratio(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    """Return log(max(numerator, 0) / denominator), -inf where nothing is left."""
    ratio = np.maximum(numerator, 0.0) / denominator
    is_positive = ratio > 0.0
    return np.where(is_positive, np.log(np.where(is_positive, ratio, 1.0)), -np.inf)


def _axis_radius(unit: np.ndarray, epsilon: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return r = √(x₁² + x₂² + ε x₃²), its gradient and its Hessian."""
    stretch = np.array([1.0, 1.0, epsilon])
    r = np.sqrt((stretch * unit * unit).sum(axis=1))
    d = stretch * unit / r[:, None]
    hessian = (np.diag(stretch) - d[:, :, None] * d[:, None, :]) / r[:, None, None]
    return r, d, hessian


def _revolved(
    planar: SupportValue, r_hessian: np.ndarray, d: np.ndarray, directions: np.ndarray
) -> SupportValue:
    """Return the function h₂(r(x), x₃) from h₂ at unit x, by the chain rule."""
    jacobian = np.zeros((len(d), 2, 3))
    jacobian[:, 0] = d
    jacobian[:, 1, 2] = 1.0
    gradient = np.einsum("ni,nij->nj", planar.gradient, jacobian)
    hessian = np.einsum("nki,nkl,nlj->nij", jacobian, planar.hessian, jacobian)
    hessian += planar.gradient[:, :1, None] * r_hessian
    return _scaled(planar.value, gradient, hessian, directions)


def _scaled(
    value: np.ndarray, gradient: np.ndarray, hessian: np.ndarray, directions: np.ndarray
) -> SupportValue:
    """Carry a support function from unit directions to those given, by homogeneity."""
    length = np.linalg.norm(directions, axis=1)
    return SupportValue(value * length, gradient, hessian / length[:, None, None])
