#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The package and the playground in headless chromium: test_browser.py PACKAGE PLAYGROUND TOOL [SCALAR-MODULE].

- golden hashes: SIMD128, with threads from a server that sends COOP and COEP, scalar where that module is given;
- the playground from disk: every mode, a drag whose volume is that of `carom query`, a dropped file, a link that restores the
  state, and an empty console;
- the playground from that server: on all threads, the same answers.
CAROM_PICTURES=FOLDER in the environment keeps pictures of it, light and dark, on a desk and on a phone."""
import base64
import functools
import http.server
import json
import os
import subprocess
import sys
import tempfile
import threading

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
sys.path.insert(0, os.path.join(ROOT, "viewer/tests"))
sys.dont_write_bytecode = True
import browser  # noqa: E402

SECONDS = 240  # for a machine that does other things


class Handler(http.server.SimpleHTTPRequestHandler):
    isolated = True

    def end_headers(self):
        if self.isolated:
            self.send_header("Cross-Origin-Opener-Policy", "same-origin")
            self.send_header("Cross-Origin-Embedder-Policy", "require-corp")
        super().end_headers()

    def log_message(self, *_):
        pass


def serve(folder):
    handler = functools.partial(Handler, directory=folder)
    handler.extensions_map = {**Handler.extensions_map, ".js": "text/javascript", ".mjs": "text/javascript",
                              ".wasm": "application/wasm"}
    Handler.extensions_map.update(handler.extensions_map)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def golden(pages, package, scalar):
    """Prints what golden.js says of each module."""
    with tempfile.TemporaryDirectory() as folder:
        for name, target in (("package", package), ("tests", os.path.join(ROOT, "js/tests"))):
            os.symlink(os.path.abspath(target), os.path.join(folder, name))
        os.symlink(os.path.join(ROOT, "tests/golden/web.txt"), os.path.join(folder, "web.txt"))
        if scalar: os.symlink(os.path.abspath(scalar), os.path.join(folder, "scalar.wasm"))
        with open(os.path.join(folder, "index.html"), "w", encoding="utf-8") as file:
            file.write("<!DOCTYPE html><title>golden</title>")
        server = serve(folder)
        try:
            for what, options in (("SIMD128", "{}"), ("SIMD128 with 4 threads", "{ threads: 4 }"),
                                  ("scalar", '{ module: "/scalar.wasm" }')):
                if what == "scalar" and not scalar: continue
                page = pages.page()
                page.send("Page.navigate", url=f"http://127.0.0.1:{server.server_port}/index.html")
                page.until("document.title === 'golden' && location.protocol === 'http:'")
                found = page.run(f"""(async () => {{
                    const carom = await import("/package/index.js");
                    const {{ compare }} = await import("/tests/golden.js");
                    await carom.init({options});
                    return compare(carom, await (await fetch("/web.txt")).text());
                }})()""", seconds=SECONDS)
                print(f"chromium, {what}: " + "; ".join(found["lines"]))
                assert not found["failed"]
                page.close()
        finally:
            server.shutdown()


def picture(page, name):
    folder = os.environ.get("CAROM_PICTURES")
    if not folder: return
    os.makedirs(folder, exist_ok=True)
    try: page.until("playground.drawn()", 30)
    except TimeoutError: pass
    page.browser.wait(0.5)
    page.screenshot(os.path.join(folder, name + ".png"))


def volume_of_tool(tool, pose):
    with tempfile.TemporaryDirectory() as folder:
        for shape in ("knot", "torus"):
            subprocess.run([tool, "make", shape, "-o", f"{folder}/{shape}.ply"], check=True, stdout=subprocess.DEVNULL)
        pose = ",".join(repr(x) for x in pose)
        out = subprocess.run([tool, "query", f"{folder}/knot.ply", f"{folder}/torus.ply", "--pose=" + pose, "--json"], check=False,
                             stdout=subprocess.PIPE, encoding="utf-8").stdout
        return json.loads(out)["volume"]


def playground(pages, folder, tool):
    page = pages.page()
    page.open(os.path.join(folder, "index.html"))
    page.until("window.playground !== undefined")
    threads = page.run("playground.ready.then((x) => x.threads)", seconds=SECONDS)
    assert threads == 1, threads
    answers = page.run("playground.answers()")
    assert answers["faces that cross"].endswith("pairs"), answers
    print("playground, crossings:", answers["faces that cross"])
    picture(page, "crossings-light")

    page.run('playground.set({ mode: "two", a: "knot", b: "torus", pose: [0.9, 0.2, 0.1, 1, 0, 0, 0] })')
    before = page.run("playground.state.pose")
    # A point of the torus that the pointer hits: its centre line, on the side towards the eye.
    spot = page.run("""(() => {
        const { min, max } = playground.second();
        for (let i = 1; i < 40; ++i) for (let k = 1; k < 40; ++k) {
            const p = [0, 1, 2].map((a) => min[a] + (max[a] - min[a]) * (a === 0 ? i / 40 : a === 1 ? k / 40 : 0.5));
            const { x, y } = playground.project(p), hit = playground.pick(x, y), at = [x, y];
            if (hit === 1) return at;
        }
        return null;
    })()""")
    assert spot, "the second solid is not in the picture"
    page.drag([(spot[0] + 0.0, spot[1]), (spot[0] + 30, spot[1] - 10), (spot[0] + 60, spot[1] - 25)])
    page.until("JSON.stringify(playground.state.pose) !== " + json.dumps(json.dumps(before, separators=(",", ":"))))
    pose = page.run("playground.state.pose")
    assert pose != before, "the drag did not move it"
    shown = page.run("playground.exact()")
    wanted = volume_of_tool(tool, pose)
    assert abs(shown - wanted) <= 1e-9 * max(1.0, wanted), (shown, wanted)
    print(f"playground, dragged: volume {shown!r}, of carom query {wanted!r}")
    picture(page, "two-light")
    page.run("playground.move([9, 0, 0, 1, 0, 0, 0])")
    assert page.run("playground.answers()")["relation"] == "apart"

    for mode in ("pack", "cover"):
        page.run(f'playground.set({{ mode: "{mode}", a: "knot", spheres: 60 }})', seconds=SECONDS)
        assert page.run("playground.answers()")["spheres"] == "60"
        picture(page, f"{mode}-light")
    for many, count in (("boxes", 100000), ("spheres", 20000)):
        page.run(f'playground.set({{ mode: "many", many: "{many}", count: {count} }})', seconds=SECONDS)
        frames = page.run("playground.frames()", seconds=SECONDS)
        page.until(f"playground.frames() > {frames + 2}", SECONDS)
        print(f"playground, {count} {many}:", page.run("playground.answers()", seconds=SECONDS))
        picture(page, f"{many}-light")

    page.run('playground.set({ mode: "two", a: "box", b: "sphere", pose: [0.5, 0.25, 0, 1, 0, 0, 0] })', seconds=SECONDS)
    page.until("location.hash.includes('sphere') && location.hash.includes('two')")
    link, answers = page.run("location.hash"), page.run("playground.answers()")
    assert page.lines == [], page.lines
    page.close()
    for name, width, dark, mobile in (("link-dark", 1440, True, False), ("phone-light", 390, False, True),
                                      ("phone-dark", 390, True, True)):
        page = pages.page(width, 844 if mobile else 900, dark, mobile)
        page.open(os.path.join(folder, "index.html"), link)
        page.until("window.playground !== undefined")
        page.run("playground.ready.then(() => true)", seconds=SECONDS)
        again = page.run("playground.answers()")
        same = [key for key in answers if key != "the query took"]
        assert [again[key] for key in same] == [answers[key] for key in same], (again, answers)
        assert page.lines == [], page.lines
        picture(page, name)
        page.close()
    print("playground, a link restores the state; the console is empty")


DROP = """(async () => {
    const file = new File([Uint8Array.from(atob("%s"), (c) => c.charCodeAt(0))], "%s"), data = new DataTransfer();
    data.items.add(file);
    for (const kind of ["dragover", "drop"]) {
        document.querySelector("canvas").dispatchEvent(new DragEvent(kind, { dataTransfer: data, bubbles: true, cancelable: true }));
    }
})()"""


def drop(pages, folder, tool):
    """A mesh dropped on the page is shown and tested; a file that is none is an error that the page says."""
    with tempfile.TemporaryDirectory() as made:
        subprocess.run([tool, "make", "cloth", "--detail", "40", "-o", f"{made}/cloth.stl"], check=True, stdout=subprocess.DEVNULL)
        with open(f"{made}/cloth.stl", "rb") as file: content = base64.b64encode(file.read()).decode()
        out = subprocess.run([tool, "pairs", f"{made}/cloth.stl", "--json"], check=False, stdout=subprocess.PIPE,
                             encoding="utf-8").stdout
        wanted = json.loads(out)["pairs"]
    page = pages.page()
    page.open(os.path.join(folder, "index.html"))
    page.until("window.playground !== undefined")
    page.run("playground.ready.then(() => true)", seconds=SECONDS)
    page.run(DROP % (content, "cloth.stl"))
    page.until('playground.state.a === "file"', SECONDS)
    page.until(f'playground.answers()["triangles"] === "{2 * 40 * 40:,}"', SECONDS)
    found = page.run("playground.answers()")["faces that cross"]
    assert found == f"{wanted:,} pairs", (found, wanted)
    print(f"playground, a dropped file: {found}, of carom pairs {wanted}")
    picture(page, "dropped-light")
    page.run(DROP % (base64.b64encode(b"solid nothing").decode(), "broken.stl"))
    page.until("document.body.textContent.includes('broken.stl')", SECONDS)
    assert page.lines == [], page.lines
    page.close()


def served(pages, folder):
    """From a server that sends COOP and COEP the page has all threads; both answer the same."""
    server, found = serve(folder), {}
    try:
        for what in ("file", "server"):
            page = pages.page()
            if what == "file": page.open(os.path.join(folder, "index.html"))
            else: page.send("Page.navigate", url=f"http://127.0.0.1:{server.server_port}/index.html")
            page.until("window.playground !== undefined && location.protocol.startsWith(" + ("'file'" if what == "file" else "'http'") + ")")
            threads = page.run("playground.ready.then((x) => x.threads)", seconds=SECONDS)
            assert (threads == 1) if what == "file" else (threads == page.run("navigator.hardwareConcurrency")), (what, threads)
            found[what] = [page.run("playground.answers()")]
            page.run('playground.set({ mode: "two", a: "knot", b: "torus", pose: [0.9, 0.2, 0.1, 1, 0, 0, 0] })', seconds=SECONDS)
            found[what] += [page.run("playground.answers()"), page.run("playground.exact()")]
            page.run('playground.set({ mode: "many", many: "boxes", count: 20000 })', seconds=SECONDS)
            page.until("playground.frames() > 2", SECONDS)
            assert page.lines == [], page.lines
            page.close()
            for answers in found[what][:2]:
                for key in ("the query took", "with preparation"): answers.pop(key, None)
        assert found["file"] == found["server"], found
        print(f"playground, from a server: {threads} threads, the same answers")
    finally:
        server.shutdown()


def main():
    package, folder, tool = sys.argv[1:4]
    scalar = sys.argv[4] if len(sys.argv) > 4 and os.path.exists(sys.argv[4]) else None
    if not browser.find():
        print("skipped: chromium is not installed")
        return 77
    pages = browser.Browser()
    try:
        golden(pages, package, scalar)
        playground(pages, folder, tool)
        drop(pages, folder, tool)
        served(pages, folder)
    finally:
        pages.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
