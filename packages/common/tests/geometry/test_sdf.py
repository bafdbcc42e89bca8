"""Exact signed distances of primitives against sampled surfaces and differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import cKDTree

from contactworks.common.errors import GeometryError, ShapeError
from contactworks.common.geometry import sdf

Pair = tuple[np.ndarray, np.ndarray]


class Case(NamedTuple):
    """A signed distance, its sampled surface and its inside, each written on its own."""

    distance: Callable[[np.ndarray], Pair]
    surface: Callable[[], np.ndarray]
    is_inside: Callable[[np.ndarray], np.ndarray]


def _grid(*axes: np.ndarray) -> np.ndarray:
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))


def _wall(radius: float, half: float) -> np.ndarray:
    angle, z = _grid(np.linspace(0, 2 * np.pi, 300), np.linspace(-half, half, 120)).T
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle), z])


def _ends(inner: float, outer: float, half: float) -> np.ndarray:
    angle, rho, z = _grid(
        np.linspace(0, 2 * np.pi, 300), np.linspace(inner, outer, 60), np.array([-half, half])
    ).T
    return np.column_stack([rho * np.cos(angle), rho * np.sin(angle), z])


def _ball(radius: float) -> np.ndarray:
    angle, height = _grid(np.linspace(0, 2 * np.pi, 300), np.linspace(0, np.pi, 150)).T
    ring = radius * np.sin(height)
    return np.column_stack([ring * np.cos(angle), ring * np.sin(angle), radius * np.cos(height)])


def _box_surface(half: np.ndarray) -> np.ndarray:
    faces = []
    for axis in range(3):
        ticks = [np.linspace(-h, h, 100) for h in half]
        ticks[axis] = np.array([-half[axis], half[axis]])
        faces.append(_grid(*ticks))
    return np.concatenate(faces)


def _capsule_surface() -> np.ndarray:
    ball = _ball(0.4)
    lift = np.where(ball[:, 2] < 0, -0.7, 0.7)
    ball[:, 2] += lift
    return np.concatenate([ball, _wall(0.4, 0.7)])


def _disc_prism(points: np.ndarray) -> Pair:
    rho = np.maximum(np.hypot(points[:, 0], points[:, 1]), 1e-300)
    return sdf.extrude_2d(rho - 0.6, points[:, :2] / rho[:, None], points[:, 2], 0.8)


HALF = np.array([0.5, 0.8, 0.3])

CASES = {
    "sphere": Case(
        lambda x: sdf.sphere_sdf(x, 0.7),
        lambda: _ball(0.7),
        lambda x: (x**2).sum(axis=1) < 0.49,
    ),
    "capsule": Case(
        lambda x: sdf.capsule_sdf(x, 0.4, 0.7),
        _capsule_surface,
        lambda x: (
            (np.abs(x[:, 2]) < 0.7) & (np.hypot(x[:, 0], x[:, 1]) < 0.4)
            | (((x - [0, 0, 0.7]) ** 2).sum(axis=1) < 0.16)
            | (((x + [0, 0, 0.7]) ** 2).sum(axis=1) < 0.16)
        ),
    ),
    "box": Case(
        lambda x: sdf.box_sdf(x, HALF),
        lambda: _box_surface(HALF),
        lambda x: (np.abs(x) < HALF).all(axis=1),
    ),
    "cylinder": Case(
        lambda x: sdf.cylinder_sdf(x, 0.6, 0.8),
        lambda: np.concatenate([_wall(0.6, 0.8), _ends(0.0, 0.6, 0.8)]),
        lambda x: (np.hypot(x[:, 0], x[:, 1]) < 0.6) & (np.abs(x[:, 2]) < 0.8),
    ),
    "tube": Case(
        lambda x: sdf.tube_sdf(x, 0.4, 0.7, 0.5),
        lambda: np.concatenate([_wall(0.4, 0.5), _wall(0.7, 0.5), _ends(0.4, 0.7, 0.5)]),
        lambda x: (
            (np.hypot(x[:, 0], x[:, 1]) < 0.7)
            & (np.hypot(x[:, 0], x[:, 1]) > 0.4)
            & (np.abs(x[:, 2]) < 0.5)
        ),
    ),
    "extruded disc": Case(
        _disc_prism,
        lambda: np.concatenate([_wall(0.6, 0.8), _ends(0.0, 0.6, 0.8)]),
        lambda x: (np.hypot(x[:, 0], x[:, 1]) < 0.6) & (np.abs(x[:, 2]) < 0.8),
    ),
}

every_case = pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))


def _cloud(count: int, seed: int = 3) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-1.3, 1.3, size=(count, 3))


@every_case
def test_sign_is_that_of_an_independent_inside_test(case: Case) -> None:
    x = _cloud(20_000)
    inside = case.is_inside(x)
    assert 500 < inside.sum() < 15_000
    np.testing.assert_array_equal(case.distance(x)[0] < 0.0, inside)


@every_case
def test_distance_is_exact(case: Case) -> None:
    x = _cloud(4000)
    distance, gradient = case.distance(x)
    surface = case.surface()
    # All samples lie on the surface: no true distance can be larger than the sampled one.
    assert np.abs(case.distance(surface)[0]).max() < 1e-15
    sampled = cKDTree(surface).query(x)[0]
    assert (np.abs(distance) <= sampled + 1e-12).all()
    # The foot of every point lies on the surface: no true distance can be larger than |distance|
    # either.  The samples are at most 9 mm away from any surface point, so that it cannot be less.
    foot = x - distance[:, None] * gradient
    assert cKDTree(surface).query(foot)[0].max() < 0.012
    assert np.abs(case.distance(foot)[0]).max() < 1e-14
    assert (sampled - np.abs(distance)).max() < 0.012


@every_case
def test_gradient_is_a_unit_vector_and_matches_differences(case: Case) -> None:
    x = _cloud(3000, seed=4)
    _, gradient = case.distance(x)
    np.testing.assert_allclose(np.linalg.norm(gradient, axis=1), 1.0, atol=1e-14)
    step = 1e-6
    ahead = np.empty_like(x)
    behind = np.empty_like(x)
    value = case.distance(x)[0]
    for axis in range(3):
        shift = step * np.eye(3)[axis]
        ahead[:, axis] = (case.distance(x + shift)[0] - value) / step
        behind[:, axis] = (value - case.distance(x - shift)[0]) / step
    # On the medial axis the two one-sided differences disagree.
    is_smooth = np.abs(ahead - behind).max(axis=1) < 1e-3
    assert is_smooth.mean() > 0.99
    central = 0.5 * (ahead + behind)
    np.testing.assert_allclose(gradient[is_smooth], central[is_smooth], atol=1e-7)


@every_case
def test_gradient_stays_a_unit_vector_at_special_points(case: Case) -> None:
    special = _grid(*[np.array([-0.8, -0.6, -0.5, -0.3, 0.0, 0.3, 0.5, 0.6, 0.8])] * 3)
    if case is CASES["extruded disc"]:  # its planar part is the test's own
        special = special[np.hypot(special[:, 0], special[:, 1]) > 0.0]
    distance, gradient = case.distance(special)
    assert np.isfinite(distance).all()
    np.testing.assert_allclose(np.linalg.norm(gradient, axis=1), 1.0, atol=1e-14)


finite = st.floats(-3.0, 3.0, allow_nan=False)
points = st.tuples(finite, finite, finite)


@pytest.mark.parametrize("name", [name for name in CASES if name != "extruded disc"])
@settings(max_examples=150, deadline=None)
@given(x=points, y=points)
def test_distance_is_1_lipschitz(name: str, x: tuple[float, ...], y: tuple[float, ...]) -> None:
    pair = np.array([x, y])
    near, far = CASES[name].distance(pair)[0]
    assert abs(near - far) <= np.linalg.norm(pair[0] - pair[1]) * (1 + 1e-14) + 1e-15


# Powers of two change no digit, as long as no coordinate leaves the range of floats.
plain = st.floats(-3.0, 3.0).filter(lambda value: value == 0.0 or abs(value) > 1e-100)


@settings(max_examples=50, deadline=None)
@given(x=st.tuples(plain, plain, plain), exponent=st.integers(-300, 300))
def test_distance_scales_with_the_shape(x: tuple[float, ...], exponent: int) -> None:
    point, scale = np.array([x]), 2.0**exponent
    for function, sizes in (
        (sdf.box_sdf, (HALF,)),
        (sdf.cylinder_sdf, (0.6, 0.8)),
        (sdf.tube_sdf, (0.4, 0.7, 0.5)),
        (sdf.capsule_sdf, (0.4, 0.7)),
        (sdf.sphere_sdf, (0.7,)),
    ):
        base, base_gradient = function(point, *sizes)
        scaled, gradient = function(point * scale, *(size * scale for size in sizes))
        np.testing.assert_array_equal(scaled, base * scale)
        np.testing.assert_allclose(gradient, base_gradient, atol=1e-15)


def test_plane_has_any_normal_and_offset() -> None:
    distance, gradient = sdf.plane_sdf([[1.0, 2.0, 3.0]], normal=(0.0, 3.0, 4.0), offset=2.0)
    np.testing.assert_allclose(distance, [(2 * 3 + 3 * 4) / 5 - 2.0])
    np.testing.assert_allclose(gradient, [[0.0, 0.6, 0.8]])
    np.testing.assert_array_equal(sdf.plane_sdf([[1.0, 2.0, 3.0]])[0], [3.0])


def test_union_of_separate_spheres_is_exact_outside() -> None:
    x = _cloud(2000)
    left = sdf.sphere_sdf(x + [0.6, 0, 0], 0.3)
    right = sdf.sphere_sdf(x - [0.6, 0, 0], 0.4)
    distance, gradient = sdf.union(left, right)
    centers = np.array([[-0.6, 0, 0], [0.6, 0, 0]])
    ways = np.linalg.norm(x[:, None] - centers, axis=2) - [0.3, 0.4]
    np.testing.assert_allclose(distance, ways.min(axis=1), atol=1e-15)
    nearest = centers[ways.argmin(axis=1)]
    away = (x - nearest) / np.linalg.norm(x - nearest, axis=1, keepdims=True)
    np.testing.assert_allclose(gradient, away, atol=1e-14)


def test_intersection_of_half_spaces_is_the_box_inside_and_a_bound_outside() -> None:
    x = _cloud(5000)
    slabs = [
        sdf.plane_sdf(x, normal=sign * np.eye(3)[axis], offset=HALF[axis])
        for axis in range(3)
        for sign in (1.0, -1.0)
    ]
    distance, gradient = sdf.intersection(*slabs)
    exact, exact_gradient = sdf.box_sdf(x, HALF)
    inside = exact < 0
    np.testing.assert_allclose(distance[inside], exact[inside], atol=1e-15)
    np.testing.assert_allclose(gradient[inside], exact_gradient[inside], atol=0)
    assert (distance[~inside] <= exact[~inside] + 1e-15).all()
    assert (distance[~inside] > 0).all()


def test_difference_keeps_the_rest() -> None:
    x = _cloud(5000)
    ball, block = sdf.sphere_sdf(x, 0.5), sdf.box_sdf(x, HALF)
    distance, gradient = sdf.difference(block, ball)
    expected = CASES["box"].is_inside(x) & (np.linalg.norm(x, axis=1) > 0.5)
    np.testing.assert_array_equal(distance < 0, expected)
    on_ball = -ball[0] > block[0]
    np.testing.assert_allclose(gradient[on_ball], -ball[1][on_ball])


def test_ties_go_to_the_first_pair() -> None:
    first = (np.array([0.5]), np.array([[1.0, 0.0, 0.0]]))
    second = (np.array([0.5]), np.array([[0.0, 1.0, 0.0]]))
    np.testing.assert_array_equal(sdf.union(first, second)[1], first[1])
    np.testing.assert_array_equal(sdf.intersection(first, second)[1], first[1])


@pytest.mark.parametrize(
    "call",
    [
        lambda x: sdf.sphere_sdf(x, -1.0),
        lambda x: sdf.sphere_sdf(x, np.nan),
        lambda x: sdf.sphere_sdf(x, "wide"),
        lambda x: sdf.capsule_sdf(x, 1.0, 0.0),
        lambda x: sdf.box_sdf(x, (1.0, 1.0, 0.0)),
        lambda x: sdf.cylinder_sdf(x, np.inf, 1.0),
        lambda x: sdf.tube_sdf(x, 1.0, 1.0, 1.0),
        lambda x: sdf.plane_sdf(x, normal=(0.0, 0.0, 0.0)),
        lambda x: sdf.union(),
    ],
)
def test_wrong_sizes_are_refused(call: Callable[[np.ndarray], Pair]) -> None:
    with pytest.raises(GeometryError, match="expected"):
        call(np.zeros((1, 3)))


def test_wrong_points_are_refused() -> None:
    with pytest.raises(ShapeError, match=r"points: got shape \(3,\), expected \(n, 3\)"):
        sdf.sphere_sdf(np.zeros(3), 1.0)
    with pytest.raises(GeometryError, match=r"points\[1, 2\] is nan"):
        sdf.sphere_sdf([[0, 0, 0], [0, 0, np.nan]], 1.0)
    with pytest.raises(ShapeError, match="real numbers"):
        sdf.sphere_sdf([["a", "b", "c"]], 1.0)
    with pytest.raises(ShapeError, match="one n"):
        sdf.union(sdf.sphere_sdf(np.zeros((1, 3)), 1.0), sdf.sphere_sdf(np.zeros((2, 3)), 1.0))
    with pytest.raises(ShapeError, match="expected"):
        sdf.extrude_2d(np.zeros(2), np.zeros((3, 2)), np.zeros(3), 1.0)


def test_no_points_give_no_distances() -> None:
    distance, gradient = sdf.box_sdf(np.zeros((0, 3)), HALF)
    assert distance.shape == (0,)
    assert gradient.shape == (0, 3)
