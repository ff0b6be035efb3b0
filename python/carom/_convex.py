# SPDX-License-Identifier: MIT
"""Convex shapes: whether they meet, how far apart or how deep they are, contact points, rays and times of impact."""
from __future__ import annotations

import ctypes
import platform
from typing import Any, Callable, Optional, Union

import numpy as np

from . import _abi
from ._abi import ConvexKind, ConvexSearch, ConvexStart
from ._arrays import (ArrayLike, address, batch_poses, dtype_of, motion_pointer, motion_struct, number, point, pose_pointer,
                      rays as as_rays, records, vec3)
from ._core import Context, Handle, Raised, byref, lib, pick
from ._errors import UnsupportedError
from ._mesh import Mesh, MeshLike, mesh_view, view_reads
from ._records import Advance, ConvexAnswer, ConvexMost, HullInfo, Manifold, info, read
from ._soup import advance_def, device_of


class Hull(Handle):
    """The convex hull of points, by exact predicates.

    >>> import carom
    >>> hull = carom.Hull(carom.Mesh.shape("torus"))
    >>> hull.info.dimension
    3
    """

    _destroy = staticmethod(lib.carom_hull_destroy)

    def __init__(self, points: MeshLike, *, device: Optional[str] = None, context: Optional[Context] = None) -> None:
        super().__init__(device_of(device, context))
        view = mesh_view(points, faces_needed=False)
        definition = _abi.hull_def(mesh=ctypes.addressof(view.c))
        pick(context, self._device)._call(lib.carom_hull_create, byref(definition), byref(self._pointer),
                                          reads=view_reads(view))

    @property
    def info(self) -> HullInfo:
        """What the hull is like."""
        return info(self, lib.carom_hull_get_info, HullInfo, _abi.hull_info)

    def to_mesh(self, *, context: Optional[Context] = None) -> Mesh:
        """The surface, as a mesh of convex polygons."""
        made = Mesh._new()
        pick(context, self._device)._call(lib.carom_hull_to_mesh, self._pointer, byref(made._pointer), reads=(self,))
        return made

    def __repr__(self) -> str:
        return "<carom.Hull: closed>" if not self._pointer else f"<carom.Hull: {self.info.vertices} vertices>"


