# SPDX-License-Identifier: MIT
"""Soups: which faces meet, exactly; distances, points, rays, winding numbers, times of impact and safe steps."""
from __future__ import annotations

import ctypes
import os
from typing import Any, Callable, Optional, Union

import numpy as np

from . import _abi
from ._abi import GridHash, SoupDegenerate, SoupImpactKind, SoupMethod
from ._arrays import (ArrayLike, Results, address, batch_poses, dtype_of, indices, motion_pointer, number,
                      points as as_points, pose_pointer, rays as as_rays, records)
from ._core import Context, Handle, Raised, _count, byref, lib, parse_device, pick
from ._mesh import Mesh, MeshLike, mesh_view, positions_view, view_reads
from ._records import Advance, Gap, Impact, KFree, KFreeMost, NearPair, SafeStep, SoupInfo, info, read

ON_SURFACE = _abi.SOUP_ON_SURFACE


def grid_def(hash: Union[str, GridHash] = GridHash.BLOCK, buckets: int = 0, cell_scale: float = 0.0) -> Any:
    return _abi.grid_def(GridHash.of(hash), _count(buckets, "buckets"), number(cell_scale, "cell_scale"))


def pair_items(kind: Any, a: Handle, pose_a: Any, b: Handle, pose_b: Any, count: int) -> np.ndarray:
    """The items of a batch of one a and one b in many poses."""
    items = np.zeros(count, dtype_of(kind))
    items["a"], items["b"] = a._pointer.value or 0, b._pointer.value or 0
    for name, poses in (("pose_a", pose_a), ("pose_b", pose_b)):
        if poses is not None:
            poses.store(items[name])
    return items


def advance_def(tolerance: float, most_steps: int, reach: float) -> Any:
    return _abi.advance_def(number(tolerance, "tolerance"), _count(most_steps, "most_steps"), number(reach, "reach"))


def both(a: Handle, b: Handle, kind: type) -> tuple[Handle, Handle]:
    """Two structures of a call, checked."""
    if not isinstance(b, kind):
        raise TypeError(f"the other is a {type(b).__name__}; give a carom.{kind.__name__}")
    return a, b


def _joined(mesh: MeshLike, context: Optional[Context]) -> MeshLike:
    """The mesh; one that is read from a file is welded, as by the tool: STL has no common vertices, and without these
    all neighbours would meet."""
    return Mesh.load(mesh, context=context).weld(context=context) if isinstance(mesh, (str, os.PathLike)) else mesh


