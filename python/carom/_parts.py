# SPDX-License-Identifier: MIT
"""Searches in parts: pairs of faces of meshes that do not fit into memory."""
from __future__ import annotations

import ctypes
import os
from typing import Any, Callable, Optional, Union

import numpy as np

from . import _abi
from ._abi import SoupDegenerate
from ._arrays import ArrayLike, number, pose_struct
from ._core import Context, _count, byref, lib, pick
from ._mesh import MeshLike, PathLike, mesh_view, path_bytes, view_reads
from ._records import KFree, PartsReport, read
from ._soup import _receiver


def pairs_in_parts(a: Union[PathLike, MeshLike], b: Union[PathLike, MeshLike] = None, *,
                   receive: Optional[Callable[[np.ndarray], Any]] = None, pose_b: ArrayLike = None,
                   reach: Optional[float] = None, boxes: bool = False,
                   degenerate: Union[str, SoupDegenerate] = SoupDegenerate.ALONE, fan: bool = False,
                   weld: bool = True, memory: int = 0, part_faces: int = 0,
                   folder: Optional[PathLike] = None, shard: Optional[tuple[int, int]] = None,
                   context: Optional[Context] = None) -> tuple[np.ndarray, PartsReport]:
    """All pairs of faces of a, or of a and b, that meet or are within reach, and what was read, kept and found.

    A path is read from disk, part by part; arrays may be mapped files (numpy.memmap). `receive` is given the pairs in
    ascending chunks, and returns true to stop; the array is empty then.

    >>> import carom
    >>> cloth = carom.Mesh.shape("cloth")
    >>> pairs, report = carom.pairs_in_parts(cloth, part_faces=1000)
    >>> report.parts > 1 and bool((pairs == carom.Soup(cloth).self_pairs()).all())
    True

    boxes: pairs of faces whose boxes overlap, instead.
    memory: bytes in all. shard: (number, shards), from 0: the pairs of one share of space.
    """
    chunks: list[np.ndarray] = []
    raised, callback = _receiver(chunks.append if receive is None else receive)
    inputs, reads = [], []
    for mesh in (a, b):
        found = _abi.parts_input()
        if isinstance(mesh, (str, os.PathLike)):
            found.path = path_bytes(mesh)
        elif mesh is not None:
            view = mesh_view(mesh)
            found.mesh = ctypes.addressof(view.c)
            reads += view_reads(view)
            inputs.append(view)
        inputs.append(found)
    parts = [item for item in inputs if isinstance(item, _abi.parts_input)]
    number_of, shards = (0, 0) if shard is None else shard
    definition = _abi.parts_def(parts[0], parts[1], b is not None, pose_struct(pose_b, "pose_b"), reach is not None,
                                0.0 if reach is None else number(reach, "reach"), SoupDegenerate.of(degenerate), fan,
                                not weld, _count(memory, "memory"), _count(part_faces, "part_faces"),
                                None if folder is None else path_bytes(folder), _count(number_of, "shard"),
                                _count(shards, "shards"), False, boxes)
    report = _abi.parts_report()
    pick(context)._call(lib.carom_parts_pairs, byref(definition), callback, None, byref(report), reads=tuple(reads),
                              raised=raised)
    found_pairs = np.concatenate(chunks) if chunks else np.zeros((0, 2), np.uint32)
    return found_pairs, read(PartsReport, report)


def kfree_in_parts(mesh: Union[PathLike, MeshLike], *, degenerate: Union[str, SoupDegenerate] = SoupDegenerate.ALONE,
                   fan: bool = False, weld: bool = True, memory: int = 0, part_faces: int = 0,
                   folder: Optional[PathLike] = None, context: Optional[Context] = None) -> tuple[KFree, PartsReport]:
    """How crowded the faces of a mesh are that does not fit into memory, and what was read, kept and counted.

    >>> import carom
    >>> cloth = carom.Mesh.shape("cloth")
    >>> kfree, report = carom.kfree_in_parts(cloth, part_faces=1000)
    >>> report.parts > 1 and kfree == carom.Soup(cloth).kfree()
    True
    """
    source, reads = _abi.parts_input(), []
    if isinstance(mesh, (str, os.PathLike)):
        source.path = path_bytes(mesh)
    else:
        view = mesh_view(mesh)
        source.mesh = ctypes.addressof(view.c)
        reads += view_reads(view)
    definition = _abi.parts_def(a=source, degenerate=SoupDegenerate.of(degenerate), fan=fan, no_weld=not weld,
                                memory=_count(memory, "memory"), part_faces=_count(part_faces, "part_faces"),
                                folder=None if folder is None else path_bytes(folder))
    found, report = _abi.kfree(), _abi.parts_report()
    pick(context)._call(lib.carom_parts_kfree, byref(definition), _abi.parts_counts_fn(), None, byref(found),
                        byref(report), reads=tuple(reads))
    return read(KFree, found), read(PartsReport, report)
