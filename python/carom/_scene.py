# SPDX-License-Identifier: MIT
"""Scenes: objects of all kinds, and all contacts between them in one call."""
from __future__ import annotations

from typing import Any, NamedTuple, Optional, Sequence, Union

import numpy as np

from . import _abi
from ._abi import SceneObjectKind
from ._arrays import (ArrayLike, Results, address, indices, number, points as as_points, pose_struct, poses as as_poses,
                      rays as as_rays, records)
from ._broad import Accept, acceptor, filters_of, ids_or_all
from ._convex import Convex
from . import _core
from ._core import Context, Handle, Raised, byref, lib, pick
from ._records import SceneInfo, info
from ._solid import Solid
from ._soup import Soup, device_of
from ._tree import Tree

Object = Union[Convex, Soup, Solid, Tree]


class SceneStep(NamedTuple):
    """All contacts, and the pairs whose contact began and ended since the last step."""

    contacts: Any
    begun: np.ndarray
    ended: np.ndarray


def object_def(item: Object, pose: ArrayLike = None, group: int = 0, mask: int = 0) -> tuple[Any, tuple[Handle, ...]]:
    """The def of an object, and what it borrows."""
    definition = _abi.scene_object_def(pose=pose_struct(pose), filter=_abi.broad_filter(group, mask))
    if isinstance(item, Convex):
        definition.kind, definition.convex = SceneObjectKind.CONVEX, item._c
        return definition, item._reads()
    if isinstance(item, Soup):
        definition.kind, definition.borrowed_soup = SceneObjectKind.SOUP, item._pointer
    elif isinstance(item, Solid):
        definition.kind, definition.borrowed_solid = SceneObjectKind.SOLID, item._pointer
    elif isinstance(item, Tree):
        definition.kind, definition.borrowed_tree = SceneObjectKind.PACKING, item._pointer
    else:
        raise TypeError(f"a {type(item).__name__} is no object of a scene; give a carom.Convex, Soup, Solid or Tree")
    return definition, (item,)


def _lend(items: Sequence[Any], by: int) -> None:
    with _core._guard:
        for item in items:
            handle = item._hull if isinstance(item, Convex) else item
            if handle is not None:
                handle._lenders += by


