// SPDX-License-Identifier: MIT
// What remote.js talks to: runs calls one after another, tells progress, and looks for a cancelled one.
import * as carom from "./index.js";

const IS_NODE = typeof process !== "undefined" && process.versions?.node !== undefined;
const port = IS_NODE ? (await import("node:worker_threads")).parentPort : globalThis;
const objects = new Map(); // structures of the page, by number
const cancelled = new Set(); // jobs that have not begun
let nextKey = 1, flag = null, current = 0;

function given(value) {
    if (value?.remote === undefined) return value;
    const found = objects.get(value.remote);
    if (found === undefined) throw new carom.InvalidError("this structure was freed", "invalid");
    return found;
}

// Structures stay here; records become plain columns, which can be sent.
function answerOf(value) {
    if (Array.isArray(value)) return value.map(answerOf);
    if (value instanceof carom.Records) return { ...value };
    if (value !== null && typeof value === "object" && typeof value.free === "function") {
        const key = nextKey++;
        objects.set(key, value);
        return { remote: key, kind: value.constructor.name };
    }
    return value;
}

async function perform(message) {
    switch (message.do) {
        case "init":
            flag = message.flag;
            await carom.init(message.options);
            return undefined;
        case "create": return new carom[message.kind](...message.args.map(given));
        case "function": {
            const found = message.name.split(".").reduce((from, name) => from[name], carom);
            const owner = message.name.includes(".") ? carom[message.name.split(".")[0]] : undefined;
            return found.apply(owner, message.args.map(given));
        }
        case "call": {
            const object = given({ remote: message.key }), member = object[message.name];
            return typeof member === "function" ? member.apply(object, message.args.map(given)) : member;
        }
        case "free":
            objects.get(message.key)?.free();
            objects.delete(message.key);
            return undefined;
        default: throw new TypeError(`no ${message.do}`);
    }
}

async function receive(message) {
    if (message.do === "cancel") {
        cancelled.add(message.id);
        return;
    }
    const { id } = message;
    try {
        if (message.do !== "init") {
            current = id;
            carom.setProgress((what, fraction) => {
                port.postMessage({ id, what, fraction });
                return flag !== null && Atomics.load(flag, 0) === current;
            });
            if (cancelled.delete(id)) throw new carom.Cancelled("the call was cancelled", "cancelled");
        }
        port.postMessage({ id, answer: answerOf(await perform(message)) });
    } catch (error) {
        port.postMessage({ id, error: { name: error.name, status: error.status ?? "", message: error.message } });
    } finally {
        cancelled.delete(id);
    }
}

let queue = Promise.resolve();
const accept = (message) => {
    if (message.do === "cancel") receive(message);
    else queue = queue.then(() => receive(message));
};
if (IS_NODE) port.on("message", accept);
else addEventListener("message", ({ data }) => accept(data));
