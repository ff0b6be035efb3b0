// SPDX-License-Identifier: MIT
// The view as text for the URL's hash, so that a link opens the same view. Only what differs from the start
// is written. Numbers keep seven digits.

const digits = (x) => String(Number(x.toPrecision(7)));
const joined = (set) => [...set].join(",");
const numbers = (text) => (text || "").split(",").filter(Boolean).map(Number);

export function writeState(viewer) {
    const { camera, show, scene } = viewer;
    const { target, distance, azimuth, elevation, parallel } = camera.state;
    const words = [["c", [azimuth, elevation, distance, ...target].map(digits).join(",")]];
    if (parallel) words.push(["o", "1"]);
    if (scene.info.up !== viewer.fileUp) words.push(["up", scene.info.up]);
    if (!show.smooth) words.push(["flat", "1"]);
    if (show.edges !== "features") words.push(["edges", show.edges]);
    if (show.arrowScale !== 1) words.push(["arrows", digits(show.arrowScale)]);
    const { on, axis, at, flip, normal } = show.section;
    if (on)
        words.push(["cut", [axis, digits(at), flip ? 1 : 0, ...(axis === "v" ? normal.map(digits) : [])].join(",")]);
    if (scene.exploded) words.push(["explode", digits(scene.exploded)]);
    if (viewer.hiddenParts.size) words.push(["hide", joined(viewer.hiddenParts)]);
    if (viewer.ghostParts.size) words.push(["ghost", joined(viewer.ghostParts)]);
    if (viewer.only) words.push(["only", joined(viewer.only)]);
    const off = Object.keys(viewer.layers).filter((kind) => !viewer.layers[kind]);
    if (off.length) words.push(["off", off.join(",")]);
    if (viewer.focus) words.push([viewer.rowWord || "id", String(viewer.focus.row.id)]);
    if (scene.times && scene.time !== scene.times[0]) words.push(["t", digits(scene.time)]);
    return words.map(([name, value]) => `${name}=${encodeURIComponent(value).replace(/%2C/g, ",")}`).join("&");
}

// Takes a view from text; false when there is none in it. Unknown words are left alone.
export function readState(viewer, text) {
    const words = new Map();
    for (const word of text.replace(/^#/, "").split("&")) {
        const at = word.indexOf("=");
        if (at <= 0) continue;
        try {
            words.set(word.slice(0, at), decodeURIComponent(word.slice(at + 1)));
        } catch {
            // not written by us
        }
    }
    if (!words.size) return false;
    const { scene, show } = viewer;
    const parts = (name) => new Set(numbers(words.get(name)).filter(Number.isFinite));
    show.smooth = !words.has("flat");
    if (["x", "y", "z"].includes(words.get("up"))) viewer.setUp(words.get("up"));
    if (["none", "wire", "features"].includes(words.get("edges"))) show.edges = words.get("edges");
    if (Number(words.get("arrows")) > 0) show.arrowScale = Number(words.get("arrows"));
    if (words.has("cut")) {
        const [axis, at, flip, ...normal] = words.get("cut").split(",");
        const n = normal.map(Number);
        if (["x", "y", "z"].includes(axis) || (axis === "v" && n.length === 3 && n.every(Number.isFinite))) {
            show.section = {
                on: true,
                axis,
                at: Number(at) || 0,
                flip: flip === "1",
                normal: n.length === 3 ? n : [1, 0, 0],
            };
        }
    }
    if (Number(words.get("explode")) > 0) scene.explode(Number(words.get("explode")));
    viewer.hiddenParts = parts("hide");
    viewer.ghostParts = parts("ghost");
    viewer.only = words.has("only") ? parts("only") : null;
    for (const kind of (words.get("off") || "").split(",")) if (kind in viewer.layers) viewer.layers[kind] = false;
    if (scene.times && Number.isFinite(Number(words.get("t") || NaN))) scene.setTime(Number(words.get("t")));
    viewer.calm = true;
    const row = words.get("clash") || words.get("id");
    if (row) viewer.goto(row);
    const c = numbers(words.get("c"));
    if (c.length === 6 && c.every(Number.isFinite) && c[2] > 0) {
        viewer.camera.flight = null;
        viewer.camera.state = {
            azimuth: c[0],
            elevation: c[1],
            distance: c[2],
            target: c.slice(3),
            parallel: words.get("o") === "1",
        };
    }
    viewer.calm = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    viewer.apply();
    return true;
}
