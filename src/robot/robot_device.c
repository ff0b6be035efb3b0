/* SPDX-License-Identifier: MIT */
/* Robots of contexts of backend cuda: copies of prepared robots in device memory, and the calls of
 * robot.h and cuda.h passed on to the GPU library.
 *
 * Robots are prepared on the CPU. All that decisions read is laid out one array after the other, as
 * it will lie on the device, with addresses of the device, and copied at once. Bodies and objects
 * with large arrays have device memory of their own, which is only written where they have changed:
 * that a point cloud is replaced does not copy the meshes beside it. */
#include <stdatomic.h>

#include "robot/robot.h"
#include "robot/robot_device.h"

/* Bytes that arrays are aligned to: a vector of four floats needs 16. */
#define ROBOT_DEVICE_ALIGNMENT UINT64_C(256)

/* Bodies and objects with so many bytes have memory of their own. Less is copied sooner than memory
 * is taken for it. */
#define ROBOT_DEVICE_OWN_BYTES (UINT64_C(1) << 16)

/* The arrays of a body or an object on the device. */
typedef struct robot_own {
    carom_device_robot_memory *memory; /* NULL: never needed */
    unsigned char *base;               /* on the device */
    uint64_t stamp, bytes;             /* what is there; 0 bytes: it lies with the rest */
} robot_own;

CAROM_ARRAY(robot_owns, robot_own);

struct carom_cuda_robot {
    carom_allocator allocator;
    const carom_robot *robot; /* borrowed */
    carom_device_robot device;
    carom_device_robot_memory *memory;
    robot_owns bodies, objects;
    uint64_t bytes, written; /* held; copied by the last update */
    bool is_whole;           /* no update has failed since the last one that did not */
    _Atomic uint64_t host_items;
};

static const carom_cuda_robots *robot_device_table(void) {
    return carom_device_table(CAROM_CUDA_ROBOTS);
}

/* ---- Layout ---------------------------------------------------------------------------------- */

/* Memory that is laid out: counted where `to` is NULL. */
typedef struct robot_layout {
    unsigned char *to;
    uint64_t used;
    unsigned char *base; /* on the device; NULL while it is counted */
} robot_layout;

/* Appends an array; returns its address on the device, NULL where it is empty. */
static void *layout_put(robot_layout *l, const void *from, uint64_t count, size_t size) {
    uint64_t at = l->used, bytes = count * size;
    if (from == NULL || bytes == 0) return NULL;
    if (l->to != NULL) memcpy(l->to + at, from, bytes);
    l->used +=
        (bytes + ROBOT_DEVICE_ALIGNMENT - 1) / ROBOT_DEVICE_ALIGNMENT * ROBOT_DEVICE_ALIGNMENT;
    return l->base != NULL ? l->base + at : NULL;
}

#define LAYOUT_PUT(l, array, count) layout_put(l, array, count, sizeof(*(array)))

static carom_robot_tree layout_tree(robot_layout *l, const carom_robot_tree *tree) {
    carom_robot_tree t = *tree;
    t.nodes = LAYOUT_PUT(l, tree->nodes, tree->node_count);
    t.triangles = LAYOUT_PUT(l, tree->triangles, tree->item_count);
    t.balls = LAYOUT_PUT(l, tree->balls, tree->item_count);
    return t;
}

static carom_robot_field layout_field(robot_layout *l, const carom_robot_field *field) {
    carom_robot_field f = *field;
    f.cells = LAYOUT_PUT(l, field->cells, carom_robot_field_count(field));
    return f;
}

static carom_robot_part layout_part(robot_layout *l, const carom_robot_part *part) {
    carom_robot_part p = *part;
    p.tree = layout_tree(l, &part->tree);
    p.points = layout_tree(l, &part->points);
    p.field = layout_field(l, &part->field);
    return p;
}

