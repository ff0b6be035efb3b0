// SPDX-License-Identifier: MIT
// Meshes: arrays, three.js geometries, the content of files, shapes by formula; inspection, welding and repair.
import { Handle, invoke, Made, makeItems, numbers, Place, putField, show, Frame, ready } from "./core.js";

// What counts as a mesh: a Mesh, { vertices, faces }, a BufferGeometry or something that has one, or two arrays.
// Gives { positions, stride, faces, offsets }, of which faces may be null.
function arraysOf(mesh, faces, needFaces) {
    if (mesh?.geometry?.attributes !== undefined) return arraysOf(mesh.geometry, faces, needFaces);
    if (mesh?.attributes?.position !== undefined) return ofGeometry(mesh);
    if (mesh !== null && typeof mesh === "object" && !Array.isArray(mesh) && !ArrayBuffer.isView(mesh)) {
        const positions = mesh.vertices ?? mesh.positions, given = mesh.faces ?? mesh.indices ?? mesh.index;
        if (positions === undefined) {
            throw new TypeError(`the mesh is ${show(mesh)}; give a Mesh, { vertices, faces }, a BufferGeometry, or two arrays`);
        }
        return arraysOf(positions, given, needFaces);
    }
    const positions = mesh instanceof Float32Array ? mesh : numbers(mesh, Float64Array, "vertices");
    if (positions.length % 3 !== 0) throw new RangeError(`vertices have ${positions.length} numbers; give three per vertex`);
    const found = { positions, stride: 3, count: positions.length / 3, faces: null, offsets: null };
    if (faces !== undefined && faces !== null) return { ...found, ...facesOf(faces) };
    if (needFaces) throw new TypeError("faces are missing: give the corners of triangles, three indices each");
    return found;
}

function facesOf(faces) {
    if (Array.isArray(faces) && faces.length > 0 && faces.some((face) => typeof face === "object" && face !== null)) {
        if (faces.some((face) => face.length !== 3)) { // polygons
            const offsets = new BigUint64Array(faces.length + 1);
            faces.forEach((face, i) => { offsets[i + 1] = offsets[i] + BigInt(face.length); });
            return { faces: numbers(faces.map((face) => [...face]), Uint32Array, "faces"), offsets };
        }
        return { faces: numbers(faces.map((face) => [...face]), Uint32Array, "faces") };
    }
    const found = numbers(faces, Uint32Array, "faces");
    if (found.length % 3 !== 0) throw new RangeError(`faces have ${found.length} indices; give three per triangle`);
    return { faces: found };
}

// A BufferGeometry of three.js: indexed or not, interleaved or not. Others than float arrays are converted.
function ofGeometry(geometry) {
    const { position } = geometry.attributes, interleaved = position.isInterleavedBufferAttribute === true;
    let array = interleaved ? position.data.array : position.array;
    let stride = interleaved ? position.data.stride : position.itemSize, offset = interleaved ? position.offset : 0;
    if (!(array instanceof Float32Array || array instanceof Float64Array)) {
        const read = (i, k) => [position.getX, position.getY, position.getZ][k].call(position, i);
        array = Float64Array.from({ length: 3 * position.count }, (_, i) => read(Math.floor(i / 3), i % 3));
        [stride, offset] = [3, 0];
    }
    const faces = geometry.index ? numbers(geometry.index.array, Uint32Array, "index") :
        Uint32Array.from({ length: position.count - position.count % 3 }, (_, i) => i);
    return { positions: array.subarray(offset), stride, count: position.count, faces, offsets: null };
}

// A carom_mesh_view in memory, for the time of a call.
export function putMesh(frame, mesh, faces, needFaces = true) {
    ready();
    const at = makeItems(frame, "SmeshView", 1, () => {}).address;
    if (mesh instanceof Mesh) {
        mesh.copyView(at);
        return Object.assign(new Place(at), { vertexCount: mesh.vertexCount });
    }
    const { positions, stride, count, faces: corners, offsets, parts } = arraysOf(mesh, faces, needFaces);
    const set = (field, value) => putField(frame, "meshView", at, field, value);
    set("positions", frame.copy(positions));
    set("scalar", positions instanceof Float32Array ? "float32" : "float64");
    set("stride", stride * positions.BYTES_PER_ELEMENT);
    set("vertexCount", count);
    if (corners !== null) {
        set("corners", frame.copy(corners));
        set("faceCount", offsets === null || offsets === undefined ? corners.length / 3 : offsets.length - 1);
    }
    if (offsets) set("offsets", frame.copy(offsets));
    if (parts) set("parts", frame.copy(parts));
    return Object.assign(new Place(at), { vertexCount: count });
}

// A call on a mesh view: the place of the view comes first.
function onView(name, mesh, faces, rest = []) {
    const frame = new Frame();
    let place;
    try {
        place = putMesh(frame, mesh, faces);
    } catch (error) {
        frame.end();
        throw error;
    }
    return invoke(name, [place, ...rest], {}, frame);
}

