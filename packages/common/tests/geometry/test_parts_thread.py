"""The thread: its distance against minimisation, its screw symmetry, and how bolt and nut fit."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import trimesh
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import dblquad
from scipy.optimize import minimize_scalar

from contactworks.common.errors import GeometryError
from contactworks.common.geometry.parts import Bolt, Nut
from contactworks.common.geometry.parts.moments import polygon_moments
from contactworks.common.geometry.parts.thread_form import MAX_PITCH_RATIO, ThreadForm

# The scene of the CRISP paper in metres, an M20-sized screw, and the steepest one allowed.
FORMS = [ThreadForm(0.26, 1 / 12), ThreadForm(0.01993, 0.005), ThreadForm(1.0, MAX_PITCH_RATIO)]
each_form = pytest.mark.parametrize("form", FORMS, ids=["metre", "small", "steep"])


def _surface(form: ThreadForm, azimuth, share, pitch_index, side) -> np.ndarray:
    """Return points of a flank: ``share`` runs from the inner edge (0) to the outer edge (1)."""
    rho = form.radius + 0.5 * form.pitch * share
    z = form.pitch * (azimuth / (2.0 * math.pi) + 0.5 + pitch_index + 0.5 * side * share)
    return np.stack([rho * np.cos(azimuth), rho * np.sin(azimuth), z], axis=-1)


def _true_distance(form: ThreadForm, point: np.ndarray) -> float:
    """Return the distance to the endless surface by minimisation over its straight generators."""
    azimuth = math.atan2(point[1], point[0])
    middle = round(point[2] / form.pitch - azimuth / (2.0 * math.pi) - 0.5)

    def squared(a, index, side) -> np.ndarray:
        inner = _surface(form, a, 0.0, index, side) - point
        along = _surface(form, a, 1.0, index, side) - point - inner
        t = np.clip(-(inner * along).sum(axis=-1) / (along * along).sum(axis=-1), 0.0, 1.0)
        return (((inner + t[..., None] * along) / form.pitch) ** 2).sum(axis=-1)

    grid = azimuth + np.linspace(-math.pi, math.pi, 721)
    best = np.inf
    for index in range(middle - 2, middle + 3):
        for side in (-1.0, 1.0):
            k = int(np.clip(squared(grid, index, side).argmin(), 1, len(grid) - 2))
            found = minimize_scalar(
                lambda a, index=index, side=side: float(squared(np.array(a), index, side)),
                bounds=(grid[k - 1], grid[k + 1]),
                method="bounded",
                options={"xatol": 1e-10},
            )
            best = min(best, found.fun)
    return math.sqrt(best) * form.pitch


def _random_points(form: ThreadForm, count: int, rng) -> np.ndarray:
    rho = rng.uniform(form.radius - form.pitch, form.outer_radius + form.pitch, count)
    azimuth = rng.uniform(-math.pi, math.pi, count)
    z = rng.uniform(-2.0 * form.pitch, 2.0 * form.pitch, count)
    return np.column_stack([rho * np.cos(azimuth), rho * np.sin(azimuth), z])


@each_form
def test_distance_is_a_close_lower_bound_of_the_minimised_one(form) -> None:
    points = _random_points(form, 80, np.random.default_rng(1))
    distance, _ = form.distance(points)
    truth = np.array([_true_distance(form, x) for x in points])
    inside = np.hypot(points[:, 0], points[:, 1]) < form.radius_at(
        np.arctan2(points[:, 1], points[:, 0]), points[:, 2]
    )
    np.testing.assert_array_equal(distance < 0.0, inside)
    assert (np.abs(distance) <= truth * (1.0 + 1e-6) + 1e-9 * form.pitch).all()
    floor = 0.92 if form.pitch <= 0.5 * form.radius else 0.75  # as documented
    assert (np.abs(distance) >= floor * truth - 1e-9 * form.pitch).all()


@each_form
def test_distance_is_exact_to_second_order_on_the_flanks(form) -> None:
    rng = np.random.default_rng(2)
    azimuth, share = rng.uniform(-3, 3, 12), rng.uniform(0.25, 0.75, 12)
    foot = _surface(form, azimuth, share, 0, 1.0)
    zero, normal = form.distance(foot)
    np.testing.assert_allclose(zero, 0.0, atol=1e-15 * form.radius)
    np.testing.assert_allclose(np.linalg.norm(normal, axis=1), 1.0, atol=1e-14)
    errors = []
    for step in (0.08 * form.pitch, 0.02 * form.pitch):
        distance, _ = form.distance(foot + step * normal)
        # The foot is known: a point on the normal, closer than the next flank.
        errors.append(np.abs(distance - step).max() / step)
    assert errors[0] < 0.1 * (form.pitch / form.radius) ** 2
    assert errors[1] < 0.3 * errors[0]


@each_form
def test_normal_is_that_of_the_parametrised_surface(form) -> None:
    rng = np.random.default_rng(3)
    azimuth, share = rng.uniform(-3, 3, 50), rng.uniform(0.01, 0.99, 50)
    for side in (-1.0, 1.0):

        def surface(a, t, side=side):
            return _surface(form, a, t, 0, side)

        along_a = surface(azimuth + 1e-6, share) - surface(azimuth - 1e-6, share)
        along_t = surface(azimuth, share + 1e-6) - surface(azimuth, share - 1e-6)
        normal = np.cross(along_a, along_t)
        normal /= np.linalg.norm(normal, axis=1, keepdims=True)
        normal *= np.sign((normal[:, :2] * surface(azimuth, share)[:, :2]).sum(axis=1))[:, None]
        _, gradient = form.distance(surface(azimuth, share))
        np.testing.assert_allclose(gradient, normal, atol=1e-8)


@settings(max_examples=60, deadline=None)
@given(turn=st.floats(-20.0, 20.0), form=st.sampled_from(FORMS))
def test_screw_motion_leaves_the_distance_unchanged(turn, form) -> None:
    points = _random_points(form, 200, np.random.default_rng(4))
    c, s = math.cos(turn), math.sin(turn)
    rotation = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    moved = points @ rotation.T + np.array([0.0, 0.0, form.pitch * turn / (2.0 * math.pi)])
    distance, gradient = form.distance(points)
    distance_moved, gradient_moved = form.distance(moved)
    np.testing.assert_allclose(distance_moved, distance, atol=1e-13 * form.radius)
    # At the edges the gradient jumps; the points are random.
    np.testing.assert_allclose(gradient_moved, gradient @ rotation.T, atol=1e-9)


@each_form
def test_distance_is_lipschitz_down_to_the_axis(form) -> None:
    rng = np.random.default_rng(5)
    a = rng.uniform(-1.2, 1.2, (40_000, 3)) * form.outer_radius
    a[::4, :2] *= 1e-3
    step = form.radius * 10.0 ** rng.uniform(-7, 0, (len(a), 1))
    direction = rng.normal(size=a.shape)
    b = a + step * direction / np.linalg.norm(direction, axis=1, keepdims=True)
    rise = np.abs(form.distance(a)[0] - form.distance(b)[0])
    assert (rise <= np.linalg.norm(a - b, axis=1) + 1e-14 * form.radius).all()
    assert np.isfinite(form.distance(np.zeros((1, 3)))[1]).all()


@pytest.mark.parametrize("is_internal", [False, True])
def test_groove_flanks_are_the_distance_near_each_flank(is_internal) -> None:
    form = FORMS[0]
    sign = -1.0 if is_internal else 1.0
    rng = np.random.default_rng(6)
    azimuth, share = rng.uniform(-3, 3, 200), rng.uniform(0.2, 0.8, 200)
    foot = _surface(form, azimuth, share, 0, 1.0)
    _, normal = form.distance(foot)
    points = foot + sign * 1e-5 * normal
    distances, normals = form.groove_flanks(points, is_internal=is_internal)
    nearest = np.abs(distances).argmin(axis=1)
    rows = np.arange(len(points))
    np.testing.assert_allclose(distances[rows, nearest], 1e-5, rtol=1e-5)
    np.testing.assert_allclose(normals[rows, nearest], sign * normal, atol=1e-4)
    np.testing.assert_allclose(np.linalg.norm(normals, axis=2), 1.0, atol=1e-14)
    # Both flanks bound the groove: the smaller distance is the solid's.
    depth = sign * form.distance(points)[0]
    np.testing.assert_allclose(distances.min(axis=1), depth, rtol=1e-4)


def _thread_points(nut: Nut, count: int) -> np.ndarray:
    """Return points on the exact thread of a nut, its edges included, from wall to wall."""
    rng = np.random.default_rng(7)
    z = rng.uniform(-0.5 * nut.height, 0.5 * nut.height, count)
    azimuth = rng.uniform(-math.pi, math.pi, count)
    # A third lies on the edges, where contact comes first.
    azimuth[::3] = 2.0 * math.pi * (z[::3] / nut.pitch - 0.5 * rng.integers(0, 2, len(z[::3])))
    rho = nut.form.radius_at(azimuth, z)
    return np.column_stack([rho * np.cos(azimuth), rho * np.sin(azimuth), z])


def _placed(points: np.ndarray, z: float, yaw: float) -> np.ndarray:
    c, s = math.cos(yaw), math.sin(yaw)
    return points @ np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]]) + [0.0, 0.0, z]


@pytest.mark.parametrize("tolerance", [2e-3, 1e-3, 5e-4, 1e-4])
@pytest.mark.parametrize("height", [1.2, 1.2345, 1.5])
def test_bolt_and_nut_assemble_with_the_expected_clearance(tolerance, height) -> None:
    bolt = Bolt(0.26, 1 / 12, 3.0, 1.0, 0.5)
    nut = Nut(0.26 + tolerance, 1 / 12, 0.5, 1.0)
    yaw = 2.0 * math.pi * height / bolt.pitch
    distance, _ = bolt.signed_distance(_placed(_thread_points(nut, 20_000), height, yaw))
    slope = bolt.pitch / (2.0 * math.pi * bolt.radius)
    expected = tolerance / math.sqrt(2.0 + slope**2)
    assert distance.min() == pytest.approx(expected, rel=1e-4)
    # The crest of the bolt faces the nut's groove across the whole radial tolerance.
    assert distance.max() <= tolerance * (1.0 + 1e-9)


def test_wrong_phase_does_not_assemble() -> None:
    bolt, nut = Bolt(0.26, 1 / 12, 3.0, 1.0, 0.5), Nut(0.2605, 1 / 12, 0.5, 1.0)
    for wrong in (0.5 * math.pi, math.pi):
        yaw = 2.0 * math.pi * 1.2 / bolt.pitch + wrong
        distance, _ = bolt.signed_distance(_placed(_thread_points(nut, 20_000), 1.2, yaw))
        assert distance.min() < -5e-3


def test_axial_shift_gives_the_flank_overlap() -> None:
    """A shift by 10 µm along the axis overlaps by 10 µm · ν; 7.0711 µm where k is small."""
    bolt, nut = Bolt(0.26, 1 / 12, 3.0, 1.0, 0.5), Nut(0.26, 1 / 12, 0.5, 1.0)
    yaw = 2.0 * math.pi * 1.2 / bolt.pitch
    points = _placed(_thread_points(nut, 20_000), 1.2, yaw)
    distance, _ = bolt.signed_distance(points + [0.0, 0.0, 10e-6])
    outermost = bolt.pitch / (2.0 * math.pi * bolt.crest_radius)
    assert distance.min() == pytest.approx(-10e-6 / math.sqrt(2.0 + outermost**2), rel=1e-4)
    assert distance.min() == pytest.approx(-7.0711e-6, rel=1e-3)


@pytest.mark.parametrize("segments", [16, 48, 128])
def test_coarse_meshes_assemble_at_a_tight_tolerance(segments) -> None:
    """100 µm at metre size, where an inscribed nut of 128 segments would reach in by 90 µm."""
    bolt = Bolt(0.26, 1 / 12, 1.0, 1.0, 0.5)
    nut = Nut(0.26 + 1e-4, 1 / 12, 0.5, 1.0)
    yaw = 2.0 * math.pi * 0.55 / bolt.pitch

    def samples(fit: str) -> np.ndarray:
        mesh = nut.mesh(segments, bore_fit=fit)
        as_trimesh = trimesh.Trimesh(mesh.vertices, mesh.faces, process=False)
        points = trimesh.sample.sample_surface(as_trimesh, 60_000, seed=8)[0]
        return _placed(np.vstack([points, mesh.vertices]), 0.55, yaw)

    expected = 1e-4 / math.sqrt(2.0 + (bolt.pitch / (2.0 * math.pi * bolt.radius)) ** 2)
    assert bolt.signed_distance(samples("clear"))[0].min() >= 0.999 * expected
    if segments < 128:
        assert bolt.signed_distance(samples("inscribed"))[0].min() < 0.0


@settings(max_examples=60, deadline=None)
@given(
    ratio=st.floats(0.05, MAX_PITCH_RATIO),
    turns=st.floats(0.1, 4.0),
    segments=st.integers(8, 160),
    seed=st.integers(0, 100),
)
def test_facets_keep_to_their_side_of_the_exact_thread(ratio, turns, segments, seed) -> None:
    pitch = ratio
    nut = Nut(1.0, pitch, turns * pitch, 4.0)
    bolt = Bolt(1.0, pitch, turns * pitch, 4.0, 0.5)
    for part in (nut, bolt):
        mesh = part.mesh(segments)
        rng = np.random.default_rng(seed)
        weights = rng.dirichlet([0.4, 0.4, 0.4], size=(30, len(mesh.faces)))
        corners = mesh.vertices[mesh.faces]
        points = np.einsum("kfi,fij->kfj", weights, corners).reshape(-1, 3)
        assert part.signed_distance(points)[0].max() <= 1e-12


def test_section_moments_against_adaptive_quadrature() -> None:
    form = FORMS[1]
    section = form.section_moments()
    r0, p = form.radius, form.pitch
    closed_area = math.pi * (r0**2 + 0.5 * r0 * p + p**2 / 12.0)
    assert section.area == pytest.approx(closed_area, rel=1e-14)

    def integral(f) -> float:
        limit = lambda a: float(form.radius_at(np.array([a]), np.zeros(1))[0])  # noqa: E731
        half = dblquad(lambda r, a: r * f(r * math.cos(a), r * math.sin(a)), 0, math.pi, 0, limit)
        return 2.0 * half[0]

    assert section.first[0] == pytest.approx(integral(lambda x, y: x), rel=1e-8)
    assert section.second[0, 0] == pytest.approx(integral(lambda x, y: x * x), rel=1e-8)
    assert section.second[1, 1] == pytest.approx(integral(lambda x, y: y * y), rel=1e-8)


@pytest.mark.parametrize(("lower", "upper"), [(0.0, 0.04), (-0.0123, 0.0071)])
def test_solid_moments_against_a_stack_of_polygons(lower, upper) -> None:
    """An independent sum: thin slices, each a polygon of 4,000 corners (midpoint rule)."""
    form = FORMS[1]
    count = 400
    edges = np.linspace(lower, upper, count + 1)
    angle = 2.0 * math.pi * np.arange(4000) / 4000
    volume, first, second = 0.0, np.zeros(3), np.zeros((3, 3))
    for a, b in itertools.pairwise(edges):
        r = form.radius_at(angle, np.full(len(angle), 0.5 * (a + b)))
        corners = np.column_stack([r * np.cos(angle), r * np.sin(angle)])
        slice_moments = polygon_moments(corners).extruded(a, b)
        volume += slice_moments.volume
        first += slice_moments.first
        second += slice_moments.second
    exact = form.moments(lower, upper)
    assert exact.volume == pytest.approx(volume, rel=1e-5)
    np.testing.assert_allclose(exact.first, first, atol=2e-5 * volume * form.radius)
    np.testing.assert_allclose(exact.second, second, atol=2e-5 * volume * form.radius**2)


def test_whole_turns_balance() -> None:
    """Over whole turns the one-start thread has its centre of mass on the axis, not its inertia."""
    nut = Nut(0.01, 0.003, 0.009, 0.03).mass_properties(7800.0)
    np.testing.assert_allclose(nut.center_of_mass, 0.0, atol=1e-16)
    assert abs(nut.inertia[1, 2]) > 1e-6 * nut.inertia[0, 0]


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (lambda: Bolt(0.01, 0.008, 0.04, 0.05, 0.01), "pitch"),
        (lambda: Bolt(0.01, 0.002, 0.04, 0.022, 0.01), "head_width"),
        (lambda: Nut(0.01, 0.002, 0.04, 0.0219), "width"),
        (lambda: Bolt(-0.01, 0.002, 0.04, 0.05, 0.01), "radius"),
        (lambda: Nut(0.01, 0.002, math.nan, 0.05), "height"),
        (lambda: Bolt(0.01, 0.002, 0.04, 0.05, 0.0), "head_height"),
        (lambda: Nut(0.01, 0.002, 0.04, 0.0221).mesh(8), "finer"),
        (lambda: Nut(0.01, 0.002, 0.04, 0.05).mesh(7), "segments"),
        (lambda: Nut(0.01, 0.002, 0.04, 0.05).mesh(bore_fit="tight"), "bore_fit"),
    ],
)
def test_wrong_fields_are_refused(make, word) -> None:
    with pytest.raises(GeometryError, match=word):
        make()
