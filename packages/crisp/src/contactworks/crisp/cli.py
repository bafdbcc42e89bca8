"""The command ``contactworks-crisp``: what it takes. What it does stands in ``commands``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from contactworks.common.command import run_command

__all__ = ["main"]

_PROGRAM = "contactworks-crisp"


@dataclass(frozen=True, slots=True, kw_only=True)
class Common:
    """Options that every command has."""

    seed: int = 0
    """Seed of all that is random in the command."""
    json: Path | None = None
    """Write the figures to this file."""
    plot: Path | None = None
    """Write a picture to this file (.png, .pdf, .svg)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CubeToss(Common):
    """Calibrate on ten tosses of a cube, predict a hundred others, beside MuJoCo."""

    data: Path | None = None
    """Recorded tosses: an .npz or .csv file, a folder of .csv files, or a clone of ContactNets.
    Without it, tosses are made, with hidden parameters and sensor noise."""
    half_width: float | None = None
    """Half the edge of the cube [m] where the data do not say; 0.0524 if not given."""
    mass: float | None = None
    """Mass of the cube [kg] where the data do not say; 0.37 if not given."""
    evaluations: int = 240
    """Candidates of each calibration, at least 12."""
    tosses: int = 100
    """Tosses to predict at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SceneOptions(Common):
    """Options of the built-in scenes."""

    duration: float = 2.0
    """Simulated time [s]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TopHeavyStack(SceneOptions):
    """Three cubes, the heaviest dropped on the other two."""

    ratio: float = 10.0
    """Mass of the top cube [kg]; the bottom one has its inverse."""
    timestep: float = 0.001
    """[s]"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObliqueSlide(SceneOptions):
    """A cube dropped on a slope of 30 degrees."""

    friction_angle: float = 25.0
    """The friction coefficient is its tangent [degrees]."""
    timestep: float = 0.01
    """[s]"""


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchedCube(SceneOptions):
    """A cube launched along the floor."""

    speed: float = 6.0
    """Launch speed [m/s]."""
    friction: float = 0.5
    """Coulomb coefficient."""
    timestep: float = 0.002
    """[s]"""


@dataclass(frozen=True, slots=True, kw_only=True)
class BouncingSphere(SceneOptions):
    """A sphere dropped with restitution."""

    restitution: float = 0.8
    """0 to 1."""
    height: float = 0.5
    """Drop height [m]."""
    timestep: float = 0.002
    """[s]"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PinchedCapsule(SceneOptions):
    """A capsule held between two boxes by friction alone."""

    force: float = 20.0
    """Force on each box [N]."""
    friction: float = 0.7
    """Coulomb coefficient."""
    timestep: float = 0.002
    """[s]"""


@dataclass(frozen=True, slots=True, kw_only=True)
class BinOfBoxes(SceneOptions):
    """Boxes dropped into a bin."""

    count: int = 50
    """Number of boxes."""
    timestep: float = 0.002
    """[s]"""


@dataclass(frozen=True, slots=True)
class Run:
    """Run a scene or a job."""

    scene: (
        Annotated[CubeToss, tyro.conf.subcommand("cube-toss")]
        | Annotated[TopHeavyStack, tyro.conf.subcommand("top-heavy-stack")]
        | Annotated[ObliqueSlide, tyro.conf.subcommand("oblique-slide")]
        | Annotated[LaunchedCube, tyro.conf.subcommand("launched-cube")]
        | Annotated[BouncingSphere, tyro.conf.subcommand("bouncing-sphere")]
        | Annotated[PinchedCapsule, tyro.conf.subcommand("pinched-capsule")]
        | Annotated[BinOfBoxes, tyro.conf.subcommand("bin-of-boxes")]
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Verify:
    """Run cases with exact answers; print measured beside exact values."""

    cases: tyro.conf.Positional[tuple[str, ...]] = ()
    """Cases to run, such as stack-100; all of them if none is given."""
    seed: int = 0
    """Recorded; the cases fix what is random in them."""
    json: Path | None = None
    """Write the table to this file."""


@dataclass(frozen=True, slots=True)
class WarmUp:
    """Compile all kernels, so that later runs start at once."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status.

    Status 0: success; 1: a case of ``verify`` failed; 2: wrong input, with one line on stderr; 130:
    interrupted.
    """
    return run_command(
        _PROGRAM,
        "Contact-rich rigid-body simulation with the exact contact law.",
        {"run": (Run, _run), "verify": (Verify, _verify), "warmup": (WarmUp, _warm_up)},
        arguments,
        markers=(tyro.conf.OmitSubcommandPrefixes, tyro.conf.OmitArgPrefixes),
    )


# The work is imported after parsing: --help must not wait for NumPy and Numba.


def _run(command: Run) -> int:
    from . import commands

    if isinstance(command.scene, CubeToss):
        return commands.cube_toss(command.scene)
    return commands.run_scene(command.scene)


def _verify(command: Verify) -> int:
    from . import commands

    return commands.verify(command)


def _warm_up(command: WarmUp) -> int:
    from . import commands

    return commands.warm_up()


if __name__ == "__main__":
    raise SystemExit(main())
