# SPDX-License-Identifier: MIT
"""Exact intersections, overlaps, clashes, contacts and sphere packings: the package carom for Blender.

Each operator is a generator: it reads Blender's data, yields a job for carom, and goes on with the answer. In a window the
job has a thread, and Esc cancels. `CAROM_RESULT=file` in the environment writes the last result there as JSON."""
import json
import os
import threading

import bmesh
import bpy
import numpy as np
from bpy.props import BoolProperty, CollectionProperty, FloatProperty, IntProperty, StringProperty

if os.path.isdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "carom")):
    from . import carom  # of the zip, with its library
else:
    import carom

bl_info = {"name": "Carom", "author": "The Carom authors", "version": (0, 2, 0), "blender": (3, 4, 0), "category": "Mesh",
           "location": "3D View > Sidebar > Carom; Select menu of Edit Mode",
           "description": "Exact intersections, overlaps, clashes, contacts and sphere packings"}


class Problem(Exception):
    """What the user is told, without a traceback."""


FAILURES = (Problem, carom.CaromError, ReferenceError, RuntimeError, ValueError, OSError, MemoryError)


def write_result(values):
    if os.environ.get("CAROM_RESULT"):
        with open(os.environ["CAROM_RESULT"], "w", encoding="utf-8") as file:
            json.dump(values, file)


# ---- Meshes --------------------------------------------------------------------------------------------------------

def carom_mesh(mesh, matrix=None):
    """A mesh of Blender as one of carom, moved by a matrix in double precision."""
    vertices, corners = np.empty((len(mesh.vertices), 3), np.float32), np.empty(len(mesh.loops), np.uint32)
    if not len(corners):
        raise ValueError("it has no faces")
    mesh.vertices.foreach_get("co", vertices.ravel())
    mesh.loops.foreach_get("vertex_index", corners)  # into int32 takes three times as long
    if matrix is not None:
        vertices = vertices @ np.array(matrix, float)[:3, :3].T + np.array(matrix, float)[:3, 3]
    if len(corners) == 3 * len(mesh.polygons):
        return carom.Mesh(vertices, corners.reshape(-1, 3))
    starts = np.empty(len(mesh.polygons), np.int32)
    mesh.polygons.foreach_get("loop_start", starts)
    return carom.Mesh.from_polygons(vertices, corners, np.append(starts, len(corners)))


def world_mesh(context, item):
    """An object as it is seen, in the world: modifiers, shape keys, any scale, at the current frame."""
    if item.type not in {"MESH", "CURVE", "SURFACE", "META", "FONT"}:
        raise Problem(f"{item.name} is no mesh")
    seen = item.evaluated_get(context.evaluated_depsgraph_get())
    try:
        return told(item.name, lambda mesh: carom_mesh(mesh, seen.matrix_world))(seen.to_mesh())
    finally:
        seen.to_mesh_clear()


def two_objects(context):
    chosen = [o for o in context.selected_objects if o.type == "MESH"]
    if len(chosen) != 2:
        raise Problem(f"{len(chosen)} mesh objects are selected; select two")
    return sorted(chosen, key=lambda o: o == context.active_object)


def told(name, job):
    """A job whose messages name the object."""
    def run(own):
        try:
            return job(own)
        except (carom.BadInputError, carom.TooLargeError, ValueError) as error:
            raise Problem(f"{name}: {error}") from None
    return run


def new_object(context, name, vertices, faces, colour):
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(np.asarray(vertices, float).tolist(), [], np.asarray(faces).tolist())
    material = bpy.data.materials.get("Carom") or bpy.data.materials.new("Carom")
    material.diffuse_color = colour
    mesh.materials.append(material)
    made = bpy.data.objects.new(name, mesh)
    made["carom"] = made.show_in_front = True  # no part of clash lists; seen within the objects
    context.collection.objects.link(made)
    return made


def shown(context, value, kind, power):
    units = context.scene.unit_settings
    return f"{value:.6g}" if units.system == "NONE" else bpy.utils.units.to_string(
        units.system, kind, value * units.scale_length ** power, precision=5)


# ---- Operators -----------------------------------------------------------------------------------------------------

