"""Signed distance on a regular grid, between the nodes by trilinear interpolation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from jaxtyping import Float

from contactworks.common.arrays import frozen_array, points_array, positive_scalar
from contactworks.common.errors import GeometryError, ShapeError
from contactworks.common.geometry.base import BoundingBox, Shape
from contactworks.common.geometry.mesh_distance import MeshDistance
from contactworks.common.geometry.polyhedra import Mesh
from contactworks.common.geometry.sdf import DistanceGradient

__all__ = ["GridSdf"]

_MOST_NODES = 100_000_000


@dataclass(frozen=True, slots=True, eq=False, init=False)
class GridSdf(Shape):
    """Signed distances at the nodes of a regular grid.

    Where the values are exact distances, the interpolated distance is off by at most half the
    diagonal of a cell (any shape), and by at most κ · Σ spacing² / 8 in cells where the curvature
    of the distance (its second derivative in any direction) is below κ.

    Outside the grid the distance is √(φ(c)² + |x - c|²), with c the nearest point of the grid and
    φ(c) the distance there.  It is continuous, and never above the true distance.

    Attributes:
        origin: position (3,) [m] of the first node.
        spacing: distance (3,) [m] between nodes along x, y, z, above 0.
        values: signed distance (nx, ny, nz) [m] at the nodes, negative inside; above 0 on all six
            sides of the grid, negative somewhere.

    Raises:
        ShapeError: arrays of another shape.
        GeometryError: NaN, a spacing out of range, fewer than 2 nodes along an axis, no node inside
            the shape, or a shape that reaches the side of the grid.

    Source:
        The extension beyond the grid: the grid is convex and holds the shape, so that the nearest
        point s of the shape obeys |x - s|² >= |x - c|² + |c - s|².
    """

    origin: Float[np.ndarray, " 3"]
    spacing: Float[np.ndarray, " 3"]
    values: Float[np.ndarray, "nx ny nz"]

    def __init__(
        self,
        origin: Float[npt.ArrayLike, " 3"],
        spacing: float | Float[npt.ArrayLike, " 3"],
        values: Float[npt.ArrayLike, "nx ny nz"],
    ) -> None:
        grid = frozen_array(
            values, "GridSdf.values", ("nx", "ny", "nz"), minimum_rows=2, error=GeometryError
        )
        object.__setattr__(
            self, "origin", frozen_array(origin, "GridSdf.origin", (3,), error=GeometryError)
        )
        object.__setattr__(self, "spacing", _spacing(spacing, "GridSdf.spacing"))
        object.__setattr__(self, "values", grid)
        _require_closed(grid)

    @classmethod
    def from_mesh(
        cls,
        mesh: Mesh,
        spacing: float | Float[npt.ArrayLike, " 3"],
        padding: float | None = None,
    ) -> GridSdf:
        """Return the exact signed distances of a mesh, sampled on a grid around it.

        Args:
            mesh: a watertight mesh with its faces pointing outwards.
            spacing: distance [m] between the nodes, one number or one for each axis.
            padding: least distance [m] from the mesh to the sides of the grid, above 0; two
                spacings when not given.

        Raises:
            GeometryError: a mesh without a volume, a spacing or padding out of range, a grid of
                over 1e8 nodes, or a mesh so thin that no node lies inside.
        """
        step = _spacing(spacing, "spacing")
        room = (
            2.0 * float(step.max())
            if padding is None
            else positive_scalar(padding, "padding", error=GeometryError)
        )
        lower, upper = mesh.bounding_box()
        cells = np.ceil((upper - lower + 2.0 * room) / step)
        if np.prod(cells + 1.0) > _MOST_NODES:
            raise GeometryError(
                f"spacing: {step.tolist()} m makes a grid of {np.prod(cells + 1.0):.3g} nodes, "
                f"expected at most {_MOST_NODES:.3g}"
            )
        count = cells.astype(int) + 1
        origin = 0.5 * (lower + upper) - 0.5 * cells * step
        axes = [origin[i] + step[i] * np.arange(count[i]) for i in range(3)]
        query = MeshDistance(mesh.vertices, mesh.faces)
        values = np.empty(count)
        yz = np.stack(np.meshgrid(axes[1], axes[2], indexing="ij"), axis=-1).reshape(-1, 2)
        # Slice by slice: the coordinates of all nodes at once would take three times the memory.
        for i, x in enumerate(axes[0]):
            points = np.column_stack([np.full(len(yz), x), yz])
            values[i] = query.signed(points)[0].reshape(count[1], count[2])
        return cls(origin, step, values)

    def bounding_box(self) -> BoundingBox:
        """Return corners (3,) [m] around all cells that hold part of the shape."""
        inside = np.argwhere(self.values <= 0.0)
        lower = self.origin + self.spacing * (inside.min(axis=0) - 1)
        return lower, self.origin + self.spacing * (inside.max(axis=0) + 1)

    def grid_box(self) -> BoundingBox:
        """Return the corners (3,) [m] of the grid itself."""
        last = np.array(self.values.shape) - 1
        return self.origin.copy(), self.origin + self.spacing * last

    def error_bound(self) -> float:
        """Return the largest error [m] that interpolation of exact distances can make."""
        return 0.5 * float(np.linalg.norm(self.spacing))

    def signed_distance(self, points: Float[npt.ArrayLike, "n 3"]) -> DistanceGradient:
        """Return the interpolated distance (n,) [m] and its exact gradient (n, 3).

        The gradient is that of the interpolation: about unit length near a smooth surface, shorter
        where the distance has a kink.

        Source:
            |Σ wᵢ φ(xᵢ) - φ(x)| <= Σ wᵢ |xᵢ - x| <= √(Σ wᵢ |xᵢ - x|²) = √(Σ t(1-t) spacing²), with φ
            1-Lipschitz, wᵢ the weights of the corners and t the place in the cell, gives the bound
            of the class.
        """
        x = points_array(points)
        lower, upper = self.grid_box()
        inside = np.clip(x, lower, upper)
        value, gradient = self._interpolate(inside)
        beyond = x - inside
        is_outside = (beyond != 0.0).any(axis=1)
        if is_outside.any():
            offset, height = beyond[is_outside], value[is_outside]
            distance = np.sqrt(height**2 + (offset * offset).sum(axis=1))
            slope = np.where(offset != 0.0, 0.0, gradient[is_outside]) * height[:, None]
            value[is_outside] = distance
            gradient[is_outside] = (slope + offset) / distance[:, None]
        return value, gradient

    def _interpolate(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        place = (x - self.origin) / self.spacing
        last = np.array(self.values.shape) - 2
        cell = np.clip(np.floor(place).astype(np.int64), 0, last)
        t = np.clip(place - cell, 0.0, 1.0)
        i, j, k = cell.T
        weight = np.stack([1.0 - t, t])
        value = np.zeros(len(x))
        slope = np.zeros((len(x), 3))
        for a in (0, 1):
            for b in (0, 1):
                for c in (0, 1):
                    corner = self.values[i + a, j + b, k + c]
                    wx, wy, wz = weight[a, :, 0], weight[b, :, 1], weight[c, :, 2]
                    value += corner * wx * wy * wz
                    slope[:, 0] += (2 * a - 1) * corner * wy * wz
                    slope[:, 1] += (2 * b - 1) * corner * wx * wz
                    slope[:, 2] += (2 * c - 1) * corner * wx * wy
        return value, slope / self.spacing


def _spacing(spacing: float | npt.ArrayLike, name: str) -> np.ndarray:
    array = np.asarray(spacing, dtype=np.float64)
    if array.shape not in ((), (3,)):
        raise ShapeError(f"{name}: got shape {array.shape}, expected one number or (3,)")
    result = frozen_array(np.broadcast_to(array, (3,)), name, (3,), error=GeometryError)
    if result.min() <= 0.0:
        raise GeometryError(f"{name}: got {result.tolist()}, expected numbers above 0")
    return result


def _require_closed(values: np.ndarray) -> None:
    if values.min() >= 0.0:
        raise GeometryError(
            f"GridSdf.values: the least distance is {values.min()} m, so that no node lies inside "
            "the shape; expected a finer grid or a closed shape"
        )
    sides = (values[[0, -1]], values[:, [0, -1]], values[:, :, [0, -1]])
    least = min(float(side.min()) for side in sides)
    if least <= 0.0:
        raise GeometryError(
            f"GridSdf.values: got {least} m on a side of the grid, expected above 0 on all sides: "
            "the shape must lie inside the grid (more padding)"
        )
