# SPDX-License-Identifier: MIT
"""A collision manager with the names and the return types of trimesh.collision, answered exactly:

    from carom.trimesh import CollisionManager       # instead of trimesh.collision

What is more: a mesh inside another one collides with it (closed meshes are solids, unless solid=False), contacts tell the
depth and the volume of the overlap, and arrays=True returns arrays instead of a list with an object per contact. trimesh
itself is not needed: a mesh is whatever carom takes.

Meshes are never replaced by their hulls, and no number of contacts is left out.
"""
from __future__ import annotations

from typing import Any, Hashable, Iterable, NamedTuple, Optional

import numpy as np

from ._abi import Relation
from ._arrays import ArrayLike, poses as as_poses
from ._errors import BadInputError
from ._mesh import MeshLike, mesh_view
from ._scene import Scene
from ._solid import Solid
from ._soup import Soup

__all__ = ["CollisionManager", "CollisionObject", "ContactArrays", "ContactData", "DistanceData", "scene_to_collision"]

EXTERNAL = "__external"  # the name of a mesh that is not in the manager


class CollisionObject:
    """A mesh that is prepared for a manager. Managers take it in the place of a mesh."""

    def __init__(self, mesh: MeshLike, solid: bool = True) -> None:
        view = mesh_view(mesh)
        self.soup = Soup(view, rigid=True)
        self.solid: Optional[Solid] = None
        if solid:
            try:
                self.solid = Solid(view)
            except BadInputError:  # open: its surface collides
                pass
        vertices = view.keep[0]
        points = vertices if isinstance(vertices, np.ndarray) else vertices.vertices
        self.bounds = np.array((points.min(axis=0), points.max(axis=0)), np.float64) if len(points) else np.zeros((2, 3))

    @property
    def item(self) -> Any:
        """What stands in a scene."""
        return self.soup if self.solid is None else self.solid


class ContactData:
    """A contact of two faces or, where one mesh is inside the other, of the nearest ones."""

    def __init__(self, names: tuple[Any, Any], faces: tuple[int, int], point: np.ndarray, normal: np.ndarray,
                 depth: float, volume: float) -> None:
        self.names = set(names)
        self._faces = dict(zip(names, faces))
        self.point, self.normal = point, normal
        self.depth, self.volume = depth, volume

    def index(self, name: Hashable) -> int:
        """The face of the mesh with this name."""
        return self._faces[name]

    def __repr__(self) -> str:
        return f"<ContactData: {sorted(map(str, self.names))}, depth {self.depth:g}>"


class ContactArrays(NamedTuple):
    """All contacts as arrays; contact i is of objects[i], a pair of indices into names."""

    names: list[Any]
    objects: np.ndarray
    faces: np.ndarray
    points: np.ndarray
    normals: np.ndarray
    depths: np.ndarray
    volumes: np.ndarray


class DistanceData:
    """Where two meshes are nearest. The distance is negative where they overlap: minus the depth."""

    def __init__(self, names: tuple[Any, Any], faces: tuple[int, int], points: tuple[np.ndarray, np.ndarray],
                 distance: float) -> None:
        self.names = set(names)
        self.distance = distance
        self._faces, self._points = dict(zip(names, faces)), dict(zip(names, points))

    def index(self, name: Hashable) -> int:
        """The nearest face of the mesh with this name."""
        return self._faces[name]

    def point(self, name: Hashable) -> np.ndarray:
        """The nearest point of the mesh with this name."""
        return self._points[name]


class _Posed(NamedTuple):
    """An object in its pose, under its name."""

    name: Any
    object: CollisionObject
    pose: Any  # tx ty tz qw qx qy qz, or None

    def box(self) -> np.ndarray:
        """(2, 3): a box around it."""
        low, high = self.object.bounds
        if self.pose is None:
            return np.array((low, high))
        from .pose import matrix

        m = matrix(self.pose)
        centre, half = m[:3, :3] @ (0.5 * (low + high)) + m[:3, 3], np.abs(m[:3, :3]) @ (0.5 * (high - low))
        half = half * (1 + 1e-12) + 1e-12 * np.abs(centre)  # rounding makes no box too small
        return np.array((centre - half, centre + half))


