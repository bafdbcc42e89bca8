"""
A calibration
=============

A block is pushed off and slides to a stop. From the distances that it slid, find its friction,
and learn that the same distances say nothing about its mass.
"""

# %%
# The data
# --------
# Twelve slides at known speeds, with the error of a tape measure. The distance is :math:`v^2 / (2
# \mu g)`, less a little because the surface gives way first.

import matplotlib.pyplot as plt
import numpy as np

from contactworks.common.calibration import (
    CalibrationProblem,
    CmaEs,
    IdentifiabilityOptions,
    Parameter,
    ParameterSpace,
)

GRAVITY = 9.81
TRUTH = {"friction": 0.31, "lost_speed": 0.12, "mass": 0.8}

rng = np.random.default_rng(0)
speed = np.linspace(0.5, 2.5, 12)


def slide(friction, lost_speed, mass):
    """Return the distances [m] of a block that first loses some speed, then slides."""
    force = friction * mass * GRAVITY
    energy = 0.5 * mass * (speed - lost_speed) ** 2
    return energy / force


measured = slide(**TRUTH) + rng.normal(0.0, 0.002, len(speed))

# %%
# The problem
# -----------
# A problem is a space of parameters and a loss. Bounds and units are part of the space; a
# parameter whose factors matter more than its differences has a logarithmic scale.

space = ParameterSpace(
    [
        Parameter("friction", "1", 0.05, 1.0),
        Parameter("lost_speed", "m/s", 0.0, 0.4),
        Parameter("mass", "kg", 0.1, 10.0, scale="log"),
    ]
)


def residuals(values):
    """Return the errors in units of the tape measure's standard deviation."""
    return (slide(**values) - measured) / 0.002


problem = CalibrationProblem(space, residuals=residuals)

# %%
# The search
# ----------
# Every method has the same call. The result holds each evaluation, the seed and the versions;
# ``save`` and ``load`` keep it in one file. The loss is half the sum of squares of errors in
# standard deviations, so a rise by one half is what the data can just tell.

result = CmaEs(evaluations=600).run(
    problem, rng=0, identifiability=IdentifiabilityOptions(threshold=0.5)
)
print(result.summary())

# %%
# The verdict on the mass is what a table of best values would have hidden: any mass explains the
# data as well.

found = result.values
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
left.plot(speed, measured, "o", label="measured")
left.plot(speed, slide(**found), label=f"found: friction {found['friction']:.3f}")
left.set(xlabel="speed [m/s]", ylabel="distance [m]")
left.legend()
result.plot(right)
plt.show()
