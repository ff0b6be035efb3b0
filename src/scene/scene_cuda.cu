/* SPDX-License-Identifier: MIT */
/* Steps of scenes on the GPU.
 *
 *   boxes     of all objects, one thread each
 *   broad     (broad_cuda.cu) the pairs of boxes, in any order
 *   split     where there are meshes: pairs of two convex objects, and those that the engines of
 *             meshes answer, in batches (scene_batch.c); their contacts come back from the host
 *   depth     (convex_cuda.cu) the answers of all pairs of two convex objects
 *   collect   those in contact, without pairs that are left out: a key and an index each; sorted
 *   contacts  one thread each: contact points, and the contact in its place
 *   changes   each key is looked up in the sorted keys of the last step, and each of these in the
 *             new ones; counts added up give what began and what ended their places
 *
 * All pairs are tested in each step: an answer depends on its two objects alone, so that it is the
 * one that an object which did not move had before. Keys of two steps are kept, and which are those
 * of the last one changes when a step is complete (carom_device_scene::last): so a step that is
 * repeated, for lack of room, or that fails, leaves them as they were. */
#include <new>

#include <cub/device/device_radix_sort.cuh>

#include "base/scan_cuda.h"
#include "convex/convex_cuda.h"
#include "scene/scene_device.h"
#include "scene/scene_item.h"

#define SCENE_CUDA_THREADS 128u

/* Counters: of boxes; of contacts; of splitting. */
enum { SCENE_CUDA_N_BAD };
enum { SCENE_CUDA_N_CONTACTS = 1, SCENE_CUDA_N_BEGUN, SCENE_CUDA_N_ENDED };
enum { SCENE_CUDA_N_CONVEX, SCENE_CUDA_N_MESH };

/* Of the index of a contact: it is one that the host gave. */
#define SCENE_CUDA_GIVEN (UINT32_C(1) << 31)

typedef unsigned long long scene_key;

struct carom_device_scene {
    double reach;
    uint32_t id_count;
    carom_device_shapes shapes; /* by id: a body's shape is its own */
    carom_device_block numbers; /* 0, 1, 2 ...: the shape of each id */
    carom_device_block poses, kinds, locals, boxes, ignored;
    uint64_t ignored_count;
    carom_cuda_pairs pairs; /* of boxes, of a step */

    bool splits;                     /* this step: it has meshes */
    carom_cuda_pairs convex, meshes; /* then: pairs of two convex objects, and all others */
    carom_device_block faces;        /* of these others, triangles near convex objects */
    carom_device_block given;        /* contacts that the host found */
    uint64_t given_count;

    carom_device_block keys[2]; /* of contacts, sorted: of the last step, and of the next */
    uint32_t last;              /* which are those of the last step */
    uint64_t last_count;
    uint64_t wanted; /* contacts that a step found no room for */
    bool complete;   /* the step that was queued last */
    carom_device_scene_counts counts;

    const scene_key *last_keys() const {
        return (const scene_key *)keys[last].data;
    }
    scene_key *next_keys() const {
        return (scene_key *)keys[1 - last].data;
    }
    /* Contacts that there is room for. */
    uint64_t room() const {
        return CAROM_MAX(CAROM_MAX(wanted, given_count), (uint64_t)CAROM_DEVICE_LIST_ENTRIES);
    }
};

/* ---- Objects --------------------------------------------------------------------------------- */

static carom_status scene_cuda_create(carom_device *device, double reach,
                                      carom_device_scene **out) {
    *out = new (std::nothrow) carom_device_scene{};
    if (*out == nullptr) return carom_device_fail(device, CAROM_NO_MEMORY, "no memory for a scene");
    (*out)->reach = reach;
    (*out)->shapes.small_hulls = true;
    return CAROM_OK;
}

static void scene_cuda_destroy(carom_device_scene *scene) {
    carom_device_block *blocks[] = {&scene->shapes.memory, &scene->numbers, &scene->poses,
                                    &scene->kinds,         &scene->locals,  &scene->boxes,
                                    &scene->ignored,       &scene->given,   &scene->keys[0],
                                    &scene->keys[1],       &scene->faces};
    for (carom_device_block *block : blocks) carom_device_release(block);
    for (carom_cuda_pairs *pairs : {&scene->pairs, &scene->convex, &scene->meshes})
        carom_device_free_pairs(pairs);
    delete scene;
}

static uint64_t scene_cuda_bytes(const carom_device_scene *scene) {
    uint64_t pairs = scene->pairs.capacity + scene->convex.capacity + scene->meshes.capacity;
    return scene->shapes.memory.bytes + scene->numbers.bytes + scene->poses.bytes +
           scene->kinds.bytes + scene->locals.bytes + scene->boxes.bytes + scene->ignored.bytes +
           scene->given.bytes + scene->faces.bytes + scene->keys[0].bytes + scene->keys[1].bytes +
           pairs * sizeof(carom_pair);
}

/* Waits for what was queued on the stream, which no other stream waits for. */
static carom_status scene_cuda_wait(carom_device *device) {
    return carom_device_check(device, cudaStreamSynchronize(device->stream), "copying objects");
}

/* Enlarges a block and keeps its first bytes. */
static carom_status grow_block(carom_device *device, carom_device_block *block, uint64_t bytes,
                               uint64_t kept) {
    if (bytes <= block->bytes) return CAROM_OK;
    carom_device_block larger = {};
    CAROM_DEVICE_TRY(carom_device_reserve(device, &larger, bytes + bytes / 2, "objects"));
    if (kept != 0)
        (void)cudaMemcpyAsync(larger.data, block->data, kept, cudaMemcpyDeviceToDevice,
                              device->stream);
    carom_status status = scene_cuda_wait(device);
    if (status != CAROM_OK) {
        carom_device_release(&larger);
        return status;
    }
    carom_device_release(block);
    *block = larger;
    return CAROM_OK;
}

