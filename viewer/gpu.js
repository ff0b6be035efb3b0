// SPDX-License-Identifier: MIT
// What the GPU keeps of items: buffers, textures, and for surfaces the work that improves them in small steps
// (surface.js). Each item has it in item.gpu.
import { coarsen, refine } from "./surface.js";
import { colourAt, positionIn } from "./colour.js";

// Attributes.
export const POSITION = 0;
export const NORMAL = 1;
export const COLOUR = 2;
const TEXTURE_WIDTH = 2048; // which every machine has
const NEEDS_COARSER = 60000; // triangles: scenes with fewer need no coarser versions
const MANY_SPHERES = 12000; // more are sorted, so that the largest can be drawn first

// Elements of three numbers in the order of an index list, or as they are.
function gather(data, indices, count) {
    const result = new data.constructor(count * 3);
    for (let i = 0; i < count; ++i) {
        const v = 3 * (indices ? indices[i] : i);
        for (let k = 0; k < 3; ++k) result[3 * i + k] = data[v + k];
    }
    return result;
}

// Positions for the GPU, in whole words: all, then copies of some.
function withCopies(positions, extra) {
    const count = positions.length / 3;
    const width = positions instanceof Uint16Array ? 4 : 3;
    const data = new positions.constructor((count + extra.length) * width);
    for (let i = 0; i < count + extra.length; ++i) {
        const v = i < count ? i : extra[i - count];
        for (let k = 0; k < 3; ++k) data[i * width + k] = positions[3 * v + k];
    }
    return data;
}

export class Store {
    constructor(gl) {
        this.gl = gl;
        this.jobs = [];
    }

    buffer(data, target = this.gl.ARRAY_BUFFER) {
        const { gl } = this;
        const buffer = gl.createBuffer();
        gl.bindBuffer(target, buffer);
        gl.bufferData(target, data, gl.STATIC_DRAW);
        return buffer;
    }

    attribute(place, buffer, size, { type = this.gl.FLOAT, normalized = false, stride = 0 } = {}) {
        const { gl } = this;
        gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
        gl.enableVertexAttribArray(place);
        gl.vertexAttribPointer(place, size, type, normalized, stride, 0);
    }

    bytes(place, data) {
        const buffer = this.buffer(data);
        this.attribute(place, buffer, 4, { type: this.gl.UNSIGNED_BYTE, normalized: true });
        return buffer;
    }

    // Colours of numbers by the legend, four bytes each, as words.
    mapped(values) {
        const legend = this.scene.info.legend || { min: 0, max: 1 };
        return Uint32Array.from(values, (value) => {
            const [r, g, b] = colourAt(legend.map, positionIn(legend, value)).map((x) => x * 255);
            return r | (g << 8) | (b << 16) | (255 << 24);
        });
    }

    // Sends an item to the GPU; again after it has changed.
    upload(item) {
        const { gl } = this;
        this.forget(item);
        item.gpu = { vao: gl.createVertexArray(), buffers: [], textures: [] };
        gl.bindVertexArray(item.gpu.vao);
        if (item.kind === "arrow") return;
        if (item.triangles) this.uploadSurface(item);
        else if (item.kind === "spheres") this.uploadSpheres(item);
        else if (item.mode === gl.POINTS) this.uploadPoints(item);
        else this.uploadLines(item);
        gl.bindVertexArray(null);
    }

    forget({ gpu }) {
        const { gl } = this;
        if (!gpu) return;
        for (const { vao } of [gpu, gpu.features, gpu.wires].filter(Boolean)) gl.deleteVertexArray(vao);
        for (const buffer of gpu.buffers) gl.deleteBuffer(buffer);
        for (const texture of gpu.textures) gl.deleteTexture(texture);
    }

    // ---- surfaces

    // Triangles with colours of their own get vertices of their own.
    surfaceOf(item) {
        let { positions, indices, colours } = item;
        const { values, triangles } = item,
            count = triangles * 3;
        if (!(positions instanceof Uint16Array)) positions = Float32Array.from(positions);
        if (values && values.length === triangles) {
            const words = this.mapped(values);
            positions = gather(positions, indices, count);
            colours = new Uint8Array(Uint32Array.from({ length: count }, (_, i) => words[(i / 3) | 0]).buffer);
            indices = null;
        }
        indices = indices || Uint32Array.from({ length: count }, (_, i) => i);
        const m = item.node.matrix;
        const axes = [0, 4, 8].map((c) => Math.hypot(m[c], m[c + 1], m[c + 2]) * item.quantum || 1);
        return { positions, indices, colours, box: item.box, axes };
    }

