#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What Python costs beyond the C calls: `bench/bench_python.py [ROUNDS]`, with a build in build/ or CAROM_LIBRARY.

Each figure is a median of alternating pairs: the public function, and the same work by the C functions alone, called
without the layer between. Both run in one process on the same arrays. Times are those of the processor, of all threads,
so that other work on the machine counts little; threads are measured by the clock."""
import ctypes
import multiprocessing
import os
import statistics
import sys
import threading
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
os.environ.setdefault("CAROM_LIBRARY", os.path.join(ROOT, "build", "lib", "libcarom.so"))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, "python"))

import numpy as np  # noqa: E402

import carom  # noqa: E402
from carom import _abi, _arrays  # noqa: E402
from carom._core import byref, lib  # noqa: E402
from carom._mesh import mesh_view  # noqa: E402
from carom._soup import pair_items  # noqa: E402

ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 21


def timed(work, clock):
    start = clock()
    work()
    return clock() - start


def ratio(name, ours, theirs):
    """The median of ours / theirs over alternating pairs, by processor."""
    ours()
    theirs()
    ratios, base = [], []
    for i in range(ROUNDS):
        pair = [timed(work, time.process_time) for work in ((ours, theirs) if i % 2 else (theirs, ours))]
        mine, other = pair if i % 2 else pair[::-1]
        ratios.append(mine / other)
        base.append(other)
    print(f"{name}: {statistics.median(ratios):.3f} times C's {statistics.median(base):.3f} s", flush=True)


def raw_context(threads=0):
    context = ctypes.c_void_p()
    assert lib.carom_context_create_abi(_abi.ABI, byref(_abi.context_def(threads=threads)), byref(context)) == 0
    return context


def cloth():
    mesh = carom.Mesh.shape("cloth", detail=707)  # a million triangles
    context = raw_context()
    for dtype in (np.float64, np.float32):
        v, f = np.array(mesh.vertices, dtype), np.array(mesh.faces)
        view = mesh_view(v, f)

        def by_c():
            soup, pairs = ctypes.c_void_p(), _abi.pairs()
            definition = _abi.soup_def(mesh=ctypes.addressof(view.c))
            assert lib.carom_soup_create(context, byref(definition), byref(soup)) == 0
            assert lib.carom_soup_self_pairs(context, soup, byref(pairs)) == 0
            lib.carom_pairs_free(byref(pairs))
            lib.carom_soup_destroy(soup)

        before = _arrays.copied.bytes
        ratio(f"self_pairs, {len(f)} triangles, {np.dtype(dtype)}", lambda: carom.self_pairs(v, f), by_c)
        print(f"  bytes copied: {_arrays.copied.bytes - before}")
        wide = f.astype(np.int64)
        ratio(f"self_pairs, {len(f)} triangles, {np.dtype(dtype)}, int64 faces", lambda: carom.self_pairs(v, wide), by_c)
    times = [timed(lambda: _arrays.indices(wide, (None, None), "faces"), time.process_time) for _ in range(ROUNDS)]
    print(f"int64 faces: {1e3 * statistics.median(times):.2f} ms per million")


def properties():
    soup = carom.Soup(carom.Mesh.shape("box"))
    best = {}
    for name in ("triangle_count", "face_count"):
        code = compile(f"for _ in range(100000): soup.{name}", "", "exec")
        best[name] = min(timed(lambda: exec(code, {"soup": soup}), time.process_time) for _ in range(5)) / 1e5
    for name, seconds in best.items():
        print(f"soup.{name}: {1e6 * seconds:.2f} us")


def batches():
    count = 100_000
    rng = np.random.default_rng(1)
    poses = np.column_stack((rng.uniform(-2, 2, (count, 3)), rng.normal(size=(count, 4))))
    matrices = np.array([carom.pose.matrix(p) for p in poses])
    context = raw_context()
    torus = carom.Mesh.shape("torus")
    soup, hull = carom.Soup(torus, rigid=True), carom.Convex.hull(torus)
    tree = carom.Tree(carom.pack(torus, 300, fast=True), torus)
    ordered = _arrays.poses(poses)

    def compare(name, kind, handle, struct, function, work, options=()):
        items = pair_items(kind, handle, None, handle, ordered, count)
        answers = np.zeros(count, struct)
        ratio(f"{name}, {count} poses", work, lambda: function(context, _arrays.address(items), count, *options,
                                                                _arrays.address(answers)))

    compare("soup.meet", _abi.soup_pair, soup, "?", lib.carom_soup_cross_meet_batch, lambda: soup.meet(soup, poses))
    compare("soup.meet of (n, 4, 4)", _abi.soup_pair, soup, "?", lib.carom_soup_cross_meet_batch,
            lambda: soup.meet(soup, matrices))
    compare("tree.distance", _abi.tree_pair, tree, _arrays.dtype_of(_abi.tree_gap), lib.carom_tree_distance_batch,
            lambda: tree.distance(tree, poses), (None,))
    items = np.zeros(count, _arrays.dtype_of(_abi.convex_pair))
    items["a"] = items["b"] = ctypes.addressof(hull._c)
    ordered.store(items["pose_b"])
    answers = np.zeros(count, _arrays.dtype_of(_abi.convex_result))
    ratio(f"convex.depth, {count} poses", lambda: hull.depth(hull, poses),
          lambda: lib.carom_convex_depth_batch(context, _arrays.address(items), count, None, _arrays.address(answers)))


def several_at_once(kind):
    """How many times as fast two threads or processes with a context each are as one thread."""
    mesh = carom.Mesh.shape("cloth", detail=200)
    soup = carom.Soup(mesh)

    def work(times):
        context = carom.Context(threads=1)
        for _ in range(times):
            soup.self_count(context=context)

    def run(number, times):
        workers = [kind(target=work, args=(times,)) for _ in range(number)]
        [w.start() for w in workers]
        [w.join() for w in workers]

    run(2, 1)
    speeds = [timed(lambda: run(1, 20), time.perf_counter) / timed(lambda: run(2, 10), time.perf_counter)
              for _ in range(ROUNDS)]
    print(f"2 {kind.__name__.lower()}s: {statistics.median(speeds):.2f} times one", flush=True)


def two_threads():
    several_at_once(threading.Thread)
    several_at_once(multiprocessing.Process)  # what the machine has to give now


if __name__ == "__main__":
    print(carom.build_info()["commit"], f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}")
    for part in (properties, cloth, batches, two_threads):
        part()
