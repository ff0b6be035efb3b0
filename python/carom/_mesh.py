# SPDX-License-Identifier: MIT
"""Meshes: files, shapes by formula, inspection, welding and triangulation; and what counts as a mesh elsewhere."""
from __future__ import annotations

import ctypes
import os
from typing import Any, Mapping, Optional, Sequence, Union

import numpy as np

from . import _abi
from ._abi import MeshFormat, MeshPropertyType, RepairOutcome, Scalar, Shape
from ._arrays import ArrayLike, Results, View, borrowed, faces as as_faces, indices, number, packed, positions
from ._core import Context, Handle, _count, byref, lib, pick
from ._records import Origin, Repair, Report, info, read

PathLike = Union[str, "os.PathLike[str]"]
MeshLike = Any  # a Mesh, (vertices, faces), a path, or a mesh of trimesh, meshio, open3d or pyvista

_PROPERTY_TYPES = {np.dtype(str(t)): t for t in ("float64", "float32", "int8", "uint8", "int16", "uint16", "int32",
                                                   "uint32")}


def path_bytes(path: PathLike) -> bytes:
    """A path for C."""
    encoded = os.fsencode(path)
    if b"\0" in encoded:
        raise ValueError(f"the path {path!r} holds a zero byte")
    return encoded


class Mesh(Handle):
    """Positions and faces, with parts and properties. Immutable.

    >>> import carom
    >>> tetrahedron = carom.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]],
    ...                          [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]])
    >>> round(tetrahedron.inspect().volume, 6)
    0.166667

    vertices: (n, 3) float32 or float64; or a mesh of trimesh, meshio, open3d or pyvista, without faces then.
    faces: (m, 3) or (m, k) integers, or a list of faces of different lengths.
    parts, part_names: the part of each face, and names of parts.
    vertex_properties, face_properties: arrays by name, which PLY files hold.
    """

    _destroy = staticmethod(lib.carom_mesh_destroy)

    def __init__(self, vertices: MeshLike, faces: Any = None, *, parts: Optional[ArrayLike] = None,
                 part_names: Sequence[str] = (), vertex_properties: Optional[Mapping[str, ArrayLike]] = None,
                 face_properties: Optional[Mapping[str, ArrayLike]] = None,
                 context: Optional[Context] = None) -> None:
        super().__init__()
        if isinstance(vertices, (str, os.PathLike)):
            raise TypeError("Mesh() takes arrays; carom.load() reads a file")
        view = mesh_view(vertices, faces)
        extra = _properties(vertex_properties, view.vertex_count, False)
        extra += _properties(face_properties, view.face_count, True)
        if parts is not None or part_names:
            if isinstance(part_names, str) or not all(isinstance(name, str) for name in part_names):
                raise TypeError("part_names is a list of str")
            names = [path_bytes(name) for name in part_names]
            view._set_parts(None if parts is None else indices(parts, (None,), "parts"), names)
        if extra:
            table = (_abi.mesh_property * len(extra))(*[item for item, _ in extra])
            view.keep += [table, extra]
            view.c.properties, view.c.property_count = ctypes.addressof(table), len(table)
        pick(context)._call(lib.carom_mesh_create, byref(view.c), byref(self._pointer), reads=view_reads(view))

    @classmethod
    def _new(cls) -> Mesh:
        """An owner for a mesh that a call makes."""
        self = cls.__new__(cls)
        Handle.__init__(self)
        return self

    @classmethod
    def load(cls, path: PathLike, format: Union[str, MeshFormat] = MeshFormat.GUESS, *,
             context: Optional[Context] = None) -> Mesh:
        """Reads OBJ, PLY, STL or OFF, each also gzipped, or what assimp reads where that is installed."""
        self = cls._new()
        pick(context)._call(lib.carom_mesh_load, path_bytes(path), MeshFormat.of(format), byref(self._pointer))
        return self

    @classmethod
    def from_bytes(cls, data: bytes, format: Union[str, MeshFormat] = MeshFormat.GUESS, name: Optional[str] = None, *,
                   context: Optional[Context] = None) -> Mesh:
        """Reads the content of a file. `name` stands for the file in messages and for guessing the format."""
        self = cls._new()
        data = _bytes(data)
        pick(context)._call(lib.carom_mesh_load_memory, data, len(data), MeshFormat.of(format),
                            None if name is None else path_bytes(name), byref(self._pointer))
        return self

    @staticmethod
    def save_shape(path: PathLike, shape: Union[str, Shape] = Shape.SPHERE, *,
                   format: Union[str, MeshFormat] = MeshFormat.GUESS, detail: int = 0, size: float = 0.0,
                   seed: int = 0, dtype: Any = np.float64, polygons: bool = False, phase: float = 0.0,
                   context: Optional[Context] = None) -> None:
        """Makes a mesh by formula and writes it: the bytes of `shape` and `save`. A cloth is written to binary PLY row by
        row, so that it may be larger than memory.

        >>> import carom, os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "cloth.ply")
        ...     carom.Mesh.save_shape(path, "cloth", detail=20)
        ...     carom.Mesh.load(path).face_count
        800
        """
        definition = _abi.shape_def(
            shape=Shape.of(shape), detail=_count(detail, "detail"), size=number(size, "size"),
            seed=_count(seed, "seed"), scalar=scalar_of(dtype), polygons=bool(polygons), phase=number(phase, "phase"))
        pick(context)._call(lib.carom_shape_save, byref(definition), MeshFormat.of(format), path_bytes(path))

    @classmethod
    def shape(cls, shape: Union[str, Shape] = Shape.SPHERE, *, detail: int = 0, size: float = 0.0, ratio: float = 0.0,
              parts: int = 0, p: int = 0, q: int = 0, seed: int = 0, dtype: Any = np.float64, polygons: bool = False,
              phase: float = 0.0, context: Optional[Context] = None) -> Mesh:
        """Makes a mesh by formula: sphere, globe, torus, box, cylinder, cone, knot, chazelle, cloth, chain, shards or
        grid. Zeros are the defaults of each shape. `phase` is how far the waves of a cloth have advanced, in radians: the
        same seed at several phases is one sheet that moves.

        >>> import carom
        >>> carom.Mesh.shape("box").face_count
        12
        >>> cloth, later = (carom.Mesh.shape("cloth", detail=10, phase=phase) for phase in (0.0, 0.1))
        >>> bool((cloth.faces == later.faces).all()), bool((cloth.vertices == later.vertices).all())
        (True, False)
        """
        self = cls._new()
        definition = _abi.shape_def(
            shape=Shape.of(shape), detail=_count(detail, "detail"), parts=_count(parts, "parts"),
            size=number(size, "size"), ratio=number(ratio, "ratio"), p=_count(p, "p"), q=_count(q, "q"),
            seed=_count(seed, "seed"), scalar=scalar_of(dtype), polygons=bool(polygons),
            phase=number(phase, "phase"))
        pick(context)._call(lib.carom_shape_make, byref(definition), byref(self._pointer))
        return self

    @classmethod
    def from_polygons(cls, vertices: ArrayLike, corners: ArrayLike, offsets: ArrayLike, *,
                      context: Optional[Context] = None) -> Mesh:
        """A mesh of polygons: face f has the corners [offsets[f], offsets[f + 1]), as `corners` and `offsets` give them.

        >>> import carom
        >>> house = carom.Mesh.from_polygons([[0, 0, 0], [2, 0, 0], [2, 2, 0], [1, 3, 0], [0, 2, 0]], [0, 1, 2, 4, 4, 2, 3],
        ...                                  [0, 4, 7])
        >>> house.face_count, house.inspect().area
        (2, 5.0)
        """
        starts = np.asarray(offsets)
        if starts.ndim != 1 or starts.dtype.kind not in "iu" or len(starts) == 0 or starts[0] != 0:
            raise ValueError("offsets are whole numbers, one more than there are faces, and begin with 0")
        flat = indices(corners, (None,), "corners")
        if starts[-1] != len(flat) or (starts[1:] < starts[:-1]).any():
            raise ValueError(f"offsets ascend to {starts[-1]}; they must ascend to the number of corners, {len(flat)}")
        return cls(View(positions(vertices), flat, packed(starts, np.uint64)), context=context)

    @classmethod
    def join(cls, meshes: Sequence[MeshLike], names: Sequence[str] = (), *, context: Optional[Context] = None) -> Mesh:
        """One mesh of triangles, of which each mesh is a part, with its name.

        >>> import carom
        >>> two = carom.Mesh.join([carom.Mesh.shape("box"), carom.Mesh.shape("torus")], ["box", "ring"])
        >>> two.part_names, int((two.parts == 0).sum())
        (['box', 'ring'], 12)
        """
        from .viewer import _triangles  # which knows all that counts as a mesh

        if isinstance(names, str):
            raise TypeError("names is a list of str")
        found = [_triangles(mesh)[:2] for mesh in meshes]
        if not found:
            raise ValueError("there are no meshes to join")
        first = np.cumsum([0] + [len(vertices) for vertices, _ in found])
        return cls(np.concatenate([vertices for vertices, _ in found]),
                   np.concatenate([faces.astype(np.int64) + start for (_, faces), start in zip(found, first)]),
                   parts=np.repeat(np.arange(len(found)), [len(faces) for _, faces in found]),
                   part_names=[str(name) for name in names] or [f"part {i}" for i in range(len(found))], context=context)

    def _view(self) -> Any:
        if not self._pointer:
            raise self._closed_error()
        view = _abi.mesh_view()
        lib.carom_mesh_get_view(self._pointer, byref(view))
        return view

    @property
    def vertex_count(self) -> int:
        """The number of vertices."""
        return self._view().vertex_count

    @property
    def face_count(self) -> int:
        """The number of faces."""
        return self._view().face_count

    @property
    def vertices(self) -> np.ndarray:
        """(n, 3) float32 or float64: the mesh's own memory, read-only."""
        view = self._view()
        dtype = np.float32 if view.scalar == Scalar.FLOAT32 else np.float64
        return borrowed(self, view.positions, 3 * view.vertex_count, dtype).reshape(-1, 3)

    @property
    def corners(self) -> np.ndarray:
        """Vertex indices, face after face."""
        view = self._view()
        return borrowed(self, view.corners, int(self.offsets[-1]) if view.offsets else 3 * view.face_count, np.uint32)

    @property
    def offsets(self) -> np.ndarray:
        """Face f has the corners [offsets[f], offsets[f + 1])."""
        view = self._view()
        if not view.offsets:
            return np.arange(0, 3 * view.face_count + 1, 3, dtype=np.uint64)
        return borrowed(self, view.offsets, view.face_count + 1, np.uint64)

    @property
    def faces(self) -> np.ndarray:
        """(m, 3) uint32: the mesh's own memory, read-only. Polygons have corners and offsets, or are triangulated."""
        if self._view().offsets:
            raise ValueError("the mesh has polygons: use corners and offsets, or triangulate() it")
        return self.corners.reshape(-1, 3)

    @property
    def parts(self) -> np.ndarray:
        """The part of each face."""
        view = self._view()
        if not view.parts:
            return np.zeros(view.face_count, np.uint32)
        return borrowed(self, view.parts, view.face_count, np.uint32)

    @property
    def part_names(self) -> list[str]:
        """The names of the parts, "" where there is none."""
        view = self._view()
        if not view.part_names:
            return [""] * view.part_count
        table = (ctypes.c_char_p * view.part_count).from_address(view.part_names)
        return [name.decode("utf-8", "replace") for name in table]

    def part(self, part: Union[int, str]) -> tuple[np.ndarray, np.ndarray]:
        """The vertices of all parts, and the triangles of one, which is given by its number or its name.

        >>> import carom
        >>> box = carom.Mesh.shape("box")
        >>> two = carom.Mesh(box.vertices, box.faces, parts=[0] * 10 + [1] * 2, part_names=["tub", "lid"])
        >>> len(two.part("lid")[1]), len(two.part(0)[1])
        (2, 10)
        """
        names = self.part_names
        if isinstance(part, str):
            if names.count(part) != 1:
                raise ValueError(f"{names.count(part)} parts have the name {part!r}; the names are {names}")
            part = names.index(part)
        elif _count(part, "part") >= max(len(names), 1):
            raise ValueError(f"there is no part {part}; the mesh has {max(len(names), 1)}")
        return self.vertices, np.ascontiguousarray(self.faces[self.parts == part])

    def _property_arrays(self, of_faces: bool) -> dict[str, np.ndarray]:
        view = self._view()
        found = {}
        for item in (_abi.mesh_property * view.property_count).from_address(view.properties or 1):
            if bool(item.of_faces) == of_faces:
                dtype = np.dtype(str(MeshPropertyType(item.type)))
                count = view.face_count if of_faces else view.vertex_count
                found[item.name.decode()] = borrowed(self, item.values, count, dtype)
        return found

    @property
    def vertex_properties(self) -> dict[str, np.ndarray]:
        """Values per vertex, by name."""
        return self._property_arrays(False)

    @property
    def face_properties(self) -> dict[str, np.ndarray]:
        """Values per face, by name."""
        return self._property_arrays(True)

    @property
    def origin(self) -> Origin:
        """The file that the mesh came from, and what it held that a mesh does not."""
        return info(self, lib.carom_mesh_get_origin, Origin, _abi.mesh_origin)

    def bounds(self, *, context: Optional[Context] = None) -> np.ndarray:
        """(2, 3): the lower and the upper corner of the box around all vertices."""
        return mesh_bounds(self, context=context)

    def inspect(self, *, context: Optional[Context] = None) -> Report:
        """What the mesh is like: counts, closed?, exact volume, open and non-manifold edges."""
        return inspect(self, context=context)

    def weld(self, *, by_part: bool = False, context: Optional[Context] = None) -> Mesh:
        """A mesh in which vertices with equal coordinates are one; by_part: within each part alone."""
        made = Mesh._new()
        function = lib.carom_mesh_weld_parts if by_part else lib.carom_mesh_weld
        pick(context)._call(function, byref(self._view()), byref(made._pointer), reads=(self,))
        return made

    def triangulate(self, *, fan: bool = False, context: Optional[Context] = None) -> tuple[Mesh, np.ndarray]:
        """A mesh of triangles, and the face that each came from."""
        made, origins = Mesh._new(), Results("numbers")
        definition = _abi.mesh_triangulate_def(fan=bool(fan))
        pick(context)._call(lib.carom_mesh_triangulate, byref(self._view()), byref(definition), byref(made._pointer),
                            origins.out, reads=(self,))
        return made, origins.array()

    def boundary_loops(self, *, context: Optional[Context] = None) -> list[np.ndarray]:
        """The vertices of each boundary loop, which goes round its hole as a face would that fills it.

        >>> import carom
        >>> box = carom.Mesh.shape("box")
        >>> lid = carom.Mesh(box.vertices, box.faces[:-2])
        >>> [len(loop) for loop in lid.boundary_loops()]
        [4]
        """
        loops, vertices = Results("repair_loops"), Results("numbers")
        pick(context)._call(lib.carom_repair_list_loops, byref(self._view()), loops.out, vertices.out, reads=(self,))
        return _split(loops.array(), vertices.array())

    def nonmanifold_edges(self, *, context: Optional[Context] = None) -> np.ndarray:
        """(n, 2): the vertices of the edges with more than two sides."""
        edges = Results("pairs")
        pick(context)._call(lib.carom_repair_list_edges, byref(self._view()), edges.out, reads=(self,))
        return edges.array()

    def nonmanifold_vertices(self, *, context: Optional[Context] = None) -> np.ndarray:
        """The vertices in which alone surfaces touch."""
        vertices = Results("numbers")
        pick(context)._call(lib.carom_repair_list_vertices, byref(self._view()), vertices.out, reads=(self,))
        return vertices.array()

    def flipped_faces(self, *, context: Optional[Context] = None) -> np.ndarray:
        """The faces that go the other way round than most of those that they are connected with."""
        faces = Results("numbers")
        pick(context)._call(lib.carom_repair_list_flipped, byref(self._view()), faces.out, None, reads=(self,))
        return faces.array()

    def close_holes(self, *, max_edges: int = 0, context: Optional[Context] = None) -> tuple[Mesh, Repair]:
        """The mesh with its holes filled by triangles that meet no other face, decided exactly; and which holes were
        filled, or why they were left. Longer holes than `max_edges` are left; 0: none is too long.

        >>> import carom
        >>> box = carom.Mesh.shape("box")
        >>> closed, repair = carom.Mesh(box.vertices, box.faces[:-2]).close_holes()
        >>> closed.inspect().closed, repair.filled, repair.new_pairs, [str(o) for o in repair.outcomes]
        (True, 1, 0, ['filled'])
        """
        made, found, loops, vertices = Mesh._new(), _abi.repair_result(), Results("repair_loops"), Results("numbers")
        definition = _abi.repair_def(max_edges=_count(max_edges, "max_edges"))
        pick(context)._call(lib.carom_repair_close, byref(self._view()), byref(definition), byref(made._pointer),
                            byref(found), loops.out, vertices.out, reads=(self,))
        table = loops.array()
        return made, Repair(found.loops, found.filled, found.left, found.triangles, found.new_pairs, found.open_edges,
                            _split(table, vertices.array()), [RepairOutcome(outcome) for outcome in table.outcome])

    def save(self, path: PathLike, format: Union[str, MeshFormat] = MeshFormat.GUESS, *,
             context: Optional[Context] = None) -> None:
        """Writes a file; the name says the format, and whether it is gzipped. The file is complete, or what it was."""
        pick(context)._call(lib.carom_mesh_save, byref(self._view()), MeshFormat.of(format), path_bytes(path),
                            reads=(self,))

    def to_bytes(self, format: Union[str, MeshFormat], *, context: Optional[Context] = None) -> bytes:
        """The content of a file in a format."""
        content = Results("bytes")
        pick(context)._call(lib.carom_mesh_save_memory, byref(self._view()), MeshFormat.of(format), content.out,
                            reads=(self,))
        return content.bytes()

    def __repr__(self) -> str:
        if not self._pointer:
            return "<carom.Mesh: closed>"
        view = self._view()
        return f"<carom.Mesh: {view.vertex_count} vertices, {view.face_count} faces, {Scalar(view.scalar)}>"

    def _repr_html_(self) -> str:
        from .viewer import frame

        return frame(self)

    def __reduce__(self) -> Any:
        return _unpickle, (self.to_bytes("ply"),)


