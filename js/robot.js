// SPDX-License-Identifier: MIT
// Robots: which joint configurations and straight motions are free of collisions, with proof.
import { Handle, invoke, makeItems, numbers, Place, poseOf, put, show } from "./core.js";
import { putMesh } from "./mesh.js";
import { framed } from "./soup.js";

const SHAPE_KEYS = ["kind", "pose", "mesh", "half", "radius", "halfHeight", "balls"];
const JOINT_KEYS = ["kind", "parent", "child", "origin", "axis", "lower", "upper", "mimic", "multiplier", "offset"];

function checked(given, keys, what) {
    if (given === null || typeof given !== "object" || Array.isArray(given) || ArrayBuffer.isView(given)) {
        throw new TypeError(`a ${what} is ${show(given)}; give an object with keys of ${keys.join(", ")}`);
    }
    const unknown = Object.keys(given).find((key) => !keys.includes(key));
    if (unknown !== undefined) throw new TypeError(`a ${what} has the key ${JSON.stringify(unknown)}; known are ${keys.join(", ")}`);
    return given;
}

function listOf(given, name) {
    if (!Array.isArray(given)) throw new TypeError(`${name} is ${show(given)}; give an array`);
    return given;
}

// A shape as C has it: its mesh and balls are put into the frame.
function shapeOf(frame, given) {
    const { mesh, balls, pose, ...shape } = checked(given, SHAPE_KEYS, "shape");
    shape.kind ??= mesh !== undefined ? "mesh" : "balls";
    shape.pose = poseOf(pose);
    if (shape.kind === "mesh") {
        if (mesh === undefined) throw new TypeError("a shape of kind mesh has no mesh");
        shape.mesh = putMesh(frame, mesh).address;
    }
    if (shape.kind === "balls") {
        const list = numbers(balls ?? [], Float64Array, "balls", 4);
        shape.balls = frame.copy(list);
        shape.ballCount = list.length / 4;
    }
    return shape;
}

function jointOf(given) {
    const { mimic, origin, ...joint } = checked(given, JOINT_KEYS, "joint");
    for (const key of ["parent", "child"]) {
        if (joint[key] === undefined) throw new TypeError(`a joint has no ${key}`);
    }
    return { kind: "fixed", axis: [1, 0, 0], multiplier: 1, ...joint, origin: poseOf(origin, "origin"),
             ...(mimic === undefined || mimic === null ? {} : { mimics: true, mimic }) };
}

function itemsOf(frame, type, list) {
    return makeItems(frame, type, list.length, (at, i) => put(frame, type, at, list[i], type.slice(1)));
}

export class Robot extends Handle {
    // `links`: for each an array of shapes, { kind, pose, mesh | half | radius, halfHeight | balls }. `joints`: { kind, parent,
    // child, origin, axis, lower, upper } and, for one that follows another, mimic, multiplier, offset.
    constructor(links, joints = [], { names, allowed = [], ...def } = {}) {
        super("robot", framed("robotCreate", (frame) => {
            const records = listOf(links, "links").map((link, i) => {
                const shapes = listOf(link, `links[${i}]`).map((shape) => shapeOf(frame, shape));
                return { name: names === undefined || names === null ? "" : String(names[i] ?? ""),
                         shapes: itemsOf(frame, "SrobotShape", shapes).address, shapeCount: shapes.length };
            });
            const moving = listOf(joints, "joints").map(jointOf), pairs = numbers(allowed, Uint32Array, "allowed", 2);
            return [{ ...def, links: itemsOf(frame, "SrobotLink", records).address, linkCount: records.length,
                      joints: itemsOf(frame, "SrobotJoint", moving).address, jointCount: moving.length,
                      allowed: frame.copy(pairs), allowedCount: pairs.length / 2 }];
        }));
    }

    get info() {
        return invoke("robotGetInfo", [this]);
    }

    // The lower and the upper limits of the numbers of a configuration.
    get limits() {
        const { dof } = this.info;
        const [lower, upper] = invoke("robotGetLimits", [this], { lower: dof, upper: dof });
        return { lower, upper };
    }

    // ---- Changes

    // Adds objects to the world; returns their ids.
    addObjects(shapes) {
        return framed("robotAddObjects", (frame) =>
            [this, itemsOf(frame, "SrobotShape", listOf(shapes, "shapes").map((shape) => shapeOf(frame, shape)))]);
    }

    setObject(id, shape) {
        framed("robotSetObject", (frame) => [this, id, shapeOf(frame, shape)]);
    }

    removeObject(id) {
        invoke("robotRemoveObject", [this, id]);
    }

    // Attaches a shape to a link, such as a tool; returns its id.
    attach(link, shape) {
        return framed("robotAttach", (frame) => [this, link, shapeOf(frame, shape)]);
    }

    detach(body) {
        invoke("robotDetach", [this, body]);
    }

    setAllowed(pairs, allowed = true) {
        invoke("robotSetAllowed", [this, pairs, allowed]);
    }

    setObjectAllowed(pairs, allowed = true) {
        invoke("robotSetObjectAllowed", [this, pairs, allowed]);
    }

    // ---- Queries

    // Configurations: an array of arrays, or one typed array with all numbers.
    #configurations(q, name = "q") {
        const { dof } = this.info;
        if (dof === 0) { // without numbers they are counted by their arrays
            if (!Array.isArray(q) || q.some((one) => one?.length !== 0)) {
                throw new TypeError(`${name} is ${show(q)}; a configuration of this robot is an array without numbers`);
            }
            return { values: new Float64Array(0), count: q.length };
        }
        const values = numbers(q, Float64Array, name, dof);
        return { values, count: values.length / dof };
    }

    #query(name, q, def, results) {
        const { values, count } = this.#configurations(q);
        return invoke(name, [this, values, def], { count, ...results?.(count) });
    }

    // "free", "colliding" or "open" for each configuration.
    check(q, options = {}) {
        return this.#query("robotCheck", q, options);
    }

    // Bounds of the least distance.
    clearance(q, options = {}) {
        return this.#query("robotClearance", q, options);
    }

    // Whether the straight motions from `start` to `end` are free.
    motion(start, end, options = {}) {
        const first = this.#configurations(start, "start"), last = this.#configurations(end, "end");
        if (first.count !== last.count) {
            throw new RangeError(`start has ${first.count} configurations and end ${last.count}`);
        }
        return framed("robotMotion", (frame) => [this, new Place(frame.copy(first.values)), last.values, options],
            { count: first.count });
    }

    // Poses of all links, seven numbers each, links of a configuration one after another; at(i) is one of them.
    poses(q) {
        const { links } = this.info;
        return this.#query("robotPoses", q, undefined, (count) => ({ poses: count * links }));
    }

    // The spheres that contain a link or attached shape, in the link's frame: centre and radius.
    cover(body) {
        return invoke("robotListCover", [this, body]);
    }

    // The balls inside of it.
    inner(body) {
        return invoke("robotListInner", [this, body]);
    }

    // In how many of random configurations each pair collides.
    samplePairs(samples, seed = 1) {
        return invoke("robotSamplePairs", [this, samples, seed]);
    }
}
