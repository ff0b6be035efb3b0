// SPDX-License-Identifier: MIT
// Usage: node fuzz.mjs PACKAGE CALLS [SEED]. Calls with arguments of all kinds, right and wrong; afterwards the module
// answers rightly. Only exceptions may come out: errors of JavaScript for wrong types, of Carom for the rest.
import assert from "node:assert/strict";
import { pathToFileURL } from "node:url";

const [folder, calls, seed = "1"] = process.argv.slice(2);
const carom = await import(pathToFileURL(`${folder}/index.js`));
await carom.init();

let state = Number(seed) >>> 0;
const random = (most) => { // xorshift
    state ^= state << 13; state ^= state >>> 17; state ^= state << 5;
    return (state >>> 0) % most;
};
const pick = (list) => list[random(list.length)];
const number = () => pick([0, 1, -1, 0.5, 2, 3.25, 1e-300, 1e300, -1e30, NaN, Infinity, 7, 255, 2 ** 32, 2 ** 53, random(1000) / 100]);
const list = (count) => Array.from({ length: count }, number);
const small = () => list(3).map((x) => (Number.isFinite(x) && Math.abs(x) < 10 ? x : 1));
const meshes = ["box", "sphere", "torus", "cone", "grid"].map((shape) => carom.Mesh.shape(shape));
const anything = () => pick([
    () => number(), () => undefined, () => null, () => "box", () => [], () => ({}), () => list(random(20)), () => small(),
    () => new Float64Array(random(30)), () => new Uint32Array(random(30)), () => new Float32Array(9), () => new Uint8Array(random(50)),
    () => pick(meshes), () => pick(things), () => ({ threads: 3 }), () => ({ reach: number() }), () => ({ poseA: small() }), () => true,
    () => [[1, 0, 0], [0, 2, 0]], () => ({ count: random(20) }), () => ({ x: 1, y: 2, z: 3 }), () => (() => number()), () => Symbol.iterator, () => 12n,
])();
const things = [];
const make = () => {
    const [name, build] = pick([
        ["Soup", () => new carom.Soup(pick(meshes))], ["Solid", () => new carom.Solid(pick(meshes))], ["Hull", () => new carom.Hull(pick(meshes))],
        ["Convex", () => carom.Convex.box([1, 2, 3])], ["Convex", () => carom.Convex.sphere(1)], ["Broad", () => new carom.Broad([0, 0, 0, 1, 1, 1])],
        ["Scene", () => new carom.Scene()], ["Gas", () => new carom.Gas([2, 5, 5], [1, 0, 0], 1, { edges: [10, 10, 10] })],
        ["Robot", () => new carom.Robot([[], [{ kind: "box", half: [1, 1, 1] }]], [{ kind: "continuous", parent: 0, child: 1 }], { spheres: 2, inner: 1 })],
        ["Packing", () => new carom.Packing(pick(meshes), { count: 5 })],
    ]);
    try { things.push(build()); } catch (error) { assert.ok(error instanceof Error, name); }
    if (things.length > 30) {
        const [old] = things.splice(random(30), 1);
        try { old.free(); } catch (error) { assert.ok(error instanceof carom.InvalidError); } // part of a scene
    }
};
const methodsOf = (thing) => Object.getOwnPropertyNames(Object.getPrototypeOf(thing)).filter((name) => name !== "constructor" && name !== "free");
const LONG = new Set(["advance", "next"]); // of a gas, to a time without end
const kinds = ["Mesh", "Soup", "Solid", "Hull", "Broad", "Scene", "Packing", "Cover", "Tree", "Balls", "Gas", "Convex", "Robot"];

// Long work is cancelled: what it would answer is of no interest here.
let looks = 0;
carom.setProgress(() => ++looks > 20);
let threw = 0;
for (let i = 0; i < Number(calls); ++i) {
    looks = 0;
    if (i % 20 === 0) make();
    try {
        if (random(5) === 0 || things.length === 0) {
            const made = new carom[pick(kinds)](...Array.from({ length: random(4) }, anything));
            made.free?.();
        } else {
            const thing = pick(things), name = pick(methodsOf(thing));
            if (thing instanceof carom.Gas && LONG.has(name)) continue;
            const property = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(thing), name);
            if (property.get) void thing[name];
            else thing[name](...(random(3) === 0 ? [pick(things), small()] : Array.from({ length: random(4) }, anything)));
        }
    } catch (error) {
        ++threw;
        assert.ok(error instanceof Error, `call ${i} threw ${String(error)}`);
        assert.ok(!(error instanceof WebAssembly.RuntimeError) && !/module stopped/.test(error.message), `call ${i}: ${error.stack}`);
    }
}
carom.setProgress(null);
const box = new carom.Solid(carom.Mesh.shape("box"));
assert.ok(Math.abs(box.overlap(box, [1, 0, 0]).volume - 4) < 1e-12);
assert.equal(carom.selfPairs(carom.Mesh.shape("cloth", { detail: 224 })).length / 2, 12598);
console.log(`${calls} calls, ${threw} refused; the module answers rightly afterwards`);
process.exit(0);