class Soup(Handle):
    """Any set of polygons: open, closed, broken, self-intersecting. All decisions are exact. A mesh given as a path is
    welded; faces keep their numbers.

    >>> import carom
    >>> soup = carom.Soup(carom.Mesh.shape("cloth"))
    >>> soup.self_count() == len(soup.self_pairs())
    True

    rigid: it will only move as a whole, so that queries of two are faster.
    method: "auto", "tree" or "grid", whose work is bounded; the results are the same.
    degenerate: "alone" or "as-segment": what faces without area are.
    fan: split polygons into fans, and count and index the triangles.
    device: "cuda" prepares and searches on the GPU.
    """

    _destroy = staticmethod(lib.carom_soup_destroy)

    def __init__(self, mesh: MeshLike = None, faces: Any = None, *, rigid: bool = False,
                 method: Union[str, SoupMethod] = SoupMethod.AUTO,
                 degenerate: Union[str, SoupDegenerate] = SoupDegenerate.ALONE, fan: bool = False,
                 grid: Union[str, GridHash] = GridHash.BLOCK, buckets: int = 0, cell_scale: float = 0.0,
                 work_budget: int = 0, device: Optional[str] = None, context: Optional[Context] = None) -> None:
        super().__init__(device_of(device, context))
        view = None if mesh is None and faces is None else mesh_view(_joined(mesh, context), faces)
        self._vertex_count = 0 if view is None else view.vertex_count  # the library does not tell
        definition = _abi.soup_def(
            mesh=None if view is None else ctypes.addressof(view.c), degenerate=SoupDegenerate.of(degenerate),
            fan=bool(fan), rigid=bool(rigid), method=SoupMethod.of(method), grid=grid_def(grid, buckets, cell_scale),
            work_budget=_count(work_budget, "work_budget"))
        pick(context, self._device)._call(lib.carom_soup_create, byref(definition), byref(self._pointer),
                                          reads=() if view is None else view_reads(view))

    @property
    def info(self) -> SoupInfo:
        """What the soup consists of."""
        return info(self, lib.carom_soup_get_info, SoupInfo, _abi.soup_info)

    @property
    def triangle_count(self) -> int:
        """The triangles of all faces that are not removed."""
        found = _abi.soup_info()
        if lib.carom_soup_get_info(self._pointer or None, byref(found)):
            raise self._closed_error()
        return found.triangles

    @property
    def face_count(self) -> int:
        """Faces that are not removed."""
        return self.info.live

    def __repr__(self) -> str:
        if not self._pointer:
            return "<carom.Soup: closed>"
        found = self.info
        return f"<carom.Soup: {found.live} faces, {found.triangles} triangles, {self._device}>"

    # ---- Changes

    def update(self, positions: Any, *, context: Optional[Context] = None) -> None:
        """Replaces the positions of all vertices. Arrays with __cuda_array_interface__ are taken where they are."""
        if hasattr(positions, "__cuda_array_interface__") and self._device != "cpu":
            from .cuda import update_soup

            return update_soup(self, positions, context)
        view = positions_view(positions)
        pick(context, self._device)._call(lib.carom_soup_update, self._pointer, byref(view.c), change=self,
                                          reads=view_reads(view))

    def add(self, mesh: MeshLike, faces: Any = None, *, context: Optional[Context] = None) -> int:
        """Adds vertices and faces; returns the index of the first new face."""
        view, first = mesh_view(_joined(mesh, context), faces), ctypes.c_uint32()

        def call(*args: Any) -> int:
            status = lib.carom_soup_add(*args)
            if not status:  # counted while no query can run: arrays for each vertex must be long enough
                self._vertex_count += view.vertex_count
            return status

        pick(context, self._device)._call(call, self._pointer, byref(view.c), byref(first), change=self,
                                          reads=view_reads(view))
        return first.value

    def remove(self, faces: ArrayLike, *, context: Optional[Context] = None) -> None:
        """Removes faces; the others keep their indices."""
        numbers = indices(faces, (None,), "faces")
        pick(context, self._device)._call(lib.carom_soup_remove, self._pointer, address(numbers), len(numbers),
                                          change=self)

    # ---- A soup with itself

    def _pairs(self, function: Any, *args: Any, reads: Any, context: Optional[Context]) -> np.ndarray:
        found = Results("pairs")
        pick(context, self._device)._call(function, *args, found.out, reads=reads)
        return found.array()

    def self_pairs(self, reach: Optional[float] = None, *, context: Optional[Context] = None) -> np.ndarray:
        """(n, 2) uint32: all pairs of faces that meet, sorted; with a reach, those at most so far apart that have no
        common vertex."""
        if reach is None:
            return self._pairs(lib.carom_soup_self_pairs, self._pointer, reads=(self,), context=context)
        return self._pairs(lib.carom_soup_self_pairs_within, self._pointer, number(reach, "reach"), reads=(self,),
                           context=context)

    def self_count(self, reach: Optional[float] = None, *, context: Optional[Context] = None) -> int:
        """The number of these pairs."""
        count, call = ctypes.c_uint64(), pick(context, self._device)._call
        if reach is None:
            call(lib.carom_soup_self_count, self._pointer, byref(count), reads=(self,))
        else:
            call(lib.carom_soup_self_count_within, self._pointer, number(reach, "reach"), byref(count), reads=(self,))
        return count.value

    def self_meet(self, reach: Optional[float] = None, *, context: Optional[Context] = None) -> bool:
        """Whether there is such a pair; stops at the first."""
        meet, call = ctypes.c_bool(), pick(context, self._device)._call
        if reach is None:
            call(lib.carom_soup_self_meet, self._pointer, byref(meet), reads=(self,))
        else:
            call(lib.carom_soup_self_meet_within, self._pointer, number(reach, "reach"), byref(meet), reads=(self,))
        return meet.value

    def self_each(self, receive: Callable[[np.ndarray], Any], reach: Optional[float] = None, *,
                  context: Optional[Context] = None) -> None:
        """Gives all pairs to a function in ascending chunks, for results too large to hold; it returns true to stop."""
        raised, callback = _receiver(receive)
        call = pick(context, self._device)._call
        if reach is None:
            call(lib.carom_soup_self_each, self._pointer, callback, None, reads=(self,), raised=raised)
        else:
            call(lib.carom_soup_self_each_within, self._pointer, number(reach, "reach"), callback, None, reads=(self,),
                 raised=raised)

    def self_bound(self, *, context: Optional[Context] = None) -> int:
        """The most candidates that method "grid" can have."""
        most = ctypes.c_uint64()
        pick(context, self._device)._call(lib.carom_soup_self_bound, self._pointer, byref(most), reads=(self,))
        return most.value

    # ---- Two soups

    def _two(self, other: Soup, pose: ArrayLike, pose_a: ArrayLike) -> tuple[Any, ...]:
        both(self, other, Soup)
        return self._pointer, pose_pointer(pose_a, "pose_a"), other._pointer, pose_pointer(pose)

    def pairs(self, other: Soup, pose: ArrayLike = None, *, pose_a: ArrayLike = None, reach: Optional[float] = None,
              context: Optional[Context] = None) -> np.ndarray:
        """(n, 2) uint32: all pairs (face, face of the other) that meet, or are at most `reach` apart. `pose` moves the
        other, `pose_a` this one."""
        two = self._two(other, pose, pose_a)
        if reach is None:
            return self._pairs(lib.carom_soup_cross_pairs, *two, reads=(self, other), context=context)
        return self._pairs(lib.carom_soup_cross_pairs_within, *two, number(reach, "reach"), reads=(self, other),
                           context=context)

    def count(self, other: Soup, pose: ArrayLike = None, *, pose_a: ArrayLike = None, reach: Optional[float] = None,
              context: Optional[Context] = None) -> int:
        """The number of these pairs."""
        two, count, call = self._two(other, pose, pose_a), ctypes.c_uint64(), pick(context, self._device)._call
        if reach is None:
            call(lib.carom_soup_cross_count, *two, byref(count), reads=(self, other))
        else:
            call(lib.carom_soup_cross_count_within, *two, number(reach, "reach"), byref(count), reads=(self, other))
        return count.value

    def each(self, other: Soup, receive: Callable[[np.ndarray], Any], pose: ArrayLike = None, *,
             pose_a: ArrayLike = None, reach: Optional[float] = None, context: Optional[Context] = None) -> None:
        """Gives these pairs to a function in ascending chunks; it returns true to stop."""
        two, (raised, callback) = self._two(other, pose, pose_a), _receiver(receive)
        call = pick(context, self._device)._call
        if reach is None:
            call(lib.carom_soup_cross_each, *two, callback, None, reads=(self, other), raised=raised)
        else:
            call(lib.carom_soup_cross_each_within, *two, number(reach, "reach"), callback, None, reads=(self, other),
                 raised=raised)

    def meet(self, other: Soup, pose: ArrayLike = None, *, pose_a: ArrayLike = None, reach: Optional[float] = None,
             context: Optional[Context] = None) -> Any:
        """Whether any faces meet, or are at most `reach` apart. Poses (n, 7) or (n, 4, 4) give n answers."""
        both(self, other, Soup)
        a, b, count = batch_poses(pose_a, pose)
        if count < 0:
            two, meet, call = self._two(other, pose, pose_a), ctypes.c_bool(), pick(context, self._device)._call
            if reach is None:
                call(lib.carom_soup_cross_meet, *two, byref(meet), reads=(self, other))
            else:
                call(lib.carom_soup_cross_meet_within, *two, number(reach, "reach"), byref(meet), reads=(self, other))
            return meet.value
        if reach is not None:  # there is no batch of it
            one = lambda poses, i: None if poses is None else poses.one(i)
            return np.array([self.meet(other, one(b, i), pose_a=one(a, i), reach=reach, context=context)
                             for i in range(count)], np.bool_)
        answers = np.zeros(count, np.bool_)
        pick(context, self._device)._batch(lib.carom_soup_cross_meet_batch,
                                           pair_items(_abi.soup_pair, self, a, other, b, count), answers,
                                           reads=(self, other))
        return answers

    def distance(self, other: Soup, pose: ArrayLike = None, *, pose_a: ArrayLike = None, limit: float = 0.0,
                 context: Optional[Context] = None) -> Any:
        """The least distance of faces, and where it is. A distance above the limit is infinite; 0 is no limit. Poses
        (n, 7) or (n, 4, 4) give n records."""
        both(self, other, Soup)
        a, b, count = batch_poses(pose_a, pose)
        if count < 0:
            gap = _abi.soup_gap()
            pick(context, self._device)._call(lib.carom_soup_cross_distance, *self._two(other, pose, pose_a),
                                              number(limit, "limit"), byref(gap), reads=(self, other))
            return read(Gap, gap)
        gaps = records(_abi.soup_gap, count)
        pick(context, self._device)._batch(lib.carom_soup_cross_distance_batch,
                                           pair_items(_abi.soup_pair, self, a, other, b, count), gaps,
                                           number(limit, "limit"), reads=(self, other))
        return gaps

    def bound(self, other: Soup, *, context: Optional[Context] = None) -> int:
        """The most candidates that method "grid" can have, whatever the poses."""
        reads, most = both(self, other, Soup), ctypes.c_uint64()
        pick(context, self._device)._call(lib.carom_soup_cross_bound, self._pointer, other._pointer, byref(most),
                                          reads=reads)
        return most.value

    # ---- Where

    def gaps(self, pairs: ArrayLike, other: Optional[Soup] = None, pose: ArrayLike = None, *, pose_a: ArrayLike = None,
             context: Optional[Context] = None) -> Any:
        """How far apart the faces of each pair are, and where: records of distance, face_a, face_b, point_a,
        point_b."""
        asked = indices(pairs, (None, 2), "pairs")
        gaps = records(_abi.soup_gap, len(asked))
        call = pick(context, self._device)._call
        if other is None:
            call(lib.carom_soup_self_gaps, self._pointer, address(asked), len(asked), address(gaps), reads=(self,))
        else:
            call(lib.carom_soup_cross_gaps, *self._two(other, pose, pose_a), address(asked), len(asked), address(gaps),
                 reads=(self, other))
        return gaps

    def segments(self, pairs: ArrayLike, other: Optional[Soup] = None, pose: ArrayLike = None, *,
                 pose_a: ArrayLike = None, context: Optional[Context] = None) -> Any:
        """Where the faces of each pair meet: records of pair, kind, crossing, p and q."""
        asked, found = indices(pairs, (None, 2), "pairs"), Results("soup_segments")
        call = pick(context, self._device)._call
        if other is None:
            call(lib.carom_soup_self_segments, self._pointer, address(asked), len(asked), found.out, reads=(self,))
        else:
            call(lib.carom_soup_cross_segments, *self._two(other, pose, pose_a), address(asked), len(asked), found.out,
                 reads=(self, other))
        return found.array()

    # ---- Points and rays

    def _hits(self, function: Any, items: np.ndarray, context: Optional[Context]) -> Any:
        hits = records(_abi.hit, len(items))
        pick(context, self._device)._call(function, self._pointer, address(items), len(items), address(hits),
                                          reads=(self,))
        return hits

    def closest_points(self, points: ArrayLike, *, context: Optional[Context] = None) -> Any:
        """The nearest point of the soup to each point: records of face, distance, point, normal."""
        return self._hits(lib.carom_soup_closest_points, as_points(points), context)

    def cast_rays(self, origins: ArrayLike, directions: ArrayLike, lengths: ArrayLike = None, *,
                  context: Optional[Context] = None) -> Any:
        """The first face that each ray meets; distance is the t of origin + t direction, infinite for none."""
        return self._hits(lib.carom_soup_cast_rays, as_rays(origins, directions, lengths), context)

    def query_rays(self, origins: ArrayLike, directions: ArrayLike, lengths: ArrayLike = None, *,
                   context: Optional[Context] = None) -> Any:
        """All faces that each ray meets: records of ray, face, distance, point, normal, by ray and then along it.

        >>> import carom
        >>> hits = carom.Soup(carom.Mesh.shape("box")).query_rays([[5, 0.1, 0.2]], [-1, 0, 0])
        >>> hits.distance
        array([4., 6.])
        """
        rays, found = as_rays(origins, directions, lengths), Results("soup_ray_hits")
        pick(context, self._device)._call(lib.carom_soup_query_rays, self._pointer, address(rays), len(rays), found.out,
                                          reads=(self,))
        return found.array()

    def winding(self, points: ArrayLike, *, context: Optional[Context] = None) -> np.ndarray:
        """The exact winding number of a balanced soup around each point; carom.ON_SURFACE for those on a face."""
        asked = as_points(points)
        found = np.zeros(len(asked), np.int32)
        pick(context, self._device)._call(lib.carom_soup_winding, self._pointer, address(asked), len(asked),
                                          address(found), reads=(self,))
        return found

    def contains(self, points: ArrayLike, *, context: Optional[Context] = None) -> np.ndarray:
        """Whether each point is inside a closed soup or on it, exactly: the winding number is not 0.

        >>> import carom
        >>> carom.Soup(carom.Mesh.shape("box")).contains([[0, 0, 0], [1, 0, 0], [1.0000001, 0, 0]])
        array([ True,  True, False])
        """
        return self.winding(points, context=context) != 0

    def winding_fractions(self, points: ArrayLike, *, context: Optional[Context] = None) -> np.ndarray:
        """The generalised winding number of any soup around each point; above 0.5 is inside."""
        asked = as_points(points)
        found = np.zeros(len(asked))
        pick(context, self._device)._call(lib.carom_soup_winding_fractions, self._pointer, address(asked), len(asked),
                                          address(found), reads=(self,))
        return found

    def signed_distances(self, points: ArrayLike, *, context: Optional[Context] = None) -> np.ndarray:
        """The distance of each point, negative inside; the sign is exact where the soup is closed.

        >>> import carom
        >>> cube = carom.Soup(carom.Mesh.shape("box"))
        >>> cube.signed_distances([[0, 0, 0], [3, 0, 0]])
        array([-1.,  2.])
        """
        asked = as_points(points)
        found = np.zeros(len(asked))
        pick(context, self._device)._call(lib.carom_soup_signed_distances, self._pointer, address(asked), len(asked),
                                          address(found), None, reads=(self,))
        return found

    # ---- Motion

    def advance(self, other: Soup, motion: Any = None, *, motion_a: Any = None, tolerance: float = 0.0,
                most_steps: int = 0, reach: float = 0.0, context: Optional[Context] = None) -> Advance:
        """When two soups that move as a whole first come within the tolerance. A motion is (pose, pose) or (pose,
        pose, centre), at the times 0 and 1."""
        both(self, other, Soup)
        definition, found = advance_def(tolerance, most_steps, reach), _abi.advance()
        pick(context, self._device)._call(
            lib.carom_soup_cross_advance, self._pointer, motion_pointer(motion_a, "motion_a"), other._pointer,
            motion_pointer(motion, "motion"), byref(definition), byref(found), reads=(self, other))
        return read(Advance, found)

    def _ends(self, end: Any, other: Optional[Soup], other_end: Any) -> tuple[list[Any], list[Any], tuple[Handle, ...]]:
        """The arguments of impacts, what they point to, and what they read."""
        views = [None if value is None else positions_view(value) for value in (end, other_end)]
        pointers = [None if view is None else byref(view.c) for view in views]
        meshes = [mesh for view in views if view is not None for mesh in view_reads(view)]
        if other is None:
            if views[0] is None:
                raise TypeError("end is None; give the positions at time 1")
            if views[1] is not None:
                raise TypeError("other_end is given without the other soup")
            return [self._pointer, pointers[0]], views, (self, *meshes)
        both(self, other, Soup)
        return [self._pointer, pointers[0], other._pointer, pointers[1]], views, (self, other, *meshes)

    def impacts(self, end: Any, other: Optional[Soup] = None, other_end: Any = None, *,
                context: Optional[Context] = None) -> Any:
        """All impacts while the vertices move in straight lines to the positions `end`: with itself, or with another
        soup. Records of kind, faces, vertices and time."""
        args, keep, reads = self._ends(end, other, other_end)
        found = Results("soup_impacts")
        function = lib.carom_soup_self_impacts if other is None else lib.carom_soup_cross_impacts
        pick(context, self._device)._call(function, *args, found.out, reads=reads)
        del keep
        return found.array()

    def first_impact(self, end: Any, other: Optional[Soup] = None, other_end: Any = None, *,
                     context: Optional[Context] = None) -> Optional[Impact]:
        """The first of these impacts, or None."""
        args, keep, reads = self._ends(end, other, other_end)
        found = _abi.soup_impact()
        function = lib.carom_soup_self_first_impact if other is None else lib.carom_soup_cross_first_impact
        pick(context, self._device)._call(function, *args, byref(found), reads=reads)
        del keep
        return None if found.kind == SoupImpactKind.NONE else read(Impact, found)

    # ---- What is near, and how far things may move

    def _near(self, function: Any, *args: Any, reads: Any, context: Optional[Context]) -> Any:
        found = Results("soup_near_pairs")
        pick(context, self._device)._call(function, *args, found.out, reads=reads)
        return found.array()

    def self_near(self, reach: float, *, context: Optional[Context] = None) -> Any:
        """All vertices and triangles, and all pairs of edges, that are at most `reach` apart and have no common vertex:
        records of kind, faces, vertices and distance, which is an interval.

        >>> import carom
        >>> layers = carom.Soup([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0.2, 0.2, 0.5], [9, 9, 9], [9, 8, 9]],
        ...                     [[0, 1, 2], [3, 4, 5]])
        >>> near = layers.self_near(0.5)                # what is exactly as far as the reach counts
        >>> near.a[0, 0], near.b[0].tolist(), near.distance.value[0]
        (3, [0, 1, 2], 0.5)
        """
        return self._near(lib.carom_soup_self_near, self._pointer, number(reach, "reach"), reads=(self,), context=context)

    def near(self, other: Soup, reach: float, pose: ArrayLike = None, *, pose_a: ArrayLike = None,
             context: Optional[Context] = None) -> Any:
        """The same between this and another soup.

        >>> import carom
        >>> box = carom.Soup(carom.Mesh.shape("box"))
        >>> len(box.near(box, 0.25, [2.5, 0, 0])), len(box.near(box, 0.5, [2.5, 0, 0])) > 0
        (0, True)
        """
        return self._near(lib.carom_soup_cross_near, *self._two(other, pose, pose_a), number(reach, "reach"),
                          reads=(self, other), context=context)

    def safe_step(self, end: Any, other: Optional[Soup] = None, other_end: Any = None, *, minimum: float = 0.0,
                  context: Optional[Context] = None) -> SafeStep:
        """How far all vertices may move in straight lines towards the positions `end`, so that nothing comes nearer than
        `minimum` on the way: with itself, or with another soup.

        >>> import carom
        >>> sheet = carom.Mesh.shape("grid")
        >>> floor, falling = carom.Soup(sheet), carom.Soup(sheet.vertices + [0, 0, 1], sheet.faces)
        >>> step = floor.safe_step(None, falling, sheet.vertices - [0, 0, 1], minimum=0.5)
        >>> round(step.time, 5), round(step.limit.distance.value, 5)
        (0.25, 0.5)
        >>> floor.safe_step(sheet.vertices + [0, 0, 1])
        SafeStep(time=1.0, limit=None)
        """
        args, keep, reads = self._ends(end, other, other_end)
        found = _abi.soup_step()
        function = lib.carom_soup_self_safe_step if other is None else lib.carom_soup_cross_safe_step
        pick(context, self._device)._call(function, *args, number(minimum, "minimum"), byref(found), reads=reads)
        del keep
        limit = None if found.limit.kind == SoupImpactKind.NONE else read(NearPair, found.limit)
        return SafeStep(found.time, limit)

    def self_safe_distances(self, reach: float, *, minimum: float = 0.0, context: Optional[Context] = None) -> np.ndarray:
        """(vertices,) float64: how far each vertex may move in any direction while all others do the same, so that
        nothing comes nearer than `minimum`; at most (reach - minimum) / 2.

        >>> import carom
        >>> carom.Soup(carom.Mesh.shape("box")).self_safe_distances(0.5).round(6).tolist()
        [0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25]
        """
        return self._distances(lib.carom_soup_self_safe_distances, (self,), self._pointer, number(reach, "reach"),
                               number(minimum, "minimum"), context=context)[0]

    def safe_distances(self, other: Soup, reach: float, pose: ArrayLike = None, *, pose_a: ArrayLike = None,
                       minimum: float = 0.0, context: Optional[Context] = None) -> tuple[np.ndarray, np.ndarray]:
        """The same between this and another soup: an array for the vertices of each.

        >>> import carom
        >>> box = carom.Soup(carom.Mesh.shape("box"))
        >>> mine, others = box.safe_distances(box, 9.0, [3, 0, 0])
        >>> round(mine.min(), 6), round(others.min(), 6)    # each half of what is between them
        (0.5, 0.5)
        """
        two = self._two(other, pose, pose_a)
        mine, others = self._distances(lib.carom_soup_cross_safe_distances, (self, other), *two, number(reach, "reach"),
                                       number(minimum, "minimum"), context=context)
        return mine, others

    def _distances(self, function: Any, soups: tuple[Soup, ...], *args: Any,
                   context: Optional[Context]) -> list[np.ndarray]:
        """A number for each vertex of each soup; the arrays are made while no soup can change."""
        found: list[np.ndarray] = []

        def call(*given: Any) -> int:
            found.extend(np.zeros(soup._vertex_count) for soup in soups)
            return function(*given, *map(address, found))

        pick(context, self._device)._call(call, *args, reads=soups)
        return found

    # ---- Crowding

    def kfree(self, *, context: Optional[Context] = None) -> KFree:
        """How crowded the faces are: the least k for which the soup is k-free."""
        return read(KFree, self._measure(None, context))

    def kfree_counts(self, *, context: Optional[Context] = None) -> np.ndarray:
        """What each face counts."""
        counts = Results("numbers")
        self._measure(counts.out, context)
        return counts.array()

    def _measure(self, counts: Any, context: Optional[Context]) -> Any:
        found = _abi.kfree()
        pick(context, self._device)._call(lib.carom_kfree_measure, self._pointer, byref(found), counts, reads=(self,))
        return found

    def kfree_bound(self, other: Soup, *, context: Optional[Context] = None) -> KFreeMost:
        """The most pairs that the two can have in any pose."""
        both(self, other, Soup)
        a, b, most = self._measure(None, context), other._measure(None, context), _abi.kfree_most()
        pick(context, self._device)._call(lib.carom_kfree_bound, byref(a), byref(b), byref(most))
        return read(KFreeMost, most)


def device_of(device: Optional[str], context: Optional[Context]) -> str:
    """The device of a structure: the one that is named, or that of its context."""
    if device is None:
        return "cpu" if context is None else pick(context).device
    name = parse_device(device)[0]
    if context is not None and pick(context).device != name:
        raise ValueError(f"device is {name}, and the context is of {context.device}")
    return name


def _receiver(receive: Callable[[np.ndarray], Any]) -> tuple[Raised, Any]:
    """A callback that gives pairs to a function: copies, which it may keep."""
    if not callable(receive):
        raise TypeError("receive is a function of an array of pairs")
    raised = Raised()

    def take(_user: Any, pairs: int, count: int) -> bool:
        chunk = np.frombuffer(ctypes.string_at(pairs, 8 * count), np.uint32).reshape(-1, 2)
        return bool(receive(chunk))

    return raised, _abi.pairs_fn(raised.guard(take, True))
