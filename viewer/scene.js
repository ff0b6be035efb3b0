// SPDX-License-Identifier: MIT
// A scene from a GLB: what Carom wrote into its extras, and one item per thing that is drawn. All numbers
// are in the coordinates of the file that the tool read; the root node's rotation to glTF's Y up is not
// applied, the camera knows the up-axis instead. GLBs of other programs work too: they have no extras.
import { parseGlb } from "./glb.js";
import {
    IDENTITY,
    multiply,
    fromTrs,
    transform,
    mix,
    slerp,
    emptyBox,
    grow,
    growMoved,
    isEmpty,
    center,
    diagonal,
    add,
} from "./math.js";

const MOTION_SAMPLES = 16; // of a motion, to know the room it takes
const MODE_POINTS = 0;
const MODE_LINES = 1;
const MODE_TRIANGLES = 4;

const own = (node) => (node.extras && typeof node.extras.carom === "object" && node.extras.carom) || null;
const list = (x) => (Array.isArray(x) ? x : []);

// What the panel needs, with a default for everything that is missing.
function readInfo(json) {
    const extras = json.scenes && json.scenes[json.scene || 0] && json.scenes[json.scene || 0].extras;
    const info = { ...(extras && extras.carom) };
    for (const name of ["answers", "lists", "plots", "inputs"]) info[name] = list(info[name]);
    info.foreign = !(extras && extras.carom);
    info.title = info.title || document.title;
    info.unit = info.unit || "";
    info.up = ["x", "y", "z"].includes(info.up) ? info.up : "y";
    return info;
}

function boxOf(positions) {
    const box = emptyBox();
    for (let i = 0; i < positions.length; i += 3) {
        for (let k = 0; k < 3; ++k) {
            const x = positions[i + k];
            if (x < box.min[k]) box.min[k] = x;
            if (x > box.max[k]) box.max[k] = x;
        }
    }
    return box;
}

// Colours as bytes, four per element.
function bytesOf({ data, size }) {
    if (data instanceof Uint8Array && size === 4) return data;
    const unitOf = data instanceof Float32Array ? 255 : data instanceof Uint16Array ? 255 / 65535 : 1;
    const bytes = new Uint8Array((data.length / size) * 4).fill(255);
    for (let i = 0; i < data.length / size; ++i) {
        for (let k = 0; k < size; ++k) bytes[4 * i + k] = data[size * i + k] * unitOf;
    }
    return bytes;
}

function kindOf(mode, attributes, extras) {
    if (extras.kind) return extras.kind;
    if (mode === MODE_POINTS) return "_RADIUS" in attributes ? "spheres" : "points";
    return mode === MODE_LINES ? "curve" : "part";
}

function makeItem(glb, node, primitive) {
    const { array } = glb;
    const extras = node.extras || {};
    const mode = primitive.mode === undefined ? MODE_TRIANGLES : primitive.mode;
    const attributes = primitive.attributes;
    const positions = array(attributes.POSITION);
    const item = {
        node,
        mode,
        extras,
        kind: kindOf(mode, attributes, extras),
        name: String(node.name),
        id: extras.id,
        part: extras.part,
        positions: positions.data, // as stored: quantised positions become numbers of the file by `matrix`
        quantum: positions.normalized ? 1 / (2 ** (8 * positions.data.BYTES_PER_ELEMENT) - 1) : 1,
        indices: primitive.indices === undefined ? null : array(primitive.indices).data,
        colours: attributes.COLOR_0 === undefined ? null : bytesOf(array(attributes.COLOR_0)),
        radii: attributes._RADIUS === undefined ? null : array(attributes._RADIUS).data,
        values: Number.isInteger(extras.values) ? array(extras.values).data : null,
        faces: Number.isInteger(extras.faces) ? array(extras.faces).data : null,
        firstFace: extras.first_face || 0,
        frames: list(extras.frames).map((index) => array(index).data),
        style: extras.style || {},
        numbers: list(extras.numbers),
        matrix: IDENTITY,
        offset: [0, 0, 0],
        hidden: false,
        ghost: Boolean(extras.style && extras.style.ghost),
        lit: false,
    };
    if (item.kind === "spheres" && !item.radii) item.kind = "points";
    item.box = boxOf(item.positions);
    for (const frame of item.frames) {
        const box = boxOf(frame);
        grow(item.box, box.min);
        grow(item.box, box.max);
    }
    if (item.radii && !isEmpty(item.box)) {
        let most = 0;
        for (const r of item.radii) most = Math.max(most, r);
        item.box.min = item.box.min.map((x) => x - most);
        item.box.max = item.box.max.map((x) => x + most);
    }
    const count = item.indices ? item.indices.length : item.positions.length / 3;
    item.triangles = mode === MODE_TRIANGLES ? Math.floor(count / 3) : 0;
    return item;
}

