// SPDX-License-Identifier: MIT
// Exact predicates, distances, balls and times of impact of few points. A triangle is nine numbers, a segment six, a ball
// four: x, y, z and radius.
import { invoke, Kept, numbers, ready, real } from "./core.js";

const flat = (values, count, name) => {
    const found = numbers(values, Float64Array, name);
    if (found.length !== count) throw new RangeError(`${name} has ${found.length} numbers; give ${count}`);
    return found;
};
const triangle = (values, name = "triangle") => {
    const n = flat(values, 9, name);
    return { corner: [[n[0], n[1], n[2]], [n[3], n[4], n[5]], [n[6], n[7], n[8]]] };
};
const ball = (values, name) => {
    const [x, y, z, radius] = flat(values, 4, name);
    return { centre: [x, y, z], radius };
};

export const orient2d = (points, axis = 2) => invoke("pointsOrient2d", [flat(points, 9, "points"), axis]);
export const orient3d = (points) => invoke("pointsOrient3d", [flat(points, 12, "points")]);
export const relate = (a, b) => invoke("trianglesRelate", [triangle(a, "a"), triangle(b, "b")]);
export const trianglesMeet = (a, b) => invoke("trianglesMeet", [triangle(a, "a"), triangle(b, "b")]);
export const triangleMeetsBox = (of, box) => {
    const b = flat(box, 6, "box");
    return invoke("triangleMeetsBox", [triangle(of), { low: b.slice(0, 3), high: b.slice(3) }]);
};
export const pointSegmentDistance = (at, segment) => invoke("pointSegmentDistance", [flat(at, 3, "at"), flat(segment, 6, "segment")]);
export const segmentsDistance = (a, b) => invoke("segmentsDistance", [flat(a, 6, "a"), flat(b, 6, "b")]);
export const pointTriangleDistance = (at, of) => invoke("pointTriangleDistance", [flat(at, 3, "at"), triangle(of)]);
export const segmentTriangleDistance = (segment, of) =>
    invoke("segmentTriangleDistance", [flat(segment, 6, "segment"), triangle(of)]);
export const trianglesDistance = (a, b) => invoke("trianglesDistance", [triangle(a, "a"), triangle(b, "b")]);
export const ballOfPoints = (points) => invoke("ballOfPoints", [numbers(points, Float64Array, "points", 3)]);
export const ballOfBalls = (balls) => invoke("ballOfBalls", [numbers(balls, Float64Array, "balls", 4)]);
export const lens = (a, b) => invoke("ballLens", [ball(a, "a"), ball(b, "b")]);
export const pointTriangleToi = (start, end) => invoke("pointTriangleToi", [flat(start, 12, "start"), flat(end, 12, "end")]);
export const segmentsToi = (start, end) => invoke("segmentsToi", [flat(start, 12, "start"), flat(end, 12, "end")]);
export const ballToi = (start, end) => invoke("ballToi", [flat(start, 8, "start"), flat(end, 8, "end")]);
export const pointTriangleAdvance = (start, end, def = {}) =>
    invoke("pointTriangleAdvance", [flat(start, 12, "start"), flat(end, 12, "end"), def]);
export const segmentsAdvance = (start, end, def = {}) =>
    invoke("segmentsAdvance", [flat(start, 12, "start"), flat(end, 12, "end"), def]);

// The library's random numbers (splitmix64): the same on every machine, and in C.
export class Random extends Kept {
    constructor(seed = 0) {
        super("Srandom");
        new DataView(ready().memory.buffer).setBigUint64(this.address, BigInt.asUintN(64, BigInt(seed)), true);
    }

    // 64 bits, as a BigInt.
    next() { return BigInt.asUintN(64, ready().exports.carom_random_next(this.address)); }
    uniform() { return ready().exports.carom_random_uniform(this.address); }
    between(low, high) { return ready().exports.carom_random_between(this.address, real(low, "low"), real(high, "high")); }
    normal() { return ready().exports.carom_random_normal(this.address); }
}
