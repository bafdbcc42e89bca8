"""What stands in the repository's files: no machine's paths, nothing large, no private data."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LIMIT_BYTES = 3_000_000

# A folder that exists on one machine only.  "/usr" and "/etc" are the same everywhere.
MACHINE_PATH = re.compile(r"(?<![\w.:/-])/(?:home|root|Users|work|opt|mnt|tmp|srv|media)/\w")
WINDOWS_PATH = re.compile(r"\b[A-Z]:\\(?:Users|home)\\")


@pytest.fixture(scope="module")
def files() -> list[Path]:
    """Return every file that is, or would be, under version control."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout, so there is no list of files to judge")
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    output = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout.decode()
    return [ROOT / name for name in output.split("\0") if name and (ROOT / name).is_file()]


def test_no_file_names_a_folder_of_one_machine(files: list[Path]) -> None:
    found = []
    for path in files:
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        for number, line in enumerate(text.splitlines(), 1):
            if MACHINE_PATH.search(line) or WINDOWS_PATH.search(line):
                found.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()[:100]}")
    assert not found, "\n".join(found)


def test_the_pattern_finds_what_it_should() -> None:
    assert MACHINE_PATH.search("see " + "/" + "home/someone/file")
    assert not MACHINE_PATH.search("https://example.org/home/page")


def test_no_file_is_large(files: list[Path]) -> None:
    large = [f"{path.relative_to(ROOT)}" for path in files if path.stat().st_size > LIMIT_BYTES]
    assert not large


def test_no_pickles_logs_or_compiled_files(files: list[Path]) -> None:
    unwanted = {".pkl", ".pickle", ".pt", ".pth", ".pyc", ".so", ".nbi", ".nbc", ".log"}
    found = [path for path in files if path.suffix in unwanted or path.name == "MUJOCO_LOG.TXT"]
    assert not [str(path.relative_to(ROOT)) for path in found]
