# SPDX-License-Identifier: MIT
"""Gases: moving spheres and their collisions, in order, none missed."""
from __future__ import annotations

import ctypes
from typing import Any, Callable, Optional, Union

import numpy as np

from . import _abi
from ._abi import GasEventKind, GasFormat, GasMethod, GasQueue
from ._arrays import ArrayLike, Results, address, dtype_of, floats, indices, number, vec3
from ._core import Context, Handle, Raised, byref, lib, pick
from ._mesh import PathLike, _bytes, path_bytes
from ._records import Event, GasInfo, Measures, info, read


def gas_spheres(positions: ArrayLike, velocities: ArrayLike, radii: ArrayLike, masses: ArrayLike = 0.0) -> np.ndarray:
    """Records of C; one radius or mass may serve all."""
    where = floats(positions, (None, 3), "positions")
    speed = floats(velocities, (None, 3), "velocities")
    if len(where) != len(speed):
        raise ValueError(f"there are {len(where)} positions and {len(speed)} velocities; give as many")
    found = np.zeros(len(where), dtype_of(_abi.gas_sphere))
    found["position"], found["velocity"] = where, speed
    for name, values in (("radius", radii), ("mass", masses)):
        try:
            found[name] = np.asarray(values, np.float64)
        except (TypeError, ValueError):
            raise ValueError(f"the {name} of spheres: give one number, or {len(where)}") from None
    return found