def _split(loops: Any, vertices: np.ndarray) -> list[np.ndarray]:
    """The vertices of each loop."""
    return [vertices[int(loop.first):int(loop.first + loop.count)] for loop in loops]


def _unpickle(content: bytes) -> Mesh:
    return Mesh.from_bytes(content, "ply")


def _bytes(data: Any) -> bytes:
    if isinstance(data, (bytearray, memoryview)):
        data = bytes(data)
    if not isinstance(data, bytes):
        raise TypeError(f"data is a {type(data).__name__}; give bytes")
    return data


def scalar_of(dtype: Any) -> Scalar:
    found = np.dtype(dtype)
    if found not in (np.float32, np.float64):
        raise TypeError(f"dtype is {found}; give float32 or float64")
    return Scalar.FLOAT32 if found == np.float32 else Scalar.FLOAT64


def _properties(values: Optional[Mapping[str, ArrayLike]], count: int, of_faces: bool) -> list[Any]:
    found = []
    for name, value in (values or {}).items():
        array = packed(value)
        if array.dtype not in _PROPERTY_TYPES:
            raise TypeError(f"the property {name!r} has the type {array.dtype}; give one of " +
                            ", ".join(str(t) for t in _PROPERTY_TYPES))
        if array.shape != (count,):
            raise ValueError(f"the property {name!r} has the shape {array.shape}; give ({count},)")
        kind = MeshPropertyType.of(str(array.dtype))
        item = _abi.mesh_property(name=name.encode(), of_faces=of_faces, type=kind,
                                  values=array.__array_interface__["data"][0])
        found.append((item, array))
    return found


