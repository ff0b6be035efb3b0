# SPDX-License-Identifier: MIT
"""The workbench Carom."""
import os
import carom_freecad


class CaromWorkbench(FreeCADGui.Workbench):  # noqa: F821: FreeCAD gives it
    MenuText = "Carom"
    ToolTip = "Exact interference and clearance checks, also along joints and paths"

    def Initialize(self):
        import carom_freecad  # FreeCAD forgets what this file imported
        self.appendToolbar("Carom", list(carom_freecad.COMMANDS))
        self.appendMenu("Carom", list(carom_freecad.COMMANDS))


CaromWorkbench.Icon = os.path.join(os.path.dirname(carom_freecad.__file__), "carom.svg")
for name in carom_freecad.COMMANDS:
    FreeCADGui.addCommand(name, carom_freecad.Command(name))  # noqa: F821
FreeCADGui.addWorkbench(CaromWorkbench())  # noqa: F821
