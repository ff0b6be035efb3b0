# SPDX-License-Identifier: MIT
"""Which engine to take for two solids."""
from __future__ import annotations

from typing import Optional

from . import _abi
from ._arrays import number
from ._core import Context, _count, byref, lib, pick
from ._records import Advice, read


def advise(*, triangles_a: int = 0, triangles_b: int = 0, spheres_a: int = 0, spheres_b: int = 0, spheres_to_pack: int = 0,
           queries: int = 0, time_budget: float = 0.0, error: float = 0.0, distance: bool = False, steady: bool = False,
           context: Optional[Context] = None) -> Advice:
    """Which of Solid, Tree and Balls to take for the overlap or the distance of two solids, by their sizes. Experimental:
    it may change.

    >>> import carom
    >>> str(carom.advise(triangles_a=1000, triangles_b=1000).engine)    # there are no packings
    'solid'
    >>> str(carom.advise(spheres_a=20000, spheres_b=20000, distance=True).engine)
    'tree'

    triangles_a, triangles_b: of closed meshes; 0 is that there is none.
    spheres_a, spheres_b: of packings, of which spheres_to_pack are yet to be packed.
    queries: how often these two are compared; 0 is so often that the time to prepare them does not count.
    time_budget: seconds that a query may take; 0 is any.
    error: of the volume, relative, that is accepted on average; 0 is any.
    distance: distances are wanted, too.
    steady: the time should not depend on the pose.
    """
    definition = _abi.query_def(
        triangles_a=_count(triangles_a, "triangles_a"), triangles_b=_count(triangles_b, "triangles_b"),
        spheres_a=_count(spheres_a, "spheres_a"), spheres_b=_count(spheres_b, "spheres_b"),
        spheres_to_pack=_count(spheres_to_pack, "spheres_to_pack"), queries=_count(queries, "queries"),
        time_budget=number(time_budget, "time_budget"), error=number(error, "error"), distance=bool(distance),
        steady=bool(steady))
    found = _abi.query_advice()
    pick(context)._call(lib.carom_query_advise, byref(definition), byref(found))
    return read(Advice, found)
