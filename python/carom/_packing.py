# SPDX-License-Identifier: MIT
"""Spheres that fill a solid, disjoint and inside, and spheres that contain it; both with proof."""
from __future__ import annotations

import ctypes
from typing import Any, Optional, Union

import numpy as np

from . import _abi
from ._abi import PackingFormat, PackingMethod
from ._arrays import ArrayLike, Results, address, floats, number
from ._core import Context, Handle, _count, byref, lib, pick
from ._mesh import MeshLike, PathLike, _bytes, mesh_view, path_bytes, positions_view, view_reads
from ._records import CoverInfo, CoverMeasure, PackingInfo, info, read
from ._soup import device_of


class Packing(Handle):
    """Disjoint spheres inside a solid, largest first.

    >>> import carom
    >>> packing = carom.Packing(carom.Mesh.shape("box"), count=50)
    >>> packing.spheres.shape, packing.info.complete
    ((50, 4), True)

    count, fill, radius: when to stop, at the first of these: spheres, the share of the volume, the smallest sphere.
    """

    _destroy = staticmethod(lib.carom_packing_destroy)

    def __init__(self, mesh: MeshLike, faces: Any = None, *, count: int = 0, fill: float = 0.0, radius: float = 0.0,
                 method: Union[str, PackingMethod] = PackingMethod.OCTREE, allow_open: bool = False,
                 epsilon: float = 0.0, fast: bool = False, voxels: int = 0, seed: int = 0, skip_shares: bool = False,
                 keep_cells: bool = False, device: Optional[str] = None, context: Optional[Context] = None) -> None:
        super().__init__(device_of(device, context))
        view = mesh_view(mesh, faces)
        definition = _abi.packing_def(
            mesh=ctypes.addressof(view.c), method=PackingMethod.of(method), allow_open=bool(allow_open),
            count=_count(count, "count"), fill=number(fill, "fill"), radius=number(radius, "radius"),
            epsilon=number(epsilon, "epsilon"), fast=bool(fast), voxels=_count(voxels, "voxels"),
            seed=_count(seed, "seed"), skip_shares=bool(skip_shares), keep_cells=bool(keep_cells))
        pick(context, self._device)._call(lib.carom_packing_create, byref(definition), byref(self._pointer),
                                          reads=view_reads(view))

    @classmethod
    def load(cls, path: PathLike, *, context: Optional[Context] = None) -> Packing:
        """Reads a packing, or any PLY file of spheres."""
        self = cls._new()
        pick(context)._call(lib.carom_packing_load, path_bytes(path), PackingFormat.GUESS, byref(self._pointer))
        return self

    @classmethod
    def from_bytes(cls, data: bytes, name: Optional[str] = None, *, context: Optional[Context] = None) -> Packing:
        """Reads the content of such a file."""
        self, data = cls._new(), _bytes(data)
        pick(context)._call(lib.carom_packing_load_memory, data, len(data), PackingFormat.PLY,
                            None if name is None else path_bytes(name), byref(self._pointer))
        return self

    @classmethod
    def _new(cls) -> Packing:
        self = cls.__new__(cls)
        Handle.__init__(self)
        return self

    def deform(self, before: MeshLike, positions: Any, *, refill: bool = False, allow_open: bool = False,
               skip_shares: bool = False, keep_cells: bool = False, fine_shares: bool = False,
               context: Optional[Context] = None) -> Packing:
        """The packing of a mesh that deforms: `before` was packed, and its vertices are now at `positions`. Spheres are
        carried along, and shrink where they have to; with `refill` they move and grow again.

        >>> import carom
        >>> mesh = carom.Mesh.shape("box")
        >>> packing = carom.Packing(mesh, count=50)
        >>> longer = packing.deform(mesh, mesh.vertices * [1, 1, 2], refill=True)
        >>> longer.info.volume, longer.info.fill > 0.5
        (16.0, True)
        """
        view, after, made = mesh_view(before), positions_view(positions), type(self)._new()
        made._device = self._device
        definition = _abi.packing_deform_def(
            before=ctypes.addressof(view.c), after=ctypes.addressof(after.c), refill=bool(refill),
            allow_open=bool(allow_open), skip_shares=bool(skip_shares), keep_cells=bool(keep_cells),
            fine_shares=bool(fine_shares))
        pick(context, self._device)._call(lib.carom_packing_deform, self._pointer, byref(definition),
                                          byref(made._pointer), reads=(self, *view_reads(view), *view_reads(after)))
        return made

    @property
    def info(self) -> PackingInfo:
        """What the packing is like."""
        return info(self, lib.carom_packing_get_info, PackingInfo, _abi.packing_info)

    def list_spheres(self, *, context: Optional[Context] = None) -> Any:
        """All that is known of each sphere: records of centre, radius, secondary, cover, void_volume, face, depth."""
        found = Results("packing_spheres")
        pick(context)._call(lib.carom_packing_list_spheres, self._pointer, found.out, reads=(self,))
        return found.array()

    def list_cells(self, *, context: Optional[Context] = None) -> Any:
        """The cells of all shares, where keep_cells was set: records of low, edge, sphere."""
        found = Results("packing_cells")
        pick(context)._call(lib.carom_packing_list_cells, self._pointer, found.out, reads=(self,))
        return found.array()

    @property
    def spheres(self) -> np.ndarray:
        """(n, 4): x, y, z and radius."""
        all_of_it = self.list_spheres()
        return np.column_stack((all_of_it["centre"], all_of_it["radius"]))

    def save(self, path: PathLike, format: Union[str, PackingFormat] = PackingFormat.GUESS, *,
             context: Optional[Context] = None) -> None:
        """Writes PLY, CSV, x y z radius (.txt, .xyzr) or SPH, by the name."""
        pick(context)._call(lib.carom_packing_save, self._pointer, PackingFormat.of(format), path_bytes(path),
                            reads=(self,))

    def to_bytes(self, format: Union[str, PackingFormat] = PackingFormat.PLY, *,
                 context: Optional[Context] = None) -> bytes:
        """The content of such a file."""
        content = Results("bytes")
        pick(context)._call(lib.carom_packing_save_memory, self._pointer, PackingFormat.of(format), content.out,
                            reads=(self,))
        return content.bytes()

    def __len__(self) -> int:
        return self.info.spheres

    def __repr__(self) -> str:
        if not self._pointer:
            return "<carom.Packing: closed>"
        found = self.info
        return f"<carom.Packing: {found.spheres} spheres, {100 * found.fill:.1f} % filled>"

    def _repr_html_(self) -> str:
        from .viewer import frame

        return frame(self)


