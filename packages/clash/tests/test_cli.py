from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from contactworks import clash
from contactworks.clash.cli import main


def test_collect_writes_what_it_was_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, report, plot = (tmp_path / name for name in ("a.h5", "a.json", "a.png"))
    arguments = ["--count", "40", "--seed", "5", "--workers", "1"]
    files = ["--out", str(out), "--json", str(report), "--plot", str(plot)]
    assert main(["collect", *arguments, *files]) == 0
    expected = clash.collect(clash.StrikeScene("semicylinder"), 40, seed=5)
    data = clash.CollisionDataset.load(out)
    assert np.array_equal(data.post, expected.post)
    figures = json.loads(report.read_text())
    assert set(figures) == {"command", "options", "seed", "versions", "metrics"}
    assert figures["command"] == "contactworks-clash collect"
    assert figures["seed"] == 5
    assert figures["metrics"]["status"] == expected.counts()
    mean = expected.post[expected.is_separated].mean(axis=0)
    assert list(figures["metrics"]["post_mean"].values()) == pytest.approx(mean)
    assert plot.read_bytes().startswith(b"\x89PNG")
    assert sorted(item.name for item in tmp_path.iterdir()) == ["a.h5", "a.json", "a.png"]
    assert "separated" in capsys.readouterr().out


def test_an_interrupted_command_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from contactworks.clash import _strikes, collection

    monkeypatch.setattr(collection, "_CHUNK", 16)
    calls = []
    original = _strikes.StrikeBatch.run

    def run(self: object, pre: np.ndarray, parameters: np.ndarray) -> object:
        calls.append(len(pre))
        if len(calls) == 3:
            raise KeyboardInterrupt
        return original(self, pre, parameters)  # type: ignore[arg-type]

    monkeypatch.setattr(_strikes.StrikeBatch, "run", run)
    command = ["collect", "--count", "40", "--out", str(tmp_path / "a.h5")]
    assert main(command) == 130
    assert "a.partial.h5" in capsys.readouterr().err
    assert [item.name for item in tmp_path.iterdir()] == ["a.partial.h5"]
    assert main(command) == 0
    assert calls == [16, 16, 8, 8]
    assert [item.name for item in tmp_path.iterdir()] == ["a.h5"]
    expected = clash.collect(clash.StrikeScene("semicylinder"), 40, seed=0)
    assert np.array_equal(clash.CollisionDataset.load(tmp_path / "a.h5").post, expected.post)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["collect", "--count", "many"], "--count"),
        (["collect", "--count", "0"], "count"),
        (["collect", "--seed", "-3"], "seed"),
        (["collect", "--workers", "0"], "workers"),
        (["collect", "--shape", "square"], "semicylinder"),
        (["collect", "--out", "a.csv"], "a.csv"),
        (["collect", "--plot", "a.doc"], "a.doc"),
        (["collect", "--colour", "red"], "--colour"),
        (["colect"], "colect"),
        ([], "collect"),
    ],
)
def test_wrong_input_is_one_clear_line(
    arguments: list[str], text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    lines = [line for line in capsys.readouterr().err.splitlines() if line.strip()]
    assert len(lines) == 1
    assert lines[0].startswith("contactworks-clash: ")
    assert text in lines[0]


def test_an_unfit_checkpoint_is_one_clear_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.partial.h5").write_text("damaged")
    assert main(["collect", "--count", "2", "--out", str(tmp_path / "a.h5")]) == 2
    assert "a.partial.h5" in capsys.readouterr().err
    assert not (tmp_path / "a.h5").exists()


def test_help_is_quick_and_loads_nothing_heavy() -> None:
    code = (
        "import sys\nfrom contactworks.clash.cli import main\n"
        "status = main(['collect', '--help'])\n"
        "heavy = [m for m in ('torch', 'mujoco', 'h5py', 'matplotlib') if m in sys.modules]\n"
        "sys.exit(status or bool(heavy))"
    )
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert run.returncode == 0, run.stderr
    assert "--count" in run.stdout
    # CPU seconds, about three times what it takes here.
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 1.5
