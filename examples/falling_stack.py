"""
A falling stack
===============

Three cubes, the top one a hundred times heavier than those below, fall on one another and come
to rest. The heavy cube on top is what makes this hard: solvers that soften contact let the
lower cubes sink into each other.
"""

# %%
# Describe the scene
# ------------------
# The world holds a plane; each cube is a free body with one box. A friction of 5 keeps the stack
# together.

import matplotlib.pyplot as plt
import numpy as np

from contactworks import crisp

EDGE = 0.1
MASSES = {"bottom": 1.0, "middle": 1.0, "top": 100.0}

builder = crisp.ModelBuilder(crisp.Options(timestep=0.001))
builder.world.add_geom(crisp.Plane(), friction=5.0)
for level, (name, mass) in enumerate(MASSES.items()):
    drop = 0.05 if name == "top" else 0.0
    body = builder.add_body(name, position=(0, 0, (level + 0.5) * EDGE + drop), mass=mass)
    body.add_geom(crisp.Box((EDGE / 2, EDGE / 2, EDGE / 2)), friction=5.0)
model = builder.build()
data = crisp.Data(model)

# %%
# Simulate
# --------
# Each step reports how exactly its contact problem was solved. The natural residual is the
# distance from the contact law in metres per second; zero means that no contact pulls,
# penetrates, or slides against less than its full friction.

steps = 500
heights = np.zeros((steps, 3))
residuals = np.zeros(steps)
for i in range(steps):
    crisp.step(model, data)
    heights[i] = data.body_position[1:, 2]
    residuals[i] = data.solver.natural_residual

# %%
# Compare with the right answer
# -----------------------------
# At rest the centres stand at 5, 15 and 25 cm, whatever the masses.

expected = (np.arange(3) + 0.5) * EDGE
print(f"largest error of a height at rest: {np.abs(heights[-1] - expected).max():.1e} m")
print(f"largest residual of any step:      {residuals.max():.1e} m/s")

# %%
# The forces at rest carry the weight: the floor takes that of all three cubes.

floor = data.contacts.geom[:, 0] == model.geom_id("world/plane0")
force = data.contacts.impulse[floor].sum(axis=0) / model.options.timestep
print(f"force on the floor: {force[2]:.4f} N, weight: {9.81 * sum(MASSES.values()):.4f} N")

time = model.options.timestep * np.arange(1, steps + 1)
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.5), layout="constrained")
left.plot(time, heights, label=list(MASSES))
left.set(xlabel="time [s]", ylabel="height of the centre [m]")
left.legend()
right.semilogy(time, np.maximum(residuals, 1e-17))
right.set(xlabel="time [s]", ylabel="natural residual [m/s]")
plt.show()
