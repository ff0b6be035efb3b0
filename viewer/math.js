// SPDX-License-Identifier: MIT
// Vectors [x, y, z], quaternions [x, y, z, w] and matrices (16 numbers by columns) in doubles. What goes to
// the GPU is rounded to floats last, so that scenes far from the origin or of any size look the same.

export const add = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
export const sub = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
export const scale = (a, s) => [a[0] * s, a[1] * s, a[2] * s];
export const addScaled = (a, b, s) => [a[0] + b[0] * s, a[1] + b[1] * s, a[2] + b[2] * s];
export const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
export const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
export const norm = (a) => Math.hypot(a[0], a[1], a[2]);
export const unit = (a) => scale(a, 1 / (norm(a) || 1));
export const mix = (a, b, t) => a.map((x, i) => x + (b[i] - x) * t);
export const clamp = (x, low, high) => Math.min(Math.max(x, low), high);

export const IDENTITY = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];

export function multiply(a, b) {
    const m = new Array(16);
    for (let c = 0; c < 16; c += 4) {
        for (let r = 0; r < 4; ++r) {
            m[c + r] = a[r] * b[c] + a[4 + r] * b[c + 1] + a[8 + r] * b[c + 2] + a[12 + r] * b[c + 3];
        }
    }
    return m;
}

export function fromTrs(t, q, s) {
    const [x, y, z, w] = q;
    return [
        (1 - 2 * (y * y + z * z)) * s[0],
        2 * (x * y + z * w) * s[0],
        2 * (x * z - y * w) * s[0],
        0,
        2 * (x * y - z * w) * s[1],
        (1 - 2 * (x * x + z * z)) * s[1],
        2 * (y * z + x * w) * s[1],
        0,
        2 * (x * z + y * w) * s[2],
        2 * (y * z - x * w) * s[2],
        (1 - 2 * (x * x + y * y)) * s[2],
        0,
        t[0],
        t[1],
        t[2],
        1,
    ];
}

export const translation = (t) => [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, t[0], t[1], t[2], 1];

export const transform = (m, p) => [
    m[0] * p[0] + m[4] * p[1] + m[8] * p[2] + m[12],
    m[1] * p[0] + m[5] * p[1] + m[9] * p[2] + m[13],
    m[2] * p[0] + m[6] * p[1] + m[10] * p[2] + m[14],
];
export const rotate = (m, v) => [
    m[0] * v[0] + m[4] * v[1] + m[8] * v[2],
    m[1] * v[0] + m[5] * v[1] + m[9] * v[2],
    m[2] * v[0] + m[6] * v[1] + m[10] * v[2],
];

// The inverse of an affine matrix: its last row is 0 0 0 1.
export function invert(m) {
    const a = m.slice(0, 3),
        b = m.slice(4, 7),
        c = m.slice(8, 11),
        t = m.slice(12, 15);
    const bc = cross(b, c),
        ca = cross(c, a),
        ab = cross(a, b);
    const d = 1 / dot(a, bc);
    return [
        bc[0] * d,
        ca[0] * d,
        ab[0] * d,
        0,
        bc[1] * d,
        ca[1] * d,
        ab[1] * d,
        0,
        bc[2] * d,
        ca[2] * d,
        ab[2] * d,
        0,
        -dot(bc, t) * d,
        -dot(ca, t) * d,
        -dot(ab, t) * d,
        1,
    ];
}

export function slerp(a, b, t) {
    let d = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
    const sign = d < 0 ? -1 : 1;
    d *= sign;
    let u = 1 - t,
        v = t * sign;
    if (d < 0.9995) {
        // nearer ones are mixed: the angle's sine is small
        const angle = Math.acos(d),
            s = Math.sin(angle);
        u = Math.sin(u * angle) / s;
        v = (Math.sin(t * angle) / s) * sign;
    }
    const q = a.map((x, i) => x * u + b[i] * v);
    const length = Math.hypot(...q);
    return q.map((x) => x / length);
}

export const emptyBox = () => ({ min: [Infinity, Infinity, Infinity], max: [-Infinity, -Infinity, -Infinity] });

export function grow(box, p) {
    for (let k = 0; k < 3; ++k) {
        if (p[k] < box.min[k]) box.min[k] = p[k];
        if (p[k] > box.max[k]) box.max[k] = p[k];
    }
}

export const isEmpty = (box) => !(box.min[0] <= box.max[0]);
export const center = (box) => scale(add(box.min, box.max), 0.5);
export const diagonal = (box) => (isEmpty(box) ? 0 : norm(sub(box.max, box.min)));
export const corners = (box) =>
    [0, 1, 2, 3, 4, 5, 6, 7].map((i) => [
        i & 1 ? box.max[0] : box.min[0],
        i & 2 ? box.max[1] : box.min[1],
        i & 4 ? box.max[2] : box.min[2],
    ]);

// Grows a box by another one that is moved by a matrix.
export function growMoved(box, other, matrix) {
    if (!isEmpty(other)) for (const p of corners(other)) grow(box, transform(matrix, p));
}
