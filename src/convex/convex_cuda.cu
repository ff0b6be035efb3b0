/* SPDX-License-Identifier: MIT */
/* Questions about many pairs of convex bodies on the GPU, with the items of the CPU, so that every
 * result has the CPU's bytes.
 *
 * Intersection and distance: one thread per pair. The depth takes five kernels. The first computes
 * the distance of all pairs, and keeps what it knows of those whose cores overlap. The second
 * expands polytopes for these, a warp for each, in shared memory with room for few points, which
 * nearly always suffice; the polytope does not depend on the room as long as that is not used up.
 * The third does the same for the others with room for more points. The fourth writes the results,
 * one thread per pair. The fifth repeats what is left as the CPU does, one thread per pair, with
 * all the room there may be. */
#include <climits>
#include <new>

#include "convex/convex_cuda.h"
#include "convex/convex_epa_cuda.h"

#define CONVEX_CUDA_THREADS 128u
#ifndef FEW_POINTS
#define FEW_POINTS 32u /* of a polytope of the second kernel: 24 suffice for most hulls of 32 */
#define FEW_BLOCKS 4u  /* of it at a time on a processor, by its registers */
#endif
#define FEW_THREADS 128u
#define MORE_POINTS 120u         /* of the third: nearly all hulls of 2,562 */
#define CHUNK_PAIRS (1u << 18)   /* whose depths are computed at a time: 1 KB is kept for each */
#define ROOMS_BYTES (256u << 20) /* for the rooms of the last kernel */
#define MOST_ROOMS  2048u        /* threads of the last kernel: hardly any pair comes so far */

/* Counters; the first three are of one chunk. */
enum { N_DEEP, N_TAKEN, N_MORE, N_LONGER, CONVEX_CUDA_N_BAD, N_PAIRS };
#define CHUNK_COUNTERS 3u

/* ---- Hulls and shapes ------------------------------------------------------------------------ */

struct carom_device_hull {
    carom_device_block memory;
    carom_hull_view view; /* addresses on the device */
    const carom_hull_faces *faces;
    uint32_t face_corners; /* of a face, at most */
};

/* The most corners of a face; of a hull without faces, a segment or a point, its vertices. */
static uint32_t face_corners_of(const carom_hull_faces *faces) {
    uint64_t most = faces->face_count == 0 ? faces->vertex_count : 0;
    for (uint64_t f = 0; f < faces->face_count; ++f)
        most = CAROM_MAX(faces->offsets[f + 1] - faces->offsets[f], most);
    return (uint32_t)most;
}

/* Copies to a part of a hull's memory. */
static carom_status put_hull_part(carom_device *device, void *to, const void *from,
                                  uint64_t bytes) {
    if (bytes == 0) return CAROM_OK;
    return carom_device_copy(device, to, from, bytes, cudaMemcpyHostToDevice, "copying a hull");
}

static carom_status fill_hull(carom_device *device, const carom_hull_view *view,
                              const carom_hull_faces *faces, carom_device_hull *hull) {
    const uint64_t count = view->count, links = view->first[count], polygons = faces->face_count;
    const uint64_t corners = polygons != 0 ? faces->offsets[polygons] : 0;
    const struct {
        const void *from;
        uint64_t bytes;
    } parts[] = {{view->vertices, count * sizeof(carom_vec3)},
                 {view->all, view->all_count * sizeof(carom_hull_block)},
                 {view->neighbours, links * sizeof(carom_hull_block)},
                 {view->first, (count + 1) * sizeof(uint32_t)},
                 {view->seeds, CAROM_HULL_SEEDS * sizeof(uint32_t)},
                 {faces->offsets, polygons != 0 ? (polygons + 1) * sizeof(uint64_t) : 0},
                 {faces->corners, corners * sizeof(uint32_t)},
                 {faces->edges, corners * sizeof(uint32_t)},
                 {faces->normals, polygons * sizeof(carom_vec3)}};
    const void *addresses[9];
    uint64_t bytes = carom_device_row(sizeof(*faces)), at = carom_device_row(sizeof(*faces));
    for (const auto &part : parts) bytes += carom_device_row(part.bytes);
    CAROM_DEVICE_TRY(carom_device_reserve(device, &hull->memory, bytes, "a hull"));
    for (int i = 0; i < 9; ++i) {
        addresses[i] = (char *)hull->memory.data + at;
        CAROM_DEVICE_TRY(
            put_hull_part(device, (char *)hull->memory.data + at, parts[i].from, parts[i].bytes));
        at += carom_device_row(parts[i].bytes);
    }
    hull->view = *view;
    hull->view.vertices = (const carom_vec3 *)addresses[0];
    hull->view.all = (const carom_hull_block *)addresses[1];
    hull->view.neighbours = (const carom_hull_block *)addresses[2];
    hull->view.first = (const uint32_t *)addresses[3];
    hull->view.seeds = (const uint32_t *)addresses[4];
    carom_hull_faces own = *faces;
    own.vertices = hull->view.vertices;
    own.offsets = (const uint64_t *)addresses[5];
    own.corners = (const uint32_t *)addresses[6];
    own.edges = (const uint32_t *)addresses[7];
    own.normals = (const carom_vec3 *)addresses[8];
    own.normal_blocks = nullptr;
    hull->faces = (const carom_hull_faces *)hull->memory.data;
    hull->face_corners = face_corners_of(faces);
    return put_hull_part(device, hull->memory.data, &own, sizeof(own));
}

