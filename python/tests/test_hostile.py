# SPDX-License-Identifier: MIT
"""Calls with wrong types, shapes, strides, numbers and owners: exceptions with a message, and nothing else. 4,000 seeded
calls; in the long form 100,000, and 10,000 by hypothesis where that is installed, which finds the smallest that fails."""
import os
import random
import time
import warnings

import numpy as np
import pytest

import carom
from carom import exact, pose
from carom.trimesh import CollisionManager

try:
    import hypothesis
except ImportError:
    hypothesis = None

LONG = os.environ.get("CAROM_LONG") == "1"
CALLS = 100_000 if LONG else 4_000
ALLOWED = (carom.CaromError, TypeError, ValueError, OverflowError)

BOX, TORUS = carom.Mesh.shape("box"), carom.Mesh.shape("torus", detail=12)
V, F = np.array(BOX.vertices), np.array(BOX.faces)
SOUP, OTHER, GRID = carom.Soup(BOX), carom.Soup(TORUS, rigid=True), carom.Soup(BOX, method="grid")
SOLID, TORUS_SOLID = carom.Solid(BOX), carom.Solid(TORUS)
PACKING = carom.Packing(BOX, count=20)
TREE, BALLS, HULL = carom.Tree(PACKING, BOX), carom.Balls(PACKING), carom.Hull(BOX)
BALL, CONVEX = carom.Convex.sphere(1), carom.Convex.hull(HULL)
BOXES = np.random.default_rng(0).uniform(0, 1, (5, 6)) + [0, 0, 0, 1, 1, 1]
CLOSED = carom.Soup(BOX)
CLOSED.close()
POSE, POSES = [1.0, 0, 0, 1, 0, 0, 0], np.tile([1.0, 0, 0, 1, 0, 0, 0], (4, 1))
P4 = [[0.2, 0.2, 1], [0, 0, 0], [1, 0, 0], [0, 1, 0]]


class Deadline:
    """A progress function that ends what would take long."""

    until = 0.0

    def __call__(self, what, fraction):
        return time.monotonic() > self.until


DEADLINE = Deadline()
CONTEXT = carom.Context(threads=2, progress=DEADLINE)


def gas():
    return carom.Gas([[2, 5, 5], [8, 5, 5]], [[1, 0, 0], [-1, 0, 0]], 1.0, edges=[10, 10, 10])


def scene():
    made = carom.Scene()
    made.add(SOLID)
    made.add(BALL, [0.5, 0, 0])
    return made


