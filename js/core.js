// SPDX-License-Identifier: MIT
// The module, its memory, and calls.
//
// There is one module per page, worker or process, which init() loads, and one context in it. A call goes through invoke(),
// which reads from abi.js how each parameter is passed:
//
//   c     the context                     h   a structure                    v   a number, a truth value or an enumerator
//   s     a string                        n   a structure that is made       r   a result array, which is copied and freed
//   i, o  what a pointer points to, in or out; with a fourth entry as many as that says: a number, or a parameter that
//         counts. Counters are not given by the caller: they are the lengths of what is.
//   f, z  a callback and what it is given back
//
// Three promises: a status that is no success becomes an exception with the library's message; what a callback throws
// stops the call and is thrown again after it; whatever was taken of the module's memory is given back on every way out.
// A trap cannot happen unless Carom is wrong; the module then refuses further calls, because its memory may be broken.
import { ABI, ENUMS, FUNCTIONS, RESULTS, STRUCTS } from "./abi.js";
import { CaromError, errorOf, InvalidError, NoMemoryError } from "./errors.js";
import { loadModule } from "./loader.js";

export const NONE = 0xffffffff; // no face, sphere or object
const SCRATCH_BYTES = 1 << 16; // for the structs of one call; larger arrays are allocated

let wasm = null; // what loadModule gave
let context = 0;
let busy = false; // a call is running
let broken = null; // the trap after which no call is possible
let scratch = 0;
let bug = ""; // what the library said of a caller's bug
let raised = null; // what a callback threw
let progress = null;
let loading = null;
const waiting = []; // structures that were collected during a call
const callbacks = new Map(); // functions, by the number that C gives back
let nextCallback = 1;

// ---- Memory ----------------------------------------------------------------------------------------------------------

let bytes, view; // of the module's memory, as large as it is now

function refresh() {
    const { buffer } = wasm.memory;
    if (bytes === undefined || bytes.buffer !== buffer) {
        bytes = new Uint8Array(buffer);
        view = new DataView(buffer);
    }
}

export function allocate(size) {
    const at = wasm.exports.carom_js_allocate(size) >>> 0;
    refresh();
    if (at === 0) throw new NoMemoryError(`${size} bytes of the module's memory were refused: it has ${bytes.length}, and ` +
        "cannot have more; free() structures that are not needed", "no memory");
    return at;
}

export function release(at) {
    wasm.exports.carom_js_free(at);
}

let scratchTop = 0; // what calls that are being prepared have taken of the scratch memory

// What one call takes: small things from the scratch memory, large ones allocated. A call may be made while another is
// being prepared, such as for the pose of a matrix: its frame begins where the other one ends, and must end before it.
export class Frame {
    constructor() {
        this.base = scratchTop;
        this.blocks = [];
    }

    take(size) {
        const at = (scratchTop + 15) & ~15;
        if (at + size <= SCRATCH_BYTES) {
            scratchTop = at + size;
            bytes.fill(0, scratch + at, scratch + at + size);
            return scratch + at;
        }
        const block = allocate(size);
        this.blocks.push(block);
        bytes.fill(0, block, block + size);
        return block;
    }

    // A copy of a typed array.
    copy(array) {
        const size = array.byteLength, at = this.takeRaw(size);
        bytes.set(new Uint8Array(array.buffer, array.byteOffset, size), at);
        return at;
    }

    takeRaw(size) {
        if (size <= SCRATCH_BYTES / 4) return this.take(size);
        const block = allocate(size);
        this.blocks.push(block);
        return block;
    }

    end() {
        for (const block of this.blocks) release(block);
        this.blocks.length = 0;
        scratchTop = this.base;
    }
}

const encoder = new TextEncoder(), decoder = new TextDecoder();

export function stringAt(at) {
    if (at === 0) return "";
    refresh();
    const end = bytes.indexOf(0, at);
    return decoder.decode(bytes.slice(at, end)); // a copy: decoders refuse shared memory
}

function putString(frame, text, name) {
    if (text === null || text === undefined) return 0;
    if (typeof text !== "string") throw new TypeError(`${name} is a ${typeof text}; give a string`);
    if (text.includes("\0")) throw new TypeError(`${name} holds a zero character`);
    const encoded = encoder.encode(text), at = frame.takeRaw(encoded.length + 1);
    bytes.set(encoded, at);
    bytes[at + encoded.length] = 0;
    return at;
}

// ---- Types -----------------------------------------------------------------------------------------------------------

