// SPDX-License-Identifier: MIT
// Compiles and instantiates the module, with the few functions of WASI that it needs, in a browser and in Node. With
// threads it makes the shared memory and starts a worker per further thread (thread.js).
//
// There is one module. It was compiled for memory that is shared; for one thread it is compiled for memory that is not, which
// every page may have: one bit of the module says which. Its atomic instructions work on either.
import { HERE } from "./locate.js";
import { CaromError } from "./errors.js";

const IS_NODE = typeof process !== "undefined" && process.versions?.node !== undefined;
const INITIAL_PAGES = 64; // of 64 KiB; the data and the stack take a third of it
const STACK_BYTES = 1 << 20; // as the first thread has (cmake/wasm_module.cmake)
const WASI_NO_SYSTEM_CALL = 52;

// An inlined package puts the bytes here.
export const inlined = { bytes: null };

async function bytesOf(module) {
    if (module instanceof ArrayBuffer || ArrayBuffer.isView(module)) return module;
    if (module === undefined && inlined.bytes !== null) return inlined.bytes();
    const url = new URL(module ?? "carom.wasm", HERE);
    if (IS_NODE && url.protocol === "file:") {
        const { readFile } = await import("node:fs/promises");
        return readFile(url);
    }
    const response = await fetch(url);
    if (!response.ok) throw new CaromError(`${url}: ${response.status} ${response.statusText}`);
    return response.arrayBuffer();
}

// The clock, and writing to the console: what a module without files has of WASI.
export function wasi(memory) {
    const view = () => new DataView(memory().buffer);
    const origin = performance.timeOrigin ?? 0;
    return {
        clock_time_get(id, _precision, at) {
            const now = performance.now() + (id === 0 ? origin : 0);
            view().setBigUint64(at, BigInt(Math.round(now * 1e6)), true);
            return 0;
        },
        fd_write(file, pieces, count, written) {
            let text = "", total = 0;
            for (let i = 0; i < count; ++i) {
                const at = view().getUint32(pieces + 8 * i, true), size = view().getUint32(pieces + 8 * i + 4, true);
                text += new TextDecoder().decode(new Uint8Array(memory().buffer).slice(at, at + size));
                total += size;
            }
            (file === 2 ? console.error : console.log)(text.replace(/\n$/, ""));
            view().setUint32(written, total, true);
            return 0;
        },
        environ_sizes_get(count, size) {
            view().setUint32(count, 0, true);
            view().setUint32(size, 0, true);
            return 0;
        },
        environ_get: () => 0,
        proc_exit(code) {
            throw new CaromError(`the module ended itself with ${code}`);
        },
    };
}

// All functions that a module asks for: ours, those above, and an error for the rest.
export function importsOf(module, own, memory) {
    const system = wasi(memory), found = { carom: {}, wasi_snapshot_preview1: {}, env: {} };
    for (const { module: from, name, kind } of WebAssembly.Module.imports(module)) {
        if (kind !== "function") continue;
        found[from] ??= {};
        found[from][name] = from === "carom" ? own[name] : system[name] ?? (() => WASI_NO_SYSTEM_CALL);
    }
    return found;
}

export async function loadModule({ threads, module, imports }) {
    return threads === 1 ? loadAlone(module, imports) : loadThreads(threads, module, imports);
}

async function loadAlone(module, imports) {
    const compiled = module instanceof WebAssembly.Module ? module : await WebAssembly.compile(unshared(await bytesOf(module)));
    const memory = importsMemory(compiled) ? memoryFor(module) : null; // code without threads has its own
    let exports = null;
    const given = importsOf(compiled, imports, () => memory ?? exports.memory);
    if (memory !== null) given.env.memory = memory;
    exports = (await WebAssembly.instantiate(compiled, given)).exports;
    if (memory !== null) exports.__wasm_init_tls(tlsBlock(exports));
    exports._initialize?.();
    return { exports, memory: memory ?? exports.memory, threads: 1 };
}

function importsMemory(compiled) {
    return WebAssembly.Module.imports(compiled).some(({ kind }) => kind === "memory");
}