class Scene(Handle):
    """Objects that may touch, overlap, or be inside each other.

    >>> import carom
    >>> scene = carom.Scene()
    >>> box = scene.add(carom.Solid(carom.Mesh.shape("box")))
    >>> ball = scene.add(carom.Solid(carom.Mesh.shape("sphere", size=0.5)))
    >>> contacts = scene.step().contacts             # a ball inside a box is a contact
    >>> str(carom.Relation(contacts.relation[0])), round(contacts.depth[0], 3) > 0
    ('b-inside-a', True)

    reach: objects at most this far apart are in contact, too.
    skip_depth: no depth of meshes that overlap, which takes time.
    least_depth: try other directions than that of the force, too, until one is proved to be the best.
    accept: a function of two ids that says whether they may be in contact.
    device: on "cuda" a scene takes convex objects, whose hulls were made there, and has steps but no queries.
    """

    _destroy = staticmethod(lib.carom_scene_destroy)

    def __init__(self, reach: float = 0.0, *, skip_depth: bool = False, accept: Optional[Accept] = None,
                 least_depth: bool = False, device: Optional[str] = None, context: Optional[Context] = None) -> None:
        super().__init__(device_of(device, context))
        self._objects: dict[int, Object] = {}
        self._removed: list[Object] = []
        self._raised = Raised()
        self._accept = acceptor(accept, self._raised)
        definition = _abi.scene_def(reach=number(reach, "reach"), skip_depth=bool(skip_depth), accept=self._accept,
                                    least_depth=bool(least_depth))
        pick(context, self._device)._call(lib.carom_scene_create, byref(definition), byref(self._pointer))

    def __del__(self) -> None:
        super().__del__()
        self._give_back()

    def close(self) -> None:
        """Frees the memory now; what was borrowed may change again."""
        super().close()
        self._give_back()

    def _give_back(self) -> None:
        if getattr(self, "_objects", None) or getattr(self, "_removed", None):
            _lend([*self._objects.values(), *self._removed], -1)
            self._objects, self._removed = {}, []

    def _call(self, context: Optional[Context], function: Any, *args: Any, change: bool = False,
              reads: tuple[Handle, ...] = ()) -> None:
        pick(context, self._device)._call(function, self._pointer, *args, reads=reads if change else (self, *reads),
                                          change=self if change else None, raised=self._raised)

    # ---- Changes: they take effect at the next step or commit

    def add(self, item: Object, pose: ArrayLike = None, *, group: int = 0, mask: int = 0,
            context: Optional[Context] = None) -> int:
        """Adds an object and returns its id. `group` and `mask` are bits: which groups it is in, and with which it may
        be in contact; 0 is all. What is added cannot change while it is part of the scene."""
        definition, borrowed = object_def(item, pose, group, mask)
        ids = np.zeros(1, np.uint32)
        self._call(context, lib.carom_scene_add, byref(definition), 1, address(ids), change=True, reads=borrowed)
        _lend([item], 1)
        self._objects[int(ids[0])] = item
        return int(ids[0])

    def move(self, ids: Optional[ArrayLike], poses: ArrayLike, *, context: Optional[Context] = None) -> None:
        """Replaces the poses of objects. One id takes one pose; None is all ids from 0 on."""
        given = as_poses(poses)
        found = np.zeros((1, 7)) if given is None else given.packed()
        where, keep = ids_or_all(ids, len(found))
        self._call(context, lib.carom_scene_move, where, address(found), len(found), change=True)
        del keep

    def remove(self, ids: ArrayLike, *, context: Optional[Context] = None) -> None:
        """Removes objects."""
        given = indices(np.atleast_1d(ids), (None,), "ids")
        self._call(context, lib.carom_scene_remove, address(given), len(given), change=True)
        for one in given.tolist():  # the last step's contacts may refer to them until the next
            self._removed.append(self._objects.pop(one))

    def set_filters(self, filters: ArrayLike, ids: Optional[ArrayLike] = None, *,
                    context: Optional[Context] = None) -> None:
        """Replaces the (group, mask) of objects."""
        bits = filters_of(filters, None)
        where, keep = ids_or_all(ids, len(bits))
        self._call(context, lib.carom_scene_set_filters, where, address(bits), len(bits), change=True)
        del keep

    def ignore(self, pairs: ArrayLike, ignored: bool = True, *, context: Optional[Context] = None) -> None:
        """Leaves pairs of objects out of the contacts, such as links that share a joint, or takes them in again."""
        given = indices(pairs, (None, 2), "pairs")
        self._call(context, lib.carom_scene_set_ignored, address(given), len(given), bool(ignored), change=True)

    def _borrowed(self) -> tuple[Handle, ...]:
        return tuple(dict.fromkeys(h for o in self._objects.values() for h in _handles(o)))

    def _stepped(self) -> None:
        removed, self._removed = self._removed, []
        _lend(removed, -1)

    def step(self, *, context: Optional[Context] = None) -> SceneStep:
        """Finds all contacts, and those that began and ended since the last step. Only what changed is asked again.
        Contacts are records of a, b, relation, method, normal, distance, depth, error, depth_bound, volume,
        volume_error, triangle_pairs, point_count and points. The points have features, by which a solver knows them
        again (`Convex.contacts`)."""
        contacts, begun, ended = Results("scene_contacts"), Results("pairs"), Results("pairs")
        self._call(context, lib.carom_scene_step, contacts.out, begun.out, ended.out, change=True, reads=self._borrowed())
        self._stepped()
        return SceneStep(contacts.array(), begun.array(), ended.array())

    def commit(self, *, context: Optional[Context] = None) -> None:
        """Makes changes take effect for queries, without asking any pair."""
        self._call(context, lib.carom_scene_commit, change=True)

    # ---- Queries

    def query_objects(self, items: Sequence[Object], poses: Optional[Sequence[ArrayLike]] = None, *,
                      context: Optional[Context] = None) -> Any:
        """The contacts of other objects with those of the scene: a is the index of the other, b the id."""
        items = list(items)
        given = [None] * len(items) if poses is None else list(poses)
        if len(given) != len(items):
            raise ValueError(f"there are {len(given)} poses for {len(items)} objects")
        made = [object_def(item, pose) for item, pose in zip(items, given)]
        table = (_abi.scene_object_def * len(made))(*[definition for definition, _ in made])
        found = Results("scene_contacts")
        self._call(context, lib.carom_scene_query_objects, table, len(made), found.out,
                   reads=tuple(handle for _, borrowed in made for handle in borrowed))
        return found.array()

    def cast_rays(self, origins: ArrayLike, directions: ArrayLike, lengths: ArrayLike = None, *,
                  context: Optional[Context] = None) -> Any:
        """The first object that each ray meets."""
        rays = as_rays(origins, directions, lengths)
        hits = records(_abi.hit, len(rays))
        self._call(context, lib.carom_scene_cast_rays, address(rays), len(rays), address(hits))
        return hits

    def closest_points(self, points: ArrayLike, *, context: Optional[Context] = None) -> Any:
        """The object nearest to each point."""
        asked = as_points(points)
        hits = records(_abi.hit, len(asked))
        self._call(context, lib.carom_scene_closest_points, address(asked), len(asked), address(hits))
        return hits

    @property
    def info(self) -> SceneInfo:
        """What the scene consists of."""
        return info(self, lib.carom_scene_get_info, SceneInfo, _abi.scene_info)

    def __len__(self) -> int:
        return self.info.live

    def __repr__(self) -> str:
        return "<carom.Scene: closed>" if not self._pointer else f"<carom.Scene: {len(self)} objects>"


def _handles(item: Object) -> tuple[Handle, ...]:
    return item._reads() if isinstance(item, Convex) else (item,)
