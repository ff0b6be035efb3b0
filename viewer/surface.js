// SPDX-License-Identifier: MIT
// What a triangle mesh needs to be drawn well, computed from its positions and indices: coarser versions for
// while it moves, smooth normals with creases, feature edges, whether it is closed.
//
// All functions are generators that yield now and then, so that a scheduler can spread the work over frames.
// Coarser versions are index lists over the same vertices. They come from clustering: vertices of a cell of a
// grid become one of them, and triangles with three different ones are left (Rossignac and Borrel,
// Multi-resolution 3D approximations, 1993). As a map of vertices it keeps closed surfaces closed.

const CREASE = Math.cos((35 * Math.PI) / 180); // faces that meet at more are not smoothed together, and show an edge
const BATCH = 32768; // elements between two yields, about a millisecond
const COARSEST = 4; // cells along the longest side of the coarsest version
const FINEST = 384;
const WORTH = 0.7; // a version is kept that has at most this share of the triangles of the next finer one

// A power of two that is twice as large at least.
const tableSize = (count) => 2 ** Math.ceil(Math.log2(2 * count + 1));

// Vertices with equal positions: the first one of them, for each vertex.
function* weld(positions) {
    const count = positions.length / 3;
    const bits =
        positions instanceof Float32Array
            ? new Int32Array(positions.buffer, positions.byteOffset, positions.length)
            : positions;
    const size = tableSize(count);
    const table = new Int32Array(size).fill(-1),
        first = new Uint32Array(count);
    for (let v = 0; v < count; ++v) {
        const x = bits[3 * v],
            y = bits[3 * v + 1],
            z = bits[3 * v + 2];
        let slot = (Math.imul(x, 0x9e3779b1) ^ Math.imul(y, 0x85ebca77) ^ Math.imul(z, 0xc2b2ae3d)) >>> 0;
        slot = (Math.imul(slot ^ (slot >>> 15), 0x2c1b3c6d) >>> 0) & (size - 1);
        for (; ; slot = (slot + 1) & (size - 1)) {
            const other = table[slot];
            if (other < 0) {
                table[slot] = first[v] = v;
                break;
            }
            if (bits[3 * other] === x && bits[3 * other + 1] === y && bits[3 * other + 2] === z) {
                first[v] = other;
                break;
            }
        }
        if (v % BATCH === BATCH - 1) yield;
    }
    return first;
}

// One coarser version: vertices become the first one in their cell. Null where that saves too little.
function* cluster(surface, cells, limit) {
    const { positions, first, indices, box } = surface;
    // The factor lets the largest coordinate fall into the last cell.
    const [fx, fy, fz] = surface.axes.map((axis) => ((axis * cells) / sideOf(surface)) * 0.999999);
    const [x0, y0, z0] = box.min;
    const count = positions.length / 3;
    const size = tableSize(count);
    const keys = new Int32Array(size).fill(-1),
        names = new Int32Array(size);
    const leader = new Int32Array(count);
    for (let v = 0; v < count; ++v) {
        if (first[v] !== v) continue;
        const key =
            (((positions[3 * v] - x0) * fx) | 0) +
            cells * ((((positions[3 * v + 1] - y0) * fy) | 0) + cells * (((positions[3 * v + 2] - z0) * fz) | 0));
        let slot = Math.imul(key ^ (key >>> 15), 0x2c1b3c6d);
        slot = (slot ^ (slot >>> 13)) & (size - 1);
        while (keys[slot] >= 0 && keys[slot] !== key) slot = (slot + 1) & (size - 1);
        if (keys[slot] < 0) names[slot] = v;
        keys[slot] = key;
        leader[v] = names[slot];
        if (v % BATCH === BATCH - 1) yield;
    }
    const kept = new Uint32Array(limit * 3);
    let length = 0;
    for (let i = 0; i + 2 < indices.length; i += 3) {
        const a = leader[first[indices[i]]],
            b = leader[first[indices[i + 1]]],
            c = leader[first[indices[i + 2]]];
        if (a === b || b === c || c === a) continue;
        if (length >= limit * 3) return null;
        kept[length] = a;
        kept[length + 1] = b;
        kept[length + 2] = c;
        length += 3;
        if (i % (3 * BATCH) === 0) yield;
    }
    return kept.slice(0, length);
}

