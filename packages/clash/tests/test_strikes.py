"""Physics of a strike."""

from __future__ import annotations

import math

import numpy as np
import pytest

from contactworks.clash._strikes import StrikeBatch, kinetic_energy, post_states
from contactworks.clash.collection import simulate
from contactworks.clash.dataset import CollisionDataset, CollisionStatus
from contactworks.clash.scene import ImpactBlock, StrikeOptions, StrikeScene

RADIUS = 0.05
SCENE = StrikeScene()


def scaled(data: CollisionDataset) -> np.ndarray:
    return np.asarray(data.post[:, :3] * [1.0, 1.0, RADIUS])


def relative(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    return np.asarray(np.linalg.norm(first - second, axis=1) / np.linalg.norm(second, axis=1))


def integrated_restitution(ratio: float) -> float:
    """Return the rebound of x'' + 2 z x' + x = 0 where the force may not pull, by small steps."""
    position, speed, step = 0.0, 1.0, 1e-5
    while 2.0 * ratio * speed + position > 0.0:
        middle = speed - 0.5 * step * (2.0 * ratio * speed + position)
        position += step * middle
        speed = middle - 0.5 * step * (2.0 * ratio * middle + position)
    return -speed


@pytest.mark.parametrize("theta_deg", [30.0, 75.0, 90.0, 140.0])
@pytest.mark.parametrize("damping", [0.2, 0.6])
def test_a_frictionless_strike_follows_the_law_of_impact(theta_deg: float, damping: float) -> None:
    """One impulse along the normal, with the restitution of the damping ratio."""
    options = StrikeOptions(timestep=2.5e-5, gravity=0.0)
    scene = StrikeScene(options=options)
    theta, speed = math.radians(theta_deg), 0.5
    data = simulate(scene, [[speed, theta, 0.0, 0.0, 0.0]], [[0.0, 0.0, damping, 1.0]])
    normal = -np.array([math.cos(theta), math.sin(theta)])
    lever = np.array([0.0, -4.0 * RADIUS / (3.0 * math.pi)]) - RADIUS * normal
    arm = lever[0] * normal[1] - lever[1] * normal[0]
    mass = scene.mass_properties
    inertia = mass.inertia[2, 2]
    effective = 1.0 / (1.0 / scene.block.mass + 1.0 / mass.mass + arm**2 / inertia)
    impulse = effective * (1.0 + integrated_restitution(damping)) * speed
    expected = [*(impulse / mass.mass * normal), RADIUS * impulse * arm / inertia]
    assert data.counts()["separated"] == 1
    size = np.linalg.norm(expected)
    # Facets turn the normal by up to 1.4°, and the object turns a little while it is struck.
    assert np.linalg.norm(scaled(data)[0] - expected) < 0.04 * size


def test_momentum_is_kept_where_the_ground_does_not_rub() -> None:
    pre, parameters = SCENE.sample(100, rng=1)
    parameters[:, 1] = 0.0
    outcome = StrikeBatch(SCENE, 100, 2).run(pre, parameters)
    _, before = SCENE.initial_states(pre)
    mass, block = SCENE.mass_properties.mass, SCENE.block.mass
    momentum = mass * outcome.qvel[:, :2] + block * outcome.qvel[:, 6:8]
    # MuJoCo takes no friction below 1e-5.
    assert momentum == pytest.approx(block * before[:, 6:8], abs=5e-6)


def test_the_ground_only_takes_momentum_and_energy() -> None:
    pre, parameters = SCENE.sample(300, rng=2)
    outcome = StrikeBatch(SCENE, 300, 2).run(pre, parameters)
    _, before = SCENE.initial_states(pre)
    assert (outcome.status != CollisionStatus.UNSTABLE).all()
    ratio = kinetic_energy(SCENE, outcome.qvel) / kinetic_energy(SCENE, before)
    assert (ratio < 1.0).all()
    assert ratio.min() > 0.3  # the heavy block goes on
    mass, block = SCENE.mass_properties.mass, SCENE.block.mass
    struck = block * (before[:, 6:8] - outcome.qvel[:, 6:8])
    lost = np.linalg.norm(struck - mass * outcome.qvel[:, :2], axis=1)
    # Coulomb's law at the ground.  Its normal impulse is the weight, what lifted the object, and
    # what the block, which cannot give way upwards, presses down by friction.
    pressed = mass * 9.81 * outcome.elapsed + mass * np.maximum(outcome.qvel[:, 2], 0.0)
    pressed += parameters[:, 0] * np.linalg.norm(struck, axis=1)
    assert (lost <= 1.02 * parameters[:, 1] * pressed).all()


def test_the_mirrored_strike_gives_the_mirrored_outcome() -> None:
    pre, parameters = SCENE.sample(200, rng=3)
    parameters[:, 1] = 0.0
    mirrored = pre * [1.0, -1.0, -1.0, -1.0, 1.0] + [0.0, math.pi, 0.0, 0.0, 0.0]
    first = scaled(simulate(SCENE, pre, parameters))
    second = scaled(simulate(SCENE, mirrored, parameters)) * [-1.0, 1.0, -1.0]
    error = relative(second, first)
    assert np.median(error) < 2e-3
    assert np.quantile(error, 0.95) < 0.05


def test_velocities_scale_with_the_speed_where_weight_does_not_matter() -> None:
    scene = StrikeScene(options=StrikeOptions(gravity=0.0))
    pre, parameters = scene.sample(200, rng=4)
    pre[:, 0] = 0.25
    slow = simulate(scene, pre, parameters)
    fast = simulate(scene, pre * [2.0, 1.0, 1.0, 1.0, 1.0], parameters)
    both = slow.is_separated & fast.is_separated
    assert both.mean() > 0.9
    error = relative(scaled(fast)[both], 2.0 * scaled(slow)[both])
    assert np.median(error) < 5e-3
    assert np.quantile(error, 0.9) < 0.05
    assert np.median(np.abs(fast.post[both, 6] - slow.post[both, 6])) <= 5e-4


def test_where_the_object_lies_does_not_matter() -> None:
    scene = StrikeScene(options=StrikeOptions(gravity=0.0))
    pre, parameters = scene.sample(50, rng=5)
    moved = pre + [0.0, 0.0, 0.0, 0.31, -0.17]
    error = relative(
        scaled(simulate(scene, moved, parameters)), scaled(simulate(scene, pre, parameters))
    )
    assert np.median(error) < 1e-3


def test_the_state_after_is_that_of_the_object_in_the_world() -> None:
    pre, parameters = SCENE.sample(50, rng=6)
    outcome = StrikeBatch(SCENE, 50, 1).run(pre, parameters)
    post = post_states(outcome, pre)
    model = SCENE.model()
    import mujoco

    data = mujoco.MjData(model)
    for row in range(50):
        data.qpos[:], data.qvel[:] = outcome.qpos[row], outcome.qvel[row]
        mujoco.mj_forward(model, data)
        velocity = np.zeros(6)
        body = model.body("object").id
        mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_XBODY, body, velocity, 0)
        assert post[row, 0:2] == pytest.approx(velocity[3:5], abs=1e-12)
        assert post[row, 2] == pytest.approx(velocity[2], abs=1e-12)
        assert post[row, 3:5] == pytest.approx(data.xpos[body, :2] - pre[row, 3:5], abs=1e-12)
        axis = data.xmat[body].reshape(3, 3)[:, 0]
        assert post[row, 5] == pytest.approx(math.atan2(axis[1], axis[0]), abs=1e-12)


