# SPDX-License-Identifier: MIT
"""Robots: which joint configurations and straight motions are free of collisions, with proof."""
from __future__ import annotations

import ctypes
import os
from typing import Any, Mapping, Optional, Sequence

import numpy as np

from . import _abi
from ._abi import RobotFormat, RobotJointKind, RobotShapeKind
from ._arrays import ArrayLike, Results, address, dtype_of, floats, indices, number, pose_struct, records, vec3
from ._core import Context, Handle, _count, byref, lib, pick
from ._mesh import Mesh, PathLike, _bytes, mesh_view, path_bytes, view_reads
from ._records import RobotInfo, info

Shape = Mapping[str, Any]

_SHAPE_KEYS = {"kind", "pose", "mesh", "half", "radius", "half_height", "balls"}
_JOINT_KEYS = {"kind", "parent", "child", "origin", "axis", "lower", "upper", "mimic", "multiplier", "offset"}


def _checked(given: Any, keys: set[str], what: str) -> Mapping[str, Any]:
    if not isinstance(given, Mapping):
        raise TypeError(f"a {what} is a {type(given).__name__}; give a dict with keys of {', '.join(sorted(keys))}")
    unknown = set(given) - keys
    if unknown:
        raise ValueError(f"a {what} has the key {sorted(unknown)[0]!r}; known are {', '.join(sorted(keys))}")
    return given


class _Shapes:
    """Shapes as the library reads them, and what they point to."""

    def __init__(self, shapes: Sequence[Shape]) -> None:
        self.c, self.count, self.kept, self.reads = (_abi.robot_shape * max(len(shapes), 1))(), len(shapes), [], ()
        for to, given in zip(self.c, shapes):
            shape = _checked(given, _SHAPE_KEYS, "shape")
            to.kind = RobotShapeKind.of(shape.get("kind", "mesh" if "mesh" in shape else "balls"))
            to.pose = pose_struct(shape.get("pose"))
            to.half = vec3(shape.get("half", (0.0, 0.0, 0.0)), "half")
            to.radius = number(shape.get("radius", 0.0), "radius")
            to.half_height = number(shape.get("half_height", 0.0), "half_height")
            if to.kind == RobotShapeKind.MESH:
                if "mesh" not in shape:
                    raise ValueError("a shape of kind mesh has no key 'mesh'")
                view = mesh_view(shape["mesh"])
                to.mesh = ctypes.addressof(view.c)
                self.kept.append(view)
                self.reads = (*self.reads, *view_reads(view))
            if to.kind == RobotShapeKind.BALLS:
                balls = np.ascontiguousarray(floats(shape.get("balls", np.empty((0, 4))), (None, 4), "balls"))
                to.balls, to.ball_count = address(balls), len(balls)
                self.kept.append(balls)


def _joint(given: Mapping[str, Any]) -> Any:
    joint = _checked(given, _JOINT_KEYS, "joint")
    mimic = joint.get("mimic")
    return _abi.robot_joint(
        kind=RobotJointKind.of(joint.get("kind", "fixed")), parent=_count(joint["parent"], "parent"),
        child=_count(joint["child"], "child"), origin=pose_struct(joint.get("origin")),
        axis=vec3(joint.get("axis", (1.0, 0.0, 0.0)), "axis"), lower=number(joint.get("lower", 0.0), "lower"),
        upper=number(joint.get("upper", 0.0), "upper"), mimics=mimic is not None,
        mimic=0 if mimic is None else _count(mimic, "mimic"), multiplier=number(joint.get("multiplier", 1.0), "multiplier"),
        offset=number(joint.get("offset", 0.0), "offset"))


def _pairs(pairs: ArrayLike) -> np.ndarray:
    return np.ascontiguousarray(indices(np.empty((0, 2), np.uint32) if pairs is None else pairs, (None, 2), "pairs"))


def _text(given: Optional[str]) -> Optional[bytes]:
    return None if given is None else given.encode()


