# SPDX-License-Identifier: MIT
"""Calls: threads, processes, Ctrl-C, callbacks, and structures that are in use."""
import gc
import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import carom

signal.signal(signal.SIGINT, signal.default_int_handler)  # what a shell starts in the background ignores it
CLOTH = carom.Mesh.shape("cloth", detail=60)
TRUTH = carom.self_pairs(CLOTH)


# ---- Contexts

def test_contexts():
    with carom.Context(threads=1, isa="baseline") as context:
        assert context.threads == 1 and str(context.isa) == "baseline"
        assert carom.default_context() is context
        assert (carom.self_pairs(CLOTH) == TRUTH).all()
        assert context.work["candidates"] >= len(TRUTH) and context.scratch_bytes > 0
        context.trim()
    assert carom.default_context() is not context
    assert carom.default_context() is carom.default_context()
    with pytest.raises(ValueError, match="threads is -1"):
        carom.Context(threads=-1)
    with pytest.raises(carom.BadInputError, match="256"):
        carom.Context(threads=257)
    with pytest.raises(ValueError, match='"cpu", "cuda"'):
        carom.Context(device="gpu")
    with pytest.raises(TypeError, match="carom.Context"):
        carom.self_pairs(CLOTH, context="cpu")


def test_each_thread_has_its_own():
    found, errors = {}, []

    def work(i):
        try:
            found[i] = (id(carom.default_context()), carom.self_pairs(CLOTH))
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert not errors and all((pairs == TRUTH).all() for _, pairs in found.values())