static carom_status grow_objects(carom_device *device, carom_device_scene *scene,
                                 uint32_t id_count) {
    const uint64_t old = scene->id_count, count = id_count;
    const struct {
        carom_device_block *block;
        uint64_t size, kept;
    } arrays[] = {{&scene->shapes.memory, sizeof(carom_device_shape), old},
                  {&scene->numbers, sizeof(uint32_t), 0},
                  {&scene->poses, sizeof(carom_pose), old},
                  {&scene->kinds, sizeof(uint8_t), old},
                  {&scene->locals, sizeof(carom_bounds), old},
                  {&scene->boxes, sizeof(carom_bounds), 0}};
    for (const auto &a : arrays)
        CAROM_DEVICE_TRY(grow_block(device, a.block, count * a.size, a.kept * a.size));
    if (id_count > scene->id_count) {
        uint8_t *first = (uint8_t *)scene->kinds.data + old; /* ids without an object */
        CAROM_DEVICE_TRY(carom_device_check(
            device, cudaMemsetAsync(first, 0, count - old, device->stream), "clearing objects"));
        scene->id_count = scene->shapes.count = id_count;
    }
    return CAROM_OK;
}

static __global__ void __launch_bounds__(SCENE_CUDA_THREADS)
    put_objects(const carom_device_scene_object *from, uint64_t count, carom_device_shape *shapes,
                carom_pose *poses, uint8_t *kinds, carom_bounds *locals) {
    carom_device_begin();
    uint64_t i = (uint64_t)blockIdx.x * SCENE_CUDA_THREADS + threadIdx.x;
    if (i >= count) return;
    const carom_device_scene_object *o = &from[i];
    shapes[o->id] = o->shape;
    poses[o->id] = o->pose;
    kinds[o->id] = (uint8_t)o->kind;
    locals[o->id] = o->local;
}

static __global__ void __launch_bounds__(SCENE_CUDA_THREADS)
    put_poses(const carom_device_scene_pose *from, uint64_t count, carom_pose *poses) {
    carom_device_begin();
    uint64_t i = (uint64_t)blockIdx.x * SCENE_CUDA_THREADS + threadIdx.x;
    if (i < count) poses[from[i].id] = from[i].pose;
}

static __global__ void __launch_bounds__(SCENE_CUDA_THREADS)
    put_numbers(uint32_t *numbers, uint32_t count) {
    carom_device_begin();
    uint32_t i = blockIdx.x * SCENE_CUDA_THREADS + threadIdx.x;
    if (i < count) numbers[i] = i;
}

/* Copies an array of the host to scratch; nothing is queued. */
static carom_status stage(carom_device *device, const void *from, uint64_t bytes, void **to) {
    CAROM_DEVICE_TRY(carom_device_finish(device));
    CAROM_DEVICE_TRY(
        carom_device_reserve_scratch(device, CAROM_SCRATCH_SCENE_INPUT, bytes, "objects"));
    *to = carom_device_scratch_data<void>(device, CAROM_SCRATCH_SCENE_INPUT);
    if (bytes == 0) return CAROM_OK;
    return carom_device_check(
        device, cudaMemcpyAsync(*to, from, bytes, cudaMemcpyHostToDevice, device->stream),
        "copying objects");
}

static carom_status set_objects(carom_device *device, carom_device_scene *scene,
                                const carom_device_scene_object *objects, uint64_t count,
                                uint32_t id_count) {
    void *staged;
    if (count == 0 && id_count <= scene->id_count) return CAROM_OK;
    CAROM_DEVICE_TRY(stage(device, objects, count * sizeof(*objects), &staged));
    CAROM_DEVICE_TRY(grow_objects(device, scene, id_count));
    for (uint64_t i = 0; i < count; ++i)
        if (objects[i].kind == CAROM_DEVICE_SCENE_CONVEX) scene->shapes.note(&objects[i].shape);
    if (count != 0)
        carom_device_launch(device, put_objects, carom_device_blocks(count, SCENE_CUDA_THREADS),
                            SCENE_CUDA_THREADS, (const carom_device_scene_object *)staged, count,
                            (carom_device_shape *)scene->shapes.memory.data,
                            (carom_pose *)scene->poses.data, (uint8_t *)scene->kinds.data,
                            (carom_bounds *)scene->locals.data);
    carom_device_launch(device, put_numbers, carom_device_blocks(id_count, SCENE_CUDA_THREADS),
                        SCENE_CUDA_THREADS, (uint32_t *)scene->numbers.data, id_count);
    return scene_cuda_wait(device);
}

static carom_status set_poses(carom_device *device, carom_device_scene *scene,
                              const carom_device_scene_pose *poses, uint64_t count) {
    void *staged;
    if (count == 0) return CAROM_OK;
    CAROM_DEVICE_TRY(stage(device, poses, count * sizeof(*poses), &staged));
    carom_device_launch(device, put_poses, carom_device_blocks(count, SCENE_CUDA_THREADS),
                        SCENE_CUDA_THREADS, (const carom_device_scene_pose *)staged, count,
                        (carom_pose *)scene->poses.data);
    return scene_cuda_wait(device);
}

static carom_status scene_cuda_set_ignored(carom_device *device, carom_device_scene *scene,
                                           const uint64_t *keys, uint64_t count) {
    CAROM_DEVICE_TRY(carom_device_finish(device));
    scene->ignored_count = 0;
    if (count == 0) return CAROM_OK;
    CAROM_DEVICE_TRY(
        carom_device_reserve(device, &scene->ignored, count * sizeof(*keys), "pairs to leave out"));
    CAROM_DEVICE_TRY(
        carom_device_check(device,
                           cudaMemcpyAsync(scene->ignored.data, keys, count * sizeof(*keys),
                                           cudaMemcpyHostToDevice, device->stream),
                           "copying pairs"));
    CAROM_DEVICE_TRY(scene_cuda_wait(device));
    scene->ignored_count = count;
    return CAROM_OK;
}

static carom_status scene_cuda_get_poses(carom_device *device, carom_device_scene *scene,
                                         carom_pose *poses) {
    CAROM_DEVICE_TRY(carom_device_finish(device));
    return carom_device_copy(device, poses, scene->poses.data, scene->id_count * sizeof(*poses),
                             cudaMemcpyDeviceToHost, "copying poses");
}

