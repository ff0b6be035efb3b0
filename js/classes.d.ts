export type Vec3 = [number, number, number];
export type Quat = [number, number, number, number];
/** tx ty tz qw qx qy qz. */
export type PoseNumbers = [number, number, number, number, number, number, number];
type Numbers = ArrayLike<number> | number[][];
interface Xyz { x: number; y: number; z: number; }
/** 3 numbers: a translation; 7: tx ty tz qw qx qy qz; 12 or 16: a matrix, row after row; or what three.js has: a Vector3, a
 * Matrix4, an Object3D, { position, quaternion }. */
export type Pose = Numbers | Xyz | { elements: ArrayLike<number> } | { isObject3D: boolean } |
    { position: Xyz; quaternion: Xyz & { w: number } } | null | undefined;
/** [from, to] or [from, to, centre]. */
export type Motion = [Pose, Pose] | [Pose, Pose, Vec3] | null;
/** A BufferGeometry of three.js, or something that has one. */
export type GeometryLike = { attributes: { position: unknown }; index?: unknown } | { geometry: { attributes: unknown } };
export type MeshLike = Mesh | GeometryLike | { vertices: Numbers; faces: Numbers } | { positions: Numbers; index: Numbers } | Numbers;

/** Records in columns: a typed array per field, three numbers per record for a vector. `at(i)` and iteration give objects. */
export type Records<T> = { readonly length: number; at(index: number): T | undefined; [Symbol.iterator](): Iterator<T> } &
    { [K in keyof T]: unknown };

export interface InitOptions {
    /** 1, the default: the module without threads. Otherwise that many, 0: one per processor; needs shared memory. */
    threads?: number;
    /** Where to take the module from, instead of the file beside the package. */
    module?: string | URL | BufferSource | WebAssembly.Module;
}
/** Loads the module, once. Everything else needs it. */
export function init(options?: InitOptions): Promise<void>;
/** Whether threads can share memory here: in Node always, in pages that are cross-origin isolated. */
export function canShare(): boolean;
export function info(): { threads: number; scratchBytes: number; memoryBytes: number };
export function work(): Work; //= carom_context_get_work
export function trim(): void; //= carom_context_trim
export function build(): Build; //= carom_build_get
/** A function that long calls tell their progress; it returns true to cancel. */
export function setProgress(fn: ((what: string, fraction: number) => boolean | void) | null): void;
export const VERSION: string;
export const NONE: number;
export const ON_SURFACE: number;
export const FEATURE_VERTEX: number;
export const FEATURE_EDGE: number;
export const FEATURE_FACE: number;
export const FEATURE_INDEX: number;

export class CaromError extends Error { readonly status: Status | ""; }
export class Cancelled extends CaromError {}
export class InvalidError extends CaromError {}
export class BadInputError extends CaromError {}
export class BadFileError extends CaromError {}
export class FileError extends CaromError {}
export class TooLargeError extends CaromError {}
export class NoMemoryError extends CaromError {}
export class UnsupportedError extends CaromError {}

declare class Handle {
    /** Gives the memory back now. Otherwise that happens some time after the object was dropped. */
    free(): void;
    readonly freed: boolean;
}

