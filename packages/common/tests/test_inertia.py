"""Mass properties against quadrature, trimesh, the definition and the kinetic energy of clouds."""

from __future__ import annotations

import functools
import math
import operator

import numpy as np
import pytest
import trimesh
from hypothesis import given
from hypothesis import strategies as st

from contactworks.common import rotations as rot
from contactworks.common.errors import GeometryError, ModelError, ShapeError
from contactworks.common.inertia import (
    INERTIA_TOLERANCE,
    MassProperties,
    box_mass_properties,
    capsule_mass_properties,
    cylinder_mass_properties,
    mesh_mass_properties,
    sphere_mass_properties,
    tube_mass_properties,
)
from contactworks.common.poses import Pose, Twist

from .oracles import cloud_moments, revolved_moments

RHO = 870.0


def assert_same(got, expected, rtol=1e-12):
    mass, center, inertia = expected
    size = math.sqrt(np.trace(inertia) / mass) + np.linalg.norm(center)
    assert got.mass == pytest.approx(mass, rel=rtol)
    np.testing.assert_allclose(got.center_of_mass, center, atol=rtol * size)
    np.testing.assert_allclose(got.inertia, inertia, atol=rtol * np.abs(inertia).max())


def random_cloud(seed, count=7):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(count, 3)) + [1.0, -2.0, 0.5], rng.uniform(0.1, 2.0, size=count)


def cloud_properties(seed, count=7):
    return MassProperties(*cloud_moments(*random_cloud(seed, count)))


def trimesh_properties(mesh):
    mesh.density = RHO
    return mesh.mass, mesh.center_mass, mesh.moment_inertia


def test_primitives_against_quadrature():
    r, h = 0.03, 0.11

    def ball(z):
        return 0.0, math.sqrt(r * r - z * z)

    def shaft(z):
        return 0.0, r

    def cap(z):
        return 0.0, math.sqrt(max(r * r - (abs(z) - h) ** 2, 0.0))

    def wall(z):
        return 0.029, r

    assert_same(sphere_mass_properties(r, RHO), revolved_moments([(-r, r, ball)], RHO))
    assert_same(cylinder_mass_properties(r, h, RHO), revolved_moments([(-h, h, shaft)], RHO))
    assert_same(tube_mass_properties(0.029, r, h, RHO), revolved_moments([(-h, h, wall)], RHO))
    capsule = [(-h - r, -h, cap), (-h, h, shaft), (h, h + r, cap)]
    assert_same(capsule_mass_properties(r, h, RHO), revolved_moments(capsule, RHO))


def test_box_against_quadrature():
    half = np.array([0.1, 0.25, 0.04])
    # Two Gauss points an axis integrate second moments exactly.
    nodes = np.array([-1.0, 1.0]) / math.sqrt(3.0)
    grid = np.stack(np.meshgrid(nodes, nodes, nodes), axis=-1).reshape(-1, 3) * half
    mass = RHO * 8.0 * half.prod()
    assert_same(box_mass_properties(half, RHO), cloud_moments(grid, np.full(8, mass / 8.0)))


def test_tube_is_a_cylinder_with_a_bore():
    tube = tube_mass_properties(0.02, 0.05, 0.1, RHO)
    whole = tube + cylinder_mass_properties(0.02, 0.1, RHO)
    solid = cylinder_mass_properties(0.05, 0.1, RHO)
    assert_same(whole, (solid.mass, solid.center_of_mass, solid.inertia))


@given(
    mass=st.floats(1e-3, 1e3),
    x=st.tuples(*[st.floats(-5, 5)] * 6),
    seed=st.integers(0, 1000),
)
def test_inertia_about_a_point_is_the_definition(mass, x, seed):
    points, masses = random_cloud(seed)
    body = MassProperties(*cloud_moments(points, masses)).with_mass(mass)
    masses = masses * mass / masses.sum()
    point = np.array(x[:3])
    arms = points - point
    squares = np.einsum("ni,ni->n", arms, arms)
    expected = np.einsum("n,n->", masses, squares) * np.eye(3)
    expected -= np.einsum("n,ni,nj->ij", masses, arms, arms)
    np.testing.assert_allclose(body.inertia_about(point), expected, rtol=1e-10, atol=1e-9 * mass)


def test_joined_bodies_are_the_joined_cloud():
    clouds = [random_cloud(seed) for seed in range(4)]
    joined = functools.reduce(operator.add, [cloud_properties(seed) for seed in range(4)])
    points = np.concatenate([c[0] for c in clouds])
    masses = np.concatenate([c[1] for c in clouds])
    assert_same(joined, cloud_moments(points, masses))