// A module that the caller compiled has the memory that it was made for, which is shared.
function memoryFor(module) {
    return largestMemory(module instanceof WebAssembly.Module);
}

// The module with memory that is not shared, where it imports a shared one: flags 3, "shared, with a maximum", become 1.
export function unshared(given) {
    const bytes = new Uint8Array(given.buffer ?? given, given.byteOffset ?? 0, given.byteLength);
    let at = 8; // after the magic number and the version
    const number = () => { // LEB128
        for (let value = 0, shift = 0; ; shift += 7) {
            const byte = bytes[at++];
            value += (byte & 127) * 2 ** shift;
            if (!(byte & 128)) return value;
        }
    };
    while (at < bytes.length) {
        const section = bytes[at++], size = number(), end = at + size;
        if (section !== 2) { // imports come before all that is long
            at = end;
            continue;
        }
        for (let count = number(); count > 0; --count) {
            for (let name = 0; name < 2; ++name) {
                const length = number();
                at += length;
            }
            const kind = bytes[at++];
            if (kind === 2 && bytes[at] === 3) {
                const changed = bytes.slice();
                changed[at] = 1;
                return changed;
            }
            if (kind === 0) number(); // a function's type
            else break; // no other import comes before the memory
        }
        break;
    }
    return bytes;
}

// Whether this page or process may share memory between threads.
export function canShare() {
    return typeof SharedArrayBuffer !== "undefined" && (IS_NODE || globalThis.crossOriginIsolated === true);
}

async function loadThreads(wanted, module, imports) {
    if (!canShare()) {
        throw new CaromError("threads need shared memory, which this page does not have: its server must send " +
            "Cross-Origin-Opener-Policy: same-origin and Cross-Origin-Embedder-Policy: require-corp");
    }
    const count = wanted > 0 ? wanted : Math.min(256, await processors());
    const compiled = module instanceof WebAssembly.Module ? module : await WebAssembly.compile(await bytesOf(module));
    if (!importsMemory(compiled)) throw new CaromError("this module was built without threads: init({ threads: 1 })");
    const memory = largestMemory(true);
    const given = importsOf(compiled, imports, () => memory);
    given.env.memory = memory;
    const { exports } = await WebAssembly.instantiate(compiled, given);
    exports.__wasm_init_tls(tlsBlock(exports));
    exports._initialize?.();
    exports.carom_wasm_may_wait(IS_NODE || typeof document === "undefined" ? 1 : 0); // the thread of a page must not sleep
    const workers = await Promise.all(Array.from({ length: count - 1 }, (_, slot) =>
        startThread({ module: compiled, memory, slot, tls: tlsBlock(exports), stack: stackBlock(exports) })));
    while (exports.carom_wasm_threads() < count - 1) await new Promise((resolve) => setTimeout(resolve, 1));
    return { exports, memory, threads: count, workers };
}

async function processors() {
    if (!IS_NODE) return navigator.hardwareConcurrency ?? 1;
    const { availableParallelism, cpus } = await import("node:os");
    return availableParallelism?.() ?? cpus().length;
}

// May grow as far as the system gives addresses for: to 4 GiB, or a part of it.
function largestMemory(shared) {
    for (let maximum = 65536; ; maximum /= 2) {
        try {
            return new WebAssembly.Memory({ initial: INITIAL_PAGES, maximum, shared });
        } catch (error) {
            if (maximum <= 4096) throw error;
        }
    }
}

function tlsBlock(exports) {
    return exports.carom_js_allocate(exports.__tls_size.value + exports.__tls_align.value) >>> 0;
}

function stackBlock(exports) {
    return (exports.carom_js_allocate(STACK_BYTES) >>> 0) + STACK_BYTES;
}

async function startThread(data) {
    const url = new URL("thread.js", HERE);
    if (IS_NODE) {
        const { Worker } = await import("node:worker_threads");
        const worker = new Worker(url, { workerData: data });
        worker.unref(); // a thread that waits does not keep the process
        return worker;
    }
    const worker = new Worker(url, { type: "module" });
    worker.postMessage(data);
    return worker;
}