/* The arrays of a body; `parts` has space for its parts. */
static carom_robot_body layout_body(robot_layout *l, const carom_robot_body *body,
                                    carom_robot_part *parts) {
    carom_robot_body b = *body;
    b.cover = b.inner = b.fine = NULL; /* the plan has them */
    for (uint32_t k = 0; k < body->part_count; ++k) parts[k] = layout_part(l, &body->parts[k]);
    b.parts = LAYOUT_PUT(l, parts, body->part_count);
    b.field = layout_field(l, &body->field);
    return b;
}

/* Where the arrays of a body or an object are laid out: with the rest, or in its own memory, which
 * has them. */
static robot_layout layout_of(robot_layout *rest, const robot_own *own) {
    return own->bytes != 0 ? (robot_layout){.base = own->base} : *rest;
}

/* The bodies and objects, which hold addresses, in arrays of the host while they are laid out. */
typedef struct robot_copies {
    carom_robot_part *parts; /* of the largest body */
    carom_robot_body *bodies;
    carom_robot_object *objects;
    carom_robot_plan_object *plan_objects;
} robot_copies;

static void layout_plan(robot_layout *l, const carom_robot *robot, const robot_copies *c,
                        carom_robot_plan *plan) {
    uint64_t objects = robot->object_count;
    *plan = robot->plan;
    plan->rows = NULL; /* the kernels read spheres alone */
    plan->joints = LAYOUT_PUT(l, robot->plan.joints, robot->plan.joint_count);
    plan->bodies = LAYOUT_PUT(l, robot->plan.bodies, robot->body_count);
    plan->spheres = LAYOUT_PUT(l, robot->plan.spheres, 4 * (uint64_t)robot->plan.sphere_count);
    plan->pairs = LAYOUT_PUT(l, robot->plan.pairs, robot->plan.pair_count);
    for (uint64_t i = 0; i < objects; ++i) {
        const carom_robot_plan_object *o = &robot->plan.objects[i];
        c->plan_objects[i] = *o;
        c->plan_objects[i].balls = o->kind == CAROM_ROBOT_PLAN_BALLS
                                       ? LAYOUT_PUT(l, o->balls, 5 * (uint64_t)o->count)
                                       : NULL;
    }
    plan->objects = LAYOUT_PUT(l, c->plan_objects, objects);
}

static void layout_robot(robot_layout *l, const carom_cuda_robot *copy, const robot_copies *c,
                         carom_device_robot *device) {
    const carom_robot *robot = copy->robot;
    carom_robot_view *view = &device->view;
    layout_plan(l, robot, c, &view->plan);
    for (uint32_t i = 0; i < robot->body_count; ++i) {
        const robot_own *own = &copy->bodies.data[i];
        robot_layout at = layout_of(l, own);
        c->bodies[i] = layout_body(&at, &robot->bodies[i], c->parts);
        if (own->bytes == 0) *l = at;
    }
    view->bodies = LAYOUT_PUT(l, c->bodies, robot->body_count);
    for (uint32_t i = 0; i < robot->object_count; ++i) {
        const robot_own *own = &copy->objects.data[i];
        robot_layout at = layout_of(l, own);
        c->objects[i] = robot->objects[i];
        c->objects[i].part = layout_part(&at, &robot->objects[i].part);
        if (own->bytes == 0) *l = at;
    }
    view->objects = LAYOUT_PUT(l, c->objects, robot->object_count);
    view->links = LAYOUT_PUT(l, robot->links, robot->link_count);
    device->order = LAYOUT_PUT(l, robot->order, robot->link_count);
    device->limits = LAYOUT_PUT(l, robot->plan_limits, robot->dof);
    device->link_count = robot->link_count;
    device->dof = robot->dof;
    device->has_floats = robot->has_floats;
}

/* ---- Copies ---------------------------------------------------------------------------------- */

/* Writes to the beginning of some memory what `put` lays out. */
typedef void robot_layout_fn(robot_layout *l, void *user);

