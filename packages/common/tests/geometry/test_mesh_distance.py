"""Closest points and signed distances of meshes against slow and independent ones."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from contactworks.common.errors import GeometryError
from contactworks.common.geometry import (
    Box,
    ConvexHull,
    Mesh,
    MeshDistance,
    Sphere,
    clean_mesh,
    from_trimesh,
)
from contactworks.common.geometry.winding import winding_number

HALF = np.array([0.05, 0.03, 0.02])


def _query(mesh: Mesh) -> MeshDistance:
    return MeshDistance(mesh.vertices, mesh.faces)


def _cube() -> Mesh:
    return from_trimesh(trimesh.creation.box(extents=2 * HALF))


def _special_points() -> np.ndarray:
    """Return points straight above faces, edges and corners, on them, and inside."""
    ticks = [np.array([-2.0, -1.0, -0.5, 0.0, 0.3, 1.0, 1.7]) * h for h in HALF]
    return np.stack(np.meshgrid(*ticks, indexing="ij"), axis=-1).reshape(-1, 3)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_a_cube_has_the_distance_of_a_box(scale: float) -> None:
    mesh, box = Mesh(_cube().vertices * scale, _cube().faces), Box(HALF * scale)
    rng = np.random.default_rng(0)
    x = np.concatenate([_special_points(), rng.uniform(-0.1, 0.1, size=(3000, 3))]) * scale
    distance, gradient = mesh.signed_distance(x)
    exact, exact_gradient = box.signed_distance(x)
    np.testing.assert_allclose(distance, exact, atol=1e-16 * scale)
    np.testing.assert_allclose(np.linalg.norm(gradient, axis=1), 1.0, atol=1e-12)
    # On edges, corners and the medial axis several gradients are right.
    outside = exact > 1e-9 * scale
    np.testing.assert_allclose(gradient[outside], exact_gradient[outside], atol=1e-9)


def _slow_distance(x: np.ndarray, mesh: Mesh) -> float:
    """Return the distance by constrained minimisation over the barycentric coordinates."""
    best = np.inf
    for a, b, c in mesh.vertices[mesh.faces]:
        edges = np.column_stack([b - a, c - a])

        def square(t: np.ndarray, a: np.ndarray = a, edges: np.ndarray = edges) -> float:
            return float(((a + edges @ t - x) ** 2).sum())

        rule = {"type": "ineq", "fun": lambda t: 1.0 - t.sum()}
        found = minimize(square, [0.3, 0.3], bounds=[(0, 1), (0, 1)], constraints=rule, tol=1e-14)
        best = min(best, np.sqrt(found.fun))
    return best


def test_closest_point_agrees_with_minimisation() -> None:
    mesh = from_trimesh(trimesh.creation.icosahedron())
    x = np.random.default_rng(3).normal(size=(12, 3)) * 1.5
    closest = _query(mesh).closest(x)
    slow = [_slow_distance(point, mesh) for point in x]
    np.testing.assert_allclose(closest.distance, slow, rtol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(x - closest.point, axis=1), closest.distance)


MESHES = {
    "torus": trimesh.creation.torus(0.05, 0.02, major_sections=48, minor_sections=24),
    "tube": trimesh.creation.annulus(r_min=0.02, r_max=0.05, height=0.06, sections=24),
    "hull": trimesh.Trimesh(np.random.default_rng(5).normal(size=(40, 3)) * 0.04).convex_hull,
    "ball": trimesh.creation.icosphere(subdivisions=3, radius=0.06),
    "wedge": trimesh.creation.cone(radius=0.002, height=0.09, sections=7),
}


@pytest.mark.parametrize("name", MESHES)
def test_distance_and_sign_agree_with_trimesh_and_with_winding(name: str) -> None:
    peer = MESHES[name]
    mesh = from_trimesh(peer)
    x = np.random.default_rng(2).uniform(-0.08, 0.08, size=(1500, 3))
    distance, gradient = mesh.signed_distance(x)
    # Scaled up for trimesh, which takes squared distances closer than 1e-8 for equal.
    large = trimesh.Trimesh(peer.vertices * 1e4, peer.faces, process=False)
    unsigned = trimesh.proximity.closest_point(large, x * 1e4)[1] / 1e4
    np.testing.assert_allclose(np.abs(distance), unsigned, atol=1e-12, rtol=1e-9)
    turns = winding_number(x, mesh.vertices, mesh.faces)
    np.testing.assert_allclose(turns, np.round(turns), atol=1e-10)
    np.testing.assert_array_equal(distance < 0.0, turns > 0.5)
    # The foot of every point lies on the surface.
    foot = x - distance[:, None] * gradient
    np.testing.assert_allclose(_query(mesh).closest(foot).distance, 0.0, atol=1e-15)


@pytest.mark.parametrize("name", MESHES)
def test_sign_next_to_edges_and_corners(name: str) -> None:
    # Just off the surface, where the sign of a single face normal would often be wrong.
    mesh = from_trimesh(MESHES[name])
    ends = np.concatenate([mesh.faces[:, [0, 1]], mesh.faces[:, [1, 2]]])
    middle = mesh.vertices[ends].mean(axis=1)[:400]
    rng = np.random.default_rng(4)
    places = np.concatenate([middle, mesh.vertices[:200]])
    x = np.repeat(places, 3, axis=0) + rng.normal(size=(3 * len(places), 3)) * 1e-5
    distance, _ = mesh.signed_distance(x)
    turns = winding_number(x, mesh.vertices, mesh.faces)
    np.testing.assert_array_equal(distance < 0.0, turns > 0.5)


coordinates = st.tuples(*[st.floats(-0.2, 0.2)] * 3)


@settings(max_examples=60, deadline=None)
@given(a=coordinates, b=coordinates)
def test_distance_is_1_lipschitz(a: tuple[float, ...], b: tuple[float, ...]) -> None:
    pair = np.array([a, b])
    near, far = from_trimesh(MESHES["torus"]).signed_distance(pair)[0]
    assert abs(near - far) <= np.linalg.norm(pair[0] - pair[1]) * (1 + 1e-12) + 1e-15


def test_bodies_that_touch_in_an_edge_or_a_corner() -> None:
    cube = _cube()
    for shift in ([2.0, 2.0, 0.0], [2.0, 2.0, 2.0]):
        both = clean_mesh(
            np.concatenate([cube.vertices, cube.vertices + HALF * shift]),
            np.concatenate([cube.faces, cube.faces + len(cube.vertices)]),
        )
        assert len(both.vertices) < 16  # the touching corners are one
        rng = np.random.default_rng(6)
        x = HALF * [1.0, 1.0, shift[2] / 2.0] + rng.normal(size=(3000, 3)) * 0.01
        ways = np.stack(
            [
                Box(HALF).signed_distance(x - HALF * [0, 0, 0])[0],
                Box(HALF).signed_distance(x - HALF * shift)[0],
            ]
        )
        np.testing.assert_allclose(both.signed_distance(x)[0], ways.min(axis=0), atol=1e-16)


def test_a_tip_that_touches_the_bottom_of_a_notch() -> None:
    # Around the touching corner lie a notched block and, in the notch, the tip of a tetrahedron.
    notched = trimesh.creation.box(extents=(2, 2, 2)).difference(
        trimesh.creation.box(bounds=[[0, 0, 0], [2, 2, 2]])
    )
    tip = ConvexHull([[0, 0, 0], [0.9, 0.3, 0.2], [0.2, 0.9, 0.1], [0.1, 0.2, 0.9]]).mesh()
    mesh = clean_mesh(
        np.concatenate([notched.vertices, tip.vertices]),
        np.concatenate([notched.faces, tip.faces + len(notched.vertices)]),
        solid=True,
    )
    x = np.random.default_rng(8).normal(size=(4000, 3)) * 0.05
    closest = MeshDistance(mesh.vertices, mesh.faces).closest(x)
    assert (np.abs(closest.point).max(axis=1) == 0.0).sum() > 200  # closest to the corner itself
    distance, _ = mesh.signed_distance(x)
    in_notched = (x.min(axis=1) < 0.0) & (np.abs(x).max(axis=1) < 1.0)
    in_tip = tip.signed_distance(x)[0] < 0.0
    np.testing.assert_array_equal(distance < 0.0, in_notched | in_tip)


def test_a_cavity_is_outside() -> None:
    outer, inner = trimesh.creation.icosphere(3, 0.05), trimesh.creation.icosphere(3, 0.02)
    shell = Mesh(
        np.concatenate([outer.vertices, inner.vertices]),
        np.concatenate([outer.faces, inner.faces[:, ::-1] + len(outer.vertices)]),
    )
    x = np.array([[0.0, 0.0, 0.001], [0.03, 0.0, 0.0], [0.06, 0.0, 0.0]])
    distance, _ = shell.signed_distance(x)
    np.testing.assert_allclose(distance, [0.019, -0.01, 0.01], atol=5e-4)
    volume = Sphere(0.05).mass_properties(1.0).mass - Sphere(0.02).mass_properties(1.0).mass
    assert shell.volume() == pytest.approx(volume, rel=0.02)


def test_open_meshes_have_closest_points_but_no_sign() -> None:
    cube = _cube()
    lid_off = Mesh(cube.vertices, cube.faces[2:])
    query = _query(lid_off)
    assert query.closest(np.zeros((1, 3))).distance[0] == pytest.approx(0.02)
    with pytest.raises(GeometryError, match="not watertight: 4 open edges, for example between"):
        query.signed(np.zeros((1, 3)))
    with pytest.raises(GeometryError, match="inverted orientation"):
        Mesh(cube.vertices, cube.faces[:, ::-1]).signed_distance(np.zeros((1, 3)))


def test_far_away_and_no_points() -> None:
    mesh, exact = _cube(), Box(HALF)
    x = np.array([[1e6, 2e6, -3e6], [1e3, 0.0, 0.0]])
    np.testing.assert_allclose(mesh.signed_distance(x)[0], exact.signed_distance(x)[0], rtol=1e-14)
    distance, gradient = mesh.signed_distance(np.zeros((0, 3)))
    assert distance.shape == (0,)
    assert gradient.shape == (0, 3)


def test_closest_point_tells_its_feature() -> None:
    hull = ConvexHull([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]).mesh()
    closest = _query(hull).closest([[0.2, 0.2, -1.0], [-1.0, -1.0, -1.0], [0.4, -1.0, -1.0]])
    assert closest.feature[0] == 0
    assert 1 <= closest.feature[1] <= 3
    corner = hull.faces[closest.face[1], closest.feature[1] - 1]
    np.testing.assert_array_equal(hull.vertices[corner], [0, 0, 0])
    assert 4 <= closest.feature[2] <= 6
    start = closest.feature[2] - 4
    ends = hull.vertices[hull.faces[closest.face[2]][[start, (start + 1) % 3]]]
    np.testing.assert_array_equal(np.sort(ends, axis=0), [[0, 0, 0], [1, 0, 0]])
