"""crisp satisfies the engine protocol: the conformance checks of common, on models from MJCF."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from contactworks import crisp
from contactworks.common import engine as protocol
from contactworks.common.engine_conformance import CHECKS
from contactworks.common.errors import ModelError
from contactworks.crisp.engine import CrispEngine

_SHAPES = {
    int(mujoco.mjtGeom.mjGEOM_PLANE): lambda size: crisp.Plane(),
    int(mujoco.mjtGeom.mjGEOM_SPHERE): lambda size: crisp.Sphere(size[0]),
    int(mujoco.mjtGeom.mjGEOM_BOX): lambda size: crisp.Box(tuple(size)),
}


def from_mjcf(text: str) -> CrispEngine:
    """Free bodies and primitive geoms of a MuJoCo model, with MuJoCo's rule for friction."""
    source = mujoco.MjModel.from_xml_string(text)
    options = crisp.Options(
        timestep=source.opt.timestep, gravity=tuple(source.opt.gravity), friction_rule="max"
    )
    builder = crisp.ModelBuilder(options)
    bodies = [builder.world]
    for i in range(1, source.nbody):
        turn = np.zeros(9)
        mujoco.mju_quat2Mat(turn, source.body_iquat[i])
        frame = turn.reshape(3, 3)
        bodies.append(
            builder.add_body(
                source.body(i).name,
                position=source.body_pos[i],
                quaternion=source.body_quat[i],
                mass=source.body_mass[i],
                inertia=frame @ np.diag(source.body_inertia[i]) @ frame.T,
                center_of_mass=source.body_ipos[i],
            )
        )
    for i in range(source.ngeom):
        bodies[source.geom_bodyid[i]].add_geom(
            _SHAPES[int(source.geom_type[i])](source.geom_size[i]),
            position=source.geom_pos[i],
            quaternion=source.geom_quat[i],
            friction=source.geom_friction[i, 0],
        )
    return CrispEngine(builder)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_conformance(check):
    check(from_mjcf)


def test_is_found_by_name():
    assert protocol.load("crisp") is CrispEngine


def test_satisfies_the_protocol():
    builder = crisp.ModelBuilder()
    builder.add_body("ball").add_geom(crisp.Sphere(0.1))
    assert isinstance(CrispEngine(builder), protocol.Engine)


def test_other_sources_are_refused():
    with pytest.raises(ModelError, match=r"got a str, expected a Model"):
        CrispEngine("scene.xml")


def test_pair_law_wins_over_geoms_and_is_symmetric():
    builder = crisp.ModelBuilder(crisp.Options(timestep=0.002))
    builder.world.add_geom(crisp.Plane(), friction=0.9)
    builder.add_body("box", position=(0, 0, 0.05)).add_geom(
        crisp.Box((0.05, 0.05, 0.05)), friction=0.4
    )
    engine = CrispEngine(builder)
    assert engine.friction(("box", "world")) == pytest.approx(0.6)  # geometric mean
    engine.set_friction(("world", "box"), 0.25)
    assert engine.friction(("box", "world")) == 0.25
    assert engine.friction("box") == 0.4
    engine.set_twist("box", protocol.Twist((1.0, 0.0, 0.0)))
    engine.step(50)
    assert engine.twist("box").linear[0] == pytest.approx(1.0 - 0.25 * 9.81 * 0.1, abs=1e-9)
