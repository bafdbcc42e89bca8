from __future__ import annotations

import math
from typing import Any

import mujoco
import numpy as np
import pytest

from contactworks.clash.scene import (
    PARAMETER_COLUMNS,
    PRE_COLUMNS,
    ImpactBlock,
    StrikeOptions,
    StrikeScene,
)
from contactworks.common.engines.mujoco import MujocoEngine
from contactworks.common.errors import ModelError, ShapeError
from contactworks.common.inertia import MassProperties
from contactworks.common.records import to_jsonable


def test_ranges_are_those_of_the_paper() -> None:
    scene = StrikeScene()
    assert scene.parameter_space.names == tuple(PARAMETER_COLUMNS)
    assert scene.parameter_space.lower == pytest.approx([0.05, 0.02, 0.1, 0.1])
    assert scene.parameter_space.upper == pytest.approx([1.0, 1.0, 3.0, 3.0])
    assert scene.state_space.names == tuple(PRE_COLUMNS)[:3]
    assert scene.state_space.lower == pytest.approx([0.2, math.pi / 12, -math.pi / 12])
    assert scene.state_space.upper == pytest.approx([0.8, 11 * math.pi / 12, math.pi / 12])


def test_samples_fill_the_ranges_and_shorter_ones_are_their_beginnings() -> None:
    scene = StrikeScene()
    pre, parameters = scene.sample(4000, rng=5)
    for values, space in ((pre[:, :3], scene.state_space), (parameters, scene.parameter_space)):
        unit = space.normalize(values)
        assert unit.mean(axis=0) == pytest.approx(0.5, abs=0.03)
        assert unit.std(axis=0) == pytest.approx(1.0 / math.sqrt(12.0), abs=0.02)
    assert np.abs(pre[:, 3:]).max() <= 0.1
    assert np.abs(np.corrcoef(np.hstack([pre, parameters]).T) - np.eye(9)).max() < 0.08
    short = scene.sample(17, rng=5)
    assert np.array_equal(short[0], pre[:17])
    assert np.array_equal(short[1], parameters[:17])


def test_the_model_has_the_mass_of_the_object_and_named_pairs() -> None:
    mass = MassProperties(0.4, (0.0, 0.0, 0.0), np.diag([1e-4, 3e-4, 3.5e-4]))
    scene = StrikeScene(mass_properties=mass, block=ImpactBlock(mass=1.5, radius=0.02))
    model = scene.model()
    assert model.body("object").mass[0] == pytest.approx(0.4)
    assert sorted(model.body("object").inertia) == pytest.approx([1e-4, 3e-4, 3.5e-4])
    assert model.body("block").mass[0] == pytest.approx(1.5)
    for name, geoms in (
        ("block-object", {"block", "object"}),
        ("object-ground", {"object", "ground"}),
    ):
        pair = model.pair(name)
        assert {model.geom(int(g)).name for g in (pair.geom1[0], pair.geom2[0])} == geoms
    assert model.opt.jacobian == mujoco.mjtJacobian.mjJAC_DENSE


def test_the_centre_of_mass_of_the_mesh_is_the_origin_of_the_body() -> None:
    model = StrikeScene().model()
    # MuJoCo moves a mesh to its own centre of mass and keeps where that was.
    assert model.geom("object").pos == pytest.approx([0.0, 0.0, 0.0], abs=2e-5)
    default = StrikeScene().mass_properties
    assert model.body("object").mass[0] == pytest.approx(default.mass)
    assert sorted(model.body("object").inertia) == pytest.approx(sorted(np.diag(default.inertia)))


@pytest.mark.parametrize("theta_deg", [15.0, 41.3, 90.0, 90.7, 133.0, 165.0])
@pytest.mark.parametrize("theta1_deg", [-15.0, 0.0, 11.0])
def test_a_strike_begins_just_before_touch(theta_deg: float, theta1_deg: float) -> None:
    scene = StrikeScene()
    theta, theta1 = np.radians([theta_deg, theta1_deg])
    qpos, qvel = scene.initial_states([[0.6, theta, theta1, 0.03, -0.07]])
    engine = MujocoEngine(scene.model())
    engine.data.qpos[:], engine.data.qvel[:] = qpos[0], qvel[0]
    engine.watch("block", "object", 1e-3)
    engine.watch("object", "world", 1e-3)
    contact = engine.contact("block", "object")
    assert contact is not None
    assert contact.gap == pytest.approx(2e-6, abs=1e-6)
    inward = -np.array([math.cos(theta), math.sin(theta), 0.0])
    # The normal is that of a facet, 2.8° wide.
    assert contact.normal @ inward > math.cos(math.radians(1.6))
    # The tip goes on by up to the sagitta of a facet, and so aside where it is deflected.
    aim = [0.03, -0.07 - 4 * 0.05 / (3 * math.pi)] - 0.05 * inward[:2]
    assert contact.point[:2] == pytest.approx(aim, abs=1.5e-3)
    velocity = engine.twist("block").linear
    assert np.linalg.norm(velocity) == pytest.approx(0.6)
    turned = math.atan2(np.cross(inward, velocity)[2], inward @ velocity)
    assert turned == pytest.approx(theta1)
    resting = engine.contact("object", "world")
    assert resting is not None
    assert resting.gap == pytest.approx(0.0, abs=1e-9)
    assert engine.pose("object").position[:2] == pytest.approx([0.03, -0.07])


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: StrikeScene("hexagon"), "hexagon"),
        (lambda: StrikeScene(density=-1.0), "density"),
        (lambda: ImpactBlock(mass=0.0), "mass"),
        (lambda: ImpactBlock(radius=math.nan), "radius"),
        (lambda: StrikeOptions(timestep=3e-3), "half the time constant"),
        (lambda: StrikeOptions(impedance=1.0), "impedance"),
        (lambda: StrikeOptions(clear_states=0), "clear_states"),
        (lambda: StrikeOptions(placement=-0.1), "placement"),
        (
            lambda: StrikeScene(
                mass_properties=MassProperties(1.0, (0.01, 0.0, 0.0), (1e-3, 1e-3, 1e-3))
            ),
            "centre of mass",
        ),
        (lambda: StrikeScene().sample(-1), "count"),
        (lambda: StrikeScene().initial_states([[0.0, 1.0, 0.0, 0.0, 0.0]]), "speed"),
    ],
)
def test_wrong_values_are_refused(make: Any, text: str) -> None:
    with pytest.raises(ModelError, match=text):
        make()


def test_states_of_another_shape_are_refused() -> None:
    with pytest.raises(ShapeError, match="pre"):
        StrikeScene().initial_states(np.zeros((3, 4)))
    with pytest.raises(ShapeError, match="pre"):
        StrikeScene().initial_states(np.ones(5))


def test_the_description_is_plain_and_tells_scenes_apart() -> None:
    plain = StrikeScene().description()
    assert to_jsonable(plain) == plain
    others = (
        StrikeScene(density=900.0),
        StrikeScene(block=ImpactBlock(mass=1.0)),
        StrikeScene(options=StrikeOptions(timestep=1e-3)),
    )
    assert all(other.description() != plain for other in others)
