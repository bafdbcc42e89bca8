"""Gaps against independent oracles: bounded least squares, and a search over directions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contactworks.common.geometry.shapes import Box, Capsule, Cylinder, Plane, Sphere
from contactworks.common.poses import Pose

from ..drivers import at, collide  # noqa: TID252
from ..oracles import Placed, best_separation, core_distance, gap  # noqa: TID252
from .strategies import (
    SHAPES,
    any_rotation,
    lengths,
    pairs,
    right_angles,
    rotations,
    small_tilts,
    vectors,
)

ROUND = [
    ("sphere", "sphere"),
    ("sphere", "capsule"),
    ("sphere", "box"),
    ("capsule", "capsule"),
    ("capsule", "box"),
]
FAR = 1.0  # a margin within which every point is kept


@pytest.mark.parametrize(("first", "second"), ROUND)
@given(data=st.data())
@settings(max_examples=150, deadline=None)
def test_round_pairs_are_exact(first, second, data):
    """Whatever the overlap, as long as the axes or the box stay apart from one another."""
    a, b = data.draw(pairs(first, second))
    if core_distance(a, b) < 1e-9:
        return
    # Contact points of a capsule that are within 1 nm of one another are merged.
    tolerance = 1e-13 if "capsule" not in (first, second) else 1e-9
    assert collide(a, b, FAR).gap.min() == pytest.approx(gap(a, b), abs=tolerance)


@pytest.mark.parametrize(("first", "second"), ROUND)
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_round_pairs_touch_after_moving_by_the_gap(first, second, data):
    a, b = data.draw(pairs(first, second))
    manifold = collide(a, b, FAR)
    k = manifold.deepest
    if core_distance(a, b) < 1e-9:
        return
    moved = b.moved(-manifold.gap[k] * manifold.normal[k])
    assert gap(a, moved) == pytest.approx(0.0, abs=1e-9)


@given(data=st.data())
@settings(max_examples=200, deadline=None)
def test_separated_boxes_are_exact(data):
    a, b = data.draw(pairs("box", "box", low=1e-4, high=0.05))
    distance = core_distance(a, b)
    if distance < 1e-4:
        return
    # Face points within 1 nm of the best separating axis count as exact.
    assert collide(a, b, FAR).gap.min() == pytest.approx(distance, abs=1.1e-9)


@given(data=st.data())
@settings(max_examples=150, deadline=None)
def test_a_box_gap_is_never_above_the_distance(data):
    a, b = data.draw(pairs("box", "box", low=0.0, high=1e-4))
    assert collide(a, b, FAR).gap.min() <= core_distance(a, b) + 1.1e-9


@given(data=st.data())
@settings(max_examples=30, deadline=None)
def test_depth_of_boxes_against_a_search_over_directions(data):
    a, b = data.draw(pairs("box", "box", low=-0.04, high=-1e-4))
    if core_distance(a, b) > 0.0:
        return
    found = collide(a, b, FAR)
    assert found.gap.min() == pytest.approx(best_separation(a, b), abs=2e-7)


@pytest.mark.parametrize(
    ("turns", "tolerance"),
    [(any_rotation | right_angles, 1e-9), (small_tilts, 2e-5)],
    ids=["any rotation", "edges nearly parallel"],
)
@given(data=st.data())
@settings(max_examples=100, deadline=None)
def test_overlapping_boxes_touch_after_moving_by_the_depth(turns, tolerance, data):
    """Nearly parallel edges (below 1e-3 rad) are not tried as axes, which costs some microns.

    Faces of the first box are preferred by 1e-4 of the smallest size, so that they do not flip.
    """
    a, b = data.draw(pairs("box", "box", low=-0.04, high=-1e-4, turns=turns))
    found = collide(a, b, FAR)
    k = found.deepest
    if found.gap[k] > 0.0:
        return
    moved = b.moved(-found.gap[k] * found.normal[k])
    preferred = 1e-4 * min(a.shape.half_size.min(), b.shape.half_size.min())
    assert core_distance(a, moved) <= tolerance + preferred
    assert core_distance(a, moved.moved((preferred + 1e-6) * found.normal[k])) >= 0.9e-6


@given(
    shape=SHAPES["sphere"]
    | SHAPES["capsule"]
    | SHAPES["box"]
    | st.tuples(lengths, lengths).map(lambda size: Cylinder(*size)),
    place=vectors,
    turn=rotations,
    ground=rotations,
)
@settings(max_examples=200, deadline=None)
def test_plane_gap_is_the_height_of_the_lowest_point(shape, place, turn, ground):
    plane = Placed(Plane(), Pose((0.1, -0.2, 0.3), ground))
    body = Placed(shape, Pose(0.3 * place, turn))
    # Within 1e-9 rad of standing, any point of a cylinder's rim counts as its lowest.
    tolerance = 1e-9 * shape.radius if isinstance(shape, Cylinder) else 1e-13
    assert collide(plane, body, 5.0).gap.min() == pytest.approx(gap(plane, body), abs=tolerance)


def test_known_contacts():
    """Hand-made cases: gap, point and normal of the pair."""
    cases = [
        (at(Sphere(0.1)), at(Sphere(0.2), (0.0, 0.4, 0.0)), 0.1, (0, 0.15, 0), (0, 1, 0)),
        (at(Sphere(0.1)), at(Capsule(0.1, 0.2), (0.25, 0, 0.1)), 0.05, (0.125, 0, 0), (1, 0, 0)),
        (at(Sphere(0.1)), at(Box((0.1,) * 3), (0, 0, -0.25)), 0.05, (0, 0, -0.125), (0, 0, -1)),
        (at(Plane()), at(Sphere(0.1), (1, 2, 0.08)), -0.02, (1, 2, -0.01), (0, 0, 1)),
    ]
    for a, b, apart, point, normal in cases:
        found = collide(a, b, FAR)
        assert len(found) == 1
        assert found.gap[0] == pytest.approx(apart, abs=1e-15)
        np.testing.assert_allclose(found.position[0], point, atol=1e-15)
        np.testing.assert_allclose(found.normal[0], normal, atol=1e-15)


def test_concentric_spheres_get_some_normal():
    found = collide(at(Sphere(0.1)), at(Sphere(0.2)))
    assert found.gap[0] == pytest.approx(-0.3)
    np.testing.assert_array_equal(found.normal[0], [0.0, 0.0, 1.0])


def test_a_ball_whose_centre_is_inside_a_box_leaves_by_the_nearest_face():
    box = at(Box((0.1, 0.2, 0.3)))
    for axis in range(3):
        for sign in (-1.0, 1.0):
            place = np.zeros(3)
            place[axis] = sign * (box.shape.half_size[axis] - 0.01)
            found = collide(at(Sphere(0.05), place), box)
            assert found.gap[0] == pytest.approx(-0.06)
            np.testing.assert_allclose(found.normal[0], -sign * np.eye(3)[axis], atol=1e-12)
