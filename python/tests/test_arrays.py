# SPDX-License-Identifier: MIT
"""Arrays in and out: no copies where none are needed, messages where something is wrong, owners that stay."""
import gc
import tracemalloc

import numpy as np
import pytest

import carom
from carom import _abi, _arrays, pose

CLOTH = carom.Mesh.shape("cloth", detail=40)
V, F = np.array(CLOTH.vertices), np.array(CLOTH.faces)
PAIRS = carom.self_pairs(V, F)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_positions_are_not_copied(dtype):
    vertices = V.astype(dtype)  # the cloth is rounded to float32: the same numbers
    wide = np.zeros((len(V), 5), dtype)
    wide[:, 1:4] = vertices
    for given in (vertices, wide[:, 1:4], np.repeat(vertices, 2, axis=0)[::2]):
        before = _arrays.copied.bytes
        tracemalloc.start()
        found = carom.self_pairs(given, F)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert _arrays.copied.bytes == before
        assert peak < given.nbytes / 2 + 20000  # the result is the library's, too
        assert (found == PAIRS).all()


@pytest.mark.parametrize("change", [
    lambda v: np.asfortranarray(v), lambda v: v[::-1][::-1].copy()[:, ::-1][:, ::-1], lambda v: v.astype(">f8"),
    lambda v: v.tolist(), lambda v: np.broadcast_to(v, (1, *v.shape))[0]])
def test_other_layouts_are_converted(change):
    assert (carom.self_pairs(change(V), F) == PAIRS).all()


def test_strides_of_all_kinds():
    reversed_rows = V[::-1]
    turned = (len(V) - 1 - F.astype(np.int64)).astype(np.uint32)
    assert (carom.self_pairs(reversed_rows, turned) == PAIRS).all()
    unaligned = np.frombuffer(b"x" + V.tobytes(), np.float64, V.size, offset=1).reshape(V.shape)
    assert not unaligned.flags.aligned
    assert (carom.self_pairs(unaligned, F) == PAIRS).all()


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64,
                                   ">i8", ">u4"])
def test_faces_of_all_integers(dtype):
    mesh = carom.Mesh.shape("box")
    faces = np.array(mesh.faces).astype(dtype)
    for given in (faces, np.asfortranarray(faces), np.repeat(faces, 2, axis=0)[::2]):
        assert carom.info(mesh.vertices, given).closed


def test_faces_are_not_copied_where_they_fit():
    before = _arrays.copied.bytes
    carom.self_pairs(V, F)
    carom.self_pairs(V, F.view(np.int32))
    assert _arrays.copied.bytes == before
    carom.self_pairs(V, F.astype(np.int64))
    assert _arrays.copied.bytes == before + F.nbytes


@pytest.mark.parametrize("wrong", [-1, 2**32 - 1, 2**32, 2**40, -2**63])
def test_indices_out_of_range(wrong):
    faces = F.astype(np.int64)
    faces[len(F) // 2, 1] = wrong
    with pytest.raises(ValueError, match=str(wrong)):
        carom.self_pairs(V, faces)
    with pytest.raises(carom.BadInputError, match="names vertex"):
        carom.self_pairs(V, np.full((1, 3), len(V)))
    with pytest.raises(ValueError, match="not negative"):
        carom.self_pairs(V, np.full((1, 3), -1, np.int32))


@pytest.mark.parametrize("vertices, faces, error, message", [
    (V.T, F, ValueError, r"transpose them with \.T"),
    (V.reshape(-1), F, ValueError, r"reshape\(-1, 3\)"),
    (V.astype(np.complex128), F, TypeError, "complex128; give real numbers"),
    (V.astype(np.longdouble), F, TypeError, r"astype\(np.float64\)"),
    (V.astype(object), F, TypeError, "hold objects"),
    (np.full((3, 3), "x"), F, TypeError, "give real numbers"),
    ([[0, 0, 0], [1, 0]], F, (TypeError, ValueError), "objects|no array|inhomogeneous"),
    (V, F.astype(np.float64), TypeError, "give integers"),
    (V, F[:, :2], ValueError, "three corners or more"),
    (V, F[:, 0], ValueError, r"give \(n, k\)"),
    (np.where(np.arange(len(V))[:, None] == 7, np.nan, V), F, carom.BadInputError, "vertex 7"),
    (np.full((4, 3), 2**60 + 1), F, ValueError, "beyond 2\\*\\*53"),
    (3, None, TypeError, "is no mesh"),
    (None, F, TypeError, "objects"),
    ("no/such/file.obj", None, carom.FileError, "no/such/file.obj"),
])
def test_wrong_input_says_what_to_do(vertices, faces, error, message):
    with pytest.raises(error, match=message):
        carom.Soup(vertices, faces)


def test_polygons():
    quads = carom.Mesh.shape("box", polygons=True)
    assert len(quads.offsets) == 7 and quads.offsets[-1] == 24
    with pytest.raises(ValueError, match="triangulate"):
        quads.faces
    as_array = carom.Mesh(quads.vertices, quads.corners.reshape(-1, 4))
    as_list = carom.Mesh(quads.vertices, [list(face) for face in quads.corners.reshape(-1, 4)])
    triangles, origins = quads.triangulate()
    mixed = carom.Mesh(quads.vertices, [list(quads.corners[:4])] + [list(f) for f in triangles.faces[2:]])
    for mesh in (as_array, as_list, mixed, triangles):
        assert mesh.inspect().closed and mesh.inspect().volume == 8.0
    assert origins.tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]


