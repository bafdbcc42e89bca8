"""Hatchling metadata hook: where this package's sibling packages come from.

In a checkout a sibling is required by its path, so ``pip install ./packages/crisp`` works on a
fresh clone with no index that serves it.  From an sdist, or with ``CONTACTWORKS_RELEASE=1``, it is
required by version, so that nothing that is uploaded names a path on the builder's machine.
"""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface
from packaging.requirements import Requirement


class SiblingDependencies(MetadataHookInterface):
    """Fill ``project.dependencies`` from this hook's two tables."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Write the third-party and sibling requirements into ``metadata``."""
        packages = Path(self.root).resolve().parent
        release = os.environ.get("CONTACTWORKS_RELEASE", "0") not in ("", "0")
        dependencies = list(self.config.get("third-party", []))
        for folder, text in self.config.get("siblings", {}).items():
            requirement = Requirement(text)
            sibling = packages / folder
            if release or _project_name(sibling) != requirement.name:
                dependencies.append(text)
                continue
            extras = f"[{','.join(sorted(requirement.extras))}]" if requirement.extras else ""
            dependencies.append(f"{requirement.name}{extras} @ {sibling.as_uri()}")
        metadata["dependencies"] = dependencies


def _project_name(folder: Path) -> str | None:
    try:
        with (folder / "pyproject.toml").open("rb") as stream:
            name: str = tomllib.load(stream)["project"]["name"]
            return name
    except (OSError, KeyError, tomllib.TOMLDecodeError):
        return None
