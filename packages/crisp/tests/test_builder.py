"""Building a model: names, masses, and every refusal with a message that says what is wrong."""

from __future__ import annotations

import math

import numpy as np
import pytest

from contactworks import crisp
from contactworks.common.errors import ModelError, ShapeError
from contactworks.common.poses import Pose
from contactworks.common.rotations import quaternion_exp, random_quaternion


def one_body(**arguments):
    builder = crisp.ModelBuilder()
    return builder, builder.add_body("thing", **arguments)


# Refusals


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"mass": 0.0}, ModelError, r"body 'thing', mass: got 0, expected a positive"),
        ({"mass": -1.0}, ModelError, r"body 'thing', mass: got -1.0, expected a number at least 0"),
        ({"mass": math.nan}, ModelError, r"body 'thing', mass: got nan"),
        ({"mass": math.inf}, ModelError, r"body 'thing', mass: got inf"),
        ({"mass": "heavy"}, ModelError, r"body 'thing', mass: got 'heavy', expected a number"),
        (
            {"position": (0, 0)},
            ShapeError,
            r"body 'thing', position: got shape \(2,\), expected \(3,",
        ),
        ({"position": (0, 0, math.inf)}, ModelError, r"position: got \[0.0, 0.0, inf\].*finite"),
        ({"position": "here"}, ShapeError, r"position: got 'here', expected 3 numbers"),
        ({"quaternion": (1, 1, 0, 0)}, ModelError, r"quaternion: got norm 1.41421.*unit"),
        ({"quaternion": (0, 0, 0, 0)}, ModelError, r"quaternion: got norm 0.*unit"),
        ({"quaternion": (1, 0, 0)}, ShapeError, r"quaternion: got shape \(3,\), expected \(4,\)"),
        ({"inertia": (1, 1)}, ShapeError, r"body 'thing', inertia.*\(2,\)"),
        ({"inertia": (1, 1, math.nan)}, ModelError, r"body 'thing', inertia.*nan"),
        ({"inertia": (1, 1, 0)}, ModelError, r"body 'thing', inertia.*not positive definite"),
        ({"inertia": (1, 1, -1)}, ModelError, r"body 'thing', inertia"),
        ({"inertia": (1, 1, 3)}, ModelError, r"body 'thing', inertia.*sum of the other two"),
        ({"inertia": "round"}, ModelError, r"body 'thing'.*round"),
        (
            {"inertia": [[1, 0.5, 0], [0, 1, 0], [0, 0, 1]]},
            ModelError,
            r"body 'thing', inertia.*symmetric",
        ),
        ({"center_of_mass": (0, 1)}, ShapeError, r"center_of_mass: got shape \(2,\)"),
        ({"center_of_mass": (0, 1, math.nan)}, ModelError, r"center_of_mass: got .*nan"),
    ],
)
def test_refused_bodies(arguments, error, message):
    builder = crisp.ModelBuilder()
    with pytest.raises(error, match=message):
        builder.add_body("thing", **arguments)
    assert len(builder.build().body_names) == 1  # nothing half added


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"friction": -0.1}, ModelError, r"friction: got -0.1, expected a number 0 to 10000"),
        ({"friction": math.nan}, ModelError, r"friction: got nan"),
        ({"friction": math.inf}, ModelError, r"friction: got inf"),
        ({"friction": None}, ModelError, r"friction: got None, expected a number"),
        ({"stiffness": 0.0}, ModelError, r"stiffness: got 0, expected a positive"),
        ({"stiffness": -1.0}, ModelError, r"stiffness: got -1.0"),
        ({"stiffness": math.nan}, ModelError, r"stiffness: got nan"),
        ({"restitution": 1.1}, ModelError, r"restitution: got 1.1, expected a number 0 to 1"),
        ({"restitution": -0.1}, ModelError, r"restitution: got -0.1"),
        ({"density": -5.0}, ModelError, r"density: got -5.0"),
        ({"density": math.inf}, ModelError, r"density: got inf"),
        ({"position": (1, 2, 3, 4)}, ShapeError, r"position: got shape \(4,\)"),
        ({"quaternion": (0.9, 0, 0, 0)}, ModelError, r"quaternion: got norm 0.9"),
    ],
)
def test_refused_geoms(arguments, error, message):
    _, body = one_body(mass=1.0)
    with pytest.raises(error, match=f"geom ball of body 'thing', {message}"):
        body.add_geom(crisp.Sphere(0.1), name="ball", **arguments)
    assert body.add_geom(crisp.Sphere(0.1), name="ball") == "ball"  # the name is still free


