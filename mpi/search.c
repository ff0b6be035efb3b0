/* SPDX-License-Identifier: MIT */
/* The search: the steps of src/parts, each rank with its share of the file, by MPI-IO.
 *   1. bounds of each share of vertices, of which the least and largest are those of all;
 *   2. each share of faces counted, and the counts added up: all ranks have one cut, whose shards
 *      along the curve they are;
 *   3. each face sent to the ranks that it reaches into;
 *   4. what came is cut, searched and merged as a shard is.
 *
 * Ranks have consecutive faces and send them in their order, so those that come ascend by id, as
 * the streams of parts need. */
#include <inttypes.h>
#include <math.h>

#include "job.h"

#define RANKS_READ_AT_ONCE ((uint64_t)1 << 30) /* bytes: counts of MPI are ints */

/* A parts_read_fn. */
static carom_status ranks_read(const parts_file *file, uint64_t offset, void *to, uint64_t size) {
    ranks_job *job = file->user;
    int which = file->name == job->paths[0] ? 0 : 1;
    for (uint64_t done = 0; done < size;) {
        MPI_Status status;
        int wanted = (int)CAROM_MIN(size - done, RANKS_READ_AT_ONCE), got = 0;
        int code = MPI_File_read_at(job->files[which], (MPI_Offset)(offset + done),
                                    (uint8_t *)to + done, wanted, MPI_BYTE, &status);
        ranks_check_io(job, code, file->name, "cannot be read");
        MPI_Get_count(&status, MPI_BYTE, &got);
        if (got <= 0)
            return carom_fail(job->context, CAROM_BAD_FILE, "%s: ends at byte %" PRIu64, file->name,
                              offset + done);
        done += (uint64_t)got;
    }
    job->read += size;
    return CAROM_OK;
}

static void open_inputs(ranks_job *job) {
    ranks_check(job, carom_parts_begin(job->context, &job->def, &job->parts));
    for (int i = 0; i < job->inputs; ++i) {
        parts_input *input = &job->parts.inputs[i];
        if (input->corners.name != NULL)
            ranks_die(job, RANKS_EXIT_INPUT, "%s: ranks read binary PLY and STL; convert it first",
                      input->name);
        int code = MPI_File_open(MPI_COMM_WORLD, job->paths[i], MPI_MODE_RDONLY, MPI_INFO_NULL,
                                 &job->files[i]);
        ranks_check_io(job, code, job->paths[i], "cannot be opened");
        input->file.read = ranks_read;
        input->file.user = job;
        input->faces = job->all_faces[i] = input->list_count;
    }
}

