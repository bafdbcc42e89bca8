"""Scenes: what they offer, what they refuse, and that they count what they see."""

from __future__ import annotations

import math

import numpy as np
import pytest

from contactworks import crisp
from contactworks.common.errors import ModelError
from contactworks.crisp import scenes

MAKERS = {
    "bin_of_boxes": lambda: scenes.bin_of_boxes(3),
    "bouncing_sphere": scenes.bouncing_sphere,
    "compliant_rest": scenes.compliant_rest,
    "launched_cube": scenes.launched_cube,
    "oblique_slide": scenes.oblique_slide,
    "pinched_capsule": scenes.pinched_capsule,
    "rolling_sphere": scenes.rolling_sphere,
    "sphere_collision": scenes.sphere_collision,
    "top_heavy_stack": scenes.top_heavy_stack,
}


def test_every_scene_is_tried_here():
    assert set(MAKERS) | {"Scene"} == set(scenes.__all__)


@pytest.mark.parametrize("name", MAKERS)
def test_a_scene_runs_and_measures(name):
    """Every scene has named numbers, finite figures once it runs, and counts its solves."""
    scene = MAKERS[name]()
    assert scene.data.time == 0.0
    assert all(isinstance(value, float) for value in scene.parameters.values())
    scene.run(0.25)
    assert scene.data.time == pytest.approx(0.25, abs=1e-9)
    found = scene.metrics()
    assert {"worst_residual", "unconverged_steps"} < set(found)
    assert all(math.isfinite(value) for value in found.values())
    assert found["worst_residual"] == scene.worst_residual
    assert found["unconverged_steps"] == 0.0


@pytest.mark.parametrize("name", MAKERS)
def test_a_scene_repeats_bitwise(name):
    states = []
    for _ in range(2):
        scene = MAKERS[name]()
        scene.run(0.1)
        states.append(scene.data.qpos.tobytes() + scene.data.qvel.tobytes())
    assert states[0] == states[1]


def test_run_rounds_to_whole_steps():
    scene = scenes.rolling_sphere(timestep=0.01)
    scene.run(0.0249)
    assert scene.data.time == pytest.approx(0.02)
    for bad in (-1.0, math.nan):
        with pytest.raises(ModelError, match=r"Scene.run: got duration .*expected 0 or more"):
            scene.run(bad)


def test_control_is_called_before_each_step():
    scene = scenes.rolling_sphere()
    times = []
    scene.control = lambda scene: times.append(scene.data.time)
    scene.run(0.006)
    np.testing.assert_allclose(times, [0.0, 0.002, 0.004])


def test_refusals():
    with pytest.raises(ModelError, match="bin_of_boxes: got count 0"):
        scenes.bin_of_boxes(0)
    with pytest.raises(ModelError, match="compliant_rest: got shape 'cone', expected one of"):
        scenes.compliant_rest("cone")
    with pytest.raises(ModelError, match="timestep"):
        scenes.oblique_slide(timestep=-1.0)


def test_the_bin_holds_its_boxes():
    """Seeds move the start places; no box leaves the walls."""
    one, two = scenes.bin_of_boxes(5, rng=0), scenes.bin_of_boxes(5, rng=1)
    assert not np.array_equal(one.data.qpos, two.data.qpos)
    assert np.array_equal(one.data.qpos, scenes.bin_of_boxes(5).data.qpos)
    scene = scenes.bin_of_boxes(20, rng=np.random.default_rng(3))
    scene.run(1.5)
    places = scene.data.body_position[1:]
    assert np.all(np.abs(places[:, :2]) < 0.3)
    assert np.all(places[:, 2] > 0.049)


def test_the_slide_tells_no_acceleration_before_it_lands():
    scene = scenes.oblique_slide(drop=0.1)
    scene.run(0.05)
    assert math.isnan(scene.metrics()["acceleration"])


def test_options_reach_the_model():
    options = crisp.Options(solver="canal", tolerance=1e-7)
    scene = scenes.top_heavy_stack(options=options, timestep=0.004)
    assert scene.model.options.solver == "canal"
    assert scene.model.options.tolerance == 1e-7
    assert scene.model.options.timestep == 0.004


def test_the_stack_carries_its_weight():
    """The bottom interface at ratio 10 carries 11.1 kg: 108.9 N."""
    scene = scenes.top_heavy_stack(10.0, drop=0.0)
    scene.run(0.2)
    contacts = scene.data.contacts
    on_floor = contacts.geom[:, 0] == 0
    force = contacts.impulse[on_floor, 2].sum() / scene.model.options.timestep
    assert force == pytest.approx(108.891, abs=1e-3)
