# SPDX-License-Identifier: MIT
"""Spheres that fill a solid and spheres that contain it; overlaps of packed solids with proved limits."""
import carom

mesh = carom.Mesh.shape("torus")
packing = carom.pack(mesh, 500)
print(packing, "- the largest radius is", round(packing.spheres[0, 3], 4))

cover = carom.cover(mesh, 32)
worst = cover.info.measure.worst
print(f"{len(cover)} spheres contain it and reach out by {worst.lower:.4f} to {worst.upper:.4f}")

tree, balls, solid = carom.Tree(packing, mesh), carom.Balls(packing), carom.Solid(mesh)
pose = [0.7, 0.1, 0.1]
exact = solid.overlap(solid, pose).volume
for name, found in (("tree", tree.overlap(tree, pose)), ("balls", balls.overlap(balls, pose))):
    print(f"{name}: {found.volume.lower:.4f} <= {exact:.4f} <= {found.volume.upper:.4f}")
gap = tree.distance(tree, [4, 0, 0]).distance
print(f"four units aside the distance is from {gap.lower:.5f} to {gap.upper:.5f}")
