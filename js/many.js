// SPDX-License-Identifier: MIT
// Many things at once: boxes, objects of scenes, moving spheres.
import { callbackAddress, Handle, invoke, Made, numbers, poseOf, register, show, unregister } from "./core.js";
import { Convex } from "./convex.js";
import { Solid } from "./solid.js";
import { framed, raysOf, Soup } from "./soup.js";
import { Tree } from "./spheres.js";

// A function that stays as long as a structure: its number, and the address of the C function that calls it.
function keep(fn, name, type) {
    if (fn === undefined || fn === null) return { key: 0, address: 0 };
    return { key: register(fn, name), address: callbackAddress(type) };
}

function idsOf(ids) {
    return ids === undefined || ids === null ? null : typeof ids === "number" ? [ids] : ids;
}

export class Broad extends Handle {
    #accept;

    // Boxes: six numbers each, the lower and the upper corner.
    constructor(boxes = [], { filters, accept, ...def } = {}) {
        const kept = keep(accept, "accept", "broad_accept_fn");
        super("broad", framed("broadCreate", (frame) => {
            const given = numbers(boxes, Float64Array, "boxes", 6), count = given.length / 6;
            const full = { ...def, boxes: frame.copy(given), boxCount: count, accept: kept.address, acceptUser: kept.key };
            if (filters !== undefined) {
                const bits = numbers(filters, Uint32Array, "filters", 2);
                if (bits.length !== 2 * count) throw new RangeError(`there are ${bits.length / 2} filters for ${count} boxes`);
                full.filters = frame.copy(bits);
            }
            return [full];
        }));
        this.#accept = kept.key;
    }

    free() {
        super.free();
        unregister(this.#accept);
    }

    get info() {
        return invoke("broadGetInfo", [this]);
    }

    move(boxes, ids) {
        invoke("broadMove", [this, idsOf(ids), boxes]);
    }

    add(boxes) {
        return invoke("broadAdd", [this, boxes]);
    }

    remove(ids) {
        invoke("broadRemove", [this, idsOf(ids)]);
    }

    setFilters(filters, ids) {
        const list = numbers(filters, Uint32Array, "filters", 2);
        const records = Array.from({ length: list.length / 2 }, (_, i) => ({ group: list[2 * i], mask: list[2 * i + 1] }));
        invoke("broadSetFilters", [this, idsOf(ids), records]);
    }

    commit() {
        invoke("broadCommit", [this]);
    }

    step() {
        const [pairs, begun, ended] = invoke("broadStep", [this]);
        return { pairs, begun, ended };
    }

    pairs() {
        return invoke("broadPairs", [this]);
    }

    queryBoxes(boxes) {
        return invoke("broadQueryBoxes", [this, boxes]);
    }

    queryRays(origins, directions, lengths) {
        return invoke("broadQueryRays", [this, raysOf(origins, directions, lengths)]);
    }

    castRays(origins, directions, lengths) {
        return invoke("broadCastRays", [this, raysOf(origins, directions, lengths)]);
    }

    closestPoints(points) {
        return invoke("broadClosestPoints", [this, points]);
    }
}

// What a scene borrows of an object, and the def of it.
function objectOf(item, pose, group = 0, mask = 0) {
    const def = { pose: poseOf(pose), filter: { group, mask } };
    if (item instanceof Convex) return [{ ...def, kind: "convex", convex: item.inBatch() }, item.hull ?? null];
    if (item instanceof Soup) return [{ ...def, kind: "soup", borrowedSoup: item }, item];
    if (item instanceof Solid) return [{ ...def, kind: "solid", borrowedSolid: item }, item];
    if (item instanceof Tree) return [{ ...def, kind: "packing", borrowedTree: item }, item];
    throw new TypeError(`${show(item)} is no object of a scene; give a Convex, Soup, Solid or Tree`);
}

export class Scene extends Handle {
    #objects = new Map();
    #removed = [];
    #accept;

    constructor({ accept, ...def } = {}) {
        const kept = keep(accept, "accept", "broad_accept_fn");
        super("scene", invoke("sceneCreate", [{ ...def, accept: kept.address, acceptUser: kept.key }]));
        this.#accept = kept.key;
    }

    free() {
        super.free();
        unregister(this.#accept);
        this.#giveBack([...this.#objects.values(), ...this.#removed]);
        this.#objects.clear();
        this.#removed = [];
    }

    #giveBack(list) {
        for (const { lent } of list) lent?.lend(-1);
    }

    // Returns the id. What is added cannot change while it is part of the scene.
    add(item, pose, { group = 0, mask = 0 } = {}) {
        const [def, lent] = objectOf(item, pose, group, mask);
        const [id] = invoke("sceneAdd", [this, [def]]);
        lent?.lend(1);
        this.#objects.set(id, { item, lent });
        return id;
    }

    move(ids, poses) {
        const list = idsOf(ids), given = typeof ids === "number" ? [poses] : poses;
        invoke("sceneMove", [this, list, Array.from(given, (pose) => poseOf(pose))]);
    }

