# SPDX-License-Identifier: MIT
"""Interference and clearance of the parts of a document, also along joints and paths.

Shapes are tessellated by OpenCASCADE with a tolerance, which is added to the clearance as a margin; all decisions are
carom's, exact for these triangles. check() and along() need no window. `CAROM_RESULT=file` in the environment writes the
last result there as JSON. Lengths are in millimetres, as FreeCAD's are."""
import collections
import contextlib
import json
import math
import os
import tempfile

import FreeCAD as App
import Mesh
import numpy as np
import Part

import carom

if App.GuiUp:
    import FreeCADGui as Gui
    from PySide import QtCore, QtGui
    PLAIN = {"textFormat": QtCore.Qt.PlainText}  # Qt takes a label with tags for HTML

ORANGE, SHOWN = (0.91, 0.44, 0.04), "Carom_Overlap"
Piece = collections.namedtuple("Piece", "label document root sub mesh solid tolerance")  # solid: a carom.Solid or Soup
Result = collections.namedtuple("Result", "parts clashes tolerance clearance")


class Problem(Exception):
    """What the user is told, without a traceback."""


def guarded(function):
    """Errors go to the report view and, where there is a window, to a message box."""
    def call(*args, **options):
        try:
            return function(*args, **options)
        except carom.Cancelled:
            text = "cancelled"
        except ReferenceError:
            text = "an object was deleted since; run the check again"
        except (Problem, carom.CaromError, OSError, ValueError, RuntimeError, MemoryError) as error:
            text = str(error) or type(error).__name__
        write_result({"error": text})
        App.Console.PrintError(f"Carom: {text}\n")
        if App.GuiUp and text != "cancelled" and not os.environ.get("CAROM_RESULT"):
            QtGui.QMessageBox(QtGui.QMessageBox.Warning, "Carom", text, parent=Gui.getMainWindow(), **PLAIN).exec_()
        return None
    return call


def write_result(values):
    if os.environ.get("CAROM_RESULT"):
        with open(os.environ["CAROM_RESULT"], "w", encoding="utf-8") as file:
            json.dump(values, file)


@contextlib.contextmanager
def working(given=None):
    """A context for carom whose progress is a dialog with a button to cancel, or a function that is given."""
    dialog = None
    if App.GuiUp and not given:
        dialog = QtGui.QProgressDialog("", "Cancel", 0, 1000, Gui.getMainWindow(), windowModality=QtCore.Qt.WindowModal,
                                       minimumDuration=1000, value=0)
        dialog.setLabel(QtGui.QLabel(**PLAIN))

    def tell(what, fraction):
        if dialog is None:
            return bool(given and given(what, fraction))
        dialog.setLabelText(what)
        dialog.setValue(max(1, min(int(1000 * fraction), 999)))  # 0 would hide it for longer, and 1000 would close it
        QtGui.QApplication.processEvents(QtCore.QEventLoop.ProcessEventsFlag(not dialog.isVisible()))  # 1: no user's input
        return dialog.wasCanceled()

    try:
        yield carom.Context(progress=tell), tell
    finally:
        if dialog is not None:
            dialog.close()


# ---- Input: parts of a document ------------------------------------------------------------------------------------

def leaves(root, sub="", depth=0):
    """(root, sub, object) of all shapes and meshes in an object: containers and links are followed."""
    found = root.getSubObject(sub, retType=1) if sub else root
    real = found and (found.getLinkedObject(True) or found)
    if real is None or depth > 64:
        return
    if real.isDerivedFrom("Part::Feature") or real.isDerivedFrom("Mesh::Feature"):
        yield root, sub, real
    else:
        yield from (leaf for name in found.getSubObjects() for leaf in leaves(root, sub + name, depth + 1))


