# SPDX-License-Identifier: MIT
"""The contract of trimesh's collision manager: names, return types and values, in all forms."""
import csv
import os

import numpy as np
import pytest

import carom
from carom.trimesh import CollisionManager, CollisionObject, ContactArrays, ContactData, DistanceData, scene_to_collision


class Trimesh:
    """A mesh as trimesh has it: int64 faces."""

    def __init__(self, mesh):
        self.vertices, self.faces = np.array(mesh.vertices), np.array(mesh.faces).astype(np.int64)


CUBE = Trimesh(carom.Mesh.shape("box", size=0.5))  # of edge 1, as everywhere below
BALL = Trimesh(carom.Mesh.shape("sphere", size=0.2))


def at(x, y=0.0, z=0.0):
    transform = np.eye(4)
    transform[:3, 3] = x, y, z
    return transform


def test_one_against_many():
    m = CollisionManager()
    m.add_object("cube0", CUBE)
    m.add_object("cube1", CUBE, at(5))
    assert m.in_collision_single(CUBE) is True
    hit, names, data = m.in_collision_single(CUBE, at(5.3), return_names=True, return_data=True)
    assert hit is True and names == {"cube1"}
    assert len(data) > 0 and all(isinstance(contact, ContactData) for contact in data)
    for contact in data:
        assert contact.names == {"cube1", "__external"}
        assert contact.point.shape == (3,) and contact.normal.shape == (3,)
        assert contact.depth == pytest.approx(0.7) and contact.volume == pytest.approx(0.7)
        assert 0 <= contact.index("cube1") < 12 and 0 <= contact.index("__external") < 12
        assert 4.5 <= contact.point[0] <= 5.9
    hit, names, data = m.in_collision_single(CUBE, at(-5), return_names=True, return_data=True)
    assert hit is False and names == set() and data == []
    assert m.in_collision_single(CUBE, at(9), return_names=True) == (False, set())
    assert m.in_collision_single(CUBE, at(9), return_data=True) == (False, [])


def test_internal():
    m = CollisionManager()
    m.add_object("cube0", CUBE)
    m.add_object("cube1", CUBE, at(5))
    assert m.in_collision_internal() is False
    m.add_object("cube2", CUBE, at(5))
    assert m.in_collision_internal(return_names=True) == (True, {("cube1", "cube2")})
    m.set_transform("cube2", at(-5))
    assert m.in_collision_internal() is False
    m.set_transform("cube2", at(5))
    hit, names, data = m.in_collision_internal(True, True)
    assert hit is True and names == {("cube1", "cube2")} and all(c.names == {"cube1", "cube2"} for c in data)
    m.remove_object("cube2")
    assert m.in_collision_internal(return_names=True, return_data=True) == (False, set(), [])
    m.add_object("cube1", CUBE, at(0.5))  # replaces
    assert m.in_collision_internal(return_data=True)[0] is True
    for call in (lambda: m.remove_object("no"), lambda: m.set_transform("no", np.eye(4)),
                 lambda: m.add_object("x", CUBE, np.eye(3)), lambda: m.set_transform("cube0", 2 * np.eye(4))):
        with pytest.raises(ValueError):
            call()
    assert CollisionManager().in_collision_internal() is False


def test_names_of_any_kind_are_sorted():
    m = CollisionManager()
    m.add_object("b", CUBE)
    m.add_object("a", CUBE)
    m.add_object(7, CUBE)
    assert m.in_collision_internal(return_names=True)[1] == {("a", "b"), (7, "a"), (7, "b")}


def test_managers_against_each_other():
    m, n = CollisionManager(), CollisionManager()
    m.add_object("cube0", CUBE)
    m.add_object("cube1", CUBE, at(5))
    n.add_object("cube0", CUBE, at(-5))
    assert m.in_collision_other(n) is False
    n.add_object("cube3", CUBE, at(5))
    assert m.in_collision_other(n) is True
    hit, names, data = m.in_collision_other(n, return_names=True, return_data=True)
    assert hit is True and names == {("cube1", "cube3")}
    assert all(contact.index("cube3") < 12 for contact in data)
    assert n.in_collision_other(m, return_names=True)[1] == {("cube3", "cube1")}
    assert m.in_collision_other(CollisionManager(), True, True) == (False, set(), [])


def test_distances():
    m = CollisionManager()
    assert m.min_distance_internal() == float("inf")
    m.add_object("cube1", CUBE, at(5))
    assert m.min_distance_single(CUBE) == pytest.approx(4.0)
    assert isinstance(m.min_distance_single(CUBE), float)
    assert m.min_distance_single(CUBE, at(5.75)) == pytest.approx(-0.25)
    assert m.min_distance_single(CUBE, at(6.0)) == 0.0
    distance, name = m.min_distance_single(CUBE, return_name=True)
    assert (distance, name) == (4.0, "cube1")
    m.add_object("cube2", CUBE, at(-5))
    assert m.min_distance_single(CUBE, at(2), return_name=True) == (pytest.approx(2.0), "cube1")
    assert m.min_distance_single(CUBE, at(-2), return_name=True) == (pytest.approx(2.0), "cube2")
    assert m.min_distance_internal(return_names=True) == (pytest.approx(9.0), ("cube1", "cube2"))
    m.add_object("cube3", CUBE, at(2))
    assert m.min_distance_internal(return_names=True) == (pytest.approx(2.0), ("cube1", "cube3"))
    m.set_transform("cube3", at(-2))
    distance, names, data = m.min_distance_internal(return_names=True, return_data=True)
    assert distance == pytest.approx(2.0) and names == ("cube2", "cube3")
    assert isinstance(data, DistanceData) and data.names == set(names) and data.distance == distance
    assert np.linalg.norm(data.point("cube2") - data.point("cube3")) == pytest.approx(2.0)
    assert 0 <= data.index("cube2") < 12
    n = CollisionManager()
    n.add_object("cube4", CUBE, at(0, 5))
    distance, names, data = m.min_distance_other(n, return_names=True, return_data=True)
    assert names[0] in ("cube2", "cube3") and names[1] == "cube4"
    assert np.linalg.norm(data.point(names[0]) - data.point(names[1])) == pytest.approx(distance)
    distance, data = m.min_distance_single(CUBE, return_data=True)
    assert data.names == {"cube3", "__external"}


