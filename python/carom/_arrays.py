# SPDX-License-Identifier: MIT
"""Arrays in and out.

In: numpy arrays are used where they are, if their layout is one that the library takes; others are converted, and
what cannot be converted without loss is refused with a message that says what to give. `copied` counts the bytes of
positions and faces that were copied, for tests.

Out: result arrays of the library become numpy arrays without a copy; their base is the owner of the memory.
"""
from __future__ import annotations

import ctypes
import math
from typing import Any, Optional, Sequence, Union

import numpy as np

from . import _abi
from ._core import Context, address, lib, pick

ArrayLike = Any  # whatever numpy.asarray takes; numpy.typing has no name for shapes


class _Copied:
    bytes = 0


copied = _Copied()


def _array(values: ArrayLike, name: str) -> np.ndarray:
    """Any array-like, as an array of numbers of this machine's byte order."""
    if hasattr(values, "__cuda_array_interface__") and not hasattr(values, "__array__"):
        raise TypeError(f"{name} are in device memory; carom.cuda takes those, or copy them to the host")
    if not isinstance(values, np.ndarray) and hasattr(values, "numpy"):  # tensors
        values = values.numpy()
    if isinstance(values, np.ma.MaskedArray):
        if np.ma.is_masked(values):
            raise ValueError(f"{name} are masked in places; leave those rows out, or fill them with .filled()")
        values = values.data
    try:
        array = np.asarray(values)
    except ValueError as error:  # rows of different lengths
        raise ValueError(f"{name} are no array: {error}") from None
    if array.dtype == object:
        raise TypeError(f"{name} hold objects, or rows of different lengths; give an array of numbers")
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{name} have the type {array.dtype}; give real numbers")
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    return array


def floats(values: ArrayLike, shape: tuple[Optional[int], ...], name: str) -> np.ndarray:
    """float64, C order, of a shape in which None is any length."""
    array = _array(values, name)
    if array.ndim != len(shape) or any(want is not None and want != have for want, have in zip(shape, array.shape)):
        wanted = ", ".join("n" if n is None else str(n) for n in shape) + ("," if len(shape) == 1 else "")
        raise ValueError(f"{name} have the shape {array.shape}; give ({wanted})")
    if array.dtype.kind == "f" and array.dtype.itemsize > 8:
        raise TypeError(f"{name} have the type {array.dtype}; give float64, such as by .astype(np.float64)")
    return packed(array, np.float64)


def packed(values: ArrayLike, dtype: Any = None) -> np.ndarray:
    """C order and aligned, as C reads it; a copy where it is not."""
    array = np.ascontiguousarray(values, dtype=dtype)
    return array if array.flags.aligned else array.copy()


def point(values: ArrayLike, name: str) -> np.ndarray:
    return floats(values, (3,), name)


def vec3(values: ArrayLike, name: str) -> Any:
    return _abi.vec3(*point(values, name))


def number(value: Any, name: str) -> float:
    """A real number, for a field of C."""
    if isinstance(value, (bool, str, bytes)) or not hasattr(value, "__float__"):
        raise TypeError(f"{name} is {value!r}; give a number")
    return float(value)


def indices(values: ArrayLike, shape: tuple[Optional[int], ...], name: str) -> np.ndarray:
    """uint32, C order. Other integers are converted if they fit, int32 without a copy: a negative one becomes one that
    is too large for any list, and the library says so."""
    array = _array(values, name)
    if array.size == 0 and array.dtype == np.float64:  # numpy's type of []
        array = array.astype(np.uint32)
    if array.dtype.kind not in "iu":
        raise TypeError(f"{name} have the type {array.dtype}; give integers, such as by .astype(np.uint32)")
    if array.size == 0 and array.ndim == 1 and len(shape) == 2:
        array = array.reshape((0, shape[1] if shape[1] is not None else 3))
    if array.ndim != len(shape) or any(want is not None and want != have for want, have in zip(shape, array.shape)):
        wanted = ", ".join("nk"[i] if n is None else str(n) for i, n in enumerate(shape))
        wanted += "," if len(shape) == 1 else ""
        width = 3 if len(shape) == 2 and shape[1] is None else shape[-1]
        flat = array.ndim == 1 and len(shape) == 2 and width and array.size % width == 0
        hint = f", such as by .reshape(-1, {width})" if flat else ""
        raise ValueError(f"{name} have the shape {array.shape}; give ({wanted}){hint}")
    if array.dtype == np.uint32 and array.flags.c_contiguous and array.flags.aligned:
        return array
    if array.dtype == np.int32 and array.flags.c_contiguous and array.flags.aligned:
        if array.size and array.min() < 0:
            raise ValueError(f"{name} hold {array.min()}: indices are not negative")
        return array.view(np.uint32)
    return _narrow(array, name)