    uploadSurface(item) {
        const { gpu } = item;
        gpu.surface = this.surfaceOf(item);
        gpu.indices = gpu.surface.indices;
        gpu.levels = [];
        this.fillSurface(gpu, [], null);
        this.fillIndices(gpu);
        if (this.triangles > NEEDS_COARSER) this.jobs.unshift(this.coarsenItem(item, gpu));
        this.jobs.push(this.refineItem(item, gpu));
    }

    *coarsenItem(item, gpu) {
        gpu.levels = yield* coarsen(gpu.surface);
        if (gpu === item.gpu) this.fillIndices(gpu);
    }

    *refineItem(item, gpu) {
        const smooth = yield* refine(gpu.surface);
        if (gpu !== item.gpu) return;
        gpu.indices = smooth.indices;
        gpu.smooth = !item.frames.length; // what deforms is drawn flat
        gpu.extra = smooth.extra;
        item.closed = smooth.closed;
        this.fillSurface(gpu, smooth.extra, smooth.normals);
        this.fillIndices(gpu);
        this.fillEdges(gpu, "features", smooth.edges);
    }

    // The vertices of a surface: `extra` of them are there twice; normals, once they are there.
    fillSurface(gpu, extra, normals) {
        const { gl } = this;
        const { positions, colours } = gpu.surface;
        const short = positions instanceof Uint16Array;
        for (const buffer of gpu.buffers) gl.deleteBuffer(buffer);
        gl.bindVertexArray(gpu.vao);
        gpu.unit = short ? 65535 : 1; // the GPU reads shorts as 0 to 1
        gpu.positions = this.buffer(withCopies(positions, extra));
        gpu.layout = { type: short ? gl.UNSIGNED_SHORT : gl.FLOAT, normalized: short, stride: short ? 8 : 12 };
        gpu.buffers = [gpu.positions];
        this.attribute(POSITION, gpu.positions, 3, gpu.layout);
        if (normals) {
            gpu.buffers.push(this.buffer(normals));
            this.attribute(NORMAL, gpu.buffers[1], 3, { type: gl.BYTE, normalized: true, stride: 4 });
        }
        if (colours) {
            const count = colours.length;
            const bytes = new Uint8Array(count + extra.length * 4);
            bytes.set(colours);
            extra.forEach((v, i) => bytes.set(colours.subarray(4 * v, 4 * v + 4), count + 4 * i));
            gpu.buffers.push(this.bytes(COLOUR, bytes));
        }
        gl.bindVertexArray(null);
    }

    // The new positions of a surface that deforms.
    follow(item) {
        const { gl } = this;
        const { gpu, positions, indices } = item;
        const expanded = gpu.surface.positions.length !== positions.length;
        item.moved = false;
        gpu.surface.positions = expanded ? gather(positions, indices, item.triangles * 3) : positions;
        gl.bindBuffer(gl.ARRAY_BUFFER, gpu.positions);
        gl.bufferData(gl.ARRAY_BUFFER, withCopies(gpu.surface.positions, gpu.extra || []), gl.DYNAMIC_DRAW);
    }

    // All versions of the indices, one after another in one buffer.
    fillIndices(gpu) {
        const { gl } = this;
        const lists = [{ indices: gpu.indices, cell: 0 }, ...gpu.levels];
        const all = new Uint32Array(lists.reduce((sum, { indices }) => sum + indices.length, 0));
        let at = 0;
        gpu.ranges = lists.map(({ indices, cell }) => {
            const range = { offset: at * 4, count: indices.length, cell };
            all.set(indices, at);
            at += indices.length;
            return range;
        });
        gl.bindVertexArray(gpu.vao);
        gl.deleteBuffer(gpu.indexBuffer || null);
        gpu.indexBuffer = this.buffer(all, gl.ELEMENT_ARRAY_BUFFER);
        gl.bindVertexArray(null);
    }