static carom_status hull_create(carom_device *device, const carom_hull_view *view,
                                const carom_hull_faces *faces, carom_device_hull **out) {
    *out = nullptr;
    carom_device_hull *hull = new (std::nothrow) carom_device_hull{};
    if (hull == nullptr) return carom_device_fail(device, CAROM_NO_MEMORY, "no memory for a hull");
    carom_status status = fill_hull(device, view, faces, hull);
    if (status == CAROM_OK) {
        *out = hull;
        return CAROM_OK;
    }
    carom_device_release(&hull->memory);
    delete hull;
    return status;
}

static void hull_destroy(carom_device_hull *hull) {
    carom_device_release(&hull->memory);
    delete hull;
}

static uint64_t hull_bytes(const carom_device_hull *hull) {
    return hull->memory.bytes;
}

static void hull_shape(const carom_device_hull *hull, carom_device_shape *to) {
    to->view = hull->view;
    to->faces = hull->faces;
    to->face_corners = hull->face_corners;
}

static carom_status shapes_create(carom_device *device, const carom_device_shape *shapes,
                                  uint32_t count, carom_device_shapes **out) {
    *out = nullptr;
    carom_device_shapes *made = new (std::nothrow) carom_device_shapes{};
    if (made == nullptr) return carom_device_fail(device, CAROM_NO_MEMORY, "no memory for shapes");
    made->count = count;
    made->small_hulls = count != 0;
    for (uint32_t i = 0; i < count; ++i) made->note(&shapes[i]);
    uint64_t bytes = ((uint64_t)count + 1) * sizeof(*shapes);
    carom_status status = carom_device_reserve(device, &made->memory, bytes, "shapes");
    if (status == CAROM_OK && count != 0)
        status = carom_device_copy(device, made->memory.data, shapes, count * sizeof(*shapes),
                                   cudaMemcpyHostToDevice, "copying shapes");
    if (status != CAROM_OK) {
        carom_device_release(&made->memory);
        delete made;
        return status;
    }
    *out = made;
    return CAROM_OK;
}

static void shapes_destroy(carom_device_shapes *shapes) {
    carom_device_release(&shapes->memory);
    delete shapes;
}

/* ---- Boxes ----------------------------------------------------------------------------------- */

static __global__ void __launch_bounds__(CONVEX_CUDA_THREADS)
    find_boxes(carom_convex_bodies_view w, carom_bounds *boxes, carom_device_counters *counters) {
    carom_device_begin();
    uint64_t i = (uint64_t)blockIdx.x * CONVEX_CUDA_THREADS + threadIdx.x;
    if (i >= w.count) return;
    uint32_t number = w.shape(i);
    const carom_pose pose = w.poses[i];
    if (number < w.shape_count && carom_convex_pose_is_fine(pose))
        boxes[i] = carom_convex_device_box(&w.shapes[number], pose);
    else
        atomicAdd(&counters->n[CONVEX_CUDA_N_BAD], 1ull);
}

/* ---- Questions ------------------------------------------------------------------------------- */

struct query_batch {
    carom_convex_bodies_view bodies;
    const carom_pair *pairs;
    const uint64_t *device_count; /* NULL: */
    uint64_t count;               /* the count, or the most there can be */
    uint64_t first, end;          /* those that are answered now */
    carom_convex_query_def def;
    const carom_convex_learned *old_caches; /* may be `caches` where each pair comes once */
    carom_convex_learned *caches;           /* or NULL */
    carom_convex_result *results;

    __device__ uint64_t stored() const {
        if (device_count == nullptr) return count;
        return *device_count < count ? *device_count : count;
    }
};

/* One pair of a batch, with what it learned before. */
struct one_question : carom_convex_device_pair {
    carom_convex_learned cache;

    template <bool HULLS> __device__ bool begin(const query_batch &w, uint64_t i) {
        if (!carom_convex_device_pair::begin<HULLS>(w.bodies, w.pairs[i], w.def)) return false;
        if (w.caches != nullptr) cache = w.old_caches[i];
        return true;
    }
};

static_assert(sizeof(carom_convex_result) == 112 && offsetof(carom_convex_result, distance) == 8 &&
                  offsetof(carom_convex_result, normal) == 32 &&
                  offsetof(carom_convex_result, iterations) == 104,
              "write_result knows the layout");

