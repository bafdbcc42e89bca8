"""The command: what it prints and writes, and how it refuses."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from contactworks.tac2real import cli, structured_gel
from contactworks.tac2real.ipc import patch_tests


def refusal(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """Return the one line on stderr of a call that must end with status 2."""
    assert cli.main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("contactworks-tac2real: ")
    assert err.endswith("\n")
    assert err.count("\n") == 1
    return err


def test_gel_shows_the_default_block(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report, picture = tmp_path / "gel.json", tmp_path / "gel.png"
    assert cli.main(["gel", "--json", str(report), "--plot", str(picture)]) == 0
    shown = capsys.readouterr().out
    for text in ("952, 238 of them", "3120", "25.25 x 20.75 x 4 mm", "2095.75 mm³"):
        assert text in shown
    data = json.loads(report.read_text())
    assert data["command"] == "contactworks-tac2real gel"
    assert data["seed"] == 0
    assert data["options"]["cells"] == [16, 13, 3]
    assert "numpy" in data["versions"]
    assert data["metrics"]["nodes"] == 952
    assert data["metrics"]["volume_m3"] == pytest.approx(2.09575e-6)
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_gel_reads_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import meshio

    gel = structured_gel(cells=(2, 2, 1))
    path = tmp_path / "pad.msh"
    meshio.write(path, meshio.Mesh(1e3 * gel.nodes + 7.0, [("tetra", gel.tets)]))
    assert cli.main(["gel", str(path), "--scale", "1e-3"]) == 0
    shown = capsys.readouterr().out
    assert "18, 9 of them" in shown
    assert "2095.75 mm³" in shown
    message = refusal(["gel", str(path), "--scale", "1e-3", "--as-is"], capsys)
    assert "contact face is at z = 0.007 m" in message


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gel", "none.msh"], "none.msh: no such file"),
        (["gel", "--cells", "0", "1", "1"], "cells: got (0, 1, 1), expected"),
        (["gel", "--cells", "1", "2"], "--cells"),
        (["gel", "--cells", "1", "2", "x"], "'x'"),
        (["gel", "--grading", "-1"], "grading: got -1.0, expected"),
        (["gel", "--plot", "picture.abc"], "picture.abc: got suffix '.abc', expected one of"),
        (["gel", "--scale", "2"], "--scale: has no effect without a mesh file"),
        (["gel", "pad.msh", "--grading", "2"], "--grading: has no effect with a mesh file"),
        (["gel", "--colour"], "--colour"),
        (["press"], "press"),
        ([], "patch-test"),
        (["patch-test", "--poisson", "0.5"], "Material.poisson: got 0.5, expected"),
        (["patch-test", "--models", "rubber"], "rubber"),
        (["patch-test", "--stretch", "0", "--backend", "numpy"], "stretch"),
        (["patch-test", "--arch", "tpu"], "tpu"),
    ],
)
def test_wrong_input_gets_status_2_and_one_line(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert message in refusal(arguments, capsys)


def test_file_that_cannot_be_written_gets_status_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    assert cli.main(["gel", "--cells", "1", "1", "1", "--json", str(tmp_path / "file" / "x")]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_patch_test_prints_measured_beside_exact(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = tmp_path / "patch.json"
    arguments = ["patch-test", "--models", "neo-hookean", "stable-neo-hookean"]
    assert cli.main([*arguments, "--json", str(report)]) == 0
    shown = capsys.readouterr().out
    confined = [line for line in shown.splitlines() if "confined" in line and "P_zz" in line]
    assert "-20295.4501" in confined[0]
    assert confined[0].count("-20295.4501") == 2
    assert confined[1].count("-18965.5172") == 2
    assert "FAILED" not in shown
    metrics = json.loads(report.read_text())["metrics"]
    assert metrics["failed"] == 0
    assert metrics["passed"] == len(metrics["rows"]) > 30
    assert all(row["is_passed"] for row in metrics["rows"])


def test_failed_patch_test_gets_status_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(patch_tests._STRESS_LIMIT, "f64", -1.0)
    assert cli.main(["patch-test", "--backend", "numpy", "--models", "arap"]) == 1
    assert "FAILED" in capsys.readouterr().out


def test_help_is_quick_and_goes_to_stdout() -> None:
    code = (
        "import sys, time; t = time.process_time()\n"
        "from contactworks.tac2real.cli import main\n"
        "status = main(sys.argv[1:]); t = time.process_time() - t\n"
        "heavy = {'taichi', 'meshio', 'matplotlib'} & set(sys.modules)\n"
        "print(status, t, sorted(heavy), file=sys.stderr)"
    )
    for arguments in (["--help"], ["gel", "--help"], ["patch-test", "--help"]):
        run = subprocess.run(
            [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True
        )
        status, seconds, heavy = run.stderr.split(maxsplit=2)
        assert run.stdout.startswith("usage: contactworks-tac2real")
        assert (status, heavy.strip()) == ("0", "[]")
        assert float(seconds) < 0.5
