# SPDX-License-Identifier: MIT
"""Which points are inside, how far is each from the surface, and what does a ray hit? The signs are exact."""
import numpy as np

import carom

soup = carom.Soup(carom.Mesh.shape("torus"))
points = np.random.default_rng(1).uniform(-1.5, 1.5, (10_000, 3))

distances = soup.signed_distances(points)
print(f"{np.count_nonzero(distances < 0)} of {len(points)} points are inside, the deepest by {-distances.min():.4f}")
print(f"winding numbers agree: {((soup.winding(points) == 1) == (distances < 0)).all()}")

nearest = soup.closest_points(points[:3])
for point, hit in zip(points, nearest):
    print(f"{point.round(2)}: face {hit.face} at {hit.point.round(3)}, {hit.distance:.4f} away")

origins = np.column_stack((np.linspace(-2, 2, 9), np.zeros(9), np.full(9, 5.0)))
hits = soup.cast_rays(origins, [0, 0, -1])
print("rays from above meet the torus at heights", np.where(np.isinf(hits.distance), np.nan, 5 - hits.distance).round(3))
