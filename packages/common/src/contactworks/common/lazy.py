"""Loading the public names of a package at first use, so that importing it costs little."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["lazy_names"]


def lazy_names(
    package: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` for a package's ``__init__``.

    Args:
        package: the package, its ``__name__``.
        homes: for each public name the module that defines it: relative to the package, such as
            ``"poses"``, or absolute where it contains the top package. A name that is a module of
            the package itself has the home ``""``.

    Example:
        In an ``__init__.py``::

            __getattr__, __dir__ = lazy_names(__name__, {"Pose": "poses", "engine": ""})
    """

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = homes[name]
        if not home:
            return importlib.import_module(f"{package}.{name}")
        top = package.partition(".")[0]
        module = home if home.startswith(f"{top}.") else f"{package}.{home}"
        value = getattr(importlib.import_module(module), name)
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *homes})

    return load, names
