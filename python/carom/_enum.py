# SPDX-License-Identifier: MIT
"""The base of all enums: numbers in C, names in Python. A parameter may be given as either."""
from __future__ import annotations

import enum
from typing import Any, TypeVar, Union

E = TypeVar("E", bound="Enum")


class _ignore:
    """A class attribute of an enum that is no member of it: the name of the C type."""

    def __init__(self, value: str) -> None:
        self.value = value

    def __get__(self, instance: object, owner: object = None) -> str:
        return self.value


def _c_name(kind: Any) -> str:
    """The name of the C type of an enum."""
    return kind._c_name


class Enum(enum.IntEnum):
    """An enum of the C library. ``str()`` gives the library's own name of a value, such as "a-inside-b"."""

    def __str__(self) -> str:
        from ._core import lib

        return getattr(lib, _c_name(type(self)) + "_name")(self).decode()

    def __repr__(self) -> str:
        return f"{type(self).__name__}.{self.name}"

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)

    @classmethod
    def of(cls: type[E], value: Union[E, str, int]) -> E:
        """The value that is given as a member, its name or its number.

        >>> import carom
        >>> carom.Relation.of("touching")
        Relation.TOUCHING
        """
        import ctypes

        from ._core import lib

        if isinstance(value, cls):
            return value
        if isinstance(value, str):
            number = ctypes.c_int()
            if getattr(lib, _c_name(cls) + "_from_name")(value.encode("utf-8", "replace"), ctypes.byref(number)):
                return cls(number.value)
        elif isinstance(value, int) and not isinstance(value, (bool, enum.Enum)):
            try:
                return cls(value)
            except ValueError:
                pass
        names = ", ".join(repr(str(member)) for member in cls)
        raise ValueError(f"{value!r} is no {cls.__name__}; give one of {names}")
