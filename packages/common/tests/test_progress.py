from __future__ import annotations

import io
import logging
import sys

import pytest

from contactworks.common.errors import MissingDependencyError
from contactworks.common.progress import (
    LogProgress,
    NullProgress,
    Progress,
    RichProgress,
    rich_progress,
)


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def logger(caplog: pytest.LogCaptureFixture) -> logging.Logger:
    caplog.set_level(logging.INFO, logger="work")
    return logging.getLogger("work")


def test_all_forms_satisfy_the_protocol() -> None:
    for form in (NullProgress(), LogProgress(), rich_progress()):
        assert isinstance(form, Progress)


def test_null_progress_takes_everything() -> None:
    with NullProgress() as progress:
        progress.advance()
        progress.start(None, "work")
        progress.advance(3, "note")
    progress.finish()


def test_log_lines_come_at_the_interval(
    logger: logging.Logger, caplog: pytest.LogCaptureFixture
) -> None:
    clock = Clock()
    with LogProgress(logger, interval=10.0, clock=clock) as progress:
        progress.start(8, "search")
        for _ in range(4):
            clock.now += 4.0
            progress.advance(2, note=f"best {clock.now:.0f}")
    assert caplog.messages == [
        "search: 6/8 after 12.0 s, about 4 s left (best 112)",
        "search: 8/8 done in 16.0 s (best 116)",
    ]


def test_log_without_total_and_with_an_error(
    logger: logging.Logger, caplog: pytest.LogCaptureFixture
) -> None:
    clock = Clock()
    progress = LogProgress(logger, interval=0.0, clock=clock)

    def fail() -> None:
        with progress:
            progress.start(None, "search")
            progress.advance()
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        fail()
    progress.finish()
    progress.advance()
    assert caplog.messages == ["search: 1 after 0.0 s", "search: 1 done in 0.0 s"]


def test_rich_bar_shows_count_and_note() -> None:
    from rich.console import Console

    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, width=100)
    with rich_progress(console) as progress:
        progress.start(4, "search")
        progress.advance(3, "best 0.25")
    text = stream.getvalue()
    assert "search" in text
    assert "3/4" in text
    assert "best 0.25" in text
    assert isinstance(progress, RichProgress)


def test_absent_rich_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rich.console", None)
    with pytest.raises(MissingDependencyError, match="pip install rich"):
        rich_progress()