export class Mesh extends Handle { //= carom_mesh
    constructor(vertices: MeshLike, faces?: Numbers);
    static shape(shape?: Shape, options?: Omit<ShapeDef, "shape">): Mesh; //= carom_shape_make
    static fromBytes(bytes: BufferSource, options?: { format?: MeshFormat; name?: string | null }): Mesh; //= carom_mesh_load_memory
    readonly vertexCount: number;
    readonly faceCount: number;
    /** A copy, three numbers per vertex. */
    readonly vertices: Float32Array | Float64Array;
    /** A copy, three indices per triangle. */
    readonly faces: Uint32Array;
    readonly corners: Uint32Array;
    readonly offsets: Float64Array;
    readonly parts: Uint32Array;
    readonly origin: MeshOrigin; //= carom_mesh_get_origin
    /** For three.js: the position attribute and the index of a BufferGeometry. */
    toArrays(): { positions: Float32Array; index: Uint32Array };
    bounds(): Bounds; //= carom_mesh_bounds
    inspect(): MeshReport; //= carom_mesh_inspect
    weld(options?: { byPart?: boolean }): Mesh; //= carom_mesh_weld
    triangulate(options?: MeshTriangulateDef): [Mesh, Uint32Array]; //= carom_mesh_triangulate
    boundaryLoops(): Uint32Array[]; //= carom_repair_list_loops
    nonmanifoldEdges(): Uint32Array; //= carom_repair_list_edges
    nonmanifoldVertices(): Uint32Array; //= carom_repair_list_vertices
    flippedFaces(): Uint32Array; //= carom_repair_list_flipped
    closeHoles(options?: RepairDef): [Mesh, RepairResult & { boundaryLoops: Uint32Array[]; outcomes: RepairOutcome[] }]; //= carom_repair_close
    toBytes(format: MeshFormat): Uint8Array; //= carom_mesh_save_memory
}
export function inspect(mesh: MeshLike, faces?: Numbers): MeshReport; //= carom_mesh_inspect
export function meshInfo(mesh: MeshLike, faces?: Numbers): MeshReport; //= carom_mesh_inspect
export function check(mesh: MeshLike, faces?: Numbers): void; //= carom_mesh_check
export function guessFormat(name: string | null, bytes?: BufferSource): MeshFormat; //= carom_mesh_format_guess

interface Two { poseA?: Pose; }
interface Reach extends Two { reach?: number; }
export class Soup extends Handle { //= carom_soup
    constructor(mesh: MeshLike, options?: SoupDef);
    constructor(mesh: MeshLike, faces: Numbers, options?: SoupDef);
    readonly info: SoupInfo; //= carom_soup_get_info
    update(positions: MeshLike): void; //= carom_soup_update
    add(mesh: MeshLike, faces?: Numbers): number; //= carom_soup_add
    remove(faces: Numbers): void; //= carom_soup_remove
    selfPairs(reach?: number): Uint32Array; //= carom_soup_self_pairs
    selfCount(reach?: number): number; //= carom_soup_self_count
    selfMeet(reach?: number): boolean; //= carom_soup_self_meet
    selfEach(receive: (pairs: Uint32Array) => boolean | void, reach?: number): void; //= carom_soup_self_each
    selfBound(): number; //= carom_soup_self_bound
    pairs(other: Soup, pose?: Pose, options?: Reach): Uint32Array; //= carom_soup_cross_pairs
    count(other: Soup, pose?: Pose, options?: Reach): number; //= carom_soup_cross_count
    each(other: Soup, receive: (pairs: Uint32Array) => boolean | void, pose?: Pose, options?: Reach): void; //= carom_soup_cross_each
    meet(other: Soup, pose?: Pose, options?: Reach): boolean; //= carom_soup_cross_meet
    meet(other: Soup, poses: Pose[], options?: Reach): boolean[]; //= carom_soup_cross_meet_batch
    distance(other: Soup, pose?: Pose, options?: Two & { limit?: number }): SoupGap; //= carom_soup_cross_distance
    distance(other: Soup, poses: Pose[], options?: Two & { limit?: number }): Records<SoupGap>; //= carom_soup_cross_distance_batch
    bound(other: Soup): number; //= carom_soup_cross_bound
    gaps(pairs: Numbers, other?: Soup, pose?: Pose, options?: Two): Records<SoupGap>; //= carom_soup_cross_gaps
    segments(pairs: Numbers, other?: Soup, pose?: Pose, options?: Two): Records<SoupSegment>; //= carom_soup_cross_segments
    closestPoints(points: Numbers): Records<Hit>; //= carom_soup_closest_points
    castRays(origins: Numbers, directions: Numbers, lengths?: number | Numbers): Records<Hit>; //= carom_soup_cast_rays
    queryRays(origins: Numbers, directions: Numbers, lengths?: number | Numbers): Records<SoupRayHit>; //= carom_soup_query_rays
    winding(points: Numbers): Int32Array; //= carom_soup_winding
    windingFractions(points: Numbers): Float64Array; //= carom_soup_winding_fractions
    signedDistances(points: Numbers): Float64Array; //= carom_soup_signed_distances
    advance(other: Soup, motion: Motion, options?: AdvanceDef & { motionA?: Motion }): Advance; //= carom_soup_cross_advance
    impacts(end: MeshLike | null, other?: Soup, otherEnd?: MeshLike | null): Records<SoupImpact>; //= carom_soup_cross_impacts
    firstImpact(end: MeshLike | null, other?: Soup, otherEnd?: MeshLike | null): SoupImpact | null; //= carom_soup_cross_first_impact
    selfNear(reach: number): Records<SoupNearPair>; //= carom_soup_self_near
    near(other: Soup, reach: number, pose?: Pose, options?: Two): Records<SoupNearPair>; //= carom_soup_cross_near
    safeStep(end: MeshLike | null, options?: { other?: Soup; otherEnd?: MeshLike | null; minimum?: number }): { time: number; limit: SoupNearPair | null }; //= carom_soup_cross_safe_step
    selfSafeDistances(reach: number, options?: { minimum?: number }): Float64Array; //= carom_soup_self_safe_distances
    safeDistances(other: Soup, reach: number, pose?: Pose, options?: Two & { minimum?: number }): [Float64Array, Float64Array]; //= carom_soup_cross_safe_distances
    kfree(): Kfree; //= carom_kfree_measure
    kfreeCounts(): Uint32Array; //= carom_kfree_measure
    kfreeBound(other: Soup): KfreeMost; //= carom_kfree_bound
}

