// SPDX-License-Identifier: MIT
// The viewer: a scene, a renderer and a camera on one canvas, and what is shown of it: hidden, ghosted, lit,
// cut, exploded, at which time. It has no panel and no buttons; those call its methods and listen to it.
//     const viewer = new Viewer(makeRenderer(canvas), scene);
//     viewer.listen((what) => ...)   after something changed: "view", "show", "time", "select", "work"
import { Camera } from "./camera.js";
import { attachControls } from "./controls.js";
import { pick } from "./pick.js";
import { hexes } from "./colour.js";
import { dot, scale, center, diagonal, isEmpty, corners, clamp } from "./math.js";

const MEAN_FRAMES = 4; // whose mean is shown, on slow machines
const REST = 100; // milliseconds without a movement: then the full picture is drawn
const WORK = 7; // milliseconds of preparation between two frames
const PAUSE = 300; // milliseconds until a slow machine begins with the mean: whoever goes on need not wait for it
const PLAY_TIME = [3, 12]; // seconds for one run of an animation, at least and at most
const MOST_RATIO = 2; // pixels of the canvas per CSS pixel
const HOVER = 45; // milliseconds that the pointer must rest
const SLOW = 45; // milliseconds for the first full frame: above, less is drawn while moving

// Colours by name, from hexadecimal numbers in this order.
const COLOURS = "sky ground line lit patch region curve points arrow edges".split(" ");
const palette = (text) => Object.fromEntries(hexes(text).map((colour, i) => [COLOURS[i], colour]));
const THEMES = {
    light: palette("f9fafb d4dae0 1f2633 ffb826 e6452e e6452e b80d1f b80d1f 1a59cc d91f73"),
    dark: palette("30363d 1a1d21 050608 ffc240 fa5c40 fa5c40 ff7366 ff7366 5c9eff ff599e"),
};
const AXES = { x: [1, 0, 0], y: [0, 1, 0], z: [0, 0, 1] };
const SIDES = hexes("5c94d6 eda84d"); // the two parts of a row that is looked at
const HIT = hexes("e6452e")[0]; // what is lit at the time that is shown

const isBody = (item) => item.kind === "part" || item.kind === "spheres";
// Whether an item is lit at a time: `lit` has pairs of times, from one until before the other.
const isHit = ({ extras: { lit } }, time) => lit && lit.some((t, i) => i % 2 && lit[i - 1] <= time && time < t);

export class Viewer {
    constructor(renderer, scene) {
        const { canvas } = renderer;
        this.canvas = canvas;
        this.scene = scene;
        this.renderer = renderer;
        this.camera = new Camera(scene.info.up, scene.size);
        this.show = {
            smooth: true,
            edges: "features",
            arrowScale: 1,
            dark: false,
            section: { on: false, axis: "x", at: 0.5, flip: false, normal: [1, 0, 0] },
        };
        this.fileUp = scene.info.up;
        this.layers = {};
        for (const item of scene.items) this.layers[item.kind] = true;
        this.hiddenParts = new Set();
        this.ghostParts = new Set();
        this.only = null; // parts that are shown alone
        this.focus = null; // { row, items }: a row of a list that is looked at
        this.selected = null; // what was picked: { item, face, point, ... }
        this.playing = false;
        this.orders = new Map(); // of the rows of lists, once they are shown
        this.listeners = [];
        this.times = { frame: 0, first: 0, full: 0, frames: 0 };
        this.calm = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
        this.lastMotion = -Infinity;
        this.turn = 0;
        this.renderer.setScene(scene);
        attachControls(canvas, this.camera, {
            changed: () => this.moved(),
            click: (x, y, twice) => this.click(x, y, twice),
            hover: (x, y) => this.hover(x, y),
        });
        new ResizeObserver(() => this.resize()).observe(canvas.parentElement);
        this.home();
        this.apply();
    }

    // The view to start with: everything, from a corner.
    home() {
        this.resize();
        this.camera.state = this.camera.fit(this.scene.box);
    }

    listen(listener) {
        this.listeners.push(listener);
    }

    tell(what) {
        for (const listener of this.listeners) listener(what);
    }

    // ---- frames