static carom_status write_layout(carom_context *context, carom_cuda_robot *copy,
                                 carom_device_robot_memory **memory, robot_layout_fn *put,
                                 void *user, robot_layout *l) {
    robot_layout count = {0};
    void *data = NULL;
    put(&count, user);
    CAROM_TRY(carom_device_pass(
        context, robot_device_table()->reserve(context->device, memory, count.used, &data)));
    *l = (robot_layout){.base = data, .to = carom_allocate(&context->allocator, count.used, 1)};
    if (l->to == NULL) return carom_fail_memory(context, count.used, "a copy of a robot");
    put(l, user);
    CAROM_ASSERT(l->used == count.used);
    copy->written += l->used;
    carom_status status = carom_device_pass(
        context, robot_device_table()->write(context->device, *memory, l->to, l->used));
    carom_release(&context->allocator, l->to);
    return status;
}

/* What is laid out of a body, or else of an object. */
typedef struct robot_item {
    const carom_robot_body *body;
    const carom_robot_object *object;
    carom_robot_part *parts;
} robot_item;

static void put_item(robot_layout *l, void *user) {
    const robot_item *item = user;
    if (item->body != NULL)
        (void)layout_body(l, item->body, item->parts);
    else
        (void)layout_part(l, &item->object->part);
}

/* Makes what lies in memory of its own the same as on the host. */
static carom_status update_own(carom_context *context, carom_cuda_robot *copy, robot_item *item,
                               robot_own *own) {
    uint64_t stamp = item->body != NULL ? item->body->stamp : item->object->part.stamp;
    robot_layout l = {0};
    put_item(&l, item);
    bool is_own = l.used >= ROBOT_DEVICE_OWN_BYTES;
    if (is_own && own->bytes == l.used && own->stamp == stamp) return CAROM_OK;
    own->bytes = 0;
    if (!is_own && own->memory != NULL) {
        robot_device_table()->destroy(own->memory);
        own->memory = NULL;
    }
    if (!is_own) return CAROM_OK;
    CAROM_TRY(write_layout(context, copy, &own->memory, put_item, item, &l));
    *own = (robot_own){.memory = own->memory, .base = l.base, .stamp = stamp, .bytes = l.used};
    return CAROM_OK;
}

/* Makes room for so many; new ones are empty. */
static carom_status reserve_owns(carom_context *context, carom_cuda_robot *copy, robot_owns *owns,
                                 uint64_t count) {
    const robot_own none = {0};
    while (owns->count < count)
        if (!robot_owns_push(owns, &copy->allocator, none))
            return carom_fail_memory(context, count * sizeof(none), "a copy of a robot");
    return CAROM_OK;
}

static carom_status update_owns(carom_context *context, carom_cuda_robot *copy,
                                carom_robot_part *parts) {
    const carom_robot *robot = copy->robot;
    CAROM_TRY(reserve_owns(context, copy, &copy->bodies, robot->body_count));
    CAROM_TRY(reserve_owns(context, copy, &copy->objects, robot->object_count));
    for (uint32_t i = 0; i < robot->body_count; ++i) {
        robot_item item = {.body = &robot->bodies[i], .parts = parts};
        CAROM_TRY(update_own(context, copy, &item, &copy->bodies.data[i]));
    }
    for (uint32_t i = 0; i < robot->object_count; ++i) {
        robot_item item = {.object = &robot->objects[i]};
        CAROM_TRY(update_own(context, copy, &item, &copy->objects.data[i]));
    }
    return CAROM_OK;
}

typedef struct robot_rest {
    carom_cuda_robot *copy;
    const robot_copies *copies;
} robot_rest;

static void put_rest(robot_layout *l, void *user) {
    const robot_rest *rest = user;
    layout_robot(l, rest->copy, rest->copies, &rest->copy->device);
}