export class Solid extends Handle { //= carom_solid
    constructor(mesh: MeshLike, options?: SolidDef);
    constructor(mesh: MeshLike, faces: Numbers, options?: SolidDef);
    readonly info: SolidInfo; //= carom_solid_get_info
    /** Exact, rounded once. */
    readonly volume: number;
    update(positions: MeshLike): void; //= carom_solid_update
    overlap(other: Solid, pose?: Pose, options?: Two & SolidQueryDef): SolidResult; //= carom_solid_overlap
    overlap(other: Solid, poses: Pose[], options?: Two & SolidQueryDef): Records<SolidResult>; //= carom_solid_overlap_batch
    overlapPatches(other: Solid, pose?: Pose, options?: Two): Records<SolidPatch>; //= carom_solid_overlap_patches
    /** The force on each vertex of both meshes that is pushed. */
    overlapGradient(other: Solid, pose?: Pose, options?: Two): { onA: Records<SolidVertexForce>; onB: Records<SolidVertexForce> }; //= carom_solid_overlap_gradient
}

export class Hull extends Handle { //= carom_hull
    constructor(points: MeshLike);
    readonly info: HullInfo; //= carom_hull_get_info
    toMesh(): Mesh; //= carom_hull_to_mesh
}
type ConvexOptions = Two & ConvexQueryDef & { hint?: ConvexHint };
/** A convex shape in its own frame. */
export class Convex {
    static point(margin?: number): Convex;
    static sphere(radius: number): Convex;
    static segment(halfHeight: number): Convex;
    static capsule(radius: number, halfHeight: number): Convex;
    static box(half: Vec3, margin?: number): Convex;
    static cylinder(radius: number, halfHeight: number, margin?: number): Convex;
    static cone(radius: number, halfHeight: number, margin?: number): Convex;
    static ellipsoid(half: Vec3, margin?: number): Convex;
    static hull(points: MeshLike | Hull, margin?: number): Convex;
    static support(support: (direction: Vec3) => Vec3, centre: Vec3, radius: number, margin?: number): Convex;
    readonly kind: ConvexKind;
    free(): void;
    meet(other: Convex, pose?: Pose, options?: ConvexOptions): boolean; //= carom_convex_meet
    distance(other: Convex, pose?: Pose, options?: ConvexOptions): ConvexResult; //= carom_convex_distance
    depth(other: Convex, pose?: Pose, options?: ConvexOptions): ConvexResult; //= carom_convex_depth
    contacts(other: Convex, pose?: Pose, options?: ConvexOptions & { reach?: number }): ConvexManifold; //= carom_convex_contacts
    castRays(origins: Numbers, directions: Numbers, lengths?: number | Numbers, pose?: Pose): Records<Hit>; //= carom_convex_cast_rays
    advance(other: Convex, motion: Motion, options?: AdvanceDef & { motionA?: Motion }): Advance; //= carom_convex_advance
    bound(other: Convex): ConvexMost; //= carom_convex_bound
}
/** What a query of two shapes learned for the next one, in nearby poses. */
export class ConvexHint { free(): void; }