# Functions with arguments that they accept; each call replaces some of these by hostile ones.
GOOD = [
    (carom.Mesh, [V, F], {"parts": np.zeros(12, int), "part_names": ["a"]}),
    (carom.Mesh.shape, ["torus"], {"detail": 12, "size": 1.0, "ratio": 0.3, "seed": 1, "dtype": "f4", "phase": 0.1}),
    (carom.Mesh.from_bytes, [BOX.to_bytes("ply")], {"format": "ply", "name": "x"}),
    (carom.Mesh.from_polygons, [V, F.ravel(), np.arange(0, 37, 3)], {}), (carom.Mesh.join, [[BOX, TORUS], ["a", "b"]], {}),
    (carom.clashes, [[BOX, TORUS], 0.1], {"tolerances": [0.1, 0.0], "poses": [None, POSE], "depth": False}),
    (carom.along_path, [BOX, [TORUS], POSES], {"centre": [0, 0, 0], "clearance": 0.1, "tolerances": 0.1}),
    (carom.guess_format, ["a.ply", b"ply"], {}), (carom.check, [V, F], {}), (carom.info, [V, F], {}),
    (carom.load, ["/no/such.ply"], {}), (BOX.save, ["/no/such/folder.ply"], {"format": "ply"}), (BOX.part, [0], {}),
    (carom.Soup, [V, F], {"rigid": True, "method": "tree", "degenerate": "alone", "work_budget": 5, "grid": "block"}),
    (carom.self_pairs, [V, F, 0.5], {}), (carom.pairs, [BOX, TORUS, POSE, 0.1], {}),
    (carom.distance, [BOX, TORUS, POSE], {}), (carom.overlap, [BOX, TORUS, POSE], {}),
    (SOUP.pairs, [OTHER, POSE], {"pose_a": POSE, "reach": 0.1}), (SOUP.meet, [OTHER, POSES], {"pose_a": POSE}),
    (SOUP.distance, [OTHER, POSES], {"limit": 1.0}), (SOUP.count, [OTHER, POSE], {"reach": 0.1}),
    (SOUP.each, [OTHER, lambda p: None, POSE], {}), (SOUP.self_each, [lambda p: None, 0.1], {}),
    (SOUP.gaps, [[[0, 1]], OTHER, POSE], {}), (SOUP.segments, [[[0, 1]]], {}), (SOUP.bound, [OTHER], {}),
    (SOUP.closest_points, [V], {}), (SOUP.cast_rays, [V, V, [1.0] * 8], {}), (SOUP.query_rays, [V, V, [1.0] * 8], {}),
    (SOUP.winding, [V], {}),
    (SOUP.winding_fractions, [V], {}), (SOUP.signed_distances, [V], {}), (GRID.closest_points, [V], {}),
    (SOUP.advance, [OTHER, (POSE, POSE)], {"motion_a": (None, POSE, [0, 0, 0]), "tolerance": 0.1, "reach": 0.1}),
    (SOUP.self_near, [0.5], {}), (SOUP.near, [OTHER, 0.5, POSE], {"pose_a": POSE}),
    (SOUP.safe_step, [V + 1, SOUP, V], {"minimum": 0.1}), (SOUP.self_safe_distances, [0.5], {"minimum": 0.1}),
    (SOUP.safe_distances, [OTHER, 0.5, POSE], {"pose_a": POSE, "minimum": 0.1}),
    (carom.advise, [], {"triangles_a": 9, "triangles_b": 9, "spheres_a": 5, "spheres_b": 5, "spheres_to_pack": 5,
                        "queries": 3, "time_budget": 1e-3, "error": 0.1, "distance": True, "steady": True}),
    (SOUP.impacts, [V + 1, SOUP, V], {}), (SOUP.first_impact, [V + 1], {}), (SOUP.kfree_bound, [OTHER], {}),
    (lambda *a, **k: carom.Soup(BOX).update(*a, **k), [V], {}), (lambda *a, **k: carom.Soup(BOX).add(*a, **k), [V, F], {}),
    (lambda *a, **k: carom.Soup(BOX).remove(*a, **k), [[1, 2]], {}),
    (carom.Solid, [V, F], {"complement": True}), (SOLID.overlap, [TORUS_SOLID, POSES], {"pose_a": POSE, "distance": True}),
    (SOLID.overlap_patches, [TORUS_SOLID, POSE], {}), (SOLID.overlap_gradient, [TORUS_SOLID, POSE], {}),
    (carom.Hull, [V], {}),
    (carom.Convex, ["box"], {"half": [1, 1, 1], "radius": 1.0, "half_height": 1.0, "margin": 0.1, "hull": HULL}),
    (carom.Convex.support, [lambda d: d, [0, 0, 0], 1.0], {}), (BALL.depth, [CONVEX, POSES], {"pose_a": POSE}),
    (CONVEX.distance, [BALL, POSE], {"start": "four", "search": "all", "hint": carom.ConvexHint()}),
    (CONVEX.meet, [BALL, POSE], {}), (CONVEX.contacts, [BALL, POSE], {"reach": 0.1}), (CONVEX.bound, [BALL], {}),
    (CONVEX.cast_rays, [V, V], {"pose": POSE}), (CONVEX.advance, [BALL, [(POSE, POSE)] * 3], {"tolerance": 0.1}),
    (carom.Broad, [BOXES], {"filters": np.ones((5, 2), int), "method": "tree", "accept": lambda a, b: True}),
    (lambda *a, **k: carom.Broad(BOXES).move(*a, **k), [BOXES, np.arange(5)], {}),
    (lambda *a, **k: carom.Broad(BOXES).add(*a, **k), [BOXES], {}),
    (lambda *a, **k: carom.Broad(BOXES).remove(*a, **k), [[1]], {}),
    (lambda *a, **k: carom.Broad(BOXES).set_filters(*a, **k), [[[1, 1]], [0]], {}),
    (carom.Broad(BOXES).query_boxes, [BOXES], {}), (carom.Broad(BOXES).query_rays, [V, V], {}),
    (carom.Broad(BOXES).cast_rays, [V, V], {}), (carom.Broad(BOXES).closest_points, [V], {}),
    (carom.Scene, [0.1], {"skip_depth": True}),
    (lambda *a, **k: scene().add(*a, **k), [SOUP, POSE], {"group": 1, "mask": 1}),
    (lambda *a, **k: scene().move(*a, **k), [[0], POSE], {}), (lambda *a, **k: scene().remove(*a, **k), [[0]], {}),
    (lambda *a, **k: scene().ignore(*a, **k), [[[0, 1]], True], {}),
    (lambda *a, **k: scene().set_filters(*a, **k), [[[1, 1]], [0]], {}),
    (lambda *a, **k: (lambda s: (s.commit(), s.query_objects(*a, **k)))(scene()), [[SOUP, BALL], [POSE, POSE]], {}),
    (lambda *a, **k: (lambda s: (s.commit(), s.cast_rays(*a, **k)))(scene()), [V, V], {}),
    (carom.Packing, [BOX], {"count": 5, "fill": 0.1, "radius": 0.1, "method": "octree", "epsilon": 0.1}),
    (carom.Packing.from_bytes, [PACKING.to_bytes()], {}), (PACKING.save, ["/no/such/folder.ply"], {"format": "ply"}),
    (PACKING.deform, [BOX, BOX], {"refill": True, "keep_cells": True}),
    (lambda *a, **k: carom.Tree(PACKING).update(*a, **k), [PACKING, BOX], {}),
    (carom.Cover, [BOX], {"count": 4, "distance": 0.0, "margin": 0.1}),
    (carom.measure_spheres, [BOX, [[0, 0, 0, 1.5]]], {}), (carom.Tree, [PACKING, BOX], {"method": "median", "arity": 4}),
    (carom.Tree.from_bytes, [TREE.to_bytes()], {}), (TREE.overlap, [TREE, POSES], {"scale_a": 1.0, "tolerance": 0.1}),
    (TREE.distance, [TREE, POSE], {"hint": carom.TreeHint(), "exact_distance": True}), (TREE.query, [TREE, POSE], {}),
    (TREE.meet, [TREE, POSE], {"scale_b": 2.0}), (TREE.faces, [TREE, POSE], {}),
    (carom.Balls, [PACKING], {"grid": "morton", "buckets": 16, "cell_scale": 1.0}),
    (BALLS.overlap, [BALLS, POSES], {"scale_a": 1.0}), (BALLS.pairs, [BALLS, POSE], {"kind": "inner"}),
    (BALLS.count, [BALLS, POSE], {}), (BALLS.meet, [BALLS, POSE], {}), (BALLS.bound, [BALLS], {}),
    (lambda *a, **k: carom.Balls(PACKING).update(*a, **k), [PACKING.list_spheres(), 8.0], {}),
    (carom.Gas, [[[2, 5, 5]], [[1, 0, 0]], 1.0], {"edges": [9, 9, 9], "periodic": False, "loss": 0.1, "tick": 0.0}),
    (lambda *a, **k: gas().next(*a, **k), [5.0], {}), (lambda *a, **k: gas().advance(*a, **k), [5.0, lambda e: None], {}),
    (lambda *a, **k: gas().add(*a, **k), [[[5, 5, 5]], [[0, 0, 0]], 0.5], {}),
    (lambda *a, **k: gas().set(*a, **k), [[0], [[3, 5, 5]], [[0, 0, 0]], 0.5], {}),
    (lambda *a, **k: gas().remove(*a, **k), [[0]], {}), (lambda *a, **k: gas().find_sphere(*a, **k), [0], {}),
    (carom.Gas.from_bytes, [gas().to_bytes()], {"method": "auto"}),
    (pose.compose, [POSE, POSE], {}), (pose.apply, [POSE, V], {}), (pose.from_matrix, [np.eye(4)], {}),
    (pose.interpolate, [POSE, POSE, 0.5], {}), (pose.from_axis_angle, [[0, 0, 1], 1.0], {}),
    (pose.motion_at, [(POSE, POSE), 0.5], {}), (exact.orient_3d, [P4], {}), (exact.orient_2d, [P4[:3], 1], {}),
    (exact.relate, [P4[:3], P4[:3]], {}), (exact.ball_of, [V], {}), (exact.lens, [[0, 0, 0, 1], [1, 0, 0, 1]], {}),
    (exact.point_triangle_toi, [P4, P4], {}), (exact.point_triangle_advance, [P4, P4], {"reach": 0.1}),
    (CollisionManager().add_object, ["a", BOX, np.eye(4)], {}), (CollisionManager().in_collision_single, [BOX], {}),
    (carom.Context, [1], {"device": "cpu", "isa": "best", "progress_interval": 0.1}),
]


