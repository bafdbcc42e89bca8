"""The involute gear: flank distance, exactness by brute force, meshing and moments."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.optimize import brentq

from contactworks.common.errors import GeometryError
from contactworks.common.geometry.parts import Gear

PAPER = Gear(module=0.004, teeth=25, thickness=0.01, bore=0.02)


def _flank_point(gear: Gear, roll: float) -> np.ndarray:
    """Return a point of the flank at positive angles, by unwinding a string from the base circle.

    The string leaves the base circle where the involute begins and is kept taut; the start is fixed
    by half of the tooth's thickness at the pitch circle, found by root search.
    """
    r_b = gear.base_radius

    def unwound(start: float, t: float) -> np.ndarray:
        touch = start - t
        string = r_b * t
        return np.array(
            [
                r_b * math.cos(touch) - string * math.sin(touch),
                r_b * math.sin(touch) + string * math.cos(touch),
            ]
        )

    pitch_roll = math.tan(gear.pressure_angle)
    half_tooth = 0.5 * (math.pi * gear.module / 2.0 - gear.backlash) / gear.pitch_radius

    def excess(start: float) -> float:
        x, y = unwound(start, pitch_roll)
        return math.atan2(y, x) - half_tooth

    return unwound(brentq(excess, 0.0, 1.0, xtol=1e-15), roll)


def _roll(gear: Gear, radius: float) -> float:
    return math.sqrt((radius / gear.base_radius) ** 2 - 1.0)


def _middle(gear: Gear, planar: np.ndarray) -> np.ndarray:
    return np.column_stack([planar, np.zeros(len(planar))])


def _placed(planar: np.ndarray, angle: float, x: float) -> np.ndarray:
    c, s = math.cos(angle), math.sin(angle)
    return planar @ np.array([[c, s], [-s, c]]) + np.array([x, 0.0])


@pytest.mark.parametrize("gear", [PAPER, Gear(0.001, 60, 0.01, 0.0, backlash=1e-4)])
def test_flank_is_the_unwound_string(gear) -> None:
    rolls = np.linspace(
        _roll(gear, max(gear.base_radius, gear.root_radius)), _roll(gear, gear.tip_radius), 50
    )
    points = _middle(gear, np.array([_flank_point(gear, t) for t in rolls]))
    np.testing.assert_allclose(gear.signed_distance(points)[0], 0.0, atol=1e-15)
    mirrored = points * np.array([1.0, -1.0, 1.0])
    np.testing.assert_allclose(gear.signed_distance(mirrored)[0], 0.0, atol=1e-15)


def test_parallel_involutes_give_the_distance() -> None:
    """d = r_b (θ - θ_inv - θ_0): exact off the flank, with the foot at √(r_b² + (L + d)²)."""
    gear = PAPER
    rolls = np.linspace(_roll(gear, gear.base_radius * 1.01), _roll(gear, gear.tip_radius), 40)
    for offset in (2e-4, -2e-4):
        # Move along the string, which is the normal; the roll at the foot stays as it is.
        points = []
        for t in rolls:
            foot = _flank_point(gear, t)
            theta = math.atan2(foot[1], foot[0]) + math.atan(t) - t  # unwinding angle plus t
            touch = math.atan2(foot[1], foot[0]) - math.atan(t)
            assert theta == pytest.approx(touch + 2.0 * math.atan(t) - t)
            points.append(foot + offset * np.array([-math.sin(touch), math.cos(touch)]))
        x = _middle(gear, np.array(points))
        distance, gradient = gear.signed_distance(x)
        rho, theta = np.hypot(x[:, 0], x[:, 1]), np.arctan2(x[:, 1], x[:, 0])
        string = np.sqrt(rho**2 - gear.base_radius**2)
        inv = string / gear.base_radius - np.arccos(gear.base_radius / rho)
        base_half = math.atan2(*_flank_point(gear, 0.0)[::-1])
        formula = gear.base_radius * (theta + inv - base_half)
        np.testing.assert_allclose(formula, offset, atol=1e-15)
        foot_radius = np.sqrt(gear.base_radius**2 + (string - offset) ** 2)
        is_on_flank = (foot_radius < gear.tip_radius) & (np.abs(offset) < 0.5 * rho * base_half)
        np.testing.assert_allclose(distance[is_on_flank], offset, atol=1e-15)
        assert is_on_flank.sum() > 35
        assert (np.abs(np.linalg.norm(gradient, axis=1) - 1.0) < 1e-14).all()


@pytest.mark.parametrize(
    "gear", [PAPER, Gear(0.001, 60, 0.01, 0.0), Gear(0.01, 6, 0.01, 0.01, backlash=1e-3)]
)
def test_planar_distance_against_a_dense_outline(gear) -> None:
    rng = np.random.default_rng(1)
    outline = gear.tooth_form.polygon(4000, 1e-5 * gear.module)
    rho = rng.uniform(0.6 * gear.root_radius, 1.2 * gear.tip_radius, 300)
    angle = rng.uniform(-math.pi, math.pi, 300)
    points = np.column_stack([rho * np.cos(angle), rho * np.sin(angle)])
    distance, gradient = gear.tooth_form.distance(points)
    a, b = outline, np.roll(outline, -1, axis=0)
    truth = np.empty(len(points))
    for k, x in enumerate(points):
        edge = b - a
        t = np.clip(((x - a) * edge).sum(axis=1) / (edge * edge).sum(axis=1), 0.0, 1.0)
        truth[k] = np.linalg.norm(x - a - t[:, None] * edge, axis=1).min()
    np.testing.assert_allclose(np.abs(distance), truth, atol=1e-5 * gear.module)
    # The nearest point, one distance down the gradient, lies on the outline.
    feet = points - distance[:, None] * gradient
    np.testing.assert_allclose(gear.tooth_form.distance(feet)[0], 0.0, atol=1e-14)


@settings(max_examples=30, deadline=None)
@given(
    teeth=st.tuples(st.integers(18, 60), st.integers(18, 60)),
    turn=st.floats(0.0, 2.0 * math.pi),
    degrees=st.sampled_from([20.0, 25.0]),
)
def test_two_gears_mesh_without_overlap_and_touch(teeth, turn, degrees) -> None:
    first, second = (
        Gear(0.001, z, 0.01, 0.002, pressure_angle=math.radians(degrees)) for z in teeth
    )
    distance = first.center_distance(second)
    assert distance == pytest.approx(0.0005 * sum(teeth))
    outline = second.tooth_form.polygon(4000, 1e-9)
    angle = first.meshing_angle(second) - turn * first.teeth / second.teeth
    in_first = _placed(_placed(outline, angle, distance), -turn, 0.0)
    gap = first.tooth_form.distance(in_first)[0]
    # Without backlash both flanks touch at every angle; sampling sees it to the chord's square.
    assert gap.min() >= -1e-12
    assert gap.min() < 2e-7
    # A tooth of the second gear fills the space: shifting it off by 10 µm must overlap.
    nearer = _placed(_placed(outline, angle, distance - 1e-5), -turn, 0.0)
    assert first.tooth_form.distance(nearer)[0].min() < -1e-6
    wrong = _placed(_placed(outline, angle + math.pi / second.teeth, distance), -turn, 0.0)
    assert first.tooth_form.distance(wrong)[0].min() < -1e-4


def test_backlash_opens_the_mesh() -> None:
    first, second = (Gear(0.004, z, 0.01, 0.02, backlash=1e-4) for z in (25, 50))
    outline = second.tooth_form.polygon(4000, 1e-9)
    placed = _placed(outline, first.meshing_angle(second), first.center_distance(second))
    gap = first.tooth_form.distance(placed)[0].min()
    # Each flank pair opens by half of both thinnings, seen along the normal.
    assert gap == pytest.approx(1e-4 * math.cos(first.pressure_angle), rel=1e-3)


@pytest.mark.parametrize("gear", [PAPER, Gear(0.001, 60, 0.01, 0.0105), Gear(0.01, 5, 0.02, 0.0)])
def test_moments_against_quadrature_over_radius(gear) -> None:
    """Rings of the gear: the share of the circle that is tooth, found from the distance's sign."""
    form = gear.tooth_form

    def tooth_angle(radius: float) -> float:
        def sign(angle: float) -> float:
            point = radius * np.array([[math.cos(angle), math.sin(angle)]])
            return float(form.distance(point)[0][0])

        return brentq(sign, 0.0, math.pi / gear.teeth, xtol=1e-14)

    density, split = 3000.0, [gear.base_radius] if gear.base_radius > gear.root_radius else None
    teeth = [
        quad(
            lambda r, n=n: 2.0 * gear.teeth * tooth_angle(r) * r**n,
            gear.root_radius * (1 + 1e-9),
            gear.tip_radius * (1 - 1e-9),
            points=split,
            epsrel=1e-9,
        )[0]
        for n in (1, 3)
    ]
    bore = 0.5 * gear.bore
    area = math.pi * (gear.root_radius**2 - bore**2) + teeth[0]
    polar = 0.5 * math.pi * (gear.root_radius**4 - bore**4) + teeth[1]
    got = gear.mass_properties(density)
    assert got.mass == pytest.approx(density * gear.thickness * area, rel=1e-7)
    assert got.inertia[2, 2] == pytest.approx(density * gear.thickness * polar, rel=1e-7)
    across = density * gear.thickness * (0.5 * polar + area * gear.thickness**2 / 12.0)
    assert got.inertia[0, 0] == pytest.approx(across, rel=1e-7)
    np.testing.assert_array_equal(got.center_of_mass, np.zeros(3))