    // The lines over a surface: feature edges, or all of them once a wireframe is wanted.
    fillEdges(gpu, name, lines) {
        const { gl } = this;
        const vao = gl.createVertexArray();
        gl.bindVertexArray(vao);
        this.attribute(POSITION, gpu.positions, 3, gpu.layout);
        gpu.buffers.push(this.buffer(lines, gl.ELEMENT_ARRAY_BUFFER));
        gl.bindVertexArray(null);
        gpu[name] = { vao, count: lines.length };
    }

    // Computes for some milliseconds; true while something is left.
    work(milliseconds) {
        const end = performance.now() + milliseconds;
        while (this.jobs.length) {
            if (this.jobs[0].next().done) this.jobs.shift();
            if (performance.now() >= end) break;
        }
        return this.jobs.length > 0;
    }

    // ---- spheres, points and lines

    makeTexture(format, width, height, type, data) {
        const { gl } = this;
        const texture = gl.createTexture();
        gl.bindTexture(gl.TEXTURE_2D, texture);
        gl.texImage2D(gl.TEXTURE_2D, 0, format, width, height, 0, gl.RGBA, type, data);
        gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
        gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
        return texture;
    }

    // A texture of an item with count texels of four numbers; fill(texels) sets them.
    texture(gpu, count, Type, fill) {
        const { gl } = this;
        const height = Math.ceil(count / TEXTURE_WIDTH);
        const texels = new Type(TEXTURE_WIDTH * height * 4);
        fill(texels);
        const floats = Type === Float32Array;
        const texture = this.makeTexture(
            floats ? gl.RGBA32F : gl.RGBA,
            TEXTURE_WIDTH,
            height,
            floats ? gl.FLOAT : gl.UNSIGNED_BYTE,
            texels,
        );
        gpu.textures.push(texture);
        return texture;
    }

    // Positions, and a fourth number of each.
    positionTexture(gpu, positions, fourth) {
        const count = positions.length / 3;
        return this.texture(gpu, count, Float32Array, (texels) => {
            for (let i = 0; i < count; ++i) {
                const from = gpu.order ? gpu.order[i] : i;
                for (let k = 0; k < 3; ++k) texels[4 * i + k] = positions[3 * from + k];
                texels[4 * i + 3] = fourth ? fourth[from] : 0;
            }
        });
    }

    uploadSpheres(item) {
        const { gpu, radii, values } = item;
        const count = (gpu.count = item.positions.length / 3);
        gpu.frames = [];
        if (count > MANY_SPHERES) {
            gpu.order = Uint32Array.from(radii, (_, i) => i).sort((a, b) => radii[b] - radii[a]);
        }
        const words = values ? this.mapped(values) : item.colours && new Uint32Array(item.colours.slice().buffer);
        if (!words) return;
        gpu.colours = this.texture(gpu, count, Uint8Array, (texels) => {
            const all = new Uint32Array(texels.buffer);
            for (let i = 0; i < count; ++i) all[i] = words[gpu.order ? gpu.order[i] : i];
        });
    }

    // The textures of the frames before and after now, and how far it is between them, 0 to 1.
    framesOf(item) {
        const { gpu, frameAt: at = 0 } = item;
        const frames = item.frames.length ? item.frames : [item.positions];
        const i = Math.floor(at);
        const next = Math.min(i + 1, frames.length - 1);
        for (const k of [i, next]) gpu.frames[k] = gpu.frames[k] || this.positionTexture(gpu, frames[k], item.radii);
        return [gpu.frames[i], gpu.frames[next], at - i];
    }

    uploadPoints(item) {
        const { gpu, positions, colours } = item;
        gpu.buffers.push(this.buffer(Float32Array.from(positions)));
        this.attribute(POSITION, gpu.buffers[0], 3);
        if (colours) gpu.buffers.push(this.bytes(COLOUR, colours));
        gpu.count = positions.length / 3;
    }

    uploadLines(item) {
        const { gpu, positions, indices } = item;
        gpu.count = (indices ? indices.length : positions.length / 3) >> 1;
        gpu.data = this.positionTexture(gpu, gather(positions, indices, 2 * gpu.count));
    }
}