def test_distances_against_all_pairs():
    rng = np.random.default_rng(5)
    m, n = CollisionManager(), CollisionManager()
    torus = CollisionObject(carom.Mesh.shape("torus", size=0.3))
    posed = {}
    for i in range(14):
        pose = carom.pose.matrix([*rng.uniform(0, 4, 3), *rng.normal(size=4)])
        posed[i] = pose
        (m if i % 2 else n).add_object(i, torus if i % 3 else BALL, pose)
    brute = min((CollisionManagerPair(torus, posed, i, k), i, k) for i in posed for k in posed
                if i % 2 == 0 and k % 2 == 1)
    assert n.min_distance_other(m) == pytest.approx(brute[0], abs=1e-6)


def CollisionManagerPair(torus, posed, i, k):
    """The distance of two alone."""
    one = CollisionManager()
    one.add_object("a", torus if i % 3 else BALL, posed[i])
    return one.min_distance_single(torus if k % 3 else BALL, posed[k])


def test_a_ball_inside_a_box_collides():
    m = CollisionManager()
    m.add_object("box", CUBE)
    assert m.in_collision_single(BALL) is True
    hit, names, data = m.in_collision_single(BALL, return_names=True, return_data=True)
    assert names == {"box"} and len(data) == 1
    assert data[0].depth >= 0.2 and data[0].volume == pytest.approx(carom.Solid(BALL).volume)
    assert m.min_distance_single(BALL) < 0
    surfaces = CollisionManager(solid=False)
    surfaces.add_object("box", CUBE)
    assert surfaces.in_collision_single(BALL) is False  # as FCL has it
    assert surfaces.min_distance_single(BALL) == pytest.approx(0.3, abs=0.01)


def test_arrays():
    m = CollisionManager(arrays=True)
    m.add_object("a", CUBE)
    m.add_object("b", CUBE, at(0.3, 0.2, 0.1))
    m.add_object("c", BALL)
    hit, found = m.in_collision_internal(return_data=True)
    listed = m.in_collision_internal(return_data=True, arrays=False)[1]
    assert isinstance(found, ContactArrays) and len(found.faces) == len(listed) == len(found.points)
    for i, contact in enumerate(listed):
        names = [found.names[k] for k in found.objects[i]]
        assert set(names) == contact.names and contact.index(names[0]) == found.faces[i, 0]
        assert contact.depth == found.depths[i] and (contact.point == found.points[i]).all()
    assert found.volumes.max() == pytest.approx(0.7 * 0.8 * 0.9)


def test_scenes_of_trimesh():
    class Graph(dict):
        nodes_geometry = ["n0", "n1"]

    class Scene:
        graph = Graph(n0=(np.eye(4), "cube"), n1=(at(0.9), "cube"))
        geometry = {"cube": CUBE}

    manager, objects = scene_to_collision(Scene())
    assert manager.in_collision_internal() and set(objects) == {"n0", "n1"}
    assert manager.in_collision_single(objects["n0"], at(9)) is False  # prepared objects are meshes, too


def parts_of(path):
    mesh = carom.load(path)
    for part in range(len(mesh.part_names)):
        vertices, faces = mesh.part(part)
        if len(faces):
            yield part, vertices, faces


def clash_table(shared, name):
    with open(os.path.join(shared, "truth", f"clash_{name}.csv"), newline="") as file:
        return {(int(r["part_a"]), int(r["part_b"])): int(r["triangle_pairs"]) for r in csv.DictReader(file)}


def check_clashes(shared, name):
    table = clash_table(shared, name)
    surfaces, solids = CollisionManager(solid=False, arrays=True), CollisionManager()
    for part, vertices, faces in parts_of(os.path.join(shared, "scenes", name + ".ply.gz")):
        used, compact = np.unique(faces, return_inverse=True)
        mesh = (vertices[used], compact.reshape(-1, 3))
        surfaces.add_object(part, mesh)
        solids.add_object(part, mesh)
    hit, names, data = surfaces.in_collision_internal(return_names=True, return_data=True)
    assert hit and names == set(table)
    counts = {}
    for a, b in np.array(data.names)[data.objects]:
        counts[a, b] = counts.get((a, b), 0) + 1
    assert counts == table
    assert set(table) <= solids.in_collision_internal(return_names=True)[1]
    return len(table)


def test_hand_bones(shared):
    assert check_clashes(shared, "hand_bones_parts") > 0


@pytest.mark.long
@pytest.mark.parametrize("name", ["buggy_474k_parts", "2CylinderEngine_parts", "leg_muscle_parts", "panda_robot_parts"])
def test_clash_tables(shared, name):
    count = check_clashes(shared, name)
    assert name != "buggy_474k_parts" or count == 401
