# SPDX-License-Identifier: MIT
"""Many boxes: which of them overlap, from scratch and step to step."""
from __future__ import annotations

import ctypes
from typing import Any, Callable, NamedTuple, Optional, Union

import numpy as np

from . import _abi
from ._abi import BroadMethod, GridHash
from ._arrays import (ArrayLike, Results, address, boxes as as_boxes, indices, number, points as as_points,
                      rays as as_rays, records)
from ._core import Context, Handle, Raised, byref, lib, pick
from ._records import BroadInfo, info
from ._soup import device_of, grid_def

Accept = Callable[[int, int], Any]


class BroadStep(NamedTuple):
    """All pairs, and those that began and ended since the last step."""

    pairs: np.ndarray
    begun: np.ndarray
    ended: np.ndarray


def acceptor(accept: Optional[Accept], raised: Raised) -> Any:
    """A callback of pairs; None accepts all."""
    if accept is None:
        return _abi.broad_accept_fn()  # type: ignore[call-overload]
    if not callable(accept):
        raise TypeError("accept is a function of two ids")
    return _abi.broad_accept_fn(raised.guard(lambda _user, a, b: bool(accept(a, b)), False))  # type: ignore[misc]


def filters_of(values: ArrayLike, count: Optional[int]) -> np.ndarray:
    """(n, 2) group and mask."""
    return indices(values, (count, 2), "filters")


def ids_or_all(ids: Optional[ArrayLike], count: int) -> tuple[Optional[int], Optional[np.ndarray]]:
    """The address of ids, and the array; None stands for 0 to count - 1."""
    if ids is None:
        return None, None
    found = indices(np.atleast_1d(ids), (None,), "ids")
    if len(found) != count:
        raise ValueError(f"there are {len(found)} ids for {count} items")
    return address(found), found