/* All bytes, padding included. */
static __device__ inline void convex_cuda_write_result(const query_batch &w, uint64_t i,
                                                       const carom_convex_result &r) {
    double2 *to = (double2 *)&w.results[i]; /* 112 bytes are seven times 16 */
    unsigned long long counts = (unsigned long long)r.supports << 32 | r.iterations;
    to[0] = make_double2(__longlong_as_double((long long)r.relation), r.distance);
    to[1] = make_double2(r.depth, r.error);
    to[2] = make_double2(r.normal.x, r.normal.y);
    to[3] = make_double2(r.normal.z, r.point_a.x);
    to[4] = make_double2(r.point_a.y, r.point_a.z);
    to[5] = make_double2(r.point_b.x, r.point_b.y);
    to[6] = make_double2(r.point_b.z, __longlong_as_double((long long)counts));
}

/* Intersection or distance; where `deep` is given, pairs whose cores overlap are kept there. */
template <bool HULLS, bool MEET>
static __global__ void __launch_bounds__(CONVEX_CUDA_THREADS)
    convex_cuda_query_all(query_batch w, carom_epa_deep *deep, carom_device_counters *counters) {
    carom_device_begin();
    uint64_t count = w.stored(), stride = (uint64_t)gridDim.x * CONVEX_CUDA_THREADS;
    uint64_t end = count < w.end ? count : w.end;
    if (blockIdx.x == 0 && threadIdx.x == 0) counters->n[N_PAIRS] = count;
    for (uint64_t i = w.first + (uint64_t)blockIdx.x * CONVEX_CUDA_THREADS + threadIdx.x; i < end;
         i += stride) {
        one_question one;
        carom_convex_result r = {};
        if (!one.begin<HULLS>(w, i)) {
            atomicAdd(&counters->n[CONVEX_CUDA_N_BAD], 1ull);
            continue;
        }
        carom_convex_learned *cache = w.caches != nullptr ? &one.cache : nullptr;
        if (MEET) {
            int meet = carom_convex_meet_item(&one.q, cache, &r);
            r.relation = meet ? CAROM_RELATION_OVERLAPPING : CAROM_RELATION_APART;
        } else {
            carom_convex_work work;
            if (carom_convex_distance_item(&one.q, cache, &work, &r) && deep != nullptr) {
                carom_device_count at = atomicAdd(&counters->n[N_DEEP], 1ull);
                CAROM_ASSERT(at < w.end - w.first && at < CHUNK_PAIRS);
                carom_epa_deep *to = &deep[at];
                to->work = work;
                to->close = carom_convex_epa_close(&one.q);
                to->pair = (uint32_t)i;
                to->state = CAROM_EPA_UNKNOWN;
            }
        }
        if (cache != nullptr) w.caches[i] = one.cache;
        convex_cuda_write_result(w, i, r);
    }
}

/* ---- Depth, by warps ------------------------------------------------------------------------- */

/* The depth of one pair by a warp; false when there is not room enough. */
template <bool HULLS, unsigned POINTS>
static __device__ inline bool convex_cuda_find_depth(carom_epa_deep *deep,
                                                     carom_epa_polytope<POINTS> *room) {
    static_assert(sizeof(carom_convex_work) % sizeof(double) == 0, "it is copied by doubles");
    for (unsigned i = threadIdx.x % CAROM_WARP; i < sizeof(deep->work) / sizeof(double);
         i += CAROM_WARP)
        ((double *)&room->work)[i] = ((const double *)&deep->work)[i];
    __syncwarp();
    carom_epa_search<HULLS, POINTS> search;
    search.room = room;
    bool done = search.run(deep);
    __syncwarp();
    return done;
}

/* Leaves a pair to the next kernel; there is room for `most`. */
static __device__ inline void convex_cuda_defer(uint32_t *list, carom_device_count *count,
                                                uint32_t pair, uint64_t most) {
    carom_device_count at = atomicAdd(count, 1ull);
    CAROM_ASSERT(at < most && pair < most);
    list[at] = pair;
}

template <bool HULLS>
static __global__ void __launch_bounds__(FEW_THREADS, FEW_BLOCKS)
    query_deep(carom_epa_deep *deep, uint32_t *more, carom_device_counters *counters) {
    carom_device_begin();
    __shared__ carom_epa_polytope<FEW_POINTS> rooms[FEW_THREADS / CAROM_WARP];
    unsigned lane = threadIdx.x % CAROM_WARP;
    uint64_t count = counters->n[N_DEEP];
    for (;;) {
        carom_device_count k = 0;
        if (lane == 0) k = atomicAdd(&counters->n[N_TAKEN], 1ull);
        k = __shfl_sync(CAROM_EPA_ALL_LANES, k, 0);
        if (k >= count) break;
        if (!convex_cuda_find_depth<HULLS>(&deep[k], &rooms[threadIdx.x / CAROM_WARP]) && lane == 0)
            convex_cuda_defer(more, &counters->n[N_MORE], (uint32_t)k, count);
    }
}

