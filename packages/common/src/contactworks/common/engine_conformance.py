"""What every engine must do: checks that an engine's own tests run.

Each check takes a factory, which makes an engine from MJCF text, and raises ``AssertionError``
where the engine breaks the protocol.  Expectations are closed forms of mechanics, never another
engine's output.  A test module runs them all::

    @pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
    def test_conformance(check):
        check(MujocoEngine)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from contactworks.common import rotations
from contactworks.common.engine import ContactTarget, Engine, UnsupportedPropertyError
from contactworks.common.errors import ContactworksError, ModelError
from contactworks.common.poses import Pose, Twist

__all__ = ["CHECKS", "Check", "MakeEngine"]

MakeEngine = Callable[[str], Engine]
Check = Callable[[MakeEngine], None]

_GRAVITY = 9.81
_RADIUS = 0.1

# A ball above a floor, and a body whose centre of mass is not its origin.
_BODIES = f"""
<mujoco><option timestep="0.001" gravity="0 0 -{_GRAVITY}"/><worldbody>
  <geom name="floor" type="plane" size="5 5 0.1"/>
  <body name="ball" pos="0 0 3"><freejoint/><geom type="sphere" size="{_RADIUS}" mass="1"/></body>
  <body name="hammer" pos="1 0 3"><freejoint/>
    <geom type="box" size="0.02 0.02 0.02" mass="0.1"/>
    <geom type="sphere" size="0.05" pos="0.3 0 0" mass="1"/></body>
</worldbody></mujoco>"""

# Two balls and a heavy wall without weight, above a floor.
_BALLS = f"""
<mujoco><option timestep="0.001" gravity="0 0 0"/><worldbody>
  <geom name="floor" type="plane" size="5 5 0.1"/>
  <body name="left" pos="0 0 1"><freejoint/><geom type="sphere" size="{_RADIUS}" mass="1"/></body>
  <body name="right" pos="0.3 0 1"><freejoint/>
    <geom type="sphere" size="{_RADIUS}" mass="2"/></body>
  <body name="wall" pos="2 0 1"><freejoint/>
    <geom type="box" size="0.1 0.5 0.5" mass="1000"/></body>
</worldbody></mujoco>"""

# The box alone decides the friction: the larger value of two geoms counts.
_SLIDER = f"""
<mujoco>
<option timestep="0.001" gravity="0 0 -{_GRAVITY}" cone="elliptic" impratio="10"/><worldbody>
  <geom name="floor" type="plane" size="5 5 0.1" friction="0.01 0.005 0.0001"/>
  <body name="box" pos="0 0 0.05"><freejoint/>
    <geom type="box" size="0.1 0.1 0.05" mass="1" friction="0.5 0.005 0.0001"/></body>
</worldbody></mujoco>"""

_DROP = f"""
<mujoco><option timestep="0.0005" gravity="0 0 -{{gravity}}" cone="elliptic"/><worldbody>
  <geom name="floor" type="plane" size="5 5 0.1"/>
  <body name="ball" pos="0 0 {{height}}"><freejoint/>
    <geom name="ball" type="sphere" size="{_RADIUS}" mass="1"/></body>
