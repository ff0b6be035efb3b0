# SPDX-License-Identifier: MIT
"""Writes scenes as the tool does: glTF 2.0 binary with Carom's extras, and pages around them."""
import base64
import gzip
import json
import math
import struct
import zlib

BYTE, SHORT, INT, FLOAT = 5121, 5123, 5125, 5126
POINTS, LINES, TRIANGLES = 0, 1, 4
WIDTHS = {BYTE: "B", SHORT: "H", INT: "I", FLOAT: "f"}
UPRIGHT = {
    "y": [0, 0, 0, 1],
    "z": [-math.sqrt(0.5), 0, 0, math.sqrt(0.5)],
    "x": [0, 0, math.sqrt(0.5), math.sqrt(0.5)],
}


class Scene:
    def __init__(self, up="z", **info):
        self.json = {
            "asset": {"version": "2.0"},
            "scene": 0,
            "scenes": [{"nodes": [0], "extras": {"carom": {"format": 1, "up": up, **info}}}],
            "nodes": [{"name": "carom", "rotation": UPRIGHT[up], "children": []}],
            "meshes": [],
            "accessors": [],
            "bufferViews": [],
            "buffers": [{}],
        }
        self.info = self.json["scenes"][0]["extras"]["carom"]
        self.bytes = bytearray()

    def accessor(self, values, kind, width=3, bounds=False):
        """values: flat numbers, an array or bytes."""
        data = (
            values
            if isinstance(values, (bytes, bytearray))
            else struct.pack("<%d%s" % (len(values), WIDTHS[kind]), *values)
        )
        size = struct.calcsize(WIDTHS[kind]) * width
        count, stride = len(data) // size, size
        if size % 4 and width > 1:
            stride = size + -size % 4
            data = b"".join(data[i * size : (i + 1) * size] + bytes(stride - size) for i in range(count))
        view = {"buffer": 0, "byteOffset": len(self.bytes), "byteLength": len(data)}
        if stride != size:
            view["byteStride"] = stride
        self.bytes += data + bytes(-len(data) % 4)
        self.json["bufferViews"].append(view)
        accessor = {
            "bufferView": len(self.json["bufferViews"]) - 1,
            "componentType": kind,
            "count": count,
            "type": {1: "SCALAR", 3: "VEC3", 4: "VEC4"}[width],
        }
        if kind == BYTE:
            accessor["normalized"] = True
        if bounds:
            accessor["min"] = [min(values[k::width]) for k in range(width)]
            accessor["max"] = [max(values[k::width]) for k in range(width)]
        self.json["accessors"].append(accessor)
        return len(self.json["accessors"]) - 1

    def node(self, name, extras, parent=0, **more):
        self.json["nodes"].append({"name": name, **({"extras": {"carom": extras}} if extras else {}), **more})
        index = len(self.json["nodes"]) - 1
        self.json["nodes"][parent].setdefault("children", []).append(index)
        return index

    def mesh(self, mode, attributes, indices=None):
        primitive = {"mode": mode, "attributes": attributes}
        if indices is not None:
            primitive["indices"] = indices
        self.json["meshes"].append({"primitives": [primitive]})
        return len(self.json["meshes"]) - 1

    def part(self, name, vertices, triangles, quantised=False, colours=None, moving=False, kind="part", **extras):
        """vertices: [(x, y, z)], triangles: [(a, b, c)]; colours: one of four bytes per face. `moving` puts the mesh
        below a node of its own, which an animation can move."""
        if colours:
            vertices = [vertices[v] for f in triangles for v in f]
            triangles = [(i, i + 1, i + 2) for i in range(0, len(vertices), 3)]
        flat = [x for v in vertices for x in v]
        more = {}
        if quantised:
            low = [min(flat[k::3]) for k in range(3)]
            step = max(max(flat[k::3]) - low[k] for k in range(3)) / 65535 or 1
            flat = [round((x - low[i % 3]) / step) for i, x in enumerate(flat)]
            more = {"translation": low, "scale": [step] * 3}
        attributes = {"POSITION": self.accessor(flat, SHORT if quantised else FLOAT, 3, True)}
        if colours:
            attributes["COLOR_0"] = self.accessor([x for c in colours for _ in range(3) for x in c], BYTE, 4)
        indices = None if colours else self.accessor([v for f in triangles for v in f], INT, 1)
        if "values" in extras:
            extras["values"] = self.accessor(extras["values"], FLOAT, 1)
        if "faces" in extras:
            extras["faces"] = self.accessor(extras["faces"], INT, 1)
        extras = {"kind": kind, **extras}
        mesh = self.mesh(TRIANGLES, attributes, indices)
        if moving:
            node = self.node(name, extras)
            self.node(name, None, node, mesh=mesh, **more)
            return node
        return self.node(name, extras, mesh=mesh, **more)

    def spheres(self, name, centres, radii, frames=None, **extras):
        attributes = {
            "POSITION": self.accessor([x for c in centres for x in c], FLOAT, 3, True),
            "_RADIUS": self.accessor(radii, FLOAT, 1),
        }
        if "values" in extras:
            extras["values"] = self.accessor(extras["values"], FLOAT, 1)
        if frames:
            extras["frames"] = [self.accessor([x for c in frame for x in c], FLOAT) for frame in frames]
        return self.node(name, {"kind": "spheres", **extras}, mesh=self.mesh(POINTS, attributes))

    def lines(self, name, points, kind="curve", **extras):
        """points: two per segment."""
        mesh = self.mesh(LINES, {"POSITION": self.accessor([x for p in points for x in p], FLOAT, 3, True)})
        return self.node(name, {"kind": kind, **extras}, mesh=mesh)

    def points(self, name, points, **extras):
        mesh = self.mesh(POINTS, {"POSITION": self.accessor([x for p in points for x in p], FLOAT, 3, True)})
        return self.node(name, {"kind": "points", **extras}, mesh=mesh)

    def arrow(self, name, start, vector, **extras):
        end = [a + b for a, b in zip(start, vector)]
        return self.lines(name, [start, end], "arrow", **{"from": list(start), "vector": list(vector)}, **extras)

    def animate(self, node, times, translations=None, rotations=None):
        animation = self.json.setdefault("animations", [{"channels": [], "samplers": []}])[0]
        for path, values in ("translation", translations), ("rotation", rotations):
            if values:
                animation["channels"].append(
                    {"sampler": len(animation["samplers"]), "target": {"node": node, "path": path}}
                )
                animation["samplers"].append(
                    {
                        "input": self.accessor(times, FLOAT, 1),
                        "interpolation": "LINEAR",
                        "output": self.accessor(
                            [x for v in values for x in v], FLOAT, 3 if path == "translation" else 4
                        ),
                    }
                )

    def glb(self):
        self.json["buffers"][0]["byteLength"] = len(self.bytes)
        text = json.dumps(self.json).encode()
        text += b" " * (-len(text) % 4)
        return (
            struct.pack("<4sIIII", b"glTF", 2, 28 + len(text) + len(self.bytes), len(text), 0x4E4F534A)
            + text
            + struct.pack("<II", len(self.bytes), 0x004E4942)
            + self.bytes
        )