def test_views_keep_their_owner():
    vertices, faces = carom.Mesh.shape("torus").vertices, carom.Mesh.shape("torus").faces
    pairs = carom.Soup(CLOTH).self_pairs()
    gc.collect()
    waste = [carom.Mesh.shape("torus", size=2.0) for _ in range(20)]  # would be given the memory
    assert carom.info(vertices, faces).closed
    assert (pairs == PAIRS).all()
    assert not vertices.flags.writeable and pairs.flags.writeable
    with pytest.raises(ValueError):
        vertices[0] = 1.0
    del waste


def test_records_have_fields_as_attributes():
    hits = carom.Soup(carom.Mesh.shape("box")).cast_rays([[5, 0.1, 0.2], [5, 9, 9]], [-1, 0, 0])
    assert hits.distance.tolist() == [4.0, np.inf]
    assert hits["point"][0].tolist() == [1.0, 0.1, 0.2]
    assert hits.id.tolist() == [0, carom.NONE]
    assert hits.normal[0].tolist() == [1.0, 0.0, 0.0]


def has_functions(kind):
    """Whether a C type has pointers to functions, also within its members: numpy has no type for them."""
    import ctypes
    if issubclass(kind, ctypes._CFuncPtr):
        return True
    return issubclass(kind, ctypes.Structure) and any(has_functions(t) for _, t in kind._fields_)


def test_numpy_types_have_the_layout_of_c():
    import ctypes
    for name in dir(_abi):
        kind = getattr(_abi, name)
        if isinstance(kind, type) and issubclass(kind, ctypes.Structure) and kind is not ctypes.Structure:
            if has_functions(kind):
                continue
            assert _arrays.dtype_of(kind).itemsize == ctypes.sizeof(kind), name


# ---- Poses

def random_rotations(count, seed=1):
    q = np.random.default_rng(seed).normal(size=(count, 4))
    q /= np.linalg.norm(q, axis=1)[:, None]
    return q


def test_matrices_become_the_poses_of_the_library():
    """Bit for bit: a batch of matrices must give the answers that each alone gives."""
    q = random_rotations(2000)
    q[0], q[1], q[2], q[3] = (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1)
    matrices = np.array([pose.matrix([*np.arange(3.0) * i, *r]) for i, r in enumerate(q)])
    ours = _arrays.poses(matrices)
    assert ours.batch and len(ours) == len(q)
    for row, matrix in zip(ours.packed(), matrices):
        theirs = pose.from_matrix(matrix)
        assert row.tobytes() == theirs[[3, 4, 5, 6, 0, 1, 2]].tobytes()
        assert row.tobytes() == _arrays.one_pose(matrix).tobytes() == _arrays.one_pose(matrix[:3]).tobytes()
    long = np.tile(matrices, (5, 1, 1))  # of several blocks
    assert _arrays.poses(long).packed().tobytes() == 5 * ours.packed().tobytes()
    assert _arrays.poses(long[:, :3]).packed().tobytes() == 5 * ours.packed().tobytes()
    assert _arrays.poses(np.asfortranarray(long)).packed().tobytes() == 5 * ours.packed().tobytes()
    assert _arrays.poses(matrices[:0]).packed().shape == (0, 7)
    rows = np.zeros((3, 7))
    _arrays.poses(matrices[7:8]).store(rows)  # one serves all
    assert (rows == ours.packed()[7]).all() and (_arrays.poses(matrices).one(7) == pose.from_matrix(matrices[7])).all()


