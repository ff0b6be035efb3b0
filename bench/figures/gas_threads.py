#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""gas_threads.py [ROOT] > docs/gas-threads.svg: event-driven spheres on several threads, from the rows of
bench/results/MACHINE/gas.csv whose table begins with "Several threads", where an input is "COUNT spheres at FRACTION" and
a figure is "N threads: QUANTITY", or with "Collisions of a gas of COUNT spheres by threads", where a figure is "N threads"."""

import csv
import glob
import os
import re
import sys

WIDTH, HEIGHT, LEFT, TOP = 300, 200, 60, 40
COLOURS = ["#1b6ca8", "#d1495b", "#2e933c", "#8d5fd3", "#e08e1a", "#444444"]


def read(root):
    """Points (threads, value) by quantity and input."""
    found = {}
    for path in sorted(glob.glob(os.path.join(root, "bench/results/*/gas.csv"))):
        machine = path.split("/")[-2]
        with open(path, newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                figure = re.fullmatch(r"(\d+) threads?(?:: (.*))?", row["figure"])
                speed = re.match(r"Collisions of a gas of (\S+) spheres by threads", row["table"])
                if figure is None or not (speed or row["table"].startswith("Several threads")):
                    continue
                quantity = (figure[2] or "collisions") + (", " + row["unit"] if row["unit"] else "")
                if machine != "any":
                    quantity += " (%s)" % machine
                name = "%s spheres, %s" % (speed[1], row["input"]) if speed else row["input"]
                points = found.setdefault(quantity, {}).setdefault(name, [])
                points.append((int(figure[1]), float(row["value"])))
    return found


def panel(quantity, lines, at):
    most = max(value for points in lines.values() for _, value in points) or 1.0
    counts = sorted({n for points in lines.values() for n, _ in points})
    left = LEFT + at * (WIDTH + 2 * LEFT)

    def x(n):
        return left + WIDTH * counts.index(n) / max(len(counts) - 1, 1)

    def y(value):
        return TOP + HEIGHT * (1.0 - value / (1.05 * most))

    out = ['<text x="%d" y="%d">%s</text>' % (left, TOP - 12, quantity)]
    for k in range(5):
        value = most * k / 4.0
        out.append('<line x1="%d" x2="%d" y1="%.1f" y2="%.1f" stroke="#e3e8ee"/>' %
                   (left, left + WIDTH, y(value), y(value)))
        out.append('<text x="%d" y="%.1f" text-anchor="end">%.3g</text>' % (left - 6, y(value) + 4, value))
    for n in counts:
        out.append('<text x="%.1f" y="%d" text-anchor="middle">%d</text>' % (x(n), TOP + HEIGHT + 16, n))
    out.append('<text x="%d" y="%d" text-anchor="middle">threads</text>' % (left + WIDTH // 2, TOP + HEIGHT + 32))
    for k, (name, points) in enumerate(lines.items()):
        colour = COLOURS[k % len(COLOURS)]
        path = " ".join("%.1f,%.1f" % (x(n), y(value)) for n, value in sorted(points))
        out.append('<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/>' % (path, colour))
        for n, value in points:
            out.append('<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>' % (x(n), y(value), colour))
        out.append('<text x="%d" y="%d" fill="%s">%s</text>' % (left, TOP + HEIGHT + 52 + 16 * k, colour, name))
    return out


def main():
    found = read(sys.argv[1] if len(sys.argv) > 1 else ".")
    if not found:
        sys.exit("gas_threads.py: there are no rows")
    most = max(len(lines) for lines in found.values())
    width, height = len(found) * (WIDTH + 2 * LEFT), TOP + HEIGHT + 60 + 16 * most
    out = ['<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" '
           'font-family="system-ui,sans-serif" font-size="12" fill="#445">' % (width, height, width, height),
           '<rect width="100%" height="100%" fill="#fff"/>']
    for at, (quantity, lines) in enumerate(found.items()):
        out += panel(quantity, lines, at)
    print("\n".join(out + ["</svg>"]))


if __name__ == "__main__":
    main()