def test_joining_bodies_of_very_different_mass():
    heavy, light = sphere_mass_properties(1.0, 1e9), sphere_mass_properties(1e-3, 1.0)
    joined = light.transformed(Pose((0.0, 0.0, 2.0))) + heavy
    assert joined.mass == heavy.mass
    np.testing.assert_allclose(joined.inertia, heavy.inertia, rtol=1e-15)


@given(seed=st.integers(0, 1000), r=st.tuples(*[st.floats(-4, 4)] * 3))
def test_transformed_properties_are_those_of_the_moved_cloud(seed, r):
    points, masses = random_cloud(seed)
    pose = Pose((3.0, 0.2, -1.0), rot.quaternion_exp(r))
    moved = MassProperties(*cloud_moments(points, masses)).transformed(pose)
    assert_same(moved, cloud_moments(pose.apply(points), masses), rtol=1e-11)


def test_spatial_inertia_gives_energy_and_momentum_of_the_cloud():
    points, masses = random_cloud(11)
    body = MassProperties(*cloud_moments(points, masses))
    twist = Twist((0.3, -1.0, 2.0), (1.5, 0.2, -0.7))
    velocities = twist.velocity_at(points)
    energy = 0.5 * float(np.einsum("n,ni,ni->", masses, velocities, velocities))
    momentum = masses @ velocities
    angular = masses @ np.cross(points, velocities)
    spatial = body.spatial_inertia()
    np.testing.assert_allclose(spatial @ twist.to_vector(), [*momentum, *angular], rtol=1e-12)
    assert 0.5 * twist.to_vector() @ spatial @ twist.to_vector() == pytest.approx(energy, rel=1e-12)
    np.testing.assert_array_equal(spatial, spatial.T)


def test_spatial_inertia_changes_frame_by_the_adjoint():
    body = cloud_properties(12)
    pose = Pose((0.4, 1.0, -2.0), rot.random_quaternion(rng=12))
    to_inner = np.linalg.inv(pose.adjoint())
    expected = to_inner.T @ body.spatial_inertia() @ to_inner
    np.testing.assert_allclose(body.transformed(pose).spatial_inertia(), expected, atol=1e-11)


@pytest.mark.parametrize("seed", range(5))
def test_principal_axes_rebuild_the_inertia(seed):
    body = cloud_properties(seed)
    moments, quaternion = body.principal_axes()
    assert np.all(np.diff(moments) >= 0.0)
    axes = rot.quaternion_to_matrix(quaternion)
    np.testing.assert_allclose(axes @ np.diag(moments) @ axes.T, body.inertia, atol=1e-12)
    in_principal = body.transformed(Pose(quaternion=rot.quaternion_conjugate(quaternion)))
    np.testing.assert_allclose(in_principal.inertia, np.diag(moments), atol=1e-12)


def test_scaling_to_another_mass_keeps_the_shape():
    box = box_mass_properties((0.1, 0.2, 0.3), 100.0)
    denser = box_mass_properties((0.1, 0.2, 0.3), 250.0)
    assert_same(
        box.with_mass(denser.mass), (denser.mass, denser.center_of_mass, denser.inertia), 1e-14
    )


def moved_primitive(mesh, seed):
    matrix = Pose((0.7, -0.4, 1.3), rot.random_quaternion(rng=seed)).to_matrix()
    return mesh.apply_transform(matrix)


@pytest.mark.parametrize(
    "mesh",
    [
        trimesh.creation.box((0.2, 0.3, 0.1)),
        trimesh.creation.icosphere(subdivisions=2, radius=0.05),
        trimesh.creation.capsule(height=0.2, radius=0.04),
        trimesh.creation.annulus(r_min=0.02, r_max=0.05, height=0.1),
        trimesh.creation.torus(major_radius=0.1, minor_radius=0.03),
        trimesh.creation.cone(radius=0.05, height=0.1),
    ],
    ids=["box", "icosphere", "capsule", "annulus", "torus", "cone"],
)
def test_mesh_properties_are_trimeshs(mesh):
    moved = moved_primitive(mesh.copy(), seed=13)
    got = mesh_mass_properties(moved.vertices, moved.faces, RHO)
    assert_same(got, trimesh_properties(moved), rtol=1e-10)


def test_mesh_of_a_box_is_exact():
    pose = Pose((0.7, -0.4, 1.3), rot.random_quaternion(rng=14))
    mesh = trimesh.creation.box((0.2, 0.3, 0.1)).apply_transform(pose.to_matrix())
    expected = box_mass_properties((0.1, 0.15, 0.05), RHO).transformed(pose)
    got = mesh_mass_properties(mesh.vertices, mesh.faces, RHO)
    assert_same(got, (expected.mass, expected.center_of_mass, expected.inertia), 1e-12)


