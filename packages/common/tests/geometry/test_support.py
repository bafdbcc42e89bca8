"""Support functions against 60-digit arithmetic, differences and the laws of their shape error."""

from __future__ import annotations

import decimal
from collections.abc import Callable
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contactworks.common.errors import GeometryError, ShapeError
from contactworks.common.geometry import PlanarCircle, PlanarVertexDsf
from contactworks.common.geometry.support import (
    SupportValue,
    axis_support,
    circle_support,
    cylinder_support,
    toroidal_support,
    vertex_support,
)

SHARPNESS = (20.0, 500.0, 5e4, 1e6)

CUBE = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * [0.05, 0.03, 0.02]
RECTANGLE = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * [0.0075, 0.05]
PROFILE = np.array([[0.01, -0.04], [0.025, -0.02], [0.025, 0.05], [0.005, 0.06]])

every_p = pytest.mark.parametrize("p", SHARPNESS)


def _critical_directions(normals: np.ndarray, p: float, seed: int = 5) -> np.ndarray:
    """Return directions near face normals, at the distance 1/p where the weights change over."""
    rng = np.random.default_rng(seed)
    shift = rng.normal(size=(len(normals), 8, normals.shape[1])) * 2.0 / p
    near = (normals[:, None] + shift).reshape(-1, normals.shape[1])
    far = rng.normal(size=(16, normals.shape[1]))
    return np.concatenate([near, far / np.linalg.norm(far, axis=1, keepdims=True)])


def _exact_vertex(x: list[Decimal], vertices: np.ndarray, p: float) -> Decimal:
    """Return (sum of max(v·x, 0)^p)^(1/p), term by term as the paper writes it."""
    total = Decimal(0)
    for vertex in vertices:
        height = sum((Decimal(float(a)) * b for a, b in zip(vertex, x, strict=True)), Decimal(0))
        if height > 0:
            total += (height.ln() * Decimal(p)).exp()
    return (total.ln() / Decimal(p)).exp()


def _exact_axis(x: list[Decimal], profile: np.ndarray, p: float, epsilon: float) -> Decimal:
    r = (x[0] ** 2 + x[1] ** 2 + Decimal(epsilon) * x[2] ** 2).sqrt()
    return _exact_vertex([r, x[2]], profile, p)


def _exact_derivatives(
    function: Callable[[list[Decimal]], Decimal], x: np.ndarray
) -> tuple[float, np.ndarray, np.ndarray]:
    """Return value, gradient and Hessian by central differences in 80-digit arithmetic."""
    with decimal.localcontext(decimal.Context(prec=80, Emin=-(10**9), Emax=10**9)):
        size = len(x)
        point = [Decimal(float(value)) for value in x]
        step = Decimal(10) ** -24

        def at(*shifts: tuple[int, int]) -> Decimal:
            moved = list(point)
            for axis, sign in shifts:
                moved[axis] += sign * step
            return function(moved)

        center = at()
        gradient = [(at((i, 1)) - at((i, -1))) / (2 * step) for i in range(size)]
        hessian = np.zeros((size, size))
        for i in range(size):
            for j in range(i + 1):
                mixed = at((i, 1), (j, 1)) - at((i, 1), (j, -1))
                mixed += at((i, -1), (j, -1)) - at((i, -1), (j, 1))
                hessian[i, j] = hessian[j, i] = float(mixed / (4 * step**2))
        return float(center), np.array([float(g) for g in gradient]), hessian


def _assert_exact(
    found: SupportValue, exact: Callable[[list[Decimal]], Decimal], x: np.ndarray, p: float
) -> None:
    # A height is known to some rounding; p magnifies that in the weights.
    tolerance = 1e-13 + 2e-15 * p
    for row, direction in enumerate(x):
        value, gradient, hessian = _exact_derivatives(exact, direction)
        assert found.value[row] == pytest.approx(value, rel=1e-14)
        np.testing.assert_allclose(found.gradient[row], gradient, atol=tolerance * 0.1)
        scale = max(np.abs(hessian).max(), 1e-3)
        np.testing.assert_allclose(found.hessian[row], hessian, atol=20 * tolerance * scale)


@every_p
def test_vertex_support_is_exact_at_any_sharpness(p: float) -> None:
    normals = np.concatenate([np.eye(3), -np.eye(3), [[1.0, 1.0, 0.0], [0.0, -1.0, 1.0]]])
    x = _critical_directions(normals, p)[::4]
    _assert_exact(vertex_support(x, CUBE, p), lambda y: _exact_vertex(y, CUBE, p), x, p)


@every_p
def test_planar_vertex_support_is_exact_at_any_sharpness(p: float) -> None:
    x = _critical_directions(np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.3, -0.7]]), p)[::3]
    _assert_exact(vertex_support(x, RECTANGLE, p), lambda y: _exact_vertex(y, RECTANGLE, p), x, p)


