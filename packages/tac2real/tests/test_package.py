"""Public names, and what a plain import costs."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from contactworks import tac2real


def test_public_names_are_there_and_listed() -> None:
    for name in tac2real.__all__:
        assert getattr(tac2real, name) is not None
    assert set(tac2real.__all__) <= set(dir(tac2real))
    assert set(tac2real._HOMES) == set(tac2real.__all__)
    with pytest.raises(AttributeError, match="no attribute 'TactileSimulator'"):
        tac2real.TactileSimulator  # noqa: B018


def test_plain_import_is_light() -> None:
    code = (
        "import json, sys, time; t = time.process_time()\n"
        "import contactworks.tac2real; t = time.process_time() - t\n"
        "print(json.dumps([t, sorted(sys.modules)]))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    seconds, modules = json.loads(run.stdout)
    heavy = {"numpy", "taichi", "quadrants", "meshio", "matplotlib", "scipy", "jaxtyping", "tyro"}
    assert not heavy & set(modules)
    assert seconds < 0.8


def test_numpy_path_needs_no_taichi() -> None:
    code = (
        "import sys; sys.modules['taichi'] = None\n"
        "from contactworks import tac2real\n"
        "gel = tac2real.structured_gel(cells=(1, 1, 1))\n"
        "print(tac2real.ElasticBody(gel, tac2real.Material()).energy(1.1 * gel.nodes[None])[0])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert float(run.stdout) > 0.0