# Converted in pieces that stay in the cache between the check and the copy; measured on a million faces.
_PIECE = 1 << 15


def _narrow(array: np.ndarray, name: str) -> np.ndarray:
    """A copy as uint32, where all numbers fit."""
    result = np.empty(array.shape, np.uint32)
    copied.bytes += result.nbytes
    if array.dtype.itemsize < 4 or array.dtype == np.uint32:
        if array.dtype.kind == "i" and array.size and array.min() < 0:
            raise ValueError(f"{name} hold {array.min()}: indices are not negative")
        np.copyto(result, array, casting="unsafe")
        return result
    if not array.flags.c_contiguous:
        array = np.ascontiguousarray(array)
    flat, out = array.reshape(-1), result.reshape(-1)
    # Reinterpreted without a sign, negative numbers are too large as well: one comparison finds both.
    unsigned = flat.view(np.dtype(f"u{array.dtype.itemsize}"))
    for start in range(0, len(flat), _PIECE):
        piece = unsigned[start:start + _PIECE]
        if piece.max() >= 2**32 - 1:
            wrong = flat[start:start + _PIECE][piece >= 2**32 - 1][0]
            raise ValueError(f"{name} hold {wrong}: indices are from 0 to 2**32 - 2")
        np.copyto(out[start:start + _PIECE], piece, casting="unsafe")
    return result


def positions(values: ArrayLike) -> np.ndarray:
    """(n, 3) float32 or float64, whose rows may be any distance apart: used in place wherever that is so."""
    array = _array(values, "positions")
    if array.size == 0 and array.ndim == 1:
        array = array.reshape((0, 3)).astype(np.float64)
    if array.ndim != 2 or array.shape[1] != 3:
        hint = ""
        if array.ndim == 2 and array.shape[0] == 3:
            hint = "; transpose them with .T"
        elif array.ndim == 1 and len(array) % 3 == 0:
            hint = "; use .reshape(-1, 3)"
        raise ValueError(f"positions have the shape {array.shape}; give (n, 3){hint}")
    if array.dtype not in (np.float64, np.float32):
        if array.dtype.kind == "f" and array.dtype.itemsize > 8:
            raise TypeError(f"positions have the type {array.dtype}; give float64, such as by .astype(np.float64)")
        converted = array.astype(np.float32 if array.dtype == np.float16 else np.float64)
        if array.dtype.itemsize == 8 and array.size and (array.max() > 2**53 or array.min() < -2**53):
            raise ValueError("positions are integers beyond 2**53, which float64 does not hold; scale them down")
        copied.bytes += converted.nbytes
        return converted
    size = array.dtype.itemsize
    rows, columns = array.strides
    if array.flags.aligned and (columns == size or len(array) == 0) and rows >= 3 * size and rows % size == 0:
        return array
    copied.bytes += array.nbytes
    return np.array(array, order="C")


class View:
    """A carom_mesh_view and the arrays that it points to."""

    __slots__ = ("c", "keep", "vertex_count", "face_count")

    def __init__(self, vertices: np.ndarray, corners: Optional[np.ndarray] = None,
                 offsets: Optional[np.ndarray] = None, parts: Optional[np.ndarray] = None,
                 part_names: Sequence[bytes] = (), properties: Any = None) -> None:
        self.c = _abi.mesh_view()
        self.keep: list[Any] = [vertices, corners, offsets, parts, properties]
        self.c.positions = address(vertices)
        self.c.scalar = _abi.Scalar.FLOAT32 if vertices.dtype == np.float32 else _abi.Scalar.FLOAT64
        self.c.stride = vertices.strides[0] if len(vertices) else 0
        self.vertex_count = self.c.vertex_count = len(vertices)
        self.face_count = 0
        if corners is not None:
            self.c.corners = address(corners)
            self.face_count = len(corners) if offsets is None else len(offsets) - 1
            self.c.face_count = self.face_count
        if offsets is not None:
            self.c.offsets = address(offsets)
        if parts is not None or part_names:
            self._set_parts(parts, part_names)
        if properties:
            self.c.properties = ctypes.addressof(properties)
            self.c.property_count = len(properties)

    def _set_parts(self, parts: Optional[np.ndarray], names: Sequence[bytes]) -> None:
        count = len(names)
        if parts is not None:
            if len(parts) != self.face_count:
                raise ValueError(f"parts has {len(parts)} numbers; give one per face, {self.face_count}")
            self.keep.append(parts)
            self.c.parts = address(parts)
            count = max(count, int(parts.max()) + 1 if len(parts) else 0)
        if names:
            table = (ctypes.c_char_p * count)(*names, *([b""] * (count - len(names))))
            self.keep.append(table)
            self.c.part_names = ctypes.addressof(table)
        self.c.part_count = max(count, 1)