static carom_status robot_device_copy(carom_context *context, carom_cuda_robot *copy,
                                      const robot_copies *c) {
    robot_rest rest = {copy, c};
    robot_layout l;
    CAROM_TRY(carom_cuda_finish(context)); /* what queued work reads is about to change */
    copy->is_whole = false;
    copy->written = 0;
    CAROM_TRY(update_owns(context, copy, c->parts));
    CAROM_TRY(write_layout(context, copy, &copy->memory, put_rest, &rest, &l));
    copy->bytes = l.used;
    for (uint64_t i = 0; i < copy->bodies.count; ++i) copy->bytes += copy->bodies.data[i].bytes;
    for (uint64_t i = 0; i < copy->objects.count; ++i) copy->bytes += copy->objects.data[i].bytes;
    copy->is_whole = true;
    return CAROM_OK;
}

carom_status carom_cuda_robot_update(carom_context *context, carom_cuda_robot *copy) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(copy, "copy");
    carom_device *device;
    CAROM_TRY(carom_device_of(context, "a robot in device memory", &device));
    const carom_robot *robot = copy->robot;
    uint64_t most = 1;
    for (uint32_t i = 0; i < robot->body_count; ++i)
        most = CAROM_MAX(robot->bodies[i].part_count, most);
    robot_copies c = {0};
    const carom_allocation arrays[] = {
        CAROM_ALLOCATION(c.parts, most),
        CAROM_ALLOCATION(c.bodies, robot->body_count + UINT64_C(1)),
        CAROM_ALLOCATION(c.objects, robot->object_count + UINT64_C(1)),
        CAROM_ALLOCATION(c.plan_objects, robot->object_count + UINT64_C(1))};
    if (!carom_allocate_all(&context->allocator, arrays, 4))
        return carom_fail_memory(context, most * sizeof(*c.parts), "a copy of a robot");
    carom_status status = robot_device_copy(context, copy, &c);
    CAROM_RELEASE_ALL(&context->allocator, c.parts, c.bodies, c.objects, c.plan_objects);
    return status;
}

carom_status carom_cuda_robot_create(carom_context *context, const carom_robot *borrowed_robot,
                                     carom_cuda_robot **copy) {
    CAROM_REQUIRE_OUTPUT(copy, "copy");
    *copy = NULL;
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(borrowed_robot, "robot");
    carom_device *device;
    CAROM_TRY(carom_device_of(context, "a robot in device memory", &device));
    CAROM_TRY(carom_context_require_table(context, robot_device_table(), "robots"));
    carom_cuda_robot *made = carom_allocate(&context->allocator, 1, sizeof(*made));
    if (made == NULL) return carom_fail_memory(context, sizeof(*made), "a copy of a robot");
    *made = (carom_cuda_robot){.allocator = context->allocator, .robot = borrowed_robot};
    carom_status status = carom_cuda_robot_update(context, made);
    if (status == CAROM_OK)
        *copy = made;
    else
        carom_cuda_robot_destroy(made);
    return status;
}

static void release_owns(const carom_allocator *allocator, robot_owns *owns) {
    for (uint64_t i = 0; i < owns->count; ++i)
        if (owns->data[i].memory != NULL) robot_device_table()->destroy(owns->data[i].memory);
    robot_owns_release(owns, allocator);
}

void carom_cuda_robot_destroy(carom_cuda_robot *copy) {
    if (copy == NULL) return;
    carom_allocator allocator = copy->allocator;
    if (copy->memory != NULL) robot_device_table()->destroy(copy->memory);
    release_owns(&allocator, &copy->bodies);
    release_owns(&allocator, &copy->objects);
    carom_release(&allocator, copy);
}

carom_status carom_cuda_robot_get_info(const carom_cuda_robot *copy, carom_cuda_robot_info *info) {
    CAROM_REQUIRE_INPUT(copy, "copy");
    CAROM_REQUIRE_OUTPUT(info, "info");
    *info =
        (carom_cuda_robot_info){.bytes = copy->bytes, .host_items = atomic_load(&copy->host_items)};
    return CAROM_OK;
}