// Nodes with their place in the tree. Root nodes are not moved: the file's numbers stay as they are.
function readNodes(json) {
    const nodes = list(json.nodes).map((node, index) => ({
        index,
        name: node.name === undefined ? `node ${index}` : node.name,
        parent: null,
        children: list(node.children),
        mesh: node.mesh,
        extras: own(node),
        translation: node.translation || [0, 0, 0],
        rotation: node.rotation || [0, 0, 0, 1],
        scale: node.scale || [1, 1, 1],
        fixed: node.matrix || null,
        matrix: IDENTITY,
    }));
    for (const node of nodes) for (const child of node.children) if (nodes[child]) nodes[child].parent = node;
    const roots = nodes.filter((node) => !node.parent);
    const carom = roots.length === 1 && roots[0].mesh === undefined && roots[0].name === "carom" ? roots[0] : null;
    const visit = (node, above) => {
        if (!node.extras && above && above.extras) node.name = above.name;
        node.extras = node.extras || (above && above.extras);
        for (const child of node.children) if (nodes[child]) visit(nodes[child], node);
    };
    for (const root of roots) visit(root, null);
    return { nodes, roots, carom };
}

function transformNodes(tree) {
    const visit = (node, matrix) => {
        if (node !== tree.carom) {
            matrix = multiply(matrix, node.fixed || fromTrs(node.translation, node.rotation, node.scale));
        }
        node.matrix = matrix;
        for (const child of node.children) if (tree.nodes[child]) visit(tree.nodes[child], matrix);
    };
    for (const root of tree.roots) visit(root, IDENTITY);
}

// Channels of all animations: { node, path, times, values, size }.
function readChannels(glb, nodes) {
    const channels = [];
    for (const animation of list(glb.json.animations)) {
        for (const { sampler, target } of animation.channels) {
            const { input, output, interpolation } = animation.samplers[sampler];
            const values = glb.array(output);
            if (!nodes[target.node] || !["translation", "rotation", "scale"].includes(target.path)) continue;
            channels.push({
                node: nodes[target.node],
                path: target.path,
                times: glb.array(input).data,
                values: values.data,
                size: values.size,
                step: interpolation === "STEP",
            });
        }
    }
    return channels;
}

function sample(channel, time) {
    const { times, values, size } = channel;
    let i = 0;
    while (i + 1 < times.length && times[i + 1] <= time) ++i;
    const at = (k) => Array.from(values.subarray(k * size, k * size + size));
    if (i + 1 >= times.length || time <= times[0] || channel.step) return at(i);
    const t = (time - times[i]) / (times[i + 1] - times[i]);
    return size === 4 ? slerp(at(i), at(i + 1), t) : mix(at(i), at(i + 1), t);
}

// How far an item with frames is: its place among them, with a fraction. Vertices of surfaces are moved there.
function showFrame(item, times, time) {
    const { frames } = item;
    const last = frames.length - 1;
    let at = 0;
    while (at + 1 < last && times[at + 1] <= time) ++at;
    const step = times[at + 1] - times[at];
    if (last > 0 && step > 0) at += Math.min(Math.max((time - times[at]) / step, 0), 1);
    if (at === item.frameAt) return;
    item.frameAt = at;
    if (!item.triangles) return;
    const k = Math.min(Math.floor(at), last);
    const [a, b] = [frames[k], frames[Math.min(k + 1, last)]];
    item.positions = Float32Array.from(a, (x, i) => x + (b[i] - x) * (at - k));
    item.blocks = null;
    item.moved = true;
}

// The direction of each part from the middle, for exploded views.
function spread(scene) {
    const middle = scene.center;
    const parts = new Map();
    for (const item of scene.items) {
        const box = parts.get(item.part) || emptyBox();
        growMoved(box, item.box, item.matrix);
        parts.set(item.part, box);
    }
    for (const item of scene.items) {
        const box = parts.get(item.part);
        const together = (item.part === undefined && item.kind !== "part") || isEmpty(box);
        const from = together ? middle : center(box);
        item.away = from.map((x, k) => x - middle[k]);
    }
}

