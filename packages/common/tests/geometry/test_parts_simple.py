"""Frames, textbook mass properties and refusals of round parts, prisms and indenters."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import dblquad

from contactworks.common.errors import GeometryError, ModelError, ShapeError
from contactworks.common.geometry.parts import (
    INDENTER_NAMES,
    Bolt,
    Gear,
    Hole,
    Indenter,
    Nut,
    Peg,
    SemiCylinder,
    SquarePrism,
    TrianglePrism,
)
from contactworks.common.geometry.parts.extrusion import triangulate
from contactworks.common.geometry.parts.moments import disc_segment_moments, polygon_moments
from contactworks.common.geometry.parts.outlines import Arc, Segment, chain_distance
from contactworks.common.geometry.parts.resolution import segments_per_turn

DENSITY = 1150.0


def test_peg_and_hole_in_closed_form() -> None:
    r, length = 0.025, 0.1
    mass = 2700.0 * math.pi * r**2 * length
    peg = Peg(r, length).mass_properties(2700.0)
    assert peg.mass == pytest.approx(mass, rel=1e-14)
    across = mass * (3.0 * r**2 + length**2) / 12.0
    np.testing.assert_allclose(peg.inertia, np.diag([across, across, 0.5 * mass * r**2]))
    hole = Hole(0.025, 0.04, 0.1).mass_properties(1.0)
    mass = math.pi * (0.04**2 - 0.025**2) * 0.1
    assert hole.inertia[2, 2] == pytest.approx(0.5 * mass * (0.04**2 + 0.025**2), rel=1e-14)


def test_semi_cylinder_in_closed_form() -> None:
    """Half disc: centroid 4 r/(3 π) from the flat side, ∫ y² about it π r⁴/8."""
    part = SemiCylinder(0.05, 0.04)
    got = part.mass_properties(DENSITY)
    area = 0.5 * math.pi * 0.05**2
    mass, center = DENSITY * area * 0.04, 4.0 * 0.05 / (3.0 * math.pi)
    assert got.mass == pytest.approx(mass, rel=1e-14)
    np.testing.assert_allclose(got.center_of_mass, 0.0, atol=1e-17)
    polar = 0.5 * mass * 0.05**2 - mass * center**2
    assert got.inertia[2, 2] == pytest.approx(polar, rel=1e-13)
    along_y = mass * (0.25 * 0.05**2 + 0.04**2 / 12.0)
    assert got.inertia[1, 1] == pytest.approx(along_y, rel=1e-13)
    assert part.circle_center == pytest.approx((0.0, -center))
    # The round side faces +y; the flat side is at the circle's centre.
    probes = [[0.0, -center, 0.0], [0.0, 0.05 - center, 0.0], [0.0, 0.06 - center, 0.0]]
    distance, gradient = part.signed_distance(probes)
    np.testing.assert_allclose(distance, [0.0, 0.0, 0.01], atol=1e-17)
    np.testing.assert_allclose(gradient, [[0, -1, 0], [0, 1, 0], [0, 1, 0]], atol=1e-15)


def test_triangle_prism_in_closed_form() -> None:
    """Equilateral triangle of side a: area √3/4 a², second moment √3/96 a⁴ about any axis."""
    part, a, h = TrianglePrism(0.11, 0.04), 0.11, 0.04
    got = part.mass_properties(DENSITY)
    mass = DENSITY * math.sqrt(3.0) / 4.0 * a**2 * h
    second = DENSITY * math.sqrt(3.0) / 96.0 * a**4 * h
    assert got.mass == pytest.approx(mass, rel=1e-14)
    across = second + mass * h**2 / 12.0
    np.testing.assert_allclose(
        got.inertia, np.diag([across, across, 2.0 * second]), atol=1e-13 * across
    )
    np.testing.assert_allclose(got.center_of_mass, 0.0, atol=1e-16)
    apex = a / math.sqrt(3.0)
    distance, gradient = part.signed_distance(
        [[0.0, apex, 0.0], [0.0, apex + 0.01, 0.0], [0.0, -0.5 * apex - 0.01, 0.0]]
    )
    np.testing.assert_allclose(distance, [0.0, 0.01, 0.01], atol=1e-16)
    np.testing.assert_allclose(gradient[1:], [[0, 1, 0], [0, -1, 0]], atol=1e-15)


def test_square_prism() -> None:
    part = SquarePrism(0.08, 0.04)
    assert part.mass_properties(DENSITY).mass == pytest.approx(DENSITY * 0.08**2 * 0.04)
    np.testing.assert_allclose(part.bounding_box()[1], [0.04, 0.04, 0.02])


@pytest.mark.parametrize("name", INDENTER_NAMES)
def test_indenter_touches_at_the_origin_and_grows_upwards(name) -> None:
    part = Indenter(name)
    lower, upper = part.bounding_box()
    assert lower[2] == 0.0
    assert upper[2] == pytest.approx(2e-3)
    vertices = part.mesh(64).vertices
    assert vertices[:, 2].min() == 0.0
    assert vertices[:, 2].max() == pytest.approx(2e-3, rel=1e-12)
    below = np.array([[-2e-3, 0.0, -1e-3]])  # inside every section
    distance, gradient = part.signed_distance(below)
    if name == "sphere":
        assert distance[0] == pytest.approx(math.hypot(2e-3, 5e-3) - 4e-3, rel=1e-12)
    else:
        assert distance[0] == pytest.approx(1e-3, rel=1e-12)
        np.testing.assert_allclose(gradient[0], [0, 0, -1], atol=1e-15)


def test_indenter_sections() -> None:
    np.testing.assert_allclose(Indenter("cube").bounding_box()[0], [-3e-3, -3e-3, 0.0])
    np.testing.assert_allclose(Indenter("cylinder").bounding_box()[1], [3e-3, 3e-3, 2e-3])
    corners = Indenter("triangle").mesh().vertices
    np.testing.assert_allclose(np.hypot(corners[:, 0], corners[:, 1]), 4e-3, rtol=1e-14)
    np.testing.assert_allclose(corners[corners[:, 1].argmax(), :2], [0.0, 4e-3], atol=1e-18)
    assert [len(Indenter(name).mesh().faces) for name in ("cube", "triangle")] == [12, 8]
    assert len(Indenter("cylinder").mesh(24).faces) == 96


def test_moon_is_the_difference_of_two_discs() -> None:
    rng = np.random.default_rng(1)
    x = np.column_stack([rng.uniform(-5e-3, 5e-3, (5000, 2)), np.full(5000, 1e-3)])
    distance, _ = Indenter("moon").signed_distance(x)
    is_inside = (np.hypot(x[:, 0], x[:, 1]) < 4e-3) & (np.hypot(x[:, 0] - 2e-3, x[:, 1]) > 3.2e-3)
    np.testing.assert_array_equal(distance < 0.0, is_inside)
    # Disc minus lens, the lens from the formula for two circles a distance d apart.
    big, small, d = 4e-3, 3.2e-3, 2e-3
    first = big**2 * math.acos((d**2 + big**2 - small**2) / (2 * d * big))
    second = small**2 * math.acos((d**2 + small**2 - big**2) / (2 * d * small))
    root = math.sqrt((-d + big + small) * (d + big - small) * (d - big + small) * (d + big + small))
    area = math.pi * big**2 - (first + second - 0.5 * root)
    assert Indenter("moon").mass_properties(1.0).mass == pytest.approx(area * 2e-3, rel=1e-12)


def test_spherical_cap_in_closed_form() -> None:
    """Volume π h² (3 r - h)/3, centroid 3 (2 r - h)²/(4 (3 r - h)) from the ball's centre."""
    r, h = 4e-3, 2e-3
    got = Indenter("sphere").mass_properties(1000.0)
    assert got.mass == pytest.approx(1000.0 * math.pi * h**2 * (3 * r - h) / 3.0, rel=1e-14)
    center = r - 0.75 * (2 * r - h) ** 2 / (3 * r - h)
    np.testing.assert_allclose(got.center_of_mass, [0.0, 0.0, center], rtol=1e-12)
    # Discs of mass π s ρ dz and moment of inertia m s/2, s = 2 r z - z².
    polar = 0.5 * 1000.0 * math.pi * (4 * r**2 * h**3 / 3 - r * h**4 + h**5 / 5)
    assert got.inertia[2, 2] == pytest.approx(polar, rel=1e-12)


