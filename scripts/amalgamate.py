#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Joins the library into two files, carom.h and carom.c, which any project can take as they are.

    amalgamate.py OUTPUT-FOLDER [COMMIT]

carom.h is the public headers, carom.c has four parts:

  1. what the file asks of the compiler: no contraction of floating-point operations, no warnings about what is
     normal in such a file;
  2. all internal headers, each after those that it includes;
  3. all sources but X_cpu.c, by folder, each folder after those that it uses;
  4. all X_cpu.c, once per instruction set, as the build compiles them (src/base/isa.h): the target is set by pragmas,
     and since one file has one set of names, every name that such a part defines gets the set's name at its end.

A part of 4 repeats of the headers what depends on the instruction set: functions, and macros and types that mention
CAROM_LANES or its like. Names at file scope are unique over src/ (check_names.py), which makes this possible. Which names
a part defines is read from its text after the preprocessor, since some are pasted together by macros."""
import os
import re
import subprocess
import sys
import tempfile

import check_names

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
SETS = {  # as cmake/library.cmake has them: macros that simd.h asks for, and the compilers' names
    "baseline": ([], ""),
    "avx2": (["AVX2"], "avx2,fma,bmi,bmi2"),
    "avx512": (["AVX2", "AVX512F", "AVX512BW"],
               "avx2,fma,bmi,bmi2,avx512f,avx512bw,avx512cd,avx512dq,avx512vl"),
}
# clang does not define these where a pragma sets the target: the file defines its own.
# Sources where queries spend their time beside the loops: CAROM_SMALL leaves them as they are.
FAST = re.compile(r"src/(base|bvh|grid)/|soup_search\.c$|solid_(search|pair)\.c$")
TARGET_MACRO = re.compile(r"\b__(AVX\w*?|FMA|BMI2?|SSE[34]\w*?|F16C)__\b")
SET_DEPENDS = re.compile(r"\b(CAROM_TARGET_\w+|CAROM_ISA_SUFFIX)\b")
SYSTEM_INCLUDE = re.compile(r"^#include <[^>]+>[^\n]*\n", re.M)
OWN_INCLUDE = re.compile(r'^#include "([^"]+)"[^\n]*\n', re.M)
FEATURE_MACRO = re.compile(r"^#define _(?:GNU|POSIX_C|XOPEN|DEFAULT|DARWIN_C|NETBSD|BSD)_SOURCE\b[^\n]*\n", re.M)
CONDITION = re.compile(r"^[ \t]*#[ \t]*(if|ifdef|ifndef|endif)\b", re.M)
LICENCE = re.compile(r"\A/\* SPDX-License-Identifier: MIT \*/\n")
CPLUSPLUS = re.compile(r'^#ifdef __cplusplus\n(?:extern "C" \{|\})\n#endif\n', re.M)


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        text = LICENCE.sub("", file.read())
    return TARGET_MACRO.sub(lambda m: "CAROM_TARGET_" + m.group(1), FEATURE_MACRO.sub("", text))


def path_of(include):
    """The path of an own header, or None: the build writes it."""
    for folder in ("include", "src"):
        if os.path.exists(os.path.join(ROOT, folder, include)): return f"{folder}/{include}"
    return None


def without_guard(text):
    return re.sub(r"^#ifndef (\w+)\n#define \1\n(.*)^#endif\n*\Z", r"\2", text, flags=re.M | re.S)


def is_template(path):
    """Without an include guard: it is meant to be included more than once."""
    return not re.search(r"^#ifndef (\w+)\n#define \1$", read(path), re.M)


class Library:
    def __init__(self):
        self.headers = []   # internal ones with a guard, each after those that it includes
        self.public = []    # the same of include/carom
        self.system = set() # <string.h>, which every platform has
        self.sources, self.loops = [], []
        folders = sorted(f for f in os.listdir(os.path.join(ROOT, "src"))
                         if os.path.isdir(os.path.join(ROOT, "src", f)))
        files = {f: sorted(n for n in os.listdir(os.path.join(ROOT, "src", f)) if n.endswith(".c")) for f in folders}
        self.visit("include/carom/carom.h")
        for folder in self.sorted_folders(folders):
            for name in files[folder]:
                path = f"src/{folder}/{name}"
                self.visit(path)
                (self.loops if name.endswith("_cpu.c") else self.sources).append(path)

    def sorted_folders(self, folders):
        """Each after those whose headers its files include."""
        uses = {f: set() for f in folders}
        for folder in folders:
            for name in os.listdir(os.path.join(ROOT, "src", folder)):
                if name.endswith((".c", ".h")):
                    uses[folder] |= {i.split("/")[0] for i in OWN_INCLUDE.findall(read(f"src/{folder}/{name}"))}
        order = []
        def visit(folder, above):
            if folder in order or folder not in uses or folder in above: return
            for other in sorted(uses[folder]): visit(other, above | {folder})
            order.append(folder)
        for folder in folders: visit(folder, frozenset())
        return order

    def visit(self, path):
        if path in self.headers or path in self.public: return
        text = read(path)
        for include in OWN_INCLUDE.findall(text):
            header = path_of(include)
            if header is not None: self.visit(header)
        if path.startswith("include/"):
            self.public.append(path)
        else:
            self.system |= set(re.findall(r"^#include <[^>]+>", outside_conditions(without_guard(text)), re.M))
            if path.endswith(".h") and not is_template(path): self.headers.append(path)


def outside_conditions(text):
    """What stands in no #if: includes in one are for some platforms only, and stay where they are."""
    kept, depth = [], 0
    for line in text.splitlines(keepends=True):
        match = CONDITION.match(line)
        if match: depth += -1 if match.group(1) == "endif" else 1
        elif depth == 0: kept.append(line)
    return "".join(kept)


