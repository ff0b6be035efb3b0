/* SPDX-License-Identifier: MIT */
/* Searches in parts on a context of backend cuda, with a stand-in for the GPU library that searches
 * soups of triangles on the CPU: what the parts do around it. The pairs are those of the CPU; parts
 * fit into half of the device's free memory, and where it is less than it seemed, blocks do; a
 * device that is lost ends the search with its message, and nothing is left on it. That the real
 * library has the same pairs is for tests/test_soup_cuda.c. One thread. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/device.h"
#include "geom/vec.h"
#include "soup/soup_device.h"
#include "tests/support/test.h"

#define BYTES_PER_TRIANGLE 400u /* that the stand-in counts; parts.c takes 360 */

/* ---- The stand-in ---------------------------------------------------------------------------- */

struct carom_device {
    char message[128];
};

struct carom_device_soup {
    carom_vec3 *points; /* of the corners, three per triangle */
    uint32_t *corners;  /* of the soup: common vertices */
    uint64_t count, vertices;
    bool as_segments;
};

static uint64_t free_there, used_there, soups_there; /* bytes, bytes, soups */
static uint64_t most_there;                          /* triangles of the largest soup */
static uint64_t searches_left = UINT64_MAX;          /* then the device is lost */
static carom_context *cpu, *cuda;

static bool describe(char *line, size_t size) {
    snprintf(line, size, "stand-in");
    return true;
}

static carom_status create(uint32_t number, void *stream, char *message, size_t size,
                           carom_device **device) {
    (void)stream, (void)message, (void)size;
    assert_int_equal(number, 3);
    *device = calloc(1, sizeof(**device));
    return CAROM_OK;
}

static void destroy(carom_device *device) {
    free(device);
}

static const char *message_of(const carom_device *device) {
    return device->message;
}

static uint64_t bytes_of(const carom_device *device) {
    (void)device;
    return used_there;
}

static carom_status free_bytes(carom_device *device, uint64_t *bytes) {
    (void)device;
    *bytes = free_there;
    return CAROM_OK;
}

static carom_status nothing(carom_device *device) {
    (void)device;
    return CAROM_OK;
}

static carom_status copy(carom_device *device, void *to, const void *from, uint64_t bytes) {
    (void)device;
    if (bytes != 0) memcpy(to, from, (size_t)bytes);
    return CAROM_OK;
}

static void pairs_free(carom_cuda_pairs *pairs) {
    free(pairs->data);
    *pairs = (carom_cuda_pairs){0};
}

static carom_cuda_base base_table = {.describe = describe,
                                     .create = create,
                                     .destroy = destroy,
                                     .message = message_of,
                                     .bytes = bytes_of,
                                     .free_bytes = free_bytes,
                                     .trim = nothing,
                                     .finish = nothing,
                                     .write = copy,
                                     .read = copy,
                                     .pairs_free = pairs_free};

static carom_status soup_create(carom_device *device, carom_device_soup **soup) {
    (void)device;
    *soup = calloc(1, sizeof(**soup));
    ++soups_there;
    return CAROM_OK;
}

static void soup_empty(carom_device_soup *soup) {
    used_there -= soup->count * BYTES_PER_TRIANGLE;
    free(soup->points);
    free(soup->corners);
    *soup = (carom_device_soup){0};
}

static void soup_destroy(carom_device_soup *soup) {
    soup_empty(soup);
    free(soup);
    --soups_there;
}

