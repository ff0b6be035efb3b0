#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The objects of build/platforms.json (scripts/test_platforms.sh): made, shown, joined."""
import glob
import json
import os
import re
import shlex
import sys

WORDS = {"true": True, "false": False, "null": None}


def result():
    e = os.environ
    print(json.dumps({
        "target": e["target"],
        "built": WORDS[e["built"]],
        "ran": WORDS[e["ran"]],
        "golden": WORDS[e["golden"]],
        "passed": int(e["passed"]),
        "failed": e["failed"].split(),
        "skipped": e["skipped"].split(),
        "why": " ".join(e["why"].split()),
        "commit": e["commit"],
        "seconds": round(float(e["seconds"]), 1),
    }))


def is_bad(one):
    return bool(one["failed"]) or one["golden"] is False or (not one["built"] and "not installed" not in one["why"])


def show(path):
    for line in open(path):
        one = json.loads(line)
        golden = {True: "equal", False: "DIFFERENT", None: "not compared"}[one["golden"]]
        print("  %-24s %s, %s, golden hashes %s, %.0f s of processor time%s%s" % (
            one["target"], "built" if one["built"] else "not built",
            "%d passed" % one["passed"] if one["ran"] else "not run", golden, one["seconds"],
            "; failed: " + " ".join(one["failed"]) if one["failed"] else "",
            "; " + one["why"] if one["why"] else ""))


def join(folder, path):
    every = [json.loads(line) for name in sorted(glob.glob(folder + "/*.jsonl")) for line in open(name)]
    with open(path, "w") as out:
        json.dump(every, out, indent=1)
        out.write("\n")
    bad = [one["target"] for one in every if is_bad(one)]
    print("platforms: %d targets in %s, of %s%s" % (
        len(every), path, " ".join(sorted({one["commit"] for one in every})), "; wrong: " + " ".join(bad) if bad else ""))
    return 1 if bad or not every else 0


def table(path):
    """The joined file as Markdown (docs/platforms.md)."""
    print("| target | commit | built | ran: passed, failed | golden | seconds | not run, and why |\n|---|---|---|---|---|--:|---|")
    for one in json.load(open(path)):
        golden = {True: "equal", False: "**different**", None: "-"}[one["golden"]]
        ran = "%d, %s" % (one["passed"], " ".join(one["failed"]) or "none") if one["ran"] else "no"
        skipped = "%d skipped; " % len(one["skipped"]) if one["skipped"] else ""
        print("| %s | %s | %s | %s | %s | %.0f | %s |" % (
            one["target"], one["commit"][:8], "yes" if one["built"] else "no", ran, golden, one["seconds"], skipped + one["why"]))


def portable_tests(*paths):
    """The tests of these programs that compare golden hashes, save or load, themselves or by a function of their file."""
    for path in paths:
        text = open(path).read()
        bodies = dict(re.findall(r"^static [^;=]*?\b(\w+)\([^;{]*\) \{\n(.*?)^\}", text, re.M | re.S))
        by = {"test_golden"} | set(re.findall(r"\b\w+_(?:save|load)\w*", text))
        while True:
            more = {name for name, body in bodies.items() if name not in by and by & set(re.findall(r"\w+", body))}
            if not more:
                break
            by |= more
        found = sorted(by & set(re.findall(r"cmocka_unit_test\w*\((\w+)", text)))
        if "test_golden" in text and not found:
            sys.exit("%s: no test has golden hashes" % path)
        print(" ".join("%s:%s" % (os.path.basename(path), name) for name in found))


def counted(path):
    """ctest's lines, as assignments for the shell."""
    passed, failed, skipped = [], [], []
    for line in open(path, errors="replace"):
        found = re.match(r" *\d+/\d+ Test +#\d+: (\S+) \.*(.*)", line)
        if found:
            name, rest = found.groups()
            (skipped if "Skipped" in rest else passed if " Passed" in rest or rest.startswith("   Passed")
             else failed).append(name)
    wanted = set(os.environ["golden"].split())
    compared = wanted & set(passed)
    golden = "false" if wanted & set(failed) else "true" if compared else "null"
    for name, value in (("ran", "true" if passed or failed else "false"), ("passed", str(len(passed))),
                        ("failed", " ".join(failed)), ("skipped", " ".join(skipped)), ("golden", golden)):
        print("%s=%s" % (name, shlex.quote(value)))


def main():
    what, rest = sys.argv[1], sys.argv[2:]
    return {"result": result, "show": show, "join": join, "table": table, "portable_tests": portable_tests,
            "counted": counted}[what](*rest)


if __name__ == "__main__":
    sys.exit(main())