const SIZES = { b: 1, B: 1, d: 8, f: 4, i: 4, u: 4, q: 8, s: 4, E: 4, P: 4 };
const COLUMNS = { d: Float64Array, q: Float64Array, u: Uint32Array, i: Int32Array, b: Uint8Array, B: Uint8Array };
// Structs that are arrays of numbers in JavaScript, and how many; a pose is translation, then rotation.
const VECTORS = { Svec3: 3, Squat: 4, Spose: 7, Spair: 2 };

function sizeOf(type) {
    const star = type.indexOf("*");
    if (star > 0) return sizeOf(type.slice(0, star)) * Number(type.slice(star + 1));
    return type[0] === "S" ? STRUCTS[type.slice(1)][0] : SIZES[type[0]];
}

// Whether all that a struct has are doubles: then many of them are a Float64Array.
const flat = new Map();
function isFlat(type) {
    if (type === "d") return true;
    if (type[0] !== "S") return false;
    if (!flat.has(type)) flat.set(type, STRUCTS[type.slice(1)][1].every(([, field]) => isFlat(field.split("*")[0])));
    return flat.get(type);
}

export function integer(value, name, most = Number.MAX_SAFE_INTEGER) {
    if (typeof value !== "number" || !Number.isInteger(value)) {
        throw new TypeError(`${name} is ${show(value)}; give a whole number`);
    }
    if (value < 0 || value > most) throw new RangeError(`${name} is ${value}; give a number from 0 to ${most}`);
    return value;
}

export function real(value, name) {
    if (typeof value !== "number") throw new TypeError(`${name} is ${show(value)}; give a number`);
    return value;
}

export function show(value) {
    if (typeof value === "string") return JSON.stringify(value.slice(0, 40));
    if (value === null || typeof value !== "object") return String(value);
    return `a ${value.constructor?.name ?? "thing"}`;
}

function enumerator(kind, value, name) {
    const names = ENUMS[kind];
    const at = typeof value === "string" ? names.indexOf(value) : value;
    if (Number.isInteger(at) && at >= 0 && at < names.length) return at;
    throw new RangeError(`${name} is ${show(value)}; give one of ${names.map((n) => JSON.stringify(n)).join(", ")}`);
}

// Numbers of an array, a typed array or an array of arrays, as one typed array.
export function numbers(values, Type, name, width = 0) {
    let found = values;
    if (found instanceof Type) { /* as it is */ } else if (ArrayBuffer.isView(found) && !(found instanceof DataView)) {
        found = Type === Uint32Array ? checkedIndices(found, name) : Type.from(found, Number);
    } else if (Array.isArray(found)) {
        const list = found.flat(Infinity).map((value) => (value !== null && typeof value === "object" && "x" in value ?
            [value.x, value.y, value.z] : value)).flat();
        const bad = list.find((value) => typeof value !== "number");
        if (bad !== undefined) throw new TypeError(`${name} holds ${show(bad)}; give numbers`);
        found = Type === Uint32Array ? checkedIndices(list, name) : Type.from(list);
    } else {
        throw new TypeError(`${name} is ${show(values)}; give a ${Type.name} or an array`);
    }
    if (width > 0 && found.length % width !== 0) {
        throw new RangeError(`${name} has ${found.length} numbers; give a multiple of ${width}`);
    }
    return found;
}

function checkedIndices(list, name) {
    for (const value of list) {
        if (!Number.isInteger(value) || value < 0 || value > NONE) {
            throw new RangeError(`${name} holds ${show(value)}; give whole numbers from 0 to ${NONE}`);
        }
    }
    return Uint32Array.from(list);
}

export function vector(value, count, name) {
    let found = value;
    if (found !== null && typeof found === "object" && "x" in found) {
        found = count === 4 ? [found.w, found.x, found.y, found.z] : [found.x, found.y, found.z];
    }
    if (!(Array.isArray(found) || ArrayBuffer.isView(found)) || found.length !== count) {
        throw new TypeError(`${name} is ${show(value)}; give ${count} numbers`);
    }
    for (let i = 0; i < count; ++i) real(found[i], `${name}[${i}]`);
    return found;
}

