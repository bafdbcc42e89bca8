"""The cases with exact answers, at default options and at others; what a check passes."""

from __future__ import annotations

import math

import numpy as np
import pytest

from contactworks.common.rotations import random_quaternion, rotate_inverse
from contactworks.crisp import scenes
from contactworks.crisp.verification import CASES, Check, run_case


@pytest.mark.parametrize("name", CASES)
def test_case(name):
    checks = run_case(name)
    assert checks
    for check in checks:
        assert check.passed, (
            f"{check.case}, {check.quantity}: {check.measured!r} is not {check.exact!r} "
            f"within {check.allowed:g}"
        )


@pytest.mark.parametrize(
    ("measured", "passed"),
    [(1.0, True), (1.1, True), (0.9, True), (1.11, False), (math.nan, False), (math.inf, False)],
)
def test_a_check(measured, passed):
    check = Check("case", "quantity [m]", 1.0, measured, 0.1 + 1e-12)
    assert check.passed is passed
    assert math.isnan(check.error) if math.isnan(measured) else check.error >= 0.0


def test_an_unknown_case_is_refused():
    with pytest.raises(KeyError):
        run_case("perpetuum-mobile")


# The same with other numbers than the built-in ones


@pytest.mark.parametrize(
    ("ratio", "timestep", "friction"), [(3.0, 0.002, 0.3), (300.0, 0.001, 1.0)]
)
def test_other_stacks(ratio, timestep, friction):
    scene = scenes.top_heavy_stack(ratio, timestep=timestep, friction=friction, drop=0.02)
    scene.run(1.0)
    assert scene.metrics()["height_error"] < 1e-7
    assert scene.metrics()["speed"] < 1e-9
    assert scene.unconverged_steps == 0


@pytest.mark.parametrize("timestep", [0.001, 0.02])
@pytest.mark.parametrize("angle", [5.0, 15.0, 29.0])
def test_other_slides(angle, timestep):
    """a = g (sin 30 - tan(angle) cos 30), whatever the angle and the step."""
    slope = math.radians(30.0)
    exact = 9.81 * (math.sin(slope) - math.tan(math.radians(angle)) * math.cos(slope))
    scene = scenes.oblique_slide(angle, timestep=timestep)
    scene.run(1.0)
    found = scene.metrics()
    assert found["acceleration"] == pytest.approx(exact, rel=1e-6)
    assert found["lift"] < 1e-6


@pytest.mark.parametrize("angle", [31.0, 45.0, 80.0])
def test_steeper_friction_holds(angle):
    scene = scenes.oblique_slide(angle, drop=0.0)
    scene.run(2.0)
    assert scene.metrics()["speed"] < 1e-9


@pytest.mark.parametrize(("speed", "friction"), [(2.0, 0.2), (5.0, 0.9)])
def test_other_launches(speed, friction):
    """v^2 / (2 mu g); Euler stops v dt / 2 short."""
    scene = scenes.launched_cube(speed, friction=friction, timestep=0.001)
    scene.run(speed / (friction * 9.81) + 0.1)
    found = scene.metrics()
    exact = speed**2 / (2.0 * friction * 9.81) - 0.5 * speed * 0.001
    assert found["distance"] == pytest.approx(exact, abs=1e-5)
    assert found["speed"] < 1e-9
    assert found["lift"] < 1e-6


@pytest.mark.parametrize(("speed", "friction"), [(0.3, 0.1), (2.0, 0.6)])
def test_other_rolls(speed, friction):
    """5/7 of the launch speed, whatever the friction; it comes about after 2 v / (7 mu g)."""
    scene = scenes.rolling_sphere(speed, friction=friction)
    scene.run(0.9 * 2.0 * speed / (7.0 * friction * 9.81))
    assert scene.metrics()["slip"] > 0.0
    scene.run(0.5)
    assert scene.metrics()["speed_ratio"] == pytest.approx(5.0 / 7.0, abs=1e-9)


@pytest.mark.parametrize(("one", "two"), [(1.0, 1.0), (1e-3, 5.0), (1e4, 1.0)])
def test_other_hits(one, two):
    scene = scenes.sphere_collision(one, two, speed=3.0)
    scene.run(0.5)
    found = scene.metrics()
    assert found["velocity_error"] < 1e-9
    assert abs(found["gap"]) < 1e-8


def test_another_pile():
    """Twenty boxes with other friction and other places."""
    scene = scenes.bin_of_boxes(20, friction=0.2, rng=11)
    scene.run(3.0)
    scene.worst_residual = 0.0
    scene.run(0.5)
    found = scene.metrics()
    assert found["worst_residual"] < 1e-6
    assert found["worst_overlap"] < 1e-6


def test_other_turns_of_a_stack():
    """The whole world turned: the same states in its frame."""
    turn = random_quaternion(rng=123)
    one = scenes.top_heavy_stack(30.0)
    two = scenes.top_heavy_stack(30.0, rotation=turn)
    for scene in (one, two):
        scene.run(0.4)
    for i in range(1, 4):
        place = rotate_inverse(turn, two.data.body_position[i])
        np.testing.assert_allclose(place, one.data.body_position[i], atol=1e-9)
