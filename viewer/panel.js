// SPDX-License-Identifier: MIT
// The side panel: what was asked and answered, what is selected, lists whose rows lead to their places, parts,
// plots, and the file.
import { el, icon, tool, range, number, withUnit } from "./dom.js";
import { css } from "./colour.js";
import { plot } from "./plot.js";
import { sphereAt } from "./pick.js";

const SHORT = 11; // letters of an answer that fit into a third of the panel
const SHORT_BOUND = 24; // letters of its bound, in two lines
const COORDINATE_DIGITS = 5; // of coordinates, in sizes of the scene: quantised positions have no more
const FEW_ROWS = 12; // lists with more get a filter
const PAGE_ROWS = 200; // rows that are made at once
const MOST_PARTS = 400; // that are listed at once
const KINDS = {
    part: "Part",
    patch: "Lit face",
    region: "Overlap",
    spheres: "Sphere",
    curve: "Curve",
    points: "Point",
    arrow: "Arrow",
    edges: "Marked edge",
};
const UP = { x: "X up", y: "Y up", z: "Z up" };

// A page of its own kind puts what it makes in place of answers and lists: make(viewer).
export const special = {};

export const section = (title, open, ...children) =>
    el("details", { open, className: "block" }, el("summary", null, title), ...children);

// A bound as text: numbers are distances to both sides.
const bound = (value, unit) => (typeof value === "number" ? `± ${withUnit(value, unit)}` : String(value ?? ""));

function answers(info) {
    const tiles = info.answers.map((answer) => {
        const text = withUnit(answer.value ?? "", answer.unit),
            limits = bound(answer.bound, answer.unit);
        return el(
            "div",
            { className: text.length > SHORT || limits.length > SHORT_BOUND ? "long" : "" },
            el("dt", null, String(answer.label ?? "")),
            el("dd", null, text, el("small", null, limits)),
        );
    });
    return el("dl", { className: "answers" }, tiles);
}

// Rows of pairs: a name and a text.
export const facts = (pairs) =>
    el(
        "dl",
        { className: "facts" },
        pairs
            .filter((pair) => pair && pair[1] !== "" && pair[1] !== undefined)
            .map(([name, value]) => el("div", null, el("dt", null, name), el("dd", null, value))),
    );

// ---- lists

const compare = (a, b) => {
    const x = Number(String(a).replace(/,/g, "")),
        y = Number(String(b).replace(/,/g, ""));
    return Number.isFinite(x) && Number.isFinite(y)
        ? x - y
        : String(a).localeCompare(String(b), "en", { numeric: true });
};

export const search = (label, oninput) =>
    el("input", { type: "search", placeholder: "Filter", "aria-label": `Filter ${label}`, oninput });

// Arrow keys go through the rows of a table, of which Tab reaches one.
export function rowKeys(viewer, body) {
    body.addEventListener("keydown", (event) => {
        const lines = [...body.children];
        const line = event.target.closest("tr");
        const steps = { ArrowDown: 1, ArrowUp: -1, Home: -Infinity, End: Infinity, PageDown: 10, PageUp: -10 };
        if (event.key in steps) {
            const to = Math.min(Math.max(lines.indexOf(line) + steps[event.key], 0), lines.length - 1);
            for (const other of lines) other.tabIndex = other === lines[to] ? 0 : -1;
            lines[to].focus();
        } else if (event.key === "Enter" || event.key === " ") {
            viewer.lookAt(line.row);
        } else {
            return;
        }
        event.preventDefault();
        event.stopPropagation();
    });
}

// The cells of a list: which columns have any, which hold numbers, and their text.
function readCells({ rows = [], columns = [] }) {
    const cell = (row, c) => (row.cells || [])[c] ?? "";
    const used = columns.map((_, c) => c).filter((c) => rows.some((row) => cell(row, c) !== ""));
    const numeric = columns.map((_, c) => rows.every((row) => /^[\d.,e+-]*$/.test(cell(row, c))));
    const text = (row, c) => {
        const value = numeric[c] && Number(cell(row, c));
        return value ? number(value) : String(cell(row, c));
    };
    return { rows, columns, used, cell, text, style: (c) => ({ className: numeric[c] ? "number" : "" }), numeric };
}

