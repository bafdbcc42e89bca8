"""Meshes of a gel: a structured block, or a file from a mesh generator."""

from __future__ import annotations

import contextlib
import io
import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from contactworks.common.arrays import positive_scalar
from contactworks.common.errors import (
    FileFormatError,
    MissingDependencyError,
    ModelError,
    ShapeError,
)
from contactworks.tac2real.gel import Gel
from contactworks.tac2real.tetrahedra import signed_volumes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jaxtyping import Bool, Float, Int

__all__ = ["load_gel", "structured_gel"]

_LOGGER = logging.getLogger(__name__)

# Corners of a cell are numbered 4 i + 2 j + k.  Five tetrahedra, one in the middle; cells of odd
# i + j + k get the mirror image, so that the diagonals of neighbours meet.
_EVEN = np.array([[0, 4, 2, 1], [6, 2, 4, 7], [5, 1, 7, 4], [3, 7, 1, 2], [4, 2, 1, 7]])
_ODD = np.array([[4, 6, 0, 5], [2, 0, 6, 3], [1, 3, 5, 0], [7, 5, 3, 6], [0, 5, 6, 3]])


def structured_gel(
    size: Sequence[float] = (25.25e-3, 20.75e-3, 4e-3),
    cells: Sequence[int] = (16, 13, 3),
    *,
    grading: float = 1.0,
) -> Gel:
    """Return a block of gel, cut into cells of five tetrahedra each, glued at its lower face.

    The defaults are the GelSight Mini pad: 952 nodes, 3120 tetrahedra.  Node (i, j, k) has index
    (i (ny + 1) + j) (nz + 1) + k, with k = 0 at the back plate.

    Args:
        size: Extent along x, y, z [m], each above 0.
        cells: Number of cells along x, y, z, each at least 1.
        grading: Thickness of the layer of cells at the back over that at the contact face, in
            [1, 1000]; the layers in between follow a geometric series.  1: all alike.

    Raises:
        ModelError: If a value is out of range.

    Example:
        >>> from contactworks import tac2real
        >>> gel = tac2real.structured_gel(cells=(8, 6, 2), grading=2.0)
        >>> gel.nodes.shape, gel.tets.shape
        ((189, 3), (480, 4))
    """
    extent, number = _check_block(size, cells, grading)
    nx, ny, nz = number
    x = extent[0] * (np.arange(nx + 1) / nx - 0.5)
    y = extent[1] * (np.arange(ny + 1) / ny - 0.5)
    ratio = grading ** (-1.0 / max(nz - 1, 1))
    height = np.concatenate([[0.0], np.cumsum(ratio ** np.arange(nz))])
    z = extent[2] * (height / height[-1] - 1.0)
    nodes = np.stack(np.meshgrid(x, y, z, indexing="ij"), axis=-1).reshape(-1, 3)

    i, j, k = (v.reshape(-1, 1) for v in np.meshgrid(*map(np.arange, number), indexing="ij"))
    corner = np.arange(8)
    di, dj, dk = corner // 4, corner // 2 % 2, corner % 2
    node = ((i + di) * (ny + 1) + j + dj) * (nz + 1) + k + dk
    is_odd = (i + j + k) % 2 == 1
    tets = np.where(is_odd[..., None], node[:, _ODD], node[:, _EVEN]).reshape(-1, 4)
    back = np.zeros((nx + 1, ny + 1, nz + 1), dtype=bool)
    back[:, :, 0] = True
    return Gel(nodes, tets, back=back.ravel())