const sideOf = ({ box, axes }) => Math.max(...axes.map((axis, k) => axis * (box.max[k] - box.min[k]))) || 1;

// A surface is { positions, indices, box, axes }: `axes` is what a unit of the positions measures along each
// axis, which differs where they are quantised.

// Coarser versions, the finest first: { indices, cell }, the side of a cell in the units of `axes`.
export function* coarsen(surface) {
    const { positions, indices } = surface;
    surface.first = surface.first || (yield* weld(positions));
    const side = sideOf(surface);
    const levels = [];
    let limit = ((indices.length / 3) * WORTH) | 0;
    for (let cells = FINEST; cells >= COARSEST && limit > 20; cells /= 2) {
        const coarse = yield* cluster(surface, cells, limit);
        if (!coarse) continue;
        levels.push({ indices: coarse, cell: side / cells });
        limit = ((coarse.length / 3) * WORTH) | 0;
    }
    return levels;
}

function* faceNormals({ positions, indices, axes }) {
    const largest = Math.max(...axes),
        [sx, sy, sz] = axes.map((axis) => axis / largest);
    const normals = new Float32Array(indices.length); // not of unit length: the area weighs
    for (let i = 0; i + 2 < indices.length; i += 3) {
        const a = 3 * indices[i],
            b = 3 * indices[i + 1],
            c = 3 * indices[i + 2];
        const ux = (positions[b] - positions[a]) * sx,
            vx = (positions[c] - positions[a]) * sx;
        const uy = (positions[b + 1] - positions[a + 1]) * sy,
            vy = (positions[c + 1] - positions[a + 1]) * sy;
        const uz = (positions[b + 2] - positions[a + 2]) * sz,
            vz = (positions[c + 2] - positions[a + 2]) * sz;
        normals[i] = uy * vz - uz * vy;
        normals[i + 1] = uz * vx - ux * vz;
        normals[i + 2] = ux * vy - uy * vx;
        if (i % (3 * BATCH) === 0) yield;
    }
    return normals;
}

// Corners around each vertex: those of vertex v are corner[start[v]] to corner[start[v + 1] - 1].
function* cornersOf(count, first, indices) {
    const start = new Uint32Array(count + 1),
        corner = new Uint32Array(indices.length);
    for (let i = 0; i < indices.length; ++i) ++start[first[indices[i]] + 1];
    yield;
    for (let v = 0; v < count; ++v) start[v + 1] += start[v];
    yield;
    const next = start.slice(0, count);
    for (let i = 0; i < indices.length; ++i) {
        corner[next[first[indices[i]]]++] = i;
        if (i % (2 * BATCH) === 0) yield;
    }
    return { start, corner };
}

const packByte = (x) => Math.round(x * 127) & 255;

// Smooth normals: { normals, indices, extra }. Each corner has the mean of the faces around its vertex that
// meet its own at less than the crease. Vertices whose corners differ are repeated: those with numbers from
// the old count on are copies of the vertices `extra`. Normals are four signed bytes each.
function* smoothNormals(surface, faces, around) {
    const { positions, indices, first } = surface;
    const { start, corner } = around;
    const count = positions.length / 3;
    const lengths = new Float32Array(indices.length / 3);
    for (let f = 0; f < lengths.length; ++f) lengths[f] = Math.hypot(faces[3 * f], faces[3 * f + 1], faces[3 * f + 2]);
    yield;
    const packed = new Int32Array(indices.length); // normal by corner
    const result = new Uint32Array(indices.length);
    for (let i = 0; i < indices.length; ++i) {
        const f = (i / 3) | 0,
            v = first[indices[i]],
            own = lengths[f] * CREASE;
        const fx = faces[3 * f],
            fy = faces[3 * f + 1],
            fz = faces[3 * f + 2];
        let x = fx,
            y = fy,
            z = fz;
        for (let k = start[v]; k < start[v + 1]; ++k) {
            const g = (corner[k] / 3) | 0;
            if (g === f) continue;
            const gx = faces[3 * g],
                gy = faces[3 * g + 1],
                gz = faces[3 * g + 2];
            if (fx * gx + fy * gy + fz * gz <= own * lengths[g]) continue;
            x += gx;
            y += gy;
            z += gz;
        }
        const s = 1 / (Math.sqrt(x * x + y * y + z * z) || 1);
        packed[i] = packByte(x * s) | (packByte(y * s) << 8) | (packByte(z * s) << 16);
        if (i % BATCH === 0) yield;
    }
    const normal = new Int32Array(count),
        taken = new Uint8Array(count),
        next = new Int32Array(count).fill(-1);
    const extra = [],
        extraNormal = [],
        extraNext = [];
    for (let i = 0; i < indices.length; ++i) {
        const v = indices[i],
            p = packed[i];
        if (!taken[v]) {
            taken[v] = 1;
            normal[v] = p;
            result[i] = v;
        } else if (normal[v] === p) {
            result[i] = v;
        } else {
            let e = next[v];
            while (e >= 0 && extraNormal[e] !== p) e = extraNext[e];
            if (e < 0) {
                e = extra.length;
                extra.push(v);
                extraNormal.push(p);
                extraNext.push(next[v]);
                next[v] = e;
            }
            result[i] = count + e;
        }
        if (i % BATCH === 0) yield;
    }
    const normals = new Int32Array(count + extra.length);
    normals.set(normal);
    normals.set(extraNormal, count);
    return { normals: new Int8Array(normals.buffer), indices: result, extra };
}

