# SPDX-License-Identifier: MIT
"""Files, threads, progress and errors. Calls leave the interpreter free; each thread has a context of its own."""
import os
import tempfile
from concurrent.futures import ThreadPoolExecutor

import carom

with tempfile.TemporaryDirectory() as folder:
    for name, shape in (("torus.ply", "torus"), ("knot.stl", "knot"), ("cloth.obj.gz", "cloth")):
        carom.Mesh.shape(shape).save(os.path.join(folder, name))

    def look(name):
        report = carom.info(carom.load(os.path.join(folder, name)).weld())
        return f"{name}: {report.triangles} triangles, closed: {report.closed}, volume {report.volume:.4f}"

    with ThreadPoolExecutor(2) as pool:
        print("\n".join(pool.map(look, sorted(os.listdir(folder)))))

phases = []
context = carom.Context(threads=2, progress=lambda what, fraction: phases.append(what))  # return True to cancel
carom.self_pairs(carom.Mesh.shape("cloth"), context=context)
print("phases:", ", ".join(dict.fromkeys(phases)))

try:
    carom.Solid(carom.Mesh.shape("grid"))
except carom.BadInputError as error:  # also a ValueError
    print("refused:", error)
