// SPDX-License-Identifier: MIT
// Solids: how much two closed meshes overlap, exactly, and the force that separates them.
import { Handle, invoke } from "./core.js";
import { putMesh } from "./mesh.js";
import { batchOf, framed, isOptions, pairItems, same } from "./soup.js";

// The def of a structure that is made from a mesh: (mesh, options) or (mesh, faces, options).
export function createFrom(name, mesh, faces, options, needFaces = true) {
    const [given, rest] = isOptions(faces) && options === undefined ? [undefined, faces] : [faces, options ?? {}];
    return framed(name, (frame) => [{ ...rest, mesh: putMesh(frame, mesh, given, needFaces).address }]);
}

export class Solid extends Handle {
    constructor(mesh, faces, options) {
        super("solid", createFrom("solidCreate", mesh, faces, options));
    }

    get info() {
        return invoke("solidGetInfo", [this]);
    }

    get volume() {
        return this.info.volume;
    }

    // Positions for all vertices, of a mesh that deforms.
    update(positions) {
        framed("solidUpdate", (frame) => [this.mayChange(), putMesh(frame, positions, undefined, false)]);
    }

    // An array of poses gives records.
    overlap(other, pose, { poseA, distance = false } = {}) {
        const poses = batchOf(pose);
        if (poses !== null) {
            return framed("solidOverlapBatch", (frame) =>
                [pairItems(frame, "solidPair", this, poseA, same(this, other), poses), { distance }]);
        }
        return invoke("solidOverlap", [this, poseA ?? null, same(this, other), pose ?? null, { distance }]);
    }

    overlapPatches(other, pose, { poseA } = {}) {
        return invoke("solidOverlapPatches", [this, poseA ?? null, same(this, other), pose ?? null]);
    }

    // The force on each vertex of both meshes.
    overlapGradient(other, pose, { poseA } = {}) {
        const [onA, onB] = invoke("solidOverlapGradient", [this, poseA ?? null, same(this, other), pose ?? null]);
        return { onA, onB };
    }
}
