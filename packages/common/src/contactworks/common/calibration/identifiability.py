"""Which parameters the data inform: the shape of the loss around the best values.

The loss is probed along each coordinate, along pairs, and along the principal directions, with
steps at which it rises measurably.  The answer is compared with the bounds: a uniform
distribution over the range has the standard deviation 1/sqrt(12), and a parameter whose width
stays there has learnt nothing from the data.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from jaxtyping import Float

from contactworks.common.calibration._probing import Prober
from contactworks.common.calibration.evaluation import Ledger
from contactworks.common.calibration.parameters import ParameterSpace
from contactworks.common.calibration.problem import CalibrationProblem
from contactworks.common.errors import CalibrationError

__all__ = [
    "IdentifiabilityOptions",
    "IdentifiabilityReport",
    "Verdict",
    "identifiability",
    "measure",
]

Verdict: TypeAlias = Literal["identified", "weak", "not informed", "undetermined"]

_PRIOR_VARIANCE = 1.0 / 12.0
_IDENTIFIED = 0.3
_NOT_INFORMED = 0.9
_PROBE_STEP = 0.05


@dataclass(frozen=True, slots=True)
class IdentifiabilityOptions:
    """How the report is made.

    Attributes:
        threshold: the rise of the loss, in its own unit, that the data can just tell from none
            (one standard error).  For half the squared norm of residuals with unit variance it is
            0.5.  None: estimated.  With m residuals, ``loss / (m - d)``; else ``rise * |loss|``;
            never below three times the numerical noise of the loss, nor below a thousandth of the
            largest rise at a twentieth of a range.
        rise: share of the best loss, positive; see ``threshold``.

    Raises:
        CalibrationError: an option is not positive.
    """

    threshold: float | None = None
    rise: float = 0.05

    def __post_init__(self) -> None:
        for name in ("threshold", "rise"):
            value = getattr(self, name)
            if value is not None and not (np.isfinite(value) and value > 0.0):
                raise CalibrationError(f"identifiability, {name}: got {value}, expected positive")


@dataclass(frozen=True, slots=True, eq=False)
class IdentifiabilityReport:
    """What the data say about each parameter, in coordinates that run from 0 to 1 over its range.

    Attributes:
        names: the parameters (d).
        hessian: curvature of the loss (d, d), on the scale of the threshold.
        eigenvalues: curvatures (d,) along the principal directions, ascending, not negative.
        eigenvectors: the directions, as columns (d, d).
        widths: standard deviation (d,) of each parameter with all others free, as a share of its
            range; at most 1/sqrt(12), which the bounds alone give.
        conditional_widths: the same with all others held.
        verdicts: for each parameter "identified" (width below 0.3/sqrt(12)), "not informed" (above
            0.9/sqrt(12)), else "weak"; "undetermined" where all probes failed.
        threshold: the rise of the loss that counts as one standard error.
        noise: numerical noise of the loss (standard deviation).
        evaluations: evaluations that the report took.
        lower_loss: how far a probe went below the best loss; much above the threshold means that
            the search had not ended at a minimum, and that the report should not be trusted.
    """

    names: tuple[str, ...]
    hessian: Float[np.ndarray, "d d"]
    eigenvalues: Float[np.ndarray, " d"]
    eigenvectors: Float[np.ndarray, "d d"]
    widths: Float[np.ndarray, " d"]
    conditional_widths: Float[np.ndarray, " d"]
    verdicts: tuple[Verdict, ...]
    threshold: float
    noise: float
    evaluations: int
    lower_loss: float

    @property
    def is_minimum(self) -> bool:
        """Return whether no probe found a loss lower by more than the threshold."""
        return self.lower_loss <= self.threshold

    @property
    def free_directions(self) -> tuple[dict[str, float], ...]:
        """Return the directions that the data do not inform: unit vectors, name to component.

        Along such a direction the loss does not rise measurably, so only the combinations at right
        angles to it are known.  Components below 0.05 are left out.
        """
        spread = 1.0 / (1.0 / _PRIOR_VARIANCE + self.eigenvalues / (2.0 * self.threshold))
        found = []
        for k in np.flatnonzero(np.sqrt(spread / _PRIOR_VARIANCE) > _NOT_INFORMED):
            vector = self.eigenvectors[:, k]
            vector = vector * np.sign(vector[np.argmax(np.abs(vector))])
            parts = {n: float(v) for n, v in zip(self.names, vector, strict=True) if abs(v) > 0.05}
            found.append(parts)
        return tuple(found)

    def summary(self) -> str:
        """Return a table of widths and verdicts, and the directions that are not informed."""
        width = max(9, *(len(name) for name in self.names))
        lines = [f"{'parameter':<{width}}  width/range  others held  verdict"]
        for i, name in enumerate(self.names):
            lines.append(
                f"{name:<{width}}  {self.widths[i]:11.4f}  {self.conditional_widths[i]:11.4f}  "
                f"{self.verdicts[i]}"
            )
        for direction in self.free_directions:
            parts = "  ".join(f"{value:+.2f} {name}" for name, value in direction.items())
            lines.append(f"not informed along: {parts}")
        if not self.is_minimum:
            lines.append(
                f"a probe lies {self.lower_loss:.3g} below the best loss: the search had not ended"
            )
        return "\n".join(lines)


def identifiability(
    problem: CalibrationProblem,
    values: Mapping[str, float],
    *,
    options: IdentifiabilityOptions | None = None,
    use_residuals: bool | None = None,
) -> IdentifiabilityReport:
    """Return which parameters the data inform, from the loss around given values.

    Args:
        problem: the problem.
        values: the best values, such as ``result.values``.
        options: how.
        use_residuals: take the Gauss-Newton Hessian of the residuals; by default where the problem
            has residuals and no other loss.

    Raises:
        CalibrationError: the loss fails at ``values``, or they are not those of the problem.

    Example:
        >>> from contactworks.common.calibration import Parameter
        >>> space = ParameterSpace([Parameter(name, "1", 0.0, 1.0) for name in ("mu", "idle")])
        >>> problem = CalibrationProblem(space, lambda v: 1.0 + 50.0 * (v["mu"] - 0.3) ** 2)
        >>> identifiability(problem, {"mu": 0.3, "idle": 0.5}).verdicts
        ('identified', 'not informed')
    """
    space: ParameterSpace = problem.space
    only_residuals = problem.loss is None and problem.batch_loss is None
    centre = space.normalize(space.from_dict(values))
    return measure(
        Ledger(problem),
        centre,
        IdentifiabilityOptions() if options is None else options,
        use_residuals=only_residuals if use_residuals is None else use_residuals,
    )


def measure(
    ledger: Ledger,
    centre: Float[np.ndarray, " d"],
    options: IdentifiabilityOptions,
    *,
    use_residuals: bool,
) -> IdentifiabilityReport:
    """Return the report around coordinates ``centre`` (d,), with the evaluations in ``ledger``."""
    ledger.stage = "identifiability"
    prober = Prober(ledger, centre, use_residuals=use_residuals)
    dimension = centre.size
    noise = prober.noise()

    def threshold() -> float:
        if options.threshold is not None:
            return max(options.threshold, 3.0 * noise)
        share = options.rise * abs(prober.loss)
        if use_residuals and prober.residual_count > dimension:
            share = prober.loss / (prober.residual_count - dimension)
        floor = np.finfo(float).tiny ** 0.5
        return max(share, 3.0 * noise, 1e-3 * prober.largest_rise, floor)

    steps = np.full(dimension, _PROBE_STEP)
    axes, steps = prober.curvatures(np.eye(dimension), steps, threshold, noise)
    undetermined = np.isnan(axes)
    axes = np.where(undetermined, 0.0, np.maximum(axes, 0.0))
    if use_residuals:
        jacobian = prober.jacobian(steps)
        hessian = jacobian.T @ jacobian
    else:
        hessian = prober.hessian(axes, steps, noise)
    eigenvalues, eigenvectors = np.linalg.eigh(hessian)
    if not use_residuals and dimension > 1:
        eigenvalues = prober.refine(eigenvalues, eigenvectors, threshold, noise)
    eigenvalues = np.maximum(eigenvalues, 0.0)
    order = np.argsort(eigenvalues)
    eigenvalues, eigenvectors = eigenvalues[order], eigenvectors[:, order]
    hessian = (eigenvectors * eigenvalues) @ eigenvectors.T
    precision = 1.0 / _PRIOR_VARIANCE + eigenvalues / (2.0 * threshold())
    widths = np.sqrt(np.sum(eigenvectors**2 / precision, axis=1))
    held = 1.0 / _PRIOR_VARIANCE + np.diag(hessian) / (2.0 * threshold())
    return IdentifiabilityReport(
        names=ledger.problem.space.names,
        hessian=hessian,
        eigenvalues=eigenvalues,
        eigenvectors=eigenvectors,
        widths=widths,
        conditional_widths=1.0 / np.sqrt(held),
        verdicts=tuple(_verdict(w, u) for w, u in zip(widths, undetermined, strict=True)),
        threshold=threshold(),
        noise=noise,
        evaluations=prober.evaluations,
        lower_loss=max(0.0, prober.loss - prober.lowest),
    )


def _verdict(width: float, is_undetermined: bool) -> Verdict:
    if is_undetermined:
        return "undetermined"
    share = width / _PRIOR_VARIANCE**0.5
    if share < _IDENTIFIED:
        return "identified"
    return "not informed" if share > _NOT_INFORMED else "weak"