@every_p
@pytest.mark.parametrize("epsilon", [1e-2, 1e-10])
def test_axis_support_is_exact_at_any_sharpness(p: float, epsilon: float) -> None:
    x = _critical_directions(np.array([[1.0, 0.0, 0.0], [0.6, -0.8, 0.0], [1.0, 1.0, 5.0]]), p)[::3]
    found = axis_support(x, PROFILE, p, epsilon)
    _assert_exact(found, lambda y: _exact_axis(y, PROFILE, p, epsilon), x, p)


@every_p
def test_poles_of_axis_support(p: float) -> None:
    epsilon = 1e-10
    x = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0], [1e-5, 2e-5, 1.0], [1e-7, 0.0, -1.0]])
    found = axis_support(x, PROFILE, p, epsilon)
    for row, direction in enumerate(x):
        value, gradient, hessian = _exact_derivatives(
            lambda y: _exact_axis(y, PROFILE, p, epsilon), direction
        )
        assert found.value[row] == pytest.approx(value, rel=1e-14)
        np.testing.assert_allclose(found.gradient[row], gradient, atol=1e-11)
        np.testing.assert_allclose(found.hessian[row], hessian, atol=1e-9 * np.abs(hessian).max())


@every_p
def test_gradient_and_hessian_match_differences(p: float) -> None:
    x = _critical_directions(np.concatenate([np.eye(3), -np.eye(3)]), p)
    step = 3e-4 / p  # the functions bend over a length of 1/p
    rounding = 2e-12 * p
    functions = (
        lambda y: vertex_support(y, CUBE, p),
        lambda y: axis_support(y, PROFILE, p, 1e-2),
        lambda y: cylinder_support(y, 0.025, 0.05, p, 1e-2),
    )
    for function in functions:
        found = function(x)
        for axis in range(3):
            shift = step * np.eye(3)[axis]
            above, below = function(x + shift), function(x - shift)
            slope = (above.value - below.value) / (2 * step)
            np.testing.assert_allclose(
                found.gradient[:, axis], slope, atol=(2e-7 + rounding) * 0.05
            )
            bend = (above.gradient - below.gradient) / (2 * step)
            np.testing.assert_allclose(found.hessian[:, axis], bend, atol=1e-6 * 0.05 * p)


@every_p
def test_cylinder_in_closed_form_equals_the_general_one(p: float) -> None:
    rng = np.random.default_rng(1)
    equator = _critical_directions(np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]), p)
    x = np.concatenate([rng.normal(size=(200, 3)), equator, [[0, 0, 1], [0, 0, -2], [1, 0, 0]]])
    profile = np.array([[0.025, -0.05], [0.025, 0.05]])
    closed = cylinder_support(x, 0.025, 0.05, p, 1e-10)
    general = axis_support(x, profile, p, 1e-10)
    np.testing.assert_allclose(closed.value, general.value, rtol=1e-14)
    np.testing.assert_allclose(closed.gradient, general.gradient, atol=1e-14 + 1e-17 * p)
    scale = np.abs(general.hessian).max(axis=(1, 2), keepdims=True)
    assert np.abs((closed.hessian - general.hessian) / scale).max() < 1e-13 + 2e-15 * p


vectors = st.tuples(*[st.floats(-1.0, 1.0)] * 3).filter(lambda v: np.linalg.norm(v) > 1e-3)


@settings(max_examples=150, deadline=None)
@given(
    x=vectors, p=st.sampled_from(SHARPNESS), length=st.floats(1e-6, 1e6), seed=st.integers(0, 99)
)
def test_properties_of_a_support_function(
    x: tuple[float, ...], p: float, length: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    vertices = np.concatenate([rng.normal(size=(12, 3)), CUBE * 5])
    direction = np.array([x])
    found = vertex_support(direction, vertices, p)
    sharp = (direction @ vertices.T).max()
    # Between the sharp support function and k^(1/p) times that.
    assert sharp * (1 - 1e-14) <= found.value[0] <= sharp * len(vertices) ** (1 / p) * (1 + 1e-14)
    # Homogeneous of degree 1, 0 and -1, so that g·x = h and H x = 0.
    scaled = vertex_support(length * direction, vertices, p)
    np.testing.assert_allclose(scaled.value, length * found.value, rtol=1e-13)
    np.testing.assert_allclose(scaled.gradient, found.gradient, atol=1e-13 + 1e-14 * p)
    assert found.gradient[0] @ direction[0] == pytest.approx(found.value[0], rel=1e-13)
    hessian = found.hessian[0]
    size = np.abs(hessian).max()
    assert np.abs(hessian @ direction[0]).max() <= 1e-12 * size
    np.testing.assert_array_equal(hessian, hessian.T)
    assert np.linalg.eigvalsh(hessian).min() >= -1e-14 * size


def test_octahedron_at_p_2_is_a_sphere() -> None:
    octahedron = 0.3 * np.concatenate([np.eye(3), -np.eye(3)])
    x = np.random.default_rng(0).normal(size=(50, 3))
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)
    found = vertex_support(x, octahedron, 2.0)
    np.testing.assert_allclose(found.value, 0.3 * np.linalg.norm(x, axis=1), rtol=1e-14)
    np.testing.assert_allclose(found.gradient, 0.3 * unit, atol=1e-15)
    curvature = 0.3 * (np.eye(3) - unit[:, :, None] * unit[:, None])
    curvature /= np.linalg.norm(x, axis=1)[:, None, None]
    np.testing.assert_allclose(found.hessian, curvature, atol=1e-14)


