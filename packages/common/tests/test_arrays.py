"""Which arguments pass, as what, and with which error and place the others are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from contactworks.common.arrays import (
    as_finite_array,
    as_float_array,
    components,
    finite_scalar,
    frozen_array,
    lengths,
    mesh_arrays,
    points_array,
    positive_scalar,
    refuse_where,
    require_shape,
    unit_vectors,
)
from contactworks.common.errors import CalibrationError, GeometryError, ModelError, ShapeError

TETRAHEDRON = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]
CORNERS = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
NO_NUMBERS: list[Any] = ["abc", [1 + 2j], [None], [[1, 2], [3]], [object()]]


@pytest.mark.parametrize("value", [[1, 2], (True, False), np.float32([0.5, 1]), np.ones((4, 2))])
def test_numbers_of_any_kind_become_float64(value: Any) -> None:
    array = as_float_array(value, "x", (2,))
    assert array.dtype == np.float64
    np.testing.assert_array_equal(array, np.array(value, dtype=float))


@pytest.mark.parametrize("value", NO_NUMBERS)
def test_what_is_no_number_is_a_shape_error_everywhere(value: Any) -> None:
    for call in (
        lambda: as_float_array(value, "x", ()),
        lambda: as_finite_array(value, "x", ()),
        lambda: frozen_array(value, "x", ("n",)),
        lambda: points_array(value, name="x"),
        lambda: unit_vectors(value, "x", 2),
    ):
        with pytest.raises(ShapeError, match=r"^x: got .*expected real numbers"):
            call()


@pytest.mark.parametrize(
    ("shape", "tail", "text"),
    [((3,), (4,), r"\(3,\), expected \(\.\.\., 4\)"), ((), (3,), r"\(\), expected \(\.\.\., 3\)")],
)
def test_other_last_dimensions_are_refused(
    shape: tuple[int, ...], tail: tuple[int, ...], text: str
) -> None:
    with pytest.raises(ShapeError, match=f"x: got shape {text}"):
        as_float_array(np.zeros(shape), "x", tail)


def test_the_first_number_that_is_not_finite_is_named() -> None:
    value = np.zeros((2, 3))
    value[1, 2], value[1, 1] = np.inf, np.nan
    with pytest.raises(ModelError, match=r"^x\[1, 1\] is nan \(2 of 6 values are not finite\)"):
        as_finite_array(value, "x", (3,))
    with pytest.raises(ModelError, match=r"^x is -inf \(1 of 1 values"):
        frozen_array(-np.inf, "x", ())


def test_callers_choose_the_error_of_a_value_but_not_of_a_shape() -> None:
    for call in (
        lambda value: as_finite_array(value, "x", (2,), error=CalibrationError),
        lambda value: frozen_array(value, "x", (2,), error=CalibrationError),
        lambda value: unit_vectors(value, "x", 2, error=CalibrationError),
    ):
        with pytest.raises(CalibrationError):
            call([np.nan, 1.0])
        with pytest.raises(ShapeError):
            call([1.0, 1.0, 1.0])
    with pytest.raises(CalibrationError):
        positive_scalar(-1.0, "x", error=CalibrationError)
    with pytest.raises(CalibrationError):
        refuse_where([True], "x", "is bad", error=CalibrationError)


def test_a_frozen_array_is_a_read_only_copy() -> None:
    value = np.asfortranarray(np.ones((2, 3)))
    array = frozen_array(value, "x", (2, "n"))
    value[0, 0] = 5.0
    assert array[0, 0] == 1.0
    assert array.flags.c_contiguous
    with pytest.raises(ValueError, match="read-only"):
        array[0, 0] = 2.0


@pytest.mark.parametrize(
    ("value", "shape", "rows", "error", "text"),
    [
        (np.zeros((2, 3)), (3,), 1, ShapeError, r"got shape \(2, 3\), expected \(3,\)"),
        (np.zeros((2, 3)), ("n", 2), 1, ShapeError, r"got shape \(2, 3\), expected \(n, 2\)"),
        (np.zeros((2, 3)), ("n", 3), 3, ModelError, "got 2 entries, expected at least 3"),
        (np.zeros((0, 3)), ("n", 3), 1, ModelError, r"got an empty array \(0, 3\)"),
        ([], (3,), 1, ShapeError, r"got shape \(0,\), expected \(3,\)"),
    ],
)
def test_frozen_arrays_of_another_size_are_refused(
    value: Any, shape: tuple[int | str, ...], rows: int, error: type[Exception], text: str
) -> None:
    with pytest.raises(ModelError, match=f"^x: {text}") as caught:
        frozen_array(value, "x", shape, minimum_rows=rows)
    assert type(caught.value) is error


def test_an_empty_array_may_be_allowed() -> None:
    assert frozen_array([], "x", ("n",), minimum_rows=0).shape == (0,)
    assert points_array(np.zeros((0, 2)), 2).shape == (0, 2)


def test_points_are_rows() -> None:
    with pytest.raises(ShapeError, match=r"points: got shape \(3,\), expected \(n, 3\)"):
        points_array([0.0, 0.0, 0.0])
    with pytest.raises(GeometryError, match=r"corner\[1, 0\] is inf"):
        points_array([[0.0, 0.0], [np.inf, 0.0]], 2, name="corner")


def test_arrays_of_a_mesh_are_read_only_copies() -> None:
    faces = np.array(TETRAHEDRON, dtype=np.uint8)
    points, index = mesh_arrays(CORNERS, faces)
    faces[0, 0] = 9
    assert (points.dtype, index.dtype) == (np.float64, np.int64)
    assert index.tolist() == TETRAHEDRON
    assert not points.flags.writeable
    assert not index.flags.writeable


@pytest.mark.parametrize(
    ("vertices", "faces", "error", "text"),
    [
        (CORNERS, [[0, 1, 4]], GeometryError, r"^M\.faces\[0, 2\]: got index 4, expected 0 to 3"),
        (CORNERS, [[0, 1, 2], [-1, 0, 1]], GeometryError, r"^M\.faces\[1, 0\]: got index -1"),
        (CORNERS, [[0.0, 1.0, 2.0]], GeometryError, r"^M\.faces: got values of type float64"),
        (CORNERS, np.zeros((0, 3), int), GeometryError, r"^M\.faces: got an empty array"),
        (CORNERS, [[0, 1, 2, 3]], ShapeError, r"^M\.faces: got shape \(1, 4\), expected \(n, 3\)"),
        (CORNERS, [[0, 1, 2], [3]], ShapeError, r"^M\.faces"),
        (CORNERS[:2], TETRAHEDRON, GeometryError, r"^M\.vertices: got 2 entries, expected at le"),
        (np.zeros((0, 3)), TETRAHEDRON, GeometryError, r"^M\.vertices: got an empty array"),
        (np.full((4, 3), np.nan), TETRAHEDRON, GeometryError, r"^M\.vertices\[0, 0\] is nan"),
        (np.zeros((4, 2)), TETRAHEDRON, ShapeError, r"^M\.vertices: got shape \(4, 2\)"),
    ],
)
def test_arrays_that_are_no_mesh_are_refused(
    vertices: Any, faces: Any, error: type[ModelError], text: str
) -> None:
    with pytest.raises(error, match=text):
        mesh_arrays(vertices, faces, owner="M.", minimum_vertices=3)


@pytest.mark.parametrize("value", [1, 2.5, np.float32(0.5), np.array(3), True])
def test_scalars_become_floats(value: Any) -> None:
    for check in (finite_scalar, positive_scalar):
        number = check(value, "x")
        assert type(number) is float
        assert number == value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("1.0", "got '1.0', expected a number"),
        (None, "got None, expected a number"),
        ([1.0, 2.0], "expected a number"),
        (np.nan, "got nan, expected a finite number"),
        (-np.inf, "got -inf, expected a finite number"),
    ],
)
def test_what_is_no_finite_scalar_is_refused(value: Any, text: str) -> None:
    for check in (finite_scalar, positive_scalar):
        with pytest.raises(ModelError, match=f"^x: .*{text}"):
            check(value, "x")


def test_scalars_that_are_not_positive_are_refused() -> None:
    assert finite_scalar(-1.0, "x") == -1.0
    for value in (0.0, -0.0, -1.0):
        with pytest.raises(ModelError, match=f"^x: got {value}, expected a number above 0"):
            positive_scalar(value, "x")


vectors = hnp.arrays(
    np.float64,
    st.tuples(st.integers(1, 4), st.just(3)),
    elements=st.integers(-100, 100).map(float),
).filter(lambda rows: rows.any(axis=1).all())


@given(rows=vectors, exponent=st.integers(-900, 900))
def test_unit_vectors_at_any_scale(rows: np.ndarray, exponent: int) -> None:
    unit = unit_vectors(np.ldexp(rows, exponent), "x", 3)
    # Plain formula on whole numbers, where nothing can overflow.
    np.testing.assert_allclose(unit, rows / np.sqrt((rows**2).sum(axis=1))[:, None], rtol=1e-15)


@given(rows=vectors, exponent=st.integers(-900, 900))
def test_lengths_at_any_scale(rows: np.ndarray, exponent: int) -> None:
    expected = np.ldexp(np.sqrt((rows**2).sum(axis=1)), exponent)
    np.testing.assert_allclose(lengths(np.ldexp(rows, exponent)), expected, rtol=1e-15)


def test_a_vector_without_direction_is_refused() -> None:
    with pytest.raises(ModelError, match=r"^axis\[1\] has length zero"):
        unit_vectors([[1.0, 0.0], [0.0, 0.0]], "axis", 2)


def test_components_are_the_last_dimension() -> None:
    x, y = components(np.array([[1.0, 2.0], [3.0, 4.0]]))
    assert (x.tolist(), y.tolist()) == ([1.0, 3.0], [2.0, 4.0])


def test_the_first_bad_place_is_named() -> None:
    refuse_where([[False, False]], "x", "is bad")
    with pytest.raises(ModelError, match=r"^x\[0, 1\] is bad$"):
        refuse_where([[False, True], [True, True]], "x", "is bad")
    with pytest.raises(ModelError, match=r"^x is bad$"):
        refuse_where(True, "x", "is bad")


@pytest.mark.parametrize("shape", [(2, 3), ("n", 3), ("n", "m"), (2, "m")])
def test_a_letter_stands_for_any_size(shape: tuple[int | str, ...]) -> None:
    require_shape(np.zeros((2, 3)), "x", shape)


@pytest.mark.parametrize(
    ("shape", "text"),
    [
        ((), "()"),
        ((6,), "(6,)"),
        (("E", 2), "(E, 2)"),
        ((3, "m"), "(3, m)"),
        ((1, 2, 3), "(1, 2, 3)"),
    ],
)
def test_other_shapes_are_refused(shape: tuple[int | str, ...], text: str) -> None:
    with pytest.raises(ShapeError) as caught:
        require_shape(np.zeros((2, 3)), "x", shape)
    assert str(caught.value) == f"x: got shape (2, 3), expected {text}"
