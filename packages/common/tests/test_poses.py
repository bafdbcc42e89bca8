"""Poses, twists and wrenches against homogeneous matrices, finite differences and power."""

from __future__ import annotations

import copy
import dataclasses
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contactworks.common import rotations as rot
from contactworks.common.errors import ModelError, ShapeError
from contactworks.common.poses import Pose, Twist, Wrench

from .oracles import same_rotation, scipy_rotation

numbers = st.floats(-10.0, 10.0)
vectors = st.tuples(numbers, numbers, numbers).map(np.array)
poses = st.builds(lambda p, r: Pose(p, rot.quaternion_exp(r)), vectors, vectors)
twists = st.builds(Twist, vectors, vectors)
wrenches = st.builds(Wrench, vectors, vectors)


def homogeneous(pose):
    """Return the matrix of a pose by way of SciPy."""
    matrix = np.eye(4)
    matrix[:3, :3] = scipy_rotation(pose.quaternion).as_matrix()
    matrix[:3, 3] = pose.position
    return matrix


@given(a=poses, b=poses)
def test_composition_and_inverse_are_those_of_matrices(a, b):
    np.testing.assert_allclose(a.to_matrix(), homogeneous(a), atol=1e-14)
    np.testing.assert_allclose((a @ b).to_matrix(), homogeneous(a) @ homogeneous(b), atol=1e-13)
    np.testing.assert_allclose(a.inverse().to_matrix(), np.linalg.inv(homogeneous(a)), atol=1e-13)
    assert (a @ a.inverse()).is_close(Pose.identity(), position_tolerance=1e-13)
    assert Pose.from_matrix(a.to_matrix()).is_close(a, angle_tolerance=1e-14)


@given(a=poses, point=vectors)
def test_points_and_vectors_are_mapped_by_the_matrix(a, point):
    matrix = homogeneous(a)
    np.testing.assert_allclose(a.apply(point), (matrix @ [*point, 1.0])[:3], atol=1e-13)
    np.testing.assert_allclose(a.apply_to_vectors(point), (matrix @ [*point, 0.0])[:3], atol=1e-13)
    np.testing.assert_allclose(a.inverse().apply(a.apply(point)), point, atol=1e-13)


def test_points_come_in_batches():
    pose = Pose((1.0, 2.0, 3.0), rot.random_quaternion(rng=1))
    points = np.random.default_rng(2).normal(size=(4, 5, 3))
    assert pose.apply(points).shape == (4, 5, 3)
    np.testing.assert_array_equal(pose.apply(points)[2, 3], pose.apply(points[2, 3]))


def test_long_chains_stay_rigid():
    step = Pose((0.01, 0.0, 0.0), rot.quaternion_exp([0.1, 0.2, -0.3]))
    pose = Pose()
    for _ in range(2000):
        pose = pose @ step
    assert np.linalg.norm(pose.quaternion) == pytest.approx(1.0, abs=1e-15)
    # 2000 equal turns about one axis.
    expected = rot.quaternion_exp(2000.0 * np.array([0.1, 0.2, -0.3]))
    assert same_rotation(pose.quaternion, expected, 1e-11)


@given(a=poses, b=poses, t=st.floats(0.0, 1.0))
def test_interpolation_moves_straight_and_turns_the_short_way(a, b, t):
    middle = a.interpolate(b, t)
    np.testing.assert_allclose(
        middle.position, a.position + t * (b.position - a.position), atol=1e-14
    )
    total = float(rot.angle_between(a.quaternion, b.quaternion))
    assert float(rot.angle_between(a.quaternion, middle.quaternion)) == pytest.approx(
        t * total, abs=1e-14
    )
    assert a.interpolate(b, 0.0).is_close(a, angle_tolerance=1e-15)
    assert a.interpolate(b, 1.0).is_close(b, angle_tolerance=1e-14)


def test_closeness_looks_at_distance_and_angle():
    pose = Pose((1.0, 0.0, 0.0), (0.5, 0.5, 0.5, 0.5))
    assert pose.is_close(Pose(pose.position, -pose.quaternion))
    assert not pose.is_close(Pose((1.0, 0.0, 2e-9), pose.quaternion))
    turned = rot.quaternion_multiply(pose.quaternion, rot.quaternion_exp([2e-9, 0.0, 0.0]))
    assert not pose.is_close(Pose(pose.position, turned))
    assert pose.is_close(Pose(pose.position, turned), angle_tolerance=3e-9)


