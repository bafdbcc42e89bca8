"""Rotations against SciPy, against the defining properties, and at the extremes."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from scipy import stats
from scipy.spatial.transform import Rotation

from contactworks.common import rotations as rot
from contactworks.common._kernels import rotations as kernels
from contactworks.common.errors import ModelError, ShapeError

from .oracles import hamilton_product, same_rotation, scipy_rotation

# Angles that stress every branch: zero, subnormal, around the series limit, around pi and beyond.
ANGLES = [0.0, 5e-324, 1e-200, 1e-12, 1e-8, 9.9e-5, 1.01e-4, 1e-3, 0.5, 1.0, 2.0, 3.0]
ANGLES += [math.pi - 1e-4, math.pi - 1e-9, math.pi - 1e-15]

unit_interval = st.floats(-1.0, 1.0)
directions = (
    st.tuples(unit_interval, unit_interval, unit_interval)
    .filter(lambda v: np.linalg.norm(v) > 1e-3)
    .map(lambda v: np.array(v) / np.linalg.norm(v))
)
quaternions = (
    st.tuples(unit_interval, unit_interval, unit_interval, unit_interval)
    .filter(lambda q: np.linalg.norm(q) > 1e-3)
    .map(lambda q: np.array(q) / np.linalg.norm(q))
)
angles = st.one_of(
    st.floats(0.0, math.pi - 1e-6),
    st.floats(-300.0, 0.0).map(lambda e: 10.0**e),
    st.floats(-15.0, -1.0).map(lambda e: math.pi - 10.0**e),
)


@pytest.fixture
def batch():
    return rot.random_quaternion(500, rng=1)


def test_product_follows_the_multiplication_table(batch):
    product = rot.quaternion_multiply(batch[:-1], batch[1:])
    expected = [hamilton_product(a, b) for a, b in itertools.pairwise(batch)]
    np.testing.assert_allclose(product, expected, atol=1e-15)


def test_product_is_scipys_composition(batch):
    expected = scipy_rotation(batch[:-1]) * scipy_rotation(batch[1:])
    got = rot.quaternion_multiply(batch[:-1], batch[1:])
    assert same_rotation(got, expected.as_quat(scalar_first=True), 1e-15)


def test_rotation_of_vectors_is_scipys(batch):
    vectors = np.random.default_rng(2).normal(size=(len(batch), 3))
    rotation = scipy_rotation(batch)
    np.testing.assert_allclose(rot.rotate(batch, vectors), rotation.apply(vectors), atol=1e-14)
    np.testing.assert_allclose(
        rot.rotate_inverse(batch, vectors), rotation.inv().apply(vectors), atol=1e-14
    )


def test_matrices_are_scipys(batch):
    matrices = rot.quaternion_to_matrix(batch)
    np.testing.assert_allclose(matrices, scipy_rotation(batch).as_matrix(), atol=1e-15)
    expected = Rotation.from_matrix(matrices).as_quat(scalar_first=True)
    assert same_rotation(rot.quaternion_from_matrix(matrices), expected, 1e-15)


def test_exp_and_log_are_scipys(batch):
    vectors = rot.quaternion_log(batch)
    np.testing.assert_allclose(vectors, scipy_rotation(batch).as_rotvec(), atol=1e-14)
    vectors = 10.0 * np.random.default_rng(3).normal(size=(500, 3))
    expected = Rotation.from_rotvec(vectors).as_quat(scalar_first=True)
    assert same_rotation(rot.quaternion_exp(vectors), expected, 1e-14)


def test_angle_between_is_scipys(batch):
    relative = scipy_rotation(batch[:-1]).inv() * scipy_rotation(batch[1:])
    np.testing.assert_allclose(
        rot.angle_between(batch[:-1], batch[1:]), relative.magnitude(), atol=1e-14
    )


def test_slerp_is_scipys():
    from scipy.spatial.transform import Slerp

    pair = rot.random_quaternion(2, rng=4)
    times = np.linspace(0.0, 1.0, 11)
    expected = Slerp([0.0, 1.0], scipy_rotation(pair))(times).as_quat(scalar_first=True)
    assert same_rotation(rot.quaternion_slerp(pair[0], pair[1], times), expected, 1e-14)


@pytest.mark.parametrize("angle", ANGLES)
def test_log_undoes_exp_to_full_relative_accuracy(angle):
    axis = np.array([0.36, -0.48, 0.8])
    vector = rot.quaternion_log(rot.quaternion_exp(angle * axis))
    # The angle survives to an absolute 4e-16 near pi and to a relative 4e-16 near zero; subnormal
    # numbers have no relative accuracy to give.
    np.testing.assert_allclose(vector, angle * axis, rtol=1e-15, atol=5e-323 + 4e-16 * angle)


@given(axis=directions, angle=angles)
def test_log_undoes_exp(axis, angle):
    q = rot.quaternion_exp(angle * axis)
    assert np.linalg.norm(q) == pytest.approx(1.0, abs=1e-15)
    assert q[0] >= -1e-15
    atol = 5e-323 + 2e-15 * angle  # subnormal numbers have no relative accuracy to give
    np.testing.assert_allclose(rot.quaternion_log(q), angle * axis, rtol=1e-14, atol=atol)


@given(q=quaternions)
@example(q=np.array([0.0, 0.0, -1.0, 0.0]))
@example(q=np.array([-1.0, 0.0, 0.0, 0.0]))
@example(q=np.array([-1e-17, 0.6, 0.0, 0.8]))
def test_exp_undoes_log_and_log_goes_the_short_way(q):
    vector = rot.quaternion_log(q)
    assert np.linalg.norm(vector) <= math.pi * (1.0 + 1e-15)
    assert same_rotation(rot.quaternion_exp(vector), q, 1e-15)


@given(a=quaternions, b=quaternions, c=quaternions)
def test_group_laws(a, b, c):
    mul = rot.quaternion_multiply
    np.testing.assert_allclose(mul(mul(a, b), c), mul(a, mul(b, c)), atol=1e-14)
    identity = np.array([1.0, 0.0, 0.0, 0.0])
    np.testing.assert_array_equal(mul(a, identity), a)
    np.testing.assert_allclose(mul(a, rot.quaternion_conjugate(a)), identity, atol=1e-15)
    np.testing.assert_allclose(
        rot.quaternion_to_matrix(mul(a, b)),
        rot.quaternion_to_matrix(a) @ rot.quaternion_to_matrix(b),
        atol=1e-14,
    )


@given(q=quaternions, v=directions)
def test_rotation_is_by_the_matrix_and_keeps_lengths(q, v):
    turned = rot.rotate(q, v)
    np.testing.assert_allclose(turned, rot.quaternion_to_matrix(q) @ v, atol=1e-15)
    assert np.linalg.norm(turned) == pytest.approx(1.0, abs=1e-14)
    np.testing.assert_allclose(rot.rotate_inverse(q, turned), v, atol=1e-14)


@given(q=quaternions)
@example(q=np.array([0.0, 1.0, 0.0, 0.0]))
@example(q=np.array([0.0, 0.0, 1.0, 0.0]))
@example(q=np.array([0.0, 0.0, 0.0, 1.0]))
@example(q=np.array([0.5, 0.5, 0.5, 0.5]))
@example(q=np.array([1e-9, 0.6, 0.8, 0.0]))
@example(q=np.array([0.5, -0.5, 0.5, -0.5]))
def test_matrix_round_trip_at_every_trace(q):
    back = rot.quaternion_from_matrix(rot.quaternion_to_matrix(q))
    assert back[0] >= 0.0
    assert same_rotation(back, q, 1e-15)


@given(a=quaternions, b=quaternions, t=st.floats(0.0, 1.0))
def test_slerp_divides_the_shortest_angle(a, b, t):
    middle = rot.quaternion_slerp(a, b, t)
    total = float(rot.angle_between(a, b))
    assert np.linalg.norm(middle) == pytest.approx(1.0, abs=1e-14)
    assert float(rot.angle_between(a, middle)) == pytest.approx(t * total, abs=1e-14)
    assert float(rot.angle_between(middle, b)) == pytest.approx((1.0 - t) * total, abs=1e-14)
    assert same_rotation(rot.quaternion_slerp(a, -b, t), middle, 1e-14) or total > 3.14


@given(a=quaternions, axis=directions, exponent=st.floats(-14.0, -3.0), t=st.floats(0.0, 1.0))
def test_slerp_of_nearly_equal_rotations_keeps_its_accuracy(a, axis, exponent, t):
    small = 10.0**exponent
    b = rot.quaternion_multiply(a, rot.quaternion_exp(small * axis))
    expected = rot.quaternion_multiply(a, rot.quaternion_exp(t * small * axis))
    # Absolute rounding of b; a formula with 1/sin(angle) would lose all digits here.
    np.testing.assert_allclose(rot.quaternion_slerp(a, b, t), expected, atol=1e-15)


def test_slerp_ends_and_extrapolates():
    a, b = rot.random_quaternion(2, rng=5)
    np.testing.assert_array_equal(rot.quaternion_slerp(a, b, 0.0), a)
    np.testing.assert_array_equal(rot.quaternion_slerp(a, a, 0.3), a)
    assert same_rotation(rot.quaternion_slerp(a, b, 1.0), b)
    start, quarter = [1.0, 0.0, 0.0, 0.0], rot.quaternion_exp([0.0, 0.0, 0.5])
    np.testing.assert_allclose(
        rot.quaternion_log(rot.quaternion_slerp(start, quarter, 3.0)), [0.0, 0.0, 1.5], atol=1e-15
    )


@given(a=quaternions, b=quaternions, c=quaternions)
def test_angle_is_a_metric(a, b, c):
    def angle(p, q):
        return float(rot.angle_between(p, q))

    assert angle(a, b) == pytest.approx(angle(b, a), abs=1e-14)
    assert 0.0 <= angle(a, b) <= math.pi
    assert angle(a, -a) <= 1e-15
    assert angle(a, c) <= angle(a, b) + angle(b, c) + 1e-14
    moved = angle(rot.quaternion_multiply(c, a), rot.quaternion_multiply(c, b))
    assert moved == pytest.approx(angle(a, b), abs=1e-14)


@given(q=quaternions, axis=directions, exponent=st.floats(-14.0, -6.0))
def test_small_angles_are_not_lost(q, axis, exponent):
    # The arc cosine of the dot product cannot tell angles below 1e-8 from zero.
    small = 10.0**exponent
    turned = rot.quaternion_multiply(q, rot.quaternion_exp(small * axis))
    assert float(rot.angle_between(q, turned)) == pytest.approx(small, abs=1e-15)


def test_lengths_neither_underflow_nor_overflow():
    tiny = rot.quaternion_exp([3e-200, 0.0, 4e-200])
    assert float(rot.angle_between([1.0, 0.0, 0.0, 0.0], tiny)) == pytest.approx(5e-200)
    huge = rot.quaternion_exp([0.0, 1e200, 0.0])
    np.testing.assert_allclose(huge, [math.cos(5e199), 0.0, math.sin(5e199), 0.0], atol=1e-15)


@pytest.mark.parametrize("scale", [1e-300, 1e-5, 1.0, 1e200])
def test_axis_angle(scale):
    axis, angle = np.array([1.0, -2.0, 0.5]), 2.5
    unit = axis / np.linalg.norm(axis)
    expected = Rotation.from_rotvec(angle * unit).as_quat(scalar_first=True)
    np.testing.assert_allclose(
        rot.quaternion_from_axis_angle(scale * axis, angle), expected, atol=1e-15
    )
    many = rot.quaternion_from_axis_angle(axis, [0.1, -0.2, 7.0])
    np.testing.assert_allclose(many[1], rot.quaternion_exp(-0.2 * unit), atol=1e-15)


separations = st.one_of(
    st.floats(0.0, math.pi),
    st.floats(-18.0, 0.0).map(lambda e: 10.0**e),
    st.floats(-18.0, 0.0).map(lambda e: math.pi - 10.0**e),
)


@given(u=directions, side=directions, angle=separations)
def test_between_vectors_is_the_shortest_rotation(u, side, angle):
    across = np.cross(u, side)
    assume(np.linalg.norm(across) > 1e-3)
    v = rot.rotate(rot.quaternion_from_axis_angle(across, angle), u)
    q = rot.quaternion_between_vectors(3.0 * u, 0.2 * v)
    assert np.linalg.norm(q) == pytest.approx(1.0, abs=1e-14)
    np.testing.assert_allclose(rot.rotate(q, u), v, atol=3e-14)
    assert float(rot.angle_between([1.0, 0.0, 0.0, 0.0], q)) == pytest.approx(angle, abs=1e-14)


@pytest.mark.parametrize("exponent", range(-17, -1))
def test_between_nearly_opposite_vectors_keeps_its_accuracy(exponent):
    rng = np.random.default_rng(10)
    start = rng.normal(size=(200, 3))
    start /= np.linalg.norm(start, axis=-1, keepdims=True)
    across = np.cross(start, rng.normal(size=(200, 3)))
    end = rot.rotate(rot.quaternion_from_axis_angle(across, math.pi - 10.0**exponent), start)
    q = rot.quaternion_between_vectors(start, end)
    np.testing.assert_allclose(rot.rotate(q, start), end, atol=2e-14)
    np.testing.assert_allclose(np.linalg.norm(q, axis=-1), 1.0, atol=1e-14)


@pytest.mark.parametrize("axis", [[1.0, 0, 0], [0, 1.0, 0], [0, 0, -1.0], [1.0, 1.0, 1.0]])
def test_between_opposite_vectors_is_half_a_turn(axis):
    q = rot.quaternion_between_vectors(axis, -np.array(axis))
    np.testing.assert_allclose(rot.rotate(q, axis), -np.array(axis), atol=1e-15)
    assert abs(q[0]) < 1e-15


def test_random_rotations_are_uniform():
    q = rot.random_quaternion(20_000, rng=6)
    # The angle of a uniform rotation has density (1 - cos a) / pi on [0, pi].
    angle = np.linalg.norm(rot.quaternion_log(q), axis=-1)
    assert stats.kstest(angle, lambda a: (a - np.sin(a)) / math.pi).pvalue > 1e-3
    # A turned vector is uniform on the sphere: each coordinate is uniform on [-1, 1].
    for coordinate in rot.rotate(q, [0.0, 0.6, 0.8]).T:
        assert stats.kstest(coordinate, stats.uniform(-1.0, 2.0).cdf).pvalue > 1e-3


def test_random_rotations_follow_the_generator():
    np.testing.assert_array_equal(rot.random_quaternion(3, rng=7), rot.random_quaternion(3, rng=7))
    generator = np.random.default_rng(7)
    first = rot.random_quaternion((3,), rng=generator)
    assert not np.allclose(first, rot.random_quaternion((3,), rng=generator))
    assert rot.random_quaternion().shape == (4,)


def test_skew_is_the_cross_product():
    vectors = np.random.default_rng(8).normal(size=(2, 5, 3))
    others = np.random.default_rng(9).normal(size=(2, 5, 3))
    product = (rot.skew(vectors) @ others[..., None])[..., 0]
    np.testing.assert_allclose(product, np.cross(vectors, others), atol=1e-15)
    np.testing.assert_array_equal(rot.unskew(rot.skew(vectors)), vectors)
    huge = np.array([1e308, 0.0, 1e-308])
    np.testing.assert_array_equal(rot.unskew(rot.skew(huge)), huge)


def test_leading_dimensions_broadcast(batch):
    grid = batch[:6].reshape(2, 3, 4)
    one = batch[7]
    product = rot.quaternion_multiply(one, grid)
    np.testing.assert_array_equal(product[1, 2], rot.quaternion_multiply(one, grid[1, 2]))
    vectors = np.arange(12.0).reshape(4, 1, 1, 3)
    turned = rot.rotate(grid, vectors)
    assert turned.shape == (4, 2, 3, 3)
    np.testing.assert_array_equal(turned[3, 1, 0], rot.rotate(grid[1, 0], vectors[3, 0, 0]))
    assert rot.quaternion_slerp(one, grid, np.ones((5, 1, 1))).shape == (5, 2, 3, 4)
    assert rot.quaternion_multiply(np.zeros((0, 4)), one).shape == (0, 4)
    assert rot.quaternion_from_matrix(np.zeros((0, 3, 3))).shape == (0, 4)
    assert rot.quaternion_between_vectors(np.ones((3, 1, 3)), np.ones((2, 3))).shape == (3, 2, 4)


@pytest.mark.parametrize("scale", [5e-324, 1e-200, 1.0, 1e200, 1e308])
def test_normalize_at_every_scale(scale):
    unit = rot.quaternion_normalize(np.array([1.0, 0.0, -1.0, 0.0]) * scale)
    np.testing.assert_allclose(unit, [0.5**0.5, 0.0, -(0.5**0.5), 0.0], atol=1e-15)


@pytest.mark.parametrize("bad", [[0, 0, 0, 0], [np.nan, 1, 0, 0], [np.inf, 0, 0, 0]])
def test_normalize_refuses_what_has_no_direction(bad):
    stack = np.ones((2, 3, 4))
    stack[1, 2] = bad
    with pytest.raises(ModelError, match=r"quaternion\[1, 2"):
        rot.quaternion_normalize(stack)


def test_zero_vectors_have_no_direction():
    with pytest.raises(ModelError, match="axis has length zero"):
        rot.quaternion_from_axis_angle([0.0, 0.0, 0.0], 1.0)
    with pytest.raises(ModelError, match=r"end\[1\] has length zero"):
        rot.quaternion_between_vectors([1.0, 0.0, 0.0], [[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])


@pytest.mark.parametrize(
    ("matrix", "complaint"),
    [
        (np.diag([1.0, 1.0, -1.0]), "reflection"),
        (2.0 * np.eye(3), "orthonormal"),
        (np.zeros((3, 3)), "orthonormal"),
        (np.full((3, 3), np.nan), "finite"),
    ],
)
def test_matrices_that_are_no_rotations_are_refused(matrix, complaint):
    with pytest.raises(ModelError, match=complaint):
        rot.quaternion_from_matrix(np.stack([np.eye(3), matrix]))


def test_unskew_refuses_a_symmetric_part():
    with pytest.raises(ModelError, match="symmetric part"):
        rot.unskew(rot.skew([1.0, 2.0, 3.0]) + 1e-3 * np.eye(3))


@pytest.mark.parametrize(
    "call",
    [
        lambda: rot.quaternion_multiply([1, 0, 0], [1, 0, 0, 0]),
        lambda: rot.quaternion_normalize(1.0),
        lambda: rot.rotate([1, 0, 0, 0], [1, 2]),
        lambda: rot.quaternion_from_matrix(np.eye(4)),
        lambda: rot.quaternion_exp([[1, 2, 3], [1, 2]]),
        lambda: rot.quaternion_exp(["a", "b", "c"]),
        lambda: rot.quaternion_exp([1j, 0, 0]),
    ],
)
def test_wrong_shapes_are_named(call):
    with pytest.raises(ShapeError, match="expected"):
        call()


@pytest.mark.kernel
def test_kernels_agree_with_numpy(batch):
    for a, b in zip(batch[:40], batch[40:80], strict=True):
        v = 2.0 * b[1:]
        np.testing.assert_allclose(
            kernels.quaternion_multiply(*a, *b), hamilton_product(a, b), atol=1e-15
        )
        np.testing.assert_allclose(kernels.quaternion_normalize(*(3.0 * a)), a, atol=1e-15)
        np.testing.assert_allclose(kernels.rotate(*a, *v), rot.rotate(a, v), atol=1e-15)
        np.testing.assert_allclose(
            kernels.rotate_inverse(*a, *v), rot.rotate_inverse(a, v), atol=1e-15
        )
        np.testing.assert_allclose(kernels.quaternion_log(*a), rot.quaternion_log(a), atol=1e-15)
        out = np.empty((3, 3))
        kernels.quaternion_to_matrix(*a, out)
        np.testing.assert_allclose(out, rot.quaternion_to_matrix(a), atol=1e-15)


@pytest.mark.kernel
@pytest.mark.parametrize("angle", ANGLES)
def test_kernel_exp_and_log_at_the_extremes(angle):
    axis = np.array([0.36, -0.48, 0.8])
    q = kernels.quaternion_exp(*(angle * axis))
    np.testing.assert_allclose(q, rot.quaternion_exp(angle * axis), rtol=1e-15, atol=5e-16)
    expected = pytest.approx(angle * axis, rel=1e-15, abs=5e-323 + 4e-16 * angle)
    assert np.array(kernels.quaternion_log(*q)) == expected
    assert np.array(kernels.quaternion_log(*(-np.array(q)))) == expected
