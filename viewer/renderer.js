// SPDX-License-Identifier: MIT
// Draws a scene with WebGL 2. First surfaces are what the file gives, drawn flat; work() then computes coarser
// versions, smooth normals and edges in small steps (gpu.js). A frame is drawn in full, with antialiasing. Where
// that takes long, quick frames are drawn instead: while things move with as few triangles and pixels as the
// machine needs (a coarser version is taken where its cells are at most `error` pixels wide), and at rest several
// frames in full that differ by parts of a pixel, whose mean is shown.
import {
    multiply,
    dot,
    scale,
    rotate,
    transform,
    center,
    diagonal,
    grow,
    growMoved,
    emptyBox,
    addScaled,
    unit,
    cross,
    clamp,
    norm,
} from "./math.js";
import { MESH, CAP, EDGE, LINE, POINT, SPHERE, BACKGROUND, PICTURE } from "./shaders.js";
import { wireframe } from "./surface.js";
import { partColour } from "./colour.js";
import { arrowOf } from "./scene.js";
import { Store, POSITION, NORMAL, COLOUR } from "./gpu.js";

const SAMPLES = 4;
const JITTER = [
    [-0.125, -0.375],
    [0.375, -0.125],
    [-0.375, 0.125],
    [0.125, 0.375],
]; // pixels
const SMALL = 30000; // triangles that are prepared before the first picture
const LARGE = 150000; // triangles: above, machines without a GPU start with little while moving
const SLOW_FRAME = 70; // milliseconds: frames while moving that take longer get less to draw
const QUICK_FRAME = 35; // milliseconds: those that take less get more
const SOFTWARE = /swiftshader|llvmpipe|softpipe|software|basic render/i; // names of machines without a GPU
const LEAST_SCALE = 0.5; // of the resolution, while moving
const MOST_ERROR = 12; // pixels
// Where frames take long, ghosts, which only tell where things are, have fewer triangles and pixels.
const GHOST_ERROR = 9; // pixels, or more where that leaves too many
const GHOST_TRIANGLES = 40000;
const GHOST_PIXELS = 2; // of the picture, in each direction, are one
const MOST_SPHERES = 150000; // while moving, divided by the error in pixels
const ARROW_SHAFT = 2; // radius, in pixels
const ARROW_HEAD = 6.5; // radius, in pixels
const ARROW_HEAD_LENGTH = 17; // pixels
const HIDDEN_ARROW = 0.6; // opacity of what of an arrow is behind something: it is the way out
const LONGEST_ARROW = 0.22; // of the scene's size, at scale 1
const CURVE_WIDTH = 2.5; // pixels
const EDGE_WIDTH = 2; // pixels
const POINT_WIDTH = 7; // pixels
const OVERLAYS = new Set(["patch", "region", "curve", "points", "arrow", "edges"]);

const SOURCES = { MESH, CAP, EDGE, LINE, POINT, SPHERE, BACKGROUND, PICTURE };

