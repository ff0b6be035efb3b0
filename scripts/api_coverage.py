#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Lists functions of the C API that no public name of the Python package reaches: `make api-coverage`.

    api_coverage.py API.json    fails on a function that is neither reached nor in python/unreached.txt, and on a line
                                there that is not needed

The package is read, not run. Public are the names in __all__ of carom and of its public modules, and the methods of
public classes that do not begin with an underscore, or with two. From each of them all names are followed that its
text uses and that the package defines, whatever object they are an attribute of; `lib.carom_X` is a function that is
reached, and Results("X") frees what it holds with carom_X_free. So a helper that nobody calls reaches nothing. The functions _name and _from_name of an enum are reached where
the enum is public, as str() and Enum.of() call them.
"""
import ast
import json
import os
import sys

sys.dont_write_bytecode = True
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python")
PACKAGE = os.path.join(ROOT, "carom")


class Definition:
    """What a function, a class or a module's own code uses."""

    def __init__(self):
        self.names, self.functions = set(), set()

    def read(self, node):
        for part in ast.walk(node):
            if isinstance(part, ast.Attribute):
                if isinstance(part.value, ast.Name) and part.value.id in ("lib", "library"):
                    self.functions.add(part.attr)
                else:
                    self.names.add(part.attr)
            elif isinstance(part, ast.Name):
                self.names.add(part.id)
            elif isinstance(part, ast.Call) and getattr(part.func, "id", "") == "Results":
                self.functions.add(f"carom_{part.args[0].value}_free")


def public(name):
    return not name.startswith("_") or name.startswith("__") and name.endswith("__")


class Package:
    def __init__(self):
        self.definitions, self.roots, self.exported = {}, set(), set()
        for file in sorted(os.listdir(PACKAGE)):
            if file.endswith(".py") and file != "_abi.py":
                with open(os.path.join(PACKAGE, file), encoding="utf-8") as source:
                    self.read(ast.parse(source.read()), file)

    def add(self, name, node):
        self.definitions.setdefault(name, Definition()).read(node)

    def read(self, tree, file):
        if file == "__init__.py":  # whatever it imports or defines is exported
            for node in tree.body:
                for alias in getattr(node, "names", []):
                    self.exported.add(alias.asname or alias.name)
        for node in tree.body:
            if isinstance(node, ast.Assign) and any(getattr(t, "id", "") == "__all__" for t in node.targets):
                if isinstance(node.value, ast.List):
                    self.exported |= {item.value for item in node.value.elts}
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                if file == "__init__.py" and public(node.name):
                    self.exported.add(node.name)
                self.define(node)
            elif isinstance(node, ast.Assign):  # a constant or a table
                for target in node.targets:
                    if isinstance(target, ast.Name):
                        self.add(target.id, node.value)
            elif not isinstance(node, (ast.Import, ast.ImportFrom)):
                self.add("<module>", node)

    def define(self, node):
        if isinstance(node, ast.FunctionDef):
            self.add(node.name, node)
            return
        own = self.definitions.setdefault(node.name, Definition())
        for base in node.bases:
            own.read(base)
        for member in node.body:
            if isinstance(member, ast.FunctionDef):
                self.add(member.name, member)
                if public(member.name):
                    own.names.add(member.name)
            else:
                own.read(member)

    def reached(self, enums):
        """The C functions that the exported names lead to."""
        seen, open_names, found = set(), [name for name in self.exported] + ["<module>"], set()
        while open_names:
            name = open_names.pop()
            if name in seen:
                continue
            seen.add(name)
            if name in enums:
                found |= {enums[name] + "_name", enums[name] + "_from_name"}
            if name in self.definitions:
                found |= self.definitions[name].functions
                open_names += self.definitions[name].names - seen
        return found


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        api = json.load(file)
    with open(os.path.join(ROOT, "unreached.txt"), encoding="utf-8") as file:
        lines = [line.split(None, 1) for line in file if line.strip() and not line.startswith("#")]
    excused = {line[0]: line[1].strip() if len(line) > 1 else "" for line in lines}
    camel = lambda name: "".join(word.capitalize() for word in name[len("carom_"):].split("_"))
    enums = {camel(e["name"]): e["name"] for e in api["enums"]}
    package = Package()
    reached = package.reached({name: c for name, c in enums.items() if name in package.exported})
    functions = [f["name"] for f in api["functions"] if not f["inline"]]
    bad = [f"{name}: no public Python name reaches it" for name in functions
           if name not in reached and name not in excused]
    bad += [f"python/unreached.txt: {name}: " + ("is reached" if name in reached else "there is no such function")
            for name in excused if name in reached or name not in functions]
    bad += [f"python/unreached.txt: {name} has no reason" for name, reason in excused.items() if not reason]
    for line in bad:
        print(line)
    if "-v" in sys.argv:
        for name in excused:
            print(f"left out: {name}: {excused[name]}")
    print(f"{len([f for f in functions if f in reached])} of {len(functions)} functions are reached from Python, "
          f"{len(excused)} are left out on purpose")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
