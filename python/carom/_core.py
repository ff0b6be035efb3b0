# SPDX-License-Identifier: MIT
"""The library, contexts and calls.

Every call goes through Context._call, which keeps five promises that C leaves to its caller:

- one thread at a time uses a context: others wait; a callback that uses its own context gets an error;
- nobody changes or closes a structure that a query on another thread, a callback's caller or a scene is using;
- Ctrl-C ends the call: while it runs on the main thread, a handler that only takes note replaces the one for
  SIGINT, the progress callback of the library then cancels, and the earlier handler is called afterwards. (A handler
  that raises could do so where a callback begins, and the exception would be lost.)
- what a callback raises is kept, stops the call and is raised again after it;
- a status becomes an exception with the library's message.

The interpreter's lock is free during calls. Invariant: whatever the library makes is owned by a Python object before
the call begins, so that an exception at any place leaks nothing.
"""
from __future__ import annotations

import _signal  # type: ignore
import ctypes
import os
import signal
import sys
import threading
from typing import Any, Callable, Iterable, Optional, Union

from . import _abi
from ._abi import Backend, Isa, Status
from ._errors import BY_STATUS, CaromError, InvalidError

get_ident = threading.get_ident
byref = ctypes.byref
NONE = _abi.NONE


# ---- The library ---------------------------------------------------------------------------------------------------

def _open() -> ctypes.CDLL:
    """The library that CAROM_LIBRARY names, or that of the wheel, or of a checkout's build, or of the system."""
    folder = os.path.dirname(os.path.abspath(__file__))
    path = os.environ.get("CAROM_LIBRARY") or os.path.join(folder, "libcarom.so")
    if not os.path.exists(path) and "CAROM_LIBRARY" not in os.environ:
        path = os.path.join(folder, "..", "..", "build", "lib", "libcarom.so")
        if not os.path.exists(path): path = "libcarom.so." + _abi.VERSION.rsplit(".", 1)[0] # as packages install it
    try:
        library = ctypes.CDLL(path)
    except OSError as error:
        raise ImportError(f"carom: the library cannot be opened: {error}. Install a wheel, or set CAROM_LIBRARY to "
                          "the path of libcarom.so (make builds build/lib/libcarom.so)") from None
    try:
        found = library.carom_abi()
    except AttributeError:
        raise ImportError(f"carom: {path} is no libcarom: it has no function carom_abi") from None
    if found != _abi.ABI:
        raise ImportError(f"carom: {path} has ABI {found}, and this package was made for ABI {_abi.ABI}: install both "
                          "from one version")
    for name, (returns, parameters) in _abi.FUNCTIONS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = returns, parameters
    return library


lib = _open()


class _Bug(threading.local):
    """What the library said of the last bug of a caller on this thread."""

    text = ""


_bug = _Bug()


@_abi.assert_fn
def _on_bug(function: bytes, message: bytes) -> None:
    _bug.text = f"{(function or b'').decode()}: {(message or b'').decode()}"


lib.carom_assert_set_handler(_on_bug)  # the default would end the process


# ---- Ctrl-C and callbacks ------------------------------------------------------------------------------------------

class _Interrupt:
    """Whether SIGINT came during a call on the main thread."""

    seen = False


def _take_note(_number: int, _frame: Any) -> None:
    _Interrupt.seen = True


@_abi.progress_fn
def _look_for_interrupt(_user: Any, _what: bytes, _fraction: float) -> bool:
    return _Interrupt.seen


class Raised:
    """What a callback raised, until the call is over."""

    __slots__ = ("error",)

    def __init__(self) -> None:
        self.error: Optional[BaseException] = None

    def guard(self, function: Callable[..., Any], failed: Any) -> Callable[..., Any]:
        """`function`, whose exceptions are kept; it returns `failed` then, and from then on."""

        def guarded(*args: Any) -> Any:
            if self.error is not None:
                return failed
            try:
                return function(*args)
            except BaseException as error:  # no exception can pass through C
                self.error = error
                return failed

        return guarded

    def again(self) -> None:
        error, self.error = self.error, None
        if error is not None:
            raise error


# ---- Structures ----------------------------------------------------------------------------------------------------

_guard = threading.RLock()  # of the counts of all structures; __del__ may run while its own thread holds it