export class Packing extends Handle { //= carom_packing
    constructor(mesh: MeshLike, options?: PackingDef);
    constructor(mesh: MeshLike, faces: Numbers, options?: PackingDef);
    static fromBytes(bytes: BufferSource, options?: { format?: PackingFormat; name?: string | null }): Packing; //= carom_packing_load_memory
    deform(before: MeshLike, positions: MeshLike, options?: PackingDeformDef): Packing; //= carom_packing_deform
    readonly info: PackingInfo; //= carom_packing_get_info
    /** x, y, z and radius of each. */
    readonly spheres: Float64Array;
    listSpheres(): Records<PackingSphere>; //= carom_packing_list_spheres
    listCells(): Records<PackingCell>; //= carom_packing_list_cells
    toBytes(format?: PackingFormat): Uint8Array; //= carom_packing_save_memory
}
export class Cover extends Handle { //= carom_cover
    constructor(mesh: MeshLike, options?: CoverDef);
    constructor(mesh: MeshLike, faces: Numbers, options?: CoverDef);
    readonly info: CoverInfo; //= carom_cover_get_info
    readonly spheres: Float64Array; //= carom_cover_list_spheres
    listCells(): Records<PackingCell>; //= carom_cover_list_cells
}
export function measureSpheres(mesh: MeshLike, spheres: Numbers, options?: CoverDef): CoverMeasure; //= carom_cover_measure_spheres
type TreeOptions = Two & TreeQueryDef & { hint?: TreeHint };
export class Tree extends Handle { //= carom_tree
    constructor(packing: Packing, mesh?: MeshLike | null, options?: TreeDef);
    static fromBytes(bytes: BufferSource, options?: { name?: string | null }): Tree; //= carom_tree_load_memory
    update(packing: Packing, mesh?: MeshLike | null): void; //= carom_tree_update
    readonly info: TreeInfo; //= carom_tree_get_info
    toBytes(): Uint8Array; //= carom_tree_save_memory
    overlap(other: Tree, pose?: Pose, options?: TreeOptions): PackingOverlap; //= carom_tree_overlap
    distance(other: Tree, pose?: Pose, options?: TreeOptions): TreeGap; //= carom_tree_distance
    query(other: Tree, pose?: Pose, options?: TreeOptions): TreeResult; //= carom_tree_query
    meet(other: Tree, pose?: Pose, options?: TreeOptions): boolean; //= carom_tree_meet
    faces(other: Tree, pose?: Pose, options?: TreeOptions): [Uint32Array, Uint32Array]; //= carom_tree_faces
}
/** What a distance query of two trees learned for the next one. */
export class TreeHint { free(): void; }
type BallsOptions = Two & BallsQueryDef & { kind?: BallsPairKind };
export class Balls extends Handle { //= carom_balls
    constructor(packing: Packing, grid?: GridDef);
    readonly info: BallsInfo; //= carom_balls_get_info
    update(spheres: Iterable<PackingSphere>, volume?: number): void; //= carom_balls_update
    overlap(other: Balls, pose?: Pose, options?: Two & BallsQueryDef): PackingOverlap; //= carom_balls_overlap
    pairs(other: Balls, pose?: Pose, options?: BallsOptions): Uint32Array; //= carom_balls_pairs
    count(other: Balls, pose?: Pose, options?: BallsOptions): number; //= carom_balls_count
    meet(other: Balls, pose?: Pose, options?: BallsOptions): boolean; //= carom_balls_meet
    bound(other: Balls, options?: BallsQueryDef & { kind?: BallsPairKind }): BallsMost; //= carom_balls_bound
}

