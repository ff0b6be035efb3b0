# SPDX-License-Identifier: MIT
"""Single answers as named tuples, with the names of the C structs' fields. Arrays of answers are numpy records with the
same names."""
from __future__ import annotations

import ctypes
import typing
from typing import Any, Callable, NamedTuple, Optional

import numpy as np

from . import _abi
from ._abi import BroadMethod, GasMethod, GasQueue, PackingMethod, QueryEngine, Relation, TreeMethod, TriangleRelation
from ._abi import SoupImpactKind, MeshFormat, GasEventKind, RepairOutcome


class Interval(NamedTuple):
    """A number that is known within limits: lower <= the true number <= upper, proved. `value` is the best estimate."""

    lower: float
    value: float
    upper: float


class Gap(NamedTuple):
    """How far apart two soups are, and where."""

    distance: float
    face_a: Optional[int]
    face_b: Optional[int]
    point_a: np.ndarray
    point_b: np.ndarray


class Overlap(NamedTuple):
    """What two solids have in common; force and torque are on b."""

    relation: Relation
    volume: float
    volume_error: float
    centroid: np.ndarray
    area: float
    force: np.ndarray
    torque: np.ndarray
    one_sided: bool
    by_winding: bool
    has_distance: bool
    distance: float
    point_a: np.ndarray
    point_b: np.ndarray
    pairs: int
    centroid_error: float
    area_error: float
    force_error: float
    torque_error: float


class PackingOverlap(NamedTuple):
    """What engines say of two packings; the limits of the volume are proved."""

    relation: Relation
    volume: Interval
    centroid: np.ndarray
    force: np.ndarray
    torque: np.ndarray
    pivot: np.ndarray
    direction_2009: np.ndarray
    pairs: int
    inner_pairs: int
    flagged_a: int
    flagged_b: int
    partial: bool


class TreeGap(NamedTuple):
    """How far apart two packed solids are."""

    distance: Interval
    point_a: np.ndarray
    point_b: np.ndarray
    sphere_a: Optional[int]
    sphere_b: Optional[int]
    partial: bool
    face_a: Optional[int]
    face_b: Optional[int]


class TreeAnswer(NamedTuple):
    """The overlap of two packed solids and, where they may be apart, their distance."""

    overlap: PackingOverlap
    has_gap: bool
    gap: TreeGap


class ConvexAnswer(NamedTuple):
    """How two convex shapes lie to each other."""

    relation: Relation
    distance: float
    depth: float
    error: float
    normal: np.ndarray
    point_a: np.ndarray
    point_b: np.ndarray
    iterations: int
    supports: int


class Manifold(NamedTuple):
    """The contact points of two convex shapes: records with point_a, point_b, depth, feature_a and feature_b."""

    result: ConvexAnswer
    points: np.ndarray


class Advance(NamedTuple):
    """When two moving things first come near."""

    hit: bool
    time: float
    distance: float
    face_a: Optional[int]
    face_b: Optional[int]
    normal: np.ndarray
    point_a: np.ndarray
    point_b: np.ndarray
    steps: int


class Toi(NamedTuple):
    """When two things first meet."""

    hit: bool
    time: Interval


class Impact(NamedTuple):
    """Two things of deforming soups that meet on their way."""

    kind: SoupImpactKind
    face_a: Optional[int]
    face_b: Optional[int]
    a: np.ndarray
    b: np.ndarray
    time: Interval


class NearPair(NamedTuple):
    """Two things of soups that are near each other; a and b are vertices, filled up with carom.NONE."""

    kind: SoupImpactKind
    face_a: Optional[int]
    face_b: Optional[int]
    a: np.ndarray
    b: np.ndarray
    distance: Interval


class SafeStep(NamedTuple):
    """How far all vertices may move towards their end positions: to start + time (end - start). `limit` is what comes
    near then, None where nothing does."""

    time: float
    limit: Optional[NearPair]


class Advice(NamedTuple):
    """Which engine to take for two solids, and why. Seconds are those of a query; infinite is not possible."""

    engine: QueryEngine
    reason: str
    solid_seconds: float
    tree_seconds: float
    balls_seconds: float
    tree_error: float


