# SPDX-License-Identifier: MIT
"""Every engine answers through Python what it answers in C: slow oracles, closed forms, and batches against singles."""
import math

import numpy as np
import pytest

import carom
from carom import cuda, exact, pose

BOX, TORUS = carom.Mesh.shape("box"), carom.Mesh.shape("torus")


def random_poses(count, spread, seed):
    rng = np.random.default_rng(seed)
    return np.column_stack((rng.uniform(-spread, spread, (count, 3)), rng.normal(size=(count, 4))))


def same(record, answer):
    """A record of a batch and the answer of a single query are the same, bit for bit."""
    for name in answer._fields:
        one, other = getattr(answer, name), record[name]
        if hasattr(one, "_fields"):
            same(other, one)
        elif one is None:
            assert other == carom.NONE
        else:
            assert np.asarray(one).astype(np.asarray(other).dtype).tobytes() == np.asarray(other).tobytes(), name


# ---- Meshes

def test_a_path_is_welded_where_faces_are_compared(tmp_path):
    # STL has no common vertices: unless these are joined, every face meets its neighbours
    path = tmp_path / "torus.stl"
    torus = carom.Mesh.shape("torus", detail=12)
    torus.save(path)
    assert len(carom.self_pairs(path)) == len(carom.self_pairs(str(path))) == len(carom.self_pairs(torus)) == 0
    assert len(carom.self_pairs(carom.Mesh.load(path))) > 0 == len(carom.self_pairs(carom.Mesh.load(path).weld()))
    soup = carom.Soup(path)
    assert soup.add(path) == soup.face_count // 2 == torus.face_count
    assert carom.pairs(path, torus, [0.1, 0, 0]).tolist() == carom.pairs(carom.Mesh.load(path), torus, [0.1, 0, 0]).tolist()
    with pytest.raises(carom.CaromError, match="none.stl"):
        carom.self_pairs(tmp_path / "none.stl")
    with pytest.raises(TypeError, match="a mesh is missing"):
        carom.self_pairs(None)
    with pytest.raises(TypeError, match="from_urdf"):
        carom.Robot("arm.urdf")


def test_files(tmp_path):
    named = carom.Mesh(BOX.vertices, BOX.faces, parts=np.arange(12) // 6, part_names=["lid", "böx"],
                       vertex_properties={"heat": np.arange(8.0)}, face_properties={"colour": np.arange(12, dtype=np.uint8)})
    for name in ("a.obj", "a.ply", "a.stl", "a.off", "a.ply.gz"):
        named.save(tmp_path / name)
        assert carom.load(tmp_path / name).weld().inspect().volume == 8.0
        assert carom.info(str(tmp_path / name)).triangles == 12
    again = carom.load(tmp_path / "a.ply")
    assert again.part_names == ["lid", "böx"] and again.parts.tolist() == [0] * 6 + [1] * 6
    assert again.vertex_properties["heat"].tolist() == list(range(8))
    assert again.face_properties["colour"].dtype == np.uint8
    assert str(again.origin.format) == "ply" and carom.load(tmp_path / "a.ply.gz").origin.compressed
    assert (carom.Mesh.from_bytes(named.to_bytes("off")).vertices == BOX.vertices).all()
    assert again.bounds().tolist() == [[-1, -1, -1], [1, 1, 1]]
    assert again.weld(by_part=True).vertex_count > 8
    with pytest.raises(carom.BadFileError, match="broken.off"):
        carom.Mesh.from_bytes(b"OFF\n1 1 1\n", name="broken.off")
    with pytest.raises(carom.FileError):
        named.save(tmp_path / "no" / "folder.ply")
    with pytest.raises(TypeError, match="carom.load"):
        carom.Mesh("a.ply")


def test_all_shapes_are_made():
    for shape in carom.Shape:
        mesh = carom.Mesh.shape(shape)
        assert mesh.face_count > 0
        carom.check(mesh)
        assert mesh.inspect().closed == (str(shape) not in ("cloth", "grid"))
    with pytest.raises(ValueError, match="'sphere', 'globe'"):
        carom.Mesh.shape("donut")
    still, moved = carom.Mesh.shape("cloth", detail=9), carom.Mesh.shape("cloth", detail=9, phase=0.5)
    assert (still.faces == moved.faces).all() and (still.vertices != moved.vertices).any()
    assert (carom.Mesh.shape("cloth", detail=9, phase=0.0).vertices == still.vertices).all()
    with pytest.raises(TypeError, match="phase"):
        carom.Mesh.shape("cloth", phase="half")
    with pytest.raises(carom.BadInputError):
        carom.Mesh.shape("cloth", phase=math.nan)


# ---- Soups

def soup_oracle(v, f):
    """Pairs of faces without a common vertex that meet, all against all."""
    return [[i, j] for i in range(len(f)) for j in range(i + 1, len(f))
            if not set(f[i]) & set(f[j]) and exact.triangles_meet(v[f[i]], v[f[j]])]


def test_pairs_are_those_of_all_against_all():
    rng = np.random.default_rng(4)
    v = rng.integers(-4, 5, (90, 3)).astype(np.float64)  # many touch and are coplanar
    f = np.arange(90).reshape(-1, 3)
    soup = carom.Soup(v, f)
    degenerate = [i for i in range(30) if exact.relate(v[f[i]], v[f[i]]).dimension_a < 2]
    wanted = sorted([p for p in soup_oracle(v, f) if not set(p) & set(degenerate)] + [[i, i] for i in degenerate])
    assert soup.self_pairs().tolist() == wanted
    assert soup.self_count() == len(wanted) and soup.self_meet()
    chunks = []
    soup.self_each(lambda pairs: chunks.append(pairs))
    assert np.concatenate(chunks).tolist() == wanted
    grid = carom.Soup(v, f, method="grid")
    assert grid.self_pairs().tolist() == wanted
    assert grid.self_bound() >= len(wanted)
    reach = soup.self_pairs(1.0)
    wanted = [[i, j] for i in range(30) for j in range(i + 1, 30) if not {i, j} & set(degenerate)
              and exact.triangles_distance(v[f[i]], v[f[j]]).squared <= 1.0]
    assert reach.tolist() == wanted and soup.self_count(1.0) == len(wanted) and soup.self_meet(1.0)
    seen = []
    soup.self_each(seen.append, 1.0)
    assert np.concatenate(seen).tolist() == wanted


