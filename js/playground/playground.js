// SPDX-License-Identifier: MIT
// The playground: the viewer's canvas with meshes that Carom examines in this page. Its state is in the address.
import { makeRenderer } from "../../viewer/renderer.js";
import { Viewer } from "../../viewer/viewer.js";
import { el } from "../../viewer/dom.js";
import { add, scale, norm } from "../../viewer/math.js";
import { liveItem, liveScene, poseItem } from "./live_scene.js";
import { Kernel, SHAPES, CLOSED } from "./kernel.js";

const MODES = { cross: "Crossings", two: "Two solids", pack: "Pack", cover: "Cover", many: "Many" };
const SECOND = { colour: [0.93, 0.66, 0.3] };
const SAVE_AFTER = 300; // milliseconds
const LONGEST = 0.3; // of an arrow, in sizes of the scene
const SHORTEST = 0.1; // of the same, so that a weak force is seen, too
const DEFAULTS = { mode: "cross", a: "cloth", b: "torus", pose: [0.9, 0.2, 0.1, 1, 0, 0, 0], spheres: 300, many: "boxes", count: 20000 };

const root = document.getElementById("carom-app");
const state = { ...DEFAULTS, pose: [...DEFAULTS.pose] };
let viewer = null;
let kernel = null;
let dropped = null;
let parts = {};
let running = null;
let busyFrame = 0;

const answersBox = el("dl", { className: "measured" });
const codeBox = el("pre", { className: "calls", tabIndex: 0 });
const messageBox = el("p", { className: "message", role: "status" });
const controlsBox = el("div", { className: "controls" });
const modeButtons = new Map();

function say(text) {
    messageBox.textContent = text;
    messageBox.hidden = !text;
}

function tell({ answers, code }) {
    answersBox.replaceChildren(...answers.map(([name, value]) => el("div", null, el("dt", null, name), el("dd", null, String(value)))));
    codeBox.textContent = `import { init, Mesh, Soup, Solid, Packing, Cover, Broad, Gas } from "carom";\nawait init();\n\n${code}`;
}

// ---- The picture

function showItems(items, title, { keepView = false } = {}) {
    const scene = liveScene(items, title);
    const before = viewer.scene;
    for (const item of before.items) viewer.renderer.forget(item);
    viewer.scene = scene;
    viewer.renderer.setScene(scene);
    viewer.layers = Object.fromEntries(items.map((item) => [item.kind, true]));
    viewer.selected = viewer.focus = null;
    if (!keepView) {
        viewer.camera.size = scene.size;
        viewer.camera.state = viewer.camera.fit(scene.box);
    }
    viewer.apply();
    viewer.changed();
}

function meshItem(which, style = {}) {
    const { positions, faces, source } = kernel.meshes[which];
    return liveItem("part", positions, { name: source.name || source.shape, part: which === "a" ? 0 : 1, indices: faces, style });
}

// ---- Modes

function showCrossings() {
    const found = kernel.crossings();
    const items = [meshItem("a", { ghost: found.lines.length > 0 })];
    if (found.patch.indices.length) items.push(liveItem("patch", found.patch.positions, { name: "faces that cross", indices: found.patch.indices }));
    if (found.lines.length) items.push(liveItem("curve", found.lines, { name: "where" }));
    showItems(items, "Crossings");
    tell(found);
}

function arrowItem(from, vector) {
    return liveItem("arrow", Float32Array.of(...from, ...add(from, vector)), { name: "force", extras: { from, vector } });
}

// Only the second mesh moves: arrow and line are made anew, the meshes stay on the GPU.
function updateTwo() {
    const found = kernel.two(state.pose);
    poseItem(parts.b, state.pose);
    const { overlap } = found;
    const items = [parts.a, parts.b];
    for (const old of [parts.arrow, parts.line]) if (old) viewer.renderer.forget(old);
    parts.arrow = parts.line = null;
    const strength = norm(overlap.force);
    if (strength > 0) {
        const length = parts.size * Math.max(SHORTEST, LONGEST * Math.min(1, Math.sqrt(strength / parts.strongest))) || 0;
        parts.arrow = arrowItem(overlap.centroid, scale(overlap.force, length / strength));
        items.push(parts.arrow);
    } else if (overlap.hasDistance) {
        parts.line = liveItem("curve", Float32Array.of(...overlap.pointA, ...overlap.pointB), { name: "distance" });
        items.push(parts.line);
    }
    const scene = liveScene(items, "Two solids");
    viewer.scene = scene;
    viewer.renderer.scene = scene;
    viewer.renderer.arrowUnit = 1;
    for (const item of items) {
        if (!item.gpu) {
            item.colour = [];
            viewer.renderer.upload(item);
        }
        viewer.layers[item.kind] = true;
    }
    viewer.apply();
    viewer.moved();
    tell(found);
    return found;
}