</worldbody><contact><pair geom1="floor" geom2="ball" condim="3"/></contact></mujoco>"""


def free_fall(make: MakeEngine) -> None:
    """A thrown, spinning ball follows the parabola, to first order in the step."""
    engine = make(_BODIES)
    engine.set_twist("ball", Twist((0.5, -0.2, 1.0), (0.0, 0.0, 3.0)))
    engine.step(300)
    time = 300 * engine.timestep
    _near(engine.time, time, 1e-12, "time")
    drop = 0.5 * _GRAVITY * time**2
    wanted = np.array([0.5 * time, -0.2 * time, 3.0 + time - drop])
    bound = _GRAVITY * engine.timestep * time
    _near(engine.pose("ball").position, wanted, bound, "position")
    _near(engine.twist("ball").linear, [0.5, -0.2, 1.0 - _GRAVITY * time], 1e-9, "velocity")
    _near(engine.twist("ball").angular, [0.0, 0.0, 3.0], 1e-9, "spin")
    turned = rotations.quaternion_exp((0.0, 0.0, 3.0 * time))
    angle = float(rotations.angle_between(engine.pose("ball").quaternion, turned))
    _near(angle, 0.0, 1e-6, "turned angle")


def poses_and_twists(make: MakeEngine) -> None:
    """What is written is read back; a new pose leaves the world twist; other bodies stay."""
    engine = make(_BODIES)
    others = _state(engine, "ball")
    pose = Pose((0.3, -0.4, 2.0), rotations.quaternion_exp((0.4, -1.0, 0.7)))
    twist = Twist((0.1, 0.2, -0.3), (1.0, -2.0, 0.5))
    engine.set_pose("hammer", pose)
    engine.set_twist("hammer", twist)
    _expect(engine.pose("hammer").is_close(pose, angle_tolerance=1e-7), "pose is not read back")
    _near(engine.twist("hammer").to_vector(), twist.to_vector(), 1e-12, "twist read back")
    engine.set_pose("hammer", Pose((1.0, 0.0, 3.0)))
    _near(engine.twist("hammer").to_vector(), twist.to_vector(), 1e-12, "twist after a new pose")
    _expect(np.array_equal(_state(engine, "ball"), others), "another body moved")


def twist_is_of_the_origin(make: MakeEngine) -> None:
    """The twist is the derivative of the pose of the body origin, in world axes.

    The centre of mass lies elsewhere, so an engine that reports its velocity instead fails.
    """
    engine = make(_BODIES)
    turned = rotations.quaternion_exp((0.4, -1.0, 0.7))
    engine.set_pose("hammer", Pose((1.0, 0.0, 3.0), turned))
    twist = Twist((0.1, 0.2, -0.3), (1.0, -2.0, 0.5))
    engine.set_twist("hammer", twist)
    engine.timestep = 1e-6
    before = engine.pose("hammer")
    engine.step()
    moved = engine.pose("hammer").position - before.position
    _near(moved / 1e-6, twist.linear, 1e-3, "velocity of the origin")
    inverse = rotations.quaternion_conjugate(before.quaternion)
    change = rotations.quaternion_multiply(engine.pose("hammer").quaternion, inverse)
    spin = rotations.quaternion_log(change) / 1e-6
    _near(spin, twist.angular, 1e-3, "angular velocity")


def onset_before_force(make: MakeEngine) -> None:
    """A watched pair that is off is measured exactly, and no force acts at any gap."""
    engine = make(_BALLS)
    engine.set_contact_enabled("left", "right", False)
    engine.watch("left", "right", distance=0.02)
    engine.set_twist("left", Twist((1.0, 0.0, 0.0)))
    seen = False
    for _ in range(150):
        engine.step()
        gap = engine.pose("right").position[0] - engine.pose("left").position[0] - 2.0 * _RADIUS
        contact = engine.contact("left", "right")
        if gap > 0.02 + 1e-5:
            _expect(contact is None, f"a contact is reported at a gap of {gap}")
            continue
        if contact is None:
            _expect(gap > 0.02 - 1e-5, f"no contact is reported at a gap of {gap}")
            continue
        seen = seen or contact.gap <= 0.0
        _near(contact.gap, gap, 1e-5, "gap")
        _near(contact.normal, [1.0, 0.0, 0.0], 1e-3, "normal, from first to second")
        middle = engine.pose("left").position[0] + _RADIUS + 0.5 * gap
        _near(contact.point, [middle, 0.0, 1.0], 1e-4, "point")
        back = engine.contact("right", "left")
        _expect(back is not None, "the pair is not seen in the other order")
        if back is not None:
            _near(back.normal, -contact.normal, 1e-12, "normal in the other order")
    _expect(seen, "onset was never reported")
    _near(engine.twist("left").linear, [1.0, 0.0, 0.0], 1e-12, "velocity of a silent pair")
    _near(engine.twist("right").linear, [0.0, 0.0, 0.0], 1e-12, "velocity of a silent pair")


def touching_normal(make: MakeEngine) -> None:
    """The normal is right where the gap is exactly zero, for a ball, a box and a plane."""
    engine = make(_BALLS)
    for first, second, position, normal in (
        ("left", "right", (0.1, 0.0, 1.0), (1.0, 0.0, 0.0)),
        ("left", "wall", (1.8, 0.2, 1.1), (1.0, 0.0, 0.0)),
        ("left", "world", (-1.0, 0.3, _RADIUS), (0.0, 0.0, -1.0)),
    ):
        engine.set_pose("left", Pose(position))
        engine.watch(first, second, distance=0.01)
        contact = engine.contact(first, second)
        _expect(contact is not None, f"{first} touches {second} and is not seen")
        if contact is not None:
            _near(contact.gap, 0.0, 1e-5, f"gap of {first} and {second}")
            _near(contact.normal, normal, 1e-3, f"normal of {first} and {second}")


def silent_pair_passes_through(make: MakeEngine) -> None:
    """A pair that is off passes through; its other contacts, and the pair once on again, push."""
    engine = make(_BALLS)
    _expect(engine.contact_enabled("left", "right"), "a pair is off from the start")
    engine.set_contact_enabled("left", "right", False)
    _expect(not engine.contact_enabled("right", "left"), "the pair is still on")
    engine.set_twist("left", Twist((1.0, 0.0, 0.0)))
    engine.step(600)
    _near(engine.pose("left").position, [0.6, 0.0, 1.0], 1e-9, "position behind the other ball")
    _near(engine.twist("right").to_vector(), np.zeros(6), 1e-12, "twist of the other ball")
    engine.set_pose("left", Pose((1.75, 0.0, 1.0)))
    engine.step(500)
    _expect(engine.twist("left").linear[0] < 0.5, "the wall did not stop the ball")
    engine.set_contact_enabled("left", "right", True)
    engine.set_pose("left", Pose((0.0, 0.0, 1.0)))
    engine.set_twist("left", Twist((1.0, 0.0, 0.0)))
    engine.step(300)
    _expect(engine.twist("right").linear[0] > 0.1, "the pair that is on again did not push")
    momentum = engine.twist("left").linear + 2.0 * engine.twist("right").linear
    _near(momentum, [1.0, 0.0, 0.0], 1e-6, "momentum of the two balls")


def snapshot_is_exact(make: MakeEngine) -> None:
    """From a snapshot in the middle of a contact the motion repeats to the last bit."""
    engine = make(_SLIDER)
    engine.set_twist("box", Twist((1.0, 0.3, 0.0), (0.0, 0.0, 2.0)))
    engine.step(37)
    kept = engine.snapshot()
    engine.step(80)
    wanted, time = _state(engine, "box"), engine.time
    engine.set_friction("box", 0.9)
    engine.set_contact_enabled("box", "world", False)
    engine.timestep = 0.002
    engine.set_pose("box", Pose((0.0, 0.0, 1.0)))
    engine.step(50)
    engine.restore(kept)
    _expect(engine.contact_enabled("box", "world"), "a switch did not return")
    _near(engine.friction("box"), 0.5, 1e-12, "friction after restore")
    engine.step(80)
    _expect(np.array_equal(_state(engine, "box"), wanted), "the motion differs after restore")
    _expect(engine.time == time, f"time: got {engine.time}, expected {time}")


def reset_returns_to_the_start(make: MakeEngine) -> None:
    """Reset brings back pose, twist and time, and the same motion follows."""
    engine = make(_SLIDER)
    start = _state(engine, "box")
    engine.step(100)
    wanted = _state(engine, "box")
    engine.set_twist("box", Twist((1.0, 0.0, 2.0)))
    engine.step(100)
    engine.reset()
    _expect(engine.time == 0.0, f"time after reset: got {engine.time}, expected 0")
    _expect(np.array_equal(_state(engine, "box"), start), "the state after reset differs")
    engine.step(100)
    _expect(np.array_equal(_state(engine, "box"), wanted), "the motion after reset differs")


def friction_by_name(make: MakeEngine) -> None:
    """A box slides v² / (2 mu g), whatever mu its name is given."""
    for friction in (0.2, 0.6):
        engine = make(_SLIDER)
        engine.set_friction("box", friction)
        _near(engine.friction("box"), friction, 1e-12, "friction read back")
        engine.step(200)
        start = engine.pose("box").position[0]
        engine.set_twist("box", Twist((1.5, 0.0, 0.0)))
        engine.step(math.ceil(1.5 / (friction * _GRAVITY) / engine.timestep) + 200)
        distance = engine.pose("box").position[0] - start
        wanted = 1.5**2 / (2.0 * friction * _GRAVITY)
        _near(distance, wanted, 0.02 * wanted, f"sliding distance at friction {friction}")


def stiffness_by_name(make: MakeEngine) -> None:
    """A ball rests m g / k deep, or the engine says that it cannot represent a stiffness."""
    for stiffness in (2e4, 1e5):
        engine = make(_DROP.format(gravity=_GRAVITY, height=_RADIUS))
        target = _settable(engine.set_stiffness, stiffness, "stiffness")
        if target is None:
            return
        _near(engine.stiffness(target), stiffness, 1e-6 * stiffness, "stiffness read back")
        engine.step(4000)
        depth = _RADIUS - engine.pose("ball").position[2]
        _near(depth, _GRAVITY / stiffness, 0.02 * _GRAVITY / stiffness, "depth at rest")


def restitution_by_name(make: MakeEngine) -> None:
    """A ball rebounds with e times its speed, or the engine says that it cannot represent it."""
    for restitution in (0.3, 0.8):
        engine = make(_DROP.format(gravity=0.0, height=_RADIUS + 0.01))
        target = _settable(engine.set_restitution, restitution, "restitution")
        if target is None:
            return
        _near(engine.restitution(target), restitution, 1e-6, "restitution read back")
        engine.set_twist("ball", Twist((0.0, 0.0, -0.1)))
        engine.step(2000)
        speed = engine.twist("ball").linear[2] / 0.1
        _near(speed, restitution, 0.02, "speed after over speed before")


def bad_states_are_errors(make: MakeEngine) -> None:
    """A huge velocity is simulated or refused; the world is never reset behind one's back."""
    engine = make(_BODIES)
    engine.step(10)
    time = engine.time
    try:
        engine.set_twist("ball", Twist((1e12, 0.0, 0.0)))
        engine.step()
    except ContactworksError:
        _expect(engine.time == time, "the state before the failed step does not stand")
        return
    _expect(engine.time > time, "the world was reset")
    _expect(engine.pose("ball").position[0] > 1e8, "the velocity was clipped")


