"""The facets of a threaded surface between two planes."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from contactworks.common.geometry.parts.resolution import chord_error
from contactworks.common.geometry.parts.thread_form import ThreadForm

__all__ = ["ThreadWall", "thread_wall"]

_MERGE_ANGLE = 1e-7
"""Azimuths closer than this [rad] become one column of vertices."""


@dataclass(frozen=True, slots=True)
class ThreadWall:
    """A strip of facets around the z axis, open at both ends.

    Attributes:
        vertices: points (n, 3) [m]; those of the lower end come first, then those of the upper.
        faces: vertex indices (m, 3), counter-clockwise seen from outside.
        ring_size: number of vertices of each end; both run counter-clockwise about +z.
    """

    vertices: Float[np.ndarray, "n 3"]
    faces: Int[np.ndarray, "m 3"]
    ring_size: int

    @property
    def lower_ring(self) -> Int[np.ndarray, " k"]:
        """Return the indices (k,) of the lower end's vertices."""
        return np.arange(self.ring_size)

    @property
    def upper_ring(self) -> Int[np.ndarray, " k"]:
        """Return the indices (k,) of the upper end's vertices."""
        return np.arange(self.ring_size, 2 * self.ring_size)


def thread_wall(
    form: ThreadForm,
    lower: float,
    upper: float,
    segments: int,
    *,
    is_internal: bool = False,
    is_clear: bool = False,
) -> ThreadWall:
    """Return the facets of a threaded surface from z = ``lower`` to ``upper``.

    Columns of vertices stand at about equal azimuths, and where an edge of the thread leaves
    through an end, so that the edges are edges of the mesh along their whole length.  In a column
    the vertices lie on the helices of the edges; where many segments ask for it, helices between
    them are added.

    A quadrilateral between two columns and two helices is not flat.  It is split along the diagonal
    that keeps the facets on the material's side of the exact surface.  What is left are the
    chords in azimuth: facets of a bolt lie inside it, facets of a nut reach into the clearance
    unless ``is_clear`` moves its vertices outwards.

    Args:
        form: the exact surface.
        lower: z of the lower end [m].
        upper: z of the upper end [m].
        segments: number of segments per turn.
        is_internal: whether the material lies outside the surface (a nut); the faces still point
            away from the axis.
        is_clear: whether to move the vertices outwards so far that no facet lies inside the exact
            surface.
    """
    azimuths = _column_azimuths(form, lower, upper, segments)
    rows = _rows_per_flank(form, segments)
    ids, own = _grid(form, azimuths, lower, upper, rows)
    count = len(azimuths)
    column, level = own
    z = _height(form, azimuths[column], level, rows)
    # The radius of a helix follows from its level: the same number for every vertex on it.
    radius = form.radius_at(np.zeros(len(level)), form.pitch * level / (2.0 * rows))
    ends = [form.radius_at(azimuths, np.full(count, height)) for height in (lower, upper)]
    all_radii = np.concatenate([*ends, radius])
    if is_clear:
        gaps = np.diff(azimuths, append=azimuths[0] + 2.0 * math.pi)
        all_radii = _cleared(form, all_radii, 0.5 * float(gaps.max()))
    angle = np.concatenate([azimuths, azimuths, azimuths[column]])
    heights = np.concatenate([np.full(count, lower), np.full(count, upper), z])
    vertices = np.column_stack([all_radii * np.cos(angle), all_radii * np.sin(angle), heights])
    return ThreadWall(vertices, _split(ids, is_ascending=is_internal), count)


def _column_azimuths(
    form: ThreadForm, lower: float, upper: float, segments: int
) -> Float[np.ndarray, " n"]:
    """Return ascending azimuths (n,) [rad] over one turn, no further apart than 2π/segments."""
    turn = 2.0 * math.pi
    crossings = np.array([turn * (z / form.pitch - f) for z in (lower, upper) for f in (0.0, 0.5)])
    crossings = np.sort(np.mod(crossings, turn))
    gaps = np.diff(crossings, append=crossings[0] + turn)
    crossings = crossings[gaps > _MERGE_ANGLE]
    gaps = np.diff(crossings, append=crossings[0] + turn)
    pieces = []
    for start, gap in zip(crossings, gaps, strict=True):
        count = max(1, math.ceil(gap * segments / turn - 1e-6))
        pieces.append(start + gap * np.arange(count) / count)
    return np.concatenate(pieces)


