"""One program, two engines: what is written against the protocol runs on MuJoCo and on crisp."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from contactworks import crisp
from contactworks.common import engine as engines
from contactworks.common.poses import Pose, Twist

GRAVITY = 9.81
STEP = 0.001
NAMES = ("crisp", "mujoco")


def ball_and_block(name: str, *, friction: float = 0.5, gravity: float = GRAVITY) -> Any:
    """Return an engine with a 1 kg block on a floor and a 0.2 kg ball in the air beside it."""
    if name == "mujoco":
        return engines.load("mujoco")(
            f"""<mujoco>
              <option timestep="{STEP}" gravity="0 0 {-gravity}" cone="elliptic" impratio="100"/>
              <worldbody>
                <geom type="plane" size="5 5 1" friction="{friction} 0 0"/>
                <body name="block" pos="0 0 0.05"><freejoint/>
                  <geom type="box" size="0.05 0.05 0.05" mass="1" friction="{friction} 0 0"/></body>
                <body name="ball" pos="-0.5 0 0.6"><freejoint/>
                  <geom type="sphere" size="0.03" mass="0.2" friction="{friction} 0 0"/></body>
              </worldbody>
            </mujoco>"""
        )
    builder = crisp.ModelBuilder(crisp.Options(timestep=STEP, gravity=(0.0, 0.0, -gravity)))
    builder.world.add_geom(crisp.Plane(), friction=friction)
    block = builder.add_body("block", position=(0.0, 0.0, 0.05), mass=1.0)
    block.add_geom(crisp.Box((0.05, 0.05, 0.05)), friction=friction)
    ball = builder.add_body("ball", position=(-0.5, 0.0, 0.6), mass=0.2)
    ball.add_geom(crisp.Sphere(0.03), friction=friction)
    return engines.load("crisp")(builder)


def test_both_engines_are_installed() -> None:
    assert set(NAMES) <= set(engines.installed())


@pytest.mark.parametrize("name", NAMES)
def test_satisfies_the_protocol(name: str) -> None:
    assert isinstance(ball_and_block(name), engines.Engine)


def test_free_flight_is_the_same_in_both() -> None:
    """Without contact both integrate the same equations by the same scheme."""
    poses = []
    for name in NAMES:
        engine = ball_and_block(name)
        engine.set_twist("ball", Twist((0.3, -0.2, 1.0), (1.0, 2.0, -3.0)))
        engine.step(300)
        assert engine.time == pytest.approx(0.3)
        poses.append(engine.pose("ball"))
    assert poses[0].is_close(poses[1], position_tolerance=1e-9, angle_tolerance=1e-6)
    # Semi-implicit Euler falls by g t (t + dt) / 2.
    assert poses[0].position[2] == pytest.approx(0.6 + 0.3 - 0.5 * GRAVITY * 0.3 * 0.301, abs=1e-9)


@pytest.mark.parametrize(("name", "tolerance"), [("crisp", 1e-4), ("mujoco", 3e-2)])
def test_block_slides_as_far_as_coulomb_says(name: str, tolerance: float) -> None:
    engine = ball_and_block(name)
    engine.step(200)
    start = engine.pose("block").position[0]
    engine.set_twist("block", Twist((1.0, 0.0, 0.0)))
    engine.step(500)
    slid = engine.pose("block").position[0] - start
    # Friction acts from the first step on, which costs half a step of way.
    expected = 1.0 / (2.0 * 0.5 * GRAVITY) - 0.5 * STEP
    assert slid == pytest.approx(expected, rel=tolerance)
    assert np.linalg.norm(engine.twist("block").linear) < 1e-2


@pytest.mark.parametrize("name", NAMES)
def test_plug_in_takes_over_one_collision(name: str) -> None:
    """The protocol's recipe: the pair is silent, its onset is seen, the outcome is written."""
    engine = ball_and_block(name, gravity=1e-9)
    engine.set_pose("ball", Pose((-0.3, 0.0, 0.05)))
    engine.set_twist("ball", Twist((1.0, 0.0, 0.0)))
    engine.set_contact_enabled("ball", "block", False)
    engine.watch("ball", "block", distance=0.01)
    while (contact := engine.contact("ball", "block")) is None or contact.gap > 0.0:
        engine.step()
        assert engine.time < 1.0
    # The surfaces are 0.22 m apart at the start; the onset is seen in the step that closes them.
    assert engine.time == pytest.approx(0.22, abs=1.5 * STEP)
    assert contact.normal == pytest.approx([1.0, 0.0, 0.0], abs=1e-6)
    assert engine.twist("ball").linear == pytest.approx([1.0, 0.0, 0.0], abs=1e-6)

    engine.set_twist("ball", Twist((-0.4, 0.0, 0.0)))
    engine.set_twist("block", Twist((0.2, 0.0, 0.0)))
    engine.step(50)
    assert engine.twist("ball").linear[0] == pytest.approx(-0.4, abs=1e-6)
    assert engine.contact("ball", "block") is None

    engine.set_contact_enabled("ball", "block", True)
    engine.set_twist("ball", Twist((2.0, 0.0, 0.0)))
    engine.step(200)
    assert engine.pose("ball").position[0] < engine.pose("block").position[0] - 0.07


@pytest.mark.parametrize("name", NAMES)
def test_motion_from_a_snapshot_is_bitwise_the_same(name: str) -> None:
    engine = ball_and_block(name)
    engine.set_pose("ball", Pose((0.02, 0.01, 0.2)))
    engine.step(100)
    kept = engine.snapshot()
    ends = []
    for _ in range(2):
        engine.restore(kept)
        engine.step(100)
        ends.append((engine.pose("ball"), engine.twist("block")))
    assert np.array_equal(ends[0][0].position, ends[1][0].position)
    assert np.array_equal(ends[0][0].quaternion, ends[1][0].quaternion)
    assert np.array_equal(ends[0][1].to_vector(), ends[1][1].to_vector())