def test_one_context_serves_threads_in_turn():
    context, soup = carom.Context(threads=2), carom.Soup(CLOTH)
    counts = []
    threads = [threading.Thread(target=lambda: counts.append(soup.self_count(context=context))) for _ in range(8)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert counts == [len(TRUTH)] * 8


def test_the_interpreter_is_free_during_calls():
    """Another thread runs while a call does: it stops the call, which would otherwise never end."""
    running = threading.Event()
    stop = threading.Event()

    def progress(what, fraction):
        running.set()
        return stop.is_set()

    gas = carom.Gas([[2, 5, 5], [8, 5, 5]], [[1, 0, 0], [-1, 0, 0]], 1.0, edges=[10, 10, 10])
    context, said = carom.Context(progress=progress), []

    def run():
        try:
            gas.advance(1e9, context=context)
        except carom.Cancelled as error:
            said.append(str(error))

    thread = threading.Thread(target=run)
    thread.start()
    assert running.wait(60)
    total = sum(range(1000))  # the interpreter is free
    stop.set()
    thread.join(60)
    assert total == 499500 and not thread.is_alive() and "cancelled" in said[0]


# ---- Progress and callbacks

def test_progress():
    said = []
    context = carom.Context(progress=lambda what, fraction: said.append((what, fraction)))
    assert (carom.self_pairs(CLOTH, context=context) == TRUTH).all()
    assert said and all(0 <= fraction <= 1 for _, fraction in said) and said[-1][1] == 1.0
    with pytest.raises(carom.Cancelled):
        carom.self_pairs(CLOTH, context=carom.Context(progress=lambda *_: True))
    with pytest.raises(ZeroDivisionError):
        carom.self_pairs(CLOTH, context=carom.Context(progress=lambda *_: 1 / 0))
    with pytest.raises(TypeError):
        carom.Context(progress=3)


def test_a_bar_without_tqdm(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    carom.self_pairs(CLOTH, context=carom.Context(progress=True))
    assert "100 %" in capsys.readouterr().err


def test_a_callback_may_call():
    """A callback that uses the default context gets another one; one that uses its caller's gets an error."""
    soup, counts = carom.Soup(CLOTH), []
    soup.self_each(lambda pairs: counts.append(carom.self_pairs(CLOTH).shape))
    assert counts and set(counts) == {TRUTH.shape}
    context = carom.Context()
    with pytest.raises(carom.InvalidError, match="give it another one"):
        soup.self_each(lambda pairs: soup.self_count(context=context), context=context)
    assert soup.self_count(context=context) == len(TRUTH)


def test_a_callback_stops_or_raises():
    soup = carom.Soup(CLOTH)
    seen = []
    soup.self_each(lambda pairs: seen.append(pairs) or True)
    assert len(seen) == 1
    with pytest.raises(LookupError):
        soup.self_each(lambda pairs: {}["x"])
    with pytest.raises(SystemExit):
        soup.self_each(lambda pairs: sys.exit(3))


def test_structures_in_use_do_not_change():
    soup = carom.Soup(CLOTH)
    for change in (lambda p: soup.update(CLOTH), lambda p: soup.remove([0]), lambda p: soup.close()):
        with pytest.raises(carom.InvalidError, match="in use"):
            soup.self_each(change)
    soup.close()
    soup.close()
    assert soup.closed and "closed" in repr(soup)
    for use in (soup.self_pairs, lambda: soup.triangle_count, lambda: soup.info, lambda: soup.update(CLOTH),
                lambda: carom.Soup(CLOTH).meet(soup)):
        with pytest.raises(carom.InvalidError, match="closed"):
            use()
    broad = carom.Broad([[0, 0, 0, 1, 1, 1]])
    broad.add([[0, 0, 0, 1, 1, 1]])
    with pytest.raises(carom.InvalidError):  # a query after a change and before a commit
        broad.pairs()


def test_nothing_aborts():
    """Bugs of the caller go to a handler that raises."""
    from carom._core import lib
    context = carom.default_context()
    with pytest.raises(carom.InvalidError, match="carom_soup_self_pairs"):
        context._call(lib.carom_soup_self_pairs, None, None)


# ---- Ctrl-C

def interrupt_soon(seconds):
    timer = threading.Timer(seconds, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    return timer


def test_ctrl_c():
    gas = carom.Gas([[2, 5, 5], [8, 5, 5]], [[1, 0, 0], [-1, 0, 0]], 1.0, edges=[10, 10, 10])
    gas.advance(1)
    for _ in range(3):
        with pytest.raises(KeyboardInterrupt):
            interrupt_soon(0.2)  # on a busy machine the signal may come before this returns
            gas.advance(1e9)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert 0 < gas.time < 1e9
    assert (carom.self_pairs(CLOTH) == TRUTH).all()


def test_ctrl_c_in_a_batch():
    """Batches are cut into pieces: also those whose items do not look for cancellation."""
    ball, box = carom.Convex.sphere(1), carom.Convex.hull(carom.Mesh.shape("sphere", detail=6))
    poses = np.tile([1.5, 0, 0, 1, 0, 0, 0], (2_000_000, 1))
    with pytest.raises(KeyboardInterrupt):
        interrupt_soon(0.3)
        for _ in range(1000):
            box.depth(box, poses)
    del ball


def test_ctrl_c_of_the_users_own():
    seen = []
    earlier = signal.signal(signal.SIGINT, lambda number, frame: seen.append(number))
    try:
        soup = carom.Soup(CLOTH)
        stopped = 0
        interrupt_soon(0.1)
        while not seen:
            try:
                soup.self_pairs()
            except carom.Cancelled:
                stopped += 1
        assert seen == [signal.SIGINT] and stopped <= 1
    finally:
        signal.signal(signal.SIGINT, earlier)


# ---- Processes

def child(queue, soup=None):
    try:
        found = carom.self_pairs(CLOTH)
        old = None if soup is None else soup.self_pairs()
        queue.put((found.tolist(), None if old is None else old.tolist()))
    except BaseException as error:
        queue.put(repr(error))


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_children(method):
    """A child makes contexts of its own; after a fork it may query what the parent prepared."""
    carom.self_pairs(CLOTH)  # the parent has a context, with threads
    start = multiprocessing.get_context(method)
    queue = start.Queue()
    soup = carom.Soup(CLOTH) if method == "fork" else None
    process = start.Process(target=child, args=(queue, soup))
    process.start()
    found = queue.get(timeout=120)
    process.join(60)
    assert found == (TRUTH.tolist(), TRUTH.tolist() if soup else None) and process.exitcode == 0


def test_a_context_of_the_parent():
    context = carom.Context()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            carom.self_pairs(CLOTH, context=context)
        except carom.InvalidError as error:
            code = 0 if "forked" in str(error) else 2
        finally:
            del context
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0 if hasattr(os, "waitstatus_to_exitcode") else True


def test_meshes_go_to_other_processes():
    import pickle
    again = pickle.loads(pickle.dumps(CLOTH))
    assert (again.vertices == CLOTH.vertices).all() and (again.faces == CLOTH.faces).all()
    with pytest.raises((TypeError, ValueError)):
        pickle.dumps(carom.Soup(CLOTH))


# ---- Loading

def run(code, **environment):
    full = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(os.path.abspath(carom.__file__))),
            "PYTHONDONTWRITEBYTECODE": "1", **environment}
    return subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, env=full)