function makeList(viewer, list) {
    const { rows, columns, used, cell, text, style, numeric } = readCells(list);
    let order = rows;
    let shown = PAGE_ROWS;
    let sorted = -1;
    let down = false;
    const lineOf = new Map();
    const body = el("tbody");
    const more = el("button", { type: "button", className: "more", onclick: () => fill((shown += 5 * PAGE_ROWS)) });
    const makeLine = (row) => {
        const cells = used.map((c) => el("td", style(c), text(row, c)));
        const line = el("tr", { "aria-selected": "false", onclick: () => viewer.lookAt(row) }, cells);
        line.row = row;
        lineOf.set(row, line);
        return line;
    };
    const fill = () => {
        viewer.orders.set(list, order);
        body.replaceChildren(...order.slice(0, shown).map((row) => lineOf.get(row) || makeLine(row)));
        more.textContent = `${number(Math.max(order.length - shown, 0))} more rows`;
        more.hidden = order.length <= shown;
        const active = body.querySelector("[aria-selected=true]") || body.firstElementChild;
        for (const line of body.children) line.tabIndex = line === active ? 0 : -1;
    };
    const sort = () => {
        const words = filter.value.toLowerCase().split(/\s+/);
        const has = (row) => words.every((word) => used.some((c) => String(cell(row, c)).toLowerCase().includes(word)));
        order = rows.filter(has);
        if (sorted >= 0) order.sort((a, b) => (down ? -1 : 1) * compare(cell(a, sorted), cell(b, sorted)));
        heads.forEach((head, i) => {
            head.setAttribute("aria-sort", used[i] !== sorted ? "none" : down ? "descending" : "ascending");
        });
        fill();
    };
    const filter = search(list.title ?? "rows", sort);
    const sortBy = (c) => {
        down = sorted === c ? !down : numeric[c];
        sorted = c;
        sort();
    };
    const heads = used.map((c) =>
        el("th", style(c), el("button", { type: "button", onclick: () => sortBy(c) }, String(columns[c]))),
    );
    rowKeys(viewer, body);
    viewer.listen((what) => {
        if (what !== "select") return;
        const row = viewer.focus && viewer.focus.row;
        if (order.indexOf(row) >= shown) fill((shown = order.length));
        for (const [other, line] of lineOf) {
            if (other === row && line.getAttribute("aria-selected") !== "true")
                line.scrollIntoView({ block: "nearest" });
            line.setAttribute("aria-selected", String(other === row));
        }
    });
    fill();
    const table = el("table", null, el("thead", null, el("tr", null, heads)), body);
    const count = list.total > rows.length ? `the first ${number(rows.length)} of ${number(list.total)}` : number(rows.length);
    return section(
        `${list.title ?? "List"} · ${count}`,
        true,
        rows.length > FEW_ROWS ? filter : null,
        rows.length ? el("div", { className: "scroll" }, table, more) : el("p", { className: "faint" }, "None."),
    );
}

// ---- parts

// A line of the parts: { line, refresh }.
function makePart(viewer, item) {
    const { part } = item;
    const many = item.triangles ? `${number(item.triangles)} faces` : `${number(item.positions.length / 3)} spheres`;
    const go = () => {
        viewer.focus = null;
        viewer.select({ item });
        viewer.fit([item]);
    };
    const name = el(
        "button",
        { type: "button", className: "name", title: "Fly there", onclick: go },
        el("i", { className: "swatch", style: { background: css(viewer.renderer.colourOf(item)) } }),
        el("span", null, item.name),
        el("small", null, many),
    );
    const alone = () => Boolean(viewer.only && viewer.only.has(part));
    const only = tool("only", `Show ${item.name} alone`, () => viewer.isolate(alone() ? null : [part]));
    const ghost = tool("ghost", `Ghost ${item.name}`, () => viewer.toggle(viewer.ghostParts, part));
    const hide = tool("eye", `Hide ${item.name}`, () => viewer.toggle(viewer.hiddenParts, part));
    const line = el("li", null, name, only, ghost, hide);
    const refresh = () => {
        line.classList.toggle("off", item.hidden);
        if (item.lit && !line.matches(".on, :focus-within")) line.scrollIntoView({ block: "nearest" });
        line.classList.toggle("on", item.lit);
        only.setAttribute("aria-pressed", String(alone()));
        ghost.setAttribute("aria-pressed", String(viewer.ghostParts.has(part)));
        hide.setAttribute("aria-pressed", String(viewer.hiddenParts.has(part)));
    };
    return { line, refresh };
}

