// SPDX-License-Identifier: MIT
// What lies over the canvas: tools, section and explode, the timeline, axes, scale, legend, the card at the
// pointer, the keys.
import { el, svg, icon, tool, range, number, withUnit } from "./dom.js";
import { colourAt, css } from "./colour.js";
import { ticks } from "./plot.js";
import { describe } from "./panel.js";

// Where the eye is, as right, away and up of the scene.
const VIEWS = [
    ["front", 0, -1, 0],
    ["back", 0, 1, 0],
    ["right", 1, 0, 0],
    ["left", -1, 0, 0],
    ["top", 0, 0, 1],
    ["bottom", 0, 0, -1],
];
const EXPLODED = 0.6; // of the way of parts from the middle
const AXES_PAUSE = 200; // milliseconds between two pictures of the axes on slow machines, which take long for the page, too

// A row of the tray with a name, its controls and a button that closes it.
function trayRow(name, close, ...children) {
    return el(
        "div",
        { className: "row" },
        el("span", { className: "what" }, name),
        ...children,
        close ? tool("close", `Close ${name.toLowerCase()}`, close) : null,
    );
}

function makeSection(viewer) {
    const slider = range("Place of the section plane", 0, 1, 0.001, 0.5, (at) => viewer.setSection({ at }));
    const axes = ["x", "y", "z", "v"].map((axis) =>
        el(
            "button",
            {
                type: "button",
                className: "small",
                title: axis === "v" ? "Across the view" : `Across ${axis.toUpperCase()}`,
                onclick: () => viewer.setSection({ axis, at: 0.5 }),
            },
            axis === "v" ? "View" : axis.toUpperCase(),
        ),
    );
    const flip = tool("flip", "Other side", () => viewer.setSection({ flip: !viewer.show.section.flip }));
    const row = trayRow(
        "Section",
        () => viewer.setSection({ on: false }),
        el("span", { className: "group" }, axes),
        slider,
        flip,
    );
    return {
        row,
        refresh: () => {
            const { on, axis, at } = viewer.show.section;
            row.hidden = !on;
            slider.value = at;
            axes.forEach((button, i) => button.setAttribute("aria-pressed", String("xyzv"[i] === axis)));
        },
    };
}

function makeExplode(viewer, open) {
    const slider = range("How far parts are moved apart", 0, 2, 0.01, 0, (factor) => viewer.explode(factor));
    const row = trayRow(
        "Explode",
        () => {
            open.explode = false;
            viewer.explode(0);
        },
        slider,
    );
    return {
        row,
        refresh: () => {
            row.hidden = !(open.explode || viewer.scene.exploded);
            slider.value = viewer.scene.exploded;
        },
    };
}

function makeTimeline(viewer) {
    const { times, info } = viewer.scene;
    if (!times) return null;
    const unit = info.frames && info.frames.unit;
    const rows = info.lists.flatMap((list) => list.rows || []).filter((row) => row.time !== undefined);
    const first = times[0],
        last = times[times.length - 1];
    const button = tool("play", "Play", () => viewer.play());
    const slider = range("Time", first, last, "any", first, (time) => {
        viewer.play(false);
        viewer.setTime(time);
    });
    slider.addEventListener("keydown", (event) => {
        const by = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 }[event.key];
        if (!by) return;
        event.preventDefault();
        stepTime(viewer, by);
    });
    const text = el("output", { style: { flexBasis: rows.length ? "60%" : "" } });
    const row = el("div", { className: "row timeline" }, button, slider, text);
    return {
        row,
        refresh: () => {
            const { time } = viewer.scene;
            slider.value = time;
            const about = rows.findLast((r) => r.time <= time);
            text.textContent = about ? about.cells.slice(0, 4).join(" ") : withUnit(Number(time.toPrecision(4)), unit);
            button.replaceChildren(icon(viewer.playing ? "pause" : "play"));
            button.setAttribute("aria-label", viewer.playing ? "Stop" : "Play");
        },
    };
}