    resize() {
        const box = this.canvas.parentElement.getBoundingClientRect();
        const width = Math.max(1, Math.round(box.width)),
            height = Math.max(1, Math.round(box.height));
        const ratio = Math.min(window.devicePixelRatio || 1, MOST_RATIO);
        if (this.camera.width === width && this.camera.height === height && this.ratio === ratio) return;
        this.ratio = ratio;
        // Pixels of a picture in full. The canvas has fewer while things move on slow machines: the browser enlarges it.
        this.renderer.size = [width * ratio, height * ratio];
        this.camera.width = width;
        this.camera.height = height;
        if (this.drawn) this.drawNow(); // at once: a canvas that changes its size is empty
        this.tell("view");
    }

    // The camera moved.
    moved() {
        this.lastMotion = performance.now();
        this.dirty = true;
        this.schedule();
        this.tell("view");
    }

    // Something else changed: draw it in full soon.
    changed() {
        this.dirty = true;
        this.schedule();
    }

    schedule() {
        if (this.waiting) return;
        this.waiting = true;
        requestAnimationFrame((now) => this.tick(now));
    }

    tick(now) {
        this.waiting = false;
        now = performance.now();
        if (this.measured) {
            // The frame before this one was drawn while moving. One that the GPU has not finished would hold up the next.
            if (!this.renderer.idle) return this.schedule();
            const took = now - this.measured;
            // The mean of the last few.
            this.times.frame = this.times.frame ? 0.7 * this.times.frame + 0.3 * took : took;
            this.renderer.adapt(took);
            this.measured = 0;
        }
        const flying = this.camera.advance(now);
        if (flying) this.tell("view");
        if (this.playing) this.playOn(now);
        const moving = (this.moving = flying || this.playing || now - this.lastMotion < REST);
        if (moving) {
            this.lastMotion = flying || this.playing ? now : this.lastMotion;
            if (this.dirty || flying || this.playing) {
                this.render(this.renderer.slow ? "moving" : "full");
                this.measured = now;
                this.dirty = false;
                this.full = false;
            }
            if (this.renderer.jobs.length) this.prepare(4);
            this.schedule();
        } else if (this.dirty || !this.full) {
            this.drawNow();
        }
    }

    render(how) {
        const options = { ...this.show, section: this.sectionPlane(), ratio: this.ratio };
        this.renderer.theme = THEMES[this.show.dark ? "dark" : "light"];
        this.renderer.draw(this.camera, options, how);
        ++this.times.frames;
        this.drawn = true;
    }

    // The full picture; where that takes long, first without antialiasing, which follows.
    drawNow() {
        const start = performance.now(),
            { renderer, times } = this;
        this.render(renderer.slow ? "still" : "full");
        this.dirty = false;
        this.full = true;
        const turn = ++this.turn;
        this.whenIdle(() => {
            if (!times.first) {
                times.first = performance.now();
                times.full = times.first - start;
                if (times.full > SLOW && !renderer.slow) {
                    renderer.slow = true;
                    renderer.error = 2;
                }
            }
            times.rest = Math.min(performance.now() - this.lastMotion, 1e9);
            this.tell("drawn");
            this.prepareSoon();
            if (renderer.slow) setTimeout(() => this.refine(turn, 0), PAUSE);
        });
    }

    // Frames whose mean is shown, one after another while nothing changes.
    refine(turn, number) {
        if (number >= MEAN_FRAMES || turn !== this.turn || this.dirty || this.moving || this.renderer.jobs.length)
            return;
        this.render(number);
        this.whenIdle(() => this.refine(turn, number + 1));
    }

    whenIdle(action) {
        const poll = () => {
            if (this.renderer.idle) action();
            else setTimeout(poll, 4);
        };
        setTimeout(poll, 0);
    }

    prepareSoon() {
        if (this.preparing || !this.renderer.jobs.length) return;
        this.preparing = true;
        const step = () => {
            if (this.prepare(WORK)) setTimeout(step, 0);
            else this.preparing = false;
        };
        setTimeout(step, 0);
    }

    // Works on coarser versions, normals and edges; draws once all are there.
    prepare(milliseconds) {
        const left = this.renderer.work(milliseconds);
        if (!left) {
            this.tell("work");
            this.changed();
        }
        return left;
    }

