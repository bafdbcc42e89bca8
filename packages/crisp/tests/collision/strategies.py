"""Hypothesis strategies of shapes and placements, ordinary and awkward ones."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import strategies as st

from contactworks.common.geometry.shapes import Box, Capsule, Sphere
from contactworks.common.poses import Pose
from contactworks.common.rotations import quaternion_exp, quaternion_normalize

from ..oracles import Placed, separation  # noqa: TID252

lengths = st.floats(0.02, 0.2)
coordinates = st.floats(-1.0, 1.0)
vectors = st.tuples(coordinates, coordinates, coordinates).map(np.array)
directions = vectors.filter(lambda v: np.linalg.norm(v) > 0.1).map(lambda v: v / np.linalg.norm(v))

any_rotation = (
    st.tuples(coordinates, coordinates, coordinates, coordinates)
    .filter(lambda q: np.linalg.norm(q) > 0.1)
    .map(lambda q: quaternion_normalize(np.array(q)))
)
right_angles = st.tuples(st.integers(0, 3), st.integers(0, 2)).map(
    lambda turn: quaternion_exp(0.5 * math.pi * turn[0] * np.eye(3)[turn[1]])
)
small_tilts = st.tuples(directions, st.sampled_from([1e-12, 1e-9, 1e-6, 1e-4, 1e-2])).map(
    lambda tilt: quaternion_exp(tilt[0] * tilt[1])
)
#: Any rotation, aligned ones and nearly aligned ones, where the algorithms have their cases.
rotations = any_rotation | right_angles | small_tilts

SHAPES = {
    "sphere": lengths.map(Sphere),
    "capsule": st.tuples(lengths, lengths).map(lambda size: Capsule(*size)),
    "box": st.tuples(lengths, lengths, lengths).map(Box),
}


@st.composite
def pairs(draw, first, second, low=-0.05, high=0.05, turns=rotations):
    """Two shapes that are ``low`` to ``high`` metres apart along some direction."""
    a = Placed(draw(SHAPES[first]), Pose(draw(vectors), draw(turns)))
    b = Placed(draw(SHAPES[second]), Pose(a.pose.position, draw(turns)))
    direction = draw(directions)
    shift = draw(st.floats(low, high)) - float(separation(a, b, direction[None])[0])
    return a, b.moved(shift * direction)
