/* SPDX-License-Identifier: MIT */
/* Robots of contexts of backend cuda: copies of prepared robots in device memory, and the calls of
 * robot.h and cuda.h passed on to the GPU library.
 *
 * Robots are prepared on the CPU. All that decisions read is laid out one array after the other, as
 * it will lie on the device, with addresses of the device, and copied at once. */
#include <stdatomic.h>

#include "robot/robot.h"
#include "robot/robot_device.h"

/* Bytes that arrays are aligned to: a vector of four floats needs 16. */
#define ROBOT_DEVICE_ALIGNMENT UINT64_C(256)

struct carom_cuda_robot {
    carom_allocator allocator;
    const carom_robot *robot; /* borrowed */
    carom_device_robot device;
    carom_device_robot_memory *memory;
    uint64_t bytes;
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
    uintptr_t base; /* on the device */
} robot_layout;

/* Appends an array; returns its address on the device, NULL where it is empty. */
static void *layout_put(robot_layout *l, const void *from, uint64_t count, size_t size) {
    uint64_t at = l->used, bytes = count * size;
    if (from == NULL || bytes == 0) return NULL;
    if (l->to != NULL) memcpy(l->to + at, from, bytes);
    l->used +=
        (bytes + ROBOT_DEVICE_ALIGNMENT - 1) / ROBOT_DEVICE_ALIGNMENT * ROBOT_DEVICE_ALIGNMENT;
    return (void *)(l->base + (uintptr_t)at);
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

static void layout_robot(robot_layout *l, const carom_robot *robot, const robot_copies *c,
                         carom_device_robot *device) {
    carom_robot_view *view = &device->view;
    layout_plan(l, robot, c, &view->plan);
    for (uint32_t i = 0; i < robot->body_count; ++i) {
        const carom_robot_body *from = &robot->bodies[i];
        carom_robot_body *to = &c->bodies[i];
        *to = *from;
        to->cover = to->inner = to->fine = NULL; /* the plan has them */
        for (uint32_t k = 0; k < from->part_count; ++k)
            c->parts[k] = layout_part(l, &from->parts[k]);
        to->parts = LAYOUT_PUT(l, c->parts, from->part_count);
        to->field = layout_field(l, &from->field);
    }
    view->bodies = LAYOUT_PUT(l, c->bodies, robot->body_count);
    for (uint32_t i = 0; i < robot->object_count; ++i) {
        c->objects[i] = robot->objects[i];
        c->objects[i].part = layout_part(l, &robot->objects[i].part);
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

static carom_status robot_device_copy(carom_context *context, carom_cuda_robot *made,
                                      const robot_copies *c) {
    robot_layout count = {0}, l = {0};
    carom_device_robot ignored = {0};
    void *data = NULL;
    layout_robot(&count, made->robot, c, &ignored);
    CAROM_TRY(carom_device_pass(
        context, robot_device_table()->reserve(context->device, &made->memory, count.used, &data)));
    l.base = (uintptr_t)data;
    l.to = carom_allocate(&context->allocator, count.used, 1);
    if (l.to == NULL) return carom_fail_memory(context, count.used, "a copy of a robot");
    layout_robot(&l, made->robot, c, &made->device);
    CAROM_ASSERT(l.used == count.used);
    made->bytes = l.used;
    carom_status status = carom_device_pass(
        context, robot_device_table()->write(context->device, made->memory, l.to, l.used));
    carom_release(&context->allocator, l.to);
    return status;
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

void carom_cuda_robot_destroy(carom_cuda_robot *copy) {
    if (copy == NULL) return;
    carom_allocator allocator = copy->allocator;
    if (copy->memory != NULL) robot_device_table()->destroy(copy->memory);
    carom_release(&allocator, copy);
}

carom_status carom_cuda_robot_get_info(const carom_cuda_robot *copy, carom_cuda_robot_info *info) {
    CAROM_REQUIRE_INPUT(copy, "copy");
    CAROM_REQUIRE_OUTPUT(info, "info");
    *info =
        (carom_cuda_robot_info){.bytes = copy->bytes, .host_items = atomic_load(&copy->host_items)};
    return CAROM_OK;
}

/* ---- Queries --------------------------------------------------------------------------------- */

static carom_status decide_on_host(carom_context *context, void *user, const double *configurations,
                                   uint64_t count, const carom_robot_query *query,
                                   carom_robot_result *results) {
    carom_cuda_robot *copy = user;
    atomic_fetch_add(&copy->host_items, count);
    return carom_robot_check_on_cpu(context, copy->robot, configurations, count, query, results);
}

carom_status carom_cuda_robot_check(carom_context *context, carom_cuda_robot *copy,
                                    const double *device_configurations, uint64_t count,
                                    const carom_robot_query *query,
                                    carom_robot_result *device_results) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(copy, "copy");
    CAROM_REQUIRE_INPUTS(device_configurations, count * copy->device.dof, "configurations");
    CAROM_REQUIRE_OUTPUTS(device_results, count, "results");
    carom_device *device;
    CAROM_TRY(carom_device_of(context, "configurations in device memory", &device));
    CAROM_TRY(carom_robot_check_query(context, copy->robot, NULL, 0, query));
    carom_device_robot_query q = {.robot = &copy->device,
                                  .configurations = device_configurations,
                                  .count = count,
                                  .results = device_results,
                                  .decide = decide_on_host,
                                  .context = context,
                                  .user = copy};
    if (query != NULL) q.query = *query;
    return carom_device_pass(context, robot_device_table()->check(device, &q));
}

static carom_status check_copies(carom_context *context, carom_cuda_robot *copy,
                                 const double *configurations, uint64_t count,
                                 const carom_robot_query *query, void *q, void *on_device,
                                 carom_robot_result *results) {
    CAROM_TRY(carom_cuda_write(context, q, configurations,
                               count * copy->device.dof * sizeof(*configurations)));
    CAROM_TRY(carom_cuda_robot_check(context, copy, q, count, query, on_device));
    CAROM_TRY(carom_cuda_finish(context));
    return carom_cuda_read(context, results, on_device, count * sizeof(*results));
}

carom_status carom_robot_device_check(carom_context *context, const carom_robot *robot,
                                      const double *configurations, uint64_t count,
                                      const carom_robot_query *query, carom_robot_result *results) {
    carom_cuda_robot *copy = NULL;
    void *q = NULL, *on_device = NULL;
    CAROM_TRY(carom_cuda_robot_create(context, robot, &copy));
    carom_status status =
        carom_cuda_allocate(context, count * robot->dof * sizeof(*configurations), &q);
    if (status == CAROM_OK)
        status = carom_cuda_allocate(context, count * sizeof(*results), &on_device);
    if (status == CAROM_OK)
        status = check_copies(context, copy, configurations, count, query, q, on_device, results);
    carom_cuda_release(context, q);
    carom_cuda_release(context, on_device);
    carom_cuda_robot_destroy(copy);
    return status;
}
