# SPDX-License-Identifier: MIT
"""Work whose input and results stay on the GPU. Experimental: it may still change between minor versions.

    context = carom.Context(device="cuda")
    soup = carom.Soup(vertices, faces, context=context)
    soup.update(positions)                            # anything with __cuda_array_interface__, where it is
    pairs = carom.cuda.self_pairs(soup)               # does not wait
    cupy.asarray(pairs)                               # waits, and copies nothing

Calls of this module queue work on the stream of the context and do not wait, but for finish() and what needs results:
len(), read() and __cuda_array_interface__ of them. Arrays must be complete when they are given: synchronise the stream
that makes them, or make the context with it (Context(stream=...)).

A sequence of calls that is repeated can be recorded and run as one graph:

    with carom.cuda.record(context) as frame:
        soup.update(positions)
        pairs = carom.cuda.self_pairs(soup)
    frame.run()
"""
from __future__ import annotations

import contextlib
import ctypes
from typing import Any, Iterator, Optional, Sequence, Union

import numpy as np

from . import _abi
from ._abi import BallsPairKind, CudaOrder, Scalar, SoupImpactKind
from ._arrays import ArrayLike, address, dtype_of, number, packed, pose_pointer
from ._broad import Broad
from ._convex import Convex
from ._core import Context, Handle, byref, default_context, lib, pick
from ._records import CudaRobotInfo, Impact, info, read
from ._robot import Robot
from ._scene import Scene
from ._solid import Solid
from ._soup import Soup, both
from ._tree import Balls, Tree, balls_query_def, tree_query_def

__all__ = ["ConvexBodies", "ConvexShapes", "DeviceArray", "DeviceImpacts", "DeviceManifolds", "DevicePairs",
           "DeviceRayHits", "DeviceResults", "DeviceSceneContacts", "DeviceSegments", "Frame", "RobotCopy",
           "available", "balls_overlap", "balls_pairs", "broad_pairs", "cast_rays", "closest_points", "convex_boxes",
           "convex_contacts", "convex_depth", "convex_distance", "convex_meet", "cross_distance",
           "cross_first_impact", "cross_impacts", "cross_meet", "cross_pairs", "cross_segments", "finish",
           "move_scene", "query_rays", "record", "self_first_impact", "self_impacts", "self_near", "self_pairs",
           "self_safe_distances", "self_segments", "set_timing", "signed_distances", "step_scene", "steps",
           "to_device", "tree_distance", "tree_meet", "tree_overlap", "update_broad", "update_solid", "update_soup",
           "winding", "winding_fractions"]

_pending: dict[int, list[Any]] = {}  # by context: what queued work reads and writes, until it is finished


def available() -> bool:
    """Whether this process can use a CUDA device.

    >>> import carom.cuda
    >>> carom.cuda.available() in (True, False)
    True
    """
    return lib.carom_cuda_describe(None, 0)


def _keep(context: Context, *things: Any) -> None:
    _pending.setdefault(id(context), []).extend(things)


def _context(context: Optional[Context], thing: Any = None) -> Context:
    return pick(context, getattr(thing, "_device", "cuda:0"))


def finish(context: Optional[Context] = None) -> None:
    """Waits for all queued work. Bad input that is only found on the device is reported here."""
    chosen = context or default_context("cuda")
    chosen._call(lib.carom_cuda_finish)
    _pending.pop(id(chosen), None)


# ---- Device memory -------------------------------------------------------------------------------------------------

class DeviceArray:
    """An array in device memory that the library owns."""

    def __init__(self, shape: Any, dtype: Any = np.float64, *, context: Optional[Context] = None) -> None:
        self._pointer = ctypes.c_void_p()
        self._context = _context(context)
        self.shape = (shape,) if isinstance(shape, int) else tuple(shape)
        self.dtype = np.dtype(dtype)
        self._context._call(lib.carom_cuda_allocate, max(self.nbytes, 1), byref(self._pointer))

    def __del__(self) -> None:
        if getattr(self, "_pointer", None) and self._context._pointer:
            lib.carom_cuda_release(self._context._pointer, self._pointer)

    @property
    def nbytes(self) -> int:
        """The size in bytes."""
        return int(np.prod(self.shape, dtype=np.int64)) * self.dtype.itemsize

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {"version": 2, "shape": self.shape, "typestr": self.dtype.str, "data": (self._pointer.value or 0, False)}

    def write(self, values: ArrayLike) -> None:
        """Copies from the host."""
        given = packed(values, self.dtype)
        if given.shape != self.shape:
            raise ValueError(f"values have the shape {given.shape}; give {self.shape}")
        self._context._call(lib.carom_cuda_write, self._pointer, address(given), given.nbytes)

    def read(self) -> np.ndarray:
        """Copies to the host, after all queued work."""
        return _read(self._context, self._pointer.value or 0, self.shape, self.dtype)


