from __future__ import annotations

import pytest

from contactworks.common.engine_conformance import CHECKS, Check

mujoco = pytest.importorskip("mujoco")

from contactworks.common.engines.mujoco import MujocoEngine  # noqa: E402


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_conformance(check: Check) -> None:
    check(MujocoEngine)