def triangles(root, sub, real, tolerance, folder):
    """Vertices and faces of an object in the document's coordinates, and how far they may be from its surface."""
    if real.isDerivedFrom("Mesh::Feature"):
        mesh, path = real.Mesh.copy(), os.path.join(folder, "mesh.ply")
        if not mesh.CountFacets:
            return (), (), 0.0
        mesh.Placement = App.Placement()
        mesh.write(path, "PLY")  # a third of the time of reading Mesh.Topology
        loaded, matrix = carom.load(path), root.getSubObject(sub, retType=4)
        if matrix == App.Matrix():
            return loaded.vertices, loaded.faces, 0.0
        matrix = np.array(matrix.A).reshape(4, 4)
        return loaded.vertices @ matrix[:3, :3].T + matrix[:3, 3], loaded.faces, 0.0
    shape = Part.getShape(root, sub, needSubElement=False, transform=True)
    if shape.isNull() or not shape.Faces:
        return (), (), 0.0
    points, faces = shape.tessellate(tolerance)
    flat = all(type(face.Surface).__name__ == "Plane" and all(type(edge.Curve).__name__ in ("Line", "LineSegment")
               for edge in face.Edges if not edge.Degenerated) for face in shape.Faces)
    return (np.array([tuple(p) for p in points], float).reshape(-1, 3), np.array(faces, np.uint32).reshape(-1, 3),
            0.0 if flat else tolerance)


def gather(objects, tolerance, context, tell):
    """The parts with faces of objects, or of pairs (object, path to a part of it), or of all that are visible."""
    if not objects and App.ActiveDocument is None:
        raise Problem("there is no document; open one")
    given = objects or [o for o in App.ActiveDocument.Objects if o.Visibility and not o.Name.startswith(SHOWN) and not (
        o.getParentGeoFeatureGroup() or o.getParentGroup() or any(i.isDerivedFrom("Part::Feature") for i in o.InList))]
    found, parts = list(dict.fromkeys(leaf for o in given for leaf in leaves(*(o if type(o) is tuple else (o,))))), []
    with tempfile.TemporaryDirectory() as folder:
        for index, (root, sub, real) in enumerate(found):
            label = " ".join(f"{root.Label}{'/' if sub else ''}{sub and root.getSubObject(sub, retType=1).Label}".split())
            if tell(label, index / len(found)):
                raise carom.Cancelled("cancelled")
            try:
                vertices, faces, off = triangles(root, sub, real, tolerance, folder)
                if not len(faces):
                    App.Console.PrintWarning(f"Carom: {label} has no faces and is left out\n")
                    continue
                solid = carom.solid_or_soup((vertices, faces), context=context)
            except (ValueError, OSError, RuntimeError) as error:  # not that it was cancelled
                raise Problem(f"{label}: {str(error).split('mesh.ply: ')[-1]}") from None
            parts.append(Piece(label, root.Document.Name, root.Name, sub, (vertices, faces), solid, off))
    return parts


# ---- Carom_Check ---------------------------------------------------------------------------------------------------

def check(objects=None, tolerance=0.1, clearance=0.0, progress=None):
    """All clashes of these objects, or of all that are visible in the document."""
    if not (tolerance > 0 and math.isfinite(tolerance) and clearance >= 0 and math.isfinite(clearance)):
        raise Problem("the tolerance is a length above 0, and the clearance one that is not negative")
    with working(progress) as (context, tell):
        parts = gather(objects, tolerance, context, tell)
        if len(parts) < 2:
            raise Problem("select two parts with faces or more, or nothing to check all that are visible")
        clashes = carom.clashes([part.solid for part in parts], clearance, context=context,
                                tolerances=[part.tolerance for part in parts])
    result = Result(parts, clashes, tolerance, clearance)
    write_result({"parts": [part.label for part in parts], "tolerance": tolerance, "clearance": clearance,
                  "rows": rows(result), "clashes": [{**c._asdict(), "relation": str(c.relation), "point": None,
                                                     "direction": c.direction.tolist()} for c in clashes]})
    return result


def rows(result):
    """The table: part, part, relation, volume, depth or distance, direction."""
    words = {"a-inside-b": "inside", "b-inside-a": "encloses", "apart": "close"}
    shown = lambda value, unit: App.Units.Quantity(value, unit).UserString  # noqa: E731
    return [[result.parts[c.a].label, result.parts[c.b].label,
             words.get(str(c.relation), str(c.relation)) + (" (within tolerance)" if c.within_tolerance else ""),
             shown(c.volume, App.Units.Volume) if c.volume else "", shown(c.depth or c.distance, App.Units.Length),
             ", ".join(f"{x:.3g}" for x in c.direction.round(6) + 0.0) if c.direction.any() else ""] for c in result.clashes]