/* The same with more room, one warp per block. */
static __global__ void __launch_bounds__(CAROM_WARP)
    query_more(carom_epa_deep *deep, const uint32_t *more, uint32_t *longer, uint64_t pair_count,
               carom_device_counters *counters) {
    carom_device_begin();
    __shared__ carom_epa_polytope<MORE_POINTS> room;
    uint64_t count = counters->n[N_MORE];
    for (uint64_t i = blockIdx.x; i < count; i += gridDim.x) {
        CAROM_ASSERT(more[i] < counters->n[N_DEEP]);
        carom_epa_deep *from = &deep[more[i]];
        if (!convex_cuda_find_depth<false>(from, &room) && threadIdx.x == 0)
            convex_cuda_defer(longer, &counters->n[N_LONGER], from->pair, pair_count);
    }
}

/* One thread per pair. */
static __global__ void __launch_bounds__(CONVEX_CUDA_THREADS)
    write_depths(query_batch w, carom_epa_deep *deep, const carom_device_counters *counters) {
    carom_device_begin();
    uint64_t count = counters->n[N_DEEP], stride = (uint64_t)gridDim.x * CONVEX_CUDA_THREADS;
    for (uint64_t k = (uint64_t)blockIdx.x * CONVEX_CUDA_THREADS + threadIdx.x; k < count;
         k += stride) {
        if (deep[k].state == CAROM_EPA_UNKNOWN) continue; /* query_longer will know */
        carom_convex_result r = {};
        CAROM_ASSERT(deep[k].pair >= w.first && deep[k].pair < w.end);
        carom_epa_write(&deep[k], &r);
        convex_cuda_write_result(w, deep[k].pair, r);
    }
}

/* ---- Depth, by threads ----------------------------------------------------------------------- */

/* Room for `points` points; their polytope has up to twice as many faces, and four more. */
static __host__ __device__ inline uint64_t room_bytes(uint64_t points) {
    uint64_t faces = 2 * points + 4;
    return points * (sizeof(carom_convex_vertex) + sizeof(uint32_t)) +
           faces * (sizeof(carom_polytope_face) + sizeof(carom_vec3) + sizeof(double) +
                    2 * sizeof(carom_epa_entry) + 5 * sizeof(uint32_t)) +
           64;
}

static __device__ inline carom_epa_workspace room_at(char *memory, uint32_t points) {
    uint32_t faces = 2 * points + 4;
    carom_epa_workspace room;
    room.points = (carom_convex_vertex *)memory;
    memory += points * sizeof(carom_convex_vertex);
    room.point_capacity = points;
    room.local_points = 0;
    room.polytope.faces = (carom_polytope_face *)memory;
    memory += faces * sizeof(carom_polytope_face);
    room.normals = (carom_vec3 *)memory;
    memory += faces * sizeof(carom_vec3);
    room.distances = (double *)memory;
    memory += faces * sizeof(double);
    room.heap = (carom_epa_entry *)memory;
    memory += 2 * faces * sizeof(carom_epa_entry);
    room.polytope.border = (uint32_t *)memory;
    room.polytope.made = room.polytope.border + 3 * faces;
    room.polytope.lost = room.polytope.made + faces;
    room.polytope.from = room.polytope.lost + faces;
    room.polytope.face_capacity = faces;
    room.heap_capacity = 2 * faces;
    room.heap_count = 0;
    return room;
}

/* As carom_convex_query of convex_cpu.c. */
static __global__ void __launch_bounds__(CAROM_WARP)
    query_longer(query_batch w, const uint32_t *longer, char *rooms, uint32_t most_points,
                 carom_device_counters *counters) {
    carom_device_begin();
    uint64_t count = counters->n[N_LONGER], stride = (uint64_t)gridDim.x * CAROM_WARP;
    uint64_t first = (uint64_t)blockIdx.x * CAROM_WARP + threadIdx.x;
    char *memory = rooms + first * room_bytes(most_points);
    for (uint64_t k = first; k < count; k += stride) {
        uint32_t i = longer[k];
        CAROM_ASSERT(i < w.count);
        one_question one;
        carom_convex_work work;
        carom_convex_result r = {};
        (void)one.begin<false>(w, i);
        carom_convex_learned *cache = w.caches != nullptr ? &one.cache : nullptr;
        (void)carom_convex_distance_item(&one.q, cache, &work, &r);
        uint32_t points = carom_convex_epa_points(&one.q);
        CAROM_ASSERT(CAROM_MAX(points, CAROM_EPA_STACK_POINTS) <= most_points);
        carom_epa_workspace room = room_at(memory, CAROM_EPA_STACK_POINTS);
        room.point_capacity = carom_convex_epa_first_points(points);
        if (points <= CAROM_EPA_STACK_POINTS)
            room.local_points = carom_convex_epa_local(&one.q, points);
        if (carom_convex_depth_item(&one.q, &work, &room, &r) && points > CAROM_EPA_STACK_POINTS) {
            room = room_at(memory, points);
            room.local_points = carom_convex_epa_local(&one.q, points);
            (void)carom_convex_depth_item(&one.q, &work, &room, &r);
        }
        convex_cuda_write_result(w, i, r);
    }
}

