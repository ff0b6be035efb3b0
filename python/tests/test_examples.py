# SPDX-License-Identifier: MIT
"""Every example runs and prints; so do those of docs/python.md."""
import doctest
import glob
import os
import re
import runpy
import subprocess
import sys

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLES = sorted(glob.glob(os.path.join(HERE, "..", "examples", "*.py")))


def test_there_are_ten():
    assert len(EXAMPLES) == 10


@pytest.mark.parametrize("path", EXAMPLES, ids=[os.path.basename(path) for path in EXAMPLES])
def test_example(path, capsys):
    runpy.run_path(path, run_name="__main__")
    said = capsys.readouterr()
    assert len(said.out.splitlines()) >= 3 and not said.err


DOCS = os.path.join(HERE, "..", "..", "docs")


@pytest.mark.parametrize("name, least", [("python.md", 11), ("coming-from.md", 5)])
def test_the_manual(name, least):
    with open(os.path.join(DOCS, name), encoding="utf-8") as file:
        text = "\n".join(re.findall(r"```python\n(>>> .*?)```", file.read(), re.S))
    test = doctest.DocTestParser().get_doctest(text, {}, name, name, 0)
    assert len(test.examples) >= least
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    runner.run(test)
    assert runner.failures == 0


def test_the_readme():
    import carom

    with open(os.path.join(DOCS, "..", "README.md"), encoding="utf-8") as file:
        blocks = re.findall(r"```python\n(.*?)```", file.read(), re.S)
    cloth = carom.Mesh.shape("cloth", detail=10)
    assert blocks
    for block in blocks:
        exec(block, {"vertices": cloth.vertices, "faces": cloth.faces})  # pylint: disable=exec-used


def test_all_public_names_are_listed():
    """A name that is not in __all__ is private to type checkers, and is not imported by *."""
    import carom

    hidden = {"annotations", "np", "Any", "Optional", "ArrayLike", "MeshLike", "PathLike", "inspect", "viewer"}
    loaded = {"cuda", "trimesh"}  # by tests: users import them
    assert set(carom.__all__) == {name for name in dir(carom) if not name.startswith("_")} - hidden - loaded
    assert carom.__all__ == sorted(carom.__all__)


@pytest.mark.long
def test_types(tmp_path):
    """A type checker accepts the package, and a strict one what a caller writes."""
    pytest.importorskip("mypy")
    source = tmp_path / "caller.py"
    source.write_text(CALLER)
    package = os.path.join(HERE, "..", "carom")
    for arguments in ([package], ["--strict", "--follow-imports=silent", str(source)]):
        done = subprocess.run([sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path / "cache"), *arguments],
                              capture_output=True, text=True, env={**os.environ, "MYPYPATH": os.path.join(HERE, "..")})
        assert done.returncode == 0, done.stdout


CALLER = '''
import carom
from carom.trimesh import CollisionManager

box = carom.Mesh.shape("box")
count: int = carom.Soup(box).triangle_count
volume: float = carom.overlap(box, box).volume
inside: bool = carom.overlap(box, box).relation is carom.Relation.A_INSIDE_B
manager = CollisionManager()
manager.add_object("box", box)
try:
    carom.load("x.ply")
except carom.CaromError as error:
    print(error)
'''
