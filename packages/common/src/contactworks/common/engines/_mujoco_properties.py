"""Friction, stiffness and restitution of MuJoCo contacts by the names of bodies.

An explicit ``<pair>`` has values of its own.  An ordinary contact mixes those of its two geoms; the
mix can be read for a pair, and friction can be set for a body.  Stiffness and restitution can be
set for explicit pairs only: an ordinary contact keeps the damping of its normal and of its friction
in one number, so that a bouncy one would hardly rub.
"""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from jaxtyping import Float

from contactworks.common.engine import UnsupportedPropertyError
from contactworks.common.engines import _contact_law
from contactworks.common.engines._mujoco_pairs import BodyPair, explicit_pairs
from contactworks.common.errors import ModelError

__all__ = ["ContactProperties"]

_LOGGER = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, eq=False)
class _Law:
    """Parameters of one contact: sliding friction, ``solref`` and ``solimp``."""

    friction: float
    solref: Float[np.ndarray, " 2"]
    solimp: Float[np.ndarray, " 5"]


class ContactProperties:
    """Reads and writes contact properties in the arrays of a model.

    Args:
        model: an ``MjModel``.
        names: names of the bodies, by id.
    """

    def __init__(self, model: Any, names: list[str]) -> None:
        self._model = model
        self._names = names

    def friction(self, target: int | BodyPair, geoms: list[tuple[int, int]]) -> float:
        """Return the sliding friction of a body or of the contacts between given geoms."""
        if isinstance(target, int):
            values = [float(self._model.geom_friction[g, 0]) for g in self._rubbing_geoms(target)]
        else:
            values = [law.friction for law in self._laws(target, geoms)]
        return self._only("friction", target, values)

    def set_friction(self, target: int | BodyPair, value: float) -> None:
        """Set the sliding friction of a body's geoms or of the explicit pairs of two bodies."""
        if not (math.isfinite(value) and value >= 0.0):
            raise ModelError(
                f"friction of {self._label(target)}: got {value}, expected a finite number >= 0"
            )
        if isinstance(target, int):
            self._model.geom_friction[self._rubbing_geoms(target), 0] = value
        else:
            # Both tangential directions of an explicit pair.
            self._model.pair_friction[self._explicit("friction", target), :2] = value

    def stiffness(self, target: int | BodyPair, geoms: list[tuple[int, int]]) -> float:
        """Return the resting stiffness [N/m] of a pair."""
        pair = self._pair_only("stiffness", target)
        mass = self._effective_mass(pair)
        values = []
        for law in self._laws(pair, geoms):
            rate, _ = _contact_law.oscillator(law.solref)
            values.append(_contact_law.stiffness_of(rate, mass, law.solimp))
        return self._only("stiffness", pair, values)

    def set_stiffness(self, target: int | BodyPair, value: float) -> None:
        """Set the resting stiffness [N/m] of a pair and keep its restitution."""
        pair = self._pair_only("stiffness", target)
        if not value > 0.0:
            raise ModelError(
                f"stiffness of {self._label(pair)}: got {value}, expected a number > 0"
            )
        if math.isinf(value):
            raise UnsupportedPropertyError(
                f"stiffness of {self._label(pair)}: got infinity, but MuJoCo's contacts are "
                "springs; expected a finite number"
            )
        mass = self._effective_mass(pair)
        for i in self._explicit("stiffness", pair):
            ratio = self._damping_ratio(i, pair)
            # A constant impedance makes the spring linear.
            impedance = float(self._model.pair_solimp[i, 1])
            self._model.pair_solimp[i, 0] = impedance
            rate = _contact_law.stiffness_to_rate(value, mass, impedance)
            self._write_solref(i, rate, ratio)

    def restitution(self, target: int | BodyPair, geoms: list[tuple[int, int]]) -> float:
        """Return the restitution of a pair, of a central impact without other loads."""
        pair = self._pair_only("restitution", target)
        values = []
        for law in self._laws(pair, geoms):
            rate, damping = _contact_law.oscillator(law.solref)
            ratio = 0.5 * damping / math.sqrt(rate) if rate > 0.0 else math.inf
            values.append(_contact_law.restitution_of_damping_ratio(ratio))
        return self._only("restitution", pair, values)

    def set_restitution(self, target: int | BodyPair, value: float) -> None:
        """Set the restitution of a pair and keep its stiffness."""
        pair = self._pair_only("restitution", target)
        if not 0.0 <= value <= 1.0:
            raise ModelError(
                f"restitution of {self._label(pair)}: got {value}, expected a number in [0, 1]"
            )
        if value < _contact_law.SMALLEST_RESTITUTION:
            raise UnsupportedPropertyError(
                f"restitution of {self._label(pair)}: got {value}, but a MuJoCo contact always "
                f"rebounds a little; expected at least {_contact_law.SMALLEST_RESTITUTION}"
            )
        ratio = _contact_law.damping_ratio_of_restitution(value)
        if self._model.opt.cone == mujoco.mjtCone.mjCONE_PYRAMIDAL:
            _LOGGER.warning(
                "restitution of %s: with pyramidal cones it also changes how fast friction acts; "
                'use <option cone="elliptic"/>',
                self._label(pair),
            )
        for i in self._explicit("restitution", pair):
            rate, _ = _contact_law.oscillator(self._model.pair_solref[i])
            self._refuse_springless(rate, pair)
            self._write_solref(i, rate, ratio)

    def _write_solref(self, i: int, rate: float, ratio: float) -> None:
        """Write ``solref`` of an explicit pair and leave the damping of its friction as it was."""
        if not self._model.pair_solreffriction[i].any():
            self._model.pair_solreffriction[i] = self._model.pair_solref[i]
        self._model.pair_solref[i] = _contact_law.direct_solref(rate, ratio)

    def _damping_ratio(self, i: int, pair: BodyPair) -> float:
        rate, damping = _contact_law.oscillator(self._model.pair_solref[i])
        self._refuse_springless(rate, pair)
        return 0.5 * damping / math.sqrt(rate)

    def _refuse_springless(self, rate: float, pair: BodyPair) -> None:
        if not rate > 0.0:
            raise UnsupportedPropertyError(
                f"contact of {self._label(pair)}: its solref has no spring, so it has neither "
                "stiffness nor restitution; give it one in the model"
            )

    def _effective_mass(self, pair: BodyPair) -> float:
        """Return the mass [kg] that the contact of two bodies feels.

        It is that of a central contact, exact for free bodies; on joints it is MuJoCo's mean over
        the directions at the initial pose.
        """
        inverse = float(self._model.body_invweight0[list(pair), 0].sum())
        if inverse <= 0.0:
            raise ModelError(f"contact of {self._label(pair)}: both bodies are fixed")
        return 1.0 / inverse

    def _laws(self, pair: BodyPair, geoms: list[tuple[int, int]]) -> list[_Law]:
        """Return the laws of the contacts between given geoms of two bodies."""
        model = self._model
        explicit = {
            frozenset((int(model.pair_geom1[i]), int(model.pair_geom2[i]))): i
            for i in explicit_pairs(model, pair)
        }
        laws = []
        for g, h in geoms:
            i = explicit.get(frozenset((g, h)))
            if i is None:
                laws.append(self._mixed(g, h))
            else:
                friction = float(model.pair_friction[i, 0])
                laws.append(_Law(friction, model.pair_solref[i], model.pair_solimp[i]))
        return laws

    def _mixed(self, g: int, h: int) -> _Law:
        """Return the law of an ordinary contact, by MuJoCo's mixing rule."""
        model = self._model
        if model.geom_priority[g] != model.geom_priority[h]:
            k = g if model.geom_priority[g] > model.geom_priority[h] else h
            return _Law(
                float(model.geom_friction[k, 0]), model.geom_solref[k], model.geom_solimp[k]
            )
        weights = np.array([model.geom_solmix[g], model.geom_solmix[h]])
        weights = weights / weights.sum() if weights.sum() > 0.0 else np.array([0.5, 0.5])
        first, second = model.geom_solref[g], model.geom_solref[h]
        if first[0] > 0.0 and second[0] > 0.0:
            solref = weights[0] * first + weights[1] * second
        else:
            solref = np.minimum(first, second)
        solimp = weights[0] * model.geom_solimp[g] + weights[1] * model.geom_solimp[h]
        friction = max(float(model.geom_friction[g, 0]), float(model.geom_friction[h, 0]))
        return _Law(friction, solref, solimp)

    def _rubbing_geoms(self, body: int) -> list[int]:
        """Return the geoms of a body that have ordinary contacts, by the masks of the model now."""
        model = self._model
        masks = model.geom_contype | model.geom_conaffinity
        found = np.flatnonzero((model.geom_bodyid == body) & (masks != 0))
        if not len(found):
            raise UnsupportedPropertyError(
                f"friction of {self._label(body)}: it has no geom with ordinary contacts; set the "
                "friction of a pair of bodies"
            )
        return [int(g) for g in found]

    def _explicit(self, what: str, pair: BodyPair) -> list[int]:
        found = explicit_pairs(self._model, pair)
        if not found:
            raise UnsupportedPropertyError(
                f"{what} of {self._label(pair)}: MuJoCo mixes it from the geoms of the two bodies; "
                "to set it for the pair, give the model a <contact><pair/></contact> of their geoms"
            )
        return found

    def _pair_only(self, what: str, target: int | BodyPair) -> BodyPair:
        if isinstance(target, int):
            raise UnsupportedPropertyError(
                f"{what} of {self._label(target)}: in MuJoCo it belongs to a contact, not to a "
                "body; expected a pair of bodies"
            )
        return target

    def _only(self, what: str, target: int | BodyPair, values: list[float]) -> float:
        if not values:
            raise ModelError(f"{what} of {self._label(target)}: the model lets no geoms of it meet")
        if max(values) - min(values) > 1e-12 * max(map(abs, values)):
            raise ModelError(
                f"{what} of {self._label(target)}: its geoms differ, from {min(values)} to "
                f"{max(values)}, expected one value"
            )
        return values[0]

    def _label(self, target: int | BodyPair) -> str:
        if isinstance(target, int):
            return f"body '{self._names[target]}'"
        return f"bodies '{self._names[target[0]]}' and '{self._names[target[1]]}'"