    // ---- what is shown

    sectionPlane() {
        const { on, axis, at, flip, normal } = this.show.section;
        if (!on) return null;
        const n = scale(AXES[axis] || normal, flip ? -1 : 1);
        const heights = corners(this.scene.boxOf(this.scene.items)).map((p) => dot(n, p));
        const low = Math.min(...heights),
            high = Math.max(...heights);
        return { normal: n, offset: low + (flip ? 1 - at : at) * (high - low) };
    }

    // Sets what each item looks like from the sets of parts, the layers and the row that is looked at.
    apply() {
        const focus = this.focus && this.focus.items.length && new Set(this.focus.items);
        const around = new Set(this.focus && this.focus.around);
        let side = 0;
        for (const item of this.scene.items) {
            const inFocus = focus && focus.has(item);
            item.hidden =
                !this.layers[item.kind] ||
                this.hiddenParts.has(item.part) ||
                Boolean(this.only && item.part !== undefined && !this.only.has(item.part)) ||
                Boolean(this.only && item.part === undefined && !inFocus) ||
                Boolean(focus && !isBody(item) && !inFocus);
            item.ghost =
                (Boolean(item.style.ghost) && !inFocus) ||
                this.ghostParts.has(item.part) ||
                Boolean(focus && isBody(item) && !inFocus);
            item.lit = Boolean(this.selected && this.selected.item === item && this.selected.sphere === undefined);
            item.side = (inFocus || around.has(item)) && isBody(item) ? SIDES[side++ % 2] : null;
            if (isHit(item, this.scene.time)) item.side = HIT;
        }
        this.changed();
        this.tell("show");
    }

    set(changes) {
        Object.assign(this.show, changes);
        this.changed();
        this.tell("show");
    }

    // A new plane cuts away the side towards the eye.
    setSection(changes) {
        const { section } = this.show,
            { back } = this.camera.axes();
        const fresh = changes.axis || (changes.on && !section.on);
        Object.assign(section, changes);
        if (changes.axis === "v") section.normal = back;
        if (fresh && changes.flip === undefined) section.flip = dot(AXES[section.axis] || section.normal, back) < 0;
        this.moved();
        this.tell("show");
    }

    // Formats guess which axis is up, and people know better.
    setUp(axis) {
        this.camera.setUp((this.scene.info.up = axis));
        this.moved();
        this.tell("show");
    }

    explode(factor) {
        this.scene.explode(factor);
        this.moved();
        this.tell("show");
    }

    toggle(set, part) {
        if (!set.delete(part)) set.add(part);
        this.apply();
    }

    isolate(parts) {
        this.only = parts && parts.length ? new Set(parts) : null;
        this.apply();
    }

    showAll() {
        this.hiddenParts.clear();
        this.ghostParts.clear();
        this.only = null;
        this.focus = null;
        this.selected = null;
        for (const kind of Object.keys(this.layers)) this.layers[kind] = true;
        this.apply();
        this.tell("select");
    }

    // ---- going to things

    fly(state) {
        this.camera.fly(state, performance.now(), this.calm);
        this.moved();
    }

    fit(items = null) {
        this.fly(this.camera.fit(this.scene.bounds(items)));
    }

    // Shows everything from a direction.
    look(direction, upright) {
        this.fly(this.camera.fit(this.scene.bounds(), this.camera.angles(direction, upright)));
    }

    select(hit) {
        this.selected = hit;
        this.apply();
        this.tell("select");
    }

    // Looks at a row of a list: its nodes in colour, the other parts as ghosts. Where it names no part, those of
    // its contacts are ghosts in colour, so that what is inside can be seen.
    lookAt(row) {
        const items = (row.nodes || []).flatMap((node) => this.scene.itemsOf(node));
        this.selected = null;
        const marks = items.filter((item) => !isBody(item));
        const parts = new Set(marks.length === items.length ? marks.map((item) => item.part) : []);
        this.focus = { row, items, around: this.scene.items.filter((item) => isBody(item) && parts.has(item.part)) };
        if (row.time !== undefined) {
            this.playing = false;
            this.scene.setTime(row.time);
            this.tell("time");
        }
        this.apply();
        this.tell("select");
        const box = this.scene.boxOf(marks.length ? marks : items);
        const at = Array.isArray(row.at) ? row.at : !isEmpty(box) && center(box);
        if (!at || row.time !== undefined) return;
        // Somewhat more than the place itself, so that one sees where it is.
        const near = this.camera.around(at, Math.max(2.2 * row.radius || diagonal(box), this.scene.size / 50));
        near.distance = Math.min(near.distance, this.camera.fit(this.scene.box).distance);
        this.fly(near);
    }

