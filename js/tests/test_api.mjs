// SPDX-License-Identifier: MIT
// Usage: node --expose-gc test_api.mjs PACKAGE. Every class and function, wrong arguments, callbacks, memory, the worker.
import assert from "node:assert/strict";
import { freemem } from "node:os";
import { pathToFileURL } from "node:url";

const [folder] = process.argv.slice(2);
const load = (name) => import(pathToFileURL(`${folder}/${name}`));
const carom = await load("index.js");
const { ENUMS } = await load("abi.js");
const { allocate, nameOf, release } = await load("core.js");
const { Mesh, Soup, Solid, Hull, Convex, ConvexHint, Packing, Cover, Tree, TreeHint, Balls, Broad, Scene, Gas, Robot, pose, exact } = carom;

const tests = [];
const test = (name, run) => tests.push([name, run]);
const close = (a, b, error = 1e-12) => assert.ok(Math.abs(a - b) <= error * Math.max(1, Math.abs(b)), `${a} is not ${b}`);

test("nothing works before init", () => {
    assert.throws(() => Mesh.shape("box"), carom.InvalidError);
});

test("names of enums are the library's", async () => {
    await carom.init();
    for (const [kind, names] of Object.entries(ENUMS)) {
        if (kind === "backend" || kind === "status") continue; // a status is called as its enumerator
        names.forEach((name, number) => assert.equal(nameOf(kind, number), name, `${kind} ${number}`));
    }
});

test("meshes in every form are the same mesh", () => {
    const box = Mesh.shape("box"), { vertices, faces } = box, wanted = box.inspect().volume;
    close(wanted, 8);
    const three = { attributes: { position: { array: Float32Array.from(vertices), itemSize: 3, count: vertices.length / 3 } },
                    index: { array: Uint16Array.from(faces) } };
    const interleaved = { attributes: { position: { isInterleavedBufferAttribute: true, offset: 1, itemSize: 3, count: 8,
        data: { stride: 5, array: Float32Array.from({ length: 40 }, (_, i) => (i % 5 >= 1 && i % 5 < 4 ? vertices[3 * Math.floor(i / 5) + i % 5 - 1] : NaN)) } } },
        index: { array: faces } };
    const loose = { attributes: { position: { array: Float32Array.from(faces, (_, i) => 0), itemSize: 3, count: faces.length } }, index: null };
    loose.attributes.position.array = Float32Array.from({ length: 3 * faces.length }, (_, i) => vertices[3 * faces[Math.floor(i / 3)] + i % 3]);
    const nested = [...Array(8).keys()].map((i) => [...vertices.slice(3 * i, 3 * i + 3)]);
    const triangles = [...Array(faces.length / 3).keys()].map((i) => [...faces.slice(3 * i, 3 * i + 3)]);
    for (const mesh of [new Mesh(vertices, faces), new Mesh({ vertices, faces }), new Mesh(three), new Mesh({ geometry: three }),
                        new Mesh(interleaved), new Mesh(nested, triangles), new Mesh(loose).weld()]) {
        close(mesh.inspect().volume, wanted);
        assert.equal(mesh.faceCount, 12);
        assert.ok(mesh.inspect().closed);
    }
    const polygons = Mesh.shape("box", { polygons: true });
    assert.throws(() => polygons.faces, TypeError);
    assert.equal(polygons.triangulate()[0].faceCount, 12);
    assert.equal(polygons.offsets.at(-1), polygons.corners.length);
    assert.equal(polygons.toArrays().index.length, 36);
});

test("files by their content, and back", () => {
    const torus = Mesh.shape("torus", { scalar: "float32" });
    for (const format of ["obj", "ply", "ply-big", "ply-ascii", "stl", "stl-ascii", "off"]) {
        const again = Mesh.fromBytes(torus.toBytes(format), { name: `torus.${format.split("-")[0]}` });
        assert.equal(again.faceCount, torus.faceCount, format);
    }
    assert.equal(carom.guessFormat("a.stl"), "stl");
    assert.throws(() => Mesh.fromBytes(new TextEncoder().encode("v 0 0\n"), { name: "broken.obj" }),
        (error) => error instanceof carom.BadFileError && error.message.includes("broken.obj") && error.status === "bad file");
});