class Work:
    """What all operators share: progress, Esc, messages, undo."""

    bl_options = {"REGISTER", "UNDO"}
    mode, cancelled, fraction = "OBJECT", False, 0.0

    @classmethod
    def poll(cls, context):
        return context.mode == cls.mode

    def tell(self, _what, fraction):
        self.fraction = fraction
        return self.cancelled

    def finish(self, work, error=None):
        work.close()
        if error is None:
            return {"FINISHED"}
        text = "cancelled" if isinstance(error, carom.Cancelled) else str(error) or type(error).__name__
        write_result({"error": text})
        self.report({"WARNING" if isinstance(error, carom.Cancelled) else "ERROR"}, f"Carom: {text}")
        return {"CANCELLED"}

    def execute(self, context):
        work, answer, own = self.steps(context), None, carom.Context(progress=self.tell)
        try:
            while True:
                if self.cancelled:
                    raise carom.Cancelled("cancelled")
                answer = work.send(answer)(own)
        except StopIteration:
            return self.finish(work)
        except FAILURES as error:
            return self.finish(work, error)

    def invoke(self, context, _event):
        if bpy.app.background or context.window is None:
            return self.execute(context)
        self.cancelled, self.work, self.thread, self.answer, self.error = False, self.steps(context), None, None, None
        self.timer = context.window_manager.event_timer_add(0.05, window=context.window)
        context.window_manager.modal_handler_add(self)
        context.window_manager.progress_begin(0, 1000)
        return {"RUNNING_MODAL"}

    def run(self, job):
        try:
            self.answer = job(carom.Context(progress=self.tell))
        except FAILURES as error:
            self.error = error

    def modal(self, context, event):
        if event.type == "ESC":
            self.cancelled = True
        if event.type != "TIMER":
            return {"RUNNING_MODAL"}
        context.workspace.status_text_set(f"{self.bl_label}: {100 * self.fraction:.0f} %   Esc cancels")
        context.window_manager.progress_update(int(1000 * self.fraction))
        if self.thread is not None and self.thread.is_alive():
            return {"RUNNING_MODAL"}
        try:
            if self.error or self.cancelled:
                raise self.error or carom.Cancelled("cancelled")
            self.thread = threading.Thread(target=self.run, args=(self.work.send(self.answer),))
            self.thread.start()
            return {"RUNNING_MODAL"}
        except StopIteration:
            error = None
        except FAILURES as failure:
            error = failure
        context.window_manager.event_timer_remove(self.timer)
        context.window_manager.progress_end()
        context.workspace.status_text_set(None)
        return self.finish(self.work, error)


class Select(Work):
    """Edit Mode: one answer for each mesh in it."""

    mode = "EDIT_MESH"

    def steps(self, context):
        total, hidden, started = 0, 0, False
        for item in context.objects_in_mode_unique_data:
            item.update_from_editmode()
            if not len(item.data.polygons):
                continue
            mesh = told(item.name, carom_mesh)(item.data)
            found = yield told(item.name, lambda own: self.find(mesh, own))
            if not started:
                started = bpy.ops.mesh.select_all(action="DESELECT")
                context.tool_settings.mesh_select_mode = (False, self.edges, not self.edges)
            edited = bmesh.from_edit_mesh(item.data)
            (edited.verts if self.edges else edited.faces).ensure_lookup_table()
            verts, faces, edge = edited.verts, edited.faces, edited.edges.get
            for one in [edge([verts[i] for i in pair]) for pair in found.tolist()] if self.edges else map(
                    faces.__getitem__, found.tolist()):
                one.select_set(not one.hide)
                total, hidden = total + (not one.hide), hidden + one.hide
            bmesh.update_edit_mesh(item.data, loop_triangles=False, destructive=False)
        write_result({"selected": total, "hidden": hidden})
        self.report({"INFO"}, f"{total} {'edges of holes' if self.edges else 'faces'} selected, {hidden} are hidden")


class CAROM_OT_select_meeting(Select, bpy.types.Operator):
    """Select all faces that meet other faces of the mesh, decided exactly"""

    bl_idname, bl_label, edges = "carom.select_meeting", "Select Meeting Faces", False
    merge: BoolProperty(name="Merge", default=True, description="Vertices in the same place count as one")

    def find(self, mesh, own):
        pairs = carom.Soup(mesh.weld(context=own) if self.merge else mesh, context=own).self_pairs(context=own)
        return np.unique(pairs[pairs[:, 0] != pairs[:, 1]])


class CAROM_OT_select_degenerate(Select, bpy.types.Operator):
    """Select all faces without area: their corners are on one line, exactly"""

    bl_idname, bl_label, edges = "carom.select_degenerate", "Select Degenerate Faces", False

    def find(self, mesh, own):
        pairs = carom.Soup(mesh, context=own).self_pairs(context=own)
        return pairs[pairs[:, 0] == pairs[:, 1]][:, 0]