// A scene with
//   info        what the tool said (title, answers, lists, ...)
//   items       what is drawn, in the order of the file
//   itemsOf(n)  those at or below the node n
//   setTime(t)  moves what is animated; times are those of `frames`
//   explode(f)  moves parts away from the middle: f times their distance from it
//   bounds()    the box of some items, or of what is visible, in the file's coordinates
export function loadScene(bytes) {
    const glb = parseGlb(bytes);
    const info = readInfo(glb.json);
    const tree = readNodes(glb.json);
    const items = [];
    transformNodes(tree);
    for (const node of tree.nodes) {
        if (node.mesh === undefined) continue;
        for (const primitive of glb.json.meshes[node.mesh].primitives) {
            if (primitive.attributes.POSITION === undefined) continue;
            const item = makeItem(glb, node, primitive);
            if (item.positions.length) items.push(item);
        }
    }
    let number = 0;
    items.forEach((item, index) => {
        item.index = index;
        if (item.part === undefined && item.kind === "part") item.part = number;
        if (item.kind === "part") number = item.part + 1;
    });
    const channels = readChannels(glb, tree.nodes);
    const scene = { info, items, tree, channels, time: 0, exploded: 0 };

    scene.update = () => {
        transformNodes(tree);
        for (const item of items) {
            const q = item.quantum;
            const m = item.node.matrix;
            item.matrix = multiply(q === 1 ? m : multiply(m, fromTrs([0, 0, 0], [0, 0, 0, 1], [q, q, q])), IDENTITY);
            if (item.away && scene.exploded) {
                for (let k = 0; k < 3; ++k) item.matrix[12 + k] += item.away[k] * scene.exploded;
            }
        }
    };
    scene.setTime = (time) => {
        scene.time = time;
        for (const channel of channels) channel.node[channel.path] = sample(channel, time);
        for (const item of items) if (item.frames.length) showFrame(item, scene.times, time);
        scene.update();
    };
    scene.explode = (factor) => {
        scene.exploded = factor;
        scene.update();
    };
    scene.itemsOf = (index) =>
        items.filter((item) => {
            for (let node = item.node; node; node = node.parent) if (node.index === index) return true;
            return false;
        });
    scene.boxOf = (some) => {
        const box = emptyBox();
        for (const item of some) growMoved(box, item.box, item.matrix);
        return box;
    };
    scene.bounds = (some) => {
        const box = scene.boxOf(some || items.filter((item) => !item.hidden));
        return isEmpty(box) ? scene.box : box;
    };

    scene.update();
    scene.box = scene.boxOf(items);
    const given = info.frames && list(info.frames.times);
    const times =
        given && given.length
            ? given
            : channels.length
              ? [0, Math.max(...channels.map((channel) => channel.times[channel.times.length - 1]))]
              : [];
    scene.times = times.length > 1 ? times : null;
    if (channels.length && scene.times) {
        // the room that the motion takes
        for (let i = MOTION_SAMPLES; i >= 0; --i) {
            scene.setTime(times[0] + ((times[times.length - 1] - times[0]) * i) / MOTION_SAMPLES);
            growMoved(scene.box, scene.boxOf(items), IDENTITY);
        }
    }
    if (isEmpty(scene.box)) scene.box = { min: [0, 0, 0], max: [0, 0, 0] };
    scene.center = center(scene.box);
    scene.size = diagonal(scene.box) || 1;
    spread(scene);
    if (scene.times) scene.setTime(times[0]);
    return scene;
}

// Where the arrow of an item starts and leads, in the file's coordinates; the item moves with its node.
export function arrowOf(item) {
    const { from, vector } = item.extras;
    if (Array.isArray(from) && Array.isArray(vector)) return { from: add(from, itemOffset(item)), vector };
    const at = (i) => transform(item.matrix, Array.from(item.positions.subarray(3 * i, 3 * i + 3)));
    const a = at(0),
        b = at(1);
    return { from: a, vector: b.map((x, k) => x - a[k]) };
}

const itemOffset = (item) => item.matrix.slice(12, 15).map((x, k) => x - item.node.matrix[12 + k]);
