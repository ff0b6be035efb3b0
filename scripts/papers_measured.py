#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Usage: papers_measured.py BENCH FOLDER MACHINE >docs/papers-measured.md
       papers_measured.py --check BENCH FOLDER PAGE
       papers_measured.py --device BENCH PAGE

The page of what `carom bench papers -o FOLDER` measured: one table per figure, made of its CSV. A series of few rows is
shown whole, of a longer one the number of its rows and the mean and the largest value of each column. Rows of a GPU are
those of bench/papers_device.csv. MACHINE says what the others were measured on.

With --check, the page is not written but compared with what FOLDER, a run of small inputs, has: the same figures in the
same order, and for each the same columns and algorithms. With --device, the rows of a GPU on the page are renewed from
bench/papers_device.csv, and all others stay."""

import csv
import json
import re
import subprocess
import sys

SOURCE = ["series", "algorithm", "backend", "triangles_measured"]
MOST_ROWS = 10  # of a series that is shown whole
HEAD = """# What was measured of the papers

This page is made by `scripts/papers_measured.py` of what `carom bench papers` writes; [papers.md](papers.md) says what each figure
shows, what is printed and what differs. Of series with more than {most} rows each value is the mean, and the largest behind it
in brackets.

- Rows of a CPU: {machine}.
- Rows of a GPU: {gpu}.
"""


def number(text):
    value = float(text)
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else "%.3g" % value


def figures_of(bench):
    return json.loads(subprocess.check_output([bench, "papers", "--list", "--json"]))["tables"]


def rows_of(folder, name):
    with open(f"{folder}/{name}.csv", newline="") as file:
        return [row for row in csv.reader(file)][1:]


def device_rows(name):
    """Those of the last run on a GPU, as rows of a CSV."""
    with open("bench/papers_device.csv") as file:
        lines = [line.strip().split(",") for line in file if not line.startswith("#")]
    return [[f[6].replace("|", ","), f[4], "GPU", f[5], *f[7:]] for f in lines if f[0] == name]


def device_of():
    """Each run on a GPU, with the papers whose rows it recorded last."""
    found = {}
    with open("bench/papers_device.csv") as file:
        for f in (line.split(",") for line in file if not line.startswith("#")):
            found.setdefault((f[3], f[1], f[2]), set()).add(f[0].split("-")[0])
    return "; ".join("%s, %s, commit %s (%s)" % (*run, ", ".join(sorted(papers))) for run, papers in sorted(found.items()))


def table(figure, rows):
    columns = figure["columns"]
    yield "| " + " | ".join(["series", "algorithm", "on", "triangles", "rows", *columns]) + " |"
    yield "|" + "---|" * (5 + len(columns))
    series = {}
    for row in rows:
        series.setdefault(tuple(row[:3]), []).append(row)
    for key, group in series.items():
        if len(group) <= MOST_ROWS:
            for row in group:
                yield "| " + " | ".join([*key, row[3], "1", *map(number, row[4:])]) + " |"
            continue
        values = [[float(row[4 + i]) for row in group] for i in range(len(columns))]
        shown = ["%s (%s)" % (number(sum(v) / len(v)), number(max(v))) for v in values]
        triangles = sorted({int(row[3]) for row in group})
        count = str(triangles[0]) if len(triangles) == 1 else "%d to %d" % (triangles[0], triangles[-1])
        yield "| " + " | ".join([*key, count, str(len(group)), *shown]) + " |"


def make(bench, folder, machine):
    print(HEAD.format(machine=machine, gpu=device_of(), most=MOST_ROWS))
    for figure in figures_of(bench):
        rows = [row for row in rows_of(folder, figure["name"]) if row[2] != "GPU"] + device_rows(figure["name"])
        print(f"## {figure['name']}\n")
        print("\n".join(table(figure, rows)) + "\n")


def check(bench, folder, page):
    with open(page) as file:
        sections = re.split(r"^## ", file.read(), flags=re.MULTILINE)[1:]
    bad = 0
    figures = figures_of(bench)
    if [section.split("\n")[0] for section in sections] != [figure["name"] for figure in figures]:
        print(f"{page}: the figures are not those of {bench} papers --list")
        bad = 1
    for figure, section in zip(figures, sections):
        lines = [line.split(" | ") for line in section.split("\n") if line.startswith("| ")]
        if [c.strip("| ") for c in lines[0]][5:] != figure["columns"]:
            print(f"{page}: {figure['name']} has other columns")
            bad = 1
        shown = {line[1] for line in lines[1:]}
        measured = {row[1] for row in rows_of(folder, figure["name"])}
        if not measured <= shown:
            print(f"{page}: {figure['name']} lacks {sorted(measured - shown)}")
            bad = 1
    print(f"{len(sections)} tables of {page} compared")
    return bad


def renew_device(bench, page):
    with open(page) as file:
        head, *sections = re.split(r"^## ", file.read(), flags=re.MULTILINE)
    head = re.sub(r"^- Rows of a GPU: .*$", f"- Rows of a GPU: {device_of()}.", head, flags=re.MULTILINE)
    figures = {figure["name"]: figure for figure in figures_of(bench)}
    for i, section in enumerate(sections):
        name, *lines = section.rstrip("\n").split("\n")
        kept = [line for line in lines if not (line.startswith("| ") and line.split(" | ")[2] == "GPU")]
        rows = list(table(figures[name], device_rows(name)))[2:]
        sections[i] = "\n".join([name, *kept, *rows]) + "\n\n"
    with open(page, "w") as file:
        file.write("## ".join([head, *sections]))


if __name__ == "__main__":
    if sys.argv[1] == "--check":
        sys.exit(check(*sys.argv[2:]))
    if sys.argv[1] == "--device":
        sys.exit(renew_device(*sys.argv[2:]))
    make(*sys.argv[1:])