// tx ty tz qw qx qy qz of a pose in any form.
export function poseOf(value, name = "pose") {
    if (value === null || value === undefined) return [0, 0, 0, 1, 0, 0, 0];
    if (value.isObject3D) {
        value.updateWorldMatrix?.(true, false);
        return poseOf(value.matrixWorld, name);
    }
    if (value.elements !== undefined && value.elements.length === 16) { // of three.js: column after column
        const e = value.elements;
        return poseOf([e[0], e[4], e[8], e[12], e[1], e[5], e[9], e[13], e[2], e[6], e[10], e[14]], name);
    }
    if (value.position !== undefined && value.quaternion !== undefined) {
        return [...vector(value.position, 3, `${name}.position`), ...vector(value.quaternion, 4, `${name}.quaternion`)];
    }
    if ("x" in Object(value)) return [...vector(value, 3, name), 1, 0, 0, 0];
    if (!(Array.isArray(value) || ArrayBuffer.isView(value))) {
        throw new TypeError(`${name} is ${show(value)}; give 3, 7, 12 or 16 numbers, or a matrix of three.js`);
    }
    const list = Array.isArray(value) ? value.flat() : value;
    for (let i = 0; i < list.length; ++i) real(list[i], `${name}[${i}]`);
    if (list.length === 3) return [...list, 1, 0, 0, 0];
    if (list.length === 7) return list;
    if (list.length === 12 || list.length === 16) {
        return invoke("poseFromMatrices", [Float64Array.from(list.slice(0, 12)), 3], { count: 1, poses: 1 }).at(0);
    }
    throw new RangeError(`${name} has ${list.length} numbers; give 3: a translation, 7: tx ty tz qw qx qy qz, 12 or 16: a ` +
        "matrix, row after row");
}

function putVector(type, at, value, name) {
    if (type === "Spose") {
        const [x, y, z, ...q] = poseOf(value, name);
        [...q, x, y, z].forEach((number, i) => view.setFloat64(at + 8 * i, number, true));
        return;
    }
    const found = vector(value, VECTORS[type], name);
    for (let i = 0; i < found.length; ++i) {
        if (type === "Spair") view.setUint32(at + 4 * i, integer(found[i], name, NONE), true);
        else view.setFloat64(at + 8 * i, found[i], true);
    }
}

export function put(frame, type, at, value, name) {
    const star = type.indexOf("*");
    if (star > 0) {
        const item = type.slice(0, star), count = Number(type.slice(star + 1));
        if (value === undefined) return;
        if (!(Array.isArray(value) || ArrayBuffer.isView(value)) || value.length !== count) {
            throw new TypeError(`${name} is ${show(value)}; give ${count} items`);
        }
        const list = value;
        for (let i = 0; i < count; ++i) put(frame, item, at + i * sizeOf(item), list[i], name);
        return;
    }
    switch (type[0]) {
        case "S": putStruct(frame, type, at, value, name); break;
        case "E": view.setInt32(at, enumerator(type.slice(1), value, name), true); break;
        case "b": bytes[at] = value ? 1 : 0; break;
        case "B": bytes[at] = integer(value, name, 255); break;
        case "d": view.setFloat64(at, real(value, name), true); break;
        case "u": view.setUint32(at, value === null ? NONE : integer(value, name, NONE), true); break;
        case "i": view.setInt32(at, value, true); break;
        case "q": view.setBigUint64(at, BigInt(integer(value, name)), true); break;
        case "s": view.setUint32(at, putString(frame, value, name), true); break;
        case "P": view.setUint32(at, value instanceof Handle ? value.pointer : value, true); break;
        default: throw new CaromError(`no type ${type}`);
    }
}

// The fields of an object that a struct has; others are a mistake.
function putStruct(frame, type, at, value, name) {
    if (type in VECTORS) return putVector(type, at, value, name);
    if (value === null || typeof value !== "object") throw new TypeError(`${name} is ${show(value)}; give an object`);
    if (value.struct === type) { // such as a Convex, which is in memory
        bytes.copyWithin(at, value.address, value.address + sizeOf(type));
        return undefined;
    }
    const fields = STRUCTS[type.slice(1)][1];
    for (const key of Object.keys(value)) {
        if (!fields.some(([field]) => field === key)) {
            throw new TypeError(`${name} has no ${JSON.stringify(key)}; it has ${fields.map(([field]) => field).join(", ")}`);
        }
    }
    for (const [field, kind, offset] of fields) {
        if (value[field] !== undefined) put(frame, kind, at + offset, value[field], field);
    }
    return undefined;
}

