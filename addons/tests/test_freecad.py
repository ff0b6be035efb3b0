# SPDX-License-Identifier: MIT
"""freecadcmd test_freecad.py: the workbench that is installed in this user's Mod folder, without a window. The environment
has CAROM_RESULT, the file in which results are read, and CAROM_SHARED, a folder with models or nothing.

Bad input must be a message in the report view and in the result, never a traceback."""
import csv
import json
import math
import os
import sys
import tempfile
import time
import traceback

import FreeCAD as App
import Mesh
import numpy as np
import Part

import carom_freecad
from carom_freecad import carom

assert carom.__file__.startswith(App.getUserAppDataDir()), carom.__file__
MOST_SECONDS = 3.0  # of the check of the buggy; told, not asserted: the machine may be busy
V = App.Vector


def result():
    with open(os.environ["CAROM_RESULT"]) as file:
        return json.load(file)


def run(function, *args, **options):
    """A call as the commands make it, and its result."""
    with open(os.environ["CAROM_RESULT"], "w") as file:
        file.write("null")
    return carom_freecad.guarded(function)(*args, **options), result()


def refused(*words, call=carom_freecad.check, **options):
    answer, told = run(call, **options)
    assert answer is None and "error" in told, told
    for word in words:
        assert word in told["error"], (word, told)


def document():
    for name in App.listDocuments():
        App.closeDocument(name)
    made = App.newDocument("test")
    made.UndoMode = 1
    return made


def box(made, name, at, size=(20, 20, 20)):
    item = made.addObject("Part::Box", name)
    item.Length, item.Width, item.Height = size
    item.Placement.Base = V(*at)
    return item


def mesh_object(made, name, vertices, faces):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "m.ply")
        carom.Mesh(np.asarray(vertices, np.float32), faces).save(path)
        item = made.addObject("Mesh::Feature", name)
        item.Mesh = Mesh.Mesh(path)
    return item


# ---- Tests

def the_buggy():
    """The clash table of a vehicle of 236 parts, as meshes, is the one that others computed."""
    shared = os.environ.get("CAROM_SHARED", "")
    path = os.path.join(shared, "models", "scenes", "buggy_474k_parts.ply.gz")
    if not os.path.exists(path):
        print("skipped: the_buggy: the models are not there")
        return
    made, whole = document(), carom.load(path)
    vertices, faces, parts = whole.vertices, np.asarray(whole.faces), np.asarray(whole.parts)
    for part in range(int(parts.max()) + 1):
        used, numbered = np.unique(faces[parts == part], return_inverse=True)
        mesh_object(made, f"part{part}", vertices[used], numbered.reshape(-1, 3))
    begin = time.perf_counter(), time.process_time()
    answer, told = run(carom_freecad.check)
    wall, whole_s = time.perf_counter() - begin[0], time.process_time() - begin[1]
    begin = time.process_time()
    carom.clashes([part.mesh for part in answer.parts])
    alone = time.process_time() - begin
    with open(os.path.join(shared, "models", "truth", "clash_buggy_474k_parts.csv"), newline="") as file:
        truth = {(int(a), int(b)): int(pairs) for a, b, pairs in list(csv.reader(file))[1:]}
    found = {(c["a"], c["b"]): c["triangle_pairs"] for c in told["clashes"] if c["triangle_pairs"]}
    assert found == truth, (len(found), len(truth))
    print(f"{len(answer.parts)} parts, {len(whole.faces)} triangles, {len(found)} clashes, all as in the table: the check "
          f"takes {alone:.2f} s of processor time, {'more than' if alone > MOST_SECONDS else 'within'} {MOST_SECONDS:.0f} s;"
          f" with FreeCAD's meshes {whole_s:.2f} s ({wall:.2f} s by the clock)")


