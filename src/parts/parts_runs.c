/* SPDX-License-Identifier: MIT */
/* Sorted lists of pairs, runs, in a temporary file, and their merging.
 *
 * All runs are read at once, each through a buffer, and the least of their first pairs is passed
 * on: a heap holds the runs in the order of these (Knuth, The Art of Computer Programming 3, 5.4).
 * Where there are so many runs that their buffers would be too small, groups of them are merged to
 * longer runs first.
 *
 * Invariant: a pair is in one run, and once. So what is passed on ascends strictly. Only counts of
 * faces may be equal in several runs. */
#include "base/item.h"
#include "base/progress.h"
#include "parts/parts.h"

#define PARTS_LEAST_BUFFER 512u /* pairs: 4 KiB */
#define PARTS_MERGE_SHARE  4u   /* the buffers of a merge take at most a quarter of the memory */

carom_status carom_parts_runs_begin(parts_job *job) {
    parts_runs *runs = &job->runs;
    runs->used = runs->count = 0;
    if (runs->file.name == NULL)
        CAROM_TRY(carom_parts_temporary(job->context, job->folder, &runs->file));
    if (runs->buffer == NULL)
        runs->buffer = carom_allocate(job->allocator, PARTS_RUN_BUFFER, sizeof(*runs->buffer));
    if (runs->buffer == NULL)
        return carom_parts_fail_memory(job, PARTS_RUN_BUFFER * sizeof(*runs->buffer), "pairs");
    return CAROM_OK;
}

static carom_status parts_runs_flush(parts_job *job) {
    parts_runs *runs = &job->runs;
    uint64_t bytes = runs->used * sizeof(*runs->buffer);
    CAROM_TRY(carom_parts_write_at(&runs->file, runs->end, runs->buffer, bytes));
    runs->end += bytes;
    runs->count += runs->used;
    runs->used = 0;
    return CAROM_OK;
}

carom_status carom_parts_runs_add(parts_job *job, uint64_t pair) {
    parts_runs *runs = &job->runs;
    if (runs->used == PARTS_RUN_BUFFER) CAROM_TRY(parts_runs_flush(job));
    CAROM_ASSERT(runs->used == 0 || runs->buffer[runs->used - 1] < pair);
    runs->buffer[runs->used++] = pair;
    return CAROM_OK;
}

carom_status carom_parts_runs_end(parts_job *job) {
    parts_runs *runs = &job->runs;
    CAROM_TRY(parts_runs_flush(job));
    if (runs->count == 0) return CAROM_OK;
    parts_run run = {runs->end - runs->count * sizeof(*runs->buffer), runs->count};
    if (!parts_run_list_push(&runs->list, job->allocator, run))
        return carom_parts_fail_memory(job, runs->list.count * sizeof(run), "runs of pairs");
    return CAROM_OK;
}

void carom_parts_runs_release(parts_job *job) {
    parts_run_list_release(&job->runs.list, job->allocator);
    carom_release(job->allocator, job->runs.buffer);
    carom_parts_close(&job->runs.file);
}

/* ---- Merging --------------------------------------------------------------------------------- */

typedef struct parts_way {
    uint64_t first; /* pair */
    uint64_t offset, left;
    uint64_t *buffer;
    uint64_t at, filled;
} parts_way;

typedef struct parts_merge {
    parts_job *job;
    parts_way *ways; /* a heap by `first` */
    uint64_t count, room;
    uint64_t *buffers;
} parts_merge;

/* Takes the next pair of a run; false after its last. */
static carom_status parts_way_next(parts_merge *m, parts_way *way, bool *more) {
    *more = way->at < way->filled || way->left != 0;
    if (!*more) return CAROM_OK;
    if (way->at == way->filled) {
        way->at = 0;
        way->filled = CAROM_MIN(way->left, m->room);
        uint64_t bytes = way->filled * sizeof(*way->buffer);
        CAROM_TRY(carom_parts_read_at(&m->job->runs.file, way->offset, way->buffer, bytes));
        way->offset += bytes;
        way->left -= way->filled;
    }
    way->first = way->buffer[way->at++];
    return CAROM_OK;
}

static void parts_heap_down(parts_merge *m, uint64_t at) {
    parts_way moved = m->ways[at];
    for (;;) {
        uint64_t child = 2 * at + 1;
        if (child >= m->count) break;
        if (child + 1 < m->count && m->ways[child + 1].first < m->ways[child].first) ++child;
        if (m->ways[child].first >= moved.first) break;
        m->ways[at] = m->ways[child];
        at = child;
    }
    m->ways[at] = moved;
}

