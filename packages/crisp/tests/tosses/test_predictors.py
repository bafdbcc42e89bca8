"""Predictions of both engines, where the answer is known or the two must agree."""

from __future__ import annotations

import numpy as np
import pytest

from contactworks.common.rotations import quaternion_exp, quaternion_multiply, rotate
from contactworks.crisp.tosses.crisp_predictor import CrispPredictor
from contactworks.crisp.tosses.mujoco_predictor import MUJOCO_DEFAULTS, MujocoPredictor
from contactworks.crisp.tosses.predictor import Predictor
from contactworks.crisp.tosses.window import Window

DT = 1 / 148
HALF = 0.05
CENTER = np.array([0.004, -0.002, 0.006])
PREDICTORS: list[Predictor] = [CrispPredictor(True), MujocoPredictor(has_mass_center=True)]
IDS = ["crisp", "mujoco"]


def start(height: float, velocity: list[float], spin: list[float], frames: int = 20) -> Window:
    position = np.full((1, frames + 1, 3), np.nan)
    quaternion = np.full((1, frames + 1, 4), np.nan)
    position[0, 0], quaternion[0, 0] = [0.0, 0.0, height], [1.0, 0.0, 0.0, 0.0]
    return Window(
        position=position,
        quaternion=quaternion,
        linear_velocity=np.array([velocity]),
        angular_velocity=np.array([spin]),
        frames=np.array([frames]),
        dt=DT,
        half_width=HALF,
        mass=0.37,
    )


def values(predictor: Predictor, **changes: float) -> dict[str, float]:
    found = dict(zip(predictor.space.names, predictor.space.initial, strict=True))
    return {name: float(value) for name, value in found.items()} | changes


def centered() -> dict[str, float]:
    return {f"mass_center_{axis}": float(CENTER[i]) for i, axis in enumerate("xyz")}


@pytest.mark.parametrize("predictor", PREDICTORS, ids=IDS)
def test_flight_about_a_shifted_mass_center(predictor: Predictor) -> None:
    # The inertia is isotropic about the centre of mass: it falls, and the body turns steadily.
    spin, velocity = np.array([2.0, -3.0, 4.0]), np.array([1.0, 0.5, 0.2])
    seen = start(1.0, velocity.tolist(), spin.tolist())
    motion = predictor.predict(seen, values(predictor, **centered()))
    time = DT * np.arange(21)[:, None]
    turn = quaternion_exp(spin * time)  # about fixed axes, as the spin does not change
    begin = np.array([0.0, 0.0, 1.0]) + CENTER
    center = begin + (velocity + np.cross(spin, CENTER)) * time
    center[:, 2] -= 0.5 * 9.81 * time[:, 0] ** 2
    expected = center - rotate(turn, np.broadcast_to(CENTER, (21, 3)))
    # The first-order integrators are off by g t dt / 2.
    np.testing.assert_allclose(motion.position[0], expected, atol=9.81 * 20 * DT * DT / 7)
    difference = quaternion_multiply(motion.quaternion[0] * [1, -1, -1, -1], turn)
    np.testing.assert_allclose(np.abs(difference[:, 0]), 1.0, atol=1e-6)


@pytest.mark.parametrize("predictor", PREDICTORS, ids=IDS)
def test_cube_comes_to_rest_on_the_table(predictor: Predictor) -> None:
    seen = start(HALF + 0.02, [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], frames=120)
    motion = predictor.predict(seen, values(predictor, table_height=0.003))
    # Springs: both engines sink a little under the weight.
    assert motion.position[0, -1, 2] == pytest.approx(HALF + 0.003, abs=5e-4)
    np.testing.assert_allclose(motion.quaternion[0, -1], [1, 0, 0, 0], atol=1e-3)
    assert motion.unconverged_steps == 0


@pytest.mark.parametrize("predictor", PREDICTORS, ids=IDS)
def test_cube_slides_as_far_as_friction_lets_it(predictor: Predictor) -> None:
    seen = start(HALF, [1.0, 0.0, 0.0], [0.0, 0.0, 0.0], frames=80)
    motion = predictor.predict(seen, values(predictor, friction=0.25))
    assert motion.position[0, -1, 0] == pytest.approx(1.0 / (2 * 0.25 * 9.81), rel=0.04)


@pytest.mark.parametrize("side", [1.0, -1.0])
@pytest.mark.parametrize("predictor", PREDICTORS, ids=IDS)
def test_cube_on_its_edge_falls_to_its_heavier_side(predictor: Predictor, side: float) -> None:
    seen = start(np.sqrt(2.0) * HALF, [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], frames=60)
    seen.quaternion[0, 0] = quaternion_exp([0.0, np.pi / 4.0, 0.0])
    motion = predictor.predict(seen, values(predictor, mass_center_x=0.006 * side))
    # The upper edge, above the centre at the start, tips towards the body's x side.
    top = rotate(motion.quaternion[0, -1], [-1.0, 0.0, 1.0])
    assert np.sign(top[0]) == side
    assert motion.position[0, -1, 2] == pytest.approx(HALF, abs=0.01)


def test_engines_agree_before_the_second_impact() -> None:
    seen = start(HALF + 0.06, [0.8, 0.0, -0.5], [0.0, 0.0, 0.0], frames=12)
    crisp, mujoco = PREDICTORS
    a = crisp.predict(seen, values(crisp, friction=0.2, restitution=0.0, stiffness=1e5))
    b = mujoco.predict(seen, values(mujoco, friction=0.2, time_constant=0.003, damping_ratio=1.0))
    np.testing.assert_allclose(a.position, b.position, atol=0.004)


def test_repeated_prediction_is_bitwise_the_same() -> None:
    seen = start(HALF + 0.05, [0.5, 0.3, -1.0], [3.0, 2.0, 1.0], frames=40)
    first, second = (PREDICTORS[0].predict(seen, values(PREDICTORS[0])) for _ in range(2))
    assert first.position.tobytes() == second.position.tobytes()


def test_toss_does_not_depend_on_its_neighbours() -> None:
    one = start(HALF + 0.05, [0.5, 0.3, -1.0], [3.0, 2.0, 1.0], frames=30)
    two = start(HALF + 0.08, [-0.5, 0.3, -1.0], [3.0, -2.0, 1.0], frames=30)
    both = Window(
        position=np.concatenate([two.position, one.position]),
        quaternion=np.concatenate([two.quaternion, one.quaternion]),
        linear_velocity=np.concatenate([two.linear_velocity, one.linear_velocity]),
        angular_velocity=np.concatenate([two.angular_velocity, one.angular_velocity]),
        frames=np.array([30, 30]),
        dt=DT,
        half_width=HALF,
        mass=0.37,
    )
    for predictor in PREDICTORS:
        alone = predictor.predict(one, values(predictor)).position[0]
        np.testing.assert_array_equal(predictor.predict(both, values(predictor)).position[1], alone)


def test_mujoco_defaults_are_those_of_mujoco() -> None:
    mujoco = pytest.importorskip("mujoco")
    model = mujoco.MjModel.from_xml_string(
        "<mujoco><worldbody><geom type='plane' size='1 1 1'/></worldbody></mujoco>"
    )
    assert MUJOCO_DEFAULTS["friction"] == model.geom_friction[0, 0]
    assert MUJOCO_DEFAULTS["time_constant"] == model.geom_solref[0, 0]
    assert MUJOCO_DEFAULTS["damping_ratio"] == model.geom_solref[0, 1]
    assert model.opt.cone == mujoco.mjtCone.mjCONE_PYRAMIDAL
    assert set(MUJOCO_DEFAULTS) == set(MujocoPredictor().space.names)
