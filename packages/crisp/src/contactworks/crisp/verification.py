"""Cases with exact answers, run at default options: what the engine must show."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from contactworks.common.geometry.shapes import Box
from contactworks.common.rotations import random_quaternion, rotate_inverse

from . import scenes
from .builder import ModelBuilder
from .data import Data
from .options import Options
from .scenes import Scene
from .simulation import step

__all__ = ["CASES", "Check", "run_case"]


@dataclass(frozen=True, slots=True)
class Check:
    """One measured figure beside its exact value.

    Attributes:
        case: the scene.
        quantity: what was measured, with its unit.
        exact: the exact value.
        measured: the value found.
        allowed: largest difference that passes.
    """

    case: str
    quantity: str
    exact: float
    measured: float
    allowed: float

    @property
    def error(self) -> float:
        """Absolute difference from the exact value."""
        return abs(self.measured - self.exact)

    @property
    def passed(self) -> bool:
        """Whether the error is within what is allowed; a NaN never is."""
        return self.error <= self.allowed


def run_case(name: str) -> list[Check]:
    """Return the checks of one case.

    Raises:
        KeyError: there is no such case.
    """
    return list(CASES[name]())


def _stack(ratio: float) -> Iterator[Check]:
    case = f"cube stack, mass ratio {ratio:g}"
    scene = scenes.top_heavy_stack(ratio)
    scene.run(1.0)
    worst = 0.0
    for _ in range(10):
        scene.run(0.1)
        worst = max(worst, scene.metrics()["height_error"])
    yield Check(case, "height error from 1 s to 2 s [m]", 0.0, worst, 1e-6)
    yield Check(case, "speed at rest [m/s]", 0.0, scene.metrics()["speed"], 1e-9)
    yield from _solved(case, scene)


def _stick() -> Iterator[Check]:
    case = "block on a slope, friction angle = slope"
    scene = scenes.oblique_slide(30.0)
    scene.run(1.0)
    worst = 0.0
    for _ in range(90):
        scene.run(0.1)
        worst = max(worst, scene.metrics()["speed"])
    yield Check(case, "largest speed from 1 s to 10 s [m/s]", 0.0, worst, 1e-9)
    yield from _solved(case, scene)


def _slide() -> Iterator[Check]:
    case = "block on a slope, friction angle 25 degrees"
    slope = math.radians(30.0)
    exact = 9.81 * (math.sin(slope) - math.tan(math.radians(25.0)) * math.cos(slope))
    scene = scenes.oblique_slide(25.0)
    scene.run(2.0)
    found = scene.metrics()
    yield Check(case, "acceleration [m/s^2]", exact, found["acceleration"], 1e-3 * exact)
    yield Check(case, "lift-off [m]", 0.0, found["lift"], 1e-6)
    yield from _solved(case, scene)


def _roll() -> Iterator[Check]:
    case = "sphere from sliding to rolling"
    scene = scenes.rolling_sphere()
    scene.run(1.0)
    found = scene.metrics()
    yield Check(case, "speed / launch speed", 5.0 / 7.0, found["speed_ratio"], 1e-6)
    yield Check(case, "slip [m/s]", 0.0, found["slip"], 1e-9)
    yield Check(case, "lift [m]", 0.0, found["lift"], 1e-6)


def _hit() -> Iterator[Check]:
    case = "inelastic hit of two spheres"
    scene = scenes.sphere_collision()
    scene.run(1.0)
    found = scene.metrics()
    yield Check(case, "error of the common velocity [m/s]", 0.0, found["velocity_error"], 1e-9)
    yield Check(case, "gap afterwards [m]", 0.0, found["gap"], 1e-6)


def _bounce() -> Iterator[Check]:
    for coefficient in (0.3, 0.8):
        scene = scenes.bouncing_sphere(coefficient)
        scene.run(0.32 + 0.6 * coefficient)
        ratio = scene.metrics()["rebound_ratio"]
        yield Check(
            f"sphere dropped, restitution {coefficient:g}",
            "rebound height / drop height",
            coefficient**2,
            ratio,
            1e-3 * coefficient**2,
        )


def _launch() -> Iterator[Check]:
    case = "cube launched at 6 m/s, friction 0.5"
    exact = 36.0 / 9.81
    errors = []
    for timestep in (0.002, 0.001):
        scene = scenes.launched_cube(timestep=timestep)
        scene.run(2.0)
        found = scene.metrics()
        errors.append(exact - found["distance"])
        # Semi-implicit Euler stops v dt / 2 short.
        yield Check(
            case, f"distance at dt {timestep:g} s [m]", exact, found["distance"], 4.0 * timestep
        )
        yield Check(case, f"lift at dt {timestep:g} s [m]", 0.0, found["lift"], 1e-6)
    order = math.log2(errors[0] / errors[1])
    yield Check(case, "order of the distance in dt", 1.0, order, 0.05)


def _compliant() -> Iterator[Check]:
    exact = 9.81 / 1e5
    for shape in ("sphere", "box"):
        scene = scenes.compliant_rest(shape)
        scene.run(1.0)
        yield Check(
            f"1 kg {shape} on 1e5 N/m", "depth [m]", exact, scene.metrics()["depth"], 0.01 * exact
        )


def _pinch() -> Iterator[Check]:
    case = "capsule pinched between two boxes"
    scene = scenes.pinched_capsule()
    scene.run(10.0)
    found = scene.metrics()
    yield Check(case, "largest speed in 10 s [m/s]", 0.0, found["largest_speed"], 1e-9)
    yield Check(case, "sinking in 10 s [m]", 0.0, found["sink"], 1e-8)


def _bin() -> Iterator[Check]:
    case = "50 boxes in a bin"
    scene = scenes.bin_of_boxes(50)
    scene.run(2.0)
    scene.worst_residual = 0.0
    scene.run(1.0)
    yield Check(case, "natural residual at rest [m/s]", 0.0, scene.worst_residual, 1e-6)
    yield Check(case, "overlap at rest [m]", 0.0, scene.metrics()["worst_overlap"], 1e-6)


def _turned() -> Iterator[Check]:
    generator = np.random.default_rng(7)
    for label, make, duration in (
        ("stack", _turned_stack, 0.5),
        ("sliding block", _turned_block, 1.0),
    ):
        reference = make(np.array([1.0, 0.0, 0.0, 0.0]), False)
        reference.run(duration)
        worst = 0.0
        for turn in random_quaternion(3, rng=generator):
            scene = make(turn, True)
            scene.run(duration)
            for name in reference.model.body_names[1:]:
                i = scene.model.body_id(name)
                j = reference.model.body_id(name)
                one, two = scene.data, reference.data
                found = (
                    rotate_inverse(turn, one.body_position[i]) - two.body_position[j],
                    rotate_inverse(turn, one.body_twist[i, :3]) - two.body_twist[j, :3],
                    rotate_inverse(turn, one.body_twist[i, 3:]) - two.body_twist[j, 3:],
                )
                worst = max(worst, *(float(np.abs(value).max()) for value in found))
        yield Check(
            f"{label} in a turned world, bodies renumbered",
            "difference of the states",
            0.0,
            worst,
            1e-9,
        )


def _turned_stack(turn: np.ndarray, renumbered: bool) -> Scene:
    order = ("top", "bottom", "middle") if renumbered else ("bottom", "middle", "top")
    return scenes.top_heavy_stack(10.0, rotation=turn, order=order)


def _turned_block(turn: np.ndarray, renumbered: bool) -> Scene:
    return scenes.oblique_slide(25.0, rotation=turn)


def _repeat() -> Iterator[Check]:
    def run(_: int) -> bytes:
        scene = scenes.bin_of_boxes(20)
        scene.run(0.6)
        return scene.data.qpos.tobytes() + scene.data.qvel.tobytes()

    alone = run(0)
    with ThreadPoolExecutor(2) as pool:
        others = list(pool.map(run, range(4)))
    different = sum(other != alone for other in others)
    yield Check("20 boxes, repeated on 1 and 2 threads", "runs that differ", 0.0, different, 0.0)


def _spin() -> Iterator[Check]:
    case = "flat box spinning about its middle axis, no torque"
    builder = ModelBuilder(Options(timestep=0.002, gravity=(0.0, 0.0, 0.0)))
    builder.add_body("box", mass=1.0).add_geom(Box((0.02, 0.1, 0.2)))
    model = builder.build()
    data = Data(model)
    data.qvel[3:] = (1.0, 20.0, 1.0)
    inertia = model.bodies["inertia"][1]
    start = data.qvel[3:] @ inertia @ data.qvel[3:]
    worst = 0.0
    for _ in range(2500):
        step(model, data)
        worst = max(worst, abs(data.qvel[3:] @ inertia @ data.qvel[3:] / start - 1.0))
    yield Check(case, "largest change of energy in 5 s, relative", 0.0, worst, 1e-3)


def _solved(case: str, scene: Scene) -> Iterator[Check]:
    yield Check(case, "steps that missed the tolerance", 0.0, scene.unconverged_steps, 0.0)


#: Name of a case to the function that runs it.
CASES: dict[str, Callable[[], Iterator[Check]]] = {
    "stack-10": lambda: _stack(10.0),
    "stack-100": lambda: _stack(100.0),
    "stack-1000": lambda: _stack(1000.0),
    "slope-stick": _stick,
    "slope-slide": _slide,
    "sphere-roll": _roll,
    "sphere-hit": _hit,
    "sphere-bounce": _bounce,
    "cube-launch": _launch,
    "compliant-rest": _compliant,
    "capsule-pinch": _pinch,
    "bin-50": _bin,
    "free-spin": _spin,
    "turned-world": _turned,
    "repeat": _repeat,
}
