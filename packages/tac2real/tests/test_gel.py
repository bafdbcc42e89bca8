"""What a gel refuses, and how it says so."""

from __future__ import annotations

import numpy as np
import pytest

from contactworks.common.errors import GeometryError, ShapeError
from contactworks.tac2real import Gel, structured_gel

SMALL = structured_gel(cells=(2, 2, 1))


def changed(**values: object) -> Gel:
    arrays = {"nodes": SMALL.nodes, "tets": SMALL.tets, "back": SMALL.back, **values}
    return Gel(arrays["nodes"], arrays["tets"], back=arrays["back"])  # type: ignore[arg-type]


def test_arrays_are_copied_and_read_only() -> None:
    nodes = SMALL.nodes.copy()
    gel = changed(nodes=nodes)
    nodes[:] = 0.0
    np.testing.assert_array_equal(gel.nodes, SMALL.nodes)
    for array in (gel.nodes, gel.tets, gel.back, gel.surface, gel.volumes):
        assert not array.flags.writeable
        assert array.flags.c_contiguous


def test_inverted_element_is_named_with_its_volume() -> None:
    tets = SMALL.tets.copy()
    tets[7] = tets[7][[1, 0, 2, 3]]
    volume = SMALL.volumes[7]
    with pytest.raises(GeometryError, match=f"element 7 inverted.*volume {-volume:.6g} m³"):
        changed(tets=tets)


def test_inverted_mesh_is_counted() -> None:
    with pytest.raises(GeometryError, match=r"elements 0, 1, 2, 3, 4, ... \(20 in all\) inverted"):
        changed(tets=SMALL.tets[:, [1, 0, 2, 3]])


def test_degenerate_element_is_named_with_its_volume() -> None:
    flat = structured_gel(cells=(1, 1, 1))
    nodes = flat.nodes.copy()
    nodes[1, 2] = nodes[0, 2]  # the one top node of element 0 sinks to the back plate
    with pytest.raises(GeometryError, match=r"element 0 degenerate.*volume 0 m³"):
        Gel(nodes, flat.tets, back=flat.back)
    nodes[1, 2] = nodes[0, 2] + 1e-10
    with pytest.raises(GeometryError, match=r"element 0 degenerate.*mean ratio"):
        Gel(nodes, flat.tets, back=flat.back)


def test_thin_but_valid_element_is_accepted() -> None:
    gel = structured_gel(size=(1e-2, 1e-2, 1e-5), cells=(1, 1, 1))
    assert gel.volume == pytest.approx(1e-9)


def test_unused_node_is_named() -> None:
    nodes = np.vstack([SMALL.nodes, [[0.0, 0.0, -1e-3]]])
    with pytest.raises(GeometryError, match=f"node {len(nodes) - 1} is in no element"):
        changed(nodes=nodes, back=np.append(SMALL.back, False))


def test_parts_that_share_no_face_are_named() -> None:
    count = len(SMALL.nodes)
    nodes = np.vstack([SMALL.nodes, SMALL.nodes + [0.1, 0.0, 0.0]])
    tets = np.vstack([SMALL.tets, SMALL.tets[:3] + count])
    used = np.unique(tets)
    index = np.cumsum(np.isin(np.arange(len(nodes)), used)) - 1
    back = np.tile(SMALL.back, 2)
    with pytest.raises(GeometryError, match=r"parts that share no face.*element"):
        Gel(nodes[used], index[tets], back=back[used])


def test_hinge_at_an_edge_is_not_a_connection() -> None:
    # Two cells that touch along one vertical edge only.
    gel = structured_gel(size=(2e-3, 2e-3, 1e-3), cells=(2, 2, 1))
    centre = gel.nodes[gel.tets].mean(axis=1)
    tets = gel.tets[centre[:, 0] * centre[:, 1] > 0.0]
    used = np.unique(tets)
    index = np.full(len(gel.nodes), -1)
    index[used] = np.arange(len(used))
    with pytest.raises(GeometryError, match="2 parts that share no face"):
        Gel(gel.nodes[used], index[tets], back=gel.back[used])


def test_doubled_and_overlapping_elements_are_named() -> None:
    with pytest.raises(GeometryError, match=r"belongs to elements|have the same nodes"):
        changed(tets=np.vstack([SMALL.tets, SMALL.tets[3:4]]))


def test_indices_out_of_range_are_named() -> None:
    tets = SMALL.tets.copy()
    tets[5, 2] = len(SMALL.nodes)
    with pytest.raises(GeometryError, match="element 5 names a node that is not there"):
        changed(tets=tets)
    tets[5, 2] = -1
    with pytest.raises(GeometryError, match="element 5"):
        changed(tets=tets)


def test_not_finite_nodes_are_named() -> None:
    nodes = SMALL.nodes.copy()
    nodes[[2, 4], 0] = np.nan
    with pytest.raises(GeometryError, match="nodes 2, 4 are not finite"):
        changed(nodes=nodes)


def test_shapes_and_types_are_checked() -> None:
    with pytest.raises(ShapeError, match=r"Gel.nodes: got shape \(18, 2\)"):
        changed(nodes=SMALL.nodes[:, :2])
    with pytest.raises(ShapeError, match=r"Gel.tets: got type float64"):
        changed(tets=SMALL.tets.astype(float))
    with pytest.raises(ShapeError, match=r"Gel.back: got shape \(9,\), expected \(18,\)"):
        changed(back=np.flatnonzero(SMALL.back))
    with pytest.raises(ShapeError, match=r"Gel.back: got type int64"):
        changed(back=SMALL.back.astype(int))
    with pytest.raises(ShapeError, match=r"Gel.tets: got an empty array"):
        changed(tets=np.zeros((0, 4), dtype=int))


def test_back_plate_must_hold_the_gel() -> None:
    none = np.zeros_like(SMALL.back)
    with pytest.raises(GeometryError, match="marks 0 nodes"):
        changed(back=none)
    line = none.copy()
    line[np.flatnonzero(SMALL.back)[:3]] = True  # three nodes of one row
    with pytest.raises(GeometryError, match=r"marks 3 nodes.*not on a line"):
        changed(back=line)
    with pytest.raises(GeometryError, match="marks all nodes"):
        changed(back=~none)


def test_sensor_frame_is_checked() -> None:
    with pytest.raises(GeometryError, match=r"contact face is at z = 0.002 m.*by -0.002 m"):
        changed(nodes=SMALL.nodes + [0.0, 0.0, 2e-3])
