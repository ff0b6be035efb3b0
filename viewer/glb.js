// SPDX-License-Identifier: MIT
// Reads glTF 2.0 binary files: the JSON and typed arrays of accessors.

const COMPONENTS = { SCALAR: 1, VEC2: 2, VEC3: 3, VEC4: 4 };
const ARRAYS = {
    5120: Int8Array,
    5121: Uint8Array,
    5122: Int16Array,
    5123: Uint16Array,
    5125: Uint32Array,
    5126: Float32Array,
};
const BROKEN = "its GLB file is broken";
const GLTF_MAGIC = 0x46546c67;
const JSON_CHUNK = 0x4e4f534a;
const BIN_CHUNK = 0x004e4942;

// The bytes of base64 text, line breaks allowed.
export function fromBase64(text) {
    if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
    const raw = atob(text);
    const bytes = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; ++i) bytes[i] = raw.charCodeAt(i);
    return bytes;
}

// Bytes of a GLB from bytes that may be gzipped.
export async function unpack(bytes) {
    if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
}

// { json, array(accessor) } of a GLB. array() gives { data, size, normalized }: a typed array without gaps
// (a view of the file where it can be), and the number of components of an element.
export function parseGlb(bytes) {
    if (bytes.byteOffset % 4) bytes = bytes.slice();
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    if (bytes.length < 20 || view.getUint32(0, true) !== GLTF_MAGIC) throw new Error(BROKEN);
    let json = null,
        bin = null;
    for (let at = 12; at + 8 <= bytes.length;) {
        const length = view.getUint32(at, true),
            type = view.getUint32(at + 4, true);
        const chunk = bytes.subarray(at + 8, at + 8 + length);
        if (chunk.length !== length) throw new Error(BROKEN);
        if (type === JSON_CHUNK && !json) json = JSON.parse(new TextDecoder().decode(chunk));
        if (type === BIN_CHUNK && !bin) bin = chunk;
        at += 8 + length;
    }
    if (!json) throw new Error(BROKEN);
    const array = (index) => {
        const accessor = json.accessors[index];
        const Type = ARRAYS[accessor.componentType],
            size = COMPONENTS[accessor.type];
        const count = accessor.count * size,
            width = Type.BYTES_PER_ELEMENT;
        const normalized = accessor.normalized === true;
        if (accessor.bufferView === undefined) return { data: new Type(count), size, normalized };
        const where = json.bufferViews[accessor.bufferView];
        const start = bin.byteOffset + (where.byteOffset || 0) + (accessor.byteOffset || 0);
        const stride = where.byteStride || size * width;
        if (start + (accessor.count - 1) * stride + size * width > bin.byteOffset + bin.length) {
            throw new Error(BROKEN);
        }
        if (stride === size * width) return { data: new Type(bin.buffer, start, count), size, normalized };
        const data = new Type(count),
            step = stride / width;
        const all = new Type(bin.buffer, start, (accessor.count - 1) * step + size);
        for (let i = 0, to = 0, from = 0; i < accessor.count; ++i, from += step) {
            for (let k = 0; k < size; ++k) data[to++] = all[from + k];
        }
        return { data, size, normalized };
    };
    return { json, array };
}