test("repair", () => {
    const box = Mesh.shape("box"), open = new Mesh(box.vertices, box.faces.slice(0, -6));
    assert.equal(open.boundaryLoops()[0].length, 4);
    const [closed, report] = open.closeHoles();
    assert.ok(closed.inspect().closed);
    assert.deepEqual([report.filled, report.newPairs, report.outcomes], [1, 0, ["filled"]]);
    assert.equal(box.nonmanifoldEdges().length + box.nonmanifoldVertices().length + box.flippedFaces().length, 0);
});

test("soups", () => {
    const cloth = new Soup(Mesh.shape("cloth", { detail: 40 })), pairs = cloth.selfPairs();
    assert.equal(cloth.selfCount(), pairs.length / 2);
    assert.equal(cloth.selfMeet(), true);
    const chunks = [];
    cloth.selfEach((chunk) => { chunks.push(...chunk); });
    assert.deepEqual(Uint32Array.from(chunks), pairs);
    assert.ok(cloth.selfPairs(0.01).length >= 0 && cloth.kfree().k > 0 && cloth.kfreeCounts().length > 0);
    const box = Mesh.shape("box"), a = new Soup(box), b = new Soup(box);
    assert.equal(a.distance(b, [5, 0, 0]).distance, 3);
    assert.deepEqual(a.meet(b, [[1, 0, 0], [5, 0, 0]]), [true, false]);
    assert.deepEqual([...a.distance(b, [[5, 0, 0], [7, 0, 0]]).distance], [3, 5]);
    assert.equal(a.distance(b, Float64Array.of(5, 0, 0, 1, 0, 0, 0, 7, 0, 0, 1, 0, 0, 0)).length, 2);
    const matrix = [0, -1, 0, 5, 1, 0, 0, 0, 0, 0, 1, 0]; // becomes a pose by a call while this one is prepared
    assert.equal(a.distance(b, matrix, { poseA: [-1, 0, 0] }).distance, 4);
    assert.deepEqual([...a.distance(b, [matrix, [5, 0, 0]], { poseA: [-1, 0, 0] }).distance], [4, 4]);
    assert.equal(a.pairs(b, [2.5, 0, 0]).length, 0);
    assert.ok(a.pairs(b, [2.5, 0, 0], { reach: 0.5 }).length > 0 && a.near(b, 0.5, [2.5, 0, 0]).length > 0);
    assert.deepEqual([...a.signedDistances([[0, 0, 0], [3, 0, 0]])], [-1, 2]);
    assert.deepEqual([...a.winding([0, 0, 0, 3, 0, 0])], [1, 0]);
    assert.equal(a.castRays([-5, 0.2, 0.1], [1, 0, 0]).distance[0], 4);
    assert.equal(a.castRays([-5, 9, 0], [1, 0, 0]).at(0).face, null);
    close(a.closestPoints([3, 0, 0]).at(0).distance, 2);
    assert.ok(a.advance(b, [[5, 0, 0], [-5, 0, 0]]).hit);
    const end = Float64Array.from(box.vertices, (x, i) => x + (i % 3 === 0 ? -4 : 0));
    const right = new Soup(new Mesh(Float64Array.from(box.vertices, (x, i) => x + (i % 3 === 0 ? 3 : 0)), box.faces));
    assert.ok(a.firstImpact(null, right, end.map((x, i) => x + (i % 3 === 0 ? 3 : 0))).time.value > 0);
    assert.ok(a.impacts(null, right, end).length > 0 && a.safeStep(null, { other: right, otherEnd: end }).time < 1);
    assert.equal(a.selfSafeDistances(0.5).length, 8);
    assert.deepEqual(a.safeDistances(right, 9).map((list) => list.length), [8, 8]);
    assert.equal(a.add(new Mesh(end, box.faces)), 12);
    assert.equal(a.selfSafeDistances(0.5).length, 16);
    a.remove([0, 1]);
    assert.equal(a.info.live, 22);
    b.update(end);
    assert.ok(a.gaps([[3, 4]]).length === 1 && a.bound(b) >= 0 && a.selfBound() >= 0);
});

