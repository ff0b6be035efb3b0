# SPDX-License-Identifier: MIT
"""blender -b --factory-startup --python test_blender.py -- ZIP TOOL: installs the zip and calls every operator by its name.

Results are read from CAROM_RESULT, as scripts would. Bad input must give Blender's own errors: RuntimeError of the call,
with a message, and no traceback."""
import json
import math
import os
import subprocess
import sys
import tempfile
import time
import traceback

import bmesh
import bpy
import numpy as np

ARCHIVE, TOOL = sys.argv[sys.argv.index("--") + 1:]
MOST_SECONDS = 2.0  # of the operator on a million faces; told, not asserted: the machine may be busy
folder = tempfile.mkdtemp()
os.environ["CAROM_RESULT"] = os.path.join(folder, "result.json")
bpy.ops.preferences.addon_install(filepath=ARCHIVE)
bpy.ops.preferences.addon_enable(module="carom_blender")
import carom_blender  # noqa: E402

carom = carom_blender.carom
assert carom.__file__.startswith(bpy.utils.user_resource("SCRIPTS")), carom.__file__


def call(name, **options):
    """The result of an operator that is called by its name."""
    with open(os.environ["CAROM_RESULT"], "w") as file:
        file.write("null")
    status = getattr(bpy.ops.carom, name)(**options)
    with open(os.environ["CAROM_RESULT"]) as file:
        return status, json.load(file)


def refused(name, *words, **options):
    try:
        status, result = call(name, **options)
    except RuntimeError as error:
        assert "Traceback" not in str(error), error
        for word in words:
            assert word in str(error), (name, word, str(error))
        return
    raise AssertionError(f"{name} was not refused: {status} {result}")


def clear():
    if bpy.context.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    for item in list(bpy.data.objects):
        bpy.data.objects.remove(item)


def add(name, vertices, faces):
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(np.asarray(vertices, float).tolist(), [], [list(map(int, face)) for face in faces])
    item = bpy.data.objects.new(name, mesh)
    bpy.context.collection.objects.link(item)
    return item


def shape(name, kind="box", at=(0, 0, 0), **options):
    mesh = carom.Mesh.shape(kind, **options)
    item = add(name, mesh.vertices, mesh.faces)
    item.location = at
    return item


def choose(*items):
    for item in bpy.data.objects:
        item.select_set(item in items)
    bpy.context.view_layer.objects.active = items[-1] if items else None
    bpy.context.view_layer.update()


def edit(item):
    choose(item)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="DESELECT")


def selected(item, what="faces"):
    return [e.index for e in getattr(bmesh.from_edit_mesh(item.data), what) if e.select]


# ---- Tests

def a_million_faces():
    """The faces of a cloth of a million triangles, selected in Edit Mode: those of carom pairs."""
    clear()
    cloth = carom.Mesh.shape("cloth", detail=708, dtype=np.float32)
    assert cloth.face_count >= 1_000_000, cloth
    path = os.path.join(folder, "cloth.ply")
    cloth.save(path)
    mesh = bpy.data.meshes.new("cloth")
    mesh.vertices.add(cloth.vertex_count)
    mesh.vertices.foreach_set("co", cloth.vertices.ravel())
    mesh.loops.add(3 * cloth.face_count)
    mesh.loops.foreach_set("vertex_index", cloth.corners.view(np.int32))
    mesh.polygons.add(cloth.face_count)
    mesh.polygons.foreach_set("loop_start", np.arange(0, 3 * cloth.face_count, 3, dtype=np.int32))
    if bpy.app.version < (4, 1):
        mesh.polygons.foreach_set("loop_total", np.full(cloth.face_count, 3, np.int32))
    mesh.update(calc_edges=True)
    item = bpy.data.objects.new("cloth", mesh)
    bpy.context.collection.objects.link(item)
    edit(item)
    whole, times, processor, execute = [], [], [], carom_blender.Work.execute

    def timed(self, context):
        begin = time.perf_counter(), time.process_time()
        try:
            return execute(self, context)
        finally:
            times.append(time.perf_counter() - begin[0])
            processor.append(time.process_time() - begin[1])

    carom_blender.Work.execute = timed  # bpy.ops also evaluates what is to be drawn, before and after
    for _ in range(5):
        begin = time.perf_counter()
        status, result = call("select_meeting")
        whole.append(time.perf_counter() - begin)
    carom_blender.Work.execute = execute
    out = subprocess.run([TOOL, "pairs", path, "-o", "-"], capture_output=True, text=True, check=True).stdout
    rows = [line.split(",") for line in out.split("\n") if line[:1].isdigit()]
    expected = sorted({int(index) for row in rows for index in row[:2]})
    assert status == {"FINISHED"} and selected(item) == expected and len(expected) == result["selected"] > 1000, result
    print(f"{cloth.face_count} faces, {len(expected)} selected, those of carom pairs: {sorted(times)[2]:.2f} s, "
          f"{'more than' if sorted(times)[2] > MOST_SECONDS else 'within'} {MOST_SECONDS:.0f} s ("
          f"{sorted(processor)[2]:.2f} s of processor time; at first {times[0]:.2f} s; with Blender's evaluation "
          f"{sorted(whole)[2]:.2f} s)")