// One frame on or back; where a motion is not stored as frames, a fiftieth of it.
function stepTime(viewer, by) {
    const { times, time } = viewer.scene;
    if (!times) return;
    const places =
        times.length > 2 ? times : Array.from({ length: 51 }, (_, i) => times[0] + ((times[1] - times[0]) * i) / 50);
    const near = 1e-9 * (places[places.length - 1] - places[0]);
    const next = by > 0 ? places.find((t) => t > time + near) : places.findLast((t) => t < time - near);
    viewer.play(false);
    if (next !== undefined) viewer.setTime(next);
}

// ---- axes, scale and legend

const AXIS_COLOURS = ["#d64545", "#3f9b4f", "#3d74d9"];

function makeAxes(viewer) {
    const picture = svg("svg", { viewBox: "-40 -40 80 80", "aria-hidden": "true" });
    const refresh = () => {
        const { right, up, back } = viewer.camera.axes();
        const ends = [0, 1, 2, 3, 4, 5].map((i) => ({ k: i % 3, s: i < 3 ? 1 : -1 }));
        ends.sort((a, b) => a.s * back[a.k] - b.s * back[b.k]); // the farthest first
        const parts = ends.flatMap(({ k, s }) => {
            const [x, y, colour] = [right[k] * s * 27, -up[k] * s * 27, AXIS_COLOURS[k]];
            const direction = [0, 0, 0];
            direction[k] = s;
            const onclick = () => viewer.look(direction);
            const dot = svg("circle", {
                cx: x,
                cy: y,
                r: s > 0 ? 9 : 5,
                fill: colour,
                opacity: s > 0 ? 1 : 0.25,
                onclick,
            });
            if (s < 0) return [dot];
            return [
                svg("line", { x2: x, y2: y, stroke: colour, "stroke-width": 2.5 }),
                dot,
                svg("text", { x, y: y + 3.6, "text-anchor": "middle" }, "XYZ"[k]),
            ];
        });
        picture.replaceChildren(...parts);
    };
    return { box: el("div", { className: "axes" }, picture), refresh };
}

function makeScale(viewer) {
    const bar = el("i"),
        text = el("span");
    const box = el("div", { className: "scale", "aria-hidden": "true" }, text, bar);
    const { unit } = viewer.scene.info;
    return {
        box,
        refresh: () => {
            const pixel = viewer.camera.pixel();
            const power = 10 ** Math.floor(Math.log10(pixel * 140));
            const length = power * [5, 2, 1].find((m) => m * power <= pixel * 140);
            bar.style.width = `${length / pixel}px`;
            text.textContent = `${withUnit(length, unit || (length === 1 ? "unit" : "units"))} · ${viewer.scene.info.up.toUpperCase()} up`;
        },
    };
}

function makeLegend(viewer) {
    const { legend } = viewer.scene.info;
    if (!legend) return null;
    const steps = legend.steps > 1 && legend.steps <= 24 ? legend.steps : 0;
    const wide = "200px";
    const stops = steps
        ? Array.from({ length: steps }, (_, i) => {
              const c = css(colourAt(legend.map, i / (steps - 1)));
              return `${c} ${(100 * i) / steps}% ${(100 * (i + 1)) / steps}%`;
          })
        : Array.from({ length: 17 }, (_, i) => css(colourAt(legend.map, i / 16)));
    const places = ticks(legend.min, legend.max, 4).filter((v) => v >= legend.min && v <= legend.max);
    const at = (v) => {
        const t = legend.max > legend.min ? (v - legend.min) / (legend.max - legend.min) : 0.5;
        return steps ? (t * (steps - 1) + 0.5) / steps : t;
    };
    return el(
        "div",
        { className: "legend" },
        el("b", null, String(legend.label ?? ""), legend.unit ? ` (${legend.unit})` : ""),
        el("div", {
            className: "bar",
            style: { width: wide, backgroundImage: `linear-gradient(90deg, ${stops.join(", ")})` },
        }),
        el(
            "div",
            { className: "ticks", style: { width: wide } },
            places.map((v) => el("span", { style: { left: `${100 * at(v)}%` } }, number(v))),
        ),
    );
}

