/* SPDX-License-Identifier: MIT */
/* Pairs of faces of meshes that do not fit into memory, in these steps:
 *   1. survey   all vertices are read: bounds, and whether they are finite;
 *   2. count    all faces are read: how many reach into each node of a grid, which is then cut into
 *               parts (parts_cut.c);
 *   3. spill    all faces are read again and written to the streams of their parts (parts_spill.c);
 *   4. search   each part becomes a soup; its own pairs become a sorted run (parts_search.c);
 *   5. merge    the runs are merged (parts_runs.c).
 *
 * Memory: an inner context, whose allocator has a limit, does everything that grows with the input;
 * the caller's only reports. What is not counted is the process itself, so the limit is less than
 * the memory given.
 *
 * Invariant: a pair is reported by the part that has the lowest cell that its faces' boxes have in
 * common. All other steps only divide work; none of them can lose or repeat a pair. */
#include "parts/parts.h"

#include <inttypes.h>
#include <math.h>

#include "base/device.h"
#include "base/item.h"
#include "base/platform.h"
#include "base/progress.h"

/* Bytes of a part in memory per triangle, at most. Measured while 200,000 separate triangles were
 * welded and searched: 407 with float32, 470 with float64, 95 more where indices are kept. Meshes
 * with common vertices need a third. A part that needs more is searched in blocks. */
#define PARTS_BYTES_FLOAT32 420u
#define PARTS_BYTES_FLOAT64 480u
#define PARTS_BYTES_INDICES 100u /* more, where indices are kept */

/* Bytes of a part in the memory of a device per triangle. Computed, not measured: separate
 * triangles with the tree of one soup are 140, that of two posed soups 110 more, and the lists of a
 * search 110, with room for ten candidates each (soup_cuda.cu). */
#define PARTS_BYTES_DEVICE 360u
#define PARTS_DEVICE_SHARE 2u /* half of what is free there: lists may grow, others use it, too */

/* What the process needs beside what is counted: the program, stacks, pages that the system's
 * allocator keeps. */
#define PARTS_PROCESS_BYTES UINT64_C(16000000)
#define PARTS_PROCESS_SHARE 8u /* and an eighth of the memory */

#define PARTS_DEFAULT_MEMORY UINT64_C(1000000000)
#define PARTS_MOST_SHARDS    4096u
#define PARTS_MOST_CHUNK     ((uint64_t)1 << 20) /* bytes */
#define PARTS_LEAST_CHUNK    ((uint64_t)1 << 12)
#define PARTS_BUFFER_SHARE   4u /* the buffers of all streams take at most a quarter of memory */
#define PARTS_MOST_TRIANGLES (UINT32_MAX - 64u)

/* A face counts what is a quarter of its diameter away, which is at most the diagonal of its box;
 * the rest covers roundings. */
#define PARTS_KFREE_SHARE 0.2500001

#define PARTS_HASH_SEED UINT64_C(0x6361726f6d) /* "carom" */

/* ---- Failures -------------------------------------------------------------------------------- */

carom_status carom_parts_fail_inner(parts_job *job, carom_status status) {
    if (status == CAROM_CANCELLED) { /* by the caller's callback: its phase says so */
        carom_status cancelled = carom_progress_look(job->context);
        if (cancelled != CAROM_OK) return cancelled;
    }
    return carom_fail(job->context, status, "%s", job->inner->message);
}

carom_status carom_parts_fail_memory(parts_job *job, uint64_t bytes, const char *what) {
    return carom_fail(job->context, CAROM_NO_MEMORY,
                      "out of memory: %" PRIu64 " bytes for %s, beside %" PRIu64 " of %" PRIu64
                      " in use; give more memory (memory of the def, --memory)",
                      bytes, what, (uint64_t)atomic_load(&job->memory.used), job->memory.limit);
}

/* ---- Steps ----------------------------------------------------------------------------------- */

carom_status carom_parts_count_all(parts_job *job, parts_cut *cut, uint32_t which,
                                   parts_next_fn *next, void *reader) {
    for (;;) {
        parts_face face;
        CAROM_TRY(next(reader, &face));
        if (face.count == 0) return CAROM_OK;
        parts_cells cells = carom_parts_cells_of(&job->grid, &job->inputs[which], &face);
        if (face.count - 2 > PARTS_MOST_TRIANGLES)
            return carom_fail(job->context, CAROM_TOO_LARGE,
                              "%s: face %" PRIu32 " has %" PRIu64 " corners",
                              job->inputs[which].name, face.id, face.count);
        carom_parts_cut_count(cut, which, &cells, (uint32_t)(face.count - 2));
    }
}

