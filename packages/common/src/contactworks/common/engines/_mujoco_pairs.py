"""Contact pairs of MuJoCo bodies: which geoms can meet, how near they are, how they are silenced.

What MuJoCo 4.0.0 does, and how it is met here (all tried):

- Explicit ``<pair>`` elements are sorted when the model is compiled, and they ignore ``contype``
  and ``conaffinity``.  They are found by their geoms.  A negative ``margin`` alone does not silence
  one; ``margin = -d`` with ``gap = +d`` does: it is then listed, but has no force down to depth d.
- Ordinary pairs follow the bit masks of the geoms, which belong to a geom and not to a pair.  To
  silence a pair of bodies, the geoms of one of them get a bit of their own, which those geoms carry
  that may still touch them.  The masks of whole bodies, which only sort out bodies that never meet,
  stay.
- The distance that ``mj_geomDistance`` returns is exact to its tolerance of 1e-6 m, but its segment
  has no direction where the surfaces just touch; the normal is then measured a little apart.
"""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
from jaxtyping import Float

from contactworks.common.engine import ContactState, UnsupportedPropertyError

__all__ = ["BodyPair", "PairSwitches", "candidate_geoms", "closest_contact", "explicit_pairs"]

# Two body ids, the lower one first.
BodyPair = tuple[int, int]

# Deeper than any real overlap [m]; its sum with its negative is exactly zero.
_NEVER = 1e6
# Bit 31 is the sign of MuJoCo's masks.
_MASK_BITS = 31
# Below this distance [m] the segment of mj_geomDistance has no useful direction.
_TOUCHING = 1e-5
# How far apart [m] the geoms are moved to measure the normal.
_APART = 1e-4


def explicit_pairs(model: Any, pair: BodyPair) -> list[int]:
    """Return the ids of the ``<pair>`` elements between geoms of two bodies."""
    owner = model.geom_bodyid
    first, second = owner[model.pair_geom1], owner[model.pair_geom2]
    wanted = (np.minimum(first, second) == pair[0]) & (np.maximum(first, second) == pair[1])
    return [int(i) for i in np.flatnonzero(wanted)]


def candidate_geoms(
    model: Any, pair: BodyPair, contype: np.ndarray, conaffinity: np.ndarray
) -> list[tuple[int, int]]:
    """Return the pairs of geoms of two bodies that may collide, in the order of ``pair``.

    Args:
        model: an ``MjModel``.
        pair: the bodies.
        contype: masks as the model was compiled.
        conaffinity: likewise.
    """
    found = set()
    for i in explicit_pairs(model, pair):
        g, h = int(model.pair_geom1[i]), int(model.pair_geom2[i])
        found.add((g, h) if model.geom_bodyid[g] == pair[0] else (h, g))
    if not _is_filtered(model, pair):
        for g in _geoms_of(model, pair[0]):
            for h in _geoms_of(model, pair[1]):
                if (contype[g] & conaffinity[h]) | (contype[h] & conaffinity[g]):
                    found.add((g, h))
    return sorted(found)


def closest_contact(
    model: Any, data: Any, geoms: list[tuple[int, int]], distance: float
) -> ContactState | None:
    """Return the closest contact among pairs of geoms, None beyond ``distance`` [m].

    ``data`` must hold the geom poses of its state (``mj_kinematics``).
    """
    segment = np.empty(6)
    best, gap = None, distance
    for g, h in geoms:
        found = mujoco.mj_geomDistance(model, data, g, h, distance, segment)
        if found < gap:
            best, gap = (g, h, segment.copy()), found
    if best is None:
        return None
    g, h, ends = best
    point = 0.5 * (ends[:3] + ends[3:])
    return ContactState(gap, point, _normal(model, data, g, h, gap, ends[3:] - ends[:3]))


def _normal(
    model: Any, data: Any, g: int, h: int, gap: float, segment: Float[np.ndarray, " 3"]
) -> Float[np.ndarray, " 3"]:
    """Return the unit normal (3,) from geom g to geom h."""
    length = float(np.linalg.norm(segment))
    if abs(gap) > _TOUCHING and length > 0.0:
        return np.asarray(segment / length * np.sign(gap))
    centres = data.geom_xpos[h] - data.geom_xpos[g]
    axes = [segment, centres] if length > 0.0 else [centres]
    guesses = [sign * axis / np.linalg.norm(axis) for axis in axes for sign in (1.0, -1.0)]
    kept = data.geom_xpos[h].copy()
    best = (-np.inf, guesses[0])
    try:
        for guess in guesses:
            data.geom_xpos[h] = kept + _APART * guess
            ends = np.empty(6)
            apart = mujoco.mj_geomDistance(model, data, g, h, 10.0 * _APART, ends)
            if apart > best[0]:
                direction = ends[3:] - ends[:3]
                best = (apart, direction / max(float(np.linalg.norm(direction)), 1e-300))
    finally:
        data.geom_xpos[h] = kept
    return np.asarray(best[1])


