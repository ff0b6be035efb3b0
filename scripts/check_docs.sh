#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Every link of README, CONTRIBUTING, CHANGELOG and docs/*.md leads to a file of the project, and to a
# heading where it names one; every function that a step of a reading order names is in a file that the
# step links; docs/figures.md is what bench/results gives and docs/include-graph.svg what
# the sources give; pages have few numbers (doc_numbers.py); `make docs` makes a
# site of them with their pictures and a page per function, whose links all lead somewhere. The second half needs
# python3, cmark and clang: without them the test counts as skipped.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1 bad=0
say() { echo "$*"; bad=1; }

# ---- the sources
anchors() { # the names of a file's headings, as GitHub gives them
    awk '/^```/ { code = !code } !code && /^#+ / {
        sub(/^#+ +/, ""); name = tolower($0); gsub(/[^a-z0-9 _-]/, "", name); gsub(/ /, "-", name)
        print name }' "$1"
}
links() { # outside of code
    awk '/^```/ { code = !code } !code { gsub(/`[^`]*`/, ""); print }' "$1" |
        { grep -oE '\]\([^) ]*\)' || true; } | sed 's/^](//; s/)$//'
}
count=0
for page in README.md CONTRIBUTING.md CHANGELOG.md docs/*.md; do
    for link in $(links "$page"); do
        count=$((count + 1))
        case $link in *://* | mailto:*) continue ;; esac
        file=$(dirname "$page")/${link%%#*}
        [ -n "${link%%#*}" ] || file=$page
        [ -e "$file" ] || { say "$page: $link leads nowhere"; continue; }
        case $link in
        *#*) grep -qxF -- "${link#*#}" <<<"$(anchors "$file")" || say "$page: $link: no such heading" ;;
        esac
    done
done
[ "$count" -gt 20 ] || say "only $count links found: is the search broken?"
steps() { # PAGE HEADING: the numbered steps below a heading, one per line
    awk -v heading="$2" '/^## / { on = $0 == heading } on { if (/^[0-9]+\. /) printf "\n"; if (/^$/) print ""
        else printf "%s ", $0 } END { print "" }' "$1" | grep -E '^[0-9]+\. '
}
names=0
while read -r step; do
    mapfile -t files < <(grep -oE '\]\(\.\./[^) ]*\)' <<<"$step" | sed 's/^](...//; s/)$//')
    for name in $(grep -oE '`[a-z_]+`' <<<"$step" | tr -d '`'); do
        names=$((names + 1))
        grep -qw -- "$name" "${files[@]}" || say "reading order: $name is not in ${files[*]}"
    done
done < <(steps docs/architecture.md '## From a command to its result'; steps docs/gas.md '## Reading order')
[ "$names" -gt 20 ] || say "only $names names found in reading orders: is the search broken?"
[ $bad = 0 ] || exit 1

# ---- figures
command -v python3 >/dev/null || { echo "skipped: python3 is missing, so neither figures nor pages can be made"; exit 77; }
made=$(bench/figures.py) || bad=1
cmp - docs/figures.md <<<"$made" || say "docs/figures.md is not what bench/figures.py makes of bench/results"
made=$(scripts/include_graph.py) || bad=1
cmp - docs/include-graph.svg <<<"$made" ||
    say "folders include others than docs/include-graph.svg shows: scripts/include_graph.py > docs/include-graph.svg"
numbers=$(scripts/doc_numbers.py docs/*.md) || { grep 'bench/results$' <<<"$numbers"; bad=1; }
[ $bad = 0 ] || exit 1

# ---- the site
for tool in cmark clang; do
    command -v $tool >/dev/null || { echo "skipped: $tool is missing, so the site cannot be made"; exit 77; }
done
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
scripts/docs.sh "$out/pages" "$build" >/dev/null || exit 1
wanted=$(find docs -name '*.svg' | wc -l)
python3 - "$out/pages" "$out/pages/api.json" "$wanted" <<'END' || bad=1
# Every link of every page leads to a page, and to a name on it; nothing is fetched from the web; every page has the
# contents; every function has a page with its signature and an example, and is found by the search.
import html, json, os, re, sys
root, description, pictures_wanted = sys.argv[1], sys.argv[2], int(sys.argv[3])
bad, links, pictures, pages = [], 0, set(), {}
for folder, _, names in os.walk(root):
    for name in names:
        if name.endswith(".html"):
            path = os.path.relpath(os.path.join(folder, name), root)
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                pages[path] = file.read()
anchors = {path: set(re.findall(r'\b(?:id|name)="([^"]*)"', text)) for path, text in pages.items()}
contents = len(re.findall(r"<li>", pages["index.html"].split("</nav>")[0]))
for path, text in pages.items():
    if '<nav aria-label="Contents">' not in text or len(re.findall("<li>", text.split("</nav>")[0])) != contents:
        bad.append("%s: the contents are missing" % path)
    prose = re.sub(r"<pre.*?</pre>|<code>.*?</code>", "", text, flags=re.S)
    if re.search(r"\]\([^)\s]*\)|^\|", prose, flags=re.M):
        bad.append("%s: Markdown is left" % path)
    for tag, link in re.findall(r'<(a|img|link|script)\b[^>]* (?:href|src)="([^"]*)"', text):
        link = html.unescape(link)
        if re.match(r"[a-z]+:", link):
            if tag != "a":
                bad.append("%s: %s is fetched from the web" % (path, link))
            continue
        links += 1
        target, _, anchor = link.partition("#")
        file = os.path.normpath(os.path.join(os.path.dirname(path), target)) if target else path
        if not os.path.isfile(os.path.join(root, file)) or os.path.getsize(os.path.join(root, file)) == 0:
            bad.append("%s: %s leads nowhere" % (path, link))
        elif anchor and anchor not in anchors.get(file, set()):
            bad.append("%s: %s: no such heading" % (path, link))
        if tag == "img":
            pictures.add(file)
if len(pictures) < pictures_wanted:
    bad.append("%d pictures are shown, docs has %d" % (len(pictures), pictures_wanted))
with open(os.path.join(root, "search.js"), encoding="utf-8") as file:
    index = json.loads(file.readline()[len("var carom_index = "):-2])
found = {entry[1].partition("#")[0] for entry in index}
with open(description, encoding="utf-8") as file:
    functions = [f["name"] for f in json.load(file)["functions"]]
for name in functions:
    page = "reference/%s.html" % name
    text = pages.get(page, "")
    if 'class="signature"' not in text or 'id="example"' not in text or page not in found:
        bad.append("%s has no page with signature and example, or is not found by the search" % name)
for path in pages:
    if re.fullmatch(r"(docs/.*|index|CHANGELOG|CONTRIBUTING)\.html", path) and path not in found:
        bad.append("%s is not found by the search" % path)
if len(functions) < 100:
    bad.append("only %d functions: is the description broken?" % len(functions))
print("\n".join(bad[:40]) if bad else "%d links in %d pages, %d pictures, %d functions, %d entries of the search" % (
    links, len(pages), len(pictures), len(functions), len(index)))
sys.exit(1 if bad else 0)
END
echo "$count links in the sources"
exit $bad
