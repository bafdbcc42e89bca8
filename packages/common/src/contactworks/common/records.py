"""Versioned record files, and the JSON report of a command.

A record is a set of named arrays with a header: ``format``, ``version``, ``package_version`` and
free attributes (options, seed, versions).  ``.npz`` suits small states, ``.h5`` large data; both
are read without pickle.  Every file is written under a temporary name and renamed, so that a
failed write leaves the old file, or none.
"""

from __future__ import annotations

import dataclasses
import json
import logging
import os
import platform
import secrets
import zipfile
import zlib
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from contactworks.common._jsonable import to_jsonable, without_nonfinite
from contactworks.common.errors import FileFormatError, ModelError

__all__ = [
    "Record",
    "atomic_path",
    "installed_versions",
    "json_report",
    "read_record",
    "to_jsonable",
    "write_json",
    "write_record",
]

_LOGGER = logging.getLogger(__name__)
_HEADER = "__header__"
_DISTRIBUTIONS = (
    "contactworks-common",
    "contactworks-crisp",
    "contactworks-clash",
    "contactworks-tac2real",
    "numpy",
    "scipy",
    "numba",
    "cma",
    "mujoco",
    "torch",
    "taichi",
)
_READ_ERRORS = (
    OSError,
    ValueError,
    TypeError,
    EOFError,
    KeyError,
    RuntimeError,
    zipfile.BadZipFile,
    zlib.error,
)


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Record:
    """What :func:`read_record` found in a file.

    Attributes:
        arrays: the arrays by name.
        attributes: the free part of the header: options, seed, versions.
        format: name of the format.
        version: version of the format.
        package_version: version of the package that wrote the file.
    """

    arrays: dict[str, np.ndarray]
    attributes: dict[str, Any]
    format: str
    version: int
    package_version: str


def write_record(
    path: str | os.PathLike[str],
    arrays: Mapping[str, npt.ArrayLike],
    *,
    format: str,
    version: int,
    attributes: Mapping[str, Any] | None = None,
    package: str = "contactworks-common",
    compress: bool = False,
) -> None:
    """Write named arrays and a header to ``path``, whose suffix chooses ``.npz`` or ``.h5``.

    Args:
        path: the file; missing folders are made, an existing file is replaced.
        arrays: numbers, booleans or strings of any shape; ``/`` in a name groups in ``.h5``.
        format: name of the format, such as ``"contactworks-calibration"``.
        version: version of the format.
        attributes: values that JSON can hold (also dataclasses, paths, NumPy numbers and arrays).
        package: distribution whose version goes into ``package_version``.
        compress: compress without loss; slower, smaller.

    Raises:
        FileFormatError: the suffix is neither ``.npz`` nor ``.h5``.
        ModelError: an array holds Python objects, or a name or an attribute cannot be stored.
        OSError: the file cannot be written; no half-written file stays.

    Example:
        >>> import tempfile, pathlib
        >>> file = pathlib.Path(tempfile.mkdtemp()) / "state.npz"
        >>> write_record(file, {"x": [1.0, 2.0]}, format="demo", version=1)
        >>> read_record(file, format="demo", versions=[1]).arrays["x"]
        array([1., 2.])
    """
    path = Path(path)
    suffix = _suffix(path)
    header = {
        "format": format,
        "version": int(version),
        "package_version": _version_of(package),
        "attributes": to_jsonable(attributes or {}, "attributes"),
    }
    checked = {name: _storable(name, value) for name, value in arrays.items()}
    with atomic_path(path) as temporary:
        if suffix == ".npz":
            _write_npz(temporary, header, checked, compress)
        else:
            _write_h5(temporary, header, checked, compress)


def read_record(
    path: str | os.PathLike[str],
    *,
    format: str,
    versions: Collection[int],
    required: Collection[str] = (),
) -> Record:
    """Return the record in ``path`` after a check of its format, version and arrays.

    Args:
        path: a file of :func:`write_record`.
        format: the format that the file must have.
        versions: the versions that the caller understands.
        required: names of arrays that must be there.

    Raises:
        FileNotFoundError: there is no such file.
        FileFormatError: the file is of another kind, format or version, is damaged or lacks an
            array; the message names the file.
    """
    path = Path(path)
    suffix = _suffix(path)
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such file, expected a record of format '{format}'")
    try:
        header, arrays = (_read_npz if suffix == ".npz" else _read_h5)(path)
    except FileFormatError:
        raise
    except _READ_ERRORS as error:
        raise FileFormatError(
            f"{path}: not a complete {suffix} record ({type(error).__name__}: {error}), "
            f"expected format '{format}'"
        ) from error
    found = header.get("format")
    if found != format:
        raise FileFormatError(f"{path}: got format '{found}', expected '{format}'")
    if header.get("version") not in versions:
        known = ", ".join(str(v) for v in sorted(versions))
        raise FileFormatError(
            f"{path}: got version {header.get('version')!r} of format '{format}' (written by "
            f"package version {header.get('package_version')}), expected one of: {known}"
        )
    missing = sorted(set(required) - set(arrays))
    if missing:
        raise FileFormatError(f"{path}: arrays missing: {', '.join(missing)}")
    return Record(
        arrays=arrays,
        attributes=header.get("attributes", {}),
        format=format,
        version=header["version"],
        package_version=str(header.get("package_version", "unknown")),
    )