def without_includes(text):
    """Own headers are there already, but for templates, which are put in; system headers are at the top."""
    def put(match):
        path = path_of(match.group(1))
        if path is None or not path.startswith("src/") or not is_template(path): return ""
        return without_includes(read(path))
    kept, depth = [], 0
    for line in OWN_INCLUDE.sub(put, text).splitlines(keepends=True):
        match = CONDITION.match(line)
        if match: depth += -1 if match.group(1) == "endif" else 1
        if depth > 0 or not SYSTEM_INCLUDE.match(line): kept.append(line)
    return "".join(kept)


# ---- headers in pieces --------------------------------------------------------------------------


class Piece:
    """A declaration, definition, macro or #if with all that is in it, and the comment above it."""

    def __init__(self, text):
        self.text = text
        source = check_names.Source("", "", text)
        self.kinds = {kind for kinds in source.defined.values() for kind in kinds}
        self.names = set(source.defined)
        self.undefined = source.undefined
        self.words = set(source.names) | set(re.findall(r"\w+", "".join(re.findall(r"^#.*$", text, re.M))))

    @property
    def is_function(self):
        return re.search(r"^\}$", self.text, re.M) is not None and not self.kinds & {"tag", "type", "enumerator"}


def bare(line):
    """Without comments and strings, for counting brackets."""
    return re.sub(r'/\*.*?\*/|"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'', "", line)


def pieces_of(text):
    pieces, current = [], []
    depth = conditions = 0
    in_comment = in_directive = begun = False
    def end():
        nonlocal current, begun, depth
        if "".join(current).strip(): pieces.append(Piece("".join(current)))
        current, begun, depth = [], False, 0
    for line in text.splitlines(keepends=True):
        current.append(line)
        if in_comment:
            in_comment = "*/" not in line
            continue
        if in_directive or line.lstrip().startswith("#"):
            match = CONDITION.match(line) if not in_directive else None
            if match: conditions += -1 if match.group(1) == "endif" else 1
            in_directive = line.endswith("\\\n")
            if not in_directive and conditions == 0 and not begun: end()
            continue
        code = bare(line)
        if "/*" in code:
            in_comment = True
            code = code[:code.index("/*")]
        if not code.strip():
            if not begun and conditions == 0 and not in_comment and not line.strip(): end()
            continue
        begun = True
        depth += sum(code.count(c) for c in "([{") - sum(code.count(c) for c in ")]}")
        closes = code.rstrip() == "}" and line[0] == "}" or depth == 0 and code.rstrip().endswith(";")
        if not closes and depth == 0: # a macro that needs no semicolon
            closes = re.match(r"[A-Z_0-9]+\(.*\)$", bare("".join(current).strip()), re.S) is not None
        if closes and conditions == 0: end()
        elif closes: begun, depth = False, 0
    end()
    return pieces


def repeated(headers):
    """The pieces of the headers that each instruction set needs for itself."""
    pieces = [p for path in headers for p in pieces_of(without_includes(header_text(path)))]
    depends, names = set(), set() # types and macros of a width; all that is repeated
    chosen = set()
    def choose(i, wide):
        chosen.add(i)
        names.update(pieces[i].names)
        if wide: depends.update(pieces[i].names)
    parameters = {n for p in pieces for n in p.undefined} # of templates: macros until they are taken back
    simd = {n for p in pieces_of(without_includes(header_text("src/base/simd.h"))) for n in p.names}
    while True:
        before = len(chosen), len(depends)
        for i, piece in enumerate(pieces):
            if i in chosen: continue
            wide = SET_DEPENDS.search(piece.text) is not None or bool(piece.words & depends)
            call = not piece.names and bool(piece.words & simd) # makes functions of vectors
            if piece.is_function or call: choose(i, False)
            elif piece.kinds & {"macro", "macro()"} and not piece.kinds & {"tag", "type"}:
                if wide or piece.names & parameters or piece.words & names - piece.names: choose(i, wide)
            elif wide and "CAROM_CPU_DECLARE" not in piece.words: choose(i, True)
            elif piece.kinds == {"forward"} and piece.names & names: choose(i, False)
            elif piece.undefined: choose(i, False)
        if (len(chosen), len(depends)) == before: break
    return [pieces[i] for i in sorted(chosen)]


def header_text(path):
    return CPLUSPLUS.sub("", without_guard(read(path)))


# ---- parts per instruction set ------------------------------------------------------------------

MARKER = "int carom_amalgamation_marker;"


def names_in(headers, texts, name):
    """For each text of a part, the names that it defines: the text as the preprocessor leaves it."""
    setting = "".join(f"#define CAROM_TARGET_{t} 1\n" for t in SETS[name][0])
    setting += f"#define CAROM_ISA_SUFFIX {name}\n" + undefine(macros_of("".join(texts)))
    text = "".join(f"\n{MARKER}\n{t}" for t in [headers + setting] + texts)
    with tempfile.NamedTemporaryFile("w", suffix=".c", encoding="utf-8") as file:
        file.write(re.sub(r"^[ \t]*#[ \t]*include\b[^\n]*\n", "", text, flags=re.M))
        file.flush()
        out = subprocess.run([os.environ.get("CC", "cc"), "-E", "-P", file.name], check=True,
                             stdout=subprocess.PIPE, encoding="utf-8").stdout
    for part in out.split(MARKER)[2:]:
        names = check_names.Source("", "", part).defined
        yield sorted(n for n in names if not n.endswith("_" + name)) # CAROM_CPU(...): has its ending


def macros_of(text):
    return sorted(set(re.findall(r"^[ \t]*#[ \t]*define (\w+)", text, re.M)))


def undefine(names):
    return "".join(f"#undef {n}\n" for n in names)


def part_of(headers, pieces, loops, name):
    """The loops of one instruction set. A name becomes a macro while the text that defines it lasts: that also takes
    names that are pasted. Such a name must not be that of a member of a struct that other files see."""
    targets, target = SETS[name]
    titles = ["what headers have for it"] + loops
    texts = ["".join(p.text for p in pieces)] + [without_includes(read(path)) for path in loops]
    lines = [f"\n/* ==== Loops for {name} ==== */\n\n"]
    if target:
        lines += ["#ifdef CAROM_HAVE_X86_ISAS\n", "#if defined(__clang__)\n",
                  f'#pragma clang attribute push(__attribute__((target("{target}"))), apply_to = function)\n',
                  "#else\n", "#pragma GCC push_options\n", f'#pragma GCC target("{target}")\n', "#endif\n"]
    lines += [f"#define CAROM_TARGET_{t} 1\n" for t in targets]
    lines += [undefine(macros_of("".join(texts))), f"#undef CAROM_ISA_SUFFIX\n#define CAROM_ISA_SUFFIX {name}\n"]
    shared = []
    for title, text, names in zip(titles, texts, names_in(headers, texts, name)):
        lines += [f"\n/* ---- {title} ---- */\n\n"]
        lines += [f"#define {n} {n}_{name}\n" for n in names]
        lines += [text, undefine(names if title in loops else [])]
        shared = shared or names
    lines += [undefine(shared), undefine(f"CAROM_TARGET_{t}" for t in targets)]
    if target:
        lines += ["#if defined(__clang__)\n", "#pragma clang attribute pop\n", "#else\n",
                  "#pragma GCC pop_options\n", "#endif\n", "#endif /* CAROM_HAVE_X86_ISAS */\n"]
    return "".join(lines)


# ---- the files ----------------------------------------------------------------------------------

TOP = '''/* SPDX-License-Identifier: MIT */
/* Carom {version} ({commit}), the whole library in one file, made by `make amalgamation`. The other file is carom.h.
 *
 *     cc -O2 -c carom.c            then link with -pthread -lm, and -ldl where that is a library of its own
 *
 * On x86-64 the loops are in it for SSE2, AVX2 and AVX-512, and the best that the processor has is taken when running:
 * compile it without -march. The answers are the same bits as those of the library, on every processor.
 *
 * Define when compiling, if you like:
 *   CAROM_HAVE_ZLIB       reads and writes .gz meshes; needs zlib.h and -lz
 *   CAROM_HAVE_ASSIMP     opens assimp where it is installed when running; needs its headers
 *   CAROM_ONE_ISA         leaves out the loops for AVX2 and AVX-512, and half of the time of compiling
 *   CAROM_UNALIGNED_MOVES only for gcc on Windows, which leaves these loops out otherwise: says that the file is compiled
 *                         with -Wa,-muse-unaligned-vector-move
 *   CAROM_SMALL           clang: fewer bytes of code, beside the loops where queries spend their time
 *   CAROM_CHECKS          checks internal invariants while running
 *
 * MIT licence:
 *
{licence} */

#ifdef __FAST_MATH__
#error "carom.c is exact only without -ffast-math and -funsafe-math-optimizations"
#endif

/* The same floats everywhere: no contraction to fused operations. errno and traps are of no use here and would keep
 * sqrt and comparisons from being vectorised; neither changes a value. gcc's last option: see cmake/flags.cmake. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#pragma clang diagnostic ignored "-Wunused-function" /* functions of headers that no source uses */
#pragma clang diagnostic ignored "-Wpsabi"
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off", "no-math-errno", "no-trapping-math", "no-loop-unroll-and-jam")
#pragma GCC diagnostic ignored "-Wpsabi" /* vectors are arguments of inlined functions only */
#else
#error "carom.c needs the vector types of gcc or clang"
#endif

/* Before any header of the system. */
#if defined(_WIN32)
#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#ifndef _WIN32_WINNT
#define _WIN32_WINNT 0x0A00
#endif
#ifndef __USE_MINGW_ANSI_STDIO
#define __USE_MINGW_ANSI_STDIO 1
#endif
#elif defined(__APPLE__)
#define _DARWIN_C_SOURCE
#elif !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif

/* gcc aligns the stack to 16 bytes on Windows and moves larger vectors as if it were aligned to these (GCC bug 54412):
 * loops for AVX would crash there, unless the assembler is told to make such moves unaligned ones. */
#if defined(_WIN32) && !defined(__clang__) && !defined(CAROM_UNALIGNED_MOVES) && !defined(CAROM_ONE_ISA)
#define CAROM_ONE_ISA
#endif
#if defined(__x86_64__) && !defined(CAROM_ONE_ISA)
#define CAROM_HAVE_X86_ISAS
#endif
#ifndef CAROM_CUDA_LIBRARY
#define CAROM_CUDA_LIBRARY "libcarom_cuda.so.{minor}"
#endif
#ifndef CAROM_ASSIMP_LIBRARY
#define CAROM_ASSIMP_LIBRARY "libassimp.so"
#endif
#define CAROM_COMMIT "{commit}"

#include "carom.h"

{system}
#if defined(_WIN32) /* here, so that its macros that are names of ours can be taken back */
#include <windows.h>
#undef near
#undef far
#undef small
#undef TEXT
#endif

/* Names are hidden from other libraries, but not those of the system, whose headers some sources include by themselves. */
#if !defined(_WIN32)
#pragma GCC visibility push(hidden)
#define CAROM_SYSTEM_BEGIN _Pragma("GCC visibility push(default)")
#define CAROM_SYSTEM_END   _Pragma("GCC visibility pop")
#else
#define CAROM_SYSTEM_BEGIN
#define CAROM_SYSTEM_END
#endif

'''


SMALL_BEGIN = '''#if defined(CAROM_SMALL) && defined(__clang__)
#pragma clang attribute push(__attribute__((minsize)), apply_to = function)
#endif
'''
SMALL_END = '''#if defined(CAROM_SMALL) && defined(__clang__)
#pragma clang attribute pop
#endif
'''


def public_header(library, version, commit):
    # All of them are in one extern "C": only base.h opens it.
    text = f"""/* SPDX-License-Identifier: MIT */
/* carom.h: the API of Carom {version} ({commit}) in one file, made by `make amalgamation` from include/carom. */
#ifndef CAROM_H
#define CAROM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
"""
    for path in library.public:
        if path.endswith("/carom.h"): continue
        body = SYSTEM_INCLUDE.sub("", OWN_INCLUDE.sub("", without_guard(read(path))))
        text += f"\n/* ==== {path.split('/', 1)[1]} ==== */\n\n{body.strip()}\n"
    return re.sub(r"\n{3,}", "\n\n", text) + "\n#endif\n"


def main(arguments):
    folder, commit = arguments[0], (arguments[1:] + ["unknown"])[0]
    library = Library()
    numbers = dict(re.findall(r"#define CAROM_VERSION_(MAJOR|MINOR|PATCH) (\d+)", read("include/carom/base.h")))
    version = "{MAJOR}.{MINOR}.{PATCH}".format(**numbers)
    with open(os.path.join(ROOT, "LICENSE"), encoding="utf-8") as file:
        licence = "".join(f" * {line}".rstrip() + "\n" for line in file.read().splitlines())
    values = {"version": version, "commit": commit, "licence": licence,
              "minor": "{MAJOR}.{MINOR}".format(**numbers),
              "system": "".join(i + "\n" for i in sorted(library.system))}
    top = re.sub(r"\{(\w+)\}", lambda m: values[m.group(1)], TOP)
    text, headers = "", ""
    for path in library.headers:
        headers += f"\n/* ---- {path} ---- */\n" + without_includes(header_text(path))
    text += headers
    for path in library.sources:
        body = without_includes(read(path))
        if not FAST.search(path): body = SMALL_BEGIN + body + SMALL_END
        text += f"\n/* ==== {path} ==== */\n" + body
    pieces = repeated(library.headers)
    for name in SETS: text += part_of(headers, pieces, library.loops, name)
    text = top + SYSTEM_INCLUDE.sub(lambda m: f"CAROM_SYSTEM_BEGIN\n{m.group(0)}CAROM_SYSTEM_END\n", text)
    text += "\n#if !defined(_WIN32)\n#pragma GCC visibility pop\n#endif\n"
    os.makedirs(folder, exist_ok=True)
    for name, content in (("carom.c", text), ("carom.h", public_header(library, version, commit))):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(re.sub(r"\n{3,}", "\n\n", content))
    return 0


if __name__ == "__main__": sys.exit(main(sys.argv[1:]))