def test_two_soups():
    a, b = carom.Soup(TORUS, rigid=True), carom.Soup(BOX)
    poses = random_poses(40, 2.5, 7)
    meets, gaps = b.meet(a, poses), b.distance(a, poses)
    assert 0 < meets.sum() < 40
    for p, meet, gap in zip(poses, meets, gaps):
        pairs = b.pairs(a, p)
        assert (len(pairs) > 0) == meet == b.meet(a, p) == (b.count(a, p) > 0) == (gap.distance == 0)
        same(gap, b.distance(a, p))
        assert (pairs == a.pairs(b, pose_a=p)[:, ::-1][np.lexsort(a.pairs(b, pose_a=p).T)]).all()
        assert b.meet(a, p, reach=gap.distance + 1e-9)
        assert len(b.pairs(a, p, reach=0.5)) == b.count(a, p, reach=0.5)
    assert b.meet(a, poses, reach=0.5).tolist() == [bool(b.count(a, p, reach=0.5)) for p in poses]
    p = poses[int(np.argmax(meets))]
    pairs = b.pairs(a, p)
    seen = []
    b.each(a, seen.append, p)
    assert (np.concatenate(seen) == pairs).all()
    b.each(a, seen.append, p, reach=0.1)
    gaps, segments = b.gaps(pairs, a, p), b.segments(pairs, a, p)
    assert (gaps.distance == 0).all() and (np.unique(segments.pair, axis=0) == np.unique(pairs, axis=0)).all()
    assert b.bound(a) >= len(pairs)
    assert b.kfree_bound(a).pairs >= len(pairs)
    assert a.kfree().k == a.kfree_counts().max() + 1
    assert np.isinf(b.distance(a, [50, 0, 0], limit=1.0).distance) and b.distance(a, [50, 0, 0], limit=1.0).face_a is None


def test_soups_change():
    soup = carom.Soup(BOX)
    assert soup.add(np.array(BOX.vertices) + 0.5, BOX.faces) == 12
    assert soup.triangle_count == 24 and soup.self_count() > 0
    soup.remove(np.arange(12, 24))
    assert soup.face_count == 12 and soup.self_count() == 0 and soup.info.faces == 24
    moved = carom.Soup(BOX)
    moved.update(2.0 * np.array(BOX.vertices))
    assert moved.signed_distances([[0, 0, 0]])[0] == -2.0
    with pytest.raises(carom.BadInputError):
        moved.update(np.array(BOX.vertices)[:4])
    assert moved.triangle_count == 12
    gaps = soup.gaps([[0, 11]])
    assert gaps.shape == (1,)
    assert len(soup.segments([[0, 1]])) > 0


def test_points_and_rays():
    sphere = carom.Soup(carom.Mesh.shape("sphere", detail=5))
    points = np.random.default_rng(2).normal(size=(200, 3))
    radii = np.linalg.norm(points, axis=1)
    inside = sphere.winding(points)
    clear = np.abs(radii - 1) > 0.01  # between the facets and the ball
    assert ((inside == 1) == (radii < 1))[clear].all()
    assert (np.abs(sphere.winding_fractions(points) - inside) < 0.02).all()
    signed = sphere.signed_distances(points)
    assert np.allclose(signed, radii - 1, atol=0.01)
    hits = sphere.closest_points(points)
    assert np.array_equal(np.abs(signed), hits.distance)
    corner = carom.Soup(BOX).winding([[1, 0, 0], [0, 0, 0], [2, 0, 0]])
    assert corner.tolist() == [carom.ON_SURFACE, 1, 0]
    hits = carom.Soup(BOX).cast_rays([[0, 0, 9]], [[0, 0, -1]], [7.5])
    every = carom.Soup(BOX).query_rays([[0.1, 0.2, 9], [5, 5, 5]], [[0, 0, -1], [1, 0, 0]])
    assert every.ray.tolist() == [0, 0] and every.distance.tolist() == [8, 10]
    assert every.normal.tolist() == [[0, 0, 1], [0, 0, 1]]
    assert hits.id[0] == carom.NONE


def test_motion():
    ball = carom.Soup(carom.Mesh.shape("sphere"))
    found = carom.Soup(BOX).advance(ball, ([5, 0, 0], [-5, 0, 0]))
    assert found.hit and 0.29 < found.time < 0.31
    assert not carom.Soup(BOX).advance(ball, ([5, 5, 0], [-5, 5, 0])).hit
    sheet = carom.Mesh.shape("grid")
    end = np.array(sheet.vertices)
    end[end[:, 0] > 0, 0] *= -1
    end[:, 2] = np.where(np.array(sheet.vertices)[:, 0] > 0, -0.2, 0.1 * np.abs(end[:, 0]) - 0.1)
    soup = carom.Soup(sheet)
    impacts, first = soup.impacts(end), soup.first_impact(end)
    assert len(impacts) > 0 and first.time.lower == impacts.time.lower.min()
    assert soup.first_impact(np.array(sheet.vertices) + 1.0) is None
    falling = carom.Soup(np.array(sheet.vertices) + [0.01, 0.02, 1.0], sheet.faces)
    hits = soup.impacts(None, falling, np.array(sheet.vertices) + [0.01, 0.02, -1.0])
    one = soup.first_impact(None, falling, np.array(sheet.vertices) + [0.01, 0.02, -1.0])
    assert len(hits) > 0 and one.time.lower <= 0.5 <= one.time.upper
    with pytest.raises(TypeError, match="time 1"):
        soup.impacts(None)
    with pytest.raises(TypeError, match="without the other"):
        soup.impacts(end, None, end)
    assert soup.impacts(sheet).tolist() == soup.impacts(sheet.vertices).tolist()  # a mesh has positions, too


def near_oracle(v, f, w, g, same):
    """(kind, vertices of a, vertices of b) -> distance of all vertices and triangles, and of all edges, that have no
    common vertex where the soups are the same. Edges are sorted, and so are two edges of the same soup."""
    edges = lambda faces: sorted({tuple(sorted((int(t[i]), int(t[i - 1])))) for t in faces for i in range(3)})
    found = {}
    for kind, points, own, triangles, others in (("vertex-face", v, f, g, w), ("face-vertex", w, g, f, v)):
        if same and kind == "face-vertex":
            continue
        for p in map(int, np.unique(own)):
            for t in triangles:
                if not (same and p in t):
                    pair = ((p,), tuple(sorted(map(int, t))))
                    found[(kind, *(pair if kind == "vertex-face" else pair[::-1]))] = \
                        exact.point_triangle_distance(points[p], others[t]).distance
    for d in edges(f):
        for e in edges(g):
            if not same or d < e and not set(d) & set(e):
                found[("edge-edge", d, e)] = exact.segments_distance(v[list(d)], w[list(e)]).distance
    return found


def near_key(record, same):
    a, b = (tuple(sorted(int(i) for i in side if i != carom.NONE)) for side in (record.a, record.b))
    kind = str(carom.SoupImpactKind(record.kind))
    return (kind, min(a, b), max(a, b)) if same and kind == "edge-edge" else (kind, a, b)


def check_near(found, wanted, reach, same):
    """What is found is what the oracle finds within the reach, which none of its distances is close to."""
    assert all(abs(distance - reach) > 1e-9 for distance in wanted.values())
    keys = [near_key(record, same) for record in found]
    assert len(set(keys)) == len(keys) > 0
    assert set(keys) == {key for key, distance in wanted.items() if distance <= reach}
    for key, record in zip(keys, found):
        assert record.distance.lower - 1e-12 <= wanted[key] <= record.distance.upper + 1e-12


