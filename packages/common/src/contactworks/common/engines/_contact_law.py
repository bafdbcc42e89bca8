"""Stiffness and restitution in the terms of MuJoCo's ``solref`` and ``solimp``.

MuJoCo writes a contact as an acceleration, ``a1 + d (b v + k r) = (1 - d) a0``: penetration r, its
speed v, impedance d, acceleration a0 without and a1 with the contact.  In the direct format
``solref = (-s, -c)`` and with a constant impedance (d0 = dw = d) this is the oscillator
``a1 + c v + s r = (1 - d) a0``.  So:

- At rest under its weight a body of effective mass m sinks by ``(1 - d) a0 / s``, which is the
  stiffness ``K = m s / (1 - d)`` [N/m].
- An impact without other loads (a0 = 0) is the damped half swing of that oscillator, cut off when
  its force falls to zero, since a contact cannot pull.  Its damping ratio ``c / (2 sqrt(s))``
  alone decides the restitution.

Source: MuJoCo documentation, Modeling, "Solver parameters" (eq. constraint, solref_direct,
    solref_standard); T. Schwager, T. Poeschel, "Coefficient of restitution and linear-dashpot model
    revisited", Granular Matter 9, 2007, pp. 465-469 (restitution of a dashpot that does not pull).
"""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float

from contactworks.common.errors import ModelError

__all__ = [
    "SMALLEST_RESTITUTION",
    "damping_ratio_of_restitution",
    "direct_solref",
    "oscillator",
    "restitution_of_damping_ratio",
    "stiffness_of",
    "stiffness_to_rate",
]

# A spring and damper always rebound a little; below this the damping would be too stiff to step.
SMALLEST_RESTITUTION = 1e-3
_BISECTIONS = 80


def restitution_of_damping_ratio(damping_ratio: float) -> float:
    """Return the restitution of a spring-damper contact that cannot pull.

    Args:
        damping_ratio: not negative; 1 is critical.

    Raises:
        ModelError: a negative value or NaN.

    Source: Schwager and Poeschel 2007; checked here against the integrated oscillator.
    """
    z = float(damping_ratio)
    if not z >= 0.0:
        raise ModelError(f"damping ratio: got {damping_ratio}, expected a number >= 0")
    if abs(z - 1.0) < 1e-9:
        return math.exp(-2.0)
    if z < 1.0:
        root = math.sqrt(1.0 - z * z)
        # The phase at which the force vanishes; atan2 covers both branches of the source.
        phase = math.atan2(2.0 * z * root, 2.0 * z * z - 1.0)
        return math.exp(-z / root * phase)
    if math.isinf(z):
        return 0.0
    root = math.sqrt((z - 1.0) * (z + 1.0))
    # The same as log((z + root) / (z - root)), without the cancellation.
    return math.exp(-z / root * 2.0 * math.log(z + root))


def damping_ratio_of_restitution(restitution: float) -> float:
    """Return the damping ratio that gives a restitution, the inverse of the function above.

    Raises:
        ModelError: a value outside [``SMALLEST_RESTITUTION``, 1].
    """
    e = float(restitution)
    if not SMALLEST_RESTITUTION <= e <= 1.0:
        raise ModelError(f"restitution: got {restitution}, expected [{SMALLEST_RESTITUTION}, 1]")
    if e == 1.0:
        return 0.0
    low, high = 0.0, 1.0
    while restitution_of_damping_ratio(high) > e:
        high *= 2.0
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        if restitution_of_damping_ratio(middle) > e:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


def oscillator(solref: Float[np.ndarray, " 2"]) -> tuple[float, float]:
    """Return the rate s [1/s²] and the damping c [1/s] of a ``solref`` in either format.

    The standard format (time constant, damping ratio) is ``c = 2 / timeconst`` and
    ``s = 1 / (timeconst dampratio)²``.
    """
    first, second = float(solref[0]), float(solref[1])
    if first > 0.0 and second > 0.0:
        return 1.0 / (first * second) ** 2, 2.0 / first
    return -first, -second


def direct_solref(rate: float, damping_ratio: float) -> tuple[float, float]:
    """Return ``solref`` in the direct format for a rate s [1/s²] and a damping ratio."""
    return -rate, -2.0 * damping_ratio * math.sqrt(rate)


def stiffness_of(rate: float, mass: float, solimp: Float[np.ndarray, " 5"]) -> float:
    """Return the stiffness [N/m] under a small load.

    Args:
        rate: s [1/s²].
        mass: effective mass of the contact [kg].
        solimp: its impedance is taken at zero depth.
    """
    impedance, widest = float(solimp[0]), float(solimp[1])
    return mass * rate * (impedance / widest) ** 2 / (1.0 - impedance)


def stiffness_to_rate(stiffness: float, mass: float, impedance: float) -> float:
    """Return the rate s [1/s²] of a stiffness [N/m] at a constant impedance."""
    return stiffness * (1.0 - impedance) / mass