def report(result, path):
    """Carom's page, or another form by the ending of the name."""
    with working() as (context, _):
        carom.tool.report([part.mesh for part in result.parts], path, names=[part.label for part in result.parts],
                          clearance=result.clearance + 2.0 * max(part.tolerance for part in result.parts),
                          context=context)


def find(part):
    """The object of a part, if both are still there."""
    root = part.document in App.listDocuments() and App.getDocument(part.document).getObject(part.root)
    if not root or part.sub and root.getSubObject(part.sub, retType=1) is None:
        raise Problem(f"{part.label} was deleted since; run the check again")
    return root


def show(result, index):
    """Selects both parts and shows what they share: the overlap's surface and the curve in which the surfaces meet."""
    clash = result.clashes[index]
    pair = [result.parts[i] for i in (clash.a, clash.b)]
    document = [find(part) for part in pair][0].Document
    names, region = [], ()
    with working() as (context, _):
        both = [carom.Soup(part.mesh, context=context) for part in pair]
        curve = both[0].segments(both[0].pairs(both[1], context=context), both[1], context=context)
        if clash.volume:
            region, _ = carom.tool.overlap_region(pair[0].mesh, pair[1].mesh, context=context)
    document.openTransaction("Carom: show clash")
    for old in document.findObjects(Name=f"^{SHOWN}"):
        document.removeObject(old.Name)
    if len(region):
        names.append(document.addObject("Mesh::Feature", SHOWN))
        names[0].Mesh, names[0].Label = Mesh.Mesh(region.tolist()), f"Overlap of {pair[0].label} and {pair[1].label}"
    if len(curve):
        points = "\n".join("%r %r %r, %r %r %r," % (*p.tolist(), *q.tolist()) for p, q in zip(curve.p, curve.q))
        names.append(document.addObject("App::InventorObject", f"{SHOWN}_Curve"))
        names[-1].Buffer = ("#Inventor V2.1 ascii\nSeparator { BaseColor { rgb 0.43 0.02 0.12 } DrawStyle { lineWidth 4 "
                            f"pointSize 6 }} Coordinate3 {{ point [ {points} ] }} LineSet {{ numVertices [ "
                            f"{'2, ' * len(curve)} ] }} }}")
    if App.GuiUp:
        Gui.Selection.clearSelection()
        for part in pair:
            Gui.Selection.addSelection(part.document, part.root, part.sub)
            if hasattr(find(part).ViewObject, "Transparency"):
                find(part).ViewObject.Transparency = 60
        if len(region):
            names[0].ViewObject.ShapeColor = ORANGE
    document.commitTransaction()
    document.recompute()
    write_result({"shown": [n.Label for n in names], "triangles": len(region), "segments": len(curve)})


# ---- Carom_Path ----------------------------------------------------------------------------------------------------

def joint_path(thing, sub="", low=0.0, high=90.0, steps=60):
    """Placements along a joint, a circle (about its axis, in degrees), a line (along it) or another curve (its points), and
    the point that the motion turns about. Joints are those with a JointType and a Reference1, as FreeCAD 1.0 has them."""
    steps = max(int(steps), 1)
    if hasattr(thing, "JointType"):
        frame = thing.Reference1[0].getGlobalPlacement().multiply(thing.Placement1)
        centre, axis = frame.Base, frame.Rotation.multVec(App.Vector(0, 0, 1))
        if thing.JointType not in ("Revolute", "Slider"):
            raise Problem(f"{thing.Label} is a joint of the kind {thing.JointType}; take a Revolute or a Slider")
        turns = thing.JointType == "Revolute"
    else:
        shape = Part.getShape(thing, sub, needSubElement=bool(sub), transform=True)
        if not shape.Edges:
            raise Problem(f"{thing.Label} has no edges; select a joint, an edge or a wire as the path")
        curve = shape.Edges[0].Curve if len(shape.Edges) == 1 else None
        turns = isinstance(curve, Part.Circle)
        if not turns and not isinstance(curve, (Part.Line, Part.LineSegment)):
            wire = shape.Wires[0] if shape.Wires else Part.Wire(Part.__sortEdges__(shape.Edges))
            points = wire.discretize(steps + 1)
            return [App.Placement(p.sub(points[0]), App.Rotation()) for p in points], None
        axis = curve.Axis if turns else curve.Direction
        centre = curve.Center if turns else None
    steps = max(steps, math.ceil(abs(high - low) / 90.0) if turns else 1)  # a motion turns by less than half a turn
    values = [low + (high - low) * i / steps for i in range(steps + 1)]
    if turns:
        return [App.Placement(App.Vector(), App.Rotation(axis, v), centre) for v in values], centre
    return [App.Placement(App.Vector(axis).normalize().multiply(v), App.Rotation()) for v in values], None


