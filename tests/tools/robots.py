#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts the parts and triangles of robots, and compares them with what `carom scene` reads.

usage: robots.py CAROM FOLDER

The URDF files FOLDER/*/*.urdf are read by Python's own XML parser, meshes by the counters below.
Meshes that need assimp (.dae) are counted where CAROM reads them; their robots are left out, with a
message, where it does not. Also checks that fingers that mimic a joint are where it takes them.
"""
import glob
import json
import os
import struct
import subprocess
import sys
import xml.etree.ElementTree as tree


def count_stl(data):
    if len(data) >= 84 and len(data) == 84 + 50 * struct.unpack("<I", data[80:84])[0]:
        return struct.unpack("<I", data[80:84])[0]
    return data.count(b"endfacet")


def count_obj(data):
    lines = (line.split() for line in data.splitlines())
    return sum(len(words) - 3 for words in lines if words and words[0] == b"f")


def primitives(mesh, tag):
    """The corners of each face of a COLLADA mesh."""
    faces = []
    for part in mesh.iter(tag + "triangles"):
        faces += [3] * int(part.get("count"))
    for part in mesh.iter(tag + "polylist"):
        faces += [int(n) for n in part.find(tag + "vcount").text.split()]
    for part in mesh.iter(tag + "polygons"):
        width = 1 + max(int(i.get("offset")) for i in part.iter(tag + "input"))
        faces += [len(p.text.split()) // width for p in part.iter(tag + "p")]
    return faces


def count_dae(data):
    root = tree.fromstring(data)
    tag = root.tag[: root.tag.index("}") + 1]
    sizes = {}
    for geometry in root.iter(tag + "geometry"):
        mesh = geometry.find(tag + "mesh")
        sizes["#" + geometry.get("id")] = sum(max(n - 2, 0) for n in primitives(mesh, tag))
    nodes = {"#" + n.get("id"): n for n in root.iter(tag + "node") if n.get("id")}

    def count(node):
        total = sum(sizes[i.get("url")] for i in node.findall(tag + "instance_geometry"))
        total += sum(count(child) for child in node.findall(tag + "node"))
        return total + sum(count(nodes[i.get("url")]) for i in node.findall(tag + "instance_node"))

    scene = root.find(tag + "scene").find(tag + "instance_visual_scene").get("url")
    found = [s for s in root.iter(tag + "visual_scene") if "#" + s.get("id") == scene]
    return sum(count(node) for node in found[0].findall(tag + "node"))


COUNTERS = {".stl": count_stl, ".obj": count_obj, ".dae": count_dae}


def count_mesh(folder, name):
    for start in ("package://", "file://"):
        if name.startswith(start):
            name = name[len(start):].lstrip("/")
    with open(os.path.join(folder, name), "rb") as file:
        return COUNTERS[os.path.splitext(name)[1].lower()](file.read())


def count_robot(path, kind):
    """The name of the link and the triangles of each part, in their order."""
    parts = []
    for link in tree.parse(path).getroot().findall("link"):
        for element in link.findall(kind):
            shape = element.find("geometry")[0]
            triangles = 0
            if shape.tag == "mesh":
                triangles = count_mesh(os.path.dirname(path), shape.get("filename"))
            parts.append((link.get("name"), triangles))
    return parts


def run(carom, path, options):
    command = [carom, "scene", path, "-q", "--json"] + options
    done = subprocess.run(command, capture_output=True, check=False)
    return json.loads(done.stdout)


def check(carom, path, kind):
    """Returns whether what is read is what is there; None where this build cannot read it."""
    answer = run(carom, path, ["--visual"] if kind == "visual" else [])
    if answer.get("status") == "unsupported":
        print(f"{os.path.basename(path)} {kind}: not counted: {answer['error']}")
        return None
    ours = [(part["name"].split("/")[0], part["triangles"]) for part in answer.get("objects", [])]
    truth = count_robot(path, kind)
    words = f"{len(truth)} parts, {sum(n for _, n in truth)} triangles"
    print(f"{os.path.basename(path)} {kind}: {words}" + ("" if ours == truth else "; NOT READ SO"))
    if ours != truth:
        print(f"  read {ours}\n  true {truth}\n  {answer.get('error', '')}")
    return ours == truth


def check_fingers(carom, path):
    """Both fingers of the gripper meet their knuckles at points that mirror each other."""
    for value in ("0", "0.85"):
        clashes = run(carom, path, ["--joints", "drive_joint=" + value])["clashes"]
        points = {c["name_a"]: c["point"] for c in clashes}
        left, right = points["left_finger"], points["right_finger"]
        if abs(left[1] + right[1]) > 1e-4 or abs(left[2] - right[2]) > 1e-4:
            print(f"drive_joint={value}: the fingers are at {left} and {right}")
            return False
    return True


def main():
    carom, folder = sys.argv[1], sys.argv[2]
    robots = sorted(glob.glob(os.path.join(folder, "*", "*.urdf")))
    results = [check(carom, path, kind) for path in robots for kind in ("collision", "visual")]
    fingers = [check_fingers(carom, path) for path in robots if "xarm" in path]
    if len(robots) < 6:
        print(f"only {len(robots)} robots in {folder}")
    return 0 if len(robots) >= 6 and False not in results + fingers else 1


sys.exit(main())
