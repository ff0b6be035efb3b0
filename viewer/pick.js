// SPDX-License-Identifier: MIT
// What is under a pixel: exact rays against the triangles and spheres as they are stored, in doubles, without
// the GPU. Triangles are kept in blocks of neighbours in the file's order, each with its box.
import { invert, transform, rotate, dot, addScaled, sub, norm, scale } from "./math.js";
import { arrowOf } from "./scene.js";

const BLOCK = 64; // triangles
const REACH = 6; // pixels around curves, points and arrows

function makeBlocks(item) {
    const { positions, indices, triangles } = item;
    const boxes = new Float32Array(Math.ceil(triangles / BLOCK) * 6);
    for (let b = 0; b < boxes.length / 6; ++b) {
        const box = [Infinity, Infinity, Infinity, -Infinity, -Infinity, -Infinity];
        for (let i = 3 * b * BLOCK; i < Math.min(3 * (b + 1) * BLOCK, 3 * triangles); ++i) {
            const v = 3 * (indices ? indices[i] : i);
            for (let k = 0; k < 3; ++k) {
                const x = positions[v + k];
                if (x < box[k]) box[k] = x;
                if (x > box[k + 3]) box[k + 3] = x;
            }
        }
        boxes.set(box, 6 * b);
    }
    return boxes;
}

// Whether the ray meets a box between two parameters.
function meetsBox(o, d, boxes, at, from, to) {
    for (let k = 0; k < 3; ++k) {
        const low = boxes[at + k],
            high = boxes[at + k + 3];
        if (d[k] === 0) {
            if (o[k] < low || o[k] > high) return false;
            continue;
        }
        const a = (low - o[k]) / d[k],
            b = (high - o[k]) / d[k];
        from = Math.max(from, Math.min(a, b));
        to = Math.min(to, Math.max(a, b));
        // Rounding must not lose a face that lies in a side of its box.
        if (from > to + 1e-12 * Math.abs(to)) return false;
    }
    return true;
}

// The parameter where the ray meets a triangle, or -1 (Moeller and Trumbore 1997).
function meetsTriangle(o, d, p, a, b, c) {
    const ux = p[b] - p[a],
        uy = p[b + 1] - p[a + 1],
        uz = p[b + 2] - p[a + 2];
    const vx = p[c] - p[a],
        vy = p[c + 1] - p[a + 1],
        vz = p[c + 2] - p[a + 2];
    const hx = d[1] * vz - d[2] * vy,
        hy = d[2] * vx - d[0] * vz,
        hz = d[0] * vy - d[1] * vx;
    const det = ux * hx + uy * hy + uz * hz;
    if (det === 0) return -1;
    const sx = o[0] - p[a],
        sy = o[1] - p[a + 1],
        sz = o[2] - p[a + 2];
    const u = (sx * hx + sy * hy + sz * hz) / det;
    if (!(u >= 0 && u <= 1)) return -1;
    const qx = sy * uz - sz * uy,
        qy = sz * ux - sx * uz,
        qz = sx * uy - sy * ux;
    const v = (d[0] * qx + d[1] * qy + d[2] * qz) / det;
    if (!(v >= 0 && u + v <= 1)) return -1;
    return (vx * qx + vy * qy + vz * qz) / det;
}

// The first triangle of an item on the ray between two parameters; `count` of all of them when `every`.
function castSurface(item, ray, from, to, every) {
    const inverse = invert(item.matrix);
    const o = transform(inverse, ray.origin),
        d = rotate(inverse, ray.direction);
    const { positions, indices, triangles, box } = item;
    if (!meetsBox(o, d, [...box.min, ...box.max], 0, from, to)) return null;
    const boxes = (item.blocks = item.blocks || makeBlocks(item));
    let best = null,
        count = 0;
    for (let b = 0; b < boxes.length / 6; ++b) {
        if (!meetsBox(o, d, boxes, 6 * b, from, best && !every ? best.t : to)) continue;
        const end = Math.min((b + 1) * BLOCK, triangles);
        for (let f = b * BLOCK; f < end; ++f) {
            const v = (k) => 3 * (indices ? indices[3 * f + k] : 3 * f + k);
            const t = meetsTriangle(o, d, positions, v(0), v(1), v(2));
            if (!(t >= from && t <= to)) continue;
            ++count;
            if (!best || t < best.t) best = { t, triangle: f };
        }
    }
    return best && { ...best, count };
}

// The stored position of a moving sphere at the time that is shown.
function frameOf({ frames, frameAt }, i) {
    const k = Math.floor(frameAt),
        t = frameAt - k;
    const a = frames[k],
        b = frames[Math.min(k + 1, frames.length - 1)];
    return [0, 1, 2].map((c) => a[3 * i + c] * (1 - t) + b[3 * i + c] * t);
}

// Where a sphere of an item is now, in the file's coordinates.
export const sphereAt = (item, i) =>
    transform(
        item.matrix,
        item.frames.length && item.frameAt !== undefined
            ? frameOf(item, i)
            : Array.from(item.positions.subarray(3 * i, 3 * i + 3)),
    );