/* A face that is added to the streams of parts. */
typedef struct parts_adding {
    parts_job *job;
    parts_cut *cut;
    uint32_t which;
    const parts_face *face;
} parts_adding;

static carom_status parts_add_to(void *user, uint32_t part) {
    const parts_adding *adding = user;
    parts_stream *stream = &adding->cut->parts.data[part].faces[adding->which];
    if (stream->faces != 0 && stream->last == adding->face->id) return CAROM_OK; /* it has it */
    return carom_parts_stream_add(&adding->job->spill, stream, adding->face,
                                  adding->job->inputs[adding->which].scalar);
}

carom_status carom_parts_spill_all(parts_job *job, parts_cut *cut, uint32_t which,
                                   parts_next_fn *next, void *reader) {
    parts_face face;
    parts_adding adding = {job, cut, which, &face};
    for (;;) {
        CAROM_TRY(next(reader, &face));
        if (face.count == 0) return CAROM_OK;
        parts_cells cells = carom_parts_cells_of(&job->grid, &job->inputs[which], &face);
        CAROM_TRY(carom_parts_cut_visit(cut, &cells, parts_add_to, &adding));
    }
}

carom_status carom_parts_spill_end(parts_job *job, parts_cut *cut) {
    for (uint64_t p = 0; p < cut->parts.count; ++p)
        for (int i = 0; i < 2; ++i)
            CAROM_TRY(carom_parts_stream_end(&job->spill, &cut->parts.data[p].faces[i]));
    return CAROM_OK;
}

static carom_status parts_reader_next_of(void *reader, parts_face *face) {
    return carom_parts_reader_next(reader, face);
}

/* Reads all faces of an input, to count them or to spill them. */
static carom_status parts_read_all(parts_job *job, parts_cut *cut, uint32_t which, bool counts) {
    parts_reader reader;
    parts_input *input = &job->inputs[which];
    carom_status status =
        carom_parts_reader_open(job, input, counts ? &job->report.hash : NULL, &reader);
    if (status == CAROM_OK)
        status = counts ? carom_parts_count_all(job, cut, which, parts_reader_next_of, &reader)
                        : carom_parts_spill_all(job, cut, which, parts_reader_next_of, &reader);
    if (counts) {
        input->faces = reader.id;
        input->skipped += reader.skipped;
    }
    carom_parts_reader_close(&reader);
    return status;
}

static uint64_t parts_bytes_of(const parts_job *job) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < (job->def->cross ? 2u : 1u); ++i)
        bytes += job->inputs[i].list_end + job->inputs[i].vertex_count * job->inputs[i].stride;
    return bytes;
}

static carom_status parts_survey_all(parts_job *job) {
    uint32_t inputs = job->def->cross ? 2 : 1;
    carom_status status = CAROM_OK;
    carom_progress_begin(job->context, "reading vertices", 0);
    for (uint32_t i = 0; i < inputs && status == CAROM_OK; ++i)
        status = carom_parts_survey(job, &job->inputs[i]);
    return carom_progress_finish(job->context, status);
}

/* The size of chunks: the buffers of all streams fit into their share. */
carom_status carom_parts_open_spill(parts_job *job, const parts_cut *cut) {
    uint64_t streams = CAROM_MAX(cut->parts.count * (job->def->cross ? 2 : 1), UINT64_C(1));
    uint64_t chunk = job->memory.limit / PARTS_BUFFER_SHARE / streams;
    if (chunk < 2 * PARTS_LEAST_CHUNK)
        return carom_fail(
            job->context, CAROM_NO_MEMORY,
            "%" PRIu64 " parts need %" PRIu64
            " bytes for their buffers; give more memory (memory of the def, --memory)",
            cut->parts.count,
            2 * PARTS_LEAST_CHUNK * PARTS_BUFFER_SHARE * streams * PARTS_PROCESS_SHARE /
                (PARTS_PROCESS_SHARE - 1));
    /* Chunks are written and read whole: no larger ones than what a stream has on average. */
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < 2; ++i)
        bytes += job->inputs[i].list_count * 9 * carom_scalar_size(job->inputs[i].scalar);
    uint64_t most = CAROM_MIN(CAROM_MIN(chunk / 2, bytes / streams), PARTS_MOST_CHUNK);
    job->spill.chunk = PARTS_LEAST_CHUNK;
    while (2 * job->spill.chunk <= most) job->spill.chunk *= 2;
    return carom_parts_temporary(job->context, job->folder, &job->spill.file);
}

