"""Everything that is done with this repository: ``nox --list`` shows it, ``nox`` runs the tests."""

from __future__ import annotations

import email
import hashlib
import os
import shutil
import sys
import tarfile
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import nox

nox.needs_version = ">=2025.2"
nox.options.default_venv_backend = "venv"
nox.options.reuse_venv = "yes"
nox.options.sessions = ["unit", "integration"]

ROOT = Path(__file__).resolve().parent
CACHE = ROOT / ".nox"
CONSTRAINTS = str(ROOT / "ci" / "constraints.txt")
LINTERS = str(ROOT / "ci" / "lint.txt")
DOCS = str(ROOT / "docs" / "requirements.txt")

PACKAGES = ("common", "crisp", "clash", "tac2real")
EXTRAS = {"common": "mujoco,test", "crisp": "test", "clash": "test", "tac2real": "test,quadrants"}
SOURCES = [f"packages/{package}/src" for package in PACKAGES]

# What tests/repo, the coverage run and the artefact checks need beside the packages' own extras.
TEST_TOOLS = ("hatchling>=1.27", "import-linter>=2", "nox>=2025.2", "pytest-cov>=6")

# The main job, as the README shows it and as the demo session runs it.
DEMO = ("contactworks-crisp", "run", "cube-toss")

# Siblings are required by version while this is set, by path otherwise (see hatch_build.py).
RELEASE = {"CONTACTWORKS_RELEASE": "1"}

QUIET = {
    "ENABLE_TAICHI_HEADER_PRINT": "0",
    "MPLBACKEND": "Agg",
    "NUMBA_NUM_THREADS": "2",
    "OMP_NUM_THREADS": "1",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
}

package_wise = nox.parametrize("package", PACKAGES, ids=PACKAGES)


@nox.session(venv_backend="none")
@package_wise
def unit(session: nox.Session, package: str) -> None:
    """Run one package's own tests."""
    python = _shared_environment(session)
    environment = _test_environment()
    if package == "crisp":
        # Two workers that start cold would compile every kernel twice.
        warm_up = ("-m", "contactworks.crisp.cli", "warmup")
        session.run(python, *warm_up, env=environment, external=True)
    session.run(
        *(python, "-m", "pytest", "-n", "2", "-m", "not slow and not gpu", "--durations=10"),
        *(f"packages/{package}/tests", *session.posargs),
        env=environment,
        external=True,
    )


@nox.session(venv_backend="none")
def integration(session: nox.Session) -> None:
    """Run the tests across packages and the rules of the repository."""
    python = _shared_environment(session)
    session.run(
        *(python, "-m", "pytest", "-m", "not slow and not gpu", "--durations=10"),
        *("tests", *session.posargs),
        env=_test_environment(),
        external=True,
    )


@nox.session
@package_wise
def standalone(session: nox.Session, package: str) -> None:
    """Install one package alone, as a user does, and run it away from the checkout."""
    session.install("-c", CONSTRAINTS, f"./packages/{package}", env=QUIET)
    _check_installed(session, package, alone=True)


@nox.session
def artifacts(session: nox.Session) -> None:
    """Build what would be uploaded, check it, install it from the built files alone."""
    dist = ROOT / "dist"
    shutil.rmtree(dist, ignore_errors=True)
    session.install("hatch>=1.14", "twine>=6", env=QUIET)
    for package in PACKAGES:
        with session.chdir(f"packages/{package}"):
            session.run("hatch", "build", str(dist), env=RELEASE)
    session.run("twine", "check", "--strict", *map(str, sorted(dist.iterdir())), silent=True)
    _check_metadata(session, dist)
    _check_sdists(session, dist)

    names = [f"contactworks-{package}" for package in PACKAGES]
    with _away(session):
        only_dist = ("--no-index", "--no-deps", "--force-reinstall", "--find-links", str(dist))
        session.install(*only_dist, *names, env=QUIET)
        session.install("-c", CONSTRAINTS, *names, env=QUIET)
        session.run("python", "-m", "pip", "check", silent=True)
    for package in PACKAGES:
        _check_installed(session, package, alone=False)


