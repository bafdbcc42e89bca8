"""What the built packages say that they need: paths in a checkout, versions in a release."""

from __future__ import annotations

import email
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("common", "crisp", "clash", "tac2real")


def build_wheel(package: str, folder: Path, *, release: bool) -> tuple[list[str], list[str]]:
    """Build a wheel in ``folder``; return its requirements and the names of its files."""
    environment = {**os.environ, "CONTACTWORKS_RELEASE": "1" if release else "0"}
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=ROOT / "packages" / package,
        env=environment,
        check=True,
        capture_output=True,
    )
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        metadata = next(name for name in names if name.endswith(".dist-info/METADATA"))
        message = email.message_from_bytes(archive.read(metadata))
    return message.get_all("Requires-Dist", []), names


@pytest.mark.parametrize("package", PACKAGES)
def test_release_wheel_requires_versions_only(package: str, tmp_path: Path) -> None:
    requirements, names = build_wheel(package, tmp_path, release=True)
    assert not [text for text in requirements if "file:" in text or " @ " in text]
    sibling = [text for text in requirements if text.startswith("contactworks-")]
    assert len(sibling) == (package != "common")
    assert all(">=" in text and "<" in text for text in sibling)
    assert f"contactworks/{package}/py.typed" in names
    assert "contactworks/__init__.py" not in names
    assert not [name for name in names if "test" in name.split("/")[0]]


@pytest.mark.parametrize("package", ["crisp", "clash", "tac2real"])
def test_checkout_wheel_requires_the_neighbour_folder(package: str, tmp_path: Path) -> None:
    requirements, _ = build_wheel(package, tmp_path, release=False)
    (sibling,) = [text for text in requirements if text.startswith("contactworks-common")]
    assert sibling.endswith((ROOT / "packages" / "common").as_uri())


def test_hook_asks_for_a_version_where_no_neighbour_lies(tmp_path: Path) -> None:
    """An unpacked sdist stands alone: its hook must not invent a path."""
    package = tmp_path / "crisp"
    unneeded = shutil.ignore_patterns("__pycache__", "*.egg-info", "tests")
    shutil.copytree(ROOT / "packages" / "crisp", package, ignore=unneeded)
    environment = {**os.environ, "CONTACTWORKS_RELEASE": "0"}
    command = [sys.executable, "-m", "hatchling", "metadata", "dependencies"]
    result = subprocess.run(
        command, cwd=package, env=environment, check=True, capture_output=True, text=True
    )
    assert "contactworks-common" in result.stdout
    assert "file:" not in result.stdout
