"""Building a model: bodies, geoms, masses, checked and turned into flat arrays."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from jaxtyping import Float

from contactworks.common.errors import ModelError, ShapeError
from contactworks.common.geometry.shapes import Box, Capsule, Cylinder, Plane, Sphere
from contactworks.common.inertia import MassProperties
from contactworks.common.poses import Pose

from ._kernels.layout import BODY, BOX, CAPSULE, CYLINDER, GEOM, KIND_NAMES, PLANE, SPHERE
from .collision.table import is_supported
from .model import MAXIMUM_FRICTION, Model
from .options import Options

__all__ = ["BodyBuilder", "ModelBuilder"]

Shape = Plane | Sphere | Capsule | Box | Cylinder
Vector = Sequence[float] | Float[np.ndarray, " n"]

_IDENTITY = (1.0, 0.0, 0.0, 0.0)
_QUATERNION_TOLERANCE = 1e-6


@dataclass(frozen=True, slots=True)
class _Geom:
    name: str
    shape: Shape
    position: np.ndarray
    quaternion: np.ndarray
    friction: float
    stiffness: float
    restitution: float
    density: float


@dataclass(slots=True, eq=False)
class BodyBuilder:
    """A body that is being described. Made by ``ModelBuilder``; add its geoms with ``add_geom``."""

    name: str
    position: np.ndarray
    quaternion: np.ndarray
    mass: float | None = None
    inertia: np.ndarray | None = None
    center_of_mass: np.ndarray | None = None
    is_world: bool = False
    _geoms: list[_Geom] = field(default_factory=list)
    _names: set[str] = field(default_factory=set)  # shared over the model

    def add_geom(
        self,
        shape: Shape,
        *,
        name: str | None = None,
        position: Vector = (0.0, 0.0, 0.0),
        quaternion: Vector = _IDENTITY,
        friction: float = 0.8,
        stiffness: float = math.inf,
        restitution: float = 0.0,
        density: float = 1000.0,
    ) -> str:
        """Add a shape to the body and return the geom's name.

        Args:
            shape: ``Plane``, ``Sphere``, ``Capsule``, ``Box`` or ``Cylinder``. Planes belong to the
                world.
            name: unique name; made from the body's if not given.
            position: origin of the shape [m] in the body frame, (3,).
            quaternion: orientation wxyz in the body frame, (4,).
            friction: Coulomb coefficient, 0 to 1e4; ``Options.friction_rule`` mixes a pair's.
            stiffness: contact stiffness [N/m]; two geoms are springs in series, shared over the
                points of their manifold. ``inf`` is rigid.
            restitution: 0 to 1; a pair takes the larger one. A drop from h rebounds to e^2 h.
            density: [kg/m^3], used where the body's mass or inertia is not given.

        Raises:
            ModelError: a value is out of range, a name is taken, the shape is not supported.
            ShapeError: a vector has the wrong length.
        """
        where = f"geom {name or '(unnamed)'} of body {self.name!r}"
        if not isinstance(shape, Shape):
            raise ModelError(
                f"{where}: got a {type(shape).__name__}, expected one of Plane, Sphere, Capsule, "
                "Box, Cylinder"
            )
        if isinstance(shape, Plane) and not self.is_world:
            raise ModelError(f"{where}: a plane is infinite and can only belong to the world")
        if name is None:
            kind = KIND_NAMES[_kind(shape)]
            number = 0
            while f"{self.name}/{kind}{number}" in self._names:
                number += 1
            name = f"{self.name}/{kind}{number}"
        if name in self._names:
            raise ModelError(f"{where}: a geom of this name exists already")
        geom = _Geom(
            name=name,
            shape=shape,
            position=_vector(position, 3, f"{where}, position"),
            quaternion=_quaternion(quaternion, f"{where}, quaternion"),
            friction=_number(friction, f"{where}, friction", 0.0, MAXIMUM_FRICTION),
            stiffness=_number(stiffness, f"{where}, stiffness", 0.0, None),
            restitution=_number(restitution, f"{where}, restitution", 0.0, 1.0),
            density=_number(density, f"{where}, density", 0.0, math.inf),
        )
        if geom.stiffness == 0.0:
            raise ModelError(f"{where}, stiffness: got 0, expected a positive number of N/m or inf")
        self._names.add(name)
        self._geoms.append(geom)
        return name

    def mass_properties(self) -> MassProperties:
        """Return the body's mass properties in its own frame, from its arguments and geoms.

        Raises:
            ModelError: there is nothing to take the mass from.
        """
        if self.mass is not None and self.inertia is not None:
            center = np.zeros(3) if self.center_of_mass is None else self.center_of_mass
            return MassProperties(self.mass, center, self.inertia)
        if self.inertia is not None:
            raise ModelError(f"body {self.name!r}: inertia without mass; give both or neither")
        total: MassProperties | None = None
        for geom in self._geoms:
            if geom.density == 0.0 or isinstance(geom.shape, Plane):
                continue
            own = geom.shape.mass_properties(geom.density).transformed(
                Pose(geom.position, geom.quaternion)
            )
            total = own if total is None else total + own
        if total is None:
            raise ModelError(
                f"body {self.name!r}: no mass; give mass and inertia, or geoms with a density"
            )
        if self.mass is not None:
            total = total.with_mass(self.mass)
        if self.center_of_mass is not None:
            total = MassProperties(total.mass, self.center_of_mass, total.inertia)
        return total


class ModelBuilder:
    """Describes a scene and builds its model.

    Example:
        >>> from contactworks import crisp
        >>> builder = crisp.ModelBuilder(crisp.Options(timestep=0.002))
        >>> _ = builder.world.add_geom(crisp.Plane())
        >>> ball = builder.add_body("ball", position=(0, 0, 1), mass=1.0)
        >>> _ = ball.add_geom(crisp.Sphere(0.05))
        >>> builder.build().nq
        7
    """

    def __init__(self, options: Options | None = None) -> None:
        self.options = options or Options()
        self._geom_names: set[str] = set()
        #: The fixed root body; its geoms never move.
        self.world = BodyBuilder(
            "world", np.zeros(3), np.array(_IDENTITY), is_world=True, _names=self._geom_names
        )
        self._bodies = [self.world]
        self._excluded: set[tuple[str, str]] = set()

    def add_body(
        self,
        name: str,
        *,
        position: Vector = (0.0, 0.0, 0.0),
        quaternion: Vector = _IDENTITY,
        mass: float | None = None,
        inertia: npt.ArrayLike | None = None,
        center_of_mass: Vector | None = None,
    ) -> BodyBuilder:
        """Add a free body and return it.

        Args:
            name: unique name.
            position: origin of the body [m] in the world frame, (3,).
            quaternion: orientation wxyz, body to world, (4,), unit.
            mass: [kg], > 0; from the geoms' densities if not given.
            inertia: about the centre of mass in body axes [kg m^2], (3,) or (3, 3); from the geoms,
                scaled to the mass, if not given.
            center_of_mass: [m] in the body frame, (3,); from the geoms, or the origin when the
                inertia is given.

        Raises:
            ModelError: a value is out of range or the name is taken.
            ShapeError: a vector has the wrong length.
        """
        where = f"body {name!r}"
        if not isinstance(name, str) or not name:
            raise ModelError(f"{where}: expected a name, a string that is not empty")
        if any(body.name == name for body in self._bodies):
            raise ModelError(f"{where}: a body of this name exists already")
        if mass is not None:
            mass = _number(mass, f"{where}, mass", 0.0, math.inf)
            if mass == 0.0:
                raise ModelError(f"{where}, mass: got 0, expected a positive number of kg")
        tensor: np.ndarray | None = None
        if inertia is not None:
            tensor = _inertia(inertia, where)
        body = BodyBuilder(
            name,
            _vector(position, 3, f"{where}, position"),
            _quaternion(quaternion, f"{where}, quaternion"),
            mass,
            tensor,
            None
            if center_of_mass is None
            else _vector(center_of_mass, 3, f"{where}, center_of_mass"),
            _names=self._geom_names,
        )
        self._bodies.append(body)
        return body

    def exclude(self, body_a: str, body_b: str) -> None:
        """Let two bodies pass through each other.

        Raises:
            ModelError: no body has this name.
        """
        known = [body.name for body in self._bodies]
        for name in (body_a, body_b):
            if name not in known:
                raise ModelError(f"exclude: no body is named {name!r}; there are: {known}")
        self._excluded.add((body_a, body_b))

    def build(self) -> Model:
        """Return the model.

        Raises:
            ModelError: a body has no mass, or two geoms that may meet have no collision algorithm.
        """
        names = tuple(body.name for body in self._bodies)
        index = {name: i for i, name in enumerate(names)}
        excluded = {(min(index[a], index[b]), max(index[a], index[b])) for a, b in self._excluded}
        bodies = np.zeros(len(names), BODY)
        records: list[np.ndarray] = []
        geom_names: list[str] = []
        qpos: list[float] = []
        for i, body in enumerate(self._bodies):
            for geom in body._geoms:
                records.append(_geom_record(geom, i))
                geom_names.append(geom.name)
            if body.is_world:
                bodies[i]["qpos"] = bodies[i]["dof"] = -1
                continue
            _fill_body(bodies[i], body)
            bodies[i]["qpos"] = len(qpos)
            bodies[i]["dof"] = len(qpos) // 7 * 6
            qpos += [*body.position, *body.quaternion]
        geoms = np.concatenate(records) if records else np.zeros(0, GEOM)
        _check_pairs(geoms, geom_names, excluded)
        return Model(
            options=self.options,
            body_names=names,
            geom_names=tuple(geom_names),
            bodies=bodies,
            geoms=geoms,
            qpos0=np.array(qpos, dtype=float),
            qvel0=np.zeros(len(qpos) // 7 * 6),
            excluded=frozenset(excluded),
        )


def _kind(shape: Shape) -> int:
    if isinstance(shape, Plane):
        return PLANE
    if isinstance(shape, Sphere):
        return SPHERE
    if isinstance(shape, Capsule):
        return CAPSULE
    return BOX if isinstance(shape, Box) else CYLINDER


def _size(shape: Shape) -> tuple[tuple[float, float, float], float]:
    """Return the kernel's size triple and the bounding radius about the origin [m]."""
    if isinstance(shape, Plane):
        return (0.0, 0.0, 0.0), 0.0
    if isinstance(shape, Sphere):
        return (shape.radius, 0.0, 0.0), shape.radius
    if isinstance(shape, Capsule):
        return (shape.radius, shape.half_length, 0.0), shape.radius + shape.half_length
    if isinstance(shape, Box):
        x, y, z = (float(value) for value in shape.half_size)
        return (x, y, z), math.sqrt(x * x + y * y + z * z)
    return (shape.radius, shape.half_length, 0.0), math.hypot(shape.radius, shape.half_length)


