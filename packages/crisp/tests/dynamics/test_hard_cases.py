"""What breaks contact solvers: mass ratios, high and no friction, redundancy, bad starts."""

from __future__ import annotations

import math

import numpy as np
import pytest

from contactworks import crisp
from contactworks.common.rotations import quaternion_exp, random_quaternion, rotate
from contactworks.crisp import scenes

from ..oracles import energy, moment  # noqa: TID252
from ..scenarios import crowd, heap, tower  # noqa: TID252

# Mass ratios


@pytest.mark.parametrize("ratio", [1e3, 1e4])
def test_a_heavy_box_on_a_light_one(ratio):
    """It does not sink in, however heavy: reported elsewhere from a ratio of 100 on."""
    builder = crisp.ModelBuilder()
    builder.world.add_geom(crisp.Plane())
    for i, mass in enumerate((1.0, ratio)):
        builder.add_body(f"{i}", position=(0, 0, 0.05 + 0.11 * i), mass=mass).add_geom(
            crisp.Box((0.05, 0.05, 0.05))
        )
    model = builder.build()
    data = crisp.Data(model)
    for _ in range(1000):
        crisp.step(model, data)
        assert data.solver.converged
    np.testing.assert_allclose(data.body_position[1:, 2], [0.05, 0.15], atol=1e-8)
    assert np.abs(data.qvel).max() < 1e-9


def test_a_tower_whose_mass_grows_by_ten_each_floor():
    """Five floors, 1e4 from bottom to top, dropped together."""
    builder = crisp.ModelBuilder(crisp.Options(timestep=0.001))
    builder.world.add_geom(crisp.Plane())
    for i in range(5):
        builder.add_body(f"{i}", position=(0, 0, 0.06 + 0.102 * i), mass=0.01 * 10.0**i).add_geom(
            crisp.Box((0.05, 0.05, 0.05))
        )
    model = builder.build()
    data = crisp.Data(model)
    crisp.step(model, data, 2000)
    heights = data.body_position[1:, 2]
    np.testing.assert_allclose(heights, 0.05 + 0.1 * np.arange(5), atol=1e-6)
    assert np.abs(data.qvel).max() < 1e-9


# Friction


@pytest.mark.parametrize("friction", [1.0, 5.0, 10.0])
def test_high_friction_holds_a_block_on_a_steep_slope(friction):
    """A flat block stays up to the slope's tangent; others fail to converge at such friction."""
    slope = math.atan(0.9 * friction)
    turn = quaternion_exp([slope, 0, 0])
    builder = crisp.ModelBuilder()
    builder.world.add_geom(crisp.Plane(), quaternion=turn, friction=friction)
    start = rotate(turn, np.array([0.0, 0.0, 0.01]))
    builder.add_body("slab", position=start, quaternion=turn).add_geom(
        crisp.Box((0.3, 0.3, 0.01)), friction=friction
    )
    model = builder.build()
    data = crisp.Data(model)
    for _ in range(1000):
        crisp.step(model, data)
        assert data.solver.converged
    assert np.abs(data.qvel).max() < 1e-9
    np.testing.assert_allclose(data.qpos[:3], start, atol=2e-8)


def test_a_heap_at_friction_ten():
    """Every step is solved or says that it is not, nothing leaves, energy falls."""
    builder = crisp.ModelBuilder()
    builder.world.add_geom(crisp.Plane(), friction=10.0)
    rng = np.random.default_rng(4)
    for i in range(6):
        builder.add_body(
            f"{i}",
            position=(*rng.uniform(-0.05, 0.05, 2), 0.1 + 0.12 * i),
            quaternion=random_quaternion(rng=rng),
        ).add_geom(crisp.Box((0.05, 0.05, 0.05)), friction=10.0)
    model = builder.build()
    data = crisp.Data(model)
    start = energy(model, moment(model, data.qpos, data.qvel))
    crisp.step(model, data, 1500)
    report = data.solver
    assert report.worst_natural_residual < 1e-6
    assert report.unconverged_steps < 15
    assert energy(model, moment(model, data.qpos, data.qvel)) < start
    assert data.contacts.gap.min() > -1e-4


def test_without_friction_the_sides_stay_bitwise_zero():
    """A box that falls flat on a slippery floor gets no sideways motion, not even by rounding."""
    model = tower(1, friction_rule="min")
    geoms = model.geoms.copy()
    geoms["friction"] = 0.0
    model = model.with_geoms(geoms)
    data = crisp.Data(model)
    data.qpos[2] = 0.3
    crisp.step(model, data, 500)
    np.testing.assert_array_equal(data.qpos[:2], 0.0)
    np.testing.assert_array_equal(data.qvel[:2], 0.0)
    assert data.qpos[2] == pytest.approx(0.05, abs=2e-9)