def faces(values: Any, name: str = "faces") -> tuple[np.ndarray, Optional[np.ndarray]]:
    """Corners and offsets of faces: (m, 3), (m, k), or a list of faces of different lengths. Offsets of triangles are
    None."""
    if isinstance(values, (list, tuple)) and values and not isinstance(values[0], (int, np.integer)):
        lengths = {len(face) for face in values}
        if len(lengths) > 1:
            corners = indices(np.concatenate([np.asarray(face) for face in values]), (None,), name)
            offsets = np.zeros(len(values) + 1, np.uint64)
            np.cumsum([len(face) for face in values], out=offsets[1:])
            return corners, offsets
    corners = indices(values, (None, None), name)
    if corners.shape[1] == 3:
        return corners, None
    if corners.shape[1] < 3:
        raise ValueError(f"{name} have the shape {corners.shape}; a face has three corners or more")
    return corners, np.arange(0, corners.size + 1, corners.shape[1], dtype=np.uint64)


# ---- Poses ---------------------------------------------------------------------------------------------------------

_FROM_C = [4, 5, 6, 0, 1, 2, 3]  # tx ty tz qw qx qy qz of qw qx qy qz tx ty tz


def _converted(m: np.ndarray) -> np.ndarray:
    """The poses of (n, 3, 4) or (n, 4, 4) matrices, (n, 7) in the order of C."""
    given, found = np.ascontiguousarray(m), np.empty((len(m), 7))
    if len(m):
        context = pick(None)
        if context.in_use:  # by the call whose callback this is
            context = Context(1)
        context._call(lib.carom_pose_from_matrices, address(given), given.shape[1], len(given), address(found))
    return found


class Poses:
    """Quaternions (n, 4) and translations (n, 3), and whether they are a batch. Those of an (n, 7) are views of it."""

    __slots__ = ("q", "t", "batch")

    def __init__(self, q: np.ndarray, t: np.ndarray, batch: bool) -> None:
        self.q, self.t, self.batch = q, t, batch

    def __len__(self) -> int:
        return len(self.q)

    def packed(self) -> np.ndarray:
        """(n, 7) in the order of C."""
        found = np.empty((len(self), 7))
        self.store(found)
        return found

    def store(self, rows: np.ndarray) -> None:
        """Writes them into (n, 7) in the order of C; one may serve all."""
        rows[:, :4], rows[:, 4:] = self.q, self.t

    def one(self, index: int) -> np.ndarray:
        """tx ty tz qw qx qy qz of one."""
        at = index if len(self.q) > 1 else 0
        return np.concatenate((self.t[at], self.q[at]))


class _Matrices(Poses):
    """Poses that are converted where they are stored."""

    __slots__ = ("m",)

    def __init__(self, m: np.ndarray, batch: bool) -> None:
        self.m, self.batch = m, batch

    def __len__(self) -> int:
        return len(self.m)

    def packed(self) -> np.ndarray:
        return _converted(self.m)

    def store(self, rows: np.ndarray) -> None:
        rows[:] = self.packed()

    def one(self, index: int) -> np.ndarray:
        return _converted(self.m[index:index + 1] if len(self.m) > 1 else self.m)[0, _FROM_C]


