/* SPDX-License-Identifier: MIT */
/* The relation of a solid to itself and to another solid.
 *
 * Everything here is decided by exact winding numbers beside faces (solid_witness.c). Invariant:
 * the meshes are not perturbed, unlike in the search for the overlap, so a gap of no width between
 * two coplanar faces is not space. For surfaces that do not intersect, one point per connected
 * component is enough. */
#include "solid/solid_relation.h"

#include "base/progress.h"
#include "base/sort.h"
#include "base/threads.h"
#include "solid/solid_prefix_sums_cpu.h"
#include "solid/solid_witness.h"

/* ---- Regions --------------------------------------------------------------------------------- */

/* The edge of a side: the lower vertex, then the higher one. */
static uint64_t edge_of(const carom_soup_view *soup, uint64_t side) {
    uint64_t t = side / 3, k = side % 3;
    uint32_t a = soup->corners[side], b = soup->corners[3 * t + (k == 2 ? 0 : k + 1)];
    return (uint64_t)CAROM_MIN(a, b) << 32 | CAROM_MAX(a, b);
}

/* Finds the triangle across each side, of edges that have two sides. Stable sorts by the higher
 * vertex, then by the lower one, make the sides of one edge adjacent. */
carom_status carom_solid_find_across(carom_context *context, carom_solid *solid) {
    const carom_soup_view *soup = &solid->view;
    uint64_t count = 3 * (uint64_t)soup->triangle_count;
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    if (solid->across != NULL) return CAROM_OK;
    uint32_t *keys = CAROM_ARENA_TAKE(scratch, uint32_t, count);
    uint32_t *sides = CAROM_ARENA_TAKE(scratch, uint32_t, count);
    if (keys == NULL || sides == NULL)
        return carom_fail_memory(context, count * 8, "the edges of a solid");
    for (uint64_t i = 0; i < count; ++i) {
        keys[i] = (uint32_t)edge_of(soup, i);
        sides[i] = (uint32_t)i;
    }
    CAROM_TRY(carom_sort_keys(context, keys, sides, count));
    for (uint64_t i = 0; i < count; ++i) keys[i] = (uint32_t)(edge_of(soup, sides[i]) >> 32);
    CAROM_TRY(carom_sort_keys(context, keys, sides, count));
    solid->across = carom_allocate(&solid->allocator, count, sizeof(*solid->across));
    if (solid->across == NULL) return carom_fail_memory(context, count * 4, "the edges of a solid");
    for (uint64_t i = 0, end; i < count; i = end) {
        uint64_t edge = edge_of(soup, sides[i]);
        for (end = i; end < count && edge_of(soup, sides[end]) == edge;) ++end;
        for (uint64_t k = i; k < end; ++k)
            solid->across[sides[k]] = sides[end - i == 2 ? i + end - 1 - k : k] / 3;
    }
    carom_arena_rewind(scratch, mark);
    return CAROM_OK;
}

static uint32_t solid_relation_root_of(uint32_t *firsts, uint32_t t) {
    while (firsts[t] != t) t = firsts[t] = firsts[firsts[t]];
    CAROM_ASSERT(firsts[t] == t);
    return t;
}

/* Joins a triangle's region, which begins with `first`, with that of a neighbour. */
static void join_region(uint32_t *firsts, uint32_t first, uint32_t other) {
    if (other == first || other == CAROM_NONE) return;
    uint32_t a = solid_relation_root_of(firsts, first), b = solid_relation_root_of(firsts, other);
    firsts[CAROM_MAX(a, b)] = CAROM_MIN(a, b);
}

/* Finds the first triangle of each triangle's region: of those joined across edges of exactly two
 * sides, but for those that are `apart`, each by itself. On such a region a winding number changes
 * only where other faces intersect it. In order, each triangle takes the least region of its
 * neighbours before it, and joins the others to that: it is hardly ever needed, as the neighbours
 * of a triangle are mostly in one region already. */
