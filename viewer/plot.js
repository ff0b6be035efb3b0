// SPDX-License-Identifier: MIT
// Plots of series as SVG, in the colours of the page.
import { el, svg, number } from "./dom.js";

// The picture and its margins, in units of the drawing.
const WIDTH = 320;
const HEIGHT = 190;
const LEFT = 46;
const RIGHT = 8;
const TOP = 10;
const BOTTOM = 34;

// Round places for ticks: steps of 1, 2 or 5 times a power of ten.
export function ticks(low, high, most) {
    const rough = (high - low) / most;
    if (!(rough > 0) || !Number.isFinite(rough)) return [low];
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = power * [1, 2, 5, 10].find((m) => m * power >= rough);
    const places = [];
    for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; ++i)
        places.push(Number((i * step).toPrecision(12)));
    return places;
}

function extent(series, k) {
    let low = Infinity,
        high = -Infinity;
    for (const { points } of series) {
        for (const point of points) {
            if (!Number.isFinite(point[k])) continue;
            low = Math.min(low, point[k]);
            high = Math.max(high, point[k]);
        }
    }
    if (!(low <= high)) return [0, 1];
    if (low > 0 && low < 0.4 * high) low = 0;
    return low === high ? [low - 0.5, high + 0.5] : [low, high];
}

// A plot { title, x, y, series: [{ name, points: [[x, y], ...] }] } as a figure.
export function plot({ title, x, y, series }) {
    series = (series || []).filter((s) => Array.isArray(s.points));
    const [x0, x1] = extent(series, 0),
        [y0, y1] = extent(series, 1);
    const px = (v) => LEFT + ((v - x0) / (x1 - x0)) * (WIDTH - LEFT - RIGHT);
    const py = (v) => HEIGHT - BOTTOM - ((v - y0) / (y1 - y0)) * (HEIGHT - TOP - BOTTOM);
    const picture = svg("svg", {
        viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
        role: "img",
        "aria-label": `${title}: ${y} over ${x}`,
    });
    for (const v of ticks(y0, y1, 4)) {
        picture.append(
            svg("line", { class: "grid", x1: LEFT, x2: WIDTH - RIGHT, y1: py(v), y2: py(v) }),
            svg("text", { x: LEFT - 5, y: py(v) + 3.5, "text-anchor": "end" }, number(v)),
        );
    }
    for (const v of ticks(x0, x1, 5)) {
        picture.append(
            svg("line", { class: "grid", x1: px(v), x2: px(v), y1: TOP, y2: HEIGHT - BOTTOM }),
            svg("text", { x: px(v), y: HEIGHT - BOTTOM + 13, "text-anchor": "middle" }, number(v)),
        );
    }
    series.forEach(({ points }, i) => {
        const good = points.filter((p) => Number.isFinite(p[0]) && Number.isFinite(p[1]));
        picture.append(
            svg("polyline", {
                class: `series s${i % 4}`,
                points: good.map((p) => `${px(p[0]).toFixed(1)},${py(p[1]).toFixed(1)}`).join(" "),
            }),
        );
    });
    const marker = svg("line", { class: "marker", y1: TOP, y2: HEIGHT - BOTTOM, visibility: "hidden" });
    picture.append(
        marker,
        svg(
            "text",
            { class: "label", x: (LEFT + WIDTH - RIGHT) / 2, y: HEIGHT - 5, "text-anchor": "middle" },
            String(x ?? ""),
        ),
    );
    const names =
        series.length > 1
            ? el(
                  "div",
                  { className: "names" },
                  series.map((s, i) => el("span", { className: `s${i % 4}` }, String(s.name ?? ""))),
              )
            : null;
    const figure = el(
        "figure",
        { className: "plot" },
        el("figcaption", null, `${title ?? ""}`, y ? el("small", null, ` ${y}`) : null),
        picture,
        names,
    );
    // Shows the time of an animation in plots over time.
    figure.mark = (at) => {
        marker.setAttribute("visibility", /^t(ime)?\b/i.test(x) && at >= x0 && at <= x1 ? "visible" : "hidden");
        marker.setAttribute("x1", px(at));
        marker.setAttribute("x2", px(at));
    };
    return figure;
}