@contextmanager
def atomic_path(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary name beside ``path`` that becomes ``path`` when the block ends well.

    After an error in the block the temporary file is removed and ``path`` is as before.  Missing
    folders are made, so that a long run does not lose its result to one.

    Raises:
        OSError: the folder or the file cannot be written.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.stem}.{secrets.token_hex(6)}{path.suffix}")
    try:
        yield temporary
        with open(temporary, "rb+") as file:
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def installed_versions() -> dict[str, str]:
    """Return the versions of Python and of those of our packages and libraries that are here."""
    found = {"python": platform.python_version()}
    for name in _DISTRIBUTIONS:
        version = _version_of(name)
        if version != "unknown":
            found[name] = version
    return found


def json_report(
    command: str,
    options: Any,
    seed: int | None,
    metrics: Mapping[str, Any],
    *,
    top_level: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the report that every command writes with ``--json``.

    Args:
        command: the command as typed, such as ``"contactworks-crisp run cube-toss"``.
        options: its options, a mapping or a dataclass.
        seed: the seed of the run.
        metrics: the results.
        top_level: results that are repeated beside ``"metrics"``, for readers that look there.

    Returns:
        ``{"command", "options", "seed", "versions", "metrics"}`` and the keys of ``top_level``.

    Raises:
        ModelError: a key of ``top_level`` is one of the report's own, or a value has no JSON form.
    """
    report = {
        "command": command,
        "options": to_jsonable(options, "options"),
        "seed": seed,
        "versions": installed_versions(),
        "metrics": to_jsonable(metrics, "metrics"),
    }
    extra = to_jsonable(top_level or {}, "top_level")
    clash = sorted(set(extra) & set(report))
    if clash:
        raise ModelError(f"top_level: keys {clash} are the report's own, expected other names")
    return {**report, **extra}


def write_json(path: str | os.PathLike[str], report: Mapping[str, Any]) -> None:
    """Write ``report`` to ``path`` as strict JSON, under a temporary name that is then renamed.

    JSON has no NaN and no infinity: they become null, and a warning in the log names their places.

    Raises:
        ModelError: a value has no JSON form.
        OSError: the file cannot be written.
    """
    places: list[str] = []
    plain = without_nonfinite(to_jsonable(report, "report"), "report", places)
    if places:
        _LOGGER.warning("%s: written as null, not finite: %s", path, ", ".join(places))
    text = json.dumps(plain, indent=2, allow_nan=False, ensure_ascii=False) + "\n"
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


@cache
def _version_of(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return "unknown"


def _suffix(path: Path) -> str:
    if path.suffix in (".npz", ".h5"):
        return path.suffix
    raise FileFormatError(f"{path}: got the suffix '{path.suffix}', expected '.npz' or '.h5'")


def _storable(name: str, value: npt.ArrayLike) -> np.ndarray:
    array = np.asarray(value)
    if array.dtype.kind not in "biufcU":
        raise ModelError(
            f"array '{name}': got dtype {array.dtype}, expected numbers, booleans or strings"
        )
    if not name or name == _HEADER or name.startswith("/"):
        raise ModelError(f"array '{name}': this name is not free, expected another")
    return array


def _write_npz(
    path: Path, header: dict[str, Any], arrays: dict[str, np.ndarray], compress: bool
) -> None:
    # Not numpy.savez: it takes the arrays as keywords, so some names would not be free.
    method = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
    with zipfile.ZipFile(path, "w", compression=method) as archive:
        for name, array in {_HEADER: np.array(json.dumps(header)), **arrays}.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                np.lib.format.write_array(file, array, allow_pickle=False)


def _read_npz(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    if not zipfile.is_zipfile(path):
        raise zipfile.BadZipFile("no end of the archive")
    with np.load(path, allow_pickle=False) as file:
        if _HEADER not in file.files:
            raise FileFormatError(f"{path}: an .npz file without our header, expected a record")
        header = dict(json.loads(str(file[_HEADER])))
        return header, {name: file[name] for name in file.files if name != _HEADER}


def _write_h5(
    path: Path, header: dict[str, Any], arrays: dict[str, np.ndarray], compress: bool
) -> None:
    import h5py

    with h5py.File(path, "w") as file:
        for key, value in header.items():
            file.attrs[key] = json.dumps(value) if key == "attributes" else value
        for name, array in arrays.items():
            options = {"compression": "gzip"} if compress and array.size > 1 and array.ndim else {}
            if array.dtype.kind == "U":
                file.create_dataset(name, data=array.astype(object), dtype=h5py.string_dtype())
            else:
                file.create_dataset(name, data=array, **options)


def _read_h5(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    import h5py

    arrays: dict[str, np.ndarray] = {}

    def collect(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset):
            is_text = h5py.check_string_dtype(item.dtype) is not None
            data = item.asstr()[()] if is_text else item[()]
            arrays[name] = np.asarray(data, dtype=np.str_) if is_text else np.asarray(data)

    with h5py.File(path, "r") as file:
        if "format" not in file.attrs:
            raise FileFormatError(f"{path}: an .h5 file without our header, expected a record")
        header = {
            key: file.attrs[key] for key in ("format", "package_version") if key in file.attrs
        }
        header["version"] = int(file.attrs["version"])
        header["attributes"] = json.loads(file.attrs["attributes"])
        file.visititems(collect)
    return header, arrays