def hostile_number(r):
    return r.choice([0, -1, 1, 3, 2**31, 2**32 - 1, 2**32, 2**63, 2**64, -2**63, 1e308, -1e308, 5e-324, float("nan"),
                     float("inf"), True, 1j, "5", b"5", None, np.float32(2), np.int64(-5), np.array(3.0)])


def like_shape(like):
    """The shape of the argument that is replaced, six times as likely as any other."""
    try:
        return [] if like is None else [np.shape(like)] * 6
    except ValueError:  # rows of different lengths
        return []


def hostile_array(r, like=None):
    """Any type, any shape, any strides, any numbers."""
    shape = r.choice([(), (0,), (0, 3), (3,), (7,), (1, 3), (8, 3), (3, 8), (4, 4), (2, 4, 4), (2, 7), (5, 2, 3), (5, 6),
                      (12, 3), (1, 2), (12,), (2, 2, 2, 2)] + like_shape(like))
    dtype = r.choice(["f8", "f8", "f4", "f2", "i8", "i4", "u4", "u1", "i2", "?", "c16", "U3", "O", ">f8", ">i4", "M8[s]",
                      "f8,i4", "V8"] + (["g"] if hasattr(np, "longdouble") else []))
    kind = np.dtype(dtype).kind
    count = int(np.prod(shape))
    if kind in "fiu":
        pool = [0, 1, -1, 2, 7, 11, 1e3]
        pool += [float("nan"), float("inf"), 1e300, -1e300, 1e-300] if kind == "f" else [2**31, -2**31, 100]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            array = np.array([r.choice(pool) for _ in range(count)], np.float64).astype(dtype).reshape(shape)
    else:
        array = np.zeros(shape, dtype)
    how = r.randrange(6)
    if how == 1 and array.ndim:
        array = array[::-1]
    elif how == 2:
        array = np.asfortranarray(array)
    elif how == 3 and array.ndim:
        array = np.repeat(array, 2, axis=0)[::2]
    elif how == 4 and array.ndim and array.dtype != object:
        array = np.frombuffer(b"x" + array.tobytes(), array.dtype, offset=1).reshape(shape) if array.size else array
    elif how == 5:
        return array.tolist()
    return array


