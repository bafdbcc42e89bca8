"""Sphinx configuration; built by ``nox -s docs`` with warnings as errors and without network."""

from __future__ import annotations

import inspect
import os
import re
from importlib.metadata import version as installed_version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

os.environ.setdefault("MPLBACKEND", "Agg")

project = "Contactworks"
author = "The Contactworks developers"
copyright = "The Contactworks developers, Apache-2.0"
release = installed_version("contactworks-common")
version = release

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx.ext.mathjax",
    "sphinx.ext.viewcode",
    "sphinx_gallery.gen_gallery",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "_templates", "requirements.txt", "gallery/*.ipynb", "gallery/*.json"]
suppress_warnings = ["config.cache"]  # the gallery's settings hold a class and are not pickled

myst_enable_extensions = ["dollarmath", "amsmath", "deflist", "colon_fence"]
myst_heading_anchors = 3

autosummary_generate = True
autosummary_imported_members = True
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_class_signature = "mixed"
autodoc_default_options = {"members": True, "undoc-members": False}
autodoc_preserve_defaults = True
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False
napoleon_custom_sections = ["Source", "Frames", "Units"]

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "ignore_pattern": r"__init__\.py",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "min_reported_time": 0,
    "write_computation_times": False,
    "reset_modules": ("matplotlib",),
}

html_theme = "furo"
html_title = "Contactworks"
html_theme_options = {"navigation_with_keys": True}
html_copy_source = False


def drop_docstring_of_type(
    app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]
) -> None:
    """Empty the text of a constant that has none of its own: it would be that of ``dict``."""
    if what == "data" and (type(obj).__doc__ or "").splitlines()[:1] == lines[:1]:
        lines.clear()


def escape_bars(
    app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]
) -> None:
    """Let ``|x|`` mean an absolute value; reStructuredText would look for a substitution."""
    for i, line in enumerate(lines):
        if line.lstrip().startswith((">>>", "...")):
            continue
        # Odd parts stand between backticks, where nothing is to be escaped.
        parts = re.split(r"(`+[^`]*`+)", line)
        parts[::2] = [part.replace("|", r"\|") for part in parts[::2]]
        lines[i] = "".join(parts)


class _AsWritten(str):
    """An annotation whose representation is its text, without quotation marks."""

    __slots__ = ()
    __repr__ = str.__str__


def show_annotations_as_written(
    app: Sphinx, what: str, name: str, obj: Any, options: Any, signature: str, returns: str
) -> tuple[str, str] | None:
    """Keep ``ArrayLike`` and the like by name; evaluated, one of them fills five lines."""
    if what not in ("class", "exception", "function", "method") or signature is None:
        return None
    try:
        found = inspect.signature(obj)
    except (TypeError, ValueError):
        return None
    parameters = [
        p.replace(annotation=_AsWritten(p.annotation)) if isinstance(p.annotation, str) else p
        for p in found.parameters.values()
    ]
    if what == "method" and parameters and parameters[0].name in ("self", "cls"):
        parameters = parameters[1:]
    text = str(found.replace(parameters=parameters, return_annotation=found.empty))
    given = found.return_annotation
    return text, given if isinstance(given, str) and what != "class" else ""


def setup(app: Sphinx) -> None:
    """Register the handlers of this file."""
    app.connect("autodoc-process-docstring", drop_docstring_of_type)
    app.connect("autodoc-process-docstring", escape_bars)
    app.connect("autodoc-process-signature", show_annotations_as_written)
