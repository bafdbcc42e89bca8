"""Progress of long work: one small interface, with a silent, a logging and a console form.

Library code takes ``progress: Progress | None`` and never decides how it looks.  A command creates
the bar with :func:`rich_progress`; a script that wants lines in a log uses :class:`LogProgress`.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, Protocol, Self, runtime_checkable

from contactworks.common.errors import MissingDependencyError

__all__ = ["LogProgress", "NullProgress", "Progress", "RichProgress", "rich_progress"]


@runtime_checkable
class Progress(Protocol):
    """What long work reports to.

    The work calls :meth:`start` once, :meth:`advance` after each piece and :meth:`finish` at the
    end; as a context manager the object finishes itself, also after an error.
    """

    def start(self, total: int | None, description: str) -> None:
        """Begin work of ``total`` pieces (None: not known)."""

    def advance(self, count: int = 1, note: str = "") -> None:
        """Report ``count`` more finished pieces; ``note`` is a short text such as the best loss."""

    def finish(self) -> None:
        """End the work; a second call does nothing."""

    def __enter__(self) -> Self:
        """Return the object itself."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Finish."""


class NullProgress:
    """Progress that nobody sees; the default everywhere."""

    def start(self, total: int | None, description: str) -> None:
        """Do nothing."""

    def advance(self, count: int = 1, note: str = "") -> None:
        """Do nothing."""

    def finish(self) -> None:
        """Do nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.finish()


class LogProgress(NullProgress):
    """Progress as lines of a log, at most one in ``interval`` seconds, and one at the end.

    Args:
        logger: where the lines go; by default the logger of this module.
        interval: smallest time between two lines [s]; zero logs every call.
        level: level of the lines.
        clock: gives the time [s]; for tests.
    """

    def __init__(
        self,
        logger: logging.Logger | None = None,
        *,
        interval: float = 5.0,
        level: int = logging.INFO,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._logger = logging.getLogger(__name__) if logger is None else logger
        self._interval = interval
        self._level = level
        self._clock = clock
        self._is_running = False

    def start(self, total: int | None, description: str) -> None:
        """Begin work of ``total`` pieces (None: not known)."""
        self._total, self._description = total, description
        self._done, self._note = 0, ""
        self._started = self._last = self._clock()
        self._is_running = True

    def advance(self, count: int = 1, note: str = "") -> None:
        """Count the pieces, and log when the last line is old enough."""
        if not self._is_running:
            return
        self._done += count
        self._note = note or self._note
        now = self._clock()
        if now - self._last >= self._interval:
            self._last = now
            self._log(self._state(now))

    def finish(self) -> None:
        """Log the final count and the time that the work took."""
        if not self._is_running:
            return
        self._is_running = False
        elapsed = self._clock() - self._started
        self._log(f"{self._count()} done in {elapsed:.1f} s{self._tail()}")

    def _state(self, now: float) -> str:
        elapsed = now - self._started
        text = f"{self._count()} after {elapsed:.1f} s"
        if self._total and 0 < self._done < self._total:
            text += f", about {elapsed * (self._total - self._done) / self._done:.0f} s left"
        return text + self._tail()

    def _count(self) -> str:
        return f"{self._done}" if self._total is None else f"{self._done}/{self._total}"

    def _tail(self) -> str:
        return f" ({self._note})" if self._note else ""

    def _log(self, text: str) -> None:
        self._logger.log(self._level, "%s: %s", self._description, text)


class RichProgress(NullProgress):
    """Progress as a bar on the console; made by :func:`rich_progress`.

    Args:
        bar: a ``rich.progress.Progress`` that has a ``note`` field in its columns.
    """

    def __init__(self, bar: Any) -> None:
        self._bar = bar
        self._task: Any = None

    def start(self, total: int | None, description: str) -> None:
        """Begin work of ``total`` pieces (None: not known)."""
        self._bar.start()
        self._task = self._bar.add_task(description, total=total, note="")

    def advance(self, count: int = 1, note: str = "") -> None:
        """Move the bar on."""
        if self._task is None:
            return
        fields = {"note": note} if note else {}
        self._bar.update(self._task, advance=count, **fields)

    def finish(self) -> None:
        """Stop the bar and leave its last state on the console."""
        self._bar.stop()
        self._task = None


def rich_progress(console: Any = None) -> RichProgress:
    """Return a bar on the console (stderr), for commands only.

    Args:
        console: a ``rich.console.Console``; by default one on stderr, so that stdout stays free for
            results.

    Raises:
        MissingDependencyError: ``rich`` is not installed.
    """
    try:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeRemainingColumn,
        )
    except ImportError as error:
        raise MissingDependencyError(
            "a progress bar needs the package 'rich': pip install rich"
        ) from error
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
        console=Console(stderr=True) if console is None else console,
    )
    return RichProgress(bar)