class PairSwitches:
    """Which pairs of bodies of a model are silent, and the arrays of the model that make it so."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self.contype = model.geom_contype.copy()
        self.conaffinity = model.geom_conaffinity.copy()
        self._margins: dict[int, tuple[float, float]] = {}
        self._off: frozenset[BodyPair] = frozenset()

    @property
    def off(self) -> frozenset[BodyPair]:
        """The pairs of bodies that make no force."""
        return self._off

    def set_off(self, off: frozenset[BodyPair]) -> None:
        """Silence exactly these pairs of bodies.

        Raises:
            UnsupportedPropertyError: there are not enough free bits in the masks of the geoms; the
                model is then as before.
        """
        masks = self._masks(off)
        for pair in self._off - off:
            for i in explicit_pairs(self._model, pair):
                self._model.pair_margin[i], self._model.pair_gap[i] = self._margins.pop(i)
        for pair in off - self._off:
            for i in explicit_pairs(self._model, pair):
                self._margins[i] = (
                    float(self._model.pair_margin[i]),
                    float(self._model.pair_gap[i]),
                )
                self._model.pair_margin[i], self._model.pair_gap[i] = -_NEVER, _NEVER
        self._model.geom_contype[:], self._model.geom_conaffinity[:] = masks
        self._off = off

    def _masks(self, off: frozenset[BodyPair]) -> tuple[np.ndarray, np.ndarray]:
        """Return the masks (contype, conaffinity) of all geoms with some pairs silent."""
        contype, conaffinity = self.contype.copy(), self.conaffinity.copy()
        owner = self._model.geom_bodyid
        covered = _cover({pair for pair in off if self._meets(pair)})
        groups: dict[tuple[int, int, int], list[int]] = {}
        for g in range(self._model.ngeom):
            if int(owner[g]) in covered and (self.contype[g] or self.conaffinity[g]):
                key = (int(owner[g]), int(self.contype[g]), int(self.conaffinity[g]))
                groups.setdefault(key, []).append(g)
        used = int(np.bitwise_or.reduce(np.append(self.contype | self.conaffinity, 0)))
        free = [1 << k for k in range(_MASK_BITS) if not used & (1 << k)]
        if len(groups) > len(free):
            raise UnsupportedPropertyError(
                f"silent contact pairs: this model would need {len(groups)} free bits in its "
                f"contact masks and has {len(free)}; write <pair> elements for the geoms instead"
            )
        for members in groups.values():
            contype[members] = 0
        for ((body, own_type, own_affinity), members), bit in zip(
            groups.items(), free, strict=False
        ):
            conaffinity[members] = bit
            meets = (self.contype & own_affinity) | (self.conaffinity & own_type)
            for h in np.flatnonzero(meets):
                other = int(owner[h])
                if other != body and _ordered(body, other) not in off:
                    contype[h] |= bit
        return contype, conaffinity

    def _meets(self, pair: BodyPair) -> bool:
        """Return whether geoms of two bodies meet through their masks."""
        first, second = (_geoms_of(self._model, body) for body in pair)
        return any(
            (self.contype[g] & self.conaffinity[h]) | (self.contype[h] & self.conaffinity[g])
            for g in first
            for h in second
        )


def _cover(pairs: set[BodyPair]) -> set[int]:
    """Return bodies of which every pair has at least one; few of them (greedy)."""
    covered: set[int] = set()
    left = set(pairs)
    while left:
        counts: dict[int, int] = {}
        for pair in left:
            for body in pair:
                counts[body] = counts.get(body, 0) + 1
        body = max(sorted(counts), key=lambda b: counts[b])
        covered.add(body)
        left = {pair for pair in left if body not in pair}
    return covered


def _ordered(first: int, second: int) -> BodyPair:
    return (first, second) if first < second else (second, first)


def _geoms_of(model: Any, body: int) -> list[int]:
    return [int(g) for g in np.flatnonzero(model.geom_bodyid == body)]


def _is_filtered(model: Any, pair: BodyPair) -> bool:
    """Return whether MuJoCo never lets ordinary geoms of two bodies meet."""
    first, second = (int(model.body_weldid[body]) for body in pair)
    if first == second:
        return True
    signature = (pair[0] << 16) + pair[1]
    if signature in {int(s) for s in model.exclude_signature}:
        return True
    if int(model.opt.disableflags) & int(mujoco.mjtDisableBit.mjDSBL_FILTERPARENT):
        return False
    parents = [int(model.body_weldid[model.body_parentid[weld]]) for weld in (first, second)]
    return bool(0 not in (first, second) and (parents[0] == second or parents[1] == first))