class Urdf(Handle):
    """A robot as a URDF file describes it: names of links and joints, and what to make a Robot of.

    packages: folders by the names of packages. package_path, prefix_path: folders with colons between them, as
    ROS_PACKAGE_PATH and AMENT_PREFIX_PATH have them. Nothing outside of the file's folder and of packages is read.

    >>> import carom
    >>> urdf = carom.Urdf.from_bytes(b"<robot><link name='a'/><link name='b'/><joint name='j' type='revolute'>"
    ...                              b"<parent link='a'/><child link='b'/></joint></robot>")
    >>> urdf.links, urdf.joints
    (['a', 'b'], ['j'])
    """

    _destroy = staticmethod(lib.carom_urdf_destroy)

    @classmethod
    def _new(cls) -> Urdf:
        self = cls.__new__(cls)
        Handle.__init__(self)
        return self

    @staticmethod
    def _definition(visual: bool, joints: Optional[Mapping[str, float]], packages: Optional[Mapping[str, Any]],
                    package_path: Optional[str], prefix_path: Optional[str]) -> Any:
        values = None if joints is None else ",".join(f"{name}={number(v, name)!r}" for name, v in joints.items())
        lines = None if packages is None else "\n".join(f"{name}={folder}" for name, folder in packages.items())
        return _abi.urdf_def(visual=bool(visual), joints=_text(values), packages=_text(lines),
                             package_path=_text(package_path), prefix_path=_text(prefix_path))

    @classmethod
    def load(cls, path: PathLike, *, srdf: Optional[PathLike] = None, visual: bool = False,
             joints: Optional[Mapping[str, float]] = None, packages: Optional[Mapping[str, Any]] = None,
             package_path: Optional[str] = None, prefix_path: Optional[str] = None,
             context: Optional[Context] = None) -> Urdf:
        """Reads a file, and an SRDF file with pairs that may collide."""
        self = cls._new()
        definition = cls._definition(visual, joints, packages, package_path, prefix_path)
        pick(context)._call(lib.carom_urdf_load, path_bytes(path), byref(definition), byref(self._pointer))
        if srdf is not None:
            pick(context)._call(lib.carom_urdf_load_srdf, self._pointer, path_bytes(srdf), change=self)
        return self

    @classmethod
    def from_bytes(cls, data: bytes, name: Optional[str] = None, *, srdf: Optional[bytes] = None, visual: bool = False,
                   joints: Optional[Mapping[str, float]] = None, packages: Optional[Mapping[str, Any]] = None,
                   package_path: Optional[str] = None, prefix_path: Optional[str] = None,
                   context: Optional[Context] = None) -> Urdf:
        """Reads the content of such files; `name` stands for the path."""
        self, data = cls._new(), _bytes(data)
        definition = cls._definition(visual, joints, packages, package_path, prefix_path)
        pick(context)._call(lib.carom_urdf_load_memory, data, len(data), None if name is None else path_bytes(name),
                            byref(definition), byref(self._pointer))
        if srdf is not None:
            pairs = _bytes(srdf)
            pick(context)._call(lib.carom_urdf_load_srdf_memory, self._pointer, pairs, len(pairs), None, change=self)
        return self

    def _view(self) -> Any:
        view = _abi.urdf_view()
        lib.carom_urdf_get_view(self._pointer, byref(view))
        return view

    @staticmethod
    def _names(first: Any, count: int, of: Any) -> list[str]:
        return [item.name.decode(errors="replace") for item in (of * count).from_address(first)] if count else []

    @property
    def links(self) -> list[str]:
        """Names of links: number i is link i of the robot."""
        view = self._view()
        return self._names(view.links, view.link_count, _abi.urdf_link)

    @property
    def joints(self) -> list[str]:
        """Names of joints, also of those that do not move."""
        view = self._view()
        return self._names(view.joints, view.joint_count, _abi.urdf_joint)

    def mesh(self, element: int, *, context: Optional[Context] = None) -> Optional[Mesh]:
        """The mesh of an element, triangles; None where it is a box, sphere, capsule or cylinder."""
        if _count(element, "element") >= self._view().element_count:
            raise IndexError(f"there is no element {element}")
        mesh = Mesh._new()
        pick(context)._call(lib.carom_urdf_load_mesh, self._pointer, element, byref(mesh._pointer), reads=(self,))
        return mesh if mesh._pointer else None