def hostile_thing(r):
    return r.choice([None, object(), CLOSED, SOUP, OTHER, GRID, SOLID, PACKING, TREE, BALLS, HULL, BALL, CONVEX, BOX,
                     CONTEXT, {}, [], (), "torus", "", "ply", "\0", "é", b"", b"\0" * 40, lambda *a: 1 / 0,
                     lambda *a: None, len, int, [[0, 1], [2]], [None], [[]], [()], range(3), (V, F), (V,),
                     (POSE, POSE, POSE, POSE), iter([1])])


def hostile(r, like):
    how = r.randrange(3)
    return hostile_number(r) if how == 0 else hostile_array(r, like if isinstance(like, (np.ndarray, list)) else None) \
        if how == 1 else hostile_thing(r)


def one_call(r):
    function, args, options = r.choice(GOOD)
    args, options = list(args), dict(options)
    for _ in range(r.choice([1, 1, 1, 2, 3])):
        if options and r.random() < 0.3:
            name = r.choice(sorted(options))
            options[name] = hostile(r, options[name])
        elif args:
            index = r.randrange(len(args))
            args[index] = hostile(r, args[index])
    if r.random() < 0.05:
        args.append(hostile_thing(r))
    DEADLINE.until = time.monotonic() + 0.5
    try:
        with warnings.catch_warnings(), CONTEXT:
            warnings.simplefilter("ignore")
            function(*args, **options)
    except ZeroDivisionError:  # of a callback
        return
    except ALLOWED as error:
        assert str(error)


def still_right():
    assert carom.overlap(BOX, BOX, [1, 0, 0]).volume == pytest.approx(4.0)
    assert SOUP.triangle_count == 12 and not CONTEXT._lock.locked()
    for handle in (SOUP, OTHER, SOLID, PACKING, TREE, BALLS, HULL):
        assert handle._users == 0 and not handle._changing


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """Some of the names that save() is given are good ones: no files among the sources."""
    monkeypatch.chdir(tmp_path)


def test_good_arguments_are_good():
    for function, args, options in GOOD:
        try:
            with CONTEXT:
                DEADLINE.until = time.monotonic() + 60
                function(*args, **options)
        except (carom.FileError, carom.BadInputError, carom.UnsupportedError):
            pass  # paths that are not there; a soup without a tree


def test_hostile_calls():
    for seed in range(CALLS):
        one_call(random.Random(seed))


if hypothesis is not None and LONG:
    from hypothesis import HealthCheck, given, settings, strategies

    @settings(max_examples=CALLS // 10, deadline=None, database=None, derandomize=True, print_blob=True,
              suppress_health_check=list(HealthCheck))
    @given(strategies.randoms(use_true_random=False))
    def test_hostile_calls_that_shrink(r):
        one_call(r)


def test_afterwards():
    still_right()