uint64_t carom_robot_device_written(const carom_cuda_robot *copy) {
    return copy->written;
}

/* ---- Queries --------------------------------------------------------------------------------- */

static carom_status decide_on_host(carom_context *context, void *user,
                                   const carom_device_robot_query *query,
                                   const double *configurations, const double *to, uint64_t count,
                                   void *results) {
    carom_cuda_robot *copy = user;
    atomic_fetch_add(&copy->host_items, count);
    if (query->kind == CAROM_DEVICE_ROBOT_MOTION)
        return carom_robot_motion_on_cpu(context, copy->robot, configurations, to, count,
                                         &query->query, results);
    CAROM_ASSERT(query->kind == CAROM_DEVICE_ROBOT_CHECK); /* distances are never left */
    return carom_robot_check_on_cpu(context, copy->robot, configurations, count, &query->query,
                                    results);
}

/* Queues a query; `q` has its kind, its input and its output. */
static carom_status submit_query(carom_context *context, carom_cuda_robot *copy,
                                 const carom_robot_query *query, carom_device_robot_query *q) {
    carom_device *device;
    CAROM_TRY(carom_device_of(context, "configurations in device memory", &device));
    CAROM_TRY(carom_robot_check_query(context, copy->robot, NULL, 0, query));
    if (!copy->is_whole)
        return carom_fail(context, CAROM_BAD_INPUT,
                          "the last update of this robot in device memory failed: update it again");
    q->robot = &copy->device;
    q->rule = carom_robot_motion_rule_of(copy->robot, query);
    q->decide = decide_on_host;
    q->context = context;
    q->user = copy;
    if (query != NULL) q->query = *query;
    return carom_device_pass(context, robot_device_table()->query(device, q));
}

carom_status carom_cuda_robot_check(carom_context *context, carom_cuda_robot *copy,
                                    const double *device_configurations, uint64_t count,
                                    const carom_robot_query *query,
                                    carom_robot_result *device_results) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(copy, "copy");
    CAROM_REQUIRE_INPUTS(device_configurations, count * copy->device.dof, "configurations");
    CAROM_REQUIRE_OUTPUTS(device_results, count, "results");
    carom_device_robot_query q = {.kind = CAROM_DEVICE_ROBOT_CHECK,
                                  .configurations = device_configurations,
                                  .count = count,
                                  .results = device_results};
    return submit_query(context, copy, query, &q);
}

carom_status carom_cuda_robot_clearance(carom_context *context, carom_cuda_robot *copy,
                                        const double *device_configurations, uint64_t count,
                                        const carom_robot_query *query,
                                        carom_robot_gap *device_gaps) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(copy, "copy");
    CAROM_REQUIRE_INPUTS(device_configurations, count * copy->device.dof, "configurations");
    CAROM_REQUIRE_OUTPUTS(device_gaps, count, "gaps");
    carom_device_robot_query q = {.kind = CAROM_DEVICE_ROBOT_CLEARANCE,
                                  .configurations = device_configurations,
                                  .count = count,
                                  .results = device_gaps};
    return submit_query(context, copy, query, &q);
}

carom_status carom_cuda_robot_motion(carom_context *context, carom_cuda_robot *copy,
                                     const double *device_from, const double *device_to,
                                     uint64_t count, const carom_robot_query *query,
                                     carom_robot_motion_result *device_results) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(copy, "copy");
    CAROM_REQUIRE_INPUTS(device_from, count * copy->device.dof, "configurations at the start");
    CAROM_REQUIRE_INPUTS(device_to, count * copy->device.dof, "configurations at the end");
    CAROM_REQUIRE_OUTPUTS(device_results, count, "results");
    carom_device_robot_query q = {.kind = CAROM_DEVICE_ROBOT_MOTION,
                                  .configurations = device_from,
                                  .to = device_to,
                                  .count = count,
                                  .results = device_results};
    return submit_query(context, copy, query, &q);
}

