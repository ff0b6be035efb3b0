#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that every name at file scope in src/ is defined in one file.

    check_names.py [--list] [FOLDER]    FOLDER: else src/ of this checkout
      --list                            prints all names: KIND NAME FILE:LINE

A backtrace names functions without their files, and all .c files in one translation unit need it as well.
Checked are functions, variables, types, enumerators and macros of .c, .h and .cu files. Reported are:

  twice       A name that two files define. Not: a typedef of a struct or a prototype of a function that
              another file defines; a macro that its file, or a header that the file includes, takes
              back by #undef: those are parameters of templates.
              Files of which a system compiles only one, src/base/platform_SYSTEM.c, are as one file.
  replaced    A macro of a .c or .cu file that is a name in another such file: in one translation unit,
              the macro would replace it there.
  adjective   A macro, enumerator or constant whose name is an adjective or the like (FAR, FEW): it says
              neither of what nor in which unit. Some are macros of Windows, too.

What macros make by pasting: CAROM_CPU(carom_x) is carom_x_baseline, and CAROM_ARRAY(edges, edge) makes the
type edges and its functions. In a header without an include guard, a template, names that are pasted by its
parameters are left out: the includer makes them unique."""
import os
import re
import sys

ADJECTIVES = set("""ABOVE ALIKE BAD BELOW BESIDE BEYOND BIG CERTAIN CLEAR CLOSE COARSE CROWDED DEEP DEEPER
    DENSE EQUAL FAR FARTHER FAST FEW FEWER FINE FINER FIT FITS FLAT FULL GOOD GREAT HARD HEAVY HIGH HUGE LARGE
    LARGER LATE LEAST LESS LIGHT LONG LOOSE LOW MANY MORE MOST NARROW NEAR NEARER NEARLY NEW OLD OPEN OUTSIDE
    PLAIN QUICK RARE ROUGH SAFE SAME SHALLOW SHARP SHORT SLOW SMALL SMALLER SMALLEST SOON SPARSE STEEP STRICT
    STRONG SURE THICK THIN TIGHT TINY UNCLEAR VERY_FAR WEAK WIDE WIDER""".split())

TOKEN = re.compile(r"""
    (?P<space>[ \t\r\n\f]+|\\\n)
  | (?P<comment>/\*.*?\*/|//[^\n]*)
  | (?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
  | (?P<name>[A-Za-z_]\w*)
  | (?P<number>\.?\d(?:[eEpP][+-]|[\w.'])*)
  | (?P<other>.)""", re.X | re.S)

DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(\w+)((?:[^\n\\]|\\.|\\\n)*)", re.M | re.S)
STATIC = {"static", "CAROM_ITEM", "CAROM_ARRAY_FUNCTION"}
MADE = {"CAROM_ARRAY": ("_reserve", "_push", "_release"), "CAROM_RESULT_FILL": ("_begin", "_end"),
        "CAROM_ENUM_NAMES": ("_name", "_names", "_from_name")}  # functions, by the endings of their names
OPEN, CLOSE = {"(": ")", "[": "]", "{": "}"}, {")", "]", "}"}


def words_of(trees):
    """The tokens at the top of a list of trees; brackets stand for what they hold."""
    return [t[0] if t[0] in OPEN else t[1] for t in trees]


class Source:
    """What a file defines, undefines, includes and names."""

    def __init__(self, path, shown, text=None):
        if text is None: text = open(path, encoding="utf-8").read()
        self.path, self.text = shown, text
        self.defined = {}    # name: {kind: line}
        self.undefined = set()
        self.includes = []
        self.names = {}      # every identifier outside comments and strings: first line
        self.guarded = re.search(r"^#ifndef (\w+)\n#define \1$", text, re.M) is not None
        self.read_directives()
        self.read_declarations()

    def define(self, kind, name, line):
        self.defined.setdefault(name, {}).setdefault(kind, line)

    def tokens_of(self, text, first_line=1):
        line = first_line
        for match in TOKEN.finditer(text):
            kind = match.lastgroup
            if kind not in ("space", "comment"):
                yield kind, match.group(), line
            line += match.group().count("\n")

    def read_directives(self):
        blank = re.sub(r'/\*.*?\*/|"(?:[^"\\\n]|\\.)*"',
                       lambda m: m.group() if m.group()[0] == '"' else re.sub(r"[^\n]", " ", m.group()),
                       self.text, flags=re.S)
        parts, at = [], 0
        for match in DIRECTIVE.finditer(blank):
            line = blank.count("\n", 0, match.start()) + 1
            word, rest = match.group(1), match.group(2).replace("\\\n", " \n")
            name = re.match(r"\s*([A-Za-z_]\w*)", rest)
            if word == "define" and not name.group(1).startswith("_"):
                kind = "macro()" if rest[name.end():name.end() + 1] == "(" else "macro"
                self.define(kind, name.group(1), line)
            elif word == "undef":
                self.undefined.add(name.group(1))
            elif word == "include" and '"' in rest:
                self.includes.append(rest.split('"')[1])
            if word != "include":
                for kind, token, _ in self.tokens_of(rest, line):
                    if kind == "name":
                        self.names.setdefault(token, line)
            parts += [blank[at:match.start()], "\n" * match.group().count("\n")]
            at = match.end()
        self.code = "".join(parts + [blank[at:]])

    def read_declarations(self):
        tokens = list(self.tokens_of(self.code))
        for kind, token, line in tokens:
            if kind == "name":
                self.names.setdefault(token, line)
        self.at, self.tokens = 0, tokens
        while self.at < len(tokens):
            self.read_declaration()

    def group(self):
        """The tree of the tokens from an opening bracket to its end: (bracket, [trees], line)."""
        _, bracket, line = self.tokens[self.at]
        self.at += 1
        trees = []
        while self.at < len(self.tokens) and self.tokens[self.at][1] not in CLOSE:
            if self.tokens[self.at][1] in OPEN:
                trees.append(self.group())
            else:
                trees.append(self.tokens[self.at])
                self.at += 1
        self.at += 1
        return bracket, trees, line

    def skip_template(self):
        """Passes `template <...>`."""
        while self.at < len(self.tokens) and self.tokens[self.at][1] == "template":
            depth = 0
            while self.at < len(self.tokens):
                self.at += 1
                token = self.tokens[self.at][1]
                depth += {"<": 1, ">": -1}.get(token, 0)
                if token == ">" and depth == 0: break
            self.at += 1

    def read_declaration(self):
        trees = []
        self.skip_template()
        while self.at < len(self.tokens):
            token = self.tokens[self.at][1]
            if token == "{" and words_of(trees)[:1] == ["extern"]:
                self.at += 1  # extern "C": as if it were not there
                return
            if token in OPEN:
                trees.append(self.group())
                if token == "{" and self.is_function(trees[:-1]):
                    self.take_function(trees[:-1])
                    return
            elif token in CLOSE:
                self.at += 1
            else:
                self.at += 1
                if token == ";":
                    self.take(trees)
                    return
                trees.append(self.tokens[self.at - 1])

    @staticmethod
    def is_function(trees):
        words = words_of(trees)
        return "=" not in words and "typedef" not in words and words[-1:] == ["("]

    def name_before(self, trees, index):
        """The name of a function whose parameters are trees[index], with its line, or None."""
        before = trees[index - 1] if index > 0 else None
        if before is None: return None
        if before[0] == "name": return before[1], before[2]
        if before[0] == "(":
            inner = [t for t in before[1] if t[0] == "name"]
            macro = trees[index - 2] if index > 1 else None
            if not inner: return None
            if macro is not None and macro[1] == "CAROM_CPU":
                return inner[0][1] + "_baseline", inner[0][2]
            if inner and len(before[1]) > 1 and before[1][0][1] == "*": return inner[-1][1], inner[-1][2]
        return None

    def take_function(self, trees):
        last = max(i for i, t in enumerate(trees) if t[0] == "(")
        while last > 1 and trees[last - 1][0] == "name" and trees[last - 1][1].startswith("__"):
            last = max(i for i, t in enumerate(trees[:last - 1]) if t[0] == "(")
        name = self.name_before(trees, last)
        if name is not None: self.define("function", *name)
        for tree in trees:
            if tree[0] == "{": self.take_types(tree[1])

    def take_types(self, trees):
        """Tags and enumerators defined in a declaration, inside of structs, too."""
        for i, tree in enumerate(trees):
            if tree[0] != "{": continue
            before = trees[max(0, i - 8):i]
            words = words_of(before)
            key = next((k for k in range(len(words) - 1, -1, -1)
                        if words[k] in ("struct", "union", "enum", "class")), None)
            if key is None or "=" in words[key:]: continue
            tag = next((t for t in before[key + 1:] if t[0] == "name" and t[1] != "alignas"), None)
            if tag is not None: self.define("tag", tag[1], tag[2])
            if words[key] == "enum":
                fresh = True
                for t in tree[1]:
                    if fresh and t[0] == "name": self.define("enumerator", t[1], t[2])
                    fresh = t[1] == ","
            else:
                self.take_types(tree[1])

    def declarators(self, trees):
        """Names that a declaration without body declares."""
        part = []
        for tree in trees + [("other", ",", 0)]:
            if tree[1] == ",":
                cut = next((i for i, t in enumerate(part) if t[1] == "="), len(part))
                head = [t for t in part[:cut] if t[0] != "["]
                while head and (head[-1][0] == "(" and len(head) > 1 and head[-2][1] == "__attribute__"):
                    head = head[:-2]
                if head and head[-1][0] == "(" and len(head) > 1:
                    name = self.name_before(head, len(head) - 1)
                    if name is not None: yield name + (True,)
                elif head and head[-1][0] == "name":
                    yield head[-1][1], head[-1][2], False
                part = []
            else:
                part.append(tree)

    def take(self, trees):
        if trees and trees[0][1] == "__extension__": trees = trees[1:]
        if not trees: return
        words = words_of(trees)
        self.take_types(trees)
        if words[0] in ("_Static_assert", "static_assert", "using"): return
        if trees[0][0] == "name" and words[0].isupper() and len(trees) == 2 and trees[1][0] == "(":
            inner = [t for t in trees[1][1] if t[0] == "name"]
            if words[0] == "CAROM_ARRAY": self.define("type", inner[0][1], inner[0][2])
            for end in MADE.get(words[0], ()): self.define("function", inner[0][1] + end, inner[0][2])
            return
        body = any(t[0] == "{" for t in trees)
        if words[0] == "typedef":
            for name, line, _ in self.declarators(trees[1:]):
                forward = not body and words[1] in ("struct", "union", "enum") and words[2:] == [name, name]
                self.define("forward" if forward else "type", name, line)
            return
        if "extern" in words: return
        static = bool(STATIC & set(t[1] for t in trees if t[0] == "name"))
        if words[0] in ("struct", "union", "enum", "class") and not static:
            cut = next((i for i, t in enumerate(trees) if t[0] == "{"), None)
            if cut is None and len(trees) <= 2 or cut is not None and cut == len(trees) - 1: return
        for name, line, function in self.declarators(trees):
            if function and static: self.define("forward", name, line)
            elif static or "=" in words: self.define("variable", name, line)


def read_all(folder):
    sources = []
    for where, _, files in sorted(os.walk(folder)):
        for file in sorted(files):
            if file.endswith((".c", ".h", ".cu")):
                path = os.path.join(where, file)
                sources.append(Source(path, os.path.relpath(path, os.path.dirname(folder))))
    return sources


def defined_twice(sources):
    by_path = {s.path.split("/", 1)[1]: s for s in sources}
    # A template's parameter in front of parentheses, NAME(plane), looks like the name of a function.
    parameters = {name for s in sources if not s.guarded for name in s.undefined}
    seen_in = {}
    for s in sources:
        taken_back = set(s.undefined)
        for include in s.includes:
            if include in by_path and not by_path[include].guarded: taken_back |= by_path[include].undefined
        for name, kinds in s.defined.items():
            left = {k: line for k, line in kinds.items() if not (k.startswith("macro") and name in taken_back)}
            if name in parameters: left = {k: line for k, line in left.items() if k.startswith("macro")}
            if left: seen_in.setdefault(name, []).append((s, left))
    for name, found in sorted(seen_in.items()):
        strong = [f for f in found if set(f[1]) != {"forward"}]
        if len(strong) > 1: yield name, strong


def replaced(sources):
    units = [s for s in sources if s.path.endswith((".c", ".cu"))]
    users = {}
    for s in units:
        for name in s.names: users.setdefault(name, []).append(s)
    for s in units:
        for name, kinds in sorted(s.defined.items()):
            if "macro" not in kinds or name in s.undefined: continue
            for other in users.get(name, []):
                if other is not s and name not in other.defined: yield name, s, kinds["macro"], other


def main(arguments):
    listing = "--list" in arguments
    folders = [a for a in arguments if not a.startswith("--")]
    folder = os.path.abspath(folders[0] if folders else os.path.join(os.path.dirname(__file__), "..", "src"))
    sources = read_all(folder)
    if listing:
        for s in sources:
            for name, kinds in s.defined.items():
                for kind, line in kinds.items(): print(kind, name, f"{s.path}:{line}")
        return 0
    bad = 0
    for name, found in defined_twice(sources):
        if len({re.sub(r"platform_[a-z]+\.c$", "platform.c", s.path) for s, _ in found}) == 1: continue
        bad += 1
        print("twice:", name, *(f"{s.path}:{min(kinds.values())}" for s, kinds in found))
    for name, s, line, other in replaced(sources):
        bad += 1
        print("replaced:", name, f"{s.path}:{line}", f"{other.path}:{other.names[name]}")
    for s in sources:
        for name, kinds in s.defined.items():
            if name in ADJECTIVES and {"macro", "macro()", "enumerator", "variable"} & set(kinds):
                bad += 1
                print("adjective:", name, f"{s.path}:{min(kinds.values())}")
    total = len({name for s in sources for name in s.defined})
    if bad: print(f"{bad} of {total} names in src/ are not unique; carry the file's subject in the name")
    else: print(f"{total} names in src/, each defined once")
    return bad != 0


if __name__ == "__main__": sys.exit(main(sys.argv[1:]))
