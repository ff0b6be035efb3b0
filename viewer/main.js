// SPDX-License-Identifier: MIT
// The page: reads the scene that stands in it, and puts viewer, stage and panel together. Tests and other
// scripts use window.carom.
import { fromBase64, unpack } from "./glb.js";
import { loadScene } from "./scene.js";
import { makeRenderer } from "./renderer.js";
import { Viewer } from "./viewer.js";
import { makeStage } from "./stage.js";
import { makePanel } from "./panel.js";
import { writeState, readState } from "./state.js";
import { el, icon } from "./dom.js";

const SAVE_DELAY = 250; // milliseconds after the last movement until the hash follows

const app = document.getElementById("carom-app");
const wantsDark = window.matchMedia("(prefers-color-scheme: dark)");

// Light or dark: as the system has it, until somebody chooses.
function makeTheme(viewer) {
    let chosen = null;
    const follow = () => {
        const dark = chosen === null ? wantsDark.matches : chosen;
        document.documentElement.dataset.theme = dark ? "dark" : "light";
        viewer.set({ dark });
    };
    wantsDark.addEventListener("change", follow);
    follow();
    return () => {
        chosen = !viewer.show.dark;
        follow();
    };
}

// Keeps the hash up to date, and follows it when somebody else changes it.
function keepHash(viewer) {
    let timer = 0,
        written = location.hash;
    const save = () => {
        written = `#${writeState(viewer)}`;
        history.replaceState(null, "", written);
    };
    viewer.listen((what) => {
        if (!["view", "show", "time", "select"].includes(what)) return;
        clearTimeout(timer);
        timer = setTimeout(save, SAVE_DELAY);
    });
    window.addEventListener("hashchange", () => {
        if (location.hash !== written) readState(viewer, location.hash);
    });
}

// A printer gets an image: the canvas may be empty by then.
function preparePrint(viewer, stage) {
    const image = el("img", { className: "print", alt: "" });
    let folded = [];
    stage.append(image);
    window.addEventListener("afterprint", () => folded.forEach((block) => (block.open = false)));
    window.addEventListener("beforeprint", () => {
        const { dark } = viewer.show;
        folded = [...document.querySelectorAll("details:not([open])")]; // nobody can unfold paper
        folded.forEach((block) => (block.open = true));
        viewer.show.dark = false;
        viewer.render("full");
        image.src = viewer.canvas.toDataURL("image/png");
        viewer.set({ dark });
    });
}

// Phones take the GPU away from pages in the background. The hash has the view; the page starts anew.
function survive(canvas) {
    canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
    canvas.addEventListener("webglcontextrestored", () => location.reload());
}

function fallBack(text) {
    const fallback = document.getElementById("carom-fallback");
    app.remove();
    fallback.style.display = "block";
    if (text) fallback.querySelector("p").textContent = text;
}

async function start() {
    const holder = document.getElementById("carom-scene");
    const canvas = el("canvas", { tabIndex: 0, className: "view", "aria-label": "The scene in 3D (? for keys)" });
    const renderer = makeRenderer(canvas);
    if (!renderer) {
        fallBack();
        return null;
    }
    const scene = loadScene(await unpack(fromBase64(holder.textContent)));
    holder.remove();
    const stage = el("main", { className: "stage" }, canvas);
    const panel = el("aside", { className: "panel", "aria-label": "Answers" });
    app.append(stage, panel);
    const viewer = new Viewer(renderer, scene);
    const toggle = () => app.classList.toggle("narrow");
    panel.append(
        el(
            "button",
            { type: "button", className: "handle", "aria-label": "Panel", title: "Panel (m)", onclick: toggle },
            icon("panel"),
        ),
    );
    makeStage(viewer, stage, { theme: makeTheme(viewer), panel: toggle });
    panel.append(makePanel(viewer));
    preparePrint(viewer, stage);
    survive(canvas);
    viewer.home(); // now that the panel has its size
    readState(viewer, location.hash);
    await new Promise((drawn) => {
        viewer.listen((what) => what === "drawn" && drawn());
        viewer.drawNow();
    });
    viewer.tell("show");
    keepHash(viewer);
    return viewer;
}

const started = start();
let viewer = null;
started.then(
    (value) => {
        window.carom.viewer = viewer = value; // for scripts that want more
    },
    (error) => {
        fallBack(`This page cannot be shown in 3D: ${error.message}`);
        throw error;
    },
);

window.carom = {
    // Resolves after the first picture: { webgl: whether there is one }.
    ready: started.then((value) => ({ webgl: Boolean(value) })),
    // The surface under a pixel of the canvas (CSS pixels): ghosts count, curves and points do not.
    pick(x, y) {
        const hit = viewer && viewer.pickAt(x, y, { ghosts: true, thin: false });
        if (!hit) return null;
        const { item, face, sphere, point } = hit;
        return {
            part: item.part,
            face: face === undefined ? sphere : face,
            point,
            id: item.id,
            kind: item.kind,
            name: item.name,
        };
    },
    ray: (x, y) => viewer && viewer.camera.ray(x, y),
    goto: (id) => Boolean(viewer && viewer.goto(id)),
    stats: () => (viewer ? viewer.stats() : {}),
};
