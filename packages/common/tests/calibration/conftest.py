from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from contactworks.common.calibration import Parameter, ParameterSpace


@pytest.fixture
def unit_space() -> Callable[..., ParameterSpace]:
    """Linear parameters from 0 to 1, so that values and coordinates are the same numbers."""
    return lambda *names: ParameterSpace([Parameter(name, "1", 0.0, 1.0) for name in names])


@pytest.fixture
def vector() -> Callable[[dict[str, float]], np.ndarray]:
    return lambda values: np.array(list(values.values()))
