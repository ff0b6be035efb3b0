# SPDX-License-Identifier: MIT
"""blender --factory-startup --window-geometry 0 0 1280 800 --python test_blender_window.py -- ZIP, with a display: an
operator in a window runs in a thread, its progress is seen, Esc cancels it, and without Esc it finishes.
CAROM_PICTURE=folder also takes a picture, by ImageMagick."""
import json
import os
import subprocess
import sys
import traceback

import bpy

FOLDER = os.environ.get("CAROM_PICTURE")
bpy.context.preferences.view.show_splash = False
bpy.ops.preferences.addon_install(filepath=sys.argv[-1])
bpy.ops.preferences.addon_enable(module="carom_blender")
import carom_blender  # noqa: E402

carom = carom_blender.carom


def told():
    try:
        with open(os.environ["CAROM_RESULT"]) as file:
            return json.load(file)
    except (OSError, ValueError):
        return None


def shape(name, kind, at, **options):
    mesh, made = bpy.data.meshes.new(name), carom.Mesh.shape(kind, **options)
    mesh.from_pydata(made.vertices.tolist(), [], made.faces.tolist())
    item = bpy.data.objects.new(name, mesh)
    bpy.context.collection.objects.link(item)
    item.location = at
    item.select_set(True)
    bpy.context.view_layer.objects.active = item
    return item


def override():
    window = bpy.context.window_manager.windows[0]
    area = next(area for area in window.screen.areas if area.type == "VIEW_3D")
    region = next(region for region in area.regions if region.type == "WINDOW")
    return {"window": window, "area": area, "region": region, "screen": window.screen}



def steps():
    """The test, between whose steps Blender handles its events."""
    for item in list(bpy.data.objects):
        bpy.data.objects.remove(item)
    item = shape("knot", "knot", (0, 0, 0))
    seen = []
    heard = carom_blender.Work.tell
    carom_blender.Work.tell = lambda self, what, fraction: seen.append(self) or heard(self, what, fraction)
    with bpy.context.temp_override(**override()):
        assert bpy.ops.carom.pack("INVOKE_DEFAULT", count=200000) == {"RUNNING_MODAL"}
    yield
    subprocess.run(["xdotool", "mousemove", "500", "400", "key", "Escape"], check=True)
    for _ in range(200):
        if told():
            break
        yield
    assert told() == {"error": "cancelled"}, told()
    assert seen, "no progress"
    assert len(bpy.data.objects) == 1
    os.remove(os.environ["CAROM_RESULT"])
    bpy.data.objects.remove(item)
    shape("knot", "knot", (0, 0, 0))
    shape("ball", "sphere", (2, 0.5, 0))
    bpy.ops.ed.undo_push(message="before")
    with bpy.context.temp_override(**override()):
        bpy.ops.carom.overlap("INVOKE_DEFAULT")
    for _ in range(600):
        if told():
            break
        yield
    assert told()["volume"] > 0 and told()["object"] in bpy.data.objects, told()
    with bpy.context.temp_override(**override()):
        bpy.ops.carom.clashes("EXEC_DEFAULT")
    if FOLDER:
        yield from picture()
    with bpy.context.temp_override(**override()):
        bpy.ops.ed.undo()
    yield


def picture():
    """The sidebar, the list and the overlap."""
    where = override()
    where["area"].spaces[0].show_region_ui = True
    where["area"].spaces[0].shading.color_type = "MATERIAL"
    with bpy.context.temp_override(**where):
        for item in bpy.data.objects:
            item.select_set(True)
        bpy.ops.view3d.view_selected()
        bpy.ops.object.select_all(action="DESELECT")
    for _ in range(30):
        yield
    subprocess.run(["xdotool", "mousemove", "1043", "247", "click", "1"], check=True)  # the tab, which scripts cannot choose
    for _ in range(30):
        yield
    subprocess.run(["import", "-window", "root", os.path.join(FOLDER, "blender.png")], check=True)


def tick():
    try:
        next(work)
        return 0.05
    except StopIteration:
        print("passed: an operator in a window")
        sys.stdout.flush()
        os._exit(0)
    except BaseException:  # noqa: BLE001
        traceback.print_exc(file=sys.stdout)
        print("FAILED: an operator in a window")
        sys.stdout.flush()
        os._exit(1)


work = steps()
bpy.app.timers.register(tick, first_interval=2.0)
