# SPDX-License-Identifier: MIT
"""Clash lists, paths, and what the tool makes: against the tool's own answers and by arithmetic."""
import json
import os

import numpy as np
import pytest

import carom
from carom import tool


def boxes():
    box, grid = carom.Mesh.shape("box"), carom.Mesh.shape("grid")
    parts = [(box.vertices + [x, 0, 0], box.faces) for x in (0, 1.5, 3.75, 9)]
    return parts + [(grid.vertices + [0, 0, 0.25], grid.faces), (0.25 * box.vertices + [9, 0, 0], box.faces)]


@pytest.fixture(scope="module")
def has_tool():
    try:
        tool.find()
    except carom.UnsupportedError:
        pytest.skip("the tool is not built")


def test_clashes_are_those_of_the_tool(tmp_path, has_tool):
    parts, path = boxes(), str(tmp_path / "report.json")
    tool.report(parts, path, 0.5, names=list("abcdef"))
    with open(path) as file:
        told = json.load(file)
    names = [part["name"] for part in told["objects"]]
    assert names == list("abcdef")
    theirs = {(c["a"], c["b"]): c for c in told["clashes"]}
    ours = {(c.a, c.b): c for c in carom.clashes(parts, 0.5)}
    if isinstance(told["clashes"][0]["a"], str):
        ours = {(names[a], names[b]): c for (a, b), c in ours.items()}
    assert set(ours) == set(theirs)
    for pair, clash in ours.items():
        assert clash.triangle_pairs == theirs[pair]["triangle_pairs"]
        assert clash.depth == pytest.approx(theirs[pair]["depth"] or 0.0, rel=1e-9)
        assert clash.volume == pytest.approx(theirs[pair]["volume"] or 0.0, rel=1e-9)


def test_tolerances_are_a_margin():
    box = carom.Mesh.shape("box")
    poses = [None, [2.25, 0, 0]]  # 0.25 apart
    assert not carom.clashes([box, box], 0.2, poses=poses)
    found = carom.clashes([box, box], 0.2, poses=poses, tolerances=[0.05, 0.0])
    assert [(c.relation, c.within_tolerance) for c in found] == [(carom.Relation.APART, False)]
    found = carom.clashes([box, box], poses=poses, tolerances=0.125)
    assert [c.within_tolerance for c in found] == [True]
    found = carom.clashes([box, box], poses=[None, [1.9, 0, 0]], tolerances=0.125)
    assert [(c.relation, c.within_tolerance) for c in found] == [(carom.Relation.OVERLAPPING, True)]
    small = carom.Mesh.shape("box", size=0.001)
    assert [c.within_tolerance for c in carom.clashes([box, small], tolerances=9.0)] == [False]  # inside stays inside
    assert not carom.clashes([]) and not carom.clashes([box])
    for bad in (-1.0, np.nan, np.inf):
        with pytest.raises(ValueError):
            carom.clashes([box, box], tolerances=bad)
        with pytest.raises(ValueError):
            carom.clashes([box, box], bad)


def test_parts_are_solids_where_they_can_be():
    box = carom.Mesh.shape("box")
    assert isinstance(carom.solid_or_soup(box), carom.Solid)
    assert isinstance(carom.solid_or_soup((box.vertices, box.faces[:-1])), carom.Soup)
    with pytest.raises(carom.BadInputError):
        carom.solid_or_soup(([[np.nan, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]]))


