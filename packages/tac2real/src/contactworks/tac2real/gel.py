"""The gel of a sensor: a tetrahedral mesh in the sensor frame, glued to a back plate.

Sensor frame: origin at the centre of the undeformed contact face, which lies at z = 0 (the highest
point of a curved pad does); the gel is at z < 0 and the indenter comes from z > 0.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from contactworks.common.arrays import require_shape
from contactworks.common.errors import GeometryError, ShapeError
from contactworks.tac2real.tetrahedra import (
    MeshQuality,
    boundary_triangles,
    face_table,
    mean_ratio,
    mesh_quality,
    signed_volumes,
)

if TYPE_CHECKING:
    from jaxtyping import Bool, Float, Int

__all__ = ["Gel"]

# A tetrahedron whose mean ratio is below this is degenerate: its rest matrix has no usable inverse.
DEGENERATE_MEAN_RATIO = 1e-6
_SHOWN = 5


@dataclass(frozen=True, slots=True, eq=False)
class Gel:
    """A checked tetrahedral mesh of a gel.  Arrays are copied and made read-only.

    Attributes:
        nodes: Rest positions in the sensor frame [m], shape (n, 3).
        tets: Corner indices, positive orientation (see :mod:`.tetrahedra`), shape (m, 4).
        back: True for nodes glued to the back plate, shape (n,).
        surface: Boundary triangles, counter-clockwise from outside, shape (s, 3).
        volumes: Volume of each tetrahedron [m³], shape (m,).

    Raises:
        ShapeError: If an array has the wrong shape or type.
        GeometryError: If nodes are not finite, an index is out of range, an element is inverted or
            degenerate, a node is in no element, elements are doubled or not connected over faces,
            the back plate does not hold the gel, or the contact face is not at z = 0.
    """

    nodes: Float[np.ndarray, "n 3"]
    tets: Int[np.ndarray, "m 4"]
    back: Bool[np.ndarray, " n"]
    surface: Int[np.ndarray, "s 3"] = field(init=False)
    volumes: Float[np.ndarray, " m"] = field(init=False)

    def __post_init__(self) -> None:
        nodes = _array(self.nodes, "nodes", np.float64, ("n", 3))
        tets = _array(self.tets, "tets", np.int64, ("m", 4))
        back = _array(self.back, "back", np.bool_, (len(nodes),))
        _check_indices(nodes, tets)
        volumes = signed_volumes(nodes, tets)
        _check_elements(nodes, tets, volumes)
        _check_connected(tets)
        _check_back(nodes, back)
        _check_frame(nodes)
        values = {
            "nodes": nodes,
            "tets": tets,
            "back": back,
            "surface": boundary_triangles(tets),
            "volumes": volumes,
        }
        for name, value in values.items():
            value.setflags(write=False)
            object.__setattr__(self, name, value)

    @property
    def volume(self) -> float:
        """Volume of the gel [m³]."""
        return float(self.volumes.sum())

    @property
    def size(self) -> Float[np.ndarray, " 3"]:
        """Extent of the bounding box along x, y, z [m], shape (3,)."""
        return np.asarray(np.ptp(self.nodes, axis=0))

    def quality(self) -> MeshQuality:
        """Return shape measures of the elements."""
        return mesh_quality(self.nodes, self.tets)


def _array(value: object, name: str, kind: type, shape: tuple[int | str, ...]) -> np.ndarray:
    array = np.asarray(value)
    require_shape(array, f"Gel.{name}", shape)
    if array.size == 0:
        raise ShapeError(f"Gel.{name}: got an empty array of shape {array.shape}")
    allowed = {np.float64: "fiu", np.int64: "iu", np.bool_: "b"}[kind]
    if array.dtype.kind not in allowed:
        raise ShapeError(f"Gel.{name}: got type {array.dtype}, expected {np.dtype(kind)}")
    return np.array(array, dtype=kind, order="C")


def _check_indices(nodes: np.ndarray, tets: np.ndarray) -> None:
    bad = np.flatnonzero(~np.isfinite(nodes).all(axis=1))
    if bad.size:
        raise GeometryError(
            f"Gel: {_named('node', bad)} not finite, got {nodes[bad[0]].tolist()}, expected numbers"
        )
    bad = np.flatnonzero(((tets < 0) | (tets >= len(nodes))).any(axis=1))
    if bad.size:
        raise GeometryError(
            f"Gel: {_named('element', bad)} names a node that is not there, got "
            f"{tets[bad[0]].tolist()}, expected indices 0..{len(nodes) - 1}"
        )
    unused = np.flatnonzero(np.bincount(tets.ravel(), minlength=len(nodes)) == 0)
    if unused.size:
        raise GeometryError(
            f"Gel: {_named('node', unused)} in no element, expected every node to be used "
            "(load_gel drops such nodes with drop_unused=True)"
        )


def _check_elements(nodes: np.ndarray, tets: np.ndarray, volumes: np.ndarray) -> None:
    quality = mean_ratio(nodes, tets)
    degenerate = np.flatnonzero(np.abs(quality) < DEGENERATE_MEAN_RATIO)
    if degenerate.size:
        first = degenerate[0]
        raise GeometryError(
            f"Gel: {_named('element', degenerate)} degenerate, element {first} (nodes "
            f"{tets[first].tolist()}) has volume {volumes[first]:.6g} m³ and mean ratio "
            f"{quality[first]:.3g}, expected at least {DEGENERATE_MEAN_RATIO:g}"
        )
    inverted = np.flatnonzero(volumes < 0.0)
    if inverted.size:
        first = inverted[0]
        raise GeometryError(
            f"Gel: {_named('element', inverted)} inverted, element {first} (nodes "
            f"{tets[first].tolist()}) has volume {volumes[first]:.6g} m³, expected above 0 "
            "(swap two of its corners if the mesh counts them the other way round)"
        )


def _check_connected(tets: np.ndarray) -> None:
    faces, index, count = face_table(tets)
    shared = np.flatnonzero(count > 2)
    if shared.size:
        elements = np.flatnonzero(index == shared[0]) // 4
        raise GeometryError(
            f"Gel: the face with nodes {faces[shared[0]].tolist()} belongs to elements "
            f"{elements[: _SHOWN + 1].tolist()}, expected one or two elements"
        )
    doubled, times = np.unique(np.sort(tets, axis=1), axis=0, return_counts=True)
    if (times > 1).any():
        nodes = doubled[np.argmax(times > 1)]
        elements = np.flatnonzero((np.sort(tets, axis=1) == nodes).all(axis=1))
        raise GeometryError(
            f"Gel: elements {elements.tolist()} have the same nodes {nodes.tolist()}, expected "
            "each element once"
        )
    label = _parts(len(tets), index, count)
    parts, sizes = np.unique(label, return_counts=True)
    if len(parts) > 1:
        smallest = parts[np.argmin(sizes)]
        raise GeometryError(
            f"Gel: {len(parts)} parts that share no face, the smallest is "
            f"{_named('element', np.flatnonzero(label == smallest))}, expected one connected part"
        )


def _parts(num_tets: int, index: np.ndarray, count: np.ndarray) -> np.ndarray:
    """Label the parts that are connected over faces, each by the lowest element in it."""
    inner = np.flatnonzero(count[index] == 2)
    pairs = inner[np.argsort(index[inner], kind="stable")].reshape(-1, 2) // 4
    label = np.arange(num_tets)
    while True:
        lowest = np.minimum(label[pairs[:, 0]], label[pairs[:, 1]])
        new = label.copy()
        np.minimum.at(new, label[pairs[:, 0]], lowest)
        np.minimum.at(new, label[pairs[:, 1]], lowest)
        new = new[new]
        if np.array_equal(new, label):
            return label
        label = new


def _check_back(nodes: np.ndarray, back: np.ndarray) -> None:
    glued = nodes[back]
    size = float(np.ptp(nodes, axis=0).max())
    # The second singular value is 0 for nodes on a line.
    is_held = len(glued) >= 3 and bool(
        np.linalg.svd(glued - glued.mean(axis=0), compute_uv=False)[1] > 1e-6 * size
    )
    if not is_held:
        raise GeometryError(
            f"Gel.back: marks {len(glued)} nodes, expected at least 3 that are not on a line, "
            "or the gel could turn"
        )
    if back.all():
        raise GeometryError("Gel.back: marks all nodes, expected some that can move")


def _check_frame(nodes: np.ndarray) -> None:
    top = float(nodes[:, 2].max())
    height = float(np.ptp(nodes[:, 2]))
    if abs(top) > 1e-6 * height:
        raise GeometryError(
            f"Gel.nodes: the contact face is at z = {top:.6g} m, expected 0 with the gel below "
            f"(sensor frame); move the nodes by {-top:.6g} m"
        )


def _named(noun: str, indices: np.ndarray) -> str:
    """Return for example 'elements 3, 7, 9 ... (12 in all)'."""
    shown = ", ".join(str(i) for i in indices[:_SHOWN])
    if len(indices) == 1:
        return f"{noun} {shown} is" if noun == "node" else f"{noun} {shown}"
    more = f", ... ({len(indices)} in all)" if len(indices) > _SHOWN else ""
    return f"{noun}s {shown}{more}" + (" are" if noun == "node" else "")