def _order(names: tuple[Any, Any]) -> tuple[Any, Any]:
    """Names in alphabetical order; those that cannot be compared, by their text."""
    try:
        return names if names[0] <= names[1] else (names[1], names[0])
    except TypeError:
        return names if str(names[0]) <= str(names[1]) else (names[1], names[0])


def _contact(a: _Posed, b: _Posed) -> Any:
    """The contact of two objects with its depth, or None."""
    scene = Scene()
    scene.add(a.object.item, a.pose)
    scene.add(b.object.item, b.pose)
    contacts = scene.step().contacts
    return contacts[0] if len(contacts) else None


def _faces_and_points(a: _Posed, b: _Posed) -> tuple[np.ndarray, np.ndarray]:
    """The pairs of faces that meet, and a point of each; where none do, the nearest ones."""
    pairs = a.object.soup.pairs(b.object.soup, b.pose, pose_a=a.pose)
    if len(pairs) == 0:
        gap = a.object.soup.distance(b.object.soup, b.pose, pose_a=a.pose)
        return np.array([[gap.face_a, gap.face_b]], np.uint32), 0.5 * (gap.point_a + gap.point_b)[None]
    segments = a.object.soup.segments(pairs, b.object.soup, b.pose, pose_a=a.pose)
    of = segments["pair"]
    first = np.ones(len(of), np.bool_)
    first[1:] = (of[1:] != of[:-1]).any(axis=1)
    return of[first], 0.5 * (segments["p"][first] + segments["q"][first])


