#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks .github without GitHub: the YAML, what workflows and issue forms must have, and that the commands exist.

Every `run` is parsed by bash, every target of make is in the Makefile, every preset in CMakePresets.json and every
purpose of scripts/setup.sh in packages.txt; actions are named with a version. Bug forms ask for the command, for
`carom --version` and for a file."""
import json
import os
import re
import subprocess
import sys

import yaml

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
WORKFLOWS, FORMS = ".github/workflows", ".github/ISSUE_TEMPLATE"
WANTED = ["ubuntu-24.04", "ubuntu-24.04-arm", "macos", "windows", "clang", "asan", "tsan", "make wheel", "make test-js",
          "make deb", "make test-amalgamation"]
complaints = []


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file: return file.read()


def load(path):
    try:
        return yaml.safe_load(read(path))
    except yaml.YAMLError as error:
        complaints.append(f"{path}: {error}")
        return {}


def say(path, message):
    complaints.append(f"{path}: {message}")


def values_of(matrix, key):
    """What ${{ matrix.KEY }} may be."""
    return [str(v) for v in matrix.get(key, [])] + [str(row[key]) for row in matrix.get("include", []) if key in row]


def check_command(path, text, matrix):
    """One `run` with the matrix's values put in."""
    keys = sorted(set(re.findall(r"\$\{\{ matrix\.(\w+) \}\}", text)))
    texts = [text]
    for key in keys:
        found = values_of(matrix, key)
        if not found: say(path, f"the matrix has no {key}")
        texts = [t.replace("${{ matrix.%s }}" % key, v) for t in texts for v in found]
    for each in texts:
        if "${{" in each: say(path, f"an expression that this check does not know: {each}")
        result = subprocess.run(["bash", "-n"], input=each, capture_output=True, encoding="utf-8")
        if result.returncode != 0: say(path, f"bash: {result.stderr.strip()}")
        for words in (line.split() for line in each.splitlines()): check_words(path, words)


def check_words(path, words):
    if words[:1] == ["sudo"]: words = words[1:]
    if words[:1] == ["make"]:
        for word in words[1:]:
            if word.startswith("PRESET="):
                presets = [p["name"] for p in json.loads(read("CMakePresets.json"))["configurePresets"]]
                if word[7:] not in presets: say(path, f"no preset {word[7:]}")
            elif not re.search(rf"^{re.escape(word)}:", read("Makefile"), re.M):
                say(path, f"the Makefile has no target {word}")
    if words[:1] and words[0].startswith("scripts/"):
        if not os.access(os.path.join(ROOT, words[0]), os.X_OK): say(path, f"{words[0]} cannot be run")
        purposes = {line.split()[1] for line in read("packages.txt").splitlines() if line[:1] not in ("", "#")}
        if words[0] == "scripts/setup.sh":
            for word in words[1:]:
                if word not in purposes: say(path, f"packages.txt has no purpose {word}")


def check_workflow(path):
    workflow = load(path)
    events = workflow.get("on", workflow.get(True)) # YAML 1.1 reads a plain `on` as true
    if not events: say(path, "it never runs: no `on`")
    if workflow.get("permissions") != {"contents": "read"}: say(path, "permissions: contents: read, and no more")
    jobs = workflow.get("jobs") or {}
    if not jobs: say(path, "no jobs")
    for name, job in jobs.items():
        where = f"{path}: {name}"
        for key in ("name", "runs-on", "timeout-minutes", "steps"):
            if key not in job: say(where, f"no {key}")
        needs = job.get("needs", [])
        for other in [needs] if isinstance(needs, str) else needs:
            if other not in jobs: say(where, f"needs {other}, which is not there")
        for step in job.get("steps", []):
            if ("run" in step) == ("uses" in step): say(where, f"a step runs or uses something: {step}")
            if "uses" in step and not re.fullmatch(r"[\w.-]+/[\w.-]+@v\d+(\.\d+)*", step["uses"]):
                say(where, f"{step['uses']}: name a version")
            if "run" in step: check_command(where, step["run"], job.get("strategy", {}).get("matrix", {}))


def check_form(path):
    form = load(path)
    if path.endswith("/config.yml"): return
    for key in ("name", "description", "body"):
        if key not in form: say(path, f"no {key}")
    ids, text = [], json.dumps(form)
    for part in form.get("body", []):
        if part.get("type") not in ("markdown", "textarea", "input", "dropdown", "checkboxes"): say(path, f"type of {part}")
        if part.get("type") == "markdown": continue
        ids.append(part.get("id"))
        if not part.get("attributes", {}).get("label"): say(path, f"{part.get('id')} has no label")
    if len(set(ids)) != len(ids): say(path, "an id twice")
    for wanted in ("command", "version", "file"):
        if wanted not in ids: say(path, f"it does not ask for {wanted}")
    if "carom --version" not in text: say(path, "it does not name carom --version")


def main():
    workflows = [f"{WORKFLOWS}/{n}" for n in sorted(os.listdir(os.path.join(ROOT, WORKFLOWS)))]
    forms = [f"{FORMS}/{n}" for n in sorted(os.listdir(os.path.join(ROOT, FORMS)))]
    for path in workflows: check_workflow(path)
    for path in forms: check_form(path)
    text = "".join(read(path) for path in workflows)
    for wanted in WANTED:
        if wanted not in text: say(WORKFLOWS, f"nothing with {wanted}")
    for complaint in complaints: print(complaint)
    print(f"{len(workflows)} workflows, {len(forms)} forms")
    return bool(complaints)


if __name__ == "__main__": sys.exit(main())