function makeParts(viewer) {
    const parts = viewer.scene.items.filter((item) => item.kind === "part" || item.kind === "spheres");
    const made = new Map();
    const body = el("ul", { className: "parts scroll" });
    const filter = search("parts", () => fill());
    const fill = () => {
        const found = parts.filter((item) => item.name.toLowerCase().includes(filter.value.toLowerCase()));
        const lines = found.slice(0, MOST_PARTS).map((item) => {
            if (!made.has(item)) made.set(item, makePart(viewer, item));
            return made.get(item).line;
        });
        const left = found.length - lines.length;
        body.replaceChildren(...lines, left ? el("li", { className: "faint" }, `${number(left)} more: filter`) : "");
    };
    viewer.listen((what) => {
        if (what === "show" || what === "select") for (const { refresh } of made.values()) refresh();
    });
    fill();
    const open = parts.length <= FEW_ROWS || !viewer.rows().length;
    return (
        parts.length && section(`Parts · ${number(parts.length)}`, open, parts.length > FEW_ROWS ? filter : null, body)
    );
}

// What a kind is here: the names of one or two things, with their colours where they have some, or the word for many.
function layerName({ scene }, kind) {
    const items = scene.items.filter((item) => item.kind === kind);
    const names = [...new Set(items.map((item) => item.name))];
    if (kind === "part" || kind === "spheres" || names.length > 2) return `${KINDS[kind] || kind}s`;
    const swatch = ({ colour }) =>
        colour.length === 3 ? el("i", { className: "swatch", style: { background: css(colour) } }) : null;
    return names.flatMap((name) => [swatch(items.find((item) => item.name === name)), name]);
}

// Kinds of things that can be switched off, where there is more than one.
function makeLayers(viewer) {
    const kinds = [...new Set(viewer.scene.items.map((item) => item.kind))];
    if (kinds.length < 2) return null;
    const boxes = kinds.map((kind) => {
        const box = el("input", {
            type: "checkbox",
            checked: true,
            onchange: () => {
                viewer.layers[kind] = box.checked;
                viewer.apply();
            },
        });
        viewer.listen((what) => {
            if (what === "show") box.checked = viewer.layers[kind];
        });
        return el("label", null, box, layerName(viewer, kind));
    });
    return el(
        "div",
        { className: "layers", role: "group", "aria-label": "What is shown" },
        boxes,
        kinds.includes("arrow") ? makeArrows(viewer) : null,
    );
}

// How long arrows are drawn; the factor is that of lengths in the file's unit.
function makeArrows(viewer) {
    const slider = range("Length of arrows", -2, 2, 0.02, 0, (power) => viewer.set({ arrowScale: 10 ** power }));
    const text = el("output");
    viewer.listen((what) => {
        if (what !== "show") return;
        slider.value = Math.log10(viewer.show.arrowScale);
        text.textContent = `× ${number(Number(viewer.arrowFactor().toPrecision(3)))}`;
    });
    return el("label", { className: "wide" }, "Arrows", slider, text);
}

// ---- what is selected

// A place with the digits that mean something in a scene of that size.
export function positionText({ scene }, point) {
    const step = 10 ** Math.floor(Math.log10(scene.size) - COORDINATE_DIGITS);
    const place = point.map((x) => number(Number((Math.round(x / step) * step).toPrecision(12)) || 0));
    return withUnit(place.join(", "), scene.info.unit);
}