def along(moving, others, placements, centre=None, tolerance=0.1, clearance=0.0, progress=None):
    """When an object that moves by these placements (of the document, the first where it is now) first comes within the
    clearance and the tolerance of others, and the volume of the overlap at each placement: carom's answer, and labels."""
    poses = np.array([[*p.Base, p.Rotation.Q[3], *p.Rotation.Q[:3]] for p in placements]).reshape(-1, 7)
    if len(poses) < 2:
        raise Problem("a path has two placements or more")
    with working(progress) as (context, tell):
        mine = gather([moving], tolerance, context, tell)
        rest = [part for part in gather(others, tolerance, context, tell) if part[1:4] not in [own[1:4] for own in mine]]
        if not mine or not rest:
            raise Problem("select the part that moves first, then the path; there must be another part with faces, too")
        found = carom.along_path(carom.Mesh.join([part.mesh for part in mine]), [part.mesh for part in rest], poses,
                                 centre=centre, clearance=clearance, context=context, tolerances=[
                                     max(part.tolerance for part in mine), *(part.tolerance for part in rest)])
    part = None if found.other is None else rest[found.other].label
    write_result({"position": found.position, "part": part, "volumes": found.volumes.tolist()})
    return found, part


# ---- Commands ------------------------------------------------------------------------------------------------------

class Panel:
    """The task panel of both commands: fields, a button, and the table or the plot."""

    def __init__(self, name):
        self.result, self.work = None, self.run_check if name == "Carom_Check" else self.run_path
        self.form = QtGui.QWidget(windowTitle=COMMANDS[name][0])
        self.chosen = [(s.Object, path) for s in Gui.Selection.getSelectionEx("", 0) for path in s.SubElementNames or [""]]
        layout, self.fields = QtGui.QFormLayout(self.form), {}
        for key, text, unit, value in COMMANDS[name][2]:
            self.fields[key] = Gui.UiLoader().createWidget("Gui::QuantitySpinBox")
            self.fields[key].setProperty("unit", unit)
            self.fields[key].setProperty("rawValue", value)
            layout.addRow(text, self.fields[key])
        self.button = QtGui.QPushButton("Check", clicked=self.run)
        page, self.plot = QtGui.QPushButton("Report ...", clicked=self.save), QtGui.QLabel()
        self.answer, self.table = QtGui.QLabel(wordWrap=True, **PLAIN), QtGui.QTableWidget(
            0, 6, minimumHeight=220, editTriggers=QtGui.QTableWidget.NoEditTriggers,
            selectionBehavior=QtGui.QTableWidget.SelectRows)
        self.table.setHorizontalHeaderLabels(["Part", "Part", "Relation", "Volume", "Depth or distance", "Direction"])
        self.table.cellClicked.connect(lambda row, _: guarded(show)(self.result, row))
        for item in (self.button, self.answer, *((self.table, page) if name == "Carom_Check" else (self.plot,))):
            layout.addRow(item)
        self.getStandardButtons = lambda: int(QtGui.QDialogButtonBox.Close)

    @guarded
    def run(self, *_):
        self.button.setEnabled(False)  # the dialog of progress lets events in
        try:
            self.work(**{key: field.property("rawValue") for key, field in self.fields.items()})
        finally:
            self.button.setEnabled(True)

    def run_check(self, tolerance, clearance):
        self.result = check([(root, path[:path.rfind(".") + 1]) for root, path in self.chosen], tolerance, clearance)
        cells = rows(self.result)
        self.table.setRowCount(len(cells))
        for index, column in np.ndindex(len(cells), 6):
            self.table.setItem(index, column, QtGui.QTableWidgetItem(cells[index][column]))
        self.table.resizeColumnsToContents()
        self.answer.setText(f"{len(cells)} clashes of {len(self.result.parts)} parts; the tolerance of curved faces, "
                            f"{self.fields['tolerance'].property('text')}, is added to the clearance for each curved part.")

    def run_path(self, tolerance, clearance, low, high, steps):
        if len(self.chosen) < 2:
            raise Problem("select the part that moves first, then a joint, an edge or a wire as its path")
        (root, path), way = self.chosen[:2]
        placements, centre = joint_path(*way, low, high, steps)
        found, part = along((root, path[:path.rfind(".") + 1]), None, placements, centre, tolerance, clearance)
        self.plot.setPixmap(plot(found.volumes, found.position))
        self.answer.setText("No contact." if found.position is None else f"First contact: {part}, at "
                            f"{100 * found.position / (len(placements) - 1):.2f} % of the path.")

    @guarded
    def save(self, *_):
        if self.result is None:
            raise Problem("check first")
        path = QtGui.QFileDialog.getSaveFileName(self.form, "Report", "report.html", "*.html *.csv *.json *.bcf")[0]
        if path:
            report(self.result, path)
            QtGui.QDesktopServices.openUrl(QtCore.QUrl.fromLocalFile(path))


