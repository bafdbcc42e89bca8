"""Primitive shapes: validation, comparison, boxes, support points and masses."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from collections.abc import Callable
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contactworks.common.errors import GeometryError, ShapeError
from contactworks.common.geometry import (
    AxisDsf,
    Box,
    Capsule,
    ConvexHull,
    ConvexShape,
    Cylinder,
    GridSdf,
    Mesh,
    PlanarCircle,
    PlanarVertexDsf,
    Plane,
    Sdf,
    Shape,
    Sphere,
    Tdsf,
    VertexDsf,
)

CORNERS = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * [0.1, 0.2, 0.3]
SQUARE = [[-0.01, -0.02], [0.01, -0.02], [0.01, 0.02], [-0.01, 0.02]]


def ball(x: float, y: float, z: float, p: np.ndarray) -> float:
    return float((x * x + y * y + z * z) ** 0.5 - p[0])


def _grid_values() -> np.ndarray:
    values = np.full((3, 3, 3), 1.0)
    values[1, 1, 1] = -1.0
    return values


# Every class twice, with another value.
MAKERS: dict[str, Callable[[float], Shape]] = {
    "sphere": Sphere,
    "capsule": lambda s: Capsule(0.1 * s, 0.3),
    "box": lambda s: Box((0.1 * s, 0.2, 0.3)),
    "cylinder": lambda s: Cylinder(0.1, 0.3 * s),
    "hull": lambda s: ConvexHull(CORNERS * s),
    "mesh": lambda s: Mesh(CORNERS * s, [[0, 1, 2], [1, 2, 3]]),
    "sdf": lambda s: Sdf(ball, parameters=(s,), bounds=([-s] * 3, [s] * 3)),
    "grid sdf": lambda s: GridSdf((0, 0, s), 0.1, _grid_values()),
    "vertex dsf": lambda s: VertexDsf(CORNERS, p=100 * s),
    "axis dsf": lambda s: AxisDsf([[0.1, -0.2], [0.1 * s, 0.2]]),
    "tdsf": lambda s: Tdsf(PlanarCircle(s), PlanarVertexDsf(SQUARE)),
}
every_shape = pytest.mark.parametrize("make", MAKERS.values(), ids=list(MAKERS))

CONVEX = ["sphere", "capsule", "box", "cylinder", "hull", "vertex dsf", "axis dsf"]
EXACT = ["sphere", "capsule", "box", "cylinder", "hull"]


@every_shape
def test_shapes_are_equal_by_value(make: Callable[[float], Shape]) -> None:
    assert make(1.0) == make(1.0)
    assert hash(make(1.0)) == hash(make(1.0))
    assert make(1.0) != make(1.5)
    assert make(1.0) != "a shape"
    assert Plane() == Plane()
    assert Plane() != make(1.0)


@every_shape
def test_copies_are_equal_and_stay_read_only(make: Callable[[float], Shape]) -> None:
    shape = make(1.0)
    for twin in (pickle.loads(pickle.dumps(shape)), copy.deepcopy(shape), copy.copy(shape)):
        assert twin == shape
        for name in twin.__dataclass_fields__:
            value = getattr(twin, name)
            if isinstance(value, np.ndarray):
                assert not value.flags.writeable
                assert value.flags.c_contiguous


@every_shape
def test_shapes_are_immutable(make: Callable[[float], Shape]) -> None:
    shape = make(1.0)
    name = next(iter(shape.__dataclass_fields__))
    with pytest.raises(FrozenInstanceError):
        setattr(shape, name, 2.0)
    with pytest.raises((AttributeError, TypeError)):
        shape.colour = "red"  # type: ignore[attr-defined]


def test_arrays_are_copied() -> None:
    half = np.array([1.0, 2.0, 3.0])
    box = Box(half)
    half[0] = 9.0
    np.testing.assert_array_equal(box.half_size, [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="read-only"):
        box.half_size[0] = 5.0


@pytest.mark.parametrize("name", CONVEX)
def test_box_is_what_the_support_points_span(name: str) -> None:
    shape = MAKERS[name](1.0)
    assert isinstance(shape, ConvexShape)
    lower, upper = shape.bounding_box()
    axes = np.eye(3)
    np.testing.assert_allclose(np.diag(shape.support(axes)), upper, rtol=1e-12)
    np.testing.assert_allclose(np.diag(shape.support(-axes)), lower, rtol=1e-12)


directions = st.tuples(*[st.floats(-1.0, 1.0)] * 3).filter(any)


@pytest.mark.parametrize("name", EXACT)
@settings(max_examples=60, deadline=None)
@given(direction=directions)
def test_support_point_is_on_the_shape_and_farthest(
    name: str, direction: tuple[float, ...]
) -> None:
    shape = MAKERS[name](1.0)
    assert isinstance(shape, ConvexShape)
    point = shape.support(np.array(direction))
    assert point.shape == (3,)
    # On the surface by the signed distance, and no point of the shape reaches farther.
    assert shape.signed_distance(point[None])[0][0] == pytest.approx(0.0, abs=1e-15)
    lower, upper = shape.bounding_box()
    cloud = np.random.default_rng(0).uniform(lower, upper, size=(500, 3))
    inside = cloud[shape.signed_distance(cloud)[0] <= 0.0]
    assert len(inside) > 100
    unit = np.array(direction) / np.abs(direction).max()
    assert (inside @ unit).max() <= point @ unit + 1e-12


def test_support_takes_many_directions() -> None:
    points = Box((1.0, 2.0, 3.0)).support([[1.0, 1.0, 1.0], [-1e-300, 1.0, -1.0]])
    np.testing.assert_array_equal(points, [[1.0, 2.0, 3.0], [-1.0, 2.0, -3.0]])
    with pytest.raises(GeometryError, match=r"direction\[0\].*non-zero"):
        Sphere(1.0).support([0.0, 0.0, 0.0])
    with pytest.raises(ShapeError, match="direction"):
        Sphere(1.0).support([1.0, 0.0])


def test_cylinder_support_at_the_axis() -> None:
    np.testing.assert_array_equal(Cylinder(1.0, 2.0).support([0.0, 0.0, 3.0]), [0.0, 0.0, 2.0])
    for tilt in (1e-300, 5e-324):
        np.testing.assert_array_equal(
            Cylinder(1.0, 2.0).support([-tilt, 0.0, 1.0]), [-1.0, 0.0, 2.0]
        )


def test_plane_is_a_half_space() -> None:
    lower, upper = Plane().bounding_box()
    np.testing.assert_array_equal(lower, [-np.inf] * 3)
    np.testing.assert_array_equal(upper, [np.inf, np.inf, 0.0])
    distance, gradient = Plane().signed_distance([[5.0, 6.0, -0.25]])
    np.testing.assert_array_equal(distance, [-0.25])
    np.testing.assert_array_equal(gradient, [[0.0, 0.0, 1.0]])


@pytest.mark.parametrize(
    ("shape", "volume"),
    [
        (Sphere(0.2), 4 / 3 * np.pi * 0.008),
        (Capsule(0.1, 0.3), np.pi * 0.01 * 0.6 + 4 / 3 * np.pi * 0.001),
        (Box((0.1, 0.2, 0.3)), 0.048),
        (Cylinder(0.1, 0.3), np.pi * 0.01 * 0.6),
        (ConvexHull(CORNERS), 0.048),
    ],
)
def test_mass_properties_agree_with_sampling(shape: Shape, volume: float) -> None:
    found = shape.mass_properties(1000.0)  # type: ignore[attr-defined]
    assert found.mass == pytest.approx(1000.0 * volume, rel=1e-12)
    # A regular grid of points weighs as the solid does, but for the cells that the surface cuts.
    lower, upper = shape.bounding_box()
    ticks = [
        lo + (np.arange(60) + 0.5) / 60 * (hi - lo) for lo, hi in zip(lower, upper, strict=True)
    ]
    cloud = np.stack(np.meshgrid(*ticks, indexing="ij"), axis=-1).reshape(-1, 3)
    inside = cloud[shape.signed_distance(cloud)[0] < 0.0]  # type: ignore[attr-defined]
    weight = 1000.0 * np.prod((upper - lower) / 60)
    square = (inside**2).sum(axis=1)
    inertia = weight * (square.sum() * np.eye(3) - inside.T @ inside)
    np.testing.assert_allclose(found.center_of_mass, 0.0, atol=1e-12)
    np.testing.assert_allclose(found.inertia, inertia, atol=0.01 * np.abs(inertia).max())


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Sphere(0.0), r"Sphere\.radius: got 0\.0, expected a number above 0"),
        (lambda: Sphere(-1.0), r"Sphere\.radius"),
        (lambda: Sphere(float("nan")), r"Sphere\.radius: got nan, expected a finite"),
        (lambda: Sphere("1.0"), r"Sphere\.radius: got '1\.0', expected a number"),
        (lambda: Capsule(1.0, float("inf")), r"Capsule\.half_length"),
        (lambda: Capsule(1.0, 0.0), r"Capsule\.half_length"),
        (lambda: Cylinder(1.0, -2.0), r"Cylinder\.half_length"),
        (lambda: Cylinder(None, 1.0), r"Cylinder\.radius"),
        (lambda: Box((1.0, 0.0, 1.0)), r"Box\.half_size"),
        (lambda: Box((1.0, np.nan, 1.0)), r"Box\.half_size\[1\] is nan"),
        (lambda: Box([]), r"Box\.half_size: got an empty array"),
        (lambda: ConvexHull(np.zeros((0, 3))), r"ConvexHull\.vertices: got an empty array"),
        (lambda: ConvexHull(CORNERS[:3]), "got 3 entries, expected at least 4"),
        (lambda: ConvexHull(CORNERS * [1, 1, 0]), "lie in one plane"),
        (lambda: ConvexHull(CORNERS * [1, 1, 0] + 1e3), "lie in one plane"),
        (lambda: ConvexHull(np.ones((5, 3))), "lie in one plane"),
    ],
)
def test_wrong_values_are_refused(make: Callable[[], Shape], message: str) -> None:
    with pytest.raises(GeometryError, match=message):
        make()


@pytest.mark.parametrize(
    "make",
    [
        lambda: Box((1.0, 2.0)),
        lambda: Box(1.0),
        lambda: Box(("a", "b", "c")),
        lambda: Box((1.0, 2.0, 1j)),
        lambda: ConvexHull([[1, 2], [3, 4], [5, 6], [7, 8]]),
        lambda: ConvexHull([[1, 2, 3], [4, 5]]),
    ],
)
def test_wrong_array_shapes_are_refused(make: Callable[[], Shape]) -> None:
    with pytest.raises(ShapeError, match="expected"):
        make()


def test_importing_the_shapes_loads_no_heavy_package() -> None:
    code = (
        "import sys, contactworks.common.geometry\n"
        "print([m for m in ('scipy', 'trimesh', 'numba', 'matplotlib') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
