/* SPDX-License-Identifier: MIT */
/* Files of trees: a head, then nodes and leaves as they are in memory, so that reading is copying.
 * All else follows from them. Numbers are little-endian; each array begins at a multiple of 64
 * bytes.
 *
 * Invariant: a file is accepted only if carom_tree_validate finds nothing wrong, so that queries of
 * what was loaded stay within their arrays. */
#include <float.h>

#include "geom/length.h"
#include "mesh/mesh_format.h"
#include "mesh/mesh_writer.h"
#include "pack/pack.h"
#include "tree/tree.h"

#define MAGIC      UINT64_C(0x0145455254524143) /* "CARTREE\1" */
#define MOST_SHIFT 400                          /* sizes are between 2^-200 and 2^200 */

typedef struct head {
    uint64_t magic, spheres;
    uint32_t inner, leaves, depth, method, arity;
    int32_t shift, void_scale;
    uint32_t spare; /* 0 */
    double volume;  /* of the solid, rounded up; 0: not known */
    carom_vec3 origin, centre;
    double radius, reach, cover;
    double zeros[8];
} head;

_Static_assert(sizeof(head) == 192, "arrays begin at a multiple of 64 bytes");
_Static_assert(sizeof(carom_tree_node) % 64 == 0 && sizeof(carom_tree_leaf) % 64 == 0, "no gaps");

/* ---- Writing --------------------------------------------------------------------------------- */

static void put(carom_writer *writer, const void *data, uint64_t size) {
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

static carom_status put_tree(carom_writer *writer, const carom_tree *t) {
    const uint16_t one = 1;
    head h;
    if (*(const uint8_t *)&one != 1)
        return carom_fail(writer->context, CAROM_UNSUPPORTED,
                          "trees are saved on little-endian machines only");
    memset(&h, 0, sizeof(h));
    h.magic = MAGIC;
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
    put(writer, &h, sizeof(h));
    put(writer, t->nodes, ((uint64_t)t->inner_count + t->leaf_count) * sizeof(*t->nodes));
    put(writer, t->leaves, (uint64_t)t->leaf_count * sizeof(*t->leaves));
    return CAROM_OK;
}

carom_status carom_tree_save(carom_context *context, const carom_tree *tree, const char *path) {
    CAROM_REQUIRE(context != NULL, "the context is NULL");
    CAROM_REQUIRE(tree != NULL, "the tree is NULL");
    CAROM_REQUIRE(path != NULL, "the path is NULL");
    carom_writer_file file;
    CAROM_TRY(carom_writer_open_file(context, path, false, &file));
    return carom_writer_close_file(&file, put_tree(&file.writer, tree));
}

carom_status carom_tree_save_memory(carom_context *context, const carom_tree *tree,
                                    carom_bytes *bytes) {
    CAROM_REQUIRE(context != NULL, "the context is NULL");
    CAROM_REQUIRE(tree != NULL, "the tree is NULL");
    CAROM_REQUIRE_RESULT(bytes, "the place for the bytes");
    carom_writer writer;
    CAROM_TRY(carom_writer_open_memory(context, bytes, &writer));
    return carom_writer_close_memory(&writer, put_tree(&writer, tree));
}

/* ---- Reading --------------------------------------------------------------------------------- */

static const char *check_head(const head *h, uint64_t size) {
    if (h->magic != MAGIC) return "not a tree by Carom, or of a machine with another byte order";
    uint64_t nodes = (uint64_t)h->inner + h->leaves;
    if (h->leaves == 0 || nodes >= UINT32_MAX || h->spheres == 0 ||
        h->spheres > (uint64_t)h->leaves * CAROM_TREE_WIDTH ||
        size != sizeof(head) + nodes * sizeof(carom_tree_node) +
                    (uint64_t)h->leaves * sizeof(carom_tree_leaf))
        return "its size does not fit its counts";
    if (h->method >= CAROM_TREE_METHOD_COUNT || h->arity < 2 || h->arity > CAROM_TREE_WIDTH ||
        h->depth == 0 || h->depth > nodes || h->shift < -MOST_SHIFT || h->shift > MOST_SHIFT ||
        h->void_scale < -1000 || h->void_scale > 1000 ||
        !(h->volume >= 0.0 && h->volume <= DBL_MAX) || !carom_vec_finite(h->origin) ||
        !carom_vec_finite(h->centre))
        return "a number of its head is out of range";
    return NULL;
}

/* The spheres in their order, and their slots; NULL or what is wrong. */
static const char *collect(carom_tree *t, carom_pack_sphere *spheres) {
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
        spheres[sphere] = (carom_pack_sphere){.centre = centre,
                                              .radius = l->radius[lane],
                                              .secondary = l->secondary[lane],
                                              .cover = l->cover[lane],
                                              .void_volume = (double)l->void_units[lane] * unit};
        if (!(l->cover[lane] >= CAROM_MAX(l->radius[lane], l->secondary[lane])))
            t->odd_covers = true;
    }
    return seen == t->extent.count ? NULL : "a sphere is in no leaf or in two";
}