def moving_pose(time):
    """Return the pose of a body in the world at a time, smooth and without symmetry."""
    return Pose(
        (np.sin(time), time**2, 0.3 * np.cos(2.0 * time)),
        rot.quaternion_multiply(
            rot.quaternion_exp([0.7 * time, 0.0, 0.2]), rot.quaternion_exp([0.1, time**2, -time])
        ),
    )


def differentiated_twist(pose_of_time, time, step=1e-5):
    """Return the twist of a moving frame by central differences of its pose."""
    before, after = pose_of_time(time - step), pose_of_time(time + step)
    turn = rot.quaternion_multiply(after.quaternion, rot.quaternion_conjugate(before.quaternion))
    return Twist(
        (after.position - before.position) / (2.0 * step), rot.quaternion_log(turn) / (2.0 * step)
    )


def test_velocity_at_is_the_derivative_of_body_points():
    time, step = 0.4, 1e-5
    twist = differentiated_twist(moving_pose, time)
    body_points = np.random.default_rng(3).normal(size=(6, 3))
    before, after = moving_pose(time - step), moving_pose(time + step)
    velocity = (after.apply(body_points) - before.apply(body_points)) / (2.0 * step)
    offsets = moving_pose(time).apply_to_vectors(body_points)
    np.testing.assert_allclose(twist.velocity_at(offsets), velocity, atol=1e-8)
    shifted = twist.shifted(offsets[0])
    np.testing.assert_allclose(shifted.linear, velocity[0], atol=1e-8)
    np.testing.assert_array_equal(shifted.angular, twist.angular)


def test_change_of_frame_is_that_of_the_motion_seen_from_the_other_frame():
    # The body point that passes the origin of the outer frame at this moment: its velocity in the
    # outer axes is the linear part after the change of frame.
    time = 0.4
    outer = Pose((0.5, -1.0, 2.0), rot.random_quaternion(rng=4))
    twist = differentiated_twist(moving_pose, time).shifted(-moving_pose(time).position)
    origin_in_body = (outer @ moving_pose(time)).inverse().position

    def point_as_frame(t):
        moved = outer @ moving_pose(t)
        return Pose(moved.apply(origin_in_body), moved.quaternion)

    expected = differentiated_twist(point_as_frame, time)
    np.testing.assert_allclose(
        twist.transformed(outer).to_vector(), expected.to_vector(), atol=1e-8
    )


@given(pose=poses, twist=twists, wrench=wrenches, offset=vectors)
def test_power_does_not_depend_on_point_or_axes(pose, twist, wrench, offset):
    power = pytest.approx(twist.power(wrench), abs=1e-9)
    assert twist.shifted(offset).power(wrench.shifted(offset)) == power
    assert twist.rotated(pose.quaternion).power(wrench.rotated(pose.quaternion)) == power
    assert twist.transformed(pose).power(wrench.transformed(pose)) == power


@given(pose=poses, twist=twists, wrench=wrenches)
def test_the_adjoint_matrix_changes_the_frame(pose, twist, wrench):
    adjoint = pose.adjoint()
    np.testing.assert_allclose(
        twist.transformed(pose).to_vector(), adjoint @ twist.to_vector(), atol=1e-11
    )
    np.testing.assert_allclose(
        wrench.transformed(pose).to_vector(),
        np.linalg.solve(adjoint.T, wrench.to_vector()),
        atol=1e-11,
    )


@given(a=poses, b=poses, twist=twists, wrench=wrenches)
def test_changes_of_frame_compose(a, b, twist, wrench):
    for quantity in (twist, wrench):
        at_once = quantity.transformed(a @ b).to_vector()
        np.testing.assert_allclose(
            quantity.transformed(b).transformed(a).to_vector(), at_once, atol=1e-10
        )
        back = quantity.transformed(a).transformed(a.inverse())
        np.testing.assert_allclose(back.to_vector(), quantity.to_vector(), atol=1e-11)


