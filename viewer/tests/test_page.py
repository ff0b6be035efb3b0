#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Opens pages of the viewer in a real browser: usage test_page.py VIEWER.html. Exits with 77 where chromium is
missing. Nothing here depends on how fast the machine is: what is waited for has only a generous limit."""
import gzip
import math
import os
import random
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import browser  # noqa: E402
import glb  # noqa: E402

HOSTILE = ["<img src=x onerror=alert(1)>", "=1+1", "\ufffd\ufffd \"quoted' & </script><script>alert(1)</script>"]
MOST_BYTES = 40 * 1024  # of script, style and template, gzipped
failures = []
checks = 0


def check(condition, text):
    global checks
    checks += 1
    if not condition:
        failures.append(text)
        print("FAILED:", text)


class Tester:
    def __init__(self, template, folder):
        self.template, self.folder = template, folder
        self.browser = browser.Browser()

    def write(self, name, scene, title="A page", packed=True):
        path = os.path.join(self.folder, name + ".html")
        with open(path, "w", encoding="utf-8") as file:
            file.write(glb.page(self.template, scene, title, packed))
        return path

    def open(self, path, hash="", webgl=True, **how):
        """A page that is ready; its console must have stayed empty when it is closed with done()."""
        page = self.browser.page(**how)
        page.open(path, hash)
        page.until("Boolean(window.carom)")
        ready = page.run("carom.ready")
        check(ready["webgl"] is webgl, "%s: webgl is %s" % (path, ready))
        return page

    def done(self, page, name):
        check(not page.lines, "%s: the console has lines: %s" % (name, page.lines[:3]))
        check(
            len(page.requests) <= 3 and all(url.startswith(("file:", "data:", "blob:")) for url in page.requests),
            "%s: something was asked for: %s" % (name, page.requests[:4]),
        )
        page.close()


# ---- scenes


def clash_scene():
    """Two boxes with names of no good will, a torus, curve, arrow, patch, list."""
    scene = glb.Scene(
        kind="scene",
        title=HOSTILE[0],
        command="carom scene " + HOSTILE[2],
        inputs=[HOSTILE[0]],
        unit="mm",
        answers=[{"label": HOSTILE[0], "value": 3, "unit": HOSTILE[0], "bound": HOSTILE[2]}],
    )
    a = scene.part(
        HOSTILE[0],
        *glb.box((0, 0, 0), (10, 10, 10)),
        part=0,
        first_face=100,
        quantised=True,
        numbers=[{"label": "Volume", "value": 1000, "unit": "mm³"}]
    )
    b = scene.part(HOSTILE[1], *glb.box((8, 8, 8), (20, 14, 12)), part=1)
    c = scene.part(HOSTILE[2], *glb.torus((30, 5, 5), 6, 2, 24, 12), part=2, quantised=True)
    curve = scene.lines("curve", [(8, 8, 8), (10, 8, 8), (10, 8, 8), (10, 10, 8)], id="curve-0")
    arrow = scene.arrow(
        "depth", (9, 9, 9), (0, 0, 2), id="arrow-0", numbers=[{"label": "Depth", "value": 2, "unit": "mm"}]
    )
    point = scene.points("deepest", [(9, 9, 9)], id="point-0")
    patch = scene.part(
        "patch", *glb.box((8, 8, 8), (10, 10, 10)), kind="patch", part=0, faces=list(range(100, 112)), id="patch-0"
    )
    scene.info["lists"] = [
        {
            "title": HOSTILE[1],
            "columns": ["A", "B", HOSTILE[0]],
            "rows": [
                {
                    "id": "clash-%d" % i,
                    "cells": [HOSTILE[0], HOSTILE[1], 1.5 * i],
                    "nodes": [a, b if i % 2 else c, curve, arrow, point, patch],
                    "at": [9, 9, 9],
                    "radius": 2,
                }
                for i in range(30)
            ],
        }
    ]
    scene.info["plots"] = [
        {
            "title": HOSTILE[0],
            "x": HOSTILE[1],
            "y": "y",
            "series": [
                {"name": HOSTILE[0], "points": [[0, 1], [1, 4], [2, 2]]},
                {"name": "b", "points": [[0, 2], [2, 3]]},
            ],
        }
    ]
    return scene


def value_scene():
    scene = glb.Scene(
        kind="kfree",
        title="Values",
        up="y",
        legend={"label": "k", "unit": "", "min": 0, "max": 9, "map": "viridis", "steps": 10},
    )
    vertices, triangles = glb.torus((0, 0, 0), 2, 0.8, 32, 16)
    scene.part(
        "torus", vertices, triangles, part=0, quantised=True, values=[float(i % 10) for i in range(len(triangles))]
    )
    scene.part(
        "coloured", *glb.box((3, 3, 3), (4, 4, 4)), part=1, colours=[(20 * i, 100, 200, 255) for i in range(12)]
    )
    return scene


def gas_scene():
    random.seed(1)
    positions = [[random.uniform(1, 9) for _ in range(3)] for _ in range(50)]
    frames = [[[x + 0.3 * f for x in p] for p in positions] for f in range(5)]
    scene = glb.Scene(kind="gas", title="Gas", frames={"times": [0, 1, 2, 3, 4], "unit": "s"})
    scene.spheres("gas", frames[0], [0.4 + 0.01 * i for i in range(50)], frames=frames, part=0)
    return scene


def motion_scene():
    scene = glb.Scene(kind="toi", title="Motion", frames={"times": [0, 0.5, 1], "unit": ""})
    scene.part("still", *glb.box((0, 0, 0), (2, 2, 2)), part=0)
    moving = scene.part("moving", *glb.box((0, 0, 0), (1, 1, 1)), part=1, moving=True, quantised=True)
    flat = scene.part("sheet", [(0, 0, 5), (4, 0, 5), (0, 4, 5)], [(0, 1, 2)], part=2)
    scene.json["nodes"][flat]["extras"]["carom"]["frames"] = [
        scene.accessor([x for x, y in ((0, 0), (4, 0), (0, 4)) for x in (x, y, 5 + bend)], glb.FLOAT)
        for bend in (0, 0.5, 1)
    ]
    scene.animate(moving, [0, 1], [(10, 0, 0), (2, 0, 0)], [(0, 0, 0, 1), (0, 0, math.sqrt(0.5), math.sqrt(0.5))])
    return scene


# ---- rays, the slow way


def first_face(soup, origin, direction):
    """The first of all triangles on a ray: (t, part, face), and how near the ray came to an edge of it."""
    best, second = None, None
    for part, face, (a, b, c) in soup:
        u = [b[k] - a[k] for k in range(3)]
        v = [c[k] - a[k] for k in range(3)]
        h = cross(direction, v)
        det = dot(u, h)
        if det == 0:
            continue
        s = [origin[k] - a[k] for k in range(3)]
        x = dot(s, h) / det
        q = cross(s, u)
        y = dot(direction, q) / det
        if min(x, y, 1 - x - y) < -1e-6:
            continue
        t = dot(v, q) / det
        if t > 0 and (best is None or t < best[0]):
            best = (t, part, face, min(x, y, 1 - x - y))
    return best


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def test_picks(tester):
    """Picked faces are those of rays over all triangles, from several sides, in files of any place and size."""
    for name, move, size in ("near", 0, 1), ("far", 1e6, 1), ("tiny", 0, 1e-30), ("huge", 0, 1e30):
        scene = glb.Scene(kind="view", title=name, up="zyx"[len(name) % 3])
        soup = []
        for part, (vertices, triangles) in enumerate(
            (glb.torus((0, 0, 0), 3, 1, 24, 12), glb.box((1, 1, -1), (3, 4, 2)))
        ):
            vertices = [tuple(x * size + move for x in v) for v in vertices]
            scene.part(
                "part %d" % part, vertices, triangles, part=part, first_face=1000 * part, quantised=name != "near"
            )
            soup += [(part, 1000 * part + i, tuple(vertices[v] for v in t)) for i, t in enumerate(triangles)]
        page = tester.open(tester.write("picks_" + name, scene), width=1040, height=640)
        same = edge = wrong = missed = 0
        for view in range(3):
            page.run("carom.viewer.camera.turn(%g, %g)" % (0.9 * view, 0.3))
            answers = page.run(
                """(() => { const out = []; for (let y = 60; y < 600; y += 60) for (let x = 40; x < 640; x += 60)
                out.push([carom.ray(x, y), carom.pick(x, y)]); return out; })()"""
            )
            for ray, hit in answers:
                length = math.sqrt(dot(ray["direction"], ray["direction"]))
                check(abs(length - 1) < 1e-9, "%s: a direction of length %g" % (name, length))
                true = first_face(soup, ray["origin"], ray["direction"])
                if true is None and hit is None:
                    missed += 1
                elif true and hit and (true[1], true[2]) == (hit["part"], hit["face"]):
                    same += 1
                    far = math.dist(
                        hit["point"], [ray["origin"][k] + true[0] * ray["direction"][k] for k in range(3)]
                    )
                    check(far <= 1e-3 * size * (1 + move * 1e-5), "%s: a point %g away" % (name, far))
                elif true is None or hit is None or true[3] < 1e-2:
                    edge += 1
                else:
                    wrong += 1
        check(same > 40 and missed > 10, "%s: only %d faces met" % (name, same))
        check(
            wrong == 0 and edge <= 0.05 * (same + missed),
            "%s: %d faces of %d are wrong, %d at edges" % (name, wrong, same, edge),
        )
        tester.done(page, "picks " + name)


def test_clashes(tester, folder):
    path = tester.write("clashes", clash_scene(), "x &lt;b&gt;")
    page = tester.open(path, width=1440, height=900)
    # Names are text: nothing ran, no element came of them, and they are to be read.
    check(
        page.run("document.querySelectorAll('img[src=x], #carom-app script').length") == 0, "a name became an element"
    )
    text = page.run("document.body.innerText")
    for name in HOSTILE:
        check(name in text, "%r is not shown" % name)
    check(page.run("document.title") == "x <b>", "the title")
    check(
        page.run("getComputedStyle(document.getElementById('carom-fallback')).display") == "none",
        "the still is shown",
    )
    stats = page.run("carom.stats()")
    check(stats["triangles"] == 12 * 3 + 24 * 12 * 2 and stats["items"] == 7, "stats: %s" % stats)
    # Picking, by the hook and by the mouse.
    middle = page.run("(() => { const p = carom.viewer.camera.project([5, 5, 10]); return [p.x, p.y]; })()")
    hit = page.run("carom.pick(%g, %g)" % tuple(middle))
    check(
        hit and hit["part"] == 0 and 100 <= hit["face"] < 112 and abs(hit["point"][2] - 10) < 1e-3, "picked %s" % hit
    )
    check(page.run("carom.pick(3, 3)") is None, "the background was picked")
    page.click(*middle)
    page.until("carom.viewer.selected !== null")
    text = page.run("document.querySelector('.selected').innerText")
    check("Volume" in text and "1,000 mm³" in text and "Face" in text, "selected: %s" % text)
    page.mouse("mouseMoved", middle[0] + 2, middle[1])
    page.until("!document.querySelector('.card').hidden")
    check(HOSTILE[0] in page.run("document.querySelector('.card').innerText"), "the card has no name")
    # Rows fly there: both parts in colour, the third as a ghost.
    check(page.run("carom.goto('clash-1')") is True and page.run("carom.goto('nothing')") is False, "goto")
    page.until("!carom.viewer.camera.flight && carom.stats().full")
    state = page.run("carom.viewer.scene.items.map(i => [i.kind, i.hidden, i.ghost])")
    check(state[2] == ["part", False, True] and not state[0][2] and not state[1][2], "ghosts: %s" % state)
    target = page.run("carom.viewer.camera.state.target")
    check(math.dist(target, (9, 9, 9)) < 1e-6, "flew to %s" % target)
    check(page.run("document.querySelectorAll('tr[aria-selected=true]').length") == 1, "no row is marked")
    page.run("carom.viewer.clear()")
    # The list: filter and sort.
    page.run(
        "(() => { const f = document.querySelector('input[type=search]'); f.value = '43.5'; f.dispatchEvent(new Event('input')); })()"
    )
    check(page.run("document.querySelectorAll('tbody tr').length") == 1, "the filter")
    page.run(
        "(() => { const f = document.querySelector('input[type=search]'); f.value = ''; f.dispatchEvent(new Event('input')); })()"
    )
    page.run("document.querySelectorAll('th button')[2].click()")
    check("43.5" in page.run("document.querySelector('tbody tr').innerText"), "sorting")
    # Section, caps, explode, wireframe, flat, parallel: nothing may reach the console.
    page.run(
        """(() => { const v = carom.viewer; v.setSection({ on: true, axis: 'v' }); v.set({ edges: 'wire', smooth: false });
        v.explode(0.5); v.camera.state.parallel = true; v.moved(); })()"""
    )
    page.until("carom.stats().full")
    inside = page.run(
        "(() => { const v = carom.viewer; v.explode(0); v.setSection({ axis: 'x', at: 0.1, flip: false });"
        "v.camera.state.azimuth = Math.PI / 2; v.camera.state.elevation = 0; v.resize(); v.moved();"
        "const o = v.sectionPlane().offset, p = v.camera.project([o, 5, 5]); return [o, carom.pick(p.x, p.y)]; })()"
    )
    check(
        inside[1] and inside[1]["face"] is None and abs(inside[1]["point"][0] - inside[0]) < 1e-6,
        "cut surface: %s" % inside,
    )
    picture = page.run("carom.viewer.picture().then(b => [b.type, b.size])")
    check(picture[0] == "image/png" and picture[1] > 2000, "picture: %s" % picture)
    tester.done(page, "clashes")
    return path


def focus_of(page):
    return page.run(
        "document.activeElement.getAttribute('aria-label') || document.activeElement.className || document.activeElement.tagName"
    )


def test_keys(tester, path):
    """Everything by the keyboard alone."""
    page = tester.open(path, width=1280, height=800)
    page.key("Tab")
    check("3D" in focus_of(page), "the first stop is %s" % focus_of(page))
    check(
        page.run("getComputedStyle(document.querySelector('.cross')).display") == "block",
        "no cross shows where keys pick",
    )
    before = page.run("carom.viewer.camera.state")
    page.key("ArrowLeft")
    page.key("ArrowUp", shift=True)
    page.key("+")
    after = page.run("carom.viewer.camera.state")
    check(
        before["azimuth"] != after["azimuth"]
        and before["distance"] > after["distance"]
        and before["target"] != after["target"],
        "keys move",
    )
    for key, test in (
        ("o", "carom.viewer.camera.state.parallel"),
        ("s", "!carom.viewer.show.smooth"),
        ("e", "carom.viewer.show.edges === 'wire'"),
        ("x", "carom.viewer.show.section.on"),
        ("c", "carom.viewer.show.section.axis === 'y'"),
        ("v", "carom.viewer.scene.exploded > 0"),
        ("j", "carom.viewer.focus.row.id === 'clash-0'"),
        ("j", "carom.viewer.focus.row.id === 'clash-1'"),
        ("k", "carom.viewer.focus.row.id === 'clash-0'"),
        ("Escape", "carom.viewer.focus === null"),
        ("a", "!carom.viewer.only"),
        ("x", "!carom.viewer.show.section.on"),
        ("v", "carom.viewer.scene.exploded === 0"),
        ("d", "document.documentElement.dataset.theme === 'dark'"),
        ("m", "document.querySelector('.narrow')"),
        ("m", "!document.querySelector('.narrow')"),
    ):
        page.key(key)
        check(page.run("Boolean(%s)" % test), "key %s: not %s" % (key, test))
    page.run("carom.viewer.calm = true")
    page.key("0")
    page.run("(() => { const v = carom.viewer; v.camera.state = v.camera.around([5, 5, 5], 10); v.moved(); })()")
    page.key("Enter")
    check(page.run("carom.viewer.selected.item.part") == 0, "Enter picks the middle")
    for key, test in (
        ("h", "carom.viewer.scene.items[0].hidden"),
        ("h", "!carom.viewer.scene.items[0].hidden"),
        ("i", "carom.viewer.scene.items[1].hidden"),
        ("a", "!carom.viewer.scene.items[1].hidden"),
    ):
        page.key(key)
        check(page.run("Boolean(%s)" % test), "key %s: not %s" % (key, test))
    page.key("?")
    check(page.run("document.querySelector('dialog').open"), "? shows the keys")
    page.key("Escape")
    check(not page.run("document.querySelector('dialog').open"), "Escape closes them")
    # Tab reaches tools, the list and parts; each stop shows its focus.
    stops = []
    for _ in range(60):
        page.key("Tab")
        stops.append(
            page.run(
                "(() => { const e = document.activeElement, s = getComputedStyle(e); return [e.tagName, e.className,"
                "e.title || e.textContent.slice(0, 40), s.outlineStyle !== 'none' || s.boxShadow !== 'none' || e.tagName === 'BODY']; })()"
            )
        )
    for wanted in ("Fit what is selected, or all (f)", "Section plane (x)", "Keys (?)"):
        check(any(stop[2] == wanted for stop in stops), "Tab does not reach %s" % wanted)
    check(any(stop[0] == "TR" for stop in stops), "Tab does not reach the list")
    check(any(stop[2].startswith("Hide") for stop in stops), "Tab does not reach the parts")
    check(all(stop[3] for stop in stops), "no focus to see: %s" % [s for s in stops if not s[3]][:3])
    page.run("document.querySelector('tbody tr').focus()")
    page.key("ArrowDown")
    page.key("Enter")
    check(page.run("carom.viewer.focus.row.id") == "clash-1", "Enter on a row")
    tester.done(page, "keys")


def test_hash(tester, path):
    """A link opens the same view."""
    page = tester.open(path)
    page.run("carom.viewer.calm = true")
    page.run(
        """(() => { const v = carom.viewer; v.goto('clash-3'); v.camera.turn(0.7, 0.2); v.camera.pan(30, 10); v.camera.state.parallel = true;
        v.setSection({ on: true, axis: 'v', at: 0.3 }); v.explode(0.25); v.set({ edges: 'none', smooth: false }); v.toggle(v.hiddenParts, 2);
        v.toggle(v.ghostParts, 1); v.layers.arrow = false; v.apply(); })()"""
    )
    page.key("u")
    check(page.run("carom.viewer.scene.info.up") == "x", "u turns the next axis up")
    page.until("location.hash.includes('explode=0.25') && location.hash.includes('off=arrow')")
    hash = page.run("location.hash")
    what = """JSON.stringify([carom.viewer.camera.state, carom.viewer.show, carom.viewer.scene.exploded, carom.viewer.focus.row.id, carom.viewer.scene.info.up, carom.viewer.camera.frame,
        carom.viewer.scene.items.map(i => [i.hidden, i.ghost])], (k, x) => typeof x === 'number' ? Number(x.toPrecision(4)) : x)"""
    state = page.run(what)
    tester.done(page, "hash")
    again = tester.open(path, hash)
    check(sorted(again.run(what)) == sorted(state), "another view:\n%s\n%s" % (state, again.run(what)))
    again.run("location.hash = '#cut=q,1,2&c=1,x&id=%3Cimg%3E&t=zz&hide=a,b&%E0=1'")  # nonsense does no harm
    again.run("location.hash = '#c=0,0,50,5,5,5'")
    again.until("Math.abs(carom.viewer.camera.state.distance - 50) < 1e-9")
    tester.done(again, "hash again")


def test_time(tester):
    page = tester.open(tester.write("gas", gas_scene(), packed=False))
    first = page.run("carom.viewer.scene.time")
    page.key(" ")
    check(page.run("carom.viewer.playing"), "space plays")
    page.until("carom.viewer.scene.time > 0.2")
    page.key(" ")
    check(first == 0 and not page.run("carom.viewer.playing"), "space stops")
    page.run("carom.viewer.setTime(2.5)")
    page.until("carom.stats().full && Math.abs(carom.viewer.scene.items[0].frameAt - 2.5) < 1e-9")
    seen = page.run(
        """(() => { const v = carom.viewer, p = v.camera.project(v.camera.state.target); const hits = [];
        for (let x = 100; x < 1000; x += 25) for (let y = 50; y < 850; y += 25) { const h = carom.pick(x, y); if (h) hits.push([h.face, h.point]); }
        return hits; })()"""
    )
    random.seed(1)
    positions = [[random.uniform(1, 9) + 0.75 for _ in range(3)] for _ in range(50)]
    off = max(abs(math.dist(point, positions[i]) - (0.4 + 0.01 * i)) for i, point in seen)
    check(len(seen) > 20 and off < 1e-4, "spheres between frames: %d hits, %g off" % (len(seen), off))
    page.key(".")
    check(page.run("carom.viewer.scene.time") == 3, "one frame on")
    tester.done(page, "gas")
    page = tester.open(tester.write("motion", motion_scene()))
    page.run("carom.viewer.setTime(0.5)")
    box = page.run("(() => { const v = carom.viewer; return v.scene.boxOf([v.scene.items[1]]); })()")
    middle = [(a + b) / 2 for a, b in zip(box["min"], box["max"])]
    check(math.dist(middle, (6, 0.7071, 0.5)) < 1e-2, "half way: %s" % middle)
    deforming = page.run(
        "(() => { const v = carom.viewer, i = v.scene.items[2]; return [i.frameAt, Array.from(i.positions.slice(0, 3))]; })()"
    )
    check(deforming == [1, [0, 0, 5.5]], "a surface that deforms: %s" % deforming)
    slider = page.run("document.querySelector('.timeline input').value")
    check(abs(float(slider) - 0.5) < 1e-6, "the slider is at %s" % slider)
    tester.done(page, "motion")


PIXELS = """(async () => {
    const v = carom.viewer, picture = await createImageBitmap(await v.picture()), { width, height } = picture;
    const context = new OffscreenCanvas(width, height).getContext("2d");
    context.drawImage(picture, 0, 0);
    const data = context.getImageData(0, 0, width, height).data, out = [];
    for (let y = 7; y < height; y += 13) for (let x = 5; x < width; x += 11) {
        const hit = carom.pick(x + 0.5, y + 0.5), at = 4 * (y * width + x);
        out.push([hit ? hit.part : -1, data[at], data[at + 1], data[at + 2]]);
    }
    return out;
})()"""


def test_lit(tester):
    """What is lit at times, and rows that lead to times: the configurations of a robot."""
    scene = glb.Scene(kind="robot", title="Robot", frames={"times": [0, 1, 2], "unit": ""})
    scene.part("arm", *glb.box((0, 0, 0), (1, 1, 1)), part=0, lit=[1, 2])
    scene.part("world", *glb.box((3, 0, 0), (4, 1, 1)), part=1, style={"ghost": True})
    cells = [["0", "free", "", ""], ["1", "colliding", "arm", HOSTILE[0]], ["2", "free", "", ""]]
    rows = [{"id": str(i), "cells": cells[i], "nodes": [], "time": i} for i in range(3)]
    scene.info["lists"] = [{"title": "Configurations", "columns": ["", "verdict", "a", "b"], "rows": rows}]
    page = tester.open(tester.write("lit", scene))
    state = (
        "[carom.viewer.scene.time, ...carom.viewer.scene.items.map((i) => Boolean(i.side)),"
        " carom.viewer.scene.items[0].ghost, document.querySelector('.timeline output').textContent]"
    )
    check(page.run(state) == [0, False, False, False, "0 free  "], "lit at 0: %s" % page.run(state))
    eye = page.run("JSON.stringify(carom.viewer.camera.state)")
    page.run("carom.goto('1'); 1")
    check(page.run(state) == [1, True, False, False, "1 colliding arm " + HOSTILE[0]], "at 1: %s" % page.run(state))
    check(page.run("JSON.stringify(carom.viewer.camera.state)") == eye, "a row with a time moved the camera")
    page.run("carom.viewer.step(1); 1")
    check(page.run(state)[:2] == [2, False], "lit at 2: %s" % page.run(state))
    page.run("carom.viewer.setTime(1.5); 1")
    check(page.run(state)[:2] == [1.5, True], "lit at 1.5: %s" % page.run(state))
    tester.done(page, "lit")


def test_pixels(tester):
    """What is drawn is what is picked: a red box, a green torus and blue spheres, which all
    cut each other; whole and with a section plane."""
    scene = glb.Scene(kind="view", title="Pixels")
    scene.part("box", *glb.box((-1, -1, -1), (1, 1, 1)), part=0, quantised=True, style={"colour": [0.9, 0.05, 0.05]})
    scene.part("torus", *glb.torus((0, 0, 0.4), 1.6, 0.6, 48, 24), part=1, style={"colour": [0.05, 0.8, 0.05]})
    scene.spheres(
        "blue",
        [(1, -1, 0), (1.4, -0.6, 0.9), (-1, -1, 1)],
        [0.8, 0.5, 0.7],
        part=2,
        style={"colour": [0.1, 0.1, 0.95]},
    )
    page = tester.open(tester.write("pixels", scene), width=1000, height=560)
    for setup in (
        "v.camera.turn(0.4, 0)",
        "v.camera.state.parallel = true",
        "v.setSection({ on: true, axis: 'y', at: 0.45 })",
        "v.setSection({ axis: 'z', at: 0.6 }); v.camera.state.parallel = false",
        "v.setSection({ on: false }); v.set({ smooth: false })",
    ):
        page.run("(() => { const v = carom.viewer; v.show.edges = 'none'; %s; v.moved(); })()" % setup)
        wrong, seen = 0, set()
        answers = page.run(PIXELS)
        for part, *colour in answers:
            strongest = max(range(3), key=lambda k: colour[k])
            rest = sorted(colour)
            drawn = strongest if rest[2] - rest[1] > 18 else -1
            seen.add(part)
            wrong += drawn != part
        # Where two solids fill the same place of a cut, it is red.
        limit = 0.06 if "axis" in setup else 0.02
        check(
            seen == {-1, 0, 1, 2} and wrong <= limit * len(answers),
            "%s: %d of %d pixels, parts %s" % (setup, wrong, len(answers), seen),
        )
    tester.done(page, "pixels")


def test_colours(tester):
    page = tester.open(tester.write("values", value_scene()), dark=True)
    check(page.run("document.documentElement.dataset.theme") == "dark", "dark as the system has it")
    check("k" in page.run("document.querySelector('.legend').innerText"), "no legend")
    page.until("carom.stats().pending === 0 && carom.stats().full")
    middle = page.run(
        """(() => { const v = carom.viewer, p = v.camera.project([2, 0.8, 0]); const h = v.pickAt(p.x, p.y);
        return h && [h.triangle, h.item.values[h.triangle]]; })()"""
    )
    check(middle and middle[1] == middle[0] % 10, "value of a face: %s" % middle)
    page.scheme(False)
    page.until("document.documentElement.dataset.theme === 'light'")
    tester.done(page, "values")


def test_phone(tester, path):
    page = tester.open(path, width=390, height=844, mobile=True)
    wide = page.run("[document.documentElement.scrollWidth, innerWidth, document.body.scrollWidth]")
    check(wide[0] <= 390 and wide[2] <= 390, "wider than the screen: %s" % wide)
    below = page.run(
        "(() => { const p = document.querySelector('.panel').getBoundingClientRect(); return [p.top, p.width, p.bottom]; })()"
    )
    check(below[0] > 300 and below[1] == 390 and below[2] <= 845, "the panel is no sheet at the bottom: %s" % below)
    page.send(
        "Input.dispatchTouchEvent",
        type="touchStart",
        touchPoints=[{"x": 150, "y": 200, "id": 0}, {"x": 250, "y": 200, "id": 1}],
    )
    before = page.run("carom.viewer.camera.state.distance")
    page.send(
        "Input.dispatchTouchEvent",
        type="touchMove",
        touchPoints=[{"x": 100, "y": 200, "id": 0}, {"x": 300, "y": 200, "id": 1}],
    )
    page.send("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
    page.until("carom.viewer.camera.state.distance < %r" % before)
    page.run("document.querySelector('.handle').click()")
    page.until("document.querySelector('.panel').getBoundingClientRect().top > 700")
    tester.done(page, "phone")


def test_no_webgl(template, path):
    """Without WebGL 2: the still and a text."""
    one = browser.Browser(["--disable-3d-apis"])
    try:
        page = one.page()
        page.open(path)
        page.until("Boolean(window.carom)")
        check(page.run("carom.ready")["webgl"] is False, "webgl without webgl")
        shown = page.run(
            "(() => { const f = document.getElementById('carom-fallback'), i = f.querySelector('img'); return [f.offsetHeight, i.naturalWidth, f.innerText]; })()"
        )
        check(shown[0] > 20 and shown[1] == 64 and "WebGL" in shown[2], "fallback: %s" % shown)
        check(page.run("[carom.pick(1, 1), carom.goto('x')]") == [None, False], "the hook without webgl")
        check(not page.lines, "no webgl: the console has lines: %s" % page.lines[:3])
    finally:
        one.close()


def test_broken(tester):
    """A scene that cannot be read says so."""
    path = tester.write("broken", b"glTF but not really, and long enough", packed=False)
    page = tester.browser.page()
    page.open(path)
    page.until("Boolean(window.carom) && document.getElementById('carom-fallback').offsetHeight > 0")
    check("GLB" in page.run("document.body.innerText"), "a broken scene is not explained")
    page.close()


def main():
    if not browser.find():
        print("skipped: chromium is not installed")
        sys.exit(77)
    with open(sys.argv[1], encoding="utf-8") as file:
        template = file.read()
    size = len(gzip.compress(template.encode(), 9))
    check(size <= MOST_BYTES, "the viewer has %d bytes, gzipped" % size)
    with tempfile.TemporaryDirectory(prefix="carom-pages-") as folder:
        tester = Tester(template, folder)
        start = time.monotonic()
        try:
            path = test_clashes(tester, folder)
            test_keys(tester, path)
            test_hash(tester, path)
            test_picks(tester)
            test_time(tester)
            test_lit(tester)
            test_pixels(tester)
            test_colours(tester)
            test_phone(tester, path)
            test_broken(tester)
        finally:
            tester.browser.close()
        test_no_webgl(template, path)
    print("%d checks in %.0f s, %d failed" % (checks, time.monotonic() - start, len(failures)))
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