class Handle:
    """Owns a structure of the library. `users` count the calls that read it, `lenders` the scenes that borrow it."""

    _destroy: Any  # of the library, static

    def __init__(self, device: str = "cpu") -> None:
        self._pointer = ctypes.c_void_p()
        self._users = 0
        self._changing = False
        self._lenders = 0
        self._device = device

    def __del__(self) -> None:
        pointer = getattr(self, "_pointer", None)
        if pointer:
            self._destroy(pointer)
            pointer.value = None

    def close(self) -> None:
        """Frees the memory now. Otherwise it is freed with the object."""
        with _guard:
            self._may_change()
            pointer, self._pointer = self._pointer, ctypes.c_void_p()
        if pointer:
            self._destroy(pointer)

    @property
    def closed(self) -> bool:
        """Whether close() was called."""
        return not self._pointer

    def _may_change(self) -> None:
        kind = type(self).__name__
        if self._users or self._changing:
            raise InvalidError(f"this {kind} is in use by a call that has not returned: change or close it afterwards")
        if self._lenders:
            raise InvalidError(f"this {kind} is part of a scene: remove it there, step, and change it then")

    def _closed_error(self) -> CaromError:
        return InvalidError(f"this {type(self).__name__} was closed")


def _begin(reads: Iterable[Handle], change: Optional[Handle]) -> None:
    with _guard:
        if change is not None:
            if not change._pointer:
                raise change._closed_error()
            change._may_change()
        for item in reads:
            if not item._pointer:
                raise item._closed_error()
            if item._changing:
                raise InvalidError(f"this {type(item).__name__} is being changed by another thread")
        for item in reads:
            item._users += 1
        if change is not None:
            change._changing = True


def _end(reads: Iterable[Handle], change: Optional[Handle]) -> None:
    with _guard:
        for item in reads:
            item._users -= 1
        if change is not None:
            change._changing = False


# ---- Contexts ------------------------------------------------------------------------------------------------------

def parse_device(device: str) -> tuple[str, Backend, int]:
    """The backend and the number of a device: "cpu", "cuda", "cuda:1"."""
    if isinstance(device, str):
        name, colon, number = device.partition(":")
        if name == "cpu" and not colon:
            return "cpu", Backend.CPU, 0
        if name == "cuda" and (not colon or number.isdigit()):
            return f"cuda:{int(number or 0)}", Backend.CUDA, int(number or 0)
    raise ValueError(f'device is {device!r}; give "cpu", "cuda" or "cuda:1"')


def _bar() -> Callable[[str, float], bool]:
    """A progress function that draws a bar by tqdm, or a line on stderr where that is not installed."""
    state: dict[str, Any] = {}
    tqdm: Any = None
    try:
        from tqdm.auto import tqdm
    except ImportError:
        pass

    def show(what: str, fraction: float) -> bool:
        if tqdm is None:
            sys.stderr.write(f"\r{what}: {100 * fraction:3.0f} %" + ("\n" if fraction >= 1 else ""))
            sys.stderr.flush()
            return False
        if state.get("what") != what:
            if "bar" in state:
                state["bar"].close()
            state.update(what=what, bar=tqdm(total=1.0, desc=what, leave=False))
        bar = state["bar"]
        bar.update(max(0.0, fraction - bar.n))
        if fraction >= 1:
            bar.close()
            state.clear()
        return False

    return show


Progress = Callable[[str, float], Any]

_PIECE_SECONDS = 0.05  # of a batch, between two looks for Ctrl-C
_LONG_ITEM = 0.01  # seconds: items that take longer look for Ctrl-C themselves


