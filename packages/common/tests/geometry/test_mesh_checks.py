"""Reports on meshes: open, flipped, doubled and flat places, bodies, cavities."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contactworks.common.errors import GeometryError
from contactworks.common.geometry import Mesh, check_mesh
from contactworks.common.geometry.mesh_checks import (
    require_solid,
    require_watertight,
    zero_area_faces,
)

from .solids import BALL, CUBE, joined, report_on


def test_report_of_a_solid() -> None:
    report = report_on(BALL.vertices, BALL.faces)
    assert report.is_solid
    assert report.is_watertight
    assert report.problems() == ()
    assert report.bodies == 1
    assert report.volume == pytest.approx(BALL.volume, rel=1e-12)
    assert (report.vertex_count, report.face_count) == (len(BALL.vertices), len(BALL.faces))
    assert report.unused_vertices == 0
    assert require_solid(BALL.vertices, BALL.faces) == report


def test_report_of_an_open_mesh() -> None:
    report = report_on(CUBE.vertices, CUBE.faces[1:])
    a, b, c = sorted(CUBE.faces[0].tolist())
    assert set(report.open_edges) == {(a, b), (b, c), (a, c)}
    assert not report.is_watertight
    assert np.isnan(report.volume)
    with pytest.raises(GeometryError, match="cup: not watertight: 3 open edges, for example betw"):
        require_watertight(CUBE.vertices, CUBE.faces[1:], name="cup")


def test_report_of_flipped_and_inverted_faces() -> None:
    faces = CUBE.faces.copy()
    faces[0] = faces[0][::-1]
    report = report_on(CUBE.vertices, faces)
    assert report.open_edges == ()
    assert len(report.flipped_edges) == 3
    assert "inconsistent orientation: 3 edges" in report.problems()[0]
    inside_out = report_on(CUBE.vertices, CUBE.faces[:, ::-1])
    assert inside_out.is_watertight
    assert not inside_out.is_solid
    assert inside_out.inverted_bodies == (0,)
    assert "inverted orientation" in inside_out.problems()[0]
    assert "fix_orientation=True" in inside_out.problems()[0]
    with pytest.raises(GeometryError, match="inverted orientation"):
        Mesh(CUBE.vertices, CUBE.faces[:, ::-1]).volume()


def test_report_of_doubled_and_flat_bodies() -> None:
    double = report_on(CUBE.vertices, np.concatenate([CUBE.faces, CUBE.faces[:2]]))
    assert double.duplicate_faces == (12, 13)
    assert not double.is_solid
    sheet = report_on([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2], [0, 2, 1]])
    assert not sheet.is_solid
    thin = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1.0, 1, 0]])
    folded = report_on(thin, [[0, 1, 2], [1, 3, 2], [0, 2, 3], [0, 3, 1]])
    assert folded.is_watertight
    assert "encloses no volume" in folded.problems()[0]
    fin = report_on(CUBE.vertices, np.concatenate([CUBE.faces, [[0, 1, 6]]]))
    assert fin.branching_edges


def test_a_cavity_is_no_inverted_body() -> None:
    shell = joined((BALL.vertices, BALL.faces), (BALL.vertices * 0.5, BALL.faces[:, ::-1]))
    report = report_on(*shell)
    assert report.is_solid
    assert report.volume == pytest.approx(BALL.volume * 0.875, rel=1e-12)
    beside = report_on(
        *joined((BALL.vertices, BALL.faces), (BALL.vertices + [1.0, 0, 0], BALL.faces[:, ::-1]))
    )
    assert beside.inverted_bodies == (1,)


@settings(max_examples=50, deadline=None)
@given(exponent=st.integers(-150, 150), seed=st.integers(0, 100))
def test_flat_faces_are_found_at_any_scale(exponent: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    good = rng.normal(size=(3, 3))
    flat = np.array([good[0], good[1], 0.3 * good[0] + 0.7 * good[1]])
    points = np.concatenate([good, flat, [good[0], good[0], good[1]]]) * 2.0**exponent
    found = zero_area_faces(points, np.arange(9).reshape(3, 3))
    np.testing.assert_array_equal(found, [1, 2])


def test_arrays_that_are_no_mesh_are_refused() -> None:
    with pytest.raises(GeometryError, match=r"faces\[0, 2\]: got index 9, expected 0 to 7"):
        check_mesh(CUBE.vertices, [[0, 1, 9]])
    with pytest.raises(GeometryError, match="vertices: got an empty array"):
        check_mesh(np.zeros((0, 3)), [[0, 1, 2]])
