"""Kernels give the same motion compiled and interpreted.

A kernel that reads memory before writing it, overflows an integer or divides by zero shows here:
the compiler and the interpreter then differ.  The coverage session runs this file with the compiler
switched off, since no tool can see into machine code.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from itertools import combinations_with_replacement

import numpy as np
import pytest

from contactworks import crisp
from contactworks.common.engine import load
from contactworks.common.rotations import random_quaternion

SHAPES = {
    "sphere": crisp.Sphere(0.05),
    "capsule": crisp.Capsule(0.04, 0.06),
    "box": crisp.Box((0.05, 0.06, 0.04)),
    "cylinder": crisp.Cylinder(0.05, 0.04),
}


def states(model: crisp.Model, data: crisp.Data, steps: int) -> list[float]:
    """Return the state after ``steps`` steps, one for one, and whether all were solved."""
    solved = True
    for _ in range(steps):
        crisp.step(model, data)
        solved &= data.solver.converged
    return [*data.qpos.tolist(), *data.qvel.tolist(), float(solved)]


def pairs() -> list[float]:
    """Two bodies of each pair of kinds fly at each other, in three orientations each."""
    rng = np.random.default_rng(0)
    found: list[float] = []
    for first, second in combinations_with_replacement(["sphere", "capsule", "box"], 2):
        for _ in range(3):
            builder = crisp.ModelBuilder(crisp.Options(timestep=0.01, gravity=(0.0, 0.0, 0.0)))
            for name, kind, x in (("a", first, 0.0), ("b", second, 0.18)):
                body = builder.add_body(
                    name,
                    position=(x, *rng.normal(0.0, 0.01, 2)),
                    quaternion=random_quaternion(rng=rng),
                )
                body.add_geom(SHAPES[kind], friction=0.4)
            model = builder.build()
            data = crisp.Data(model)
            data.qvel[:] = [0.0] * 6 + [-1.0, *rng.normal(0.0, 0.1, 5)]
            found += states(model, data, 12)
    return found


def floor() -> list[float]:
    """Every kind falls on the floor, lying, standing and askew, with each contact law."""
    rng = np.random.default_rng(1)
    found: list[float] = []
    laws = ({"restitution": 0.6}, {"stiffness": 2e4}, {"friction": 0.0})
    upright, lying = (1.0, 0.0, 0.0, 0.0), (np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0)
    for shape in SHAPES.values():
        turns = (upright, lying, random_quaternion(rng=rng))
        for law, turn in zip(laws, turns, strict=True):
            builder = crisp.ModelBuilder(crisp.Options(timestep=0.005, friction_rule="max"))
            builder.world.add_geom(crisp.Plane(), friction=0.3)
            body = builder.add_body("body", position=(0.0, 0.0, 0.12), quaternion=turn)
            body.add_geom(shape, **law)
            model = builder.build()
            data = crisp.Data(model)
            data.qvel[:3] = (0.5, 0.0, -1.0)
            found += states(model, data, 25)
    return found


def pile(solver: str) -> list[float]:
    """Boxes, balls and capsules fall together into one island."""
    builder = crisp.ModelBuilder(crisp.Options(timestep=0.005, solver=solver))
    builder.world.add_geom(crisp.Plane())
    kinds = ("box", "sphere", "capsule", "box", "box", "capsule", "sphere")
    for i, kind in enumerate(kinds):
        body = builder.add_body(
            f"{kind}{i}", position=(0.02 * (i % 2), 0.03 * (i % 3), 0.06 + 0.11 * i)
        )
        body.add_geom(SHAPES[kind])
    model = builder.build()
    return states(model, crisp.Data(model), 30)


def engine() -> list[float]:
    """The engine protocol: a pair's own law, a silent pair, the nearest points."""
    builder = crisp.ModelBuilder(crisp.Options(timestep=0.005))
    builder.world.add_geom(crisp.Plane())
    for i, kind in enumerate(("box", "sphere", "capsule")):
        body = builder.add_body(kind, position=(0.3 * i, 0.0, 0.07))
        body.add_geom(SHAPES[kind])
    found: list[float] = []
    simulation = load("crisp")(builder)
    simulation.set_friction(("world", "box"), 0.1)
    simulation.set_restitution(("world", "sphere"), 0.5)
    simulation.set_contact_enabled("world", "capsule", False)
    for kind in ("box", "sphere", "capsule"):
        simulation.watch("world", kind, 1.0)
    simulation.watch("box", "sphere", 1.0)
    simulation.step(15)
    for first, second in (("world", "capsule"), ("world", "box"), ("box", "sphere")):
        contact = simulation.contact(first, second)
        found += [contact.gap, *contact.point, *contact.normal]
    return [*found, *simulation.pose("box").position, *simulation.twist("sphere").linear]


CASES: dict[str, Callable[[], list[float]]] = {
    "pairs": pairs,
    "floor": floor,
    "pile-hybrid": lambda: pile("hybrid"),
    "pile-canal": lambda: pile("canal"),
    "engine": engine,
}


@pytest.mark.kernel
@pytest.mark.parametrize("case", CASES)
def test_compiled_and_interpreted_motion_agree(case: str) -> None:
    is_interpreted = os.environ.get("NUMBA_DISABLE_JIT", "0") == "1"
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "0" if is_interpreted else "1"}
    environment.pop("COV_CORE_SOURCE", None)  # only this process is to be measured
    command = [sys.executable, __file__, case]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    here, there = np.array(CASES[case]()), np.array(json.loads(run.stdout))
    assert here.shape == there.shape
    assert np.all(np.isfinite(here))
    # Sines and cosines of the two differ in the last digit; contacts amplify that a little.
    np.testing.assert_allclose(here, there, rtol=0.0, atol=1e-8)


if __name__ == "__main__":
    sys.stdout.write(json.dumps([float(value) for value in CASES[sys.argv[1]]()]))
