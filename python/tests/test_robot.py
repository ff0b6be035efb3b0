# SPDX-License-Identifier: MIT
"""Robots: verdicts, clearance and motions agree with each other, and with a planar arm computed here."""
import numpy as np
import pytest

import carom

BOOM = {"kind": "capsule", "radius": 0.05, "half_height": 0.5, "pose": (0.5, 0, 0, np.sqrt(0.5), 0, np.sqrt(0.5), 0)}


def arm():
    """Two booms of length 1 that turn about z, one after the other."""
    turns = {"kind": "revolute", "axis": (0, 0, 1), "lower": -3, "upper": 3}
    robot = carom.Robot([[], [BOOM], [BOOM]], [
        {**turns, "parent": 0, "child": 1}, {**turns, "parent": 1, "child": 2, "origin": (1, 0, 0)}], spheres=12)
    return robot


def test_verdicts_are_those_of_segments_in_the_plane():
    robot, random = arm(), np.random.default_rng(1)
    robot.add_objects([{"kind": "sphere", "radius": 0.3, "pose": (1.0, 1.0, 0.0)}])
    q = random.uniform(-3, 3, (500, 2))
    elbow = np.stack([np.cos(q[:, 0]), np.sin(q[:, 0])], 1)
    hand = elbow + np.stack([np.cos(q.sum(1)), np.sin(q.sum(1))], 1)
    gaps = []
    for start, end in ((np.zeros_like(elbow), elbow), (elbow, hand)):
        along = end - start
        t = np.clip(((np.array([1.0, 1.0]) - start) * along).sum(1), 0, 1)
        gaps.append(np.linalg.norm(start + t[:, None] * along - [1.0, 1.0], axis=1) - 0.35)
    expected = np.maximum(np.minimum(*gaps), 0.0)
    results, clearance = robot.check(q), robot.clearance(q)
    assert ((results.verdict == carom.RobotVerdict.COLLIDING) == (expected == 0)).all()
    assert (clearance.distance["lower"] <= expected + 1e-9).all()
    assert (clearance.distance["upper"] >= expected - 1e-9).all()
    covers = robot.check(q, covers_only=True)
    decided = covers.verdict != carom.RobotVerdict.OPEN
    assert decided.any() and (covers.verdict[decided] == results.verdict[decided]).all()
    poses = robot.poses(q)
    assert poses.shape == (500, 3, 7) and np.allclose(poses[:, 2, 4:6], elbow)


def test_motions_and_changes():
    robot = arm()
    ball = robot.add_objects([{"kind": "sphere", "radius": 0.3, "pose": (0.0, 1.5, 0.0)}])[0]
    motion = robot.motion([[0.0, 0.0], [0.0, 0.0]], [[2.0, 0.0], [-2.0, 0.0]], tolerance=1e-4)
    assert list(motion.verdict) == [carom.RobotVerdict.COLLIDING, carom.RobotVerdict.FREE]
    assert motion.free_until[0] <= motion.contact[0] < 1.0
    robot.set_object_allowed([[2, ball]])
    assert robot.info.pairs == 1
    robot.set_object_allowed([[2, ball]], False)
    tool = robot.attach(2, {"kind": "balls", "balls": [[1.2, 0, 0, 0.1]]})
    assert robot.info.bodies == 4 and len(robot.cover(tool)) == 1 and len(robot.inner(tool)) == 1
    robot.set_allowed([[1, tool]])
    robot.detach(tool)
    robot.set_object(ball, {"mesh": carom.Mesh.shape("box"), "pose": (5, 0, 0)})
    assert not robot.has_open_mesh(ball, object=True) and not robot.has_open_mesh(99)
    sheet = robot.add_objects([{"mesh": carom.Mesh.shape("cloth", detail=4), "pose": (9, 0, 0)}])[0]
    assert robot.has_open_mesh(sheet, object=True)
    robot.remove_object(sheet)
    assert (robot.check([[0.0, 0.0]]).verdict == carom.RobotVerdict.FREE).all()
    robot.remove_object(ball)
    assert len(robot.sample_pairs(10)) == robot.info.pairs == 0
    assert robot.limits.tolist() == [[-3, -3], [3, 3]] and "2 joint values" in repr(robot)


