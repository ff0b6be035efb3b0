#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""figures.py [ROOT] > docs/figures.md: the page of all measured figures, from bench/results/MACHINE/TOPIC.csv.

The same files give the same bytes; scripts/check_docs.sh compares. bench/results/README.md says what the
columns mean. Rows of one table and one machine become one table of the page: inputs below each other, figures
beside each other. Where most places would be empty, each figure has a line of its own."""

import csv
import glob
import os
import re
import sys

COLUMNS = ["commit", "date", "command", "table", "input", "figure", "value", "unit"]
TRIED = "tried"
MOST_COLUMNS = 13  # a wider table is turned, or listed
MOST_EMPTY = 0.5  # of the places of a table; above, it is listed


def fail(text):
    sys.exit("bench/figures.py: " + text)


def read(root):
    """The rows by topic, table and machine, in the order of the files."""
    groups = {}
    for path in sorted(glob.glob(os.path.join(root, "bench/results/*/*.csv"))):
        machine, topic = path[:-len(".csv")].split("/")[-2:]
        with open(path, newline="", encoding="utf-8") as file:
            rows = list(csv.reader(file))
        if not rows or rows[0] != COLUMNS:
            fail("%s: the first line must be %s" % (path, ",".join(COLUMNS)))
        for number, row in enumerate(rows[1:], 2):
            if len(row) != len(COLUMNS) or "" in row[:7]:
                fail("%s:%d: a column is missing" % (path, number))
            row = dict(zip(COLUMNS, row))
            group = groups.setdefault(topic, {}).setdefault((row["table"], machine), {})
            if (row["input"], row["figure"]) in group:
                fail("%s:%d: %s, %s comes twice" % (path, number, row["input"], row["figure"]))
            group[row["input"], row["figure"]] = row
    return groups


def machines(root):
    with open(os.path.join(root, "bench/results/machines.csv"), newline="", encoding="utf-8") as file:
        return dict(list(csv.reader(file))[1:])


def cell(text):
    return text.replace("|", "\\|")


def with_unit(row):
    return cell(row["value"] + (" " + row["unit"] if row["unit"] else ""))


def line(cells):
    return "| " + " | ".join(cells) + " |"


def listed(group):
    out = [line(["", "figure", "value"]), "|---|---|---|"]
    last = None
    for (name, figure), row in group.items():
        out.append(line([cell(name) if name != last else "", cell(figure), with_unit(row)]))
        last = name
    return out


def names_unit(column, unit):
    """Whether the unit is one of the words of a column's name (the s of "spheres" is not)."""
    return re.search(r"(?<!\w)" + re.escape(unit) + r"(?!\w)", column) is not None


def crossed(group):
    """Inputs below each other, figures beside each other; None where that makes no good table."""
    inputs = list(dict.fromkeys(name for name, _ in group))
    figures = list(dict.fromkeys(figure for _, figure in group))
    empty = 1.0 - len(group) / (len(inputs) * len(figures))
    if empty > MOST_EMPTY or min(len(inputs), len(figures)) == 1 and len(figures) > 1:
        return None
    rows, columns, at = inputs, figures, lambda r, c: group.get((r, c))
    if len(columns) > MOST_COLUMNS:
        if len(rows) > MOST_COLUMNS:
            return None
        rows, columns, at = figures, inputs, lambda r, c: group.get((c, r))
    common = {}
    for c in columns:
        units = {at(r, c)["unit"] for r in rows if at(r, c)}
        common[c] = units.pop() if len(units) == 1 else None
    head = [cell(c) + (", " + common[c] if common[c] and not names_unit(c, common[c]) else "") for c in columns]
    out = [line([""] + head), "|" + "---|" * (len(columns) + 1)]
    for r in rows:
        cells = []
        for c in columns:
            row = at(r, c)
            cells.append("" if row is None else cell(row["value"]) if common[c] is not None else with_unit(row))
        out.append(line([cell(r)] + cells))
    return out


def source(group, machine, names):
    def several(key):
        return ", ".join(sorted({row[key] for row in group.values()}))
    commands = ", ".join("`%s`" % c for c in sorted({row["command"] for row in group.values()}))
    return "%s: %s, %s (%s)" % (commands, names[machine], several("date"), several("commit"))


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "..")
    groups, names = read(root), machines(root)
    unknown = {machine for topic in groups.values() for _, machine in topic} - set(names)
    if unknown:
        fail("bench/results/machines.csv does not describe " + ", ".join(sorted(unknown)))
    out = ["# Measured figures", "",
           "Made by [figures.py](../bench/figures.py) from [bench/results](../bench/results/README.md): change the figures "
           "there. The pages", "of the engines explain what was measured; [papers.md](papers.md) has the figures of the "
           "papers.", ""]
    topics = sorted(set(groups) - {TRIED})
    out += ["Contents: " + ", ".join("[%s](#%s)" % (t, t) for t in topics) +
            ", [tried and not kept](#tried-and-not-kept).", ""]
    for topic in topics:
        out += ["## " + topic, ""]
        page = {"kfree": "grid", "versions": "from-0.1"}.get(topic, topic)
        out += ["[%s.md](%s.md)" % (page, page), ""]
        for (table, machine), group in groups[topic].items():
            out += ["**%s.** %s" % (table, source(group, machine, names)), ""]
            out += (crossed(group) or listed(group)) + [""]
    out += ["## Tried and not kept", "", "What was kept of several is marked so.", ""]
    for (table, machine), group in sorted(groups.get(TRIED, {}).items()):
        out += ["**%s.** %s" % (table, source(group, machine, names)), ""]
        out += listed(group) + [""]
    print("\n".join(out).rstrip("\n"))


main()
