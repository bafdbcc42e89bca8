"""Options: what is refused, and what the kernels are told."""

from __future__ import annotations

import math
from dataclasses import FrozenInstanceError, fields, replace

import numpy as np
import pytest

from contactworks import crisp
from contactworks.common.errors import ModelError

REFUSED = {
    "timestep": [0.0, -1e-3, math.nan, math.inf, "fast", None],
    "gravity": [(0, 0), (0, 0, math.nan), (0, 0, 0, -9.81), "down", None, -9.81, ("x", "y", "z")],
    "solver": ["newton", "", None, "Hybrid"],
    "preset": ["fastest", None],
    "tolerance": [0.0, -1e-8, math.nan, math.inf, "tight"],
    "max_iterations": [0, -3, 2.5, "many"],
    "contact_margin": [-1e-3, math.nan, math.inf, None],
    "erp": [-0.1, 1.1, math.nan, None],
    "max_correction_speed": [-1.0, math.nan, "slow"],
    "friction_rule": ["mean", None],
}


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in REFUSED.items() for value in values]
)
def test_a_bad_value_is_refused_by_name(name, value):
    with pytest.raises(ModelError) as caught:
        crisp.Options(**{name: value})
    message = str(caught.value)
    assert f"Options.{name}: got" in message
    assert repr(value) in message or str(value) in message
    assert "expected" in message


def test_every_field_is_checked():
    assert {field.name for field in fields(crisp.Options)} == set(REFUSED)


def test_defaults_are_those_of_the_contract():
    options = crisp.Options()
    assert (options.timestep, options.gravity, options.solver) == (0.002, (0, 0, -9.81), "hybrid")
    assert (options.erp, options.max_correction_speed, options.contact_margin) == (0.1, 0.5, 0.01)
    assert options.friction_rule == "geometric"
    assert options.preset == "auto"


def test_options_are_frozen_and_keyword_only():
    with pytest.raises(FrozenInstanceError):
        crisp.Options().timestep = 0.1
    with pytest.raises(TypeError):
        crisp.Options(0.001)
    assert replace(crisp.Options(), timestep=0.01).timestep == 0.01
    with pytest.raises(ModelError):
        replace(crisp.Options(), timestep=-0.01)


def test_numpy_numbers_are_numbers():
    options = crisp.Options(
        timestep=np.float64(0.01), gravity=np.array([0, 0, -1.0]), max_iterations=np.int64(5)
    )
    assert options.gravity == (0.0, 0.0, -1.0)
    settings = options.to_settings()[0]
    assert settings["max_newton"] == 5
    assert settings["timestep"] == 0.01


def test_no_bound_on_the_correction_speed():
    assert crisp.Options(max_correction_speed=math.inf).to_settings()[0][
        "max_correction_speed"
    ] == (math.inf)


@pytest.mark.parametrize("rule", ["geometric", "max", "min"])
def test_friction_of_a_pair(rule):
    """A block slides with the mixed coefficient: the deceleration tells which it was."""
    builder = crisp.ModelBuilder(crisp.Options(friction_rule=rule))
    builder.world.add_geom(crisp.Plane(), friction=0.9)
    builder.add_body("block", position=(0, 0, 0.05)).add_geom(
        crisp.Box((0.2, 0.2, 0.05)), friction=0.4
    )
    model = builder.build()
    data = crisp.Data(model)
    data.qvel[0] = 2.0
    crisp.step(model, data, 50)
    friction = {"geometric": 0.6, "max": 0.9, "min": 0.4}[rule]
    assert data.qvel[0] == pytest.approx(2.0 - friction * 9.81 * 0.1, abs=1e-9)


@pytest.mark.parametrize("preset", ["auto", "accurate"])
def test_a_given_limit_replaces_the_presets(preset):
    limited = crisp.Options(preset=preset, max_iterations=3).to_settings()[0]
    free = crisp.Options(preset=preset).to_settings()[0]
    assert limited["max_newton"] == 3
    assert free["max_newton"] > 100
    assert limited["max_sweeps"] == free["max_sweeps"]


def test_the_tolerance_is_kept():
    """A looser tolerance takes fewer iterations, and the report holds against it."""
    counts = {}
    for tolerance in (1e-2, 1e-10):
        builder = crisp.ModelBuilder(crisp.Options(tolerance=tolerance))
        builder.world.add_geom(crisp.Plane())
        for i in range(12):
            builder.add_body(f"box{i}", position=(0, 0, 0.05 + 0.1 * i)).add_geom(
                crisp.Box((0.05, 0.05, 0.05))
            )
        model = builder.build()
        data = crisp.Data(model)
        crisp.step(model, data)
        assert data.solver.converged
        assert data.solver.natural_residual <= tolerance
        counts[tolerance] = data.solver.iterations
    assert counts[1e-2] < counts[1e-10]