def test_what_is_near():
    rng = np.random.default_rng(11)
    v, w = rng.uniform(-1, 1, (18, 3)), rng.uniform(-1, 1, (12, 3))
    f, g = np.array([*np.arange(18).reshape(-1, 3), [0, 1, 5], [2, 3, 9]]), np.arange(12).reshape(-1, 3)
    a, b = carom.Soup(v, f), carom.Soup(w, g)
    near = a.self_near(0.3)
    check_near(near, near_oracle(v, f, v, f, True), 0.3, True)
    moved = pose.apply([0.5, 0, 0], w)
    wanted = near_oracle(v, f, moved, g, False)
    found = a.near(b, 0.4, [0.5, 0, 0])
    check_near(found, wanted, 0.4, False)
    assert {str(carom.SoupImpactKind(k)) for k in found.kind} == {"vertex-face", "face-vertex", "edge-edge"}
    check_near(a.near(b, 0.4, [1.5, 0, 0], pose_a=[1, 0, 0]), wanted, 0.4, False)

    # Half of what is between a vertex and the nearest thing, up to half of the reach.
    free = a.self_safe_distances(0.3, minimum=0.01)
    least = np.full(18, 0.3)
    for (_, p, q), distance in near_oracle(v, f, v, f, True).items():
        least[list(p + q)] = np.minimum(least[list(p + q)], distance)
    assert free.shape == (18,) and np.allclose(free, np.maximum(0, (least - 0.01) / 2), rtol=0, atol=1e-9)
    mine, others = a.safe_distances(b, 0.4, [0.5, 0, 0])
    assert mine.shape == (18,) and others.shape == (12,)
    of_a, of_b = np.full(18, 0.4), np.full(12, 0.4)
    for (_, p, q), distance in wanted.items():
        of_a[list(p)], of_b[list(q)] = np.minimum(of_a[list(p)], distance), np.minimum(of_b[list(q)], distance)
    assert np.allclose(mine, of_a / 2, rtol=0, atol=1e-9) and np.allclose(others, of_b / 2, rtol=0, atol=1e-9)


def test_distances_of_a_soup_that_grew():
    soup = carom.Soup(BOX)
    with pytest.raises(carom.BadInputError):
        soup.add(np.full((8, 3), np.nan), BOX.faces)
    assert soup.self_safe_distances(0.5).shape == (8,)
    soup.add(np.array(BOX.vertices) + [2.25, 0, 0], BOX.faces)
    free = soup.self_safe_distances(0.5)
    assert free.shape == (16,) and np.allclose(free, 0.125)  # every vertex is of a face that has a gap of 0.25
    assert carom.Soup().self_safe_distances(1.0).shape == (0,)


def test_safe_steps():
    sheet = carom.Mesh.shape("grid")
    v = np.array(sheet.vertices)
    folded = v.copy()
    folded[v[:, 0] > 0, 0] *= -1
    folded[:, 2] = np.where(v[:, 0] > 0, -0.2, 0.1 * np.abs(folded[:, 0]) - 0.1)
    soup = carom.Soup(sheet)
    step = soup.safe_step(folded, minimum=0.01)
    assert 0 < step.time < soup.first_impact(folded).time.lower and isinstance(step.limit, carom.NearPair)
    soup.update(v + step.time * (folded - v))
    assert soup.self_near(0.01).size == 0 and soup.self_near(1.01 * step.limit.distance.upper).size > 0
    assert soup.safe_step(folded, minimum=0.2).time == 0.0  # it is that near already
    falling = carom.Soup(v + [0.01, 0.02, 1.0], sheet.faces)
    still = carom.Soup(sheet)
    step = still.safe_step(None, falling, v + [0.01, 0.02, -1.0], minimum=0.5)
    assert step.time == pytest.approx(0.25, abs=1e-5) and step.limit.distance.lower >= 0.5
    assert still.safe_step(None, falling, v + [0.01, 0.02, 2.0]) == (1.0, None)


@pytest.mark.parametrize("call, error, message", [
    (lambda s: s.self_near(-1.0), carom.BadInputError, "reach"),
    (lambda s: s.self_near(math.nan), carom.BadInputError, "reach"),
    (lambda s: s.self_near("1"), TypeError, "reach is '1'"), (lambda s: s.near(BOX, 1.0), TypeError, "give a carom.Soup"),
    (lambda s: s.near(s, math.inf), carom.BadInputError, "reach"),
    (lambda s: s.near(s, 1.0, [[0, 0, 0, 1, 0, 0, 0]]), ValueError, "one pose"),
    (lambda s: s.near(s, 1.0, pose_a=[0, 0, math.inf]), carom.BadInputError, "finite"),
    (lambda s: s.safe_step(None), TypeError, "time 1"),
    (lambda s: s.safe_step(BOX.vertices[:4]), carom.BadInputError, "vertices"),
    (lambda s: s.safe_step(BOX, minimum=-1.0), carom.BadInputError, "minimum"),
    (lambda s: s.safe_step(BOX, None, BOX), TypeError, "without the other"),
    (lambda s: s.safe_step(BOX, BOX), TypeError, "give a carom.Soup"),
    (lambda s: s.self_safe_distances(0.1, minimum=0.2), carom.BadInputError, "minimum"),
    (lambda s: s.self_safe_distances(None), TypeError, "reach is None"),
    (lambda s: s.safe_distances(s, 1.0, minimum=math.nan), carom.BadInputError, "minimum"),
    (lambda s: s.safe_distances(None, 1.0), TypeError, "give a carom.Soup")])
def test_wrong_arguments_of_what_is_near(call, error, message):
    soup = carom.Soup(BOX)
    with pytest.raises(error, match=message):
        call(soup)
    soup.close()
    if error is carom.BadInputError:
        with pytest.raises(carom.InvalidError, match="closed"):
            call(soup)


def test_advice():
    packed = {"spheres_a": 20000, "spheres_b": 20000}
    both = dict(packed, triangles_a=4_000_000, triangles_b=4_000_000, distance=True)
    for wanted, given in (("tree", both), ("solid", dict(both, error=1e-3)), ("balls", dict(packed, steady=True)),
                          ("solid", dict(both, spheres_to_pack=40000, queries=10)), ("tree", dict(packed, distance=True)),
                          ("tree", dict(packed, triangles_a=36864, triangles_b=36864, time_budget=2e-4))):
        advice = carom.advise(**given)
        assert advice.engine == carom.QueryEngine.of(wanted) and str(advice.engine) == wanted
        assert isinstance(advice.reason, str) and advice.reason
        assert math.isfinite(advice.solid_seconds) == ("triangles_a" in given)
    assert math.isinf(carom.advise(triangles_a=10, triangles_b=10).tree_error)
    for wrong in ({}, {"triangles_a": 10, "spheres_b": 10}, dict(packed, spheres_to_pack=40001), dict(both, error=-1.0),
                  dict(both, time_budget=-1.0), dict(both, error=math.nan)):
        with pytest.raises(carom.BadInputError):
            carom.advise(**wrong)
    with pytest.raises(ValueError, match="negative"):
        carom.advise(triangles_a=-1, triangles_b=10)
    with pytest.raises(TypeError, match="whole number"):
        carom.advise(triangles_a=1.5, triangles_b=10)


