"""Taichi's life in a process: started once, taken over, refused; each in a process of its own."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from contactworks.common.errors import ContactworksError, ModelError
from contactworks.tac2real import RuntimeConflictError, _runtime

HEAD = """
import sys
import numpy as np
from contactworks import tac2real
from contactworks.tac2real import _runtime
from contactworks.common.errors import ContactworksError

gel = tac2real.structured_gel(cells=(2, 2, 1))
material = tac2real.Material()
x = gel.nodes[None] + 1e-4 * np.random.default_rng(0).standard_normal((1, *gel.nodes.shape))
reference = tac2real.ElasticBody(gel, material)

def batch(**options):
    return tac2real.ElasticBatch(gel, material, **options)

def agrees(body, limit=1e-12):
    gap = np.abs(body.forces(x) - reference.forces(x)).max() / np.abs(reference.forces(x)).max()
    assert gap < limit, gap

def refused(function, *words):
    try:
        function()
    except ContactworksError as error:
        assert type(error).__name__ == "RuntimeConflictError", repr(error)
        assert all(word in str(error) for word in words), str(error)
        return
    raise AssertionError("not refused")
"""


def run(code: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run code in a process of its own and return what it printed; fail on an error."""
    hidden = ("CONTACTWORKS_TAICHI", "ENABLE_TAICHI_HEADER_PRINT", "TI_ARCH", "TI_LOG_LEVEL")
    environment = {k: v for k, v in os.environ.items() if k not in hidden}
    result = subprocess.run(
        [sys.executable, "-c", HEAD + code],
        env={**environment, **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert result.returncode == 0, f"status {result.returncode}\n{result.stderr[-3000:]}"
    return result


def test_first_use_starts_taichi_once_and_silently() -> None:
    result = run("""
assert not {"taichi", "quadrants"} & set(sys.modules), "imported too early"
import os
before = dict(os.environ)
calls = []
import taichi as ti  # as a host might; it prints its banner here, so it is silenced above
init = ti.init
ti.init = lambda *a, **k: (calls.append(k), init(*a, **k))
first = batch()
agrees(first)
agrees(batch(precision="f32"), 1e-3)
agrees(first)
assert _runtime.ensure("cpu", "f64").is_owned
assert len(calls) == 1, calls
assert calls[0]["offline_cache"] and calls[0]["fast_math"] is False
assert dict(os.environ) == before
""", ENABLE_TAICHI_HEADER_PRINT="0")  # fmt: skip
    assert result.stdout == ""


def test_no_banner_without_any_variable() -> None:
    result = run("agrees(batch())")
    assert result.stdout == ""
    assert result.stderr == ""


@pytest.mark.parametrize("default", ["f32", "f64"])
def test_host_program_is_taken_over(default: str) -> None:
    """Its default type and fast math make no difference to our results; its data stay."""
    run(f"""
import taichi as ti
ti.init(arch=ti.cpu, default_fp=ti.{default})  # fast_math is on by default
field = ti.field(ti.i32, shape=3)
field.fill(7)
body = batch()
agrees(body)
assert not body.runtime.is_owned and body.runtime.has_fast_math
reference = tac2real.ElasticBody(gel, material, "fixed-corotated")
agrees(batch(model="fixed-corotated"))
assert field.to_numpy().tolist() == [7, 7, 7]
""")


def test_second_init_by_the_host_is_refused_and_can_be_accepted() -> None:
    run("""
body = batch()
agrees(body)
import taichi as ti
ti.init(arch=ti.cpu, log_level=ti.ERROR)
refused(lambda: body.forces(x), "initialised or reset by someone else")
refused(lambda: body.energy(x))
refused(batch, "call ti.init once")
_runtime.release()
agrees(batch())
refused(lambda: body.forces(x))
""")


def test_reset_by_the_host_is_refused() -> None:
    run("""
body = batch()
import taichi as ti
ti.reset()
refused(lambda: body.hessian_product(x, x))
refused(batch)
_runtime.release()
agrees(batch())
assert _runtime.ensure().is_owned
""")


def test_other_arch_than_the_running_one_is_refused() -> None:
    run("""
_runtime._check_support = lambda *_: None  # as on a machine that has both
batch()
refused(lambda: batch(arch="vulkan"), "already runs on cpu, asked for vulkan")
agrees(batch())
""")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_fork_is_refused() -> None:
    run("""
import os, warnings
warnings.simplefilter("ignore", DeprecationWarning)
body = batch()
agrees(body)
pid = os.fork()
if pid == 0:
    try:
        refused(lambda: body.forces(x), "spawn")
        refused(batch, "spawn")
    except BaseException as error:
        print(error, file=sys.stderr, flush=True)
        os._exit(1)
    os._exit(0)
assert os.waitpid(pid, 0)[1] == 0
agrees(body)
""")


def test_variable_that_overrides_the_arch_is_refused() -> None:
    run('refused(batch, "TI_ARCH=vulkan", "unset it")', TI_ARCH="vulkan")
    run("agrees(batch())", TI_ARCH="x64" if os.uname().machine == "x86_64" else "arm64")


def test_quadrants_serves_through_the_same_import() -> None:
    if importlib.util.find_spec("quadrants") is None:
        pytest.skip("quadrants is not installed")
    result = run(
        """
body = batch()
assert body.runtime.backend == "quadrants" and "taichi" not in sys.modules
agrees(body)
reference = tac2real.ElasticBody(gel, material, "fixed-corotated")
body = batch(model="fixed-corotated")
agrees(body)
gap = np.abs(body.hessian_product(x, x) - reference.hessian_product(x, x)).max()
assert gap < 1e-12 * np.abs(reference.hessian_product(x, x)).max()
import quadrants as qd
qd.init(arch=qd.cpu, log_level=qd.ERROR)
refused(lambda: body.forces(x))
""",
        CONTACTWORKS_TAICHI="quadrants",
        ENABLE_QUADRANTS_HEADER_PRINT="0",
    )
    assert "version" not in result.stdout


def test_unknown_or_absent_backend_is_named() -> None:
    run(
        """
try:
    batch()
except ContactworksError as error:
    assert "CONTACTWORKS_TAICHI: got 'numpy', expected one of taichi, quadrants" in str(error)
else:
    raise AssertionError
""",
        CONTACTWORKS_TAICHI="numpy",
    )
    run(
        """
sys.modules["quadrants"] = None  # as if it were not installed
try:
    batch()
except ImportError as error:
    assert "quadrants is not installed: pip install" in str(error), error
    assert isinstance(error, ContactworksError)
else:
    raise AssertionError
""",
        CONTACTWORKS_TAICHI="quadrants",
    )


def test_number_of_threads_does_not_change_the_results() -> None:
    code = """
_runtime.ensure(threads={threads})
x = np.repeat(x, 3, axis=0)
print(batch(num_envs=3).forces(x).tobytes().hex())
"""
    one, two = (run(code.format(threads=n)).stdout for n in (1, 2))
    assert one == two
    assert len(one) > 1000


def test_arguments_are_checked() -> None:
    with pytest.raises(ModelError, match="arch: got 'tpu'"):
        _runtime.ensure("tpu")  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="precision: got 'f16'"):
        _runtime.ensure("cpu", "f16")  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="threads: got 0"):
        _runtime.ensure(threads=0)
    with pytest.raises(AttributeError, match="no attribute 'tu'"):
        _runtime.tu  # noqa: B018
    assert issubclass(RuntimeConflictError, ContactworksError)


def test_arch_that_the_machine_lacks_is_named() -> None:
    with pytest.raises(ContactworksError, match=r"metal is not available|already runs on cpu"):
        _runtime.ensure("metal", "f32")


def test_only_one_file_imports_taichi() -> None:
    folder = Path(_runtime.__file__).parent
    files = [path for path in folder.rglob("*.py") if path.name != "_runtime.py"]
    assert len(files) > 8
    for path in files:
        text = path.read_text(encoding="utf-8")
        for line in text.splitlines():
            words = line.replace(".", " ").split()
            is_import = words[:1] == ["import"] or words[:1] == ["from"]
            assert not (is_import and words[1] in ("taichi", "quadrants")), f"{path}: {line}"
        assert ".init(" not in text, path