function showTwo() {
    parts = { a: meshItem("a", {}), b: meshItem("b", SECOND), arrow: null, line: null };
    poseItem(parts.b, state.pose);
    showItems([parts.a, parts.b], "Two solids");
    parts.size = viewer.scene.size;
    parts.strongest = parts.size * parts.size * 0.2;
    updateTwo();
}

function showSpheres(kind) {
    const found = kernel.spheres(kind, state.spheres);
    const style = { ghost: true };
    const spheres = liveItem("spheres", found.positions, { name: "spheres", radii: found.radii, style: kind === "cover" ? { colour: [0.93, 0.66, 0.3] } : {} });
    showItems([meshItem("a", style), spheres], MODES[kind]);
    tell(found);
}

function showMany() {
    const many = kernel.many(state.many, state.count);
    let first = true;
    const frame = () => {
        if (running !== frame) return;
        const found = kernel.stepMany(many);
        const touching = found.touching ? new Set(found.touching) : null;
        let item;
        if (many.kind === "spheres") item = liveItem("spheres", found.positions, { name: "spheres", radii: many.radii });
        else {
            const colours = new Uint8Array(4 * many.count);
            for (let i = 0; i < many.count; ++i) colours.set(touching.has(i) ? [230, 69, 46, 255] : [92, 148, 214, 255], 4 * i);
            item = liveItem("points", found.positions, { name: "boxes", colours });
        }
        item.box = { min: [0, 0, 0], max: [many.side, many.side, many.side] };
        showItems([item], "Many", { keepView: !first });
        first = false;
        tell(found);
        ++busyFrame;
        setTimeout(() => requestAnimationFrame(frame), 0);
    };
    running = frame;
    frame();
}

// ---- Controls

function choice(label, options, value, onchange) {
    const select = el("select", { onchange: () => onchange(select.value) }, options.map((name) => el("option", { value: name, selected: name === value }, name)));
    return el("label", null, el("span", null, label), select);
}

function slider(label, min, max, value, onchange) {
    const out = el("output", null, String(value));
    const input = el("input", { type: "range", min, max, step: 1, value, onchange: () => onchange(Number(input.value)), oninput: () => (out.textContent = input.value) });
    return el("label", null, el("span", null, label), input, out);
}

function sourceOf(name) {
    if (name === "file" && dropped) return dropped;
    return { shape: SHAPES.includes(name) ? name : DEFAULTS.a, options: name === "cloth" ? { detail: 60 } : {} };
}

function names(which) {
    const list = state.mode === "cross" ? SHAPES : CLOSED;
    return which === "a" && dropped ? ["file", ...list] : list;
}

function fillControls() {
    const list = [];
    const pick = (which, label) => choice(label, names(which), state[which], (name) => set({ [which]: name }));
    if (state.mode !== "many") list.push(pick("a", state.mode === "two" ? "First" : "Shape"));
    if (state.mode === "two") list.push(pick("b", "Second"), el("p", { className: "hint" }, "Drag the orange solid; drag elsewhere to turn the view."));
    if (state.mode === "pack" || state.mode === "cover") {
        list.push(slider("Spheres", 8, state.mode === "pack" ? 2000 : 128, state.spheres, (spheres) => set({ spheres })));
    }
    if (state.mode === "many") {
        list.push(
            choice("What", ["boxes", "spheres"], state.many, (many) => set({ many, count: many === "boxes" ? 20000 : 5000 })),
            choice("How many", state.many === "boxes" ? ["5000", "20000", "100000"] : ["1000", "5000", "20000"], String(state.count), (count) => set({ count: Number(count) })),
        );
    }
    if (state.mode !== "many") {
        const input = el("input", { type: "file", accept: ".obj,.ply,.stl,.off,.glb", onchange: () => input.files[0] && take(input.files[0]) });
        list.push(el("label", { className: "file" }, el("span", null, "Or a mesh of yours"), input));
    }
    controlsBox.replaceChildren(...list);
    for (const [mode, button] of modeButtons) button.setAttribute("aria-pressed", String(mode === state.mode));
}