# ---- Solids

def test_cubes_overlap_as_cubes_do():
    cube = carom.Solid(BOX)
    assert cube.volume == 8.0 and cube.info.shells == 1
    shifts = np.random.default_rng(3).uniform(-2.5, 2.5, (60, 3))
    sides = np.maximum(0, 2 - np.abs(shifts))
    answers = cube.overlap(cube, np.column_stack((shifts, np.tile([1, 0, 0, 0], (60, 1)))), distance=True)
    assert np.allclose(answers.volume, sides.prod(axis=1), rtol=0, atol=1e-12)
    gap = np.linalg.norm(np.maximum(0, np.abs(shifts) - 2), axis=1)
    assert np.allclose(answers.distance, gap)
    for shift, answer in zip(shifts, answers):
        same(answer, cube.overlap(cube, shift, distance=True))
    inside = cube.overlap(carom.Solid(carom.Mesh.shape("box", size=0.5)))
    assert inside.relation == carom.Relation.B_INSIDE_A and inside.volume == pytest.approx(1.0)
    patches = carom.Solid(TORUS).overlap_patches(carom.Solid(carom.Mesh.shape("box", size=0.3)), pose_a=[0, 0, 0.2])
    assert len(patches) == 0 or patches.volume.sum() > 0
    outside = carom.Solid(BOX, complement=True)
    assert outside.overlap(carom.Solid(carom.Mesh.shape("box", size=0.5)), [1, 0, 0]).volume == pytest.approx(0.5)
    with pytest.raises(carom.BadInputError, match="not closed"):
        carom.Solid(carom.Mesh.shape("grid"))


def test_a_solid_that_deforms_is_a_new_solid():
    torus, box = carom.Mesh.shape("torus"), carom.Solid(BOX)
    solid = carom.Solid(torus)
    for bend in (0.1, 0.4):
        positions = torus.vertices + bend * np.sin(torus.vertices[:, [1, 2, 0]])
        solid.update(positions)
        fresh = carom.Solid(positions, torus.faces)
        assert solid.volume == fresh.volume
        pose = [0.5, 0.2, 0.1]
        same(solid.overlap(box, pose)._asdict(), fresh.overlap(box, pose))
    with pytest.raises(carom.BadInputError, match="the update has 3"):
        solid.update(np.zeros((3, 3)))


def test_pieces_of_an_overlap():
    ring = carom.Solid(carom.Mesh.shape("torus"))
    bar = carom.Solid(BOX.vertices * np.array([3.0, 0.1, 0.1]), BOX.faces)
    patches = ring.overlap_patches(bar)
    assert len(patches) == 2
    assert patches.volume.sum() == pytest.approx(ring.overlap(bar).volume)


def test_forces_on_vertices_add_up_to_the_rigid_force():
    ring, bar = carom.Mesh.shape("torus"), carom.Solid(BOX.vertices * np.array([3.0, 0.3, 0.2]), BOX.faces)
    solid, pose = carom.Solid(ring), [0.1, 0.2, 0.05]
    rigid = solid.overlap(bar, pose)
    on_a, on_b = solid.overlap_gradient(bar, pose)
    assert np.allclose(on_b.force.sum(axis=0), rigid.force, rtol=0, atol=on_b.error.sum() + rigid.force_error)
    assert np.allclose(on_a.force.sum(axis=0), -np.array(rigid.force), rtol=0, atol=on_a.error.sum() + rigid.force_error)
    at, step = int(np.abs(on_a.force).sum(axis=1).argmax()), 1e-5
    volumes = []
    for sign in (1, -1):
        moved = ring.vertices.copy()
        moved[on_a.vertex[at], 0] += sign * step
        volumes.append(carom.Solid(moved, ring.faces).overlap(bar, pose).volume)
    assert on_a.force[at, 0] == pytest.approx((volumes[1] - volumes[0]) / (2 * step), abs=1e-6)
    apart = solid.overlap_gradient(bar, [0, 0, 9])
    assert len(apart[0]) == 0 and len(apart[1]) == 0


# ---- Convex shapes

def test_convex_shapes():
    ball, box = carom.Convex.sphere(1.0), carom.Convex.box([1, 1, 1])
    shapes = [carom.Convex.point(0.5), ball, carom.Convex.segment(1), carom.Convex.capsule(0.5, 1), box,
              carom.Convex.cylinder(1, 1), carom.Convex.cone(1, 1), carom.Convex.ellipsoid([1, 0.5, 0.25]),
              carom.Convex.hull(BOX), carom.Convex.support(lambda d: np.sign(d), [0, 0, 0], 2.0)]
    for a in shapes:
        for b in shapes:
            answer = a.depth(b, [10, 0, 0])
            assert str(answer.relation) == "apart" and 7.9 < answer.distance <= 10
            assert not a.meet(b, [10, 0, 0])
            assert a.bound(b).depth_iterations > 0
    assert shapes[-1].distance(ball, [3, 0, 0]).distance == pytest.approx(1.0)
    hint = carom.ConvexHint()
    for x in np.linspace(0, 4, 9):
        for q in (ball.meet, ball.distance, ball.depth):
            q(box, [x, 0, 0], hint=hint)
        assert ball.depth(box, [x, 0, 0]).depth == pytest.approx(max(0.0, 2 - x))
        assert ball.distance(box, [x, 0, 0]).distance == pytest.approx(max(0.0, x - 2))
    poses = random_poses(50, 2.0, 5)
    for name in ("distance", "depth"):
        answers = getattr(box, name)(shapes[8], poses)
        for p, answer in zip(poses, answers):
            same(answer, getattr(box, name)(shapes[8], p))
    assert box.meet(shapes[8], poses).tolist() == [box.meet(shapes[8], p) for p in poses]
    manifold = box.contacts(box, [0, 0, 2.0])
    assert len(manifold.points) == 4 and np.allclose(manifold.points.depth, 0.0)
    table = carom.Convex.box([4, 4, 1])
    points = table.contacts(box, [0.5, 0.25, 2.0]).points
    assert set(points.feature_a) == {carom.FEATURE_FACE | 5}
    assert set(points.feature_b) == {carom.FEATURE_VERTEX | i for i in range(4)}
    points = ball.contacts(table, [0, 0, -2.0]).points
    assert points.feature_a.tolist() == [0] and points.feature_b.tolist() == [0]
    hits = ball.cast_rays([[5, 0, 0], [5, 9, 0]], [-1, 0, 0], pose=[1, 0, 0])
    assert hits.distance.tolist() == [3.0, np.inf]
    thrown = [([-9, 0, 0], [9, 0, 0]), ([-9, 0, 0], [9, 0, 0, 0, 0, 0, 1], [0.1, 0, 0]), (None, None)]
    answers = box.advance(ball, thrown)
    for motion, answer in zip(thrown, answers):
        same(answer, box.advance(ball, motion))
    assert box.advance(ball, []).shape == (0,)
    hull = carom.Hull(TORUS)
    assert hull.info.faces == hull.to_mesh().face_count
    assert carom.Hull([[0, 0, 0], [1, 0, 0]]).info.dimension == 1