# ---- Meshes of others ----------------------------------------------------------------------------------------------

def _meshio_faces(cells: Any) -> list[Any]:
    """Faces of meshio: blocks of triangles, quads and polygons; lines and vertices are no faces."""
    found: list[Any] = []
    for block in cells.items() if isinstance(cells, Mapping) else cells:
        kind, data = (block.type, block.data) if hasattr(block, "type") else block
        if kind in ("triangle", "quad") or kind.startswith("polygon"):
            found.append(data)
        elif kind not in ("vertex", "line"):
            raise ValueError(f"the mesh has cells of the type {kind!r}; give a surface of triangles, quads or polygons")
    if not found:
        raise ValueError("the mesh has no triangles, quads or polygons")
    if len({np.shape(data)[1] for data in found}) == 1:
        return np.concatenate(found)  # type: ignore[return-value]
    return [face for data in found for face in data]


def _pyvista_faces(flat: np.ndarray) -> tuple[np.ndarray, Optional[np.ndarray]]:
    """Corners and offsets of VTK's list: the number of corners before each face."""
    flat = np.asarray(flat)
    if flat.ndim != 1 or not len(flat):
        return as_faces(flat.reshape(-1, 3) if flat.size == 0 else flat)
    if flat[0] == 3 and len(flat) % 4 == 0 and (flat[::4] == 3).all():
        return as_faces(flat.reshape(-1, 4)[:, 1:])
    starts, at = [], 0
    while at < len(flat):
        starts.append(at)
        if flat[at] < 0:
            raise ValueError(f"a face has {flat[at]} corners")
        at += int(flat[at]) + 1
    if at != len(flat):
        raise ValueError("the list of faces ends within a face")
    counts = flat[starts]
    offsets = np.zeros(len(starts) + 1, np.uint64)
    np.cumsum(counts, out=offsets[1:])
    return indices(np.delete(flat, starts), (None,), "faces"), offsets


