// SPDX-License-Identifier: MIT
// The package in a worker, so that a page stays alive during long work: every call is a promise, with progress and cancel.
//
//     const carom = await startWorker();
//     const soup = await carom.create("Soup", mesh);
//     const job = soup.selfPairs();                        // a promise
//     job.onProgress = (what, fraction) => ...;
//     job.cancel();                                        // it is rejected with Cancelled
//     carom.end();
//
// Where memory can be shared, cancelling sets a word that the progress callback reads; the worker and its structures stay.
// Elsewhere a worker that computes cannot be reached: cancelling ends it and starts another, and what was created in it is
// gone, which its objects then say.
import { Cancelled, errorFrom, InvalidError } from "./errors.js";
import { canShare } from "./loader.js";
import { HERE } from "./locate.js";

const IS_NODE = typeof process !== "undefined" && process.versions?.node !== undefined;

async function newWorker(url) {
    if (IS_NODE) {
        const { Worker } = await import("node:worker_threads");
        const worker = new Worker(url);
        return { post: (data, list) => worker.postMessage(data, list), end: () => worker.terminate(),
                 onMessage: (fn) => worker.on("message", fn), onError: (fn) => worker.on("error", fn) };
    }
    const worker = new Worker(url, { type: "module" });
    return { post: (data, list) => worker.postMessage(data, list ?? []), end: () => worker.terminate(),
             onMessage: (fn) => worker.addEventListener("message", ({ data }) => fn(data)),
             onError: (fn) => worker.addEventListener("error", (event) => fn(new Error(event.message ?? "the worker failed"))) };
}

class RemoteModule {
    #options;
    #worker = null;
    #jobs = new Map();
    #next = 1;
    #generation = 0; // of the worker; objects of an earlier one are gone
    #flag = canShare() ? new Int32Array(new SharedArrayBuffer(4)) : null; // the job to be cancelled

    constructor(options) {
        this.#options = options;
    }

    async start() {
        this.#worker = await newWorker(this.#options.url ?? new URL("worker.js", HERE));
        const generation = ++this.#generation;
        this.#worker.onMessage((message) => this.#receive(message));
        this.#worker.onError((error) => {
            if (generation === this.#generation) this.#fail(error);
        });
        const { url, ...options } = this.#options;
        await this.send({ do: "init", options, flag: this.#flag });
    }

    get generation() {
        return this.#generation;
    }

    #receive({ id, what, fraction, answer, error }) {
        const job = this.#jobs.get(id);
        if (job === undefined) return;
        if (what !== undefined) {
            job.promise.onProgress?.(what, fraction);
            return;
        }
        this.#jobs.delete(id);
        if (error !== undefined) job.reject(errorFrom(error));
        else job.resolve(job.wrap(answer));
    }

    #fail(error) {
        for (const job of this.#jobs.values()) job.reject(error);
        this.#jobs.clear();
    }

    send(message, wrap = (answer) => answer, transfer = []) {
        const id = this.#next++;
        let job;
        const promise = new Promise((resolve, reject) => { job = { resolve, reject, wrap }; });
        promise.onProgress = null;
        promise.cancel = () => this.#cancel(id);
        job.promise = promise;
        this.#jobs.set(id, job);
        this.#worker.post({ id, ...message }, transfer);
        return promise;
    }

    #cancel(id) {
        const job = this.#jobs.get(id);
        if (job === undefined) return;
        if (this.#flag !== null) {
            Atomics.store(this.#flag, 0, id);
            this.#worker.post({ do: "cancel", id }); // if it has not begun
            return;
        }
        this.#worker.end();
        this.#fail(new Cancelled("the call was cancelled", "cancelled"));
        this.start().catch((error) => this.#fail(error));
    }

    end() {
        this.#worker.end();
        this.#fail(new InvalidError("the worker was ended", "invalid"));
    }
}

// A structure in a worker: its methods are those of the class, and give promises; properties are functions.
function remoteObject(module, key, kind) {
    const generation = module.generation;
    const target = { free: () => module.send({ do: "free", key }), key, kind };
    return new Proxy(target, {
        get(object, name) {
            if (name in object) return object[name];
            if (typeof name !== "string" || name === "then") return undefined; // it is no promise
            return (...args) => {
                if (generation !== module.generation) {
                    throw new InvalidError(`this ${kind} was in a worker that a cancelled call has ended: create it again`, "invalid");
                }
                return module.send({ do: "call", key, name, args: args.map(sent) }, (answer) => received(module, answer));
            };
        },
    });
}

// Objects of the worker go as their numbers; geometries of three.js as their arrays.
function sent(value) {
    if (value?.key !== undefined && value?.kind !== undefined) return { remote: value.key };
    const geometry = value?.geometry?.attributes !== undefined ? value.geometry : value;
    if (geometry?.attributes?.position !== undefined) {
        const { position } = geometry.attributes;
        return { attributes: { position: { array: position.array, itemSize: position.itemSize, count: position.count } },
                 index: geometry.index ? { array: geometry.index.array } : null };
    }
    if (value?.isMatrix4) return { elements: Array.from(value.elements) };
    return value;
}

function received(module, answer) {
    return answer?.remote !== undefined ? remoteObject(module, answer.remote, answer.kind) : answer;
}

// Options are those of init(), and `url` of the worker's script.
export async function startWorker(options = {}) {
    const module = new RemoteModule(options);
    await module.start();
    const make = (message) => module.send({ ...message, args: message.args.map(sent) }, (answer) => received(module, answer));
    return {
        create: (kind, ...args) => make({ do: "create", kind, args }), // a class
        call: (name, ...args) => make({ do: "function", name, args }), // a function, or a static method: "Mesh.shape"
        end: () => module.end(),
    };
}
