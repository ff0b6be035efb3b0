// SPDX-License-Identifier: MIT
// Spheres that fill a solid, or contain it; trees and grids of packed spheres.
import { Handle, invoke, Kept, Made, numbers } from "./core.js";
import { putMesh } from "./mesh.js";
import { createFrom } from "./solid.js";
import { batchOf, framed, pairItems, same } from "./soup.js";

export class Packing extends Handle {
    constructor(mesh, faces, options) {
        super("packing", mesh instanceof Made ? mesh.pointer : createFrom("packingCreate", mesh, faces, options));
    }

    // PLY, or x y z radius per line.
    static fromBytes(bytes, { format = "ply", name = null } = {}) {
        return new Packing(new Made(invoke("packingLoadMemory", [bytes, format, name])));
    }

    // The packing of a mesh that deforms: `before` was packed, and its vertices are now at `positions`.
    deform(before, positions, options = {}) {
        return new Packing(new Made(framed("packingDeform", (frame) => [this,
            { ...options, before: putMesh(frame, before).address, after: putMesh(frame, positions, undefined, false).address }])));
    }

    get info() {
        return invoke("packingGetInfo", [this]);
    }

    listSpheres() {
        return invoke("packingListSpheres", [this]);
    }

    listCells() {
        return invoke("packingListCells", [this]);
    }

    // Float64Array: x, y, z and radius of each.
    get spheres() {
        const { centre, radius, length } = this.listSpheres();
        return Float64Array.from({ length: 4 * length }, (_, i) => (i % 4 < 3 ? centre[3 * (i >> 2) + i % 4] : radius[i >> 2]));
    }

    toBytes(format = "ply") {
        return invoke("packingSaveMemory", [this, format]);
    }
}

export class Cover extends Handle {
    constructor(mesh, faces, options) {
        super("cover", createFrom("coverCreate", mesh, faces, options));
    }

    get info() {
        return invoke("coverGetInfo", [this]);
    }

    // Float64Array: x, y, z and radius of each, largest first.
    get spheres() {
        return invoke("coverListSpheres", [this]);
    }

    listCells() {
        return invoke("coverListCells", [this]);
    }
}

// How far any spheres, x y z radius each, reach out of a solid.
export function measureSpheres(mesh, spheres, options = {}) {
    return framed("coverMeasureSpheres", (frame) =>
        [{ ...options, mesh: putMesh(frame, mesh).address }, numbers(spheres, Float64Array, "spheres", 4)]);
}

export class Tree extends Handle {
    constructor(packing, mesh, options = {}) {
        super("tree", packing instanceof Made ? packing.pointer : framed("treeCreate", (frame) => {
            const def = { ...options, packing: same({ constructor: Packing }, packing) };
            if (mesh !== undefined && mesh !== null) def.mesh = putMesh(frame, mesh).address;
            return [def];
        }));
    }

    static fromBytes(bytes, { name = null } = {}) {
        return new Tree(new Made(invoke("treeLoadMemory", [bytes, "guess", name])));
    }

    // Takes another packing, and its mesh: as a new tree.
    update(packing, mesh) {
        framed("treeUpdate", (frame) => [this.mayChange(), same({ constructor: Packing }, packing),
            mesh === undefined || mesh === null ? null : putMesh(frame, mesh)]);
    }

    get info() {
        return invoke("treeGetInfo", [this]);
    }

    toBytes() {
        return invoke("treeSaveMemory", [this, "carom"]);
    }

    #query(name, other, pose, { poseA, hint, ...def } = {}) {
        const poses = batchOf(pose);
        if (poses === null) {
            if (hint !== undefined) def.hint = hint.address;
            return invoke(name, [this, poseA ?? null, same(this, other), pose ?? null, def]);
        }
        if (hint !== undefined) throw new TypeError("a hint is for one pose at a time, not for a batch");
        const { scaleA = 0, scaleB = 0, ...rest } = def;
        return framed(`${name}Batch`, (frame) =>
            [pairItems(frame, "treePair", this, poseA, same(this, other), poses, { scaleA, scaleB }), rest]);
    }

    overlap(other, pose, options) { return this.#query("treeOverlap", other, pose, options); }
    distance(other, pose, options) { return this.#query("treeDistance", other, pose, options); }
    query(other, pose, options) { return this.#query("treeQuery", other, pose, options); }

    meet(other, pose, { poseA, ...def } = {}) {
        return invoke("treeMeet", [this, poseA ?? null, same(this, other), pose ?? null, def]);
    }

    faces(other, pose, { poseA, ...def } = {}) {
        return invoke("treeFaces", [this, poseA ?? null, same(this, other), pose ?? null, def]);
    }
}

export class TreeHint extends Kept {
    constructor() {
        super("StreeHint");
    }
}

export class Balls extends Handle {
    constructor(packing, grid = {}) {
        super("balls", invoke("ballsCreate", [{ packing: same({ constructor: Packing }, packing), grid }]));
    }

    get info() {
        return invoke("ballsGetInfo", [this]);
    }

    // Spheres as listSpheres() gives them, one by one.
    update(spheres, volume = 0) {
        invoke("ballsUpdate", [this.mayChange(), [...spheres], volume]);
    }

    overlap(other, pose, { poseA, ...def } = {}) {
        const poses = batchOf(pose);
        if (poses === null) return invoke("ballsOverlap", [this, poseA ?? null, same(this, other), pose ?? null, def]);
        const { scaleA = 0, scaleB = 0, ...rest } = def;
        return framed("ballsOverlapBatch", (frame) =>
            [pairItems(frame, "ballsPair", this, poseA, same(this, other), poses, { scaleA, scaleB }), rest]);
    }

    #pairs(name, other, pose, { poseA, kind = "secondary", ...def } = {}) {
        return invoke(name, [this, poseA ?? null, same(this, other), pose ?? null, kind, def]);
    }

    pairs(other, pose, options) { return this.#pairs("ballsPairs", other, pose, options); }
    count(other, pose, options) { return this.#pairs("ballsCount", other, pose, options); }
    meet(other, pose, options) { return this.#pairs("ballsMeet", other, pose, options); }

    bound(other, { kind = "secondary", ...def } = {}) {
        return invoke("ballsBound", [this, same(this, other), kind, def]);
    }
}