static carom_status restore(carom_context *context, const head *h, const uint8_t *arrays,
                            const char *name, carom_tree *t) {
    uint64_t nodes = (uint64_t)h->inner + h->leaves;
    carom_pack_sphere *spheres;
    const carom_allocation all[5] = {
        CAROM_ALLOCATION(t->nodes, nodes), CAROM_ALLOCATION(t->leaves, h->leaves),
        CAROM_ALLOCATION(t->volumes, nodes), CAROM_ALLOCATION(t->slots, h->spheres),
        CAROM_ALLOCATION(spheres, h->spheres)};
    if (!carom_allocate_all(&t->allocator, all, 5))
        return carom_fail_memory(context, nodes * sizeof(*t->nodes), "a tree");
    memcpy(t->nodes, arrays, nodes * sizeof(*t->nodes));
    memcpy(t->leaves, arrays + nodes * sizeof(*t->nodes), h->leaves * sizeof(*t->leaves));
    t->inner_count = h->inner;
    t->leaf_count = h->leaves;
    t->depth = h->depth;
    t->origin = h->origin;
    t->shift = h->shift;
    t->centre = h->centre;
    t->radius = h->radius;
    t->reach = h->reach;
    t->cover = h->cover;
    t->extent.count = h->spheres;
    t->extent.void_scale = h->void_scale;
    t->info.method = (carom_tree_method)h->method;
    t->info.arity = h->arity;
    const char *broken = collect(t, spheres);
    carom_status status = CAROM_OK;
    if (broken == NULL) {
        carom_packing packing = {.spheres = spheres};
        packing.info.spheres = h->spheres;
        packing.info.shares = true;
        status = carom_pack_extent_make(context, &packing, name, &t->extent);
        if (status == CAROM_BAD_INPUT) broken = "its spheres are out of range";
        t->extent.void_scale = h->void_scale;
        t->extent.volume = h->volume > 0.0 ? h->volume : HUGE_VAL;
    }
    if (broken == NULL && status == CAROM_OK) broken = carom_tree_validate(t);
    carom_release(&t->allocator, spheres);
    if (broken != NULL) return carom_fail(context, CAROM_BAD_FILE, "%s: damaged: %s", name, broken);
    if (status == CAROM_OK) carom_tree_finish(t);
    return status;
}

carom_status carom_tree_load_memory(carom_context *context, const void *bytes, uint64_t size,
                                    const char *name, carom_tree **tree) {
    CAROM_REQUIRE(context != NULL, "the context is NULL");
    CAROM_REQUIRE(bytes != NULL, "the bytes are NULL");
    CAROM_REQUIRE(tree != NULL, "the place for the tree is NULL");
    *tree = NULL;
    CAROM_TRY(carom_context_require_cpu(context, "a sphere tree"));
    if (name == NULL) name = "tree";
    head h;
    memset(&h, 0, sizeof(h));
    memcpy(&h, bytes, CAROM_MIN(size, sizeof(h)));
    const char *wrong = size < sizeof(h) ? "too short for a tree" : check_head(&h, size);
    if (wrong != NULL) return carom_fail(context, CAROM_BAD_FILE, "%s: %s", name, wrong);
    carom_tree *made = carom_allocate(&context->allocator, 1, sizeof(*made));
    if (made == NULL) return carom_fail_memory(context, sizeof(*made), "a tree");
    *made = (carom_tree){.allocator = context->allocator};
    carom_status status = restore(context, &h, (const uint8_t *)bytes + sizeof(h), name, made);
    if (status == CAROM_OK)
        *tree = made;
    else
        carom_tree_destroy(made);
    return status;
}

carom_status carom_tree_load(carom_context *context, const char *path, carom_tree **tree) {
    CAROM_REQUIRE(context != NULL, "the context is NULL");
    CAROM_REQUIRE(path != NULL, "the path is NULL");
    CAROM_REQUIRE(tree != NULL, "the place for the tree is NULL");
    uint8_t *bytes;
    uint64_t size;
    *tree = NULL;
    CAROM_TRY(carom_file_read(context, path, &bytes, &size));
    carom_status status = carom_tree_load_memory(context, bytes, size, path, tree);
    carom_release(&context->allocator, bytes);
    return status;
}
