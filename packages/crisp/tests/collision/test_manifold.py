"""Manifolds that do not flicker: as many points for every small tilt, and a full set of them."""

from __future__ import annotations

import numpy as np
import pytest

from contactworks import crisp
from contactworks.common.geometry.shapes import Box, Capsule, Cylinder, Plane
from contactworks.common.rotations import quaternion_exp, quaternion_multiply

from ..drivers import at, collide  # noqa: TID252

NOISES = [0.0, 1e-12, 1e-9, 1e-6, 1e-4]
SIDEWAYS = quaternion_exp([0.0, 0.5 * np.pi, 0.0])


def noisy(rng, noise, turn=(1.0, 0.0, 0.0, 0.0)):
    return quaternion_multiply(np.array(turn), quaternion_exp(rng.uniform(-noise, noise, 3)))


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize(
    ("below", "above", "place", "turn", "count"),
    [
        (Plane(), Box((0.05, 0.05, 0.05)), (0, 0, 0.05), (1, 0, 0, 0), 4),
        (Plane(), Capsule(0.05, 0.1), (0, 0, 0.05), SIDEWAYS, 2),
        (Plane(), Cylinder(0.05, 0.1), (0, 0, 0.1), (1, 0, 0, 0), 8),
        (Plane(), Cylinder(0.05, 0.1), (0, 0, 0.05), SIDEWAYS, 2),
        # Of another size and turned: eight edges cross, or a corner lies inside.
        (Box((0.05, 0.05, 0.05)), Box((0.04, 0.04, 0.02)), (0, 0, 0.07), (1, 0, 0, 0), 4),
        (
            Box((0.05, 0.05, 0.05)),
            Box((0.05, 0.03, 0.02)),
            (0.01, 0.02, 0.07),
            quaternion_exp([0, 0, 0.3]),
            5,
        ),
        (
            Box((0.05, 0.05, 0.05)),
            Box((0.05, 0.05, 0.05)),
            (0, 0, 0.1),
            quaternion_exp([0, 0, np.pi / 4]),
            8,
        ),
        (Box((0.05, 0.05, 0.05)), Capsule(0.02, 0.03), (0, 0, 0.07), SIDEWAYS, 2),
        (Box((0.05, 0.05, 0.05)), Capsule(0.02, 0.2), (0, 0, 0.07), SIDEWAYS, 2),
    ],
    ids=[
        "box on plane",
        "capsule on plane",
        "cylinder standing",
        "cylinder lying",
        "small on large box",
        "turned small box",
        "octagon",
        "short capsule on box",
        "long capsule on box",
    ],
)
def test_resting_pairs_keep_their_points(below, above, place, turn, count, noise):
    """300 noisy resting poses; gaps stay at the size of the noise.

    From about 1e-4 rad on, a pair of boxes may get its edge point besides all of its face points.
    """
    extra = int(noise >= 1e-4 and isinstance(below, Box) and isinstance(above, Box))
    rng = np.random.default_rng(0)
    for _ in range(300):
        shift = np.array(place) + rng.uniform(-0.1, 0.1, 3) * noise
        found = collide(at(below), at(above, shift, noisy(rng, noise, turn)))
        touching = found.gap < 0.004
        assert count <= touching.sum() <= count + extra
        assert np.abs(found.gap[touching]).max() <= 0.3 * noise + 1e-15


@pytest.mark.parametrize("noise", NOISES)
def test_aligned_cubes_keep_four_corners(noise):
    """Edges of equal cubes coincide: rounding must not clip the corners away."""
    rng = np.random.default_rng(0)
    cube = Box((0.05, 0.05, 0.05))
    for _ in range(300):
        shift = np.array([0.0, 0.0, 0.1]) + rng.uniform(-0.01, 0.01, 3) * noise
        found = collide(at(cube), at(cube, shift, noisy(rng, noise)))
        corners = np.sign(np.round(found.position[:, :2], 3))
        assert {tuple(corner) for corner in corners} == {(-1, -1), (-1, 1), (1, -1), (1, 1)}
        assert len(found) == 4


def test_the_deepest_corner_is_always_sent():
    """From flat to the edge: the lowest corner of a rocking box is among the points, exactly."""
    slab, cube = at(Box((0.2, 0.2, 0.05))), Box((0.05, 0.05, 0.05))
    for tilt in np.concatenate([[0.0], np.geomspace(1e-12, 0.7, 60)]):
        turn = quaternion_exp([tilt, 0.3 * tilt, 0.0])
        low = at(cube, (0, 0, 0), turn).support(np.array([[0.0, 0.0, -1.0]]))[0, 2]
        for gap in (-1e-3, 0.0, 1e-3):
            found = collide(slab, at(cube, (0.0, 0.0, 0.05 + gap - low), turn))
            assert found.gap.min() == pytest.approx(gap, abs=1e-9)


def test_the_set_changes_gently_when_boxes_rock():
    """Turning by small steps, the smallest gap and the centre of the points move continuously."""
    slab, cube = at(Box((0.2, 0.2, 0.05))), Box((0.05, 0.05, 0.05))
    last = None
    for tilt in np.linspace(-0.02, 0.02, 401):
        found = collide(slab, at(cube, (0.01, 0.02, 0.1), quaternion_exp([tilt, 0.5 * tilt, 0.1])))
        assert len(found) == 4
        order = np.lexsort(np.round(found.position[:, :2], 3).T)
        gaps = found.gap[order]
        if last is not None:
            np.testing.assert_allclose(gaps, last, atol=2e-5)
        last = gaps


def test_a_stack_has_the_same_number_of_contacts_in_every_step():
    builder = crisp.ModelBuilder()
    builder.world.add_geom(crisp.Plane())
    for i in range(3):
        builder.add_body(f"{i}", position=(0, 0, 0.05 + 0.1 * i)).add_geom(
            crisp.Box((0.05, 0.05, 0.05))
        )
    model = builder.build()
    data = crisp.Data(model)
    for _ in range(300):
        crisp.step(model, data)
        assert len(data.contacts) == 12


def test_a_crossed_capsule_pair_has_its_crossing_point():
    a = at(Capsule(0.02, 0.1), (0, 0, 0), SIDEWAYS)
    b = at(Capsule(0.02, 0.1), (0, 0, 0.041), quaternion_exp([0.5 * np.pi, 0, 0]))
    found = collide(a, b)
    assert found.gap.min() == pytest.approx(1e-3)
    np.testing.assert_allclose(found.position[found.deepest], [0, 0, 0.0205], atol=1e-15)


def test_parallel_capsules_touch_at_both_ends_of_the_overlap():
    a = at(Capsule(0.02, 0.1), (0, 0, 0), SIDEWAYS)
    b = at(Capsule(0.02, 0.1), (0.05, 0, 0.04), SIDEWAYS)
    found = collide(a, b, 1e-6)
    np.testing.assert_allclose(sorted(found.position[:, 0]), [-0.05, 0.1], atol=1e-12)