static carom_device_bodies bodies_of_scene(const carom_device_scene *scene) {
    return carom_device_bodies{&scene->shapes, (const uint32_t *)scene->numbers.data,
                               (const carom_pose *)scene->poses.data, scene->id_count};
}

/* ---- Moving, and boxes ----------------------------------------------------------------------- */

struct scene_cuda_move_arguments {
    carom_device_scene *scene;
    const carom_pose *poses;
    uint64_t count;
};

static carom_status scene_cuda_no_reserve(carom_device *, carom_device_op *) {
    return CAROM_OK;
}

static void scene_cuda_move_launch(carom_device *device, carom_device_op *op) {
    const scene_cuda_move_arguments *a = carom_device_arguments<scene_cuda_move_arguments>(op);
    carom_device_clear(device, op);
    if (a->count == 0) return;
    carom_device_step(device, "poses");
    (void)cudaMemcpyAsync(a->scene->poses.data, a->poses, a->count * sizeof(carom_pose),
                          cudaMemcpyDeviceToDevice, device->stream);
}

static carom_status scene_cuda_move_finish(carom_device *, carom_device_op *,
                                           const carom_device_counters *, bool *again) {
    *again = false;
    return CAROM_OK;
}

static carom_status scene_cuda_move(carom_device *device, carom_device_scene *scene,
                                    const carom_pose *poses, uint64_t count) {
    CAROM_ASSERT(count <= scene->id_count);
    carom_device_op op = {
        scene_cuda_no_reserve, scene_cuda_move_launch, scene_cuda_move_finish, nullptr, {}};
    *carom_device_arguments<scene_cuda_move_arguments>(&op) =
        scene_cuda_move_arguments{scene, poses, count};
    return carom_device_submit(device, &op);
}

static __global__ void __launch_bounds__(SCENE_CUDA_THREADS)
    scene_cuda_boxes(const carom_device_shape *shapes, const carom_bounds *locals,
                     const carom_pose *poses, const uint8_t *kinds, uint32_t count, double reach,
                     carom_bounds *boxes, carom_device_counters *counters) {
    carom_device_begin();
    uint32_t i = blockIdx.x * SCENE_CUDA_THREADS + threadIdx.x;
    if (i >= count) return;
    carom_bounds box = carom_bounds_empty();
    if (kinds[i] != CAROM_DEVICE_SCENE_NONE) {
        const carom_pose pose = poses[i];
        if (carom_convex_pose_is_fine(pose)) {
            if (kinds[i] == CAROM_DEVICE_SCENE_MESH) {
                const carom_frame frame = carom_frame_make(&pose);
                box = carom_scene_mesh_box(&locals[i], &frame);
            } else {
                box = carom_convex_device_box(&shapes[i], pose);
            }
            box = carom_scene_enlarge(&box, reach);
        } else {
            atomicAdd(&counters->n[SCENE_CUDA_N_BAD], 1ull);
        }
    }
    boxes[i] = box;
}

static void scene_cuda_boxes_launch(carom_device *device, carom_device_op *op) {
    const carom_device_scene *scene = carom_device_arguments<scene_cuda_move_arguments>(op)->scene;
    carom_device_clear(device, op);
    if (scene->id_count == 0) return;
    carom_device_step(device, "boxes");
    carom_device_launch(
        device, scene_cuda_boxes, carom_device_blocks(scene->id_count, SCENE_CUDA_THREADS),
        SCENE_CUDA_THREADS, (const carom_device_shape *)scene->shapes.memory.data,
        (const carom_bounds *)scene->locals.data, (const carom_pose *)scene->poses.data,
        (const uint8_t *)scene->kinds.data, scene->id_count, scene->reach,
        (carom_bounds *)scene->boxes.data, op->counters);
}

static carom_status scene_cuda_boxes_finish(carom_device *device, carom_device_op *,
                                            const carom_device_counters *counters, bool *again) {
    *again = false;
    if (counters->n[SCENE_CUDA_N_BAD] == 0) return CAROM_OK;
    return carom_device_fail(device, CAROM_BAD_INPUT,
                             "%llu objects have a pose that is not finite or beyond 1e300; give "
                             "finite numbers",
                             counters->n[SCENE_CUDA_N_BAD]);
}

static carom_status scene_cuda_find_boxes(carom_device *device, carom_device_scene *scene,
                                          carom_device_scene_step *step) {
    carom_device_op op = {
        scene_cuda_no_reserve, scene_cuda_boxes_launch, scene_cuda_boxes_finish, nullptr, {}};
    *carom_device_arguments<scene_cuda_move_arguments>(&op) =
        scene_cuda_move_arguments{scene, nullptr, 0};
    scene->complete = scene->splits = false;
    scene->given_count = 0;
    step->boxes = (const carom_bounds *)scene->boxes.data;
    step->pairs = &scene->pairs;
    step->convex = &scene->convex;
    step->bodies = bodies_of_scene(scene);
    return carom_device_submit(device, &op);
}

/* ---- Pairs with meshes ----------------------------------------------------------------------- */

/* Appends the pairs of the lanes that have one. */
static __device__ inline void scene_cuda_append(bool has, carom_pair pair, carom_pair *to,
                                                carom_device_count *count) {
    unsigned lane = threadIdx.x % CAROM_WARP, mask = __ballot_sync(~0u, has);
    if (mask == 0) return;
    carom_device_count at = 0;
    if (lane == 0) at = atomicAdd(count, (carom_device_count)__popc(mask));
    at = __shfl_sync(~0u, at, 0) + (unsigned)__popc(mask & ((1u << lane) - 1u));
    if (has) to[at] = pair; /* there is room for all pairs in either list */
}