test("solids", () => {
    const box = new Solid(Mesh.shape("box")), overlap = box.overlap(box, [1, 0, 0], { distance: true });
    close(overlap.volume, 4);
    assert.equal(overlap.relation, "overlapping");
    close(box.volume, 8);
    assert.equal(box.overlap(box, [[0, 0, 0], [9, 0, 0]]).relation.join(), "touching,apart".replace("touching", box.overlap(box).relation));
    assert.equal(box.overlapPatches(box, [1, 0.5, 0.25]).length, 1);
    const { onA, onB } = box.overlapGradient(box, [1, 0.5, 0.25]);
    assert.ok(onA.length > 0 && onB.length > 0);
    close([...onB].reduce((sum, one) => sum + one.force[0], 0), box.overlap(box, [1, 0.5, 0.25]).force[0]);
    close(carom.overlap(Mesh.shape("box"), Mesh.shape("box"), { elements: [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 1, 0, 0, 1] }).volume, 4);
    assert.throws(() => new Solid(Mesh.shape("grid")), carom.BadInputError);
});

test("convex shapes", () => {
    const ball = Convex.sphere(1), box = Convex.box([1, 1, 1]);
    assert.equal(ball.distance(box, [3, 0, 0]).distance, 1);
    assert.equal(ball.depth(box, [1.5, 0, 0]).depth, 0.5);
    assert.deepEqual(ball.meet(box, [[1, 0, 0], [5, 0, 0]]), [true, false]);
    assert.equal(Convex.box([4, 4, 1]).contacts(box, [0, 0, 2]).points.length, 4);
    const hull = new Hull(Mesh.shape("torus"));
    assert.equal(hull.info.dimension, 3);
    assert.ok(hull.toMesh().faceCount > 10);
    assert.ok(Convex.hull(hull).meet(ball));
    const point = Convex.support((d) => d.map((x) => x / Math.hypot(...d)), [0, 0, 0], 1);
    close(point.distance(box, [3, 0, 0]).distance, 1, 1e-9);
    const failing = Convex.support(() => { throw new Error("mine"); }, [0, 0, 0], 1);
    assert.throws(() => failing.distance(box, [3, 0, 0]), /mine/);
    const hint = new ConvexHint();
    for (let i = 0; i < 5; ++i) ball.distance(box, [3 + i / 10, 0, 0], { hint });
    assert.ok(ball.advance(box, [[-9, 0, 0], [9, 0, 0]]).hit && ball.bound(box).meetIterations > 0);
    assert.equal(ball.castRays([-5, 0, 0], [1, 0, 0]).distance[0], 4);
    [Convex.point(1), Convex.segment(1), Convex.capsule(1, 1), Convex.cylinder(1, 1), Convex.cone(1, 1), Convex.ellipsoid([1, 2, 3])]
        .forEach((shape) => { assert.ok(shape.meet(ball)); shape.free(); });
});

test("spheres", () => {
    const mesh = Mesh.shape("box"), packing = new Packing(mesh, { count: 50 });
    assert.equal(packing.spheres.length, 200);
    assert.equal(Packing.fromBytes(packing.toBytes()).info.spheres, 50);
    const tree = new Tree(packing, mesh), balls = new Balls(packing), hint = new TreeHint();
    const { volume } = tree.overlap(tree, [1, 0, 0]);
    assert.ok(volume.lower <= 4 && 4 <= volume.upper);
    close(tree.distance(tree, [5, 0, 0], { hint }).distance.value, 3, 1e-6);
    assert.ok(tree.meet(tree) && tree.faces(tree, [1, 0, 0]).length === 2 && tree.query(tree, [5, 0, 0]).hasGap);
    assert.equal(tree.overlap(tree, [[1, 0, 0], [9, 0, 0]]).length, 2);
    assert.equal(Tree.fromBytes(tree.toBytes()).info.spheres, 50);
    assert.equal(balls.count(balls, [1, 0, 0]), balls.pairs(balls, [1, 0, 0]).length / 2);
    assert.ok(balls.meet(balls) && balls.bound(balls).pairs > 0);
    balls.update(packing.listSpheres(), 8);
    const cover = new Cover(mesh, { count: 8 });
    assert.equal(cover.spheres.length, 32);
    assert.ok(carom.measureSpheres(mesh, cover.spheres).worst.upper > 0);
});

