// SPDX-License-Identifier: MIT
// Soups: which faces meet, exactly; distances, points, rays, winding numbers, times of impact and safe steps.
import { Frame, Handle, invoke, makeItems, numbers, Place, poseOf, putField, ready, real, show } from "./core.js";
import { putMesh } from "./mesh.js";

// Calls with what `fill` puts into a frame, which is given back if that fails.
export function framed(name, fill, known = {}) {
    ready();
    const frame = new Frame();
    let given;
    try {
        given = fill(frame);
    } catch (error) {
        frame.end();
        throw error;
    }
    return invoke(name, given, known, frame);
}

// Poses of a batch: an array of poses, or a Float64Array of seven numbers each; null where it is one pose.
export function batchOf(pose) {
    if (pose instanceof Float64Array && pose.length > 7 && pose.length % 7 === 0) {
        return Array.from({ length: pose.length / 7 }, (_, i) => pose.subarray(7 * i, 7 * i + 7));
    }
    if (Array.isArray(pose) && pose.length > 0 && typeof pose[0] === "object" && !isMatrix(pose)) return pose;
    return Array.isArray(pose) && pose.length === 0 ? pose : null;
}

function isMatrix(pose) {
    return (pose.length === 3 || pose.length === 4) && pose.every((row) => Array.isArray(row) && row.length === 4);
}

// The items of a batch: one a and one b in many poses.
export function pairItems(frame, struct, a, poseA, b, poses, more = {}) {
    const first = batchOf(poseA);
    if (first !== null && first.length !== poses.length) {
        throw new RangeError(`poseA has ${first.length} poses and pose ${poses.length}: give as many, or one`);
    }
    const alone = first === null ? poseOf(poseA, "poseA") : null;
    return makeItems(frame, `S${struct}`, poses.length, (at, i) => {
        putField(frame, struct, at, "a", a);
        putField(frame, struct, at, "b", b);
        putField(frame, struct, at, "poseA", alone ?? first[i]);
        putField(frame, struct, at, "poseB", poses[i]);
        for (const [field, value] of Object.entries(more)) putField(frame, struct, at, field, value);
    });
}

export function same(a, b) {
    if (!(b instanceof a.constructor)) throw new TypeError(`the other is ${show(b)}; give a ${a.constructor.name}`);
    return b;
}

// (n, 7) rays of C: origins and directions, and lengths where there are any.
export function raysOf(origins, directions, lengths) {
    const from = numbers(origins, Float64Array, "origins", 3), to = numbers(directions, Float64Array, "directions", 3);
    const count = Math.max(from.length, to.length) / 3;
    for (const given of [from, to]) {
        if (given.length !== 3 && given.length !== 3 * count) {
            throw new RangeError(`there are ${from.length / 3} origins and ${to.length / 3} directions; give as many`);
        }
    }
    const far = lengths === undefined ? null : typeof lengths === "number" ? [lengths] : lengths;
    const found = new Float64Array(7 * count);
    for (let i = 0; i < count; ++i) {
        for (let k = 0; k < 3; ++k) {
            found[7 * i + k] = from[from.length === 3 ? k : 3 * i + k];
            found[7 * i + 3 + k] = to[to.length === 3 ? k : 3 * i + k];
        }
        if (far !== null) found[7 * i + 6] = real(far[far.length === 1 ? 0 : i], "lengths");
    }
    return found;
}

// A motion: null, [from, to] or [from, to, centre].
export function motionOf(motion, name = "motion") {
    if (motion === null || motion === undefined) return null;
    if (!Array.isArray(motion) || motion.length < 2 || motion.length > 3) {
        throw new TypeError(`${name} is ${show(motion)}; give [from, to] or [from, to, centre], poses and a point`);
    }
    const [from, to, centre] = motion;
    return { from: poseOf(from, `${name}[0]`), to: poseOf(to, `${name}[1]`), ...(centre === undefined ? {} : { centre }) };
}

export class Soup extends Handle {
    #vertices = 0; // the library does not tell how many