@nox.session
def lint(session: nox.Session) -> None:
    """Check style, types, the direction of imports and the changelog fragments."""
    session.install("-r", LINTERS, env=QUIET)
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("mypy", *SOURCES)
    path = os.pathsep.join(str(ROOT / source) for source in SOURCES)
    session.run("lint-imports", env={"PYTHONPATH": path})
    session.run("towncrier", "build", "--draft", "--version", "unreleased", silent=True)


@nox.session(venv_backend="none")
def docs(session: nox.Session) -> None:
    """Build the documentation, run its examples, and take every warning for an error."""
    python = _shared_environment(session)
    _install(session, Path(python), "docs", ["-r", DOCS], [Path(DOCS)])
    output = ROOT / "docs" / "_build"
    for generated in ("api", "gallery"):  # what a renamed name or example would leave behind
        shutil.rmtree(ROOT / "docs" / generated, ignore_errors=True)
    session.run(
        *(python, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html"),
        *("-d", str(output / "doctrees"), "docs", str(output / "html")),
        env=_test_environment(),
        external=True,
    )
    session.log(f"open {(output / 'html' / 'index.html').relative_to(ROOT)}")


@nox.session(venv_backend="none")
def coverage(session: nox.Session) -> None:
    """Measure which kernel lines the tests reach, with the compiler switched off."""
    python = _shared_environment(session)
    environment = {**_test_environment(), "NUMBA_DISABLE_JIT": "1"}
    tests = ["packages/common/tests", "packages/crisp/tests", "tests/integration"]
    session.run(
        *(python, "-m", "pytest", "-n", "2", "-m", "kernel and not slow and not gpu"),
        *("--cov", "--cov-config=pyproject.toml", "--cov-report=term-missing:skip-covered"),
        *(*tests, *session.posargs),
        env=environment,
        external=True,
    )


@nox.session(venv_backend="none")
def dev(session: nox.Session) -> None:
    """Install everything editable: into the active environment, or else into .venv."""
    active = os.environ.get("VIRTUAL_ENV")
    folder = Path(active) if active else ROOT / ".venv"
    if not _python(folder).exists():
        session.run(sys.executable, "-m", "venv", str(folder), external=True)
    requirements = [*_editable(), *TEST_TOOLS, "-r", LINTERS, "-r", DOCS]
    session.run(
        *(str(_python(folder)), "-m", "pip", "install", "-c", CONSTRAINTS, *requirements),
        env={**QUIET, **RELEASE},
        external=True,
    )
    session.log(f"everything is installed in {folder}")


@nox.session
def demo(session: nox.Session) -> None:
    """Install crisp and run the main job; the picture and the figures go to out/."""
    session.install("-c", CONSTRAINTS, "./packages/crisp", env=QUIET)
    output = ROOT / "out"
    output.mkdir(exist_ok=True)
    files = ("--json", str(output / "cube-toss.json"), "--plot", str(output / "cube-toss.png"))
    session.run(*DEMO, *files, *session.posargs, env={"MPLBACKEND": "Agg"})
    session.log("the results lie in out/")


def _check_installed(session: nox.Session, package: str, *, alone: bool) -> None:
    """Run the installed ``package`` in an empty folder, where no checkout can help it."""
    script = str(ROOT / "ci" / "check_installed.py")
    options = ["--alone"] if alone else []
    with _away(session):
        session.run("python", "-I", script, package, str(ROOT), *options, env=_test_environment())


def _check_metadata(session: nox.Session, dist: Path) -> None:
    """Fail if a built file names a path, or if its sdist would build another wheel."""
    texts: dict[str, list[list[str]]] = {}
    for path in sorted(dist.iterdir()):
        text = _read_metadata(path)
        message = email.message_from_string(text)
        requirements = sorted(message.get_all("Requires-Dist", []))
        if any("file:" in requirement or " @ " in requirement for requirement in requirements):
            session.error(f"{path.name} requires a path, not a version: {requirements}")
        texts.setdefault(f"{message['Name']} {message['Version']}", []).append(requirements)
    for name, (first, *others) in texts.items():
        if not others or any(other != first for other in others):
            session.error(f"{name}: sdist and wheel differ in what they require, or one is absent")


def _check_sdists(session: nox.Session, dist: Path) -> None:
    """Fail if a wheel that is built from the sdist alone holds other files than the built wheel."""
    with TemporaryDirectory(prefix="contactworks-") as folder:
        sdists = [str(path) for path in sorted(dist.glob("*.tar.gz"))]
        options = ("--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", folder)
        session.run("python", "-m", "pip", "wheel", "--quiet", *options, *sdists, env=QUIET)
        for wheel in sorted(dist.glob("*.whl")):
            with zipfile.ZipFile(wheel) as built, zipfile.ZipFile(Path(folder) / wheel.name) as own:
                differing = set(built.namelist()) ^ set(own.namelist())
            if differing:
                session.error(f"{wheel.name}: sdist and wheel differ in {sorted(differing)}")


def _read_metadata(path: Path) -> str:
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as archive:
            name = next(n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
            return archive.read(name).decode()
    with tarfile.open(path) as archive:
        name = next(n for n in archive.getnames() if n.count("/") == 1 and n.endswith("/PKG-INFO"))
        stream = archive.extractfile(name)
        assert stream is not None
        return stream.read().decode()


def _shared_environment(session: nox.Session) -> str:
    """Return the Python of the one environment that holds all four packages, editable.

    Unit, integration, documentation and coverage runs share it; only ``standalone`` and
    ``artifacts`` have to start from nothing.
    """
    python = _python(CACHE / "all")
    if not python.exists():
        session.run(sys.executable, "-m", "venv", str(CACHE / "all"), external=True)
    inputs = [ROOT / "packages" / package / "pyproject.toml" for package in PACKAGES]
    inputs += [ROOT / "packages" / "crisp" / "hatch_build.py", Path(CONSTRAINTS)]
    _install(session, python, "packages", [*_editable(), *TEST_TOOLS], inputs)
    return str(python)


def _install(
    session: nox.Session, python: Path, group: str, requirements: Sequence[str], inputs: list[Path]
) -> None:
    """Install ``requirements``, unless that was done before with the same ``inputs``."""
    state = hashlib.sha256(repr((str(ROOT), requirements, sys.version)).encode())
    for path in inputs:
        state.update(path.read_bytes())
    stamp = python.parents[1] / f"installed-{group}"
    if stamp.exists() and stamp.read_text() == state.hexdigest():
        return
    session.run(
        *(str(python), "-m", "pip", "install", "--quiet", "-c", CONSTRAINTS, *requirements),
        env={**QUIET, **RELEASE},
        external=True,
    )
    stamp.write_text(state.hexdigest())


def _editable() -> list[str]:
    """Return pip's arguments that install the four packages editable, with their extras."""
    pairs = [("-e", f"./packages/{package}[{EXTRAS[package]}]") for package in PACKAGES]
    return [argument for pair in pairs for argument in pair]


def _test_environment() -> dict[str, str]:
    """Return the variables of a test run; compiled kernels are shared between the sessions."""
    return {**QUIET, "NUMBA_CACHE_DIR": str(CACHE / "numba-cache")}


def _python(environment: Path) -> Path:
    if os.name == "nt":
        return environment / "Scripts" / "python.exe"
    return environment / "bin" / "python"


@contextmanager
def _away(session: nox.Session) -> Iterator[None]:
    """Work in an empty folder outside the checkout."""
    with TemporaryDirectory(prefix="contactworks-") as folder, session.chdir(folder):
        yield
