// SPDX-License-Identifier: MIT
// A thread of the library: an instance of the module on the shared memory, which stays in carom_wasm_thread.
import { importsOf } from "./loader.js";

function run({ module, memory, slot, tls, stack }) {
    const none = new Proxy({}, { get: (_, name) => () => { throw new Error(`${String(name)}: a callback in a thread`); } });
    const imports = importsOf(module, none, () => memory);
    imports.env.memory = memory;
    const { exports } = new WebAssembly.Instance(module, imports);
    exports.__stack_pointer.value = stack;
    exports.__wasm_init_tls(tls);
    exports.carom_wasm_thread(slot);
}

if (typeof process !== "undefined" && process.versions?.node !== undefined) {
    const { workerData } = await import("node:worker_threads");
    run(workerData);
} else {
    addEventListener("message", ({ data }) => run(data), { once: true });
}