/* The bounds of all vertices, or facets, from those of each rank's. */
static void find_bounds(ranks_job *job) {
    parts_job *parts = &job->parts;
    for (int i = 0; i < job->inputs; ++i) {
        parts_input share = parts->inputs[i];
        bool facets = share.kind == PARTS_FACETS;
        uint64_t *count = facets ? &share.list_count : &share.vertex_count;
        uint64_t last = ranks_share(job, *count, job->rank + 1);
        share.first = ranks_share(job, *count, job->rank);
        *count = last - share.first;
        if (facets) {
            uint64_t bytes = (share.list_end - share.list_offset) / CAROM_MAX(job->all_faces[i], 1);
            share.list_end = share.list_offset + bytes * last;
            share.list_offset += bytes * share.first;
        } else {
            share.vertex_offset += share.stride * share.first;
        }
        if (*count != 0) ranks_check(job, carom_parts_survey(parts, &share));
    }
    MPI_Allreduce(MPI_IN_PLACE, parts->low, 3, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, parts->high, 3, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    carom_parts_make_grid(parts);
}

/* ---- Faces of the file ----------------------------------------------------------------------- */

/* A parts_next_fn: triangles alone, as only these have their places in a file. */
static carom_status next_triangle(void *user, parts_face *face) {
    parts_reader *reader = user;
    CAROM_TRY(carom_parts_reader_next(reader, face));
    if (reader->skipped == 0 && (face->count == 0 || face->count == 3)) return CAROM_OK;
    return carom_fail(reader->job->context, CAROM_BAD_FILE,
                      "%s: face %" PRIu64 " is no triangle; convert the mesh first (carom convert "
                      "--triangulate)",
                      reader->input->name, reader->next - 1);
}

static void open_share(ranks_job *job, int which, parts_reader *reader) {
    parts_input *input = &job->parts.inputs[which];
    uint64_t first = ranks_share(job, input->list_count, job->rank);
    uint64_t last = ranks_share(job, input->list_count, job->rank + 1);
    ranks_check(job, carom_parts_reader_open(&job->parts, input, NULL, reader));
    ranks_check(job, carom_parts_reader_set_range(reader, first, last));
}

/* One cut, of the counts of all ranks. */
static void find_cut(ranks_job *job) {
    const uint32_t origin[3] = {0, 0, 0};
    uint64_t count;
    ranks_check(job, carom_parts_cut_begin(&job->parts, &job->own, 32 - PARTS_LEVELS, origin));
    for (int i = 0; i < job->inputs; ++i) {
        parts_reader reader;
        open_share(job, i, &reader);
        ranks_check(job, carom_parts_count_all(&job->parts, &job->own, (uint32_t)i, next_triangle,
                                               &reader));
        carom_parts_reader_close(&reader);
    }
    uint32_t *counts = carom_parts_cut_counts(&job->parts, &job->own, &count);
    MPI_Allreduce(MPI_IN_PLACE, counts, (int)count, MPI_UINT32_T, MPI_SUM, MPI_COMM_WORLD);
    job->cut_bytes = count * sizeof(*counts);
    job->sent += job->cut_bytes;
    uint32_t ranks = (uint32_t)job->ranks;
    ranks_check(job, carom_parts_cut_share(&job->parts, &job->own, ranks, &job->shares));
    ranks_check(job, carom_parts_cut_divide(&job->parts, &job->own, job->parts.most,
                                            (uint32_t)job->rank, ranks));
    ranks_check(job, carom_parts_open_spill(&job->parts, &job->own));
}

/* ---- Sending and receiving ------------------------------------------------------------------- */

typedef struct sending {
    uint64_t *counts, *at, *last; /* of each rank: records, the next one, the last face + 1 */
    uint8_t *out;                 /* NULL: they are counted */
    uint64_t point, record;       /* bytes of nine coordinates, of a record */
    const parts_face *face;
} sending;

/* A parts_visit_fn: once for each node of a rank. */
static carom_status send_to(void *user, uint32_t rank) {
    sending *s = user;
    if (s->last[rank] == (uint64_t)s->face->id + 1) return CAROM_OK;
    s->last[rank] = (uint64_t)s->face->id + 1;
    ++s->counts[rank];
    if (s->out == NULL) return CAROM_OK;
    uint8_t *to = s->out + s->record * s->at[rank]++;
    memcpy(to, &s->face->id, RANKS_ID_BYTES);
    memcpy(to + RANKS_ID_BYTES, s->face->positions, (size_t)s->point);
    return CAROM_OK;
}

static void visit_all(ranks_job *job, int which, sending *s) {
    parts_reader reader;
    memset(s->counts, 0, (size_t)job->ranks * sizeof(*s->counts));
    memset(s->last, 0, (size_t)job->ranks * sizeof(*s->last));
    open_share(job, which, &reader);
    for (;;) {
        parts_face face;
        ranks_check(job, next_triangle(&reader, &face));
        if (face.count == 0) break;
        parts_cells cells =
            carom_parts_cells_of(&job->parts.grid, &job->parts.inputs[which], &face);
        s->face = &face;
        ranks_check(job, carom_parts_cut_visit(&job->shares, &cells, send_to, s));
    }
    carom_parts_reader_close(&reader);
}

/* Records that came, read as faces. */
typedef struct records {
    uint8_t *bytes;
    uint64_t count, record, at;
    double positions[9]; /* aligned */
} records;

/* A parts_next_fn. */
static carom_status next_record(void *user, parts_face *face) {
    records *r = user;
    *face = (parts_face){.count = 0};
    if (r->at == r->count) return CAROM_OK;
    const uint8_t *from = r->bytes + r->record * r->at++;
    memcpy(&face->id, from, RANKS_ID_BYTES);
    memcpy(r->positions, from + RANKS_ID_BYTES, (size_t)(r->record - RANKS_ID_BYTES));
    face->count = 3;
    face->positions = r->positions;
    return CAROM_OK;
}

static void send_faces(ranks_job *job, int which) {
    uint64_t ranks = (uint64_t)job->ranks, total = 0;
    uint64_t point = 9 * carom_scalar_size(job->parts.inputs[which].scalar);
    sending s = {.counts = ranks_take(job, ranks, sizeof(*s.counts), "counts"),
                 .at = ranks_take(job, ranks, sizeof(*s.at), "counts"),
                 .last = ranks_take(job, ranks, sizeof(*s.last), "counts"),
                 .point = point,
                 .record = RANKS_ID_BYTES + point};
    records came = {.record = s.record};
    visit_all(job, which, &s);
    for (uint64_t r = 0; r < ranks; ++r) {
        s.at[r] = total;
        total += s.counts[r];
    }
    s.out = ranks_take(job, total, s.record, "faces for other ranks");
    visit_all(job, which, &s);
    came.bytes = ranks_exchange(job, s.out, s.counts, s.record, &came.count);
    free(s.out);
    free(s.counts);
    free(s.at);
    free(s.last);
    job->copies += came.count;
    job->copied_bytes += came.count * came.record;
    ranks_check(job,
                carom_parts_spill_all(&job->parts, &job->own, (uint32_t)which, next_record, &came));
    free(came.bytes);
}

/* A carom_pairs_fn. */
static bool keep(void *user, const carom_pair *pairs, uint64_t count) {
    ranks_job *job = user;
    if (job->pair_count + count > job->pair_room) {
        job->pair_room = 2 * (job->pair_count + count);
        job->pairs = realloc(job->pairs, job->pair_room * sizeof(*job->pairs));
        if (job->pairs == NULL) ranks_die(job, RANKS_EXIT_MACHINE, "out of memory for pairs");
    }
    for (uint64_t i = 0; i < count; ++i)
        job->pairs[job->pair_count++] = (uint64_t)pairs[i].a << 32 | pairs[i].b;
    return false;
}

void ranks_search(ranks_job *job) {
    open_inputs(job);
    find_bounds(job);
    find_cut(job);
    for (int i = 0; i < job->inputs; ++i) send_faces(job, i);
    ranks_check(job, carom_parts_spill_end(&job->parts, &job->own));
    ranks_check(job, carom_parts_search_all(&job->parts, &job->own));
    ranks_check(job, carom_parts_runs_merge(&job->parts, keep, job));
    for (int i = 0; i < job->inputs; ++i) MPI_File_close(&job->files[i]);
    carom_parts_cut_release(&job->parts, &job->shares);
    carom_parts_end(&job->parts, &job->own);
}