def test_refused_shapes():
    _, body = one_body(mass=1.0)
    with pytest.raises(ModelError, match="got a str, expected one of Plane, Sphere"):
        body.add_geom("sphere")
    with pytest.raises(ModelError, match=r"body 'thing': a plane .* only belong to the world"):
        body.add_geom(crisp.Plane())


def test_bodies_without_mass_are_named():
    builder, _ = one_body()
    with pytest.raises(ModelError, match=r"body 'thing': no mass; give mass and inertia, or geoms"):
        builder.build()
    builder, _ = one_body(mass=1.0)
    with pytest.raises(ModelError, match=r"body 'thing': no mass"):
        builder.build()
    builder, body = one_body(inertia=(1, 1, 1))
    body.add_geom(crisp.Sphere(0.1))
    with pytest.raises(ModelError, match=r"body 'thing': inertia without mass"):
        builder.build()
    builder, body = one_body()
    body.add_geom(crisp.Sphere(0.1), density=0.0)
    with pytest.raises(ModelError, match=r"body 'thing': no mass"):
        builder.build()


def test_pairs_without_an_algorithm_are_refused_unless_excluded():
    def scene():
        builder = crisp.ModelBuilder()
        builder.world.add_geom(crisp.Plane())
        builder.add_body("can").add_geom(crisp.Cylinder(0.1, 0.1), name="side")
        builder.add_body("cube").add_geom(crisp.Box((0.1, 0.1, 0.1)), name="block")
        return builder

    with pytest.raises(ModelError) as caught:
        scene().build()
    for part in ("'side' (cylinder)", "'block' (box)", "no collision algorithm", "exclude"):
        assert part in str(caught.value)
    builder = scene()
    builder.exclude("cube", "can")
    model = builder.build()
    assert not crisp.Data(model).pair_enabled("can", "cube")
    with pytest.raises(ModelError, match=r"'can' and 'cube' have a cylinder and a box.*algorithm"):
        crisp.Data(model).set_pair_enabled("can", "cube", True)
    with pytest.raises(ModelError, match=r"cylinder and a box"):
        crisp.Data(model).nearest("can", "cube", 1.0)


def test_two_cylinders_are_refused_too_and_one_alone_is_not():
    builder = crisp.ModelBuilder()
    builder.world.add_geom(crisp.Plane())
    builder.add_body("one").add_geom(crisp.Cylinder(0.1, 0.1))
    builder.build()
    builder.add_body("two").add_geom(crisp.Cylinder(0.1, 0.1))
    with pytest.raises(ModelError, match=r"\(cylinder\) and .* \(cylinder\)"):
        builder.build()


def test_exclude_needs_known_names():
    builder, _ = one_body(mass=1.0)
    with pytest.raises(
        ModelError, match=r"no body is named 'thong'; there are: \['world', 'thing'"
    ):
        builder.exclude("thing", "thong")


# Names


def test_names_are_unique_over_the_model():
    builder, body = one_body(mass=1.0)
    for taken in ("thing", "world"):
        with pytest.raises(ModelError, match=f"body '{taken}': a body of this name exists already"):
            builder.add_body(taken)
    body.add_geom(crisp.Sphere(0.1), name="tip")
    with pytest.raises(ModelError, match="geom tip of body 'world': a geom of this name exists"):
        builder.world.add_geom(crisp.Plane(), name="tip")
    for bad in ("", 5, None):
        with pytest.raises(ModelError, match="expected a name"):
            builder.add_body(bad)


