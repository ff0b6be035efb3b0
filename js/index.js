// SPDX-License-Identifier: MIT
// Exact 3D collision detection: await init(), then classes that are prepared once and queried often, and functions for
// single answers. docs/javascript.md explains it; carom.d.ts has every comment.
import * as pose from "./pose.js";
import * as exact from "./exact.js";
import { Packing, Cover } from "./spheres.js";
import { Solid } from "./solid.js";
import { Soup } from "./soup.js";
import { inspect } from "./mesh.js";
import { invoke } from "./core.js";

export { init, info, work, trim, build, setProgress, NONE, Records } from "./core.js";
export { canShare } from "./loader.js";
export * from "./errors.js";
export { VERSION, SOUP_ON_SURFACE as ON_SURFACE, CONVEX_FEATURE_EDGE as FEATURE_EDGE, CONVEX_FEATURE_FACE as FEATURE_FACE,
         CONVEX_FEATURE_INDEX as FEATURE_INDEX, CONVEX_FEATURE_VERTEX as FEATURE_VERTEX } from "./abi.js";
export { Mesh, inspect, check, guessFormat } from "./mesh.js";
export { Soup } from "./soup.js";
export { Solid } from "./solid.js";
export { Convex, ConvexHint, Hull } from "./convex.js";
export { Balls, Cover, measureSpheres, Packing, Tree, TreeHint } from "./spheres.js";
export { Broad, Gas, Scene } from "./many.js";
export { Robot } from "./robot.js";
export { startWorker } from "./remote.js";
export { pose, exact };

// One answer from meshes, which are prepared for it and freed; soups and solids are taken as they are.
function using(Class, meshes, query) {
    const made = [];
    try {
        return query(...meshes.map((mesh) => {
            if (mesh instanceof Class) return mesh;
            made.push(new Class(mesh));
            return made[made.length - 1];
        }));
    } finally {
        for (const handle of made) handle.free();
    }
}

export function meshInfo(mesh, faces) {
    return inspect(mesh, faces);
}

export function selfPairs(mesh, reach) {
    return using(Soup, [mesh], (soup) => soup.selfPairs(reach));
}

export function pairs(a, b, pose, { reach } = {}) {
    return using(Soup, [a, b], (first, second) => first.pairs(second, pose, { reach }));
}

export function distance(a, b, pose) {
    return using(Soup, [a, b], (first, second) => first.distance(second, pose));
}

export function overlap(a, b, pose) {
    return using(Solid, [a, b], (first, second) => first.overlap(second, pose, { distance: true }));
}

export function pack(mesh, count = 1000, options = {}) {
    return new Packing(mesh, { count, ...options });
}

export function cover(mesh, count = 64, options = {}) {
    return new Cover(mesh, { count, ...options });
}

export function advise(options) {
    return invoke("queryAdvise", [options]);
}