void carom_parts_make_grid(parts_job *job) {
    carom_parts_grid_make(job->low, job->high, job->def->within ? job->def->reach : 0.0,
                          &job->grid);
    if (job->counts) job->grid.share = PARTS_KFREE_SHARE;
}

static carom_status parts_cut_all(parts_job *job, parts_cut *cut) {
    const uint32_t origin[3] = {0, 0, 0};
    uint32_t inputs = job->def->cross ? 2 : 1;
    carom_parts_make_grid(job);
    CAROM_TRY(carom_parts_cut_begin(job, cut, 32, origin,
                                    job->inputs[0].list_count + job->inputs[1].list_count));
    carom_progress_begin(job->context, "counting faces", parts_bytes_of(job));
    carom_status status = CAROM_OK;
    for (uint32_t i = 0; i < inputs && status == CAROM_OK; ++i)
        status = parts_read_all(job, cut, i, true);
    CAROM_TRY(carom_progress_finish(job->context, status));
    if (job->def->count_only) return CAROM_OK;
    CAROM_TRY(carom_parts_cut_divide(job, cut, job->most, job->def->shard, job->def->shards));
    CAROM_TRY(carom_parts_open_spill(job, cut));
    carom_progress_begin(job->context, "cutting into parts", parts_bytes_of(job));
    for (uint32_t i = 0; i < inputs && status == CAROM_OK; ++i)
        status = parts_read_all(job, cut, i, false);
    if (status == CAROM_OK) status = carom_parts_spill_end(job, cut);
    return carom_progress_finish(job->context, status);
}

carom_status carom_parts_search_all(parts_job *job, parts_cut *cut) {
    carom_status status = CAROM_OK;
    carom_progress_begin(job->context, "searching parts", cut->parts.count);
    for (uint32_t p = 0; p < cut->parts.count && status == CAROM_OK; ++p) {
        status = carom_parts_search(job, cut, p);
        carom_progress_add(job->context, 0, 1);
        if (status == CAROM_OK) status = carom_progress_look(job->context);
    }
    return carom_progress_finish(job->context, status);
}

/* ---- The call -------------------------------------------------------------------------------- */

/* All that the pairs depend on beside the inputs. */
static void parts_hash_def(parts_job *job) {
    const carom_parts_def *def = job->def;
    double numbers[8] = {def->within ? def->reach : -1.0,
                         def->pose_b.q.w,
                         def->pose_b.q.x,
                         def->pose_b.q.y,
                         def->pose_b.q.z,
                         def->pose_b.t.x,
                         def->pose_b.t.y,
                         def->pose_b.t.z};
    uint64_t word, hash = PARTS_HASH_SEED;
    for (int i = 0; i < (def->cross ? 8 : 1); ++i) {
        memcpy(&word, &numbers[i], sizeof(word));
        hash = carom_parts_hash(hash, word);
    }
    word = (def->boxes ? 64 : 0) | (uint64_t)def->degenerate << 3 | (def->fan ? 4 : 0) |
           (def->no_weld ? 2 : 0) | (def->cross ? 1 : 0);
    job->report.hash = carom_parts_hash(hash, word);
}