def test_loading():
    assert "needs numpy" in run("import sys; sys.modules['numpy'] = None; import carom").stderr
    assert "CAROM_LIBRARY" in run("import carom", CAROM_LIBRARY="/no/libcarom.so").stderr
    assert "no function carom_abi" in run("import carom", CAROM_LIBRARY="libm.so.6").stderr
    wrong = run("import sys, carom._abi; sys.modules['carom._abi'].ABI").stderr
    assert wrong == ""
    other = run("""
        import importlib.util, sys, os, types
        spec = importlib.util.find_spec("carom")
        package = types.ModuleType("carom"); package.__path__ = list(spec.submodule_search_locations)
        sys.modules["carom"] = package
        import carom._abi
        carom._abi.ABI += 1
        import carom._core
        """)
    assert "install both from one version" in other.stderr
    done = run("import carom; c = carom.Context(); s = carom.Soup(carom.Mesh.shape('box')); p = s.self_pairs()")
    assert done.returncode == 0 and done.stderr == ""  # also at exit


def test_memory_is_given_back():
    """Cycles of create and destroy; a million of them in the long form."""
    box = carom.Mesh.shape("box")
    v, f = np.array(box.vertices), np.array(box.faces)
    cycles = 1_000_000 if os.environ.get("CAROM_LONG") == "1" else 2_000

    def cycle(count):
        for _ in range(count):
            carom.Soup(v, f).self_pairs()

    def resident():
        gc.collect()
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")

    cycle(1000)
    before = resident()
    cycle(cycles)
    assert resident() - before < 4 << 20
    for make in (lambda: carom.Context(threads=1), lambda: carom.Solid(v, f), lambda: carom.Hull(v), carom.Scene,
                 lambda: carom.Broad(np.zeros((4, 6))), lambda: carom.Mesh(v, f)):
        for _ in range(200):
            make()
        before = resident()
        for _ in range(500):
            make()
        assert resident() - before < 4 << 20


@pytest.mark.long
@pytest.mark.parametrize("name", ["soup", "pack", "cover", "boxes", "tree", "solid", "convex", "inspect",
                                  "tree build", "load"])
def test_interrupts(name, tmp_path):
    """Each engine stops soon after SIGINT. How long it takes is printed, not asserted: the machine may be busy."""
    rng = np.random.default_rng(1)
    torus = carom.Mesh.shape("torus")
    poses = np.column_stack((rng.uniform(-1, 1, (200_000, 3)), rng.normal(size=(200_000, 4))))
    if name in ("soup", "inspect", "load"):
        big = carom.Mesh.shape("cloth", detail=1000)
        big.save(tmp_path / "big.obj")
    if name == "boxes":
        low = rng.uniform(0, 100, (1_000_000, 3))
        boxes = np.column_stack((low, low + 1))
    if name in ("tree", "tree build"):
        packing = carom.pack(torus, 1000, fast=True)
        tree = carom.Tree(packing, torus)
    knot = carom.Mesh.shape("knot", detail=1000)
    solid = carom.Solid(knot)
    hull = carom.Convex.hull(knot)
    work = {
        "soup": lambda: carom.self_pairs(big), "pack": lambda: carom.pack(knot, 100_000),
        "cover": lambda: carom.cover(knot, 1000), "boxes": lambda: carom.Broad(boxes).pairs(),
        "tree": lambda: tree.query(tree, poses), "solid": lambda: solid.overlap(solid, poses),
        "convex": lambda: hull.depth(hull, poses), "inspect": lambda: big.inspect(),
        "tree build": lambda: carom.Tree(packing, torus, method="neural-gas"),
        "load": lambda: carom.load(tmp_path / "big.obj"),
    }[name]
    sent = []

    def send():
        sent.append((time.monotonic(), time.process_time()))
        os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        threading.Timer(1.0, send).start()
        while True:
            work()
    print(f"{name}: stopped after {time.monotonic() - sent[0][0]:.3f} s, {time.process_time() - sent[0][1]:.3f} s of "
          "processor time")