def test_a_support_function_that_raises():
    def support(direction):
        raise RuntimeError("no idea")

    shape = carom.Convex.support(support, [0, 0, 0], 2.0)
    with pytest.raises(RuntimeError, match="no idea"):
        carom.Convex.sphere(1).distance(shape, [3, 0, 0])
    with pytest.raises(RuntimeError, match="no idea"):
        shape.distance(carom.Convex.sphere(1), [[3, 0, 0, 1, 0, 0, 0]] * 100)
    wrong = carom.Convex.support(lambda d: "x", [0, 0, 0], 2.0)
    with pytest.raises(TypeError):
        wrong.meet(carom.Convex.sphere(1), [1, 0, 0])


# ---- Boxes

def box_oracle(boxes):
    low, high = boxes[:, None, 0], boxes[:, None, 1]
    meet = ((low <= boxes[None, :, 1]) & (boxes[None, :, 0] <= high)).all(axis=2)
    return np.argwhere(np.triu(meet, 1))


@pytest.mark.parametrize("method", list(carom.BroadMethod))
def test_boxes_against_all_pairs(method):
    rng = np.random.default_rng(6)
    low = rng.uniform(0, 10, (200, 3))
    boxes = np.stack((low, low + rng.uniform(0, 1.5, (200, 3))), axis=1)
    broad = carom.Broad(boxes, method=method)
    assert (broad.pairs() == box_oracle(boxes)).all() and len(broad) == 200
    first = broad.step()
    assert len(first.pairs) == len(first.begun) and len(first.ended) == 0
    moved = boxes.copy()
    moved[::3] += 0.7
    broad.move(moved[::3], np.arange(0, 200, 3))
    second = broad.step()
    assert (second.pairs == box_oracle(moved)).all()
    kept = {tuple(p) for p in first.pairs} - {tuple(p) for p in second.ended} | {tuple(p) for p in second.begun}
    assert kept == {tuple(p) for p in second.pairs}
    broad.move(boxes.reshape(-1, 6))
    ids = broad.add(boxes[:2] + 0.001)
    assert ids.tolist() == [200, 201]
    broad.remove(200)
    broad.set_filters([[1, 2]] * 200)
    broad.commit()
    assert len(broad.pairs()) == 0 or (broad.pairs() >= 0).all()
    with pytest.raises(carom.BadInputError):
        broad.remove([77, 777])
    if str(method) in ("auto", "tree"):
        found = broad.query_boxes(boxes[:5])
        assert {(q, q) for q in range(5)} <= {tuple(p) for p in found}
        assert len(broad.query_rays([[0, 0, 0]], [[1, 1, 1]])) >= 0
        assert broad.cast_rays(boxes[:3, 0] - 20.0, [1, 1, 1]).id[0] != carom.NONE
        assert (broad.closest_points(boxes[:, 0]).distance == 0).all()


def test_accept_functions():
    boxes = np.tile([[0, 0, 0, 1, 1, 1.0]], (6, 1))
    broad = carom.Broad(boxes, accept=lambda a, b: (a + b) % 2 == 0)
    assert all((a + b) % 2 == 0 for a, b in broad.pairs())

    def refuse(a, b):
        raise KeyError(a)

    with pytest.raises(KeyError):
        carom.Broad(boxes, accept=refuse).pairs()


# ---- Scenes

def test_scenes():
    cube, ball = carom.Solid(BOX), carom.Solid(carom.Mesh.shape("sphere", size=0.5))
    packing = carom.pack(BOX, 30)
    scene = carom.Scene(reach=0.1)
    items = [cube, ball, carom.Convex.sphere(0.2), carom.Soup(TORUS), carom.Tree(packing, BOX), carom.Convex.hull(BOX)]
    ids = [scene.add(item, [3.0 * i, 0, 0]) for i, item in enumerate(items)]
    assert ids == list(range(6)) and len(scene) == 6
    assert scene.step().ended.shape == (0, 2)
    scene.move([1], [0, 0, 0])
    step = scene.step()
    assert [0, 1] in step.begun.tolist()
    contact = step.contacts[step.contacts.b == 1][0]
    assert contact.relation == carom.Relation.B_INSIDE_A and contact.volume == pytest.approx(ball.volume)
    scene.ignore([[0, 1]])
    assert [0, 1] in scene.step().ended.tolist()
    scene.ignore([[1, 0]], False)
    scene.set_filters([[1, 2]], [1])
    scene.move(None, np.tile([0, 0, 0, 1, 0, 0, 0.0], (6, 1)))
    assert scene.step().contacts.shape[0] > 3
    scene.remove([1])
    scene.commit()
    found = scene.query_objects([ball, carom.Convex.point()], [[0, 0, 0], [50, 0, 0]])
    assert set(found.a) == {0}
    assert scene.cast_rays([[9, 0.1, 0.2]], [-1, 0, 0]).distance[0] < 9
    assert scene.closest_points([[0.0, 0, 0]]).distance[0] == 0
    assert scene.info.live == 5


def test_what_a_scene_borrows_stays_as_it_is():
    soup = carom.Soup(BOX)
    scene = carom.Scene()
    number = scene.add(soup)
    scene.add(carom.Convex.hull(TORUS))  # nobody else holds the hull
    with pytest.raises(carom.InvalidError, match="part of a scene"):
        soup.update(np.array(BOX.vertices))
    with pytest.raises(carom.InvalidError, match="part of a scene"):
        soup.close()
    assert len(scene.step().contacts) == 1
    scene.remove(number)
    scene.step()
    soup.update(np.array(BOX.vertices))
    scene.close()
    with pytest.raises(carom.InvalidError, match="closed"):
        scene.step()


# ---- Spheres