def png(width, height, colour):
    """A picture of one colour, for the place of the still."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = (b"\0" + bytes(colour) * width) * height
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    )


def page(template, scene, title="A page", packed=True):
    """The page with the scene in it, as text."""
    data = scene.glb() if isinstance(scene, Scene) else scene
    if packed:
        data = gzip.compress(data, 6)
    text = template
    for marker, value in {
        "@CAROM_TITLE@": title,
        "@CAROM_EXTRA_HEAD@": "",
        "@CAROM_FALLBACK@": base64.b64encode(png(64, 40, (200, 120, 60))).decode(),
        "@CAROM_SCENE@": base64.b64encode(data).decode(),
    }.items():
        assert text.count(marker) == 1, marker
        text = text.replace(marker, value)
    return text


# ---- shapes


def box(low, high):
    vertices = [
        (high[0] if i & 1 else low[0], high[1] if i & 2 else low[1], high[2] if i & 4 else low[2]) for i in range(8)
    ]
    faces = []
    for a, b, c, d in (0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5):
        faces += [(a, b, c), (a, c, d)]
    return vertices, faces


def torus(centre, big, small, m, n, axis=2):
    vertices, faces = [], []
    for i in range(m):
        for j in range(n):
            u, v = 2 * math.pi * i / m, 2 * math.pi * j / n
            r = big + small * math.cos(v)
            p = [r * math.cos(u), r * math.sin(u), small * math.sin(v)]
            p = p[-axis - 1 + 3 :] + p[: -axis - 1 + 3] if axis != 2 else p
            vertices.append(tuple(a + b for a, b in zip(p, centre)))
            a, b = i * n + j, (i + 1) % m * n + j
            c, d = (i + 1) % m * n + (j + 1) % n, i * n + (j + 1) % n
            faces += [(a, b, c), (a, c, d)]
    return vertices, faces


def cylinder(low, radius, height, n):
    vertices = [(low[0], low[1], low[2]), (low[0], low[1], low[2] + height)]
    faces = []
    for i in range(n):
        x, y = low[0] + radius * math.cos(2 * math.pi * i / n), low[1] + radius * math.sin(2 * math.pi * i / n)
        vertices += [(x, y, low[2]), (x, y, low[2] + height)]
        a, b = 2 + 2 * i, 2 + 2 * ((i + 1) % n)
        faces += [(0, b, a), (1, a + 1, b + 1), (a, b, b + 1), (a, b + 1, a + 1)]
    return vertices, faces
