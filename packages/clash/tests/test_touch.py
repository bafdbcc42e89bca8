from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.spatial import ConvexHull
from shapely.geometry import LineString, Point, Polygon

from contactworks.clash._touch import travel_to_touch


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.0, 0.5), st.floats(0, 2 * math.pi), st.floats(-0.6, 0.6))
def test_the_disc_stops_where_it_touches(
    seed: int, radius: float, bearing: float, offset: float
) -> None:
    points = np.random.default_rng(seed).normal(size=(8, 2))
    outline = points[ConvexHull(points).vertices]
    polygon = Polygon(outline)
    start = 6.0 * np.array([math.cos(bearing), math.sin(bearing)])
    heading = bearing + math.pi + offset
    direction = np.array([math.cos(heading), math.sin(heading)])
    assume(polygon.distance(Point(start)) > radius)
    (travel,) = travel_to_touch(outline, radius, start[None], direction[None])
    path = LineString([start, start + 20.0 * direction])
    if polygon.distance(path) > radius + 1e-9:
        assert travel == math.inf
        return
    assume(polygon.distance(path) < radius - 1e-6 or radius == 0.0)
    end = start + travel * direction
    assert polygon.distance(Point(end)) == pytest.approx(radius, abs=1e-9)
    assert polygon.distance(LineString([start, start + 0.999 * travel * direction])) > radius


def test_a_disc_that_goes_away_never_touches() -> None:
    square = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
    travel = travel_to_touch(
        square, 0.5, np.array([[3.0, 0.0], [3.0, 0.0]]), np.array([[1.0, 0.0], [-1.0, 0.0]])
    )
    assert travel[0] == math.inf
    assert travel[1] == pytest.approx(1.5)
