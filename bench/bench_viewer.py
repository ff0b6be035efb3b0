#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How quickly a page of the viewer answers in a browser without a GPU: `bench/bench_viewer.py PAGE [ROUNDS]`.

Prints the time to the first picture, the frames per second while the scene is turned by the mouse, and the time from
the last movement to a picture of all triangles; medians and the worst of the rounds. Beside them stands the processor
time of the browser, which counts other work on the machine little."""
import os
import statistics
import sys
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, "viewer", "tests"))

from browser import Browser  # noqa: E402


def run_first():
    """With a negative niceness, lets this process and the browser run before all others. Niceness is not enough: browsers
    set that of their threads themselves."""
    try:
        if os.nice(0) < 0:
            os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    except (AttributeError, OSError):
        pass  # not Linux, or not allowed


TURNING = 3.0  # seconds
STEP = 0.016  # seconds between two movements of the mouse
STATS = "window.carom.stats()"


def processor_seconds(root):
    """Of a process and all below it."""
    parents, times = {}, {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat") as file:
                fields = file.read().rsplit(")", 1)[1].split()
        except OSError:
            continue  # it has ended
        parents[int(name)], times[int(name)] = int(fields[1]), int(fields[11]) + int(fields[12])
    total = 0
    for process in times:
        above = process
        while above in parents and above != root:
            above = parents[above]
        total += times[process] if above == root else 0
    return total / os.sysconf("SC_CLK_TCK")


def turn(page):
    """Turns the scene by the mouse; frames, seconds, seconds from the last movement to all triangles, processor."""
    x, y = page.width * 0.4, page.height * 0.5
    root = page.browser.process.pid
    page.mouse("mouseMoved", x, y)
    page.mouse("mousePressed", x, y, "left", 1)
    before, used, start, moves = page.run(STATS)["frames"], processor_seconds(root), time.monotonic(), 0
    while time.monotonic() - start < TURNING:
        moves += 1
        page.mouse("mouseMoved", x + 3 * (moves % 100), y + moves % 40, "left")
        page.browser.wait(STEP)
    frames, seconds = page.run(STATS)["frames"] - before, time.monotonic() - start
    used = processor_seconds(root) - used
    page.mouse("mouseReleased", x, y, "left", 1)
    page.browser.wait(0.05)
    page.until(f"{STATS}.full && {STATS}.drawn === {STATS}.triangles", 30)
    page.browser.wait(1.0)
    return frames, seconds, page.run(STATS)["rest_ms"] / 1000, used


def main(path, rounds):
    run_first()
    firsts, speeds, rests, costs = [], [], [], []
    for _ in range(rounds):
        browser = Browser()
        try:
            page = browser.page()
            start = time.time()
            page.open(path)
            page.until("window.carom && window.carom.ready && window.carom.stats().first_ms", 60)
            firsts.append(page.run(f"performance.timeOrigin + {STATS}.first_ms") / 1000 - start)
            page.until(f"{STATS}.pending === 0", 120)
            page.browser.wait(1.0)
            turn(page)  # it finds how much this machine can draw while moving
            frames, seconds, rest, used = turn(page)
            speeds.append(frames / seconds)
            rests.append(rest)
            costs.append(used / max(frames, 1))
            stats = page.run(STATS)
        finally:
            browser.close()
    print(f"{os.path.basename(path)}: {os.path.getsize(path) / 1e6:.2f} MB, {stats['triangles']} triangles, "
          f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}")
    for name, values, unit, worst in (("first picture", firsts, "s", max), ("turning", speeds, "frames/s", min),
                                      ("rest to all triangles", rests, "s", max),
                                      ("processor per frame while turning", costs, "s", max)):
        print(f"{name}: {statistics.median(values):.3f} {unit}, worst {worst(values):.3f}")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5)