class Convex:
    """A convex shape in its own frame.

    >>> import carom
    >>> ball, box = carom.Convex.sphere(1.0), carom.Convex.box([1, 1, 1])
    >>> ball.distance(box, pose=[3, 0, 0]).distance
    1.0
    >>> ball.depth(box, pose=[1.5, 0, 0]).depth
    0.5
    """

    def __init__(self, kind: Union[str, ConvexKind], *, half: Optional[ArrayLike] = None, radius: float = 0.0,
                 half_height: float = 0.0, margin: float = 0.0, hull: Optional[Hull] = None,
                 support: Optional[Callable[[np.ndarray], ArrayLike]] = None,
                 ball: Optional[tuple[ArrayLike, float]] = None) -> None:
        self.kind = ConvexKind.of(kind)
        self._c = _abi.convex(kind=self.kind, radius=number(radius, "radius"),
                              half_height=number(half_height, "half_height"), margin=number(margin, "margin"))
        self._raised = Raised()
        self._hull: Optional[Hull] = None
        self._support: Any = None
        if half is not None:
            self._c.half = vec3(half, "half")
        if self.kind == ConvexKind.HULL:
            if not isinstance(hull, Hull):
                raise TypeError(f"hull is a {type(hull).__name__}; give a carom.Hull")
            if not hull._pointer:
                raise hull._closed_error()
            self._hull, self._c.borrowed_hull = hull, hull._pointer
        if self.kind == ConvexKind.SUPPORT:
            self._set_support(support, ball)

    def _set_support(self, support: Any, ball: Any) -> None:
        if not callable(support) or ball is None:
            raise TypeError("a shape by support function has support, a function of a direction, and ball, the (centre, "
                            "radius) of a ball around it")

        if platform.machine() not in ("x86_64", "AMD64"):
            raise UnsupportedError("shapes by support function: only on x86-64, as ctypes cannot return structs elsewhere")

        def farthest(result: int, _user: Any, direction: int) -> int:
            given = np.array((ctypes.c_double * 3).from_address(direction)[:])
            found = point(support(given), "what the support function returns")
            (ctypes.c_double * 3).from_address(result)[:] = found.tolist()
            return result

        def guarded(result: int, user: Any, direction: int) -> int:
            return caught(result, user, direction) or origin(result)

        def origin(result: int) -> int:
            (ctypes.c_double * 3).from_address(result)[:] = [0.0, 0.0, 0.0]
            return result

        caught = self._raised.guard(farthest, None)
        self._support = self._c.support = _abi.convex_support_fn(guarded)
        self._c.support_ball = _abi.ball(vec3(ball[0], "ball[0]"), number(ball[1], "ball[1]"))

    # ---- Kinds

    @classmethod
    def point(cls, margin: float = 0.0) -> Convex:
        """The origin; with a margin, a ball."""
        return cls(ConvexKind.POINT, margin=margin)

    @classmethod
    def sphere(cls, radius: float) -> Convex:
        """A ball."""
        return cls(ConvexKind.SPHERE, radius=radius)

    @classmethod
    def segment(cls, half_height: float) -> Convex:
        """From (0, 0, -half_height) to (0, 0, half_height)."""
        return cls(ConvexKind.SEGMENT, half_height=half_height)

    @classmethod
    def capsule(cls, radius: float, half_height: float) -> Convex:
        """A segment, rounded by the radius."""
        return cls(ConvexKind.CAPSULE, radius=radius, half_height=half_height)

    @classmethod
    def box(cls, half: ArrayLike, margin: float = 0.0) -> Convex:
        """A box of three half extents."""
        return cls(ConvexKind.BOX, half=half, margin=margin)

    @classmethod
    def cylinder(cls, radius: float, half_height: float, margin: float = 0.0) -> Convex:
        """A cylinder around z."""
        return cls(ConvexKind.CYLINDER, radius=radius, half_height=half_height, margin=margin)

    @classmethod
    def cone(cls, radius: float, half_height: float, margin: float = 0.0) -> Convex:
        """A cone around z, its apex up."""
        return cls(ConvexKind.CONE, radius=radius, half_height=half_height, margin=margin)

    @classmethod
    def ellipsoid(cls, half: ArrayLike, margin: float = 0.0) -> Convex:
        """An ellipsoid of three semi-axes."""
        return cls(ConvexKind.ELLIPSOID, half=half, margin=margin)

    @classmethod
    def hull(cls, points: Any, margin: float = 0.0) -> Convex:
        """The convex hull of points, of a mesh's vertices, or a carom.Hull."""
        return cls(ConvexKind.HULL, hull=points if isinstance(points, Hull) else Hull(points), margin=margin)

    @classmethod
    def support(cls, function: Callable[[np.ndarray], ArrayLike], centre: ArrayLike, radius: float,
                margin: float = 0.0) -> Convex:
        """A shape whose farthest point in a direction a function gives; a ball around it must be known."""
        return cls(ConvexKind.SUPPORT, support=function, ball=(centre, radius), margin=margin)

    def __repr__(self) -> str:
        return f"<carom.Convex: {self.kind}>"

    # ---- Queries

    def _reads(self, *others: Convex) -> tuple[Handle, ...]:
        for other in others:
            if not isinstance(other, Convex):
                raise TypeError(f"the other is a {type(other).__name__}; give a carom.Convex")
        return tuple(shape._hull for shape in (self, *others) if shape._hull is not None)

    def _query(self, single: Any, batch: Any, other: Convex, pose: ArrayLike, pose_a: ArrayLike,
               start: Union[str, ConvexStart], search: Union[str, ConvexSearch], hint: Optional[ConvexHint],
               context: Optional[Context], meet: bool) -> Any:
        reads = self._reads(other)
        a, b, count = batch_poses(pose_a, pose)
        definition = _abi.convex_query_def(start=ConvexStart.of(start), search=ConvexSearch.of(search))
        chosen = pick(context, self._device())
        raised = self._raised if self._support else other._raised
        if count < 0:
            found: Any = ctypes.c_bool() if meet else _abi.convex_result()
            if hint is not None:
                if not isinstance(hint, ConvexHint):
                    raise TypeError(f"hint is a {type(hint).__name__}; give a carom.ConvexHint")
                definition.hint = hint._take(self, other)
            chosen._call(single, byref(self._c), pose_pointer(pose_a, "pose_a"), byref(other._c), pose_pointer(pose),
                         byref(definition), byref(found), reads=reads, raised=raised)
            return found.value if meet else read(ConvexAnswer, found)
        if hint is not None:
            raise ValueError("a hint is for one pose at a time, not for a batch")
        items = np.zeros(count, dtype_of(_abi.convex_pair))
        items["a"], items["b"] = ctypes.addressof(self._c), ctypes.addressof(other._c)
        for name, poses in (("pose_a", a), ("pose_b", b)):
            if poses is not None:
                poses.store(items[name])
        answers = np.zeros(count, np.bool_) if meet else records(_abi.convex_result, count)
        chosen._batch(batch, items, answers, byref(definition), reads=reads, raised=raised)
        return answers

    def _device(self) -> str:
        return self._hull._device if self._hull is not None else "cpu"

    def meet(self, other: Convex, pose: ArrayLike = None, *, pose_a: ArrayLike = None,
             start: Union[str, ConvexStart] = ConvexStart.CENTRE, search: Union[str, ConvexSearch] = ConvexSearch.AUTO,
             hint: Optional[ConvexHint] = None, context: Optional[Context] = None) -> Any:
        """Whether the two meet. Poses (n, 7) or (n, 4, 4) give n answers."""
        return self._query(lib.carom_convex_meet, lib.carom_convex_meet_batch, other, pose, pose_a, start, search,
                           hint, context, True)

    def distance(self, other: Convex, pose: ArrayLike = None, *, pose_a: ArrayLike = None,
                 start: Union[str, ConvexStart] = ConvexStart.CENTRE,
                 search: Union[str, ConvexSearch] = ConvexSearch.AUTO, hint: Optional[ConvexHint] = None,
                 context: Optional[Context] = None) -> Any:
        """How far apart the two are, and where."""
        return self._query(lib.carom_convex_distance, lib.carom_convex_distance_batch, other, pose, pose_a, start,
                           search, hint, context, False)

    def depth(self, other: Convex, pose: ArrayLike = None, *, pose_a: ArrayLike = None,
              start: Union[str, ConvexStart] = ConvexStart.CENTRE,
              search: Union[str, ConvexSearch] = ConvexSearch.AUTO, hint: Optional[ConvexHint] = None,
              context: Optional[Context] = None) -> Any:
        """The distance or, where they overlap, how deep and in which direction."""
        return self._query(lib.carom_convex_depth, lib.carom_convex_depth_batch, other, pose, pose_a, start, search,
                           hint, context, False)

    def contacts(self, other: Convex, pose: ArrayLike = None, *, pose_a: ArrayLike = None, reach: float = 0.0,
                 context: Optional[Context] = None) -> Manifold:
        """Up to four points of contact. `feature_a` and `feature_b` of a point say which vertex, edge or face it is on, and
        stay the same while the shapes move a little.

        >>> import carom
        >>> table, box = carom.Convex.box([4, 4, 1]), carom.Convex.box([1, 1, 1])
        >>> points = table.contacts(box, pose=[0, 0, 2]).points
        >>> set(points.feature_a) == {carom.FEATURE_FACE | 5}
        True
        >>> sorted(int(i) for i in points.feature_b & carom.FEATURE_INDEX)
        [0, 1, 2, 3]
        """
        reads, found = self._reads(other), _abi.convex_manifold()
        pick(context, self._device())._call(
            lib.carom_convex_contacts, byref(self._c), pose_pointer(pose_a, "pose_a"), byref(other._c),
            pose_pointer(pose), number(reach, "reach"), None, byref(found), reads=reads,
            raised=self._raised if self._support else other._raised)
        points = records(_abi.convex_contact, found.count)
        ctypes.memmove(address(points), ctypes.addressof(found.points), points.nbytes)
        return Manifold(read(ConvexAnswer, found.result), points)

    def cast_rays(self, origins: ArrayLike, directions: ArrayLike, lengths: ArrayLike = None, pose: ArrayLike = None, *,
                  context: Optional[Context] = None) -> Any:
        """Where each ray first enters the shape."""
        rays = as_rays(origins, directions, lengths)
        hits = records(_abi.hit, len(rays))
        pick(context, self._device())._call(
            lib.carom_convex_cast_rays, byref(self._c), pose_pointer(pose), address(rays), len(rays), address(hits),
            reads=self._reads(), raised=self._raised)
        return hits

    def advance(self, other: Convex, motion: Any = None, *, motion_a: Any = None, tolerance: float = 0.0,
                most_steps: int = 0, reach: float = 0.0, context: Optional[Context] = None) -> Any:
        """When two moving shapes first come within the tolerance. A motion is (pose, pose) or (pose, pose, centre); a
        list of motions gives as many records.

        >>> import carom
        >>> wall, ball = carom.Convex.box([0.01, 5, 5]), carom.Convex.sphere(0.5)
        >>> carom.Convex.advance(wall, ball, motion=([-10, 0, 0], [10, 0, 0])).hit
        True
        """
        reads, definition = self._reads(other), advance_def(tolerance, most_steps, reach)
        raised = self._raised if self._support else other._raised
        chosen = pick(context, self._device())
        if isinstance(motion, list):
            items = (_abi.convex_moving_pair * len(motion))()
            first = motion_struct(motion_a, "motion_a")
            for item, given in zip(items, motion):
                item.a, item.b = ctypes.addressof(self._c), ctypes.addressof(other._c)
                item.motion_a, item.motion_b = first, motion_struct(given, "motion")
            answers = records(_abi.advance, len(motion))
            moving: Any = items
            given = np.frombuffer(moving, dtype_of(_abi.convex_moving_pair)) if len(motion) else answers
            chosen._batch(lib.carom_convex_advance_batch, given, answers, byref(definition), reads=reads, raised=raised)
            return answers
        found = _abi.advance()
        chosen._call(lib.carom_convex_advance, byref(self._c), motion_pointer(motion_a, "motion_a"), byref(other._c),
                     motion_pointer(motion, "motion"), byref(definition), byref(found), reads=reads, raised=raised)
        return read(Advance, found)

    def bound(self, other: Convex, *, context: Optional[Context] = None) -> ConvexMost:
        """The most work that a query of the two can take, in any poses."""
        reads, most = self._reads(other), _abi.convex_most()
        pick(context, self._device())._call(lib.carom_convex_bound, byref(self._c), byref(other._c), byref(most),
                                            reads=reads)
        return read(ConvexMost, most)


class ConvexHint:
    """What a query of two shapes learned for the next one, in nearby poses. It saves time and changes no answer beyond
    its error."""

    def __init__(self) -> None:
        self._c = _abi.convex_hint()
        self._of: Optional[tuple[int, int]] = None

    def _take(self, a: Convex, b: Convex) -> int:
        if self._of != (id(a), id(b)):  # of other shapes it is of no use
            self._c = _abi.convex_hint()
            self._of = (id(a), id(b))
        return ctypes.addressof(self._c)
