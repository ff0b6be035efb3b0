/* SPDX-License-Identifier: MIT */
/* Files of trees: a head, then all arrays as they are in memory, so that a file is mapped and used
 * where it lies. Volumes of nodes and slots of spheres follow from them. Numbers are little-endian;
 * each array begins at a multiple of 64 bytes.
 *
 * Invariant: a file is accepted only if carom_tree_validate finds nothing wrong, so that queries of
 * what was loaded stay within their arrays. */
#include <float.h>
#include <inttypes.h>

#include "base/byte_order.h"
#include "base/file.h"
#include "base/names.h"
#include "base/platform.h"
#include "geom/length.h"
#include "mesh/mesh_format.h"
#include "mesh/mesh_writer.h"
#include "spheres/spheres_overlap.h"
#include "tree/tree_device.h"

#define TREE_MAGIC UINT64_C(0x0245455254524143) /* "CARTREE\2" */

/* Shifts of frames: sizes are between 2^-200 and 2^200, and centres may be that much larger than
 * radii. */
#define TREE_SHIFT_MAX 400

typedef struct tree_file_head {
    uint64_t magic, spheres;
    uint32_t inner, leaves, depth, method, arity;
    int32_t shift, void_scale;
    uint32_t triangles; /* of the surface; 0: none */
    double volume;      /* of the solid, rounded up; 0: not known */
    carom_vec3 origin, centre;
    double radius, reach, cover;
    carom_vec3 surface_centre;
    double surface_radius;
    uint32_t vertices, shells;
    uint32_t cells; /* 0: none */
    uint32_t zero;
    double zeros[2];
} tree_file_head;

_Static_assert(sizeof(tree_file_head) == 192, "arrays begin at a multiple of 64 bytes");
_Static_assert(sizeof(carom_tree_node) % 64 == 0 && sizeof(carom_tree_leaf) % 64 == 0, "no gaps");

CAROM_ENUM_NAMES(carom_tree_format, CAROM_TREE_FORMAT_COUNT, "guess", "carom");

/* ---- Arrays ---------------------------------------------------------------------------------- */

/* An array of a file. Its records begin with `wide` bytes of 64-bit numbers; the rest of each has
 * 32 bits. */
typedef struct part {
    void *pointer; /* where the tree's pointer is */
    uint64_t size; /* bytes */
    size_t record, wide;
} part;

#define TREE_FILE_NARROW 4, 0
#define TREE_FILE_WIDE   8, 8
#define TREE_FILE_LEAF   sizeof(carom_tree_leaf), offsetof(carom_tree_leaf, depth)

#define TREE_PARTS 12u /* arrays of a file */

/* The arrays of a tree whose counts are set, in the order of the file. */
static void list_parts(carom_tree *t, part parts[TREE_PARTS]) {
    carom_tree_surface *s = &t->surface;
    uint64_t nodes = (uint64_t)t->inner_count + t->leaf_count, triangles = s->triangle_count;
    uint64_t some = triangles != 0, slots = some * t->leaf_count * CAROM_TREE_WIDTH;
    const part list[TREE_PARTS] = {
        {&t->nodes, nodes * sizeof(*t->nodes), TREE_FILE_NARROW},
        {&t->leaves, (uint64_t)t->leaf_count * sizeof(*t->leaves), TREE_FILE_LEAF},
        {&t->faces, (uint64_t)t->leaf_count * CAROM_TREE_WIDTH * sizeof(*t->faces),
         TREE_FILE_NARROW},
        {&s->nodes, s->node_count * sizeof(*s->nodes), TREE_FILE_NARROW},
        {&s->vertices, s->vertex_count * sizeof(*s->vertices), TREE_FILE_WIDE},
        {&s->extremes, (uint64_t)s->shell_count * CAROM_TREE_EXTREMES * sizeof(*s->extremes),
         TREE_FILE_WIDE},
        {&s->corners, 3 * triangles * sizeof(*s->corners), TREE_FILE_NARROW},
        {&s->faces, triangles * sizeof(*s->faces), TREE_FILE_NARROW},
        {&s->ring, 3 * triangles * sizeof(*s->ring), TREE_FILE_NARROW},
        {&s->ring_start, (s->vertex_count + some) * sizeof(*s->ring_start), TREE_FILE_NARROW},
        {&t->outward, 3 * slots * sizeof(*t->outward), TREE_FILE_NARROW},
        {&t->cells.cells, (uint64_t)t->cells.count * sizeof(*t->cells.cells), TREE_FILE_NARROW}};
    memcpy(parts, list, sizeof(list));
}

