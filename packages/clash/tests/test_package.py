from __future__ import annotations

import subprocess
import sys

import pytest

from contactworks import clash

HEAVY = ("torch", "mujoco", "trimesh", "h5py", "matplotlib", "scipy.optimize", "numpy", "tyro")


def test_a_plain_import_loads_nothing_heavy() -> None:
    code = f"import sys, contactworks.clash; print([m for m in {HEAVY} if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


@pytest.mark.parametrize("name", ["collect", "simulate", "StrikeScene"])
def test_every_public_name_is_there_whatever_is_loaded_first(name: str) -> None:
    # A module of the same name as a function would take its place in the package.
    code = (
        f"from contactworks import clash; clash.{name}; clash.simulate\n"
        "import contactworks.clash.collection, contactworks.clash.scene\n"
        "assert callable(clash.collect) and callable(clash.simulate)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_every_public_name_is_there() -> None:
    for name in clash.__all__:
        assert getattr(clash, name).__doc__


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="distil"):
        clash.distil  # noqa: B018