def test_packings_and_covers(tmp_path):
    packing = carom.Packing(BOX, count=100, keep_cells=True)
    spheres = packing.spheres
    assert (np.abs(spheres[:, :3]) + spheres[:, 3:] <= 1).all()
    gaps = np.linalg.norm(spheres[:, None, :3] - spheres[None, :, :3], axis=2) - spheres[:, None, 3] - spheres[None, :, 3]
    assert (gaps[np.triu_indices(100, 1)] >= -1e-15).all()
    assert packing.info.fill == pytest.approx((4 / 3 * math.pi * spheres[:, 3] ** 3).sum() / 8)
    cells = packing.list_cells()
    assert len(cells) == packing.info.cells and (cells.edge > 0).all()
    for name in ("a.ply", "a.csv", "a.xyzr", "a.sph"):
        packing.save(tmp_path / name)
    assert (carom.Packing.load(tmp_path / "a.ply").list_spheres() == packing.list_spheres()).all()
    assert len(carom.Packing.from_bytes(packing.to_bytes())) == 100
    cover = carom.Cover(BOX, count=16, keep_cells=True)
    points = np.random.default_rng(1).uniform(-1, 1, (500, 3))
    inside = np.linalg.norm(points[:, None] - cover.spheres[None, :, :3], axis=2) <= cover.spheres[None, :, 3]
    assert inside.any(axis=1).all() and len(cover.list_cells()) == cover.info.cells
    measure = carom.measure_spheres(BOX, cover.spheres)
    assert measure.worst.lower <= cover.info.measure.worst.upper * 1.03


def test_trees_and_balls(tmp_path):
    packing = carom.Packing(TORUS, count=300)
    tree, bare, balls = carom.Tree(packing, TORUS), carom.Tree(packing, method="morton"), carom.Balls(packing)
    solid = carom.Solid(TORUS)
    poses = random_poses(12, 1.2, 9)
    exact_answers = solid.overlap(solid, poses, distance=True)
    answers, from_balls = bare.overlap(bare, poses), balls.overlap(balls, poses)
    assert answers.tobytes() == from_balls.tobytes()
    narrow, gaps = tree.overlap(tree, poses, narrow_limits=True), tree.distance(tree, poses)
    queries = tree.query(tree, poses)
    for i, p in enumerate(poses):
        truth = exact_answers[i]
        for found in (answers[i], narrow[i]):
            assert found.volume.lower - 1e-9 <= truth.volume <= found.volume.upper + 1e-9
        assert gaps[i].distance.lower - 1e-9 <= truth.distance <= gaps[i].distance.upper + 1e-9
        same(answers[i], bare.overlap(bare, p))
        same(gaps[i], tree.distance(tree, p))
        same(queries[i], tree.query(tree, p))
        same(from_balls[i], balls.overlap(balls, p))
        assert balls.count(balls, p) == len(balls.pairs(balls, p)) == answers[i].pairs
        assert balls.meet(balls, p, kind="inner") == tree.meet(tree, p) == (answers[i].inner_pairs > 0)
        assert balls.bound(balls).pairs >= answers[i].pairs
        faces = tree.faces(tree, p)
        assert (len(faces[0]) > 0) == (answers[i].inner_pairs > 0)
    hint = carom.TreeHint()
    far = [tree.distance(tree, [4, 0, 0], hint=hint).distance for _ in range(3)]
    assert all(limits.lower <= solid.overlap(solid, [4, 0, 0], distance=True).distance <= limits.upper for limits in far)
    assert tree.overlap(tree, poses, scale_b=0.5).tobytes() != answers.tobytes()
    tree.save(tmp_path / "torus.tree")
    for again in (carom.Tree.load(tmp_path / "torus.tree"), carom.Tree.load(tmp_path / "torus.tree", shared=True),
                  carom.Tree.from_bytes(tree.to_bytes())):
        assert again.distance(again, poses).tobytes() == gaps.tobytes()
    with pytest.raises(carom.BadFileError):
        carom.Tree.from_bytes(tree.to_bytes()[:-100])
    longer = carom.Mesh(TORUS.vertices * [1, 1, 1.5], TORUS.faces)
    for refill in (False, True):
        moved = packing.deform(TORUS, longer.vertices, refill=refill)
        assert moved.info.spheres <= 300 and moved.info.fill > 0.5 * packing.info.fill
        tree.update(moved, longer)
        bare.update(moved)
        assert tree.overlap(tree, poses).tobytes() == carom.Tree(moved, longer).overlap(tree, poses).tobytes()
        assert bare.info.triangles == 0 and bare.info.spheres == moved.info.spheres
    spheres = packing.list_spheres()
    balls.update(spheres[:100], packing.info.volume)
    assert len(balls) == 100
    with pytest.raises(TypeError, match="list_spheres"):
        balls.update(np.zeros((3, 4)))


# ---- Gases

def test_gases(tmp_path):
    rng = np.random.default_rng(8)
    grid = np.stack(np.meshgrid(*[np.arange(5)] * 3), -1).reshape(-1, 3) * 2.0 + 1.0
    velocities = rng.normal(size=grid.shape)
    make = lambda **options: carom.Gas(grid, velocities, 0.5, edges=[10, 10, 10], periodic=True, **options)
    gas, other = make(), make(method="extent", queue="tree")
    events = []
    gas.advance(2.0, events.append)
    for event in events:
        assert other.next(2.0) == event
    assert other.next(2.0) is None and gas.time == other.time == 2.0
    assert gas.measure().collisions == len(events) > 20
    assert gas.measure().energy == pytest.approx(0.5 * (velocities ** 2).sum())
    assert gas.overlap() < 1e-9 and np.isfinite(gas.measure().z)
    pairs = make().count_distances(0.5, 10)
    assert pairs[:4].sum() == 0 and pairs[4] == 3 * len(grid) and pairs[5] == 6 * len(grid)
    gas.save(tmp_path / "gas")
    again, third = carom.Gas.load(tmp_path / "gas"), carom.Gas.from_bytes(gas.to_bytes(), queue="tree")
    following = [g.next(9.0) for g in (gas, again, third)]
    assert following[0] == following[1] == following[2]
    spheres = gas.list_spheres()
    assert gas.find_sphere(3).position.tolist() == spheres.position[3].tolist()
    gas.remove([0, 1])
    assert len(gas) == 123
    with pytest.raises(carom.BadInputError):
        gas.find_sphere(0)
    ids = gas.add(spheres.position[:1], spheres.velocity[:1], 0.5)
    gas.set(ids, spheres.position[:1], -spheres.velocity[:1], 0.5)
    gas.reset_measures()
    assert gas.measure().collisions == 0 and str(gas.info.method) != "auto"


def test_responses():
    stop = []

    def sticky(event, normal, a, b):
        stop.append(event)
        assert abs(np.linalg.norm(normal) - 1) < 1e-12
        a.velocity[:] = 0
        if b is not None:
            b.velocity[:] = 0

    gas = carom.Gas([[2, 5, 5], [8, 5, 5]], [[1, 0, 0], [-1, 0, 0]], 1.0, edges=[10, 10, 10], response=sticky)
    gas.advance(5.0)
    assert len(stop) == 1 and (gas.list_spheres().velocity == 0).all()

    def fail(*_):
        raise OverflowError("too much")

    gas = carom.Gas([[2, 5, 5], [8, 5, 5]], [[1, 0, 0], [-1, 0, 0]], 1.0, edges=[10, 10, 10], response=fail)
    with pytest.raises(OverflowError):
        gas.advance(5.0)