class Context:
    """Threads, scratch memory and the device of calls. There is one for each thread already: make your own to choose
    the number of threads, a device or a progress function.

    >>> import carom
    >>> with carom.Context(threads=1) as context:   # what this thread calls here uses it
    ...     carom.Mesh.shape("torus").inspect().closed
    True

    threads: 0 is one per processor, or what CAROM_THREADS in the environment says.
    device: "cpu", "cuda", "cuda:1".
    isa: "best", "baseline", "avx2", "avx512"; all give the same bytes.
    progress: a function of (what, fraction) that returns true to cancel; or True for a bar, by tqdm where that is
    installed.
    stream: of a CUDA context, the address of a cudaStream_t to work in.
    input_limit: the most bytes of a file that is read; 0 is 64 GB.
    """

    _destroy = staticmethod(lib.carom_context_destroy)

    def __init__(self, threads: int = 0, *, device: str = "cpu", isa: Union[str, Isa] = Isa.BEST,
                 progress: Union[None, bool, Progress] = None, progress_interval: float = 0.05, stream: int = 0,
                 input_limit: int = 0, _callback: bool = True) -> None:
        self._pointer = ctypes.c_void_p()
        self.device, backend, number = parse_device(device)
        self._lock = threading.Lock()
        self._owner = 0
        self._fork = _fork.count
        self._raised = Raised()
        self._on_progress: Any = _look_for_interrupt
        self._report: Optional[Progress] = None
        self._input_limit = input_limit
        self._twin: Optional[Context] = None
        self._last: Optional[Context] = None  # where the last query ran; None: here
        if progress is not None and progress is not False:
            report = _bar() if progress is True else progress
            if not callable(report):
                raise TypeError("progress is a function of (what, fraction), or True")
            self._report = report

            def tell(_user: Any, what: bytes, fraction: float) -> bool:
                return bool(report(what.decode(), fraction)) or _Interrupt.seen

            self._on_progress = _abi.progress_fn(self._raised.guard(tell, True))
        elif not _callback or get_ident() != threading.main_thread().ident:
            self._on_progress = _abi.progress_fn()  # type: ignore[call-overload]  # nobody interrupts it
        definition = _abi.context_def(
            threads=_count(threads, "threads"), backend=backend, isa=Isa.of(isa), progress=self._on_progress,
            progress_interval=progress_interval, device=number, borrowed_stream=stream or None,
            input_limit=_count(input_limit, "input_limit"))
        status = lib.carom_context_create_abi(_abi.ABI, byref(definition), byref(self._pointer))
        if status:
            raise BY_STATUS[status](lib.carom_context_message(None).decode("utf-8", "replace"))

    def __del__(self) -> None:
        pointer = getattr(self, "_pointer", None)
        if pointer:
            self._destroy(pointer)

    def __enter__(self) -> Context:
        _local.stack(self.device).insert(0, self)
        return self

    def __exit__(self, *_: object) -> None:
        _local.stack(self.device).remove(self)

    def __repr__(self) -> str:
        info = self._info()
        return f"<carom.Context: {info.threads} threads, {self.device}, {Isa(info.isa)}>"

    def _info(self) -> Any:
        info = _abi.context_info()
        self._check_process()
        lib.carom_context_get_info(self._pointer, byref(info))
        return info

    @property
    def threads(self) -> int:
        """The number of threads that it computes with."""
        return self._info().threads

    @property
    def isa(self) -> Isa:
        """The instruction set in use."""
        return Isa(self._info().isa)

    @property
    def scratch_bytes(self) -> int:
        """Memory that it holds for later calls; trim() frees it."""
        return self._info().scratch_bytes

    @property
    def work(self) -> dict[str, int]:
        """How much work the last query was: nodes visited, candidates, and those that doubles did not decide."""
        work = _abi.work()
        self._check_process()
        lib.carom_context_get_work((self._last or self)._pointer, byref(work))
        return {"visits": work.visits, "candidates": work.candidates, "undecided": work.undecided}

    def trim(self) -> None:
        """Frees the scratch memory."""
        self._call(lib.carom_context_trim)

    def _check_process(self) -> None:
        if self._fork != _fork.count:
            raise InvalidError("this context was made before the process forked: make another one in the child")

    def _wait(self) -> None:
        """Another call is using the context: waits, unless it waits for us."""
        if self._owner == get_ident():
            raise InvalidError("a callback uses the context of the call that it is called from: give it another one")
        self._lock.acquire()

    @property
    def in_use(self) -> bool:
        """Whether a call of this thread is using it now, so that a callback of that call cannot."""
        return self._owner == get_ident()

    def _call(self, function: Any, *args: Any, reads: Iterable[Handle] = (), change: Optional[Handle] = None,
              raised: Optional[Raised] = None) -> None:
        """function(context, *args), as the comment of this file says. CAROM_MORE cannot happen: the library owns all
        result arrays."""
        self._check_process()
        if not self._lock.acquire(False):
            self._wait()
        try:
            self._owner, self._last = get_ident(), None
            _begin(reads, change)
            try:
                status = _interruptible(function, self._pointer, args, self._owner)
                message = lib.carom_context_message(self._pointer) if status else b""
            finally:
                _end(reads, change)
        finally:
            self._owner = 0
            self._lock.release()
        if raised is not None:
            raised.again()
        self._raised.again()
        if status:
            raise _error(status, message.decode("utf-8", "replace"))

    def _batch(self, function: Any, items: Any, results: Any, *args: Any, reads: Iterable[Handle] = (),
               raised: Optional[Raised] = None) -> None:
        """function(context, items, count, *args, results) in pieces of about a twentieth of a second, as not all
        batches look for cancellation themselves. `items` and `results` are arrays of equal length."""
        count, done, piece, chosen = len(items), 0, 1, self
        from_items, from_results = address(items), address(results)
        item_size, result_size = items.strides[0] if count else 0, results.strides[0] if count else 0
        clock = lib.carom_time_seconds
        while done < count:
            size = min(piece, count - done)
            start = clock()
            try:
                chosen._call(function, from_items + done * item_size, size, *args, from_results + done * result_size,
                             reads=reads, raised=raised)
            except CaromError as error:
                raise _renumber(error, done) from None
            each = max(clock() - start, 1e-6) / size
            done += size
            self._last = None if chosen is self else chosen
            chosen = self if each > _LONG_ITEM else self._without_callback()
            piece = int(min(max(_PIECE_SECONDS / each, 1), 64 * piece))
            if chosen is not self and self._report is not None and (self._report("batch", done / count)):
                raise BY_STATUS[Status.CANCELLED](f"cancelled by the progress function after {done} of {count}")

    def _without_callback(self) -> Context:
        """The same without a progress callback, for batches of short items, each of which would call it twice."""
        if self.device != "cpu" or not self._on_progress:
            return self
        if self._twin is None:
            self._twin = Context(self.threads, isa=self.isa, input_limit=self._input_limit, _callback=False)
        return self._twin


