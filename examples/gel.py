"""
A gel
=====

The soft part of a visuotactile sensor is a block of gel. Here it is meshed with tetrahedra,
compressed, and asked for the force that this takes, under three laws of elasticity.
"""

# %%
# Mesh the gel
# ------------
# The defaults of ``structured_gel`` are the pad of a GelSight Mini. Its lower face is glued to a
# plate.

import matplotlib.pyplot as plt
import numpy as np

from contactworks import tac2real

gel = tac2real.structured_gel(cells=(8, 6, 3))
print(f"{len(gel.nodes)} nodes, {len(gel.tets)} tetrahedra, {1e9 * gel.volume:.0f} mm³")

# %%
# Compress it
# -----------
# The gel is pressed between two plates and held at its sides, so that it cannot give way: every
# point moves down in proportion to its height. In this state strain is the same everywhere, and
# the stress has a closed form.

material = tac2real.Material(young=1e5, poisson=0.45)
stretch = np.linspace(0.7, 1.0, 16)
positions = gel.nodes * np.stack([np.ones(16), np.ones(16), stretch], axis=1)[:, None]
height = gel.nodes[:, 2] - gel.nodes[:, 2].min()
positions[:, :, 2] = gel.nodes[:, 2].min() + stretch[:, None] * height

top = np.isclose(height, height.max())
area = gel.size[0] * gel.size[1]
pressures = {}
for name in ("neo-hookean", "stable-neo-hookean", "fixed-corotated"):
    body = tac2real.ElasticBody(gel, material, name)
    pressures[name] = body.forces(positions)[:, top, 2].sum(axis=1) / area

# %%
# Compare
# -------
# For small strain all of them must agree with linear elasticity, whose confined modulus is
# :math:`\lambda + 2\mu`.

shear, first = material.lame()
modulus = float(first + 2 * shear)
for name, pressure in pressures.items():
    slope = pressure[-2] / (1.0 - stretch[-2])
    print(
        f"{name:>20}: {slope / modulus:.3f} of the linear modulus at {1 - stretch[-2]:.0%} strain"
    )

figure = plt.figure(figsize=(9, 3.8), layout="constrained")
left = figure.add_subplot(1, 2, 1, projection="3d")
left.plot_trisurf(
    *(1e3 * positions[0].T), triangles=gel.surface, color="0.85", edgecolor="0.4", lw=0.3
)
left.set(title="30 % strain", xlabel="x [mm]", ylabel="y [mm]", zlabel="z [mm]")
left.set_box_aspect(np.ptp(gel.nodes, axis=0))
left.set_zticks([-4, -2])
right = figure.add_subplot(1, 2, 2)
for name, pressure in pressures.items():
    right.plot(100 * (1 - stretch), pressure / 1e3, label=name)
right.plot(100 * (1 - stretch), modulus * (1 - stretch) / 1e3, "k:", label="linear")
right.set(xlabel="compression [%]", ylabel="pressure [kPa]")
right.legend()
plt.show()