static carom_status soup_set(carom_device *device, carom_device_soup *soup,
                             const carom_device_soup_def *def) {
    soup_empty(soup);
    if (used_there + def->triangle_count * BYTES_PER_TRIANGLE > free_there) {
        snprintf(device->message, sizeof(device->message), "out of device memory for a soup");
        return CAROM_NO_MEMORY;
    }
    assert_null(def->faces);
    soup->count = def->triangle_count;
    soup->vertices = def->vertex_count;
    soup->as_segments = def->as_segments;
    soup->points = calloc((size_t)soup->vertices + 1, sizeof(*soup->points));
    soup->corners = calloc(3 * (size_t)soup->count + 1, sizeof(*soup->corners));
    used_there += soup->count * BYTES_PER_TRIANGLE;
    if (soup->count > most_there) most_there = soup->count;
    memcpy(soup->corners, def->corners, 3 * (size_t)soup->count * sizeof(*soup->corners));
    for (uint64_t v = 0; v < soup->vertices; ++v) {
        const double *d = (const double *)def->positions + 3 * v;
        const float *f = (const float *)def->positions + 3 * v;
        soup->points[v] = def->doubles ? carom_vec(d[0], d[1], d[2])
                                       : carom_vec((double)f[0], (double)f[1], (double)f[2]);
    }
    return CAROM_OK;
}

static uint32_t degenerate_faces(const carom_device_soup *soup) {
    (void)soup;
    return 0;
}

/* The posed soup on the CPU: positions x' decide. */
static carom_soup *soup_here(const carom_device_posed *posed) {
    const carom_device_soup *s = posed->soup;
    carom_vec3 *points = calloc((size_t)s->vertices + 1, sizeof(*points));
    carom_mesh_view view = {.positions = points,
                            .scalar = CAROM_SCALAR_FLOAT64,
                            .vertex_count = s->vertices,
                            .corners = s->corners,
                            .face_count = s->count};
    carom_soup_def def = {.mesh = &view,
                          .degenerate = s->as_segments ? CAROM_SOUP_DEGENERATE_AS_SEGMENT
                                                       : CAROM_SOUP_DEGENERATE_ALONE};
    carom_soup *made;
    for (uint64_t v = 0; v < s->vertices; ++v)
        points[v] = posed->moved ? carom_frame_apply(&posed->frame, s->points[v]) : s->points[v];
    assert_ok(cpu, carom_soup_create(cpu, &def, &made));
    free(points);
    return made;
}

static carom_status find(carom_device *device, const carom_device_posed *a,
                         const carom_device_posed *b, const double *reach,
                         carom_cuda_pairs *pairs) {
    carom_pairs found = {0};
    if (searches_left-- == 0) {
        snprintf(device->message, sizeof(device->message), "the device was lost at a search");
        return CAROM_NO_DEVICE;
    }
    carom_soup *first = soup_here(a), *second = b != NULL ? soup_here(b) : NULL;
    carom_status status =
        second == NULL ? reach == NULL ? carom_soup_self_pairs(cpu, first, &found)
                                       : carom_soup_self_pairs_within(cpu, first, *reach, &found)
        : reach == NULL
            ? carom_soup_cross_pairs(cpu, first, NULL, second, NULL, &found)
            : carom_soup_cross_pairs_within(cpu, first, NULL, second, NULL, *reach, &found);
    assert_ok(cpu, status);
    free(pairs->data);
    pairs->data = calloc((size_t)found.count + 1, sizeof(*pairs->data));
    pairs->count = found.count;
    if (found.count != 0)
        memcpy(pairs->data, found.data, (size_t)found.count * sizeof(*pairs->data));
    carom_pairs_free(&found);
    carom_soup_destroy(first);
    carom_soup_destroy(second);
    return CAROM_OK;
}

static carom_status search(carom_device *device, const carom_device_posed *a,
                           const carom_device_posed *b, const carom_device_method *method,
                           carom_cuda_order order, carom_cuda_pairs *pairs, uint64_t *count) {
    assert_false(method->by_grid);
    assert_int_equal(order, CAROM_CUDA_ORDER_SORTED);
    carom_status status = find(device, a, b, NULL, pairs);
    if (status == CAROM_OK) *count = pairs->count;
    return status;
}

static carom_status within(carom_device *device, const carom_device_posed *a,
                           const carom_device_posed *b, double margin, carom_cuda_pairs *pairs,
                           carom_device_within *result) {
    *result = (carom_device_within){.undecided_count = 0};
    return find(device, a, b, &margin, pairs);
}

static carom_status get_work(carom_device *device, carom_work *work) {
    (void)device;
    *work = (carom_work){.candidates = 0};
    return CAROM_OK;
}

