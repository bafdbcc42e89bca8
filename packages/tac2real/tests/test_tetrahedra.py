"""Volumes, boundary and quality of tetrahedra."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial import ConvexHull

from contactworks.tac2real import structured_gel
from contactworks.tac2real.tetrahedra import (
    boundary_triangles,
    enclosed_volume,
    mean_ratio,
    mesh_quality,
    signed_volumes,
)

REGULAR = np.array([[1.0, 1, 1], [-1, 1, -1], [1, -1, -1], [-1, -1, 1]])
ONE = np.array([[0, 1, 2, 3]])


def test_regular_tetrahedron_has_the_best_quality() -> None:
    quality = mesh_quality(REGULAR, ONE)
    assert signed_volumes(REGULAR, ONE)[0] == pytest.approx(8.0 / 3.0)
    assert quality.radius_ratio[0] == pytest.approx(1.0, abs=1e-12)
    assert quality.minimum_dihedral_angle_deg[0] == pytest.approx(np.degrees(np.arccos(1 / 3)))
    assert quality.minimum_edge[0] == quality.maximum_edge[0] == pytest.approx(np.sqrt(8.0))
    assert mean_ratio(REGULAR, ONE)[0] == pytest.approx(1.0)


def test_corner_of_a_cube() -> None:
    nodes = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    quality = mesh_quality(nodes, ONE)
    assert signed_volumes(nodes, ONE)[0] == pytest.approx(1.0 / 6.0)
    # Inscribed radius 1 / (3 + √3), circumscribed √3 / 2.
    assert quality.radius_ratio[0] == pytest.approx(3 / (3 + np.sqrt(3)) / (np.sqrt(3) / 2))
    assert quality.minimum_dihedral_angle_deg[0] == pytest.approx(
        np.degrees(np.arctan(np.sqrt(2.0)))
    )


def test_swapped_corners_turn_the_sign() -> None:
    swapped = ONE[:, [1, 0, 2, 3]]
    assert signed_volumes(REGULAR, swapped)[0] == -signed_volumes(REGULAR, ONE)[0]
    assert mean_ratio(REGULAR, swapped)[0] == pytest.approx(-1.0)


def test_flat_and_collapsed_elements_have_ratio_zero() -> None:
    flat = REGULAR * [1.0, 1.0, 0.0]
    assert mean_ratio(flat, ONE)[0] == 0.0
    assert mean_ratio(np.zeros((4, 3)), ONE)[0] == 0.0


@given(st.integers(0, 10_000))
def test_volume_agrees_with_the_convex_hull(seed: int) -> None:
    nodes = np.random.default_rng(seed).uniform(-1.0, 1.0, (4, 3))
    assert abs(signed_volumes(nodes, ONE)[0]) == pytest.approx(ConvexHull(nodes).volume, rel=1e-9)


def test_boundary_of_one_tetrahedron_points_outwards() -> None:
    triangles = boundary_triangles(ONE)
    corner = REGULAR[triangles]
    normal = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    assert (np.einsum("si,si->s", normal, corner.mean(axis=1)) > 0.0).all()
    assert enclosed_volume(REGULAR, triangles) == pytest.approx(8.0 / 3.0)


def test_boundary_of_a_mesh_is_closed_and_encloses_its_volume() -> None:
    gel = structured_gel(cells=(5, 4, 3), grading=3.0)
    edges = gel.surface[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
    # Closed and consistently oriented: each edge is met once in each direction.
    assert {tuple(e) for e in edges.tolist()} == {tuple(e) for e in edges[:, ::-1].tolist()}
    assert len({tuple(e) for e in edges.tolist()}) == len(edges)
    assert enclosed_volume(gel.nodes, gel.surface) == pytest.approx(gel.volume, rel=1e-12)
    assert gel.volumes.sum() == pytest.approx(25.25e-3 * 20.75e-3 * 4e-3, rel=1e-12)
