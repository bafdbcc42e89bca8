"""The examples in the docstrings run and print what they say."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

PACKAGES = ("common", "crisp", "clash", "tac2real")
OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def modules() -> list[str]:
    """Return every module except the kernels, whose examples live with their callers."""
    names: list[str] = []
    for package in PACKAGES:
        root = importlib.import_module(f"contactworks.{package}")
        names.append(root.__name__)
        walk = pkgutil.walk_packages(root.__path__, prefix=f"{root.__name__}.")
        names += [module.name for module in walk if "._kernels" not in module.name]
    return names


@pytest.mark.parametrize("name", modules())
def test_docstring_examples(name: str) -> None:
    module = importlib.import_module(name)
    result = doctest.testmod(module, optionflags=OPTIONS)
    assert result.failed == 0, f"{result.failed} of {result.attempted} examples fail, see above"