@settings(max_examples=40, deadline=None)
@given(start=st.floats(-4.0, 4.0), sweep=st.floats(0.05, 6.2), offset=st.floats(-3.0, 3.0))
def test_disc_segment_moments_against_a_polygon(start, sweep, offset) -> None:
    center = np.array([offset, 0.5])
    angle = start + sweep * np.linspace(0.0, 1.0, 20_001)
    corners = center + 1.5 * np.column_stack([np.cos(angle), np.sin(angle)])
    wanted = polygon_moments(corners)
    got = disc_segment_moments(center, 1.5, start, sweep)
    # The chords themselves leave out r² sweep³/(12 n²).
    missing = 1.5**2 * sweep**3 / (12.0 * 20_000**2)
    assert got.area == pytest.approx(wanted.area + missing, abs=1e-11)
    np.testing.assert_allclose(got.first, wanted.first, atol=1e-6)
    np.testing.assert_allclose(got.second, wanted.second, atol=1e-5)


def test_polygon_moments_against_quadrature() -> None:
    corners = np.array([[0.1, -0.2], [1.3, 0.1], [0.4, 0.9]])
    a, b, c = corners
    jacobian = abs(np.linalg.det(np.column_stack([b - a, c - a])))

    def integral(f) -> float:
        def inner(t: float, s: float) -> float:
            x, y = a + s * (b - a) + t * (c - a)
            return f(x, y) * jacobian

        return dblquad(inner, 0.0, 1.0, 0.0, lambda s: 1.0 - s)[0]

    got = polygon_moments(corners)
    assert got.area == pytest.approx(integral(lambda x, y: 1.0), rel=1e-10)
    assert got.first[1] == pytest.approx(integral(lambda x, y: y), rel=1e-10)
    assert got.second[0, 1] == pytest.approx(integral(lambda x, y: x * y), rel=1e-9)
    assert got.second[0, 0] == pytest.approx(integral(lambda x, y: x * x), rel=1e-9)