def test_torus() -> None:
    rng = np.random.default_rng(2)
    u, v = rng.normal(size=(100, 2)), rng.normal(size=(100, 2))
    found = toroidal_support(u, v, PlanarCircle(0.05), PlanarCircle(0.01))
    rho = np.hypot(found.point[:, 0], found.point[:, 1])
    np.testing.assert_allclose(np.hypot(rho - 0.05, found.point[:, 2]), 0.01, rtol=1e-13)
    from_core = found.point.copy()
    from_core[:, :2] -= 0.05 * found.point[:, :2] / rho[:, None]
    np.testing.assert_allclose(found.normal, from_core / 0.01, atol=1e-13)
    outward = (v / np.linalg.norm(v, axis=1, keepdims=True))[:, 0]
    np.testing.assert_allclose(found.value, outward * 0.05 + 0.01, atol=1e-16)


@pytest.mark.parametrize(
    ("path", "section"),
    [
        (PlanarCircle(0.05), PlanarVertexDsf(RECTANGLE, p=20.0)),
        (PlanarVertexDsf([[-0.2, -0.1], [0.2, -0.1], [0.0, 0.2]], p=20.0), PlanarCircle(0.02)),
        (PlanarVertexDsf(np.array(RECTANGLE) * 20, p=8.0), PlanarVertexDsf(RECTANGLE, p=8.0)),
    ],
)
def test_toroidal_normal_is_normal_to_the_surface(
    path: PlanarCircle | PlanarVertexDsf, section: PlanarCircle | PlanarVertexDsf
) -> None:
    angles = np.random.default_rng(7).uniform(-np.pi, np.pi, size=(60, 2))

    def at(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        u = np.column_stack([np.cos(a), np.sin(a)])
        v = np.column_stack([np.cos(b), np.sin(b)])
        return tuple(toroidal_support(u, v, path, section))

    value, point, normal = at(*angles.T)
    np.testing.assert_allclose(np.linalg.norm(normal, axis=1), 1.0, rtol=1e-14)
    np.testing.assert_allclose(value, np.einsum("ij,ij->i", point, normal), atol=1e-15)
    step = 1e-6
    for shift in ((step, 0.0), (0.0, step)):
        above, below = at(*(angles + shift).T)[1], at(*(angles - shift).T)[1]
        tangent = (above - below) / (2 * step)
        assert (np.linalg.norm(tangent, axis=1) > 1e-4).mean() > 0.5
        np.testing.assert_allclose(np.einsum("ij,ij->i", tangent, normal), 0.0, atol=1e-9)


def test_circle() -> None:
    found = circle_support([[3.0, 4.0]], 2.0)
    np.testing.assert_allclose(found.value, [10.0])
    np.testing.assert_allclose(found.gradient, [[1.2, 1.6]])
    np.testing.assert_allclose(found.hessian, [[[0.256, -0.192], [-0.192, 0.144]]])


def test_wrong_directions_are_refused() -> None:
    with pytest.raises(GeometryError, match=r"direction\[1\].*non-zero"):
        vertex_support([[1, 0, 0], [0, 0, 0]], CUBE, 20.0)
    with pytest.raises(GeometryError, match="finite"):
        circle_support([[np.nan, 0.0]], 1.0)
    with pytest.raises(ShapeError, match=r"expected \(n, 3\)"):
        axis_support([[1.0, 0.0]], PROFILE, 20.0, 1e-4)
    with pytest.raises(GeometryError, match="origin"):
        vertex_support([[-1.0, 0.0, 0.0]], CUBE + [1.0, 0.0, 0.0], 20.0)
    with pytest.raises(ShapeError, match="same number"):
        toroidal_support([[1, 0]], [[1, 0], [0, 1]], PlanarCircle(1.0), PlanarCircle(0.1))