class CollisionManager:
    """Meshes by name, and which of them collide.

    >>> import carom
    >>> from carom.trimesh import CollisionManager
    >>> manager = CollisionManager()
    >>> _ = manager.add_object("box", carom.Mesh.shape("box"))
    >>> _ = manager.add_object("ball", carom.Mesh.shape("sphere", size=0.5))
    >>> manager.in_collision_internal(return_names=True)       # it is inside
    (True, {('ball', 'box')})

    solid: closed meshes are solids; otherwise only surfaces collide.
    arrays: contacts are returned as ContactArrays.
    """

    def __init__(self, solid: bool = True, arrays: bool = False) -> None:
        self.solid, self.arrays = solid, arrays
        self._scene = Scene(skip_depth=True)
        self._posed: dict[Hashable, _Posed] = {}
        self._ids: dict[Hashable, int] = {}
        self._names: dict[int, Hashable] = {}

    # ---- Objects

    def _object(self, mesh: MeshLike) -> CollisionObject:
        return mesh if isinstance(mesh, CollisionObject) else CollisionObject(mesh, self.solid)

    @staticmethod
    def _pose(transform: ArrayLike) -> Any:
        if transform is None:
            return None
        if np.shape(transform) != (4, 4):
            raise ValueError(f"transform has the shape {np.shape(transform)}; give (4, 4)")
        return as_poses(transform, "transform").one(0)  # type: ignore[union-attr]

    def add_object(self, name: Hashable, mesh: MeshLike, transform: ArrayLike = None) -> CollisionObject:
        """Adds a mesh under a name; one of that name is replaced. Returns what is prepared, which may be used again."""
        posed = _Posed(name, self._object(mesh), self._pose(transform))
        if name in self._posed:
            self.remove_object(name)
        number = self._scene.add(posed.object.item, posed.pose)
        self._posed[name], self._ids[name], self._names[number] = posed, number, name
        return posed.object

    def remove_object(self, name: Hashable) -> None:
        """Removes the mesh of a name."""
        self._known(name)
        self._scene.remove([self._ids[name]])
        del self._posed[name], self._names[self._ids.pop(name)]

    def set_transform(self, name: Hashable, transform: ArrayLike) -> None:
        """Replaces the transform of a mesh."""
        self._known(name)
        pose = self._pose(transform)
        self._scene.move([self._ids[name]], pose)
        self._posed[name] = self._posed[name]._replace(pose=pose)

    def _known(self, name: Hashable) -> None:
        if name not in self._posed:
            raise ValueError(f"{name} not in collision manager!")

    # ---- Collisions

    def _answer(self, found: list[tuple[_Posed, _Posed]], names: set[Any], return_names: bool, return_data: bool,
                arrays: Optional[bool]) -> Any:
        """What is returned for these pairs of objects."""
        answer: list[Any] = [len(found) > 0]
        if return_names:
            answer.append(names)
        if return_data:
            wanted = self.arrays if arrays is None else arrays
            answer.append(_contact_arrays(found) if wanted else _contact_list(found))
        return answer[0] if len(answer) == 1 else tuple(answer)

    def in_collision_single(self, mesh: MeshLike, transform: ArrayLike = None, return_names: bool = False,
                            return_data: bool = False, *, arrays: Optional[bool] = None) -> Any:
        """Whether a mesh collides with any in the manager; the names of those; and the contacts."""
        other = _Posed(EXTERNAL, self._object(mesh), self._pose(transform))
        self._scene.commit()
        contacts = self._scene.query_objects([other.object.item], [other.pose])
        hit = [self._posed[self._names[number]] for number in contacts["b"].tolist()]
        return self._answer([(posed, other) for posed in hit], {posed.name for posed in hit}, return_names,
                            return_data, arrays)

    def _internal(self) -> list[tuple[_Posed, _Posed]]:
        contacts = self._scene.step().contacts
        return [(self._posed[self._names[a]], self._posed[self._names[b]])
                for a, b in zip(contacts["a"].tolist(), contacts["b"].tolist())]

    def in_collision_internal(self, return_names: bool = False, return_data: bool = False, *,
                              arrays: Optional[bool] = None) -> Any:
        """Whether any two meshes of the manager collide; the pairs of their names, each in alphabetical order; and the
        contacts."""
        found = self._internal()
        return self._answer(found, {_order((a.name, b.name)) for a, b in found}, return_names, return_data, arrays)

    def _other(self, manager: CollisionManager) -> list[tuple[_Posed, _Posed]]:
        if not isinstance(manager, CollisionManager):
            raise TypeError(f"other_manager is a {type(manager).__name__}; give a carom.trimesh.CollisionManager")
        theirs = list(manager._posed.values())
        self._scene.commit()
        contacts = self._scene.query_objects([p.object.item for p in theirs], [p.pose for p in theirs])
        return [(self._posed[self._names[b]], theirs[a])
                for a, b in zip(contacts["a"].tolist(), contacts["b"].tolist())]

    def in_collision_other(self, other_manager: CollisionManager, return_names: bool = False, return_data: bool = False,
                           *, arrays: Optional[bool] = None) -> Any:
        """Whether a mesh of this manager collides with one of another; the pairs of their names, this manager's first;
        and the contacts."""
        found = self._other(other_manager)
        return self._answer(found, {(a.name, b.name) for a, b in found}, return_names, return_data, arrays)

    # ---- Distances

    def min_distance_single(self, mesh: MeshLike, transform: ArrayLike = None, return_name: bool = False,
                            return_data: bool = False) -> Any:
        """The least distance of a mesh to any in the manager, the name of the nearest, and where."""
        other = _Posed(EXTERNAL, self._object(mesh), self._pose(transform))
        nearest = _nearest([(posed, other) for posed in self._posed.values()])
        name = None if nearest is None else nearest[1].name
        return _distance_answer(nearest, name, return_name, return_data)

    def min_distance_internal(self, return_names: bool = False, return_data: bool = False) -> Any:
        """The least distance of any two meshes in the manager, their names in alphabetical order, and where."""
        posed = list(self._posed.values())
        nearest = _nearest([(a, b) for i, a in enumerate(posed) for b in posed[i + 1:]])
        names = None if nearest is None else _order((nearest[1].name, nearest[2].name))
        return _distance_answer(nearest, names, return_names, return_data)

    def min_distance_other(self, other_manager: CollisionManager, return_names: bool = False,
                           return_data: bool = False) -> Any:
        """The least distance of a mesh of this manager and one of another, their names, this manager's first, and where."""
        theirs = other_manager._posed.values()
        nearest = _nearest([(a, b) for a in self._posed.values() for b in theirs])
        names = None if nearest is None else (nearest[1].name, nearest[2].name)
        return _distance_answer(nearest, names, return_names, return_data)


