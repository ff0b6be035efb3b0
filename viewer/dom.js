// SPDX-License-Identifier: MIT
// Elements of the page. Text goes in as text nodes only, so that names in a file are never markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, properties, children) {
    for (const [name, value] of Object.entries(properties || {})) {
        if (value === undefined || value === null || value === false) continue;
        if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
        else if (name === "style") Object.assign(element.style, value);
        else if (name in element && name !== "list" && !(element instanceof SVGElement)) element[name] = value;
        else element.setAttribute(name, value);
    }
    element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== 0));
    return element;
}

export const el = (tag, properties, ...children) => fill(document.createElement(tag), properties, children);
export const svg = (tag, properties, ...children) => fill(document.createElementNS(SVG, tag), properties, children);

const thousands = new Intl.NumberFormat("en");

// Numbers as people read them: six digits, thousands apart, exponents where they are needed.
export function number(value) {
    if (typeof value !== "number") return String(value);
    if (!Number.isFinite(value)) return String(value);
    if (Number.isInteger(value) && Math.abs(value) < 1e15) return thousands.format(value);
    const size = Math.abs(value);
    if (size !== 0 && (size < 1e-4 || size >= 1e9)) {
        const [digits, power] = value.toExponential(5).split("e");
        return `${Number(digits)}e${Number(power)}`;
    }
    return String(Number(value.toPrecision(6)));
}

// A value with its unit.
export const withUnit = (value, unit) => (unit ? `${number(value)} ${unit}` : number(value));

const ICONS = {
    fit: "M3 8V3h5M16 3h5v5M21 16v5h-5M8 21H3v-5",
    view: "M12 3l8 4.5v9L12 21l-8-4.5v-9zM12 12l8-4.5M12 12v9M12 12L4 7.5",
    parallel: "M4 8h10v10H4zM10 4h10v10M14 8l6-4M4 8l6-4M14 18l6-4",
    shade: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18v18",
    edges: "M12 4l9 15H3zM7.5 11.5h9L12 19z",
    section: "M4 20L20 4M4 13V4h9M20 11v9h-9",
    explode: "M9 9L4 4M4 8V4h4M15 9l5-5M16 4h4v4M9 15l-5 5M4 16v4h4M15 15l5 5M20 16v4h-4",
    camera: "M4 8h4l1.5-3h5L16 8h4v11H4zM12 16.5a3 3 0 1 0 0-6 3 3 0 0 0 0 6",
    theme: "M12 3a9 9 0 1 0 9 9 7 7 0 0 1-9-9",
    help: "M9 9a3 3 0 1 1 4.5 2.6C12.5 12.2 12 13 12 14M12 17.5v.2",
    eye: "M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12M12 15a3 3 0 1 0 0-6 3 3 0 0 0 0 6",
    ghost: "M5 20V11a7 7 0 0 1 14 0v9l-3-2-4 2-4-2zM9.5 11v.2M14.5 11v.2",
    only: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8M12 2v3M12 19v3M2 12h3M19 12h3",
    play: "M7 4l13 8-13 8z",
    pause: "M7 4v16M17 4v16",
    close: "M5 5l14 14M19 5L5 19",
    flip: "M4 12h16M7 8l-4 4 4 4M17 8l4 4-4 4",
    panel: "M3 4h18v16H3zM15 4v16",
};

export const icon = (name) =>
    svg("svg", { viewBox: "0 0 24 24", class: "icon", "aria-hidden": "true" }, svg("path", { d: ICONS[name] }));

// A button with a picture; its label is read aloud and shown as a tip.
export const tool = (name, label, onclick, properties = {}) =>
    el(
        "button",
        {
            type: "button",
            className: "tool",
            title: label,
            "aria-label": label,
            onclick,
            ...properties,
        },
        icon(name),
    );

export const range = (label, min, max, step, value, oninput) =>
    el("input", {
        type: "range",
        min,
        max,
        step,
        value,
        "aria-label": label,
        oninput: (event) => oninput(Number(event.target.value)),
    });