static carom_status parts_check_def(carom_context *context, const carom_parts_def *def) {
    if (def->memory != 0 && def->memory < CAROM_PARTS_LEAST_MEMORY)
        return carom_fail(context, CAROM_BAD_INPUT,
                          "%" PRIu64 " bytes of memory; a search in parts needs %" PRIu64
                          " at least",
                          def->memory, CAROM_PARTS_LEAST_MEMORY);
    if (def->within && !(def->reach >= 0.0 && def->reach < HUGE_VAL))
        return carom_fail(context, CAROM_BAD_INPUT,
                          "a reach of %g; it must be finite and not negative", def->reach);
    if (def->within && def->boxes)
        return carom_fail(context, CAROM_BAD_INPUT, "boxes have no reach; enlarge them instead");
    if (def->shards > PARTS_MOST_SHARDS || (def->shards != 0 && def->shard >= def->shards))
        return carom_fail(context, CAROM_BAD_INPUT,
                          "shard %" PRIu32 " of %" PRIu32 "; it must be below them, and they at "
                          "most %u",
                          def->shard, def->shards, PARTS_MOST_SHARDS);
    carom_quat q = def->pose_b.q;
    carom_vec3 t = def->pose_b.t;
    double sum = ((q.w - q.w) + (q.x - q.x)) + ((q.y - q.y) + (q.z - q.z)) +
                 (((t.x - t.x) + (t.y - t.y)) + (t.z - t.z));
    if (sum != 0.0) /* NaN unless all are finite */
        return carom_fail(context, CAROM_BAD_INPUT, "the pose of b is not finite");
    return CAROM_OK;
}

static bool parts_report_inner(void *user, const char *what, double fraction) {
    (void)what, (void)fraction;
    return carom_progress_stop(((parts_job *)user)->context, 0);
}

/* The context whose memory is counted. It has as many threads as the caller's, and is cancelled
 * with it. */
static carom_status parts_open_inner(parts_job *job) {
    carom_context *context = job->context;
    bool callers = context->pool == NULL && context->run != NULL;
    carom_context_def def = {.threads = context->threads,
                             .backend = context->backend,
                             .device = context->device_number,
                             .isa = context->isa,
                             .allocator = job->memory.counted,
                             .run = callers ? context->run : NULL,
                             .run_user = callers ? context->run_user : NULL,
                             .progress = parts_report_inner,
                             .progress_user = job,
                             .progress_interval = context->progress.interval,
                             .input_limit = context->input_limit};
    carom_status status = carom_context_create(&def, &job->inner);
    return status == CAROM_OK ? CAROM_OK
                              : carom_fail(context, status, "%s", carom_context_message(NULL));
}

/* How many triangles a part has at most, by the memory of the host and of the device. */
static carom_status parts_limit(parts_job *job) {
    const carom_parts_def *def = job->def;
    bool wide = job->inputs[0].scalar == CAROM_SCALAR_FLOAT64 ||
                (def->cross && job->inputs[1].scalar == CAROM_SCALAR_FLOAT64);
    uint64_t bytes = (wide ? PARTS_BYTES_FLOAT64 : PARTS_BYTES_FLOAT32) +
                     (def->no_weld ? PARTS_BYTES_INDICES : 0);
    job->most = job->memory.limit / bytes;
    if (job->inner->device != NULL) {
        uint64_t unused;
        carom_status status = carom_device_free_bytes(job->inner, &unused);
        if (status != CAROM_OK) return carom_parts_fail_inner(job, status);
        job->most = CAROM_MIN(job->most, unused / PARTS_DEVICE_SHARE / PARTS_BYTES_DEVICE);
    }
    job->most = CAROM_MAX(job->most, UINT64_C(1));
    if (def->part_faces != 0) job->most = CAROM_MIN(job->most, def->part_faces);
    return CAROM_OK;
}

static carom_status parts_open_all(parts_job *job) {
    const carom_parts_def *def = job->def;
    CAROM_TRY(parts_open_inner(job));
    CAROM_TRY(carom_parts_open(job, &def->a, &job->inputs[0]));
    if (def->cross) CAROM_TRY(carom_parts_open(job, &def->b, &job->inputs[1]));
    job->inputs[1].posed = true;
    job->inputs[1].frame = carom_frame_make(&def->pose_b);
    return parts_limit(job);
}