def test_mirrored_collisions_are_bitwise_mirrored():
    """Two equal balls head on, without friction: velocities are exact opposites in every step."""
    builder = crisp.ModelBuilder(crisp.Options(gravity=(0, 0, 0)))
    for name, x in (("left", -0.3), ("right", 0.3)):
        builder.add_body(name, position=(x, 0, 0)).add_geom(
            crisp.Sphere(0.1), friction=0.0, restitution=0.5
        )
    model = builder.build()
    data = crisp.Data(model)
    data.qvel[0], data.qvel[6] = 1.25, -1.25
    for _ in range(300):
        crisp.step(model, data)
        assert data.qvel[0] == -data.qvel[6]
        assert data.qpos[0] == -data.qpos[7]
        assert not data.qvel[[1, 2, 3, 4, 5, 7, 8, 9, 10, 11]].any()
    assert data.qvel[0] == pytest.approx(-0.625)


def test_a_slippery_block_slides_for_ever():
    """Zero friction on a slope: a = g sin(slope), to rounding."""
    turn = quaternion_exp([0.3, 0, 0])
    builder = crisp.ModelBuilder()
    builder.world.add_geom(crisp.Plane(), quaternion=turn, friction=0.0)
    builder.add_body(
        "block", position=rotate(turn, np.array([0, 0, 0.05])), quaternion=turn
    ).add_geom(crisp.Box((0.05, 0.05, 0.05)), friction=0.9)
    model = builder.build()
    data = crisp.Data(model)
    crisp.step(model, data, 500)
    downhill = rotate(turn, np.array([0.0, -1.0, 0.0]))
    assert data.qvel[:3] @ downhill == pytest.approx(9.81 * math.sin(0.3), rel=1e-9)


# Redundancy


def test_a_box_on_ten_floors():
    """Ten planes make one floor, ten times as many contacts as needed: the weight is shared."""
    builder = crisp.ModelBuilder()
    for _ in range(10):
        builder.world.add_geom(crisp.Plane())
    builder.add_body("box", position=(0, 0, 0.05), mass=1.0).add_geom(crisp.Box((0.05, 0.05, 0.05)))
    model = builder.build()
    data = crisp.Data(model)
    crisp.step(model, data, 200)
    assert data.solver.converged
    assert len(data.contacts) == 40
    total = data.contacts.impulse.sum(0)
    np.testing.assert_allclose(total, [0, 0, 9.81 * 0.002], atol=1e-10)
    assert np.all(data.contacts.impulse[:, 2] >= 0.0)
    np.testing.assert_array_equal(data.qvel, 0.0)


def test_a_wedged_ball():
    """Between two smooth walls exactly its width apart: it falls freely, as nothing holds it."""
    builder = crisp.ModelBuilder()
    for sign in (-1.0, 1.0):
        builder.world.add_geom(
            crisp.Box((0.05, 0.5, 0.5)), position=(sign * 0.1, 0, 0), friction=0.0
        )
    builder.add_body("ball", position=(0, 0, 0)).add_geom(crisp.Sphere(0.05), friction=0.0)
    model = builder.build()
    data = crisp.Data(model)
    crisp.step(model, data, 100)
    assert data.qvel[2] == pytest.approx(-9.81 * 0.2)
    assert data.qpos[0] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("force", [2.0, 20.0, 200.0])
def test_a_pinched_capsule_does_not_creep(force):
    """Within the cone nothing moves; elsewhere it creeps by micrometres a second."""
    scene = scenes.pinched_capsule(force)
    scene.run(2.0)
    found = scene.metrics()
    assert found["largest_speed"] < 1e-9
    assert abs(found["sink"]) < 1e-8


def test_a_pinched_capsule_slips_when_it_must():
    """0.045 kg need 0.44 N; two sides at friction 0.7 and 0.2 N give 0.28 N: it falls."""
    scene = scenes.pinched_capsule(0.2)
    scene.run(0.05)
    expected = 9.81 - 2 * 0.7 * 0.2 / 0.045
    speed = -scene.data.body_twist[scene.model.body_id("capsule"), 2]
    assert speed == pytest.approx(expected * 0.05, rel=0.02)


# Bad starts


@pytest.mark.parametrize("timestep", [0.001, 0.002, 0.01])
@pytest.mark.parametrize("depth", [0.001, 0.01, 0.05, 0.09])
def test_a_deep_overlap_is_undone_at_a_bounded_speed(depth, timestep):
    """erp of the overlap a step, 0.5 m/s at most; then no higher than that speed throws it."""
    builder = crisp.ModelBuilder(crisp.Options(timestep=timestep))
    builder.world.add_geom(crisp.Plane())
    builder.add_body("box", position=(0, 0, 0.05 - depth)).add_geom(crisp.Box((0.05, 0.05, 0.05)))
    model = builder.build()
    data = crisp.Data(model)
    bound = min(0.5, 0.1 * depth / timestep)
    highest = 0.0
    for _ in range(max(round(1.0 / timestep), 300)):
        crisp.step(model, data)
        assert np.abs(data.qvel).max() <= bound + 1e-6
        highest = max(highest, data.qpos[2] - 0.05)
    assert highest <= bound**2 / (2.0 * 9.81) + 1e-6
    assert data.qpos[2] == pytest.approx(0.05, abs=3e-9)
    assert np.abs(data.qvel).max() < 2e-9


