"""A cylinder on a plane: standing, rocking, lying, rolling."""

from __future__ import annotations

import math

import numpy as np
import pytest

from contactworks import crisp
from contactworks.common.rotations import quaternion_exp, rotate

SIDEWAYS = quaternion_exp([0.0, 0.5 * math.pi, 0.0])


def on_floor(turn, height, *, slope=0.0, friction=0.5, timestep=0.002, **geom):
    builder = crisp.ModelBuilder(crisp.Options(timestep=timestep))
    ground = quaternion_exp([slope, 0.0, 0.0])
    builder.world.add_geom(crisp.Plane(), quaternion=ground, friction=friction)
    builder.add_body("can", position=(0, 0, height), quaternion=turn).add_geom(
        crisp.Cylinder(0.05, 0.1), friction=friction, **geom
    )
    model = builder.build()
    return model, crisp.Data(model)


@pytest.mark.parametrize(("turn", "height"), [((1, 0, 0, 0), 0.1), (SIDEWAYS, 0.05)])
def test_rest_without_drift(turn, height):
    model, data = on_floor(turn, height)
    crisp.step(model, data, 2500)
    np.testing.assert_allclose(data.qpos[:3], [0, 0, height], atol=2e-9)
    assert np.abs(data.qvel).max() < 1e-9


@pytest.mark.parametrize("timestep", [0.01, 0.002])
@pytest.mark.parametrize("tilt", [1e-6, 1e-3, 0.04, 0.2])
def test_a_tilted_can_rocks_and_comes_to_rest(tilt, timestep):
    """The deepest point alone would rock on for ever, millimetres deep."""
    turn = quaternion_exp([tilt, 0.3 * tilt, 0.0])
    model, data = on_floor(turn, 0.12, timestep=timestep)
    lowest = 0.0
    for _ in range(round(4.0 / timestep)):
        crisp.step(model, data)
        lowest = min(lowest, data.contacts.gap.min(initial=0.0))
    assert np.abs(data.qvel).max() < 1e-9
    assert data.qpos[2] == pytest.approx(0.1, abs=1e-8)
    assert lowest > -2e-3 * timestep / 0.002


def test_rolling_goes_on():
    """From sliding to rolling at 2/3 of the speed, and on for five seconds without loss."""
    model, data = on_floor(SIDEWAYS, 0.05)
    data.qvel[1] = 1.0
    crisp.step(model, data, 500)
    assert data.qvel[1] == pytest.approx(2.0 / 3.0, abs=1e-9)
    start = data.qpos[1]
    crisp.step(model, data, 2500)
    assert data.qvel[1] == pytest.approx(2.0 / 3.0, abs=1e-9)
    assert data.qpos[1] - start == pytest.approx(5.0 * 2.0 / 3.0, abs=1e-8)
    assert data.qpos[2] == pytest.approx(0.05, abs=1e-8)
    assert data.qpos[0] == pytest.approx(0.0, abs=1e-8)


def test_rolling_down_a_slope():
    """a = 2/3 g sin(slope) for a solid cylinder."""
    slope = 0.2
    normal = rotate(quaternion_exp([slope, 0, 0]), np.array([0.0, 0.0, 1.0]))
    model, data = on_floor(SIDEWAYS, 0.0, slope=slope)
    data.qpos[:3] = 0.05 * normal
    crisp.step(model, data, 500)
    speed = float(np.linalg.norm(data.qvel[:3]))
    assert speed == pytest.approx(2.0 / 3.0 * 9.81 * math.sin(slope) * 1.0, rel=1e-6)
    assert float(data.qpos[:3] @ normal) == pytest.approx(0.05, abs=1e-7)


def test_a_can_on_a_slope_stands_still():
    """Friction holds it, and its base is wide enough for the slope."""
    slope = 0.2
    turn = quaternion_exp([slope, 0, 0])
    model, data = on_floor(turn, 0.0, slope=slope)
    data.qpos[:3] = rotate(turn, np.array([0.0, 0.0, 0.1]))
    crisp.step(model, data, 1)
    start = data.qpos.copy()
    crisp.step(model, data, 2500)
    assert np.abs(data.qvel).max() < 1e-9
    np.testing.assert_allclose(data.qpos, start, atol=1e-8)


def test_it_topples_beyond_the_tipping_angle():
    """Height 0.2, width 0.1: it falls once the slope is above atan(1/2)."""
    for slope, falls in ((0.44, False), (0.49, True)):
        turn = quaternion_exp([slope, 0, 0])
        model, data = on_floor(turn, 0.0, slope=slope, friction=2.0)
        data.qpos[:3] = rotate(turn, np.array([0.0, 0.0, 0.1]))
        crisp.step(model, data, 500)
        axis = rotate(data.qpos[3:], np.array([0.0, 0.0, 1.0]))
        tilt = math.acos(min(1.0, axis @ rotate(turn, np.array([0.0, 0.0, 1.0]))))
        assert (tilt > 0.3) == falls
        assert falls or tilt < 1e-6