def _contact_arrays(found: Iterable[tuple[_Posed, _Posed]]) -> ContactArrays:
    names: dict[Any, int] = {}
    columns: list[list[np.ndarray]] = [[], [], [], [], [], []]
    for a, b in found:
        contact, (faces, points) = _contact(a, b), _faces_and_points(a, b)
        pair = [names.setdefault(posed.name, len(names)) for posed in (a, b)]
        count = len(faces)
        normal = np.zeros(3) if contact is None else contact["normal"]
        rows = (np.tile(np.array(pair, np.uint32), (count, 1)), faces, points, np.tile(normal, (count, 1)),
                np.full(count, 0.0 if contact is None else contact["depth"]),
                np.full(count, 0.0 if contact is None else contact["volume"]))
        for column, row in zip(columns, rows):
            column.append(row)
    empty = (np.empty((0, 2), np.uint32), np.empty((0, 2), np.uint32), np.empty((0, 3)), np.empty((0, 3)), np.empty(0),
             np.empty(0))
    return ContactArrays(list(names), *[np.concatenate(column) if column else nothing
                                         for column, nothing in zip(columns, empty)])


def _contact_list(found: Iterable[tuple[_Posed, _Posed]]) -> list[ContactData]:
    all_of_it = _contact_arrays(found)
    names = all_of_it.names
    return [ContactData((names[pair[0]], names[pair[1]]), (faces[0], faces[1]), point, normal, depth, volume)
            for pair, faces, point, normal, depth, volume in zip(
                all_of_it.objects.tolist(), all_of_it.faces.tolist(), all_of_it.points, all_of_it.normals,
                all_of_it.depths.tolist(), all_of_it.volumes.tolist())]


def _box_distance(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.linalg.norm(np.maximum(0.0, np.maximum(b[0] - a[1], a[0] - b[1]))))


def _nearest(candidates: list[tuple[_Posed, _Posed]]) -> Optional[tuple[float, _Posed, _Posed, Any]]:
    """The two of least distance. Boxes say in which order to ask, and when to stop: the distance of two boxes is none
    that their meshes can be below, unless they overlap."""
    if not candidates:
        return None
    boxes = {id(p): p.box() for pair in candidates for p in pair}
    gaps = [_box_distance(boxes[id(a)], boxes[id(b)]) for a, b in candidates]
    best: Optional[tuple[float, _Posed, _Posed, Any]] = None
    for index in np.argsort(gaps, kind="stable"):
        a, b = candidates[index]
        if best is not None and gaps[index] > max(best[0], 0.0):
            break
        contact = _contact(a, b) if gaps[index] == 0 else None
        gap = a.object.soup.distance(b.object.soup, b.pose, pose_a=a.pose)
        distance = gap.distance
        if contact is not None:
            distance = -float(contact["depth"]) if contact["relation"] > Relation.TOUCHING else 0.0
        if best is None or distance < best[0]:
            best = distance, a, b, gap
    return best


def _distance_answer(nearest: Any, names: Any, return_names: bool, return_data: bool) -> Any:
    distance = float("inf") if nearest is None else float(nearest[0])
    answer: list[Any] = [distance]
    if return_names:
        answer.append(names)
    if return_data:
        if nearest is None:
            answer.append(None)
        else:
            _, a, b, gap = nearest
            answer.append(DistanceData((a.name, b.name), (gap.face_a, gap.face_b), (gap.point_a, gap.point_b),
                                       distance))
    return answer[0] if len(answer) == 1 else tuple(answer)


def scene_to_collision(scene: Any, solid: bool = True) -> tuple[CollisionManager, dict[Any, CollisionObject]]:
    """A manager with all nodes of a trimesh.Scene, and the objects by node."""
    manager, objects = CollisionManager(solid=solid), {}
    for node in scene.graph.nodes_geometry:
        transform, geometry = scene.graph[node]
        objects[node] = manager.add_object(node, scene.geometry[geometry], transform)
    return manager, objects
