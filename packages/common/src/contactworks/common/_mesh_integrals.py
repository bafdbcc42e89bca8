"""Volume, centroid and second moments of the solid inside a triangle mesh."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from jaxtyping import Float, Int

from contactworks.common.arrays import mesh_arrays
from contactworks.common.errors import GeometryError, ShapeError

__all__ = ["SolidMoments", "solid_moments"]

# Volume over the cube of the diagonal of the bounding box, below which it is rounding.
_FLAT = 1e-14


class SolidMoments(NamedTuple):
    """Moments of a solid of density one.

    Attributes:
        volume: volume [m^3], positive.
        centroid: centre of volume (3,) [m].
        second: integral of ``(x - centroid)(x - centroid)^T`` over the solid (3, 3) [m^5].
    """

    volume: float
    centroid: Float[np.ndarray, 3]
    second: Float[np.ndarray, "3 3"]


def solid_moments(
    vertices: Float[npt.ArrayLike, "n 3"], faces: Int[npt.ArrayLike, "m 3"]
) -> SolidMoments:
    """Return the exact moments of the solid that a closed, outward-oriented surface bounds.

    Every triangle spans a signed tetrahedron with a common apex; polynomials integrate exactly
    over tetrahedra, and what lies outside the solid cancels.  The apex is the middle of the
    bounding box, which keeps cancellation small for meshes far from their origin.

    Args:
        vertices: points (n, 3) [m].
        faces: rows of three vertex indices (m, 3), counter-clockwise seen from outside.

    Raises:
        ShapeError: for arrays of another shape, or faces that are not integers.
        GeometryError: for a mesh that is empty, holds NaN, points outside its vertices, is not
            closed, is not consistently oriented, has a face twice, is inside out or flat.

    Source: F. Tonon, "Explicit exact formulas for the 3-D tetrahedron inertia tensor in terms of
        its vertex coordinates", J. Mathematics and Statistics 1 (2005) 8-11, in matrix form.
    """
    if not np.issubdtype(np.asarray(faces).dtype, np.integer):
        raise ShapeError(f"faces: got dtype {np.asarray(faces).dtype}, expected integers")
    points, index = mesh_arrays(vertices, faces)
    _check_closed(index)
    used = points[np.unique(index)]
    apex = 0.5 * (used.min(axis=0) + used.max(axis=0))
    corners = points[index] - apex  # (m, 3 corners, 3)
    six_volumes = np.linalg.det(corners)
    volume = float(six_volumes.sum()) / 6.0
    _check_volume(volume, float(np.linalg.norm(np.ptp(used, axis=0))))
    sums = corners.sum(axis=1)
    first = six_volumes @ sums / 24.0
    # Integral of x x^T over (0, a, b, c): det / 120 (s s^T + a a^T + b b^T + c c^T), s = a + b + c.
    second = np.einsum("f,fi,fj->ij", six_volumes, sums, sums)
    second += np.einsum("f,fki,fkj->ij", six_volumes, corners, corners)
    centre = first / volume
    second = second / 120.0 - volume * np.outer(centre, centre)
    return SolidMoments(volume, apex + centre, second)


def _check_closed(faces: np.ndarray) -> None:
    """Refuse a surface with a border: each edge must be run through as often in both senses."""
    repeated = (faces == np.roll(faces, 1, axis=1)).any(axis=1)
    if repeated.any():
        row = int(np.argmax(repeated))
        raise GeometryError(f"faces[{row}]: got {faces[row]}, expected three different vertices")
    _, counts = np.unique(np.sort(faces, axis=1), axis=0, return_counts=True)
    if counts.max() > 1:
        raise GeometryError(f"faces: {int((counts > 1).sum())} triangles appear more than once")
    edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    sense = np.where(edges[:, 0] < edges[:, 1], 1, -1)
    unique, inverse, uses = np.unique(
        np.sort(edges, axis=1), axis=0, return_inverse=True, return_counts=True
    )
    balance = np.bincount(inverse.reshape(-1), weights=sense, minlength=len(unique))
    odd = uses % 2 == 1
    if odd.any():
        raise GeometryError(
            f"mesh is not watertight: {int(odd.sum())} of {len(unique)} edges are open, first "
            f"between vertices {unique[np.argmax(odd)]} (are equal vertices merged?)"
        )
    twisted = balance != 0
    if twisted.any():
        raise GeometryError(
            f"mesh is not consistently oriented: {int(twisted.sum())} edges join faces of opposite "
            f"sense, first between vertices {unique[np.argmax(twisted)]}"
        )


def _check_volume(volume: float, diagonal: float) -> None:
    if abs(volume) <= _FLAT * diagonal**3:
        raise GeometryError(
            f"mesh encloses no volume: got {volume:g} m^3 in a box of diagonal {diagonal:g} m"
        )
    if volume < 0.0:
        raise GeometryError(
            f"mesh is inside out: got volume {volume:g} m^3, expected faces counter-clockwise seen "
            "from outside"
        )
