// SPDX-License-Identifier: MIT
// Scenes of the viewer that are made and changed in the page, instead of read from a GLB.
import { IDENTITY, emptyBox, grow, growMoved, isEmpty, center, diagonal, fromTrs } from "../../viewer/math.js";

const LIVE_TRIANGLES = 4;
const LIVE_LINES = 1;
const LIVE_POINTS = 0;
const DRAWN_AS = { part: LIVE_TRIANGLES, patch: LIVE_TRIANGLES, curve: LIVE_LINES, arrow: LIVE_LINES, spheres: LIVE_POINTS, points: LIVE_POINTS };

function boxAround(positions, radii) {
    const box = emptyBox();
    for (let i = 0; i < positions.length; i += 3) {
        const r = radii ? radii[i / 3] : 0;
        grow(box, [positions[i] - r, positions[i + 1] - r, positions[i + 2] - r]);
        grow(box, [positions[i] + r, positions[i + 1] + r, positions[i + 2] + r]);
    }
    return box;
}

// An item as the viewer draws it. `options`: name, part, indices, radii, colours, style, extras.
export function liveItem(kind, positions, options = {}) {
    const { name = kind, part, indices = null, radii = null, colours = null, style = {}, extras = {} } = options;
    const mode = DRAWN_AS[kind];
    return {
        node: { matrix: IDENTITY, parent: null, index: 0 },
        mode,
        kind,
        name,
        id: undefined,
        part,
        extras: { ...extras, style },
        positions,
        quantum: 1,
        indices,
        colours,
        radii,
        values: null,
        faces: null,
        firstFace: 0,
        frames: [],
        style,
        numbers: [],
        matrix: IDENTITY,
        offset: [0, 0, 0],
        hidden: false,
        ghost: Boolean(style.ghost),
        lit: false,
        box: boxAround(positions, radii),
        triangles: mode === LIVE_TRIANGLES ? Math.floor((indices ? indices.length : positions.length / 3) / 3) : 0,
    };
}

// Moves an item by tx ty tz qw qx qy qz.
export function poseItem(item, [x, y, z, w, a, b, c]) {
    item.matrix = fromTrs([x, y, z], [a, b, c, w], [1, 1, 1]);
    item.node = { ...item.node, matrix: item.matrix };
}

// A scene of items, with room around them for what is dragged.
export function liveScene(items, title) {
    items.forEach((item, index) => {
        item.index = index;
    });
    const scene = { items, info: { title, unit: "", up: "z", answers: [], lists: [], plots: [], inputs: [] } };
    Object.assign(scene, { tree: { nodes: [] }, channels: [], time: 0, times: null, exploded: 0 });
    scene.update = () => {};
    scene.setTime = () => {};
    scene.explode = () => {};
    scene.itemsOf = () => [];
    scene.boxOf = (some) => {
        const box = emptyBox();
        for (const item of some) growMoved(box, item.box, item.matrix);
        return box;
    };
    scene.box = scene.boxOf(items);
    if (isEmpty(scene.box)) scene.box = { min: [-1, -1, -1], max: [1, 1, 1] };
    scene.bounds = (some) => {
        const box = scene.boxOf(some || items.filter((item) => !item.hidden));
        return isEmpty(box) ? scene.box : box;
    };
    scene.center = center(scene.box);
    scene.size = diagonal(scene.box) || 1;
    for (const item of items) item.away = [0, 0, 0];
    return scene;
}
