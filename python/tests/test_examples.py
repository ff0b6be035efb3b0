# SPDX-License-Identifier: MIT
"""Every example runs and prints; so do those of docs/python.md."""
import doctest
import glob
import os
import re
import runpy

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