static uint64_t padded(uint64_t size) {
    return (size + CAROM_ALIGNMENT - 1) / CAROM_ALIGNMENT * CAROM_ALIGNMENT;
}

/* ---- Byte order ------------------------------------------------------------------------------ */

/* Between the file's byte order and a big-endian machine's, in either direction. */
static void reverse_head(tree_file_head *h) {
    uint8_t *at = (uint8_t *)h;
    const size_t words = offsetof(tree_file_head, inner),
                 numbers = offsetof(tree_file_head, volume),
                 counts = offsetof(tree_file_head, vertices), end = offsetof(tree_file_head, zeros);
    carom_reverse_numbers(at, words, 8);
    carom_reverse_numbers(at + words, numbers - words, 4);
    carom_reverse_numbers(at + numbers, counts - numbers, 8);
    carom_reverse_numbers(at + counts, end - counts, 4);
}

static void reverse_records(uint8_t *at, uint64_t size, const part *p) {
    for (uint64_t begin = 0; begin < size; begin += p->record) {
        carom_reverse_numbers(at + begin, p->wide, 8);
        carom_reverse_numbers(at + begin + p->wide, p->record - p->wide, 4);
    }
}

/* ---- Writing --------------------------------------------------------------------------------- */

static void tree_file_put(carom_writer *writer, const void *data, uint64_t size) {
    const char *from = data;
    while (size != 0) {
        uint64_t some = CAROM_MIN(size, (uint64_t)CAROM_WRITER_ROOM);
        char *to = carom_writer_reserve(writer);
        memcpy(to, from, some);
        carom_writer_advance(writer, to + some);
        from += some;
        size -= some;
    }
}

static void put_part(carom_writer *writer, const uint8_t *data, const part *p) {
    static const char zeros[CAROM_ALIGNMENT] = {0};
    uint8_t record[sizeof(carom_tree_leaf)]; /* the largest */
    if (carom_is_little_endian()) {
        tree_file_put(writer, data, p->size);
    } else {
        for (uint64_t at = 0; at < p->size; at += p->record) {
            memcpy(record, data + at, p->record);
            reverse_records(record, p->record, p);
            tree_file_put(writer, record, p->record);
        }
    }
    tree_file_put(writer, zeros, padded(p->size) - p->size);
}

static carom_status put_tree(carom_writer *writer, const carom_tree *t) {
    tree_file_head h;
    memset(&h, 0, sizeof(h));
    h.magic = TREE_MAGIC;
    h.spheres = t->extent.count;
    h.inner = t->inner_count;
    h.leaves = t->leaf_count;
    h.depth = t->depth;
    h.method = (uint32_t)t->info.method;
    h.arity = t->info.arity;
    h.shift = t->shift;
    h.void_scale = t->extent.void_scale;
    h.volume = t->extent.volume <= DBL_MAX ? t->extent.volume : 0.0;
    h.origin = t->origin;
    h.centre = t->centre;
    h.radius = t->radius;
    h.reach = t->reach;
    h.cover = t->cover;
    h.triangles = t->surface.triangle_count;
    h.vertices = t->surface.vertex_count;
    h.shells = t->surface.shell_count;
    h.cells = t->cells.count;
    h.surface_centre = t->surface.centre;
    h.surface_radius = t->surface.radius;
    if (!carom_is_little_endian()) reverse_head(&h);
    tree_file_put(writer, &h, sizeof(h));
    carom_tree copy = *t; /* list_parts gives addresses of pointers */
    part parts[TREE_PARTS];
    list_parts(&copy, parts);
    for (uint32_t i = 0; i < TREE_PARTS; ++i) {
        const uint8_t *data;
        memcpy(&data, parts[i].pointer, sizeof(data));
        put_part(writer, data, &parts[i]);
    }
    return CAROM_OK;
}