// Edges to draw, pairs of vertices: open ones, those of more than two faces, and creases; and whether each
// edge has as many faces on one side as on the other, so that the surface bounds a solid.
function* featureEdges(surface, faces, around) {
    const { indices, first } = surface;
    const { start, corner } = around;
    const edges = [];
    let closed = true;
    for (let i = 0; i < indices.length; ++i) {
        const f = (i / 3) | 0,
            a = first[indices[i]],
            b = first[indices[i % 3 === 2 ? i - 2 : i + 1]];
        if (i % BATCH === 0) yield;
        if (a === b) continue;
        // The faces at a with the same edge; it is listed by the least of its half-edges.
        let balance = 0,
            number = 0,
            least = true,
            other = -1;
        for (let k = start[a]; k < start[a + 1]; ++k) {
            const j = corner[k],
                base = j - (j % 3);
            const after = first[indices[j % 3 === 2 ? base : j + 1]];
            const before = first[indices[j % 3 === 0 ? base + 2 : j - 1]];
            if (after === before) continue; // degenerate: as often forwards as backwards
            if (after === b) {
                ++balance;
                if (j < i) least = false;
            } else if (before === b) {
                --balance;
                if (a > b) least = false; // the half-edge from b lists it
            } else {
                continue;
            }
            ++number;
            if (base !== 3 * f) other = base / 3;
        }
        if (balance) closed = false;
        if (!least) continue;
        if (number === 2 && other >= 0 && balance === 0) {
            const x = faces[3 * f],
                y = faces[3 * f + 1],
                z = faces[3 * f + 2];
            const u = faces[3 * other],
                v = faces[3 * other + 1],
                w = faces[3 * other + 2];
            const product = x * u + y * v + z * w;
            if (product > CREASE * Math.sqrt((x * x + y * y + z * z) * (u * u + v * v + w * w))) continue;
        }
        edges.push(a, b);
    }
    return { edges: new Uint32Array(edges), closed };
}

// Everything above but coarser versions: { normals, indices, extra, edges, closed }.
export function* refine(surface) {
    const { positions, indices } = surface;
    surface.first = surface.first || (yield* weld(positions));
    const faces = yield* faceNormals(surface);
    const around = yield* cornersOf(positions.length / 3, surface.first, indices);
    const { edges, closed } = yield* featureEdges(surface, faces, around);
    const smooth = yield* smoothNormals(surface, faces, around);
    return { ...smooth, edges, closed };
}

// All edges, for a wireframe: three per triangle.
export function wireframe(indices) {
    const lines = new Uint32Array(indices.length * 2);
    for (let i = 0, at = 0; i + 2 < indices.length; i += 3) {
        for (let k = 0; k < 3; ++k) {
            lines[at++] = indices[i + k];
            lines[at++] = indices[i + ((k + 1) % 3)];
        }
    }
    return lines;
}
