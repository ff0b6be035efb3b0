// SPDX-License-Identifier: MIT
// Failures of the library as exceptions: the message is the library's, `status` its name.

export class CaromError extends Error {
    constructor(message, status = "") {
        super(message);
        this.name = new.target.name;
        this.status = status;
    }
}
export class Cancelled extends CaromError {}
export class InvalidError extends CaromError {}
export class BadInputError extends CaromError {}
export class BadFileError extends CaromError {}
export class FileError extends CaromError {}
export class TooLargeError extends CaromError {}
export class NoMemoryError extends CaromError {}
export class UnsupportedError extends CaromError {}

// By the name of a status. CAROM_MORE cannot happen: the library owns all result arrays.
const CLASSES = {
    "cancelled": Cancelled, "invalid": InvalidError, "bad input": BadInputError, "bad file": BadFileError, "io": FileError,
    "too large": TooLargeError, "no memory": NoMemoryError, "unsupported": UnsupportedError, "no device": UnsupportedError,
};

export function errorOf(status, message) {
    return new (CLASSES[status] ?? CaromError)(message || status, status);
}

// The same error in another thread, from what was sent of it.
export function errorFrom({ name, status, message }) {
    if (status) return errorOf(status, message);
    const Type = { TypeError, RangeError }[name] ?? Error;
    return new Type(message);
}