test("many", () => {
    const broad = new Broad([[0, 0, 0, 1, 1, 1], [1, 0, 0, 2, 1, 1], [5, 5, 5, 6, 6, 6]]);
    assert.deepEqual([...broad.pairs()], [0, 1]);
    broad.move([[5, 5, 5, 6, 6, 6]], [0]);
    assert.deepEqual([...broad.step().pairs], [0, 2]);
    assert.deepEqual([...broad.add([[0, 0, 0, 9, 9, 9]])], [3]);
    broad.commit();
    assert.equal(broad.step().begun.length, 6);
    broad.setFilters([[1, 1]], [3]);
    broad.remove(3);
    assert.equal(broad.step().ended.length, 6);
    assert.equal(broad.castRays([5.5, 5.5, 0], [0, 0, 1]).id[0], 0);
    assert.equal(broad.queryBoxes([0, 0, 0, 9, 9, 9]).length, 6);
    const some = new Broad([[0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 1]], { accept: () => false });
    assert.equal(some.pairs().length, 0);
    const scene = new Scene({ reach: 0.5 }), solid = new Solid(Mesh.shape("box"));
    const ids = [scene.add(solid), scene.add(solid, [1, 0, 0]), scene.add(Convex.sphere(1), [9, 0, 0])];
    const { contacts, begun } = scene.step();
    assert.equal(contacts.length, 1);
    close(contacts.at(0).volume, 4);
    assert.deepEqual([...begun], [ids[0], ids[1]]);
    assert.throws(() => solid.free(), carom.InvalidError);
    scene.move(ids[1], [5, 0, 0]);
    assert.equal(scene.step().ended.length, 2);
    scene.remove(ids);
    scene.step();
    solid.free();
    const gas = new Gas([[2, 5, 5], [8, 5, 5]], [[1, 0, 0], [-1, 0, 0]], 1, { edges: [10, 10, 10] });
    const event = gas.next(100);
    close(event.time, 2);
    assert.equal(event.kind, "pair");
    const again = Gas.fromBytes(gas.toBytes());
    let count = 0;
    gas.advance(20, () => { ++count; });
    again.advance(20);
    assert.ok(count > 0);
    assert.deepEqual(again.listSpheres(), gas.listSpheres());
    const stopped = new Gas([[2, 5, 5], [8, 5, 5]], [[1, 0, 0], [-1, 0, 0]], 1, { edges: [10, 10, 10],
        response: (what, normal, a, b) => { a.velocity = [0, 0, 0]; if (b) b.velocity = [0, 0, 0]; } });
    stopped.advance(50);
    assert.equal(stopped.measure().energy, 0);
});

// Two booms of length 1 that turn about z, one after the other.
function arm() {
    const boom = { kind: "capsule", radius: 0.05, halfHeight: 0.5, pose: [0.5, 0, 0, Math.SQRT1_2, 0, Math.SQRT1_2, 0] };
    const turns = { kind: "revolute", axis: [0, 0, 1], lower: -3, upper: 3 };
    return new Robot([[], [boom], [boom]], [{ ...turns, parent: 0, child: 1 }, { ...turns, parent: 1, child: 2, origin: [1, 0, 0] }],
        { spheres: 12, names: ["base", "upper", "lower"] });
}

test("robots: verdicts and clearance are those of segments in the plane", () => {
    const robot = arm(), random = new exact.Random(1), q = Float64Array.from({ length: 600 }, () => random.between(-3, 3));
    robot.addObjects([{ kind: "sphere", radius: 0.3, pose: [1, 1, 0] }]);
    const results = robot.check(q), gaps = robot.clearance(q), covers = robot.check(q, { coversOnly: true }), poses = robot.poses(q);
    assert.deepEqual([results.length, gaps.length, poses.length], [300, 300, 7 * 3 * 300]);
    let open = 0;
    for (let i = 0; i < 300; ++i) {
        const [a, b] = q.subarray(2 * i), elbow = [Math.cos(a), Math.sin(a)], hand = [Math.cos(a + b), Math.sin(a + b)];
        const apart = [[[0, 0], elbow], [elbow, hand]].map(([from, along]) => {
            const t = Math.min(1, Math.max(0, (1 - from[0]) * along[0] + (1 - from[1]) * along[1]));
            return Math.hypot(from[0] + t * along[0] - 1, from[1] + t * along[1] - 1) - 0.35;
        });
        const expected = Math.max(0, Math.min(...apart));
        assert.equal(results.verdict[i], expected === 0 ? "colliding" : "free");
        assert.ok(gaps.distance.lower[i] <= expected + 1e-9 && expected - 1e-9 <= gaps.distance.upper[i]);
        if (covers.verdict[i] === "open") ++open;
        else assert.equal(covers.verdict[i], results.verdict[i]);
        close(poses.at(3 * i + 2)[0], elbow[0]);
        close(poses.at(3 * i + 2)[1], elbow[1]);
    }
    assert.ok(open < 300);
});