static carom_cuda_soup soup_table = {.create = soup_create,
                                     .destroy = soup_destroy,
                                     .set = soup_set,
                                     .degenerate_faces = degenerate_faces,
                                     .search = search,
                                     .get_work = get_work,
                                     .within = within};

void *__wrap_carom_os_library_open(const char *name, char *why, size_t size);
void *__wrap_carom_os_library_find(void *library, const char *symbol);

void *__wrap_carom_os_library_open(const char *name, char *why, size_t size) {
    (void)name, (void)why, (void)size;
    return cpu; /* any address */
}

void *__wrap_carom_os_library_find(void *library, const char *symbol) {
    (void)library;
    if (strcmp(symbol, CAROM_CUDA_BASE) == 0) return &base_table;
    if (strcmp(symbol, CAROM_CUDA_SOUP) == 0) return &soup_table;
    return NULL;
}

/* ---- Tests ----------------------------------------------------------------------------------- */

#define MOST_PAIRS 400000u

static carom_pair found[2][MOST_PAIRS];
static uint64_t counts[2];

static bool receive(void *user, const carom_pair *pairs, uint64_t count) {
    int which = *(int *)user;
    assert_true(counts[which] + count <= MOST_PAIRS);
    memcpy(found[which] + counts[which], pairs, (size_t)count * sizeof(*pairs));
    counts[which] += count;
    return false;
}

static carom_status run(int which, carom_parts_def *def, carom_parts_report *report) {
    counts[which] = 0;
    return carom_parts_pairs(which == 0 ? cpu : cuda, def, receive, &which, report);
}

/* The same pairs on both, and what the search on the device reports. */
static carom_parts_report compare(carom_parts_def *def) {
    carom_parts_report of_cpu, of_cuda;
    most_there = 0;
    assert_ok(cpu, run(0, def, &of_cpu));
    assert_ok(cuda, run(1, def, &of_cuda));
    assert_true(counts[0] != 0 && counts[0] == counts[1]);
    assert_memory_equal(found[0], found[1], (size_t)counts[0] * sizeof(found[0][0]));
    assert_true(of_cpu.hash == of_cuda.hash);
    assert_int_equal(soups_there, 0);
    assert_int_equal(used_there, 0);
    return of_cuda;
}

static carom_mesh *make(carom_shape shape, uint64_t detail, carom_mesh_view *view) {
    carom_shape_def def = {.shape = shape, .detail = detail, .scalar = CAROM_SCALAR_FLOAT32};
    carom_mesh *mesh;
    assert_ok(cpu, carom_shape_make(cpu, &def, &mesh));
    assert_ok(cpu, carom_mesh_get_view(mesh, view));
    return mesh;
}

static void pairs_are_those_of_the_cpu(void **state) {
    (void)state;
    carom_mesh_view cloth, ring;
    carom_mesh *a = make(CAROM_SHAPE_CLOTH, 60, &cloth);
    carom_mesh *b = make(CAROM_SHAPE_TORUS, 60, &ring);
    free_there = UINT64_C(1) << 40;
    carom_parts_def def = {.a.mesh = &cloth, .memory = CAROM_PARTS_LEAST_MEMORY};
    assert_int_equal(compare(&def).parts, 1);
    def.part_faces = 500;
    assert_true(compare(&def).parts > 10);
    def.within = true;
    def.reach = 0.01;
    (void)compare(&def);
    def.b.mesh = &ring;
    def.cross = true;
    def.pose_b = (carom_pose){.q = {1.0, 0.1, 0.0, 0.0}, .t = {0.1, 0.2, 0.0}};
    (void)compare(&def);
    def.within = false;
    def.no_weld = true;
    (void)compare(&def);
    def.shards = 3;
    def.shard = 1;
    (void)compare(&def);
    carom_mesh_destroy(a);
    carom_mesh_destroy(b);
}

/* Half of what is free bounds the parts, and where a soup does not fit after all, as another one
 * took the memory, smaller blocks are searched. */