/* ---- Queueing -------------------------------------------------------------------------------- */

struct boxes_arguments {
    carom_device_bodies bodies;
    carom_bounds *boxes;
};

static carom_status nothing_to_reserve(carom_device *, carom_device_op *) {
    return CAROM_OK;
}

static void boxes_launch(carom_device *device, carom_device_op *op) {
    const boxes_arguments *a = carom_device_arguments<boxes_arguments>(op);
    (void)cudaMemsetAsync(op->counters, 0, sizeof(*op->counters), device->stream);
    carom_device_step(device, "boxes");
    if (a->bodies.count != 0)
        carom_device_launch(
            device, find_boxes, carom_device_blocks(a->bodies.count, CONVEX_CUDA_THREADS),
            CONVEX_CUDA_THREADS, carom_convex_view_of(&a->bodies), a->boxes, op->counters);
}

static carom_status fail_bad(carom_device *device, const carom_device_counters *counters,
                             const char *what) {
    if (counters->n[CONVEX_CUDA_N_BAD] == 0) return CAROM_OK;
    return carom_device_fail(device, CAROM_BAD_INPUT,
                             "%llu %s have a pose that is not finite or beyond 1e300, or name a "
                             "shape or body that is not there",
                             counters->n[CONVEX_CUDA_N_BAD], what);
}

static carom_status boxes_finish(carom_device *device, carom_device_op *,
                                 const carom_device_counters *counters, bool *again) {
    *again = false;
    return fail_bad(device, counters, "bodies");
}

static carom_status find_boxes_of(carom_device *device, const carom_device_bodies *bodies,
                                  carom_bounds *boxes) {
    carom_device_op op = {nothing_to_reserve, boxes_launch, boxes_finish, nullptr, {}};
    *carom_device_arguments<boxes_arguments>(&op) = boxes_arguments{*bodies, boxes};
    return carom_device_submit(device, &op);
}

struct query_arguments {
    carom_device_questions questions;
    carom_cuda_convex_results *results;
};

static carom_device_block *convex_cuda_block_of(const carom_cuda_convex_results *results) {
    return (carom_device_block *)results->memory;
}

static carom_status reserve_results(carom_device *device, carom_cuda_convex_results *results,
                                    uint64_t count) {
    if (results->memory == nullptr) results->memory = new (std::nothrow) carom_device_block{};
    if (results->memory == nullptr)
        return carom_device_fail(device, CAROM_NO_MEMORY, "no memory for results");
    CAROM_DEVICE_TRY(carom_device_reserve(device, convex_cuda_block_of(results),
                                          (count + 1) * sizeof(carom_convex_result),
                                          "the results"));
    results->data = (carom_convex_result *)convex_cuda_block_of(results)->data;
    results->capacity = convex_cuda_block_of(results)->bytes / sizeof(carom_convex_result);
    return CAROM_OK;
}

static void results_free(carom_cuda_convex_results *results) {
    if (results->memory != nullptr) carom_device_release(convex_cuda_block_of(results));
    delete convex_cuda_block_of(results);
    *results = carom_cuda_convex_results{};
}

static uint64_t most_pairs(const query_arguments *a) {
    const carom_cuda_pairs *pairs = a->questions.pairs;
    return carom_device_count_of(pairs) != nullptr ? pairs->capacity : pairs->count;
}

/* The points of the largest polytope that the shapes may need. */
static uint32_t most_points(const query_arguments *a) {
    const carom_device_shapes *shapes = a->questions.bodies.shapes;
    uint64_t corners = shapes != nullptr ? shapes->most_corners : 0;
    uint64_t points = CAROM_MIN(6 * corners, (uint64_t)CAROM_EPA_MOST_POINTS);
    return (uint32_t)CAROM_MAX(points, (uint64_t)CAROM_EPA_STACK_POINTS);
}

static uint64_t longer_blocks(uint64_t pairs, uint32_t points) {
    uint64_t rooms = CAROM_MIN(ROOMS_BYTES / room_bytes(points), (uint64_t)MOST_ROOMS);
    uint64_t blocks = CAROM_MAX(rooms / CAROM_WARP, (uint64_t)1);
    return CAROM_MIN(blocks, (uint64_t)carom_device_blocks(pairs, CAROM_WARP));
}

/* Pairs of a chunk that there is room for. */
static uint64_t chunk_pairs(uint64_t pairs) {
    return CAROM_MIN(pairs, (uint64_t)CHUNK_PAIRS) + 1;
}

