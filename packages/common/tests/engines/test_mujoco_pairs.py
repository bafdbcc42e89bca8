from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

mujoco = pytest.importorskip("mujoco")

from contactworks.common.engine import UnsupportedPropertyError  # noqa: E402
from contactworks.common.engines._mujoco_pairs import (  # noqa: E402
    PairSwitches,
    candidate_geoms,
)
from contactworks.common.engines.mujoco import MujocoEngine  # noqa: E402
from contactworks.common.errors import ModelError  # noqa: E402
from contactworks.common.poses import Pose, Twist  # noqa: E402

BODIES = 5


def crowd(masks: list[tuple[int, int]]) -> str:
    """Return bodies with two spheres each at one place; the masks are (contype, conaffinity)."""
    bodies = []
    for i in range(BODIES):
        geoms = "".join(
            f'<geom type="sphere" size="0.1" contype="{c}" conaffinity="{a}"/>'
            for c, a in masks[2 * i : 2 * i + 2]
        )
        bodies.append(f'<body name="b{i}"><freejoint/>{geoms}</body>')
    return f"<mujoco><worldbody>{''.join(bodies)}</worldbody></mujoco>"


def touching(model: object) -> set[tuple[int, int]]:
    """Return the pairs of geoms that MuJoCo itself finds in contact."""
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return {tuple(sorted(int(g) for g in contact.geom)) for contact in data.contact}


pairs_of_bodies = st.sampled_from(list(itertools.combinations(range(1, BODIES + 1), 2)))
mask = st.tuples(st.integers(0, 3), st.integers(0, 3))


@settings(max_examples=60, deadline=None)
@given(st.lists(mask, min_size=2 * BODIES, max_size=2 * BODIES), st.frozensets(pairs_of_bodies))
def test_exactly_the_chosen_pairs_fall_silent(
    masks: list[tuple[int, int]], off: frozenset[tuple[int, int]]
) -> None:
    model = mujoco.MjModel.from_xml_string(crowd(masks))
    before = touching(model)
    fields = ("geom_contype", "geom_conaffinity")
    kept = [getattr(model, field).copy() for field in fields]
    switches = PairSwitches(model)
    switches.set_off(off)
    owner = model.geom_bodyid
    expected = {
        (g, h) for g, h in before if tuple(sorted((int(owner[g]), int(owner[h])))) not in off
    }
    assert touching(model) == expected
    switches.set_off(frozenset())
    assert all(np.array_equal(getattr(model, f), k) for f, k in zip(fields, kept, strict=True))


@settings(max_examples=40, deadline=None)
@given(st.lists(mask, min_size=2 * BODIES, max_size=2 * BODIES))
def test_candidates_are_the_geoms_that_mujoco_lets_meet(masks: list[tuple[int, int]]) -> None:
    model = mujoco.MjModel.from_xml_string(crowd(masks))
    found = {
        pair
        for bodies in itertools.combinations(range(1, BODIES + 1), 2)
        for pair in candidate_geoms(model, bodies, model.geom_contype, model.geom_conaffinity)
    }
    assert found == touching(model)


def test_too_few_bits_is_an_error_and_changes_nothing() -> None:
    masks = [(0x3FFFFFFF, 0x3FFFFFFF)] * (2 * BODIES)
    model = mujoco.MjModel.from_xml_string(crowd(masks))
    before = touching(model)
    switches = PairSwitches(model)
    switches.set_off(frozenset({(1, 2)}))  # one bit is left
    with pytest.raises(UnsupportedPropertyError, match="free bits"):
        switches.set_off(frozenset({(1, 2), (3, 4)}))
    assert switches.off == {(1, 2)}
    switches.set_off(frozenset())
    assert touching(model) == before


SCENE = """
<mujoco><option gravity="0 0 0" timestep="0.001"/><worldbody>
  <geom name="floor" type="plane" size="2 2 0.1"/>
  <body name="a" pos="0 0 1"><freejoint/><geom name="ga" size="0.1" mass="1"/></body>
  <body name="b" pos="0.3 0 1"><freejoint/><geom name="gb" size="0.1" mass="1"/></body>
  <body name="c" pos="0.6 0 1"><freejoint/><geom name="gc" size="0.1" mass="1"/></body>
</worldbody><contact>
  <pair name="z" geom1="gc" geom2="ga" solref="0.004 0.5"/>
  <pair name="y" geom1="gb" geom2="ga" margin="0.01" friction="0.3 0.3 0 0 0"/>
  <exclude body1="b" body2="c"/>
</contact></mujoco>"""


