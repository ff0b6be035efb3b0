// SPDX-License-Identifier: MIT
// The page of `carom demo`. The tool wrote its text, and for every scene a picture and the scene itself as base64 of
// GLB. A picture that comes near the screen becomes a scene that turns. Browsers allow a page few WebGL contexts
// (phones about eight), so that only the nearest scenes are live: the others become pictures of what they showed.
import { fromBase64, unpack } from "../glb.js";
import { loadScene } from "../scene.js";
import { makeRenderer } from "../renderer.js";
import { Viewer } from "../viewer.js";
import { plot } from "../plot.js";
import { describe } from "../panel.js";
import { el, icon, tool, range, number, withUnit } from "../dom.js";

const MOST_LIVE = 5; // scenes with a WebGL context
const NEARBY = "400px"; // above and below the screen: scenes there are prepared
const SEEN = 0.25; // of a scene on the screen: then it plays
const ROOM = 0.8; // of the distance from which everything is seen: for what moves, which is small beside its path
const WIDE = 1.2; // width by height of a stage that has this room at its sides; phones' stages are squares
const HOLD = 1.2; // seconds that a motion rests at its end before it starts anew
const LONGEST_STEP = 0.1; // seconds between two frames that count: a page in the background stands still

const darkScheme = window.matchMedia("(prefers-color-scheme: dark)");

// A viewer whose items may be shown at some times only (extras.shown: from, until), and whose motion repeats.
class Exhibit extends Viewer {
    apply() {
        super.apply();
        for (const item of this.scene.items) item.off = item.hidden;
        this.showByTime();
    }

    showByTime() {
        const { time, items } = this.scene;
        for (const item of items) {
            const { shown } = item.extras;
            if (shown) item.hidden = item.off || time < shown[0] || (shown.length > 1 && time >= shown[1]);
        }
    }

    // Where items come and go, time stands at the frames, so that everything shown belongs together.
    snap(time) {
        const { times, items } = this.scene;
        if (!items.some((item) => item.extras.shown)) return time;
        return times.reduce((best, t) => (t <= time + 1e-9 ? t : best), times[0]);
    }

    setTime(time) {
        this.playTime = time;
        super.setTime(this.snap(time));
        this.showByTime();
    }

    play(on) {
        super.play(on);
        this.playTime = this.scene.time;
    }

    playOn(now) {
        const { times } = this.scene;
        const last = times[times.length - 1];
        this.playTime += Math.min((now - this.playedAt) / 1000, LONGEST_STEP) * this.speed();
        this.playedAt = now;
        if (this.playTime > last + HOLD * this.speed()) this.playTime = times[0];
        const time = this.snap(Math.min(this.playTime, last));
        if (time === this.scene.time) return;
        this.scene.setTime(time);
        this.showByTime();
        this.tell("time");
    }

    // Units of time in a second: motions take 4 to 12 seconds.
    speed() {
        const { times } = this.scene;
        const length = times[times.length - 1] - times[0];
        return length / Math.min(Math.max(length, 4), 12);
    }

    tick(now) {
        if (!this.closed) super.tick(now);
    }

    drawNow() {
        if (!this.closed) super.drawNow();
    }

    close() {
        this.closed = true;
        this.playing = false;
        const lose = this.renderer.gl.getExtension("WEBGL_lose_context");
        if (lose) lose.loseContext();
    }
}

// Answers of the scene, and its plots over time with the values at the time that is shown.
function fillBeside(beside, info) {
    const over = (p) => /^t(ime)?\b/i.test(p.x);
    const figures = info.plots.map(plot);
    const readings = info.plots.filter(over).flatMap((p) =>
        p.series.map((series) => ({
            label: p.series.length > 1 ? String(series.name) : String(p.title),
            unit: String(p.y || ""),
            points: series.points,
            value: el("dd"),
        })),
    );
    const pairs = info.answers.map(({ label, value, unit, bound }) => [
        el("dt", null, String(label)),
        el("dd", null, withUnit(value, unit), bound ? el("small", null, ` ${bound}`) : null),
    ]);
    beside.append(
        el("dl", null, ...pairs.flat(), ...readings.flatMap(({ label, value }) => [el("dt", null, label), value])),
        ...figures,
    );
    return (time) => {
        for (const { points, value } of readings) {
            const at = points.reduce((best, point) => (point[0] <= time + 1e-9 ? point : best), points[0]);
            // counts and their bounds as they are
            value.textContent = number(Number.isInteger(at[1]) ? at[1] : Number(at[1].toPrecision(4)));
        }
        for (const figure of figures) figure.mark(time);
    };
}

// Play and a slider for the time; what one can do with a scene.
function makeBar(viewer, exhibit) {
    const { times } = viewer.scene;
    const parts = [];
    if (times) {
        const last = times[times.length - 1];
        const button = tool("play", "Play or pause", () => {
            exhibit.paused = viewer.playing;
            viewer.play(!viewer.playing);
        });
        const slider = range("Time", times[0], last, (last - times[0]) / 1000, viewer.scene.time, (time) => {
            exhibit.paused = true;
            viewer.play(false);
            viewer.setTime(time);
        });
        const follow = () => {
            button.replaceChildren(icon(viewer.playing ? "pause" : "play"));
            if (!slider.matches(":active")) slider.value = viewer.scene.time;
            exhibit.follow(viewer.scene.time);
        };
        viewer.listen((what) => what === "time" && follow());
        parts.push(button, slider);
        follow();
    }
    const cut = tool("section", "Section", () => viewer.setSection({ on: !viewer.show.section.on }));
    const fit = tool("fit", "Whole scene", () => viewer.fly(viewer.camera.fit(viewer.scene.box)));
    const whole = tool("explode", "Full screen", () => {
        if (document.fullscreenElement) document.exitFullscreen();
        else exhibit.stage.requestFullscreen();
    });
    parts.push(el("span", { className: "tools" }, cut, fit, exhibit.stage.requestFullscreen ? whole : null));
    return el("div", { className: "bar" }, ...parts);
}