def address(array: Any) -> int:
    """Where the data of a numpy array begins."""
    return array.__array_interface__["data"][0]


def _renumber(error: CaromError, first: int) -> CaromError:
    """The message "pair 3: ..." of a piece, with the number in the whole batch."""
    text = str(error)
    head, colon, rest = text.partition(":")
    words = head.split(" ")
    if first and colon and len(words) == 2 and words[1].isdigit():
        return type(error)(f"{words[0]} {int(words[1]) + first}:{rest}")
    return error


def _error(status: int, message: str) -> CaromError:
    if status == Status.INVALID:
        message, _bug.text = _bug.text or message or "a bug of the caller", ""
    return BY_STATUS.get(Status(status), CaromError)(message)


def _interruptible(function: Any, pointer: Any, args: tuple[Any, ...], thread: int) -> int:
    """The status of function(pointer, *args). On the main thread SIGINT is kept until it is over."""
    if thread != threading.main_thread().ident:
        return function(pointer, *args)
    earlier = _signal.getsignal(signal.SIGINT)
    if not callable(earlier) or earlier is _take_note:  # not Python's, or a call within a callback
        return function(pointer, *args)
    _signal.signal(signal.SIGINT, _take_note)
    try:
        status = function(pointer, *args)
    finally:
        _signal.signal(signal.SIGINT, earlier)
        if _Interrupt.seen:
            _Interrupt.seen = False
            earlier(signal.SIGINT, sys._getframe())
    return status


def _count(value: int, name: str) -> int:
    """A number that is not negative, for a field of C."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{name} is {value!r}; give a whole number")
    try:
        number = value.__index__()
    except TypeError:  # an array of floats has the method, too
        raise TypeError(f"{name} is {value!r}; give a whole number") from None
    if number < 0 or number >= 2**32 and name in ("threads", "arity", "voxels", "buckets", "p", "q"):
        raise ValueError(f"{name} is {number}; give one from 0 to 2**32 - 1" if number >= 0 else
                         f"{name} is {number}; it cannot be negative")
    if number >= 2**64:
        raise ValueError(f"{name} is {number}; give one below 2**64")
    return number


class _Defaults(threading.local):
    """The contexts of this thread, by device; those of `with` blocks first."""

    def __init__(self) -> None:
        self.stacks: dict[str, list[Context]] = {}
        self.fork = -1

    def stack(self, device: str) -> list[Context]:
        if self.fork != _fork.count:  # those of the parent cannot be used in the child
            self.stacks, self.fork = {}, _fork.count
        found = self.stacks.get(device)
        if found is None:
            found = self.stacks[device] = []
        return found


class _Fork:
    count = 0


_fork = _Fork()
_local = _Defaults()


def _in_child() -> None:
    global _guard
    _fork.count += 1
    _guard = threading.RLock()
    _Interrupt.seen = False


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)


def default_context(device: str = "cpu") -> Context:
    """The context that this thread uses where none is given. While it is in a call, as within a callback, another."""
    name = device if device == "cpu" else parse_device(device)[0]
    stack = _local.stack(name)
    for context in stack:
        if context._owner == 0:
            return context
    context = Context(device=name)
    stack.append(context)
    return context


def pick(context: Optional[Context], device: str = "cpu") -> Context:
    """The context of a call: the one that is given, or this thread's."""
    if context is None:
        return default_context(device)
    if not isinstance(context, Context):
        raise TypeError(f"context is a {type(context).__name__}; give a carom.Context or None")
    return context


def build_info() -> dict[str, str]:
    """How the library was built, and the CUDA device that there is, or why there is none.

    >>> import carom
    >>> carom.build_info()["version"]
    '0.2.0'
    """
    build = ctypes.cast(lib.carom_build_get(), ctypes.POINTER(_abi.build)).contents
    line = ctypes.create_string_buffer(512)
    lib.carom_cuda_describe(line, len(line))
    return {"version": build.version.decode(), "commit": build.commit.decode(), "compiler": build.compiler.decode(),
            "instruction_sets": build.instruction_sets.decode(), "cuda": line.value.decode("utf-8", "replace")}


def isa_available(isa: Union[str, Isa]) -> bool:
    """Whether this library and this machine can run an instruction set.

    >>> import carom
    >>> carom.isa_available("baseline")
    True
    """
    return lib.carom_isa_available(Isa.of(isa))
