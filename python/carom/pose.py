# SPDX-License-Identifier: MIT
"""Rigid motions. A pose is an array of seven numbers, tx ty tz qw qx qy qz; (4, 4) matrices and translations (3,) are
taken wherever a pose is.

>>> from carom import pose
>>> pose.matrix(pose.compose([1, 0, 0], [0, 2, 0]))[:3, 3]
array([1., 2., 0.])
"""
from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from . import _abi
from ._arrays import ArrayLike, address, floats, motion_struct, number, one_pose, pose_out, pose_pointer, vec3
from ._core import byref, lib, pick

__all__ = ["apply", "compose", "from_axis_angle", "from_euler", "from_matrix", "interpolate", "invert", "matrix",
           "motion_at", "rotate"]


def _made(function: Any, *args: Any) -> np.ndarray:
    found = _abi.pose()
    pick(None)._call(function, *args, byref(found))
    return pose_out(found)


def compose(a: ArrayLike, b: ArrayLike) -> np.ndarray:
    """The pose that applies b first and then a."""
    return _made(lib.carom_pose_compose, pose_pointer(a, "a"), pose_pointer(b, "b"))


def invert(pose: ArrayLike) -> np.ndarray:
    """The pose that undoes another."""
    return _made(lib.carom_pose_invert, pose_pointer(pose))


def from_axis_angle(axis: ArrayLike, angle: float) -> np.ndarray:
    """The rotation by an angle in radians about an axis through the origin."""
    return _made(lib.carom_pose_from_axis_angle, byref(vec3(axis, "axis")), number(angle, "angle"))


def from_euler(roll: float, pitch: float, yaw: float) -> np.ndarray:
    """The rotation of URDF's rpy, in radians."""
    return _made(lib.carom_pose_from_euler, number(roll, "roll"), number(pitch, "pitch"), number(yaw, "yaw"))


def from_matrix(matrix: ArrayLike) -> np.ndarray:
    """The pose of a (4, 4) or (3, 4) matrix. One that scales, shears or reflects is refused."""
    given = floats(matrix, (4, 4) if np.shape(matrix) == (4, 4) else (3, 4), "matrix")
    return _made(lib.carom_pose_from_matrix, address(given))


def matrix(pose: ArrayLike) -> np.ndarray:
    """The (4, 4) matrix of a pose."""
    found = np.eye(4)
    pick(None)._call(lib.carom_pose_to_matrix, pose_pointer(pose), address(found))
    return found


def interpolate(start: ArrayLike, end: ArrayLike, time: float) -> np.ndarray:
    """The pose between two, at a time in [0, 1]."""
    return _made(lib.carom_pose_interpolate, pose_pointer(start, "start"), pose_pointer(end, "end"),
                 number(time, "time"))


def motion_at(motion: Any, time: float) -> np.ndarray:
    """The pose of a motion, (pose, pose) or (pose, pose, centre), at a time in [0, 1]."""
    return _made(lib.carom_motion_evaluate, byref(motion_struct(motion, "motion")), number(time, "time"))


def _moved(function: Any, pose: ArrayLike, values: ArrayLike, name: str) -> np.ndarray:
    given = floats(values, (None, 3), name)
    found = np.zeros_like(given)
    held = one_pose(pose)
    pointer = None if held is None else ctypes.byref(_abi.pose.from_buffer(held))  # type: ignore[arg-type]
    pick(None)._call(function, pointer, address(given), len(given), address(found))
    return found


def apply(pose: ArrayLike, points: ArrayLike) -> np.ndarray:
    """Moves points: exactly the positions that queries with this pose use."""
    return _moved(lib.carom_pose_apply, pose, points, "points")


def rotate(pose: ArrayLike, directions: ArrayLike) -> np.ndarray:
    """Turns directions, without the translation."""
    return _moved(lib.carom_pose_rotate, pose, directions, "directions")
