/* SPDX-License-Identifier: MIT */
/* Duplicate faces. Faces are sorted by a hash that does not depend on where the cycle of corners
 * starts or on its direction. Faces of equal hash are compared from their least rotation on, which
 * takes linear time however often a vertex repeats. */
#include "base/item.h"
#include "base/sort.h"
#include "mesh/mesh_report.h"

#define MESH_DUPLICATES_FACES_PER_RANGE ((uint64_t)1 << 12)

typedef struct mesh_report_duplicates_share {
    uint64_t count;
    uint32_t first;
    char fill[CAROM_ALIGNMENT - 2 * sizeof(uint64_t)];
} mesh_report_duplicates_share;

typedef struct duplicates {
    const carom_mesh_view *view;
    uint32_t *hashes, *order;
    mesh_report_duplicates_share *shares;
} duplicates;

static uint64_t mesh_report_duplicates_mix(uint64_t z) {
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

static carom_status hash_faces(void *argument, carom_range range) {
    duplicates *d = argument;
    for (uint64_t f = range.begin; f < range.end; ++f) {
        uint64_t begin = carom_mesh_offset(d->view, f), end = carom_mesh_offset(d->view, f + 1);
        uint64_t sum = 0,
                 before = mesh_report_duplicates_mix(d->view->corners[end - 1] + UINT64_C(1));
        for (uint64_t i = begin; i < end; ++i) { /* corners and, for their cyclic order, sides */
            uint64_t here = mesh_report_duplicates_mix(d->view->corners[i] + UINT64_C(1));
            sum += here + mesh_report_duplicates_mix(here + before + (here ^ before));
            before = here;
        }
        d->hashes[f] = (uint32_t)(mesh_report_duplicates_mix(sum) >> 32);
        d->order[f] = (uint32_t)f;
    }
    return CAROM_OK;
}

/* A face's corners from `start` on, forward or backward. */
typedef struct cycle {
    const uint32_t *corners;
    uint64_t count, start;
    bool backward;
} cycle;

static uint32_t at(const cycle *c, uint64_t i) {
    uint64_t index = c->start + i;
    if (index >= c->count) index -= c->count;
    CAROM_ASSERT(index < c->count);
    return c->corners[c->backward ? c->count - 1 - index : index];
}

/* Two candidate starts are compared corner by corner. The one that loses after k equal corners
 * excludes the k starts after it as well. */
static cycle least_rotation(const uint32_t *corners, uint64_t count, bool backward) {
    cycle c = {corners, count, 0, backward};
    uint64_t i = 0, j = 1, k = 0;
    while (i < count && j < count && k < count) {
        uint32_t a = at(&c, i + k < count ? i + k : i + k - count);
        uint32_t b = at(&c, j + k < count ? j + k : j + k - count);
        if (a == b) {
            ++k;
            continue;
        }
        if (a > b)
            i += k + 1;
        else
            j += k + 1;
        if (i == j) ++j;
        k = 0;
    }
    c.start = CAROM_MIN(i, j);
    CAROM_ASSERT(c.start < count);
    return c;
}

static bool mesh_report_duplicates_are_equal(const cycle *a, const cycle *b) {
    for (uint64_t i = 0; i < a->count; ++i)
        if (at(a, i) != at(b, i)) return false;
    return true;
}

static bool are_duplicates(const carom_mesh_view *view, uint64_t f, uint64_t g) {
    uint64_t f_begin = carom_mesh_offset(view, f), g_begin = carom_mesh_offset(view, g);
    uint64_t count = carom_mesh_offset(view, f + 1) - f_begin;
    if (carom_mesh_offset(view, g + 1) - g_begin != count) return false;
    cycle a = least_rotation(view->corners + f_begin, count, false);
    cycle b = least_rotation(view->corners + g_begin, count, false);
    cycle c = least_rotation(view->corners + g_begin, count, true);
    return mesh_report_duplicates_are_equal(&a, &b) || mesh_report_duplicates_are_equal(&a, &c);
}

/* Visits the faces of one hash. One face of each kind of duplicates is kept at the front. */
static void visit_run(const duplicates *d, mesh_report_duplicates_share *share, uint32_t *run,
                      uint64_t count) {
    uint64_t kinds = 1;
    for (uint64_t i = 1; i < count; ++i) {
        bool found = false;
        for (uint64_t k = 0; k < kinds && !found; ++k)
            found = are_duplicates(d->view, run[k], run[i]);
        if (found) {
            ++share->count;
            share->first = CAROM_MIN(run[i], share->first);
        } else {
            CAROM_ASSERT(kinds <= i);
            run[kinds++] = run[i];
        }
    }
}

/* A range handles the runs that begin in it. */
static carom_status visit_range(void *argument, carom_range range) {
    duplicates *d = argument;
    uint64_t i = range.begin, count = d->view->face_count;
    while (i < range.end && i > 0 && d->hashes[i] == d->hashes[i - 1]) ++i;
    while (i < range.end) {
        uint64_t end = i + 1;
        while (end < count && d->hashes[end] == d->hashes[i]) ++end;
        if (end - i > 1) visit_run(d, &d->shares[range.worker], d->order + i, end - i);
        i = end;
    }
    return CAROM_OK;
}

carom_status carom_report_duplicates(carom_context *context, const carom_mesh_view *view,
                                     carom_mesh_report *report) {
    carom_arena *scratch = carom_scratch(context, 0);
    uint64_t count = view->face_count,
             grain = carom_grain(context, count, MESH_DUPLICATES_FACES_PER_RANGE);
    duplicates d = {.view = view};
    d.hashes = CAROM_ARENA_TAKE(scratch, uint32_t, count);
    d.order = CAROM_ARENA_TAKE(scratch, uint32_t, count);
    d.shares = CAROM_ARENA_TAKE(scratch, mesh_report_duplicates_share, context->threads);
    if (d.hashes == NULL || d.order == NULL || d.shares == NULL)
        return carom_fail_memory(context, 8 * count, "finding duplicate faces");
    for (uint32_t i = 0; i < context->threads; ++i)
        d.shares[i] = (mesh_report_duplicates_share){.first = CAROM_NONE};
    CAROM_TRY(carom_parallel_for(context, count, grain, hash_faces, &d));
    CAROM_TRY(carom_sort_keys(context, d.hashes, d.order, count));
    CAROM_TRY(carom_parallel_for(context, count, grain, visit_range, &d));
    report->first_duplicate_face = CAROM_NONE;
    for (uint32_t i = 0; i < context->threads; ++i) {
        report->duplicate_faces += d.shares[i].count;
        report->first_duplicate_face = CAROM_MIN(d.shares[i].first, report->first_duplicate_face);
    }
    return CAROM_OK;
}
