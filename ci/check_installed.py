"""Check one installed package from outside the checkout.

Usage: ``python -I check_installed.py PACKAGE CHECKOUT [--alone]`` in an empty folder.  The package
must come from the environment, import lightly, answer ``--help`` and do one small job.  With
``--alone`` nothing may be installed that the package does not ask for.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import json
import subprocess
import sys
import sysconfig
from pathlib import Path

SIBLINGS = ("common", "crisp", "clash", "tac2real")

# Distributions that the package must do without.
FOREIGN = {
    "common": ("mujoco", "torch", "taichi", "gymnasium"),
    "crisp": ("torch", "taichi", "gymnasium"),
    "clash": ("taichi",),
    "tac2real": ("mujoco", "torch", "gymnasium"),
}

# Modules that a plain import must not load, even where they are installed.
LAZY = ("scipy.optimize", "trimesh", "matplotlib", "mujoco", "h5py", "cma")

# One small job of each command; "{json}" is the file that it has to write.
JOBS = {
    "crisp": ["run", "cube-toss", "--evaluations", "12", "--tosses", "2", "--json", "{json}"],
    "clash": ["collect", "--count", "50", "--json", "{json}"],
    "tac2real": ["patch-test", "--json", "{json}"],
}


def main(package: str, checkout: Path, *, alone: bool) -> None:
    """Run all checks of ``package`` and raise at the first that fails."""
    check_origin(package, checkout)
    if alone:
        check_absent(package)
    check_light_import(package)
    if package == "common":
        run_common()
    else:
        run_command(package)
    print(f"contactworks.{package}: installed, light and working")


def check_origin(package: str, checkout: Path) -> None:
    """Fail unless the package is imported from this environment."""
    module = importlib.import_module(f"contactworks.{package}")
    origin = Path(str(module.__file__)).resolve()
    library = Path(sysconfig.get_path("purelib")).resolve()
    if not origin.is_relative_to(library) or origin.is_relative_to(checkout / "packages"):
        raise SystemExit(f"contactworks.{package} comes from {origin}, expected it in {library}")
    version = importlib.metadata.version(f"contactworks-{package}")
    if module.__version__ != version:
        raise SystemExit(f"version: module {module.__version__}, distribution {version}")


def check_absent(package: str) -> None:
    """Fail if the environment holds packages that ``package`` must do without."""
    others = {f"contactworks.{name}" for name in SIBLINGS} - {
        f"contactworks.{package}",
        "contactworks.common",
    }
    found = [name for name in (*FOREIGN[package], *sorted(others)) if _is_there(name)]
    if found:
        raise SystemExit(f"contactworks.{package} brought {found}, which it must do without")


def check_light_import(package: str) -> None:
    """Fail if a plain import loads modules that belong inside the commands."""
    code = f"import sys, contactworks.{package}; print(*sys.modules)"
    loaded = set(_run([sys.executable, "-I", "-c", code]).split())
    heavy = sorted(loaded & {*LAZY, *FOREIGN[package]})
    if heavy:
        raise SystemExit(f"import contactworks.{package} loads {heavy}")


def run_command(package: str) -> None:
    """Ask the package's command for help, let it do a job, and read what it wrote."""
    command = str(Path(sys.executable).with_name(f"contactworks-{package}"))
    text = _run([command, "--help"])
    if "usage" not in text.lower():
        raise SystemExit(f"{command} --help does not tell its usage:\n{text}")
    output = Path(f"{package}.json").resolve()
    _run([command, *(word.format(json=output) for word in JOBS[package])])
    record = json.loads(output.read_text())
    missing = {"command", "options", "seed", "versions", "metrics"} - set(record)
    if missing:
        raise SystemExit(f"{output.name} lacks {sorted(missing)}")


def run_common() -> None:
    """Let common build a part and compare its mass with the closed form."""
    import math

    from contactworks.common.geometry.parts import Peg

    mass = Peg(radius=0.025, length=0.1).mass_properties(density=2700.0).mass
    expected = 2700.0 * math.pi * 0.025**2 * 0.1
    if not math.isclose(mass, expected, rel_tol=1e-3):
        raise SystemExit(f"mass of a peg: {mass} kg, expected {expected} kg")


def _is_there(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def _run(command: list[str]) -> str:
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise SystemExit(f"{' '.join(command)} failed:\n{result.stdout}\n{result.stderr}")
    return result.stdout


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]).resolve(), alone="--alone" in sys.argv[3:])