# ---- Points, poses, random numbers

def test_poses_and_predicates():
    a, b = pose.from_axis_angle([0, 0, 1], math.pi / 2), pose.from_euler(0.1, 0.2, 0.3)
    assert np.allclose(pose.matrix(pose.compose(a, b)), pose.matrix(a) @ pose.matrix(b))
    assert np.allclose(pose.matrix(pose.compose(b, pose.invert(b))), np.eye(4))
    assert np.allclose(pose.apply(a, [[1, 0, 0]]), [[0, 1, 0]])
    assert np.allclose(pose.rotate([5, 5, 5], [[1, 0, 0]]), [[1, 0, 0]])
    assert np.allclose(pose.interpolate([0, 0, 0], [2, 0, 0], 0.5)[:3], [1, 0, 0])
    assert np.allclose(pose.motion_at(([0, 0, 0], [2, 0, 0]), 0.25)[:3], [0.5, 0, 0])
    unit = [[0, 0, 0], [1, 0, 0], [0, 1, 0]]
    assert exact.orient_2d(unit) == 1 and exact.orient_3d([*unit, [0, 0, -1]]) == -1
    assert exact.relate(unit, unit).dimension == 2 and str(exact.relate(unit, unit).relation) == "coplanar-overlap"
    assert exact.point_segment_distance([0, 3, 0], [[-1, 0, 0], [1, 0, 0]]).distance == 3
    assert exact.segments_distance([[0, 0, 0], [1, 0, 0]], [[0, 2, 0], [1, 2, 0]]).distance == 2
    assert exact.point_triangle_distance([0.2, 0.2, 4], unit).distance == 4
    assert exact.segment_triangle_distance([[0.2, 0.2, 4], [0.2, 0.2, 1]], unit).distance == 1
    assert exact.triangles_distance(unit, np.add(unit, [0, 0, 2])).distance == 2
    assert not exact.triangle_meets_box(unit, [[3, 3, 3], [4, 4, 4]])
    assert exact.ball_of([[-1, 0, 0], [1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]]).radius == pytest.approx(1)
    assert exact.ball_of(unit).radius == pytest.approx(math.sqrt(0.5))
    assert exact.ball_of_balls([[0, 0, 0, 1], [4, 0, 0, 1]]).radius == pytest.approx(3)
    assert exact.lens([0, 0, 0, 1], [0.1, 0, 0, 3]).volume == pytest.approx(4 / 3 * math.pi)
    start, end = [[0.2, 0.2, 1], *unit], [[0.2, 0.2, -1], *unit]
    assert exact.point_triangle_toi(start, end).time.lower <= 0.5 <= exact.point_triangle_toi(start, end).time.upper
    assert exact.point_triangle_advance(start, end, reach=0.1).time == pytest.approx(0.45, abs=1e-3)
    cross = [[-1, 0, 1], [1, 0, 1], [0, -1, 0], [0, 1, 0]]
    below = [[-1, 0, -1], [1, 0, -1], [0, -1, 0], [0, 1, 0]]
    assert exact.segments_toi(cross, below).hit and exact.segments_advance(cross, below).hit
    assert exact.ball_toi([[0, 0, 0, 1], [5, 0, 0, 1]], [[0, 0, 0, 1], [1, 0, 0, 1]]).hit
    random = exact.Random(5)
    assert random.next() != random.next() and -9 < random.normal() < 9 and 2 <= random.between(2, 3) <= 3


def test_every_status_has_an_exception():
    kinds = {kind.status for kind in vars(carom).values()
             if isinstance(kind, type) and issubclass(kind, carom.CaromError) and kind is not carom.CaromError}
    assert kinds == set(carom.Status) - {carom.Status.OK, carom.Status.MORE}
    for status in carom.Status:
        assert carom.Status.of(str(status)) is status


# ---- The GPU