static __global__ void __launch_bounds__(SCENE_CUDA_THREADS)
    scene_cuda_split(const carom_pair *pairs, const uint64_t *device_count, uint64_t capacity,
                     const uint8_t *kinds, carom_pair *convex, carom_pair *meshes,
                     carom_device_counters *counters) {
    carom_device_begin();
    uint64_t count = *device_count < capacity ? *device_count : capacity;
    uint64_t stride = (uint64_t)gridDim.x * SCENE_CUDA_THREADS;
    for (uint64_t base = (uint64_t)blockIdx.x * SCENE_CUDA_THREADS; base < count; base += stride) {
        uint64_t i = base + threadIdx.x;
        carom_pair pair = {0, 0};
        bool mesh = false;
        if (i < count) {
            pair = pairs[i];
            mesh = kinds[pair.a] == CAROM_DEVICE_SCENE_MESH ||
                   kinds[pair.b] == CAROM_DEVICE_SCENE_MESH;
        }
        scene_cuda_append(i < count && !mesh, pair, convex, &counters->n[SCENE_CUDA_N_CONVEX]);
        scene_cuda_append(i < count && mesh, pair, meshes, &counters->n[SCENE_CUDA_N_MESH]);
    }
}

static carom_status scene_cuda_split_reserve(carom_device *device, carom_device_op *op) {
    carom_device_scene *scene = carom_device_arguments<scene_cuda_move_arguments>(op)->scene;
    for (carom_cuda_pairs *pairs : {&scene->convex, &scene->meshes})
        CAROM_DEVICE_TRY(carom_device_reserve_pairs(device, pairs, scene->pairs.capacity));
    scene->convex.device_count = (uint64_t *)&op->counters->n[SCENE_CUDA_N_CONVEX];
    scene->meshes.device_count = (uint64_t *)&op->counters->n[SCENE_CUDA_N_MESH];
    return CAROM_OK;
}

static void scene_cuda_split_launch(carom_device *device, carom_device_op *op) {
    const carom_device_scene *scene = carom_device_arguments<scene_cuda_move_arguments>(op)->scene;
    carom_device_clear(device, op);
    if (scene->id_count == 0) return;
    carom_device_step(device, "split");
    carom_device_launch(device, scene_cuda_split,
                        carom_device_resident(device, scene_cuda_split, SCENE_CUDA_THREADS),
                        SCENE_CUDA_THREADS, (const carom_pair *)scene->pairs.data,
                        carom_device_count_of(&scene->pairs), scene->pairs.capacity,
                        (const uint8_t *)scene->kinds.data, scene->convex.data, scene->meshes.data,
                        op->counters);
}

static carom_status scene_cuda_split_finish(carom_device *, carom_device_op *op,
                                            const carom_device_counters *counters, bool *again) {
    carom_device_scene *scene = carom_device_arguments<scene_cuda_move_arguments>(op)->scene;
    *again = false;
    scene->convex.count = counters->n[SCENE_CUDA_N_CONVEX];
    scene->meshes.count = counters->n[SCENE_CUDA_N_MESH];
    CAROM_ASSERT(scene->convex.count + scene->meshes.count <= scene->pairs.count);
    return CAROM_OK;
}

static carom_status scene_cuda_split_pairs(carom_device *device, carom_device_scene *scene) {
    carom_device_op op = {
        scene_cuda_split_reserve, scene_cuda_split_launch, scene_cuda_split_finish, nullptr, {}};
    *carom_device_arguments<scene_cuda_move_arguments>(&op) =
        scene_cuda_move_arguments{scene, nullptr, 0};
    scene->splits = true;
    return carom_device_submit(device, &op);
}

static uint64_t scene_cuda_mesh_pairs(const carom_device_scene *scene) {
    return scene->meshes.count;
}

static carom_status scene_cuda_get_mesh_pairs(carom_device *device, const carom_device_scene *scene,
                                              carom_pair *pairs) {
    return carom_device_copy(device, pairs, scene->meshes.data,
                             scene->meshes.count * sizeof(*pairs), cudaMemcpyDeviceToHost,
                             "copying pairs");
}

/* What faces of triangles have in common, as scene_narrow.c has it. */
struct scene_cuda_topology {
    uint64_t offsets[3];
    uint32_t corners[6], edges[6];
};

/* Arrays of one block, of `count` faces: bodies 2 i and 2 i + 1 are those of pair i. */
struct scene_cuda_faces {
    scene_cuda_topology *topology;
    carom_scene_triangle *triangles;
    carom_device_shape *shapes;
    carom_pose *poses;
    uint32_t *numbers;
    carom_pair *pairs;
    uint64_t *count;
    uint64_t bytes;
};

template <typename T> static T *scene_cuda_row(char *memory, uint64_t *used, uint64_t count) {
    T *row = (T *)(memory + *used);
    *used += carom_device_row(count * sizeof(T));
    return row;
}

static scene_cuda_faces lay_out_faces(char *memory, uint64_t count) {
    scene_cuda_faces f = {};
    f.topology = scene_cuda_row<scene_cuda_topology>(memory, &f.bytes, 1);
    f.count = scene_cuda_row<uint64_t>(memory, &f.bytes, 1);
    f.triangles = scene_cuda_row<carom_scene_triangle>(memory, &f.bytes, count);
    f.shapes = scene_cuda_row<carom_device_shape>(memory, &f.bytes, 2 * count);
    f.poses = scene_cuda_row<carom_pose>(memory, &f.bytes, 2 * count);
    f.numbers = scene_cuda_row<uint32_t>(memory, &f.bytes, 2 * count);
    f.pairs = scene_cuda_row<carom_pair>(memory, &f.bytes, count);
    return f;
}

/* A triangle as a shape, whose arrays are at `at` on the device. */
static carom_device_shape shape_of_triangle(const carom_scene_triangle *t,
                                            const carom_scene_triangle *at) {
    carom_device_shape shape = {};
    CAROM_ASSERT(t->view.all_count == 1 && t->view.neighbours == nullptr);
    shape.shape.kind = CAROM_CONVEX_KIND_HULL;
    shape.view = t->view;
    shape.view.vertices = at->vertices;
    shape.view.all = &at->block;
    shape.faces = &at->faces;
    shape.face_corners = 3;
    return shape;
}

