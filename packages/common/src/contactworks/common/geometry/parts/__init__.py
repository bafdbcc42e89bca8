"""Parametric parts: pegs and holes, prisms, bolts and nuts, gears, indenters.

Every part offers ``mesh()``, ``sdf()`` and ``mass_properties(density)``, which agree, and a
``bounding_box()``.  Lengths are in metres; the class of each part states its frame.
"""

from __future__ import annotations

from contactworks.common.geometry.parts.gear import Gear
from contactworks.common.geometry.parts.indenters import INDENTER_NAMES, Indenter
from contactworks.common.geometry.parts.part import Part, PartSdf
from contactworks.common.geometry.parts.prisms import SemiCylinder, SquarePrism, TrianglePrism
from contactworks.common.geometry.parts.round import Hole, Peg
from contactworks.common.geometry.parts.thread import Bolt, Nut

__all__ = [
    "Bolt",
    "Gear",
    "Hole",
    "INDENTER_NAMES",
    "Indenter",
    "Nut",
    "Part",
    "PartSdf",
    "Peg",
    "SemiCylinder",
    "SquarePrism",
    "TrianglePrism",
]
