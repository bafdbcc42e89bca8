"""Where the public gel meshes and our reference fields lie: beside the repository."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
VARIABLE = "CONTACTWORKS_DATA"


def _folder(name: str) -> Path:
    named = os.environ.get(VARIABLE)
    base = Path(named).expanduser() if named else ROOT.parent / "shared" / "data"
    folder = base / name
    if not folder.is_dir():
        pytest.skip(f"no {name} in the data folder {base}; name another folder with {VARIABLE}")
    return folder


@pytest.fixture(scope="session")
def public_meshes() -> Path:
    """Return the folder of the gel meshes of the ManiSkill-ViTac challenge, or skip."""
    return _folder("maniskill_vitac_gelsight_mini")


@pytest.fixture(scope="session")
def reference_fields() -> Path:
    """Return the folder of the converged reference fields, or skip."""
    return _folder("gel_reference")