def test_the_gpu():
    if not cuda.available():
        with pytest.raises(carom.NoDeviceError):
            carom.Soup(BOX, device="cuda")
        pytest.skip("no CUDA device: " + carom.build_info()["cuda"])
    cloth = carom.Mesh.shape("cloth", dtype=np.float32)
    context = carom.Context(device="cuda")
    soup = carom.Soup(cloth, context=context)
    truth = carom.self_pairs(cloth)
    assert (soup.self_pairs(context=context) == truth).all()
    positions = cuda.to_device(cloth.vertices, context=context)
    soup.update(positions, context=context)
    pairs = cuda.self_pairs(soup, context=context)
    assert pairs.__cuda_array_interface__["shape"] == truth.shape and (pairs.read() == truth).all()
    cut = cuda.self_segments(soup, pairs, context=context)
    assert cut.read().tobytes() == carom.Soup(cloth).segments(truth).tobytes()
    with cuda.record(context) as frame:
        cuda.update_soup(soup, positions, context)
        again = cuda.self_pairs(soup, context=context)
    frame.run()
    assert (again.read() == truth).all()
    other = cuda.cross_pairs(soup, soup, [0.01, 0, 0], context=context)
    assert (other.read() == carom.Soup(cloth).pairs(carom.Soup(cloth), [0.01, 0, 0])).all()
    end = (cloth.vertices + np.random.default_rng(4).uniform(-0.02, 0.02, cloth.vertices.shape)).astype(np.float32)
    on_device, on_cpu = cuda.to_device(end, context=context), carom.Soup(cloth)
    found = cuda.self_impacts(soup, on_device, context=context)
    truth = on_cpu.impacts(end)
    assert len(found) == len(truth) and (found.read().time.lower == truth.time.lower).all()
    assert cuda.self_first_impact(soup, on_device, context=context) == on_cpu.first_impact(end)
    other = cuda.cross_impacts(soup, soup, on_device, context=context)
    assert len(other) == len(on_cpu.impacts(end, on_cpu))
    assert (cuda.cross_first_impact(soup, soup, on_device, context=context)
            == on_cpu.first_impact(end, on_cpu))
    assert len(cuda.self_near(soup, 0.01, context=context)) == len(on_cpu.self_near(0.01))
    distances = cuda.self_safe_distances(soup, 0.01, context=context)
    cuda.finish(context)
    assert (distances.read() == on_cpu.self_safe_distances(0.01)).all()
    points = np.random.default_rng(2).uniform(-1, 1, (300, 3))
    rays = np.column_stack((points, -points, np.zeros(300)))
    hits = cuda.closest_points(soup, cuda.to_device(points, context=context), context=context)
    first = cuda.cast_rays(soup, cuda.to_device(rays, context=context), context=context)
    cuda.finish(context)
    assert hits.read().tobytes() == carom.Soup(cloth).closest_points(points).tobytes()
    assert first.read().tobytes() == carom.Soup(cloth).cast_rays(points, -points).tobytes()
    every = cuda.query_rays(soup, cuda.to_device(rays, context=context), context=context)
    assert every.read().tobytes() == carom.Soup(cloth).query_rays(points, -points).tobytes() and every.host_items == 0
    torus = carom.Soup(TORUS, context=context)
    distances, _ = cuda.signed_distances(torus, cuda.to_device(points, context=context), context=context)
    numbers = cuda.winding(torus, cuda.to_device(points, context=context), context=context)
    cuda.finish(context)
    assert (distances.read() == carom.Soup(TORUS).signed_distances(points)).all()
    assert (numbers.read() == carom.Soup(TORUS).winding(points)).all()
    solid = carom.Solid(TORUS, context=context)
    poses = random_poses(20, 1.5, 3)
    on_cpu = carom.Solid(TORUS)
    assert solid.overlap(solid, poses, context=context).tobytes() == on_cpu.overlap(on_cpu, poses).tobytes()
    packing = carom.Packing(TORUS, count=200, context=context)
    balls, cpu_balls = carom.Balls(packing, context=context), carom.Balls(packing)
    order = np.ascontiguousarray(poses[:, [3, 4, 5, 6, 0, 1, 2]])
    found = balls.overlap(balls, cuda.to_device(order, context=context), context=context)
    cuda.finish(context)
    assert found.read().tobytes() == cpu_balls.overlap(cpu_balls, poses).tobytes()
    tree, cpu_tree = carom.Tree(packing, context=context), carom.Tree(packing)
    on_device = cuda.to_device(order, context=context)
    found = [f(tree, tree, on_device, context=context) for f in (cuda.tree_meet, cuda.tree_distance, cuda.tree_overlap)]
    cuda.finish(context)
    assert found[1].read().tobytes() == cpu_tree.distance(cpu_tree, poses).tobytes()
    assert found[2].read().tobytes() == cpu_tree.overlap(cpu_tree, poses).tobytes()
    assert [cpu_tree.meet(cpu_tree, pose) for pose in poses] == list(found[0].read())
    assert (cuda.balls_pairs(balls, balls, cuda.to_device(order[:1], context=context), context=context).read()
            == cpu_balls.pairs(cpu_balls, poses[0])).all()
    low = np.random.default_rng(1).uniform(0, 9, (500, 3))
    boxes = np.column_stack((low, low + 1))
    broad = carom.Broad(np.zeros((500, 6)), context=context)
    broad.move(cuda.to_device(boxes, context=context), context=context)
    assert (cuda.broad_pairs(broad, context=context).read() == carom.Broad(boxes).pairs()).all()
    shapes = cuda.ConvexShapes([carom.Convex.sphere(0.5), carom.Convex.box([0.4, 0.4, 0.4])], context=context)
    body_poses = np.column_stack((np.tile([1, 0, 0, 0], (500, 1)), low)).astype(np.float64)
    bodies = cuda.ConvexBodies(shapes, cuda.to_device(body_poses, context=context),
                               cuda.to_device(np.arange(500, dtype=np.uint32) % 2, context=context))
    broad.move(cuda.convex_boxes(bodies, context=context), context=context)
    near = cuda.broad_pairs(broad, context=context)
    answers = [f(bodies, near, context=context).read() for f in (cuda.convex_meet, cuda.convex_distance, cuda.convex_depth)]
    assert len(answers[0]) == len(near.read()) == len(answers[2])
    boom = {"kind": "box", "half": (0.9, 0.05, 0.05), "pose": (1, 0, 0)}
    robot = carom.Robot([[], [boom]], [{"kind": "continuous", "parent": 0, "child": 1, "axis": (0, 0, 1)}])
    copy = cuda.RobotCopy(robot, context=context)
    robot.add_objects([{"kind": "sphere", "radius": 0.2, "pose": (0, 1.5, 0)}])
    copy.update(context=context)
    turns = np.linspace(-3, 3, 500)[:, None]
    on_device = cuda.to_device(turns, context=context)
    verdicts = copy.check(on_device, context=context)
    gaps = copy.clearance(on_device, context=context)
    motions = copy.motion(on_device, cuda.to_device(turns + 0.1, context=context), margin=0.01, context=context)
    cuda.finish(context)
    assert (verdicts.read()["verdict"] == robot.check(turns).verdict).all() and copy.info.host_items == 0
    assert (gaps.read()["distance"] == robot.clearance(turns).distance).all()
    assert (motions.read()["free_until"] == robot.motion(turns, turns + 0.1, margin=0.01).free_until).all()
    with pytest.raises(ValueError, match="different numbers"):
        copy.motion(on_device, cuda.to_device(turns[:1], context=context), context=context)
    cuda.set_timing(True, context=context)
    assert isinstance(cuda.steps(context), dict)


@pytest.mark.parametrize("library", ["cupy", "torch"])
def test_arrays_of_other_libraries_on_the_gpu(library):
    """Positions and boxes are read where they are, and pairs are seen where they are: nothing is copied."""
    if not cuda.available():
        pytest.skip("no CUDA device: " + carom.build_info()["cuda"])
    other = pytest.importorskip(library)
    give = other.asarray if library == "cupy" else (lambda array: other.as_tensor(np.array(array), device="cuda"))
    wait = other.cuda.Device().synchronize if library == "cupy" else other.cuda.synchronize
    for dtype in (np.float32, np.float64):
        mesh = carom.Mesh.shape("cloth", dtype=dtype)
        context = carom.Context(device="cuda")
        soup = carom.Soup(mesh, context=context)
        moved = np.array(mesh.vertices)
        moved[:, 2] *= 0.5
        positions = give(moved)
        wait()
        soup.update(positions, context=context)
        pairs = cuda.self_pairs(soup, context=context)
        truth = carom.self_pairs(moved, mesh.faces)
        assert len(truth) > 0 and (pairs.read() == truth).all()
        seen = other.asarray(pairs) if library == "cupy" else None
        if seen is not None:
            assert seen.data.ptr == pairs.__cuda_array_interface__["data"][0] and (seen.get() == truth).all()
        with pytest.raises(TypeError, match="type"):
            cuda.update_soup(soup, give(moved.astype(np.int32)), context)
        with pytest.raises(ValueError, match="shape"):
            cuda.update_soup(soup, give(moved[:, :2].copy()), context)
        with pytest.raises(ValueError, match="not packed"):
            cuda.update_soup(soup, give(np.repeat(moved, 2, axis=0))[::2], context)
        with pytest.raises((carom.CaromError, ValueError)):
            cuda.update_soup(soup, give(moved[:-1].copy()), context)
            cuda.finish(context)
    low = np.random.default_rng(2).uniform(0, 9, (500, 3))
    boxes = np.column_stack((low, low + 1))
    broad = carom.Broad(np.zeros((500, 6)), context=context)
    given = give(boxes)
    wait()
    broad.move(given, context=context)
    assert (cuda.broad_pairs(broad, context=context).read() == carom.Broad(boxes).pairs()).all()
