#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Works with a clash report in a real browser: usage test_report.py CAROM. Exits with 77 where chromium is missing.
The list, keys, links, groups; status and notes that survive two rounds of Save and --baseline; names of no good
will; a phone. Nothing here depends on how fast the machine is."""
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import browser  # noqa: E402
import glb  # noqa: E402

HOSTILE = "<img src=x onerror=alert(1)> </script>"
failures = []
checks = 0


def check(condition, text):
    global checks
    checks += 1
    if not condition:
        failures.append(text)
        print("FAILED:", text)


def write_obj(path, shift=0.0):
    """Boxes of which two overlap, one is inside, one touches, one is near and one apart: seven clashes."""
    boxes = [
        ("base", (0, 0, 0), (2, 2, 2)),
        (HOSTILE, (1.5 + shift, 0, 0), (3.5 + shift, 2, 2)),
        ("inner", (0.5, 0.5, 0.5), (1, 1, 1)),
        ("below", (0, 0, -2), (2, 2, 0)),
        ("beside", (0, 2.125, 0), (2, 4, 2)),
        ("apart", (20, 20, 20), (21, 21, 21)),
    ]
    at = 1
    with open(path, "w", encoding="utf-8") as file:
        for name, low, high in boxes:
            vertices, triangles = glb.box(low, high)
            file.write("o %s\n" % name)
            for v in vertices:
                file.write("v %r %r %r\n" % tuple(float(x) for x in v))
            for t in triangles:
                file.write("f %d %d %d\n" % tuple(int(i) + at for i in t))
            at += len(vertices)


def report_of(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    return json.loads(re.search(r'id="carom-report">(.*?)</script>', text, re.S).group(1))


class Tester:
    def __init__(self, carom, folder):
        self.carom, self.folder = carom, folder
        self.browser = browser.Browser()

    def path(self, name):
        return os.path.join(self.folder, name)

    def run(self, *arguments):
        done = subprocess.run([self.carom, "scene", *arguments, "-q"], cwd=self.folder, capture_output=True, text=True)
        check(done.returncode == 0, "carom scene %s: %s" % (arguments, done.stderr))
        return done.stdout

    def open(self, name, hash="", **how):
        page = self.browser.page(**how)
        page.send("Page.setDownloadBehavior", behavior="allow", downloadPath=self.path("saved"))
        page.open(self.path(name), hash)
        page.until("Boolean(window.carom)")
        check(page.run("carom.ready")["webgl"], "%s: no picture" % name)
        return page

    def done(self, page, name):
        check(not page.lines, "%s: the console has lines: %s" % (name, page.lines[:3]))
        page.close()

    def save(self, page, name):
        """Presses Save; the file that is downloaded gets the name."""
        found = self.path(os.path.join("saved", os.path.basename(page.run("location.pathname"))))
        if os.path.exists(found):
            os.remove(found)
        page.run("document.querySelector('.save').click()")
        for _ in range(200):
            page.browser.wait(0.05)
            if os.path.exists(found) and os.path.getsize(found):
                break
        page.browser.wait(0.2)
        os.replace(found, self.path(name))


CURRENT = "document.querySelector('.clash').innerText"
ROWS = "[...document.querySelectorAll('.clashes tbody tr:not(.heading)')].map(r => r.innerText)"


# How many pixels an arrow changes.
ARROW_PIXELS = """(async () => {
    const v = carom.viewer;
    const pixels = async () => {
        const picture = await createImageBitmap(await v.picture()), { width, height } = picture;
        const context = new OffscreenCanvas(width, height).getContext("2d");
        context.drawImage(picture, 0, 0);
        return context.getImageData(0, 0, width, height).data;
    };
    const show = (on) => { v.layers.arrow = on; v.apply(); };
    const before = await pixels();
    show(false);
    const after = await pixels();
    show(true);
    let count = 0;
    for (let i = 0; i < before.length; i += 4)
        count += Math.abs(before[i] - after[i]) + Math.abs(before[i + 2] - after[i + 2]) > 60;
    return count;
})()"""


def choose(page, label, value):
    page.run(
        "(() => { const s = document.querySelector('select[aria-label=\"%s\"]'); s.value = %r;"
        " s.dispatchEvent(new Event('change')); })()" % (label, value)
    )


def test_list(tester):
    page = tester.open("one.html")
    report = report_of(tester.path("one.html"))
    check(len(report["clashes"]) == 7, "clashes: %d" % len(report["clashes"]))
    check(len(page.run(ROWS)) == 7, "rows: %s" % page.run(ROWS))
    # The worst first, and looked at in the view of the whole.
    first = page.run(CURRENT)
    check("1 of 7" in first and "base" in first, "the first: %s" % first)
    whole = page.run("(() => { const v = carom.viewer; return [v.camera.state.distance, v.camera.fit(v.scene.box).distance]; })()")
    check(abs(whole[0] - whole[1]) < 1e-6 * whole[1], "not the whole: %s" % whole)
    worst = max(c["depth"] or 0 for c in report["clashes"])
    check(("%g" % worst) in first, "not the deepest: %s" % first)
    # j goes there: both parts in colour, the rest ghosts, the section on, the numbers in the card.
    page.key("j")
    page.until(CURRENT + ".includes('2 of 7')")
    seen = page.run(
        """(() => { const v = carom.viewer, parts = v.scene.items.filter(i => i.kind === 'part');
        return [parts.filter(i => !i.ghost && i.side).length, parts.filter(i => i.ghost).length, v.show.section.on,
        v.scene.items.filter(i => i.kind === 'arrow' && !i.hidden).length, v.camera.state.distance]; })()"""
    )
    check(seen[:4] == [2, 4, True, 1], "what is shown: %s" % seen)
    page.until("Math.abs(carom.viewer.camera.state.distance - %r) > 1e-3" % whole[0])
    plane = page.run(
        "(() => { const v = carom.viewer, s = v.sectionPlane(), r = v.focus.row; "
        "return [s.normal.reduce((x, n, k) => x + n * r.at[k], 0) - s.offset, r.radius]; })()"
    )
    check(0 <= plane[0] <= 0.1 * plane[1] + 1e-9, "the section misses the clash: %s" % plane)
    check(page.run(ARROW_PIXELS) > 100, "the section cuts the arrow away")
    page.key("k")
    page.until(CURRENT + ".includes('1 of 7')")
    # Each row says what is wrong, how deep, which way.
    for clash in report["clashes"]:
        page.run("carom.goto(%r)" % clash["guid"])
        text = page.run(CURRENT)
        check(clash["name_a"] in text and clash["name_b"] in text, "names: %s" % text)
        if clash["depth"]:
            check("Move " in text and " along " in text and "way" in text, "no way out: %s" % text)
        if clash["relation"] == "close":
            check("0.125 apart" in text, "no distance: %s" % text)
    # Filter, chips, sort, groups.
    page.run("(() => { const f = document.querySelector('.bar [type=search]'); f.value = 'inner'; f.dispatchEvent(new Event('input')); })()")
    check(all("inner" in row for row in page.run(ROWS)) and page.run(ROWS), "filter: %s" % page.run(ROWS))
    page.run("(() => { const f = document.querySelector('.bar [type=search]'); f.value = ''; f.dispatchEvent(new Event('input')); })()")
    page.run("document.querySelector('.chips .touching').click()")
    check(len(page.run(ROWS)) == 5, "a relation is switched off")
    page.run("document.querySelector('.chips .touching').click()")
    by = {c["guid"]: c for c in report["clashes"]}
    for key, label in ("depth", "Depth"), ("volume", "Volume"):
        choose(page, "Sort by", key)
        order = page.run("carom.viewer.rows().map(r => r.id)")
        values = [by[g][key] or -1 for g in order]
        check(values == sorted(values, reverse=True), "%s: %s" % (label, values))
    for kind in "part", "group", "alike", "relation", "status":
        choose(page, "Group by", kind)
        heads = page.run("document.querySelectorAll('.clashes .heading').length")
        check(heads >= 1 and len(page.run(ROWS)) == 7, "groups by %s: %s" % (kind, heads))
    page.run("document.querySelector('.clashes .heading').click()")
    check(len(page.run(ROWS)) < 7, "a group closes")
    facts = page.run("document.querySelector('.report').innerText")
    for text in "one.obj", "1970-01-01 00:00:00 UTC", "none given", "Clearance":
        check(text in facts, "the report does not say %s" % text)
    tester.done(page, "list")


def test_links(tester):
    report = report_of(tester.path("one.html"))
    clash = [c for c in report["clashes"] if c["relation"] == "close"][0]
    page = tester.open("one.html", "#clash=" + clash["guid"])
    check("beside" in page.run(CURRENT), "a link leads elsewhere: %s" % page.run(CURRENT))
    page.key("j")
    page.key("k")
    page.until("location.hash.includes('clash=%s')" % clash["guid"])
    other = report["clashes"][0]
    page.run("location.hash = '#clash=%s'" % other["guid"])
    page.until("carom.viewer.focus.row.id === %r" % other["guid"])
    page.run("location.hash = '#clash=nonsense'")
    tester.done(page, "links")


def set_review(page, guid, status, note):
    page.run("carom.goto(%r)" % guid)
    choose(page, "Status", status)
    page.run(
        "(() => { const t = document.querySelector('.clash textarea'); t.value = %s; t.dispatchEvent(new Event('input')); })()"
        % json.dumps(note)
    )
    check(page.run("document.querySelector('.save').classList.contains('unsaved')"), "a change is not to be saved")


def test_rounds(tester):
    """Status and notes: set, saved, read by --baseline; again; and the page that was saved works."""
    clashes = report_of(tester.path("one.html"))["clashes"]
    note = "fits \"so\" & </script><script>alert(1)</script> \u00e9\nsecond line"
    page = tester.open("one.html")
    set_review(page, clashes[0]["guid"], "approved", note)
    page.key("j")  # keys in the note are letters, not commands
    tester.save(page, "saved1.html")
    check(not page.run("document.querySelector('.save').classList.contains('unsaved')"), "still to be saved")
    tester.done(page, "round one")
    saved = {c["guid"]: c for c in report_of(tester.path("saved1.html"))["clashes"]}
    check(saved[clashes[0]["guid"]]["status"] == "approved", "the status is not in the page")
    check(saved[clashes[0]["guid"]]["note"] == note, "the note is another: %r" % saved[clashes[0]["guid"]]["note"])
    tester.run("two.obj", "--clearance", "0.2", "--baseline", "saved1.html", "-o", "two.html")
    page = tester.open("two.html")
    page.run("carom.goto(%r)" % clashes[0]["guid"])
    check(page.run("document.querySelector('.clash textarea').value") == note, "the note did not reach round two")
    check("still there" in page.run(CURRENT), "still there: %s" % page.run(CURRENT))
    set_review(page, clashes[1]["guid"], "resolved", "second")
    check("still there" in page.run(CURRENT) and "resolved" in page.run(CURRENT), "resolved, but there")
    tester.save(page, "saved2.html")
    tester.done(page, "round two")
    # The page that was saved is as good as the first.
    page = tester.open("saved2.html")
    page.run("carom.goto(%r)" % clashes[1]["guid"])
    check(page.run("document.querySelector('.clash textarea').value") == "second", "the saved page lost a note")
    tester.done(page, "saved page")
    out = json.loads(tester.run("two.obj", "--clearance", "0.2", "--baseline", "saved2.html", "--json"))
    by = {c["guid"]: c for c in out["clashes"]}
    check(by[clashes[0]["guid"]]["status"] == "approved" and by[clashes[0]["guid"]]["note"] == note, "round three: first")
    check(by[clashes[1]["guid"]]["status"] == "resolved" and by[clashes[1]["guid"]]["note"] == "second", "round three: second")


def test_phone(tester):
    page = tester.open("one.html", width=390, height=844, mobile=True)
    page.key("j")
    page.until(CURRENT + ".includes('2 of 7')")
    wide = page.run("[document.documentElement.scrollWidth, document.body.scrollWidth]")
    check(max(wide) <= 390, "wider than the screen: %s" % wide)
    seen = page.run(
        "(() => { const c = document.querySelector('.clash h2').getBoundingClientRect(); return [c.top, c.bottom, innerHeight]; })()"
    )
    check(0 < seen[0] and seen[1] < seen[2], "the clash is out of sight: %s" % seen)
    tester.done(page, "phone")


def main():
    if not browser.find():
        print("skipped: chromium is not installed")
        sys.exit(77)
    os.environ["SOURCE_DATE_EPOCH"] = "0"
    with tempfile.TemporaryDirectory(prefix="carom-report-") as folder:
        tester = Tester(os.path.abspath(sys.argv[1]), folder)
        try:
            write_obj(tester.path("one.obj"))
            write_obj(tester.path("two.obj"), 0.25)
            tester.run("one.obj", "--clearance", "0.2", "-o", "one.html")
            test_list(tester)
            test_links(tester)
            test_rounds(tester)
            test_phone(tester)
        finally:
            tester.browser.close()
    print("%d checks, %d failed" % (checks, len(failures)))
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