class Broad(Handle):
    """A set of axis-aligned boxes.

    >>> import carom
    >>> broad = carom.Broad([[[0, 0, 0], [1, 1, 1]], [[1, 0, 0], [2, 1, 1]], [[5, 5, 5], [6, 6, 6]]])
    >>> broad.pairs().tolist()
    [[0, 1]]

    boxes: (n, 2, 3), lower and upper corners, or (n, 6).
    filters: (n, 2) bits: the groups that a box is in, and those that it forms pairs with; 0 is all.
    accept: a function of two ids that says whether they are a pair.
    method: "auto", "tree", "grid" or "sweep".
    """

    _destroy = staticmethod(lib.carom_broad_destroy)

    def __init__(self, boxes: ArrayLike = (), *, filters: Optional[ArrayLike] = None, accept: Optional[Accept] = None,
                 method: Union[str, BroadMethod] = BroadMethod.AUTO, grid: Union[str, GridHash] = GridHash.BLOCK,
                 buckets: int = 0, cell_scale: float = 0.0, sweep_cell: float = 0.0, device: Optional[str] = None,
                 context: Optional[Context] = None) -> None:
        super().__init__(device_of(device, context))
        given = as_boxes(boxes)
        self._raised = Raised()
        self._accept = acceptor(accept, self._raised)
        bits = None if filters is None else filters_of(filters, len(given))
        definition = _abi.broad_def(
            boxes=address(given), box_count=len(given), filters=None if bits is None else address(bits),
            accept=self._accept, method=BroadMethod.of(method), grid=grid_def(grid, buckets, cell_scale),
            sweep_cell=number(sweep_cell, "sweep_cell"))
        pick(context, self._device)._call(lib.carom_broad_create, byref(definition), byref(self._pointer),
                                          raised=self._raised)

    def _call(self, context: Optional[Context], function: Any, *args: Any, change: bool = False) -> None:
        pick(context, self._device)._call(function, self._pointer, *args, reads=() if change else (self,),
                                          change=self if change else None, raised=self._raised)

    @property
    def info(self) -> BroadInfo:
        """What the set consists of."""
        return info(self, lib.carom_broad_get_info, BroadInfo, _abi.broad_info)

    def __len__(self) -> int:
        return self.info.live

    def __repr__(self) -> str:
        return "<carom.Broad: closed>" if not self._pointer else f"<carom.Broad: {len(self)} boxes>"

    # ---- Changes: they take effect at the next commit or step

    def move(self, boxes: Any, ids: Optional[ArrayLike] = None, *, context: Optional[Context] = None) -> None:
        """Replaces the bounds of boxes; without ids, of 0, 1, 2 ... Arrays with __cuda_array_interface__ are taken where
        they are, for all boxes."""
        if hasattr(boxes, "__cuda_array_interface__") and self._device != "cpu":
            from .cuda import update_broad

            return update_broad(self, boxes, context)
        given = as_boxes(boxes)
        where, keep = ids_or_all(ids, len(given))
        self._call(context, lib.carom_broad_move, where, address(given), len(given), change=True)
        del keep

    def add(self, boxes: ArrayLike, *, context: Optional[Context] = None) -> np.ndarray:
        """Adds boxes and returns their ids."""
        given = as_boxes(boxes)
        ids = np.zeros(len(given), np.uint32)
        self._call(context, lib.carom_broad_add, address(given), len(given), address(ids), change=True)
        return ids

    def remove(self, ids: ArrayLike, *, context: Optional[Context] = None) -> None:
        """Removes boxes."""
        given = indices(np.atleast_1d(ids), (None,), "ids")
        self._call(context, lib.carom_broad_remove, address(given), len(given), change=True)

    def set_filters(self, filters: ArrayLike, ids: Optional[ArrayLike] = None, *,
                    context: Optional[Context] = None) -> None:
        """Replaces the (group, mask) of boxes."""
        bits = filters_of(filters, None)
        where, keep = ids_or_all(ids, len(bits))
        self._call(context, lib.carom_broad_set_filters, where, address(bits), len(bits), change=True)
        del keep

    def commit(self, *, context: Optional[Context] = None) -> None:
        """Makes changes take effect, for queries."""
        self._call(context, lib.carom_broad_commit, change=True)

    def step(self, *, context: Optional[Context] = None) -> BroadStep:
        """Commits, and finds all pairs, and what began and ended since the last step."""
        found = [Results("pairs") for _ in range(3)]
        self._call(context, lib.carom_broad_step, *[result.out for result in found], change=True)
        return BroadStep(*[result.array() for result in found])

    # ---- Queries

    def pairs(self, *, context: Optional[Context] = None) -> np.ndarray:
        """(n, 2) uint32: all pairs of boxes that overlap, sorted."""
        found = Results("pairs")
        self._call(context, lib.carom_broad_pairs, found.out)
        return found.array()

    def query_boxes(self, boxes: ArrayLike, *, context: Optional[Context] = None) -> np.ndarray:
        """(n, 2) uint32: (index of the query, id) of all boxes that overlap other boxes."""
        given, found = as_boxes(boxes), Results("pairs")
        self._call(context, lib.carom_broad_query_boxes, address(given), len(given), found.out)
        return found.array()

    def query_rays(self, origins: ArrayLike, directions: ArrayLike, lengths: ArrayLike = None, *,
                   context: Optional[Context] = None) -> np.ndarray:
        """(n, 2) uint32: (index of the ray, id) of all boxes that rays meet."""
        rays, found = as_rays(origins, directions, lengths), Results("pairs")
        self._call(context, lib.carom_broad_query_rays, address(rays), len(rays), found.out)
        return found.array()

    def cast_rays(self, origins: ArrayLike, directions: ArrayLike, lengths: ArrayLike = None, *,
                  context: Optional[Context] = None) -> Any:
        """The first box that each ray meets."""
        rays = as_rays(origins, directions, lengths)
        hits = records(_abi.hit, len(rays))
        self._call(context, lib.carom_broad_cast_rays, address(rays), len(rays), address(hits))
        return hits

    def closest_points(self, points: ArrayLike, *, context: Optional[Context] = None) -> Any:
        """The box nearest to each point."""
        asked = as_points(points)
        hits = records(_abi.hit, len(asked))
        self._call(context, lib.carom_broad_closest_points, address(asked), len(asked), address(hits))
        return hits