URDF = b"""<robot><link name='base'/><link name='arm'><collision><origin xyz='1 0 0'/><geometry><box size='1.8 0.1 0.1'/>
</geometry></collision></link><link name='tip'><collision><geometry><mesh filename='%s'/></geometry></collision></link>
<joint name='j' type='continuous'><parent link='base'/><child link='arm'/><axis xyz='0 0 1'/></joint>
<joint name='f' type='fixed'><origin xyz='3 0 0'/><parent link='arm'/><child link='tip'/></joint></robot>"""


def test_urdf(tmp_path):
    box = carom.Mesh.shape("box")
    box.save(tmp_path / "box.stl")
    (tmp_path / "r.urdf").write_bytes(URDF % b"box.stl")
    (tmp_path / "r.srdf").write_bytes(b"<robot><disable_collisions link1='arm' link2='tip'/></robot>")
    urdf = carom.Urdf.load(tmp_path / "r.urdf", srdf=tmp_path / "r.srdf", joints={"j": 0.5})
    assert urdf.links == ["base", "arm", "tip"] and urdf.joints == ["j", "f"]
    assert urdf.mesh(0) is None and urdf.mesh(1).face_count == 12
    with pytest.raises(IndexError):
        urdf.mesh(2)
    for robot in carom.Robot.from_urdf(urdf), carom.Robot.from_urdf(tmp_path / "r.urdf", visual=False):
        assert robot.info.dof == 1 and robot.info.triangles == 24
    with pytest.raises(TypeError):
        carom.Robot.from_urdf(urdf, visual=True)
    outside = carom.Urdf.from_bytes(URDF % b"../box.stl", str(tmp_path / "r.urdf"),
                                    srdf=b"<robot/>", packages={"p": tmp_path / "p"})
    with pytest.raises(carom.BadFileError, match="leads out of the folder"):
        carom.Robot.from_urdf(outside)
    with pytest.raises(carom.BadFileError, match="robot:1: "):
        carom.Urdf.from_bytes(b"<robot>")


def test_files_and_audits(tmp_path):
    robot, q = arm(), np.random.default_rng(2).uniform(-3, 3, (50, 2))
    robot.save(tmp_path / "a.robot")
    for same in carom.Robot.load(tmp_path / "a.robot"), carom.Robot.from_bytes(robot.to_bytes(), "x"):
        assert same.to_bytes() == robot.to_bytes() and same.names == ["", "", ""]
        assert (same.check(q) == robot.check(q)).all()
    with pytest.raises(carom.BadFileError, match="its sum is wrong"):
        carom.Robot.from_bytes(robot.to_bytes()[:-1] + b"x")
    robot = carom.Robot([[], [{"kind": "box", "half": (0.9, 0.05, 0.05), "pose": (1, 0, 0)}]],
                        [{"parent": 0, "child": 1}], spheres=4)
    found = robot.audit(1, [[1.0, 0.0, 0.0, 0.5]])
    assert 0.4 < found["worst"]["lower"] <= found["worst"]["upper"] < 0.45
    assert robot.audit(1, robot.cover(1))["worst"]["lower"] == 0.0


def test_bad_robots():
    with pytest.raises(ValueError, match="known are"):
        carom.Robot([[{"size": 1}]])
    with pytest.raises(TypeError, match="give a dict"):
        carom.Robot([[3]])
    with pytest.raises(carom.BadInputError, match="joints"):
        carom.Robot([[], []])
    with pytest.raises(carom.BadInputError):
        arm().check([[np.nan, 0.0]])
