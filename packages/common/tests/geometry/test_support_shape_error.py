"""How far smoothed shapes stand out of sharp ones: the laws, and the figures they give."""

from __future__ import annotations

import numpy as np
import pytest

from contactworks.common.geometry import PlanarCircle, PlanarVertexDsf
from contactworks.common.geometry.support import (
    axis_support,
    cylinder_support,
    toroidal_support,
    vertex_support,
)

CUBE = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * [0.05, 0.03, 0.02]
RECTANGLE = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * [0.0075, 0.05]


@pytest.mark.parametrize("p", [500.0, 5e3, 5e4, 5e5])
def test_a_box_face_bulges_by_ln4_half_size_over_p(p: float) -> None:
    bulge = vertex_support(np.eye(3), CUBE, p).value - [0.05, 0.03, 0.02]
    np.testing.assert_allclose(bulge, np.log(4) * np.array([0.05, 0.03, 0.02]) / p, rtol=2.0 / p)


@pytest.mark.parametrize("p", [500.0, 5e3, 5e4, 5e5])
def test_a_wall_bulges_by_the_entropy_of_its_weights(p: float) -> None:
    radius, half = 0.025, 0.05
    shares = np.linspace(0.02, 0.98, 25)
    # The direction in which the ratio of the two heights raised to p is the ratio of the weights.
    slope = radius / half * np.tanh(np.log(shares / (1 - shares)) / (2 * p))
    x = np.column_stack([np.ones_like(slope), np.zeros_like(slope), slope])
    point = cylinder_support(x, radius, half, p, 1e-16).gradient
    weight = 0.5 * (1 + point[:, 2] / half)
    entropy = -weight * np.log(weight) - (1 - weight) * np.log(1 - weight)
    np.testing.assert_allclose(point[:, 0] - radius, radius / p * entropy, rtol=5.0 / p + 1e-9)
    middle = cylinder_support([[1.0, 0.0, 0.0]], radius, half, p, 1e-16).gradient[0, 0]
    assert middle - radius == pytest.approx(np.log(2) * radius / p, rel=2.0 / p)


def test_a_wall_does_not_bulge_at_its_rims() -> None:
    x = np.array([[1.0, 0.0, 1.0]])  # far from the change-over: one vertex has all the weight
    point = cylinder_support(x, 0.025, 0.05, 5e4, 1e-16).gradient
    np.testing.assert_allclose(point, [[0.025, 0.0, 0.05]], atol=1e-16 + 0.025 * 1e-16)


@pytest.mark.parametrize("epsilon", [1e-4, 1e-6, 1e-10])
def test_a_pole_is_a_dome_of_height_radius_root_epsilon(epsilon: float) -> None:
    radius, half = 0.025, 0.05
    top = cylinder_support([[0.0, 0.0, 1.0]], radius, half, 5e4, epsilon).gradient[0]
    rim = cylinder_support([[1.0, 0.0, 10.0]], radius, half, 5e4, 1e-16).gradient[0]
    np.testing.assert_allclose(rim, [radius, 0.0, half], atol=1e-12)
    assert top[2] - half == pytest.approx(radius * np.sqrt(epsilon), rel=1e-7)
    np.testing.assert_array_equal(top[:2], 0.0)


def test_mirrored_profile_vertices_would_lift_the_poles() -> None:
    # Why axis_support wants the half profile: the law ln2/p times the height.
    half = np.array([[0.025, -0.05], [0.025, 0.05]])
    both = np.concatenate([half, half * [-1.0, 1.0]])
    p, pole = 500.0, [[0.0, 0.0, 1.0]]
    lift = axis_support(pole, both, p, 1e-16).value - axis_support(pole, half, p, 1e-16).value
    np.testing.assert_allclose(lift, 0.05 * np.log(2) / p, rtol=2.0 / p)


@pytest.mark.parametrize(("p", "bulge_um"), [(500.0, 10.4), (5e3, 1.04), (5e4, 0.104)])
def test_bore_of_a_tube_loses_ln2_wall_over_p(p: float, bulge_um: float) -> None:
    # The figures of a tube section of ±7.5 mm.
    found = toroidal_support(
        [[1.0, 0.0]], [[-1.0, 0.0]], PlanarCircle(0.0325), PlanarVertexDsf(RECTANGLE, p=p)
    )
    lost = 0.0325 - 0.0075 - found.point[0, 0]
    assert lost == pytest.approx(0.0075 * np.log(2) / p, rel=2.0 / p)
    assert lost * 1e6 == pytest.approx(bulge_um, rel=0.005)
    np.testing.assert_allclose(found.normal, [[-1.0, 0.0, 0.0]], atol=1e-16)
