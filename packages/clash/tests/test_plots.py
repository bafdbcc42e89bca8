from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from contactworks.clash.dataset import CollisionDataset
from contactworks.clash.plots import plot_collisions
from contactworks.common.errors import FileFormatError


def dataset(status: list[int]) -> CollisionDataset:
    rng = np.random.default_rng(0)
    count = len(status)
    return CollisionDataset(
        rng.random((count, 5)) + 0.1, rng.random((count, 4)), rng.random((count, 7)), status, 0.05
    )


@pytest.mark.parametrize("status", [[0, 0, 1, 2, 0], [2, 1], [0]])
@pytest.mark.parametrize("suffix", [".png", ".svg"])
def test_any_mix_of_outcomes_is_drawn(tmp_path: Path, status: list[int], suffix: str) -> None:
    path = tmp_path / f"strikes{suffix}"
    plot_collisions(dataset(status), path)
    assert path.stat().st_size > 5000


def test_other_formats_are_refused_before_any_work() -> None:
    with pytest.raises(FileFormatError, match=r"strikes"):
        plot_collisions(dataset([0]), "strikes")
