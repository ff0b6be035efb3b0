// SPDX-License-Identifier: MIT
// Compiles and instantiates the module, with the few functions of WASI that it needs, in a browser and in Node. With
// threads it makes the shared memory and starts a worker per further thread (thread.js).
import { HERE } from "./locate.js";
import { CaromError } from "./errors.js";

const IS_NODE = typeof process !== "undefined" && process.versions?.node !== undefined;
const PAGE = 65536;
const STACK_BYTES = 1 << 20; // as the first thread has (cmake/wasm_module.cmake)
const WASI_NO_SYSTEM_CALL = 52;

// An inlined package puts the bytes here.
export const inlined = { bytes: null };

async function bytesOf(name, module) {
    if (module instanceof ArrayBuffer || ArrayBuffer.isView(module)) return module;
    if (module === undefined && inlined.bytes !== null && name === "carom.wasm") return inlined.bytes();
    const url = new URL(module ?? name, HERE);
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
    if (threads === 1) {
        const compiled = module instanceof WebAssembly.Module ? module :
            await WebAssembly.compile(await bytesOf("carom.wasm", module));
        let exports = null;
        const instance = await WebAssembly.instantiate(compiled, importsOf(compiled, imports, () => exports.memory));
        exports = instance.exports;
        exports._initialize?.();
        return { exports, memory: exports.memory, threads: 1 };
    }
    return loadThreads(threads, module, imports);
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
    const compiled = module instanceof WebAssembly.Module ? module :
        await WebAssembly.compile(await bytesOf("carom-threads.wasm", module));
    const memory = sharedMemory();
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

// As much as the system gives addresses for: 4 GiB, or a part of it.
function sharedMemory() {
    for (let maximum = 65536; ; maximum /= 2) {
        try {
            return new WebAssembly.Memory({ initial: 512, maximum, shared: true });
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
