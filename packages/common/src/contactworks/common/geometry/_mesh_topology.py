"""Edges, bodies and orientation of a triangle mesh."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Int

__all__ = ["EdgeTable", "body_labels", "consistent_faces", "edge_table"]


class EdgeTable(NamedTuple):
    """The undirected edges of a mesh.

    Attributes:
        edges: vertex pairs (k, 2), the lower index first, sorted.
        of_face: edge of each side (m, 3); side i runs from corner i to corner i + 1.
        is_forward: whether the side runs from the lower to the higher index (m, 3).
        uses: number of faces at each edge (k,).
        is_open: edges (k,) at a border: an odd number of faces.
        is_flipped: edges (k,) with an even number of faces that do not run both ways equally.
    """

    edges: Int[np.ndarray, "k 2"]
    of_face: Int[np.ndarray, "m 3"]
    is_forward: Bool[np.ndarray, "m 3"]
    uses: Int[np.ndarray, " k"]
    is_open: Bool[np.ndarray, " k"]
    is_flipped: Bool[np.ndarray, " k"]


def edge_table(faces: Int[np.ndarray, "m 3"]) -> EdgeTable:
    """Return the undirected edges of faces (m, 3)."""
    start, end = faces.reshape(-1), np.roll(faces, -1, axis=1).reshape(-1)
    low, high = np.minimum(start, end), np.maximum(start, end)
    span = int(faces.max()) + 1
    keys, inverse, uses = np.unique(low * span + high, return_inverse=True, return_counts=True)
    edges = np.column_stack([keys // span, keys % span])
    forward = start <= end
    excess = np.bincount(inverse, weights=np.where(forward, 1.0, -1.0), minlength=len(keys))
    is_open = uses % 2 == 1
    return EdgeTable(
        edges=edges,
        of_face=inverse.reshape(-1, 3),
        is_forward=forward.reshape(-1, 3),
        uses=uses,
        is_open=is_open,
        is_flipped=~is_open & (excess != 0.0),
    )


def body_labels(faces: Int[np.ndarray, "m 3"], vertex_count: int) -> Int[np.ndarray, " m"]:
    """Return the connected body (m,) of each face, numbered from 0 in the order of the faces."""
    pairs = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]]])
    component = _components(pairs, vertex_count)[faces[:, 0]]
    _, first, inverse = np.unique(component, return_index=True, return_inverse=True)
    order = np.argsort(np.argsort(first))
    return np.asarray(order[inverse.reshape(-1)], dtype=np.int64)


def consistent_faces(faces: Int[np.ndarray, "m 3"]) -> Int[np.ndarray, "m 3"]:
    """Return the faces turned so that neighbours agree; the first face of each body stays.

    Only edges with exactly two faces are followed.  A one-sided surface cannot be made consistent:
    check the result.
    """
    table = edge_table(faces)
    a, b = _neighbour_sides(table)
    is_pair = table.uses[table.of_face.reshape(-1)[a]] == 2
    a, b = a[is_pair], b[is_pair]
    forward = table.is_forward.reshape(-1)
    count = len(faces)
    # Each face stands twice, as it is (f) and turned (f + count).  What hangs together with the
    # first face as it is, is the surface oriented like that face.
    disagree = np.where(forward[a] == forward[b], count, 0)
    face_a, face_b = a // 3, b // 3
    as_is = np.column_stack([face_a, face_b + disagree])
    turned = np.column_stack([face_a + count, face_b + count - disagree])
    labels = _components(np.concatenate([as_is, turned]), 2 * count)
    body = _components(np.column_stack([face_a, face_b]), count)
    _, seeds = np.unique(body, return_index=True)
    is_turned = labels[:count] != labels[seeds[body]]
    result = faces.copy()
    result[is_turned] = result[is_turned][:, [0, 2, 1]]  # the first corner stays the first
    return np.asarray(result)


def _neighbour_sides(table: EdgeTable) -> tuple[np.ndarray, np.ndarray]:
    """Return pairs of sides (3 · face + corner) that lie on one edge, each with its next."""
    sides = table.of_face.reshape(-1)
    order = np.argsort(sides, kind="stable")
    is_same = sides[order][1:] == sides[order][:-1]
    return order[:-1][is_same], order[1:][is_same]


def _components(pairs: np.ndarray, count: int) -> np.ndarray:
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    graph = coo_matrix((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(count, count))
    return np.asarray(connected_components(graph, directed=False)[1])
