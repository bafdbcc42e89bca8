"""Stepping a simulation."""

from __future__ import annotations

import numpy as np

from contactworks.common.errors import ConvergenceError, ModelError

from ._kernels.layout import (
    BAD_STATE,
    BAD_WRENCH,
    CONTACT_OVERFLOW,
    OK,
    PAIR_OVERFLOW,
    REPORT,
)
from ._kernels.step import step as _step_kernel
from .data import Data
from .model import Model

__all__ = ["forward", "reset", "step"]


def step(model: Model, data: Data, count: int = 1) -> None:
    """Advance ``data`` by ``count`` time steps, in one compiled call.

    What the solver reached stands in ``data.solver``.

    Raises:
        ModelError: the state or a wrench is not finite, a quaternion is not unit, ``count`` is not
            a whole number of 0 or more, or ``data`` belongs to another model. The state is as it
            was before the step that could not be done.
        ConvergenceError: the solution was not finite; the state is as before that step.
    """
    _check(model, data)
    if not isinstance(count, (int, np.integer)) or count < 0:
        raise ModelError(f"step: got count {count!r}, expected a whole number, 0 or more")
    dt = model.options.timestep
    worst = 0.0
    unconverged = 0
    report = data._report[0]
    while count > 0:
        swapped = _step_kernel(
            count,
            model.bodies,
            model.geoms,
            model.settings,
            data._qpos,
            data._qvel,
            data.body_wrench,
            data._pair_flags,
            data._pair_laws,
            data._states,
            data._geom_states,
            data._contacts,
            data._previous,
            data._report,
            data._velocities,
            data._integers,
            (data._order, data._keys, data._used, data._points, data._scratch),
        )
        if swapped:
            data._contacts, data._previous = data._previous, data._contacts
        done = int(report["steps_done"])
        count -= done
        for _ in range(done):  # one by one: however often it is called, the time is the same
            data.time += dt
        worst = max(worst, float(report["worst_natural"]))
        unconverged += int(report["unconverged_steps"])
        status = int(report["status"])
        if status == OK:
            break
        needed = int(report["pair_count"])
        if status == CONTACT_OVERFLOW:
            data._allocate(2 * needed, len(data._keys))
        elif status == PAIR_OVERFLOW:
            data._allocate(len(data._contacts), 2 * needed)
        else:
            if done > 0:
                data._write_bodies()
            _fail(model, data, status, int(report["bad_body"]))
    report["worst_natural"] = worst
    report["unconverged_steps"] = unconverged
    data._write_bodies()


def forward(model: Model, data: Data) -> None:
    """Bring body positions, quaternions and twists up to date with ``qpos`` and ``qvel``.

    Raises:
        ModelError: a coordinate is not finite, or ``data`` belongs to another model.
    """
    _check(model, data)
    if not (np.isfinite(data._qpos).all() and np.isfinite(data._qvel).all()):
        raise ModelError("forward: qpos or qvel holds a value that is not finite")
    data._write_bodies()


def reset(model: Model, data: Data) -> None:
    """Go back to the start: pose and velocity of the model, no wrench, no warm start, time 0."""
    _check(model, data)
    data.time = 0.0
    data._qpos[:] = model.qpos0
    data._qvel[:] = model.qvel0
    data.body_wrench[:] = 0.0
    data.clear_pairs()
    data._report[:] = np.zeros(1, REPORT)
    forward(model, data)


def _check(model: Model, data: Data) -> None:
    if data.model is not model:
        raise ModelError("the Data was made for another Model; make one with crisp.Data(model)")


def _fail(model: Model, data: Data, status: int, body: int) -> None:
    name = model.body_names[body]
    where = f"at time {data.time:.6g} s, body {name!r}"
    if status == BAD_STATE:
        start = int(model.bodies[body]["qpos"])
        speed = int(model.bodies[body]["dof"])
        raise ModelError(
            f"{where}: the state cannot be stepped: qpos {data._qpos[start : start + 7].tolist()}, "
            f"qvel {data._qvel[speed : speed + 6].tolist()}; expected finite numbers and a unit "
            "quaternion"
        )
    wrench = data.body_wrench[body].tolist()
    if status == BAD_WRENCH:
        raise ModelError(
            f"{where}: body_wrench {wrench} gives a velocity that is not finite or beyond 1e100; "
            "expected finite forces and torques"
        )
    raise ConvergenceError(
        f"{where}: the step gave a velocity that is not finite or beyond 1e100; look at masses, "
        f"inertias and body_wrench {wrench}"
    )