carom_status carom_parts_begin(carom_context *context, const carom_parts_def *def, parts_job *job) {
    uint64_t memory = def->memory != 0 ? def->memory : PARTS_DEFAULT_MEMORY;
    *job = (parts_job){
        .context = context, .def = def, .sum = {.worst_face = CAROM_NONE, .least = HUGE_VAL}};
    carom_parts_memory_init(&job->memory, &context->allocator,
                            memory - memory / PARTS_PROCESS_SHARE - PARTS_PROCESS_BYTES);
    job->allocator = &job->memory.counted;
    job->spill.allocator = job->allocator;
    for (int a = 0; a < 3; ++a) {
        job->low[a] = HUGE_VAL;
        job->high[a] = -HUGE_VAL;
    }
    if (def->folder != NULL)
        snprintf(job->folder, sizeof(job->folder), "%s", def->folder);
    else
        carom_os_temporary_folder(job->folder, sizeof(job->folder));
    parts_hash_def(job);
    CAROM_TRY(parts_check_def(context, def));
    return parts_open_all(job);
}

void carom_parts_end(parts_job *job, parts_cut *cut) {
    carom_parts_cut_release(job, cut);
    carom_parts_runs_release(job);
    carom_parts_close(&job->spill.file);
    parts_offsets_release(&job->spill.unused, job->allocator);
    for (int i = 0; i < 2; ++i) carom_parts_close_input(&job->inputs[i]);
    carom_context_destroy(job->inner);
    CAROM_ASSERT(atomic_load(&job->memory.used) == 0);
}

static carom_status parts_run_all(parts_job *job, parts_cut *cut) {
    CAROM_TRY(parts_survey_all(job));
    CAROM_TRY(parts_cut_all(job, cut));
    CAROM_TRY(carom_parts_search_all(job, cut));
    job->report.bytes_spilled = job->spill.end + job->runs.end;
    return CAROM_OK;
}

static void parts_fill_report(const parts_job *job, carom_parts_report *report) {
    *report = job->report;
    report->faces_a = job->inputs[0].faces;
    report->faces_b = job->inputs[1].faces;
    report->skipped_a = job->inputs[0].skipped;
    report->skipped_b = job->inputs[1].skipped;
    report->peak_bytes = atomic_load(&job->memory.peak);
}

/* What is done with the runs. */
typedef struct parts_wanted {
    carom_pairs_fn *pairs;
    carom_parts_counts_fn *counts;
    carom_kfree *kfree; /* NULL: pairs are wanted */
    void *user;
} parts_wanted;

static carom_status parts_call(carom_context *context, const carom_parts_def *def,
                               const parts_wanted *wanted, carom_parts_report *report) {
    parts_job job;
    parts_cut cut = {0};
    carom_status status = carom_parts_begin(context, def, &job);
    job.counts = wanted->kfree != NULL;
    if (status == CAROM_OK) status = parts_run_all(&job, &cut);
    if (status == CAROM_OK)
        status = job.counts
                     ? carom_parts_kfree_merge(&job, wanted->counts, wanted->user, wanted->kfree)
                     : carom_parts_runs_merge(&job, wanted->pairs, wanted->user);
    carom_parts_end(&job, &cut);
    if (report != NULL && status == CAROM_OK) parts_fill_report(&job, report);
    return status;
}

carom_status carom_parts_pairs(carom_context *context, const carom_parts_def *def,
                               carom_pairs_fn *receive, void *user, carom_parts_report *report) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(def, "def");
    CAROM_REQUIRE_INPUT(receive, "receiver");
    CAROM_REQUIRE_KNOWN(def->degenerate, CAROM_SOUP_DEGENERATE_COUNT, "treatment of faces");
    const parts_wanted wanted = {.pairs = receive, .user = user};
    return parts_call(context, def, &wanted, report);
}

carom_status carom_parts_kfree(carom_context *context, const carom_parts_def *def,
                               carom_parts_counts_fn *receive, void *user, carom_kfree *kfree,
                               carom_parts_report *report) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(def, "def");
    CAROM_REQUIRE_OUTPUT(kfree, "result");
    CAROM_REQUIRE_KNOWN(def->degenerate, CAROM_SOUP_DEGENERATE_COUNT, "treatment of faces");
    CAROM_TRY(carom_context_require_cpu(context, "k-freeness in parts"));
    if (def->cross || def->within || def->boxes || def->shards != 0 || def->count_only)
        return carom_fail(context, CAROM_BAD_INPUT,
                          "k-freeness is that of one whole mesh: without cross, within, boxes, "
                          "shards and count_only");
    const parts_wanted wanted = {.counts = receive, .kfree = kfree, .user = user};
    return parts_call(context, def, &wanted, report);
}