def poses(values: ArrayLike, name: str = "poses") -> Optional[Poses]:
    """Poses; None is one identity, as None.

    One pose is (7,): tx ty tz qw qx qy qz, (3,): a translation, (4, 4) or (3, 4): a matrix. A batch is (n, 7),
    (n, 4, 4) or (n, 3, 4).
    """
    if values is None:
        return None
    array = _array(values, name)
    if array.ndim in (2, 3) and array.shape[-2:] in ((4, 4), (3, 4)):
        matrices = np.asarray(array, np.float64)
        if array.ndim == 3:
            return _Matrices(matrices, True)
        one = _converted(matrices[None])
        return Poses(one[:, :4], one[:, 4:], False)
    if array.shape == (3,):
        return Poses(np.array([[1.0, 0.0, 0.0, 0.0]]), np.asarray(array, np.float64)[None], False)
    if array.ndim in (1, 2) and array.shape[-1] == 7:
        rows = np.asarray(array, np.float64).reshape(-1, 7)
        return Poses(rows[:, 3:], rows[:, :3], array.ndim == 2)
    verb = "have" if name.endswith("s") else "has"
    raise ValueError(f"{name} {verb} the shape {array.shape}; give (7,): tx ty tz qw qx qy qz, (3,): a translation, or "
                     "(4, 4); for a batch (n, 7) or (n, 4, 4)")


def one_pose(values: ArrayLike, name: str = "pose") -> Optional[np.ndarray]:
    """One pose in the order of C, or None."""
    found = poses(values, name)
    if found is None:
        return None
    if found.batch:
        raise ValueError(f"{name} has the shape {np.shape(values)}: this call takes one pose, not a batch")
    return found.packed()[0]


def pose_pointer(values: ArrayLike, name: str = "pose") -> Any:
    """One pose as an argument of C."""
    found = one_pose(values, name)
    return None if found is None else ctypes.byref(_abi.pose.from_buffer(found))  # type: ignore[arg-type]


def pose_struct(values: ArrayLike, name: str = "pose") -> Any:
    """One pose as a field of C; None is all zero."""
    found = one_pose(values, name)
    return _abi.pose() if found is None else _abi.pose.from_buffer_copy(found)  # type: ignore[arg-type]


def pose_out(pose: Any) -> np.ndarray:
    """tx ty tz qw qx qy qz of a carom_pose."""
    return np.frombuffer(pose, np.float64)[_FROM_C]


def motion_struct(motion: Any, name: str) -> Any:
    """A motion: None, (pose, pose), or (pose, pose, centre)."""
    if motion is None:
        return _abi.motion()
    try:
        start, end, *centre = motion
    except (TypeError, ValueError):
        raise ValueError(f"{name} is {motion!r}; give (from, to) or (from, to, centre), poses and a point") from None
    if len(centre) > 1:
        raise ValueError(f"{name} has {2 + len(centre)} items; give (from, to) or (from, to, centre)")
    found = _abi.motion(pose_struct(start, f"{name}[0]"), pose_struct(end, f"{name}[1]"))
    if centre:
        found.centre = vec3(centre[0], f"{name}[2]")
    return found


def motion_pointer(motion: Any, name: str) -> Any:
    return None if motion is None else ctypes.byref(motion_struct(motion, name))


def batch_poses(pose_a: ArrayLike, pose_b: ArrayLike) -> tuple[Optional[Poses], Optional[Poses], int]:
    """Both poses, and the length of the batch; -1 where both are single."""
    a, b = poses(pose_a, "pose_a"), poses(pose_b, "pose")
    counts = {len(found) for found in (a, b) if found is not None and found.batch}
    if len(counts) > 1:
        raise ValueError(f"pose_a has {len(a or ())} poses and pose {len(b or ())}: give as many, or one")
    return a, b, counts.pop() if counts else -1


# ---- Points, rays and boxes ----------------------------------------------------------------------------------------

def points(values: ArrayLike, name: str = "points") -> np.ndarray:
    """(n, 3), or one point."""
    return floats_of_rows(values, name)


def rays(origins: ArrayLike, directions: ArrayLike, lengths: ArrayLike = None) -> np.ndarray:
    """(n, 7) rays of C. One direction or one length may serve all."""
    first, second = floats_of_rows(origins, "origins"), floats_of_rows(directions, "directions")
    count = max(len(first), len(second))
    if {len(first), len(second)} - {1, count}:
        raise ValueError(f"there are {len(first)} origins and {len(second)} directions; give as many")
    found = np.zeros((count, 7))
    found[:, :3], found[:, 3:6] = first, second
    if lengths is not None:
        found[:, 6] = _array(lengths, "lengths")
    return found


def floats_of_rows(values: ArrayLike, name: str) -> np.ndarray:
    """(n, 3), or one row."""
    array = _array(values, name)
    return floats(array[None] if array.ndim == 1 else array, (None, 3), name)


