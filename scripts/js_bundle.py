#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes a file of JavaScript with the WebAssembly module inside, gzipped as base64.

    js_bundle.py FOLDER WASM OUT.js [--classic]

OUT.js is an ES module beside those of FOLDER that exports what index.js does. --classic joins them all into one script that sets
globalThis.carom, for pages that open from disk, where browsers load no modules. Each module keeps a scope of its own there.
They keep to these forms:

    import { a, b as c } from "./x.js";    import * as x from "./x.js";    export { a, b as c } from "./x.js";
    export * from "./x.js";    export { a, b };    export (async) function | class | const NAME
"""
import base64
import gzip
import os
import re
import sys

IMPORT = re.compile(r'^import (?:\* as (\w+)|\{([^}]*)\}) from "\./([\w.]+)";\n', re.M | re.S)
REEXPORT = re.compile(r'^export (?:(\*)|\{([^}]*)\}) from "\./([\w.]+)";\n', re.M | re.S)
EXPORT = re.compile(r"^export (?=(?:async )?(?:function\*?|class|const) (\w+))", re.M)
EXPORT_LIST = re.compile(r"^export \{([^}]*)\};\n", re.M | re.S)


def names(text):
    """(name there, name here) of "a, b as c"."""
    for part in text.replace("\n", " ").split(","):
        words = part.split()
        if words: yield words[0], words[-1]


HEAD = "// SPDX-License-Identifier: MIT\n// Carom with its module inside, made by scripts/js_bundle.py.\n"
BYTES = """.bytes = async () => {
    const raw = Uint8Array.from(atob(PACKED), (c) => c.charCodeAt(0));
    return new Response(new Blob([raw]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
};
"""


def packed(wasm):
    return f'const PACKED = "{base64.b64encode(gzip.compress(wasm, 9, mtime=0)).decode()}";\n'


class Bundle:
    def __init__(self, folder):
        self.folder = folder
        self.done, self.parts, self.exports = [], [], {}

    def add(self, name):
        if name in self.done: return
        self.done.append(name)
        with open(os.path.join(self.folder, name), encoding="utf-8") as file:
            text = file.read()
        for _, _, other in IMPORT.findall(text) + REEXPORT.findall(text): self.add(other)
        if name == "locate.js":
            text = "export const HERE = document.currentScript?.src ?? location.href;\n"
        found = {}
        def take(match):
            whole, some, other = match.groups()
            if whole: return f"const {whole} = modules[{other!r}];\n"
            inner = ", ".join(a if a == b else f"{a}: {b}" for a, b in names(some))
            return f"const {{ {inner} }} = modules[{other!r}];\n"
        def pass_on(match):
            star, some, other = match.groups()
            pairs = [(n, n) for n in self.exports[other]] if star else list(names(some))
            for there, here in pairs: found[here] = f"modules[{other!r}].{there}"
            return ""
        text = REEXPORT.sub(pass_on, IMPORT.sub(take, text))
        for exported in EXPORT.findall(text): found[exported] = exported
        def listed(match):
            found.update({here: there for there, here in names(match.group(1))})
            return ""
        text = EXPORT_LIST.sub(listed, EXPORT.sub("", text))
        if re.search(r"^(import|export)\b", text, re.M): sys.exit(f"js_bundle.py: {name} has an import or export of another form")
        self.exports[name] = list(found)
        inner = ", ".join(here if here == there else f"{here}: {there}" for here, there in found.items())
        body = re.sub(r"^// SPDX[^\n]*\n", "", text)
        self.parts.append(f"modules[{name!r}] = (() => {{\n{body}return {{ {inner} }};\n}})();\n")

    def text(self, wasm):
        return HEAD + '(() => {\n"use strict";\nconst modules = {};\n' + "".join(self.parts) + packed(wasm) + \
            'modules["loader.js"].inlined' + BYTES + 'globalThis.carom = modules["index.js"];\n})();\n'


def main():
    arguments = [a for a in sys.argv[1:] if a != "--classic"]
    if len(arguments) != 3: sys.exit(__doc__)
    folder, wasm, target = arguments
    with open(wasm, "rb") as file: module = file.read()
    if "--classic" in sys.argv:
        bundle = Bundle(folder)
        bundle.add("index.js")
        text = bundle.text(module)
    else:
        text = HEAD + 'import { inlined } from "./loader.js";\n' + packed(module) + "inlined" + BYTES + 'export * from "./index.js";\n'
    with open(target, "w", encoding="utf-8") as file: file.write(text)


if __name__ == "__main__":
    main()