class Robot(Handle):
    """A robot and its world.

    links: for each a list of shapes, dicts with a `kind` (mesh, box, sphere, capsule, cylinder, balls), a `pose` and what
    that kind needs: mesh, half, radius, half_height, balls (n, 4).
    joints: dicts with kind (fixed, revolute, continuous, prismatic), parent, child, origin, axis, lower, upper and, for one
    that follows another, mimic, multiplier, offset.

    >>> import carom
    >>> boom = {"kind": "box", "half": (0.9, 0.05, 0.05), "pose": (1, 0, 0)}
    >>> robot = carom.Robot([[], [boom]], [{"kind": "continuous", "parent": 0, "child": 1, "axis": (0, 0, 1)}])
    >>> robot.add_objects([{"kind": "sphere", "radius": 0.2, "pose": (0, 1.5, 0)}])
    array([0], dtype=uint32)
    >>> [str(carom.RobotVerdict(v)) for v in robot.check([[0.0], [1.5]]).verdict]
    ['free', 'colliding']
    """

    _destroy = staticmethod(lib.carom_robot_destroy)

    def __init__(self, links: Sequence[Sequence[Shape]], joints: Sequence[Mapping[str, Any]] = (), *,
                 names: Optional[Sequence[str]] = None, allowed: ArrayLike = None, test_adjacent: bool = False,
                 spheres: int = 0, inner: int = 0, fine: int = 0, context: Optional[Context] = None) -> None:
        super().__init__()
        if isinstance(links, (str, os.PathLike)):
            raise TypeError("links are lists of shapes; carom.Robot.from_urdf reads a file")
        shapes = [_Shapes(link) for link in links]
        texts = [b"" if names is None else str(names[i]).encode() for i in range(len(shapes))]
        of_links = (_abi.robot_link * max(len(shapes), 1))()
        for to, own, text in zip(of_links, shapes, texts):
            to.name, to.shapes, to.shape_count = text, ctypes.addressof(own.c), own.count
        of_joints = (_abi.robot_joint * max(len(joints), 1))(*[_joint(joint) for joint in joints])
        pairs = _pairs(allowed)
        definition = _abi.robot_def(
            links=ctypes.addressof(of_links), link_count=len(shapes), joints=ctypes.addressof(of_joints),
            joint_count=len(joints), allowed=address(pairs), allowed_count=len(pairs), test_adjacent=bool(test_adjacent),
            spheres=_count(spheres, "spheres"), inner=_count(inner, "inner"), fine=_count(fine, "fine"))
        pick(context)._call(lib.carom_robot_create, byref(definition), byref(self._pointer),
                            reads=tuple(read for own in shapes for read in own.reads))

    @classmethod
    def _new(cls) -> Robot:
        self = cls.__new__(cls)
        Handle.__init__(self)
        return self

    @classmethod
    def from_urdf(cls, urdf: Any, *, allowed: ArrayLike = None, test_adjacent: bool = False, spheres: int = 0,
                  inner: int = 0, fine: int = 0, context: Optional[Context] = None, **how: Any) -> Robot:
        """Prepares the robot of a Urdf, or of a URDF file, which Urdf.load reads with the rest of the arguments."""
        given = urdf if isinstance(urdf, Urdf) else Urdf.load(urdf, context=context, **how)
        if given is urdf and how:
            raise TypeError(f"{sorted(how)[0]} is an argument of Urdf.load")
        self, pairs = cls._new(), _pairs(allowed)
        definition = _abi.robot_def(allowed=address(pairs), allowed_count=len(pairs), test_adjacent=bool(test_adjacent),
                                    spheres=_count(spheres, "spheres"), inner=_count(inner, "inner"),
                                    fine=_count(fine, "fine"))
        pick(context)._call(lib.carom_robot_create_urdf, given._pointer, byref(definition), byref(self._pointer),
                            reads=(given,))
        return self

    @classmethod
    def load(cls, path: PathLike, *, context: Optional[Context] = None) -> Robot:
        """Reads a robot that save() wrote: it is ready at once."""
        self = cls._new()
        pick(context)._call(lib.carom_robot_load, path_bytes(path), RobotFormat.GUESS, byref(self._pointer))
        return self

    @classmethod
    def from_bytes(cls, data: bytes, name: Optional[str] = None, *, context: Optional[Context] = None) -> Robot:
        """Reads the content of such a file."""
        self, data = cls._new(), _bytes(data)
        pick(context)._call(lib.carom_robot_load_memory, data, len(data), RobotFormat.GUESS,
                            None if name is None else path_bytes(name), byref(self._pointer))
        return self

    def save(self, path: PathLike, *, context: Optional[Context] = None) -> None:
        """Writes the robot as it is prepared, with its world."""
        pick(context)._call(lib.carom_robot_save, self._pointer, RobotFormat.GUESS, path_bytes(path), reads=(self,))

    def to_bytes(self, *, context: Optional[Context] = None) -> bytes:
        """The content of such a file."""
        content = Results("bytes")
        pick(context)._call(lib.carom_robot_save_memory, self._pointer, RobotFormat.CAROM, content.out, reads=(self,))
        return content.bytes()

    @property
    def names(self) -> list[str]:
        """Names of the links."""
        return [lib.carom_robot_link_name(self._pointer, i).decode(errors="replace") for i in range(self.info.links)]

    def has_open_mesh(self, id: int, *, object: bool = False) -> bool:
        """Whether a link or attached shape, or an object of the world, has a mesh that is tested as a surface."""
        return bool(lib.carom_robot_has_open_mesh(self._pointer, _count(id, "id"), bool(object)))

    def audit(self, body: int, spheres: ArrayLike, *, context: Optional[Context] = None) -> Any:
        """How far spheres (n, 4) leave the faces of a link outside: area, outside_share, worst, point, left_out; lower and
        upper of the shares and distances are proved."""
        balls = np.ascontiguousarray(floats(spheres, (None, 4), "spheres"))
        found = records(_abi.robot_audit, 1)
        pick(context)._call(lib.carom_robot_audit_spheres, self._pointer, _count(body, "body"), address(balls), len(balls),
                            address(found), reads=(self,))
        return found[0]

    @property
    def info(self) -> RobotInfo:
        """What the robot consists of."""
        return info(self, lib.carom_robot_get_info, RobotInfo, _abi.robot_info)

    @property
    def limits(self) -> np.ndarray:
        """(2, dof): the lower and the upper limits of the numbers of a configuration."""
        found = np.zeros((2, self.info.dof))
        lib.carom_robot_get_limits(self._pointer, address(found[0]), address(found[1]))
        return found

    def __repr__(self) -> str:
        if not self._pointer:
            return "<carom.Robot: closed>"
        found = self.info
        return f"<carom.Robot: {found.links} links, {found.dof} joint values, {found.pairs} pairs tested>"

    # ---- Changes

    def _change(self, context: Optional[Context], function: Any, *args: Any, reads: tuple[Handle, ...] = ()) -> None:
        pick(context)._call(function, self._pointer, *args, reads=reads, change=self)

    def add_objects(self, shapes: Sequence[Shape], *, context: Optional[Context] = None) -> np.ndarray:
        """Adds objects to the world; returns their ids."""
        own = _Shapes(shapes)
        ids = np.zeros(own.count, np.uint32)
        self._change(context, lib.carom_robot_add_objects, ctypes.addressof(own.c), own.count, address(ids), reads=own.reads)
        return ids

    def set_object(self, id: int, shape: Shape, *, context: Optional[Context] = None) -> None:
        """Replaces the shape of an object."""
        own = _Shapes([shape])
        self._change(context, lib.carom_robot_set_object, _count(id, "id"), ctypes.addressof(own.c), reads=own.reads)

    def remove_object(self, id: int, *, context: Optional[Context] = None) -> None:
        """Removes an object."""
        self._change(context, lib.carom_robot_remove_object, _count(id, "id"))

    def attach(self, link: int, shape: Shape, *, context: Optional[Context] = None) -> int:
        """Attaches a shape to a link, such as a tool; returns its id."""
        own, body = _Shapes([shape]), ctypes.c_uint32()
        self._change(context, lib.carom_robot_attach, _count(link, "link"), ctypes.addressof(own.c), byref(body),
                     reads=own.reads)
        return body.value

    def detach(self, body: int, *, context: Optional[Context] = None) -> None:
        """Takes an attached shape off."""
        self._change(context, lib.carom_robot_detach, _count(body, "body"))

    def set_allowed(self, pairs: ArrayLike, allowed: bool = True, *, context: Optional[Context] = None) -> None:
        """Allows pairs (n, 2) of links or attached shapes to collide, or has them tested."""
        given = _pairs(pairs)
        self._change(context, lib.carom_robot_set_allowed, address(given), len(given), bool(allowed))

    def set_object_allowed(self, pairs: ArrayLike, allowed: bool = True, *, context: Optional[Context] = None) -> None:
        """The same for pairs (body, object)."""
        given = _pairs(pairs)
        self._change(context, lib.carom_robot_set_object_allowed, address(given), len(given), bool(allowed))

    # ---- Queries

    def _configurations(self, q: ArrayLike, name: str = "q") -> np.ndarray:
        return np.ascontiguousarray(floats(q, (None, self.info.dof), name))

    def check(self, q: ArrayLike, *, margin: float = 0.0, covers_only: bool = False,
              context: Optional[Context] = None) -> Any:
        """Free, colliding or open, for configurations (n, dof): records of verdict, stage, a, b, with_object."""
        given = self._configurations(q)
        found = records(_abi.robot_result, len(given))
        query = _abi.robot_query(margin=number(margin, "margin"), covers_only=bool(covers_only))
        pick(context)._call(lib.carom_robot_check, self._pointer, address(given), len(given), byref(query), address(found),
                            reads=(self,))
        return found

    def clearance(self, q: ArrayLike, *, covers_only: bool = False, context: Optional[Context] = None) -> Any:
        """Bounds of the least distance, for configurations (n, dof): records of distance, a, b, with_object."""
        given = self._configurations(q)
        found = records(_abi.robot_gap, len(given))
        query = _abi.robot_query(covers_only=bool(covers_only))
        pick(context)._call(lib.carom_robot_clearance, self._pointer, address(given), len(given), byref(query),
                            address(found), reads=(self,))
        return found

    def motion(self, start: ArrayLike, end: ArrayLike, *, margin: float = 0.0, tolerance: float = 0.0,
               covers_only: bool = False, context: Optional[Context] = None) -> Any:
        """Whether straight motions are free, (n, dof) each: records of verdict, free_until, contact, a, b, with_object."""
        first, last = self._configurations(start, "start"), self._configurations(end, "end")
        if len(first) != len(last):
            raise ValueError(f"start has {len(first)} configurations and end {len(last)}")
        found = records(_abi.robot_motion_result, len(first))
        query = _abi.robot_query(margin=number(margin, "margin"), covers_only=bool(covers_only),
                                 tolerance=number(tolerance, "tolerance"))
        pick(context)._call(lib.carom_robot_motion, self._pointer, address(first), address(last), len(first), byref(query),
                            address(found), reads=(self,))
        return found

    def poses(self, q: ArrayLike, *, context: Optional[Context] = None) -> np.ndarray:
        """(n, links, 7): poses of all links, w, x, y, z and the translation."""
        given = self._configurations(q)
        found = np.zeros((len(given), self.info.links), dtype_of(_abi.pose))
        pick(context)._call(lib.carom_robot_poses, self._pointer, address(given), len(given), address(found), reads=(self,))
        return found

    def _balls(self, function: Any, body: int, context: Optional[Context]) -> np.ndarray:
        found = Results("robot_balls")
        pick(context)._call(function, self._pointer, _count(body, "body"), found.out, reads=(self,))
        return np.array(found.array()).view(np.float64).reshape(-1, 4)

    def cover(self, body: int, *, context: Optional[Context] = None) -> np.ndarray:
        """(n, 4): the spheres that contain a link or attached shape, in the link's frame."""
        return self._balls(lib.carom_robot_list_cover, body, context)

    def inner(self, body: int, *, context: Optional[Context] = None) -> np.ndarray:
        """(n, 4): the balls inside of it."""
        return self._balls(lib.carom_robot_list_inner, body, context)

    def sample_pairs(self, samples: int, seed: int = 1, *, context: Optional[Context] = None) -> Any:
        """In how many of random configurations each pair collides: records of a, b, colliding."""
        found = Results("robot_pair_counts")
        pick(context)._call(lib.carom_robot_sample_pairs, self._pointer, _count(samples, "samples"), _count(seed, "seed"),
                            found.out, reads=(self,))
        return found.array()
