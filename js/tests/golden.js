// SPDX-License-Identifier: MIT
// The cases of tests/test_web.c, computed by the module: a hash per name, which must be that of native code.
let low = 0, high = 0;
const float = new Float64Array(1), halves = new Uint32Array(float.buffer);

function word(w) {
    low = Math.imul(low ^ w, 0x01000193);
    high = Math.imul(high + w, 0x85ebca6b);
    high ^= high >>> 15;
}

function number(x) {
    float[0] = x;
    word(halves[0]);
    word(halves[1]);
}

const words = (list) => list.forEach(word);
const numbers = (list) => list.forEach(number);

// Records in the order of their fields; null is a number that says "none".
function value(x) {
    if (typeof x === "number") number(x);
    else if (typeof x === "boolean") number(x ? 1 : 0);
    else if (x === null) number(0xffffffff);
    else if (typeof x === "string") for (const c of x) word(c.charCodeAt(0));
    else Object.values(x).forEach(value);
}

const MOVED = [0.75, 0.25, -0.125, 0.5, 0.5, -0.5, 0.5], AWAY = [9, 1, 0.5, 1, 0, 0, 0];
const SHAPES = ["sphere", "globe", "torus", "box", "cylinder", "cone", "knot", "chazelle", "cloth", "chain", "shards", "grid"];

// Calls tell(name, hash) for each case.
export function golden(carom, tell) {
    const one = (name, compute) => {
        low = high = 2166136261 | 0;
        compute();
        tell(name, [high, low].map((part) => (part >>> 0).toString(16).padStart(8, "0")).join(""));
    };
    const { Mesh, Soup, Solid, Packing, Tree, Balls, Cover, Convex, Broad, Gas } = carom;
    const random = (count, seed) => {
        const source = new carom.exact.Random(seed);
        return Float64Array.from({ length: count }, () => source.between(-2, 2));
    };
    for (const shape of SHAPES) {
        const mesh = Mesh.shape(shape);
        one(`shape-${shape}`, () => {
            numbers(mesh.vertices);
            words(mesh.faces);
        });
    }
    const cloth = new Soup(Mesh.shape("cloth", { detail: 224 }), { method: "tree" }), found = cloth.selfPairs();
    one("self-pairs", () => words(found));
    one("segments", () => { for (const segment of cloth.segments(found)) value(segment); });
    one("self-pairs-grid", () => words(new Soup(Mesh.shape("cloth", { detail: 60 }), { method: "grid" }).selfPairs()));
    const knot = Mesh.shape("knot"), torus = Mesh.shape("torus"), a = new Soup(knot), b = new Soup(torus);
    one("cross-pairs", () => words(a.pairs(b, MOVED)));
    one("cross-pairs-within", () => words(a.pairs(b, MOVED, { reach: 0.05 })));
    one("distance", () => value(a.distance(b, AWAY)));
    const points = random(300, 1), lines = random(600, 2);
    one("closest-points", () => { for (const hit of b.closestPoints(points)) value(hit); });
    one("winding", () => numbers(b.winding(points)));
    one("signed-distances", () => numbers(b.signedDistances(points)));
    const part = (from) => Float64Array.from({ length: 300 }, (_, i) => lines[6 * Math.floor(i / 3) + from + i % 3]);
    one("rays", () => { for (const hit of b.castRays(part(0), part(3))) value(hit); });
    one("all-rays", () => { for (const hit of b.queryRays(part(0), part(3))) value(hit); });
    one("kfree", () => {
        const { k, total, mean, deviation, height } = b.kfree();
        numbers([k, total, mean, deviation, height]);
    });
    const first = new Solid(knot), second = new Solid(torus);
    one("overlap", () => value(first.overlap(second, MOVED, { distance: true })));
    one("apart", () => value(first.overlap(second, AWAY, { distance: true })));
    const packing = new Packing(torus, { count: 200 });
    one("packing", () => { for (const sphere of packing.listSpheres()) value(sphere); });
    const tree = new Tree(packing, torus), balls = new Balls(packing);
    one("tree-overlap", () => value(tree.overlap(tree, MOVED)));
    one("tree-distance", () => value(tree.distance(tree, AWAY)));
    one("balls-overlap", () => value(balls.overlap(balls, MOVED)));
    const ring = Mesh.shape("torus", { detail: 6 }); // coarse, with few spheres: covers take most of the time of all cases
    one("cover", () => numbers(new Cover(ring, { count: 4 }).spheres));
    one("obj", () => words(torus.toBytes("obj")));
    const box = Convex.box([1, 0.5, 0.25]), cone = Convex.cone(0.75, 1);
    one("convex-distance", () => value(box.distance(cone, AWAY)));
    one("convex-depth", () => value(box.depth(cone, MOVED)));
    const corners = random(6 * 3000, 3);
    for (let i = 0; i < corners.length; ++i) if (i % 6 >= 3) corners[i] = corners[i - 3] + 0.125;
    one("boxes", () => words(new Broad(corners).pairs()));
    const places = Float64Array.from({ length: 3 * 512 }, (_, i) =>
        [Math.floor(i / 3) % 8, Math.floor(i / 24) % 8, Math.floor(i / 192)][i % 3] + 0.5);
    const gas = new Gas(places, random(3 * 512, 4), 0.25, { edges: [8, 8, 8] });
    gas.advance(2);
    one("gas", () => numbers(gas.listSpheres()));
    one("pose", () => numbers(carom.pose.compose(MOVED, [1, 2, 3, 0.6, 0.8, 0, 0])));
    scene(carom, one, second, a, random(3 * 60, 5));
    robot(carom, one, ring, random(3 * 400, 6), random(3 * 400, 7));
}