def plot(volumes, position):
    """The volume of the overlap over the path, and the first contact as a line."""
    picture, most, last = QtGui.QPixmap(320, 180), max(max(volumes), 1e-300), len(volumes) - 1
    picture.fill(QtCore.Qt.white)
    painter = QtGui.QPainter(picture)
    at = lambda i, v: QtCore.QPointF(10 + 300 * i / last, 160 - 130 * v / most)  # noqa: E731
    painter.drawLine(at(0, 0), at(last, 0))
    painter.drawText(10, 20, f"volume of the overlap, up to {App.Units.Quantity(max(volumes), App.Units.Volume).UserString}")
    painter.drawText(10, 176, "start of the path")
    painter.setPen(QtGui.QPen(QtGui.QColor.fromRgbF(*ORANGE), 2))
    painter.drawPolyline(QtGui.QPolygonF([at(i, v) for i, v in enumerate(volumes)]))
    if position is not None:
        painter.setPen(QtGui.QPen(QtCore.Qt.darkRed, 1, QtCore.Qt.DashLine))
        painter.drawLine(at(position, 0), at(position, most))
    painter.end()
    return picture


LENGTHS = [("tolerance", "Tolerance of curved faces", "mm", 0.1), ("clearance", "Clearance", "mm", 0.0)]
COMMANDS = {
    "Carom_Check": ("Check interference", "Clashes and clearances of the selected parts, or of all visible ones", LENGTHS),
    "Carom_Path": ("Check along a path", "First contact, and the volume of the overlap, while the part that is selected "
                   "first moves along a joint, an edge or a wire, selected second", LENGTHS + [
                       ("low", "From (mm, degrees)", "", 0.0), ("high", "To (mm, degrees)", "", 90.0),
                       ("steps", "Steps", "", 60.0)])}


class Command:
    def __init__(self, name):
        self.name, self.IsActive = name, lambda: App.ActiveDocument is not None

    def GetResources(self):
        return {"MenuText": COMMANDS[self.name][0], "ToolTip": COMMANDS[self.name][1],
                "Pixmap": os.path.join(os.path.dirname(__file__), "carom.svg")}

    @guarded
    def Activated(self):
        Gui.Control.closeDialog()
        self.panel = Panel(self.name)
        Gui.Control.showDialog(self.panel)
        self.panel.run()
