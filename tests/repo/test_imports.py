"""Who imports whom, and what a plain import costs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("common", "crisp", "clash", "tac2real")

# Modules that a plain import must not load: each is slow, and needed by some commands only.
LAZY = ("scipy.optimize", "trimesh", "matplotlib", "mujoco", "h5py", "cma")
FOREIGN = {
    "common": ("torch", "taichi", "gymnasium"),
    "crisp": ("torch", "taichi", "gymnasium"),
    "clash": ("taichi",),
    "tac2real": ("torch", "gymnasium"),
}

# CPU seconds of a plain import, about three times what it takes on a quiet machine.
BUDGET_SECONDS = {"common": 4.0, "crisp": 4.0, "clash": 8.0, "tac2real": 4.0}

REPORT = """
import json, resource, sys
import contactworks.{package}
usage = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps([sorted(sys.modules), usage.ru_utime + usage.ru_stime]))
"""


@pytest.fixture(scope="module", params=PACKAGES)
def plain_import(request: pytest.FixtureRequest) -> tuple[str, set[str], float]:
    """Return a package, the modules that its plain import loads, and the CPU seconds used."""
    package = str(request.param)
    command = [sys.executable, "-c", REPORT.format(package=package)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    modules, seconds = json.loads(run.stdout.splitlines()[-1])
    return package, set(modules), seconds


def test_plain_import_loads_nothing_heavy(plain_import: tuple[str, set[str], float]) -> None:
    package, modules, _ = plain_import
    heavy = sorted(modules & {*LAZY, *FOREIGN[package]})
    assert not heavy, f"import contactworks.{package} loads {heavy}"


def test_plain_import_loads_no_other_package(plain_import: tuple[str, set[str], float]) -> None:
    package, modules, _ = plain_import
    others = {f"contactworks.{name}" for name in PACKAGES} - {
        "contactworks.common",
        f"contactworks.{package}",
    }
    assert not modules & others


def test_plain_import_is_quick(plain_import: tuple[str, set[str], float]) -> None:
    package, _, seconds = plain_import
    assert seconds < BUDGET_SECONDS[package]


def test_plain_import_prints_nothing() -> None:
    for package in PACKAGES:
        command = [sys.executable, "-c", f"import contactworks.{package}"]
        run = subprocess.run(command, capture_output=True, text=True, check=True)
        assert run.stdout == ""


def test_import_contracts_hold() -> None:
    """The contracts of pyproject.toml, judged by import-linter."""
    pytest.importorskip("importlinter", reason="import-linter is installed by nox")
    sources = [str(ROOT / "packages" / package / "src") for package in PACKAGES]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sources)}
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as c; c()"]
    run = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout[-3000:]


def test_import_contracts_name_every_package() -> None:
    with (ROOT / "pyproject.toml").open("rb") as stream:
        linter = tomllib.load(stream)["tool"]["importlinter"]
    everything = {f"contactworks.{package}" for package in PACKAGES}
    assert set(linter["root_packages"]) == everything
    independent = [c for c in linter["contracts"] if c["type"] == "independence"]
    assert {name for c in independent for name in c["modules"]} == everything - {
        "contactworks.common"
    }
    below = [c for c in linter["contracts"] if c.get("source_modules") == ["contactworks.common"]]
    assert everything - {"contactworks.common"} in [set(c["forbidden_modules"]) for c in below]
