# SPDX-License-Identifier: MIT
"""What the command-line tool makes and the library does not: the report of clashes as a page, and the surface of an
overlap. The tool is the one that CAROM_TOOL names, or that of this package (bin/carom), of the build that the library is
from, or of PATH.

>>> from carom import tool
>>> tool.find()[-5:]                    # where it is
'carom'
"""
from __future__ import annotations

import json
import os
import shutil
import stat
import struct
import subprocess
import tempfile
from typing import Any, Optional, Sequence

import numpy as np

from ._arrays import ArrayLike, number, one_pose
from ._core import Context, lib, pick
from ._errors import Cancelled, CaromError, UnsupportedError
from ._mesh import Mesh, MeshLike, PathLike
from .viewer import _triangles

__all__ = ["find", "overlap_region", "report", "run"]

_LOOK = 0.05  # seconds between two looks for a cancelled call
_CURVE = "where the surfaces meet"  # the tool's name for it


def find() -> str:
    """The path of the tool."""
    here = os.path.dirname(os.path.abspath(__file__))
    beside = os.path.join(here, "bin", "carom")
    if os.path.isfile(beside) and not os.access(beside, os.X_OK):  # unpacked by a program that forgets modes
        try:
            os.chmod(beside, os.stat(beside).st_mode | stat.S_IXUSR)
        except OSError:
            beside = ""
    given, built = os.environ.get("CAROM_TOOL"), os.path.join(os.path.dirname(lib._name), "..", "carom")
    candidates: list[Optional[str]] = [given] if given else [beside, built, shutil.which("carom")]
    for path in candidates:
        if path and os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    raise UnsupportedError("the tool carom is not there: install it, or set CAROM_TOOL to its path (make builds "
                           "build/carom)")


def run(*arguments: str, context: Optional[Context] = None) -> str:
    """What the tool prints. Its failure is raised with its message; the context's progress function may cancel it."""
    progress = pick(context)._report
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as message:
        process = subprocess.Popen([find(), *arguments], stdin=subprocess.DEVNULL, stdout=out, stderr=message)
        try:
            while True:
                if progress is not None and progress(f"carom {arguments[0]}", 0.0):
                    raise Cancelled("cancelled")
                try:
                    status = process.wait(_LOOK)
                    break
                except subprocess.TimeoutExpired:
                    pass
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait()
        out.seek(0)
        message.seek(0)
        if status:
            text = message.read().decode("utf-8", "replace").strip()
            raise CaromError(text or f"carom {arguments[0]} ended with {status}")
        return out.read().decode("utf-8", "replace")


def report(parts: Sequence[MeshLike], path: PathLike, clearance: float = 0.0, *, names: Sequence[str] = (),
           depth: bool = True, context: Optional[Context] = None) -> None:
    """Writes the report of clashes of parts: a page (.html), or .csv, .json, .bcf, .glb, .png, by the name (carom scene)."""
    with tempfile.TemporaryDirectory() as folder:
        whole = os.path.join(folder, "parts.ply")
        Mesh.join(parts, names, context=context).save(whole, context=context)
        options = ["--depth"] if depth else []
        if number(clearance, "clearance") > 0:
            options += ["--clearance", repr(float(clearance))]
        run("scene", whole, *options, "-o", os.path.abspath(path), context=context)


def overlap_region(a: MeshLike, b: MeshLike, pose: ArrayLike = None, *,
                   context: Optional[Context] = None) -> tuple[np.ndarray, np.ndarray]:
    """The surface of what two closed meshes both enclose, and the curve in which their surfaces meet (carom query): corners
    of triangles (n, 3, 3) and ends of segments (m, 2, 3), as float32, to look at. `pose` moves b.

    >>> import carom
    >>> box = carom.Mesh.shape("box")
    >>> triangles, curve = carom.tool.overlap_region(box, box, [1, 0.5, 0.25])
    >>> x, y, z = triangles.astype(float).transpose(1, 0, 2)
    >>> round((x * np.cross(y, z)).sum() / 6, 5) == round(carom.overlap(box, box, [1, 0.5, 0.25]).volume, 5)
    True
    """
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, name) for name in ("a.ply", "b.ply", "both.glb")]
        for mesh, path in zip((a, b), paths):
            Mesh(*_triangles(mesh)[:2], context=context).save(path, context=context)
        moved = one_pose(pose)
        options = []
        if moved is not None:
            options = ["--pose=" + ",".join(repr(float(v)) for v in (*moved[4:], *moved[:4]))]
        run("query", *paths[:2], *options, "-o", paths[2], context=context)
        with open(paths[2], "rb") as file:
            content = file.read()
    found: dict[str, list[np.ndarray]] = {"region": [], "curve": []}
    size = struct.unpack_from("<I", content, 12)[0]
    tree, data = json.loads(content[20:20 + size]), content[28 + size:]
    for node in tree["nodes"]:
        kind = node.get("extras", {}).get("carom", {}).get("kind")
        if kind == "region" or kind == "curve" and node.get("name") == _CURVE:  # others are lines between points
            found[kind] += [_points(tree, data, node, p) for p in tree["meshes"][node["mesh"]]["primitives"]]
    together = {kind: np.concatenate(points) if points else np.zeros((0, 3), np.float32) for kind, points in found.items()}
    return together["region"].reshape(-1, 3, 3), together["curve"].reshape(-1, 2, 3)


def _points(tree: Any, data: bytes, node: Any, primitive: Any) -> np.ndarray:
    """The corners of a primitive of a GLB file that the tool wrote."""
    def values(index: int, dtype: str, width: int) -> np.ndarray:
        accessor = tree["accessors"][index]
        view = tree["bufferViews"][accessor["bufferView"]]
        start = view.get("byteOffset", 0) + accessor.get("byteOffset", 0)
        return np.frombuffer(data, dtype, accessor["count"] * width, start).reshape(-1, width)

    points = values(primitive["attributes"]["POSITION"], "<f4", 3)
    if "indices" in primitive:
        points = points[values(primitive["indices"], "<u4", 1)[:, 0]]
    moved = points * node.get("scale", [1.0] * 3) + node.get("translation", [0.0] * 3)
    return moved.astype(np.float32)