def _rows_per_flank(form: ThreadForm, segments: int) -> int:
    """Return into how many rows a flank is cut so that its twist errs no more than the chords.

    Between two columns δ apart the chord of points whose radii differ by P/(2 n) leaves the flank
    by at most P² δ/(16 π n r0), measured along the radius.
    """
    step = 2.0 * math.pi / segments
    twist = form.pitch**2 * step / (16.0 * math.pi * form.radius)
    return max(1, math.ceil(twist / chord_error(segments, form.outer_radius) - 1e-9))


def _height(
    form: ThreadForm,
    azimuths: Float[np.ndarray, " n"],
    level: Int[np.ndarray, " n"],
    rows: int,
) -> Float[np.ndarray, " n"]:
    """Return the height of helix ``level``, which has the phase f = level/(2 rows)."""
    return np.asarray(form.pitch * (azimuths / (2.0 * math.pi) + level / (2.0 * rows)))


def _grid(
    form: ThreadForm, azimuths: Float[np.ndarray, " n"], lower: float, upper: float, rows: int
) -> tuple[Int[np.ndarray, "n+1 k"], tuple[Int[np.ndarray, " m"], Int[np.ndarray, " m"]]]:
    """Return vertex indices by column and level, and column and level of the inner vertices.

    A helix below the lower end is represented by the vertex of that end, likewise above: the
    quadrilaterals there collapse to triangles or to nothing, and no seam can open.  The last column
    is the first one, a turn later: its levels are shifted by a pitch.
    """
    count, pitch_levels = len(azimuths), 2 * rows
    turns = azimuths / (2.0 * math.pi)
    first = math.floor(pitch_levels * (lower / form.pitch - turns[-1] - 1.0)) - 1
    last = math.ceil(pitch_levels * (upper / form.pitch - turns[0])) + 1
    levels = np.arange(first, last + pitch_levels + 1)
    z = _height(form, azimuths[:, None], levels[None, :], rows)
    slack = form.pitch * _MERGE_ANGLE / math.pi
    ring = np.arange(count)[:, None]
    ids = np.where(z <= lower + slack, ring, -1)
    ids = np.where((ids < 0) & (z >= upper - slack), ring + count, ids)
    column, index = np.nonzero(ids < 0)
    # The shifted first column alone reaches the topmost levels, all of them above the end.
    ids[column, index] = 2 * count + np.arange(len(column))
    closed = np.vstack([ids[:, : last - first + 1], ids[0, pitch_levels:]])
    return closed, (column, levels[index])


def _cleared(
    form: ThreadForm, radii: Float[np.ndarray, " n"], half_step: float
) -> Float[np.ndarray, " n"]:
    """Return radii (n,) [m] moved outwards until no facet lies inside the exact surface.

    A chord between radii a and b, 2 h apart in azimuth, has at the share t a radius of at least
    ((1 - t) a + t b) cos h, and the flank is linear in t but for the azimuth, which is not.  That
    has the harmless sign along the diagonals.  Along the ends, where radii of neighbours differ by
    P h/π, it costs P² h tan h/(4 π² r0) in the middle of the chord, and beside it up to h²/18 more
    of that; (P tan h/(2 π))²/r0 covers both.

    Args:
        form: the exact surface.
        radii: radii of its vertices (n,) [m].
        half_step: half of the largest step in azimuth h [rad].
    """
    margin = (form.pitch * math.tan(half_step) / (2.0 * math.pi)) ** 2 / form.radius
    return np.asarray(radii / math.cos(half_step) + margin)


def _split(ids: Int[np.ndarray, "n k"], *, is_ascending: bool) -> Int[np.ndarray, "m 3"]:
    """Return the triangles of all quadrilaterals of the grid that have not collapsed.

    Args:
        ids: vertex indices by column and level.
        is_ascending: whether the diagonal rises with the azimuth.
    """
    a, b = ids[:-1, :-1].ravel(), ids[1:, :-1].ravel()
    c, d = ids[1:, 1:].ravel(), ids[:-1, 1:].ravel()
    pairs = [(a, b, c), (a, c, d)] if is_ascending else [(a, b, d), (b, c, d)]
    faces = np.concatenate([np.column_stack(corners) for corners in pairs])
    is_whole = (
        (faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])
    )
    return np.asarray(faces[is_whole])
