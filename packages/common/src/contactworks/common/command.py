"""What the command lines of the packages share: parsing, refusals, reports, pictures' names.

A command is a frozen dataclass of options and a function that does the work; :func:`run_command`
puts several of them behind one program.  Libraries for the command line are imported when used.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from contactworks.common.errors import ContactworksError, FileFormatError

__all__ = [
    "PICTURE_SUFFIXES",
    "ReportOptions",
    "check_plot_path",
    "result_console",
    "run_command",
    "write_report",
]

PICTURE_SUFFIXES = (".png", ".pdf", ".svg")


class ReportOptions(Protocol):
    """The options of a command that writes a report."""

    @property
    def seed(self) -> int:
        """Seed of all that is random in the command."""

    @property
    def json(self) -> Path | None:
        """The file of the report, or None for no report."""


def run_command(
    program: str,
    description: str,
    commands: Mapping[str, tuple[type[Any], Callable[[Any], int]]],
    arguments: Sequence[str] | None = None,
    *,
    markers: Sequence[Any] = (),
) -> int:
    """Parse a command line, do what it asks for, and return the exit status.

    Whatever is wrong with the input becomes one line on stderr.

    Args:
        program: name of the program, put before every complaint.
        description: what the program is for, shown by ``--help``.
        commands: for the name of each command the dataclass of its options, one of its own, and the
            function that takes them and returns the exit status.  Imports of its own keep
            ``--help`` quick.
        arguments: words of the command line; by default those of the process.
        markers: configuration of the parser, such as ``tyro.conf.OmitArgPrefixes``.

    Returns:
        What the function returned; 0 after ``--help``; 2 for a wrong command line and for a
        ContactworksError or an OSError of the function; 130 after an interrupt, to whose complaint
        the text of the function's own ``KeyboardInterrupt`` is added.
    """
    import tyro

    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            options = tyro.extras.subcommand_cli_from_dict(
                {name: kind for name, (kind, _) in commands.items()},
                prog=program,
                description=description,
                args=arguments,
                config=markers,
            )
    except SystemExit as stop:
        if stop.code:
            _complain(program, _unboxed(said.getvalue()))
        return int(stop.code or 0)
    act = dict(commands.values())[type(options)]
    refusal = _refusal(getattr(options, "scene", options))
    if refusal:
        _complain(program, refusal)
        return 2
    try:
        return act(options)
    except (ContactworksError, OSError) as error:
        _complain(program, str(error))
        return 2
    except KeyboardInterrupt as stop:
        _complain(program, "; ".join(filter(None, ("interrupted", str(stop)))))
        return 130


def write_report(
    command: str,
    options: ReportOptions,
    metrics: Mapping[str, Any],
    *,
    top_level: Mapping[str, Any] | None = None,
) -> None:
    """Write the report of a command where its option ``json`` asks for one.

    Args:
        command: the command as typed, such as ``"contactworks-crisp run cube-toss"``.
        options: its options, a dataclass.
        metrics: the results.
        top_level: results that are repeated beside ``"metrics"``.

    Raises:
        ModelError: a value has no JSON form, or a key of ``top_level`` is one of the report's own.
        OSError: the file cannot be written.
    """
    if options.json is None:
        return
    from contactworks.common.records import json_report, write_json

    report = json_report(command, options, options.seed, metrics, top_level=top_level)
    write_json(options.json, report)


def check_plot_path(path: str | os.PathLike[str] | None) -> None:
    """Refuse a file name whose suffix is no picture format, before the work and not after it.

    Args:
        path: the file of a picture, or None where none is asked for.

    Raises:
        FileFormatError: the suffix is not one of :data:`PICTURE_SUFFIXES`, in any case.
    """
    if path is None:
        return
    suffix = Path(path).suffix
    if suffix.lower() not in PICTURE_SUFFIXES:
        raise FileFormatError(
            f"plot file {os.fspath(path)}: got suffix {suffix!r}, expected one of "
            f"{', '.join(PICTURE_SUFFIXES)}"
        )


def result_console(width: int = 120) -> Any:
    """Return a ``rich.console.Console`` on stdout.

    Args:
        width: columns where stdout is no terminal, so that a table is not folded in a file.
    """
    from rich.console import Console

    console = Console()
    return console if console.is_terminal else Console(width=width)


def _refusal(options: Any) -> str | None:
    """Return what is wrong with the options that all commands share, before any work is done."""
    seed = getattr(options, "seed", 0)
    if seed < 0:
        return f"--seed: got {seed}, expected 0 or more"
    for name in ("json", "plot"):
        path = getattr(options, name, None)
        if path is not None and (path.is_dir() or not path.name):
            return f"--{name} {path}: got a folder, expected the name of a file"
    return None


def _complain(program: str, text: str) -> None:
    sys.stderr.write(f"{program}: {' '.join(text.split())}\n")


def _unboxed(text: str) -> str:
    """Return the parser's framed message as one line, without its frame and its advice."""
    lines = [line.strip("│╭╮╰╯ ") for line in text.splitlines()]
    kept: list[str] = []
    for line in lines[1:]:
        if kept and set(line) <= {"─"}:
            break
        kept.append(line)
    return " ".join(" ".join(kept).split()) or " ".join(text.split())