def test_mesh_of_a_tetrahedron_is_the_textbook_integral():
    # Over x + y + z < 1, all positive: volume 1/6, mean of x 1/4, of x^2 1/10, of x y 1/20.
    corners = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    faces = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]
    body = mesh_mass_properties(corners, faces, 6.0)
    variance, covariance = 1 / 10 - 1 / 16, 1 / 20 - 1 / 16
    expected = 2 * variance * np.eye(3) - covariance * (np.ones((3, 3)) - np.eye(3))
    assert_same(body, (1.0, [0.25] * 3, expected), 1e-14)


def test_meshes_converge_to_the_smooth_primitives_at_second_order():
    exact = sphere_mass_properties(0.05, RHO)
    errors = []
    for level in (2, 3, 4):
        mesh = trimesh.creation.icosphere(subdivisions=level, radius=0.05)
        body = mesh_mass_properties(mesh.vertices, mesh.faces, RHO)
        errors.append(abs(body.inertia[0, 0] / exact.inertia[0, 0] - 1.0))
    rates = np.log2(np.divide(errors[:-1], errors[1:]))
    np.testing.assert_allclose(rates, 2.0, atol=0.1)


def test_mesh_far_from_its_origin_keeps_its_digits():
    mesh = trimesh.creation.box((0.01, 0.01, 0.01))
    here = mesh_mass_properties(mesh.vertices, mesh.faces, RHO)
    # A shift by a power of two is exact for these coordinates up to 2^-43 m.
    there = mesh_mass_properties(mesh.vertices + 1024.0, mesh.faces, RHO)
    np.testing.assert_allclose(
        there.inertia, here.inertia, rtol=1e-9, atol=1e-9 * here.inertia[0, 0]
    )


def test_mesh_with_a_cavity_and_two_parts():
    outer = trimesh.creation.icosphere(subdivisions=2, radius=0.05)
    inner = trimesh.creation.icosphere(subdivisions=2, radius=0.02)
    box = trimesh.creation.box((0.02, 0.03, 0.04)).apply_translation([0.2, 0.0, 0.0])
    hollow = trimesh.util.concatenate(
        [outer, trimesh.Trimesh(inner.vertices, inner.faces[:, ::-1]), box]
    )
    got = mesh_mass_properties(hollow.vertices, hollow.faces, RHO)
    parts = [mesh_mass_properties(m.vertices, m.faces, RHO) for m in (outer, inner, box)]
    assert got.mass == pytest.approx(parts[0].mass - parts[1].mass + parts[2].mass, rel=1e-13)
    whole = parts[0] + parts[2]
    rest = got + parts[1]
    assert_same(rest, (whole.mass, whole.center_of_mass, whole.inertia), 1e-12)


def test_parts_may_touch_along_an_edge():
    # Two cubes that share one edge: four faces meet there, and the solid is still well defined.
    first = trimesh.creation.box((1.0, 1.0, 1.0))
    second = first.copy().apply_translation([1.0, 1.0, 0.0])
    both = trimesh.util.concatenate([first, second])
    both.merge_vertices()
    assert len(both.vertices) == 14
    assert mesh_mass_properties(both.vertices, both.faces, 1.0).mass == pytest.approx(
        2.0, rel=1e-14
    )


CUBE = trimesh.creation.box((1.0, 1.0, 1.0))


def broken(change):
    vertices, faces = np.array(CUBE.vertices), np.array(CUBE.faces)
    result = change(vertices, faces)
    return result if result is not None else (vertices, faces)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda v, f: (v, f[:-1]), r"3 of 18 edges are open"),
        (lambda v, f: (v[f].reshape(-1, 3), np.arange(36).reshape(-1, 3)), "vertices merged"),
        (lambda v, f: (v, f[:, ::-1]), "inside out"),
        (lambda v, f: (v, np.concatenate([f[:1, ::-1], f[1:]])), "3 edges join faces of opposite"),
        (lambda v, f: (v, np.concatenate([f, f])), "12 triangles appear more than once"),
        (lambda v, f: v.__setitem__((3, 1), np.nan), r"vertices\[3, 1\] is nan"),
        (lambda v, f: v.__setitem__((3, 1), np.inf), r"vertices\[3, 1\] is inf"),
        (lambda v, f: f.__setitem__((5, 0), 8), r"faces\[5, 0\].*expected 0 to 7"),
        (lambda v, f: f.__setitem__((5, 0), -1), r"faces\[5, 0\].*expected 0 to 7"),
        (lambda v, f: f.__setitem__((5, 0), f[5, 1]), r"faces\[5\].*three different"),
        (lambda v, f: (v * [1.0, 1.0, 0.0], f), "no volume"),
        (lambda v, f: (v, f[:0]), "faces: got an empty array"),
    ],
)
def test_unusable_meshes_are_refused(change, complaint):
    with pytest.raises(GeometryError, match=complaint):
        mesh_mass_properties(*broken(change), RHO)


