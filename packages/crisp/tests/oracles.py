"""Slow, obvious versions of what crisp computes, against which the tests compare.

Nothing here calls a kernel. Shapes are those of ``contactworks.common.geometry``, placed by a
``Pose``; the contact law is written out with NumPy in the world frame.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import lsq_linear, minimize

from contactworks.common.geometry.shapes import Box, Capsule, Cylinder, Plane, Sphere
from contactworks.common.poses import Pose
from contactworks.common.rotations import rotate_inverse

DEAD_BAND = 1e-9  # m, as the solver notes define it


@dataclass(frozen=True)
class Placed:
    """A shape somewhere in the world."""

    shape: Plane | Sphere | Capsule | Box | Cylinder
    pose: Pose

    def moved(self, shift) -> Placed:
        return Placed(self.shape, Pose(self.pose.position + shift, self.pose.quaternion))

    def placed(self, outer: Pose) -> Placed:
        return Placed(self.shape, outer @ self.pose)

    def support(self, direction):
        """Return the farthest points (n, 3) in world directions (n, 3)."""
        local = rotate_inverse(self.pose.quaternion, direction)
        return self.pose.apply(self.shape.support(local))

    def signed_distance(self, points):
        """Return the exact signed distances (n,) of world points (n, 3)."""
        local = rotate_inverse(self.pose.quaternion, points - self.pose.position)
        return self.shape.signed_distance(local)[0]


# Geometry


def core(placed: Placed) -> tuple[np.ndarray, np.ndarray, float]:
    """Return (centre, half axes as columns (3, n), radius): the shape is the core, rounded."""
    axes = placed.pose.rotation_matrix
    shape = placed.shape
    if isinstance(shape, Sphere):
        return placed.pose.position, np.zeros((3, 0)), shape.radius
    if isinstance(shape, Capsule):
        return placed.pose.position, axes[:, 2:] * shape.half_length, shape.radius
    assert isinstance(shape, Box)
    return placed.pose.position, axes * shape.half_size, 0.0


def core_distance(a: Placed, b: Placed) -> float:
    """Return the distance of the cores by a bounded least-squares problem."""
    center_a, half_a, _ = core(a)
    center_b, half_b, _ = core(b)
    columns = np.hstack([half_a, -half_b])
    offset = center_b - center_a
    if columns.shape[1] == 0:
        return float(np.linalg.norm(offset))
    found = lsq_linear(columns, offset, (-1.0, 1.0), method="bvls", tol=1e-15)
    return float(np.linalg.norm(found.fun))


def gap(a: Placed, b: Placed) -> float:
    """Return the exact gap of rounded shapes with cores that do not meet, or of one and a plane."""
    if isinstance(a.shape, Plane):
        normal = a.pose.rotation_matrix[:, 2]
        return float((b.support(-normal[None])[0] - a.pose.position) @ normal)
    return core_distance(a, b) - core(a)[2] - core(b)[2]


def separation(a: Placed, b: Placed, directions: np.ndarray) -> np.ndarray:
    """Return how far the shapes are apart along unit directions (n, 3) from a to b (n,)."""
    return np.einsum("ij,ij->i", b.support(-directions) - a.support(directions), directions)


def fibonacci_sphere(count: int) -> np.ndarray:
    """Return nearly even directions (count, 3)."""
    k = np.arange(count) + 0.5
    z = 1.0 - 2.0 * k / count
    turn = math.pi * (1.0 + math.sqrt(5.0)) * k
    rho = np.sqrt(1.0 - z * z)
    return np.column_stack([rho * np.cos(turn), rho * np.sin(turn), z])


def best_separation(a: Placed, b: Placed, count: int = 2000) -> float:
    """Return the largest separation over all directions: minus the depth where shapes overlap.

    A dense search, then a simplex search from the best few. Every value found is a separation that
    exists, so the result is a lower bound that the search brings close to the truth.
    """
    directions = fibonacci_sphere(count)
    values = separation(a, b, directions)
    best = float(values.max())

    def negative(angles):
        s, c = np.sin(angles), np.cos(angles)
        direction = np.array([[c[0] * c[1], s[0] * c[1], s[1]]])
        return -float(separation(a, b, direction)[0])

    for start in directions[np.argsort(values)[-6:]]:
        angles = np.array([math.atan2(start[1], start[0]), math.asin(start[2])])
        found = minimize(
            negative, angles, method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-13}
        )
        best = max(best, -float(found.fun))
    return best


def surface_points(placed: Placed, rng: np.random.Generator, count: int = 400) -> np.ndarray:
    """Return points all over a shape's surface in the world, corners and rims among them."""
    shape = placed.shape
    directions = rng.standard_normal((count, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    if isinstance(shape, Sphere):
        points = shape.radius * directions
    elif isinstance(shape, Capsule):
        along = rng.uniform(-shape.half_length, shape.half_length, count)
        ring = directions[:, :2] / np.linalg.norm(directions[:, :2], axis=1, keepdims=True)
        points = np.concatenate(
            [
                shape.support(directions),
                np.column_stack([shape.radius * ring, along]),
            ]
        )
    else:
        assert isinstance(shape, Box)
        inside = rng.uniform(-1.0, 1.0, (count, 3))
        faces = inside.copy()
        faces[np.arange(count), rng.integers(3, size=count)] = rng.choice([-1.0, 1.0], count)
        edges = np.sign(inside)
        edges[np.arange(count), rng.integers(3, size=count)] = rng.uniform(-1.0, 1.0, count)
        corners = np.array(list(itertools.product((-1.0, 1.0), repeat=3)))
        points = np.concatenate([faces, edges, corners]) * shape.half_size
    return placed.pose.apply(points)


# Contact law


def project_cone(x: np.ndarray, friction: float) -> np.ndarray:
    """Return the point of the cone |l_t| <= mu l_n nearest to x, by its two-dimensional section."""
    radial = float(np.linalg.norm(x[1:]))
    # In the half plane (normal, |tangential|) the cone is the wedge below the ray (1, mu).
    if radial <= friction * x[0]:
        return x.copy()
    ray = np.array([1.0, friction]) / math.hypot(1.0, friction)
    along = max(0.0, float(ray @ [x[0], radial]))
    direction = x[1:] / radial if radial > 0.0 else np.zeros(2)
    return np.concatenate([[along * ray[0]], along * ray[1] * direction])


def de_saxce_iteration(w: np.ndarray, q: np.ndarray, friction: float) -> np.ndarray:
    """Return the impulse of one contact: l = P_K(l - r (u + mu |u_t| n)), until it stays."""
    step = 0.3 / np.linalg.norm(w, 2)
    impulse = np.zeros(3)
    for _ in range(20_000):
        velocity = q + w @ impulse
        velocity[0] += friction * float(np.linalg.norm(velocity[1:]))
        after = project_cone(impulse - step * velocity, friction)
        done = float(np.abs(after - impulse).max()) < 1e-15
        impulse = after
        if done:
            break
    return impulse


def natural_residual(impulse, velocity, friction, effective_mass) -> float:
    """Return the natural residual [m/s]; ``velocity`` (3,) holds u_n + e + c l_n and u_t."""
    corrected = velocity.copy()
    corrected[0] += friction * float(np.linalg.norm(velocity[1:]))
    nearest = project_cone(impulse - effective_mass * corrected, friction)
    return float(np.linalg.norm(impulse - nearest)) / effective_mass


def law_violation(impulse, velocity, friction) -> float:
    """Return the largest violation of the law's separate conditions, scaled to the impulse."""
    normal, tangential = impulse[0], impulse[1:]
    slip = velocity[1:]
    bound = friction * normal
    size = float(np.linalg.norm(tangential))
    scale = max(1.0, float(np.linalg.norm(impulse)), float(np.linalg.norm(velocity)))
    worst = max(0.0, -normal, -velocity[0], abs(normal * velocity[0]), size - bound)
    # Slip means friction at its bound and against the slip; the work is -mu l_n |u_t|.
    worst = max(worst, abs(float(tangential @ slip) + bound * float(np.linalg.norm(slip))))
    return worst / scale**2


# One step of a simulation


@dataclass(frozen=True)
class Moment:
    """Masses, centres and velocities of all bodies at one time, world frame."""

    mass: np.ndarray  # (n,)
    inertia: np.ndarray  # (n, 3, 3), about the centre of mass
    center: np.ndarray  # (n, 3)
    velocity: np.ndarray  # (n, 6), of the centre of mass; angular part in the world frame


def moment(model, qpos, qvel) -> Moment:
    """Return the moment of a state, by the definitions of qpos and qvel."""
    n = model.body_count
    mass = np.array(model.bodies["mass"])
    inertia, center, velocity = np.zeros((n, 3, 3)), np.zeros((n, 3)), np.zeros((n, 6))
    for i in range(1, n):
        place, speed = qpos[7 * i - 7 : 7 * i], qvel[6 * i - 6 : 6 * i]
        pose = Pose(place[:3], place[3:])
        turn = pose.rotation_matrix
        inertia[i] = turn @ model.bodies["inertia"][i] @ turn.T
        center[i] = pose.apply(model.bodies["center"][i])
        spin = turn @ speed[3:]
        velocity[i, :3] = speed[:3] + np.cross(spin, center[i] - pose.position)
        velocity[i, 3:] = spin
    return Moment(mass, inertia, center, velocity)


def momentum(state: Moment) -> tuple[np.ndarray, np.ndarray]:
    """Return linear momentum and angular momentum about the world's origin."""
    linear = state.mass[:, None] * state.velocity[:, :3]
    spin = np.einsum("nij,nj->ni", state.inertia, state.velocity[:, 3:])
    return linear.sum(0), (np.cross(state.center, linear) + spin).sum(0)


def energy(model, state: Moment) -> float:
    """Return kinetic and potential energy [J]."""
    linear = 0.5 * float(np.sum(state.mass[:, None] * state.velocity[:, :3] ** 2))
    spin = state.velocity[:, 3:]
    turning = 0.5 * float(np.einsum("ni,nij,nj->", spin, state.inertia, spin))
    height = float(state.mass @ (state.center @ np.array(model.options.gravity)))
    return linear + turning - height


@dataclass(frozen=True)
class StepErrors:
    """What one step violates, recomputed from contacts and masses alone."""

    dual: float  # largest entry of M v+ - M v_free - J^T l
    natural: float  # largest natural residual
    cone: float  # largest |l_t| - mu l_n
    complementarity: float  # largest l_n (u_n + e)


def step_errors(model, before, after, contacts, wrench=None) -> StepErrors:
    """Recompute the step from the state before (qpos, qvel) to the one after, rigid contacts only.

    Args:
        model: the model; all geoms rigid and without restitution.
        before: (qpos, qvel) at the start of the step.
        after: (qpos, qvel) at its end.
        contacts: ``data.contacts`` of the step.
        wrench: external forces (n, 6) of the step.
    """
    options = model.options
    dt = options.timestep
    start = moment(model, *before)
    end = moment(model, *after)
    # The solver's velocities: the momentum at the end, with the inertia at the start.
    final = end.velocity.copy()
    for i in range(1, model.body_count):
        final[i, 3:] = np.linalg.solve(start.inertia[i], end.inertia[i] @ end.velocity[i, 3:])
    n = model.body_count
    wrench = np.zeros((n, 6)) if wrench is None else wrench
    bodies = model.geoms["body"][contacts.geom]

    # M v_free: gravity, wrench, and the angular momentum at the start.
    change = np.zeros((n, 6))
    for i in range(1, n):
        spin = start.velocity[i, 3:]
        push = options.timestep * (start.mass[i] * np.array(options.gravity) + wrench[i, :3])
        change[i, :3] = start.mass[i] * (final[i, :3] - start.velocity[i, :3]) - push
        carried = start.inertia[i] @ spin
        change[i, 3:] = start.inertia[i] @ final[i, 3:] - carried - dt * wrench[i, 3:]
    natural = cone = complementarity = 0.0
    for k in range(len(contacts)):
        a, b = bodies[k]
        point, normal, impulse = contacts.position[k], contacts.normal[k], contacts.impulse[k]
        change[b, :3] -= impulse
        change[b, 3:] -= np.cross(point - start.center[b], impulse)
        change[a, :3] += impulse
        change[a, 3:] += np.cross(point - start.center[a], impulse)
        relative = point_velocity(final, start.center, b, point) - point_velocity(
            final, start.center, a, point
        )
        friction = pair_friction(model, *contacts.geom[k])
        frame = normal_frame(normal)
        local = frame @ relative
        local[0] += rigid_bias(options, contacts.gap[k])
        force = frame @ impulse
        mass = 1.0 / (normal @ delassus(start, a, b, point) @ normal)
        natural = max(natural, natural_residual(force, local, friction, mass))
        cone = max(cone, float(np.linalg.norm(force[1:])) - friction * force[0])
        complementarity = max(complementarity, abs(force[0] * local[0]))
    # The world takes what it gets.
    return StepErrors(float(np.abs(change[1:]).max(initial=0.0)), natural, cone, complementarity)


def point_velocity(velocity, center, body, point):
    return velocity[body, :3] + np.cross(velocity[body, 3:], point - center[body])


def delassus(state: Moment, a: int, b: int, point: np.ndarray) -> np.ndarray:
    """Return the 3x3 matrix that maps an impulse at a point to the change of relative velocity."""
    total = np.zeros((3, 3))
    for body in (a, b):
        if body == 0:
            continue
        cross = skew(point - state.center[body])
        total += np.eye(3) / state.mass[body] - cross @ np.linalg.inv(state.inertia[body]) @ cross
    return total


def rigid_bias(options, gap: float) -> float:
    """Return e of the law u_n + e >= 0: look ahead where open, a bounded correction of overlap."""
    if gap > DEAD_BAND:
        return (gap - DEAD_BAND) / options.timestep
    if gap < -DEAD_BAND:
        correction = options.erp * (gap + DEAD_BAND) / options.timestep
        return max(correction, -options.max_correction_speed)
    return 0.0


def pair_friction(model, g: int, h: int) -> float:
    one, two = (float(model.geoms["friction"][i]) for i in (g, h))
    rules = {"geometric": math.sqrt(one * two), "max": max(one, two), "min": min(one, two)}
    return rules[model.options.friction_rule]


def normal_frame(normal: np.ndarray) -> np.ndarray:
    """Return a right-handed frame (3, 3) whose first row is the normal."""
    other = np.eye(3)[int(np.argmin(np.abs(normal)))]
    first = np.cross(normal, other)
    first /= np.linalg.norm(first)
    return np.array([normal, first, np.cross(normal, first)])


def skew(v: np.ndarray) -> np.ndarray:
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])


def rotation_vector_matrix(v: np.ndarray) -> np.ndarray:
    """Return the rotation matrix of a rotation vector (Rodrigues' formula)."""
    angle = float(np.linalg.norm(v))
    if angle < 1e-9:
        return np.eye(3) + skew(v)
    k = skew(v / angle)
    return np.eye(3) + math.sin(angle) * k + (1.0 - math.cos(angle)) * (k @ k)
