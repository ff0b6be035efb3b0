# SPDX-License-Identifier: MIT
"""Exact predicates, distances, balls and times of impact of few points.

Triangles are (3, 3), segments (2, 3), balls (4,): x, y, z and radius.

>>> from carom import exact
>>> exact.orient_3d([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1e-300]])
1
"""
from __future__ import annotations

import ctypes
from typing import Any, Iterator

import numpy as np

from . import _abi
from ._abi import TriangleRelation
from ._arrays import ArrayLike, address, floats, number, point
from ._core import _count, byref, lib, pick
from ._records import Advance, Ball, Closest, Lens, Toi, TriangleIntersection, read
from ._soup import advance_def

__all__ = ["Random", "TriangleRelation", "ball_of", "ball_of_balls", "ball_toi", "lens", "orient_2d", "orient_3d",
           "point_segment_distance", "point_triangle_advance", "point_triangle_distance", "point_triangle_toi", "relate",
           "segment_triangle_distance", "segments_advance", "segments_distance", "segments_toi", "triangle_meets_box",
           "triangles_distance", "triangles_meet"]


def _query(kind: Any, struct: Any, function: Any, *arrays: Any) -> Any:
    """One answer of arrays, which are passed by address."""
    found = struct()
    args = [address(value) if isinstance(value, np.ndarray) else value for value in arrays]
    pick(None)._call(function, *args, byref(found))
    return found.value if kind is None else read(kind, found)


def _triangle(values: ArrayLike, name: str = "triangle") -> np.ndarray:
    return floats(values, (3, 3), name)


def _segment(values: ArrayLike, name: str = "segment") -> np.ndarray:
    return floats(values, (2, 3), name)


def orient_2d(points: ArrayLike, axis: int = 2) -> int:
    """1 where three points run counter-clockwise seen along an axis, -1 clockwise, 0 collinear. Exact."""
    chosen = _count(axis, "axis")
    if chosen > 2:
        raise ValueError(f"axis is {axis!r}; give 0, 1 or 2")
    return _query(None, ctypes.c_int, lib.carom_points_orient_2d, floats(points, (3, 3), "points"), chosen)


def orient_3d(points: ArrayLike) -> int:
    """The side of the plane of the first three points on which the fourth lies: 1, -1 or 0. Exact."""
    return _query(None, ctypes.c_int, lib.carom_points_orient_3d, floats(points, (4, 3), "points"))


def relate(a: ArrayLike, b: ArrayLike) -> TriangleIntersection:
    """How two triangles lie to each other. Exact."""
    return _query(TriangleIntersection, _abi.triangle_intersection, lib.carom_triangles_relate, _triangle(a, "a"),
                _triangle(b, "b"))


def triangles_meet(a: ArrayLike, b: ArrayLike) -> bool:
    """Whether two closed triangles have a point in common. Exact."""
    return _query(None, ctypes.c_bool, lib.carom_triangles_meet, _triangle(a, "a"), _triangle(b, "b"))


def triangle_meets_box(triangle: ArrayLike, box: ArrayLike) -> bool:
    """Whether a triangle and a box, (2, 3), may meet: False is certain."""
    return _query(None, ctypes.c_bool, lib.carom_triangle_meets_box, _triangle(triangle), floats(box, (2, 3), "box"))


def point_segment_distance(at: ArrayLike, segment: ArrayLike) -> Closest:
    """The distance of a point and a segment."""
    return _query(Closest, _abi.closest, lib.carom_point_segment_distance, point(at, "at"), _segment(segment))


def segments_distance(a: ArrayLike, b: ArrayLike) -> Closest:
    """The distance of two segments."""
    return _query(Closest, _abi.closest, lib.carom_segments_distance, _segment(a, "a"), _segment(b, "b"))


def point_triangle_distance(at: ArrayLike, triangle: ArrayLike) -> Closest:
    """The distance of a point and a triangle."""
    return _query(Closest, _abi.closest, lib.carom_point_triangle_distance, point(at, "at"), _triangle(triangle))


