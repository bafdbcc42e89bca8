from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from contactworks.common import rotations
from contactworks.common.engine import UnsupportedPropertyError
from contactworks.common.engine_conformance import CHECKS, Check
from contactworks.common.errors import ModelError
from contactworks.common.poses import Pose, Twist

mujoco = pytest.importorskip("mujoco")

from contactworks.common.engines.mujoco import MujocoEngine  # noqa: E402


@pytest.fixture(autouse=True)
def _log_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # MuJoCo writes its warnings into the current folder


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_conformance(check: Check) -> None:
    check(MujocoEngine)


JOINTS = """
<mujoco><option timestep="0.001"/><worldbody>
  <body name="cart" pos="0.2 0 1" euler="0 0 30">
    <joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/>
    <geom size="0.05" mass="1"/>
    <body name="arm" pos="0.1 0 0"><joint type="hinge" axis="0 0 1"/>
      <geom type="capsule" size="0.02" fromto="0 0 0 0.3 0 0" mass="0.5"/>
      <body name="cap" pos="0.3 0 0"><geom size="0.03" mass="0.1"/></body></body></body>
  <body name="hand" mocap="true" pos="1 1 1"><geom size="0.05"/></body>
  <body name="ball" pos="2 0 1"><freejoint/><geom size="0.1"/></body>
</worldbody></mujoco>"""


def test_a_body_on_slides_moves_within_their_plane_only() -> None:
    engine = MujocoEngine(JOINTS)
    turned = engine.pose("cart").quaternion
    engine.set_pose("cart", Pose((-0.4, 0.7, 1.0), turned))
    assert engine.pose("cart").is_close(Pose((-0.4, 0.7, 1.0), turned))
    engine.set_twist("cart", Twist((0.3, -0.8, 0.0)))
    assert engine.twist("cart").to_vector() == pytest.approx([0.3, -0.8, 0, 0, 0, 0], abs=1e-12)
    state = engine.data.qpos.copy(), engine.data.qvel.copy()
    with pytest.raises(ModelError, match="cart"):
        engine.set_twist("cart", Twist((0.3, -0.8, 0.1)))
    with pytest.raises(ModelError, match="cart"):
        engine.set_pose("cart", Pose((-0.4, 0.7, 1.1), turned))
    with pytest.raises(ModelError, match="cart"):
        engine.set_pose("cart", Pose((-0.4, 0.7, 1.0)))
    assert np.array_equal(engine.data.qpos, state[0])
    assert np.array_equal(engine.data.qvel, state[1])


def test_the_twist_of_a_child_is_the_derivative_of_its_pose() -> None:
    engine = MujocoEngine(JOINTS)
    engine.set_twist("cart", Twist((0.3, -0.8, 0.0)))
    engine.data.qvel[2] = 2.5
    before, twist = engine.pose("cap"), engine.twist("cap")
    step = 1e-7
    mujoco.mj_integratePos(engine.model, engine.data.qpos, engine.data.qvel, step)
    after = engine.pose("cap")
    assert (after.position - before.position) / step == pytest.approx(twist.linear, abs=1e-5)
    change = rotations.quaternion_multiply(
        after.quaternion, rotations.quaternion_conjugate(before.quaternion)
    )
    assert rotations.quaternion_log(change) / step == pytest.approx(twist.angular, abs=1e-5)


def test_a_hinged_body_takes_the_twists_of_its_hinge_and_no_others() -> None:
    engine = MujocoEngine(JOINTS)
    engine.set_twist("cart", Twist((0.3, -0.8, 0.0)))
    engine.set_twist("arm", Twist((0.3, -0.8, 0.0), (0.0, 0.0, 4.0)))
    assert engine.twist("cart").linear == pytest.approx([0.3, -0.8, 0.0], abs=1e-12)
    assert engine.data.qvel[2] == pytest.approx(4.0)
    with pytest.raises(ModelError, match="arm"):
        engine.set_twist("arm", Twist((0.0, 0.0, 0.0), (0.0, 0.0, 4.0)))
    with pytest.raises(ModelError, match="hinges"):
        engine.set_pose("arm", Pose((0.0, 0.0, 1.0)))
    with pytest.raises(ModelError, match="fixed"):
        engine.set_twist("cap", Twist())


def test_a_mocap_body_goes_where_it_is_put() -> None:
    engine = MujocoEngine(JOINTS)
    pose = Pose((0.0, 2.0, 1.5), (math.cos(0.3), 0.0, math.sin(0.3), 0.0))
    engine.set_pose("hand", pose)
    engine.step(3)
    assert engine.pose("hand").is_close(pose, angle_tolerance=1e-7)
    with pytest.raises(ModelError, match="hand"):
        engine.set_twist("hand", Twist((1.0, 0.0, 0.0)))


@pytest.mark.parametrize("value", [1e11, math.nan, math.inf])
def test_a_bad_state_written_into_the_data_is_an_error(value: float) -> None:
    engine = MujocoEngine(JOINTS)
    engine.step(5)
    engine.data.qvel[4] = value
    with pytest.raises(ModelError, match=r"qvel\[4\]"):
        engine.step()
    assert engine.time == pytest.approx(0.005)