export class Broad extends Handle { //= carom_broad
    /** Boxes: six numbers each, the lower and the upper corner. */
    constructor(boxes?: Numbers, options?: BroadDef & { filters?: Numbers; accept?: (a: number, b: number) => boolean });
    readonly info: BroadInfo; //= carom_broad_get_info
    move(boxes: Numbers, ids?: number | Numbers): void; //= carom_broad_move
    add(boxes: Numbers): Uint32Array; //= carom_broad_add
    remove(ids: number | Numbers): void; //= carom_broad_remove
    setFilters(filters: Numbers, ids?: Numbers): void; //= carom_broad_set_filters
    commit(): void; //= carom_broad_commit
    step(): { pairs: Uint32Array; begun: Uint32Array; ended: Uint32Array }; //= carom_broad_step
    pairs(): Uint32Array; //= carom_broad_pairs
    queryBoxes(boxes: Numbers): Uint32Array; //= carom_broad_query_boxes
    queryRays(origins: Numbers, directions: Numbers, lengths?: number | Numbers): Uint32Array; //= carom_broad_query_rays
    castRays(origins: Numbers, directions: Numbers, lengths?: number | Numbers): Records<Hit>; //= carom_broad_cast_rays
    closestPoints(points: Numbers): Records<Hit>; //= carom_broad_closest_points
}
export class Scene extends Handle { //= carom_scene
    constructor(options?: SceneDef & { accept?: (a: number, b: number) => boolean });
    add(item: Convex | Soup | Solid | Tree, pose?: Pose, options?: BroadFilter): number; //= carom_scene_add
    move(ids: number | Numbers | null, poses: Pose | Pose[]): void; //= carom_scene_move
    remove(ids: number | Numbers): void; //= carom_scene_remove
    setFilters(filters: Numbers, ids?: Numbers): void; //= carom_scene_set_filters
    setIgnored(pairs: Numbers, ignored?: boolean): void; //= carom_scene_set_ignored
    step(): { contacts: Records<SceneContact>; begun: Uint32Array; ended: Uint32Array }; //= carom_scene_step
    commit(): void; //= carom_scene_commit
    queryObjects(items: (Convex | Soup | Solid | Tree)[], poses?: Pose[]): Records<SceneContact>; //= carom_scene_query_objects
    castRays(origins: Numbers, directions: Numbers, lengths?: number | Numbers): Records<Hit>; //= carom_scene_cast_rays
    closestPoints(points: Numbers): Records<Hit>; //= carom_scene_closest_points
    readonly info: SceneInfo; //= carom_scene_get_info
}
export class Gas extends Handle { //= carom_gas
    constructor(positions: Numbers, velocities: Numbers, radii: number | Numbers, options?: Omit<GasDef, "periodic"> & {
        periodic?: boolean | boolean[]; masses?: number | Numbers;
        response?: (event: GasEvent, normal: Vec3, a: GasSphere, b: GasSphere | null) => void });
    static fromBytes(bytes: BufferSource, options?: { name?: string | null }): Gas; //= carom_gas_load_memory
    toBytes(): Uint8Array; //= carom_gas_save_memory
    add(positions: Numbers, velocities: Numbers, radii: number | Numbers, masses?: number | Numbers): Uint32Array; //= carom_gas_add
    set(ids: number | Numbers, positions: Numbers, velocities: Numbers, radii: number | Numbers, masses?: number | Numbers): void; //= carom_gas_set
    remove(ids: number | Numbers): void; //= carom_gas_remove
    next(until: number): GasEvent | null; //= carom_gas_next
    advance(until: number, onEvent?: (event: GasEvent) => boolean | void): void; //= carom_gas_advance
    readonly time: number; //= carom_gas_get_time
    /** Position, velocity, radius and mass of each: eight numbers. */
    listSpheres(): Float64Array;
    findSphere(id: number): GasSphere; //= carom_gas_find_sphere
    measure(): GasMeasures; //= carom_gas_measure
    resetMeasures(): void; //= carom_gas_reset_measures
    overlap(): number; //= carom_gas_overlap
    countDistances(step: number, count: number): Float64Array; //= carom_gas_count_distances
    readonly info: GasInfo; //= carom_gas_get_info
}