def load_gel(
    path: str | Path,
    *,
    scale: float = 1.0,
    translation: Sequence[float] | Literal["sensor"] = (0.0, 0.0, 0.0),
    back: Bool[np.ndarray, " n"] | None = None,
    flip_inverted: bool = False,
    drop_unused: bool = False,
) -> Gel:
    """Return the gel in a mesh file: gmsh ``.msh``, ``.vtk``, tetgen and what else meshio reads.

    Args:
        path: The file; its linear tetrahedra are taken, cells of lower dimension are left out.
        scale: Metres per unit of the file, above 0.
        translation: Added after scaling [m], shape (3,); or ``sensor``: put the middle of the
            bounding box at x = y = 0 and the highest node at z = 0.
        back: True for nodes of the file on the back plate, shape (n,).  Default: the nodes lowest
            in z, to 1e-6 of the height.
        flip_inverted: Swap two corners of elements with negative volume, for generators that
            count the other way round.
        drop_unused: Leave out nodes that are in no tetrahedron.

    Raises:
        FileFormatError: If the file cannot be read or has no linear tetrahedra.
        ModelError: If an option is out of range.
        GeometryError: If the mesh is unusable, see :class:`Gel`.
        MissingDependencyError: If meshio is not installed.
    """
    scale = positive_scalar(scale, "scale [m per unit]")
    nodes, tets = _read_tetrahedra(Path(path))
    nodes = nodes * scale
    if back is not None and np.shape(back) != (len(nodes),):
        raise ShapeError(
            f"back: got shape {np.shape(back)}, expected ({len(nodes)},), one per node of {path}"
        )
    if drop_unused:
        is_used = np.bincount(tets.ravel(), minlength=len(nodes)) > 0
        _LOGGER.info("%s: dropped %d unused nodes", path, np.count_nonzero(~is_used))
        tets = (np.cumsum(is_used) - 1)[tets]
        nodes = nodes[is_used]
        back = None if back is None else np.asarray(back)[is_used]
    nodes = nodes + _offset(nodes, translation)
    if flip_inverted:
        is_inverted = signed_volumes(nodes, tets) < 0.0
        _LOGGER.info("%s: flipped %d elements", path, np.count_nonzero(is_inverted))
        tets[is_inverted] = tets[is_inverted][:, [0, 2, 1, 3]]
    if back is None:
        z = nodes[:, 2]
        back = z <= z.min() + 1e-6 * np.ptp(z)
    gel = Gel(nodes, tets, back=back)
    if gel.size.max() > 1.0:
        _LOGGER.warning(
            "%s: the gel is %.3g m wide; is the file in millimetres (scale=1e-3)?",
            path,
            gel.size.max(),
        )
    return gel


def _check_block(
    size: Sequence[float], cells: Sequence[int], grading: float
) -> tuple[Float[np.ndarray, " 3"], tuple[int, int, int]]:
    extent = np.asarray(size, dtype=np.float64)
    if extent.shape != (3,) or not (np.isfinite(extent).all() and (extent > 0.0).all()):
        raise ModelError(f"size: got {size}, expected three finite lengths above 0 [m]")
    number = np.asarray(cells)
    if number.shape != (3,) or number.dtype.kind not in "iu" or (number < 1).any():
        raise ModelError(f"cells: got {cells}, expected three whole numbers of at least 1")
    if not 1.0 <= grading <= 1000.0:
        raise ModelError(f"grading: got {grading}, expected a number in [1, 1000]")
    if grading != 1.0 and number[2] == 1:
        raise ModelError(f"grading: got {grading} for one layer of cells, expected 1")
    nx, ny, nz = (int(n) for n in number)
    return extent, (nx, ny, nz)


def _offset(
    nodes: Float[np.ndarray, "n 3"], translation: Sequence[float] | str
) -> Float[np.ndarray, " 3"]:
    if isinstance(translation, str):
        if translation != "sensor":
            raise ModelError(
                f"translation: got {translation!r}, expected 'sensor' or three lengths [m]"
            )
        low, high = nodes.min(axis=0), nodes.max(axis=0)
        return np.array([-(low[0] + high[0]) / 2.0, -(low[1] + high[1]) / 2.0, -high[2]])
    offset = np.asarray(translation, dtype=np.float64)
    if offset.shape != (3,) or not np.isfinite(offset).all():
        raise ModelError(
            f"translation: got {translation}, expected 'sensor' or three finite lengths [m]"
        )
    return offset


def _read_tetrahedra(
    path: Path,
) -> tuple[Float[np.ndarray, "n 3"], Int[np.ndarray, "m 4"]]:
    try:
        import meshio  # type: ignore[import-untyped]
    except ModuleNotFoundError as error:
        raise MissingDependencyError(
            "reading mesh files needs meshio: pip install meshio"
        ) from error
    if not path.is_file():
        raise FileFormatError(f"{path}: no such file")
    mesh: Any = None
    # meshio prints its complaints and ends the process on some of them.
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            mesh = meshio.read(path)
    except (Exception, SystemExit) as error:
        reason = " ".join((str(error) if isinstance(error, Exception) else said.getvalue()).split())
        raise FileFormatError(
            f"{path}: not a mesh that meshio reads ({reason or type(error).__name__})"
        ) from error
    blocks = [block.data for block in mesh.cells if block.type == "tetra"]
    if not blocks:
        found = ", ".join(sorted({block.type for block in mesh.cells})) or "none"
        raise FileFormatError(
            f"{path}: no linear tetrahedra, got cells of type {found}, expected tetra"
        )
    nodes = np.asarray(mesh.points, dtype=np.float64)
    if nodes.ndim != 2 or nodes.shape[1] != 3:
        raise FileFormatError(f"{path}: got points of shape {nodes.shape}, expected (n, 3)")
    return nodes, np.concatenate(blocks).astype(np.int64)
