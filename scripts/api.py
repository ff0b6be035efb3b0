#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Describes the public API as data: `make api` and `make abi`.

    api.py json FILE          writes the description (docs/api-json.md has its shape)
    api.py abi FILE           prints sizes, alignments, offsets and enumerators, and writes them to FILE;
                              refuses while they differ from FILE and CAROM_ABI does not
    api.py abi --check FILE   compares only
    api.py probe              prints a C program that prints what `abi` prints
    api.py undocumented       lists functions, structs, enums, callbacks, opaque types and constants
                              without a comment; fails where there is one
  --include DIR               the headers to read; else include/ of this checkout

Everything comes from the headers, in the order in which the compiler sees it: declarations and types
from clang's syntax tree, layouts from constants that clang computes for both targets, comments from
the text. There is no list of names here. The rules for what C does not say:

  doc        The comment directly above a declaration, without a blank line between. Declarations that
             follow without a blank line and without a comment of their own share it. A field or
             enumerator has the comment behind it, too; enumerators do not share. What a macro declares
             also has the comment of the macro, with its arguments.
  direction  `in`: values, pointers to const, functions, and a `void *` that is passed on to a callback.
             `inout`: opaque structures, result arrays, structs whose comment says "Start with", what is
             released, and what a callback is given without const. `out`: all other pointers, `T **` too.
  length     The integer parameter that counts what a pointer points to. Where there is one named count,
             size or bytes, it is that of the pointer directly before it and of all pointers with plural
             names (ids, poses_a), unless these are opaque structures or result arrays.
  optional   NULL is allowed: the comment says "NAME may be NULL" in one clause, or "NULL NAME:"; or
             "NULL is allowed" or "is fine", where there is one pointer; or it points to one struct
             whose name ends in _def or whose comment says what NULL means, and not "never NULL"; or it
             is a `void *` that is passed on.
  owner      `value`: no pointer. `new`: `T **`, made by the call, the caller destroys it. `released`:
             the last parameter of _destroy and _release, and that of T_free. `result`: a result array
             (result.h). `borrowed`: its name begins so; it must stay after the call. `caller`: all
             others; the call reads, copies or fills them, and keeps no pointer.