async function take(file) {
    try {
        dropped = { bytes: new Uint8Array(await file.arrayBuffer()), name: file.name };
        set({ a: "file" });
    } catch (error) {
        say(error.message);
    }
}

function set(changes) {
    Object.assign(state, changes);
    const list = names("a");
    if (!list.includes(state.a)) state.a = state.mode === "cross" ? DEFAULTS.a : "knot";
    if (state.mode === "cover") state.spheres = Math.min(state.spheres, 128);
    refreshPage();
}

function refreshPage() {
    running = null;
    fillControls();
    say("");
    save();
    try {
        if (state.mode === "many") return showMany();
        const change = (which) => {
            const source = sourceOf(state[which]);
            const before = kernel.meshes[which];
            if (!before || JSON.stringify([before.source.shape, before.source.name, before.source.options]) !== JSON.stringify([source.shape, source.name, source.options])) kernel.choose(which, source);
        };
        change("a");
        if (state.mode === "two") change("b");
        if (state.mode === "cross") showCrossings();
        else if (state.mode === "two") showTwo();
        else showSpheres(state.mode);
    } catch (error) {
        showItems(kernel.meshes.a ? [meshItem("a")] : [], "Carom");
        tell({ answers: [], code: "" });
        say(error.message);
    }
    return undefined;
}

// ---- The address

let saving = 0;
function save() {
    clearTimeout(saving);
    saving = setTimeout(() => {
        const { a, ...rest } = state;
        const { target, distance, azimuth, elevation } = viewer.camera.state;
        const view = [...target, distance, azimuth, elevation].map((x) => Number(x.toPrecision(6)));
        const text = encodeURIComponent(JSON.stringify({ ...rest, a: a === "file" ? DEFAULTS.a : a, view }));
        history.replaceState(null, "", `#${text}`);
    }, SAVE_AFTER);
}

// Only what the playground itself writes is taken from an address.
function restore() {
    let found = {};
    try {
        found = JSON.parse(decodeURIComponent(location.hash.slice(1)) || "{}");
    } catch {
        return null;
    }
    if (found.mode in MODES) state.mode = found.mode;
    if (SHAPES.includes(found.a)) state.a = found.a;
    if (CLOSED.includes(found.b)) state.b = found.b;
    if (found.many === "boxes" || found.many === "spheres") state.many = found.many;
    for (const name of ["spheres", "count"]) if (Number.isInteger(found[name]) && found[name] > 0 && found[name] <= 100000) state[name] = found[name];
    const isList = (list, length) => Array.isArray(list) && list.length === length && list.every(Number.isFinite);
    if (isList(found.pose, 7)) state.pose = found.pose;
    return isList(found.view, 6) ? found.view : null;
}

// ---- Dragging the second solid

function attachDrag(canvas) {
    let from = null;
    const place = (event) => {
        const box = canvas.getBoundingClientRect();
        return [event.clientX - box.left, event.clientY - box.top];
    };
    canvas.addEventListener(
        "pointerdown",
        (event) => {
            if (state.mode !== "two" || event.button !== 0 || event.shiftKey) return;
            const [x, y] = place(event);
            const hit = viewer.pickAt(x, y);
            if (!hit || hit.item !== parts.b) return;
            from = { x, y, pose: [...state.pose], id: event.pointerId };
            canvas.setPointerCapture(event.pointerId);
            event.stopImmediatePropagation();
            event.preventDefault();
        },
        { capture: true },
    );
    canvas.addEventListener(
        "pointermove",
        (event) => {
            if (!from || event.pointerId !== from.id) return;
            event.stopImmediatePropagation();
            const [x, y] = place(event);
            const { right, up } = viewer.camera.axes();
            const pixel = viewer.camera.pixel();
            const by = add(scale(right, (x - from.x) * pixel), scale(up, (from.y - y) * pixel));
            moveSecond([...add(from.pose.slice(0, 3), by), ...from.pose.slice(3)]);
        },
        { capture: true },
    );
    const end = (event) => {
        if (!from || event.pointerId !== from.id) return;
        event.stopImmediatePropagation();
        from = null;
        save();
    };
    canvas.addEventListener("pointerup", end, { capture: true });
    canvas.addEventListener("pointercancel", end, { capture: true });
}

