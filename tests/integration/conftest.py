"""Where the recorded data of others lie: beside the repository, never in it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
VARIABLE = "CONTACTWORKS_DATA"


def data_folder() -> Path:
    """Return the folder of recorded data: the one that is named, else the usual neighbour."""
    named = os.environ.get(VARIABLE)
    return Path(named).expanduser() if named else ROOT.parent / "shared" / "data"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say at the end of a run whether the tests on recorded data took place."""
    folder = data_folder()
    if folder.is_dir():
        terminalreporter.write_line(f"recorded data: read from {folder}")
    else:
        terminalreporter.write_line(
            f"recorded data: ABSENT, the tests that need them were skipped; looked in {folder}, "
            f"another folder can be named with {VARIABLE}"
        )


@pytest.fixture(scope="session")
def recorded_data() -> Path:
    """Return the folder of recorded data, or skip the test and say what to do."""
    folder = data_folder()
    if not folder.is_dir():
        if VARIABLE in os.environ:
            pytest.fail(f"{VARIABLE} names {folder}, which is no folder")
        # Others' data: its licence lets anyone fetch it, but it is not ours to ship.
        pytest.skip(f"no recorded data in {folder}; name its folder with {VARIABLE}")
    return folder


@pytest.fixture(scope="session")
def cube_tosses(recorded_data: Path) -> Path:
    """Return the folder of the motion-tracked cube tosses, or skip the test."""
    folder = recorded_data / "contactnets_cube_tosses"
    if not (folder / "tosses.npz").is_file():
        pytest.skip(f"no tosses.npz in {folder}")  # the data folder may hold other sets alone
    return folder