def _geom_record(geom: _Geom, body: int) -> np.ndarray:
    record = np.zeros(1, GEOM)
    size, radius = _size(geom.shape)
    record["kind"] = _kind(geom.shape)
    record["body"] = body
    record["dimensions"] = size
    record["position"] = geom.position
    record["quaternion"] = geom.quaternion
    record["radius"] = radius
    record["friction"] = geom.friction
    record["stiffness"] = geom.stiffness
    record["restitution"] = geom.restitution
    return record


def _fill_body(record: np.void, body: BodyBuilder) -> None:
    properties = body.mass_properties()
    record["mass"] = properties.mass
    record["inverse_mass"] = 1.0 / properties.mass
    record["center"] = properties.center_of_mass
    record["inertia"] = properties.inertia
    record["inverse_inertia"] = np.linalg.inv(properties.inertia)
    reach = [
        float(np.linalg.norm(geom.position - properties.center_of_mass)) + _size(geom.shape)[1]
        for geom in body._geoms
    ]
    # Without geoms: the radius of gyration, so that angular errors still have a length.
    gyration = math.sqrt(float(np.trace(properties.inertia)) / (2.0 * properties.mass))
    record["radius"] = max(reach, default=gyration)


def _check_pairs(geoms: np.ndarray, names: Sequence[str], excluded: set[tuple[int, int]]) -> None:
    """Refuse two geoms that may meet but have no algorithm."""
    kinds = sorted({int(kind) for kind in geoms["kind"]})
    for a in kinds:
        for b in kinds:
            if a > b or is_supported(a, b):
                continue
            for i in map(int, np.flatnonzero(geoms["kind"] == a)):
                for j in map(int, np.flatnonzero(geoms["kind"] == b)):
                    one, two = int(geoms[i]["body"]), int(geoms[j]["body"])
                    if one == two or (min(one, two), max(one, two)) in excluded:
                        continue
                    if a == PLANE and b == PLANE:
                        continue
                    raise ModelError(
                        f"geoms {names[i]!r} ({KIND_NAMES[a]}) and {names[j]!r} ({KIND_NAMES[b]}) "
                        "may meet, but this pair has no collision algorithm; use other shapes or "
                        "exclude the two bodies"
                    )