def test_a_path_meets_where_arithmetic_says():
    box = carom.Mesh.shape("box")
    far = (box.vertices + [0, 50, 0], box.faces)
    line = [[x, 0, 0, 1, 0, 0, 0] for x in np.linspace(6, 0, 7)]
    found = carom.along_path(box, [far, box], line)
    assert found.other == 1 and found.position == pytest.approx(4, abs=1e-4) and found.position <= 4
    assert found.volumes == pytest.approx([0, 0, 0, 0, 0, 4, 8])
    found = carom.along_path(box, [far, box], line, clearance=0.25, tolerances=[0.125, 0, 0.125])
    assert found.position == pytest.approx(3.5, abs=1e-4)
    assert carom.along_path(box, [far], line)[:3] == (None, None, None)
    # inside from the start, although no faces meet
    small = carom.Mesh.shape("box", size=0.1)
    assert carom.along_path(small, [box], line[-1:])[:2] == (0.0, 0)
    # a turn about a hinge: an arm from (0, 0) to (4, 0), and a wall whose face is at 45 degrees
    arm = (box.vertices * [2, 0.1, 0.1] + [2, 0, 0], box.faces)
    half = np.deg2rad(np.linspace(0, 90, 10)) / 2
    turn = np.column_stack([np.zeros((10, 3)), np.cos(half), np.zeros((10, 2)), np.sin(half)])
    wall = carom.pose.apply(carom.pose.from_axis_angle([0, 0, 1], np.deg2rad(45)), box.vertices * [1, 1, 1] + [3, 1, 0])
    found = carom.along_path(arm, [(wall, box.faces)], turn, centre=[0, 0, 0])
    # the arm's upper side is 0.1 above its axis: it meets the wall's near edge, at radius 2, or its far one, at 4
    assert 4 < found.position < 5 and found.other == 0
    angle = np.deg2rad(10 * found.position)
    corner = [4 * np.cos(angle) - 0.1 * np.sin(angle), 4 * np.sin(angle) + 0.1 * np.cos(angle), 0.0]
    rest = carom.Soup(wall, box.faces).closest_points([corner]).distance[0]
    near = carom.Soup(wall, box.faces).closest_points([[2 * np.cos(angle) - 0.1 * np.sin(angle),
                                                        2 * np.sin(angle) + 0.1 * np.cos(angle), 0.0]]).distance[0]
    assert min(rest, near) < 0.01
    for bad in (None, [0, 0, 0], np.zeros((0, 7))):
        with pytest.raises(ValueError):
            carom.along_path(box, [box], bad)


def test_polygons_and_joined_meshes():
    pyramid = carom.Mesh.from_polygons([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0.5, 0.5, 1]],
                                       [3, 2, 1, 0, 0, 1, 4, 1, 2, 4, 2, 3, 4, 3, 0, 4], [0, 4, 7, 10, 13, 16])
    assert pyramid.inspect().closed and pyramid.inspect().volume == pytest.approx(1 / 3)
    assert (carom.Mesh.from_polygons(pyramid.vertices, pyramid.corners, pyramid.offsets).corners == pyramid.corners).all()
    for corners, offsets in (([0, 1, 2], []), ([0, 1, 2], [1, 3]), ([0, 1, 2], [0, 4]), ([0, 1, 2], [0, 5, 3]),
                             ([0, 1, 2], [[0, 3]]), ([0, 1, 2], [0.0, 3.0])):
        with pytest.raises(ValueError):
            carom.Mesh.from_polygons(pyramid.vertices, corners, offsets)
    with pytest.raises(carom.BadInputError):
        carom.Mesh.from_polygons(pyramid.vertices, [0, 1, 9], [0, 3])
    two = carom.Mesh.join([pyramid, carom.Mesh.shape("box")])
    assert two.part_names == ["part 0", "part 1"] and two.face_count == 6 + 12
    with pytest.raises(ValueError):
        carom.Mesh.join([])


def test_the_surface_of_an_overlap(has_tool):
    ball, box = carom.Mesh.shape("sphere"), carom.Mesh.shape("box")
    pose = carom.pose.compose([0.5, 1, 0.25], carom.pose.from_axis_angle([1, 2, 3], 0.5))
    triangles, curve = tool.overlap_region(ball, box, pose)
    shared = carom.overlap(ball, box, pose)
    x, y, z = triangles.astype(float).transpose(1, 0, 2)
    assert (x * np.cross(y, z)).sum() / 6 == pytest.approx(shared.volume, rel=1e-5)
    assert np.linalg.norm(np.cross(y - x, z - x), axis=1).sum() / 2 == pytest.approx(shared.area, rel=1e-5)
    assert carom.Soup(ball).closest_points(curve.reshape(-1, 3)).distance.max() < 1e-6
    triangles, curve = tool.overlap_region(ball, box, [9, 0, 0])
    assert triangles.shape == (0, 3, 3) and curve.shape == (0, 2, 3)


def test_what_the_tool_refuses_is_raised(tmp_path, monkeypatch, has_tool):
    grid = carom.Mesh.shape("grid")
    with pytest.raises(carom.CaromError, match="not closed"):
        tool.overlap_region(grid, grid)
    with pytest.raises(carom.CaromError, match="no/such"):
        tool.report(boxes(), str(tmp_path / "no" / "such" / "page.html"))
    with pytest.raises(ValueError):
        tool.report([], str(tmp_path / "page.html"))
    calls = []
    with pytest.raises(carom.Cancelled):
        context = carom.Context(progress=lambda what, _: calls.append(what) or what == "carom scene")
        tool.report(boxes(), str(tmp_path / "page.html"), context=context)
    assert "carom scene" in calls and not os.path.exists(tmp_path / "page.html")
    monkeypatch.setenv("CAROM_TOOL", str(tmp_path / "nothing"))
    with pytest.raises(carom.UnsupportedError, match="CAROM_TOOL"):
        tool.find()