def test_matrices_whose_largest_are_equal():
    """Turns by a right angle and a third about the axes and diagonals: the first of equal ones is taken, as in C."""
    signs = np.array(np.meshgrid(*[[-1, 0, 1]] * 4)).reshape(4, -1).T
    matrices = [np.rint(pose.matrix([0, 0, 0, *q])) for q in signs if q.any()]
    turns = np.array([m for m in matrices if abs(np.linalg.det(m) - 1) < 0.5 and (np.abs(m[:3, :3]).sum(axis=1) == 1).all()])
    assert len(np.unique(turns, axis=0)) == 24
    for row, matrix in zip(_arrays.poses(turns).packed(), turns):
        wanted = pose.from_matrix(matrix)[[3, 4, 5, 6, 0, 1, 2]].tobytes()
        assert row.tobytes() == wanted == _arrays.one_pose(matrix).tobytes()


@pytest.mark.parametrize("row, column, value, message", [
    (3, 0, 1.0, "last row"), (3, 3, np.nan, "last row"), (0, 3, np.nan, "finite"), (1, 1, np.inf, "finite"),
    (1, 1, 1e200, "scales"), (0, 0, 1 + 1e-6, "scales"), (0, 1, 2e-6, "shears"), (0, 0, -1.0, "reflects")])
def test_one_wrong_matrix_among_many(row, column, value, message):
    matrices = np.tile(np.eye(4), (9000, 1, 1))
    matrices[8500, row, column] = value
    for given in (matrices, matrices[8500]):
        with pytest.raises(ValueError, match=message) as error:
            _arrays.poses(given).packed()
        assert "pose " not in str(error.value) or ("pose 8500 " if given is matrices else "pose 0 ") in str(error.value)
    matrices[8500] = np.eye(4)
    matrices[8500, 0, 0] = 1 + 4e-7  # within what the library takes
    assert _arrays.poses(matrices).packed()[8500].tolist() == _arrays.one_pose(matrices[8500]).tolist()


def test_poses_in_all_forms():
    torus = carom.Soup(carom.Mesh.shape("torus"), rigid=True)
    seven = [2.5, 0.1, 0.2, *random_rotations(1)[0]]
    matrix = pose.matrix(seven)
    answers = [torus.distance(torus, given).distance for given in (matrix, matrix[:3])]
    answers += list(torus.distance(torus, np.array([matrix, matrix])).distance)
    assert len(set(answers)) == 1
    assert abs(answers[0] - torus.distance(torus, seven).distance) < 1e-12
    assert torus.distance(torus, [5, 0, 0]).distance == torus.distance(torus, [5, 0, 0, 1, 0, 0, 0]).distance
    assert torus.distance(torus, [[5, 0, 0, 1, 0, 0, 0]]).distance.shape == (1,)
    # both move, or only the first
    both = torus.distance(torus, seven, pose_a=[1, 0, 0]).distance
    assert torus.distance(torus, [seven], pose_a=[1, 0, 0]).distance[0] == both
    assert torus.distance(torus, [seven, seven], pose_a=[[1, 0, 0, 1, 0, 0, 0]] * 2).distance.tolist() == [both] * 2


@pytest.mark.parametrize("wrong, message", [
    (np.zeros((4, 4)), "last row"), (2 * np.eye(4) - np.diag([0, 0, 0, 1]), "scales"), (np.zeros(5), "tx ty tz"),
    (np.diag([1.0, 1, -1, 1]), "reflects"), (np.full((4, 4), np.nan), "last row|finite"), (np.zeros((2, 2, 7)), "give"),
    ("pose", "real numbers"), (np.full(7, np.nan), "finite"), ([0, 0, np.inf], "finite")])
def test_wrong_poses(wrong, message):
    torus = carom.Soup(carom.Mesh.shape("torus"))
    with pytest.raises((ValueError, TypeError), match=message):
        torus.distance(torus, wrong)


