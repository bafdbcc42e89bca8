from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _log_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # MuJoCo writes its warnings into the current folder
