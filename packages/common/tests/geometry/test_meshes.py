"""Loading and checking meshes: what is read, what is refused, and with which words."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import trimesh

from contactworks.common.errors import FileFormatError, GeometryError, ShapeError
from contactworks.common.geometry import (
    Mesh,
    clean_mesh,
    from_trimesh,
    load_mesh,
    split_bodies,
    to_trimesh,
)

from .solids import BALL, CUBE, joined, report_on


@pytest.mark.parametrize("suffix", ["stl", "obj", "ply", "off"])
def test_files_are_read(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"ball.{suffix}"
    BALL.export(path)
    mesh = load_mesh(path, solid=True)
    assert len(mesh.vertices) == len(BALL.vertices)  # an STL file holds each three to six times
    assert len(mesh.faces) == len(BALL.faces)
    assert mesh.volume() == pytest.approx(BALL.volume, rel=1e-6)  # single precision in the file
    assert load_mesh(str(path)) == mesh


@pytest.mark.parametrize(
    ("unit", "factor"), [("mm", 1e-3), ("cm", 1e-2), ("in", 0.0254), ("um", 1e-6), ("m", 1.0)]
)
def test_units_and_scale(tmp_path: Path, unit: str, factor: float) -> None:
    path = tmp_path / "cube.ply"
    CUBE.export(path)
    mesh = load_mesh(path, unit=unit, scale=2.0)
    np.testing.assert_allclose(mesh.bounding_box()[1], np.array([0.02, 0.04, 0.06]) * factor)


def test_quads_and_groups_become_triangles(tmp_path: Path) -> None:
    path = tmp_path / "two.obj"
    path.write_text(
        "o one\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n"
        "o two\nv 0 0 1\nv 1 0 1\nv 0 1 1\nf -3 -2 -1\n"
    )
    mesh = load_mesh(path)
    assert len(mesh.faces) == 3
    assert mesh.area() == pytest.approx(1.5)


def _truncated(path: Path) -> None:
    BALL.export(path)
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("cut.stl", _truncated),
        ("cut.ply", _truncated),
        ("cut.off", _truncated),
        ("empty.stl", lambda path: path.write_bytes(b"")),
        ("noise.stl", lambda path: path.write_bytes(b"this is no mesh" * 50)),
        ("noise.ply", lambda path: path.write_bytes(b"ply\nnoise")),
        ("noise.off", lambda path: path.write_bytes(b"OFF\n3")),
        ("noise.obj", lambda path: path.write_bytes(b"\x00\x01\x02")),
        ("points.obj", lambda path: path.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\n")),
        ("range.obj", lambda path: path.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n")),
        ("cloud.ply", lambda path: trimesh.PointCloud(BALL.vertices).export(path)),
        ("missing.stl", lambda path: None),
        ("table.csv", lambda path: path.write_text("1,2,3")),
    ],
)
def test_broken_files_are_refused_by_name(
    tmp_path: Path, name: str, write: Callable[[Path], object]
) -> None:
    path = tmp_path / name
    write(path)
    with pytest.raises(FileFormatError, match=name):
        load_mesh(path)


def test_nan_in_a_file_names_file_and_place(tmp_path: Path) -> None:
    path = tmp_path / "nan.obj"
    path.write_text("v 0 0 nan\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    with pytest.raises(GeometryError, match=r"nan\.obj: Mesh\.vertices\[0, 2\] is nan \(1 of 9"):
        load_mesh(path)


def test_wrong_options_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "cube.stl"
    CUBE.export(path)
    with pytest.raises(GeometryError, match="unit: got 'yard', expected one of m, dm"):
        load_mesh(path, unit="yard")
    for scale in (0.0, -1.0, np.nan):
        with pytest.raises(GeometryError, match="scale"):
            load_mesh(path, scale=scale)
    with pytest.raises(GeometryError, match="merge_tolerance"):
        load_mesh(path, merge_tolerance=-1.0)


def test_an_open_file_is_refused_where_a_volume_is_needed(tmp_path: Path) -> None:
    path = tmp_path / "lid_off.stl"
    trimesh.Trimesh(CUBE.vertices, CUBE.faces[1:], process=False).export(path)
    assert len(load_mesh(path).faces) == 11
    with pytest.raises(GeometryError, match=r"lid_off\.stl: .*not watertight: 3 open edges"):
        load_mesh(path, solid=True)


def test_trimesh_round_trip_keeps_order() -> None:
    mesh = from_trimesh(BALL)
    back = to_trimesh(mesh)
    np.testing.assert_array_equal(back.vertices, BALL.vertices)
    np.testing.assert_array_equal(back.faces, BALL.faces)
    assert from_trimesh(back) == mesh
    back.vertices[0] += 1.0  # a copy: the mesh does not move
    assert from_trimesh(BALL) == mesh
    assert mesh.area() == pytest.approx(BALL.area, rel=1e-12)
    assert mesh.volume() == pytest.approx(BALL.volume, rel=1e-12)


def test_mass_properties_agree_with_trimesh() -> None:
    peer = BALL.copy()
    peer.apply_transform(trimesh.transformations.euler_matrix(0.1, 0.5, 0.9))
    peer.apply_scale([1.0, 2.0, 3.0])
    peer.apply_translation([1.0, 2.0, 3.0])
    peer.density = 700.0
    found = from_trimesh(peer).mass_properties(700.0)
    assert found.mass == pytest.approx(peer.mass, rel=1e-12)
    np.testing.assert_allclose(found.center_of_mass, peer.center_mass, rtol=1e-12)
    np.testing.assert_allclose(found.inertia, peer.moment_inertia, atol=1e-8 * found.mass)


@pytest.mark.parametrize(
    ("vertices", "faces", "message"),
    [
        (np.zeros((0, 3)), [[0, 1, 2]], "Mesh.vertices: got an empty array"),
        (CUBE.vertices, np.zeros((0, 3), int), "Mesh.faces: got an empty array"),
        (CUBE.vertices * np.nan, CUBE.faces, r"Mesh.vertices\[0, 0\] is nan"),
        (CUBE.vertices, CUBE.faces + 3, r"Mesh.faces\[\d+, \d\]: got index \d+, expected 0 to 7"),
        (CUBE.vertices, CUBE.faces - 1, r"got index -1, expected 0 to 7"),
        (CUBE.vertices, CUBE.faces.astype(float), "got values of type float64, expected integers"),
        (CUBE.vertices * [1, 1, 0], CUBE.faces, r"8 of 12 faces have no area, the first is face"),
        (
            CUBE.vertices,
            [[0, 1, 2], [3, 3, 4]],
            r"1 of 2 faces .* face 1 with vertices \[3, 3, 4\]",
        ),
        ([[0, 0, 0], [1, 1, 1], [3, 3, 3]], [[0, 1, 2]], "1 of 1 faces have no area"),
    ],
)
def test_wrong_arrays_are_refused(vertices: np.ndarray, faces: np.ndarray, message: str) -> None:
    with pytest.raises(GeometryError, match=message):
        Mesh(vertices, faces)


def test_wrong_array_shapes_are_refused() -> None:
    with pytest.raises(ShapeError, match=r"Mesh\.vertices: got shape \(8, 2\), expected \(n, 3\)"):
        Mesh(CUBE.vertices[:, :2], CUBE.faces)
    with pytest.raises(ShapeError, match=r"Mesh\.faces: got shape \(1, 4\), expected \(n, 3\)"):
        Mesh(CUBE.vertices, [[0, 1, 2, 3]])
    with pytest.raises(ShapeError, match=r"Mesh\.faces"):
        Mesh(CUBE.vertices, [[0, 1, 2], [3, 4]])


def test_faces_without_area_are_removed_only_when_asked(caplog: pytest.LogCaptureFixture) -> None:
    faces = np.concatenate([CUBE.faces, [[0, 1, 1]]])
    with pytest.raises(GeometryError, match="drop_degenerate=True"):
        clean_mesh(CUBE.vertices, faces)
    with caplog.at_level(logging.WARNING):
        mesh = clean_mesh(CUBE.vertices, faces, drop_degenerate=True, solid=True)
    assert len(mesh.faces) == 12
    assert "removed 1 of 13 faces without area" in caplog.text
    with pytest.raises(GeometryError, match="empty"):
        clean_mesh(CUBE.vertices, [[0, 1, 1]], drop_degenerate=True)


def test_cleaning_merges_vertices_and_removes_unused_ones() -> None:
    soup = CUBE.vertices[CUBE.faces].reshape(-1, 3)
    mesh = clean_mesh(
        np.concatenate([[[9.0, 9.0, 9.0]], soup]), np.arange(36).reshape(-1, 3) + 1, solid=True
    )
    assert len(mesh.vertices) == 8
    shaken = soup + np.random.default_rng(0).uniform(-1e-7, 1e-7, size=soup.shape)
    loose = clean_mesh(shaken, np.arange(36).reshape(-1, 3))
    assert len(loose.vertices) == 36
    tight = clean_mesh(shaken, np.arange(36).reshape(-1, 3), merge_tolerance=1e-6, solid=True)
    assert len(tight.vertices) == 8
    # -0.0 and 0.0 are one place.
    zeros = clean_mesh([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [-0.0, 0, 0]], [[0, 1, 2], [3, 2, 1]])
    assert len(zeros.vertices) == 3


def test_bodies_are_reported_and_split(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    vertices, faces = joined((CUBE.vertices, CUBE.faces), (BALL.vertices + [1.0, 0, 0], BALL.faces))
    report = report_on(vertices, faces)
    assert report.bodies == 2
    np.testing.assert_allclose(report.body_volumes, [CUBE.volume, BALL.volume], rtol=1e-12)
    one, two = split_bodies(Mesh(vertices, faces))
    assert one == from_trimesh(CUBE)
    assert two.volume() == pytest.approx(BALL.volume)
    path = tmp_path / "both.ply"
    trimesh.Trimesh(vertices, faces, process=False).export(path)
    with caplog.at_level(logging.INFO):
        load_mesh(path)
    assert "holds 2 disconnected bodies" in caplog.text


@pytest.mark.parametrize("seed", range(6))
def test_orientation_is_repaired_only_when_asked(
    seed: int, caplog: pytest.LogCaptureFixture
) -> None:
    vertices, faces = joined(
        (BALL.vertices, BALL.faces),
        (BALL.vertices * 0.5, BALL.faces[:, ::-1]),
        (CUBE.vertices + [1.0, 0, 0], CUBE.faces),
    )
    # Some faces of each body, or (even seeds) whole bodies with what lies inside them.
    turned = np.random.default_rng(seed).random(len(faces)) < 0.3
    if seed % 2 == 0:
        turned[: 2 * len(BALL.faces)] = seed < 4
        turned[2 * len(BALL.faces) :] = seed > 0
    mixed = faces.copy()
    mixed[turned] = mixed[turned][:, ::-1]
    with pytest.raises(GeometryError, match="orientation"):
        clean_mesh(vertices, mixed, solid=True)
    with caplog.at_level(logging.WARNING):
        mesh = clean_mesh(vertices, mixed, fix_orientation=True, solid=True)
    assert f"turned {int(turned.sum())} of {len(faces)} faces" in caplog.text
    expected = BALL.volume * 0.875 + CUBE.volume
    assert mesh.volume() == pytest.approx(expected, rel=1e-12)


def test_a_one_sided_surface_cannot_be_oriented() -> None:
    angle = np.linspace(0.0, 2.0 * np.pi, 24, endpoint=False)
    half = 0.2 * np.column_stack([np.cos(angle / 2), np.sin(angle / 2)])
    ring = np.column_stack([np.cos(angle), np.sin(angle), 0 * angle])
    offset = np.column_stack([half[:, :1] * ring[:, :2], half[:, 1]])
    vertices = np.concatenate([ring + offset, ring - offset])
    quads = [(i, (i + 1) % 24, i == 23) for i in range(24)]
    faces = []
    for i, j, crossed in quads:
        top, bottom = (j + 24, j) if crossed else (j, j + 24)
        faces += [[i, top, i + 24], [top, bottom, i + 24]]
    strip = clean_mesh(vertices, faces, fix_orientation=True)
    assert not report_on(strip.vertices, strip.faces).is_solid
    assert report_on(strip.vertices, strip.faces).flipped_edges