def test_displacement_turn_and_time_belong_to_the_velocities() -> None:
    """In contact the object speeds up from rest, so it goes less far than at its final speed."""
    pre, parameters = SCENE.sample(300, rng=7)
    parameters[:, 1] = 0.0
    data = simulate(SCENE, pre, parameters)
    post = data.post[data.is_separated]
    velocity = post[:, :2]
    along = np.einsum("ni,ni->n", post[:, 3:5], velocity) / np.linalg.norm(velocity, axis=1) ** 2
    share = along / post[:, 6]
    assert share.min() > 0.2
    assert share.max() < 1.05
    assert (post[:, 6] > 0.0).all()
    turning = np.abs(post[:, 2]) > 1.0
    assert (np.sign(post[turning, 5]) == np.sign(post[turning, 2])).mean() > 0.98


def test_parameters_reach_the_pairs_that_they_belong_to() -> None:
    pre, parameters = SCENE.sample(3, rng=10)
    batch = StrikeBatch(SCENE, 5, 1)
    batch.run(pre, parameters)
    for row in range(3):
        model = batch._batch.get_model(row)
        for pair, friction, damping in (("block-object", 0, 2), ("object-ground", 1, 3)):
            found = model.pair(pair)
            assert found.friction[:2] == pytest.approx([parameters[row, friction]] * 2)
            assert found.solref == pytest.approx([4e-3, parameters[row, damping]])


@pytest.mark.parametrize(
    ("touches", "status", "state"),
    [
        ("0110000000", CollisionStatus.SEPARATED, 4),
        ("1101000000", CollisionStatus.SEPARATED, 5),  # a single state apart is not the end
        ("1101101100", CollisionStatus.SEPARATED, 9),
        ("1101101110", CollisionStatus.IN_CONTACT, 10),
        ("0000000000", CollisionStatus.MISSED, 10),
        ("1001111111", CollisionStatus.SEPARATED, 2),  # what comes later does not count
    ],
)
def test_separation_is_two_states_apart_in_a_row(
    touches: str, status: CollisionStatus, state: int
) -> None:
    batch = StrikeBatch(StrikeScene(options=StrikeOptions(clear_states=2)), 1, 1)
    index = np.arange(11.0)[None, :, None]
    record = (np.tile(index, 9), np.tile(index, 8), np.array([[t == "1" for t in touches]]))
    rows = (
        np.zeros((1, 9)),
        np.zeros((1, 8)),
        np.full(1, 10 * 5e-4),
        np.full(1, int(CollisionStatus.MISSED)),
        np.zeros(1, dtype=np.int64),
    )
    batch._follow(0, np.array([0]), record, rows)
    qpos, qvel, elapsed, found, _ = rows
    assert found[0] == status
    assert (qpos == state).all()
    assert (qvel == state).all()
    assert elapsed[0] == pytest.approx(state * 5e-4)


