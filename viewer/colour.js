// SPDX-License-Identifier: MIT
// Colours: maps from numbers, and one for each part. Maps are sampled at nine places and mixed between.

// Colours [r, g, b], 0 to 1, of hexadecimal numbers.
export const hexes = (text) =>
    text.split(" ").map((hex) => [0, 2, 4].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255));

const MAPS = {
    viridis: hexes("440154 472d7b 3b528b 2c728e 21918c 28ae80 5ec962 addc30 fde725"),
    coolwarm: hexes("3b4cc0 6282ea 8db0fe b8d0f9 dddddd f5c4ad f49a7b de604d b40426"),
};

// A colour [r, g, b] of a map at t in 0 to 1.
export function colourAt(name, t) {
    const map = MAPS[name] || MAPS.viridis;
    const at = Math.min(Math.max(t || 0, 0), 1) * (map.length - 1),
        i = Math.min(Math.floor(at), map.length - 2);
    return map[i].map((x, k) => x + (map[i + 1][k] - x) * (at - i));
}

// Where a value stands between the ends of a legend, 0 to 1, in whole steps where it has some.
export function positionIn(legend, value) {
    const t = legend.max > legend.min ? (value - legend.min) / (legend.max - legend.min) : 0.5;
    return legend.steps > 1 ? Math.round(Math.min(Math.max(t, 0), 1) * (legend.steps - 1)) / (legend.steps - 1) : t;
}

export const css = (colour) =>
    `rgb(${colour
        .slice(0, 3)
        .map((x) => Math.round(x * 255))
        .join(" ")})`;

// OKLab (Ottosson 2020) from lightness, chroma and hue, as sRGB: equally light whatever the hue.
function fromOklch(lightness, chroma, hue) {
    const a = chroma * Math.cos(hue),
        b = chroma * Math.sin(hue);
    const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
    const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
    const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
    return [
        4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
        -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
        -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
    ].map((x) => (x <= 0.0031308 ? Math.max(0, 12.92 * x) : Math.min(1, 1.055 * x ** (1 / 2.4) - 0.055)));
}

const GOLDEN_ANGLE = Math.PI * (3 - Math.sqrt(5));

// A calm colour for each of many parts; one alone is a light blue grey.
export const partColour = (number, count) =>
    count < 2 ? [0.66, 0.71, 0.76] : fromOklch(0.76 + 0.035 * ((number % 3) - 1), 0.062, 4.2 + number * GOLDEN_ANGLE);