    constructor(mesh, faces, options) {
        const [given, rest] = isOptions(faces) && options === undefined ? [undefined, faces] : [faces, options ?? {}];
        let count = 0;
        super("soup", framed("soupCreate", (frame) => {
            const def = { ...rest };
            if (mesh !== undefined && mesh !== null) {
                const place = putMesh(frame, mesh, given);
                def.mesh = place.address;
                count = place.vertexCount ?? 0;
            }
            return [def];
        }));
        this.#vertices = count;
    }

    get info() {
        return invoke("soupGetInfo", [this]);
    }

    // Positions of all vertices: a mesh, a geometry or an array.
    update(positions) {
        framed("soupUpdate", (frame) => [this.mayChange(), putMesh(frame, positions, undefined, false)]);
    }

    add(mesh, faces) {
        let count = 0;
        const first = framed("soupAdd", (frame) => {
            const place = putMesh(frame, mesh, faces);
            count = place.vertexCount;
            return [this.mayChange(), place];
        });
        this.#vertices += count;
        return first;
    }

    remove(faces) {
        invoke("soupRemove", [this.mayChange(), faces]);
    }

    // ---- With itself

    selfPairs(reach) {
        return reach === undefined ? invoke("soupSelfPairs", [this]) : invoke("soupSelfPairsWithin", [this, reach]);
    }

    selfCount(reach) {
        return reach === undefined ? invoke("soupSelfCount", [this]) : invoke("soupSelfCountWithin", [this, reach]);
    }

    selfMeet(reach) {
        return reach === undefined ? invoke("soupSelfMeet", [this]) : invoke("soupSelfMeetWithin", [this, reach]);
    }

    selfEach(receive, reach) {
        if (reach === undefined) invoke("soupSelfEach", [this, receive]);
        else invoke("soupSelfEachWithin", [this, reach, receive]);
    }

    selfBound() {
        return invoke("soupSelfBound", [this]);
    }

    // ---- Two soups: `pose` moves the other, `poseA` this one