function get(type, at) {
    const star = type.indexOf("*");
    if (star > 0) {
        const item = type.slice(0, star), size = sizeOf(item);
        return Array.from({ length: Number(type.slice(star + 1)) }, (_, i) => get(item, at + i * size));
    }
    switch (type[0]) {
        case "S": return getStruct(type, at);
        case "E": return ENUMS[type.slice(1)][view.getInt32(at, true)];
        case "b": return bytes[at] !== 0;
        case "B": return bytes[at];
        case "d": return view.getFloat64(at, true);
        case "u": return view.getUint32(at, true);
        case "i": return view.getInt32(at, true);
        case "q": return Number(view.getBigUint64(at, true));
        case "s": return stringAt(view.getUint32(at, true));
        default: return view.getUint32(at, true);
    }
}

// A single number that says "none" is null, as in face and sphere; those of filters are bits.
function getStruct(type, at) {
    if (type === "Spose") {
        const f = (i) => view.getFloat64(at + 8 * i, true);
        return [f(4), f(5), f(6), f(0), f(1), f(2), f(3)];
    }
    if (type in VECTORS) return STRUCTS[type.slice(1)][1].map(([, kind, offset]) => get(kind, at + offset));
    const found = {};
    for (const [field, kind, offset] of STRUCTS[type.slice(1)][1]) {
        if (kind[0] === "P") continue;
        const value = get(kind, at + offset);
        found[field] = kind === "u" && value === NONE && type !== "SbroadFilter" ? null : value;
    }
    if (type === "SconvexManifold") found.points.length = found.count;
    if (type === "SsceneContact") found.points.length = found.pointCount;
    return found;
}

// ---- Many records ----------------------------------------------------------------------------------------------------

// Records in columns: a typed array per field, three numbers per record for a vector; `at(i)` and iteration give objects.
export class Records {
    #type;
    #copy;