def test_torque_of_a_force_about_another_point():
    # 3 N along y at the end of a lever of 2 m along x: 6 N m about z at the foot of the lever.
    at_end = Wrench(force=(0.0, 3.0, 0.0))
    np.testing.assert_array_equal(at_end.shifted((-2.0, 0.0, 0.0)).torque, [0.0, 0.0, 6.0])


@given(a=twists, b=twists, f=wrenches, g=wrenches)
def test_twists_and_wrenches_are_vectors(a, b, f, g):
    for p, q in ((a, b), (f, g)):
        np.testing.assert_array_equal((p + q).to_vector(), p.to_vector() + q.to_vector())
        np.testing.assert_array_equal((p - q).to_vector(), p.to_vector() - q.to_vector())
        np.testing.assert_array_equal((-p).to_vector(), -p.to_vector())
        np.testing.assert_array_equal(type(p).from_vector(p.to_vector()).to_vector(), p.to_vector())


@pytest.mark.parametrize("value", [Pose((1.0, 2.0, 3.0)), Twist((1.0, 0, 0)), Wrench((1.0, 0, 0))])
def test_values_cannot_change(value):
    names = [field.name for field in dataclasses.fields(value)]
    for name in names:
        with pytest.raises(ValueError, match="read-only"):
            getattr(value, name)[0] = 5.0
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(value, name, np.zeros(3))
    for twin in (
        copy.deepcopy(value),
        pickle.loads(pickle.dumps(value)),
        dataclasses.replace(value),
    ):
        for name in names:
            np.testing.assert_array_equal(getattr(twin, name), getattr(value, name))


def test_arguments_are_copied():
    position = np.zeros(3)
    pose = Pose(position)
    position[0] = 1.0
    assert pose.position[0] == 0.0


def test_quaternions_typed_with_few_digits_are_completed_and_others_refused():
    pose = Pose(quaternion=(0.7071, 0.7071, 0.0, 0.0))
    np.testing.assert_allclose(pose.quaternion, [0.5**0.5, 0.5**0.5, 0.0, 0.0], atol=1e-15)
    for bad in [(0, 0, 0, 0), (2, 0, 0, 0), (1, 1, 0, 0)]:
        with pytest.raises(ModelError, match="length"):
            Pose(quaternion=bad)
        with pytest.raises(ModelError, match="length"):
            Twist().rotated(bad)


@pytest.mark.parametrize(
    ("call", "error", "complaint"),
    [
        (lambda: Pose((0, 0)), ShapeError, "position"),
        (lambda: Pose(np.zeros((2, 3))), ShapeError, "position"),
        (lambda: Pose((0, 0, np.nan)), ModelError, r"position\[2\]"),
        (lambda: Pose(quaternion=(1, 0, 0)), ShapeError, "quaternion"),
        (lambda: Pose(quaternion=(np.inf, 0, 0, 0)), ModelError, "finite"),
        (lambda: Pose().interpolate(Pose(), np.nan), ModelError, "fraction"),
        (lambda: Pose.from_matrix(np.eye(3)), ShapeError, "matrix"),
        (lambda: Pose.from_matrix(np.diag([1, 1, 1, 2])), ModelError, "last row"),
        (lambda: Pose.from_matrix(np.diag([1, 1, -1, 1])), ModelError, "reflection"),
        (lambda: Pose.from_matrix(np.diag([2, 1, 1, 1])), ModelError, "orthonormal"),
        (lambda: Twist((0, 0, np.inf)), ModelError, "linear"),
        (lambda: Twist(angular=(0, 0)), ShapeError, "angular"),
        (lambda: Twist.from_vector(np.zeros(5)), ShapeError, "vector"),
        (lambda: Twist().shifted(np.zeros((2, 3))), ShapeError, "offset"),
        (lambda: Wrench("abc"), ShapeError, "force"),
        (lambda: Wrench(torque=(np.nan, 0, 0)), ModelError, "torque"),
    ],
)
def test_wrong_values_are_refused_by_name(call, error, complaint):
    with pytest.raises(error, match=complaint):
        call()