test("robots: motions and changes", () => {
    const robot = arm(), [ball] = robot.addObjects([{ kind: "sphere", radius: 0.3, pose: [0, 1.5, 0] }]);
    const motion = robot.motion([[0, 0], [0, 0]], [[2, 0], [-2, 0]], { tolerance: 1e-4 });
    assert.deepEqual(motion.verdict, ["colliding", "free"]);
    assert.ok(motion.freeUntil[0] <= motion.contact[0] && motion.contact[0] < 1);
    assert.deepEqual([motion.at(0).withObject, motion.at(1).a, motion.freeUntil[1]], [true, null, 1]);
    robot.setObjectAllowed([[2, ball]]);
    assert.equal(robot.info.pairs, 1);
    robot.setObjectAllowed([[2, ball]], false);
    const tool = robot.attach(2, { balls: [[1.2, 0, 0, 0.1]] });
    assert.equal(robot.info.bodies, 4);
    assert.deepEqual([robot.cover(tool).length, robot.inner(tool).length], [4, 4]);
    robot.setAllowed([[1, tool]]);
    robot.detach(tool);
    robot.setObject(ball, { mesh: Mesh.shape("box"), pose: [5, 0, 0] });
    assert.deepEqual(robot.check([[0, 0]]).verdict, ["free"]);
    assert.deepEqual(robot.check([[0, 0]], { margin: 2.5 }).verdict, ["colliding"]);
    robot.removeObject(ball);
    assert.equal(robot.samplePairs(10).length, robot.info.pairs);
    assert.deepEqual([...robot.limits.lower, ...robot.limits.upper], [-3, -3, 3, 3]);
    const still = new Robot([[{ kind: "box", half: [1, 1, 1] }]]);
    still.addObjects([{ kind: "box", half: [1, 1, 1], pose: [5, 0, 0] }]);
    assert.deepEqual([still.check([[], []]).length, still.clearance([[]]).distance.value[0]], [2, 3]);
    assert.throws(() => still.check([1]), TypeError);
});

test("robots that are none", () => {
    assert.throws(() => new Robot([[{ size: 1 }]]), /known are/);
    assert.throws(() => new Robot([[3]]), /give an object/);
    assert.throws(() => new Robot([3]), /links\[0\]/);
    assert.throws(() => new Robot([[], []], [{ child: 1 }]), /parent/);
    assert.throws(() => new Robot([[{ kind: "mesh" }]]), /no mesh/);
    assert.throws(() => new Robot([[{ kind: "teapot" }]]), RangeError);
    assert.throws(() => new Robot([[], []]), (error) => error instanceof carom.BadInputError && /joints/.test(error.message));
    const robot = arm();
    assert.throws(() => robot.check([[NaN, 0]]), carom.BadInputError);
    assert.throws(() => robot.check([1, 2, 3]), RangeError);
    assert.throws(() => robot.motion([[0, 0]], [[0, 0], [1, 1]]), /start has 1/);
    assert.throws(() => robot.attach(9, { kind: "sphere", radius: 1 }), carom.BadInputError);
    robot.free();
    assert.throws(() => robot.check([[0, 0]]), carom.InvalidError);
});