class CAROM_OT_select_holes(Select, bpy.types.Operator):
    """Select the edges around all holes"""

    bl_idname, bl_label, edges = "carom.select_holes", "Select Holes", True

    def find(self, mesh, own):
        edges = [np.column_stack((loop, np.roll(loop, -1))) for loop in mesh.boundary_loops(context=own)]
        return np.concatenate(edges) if edges else np.zeros((0, 2), np.uint32)


class CAROM_OT_overlap(Work, bpy.types.Operator):
    """How much two selected objects overlap, exactly; the overlap becomes an object"""

    bl_idname, bl_label = "carom.overlap", "Overlap of Two Objects"
    region: BoolProperty(name="Region", default=True, description="Make the surface of the overlap an object")

    def steps(self, context):
        items = two_objects(context)
        names, meshes = [item.name for item in items], [world_mesh(context, item) for item in items]
        a = yield told(names[0], lambda own: carom.Solid(meshes[0], context=own))
        b = yield told(names[1], lambda own: carom.Solid(meshes[1], context=own))
        found = yield lambda own: a.overlap(b, distance=True, context=own)
        made = None
        if self.region and found.volume:
            triangles, _ = yield lambda own: carom.tool.overlap_region(*meshes, context=own)
            made = new_object(context, f"Overlap of {names[0]} and {names[1]}", triangles.reshape(-1, 3),
                              np.arange(3 * len(triangles)).reshape(-1, 3), (0.91, 0.44, 0.04, 1.0)).name
        number = (shown(context, found.distance, "LENGTH", 1) + " between them" if found.distance else
                  shown(context, found.volume, "VOLUME", 3))
        write_result({"relation": str(found.relation), "volume": found.volume, "volume_error": found.volume_error,
                      "distance": found.distance, "object": made})
        self.report({"INFO"}, f"{names[0]} and {names[1]}: {found.relation}, {number}")


class CAROM_OT_clashes(Work, bpy.types.Operator):
    """List all objects of the active collection that touch, overlap, enclose each other or are too close"""

    bl_idname, bl_label = "carom.clashes", "Clashes of the Collection"
    clearance: FloatProperty(name="Clearance", min=0.0, subtype="DISTANCE", description="Also list what is closer than this")

    def steps(self, context):
        items = [o for o in context.collection.all_objects if o.type == "MESH" and o.visible_get() and o.data.polygons
                 and "carom" not in o]
        if len(items) < 2:
            raise Problem(f"{context.collection.name} has {len(items)} visible meshes with faces; there must be two")
        names, meshes = [item.name for item in items], [world_mesh(context, item) for item in items]
        found = yield lambda own: carom.clashes(meshes, self.clearance, context=own)
        listed = context.scene.carom_clashes
        listed.clear()
        for clash in found:
            row, row_names = listed.add(), (names[clash.a], names[clash.b])
            (row.a, row.b), row.name = row_names, ", ".join(row_names)
            row.text = (shown(context, clash.volume, "VOLUME", 3) if clash.volume else
                        shown(context, clash.depth or clash.distance, "LENGTH", 1)) + f", {clash.relation}"
        write_result({"objects": names, "clashes": [
            {**c._asdict(), "relation": str(c.relation), "direction": c.direction.tolist(), "point": None} for c in found]})
        self.report({"INFO"}, f"{len(found)} clashes of {len(items)} objects")


class Spheres(Work):
    def steps(self, context):
        if context.active_object is None:
            raise Problem("no object is active")
        mesh, name = world_mesh(context, context.active_object), context.active_object.name
        spheres = yield told(name, lambda own: self.make(mesh, count=self.count, context=own).spheres)
        ball = carom.Mesh.shape("sphere", detail=2)
        vertices = (ball.vertices[None] * spheres[:, None, 3:] + spheres[:, None, :3]).reshape(-1, 3)
        faces = (ball.faces[None].astype(int) + ball.vertex_count * np.arange(len(spheres))[:, None, None]).reshape(-1, 3)
        made = new_object(context, f"{self.bl_label} of {name}", vertices, faces, (0.3, 0.55, 0.85, 1.0))
        write_result({"spheres": spheres.tolist(), "object": made.name})
        self.report({"INFO"}, f"{len(spheres)} spheres")