class Report(NamedTuple):
    """What a mesh is like."""

    vertices: int
    faces: int
    triangles: int
    unused_vertices: int
    edges: int
    open_edges: int
    nonmanifold_edges: int
    inconsistent_edges: int
    shells: int
    duplicate_faces: int
    degenerate_faces: int
    degenerate_triangles: int
    closed: bool
    balanced: bool
    oriented: bool
    volume: float
    area: float
    bounds: np.ndarray
    first_open_edge: np.ndarray
    first_nonmanifold_edge: np.ndarray
    first_inconsistent_edge: np.ndarray
    first_degenerate_face: Optional[int]
    first_duplicate_face: Optional[int]


class Origin(NamedTuple):
    """Where a loaded mesh came from."""

    format: MeshFormat
    compressed: bool
    skipped_faces: int
    metres: float


class SoupInfo(NamedTuple):
    """What a soup consists of."""

    faces: int
    live: int
    triangles: int
    degenerate_faces: int
    bytes: int


class Repair(NamedTuple):
    """What closing the holes of a mesh did. `outcomes` are those of `boundary_loops`: filled, or why a loop was left."""

    loops: int
    filled: int
    left: int
    triangles: int
    new_pairs: int
    open_edges: int
    boundary_loops: list[np.ndarray]
    outcomes: list[RepairOutcome]


class PartsReport(NamedTuple):
    """What a search in parts has read, kept and found."""

    faces_a: int
    faces_b: int
    skipped_a: int
    skipped_b: int
    hash: int
    parts: int
    searches: int
    copies: int
    bytes_read: int
    bytes_spilled: int
    pairs: int
    peak_bytes: int


class KFree(NamedTuple):
    """How crowded the faces of a soup are."""

    faces: int
    k: int
    worst_face: Optional[int]
    worst_neighbours: int
    total: int
    mean: float
    deviation: float
    least: int
    quartile_1: int
    median: int
    quartile_3: int
    percentile_90: int
    percentile_99: int
    most: int
    neighbours: float
    least_diameter: float
    largest_diameter: float
    height: float
    discs: int


class KFreeMost(NamedTuple):
    """How many pairs two soups can have at most in any pose."""

    pairs: int
    published: int


class SolidInfo(NamedTuple):
    """What a solid is like."""

    vertices: int
    triangles: int
    degenerate_triangles: int
    shells: int
    volume: float
    centroid: np.ndarray
    area: float
    complement: bool
    inside_out: bool
    self_intersecting: bool
    by_winding: bool
    bytes: int


class HullInfo(NamedTuple):
    """What a convex hull is like."""

    vertices: int
    edges: int
    faces: int
    dimension: int
    centre: np.ndarray
    inner_radius: float
    outer_radius: float
    bytes: int


class CudaRobotInfo(NamedTuple):
    """What a robot in device memory holds."""

    bytes: int
    host_items: int


class ConvexMost(NamedTuple):
    """The most work that a query of two shapes can take."""

    meet_iterations: int
    meet_supports: int
    distance_iterations: int
    distance_supports: int
    depth_iterations: int
    depth_supports: int


class BroadInfo(NamedTuple):
    """What a set of boxes consists of."""

    ids: int
    live: int
    method: BroadMethod
    bytes: int
    builds: int
    refits: int
    patches: int
    nodes: int
    cells: int
    lone_cells: int
    entries: int
    sweep_axis: int
    sweep_cell: float
    sweep_bound: int


class SceneInfo(NamedTuple):
    """What a scene consists of."""

    ids: int
    live: int
    ignored: int
    pairs: int
    contacts: int
    asked: int
    bytes: int


class PackingInfo(NamedTuple):
    """What a packing is like."""

    spheres: int
    method: PackingMethod
    volume: float
    fill: float
    least_radius: float
    empty_radius: float
    bounds: np.ndarray
    origin: np.ndarray
    inside_out: bool
    complete: bool
    shares: bool
    cells: int
    bytes: int


class CoverMeasure(NamedTuple):
    """How far spheres reach out of a solid."""

    worst: Interval
    mean: float
    volume: float
    outside_volume: float
    solid_volume: float


class CoverInfo(NamedTuple):
    """What a cover is like."""

    spheres: int
    measure: CoverMeasure
    margin: float
    bounds: np.ndarray
    origin: np.ndarray
    inside_out: bool
    complete: bool
    cells: int
    bytes: int