def checks():
    made = document()
    box(made, "Box", (0, 0, 0))
    pin = made.addObject("Part::Cylinder", "Pin")
    pin.Radius, pin.Height, pin.Placement.Base = 6, 30, V(30, 10, -5)
    ball = made.addObject("Part::Sphere", "Ball")
    ball.Radius, ball.Placement.Base = 5, V(-5.15, 10, 10)
    group, inner = made.addObject("App::Part", "Group"), box(made, "Inner", (0, 0, 0), (10, 10, 10))
    group.addObject(inner)
    group.Placement.Base = V(15, 15, 15)
    link = made.addObject("App::Link", "Copy")
    link.LinkedObject = group
    link.LinkPlacement.Base = V(100, 0, 0)
    made.recompute()
    answer, told = run(carom_freecad.check, None, 0.1, 0.0)
    assert told["parts"] == ["Box", "Pin", "Ball", "Group/Inner", "Copy/Inner"], told
    found = {(told["parts"][c["a"]], told["parts"][c["b"]]): c for c in told["clashes"]}
    corner = found["Box", "Group/Inner"]  # a cube of edge 5
    assert abs(corner["volume"] - 125) < 1e-9 and 5 <= corner["depth"] < 5 * 3 ** 0.5 + 1e-6, corner
    assert ("Box", "Ball") not in found  # 0.15 apart, and only the ball has a tolerance
    made.Ball.Placement.Base = V(-5.05, 10, 10)
    answer, told = run(carom_freecad.check, None, 0.1, 0.0)
    close = next(c for c in told["clashes"] if c["b"] == 2)
    assert close["relation"] == "apart" and close["within_tolerance"] and close["distance"] <= 0.1 + 1e-6, close
    _, told = run(carom_freecad.check, [made.Box, made.Pin], 0.1, 5.0)
    assert [c["relation"] for c in told["clashes"]] == ["apart"] and abs(told["clashes"][0]["distance"] - 4) < 0.1, told
    moved = mesh_object(made, "Moved", [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]],
                        [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]])
    moved.Placement = App.Placement(V(105, 2, 3), App.Rotation(V(0, 0, 1), 90))  # within the link's box
    answer, told = run(carom_freecad.check, [link, moved])
    assert [c["relation"] for c in told["clashes"]] == ["b-inside-a"], told
    low, high = answer.parts[1].mesh[0].min(axis=0), answer.parts[1].mesh[0].max(axis=0)
    assert np.allclose(low, [104, 2, 3]) and np.allclose(high, [105, 3, 4]), (low, high)
    # show, undo, and what was deleted since
    answer, told = run(carom_freecad.check, [made.Box, group])
    shown = run(carom_freecad.show, answer, 0)[1]
    assert shown["triangles"] >= 12 and shown["segments"] >= 6 and len(shown["shown"]) == 2, shown
    region = made.findObjects(Name="^Carom_Overlap")[0].Mesh
    assert math.isclose(region.Area, 6 * 25, rel_tol=1e-5), region.Area
    run(carom_freecad.show, answer, 0)
    assert len(made.findObjects(Name="^Carom_Overlap")) == 2  # the last one is replaced
    made.undo()
    made.undo()
    assert not made.findObjects(Name="^Carom_Overlap")
    with tempfile.TemporaryDirectory() as folder:
        page = os.path.join(folder, "report.html")
        run(carom_freecad.report, answer, page)
        with open(page, encoding="utf-8") as file:
            text = file.read()
        assert "<html" in text and "Carom" in text
        refused("cannot", call=lambda: carom_freecad.report(answer, os.path.join(folder, "no", "such", "page.html")))
    made.removeObject("Box")
    refused("Box was deleted", call=lambda: carom_freecad.show(answer, 0))