    remove(ids) {
        const list = Array.from(idsOf(ids));
        invoke("sceneRemove", [this, list]);
        for (const id of list) {
            if (this.#objects.has(id)) this.#removed.push(this.#objects.get(id)); // borrowed until the next step
            this.#objects.delete(id);
        }
    }

    setFilters(filters, ids) {
        const list = numbers(filters, Uint32Array, "filters", 2);
        const records = Array.from({ length: list.length / 2 }, (_, i) => ({ group: list[2 * i], mask: list[2 * i + 1] }));
        invoke("sceneSetFilters", [this, idsOf(ids), records]);
    }

    setIgnored(pairs, ignored = true) {
        invoke("sceneSetIgnored", [this, pairs, ignored]);
    }

    step() {
        const [contacts, begun, ended] = invoke("sceneStep", [this]);
        this.#giveBack(this.#removed);
        this.#removed = [];
        return { contacts, begun, ended };
    }

    commit() {
        invoke("sceneCommit", [this]);
        this.#giveBack(this.#removed);
        this.#removed = [];
    }

    queryObjects(items, poses = []) {
        return invoke("sceneQueryObjects", [this, items.map((item, i) => objectOf(item, poses[i])[0])]);
    }

    castRays(origins, directions, lengths) {
        return invoke("sceneCastRays", [this, raysOf(origins, directions, lengths)]);
    }

    closestPoints(points) {
        return invoke("sceneClosestPoints", [this, points]);
    }

    get info() {
        return invoke("sceneGetInfo", [this]);
    }
}

// Eight numbers of C per sphere: position, velocity, radius, mass. One radius or mass may serve all.
function spheresOf(positions, velocities, radii, masses = 0) {
    const at = numbers(positions, Float64Array, "positions", 3), speed = numbers(velocities, Float64Array, "velocities", 3);
    if (at.length !== speed.length) {
        throw new RangeError(`there are ${at.length / 3} positions and ${speed.length / 3} velocities; give as many`);
    }
    const count = at.length / 3, found = new Float64Array(8 * count);
    const each = (values, name) => {
        const list = typeof values === "number" ? null : numbers(values, Float64Array, name);
        if (list !== null && list.length !== count) throw new RangeError(`the ${name} of spheres: give one number, or ${count}`);
        return (i) => (list === null ? values : list[i]);
    };
    const radius = each(radii, "radii"), mass = each(masses, "masses");
    for (let i = 0; i < count; ++i) {
        found.set(at.subarray(3 * i, 3 * i + 3), 8 * i);
        found.set(speed.subarray(3 * i, 3 * i + 3), 8 * i + 3);
        found[8 * i + 6] = radius(i);
        found[8 * i + 7] = mass(i);
    }
    return found;
}

export class Gas extends Handle {
    #response = 0;

    constructor(positions, velocities, radii, { masses, response, periodic = false, ...def } = {}) {
        const kept = keep(response, "response", "gas_response_fn");
        const axes = typeof periodic === "boolean" ? [periodic, periodic, periodic] : periodic;
        super("gas", positions instanceof Made ? positions.pointer : framed("gasCreate", (frame) => {
            const spheres = spheresOf(positions, velocities, radii, masses);
            return [{ ...def, spheres: frame.copy(spheres), sphereCount: spheres.length / 8, periodic: axes.map(Number),
                      response: kept.address, responseUser: kept.key }];
        }));
        this.#response = kept.key;
    }

    static fromBytes(bytes, { name = null } = {}) {
        return new Gas(new Made(invoke("gasLoadMemory", [bytes, "guess", name, null])));
    }

    free() {
        super.free();
        unregister(this.#response);
    }

    toBytes() {
        return invoke("gasSaveMemory", [this, "carom"]);
    }

    add(positions, velocities, radii, masses) {
        return invoke("gasAdd", [this, spheresOf(positions, velocities, radii, masses)]);
    }

    set(ids, positions, velocities, radii, masses) {
        invoke("gasSet", [this, idsOf(ids), spheresOf(positions, velocities, radii, masses)]);
    }

    remove(ids) {
        invoke("gasRemove", [this, idsOf(ids)]);
    }

    // The next event up to a time, or null.
    next(until) {
        const event = invoke("gasNext", [this, until]);
        return event.kind === "none" ? null : event;
    }

    advance(until, onEvent) {
        invoke("gasAdvance", [this, until, onEvent ?? null]);
    }

    get time() {
        return invoke("gasGetTime", [this]);
    }

    // Float64Array: position, velocity, radius and mass of each, eight numbers.
    listSpheres() {
        return invoke("gasListSpheres", [this]);
    }

    findSphere(id) {
        return invoke("gasFindSphere", [this, id]);
    }

    measure() {
        return invoke("gasMeasure", [this]);
    }

    resetMeasures() {
        invoke("gasResetMeasures", [this]);
    }

    overlap() {
        return invoke("gasOverlap", [this]);
    }

    // Float64Array: the pairs of spheres from k to k + 1 steps apart, for each k below count.
    countDistances(step, count) {
        return invoke("gasCountDistances", [this, step], { count });
    }

    get info() {
        return invoke("gasGetInfo", [this]);
    }
}