def names_and_values_are_checked(make: MakeEngine) -> None:
    """Wrong names and values are refused, and the message names them."""
    engine = make(_BODIES)
    _expect(engine.body_names[0] == "world", "the first body is not 'world'")
    _expect({"ball", "hammer"} <= set(engine.body_names), "bodies are missing")
    _refused(lambda: engine.pose("bal"), "bal")
    _refused(lambda: engine.watch("ball", "hamer", 0.01), "hamer")
    _refused(lambda: engine.watch("ball", "ball", 0.01), "ball")
    _refused(lambda: engine.watch("ball", "hammer", -0.01), "-0.01")
    _refused(lambda: engine.contact("ball", "hammer"), "hammer")
    _refused(lambda: engine.set_friction("ball", -1.0), "-1")
    _refused(lambda: engine.set_pose("world", Pose()), "world")
    _refused(lambda: engine.set_twist("world", Twist((1.0, 0.0, 0.0))), "world")
    _refused(lambda: setattr(engine, "timestep", 0.0), "0")
    _refused(lambda: engine.step(0), "0")
    _near(engine.pose("world").position, np.zeros(3), 0.0, "position of the world")
    _near(engine.twist("world").to_vector(), np.zeros(6), 0.0, "twist of the world")


def instances_are_independent(make: MakeEngine) -> None:
    """What one instance does is not seen by another of the same model."""
    first, second = make(_BALLS), make(_BALLS)
    first.set_contact_enabled("left", "right", False)
    first.watch("left", "right", 0.01)
    for engine in (first, second):
        engine.set_twist("left", Twist((1.0, 0.0, 0.0)))
        engine.step(300)
    _near(first.twist("right").linear, np.zeros(3), 1e-12, "velocity in the silent instance")
    _expect(second.twist("right").linear[0] > 0.1, "a switch of one instance silenced another")


