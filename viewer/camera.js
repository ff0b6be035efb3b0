// SPDX-License-Identifier: MIT
// A camera that turns around a point, the file's up-axis staying up. Its state is
//   target, distance, azimuth, elevation, parallel
// in the coordinates and units of the file. Matrices for drawing are scaled so that the scene has size 1: any
// size of the file's numbers gives the same floats on the GPU.
import { add, sub, scale, addScaled, dot, unit, clamp, mix, corners } from "./math.js";

const FIELD_OF_VIEW = (30 * Math.PI) / 180; // of the smaller side of the canvas
const HIGHEST = Math.PI / 2; // looking straight down or up
const FLY_TIME = 420; // milliseconds: long enough to follow, short enough not to wait for
const NARROW = 600; // pixels: there, tools lie over more of the picture
const NEAREST = 1e-4; // near plane, in distances of the target

// Right, away and up of the scene, by the up-axis of the file: azimuth 0 looks along `away`.
const UP_FRAMES = {
    x: [
        [0, 1, 0],
        [0, 0, 1],
        [1, 0, 0],
    ],
    y: [
        [1, 0, 0],
        [0, 0, -1],
        [0, 1, 0],
    ],
    z: [
        [1, 0, 0],
        [0, 1, 0],
        [0, 0, 1],
    ],
};

const CORNER = { azimuth: -0.65, elevation: 0.45 }; // radians: the view to start with

export class Camera {
    constructor(up, size) {
        this.setUp(up);
        this.size = size;
        this.width = this.height = 1;
        this.state = {
            target: [0, 0, 0],
            distance: size,
            ...CORNER,
            parallel: false,
        };
        this.flight = null;
        this.flyTime = FLY_TIME;
    }

    setUp(axis) {
        this.frame = UP_FRAMES[axis] || UP_FRAMES.y;
    }

    // The directions of the view in the file's coordinates: right, up, back (towards the eye).
    axes(state = this.state) {
        const [r, a, u] = this.frame;
        const ca = Math.cos(state.azimuth),
            sa = Math.sin(state.azimuth);
        const ce = Math.cos(state.elevation),
            se = Math.sin(state.elevation);
        const right = add(scale(r, ca), scale(a, sa));
        const flat = add(scale(r, sa), scale(a, -ca)); // towards the eye, level
        return { right, up: addScaled(scale(u, ce), flat, -se), back: addScaled(scale(flat, ce), u, se) };
    }

    // The angles from which to look along a direction towards the eye; `upright`: in right, away and up.
    angles(direction, upright) {
        const [r, a, u] = upright ? direction : this.frame.map((axis) => dot(axis, direction));
        const level = Math.hypot(r, a);
        return { azimuth: level ? Math.atan2(r, -a) : 0, elevation: Math.atan2(u, level) };
    }

    eye(state = this.state) {
        return addScaled(state.target, this.axes(state).back, state.distance);
    }

    // Half the height of what is seen at distance 1.
    tangent() {
        return Math.tan(FIELD_OF_VIEW / 2) * Math.max(1, this.height / this.width);
    }

    // One pixel of the canvas at the target, in units of the file.
    pixel() {
        return (2 * this.state.distance * this.tangent()) / this.height;
    }

    // { view, projection, near, far, unitOf }: view is by columns and includes the scaling to size 1.
    matrices(box) {
        const { right, up, back } = this.axes();
        const s = 1 / this.size;
        const eye = this.eye();
        const rows = [right, up, back].map((axis) => [...scale(axis, s), -dot(axis, eye) * s]);
        const view = [0, 1, 2, 3].flatMap((c) => [rows[0][c], rows[1][c], rows[2][c], c === 3 ? 1 : 0]);
        const { parallel, distance } = this.state;
        const depths = corners(box).map((p) => dot(sub(eye, p), back) * s);
        const d = distance * s,
            // Room for lines that come nearer, and for rounding.
            margin = 0.001 + 0.01 * Math.max(...depths.map(Math.abs));
        let far = Math.max(...depths) + margin,
            near = Math.min(...depths) - margin;
        if (!parallel) {
            near = Math.max(near, d * 0.01, far * NEAREST);
            far = Math.max(far, near * 1.01);
        }
        const t = this.tangent(),
            aspect = this.width / this.height;
        const h = t * d;
        const projection = parallel
            ? [
                  1 / (h * aspect),
                  0,
                  0,
                  0,
                  0,
                  1 / h,
                  0,
                  0,
                  0,
                  0,
                  -2 / (far - near),
                  0,
                  0,
                  0,
                  -(far + near) / (far - near),
                  1,
              ]
            : [
                  1 / (t * aspect),
                  0,
                  0,
                  0,
                  0,
                  1 / t,
                  0,
                  0,
                  0,
                  0,
                  -(far + near) / (far - near),
                  -1,
                  0,
                  0,
                  (-2 * far * near) / (far - near),
                  0,
              ];
        return { view, projection, near, far, scale: s };
    }