def _read(context: Context, pointer: int, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    found = np.zeros(shape, dtype)
    if found.nbytes:
        context._call(lib.carom_cuda_read, address(found), pointer, found.nbytes)
    return found


def to_device(values: ArrayLike, *, context: Optional[Context] = None) -> DeviceArray:
    """A copy of an array in device memory."""
    given = np.ascontiguousarray(values)
    made = DeviceArray(given.shape, given.dtype, context=context)
    made.write(given)
    return made


def _device(values: Any, tail: tuple[int, ...], types: Sequence[Any], name: str) -> tuple[int, int, np.dtype]:
    """The address, the length and the type of an array in device memory whose rows have the shape `tail`."""
    interface = getattr(values, "__cuda_array_interface__", None)
    if interface is None:
        raise TypeError(f"{name} is a {type(values).__name__}, which is not in device memory: it has no "
                        "__cuda_array_interface__; carom.cuda.to_device() copies it there")
    dtype, shape, strides = np.dtype(interface["typestr"]), tuple(interface["shape"]), interface.get("strides")
    if dtype not in [np.dtype(t) for t in types]:
        raise TypeError(f"{name} has the type {dtype}; give " + " or ".join(str(np.dtype(t)) for t in types))
    if shape[1:] != tail:
        raise ValueError(f"{name} has the shape {shape}; give (n, {', '.join(map(str, tail))})")
    packed = np.empty(shape, dtype).strides if strides is not None and 0 not in shape else None
    if packed is not None and tuple(strides) != packed:
        raise ValueError(f"{name} is not packed; make a contiguous copy")
    return interface["data"][0] or 0, shape[0], dtype


class _DeviceResult:
    """A result in device memory: data, count and the record of the library."""

    _struct: Any
    _free: Any

    def __init__(self, context: Context) -> None:
        self._context = context
        self._c = self._struct()

    def __del__(self) -> None:
        if getattr(self, "_c", None) is not None and self._c.memory and self._context._pointer:
            self._free(self._context._pointer, byref(self._c))

    def __len__(self) -> int:
        if id(self._context) in _pending:
            finish(self._context)
        return self._c.count


class DevicePairs(_DeviceResult):
    """(n, 2) uint32 pairs in device memory. len() and __cuda_array_interface__ wait for them."""

    _struct = _abi.cuda_pairs
    _free = staticmethod(lib.carom_cuda_pairs_free)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {"version": 2, "shape": (len(self), 2), "typestr": "<u4", "data": (self._c.data or 0, False)}

    def read(self) -> np.ndarray:
        """Copies them to the host."""
        return _read(self._context, self._c.data or 0, (len(self), 2), np.uint32)


class DeviceResults(_DeviceResult):
    """Answers about convex shapes in device memory, one per pair."""

    _struct = _abi.cuda_convex_results
    _free = staticmethod(lib.carom_cuda_convex_results_free)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        size = ctypes.sizeof(_abi.convex_result)
        return {"version": 2, "shape": (len(self), size), "typestr": "|u1", "data": (self._c.data or 0, False)}

    def read(self) -> Any:
        """Copies them to the host, as records."""
        kind = np.dtype((np.record, dtype_of(_abi.convex_result)))
        return _read(self._context, self._c.data or 0, (len(self),), kind).view(np.recarray)


class DeviceManifolds(_DeviceResult):
    """Answers about convex shapes with their contact points in device memory, one per pair."""

    _struct = _abi.cuda_convex_manifolds
    _free = staticmethod(lib.carom_cuda_convex_manifolds_free)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        size = ctypes.sizeof(_abi.convex_manifold)
        return {"version": 2, "shape": (len(self), size), "typestr": "|u1", "data": (self._c.data or 0, False)}

    def read(self) -> Any:
        """Copies them to the host, as records."""
        kind = np.dtype((np.record, dtype_of(_abi.convex_manifold)))
        return _read(self._context, self._c.data or 0, (len(self),), kind).view(np.recarray)


class DeviceSceneContacts(_DeviceResult):
    """Contacts of a step of a scene in device memory; len() waits for them."""

    _struct = _abi.cuda_scene_contacts
    _free = staticmethod(lib.carom_cuda_scene_contacts_free)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        size = ctypes.sizeof(_abi.scene_contact)
        return {"version": 2, "shape": (len(self), size), "typestr": "|u1", "data": (self._c.data or 0, False)}

    def read(self) -> Any:
        """Copies them to the host, as records."""
        kind = np.dtype((np.record, dtype_of(_abi.scene_contact)))
        return _read(self._context, self._c.data or 0, (len(self),), kind).view(np.recarray)


class DeviceRayHits(_DeviceResult):
    """Faces that rays meet, in device memory; len() waits for them."""

    _struct = _abi.cuda_ray_hits
    _free = staticmethod(lib.carom_cuda_ray_hits_free)

    @property
    def host_items(self) -> int:
        """How many rays were decided on the host, because integers on the device were too short."""
        return self._c.host_items if len(self) >= 0 else 0

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        size = ctypes.sizeof(_abi.soup_ray_hit)
        return {"version": 2, "shape": (len(self), size), "typestr": "|u1", "data": (self._c.data or 0, False)}

    def read(self) -> Any:
        """Copies them to the host, as records."""
        kind = np.dtype((np.record, dtype_of(_abi.soup_ray_hit)))
        return _read(self._context, self._c.data or 0, (len(self),), kind).view(np.recarray)


class DeviceSegments(_DeviceResult):
    """Where pairs of faces meet, in device memory; len() waits for them."""

    _struct = _abi.cuda_segments
    _free = staticmethod(lib.carom_cuda_segments_free)

    @property
    def host_items(self) -> int:
        """How many pairs were cut on the host, because integers on the device were too short."""
        return self._c.host_items if len(self) >= 0 else 0

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        size = ctypes.sizeof(_abi.soup_segment)
        return {"version": 2, "shape": (len(self), size), "typestr": "|u1", "data": (self._c.data or 0, False)}

    def read(self) -> Any:
        """Copies them to the host, as records."""
        kind = np.dtype((np.record, dtype_of(_abi.soup_segment)))
        return _read(self._context, self._c.data or 0, (len(self),), kind).view(np.recarray)


class DeviceImpacts(_DeviceResult):
    """Impacts or near pairs of soups in device memory; len() waits for them. `time` of near pairs is the distance."""

    _struct = _abi.cuda_impacts
    _free = staticmethod(lib.carom_cuda_impacts_free)

    @property
    def host_items(self) -> int:
        """How many were decided on the host, because doubles could not."""
        return self._c.host_items if len(self) >= 0 else 0

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        size = ctypes.sizeof(_abi.soup_impact)
        return {"version": 2, "shape": (len(self), size), "typestr": "|u1", "data": (self._c.data or 0, False)}

    def read(self) -> Any:
        """Copies them to the host, as records."""
        kind = np.dtype((np.record, dtype_of(_abi.soup_impact)))
        return _read(self._context, self._c.data or 0, (len(self),), kind).view(np.recarray)


# ---- Soups ---------------------------------------------------------------------------------------------------------

def update_soup(soup: Soup, positions: Any, context: Optional[Context] = None) -> None:
    """Soup.update with positions in device memory, as many and of the type with which the soup was made."""
    pointer, count, dtype = _device(positions, (3,), (np.float32, np.float64), "positions")
    scalar = Scalar.FLOAT32 if dtype == np.float32 else Scalar.FLOAT64
    given, chosen = _abi.cuda_positions(pointer, scalar, count), _context(context, soup)
    _keep(chosen, positions, given, soup)
    chosen._call(lib.carom_cuda_soup_update, soup._pointer, byref(given), change=soup)


def update_solid(solid: Solid, positions: Any, context: Optional[Context] = None) -> int:
    """Solid.update with positions in device memory, as many as the solid was made of; waits. How many triangles the host
    measured: all of them in the first update of a solid, and where its mesh crosses itself."""
    pointer, count, dtype = _device(positions, (3,), (np.float32, np.float64), "positions")
    scalar = Scalar.FLOAT32 if dtype == np.float32 else Scalar.FLOAT64
    given, chosen = _abi.cuda_positions(pointer, scalar, count), _context(context, solid)
    host_items = ctypes.c_uint64()
    chosen._call(lib.carom_cuda_solid_update, solid._pointer, byref(given), byref(host_items), change=solid)
    return host_items.value


def self_pairs(soup: Soup, order: Union[str, CudaOrder] = CudaOrder.SORTED, *,
               context: Optional[Context] = None) -> DevicePairs:
    """Soup.self_pairs with the result in device memory."""
    chosen = _context(context, soup)
    found = DevicePairs(chosen)
    _keep(chosen, found, soup)
    chosen._call(lib.carom_cuda_soup_self_pairs, soup._pointer, CudaOrder.of(order), byref(found._c), reads=(soup,))
    return found


def cross_pairs(a: Soup, b: Soup, pose: ArrayLike = None, *, pose_a: ArrayLike = None,
                order: Union[str, CudaOrder] = CudaOrder.SORTED, context: Optional[Context] = None) -> DevicePairs:
    """Soup.pairs with the result in device memory."""
    both(a, b, Soup)
    chosen = _context(context, a)
    found = DevicePairs(chosen)
    _keep(chosen, found, a, b)
    chosen._call(lib.carom_cuda_soup_cross_pairs, a._pointer, pose_pointer(pose_a, "pose_a"), b._pointer,
                 pose_pointer(pose), CudaOrder.of(order), byref(found._c), reads=(a, b))
    return found


def self_segments(soup: Soup, pairs: DevicePairs, *, context: Optional[Context] = None) -> DeviceSegments:
    """Soup.segments of pairs in device memory, queued or not, with the result there."""
    chosen = _context(context, soup)
    found = DeviceSegments(chosen)
    _keep(chosen, pairs, found, soup)
    chosen._call(lib.carom_cuda_soup_self_segments, soup._pointer, byref(pairs._c), byref(found._c), reads=(soup,))
    return found


def cross_segments(a: Soup, b: Soup, pairs: DevicePairs, pose: ArrayLike = None, *, pose_a: ArrayLike = None,
                   context: Optional[Context] = None) -> DeviceSegments:
    """Soup.segments of pairs of two soups in device memory, queued or not, with the result there."""
    both(a, b, Soup)
    chosen = _context(context, a)
    found = DeviceSegments(chosen)
    _keep(chosen, pairs, found, a, b)
    chosen._call(lib.carom_cuda_soup_cross_segments, a._pointer, pose_pointer(pose_a, "pose_a"), b._pointer,
                 pose_pointer(pose), byref(pairs._c), byref(found._c), reads=(a, b))
    return found


def _end_positions(values: Any, name: str) -> Any:
    if values is None:
        return None
    pointer, count, dtype = _device(values, (3,), (np.float32, np.float64), name)
    return _abi.cuda_positions(pointer, Scalar.FLOAT32 if dtype == np.float32 else Scalar.FLOAT64, count)


def self_impacts(soup: Soup, end: Any, *, context: Optional[Context] = None) -> DeviceImpacts:
    """Soup.impacts with (n, 3) end positions and result in device memory."""
    given, chosen = _end_positions(end, "end"), _context(context, soup)
    found = DeviceImpacts(chosen)
    _keep(chosen, end, given, found, soup)
    chosen._call(lib.carom_cuda_soup_self_impacts, soup._pointer, byref(given) if given is not None else None,
                 byref(found._c), reads=(soup,))
    return found


def cross_impacts(a: Soup, b: Soup, end_a: Any = None, end_b: Any = None, *,
                  context: Optional[Context] = None) -> DeviceImpacts:
    """Soup.impacts of two soups with (n, 3) end positions and result in device memory; None: the soup stays where it is."""
    both(a, b, Soup)
    chosen = _context(context, a)
    given_a, given_b = _end_positions(end_a, "end_a"), _end_positions(end_b, "end_b")
    found = DeviceImpacts(chosen)
    _keep(chosen, end_a, end_b, given_a, given_b, found, a, b)
    chosen._call(lib.carom_cuda_soup_cross_impacts, a._pointer, byref(given_a) if given_a is not None else None,
                 b._pointer, byref(given_b) if given_b is not None else None, byref(found._c), reads=(a, b))
    return found


def self_first_impact(soup: Soup, end: Any, *, context: Optional[Context] = None) -> Optional[Impact]:
    """Soup.first_impact with (n, 3) end positions in device memory; waits."""
    given, chosen, found = _end_positions(end, "end"), _context(context, soup), _abi.soup_impact()
    _keep(chosen, end, given, found, soup)
    chosen._call(lib.carom_cuda_soup_self_first_impact, soup._pointer, byref(given) if given is not None else None,
                 byref(found), reads=(soup,))
    finish(chosen)
    return None if found.kind == SoupImpactKind.NONE else read(Impact, found)


def cross_first_impact(a: Soup, b: Soup, end_a: Any = None, end_b: Any = None, *,
                       context: Optional[Context] = None) -> Optional[Impact]:
    """Soup.first_impact of two soups with (n, 3) end positions in device memory; waits."""
    both(a, b, Soup)
    chosen, found = _context(context, a), _abi.soup_impact()
    given_a, given_b = _end_positions(end_a, "end_a"), _end_positions(end_b, "end_b")
    _keep(chosen, end_a, end_b, given_a, given_b, found, a, b)
    chosen._call(lib.carom_cuda_soup_cross_first_impact, a._pointer, byref(given_a) if given_a is not None else None,
                 b._pointer, byref(given_b) if given_b is not None else None, byref(found), reads=(a, b))
    finish(chosen)
    return None if found.kind == SoupImpactKind.NONE else read(Impact, found)


def self_near(soup: Soup, reach: float, *, context: Optional[Context] = None) -> DeviceImpacts:
    """Soup.self_near with the result in device memory."""
    chosen = _context(context, soup)
    found = DeviceImpacts(chosen)
    _keep(chosen, found, soup)
    chosen._call(lib.carom_cuda_soup_self_near, soup._pointer, float(reach), byref(found._c), reads=(soup,))
    return found


def self_safe_distances(soup: Soup, reach: float, minimum: float = 0.0, *,
                        context: Optional[Context] = None) -> DeviceArray:
    """Soup.self_safe_distances with the result in device memory."""
    chosen = _context(context, soup)
    found = DeviceArray(soup._vertex_count, np.float64, context=chosen)
    _keep(chosen, found, soup)
    chosen._call(lib.carom_cuda_soup_self_safe_distances, soup._pointer, float(reach), float(minimum),
                 found._pointer, reads=(soup,))
    return found


# ---- Points and rays -----------------------------------------------------------------------------------------------

_HIT = np.dtype((np.record, dtype_of(_abi.hit)))


def _answer(function: Any, soup: Soup, queries: Any, size: int, dtypes: tuple[Any, ...],
            context: Optional[Context]) -> list[DeviceArray]:
    pointer, count, _ = _device(queries, (size,), (np.float64,), "points" if size == 3 else "rays")
    chosen = _context(context, soup)
    found = [DeviceArray(count, dtype, context=chosen) for dtype in dtypes]
    _keep(chosen, queries, found, soup)
    chosen._call(function, soup._pointer, pointer, count, *(array._pointer for array in found), reads=(soup,))
    return found


def closest_points(soup: Soup, points: Any, *, context: Optional[Context] = None) -> DeviceArray:
    """Soup.closest_points for (n, 3) points in device memory. The hits stay there; read() gives them as records."""
    return _answer(lib.carom_cuda_soup_closest_points, soup, points, 3, (_HIT,), context)[0]


def cast_rays(soup: Soup, rays: Any, *, context: Optional[Context] = None) -> DeviceArray:
    """Soup.cast_rays for (n, 7) rays in device memory: origin, direction and length, 0 for no end. The hits stay there;
    read() gives them as records."""
    return _answer(lib.carom_cuda_soup_cast_rays, soup, rays, 7, (_HIT,), context)[0]


def query_rays(soup: Soup, rays: Any, *, context: Optional[Context] = None) -> DeviceRayHits:
    """Soup.query_rays for (n, 7) rays in device memory. The hits stay there."""
    pointer, count, _ = _device(rays, (7,), (np.float64,), "rays")
    chosen = _context(context, soup)
    found = DeviceRayHits(chosen)
    _keep(chosen, rays, found, soup)
    chosen._call(lib.carom_cuda_soup_query_rays, soup._pointer, pointer, count, byref(found._c), reads=(soup,))
    return found


def winding(soup: Soup, points: Any, *, context: Optional[Context] = None) -> DeviceArray:
    """Soup.winding for (n, 3) points in device memory. The winding numbers stay there."""
    return _answer(lib.carom_cuda_soup_winding, soup, points, 3, (np.int32,), context)[0]


def winding_fractions(soup: Soup, points: Any, *, context: Optional[Context] = None) -> DeviceArray:
    """Soup.winding_fractions for (n, 3) points in device memory. The generalised winding numbers stay there."""
    return _answer(lib.carom_cuda_soup_winding_fractions, soup, points, 3, (np.float64,), context)[0]


def signed_distances(soup: Soup, points: Any, *, context: Optional[Context] = None) -> tuple[DeviceArray, DeviceArray]:
    """Soup.signed_distances for (n, 3) points in device memory: distances and hits, which stay there."""
    distances, hits = _answer(lib.carom_cuda_soup_signed_distances, soup, points, 3, (np.float64, _HIT), context)
    return distances, hits


# ---- Balls and boxes -----------------------------------------------------------------------------------------------

def _device_poses(values: Any, name: str) -> tuple[Optional[int], int]:
    if values is None:
        return None, -1
    pointer, count, _ = _device(values, (7,), (np.float64,), name)
    return pointer, count


def _two_poses(pose_a: Any, pose: Any) -> tuple[Any, Any, int]:
    first, count_a = _device_poses(pose_a, "pose_a")
    second, count = _device_poses(pose, "pose")
    if first is not None and second is not None and count_a != count:
        raise ValueError(f"pose_a has {count_a} poses and pose {count}: give as many")
    return first, second, max(count, count_a)


def balls_overlap(a: Balls, b: Balls, pose: Any, pose_a: Any = None, definition: Any = None,
                  context: Optional[Context] = None) -> DeviceArray:
    """Balls.overlap for (n, 7) poses in device memory, in the order of C: qw qx qy qz tx ty tz. The answers stay there;
    read() gives them as records."""
    both(a, b, Balls)
    chosen = _context(context, a)
    first, second, count = _two_poses(pose_a, pose)
    kind = np.dtype((np.record, dtype_of(_abi.packing_overlap)))
    found = DeviceArray(count, kind, context=chosen)
    definition = definition if definition is not None else balls_query_def(1.0, 1.0, False)
    _keep(chosen, pose, pose_a, found, definition, a, b)
    chosen._call(lib.carom_cuda_balls_overlap, a._pointer, first, b._pointer, second, count, byref(definition),
                 found._pointer, reads=(a, b))
    return found


def balls_pairs(a: Balls, b: Balls, pose: Any = None, pose_a: Any = None, *,
                kind: Union[str, BallsPairKind] = BallsPairKind.SECONDARY,
                order: Union[str, CudaOrder] = CudaOrder.SORTED, context: Optional[Context] = None) -> DevicePairs:
    """Balls.pairs with (1, 7) poses, in the order of C, and result in device memory."""
    both(a, b, Balls)
    chosen = _context(context, a)
    found, definition = DevicePairs(chosen), balls_query_def(1.0, 1.0, False)
    _keep(chosen, pose, pose_a, found, definition, a, b)
    chosen._call(lib.carom_cuda_balls_pairs, a._pointer, _device_poses(pose_a, "pose_a")[0], b._pointer,
                 _device_poses(pose, "pose")[0], BallsPairKind.of(kind), CudaOrder.of(order), byref(definition),
                 byref(found._c), reads=(a, b))
    return found


def _tree_in_poses(function: Any, a: Tree, b: Tree, pose: Any, pose_a: Any, dtype: Any, context: Optional[Context],
                   options: dict[str, Any]) -> DeviceArray:
    both(a, b, Tree)
    chosen, definition = _context(context, a), tree_query_def(**options)
    first, second, count = _two_poses(pose_a, pose)
    found = DeviceArray(count, dtype, context=chosen)
    _keep(chosen, pose, pose_a, found, definition, a, b)
    chosen._call(function, a._pointer, first, b._pointer, second, count, byref(definition), found._pointer,
                 reads=(a, b))
    return found


def tree_meet(a: Tree, b: Tree, pose: Any, pose_a: Any = None, *, context: Optional[Context] = None,
              **options: Any) -> DeviceArray:
    """Tree.meet for (n, 7) poses in device memory, in the order of C. The answers stay there."""
    return _tree_in_poses(lib.carom_cuda_tree_meet, a, b, pose, pose_a, np.bool_, context, options)


def tree_distance(a: Tree, b: Tree, pose: Any, pose_a: Any = None, *, context: Optional[Context] = None,
                  **options: Any) -> DeviceArray:
    """Tree.distance for such poses; of faces, exact_distance must be given. read() gives the answers as records."""
    kind = np.dtype((np.record, dtype_of(_abi.tree_gap)))
    return _tree_in_poses(lib.carom_cuda_tree_distance, a, b, pose, pose_a, kind, context, options)


def tree_overlap(a: Tree, b: Tree, pose: Any, pose_a: Any = None, *, context: Optional[Context] = None,
                 **options: Any) -> DeviceArray:
    """Tree.overlap for such poses. read() gives the answers as records."""
    kind = np.dtype((np.record, dtype_of(_abi.packing_overlap)))
    return _tree_in_poses(lib.carom_cuda_tree_overlap, a, b, pose, pose_a, kind, context, options)


def _in_poses(function: Any, a: Soup, b: Soup, pose: Any, pose_a: Any, dtype: Any, context: Optional[Context],
              *more: Any) -> DeviceArray:
    both(a, b, Soup)
    chosen = _context(context, a)
    first, second, count = _two_poses(pose_a, pose)
    found = DeviceArray(count, dtype, context=chosen)
    _keep(chosen, pose, pose_a, found, a, b)
    chosen._call(function, a._pointer, first, b._pointer, second, count, *more, found._pointer, reads=(a, b))
    return found


def cross_distance(a: Soup, b: Soup, pose: Any, pose_a: Any = None, *, limit: float = 0.0,
                   context: Optional[Context] = None) -> DeviceArray:
    """Soup.distance for (n, 7) poses in device memory, in the order of C. The distances, faces and points stay there;
    read() gives them as records."""
    kind = np.dtype((np.record, dtype_of(_abi.soup_gap)))
    return _in_poses(lib.carom_cuda_soup_cross_distance, a, b, pose, pose_a, kind, context, float(limit))


def cross_meet(a: Soup, b: Soup, pose: Any, pose_a: Any = None, *, context: Optional[Context] = None) -> DeviceArray:
    """Soup.meet for (n, 7) poses in device memory, in the order of C. The answers stay there."""
    return _in_poses(lib.carom_cuda_soup_cross_meet, a, b, pose, pose_a, np.bool_, context)


def update_broad(broad: Broad, boxes: Any, context: Optional[Context] = None) -> None:
    """Broad.move of all boxes, (n, 6) in device memory, and commit. They are not copied: they must stay as they are until
    the next change."""
    pointer, count, _ = _device(boxes, (6,), (np.float64,), "boxes")
    chosen = _context(context, broad)
    _keep(chosen, boxes, broad)
    chosen._call(lib.carom_cuda_broad_update, broad._pointer, pointer, count, change=broad)
    broad._device_boxes = boxes  # type: ignore[attr-defined]  # kept until the next update


def broad_pairs(broad: Broad, order: Union[str, CudaOrder] = CudaOrder.SORTED, *,
                context: Optional[Context] = None) -> DevicePairs:
    """Broad.pairs with the result in device memory."""
    chosen = _context(context, broad)
    found = DevicePairs(chosen)
    _keep(chosen, found, broad)
    chosen._call(lib.carom_cuda_broad_pairs, broad._pointer, CudaOrder.of(order), byref(found._c), reads=(broad,))
    return found


# ---- Convex bodies -------------------------------------------------------------------------------------------------

class ConvexShapes(Handle):
    """Convex shapes, copied to the device; hulls must have been made with a CUDA context."""

    _destroy = staticmethod(lib.carom_cuda_convex_shapes_destroy)

    def __init__(self, shapes: Sequence[Convex], *, context: Optional[Context] = None) -> None:
        super().__init__("cuda:0" if context is None else context.device)
        self._shapes = list(shapes)
        reads = tuple(handle for shape in self._shapes for handle in shape._reads())
        table = (_abi.convex * len(self._shapes))(*[shape._c for shape in self._shapes])
        definition = _abi.cuda_convex_shapes_def(ctypes.addressof(table), len(table))
        _context(context, self)._call(lib.carom_cuda_convex_shapes_create, byref(definition), byref(self._pointer),
                                      reads=reads)


class ConvexBodies:
    """Shapes with (n, 7) poses, in the order of C: qw qx qy qz tx ty tz; arrays in device memory.

    shape_of: the shape of each body; None: all have the first.
    """

    def __init__(self, shapes: ConvexShapes, poses: Any, shape_of: Any = None) -> None:
        pointer, count, _ = _device(poses, (7,), (np.float64,), "poses")
        which = None
        if shape_of is not None:
            which, length, _ = _device(shape_of, (), (np.uint32,), "shape_of")
            if length != count:
                raise ValueError(f"shape_of has {length} numbers for {count} poses")
        self._keep = (shapes, poses, shape_of)
        self._shapes, self.count = shapes, count
        self._c = _abi.cuda_convex_bodies(shapes._pointer, which, pointer, count)


def convex_boxes(bodies: ConvexBodies, *, context: Optional[Context] = None) -> DeviceArray:
    """(n, 6): boxes around bodies, in device memory."""
    chosen = _context(context, bodies._shapes)
    found = DeviceArray((bodies.count, 6), np.float64, context=chosen)
    _keep(chosen, bodies, found)
    chosen._call(lib.carom_cuda_convex_boxes, byref(bodies._c), found._pointer, reads=(bodies._shapes,))
    return found


def _convex(function: Any, bodies: ConvexBodies, pairs: DevicePairs, context: Optional[Context]) -> DeviceResults:
    chosen = _context(context, bodies._shapes)
    found = DeviceResults(chosen)
    _keep(chosen, bodies, pairs, found)
    chosen._call(function, byref(bodies._c), byref(pairs._c), None, byref(found._c), reads=(bodies._shapes,))
    return found


def convex_meet(bodies: ConvexBodies, pairs: DevicePairs, *, context: Optional[Context] = None) -> DeviceResults:
    """Whether the bodies of each pair meet: the relation of the answers."""
    return _convex(lib.carom_cuda_convex_meet_batch, bodies, pairs, context)


def convex_distance(bodies: ConvexBodies, pairs: DevicePairs, *, context: Optional[Context] = None) -> DeviceResults:
    """How far apart the bodies of each pair are."""
    return _convex(lib.carom_cuda_convex_distance_batch, bodies, pairs, context)


def convex_depth(bodies: ConvexBodies, pairs: DevicePairs, *, context: Optional[Context] = None) -> DeviceResults:
    """How far apart or how deep the bodies of each pair are."""
    return _convex(lib.carom_cuda_convex_depth_batch, bodies, pairs, context)


def convex_contacts(bodies: ConvexBodies, pairs: DevicePairs, reach: float = 0.0, *,
                    context: Optional[Context] = None) -> DeviceManifolds:
    """The same with contact points of bodies that are at most the reach apart."""
    chosen = _context(context, bodies._shapes)
    found = DeviceManifolds(chosen)
    _keep(chosen, bodies, pairs, found)
    chosen._call(lib.carom_cuda_convex_contacts_batch, byref(bodies._c), byref(pairs._c), reach, None,
                 byref(found._c), reads=(bodies._shapes,))
    return found


# ---- Scenes --------------------------------------------------------------------------------------------------------

def move_scene(scene: Scene, poses: Any, context: Optional[Context] = None) -> None:
    """Scene.move of all objects, by id, with (n, 7) poses in device memory, in the order of C: qw qx qy qz tx ty tz."""
    pointer, count, _ = _device(poses, (7,), (np.float64,), "poses")
    chosen = _context(context, scene)
    _keep(chosen, poses, scene)
    chosen._call(lib.carom_cuda_scene_move, scene._pointer, pointer, count, change=scene)


def step_scene(scene: Scene, context: Optional[Context] = None) -> tuple[DeviceSceneContacts, DevicePairs, DevicePairs]:
    """Scene.step with the contacts, and the pairs that began and ended, in device memory."""
    chosen = _context(context, scene)
    contacts, begun, ended = DeviceSceneContacts(chosen), DevicePairs(chosen), DevicePairs(chosen)
    _keep(chosen, contacts, begun, ended, scene)
    chosen._call(lib.carom_cuda_scene_step, scene._pointer, byref(contacts._c), byref(begun._c), byref(ended._c),
                 change=scene, reads=scene._borrowed())
    scene._stepped()
    return contacts, begun, ended


# ---- Robots --------------------------------------------------------------------------------------------------------

class RobotCopy(Handle):
    """A robot and its world, copied to the device. Call update() after changes of the robot."""

    _destroy = staticmethod(lib.carom_cuda_robot_destroy)

    def __init__(self, robot: Robot, *, context: Optional[Context] = None) -> None:
        super().__init__("cuda:0" if context is None else context.device)
        self._robot, self._dof = robot, robot.info.dof
        _context(context, self)._call(lib.carom_cuda_robot_create, robot._pointer, byref(self._pointer), reads=(robot,))

    def update(self, *, context: Optional[Context] = None) -> None:
        """Copies what has changed of the robot and its world."""
        _context(context, self)._call(lib.carom_cuda_robot_update, self._pointer, reads=(self._robot,), change=self)

    @property
    def info(self) -> CudaRobotInfo:
        """What the copy holds, and how many configurations and motions it left to the host so far."""
        return info(self, lib.carom_cuda_robot_get_info, CudaRobotInfo, _abi.cuda_robot_info)

    def _query(self, function: Any, record: Any, sets: dict[str, Any], query: Any,
               context: Optional[Context]) -> DeviceArray:
        """A query of configurations (n, dof) in device memory: one set of them, or those at the start and at the end."""
        given = [_device(q, (self._dof,), (np.float64,), name) for name, q in sets.items()]
        if any(count != given[0][1] for _, count, _ in given):
            raise ValueError(f"{' and '.join(sets)} have different numbers of configurations")
        chosen = _context(context, self)
        found = DeviceArray((given[0][1],), dtype_of(record), context=chosen)
        _keep(chosen, *sets.values(), found, self, query)
        chosen._call(function, self._pointer, *(pointer for pointer, _, _ in given), given[0][1], byref(query),
                     found._pointer, reads=(self, self._robot))
        return found

    def check(self, q: Any, *, margin: float = 0.0, covers_only: bool = False,
              context: Optional[Context] = None) -> DeviceArray:
        """Robot.check of configurations (n, dof) in device memory, with the result there."""
        query = _abi.robot_query(margin=number(margin, "margin"), covers_only=bool(covers_only))
        return self._query(lib.carom_cuda_robot_check, _abi.robot_result, {"q": q}, query, context)

    def clearance(self, q: Any, *, covers_only: bool = False, context: Optional[Context] = None) -> DeviceArray:
        """Robot.clearance, likewise."""
        query = _abi.robot_query(covers_only=bool(covers_only))
        return self._query(lib.carom_cuda_robot_clearance, _abi.robot_gap, {"q": q}, query, context)

    def motion(self, start: Any, end: Any, *, margin: float = 0.0, tolerance: float = 0.0, covers_only: bool = False,
               context: Optional[Context] = None) -> DeviceArray:
        """Robot.motion, likewise."""
        query = _abi.robot_query(margin=number(margin, "margin"), covers_only=bool(covers_only),
                                 tolerance=number(tolerance, "tolerance"))
        return self._query(lib.carom_cuda_robot_motion, _abi.robot_motion_result, {"start": start, "end": end}, query,
                           context)


# ---- Frames and times ----------------------------------------------------------------------------------------------

class Frame:
    """A recorded sequence of calls."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._pointer = ctypes.c_void_p()
        self._keep: list[Any] = []

    def __del__(self) -> None:
        if self._pointer and self._context._pointer:
            lib.carom_cuda_frame_destroy(self._pointer)

    def run(self) -> None:
        """Queues the calls as one graph; finish() waits for it."""
        if not self._pointer:
            raise RuntimeError("the frame is still being recorded, or recording it failed")
        _keep(self._context, self)
        self._context._call(lib.carom_cuda_frame_run, self._pointer)


@contextlib.contextmanager
def record(context: Optional[Context] = None) -> Iterator[Frame]:
    """Records the calls of a `with` block instead of queueing them."""
    chosen = context or default_context("cuda")
    finish(chosen)
    chosen._call(lib.carom_cuda_frame_begin)
    frame = Frame(chosen)
    try:
        yield frame
    finally:
        frame._keep = _pending.pop(id(chosen), [])
        chosen._call(lib.carom_cuda_frame_end, byref(frame._pointer))


def set_timing(on: bool = True, *, context: Optional[Context] = None) -> None:
    """Measures the steps of the calls that follow."""
    _context(context)._call(lib.carom_cuda_set_timing, bool(on))


def steps(context: Optional[Context] = None) -> dict[str, float]:
    """Milliseconds of each step of the work that the last finish() waited for."""
    found = _abi.cuda_steps()
    _context(context)._call(lib.carom_cuda_get_steps, byref(found))
    return {found.name[i].decode(): found.milliseconds[i] for i in range(found.count)}