static carom_status query_reserve(carom_device *device, carom_device_op *op) {
    const query_arguments *a = carom_device_arguments<query_arguments>(op);
    uint64_t pairs = most_pairs(a);
    if (pairs > UINT32_MAX)
        return carom_device_fail(device, CAROM_TOO_LARGE,
                                 "%llu pairs at once are more than 2^32 - 1",
                                 (unsigned long long)pairs);
    CAROM_DEVICE_TRY(reserve_results(device, a->results, pairs));
    if (a->questions.question != CAROM_CONVEX_QUESTION_DEPTH) return CAROM_OK;
    const struct {
        carom_device_scratch block;
        uint64_t bytes;
    } wanted[] = {{CAROM_SCRATCH_CONVEX_DEEP, chunk_pairs(pairs) * sizeof(carom_epa_deep)},
                  {CAROM_SCRATCH_CONVEX_MORE, chunk_pairs(pairs) * sizeof(uint32_t)},
                  {CAROM_SCRATCH_CONVEX_LONGER, (pairs + 1) * sizeof(uint32_t)},
                  {CAROM_SCRATCH_CONVEX_ROOMS,
                   longer_blocks(pairs, most_points(a)) * CAROM_WARP * room_bytes(most_points(a))},
                  {CAROM_SCRATCH_CONVEX_CACHES,
                   a->questions.learned != nullptr ? pairs * sizeof(carom_convex_learned) : 0}};
    for (const auto &w : wanted)
        CAROM_DEVICE_TRY(carom_device_reserve_scratch(device, w.block, w.bytes, "convex pairs"));
    return CAROM_OK;
}

/* Scratch of the question for depths. */
struct depth_memory {
    carom_epa_deep *deep; /* of a chunk */
    uint32_t *more;       /* of these */
    uint32_t *longer;     /* of all pairs */
    char *rooms;
};

static depth_memory take_depth(carom_device *device, uint64_t pairs) {
    return depth_memory{
        carom_device_take<carom_epa_deep>(device, CAROM_SCRATCH_CONVEX_DEEP,
                                          chunk_pairs(pairs) * sizeof(carom_epa_deep)),
        carom_device_take<uint32_t>(device, CAROM_SCRATCH_CONVEX_MORE,
                                    chunk_pairs(pairs) * sizeof(uint32_t)),
        carom_device_take<uint32_t>(device, CAROM_SCRATCH_CONVEX_LONGER,
                                    (pairs + 1) * sizeof(uint32_t)),
        carom_device_take<char>(device, CAROM_SCRATCH_CONVEX_ROOMS,
                                carom_device_scratch_bytes(device, CAROM_SCRATCH_CONVEX_ROOMS))};
}

/* The depths of the pairs from w.first to w.end. */
template <bool HULLS>
static void launch_chunk(carom_device *device, const query_batch &w, const depth_memory &m,
                         uint64_t blocks, carom_device_counters *counters) {
    CAROM_ASSERT(w.end - w.first <= CHUNK_PAIRS);
    if (w.first != 0)
        (void)cudaMemsetAsync(counters->n, 0, CHUNK_COUNTERS * sizeof(carom_device_count),
                              device->stream);
    carom_device_step(device, "distance");
    carom_device_launch(device, convex_cuda_query_all<HULLS, false>, blocks, CONVEX_CUDA_THREADS, w,
                        m.deep, counters);
    carom_device_step(device, "depth");
    carom_device_launch(device, query_deep<HULLS>,
                        carom_device_resident(device, query_deep<HULLS>, FEW_THREADS), FEW_THREADS,
                        m.deep, m.more, counters);
    carom_device_step(device, "large polytopes");
    carom_device_launch(device, query_more, carom_device_resident(device, query_more, CAROM_WARP),
                        CAROM_WARP, m.deep, m.more, m.longer, w.count, counters);
    carom_device_step(device, "points");
    carom_device_launch(device, write_depths,
                        carom_device_resident(device, write_depths, CONVEX_CUDA_THREADS),
                        CONVEX_CUDA_THREADS, w, m.deep, counters);
}

template <bool HULLS>
static void convex_cuda_launch_all(carom_device *device, const query_arguments *a, query_batch w,
                                   carom_device_counters *counters) {
    uint64_t pairs = most_pairs(a);
    uint64_t blocks = carom_device_blocks(pairs, CONVEX_CUDA_THREADS);
    carom_epa_deep *none = nullptr;
    if (w.device_count != nullptr)
        blocks =
            CAROM_MIN(blocks, carom_device_resident(device, convex_cuda_query_all<HULLS, false>,
                                                    CONVEX_CUDA_THREADS));
    if (a->questions.question == CAROM_CONVEX_QUESTION_MEET) {
        carom_device_step(device, "meet");
        carom_device_launch(device, convex_cuda_query_all<HULLS, true>, blocks, CONVEX_CUDA_THREADS,
                            w, none, counters);
        return;
    }
    if (a->questions.question == CAROM_CONVEX_QUESTION_DISTANCE) {
        carom_device_step(device, "distance");
        carom_device_launch(device, convex_cuda_query_all<HULLS, false>, blocks,
                            CONVEX_CUDA_THREADS, w, none, counters);
        return;
    }
    /* blocks without pairs end at once; those that run are then spread evenly */
    blocks = carom_device_blocks(CAROM_MIN(pairs, (uint64_t)CHUNK_PAIRS), CONVEX_CUDA_THREADS);
    depth_memory m = take_depth(device, pairs);
    for (w.first = 0; w.first < pairs; w.first = w.end) {
        w.end = CAROM_MIN(w.first + CHUNK_PAIRS, pairs);
        launch_chunk<HULLS>(device, w, m, blocks, counters);
    }
    carom_device_step(device, "largest polytopes");
    carom_device_launch(device, query_longer, longer_blocks(pairs, most_points(a)), CAROM_WARP, w,
                        m.longer, m.rooms, most_points(a), counters);
}