export class Mesh extends Handle {
    constructor(vertices, faces) {
        super("mesh", vertices instanceof Made ? vertices.pointer : onView("meshCreate", vertices, faces));
    }

    static adopt(pointer) {
        return new Mesh(new Made(pointer));
    }

    static shape(shape = "sphere", options = {}) {
        return Mesh.adopt(invoke("shapeMake", [{ shape, ...options }]));
    }

    // `name` stands for the file in messages and for guessing the format.
    static fromBytes(bytes, { format = "guess", name = null } = {}) {
        return Mesh.adopt(invoke("meshLoadMemory", [bytes, format, name]));
    }

    copyView(at) {
        ready().exports.carom_mesh_get_view(this.pointer, at);
    }

    #view() {
        return readView(this);
    }

    get vertexCount() {
        return this.#view().vertexCount;
    }

    get faceCount() {
        return this.#view().faceCount;
    }

    // A copy: Float32Array or Float64Array, three numbers per vertex.
    get vertices() {
        const view = this.#view();
        const Type = view.scalar === "float32" ? Float32Array : Float64Array;
        return copyOut(Type, view.positions, 3 * view.vertexCount);
    }

    // A copy: Uint32Array, three indices per triangle.
    get faces() {
        const view = this.#view();
        if (view.offsets !== 0) throw new TypeError("the mesh has polygons: use corners and offsets, or triangulate() it");
        return copyOut(Uint32Array, view.corners, 3 * view.faceCount);
    }

    get corners() {
        const view = this.#view(), { offsets } = this;
        return copyOut(Uint32Array, view.corners, offsets[offsets.length - 1]);
    }

    // Face f has the corners [offsets[f], offsets[f + 1]).
    get offsets() {
        const view = this.#view();
        if (view.offsets === 0) return Float64Array.from({ length: view.faceCount + 1 }, (_, i) => 3 * i);
        return Float64Array.from(copyOut(BigUint64Array, view.offsets, view.faceCount + 1), Number);
    }

    get parts() {
        const view = this.#view();
        return view.parts === 0 ? new Uint32Array(view.faceCount) : copyOut(Uint32Array, view.parts, view.faceCount);
    }

    get origin() {
        return invoke("meshGetOrigin", [this]);
    }

    // For three.js: new BufferGeometry() with setAttribute("position", new BufferAttribute(positions, 3)) and setIndex.
    toArrays() {
        const triangles = this.#view().offsets === 0 ? this : this.triangulate()[0];
        return { positions: Float32Array.from(triangles.vertices), index: triangles.faces };
    }

    bounds() {
        return onView("meshBounds", this);
    }

    inspect() {
        return onView("meshInspect", this);
    }

    weld({ byPart = false } = {}) {
        return Mesh.adopt(onView(byPart ? "meshWeldParts" : "meshWeld", this));
    }

    triangulate({ fan = false } = {}) {
        const [pointer, origins] = onView("meshTriangulate", this, undefined, [{ fan }]);
        return [Mesh.adopt(pointer), origins];
    }

    boundaryLoops() {
        return split(...onView("repairListLoops", this));
    }

    nonmanifoldEdges() {
        return onView("repairListEdges", this);
    }

    nonmanifoldVertices() {
        return onView("repairListVertices", this);
    }

    flippedFaces() {
        return onView("repairListFlipped", this)[0];
    }

    closeHoles({ maxEdges = 0 } = {}) {
        const [pointer, result, loops, vertices] = onView("repairClose", this, undefined, [{ maxEdges }]);
        return [Mesh.adopt(pointer), { ...result, boundaryLoops: split(loops, vertices), outcomes: loops.outcome }];
    }

    toBytes(format) {
        return onView("meshSaveMemory", this, undefined, [format]);
    }
}

function split(loops, vertices) {
    return Array.from({ length: loops.length }, (_, i) => vertices.slice(loops.first[i], loops.first[i] + loops.count[i]));
}

// The view of a mesh with its pointers, which records leave out.
function readView(mesh) {
    const frame = new Frame();
    try {
        const at = makeItems(frame, "SmeshView", 1, () => {}).address;
        const { exports, memory } = ready();
        exports.carom_mesh_get_view(mesh.pointer, at);
        const view = new DataView(memory.buffer, at, 72), u = (offset) => view.getUint32(offset, true);
        const q = (offset) => Number(view.getBigUint64(offset, true));
        return { positions: u(0), scalar: u(4) === 1 ? "float32" : "float64", vertexCount: q(16), corners: u(24),
                 offsets: u(28), faceCount: q(32), parts: u(40) };
    } finally {
        frame.end();
    }
}

function copyOut(Type, at, count) {
    const size = count * Type.BYTES_PER_ELEMENT;
    return new Type(new Uint8Array(ready().memory.buffer).slice(at, at + size).buffer);
}

export function inspect(mesh, faces) {
    return onView("meshInspect", mesh, faces);
}

export function check(mesh, faces) {
    return onView("meshCheck", mesh, faces);
}

export function guessFormat(name, bytes = new Uint8Array(0)) {
    return invoke("meshFormatGuess", [name, bytes]);
}

export { onView };