def test_geoms_get_names_of_their_own():
    builder, body = one_body(mass=1.0)
    body.add_geom(crisp.Box((0.1, 0.1, 0.1)), name="thing/sphere1")
    names = [body.add_geom(crisp.Sphere(0.1)) for _ in range(3)]
    assert names == ["thing/sphere0", "thing/sphere2", "thing/sphere3"]
    model = builder.build()
    assert [model.geom_id(name) for name in names] == [1, 2, 3]


def test_ids_and_slices():
    builder = crisp.ModelBuilder()
    for name in ("first", "second"):
        builder.add_body(name).add_geom(crisp.Sphere(0.1), name=f"{name} ball")
    model = builder.build()
    assert model.body_names == ("world", "first", "second")
    assert (model.nq, model.nv, model.body_count, model.geom_count) == (14, 12, 3, 2)
    assert model.body_id("second") == 2
    assert model.qpos_slice("second") == slice(7, 14)
    assert model.qvel_slice("second") == slice(6, 12)
    with pytest.raises(ModelError, match=r"no body is named 'third'; there are: world, first"):
        model.body_id("third")
    with pytest.raises(ModelError, match=r"no geom is named 'third'; there are: first ball"):
        model.geom_id("third")
    with pytest.raises(ModelError, match=r"body 'world' is fixed and has no coordinates"):
        model.qpos_slice("world")


# Masses


def test_mass_from_geoms_and_density():
    """A dumbbell of two balls: sum of the masses, Steiner's theorem for the inertia."""
    builder, body = one_body()
    body.add_geom(crisp.Sphere(0.1), position=(0.3, 0, 0), density=500.0)
    body.add_geom(crisp.Sphere(0.1), position=(-0.3, 0, 0), density=500.0)
    model = builder.build()
    ball = 500.0 * 4.0 / 3.0 * math.pi * 1e-3
    assert model.body_mass == pytest.approx([0.0, 2.0 * ball])
    np.testing.assert_allclose(model.bodies["center"][1], 0.0, atol=1e-16)
    own = 0.4 * ball * 0.01
    across = 2.0 * (own + ball * 0.09)
    np.testing.assert_allclose(
        model.bodies["inertia"][1], np.diag([2.0 * own, across, across]), atol=1e-15
    )


def test_mass_of_turned_and_shifted_geoms():
    """A box turned by 90 degrees about z: x and y change places; the centre is where it stands."""
    builder, body = one_body()
    body.add_geom(
        crisp.Box((0.1, 0.2, 0.3)),
        position=(1, 2, 3),
        quaternion=quaternion_exp([0, 0, 0.5 * math.pi]),
        density=1000.0,
    )
    model = builder.build()
    mass = 1000.0 * 8.0 * 0.1 * 0.2 * 0.3
    assert model.body_mass[1] == pytest.approx(mass)
    np.testing.assert_allclose(model.bodies["center"][1], [1, 2, 3])
    x, y, z = 0.2**2, 0.1**2, 0.3**2  # squares of the half sizes along the body's axes
    expected = mass / 3.0 * np.diag([y + z, x + z, x + y])
    np.testing.assert_allclose(model.bodies["inertia"][1], expected, atol=1e-12)


def test_a_given_mass_scales_the_inertia_of_the_geoms():
    builder, body = one_body(mass=2.0)
    body.add_geom(crisp.Sphere(0.1), density=123.0)
    model = builder.build()
    assert model.body_mass[1] == 2.0
    np.testing.assert_allclose(model.bodies["inertia"][1], 0.4 * 2.0 * 0.01 * np.eye(3))


def test_given_inertia_wins_over_the_geoms():
    tensor = np.array([[2.0, 0.1, 0.0], [0.1, 2.5, 0.2], [0.0, 0.2, 3.0]])
    builder, body = one_body(mass=2.0, inertia=tensor, center_of_mass=(0.1, 0.2, 0.3))
    body.add_geom(crisp.Sphere(0.1), density=1e6)
    model = builder.build()
    np.testing.assert_array_equal(model.bodies["inertia"][1], tensor)
    np.testing.assert_allclose(model.bodies["inverse_inertia"][1] @ tensor, np.eye(3), atol=1e-14)
    np.testing.assert_array_equal(model.bodies["center"][1], [0.1, 0.2, 0.3])
    np.testing.assert_array_equal(body.mass_properties().inertia, tensor)


