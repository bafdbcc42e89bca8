"""
A batch of strikes
==================

A block slides into an object that rests on a table, two thousand times, each time at another
speed, place and friction. From such data a collision model is learned.
"""

# %%
# Collect
# -------
# The result depends on the scene, the count and the seed, not on the number of threads. Strikes
# that miss, keep touching or go unstable are kept, and say so.

import matplotlib.pyplot as plt
import numpy as np

from contactworks import clash
from contactworks.common.metrics import accuracy

scene = clash.StrikeScene("semicylinder")
data = clash.collect(scene, count=2000, seed=0)
print(data.counts())

# %%
# Look at them
# ------------
# The state after the strike holds velocity and spin, and also the way that the object went while
# it was in contact. A strike off the centre turns the object: the spin follows the sideways
# offset of the impact.

whole = data.subset(data.is_separated)
theta = np.rad2deg(whole.pre[:, 1])
speed = whole.pre[:, 0]
spin = whole.post[:, 2] * whole.length_scale
gain = np.hypot(whole.post[:, 0], whole.post[:, 1]) / speed

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
points = left.scatter(theta, spin / speed, c=whole.parameters[:, 0], s=4)
figure.colorbar(points, ax=left, label="friction, block and object")
left.set(xlabel="impact angle [deg]", ylabel="spin at the rim / speed of the block")
right.scatter(whole.parameters[:, 2], gain, s=4)
right.set(xlabel="damping ratio, block and object", ylabel="speed of the object / of the block")
plt.show()

# %%
# The metric that the CLASH paper uses counts the predictions whose relative error is small. A
# model that always predicts the mean shows what chance gives.

observed = whole.post[:, :3]
mean = np.broadcast_to(observed.mean(axis=0), observed.shape)
share = accuracy(mean, observed, 0.1, length_scale=whole.length_scale)
print(f"accuracy(0.1) of the mean: {share:.3f}")