static carom_status parts_merge_open(parts_merge *m, const parts_run *runs, uint64_t count,
                                     uint64_t room) {
    const carom_allocation arrays[] = {CAROM_ALLOCATION(m->ways, count),
                                       CAROM_ALLOCATION(m->buffers, count * room)};
    if (!carom_allocate_all(m->job->allocator, arrays, 2))
        return carom_parts_fail_memory(m->job, count * room * sizeof(*m->buffers), "merging");
    m->room = room;
    m->count = 0;
    for (uint64_t i = 0; i < count; ++i) {
        bool more;
        parts_way *way = &m->ways[m->count];
        *way = (parts_way){
            .offset = runs[i].offset, .left = runs[i].count, .buffer = m->buffers + i * room};
        CAROM_TRY(parts_way_next(m, way, &more));
        if (more) ++m->count;
    }
    for (uint64_t i = m->count / 2; i-- > 0;) parts_heap_down(m, i);
    return CAROM_OK;
}

static void parts_merge_close(parts_merge *m) {
    CAROM_RELEASE_ALL(m->job->allocator, m->ways, m->buffers);
    m->ways = NULL;
    m->buffers = NULL;
}

/* Takes the least pair of all. */
static carom_status parts_merge_next(parts_merge *m, uint64_t *pair) {
    bool more;
    *pair = m->ways[0].first;
    CAROM_TRY(parts_way_next(m, &m->ways[0], &more));
    if (!more) m->ways[0] = m->ways[--m->count];
    if (m->count != 0) parts_heap_down(m, 0);
    return CAROM_OK;
}

/* Merges the first `count` runs to one, which becomes the last. */
static carom_status parts_merge_group(parts_job *job, uint64_t count, uint64_t room) {
    parts_runs *runs = &job->runs;
    parts_merge m = {.job = job};
    uint64_t pair;
    carom_status status = parts_merge_open(&m, runs->list.data, count, room);
    if (status == CAROM_OK) status = carom_parts_runs_begin(job);
    while (status == CAROM_OK && m.count != 0) {
        status = parts_merge_next(&m, &pair);
        if (status == CAROM_OK) status = carom_parts_runs_add(job, pair);
    }
    parts_merge_close(&m);
    if (status == CAROM_OK) status = carom_parts_runs_end(job);
    if (status != CAROM_OK) return status;
    runs->list.count -= count;
    memmove(runs->list.data, runs->list.data + count,
            (size_t)runs->list.count * sizeof(*runs->list.data));
    return CAROM_OK;
}

static carom_status parts_merge_all(parts_merge *m, carom_pairs_fn *receive, void *user) {
    parts_job *job = m->job;
    carom_pair *out = (carom_pair *)job->runs.buffer; /* as large, and not in use any more */
    uint64_t before = 0, pair;
    while (m->count != 0) {
        uint64_t filled = 0;
        for (; filled < PARTS_RUN_BUFFER && m->count != 0; ++filled) {
            CAROM_TRY(parts_merge_next(m, &pair));
            CAROM_ASSERT(pair > before || (job->counts && pair == before) ||
                         job->report.pairs + filled == 0);
            before = pair;
            out[filled] = (carom_pair){(uint32_t)(pair >> 32), (uint32_t)pair};
        }
        job->report.pairs += filled;
        if (receive(user, out, filled)) return CAROM_OK;
        carom_progress_add(job->context, 0, filled);
        CAROM_TRY(carom_progress_look(job->context));
    }
    return CAROM_OK;
}

carom_status carom_parts_runs_merge(parts_job *job, carom_pairs_fn *receive, void *user) {
    parts_runs *runs = &job->runs;
    uint64_t budget = job->memory.limit / PARTS_MERGE_SHARE / sizeof(uint64_t), total = 0;
    uint64_t ways = CAROM_MAX(budget / PARTS_LEAST_BUFFER, UINT64_C(2));
    for (uint64_t i = 0; i < runs->list.count; ++i) total += runs->list.data[i].count;
    if (total == 0) return CAROM_OK;
    carom_progress_begin(job->context, "merging pairs", total);
    carom_status status = CAROM_OK;
    while (status == CAROM_OK && runs->list.count > ways)
        status = parts_merge_group(job, ways, PARTS_LEAST_BUFFER);
    if (status == CAROM_OK) {
        parts_merge m = {.job = job};
        uint64_t room = CAROM_MIN(budget / runs->list.count, (uint64_t)PARTS_RUN_BUFFER);
        status = parts_merge_open(&m, runs->list.data, runs->list.count, room);
        if (status == CAROM_OK) status = parts_merge_all(&m, receive, user);
        parts_merge_close(&m);
    }
    return carom_progress_finish(job->context, status);
}