def test_a_run_that_goes_wrong_inside_is_an_error_and_leaves_the_state() -> None:
    engine = MujocoEngine(JOINTS)
    engine.step(5)
    engine.data.qfrc_applied[4] = 1e13
    wanted = engine.data.qpos.copy()
    with pytest.raises(ModelError, match="could not step: warning BADQ"):
        engine.step(10)
    assert np.array_equal(engine.data.qpos, wanted)
    assert engine.time == pytest.approx(0.005)
    engine.data.qfrc_applied[4] = 0.0
    engine.step()  # the counters of MuJoCo's warnings do not condemn the next step
    assert engine.time == pytest.approx(0.006)


def test_contacts_that_do_not_fit_into_memory_are_an_error() -> None:
    balls = "".join(
        f'<body pos="0 0 {0.01 * i}"><freejoint/><geom size="0.2"/></body>' for i in range(12)
    )
    engine = MujocoEngine(f'<mujoco><size memory="50K"/><worldbody>{balls}</worldbody></mujoco>')
    with pytest.raises(ModelError, match="FULL"):
        engine.step()


BOX = """
<mujoco><option timestep="0.001" cone="elliptic" impratio="10"/><worldbody>
  <geom name="floor" type="plane" size="5 5 0.1"/>
  <body name="box" pos="0 0 0.05"><freejoint/>
    <geom name="box" type="box" size="0.1 0.1 0.05" mass="1"/></body>
</worldbody><contact><pair geom1="floor" geom2="box" condim="3"/></contact></mujoco>"""


def test_a_bouncy_pair_keeps_its_friction() -> None:
    engine = MujocoEngine(BOX)
    engine.set_friction(("box", "world"), 0.4)
    engine.set_restitution(("box", "world"), 0.9)
    engine.set_stiffness(("box", "world"), 5e5)
    assert engine.restitution(("world", "box")) == pytest.approx(0.9)
    assert engine.stiffness(("world", "box")) == pytest.approx(5e5)
    engine.step(3000)
    start = engine.pose("box").position[0]
    engine.set_twist("box", Twist((1.0, 0.0, 0.0)))
    engine.step(600)
    assert engine.pose("box").position[0] - start == pytest.approx(1.0 / (0.8 * 9.81), rel=0.03)


def test_what_mujoco_cannot_represent_is_refused_with_a_reason() -> None:
    engine = MujocoEngine(JOINTS)
    with pytest.raises(UnsupportedPropertyError, match="stiffness of body 'ball'"):
        engine.set_stiffness("ball", 1e5)
    with pytest.raises(UnsupportedPropertyError, match="restitution of bodies"):
        engine.set_restitution(("ball", "hand"), 0.5)
    with pytest.raises(UnsupportedPropertyError, match="friction of bodies"):
        engine.set_friction(("ball", "hand"), 0.5)
    engine = MujocoEngine(BOX)
    with pytest.raises(UnsupportedPropertyError, match="infinity"):
        engine.set_stiffness(("box", "world"), math.inf)
    with pytest.raises(UnsupportedPropertyError, match="rebounds"):
        engine.set_restitution(("box", "world"), 0.0)


@pytest.mark.parametrize("seed", range(6))
def test_properties_of_ordinary_contacts_are_those_that_mujoco_mixes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    geoms = [
        f'<geom size="0.1" mass="1" friction="{rng.uniform(0.1, 1)}" priority="{rng.integers(2)}" '
        f'solmix="{rng.uniform(0.1, 2)}" solref="{rng.uniform(0.01, 0.05)} {rng.uniform(0.3, 2)}" '
        f'solimp="{rng.uniform(0.5, 0.8)} {rng.uniform(0.8, 0.95)}"/>'
        for _ in range(2)
    ]
    engine = MujocoEngine(
        f"""<mujoco><worldbody><body name="a"><freejoint/>{geoms[0]}</body>
        <body name="b" pos="0.19 0 0"><freejoint/>{geoms[1]}</body></worldbody></mujoco>"""
    )
    mujoco.mj_forward(engine.model, engine.data)
    (contact,) = engine.data.contact
    assert engine.friction(("a", "b")) == pytest.approx(contact.friction[0])
    time_constant, ratio = contact.solref
    rate = 1.0 / (time_constant * ratio) ** 2
    impedance, widest = contact.solimp[:2]
    expected = 0.5 * rate * (impedance / widest) ** 2 / (1.0 - impedance)
    assert engine.stiffness(("a", "b")) == pytest.approx(expected)


def test_the_dense_jacobian_is_used_where_the_sparse_one_is_wrong() -> None:
    engine = MujocoEngine(JOINTS)
    if mujoco.__version__ == "4.0.0":
        assert engine.model.opt.jacobian == mujoco.mjtJacobian.mjJAC_DENSE


def test_models_come_from_text_paths_and_models(tmp_path: Path) -> None:
    path = tmp_path / "scene.xml"
    path.write_text(JOINTS)
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    for engine in (MujocoEngine(path), MujocoEngine(str(path)), MujocoEngine(model, data=data)):
        assert engine.body_names == ("world", "cart", "arm", "cap", "hand", "ball")
    assert engine.data is data
    with pytest.raises(ModelError, match=r"absent\.xml"):
        MujocoEngine(tmp_path / "absent.xml")
    path.write_text("<mujoco><worldbody><geom/></worldbody>")
    with pytest.raises(ModelError, match=r"scene\.xml"):
        MujocoEngine(path)
    with pytest.raises(ModelError, match="int"):
        MujocoEngine(3)


def test_a_snapshot_of_another_model_is_refused() -> None:
    with pytest.raises(ModelError, match="snapshot"):
        MujocoEngine(JOINTS).restore(MujocoEngine(BOX).snapshot())
