"""
Parts
=====

A part is a shape with few parameters: a peg, a nut, a gear. Each offers a mesh, a signed
distance and mass properties, and the three agree.
"""

# %%
# Two parts that fit
# ------------------
# A peg of 25 mm and a hole that is 0.1 mm wider.

import matplotlib.pyplot as plt
import numpy as np

from contactworks.common.geometry.parts import Gear, Hole, Nut, Peg

peg = Peg(radius=0.025, length=0.1)
hole = Hole(inner_radius=0.0251, outer_radius=0.04, length=0.1)
properties = peg.mass_properties(density=2700.0)
print(f"peg: {properties.mass:.4f} kg, mesh of {len(peg.mesh().faces)} triangles")

# %%
# The signed distance is exact, so the clearance can be read off: points on the peg's rim lie 0.1
# mm outside the material of the hole when the two are centred.

angle = np.linspace(0.0, 2.0 * np.pi, 8, endpoint=False)
rim = np.stack([0.025 * np.cos(angle), 0.025 * np.sin(angle), np.zeros(8)], axis=1)
distance, gradient = hole.sdf()(rim)
print(f"clearance: {1e6 * distance.min():.3f} to {1e6 * distance.max():.3f} µm")

# %%
# Mesh and formula agree
# ----------------------
# The volume of the mesh approaches that of the exact part as its triangles get smaller, with the
# square of their size.

for segments in (32, 64, 128):
    volume = peg.mesh(segments).volume()
    exact = peg.mass_properties(density=1.0).mass
    print(f"{segments:>4} segments: volume short by {1 - volume / exact:.1e}")

# %%
# Sections
# --------
# The sign of the distance tells inside from outside, its value how far. Here are a gear, cut
# across its axis, and a nut, cut along it.

gear = Gear(module=0.002, teeth=20, thickness=0.01, bore=0.008)
nut = Nut(radius=0.01, pitch=0.004, height=0.016, width=0.03)

figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for axis, part, title, plane in (
    (axes[0], gear, "gear, 20 teeth", (0, 1)),
    (axes[1], nut, "nut", (0, 2)),
):
    lower, upper = part.bounding_box()
    x, y = (np.linspace(1.1 * lower[k], 1.1 * upper[k], 200) for k in plane)
    points = np.zeros((200, 200, 3))
    points[..., plane[0]], points[..., plane[1]] = np.meshgrid(x, y)
    value = part.sdf()(points.reshape(-1, 3))[0].reshape(200, 200)
    axis.contourf(1e3 * x, 1e3 * y, 1e3 * value, levels=20, cmap="RdBu")
    axis.contour(1e3 * x, 1e3 * y, value, levels=[0.0], colors="black")
    axis.set(title=title, xlabel="[mm]", ylabel="[mm]", aspect="equal")
plt.show()
