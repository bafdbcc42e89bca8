"""The packages stand where the architecture puts them, and their copies agree."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("common", "crisp", "clash", "tac2real")
HOOKED = ("crisp", "clash", "tac2real")


def source(package: str) -> Path:
    return ROOT / "packages" / package / "src" / "contactworks" / package


def project(package: str) -> dict[str, object]:
    with (ROOT / "packages" / package / "pyproject.toml").open("rb") as stream:
        table: dict[str, object] = tomllib.load(stream)["project"]
    return table


def test_every_package_folder_is_known() -> None:
    found = {path.parent.name for path in (ROOT / "packages").glob("*/pyproject.toml")}
    assert found == set(PACKAGES)


@pytest.mark.parametrize("package", PACKAGES)
def test_namespace_has_no_init_and_one_portion(package: str) -> None:
    namespace = source(package).parent
    content = {path.name for path in namespace.iterdir()} - {"__pycache__"}
    assert content == {package}


@pytest.mark.parametrize("package", PACKAGES)
def test_licence_and_type_marker(package: str) -> None:
    licence = (ROOT / "packages" / package / "LICENSE").read_bytes()
    assert licence == (ROOT / "LICENSE").read_bytes()
    assert b"Apache License" in licence
    assert (source(package) / "py.typed").is_file()


def test_build_hooks_are_the_same_bytes() -> None:
    copies = {(ROOT / "packages" / package / "hatch_build.py").read_bytes() for package in HOOKED}
    assert len(copies) == 1
    assert not (ROOT / "packages" / "common" / "hatch_build.py").exists()


@pytest.mark.parametrize("package", PACKAGES)
def test_version_is_written_once_and_twice_the_same(package: str) -> None:
    text = (source(package) / "__init__.py").read_text(encoding="utf-8")
    found = re.findall(r'^__version__ = "([^"]+)"$', text, flags=re.MULTILINE)
    assert found == [project(package)["version"]]


@pytest.mark.parametrize("package", HOOKED)
def test_sibling_range_admits_the_sibling(package: str) -> None:
    requirement = pytest.importorskip("packaging.requirements").Requirement
    with (ROOT / "packages" / package / "pyproject.toml").open("rb") as stream:
        hook = tomllib.load(stream)["tool"]["hatch"]["metadata"]["hooks"]["custom"]
    assert set(hook["siblings"]) == {"common"}
    needed = requirement(hook["siblings"]["common"])
    assert needed.name == project("common")["name"]
    assert str(project("common")["version"]) in needed.specifier


def test_root_is_no_project() -> None:
    with (ROOT / "pyproject.toml").open("rb") as stream:
        assert "project" not in tomllib.load(stream)


@pytest.mark.parametrize("package", PACKAGES)
def test_test_folders_hold_no_init(package: str) -> None:
    assert not list((ROOT / "packages" / package / "tests").rglob("__init__.py"))


@pytest.mark.parametrize("package", PACKAGES)
def test_kernels_stand_below_everything_else(package: str) -> None:
    """A kernel file may import the decorator, other kernels and NumPy, nothing above it."""
    allowed = re.compile(
        r"(numpy|numba|math|typing|enum|collections|__future__)(\..*)?"
        r"|contactworks\.\w+\._kernels(\..*)?|contactworks\.common\._jit"
    )
    for path in sorted((source(package) / "_kernels").rglob("*.py")):
        foreign = [name for name in imported_modules(path, package) if not allowed.fullmatch(name)]
        assert not foreign, f"{path.relative_to(ROOT)} imports {foreign}"


def imported_modules(path: Path, package: str) -> list[str]:
    """Return the absolute names of the modules that ``path`` imports from."""
    here = ["contactworks", package, *path.relative_to(source(package)).parts[:-1]]
    names: list[str] = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            parent = here[: len(here) - node.level + 1] if node.level else []
            names.append(".".join([*parent, *([node.module] if node.module else [])]))
    return names
