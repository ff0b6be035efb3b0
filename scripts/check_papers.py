#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Usage: check_papers.py BENCH FOLDER PAGE. Compares the figures in FOLDER, written by `carom bench papers --quick`,
with what `BENCH papers --list --json` and the page say of them: the columns of each table, a count of polygons
or triangles with the triangles that were measured, the label of each axis with its column and with the picture,
and the algorithms of the rows with those that the page names for the figure; names in brackets may be missing. Then
bench/papers_elements.csv with the sources and the page: each function is in its file, each declaration on the page."""

import csv
import html
import json
import re
import subprocess
import sys

bench, folder, page = sys.argv[1:]
SOURCE = ["series", "algorithm", "backend", "triangles_measured"]
BACKENDS = {"CPU: 1 thread", "CPU: all threads", "GPU", "in print"}
COUNTS = {"polygons", "triangles"}  # columns that tell how many there are
bad = 0


def say(text):
    global bad
    bad += 1
    print(text)


def named_algorithms(text):
    """Those of the tables with a column "algorithms", by figure."""
    found = {}
    for line in text.splitlines():
        match = re.match(r"\| `([a-z]+\d{4}-[a-z0-9-]+)` \|.*\|([^|]*)\|$", line)
        if match:
            found[match.group(1)] = {name.strip() for name in match.group(2).split(";")}
    return found


def check(table, named):
    name = table["name"]
    with open(f"{folder}/{name}.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    head = list(rows[0])
    if head != SOURCE + table["columns"]:
        say(f"{name}.csv: columns are {head}")
        return 0
    for number, row in enumerate(rows):
        if row["backend"] not in BACKENDS:
            say(f"{name}.csv, row {number}: backend '{row['backend']}'")
        for column in COUNTS & set(table["columns"]):
            if float(row[column]) != float(row["triangles_measured"]):
                say(f"{name}.csv, row {number}: {row[column]} {column}, measured {row['triangles_measured']}")
    measured = {row["algorithm"] for row in rows if row["backend"] != "in print"}
    always = {item for item in named.get(name, set()) if not item.startswith("(")}
    perhaps = {item.strip("()") for item in named.get(name, set())}
    if not always <= measured <= perhaps:
        say(f"{page}: {name} measures {sorted(measured)}, the page names {sorted(named.get(name, []))}")
    with open(f"{folder}/{name}.svg") as file:
        picture = html.unescape(file.read())
    for axis in table["axes"]:
        if axis["x"] != axis["x_column"]:
            say(f"{name}: the axis '{axis['x']}' shows the column {axis['x_column']}")
        for label in (axis["title"], axis["x"], axis["y"]):
            if f">{label}" not in picture:
                say(f"{name}.svg: no '{label}'")
    return len(rows)


STATES = {"as printed", "both", "mended", "ours", "left out"}


def check_elements(path, text):
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    if list(rows[0]) != ["paper", "element", "state", "file", "function", "declared"]:
        say(f"{path}: columns are {list(rows[0])}")
        return 0
    for number, row in enumerate(rows, 2):
        where = f"{path}:{number}"
        if row["state"] not in STATES or not row["paper"] or not row["element"]:
            say(f"{where}: state '{row['state']}' of '{row['element']}'")
        if not row["declared"] or row["declared"] not in text:
            say(f"{where}: '{row['declared']}' is not on {page}")
        if row["state"] == "left out":
            if row["file"] or row["function"]:
                say(f"{where}: what is left out has no function")
            continue
        try:
            with open(row["file"]) as file:
                source = file.read()
        except OSError:
            say(f"{where}: no file '{row['file']}'")
            continue
        # a definition begins at the left margin and is followed by its body
        if not re.search(r"^(?![ /*#]).*\b" + re.escape(row["function"]) + r"\([^;{]*\{", source, re.MULTILINE):
            say(f"{where}: {row['function']} is not defined in {row['file']}")
    if len({(row["paper"], row["element"]) for row in rows}) != len(rows):
        say(f"{path}: an element comes twice")
    return len(rows)


tables = json.loads(subprocess.check_output([bench, "papers", "--list", "--json"]))["tables"]
with open(page) as file:
    page_text = file.read()
named = named_algorithms(page_text)
for name in set(named) - {table["name"] for table in tables}:
    say(f"{page}: no figure {name}")
rows = sum(check(table, named) for table in tables)
elements = check_elements("bench/papers_elements.csv", page_text)
if elements < 70:
    say(f"only {elements} elements of the papers")
print(f"{elements} elements found in the sources")
print(f"{len(tables)} figures, {rows} rows compared with what was measured")
sys.exit(bad != 0)
