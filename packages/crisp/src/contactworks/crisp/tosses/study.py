"""The job: calibrate on some tosses, predict others, and compare with MuJoCo on the same ones."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

from contactworks.common.calibration import CalibrationProblem, CalibrationResult, CmaEs
from contactworks.common.errors import ModelError
from contactworks.common.metrics import PairedComparison
from contactworks.common.progress import NullProgress, Progress

from .crisp_predictor import CrispPredictor
from .data import TossSet
from .metric import Errors, ErrorSummary, Prediction, compare, measure
from .mujoco_predictor import MUJOCO_DEFAULTS, MujocoPredictor
from .predictor import Predictor
from .start_velocity import correct_start, velocity_lag
from .window import Window, window

__all__ = ["Outcome", "Study", "StudyOptions", "calibrate", "loss", "run_study", "split"]

#: What one degree costs, in % of the width.  Turning a cube by one degree moves its corners by
#: 1.2 % of the width on average; half of that makes both errors count alike on real tosses.
ROTATION_WEIGHT = 0.6

#: A calibration predicts from several frames of each toss, and not as far as the job itself: over
#: 60 frames a small change of a parameter can send a tumbling cube to another face, so that the
#: loss is rough and few tosses leave it poorly determined.
CALIBRATION_STARTS = (2, 8, 14, 20)
CALIBRATION_FRAMES = 30

_SIGMA = 0.2  # first CMA-ES generation: the start values are physical guesses


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyOptions:
    """How the job is done.

    Attributes:
        seed: shuffles the tosses and seeds calibration and bootstrap.
        evaluations: candidates per calibration, each on all calibration tosses; the same for
            every engine.
        calibration_tosses: the first tosses after shuffling.
        predicted_tosses: how many of the next ones are predicted at most.
        steps_per_frame: time steps of every engine between two frames.

    Raises:
        ModelError: a value is out of range.
    """

    seed: int = 0
    evaluations: int = 240
    calibration_tosses: int = 10
    predicted_tosses: int = 100
    steps_per_frame: int = 7

    def __post_init__(self) -> None:
        least = {
            "seed": 0,
            "evaluations": 12,  # one generation of every calibration
            "calibration_tosses": 1,
            "predicted_tosses": 2,
            "steps_per_frame": 1,
        }
        for name, smallest in least.items():
            if getattr(self, name) < smallest:
                raise ModelError(f"{name}: got {getattr(self, name)}, expected at least {smallest}")


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """What one engine with one set of parameters reached.

    Attributes:
        label: for tables and plots.
        values: the parameters.
        calibration: how they were found; None for defaults.
        prediction: of the predicted tosses.
        errors: of each toss and frame.
        summary: mean errors with intervals.
        seconds: wall time of calibration and prediction.
    """

    label: str
    values: Mapping[str, float]
    calibration: CalibrationResult | None
    prediction: Prediction
    errors: Errors
    summary: ErrorSummary
    seconds: float


@dataclass(frozen=True, slots=True, eq=False)
class Study:
    """The result of the job.

    Attributes:
        options: how it was done.
        source: where the tosses come from.
        lag: measured lag of the recorded velocities [s].
        calibrated: ids of the tosses that were calibrated on.
        predicted: ids of the predicted tosses.
        window: start states and observed motion of the predicted tosses.
        outcomes: by key: ``"crisp"`` (with the centre of mass), ``"crisp_basic"`` (without),
            ``"mujoco"`` (calibrated, without), ``"mujoco_mass_center"`` (with),
            ``"mujoco_defaults"``.
        comparisons: of ``"crisp"`` against each MuJoCo outcome, and of ``"crisp_basic"`` against
            ``"mujoco"``, by ``"ours/theirs"`` and error.
    """

    options: StudyOptions
    source: str
    lag: float
    calibrated: tuple[str, ...]
    predicted: tuple[str, ...]
    window: Window
    outcomes: Mapping[str, Outcome]
    comparisons: Mapping[str, Mapping[str, PairedComparison]]


def split(count: int, options: StudyOptions) -> tuple[Int[np.ndarray, " c"], Int[np.ndarray, " p"]]:
    """Return the shuffled indices of the calibration tosses and of those to predict.

    Raises:
        ModelError: fewer than two tosses would be left to predict.
    """
    least = options.calibration_tosses + 2
    if count < least:
        raise ModelError(
            f"tosses: got {count}, expected at least {least} ({options.calibration_tosses} to "
            "calibrate, two or more to predict)"
        )
    order = np.random.default_rng(options.seed).permutation(count)
    end = options.calibration_tosses + options.predicted_tosses
    return order[: options.calibration_tosses], order[options.calibration_tosses : end]


def loss(errors: Errors) -> float:
    """Return what a calibration minimizes, for every engine: both mean errors in one number."""
    return errors.mean_position_percent + ROTATION_WEIGHT * errors.mean_rotation_deg


def calibrate(
    predictor: Predictor,
    known: Window,
    *,
    evaluations: int,
    seed: int,
    progress: Progress | None = None,
) -> CalibrationResult:
    """Return the parameters with which ``predictor`` explains the tosses in ``known`` best.

    Raises:
        CalibrationError: every candidate of the first generation failed.
    """
    problem = CalibrationProblem(
        predictor.space,
        loss=lambda values: loss(measure(known, predictor.predict(known, values))),
    )
    method = CmaEs(evaluations=evaluations, sigma=_SIGMA)
    return method.run(problem, rng=seed, progress=progress, identifiability=False)


def run_study(
    tosses: TossSet,
    options: StudyOptions | None = None,
    *,
    progress: Callable[[str], Progress] | None = None,
) -> Study:
    """Return the errors of crisp and MuJoCo, each calibrated on the same tosses.

    Args:
        tosses: all tosses.
        options: how it is done.
        progress: makes the progress display of a calibration from its label.

    Raises:
        ModelError: too few tosses.
        CalibrationError: a calibration found nothing that can be simulated.
        MissingDependencyError: MuJoCo is not installed.
    """
    options = StudyOptions() if options is None else options
    known_indices, new_indices = split(len(tosses), options)
    known_tosses, new_tosses = tosses.take(known_indices), tosses.take(new_indices)
    lag = velocity_lag(known_tosses)
    known = correct_start(
        window(known_tosses, starts=CALIBRATION_STARTS, frames=CALIBRATION_FRAMES), lag
    )
    new = correct_start(window(new_tosses), lag)

    outcomes: dict[str, Outcome] = {}
    for key, label, predictor, values in _contestants(options):
        shown = NullProgress() if progress is None else progress(label)
        outcomes[key] = _contest(label, predictor, values, known, new, options, shown)
    comparisons = {
        f"{ours}/{theirs}": compare(
            outcomes[ours].errors, outcomes[theirs].errors, rng=options.seed
        )
        for ours, theirs in _COMPARED
    }
    return Study(
        options=options,
        source=tosses.source,
        lag=lag,
        calibrated=tuple(toss.id for toss in known_tosses.tosses),
        predicted=tuple(toss.id for toss in new_tosses.tosses),
        window=new,
        outcomes=outcomes,
        comparisons=comparisons,
    )


_COMPARED = (
    ("crisp", "mujoco"),
    ("crisp", "mujoco_mass_center"),
    ("crisp", "mujoco_defaults"),
    ("crisp_basic", "mujoco"),
)


def _contestants(
    options: StudyOptions,
) -> list[tuple[str, str, Predictor, Mapping[str, float] | None]]:
    """Return key, label, engine and, where nothing is calibrated, the values."""
    steps = options.steps_per_frame
    plain = MujocoPredictor(steps_per_frame=steps)
    found = MujocoPredictor(has_mass_center=True, steps_per_frame=steps)
    default = MujocoPredictor(cone="pyramidal", steps_per_frame=steps)
    return [
        ("mujoco_defaults", "MuJoCo, defaults", default, MUJOCO_DEFAULTS),
        ("mujoco", "MuJoCo, calibrated", plain, None),
        ("crisp_basic", "crisp, calibrated", CrispPredictor(False, steps), None),
        ("mujoco_mass_center", "MuJoCo, with centre of mass", found, None),
        ("crisp", "crisp, with centre of mass", CrispPredictor(True, steps), None),
    ]


def _contest(
    label: str,
    predictor: Predictor,
    values: Mapping[str, float] | None,
    known: Window,
    new: Window,
    options: StudyOptions,
    progress: Progress,
) -> Outcome:
    begin = time.perf_counter()
    result: CalibrationResult | None = None
    if values is None:
        result = calibrate(
            predictor,
            known,
            evaluations=options.evaluations,
            seed=options.seed,
            progress=progress,
        )
        values = result.values
    prediction = predictor.predict(new, values)
    errors = measure(new, prediction)
    return Outcome(
        label=label,
        values=dict(values),
        calibration=result,
        prediction=prediction,
        errors=errors,
        summary=errors.summary(rng=options.seed),
        seconds=time.perf_counter() - begin,
    )