def selections():
    clear()
    box = carom.Mesh.shape("box")
    quads = add("quads", [(0, 0, 0), (2, 0, 0), (2, 2, 0), (0, 2, 0), (1, 1, -1), (1, 1, 1), (3, 1, 0), (9, 9, 9), (9, 9, 8),
                          (9, 9, 7)], [(0, 1, 2, 3), (4, 5, 6), (7, 8, 9)])
    edit(quads)
    assert call("select_meeting")[1]["selected"] == 2 and selected(quads) == [0, 1]
    assert call("select_degenerate")[1]["selected"] == 1 and selected(quads) == [2]
    bpy.ops.mesh.hide()
    assert call("select_degenerate")[1] == {"selected": 0, "hidden": 1} and not selected(quads)
    bpy.ops.mesh.reveal()
    bpy.ops.object.mode_set(mode="OBJECT")
    lid = add("lid", box.vertices, box.faces[:-2])
    edit(lid)
    assert call("select_holes")[1]["selected"] == 4 and len(selected(lid, "edges")) == 4
    bpy.ops.object.mode_set(mode="OBJECT")
    empty = add("empty", [], [])
    edit(empty)
    for name in ("select_meeting", "select_holes", "select_degenerate"):
        assert call(name)[1]["selected"] == 0
    bpy.ops.object.mode_set(mode="OBJECT")
    spoiled = shape("spoiled")
    spoiled.data.vertices[3].co = (math.nan, 0, 0)
    edit(spoiled)
    refused("select_meeting", "spoiled", "vertex 3")
    bpy.ops.object.mode_set(mode="OBJECT")
    refused("select_meeting", "poll")


def overlaps():
    clear()
    a, b = shape("A"), shape("B", at=(1, 0.5, 0.25))
    choose(a, b)
    _, result = call("overlap")
    assert abs(result["volume"] - 1 * 1.5 * 1.75) < 1e-9 and result["relation"] == "overlapping", result
    assert math.isclose(carom.info(carom_blender.world_mesh(bpy.context, bpy.data.objects[result["object"]])).area,
                        2 * (1.5 + 1.75 + 1.5 * 1.75), rel_tol=1e-6)
    b.scale = (2, 1, -1)  # not uniform, and mirrored
    b.modifiers.new("array", "ARRAY").relative_offset_displace = (0, 5, 0)  # a second one, far away
    choose(a, b)
    _, result = call("overlap", region=False)
    assert abs(result["volume"] - 2 * 1.5 * 1.75) < 1e-9 and result["object"] is None, result
    b.location = (9, 0, 0)
    choose(a, b)
    _, result = call("overlap")
    assert result["relation"] == "apart" and abs(result["distance"] - 6) < 1e-9, result
    refused_with_one = add("open", *(lambda m: (m.vertices, m.faces[:-2]))(carom.Mesh.shape("box")))
    choose(a, refused_with_one)
    refused("overlap", "open", "not closed")
    choose(a)
    refused("overlap", "select two")
    choose()
    refused("overlap", "select two")
    spoiled = shape("spoiled")
    spoiled.data.vertices[0].co = (0, math.nan, 0)  # Blender makes infinity finite
    choose(a, spoiled)
    refused("overlap", "spoiled")
    nothing = add("nothing", [], [])
    choose(a, nothing)
    refused("overlap", "nothing", "no faces")