carom_status carom_tree_save(carom_context *context, const carom_tree *tree,
                             carom_tree_format format, const char *path) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(tree, "tree");
    CAROM_REQUIRE_INPUT(path, "path");
    CAROM_REQUIRE_KNOWN(format, CAROM_TREE_FORMAT_COUNT, "format");
    carom_writer_file file;
    CAROM_TRY(carom_writer_open_file(context, path, false, &file));
    return carom_writer_close_file(&file, put_tree(&file.writer, tree));
}

carom_status carom_tree_save_memory(carom_context *context, const carom_tree *tree,
                                    carom_tree_format format, carom_bytes *bytes) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(tree, "tree");
    CAROM_REQUIRE_RESULT(bytes, "bytes");
    CAROM_REQUIRE_KNOWN(format, CAROM_TREE_FORMAT_COUNT, "format");
    carom_writer writer;
    CAROM_TRY(carom_writer_open_memory(context, bytes, &writer));
    return carom_writer_close_memory(&writer, put_tree(&writer, tree));
}

/* ---- Reading --------------------------------------------------------------------------------- */

#define TREE_FILE_CELLS_MAX (UINT32_C(1) << 30) /* their indices have 30 bits */

static void set_counts(const tree_file_head *h, carom_tree *t) {
    t->inner_count = h->inner;
    t->leaf_count = h->leaves;
    t->surface.triangle_count = h->triangles;
    t->surface.vertex_count = h->vertices;
    t->surface.shell_count = h->shells;
    t->cells.count = h->cells;
    carom_tree_surface_shape(&t->surface);
}

static uint64_t size_of_file(const tree_file_head *h) {
    carom_tree t = {0};
    part parts[TREE_PARTS];
    uint64_t size = sizeof(tree_file_head);
    set_counts(h, &t);
    list_parts(&t, parts);
    for (uint32_t i = 0; i < TREE_PARTS; ++i) size += padded(parts[i].size);
    return size;
}

static const char *check_head(const tree_file_head *h) {
    if (h->magic != TREE_MAGIC) return "not a tree by Carom";
    uint64_t nodes = (uint64_t)h->inner + h->leaves;
    if (h->leaves == 0 || nodes >= UINT32_MAX / CAROM_TREE_WIDTH || h->spheres == 0 ||
        h->spheres > (uint64_t)h->leaves * CAROM_TREE_WIDTH ||
        h->triangles > CAROM_TREE_TRIANGLES_MAX || h->vertices > 3 * h->triangles ||
        h->shells > h->vertices || (h->triangles == 0) != (h->shells == 0) ||
        h->cells > TREE_FILE_CELLS_MAX || (h->triangles == 0 && h->cells != 0))
        return "its counts do not fit each other";
    if (h->method >= CAROM_TREE_METHOD_COUNT || h->arity < 2 || h->arity > CAROM_TREE_WIDTH ||
        h->depth == 0 || h->depth > nodes || h->shift < -TREE_SHIFT_MAX ||
        h->shift > TREE_SHIFT_MAX || h->void_scale < -CAROM_SPHERES_VOID_SCALE_MOST ||
        h->void_scale > CAROM_SPHERES_VOID_SCALE_MOST ||
        !(h->volume >= 0.0 && h->volume <= DBL_MAX) || !carom_vec_finite(h->origin) ||
        !carom_vec_finite(h->centre))
        return "a number of its head is out of range";
    return NULL;
}