def test_scene_numbers() -> None:
    """Diameter 0.1 m, 25 teeth, 10 mm thick, bore 20 mm: the gear of the CRISP paper's demo."""
    assert PAPER.pitch_radius == pytest.approx(0.05)
    distance, gradient = PAPER.signed_distance([[0.0, 0.0, 0.0], [0.009, 0.0, 0.0]])
    np.testing.assert_allclose(distance, [0.01, 0.001], atol=1e-17)
    np.testing.assert_allclose(gradient[1], [-1.0, 0.0, 0.0], atol=1e-15)


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (lambda: Gear(0.004, 4, 0.01, 0.0), "teeth"),
        (lambda: Gear(0.004, 25.0, 0.01, 0.0), "teeth"),
        (lambda: Gear(0.004, True, 0.01, 0.0), "teeth"),
        (lambda: Gear(0.004, 25, 0.01, 0.0901), "root circle"),
        (lambda: Gear(0.004, 25, 0.01, -0.01), "bore"),
        (lambda: Gear(0.0, 25, 0.01, 0.01), "module"),
        (lambda: Gear(0.004, 25, math.inf, 0.01), "thickness"),
        (lambda: Gear(0.004, 25, 0.01, 0.01, pressure_angle=1.0), "pressure_angle"),
        (lambda: Gear(0.004, 25, 0.01, 0.01, backlash=0.007), "point"),
        (lambda: Gear(0.004, 5, 0.01, 0.0, pressure_angle=math.radians(40)), "point"),
        (lambda: PAPER.center_distance(Gear(0.003, 25, 0.01, 0.0)), "module"),
        (lambda: Gear(0.004, 25, 0.01, 0.0899).mesh(24), "finer"),
    ],
)
def test_wrong_fields_are_refused(make, word) -> None:
    with pytest.raises(GeometryError, match=word):
        make()
