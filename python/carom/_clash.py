# SPDX-License-Identifier: MIT
"""Clashes: which of many parts touch, overlap, enclose each other or are too close."""
from __future__ import annotations

from typing import NamedTuple, Optional, Sequence, Union

import numpy as np

from ._abi import Relation
from ._arrays import ArrayLike, floats, number, poses as as_poses
from ._core import Context
from ._errors import BadInputError
from ._mesh import MeshLike
from ._scene import Scene
from ._solid import Solid
from ._soup import Soup


class Clash(NamedTuple):
    """Two parts that touch, overlap, enclose each other or are too close. Numbers are those of a Scene's contact."""

    a: int
    b: int
    relation: Relation
    volume: float
    volume_error: float
    depth: float
    distance: float
    direction: np.ndarray
    point: np.ndarray
    triangle_pairs: int
    within_tolerance: bool


def solid_or_soup(mesh: MeshLike, *, context: Optional[Context] = None) -> Union[Solid, Soup]:
    """What a mesh is in a scene: a Solid where it is closed and oriented, else a Soup.

    >>> import carom
    >>> carom.solid_or_soup(carom.Mesh.shape("box")), carom.solid_or_soup(carom.Mesh.shape("grid"))
    (<carom.Solid: 12 triangles, volume 8>, <carom.Soup: 200 faces, 200 triangles, cpu>)
    """
    if isinstance(mesh, (Solid, Soup)):
        return mesh
    try:
        return Solid(mesh, context=context)
    except BadInputError:  # open, without a face, or not usable at all, which the soup tells
        return Soup(mesh, rigid=True, context=context)


def clashes(parts: Sequence[MeshLike], clearance: float = 0.0, *, tolerances: ArrayLike = 0.0,
            poses: Optional[Sequence[ArrayLike]] = None, depth: bool = True,
            context: Optional[Context] = None) -> list[Clash]:
    """All pairs of parts that touch, overlap, enclose each other, or are closer than the clearance, by index.

    >>> import carom
    >>> box = carom.Mesh.shape("box")                       # of edge 2
    >>> found = carom.clashes([box, box, box], 0.5, poses=[None, [1.5, 0, 0], [3.75, 0, 0]])
    >>> [(c.a, c.b, str(c.relation), round(c.volume, 6), round(c.depth, 6), c.distance) for c in found]
    [(0, 1, 'overlapping', 2.0, 0.5, 0.0), (1, 2, 'apart', 0.0, 0.0, 0.25)]

    Closed parts are solids, which have volumes; others are soups.

    tolerances: how far each mesh may be from the surface that it stands for, as from that of a CAD model; one number or one
    per part. The tolerances of both parts are added to the clearance, and `within_tolerance` says that the distance or the
    depth is not larger than their sum: the true surfaces may lie otherwise.
    depth: also how far, and in which direction, b must move.
    """
    parts = list(parts)
    posed = [None] * len(parts) if poses is None else list(poses)
    if len(posed) != len(parts):
        raise ValueError(f"there are {len(posed)} poses for {len(parts)} parts")
    slack, clearance = _slack(tolerances, len(parts)), number(clearance, "clearance")
    scene = Scene(clearance + 2.0 * float(slack.max(initial=0.0)), skip_depth=not depth, least_depth=depth,
                  context=context)
    try:
        for mesh, pose in zip(parts, posed):
            scene.add(solid_or_soup(mesh, context=context), pose, context=context)
        contacts = scene.step(context=context).contacts
    finally:
        scene.close()
    found = []
    for c in contacts:
        a, b = int(c.a), int(c.b)
        margin = float(slack[a] + slack[b])
        if c.distance <= clearance + margin:
            point = (c.points["point_a"][0] if c.point_count else np.full(3, np.nan)).copy()
            found.append(Clash(a, b, Relation(c.relation), float(c.volume), float(c.volume_error), float(c.depth),
                               float(c.distance), c.normal.copy(), point, int(c.triangle_pairs),
                               bool(max(c.distance, c.depth) <= margin) and c.relation not in _INSIDE))
    return found


def _slack(tolerances: ArrayLike, count: int) -> np.ndarray:
    """One tolerance per part."""
    given = floats(np.atleast_1d(np.asarray(tolerances)), (None,), "tolerances")
    if len(given) not in (1, count) or not (np.isfinite(given) & (given >= 0)).all():
        raise ValueError(f"tolerances are one number or {count}, finite and not negative")
    return np.broadcast_to(given, (count,))


_INSIDE = (Relation.A_INSIDE_B, Relation.B_INSIDE_A)


class PathContact(NamedTuple):
    """What a part meets on its path. A position is an index of the poses of the path, with a fraction between two."""

    position: Optional[float]
    other: Optional[int]
    point: Optional[np.ndarray]
    volumes: np.ndarray


def along_path(moving: MeshLike, others: Sequence[MeshLike], poses: ArrayLike, *, centre: Optional[ArrayLike] = None,
               clearance: float = 0.0, tolerances: ArrayLike = 0.0, context: Optional[Context] = None) -> PathContact:
    """Where a part that moves through poses first comes within the clearance of others, and the volume of the overlap with
    all of them at each pose.

    >>> import carom
    >>> box = carom.Mesh.shape("box")                       # of edge 2
    >>> found = carom.along_path(box, [box], [[x, 0, 0, 1, 0, 0, 0] for x in (5, 4, 3, 2, 1)], clearance=0.5)
    >>> round(found.position, 3), found.other, found.volumes.round(6).tolist()
    (2.5, 0, [0.0, 0.0, 0.0, 0.0, 4.0])

    Between two poses it moves as `Soup.advance` says, turning about `centre`, a point of the part; a position is never after
    the contact, and before it by a millionth of the sizes at most. None: there is no contact. A part that overlaps another
    one, or is inside it, at the first pose meets it there. Parts that are open have no volume.

    tolerances: as for `clashes`; one number, or one for the moving part and one for each other.
    """
    posed = as_poses(poses)
    if posed is None or not posed.batch or not len(posed):
        raise ValueError("poses are those of the path, (n, 7) or (n, 4, 4)")
    others = list(others)
    slack = _slack(tolerances, len(others) + 1)
    clearance, mine = number(clearance, "clearance"), Soup(moving, rigid=True, context=context)
    solid, volumes = solid_or_soup(moving, context=context), np.zeros(len(posed))
    path, turning = [posed.one(i) for i in range(len(posed))], () if centre is None else (centre,)
    first: tuple[float, Optional[int], Optional[np.ndarray]] = (np.inf, None, None)
    for index, mesh in enumerate(others):
        margin = float(slack[0] + slack[index + 1])
        other, surface = solid_or_soup(mesh, context=context), Soup(mesh, rigid=True, context=context)
        if isinstance(solid, Solid) and isinstance(other, Solid):
            volumes += other.overlap(solid, np.array(path), context=context).volume
        near = clashes([other, solid], clearance + margin, poses=[None, path[0]], depth=False, context=context)
        if near:
            first = min(first, (0.0, index, near[0].point), key=lambda found: found[0])
        for step in range(len(path) - 1):
            if step >= first[0]:
                break
            hit = surface.advance(mine, (path[step], path[step + 1], *turning), reach=clearance + margin, context=context)
            if hit.hit:
                first = min(first, (step + hit.time, index, hit.point_a), key=lambda found: found[0])
                break
    return PathContact(None if first[1] is None else first[0], first[1], first[2], volumes)
