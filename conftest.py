"""Settings of all test runs."""

from __future__ import annotations

import os

from hypothesis import settings

# On a build server the same examples every time: a new failure then belongs to the change.
# Elsewhere each run looks at new ones. A slow machine is no failure.
settings.register_profile("default", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")