/* ---- Host memory ----------------------------------------------------------------------------- */

/* A query with input and output of the host: `sets` arrays of configurations, `size` bytes each
 * answer. */
typedef struct robot_host_query {
    const carom_robot_query *query;
    const double *sets[2];
    uint32_t set_count;
    uint64_t count, size;
    void *results;
    carom_device_robot_kind kind;
} robot_host_query;

static carom_status run_copies(carom_context *context, carom_cuda_robot *copy,
                               const robot_host_query *h, double *const *sets, void *results) {
    const uint64_t values = h->count * copy->device.dof;
    carom_device_robot_query q = {.kind = h->kind,
                                  .configurations = sets[0],
                                  .to = sets[1],
                                  .count = h->count,
                                  .results = results};
    for (uint32_t i = 0; i < h->set_count; ++i)
        CAROM_TRY(carom_cuda_write(context, sets[i], h->sets[i], values * sizeof(**sets)));
    CAROM_TRY(submit_query(context, copy, h->query, &q));
    CAROM_TRY(carom_cuda_finish(context));
    return carom_cuda_read(context, h->results, results, h->count * h->size);
}

static carom_status run_from_host(carom_context *context, const carom_robot *robot,
                                  const robot_host_query *h) {
    carom_cuda_robot *copy = NULL;
    void *memory[3] = {NULL, NULL, NULL}; /* results, then configurations */
    CAROM_TRY(carom_cuda_robot_create(context, robot, &copy));
    carom_status status = carom_cuda_allocate(context, h->count * h->size, &memory[0]);
    for (uint32_t i = 0; i < h->set_count && status == CAROM_OK; ++i)
        status =
            carom_cuda_allocate(context, h->count * robot->dof * sizeof(double), &memory[1 + i]);
    if (status == CAROM_OK) {
        double *sets[2] = {memory[1], memory[2]};
        status = run_copies(context, copy, h, sets, memory[0]);
    }
    for (int i = 0; i < 3; ++i) carom_cuda_release(context, memory[i]);
    carom_cuda_robot_destroy(copy);
    return status;
}

carom_status carom_robot_device_check(carom_context *context, const carom_robot *robot,
                                      const double *configurations, uint64_t count,
                                      const carom_robot_query *query, carom_robot_result *results) {
    return run_from_host(context, robot,
                         &(robot_host_query){.query = query,
                                             .sets = {configurations, NULL},
                                             .set_count = 1,
                                             .count = count,
                                             .size = sizeof(*results),
                                             .results = results,
                                             .kind = CAROM_DEVICE_ROBOT_CHECK});
}

carom_status carom_robot_device_clearance(carom_context *context, const carom_robot *robot,
                                          const double *configurations, uint64_t count,
                                          const carom_robot_query *query, carom_robot_gap *gaps) {
    return run_from_host(context, robot,
                         &(robot_host_query){.query = query,
                                             .sets = {configurations, NULL},
                                             .set_count = 1,
                                             .count = count,
                                             .size = sizeof(*gaps),
                                             .results = gaps,
                                             .kind = CAROM_DEVICE_ROBOT_CLEARANCE});
}

carom_status carom_robot_device_motion(carom_context *context, const carom_robot *robot,
                                       const double *from, const double *to, uint64_t count,
                                       const carom_robot_query *query,
                                       carom_robot_motion_result *results) {
    return run_from_host(context, robot,
                         &(robot_host_query){.query = query,
                                             .sets = {from, to},
                                             .set_count = 2,
                                             .count = count,
                                             .size = sizeof(*results),
                                             .results = results,
                                             .kind = CAROM_DEVICE_ROBOT_MOTION});
}
