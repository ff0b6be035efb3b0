# SPDX-License-Identifier: MIT
"""Which faces of a mesh meet, and where? A crumpled cloth; any vertices and faces will do."""
import numpy as np

import carom

cloth = carom.Mesh.shape("cloth")
vertices, faces = cloth.vertices, cloth.faces  # numpy arrays: (n, 3) and (m, 3)

pairs = carom.self_pairs(vertices, faces)
print(f"{len(pairs)} pairs of {len(faces)} faces meet")

soup = carom.Soup(vertices, faces)  # prepared once, for many questions
segments = soup.segments(pairs)
lengths = np.linalg.norm(segments.q - segments.p, axis=1)
print(f"in {len(segments)} segments of {lengths.sum():.2f} units, {np.count_nonzero(segments.crossing)} of them crossing")
print(f"within 0.001: {soup.self_count(0.001)} pairs without a common vertex")

bad = np.unique(pairs)  # remove what meets, and look again
soup.remove(bad)
print(f"without these {len(bad)} faces: {soup.self_count()} pairs")