function makeCard(viewer) {
    const card = el("div", { className: "card", hidden: true });
    viewer.listen((what) => {
        if (what !== "hover" && what !== "view") return;
        const { hovered } = viewer;
        card.hidden = !(what === "hover" && hovered && hovered.item);
        if (card.hidden) return;
        card.replaceChildren(
            ...describe(viewer, hovered).map(([name, value], i) =>
                i ? el("div", null, el("span", null, name), ` ${value}`) : el("b", null, value),
            ),
        );
        const { width, height } = viewer.camera;
        card.style.left = `${Math.min(hovered.x + 14, width - 230)}px`;
        card.style.top = hovered.y > height * 0.6 ? "" : `${hovered.y + 16}px`;
        card.style.bottom = hovered.y > height * 0.6 ? `${height - hovered.y + 12}px` : "";
    });
    return card;
}

const MOUSE = `Mouse: drag turns, right drag or shift moves, the wheel zooms; a click picks, a double click goes there.
Touch: one finger turns, two move and zoom.`;

// Fills the dialog with the keys.
function fillHelp(dialog, commands) {
    const keys = [
        ["arrows", "turn; with shift: move"],
        ["+ −", "nearer, farther"],
        ["Enter", "pick what is at the cross"],
        ...commands,
    ];
    dialog.append(
        el(
            "header",
            null,
            el("h2", null, "Keys"),
            tool("close", "Close", () => dialog.close()),
        ),
        el(
            "dl",
            null,
            keys.map(([key, text]) =>
                el("div", null, el("dt", null, el("kbd", null, key === " " ? "space" : key)), el("dd", null, text)),
            ),
        ),
        el("p", null, MOUSE),
    );
    dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
}

// ---- all of it

// Saves the picture as a file.
async function savePicture(viewer) {
    const url = URL.createObjectURL(await viewer.picture());
    el("a", {
        href: url,
        download: `${
            String(viewer.scene.info.title)
                .replace(/[^\w.-]+/g, "_")
                .slice(0, 80) || "carom"
        }.png`,
    }).click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
}

const nextOf = (list, value) => list[(list.indexOf(value) + 1) % list.length];

// What keys and tools do: [key, text, action], then for tools a picture, and whether it is pressed.
function makeCommands(viewer, page, open, help) {
    const { show, scene, camera } = viewer;
    const moveSection = (by) => viewer.setSection({ on: true, at: Math.min(Math.max(show.section.at + by, 0), 1) });
    const chosen = () =>
        viewer.selected
            ? [viewer.selected.item]
            : viewer.focus && viewer.focus.items.length
              ? viewer.focus.items
              : null;
    const toggle = (set) => viewer.selected && viewer.toggle(set, viewer.selected.item.part);
    const parallel = () => {
        camera.state.parallel = !camera.state.parallel;
        viewer.moved();
        viewer.tell("show");
    };
    const explode = () => {
        open.explode = !scene.exploded;
        viewer.explode(open.explode ? EXPLODED : 0);
    };
    const several = scene.items.filter((item) => item.kind === "part").length > 1;
    return [
        ["f", "fit what is selected, or all", () => viewer.fit(chosen()), "fit"],
        ["0", "from a corner", () => viewer.look([-0.6, -0.8, 0.48], true), "view"],
        ...VIEWS.map(([name, ...way], i) => [String(i + 1), name, () => viewer.look(way, true)]),
        ["u", "which axis is up", () => viewer.setUp(nextOf(["x", "y", "z"], scene.info.up))],
        ["o", "parallel or perspective", parallel, "parallel", () => camera.state.parallel],
        ["s", "flat or smooth", () => viewer.set({ smooth: !show.smooth }), "shade", () => !show.smooth],
        [
            "e",
            "edges, wireframe, none",
            () => viewer.set({ edges: nextOf(["features", "wire", "none"], show.edges) }),
            "edges",
            () => show.edges !== "none",
        ],
        ["x", "section plane", () => viewer.setSection({ on: !show.section.on }), "section", () => show.section.on],
        [
            "c",
            "axis of the section plane",
            () => viewer.setSection({ on: true, axis: nextOf(["x", "y", "z", "v"], show.section.axis), at: 0.5 }),
        ],
        ["[", "section plane back", () => moveSection(-0.02)],
        ["]", "section plane on", () => moveSection(0.02)],
        ["v", "explode", explode, several && "explode", () => scene.exploded > 0],
        ["h", "hide what is selected", () => toggle(viewer.hiddenParts)],
        ["g", "make it a ghost", () => toggle(viewer.ghostParts)],
        [
            "i",
            "show it alone",
            () => viewer.isolate(viewer.only || !viewer.selected ? null : [viewer.selected.item.part]),
        ],
        ["a", "show everything", () => viewer.showAll()],
        ["j", "next row", () => viewer.step(1)],
        ["k", "previous row", () => viewer.step(-1)],
        [" ", "play or stop", () => viewer.play()],
        [",", "one frame back", () => stepTime(viewer, -1)],
        [".", "one frame on", () => stepTime(viewer, 1)],
        ["p", "save a picture", () => savePicture(viewer), "camera"],
        ["d", "dark or light", () => page.theme(), "theme"],
        ["m", "the panel", () => page.panel()],
        ["Escape", "let go", () => viewer.clear()],
        ["?", "keys", () => help.showModal(), "help"],
    ];
}