/* The spheres in their order, and their slots; NULL or what is wrong. */
static const char *tree_file_collect(carom_tree *t, carom_packing_sphere *spheres) {
    double unit = carom_power_of_two(t->extent.void_scale);
    for (uint64_t i = 0; i < t->extent.count; ++i) t->slots[i] = UINT32_MAX;
    uint64_t seen = 0, units = 0;
    for (uint32_t slot = 0; slot < t->leaf_count * CAROM_TREE_WIDTH; ++slot) {
        uint32_t leaf = slot / CAROM_TREE_WIDTH, lane = slot % CAROM_TREE_WIDTH;
        uint32_t sphere = t->nodes[t->inner_count + leaf].child[lane];
        const carom_tree_leaf *l = &t->leaves[leaf];
        if (sphere == CAROM_TREE_NONE) {
            if (l->secondary[lane] != 0.0) return "a lane past the end is not empty";
            continue;
        }
        if (sphere >= t->extent.count || t->slots[sphere] != UINT32_MAX)
            return "a sphere is in no leaf or in two";
        t->slots[sphere] = slot;
        ++seen;
        units += CAROM_MIN(l->void_units[lane], UINT64_C(1) << 62);
        if (units >= UINT64_C(1) << 62) return "its voids are too large";
        carom_vec3 centre = carom_vec(l->x[lane], l->y[lane], l->z[lane]);
        if (!carom_vec_finite(centre) || !(l->radius[lane] > 0.0))
            return "a sphere has a centre that is not finite, or no radius";
        spheres[sphere] = (carom_packing_sphere){.centre = centre,
                                                 .radius = l->radius[lane],
                                                 .secondary = l->secondary[lane],
                                                 .cover = l->cover[lane],
                                                 .void_volume = (double)l->void_units[lane] * unit};
        if (!(l->cover[lane] >= CAROM_MAX(l->radius[lane], l->secondary[lane])))
            t->odd_covers = true;
    }
    return seen == t->extent.count ? NULL : "a sphere is in no leaf or in two";
}

/* Sets all of a tree from its file, whose head is good. */
static carom_status tree_file_restore(carom_context *context, const tree_file_head *h,
                                      const char *name, carom_tree *t) {
    carom_packing_sphere *spheres;
    part parts[TREE_PARTS];
    uint8_t *at = (uint8_t *)t->file + sizeof(tree_file_head);
    set_counts(h, t);
    list_parts(t, parts);
    for (uint32_t i = 0; i < TREE_PARTS; ++i) {
        memcpy(parts[i].pointer, &at, sizeof(at));
        if (!carom_is_little_endian()) reverse_records(at, parts[i].size, &parts[i]);
        at += padded(parts[i].size);
    }
    if (h->triangles == 0) t->outward = NULL;
    const carom_allocation all[5] = {CAROM_ALLOCATION(t->volumes, (uint64_t)h->inner + h->leaves),
                                     CAROM_ALLOCATION(t->moments, (uint64_t)h->inner + h->leaves),
                                     CAROM_ALLOCATION(t->moment_lanes, h->inner),
                                     CAROM_ALLOCATION(t->slots, h->spheres),
                                     CAROM_ALLOCATION(spheres, h->spheres)};
    if (!carom_allocate_all(&t->allocator, all, 5))
        return carom_fail_memory(context, h->spheres * sizeof(*spheres), "a tree");
    t->depth = h->depth;
    t->origin = h->origin;
    t->shift = h->shift;
    t->centre = h->centre;
    t->radius = h->radius;
    t->reach = h->reach;
    t->cover = h->cover;
    t->surface.centre = h->surface_centre;
    t->surface.radius = h->surface_radius;
    carom_tree_cells_set_cube(&t->surface, &t->cells);
    t->extent.count = h->spheres;
    t->extent.void_scale = h->void_scale;
    t->info.method = (carom_tree_method)h->method;
    t->info.arity = h->arity;
    const char *broken = tree_file_collect(t, spheres);
    carom_status status = CAROM_OK;
    if (broken == NULL) {
        const carom_spheres_view read = {.data = spheres, .count = h->spheres};
        status = carom_spheres_extent_of(context, &read, name, &t->extent);
        if (status == CAROM_BAD_INPUT) broken = "its spheres are out of range";
        t->extent.void_scale = h->void_scale;
        t->extent.volume = h->volume > 0.0 ? h->volume : HUGE_VAL;
    }
    if (broken == NULL && status == CAROM_OK) broken = carom_tree_validate(t);
    carom_release(&t->allocator, spheres);
    if (broken != NULL && strcmp(broken, CAROM_TREE_NO_MEMORY) == 0)
        return carom_fail_memory(context, h->spheres, "checking a tree");
    if (broken != NULL) return carom_fail(context, CAROM_BAD_FILE, "%s: damaged: %s", name, broken);
    if (status == CAROM_OK) carom_tree_finish(t);
    return status;
}

void carom_tree_file_release(carom_tree *tree) {
    if (tree->is_mapped)
        carom_os_unmap(tree->file, (size_t)tree->file_size);
    else
        carom_release(&tree->allocator, tree->file);
}

