"""Grid distances: interpolation, its stated error, and what happens beyond the grid."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import trimesh
from hypothesis import given, settings
from hypothesis import strategies as st

from contactworks.common.errors import GeometryError, ShapeError
from contactworks.common.geometry import Box, GridSdf, Mesh, Sphere, from_trimesh

HALF = np.array([0.05, 0.03, 0.02])


def _sampled(shape: Sphere | Box, spacing: tuple[float, ...], padding: float = 0.02) -> GridSdf:
    """Return exact distances on a grid that is not aligned with the shape."""
    lower, upper = shape.bounding_box()
    lower = lower - padding - 0.37 * np.array(spacing)
    count = np.ceil((upper + padding - lower) / spacing).astype(int) + 1
    axes = [lower[i] + spacing[i] * np.arange(count[i]) for i in range(3)]
    nodes = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    return GridSdf(lower, spacing, shape.signed_distance(nodes.reshape(-1, 3))[0].reshape(count))


def _inside(grid: GridSdf, count: int = 20_000) -> np.ndarray:
    return np.random.default_rng(0).uniform(*grid.grid_box(), size=(count, 3))


def test_interpolation_is_exact_at_nodes_and_for_multilinear_fields() -> None:
    # Of one power in each coordinate: trilinear interpolation must reproduce it, and its gradient.
    def field(x: np.ndarray) -> np.ndarray:
        return 50 * x[:, 0] * x[:, 1] * x[:, 2] - 0.3 * x[:, 0] * x[:, 1] + x[:, 2] + 0.1

    ticks = np.linspace(-1.0, 1.0, 5)
    nodes = np.stack(np.meshgrid(ticks, ticks, ticks, indexing="ij"), axis=-1).reshape(-1, 3)
    values = field(nodes).reshape(5, 5, 5)
    # The shape must lie inside: only the inner 3³ nodes keep the field.
    values[[0, -1]] = values[:, [0, -1]] = values[:, :, [0, -1]] = 1.0
    grid = GridSdf((-1, -1, -1), 0.5, values)
    inner = np.random.default_rng(0).uniform(-0.5, 0.5, size=(500, 3))
    value, gradient = grid.signed_distance(inner)
    np.testing.assert_allclose(value, field(inner), atol=1e-13)
    x, y, z = inner.T
    slope = np.column_stack([50 * y * z - 0.3 * y, 50 * x * z - 0.3 * x, 50 * x * y + 1.0])
    np.testing.assert_allclose(gradient, slope, atol=1e-12)
    np.testing.assert_allclose(grid.signed_distance(nodes)[0], values.reshape(-1), atol=1e-15)


@pytest.mark.parametrize("spacing", [(0.004,) * 3, (0.003, 0.005, 0.002)])
def test_error_is_within_the_stated_bound_for_any_shape(spacing: tuple[float, ...]) -> None:
    box = Box(HALF)
    grid = _sampled(box, spacing)
    x = _inside(grid)
    error = np.abs(grid.signed_distance(x)[0] - box.signed_distance(x)[0]).max()
    assert error <= grid.error_bound()
    assert grid.error_bound() == pytest.approx(0.5 * np.linalg.norm(spacing))
    assert error > 0.1 * grid.error_bound()


def test_error_bound_is_not_idle_at_the_centre_of_a_ball() -> None:
    # Near the centre of a ball the distance is a cone, the worst case of interpolation.
    grid = _sampled(Sphere(0.0101), (0.02, 0.02, 0.02))
    x = _inside(grid, 50_000)
    error = np.abs(grid.signed_distance(x)[0] - (np.linalg.norm(x, axis=1) - 0.0101)).max()
    assert 0.3 * grid.error_bound() < error <= grid.error_bound()


@pytest.mark.parametrize("spacing", [0.004, 0.002])
def test_error_falls_with_the_square_of_the_spacing_where_the_surface_is_smooth(
    spacing: float,
) -> None:
    radius = 0.05
    grid = _sampled(Sphere(radius), (spacing,) * 3)
    x = _inside(grid)
    rho = np.linalg.norm(x, axis=1)
    far = rho > 0.03
    # The curvature of the distance is 1/rho; a cell reaches nearer to the centre than its point.
    bound = 3 * spacing**2 / 8 / (0.03 - np.sqrt(3) * spacing)
    value, gradient = grid.signed_distance(x)
    assert np.abs(value - (rho - radius))[far].max() <= bound
    away = (x / rho[:, None])[far]
    assert np.linalg.norm(gradient[far] - away, axis=1).max() <= 2.0 * spacing / 0.03


def test_gradient_matches_differences_inside_and_outside() -> None:
    grid = _sampled(Box(HALF), (0.004, 0.005, 0.006))
    lower, upper = grid.grid_box()
    x = np.random.default_rng(1).uniform(lower - 0.05, upper + 0.05, size=(5000, 3))
    _, gradient = grid.signed_distance(x)
    step = 1e-8
    place = (x - lower) / grid.spacing
    smooth = np.abs(place - np.round(place)).min(axis=1) > 1e-4  # not across a side of a cell
    for axis in range(3):
        shift = step * np.eye(3)[axis]
        above, below = grid.signed_distance(x + shift)[0], grid.signed_distance(x - shift)[0]
        slope = (above - below) / (2 * step)
        np.testing.assert_allclose(gradient[smooth, axis], slope[smooth], atol=1e-6)


points = st.tuples(*[st.floats(-1.0, 1.0)] * 3)


@settings(max_examples=100, deadline=None)
@given(point=points)
def test_beyond_the_grid_it_is_a_lower_bound(point: tuple[float, ...]) -> None:
    box = Box(HALF)
    grid = _GRID
    lower, upper = grid.grid_box()
    x = np.array([point])
    outside = ((x < lower) | (x > upper)).any()
    found, exact = grid.signed_distance(x)[0][0], box.signed_distance(x)[0][0]
    if outside:
        assert found <= exact + grid.error_bound()
        clamped = np.clip(x, lower, upper)
        assert found >= np.linalg.norm(x - clamped)
        # Right at the border it meets the grid.
        edge = clamped + 1e-9 * (x - clamped)
        border = grid.signed_distance(clamped)[0][0]
        assert grid.signed_distance(edge)[0][0] == pytest.approx(border, abs=1e-8)


_GRID = _sampled(Box(HALF), (0.005, 0.005, 0.005))


def test_box_holds_the_shape() -> None:
    lower, upper = _GRID.bounding_box()
    assert (lower <= -HALF).all()
    assert (upper >= HALF).all()
    assert (upper - HALF <= 2 * _GRID.spacing).all()


def test_grid_of_a_mesh_agrees_with_the_exact_shape() -> None:
    mesh = from_trimesh(trimesh.creation.box(extents=2 * HALF))
    grid = GridSdf.from_mesh(mesh, 0.005, padding=0.011)
    lower, upper = grid.grid_box()
    assert (lower <= -HALF - 0.011).all()
    assert (upper >= HALF + 0.011).all()
    ticks = [lower[i] + grid.spacing[i] * np.arange(grid.values.shape[i]) for i in range(3)]
    nodes = np.stack(np.meshgrid(*ticks, indexing="ij"), axis=-1).reshape(-1, 3)
    exact = Box(HALF).signed_distance(nodes)[0]
    np.testing.assert_allclose(grid.values.reshape(-1), exact, atol=1e-15)


def test_grid_of_a_mesh_with_a_hole_keeps_the_hole() -> None:
    ring = from_trimesh(trimesh.creation.annulus(r_min=0.02, r_max=0.04, height=0.02, sections=64))
    grid = GridSdf.from_mesh(ring, 0.004)
    center, wall = grid.signed_distance([[0.0, 0.0, 0.0], [0.03, 0.0, 0.0]])[0]
    assert center == pytest.approx(0.02, abs=grid.error_bound())
    assert wall == pytest.approx(-0.01, abs=grid.error_bound())


def test_meshes_without_a_volume_are_refused() -> None:
    cube = trimesh.creation.box(extents=2 * HALF)
    with pytest.raises(GeometryError, match="not watertight: 3 open edges"):
        GridSdf.from_mesh(Mesh(cube.vertices, cube.faces[1:]), 0.01)
    mesh = from_trimesh(cube)
    with pytest.raises(GeometryError, match="nodes, expected at most"):
        GridSdf.from_mesh(mesh, 1e-6)
    with pytest.raises(GeometryError, match="no node lies inside"):
        GridSdf.from_mesh(mesh, (0.1, 0.1, 0.5))
    with pytest.raises(GeometryError, match="padding"):
        GridSdf.from_mesh(mesh, 0.01, padding=0.0)
    with pytest.raises(GeometryError, match="spacing"):
        GridSdf.from_mesh(mesh, -0.01)


def _values() -> np.ndarray:
    values = np.ones((3, 3, 3))
    values[1, 1, 1] = -1.0
    return values


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: GridSdf((0, 0, 0), 0.0, _values()), "spacing"),
        (lambda: GridSdf((0, 0, np.nan), 0.1, _values()), r"origin\[2\] is nan"),
        (lambda: GridSdf((0, 0, 0), 0.1, _values() * np.inf), r"values\[0, 0, 0\] is inf"),
        (lambda: GridSdf((0, 0, 0), 0.1, np.ones((1, 3, 3))), "got 1 entries, expected at least 2"),
        (lambda: GridSdf((0, 0, 0), 0.1, np.ones((3, 3, 3))), "no node lies inside"),
        (lambda: GridSdf((0, 0, 0), 0.1, -np.ones((3, 3, 3))), "on a side of the grid"),
        (lambda: GridSdf((0, 0, 0), 0.1, np.zeros((0, 3, 3))), "empty"),
    ],
)
def test_wrong_values_are_refused(make: Callable[[], GridSdf], message: str) -> None:
    with pytest.raises(GeometryError, match=message):
        make()


def test_wrong_array_shapes_are_refused() -> None:
    with pytest.raises(ShapeError, match=r"GridSdf\.values"):
        GridSdf((0, 0, 0), 0.1, np.ones((3, 3)))
    with pytest.raises(ShapeError, match=r"GridSdf\.spacing"):
        GridSdf((0, 0, 0), (0.1, 0.1), _values())
