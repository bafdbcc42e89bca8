"""The house decorator of compiled kernels.

Plain ``numba.njit(cache=True)`` keys its cache on the one file a kernel stands in, so a kernel that
calls into another file keeps the old machine code when that other file changes.  Here the cache
folder carries a digest of all kernel sources, so that any change anywhere means a fresh compile.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba
import platformdirs

__all__ = ["cache_folder", "kernel"]

F = TypeVar("F", bound=Callable[..., Any])

_LOCK = threading.RLock()
_KEEP_SECONDS = 30 * 24 * 3600.0


def kernel(function: F | None = None, **options: Any) -> Any:
    """Compile ``function`` with Numba under the defaults of the house.

    The defaults are ``nogil``, NumPy's error model (a division by zero gives inf or NaN, never an
    exception) and a cache that is keyed by the sources of all kernels.

    Args:
        function: the kernel, when the decorator is used without parentheses.
        **options: passed to ``numba.njit``; they override the defaults.
    """
    settings = {"nogil": True, "error_model": "numpy", "cache": True, **options}

    def wrap(target: F) -> F:
        if numba.config.DISABLE_JIT:
            return target
        with _LOCK:
            previous = numba.config.CACHE_DIR
            # Numba reads the setting when it builds the cache of a dispatcher, which is here.
            numba.config.CACHE_DIR = str(cache_folder(target.__module__))
            try:
                return numba.njit(**settings)(target)  # type: ignore[no-any-return]
            finally:
                numba.config.CACHE_DIR = previous

    return wrap if function is None else wrap(function)


def cache_folder(module: str) -> Path:
    """Return the folder that holds the compiled kernels of ``module``'s package."""
    package = ".".join(module.split(".")[:2])
    base = numba.config.CACHE_DIR or os.environ.get("NUMBA_CACHE_DIR")
    parent = Path(base) if base else Path(platformdirs.user_cache_dir("contactworks")) / "numba"
    _prune(parent)
    folder = parent / _digest(package)
    _touch(folder)
    return folder


@cache
def _touch(folder: Path) -> None:
    """Mark a folder as used today, so that it is not pruned."""
    with contextlib.suppress(OSError):  # not compiled yet, or a cache that is only read
        os.utime(folder)


@cache
def _digest(package: str) -> str:
    """Return a digest of Numba's version and of every kernel source that ``package`` can call."""
    state = hashlib.sha256(f"{numba.__version__} {sys.version_info[:2]}".encode())
    folders = {_kernel_folder("contactworks.common"), _kernel_folder(package)}
    for folder in sorted(folder for folder in folders if folder is not None):
        for path in sorted(folder.rglob("*.py")):
            state.update(path.name.encode())
            state.update(path.read_bytes())
    state.update(Path(__file__).read_bytes())
    return f"{package.rpartition('.')[2]}-{state.hexdigest()[:16]}"


def _kernel_folder(package: str) -> Path | None:
    module = sys.modules.get(package)
    if module is None or not getattr(module, "__file__", None):
        return None
    folder = Path(str(module.__file__)).parent / "_kernels"
    return folder if folder.is_dir() else None


@cache
def _prune(parent: Path) -> None:
    """Remove our cache folders that nobody has used for a month."""
    limit = time.time() - _KEEP_SECONDS
    for folder in parent.glob("*-" + "[0-9a-f]" * 16):
        try:
            if folder.stat().st_mtime < limit:
                shutil.rmtree(folder, ignore_errors=True)
        except OSError:
            continue