"""
import argparse
import difflib
import json
import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True  # a check leaves no files among the sources
from header_text import DECLARATION, Header, doc_of, scan

TARGETS = {"lp64": "x86_64-linux-gnu", "ilp32": "wasm32"}
# Freestanding: clang's own stddef.h, stdint.h and stdbool.h, so that no target needs a C library.
CLANG = ["clang", "-x", "c", "-std=c11", "-ffreestanding", "-w"]


def fail(message):
    sys.exit("api.py: " + message)


def clang(arguments, source):
    done = subprocess.run(CLANG + arguments + ["-"], input=source, capture_output=True, encoding="utf-8")
    if done.returncode != 0:
        fail("clang does not accept the headers:\n" + done.stderr)
    return done.stdout


# ---- The syntax tree ---------------------------------------------------------------------------------

def complete_files(node, last):
    """clang names a file only where it differs from the one before: names it everywhere."""
    if isinstance(node, list):
        for child in node:
            last = complete_files(child, last)
    elif isinstance(node, dict):
        if "offset" in node:
            last = node.setdefault("file", last)
        for key, child in node.items():
            if key != "includedFrom" and isinstance(child, (dict, list)):
                last = complete_files(child, last)
    return last


def c_type(node):
    return node["type"]["qualType"].replace("_Bool", "bool")


def split_function_type(text):
    """("bool", ["void *", "double"]) of "bool (void *, double)"."""
    depth, start = 0, len(text)
    for start in range(len(text) - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(text[start], 0)
        if depth == 0:
            break
    inside = text[start + 1:-1]
    types = [t.strip() for t in re.split(r",(?![^(]*\))", inside)] if inside not in ("", "void") else []
    return text[:start].strip(), types


def target_of(param):
    """What a parameter points to: "carom_pose" of "const carom_pose *"."""
    return re.sub(r"^const |\s*\*+$", "", param["type"])


class Api:
    def __init__(self, include):
        self.include = include
        names = sorted(name for name in os.listdir(os.path.join(include, "carom")) if name.endswith(".h"))
        self.headers = {"carom/" + name: Header(include, "carom/" + name) for name in names}
        self.source = '#include <stddef.h>\n#include "carom/carom.h"\n'
        tree = json.loads(self.clang(["-fsyntax-only", "-Xclang", "-ast-dump=json"], self.source))
        complete_files(tree, "")
        self.macros = {name: (header, parameters, index) for header in self.headers.values()
                       for name, parameters, index in header.macros()}
        self.constants = self.read_constants()
        self.functions, self.structs, self.enums = [], [], []
        self.callbacks, self.opaques, self.aliases = {}, {}, {}
        declarations = [node for node in tree["inner"] if self.locate(node)[0] is not None]
        self.defined = {node.get("name") for node in declarations if node.get("completeDefinition")}
        for node in declarations:
            self.add(node)
        self.docs = {struct["name"]: struct["doc"] for struct in self.structs}
        self.arrays = [{"name": s["name"], "item": re.sub(r" ?\*$", "", s["fields"][0]["type"]),
                        "free": s["name"] + "_free"} for s in self.structs
                       if [f["name"] for f in s["fields"]] == ["data", "count", "capacity", "owner"]]
        for function in self.functions:
            self.explain(function["params"], function["doc"], function["name"], False)
        for callback in self.callbacks.values():
            self.explain(callback["params"], callback["doc"], callback["name"], True)
        self.add_layouts()

    def clang(self, arguments, source, target="lp64"):
        return clang(["--target=" + TARGETS[target], "-I", self.include] + arguments, source)

    def locate(self, node, written=False):
        """The header and the offset of a name: where it is used or, for `written`, spelled (of macros)."""
        loc = node.get("loc", {})
        loc = loc.get("spellingLoc" if written else "expansionLoc", loc)
        name = os.path.relpath(loc.get("file", "/"), self.include).replace(os.sep, "/")
        return self.headers.get(name), loc.get("offset")

    def describe(self, node, with_macro_only=False):
        """What all descriptions begin with."""
        header, offset = self.locate(node)
        index = header.item_at(offset)
        doc, code = header.doc(index), header.code(index)
        macro = re.match(r"(\w+)\s*\((.*)\)\s*;?$", code.strip(), re.S)
        if macro and macro.group(1) in self.macros:
            where, parameters, at = self.macros[macro.group(1)]
            general = where.doc(at)
            for name, value in zip(parameters or [], re.split(r"\s*,\s*", macro.group(2).strip())):
                general = re.sub(rf"`{name}`|\b{name}(?=_)", lambda f: f.group().replace(name, value), general)
            doc = general if with_macro_only else "\n".join(part for part in (doc, general) if part)
        return {"name": node["name"], "header": header.name, "section": header.section(index), "doc": doc,
                "experimental": "CAROM_EXPERIMENTAL" in code}

    def member_docs(self, node, terminator):
        """The comments of fields or enumerators, by name."""
        header, end = self.locate({"loc": node["range"]["end"]}, True)
        start = header.flat.index("{", self.locate({"loc": node["range"]["begin"]}, True)[1]) + 1
        items = scan(header.flat, start, end, terminator)
        docs = {}
        for member in node["inner"]:
            at = self.locate(member, True)[1]
            for index, item in enumerate(items):
                if at is not None and item.kind == DECLARATION and item.start <= at < item.end:
                    doc = doc_of(header.flat, items, index, terminator == ";")
                    docs[member.get("name")] = " ".join(doc.split())
        return docs

    def add(self, node):
        kind, name = node["kind"], node.get("name")
        if kind == "FunctionDecl":
            self.add_function(node)
        elif kind == "RecordDecl" and node.get("completeDefinition"):
            self.add_struct(node)
        elif kind == "EnumDecl":
            self.add_enum(node)
        elif kind == "TypedefDecl":
            self.add_typedef(node)
        elif kind != "RecordDecl":
            fail(f"{self.locate(node)[0].name}: {name}: a {kind} has no place in the description")

    def add_function(self, node):
        found = self.describe(node, True)
        if any(other["name"] == found["name"] for other in self.functions):
            fail(f"{found['header']}: {found['name']} is declared twice")
        found["inline"] = bool(node.get("inline"))
        found["returns"] = split_function_type(c_type(node))[0]
        found["params"] = []
        for param in node.get("inner", []):
            if param["kind"] != "ParmVarDecl":
                continue
            if "name" not in param:
                fail(f"{found['header']}: a parameter of {found['name']} has no name")
            found["params"].append({"name": param["name"], "type": c_type(param)})
            header, offset = self.locate(param, True)
            extent = re.compile(r"\w+\s*\[(\w+)\]").match(header.text, offset) if header else None
            if extent:
                count = extent.group(1)
                found["params"][-1]["array"] = int(count) if count.isdigit() else self.constants[count]["value"]
        self.functions.append(found)

    def add_struct(self, node):
        found = self.describe(node) if "name" in node else {}
        if not found or node["tagUsed"] != "struct":
            fail(f"{self.locate(node)[0].name}: structs need a name, and unions are not described")
        docs = self.member_docs(node, ";")
        found["fields"] = []
        for field in node["inner"]:
            if field["kind"].endswith("Attr"):
                continue
            if field["kind"] != "FieldDecl" or "name" not in field or field.get("isBitfield"):
                fail(f"{found['header']}: {found['name']}: a member that is no plain field is not described")
            found["fields"].append({"name": field["name"], "type": c_type(field), "doc": docs[field["name"]]})
        self.structs.append(found)

    def add_enum(self, node):
        if "name" not in node:
            fail(f"{self.locate(node)[0].name}: enums need a name")
        found, docs, number = self.describe(node), self.member_docs(node, ","), -1
        found["values"] = []
        for value in (child for child in node["inner"] if child["kind"] == "EnumConstantDecl"):
            number = int(value["inner"][0]["value"]) if value.get("inner") else number + 1
            found["values"].append({"name": value["name"], "number": number, "doc": docs[value["name"]]})
        self.enums.append(found)

    def add_typedef(self, node):
        found, described = self.describe(node), c_type(node)
        if node["inner"][0]["kind"] == "FunctionProtoType":
            header, offset = self.locate(node)
            text = header.code(header.item_at(offset))
            found["returns"], types = split_function_type(described)
            written = re.split(r",(?![^(]*\))", text[text.index("(") + 1:text.rindex(")")])
            names = [re.search(r"(\w+)\s*(?:\[\w*\])?\s*$", param).group(1) for param in written]
            found["params"] = [{"name": n, "type": t} for n, t in zip(names, types)]
            self.callbacks[found["name"]] = found
        elif re.fullmatch(r"(struct|enum) " + found["name"], described):
            if described.startswith("struct") and found["name"] not in self.defined:
                known = self.opaques.get(found["name"])
                if not known or (found["doc"] and not known["doc"]):  # may be declared in several headers
                    self.opaques[found["name"]] = found
        else:
            found["type"] = described
            self.aliases[found["name"]] = found

    # ---- What C does not say: the rules at the top

    def is_function_pointer(self, type_):
        return re.sub(r"\s*\*$", "", type_) in self.callbacks

    def find_lengths(self, params, arrays):
        for index, counter in enumerate(params):
            if counter["name"] not in ("count", "size", "bytes") or counter["type"].endswith("*"):
                continue
            for param in params:
                is_data = re.fullmatch(r"[^*]*\*", param["type"]) and target_of(param) not in arrays
                plural = re.search(r"s(_[a-z])?$", param["name"])
                if is_data and target_of(param) not in self.opaques and (plural or param in params[index - 1:index]):
                    param["length"] = counter["name"]

    def explain(self, params, doc, function, is_callback):
        arrays = {array["name"] for array in self.arrays}
        pointers = [p for p in params if p["type"].endswith("*") and not self.is_function_pointer(p["type"])]
        calls_back = is_callback or any(self.is_function_pointer(p["type"]) for p in params)
        clauses = re.split(r"(?<=[.;:])\s+", " ".join(doc.split()))
        nullable = " ".join(clause for clause in clauses if re.search(r"\bmay (each )?be NULL\b", clause))
        self.find_lengths(params, arrays)
        for param in params:
            name, type_, target = param["name"], param["type"], target_of(param)
            is_pointer, is_new = type_.endswith("*"), type_.endswith("**")
            released = param is params[-1] and (re.search(r"_(destroy|release)$", function)
                                                or function == target + "_free")
            passed_on = type_ == "void *" and calls_back
            about = self.docs.get(target, "")
            if not is_pointer or type_.startswith("const ") or passed_on or self.is_function_pointer(type_):
                direction = "in"
            elif not is_new and (target in self.opaques or target in arrays or is_callback or released
                                 or "Start with" in about):
                direction = "inout"
            else:
                direction = "out"
            optional = is_pointer and (
                passed_on or re.search(rf"\b{name}\b", nullable) or re.search(rf"\bNULL `?{name}\b`?:", doc)
                or (pointers == [param] and re.search(r"\bNULL is (allowed|fine)\b", doc))
                or (direction != "out" and "length" not in param and "array" not in param and target not in arrays
                    and "never NULL" not in about and (target.endswith("_def") or "NULL" in about)))
            owner = ("value" if not is_pointer else "new" if is_new else "released" if released else
                     "result" if target in arrays else "borrowed" if name.startswith("borrowed") else "caller")
            param.update(direction=direction, optional=bool(optional), owner=owner)

    # ---- Numbers that the compiler computes

    def compute(self, expressions, target):
        """The values of constant expressions, as signed 64-bit numbers."""
        source = self.source + "const unsigned long long computed[] = {" + ",\n".join(expressions) + ", 1};\n"
        for line in self.clang(["-S", "-emit-llvm", "-o", "-"], source, target).split("\n"):
            if line.startswith("@computed"):
                return [int(number) for number in re.findall(r"i64 (-?\d+)", line)][:-1]
        return fail("clang printed no numbers")

    def read_constants(self):
        """Macros without parameters that are integers once they are expanded."""
        names = [name for name, (_, parameters, _) in self.macros.items() if parameters is None]
        lines = "".join(f'"{name}" {name}\n' for name in names)
        expanded = dict(re.findall(r'^"(\w+)" (.*)$', self.clang(["-E"], self.source + lines), re.M))
        names = [n for n in names if re.fullmatch(r"(?=.*\d)[\dA-Fa-fxXuUlL()+*/%<>&|^~\s-]+", expanded.get(n, ""))]
        numbers = self.compute([e for name in names for e in (f"({name})", f"({name}) < 0")], "lp64")
        constants = {}
        for name, value, negative in zip(names, numbers[::2], numbers[1::2]):
            header, _, index = self.macros[name]
            constants[name] = {"name": name, "header": header.name, "section": header.section(index),
                               "doc": header.doc(index), "value": value if negative else value % 2**64}
        return constants

    def add_layouts(self):
        expressions = [e for struct in self.structs for e in
                       [f"sizeof({struct['name']})", f"_Alignof({struct['name']})"] +
                       [f"offsetof({struct['name']}, {field['name']})" for field in struct["fields"]]]
        for struct in self.structs:
            struct["layout"] = {}
        for target in TARGETS:
            numbers = iter(self.compute(expressions, target))
            for struct in self.structs:
                struct["layout"][target] = {"size": next(numbers), "align": next(numbers),
                                            "offsets": {f["name"]: next(numbers) for f in struct["fields"]}}

    # ---- Output

    def abi(self):
        return self.constants["CAROM_ABI"]["value"]

    def description(self):
        part = lambda name: str(self.constants["CAROM_VERSION_" + name]["value"])
        return {"abi": self.abi(), "version": ".".join(map(part, ("MAJOR", "MINOR", "PATCH"))),
                "headers": [header.describe() for header in self.headers.values()],
                "functions": self.functions, "structs": self.structs, "enums": self.enums,
                "callbacks": list(self.callbacks.values()), "opaques": list(self.opaques.values()),
                "aliases": list(self.aliases.values()), "result_arrays": self.arrays,
                "constants": list(self.constants.values())}

    def abi_lines(self, size, align, offset, value):
        """One line for each number of the ABI, written by the given functions."""
        lines = [f"abi {self.abi()}"]
        for struct in self.structs:
            name = struct["name"]
            lines.append(f"struct {name} size {size(struct)} align {align(struct)}")
            lines += [f"    {offset(struct, f['name'])} {f['name']}: {f['type']}" for f in struct["fields"]]
        for enum in self.enums:
            lines.append(f"enum {enum['name']}")
            lines += [f"    {value(v)} {v['name']}" for v in enum["values"]]
        return lines

    def abi_text(self):
        layout = lambda struct: struct["layout"]["lp64"]
        lines = self.abi_lines(lambda s: layout(s)["size"], lambda s: layout(s)["align"],
                               lambda s, field: layout(s)["offsets"][field], lambda v: v["number"])
        return "".join(line + "\n" for line in lines)

    def probe(self):
        """A program for any compiler: the lines of abi_text with the numbers left to it."""
        number = lambda expression: "\\1" + expression + "\\2"
        lines = self.abi_lines(lambda s: number(f"sizeof({s['name']})"), lambda s: number(f"_Alignof({s['name']})"),
                               lambda s, field: number(f"offsetof({s['name']}, {field})"), lambda v: number(v["name"]))
        lines[0] = "abi " + number("CAROM_ABI")
        body = ""
        for line in lines:
            values = re.findall(r"\\1(.*?)\\2", line)
            form = re.sub(r"\\1.*?\\2", "%lld", line)
            body += f'    printf("{form}\\n"' + "".join(f", (long long)({v})" for v in values) + ");\n"
        return f'#include <stdio.h>\n{self.source}int main(void) {{\n{body}    return 0;\n}}\n'


# ---- Commands ------------------------------------------------------------------------------------------

def write(path, text):
    if os.path.dirname(path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def run_json(api, options):
    write(options.file, json.dumps(api.description(), indent=1, ensure_ascii=False) + "\n")
    print(f"{options.file}: {len(api.functions)} functions, {len(api.structs)} structs, {len(api.enums)} enums")


def run_abi(api, options):
    new, old = api.abi_text(), None
    if os.path.exists(options.file):
        with open(options.file, encoding="utf-8") as file:
            old = file.read()
    elif options.check:
        fail(f"{options.file} is not there: run make abi")
    if not options.check:
        print(new, end="")
    if new == old:
        return
    same_number = old is not None and old.split("\n")[0] == new.split("\n")[0]
    if options.check or same_number:
        sys.stdout.writelines(difflib.unified_diff(old.splitlines(True), new.splitlines(True), options.file,
                                                   "include/carom"))
        fail("public structs or enums have changed: " +
             ("increment CAROM_ABI in include/carom/base.h, then run make abi" if same_number else "run make abi"))
    write(options.file, new)
    print(f"{options.file} written", file=sys.stderr)


def run_undocumented(api, _):
    described = api.description()
    missing = [f"{item['header']}: {item['name']}" for kind in
               ("functions", "structs", "enums", "callbacks", "opaques", "aliases", "constants")
               for item in described[kind] if not item["doc"]]
    missing += [f"{header['name']}: the header itself" for header in described["headers"] if not header["doc"]]
    if missing:
        fail("no comment directly above, or in the lines above it without a blank line:\n" + "\n".join(missing))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--include", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "../include"))
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("json").add_argument("file")
    abi = commands.add_parser("abi")
    abi.add_argument("--check", action="store_true")
    abi.add_argument("file")
    commands.add_parser("probe")
    commands.add_parser("undocumented")
    options = parser.parse_args()
    if not shutil.which("clang"):
        fail("needs clang: apt-get install clang")
    run = {"json": run_json, "abi": run_abi, "undocumented": run_undocumented,
           "probe": lambda api, _: print(api.probe(), end="")}
    run[options.command](Api(os.path.realpath(options.include)), options)


if __name__ == "__main__":
    main()
