// SPDX-License-Identifier: MIT
// What the playground asks Carom, and the calls as text: each function returns what is drawn, the answers and the code.

export const SHAPES = ["sphere", "torus", "box", "cylinder", "cone", "knot", "chazelle", "cloth", "chain", "shards"];
export const CLOSED = ["sphere", "torus", "box", "cylinder", "cone", "knot", "chazelle"];

const NOTE = "/".repeat(2); // begins a comment of the calls; join.cmake would take it for one of ours
const clock = () => performance.now();
const shown = (x) => (Number.isInteger(x) ? x.toLocaleString("en") : Number(x.toPrecision(6)).toString());
export const milliseconds = (ms) => `${ms < 10 ? ms.toFixed(2) : Math.round(ms)} ms`;

// Meshes and what is prepared of them, kept until others are chosen.
export class Kernel {
    constructor(carom) {
        this.carom = carom;
        this.meshes = { a: null, b: null };
        this.kept = new Map();
    }

    free(...names) {
        for (const [name, handle] of [...this.kept]) {
            if (names.length && !names.some((n) => name.endsWith(n))) continue;
            handle.free();
            this.kept.delete(name);
        }
    }

    keep(name, make) {
        if (!this.kept.has(name)) this.kept.set(name, make());
        return this.kept.get(name);
    }

    choose(which, source) {
        const { Mesh } = this.carom;
        const raw = source.bytes ? Mesh.fromBytes(source.bytes, { name: source.name }) : Mesh.shape(source.shape, source.options || {});
        const welded = source.bytes ? raw.weld() : raw;
        if (source.bytes) raw.free();
        const mesh = welded.offsets.length && welded.corners.length === 3 * welded.faceCount ? welded : welded.triangulate()[0];
        this.free(which);
        if (this.meshes[which]) this.meshes[which].mesh.free();
        const vertices = mesh.vertices;
        this.meshes[which] = { mesh, source, vertices, positions: Float32Array.from(vertices), faces: mesh.faces };
        return this.meshes[which];
    }

    soup(which) {
        return this.keep(`soup ${which}`, () => new this.carom.Soup(this.meshes[which].mesh));
    }

    solid(which) {
        return this.keep(`solid ${which}`, () => new this.carom.Solid(this.meshes[which].mesh));
    }

    text(which) {
        const { source } = this.meshes[which];
        const options = source.options && Object.keys(source.options).length ? `, ${JSON.stringify(source.options)}` : "";
        return source.bytes ? `Mesh.fromBytes(bytes, { name: ${JSON.stringify(source.name)} }).weld()` : `Mesh.shape("${source.shape}"${options})`;
    }

    // Where a mesh crosses itself.
    crossings() {
        const { mesh, faces, vertices } = this.meshes.a;
        const start = clock();
        const report = mesh.inspect();
        const soup = this.soup("a");
        const begun = clock();
        const pairs = soup.selfPairs();
        const took = clock() - begun;
        const segments = soup.segments(pairs);
        const lines = new Float32Array(6 * segments.length);
        for (let i = 0; i < segments.length; ++i) {
            lines.set(segments.p.subarray(3 * i, 3 * i + 3), 6 * i);
            lines.set(segments.q.subarray(3 * i, 3 * i + 3), 6 * i + 3);
        }
        const lit = new Set(pairs);
        const corners = new Uint32Array(3 * lit.size);
        let at = 0;
        for (const face of lit) {
            corners.set(faces.subarray(3 * face, 3 * face + 3), at);
            at += 3;
        }
        return {
            lines,
            patch: { positions: Float32Array.from(vertices), indices: corners },
            answers: [
                ["faces that cross", shown(pairs.length / 2) + (pairs.length === 2 ? " pair" : " pairs")],
                ["triangles", shown(report.triangles)],
                ["closed", report.closed ? "yes" : `no, ${shown(report.openEdges)} open edges`],
                ["volume", report.closed ? shown(report.volume) : "—"],
                ["the query took", milliseconds(took)],
                ["with preparation", milliseconds(clock() - start)],
            ],
            code: `const mesh = ${this.text("a")};\nconst soup = new Soup(mesh);\nconst pairs = soup.selfPairs(); ${NOTE} Uint32Array, two faces each\nconst where = soup.segments(pairs); ${NOTE} p and q of each`,
        };
    }

    // The second mesh at a pose: volume and force, or distance.
    two(pose) {
        const [a, b] = [this.solid("a"), this.solid("b")];
        const start = clock();
        const overlap = a.overlap(b, pose, { distance: true });
        const took = clock() - start;
        const apart = overlap.hasDistance && overlap.volume === 0;
        return {
            overlap,
            apart,
            took,
            answers: [
                ["relation", overlap.relation],
                ["overlap volume", overlap.volume === 0 ? "0" : shown(overlap.volume)],
                ["at most off by", overlap.volumeError ? overlap.volumeError.toExponential(1) : "0"],
                ["force on the second", overlap.force.map((x) => Number(x.toPrecision(4))).join(", ")],
                ["distance", overlap.hasDistance ? shown(overlap.distance) : "—"],
                ["the query took", milliseconds(took)],
            ],
            code: `const a = new Solid(${this.text("a")});\nconst b = new Solid(${this.text("b")});\nconst pose = [${pose.map((x) => Number(x.toPrecision(5))).join(", ")}];\nconst { volume, force, distance } = a.overlap(b, pose, { distance: true });`,
        };
    }

