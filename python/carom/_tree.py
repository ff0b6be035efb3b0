# SPDX-License-Identifier: MIT
"""Inner sphere trees and grids of spheres: overlap and distance of packed solids, with proved limits."""
from __future__ import annotations

import ctypes
from typing import Any, Optional, Union

import numpy as np

from . import _abi
from ._abi import BallsPairKind, GridHash, TreeFormat, TreeMethod
from ._arrays import ArrayLike, Results, address, batch_poses, dtype_of, number, packed, pose_pointer, records
from ._core import Context, Handle, _count, byref, lib, pick
from ._mesh import MeshLike, PathLike, _bytes, mesh_view, path_bytes, view_reads
from ._packing import Packing
from ._records import BallsInfo, BallsMost, PackingOverlap, TreeAnswer, TreeGap, TreeInfo, info, read
from ._soup import both, device_of, grid_def, pair_items


def _packing(packing: Any) -> Packing:
    if not isinstance(packing, Packing):
        raise TypeError(f"packing is a {type(packing).__name__}; give a carom.Packing")
    return packing


class Tree(Handle):
    """The inner sphere tree of a packing. The time of a query depends on the spheres, not on the mesh.

    >>> import carom
    >>> mesh = carom.Mesh.shape("torus")
    >>> tree = carom.Tree(carom.Packing(mesh, count=500), mesh)
    >>> 0 < tree.overlap(tree, pose=[1, 0, 0]).volume.value
    True

    mesh: that was packed; distances are then those of its faces, and limits are narrower. device="cuda": queries that
    have no budget, and exact distances, run there.
    """

    _destroy = staticmethod(lib.carom_tree_destroy)

    def __init__(self, packing: Packing, mesh: MeshLike = None, *, method: Union[str, TreeMethod] = TreeMethod.MEDIAN,
                 arity: int = 0, seed: int = 0, device: Optional[str] = None,
                 context: Optional[Context] = None) -> None:
        super().__init__(device_of(device, context))
        view = None if mesh is None else mesh_view(mesh)
        definition = _abi.tree_def(
            packing=_packing(packing)._pointer, method=TreeMethod.of(method), arity=_count(arity, "arity"),
            seed=_count(seed, "seed"), mesh=None if view is None else ctypes.addressof(view.c))
        pick(context, self._device)._call(
            lib.carom_tree_create, byref(definition), byref(self._pointer),
            reads=(packing, *(() if view is None else view_reads(view))))

    @classmethod
    def _new(cls, device: str) -> Tree:
        self = cls.__new__(cls)
        Handle.__init__(self, device)
        return self

    @classmethod
    def load(cls, path: PathLike, *, shared: bool = False, context: Optional[Context] = None) -> Tree:
        """Reads a tree that save() wrote. `shared` maps the file instead of copying it, so that several processes share
        its pages: it must then not change while the tree is there."""
        if not shared:
            with open(path, "rb") as file:
                return cls.from_bytes(file.read(), str(path), context=context)
        self = cls._new(device_of(None, context))
        pick(context)._call(lib.carom_tree_load, path_bytes(path), TreeFormat.GUESS, byref(self._pointer))
        return self

    @classmethod
    def from_bytes(cls, data: bytes, name: Optional[str] = None, *, context: Optional[Context] = None) -> Tree:
        """Reads the content of such a file."""
        self, data = cls._new(device_of(None, context)), _bytes(data)
        pick(context)._call(lib.carom_tree_load_memory, data, len(data), TreeFormat.GUESS,
                            None if name is None else path_bytes(name), byref(self._pointer))
        return self

    def save(self, path: PathLike, *, context: Optional[Context] = None) -> None:
        """Writes the tree as it is in memory."""
        pick(context)._call(lib.carom_tree_save, self._pointer, TreeFormat.GUESS, path_bytes(path), reads=(self,))

    def to_bytes(self, *, context: Optional[Context] = None) -> bytes:
        """The content of such a file."""
        content = Results("bytes")
        pick(context)._call(lib.carom_tree_save_memory, self._pointer, TreeFormat.CAROM, content.out, reads=(self,))
        return content.bytes()

    def update(self, packing: Packing, mesh: MeshLike = None, *, context: Optional[Context] = None) -> None:
        """Replaces the packing by another, such as one from Packing.deform(), and the mesh. The answers are then those
        of a new tree."""
        view = None if mesh is None else mesh_view(mesh)
        pick(context, self._device)._call(
            lib.carom_tree_update, self._pointer, _packing(packing)._pointer,
            None if view is None else byref(view.c), change=self,
            reads=(packing, *(() if view is None else view_reads(view))))

    @property
    def info(self) -> TreeInfo:
        """What the tree consists of."""
        return info(self, lib.carom_tree_get_info, TreeInfo, _abi.tree_info)

    def __repr__(self) -> str:
        if not self._pointer:
            return "<carom.Tree: closed>"
        found = self.info
        return f"<carom.Tree: {found.spheres} spheres, {found.triangles} triangles>"

    def _query(self, single: Any, batch: Any, struct: Any, kind: Any, other: Tree, pose: ArrayLike, pose_a: ArrayLike,
             context: Optional[Context], hint: Optional[TreeHint], options: dict[str, Any]) -> Any:
        both(self, other, Tree)
        definition = tree_query_def(**options)
        a, b, count = batch_poses(pose_a, pose)
        if count < 0:
            found = struct()
            if hint is not None:
                if not isinstance(hint, TreeHint):
                    raise TypeError(f"hint is a {type(hint).__name__}; give a carom.TreeHint")
                definition.hint = ctypes.addressof(hint._c)
            pick(context, self._device)._call(
                single, self._pointer, pose_pointer(pose_a, "pose_a"), other._pointer, pose_pointer(pose),
                byref(definition), byref(found), reads=(self, other))
            return read(kind, found)
        if hint is not None:
            raise ValueError("a hint is for one pose at a time, not for a batch")
        items = pair_items(_abi.tree_pair, self, a, other, b, count)
        items["scale_a"], items["scale_b"] = definition.scale_a, definition.scale_b
        definition.scale_a = definition.scale_b = 0.0
        answers = records(struct, count)
        pick(context, self._device)._batch(batch, items, answers, byref(definition), reads=(self, other))
        return answers

    def overlap(self, other: Tree, pose: ArrayLike = None, *, pose_a: ArrayLike = None,
                context: Optional[Context] = None, **options: Any) -> Any:
        """Volume with proved limits, force and torque. Options: scale_a, scale_b, skip_limits, narrow_limits,
        work_budget, time_budget, tolerance, flip. Poses (n, 7) or (n, 4, 4) give n records."""
        return self._query(lib.carom_tree_overlap, lib.carom_tree_overlap_batch, _abi.packing_overlap, PackingOverlap,
                         other, pose, pose_a, context, None, options)

    def distance(self, other: Tree, pose: ArrayLike = None, *, pose_a: ArrayLike = None,
                 hint: Optional[TreeHint] = None, context: Optional[Context] = None, **options: Any) -> Any:
        """The distance of the solids with proved limits. Options as for overlap, and exact_distance."""
        return self._query(lib.carom_tree_distance, lib.carom_tree_distance_batch, _abi.tree_gap, TreeGap, other, pose,
                         pose_a, context, hint, options)

    def query(self, other: Tree, pose: ArrayLike = None, *, pose_a: ArrayLike = None, hint: Optional[TreeHint] = None,
              context: Optional[Context] = None, **options: Any) -> Any:
        """The overlap and, where that is not certain, the distance."""
        return self._query(lib.carom_tree_query, lib.carom_tree_query_batch, _abi.tree_result, TreeAnswer, other, pose,
                         pose_a, context, hint, options)

    def meet(self, other: Tree, pose: ArrayLike = None, *, pose_a: ArrayLike = None,
             context: Optional[Context] = None, **options: Any) -> bool:
        """Whether inner balls overlap: then the solids certainly do."""
        both(self, other, Tree)
        definition, meet = tree_query_def(**options), ctypes.c_bool()
        pick(context, self._device)._call(
            lib.carom_tree_meet, self._pointer, pose_pointer(pose_a, "pose_a"), other._pointer, pose_pointer(pose),
            byref(definition), byref(meet), reads=(self, other))
        return meet.value

    def faces(self, other: Tree, pose: ArrayLike = None, *, pose_a: ArrayLike = None,
              context: Optional[Context] = None, **options: Any) -> tuple[np.ndarray, np.ndarray]:
        """Faces of both meshes where the solids overlap; a partial list."""
        both(self, other, Tree)
        definition, a, b = tree_query_def(**options), Results("numbers"), Results("numbers")
        pick(context)._call(lib.carom_tree_faces, self._pointer, pose_pointer(pose_a, "pose_a"), other._pointer,
                            pose_pointer(pose), byref(definition), a.out, b.out, reads=(self, other))
        return a.array(), b.array()