static carom_status find_joined(carom_context *context, carom_solid *solid, const uint8_t *apart,
                                uint32_t *firsts) {
    uint32_t count = solid->view.triangle_count;
    CAROM_TRY(carom_solid_find_across(context, solid));
    for (uint32_t t = 0; t < count; ++t) firsts[t] = CAROM_NONE; /* not reached, or apart */
    for (uint32_t t = 0; t < count; ++t) {
        if (apart != NULL && apart[t]) continue;
        const uint32_t *across = solid->across + 3 * (uint64_t)t;
        uint32_t a = firsts[across[0]], b = firsts[across[1]], c = firsts[across[2]];
        uint32_t ab = CAROM_MIN(a, b), least = CAROM_MIN(ab, c);
        firsts[t] = least != CAROM_NONE ? least : t;
        CAROM_ASSERT(firsts[t] <= t);
        if (least == CAROM_NONE) continue;
        join_region(firsts, least, a);
        join_region(firsts, least, b);
        join_region(firsts, least, c);
    }
    for (uint32_t t = 0; t < count; ++t)
        firsts[t] = firsts[t] != CAROM_NONE ? firsts[firsts[t]] : t;
    return CAROM_OK;
}

/* Finds the regions, unless they are known. */
static carom_status find_region_of(carom_context *context, carom_solid *solid,
                                   const carom_mesh_report *report) {
    uint64_t count = solid->view.triangle_count;
    if (solid->region_count != 0) return CAROM_OK;
    /* Without triangles that belong to no shell, as many shells as components are one in each. */
    if (report->nonmanifold_edges == 0 && report->degenerate_triangles == 0 &&
        report->shells == solid->root_count) {
        solid->region_count = solid->root_count;
        return CAROM_OK;
    }
    uint32_t *firsts = CAROM_ARENA_TAKE(carom_scratch(context, 0), uint32_t, count);
    if (firsts == NULL) return carom_fail_memory(context, count * 4, "the regions of a solid");
    CAROM_TRY(find_joined(context, solid, NULL, firsts));
    for (uint64_t t = 0; t < count; ++t)
        if (firsts[t] == t) ++solid->region_count;
    if (solid->region_count == solid->root_count) return CAROM_OK;
    solid->region_of = carom_allocate(&solid->allocator, count, sizeof(*solid->region_of));
    if (solid->region_of == NULL)
        return carom_fail_memory(context, count * 4, "the regions of a solid");
    memcpy(solid->region_of, firsts, count * sizeof(*firsts));
    return CAROM_OK;
}

/* Sizes of triangles, and of each part of CAROM_SOLID_PART of them the extent of the longest, and
 * the sum of all side lengths. */
typedef struct region_job {
    carom_context *context;
    const carom_solid *solid;
    double *sizes, *longest, *side_lengths;
} region_job;

static carom_status measure_part(void *argument, carom_range range) {
    const region_job *job = argument;
    uint64_t part = range.begin / CAROM_SOLID_PART;
    int exponent = job->solid->sums.exponent;
    double extents[CAROM_SOLID_PART], longest = 0.0, side_lengths = 0.0;
    CAROM_CPU_CALL(job->context, carom_solid_sizes)
    (&job->solid->view, exponent, range.begin, range.end, job->sizes + range.begin, extents);
    for (uint64_t i = 0; i < range.end - range.begin; ++i) {
        double extent = 2.0 * extents[i]; /* in any pose */
        longest = CAROM_MAX(longest, extent);
        CAROM_ASSERT(extent >= 0.0 && longest >= extent);
        side_lengths += carom_scale_apply(3.0 * extent, exponent);
    }
    job->longest[part] = longest;
    job->side_lengths[part] = side_lengths;
    return CAROM_OK;
}

/* The first of the largest triangles of a range. */
static uint32_t largest_of(const double *sizes, uint32_t begin, uint32_t end) {
    uint32_t largest = begin;
    CAROM_ASSERT(begin < end);
    for (uint32_t t = begin + 1; t < end; ++t)
        if (sizes[t] > sizes[largest]) largest = t;
    return largest;
}

/* Finds the largest triangle of each region, by its area: the one that poses will not flatten. */
static carom_status choose_largest(carom_context *context, carom_solid *solid,
                                   const double *sizes) {
    uint32_t count = solid->view.triangle_count, next = 0;
    if (solid->region_of == NULL) { /* each component is one */
        for (; next < solid->root_count; ++next) {
            uint32_t root = solid->roots[next];
            solid->regions[next] =
                largest_of(sizes, solid->firsts[root], solid->firsts[solid->ends[root]]);
        }
        CAROM_ASSERT(next == solid->region_count);
        return CAROM_OK;
    }
    uint32_t *largest = CAROM_ARENA_TAKE(carom_scratch(context, 0), uint32_t, count);
    if (largest == NULL) return carom_fail_memory(context, count * 4ull, "the regions of a solid");
    for (uint32_t t = 0; t < count; ++t) {
        uint32_t first = solid->region_of[t];
        CAROM_ASSERT(first <= t);
        if (first == t || sizes[t] > sizes[largest[first]]) largest[first] = t;
    }
    for (uint32_t t = 0; t < count; ++t)
        if (solid->region_of[t] == t) solid->regions[next++] = largest[t];
    CAROM_ASSERT(next == solid->region_count);
    return CAROM_OK;
}