static void scene_cuda_fill_faces(const carom_device_scene_face *from, uint32_t count,
                                  const scene_cuda_faces &to, const scene_cuda_faces &at,
                                  carom_device_shapes *shapes) {
    *to.topology = scene_cuda_topology{{0, 3, 6}, {0, 1, 2, 0, 2, 1}, {0, 1, 2, 2, 1, 0}};
    *to.count = count;
    shapes->count = 2 * count;
    shapes->small_hulls = true;
    shapes->most_corners = shapes->face_corners = 0;
    for (uint32_t i = 0; i < count; ++i) {
        carom_scene_triangle *t = &to.triangles[i];
        *t = from[i].triangle;
        t->faces.vertices = at.triangles[i].vertices;
        t->faces.normals = at.triangles[i].normals;
        t->faces.offsets = at.topology->offsets;
        t->faces.corners = at.topology->corners;
        t->faces.edges = at.topology->edges;
        to.shapes[2 * i] = from[i].shape;
        to.shapes[2 * i + 1] = shape_of_triangle(t, &at.triangles[i]);
        to.poses[2 * i] = from[i].pose;
        to.poses[2 * i + 1] = t->pose;
        for (uint32_t k = 2 * i; k < 2 * i + 2; ++k) {
            to.numbers[k] = k;
            shapes->note(&to.shapes[k]);
        }
        to.pairs[i] = carom_pair{2 * i, 2 * i + 1};
    }
}

static carom_status query_filled(carom_device *device, carom_device_shapes *shapes,
                                 const scene_cuda_faces &at, uint32_t count,
                                 const carom_cuda_convex *convex, double reach,
                                 carom_cuda_convex_manifolds *on_device,
                                 carom_convex_manifold *manifolds) {
    carom_cuda_pairs pairs = {};
    carom_device_questions questions = {};
    pairs.data = at.pairs;
    pairs.device_count = at.count;
    pairs.count = pairs.capacity = count;
    questions.bodies = carom_device_bodies{shapes, at.numbers, at.poses, 2 * (uint64_t)count};
    questions.pairs = &pairs;
    questions.question = CAROM_CONVEX_QUESTION_DEPTH;
    CAROM_DEVICE_TRY(convex->contacts(device, &questions, reach, on_device));
    CAROM_DEVICE_TRY(carom_device_finish(device));
    CAROM_ASSERT(on_device->count == count);
    return carom_device_copy(device, manifolds, on_device->data, count * sizeof(*manifolds),
                             cudaMemcpyDeviceToHost, "copying contacts");
}

static carom_status scene_cuda_query_faces(carom_device *device, carom_device_scene *scene,
                                           const carom_cuda_convex *convex,
                                           const carom_device_scene_face *faces, uint32_t count,
                                           double reach, carom_cuda_convex_manifolds *on_device,
                                           carom_convex_manifold *manifolds) {
    uint64_t bytes = lay_out_faces(nullptr, count).bytes;
    if (count == 0) return CAROM_OK;
    CAROM_DEVICE_TRY(carom_device_finish(device));
    CAROM_DEVICE_TRY(carom_device_reserve(device, &scene->faces, bytes, "triangles"));
    char *memory = new (std::nothrow) char[bytes]();
    if (memory == nullptr)
        return carom_device_fail(device, CAROM_NO_MEMORY, "no memory for triangles");
    const scene_cuda_faces at = lay_out_faces((char *)scene->faces.data, count);
    carom_device_shapes shapes = {};
    scene_cuda_fill_faces(faces, count, lay_out_faces(memory, count), at, &shapes);
    shapes.memory.data = at.shapes; /* which the block of the scene owns */
    shapes.memory.bytes = 2 * count * sizeof(carom_device_shape);
    carom_status status = carom_device_copy(device, scene->faces.data, memory, bytes,
                                            cudaMemcpyHostToDevice, "copying triangles");
    delete[] memory;
    CAROM_DEVICE_TRY(status);
    return query_filled(device, &shapes, at, count, convex, reach, on_device, manifolds);
}

static carom_status scene_cuda_set_mesh_contacts(carom_device *device, carom_device_scene *scene,
                                                 const carom_scene_contact *contacts,
                                                 uint64_t count) {
    uint64_t bytes = count * sizeof(*contacts);
    CAROM_DEVICE_TRY(carom_device_finish(device));
    if (count == 0) return CAROM_OK;
    CAROM_DEVICE_TRY(carom_device_reserve(device, &scene->given, bytes, "contacts"));
    CAROM_DEVICE_TRY(carom_device_copy(device, scene->given.data, contacts, bytes,
                                       cudaMemcpyHostToDevice, "copying contacts"));
    scene->given_count = count;
    return CAROM_OK;
}

/* ---- Contacts -------------------------------------------------------------------------------- */

