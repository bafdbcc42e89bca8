"""The model: what does not change while a scene is simulated, as flat arrays."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from jaxtyping import Float

from contactworks.common.errors import ModelError

from ._kernels.layout import as_records
from .options import Options

__all__ = ["MAXIMUM_FRICTION", "Model"]

#: Beyond it a contact never slips anyway, and the cone is too flat for 64-bit numbers.
MAXIMUM_FRICTION = 1e4


@dataclass(frozen=True, eq=False)
class Model:
    """Bodies, geoms and options of a scene. Made by ``ModelBuilder.build``.

    Row 0 of every body array is the world, the fixed root body.

    Attributes:
        options: time step, solver and contact handling.
        body_names: names, in the order of adding; the first is ``"world"``.
        geom_names: names, in the order of adding.
        bodies: (body_count,) records of mass, centre of mass and inertia.
        geoms: (geom_count,) records of kind, size, placement and contact parameters.
        qpos0: (nq,) start pose: per free body position [m] and quaternion wxyz.
        qvel0: (nv,) start velocity, zero.
        excluded: pairs of body indices that never touch.
    """

    options: Options
    body_names: tuple[str, ...]
    geom_names: tuple[str, ...]
    bodies: np.ndarray
    geoms: np.ndarray
    qpos0: Float[np.ndarray, " nq"]
    qvel0: Float[np.ndarray, " nv"]
    excluded: frozenset[tuple[int, int]]
    settings: np.ndarray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "bodies", as_records(self.bodies))
        object.__setattr__(self, "geoms", as_records(self.geoms))
        object.__setattr__(self, "settings", as_records(self.options.to_settings()))
        for array in (self.bodies, self.geoms, self.qpos0, self.qvel0, self.settings):
            array.flags.writeable = False

    @property
    def body_count(self) -> int:
        """Number of bodies, the world included."""
        return len(self.body_names)

    @property
    def geom_count(self) -> int:
        """Number of geoms."""
        return len(self.geom_names)

    @property
    def nq(self) -> int:
        """Number of position coordinates."""
        return len(self.qpos0)

    @property
    def nv(self) -> int:
        """Number of velocity coordinates."""
        return len(self.qvel0)

    @property
    def body_mass(self) -> Float[np.ndarray, " body_count"]:
        """Masses [kg]; the world's is 0."""
        return np.array(self.bodies["mass"])

    def body_id(self, name: str) -> int:
        """Return the index of a body.

        Raises:
            ModelError: no body has this name.
        """
        return _index(name, self.body_names, "body")

    def geom_id(self, name: str) -> int:
        """Return the index of a geom.

        Raises:
            ModelError: no geom has this name.
        """
        return _index(name, self.geom_names, "geom")

    def qpos_slice(self, body: str) -> slice:
        """Return where a free body's position and quaternion stand in ``qpos``."""
        start = self._moving(body)["qpos"]
        return slice(int(start), int(start) + 7)

    def qvel_slice(self, body: str) -> slice:
        """Return where a free body's velocities stand in ``qvel``."""
        start = self._moving(body)["dof"]
        return slice(int(start), int(start) + 6)

    def with_options(self, **changes: object) -> Model:
        """Return a model that differs in the given fields of its options."""
        return replace(
            self,
            options=replace(self.options, **changes),  # type: ignore[arg-type]
            bodies=self.bodies.copy(),
            geoms=self.geoms.copy(),
        )

    def with_geoms(self, geoms: np.ndarray) -> Model:
        """Return a model with other friction, stiffness and restitution of its geoms.

        Args:
            geoms: a changed copy of ``geoms``.

        Raises:
            ModelError: another field was changed, or a value is out of range.
        """
        if geoms.shape != self.geoms.shape or geoms.dtype != self.geoms.dtype:
            raise ModelError(
                f"Model.with_geoms: got {geoms.shape} {geoms.dtype}, expected {self.geoms.shape}"
            )
        for name in ("kind", "body", "dimensions", "position", "quaternion", "radius"):
            if not np.array_equal(geoms[name], self.geoms[name]):
                raise ModelError(f"Model.with_geoms: {name!r} was changed; build another model")
        friction, restitution = geoms["friction"], geoms["restitution"]
        allowed = {
            f"friction 0 to {MAXIMUM_FRICTION:g}": (friction >= 0.0)
            & (friction <= MAXIMUM_FRICTION),
            "stiffness above 0": geoms["stiffness"] > 0.0,
            "restitution 0 to 1": (restitution >= 0.0) & (restitution <= 1.0),
        }
        for expected, good in allowed.items():
            if not np.all(good):
                first = self.geom_names[int(np.flatnonzero(~good)[0])]
                raise ModelError(f"Model.with_geoms: geom {first!r}: expected {expected}")
        return replace(self, geoms=geoms.copy(), bodies=self.bodies.copy())

    def _moving(self, body: str) -> np.void:
        record: np.void = self.bodies[self.body_id(body)]
        if record["qpos"] < 0:
            raise ModelError(f"body {body!r} is fixed and has no coordinates")
        return record


def _index(name: str, names: tuple[str, ...], what: str) -> int:
    try:
        return names.index(name)
    except ValueError:
        known = ", ".join(names[:20]) + (", ..." if len(names) > 20 else "")
        raise ModelError(f"no {what} is named {name!r}; there are: {known}") from None
