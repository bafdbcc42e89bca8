"""What the READMEs tell a user to type is what the sessions and CI run."""

from __future__ import annotations

import importlib.util
import re
import shlex
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("common", "crisp", "clash", "tac2real")
READMES = [ROOT / "README.md", *(ROOT / "packages" / package / "README.md" for package in PACKAGES)]
GUIDES = [
    *READMES,
    ROOT / "CONTRIBUTING.md",
    ROOT / "docs" / "install.md",
    ROOT / "docs" / "tutorials" / "predict-cube-tosses.md",
]

# Commands of every shell session that need no proof.
PLAIN = re.compile(r"(git clone|cd|python3? -m venv|\.|source|pip install (nox|hatch|-c))( |$).*")


def blocks(path: Path, *languages: str) -> list[str]:
    """Return the fenced code blocks of ``path`` in one of ``languages``."""
    text = path.read_text(encoding="utf-8")
    found = re.findall(r"^```(\w+)[^\n]*\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    return [body for language, body in found if language in languages]


def commands(path: Path) -> list[str]:
    """Return the single commands of the shell blocks of ``path``, comments removed."""
    lines = [line for block in blocks(path, "bash", "sh", "console") for line in block.splitlines()]
    parts = [part for line in lines for part in re.split(r"&&|;|\|", line.split("  #")[0])]
    return [part.strip() for part in parts if part.strip() and not part.strip().startswith("#")]


@pytest.fixture(scope="module")
def noxfile() -> ModuleType:
    pytest.importorskip("nox", reason="nox installs itself into the test environment")
    return load(ROOT / "noxfile.py")


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def sessions() -> set[str]:
    """Return the names of all nox sessions, with their parameters."""
    code = "import sys; from nox.__main__ import main; sys.argv = ['nox', '--list']; main()"
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return set(re.findall(r"^[*-] (\S+)", run.stdout, flags=re.MULTILINE))


def test_readme_holds_the_two_commands_of_a_first_time_user() -> None:
    found = commands(ROOT / "README.md")
    assert "pip install nox" in found
    assert "nox" in found
    assert "nox -s demo" in found or "contactworks-crisp run cube-toss" in found


def test_ci_runs_the_readme_commands() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert re.search(r"^nox( \|\|.*)?$", script, flags=re.MULTILINE), "CI must run plain nox"
    assert re.search(r"^nox -s .*\bdemo\b", script, flags=re.MULTILINE), "CI must run the demo"
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o111


def test_default_sessions_are_the_tests(noxfile: ModuleType) -> None:
    assert list(noxfile.nox.options.sessions) == ["unit", "integration"]


@pytest.mark.parametrize("guide", GUIDES, ids=lambda path: str(path.relative_to(ROOT)))
def test_commands_are_real(guide: Path, noxfile: ModuleType, sessions: set[str]) -> None:
    checker = load(ROOT / "ci" / "check_installed.py")
    jobs = {f"contactworks-{name}": words for name, words in checker.JOBS.items()}
    names = sessions | {name.split("(")[0] for name in sessions}
    unknown = []
    for command in commands(guide):
        words = shlex.split(command)
        if words[0] == "nox":
            known = words[1:2] in ([], ["-s"]) and set(words[2:]) <= names
        elif words[:2] == ["pip", "install"] and words[2].startswith("./packages/"):
            paths = [word.split("[")[0] for word in words[2:] if not word.startswith("-")]
            known = all((ROOT / path / "pyproject.toml").is_file() for path in paths)
        elif words[0] in jobs:
            verbs = subcommand(words[1:])
            known = verbs in (subcommand(list(noxfile.DEMO[1:])), subcommand(jobs[words[0]]))
        else:
            known = bool(PLAIN.fullmatch(command))
        if not known:
            unknown.append(command)
    assert not unknown, f"{guide.name} shows commands that nothing tries: {unknown}"


def subcommand(words: list[str]) -> list[str]:
    """Return the words before the first option."""
    options = (index for index, word in enumerate(words) if word.startswith("-"))
    return words[: next(options, len(words))]


@pytest.mark.parametrize("readme", READMES, ids=lambda path: path.parent.name)
def test_readme_examples_run(readme: Path, tmp_path: Path) -> None:
    """Each Python block runs on its own, in a folder of its own."""
    for block in blocks(readme, "python"):
        run = subprocess.run(
            [sys.executable, "-c", block], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert run.returncode == 0, f"{block}\n{run.stderr[-2000:]}"


def test_readme_links_lead_somewhere() -> None:
    for readme in READMES:
        text = readme.read_text(encoding="utf-8")
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", text):
            if not re.match(r"[a-z]+:", target):
                assert (readme.parent / target).exists(), f"{readme}: {target}"
