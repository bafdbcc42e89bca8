"""Record layouts that the kernels share.

One record array per topic keeps the call of a step cheap: every array argument costs dispatch time
on each call, and a NamedTuple of many arrays costs most of a second to rebuild in each process.
World frame and SI units unless a field says otherwise.
"""

from __future__ import annotations

import numba
import numpy as np

PLANE, SPHERE, CAPSULE, BOX, CYLINDER = range(5)
KIND_NAMES = ("plane", "sphere", "capsule", "box", "cylinder")

OK, CONTACT_OVERFLOW, PAIR_OVERFLOW, BAD_STATE, BAD_WRENCH, BAD_SOLUTION = range(6)

FRICTION_GEOMETRIC, FRICTION_MAX, FRICTION_MIN = range(3)
SOLVER_HYBRID, SOLVER_CANAL = range(2)

# Why an island's solve ended.
STOP_WARM, STOP_SWEEP, STOP_NEWTON, STOP_LIMIT = range(4)

#: Constants of a body. Row 0 is the world: zero inverse mass.
BODY = np.dtype(
    [
        ("mass", "f8"),
        ("inverse_mass", "f8"),
        ("center", "f8", (3,)),  # centre of mass in the body frame
        ("inertia", "f8", (3, 3)),  # about the centre of mass, body axes
        ("inverse_inertia", "f8", (3, 3)),
        ("radius", "f8"),  # of a ball about the centre of mass that holds the body's geoms
        ("qpos", "i8"),  # first entry in qpos, -1 for the world
        ("dof", "i8"),
    ],
    align=True,
)

#: Pose and inertia of a body in the world frame, at the start of a step.
BODY_STATE = np.dtype(
    [
        ("center", "f8", (3,)),
        ("rotation", "f8", (3, 3)),
        ("inverse_inertia", "f8", (3, 3)),
        ("inertia", "f8", (3, 3)),
    ],
    align=True,
)

GEOM = np.dtype(
    [
        ("kind", "i8"),
        ("body", "i8"),
        ("dimensions", "f8", (3,)),  # radius | radius, half length | half sizes
        ("position", "f8", (3,)),  # in the body frame
        ("quaternion", "f8", (4,)),
        ("radius", "f8"),  # bounding ball about the geom's origin
        ("friction", "f8"),
        ("stiffness", "f8"),  # N/m, inf is rigid
        ("restitution", "f8"),
    ],
    align=True,
)

GEOM_STATE = np.dtype(
    [
        ("position", "f8", (3,)),
        ("rotation", "f8", (3, 3)),
        ("lower", "f8", (3,)),  # axis-aligned box, grown by half the margin and the travel
        ("upper", "f8", (3,)),
    ],
    align=True,
)

#: One contact point. Rows of 3x3 fields are the directions n, t1, t2.
CONTACT = np.dtype(
    [
        ("geom_a", "i8"),
        ("geom_b", "i8"),
        ("body_a", "i8"),
        ("body_b", "i8"),
        ("island", "i8"),
        ("position", "f8", (3,)),
        ("frame", "f8", (3, 3)),  # the normal points from a to b
        ("arm_a", "f8", (3, 3)),  # r_a x direction
        ("arm_b", "f8", (3, 3)),
        ("response_a", "f8", (3, 3)),  # I_a^-1 (r_a x direction)
        ("response_b", "f8", (3, 3)),
        ("inverse_mass_a", "f8"),
        ("inverse_mass_b", "f8"),
        ("delassus", "f8", (5,)),  # W_nn + c, W_n1, W_n2, S_11, S_22 (Schur complement, diagonal)
        ("effective_mass", "f8"),  # 1 / (W_nn + c)
        ("gap", "f8"),
        ("bias", "f8"),  # e: the law is  u_n + e + c l_n >= 0  complementary to  l_n >= 0
        ("compliance", "f8"),  # c
        ("friction", "f8"),
        ("impulse", "f8", (3,)),  # l on body b, in the frame n, t1, t2
        ("impulse_world", "f8", (3,)),
        ("local_b", "f8", (3,)),  # the point in b's frame: key of the warm start
        ("slip", "f8"),  # last root of the sliding case, starts the next search
        ("share", "f8"),  # points of the manifold, over which a stiffness is shared
        ("change", "f8", (3,)),  # work: change in the last sweep
        ("momentum", "f8", (3,)),  # work: conjugate direction
        ("best", "f8", (3,)),  # work: best iterate
        ("trial", "f8", (3,)),  # work: projected multiplier of the Newton solve
        ("multiplier", "f8", (3,)),  # work
    ],
    align=True,
)

# Bits of the matrix of body pairs.
PAIR_ENABLED = 1
PAIR_OWN_LAW = 2

#: Contact parameters of a pair of bodies that replace those mixed from the geoms.
PAIR_LAW = np.dtype(
    [
        ("body_a", "i8"),
        ("body_b", "i8"),
        ("friction", "f8"),
        ("stiffness", "f8"),
        ("restitution", "f8"),
    ],
    align=True,
)

#: Scalars of a step, in one record.
SETTINGS = np.dtype(
    [
        ("timestep", "f8"),
        ("gravity", "f8", (3,)),
        ("tolerance", "f8"),  # <= 0: chosen by the size of the island
        ("max_sweeps", "i8"),
        ("max_newton", "i8"),
        ("solver", "i8"),
        ("contact_margin", "f8"),
        ("erp", "f8"),
        ("max_correction_speed", "f8"),
        ("dead_band", "f8"),
        ("friction_rule", "i8"),
    ],
    align=True,
)

#: What a step reports.
REPORT = np.dtype(
    [
        ("status", "i8"),
        ("contact_count", "i8"),
        ("pair_count", "i8"),
        ("island_count", "i8"),
        ("sweeps", "i8"),
        ("newton", "i8"),
        ("primal", "f8"),
        ("dual", "f8"),
        ("natural", "f8"),
        ("converged", "i8"),
        ("worst_natural", "f8"),  # over the steps of one call
        ("unconverged_steps", "i8"),
        ("bad_body", "i8"),
        ("steps_done", "i8"),
    ],
    align=True,
)


def as_records(array: np.ndarray) -> np.ndarray:
    """Return the array in the form that kernels index: with the JIT off, fields are attributes."""
    return array.view(np.recarray) if numba.config.DISABLE_JIT else array


def make_records(count: int, layout: np.dtype) -> np.ndarray:
    """Return ``count`` zero records for the kernels."""
    return as_records(np.zeros(count, layout))
