"""The structured block and mesh files."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import ConvexHull

from contactworks.common.errors import FileFormatError, GeometryError, ModelError, ShapeError
from contactworks.tac2real import Gel, load_gel, structured_gel
from contactworks.tac2real.tetrahedra import enclosed_volume

from .oracles import conforming


def test_default_is_the_gelsight_mini_pad() -> None:
    gel = structured_gel()
    assert gel.nodes.shape == (952, 3)
    assert gel.tets.shape == (3120, 4)
    assert gel.volume == pytest.approx(25.25e-3 * 20.75e-3 * 4e-3, rel=1e-12)
    np.testing.assert_allclose(gel.nodes.max(axis=0), [12.625e-3, 10.375e-3, 0.0], atol=1e-18)
    np.testing.assert_allclose(gel.nodes.min(axis=0), [-12.625e-3, -10.375e-3, -4e-3], atol=1e-18)
    assert (gel.nodes[:, 2] == 0.0).sum() == gel.back.sum() == 17 * 14
    np.testing.assert_array_equal(gel.back, gel.nodes[:, 2] == -4e-3)
    assert conforming(gel.tets)


@settings(max_examples=25, deadline=None)
@given(
    st.tuples(*[st.floats(1e-3, 5e-2)] * 3),
    st.tuples(*[st.integers(1, 5)] * 3),
    st.floats(1.0, 20.0),
)
def test_blocks_of_any_size_fill_their_volume(
    size: tuple[float, float, float], cells: tuple[int, int, int], grading: float
) -> None:
    gel = structured_gel(size, cells, grading=grading if cells[2] > 1 else 1.0)
    nx, ny, nz = cells
    assert len(gel.nodes) == (nx + 1) * (ny + 1) * (nz + 1)
    assert len(gel.tets) == 5 * nx * ny * nz
    assert len(gel.surface) == 4 * (nx * ny + ny * nz + nx * nz)
    assert gel.volume == pytest.approx(size[0] * size[1] * size[2], rel=1e-9)
    assert enclosed_volume(gel.nodes, gel.surface) == pytest.approx(gel.volume, rel=1e-9)
    assert conforming(gel.tets)
    # Mirror symmetric node positions.
    for axis in (0, 1):
        values = np.unique(gel.nodes[:, axis])
        np.testing.assert_allclose(values, -values[::-1], atol=1e-17)


def test_grading_refines_towards_the_contact_face() -> None:
    gel = structured_gel(cells=(2, 2, 4), grading=8.0)
    layers = np.diff(np.unique(gel.nodes[:, 2]))
    np.testing.assert_allclose(layers[:-1] / layers[1:], 2.0, rtol=1e-12)
    assert layers.sum() == pytest.approx(4e-3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"size": (1.0, 1.0)}, "size"),
        ({"size": (1.0, 1.0, 0.0)}, "size"),
        ({"size": (1.0, np.nan, 1.0)}, "size"),
        ({"cells": (1, 2)}, "cells"),
        ({"cells": (1, 2, 0)}, "cells"),
        ({"cells": (1, 2, 1.5)}, "cells"),
        ({"grading": 0.5}, "grading"),
        ({"grading": np.nan}, "grading"),
        ({"cells": (2, 2, 1), "grading": 2.0}, "grading: got 2.0 for one layer"),
    ],
)
def test_blocks_that_cannot_be_made_are_refused(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        structured_gel(**arguments)  # type: ignore[arg-type]


def test_block_agrees_with_the_mesh_of_the_reference_fields(reference_fields: Path) -> None:
    gel = structured_gel()
    for name in ("cube_base", "triangle_base"):
        with np.load(reference_fields / f"{name}.npz") as stored:
            # There in mm, with the back plate at z = 0 and the contact face at z = 4.
            np.testing.assert_allclose(
                1e3 * gel.nodes + [0.0, 0.0, 4.0], stored["nodes"], rtol=0.0, atol=1e-12
            )
            assert rows(gel.tets) == rows(stored["tets"])
            assert rows(gel.surface) == rows(stored["surface"])


def rows(array: np.ndarray) -> set[tuple[int, ...]]:
    return {tuple(sorted(row)) for row in array.tolist()}


@pytest.mark.parametrize(("name", "nodes", "tets"), [("e430", 167, 430), ("fine", 340, 875)])
def test_public_gel_meshes(public_meshes: Path, name: str, nodes: int, tets: int) -> None:
    gel = load_gel(public_meshes / f"{name}_tet.msh", translation="sensor")
    assert (len(gel.nodes), len(gel.tets)) == (nodes, tets)
    np.testing.assert_allclose(gel.size, [25.25e-3, 20.75e-3, 4e-3], rtol=1e-12)
    # Both bodies are convex, so the hull of the nodes has the same volume.
    assert gel.volume == pytest.approx(ConvexHull(gel.nodes).volume, rel=1e-12)
    assert enclosed_volume(gel.nodes, gel.surface) == pytest.approx(gel.volume, rel=1e-12)
    active = np.loadtxt(public_meshes / f"{name}_active.txt").astype(bool)
    np.testing.assert_array_equal(gel.back, active)
    touched = np.loadtxt(public_meshes / f"{name}_on_surface.txt").astype(bool)
    np.testing.assert_array_equal(np.abs(gel.nodes[:, 2]) < 1e-12, touched)


def test_public_coarse_mesh_has_the_volume_of_its_bevelled_block(public_meshes: Path) -> None:
    gel = load_gel(public_meshes / "e430_tet.msh", translation=(0.0, 0.0, -2e-3))
    # 3 mm of block, then 1 mm on which each side recedes by 3 mm (prismoid formula).
    lower, upper, middle = 25.25 * 20.75, 19.25 * 14.75, 22.25 * 17.75
    exact = 3.0 * lower + (lower + 4.0 * middle + upper) / 6.0
    assert gel.volume == pytest.approx(exact * 1e-9, rel=1e-12)


def write_mesh(path: Path, gel: Gel, scale: float = 1.0, cells: object = None) -> Path:
    import meshio

    meshio.write(path, meshio.Mesh(gel.nodes * scale, cells or [("tetra", gel.tets)]))
    return path


@pytest.mark.parametrize("suffix", [".msh", ".vtk", ".vtu"])
def test_files_come_back_as_written(tmp_path: Path, suffix: str) -> None:
    gel = structured_gel(cells=(3, 2, 2))
    again = load_gel(write_mesh(tmp_path / f"gel{suffix}", gel, 1e3), scale=1e-3)
    np.testing.assert_allclose(again.nodes, gel.nodes, atol=1e-12)
    np.testing.assert_array_equal(again.tets, gel.tets)
    np.testing.assert_array_equal(again.back, gel.back)


def test_tetgen_files_are_read(tmp_path: Path) -> None:
    gel = structured_gel(cells=(2, 2, 1))
    node = [f"{len(gel.nodes)} 3 0 0"]
    node += [f"{i} {x!r} {y!r} {z!r}" for i, (x, y, z) in enumerate(gel.nodes.tolist())]
    element = [f"{len(gel.tets)} 4 0"]
    element += [f"{i} {a} {b} {c} {d}" for i, (a, b, c, d) in enumerate(gel.tets.tolist())]
    (tmp_path / "gel.node").write_text("\n".join(node) + "\n")
    (tmp_path / "gel.ele").write_text("\n".join(element) + "\n")
    again = load_gel(tmp_path / "gel.node")
    np.testing.assert_array_equal(again.nodes, gel.nodes)
    np.testing.assert_array_equal(again.tets, gel.tets)


def test_wrong_frame_is_refused_and_can_be_moved(tmp_path: Path) -> None:
    gel = structured_gel(cells=(2, 2, 1))
    import meshio

    path = tmp_path / "gel.msh"
    meshio.write(path, meshio.Mesh(gel.nodes + [0.1, 0.2, 0.3], [("tetra", gel.tets)]))
    with pytest.raises(GeometryError, match=r"contact face is at z = 0.3"):
        load_gel(path)
    np.testing.assert_allclose(load_gel(path, translation="sensor").nodes, gel.nodes, atol=1e-15)
    moved = load_gel(path, translation=(-0.1, -0.2, -0.3))
    np.testing.assert_allclose(moved.nodes, gel.nodes, atol=1e-15)


def test_inverted_elements_can_be_flipped(tmp_path: Path) -> None:
    gel = structured_gel(cells=(2, 2, 1))
    path = write_mesh(tmp_path / "g.msh", gel, cells=[("tetra", gel.tets[:, [1, 0, 2, 3]])])
    with pytest.raises(GeometryError, match="inverted"):
        load_gel(path)
    assert load_gel(path, flip_inverted=True).volume == pytest.approx(gel.volume)


def test_unused_nodes_can_be_dropped_with_their_back_flags(tmp_path: Path) -> None:
    import meshio

    gel = structured_gel(cells=(2, 2, 1))
    nodes = np.vstack([[[0.0, 0.0, -9e-3]], gel.nodes])
    path = tmp_path / "g.vtk"
    meshio.write(path, meshio.Mesh(nodes, [("tetra", gel.tets + 1)]))
    with pytest.raises(GeometryError, match="node 0 is in no element"):
        load_gel(path)
    back = np.append(False, gel.back)
    for given_back in (None, back):
        again = load_gel(path, drop_unused=True, back=given_back)
        np.testing.assert_array_equal(again.nodes, gel.nodes)
        np.testing.assert_array_equal(again.tets, gel.tets)
        np.testing.assert_array_equal(again.back, gel.back)
    with pytest.raises(ShapeError, match=r"back: got shape \(18,\), expected \(19,\)"):
        load_gel(path, drop_unused=True, back=gel.back)


def test_files_that_are_no_meshes_are_refused(tmp_path: Path, capfd: pytest.CaptureFixture) -> None:
    with pytest.raises(FileFormatError, match=r"none.msh: no such file"):
        load_gel(tmp_path / "none.msh")
    for name, text in (("a.msh", "hello"), ("a.vtk", "hello"), ("a.abc", "hello"), ("b.msh", "")):
        (tmp_path / name).write_text(text)
        with pytest.raises(FileFormatError, match=f"{name}: not a mesh that meshio reads"):
            load_gel(tmp_path / name)
    gel = structured_gel(cells=(2, 2, 1))
    path = write_mesh(tmp_path / "s.vtk", gel, cells=[("triangle", gel.surface)])
    with pytest.raises(FileFormatError, match="no linear tetrahedra, got cells of type triangle"):
        load_gel(path)
    assert capfd.readouterr().out == ""


def test_options_out_of_range_are_refused(tmp_path: Path) -> None:
    path = write_mesh(tmp_path / "gel.msh", structured_gel(cells=(2, 2, 1)))
    for scale in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(ModelError, match="scale"):
            load_gel(path, scale=scale)
    for translation in ("centre", (0.0, 0.0), (0.0, 0.0, np.nan)):
        with pytest.raises(ModelError, match="translation"):
            load_gel(path, translation=translation)  # type: ignore[arg-type]


def test_gel_in_millimetres_is_pointed_out(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = write_mesh(tmp_path / "gel.msh", structured_gel(cells=(2, 2, 1)), 1e3)
    with caplog.at_level(logging.WARNING):
        load_gel(path)
    assert "millimetres" in caplog.text
