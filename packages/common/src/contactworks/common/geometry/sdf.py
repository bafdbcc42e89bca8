"""Exact signed distances of primitives, and their Boolean combinations.

Every function takes points (n, 3) [m] in the frame of the shape and returns a pair: the signed
distance (n,) [m], negative inside, and its gradient (n, 3), a unit vector.  Where the nearest
surface point is not unique (the medial axis) the gradient is that of one nearest point, chosen by a
fixed rule, so that it stays a unit vector and never becomes NaN.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from jaxtyping import Float

from contactworks.common.arrays import (
    finite_scalar,
    frozen_array,
    points_array,
    positive_scalar,
)
from contactworks.common.errors import GeometryError, ShapeError

__all__ = [
    "DistanceGradient",
    "box_sdf",
    "capsule_sdf",
    "cylinder_sdf",
    "difference",
    "extrude_2d",
    "intersection",
    "plane_sdf",
    "sphere_sdf",
    "tube_sdf",
    "union",
]

DistanceGradient: TypeAlias = tuple[Float[np.ndarray, " n"], Float[np.ndarray, "n 3"]]
"""Signed distance (n,) [m] and gradient (n, 3) at n points."""


def plane_sdf(
    points: Float[npt.ArrayLike, "n 3"],
    normal: Float[npt.ArrayLike, " 3"] = (0.0, 0.0, 1.0),
    offset: float = 0.0,
) -> DistanceGradient:
    """Return the signed distance to the half-space ``normal · x <= offset``.

    Args:
        points: query points (n, 3) [m].
        normal: outward normal (3,); normalised here.
        offset: signed distance of the plane from the origin along the unit normal [m].

    Raises:
        GeometryError: a zero or non-finite normal.
    """
    x = points_array(points)
    direction = frozen_array(normal, "normal", (3,), error=GeometryError)
    length = float(np.linalg.norm(direction))
    if length == 0.0:
        raise GeometryError("normal: got a zero vector, expected a direction")
    unit = direction / length
    distance = x @ unit - finite_scalar(offset, "offset", error=GeometryError)
    return distance, np.tile(unit, (len(x), 1))


def sphere_sdf(points: Float[npt.ArrayLike, "n 3"], radius: float) -> DistanceGradient:
    """Return the signed distance to a sphere about the origin; at the centre the gradient is +z."""
    x = points_array(points)
    length, direction = _length_and_direction(x, fallback_axis=2)
    return length - positive_scalar(radius, "radius", error=GeometryError), direction


def capsule_sdf(
    points: Float[npt.ArrayLike, "n 3"], radius: float, half_length: float
) -> DistanceGradient:
    """Return the signed distance to a capsule along z.

    Args:
        points: query points (n, 3) [m].
        radius: radius of the caps and of the shaft [m], above 0.
        half_length: half the distance between the centres of the caps [m], above 0.
    """
    x = points_array(points)
    half_length = positive_scalar(half_length, "half_length", error=GeometryError)
    offset = x.copy()
    offset[:, 2] -= np.clip(x[:, 2], -half_length, half_length)
    length, direction = _length_and_direction(offset, fallback_axis=0)
    # On the axis the fallback is radial, which is right between the cap centres and at them.
    return length - positive_scalar(radius, "radius", error=GeometryError), direction


def box_sdf(
    points: Float[npt.ArrayLike, "n 3"],
    half_size: Float[npt.ArrayLike, " 3"],
) -> DistanceGradient:
    """Return the signed distance to a box about the origin.

    Args:
        points: query points (n, 3) [m].
        half_size: half the edge lengths along x, y, z [m], above 0.

    Raises:
        GeometryError: a half size that is not above 0.
    """
    x = points_array(points)
    half = frozen_array(half_size, "half_size", (3,), error=GeometryError)
    if half.min() <= 0.0:
        raise GeometryError(f"half_size: got {half.tolist()}, expected three numbers above 0")
    distance, gradient = _orthant_distance(np.abs(x) - half)
    return distance, gradient * _sign(x)


def cylinder_sdf(
    points: Float[npt.ArrayLike, "n 3"], radius: float, half_length: float
) -> DistanceGradient:
    """Return the signed distance to a capped cylinder along z.

    Args:
        points: query points (n, 3) [m].
        radius: radius [m], above 0.
        half_length: half the height [m], above 0.
    """
    x = points_array(points)
    rho, e_r = _radial(x)
    excess = np.column_stack(
        [
            rho - positive_scalar(radius, "radius", error=GeometryError),
            np.abs(x[:, 2]) - positive_scalar(half_length, "half_length", error=GeometryError),
        ]
    )
    distance, planar = _orthant_distance(excess)
    return distance, _lift(planar[:, 0], planar[:, 1] * _sign(x[:, 2]), e_r)


def tube_sdf(
    points: Float[npt.ArrayLike, "n 3"],
    inner_radius: float,
    outer_radius: float,
    half_length: float,
) -> DistanceGradient:
    """Return the signed distance to a tube along z, open at both ends.

    Args:
        points: query points (n, 3) [m].
        inner_radius: radius of the bore [m], above 0.
        outer_radius: outer radius [m], above ``inner_radius``.
        half_length: half the height [m], above 0.

    Raises:
        GeometryError: a radius or length out of range.
    """
    x = points_array(points)
    inner = positive_scalar(inner_radius, "inner_radius", error=GeometryError)
    outer = positive_scalar(outer_radius, "outer_radius", error=GeometryError)
    if outer <= inner:
        raise GeometryError(f"outer_radius: got {outer}, expected above inner_radius {inner}")
    rho, e_r = _radial(x)
    from_middle = rho - 0.5 * (inner + outer)
    excess = np.column_stack(
        [
            # Written with the radii themselves: the wall stays where it is to the last bit.
            np.maximum(rho - outer, inner - rho),
            np.abs(x[:, 2]) - positive_scalar(half_length, "half_length", error=GeometryError),
        ]
    )
    distance, planar = _orthant_distance(excess)
    radial = planar[:, 0] * _sign(from_middle)
    return distance, _lift(radial, planar[:, 1] * _sign(x[:, 2]), e_r)


def extrude_2d(
    distance_2d: Float[npt.ArrayLike, " n"],
    gradient_2d: Float[npt.ArrayLike, "n 2"],
    z: Float[npt.ArrayLike, " n"],
    half_height: float,
) -> DistanceGradient:
    """Return the signed distance to the prism |z| <= half_height over a planar shape.

    Exact where the planar distance is exact.

    Args:
        distance_2d: signed distance (n,) [m] of the points' (x, y) to the planar shape.
        gradient_2d: its gradient (n, 2).
        z: height (n,) [m] of the points.
        half_height: half the height of the prism [m], above 0.

    Raises:
        ShapeError: arrays whose lengths do not agree.
    """
    planar = np.asarray(distance_2d, dtype=np.float64)
    slope = points_array(gradient_2d, columns=2)
    height = np.asarray(z, dtype=np.float64)
    if not planar.shape == height.shape == (len(slope),):
        raise ShapeError(
            f"extrude_2d: got distance {planar.shape}, gradient {slope.shape}, z {height.shape}, "
            "expected (n,), (n, 2), (n,)"
        )
    half_height = positive_scalar(half_height, "half_height", error=GeometryError)
    distance, weights = _orthant_distance(np.column_stack([planar, np.abs(height) - half_height]))
    gradient = np.column_stack([weights[:, :1] * slope, weights[:, 1] * _sign(height)])
    return distance, gradient


def union(*pairs: DistanceGradient) -> DistanceGradient:
    """Return the minimum of the distances; exact outside, an inner bound inside where shapes meet.

    The result is 1-Lipschitz and has the right sign everywhere.  Ties go to the first pair.
    """
    return _select(pairs, "union", np.argmin)


def intersection(*pairs: DistanceGradient) -> DistanceGradient:
    """Return the maximum of the distances; exact inside, a lower bound outside near edges.

    The result is 1-Lipschitz and has the right sign everywhere.  Ties go to the first pair.
    """
    return _select(pairs, "intersection", np.argmax)


def difference(a: DistanceGradient, b: DistanceGradient) -> DistanceGradient:
    """Return the distance of ``a`` without ``b``: the intersection of ``a`` and b's outside."""
    return intersection(a, (-b[0], -b[1]))


