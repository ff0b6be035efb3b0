// SPDX-License-Identifier: MIT
// Convex shapes: whether they meet, how far apart or how deep they are, contact points, rays and times of impact.
import { callbackAddress, Handle, invoke, Kept, makeItems, Place, putField, ready, register, show, unregister } from "./core.js";
import { UnsupportedError } from "./errors.js";
import { Mesh } from "./mesh.js";
import { createFrom } from "./solid.js";
import { batchOf, framed, motionOf, raysOf, same } from "./soup.js";

export class Hull extends Handle {
    constructor(points) {
        super("hull", createFrom("hullCreate", points, undefined, {}, false));
    }

    get info() {
        return invoke("hullGetInfo", [this]);
    }

    toMesh() {
        return Mesh.adopt(invoke("hullToMesh", [this]));
    }
}

export class Convex extends Kept {
    #callback = 0;

    constructor(kind, { hull, support, ball, ...fields } = {}) {
        super("Sconvex");
        try {
            this.kind = kind;
            const given = { kind, ...fields };
            if (kind === "hull") {
                if (!(hull instanceof Hull)) throw new TypeError(`hull is ${show(hull)}; give a Hull`);
                given.borrowedHull = hull;
                this.hull = hull; // kept as long as this
            }
            if (kind === "support") {
                if (ball === undefined) throw new TypeError("a shape by support function has a ball around it: { centre, radius }");
                this.#callback = register(support, "support");
                supports.set(this, this.#callback);
                Object.assign(given, { support: callbackAddress("convex_support_fn"), supportUser: this.#callback, supportBall: ball });
            }
            this.fill(given);
        } catch (error) {
            this.free();
            throw error;
        }
    }

    free() {
        if (this.#callback !== 0) unregister(this.#callback);
        super.free();
    }

    static point(margin = 0) { return new Convex("point", { margin }); }
    static sphere(radius) { return new Convex("sphere", { radius }); }
    static segment(halfHeight) { return new Convex("segment", { halfHeight }); }
    static capsule(radius, halfHeight) { return new Convex("capsule", { radius, halfHeight }); }
    static box(half, margin = 0) { return new Convex("box", { half, margin }); }
    static cylinder(radius, halfHeight, margin = 0) { return new Convex("cylinder", { radius, halfHeight, margin }); }
    static cone(radius, halfHeight, margin = 0) { return new Convex("cone", { radius, halfHeight, margin }); }
    static ellipsoid(half, margin = 0) { return new Convex("ellipsoid", { half, margin }); }
    static hull(points, margin = 0) {
        return new Convex("hull", { hull: points instanceof Hull ? points : new Hull(points), margin });
    }
    static support(support, centre, radius, margin = 0) {
        return new Convex("support", { support, ball: { centre, radius }, margin });
    }

    // Functions of JavaScript run in one thread alone.
    inBatch() {
        if (supports.has(this) && ready().threads > 1) {
            throw new UnsupportedError("shapes by support function: not in batches and scenes of a module with threads", "unsupported");
        }
        return this;
    }

    #query(name, other, pose, { poseA, hint, ...def } = {}) {
        same(this, other);
        this.hull?.pointer; // throws where the hull was freed
        other.hull?.pointer;
        const poses = batchOf(pose);
        if (poses === null) {
            if (hint !== undefined) def.hint = hint.of(this, other);
            return invoke(name, [new Place(this.address), poseA ?? null, new Place(other.address), pose ?? null, def]);
        }
        if (hint !== undefined) throw new TypeError("a hint is for one pose at a time, not for a batch");
        return framed(`${name}Batch`, (frame) => [makeItems(frame, "SconvexPair", poses.length, (at, i) => {
            putField(frame, "convexPair", at, "a", this.inBatch().address);
            putField(frame, "convexPair", at, "b", other.inBatch().address);
            putField(frame, "convexPair", at, "poseA", poseA ?? null);
            putField(frame, "convexPair", at, "poseB", poses[i]);
        }), def], name === "convexMeet" ? { meet: poses.length } : {});
    }

    meet(other, pose, options) { return this.#query("convexMeet", other, pose, options); }
    distance(other, pose, options) { return this.#query("convexDistance", other, pose, options); }
    depth(other, pose, options) { return this.#query("convexDepth", other, pose, options); }

    contacts(other, pose, { poseA, reach = 0, ...def } = {}) {
        same(this, other);
        return invoke("convexContacts", [new Place(this.address), poseA ?? null, new Place(other.address), pose ?? null, reach, def]);
    }

    castRays(origins, directions, lengths, pose) {
        return invoke("convexCastRays", [new Place(this.address), pose ?? null, raysOf(origins, directions, lengths)]);
    }

    advance(other, motion, { motionA, ...def } = {}) {
        same(this, other);
        return invoke("convexAdvance", [new Place(this.address), motionOf(motionA, "motionA"), new Place(other.address),
            motionOf(motion), def]);
    }

    bound(other) {
        return invoke("convexBound", [new Place(this.address), new Place(same(this, other).address)]);
    }
}

const supports = new WeakMap();

export class ConvexHint extends Kept {
    #of = [];

    constructor() {
        super("SconvexHint");
    }

    // Of other shapes it is of no use.
    of(a, b) {
        if (this.#of[0] !== a || this.#of[1] !== b) this.clear();
        this.#of = [a, b];
        return this.address;
    }
}