def hostile_input():
    for name in App.listDocuments():
        App.closeDocument(name)
    refused("no document")
    made = document()
    refused("select two")
    one = box(made, "One", (0, 0, 0))
    made.recompute()
    refused("select two")
    made.addObject("Mesh::Feature", "Empty")
    refused("select two")  # it has no faces
    refused("tolerance", objects=[one], tolerance=0.0)
    refused("tolerance", objects=[one], tolerance=math.nan)
    refused("clearance", objects=[one], clearance=-1.0)
    sheet = carom.Mesh.shape("grid")
    mesh_object(made, "Sheet", sheet.vertices + np.float32(0.5), sheet.faces)
    _, told = run(carom_freecad.check)
    assert len(told["clashes"]) == 1 and told["clashes"][0]["triangle_pairs"] > 0 and not told["clashes"][0]["volume"], told
    broken = mesh_object(made, "Broken", sheet.vertices, sheet.faces)
    copy = broken.Mesh.copy()
    copy.setPoint(3, V(math.nan, 0, 0))
    broken.Mesh = copy
    refused("Broken")
    gone = box(made, "Gone", (5, 5, 5))
    made.removeObject("Gone")
    refused("deleted", objects=[one, gone])
    refused("two placements", call=lambda: carom_freecad.along(one, None, []))
    refused("no edges", call=lambda: carom_freecad.joint_path(broken) if hasattr(broken, "Shape") else
            carom_freecad.joint_path(made.addObject("Part::Feature", "Blank")))


def cancelled():
    made = document()
    box(made, "A", (0, 0, 0))
    box(made, "B", (10, 0, 0))
    made.recompute()
    for calls in range(1, 4):
        seen = []
        refused("cancelled", progress=lambda what, _: seen.append(what) or len(seen) >= calls)
        assert len(seen) >= calls
    assert not made.UndoNames


def paths():
    made = document()
    wall = box(made, "Wall", (0, 0, 0))
    arm = box(made, "Arm", (30, 0, 0), (4, 4, 4))
    made.recompute()
    steps = [App.Placement(V(-x, 0, 0), App.Rotation()) for x in range(0, 21, 2)]
    answer, told = run(carom_freecad.along, arm, None, steps)
    assert told["part"] == "Wall" and abs(told["position"] - 5) < 1e-4, told
    assert [round(v, 6) for v in told["volumes"][:8]] == [0, 0, 0, 0, 0, 0, 32, 64], told["volumes"]
    joint = made.addObject("App::FeaturePython", "Joint")
    joint.addProperty("App::PropertyString", "JointType").JointType = "Revolute"
    joint.addProperty("App::PropertyXLinkSub", "Reference1").Reference1 = (arm, ["Edge1"])
    joint.addProperty("App::PropertyPlacement", "Placement1").Placement1 = App.Placement(V(0, 20, 0), App.Rotation())
    steps, centre = carom_freecad.joint_path(joint, "", 0, -90, 45)  # about the axis x = 30, y = 20
    assert centre == V(30, 20, 0) and len(steps) == 46
    answer, told = run(carom_freecad.along, arm, None, steps, centre)
    expected = next((i for i, v in enumerate(told["volumes"]) if v > 0), None)
    assert told["position"] is not None and expected is not None and expected - 2 < told["position"] <= expected, told
    joint.JointType = "Slider"
    assert carom_freecad.joint_path(joint, "", 0, 10, 5)[0][-1].Base == V(0, 0, 10)
    joint.JointType = "Ball"
    refused("Ball", call=lambda: carom_freecad.joint_path(joint))
    wire = made.addObject("Part::Feature", "Wire")
    wire.Shape = Part.makePolygon([V(0, 0, 0), V(-5, 0, 0), V(-5, 0, 40)])
    steps, _ = carom_freecad.joint_path(wire, "", 0, 0, 20)
    _, told = run(carom_freecad.along, arm, [wall], steps)
    assert told["position"] is None and not any(told["volumes"])
    pin = made.addObject("Part::Cylinder", "Pin")
    made.recompute()
    circle = next(i for i, e in enumerate(pin.Shape.Edges, 1) if isinstance(e.Curve, Part.Circle))
    steps, centre = carom_freecad.joint_path(pin, f"Edge{circle}", 0, 360, 1)
    assert centre is not None and len(steps) == 5  # a quarter turn at most between two


failed = 0
for test in (the_buggy, checks, hostile_input, cancelled, paths):
    try:
        test()
        print(f"passed: {test.__name__}")
    except Exception:  # all of them are told
        traceback.print_exc(file=sys.stdout)
        print(f"FAILED: {test.__name__}")
        failed += 1
sys.stdout.flush()
os._exit(1 if failed else 0)