def boxes(values: ArrayLike, name: str = "boxes") -> np.ndarray:
    """(n, 6) of (n, 2, 3), the lower and the upper corner, or of (n, 6)."""
    array = _array(values, name)
    if array.size == 0:
        return np.zeros((0, 6))
    if array.ndim == 3 and array.shape[1:] == (2, 3):
        array = array.reshape(-1, 6)
    return floats(array, (None, 6), name)


# ---- Results -------------------------------------------------------------------------------------------------------

_dtypes: dict[Any, np.dtype] = {
    ctypes.c_bool: np.dtype("?"), ctypes.c_double: np.dtype("f8"), ctypes.c_int: np.dtype("i4"),
    ctypes.c_int32: np.dtype("i4"), ctypes.c_uint8: np.dtype("u1"), ctypes.c_uint32: np.dtype("u4"),
    ctypes.c_uint64: np.dtype("u8"), ctypes.c_void_p: np.dtype("u8"), ctypes.c_char_p: np.dtype("u8"),
    _abi.vec3: np.dtype(("f8", 3)), _abi.quat: np.dtype(("f8", 4)), _abi.bounds: np.dtype(("f8", (2, 3))),
    _abi.pair: np.dtype(("u4", 2)), _abi.pose: np.dtype(("f8", 7)),
}


def dtype_of(kind: Any) -> np.dtype:
    """The numpy type of a ctypes type: vectors are (3,), boxes (2, 3)."""
    found = _dtypes.get(kind)
    if found is None:
        if issubclass(kind, ctypes.Array):
            found = np.dtype((dtype_of(kind._type_), kind._length_))
        elif issubclass(kind, ctypes.Structure):
            names = [name for name, _ in kind._fields_]
            found = np.dtype({"names": names, "formats": [dtype_of(t) for _, t in kind._fields_],
                              "offsets": [getattr(kind, name).offset for name in names],
                              "itemsize": ctypes.sizeof(kind)})
        else:
            raise TypeError(f"{kind} has no numpy type")
        _dtypes[kind] = found
    return found


def records(kind: Any, count: int) -> Any:
    """An array for `count` answers, whose fields are attributes, too."""
    return np.zeros(count, np.dtype((np.record, dtype_of(kind)))).view(np.recarray)


class Results:
    """Owns a result array of the library; arrays() made of it keep it alive."""

    __slots__ = ("c", "_item", "_free", "__weakref__")

    def __init__(self, name: str) -> None:
        kind, free = _abi.RESULT_ARRAYS[name]
        self._item: Any = kind
        self._free = getattr(lib, free)
        self.c = getattr(_abi, name)()

    def __del__(self) -> None:
        if self.c.data:
            self._free(ctypes.byref(self.c))

    @property
    def out(self) -> Any:
        """The argument of the call that fills it."""
        return ctypes.byref(self.c)

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return {"version": 3, "typestr": "|u1", "shape": (self.c.count * ctypes.sizeof(self._item),),
                "data": (self.c.data, False)}

    def array(self) -> Any:
        """The items, without a copy: pairs as (n, 2), numbers as (n,), others as records."""
        if not self.c.count:
            kind = dtype_of(self._item)
            if kind.names:
                return records(self._item, 0)
            return np.empty((0, *kind.shape), kind.base)
        raw = np.asarray(self)
        kind = dtype_of(self._item)
        if kind.names:
            return raw.view(np.dtype((np.record, kind))).view(np.recarray)
        return raw.view(kind.base).reshape((-1, *kind.shape))

    def bytes(self) -> bytes:
        return ctypes.string_at(self.c.data, self.c.count) if self.c.count else b""


def borrowed(owner: Any, pointer: Optional[int], count: int, dtype: Any) -> np.ndarray:
    """A read-only array of memory that belongs to `owner`, which it keeps alive."""
    if not count or not pointer:
        return np.empty(0, dtype)
    return np.asarray(_Borrowed(owner, pointer, count * np.dtype(dtype).itemsize)).view(dtype)


class _Borrowed:
    __slots__ = ("owner", "pointer", "size")

    def __init__(self, owner: Any, pointer: int, size: int) -> None:
        self.owner, self.pointer, self.size = owner, pointer, size

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return {"version": 3, "typestr": "|u1", "shape": (self.size,), "data": (self.pointer, True)}


Number = Union[int, float]
