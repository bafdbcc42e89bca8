"""A visuotactile sensor simulated with incremental potential contact.

At this version: the gel mesh, its material and its elastic energy.  Names are loaded at first use;
importing the package imports neither NumPy nor Taichi.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from contactworks.common.lazy import lazy_names

if TYPE_CHECKING:
    from contactworks.tac2real._runtime import RuntimeConflictError as RuntimeConflictError
    from contactworks.tac2real.gel import Gel as Gel
    from contactworks.tac2real.ipc.elastic_body import ElasticBatch as ElasticBatch
    from contactworks.tac2real.ipc.elastic_body import ElasticBody as ElasticBody
    from contactworks.tac2real.ipc.elasticity import ELASTIC_MODELS as ELASTIC_MODELS
    from contactworks.tac2real.ipc.elasticity import Arap as Arap
    from contactworks.tac2real.ipc.elasticity import ElasticModel as ElasticModel
    from contactworks.tac2real.ipc.elasticity import FixedCorotated as FixedCorotated
    from contactworks.tac2real.ipc.elasticity import NeoHookean as NeoHookean
    from contactworks.tac2real.ipc.elasticity import StableNeoHookean as StableNeoHookean
    from contactworks.tac2real.material import Material as Material
    from contactworks.tac2real.meshing import load_gel as load_gel
    from contactworks.tac2real.meshing import structured_gel as structured_gel

__version__ = "0.1.0"

_HOMES = {
    "ELASTIC_MODELS": "ipc.elasticity",
    "Arap": "ipc.elasticity",
    "ElasticBatch": "ipc.elastic_body",
    "ElasticBody": "ipc.elastic_body",
    "ElasticModel": "ipc.elasticity",
    "FixedCorotated": "ipc.elasticity",
    "Gel": "gel",
    "Material": "material",
    "NeoHookean": "ipc.elasticity",
    "RuntimeConflictError": "_runtime",
    "StableNeoHookean": "ipc.elasticity",
    "load_gel": "meshing",
    "structured_gel": "meshing",
}

__all__ = [
    "ELASTIC_MODELS",
    "Arap",
    "ElasticBatch",
    "ElasticBody",
    "ElasticModel",
    "FixedCorotated",
    "Gel",
    "Material",
    "NeoHookean",
    "RuntimeConflictError",
    "StableNeoHookean",
    "load_gel",
    "structured_gel",
]

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
