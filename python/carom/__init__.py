# SPDX-License-Identifier: MIT
"""Exact 3D collision detection.

>>> import carom
>>> cloth = carom.Mesh.shape("cloth")
>>> carom.self_pairs(cloth.vertices, cloth.faces).shape[1]    # which faces meet?
2
>>> ball, box = carom.Mesh.shape("sphere", size=0.5), carom.Mesh.shape("box")
>>> str(carom.overlap(ball, box).relation)                    # a ball inside a box
'a-inside-b'

A mesh is (vertices, faces), a carom.Mesh, a path, or a mesh of trimesh, meshio, open3d or pyvista. A pose is tx ty tz qw
qx qy qz, a (4, 4) matrix, or a translation; it moves the second thing. Functions prepare what they need for one answer;
classes keep it for many.
"""
from __future__ import annotations

try:
    import numpy as _numpy  # noqa: F401
except ImportError:
    raise ImportError("carom needs numpy, which is not installed: pip install numpy, or apt-get install "
                      "python3-numpy") from None

from typing import Any, Optional

import numpy as np

from . import _abi, exact, pose
from ._abi import CONVEX_FEATURE_EDGE as FEATURE_EDGE
from ._abi import CONVEX_FEATURE_FACE as FEATURE_FACE
from ._abi import CONVEX_FEATURE_INDEX as FEATURE_INDEX
from ._abi import CONVEX_FEATURE_VERTEX as FEATURE_VERTEX
from ._abi import VERSION as __version__
from ._abi import (Backend, BallsPairKind, BroadMethod, ConvexKind, ConvexSearch, ConvexStart, CudaOrder, GasEventKind,
                   GasFormat, GasMethod, GasQueue, GridHash, Isa, MeshFormat, MeshPropertyType, Owner, PackingFormat,
                   PackingMethod, QueryEngine, Relation, RepairOutcome, RobotFormat, RobotJointKind, RobotShapeKind,
                   RobotStage, RobotVerdict, Scalar, SceneContactMethod, SceneObjectKind, Shape, SoupDegenerate,
                   SoupImpactKind, SoupMethod, SoupSegmentKind, Status, TreeFormat, TreeMethod, TriangleRelation)
from ._arrays import ArrayLike
from ._broad import Broad, BroadStep
from ._clash import Clash, PathContact, along_path, clashes, solid_or_soup
from ._convex import Convex, ConvexHint, Hull
from ._core import NONE, Context, build_info, default_context, isa_available
from ._errors import (BadFileError, BadInputError, Cancelled, CaromError, FileError, InvalidError, NoDeviceError,
                      NoMemoryError, TooLargeError, UnsupportedError)
from ._gas import Gas
from ._mesh import Mesh, MeshLike, PathLike, check, guess_format, inspect
from ._packing import Cover, Packing, measure_spheres
from ._parts import kfree_in_parts, pairs_in_parts
from ._query import advise
from ._records import (Advance, Advice, Ball, BallsInfo, BallsMost, BroadInfo, Closest, ConvexAnswer, ConvexMost, CoverInfo,
                       CoverMeasure, Event, Gap, GasInfo, HullInfo, Impact, Interval, KFree, KFreeMost, Lens, Manifold,
                       Measures, NearPair, Origin, Overlap, PackingInfo, PackingOverlap, PartsReport, Repair, Report,
                       RobotInfo, SafeStep, SceneInfo, SolidInfo, SoupInfo, Toi, TreeAnswer, TreeGap, TreeInfo,
                       TriangleIntersection)
from ._robot import Robot, Urdf
from ._scene import Scene, SceneStep
from ._solid import Solid
from ._soup import ON_SURFACE, Soup
from ._tree import Balls, Tree, TreeHint
from . import tool
from .viewer import show, to_glb, to_html

for _error in (BadFileError, BadInputError, Cancelled, CaromError, FileError, InvalidError, NoDeviceError, NoMemoryError,
               TooLargeError, UnsupportedError):
    _error.__module__ = "carom"  # as users write it
del _error


def load(path: PathLike, *, context: Optional[Context] = None) -> Mesh:
    """Reads OBJ, PLY, STL or OFF, each also gzipped, or what assimp reads where that is installed."""
    return Mesh.load(path, context=context)


def info(mesh: MeshLike, faces: Any = None, *, context: Optional[Context] = None) -> Report:
    """What a mesh or a file is like: counts, closed?, exact volume, open and non-manifold edges.

    >>> import carom
    >>> report = carom.info(carom.Mesh.shape("torus"))
    >>> report.closed, report.shells
    (True, 1)
    """
    return inspect(mesh, faces, context=context)


def self_pairs(mesh: MeshLike, faces: Any = None, reach: Optional[float] = None, *,
               context: Optional[Context] = None) -> np.ndarray:
    """(n, 2) uint32: all pairs of faces of a mesh that meet, exactly; with a reach, those at most so far apart.

    >>> import carom
    >>> carom.self_pairs([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, -1], [0.5, 0, 1], [0.2, 0.9, 1]],
    ...                  [[0, 1, 2], [3, 4, 5]]).tolist()
    [[0, 1]]
    """
    if mesh is None:
        raise TypeError("a mesh is missing: give vertices and faces, a carom.Mesh or a path")
    return Soup(mesh, faces, context=context).self_pairs(reach, context=context)