def test_a_given_centre_of_mass_keeps_the_inertia_about_it():
    builder, body = one_body(mass=2.0, center_of_mass=(0.05, 0, 0))
    body.add_geom(crisp.Sphere(0.1))
    model = builder.build()
    np.testing.assert_array_equal(model.bodies["center"][1], [0.05, 0, 0])
    np.testing.assert_allclose(model.bodies["inertia"][1], 0.4 * 2.0 * 0.01 * np.eye(3))


def test_the_body_radius_holds_all_geoms():
    """The bound on the speed of a body's points rests on it."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        builder, body = one_body()
        shapes = [crisp.Sphere(0.1), crisp.Capsule(0.05, 0.2), crisp.Box(rng.uniform(0.05, 0.2, 3))]
        places = rng.uniform(-0.3, 0.3, (3, 3))
        turns = random_quaternion(3, rng=rng)
        for shape, place, turn in zip(shapes, places, turns, strict=True):
            body.add_geom(shape, position=place, quaternion=turn)
        model = builder.build()
        for shape, place, turn in zip(shapes, places, turns, strict=True):
            directions = rng.standard_normal((200, 3))
            points = Pose(place, turn).apply(shape.support(directions))
            reach = np.linalg.norm(points - model.bodies["center"][1], axis=1).max()
            assert reach <= model.bodies["radius"][1] + 1e-12


def test_a_body_without_geoms_moves_freely():
    builder, _ = one_body(mass=1.0, inertia=(1, 1, 1))
    model = builder.build()
    data = crisp.Data(model)
    crisp.step(model, data, 100)
    assert data.qvel[2] == pytest.approx(-9.81 * 0.2)


# The model


def test_the_model_cannot_be_written():
    builder, body = one_body(position=(0, 0, 1))
    body.add_geom(crisp.Sphere(0.1))
    model = builder.build()
    for array in (model.bodies, model.geoms, model.qpos0, model.qvel0):
        with pytest.raises(ValueError, match="read-only"):
            array[:] = 0
    with pytest.raises(AttributeError):
        model.options = crisp.Options()


def test_the_builder_goes_on_after_building():
    builder, body = one_body()
    body.add_geom(crisp.Sphere(0.1))
    first = builder.build()
    builder.add_body("more").add_geom(crisp.Sphere(0.1))
    second = builder.build()
    assert (first.nq, second.nq) == (7, 14)
    assert first.body_count == 2


def test_an_empty_model_steps():
    model = crisp.ModelBuilder().build()
    data = crisp.Data(model)
    crisp.step(model, data, 3)
    assert data.time == pytest.approx(0.006)
    assert data.qpos.shape == (0,)
    assert len(data.contacts) == 0
    assert data.solver.converged


def test_with_options_changes_a_copy():
    builder, body = one_body()
    body.add_geom(crisp.Sphere(0.1))
    model = builder.build()
    other = model.with_options(timestep=0.01)
    assert (model.options.timestep, other.options.timestep) == (0.002, 0.01)
    data = crisp.Data(other)
    crisp.step(other, data)
    assert data.time == 0.01
    with pytest.raises(ModelError, match=r"Options\.erp"):
        model.with_options(erp=2.0)


def test_with_geoms_needs_the_same_layout():
    builder, body = one_body()
    body.add_geom(crisp.Sphere(0.1))
    model = builder.build()
    geoms = model.geoms.copy()
    geoms["friction"] = 0.1
    assert model.with_geoms(geoms).geoms["friction"][0] == 0.1
    assert model.geoms["friction"][0] == 0.8
    with pytest.raises(ModelError, match=r"Model.with_geoms: got \(2,\)"):
        model.with_geoms(np.concatenate([geoms, geoms]))