// A torus as a solid, a knot as a soup, and convex shapes, of which every second one moves.
function scene({ Scene, Convex }, one, solid, knot, places) {
    const world = new Scene({ reach: 0.25 }), ids = [], poses = [];
    for (let i = 0; i < 60; ++i) {
        const [x, y, z] = places.subarray(3 * i);
        const shape = () => (i % 3 === 1 ? Convex.sphere(0.25) : Convex.box([0.25, 0.125, 0.5]));
        const id = world.add(i % 20 === 0 ? solid : i % 20 === 10 ? knot : shape(), [x, y, z]);
        if (i % 2 === 0) continue;
        ids.push(id);
        poses.push([y, z, x, ...MOVED.slice(3)]);
    }
    for (const name of ["scene", "scene-moved"]) {
        const { contacts, begun, ended } = world.step();
        one(name, () => {
            for (const contact of contacts) value(contact);
            words(begun);
            words(ended);
        });
        world.move(ids, poses);
    }
    world.free();
}

// An arm of three joints with a torus as its hand, beside a box and a ball.
function robot({ Robot }, one, torus, q, to) {
    const boom = { kind: "capsule", radius: 0.25, halfHeight: 1, pose: [0, 0, 1] };
    const arm = new Robot([[{ kind: "box", half: [0.5, 0.5, 0.25] }], [boom], [boom], [{ mesh: torus, pose: [0, 0, 0.5] }]], [
        { kind: "revolute", parent: 0, child: 1, origin: [0, 0, 0.75], axis: [1, 0, 0], lower: -2, upper: 2 },
        { kind: "continuous", parent: 1, child: 2, origin: [0, 0, 2.5], axis: [0, 1, 0] },
        { kind: "prismatic", parent: 2, child: 3, origin: [0, 0, 2.5], axis: [0, 0, 1], lower: 0, upper: 1 }], { spheres: 4, inner: 2, fine: 6 });
    arm.addObjects([{ kind: "box", half: [0.5, 1, 1], pose: [3, 0, 3] }, { kind: "sphere", radius: 0.75, pose: [-2, 2, 2] }]);
    one("robot", () => { for (const result of arm.check(q)) value(result); });
    one("robot-clearance", () => { for (const gap of arm.clearance(q)) value(gap); });
    one("robot-motion", () => { for (const result of arm.motion(q.subarray(0, 300), to.subarray(0, 300))) value(result); });
}

// Compares with the lines of golden/web.txt; returns what was printed and how many differ.
export function compare(carom, text) {
    const wanted = new Map(text.trim().split("\n").map((line) => line.split(" "))), lines = [];
    let equal = 0, count = 0;
    golden(carom, (name, hash) => {
        ++count;
        if (wanted.get(name) === hash) ++equal;
        else lines.push(`${name} is ${hash}, golden is ${wanted.get(name)}`);
    });
    if (count !== wanted.size) lines.push(`${count} cases for ${wanted.size} golden hashes`);
    lines.push(`golden ${equal}/${wanted.size} equal`);
    return { lines, failed: equal !== wanted.size || count !== wanted.size };
}
