# SPDX-License-Identifier: MIT
"""trimesh's collision manager, with another import. A ball inside a box collides, and contacts have depths."""
import numpy as np

import carom
from carom.trimesh import CollisionManager  # was: from trimesh.collision import CollisionManager

box, ball = carom.Mesh.shape("box"), carom.Mesh.shape("sphere", size=0.5)  # or meshes of trimesh
aside = np.eye(4)
aside[:3, 3] = [1.2, 0, 0]

manager = CollisionManager()
manager.add_object("box", box)
manager.add_object("ball", ball)
print("internal:", manager.in_collision_internal(return_names=True))

manager.set_transform("ball", aside)
hit, contacts = manager.in_collision_internal(return_data=True)
print(f"{len(contacts)} contacts, depth {contacts[0].depth:.3f}, volume {contacts[0].volume:.4f}")

aside[:3, 3] = [4, 0, 0]
distance, name, data = manager.min_distance_single(ball, aside, return_name=True, return_data=True)
print(f"another ball is {distance:.3f} from the {name}, at {data.point(name).round(3)}")