// The numbers of what was picked, as pairs.
export function describe(viewer, hit) {
    const { item } = hit;
    const unit = viewer.scene.info.unit;
    const pairs = [[KINDS[item.kind] || item.kind, item.name]];
    if (hit.face !== undefined) pairs.push(["Face", hit.face === null ? "cut surface" : number(hit.face)]);
    if (hit.triangle !== undefined && item.values && item.values.length === item.triangles)
        pairs.push(legendPair(viewer, item.values[hit.triangle]));
    if (hit.sphere !== undefined) {
        pairs.push(
            ["Sphere", number(hit.sphere)],
            ["Radius", withUnit(item.radii[hit.sphere], unit)],
            ["Centre", sphereAt(item, hit.sphere).map(number).join(", ")],
        );
        if (item.values) pairs.push(legendPair(viewer, item.values[hit.sphere]));
    }
    for (const { label, value, unit: its } of item.numbers) pairs.push([String(label), withUnit(value, its)]);
    if (hit.point) {
        pairs.push(["At", positionText(viewer, hit.point)]);
    }
    return pairs;
}

const legendPair = (viewer, value) => {
    const legend = viewer.scene.info.legend || {};
    return [String(legend.label ?? "Value"), withUnit(value, legend.unit)];
};

function makeSelected(viewer) {
    const block = el("div", { className: "selected", hidden: true, "aria-live": "polite" });
    viewer.listen((what) => {
        if (what !== "select") return;
        const { selected } = viewer;
        block.hidden = !selected;
        if (!selected) {
            block.replaceChildren();
            return;
        }
        const { item } = selected;
        const button = (name, label, action) => el("button", { type: "button", onclick: action }, icon(name), label);
        block.replaceChildren(
            facts(describe(viewer, selected)),
            el(
                "div",
                { className: "actions" },
                button("fit", "Fly to", () => viewer.fit([item])),
                item.part === undefined
                    ? null
                    : button("only", "Alone", () => viewer.isolate(viewer.only ? null : [item.part])),
                item.part === undefined
                    ? null
                    : button("ghost", "Ghost", () => viewer.toggle(viewer.ghostParts, item.part)),
                item.part === undefined
                    ? null
                    : button("eye", "Hide", () => viewer.toggle(viewer.hiddenParts, item.part)),
            ),
        );
    });
    return block;
}

// ---- all of it

export function makePanel(viewer) {
    const { info, items } = viewer.scene;
    const faces = viewer.renderer.triangles;
    const spheres = items.reduce((sum, item) => sum + (item.kind === "spheres" ? item.positions.length / 3 : 0), 0);
    const plots = info.plots.map(plot);
    viewer.listen((what) => {
        if (what === "time") for (const figure of plots) figure.mark(viewer.scene.time);
    });
    const up = el("span", { title: "u: another axis" });
    viewer.listen((what) => what === "show" && (up.textContent = UP[info.up]));
    const size = viewer.scene.box.max.map((x, k) => x - viewer.scene.box.min[k]);
    return el(
        "div",
        { className: "content" },
        el(
            "header",
            null,
            el("h1", null, String(info.title)),
            info.command ? el("code", { className: "command" }, String(info.command)) : null,
        ),
        special.make ? special.make(viewer) : answers(info),
        makeSelected(viewer),
        special.make ? null : info.lists.map((list) => makeList(viewer, list)),
        makeLayers(viewer),
        plots.length ? section("Plots", true, plots) : null,
        makeParts(viewer),
        section(
            "File",
            items.length < 2 && !info.lists.length,
            facts([
                ["Read from", info.inputs.map(String).join(", ")],
                ["Size", withUnit(size.map(number).join(" × "), info.unit)],
                ["Unit", info.unit || "none given"],
                ["Up", up],
                faces ? ["Faces", number(faces)] : null,
                spheres ? ["Spheres", number(spheres)] : null,
            ]),
        ),
        el("p", { className: "faint made" }, "Made by Carom (? for keys)"),
    );
}
