# SPDX-License-Identifier: MIT
"""When do moving things meet? A box thrown through a thin wall in one step, two rigid meshes, a sheet that is folded."""
import numpy as np

import carom
from carom import exact

triangle = [[0, 0, 0], [1, 0, 0], [0, 1, 0]]
toi = exact.point_triangle_toi([[0.2, 0.2, 1], *triangle], [[0.2, 0.2, -1], *triangle])
print(f"the point meets the triangle between {toi.time.lower} and {toi.time.upper}")

wall, box = carom.Convex.box([0.01, 5, 5]), carom.Convex.box([0.5, 0.5, 0.5])
hit = wall.advance(box, ([-10, 0, 0], [10, 0, 0, 0, 0, 0, 1]))  # from a pose to a pose
print(f"the box {'hits' if hit.hit else 'misses'} the wall at {hit.time:.4f}, after {hit.steps} steps")

torus = carom.Soup(carom.Mesh.shape("torus"), rigid=True)
hit = torus.advance(torus, ([5, 0, 0], [0, 0, 0, 1, 1, 0, 0]))
print(f"the tori meet at {hit.time:.4f}, faces {hit.face_a} and {hit.face_b}")

sheet = carom.Mesh.shape("grid", detail=20)
end = np.array(sheet.vertices)
right = end[:, 0] > 0
end[:, 2] = np.where(right, -0.2, 0.2 * np.abs(end[:, 0]) - 0.1)
end[right, 0] *= -1
soup = carom.Soup(sheet)
first = soup.first_impact(end)
print(f"the sheet has {len(soup.impacts(end))} impacts, the first one {first.kind} at {first.time.value:.4f}")
