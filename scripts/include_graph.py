#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""include_graph.py > docs/include-graph.svg: which folders of src include which, from the sources.

A folder stands above all that it includes. An arrow that follows from others (a includes c, where a includes b and
b includes c) is left out. The same sources give the same bytes; scripts/check_docs.sh compares."""

import glob
import os
import re

WIDTH, HEIGHT = 88, 34   # of a box
ACROSS, DOWN = 118, 84   # from box to box
MARGIN = 16
TURNS = 8                # passes that put boxes near their neighbours


def includes():
    """folder -> the folders that its files include."""
    found = {}
    for path in sorted(glob.glob("src/*/*")):
        folder = path.split("/")[1]
        found.setdefault(folder, set())
        with open(path, encoding="utf-8", errors="replace") as file:
            for name in re.findall(r'^\s*#\s*include\s*"(\w+)/', file.read(), flags=re.M):
                if os.path.isdir("src/" + name) and name != folder:
                    found[folder].add(name)
    return found


def reach(found, start):
    """All that a folder includes, directly or not."""
    seen, todo = set(), list(found[start])
    while todo:
        folder = todo.pop()
        if folder not in seen:
            seen.add(folder)
            todo += found[folder]
    return seen


def reduced(found):
    return {a: sorted(b for b in found[a] if not any(b in reach(found, c) for c in found[a] if c != b)) for a in found}


def levels(found):
    level = {}

    def of(folder):
        if folder not in level:
            level[folder] = 1 + max((of(b) for b in found[folder]), default=-1)
        return level[folder]

    for folder in sorted(found):
        of(folder)
    return level


def chains(arrows, level):
    """Each arrow as the points that it passes: in rows between its ends it has a point of its own, (a, b, row)."""
    found = []
    for a in sorted(arrows):
        for b in arrows[a]:
            found.append([a] + [(a, b, row) for row in range(level[a] - 1, level[b], -1)] + [b])
    return found


def order(chained, level):
    """point -> x: points of a row near what they are joined with, boxes wider than arrows that pass."""
    row_of = dict(level)
    joined = {folder: set() for folder in level}
    for chain in chained:
        for point in chain[1:-1]:
            row_of[point] = point[2]
        for upper, lower in zip(chain, chain[1:]):
            joined.setdefault(upper, set()).add(lower)
            joined.setdefault(lower, set()).add(upper)
    rows = [sorted((p for p in row_of if row_of[p] == row), key=str) for row in range(max(row_of.values()) + 1)]
    x = {}

    def spread(row):
        at = 0.0
        for point in row:
            wide = 1.0 if point in level else 0.4
            x[point] = at + wide / 2
            at += wide
        for point in row:
            x[point] -= at / 2

    for row in rows:
        spread(row)
    for _ in range(TURNS):
        for row in rows:
            mean = {p: sum(x[j] for j in joined[p]) / len(joined[p]) if joined[p] else 0.0 for p in row}
            row.sort(key=lambda p: (round(mean[p], 6), str(p)))
            spread(row)
    return x


def main():
    found = includes()
    arrows, level = reduced(found), levels(found)
    chained = chains(arrows, level)
    x = order(chained, level)
    width = 2 * MARGIN + WIDTH + 2 * max(abs(value) for value in x.values()) * ACROSS
    height = 2 * MARGIN + max(level.values()) * DOWN + HEIGHT

    def point(at): # the middle of a box, or of an arrow that passes a row
        row = level[at] if at in level else at[2]
        return width / 2 + x[at] * ACROSS, height - MARGIN - HEIGHT / 2 - row * DOWN

    out = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" '
           'font-family="sans-serif" font-size="14">' % (width, height, width, height),
           "<!-- made by scripts/include_graph.py -->",
           '<rect width="100%" height="100%" fill="#ffffff"/>',
           '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
           '<path d="M0,0 L8,4 L0,8 Z" fill="#7a8797"/></marker></defs>']
    for chain in chained:
        x0, y0 = point(chain[0])
        path = "M%.1f,%.1f" % (x0, y0 + HEIGHT / 2)
        y0 += HEIGHT / 2
        for at in chain[1:]:
            x1, y1 = point(at)
            y1 -= HEIGHT / 2
            bend = (y1 - y0) / 2
            path += " C%.1f,%.1f %.1f,%.1f %.1f,%.1f" % (x0, y0 + bend, x1, y1 - bend, x1, y1)
            x0, y0 = x1, y1
            if at != chain[-1]: # straight past the boxes of a row
                y0 += HEIGHT
                path += " L%.1f,%.1f" % (x0, y0)
        out.append('<path d="%s" fill="none" stroke="#7a8797" stroke-width="1.3" marker-end="url(#tip)"/>' % path)
    shared = {"base", "geom", "mesh", "bvh", "grid", "soup", "spheres"}
    for folder in sorted(arrows):
        mx, my = point(folder)
        fill = "#e4ecf5" if folder in shared else "#fbeedd"
        out.append('<rect x="%.1f" y="%.1f" width="%d" height="%d" rx="5" fill="%s" stroke="#55606e"/>' % (
            mx - WIDTH / 2, my - HEIGHT / 2, WIDTH, HEIGHT, fill))
        out.append('<text x="%.1f" y="%.1f" text-anchor="middle" fill="#1d2430">%s</text>' % (mx, my + 5, folder))
    out.append("</svg>")
    print("\n".join(out))


main()