function moveSecond(pose) {
    state.pose = pose;
    try {
        const found = updateTwo();
        say("");
        return found;
    } catch (error) {
        say(error.message);
        return null;
    }
}

// ---- The page

async function loadCarom() {
    if (globalThis.crossOriginIsolated) {
        const threaded = await import(new URL("package/index.js", location.href));
        await threaded.init({ threads: 0 });
        return threaded;
    }
    await globalThis.carom.init();
    return globalThis.carom;
}

function setTheme() {
    const dark = window.matchMedia("(prefers-color-scheme: dark)");
    const follow = () => {
        document.documentElement.dataset.theme = dark.matches ? "dark" : "light";
        viewer.set({ dark: dark.matches });
    };
    dark.addEventListener("change", follow);
    follow();
}

async function start() {
    const canvas = el("canvas", { tabIndex: 0, className: "view", "aria-label": "The scene in 3D: drag to turn, wheel to zoom" });
    const renderer = makeRenderer(canvas);
    if (!renderer || !globalThis.WebAssembly) throw new Error("no WebGL 2");
    const carom = await loadCarom();
    const view = restore();
    for (const [mode, text] of Object.entries(MODES)) {
        modeButtons.set(mode, el("button", { type: "button", onclick: () => set({ mode }) }, text));
    }
    const link = el("button", { type: "button", className: "small", onclick: () => navigator.clipboard?.writeText(location.href).then(() => say("The link is copied.")) }, "Copy the link");
    const threads = carom.info().threads;
    root.append(
        el("main", { className: "stage" }, canvas, el("nav", { className: "modes", "aria-label": "What to try" }, [...modeButtons.values()])),
        el(
            "aside",
            { className: "panel", "aria-label": "Answers" },
            el(
                "div",
                { className: "content playground" },
                el("header", null, el("h1", null, "Carom playground"), link),
                controlsBox,
                messageBox,
                answersBox,
                el("h2", null, "The calls"),
                codeBox,
                el("footer", null, `Version ${carom.VERSION}, computed in this page on ${threads} thread${threads > 1 ? "s" : ""}. Nothing is sent anywhere.`),
            ),
        ),
    );
    attachDrag(canvas);
    viewer = new Viewer(renderer, liveScene([], "Carom"));
    viewer.listen((what) => what === "view" && save());
    kernel = new Kernel(carom);
    setTheme();
    for (const kind of ["dragover", "drop"]) {
        root.addEventListener(kind, (event) => {
            event.preventDefault();
            if (kind === "drop" && event.dataTransfer.files[0]) take(event.dataTransfer.files[0]);
        });
    }
    set({});
    if (view) {
        const [x, y, z, distance, azimuth, elevation] = view;
        Object.assign(viewer.camera.state, { target: [x, y, z], distance, azimuth, elevation });
        viewer.moved();
    }
    return { threads };
}

// For tests and scripts.
window.playground = {
    ready: start().catch((error) => {
        document.getElementById("carom-fallback").style.display = "block";
        document.querySelector("#carom-fallback p").append(` (${error.message})`);
        throw error;
    }),
    set,
    state,
    move: (pose) => moveSecond(pose),
    answers: () => Object.fromEntries([...answersBox.children].map((row) => [row.firstChild.textContent, row.lastChild.textContent])),
    project: (point) => viewer.camera.project(point),
    second: () => viewer.scene.boxOf([parts.b]),
    pick: (x, y) => viewer.pickAt(x, y)?.item.part,
    exact: () => kernel.two(state.pose).overlap.volume,
    frames: () => busyFrame,
    drawn: () => viewer.stats().full,
};
