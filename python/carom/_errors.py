# SPDX-License-Identifier: MIT
"""Exceptions: one for each status of the library, each also one of Python's own kinds."""
from __future__ import annotations

from ._abi import Status


class CaromError(Exception):
    """Any failure that the library reports. The text is the library's message: what, where, what to do."""

    status: Status = Status.INVALID


class Cancelled(CaromError):
    """The progress function asked to stop."""

    status = Status.CANCELLED


class InvalidError(CaromError, RuntimeError):
    """A bug of the caller, such as a query after a change and before a commit."""

    status = Status.INVALID


class BadInputError(CaromError, ValueError):
    """NaN, infinity, an unusable mesh, a value out of range."""

    status = Status.BAD_INPUT


class BadFileError(CaromError, ValueError):
    """A file was read, but its content is malformed."""

    status = Status.BAD_FILE


class FileError(CaromError, OSError):
    """A file cannot be opened, read or written."""

    status = Status.IO


class TooLargeError(CaromError, ValueError):
    """More items than the structure can number, or a file beyond the limit of the context."""

    status = Status.TOO_LARGE


class NoMemoryError(CaromError, MemoryError):
    """There is not enough memory."""

    status = Status.NO_MEMORY


class UnsupportedError(CaromError, NotImplementedError):
    """Not compiled in, or not on this machine or device."""

    status = Status.UNSUPPORTED


class NoDeviceError(CaromError, RuntimeError):
    """There is no such device."""

    status = Status.NO_DEVICE


BY_STATUS = {
    kind.status: kind
    for kind in (Cancelled, InvalidError, BadInputError, BadFileError, FileError, TooLargeError, NoMemoryError,
                 UnsupportedError, NoDeviceError)
}