def pairs(a: MeshLike, b: MeshLike, pose: ArrayLike = None, reach: Optional[float] = None, *,
          context: Optional[Context] = None) -> np.ndarray:
    """(n, 2) uint32: all pairs (face of a, face of b) that meet, or are at most `reach` apart; `pose` moves b.

    >>> import carom
    >>> torus = carom.Mesh.shape("torus")
    >>> len(carom.pairs(torus, torus, [5, 0, 0]))
    0
    """
    return _soup(a, context).pairs(_soup(b, context), pose, reach=reach, context=context)


def distance(a: MeshLike, b: MeshLike, pose: ArrayLike = None, *, context: Optional[Context] = None) -> Gap:
    """The least distance of the surfaces of a and b, and where it is; `pose` moves b. What is inside another is apart
    from its surface: overlap() knows.

    >>> import carom
    >>> box = carom.Mesh.shape("box")
    >>> carom.distance(box, box, [5, 0, 0]).distance
    3.0
    """
    return _soup(a, context).distance(_soup(b, context), pose, context=context)


def overlap(a: MeshLike, b: MeshLike, pose: ArrayLike = None, *, context: Optional[Context] = None) -> Overlap:
    """How much two closed meshes overlap, whether one is inside the other, how far apart they are, and the force that
    separates them; `pose` moves b.

    >>> import carom
    >>> box = carom.Mesh.shape("box")
    >>> round(carom.overlap(box, box, [1, 0, 0]).volume, 12)
    4.0
    """
    return _solid(a, context).overlap(_solid(b, context), pose, distance=True, context=context)


def pack(mesh: MeshLike, count: int = 1000, *, context: Optional[Context] = None, **options: Any) -> Packing:
    """Fills a closed mesh with disjoint spheres, largest first; options are those of Packing.

    >>> import carom
    >>> len(carom.pack(carom.Mesh.shape("box"), 20))
    20
    """
    return Packing(mesh, count=count, context=context, **options)


def cover(mesh: MeshLike, count: int = 64, *, context: Optional[Context] = None, **options: Any) -> Cover:
    """Spheres that together contain a closed mesh, for motion planners; options are those of Cover.

    >>> import carom
    >>> len(carom.cover(carom.Mesh.shape("box"), 8))
    8
    """
    return Cover(mesh, count=count, context=context, **options)


def _soup(mesh: MeshLike, context: Optional[Context]) -> Soup:
    return mesh if isinstance(mesh, Soup) else Soup(mesh, context=context)


def _solid(mesh: MeshLike, context: Optional[Context]) -> Solid:
    return mesh if isinstance(mesh, Solid) else Solid(mesh, context=context)


# Written out: type checkers take what is imported here and not listed for private.
__all__ = [
    "Advance", "Advice", "Backend", "BadFileError", "BadInputError", "Ball", "Balls", "BallsInfo", "BallsMost",
    "BallsPairKind", "Broad", "BroadInfo", "BroadMethod", "BroadStep", "Cancelled", "CaromError", "Clash", "Closest",
    "Context", "Convex", "ConvexAnswer", "ConvexHint", "ConvexKind", "ConvexMost", "ConvexSearch", "ConvexStart",
    "Cover", "CoverInfo", "CoverMeasure", "CudaOrder", "Event", "FEATURE_EDGE", "FEATURE_FACE", "FEATURE_INDEX",
    "FEATURE_VERTEX", "FileError", "Gap", "Gas", "GasEventKind", "GasFormat", "GasInfo", "GasMethod", "GasQueue",
    "GridHash", "Hull", "HullInfo", "Impact", "Interval", "InvalidError", "Isa", "KFree", "KFreeMost", "Lens",
    "Manifold", "Measures", "Mesh", "MeshFormat", "MeshPropertyType", "NONE", "NearPair", "NoDeviceError",
    "NoMemoryError", "ON_SURFACE", "Origin", "Overlap", "Owner", "Packing", "PackingFormat", "PackingInfo",
    "PackingMethod", "PackingOverlap", "PartsReport", "PathContact", "QueryEngine", "Relation", "Repair",
    "RepairOutcome", "Report", "Robot", "RobotFormat", "RobotInfo", "RobotJointKind", "RobotShapeKind", "RobotStage",
    "RobotVerdict", "SafeStep", "Scalar", "Scene", "SceneContactMethod", "SceneInfo", "SceneObjectKind", "SceneStep",
    "Shape", "Solid", "SolidInfo", "Soup", "SoupDegenerate", "SoupImpactKind", "SoupInfo", "SoupMethod",
    "SoupSegmentKind", "Status", "Toi", "TooLargeError", "Tree", "TreeAnswer", "TreeFormat", "TreeGap", "TreeHint",
    "TreeInfo", "TreeMethod", "TriangleIntersection", "TriangleRelation", "UnsupportedError", "Urdf", "advise",
    "along_path", "build_info", "check", "clashes", "cover", "default_context", "distance", "exact", "guess_format",
    "info", "isa_available", "kfree_in_parts", "load", "measure_spheres", "overlap", "pack", "pairs",
    "pairs_in_parts", "pose", "self_pairs", "show", "solid_or_soup", "to_glb", "to_html", "tool",
]
