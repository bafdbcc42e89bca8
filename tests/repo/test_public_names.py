"""Every public name is documented: by a docstring, and in docs/reference."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("common", "crisp", "clash", "tac2real")

# Where public names are imported from: the packages, and these modules of common.  Other modules
# state an ``__all__`` too, for their neighbours in the package.
HOMES = (
    *(f"contactworks.{package}" for package in PACKAGES),
    "contactworks.common.calibration",
    "contactworks.common.command",
    "contactworks.common.lazy",
    "contactworks.common.engine",
    "contactworks.common.engine_conformance",
    "contactworks.common.engines.mujoco",
    "contactworks.common.errors",
    "contactworks.common.geometry",
    "contactworks.common.geometry.parts",
    "contactworks.common.geometry.sdf",
    "contactworks.common.inertia",
    "contactworks.common.metrics",
    "contactworks.common.poses",
    "contactworks.common.progress",
    "contactworks.common.records",
    "contactworks.common.rotations",
    "contactworks.crisp.collision",
    "contactworks.crisp.scenes",
)


def public_modules() -> list[str]:
    """Return the modules that have no underscore in their path and state ``__all__``."""
    names: list[str] = []
    for package in PACKAGES:
        root = importlib.import_module(f"contactworks.{package}")
        names.append(root.__name__)
        walk = pkgutil.walk_packages(root.__path__, prefix=f"{root.__name__}.")
        names += [m.name for m in walk if "._" not in m.name and not m.name.endswith(".cli")]
    return names


def documented(module: ModuleType, name: str) -> bool:
    """Return whether ``module.name`` explains itself; plain constants are explained in place."""
    value = getattr(module, name)
    if inspect.isclass(value) or inspect.isroutine(value) or inspect.ismodule(value):
        text = value.__dict__.get("__doc__") if inspect.isclass(value) else value.__doc__
        # A dataclass without a docstring is given its own signature as one.
        return bool(text and text.strip()) and not str(text).startswith(f"{name}(")
    return True


@pytest.mark.parametrize("module_name", public_modules())
def test_public_names_exist_and_have_docstrings(module_name: str) -> None:
    module = importlib.import_module(module_name)
    assert (module.__doc__ or "").strip(), f"{module_name} has no docstring"
    names = list(getattr(module, "__all__", []))
    assert len(names) == len(set(names)), f"{module_name}.__all__ repeats a name"
    absent = [name for name in names if not hasattr(module, name)]
    assert not absent, f"{module_name}.__all__ promises {absent}"
    silent = [name for name in names if not documented(module, name)]
    assert not silent, f"{module_name}: no docstring of its own: {silent}"


@pytest.mark.parametrize("module_name", public_modules())
def test_methods_of_public_classes_have_docstrings(module_name: str) -> None:
    module = importlib.import_module(module_name)
    silent = []
    for name in getattr(module, "__all__", []):
        value = getattr(module, name)
        if not inspect.isclass(value):
            continue
        for attribute, member in vars(value).items():
            routine = member.fget if isinstance(member, property) else member
            routine = getattr(routine, "__func__", routine)
            if attribute.startswith("_") or not inspect.isfunction(routine):
                continue
            if not inspect.getdoc(getattr(value, attribute)):
                silent.append(f"{name}.{attribute}")
    assert not silent, f"{module_name}: no docstring: {silent}"


@pytest.mark.parametrize("home", HOMES)
def test_reference_lists_every_public_name(home: str) -> None:
    """A name counts as listed when it stands alone on a line of its package's page."""
    package = home.split(".")[1]
    page = ROOT / "docs" / "reference" / f"{package}.md"
    text = page.read_text(encoding="utf-8")
    listed = set(re.findall(r"^   (\w+)$", text, flags=re.MULTILINE))
    listed |= set(re.findall(rf"`{package}\.(\w+)`", text))
    module = importlib.import_module(home)
    names = [n for n in module.__all__ if not inspect.ismodule(getattr(module, n))]
    missing = [name for name in names if name not in listed]
    assert not missing, f"docs/reference/{package}.md does not list {missing} of {home}"


def test_every_package_states_its_public_names() -> None:
    for package in PACKAGES:
        module = importlib.import_module(f"contactworks.{package}")
        assert getattr(module, "__all__", []), f"contactworks.{package} has no __all__"


@pytest.mark.parametrize("package", PACKAGES)
def test_reference_invents_no_names(package: str) -> None:
    text = (ROOT / "docs" / "reference" / f"{package}.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```\{eval-rst\}\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    for block in blocks:
        home = re.search(r"^\.\. currentmodule:: ([\w.]+)$", block, flags=re.MULTILINE)
        assert home is not None
        module = importlib.import_module(home[1])
        names = re.findall(r"^   (\w+)$", block, flags=re.MULTILINE)
        assert not [name for name in names if not hasattr(module, name)], home[1]
