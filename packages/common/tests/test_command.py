"""The command lines' shared part, on two commands made up here."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import tyro

from contactworks.common.command import (
    PICTURE_SUFFIXES,
    check_plot_path,
    result_console,
    run_command,
    write_report,
)
from contactworks.common.errors import CalibrationError, FileFormatError, ModelError


@dataclass(frozen=True, slots=True)
class Drop:
    """Drop a ball."""

    height: float = 1.0
    """Height [m]."""
    seed: int = 0
    """Seed."""
    json: Path | None = None
    """Report."""


@dataclass(frozen=True, slots=True)
class Roll:
    """Roll a ball."""

    turns: int = 1
    """Whole turns."""


@dataclass(frozen=True, slots=True)
class Group:
    """Two more commands."""

    choice: Drop | Roll


def run(arguments: list[str], act: Callable[[object], int] = lambda options: 0) -> int:
    commands = {"drop": (Drop, act), "roll-far": (Roll, act), "more": (Group, act)}
    return run_command("balls", "Balls.", commands, arguments)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["drop", "--height", "2.5"], Drop(height=2.5)),
        (["roll-far"], Roll()),
        (["more", "choice:roll", "--choice.turns", "3"], Group(Roll(3))),
    ],
)
def test_each_command_gets_its_own_options(arguments: list[str], expected: object) -> None:
    seen: list[object] = []

    def act(options: object) -> int:
        seen.append(options)
        return 7

    assert run(arguments, act) == 7
    assert seen == [expected]


def test_markers_reach_the_parser() -> None:
    seen: list[object] = []
    markers = (tyro.conf.OmitArgPrefixes, tyro.conf.OmitSubcommandPrefixes)
    commands = {"more": (Group, lambda options: seen.append(options) or 0)}
    arguments = ["more", "roll", "--turns", "3"]
    assert run_command("balls", "Balls.", commands, arguments, markers=markers) == 0
    assert seen == [Group(Roll(3))]


def test_words_of_the_process_are_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["anything", "roll", "--turns", "4"])
    seen: list[object] = []
    commands = {"roll": (Roll, lambda options: seen.append(options) or 0)}
    assert run_command("balls", "Balls.", commands) == 0
    assert seen == [Roll(4)]


def test_help_goes_to_stdout_with_status_0(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["drop", "--help"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("usage: balls drop")
    assert "Height [m]." in out
    assert err == ""


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ([], "drop, roll-far, more"),
        (["fly"], "fly"),
        (["drop", "--height", "tall"], "--height"),
        (["drop", "--colour", "red"], "--colour"),
        (["drop", "--height"], "--height"),
    ],
)
def test_a_wrong_command_line_is_one_line_with_status_2(
    arguments: list[str], text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("balls: ")
    assert err.count("\n") == 1
    assert text in err
    assert not set("╭╮╰╯│─") & set(err)


@pytest.mark.parametrize(
    "error",
    [
        ModelError("height: got -1,\n  expected more"),
        CalibrationError("height: got -1, expected more"),
        FileNotFoundError("height: got -1, expected more"),
    ],
)
def test_an_error_of_the_user_is_one_line_with_status_2(
    error: Exception, capsys: pytest.CaptureFixture[str]
) -> None:
    def act(options: object) -> int:
        raise error

    assert run(["drop"], act) == 2
    assert capsys.readouterr().err == "balls: height: got -1, expected more\n"


def test_an_error_of_ours_is_not_hidden() -> None:
    def act(options: object) -> int:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run(["drop"], act)


@pytest.mark.parametrize(
    ("stop", "line"),
    [
        (KeyboardInterrupt(), "balls: interrupted\n"),
        (KeyboardInterrupt("half is kept"), "balls: interrupted; half is kept\n"),
    ],
)
def test_an_interrupt_is_one_line_with_status_130(
    stop: KeyboardInterrupt, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def act(options: object) -> int:
        raise stop

    assert run(["drop"], act) == 130
    assert capsys.readouterr().err == line


def test_a_report_is_written_where_one_is_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    options = Drop(height=2.0, seed=4, json=file)
    write_report("balls drop", options, {"speed": np.float64(6.25)}, top_level={"speed": 6.25})
    report = json.loads(file.read_text())
    assert set(report) == {"command", "options", "seed", "versions", "metrics", "speed"}
    assert report["command"] == "balls drop"
    assert report["options"] == {"height": 2.0, "seed": 4, "json": str(file)}
    assert report["seed"] == 4
    assert report["metrics"] == {"speed": 6.25}
    write_report("balls drop", Drop(), {})
    assert [item.name for item in tmp_path.iterdir()] == ["report.json"]


@pytest.mark.parametrize("name", ["a.doc", "a", "png", "a.png.txt"])
def test_other_picture_formats_are_refused(name: str) -> None:
    with pytest.raises(FileFormatError, match=rf"{name}: got suffix .*expected one of \.png"):
        check_plot_path(name)


def test_picture_formats_are_taken_in_any_case() -> None:
    check_plot_path(None)
    for suffix in PICTURE_SUFFIXES:
        check_plot_path(f"folder/a{suffix}")
        check_plot_path(Path(f"a{suffix.upper()}"))


def test_a_table_in_a_file_is_not_folded(capsys: pytest.CaptureFixture[str]) -> None:
    result_console(200).print("word " * 39)
    assert capsys.readouterr().out.count("\n") == 1


def test_importing_loads_nothing_for_the_command_line() -> None:
    code = (
        "import sys, contactworks.common.command\n"
        "print([m for m in ('tyro', 'rich', 'matplotlib', 'h5py') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("words", "complaint"),
    [(["--seed", "-1"], "--seed: got -1"), (["--json", "."], "--json .: got")],
)
def test_shared_options_are_checked_before_the_work(words, complaint, capsys):
    @dataclass(frozen=True)
    class Options:
        seed: int = 0
        json: Path | None = None

    @dataclass(frozen=True)
    class Other:
        pass

    def work(options):
        raise AssertionError("the work was begun")

    commands = {"one": (Options, work), "two": (Other, work)}
    assert run_command("program", "text", commands, ["one", *words]) == 2
    said = capsys.readouterr().err
    assert complaint in said
    assert said.count("\n") == 1
