"""Convex hulls against trimesh and against the half-spaces of their facets."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh
from hypothesis import given, settings
from hypothesis import strategies as st

from contactworks.common.geometry import ConvexHull, check_mesh
from contactworks.common.geometry.hulls import hull_facets, inner_radius


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_hull_mesh_agrees_with_trimesh(scale: float) -> None:
    points = np.random.default_rng(0).normal(size=(60, 3)) * scale
    hull = ConvexHull(points)
    peer = trimesh.Trimesh(points / scale, process=False).convex_hull
    mesh = hull.mesh()
    assert check_mesh(mesh.vertices, mesh.faces).is_solid
    assert mesh.volume() == pytest.approx(peer.volume * scale**3, rel=1e-12)
    assert len(mesh.vertices) == len(peer.vertices)
    mass = hull.mass_properties(2.0)
    np.testing.assert_allclose(mass.center_of_mass, peer.center_mass * scale, atol=1e-12 * scale)
    # trimesh gives the inertia at density 1.
    np.testing.assert_allclose(
        mass.inertia, 2.0 * peer.moment_inertia * scale**5, atol=1e-12 * scale**5
    )


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), count=st.integers(4, 40))
def test_signed_distance_inside_is_that_to_the_nearest_facet(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(count, 3))
    facets = hull_facets(points)
    heights = points @ facets.normals.T - facets.offsets
    assert heights.max() < 1e-12
    x = rng.normal(size=(60, 3))
    distance, gradient = ConvexHull(points).signed_distance(x)
    # A convex body: inside the nearest facet plane decides, outside it is a lower bound.
    planes = (x @ facets.normals.T - facets.offsets).max(axis=1)
    inside = planes < 0.0
    np.testing.assert_array_equal(distance < 0.0, inside)
    np.testing.assert_allclose(distance[inside], planes[inside], atol=1e-13)
    assert (distance[~inside] >= planes[~inside] - 1e-13).all()
    np.testing.assert_allclose(np.linalg.norm(gradient, axis=1), 1.0, atol=1e-12)


def test_inner_radius() -> None:
    square = np.array([[-1.0, -2.0], [3.0, -2.0], [3.0, 2.0], [-1.0, 2.0]])
    assert inner_radius(square) == pytest.approx(1.0)
    assert inner_radius(square + [2.0, 0.0]) == pytest.approx(-1.0)
    assert inner_radius(square * [1.0, 0.0]) == 0.0
    box = np.array([[x, y, z] for x in (-1, 1) for y in (-2, 2) for z in (-3, 3)])
    assert inner_radius(box * 1e-9) == pytest.approx(1e-9)
