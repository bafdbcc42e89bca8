"""The decorator of kernels: no stale machine code over files and packages, and Numba's switches."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numba
import pytest

from contactworks.common import _jit
from contactworks.common._jit import cache_folder, kernel

# A second namespace root with its own copy of the decorator: contactworks.toy has an engine that
# calls a kernel of another file, in its own package or in contactworks.common.
ENGINE = """
    {decorator}
    from contactworks.{owner}._kernels.shared import scale

    @kernel
    def answer(x):
        return scale(x) + 1.0
"""
SHARED = """
    {decorator}

    @kernel
    def scale(x):
        return {factor} * x
"""
HOUSE = "from contactworks.common._jit import kernel"
PLAIN = "from numba import njit\n    kernel = njit(cache=True)"
RUN = """
    import contactworks.toy
    from contactworks.toy._kernels.engine import answer
    value = answer(10.0)
    hits = sum(answer.stats.cache_hits.values()) if hasattr(answer, "stats") else "interpreted"
    print(value, hits)
"""


class Toy:
    """A small throw-away package and the means to run it in a fresh interpreter."""

    def __init__(self, root: Path, owner: str, decorator: str) -> None:
        self.root, self.owner, self.decorator = root, owner, decorator
        for package in ("common", "toy"):
            folder = root / "src" / "contactworks" / package
            (folder / "_kernels").mkdir(parents=True)
            (folder / "__init__.py").touch()
            (folder / "_kernels" / "__init__.py").touch()
        source = Path(_jit.__file__).read_text(encoding="utf-8")
        (root / "src/contactworks/common/_jit.py").write_text(source, encoding="utf-8")
        self.write("toy", "engine", ENGINE)
        self.set_factor(2.0)

    def write(self, package: str, name: str, text: str, **values: object) -> None:
        filled = text.format(decorator=self.decorator, owner=self.owner, **values)
        path = self.root / "src/contactworks" / package / "_kernels" / f"{name}.py"
        path.write_text(textwrap.dedent(filled), encoding="utf-8")

    def set_factor(self, factor: float) -> None:
        self.write(self.owner, "shared", SHARED, factor=factor)

    def run(self, **environment: str) -> list[str]:
        """Return what a fresh interpreter prints: the answer and the cache hits."""
        clean = {k: v for k, v in os.environ.items() if not k.startswith("NUMBA_")}
        # No bytecode: files that change twice within a second would be stale for Python itself.
        clean |= {"PYTHONPATH": str(self.root / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
        clean |= {"XDG_CACHE_HOME": str(self.root / "user"), "HOME": str(self.root / "home")}
        result = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(RUN)],
            env=clean | environment,
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
        assert result.returncode == 0, result.stderr
        return result.stdout.split()

    def cached(self, folder: str) -> set[str]:
        """Return the first folders, below ``folder``, that hold compiled kernels."""
        base = self.root / folder
        return {path.relative_to(base).parts[0] for path in base.rglob("*.nbi")}


def test_plain_numba_runs_a_stale_callee(tmp_path):
    # The trap itself, so that the next test is known to be able to fail.
    toy = Toy(tmp_path, "toy", PLAIN)
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    assert toy.run(**cache) == ["21.0", "0"]
    toy.set_factor(3.0)
    assert toy.run(**cache) == ["21.0", "1"]


@pytest.mark.parametrize("owner", ["toy", "common"])
def test_kernels_follow_a_callee_in_another_file_or_package(tmp_path, owner):
    toy = Toy(tmp_path, owner, HOUSE)
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    assert toy.run(**cache) == ["21.0", "0"]
    assert toy.run(**cache) == ["21.0", "1"]  # unchanged sources come from the cache
    toy.set_factor(3.0)
    assert toy.run(**cache) == ["31.0", "0"]
    toy.set_factor(2.0)
    assert toy.run(**cache) == ["21.0", "1"]  # the first folder is still good


def test_cache_stands_where_numba_is_told_else_with_the_user(tmp_path):
    toy = Toy(tmp_path, "toy", HOUSE)
    toy.run(NUMBA_CACHE_DIR=str(tmp_path / "told"))
    (folder,) = toy.cached("told")
    assert folder.startswith("toy-")
    assert not (tmp_path / "user").exists()
    toy.run()
    (base,) = (path for path in tmp_path.rglob("numba") if path.is_dir())
    assert base.parent.name == "contactworks"
    assert toy.cached(str(base.relative_to(tmp_path))) == {folder}
    # A user's cache keeps uninstalled packages clean: nothing is written beside the sources.
    assert not list((tmp_path / "src").rglob("*.nb*"))


def test_disabled_jit_leaves_plain_functions(tmp_path):
    toy = Toy(tmp_path, "toy", HOUSE)
    assert toy.run(NUMBA_DISABLE_JIT="1", NUMBA_CACHE_DIR=str(tmp_path / "cache")) == [
        "21.0",
        "interpreted",
    ]
    assert not list(tmp_path.rglob("*.nbi"))


def test_folders_unused_for_a_month_are_removed(tmp_path):
    toy = Toy(tmp_path, "toy", HOUSE)
    month_ago = time.time() - 31 * 24 * 3600.0
    ages = {"toy-0123456789abcdef": month_ago, "toy-fedcba9876543210": time.time()}
    ages["somebody-else"] = month_ago
    for name, age in ages.items():
        (tmp_path / "cache" / name).mkdir(parents=True)
        os.utime(tmp_path / "cache" / name, (age, age))
    toy.run(NUMBA_CACHE_DIR=str(tmp_path / "cache"))
    left = {path.name for path in (tmp_path / "cache").iterdir()}
    assert "toy-0123456789abcdef" not in left
    assert {"toy-fedcba9876543210", "somebody-else"} < left


def test_global_setting_of_numba_is_left_alone():
    before = numba.config.CACHE_DIR

    @kernel(cache=False)
    def double(x):
        return 2.0 * x

    assert before == numba.config.CACHE_DIR
    assert double(3.0) == 6.0


def test_defaults_of_the_house_and_their_override():
    def reciprocal(x):
        return 1.0 / x

    if numba.config.DISABLE_JIT:
        pytest.skip("no compiled functions with the JIT off")
    house = kernel(reciprocal, cache=False)
    assert house(0.0) == math.inf  # NumPy's error model: no exception inside a step
    assert house.targetoptions["nogil"]
    strict = kernel(cache=False, error_model="python")(reciprocal)
    with pytest.raises(ZeroDivisionError):
        strict(0.0)


def test_packages_have_folders_of_their_own():
    common = cache_folder("contactworks.common._kernels.rotations")
    assert common == cache_folder("contactworks.common._kernels")
    assert common.name.startswith("common-")
    assert common != cache_folder("contactworks.elsewhere._kernels.rotations")
