// SPDX-License-Identifier: MIT
// Turns what the pointer, fingers and keys do on the canvas into movements of a camera:
//   left drag or one finger turns; right, middle or shift drag pans; the wheel zooms at the pointer;
//   two fingers pan and zoom. Keys: arrows turn, with shift pan, + and - zoom.

const TURN = 0.0055; // radians per pixel
const KEY_TURN = Math.PI / 24;
const KEY_PAN = 40; // pixels
const ZOOM = 0.0016; // logarithm of the factor, per pixel of the wheel
const MOST_WHEEL = 300; // pixels of one turn
const LINE_HEIGHT = 16; // pixels, where wheels count lines
const CLICK = 5; // pixels: a press that moves less is a click

// Calls changed() after each movement, click(x, y, double) and hover(x, y) or hover(null).
export function attachControls(canvas, camera, { changed, click, hover }) {
    const pointers = new Map();
    let moved = 0,
        panning = false,
        spread = 0;
    const place = (event) => {
        const box = canvas.getBoundingClientRect();
        return { x: event.clientX - box.left, y: event.clientY - box.top };
    };
    const middle = () => {
        const all = [...pointers.values()];
        return { x: all.reduce((s, p) => s + p.x, 0) / all.length, y: all.reduce((s, p) => s + p.y, 0) / all.length };
    };
    const distance = () => {
        const [a, b] = [...pointers.values()];
        return Math.hypot(a.x - b.x, a.y - b.y);
    };
    canvas.addEventListener("pointerdown", (event) => {
        canvas.setPointerCapture(event.pointerId);
        canvas.focus({ preventScroll: true });
        canvas.classList.add("pointed");
        pointers.set(event.pointerId, place(event));
        if (pointers.size === 1) moved = 0;
        else spread = distance();
        panning = event.button > 0 || event.shiftKey;
        hover(null);
        event.preventDefault();
    });
    canvas.addEventListener("pointermove", (event) => {
        const now = place(event);
        const before = pointers.get(event.pointerId);
        if (!before) {
            if (event.pointerType !== "touch") hover(now.x, now.y);
            return;
        }
        const from = middle();
        pointers.set(event.pointerId, now);
        const to = middle();
        const dx = to.x - from.x,
            dy = to.y - from.y;
        moved += Math.abs(now.x - before.x) + Math.abs(now.y - before.y);
        if (moved < CLICK) return;
        if (pointers.size > 1) {
            camera.pan(dx, dy);
            const wide = distance();
            if (spread > 0 && wide > 0) camera.zoom(spread / wide, to.x, to.y);
            spread = wide;
        } else if (panning) {
            camera.pan(dx, dy);
        } else {
            camera.turn(-dx * TURN, dy * TURN);
        }
        changed();
    });
    const end = (event) => {
        if (!pointers.delete(event.pointerId)) return;
        if (event.type === "pointerup" && moved < CLICK && event.button === 0 && !pointers.size) {
            const { x, y } = place(event);
            click(x, y, false);
        }
        if (pointers.size === 2) spread = distance();
        changed();
    };
    canvas.addEventListener("pointerup", end);
    canvas.addEventListener("pointercancel", end);
    canvas.addEventListener("pointerleave", () => hover(null));
    canvas.addEventListener("dblclick", (event) => click(place(event).x, place(event).y, true));
    canvas.addEventListener("contextmenu", (event) => event.preventDefault());
    const wheel = (event) => {
        const { x, y } = place(event);
        const step = event.deltaY * (event.deltaMode ? LINE_HEIGHT : 1);
        camera.zoom(Math.exp(Math.min(Math.max(step, -MOST_WHEEL), MOST_WHEEL) * ZOOM), x, y);
        event.preventDefault();
        changed();
    };
    canvas.addEventListener("wheel", wheel, { passive: false });
    attachKeys(canvas, camera, changed);
}

function attachKeys(canvas, camera, changed) {
    canvas.addEventListener("keydown", (event) => {
        canvas.classList.remove("pointed");
        if (event.ctrlKey || event.altKey || event.metaKey) return;
        const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
        if (way && event.shiftKey) camera.pan(-way[0] * KEY_PAN, -way[1] * KEY_PAN);
        else if (way) camera.turn(-way[0] * KEY_TURN, way[1] * KEY_TURN);
        else if (event.key === "+" || event.key === "=") camera.zoom(0.8);
        else if (event.key === "-" || event.key === "_") camera.zoom(1.25);
        else return;
        event.preventDefault();
        changed();
    });
}
