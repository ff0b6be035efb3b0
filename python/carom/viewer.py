# SPDX-License-Identifier: MIT
"""Meshes and spheres to look at: as GLB for any program, and as a page that turns them, with Carom's own viewer.

>>> import carom
>>> data = carom.to_glb(carom.Mesh.shape("torus"))
>>> data[:4]
b'glTF'

The page is one file that fetches nothing. Its template is that of the tool (viewer/ of the project), and comes with the
wheel; names are data in it, never markup.
"""
from __future__ import annotations

import base64
import gzip
import html
import json
import os
import struct
import tempfile
from typing import Any, Optional, Sequence

import numpy as np

from ._abi import VERSION
from ._arrays import ArrayLike, floats, indices, poses as as_poses
from ._errors import UnsupportedError
from ._mesh import Mesh, mesh_view
from ._packing import Cover, Packing

__all__ = ["show", "to_glb", "to_html"]

# glTF's numbers of component types and of primitives.
_FLOAT, _UINT = 5126, 5125
_POINTS, _TRIANGLES = 0, 4
_UPRIGHT = {"y": [0.0, 0.0, 0.0, 1.0], "z": [-0.5**0.5, 0.0, 0.0, 0.5**0.5], "x": [0.0, 0.0, 0.5**0.5, 0.5**0.5]}
_LIT = [0.85, 0.15, 0.1, 1.0]  # the colour of faces in pairs
_MOST_INLINE = 200_000  # triangles that a notebook shows unasked
_NO_STILL = ("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")


class _Scene:
    """A glTF file that grows: nodes below a root that turns the file's up to glTF's."""

    def __init__(self, title: str, up: str) -> None:
        if up not in _UPRIGHT:
            raise ValueError(f'up is {up!r}; give "x", "y" or "z"')
        self.info: dict[str, Any] = {"format": 1, "kind": "view", "title": title, "up": up, "unit": "", "inputs": [],
                                     "command": "carom.show", "answers": [], "lists": []}
        self.nodes: list[Any] = [{"name": "carom", "rotation": _UPRIGHT[up], "children": []}]
        self.meshes: list[Any] = []
        self.accessors: list[Any] = []
        self.views: list[Any] = []
        self.bytes = bytearray()

    def accessor(self, values: np.ndarray, kind: int, limits: bool = False) -> int:
        data = np.ascontiguousarray(values, "<f4" if kind == _FLOAT else "<u4")
        self.views.append({"buffer": 0, "byteOffset": len(self.bytes), "byteLength": data.nbytes})
        self.bytes += data.tobytes()
        width = 1 if data.ndim == 1 else data.shape[1]
        found = {"bufferView": len(self.views) - 1, "componentType": kind, "count": len(data),
                 "type": {1: "SCALAR", 3: "VEC3"}[width]}
        if limits:
            found["min"], found["max"] = data.min(axis=0).tolist(), data.max(axis=0).tolist()
        self.accessors.append(found)
        return len(self.accessors) - 1

    def node(self, name: str, extras: dict[str, Any], primitive: dict[str, Any], pose: Any) -> None:
        self.meshes.append({"primitives": [primitive]})
        node: dict[str, Any] = {"name": name, "mesh": len(self.meshes) - 1, "extras": {"carom": extras}}
        if pose is not None:
            found = pose.one(0)
            w, x, y, z = found[3:] / (np.linalg.norm(found[3:]) or 1.0)
            node["translation"] = found[:3].tolist()
            if (x, y, z) != (0.0, 0.0, 0.0):
                node["rotation"] = [float(x), float(y), float(z), float(w)]
        self.nodes.append(node)
        self.nodes[0]["children"].append(len(self.nodes) - 1)

    def triangles(self, name: str, vertices: np.ndarray, corners: np.ndarray, pose: Any, **extras: Any) -> None:
        attributes = {"POSITION": self.accessor(vertices, _FLOAT, True)}
        primitive = {"mode": _TRIANGLES, "attributes": attributes, "indices": self.accessor(corners.reshape(-1), _UINT)}
        self.node(name, extras, primitive, pose)

    def spheres(self, name: str, spheres: np.ndarray, pose: Any, **extras: Any) -> None:
        attributes = {"POSITION": self.accessor(spheres[:, :3], _FLOAT, True),
                      "_RADIUS": self.accessor(spheres[:, 3], _FLOAT)}
        self.node(name, extras, {"mode": _POINTS, "attributes": attributes}, pose)

    def glb(self) -> bytes:
        tree = {"asset": {"version": "2.0", "generator": f"carom {VERSION}"}, "scene": 0,
                "scenes": [{"nodes": [0], "extras": {"carom": self.info}}], "nodes": self.nodes, "meshes": self.meshes,
                "accessors": self.accessors, "bufferViews": self.views, "buffers": [{"byteLength": len(self.bytes)}]}
        if not self.meshes:  # glTF has no empty lists
            for key in ("meshes", "accessors", "bufferViews", "buffers"):
                del tree[key]
            del self.nodes[0]["children"]
        text = json.dumps(tree, allow_nan=False).encode()
        text += b" " * (-len(text) % 4)
        chunks = struct.pack("<I4s", len(text), b"JSON") + text
        if self.bytes:
            chunks += struct.pack("<I4s", len(self.bytes), b"BIN\0") + bytes(self.bytes)
        return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks


def _triangles(item: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Vertices and triangles of anything that is a mesh, and the face that each triangle came from."""
    view = mesh_view(item)
    mesh = item if isinstance(item, Mesh) else None
    if mesh is None:
        vertices, corners, offsets = view.keep[:3] if len(view.keep) > 1 else (None, None, None)
        if vertices is None:
            mesh = view.keep[0]
        elif offsets is None and corners is not None:
            return vertices, corners, np.arange(len(corners))
        else:
            mesh = Mesh(view)
    triangles, faces = mesh.triangulate()
    return triangles.vertices, triangles.faces, faces


def _spheres(item: Any) -> Optional[np.ndarray]:
    """(n, 4) of what consists of spheres, else None."""
    if isinstance(item, (Packing, Cover)):
        return item.spheres
    if isinstance(item, np.ndarray) and item.ndim == 2 and item.shape[1] == 4:
        return floats(item, (None, 4), "spheres")
    return None


def _numbers(label: str, value: Any) -> dict[str, Any]:
    return {"label": label, "value": value}


def _scene(items: Sequence[Any], poses: Optional[Sequence[ArrayLike]], pairs: Optional[ArrayLike], title: str,
           up: str) -> _Scene:
    """Parts and spheres in their poses, and the faces of pairs lit: of the first mesh with itself, or of two."""
    posed: list[Any] = [None] * len(items) if poses is None else [as_poses(pose) for pose in poses]
    if len(posed) != len(items):
        raise ValueError(f"there are {len(posed)} poses for {len(items)} things")
    lit = None if pairs is None else indices(pairs, (None, 2), "pairs")
    scene, meshes, low, high = _Scene(title, up), 0, [], []
    two = lit is not None and sum(_spheres(item) is None for item in items) > 1
    for number, (item, pose) in enumerate(zip(items, posed)):
        spheres = _spheres(item)
        if spheres is not None:
            if len(spheres):
                scene.spheres(f"spheres {number}", spheres, pose, kind="spheres", id=f"spheres-{number}")
                low.append((spheres[:, :3] - spheres[:, 3:]).min(axis=0))
                high.append((spheres[:, :3] + spheres[:, 3:]).max(axis=0))
            scene.info["answers"].append(_numbers("spheres", len(spheres)))
            continue
        vertices, triangles, faces = _triangles(item)
        scene.info["answers"].append(_numbers("triangles", len(triangles)))
        if len(triangles):
            scene.triangles(f"part {number}", vertices, triangles, pose, kind="part", id=f"part-{number}", part=number,
                            faces=scene.accessor(faces, _UINT))
            low.append(vertices.min(axis=0))
            high.append(vertices.max(axis=0))
        if lit is not None and meshes < 2 and len(triangles):
            chosen = np.isin(faces, lit[:, min(meshes, 1)] if two else lit)
            if chosen.any():
                scene.triangles(f"faces {number}", vertices, triangles[chosen], pose, kind="patch", part=number,
                                id=f"faces-{number}", faces=scene.accessor(faces[chosen], _UINT),
                                style={"colour": _LIT, "overlay": True})
        meshes += 1
    if lit is not None:
        scene.info["answers"].append(_numbers("pairs", len(lit)))
    if low:
        scene.info["size"] = float(np.linalg.norm(np.max(high, axis=0) - np.min(low, axis=0)))
    return scene


def to_glb(*items: Any, poses: Optional[Sequence[ArrayLike]] = None, pairs: Optional[ArrayLike] = None,
           title: str = "carom", up: str = "z") -> bytes:
    """The content of a GLB file: meshes, packings, covers and spheres (n, 4), in poses; faces of `pairs` are lit."""
    return _scene(items, poses, pairs, title, up).glb()


def _template() -> str:
    here = os.path.dirname(os.path.abspath(__file__))
    for path in (os.environ.get("CAROM_VIEWER"), os.path.join(here, "viewer.html"),
                 os.path.join(here, "..", "..", "build", "viewer", "viewer.html")):
        if path and os.path.isfile(path):
            with open(path, encoding="utf-8") as file:
                return file.read()
    raise UnsupportedError("the page of the viewer is not there: it comes with the wheel, and make builds it as "
                           "build/viewer/viewer.html; to_glb() needs no page")


def to_html(*items: Any, poses: Optional[Sequence[ArrayLike]] = None, pairs: Optional[ArrayLike] = None,
            title: str = "carom", up: str = "z") -> str:
    """A page with all of it, in one file that fetches nothing."""
    compressed = gzip.compress(to_glb(*items, poses=poses, pairs=pairs, title=title, up=up), 6, mtime=0)
    text = _template()
    for marker, value in (("@CAROM_TITLE@", html.escape(title)), ("@CAROM_EXTRA_HEAD@", ""), ("@CAROM_ENCODING@", "gzip"),
                          ("@CAROM_FALLBACK@", _NO_STILL), ("@CAROM_SCENE@", base64.b64encode(compressed).decode())):
        text = text.replace(marker, value)
    return text


class Page:
    """A page, shown by notebooks where it stands."""

    def __init__(self, text: str, path: Optional[str] = None) -> None:
        self.text, self.path = text, path

    def _repr_html_(self) -> str:
        return (f'<iframe srcdoc="{html.escape(self.text)}" sandbox="allow-scripts" '
                'style="width: 100%; height: 480px; border: 0"></iframe>')

    def __repr__(self) -> str:
        return f"<carom page: {self.path or f'{len(self.text)} characters'}>"


def _in_notebook() -> bool:
    try:
        from IPython import get_ipython  # type: ignore
    except ImportError:
        return False
    return type(get_ipython()).__name__ == "ZMQInteractiveShell"


def show(*items: Any, poses: Optional[Sequence[ArrayLike]] = None, pairs: Optional[ArrayLike] = None,
         title: str = "carom", up: str = "z", path: Optional[str] = None) -> Page:
    """Shows meshes, packings, covers and spheres (n, 4): in a notebook below the cell, else in the browser; with a path,
    writes the page there. `pairs` lights faces: of the first mesh with itself, or of two."""
    text = to_html(*items, poses=poses, pairs=pairs, title=title, up=up)
    if path is None and _in_notebook():
        return Page(text)
    if path is None:
        import webbrowser

        handle, target = tempfile.mkstemp(".html", "carom-")
        os.close(handle)
    else:
        target = os.fspath(path)
    with open(target, "w", encoding="utf-8") as file:
        file.write(text)
    if path is None:
        webbrowser.open("file://" + target)
    return Page(text, target)


def frame(item: Any) -> str:
    """What a notebook shows of a mesh or of spheres: the page or, of large ones and without the viewer, a line."""
    line = f"<pre>{html.escape(repr(item))}</pre>"
    try:
        if isinstance(item, Mesh) and item.face_count > _MOST_INLINE:
            return line + "<p>carom.show() shows it.</p>"
        return line + Page(to_html(item, title=repr(item)))._repr_html_()
    except UnsupportedError:
        return line