    // All rows, in the order in which they are listed.
    rows() {
        return this.scene.info.lists.flatMap((list) => this.orders.get(list) || list.rows || []);
    }

    // Flies to a row by its id, or to an item by its id, name or part.
    goto(id) {
        const row = this.rows().find((r) => String(r.id) === String(id));
        if (row) {
            this.lookAt(row);
            return true;
        }
        const same = (item) => [item.id, item.name, item.part].some((x) => x !== undefined && String(x) === String(id));
        const item = this.scene.items.find(same);
        if (!item) return false;
        this.select({ item });
        this.fit([item]);
        return true;
    }

    // The row after or before the one that is looked at.
    step(by) {
        const rows = this.rows();
        if (!rows.length) return;
        const at = this.focus ? rows.indexOf(this.focus.row) : by > 0 ? -1 : rows.length;
        this.lookAt(rows[clamp(at + by, 0, rows.length - 1)]);
    }

    clear() {
        this.focus = null;
        this.select(null);
    }

    // ---- picking

    pickAt(x, y, more = {}) {
        const section = this.sectionPlane();
        return pick(this.scene, this.camera, x, y, { section, arrowFactor: this.arrowFactor(), ...more });
    }

    arrowFactor() {
        return this.renderer.arrowUnit * this.show.arrowScale;
    }

    click(x, y, twice) {
        const hit = this.pickAt(x, y) || this.pickAt(x, y, { ghosts: true });
        if (twice) {
            if (hit) this.fly(this.camera.around(hit.point, this.camera.state.distance / 8));
            return;
        }
        this.select(hit);
    }

    hover(x, y) {
        clearTimeout(this.hoverTimer);
        if (x === null) {
            this.hovered = null;
            this.tell("hover");
            return;
        }
        this.hoverTimer = setTimeout(() => {
            this.hovered = { ...this.pickAt(x, y), x, y };
            this.tell("hover");
        }, HOVER);
    }

    // ---- time

    setTime(time) {
        this.scene.setTime(time);
        this.light();
        this.moved();
        this.tell("time");
    }

    // Lights what is lit at the time that is shown.
    light() {
        if (this.scene.items.some((item) => item.extras.lit)) this.apply();
    }

    play(on = !this.playing) {
        const { times } = this.scene;
        if (!times) return;
        this.playing = on;
        this.playedAt = performance.now();
        if (on && this.scene.time >= times[times.length - 1]) this.scene.setTime(times[0]);
        this.moved();
        this.tell("time");
    }

    playOn(now) {
        const { times } = this.scene;
        const first = times[0],
            last = times[times.length - 1];
        const speed = (last - first) / clamp(last - first, ...PLAY_TIME);
        const time = this.scene.time + ((now - this.playedAt) / 1000) * speed;
        this.playedAt = now;
        if (time >= last) this.playing = false;
        this.scene.setTime(Math.min(time, last));
        this.light();
        this.tell("time");
    }

    // ---- pictures

    // The picture as a PNG.
    picture() {
        this.render("full");
        return new Promise((done) => this.canvas.toBlob(done, "image/png"));
    }

    stats() {
        const { renderer } = this;
        return {
            triangles: renderer.triangles,
            items: this.scene.items.length,
            drawn: renderer.frame.triangles,
            draws: renderer.frame.draws,
            full: Boolean(this.full),
            pending: renderer.jobs.length,
            frames: this.times.frames,
            frame_ms: this.times.frame,
            full_ms: this.times.full,
            first_ms: this.times.first,
            rest_ms: this.times.rest,
            slow: renderer.slow,
            error: renderer.error,
            scale: renderer.motionScale,
        };
    }
}