def mesh_view(mesh: MeshLike, faces: Any = None, *, faces_needed: bool = True) -> View:
    """A view of anything that is a mesh. Other libraries' meshes are known by their attributes."""
    if isinstance(mesh, View):
        return mesh
    if isinstance(mesh, (str, os.PathLike)):
        mesh = Mesh.load(mesh)
    if isinstance(mesh, Mesh):
        if faces is not None:
            raise ValueError("faces are given twice: a Mesh has its own")
        return _own_view(mesh)
    if faces is not None:
        return View(positions(mesh), *as_faces(faces))
    if isinstance(mesh, (tuple, list)) and len(mesh) == 2 and np.ndim(mesh[0]) == 2:
        return View(positions(mesh[0]), *as_faces(mesh[1]))
    if hasattr(mesh, "vertices") and hasattr(mesh, "faces"):  # trimesh
        return View(positions(mesh.vertices), *as_faces(mesh.faces))
    if hasattr(mesh, "vertices") and hasattr(mesh, "triangles"):  # open3d
        return View(positions(np.asarray(mesh.vertices)), *as_faces(np.asarray(mesh.triangles)))
    if hasattr(mesh, "vertex") and hasattr(mesh, "triangle"):  # open3d's tensors
        return View(positions(mesh.vertex["positions"]), *as_faces(mesh.triangle["indices"].numpy()))
    if hasattr(mesh, "points") and hasattr(mesh, "cells") and not hasattr(mesh, "GetPolys"):  # meshio
        return View(positions(mesh.points), *as_faces(_meshio_faces(mesh.cells)))
    if hasattr(mesh, "points") and hasattr(mesh, "faces"):  # pyvista
        return View(positions(mesh.points), *_pyvista_faces(mesh.faces))
    if faces_needed:
        if isinstance(mesh, np.ndarray) and mesh.ndim == 3 and mesh.shape[1:] == (3, 3):
            raise TypeError("these are corners of triangles, without faces; give vertices.reshape(-1, 3) and "
                            f"np.arange({3 * len(mesh)}).reshape(-1, 3)")
        if isinstance(mesh, np.ndarray):
            raise TypeError(f"these are vertices of the shape {mesh.shape} without faces; give both")
        raise TypeError(f"a {type(mesh).__name__} is no mesh; give vertices and faces, a carom.Mesh, a path, or a mesh of "
                        "trimesh, meshio, open3d or pyvista")
    return View(positions(mesh))