def segment_triangle_distance(segment: ArrayLike, triangle: ArrayLike) -> Closest:
    """The distance of a segment and a triangle."""
    return _query(Closest, _abi.closest, lib.carom_segment_triangle_distance, _segment(segment), _triangle(triangle))


def triangles_distance(a: ArrayLike, b: ArrayLike) -> Closest:
    """The distance of two triangles."""
    return _query(Closest, _abi.closest, lib.carom_triangles_distance, _triangle(a, "a"), _triangle(b, "b"))


def ball_of(points: ArrayLike) -> Ball:
    """The smallest ball around points."""
    given = floats(points, (None, 3), "points")
    if len(given) == 0:
        raise ValueError("there are no points")
    if len(given) == 3:  # the same for every order of the corners
        return _query(Ball, _abi.ball, lib.carom_ball_of_triangle, given)
    return _query(Ball, _abi.ball, lib.carom_ball_of_points, given, len(given))


def ball_of_balls(balls: ArrayLike) -> Ball:
    """The smallest ball around balls, (n, 4)."""
    given = floats(balls, (None, 4), "balls")
    if len(given) == 0:
        raise ValueError("there are no balls")
    return _query(Ball, _abi.ball, lib.carom_ball_of_balls, given, len(given))


def lens(a: ArrayLike, b: ArrayLike) -> Lens:
    """The intersection of two balls."""
    return _query(Lens, _abi.lens, lib.carom_ball_lens, floats(a, (4,), "a"), floats(b, (4,), "b"))


def point_triangle_toi(start: ArrayLike, end: ArrayLike) -> Toi:
    """When a point and a triangle, (4, 3), first meet on straight ways from start to end. Exact."""
    return _query(Toi, _abi.toi, lib.carom_point_triangle_toi, floats(start, (4, 3), "start"), floats(end, (4, 3), "end"))


def segments_toi(start: ArrayLike, end: ArrayLike) -> Toi:
    """The same for two segments, (4, 3)."""
    return _query(Toi, _abi.toi, lib.carom_segments_toi, floats(start, (4, 3), "start"), floats(end, (4, 3), "end"))


def ball_toi(start: ArrayLike, end: ArrayLike) -> Toi:
    """The same for two balls, (2, 4)."""
    return _query(Toi, _abi.toi, lib.carom_ball_toi, floats(start, (2, 4), "start"), floats(end, (2, 4), "end"))


def point_triangle_advance(start: ArrayLike, end: ArrayLike, *, reach: float = 0.0, tolerance: float = 0.0,
                           most_steps: int = 0) -> Advance:
    """A safe time: a point and a triangle, (4, 3), are farther apart than the reach before it."""
    return _query(Advance, _abi.advance, lib.carom_point_triangle_advance, floats(start, (4, 3), "start"),
                floats(end, (4, 3), "end"), byref(advance_def(tolerance, most_steps, reach)))


def segments_advance(start: ArrayLike, end: ArrayLike, *, reach: float = 0.0, tolerance: float = 0.0,
                     most_steps: int = 0) -> Advance:
    """The same for two segments, (4, 3)."""
    return _query(Advance, _abi.advance, lib.carom_segments_advance, floats(start, (4, 3), "start"),
                floats(end, (4, 3), "end"), byref(advance_def(tolerance, most_steps, reach)))


class Random:
    """The library's random numbers (splitmix64): the same on every machine, and in C.

    >>> from carom import exact
    >>> 0 <= exact.Random(7).uniform() < 1
    True
    """

    def __init__(self, seed: int = 0) -> None:
        self._c = _abi.random(seed % 2**64)

    def next(self) -> int:
        """64 random bits."""
        return lib.carom_random_next(byref(self._c))

    def uniform(self) -> float:
        """Uniform in [0, 1)."""
        return lib.carom_random_uniform(byref(self._c))

    def between(self, low: float, high: float) -> float:
        """Uniform in [low, high]."""
        return lib.carom_random_between(byref(self._c), low, high)

    def normal(self) -> float:
        """Standard normal."""
        return lib.carom_random_normal(byref(self._c))

    def __iter__(self) -> Iterator[float]:
        while True:
            yield self.uniform()