carom_status carom_solid_reserve_regions(carom_context *context, carom_solid *solid) {
    CAROM_ASSERT(solid->region_count != 0 && solid->region_count <= solid->view.triangle_count);
    if (solid->regions == NULL)
        solid->regions = carom_allocate(&solid->allocator, solid->region_count, sizeof(uint32_t));
    if (solid->regions != NULL) return CAROM_OK;
    return carom_fail_memory(context, solid->region_count * 4ull, "the regions of a solid");
}

carom_status carom_solid_find_regions(carom_context *context, carom_solid *solid,
                                      const carom_mesh_report *report) {
    uint64_t count = solid->view.triangle_count, parts = count / CAROM_SOLID_PART + 1;
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    region_job job = {context, solid, CAROM_ARENA_TAKE(scratch, double, count),
                      CAROM_ARENA_TAKE(scratch, double, parts),
                      CAROM_ARENA_TAKE(scratch, double, parts)};
    if (job.sizes == NULL || job.longest == NULL || job.side_lengths == NULL)
        return carom_fail_memory(context, count * 8, "the regions of a solid");
    CAROM_TRY(find_region_of(context, solid, report));
    CAROM_TRY(carom_solid_reserve_regions(context, solid));
    CAROM_TRY(carom_parallel_for(context, count, CAROM_SOLID_PART, measure_part, &job));
    solid->longest = solid->side_lengths = 0.0;
    for (uint64_t i = 0; i * CAROM_SOLID_PART < count; ++i) {
        solid->longest = CAROM_MAX(solid->longest, job.longest[i]);
        solid->side_lengths += job.side_lengths[i];
    }
    CAROM_TRY(choose_largest(context, solid, job.sizes));
    carom_arena_rewind(scratch, mark);
    return CAROM_OK;
}

static void look_at_regions(carom_solid_witness *witness, int of_b) {
    const carom_solid *solid = witness->query->solids[of_b];
    for (uint32_t i = 0; i < solid->region_count && !witness->stopped; ++i) {
        if (carom_progress_stop(witness->query->context, 0)) return;
        carom_solid_witness_corner(witness, carom_solid_key_make(of_b, solid->regions[i]));
    }
}

/* ---- Self-relation of a solid ---------------------------------------------------------------- */

static carom_status keep_touches(carom_context *context, carom_solid *solid,
                                 const carom_solid_query *query, const carom_pairs *touching) {
    uint64_t count = 0;
    solid->plain = solid->distinct = true;
    solid->touch_count = 0;
    if (touching->count > solid->touch_capacity) {
        carom_release(&solid->allocator, solid->touches);
        solid->touches =
            carom_allocate(&solid->allocator, touching->count, sizeof(*solid->touches));
        solid->touch_capacity = solid->touches != NULL ? touching->count : 0;
        if (solid->touches == NULL)
            return carom_fail_memory(context, touching->count * sizeof(*solid->touches), "a solid");
    }
    for (uint64_t i = 0; i < touching->count; ++i) {
        carom_pair pair = touching->data[i];
        if (pair.a == pair.b) continue;
        carom_solid_touch touch = carom_solid_touch_of(query, pair.a, pair.b);
        if (touch.dimension < 1) continue;
        if (touch.dimension == 2) solid->plain = false;
        if (touch.same) solid->distinct = false;
        solid->touches[count++] = (carom_solid_own){pair.a, pair.b};
    }
    solid->touch_count = count;
    CAROM_ASSERT(count <= touching->count);
    return CAROM_OK;
}

/* Appends a solid's own contacts, one entry per triangle of each pair. */
static uint64_t add_touches(const carom_solid *solid, int of_b, carom_solid_contact *to) {
    for (uint64_t i = 0; i < solid->touch_count; ++i) {
        carom_solid_key a = carom_solid_key_make(of_b, solid->touches[i].a);
        carom_solid_key b = carom_solid_key_make(of_b, solid->touches[i].b);
        to[2 * i] = (carom_solid_contact){a, b};
        to[2 * i + 1] = (carom_solid_contact){b, a};
    }
    return 2 * solid->touch_count;
}

