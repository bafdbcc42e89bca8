"""Probes of a loss around a point: noise, curvature along lines, Hessian; in coordinates [0, 1]^d.

A curvature comes from steps to both sides; where the box leaves no room on one side, from the other
alone.  There the gradient counts too: a minimum that is pressed against a bound is a known value.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from jaxtyping import Float

from contactworks.common.calibration.evaluation import Ledger
from contactworks.common.calibration.history import Status

__all__ = ["Prober"]

_SMALLEST_STEP = 1e-4
_LARGEST_STEP = 0.5
_USABLE_SHARE = 0.1  # a side with less room than this share of the step is not probed
_ROUNDS = 6
_NOISE_SPACING = 2e-3
_NOISE_OFFSET = 1e-2
_NOISE_POINTS = 9
_CLOSE_SPACING = 5e-4
_LARGEST_LUCK = 5.0  # deviations by which noise may have lowered the centre
_SIGNIFICANCE = 3.0
_NOISE_MARGIN = 30.0
_HESSIAN_MARGIN = 100.0
_LOCAL_STEP = 1e-2
_SHORTEST_LOCAL_STEP = 1e-3
_RISE_STEP = 0.05


class Prober:
    """Evaluates probes around a centre.

    Args:
        ledger: does the evaluations.
        centre: coordinates (d,).
        use_residuals: evaluate residuals rather than the loss.

    Attributes:
        loss: loss at the centre.
        lowest: lowest loss of all probes.
        largest_rise: largest rise of the loss found at a step of at most 0.05, or, from a longer
            step, what a parabola gives there.
        evaluations: evaluations so far.
        residual_count: number of residuals; zero without.
    """

    def __init__(
        self, ledger: Ledger, centre: Float[np.ndarray, " d"], *, use_residuals: bool
    ) -> None:
        self._ledger = ledger
        self._centre = np.array(centre, dtype=np.float64)
        self._use_residuals = use_residuals
        self._vectors: dict[bytes, np.ndarray] = {}
        self.evaluations = 0
        self.residual_count = 0
        self.largest_rise = 0.0
        self.lowest = np.inf
        self.loss = float(self.losses(self._centre[None])[0])
        self._level = self.loss

    def losses(self, points: Float[np.ndarray, "n d"]) -> Float[np.ndarray, " n"]:
        """Return losses (n,) at coordinates (n, d), NaN where the candidate failed."""
        points = np.clip(points, 0.0, 1.0)
        kind = "residuals" if self._use_residuals else "loss"
        generation = self._ledger.evaluate(points, kind)  # type: ignore[arg-type]
        self.evaluations += len(points)
        if generation.outputs is not None:
            self.residual_count = generation.outputs.shape[1]
            for point, row in zip(points, generation.outputs, strict=True):
                self._vectors[point.tobytes()] = row
        losses = np.where(generation.status == Status.OK, generation.loss, np.nan)
        if np.isfinite(losses).any():
            self.lowest = min(self.lowest, float(np.nanmin(losses)))
        return losses

    def noise(self) -> float:
        """Return the numerical noise of the loss near the centre (standard deviation).

        Two short lines of evenly spaced points, off the centre because a loss often has a kink
        there: what a cubic does not explain is noise.  A search ends at a point that noise made
        low, so with noise the level of the centre is corrected by close neighbours.
        """
        inward = np.where(self._centre > 0.5, -1.0, 1.0)
        other = inward * np.where(np.arange(inward.size) % 2 == 0, 1.0, 0.5)
        reach = np.arange(_NOISE_POINTS, dtype=np.float64)
        lines = [
            self._centre + (_NOISE_OFFSET + _NOISE_SPACING * reach)[:, None] * direction
            for direction in (inward, other)
        ]
        close = self._centre + _CLOSE_SPACING * reach[1:, None] * other
        first, second, near = np.split(
            self.losses(np.concatenate([*lines, close])), [reach.size, 2 * reach.size]
        )
        squares, freedom = 0.0, 0
        for losses in (first, second):
            seen = np.isfinite(losses)
            if np.count_nonzero(seen) > 4:
                basis = np.vander(np.linspace(-1.0, 1.0, reach.size)[seen], 4)
                left = losses[seen] - basis @ np.linalg.lstsq(basis, losses[seen], rcond=None)[0]
                squares, freedom = squares + float(left @ left), freedom + left.size - 4
        found = np.sqrt(squares / freedom) if freedom else 0.0
        near = near[np.isfinite(near)]
        shift = float(near.mean()) - self.loss if near.size else 0.0
        if 0.0 < shift < _LARGEST_LUCK * found:
            self._level = self.loss + shift
        return max(float(found), float(np.finfo(float).eps * abs(self.loss)))

    def curvatures(
        self,
        directions: Float[np.ndarray, "k d"],
        steps: Float[np.ndarray, " k"],
        threshold: Callable[[], float],
        noise: float,
    ) -> tuple[Float[np.ndarray, " k"], Float[np.ndarray, " k"]]:
        """Return curvatures (k,) along directions, and the steps (k,) at which they were taken.

        Steps are changed until the loss rises by about three thresholds and well above the noise,
        or until the box ends.
        """
        steps = steps.copy()
        curvature = np.full(steps.size, np.nan)
        open_ones = np.arange(steps.size)
        limit = _LARGEST_STEP / np.abs(directions).max(axis=1)
        wanted = np.clip(steps, _SMALLEST_STEP, limit)
        for _ in range(_ROUNDS):
            used, most = wanted[open_ones], limit[open_ones]
            found = self._along(directions[open_ones], used, noise)
            curvature[open_ones], steps[open_ones] = found, used
            rise = 0.5 * found * used**2
            self._note_rise(rise * np.minimum(1.0, (_RISE_STEP / used) ** 2))
            with np.errstate(divide="ignore", invalid="ignore"):
                factor = np.sqrt(max(3.0 * threshold(), _NOISE_MARGIN * noise) / rise)
            factor = np.where(np.isnan(found), 0.3, np.where(rise > 0.0, factor, 10.0))
            wanted[open_ones] = np.clip(used * np.clip(factor, 0.1, 10.0), _SMALLEST_STEP, most)
            open_ones = open_ones[np.abs(np.log(wanted[open_ones] / used)) > np.log(1.8)]
            if open_ones.size == 0:
                break
        return curvature, steps

    def hessian(
        self, axes: Float[np.ndarray, " d"], steps: Float[np.ndarray, " d"], noise: float
    ) -> Float[np.ndarray, "d d"]:
        """Return the Hessian (d, d) from curvatures along the axes and along their diagonals.

        Its directions matter here, so the steps are as short as the noise allows.

        Args:
            axes: curvatures (d,) along the axes.
            steps: the steps (d,) at which they were taken, an upper limit.
            noise: numerical noise of the loss.
        """
        d = steps.size
        first, second = np.triu_indices(d, 1)
        if first.size == 0:
            return np.diag(axes)
        rise = _HESSIAN_MARGIN * noise
        local = _local_steps(axes, rise)
        steps = np.where(0.5 * axes * local**2 >= 0.99 * rise, np.minimum(steps, local), steps)
        axes = self._along(np.eye(d), steps, 0.0)
        axes = np.where(np.isfinite(axes), axes, 0.0)
        hessian = np.diag(axes)
        rows = np.zeros((2, first.size, d))
        pairs = np.arange(first.size)
        rows[:, pairs, first] = steps[first]
        rows[0, pairs, second], rows[1, pairs, second] = steps[second], -steps[second]
        # In a corner of the box one of the two diagonals may have no room at all.
        room = [np.minimum(self._room(r), 1.0) + np.minimum(self._room(-r), 1.0) for r in rows]
        sign = np.where(room[0] >= room[1], 1.0, -1.0)
        chosen = np.where(sign[:, None] > 0.0, rows[0], rows[1])
        along = self._along(chosen, np.ones(first.size), 0.0)
        scaled = axes * steps**2
        mixed = sign * 0.5 * (along - scaled[first] - scaled[second])
        mixed = np.where(np.isfinite(mixed), mixed, 0.0) / (steps[first] * steps[second])
        hessian[first, second] = hessian[second, first] = mixed
        return hessian

    def refine(
        self,
        eigenvalues: Float[np.ndarray, " d"],
        eigenvectors: Float[np.ndarray, "d d"],
        threshold: Callable[[], float],
        noise: float,
    ) -> Float[np.ndarray, " d"]:
        """Return curvatures (d,) measured along the principal directions themselves.

        Small eigenvalues of a difference Hessian are mostly its error.  Where the step is long, a
        bent valley would pass for curvature, so a short step, extrapolated to zero, is taken too;
        if it is sure enough and gives much less, it counts.
        """
        directions = eigenvectors.T
        with np.errstate(divide="ignore"):
            guess = np.sqrt(6.0 * threshold() / np.maximum(eigenvalues, 0.0))
        steps = np.minimum(guess, _LARGEST_STEP)
        values, steps = self.curvatures(directions, steps, threshold, noise)
        values = np.where(np.isnan(values), eigenvalues, values)
        long = np.flatnonzero((steps > 2.0 * _LOCAL_STEP) & (values > 0.0))
        if long.size:
            at = _local_steps(values[long], 80.0 * noise)
            whole = self._along(directions[long], at, 0.0)
            half = self._along(directions[long], 0.5 * at, 0.0)
            local = (4.0 * half - whole) / 3.0
            sure = 0.5 * values[long] * at**2 >= 79.9 * noise
            less = np.isfinite(local) & sure & (local < 0.3 * values[long])
            values[long] = np.where(less, local, values[long])
        return values

    def jacobian(self, steps: Float[np.ndarray, " d"]) -> Float[np.ndarray, "m d"]:
        """Return the derivatives (m, d) of the residuals, from probes at the given steps."""
        here = self._vectors[self._centre.tobytes()]
        columns = []
        for i, step in enumerate(steps):
            sides = []
            for sign in (1.0, -1.0):
                direction = np.zeros(steps.size)
                direction[i] = sign
                reach = min(step, float(self._room(direction[None])[0]))
                point = np.clip(self._centre + reach * direction, 0.0, 1.0)
                row = self._vectors.get(point.tobytes())
                if row is not None and np.isfinite(row).all() and reach > 0.0:
                    sides.append((sign * reach, row))
            if len(sides) == 2:
                columns.append((sides[0][1] - sides[1][1]) / (sides[0][0] - sides[1][0]))
            elif sides:
                columns.append((sides[0][1] - here) / sides[0][0])
            else:
                columns.append(np.zeros(here.size))
        return np.stack(columns, axis=1)

    def _note_rise(self, rises: np.ndarray) -> None:
        finite = rises[np.isfinite(rises)]
        if finite.size:
            self.largest_rise = max(self.largest_rise, float(finite.max()))

    def _room(self, directions: np.ndarray) -> np.ndarray:
        """Return how far (k,) each direction goes from the centre to the end of the box."""
        with np.errstate(divide="ignore", invalid="ignore"):
            ends = np.where(directions > 0.0, 1.0 - self._centre, -self._centre) / directions
        return np.asarray(np.where(directions == 0.0, np.inf, ends).min(axis=1))

    def _along(self, directions: np.ndarray, steps: np.ndarray, noise: float) -> np.ndarray:
        """Return curvatures (k,) along directions (k, d) at steps (k,); NaN where no probe worked.

        A curvature below three times its error from noise counts as none.
        """
        plus = np.minimum(steps, self._room(directions))
        minus = np.minimum(steps, self._room(-directions))
        points = np.concatenate(
            [self._centre + plus[:, None] * directions, self._centre - minus[:, None] * directions]
        )
        usable = np.concatenate([plus, minus]) >= _USABLE_SHARE * np.tile(steps, 2)
        rises = np.full(usable.size, np.nan)
        if usable.any():
            rises[usable] = self.losses(points[usable]) - self._level
        up, down = np.split(rises, 2)
        both, only_up = np.isfinite(up) & np.isfinite(down), np.isfinite(up)
        plus, minus = np.where(only_up, plus, 1.0), np.where(np.isfinite(down), minus, 1.0)
        with np.errstate(invalid="ignore", over="ignore"):
            two = 2.0 * (up / plus + down / minus) / (plus + minus)
            spread = 1.0 / plus**2 + 1.0 / minus**2 + (1.0 / plus + 1.0 / minus) ** 2
            two_error = 2.0 * noise / (plus + minus) * np.sqrt(spread)
            one = 2.0 * np.where(only_up, up / plus**2, down / minus**2)
            one_error = 2.0 * np.sqrt(2.0) * noise / np.where(only_up, plus, minus) ** 2
        curvature = np.where(both, two, one)
        error = np.where(both, two_error, one_error)
        return np.where(np.abs(curvature) < _SIGNIFICANCE * error, 0.0, curvature)


def _local_steps(curvatures: np.ndarray, rise: float) -> np.ndarray:
    """Return short steps (k,), long enough that the loss rises by ``rise`` where it curves."""
    with np.errstate(divide="ignore", invalid="ignore"):
        wanted = np.where(curvatures > 0.0, np.sqrt(2.0 * rise / curvatures), np.inf)
    return np.asarray(np.clip(wanted, _SHORTEST_LOCAL_STEP, _LOCAL_STEP))