static void query_launch(carom_device *device, carom_device_op *op) {
    const query_arguments *a = carom_device_arguments<query_arguments>(op);
    const carom_device_questions *q = &a->questions;
    query_batch w = {carom_convex_view_of(&q->bodies),
                     q->pairs->data,
                     carom_device_count_of(q->pairs),
                     most_pairs(a),
                     0,
                     most_pairs(a),
                     q->def,
                     q->learned,
                     q->learned,
                     a->results->data};
    (void)cudaMemsetAsync(op->counters, 0, sizeof(*op->counters), device->stream);
    if (w.count == 0) return;
    if (q->learned != nullptr && q->question == CAROM_CONVEX_QUESTION_DEPTH) {
        uint64_t bytes = w.count * sizeof(*q->learned);
        carom_convex_learned *old =
            carom_device_take<carom_convex_learned>(device, CAROM_SCRATCH_CONVEX_CACHES, bytes);
        (void)cudaMemcpyAsync(old, q->learned, bytes, cudaMemcpyDeviceToDevice, device->stream);
        w.old_caches = old;
    }
    bool hulls = q->bodies.shapes != nullptr && q->bodies.shapes->small_hulls &&
                 q->def.search != CAROM_CONVEX_SEARCH_CLIMB;
    if (hulls)
        convex_cuda_launch_all<true>(device, a, w, op->counters);
    else
        convex_cuda_launch_all<false>(device, a, w, op->counters);
}

static carom_status query_finish(carom_device *device, carom_device_op *op,
                                 const carom_device_counters *counters, bool *again) {
    const query_arguments *a = carom_device_arguments<query_arguments>(op);
    *again = false;
    CAROM_DEVICE_TRY(fail_bad(device, counters, "pairs"));
    a->results->count = counters->n[N_PAIRS];
    return CAROM_OK;
}

static carom_status convex_cuda_query(carom_device *device, const carom_device_questions *questions,
                                      carom_cuda_convex_results *results) {
    carom_device_op op = {query_reserve, query_launch, query_finish, nullptr, {}};
    *carom_device_arguments<query_arguments>(&op) = query_arguments{*questions, results};
    op.reads = questions->pairs;
    return carom_device_submit(device, &op);
}

/* ---- Contact points -------------------------------------------------------------------------- */

static_assert(sizeof(carom_convex_manifold) == 376 &&
                  offsetof(carom_convex_manifold, count) == 112 &&
                  offsetof(carom_convex_manifold, points) == 120 &&
                  sizeof(carom_convex_contact) == 64,
              "write_manifolds knows the layout");

/* One thread per pair: the result, its points, and zeros, padding included. */
static __global__ void __launch_bounds__(CAROM_POINTS_THREADS)
    write_manifolds(query_batch w, double reach, uint32_t face_corners, char *rooms,
                    carom_convex_manifold *manifolds, carom_device_counters *counters) {
    carom_device_begin();
    constexpr unsigned RESULT = sizeof(carom_convex_result) / sizeof(uint64_t);
    constexpr unsigned POINT = sizeof(carom_convex_contact) / sizeof(uint64_t);
    uint64_t count = w.stored(), stride = (uint64_t)gridDim.x * CAROM_POINTS_THREADS;
    uint64_t first = (uint64_t)blockIdx.x * CAROM_POINTS_THREADS + threadIdx.x;
    char *room = rooms + first * carom_points_room_bytes(face_corners);
    if (first == 0) counters->n[N_PAIRS] = count;
    for (uint64_t i = first; i < count; i += stride) {
        carom_convex_device_pair pair;
        carom_convex_contact *points = nullptr;
        uint32_t found = 0;
        if (!pair.begin<false>(w.bodies, w.pairs[i], w.def)) continue; /* counted before */
        const carom_convex_result r = w.results[i];
        if (!(r.distance > reach))
            found = carom_points_find(&pair, r, reach, face_corners, room, &points);
        uint64_t *to = (uint64_t *)&manifolds[i];
        const uint64_t *from = (const uint64_t *)&w.results[i];
        for (unsigned k = 0; k < RESULT; ++k) to[k] = from[k];
        to[RESULT] = found;
        to += RESULT + 1;
        for (unsigned k = 0; k < CAROM_CONVEX_MOST_CONTACTS * POINT; ++k)
            to[k] = k < found * POINT ? ((const uint64_t *)points)[k] : 0;
    }
}