    spheres(kind, count) {
        const { mesh } = this.meshes.a;
        const start = clock();
        const made = kind === "pack" ? new this.carom.Packing(mesh, { count, fast: true }) : new this.carom.Cover(mesh, { count });
        const { info, spheres } = made;
        made.free();
        const positions = new Float32Array((spheres.length / 4) * 3);
        const radii = new Float32Array(spheres.length / 4);
        for (let i = 0; i < radii.length; ++i) {
            positions.set(spheres.subarray(4 * i, 4 * i + 3), 3 * i);
            radii[i] = spheres[4 * i + 3];
        }
        const answers = [["spheres", shown(radii.length)]];
        if (kind === "pack") answers.push(["filled", `${(100 * info.fill).toFixed(1)} %`], ["smallest radius", shown(info.leastRadius)]);
        else answers.push(["reaches out by at most", shown(info.measure.worst.upper)], ["on average", shown(info.measure.mean)]);
        answers.push(["it took", milliseconds(clock() - start)]);
        const call = kind === "pack" ? `new Packing(mesh, { count: ${count}, fast: true })` : `new Cover(mesh, { count: ${count} })`;
        return { positions, radii, answers, code: `const mesh = ${this.text("a")};\nconst made = ${call};\nconst spheres = made.spheres; ${NOTE} x, y, z and radius each` };
    }

    // ---- Many

    many(kind, count) {
        this.free("many");
        const random = new this.carom.exact.Random(7);
        if (kind === "spheres") {
            const side = Math.ceil(Math.cbrt(count));
            const places = new Float64Array(3 * count);
            for (let i = 0; i < count; ++i) {
                places.set([i % side, Math.floor(i / side) % side, Math.floor(i / side / side)].map((x) => x + 0.5), 3 * i);
            }
            const speeds = Float64Array.from({ length: 3 * count }, () => random.between(-1, 1));
            random.free();
            const gas = this.keep("gas many", () => new this.carom.Gas(places, speeds, 0.3, { edges: [side, side, side] }));
            return { kind, count, gas, side, radii: new Float32Array(count).fill(0.3), time: 0, collisions: 0 };
        }
        const side = Math.cbrt(count) * 2;
        const boxes = new Float64Array(6 * count);
        const speeds = Float64Array.from({ length: 3 * count }, () => random.between(-0.1, 0.1));
        for (let i = 0; i < count; ++i) {
            for (let k = 0; k < 3; ++k) {
                boxes[6 * i + k] = random.between(0, side - 1);
                boxes[6 * i + 3 + k] = boxes[6 * i + k] + random.between(0.2, 1);
            }
        }
        random.free();
        const broad = this.keep("broad many", () => new this.carom.Broad(boxes));
        return { kind, count, broad, boxes, speeds, side };
    }

    // One frame: positions, and which touch.
    stepMany(state) {
        if (state.kind === "spheres") {
            const start = clock();
            state.time += 0.05;
            state.gas.advance(state.time);
            const found = state.gas.listSpheres();
            const took = clock() - start;
            const positions = new Float32Array(3 * state.count);
            for (let i = 0; i < state.count; ++i) positions.set(found.subarray(8 * i, 8 * i + 3), 3 * i);
            const { collisions } = state.gas.measure();
            const fresh = collisions - state.collisions;
            state.collisions = collisions;
            return {
                positions,
                answers: [["spheres", shown(state.count)], ["collisions in this frame", shown(fresh)], ["in all, none missed", shown(collisions)], ["the frame took", milliseconds(took)]],
                code: `const gas = new Gas(places, velocities, 0.3, { edges: [${state.side}, ${state.side}, ${state.side}] });\ngas.advance(time); ${NOTE} every collision, in order\nconst spheres = gas.listSpheres(); ${NOTE} eight numbers each`,
            };
        }
        const { boxes, speeds, side, count, broad } = state;
        for (let i = 0; i < count; ++i) {
            for (let k = 0; k < 3; ++k) {
                const v = speeds[3 * i + k];
                boxes[6 * i + k] += v;
                boxes[6 * i + 3 + k] += v;
                if (boxes[6 * i + k] < 0 || boxes[6 * i + 3 + k] > side) speeds[3 * i + k] = boxes[6 * i + k] < 0 ? Math.abs(v) : -Math.abs(v);
            }
        }
        const start = clock();
        broad.move(boxes);
        const { pairs, begun } = broad.step();
        const took = clock() - start;
        const positions = new Float32Array(3 * count);
        for (let i = 0; i < count; ++i) for (let k = 0; k < 3; ++k) positions[3 * i + k] = (boxes[6 * i + k] + boxes[6 * i + 3 + k]) / 2;
        return {
            positions,
            touching: pairs,
            answers: [["boxes", shown(count)], ["pairs that overlap", shown(pairs.length / 2)], ["begun in this frame", shown(begun.length / 2)], ["the frame took", milliseconds(took)]],
            code: `const broad = new Broad(boxes); ${NOTE} Float64Array, six numbers each\nbroad.move(boxes);\nconst { pairs, begun, ended } = broad.step();`,
        };
    }
}