function attachCommands(viewer, commands, help) {
    document.addEventListener("keydown", (event) => {
        const { key, target } = event;
        if (event.ctrlKey || event.altKey || event.metaKey || help.open) return;
        if (target.matches("[type=search], textarea, select") || (key === " " && target.matches("button, summary, input"))) return;
        const command = commands.find(([its]) => its === key);
        if (command) command[2]();
        else if (key === "Enter" && target === viewer.canvas)
            viewer.click(viewer.camera.width / 2, viewer.camera.height / 2);
        else return;
        event.preventDefault();
    });
}

// Puts everything over the canvas into `stage`; `page` has theme() and panel(), which belong to the page.
export function makeStage(viewer, stage, page) {
    const open = { explode: false };
    const help = el("dialog", { className: "help", "aria-label": "Keys" });
    const commands = makeCommands(viewer, page, open, help);
    fillHelp(help, commands);
    attachCommands(viewer, commands, help);
    const tools = commands
        .filter(([, , , picture]) => picture)
        .map(([key, text, action, picture, pressed]) => {
            const label = `${text[0].toUpperCase()}${text.slice(1)} (${key})`;
            return { button: tool(picture, label, action), pressed };
        });
    const axes = makeAxes(viewer);
    const scale = makeScale(viewer);
    const rows = [makeSection(viewer), makeExplode(viewer, open), makeTimeline(viewer)].filter(Boolean);
    stage.append(
        el(
            "div",
            { className: "toolbar", role: "toolbar", "aria-label": "View" },
            tools.map(({ button }) => button),
        ),
        axes.box,
        el("div", { className: "corner" }, makeLegend(viewer), scale.box),
        el(
            "div",
            { className: "tray" },
            rows.map(({ row }) => row),
        ),
        makeCard(viewer),
        help,
        el("i", { className: "cross", "aria-hidden": "true" }),
    );
    let latest = 0;
    const refresh = (what) => {
        const now = performance.now();
        const wait = viewer.renderer.slow && viewer.moving && now - latest < AXES_PAUSE;
        if ((what === "view" && !wait) || what === "drawn") {
            latest = now;
            for (const { refresh: again } of [axes, scale]) again();
        }
        if (what === "show" || what === "time") for (const { refresh: again } of rows) again();
        if (what === "show") {
            for (const { button, pressed } of tools)
                if (pressed) button.setAttribute("aria-pressed", String(pressed()));
        }
    };
    viewer.listen(refresh);
    refresh("view");
    refresh("show");
}