/* What belongs to manifolds: their memory, and the results that they are made of. */
struct manifolds_memory {
    carom_device_block block;
    carom_cuda_convex_results results;
};

struct manifolds_arguments {
    query_arguments query;
    double reach;
    carom_cuda_convex_manifolds *manifolds;
};

static uint64_t manifolds_blocks(carom_device *device, const manifolds_arguments *a) {
    return carom_points_blocks(device, write_manifolds, most_pairs(&a->query),
                               a->query.questions.bodies.shapes->face_corners);
}

static carom_status manifolds_reserve(carom_device *device, carom_device_op *op) {
    const manifolds_arguments *a = carom_device_arguments<manifolds_arguments>(op);
    manifolds_memory *memory = (manifolds_memory *)a->manifolds->memory;
    uint64_t pairs = most_pairs(&a->query);
    CAROM_DEVICE_TRY(carom_device_reserve(
        device, &memory->block, (pairs + 1) * sizeof(carom_convex_manifold), "the manifolds"));
    a->manifolds->data = (carom_convex_manifold *)memory->block.data;
    a->manifolds->capacity = memory->block.bytes / sizeof(carom_convex_manifold);
    if (a->query.questions.bodies.shapes == nullptr) return CAROM_OK; /* no bodies */
    return carom_device_reserve_scratch(
        device, CAROM_SCRATCH_CONVEX_POINTS,
        manifolds_blocks(device, a) * CAROM_POINTS_THREADS *
            carom_points_room_bytes(a->query.questions.bodies.shapes->face_corners),
        "contact points");
}

static void manifolds_launch(carom_device *device, carom_device_op *op) {
    const manifolds_arguments *a = carom_device_arguments<manifolds_arguments>(op);
    const carom_device_questions *q = &a->query.questions;
    (void)cudaMemsetAsync(op->counters, 0, sizeof(*op->counters), device->stream);
    if (most_pairs(&a->query) == 0 || q->bodies.shapes == nullptr) return;
    query_batch w = {};
    w.bodies = carom_convex_view_of(&q->bodies);
    w.pairs = q->pairs->data;
    w.device_count = carom_device_count_of(q->pairs);
    w.count = most_pairs(&a->query);
    w.def = q->def;
    w.results = a->query.results->data;
    carom_device_step(device, "points");
    carom_device_launch(
        device, write_manifolds, manifolds_blocks(device, a), CAROM_POINTS_THREADS, w, a->reach,
        q->bodies.shapes->face_corners,
        carom_device_take<char>(device, CAROM_SCRATCH_CONVEX_POINTS,
                                carom_device_scratch_bytes(device, CAROM_SCRATCH_CONVEX_POINTS)),
        a->manifolds->data, op->counters);
}

static carom_status manifolds_finish(carom_device *, carom_device_op *op,
                                     const carom_device_counters *counters, bool *again) {
    *again = false;
    carom_device_arguments<manifolds_arguments>(op)->manifolds->count = counters->n[N_PAIRS];
    return CAROM_OK;
}

static carom_status find_contacts(carom_device *device, const carom_device_questions *questions,
                                  double reach, carom_cuda_convex_manifolds *manifolds) {
    if (manifolds->memory == nullptr) manifolds->memory = new (std::nothrow) manifolds_memory{};
    if (manifolds->memory == nullptr)
        return carom_device_fail(device, CAROM_NO_MEMORY, "no memory for manifolds");
    carom_cuda_convex_results *results = &((manifolds_memory *)manifolds->memory)->results;
    CAROM_DEVICE_TRY(convex_cuda_query(device, questions, results));
    carom_device_op op = {manifolds_reserve, manifolds_launch, manifolds_finish, nullptr, {}};
    *carom_device_arguments<manifolds_arguments>(&op) =
        manifolds_arguments{{*questions, results}, reach, manifolds};
    op.reads = questions->pairs;
    return carom_device_submit(device, &op);
}

static void manifolds_free(carom_cuda_convex_manifolds *manifolds) {
    manifolds_memory *memory = (manifolds_memory *)manifolds->memory;
    if (memory != nullptr) {
        carom_device_release(&memory->block);
        results_free(&memory->results);
    }
    delete memory;
    *manifolds = carom_cuda_convex_manifolds{};
}

extern "C" __attribute__((visibility("default"))) const carom_cuda_convex carom_cuda_convex_2 = {
    hull_create,   hull_destroy,      hull_bytes,   hull_shape,    shapes_create,  shapes_destroy,
    find_boxes_of, convex_cuda_query, results_free, find_contacts, manifolds_free,
};