    #two(other, pose, poseA) {
        return [this, poseA ?? null, same(this, other), pose ?? null];
    }

    pairs(other, pose, { poseA, reach } = {}) {
        const two = this.#two(other, pose, poseA);
        return reach === undefined ? invoke("soupCrossPairs", two) : invoke("soupCrossPairsWithin", [...two, reach]);
    }

    count(other, pose, { poseA, reach } = {}) {
        const two = this.#two(other, pose, poseA);
        return reach === undefined ? invoke("soupCrossCount", two) : invoke("soupCrossCountWithin", [...two, reach]);
    }

    each(other, receive, pose, { poseA, reach } = {}) {
        const two = this.#two(other, pose, poseA);
        if (reach === undefined) invoke("soupCrossEach", [...two, receive]);
        else invoke("soupCrossEachWithin", [...two, reach, receive]);
    }

    // An array of poses gives an array of answers.
    meet(other, pose, { poseA, reach } = {}) {
        const poses = batchOf(pose);
        if (poses !== null && reach !== undefined) return poses.map((one) => this.meet(other, one, { poseA, reach }));
        if (poses !== null) {
            return framed("soupCrossMeetBatch", (frame) => [pairItems(frame, "soupPair", this, poseA, same(this, other), poses)],
                { meet: poses.length });
        }
        const two = this.#two(other, pose, poseA);
        return reach === undefined ? invoke("soupCrossMeet", two) : invoke("soupCrossMeetWithin", [...two, reach]);
    }

    // A distance above the limit is infinite; 0 is no limit.
    distance(other, pose, { poseA, limit = 0 } = {}) {
        const poses = batchOf(pose);
        if (poses !== null) {
            return framed("soupCrossDistanceBatch", (frame) =>
                [pairItems(frame, "soupPair", this, poseA, same(this, other), poses), limit]);
        }
        return invoke("soupCrossDistance", [...this.#two(other, pose, poseA), limit]);
    }

    bound(other) {
        return invoke("soupCrossBound", [this, same(this, other)]);
    }

    // ---- Where

    gaps(pairs, other, pose, { poseA } = {}) {
        if (other === undefined) return invoke("soupSelfGaps", [this, pairs]);
        return invoke("soupCrossGaps", [...this.#two(other, pose, poseA), pairs]);
    }

    segments(pairs, other, pose, { poseA } = {}) {
        if (other === undefined) return invoke("soupSelfSegments", [this, pairs]);
        return invoke("soupCrossSegments", [...this.#two(other, pose, poseA), pairs]);
    }

    // ---- Points and rays

    closestPoints(points) {
        return invoke("soupClosestPoints", [this, points]);
    }

    castRays(origins, directions, lengths) {
        return invoke("soupCastRays", [this, raysOf(origins, directions, lengths)]);
    }

    queryRays(origins, directions, lengths) {
        return invoke("soupQueryRays", [this, raysOf(origins, directions, lengths)]);
    }

    winding(points) {
        return invoke("soupWinding", [this, points]);
    }

    windingFractions(points) {
        return invoke("soupWindingFractions", [this, points]);
    }

    signedDistances(points) {
        return invoke("soupSignedDistances", [this, points])[0];
    }

    // ---- Motion

    advance(other, motion, { motionA, ...def } = {}) {
        return invoke("soupCrossAdvance", [this, motionOf(motionA, "motionA"), same(this, other), motionOf(motion), def]);
    }

    // Calls with the positions at time 1, of this and of another soup.
    #ends(own, cross, end, other, otherEnd, rest = []) {
        return framed(other === undefined ? own : cross, (frame) => {
            const put = (value, name) => (value === null || value === undefined ?
                nothing(other, name) : putMesh(frame, value, undefined, false));
            if (other === undefined) return [this, put(end, "end"), ...rest];
            return [this, put(end, "end"), same(this, other), put(otherEnd, "otherEnd"), ...rest];
        });
    }

    impacts(end, other, otherEnd) {
        return this.#ends("soupSelfImpacts", "soupCrossImpacts", end, other, otherEnd);
    }

    firstImpact(end, other, otherEnd) {
        const found = this.#ends("soupSelfFirstImpact", "soupCrossFirstImpact", end, other, otherEnd);
        return found.kind === "none" ? null : found;
    }

    selfNear(reach) {
        return invoke("soupSelfNear", [this, reach]);
    }

    near(other, reach, pose, { poseA } = {}) {
        return invoke("soupCrossNear", [...this.#two(other, pose, poseA), reach]);
    }

    safeStep(end, { other, otherEnd, minimum = 0 } = {}) {
        const found = this.#ends("soupSelfSafeStep", "soupCrossSafeStep", end, other, otherEnd, [minimum]);
        return { time: found.time, limit: found.limit.kind === "none" ? null : found.limit };
    }

    selfSafeDistances(reach, { minimum = 0 } = {}) {
        return invoke("soupSelfSafeDistances", [this, reach, minimum], { distances: this.#vertices });
    }

    safeDistances(other, reach, pose, { poseA, minimum = 0 } = {}) {
        return invoke("soupCrossSafeDistances", [...this.#two(other, pose, poseA), reach, minimum],
            { distancesA: this.#vertices, distancesB: same(this, other).#vertices });
    }

    // ---- Crowding

    kfree() {
        return invoke("kfreeMeasure", [this])[0];
    }

    kfreeCounts() {
        return invoke("kfreeMeasure", [this])[1];
    }

    kfreeBound(other) {
        return invoke("kfreeBound", [this.kfree(), same(this, other).kfree()]);
    }
}

// Positions that do not move are NULL in C, where there is another soup that does.
function nothing(other, name) {
    if (other === undefined) throw new TypeError(`${name} is missing: give the positions at time 1`);
    return new Place(0);
}

export function isOptions(value) {
    return value !== null && typeof value === "object" && !Array.isArray(value) && !ArrayBuffer.isView(value) &&
        value.attributes === undefined && value.array === undefined;
}