@pytest.mark.parametrize("speed", [0.1, 2.0, math.inf])
def test_the_bound_is_an_option(speed):
    builder = crisp.ModelBuilder(crisp.Options(max_correction_speed=speed))
    builder.world.add_geom(crisp.Plane())
    builder.add_body("ball", position=(0, 0, 0.0)).add_geom(crisp.Sphere(0.05))
    model = builder.build()
    data = crisp.Data(model)
    crisp.step(model, data)
    assert data.qvel[2] == pytest.approx(min(speed, 0.1 * 0.05 / 0.002), rel=1e-6)


def test_without_correction_an_overlap_stays():
    builder = crisp.ModelBuilder(crisp.Options(erp=0.0))
    builder.world.add_geom(crisp.Plane())
    builder.add_body("ball", position=(0, 0, 0.04)).add_geom(crisp.Sphere(0.05))
    model = builder.build()
    data = crisp.Data(model)
    crisp.step(model, data, 500)
    assert data.qpos[2] == pytest.approx(0.04, abs=1e-9)


def test_a_crowd_in_one_place_comes_apart():
    """Twenty balls inside one another: bounded speeds, finite, and no overlap in the end."""
    model = crowd(20)
    data = crisp.Data(model)
    fastest = 0.0
    for _ in range(1500):
        crisp.step(model, data)
        fastest = max(fastest, float(np.abs(data.qvel.reshape(-1, 6)[:, :3]).max()))
    assert np.isfinite(data.qpos).all()
    assert fastest < 5.0
    assert data.contacts.gap.min() > -1e-5


def test_bodies_at_the_same_place():
    """Concentric balls and boxes get some normal and part."""
    for shape in (crisp.Sphere(0.05), crisp.Box((0.05, 0.05, 0.05)), crisp.Capsule(0.05, 0.05)):
        builder = crisp.ModelBuilder(crisp.Options(gravity=(0, 0, 0)))
        for i in range(2):
            builder.add_body(f"{i}").add_geom(shape)
        model = builder.build()
        data = crisp.Data(model)
        crisp.step(model, data, 1000)
        assert np.isfinite(data.qpos).all()
        gap, _, _ = data.nearest("0", "1", 5.0)
        assert gap > -1e-6


# Scale and repetition


@pytest.mark.parametrize("scale", [0.1, 10.0])
def test_a_scaled_scene_moves_as_the_original(scale):
    """Lengths by s, times by sqrt(s): Froude's rule, for a tumbling cube with friction.

    The dead band of 1 nm does not scale; each impact of the tumble magnifies what it makes.
    """
    states = []
    for factor in (1.0, scale):
        options = crisp.Options(
            timestep=0.001 * math.sqrt(factor), contact_margin=0.01 * factor, tolerance=1e-12
        )
        builder = crisp.ModelBuilder(options)
        builder.world.add_geom(crisp.Plane(), friction=0.4)
        builder.add_body(
            "cube",
            position=np.array([0, 0, 0.2]) * factor,
            quaternion=quaternion_exp([0.4, 0.3, 0]),
        ).add_geom(crisp.Box(np.full(3, 0.05 * factor)), friction=0.4)
        model = builder.build()
        data = crisp.Data(model)
        crisp.step(model, data, 250)
        states.append(np.concatenate([data.qpos[:3] / factor, data.qpos[3:]]))
    np.testing.assert_allclose(*states, atol=2e-6)


def test_units_of_mass_do_not_matter():
    """All masses a thousand times larger: the same motion."""
    states = []
    for density in (1000.0, 1e6):
        builder = crisp.ModelBuilder()
        builder.world.add_geom(crisp.Plane())
        for i in range(3):
            builder.add_body(f"{i}", position=(0.01 * i, 0, 0.06 + 0.12 * i)).add_geom(
                crisp.Box((0.05, 0.05, 0.05)), density=density
            )
        model = builder.build()
        data = crisp.Data(model)
        crisp.step(model, data, 300)
        states.append(data.qpos.copy())
    np.testing.assert_allclose(*states, atol=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_contacts_never_leave_the_floor(seed):
    """A heap that has settled: nothing sinks, nothing flies off, residuals are small."""
    model = heap(seed, count=8)
    data = crisp.Data(model)
    crisp.step(model, data, 2500)
    assert np.isfinite(data.qpos).all()
    assert data.contacts.gap.min() > -2e-5
    assert data.solver.worst_natural_residual < 1e-6