def _select(
    pairs: tuple[DistanceGradient, ...],
    name: str,
    choose: Callable[..., np.intp | np.ndarray],
) -> DistanceGradient:
    """Return, point by point, the pair whose distance ``choose`` picks."""
    if not pairs:
        raise GeometryError(f"{name}: got no distances, expected at least one pair")
    shapes = [(np.shape(d), np.shape(g)) for d, g in pairs]
    n = shapes[0][0][0] if shapes[0][0] else -1
    if any(shape != ((n,), (n, 3)) for shape in shapes):
        raise ShapeError(f"{name}: got shapes {shapes}, expected (n,) and (n, 3) with one n")
    distances = np.stack([d for d, _ in pairs])
    winner = np.asarray(choose(distances, axis=0))
    columns = np.arange(n)
    return distances[winner, columns], np.stack([g for _, g in pairs])[winner, columns]


def _orthant_distance(
    excess: Float[np.ndarray, "n k"],
) -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, "n k"]]:
    """Return the distance and gradient to the orthant ``excess <= 0``.

    Inside, the gradient points to the nearest face; ties go to the first axis.
    """
    outside = np.maximum(excess, 0.0)
    length, gradient = _length_and_direction(outside, fallback_axis=0)
    nearest = np.argmax(excess, axis=1)
    rows = np.arange(len(excess))
    is_inside = length == 0.0
    gradient[is_inside] = 0.0
    gradient[rows[is_inside], nearest[is_inside]] = 1.0
    return np.where(is_inside, excess[rows, nearest], length), gradient


def _length_and_direction(
    vectors: Float[np.ndarray, "n k"], fallback_axis: int
) -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, "n k"]]:
    """Return length and unit direction; a zero vector gets the direction ``fallback_axis``.

    Scaled by the largest component, so that tiny vectors do not underflow when squared.
    """
    scale = np.abs(vectors).max(axis=1)
    is_zero = scale == 0.0
    scaled = vectors / np.where(is_zero, 1.0, scale)[:, None]
    scaled[is_zero, fallback_axis] = 1.0
    norm = np.sqrt((scaled * scaled).sum(axis=1))
    return scale * norm, scaled / norm[:, None]


def _radial(
    points: Float[np.ndarray, "n 3"],
) -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, "n 2"]]:
    """Return the distance from the z axis and the radial unit vector (x on the axis itself)."""
    return _length_and_direction(points[:, :2], fallback_axis=0)


def _lift(
    radial: Float[np.ndarray, " n"], axial: Float[np.ndarray, " n"], e_r: Float[np.ndarray, "n 2"]
) -> Float[np.ndarray, "n 3"]:
    """Return the vectors radial * e_r + axial * e_z."""
    return np.column_stack([radial[:, None] * e_r, axial])


def _sign(values: np.ndarray) -> np.ndarray:
    """Return +1 or -1; zero counts as positive, so that a gradient never vanishes."""
    return np.where(values < 0.0, -1.0, 1.0)
