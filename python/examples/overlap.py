# SPDX-License-Identifier: MIT
"""How much do two solids overlap, which force separates them, and is one inside the other?"""
import carom

torus, knot = carom.Solid(carom.Mesh.shape("torus")), carom.Solid(carom.Mesh.shape("knot"))
print(torus, knot)

shared = torus.overlap(knot, pose=[0.3, 0, 0.2])
print(f"{shared.relation}: volume {shared.volume:.6f} +- {shared.volume_error:.1e}")
print(f"the force on the knot is {shared.force.round(4)}")
for piece in torus.overlap_patches(knot, pose=[0.3, 0, 0.2])[:3]:
    print(f"  a piece of {piece.volume:.6f} around {piece.centroid.round(3)}")

apart = torus.overlap(knot, pose=[5, 0, 0], distance=True)
print(f"{apart.relation}: {apart.distance:.4f} from {apart.point_a.round(3)} to {apart.point_b.round(3)}")

ball = carom.Solid(carom.Mesh.shape("sphere", size=0.2))
print("a small ball in the tube:", torus.overlap(ball, pose=[1, 0, 0]).relation)
