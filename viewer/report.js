// SPDX-License-Identifier: MIT
// The panel of a clash report: the clash that is looked at, a list with filter, sort and groups, status and
// notes, and a button that saves the page with them. The report is the JSON in the page; rows of the scene's
// list have the same ids. Only pages of reports hold this module.
import { el, number, withUnit } from "./dom.js";
import { special, section, facts, search, rowKeys, positionText } from "./panel.js";
import { dot, sub, scale, unit, norm, corners } from "./math.js";

const FLIGHT = 90; // milliseconds: where many clashes are gone through, nobody wants to wait
const AT_ONCE = 200; // rows that are made at once
const ALONG_AXIS = 1 - 1e-6; // of a unit vector that is written as an axis
const BEHIND = 0.03; // of the radius of a clash, from its place to the section
const STEEP = 0.35; // sine between the view and the direction of a clash: below, the section is across the view
const PHONE = window.matchMedia("(max-width: 760px)");
const STATUSES = ["new", "active", "reviewed", "approved", "resolved"];
const WORDS = {
    touching: "The parts touch, and share no space.",
    crossing: "Faces cross. One of the parts is open, so that there is no volume.",
    protruding: "The parts overlap.",
    enclosed: "One part is inside the other.",
    duplicate: "Both parts are the same triangles in the same place.",
    close: "The parts are closer than the clearance.",
    possible: "The parts may touch or overlap: the packing has too few spheres to decide.",
};

// The page as it came, for saving: taken before anything is changed.
const pristine = document.documentElement.cloneNode(true);

// ---- numbers and words

// A direction: an axis, or three numbers.
function directionText(d) {
    if (!d) return "";
    const axis = d.findIndex((x) => Math.abs(x) >= ALONG_AXIS);
    return axis >= 0 ? `${d[axis] > 0 ? "+" : "−"}${"XYZ"[axis]}` : `(${d.map((x) => x.toFixed(3)).join(", ")})`;
}

const known = (x) => typeof x === "number";
const cube = (unitOf) => (unitOf ? `${unitOf}³` : "");

// What is wrong and what to do, in a line or two.
function message(clash, unitOf, clearance) {
    const way = directionText(clash.direction);
    if (clash.relation === "close")
        return `${withUnit(clash.distance, unitOf)} apart, less than the clearance of ${withUnit(clearance, unitOf)}.`;
    if (!known(clash.depth)) return WORDS[clash.relation];
    const least = clash.depth_is_least ? " No other way is shorter." : " Another way may be shorter.";
    return `${WORDS[clash.relation]} Move ${clash.name_b} by ${withUnit(clash.depth, unitOf)} along ${way} to free it.${least}`;
}

// The worse first: by depth, then volume; those that are apart by their distance.
const worse = (a, b) =>
    (b.depth ?? -1) - (a.depth ?? -1) || (b.volume ?? -1) - (a.volume ?? -1) || a.distance - b.distance || a.at - b.at;
const names = (clash) => `${clash.name_a} ↔ ${clash.name_b}`;
const byName = (a, b) => names(a).localeCompare(names(b), "en", { numeric: true }) || a.at - b.at;
const down = (key) => (a, b) => (b[key] ?? -1) - (a[key] ?? -1) || worse(a, b);
const ORDERS = {
    worst: ["Worst first", worse],
    depth: ["Depth", down("depth")],
    volume: ["Volume", down("volume")],
    distance: ["Distance", (a, b) => a.distance - b.distance || worse(a, b)],
    name: ["Names", byName],
    status: ["Status", (a, b) => STATUSES.indexOf(a.status) - STATUSES.indexOf(b.status) || worse(a, b)],
};

// How clashes are put together: a title for each.
function makeGroups(clashes) {
    const busy = new Map();
    const size = { group: new Map(), alike: new Map() };
    for (const clash of clashes) {
        for (const name of [clash.name_a, clash.name_b]) busy.set(name, (busy.get(name) || 0) + 1);
        for (const key of ["group", "alike"]) {
            const list = size[key].get(clash[key]) || [];
            size[key].set(clash[key], list);
            list.push(clash);
        }
    }
    const busiest = (clash) => (busy.get(clash.name_b) > busy.get(clash.name_a) ? clash.name_b : clash.name_a);
    return {
        none: ["No groups", null],
        part: ["Part", busiest],
        group: ["Neighbouring contacts", (clash) => `Around ${busiest(size.group.get(clash.group)[0])} (${clash.group})`],
        alike: ["Equal parts", (clash) => `Like ${names(size.alike.get(clash.alike)[0])}`],
        relation: ["Relation", (clash) => clash.relation],
        status: ["Status", (clash) => clash.status],
        ...(clashes.some((clash) => clash.change) ? { change: ["Change", (clash) => clash.change || ""] } : {}),
    };
}