test("poses and predicates", () => {
    assert.deepEqual(pose.compose([1, 0, 0], [0, 2, 0]).slice(0, 3), [1, 2, 0]);
    const turn = pose.fromAxisAngle([0, 0, 1], Math.PI / 2);
    close(pose.apply(turn, [1, 0, 0])[1], 1);
    close(pose.rotate(pose.invert(turn), [1, 0, 0])[1], -1);
    pose.matrix(pose.fromMatrix(pose.matrix(turn))).forEach((x, i) => close(x, pose.matrix(turn)[i]));
    pose.matrix(pose.fromEuler(0, 0, Math.PI / 2)).forEach((x, i) => close(x, pose.matrix(turn)[i], 1e-9));
    close(pose.interpolate([0, 0, 0], [2, 0, 0], 0.5)[0], 1);
    close(pose.motionAt([[0, 0, 0], [2, 0, 0]], 0.25)[0], 0.5);
    assert.equal(exact.orient3d([0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1e-300]), 1);
    assert.equal(exact.orient2d([0, 0, 0, 1, 0, 0, 0, 1, 0]), 1);
    const t = [0, 0, 0, 1, 0, 0, 0, 1, 0];
    assert.ok(exact.trianglesMeet(t, t) && exact.triangleMeetsBox(t, [0, 0, 0, 1, 1, 1]));
    assert.equal(exact.relate(t, t).relation, "coplanar-overlap");
    close(exact.pointTriangleDistance([0.2, 0.2, 3], t).distance, 3);
    close(exact.segmentsDistance([0, 0, 0, 1, 0, 0], [0, 0, 2, 0, 1, 2]).distance, 2);
    close(exact.ballOfPoints([0, 0, 0, 2, 0, 0]).radius, 1);
    assert.ok(exact.lens([0, 0, 0, 1], [1, 0, 0, 1]).volume > 1);
    assert.ok(exact.pointTriangleToi([0.2, 0.2, 1, ...t], [0.2, 0.2, -1, ...t]).hit);
    assert.ok(exact.ballToi([0, 0, 0, 1, 5, 0, 0, 1], [5, 0, 0, 1, 5, 0, 0, 1]).hit);
    assert.equal(carom.advise({ trianglesA: 1000, trianglesB: 1000 }).engine, "solid");
    assert.equal(new exact.Random(0).next(), 16294208416658607535n);
});

test("errors have the library's message, and wrong arguments are named", () => {
    const box = Mesh.shape("box"), soup = new Soup(box);
    assert.throws(() => new Mesh([0, 0, NaN, 1, 0, 0, 0, 1, 0], [0, 1, 2]), carom.BadInputError);
    assert.throws(() => new Mesh([0, 0, 0, 1, 0, 0, 0, 1, 0], [0, 1, 7]), (e) => e.status === "bad input" && /7/.test(e.message));
    assert.throws(() => new Mesh([0, 0, 0, 1], [0, 1, 2]), RangeError);
    assert.throws(() => new Mesh("mesh.obj"), TypeError);
    assert.throws(() => soup.distance(soup, [1, 2]), RangeError);
    assert.throws(() => soup.distance(box), TypeError);
    assert.throws(() => new Soup(box, { rigidd: true }), /rigidd/);
    assert.throws(() => new Soup(box, { method: "fast" }), /"auto"/);
    assert.throws(() => Mesh.shape("teapot"), RangeError);
    soup.free();
    assert.ok(soup.freed);
    assert.throws(() => soup.selfPairs(), carom.InvalidError);
    soup.free();
    const cloth = new Soup(Mesh.shape("cloth"));
    assert.throws(() => cloth.selfEach(() => cloth.selfCount()), carom.InvalidError);
    assert.throws(() => cloth.selfEach(() => { throw new RangeError("mine"); }), /mine/);
    assert.ok(cloth.selfCount() > 0);
});

test("progress, and cancelling", () => {
    const told = [];
    carom.setProgress((what, fraction) => { told.push([what, fraction]); });
    new Packing(Mesh.shape("torus"), { count: 30 }).free();
    assert.ok(told.length > 1 && told.at(-1)[1] === 1);
    carom.setProgress(() => true);
    assert.throws(() => new Packing(Mesh.shape("torus", {}), { count: 30 }), carom.Cancelled);
    carom.setProgress(null);
});

test("memory is flat over frames, and collected objects are freed", async () => {
    const box = new Solid(Mesh.shape("box")), soup = new Soup(Mesh.shape("cloth", { detail: 20 }));
    const frame = (i) => {
        box.overlap(box, [i % 10 / 10, 0, 0]);
        soup.selfPairs();
        const mesh = Mesh.shape("box");
        new Soup(mesh).free();
        mesh.free(); // one that is dropped is freed between two tasks, not in this loop
    };
    for (let i = 0; i < 100; ++i) frame(i);
    const before = carom.info().memoryBytes;
    for (let i = 0; i < (process.env.CAROM_LONG ? 10000 : 2000); ++i) frame(i);
    assert.equal(carom.info().memoryBytes, before);
    if (globalThis.gc) {
        for (let round = 0; round < 4; ++round) {
            for (let i = 0; i < 40; ++i) Mesh.shape("grid", { detail: 300 }); // dropped, 4 MB each
            globalThis.gc();
            await new Promise((resolve) => setTimeout(resolve, 5));
        }
        const most = carom.info().memoryBytes;
        for (let round = 0; round < 4; ++round) {
            for (let i = 0; i < 40; ++i) Mesh.shape("grid", { detail: 300 });
            globalThis.gc();
            await new Promise((resolve) => setTimeout(resolve, 5));
        }
        assert.ok(carom.info().memoryBytes <= 2 * most, "dropped meshes stay");
    }
});

