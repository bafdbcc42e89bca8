"""What every pair of the table must show: unit normals, midpoints, exchange, rigid motion."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contactworks.common.geometry.shapes import Box, Capsule, Cylinder, Plane, Sphere
from contactworks.common.poses import Pose
from contactworks.common.rotations import random_quaternion, rotate

from ..drivers import at, collide  # noqa: TID252
from ..oracles import separation  # noqa: TID252
from .strategies import rotations, vectors

SHAPES = {
    "sphere": Sphere(0.07),
    "capsule": Capsule(0.04, 0.06),
    "box": Box((0.05, 0.08, 0.03)),
    "cylinder": Cylinder(0.05, 0.08),
}
PAIRS = [
    ("sphere", "sphere"),
    ("sphere", "capsule"),
    ("sphere", "box"),
    ("capsule", "capsule"),
    ("capsule", "box"),
    ("box", "box"),
]
every_pair = pytest.mark.parametrize(("first", "second"), PAIRS)
seeds = st.integers(0, 2**32 - 1)


def random_pair(first, second, seed):
    """The two shapes at random poses, from 3 cm deep to 2 cm apart along a random direction."""
    rng = np.random.default_rng(seed)
    a = at(SHAPES[first], rng.uniform(-1.0, 1.0, 3), random_quaternion(rng=rng))
    b = at(SHAPES[second], a.pose.position, random_quaternion(rng=rng))
    direction = rng.standard_normal(3)
    direction /= np.linalg.norm(direction)
    apart = rng.uniform(-0.03, 0.02) - separation(a, b, direction[None])[0]
    return a, b.moved(apart * direction)


def random_on_plane(second, seed):
    rng = np.random.default_rng(seed)
    plane = at(Plane(), rng.uniform(-1.0, 1.0, 3), random_quaternion(rng=rng))
    body = at(SHAPES[second], plane.pose.position, random_quaternion(rng=rng))
    normal = plane.pose.rotation_matrix[:, 2]
    low = (body.support(-normal[None])[0] - plane.pose.position) @ normal
    return plane, body.moved((rng.uniform(-0.02, 0.01) - low) * normal)


def as_sorted(manifold):
    rows = np.column_stack([manifold.position, manifold.normal, manifold.gap])
    return rows[np.lexsort(np.round(rows, 7).T)]


@every_pair
@given(seed=seeds)
@settings(max_examples=60, deadline=None)
def test_points_lie_between_the_surfaces(first, second, seed):
    """The deepest point is half the gap away from both surfaces; no point is off a shape.

    Others may lie deeper than the surface: the ball that a capsule has there is inside its shaft,
    and of a face manifold each point touches the incident box alone.
    """
    a, b = random_pair(first, second, seed)
    manifold = collide(a, b)
    if len(manifold) == 0:
        return
    assert np.linalg.norm(manifold.normal, axis=1) == pytest.approx(1.0, abs=1e-12)
    half = 0.5 * manifold.gap[:, None] * manifold.normal
    on_a = a.signed_distance(manifold.position - half)
    on_b = b.signed_distance(manifold.position + half)
    # Clipping keeps corners up to 1e-5 m beyond an edge; depths of faces are raised to the best.
    slack = 2e-5 + (max(0.0, -manifold.gap.min()) if first == second == "box" else 0.0)
    assert np.all(np.maximum(on_a, on_b) <= slack)
    assert on_a[manifold.deepest] == pytest.approx(0.0, abs=2e-5)
    assert on_b[manifold.deepest] == pytest.approx(0.0, abs=2e-5)


@pytest.mark.parametrize("second", SHAPES)
@given(seed=seeds)
@settings(max_examples=60, deadline=None)
def test_points_on_a_plane_lie_halfway(second, seed):
    plane, body = random_on_plane(second, seed)
    manifold = collide(plane, body)
    normal = plane.pose.rotation_matrix[:, 2]
    np.testing.assert_allclose(manifold.normal, np.tile(normal, (len(manifold), 1)), atol=1e-15)
    height = (manifold.position - plane.pose.position) @ normal
    np.testing.assert_allclose(height, 0.5 * manifold.gap, atol=1e-15)
    surface = manifold.position + 0.5 * manifold.gap[:, None] * normal
    distance = body.signed_distance(surface)
    # The lowest point of a capsule's higher end lies a little inside its shaft.
    assert np.all(distance <= 1e-14)
    assert distance[manifold.gap == manifold.gap.min(initial=np.inf)] == pytest.approx(0, abs=1e-14)


@every_pair
@given(seed=seeds)
@settings(max_examples=60, deadline=None)
def test_normal_points_from_first_to_second(first, second, seed):
    """Moving the second shape along the normal by the depth and a bit frees the pair."""
    a, b = random_pair(first, second, seed)
    manifold = collide(a, b)
    if len(manifold) == 0:
        return
    deepest = manifold.deepest
    normal = manifold.normal[deepest]
    freed = b.moved((max(0.0, -manifold.gap[deepest]) + 1e-4) * normal)
    assert collide(a, freed, 1.0).gap.min() > 0.0


@every_pair
@given(seed=seeds)
@settings(max_examples=60, deadline=None)
def test_exchange_of_the_shapes(first, second, seed):
    """The same gaps and places, with opposite normals."""
    a, b = random_pair(first, second, seed)
    one, two = collide(a, b), collide(b, a)
    assert len(one) == len(two)
    if len(one):
        assert one.gap.min() == pytest.approx(two.gap.min(), abs=1e-14)
        np.testing.assert_allclose(one.normal[one.deepest], -two.normal[two.deepest], atol=1e-9)


@every_pair
@given(seed=seeds, turn=rotations, shift=vectors)
@settings(max_examples=60, deadline=None)
def test_rigid_motion_moves_the_points(first, second, seed, turn, shift):
    a, b = random_pair(first, second, seed)
    motion = Pose(shift, turn)
    here, there = collide(a, b), collide(a.placed(motion), b.placed(motion))
    assert len(here) == len(there)
    assert here.share == there.share
    np.testing.assert_allclose(there.gap, here.gap, atol=1e-12)
    np.testing.assert_allclose(there.position, motion.apply(here.position), atol=1e-9)
    np.testing.assert_allclose(there.normal, rotate(motion.quaternion, here.normal), atol=1e-7)


@every_pair
def test_nothing_beyond_the_margin(first, second):
    for seed in range(200):
        a, b = random_pair(first, second, seed)
        wide = collide(a, b, 0.02)
        narrow = collide(a, b, 0.005)
        assert np.all(wide.gap <= 0.02)
        assert np.all(narrow.gap <= 0.005)
        assert narrow.gap == pytest.approx(wide.gap[wide.gap <= 0.005], abs=1e-15)


@every_pair
def test_shapes_far_apart_do_not_meet(first, second):
    for seed in range(50):
        a, b = random_pair(first, second, seed)
        direction = b.pose.position - a.pose.position
        far = b.moved(2.0 * direction / np.linalg.norm(direction))
        assert len(collide(a, far)) == 0