@pytest.mark.parametrize(
    ("vertices", "faces", "complaint"),
    [
        (np.zeros((4, 2)), [[0, 1, 2]], "vertices"),
        (np.zeros(3), [[0, 1, 2]], "vertices"),
        (np.zeros((4, 3)), [[0, 1, 2, 3]], "faces"),
        (np.zeros((4, 3)), [[0.0, 1.0, 2.0]], "integers"),
    ],
)
def test_mesh_arrays_of_another_shape_are_refused(vertices, faces, complaint):
    with pytest.raises(ShapeError, match=complaint):
        mesh_mass_properties(vertices, faces, RHO)


@pytest.mark.parametrize(
    "call",
    [
        lambda: sphere_mass_properties(0.0, RHO),
        lambda: sphere_mass_properties(1.0, -1.0),
        lambda: box_mass_properties((1.0, 1.0, 0.0), RHO),
        lambda: box_mass_properties((1.0, np.nan, 1.0), RHO),
        lambda: cylinder_mass_properties(0.0, 1.0, RHO),
        lambda: capsule_mass_properties(1.0, -1.0, RHO),
        lambda: tube_mass_properties(0.1, 0.1, 1.0, RHO),
        lambda: tube_mass_properties(-0.1, 0.1, 1.0, RHO),
        lambda: mesh_mass_properties(CUBE.vertices, CUBE.faces, 0.0),
        lambda: MassProperties(0.0, (0, 0, 0), (1, 1, 1)),
        lambda: MassProperties(np.inf, (0, 0, 0), (1, 1, 1)),
        lambda: MassProperties(1.0, (0, 0, np.nan), (1, 1, 1)),
        lambda: MassProperties(1.0, (0, 0, 0), (1, 1, np.nan)),
        lambda: sphere_mass_properties(1.0, RHO).with_mass(-1.0),
    ],
)
def test_sizes_and_masses_must_be_positive_and_finite(call):
    with pytest.raises(ModelError, match="expected"):
        call()


@pytest.mark.parametrize(
    ("inertia", "complaint"),
    [
        ([[1.0, 0.1, 0], [0, 1, 0], [0, 0, 1]], "asymmetry"),
        ((-1.0, 1.0, 1.0), "none negative"),
        ((1.0, 1.0, 2.1), "sum of the other two"),
        ([[1.0, 1.2, 0], [1.2, 1.0, 0], [0, 0, 1.0]], "none negative"),
    ],
)
def test_inertias_that_no_body_has_are_refused(inertia, complaint):
    with pytest.raises(ModelError, match=complaint):
        MassProperties(1.0, (0, 0, 0), inertia)


def test_the_triangle_inequality_holds_to_the_stated_tolerance():
    flat = MassProperties(1.0, (0, 0, 0), (1.0, 1.0, 2.0 * (1.0 + 0.9 * INERTIA_TOLERANCE)))
    assert flat.inertia[2, 2] > 2.0
    with pytest.raises(ModelError):
        MassProperties(1.0, (0, 0, 0), (1.0, 1.0, 2.0 * (1.0 + 1.1 * INERTIA_TOLERANCE)))


def test_points_and_rods_are_bodies():
    point = MassProperties(2.0, (1.0, 0.0, 0.0), np.zeros((3, 3)))
    pair = point + point.transformed(Pose((-2.0, 0.0, 0.0)))
    np.testing.assert_allclose(pair.inertia, np.diag([0.0, 4.0, 4.0]), atol=1e-15)


def test_shapes_of_mass_properties_are_checked_and_results_read_only():
    with pytest.raises(ShapeError, match="inertia"):
        MassProperties(1.0, (0, 0, 0), np.eye(4))
    with pytest.raises(ShapeError, match="inertia"):
        MassProperties(1.0, (0, 0, 0), [[1, 0, 0], [0, 1]])
    with pytest.raises(ShapeError, match="mass"):
        MassProperties([1.0, 2.0], (0, 0, 0), (1, 1, 1))
    body = sphere_mass_properties(1.0, RHO)
    with pytest.raises(ValueError, match="read-only"):
        body.inertia[0, 0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        body.center_of_mass[0] = 1.0