// ---- the picture

// Cuts through a clash: a plane through its place that holds its direction and faces the eye.
function cutAt(viewer, clash, row) {
    const { back } = viewer.camera.axes();
    const d = clash.direction;
    const across = d ? sub(back, scale(d, dot(back, d))) : back;
    const normal = norm(across) < STEEP ? back : unit(across);
    const heights = corners(viewer.scene.boxOf(viewer.scene.items)).map((p) => dot(normal, p));
    const low = Math.min(...heights);
    const behind = BEHIND * (row.radius || 0); // so that what lies in the plane is in front of the cut
    const at = (dot(normal, row.at) - behind - low) / (Math.max(...heights) - low || 1);
    viewer.show.section = { on: true, axis: "v", at, flip: false, normal };
}

// ---- saving

function savePage(report) {
    const text = JSON.stringify(report).replaceAll("<", "\\u003c");
    pristine.querySelector("#carom-report").textContent = text;
    const url = URL.createObjectURL(new Blob(["<!DOCTYPE html>\n", pristine.outerHTML, "\n"], { type: "text/html" }));
    let name = "";
    try {
        name = decodeURIComponent(location.pathname.split("/").pop());
    } catch {
        // a name that is no UTF-8
    }
    el("a", { href: url, download: name || "report.html" }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
}

// ---- the panel

const choice = (label, entries, value, onchange) =>
    el(
        "select",
        { "aria-label": label, title: label, onchange: (event) => onchange(event.target.value) },
        entries.map(([key, text]) => el("option", { value: key, selected: key === value }, text)),
    );

const badge = (text, kind) => el("span", { className: `badge ${kind.replaceAll(" ", "-")}` }, text);

// What is said of the clash that is looked at: { box, refresh }.
function makeCurrent(model) {
    const { viewer, report, unitOf } = model;
    const box = el("section", { className: "clash", "aria-live": "polite", "aria-label": "The clash that is looked at" });
    const refresh = () => {
        const clash = model.current();
        if (!clash) {
            const text = report.clashes.length ? "Choose a clash: click a row, or press j." : "There is no clash.";
            box.replaceChildren(el("p", { className: "faint" }, text));
            return;
        }
        const status = choice("Status", STATUSES.map((s) => [s, s]), clash.status, (value) => model.set({ status: value }));
        const note = el("textarea", {
            rows: 2,
            placeholder: "Note",
            "aria-label": "Note",
            value: clash.note || "",
            oninput: (event) => model.set({ note: event.target.value || null }, true),
        });
        const button = (text, title, action, pressed) =>
            el("button", { type: "button", title, onclick: action, "aria-pressed": pressed }, text);
        const position = `${model.order.indexOf(clash) + 1} of ${number(model.order.length)}`;
        const content = [
            el(
                "div",
                { className: "badges" },
                badge(clash.relation, clash.relation),
                clash.change ? badge(clash.change, clash.change) : null,
                el("span", { className: "faint" }, model.order.includes(clash) ? position : ""),
            ),
            el("h2", null, el("i", { className: "a" }), clash.name_a, " ", el("i", { className: "b" }), clash.name_b),
            el("p", null, message(clash, unitOf, report.settings.clearance)),
            clash.status === "resolved" && clash.change === "still there"
                ? el("p", { className: "warn" }, "Marked as resolved, but still there.")
                : null,
            facts([
                known(clash.depth) ? ["Depth", `${withUnit(clash.depth, unitOf)} along ${directionText(clash.direction)}`] : null,
                known(clash.volume) && clash.volume ? ["Volume", withUnit(clash.volume, cube(unitOf))] : null,
                clash.relation === "close" ? ["Distance", `${withUnit(clash.distance, unitOf)}, towards ${directionText(clash.direction)}`] : null,
                ["At", positionText(viewer, clash.point)],
                clash.triangle_pairs ? ["Face pairs", number(clash.triangle_pairs)] : null,
            ]),
            el("div", { className: "review" }, status, note),
            el(
                "div",
                { className: "actions" },
                button("◀ Previous", "Previous clash (k)", () => viewer.step(-1)),
                button("Next ▶", "Next clash (j)", () => viewer.step(1)),
                button("Section", "Cut through the clash", () => model.setCut(!model.cut), String(model.cut)),
                button("Copy link", `#clash=${clash.guid}`, (event) => model.copyLink(clash, event.target)),
            ),
        ];
        box.replaceChildren(...content.filter(Boolean));
    };
    return { box, refresh };
}

// Chips with counts, of which any can be switched off.
function makeChips(model) {
    const count = (key, value) => model.report.clashes.filter((clash) => clash[key] === value).length;
    const chip = (key, value) => {
        const button = el(
            "button",
            {
                type: "button",
                className: `badge ${value.replaceAll(" ", "-")}`,
                title: `Show or hide: ${value}`,
                "aria-pressed": "true",
                onclick: () => {
                    const set = model.off[key];
                    if (!set.delete(value)) set.add(value);
                    button.setAttribute("aria-pressed", String(!set.has(value)));
                    model.sort();
                },
            },
            `${number(count(key, value))} ${value}`,
        );
        return button;
    };
    const values = (key, all) => all.filter((value) => count(key, value)).map((value) => chip(key, value));
    const { solved, settings, ignored } = model.report;
    return el(
        "div",
        { className: "chips", role: "group", "aria-label": "Which clashes are listed" },
        values("relation", Object.keys(WORDS)),
        values("change", ["new", "still there"]),
        settings.baseline ? el("span", { className: "badge solved" }, `${number(solved.length)} solved`) : null,
        settings.ignore ? el("span", { className: "badge" }, `${number(ignored)} ignored`) : null,
    );
}

// The rows, in groups: { body, fill, mark }.
function makeRows(model) {
    const { viewer, unitOf, columns } = model;
    const lines = new Map();
    const closed = new Set();
    let shown = AT_ONCE;
    const body = el("tbody");
    const more = el("button", { type: "button", className: "more", onclick: () => fill((shown += 5 * AT_ONCE)) });
    const cells = {
        depth: (clash) => (known(clash.depth) ? number(Number(clash.depth.toPrecision(4))) : ""),
        volume: (clash) => (clash.volume ? number(Number(clash.volume.toPrecision(4))) : ""),
        distance: (clash) => (clash.relation === "close" ? number(Number(clash.distance.toPrecision(4))) : ""),
    };
    const fillLine = (line, clash) =>
        line.replaceChildren(
            el("td", null, el("i", { className: `dot ${clash.status}`, title: clash.status }), clash.note ? "✎" : ""),
            el(
                "td",
                { className: "pair", title: `${names(clash)}: ${clash.relation}, ${clash.status}` },
                el("span", null, clash.name_a),
                el("span", null, clash.name_b),
            ),
            ...columns.map((key) => el("td", { className: "number" }, cells[key](clash))),
        );
    const lineOf = (clash) => {
        if (!lines.has(clash)) {
            const line = el("tr", { "aria-selected": "false", onclick: () => viewer.lookAt(clash.row) });
            line.row = clash.row;
            fillLine(line, clash);
            lines.set(clash, line);
        }
        return lines.get(clash);
    };
    const headOf = ([title, list]) =>
        el(
            "tr",
            {
                className: "heading",
                onclick: () => {
                    if (!closed.delete(title)) closed.add(title);
                    fill();
                },
            },
            el("th", { colSpan: 2 + columns.length }, `${closed.has(title) ? "▸" : "▾"} ${title} `, el("small", null, number(list.length))),
        );
    const fill = () => {
        let left = shown;
        const parts = model.groups.flatMap((group) => {
            const list = closed.has(group[0]) ? [] : group[1].slice(0, Math.max(left, 0));
            left -= list.length;
            return [...(model.grouped() ? [headOf(group)] : []), ...list.map(lineOf)];
        });
        body.replaceChildren(...parts);
        more.hidden = left > 0 || shown >= model.order.length;
        more.textContent = `${number(Math.max(model.order.length - shown, 0))} more`;
        mark();
    };
    const mark = () => {
        const clash = model.current();
        const old = body.querySelector("[aria-selected=true]");
        const line = clash && model.order.includes(clash) ? lineOf(clash) : null;
        if (line && !line.isConnected && model.order.indexOf(clash) >= shown) {
            shown = model.order.length;
            fill();
            return;
        }
        if (old && old !== line) old.setAttribute("aria-selected", "false");
        if (line) {
            line.setAttribute("aria-selected", "true");
            // On a phone the panel scrolls as a whole: there the clash itself is to be seen.
            if (line !== old && old) (PHONE.matches ? model.card : line).scrollIntoView({ block: "nearest" });
        }
        const active = line || body.querySelector("tr:not(.heading)");
        for (const other of body.children) other.tabIndex = other === active ? 0 : -1;
    };
    rowKeys(viewer, body);
    const head = (text, title) => el("th", { title, className: text ? "number" : "" }, text);
    const table = el(
        "table",
        { className: "clashes" },
        el(
            "thead",
            null,
            el(
                "tr",
                null,
                el("th"),
                el("th", null, "Parts"),
                columns.map((key) => head(ORDERS[key][0], key === "volume" ? cube(unitOf) : unitOf)),
            ),
        ),
        body,
    );
    return { table, more, fill, mark, again: (clash) => lines.has(clash) && fillLine(lines.get(clash), clash) };
}

function makeSolved(report, unitOf) {
    if (!report.solved.length) return null;
    const line = (clash) =>
        el(
            "li",
            null,
            el("b", null, names(clash)),
            el(
                "small",
                null,
                [clash.relation, known(clash.depth) ? withUnit(clash.depth, unitOf) : "", clash.status, clash.note || ""]
                    .filter(Boolean)
                    .join(" · "),
            ),
        );
    return section(
        `Solved · ${number(report.solved.length)}`,
        false,
        el("ul", { className: "solved-list scroll" }, report.solved.map(line)),
    );
}

const dateText = (date) => String(date).replace("T", " ").replace("Z", " UTC");

function makeFacts(report, unitOf) {
    const { settings } = report;
    return section(
        "Report",
        true,
        facts([
            ["Files", (report.inputs || []).join(", ")],
            ["Date", dateText(report.date)],
            ["Unit", unitOf || "none given"],
            ["Parts", number(report.objects.length)],
            ["Clearance", settings.clearance ? withUnit(settings.clearance, unitOf) : "0: parts that meet"],
            ["Touching", settings.touching ? "" : "left out"],
            ["Ignored", settings.ignore ? `${number(report.ignored)} by ${settings.ignore}` : ""],
            ["Compared with", settings.baseline || ""],
        ]),
    );
}

// ---- all of it

// What the parts of the panel share: the report, what is listed, what is looked at.
function makeModel(viewer) {
    const report = JSON.parse(document.getElementById("carom-report").textContent);
    const list = viewer.scene.info.lists[0];
    const rows = new Map((list ? list.rows : []).map((row) => [row.id, row]));
    const byRow = new Map();
    report.clashes.forEach((clash, at) => {
        // Not part of what is saved.
        Object.defineProperty(clash, "at", { value: at });
        Object.defineProperty(clash, "row", { value: rows.get(clash.guid) });
        byRow.set(clash.row, clash);
    });
    const model = {
        viewer,
        report,
        unitOf: viewer.scene.info.unit,
        columns: ["depth", "volume", "distance"].filter((key) =>
            report.clashes.some((clash) => (key === "distance" ? clash.relation === "close" : clash[key])),
        ),
        off: { relation: new Set(), change: new Set(), status: new Set() },
        words: "",
        status: "",
        sorted: "worst",
        group: "none",
        cut: true,
        changes: 0,
        order: [],
        groups: [],
        current: () => (viewer.focus ? byRow.get(viewer.focus.row) : undefined),
    };
    model.kinds = makeGroups(report.clashes);
    model.grouped = () => Boolean(model.kinds[model.group][1]);
    model.list = list;
    return model;
}

// Filters, sorts and groups.
function arrange(model) {
    const { off, report, kinds } = model;
    const words = model.words.toLowerCase().split(/\s+/);
    const text = (clash) =>
        `${names(clash)} ${clash.relation} ${clash.status} ${clash.note || ""} ${clash.guid}`.toLowerCase();
    const has = (clash) =>
        !off.relation.has(clash.relation) &&
        !off.change.has(clash.change) &&
        (!model.status || clash.status === model.status) &&
        words.every((word) => text(clash).includes(word));
    const found = report.clashes.filter(has).sort(ORDERS[model.sorted][1]);
    const titleOf = kinds[model.group][1];
    const groups = new Map();
    for (const clash of found) {
        const title = titleOf ? titleOf(clash) : "";
        if (!groups.has(title)) groups.set(title, []);
        groups.get(title).push(clash);
    }
    model.groups = [...groups];
    model.order = model.groups.flatMap(([, clashes]) => clashes);
    if (model.list) model.viewer.orders.set(model.list, model.order.map((clash) => clash.row));
}

// Goes to clashes in a way of its own: short flights, and a section.
function attachModel(model) {
    const { viewer } = model;
    const look = viewer.lookAt.bind(viewer);
    viewer.rowWord = "clash";
    viewer.layers.patch = false; // whole faces light up: the curve tells more
    viewer.camera.flyTime = FLIGHT;
    viewer.show.arrowScale = 1 / viewer.renderer.arrowUnit; // depths are drawn as long as they are
    const cut = (clash) => {
        if (model.cut) cutAt(viewer, clash, clash.row);
        else viewer.show.section.on = false;
    };
    viewer.lookAt = (row) => {
        const clash = row && model.report.clashes.find((other) => other.row === row);
        if (!clash) return;
        cut(clash);
        const { calm } = viewer;
        viewer.calm = calm || viewer.renderer.slow; // frames that take long make no flight
        look(row);
        if (viewer.calm) viewer.lastMotion = -Infinity; // the full picture at once
        viewer.calm = calm;
    };
    model.setCut = (on) => {
        model.cut = on;
        const clash = model.current();
        if (clash) cut(clash);
        viewer.moved();
        viewer.tell("show");
        model.refresh();
    };
    model.copyLink = async (clash, button) => {
        const link = `${location.href.split("#")[0]}#clash=${clash.guid}`;
        try {
            await navigator.clipboard.writeText(link);
            button.textContent = "Copied";
        } catch {
            location.hash = `#clash=${clash.guid}`; // a page from disk may not write: it stands in the address
            button.textContent = "In the address";
        }
    };
}

// The worst clash is looked at first, in the view of the whole.
function beginWithWorst(model) {
    const [worst] = model.order;
    if (!worst || !worst.row) return;
    const { viewer } = model;
    const { state } = viewer.camera;
    model.cut = false;
    viewer.lookAt(worst.row);
    model.cut = true;
    viewer.camera.flight = null;
    viewer.camera.state = state;
}

export function reportPanel(viewer) {
    const model = makeModel(viewer);
    attachModel(model);
    const current = makeCurrent(model);
    model.card = current.box;
    const rows = makeRows(model);
    const count = el("span", { className: "faint" });
    const save = el("button", { type: "button", className: "save", title: "Download this page with status and notes" }, "Save");
    model.sort = () => {
        arrange(model);
        rows.fill();
        count.textContent = `${number(model.order.length)} of ${number(model.report.clashes.length)}`;
    };
    model.refresh = () => {
        current.refresh();
        rows.mark();
    };
    const showSave = () => {
        save.classList.toggle("unsaved", model.changes > 0);
        save.textContent = model.changes ? "Save *" : "Save";
    };
    // Changes the clash that is looked at; `quiet` keeps what is being written in.
    model.set = (change, quiet) => {
        const clash = model.current();
        Object.assign(clash, change);
        ++model.changes;
        rows.again(clash);
        if (!quiet) current.refresh();
        showSave();
    };
    save.addEventListener("click", () => {
        savePage(model.report);
        model.changes = 0;
        showSave();
    });
    window.addEventListener("beforeunload", (event) => {
        if (model.changes) event.preventDefault();
    });
    viewer.listen((what) => what === "select" && model.refresh());
    const change = (key) => (value) => {
        model[key] = value;
        model.sort();
    };
    const entries = (table) => Object.entries(table).map(([key, [text]]) => [key, text]);
    const filter = search("clashes", (event) => change("words")(event.target.value));
    const bar = el(
        "div",
        { className: "bar" },
        filter,
        choice("Sort by", entries(ORDERS), "worst", change("sorted")),
        choice("Group by", entries(model.kinds), "none", change("group")),
        choice("Only of status", [["", "Any status"], ...STATUSES.map((s) => [s, s])], "", change("status")),
        count,
        save,
    );
    arrange(model);
    beginWithWorst(model);
    model.sort();
    current.refresh();
    return el(
        "div",
        { className: "report" },
        makeChips(model),
        current.box,
        bar,
        model.report.clashes.length ? el("div", { className: "scroll" }, rows.table, rows.more) : null,
        makeSolved(model.report, model.unitOf),
        makeFacts(model.report, model.unitOf),
    );
}

special.make = reportPanel;
