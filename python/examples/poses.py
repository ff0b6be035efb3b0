# SPDX-License-Identifier: MIT
"""A hundred thousand poses in one call: which of them are free? Poses are (n, 7) or (n, 4, 4)."""
import time

import numpy as np

import carom

gripper = carom.Soup(carom.Mesh.shape("torus", size=0.5), rigid=True)
shelf = carom.Soup(carom.Mesh.shape("shards"), rigid=True)

rng = np.random.default_rng(7)
poses = np.column_stack((rng.uniform(-2.5, 2.5, (100_000, 3)), rng.normal(size=(100_000, 4))))  # tx ty tz qw qx qy qz
start = time.perf_counter()
meets = shelf.meet(gripper, poses)
print(f"{np.count_nonzero(~meets)} of {len(poses)} poses are free, in {time.perf_counter() - start:.2f} s")

near = poses[~meets][:1000]
gaps = shelf.distance(gripper, near)
print(f"of the first {len(near)} free ones the nearest is {gaps.distance.min():.4f} away, faces "
      f"{gaps[np.argmin(gaps.distance)].face_a} and {gaps[np.argmin(gaps.distance)].face_b}")

hull = carom.Convex.hull(carom.Mesh.shape("torus", size=0.5))
depths = carom.Convex.box([1, 1, 1]).depth(hull, poses)
print(f"the hull is {depths.depth.max():.3f} deep in a box at most")
