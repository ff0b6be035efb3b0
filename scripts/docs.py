#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""docs.py OUT BUILD API.json: the manual as a site that works from files, without a server.

- A page for each of README, CHANGELOG, CONTRIBUTING and docs/*.md, the man page that the build made, and every file
  or folder that one of them links to: no link leads out of OUT but those to the web.
- reference/: a page per public header with its types, and one per function with signature, text, parameters and an
  example, from the description of the API (docs/api-json.md).
- All pages are in the contents beside each page. search.js has the headings and their text, and finds words in them.

Nothing is fetched from the web. Fails when a link leads nowhere. Needs cmark; groff for the man page."""

import glob
import html
import json
import os
import re
import shutil
import subprocess
import sys
import textwrap

# The contents: what is not named here comes under "More".
CONTENTS = [
    ("Start", ["README.md", "docs/architecture.md", "docs/glossary.md", "CHANGELOG.md", "CONTRIBUTING.md",
               "docs/new-engine.md"]),
    ("Engines", ["docs/soup.md", "docs/solid.md", "docs/convex.md", "docs/broad.md", "docs/scene.md", "docs/robot.md",
                 "docs/pack.md", "docs/tree.md", "docs/balls.md", "docs/gas.md"]),
    ("Methods", ["docs/exact.md", "docs/grid.md", "docs/toi.md", "docs/meshes.md", "docs/formats.md", "docs/cuda.md"]),
    ("Results", ["docs/papers.md", "docs/papers-measured.md", "docs/figures.md", "bench/results/README.md"]),
    ("API", ["docs/api.md", "docs/from-0.1.md", "docs/api-json.md"]),
]
EXCERPT = 5  # lines before and after a call that an example shows
TEXT_SUFFIXES = (".md",)
PICTURES = (".svg", ".png")


def escape(text):
    return html.escape(text, quote=True)


class Site:
    def __init__(self, out, build, api):
        self.out, self.build, self.api = out, build, api
        self.done = {}      # target -> source
        self.queue = []     # files still to be made
        self.index = []     # of the search: [title, page, text]
        self.contents = []  # [heading, [(title, target)]]
        self.bad = []

    # ---- pages

    def write(self, target, title, body, source=""):
        path = os.path.join(self.out, target)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        root = os.path.relpath(".", os.path.dirname(target) or ".").rstrip("/") + "/"
        root = "" if root == "./" else root
        nav = []
        for heading, entries in self.contents:
            nav.append("<h2>%s</h2><ul>" % escape(heading))
            for name, page in entries:
                here = ' class="here" aria-current="page"' if page == target else ""
                nav.append('<li><a href="%s%s"%s>%s</a></li>' % (root, page, here, escape(name)))
            nav.append("</ul>")
        with open(path, "w", encoding="utf-8") as file:
            file.write(FRAME % {"title": escape(title), "root": root, "nav": "\n".join(nav), "body": body,
                                "source": escape(source)})

    def target_of(self, file):
        if file == "README.md":
            return "index.html"
        if file.endswith(".md"):
            return file[:-3] + ".html"
        if file.endswith(PICTURES):
            return file
        return file + ("/index.html" if os.path.isdir(file) else ".html")

    def want(self, file):
        target = self.target_of(file)
        if target not in self.done:
            self.done[target] = file
            self.queue.append(file)
        return target

    def relink(self, source, target, text):
        """Links of a page of the project become links to the pages of what they name."""
        def replace(match):
            attribute, link = match.group(1), html.unescape(match.group(2))
            if re.match(r"[a-z]+:", link) or link.startswith("#"):
                return match.group(0)
            path, _, anchor = link.partition("#")
            file = os.path.normpath(os.path.join(os.path.dirname(source), path))
            if not os.path.exists(file):
                self.bad.append("%s: %s leads nowhere" % (source, link))
                return match.group(0)
            page = os.path.relpath(self.want(file), os.path.dirname(target) or ".")
            return '%s="%s%s"' % (attribute, escape(page), "#" + anchor if anchor else "")
        return re.sub(r'\b(href|src)="([^"]*)"', replace, text)

    def make(self, file):
        target = self.target_of(file)
        if file.endswith(PICTURES):
            os.makedirs(os.path.dirname(os.path.join(self.out, target)), exist_ok=True)
            shutil.copyfile(file, os.path.join(self.out, target))
        elif file.endswith(TEXT_SUFFIXES):
            title, body = markdown(file)
            body = self.relink(file, target, body)
            self.add_sections(title, target, body)
            self.write(target, title, body, file)
        elif os.path.isdir(file):
            names = sorted(n for n in os.listdir(file) if os.path.isfile(os.path.join(file, n)) and n[0] != ".")
            links = "".join('<li><a href="%s">%s</a></li>' % (escape(n), escape(n)) for n in names)
            body = self.relink(os.path.join(file, "."), target, "<h1>%s</h1><ul>%s</ul>" % (escape(file), links))
            self.write(target, file, body, file)
        else:
            with open(file, encoding="utf-8", errors="replace") as stream:
                text = stream.read()
            name = self.reference_of_header(file)
            more = '<p><a href="%s">Reference of this header</a></p>' % name if name else ""
            self.write(target, file, "<h1>%s</h1>%s<pre>%s</pre>" % (escape(file), more, escape(text)), file)

    def reference_of_header(self, file):
        match = re.fullmatch(r"include/(carom/\w+\.h)", file)
        if not match or match.group(1) not in self.headers:
            return None
        return "../../" + header_page(match.group(1))

    # ---- search

    def add_sections(self, title, target, body):
        """One entry of the index per heading, with the text below it."""
        parts = re.split(r'<h([1-6]) id="([^"]*)">(.*?)</h\1>', body, flags=re.S)
        for i in range(1, len(parts), 4):
            level, name, heading, text = parts[i:i + 4]
            heading = words(heading)
            shown = title if level == "1" else title + ": " + heading
            self.index.append([shown, target + ("" if level == "1" else "#" + name), words(text)])

    def write_search(self):
        shutil.copyfile(os.path.join(os.path.dirname(__file__), "docs_site.css"), os.path.join(self.out, "site.css"))
        with open(os.path.join(os.path.dirname(__file__), "docs_site.js"), encoding="utf-8") as file:
            code = file.read()
        with open(os.path.join(self.out, "search.js"), "w", encoding="utf-8") as file:
            file.write("var carom_index = %s;\n%s" % (json.dumps(self.index, ensure_ascii=False,
                                                                 separators=(",", ":")), code))

    # ---- the reference

    def reference(self):
        api = self.api
        self.headers = {h["name"]: h for h in api["headers"]}
        self.pages = {f["name"]: "reference/%s.html" % f["name"] for f in api["functions"]}
        for kind in ("structs", "enums", "callbacks", "opaques", "aliases", "constants"):
            for item in api[kind]:
                self.pages[item["name"]] = header_page(item["header"]) + "#" + item["name"]
        for enum in api["enums"]:
            for value in enum["values"]:
                self.pages.setdefault(value["name"], self.pages[enum["name"]])
        self.examples = {name: open(name, encoding="utf-8").read()
                         for name in sorted(glob.glob("examples/*.c")) + sorted(glob.glob("cli/*.c"))}

    def link_names(self, text, base):
        """Text as HTML, with every public name as a link."""
        def replace(match):
            name = match.group(0)
            page = self.pages.get(name)
            if page is None:
                return name
            return '<a href="%s">%s</a>' % (os.path.relpath(page, os.path.dirname(base)), name)
        text = re.sub(r"`([^`\n]+)`", r"<code>\1</code>", html.escape(text, quote=False))
        return re.sub(r"\b(?:carom|CAROM)_\w+", replace, text)

    def prose(self, doc, base):
        """A comment as HTML: paragraphs, lists, and what is set in columns as it is."""
        out = []
        for block in re.split(r"\n[ \t]*\n", doc.strip("\n")):
            lines = block.split("\n")
            if any(re.match(r"\s*(- |\d\. )", line) for line in lines):
                items, before = [], []
                for line in lines:
                    match = re.match(r"\s*(?:- |\d\. )(.*)", line)
                    if match:
                        items.append(match.group(1))
                    elif items:
                        items[-1] += " " + line.strip()
                    else:
                        before.append(line.strip())
                if before:
                    out.append("<p>%s</p>" % self.link_names(" ".join(before), base))
                out.append("<ul>%s</ul>" % "".join("<li>%s</li>" % self.link_names(i, base) for i in items))
            elif any(re.match(r"\s{2,}\S", line) or re.search(r"\S {3,}\S", line) for line in lines):
                out.append("<pre>%s</pre>" % self.link_names(block, base))
            else:
                out.append("<p>%s</p>" % self.link_names(" ".join(line.strip() for line in lines), base))
        return "\n".join(out)

    def example_of(self, function, header):
        """Where a function is called: (file, lines, what it is)."""
        call = re.compile(r"\b%s\s*\(" % function)
        engine = header[len("carom/"):-len(".h")]
        def order(name):
            own = os.path.basename(name) in (engine + ".c", "hello_%s.c" % engine)
            return (not name.startswith("examples/"), not own, name)
        for name in sorted(self.examples, key=order):
            lines = self.examples[name].split("\n")
            for i, line in enumerate(lines):
                if call.search(line) and not re.match(r"\s*(/?\*|//)", line):
                    return name, excerpt(lines, i), "" if name.startswith("examples/") else " (the tool)"
        hello = self.hello_of(engine)
        return hello, self.examples[hello].split("\n")[2:], ""

    def hello_of(self, engine):
        """The hello world of an engine, or the example with most calls of the header."""
        for name in ("examples/hello_%s.c" % engine, "examples/%s.c" % engine):
            if name in self.examples:
                return name
        own = [f["name"] for f in self.api["functions"] if f["header"] == "carom/%s.h" % engine]
        def uses(name):
            return sum(self.examples[name].count(f + "(") for f in own)
        best = max((n for n in self.examples if n.startswith("examples/")), key=lambda n: (uses(n), n))
        if uses(best):
            return best
        return "examples/hello_%s.c" % engine.split("_")[0] if "examples/hello_%s.c" % engine.split("_")[0] in \
            self.examples else "examples/hello_soup.c"

    def function_page(self, function):
        name, target = function["name"], self.pages[function["name"]]
        header = header_page(function["header"])
        out = ['<h1 id="%s">%s</h1>' % (name, name)]
        marks = ["experimental: it may still change"] * function["experimental"] + ["inline"] * function["inline"]
        out.append('<p class="where"><a href="%s"><code>#include &lt;%s&gt;</code></a>%s%s</p>' % (
            os.path.relpath(header, "reference"), function["header"],
            ", " + escape(function["section"]) if function["section"] else "",
            " (%s)" % ", ".join(marks) if marks else ""))
        out.append("<pre class=\"signature\">%s</pre>" % self.link_names(signature(function), target))
        out.append(self.prose(function["doc"], target))
        if function["params"]:
            rows = []
            for p in function["params"]:
                notes = [{"in": "", "out": "is filled", "inout": "is read and changed"}[p["direction"]],
                         "may be NULL" if p["optional"] else "",
                         "as many as %s" % p["length"] if p.get("length") else "",
                         {"new": "made by the call: destroy it", "borrowed": "must stay after the call",
                          "released": "is freed", "result": "a result array"}.get(p["owner"], "")]
                rows.append("<tr><td><code>%s</code></td><td><code>%s</code></td><td>%s</td></tr>" % (
                    p["name"], self.link_names(p["type"], target), "; ".join(n for n in notes if n)))
            out.append('<h2 id="parameters">Parameters</h2><div class="table"><table><tr><th>name</th><th>type</th>'
                       "<th></th></tr>%s</table></div>" % "".join(rows))
        file, lines, what = self.example_of(name, function["header"])
        page = os.path.relpath(self.want(file), "reference")
        out.append('<h2 id="example">Example</h2><p>From <a href="%s">%s</a>%s:</p><pre>%s</pre>' % (
            page, file, what, self.mark_call(lines, name, target)))
        self.write(target, name, "\n".join(out), function["header"])
        self.index.append([name, target, words(function["doc"])])

    def mark_call(self, lines, name, target):
        text = self.link_names(textwrap.dedent("\n".join(lines)).strip("\n"), target)
        return re.sub(r"(<a [^>]*>%s</a>)" % name, r"<mark>\1</mark>", text)

    def header_pages(self):
        kinds = [("Constants", "constants"), ("Enums", "enums"), ("Structs", "structs"), ("Structures", "opaques"),
                 ("Callbacks", "callbacks"), ("Other types", "aliases")]
        rows = []
        for header in sorted(self.api["headers"], key=reading_order()):
            name, target = header["name"], header_page(header["name"])
            mine = [f for f in self.api["functions"] if f["header"] == name]
            out = ["<h1 id=\"%s\">%s</h1>" % (name.replace("/", "-"), name), self.prose(header_text(header), target)]
            out.append('<p class="where"><a href="%s">The header itself</a></p>' %
                       os.path.relpath(self.want("include/" + name), "reference"))
            sections = list(dict.fromkeys(f["section"] for f in mine))
            docs = {s["title"]: s["doc"] for s in header["sections"]}
            if mine:
                out.append('<h2 id="functions">Functions</h2>')
            for section in sections:
                if section:
                    out.append('<h3 id="s-%s">%s</h3>' % (slug(section), escape(section)))
                if docs.get(section):
                    out.append(self.prose(docs[section], target))
                out.append('<ul class="functions">')
                for f in mine:
                    if f["section"] == section:
                        out.append('<li><a href="%s.html"><code>%s</code></a> %s</li>' % (
                            f["name"], f["name"], self.link_names(first_sentence(f["doc"]), target)))
                out.append("</ul>")
            for title, kind in kinds:
                items = [i for i in self.api[kind] if i["header"] == name]
                if items:
                    out.append('<h2 id="%s">%s</h2>' % (kind, title))
                    out += [self.type_block(kind, item, target) for item in items]
                for item in items:
                    self.index.append([item["name"], self.pages[item["name"]], words(item["doc"])])
            self.write(target, name, "\n".join(out), name)
            self.index.append([name, target, words(header["doc"])])
            links = " ".join('<a href="%s.html">%s</a>' % (f["name"], f["name"]) for f in mine)
            rows.append('<h2 id="%s"><a href="%s">%s</a></h2><p>%s</p><p class="names">%s</p>' % (
                slug(name), os.path.relpath(target, "reference"), name,
                self.link_names(first_sentence(header_text(header)), "reference/index.html"), links))
        body = ('<h1 id="reference">Reference</h1><p>%d functions, by header. <a href="../docs/api.html">The API on one '
                "page</a> has their grammar.</p>%s" % (len(self.api["functions"]), "\n".join(rows)))
        self.write("reference/index.html", "Reference", body, "include/carom")
        self.index.append(["Reference", "reference/index.html", "functions by header"])

    def type_block(self, kind, item, target):
        out = ['<h3 id="%s"><code>%s</code></h3>' % (item["name"], item["name"])]
        if kind == "constants":
            out[0] = '<h3 id="%s"><code>%s</code> = %s</h3>' % (item["name"], item["name"], item["value"])
        out.append(self.prose(item["doc"], target))
        if kind == "callbacks":
            out.append("<pre>%s</pre>" % self.link_names(signature(item), target))
        rows = []
        for field in item.get("fields", []):
            rows.append([self.link_names(field["type"], target), field["name"], field["doc"]])
        for value in item.get("values", []):
            rows.append([str(value["number"]), value["name"], value["doc"]])
        if rows:
            out.append('<div class="table"><table>%s</table></div>' % "".join(
                "<tr><td><code>%s</code></td><td><code>%s</code></td><td>%s</td></tr>" % (
                    a, b, self.link_names(c, target)) for a, b, c in rows))
        return "\n".join(out)

    # ---- all of it

    def man_page(self):
        page, target = os.path.join(self.build, "carom.1"), "docs/carom.1.html"
        run = subprocess.run(["groff", "-man", "-Tutf8", "-P-cbou", page], capture_output=True, text=True, check=False) \
            if shutil.which("groff") else None
        if run is not None and run.returncode == 0 and run.stdout:
            text = run.stdout
        else:
            with open(page, encoding="utf-8") as file:
                text = file.read()
        out, last = ['<h1 id="carom.1">carom(1)</h1>'], 0
        for match in re.finditer(r"^([A-Z][A-Z ]+)$", text, flags=re.M):
            out.append("<pre>%s</pre>" % escape(text[last:match.start()].strip("\n")) if text[last:match.start()].strip()
                       else "")
            out.append('<h2 id="%s">%s</h2>' % (slug(match.group(1)), match.group(1).capitalize()))
            last = match.end()
        out.append("<pre>%s</pre>" % escape(text[last:].strip("\n")))
        body = "\n".join(out)
        self.add_sections("carom(1)", target, body)
        self.write(target, "carom(1)", body, "carom.1")

    def build_all(self):
        pages = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md"] + sorted(glob.glob("docs/*.md"))
        named = {page for _, group in CONTENTS for page in group}
        groups = [(heading, list(group)) for heading, group in CONTENTS]
        rest = [page for page in pages if page not in named]
        if rest:
            groups.append(("More", rest))
        for heading, group in groups:
            entries = [(short_title(page), self.target_of(page)) for page in group if os.path.exists(page)]
            if heading == "API":
                entries.insert(1, ("Reference", "reference/index.html"))
                entries.append(("The tool: carom(1)", "docs/carom.1.html"))
            self.contents.append((heading, entries))
        self.reference()
        for page in pages + sorted(glob.glob("docs/*.svg")) + ["include/carom", "bench/results/README.md"]:
            self.want(page)
        for function in self.api["functions"]:
            self.function_page(function)
        self.header_pages()
        self.man_page()
        while self.queue:
            self.make(self.queue.pop(0))
        self.write_search()
        for line in self.bad:
            print(line, file=sys.stderr)
        sys.exit(1 if self.bad else 0)


# ---- text

def header_page(header):
    return "reference/%s.html" % header.replace("carom/", "").replace("/", "-")


def header_text(header):
    """The first comment of a header, without its name."""
    text = re.sub(r"^\S+\.h: ", "", header["doc"])
    return text[:1].upper() + text[1:]


def reading_order():
    """Headers in the order of carom.h."""
    with open("include/carom/carom.h", encoding="utf-8") as file:
        order = re.findall(r'#include "(carom/\w+\.h)"', file.read())
    return lambda header: (order.index(header["name"]) if header["name"] in order else -1, header["name"])


def slug(text):
    return re.sub(r"[^a-z0-9 _-]", "", text.lower()).replace(" ", "-")


def words(markup):
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]*>", " ", markup))).strip()


def first_sentence(doc):
    text = " ".join(doc.split("\n\n")[0].split())
    text = re.split(r" - (?=[A-Z`_])", text)[0]
    match = re.match(r"(.*?[.:;])(?= [A-Z_]|$)", text)
    return match.group(1) if match else text


def short_title(page):
    with open(page, encoding="utf-8") as file:
        title = file.readline().lstrip("# ").strip()
    return title.replace("`", "")


def signature(function):
    params = [re.sub(r"(\*?)$", lambda m: "" if m.group(1) else " ", p["type"]) + p["name"] +
              ("[%d]" % p["array"] if p.get("array") else "") if not p["type"].endswith("*")
              else p["type"] + p["name"] for p in function["params"]]
    returns = function["returns"]
    head = returns + ("" if returns.endswith("*") else " ") + function["name"] + "("
    line = head + (", ".join(params) or "void") + ");"
    if len(line) <= 90:
        return line
    return head + (",\n" + " " * 4).join([""] + params)[1:] + ");"


def excerpt(lines, at):
    """The statement at a line with some lines around it, within its function."""
    first, last = at, at
    while first > 0 and at - first < EXCERPT and not re.match(r"\S", lines[first - 1]):
        first -= 1
    while last + 1 < len(lines) and last - at < EXCERPT and not re.match(r"\S", lines[last + 1]):
        last += 1
    return lines[first:last + 1]


def cells(row):
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", row.strip()[1:-1])]


def tables(text):
    """cmark knows no tables: each block of | rows becomes a table whose cells are Markdown of their own."""
    out, code, table, snippets = [], False, [], []

    def flush():
        if table:
            rows = [cells(row) for row in table if not re.fullmatch(r"\|[-| :]*", row.strip())]
            html_rows = []
            for i, row in enumerate(rows):
                tag = "th" if i == 0 else "td"
                marks = []
                for cell in row:
                    snippets.append(cell)
                    marks.append("<%s>\x02%d\x03</%s>" % (tag, len(snippets) - 1, tag))
                html_rows.append("<tr>%s</tr>" % "".join(marks))
            out.append('<div class="table"><table>\n%s\n</table></div>\n' % "\n".join(html_rows))
            table.clear()

    for line in text.split("\n"):
        if line.startswith("```"):
            code = not code
        if not code and line.startswith("|"):
            table.append(line)
            continue
        flush()
        out.append(line)
    flush()
    return "\n".join(out), snippets


def cmark(text):
    return subprocess.run(["cmark", "--unsafe"], input=text, capture_output=True, text=True, check=True).stdout


def markdown(file):
    """Title and HTML of a Markdown page. Headings get the names that GitHub gives them."""
    with open(file, encoding="utf-8") as stream:
        text, snippets = tables(stream.read())
    body = cmark(text)
    if snippets: # one run for all cells of the page
        made = cmark("\n\n\x02\n\n".join(s.replace("\n", " ") if s else "&nbsp;" for s in snippets))
        parts = [re.sub(r"^<p>(.*)</p>$", r"\1", part.strip(), flags=re.S) for part in made.split("<p>\x02</p>")]
        parts = [part if part != "\u00a0" else "" for part in parts]
        if len(parts) != len(snippets):
            sys.exit("%s: %d cells became %d" % (file, len(snippets), len(parts)))
        body = re.sub(r"\x02(\d+)\x03", lambda m: parts[int(m.group(1))], body)
    seen, title = {}, []

    def heading(match):
        level, inner = match.group(1), match.group(2)
        name = slug(html.unescape(re.sub(r"<[^>]*>", "", inner)))
        count = seen.get(name, 0)
        seen[name] = count + 1
        if level == "1" and not title:
            title.append(words(inner))
        return '<h%s id="%s%s">%s</h%s>' % (level, name, "-%d" % count if count else "", inner, level)

    body = re.sub(r"<h([1-6])>(.*?)</h\1>", heading, body, flags=re.S)
    return (title or [file])[0], body


FRAME = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>%(title)s - Carom</title>
<link rel="stylesheet" href="%(root)ssite.css">
</head>
<body data-root="%(root)s">
<header>
<label for="menu" class="button">Contents</label>
<a class="home" href="%(root)sindex.html">Carom</a>
<input id="search" type="search" placeholder="Search" aria-label="Search the manual" autocomplete="off">
<ol id="found" hidden></ol>
</header>
<input id="menu" type="checkbox" hidden>
<nav aria-label="Contents">
%(nav)s
</nav>
<main>
%(body)s
<footer>Made from %(source)s.</footer>
</main>
<script src="%(root)ssearch.js"></script>
</body>
</html>
"""

if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit("usage: docs.py OUT BUILD API.json")
    with open(sys.argv[3], encoding="utf-8") as description:
        Site(sys.argv[1], sys.argv[2], json.load(description)).build_all()