def test_chain_distance_at_convex_and_reentrant_corners() -> None:
    """An L: outside the convex corner, inside the re-entrant one, and on both of them."""
    corners = [(0.0, 0.0), (2.0, 0.0), (2.0, 1.0), (1.0, 1.0), (1.0, 2.0), (0.0, 2.0)]
    outline = [Segment(a, b) for a, b in zip(corners, corners[1:] + corners[:1], strict=True)]
    probes = np.array([[2.3, -0.4], [0.9, 0.9], [1.1, 1.2], [1.0, 1.0], [2.0, 0.0], [0.5, 0.2]])
    distance, gradient = chain_distance(outline, probes)
    np.testing.assert_allclose(
        distance, [0.5, -math.hypot(0.1, 0.1), 0.1, 0.0, 0.0, -0.2], atol=1e-15
    )
    np.testing.assert_allclose(gradient[0], [0.6, -0.8], atol=1e-15)
    np.testing.assert_allclose(gradient[1], [math.sqrt(0.5)] * 2, atol=1e-15)
    np.testing.assert_allclose(np.linalg.norm(gradient, axis=1), 1.0, atol=1e-15)


def test_arc_at_its_centre() -> None:
    distance, gradient = chain_distance([Arc((1.0, 2.0), 0.5, 0.0, 2.0 * math.pi)], [[1.0, 2.0]])
    assert distance[0] == -0.5
    assert np.linalg.norm(gradient[0]) == pytest.approx(1.0)


def test_triangulate_refuses_what_it_cannot_fill() -> None:
    with pytest.raises(GeometryError, match="repeated"):
        triangulate(np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 0.0], [2.0, 1.0], [0.0, 1.0]]))
    with pytest.raises(GeometryError, match="cross"):
        triangulate(np.array([[0.0, 0.0], [1.0, 1.0], [1.0, 0.0], [0.0, 1.2]]))