def _vector(value: Vector, length: int, where: str) -> np.ndarray:
    try:
        array = np.array(value, dtype=float)
    except (TypeError, ValueError):
        raise ShapeError(f"{where}: got {value!r}, expected {length} numbers") from None
    if array.shape != (length,):
        raise ShapeError(f"{where}: got shape {array.shape}, expected ({length},)")
    if not np.all(np.isfinite(array)):
        raise ModelError(f"{where}: got {array.tolist()}, expected finite numbers")
    return array


def _inertia(value: npt.ArrayLike, where: str) -> np.ndarray:
    """Return an inertia (3, 3) that some body can have, and that can be inverted."""
    try:
        MassProperties(1.0, (0.0, 0.0, 0.0), np.asarray(value, dtype=float))
    except (TypeError, ValueError) as error:  # a ModelError is a ValueError
        kind = ShapeError if isinstance(error, ShapeError) else ModelError
        raise kind(f"{where}, {error}") from error
    tensor = np.array(value, dtype=float)
    tensor = np.diag(tensor) if tensor.shape == (3,) else 0.5 * (tensor + tensor.T)
    if not np.linalg.eigvalsh(tensor)[0] > 0.0:
        raise ModelError(f"{where}, inertia: got {tensor.tolist()}, not positive definite")
    return tensor


def _quaternion(value: Vector, where: str) -> np.ndarray:
    array = _vector(value, 4, where)
    norm = float(np.linalg.norm(array))
    if abs(norm - 1.0) > _QUATERNION_TOLERANCE:
        raise ModelError(f"{where}: got norm {norm:.6g}, expected a unit quaternion wxyz")
    unit: np.ndarray = array / norm
    return unit


def _number(value: float, where: str, lower: float, upper: float | None) -> float:
    """Return a float in [lower, upper]; infinite only where ``upper`` is None."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ModelError(f"{where}: got {value!r}, expected a number") from None
    limit = math.inf if upper is None else upper
    if not lower <= number <= limit or (upper is not None and math.isinf(number)):
        text = f"at least {lower:g}" if math.isinf(limit) else f"{lower:g} to {limit:g}"
        raise ModelError(f"{where}: got {value!r}, expected a number {text}")
    return number
