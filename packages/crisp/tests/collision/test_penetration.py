"""No overlap goes unseen: the surface of one shape against the exact distance to the other."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contactworks.common.geometry.shapes import Box, Capsule
from contactworks.common.rotations import random_quaternion

from ..drivers import at, collide  # noqa: TID252
from ..oracles import surface_points  # noqa: TID252
from .strategies import pairs
from .test_invariance import PAIRS, SHAPES, random_on_plane


@pytest.mark.parametrize(("first", "second"), PAIRS)
@given(data=st.data())
@settings(max_examples=120, deadline=None)
def test_no_point_is_deeper_than_the_deepest_contact(first, second, data):
    a, b = data.draw(pairs(first, second, low=-0.1, high=0.0))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    deepest = min(
        float(b.signed_distance(surface_points(a, rng)).min()),
        float(a.signed_distance(surface_points(b, rng)).min()),
    )
    if deepest >= 0.0:
        return
    assert collide(a, b).gap.min(initial=np.inf) <= deepest + 1e-12


@pytest.mark.parametrize("second", [name for name in SHAPES if name != "cylinder"])
def test_no_point_is_deeper_in_a_plane(second):
    for seed in range(60):
        plane, body = random_on_plane(second, seed)
        points = surface_points(body, np.random.default_rng(seed))
        deepest = plane.signed_distance(points).min()
        if deepest < 0.0:
            assert collide(plane, body).gap.min() <= deepest + 1e-12


def test_a_thin_capsule_that_pierces_a_box():
    """The axis runs through the box, both ends outside: the deepest point is in its middle."""
    box = at(Box((0.1, 0.1, 0.1)))
    for seed in range(100):
        rng = np.random.default_rng(seed)
        pin = at(Capsule(0.004, 0.4), rng.uniform(-0.09, 0.09, 3), random_quaternion(rng=rng))
        along = np.linspace(-0.4, 0.4, 4001)[:, None] * np.array([[0.0, 0.0, 1.0]])
        depth = box.signed_distance(pin.pose.apply(along)).min()
        assert collide(pin, box).gap.min() <= depth - 0.004 + 1e-12


def test_depth_is_not_invented():
    """Shapes that do not overlap have no negative gap, face on face included.

    Others report a phantom contact as deep as a box is wide (google-deepmind/mujoco#3476).
    """
    for seed in range(300):
        rng = np.random.default_rng(seed)
        lower = at(Box(rng.uniform(0.02, 0.2, 3)))
        upper = Box(rng.uniform(0.02, 0.2, 3))
        height = lower.shape.half_size[2] + upper.half_size[2] + rng.uniform(0.0, 1e-3)
        place = (*rng.uniform(-0.2, 0.2, 2), height)
        spin = np.array([np.cos(0.5 * seed), 0.0, 0.0, np.sin(0.5 * seed)])
        found = collide(lower, at(upper, place, spin))
        assert np.all(found.gap >= -1e-15)