class CAROM_OT_pack(Spheres, bpy.types.Operator):
    """Fill the active object with disjoint spheres, largest first"""

    bl_idname, bl_label, make = "carom.pack", "Sphere Packing", carom.Packing
    count: IntProperty(name="Spheres", default=500, min=1, soft_max=10000)


class CAROM_OT_cover(Spheres, bpy.types.Operator):
    """Cover the active object with spheres that together contain it"""

    bl_idname, bl_label, make = "carom.cover", "Sphere Cover", carom.Cover
    count: IntProperty(name="Spheres", default=32, min=1, soft_max=1000)


class CAROM_OT_first_contact(Work, bpy.types.Operator):
    """When two selected objects first meet in the animation; between two frames all vertices move in straight lines"""

    bl_idname, bl_label = "carom.first_contact", "First Contact in the Animation"

    def steps(self, context):
        items, scene, before, frame = two_objects(context), context.scene, context.scene.frame_current, None
        try:
            scene.frame_set(scene.frame_start)
            meshes = [world_mesh(context, item) for item in items]
            start = yield lambda own: carom.clashes(meshes, depth=False, context=own)
            frame, before = (scene.frame_start + 0.0, scene.frame_start) if start else (None, before)
            for index in range(scene.frame_start + 1, scene.frame_end + 1) if not start else ():
                scene.frame_set(index)
                after = [world_mesh(context, item) for item in items]
                if any(a.face_count != b.face_count or (a.corners != b.corners).any() for a, b in zip(meshes, after)):
                    raise Problem(f"the faces of an object change at frame {index}: nothing is known between two frames")
                hit = yield lambda own: carom.Soup(meshes[0], context=own).first_impact(
                    after[0], carom.Soup(meshes[1], context=own), after[1], context=own)
                self.fraction, meshes = (index - scene.frame_start) / max(scene.frame_end - scene.frame_start, 1), after
                if hit is not None:
                    frame, before = index - 1 + hit.time.lower, index
                    break
        finally:
            scene.frame_set(before)
        write_result({"frame": frame})
        self.report({"INFO"}, "No contact" if frame is None else f"First contact at frame {frame:.3f}")


# ---- The sidebar ---------------------------------------------------------------------------------------------------

class CaromClash(bpy.types.PropertyGroup):
    a: StringProperty()
    b: StringProperty()
    text: StringProperty()


def choose(scene, context):
    """A click into the list selects both objects."""
    view, rows = context.view_layer.objects, scene.carom_clashes[scene.carom_clash:][:1]
    for row in rows if context.mode == "OBJECT" else ():
        for item in view:
            item.select_set(item.name in (row.a, row.b))
        view.active = view.get(row.b) or view.get(row.a)


class CAROM_UL_clashes(bpy.types.UIList):
    def draw_item(self, _context, layout, _data, item, _icon, _active, _property):
        layout.label(text=f"{item.name}: {item.text}")


class CAROM_PT_panel(bpy.types.Panel):
    bl_label = bl_category = "Carom"
    bl_space_type, bl_region_type = "VIEW_3D", "UI"

    def draw(self, context):
        for kind in OPERATORS:
            if kind.mode == context.mode:
                self.layout.operator(kind.bl_idname)
        if context.mode == "OBJECT" and context.scene.carom_clashes:
            self.layout.template_list("CAROM_UL_clashes", "", context.scene, "carom_clashes", context.scene, "carom_clash")


def draw_menu(menu, _context):
    for kind in OPERATORS[:3]:
        menu.layout.operator(kind.bl_idname)


OPERATORS = (CAROM_OT_select_meeting, CAROM_OT_select_holes, CAROM_OT_select_degenerate, CAROM_OT_overlap, CAROM_OT_clashes,
             CAROM_OT_pack, CAROM_OT_cover, CAROM_OT_first_contact)
CLASSES = OPERATORS + (CaromClash, CAROM_UL_clashes, CAROM_PT_panel)


def register():
    for kind in CLASSES:
        bpy.utils.register_class(kind)
    bpy.types.Scene.carom_clashes = CollectionProperty(type=CaromClash)
    bpy.types.Scene.carom_clash = IntProperty(update=choose)
    bpy.types.VIEW3D_MT_select_edit_mesh.append(draw_menu)


def unregister():
    bpy.types.VIEW3D_MT_select_edit_mesh.remove(draw_menu)
    del bpy.types.Scene.carom_clashes, bpy.types.Scene.carom_clash
    for kind in reversed(CLASSES):
        bpy.utils.unregister_class(kind)
