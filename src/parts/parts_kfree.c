/* SPDX-License-Identifier: MIT */
/* k-freeness in parts. Each face is enlarged by a quarter of the edges of its box, at least what it
 * reaches, so a face and what it counts overlap, and one part, as for pairs, counts the one for the
 * other. Runs hold what each part counts, two numbers for a face: face << 32 | count << 1, and
 * face << 32 | neighbours << 1 | 1. Merged, those of a face follow each other in any order, and are
 * added up.
 *
 * Invariant: each face that takes part has a number in the run of the part that owns it, though it
 * be 0. */
#include <inttypes.h>

#include "base/item.h"
#include "parts/parts.h"

carom_status carom_parts_kfree_add(parts_job *job, uint32_t id, uint32_t count, uint32_t near) {
    CAROM_ASSERT(near <= count);
    if (count > INT32_MAX)
        return carom_fail(job->context, CAROM_TOO_LARGE,
                          "face %" PRIu32 " counts %" PRIu32 " others; at most %d can be added up",
                          id, count, INT32_MAX);
    uint64_t face = (uint64_t)id << 32, counted = face | (uint64_t)count << 1;
    uint64_t common = face | (uint64_t)near << 1 | 1;
    if (common < counted) CAROM_TRY(carom_parts_runs_add(job, common));
    CAROM_TRY(carom_parts_runs_add(job, counted));
    return common > counted ? carom_parts_runs_add(job, common) : CAROM_OK;
}

#define PARTS_COUNTS_AT_ONCE 16384u /* that are passed on */

/* The face that is added up, and what has been. */
typedef struct parts_adding_up {
    parts_job *job;
    carom_parts_counts_fn *receive; /* NULL: not wanted, or no more */
    void *user;
    bool begun;
    uint32_t face;
    uint64_t count, near;
    uint64_t next; /* face to pass on */
    uint32_t *out;
    uint64_t filled;
    uint32_t *histogram;
    uint64_t room; /* of it */
    carom_status status;
} parts_adding_up;

static void parts_flush_counts(parts_adding_up *u) {
    if (u->receive != NULL && u->filled != 0 && u->receive(u->user, u->out, u->filled))
        u->receive = NULL;
    u->filled = 0;
}

static void parts_put_count(parts_adding_up *u, uint32_t count) {
    if (u->filled == PARTS_COUNTS_AT_ONCE) parts_flush_counts(u);
    u->out[u->filled++] = count;
    ++u->next;
}

static carom_status parts_grow_histogram(parts_adding_up *u, uint64_t count) {
    if (count < u->room) return CAROM_OK;
    uint64_t room = CAROM_MAX(2 * u->room, count + 1);
    uint32_t *grown = carom_allocate(u->job->allocator, room, sizeof(*grown));
    if (grown == NULL) return carom_parts_fail_memory(u->job, room * sizeof(*grown), "a histogram");
    memset(grown, 0, (size_t)room * sizeof(*grown));
    if (u->room != 0) memcpy(grown, u->histogram, (size_t)u->room * sizeof(*grown));
    carom_release(u->job->allocator, u->histogram);
    u->histogram = grown;
    u->room = room;
    return CAROM_OK;
}

/* Ends a face; those before it that took no part count 0. */
static carom_status parts_end_face(parts_adding_up *u) {
    if (!u->begun) return CAROM_OK;
    CAROM_ASSERT(u->near <= u->count && u->count < u->job->inputs[0].faces);
    CAROM_TRY(parts_grow_histogram(u, u->count));
    ++u->histogram[u->count];
    carom_kfree_add(&u->job->sum, u->face, (uint32_t)u->count, (uint32_t)u->near);
    while (u->next < u->face) parts_put_count(u, 0);
    parts_put_count(u, (uint32_t)u->count);
    u->begun = false;
    u->count = u->near = 0;
    return CAROM_OK;
}

/* A carom_pairs_fn. */
static bool parts_add_up(void *user, const carom_pair *pairs, uint64_t count) {
    parts_adding_up *u = user;
    for (uint64_t i = 0; i < count && u->status == CAROM_OK; ++i) {
        if (pairs[i].a != u->face) u->status = parts_end_face(u);
        u->begun = true;
        u->face = pairs[i].a;
        *(pairs[i].b & 1 ? &u->near : &u->count) += pairs[i].b >> 1;
    }
    return u->status != CAROM_OK;
}

carom_status carom_parts_kfree_merge(parts_job *job, carom_parts_counts_fn *receive, void *user,
                                     carom_kfree *kfree) {
    parts_adding_up u = {.job = job, .receive = receive, .user = user};
    u.out = carom_allocate(job->allocator, PARTS_COUNTS_AT_ONCE, sizeof(*u.out));
    if (u.out == NULL)
        return carom_parts_fail_memory(job, PARTS_COUNTS_AT_ONCE * sizeof(*u.out), "counts");
    carom_status status = carom_parts_runs_merge(job, parts_add_up, &u);
    if (status == CAROM_OK) status = u.status;
    if (status == CAROM_OK) status = parts_end_face(&u);
    while (status == CAROM_OK && u.next < job->inputs[0].faces) parts_put_count(&u, 0);
    if (status == CAROM_OK) {
        parts_flush_counts(&u);
        carom_kfree_describe(&job->sum, u.histogram, kfree);
        job->report.pairs = kfree->total;
    }
    CAROM_RELEASE_ALL(job->allocator, u.out, u.histogram);
    return status;
}