function castSpheres(item, ray, from, to) {
    const stretch = norm(item.matrix.slice(0, 3));
    const inverse = invert(item.matrix);
    const [ox, oy, oz] = transform(inverse, ray.origin);
    const [dx, dy, dz] = scale(rotate(inverse, ray.direction), stretch); // of length 1 again
    const moving = item.frames.length && item.frameAt !== undefined;
    let best = null;
    for (let i = 0; i < item.radii.length; ++i) {
        let p = item.positions,
            at = 3 * i;
        if (moving) {
            p = frameOf(item, i);
            at = 0;
        }
        const cx = p[at] - ox,
            cy = p[at + 1] - oy,
            cz = p[at + 2] - oz;
        const along = cx * dx + cy * dy + cz * dz;
        const mx = cx - along * dx,
            my = cy - along * dy,
            mz = cz - along * dz;
        const h = item.radii[i] ** 2 - (mx * mx + my * my + mz * mz);
        if (h < 0) continue;
        const root = Math.sqrt(h) * stretch;
        if (along * stretch + root < from) continue;
        const t = Math.max(along * stretch - root, from); // a cut sphere is met in the plane
        if (t <= to && (!best || t < best.t)) best = { t, sphere: i };
    }
    return best;
}

// The place of the ray that is nearest to a segment, and how far it is from it.
function nearSegment(ray, a, b) {
    const e = sub(b, a),
        w = sub(a, ray.origin),
        d = ray.direction;
    const ee = dot(e, e),
        ed = dot(e, d),
        ew = dot(e, w),
        dw = dot(d, w);
    const det = ee - ed * ed;
    const s = ee === 0 ? 0 : Math.min(Math.max(det > 1e-12 * ee ? (ed * dw - ew) / det : 0, 0), 1);
    const p = addScaled(w, e, s),
        t = dot(p, d);
    return { t, distance: norm(addScaled(p, d, -t)) };
}

function castThin(item, ray, camera, arrowFactor) {
    let best = null;
    const consider = (a, b, index) => {
        const near = nearSegment(ray, a, b);
        const depth = camera.state.parallel ? camera.state.distance : near.t;
        const pixel = (camera.pixel() * depth) / camera.state.distance;
        if (near.t <= 0 || near.distance > REACH * pixel) return;
        if (!best || near.distance < best.distance) best = { ...near, pixel, index };
    };
    if (item.kind === "arrow") {
        const { from, vector } = arrowOf(item);
        consider(from, addScaled(from, vector, arrowFactor), 0);
        return best;
    }
    const { positions, indices } = item;
    const at = (i) => {
        const v = 3 * (indices ? indices[i] : i);
        return transform(item.matrix, [positions[v], positions[v + 1], positions[v + 2]]);
    };
    const count = indices ? indices.length : positions.length / 3;
    if (item.mode === 0) for (let i = 0; i < count; ++i) consider(at(i), at(i), i);
    else for (let i = 0; i + 1 < count; i += 2) consider(at(i), at(i + 1), i / 2);
    return best;
}

// What of the ray the section plane leaves: parameters from and to.
export function leftOf(ray, section) {
    if (!section) return { from: 0, to: Infinity };
    const height = section.offset - dot(section.normal, ray.origin),
        slope = dot(section.normal, ray.direction);
    if (slope > 0) return { from: 0, to: height / slope };
    if (slope < 0) return { from: Math.max(0, height / slope), to: Infinity, cut: height < 0 };
    return { from: 0, to: height >= 0 ? Infinity : -1 };
}

// What is hit first: { item, point, t, and face | sphere | index }, or null. `ghosts`: ghosts count too; `thin`:
// so do curves, points and arrows near the pixel; face is the file's number, null on a cut surface.
export function pick(scene, camera, x, y, { section = null, arrowFactor = 1, ghosts = false, thin = true } = {}) {
    const ray = camera.ray(x, y);
    const { from, to, cut } = leftOf(ray, section);
    let best = null;
    const nearer = (t) => !best || t < best.t;
    for (const item of scene.items) {
        if (item.hidden || (item.ghost && !ghosts) || !(item.triangles || item.kind === "spheres")) continue;
        if (item.triangles) {
            const hit = castSurface(item, ray, from, to, cut && item.closed);
            if (!hit) continue;
            if (cut && item.closed && hit.count % 2) {
                if (nearer(from)) best = { item, t: from, face: null };
            } else if (nearer(hit.t) || (item.faces && hit.t <= best.t * (1 + 1e-6))) {
                // lit faces lie over the part's
                best = {
                    item,
                    t: hit.t,
                    face: item.faces ? item.faces[hit.triangle] : item.firstFace + hit.triangle,
                    triangle: hit.triangle,
                };
            }
        } else {
            const hit = castSpheres(item, ray, from, to);
            if (hit && nearer(hit.t)) best = { item, ...hit };
        }
    }
    if (thin) {
        const limit = best ? best.t : Infinity;
        let line = null;
        for (const item of scene.items) {
            if (item.hidden || item.ghost || item.triangles || item.kind === "spheres") continue;
            const hit = castThin(item, ray, camera, arrowFactor);
            if (!hit || hit.t > limit + 4 * REACH * hit.pixel) continue;
            if (item.kind !== "arrow" && (hit.t < from || hit.t > to)) continue; // the section leaves arrows alone
            if (!line || hit.distance < line.distance) line = { item, ...hit };
        }
        best = line || best;
    }
    return best && { ...best, point: addScaled(ray.origin, ray.direction, best.t) };
}