function makeProgram(gl, { vertex, fragment }, cut) {
    const program = gl.createProgram();
    const head = `#version 300 es\n${cut ? "#define CUT\n" : ""}`;
    for (const [type, text] of [
        [gl.VERTEX_SHADER, vertex],
        [gl.FRAGMENT_SHADER, fragment],
    ]) {
        const shader = gl.createShader(type);
        gl.shaderSource(shader, head + text);
        gl.compileShader(shader);
        gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    return { program, places: null };
}

// A cylinder and a cone along z, from 0 to 1, of radius 1, with bottoms: positions and normals.
function makeArrowShapes() {
    const positions = [],
        normals = [],
        SIDES = 24;
    const add = (angle, radius, z, normal) => {
        const x = Math.cos(angle),
            y = Math.sin(angle);
        positions.push(x * radius, y * radius, z);
        normals.push(...(normal === undefined ? [0, 0, -1] : [x, y, normal]));
    };
    for (const [top, slope] of [
        [1, 0],
        [0, 0.4],
    ]) {
        for (let i = 0; i < SIDES; ++i) {
            const a = (2 * Math.PI * i) / SIDES,
                b = (2 * Math.PI * (i + 1)) / SIDES;
            for (const [angle, z] of [
                [a, 0],
                [b, 0],
                [b, 1],
                [a, 0],
                [b, 1],
                [a, 1],
            ])
                add(angle, z ? top : 1, z, slope);
            for (const [angle, radius] of [
                [b, 1],
                [a, 1],
                [a, 0],
            ])
                add(angle, radius, 0);
        }
    }
    return [positions, normals].map((list) => new Float32Array(list));
}

// A renderer, or null where there is no WebGL 2.
export function makeRenderer(canvas) {
    const gl = canvas.getContext("webgl2", { antialias: false, depth: false });
    return gl && new Renderer(canvas, gl);
}

class Renderer extends Store {
    constructor(canvas, gl) {
        super(gl);
        this.canvas = canvas;
        this.targets = {};
        this.motionScale = 1;
        const names = gl.getExtension("WEBGL_debug_renderer_info");
        this.slow = SOFTWARE.test(gl.getParameter(names ? names.UNMASKED_RENDERER_WEBGL : gl.RENDERER));
        this.error = this.slow ? 3 : 0;
        this.theme = null;
        this.frame = { triangles: 0, draws: 0 };
        this.programs = {};
        for (const name of ["BACKGROUND", "MESH", "EDGE"]) this.program(name); // they compile while the scene is read
        this.empty = gl.createVertexArray();
        const [positions, normals] = makeArrowShapes();
        this.arrow = this.shape(positions, normals);
        this.arrowHead = positions.length / 6; // the vertex where it begins
        this.square = this.shape(new Float32Array([-1, -1, 0, 1, -1, 0, -1, 1, 0, 1, 1, 0]));
    }

    shape(positions, normals) {
        const { gl } = this;
        const vao = gl.createVertexArray();
        gl.bindVertexArray(vao);
        this.attribute(POSITION, this.buffer(positions), 3);
        if (normals) this.attribute(NORMAL, this.buffer(normals), 3);
        gl.bindVertexArray(null);
        return vao;
    }

    setScene(scene) {
        const { items } = (this.scene = scene);
        const parts = items.filter((item) => item.kind === "part").length;
        this.triangles = items.reduce((sum, item) => sum + item.triangles, 0);
        let longest = 0;
        for (const item of [...items].sort((a, b) => a.triangles - b.triangles)) {
            // the largest are prepared first
            item.colour = (item.style.colour || []).slice(0, 3);
            if (item.colour.length < 3 && !OVERLAYS.has(item.kind)) {
                item.colour = partColour(item.kind === "part" ? item.part || 0 : item.index, parts);
            }
            if (item.kind === "arrow") longest = Math.max(longest, norm(arrowOf(item).vector));
            this.upload(item);
        }
        this.arrowUnit = longest > 0 ? (LONGEST_ARROW * scene.size) / longest : 1;
        if (this.triangles <= SMALL) this.work(Infinity);
        if (this.slow && this.triangles > LARGE) [this.error, this.motionScale] = [8, 0.6]; // pixels; share
    }

    // ---- drawing

    // A picture to draw into: "full" has samples, "quick" and "glass" have one per pixel, "mean" has no depth.
    target(name, width, height) {
        const { gl } = this;
        let target = this.targets[name];
        if (target && target.width === width && target.height === height) return target;
        if (target) {
            gl.deleteFramebuffer(target.framebuffer);
            gl.deleteTexture(target.texture);
            for (const buffer of target.buffers) gl.deleteRenderbuffer(buffer);
        }
        target = { framebuffer: gl.createFramebuffer(), buffers: [], texture: null, width, height };
        gl.bindFramebuffer(gl.FRAMEBUFFER, target.framebuffer);
        const samples = name === "full" ? SAMPLES : 0;
        const attach = (format, place) => {
            const buffer = gl.createRenderbuffer();
            gl.bindRenderbuffer(gl.RENDERBUFFER, buffer);
            gl.renderbufferStorageMultisample(gl.RENDERBUFFER, samples, format, width, height);
            gl.framebufferRenderbuffer(gl.FRAMEBUFFER, place, gl.RENDERBUFFER, buffer);
            target.buffers.push(buffer);
        };
        if (samples) {
            attach(gl.RGBA8, gl.COLOR_ATTACHMENT0);
        } else {
            target.texture = this.makeTexture(gl.RGBA, width, height, gl.UNSIGNED_BYTE, null);
            gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, target.texture, 0);
        }
        if (name !== "mean") attach(gl.DEPTH24_STENCIL8, gl.DEPTH_STENCIL_ATTACHMENT);
        return (this.targets[name] = target);
    }

    bindTexture(place, texture, name) {
        const { gl } = this;
        gl.activeTexture(gl.TEXTURE0 + place);
        gl.bindTexture(gl.TEXTURE_2D, texture);
        gl.uniform1i(this.places[name], place);
        gl.activeTexture(gl.TEXTURE0);
    }

    // A program in the variant that the section plane needs.
    program(name, cut = false) {
        const key = name + (cut ? "+" : "");
        return (this.programs[key] = this.programs[key] || makeProgram(this.gl, SOURCES[name], cut));
    }

    // `whole`: the section plane leaves it alone.
    use(name, whole = false) {
        const { gl, view } = this;
        const program = this.program(name, !whole && (view.plane[3] !== 1 || view.plane[0] !== 0));
        if (!program.places) {
            if (!gl.getProgramParameter(program.program, gl.LINK_STATUS) && !gl.isContextLost()) {
                throw new Error(`${name}: ${gl.getProgramInfoLog(program.program)}`);
            }
            program.places = {};
            const count = gl.getProgramParameter(program.program, gl.ACTIVE_UNIFORMS);
            for (let i = 0; i < count; ++i) {
                const uniform = gl.getActiveUniform(program.program, i).name;
                program.places[uniform] = gl.getUniformLocation(program.program, uniform);
            }
        }
        gl.useProgram(program.program);
        this.places = program.places;
        gl.uniformMatrix4fv(this.places.uProjection, false, view.projection);
        gl.uniform4fv(this.places.uPlane, view.plane);
        gl.uniform3fv(this.places.uUp, view.up);
        gl.uniform2f(this.places.uViewport, view.width, view.height);
        gl.uniform1f(this.places.uNearer, 0.00006); // of the depth's range, -1 to 1: some hundred steps of 24 bits
    }

    mode({ smooth = false, ghost = 0, opacity = 1 } = {}) {
        this.gl.uniform4f(this.places.uMode, smooth ? 1 : 0, ghost, this.view.parallel ? 1 : 0, opacity);
    }

    tint(colour, amount) {
        this.gl.uniform4f(this.places.uTint, colour[0], colour[1], colour[2], amount);
    }

    // Model-view matrix in floats; also the rotation of normals.
    place(matrix, unitOf = 1) {
        const { gl, view } = this;
        const m = multiply(view.matrix, matrix);
        const columns = [0, 4, 8].map((c) => unit(m.slice(c, c + 3)));
        for (const c of [0, 1, 2, 4, 5, 6, 8, 9, 10]) m[c] *= unitOf;
        gl.uniformMatrix4fv(this.places.uModelView, false, m);
        if (this.places.uNormal) gl.uniformMatrix3fv(this.places.uNormal, false, columns.flat());
    }

    colour(colour) {
        this.gl.vertexAttrib4f(COLOUR, colour[0], colour[1], colour[2], 1);
    }

    colourOf(item) {
        const { colour, kind } = item;
        if (colour.length !== 3) return this.theme[kind] || this.theme.patch;
        // Dark lines and points would not be seen in the dark.
        const dim = !item.triangles && Math.max(...colour) < 0.5 && this.theme?.sky[0] < 0.5;
        return dim ? colour.map((x) => 0.5 + x / 2) : colour;
    }

    // What a frame needs to know of the camera.
    setView(camera, options, width, height, jitter) {
        const box = emptyBox();
        for (const item of this.scene.items) {
            if (item.hidden) continue;
            growMoved(box, item.box, item.matrix);
            if (item.kind !== "arrow") continue;
            const { from, vector } = arrowOf(item);
            grow(box, addScaled(from, vector, this.arrowUnit * options.arrowScale));
        }
        const { view, projection, scale: s } = camera.matrices(box.min[0] <= box.max[0] ? box : this.scene.box);
        const shift = camera.state.parallel ? 12 : 8;
        projection[shift] += (2 * jitter[0]) / width;
        projection[shift + 1] += (2 * jitter[1]) / height;
        let plane = [0, 0, 0, 1];
        if (options.section) {
            const { normal, offset } = options.section; // kept: dot(normal, p) <= offset
            const n = rotate(view, normal).map((x) => -x / s);
            plane = [...n, s * (offset - dot(normal, camera.eye()))];
        }
        this.view = {
            matrix: view,
            projection,
            plane,
            scale: s,
            width,
            height,
            parallel: camera.state.parallel,
            up: unit(rotate(view, camera.frame[2])),
            pixels: camera.state.parallel ? height / (2 * camera.tangent() * camera.state.distance * s) : 0,
            perspective: height / (2 * camera.tangent()),
            aspect: width / height,
            tangent: camera.tangent(),
        };
    }

    // Whether an item is in sight, not cut away as a whole; its range of indices is chosen by its size there.
    measure(item, section) {
        const { view } = this;
        if (item.kind === "arrow") return true;
        const m = item.matrix,
            middle = transform(m, center(item.box));
        const c = transform(view.matrix, middle);
        const stretch = Math.max(...[0, 4, 8].map((k) => Math.hypot(m[k], m[k + 1], m[k + 2])));
        const reach = (diagonal(item.box) / 2) * stretch,
            r = reach * view.scale;
        if (section && dot(section.normal, middle) - section.offset > reach) return false;
        let pixels = view.pixels;
        if (!view.parallel) {
            if (-c[2] < -r) return false;
            const wide = Math.hypot(1, view.tangent * view.aspect),
                high = Math.hypot(1, view.tangent);
            if (Math.abs(c[0]) + c[2] * view.tangent * view.aspect > r * wide) return false;
            if (Math.abs(c[1]) + c[2] * view.tangent > r * high) return false;
            pixels = view.perspective / Math.max(-c[2] - r, 1e-4);
        }
        item.pixels = view.scale * pixels;
        if (item.gpu.ranges) this.choose(item, view.error);
        return true;
    }

    // The coarsest version whose cells are at most so many pixels wide.
    choose(item, error) {
        item.range = item.gpu.ranges[0];
        for (const range of item.gpu.ranges) {
            if (range.cell * item.pixels <= error && range.count < item.range.count) item.range = range;
        }
        return item.range.count / 3;
    }

    drawSurface(item) {
        const { gl } = this;
        const gpu = item.gpu;
        if (item.moved) this.follow(item);
        this.place(item.matrix, gpu.unit);
        gl.bindVertexArray(gpu.vao);
        this.colour(this.colourOf(item));
        gl.drawElements(gl.TRIANGLES, item.range.count, gl.UNSIGNED_INT, item.range.offset);
        this.frame.triangles += item.range.count / 3;
        ++this.frame.draws;
    }

    lightUp(item) {
        // Parts of a row have their colour almost pure. What is picked keeps some of its own, and most of it where
        // the colours mean something.
        const lit = item.values || item.colours ? 0.15 : 0.6;
        this.tint(item.side || this.theme.lit, item.lit ? lit : item.side ? 0.85 : 0);
    }

    drawSurfaces(items, mode) {
        if (!items.length) return;
        this.use("MESH");
        this.gl.vertexAttrib3f(NORMAL, 0, 0, 0);
        for (const item of items) {
            const opacity = mode.ghost === 1 && item.side ? 5 : mode.opacity; // ghosts that matter are denser
            this.mode({ ...mode, smooth: mode.smooth && item.gpu.smooth, opacity });
            this.lightUp(item);
            this.drawSurface(item);
        }
    }

    drawSpheres(items, mode) {
        const { gl } = this;
        if (!items.length) return;
        this.use("SPHERE");
        this.mode(mode);
        for (const item of items) {
            this.lightUp(item);
            this.place(item.matrix);
            const m = item.matrix;
            gl.uniform1f(this.places.uScale, Math.hypot(m[0], m[1], m[2]) * this.view.scale);
            gl.bindVertexArray(this.empty);
            const [here, there, between] = this.framesOf(item),
                { colours } = item.gpu;
            const { box } = this.scene.info; // periodic ones: what leaves at one side comes in at the other
            this.bindTexture(0, here, "uData");
            this.bindTexture(1, there, "uOther");
            this.bindTexture(2, colours || here, "uColours");
            gl.uniform3f(
                this.places.uBetween,
                between,
                Array.isArray(box) ? Math.min(...box) / 2 : Infinity,
                colours ? 1 : 0,
            );
            this.colour(this.colourOf(item));
            const count = this.view.error
                ? Math.min(item.gpu.count, Math.ceil(MOST_SPHERES / this.view.error))
                : item.gpu.count;
            gl.drawArrays(gl.TRIANGLES, 0, 6 * count);
            this.frame.triangles += 2 * count;
            ++this.frame.draws;
        }
    }

    drawLines(items, opacity, ratio) {
        const { gl } = this;
        if (!items.length) return;
        this.use("LINE");
        this.mode({ opacity });
        for (const item of items) {
            const wide = item.lit ? 1.8 : 1; // what is picked stands out
            gl.uniform1f(this.places.uWidth, (item.kind === "edges" ? EDGE_WIDTH : CURVE_WIDTH) * wide * ratio);
            this.tint(item.lit ? this.theme.lit : this.colourOf(item), opacity);
            this.place(item.matrix);
            gl.bindVertexArray(this.empty);
            this.bindTexture(0, item.gpu.data, "uData");
            gl.drawArrays(gl.TRIANGLES, 0, 6 * item.gpu.count);
            ++this.frame.draws;
        }
    }

    drawPoints(items, opacity, ratio) {
        const { gl } = this;
        if (!items.length) return;
        this.use("POINT");
        this.mode({ opacity });
        for (const item of items) {
            gl.uniform1f(this.places.uWidth, POINT_WIDTH * ratio * (item.lit ? 1.6 : 1));
            this.lightUp(item);
            this.place(item.matrix);
            this.colour(this.colourOf(item));
            gl.bindVertexArray(item.gpu.vao);
            gl.drawArrays(gl.POINTS, 0, item.gpu.count);
            ++this.frame.draws;
        }
    }

    // Arrows keep their thickness in pixels; their length is the vector's times a factor that the page states.
    drawArrows(items, mode, ratio, factor) {
        const { gl, view } = this;
        if (!items.length) return;
        this.use("MESH", true);
        this.mode({ ...mode, smooth: true });
        gl.bindVertexArray(this.arrow);
        for (const item of items) {
            const { from, vector } = arrowOf(item);
            const long = norm(vector) * factor;
            if (!(long > 0)) continue;
            const depth = -transform(view.matrix, addScaled(from, vector, factor / 2))[2];
            const pixel = ratio / (view.parallel ? view.pixels : view.perspective / Math.max(depth, 1e-4)) / view.scale;
            const axis = unit(vector);
            const side = unit(cross(axis, Math.abs(axis[0]) < 0.8 ? [1, 0, 0] : [0, 1, 0])),
                third = cross(axis, side);
            // Short arrows are thinner as a whole; their head takes at most most of them.
            const thin = Math.min(1, long / (ARROW_HEAD_LENGTH * 1.5 * pixel)) * (item.lit ? 1.35 : 1);
            const head = Math.min(ARROW_HEAD_LENGTH * pixel * thin, long * 0.7);
            this.lightUp(item);
            this.colour(this.colourOf(item));
            const piece = (radius, start, length, first) => {
                this.place([
                    ...scale(side, radius),
                    0,
                    ...scale(third, radius),
                    0,
                    ...scale(axis, length),
                    0,
                    ...addScaled(from, axis, start),
                    1,
                ]);
                gl.drawArrays(gl.TRIANGLES, first, this.arrowHead);
            };
            piece(ARROW_SHAFT * pixel * thin, 0, long - head, 0);
            piece(ARROW_HEAD * pixel * thin, long - head, head, this.arrowHead);
            ++this.frame.draws;
        }
    }

    drawEdges(items, name, colour, opacity) {
        const { gl } = this;
        this.use("EDGE");
        this.mode();
        for (const item of items) {
            const edges = item.gpu[name];
            if (!edges || !edges.count) continue;
            this.tint(item.lit ? scale(this.theme.lit, 0.7) : colour, opacity);
            this.place(item.matrix, item.gpu.unit);
            gl.bindVertexArray(edges.vao);
            gl.drawElements(gl.LINES, edges.count, gl.UNSIGNED_INT, 0);
            ++this.frame.draws;
        }
    }

    // Fills closed parts where the section plane cuts them. The stencil counts how many faces a ray leaves
    // through less those it enters through, beyond the plane: not 0 means that the plane is inside there. Its
    // highest bit remembers where a part was filled, so that a second one there shows as an overlap.
    drawCaps(items, section) {
        const { gl } = this;
        const { normal, offset } = section;
        let nearer = 0; // each a little, so that rounding does not choose among caps of one plane
        gl.enable(gl.STENCIL_TEST);
        for (const item of items) {
            if (!item.closed || item.kind !== "part") continue;
            const box = emptyBox();
            growMoved(box, item.box, item.matrix);
            const middle = center(box),
                reach = diagonal(box) / 2;
            const height = dot(normal, middle) - offset;
            if (Math.abs(height) > reach) continue;
            this.use("MESH");
            this.mode();
            gl.stencilMask(127);
            gl.stencilFunc(gl.ALWAYS, 0, 255);
            gl.stencilOpSeparate(gl.FRONT, gl.KEEP, gl.KEEP, gl.DECR_WRAP);
            gl.stencilOpSeparate(gl.BACK, gl.KEEP, gl.KEEP, gl.INCR_WRAP);
            gl.colorMask(false, false, false, false);
            gl.depthMask(false);
            gl.disable(gl.DEPTH_TEST);
            this.drawSurface(item);
            this.use("CAP");
            this.mode();
            this.lightUp(item);
            gl.polygonOffset(0, (nearer -= 4));
            gl.stencilFunc(gl.NOTEQUAL, 128, 127);
            gl.stencilOp(gl.KEEP, gl.KEEP, gl.KEEP);
            gl.colorMask(true, true, true, true);
            gl.depthMask(true);
            gl.enable(gl.DEPTH_TEST);
            const side = unit(cross(normal, Math.abs(normal[0]) < 0.8 ? [1, 0, 0] : [0, 1, 0])),
                third = cross(normal, side);
            this.place([
                ...scale(side, reach),
                0,
                ...scale(third, reach),
                0,
                ...normal,
                0,
                ...addScaled(middle, normal, -height),
                1,
            ]);
            gl.bindVertexArray(this.square);
            this.colour(this.colourOf(item));
            gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
            gl.stencilFunc(gl.LESS, 128, 255);
            this.tint(this.theme.patch, 1);
            gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
            gl.stencilMask(255);
            gl.stencilFunc(gl.NOTEQUAL, 128, 127);
            gl.stencilOp(gl.KEEP, gl.REPLACE, gl.REPLACE);
            gl.colorMask(false, false, false, false);
            gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
            gl.colorMask(true, true, true, true);
        }
        gl.disable(gl.STENCIL_TEST);
    }

    // Draws a frame. options: { smooth, edges: "none" | "features" | "wire", section: null | { normal, offset },
    // arrowScale, ratio: pixels of the canvas per CSS pixel }. how: "full"; and for slow machines "moving", "still"
    // (all triangles, but no edges and no antialiasing) and numbers from 0 on (frames whose mean is shown).
    draw(camera, options, how = "full") {
        const { gl, canvas } = this;
        const moving = how === "moving";
        const share = moving ? this.motionScale : 1;
        const [width, height] = this.size.map((n) => Math.max(1, Math.round(n * share)));
        if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
        const target = this.target(how === "full" ? "full" : "quick", width, height);
        this.frame = { triangles: 0, draws: 0, how, width, height, framebuffer: target.framebuffer };
        this.setView(camera, options, width, height, typeof how === "number" ? JITTER[how % JITTER.length] : [0, 0]);
        gl.bindFramebuffer(gl.FRAMEBUFFER, target.framebuffer);
        gl.viewport(0, 0, width, height);
        gl.disable(gl.DEPTH_TEST);
        gl.disable(gl.BLEND);
        gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT | gl.STENCIL_BUFFER_BIT);
        this.use("BACKGROUND");
        this.tint(this.theme.sky, 1);
        gl.uniform3fv(this.places.uGround, this.theme.ground);
        gl.bindVertexArray(this.empty);
        gl.drawArrays(gl.TRIANGLES, 0, 3);
        gl.enable(gl.DEPTH_TEST);
        gl.depthFunc(gl.LEQUAL);
        gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
        gl.enable(gl.POLYGON_OFFSET_FILL);
        this.drawItems(
            options,
            moving ? this.error : 0,
            moving || how === "still" ? "none" : options.edges,
            options.ratio * share,
        );
        gl.disable(gl.POLYGON_OFFSET_FILL);
        this.present(typeof how === "number" ? this.addToMean(target, how) : target);
        this.fence = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
    }

    // The mean of this picture and `number` others before it.
    addToMean(picture, number) {
        const { gl } = this;
        const { width, height } = picture;
        const mean = this.target("mean", width, height);
        gl.bindFramebuffer(gl.FRAMEBUFFER, mean.framebuffer);
        gl.disable(gl.DEPTH_TEST);
        gl.enable(gl.BLEND);
        gl.blendFuncSeparate(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA, gl.ONE, gl.ONE);
        this.drawPicture(picture, 1 / (number + 1));
        gl.disable(gl.BLEND);
        return mean;
    }

    present({ framebuffer, width, height }) {
        const { gl } = this;
        gl.bindVertexArray(null);
        gl.bindFramebuffer(gl.READ_FRAMEBUFFER, framebuffer);
        gl.bindFramebuffer(gl.DRAW_FRAMEBUFFER, null);
        gl.blitFramebuffer(0, 0, width, height, 0, 0, width, height, gl.COLOR_BUFFER_BIT, gl.NEAREST);
        gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    }

    // Whether the GPU has finished the last frame.
    get idle() {
        const { gl } = this;
        if (!this.fence || gl.isContextLost()) return true;
        gl.flush();
        return gl.getSyncParameter(this.fence, gl.SYNC_STATUS) === gl.SIGNALED;
    }

    drawItems(options, error, edges, ratio) {
        const { gl } = this;
        this.view.error = error;
        const seen = this.scene.items.filter((item) => !item.hidden && this.measure(item, options.section));
        const pick = (test) => seen.filter(test);
        const solid = pick((item) => item.triangles && !item.ghost && !OVERLAYS.has(item.kind));
        const over = pick((item) => item.triangles && !item.ghost && OVERLAYS.has(item.kind));
        const balls = pick((item) => item.kind === "spheres" && !item.ghost);
        const lines = pick((item) => item.mode === gl.LINES && item.kind !== "arrow" && !item.ghost);
        const points = pick((item) => item.mode === gl.POINTS && item.kind !== "spheres" && !item.ghost);
        const arrows = pick((item) => item.kind === "arrow" && !item.ghost);
        const ghosts = pick((item) => item.ghost && item.triangles);
        const factor = this.arrowUnit * options.arrowScale;
        const mode = { smooth: options.smooth };
        gl.polygonOffset(1, 2);
        this.drawSurfaces(solid, mode);
        if (options.section) this.drawCaps(solid, options.section);
        this.drawSpheres(balls, mode);
        gl.polygonOffset(-1, -2);
        this.drawSurfaces(over, { ...mode, ghost: 0.5 });
        gl.polygonOffset(0, 0);
        gl.enable(gl.BLEND);
        if (edges !== "none") {
            const name = edges === "wire" ? "wires" : "features";
            if (name === "wires") {
                for (const item of solid)
                    if (!item.gpu.wires) this.fillEdges(item.gpu, name, wireframe(item.gpu.indices));
            }
            this.drawEdges(solid, name, this.theme.line, name === "wires" ? 0.35 : 0.6);
        }
        this.drawLines(lines, 1, ratio);
        this.drawPoints(points, 1, ratio);
        this.drawArrows(arrows, { opacity: 1 }, ratio, factor);
        gl.depthMask(false);
        // So many of them would hide what matters, above all on a dark ground.
        this.drawGhosts(ghosts, { ...mode, ghost: 1, opacity: clamp(4 / Math.sqrt(ghosts.length), 0.35, 2.5) });
        this.drawSpheres(
            pick((item) => item.kind === "spheres" && item.ghost),
            { ghost: 1 },
        );
        gl.depthFunc(gl.GREATER); // what matters shines through
        // The more there are, the fainter each.
        const faint = clamp(0.5 / Math.sqrt(over.length + lines.length + points.length), 0.04, 0.2);
        this.drawSurfaces(over, { ...mode, ghost: 0.5, opacity: faint });
        this.drawLines(lines, faint, ratio);
        this.drawPoints(points, faint, ratio);
        this.drawArrows(arrows, { opacity: clamp(4 * faint, 0.1, HIDDEN_ARROW) }, ratio, factor);
        gl.depthFunc(gl.LEQUAL);
        gl.depthMask(true);
        gl.disable(gl.BLEND);
    }

    // Software rasterisers take most of a frame for layers of ghosts: these get a smaller picture, which is then put
    // over the others. It is coarse in frames that somebody waits for, and made once for those whose mean is shown.
    drawGhosts(ghosts, mode) {
        const { gl } = this;
        const { how, width, height, framebuffer } = this.frame;
        if (!this.slow || how === "full" || !ghosts.length) return this.drawSurfaces(ghosts, mode);
        const [w, h] = [width, height].map((n) => Math.ceil(n / GHOST_PIXELS));
        const glass = this.target("glass", w, h);
        if (!(how > 0)) {
            for (let error = Math.max(this.view.error, GHOST_ERROR); error < 1e6; error *= 2) {
                const count = ghosts.reduce((sum, item) => sum + this.choose(item, error), 0);
                if (how === 0 || count < GHOST_TRIANGLES) break;
            }
            gl.bindFramebuffer(gl.DRAW_FRAMEBUFFER, glass.framebuffer);
            gl.bindFramebuffer(gl.READ_FRAMEBUFFER, framebuffer);
            gl.clear(gl.COLOR_BUFFER_BIT);
            gl.blitFramebuffer(0, 0, width, height, 0, 0, w, h, gl.DEPTH_BUFFER_BIT, gl.NEAREST);
            gl.viewport(0, 0, w, h);
            gl.enable(gl.CULL_FACE);
            this.drawSurfaces(ghosts, mode);
            gl.disable(gl.CULL_FACE);
            gl.viewport(0, 0, width, height);
        }
        gl.bindFramebuffer(gl.FRAMEBUFFER, framebuffer);
        gl.disable(gl.DEPTH_TEST);
        this.drawPicture(glass, 0);
        gl.enable(gl.DEPTH_TEST);
    }

    drawPicture({ texture }, share) {
        const { gl } = this;
        this.use("PICTURE", true);
        this.tint([0, 0, 0], share);
        this.bindTexture(0, texture, "uData");
        gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.LINEAR);
        gl.bindVertexArray(this.empty);
        gl.drawArrays(gl.TRIANGLES, 0, 3);
    }

    // Adapts to how long frames take while moving.
    adapt(milliseconds) {
        if (milliseconds > SLOW_FRAME) {
            // Down in larger steps than up, so that it does not swing.
            if (!this.slow) this.slow = true;
            else if (this.error < MOST_ERROR) this.error = Math.min(MOST_ERROR, Math.max(1, this.error * 1.5));
            else this.motionScale = Math.max(LEAST_SCALE, this.motionScale * 0.85);
        } else if (milliseconds < QUICK_FRAME && this.slow) {
            if (this.motionScale < 1) this.motionScale = Math.min(1, this.motionScale * 1.1);
            else if (this.error > 1) this.error /= 1.15;
        }
    }
}
