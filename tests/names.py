#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every writer of the tool with hostile names, read back by parsers that are not ours.

usage: names.py CAROM [LISTS]

Each list is a seeded set of names (equal ones, case, slashes, quotes, markup, formulas, emoji, right
to left, bytes that are not UTF-8, 300 characters ...) given to the parts of one mesh, to the links
of a robot, and to files. What is written is read by Python's yaml, xml, csv, json, html and zipfile.
No part may be lost, no name may stand twice, and the mapping in the JSON must be the one that the
rules, written down here a second time, give.
"""
import base64
import csv
import gzip
import html.parser
import io
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import unicodedata
import zipfile
from xml.etree import ElementTree
from xml.sax.saxutils import quoteattr

try:
    import yaml
except ImportError:
    print("skipped: python3-yaml is not installed")
    sys.exit(77)

CAROM = os.path.abspath(sys.argv[1])
LONG = os.environ.get("CAROM_LONG") == "1"
# Covers take most of the time, so the short form has each list in three of their formats.
LISTS = 200 if LONG else int(sys.argv[2]) if len(sys.argv) > 2 else 8
PARTS = 16  # names of a list

WORDS = [
    b"", b" ", b"a", b"A", b"a_1", b"a/b", b"a_b", b"a\\b", b"a:b", b"base", b"BASE", b"base_1", b"null",
    b"yes", b"No", b"on", b"~", b"-", b"---", b"...", b".", b"..", b"../../x", b"/etc/passwd", b"C:\\x",
    b"CON", b"nul", b"com1.txt", b"LPT9", b"part_3", b"part", b"joint_0", b"carom", b"=1+1", b"+x", b"-x",
    b"@SUM(A1)", b"-1.5", b"+7", b"=cmd|'/c calc'!A0", b"1", b"0x10", b"1e5", b".5", b"+0x10", b"-inf", b"-1e5", b"+7_1", b"12:30:45",
    b"2026-11-17", b"true", b"? x", b"- x", b"x: y", b"x #y", b"{a: b}", b"[a]", b"&anchor", b"*alias",
    b"!tag", b"|", b">", b"%YAML 1.1", b"`x`", b"<b>", b"</title>", b"<script>alert(1)</script>", b"<img src=x onerror=alert(1)>", b"a&b",
    b"&amp;", b"&#0;", b"]]>", b"<!--", b"-->", b"\"", b"'", b"''", b"a\"b", b"a'b", b"a,b", b"a;b", b"a\tb",
    b"a\x01b", b"\x1b[31mred", b"\x7f", b"x\x85y".decode("latin-1").encode(), b"Geh\xe4use",
    "Gehäuse".encode(), "GEHÄUSE".encode(), "Geha\u0308use".encode(), "部品".encode(), "😀".encode(),
    "אב".encode(), "a\u202eb".encode(), "\u2028".encode(), "\u2029x".encode(), "\ufeffx".encode(),
    "K".encode(), b"k", b"\xff\xfe", b"\xed\xa0\x80", b"\xc0\xaf", b"\xe0\x80\xaf", b"\xf4\x90\x80\x80",
    b"\xf0\x9f\x98", b"\xef\xbf\xbe", b"\xef\xbf\xbf", b"\xf0\x9f\xbf\xbf", b"\xef\xb7\x90", b"\x80",
    b"\xc2\x80x", b"x" * 300, b"X" * 300, b"x" * 299 + b"y", "ä".encode() * 150, b"a ", b" a", b"a.", b"a. ",
    b"%s%n%d", b"$(id)", b"a|b", b"a*b?", b"a" + b"/" * 20 + b"b",
]


def make_list(generator):
    """Names of one file: of the words, doubled, changed in case, glued together or random bytes."""
    names = []
    while len(names) < PARTS:
        kind = generator.randrange(10)
        word = generator.choice(WORDS)
        if kind == 0 and names:
            word = generator.choice(names)
        elif kind == 1 and names:
            word = generator.choice(names).swapcase()
        elif kind == 2:
            word += generator.choice(WORDS)
        elif kind == 3:
            word = bytes(generator.randrange(1, 256) for _ in range(generator.randrange(1, 12)))
        elif kind == 4 and names:
            word = generator.choice(names) + b"_%d" % len(names)
        names.append(word.replace(b"\n", b" ").replace(b"\r", b" "))
    return names


# ---- The rules, a second time ----------------------------------------------------------------------


def decode(raw):
    """UTF-8, with U+FFFD for each byte that is none."""
    text = ""
    while raw:
        for size in (1, 2, 3, 4):
            try:
                text += raw[:size].decode()
                raw = raw[size:]
                break
            except UnicodeDecodeError:
                continue
        else:
            text, raw = text + "\ufffd", raw[1:]
    return text


def clean(text):
    def one(c):
        code = ord(c)
        bad = unicodedata.category(c) == "Cc" or code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF
        return "\ufffd" if bad else c

    return "".join(map(one, text))


def written_names(names, numbers):
    taken, result = set(), []
    for name, number in zip(names, numbers):
        name = clean(name).strip(" ")
        if not name:
            name = "part_%d" % number
        while name in taken:
            name += "_%d" % number
        taken.add(name)
        result.append(name)
    return result


# ---- Running ---------------------------------------------------------------------------------------


def check(condition, *what):
    if not condition:
        print("WRONG:", *what)
        sys.exit(1)


def carom(*arguments, code=0):
    """Runs the tool; what it says must be UTF-8 and without control characters. JSON escapes those
    below U+0020 alone."""
    done = subprocess.run([CAROM, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    check(done.returncode == code, arguments, done.returncode, done.stderr)
    text = done.stdout.decode()
    last = 0x1F if "--json" in arguments else 0x9F
    bad = [c for c in text if unicodedata.category(c) == "Cc" and ord(c) <= last and c != "\n"]
    check(not bad, "control characters", bad, arguments)
    return text


def carom_json(*arguments):
    return json.loads(carom(*arguments, "--json"))


def read(path):
    with open(path, "rb") as file:
        return file.read()


def write_ply(path, names):
    """A triangle per name, in a row in which each meets the next: covers of more take longer."""
    corners = [(0, 0, 0), (1, 0, 0), (0, 1, 0)]
    text = b"ply\nformat ascii 1.0\n"
    for i, name in enumerate(names):
        text += b"comment part %d " % i + name + b"\n"
    text += b"element vertex %d\nproperty double x\nproperty double y\nproperty double z\n" % (3 * len(names))
    text += b"element face %d\nproperty list uchar uint vertex_indices\nproperty uint part\n" % len(names)
    text += b"end_header\n"
    for i in range(len(names)):
        for x, y, z in corners:
            text += b"%g %d %d\n" % (x + 0.6 * i, y, z)
    for i in range(len(names)):
        text += b"3 %d %d %d %d\n" % (3 * i, 3 * i + 1, 3 * i + 2, i)
    with open(path, "wb") as file:
        file.write(text)


# ---- Covers ----------------------------------------------------------------------------------------


def spheres_of_yaml(mapping):
    """Keys and counts of a mapping node, which yaml.safe_load would give as text."""
    result = []
    for key, value in mapping.value:
        check(key.tag == "tag:yaml.org,2002:str", "a key is no text", key.value)
        result.append((key.value, len(value.value)))
    return result


def under(node, *path):
    for step in path:
        node = next(value for key, value in node.value if key.value == step)
    return node


def check_urdf(path, parts):
    robot = ElementTree.parse(path).getroot()
    links = [link.get("name") for link in robot.findall("link")]
    check(len(set(links)) == len(links), "links twice", links)
    joints = [(j.find("parent").get("link"), j.find("child").get("link")) for j in robot.findall("joint")]
    names = [j.get("name") for j in robot.findall("joint")]
    check(len(set(names)) == len(names), "joints twice")
    root = links[0]
    check(all(parent == root != child for parent, child in joints), "parents", joints)
    check([child for _, child in joints] == links[1:], "children")
    found = [(link.get("name"), len(link.findall("collision"))) for link in robot.findall("link")[1:]]
    check(found == parts, "links", found, parts)


def check_covers(folder, mesh, names, whole):
    pack = ["pack", mesh, "--outer", "--allow-open", "-n", "1", "-q"]
    decoded = [decode(bytes(32 if c < 32 or c == 127 else c for c in name)) for name in names]
    yml, xrdf, urdf = (os.path.join(folder, name) for name in ("c.yml", "c.xrdf", "c.urdf"))
    answer = carom_json(*pack, "-o", yml)
    written = [part["written"] for part in answer["parts"]]
    check([part["name"].strip(" ") for part in answer["parts"]] == [n.strip(" ") for n in decoded], "names")
    check(written == written_names(decoded, range(len(names))), "written", written)
    check(len(written) == len(names) == len(set(written)), "lost")
    parts = [(part["written"], part["spheres"]) for part in answer["parts"]]
    check(spheres_of_yaml(under(yaml.compose(read(yml)), "collision_spheres")) == parts, "curobo")
    carom(*pack, "-o", urdf)
    check_urdf(urdf, parts)
    if not whole:
        return
    carom(*pack, "-o", xrdf)
    node = under(yaml.compose(read(xrdf)), "geometry", "carom_spheres", "spheres")
    check(spheres_of_yaml(node) == parts, "xrdf")
    carom(*pack, "--check")  # the words
    rows = {}
    for form, ending in (("csv", "csv"), ("ply", "ply"), ("xyzr", "txt"), ("foam", "json"), ("yade", "yade")):
        rows[form] = os.path.join(folder, "all." + ending)
        carom(*pack, "--format", form, "-o", rows[form])
    total = answer["spheres"]
    with open(rows["csv"], newline="", encoding="utf-8") as file:
        numbers = [row["part"] for row in csv.DictReader(file)]
    check(sorted(set(map(int, numbers))) == list(range(len(names))) and len(numbers) == total, "csv")
    check(len(json.loads(read(rows["foam"]))[0]["spheres"]) == total, "foam")
    check(len(read(rows["xyzr"]).splitlines()) == total, "xyzr")
    check(len(read(rows["yade"]).splitlines()) == total, "yade")
    check(b"element vertex %d\n" % total in read(rows["ply"]), "ply")


def check_files(folder, mesh, forms):
    """Formats of one file per part: as many files as parts, also where case and accents are one."""
    for form in forms:
        target = os.path.join(folder, form)
        os.mkdir(target)
        pack = ["pack", mesh, "--outer", "--allow-open", "-n", "1", "-q", "--format", form]
        answer = carom_json(*pack, "-o", target + "/o.json")
        files = [os.path.basename(part["file"]) for part in answer["parts"]]
        check(sorted(files) == sorted(os.listdir(target)), "files", files, os.listdir(target))
        keys = {unicodedata.normalize("NFKC", name).casefold() for name in files}
        check(len(keys) == len(files), "files that are one elsewhere", files)
        for name in files:
            stem = name[2 : -len(".json")]
            check(not set(stem) & set("/\\:*?\"<>|") and stem == stem.strip(" .") and len(name.encode()) < 160, name)
            check(stem.split(".")[0].lower() not in {"con", "prn", "aux", "nul", "com1", "lpt9"}, "device", name)
            text = read(os.path.join(target, name))
            if form == "morphit":
                check(json.loads(text)["mesh_path"] == mesh, "morphit")
            else:
                check(len(text.splitlines()) == 1 + (form == "dem"), form)


# ---- Reports ---------------------------------------------------------------------------------------


class Page(html.parser.HTMLParser):
    """The tags and the scene of a page; no tag may come from a name."""

    def __init__(self, path):
        super().__init__(convert_charrefs=True)
        self.tags, self.scene, self.open, self.title = [], "", None, ""
        self.feed(read(path).decode())
        self.close()
        scene = base64.b64decode(self.scene)
        self.json = glb_json(gzip.decompress(scene) if scene[:2] == b"\x1f\x8b" else scene)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, [name for name, _ in attrs]))
        self.open = dict(attrs).get("id", tag)

    def handle_endtag(self, tag):
        self.open = None

    def handle_data(self, data):
        if self.open == "carom-scene":
            self.scene += data
        if self.open == "title":
            self.title += data


def glb_json(data):
    """The JSON of a GLB file, whose lengths must agree."""
    check(data[:4] == b"glTF" and int.from_bytes(data[4:8], "little") == 2, "no GLB")
    check(int.from_bytes(data[8:12], "little") == len(data), "length")
    length = int.from_bytes(data[12:16], "little")
    check(data[16:20] == b"JSON", "chunk")
    return json.loads(data[20 : 20 + length].decode())


def part_names(scene):
    return [node["name"] for node in scene["nodes"] if node.get("extras", {}).get("carom", {}).get("kind") == "part"]


PLAIN_TAGS = {}


def check_page(path, form):
    """The elements of a page are the same whatever the names are. Returns its scene."""
    page = Page(path)
    check(page.tags == PLAIN_TAGS.setdefault(form, page.tags), form, "tags differ")
    check(page.title == page.json["scenes"][0]["extras"]["carom"]["title"] or "\ufffd" in page.title, form, "title")
    return page.json


def as_cell(name):
    """What a CSV cell holds for a name."""
    number = re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", name)
    return "'" + name if name[:1] in tuple("=+-@") and not number else name


def check_scene(folder, files):
    out = {form: os.path.join(folder, "scene." + form) for form in ("csv", "json", "html", "glb", "bcf")}
    answer = carom_json("scene", *files, "-q", "-o", out["csv"])
    objects = answer["objects"]
    titles = {part["part"]: part["written"] for part in objects}
    check(len(set(titles.values())) == len(objects), "titles twice")
    check(list(titles.values()) == written_names([part["name"] for part in objects], titles), "titles")
    pairs = [(titles[c["a"]], titles[c["b"]]) for c in answer["clashes"]]
    check(len(pairs) >= len(objects) - 1, "clashes")
    text = read(out["csv"]).decode()
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    check([(r["name_a"], r["name_b"]) for r in rows] == [(as_cell(a), as_cell(b)) for a, b in pairs], "csv")
    check(all(float(row["x"]) == float(row["x"]) for row in rows), "numbers stay numbers")
    for form in ("json", "html", "glb", "bcf"):
        carom("scene", *files, "-q", "-o", out[form])
    check([part["written"] for part in json.loads(read(out["json"]))["objects"]] == list(titles.values()), "json")
    for scene in (check_page(out["html"], "scene"), glb_json(read(out["glb"]))):
        check(part_names(scene) == list(titles.values()), "parts", part_names(scene))
        rows = scene["scenes"][0]["extras"]["carom"]["lists"][0]["rows"]
        check([tuple(row["cells"][1:3]) for row in rows] == pairs, "clashes in GLB")
    found = []
    with zipfile.ZipFile(out["bcf"]) as archive:
        check(len(set(archive.namelist())) == len(archive.namelist()), "archive")
        for name in archive.namelist():
            if name.endswith(".png"):
                continue
            root = ElementTree.fromstring(archive.read(name))
            if name.endswith("viewpoint.bcfv"):
                found.append(tuple(e.text for e in root.findall("Components/Selection/Component/AuthoringToolId")))
                coloured = root.findall("Components/Coloring/Color/Components/Component/AuthoringToolId")
                check(tuple(e.text for e in coloured) == found[-1], "coloured")
            elif name.endswith("markup.bcf"):
                check(root.find("Topic/Title").text.count(", ") >= 1, "title")
    check(found == pairs, "bcf", found, pairs)


# ---- Meshes and files ------------------------------------------------------------------------------


def check_meshes(folder, mesh, names):
    for ending, form in (("obj", "obj"), ("stl", "stl-ascii"), ("ply", "ply-ascii")):
        path = os.path.join(folder, "converted." + ending)
        carom("convert", mesh, path, "--format", form)
        parts = carom_json("info", path)["meshes"][0]["parts"]
        check(len(parts) == len(names), ending, "has", len(parts), "parts")
    lines = [line for line in read(os.path.join(folder, "converted.obj")).split(b"\n") if line.startswith(b"o ")]
    check(len(set(lines)) == len(lines) == len(names), "objects twice")
    carom_json("info", mesh)
    carom("info", mesh)
    carom_json("pairs", mesh, "--by-part")
    carom("pairs", mesh, "--by-part")


def check_views(folder, mesh):
    """Pages and GLB files have the names of the file; bytes that are no UTF-8 become U+FFFD, as in JSON."""
    names = [part["name"] for part in carom_json("info", mesh)["meshes"][0]["parts"]]
    wanted = [name or "part %d" % i for i, name in enumerate(names)]
    for command in (["view", mesh], ["pairs", mesh], ["info", mesh], ["kfree", mesh], ["convert", mesh]):
        for form in ("html", "glb"):
            path = os.path.join(folder, command[0] + "." + form)
            carom(*command, *([] if command[0] == "convert" else ["-o"]), path)
            scene = check_page(path, command[0]) if form == "html" else glb_json(read(path))
            check(part_names(scene) == wanted, command[0], form, part_names(scene))


def check_robot(folder, names):
    """Links keep their names, as planners know them by these."""
    links, text = [], '<robot name="r">\n'
    for name in names:
        name = clean(decode(name)).strip(" ")
        if name and name not in links and len(name.encode()) < 200:
            links.append(name)
    for name in links:
        text += "<link name=%s><collision><geometry><sphere radius=\"1\"/></geometry></collision></link>\n" % (
            quoteattr(name)
        )
    path = os.path.join(folder, "r.urdf")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text + "</robot>\n")
    yml = os.path.join(folder, "r.yml")
    answer = carom_json("pack", path, "--outer", "-q", "-o", yml)
    check([part["written"] for part in answer["parts"]] == links, "links")
    check([key for key, _ in spheres_of_yaml(under(yaml.compose(read(yml)), "collision_spheres"))] == links, "keys")
    out = os.path.join(folder, "r_out.urdf")
    carom("pack", path, "--outer", "-q", "-o", out)
    robot = ElementTree.parse(out).getroot()
    check([link.get("name") for link in robot.findall("link")] == links, "copied links")
    check(all(len(link.findall("collision")) == 1 for link in robot.findall("link")), "copied spheres")


def check_file_names(folder, mesh, generator):
    """A mesh of one part without a name is called as its file, which may hold line ends."""
    target = os.path.join(os.fsencode(folder), b"meshes")
    os.mkdir(target)
    paths = []
    for i in range(6):
        name = generator.choice(WORDS)[:200].replace(b"/", b"_") + generator.choice([b"", b"\n", b"\r", b"=\n"])
        os.mkdir(os.path.join(target, b"%d" % i))
        path = os.path.join(target, b"%d" % i, name + b".obj")
        with open(path, "wb") as file:
            file.write(mesh)
        paths.append(path)
    check_scene(folder, paths)


def main():
    with tempfile.TemporaryDirectory() as top:
        one = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n"
        plain = os.path.join(top, "plain.ply")
        write_ply(plain, [b"name %d" % i for i in range(PARTS)])
        check_views(top, plain)  # whose pages have no tags but their own
        for number in range(LISTS):
            generator = random.Random(number)
            names = make_list(generator)
            folder = os.path.join(top, str(number))
            os.mkdir(folder)
            mesh = os.path.join(folder, "in.ply")
            write_ply(mesh, names)
            try:
                forms = ("morphit", "liggghts", "dem")
                check_covers(folder, mesh, names, LONG or number == 0)
                check_files(folder, mesh, forms if LONG else forms[number % 3 : number % 3 + 1])
                check_scene(folder, [mesh])
                check_meshes(folder, mesh, names)
                check_views(folder, mesh)
                check_robot(folder, names)
                check_file_names(folder, one, generator)
            except BaseException:
                print("list", number, names)
                raise
    print("%d lists of %d names, every writer: as they should be" % (LISTS, PARTS))


main()