typedef struct census {
    carom_solid *solid;
    uint32_t open; /* components of which one side has not been seen */
} census;

static uint32_t solid_relation_part_of(const carom_solid *solid, uint32_t triangle) {
    uint32_t vertex = solid->view.corners[3 * (uint64_t)triangle];
    uint32_t low = 0, high = solid->root_count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (solid->roots[middle] <= vertex)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static bool take_census(void *user, carom_solid_key triangle, const int a[2], const int b[2]) {
    census *c = user;
    uint8_t *sides = &c->solid->sides[solid_relation_part_of(c->solid, (uint32_t)triangle)];
    unsigned seen = *sides;
    (void)b;
    for (int i = 0; i < 2; ++i) {
        seen |= a[i] == 0 ? CAROM_SOLID_EMPTY : CAROM_SOLID_FULL;
        if (a[i] != 0 && a[i] != 1) c->solid->info.by_winding = true;
    }
    if (seen != *sides && seen == (CAROM_SOLID_EMPTY | CAROM_SOLID_FULL)) --c->open;
    *sides = (uint8_t)seen;
    return c->open != 0 || !c->solid->info.by_winding;
}

/* Once by_winding is known to be true, only components of which one side has not been seen are of
 * interest. */
static bool is_open(const void *user, carom_solid_key triangle) {
    const census *c = user;
    return !c->solid->info.by_winding ||
           c->solid->sides[solid_relation_part_of(c->solid, (uint32_t)triangle)] !=
               (CAROM_SOLID_EMPTY | CAROM_SOLID_FULL);
}

static carom_status count_windings(carom_context *context, carom_solid *solid,
                                   const carom_solid_query *query) {
    census c = {solid, solid->root_count};
    carom_solid_witness witness = {
        .query = query, .alone = true, .wanted = is_open, .fn = take_census, .user = &c};
    look_at_regions(&witness, 0);
    if (witness.stopped || solid->touch_count == 0) return CAROM_OK;
    carom_solid_contact *contacts =
        CAROM_ARENA_TAKE(carom_scratch(context, 0), carom_solid_contact, 2 * solid->touch_count);
    if (contacts == NULL)
        return carom_fail_memory(context, 2 * solid->touch_count * sizeof(*contacts), "contacts");
    uint64_t count = add_touches(solid, 0, contacts);
    carom_solid_contacts_sort(contacts, count);
    carom_solid_witness_contacts(&witness, contacts, count);
    return CAROM_OK;
}

/* ---- Plain faces ----------------------------------------------------------------------------- */

static bool take_plain(void *user, carom_solid_key triangle, const int a[2], const int b[2]) {
    bool *plain = user;
    (void)triangle, (void)b;
    *plain = (a[0] == 0 && a[1] == 1) || (a[0] == 1 && a[1] == 0);
    return true;
}

bool carom_solid_is_plain_at(const carom_solid_query *query, uint32_t triangle) {
    bool plain = false;
    carom_solid_witness witness = {.query = query, .alone = true, .fn = take_plain, .user = &plain};
    carom_solid_witness_corner(&witness, carom_solid_key_make(0, triangle));
    return plain;
}

/* Where a mesh intersects itself, finds faces on which it does not, with winding numbers 0 and 1 on
 * their sides: of each region of faces that no other intersects, one is sampled. */
carom_status carom_solid_find_plain_faces(carom_context *context, carom_solid *solid,
                                          const carom_solid_query *query) {
    const carom_soup_view *soup = &solid->view;
    uint64_t count = soup->triangle_count;
    carom_arena *scratch = carom_scratch(context, 0);
    uint32_t *firsts = CAROM_ARENA_TAKE(scratch, uint32_t, count);
    uint32_t *sizes = CAROM_ARENA_TAKE(scratch, uint32_t, count);
    uint8_t *touched = CAROM_ARENA_TAKE(scratch, uint8_t, count);
    uint8_t *plain_roots = CAROM_ARENA_TAKE(scratch, uint8_t, count);
    if (firsts == NULL || sizes == NULL || touched == NULL || plain_roots == NULL)
        return carom_fail_memory(context, count * 10, "the plain faces of a solid");
    memset(plain_roots, 0, count);
    memset(touched, 0, count);
    for (uint64_t i = 0; i < solid->touch_count; ++i)
        touched[solid->touches[i].a] = touched[solid->touches[i].b] = 1;
    memset(sizes, 0, count * sizeof(*sizes));
    CAROM_TRY(find_joined(context, solid, touched, firsts));
    for (uint64_t t = 0; t < count; ++t)
        if (!touched[t]) ++sizes[firsts[t]];
    for (uint64_t t = 0; t < count; ++t) {
        if (sizes[t] < CAROM_SOLID_LEAST_REGION) continue;
        CAROM_TRY(carom_progress_look(context));
        plain_roots[t] = carom_solid_is_plain_at(query, (uint32_t)t);
    }
    for (uint64_t t = 0; t < count; ++t)
        if (!touched[t] && plain_roots[firsts[t]] != 0)
            solid->represents[t] |= CAROM_SOLID_PLAIN_FACE;
    return CAROM_OK;
}

/* ---- A solid --------------------------------------------------------------------------------- */

carom_status carom_solid_classify(carom_context *context, carom_solid *solid,
                                  const carom_pairs *touching,
                                  carom_solid_plain_faces_fn *find_plain_faces) {
    carom_solid_query query;
    if (solid->sides == NULL)
        solid->sides = carom_allocate(&solid->allocator, solid->root_count, 1);
    if (solid->sides == NULL) return carom_fail_memory(context, solid->root_count, "a solid");
    memset(solid->sides, 0, solid->root_count);
    CAROM_TRY(carom_solid_query_begin(context, solid, NULL, solid, NULL, &query));
    CAROM_TRY(keep_touches(context, solid, &query, touching));
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    carom_progress_begin(context, "relating shells", 0);
    carom_status status = count_windings(context, solid, &query);
    if (solid->info.by_winding) solid->plain = false;
    if (status == CAROM_OK && !solid->plain) status = find_plain_faces(context, solid, &query);
    for (uint64_t t = 0; solid->plain && t < solid->view.triangle_count; ++t)
        solid->represents[t] |= CAROM_SOLID_PLAIN_FACE;
    status = carom_progress_finish(context, status);
    carom_arena_rewind(scratch, mark);
    return status;
}

/* ---- Relation of two solids ------------------------------------------------------------------ */

#define CONTACTS 256u /* per block of a list */
typedef struct contact_list {
    struct contact_list *next;
    uint32_t count;
    carom_solid_contact data[CONTACTS];
} contact_list;

/* A query that collects contacts instead of adding terms. */
typedef struct gathering {
    carom_solid_query query; /* must be first: carom_solid_search passes a pointer to it */
    contact_list **list;
    uint64_t *count;
    carom_solid_facts *facts;
    bool plain; /* both solids are plain */
} gathering;

static void solid_relation_keep(const gathering *g, carom_solid_accumulator *acc,
                                carom_solid_key of, carom_solid_key with) {
    if (*g->list == NULL || (*g->list)->count == CONTACTS) {
        carom_arena *scratch = carom_scratch(g->query.context, 0);
        contact_list *fresh = CAROM_ARENA_TAKE(scratch, contact_list, 1);
        if (fresh == NULL) {
            acc->no_memory = true;
            return;
        }
        fresh->next = *g->list;
        fresh->count = 0;
        *g->list = fresh;
    }
    (*g->list)->data[(*g->list)->count++] = (carom_solid_contact){of, with};
    ++*g->count;
}

static void solid_relation_gather(const carom_solid_query *query, carom_solid_accumulator *acc,
                                  const carom_solid_face *a, const carom_solid_face *b) {
    const gathering *g = (const gathering *)query;
    carom_solid_key key_a = carom_solid_key_make(0, a->index);
    carom_solid_key key_b = carom_solid_key_make(1, b->index);
    carom_solid_touch touch = carom_solid_touch_of(query, key_a, key_b);
    if (touch.dimension < 1) return;
    if (g->plain && touch.dimension == 2) {
        if (touch.opposite)
            g->facts->only_a = g->facts->only_b = true;
        else
            g->facts->both = true;
    }
    bool known = g->plain && touch.same;
    solid_relation_keep(g, acc, key_a, known ? CAROM_SOLID_KNOWN : key_b);
    solid_relation_keep(g, acc, key_b, known ? CAROM_SOLID_KNOWN : key_a);
}

static bool take_facts(void *user, carom_solid_key triangle, const int a[2], const int b[2]) {
    carom_solid_facts *facts = user;
    (void)triangle;
    for (int i = 0; i < 2; ++i) {
        facts->both |= a[i] != 0 && b[i] != 0;
        facts->only_a |= a[i] != 0 && b[i] == 0;
        facts->only_b |= a[i] == 0 && b[i] != 0;
    }
    return !(facts->both && facts->only_a && facts->only_b);
}

void carom_solid_facts_add(carom_solid_facts *facts, int of_b, unsigned sides, int winding) {
    const int full[2] = {1, winding}, empty[2] = {0, winding};
    for (int side = 0; side < 2; ++side) {
        const int *own = side == 0 ? empty : full;
        if (!(sides & (side == 0 ? CAROM_SOLID_EMPTY : CAROM_SOLID_FULL))) continue;
        int a = of_b ? own[1] : own[0], b = of_b ? own[0] : own[1];
        facts->both |= a != 0 && b != 0;
        facts->only_a |= a != 0 && b == 0;
        facts->only_b |= a == 0 && b != 0;
    }
}

static uint64_t faces_of(const carom_solid *solid) {
    return solid->info.triangles - solid->info.degenerate_triangles;
}

/* Whether the solids are copies: each face of either has the same corners as a face of the
 * other. */
static bool are_copies(const carom_solid_query *query, const carom_solid_accumulator *acc,
                       carom_solid_facts *facts) {
    const carom_solid *a = query->solids[0], *b = query->solids[1];
    uint64_t count = acc->copies[0] + acc->copies[1];
    if (!a->distinct || !b->distinct || count != faces_of(a) || count != faces_of(b)) return false;
    if (acc->copies[1] == 0 && a->base == b->base) { /* equal winding numbers */
        for (uint32_t i = 0; i < a->root_count; ++i)
            facts->both |= (a->sides[i] & CAROM_SOLID_FULL) != 0;
        return true;
    }
    facts->both = acc->copies[0] != 0;
    facts->only_a = facts->only_b = acc->copies[1] != 0;
    return a->plain && b->plain;
}

carom_status carom_solid_facts_find(const carom_solid_query *query,
                                    const carom_solid_accumulator *acc, carom_solid_facts *facts) {
    const carom_solid *a = query->solids[0], *b = query->solids[1];
    *facts = (carom_solid_facts){false, false, false};
    /* Where faces cross, each with 0 on one side and 1 on the other, all three facts hold. */
    if (acc->plain_crossing) {
        *facts = (carom_solid_facts){true, true, true};
        return CAROM_OK;
    }
    if (are_copies(query, acc, facts)) return CAROM_OK;
    *facts = (carom_solid_facts){false, false, false};
    carom_solid_witness witness = {
        .query = query, .plain = {a->plain, b->plain}, .fn = take_facts, .user = facts};
    for (int i = 0; acc->crossing && !witness.stopped && i < 2; ++i) { /* usually enough */
        uint64_t pair = i == 0 ? acc->crossed[0] : ~acc->crossed[1];
        carom_solid_witness_pair(&witness, carom_solid_key_make(0, (uint32_t)(pair >> 32)),
                                 carom_solid_key_make(1, (uint32_t)pair));
    }
    look_at_regions(&witness, 0);
    look_at_regions(&witness, 1);
    if (witness.stopped) return CAROM_OK;

    contact_list *list = NULL;
    uint64_t count = 0;
    gathering g = {*query, &list, &count, facts, a->plain && b->plain};
    carom_solid_accumulator unused;
    carom_solid_accumulator_begin(&unused);
    g.query.record = true;
    g.query.consider = solid_relation_gather;
    CAROM_TRY(carom_solid_search(&g.query, &unused));
    uint64_t own = 2 * (a->touch_count + b->touch_count), all = count + own;
    carom_solid_contact *contacts =
        CAROM_ARENA_TAKE(carom_scratch(query->context, 0), carom_solid_contact, all);
    if (contacts == NULL)
        return carom_fail_memory(query->context, all * sizeof(*contacts), "contacts");
    count = 0;
    for (; list != NULL; list = list->next)
        for (uint32_t i = 0; i < list->count; ++i) contacts[count++] = list->data[i];
    carom_solid_contacts_sort(contacts, count);
    carom_solid_witness_contacts(&witness, contacts, count);
    if (witness.stopped || own == 0) return carom_progress_look(query->context);
    /* Some fact has not been found and may hold where a solid intersects itself. */
    count += add_touches(a, 0, contacts + count);
    count += add_touches(b, 1, contacts + count);
    carom_solid_contacts_sort(contacts, count);
    carom_solid_witness_contacts(&witness, contacts, count);
    return carom_progress_look(query->context);
}