    // The ray through a pixel, in the file's coordinates; direction has length 1.
    ray(x, y) {
        const { right, up, back } = this.axes();
        const t = this.tangent(),
            aspect = this.width / this.height;
        const u = ((2 * x) / this.width - 1) * t * aspect,
            v = (1 - (2 * y) / this.height) * t;
        const { parallel, distance } = this.state;
        const eye = this.eye();
        if (parallel) {
            const at = addScaled(addScaled(eye, right, u * distance), up, v * distance);
            return { origin: addScaled(at, back, 2 * this.size), direction: scale(back, -1) };
        }
        return { origin: eye, direction: unit(addScaled(addScaled(scale(back, -1), right, u), up, v)) };
    }

    // The pixel of a point and its depth, the distance along the view.
    project(p) {
        const { right, up, back } = this.axes();
        const d = sub(p, this.eye());
        const depth = -dot(d, back);
        const h = this.tangent() * (this.state.parallel ? this.state.distance : depth);
        return {
            x: (this.width / 2) * (1 + dot(d, right) / ((h * this.width) / this.height)),
            y: (this.height / 2) * (1 - dot(d, up) / h),
            depth,
        };
    }

    turn(right, up) {
        this.flight = null;
        this.state.azimuth += right;
        this.state.elevation = clamp(this.state.elevation + up, -HIGHEST, HIGHEST);
    }

    // By pixels: the target's plane follows the pointer.
    pan(x, y) {
        this.flight = null;
        const { right, up } = this.axes();
        const s = this.pixel();
        this.state.target = addScaled(addScaled(this.state.target, right, -x * s), up, y * s);
    }

    // The point under the pixel stays where it is.
    zoom(factor, x = this.width / 2, y = this.height / 2) {
        this.flight = null;
        const old = this.state.distance;
        this.state.distance = clamp(old * factor, this.size * 1e-6, this.size * 100);
        const by = 1 - this.state.distance / old,
            s = (2 * old * this.tangent()) / this.height;
        const { right, up } = this.axes();
        this.state.target = addScaled(
            addScaled(this.state.target, right, (x - this.width / 2) * s * by),
            up,
            (this.height / 2 - y) * s * by,
        );
    }

    // Where to stand so that a ball fills the view.
    around(target, radius, more = {}) {
        const distance = (radius || this.size / 1000) / Math.sin(FIELD_OF_VIEW / 2);
        return { ...this.state, target, distance: Math.min(distance, this.size * 100), ...more };
    }

    // Where to stand so that a box just fits, seen from where it is seen now.
    fit(box, more = {}) {
        const state = { ...this.state, ...more };
        const { right, up, back } = this.axes(state);
        const middle = scale(add(box.min, box.max), 0.5);
        // A margin around the box.
        const t = this.tangent() / (this.width < NARROW ? 1.22 : 1.06),
            aspect = this.width / this.height;
        let distance = this.size * 1e-6;
        for (const p of corners(box)) {
            const d = sub(p, middle);
            const across = Math.max(Math.abs(dot(d, right)) / aspect, Math.abs(dot(d, up))) / t;
            distance = Math.max(distance, across + (state.parallel ? 0 : dot(d, back)));
        }
        return { ...state, target: middle, distance };
    }

    // Moves there in one sweep; at once where motion is not wanted.
    fly(state, now, calm = false) {
        const to = { ...this.state, ...state };
        if (calm) {
            this.flight = null;
            this.state = to;
            return;
        }
        const turns = Math.round((this.state.azimuth - to.azimuth) / (2 * Math.PI));
        this.flight = { from: { ...this.state }, to: { ...to, azimuth: to.azimuth + 2 * Math.PI * turns }, start: now };
    }

    // Moves on; false when there is nothing to do.
    advance(now) {
        if (!this.flight) return false;
        const { from, to, start } = this.flight;
        const t = clamp((now - start) / this.flyTime, 0, 1);
        const s = t * t * (3 - 2 * t);
        this.state = {
            ...to,
            target: mix(from.target, to.target, s),
            distance: Math.exp(mix([Math.log(from.distance)], [Math.log(to.distance)], s)[0]),
            azimuth: from.azimuth + (to.azimuth - from.azimuth) * s,
            elevation: from.elevation + (to.elevation - from.elevation) * s,
        };
        if (t === 1) this.flight = null;
        return true;
    }
}