def test_the_state_after_comes_a_few_states_after_separation() -> None:
    pre, parameters = SCENE.sample(60, rng=8)
    early = StrikeScene(options=StrikeOptions(clear_states=1))
    late = StrikeScene(options=StrikeOptions(clear_states=4))
    first, second = simulate(early, pre, parameters), simulate(late, pre, parameters)
    later = second.post[:, 6] - first.post[:, 6]
    assert (later >= 3 * 5e-4 - 1e-12).all()
    assert np.median(later) == pytest.approx(3 * 5e-4)


def test_a_strike_that_misses_is_kept_as_such() -> None:
    pre = np.array([[0.5, 1.5, 2.8, 0.0, 0.0], [0.5, 1.5, 0.0, 0.0, 0.0]])
    data = simulate(SCENE, pre, np.tile([0.3, 0.3, 1.0, 1.0], (2, 1)))
    assert data.status.tolist() == [CollisionStatus.MISSED, CollisionStatus.SEPARATED]
    assert data.post[0, :2] == pytest.approx([0.0, 0.0], abs=1e-3)
    assert data.post[0, 6] == pytest.approx(0.06)


def test_a_strike_that_lasts_too_long_is_kept_as_such() -> None:
    scene = StrikeScene(options=StrikeOptions(duration=4e-3))
    data = simulate(scene, [[0.5, 1.5, 0.0, 0.0, 0.0]], [[0.3, 0.3, 2.0, 1.0]])
    assert data.status.tolist() == [CollisionStatus.IN_CONTACT]
    assert data.post[0, 6] == pytest.approx(4e-3)
    assert data.post[0, 1] < -0.05  # already under way


@pytest.mark.parametrize("damping", [1e-2, 1e-3])  # gains energy; MuJoCo resets the world
def test_an_unstable_strike_is_marked_and_harms_no_other(
    damping: float, caplog: pytest.LogCaptureFixture
) -> None:
    pre, parameters = SCENE.sample(6, rng=9)
    sound = simulate(SCENE, pre, parameters)
    parameters[2, 2] = damping  # far too stiff for the time step
    data = simulate(SCENE, pre, parameters)
    assert "1 of 6 strikes are unstable" in caplog.text
    assert data.status[2] == CollisionStatus.UNSTABLE
    assert np.isnan(data.post[2]).all()
    others = np.arange(6) != 2
    assert np.array_equal(data.post[others], sound.post[others])


def test_an_unstable_strike_is_forgotten_by_the_next_run() -> None:
    pre, parameters = SCENE.sample(6, rng=9)
    bad = parameters.copy()
    bad[2, 2] = 1e-3
    batch = StrikeBatch(SCENE, 6, 1)
    assert batch.run(pre, bad).status[2] == CollisionStatus.UNSTABLE
    again, fresh = batch.run(pre, parameters), StrikeBatch(SCENE, 6, 1).run(pre, parameters)
    assert np.array_equal(again.qvel, fresh.qvel)
    assert np.array_equal(again.status, fresh.status)


def test_a_strike_that_mujoco_gives_up_is_marked(monkeypatch: pytest.MonkeyPatch) -> None:
    from mujoco import batch as mujoco_batch

    pre, parameters = SCENE.sample(6, rng=9)
    sound = simulate(SCENE, pre, parameters)
    original = mujoco_batch.Batch.rollout

    def rollout(self: object, *arguments: object, **options: object) -> object:
        result = original(self, *arguments, **options)  # type: ignore[arg-type]
        if 4 in options["ids"]:  # type: ignore[operator]
            raise mujoco_batch.SimulationError(np.array([4]), "out of memory")
        return result

    monkeypatch.setattr(mujoco_batch.Batch, "rollout", rollout)
    data = simulate(SCENE, pre, parameters)
    assert data.status[4] == CollisionStatus.UNSTABLE
    others = np.arange(6) != 4
    assert np.array_equal(data.post[others], sound.post[others])


def test_a_heavier_block_strikes_harder() -> None:
    pre, parameters = [[0.5, 1.5, 0.0, 0.0, 0.0]], [[0.3, 0.1, 1.0, 1.0]]
    speeds = [
        -simulate(StrikeScene(block=ImpactBlock(mass=mass)), pre, parameters).post[0, 1]
        for mass in (0.05, 0.18, 2.0, 20.0)
    ]
    assert speeds == sorted(speeds)
    assert speeds[-1] < 2.0 * 0.5
