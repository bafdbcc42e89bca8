"""Collisions of a simulator distilled into a small network and fitted to real collisions.

At this version: the strike scene and the collection of simulated strikes.  Names are loaded at
first use; importing the package imports neither PyTorch nor MuJoCo.

An independent implementation from the CLASH paper; not the authors' code.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from contactworks.common.lazy import lazy_names

if TYPE_CHECKING:
    from contactworks.clash.collection import collect as collect
    from contactworks.clash.collection import simulate as simulate
    from contactworks.clash.dataset import CollisionDataset as CollisionDataset
    from contactworks.clash.dataset import CollisionStatus as CollisionStatus
    from contactworks.clash.scene import ImpactBlock as ImpactBlock
    from contactworks.clash.scene import StrikeOptions as StrikeOptions
    from contactworks.clash.scene import StrikeScene as StrikeScene
    from contactworks.clash.shapes import SHAPE_NAMES as SHAPE_NAMES
    from contactworks.clash.shapes import StrikeShape as StrikeShape

__version__ = "0.1.0"

_HOMES = {
    "CollisionDataset": "dataset",
    "CollisionStatus": "dataset",
    "ImpactBlock": "scene",
    "SHAPE_NAMES": "shapes",
    "StrikeOptions": "scene",
    "StrikeScene": "scene",
    "StrikeShape": "shapes",
    "collect": "collection",
    "simulate": "collection",
}

__all__ = [
    "SHAPE_NAMES",
    "CollisionDataset",
    "CollisionStatus",
    "ImpactBlock",
    "StrikeOptions",
    "StrikeScene",
    "StrikeShape",
    "collect",
    "simulate",
]

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