class TreeHint:
    """What a distance query of two trees learned for the next one, in nearby poses."""

    def __init__(self) -> None:
        self._c = _abi.tree_hint()


def tree_query_def(*, scale_a: float = 1.0, scale_b: float = 1.0, skip_limits: bool = False,
                   narrow_limits: bool = False, work_budget: int = 0, time_budget: float = 0.0, tolerance: float = 0.0,
                   flip: bool = False, exact_distance: bool = False) -> Any:
    return _abi.tree_query_def(
        scale_a=number(scale_a, "scale_a"), scale_b=number(scale_b, "scale_b"), skip_limits=bool(skip_limits),
        narrow_limits=bool(narrow_limits), work_budget=_count(work_budget, "work_budget"),
        time_budget=number(time_budget, "time_budget"), tolerance=number(tolerance, "tolerance"), flip=bool(flip),
        exact_distance=bool(exact_distance))


class Balls(Handle):
    """The spheres of a packing in a hierarchical grid: overlaps in time that does not depend on the pose.

    >>> import carom
    >>> balls = carom.Balls(carom.Packing(carom.Mesh.shape("box"), count=200))
    >>> overlap = balls.overlap(balls, pose=[1, 0, 0])
    >>> overlap.volume.lower <= 4.0 <= overlap.volume.upper
    True
    """

    _destroy = staticmethod(lib.carom_balls_destroy)

    def __init__(self, packing: Packing, *, grid: Union[str, GridHash] = GridHash.BLOCK, buckets: int = 0,
                 cell_scale: float = 0.0, device: Optional[str] = None, context: Optional[Context] = None) -> None:
        super().__init__(device_of(device, context))
        definition = _abi.balls_def(_packing(packing)._pointer, grid_def(grid, buckets, cell_scale))
        pick(context, self._device)._call(lib.carom_balls_create, byref(definition), byref(self._pointer),
                                          reads=(packing,))

    @property
    def info(self) -> BallsInfo:
        """What the grid consists of."""
        return info(self, lib.carom_balls_get_info, BallsInfo, _abi.balls_info)

    def __len__(self) -> int:
        return self.info.spheres

    def __repr__(self) -> str:
        return "<carom.Balls: closed>" if not self._pointer else f"<carom.Balls: {len(self)} spheres>"

    def update(self, spheres: Any, volume: float = 0.0, *, context: Optional[Context] = None) -> None:
        """Replaces the spheres by others: records as Packing.list_spheres() gives them. volume: of the solid."""
        wanted = dtype_of(_abi.packing_sphere)
        given = np.ascontiguousarray(spheres)
        if given.dtype.names != wanted.names or given.ndim != 1:
            raise TypeError(f"spheres have the type {given.dtype}; give records as Packing.list_spheres() does")
        given = packed(given, wanted)
        pick(context, self._device)._call(lib.carom_balls_update, self._pointer, address(given), len(given),
                                          number(volume, "volume"), change=self)

    def _two(self, other: Balls, pose: ArrayLike, pose_a: ArrayLike) -> tuple[Any, ...]:
        both(self, other, Balls)
        return self._pointer, pose_pointer(pose_a, "pose_a"), other._pointer, pose_pointer(pose)

    def overlap(self, other: Balls, pose: ArrayLike = None, *, pose_a: ArrayLike = None, scale_a: float = 1.0,
                scale_b: float = 1.0, skip_limits: bool = False, context: Optional[Context] = None) -> Any:
        """Volume with proved limits, force and torque. Poses (n, 7) or (n, 4, 4) give n records; on a CUDA device also
        poses in its memory, whose answers stay there."""
        both(self, other, Balls)
        definition = balls_query_def(scale_a, scale_b, skip_limits)
        if hasattr(pose, "__cuda_array_interface__") and self._device != "cpu":
            from .cuda import balls_overlap

            return balls_overlap(self, other, pose, pose_a, definition, context)
        a, b, count = batch_poses(pose_a, pose)
        if count < 0:
            found = _abi.packing_overlap()
            pick(context, self._device)._call(lib.carom_balls_overlap, *self._two(other, pose, pose_a),
                                              byref(definition), byref(found), reads=(self, other))
            return read(PackingOverlap, found)
        items = pair_items(_abi.balls_pair, self, a, other, b, count)
        items["scale_a"], items["scale_b"] = definition.scale_a, definition.scale_b
        definition.scale_a = definition.scale_b = 0.0
        answers = records(_abi.packing_overlap, count)
        pick(context, self._device)._batch(lib.carom_balls_overlap_batch, items, answers, byref(definition),
                                           reads=(self, other))
        return answers

    def pairs(self, other: Balls, pose: ArrayLike = None, *, pose_a: ArrayLike = None,
              kind: Union[str, BallsPairKind] = BallsPairKind.SECONDARY, scale_a: float = 1.0, scale_b: float = 1.0,
              context: Optional[Context] = None) -> np.ndarray:
        """(n, 2) uint32: all pairs of spheres whose "secondary", "inner" or "cover" balls overlap."""
        definition, found = balls_query_def(scale_a, scale_b, False), Results("pairs")
        pick(context, self._device)._call(lib.carom_balls_pairs, *self._two(other, pose, pose_a),
                                          BallsPairKind.of(kind), byref(definition), found.out, reads=(self, other))
        return found.array()

    def count(self, other: Balls, pose: ArrayLike = None, *, pose_a: ArrayLike = None,
              kind: Union[str, BallsPairKind] = BallsPairKind.SECONDARY, scale_a: float = 1.0, scale_b: float = 1.0,
              context: Optional[Context] = None) -> int:
        """The number of these pairs."""
        definition, count = balls_query_def(scale_a, scale_b, False), ctypes.c_uint64()
        pick(context, self._device)._call(lib.carom_balls_count, *self._two(other, pose, pose_a),
                                          BallsPairKind.of(kind), byref(definition), byref(count), reads=(self, other))
        return count.value

    def meet(self, other: Balls, pose: ArrayLike = None, *, pose_a: ArrayLike = None,
             kind: Union[str, BallsPairKind] = BallsPairKind.SECONDARY, scale_a: float = 1.0, scale_b: float = 1.0,
             context: Optional[Context] = None) -> bool:
        """Whether there is such a pair."""
        definition, meet = balls_query_def(scale_a, scale_b, False), ctypes.c_bool()
        pick(context, self._device)._call(lib.carom_balls_meet, *self._two(other, pose, pose_a),
                                          BallsPairKind.of(kind), byref(definition), byref(meet), reads=(self, other))
        return meet.value

    def bound(self, other: Balls, *, kind: Union[str, BallsPairKind] = BallsPairKind.SECONDARY, scale_a: float = 1.0,
              scale_b: float = 1.0, context: Optional[Context] = None) -> BallsMost:
        """The most pairs that there can be in any poses."""
        both(self, other, Balls)
        definition, most = balls_query_def(scale_a, scale_b, False), _abi.balls_most()
        pick(context, self._device)._call(lib.carom_balls_bound, self._pointer, other._pointer, BallsPairKind.of(kind),
                                          byref(definition), byref(most), reads=(self, other))
        return read(BallsMost, most)


def balls_query_def(scale_a: float, scale_b: float, skip_limits: bool) -> Any:
    return _abi.balls_query_def(number(scale_a, "scale_a"), number(scale_b, "scale_b"), bool(skip_limits))
