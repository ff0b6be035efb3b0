#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes what js/ has of the description of the API: `make api`, `make npm` and `scripts/check_js.sh`.

    api_js.py abi API.json [FILE]                  js/abi.js: enums, layouts of structs and signatures of functions
    api_js.py types API.json CLASSES.d.ts [FILE]   js/carom.d.ts: the types of records, options and enums with their
                                                   comments, then the classes, whose comments are those of C
    api_js.py exports API.json FILE [all|core|soup-solid]   options of the linker: the functions of a module

Names are those of C without carom_, in camel case; a field that is a vector is an array of numbers. In CLASSES.d.ts a line
that ends in `//= carom_x_y` gets the comment of carom_x_y above it.

`core` is all but the readers and writers of files and gas, `soup-solid` those two engines alone: for measuring sizes.
"""
import json
import re
import sys

SCALARS = {"bool": "b", "double": "d", "float": "f", "int": "i", "int32_t": "i", "size_t": "u", "uint8_t": "B",
           "uint32_t": "u", "uint64_t": "q"}
VECTORS = ("carom_vec3", "carom_quat", "carom_pose", "carom_pair")
LEFT_OUT_HEADERS = ("carom/cuda.h", "carom/parts.h", "carom/urdf.h") # no use without a GPU, or without files by path
NOT_IN_MODULE = re.compile(r"carom_(cuda_\w+|\w+_(load|save|value)|context_create|assert_set_handler)$")
OF_MODULE = ["carom_js_" + name for name in (
    "start", "allocate", "free", "progress_fn", "pairs_fn", "broad_accept_fn", "gas_event_fn", "gas_response_fn",
    "convex_support_fn")]


def camel(name):
    first, *rest = re.sub(r"^carom_", "", name).split("_")
    return first + "".join(word[:1].upper() + word[1:] for word in rest)


def pascal(name):
    found = camel(name)
    return found[0].upper() + found[1:]


def comment(doc, indent=""):
    text = " ".join(doc.split()).replace("*/", "* /")
    if not text: return []
    lines, line = [], ""
    for word in text.split(" "):
        if len(indent) + 3 + len(line) + len(word) > 108 and line:
            lines.append(line)
            line = ""
        line += (" " if line else "") + word
    lines.append(line)
    if len(lines) == 1: return [f"{indent}/** {lines[0]} */"]
    return [f"{indent}/**"] + [f"{indent} * {part}" for part in lines] + [f"{indent} */"]


def fold(line, most=400):
    """A line of data as lines of at most `most` characters: longer ones are taken for minified sources by packagers."""
    folded, rest = [], line
    while len(rest) > most:
        at = rest.rindex("], ", 0, most) + len("],")
        folded.append(rest[:at])
        rest = 8 * " " + rest[at + 1:]
    return "\n".join(folded + [rest])


class Writer:
    def __init__(self, api):
        self.api = api
        self.enums = {e["name"]: e for e in api["enums"]}
        self.structs = {s["name"]: s for s in api["structs"] if s["header"] not in LEFT_OUT_HEADERS}
        self.arrays = {a["name"]: a for a in api["result_arrays"]}
        self.opaques = {o["name"] for o in api["opaques"]}
        self.callbacks = {c["name"] for c in api["callbacks"]}
        self.functions = [f for f in api["functions"]
                          if not f["inline"] and f["header"] not in LEFT_OUT_HEADERS and not NOT_IN_MODULE.match(f["name"])]

    def names_of(self, enum):
        """The values without _COUNT, as the library's _name functions call them."""
        prefix = enum["name"].upper() + "_"
        values = [v for v in enum["values"] if not v["name"].endswith("_COUNT")]
        strip = lambda name: name[len(prefix):] if name.startswith(prefix) else name[len("CAROM_"):]
        if [v["number"] for v in values] != list(range(len(values))): sys.exit(f"{enum['name']} has gaps")
        space = " " if enum["name"] == "carom_status" else "-"
        return [strip(v["name"]).lower().replace("_", space) for v in values]

    # ---- abi.js

    def code(self, c_type):
        """A type as abi.js has it: a letter, E and an enum, S and a struct, P and what a pointer points to."""
        array = re.fullmatch(r"(.*?)\s*\[(\d+)\]", c_type)
        if array: return f"{self.code(array.group(1))}*{array.group(2)}"
        if c_type in SCALARS: return SCALARS[c_type]
        if c_type in self.enums: return "E" + camel(c_type)
        if c_type in self.structs: return "S" + camel(c_type)
        if c_type == "const char *": return "s"
        if c_type.endswith("*") or "(*)" in c_type:
            target = re.sub(r"^const |\s*\*+$|const$", "", c_type).strip()
            return "P" + (camel(target) if target.startswith("carom_") else target)
        return sys.exit(f"api_js.py: {c_type} has no code")

    def param(self, p):
        """How a parameter is passed: see js/core.js."""
        type_, name = p["type"], camel(p["name"])
        target = re.sub(r"^const |\s*\*+$", "", type_).strip()
        optional = "?" if p["optional"] else ""
        if target == "carom_context" and not type_.endswith("**"): return ["c", name]
        if target in self.callbacks: return ["f", name, camel(target)]
        if type_ == "const char *": return ["s", name]
        if not type_.endswith("*"):
            return ["v", name, self.code(type_)]
        if type_.endswith("**"): return ["n", name, camel(target)]
        if target in self.arrays: return ["r" + optional, name, camel(target)]
        if target in self.opaques: return ["h", name, camel(target)]
        if target == "void" and "length" not in p: return ["z", name]
        kind = "o" if p["direction"] == "out" else "i" if p["direction"] == "in" else "io"
        item = "B" if target == "void" else "S" + camel(target) if target in self.structs else self.code(target)
        found = [kind + optional, name, item]
        if "length" in p: found.append(camel(p["length"]))
        elif "array" in p: found.append(p["array"])
        return found

    def abi(self):
        lines = ["// SPDX-License-Identifier: MIT",
                 "// Enums, layouts and signatures of the C API. Generated by scripts/api_js.py from the headers: do not edit.",
                 f"export const ABI = {self.api['abi']};", f"export const VERSION = {json.dumps(self.api['version'])};"]
        for constant in self.api["constants"]:
            name = constant["name"][len("CAROM_"):]
            if not name.startswith("VERSION") and name not in ("ABI", "DEFAULT_INPUT_LIMIT"):
                lines.append(f"export const {name} = {constant['value']};")
        lines += ["", "// The names of enumerators, by number.", "export const ENUMS = {"]
        for enum in self.api["enums"]:
            if enum["header"] not in LEFT_OUT_HEADERS:
                lines.append(f"    {camel(enum['name'])}: {json.dumps(self.names_of(enum))},")
        lines += ["};", "", "// Size, and for each field its name, type and offset.", "export const STRUCTS = {"]
        for struct in self.structs.values():
            layout = struct["layout"]["ilp32"]
            fields = ", ".join(json.dumps([camel(f["name"]), self.code(f["type"]), layout["offsets"][f["name"]]])
                               for f in struct["fields"])
            lines.append(f"    {camel(struct['name'])}: [{layout['size']}, [{fields}]],")
        lines += ["};", "", "// The struct of an item, or the type of a number.", "export const RESULTS = {"]
        for array in self.arrays.values():
            lines.append(f"    {camel(array['name'])}: {json.dumps(self.code(array['item']))},")
        lines += ["};", "", "// What is returned, and how each parameter is passed (core.js).", "export const FUNCTIONS = {"]
        for f in self.functions:
            returns = "S" if f["returns"] == "carom_status" else "" if f["returns"] == "void" else \
                "P" if f["returns"].endswith("*") and f["returns"] != "const char *" else self.code(f["returns"])
            lines.append(f"    {camel(f['name'])}: {json.dumps([returns, [self.param(p) for p in f['params']]])},")
        return "\n".join([fold(line) for line in lines] + ["};", ""])

    # ---- carom.d.ts

    def ts_type(self, c_type):
        array = re.fullmatch(r"(.*?)\s*\[(\d+)\]", c_type)
        if array:
            item = self.ts_type(array.group(1))
            return f"{item}[]"
        if c_type == "bool": return "boolean"
        if c_type in SCALARS: return "number"
        if c_type in self.enums or c_type in self.structs and c_type not in VECTORS: return pascal(c_type)
        if c_type == "carom_vec3": return "Vec3"
        if c_type == "carom_quat": return "Quat"
        if c_type == "carom_pose": return "PoseNumbers"
        if c_type == "carom_pair": return "[number, number]"
        if c_type == "const char *": return "string"
        return None # pointers are for the classes

    def types(self, classes):
        docs = {f["name"]: f["doc"] for f in self.api["functions"]}
        docs.update({s["name"]: s["doc"] for s in self.api["structs"]})
        docs.update({o["name"]: o["doc"] for o in self.api["opaques"]})
        lines = ["// SPDX-License-Identifier: MIT",
                 "// The types of the package, with the comments of the C headers. Generated by scripts/api_js.py: do not edit.",
                 "", "// ---- Enums: names, as the library's _name functions give them", ""]
        for enum in self.api["enums"]:
            if enum["header"] in LEFT_OUT_HEADERS: continue
            lines += comment(enum["doc"])
            lines.append(f"export type {pascal(enum['name'])} = {' | '.join(json.dumps(n) for n in self.names_of(enum))};")
        lines += ["", "// ---- Records and options. Of options every field may be left out.", ""]
        skipped = VECTORS + ("carom_context_def", "carom_motion", "carom_convex", "carom_scene_object_def",
                             "carom_allocator", "carom_mesh_view", "carom_convex_hint", "carom_tree_hint", "carom_random")
        for name, struct in self.structs.items():
            if name in skipped or name in self.arrays: continue
            fields = []
            for field in struct["fields"]:
                type_ = self.ts_type(field["type"])
                if type_ is None: continue
                is_index = field["type"] == "uint32_t" and re.match(
                    r"(face|face_a|face_b|sphere_a|sphere_b|id|worst_face|first_degenerate_face|first_duplicate_face)$",
                    field["name"])
                optional = "?" if name.endswith("_def") else ""
                fields += comment(field["doc"], "    ")
                fields.append(f"    {camel(field['name'])}{optional}: {type_}{' | null' if is_index else ''};")
            lines += comment(struct["doc"]) + [f"export interface {pascal(name)} {{"] + fields + ["}"]
        lines += ["", "// ---- The package", ""]
        for line in classes.splitlines():
            match = re.search(r"\s*//= (carom_\w+)$", line)
            if match is None:
                lines.append(line)
                continue
            if match.group(1) not in docs: sys.exit(f"api_js.py: there is no {match.group(1)}")
            indent = re.match(r"\s*", line).group()
            lines += comment(docs[match.group(1)], indent) + [line[:match.start()]]
        return "\n".join(lines) + "\n"

    def exports(self, kind):
        names = [f["name"] for f in self.functions]
        if kind != "all":
            names = [n for n in names if not re.search(r"_(load|save)_memory$|^carom_gas|_format", n)]
        if kind == "soup-solid":
            kept = r"carom_(context|abi|soup|solid|mesh_(create|destroy|get_view|check)|status|relation|pairs_free|numbers_free)"
            names = [n for n in names if re.match(kept, n) and "impact" not in n and "near" not in n and "safe" not in n
                     and "advance" not in n]
        return "".join(f"-Wl,--export-if-defined={n}\n" for n in names + OF_MODULE +
                       ["carom_wasm_thread", "carom_wasm_threads", "carom_wasm_may_wait"])


def main():
    if len(sys.argv) < 3: sys.exit(__doc__)
    command, source, *rest = sys.argv[1:]
    with open(source, encoding="utf-8") as file:
        writer = Writer(json.load(file))
    if command == "abi": text, target = writer.abi(), rest[:1]
    elif command == "types":
        with open(rest[0], encoding="utf-8") as file:
            text, target = writer.types(file.read()), rest[1:]
    elif command == "exports": text, target = writer.exports(rest[1] if len(rest) > 1 else "all"), rest[:1]
    else: sys.exit(__doc__)
    if target:
        with open(target[0], "w", encoding="utf-8") as file:
            file.write(text)
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
