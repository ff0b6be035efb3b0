# SPDX-License-Identifier: MIT
"""What pyproject.toml cannot say: the version is that of the headers, and the tag that of the library.

The wheel holds a library but no extension module: it fits every Python 3 of its platform."""
import os
import re

from setuptools import Distribution, setup
from wheel.bdist_wheel import bdist_wheel

HERE = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(HERE, "carom", "_abi.py"), encoding="utf-8") as file:
    VERSION = re.search(r"^VERSION = '([^']*)'$", file.read(), re.M).group(1)


class WithLibrary(Distribution):
    def has_ext_modules(self):
        return True


class Wheel(bdist_wheel):
    def get_tag(self):
        return "py3", "none", os.environ.get("CAROM_WHEEL_PLATFORM") or super().get_tag()[2]


setup(version=VERSION, distclass=WithLibrary, cmdclass={"bdist_wheel": Wheel})