/** A shape of a link, or an object of the world: what its kind needs. */
export interface RobotBody {
    kind?: RobotShapeKind; pose?: Pose; mesh?: MeshLike; half?: Vec3; radius?: number; halfHeight?: number;
    /** Centre and radius: four numbers each. */
    balls?: Numbers;
}
/** A joint; `mimic` is the joint whose value it follows. */
export interface RobotHinge {
    kind?: RobotJointKind; parent: number; child: number; origin?: Pose; axis?: Vec3; lower?: number; upper?: number;
    mimic?: number | null; multiplier?: number; offset?: number;
}
export class Robot extends Handle { //= carom_robot
    /** For each link its shapes; one joint fewer than links. */
    constructor(links: RobotBody[][], joints?: RobotHinge[], options?: {
        names?: string[]; allowed?: Numbers; testAdjacent?: boolean; spheres?: number; inner?: number; fine?: number });
    readonly info: RobotInfo; //= carom_robot_get_info
    readonly limits: { lower: Float64Array; upper: Float64Array }; //= carom_robot_get_limits
    addObjects(shapes: RobotBody[]): Uint32Array; //= carom_robot_add_objects
    setObject(id: number, shape: RobotBody): void; //= carom_robot_set_object
    removeObject(id: number): void; //= carom_robot_remove_object
    attach(link: number, shape: RobotBody): number; //= carom_robot_attach
    detach(body: number): void; //= carom_robot_detach
    setAllowed(pairs: Numbers, allowed?: boolean): void; //= carom_robot_set_allowed
    setObjectAllowed(pairs: Numbers, allowed?: boolean): void; //= carom_robot_set_object_allowed
    check(q: Numbers, options?: Partial<RobotQuery>): Records<RobotResult>; //= carom_robot_check
    clearance(q: Numbers, options?: Partial<RobotQuery>): Records<RobotGap>; //= carom_robot_clearance
    motion(start: Numbers, end: Numbers, options?: Partial<RobotQuery>): Records<RobotMotionResult>; //= carom_robot_motion
    poses(q: Numbers): Float64Array; //= carom_robot_poses
    cover(body: number): Float64Array; //= carom_robot_list_cover
    inner(body: number): Float64Array; //= carom_robot_list_inner
    samplePairs(samples: number, seed?: number): Records<RobotPairCount>; //= carom_robot_sample_pairs
}

/** All pairs of faces of a mesh that meet, exactly: two numbers each. */
export function selfPairs(mesh: MeshLike | Soup, reach?: number): Uint32Array;
/** All pairs (face of a, face of b) that meet; `pose` moves b. */
export function pairs(a: MeshLike | Soup, b: MeshLike | Soup, pose?: Pose, options?: { reach?: number }): Uint32Array;
/** The least distance of the surfaces of a and b, and where it is. */
export function distance(a: MeshLike | Soup, b: MeshLike | Soup, pose?: Pose): SoupGap;
/** How much two closed meshes overlap, how far apart they are, and the force that separates them. */
export function overlap(a: MeshLike | Solid, b: MeshLike | Solid, pose?: Pose): SolidResult;
export function pack(mesh: MeshLike, count?: number, options?: PackingDef): Packing; //= carom_packing_create
export function cover(mesh: MeshLike, count?: number, options?: CoverDef): Cover; //= carom_cover_create
export function advise(options: QueryDef): QueryAdvice; //= carom_query_advise