CHECKS: tuple[Check, ...] = (
    free_fall,
    poses_and_twists,
    twist_is_of_the_origin,
    onset_before_force,
    touching_normal,
    silent_pair_passes_through,
    snapshot_is_exact,
    reset_returns_to_the_start,
    friction_by_name,
    stiffness_by_name,
    restitution_by_name,
    bad_states_are_errors,
    names_and_values_are_checked,
    instances_are_independent,
)


def _state(engine: Engine, body: str) -> np.ndarray:
    pose = engine.pose(body)
    return np.concatenate([pose.position, pose.quaternion, engine.twist(body).to_vector()])


def _settable(
    setter: Callable[[ContactTarget, float], None], value: float, what: str
) -> ContactTarget | None:
    """Set a property of the pair, else of the ball; None where the engine says that it cannot."""
    targets: tuple[ContactTarget, ...] = (("ball", "world"), "ball")
    for target in targets:
        try:
            setter(target, value)
        except UnsupportedPropertyError as error:
            _expect(what in str(error), f"the refusal does not name {what}: {error}")
        else:
            return target
    return None


def _expect(condition: bool, message: str) -> None:
    if not condition:
        raise AssertionError(message)


def _near(got: Any, wanted: Any, tolerance: float, what: str) -> None:
    error = float(np.abs(np.asarray(got) - np.asarray(wanted)).max())
    _expect(
        error <= tolerance, f"{what}: got {got}, expected {wanted}; off by {error} > {tolerance}"
    )


def _refused(action: Callable[[], Any], text: str) -> None:
    try:
        action()
    except ModelError as error:
        _expect(text in str(error), f"the message does not name '{text}': {error}")
        return
    raise AssertionError(f"nothing was refused, expected an error that names '{text}'")
