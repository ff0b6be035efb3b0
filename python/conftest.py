# SPDX-License-Identifier: MIT
"""Tests of the checkout: the library is that of build/, unless CAROM_LIBRARY names another one; no files are left among
the sources."""
import os
import sys

import pytest

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
os.environ.setdefault("CAROM_LIBRARY", os.path.join(HERE, "..", "build", "lib", "libcarom.so"))
sys.path.insert(0, HERE)

LONG = os.environ.get("CAROM_LONG") == "1"


def pytest_configure(config):
    config.addinivalue_line("markers", "long: takes minutes; only with CAROM_LONG=1, as in make test-all")


def pytest_collection_modifyitems(items):
    if LONG:
        return
    for item in items:
        if "long" in item.keywords:
            item.add_marker(pytest.mark.skip(reason="long: set CAROM_LONG=1"))


def pytest_terminal_summary(terminalreporter):
    """Lines that scripts/test.sh counts."""
    for word, key in (("PASSED", "passed"), ("FAILED", "failed"), ("SKIPPED", "skipped")):
        count = len(terminalreporter.stats.get(key, []))
        if count:
            terminalreporter.write_line(f"[  {word:7} ] {count} test(s)." if word == "SKIPPED" else
                                        f"[  {word}  ] {count} test(s).")


@pytest.fixture(scope="session")
def shared():
    """The folder with models that are not part of the project, or a skipped test."""
    path = os.path.join(HERE, "..", "..", "shared", "models")
    if not os.path.isdir(path):
        pytest.skip("../shared is not there")
    return path