class Gas(Handle):
    """Spheres that move freely in a box and collide. Events come in order, bit for bit those of a simulator that tests
    all pairs after every event.

    >>> import carom
    >>> gas = carom.Gas([[2, 5, 5], [8, 5, 5]], [[1, 0, 0], [-1, 0, 0]], 1.0, edges=[10, 10, 10])
    >>> event = gas.next(100)
    >>> round(event.time, 6), str(event.kind)
    (2.0, 'pair')

    edges: of the box [0, edges]; periodic: for each axis, or for all; sides reflect otherwise.
    response: a function of (event, normal, a, b) that sets the velocities of two records; b is None at a wall.
    """

    _destroy = staticmethod(lib.carom_gas_destroy)

    def __init__(self, positions: ArrayLike, velocities: ArrayLike, radii: ArrayLike, *, edges: ArrayLike,
                 masses: ArrayLike = 0.0, periodic: Any = False, acceleration: ArrayLike = (0.0, 0.0, 0.0),
                 loss: float = 0.0, wall_loss: float = 0.0, elastic_below: float = 0.0,
                 response: Optional[Callable[..., Any]] = None, method: Union[str, GasMethod] = GasMethod.AUTO,
                 queue: Union[str, GasQueue] = GasQueue.CALENDAR, cell_edge: float = 0.0, cutoff: float = 0.0,
                 tick: float = 0.0, context: Optional[Context] = None) -> None:
        super().__init__()
        spheres = gas_spheres(positions, velocities, radii, masses)
        axes = np.broadcast_to(np.asarray(periodic, np.bool_), (3,))
        self._set_response(response)
        definition = _abi.gas_def(
            spheres=address(spheres), sphere_count=len(spheres), edges=vec3(edges, "edges"),
            periodic=(ctypes.c_bool * 3)(*axes), acceleration=vec3(acceleration, "acceleration"),
            loss=number(loss, "loss"), wall_loss=number(wall_loss, "wall_loss"),
            elastic_below=number(elastic_below, "elastic_below"), response=self._response,
            method=GasMethod.of(method), queue=GasQueue.of(queue), cell_edge=number(cell_edge, "cell_edge"),
            cutoff=number(cutoff, "cutoff"), tick=number(tick, "tick"))
        pick(context)._call(lib.carom_gas_create, byref(definition), byref(self._pointer))

    def _set_response(self, response: Optional[Callable[..., Any]]) -> None:
        self._raised = Raised()
        self._response = _abi.gas_response_fn()  # type: ignore[call-overload]
        if response is None:
            return
        if not callable(response):
            raise TypeError("response is a function of (event, normal, a, b)")
        kind = np.dtype((np.record, dtype_of(_abi.gas_sphere)))

        def sphere(pointer: Optional[int]) -> Any:
            if not pointer:
                return None
            memory = (ctypes.c_char * kind.itemsize).from_address(pointer)
            return np.frombuffer(memory, kind).view(np.recarray)[0]  # type: ignore[call-overload]

        def respond(_user: Any, event: int, normal: int, a: int, b: Optional[int]) -> None:
            response(read(Event, _abi.gas_event.from_address(event)),  # type: ignore[misc]
                     np.array((ctypes.c_double * 3).from_address(normal)[:]), sphere(a), sphere(b))

        self._response = _abi.gas_response_fn(self._raised.guard(respond, None))

    @classmethod
    def _load(cls, function: Any, args: tuple[Any, ...], response: Any, method: Any, queue: Any, cell_edge: float,
              cutoff: float, context: Optional[Context]) -> Gas:
        self = cls.__new__(cls)
        Handle.__init__(self)
        self._set_response(response)
        definition = None
        if response is not None or method is not None or queue is not None or cell_edge or cutoff:
            definition = byref(_abi.gas_def(
                response=self._response, method=GasMethod.of(method or GasMethod.AUTO),
                queue=GasQueue.of(queue or GasQueue.CALENDAR), cell_edge=number(cell_edge, "cell_edge"),
                cutoff=number(cutoff, "cutoff")))
        pick(context)._call(function, *args, definition, byref(self._pointer))
        return self

    @classmethod
    def load(cls, path: PathLike, *, response: Optional[Callable[..., Any]] = None,
             method: Union[None, str, GasMethod] = None, queue: Union[None, str, GasQueue] = None,
             cell_edge: float = 0.0, cutoff: float = 0.0, context: Optional[Context] = None) -> Gas:
        """Reads what save() wrote: its future events are the same, bit for bit. A response is never saved."""
        return cls._load(lib.carom_gas_load, (path_bytes(path), GasFormat.GUESS), response, method, queue, cell_edge,
                         cutoff, context)

    @classmethod
    def from_bytes(cls, data: bytes, name: Optional[str] = None, *, response: Optional[Callable[..., Any]] = None,
                   method: Union[None, str, GasMethod] = None, queue: Union[None, str, GasQueue] = None,
                   cell_edge: float = 0.0, cutoff: float = 0.0, context: Optional[Context] = None) -> Gas:
        """Reads the content of such a file."""
        data = _bytes(data)
        args = (data, len(data), GasFormat.GUESS, None if name is None else path_bytes(name))
        return cls._load(lib.carom_gas_load_memory, args, response, method, queue, cell_edge, cutoff, context)

    def save(self, path: PathLike, *, context: Optional[Context] = None) -> None:
        """Writes the complete state, all bits."""
        pick(context)._call(lib.carom_gas_save, self._pointer, GasFormat.GUESS, path_bytes(path), reads=(self,))

    def to_bytes(self, *, context: Optional[Context] = None) -> bytes:
        """The content of such a file."""
        content = Results("bytes")
        pick(context)._call(lib.carom_gas_save_memory, self._pointer, GasFormat.CAROM, content.out, reads=(self,))
        return content.bytes()

    # ---- Changes

    def add(self, positions: ArrayLike, velocities: ArrayLike, radii: ArrayLike, masses: ArrayLike = 0.0, *,
            context: Optional[Context] = None) -> np.ndarray:
        """Adds spheres at the present time and returns their ids."""
        spheres = gas_spheres(positions, velocities, radii, masses)
        ids = np.zeros(len(spheres), np.uint32)
        pick(context)._call(lib.carom_gas_add, self._pointer, address(spheres), len(spheres), address(ids), change=self)
        return ids

    def set(self, ids: ArrayLike, positions: ArrayLike, velocities: ArrayLike, radii: ArrayLike,
            masses: ArrayLike = 0.0, *, context: Optional[Context] = None) -> None:
        """Sets the state of spheres at the present time."""
        given = indices(np.atleast_1d(ids), (None,), "ids")
        spheres = gas_spheres(positions, velocities, radii, masses)
        if len(given) != len(spheres):
            raise ValueError(f"there are {len(given)} ids for {len(spheres)} spheres")
        pick(context)._call(lib.carom_gas_set, self._pointer, address(given), address(spheres), len(given), change=self)

    def remove(self, ids: ArrayLike, *, context: Optional[Context] = None) -> None:
        """Removes spheres."""
        given = indices(np.atleast_1d(ids), (None,), "ids")
        pick(context)._call(lib.carom_gas_remove, self._pointer, address(given), len(given), change=self)

    # ---- Time

    def next(self, until: float, *, context: Optional[Context] = None) -> Optional[Event]:
        """Advances to the next event up to a time and returns it; None where there is none."""
        event = _abi.gas_event()
        pick(context)._call(lib.carom_gas_next, self._pointer, number(until, "until"), byref(event), change=self,
                            raised=self._raised)
        return None if event.kind == GasEventKind.NONE else read(Event, event)

    def advance(self, until: float, on_event: Optional[Callable[[Event], Any]] = None, *,
                context: Optional[Context] = None) -> None:
        """Advances to a time, or to the event at which on_event returns true."""
        raised, callback = self._raised, _abi.gas_event_fn()  # type: ignore[call-overload]
        if on_event is not None:
            if not callable(on_event):
                raise TypeError("on_event is a function of an event")
            tell = lambda _user, event: bool(on_event(read(Event, _abi.gas_event.from_address(event))))
            callback = _abi.gas_event_fn(raised.guard(tell, True))
        elif self._response:
            # An error of the response must stop the run: events are looked at for its sake.
            callback = _abi.gas_event_fn(lambda _user, _event: raised.error is not None)
        pick(context)._call(lib.carom_gas_advance, self._pointer, number(until, "until"), callback, None, change=self,
                            raised=raised)

    @property
    def time(self) -> float:
        """The time that the gas has reached."""
        if not self._pointer:
            raise self._closed_error()
        return lib.carom_gas_get_time(self._pointer)

    # ---- Results

    def list_spheres(self, *, context: Optional[Context] = None) -> Any:
        """All spheres now: records of position, velocity, radius, mass."""
        found = Results("gas_spheres")
        pick(context)._call(lib.carom_gas_list_spheres, self._pointer, found.out, reads=(self,))
        return found.array()

    def find_sphere(self, id: int, *, context: Optional[Context] = None) -> Any:
        """One sphere now."""
        found = np.zeros(1, np.dtype((np.record, dtype_of(_abi.gas_sphere)))).view(np.recarray)
        number_of = indices([id], (1,), "id")
        pick(context)._call(lib.carom_gas_find_sphere, self._pointer, int(number_of[0]), address(found), reads=(self,))
        return found[0]

    def measure(self, *, context: Optional[Context] = None) -> Measures:
        """Collisions, energy, momentum, pressure and more, since it was created or reset_measures()."""
        found = _abi.gas_measures()
        pick(context)._call(lib.carom_gas_measure, self._pointer, byref(found), reads=(self,))
        return read(Measures, found)

    def reset_measures(self, *, context: Optional[Context] = None) -> None:
        """Starts the measurements anew."""
        pick(context)._call(lib.carom_gas_reset_measures, self._pointer, change=self)

    def overlap(self, *, context: Optional[Context] = None) -> float:
        """The deepest overlap of any two spheres now, relative to their radii: 0, but for rounding."""
        found = ctypes.c_double()
        pick(context)._call(lib.carom_gas_overlap, self._pointer, byref(found), reads=(self,))
        return found.value

    def count_distances(self, step: float, count: int, *, context: Optional[Context] = None) -> np.ndarray:
        """The pairs of spheres from k to k + 1 steps apart, for each k below count; weighted where there are walls."""
        found = np.zeros(count)
        pick(context)._call(lib.carom_gas_count_distances, self._pointer, step, address(found), count, reads=(self,))
        return found

    @property
    def info(self) -> GasInfo:
        """What the choices of method, queue and cells came to."""
        return info(self, lib.carom_gas_get_info, GasInfo, _abi.gas_info)

    def __len__(self) -> int:
        return self.measure().spheres

    def __repr__(self) -> str:
        return "<carom.Gas: closed>" if not self._pointer else f"<carom.Gas: {len(self)} spheres at time {self.time:g}>"