def _own_view(mesh: Mesh) -> View:
    view = View.__new__(View)
    view.c, view.keep = mesh._view(), [mesh]
    view.vertex_count, view.face_count = view.c.vertex_count, view.c.face_count
    return view


def view_reads(view: View) -> tuple[Handle, ...]:
    """The mesh that a view is of: nobody may close it during the call."""
    return tuple(item for item in view.keep if isinstance(item, Mesh))


def positions_view(values: Any, name: str = "positions") -> View:
    """A view of positions alone: those of a mesh, or an array."""
    if isinstance(values, Mesh):
        return _own_view(values)
    if hasattr(values, "vertices"):
        values = values.vertices
    return View(positions(values))


def check(mesh: MeshLike, faces: Any = None, *, context: Optional[Context] = None) -> None:
    """Raises BadInputError where positions or faces cannot be used, and says which.

    >>> import carom
    >>> carom.check([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 3]])
    Traceback (most recent call last):
    carom.BadInputError: face 0 names vertex 3, the mesh has 3
    """
    view = mesh_view(mesh, faces)
    pick(context)._call(lib.carom_mesh_check, byref(view.c), reads=view_reads(view))


def inspect(mesh: MeshLike, faces: Any = None, *, context: Optional[Context] = None) -> Report:
    view, report = mesh_view(mesh, faces), _abi.mesh_report()
    pick(context)._call(lib.carom_mesh_inspect, byref(view.c), byref(report), reads=view_reads(view))
    return read(Report, report)


def mesh_bounds(mesh: MeshLike, faces: Any = None, *, context: Optional[Context] = None) -> np.ndarray:
    view, bounds = mesh_view(mesh, faces), _abi.bounds()
    pick(context)._call(lib.carom_mesh_check, byref(view.c), reads=view_reads(view))
    pick(context)._call(lib.carom_mesh_bounds, byref(view.c), byref(bounds), reads=view_reads(view))
    return np.frombuffer(bounds, np.float64).reshape(2, 3).copy()  # type: ignore[call-overload]


def guess_format(name: Optional[str] = None, data: Optional[bytes] = None) -> MeshFormat:
    """The format that a file's name and its first bytes tell.

    >>> import carom
    >>> carom.guess_format("part.STL")
    MeshFormat.STL
    """
    data = None if data is None else _bytes(data)
    return MeshFormat(lib.carom_mesh_format_guess(None if name is None else path_bytes(name), data, len(data or b"")))