# ---- Meshes of others, known by their attributes

class Bag:
    def __init__(self, **attributes):
        self.__dict__.update(attributes)


class Tensor:
    def __init__(self, values):
        self.values = values

    def numpy(self):
        return self.values


def test_meshes_of_other_libraries():
    mesh = carom.Mesh.shape("box")
    v, f = np.array(mesh.vertices), np.array(mesh.faces).astype(np.int64)
    quads = carom.Mesh.shape("box", polygons=True)
    q = quads.corners.reshape(-1, 4)
    vtk = np.column_stack((np.full(len(f), 3), f)).reshape(-1)
    mixed = np.concatenate(([4], q[0], *[[3, *t] for t in quads.triangulate()[0].faces[2:]]))
    others = [
        Bag(vertices=v, faces=f),                                                       # trimesh
        Bag(vertices=v, triangles=f.astype(np.int32)),                                  # open3d
        Bag(vertex={"positions": Tensor(v.astype(np.float32))}, triangle={"indices": Tensor(f)}),  # its tensors
        Bag(points=v, cells=[Bag(type="vertex", data=[[0]]), Bag(type="triangle", data=f)]),     # meshio
        Bag(points=v, cells=[("triangle", f)]),
        Bag(points=np.array(quads.vertices), cells=[Bag(type="quad", data=q[:1]),
                                                      Bag(type="triangle", data=quads.triangulate()[0].faces[2:])]),
        Bag(points=v, faces=vtk),                                                       # pyvista
        Bag(points=np.array(quads.vertices), faces=mixed),
        (v, f), (v.tolist(), f.tolist()), mesh,
    ]
    for other in others:
        report = carom.info(other)
        assert report.closed and report.volume == 8.0
        assert carom.overlap(other, mesh, [1, 0, 0]).volume == pytest.approx(4.0)
    with pytest.raises(ValueError, match="tetra"):
        carom.info(Bag(points=v, cells=[("tetra", [[0, 1, 2, 3]])]))
    with pytest.raises(ValueError, match="ends within a face"):
        carom.info(Bag(points=v, faces=np.array([3, 0, 1, 2, 4, 0])))


def test_what_newcomers_give():
    """Shapes and kinds that are near to the right ones are taken, or the message says what to write."""
    box = carom.Mesh.shape("box")
    v, f = np.array(box.vertices), np.array(box.faces)
    assert carom.info([v, f]).closed and carom.info((v.tolist(), f.tolist())).closed
    soup = carom.Soup(np.ma.array(v), f)
    assert soup.signed_distances([0, 0, 0]).tolist() == [-1.0] and len(soup.closest_points([0, 0, 3])) == 1
    hidden = np.ma.array(v, mask=np.arange(24).reshape(8, 3) == 5)
    for call, message in (
            (lambda: carom.Soup(hidden, f), "masked in places"),
            (lambda: carom.Soup(v, f.ravel()), r"give \(n, k\), such as by .reshape\(-1, 3\)"),
            (lambda: soup.gaps([0, 1]), r"give \(n, 2\), such as by .reshape\(-1, 2\)"),
            (lambda: carom.Soup(v), "without faces; give both"),
            (lambda: carom.Soup(v[f]), r"np.arange\(36\).reshape\(-1, 3\)"),
            (lambda: soup.meet(soup, v), r"pose has the shape \(8, 3\)"),
            (lambda: box.part(1), "there is no part 1; the mesh has 1"),
            (lambda: box.part("lid"), "0 parts have the name 'lid'"),
            (lambda: box.part(-1), "negative")):
        with pytest.raises((TypeError, ValueError), match=message):
            call()
    corners = v[f].reshape(-1, 3)  # as the message says
    assert carom.Soup(corners, np.arange(36).reshape(-1, 3)).triangle_count == 12


def test_cells_of_older_meshio():
    class Cells:
        points, cells = V, {"triangle": F, "line": np.zeros((1, 2), int)}

    assert (carom.self_pairs(Cells()) == PAIRS).all()


def test_contains():
    box = carom.Soup(carom.Mesh.shape("box"))
    points = np.random.default_rng(3).uniform(-1.5, 1.5, (1000, 3))
    assert (box.contains(points) == (np.abs(points) <= 1).all(axis=1)).all()
    assert box.contains([1, 1, 1]).tolist() == [True]