/* Checks the head, and that the size is the one that its counts need. */
static carom_status check_file(carom_context *context, const tree_file_head *h, uint64_t size,
                               const char *name) {
    if (size < sizeof(*h))
        return carom_fail(context, CAROM_BAD_FILE,
                          "%s: byte %" PRIu64 ": the file ends inside its head of %zu bytes; it "
                          "was cut short, or is no tree",
                          name, size, sizeof(*h));
    const char *wrong = check_head(h);
    if (wrong != NULL) return carom_fail(context, CAROM_BAD_FILE, "%s: %s", name, wrong);
    if (size != size_of_file(h))
        return carom_fail(context, CAROM_BAD_FILE,
                          "%s: byte %" PRIu64 ": the file ends here, and its counts need %" PRIu64
                          " bytes; it was cut short or something was added",
                          name, size, size_of_file(h));
    return CAROM_OK;
}

/* Makes a tree from `made`, which has the file; frees it on failure. */
static carom_status finish_load(carom_context *context, carom_tree *made, const char *name,
                                carom_tree **tree) {
    tree_file_head h;
    memset(&h, 0, sizeof(h));
    memcpy(&h, made->file, CAROM_MIN(made->file_size, sizeof(h)));
    if (!carom_is_little_endian()) reverse_head(&h);
    carom_status status = check_file(context, &h, made->file_size, name);
    if (status == CAROM_OK) status = tree_file_restore(context, &h, name, made);
    if (status == CAROM_OK) status = carom_tree_device_copy(context, made);
    if (status == CAROM_OK)
        *tree = made;
    else
        carom_tree_destroy(made);
    return status;
}

static carom_status make_empty(carom_context *context, carom_tree **made) {
    *made = carom_allocate(&context->allocator, 1, sizeof(**made));
    if (*made == NULL) return carom_fail_memory(context, sizeof(**made), "a tree");
    **made = (carom_tree){.allocator = context->allocator, .own = context->allocator};
    return CAROM_OK;
}

carom_status carom_tree_load_memory(carom_context *context, const void *bytes, uint64_t size,
                                    carom_tree_format format, const char *name, carom_tree **tree) {
    CAROM_ENTER(context);
    CAROM_REQUIRE(bytes != NULL, CAROM_ARE_NULL("bytes"));
    CAROM_REQUIRE_KNOWN(format, CAROM_TREE_FORMAT_COUNT, "format");
    CAROM_REQUIRE_OUTPUT(tree, "tree");
    carom_tree *made;
    *tree = NULL;
    CAROM_TRY(make_empty(context, &made));
    made->file = carom_allocate(&context->allocator, size, 1);
    if (made->file == NULL) {
        carom_tree_destroy(made);
        return carom_fail_memory(context, size, "a tree");
    }
    memcpy(made->file, bytes, size);
    made->file_size = size;
    return finish_load(context, made, name != NULL ? name : "tree", tree);
}

/* Maps a file where that can be done; else it is to be read. */
static carom_status map_file(carom_context *context, const char *path, carom_tree *t) {
    carom_file file;
    CAROM_TRY(carom_file_open(context, path, &file));
    if (file.size > 0 && carom_is_little_endian()) { /* else its numbers are to be turned */
        void *at = carom_os_map(file.descriptor, (size_t)file.size);
        if (at != NULL) {
            t->file = at;
            t->file_size = file.size;
            t->is_mapped = true;
        }
    }
    (void)carom_os_close(file.descriptor);
    return CAROM_OK;
}

carom_status carom_tree_load(carom_context *context, const char *path, carom_tree_format format,
                             carom_tree **tree) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(path, "path");
    CAROM_REQUIRE_KNOWN(format, CAROM_TREE_FORMAT_COUNT, "format");
    CAROM_REQUIRE_OUTPUT(tree, "tree");
    carom_tree *made;
    *tree = NULL;
    CAROM_TRY(make_empty(context, &made));
    carom_status mapped = map_file(context, path, made);
    if (made->is_mapped) return finish_load(context, made, path, tree);
    carom_tree_destroy(made);
    CAROM_TRY(mapped);
    uint8_t *bytes;
    uint64_t size;
    CAROM_TRY(carom_file_read(context, path, &bytes, &size));
    carom_status status = carom_tree_load_memory(context, bytes, size, format, path, tree);
    carom_release(&context->allocator, bytes);
    return status;
}
