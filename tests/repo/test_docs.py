"""The code in the pages of the documentation runs, and the pages' links between files hold."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = [
    page
    for page in sorted(DOCS.rglob("*.md"))
    if not {"_build", "gallery", "api"} & set(page.relative_to(DOCS).parts)
]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def python_of(page: Path) -> str:
    """Return the Python blocks of ``page``, one after the other: they build on one another."""
    text = page.read_text(encoding="utf-8")
    found = re.findall(r"^```python\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    return "\n".join(found)


WITH_CODE = [page for page in PAGES if python_of(page)]


@pytest.mark.parametrize("page", WITH_CODE, ids=lambda page: str(page.relative_to(DOCS)))
def test_code_of_the_page_runs(page: Path, tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-c", python_of(page)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr[-2000:]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_example_has_a_title_and_is_found_from_the_tutorials(example: Path) -> None:
    text = example.read_text(encoding="utf-8")
    assert re.match(r'"""\n.+\n=+\n', text), "sphinx-gallery needs a title"
    tutorials = (DOCS / "tutorials" / "index.md").read_text(encoding="utf-8")
    assert f"/gallery/{example.stem}>" in tutorials


def test_every_page_is_reached_from_a_table_of_contents() -> None:
    listed = set()
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for tree in re.findall(r"^```\{toctree\}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
            lines = [line for line in tree.splitlines() if line and not line.startswith(":")]
            listed |= {(page.parent / f"{line}.md").resolve() for line in lines}
    orphans = [str(p.relative_to(DOCS)) for p in PAGES if p not in listed and p.name != "index.md"]
    assert not orphans
