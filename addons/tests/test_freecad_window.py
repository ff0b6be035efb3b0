# SPDX-License-Identifier: MIT
"""freecad test_freecad_window.py, with a display or QT_QPA_PLATFORM=offscreen: the commands by their names, the panel, the
table and a click into it, undo, and messages of a window. CAROM_PICTURE=folder also takes pictures, with a display."""
import json
import os
import subprocess
import sys
import traceback

import FreeCAD as App
import FreeCADGui as Gui
import Part
from PySide import QtCore, QtGui

import carom_freecad

V = App.Vector
FOLDER = os.environ.get("CAROM_PICTURE")


PANELS = []
create = carom_freecad.Panel.__init__
carom_freecad.Panel.__init__ = lambda self, name: PANELS.append(self) or create(self, name)  # to find them again


def result():
    with open(os.environ["CAROM_RESULT"]) as file:
        return json.load(file)


def take(name):
    """A picture of the display, by ImageMagick: what OpenGL drew is not in one that Qt takes."""
    if not FOLDER:
        return
    window = Gui.getMainWindow()
    docks = {dock.windowTitle(): dock for dock in window.findChildren(QtGui.QDockWidget)}
    window.resizeDocks([docks["Combo View"]], [620], QtCore.Qt.Horizontal)
    for _ in range(40):
        for title in ("Python console", "Report view"):
            docks[title].hide()
        Gui.SendMsgToActiveView("ViewFit")
        QtGui.QApplication.processEvents(QtCore.QEventLoop.AllEvents, 50)
    subprocess.run(["import", "-window", "root", os.path.join(FOLDER, f"{name}.png")], check=True)


class Shown(QtGui.QProgressDialog):
    """The dialog of progress, shown at once: no test waits for a clock."""

    def __init__(self, *args, **options):
        super().__init__(*args, **{**options, "minimumDuration": 0})


def cancelled(made):
    """The button of the dialog ends a check, and the document is as before."""
    usual, carom_freecad.QtGui.QProgressDialog = QtGui.QProgressDialog, Shown
    before = [o.Name for o in made.Objects], list(made.UndoNames)

    def click():
        for dialog in Gui.getMainWindow().findChildren(usual):
            if dialog.isVisible():
                dialog.findChildren(QtGui.QPushButton)[0].click()
                return
        QtCore.QTimer.singleShot(0, click)

    QtCore.QTimer.singleShot(0, click)
    Gui.Selection.clearSelection()
    Gui.runCommand("Carom_Check")
    assert result() == {"error": "cancelled"} and before == ([o.Name for o in made.Objects], list(made.UndoNames)), result()
    carom_freecad.QtGui.QProgressDialog = usual


def told_plainly(call):
    """A message box shows tags of a name as they are. Returns its text."""
    kept, found = os.environ.pop("CAROM_RESULT"), []

    def close():
        for box in QtGui.QApplication.topLevelWidgets():
            if isinstance(box, QtGui.QMessageBox) and box.isVisible():
                found.append((box.text(), box.textFormat()))
                box.accept()
                return
        QtCore.QTimer.singleShot(0, close)

    QtCore.QTimer.singleShot(0, close)
    call()
    os.environ["CAROM_RESULT"] = kept
    assert found and found[0][1] == QtCore.Qt.PlainText, found
    return found[0][0]


def run():
    Gui.activateWorkbench("CaromWorkbench")
    made = App.newDocument("Clamp")
    block = made.addObject("Part::Box", "Block")
    block.Length, block.Width, block.Height = 60, 40, 20
    pin = made.addObject("Part::Cylinder", "Pin")
    pin.Radius, pin.Height, pin.Placement.Base = 8, 40, V(56, 20, 6)
    ball = made.addObject("Part::Sphere", "Ball")
    ball.Radius, ball.Placement.Base = 9, V(20, 20, 29.05)
    lever = made.addObject("Part::Box", "Lever")
    lever.Length, lever.Width, lever.Height, lever.Placement.Base = 50, 10, 8, V(-20, 15, 40)
    made.recompute()
    Gui.activeDocument().activeView().viewIsometric()
    Gui.runCommand("Carom_Check")
    told = result()
    assert told["parts"] == ["Block", "Pin", "Ball", "Lever"], told
    relations = {(told["parts"][c["a"]], told["parts"][c["b"]]): c["relation"] for c in told["clashes"]}
    assert relations == {("Block", "Pin"): "overlapping", ("Block", "Ball"): "apart"}, relations
    panel = PANELS[-1]
    assert Gui.Control.activeDialog()
    assert panel.table.rowCount() == 2 and panel.table.item(0, 3).text(), "the table"
    panel.table.cellClicked.emit(0, 0)
    assert sorted(s.Object.Name for s in Gui.Selection.getSelectionEx()) == ["Block", "Pin"]
    assert len(made.findObjects(Name="^Carom_Overlap")) == 2 and result()["triangles"] > 0
    panel.table.selectRow(0)
    take("freecad-check")
    assert block.ViewObject.Transparency == 60
    made.undo()
    assert not made.findObjects(Name="^Carom_Overlap") and block.ViewObject.Transparency == 0
    page = os.path.join(os.path.dirname(os.environ["CAROM_RESULT"]), "report.html")
    carom_freecad.report(panel.result, page)
    assert os.path.getsize(page) > 100_000
    pin.Label = "<b>Pin</b>\n\"1\""
    cancelled(made)
    Gui.runCommand("Carom_Check")
    panel = PANELS[-1]
    assert panel.table.item(0, 1).text() == "<b>Pin</b> \"1\"", panel.table.item(0, 1).text()
    carom_freecad.report(panel.result, page)
    made.removeObject("Pin")
    assert told_plainly(lambda: panel.table.cellClicked.emit(0, 0)).startswith("<b>Pin</b> \"1\" was deleted")
    Gui.Selection.clearSelection()
    Gui.Selection.addSelection(block)
    Gui.runCommand("Carom_Check")
    assert "select two" in result()["error"], result()
    # a lever that turns about the edge of a block, into the ball
    hinge = made.addObject("Part::Feature", "Hinge")
    hinge.Shape = Part.Edge(Part.Circle(V(-20, 20, 44), V(0, 1, 0), 5))
    made.recompute()
    Gui.Selection.clearSelection()
    Gui.runCommand("Carom_Path")
    assert "select the part that moves first" in result()["error"], result()
    Gui.Selection.addSelection(lever)
    Gui.Selection.addSelection(hinge, "Edge1")
    Gui.runCommand("Carom_Path")
    told = result()
    assert told["part"] in ("Ball", "Block") and max(told["volumes"]) > 0, told
    assert PANELS[-1].plot.pixmap() is not None
    take("freecad-path")


status = 1
try:
    run()
    print("passed: the window's commands")
    status = 0
except Exception:
    traceback.print_exc(file=sys.stdout)
    print("FAILED: the window's commands")
sys.stdout.flush()
os._exit(status)
