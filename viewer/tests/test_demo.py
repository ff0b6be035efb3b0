#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Opens the page of `carom demo` in a real browser: usage test_demo.py INDEX.html. Exits with 77 where chromium or the page is
missing. Nothing here depends on how fast the machine is: what is waited for has only a generous limit."""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import browser  # noqa: E402

MOST_BYTES = 12 * 2**20  # of the whole page
MOST_LIVE = 5  # scenes with a WebGL context
LONG = 120  # seconds, for machines that draw slowly
failures = []
checks = 0


def check(condition, text):
    global checks
    checks += 1
    if not condition:
        failures.append(text)
        print("FAILED:", text)


def engines():
    """The engines in the order of README."""
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    with open(os.path.join(root, "README.md"), encoding="utf-8") as file:
        return re.findall(r"^- \[(\w+)\]\(docs/\w+\.md\):", file.read(), re.M)


def test_text(path):
    """What can be read without a browser."""
    check(os.path.getsize(path) <= MOST_BYTES, "the page has %d bytes" % os.path.getsize(path))
    with open(path, encoding="utf-8") as file:
        text = file.read()
    sections = re.findall(r'<section id="(\w+)"', text)
    check(sections[0] == "drag" and sections[-1] == "machine", "the sections are %s" % sections)
    check([s for s in sections if s in engines()] == engines(), "not README's engines in its order: %s" % sections)
    links = re.findall(r'href="#(\w+)"', text)
    check(links == sections[1:], "the contents lead to %s" % links)
    images = re.findall(r"<img alt=\"([^\"]*)\"", text)
    check(len(images) >= 10 and all(images), "%d pictures, some without words" % len(images))
    check(text.count("<script>") == 1, "more than one script")
    for words in re.findall(r'class="number"><strong>.*?</strong> (.*?)</p>', text):
        check(not re.search(r"(?<![.\d])\d{4,}", words), "digits are not in groups of three: " + words)
    for section in re.findall(r'<section id="\w+".*?</section>', text, re.S)[:-1]:
        name = section[13:30].split('"')[0]
        check("<pre>carom " in section and 'class="number"' in section, "%s has no number or no command" % name)
        check('class="peer"' in section or name in ("drag",), "%s has no peer" % name)
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    for source in re.findall(r"bench/results/[\w/-]+\.csv", text):
        check(os.path.exists(os.path.join(root, source)), "%s is cited and not there" % source)
    return sections


def test_page(tester, path, sections, width, dark):
    page = tester.page(width=width, height=844, dark=dark, mobile=width < 500)
    page.open(path)
    page.until("Boolean(window.carom && carom.scenes.length)", LONG)
    page.run("document.documentElement.style.scrollBehavior = 'auto'")
    name = "%d px" % width
    page.until("carom.scenes[0].live", LONG)
    page.until("carom.scenes[0].viewer.times.frames > 1", LONG)
    check(page.run("carom.scenes[0].viewer.playing"), name + ": the first scene does not play")
    before = page.run("carom.scenes[0].viewer.scene.time")
    page.until("carom.scenes[0].viewer.scene.time !== %r" % before, LONG)
    # Of what comes and goes, only what belongs to the time is shown, and the numbers are of that time.
    shown = page.run(
        "(() => { const v = carom.scenes[0].viewer; v.play(false); carom.scenes[0].paused = true;"
        "v.setTime(v.scene.times[50]); const now = v.scene.items.filter((i) => i.extras.shown && !i.hidden);"
        "return now.length > 0 && now.every((i) => i.extras.shown[0] === v.scene.time); })()"
    )
    check(shown, name + ": items of other times are shown")
    numbers = page.run("carom.scenes[0].beside.querySelector('dl').innerText")
    check(re.search(r"Volume of the overlap\s+0\.\d", numbers or ""), name + ": no volume beside the scene")
    for section in sections:
        page.run("document.getElementById('%s').scrollIntoView()" % section)
        if section == "machine":
            continue
        page.until("carom.scenes.some((s) => s.live && s.figure.closest('section').id === '%s')" % section, LONG)
        if section == "balls":
            number = page.run("document.querySelector('#balls .number').innerText.match(/more than ([\\d,]+)/)[1]")
            check(number in page.run("document.querySelector('#balls dl').innerText"), "beside the scene is not " + number)
        live = page.run("carom.scenes.filter((s) => s.live).length")
        check(live <= MOST_LIVE, "%s, %s: %d scenes are live" % (name, section, live))
    # Charts: everything that is written in them is inside; the names stand below where there is no room beside.
    cut = page.run(
        "[...document.querySelectorAll('.chart')].flatMap((c) => [...c.querySelectorAll('svg text, .names span')]"
        ".filter((t) => t.getClientRects().length && t.getBoundingClientRect().right > c.getBoundingClientRect().right + 1)"
        ".map((t) => t.textContent))"
    )
    check(not cut, "%s: texts of charts are cut off: %s" % (name, cut))
    named = page.run(
        "[...document.querySelectorAll('.chart')].map((c) => [...c.querySelectorAll('.legend text, .names span')]"
        ".filter((t) => t.getClientRects().length && getComputedStyle(t).display !== 'none').length)"
    )
    check(all(0 < n < 3 for n in named), "%s: charts name %s curves" % (name, named))
    wide = page.run("document.documentElement.scrollWidth")
    check(wide <= width, "%s: the page is %d wide" % (name, wide))
    # Back to the first one, which was a picture meanwhile: it stands where it stood.
    page.run("window.scrollTo(0, 0)")
    page.until("carom.scenes[0].live", LONG)
    check(page.run("carom.scenes[0].viewer.scene.time === carom.scenes[0].viewer.scene.times[50]"), name + ": time was lost")
    check(not page.lines, "%s: the console has lines: %s" % (name, page.lines[:3]))
    check(len([u for u in page.requests if not u.startswith(("data:", "blob:"))]) == 1, name + ": something was asked for")
    page.close()


def main():
    if not browser.find():
        print("skipped: chromium is not installed")
        sys.exit(77)
    path = sys.argv[1]
    if not os.path.exists(path):
        print("skipped: there is no %s; the test `cli` writes it" % path)
        sys.exit(77)
    sections = test_text(path)
    tester = browser.Browser()
    try:
        test_page(tester, path, sections, 390, True)
        test_page(tester, path, sections[:3], 1440, False)
    finally:
        tester.close()
    print("%d checks, %d failed" % (checks, len(failures)))
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
