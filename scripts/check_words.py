#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Parts of identifiers that were retired. Names are divided at underscores and capitals (b_asks, MOST_PLACES,
firstSentence), in code, docs, scripts and patches; in C, C++ and Python a name is also one without a second part, outside
of comments and strings. In prose "place" and "ask" are English: check_words.sh has the words that are retired there, too."""
import re
import subprocess
import sys

RETIRED = {  # part of a name: what the field says
    "query, look up, test": "ask asks asked asker askers asking",
    "slot, index, position, pose, transform": "place places placed placing placings",
    "accumulator, totals, counts": "tally tallies tallied",
    "posed pair, intersection, collision, contact": "meeting meetings",
    "finish, resolve, commit, normalize, flush": "settle settles settled settling",
    "density, neighbours, overflow": "crowd crowds crowded crowding",
    "message": "sentence sentences",
    "the word for what it is": "guest guests",
}
NOW = {word: now for now, words in RETIRED.items() for word in words.split()}
NOW["host"] = NOW["hosts"] = "host only of memory and code beside a GPU's (in files of cuda or device)"

ALLOWED = {  # names, with the reason
    "asked": "a field of carom_scene_info and a key of JSON: public",
    "first_sentence": "of a comment: a sentence",
    "__host__": "CUDA's own",
    "MPI_IN_PLACE": "MPI's own",
    "select_meeting": "an operator of Blender, public: selects the faces that meet",
    "CAROM_OT_select_meeting": "the same, as Blender wants classes to be called",
}
# What is kept as it was: callers of version 0.1, a made-up API, results, generated pages and these lists themselves.
LEFT_OUT = re.compile(r"^(fuzz/corpus/|bench/results/|tests/golden/|tests/api/|tests/outside/from-0\.1/"
                      r"|docs/(from-0\.1|figures)\.md$|scripts/(from-0\.1\.sed|check_words\.(sh|py))$|.*\.svg$)")
CODE = re.compile(r"\.(c|h|cu|cpp|hpp)$")
STRIP_C = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
STRIP_PYTHON = re.compile(r'""".*?"""|#[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def blank(match):
    return re.sub(r"[^\n]", " ", match.group())


def parts(name):
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name).lower().split("_")


def check(path, text, bare):
    """The lines of `text` with retired names; `bare`: names of one part count."""
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        for name in NAME.findall(line):
            divided = parts(name)
            if name in ALLOWED or (len(divided) == 1) != bare:
                continue
            for part in divided:
                if part not in NOW or (part.startswith("host") and re.search("cuda|device|_abi", path)):
                    continue
                found.append(f'{path}:{number}: {name}: write "{NOW[part]}"')
    return found


def main():
    listed = subprocess.run(["git", "ls-files"], check=True, capture_output=True, text=True).stdout.split("\n")
    found = []
    for path in listed:
        if not path or LEFT_OUT.match(path):
            continue
        try:
            with open(path, encoding="utf-8") as file:
                text = file.read()
        except (UnicodeDecodeError, IsADirectoryError, FileNotFoundError):
            continue
        found += check(path, text, False)
        if CODE.search(path):
            found += check(path, STRIP_C.sub(blank, text), True)
        elif path.endswith(".py"):
            found += check(path, STRIP_PYTHON.sub(blank, text), True)
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


sys.exit(main())