class RobotInfo(NamedTuple):
    """What a robot consists of."""

    links: int
    joints: int
    dof: int
    bodies: int
    objects: int
    pairs: int
    spheres: int
    inner: int
    triangles: int
    open_meshes: int
    rough: int
    overhang: float
    rounding: float
    bytes: int
    fine: int
    fine_overhang: float


class TreeInfo(NamedTuple):
    """What a sphere tree consists of."""

    spheres: int
    method: TreeMethod
    arity: int
    nodes: int
    leaves: int
    depth: int
    bytes: int
    triangles: int


class BallsInfo(NamedTuple):
    """What a grid of spheres consists of."""

    spheres: int
    levels: int
    buckets: int
    entries: int
    bytes: int


class BallsMost(NamedTuple):
    """Upper bounds of the number of pairs of two packings in any poses."""

    pairs: int
    disjoint: int


class Event(NamedTuple):
    """One collision of a gas."""

    time: float
    kind: GasEventKind
    a: int
    b: int
    index: int  # type: ignore[assignment]


class Measures(NamedTuple):
    """Measurements of a gas since it was created or reset."""

    time: float
    spheres: int
    collisions: int
    wall_hits: int
    crossings: int
    predictions: int
    energy: float
    momentum: np.ndarray
    mean_speed: float
    virial: float
    z: float
    collision_rate: float
    mean_free_path: float
    packing_fraction: float


class GasInfo(NamedTuple):
    """What the choices for a gas came to."""

    method: GasMethod
    queue: GasQueue
    cells: np.ndarray
    cell_edge: float
    model_edge: float
    cutoff: float
    tick: float
    bytes: int
    edges: np.ndarray
    periodic: np.ndarray


class Closest(NamedTuple):
    """The closest points of two shapes."""

    a: np.ndarray
    b: np.ndarray
    distance: float
    squared: float


class Ball(NamedTuple):
    """A closed ball."""

    centre: np.ndarray
    radius: float


class Lens(NamedTuple):
    """The intersection of two balls."""

    volume: float
    derivative: float
    radius: float
    centre: np.ndarray


class TriangleIntersection(NamedTuple):
    """How two triangles lie to each other."""

    relation: TriangleRelation
    dimension: int
    dimension_a: int
    dimension_b: int
    coplanar: bool


# ---- Reading them --------------------------------------------------------------------------------------------------

def _none(value: int) -> Optional[int]:
    return None if value == _abi.NONE else value


def _same(value: Any) -> Any:
    return value


def _vector(value: Any) -> np.ndarray:
    return np.array((value.x, value.y, value.z))


def _bounds(value: Any) -> np.ndarray:
    return np.array(((value.low.x, value.low.y, value.low.z), (value.high.x, value.high.y, value.high.z)))


def _reader(annotation: Any, kind: Any) -> Callable[[Any], Any]:
    if annotation is Optional[int]:
        return _none
    if annotation is str:
        return bytes.decode
    if annotation is np.ndarray:
        if kind is _abi.vec3:
            return _vector
        if kind is _abi.bounds:
            return _bounds
        return lambda value: np.array(value[:])
    if isinstance(annotation, type) and issubclass(annotation, tuple):
        return lambda value: read(annotation, value)
    if isinstance(annotation, type) and issubclass(annotation, _abi.Enum):
        return annotation
    return _same


_readers: dict[Any, list[tuple[str, Callable[[Any], Any]]]] = {}


def read(kind: Any, struct: ctypes.Structure) -> Any:
    """The named tuple of a C struct that has fields of the same names."""
    plan = _readers.get(kind)
    if plan is None:
        hints, types = typing.get_type_hints(kind), dict(struct._fields_)
        plan = _readers[kind] = [(name, _reader(hints[name], types[name])) for name in kind._fields]
    return kind(*[convert(getattr(struct, name)) for name, convert in plan])


def info(handle: Any, function: Any, kind: Any, struct: Any) -> Any:
    """What a structure says of itself; needs no context."""
    if not handle._pointer:
        raise handle._closed_error()
    found = struct()
    function(handle._pointer, ctypes.byref(found))
    return read(kind, found)
