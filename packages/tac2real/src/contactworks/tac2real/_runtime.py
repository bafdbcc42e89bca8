"""The one place that imports Taichi and initialises it.

Taichi keeps one program per process, and a second ``init`` destroys every field, array and kernel
of the first; using one of them afterwards can end the process without a Python error.  Therefore
nothing here happens at import.  :func:`ensure` initialises Taichi at the first use only, takes over
a program that a host has already started if it fits, and refuses with :class:`RuntimeConflictError`
otherwise.  Objects that hold Taichi arrays keep the :class:`Runtime` that they were made with and
call :meth:`Runtime.check` before each use.

Kernels name the types of their arguments and use integer literals, so they do not depend on the
``default_fp`` of a host program, and it is not compared.

The environment variable ``CONTACTWORKS_TAICHI`` chooses the compiler: ``taichi`` (default) or
``quadrants``, its maintained fork.  It is read once, at the first use.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import logging
import os
import threading
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from contactworks.common.errors import ContactworksError, MissingDependencyError, ModelError

__all__ = ["Arch", "Precision", "Runtime", "RuntimeConflictError", "ensure", "release"]

Arch = Literal["cpu", "cuda", "vulkan", "metal"]
Precision = Literal["f32", "f64"]

BACKEND_VARIABLE = "CONTACTWORKS_TAICHI"
_BACKENDS = {
    "taichi": "pip install taichi",
    "quadrants": "pip install 'contactworks-tac2real[quadrants]'",
}
# Quiet import and no call home: both compilers print a banner, Taichi also asks its server for the
# newest version in a background thread.  What the user has set stays.
_QUIET = {
    "ENABLE_TAICHI_HEADER_PRINT": "0",
    "ENABLE_QUADRANTS_HEADER_PRINT": "0",
    "TI_LOG_LEVEL": "error",
    "QD_LOG_LEVEL": "error",
    "TI_SKIP_VERSION_CHECK": "ON",
}

_LOCK = threading.RLock()
_LOGGER = logging.getLogger(__name__)


class RuntimeConflictError(ContactworksError, RuntimeError):
    """Raised when the running Taichi program does not fit, or was replaced by someone else."""


@dataclass(slots=True)
class _State:
    """What this process knows of Taichi; guarded by ``_LOCK``."""

    module: Any = None
    backend: str = ""
    program: weakref.ref[Any] | None = None
    is_owned: bool = False
    pid: int = 0


_STATE = _State()


@dataclass(frozen=True, slots=True)
class Runtime:
    """A running Taichi program, as one user of it sees it.

    Attributes:
        backend: ``taichi`` or ``quadrants``.
        arch: Where kernels run.
        precision: Type of the arrays that this user makes.
        is_owned: False if a host program had started Taichi before us.
        has_fast_math: True if the host lets the compiler assume that there are no NaN.
    """

    backend: str
    arch: Arch
    precision: Precision
    is_owned: bool
    has_fast_math: bool
    _program: weakref.ref[Any]
    _pid: int

    @property
    def real(self) -> Any:
        """The compiler's floating-point type of this precision."""
        return getattr(_load(), self.precision)

    def check(self) -> None:
        """Refuse to go on with a program that is no longer there.

        Raises:
            RuntimeConflictError: If Taichi was initialised or reset by someone else since, or the
                process is a fork of the one that started it.
        """
        if os.getpid() != self._pid:
            raise RuntimeConflictError(
                f"Taichi was started in process {self._pid} and is used in its fork {os.getpid()}, "
                "where its threads do not exist: start workers with the 'spawn' method"
            )
        program = _running_program(_load())
        if program is None or program is not self._program():
            raise RuntimeConflictError(
                "Taichi was initialised or reset by someone else since this object was made, so "
                "its arrays are gone: make the object again (call ti.init once, before it)"
            )