@pytest.mark.parametrize(
    ("resolution", "message"),
    [
        (2, "segments"),
        (10**6, "segments"),
        (0.0, "chord error"),
        (-1e-5, "chord error"),
        (math.nan, "chord error"),
        (64.0, "must be an int"),
        (1e-13, "at most"),
        (True, "expected an int"),
        ("fine", "expected an int"),
    ],
)
def test_resolution_out_of_range(resolution, message) -> None:
    with pytest.raises(GeometryError, match=message):
        Peg(0.025, 0.1).mesh(resolution)


@settings(max_examples=100, deadline=None)
@given(error=st.floats(1e-7, 0.4), radius=st.floats(0.5, 2.0), is_outside=st.booleans())
def test_segments_keep_the_chord_error_and_are_not_wasted(error, radius, is_outside) -> None:
    def made(count: int) -> float:
        c = math.cos(math.pi / count)
        return radius * (1.0 / c - 1.0) if is_outside else radius * (1.0 - c)

    count = segments_per_turn(error, radius, is_circumscribed=is_outside)
    assert made(count) <= error * (1.0 + 1e-6)
    assert count == 3 or made(count - 1) > error * (1.0 - 1e-6)


@pytest.mark.parametrize("thickness", [1e-3, 1e-5, 1e-6])
def test_thin_walls_get_the_segments_they_need(thickness) -> None:
    part = Hole(0.025, 0.025 + thickness, 0.1)
    assert part.mesh().volume() > 0.0
    with pytest.raises(GeometryError, match="at least"):
        part.mesh(8)
    with pytest.raises(GeometryError, match="thicker wall"):
        Hole(0.025, 0.025 + 1e-11, 0.1).mesh()


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (lambda: Peg(0.0, 0.1), "Peg.radius"),
        (lambda: Peg(0.1, "long"), "Peg.length"),
        (lambda: Hole(0.04, 0.025, 0.1), "outer_radius"),
        (lambda: Hole(0.04, 0.04, 0.1), "outer_radius"),
        (lambda: SquarePrism(math.nan, 0.1), "side"),
        (lambda: TrianglePrism(0.1, -0.1), "height"),
        (lambda: SemiCylinder(math.inf, 0.1), "radius"),
        (lambda: Indenter("star"), "cube, cylinder"),
        (lambda: Hole(0.02, 0.04, 0.1).mesh(bore_fit="loose"), "bore_fit"),
    ],
)
def test_wrong_fields_are_refused(make, word) -> None:
    with pytest.raises(GeometryError, match=word):
        make()


PARTS = [
    Peg(0.025, 0.1),
    Hole(0.025, 0.04, 0.1),
    SquarePrism(0.08, 0.04),
    TrianglePrism(0.11, 0.04),
    SemiCylinder(0.05, 0.04),
    Bolt(0.26, 1 / 12, 0.5, 1.0, 0.5),
    Nut(0.2605, 1 / 12, 0.5, 1.0),
    Gear(0.004, 25, 0.01, 0.02),
    Indenter("sphere"),
]


@pytest.mark.parametrize("part", PARTS, ids=lambda part: type(part).__name__)
def test_parts_are_values(part) -> None:
    assert pickle.loads(pickle.dumps(part)) == part
    assert len({part, pickle.loads(pickle.dumps(part))}) == 1
    field = next(iter(type(part).__dataclass_fields__))
    with pytest.raises(AttributeError):
        setattr(part, field, 1.0)
    sdf = part.sdf()
    assert sdf.kind == type(part).__name__.lower()
    assert all(isinstance(value, float) for value in sdf.parameters.values())
    assert sdf.is_exact is not isinstance(part, Bolt | Nut)
    np.testing.assert_array_equal(sdf.bounding_box(), part.bounding_box())
    assert sdf(np.zeros((0, 3)))[0].shape == (0,)
    with pytest.raises(ShapeError, match="points"):
        sdf(np.zeros(3))
    with pytest.raises(GeometryError, match="finite"):
        sdf([[0.0, math.nan, 0.0]])
    for density in (0.0, -1.0, math.nan):
        with pytest.raises(ModelError, match="density"):
            part.mass_properties(density)