/* The first of the sorted keys that is not below `key`. */
static __device__ inline uint64_t scene_cuda_lower_bound(const scene_key *keys, uint64_t count,
                                                         scene_key key) {
    uint64_t low = 0, high = count;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (keys[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static __device__ inline bool scene_cuda_has(const scene_key *keys, uint64_t count, scene_key key) {
    uint64_t at = scene_cuda_lower_bound(keys, count, key);
    return at < count && keys[at] == key;
}

/* What the kernels of a step read. */
struct scene_cuda_view {
    carom_convex_bodies_view bodies;
    const carom_pair *pairs;
    const uint64_t *device_count; /* of pairs; NULL: there are pair_capacity */
    uint64_t pair_capacity;
    const carom_convex_result *results;
    double reach;
    const scene_key *ignored;
    uint64_t ignored_count;
    const carom_scene_contact *given;
    uint64_t given_count;

    __device__ uint64_t pair_count() const {
        if (device_count == nullptr) return pair_capacity;
        return *device_count < pair_capacity ? *device_count : pair_capacity;
    }
};

static __global__ void __launch_bounds__(SCENE_CUDA_THREADS)
    scene_cuda_collect(scene_cuda_view w, scene_key *keys, uint32_t *indices, uint64_t capacity,
                       carom_device_counters *counters) {
    carom_device_begin();
    const uint64_t pairs = w.pair_count(), count = pairs + w.given_count;
    uint64_t stride = (uint64_t)gridDim.x * SCENE_CUDA_THREADS;
    unsigned lane = threadIdx.x % CAROM_WARP;
    for (uint64_t base = (uint64_t)blockIdx.x * SCENE_CUDA_THREADS; base < count; base += stride) {
        uint64_t i = base + threadIdx.x;
        bool has = false;
        scene_key key = 0;
        uint32_t index = (uint32_t)i;
        if (i >= pairs && i < count) {
            const carom_scene_contact *c = &w.given[i - pairs];
            key = (scene_key)c->a << 32 | c->b;
            index = SCENE_CUDA_GIVEN | (uint32_t)(i - pairs);
            has = true;
        } else if (i < pairs) {
            carom_pair pair = w.pairs[i];
            key = (scene_key)pair.a << 32 | pair.b;
            has = carom_scene_is_contact(&w.results[i], w.reach) &&
                  (w.ignored_count == 0 || !scene_cuda_has(w.ignored, w.ignored_count, key));
        }
        unsigned mask = __ballot_sync(~0u, has);
        if (mask == 0) continue;
        carom_device_count at = 0;
        if (lane == 0)
            at = atomicAdd(&counters->n[SCENE_CUDA_N_CONTACTS], (carom_device_count)__popc(mask));
        at = __shfl_sync(~0u, at, 0) + (unsigned)__popc(mask & ((1u << lane) - 1u));
        if (!has || at >= capacity) continue;
        keys[at] = key;
        indices[at] = index;
    }
}

/* One thread per contact. */
static __global__ void __launch_bounds__(CAROM_POINTS_THREADS)
    scene_cuda_write(scene_cuda_view w, const scene_key *keys, const uint32_t *indices,
                     uint64_t capacity, uint32_t face_corners, char *rooms,
                     carom_scene_contact *contacts, const carom_device_counters *counters) {
    carom_device_begin();
    uint64_t count = counters->n[SCENE_CUDA_N_CONTACTS];
    uint64_t stride = (uint64_t)gridDim.x * CAROM_POINTS_THREADS;
    uint64_t first = (uint64_t)blockIdx.x * CAROM_POINTS_THREADS + threadIdx.x;
    char *room = rooms + first * carom_points_room_bytes(face_corners);
    carom_convex_query_def def = {};
    if (count > capacity) return; /* it will be repeated */
    for (uint64_t j = first; j < count; j += stride) {
        uint32_t i = indices[j];
        carom_pair ids = {(uint32_t)(keys[j] >> 32), (uint32_t)keys[j]};
        if (w.given_count != 0 && (i & SCENE_CUDA_GIVEN) != 0) {
            contacts[j] = w.given[i & ~SCENE_CUDA_GIVEN];
            continue;
        }
        carom_convex_device_pair pair;
        carom_convex_contact *points = nullptr;
        uint32_t found = 0;
        bool there = pair.begin<false>(w.bodies, ids, def);
        CAROM_ASSERT(there && w.pairs[i].a == ids.a && w.pairs[i].b == ids.b && ids.a < ids.b);
        (void)there;
        const carom_convex_result r = w.results[i];
        if (!(r.distance > w.reach))
            found = carom_points_find(&pair, r, w.reach, face_corners, room, &points);
        carom_scene_fill_convex(&r, points, found, &contacts[j]);
        contacts[j].a = ids.a;
        contacts[j].b = ids.b;
    }
}

/* ---- What began and ended -------------------------------------------------------------------- */

/* The sorted keys of the contacts of this step and the last one, and for each whether the other
 * step lacks it: marks of the new ones, a 0, those of the old ones, a 0; and the sums before each.
 */
struct scene_cuda_changes {
    const scene_key *next, *last;
    uint64_t capacity, last_count; /* of next; of last */
    uint32_t *marks, *starts;

    __device__ uint64_t slots() const {
        return capacity + 1 + last_count + 1;
    }
};

static __global__ void __launch_bounds__(SCENE_CUDA_THREADS)
    scene_cuda_mark(scene_cuda_changes c, const carom_device_counters *counters) {
    carom_device_begin();
    uint64_t count = counters->n[SCENE_CUDA_N_CONTACTS];
    if (count > c.capacity) count = c.capacity; /* it will be repeated */
    uint64_t stride = (uint64_t)gridDim.x * SCENE_CUDA_THREADS;
    for (uint64_t i = (uint64_t)blockIdx.x * SCENE_CUDA_THREADS + threadIdx.x; i < c.slots();
         i += stride) {
        bool marked = false;
        if (i < count) marked = !scene_cuda_has(c.last, c.last_count, c.next[i]);
        if (i > c.capacity && i - (c.capacity + 1) < c.last_count)
            marked = !scene_cuda_has(c.next, count, c.last[i - (c.capacity + 1)]);
        c.marks[i] = marked ? 1u : 0u;
    }
}

static __global__ void __launch_bounds__(SCENE_CUDA_THREADS)
    scene_cuda_list_changes(scene_cuda_changes c, carom_pair *begun, carom_pair *ended,
                            carom_device_counters *counters) {
    carom_device_begin();
    uint64_t stride = (uint64_t)gridDim.x * SCENE_CUDA_THREADS;
    uint64_t first = (uint64_t)blockIdx.x * SCENE_CUDA_THREADS + threadIdx.x;
    uint32_t before = c.starts[c.capacity]; /* all that began */
    if (first == 0) {
        counters->n[SCENE_CUDA_N_BEGUN] = before;
        counters->n[SCENE_CUDA_N_ENDED] = c.starts[c.slots() - 1] - before;
    }
    for (uint64_t i = first; i < c.slots(); i += stride) {
        if (c.marks[i] == 0) continue;
        bool is_new = i < c.capacity;
        scene_key key = is_new ? c.next[i] : c.last[i - (c.capacity + 1)];
        carom_pair pair = {(uint32_t)(key >> 32), (uint32_t)key};
        if (is_new && begun != nullptr) begun[c.starts[i]] = pair;
        if (!is_new && ended != nullptr) ended[c.starts[i] - before] = pair;
    }
}

/* ---- The step -------------------------------------------------------------------------------- */

struct scene_cuda_step_arguments {
    carom_device_scene *scene;
    const carom_cuda_convex_results *results; /* of the pairs of boxes */
    carom_cuda_scene_contacts *contacts;      /* or NULL, as the others */
    carom_cuda_pairs *begun, *ended;
};

/* Scratch that is divided into arrays. */
struct scene_cuda_sort {
    scene_key *keys;
    uint32_t *indices, *sorted;
    void *temporary;
    size_t temporary_bytes;
    uint64_t bytes; /* of all */
};

static scene_cuda_sort divide_sort(char *memory, uint64_t capacity) {
    scene_cuda_sort m = {};
    scene_key *none = nullptr;
    uint32_t *no_index = nullptr;
    uint64_t keys = carom_device_row(capacity * sizeof(scene_key));
    uint64_t indices = carom_device_row(capacity * sizeof(uint32_t));
    (void)cub::DeviceRadixSort::SortPairs(nullptr, m.temporary_bytes, none, none, no_index,
                                          no_index, (int64_t)capacity, 0, 64,
                                          (cudaStream_t) nullptr);
    m.keys = (scene_key *)memory;
    m.indices = (uint32_t *)(memory + keys);
    m.sorted = (uint32_t *)(memory + keys + indices);
    m.temporary = memory + keys + 2 * indices;
    m.bytes = keys + 2 * indices + carom_device_row(m.temporary_bytes);
    return m;
}

static uint64_t change_slots(const carom_device_scene *scene) {
    return scene->room() + scene->last_count + 2;
}

static uint64_t changes_bytes(const carom_device_scene *scene) {
    uint64_t slots = change_slots(scene);
    return 2 * carom_device_row(slots * sizeof(uint32_t)) + carom_device_scan_bytes(slots);
}

static uint64_t contact_blocks(const carom_device *device, const carom_device_scene *scene) {
    return carom_points_blocks(device, scene_cuda_write, scene->room(), scene->shapes.face_corners);
}

static carom_status reserve_contacts(carom_device *device, carom_cuda_scene_contacts *contacts,
                                     uint64_t count) {
    if (contacts->memory == nullptr) contacts->memory = new (std::nothrow) carom_device_block{};
    if (contacts->memory == nullptr)
        return carom_device_fail(device, CAROM_NO_MEMORY, "no memory for contacts");
    carom_device_block *block = (carom_device_block *)contacts->memory;
    CAROM_DEVICE_TRY(
        carom_device_reserve(device, block, count * sizeof(carom_scene_contact), "the contacts"));
    contacts->data = (carom_scene_contact *)block->data;
    contacts->capacity = block->bytes / sizeof(carom_scene_contact);
    return CAROM_OK;
}

static void scene_cuda_contacts_free(carom_cuda_scene_contacts *contacts) {
    carom_device_block *block = (carom_device_block *)contacts->memory;
    if (block != nullptr) carom_device_release(block);
    delete block;
    *contacts = carom_cuda_scene_contacts{};
}

static carom_status scene_cuda_step_reserve(carom_device *device, carom_device_op *op) {
    const scene_cuda_step_arguments *a = carom_device_arguments<scene_cuda_step_arguments>(op);
    carom_device_scene *scene = a->scene;
    const uint64_t room = scene->room();
    scene->complete = false;
    CAROM_DEVICE_TRY(carom_device_reserve(device, &scene->keys[1 - scene->last],
                                          room * sizeof(scene_key), "contacts"));
    CAROM_DEVICE_TRY(carom_device_reserve_scratch(device, CAROM_SCRATCH_SCENE_SORT,
                                                  divide_sort(nullptr, room).bytes, "contacts"));
    CAROM_DEVICE_TRY(carom_device_reserve_scratch(device, CAROM_SCRATCH_SCENE_CHANGES,
                                                  changes_bytes(scene), "contacts"));
    if (a->begun != nullptr) {
        CAROM_DEVICE_TRY(carom_device_reserve_pairs(device, a->begun, room));
        a->begun->device_count = (uint64_t *)&op->counters->n[SCENE_CUDA_N_BEGUN];
    }
    if (a->ended != nullptr) {
        CAROM_DEVICE_TRY(carom_device_reserve_pairs(device, a->ended, scene->last_count + 1));
        a->ended->device_count = (uint64_t *)&op->counters->n[SCENE_CUDA_N_ENDED];
    }
    if (a->contacts == nullptr) return CAROM_OK;
    CAROM_DEVICE_TRY(reserve_contacts(device, a->contacts, room));
    return carom_device_reserve_scratch(device, CAROM_SCRATCH_CONVEX_POINTS,
                                        contact_blocks(device, scene) * CAROM_POINTS_THREADS *
                                            carom_points_room_bytes(scene->shapes.face_corners),
                                        "contact points");
}

static scene_cuda_view view_of_scene(const scene_cuda_step_arguments *a) {
    const carom_device_scene *scene = a->scene;
    carom_device_bodies bodies = bodies_of_scene(scene);
    const carom_cuda_pairs *pairs = scene->splits ? &scene->convex : &scene->pairs;
    /* the host has finished the splitting, whose counters are others' by now */
    return scene_cuda_view{carom_convex_view_of(&bodies),
                           pairs->data,
                           scene->splits ? nullptr : carom_device_count_of(pairs),
                           scene->splits ? pairs->count : pairs->capacity,
                           a->results->data,
                           scene->reach,
                           (const scene_key *)scene->ignored.data,
                           scene->ignored_count,
                           (const carom_scene_contact *)scene->given.data,
                           scene->given_count};
}

/* Queues the lookups of this step's keys in those of the last step, and the reverse. */
static void launch_changes(carom_device *device, carom_device_op *op,
                           const scene_cuda_step_arguments *a) {
    const carom_device_scene *scene = a->scene;
    uint64_t slots = change_slots(scene), row = carom_device_row(slots * sizeof(uint32_t));
    char *memory =
        carom_device_take<char>(device, CAROM_SCRATCH_SCENE_CHANGES, changes_bytes(scene));
    scene_cuda_changes c = {scene->next_keys(), scene->last_keys(), scene->room(),
                            scene->last_count,  (uint32_t *)memory, (uint32_t *)(memory + row)};
    unsigned blocks = carom_device_blocks(slots, SCENE_CUDA_THREADS);
    carom_device_step(device, "changes");
    carom_device_launch(device, scene_cuda_mark, blocks, SCENE_CUDA_THREADS, c, op->counters);
    carom_device_scan(device, memory + 2 * row, carom_device_scan_bytes(slots), c.marks, c.starts,
                      slots);
    carom_device_launch(device, scene_cuda_list_changes, blocks, SCENE_CUDA_THREADS, c,
                        a->begun != nullptr ? a->begun->data : nullptr,
                        a->ended != nullptr ? a->ended->data : nullptr, op->counters);
}

static void scene_cuda_step_launch(carom_device *device, carom_device_op *op) {
    const scene_cuda_step_arguments *a = carom_device_arguments<scene_cuda_step_arguments>(op);
    carom_device_scene *scene = a->scene;
    const uint64_t room = scene->room();
    carom_device_clear(device, op);
    int id_bits = 0;
    while (id_bits < 32 && scene->id_count >> id_bits != 0) ++id_bits;
    scene_cuda_sort sort = divide_sort(
        carom_device_take<char>(device, CAROM_SCRATCH_SCENE_SORT, divide_sort(nullptr, room).bytes),
        room);
    scene_cuda_view w = view_of_scene(a);
    carom_device_step(device, "collect");
    (void)cudaMemsetAsync(sort.keys, 0xFF, room * sizeof(scene_key), device->stream);
    if (scene->id_count != 0)
        carom_device_launch(device, scene_cuda_collect,
                            carom_device_resident(device, scene_cuda_collect, SCENE_CUDA_THREADS),
                            SCENE_CUDA_THREADS, w, sort.keys, sort.indices, room, op->counters);
    (void)cub::DeviceRadixSort::SortPairs(sort.temporary, sort.temporary_bytes, sort.keys,
                                          scene->next_keys(), sort.indices, sort.sorted,
                                          (int64_t)room, 0, 32 + id_bits, device->stream);
    if (a->contacts != nullptr && scene->id_count != 0) {
        carom_device_step(device, "contacts");
        carom_device_launch(device, scene_cuda_write, contact_blocks(device, scene),
                            CAROM_POINTS_THREADS, w, scene->next_keys(), sort.sorted, room,
                            scene->shapes.face_corners,
                            carom_device_take<char>(
                                device, CAROM_SCRATCH_CONVEX_POINTS,
                                carom_device_scratch_bytes(device, CAROM_SCRATCH_CONVEX_POINTS)),
                            a->contacts->data, op->counters);
    }
    launch_changes(device, op, a);
}

static carom_status scene_cuda_step_finish(carom_device *device, carom_device_op *op,
                                           const carom_device_counters *counters, bool *again) {
    const scene_cuda_step_arguments *a = carom_device_arguments<scene_cuda_step_arguments>(op);
    carom_device_scene *scene = a->scene;
    const uint64_t contacts = counters->n[SCENE_CUDA_N_CONTACTS];
    *again = contacts > scene->room();
    if (*again) {
        scene->wanted = carom_device_enlarged(contacts);
        return CAROM_OK;
    }
    if (a->contacts != nullptr) {
        a->contacts->count = contacts;
        a->contacts->host_items = scene->given_count;
    }
    if (a->begun != nullptr)
        CAROM_DEVICE_TRY(carom_device_end_pairs(device, a->begun, counters->n[SCENE_CUDA_N_BEGUN]));
    if (a->ended != nullptr)
        CAROM_DEVICE_TRY(carom_device_end_pairs(device, a->ended, counters->n[SCENE_CUDA_N_ENDED]));
    CAROM_ASSERT(scene->last_count + counters->n[SCENE_CUDA_N_BEGUN] ==
                 contacts + counters->n[SCENE_CUDA_N_ENDED]);
    scene->counts = carom_device_scene_counts{scene->pairs.count, contacts};
    scene->complete = true;
    return CAROM_OK;
}

static carom_status scene_cuda_find_contacts(carom_device *device, carom_device_scene *scene,
                                             const carom_cuda_convex_results *results,
                                             carom_cuda_scene_contacts *contacts,
                                             carom_cuda_pairs *begun, carom_cuda_pairs *ended) {
    carom_device_op op = {
        scene_cuda_step_reserve, scene_cuda_step_launch, scene_cuda_step_finish, nullptr, {}};
    *carom_device_arguments<scene_cuda_step_arguments>(&op) =
        scene_cuda_step_arguments{scene, results, contacts, begun, ended};
    return carom_device_submit(device, &op);
}

static bool scene_cuda_is_complete(const carom_device_scene *scene,
                                   carom_device_scene_counts *counts) {
    *counts = scene->counts;
    return scene->complete;
}

static void scene_cuda_commit(carom_device_scene *scene) {
    CAROM_ASSERT(scene->complete);
    scene->complete = false;
    scene->last = 1 - scene->last;
    scene->last_count = scene->counts.contacts;
}

extern "C" __attribute__((visibility("default"))) const carom_cuda_scenes carom_cuda_scenes_1 = {
    scene_cuda_create,
    scene_cuda_destroy,
    scene_cuda_bytes,
    set_objects,
    set_poses,
    scene_cuda_set_ignored,
    scene_cuda_get_poses,
    scene_cuda_move,
    scene_cuda_find_boxes,
    scene_cuda_split_pairs,
    scene_cuda_mesh_pairs,
    scene_cuda_get_mesh_pairs,
    scene_cuda_query_faces,
    scene_cuda_set_mesh_contacts,
    scene_cuda_find_contacts,
    scene_cuda_is_complete,
    scene_cuda_commit,
    scene_cuda_contacts_free,
};
