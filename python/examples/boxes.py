# SPDX-License-Identifier: MIT
"""Many moving boxes, step by step: which pairs began, which ended? Then all objects of a small world, with contacts."""
import numpy as np

import carom

rng = np.random.default_rng(3)
low = rng.uniform(0, 100, (20_000, 3))
velocity = rng.normal(scale=0.3, size=low.shape)
broad = carom.Broad(np.stack((low, low + 1.5), axis=1))
for step in range(4):
    pairs, begun, ended = broad.step()
    print(f"step {step}: {len(pairs)} pairs, {len(begun)} began, {len(ended)} ended")
    low += velocity
    broad.move(np.stack((low, low + 1.5), axis=1))

scene = carom.Scene(reach=0.05)
floor = scene.add(carom.Soup(carom.Mesh.shape("grid", size=5.0)))
crate = scene.add(carom.Convex.box([0.5, 0.5, 0.5]), [0, 0, 0.5])
ring = scene.add(carom.Solid(carom.Mesh.shape("torus")), [0.2, 0, 0.3])
for contact in scene.step().contacts:
    print(f"{contact.a} and {contact.b}: {carom.Relation(contact.relation)}, by {carom.SceneContactMethod(contact.method)}, "
          f"depth {contact.depth:.4f}")