static void device_memory_bounds_the_parts(void **state) {
    (void)state;
    carom_mesh_view cloth;
    carom_mesh *mesh = make(CAROM_SHAPE_CLOTH, 60, &cloth);
    carom_parts_def def = {.a.mesh = &cloth, .memory = CAROM_PARTS_LEAST_MEMORY};
    free_there = UINT64_C(720) * 1000;
    assert_true(compare(&def).parts > 7); /* of 7,200 triangles */
    assert_true(most_there > 250 && most_there <= 1000);
    /* 500 triangles are more than there is: blocks of half of that */
    free_there = (uint64_t)BYTES_PER_TRIANGLE * 499;
    def.part_faces = 0;
    (void)compare(&def);
    assert_true(most_there < 500);
    carom_mesh_destroy(mesh);
}

/* Free memory that is less than the device said: every part is searched in blocks. */
static void memory_that_is_gone_makes_blocks(void **state) {
    (void)state;
    carom_mesh_view cloth;
    carom_mesh *mesh = make(CAROM_SHAPE_CLOTH, 40, &cloth);
    carom_parts_def def = {.a.mesh = &cloth, .memory = CAROM_PARTS_LEAST_MEMORY};
    free_there = (uint64_t)BYTES_PER_TRIANGLE * 1200; /* half of it is 666 triangles at 360 */
    used_there = (uint64_t)BYTES_PER_TRIANGLE * 800;  /* of another process */
    carom_parts_report report;
    most_there = 0;
    assert_ok(cpu, run(0, &def, NULL));
    assert_ok(cuda, run(1, &def, &report));
    assert_true(counts[0] == counts[1] && counts[0] != 0);
    assert_memory_equal(found[0], found[1], (size_t)counts[0] * sizeof(found[0][0]));
    assert_true(report.searches > report.parts && most_there <= 400);
    used_there = 0;
    carom_mesh_destroy(mesh);
}

static void what_cannot_be_is_told(void **state) {
    (void)state;
    carom_mesh_view cloth;
    carom_kfree kfree;
    carom_mesh *mesh = make(CAROM_SHAPE_CLOTH, 40, &cloth);
    carom_parts_def def = {.a.mesh = &cloth, .memory = CAROM_PARTS_LEAST_MEMORY, .part_faces = 500};
    free_there = UINT64_C(1) << 40;
    searches_left = 3;
    assert_int_equal(run(1, &def, NULL), CAROM_NO_DEVICE);
    assert_non_null(strstr(carom_context_message(cuda), "the device was lost at a search"));
    assert_int_equal(soups_there, 0);
    searches_left = UINT64_MAX;
    def.boxes = true; /* the stand-in has none */
    assert_int_equal(run(1, &def, NULL), CAROM_UNSUPPORTED);
    assert_non_null(strstr(carom_context_message(cuda), "the cuda library has no broad phase"));
    def.boxes = false;
    assert_int_equal(carom_parts_kfree(cuda, &def, NULL, NULL, &kfree, NULL), CAROM_UNSUPPORTED);
    assert_non_null(strstr(carom_context_message(cuda), "k-freeness in parts cannot be computed "));
    carom_mesh_destroy(mesh);
}

int main(void) {
    char line[64];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_are_those_of_the_cpu),
        cmocka_unit_test(device_memory_bounds_the_parts),
        cmocka_unit_test(memory_that_is_gone_makes_blocks),
        cmocka_unit_test(what_cannot_be_is_told),
    };
    if (carom_context_create(NULL, &cpu) != CAROM_OK) return 1;
    if (!carom_cuda_describe(line, sizeof(line)) || strcmp(line, "stand-in") != 0) {
        puts("skipped: the linker cannot wrap functions here");
        carom_context_destroy(cpu);
        return TEST_SKIPPED;
    }
    if (carom_context_create(&(carom_context_def){.backend = CAROM_BACKEND_CUDA, .device = 3},
                             &cuda) != CAROM_OK)
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    carom_context_destroy(cuda);
    carom_context_destroy(cpu);
    return failed;
}