    constructor(type, address, count) {
        this.#type = type;
        this.length = count;
        this.#copy = count > 0 ? bytes.slice(address, address + count * sizeOf(type)) : new Uint8Array(0);
        fillColumns(this, type, new DataView(this.#copy.buffer), 0, sizeOf(type), count);
    }

    at(index) {
        const i = index < 0 ? this.length + index : index;
        if (!(i >= 0 && i < this.length)) return undefined;
        return over(this.#copy, () => getStruct(this.#type, i * sizeOf(this.#type)));
    }

    *[Symbol.iterator]() {
        for (let i = 0; i < this.length; ++i) yield this.at(i);
    }
}

// Reads another buffer than the module's memory.
function over(buffer, read) {
    const [before, viewBefore] = [bytes, view];
    bytes = buffer;
    view = new DataView(buffer.buffer);
    try {
        return read();
    } finally {
        bytes = before;
        view = viewBefore;
    }
}

function fillColumns(into, type, from, offset, stride, count) {
    if (type === "Spose") { // as everywhere: translation first
        const column = new Float64Array(7 * count), order = [4, 5, 6, 0, 1, 2, 3];
        for (let i = 0; i < column.length; ++i) {
            column[i] = from.getFloat64(Math.floor(i / 7) * stride + offset + 8 * order[i % 7], true);
        }
        into.pose = column;
        return;
    }
    for (const [field, kind, at] of STRUCTS[type.slice(1)][1]) {
        const [item, times] = kind.split("*"), many = Number(times ?? 1);
        if (item in VECTORS && item !== "Spose") {
            into[field] = column(item === "Spair" ? "u" : "d", VECTORS[item] * many, from, offset + at, stride, count);
        } else if (item === "Spose") {
            const inner = {};
            fillColumns(inner, item, from, offset + at, stride, count);
            into[field] = inner.pose;
        } else if (item[0] === "S") {
            if (times !== undefined) continue; // lists in records: at(i) has them
            into[field] = {};
            fillColumns(into[field], item, from, offset + at, stride, count);
        } else if (item[0] === "E") {
            const names = ENUMS[item.slice(1)];
            into[field] = Array.from({ length: count }, (_, i) => names[from.getInt32(i * stride + offset + at, true)]);
        } else if (item in COLUMNS) {
            into[field] = column(item, many, from, offset + at, stride, count);
        }
    }
}

const READERS = {
    d: (from, at) => from.getFloat64(at, true), u: (from, at) => from.getUint32(at, true),
    i: (from, at) => from.getInt32(at, true), b: (from, at) => from.getUint8(at), B: (from, at) => from.getUint8(at),
    q: (from, at) => Number(from.getBigUint64(at, true)),
};

function column(item, width, from, offset, stride, count) {
    const found = new COLUMNS[item](width * count), size = SIZES[item], read = READERS[item];
    for (let i = 0, k = 0; i < count; ++i) {
        for (let j = 0; j < width; ++j) found[k++] = read(from, i * stride + offset + j * size);
    }
    return found;
}

// Structs of doubles of which many are one Float64Array when they come out.
const NUMBERS = new Set(["Svec3", "Sbounds", "Sball", "SgasSphere"]);

// Items of C as numbers or records, copied.
function takeItems(type, at, count) {
    const Type = NUMBERS.has(type) ? Float64Array : type === "Spair" ? Uint32Array : COLUMNS[type];
    if (Type !== undefined && type !== "b") {
        const size = count * sizeOf(type);
        return new Type(bytes.slice(at, at + size).buffer);
    }
    if (type === "b") return Array.from(bytes.subarray(at, at + count), (value) => value !== 0);
    return posesOrRecords(type, at, count);
}

// Poses are seven numbers each, in an array of their own; all else are records.
function posesOrRecords(type, at, count) {
    if (type !== "Spose") return new Records(type, at, count);
    const list = Array.from({ length: count }, (_, i) => getStruct(type, at + 56 * i));
    const found = Float64Array.from(list.flat());
    return Object.assign(found, { at: (i) => list[i] });
}

// ---- Calls -----------------------------------------------------------------------------------------------------------

export function ready() {
    if (wasm === null) throw new InvalidError("carom is not loaded: await init() first", "invalid");
    if (broken !== null) {
        throw new CaromError(`the module stopped in an earlier call (${broken.message}); load the page or process again`);
    }
    return wasm;
}

function putItems(frame, type, value, name) {
    if (type === "B") {
        const data = value instanceof ArrayBuffer ? new Uint8Array(value) : value;
        if (!ArrayBuffer.isView(data)) throw new TypeError(`${name} are ${show(value)}; give an ArrayBuffer or Uint8Array`);
        const as = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
        return [frame.copy(as), as.length];
    }
    if (type === "u" || type === "Spair") {
        const given = numbers(value, Uint32Array, name, type === "u" ? 0 : 2);
        return [frame.copy(given), given.length / (type === "u" ? 1 : 2)];
    }
    if (isFlat(type) && type !== "Spose" && !(Array.isArray(value) && isRecord(value[0]))) {
        const width = sizeOf(type) / 8, given = numbers(value, Float64Array, name, width);
        return [frame.copy(given), given.length / width];
    }
    if (value instanceof Items) return [value.address, value.count];
    if (!Array.isArray(value)) throw new TypeError(`${name} is ${show(value)}; give an array`);
    const size = sizeOf(type), at = frame.take(size * value.length);
    value.forEach((item, i) => put(frame, type, at + i * size, item, `${name}[${i}]`));
    return [at, value.length];
}

function isRecord(value) {
    return value !== null && typeof value === "object" && !Array.isArray(value) && !ArrayBuffer.isView(value) && !("x" in value);
}

// Structs that a class has put into memory itself.
export class Items {
    constructor(address, count) {
        this.address = address;
        this.count = count;
    }
}

// Takes out of a frame what invoke() cannot know: items of batches, meshes.
export function makeItems(frame, type, count, fill) {
    const size = sizeOf(type), at = frame.takeRaw(size * count);
    bytes.fill(0, at, at + size * count);
    for (let i = 0; i < count; ++i) fill(at + i * size, i);
    return new Items(at, count);
}

export function putField(frame, struct, at, field, value) {
    const [, kind, offset] = STRUCTS[struct][1].find(([name]) => name === field);
    put(frame, kind, at + offset, value, field);
}

export function setBytes(at, array) {
    bytes.set(array, at);
}

// Calls a function of C with what the caller gives; `known` are lengths of outputs that no input tells. `frame` may hold
// what was put into memory for this call.
export function invoke(name, given = [], known = {}, frame = new Frame()) {
    ready();
    if (busy) {
        frame.end();
        throw new InvalidError("a callback uses the module during the call that it is called from", "invalid");
    }
    const [returns, params] = FUNCTIONS[name];
    const counters = new Set(params.filter((p) => typeof p[3] === "string").map((p) => p[3]));
    const counts = { ...known }, slots = new Array(params.length), outs = [], called = [];
    let next = 0, callback = 0;
    refresh();
    try {
        params.forEach(([kind, param, type, length], i) => { // what goes in, which tells the lengths
            switch (kind[0]) {
                case "c": slots[i] = context; break;
                case "h": {
                    const handle = given[next++];
                    if (!(handle instanceof Handle) || handle.kind !== type) {
                        throw new TypeError(`${param} is ${show(handle)}; give a ${type}`);
                    }
                    slots[i] = handle.pointer;
                    break;
                }
                case "s": slots[i] = putString(frame, given[next++], param); break;
                case "v":
                    if (!counters.has(param)) slots[i] = valueOf(type, given[next++], param);
                    break;
                case "f": {
                    const fn = given[next++];
                    callback = fn ? register(fn, param, called) : 0;
                    slots[i] = fn ? wasm.exports[`carom_js_${snake(type)}`]() : 0;
                    break;
                }
                case "z": slots[i] = callback; break;
                case "i": {
                    if (kind === "io") {
                        slots[i] = given[next++];
                        break;
                    }
                    const value = given[next++];
                    if (value === null || value === undefined) {
                        if (!kind.endsWith("?")) throw new TypeError(`${param} is missing`);
                        slots[i] = 0;
                    } else if (length !== undefined && !isInMemory(value, type)) {
                        const [at, count] = putItems(frame, type, value, param);
                        if (typeof length === "number") {
                            if (count * (sizeOf(type) / 8) !== length && count !== length) {
                                throw new RangeError(`${param} has ${count} items; give ${length}`);
                            }
                        } else if (counts[length] === undefined) counts[length] = count;
                        else if (counts[length] !== count && known[length] === undefined) {
                            throw new RangeError(`${param} has ${count} items where there are ${counts[length]} others`);
                        }
                        slots[i] = at;
                    } else {
                        slots[i] = putOne(frame, type, value, param);
                    }
                    break;
                }
                default: break;
            }
        });
        params.forEach(([kind, param, type, length], i) => { // what comes out
            if (kind[0] === "v" && counters.has(param)) {
                slots[i] = type === "q" ? BigInt(counts[param] ?? 0) : counts[param] ?? 0;
            } else if (kind[0] === "n") {
                slots[i] = frame.take(4);
                outs.push(() => view.getUint32(slots[i], true));
            } else if (kind[0] === "o") {
                const count = known[param] ?? (typeof length === "number" ? length : counts[length]);
                slots[i] = frame.takeRaw(sizeOf(type) * (count ?? 1));
                outs.push(() => (count === undefined ? single(type, slots[i]) : takeItems(type, slots[i], count)));
            } else if (kind[0] === "r") {
                slots[i] = frame.take(32);
                outs.push(() => takeResult(type, slots[i]));
            }
        });
        const answer = run(name, slots);
        if (returns === "S" && answer !== 0) {
            const status = ENUMS.status[answer];
            throw errorOf(status, status === "invalid" ? bug : stringAt(wasm.exports.carom_context_message(context)));
        }
        const found = outs.map((out) => out());
        if (returns === "s") return stringAt(answer);
        if (returns === "b") return answer !== 0;
        if (returns === "q") return answer;
        if (returns[0] === "E") return ENUMS[returns.slice(1)][answer];
        if (returns !== "S" && returns !== "") return answer;
        return found.length > 1 ? found : found[0];
    } finally {
        if (broken === null) {
            params.forEach(([kind, , type], i) => {
                if (kind[0] === "r" && slots[i]) wasm.exports[`carom_${snake(type)}_free`](slots[i]);
            });
            frame.end();
        }
        for (const key of called) callbacks.delete(key);
        while (waiting.length > 0 && broken === null) destroy(waiting.pop());
    }
}

function single(type, at) {
    const value = get(type, at);
    return type === "u" && value === NONE ? null : value;
}

function isInMemory(value, type) { // a struct that is one thing although C takes several
    return type[0] === "S" && value instanceof Place;
}

// The address of something that a class has put into memory.
export class Place {
    constructor(address) {
        this.address = address;
    }
}

function putOne(frame, type, value, name) {
    if (value instanceof Place) return value.address;
    const at = frame.take(sizeOf(type));
    put(frame, type, at, value, name);
    return at;
}

function valueOf(type, value, name) {
    switch (type[0]) {
        case "E": return enumerator(type.slice(1), value ?? 0, name);
        case "d": return real(value ?? 0, name);
        case "b": return value ? 1 : 0;
        case "q": return BigInt(integer(value ?? 0, name));
        default: return integer(value ?? 0, name, NONE);
    }
}

const snakes = new Map();
export function snake(name) {
    if (!snakes.has(name)) snakes.set(name, name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));
    return snakes.get(name);
}

const functions = new Map(); // C's names have digits after an underscore, too
function functionOf(name) {
    if (!functions.has(name)) {
        const wanted = name.toLowerCase();
        const found = Object.keys(wasm.exports).find((key) => key.startsWith("carom_") &&
            key.slice(6).replaceAll("_", "") === wanted);
        if (found === undefined) throw new CaromError(`this module has no ${name}`);
        functions.set(name, wasm.exports[found]);
    }
    return functions.get(name);
}

function run(name, slots) {
    const call = functionOf(name);
    busy = true;
    raised = null;
    bug = "";
    let answer;
    try {
        answer = call(...slots);
    } catch (error) {
        broken = error;
        throw new CaromError(`the module stopped (${error.message}): please report it. It can take no further calls`);
    } finally {
        busy = false;
        refresh();
    }
    if (raised !== null) {
        const { error } = raised;
        raised = null;
        throw error;
    }
    return answer;
}

function takeResult(type, at) {
    const data = view.getUint32(at, true), count = Number(view.getBigUint64(at + 8, true));
    return takeItems(RESULTS[type], data, count);
}

// ---- Callbacks -------------------------------------------------------------------------------------------------------

export function register(fn, name, called) {
    if (typeof fn !== "function") throw new TypeError(`${name} is ${show(fn)}; give a function`);
    const key = nextCallback++;
    callbacks.set(key, fn);
    called?.push(key);
    return key;
}

export function unregister(key) {
    callbacks.delete(key);
}

export function callbackAddress(type) {
    return wasm.exports[`carom_js_${type}`]();
}

// Calls a function; what it throws is kept, and `failed` returned, then and from then on.
function guarded(user, failed, call) {
    if (raised !== null) return failed;
    try {
        refresh();
        const fn = callbacks.get(user);
        const answer = call(fn);
        refresh();
        return answer;
    } catch (error) {
        raised = { error };
        return failed;
    }
}

const imports = {
    assert(where, message) {
        bug = `${stringAt(where)}: ${stringAt(message)}`;
    },
    progress(_user, what, fraction) {
        if (progress === null) return 0;
        if (raised !== null) return 1;
        try {
            return progress(stringAt(what), fraction) ? 1 : 0;
        } catch (error) {
            raised = { error };
            return 1;
        }
    },
    pairs: (user, at, count) => guarded(user, 1, (fn) => (fn(takeItems("Spair", at, count)) ? 1 : 0)),
    accept: (user, a, b) => guarded(user, 0, (fn) => (fn(a >>> 0, b >>> 0) ? 1 : 0)),
    event: (user, at) => guarded(user, 1, (fn) => (fn(getStruct("SgasEvent", at)) ? 1 : 0)),
    response: (user, event, normal, a, b) => guarded(user, undefined, (fn) => {
        const spheres = [a, b].map((at) => (at === 0 ? null : getStruct("SgasSphere", at)));
        fn(getStruct("SgasEvent", event), get("Svec3", normal), ...spheres);
        [a, b].forEach((at, i) => {
            if (at !== 0) putVector("Svec3", at + 24, spheres[i].velocity, "velocity");
        });
    }),
    support: (user, direction, point) => guarded(user, undefined, (fn) => {
        putVector("Svec3", point, fn(get("Svec3", direction)), "what the support function returns");
    }),
};

// ---- Structures ------------------------------------------------------------------------------------------------------

function destroy({ kind, pointer }) {
    if (busy) waiting.push({ kind, pointer });
    else if (broken === null) wasm.exports[`carom_${snake(kind)}_destroy`](pointer);
}

const registry = typeof FinalizationRegistry === "undefined" ? null : new FinalizationRegistry(destroy);

// Owns a structure of the library. free() gives its memory back now; otherwise that happens some time after it was
// dropped.
export class Handle {
    #pointer;
    #lent = 0; // scenes that borrow it

    constructor(kind, pointer) {
        this.kind = kind;
        this.#pointer = pointer;
        registry?.register(this, { kind, pointer }, this);
    }

    get pointer() {
        if (this.#pointer === 0) throw new InvalidError(`this ${this.constructor.name} was freed`, "invalid");
        return this.#pointer;
    }

    get freed() {
        return this.#pointer === 0;
    }

    free() {
        if (this.#pointer === 0) return;
        this.mayChange();
        registry?.unregister(this);
        destroy({ kind: this.kind, pointer: this.#pointer });
        this.#pointer = 0;
    }

    mayChange() {
        if (this.#lent > 0) {
            throw new InvalidError(`this ${this.constructor.name} is part of a scene: remove it there, step, and change it then`,
                "invalid");
        }
        return this;
    }

    lend(by) {
        this.#lent += by;
    }

    [Symbol.dispose ?? Symbol("dispose")]() {
        this.free();
    }
}

// A structure that a call has made, for the constructor of its class.
export class Made {
    constructor(pointer) {
        this.pointer = pointer;
    }
}

// Memory of a struct that stays, such as a hint.
export class Kept {
    #address;

    constructor(type) {
        ready();
        this.struct = type;
        this.#address = allocate(sizeOf(type));
        bytes.fill(0, this.#address, this.#address + sizeOf(type));
        keptRegistry?.register(this, this.#address, this);
    }

    get address() {
        if (this.#address === 0) throw new InvalidError(`this ${this.constructor.name} was freed`, "invalid");
        return this.#address;
    }

    fill(value) {
        const frame = new Frame();
        refresh();
        try {
            put(frame, this.struct, this.address, value, this.constructor.name);
        } finally {
            frame.end();
        }
    }

    clear() {
        refresh();
        bytes.fill(0, this.address, this.address + sizeOf(this.struct));
    }

    free() {
        if (this.#address === 0) return;
        keptRegistry?.unregister(this);
        release(this.#address);
        this.#address = 0;
    }
}
const keptRegistry = typeof FinalizationRegistry === "undefined" ? null : new FinalizationRegistry((at) => release(at));

// ---- Loading ---------------------------------------------------------------------------------------------------------

// Loads the module, once. `threads`: of the module with threads, 0 for one per processor; 1, the default, takes the module
// without. `module`: where to take it from instead (a URL, bytes or a WebAssembly.Module).
export function init(options = {}) {
    loading ??= start(options).catch((error) => {
        loading = null;
        throw error;
    });
    return loading;
}

async function start({ threads = 1, module } = {}) {
    wasm = await loadModule({ threads, module, imports });
    wasm.exports.carom_js_start();
    const found = wasm.exports.carom_abi();
    if (found !== ABI) throw new CaromError(`the module has ABI ${found}, and this package was made for ABI ${ABI}`);
    refresh();
    scratch = allocate(SCRATCH_BYTES);
    const frame = new Frame(), def = frame.take(sizeOf("ScontextDef")), out = frame.take(4);
    putField(frame, "contextDef", def, "threads", wasm.threads);
    putField(frame, "contextDef", def, "progress", callbackAddress("progress_fn"));
    const status = wasm.exports.carom_context_create_abi(ABI, def, out);
    refresh();
    frame.end();
    if (status !== 0) throw errorOf(ENUMS.status[status], stringAt(wasm.exports.carom_context_message(0)));
    context = view.getUint32(out, true);
}

// A function of (what, fraction) that long calls tell their progress; it returns true to cancel. null: none.
export function setProgress(fn) {
    if (fn !== null && typeof fn !== "function") throw new TypeError(`progress is ${show(fn)}; give a function or null`);
    progress = fn;
}

// Threads in use, bytes of the module's memory and of its scratch.
export function info() {
    ready();
    refresh();
    const frame = new Frame(), at = frame.take(sizeOf("ScontextInfo"));
    wasm.exports.carom_context_get_info(context, at);
    refresh();
    const { threads, scratchBytes } = getStruct("ScontextInfo", at);
    frame.end();
    return { threads, scratchBytes, memoryBytes: wasm.memory.buffer.byteLength };
}

// Counts of the work of the last query.
export function work() {
    ready();
    refresh();
    const frame = new Frame(), at = frame.take(sizeOf("Swork"));
    wasm.exports.carom_context_get_work(context, at);
    const found = getStruct("Swork", at);
    frame.end();
    return found;
}

// Frees the scratch memory of the context.
export function trim() {
    invoke("contextTrim");
}

// How the module was built.
export function build() {
    const at = invoke("buildGet") >>> 0;
    return getStruct("Sbuild", at);
}

// For tests: the names that the library gives to the values of an enum.
export function nameOf(kind, number) {
    return stringAt(functionOf(`${kind}Name`)(number));
}