def __getattr__(name: str) -> Any:
    """Import the compiler when a kernel file asks for ``ti``."""
    if name == "ti":
        return _load()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def ensure(
    arch: Arch = "cpu", precision: Precision = "f64", *, threads: int | None = None
) -> Runtime:
    """Return the running Taichi program, starting one if there is none.

    Args:
        arch: ``cpu``, ``cuda``, ``vulkan`` or ``metal``.
        precision: ``f32`` or ``f64``; must be available on ``arch``.
        threads: CPU threads, at least 1; default: all.  Ignored (and logged) if a program runs.

    Raises:
        ModelError: If an argument is unknown or the machine lacks the arch or the precision.
        RuntimeConflictError: If a program runs on another arch, or the one that we used before
            was replaced.
        MissingDependencyError: If the compiler is not installed.
    """
    if arch not in ("cpu", "cuda", "vulkan", "metal"):
        raise ModelError(f"arch: got {arch!r}, expected cpu, cuda, vulkan or metal")
    if precision not in ("f32", "f64"):
        raise ModelError(f"precision: got {precision!r}, expected f32 or f64")
    if threads is not None and threads < 1:
        raise ModelError(f"threads: got {threads}, expected at least 1")
    with _LOCK:
        ti = _load()
        program = _running_program(ti)
        if _STATE.program is not None:
            _check_unchanged(program)
        _check_support(ti, arch, precision)
        if program is None:
            program = _start(ti, arch, precision, threads)
            _STATE.is_owned = True
        elif threads is not None:
            _LOGGER.info("a Taichi program already runs; threads=%d has no effect", threads)
        config = program.config()
        if config.arch != getattr(ti, arch):
            raise RuntimeConflictError(
                f"Taichi already runs on {_arch_name(config.arch)}, asked for {arch}: one process "
                "has one arch; ask for that one, or start another process"
            )
        if _STATE.program is None:
            _STATE.program = weakref.ref(program)
            _STATE.pid = os.getpid()
        return Runtime(
            _STATE.backend,
            arch,
            precision,
            _STATE.is_owned,
            bool(config.fast_math),
            _STATE.program,
            _STATE.pid,
        )


def release() -> None:
    """Forget the program that :func:`ensure` returned, so that the next call may take a new one.

    Runtimes and objects made before stay bound to the old program and refuse to work if it is
    gone.  Taichi itself is left alone.
    """
    with _LOCK:
        _STATE.program = None
        _STATE.is_owned = False


def _check_unchanged(program: Any) -> None:
    if os.getpid() != _STATE.pid:
        raise RuntimeConflictError(
            f"Taichi was started in process {_STATE.pid} and is used in its fork {os.getpid()}: "
            "start workers with the 'spawn' method"
        )
    assert _STATE.program is not None
    if program is None or program is not _STATE.program():
        raise RuntimeConflictError(
            "Taichi was initialised or reset by someone else after contactworks had used it: call "
            "ti.init once, before; to go on with the new program call _runtime.release() first "
            "and make all objects again"
        )


def _check_support(ti: Any, arch: Arch, precision: Precision) -> None:
    kind = getattr(ti, arch, None)
    with _quiet():
        if kind is None or not ti.lang.misc.is_arch_supported(kind):
            raise ModelError(
                f"arch: {arch} is not available to {_STATE.backend} on this machine, expected "
                "one that is (cpu always is)"
            )
        if precision == "f64" and not ti.lang.misc.is_extension_supported(
            kind, ti.extension.data64
        ):
            raise ModelError(f"precision: {arch} has no f64 here, expected f32")


def _start(ti: Any, arch: Arch, precision: Precision, threads: int | None) -> Any:
    prefix = "QD" if _STATE.backend == "quadrants" else "TI"
    forced = os.environ.get(f"{prefix}_ARCH")
    if forced is not None and ti._lib.core.arch_from_name(forced) != getattr(ti, arch):
        raise RuntimeConflictError(
            f"the environment variable {prefix}_ARCH={forced} overrides the arch {arch} that was "
            "asked for: unset it, or ask for the same"
        )
    options: dict[str, Any] = {} if threads is None else {"cpu_max_num_threads": threads}
    with _quiet(), contextlib.redirect_stdout(io.StringIO()):
        ti.init(
            arch=getattr(ti, arch),
            default_fp=getattr(ti, precision),
            default_ip=ti.i32,
            enable_fallback=False,
            fast_math=False,  # fast math would remove the tests for NaN
            offline_cache=True,
            random_seed=0,
            log_level=ti.ERROR,
            **options,
        )
    return _running_program(ti)


def _load() -> Any:
    if _STATE.module is None:
        with _LOCK, _quiet():
            backend = os.environ.get(BACKEND_VARIABLE, "") or "taichi"
            if backend not in _BACKENDS:
                raise ModelError(
                    f"environment variable {BACKEND_VARIABLE}: got {backend!r}, "
                    f"expected one of {', '.join(_BACKENDS)}"
                )
            try:
                module = importlib.import_module(backend)
            except ModuleNotFoundError as error:
                raise MissingDependencyError(
                    f"{backend} is not installed: {_BACKENDS[backend]}"
                ) from error
            _STATE.backend = backend
            _STATE.module = module
    return _STATE.module


def _running_program(ti: Any) -> Any:
    """Return the program, or None before init; quadrants' own property would raise there."""
    state = vars(ti.lang.impl.get_runtime())
    return state.get("prog", state.get("_prog"))


def _arch_name(arch: Any) -> str:
    name = str(arch).rsplit(".", maxsplit=1)[-1]
    return "cpu" if name in ("x64", "arm64") else name


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Set the variables that silence the compilers, and put the environment back."""
    added = {name: value for name, value in _QUIET.items() if name not in os.environ}
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)