def clash_lists():
    clear()
    refused("clashes", "there must be two")
    a, b = shape("A"), shape("B", at=(1.5, 0, 0))
    shape("C", at=(3.75, 0, 0))
    shape("D", "grid", at=(0, 0, 0.25))
    choose()
    _, result = call("clashes", clearance=0.5)
    found = {(c["a"], c["b"]): c for c in result["clashes"]}
    assert result["objects"] == ["A", "B", "C", "D"] and (0, 1) in found and (1, 2) in found and (0, 2) not in found, result
    assert abs(found[0, 1]["volume"] - 2) < 1e-9 and abs(found[0, 1]["depth"] - 0.5) < 1e-6
    assert abs(found[1, 2]["distance"] - 0.25) < 1e-9 and found[0, 3]["triangle_pairs"] > 0
    scene = bpy.context.scene
    scene.carom_clash = 1  # a click into the list
    row = scene.carom_clashes[1]
    assert sorted(o.name for o in bpy.context.selected_objects) == sorted((row.a, row.b))
    bpy.data.objects.remove(a)
    bpy.data.objects.remove(b)
    scene.carom_clash = 0  # both are gone
    scene.carom_clash = 99  # there are fewer
    assert not [o for o in bpy.context.selected_objects if o.name in "AB"]


def spheres():
    clear()
    box = shape("box", at=(5, 0, 0))
    box.scale = (1, 2, 1)
    choose(box)
    _, result = call("pack", count=30)
    found = np.array(result["spheres"])
    assert found.shape == (30, 4) and (abs(found[:, :3] - [5, 0, 0]) + found[:, 3:] <= np.array([1, 2, 1]) + 1e-6).all()
    choose(box)
    _, result = call("cover", count=8)
    corners = carom_blender.world_mesh(bpy.context, box).vertices
    found = np.array(result["spheres"])
    assert (np.linalg.norm(corners[:, None] - found[None, :, :3], axis=2) <= found[:, 3] + 1e-9).any(axis=1).all()
    choose(shape("sheet", "grid"))
    refused("pack", "sheet")
    choose()
    refused("cover", "active")


def first_contacts():
    clear()
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 20
    wall, ball = shape("wall"), shape("ball", at=(12, 0, 0))
    ball.keyframe_insert("location", frame=1)
    ball.location = (0, 0, 0)
    ball.keyframe_insert("location", frame=13)
    for curve in ball.animation_data.action.fcurves:
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"
    choose(wall, ball)
    _, result = call("first_contact")
    assert abs(result["frame"] - 11) < 1e-6 and scene.frame_current == 11, (result, scene.frame_current)
    scene.frame_end = 5
    scene.frame_set(2)
    assert call("first_contact")[1]["frame"] is None and scene.frame_current == 2
    scene.frame_start, scene.frame_end = 12, 15
    assert call("first_contact")[1]["frame"] == 12.0


def cancelled():
    """A call that is cancelled changes nothing and says so."""
    clear()
    cloth = shape("cloth", "cloth")
    edit(cloth)
    carom_blender.Work.cancelled = True
    try:
        assert call("select_meeting") == ({"CANCELLED"}, {"error": "cancelled"}) and not selected(cloth)
    finally:
        carom_blender.Work.cancelled = False


def undone():
    clear()
    choose(shape("A"), shape("B", at=(1, 0, 0)))
    bpy.ops.ed.undo_push(message="before")
    _, result = call("overlap")
    assert result["object"] in bpy.data.objects and "UNDO" in carom_blender.CAROM_OT_overlap.bl_options
    bpy.ops.ed.undo_push(message="overlap")  # a call from a script pushes none itself
    bpy.ops.ed.undo()
    assert result["object"] not in bpy.data.objects, "undo left it"


failed = 0
for test in (a_million_faces, selections, overlaps, clash_lists, spheres, first_contacts, cancelled, undone):
    try:
        test()
        print(f"passed: {test.__name__}")
    except Exception:  # noqa: BLE001: all of them are told
        traceback.print_exc()
        print(f"FAILED: {test.__name__}")
        failed += 1
bpy.ops.preferences.addon_disable(module="carom_blender")
sys.stdout.flush()
os._exit(1 if failed else 0)
