"""DSF and TDSF shapes: validation, boxes, and how far they stand out of the sharp shapes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from contactworks.common.errors import GeometryError, ShapeError
from contactworks.common.geometry import (
    AxisDsf,
    PlanarCircle,
    PlanarVertexDsf,
    Sphere,
    Tdsf,
    VertexDsf,
    sdf,
)

CORNERS = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * [0.1, 0.2, 0.3]
PEG = [[0.025, -0.05], [0.025, 0.05]]
SQUARE = np.array([[-0.01, -0.02], [0.01, -0.02], [0.01, 0.02], [-0.01, 0.02]])


def _directions(count: int, columns: int = 3) -> np.ndarray:
    return np.random.default_rng(1).normal(size=(count, columns))


def test_defaults_make_the_shape_error_negligible() -> None:
    assert VertexDsf(CORNERS).p == 5e4
    assert AxisDsf(PEG).p == 5e4
    assert AxisDsf(PEG).epsilon == 1e-10
    assert PlanarVertexDsf(SQUARE).p == 5e4
    # A peg of 25 mm radius: under a micrometre, as the law ln2 · r/p + r√ε says.
    lower, upper = AxisDsf(PEG).bounding_box()
    np.testing.assert_allclose(
        upper - [0.025, 0.025, 0.05], [3.466e-7, 3.466e-7, 2.5e-7], rtol=1e-3
    )
    np.testing.assert_allclose(lower, -upper)


@pytest.mark.parametrize("p", [20.0, 500.0, 5e4])
def test_vertex_dsf_stands_out_by_no_more_than_the_bound(p: float) -> None:
    shape = VertexDsf(CORNERS, p=p)
    surface = shape.support(np.concatenate([_directions(3000), np.eye(3), -np.eye(3)]))
    outside, _ = sdf.box_sdf(surface, (0.1, 0.2, 0.3))
    assert outside.min() >= -1e-16
    assert outside.max() <= shape.excess_bound()
    # The bound is not idle: the bulge of the largest face is more than a quarter of it.
    assert outside.max() > 0.25 * shape.excess_bound()


@pytest.mark.parametrize(("p", "epsilon"), [(500.0, 1e-4), (5e4, 1e-10), (500.0, 1e-10)])
def test_axis_dsf_stands_out_by_no_more_than_the_bound(p: float, epsilon: float) -> None:
    shape = AxisDsf(PEG, p=p, epsilon=epsilon)
    x = np.concatenate([_directions(3000), np.eye(3), -np.eye(3)])
    outside, _ = sdf.cylinder_sdf(shape.support(x), 0.025, 0.05)
    assert outside.min() >= -1e-16
    assert 0.25 * shape.excess_bound() < outside.max() <= shape.excess_bound()


def test_axis_dsf_with_one_vertex_and_its_mirror_is_a_bicone_rounded() -> None:
    # p = 2 and the profile (r, 0), (0, ±r) make a sphere.
    shape = AxisDsf([[0.2, 0.0], [0.0, 0.2], [0.0, -0.2]], p=2.0, epsilon=1e-30)
    np.testing.assert_allclose(
        shape.support(_directions(50)), Sphere(0.2).support(_directions(50)), atol=1e-15
    )


@pytest.mark.parametrize("path", [PlanarCircle(0.05), PlanarVertexDsf(SQUARE * 4, p=30.0)])
@pytest.mark.parametrize("section", [PlanarCircle(0.008), PlanarVertexDsf(SQUARE * 0.5, p=30.0)])
def test_box_of_a_tdsf_holds_its_surface(
    path: PlanarCircle | PlanarVertexDsf, section: PlanarCircle | PlanarVertexDsf
) -> None:
    shape = Tdsf(path, section)
    angle = np.linspace(0.0, 2.0 * np.pi, 361)
    a, b = (grid.reshape(-1) for grid in np.meshgrid(angle, angle))
    u, v = np.column_stack([np.cos(a), np.sin(a)]), np.column_stack([np.cos(b), np.sin(b)])
    surface = shape.evaluate(u, v).point
    lower, upper = shape.bounding_box()
    assert (surface >= lower - 1e-12).all()
    assert (surface <= upper + 1e-12).all()
    # Tight here: both sections are symmetric, and the directions of the box are sampled.
    np.testing.assert_allclose(surface.max(axis=0), upper, atol=1e-9)
    np.testing.assert_allclose(surface.min(axis=0), lower, atol=1e-9)


def test_box_of_a_tdsf_with_a_lopsided_section() -> None:
    section = PlanarVertexDsf(SQUARE + [-0.008, 0.0])  # reaches 18 mm in, 2 mm out
    path = PlanarVertexDsf([[-0.05, -0.04], [0.08, 0.0], [-0.05, 0.04]], p=50.0)
    shape = Tdsf(path, section)
    angle = np.linspace(0.0, 2.0 * np.pi, 721)
    u = np.column_stack([np.cos(angle), np.sin(angle)])
    lower, upper = shape.bounding_box()
    for outward in (-1.0, 1.0):
        surface = shape.evaluate(u, np.tile([outward, 0.0], (len(u), 1))).point
        assert (surface <= upper + 1e-12).all()
        assert (surface >= lower - 1e-12).all()


def test_a_section_that_closes_the_hole_is_refused() -> None:
    with pytest.raises(GeometryError, match="the hole would close"):
        Tdsf(PlanarCircle(0.05), PlanarCircle(0.05))
    with pytest.raises(GeometryError, match="the hole would close"):
        Tdsf(PlanarVertexDsf(SQUARE), PlanarCircle(0.0101))
    Tdsf(PlanarVertexDsf(SQUARE), PlanarCircle(0.0099))


@pytest.mark.parametrize("p", [1.0, 0.0, -5.0, np.nan, np.inf])
def test_sharpness_out_of_range_is_refused(p: float) -> None:
    for make in (
        lambda: VertexDsf(CORNERS, p=p),
        lambda: AxisDsf(PEG, p=p),
        lambda: PlanarVertexDsf(SQUARE, p=p),
    ):
        with pytest.raises(GeometryError, match=r"Dsf\.p: got .*expected"):
            make()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: VertexDsf(CORNERS + [0.1, 0, 0]), "origin is not strictly inside"),
        (lambda: VertexDsf(CORNERS + [0.5, 0, 0]), "origin is not strictly inside"),
        (lambda: VertexDsf(CORNERS * [1, 1, 0]), "origin is not strictly inside"),
        (lambda: VertexDsf(CORNERS[:3]), "got 3 entries, expected at least 4"),
        (lambda: VertexDsf(CORNERS * np.nan), r"VertexDsf\.vertices\[0, 0\] is nan"),
        (lambda: VertexDsf(np.zeros((0, 3))), "empty"),
        (lambda: AxisDsf([[0.1, -0.2], [-0.1, 0.2]]), r"profile\[1\]: got radius -0\.1"),
        (lambda: AxisDsf([[0.1, 0.1], [0.1, 0.2]]), "strictly inside"),
        (lambda: AxisDsf([[0.0, -0.1], [0.0, 0.2]]), "strictly inside"),
        (lambda: AxisDsf(PEG, epsilon=0.0), r"AxisDsf\.epsilon"),
        (lambda: AxisDsf(PEG, epsilon=np.nan), r"AxisDsf\.epsilon"),
        (lambda: PlanarVertexDsf(SQUARE + [0.02, 0.0]), "origin is not strictly inside"),
        (lambda: PlanarVertexDsf(SQUARE[:2]), "expected at least 3"),
        (lambda: PlanarVertexDsf(SQUARE * [1.0, 0.0]), "origin is not strictly inside"),
        (lambda: PlanarCircle(-1.0), r"PlanarCircle\.radius"),
        (lambda: Tdsf(1.0, PlanarCircle(1.0)), r"Tdsf\.path: got float"),
        (lambda: Tdsf(PlanarCircle(1.0), Sphere(0.1)), r"Tdsf\.section: got Sphere"),
    ],
)
def test_wrong_values_are_refused(make: Callable[[], object], message: str) -> None:
    with pytest.raises(GeometryError, match=message):
        make()


def test_wrong_array_shapes_are_refused() -> None:
    for make in (
        lambda: VertexDsf(CORNERS[:, :2]),
        lambda: AxisDsf(CORNERS),
        lambda: PlanarVertexDsf(CORNERS),
    ):
        with pytest.raises(ShapeError, match="expected"):
            make()


def test_planar_shapes_compare_by_value() -> None:
    assert PlanarVertexDsf(SQUARE) == PlanarVertexDsf(SQUARE)
    assert hash(PlanarVertexDsf(SQUARE)) == hash(PlanarVertexDsf(SQUARE))
    assert PlanarVertexDsf(SQUARE) != PlanarVertexDsf(SQUARE, p=20.0)
    assert PlanarVertexDsf(SQUARE) != PlanarCircle(1.0)