class Cover(Handle):
    """Spheres that together contain a solid and reach out of it as little as possible.

    >>> import carom
    >>> cover = carom.Cover(carom.Mesh.shape("box"), count=8)
    >>> cover.spheres.shape
    (8, 4)

    count: the most spheres; distance: as few as reach out no farther; margin: added to all radii.
    """

    _destroy = staticmethod(lib.carom_cover_destroy)

    def __init__(self, mesh: MeshLike, faces: Any = None, *, count: int = 0, distance: float = 0.0,
                 margin: float = 0.0, allow_open: bool = False, keep_cells: bool = False,
                 context: Optional[Context] = None) -> None:
        super().__init__()
        view = mesh_view(mesh, faces)
        definition = _abi.cover_def(
            mesh=ctypes.addressof(view.c), allow_open=bool(allow_open), count=_count(count, "count"),
            distance=number(distance, "distance"), margin=number(margin, "margin"), keep_cells=bool(keep_cells))
        pick(context)._call(lib.carom_cover_create, byref(definition), byref(self._pointer), reads=view_reads(view))

    @property
    def info(self) -> CoverInfo:
        """What the cover is like: how far it reaches out, and its volume."""
        return info(self, lib.carom_cover_get_info, CoverInfo, _abi.cover_info)

    @property
    def spheres(self) -> np.ndarray:
        """(n, 4): x, y, z and radius, largest first."""
        found = Results("cover_spheres")
        pick(None)._call(lib.carom_cover_list_spheres, self._pointer, found.out, reads=(self,))
        return np.array(found.array()).view(np.float64).reshape(-1, 4)

    def list_cells(self, *, context: Optional[Context] = None) -> Any:
        """The cells of the proof, where keep_cells was set: records of low, edge, sphere."""
        found = Results("packing_cells")
        pick(context)._call(lib.carom_cover_list_cells, self._pointer, found.out, reads=(self,))
        return found.array()

    def __len__(self) -> int:
        return self.info.spheres

    def __repr__(self) -> str:
        if not self._pointer:
            return "<carom.Cover: closed>"
        found = self.info
        return f"<carom.Cover: {found.spheres} spheres, reach out by {found.measure.worst.upper:g} at most>"

    def _repr_html_(self) -> str:
        from .viewer import frame

        return frame(self)


def measure_spheres(mesh: MeshLike, spheres: ArrayLike, *, allow_open: bool = False,
                    context: Optional[Context] = None) -> CoverMeasure:
    """How far any spheres, (n, 4): x, y, z and radius, reach out of a solid, such as those of another program."""
    view, given, found = mesh_view(mesh), floats(spheres, (None, 4), "spheres"), _abi.cover_measure()
    definition = _abi.cover_def(mesh=ctypes.addressof(view.c), allow_open=bool(allow_open))
    pick(context)._call(lib.carom_cover_measure_spheres, byref(definition), address(given), len(given), byref(found),
                        reads=view_reads(view))
    return read(CoverMeasure, found)
