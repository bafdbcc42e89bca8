from __future__ import annotations

from importlib import metadata

import numpy as np
import pytest

from contactworks.common import engine as engine_module
from contactworks.common.engine import ContactState, Engine, installed, load
from contactworks.common.engine_conformance import CHECKS
from contactworks.common.errors import MissingDependencyError, ModelError, ShapeError

GROUP = engine_module.ENTRY_POINT_GROUP


def announce(monkeypatch: pytest.MonkeyPatch, *points: metadata.EntryPoint) -> None:
    monkeypatch.setattr(engine_module, "_entry_points", lambda: list(points))


def test_mujoco_is_announced_and_satisfies_the_protocol() -> None:
    pytest.importorskip("mujoco")
    assert "mujoco" in installed()
    engine = load("mujoco")("<mujoco><worldbody/></mujoco>")
    assert isinstance(engine, Engine)
    assert engine.name == "mujoco"


def test_an_unknown_engine_lists_what_is_there_and_how_to_get_ours() -> None:
    with pytest.raises(MissingDependencyError) as caught:
        load("bullet")
    text = str(caught.value)
    assert "'bullet'" in text
    assert all(name in text for name in installed())
    assert "contactworks-crisp" in text


def test_an_absent_engine_of_ours_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    announce(monkeypatch)
    with pytest.raises(MissingDependencyError, match=r"none.*pip install contactworks-crisp"):
        load("crisp")


def test_an_engine_without_its_package_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    announce(monkeypatch, metadata.EntryPoint("mujoco", "no_such_module_here:Engine", GROUP))
    with pytest.raises(MissingDependencyError, match=r"no_such_module_here.*\[mujoco\]") as caught:
        load("mujoco")
    assert isinstance(caught.value, ImportError)


def test_an_engine_of_another_package_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    announce(monkeypatch, metadata.EntryPoint("mine", "collections:OrderedDict", GROUP))
    assert load("mine")([("a", 1)]) == {"a": 1}  # type: ignore[comparison-overlap]
    assert installed() == ("mine",)


def test_contact_state_is_read_only_and_checked() -> None:
    state = ContactState(-1e-3, np.array([0.0, 1.0, 2.0]), np.array([0.0, 0.0, 1.0]))
    with pytest.raises(ValueError, match="read-only"):
        state.point[0] = 1.0
    with pytest.raises(ModelError, match="gap"):
        ContactState(float("nan"), np.zeros(3), np.zeros(3))
    with pytest.raises(ShapeError, match="normal"):
        ContactState(0.0, np.zeros(3), np.zeros(2))


def test_every_check_is_listed() -> None:
    from contactworks.common import engine_conformance

    public = {
        value
        for name, value in vars(engine_conformance).items()
        if callable(value)
        and getattr(value, "__module__", "") == engine_conformance.__name__
        and not name.startswith("_")
    }
    assert public == set(CHECKS)