def test_explicit_pairs_are_found_by_name_silenced_and_brought_back() -> None:
    engine = MujocoEngine(SCENE)
    # MuJoCo sorts pairs when it compiles, so that their ids are not those of the file.
    assert [engine.model.pair(i).name for i in range(2)] == ["y", "z"]
    assert engine.friction(("a", "b")) == 0.3
    engine.set_friction(("c", "a"), 0.7)
    assert engine.model.pair("z").friction[:2] == pytest.approx([0.7, 0.7])
    assert engine.model.pair("y").friction[:2] == pytest.approx([0.3, 0.3])
    engine.set_contact_enabled("a", "b", False)
    engine.watch("a", "b", 0.05)
    engine.set_pose("a", Pose((0.25, 0.0, 1.0)))  # deep in b
    engine.step(50)
    contact = engine.contact("a", "b")
    assert contact is not None
    assert contact.gap == pytest.approx(-0.15, abs=1e-6)
    assert np.array_equal(engine.twist("b").to_vector(), np.zeros(6))
    engine.set_contact_enabled("a", "b", True)
    assert engine.model.pair("y").margin == 0.01
    assert engine.model.pair("y").gap == 0.0
    engine.step()
    assert engine.twist("b").linear[0] > 0.0


def test_pairs_that_the_model_keeps_apart_are_not_watched() -> None:
    engine = MujocoEngine(SCENE)
    assert not engine.contact_enabled("b", "c")
    with pytest.raises(ModelError, match="'b' and 'c'"):
        engine.watch("b", "c", 0.01)
    with pytest.raises(ModelError, match="cannot be switched on"):
        engine.set_contact_enabled("c", "b", True)


def test_the_nearest_of_several_geoms_counts() -> None:
    engine = MujocoEngine("""
    <mujoco><worldbody>
      <body name="cross" pos="0 0 1"><freejoint/>
        <geom type="box" size="0.1 0.1 0.1"/><geom type="sphere" size="0.05" pos="0 0.3 0"/>
        <geom type="sphere" size="1" contype="0" conaffinity="0"/></body>
      <body name="ball" pos="0 0.5 1"><freejoint/><geom type="sphere" size="0.1"/></body>
    </worldbody></mujoco>""")
    engine.watch("cross", "ball", 0.2)
    contact = engine.contact("cross", "ball")
    assert contact is not None
    assert contact.gap == pytest.approx(0.05, abs=1e-6)  # the small sphere, not the ghost
    engine.set_pose("ball", Pose((0.25, 0.0, 1.0)))
    contact = engine.contact("cross", "ball")
    assert contact is not None
    assert contact.gap == pytest.approx(0.05, abs=1e-6)  # the box
    assert contact.normal == pytest.approx([1.0, 0.0, 0.0], abs=1e-6)
    assert contact.point == pytest.approx([0.125, 0.0, 1.0], abs=1e-6)


@pytest.mark.parametrize("gap", [1e-3, 1e-6, 1e-7, 0.0, -1e-7, -1e-6, -1e-3])
def test_the_normal_holds_through_onset_between_convex_shapes(gap: float) -> None:
    # MuJoCo's own segment of closest points flips or vanishes at some of these.
    segments, radius, tip = 64, 0.05, 0.01
    arc = np.linspace(0.0, np.pi, segments + 1)
    rim = radius * np.column_stack([np.cos(arc), np.sin(arc)])
    vertices = " ".join(f"{x!s} {y!s} {z}" for x, y in rim for z in (-0.02, 0.02))
    engine = MujocoEngine(f"""
    <mujoco><asset><mesh name="m" vertex="{vertices}"/></asset><worldbody>
      <body name="block"><freejoint/><geom type="mesh" mesh="m"/></body>
      <body name="tip"><freejoint/><geom type="cylinder" size="{tip} 0.02"/></body>
    </worldbody></mujoco>""")
    engine.watch("block", "tip", 0.01)
    for facet in range(20, 44):
        angle = np.pi * (facet + 0.5) / segments
        normal = np.array([np.cos(angle), np.sin(angle), 0.0])
        distance = radius * np.cos(0.5 * np.pi / segments) + tip + gap
        engine.set_pose("tip", Pose(distance * normal + [0.0, 0.0, 0.01]))
        contact = engine.contact("block", "tip")
        assert contact is not None
        assert contact.gap == pytest.approx(gap, abs=1e-6)
        assert contact.normal == pytest.approx(normal, abs=2e-3)


def test_a_host_that_steps_by_itself_sees_the_current_contact() -> None:
    engine = MujocoEngine(SCENE)
    engine.set_contact_enabled("a", "b", False)
    engine.watch("a", "b", 0.5)
    engine.set_twist("a", Twist((1.0, 0.0, 0.0)))
    mujoco.mj_step(engine.model, engine.data, nstep=40)
    contact = engine.contact("a", "b")
    assert contact is not None
    assert contact.gap == pytest.approx(0.06, abs=1e-6)
