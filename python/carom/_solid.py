# SPDX-License-Identifier: MIT
"""Solids: how much two closed meshes overlap, exactly, and the force that separates them."""
from __future__ import annotations

import ctypes
from typing import Any, Optional

from . import _abi
from ._arrays import ArrayLike, Results, batch_poses, pose_pointer, records
from ._core import Context, Handle, byref, lib, pick
from ._mesh import MeshLike, mesh_view, positions_view, view_reads
from ._records import Overlap, SolidInfo, info, read
from ._soup import both, device_of, pair_items


class Solid(Handle):
    """What a closed mesh encloses.

    >>> import carom
    >>> cube = carom.Solid(carom.Mesh.shape("box"))     # of edge 2
    >>> shared = cube.overlap(cube, pose=[1, 0, 0])      # a copy of it, moved by 1 along x
    >>> round(shared.volume, 12), str(shared.relation)
    (4.0, 'overlapping')

    complement: the space outside the mesh instead.
    """

    _destroy = staticmethod(lib.carom_solid_destroy)

    def __init__(self, mesh: MeshLike, faces: Any = None, *, complement: bool = False, device: Optional[str] = None,
                 context: Optional[Context] = None) -> None:
        super().__init__(device_of(device, context))
        view = mesh_view(mesh, faces)
        definition = _abi.solid_def(mesh=ctypes.addressof(view.c), complement=bool(complement))
        pick(context, self._device)._call(lib.carom_solid_create, byref(definition), byref(self._pointer),
                                          reads=view_reads(view))

    @property
    def info(self) -> SolidInfo:
        """What the solid is like."""
        return info(self, lib.carom_solid_get_info, SolidInfo, _abi.solid_info)

    @property
    def volume(self) -> float:
        """The volume that the mesh encloses: exact, rounded once."""
        return self.info.volume

    def update(self, positions: Any, *, context: Optional[Context] = None) -> None:
        """Replaces the positions of all vertices, for a mesh that deforms. The answers are then those of a new solid.

        >>> import carom
        >>> mesh = carom.Mesh.shape("box")
        >>> solid = carom.Solid(mesh)
        >>> solid.update(mesh.vertices * [1, 1, 2])
        >>> solid.volume
        16.0
        """
        view = positions_view(positions)
        pick(context, self._device)._call(lib.carom_solid_update, self._pointer, byref(view.c), change=self,
                                          reads=view_reads(view))

    def overlap(self, other: Solid, pose: ArrayLike = None, *, pose_a: ArrayLike = None, distance: bool = False,
                context: Optional[Context] = None) -> Any:
        """Volume, relation, centroid, force and torque of what both enclose; `distance` also finds how far apart they
        are where they are. Poses (n, 7) or (n, 4, 4) give n records."""
        both(self, other, Solid)
        a, b, count = batch_poses(pose_a, pose)
        definition = _abi.solid_query_def(distance=bool(distance))
        if count < 0:
            found = _abi.solid_result()
            pick(context, self._device)._call(
                lib.carom_solid_overlap, self._pointer, pose_pointer(pose_a, "pose_a"), other._pointer,
                pose_pointer(pose), byref(definition), byref(found), reads=(self, other))
            return read(Overlap, found)
        answers = records(_abi.solid_result, count)
        pick(context, self._device)._batch(
            lib.carom_solid_overlap_batch, pair_items(_abi.solid_pair, self, a, other, b, count), answers,
            byref(definition), reads=(self, other))
        return answers

    def overlap_patches(self, other: Solid, pose: ArrayLike = None, *, pose_a: ArrayLike = None,
                        context: Optional[Context] = None) -> Any:
        """The connected pieces of the overlap, largest first: records of volume, centroid, area and force."""
        both(self, other, Solid)
        found = Results("solid_patches")
        pick(context, self._device)._call(
            lib.carom_solid_overlap_patches, self._pointer, pose_pointer(pose_a, "pose_a"), other._pointer,
            pose_pointer(pose), found.out, reads=(self, other))
        return found.array()

    def overlap_gradient(self, other: Solid, pose: ArrayLike = None, *, pose_a: ArrayLike = None,
                         context: Optional[Context] = None) -> Any:
        """The force of the overlap's volume on each vertex of both meshes, for bodies that deform: two arrays of records
        of vertex, force and error. Vertices that are not listed are pushed by nothing.

        >>> import carom
        >>> cube = carom.Solid(carom.Mesh.shape("box"))
        >>> on_a, on_b = cube.overlap_gradient(cube, [1.5, 0.25, 0.5])
        >>> on_b.force.sum(axis=0).round(9).tolist()    # the force of the overlap
        [2.625, 0.75, 0.875]
        """
        both(self, other, Solid)
        on_a, on_b = Results("solid_vertex_forces"), Results("solid_vertex_forces")
        pick(context, self._device)._call(
            lib.carom_solid_overlap_gradient, self._pointer, pose_pointer(pose_a, "pose_a"), other._pointer,
            pose_pointer(pose), on_a.out, on_b.out, reads=(self, other))
        return on_a.array(), on_b.array()

    def __repr__(self) -> str:
        if not self._pointer:
            return "<carom.Solid: closed>"
        found = self.info
        return f"<carom.Solid: {found.triangles} triangles, volume {found.volume:g}>"
