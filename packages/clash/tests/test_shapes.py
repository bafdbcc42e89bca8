from __future__ import annotations

import math

import numpy as np
import pytest
from shapely.geometry import Point, Polygon

from contactworks.clash.shapes import SHAPE_NAMES, strike_shape
from contactworks.common.errors import ModelError

RADIUS = 0.05


def test_the_outline_is_a_convex_half_disc_about_its_centroid() -> None:
    outline = strike_shape("semicylinder").outline()
    polygon = Polygon(outline)
    assert polygon.exterior.is_ccw
    assert polygon.convex_hull.area == pytest.approx(polygon.area, rel=1e-12)
    assert polygon.area == pytest.approx(0.5 * math.pi * RADIUS**2, rel=1e-3)
    assert [polygon.centroid.x, polygon.centroid.y] == pytest.approx([0.0, 0.0], abs=2e-5)
    assert np.abs(outline[:, 0]).max() == pytest.approx(RADIUS)
    assert outline[:, 1].min() == pytest.approx(-4.0 * RADIUS / (3.0 * math.pi))
    assert outline[:, 1].max() - outline[:, 1].min() == pytest.approx(RADIUS)


def test_mass_and_inertia_are_those_of_a_half_disc() -> None:
    mass = strike_shape("semicylinder").mass_properties(1150.0)
    expected = 1150.0 * 0.5 * math.pi * RADIUS**2 * 0.04
    assert mass.mass == pytest.approx(expected)
    about_pivot = 0.5 * expected * RADIUS**2
    lever = 4.0 * RADIUS / (3.0 * math.pi)
    assert mass.inertia[2, 2] == pytest.approx(about_pivot - expected * lever**2)


def test_impact_points_lie_on_the_round_side_and_normals_point_outwards() -> None:
    shape = strike_shape("semicylinder")
    theta = np.linspace(*shape.impact_range, 50)
    points, normals = shape.impact_points(theta)
    polygon = Polygon(shape.outline())
    for point, normal in zip(points, normals, strict=True):
        assert polygon.distance(Point(point)) < RADIUS * 4e-4  # chords of 128 to the turn
        assert not polygon.contains(Point(point + 1e-4 * normal))
        assert polygon.contains(Point(point - 1e-4 * normal))
    assert points[:, 0] == pytest.approx(RADIUS * np.cos(theta))


def test_an_unknown_shape_lists_those_that_exist() -> None:
    with pytest.raises(ModelError, match=r"'square'.*'semicylinder'"):
        strike_shape("square")
    assert SHAPE_NAMES == ("semicylinder",)