class Scene {
    constructor(figure) {
        this.figure = figure;
        this.stage = figure.querySelector(".stage");
        this.still = figure.querySelector("img");
        this.holder = figure.querySelector("script");
        this.beside = figure.querySelector(".beside");
        this.picked = figure.querySelector(".picked");
        this.follow = null;
        this.paused = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    }

    async open() {
        if (this.live || this.opening) return;
        this.opening = true;
        const bytes = await unpack(fromBase64(this.holder.textContent));
        this.opening = false;
        if (!this.near || this.live) return;
        const canvas = el("canvas", { tabIndex: 0, "aria-label": `${this.still.alt} (drag to turn, space to play)` });
        const renderer = makeRenderer(canvas);
        if (!renderer) {
            document.body.classList.add("flat");
            return;
        }
        this.view = el("div", { className: "live" }, canvas);
        this.stage.append(this.view);
        this.viewer = new Exhibit(renderer, loadScene(bytes));
        this.live = true;
        if (!this.follow) this.follow = fillBeside(this.beside, this.viewer.scene.info);
        this.attach(canvas);
        this.restore();
        this.view.append(makeBar(this.viewer, this));
        this.viewer.listen((what) => {
            if (what === "select") this.describe();
        });
        this.viewer.drawNow();
        this.stage.classList.add("drawn");
        this.playWhenSeen();
    }

    restore() {
        const { viewer, kept } = this;
        viewer.set({ dark: darkScheme.matches });
        if (!kept) {
            const start = Number(this.figure.dataset.time);
            if (!viewer.scene.times) return;
            viewer.setTime(start || viewer.scene.times[0]);
            viewer.camera.state = viewer.camera.fit(viewer.scene.bounds());
            const wide = viewer.camera.width > WIDE * viewer.camera.height;
            if (viewer.scene.channels.length && wide) viewer.camera.state.distance *= ROOM;
            return;
        }
        viewer.camera.state = kept.camera;
        if (viewer.scene.times) viewer.setTime(kept.time);
    }

    // The wheel scrolls the page and a finger that moves up or down too, until one clicks or taps the scene.
    attach(canvas) {
        const activate = (on) => this.stage.classList.toggle("active", on);
        const wheel = (event) => {
            if (!this.stage.classList.contains("active")) event.stopPropagation();
        };
        this.view.addEventListener("wheel", wheel, { capture: true, passive: true });
        canvas.addEventListener("pointerdown", (event) => event.pointerType === "mouse" && activate(true));
        canvas.addEventListener("click", () => activate(true));
        canvas.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && activate(false));
        canvas.addEventListener("blur", () => activate(false));
        canvas.addEventListener("keydown", (event) => {
            if (event.key === "Escape") canvas.blur();
            if (event.key !== " " || !this.viewer.scene.times) return;
            event.preventDefault();
            this.paused = this.viewer.playing;
            this.viewer.play(!this.viewer.playing);
        });
    }

    describe() {
        const { selected } = this.viewer;
        const pairs = selected ? describe(this.viewer, selected) : [];
        this.picked.textContent = pairs.map(([label, value]) => `${label} ${value}`).join(" · ");
    }

    playWhenSeen() {
        const { viewer } = this;
        if (!this.live || !viewer.scene.times) return;
        const on = Boolean(this.seen) && !this.paused;
        if (on !== viewer.playing) viewer.play(on);
    }

    close() {
        const { viewer } = this;
        viewer.render("full");
        this.still.src = viewer.canvas.toDataURL("image/png");
        this.kept = { camera: viewer.camera.state, time: viewer.scene.time };
        this.live = false;
        this.stage.classList.remove("drawn", "active");
        this.view.remove();
        viewer.close();
        this.viewer = null;
    }

    // How far it is from the middle of the screen, in pixels.
    get away() {
        const box = this.stage.getBoundingClientRect();
        return Math.abs(box.top + box.bottom - window.innerHeight) / 2;
    }
}

const scenes = [...document.querySelectorAll("figure.scene")].map((figure) => new Scene(figure));
const sceneOf = new Map(scenes.map((scene) => [scene.figure, scene]));

// Opens what is near, the nearest first, and closes what is farthest away where too many are live.
function keepFew() {
    const wanted = scenes.filter((scene) => scene.near).sort((a, b) => a.away - b.away);
    const live = scenes.filter((scene) => scene.live && !wanted.slice(0, MOST_LIVE).includes(scene));
    live.sort((a, b) => b.away - a.away);
    const room = MOST_LIVE - wanted.slice(0, MOST_LIVE).length;
    for (const scene of live.slice(0, Math.max(live.length - room, 0))) scene.close();
    for (const scene of wanted.slice(0, MOST_LIVE)) scene.open();
}

const watch = (options, action) => {
    const observer = new IntersectionObserver((entries) => {
        for (const entry of entries) action(sceneOf.get(entry.target), entry.isIntersecting);
        keepFew();
    }, options);
    for (const scene of scenes) observer.observe(scene.figure);
};
watch({ rootMargin: `${NEARBY} 0px` }, (scene, on) => {
    scene.near = on;
});
watch({ threshold: SEEN }, (scene, on) => {
    scene.seen = on;
    scene.playWhenSeen();
});
darkScheme.addEventListener("change", () => {
    for (const scene of scenes) if (scene.live) scene.viewer.set({ dark: darkScheme.matches });
});

window.carom = { scenes }; // for tests and other scripts