export namespace pose {
    function compose(a: Pose, b: Pose): PoseNumbers; //= carom_pose_compose
    function invert(pose: Pose): PoseNumbers; //= carom_pose_invert
    function fromAxisAngle(axis: Vec3, angle: number): PoseNumbers; //= carom_pose_from_axis_angle
    function fromEuler(roll: number, pitch: number, yaw: number): PoseNumbers; //= carom_pose_from_euler
    function fromMatrix(matrix: Numbers): PoseNumbers; //= carom_pose_from_matrix
    function matrix(pose: Pose): Float64Array; //= carom_pose_to_matrix
    function interpolate(start: Pose, end: Pose, time: number): PoseNumbers; //= carom_pose_interpolate
    function motionAt(motion: Motion, time: number): PoseNumbers; //= carom_motion_evaluate
    function apply(pose: Pose, points: Numbers): Float64Array; //= carom_pose_apply
    function rotate(pose: Pose, directions: Numbers): Float64Array; //= carom_pose_rotate
}
export namespace exact {
    function orient2d(points: Numbers, axis?: number): number; //= carom_points_orient_2d
    function orient3d(points: Numbers): number; //= carom_points_orient_3d
    function relate(a: Numbers, b: Numbers): TriangleIntersection; //= carom_triangles_relate
    function trianglesMeet(a: Numbers, b: Numbers): boolean; //= carom_triangles_meet
    function triangleMeetsBox(triangle: Numbers, box: Numbers): boolean; //= carom_triangle_meets_box
    function pointSegmentDistance(at: Numbers, segment: Numbers): Closest; //= carom_point_segment_distance
    function segmentsDistance(a: Numbers, b: Numbers): Closest; //= carom_segments_distance
    function pointTriangleDistance(at: Numbers, triangle: Numbers): Closest; //= carom_point_triangle_distance
    function segmentTriangleDistance(segment: Numbers, triangle: Numbers): Closest; //= carom_segment_triangle_distance
    function trianglesDistance(a: Numbers, b: Numbers): Closest; //= carom_triangles_distance
    function ballOfPoints(points: Numbers): Ball; //= carom_ball_of_points
    function ballOfBalls(balls: Numbers): Ball; //= carom_ball_of_balls
    function lens(a: Numbers, b: Numbers): Lens; //= carom_ball_lens
    function pointTriangleToi(start: Numbers, end: Numbers): Toi; //= carom_point_triangle_toi
    function segmentsToi(start: Numbers, end: Numbers): Toi; //= carom_segments_toi
    function ballToi(start: Numbers, end: Numbers): Toi; //= carom_ball_toi
    function pointTriangleAdvance(start: Numbers, end: Numbers, def?: AdvanceDef): Advance; //= carom_point_triangle_advance
    function segmentsAdvance(start: Numbers, end: Numbers, def?: AdvanceDef): Advance; //= carom_segments_advance
    class Random { //= carom_random
        constructor(seed?: number | bigint);
        next(): bigint; //= carom_random_next
        uniform(): number; //= carom_random_uniform
        between(low: number, high: number): number; //= carom_random_between
        normal(): number; //= carom_random_normal
        free(): void;
    }
}

/** A promise that tells progress and can be cancelled; it is rejected with Cancelled then. */
export interface Job<T> extends Promise<T> {
    onProgress: ((what: string, fraction: number) => void) | null;
    cancel(): void;
}
/** A structure in a worker: the methods of its class, each of which gives a Job; properties are functions. */
export type Remote = { free(): Job<void> } & { [name: string]: (...args: any[]) => Job<any> };
export interface RemoteModule {
    /** Makes an object of a class in the worker. */
    create(kind: string, ...args: any[]): Job<Remote>;
    /** Calls a function there, or a static method such as "Mesh.shape". */
    call(name: string, ...args: any[]): Job<any>;
    end(): void;
}
/** The package in a worker, so that a page stays alive during long work. */
export function startWorker(options?: InitOptions & { url?: string | URL }): Promise<RemoteModule>;