// The first steps take what the lists of pairs need; from then on nothing is taken.
test("memory is flat over frames of many boxes", () => {
    const random = new exact.Random(7), count = 20000, side = 2 * Math.cbrt(count), boxes = new Float64Array(6 * count);
    const speeds = Float64Array.from({ length: 3 * count }, () => random.between(-0.1, 0.1));
    for (let i = 0; i < 3 * count; ++i) {
        const at = 6 * Math.floor(i / 3) + i % 3;
        boxes[at] = random.between(0, side - 1);
        boxes[at + 3] = boxes[at] + random.between(0.2, 1);
    }
    const broad = new Broad(boxes);
    let before = 0;
    for (let frame = 0; frame < (process.env.CAROM_LONG ? 10000 : 60); ++frame) {
        for (let i = 0; i < 3 * count; ++i) {
            const at = 6 * Math.floor(i / 3) + i % 3;
            if (boxes[at] < 0 || boxes[at + 3] > side) speeds[i] = boxes[at] < 0 ? Math.abs(speeds[i]) : -Math.abs(speeds[i]);
            boxes[at] += speeds[i];
            boxes[at + 3] += speeds[i];
        }
        broad.move(boxes);
        assert.ok(broad.step().pairs.length > 0);
        if (frame === 10) before = carom.info().memoryBytes;
    }
    assert.equal(carom.info().memoryBytes, before);
    broad.free();
});

test("a worker: promises, progress, cancel", async () => {
    const remote = await carom.startWorker();
    const mesh = await remote.call("Mesh.shape", "cloth", { detail: 60 });
    const soup = await remote.create("Soup", mesh);
    assert.equal((await soup.selfPairs()).length / 2, 3063);
    assert.equal((await soup.info()).faces, 7200);
    await assert.rejects(soup.distance(mesh), TypeError);
    const job = remote.create("Packing", await remote.call("Mesh.shape", "knot"), { count: 200000 });
    let told = 0;
    job.onProgress = () => { if (++told === 2) job.cancel(); };
    await assert.rejects(job, carom.Cancelled);
    assert.equal((await soup.selfCount()), 3063); // the worker and what it holds are still there
    await soup.free();
    await assert.rejects(soup.selfCount(), carom.InvalidError);
    remote.end();
});

// The last one: memory never shrinks, so that nothing is seen of a leak afterwards.
test("memory that is used up is an exception, and the module stays usable", () => {
    if (freemem() < (process.env.CAROM_LONG ? 8e9 : 2e9)) {
        console.log("skipped: using up the module's memory takes more than this machine has left");
        return;
    }
    const kept = [], blocks = []; // taken but not written, so that the system has no work with them
    for (let i = 0; !process.env.CAROM_LONG && i < 13; ++i) blocks.push(allocate(1 << 28));
    assert.throws(() => {
        for (;;) kept.push(Mesh.shape("grid", { detail: 3000 })); // about 400 MB each
    }, (error) => error instanceof carom.NoMemoryError || error instanceof carom.TooLargeError);
    assert.ok(carom.info().memoryBytes > 3.5e9, "that was not all of it");
    kept.forEach((mesh) => mesh.free());
    blocks.forEach(release);
    close(carom.overlap(Mesh.shape("box"), Mesh.shape("box"), [1, 0, 0]).volume, 4);
    assert.throws(() => Mesh.shape("grid", { detail: 1e6 }), carom.CaromError);
});

let failed = 0;
for (const [name, run] of tests) {
    try {
        await run();
        console.log(`ok ${name}`);
    } catch (error) {
        ++failed;
        console.log(`FAILED ${name}: ${error.stack}`);
    }
}
console.log(`${tests.length - failed}/${tests.length} passed`);
process.exit(failed ? 1 : 0);
