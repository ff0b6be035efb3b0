/* SPDX-License-Identifier: MIT */
/* The search of one rank: its faces become a soup, or two, or boxes, and the pairs whose lowest
 * common cell is the rank's are kept. Records ascend by id, so pairs of indices ascend as pairs of
 * ids do. */
#include <inttypes.h>

#include "job.h"

typedef struct keeping {
    job *job;
    const faces *a, *b;
    uint64_t room;
} keeping;

static void check_call(const job *job, carom_status status) {
    if (status == CAROM_NO_MEMORY)
        die(job, MPI_EXIT_MACHINE, "%s; take more ranks", carom_context_message(job->context));
    if (status != CAROM_OK) die(job, MPI_EXIT_INPUT, "%s", carom_context_message(job->context));
}

static uint32_t id_of(const faces *f, uint64_t face) {
    uint32_t id;
    memcpy(&id, f->records + face * f->record, MPI_ID_BYTES);
    return id;
}

static bool is_own(const keeping *k, uint32_t i, uint32_t j) {
    cells a = cut_cells(&k->job->cut, k->a, i), b = cut_cells(&k->job->cut, k->b, j);
    uint32_t cell[3];
    for (int c = 0; c < 3; ++c) cell[c] = a.low[c] > b.low[c] ? a.low[c] : b.low[c];
    return cut_owner(k->job, cell) == k->job->rank;
}

/* A carom_pairs_fn. */
static bool keep(void *user, const carom_pair *pairs, uint64_t count) {
    keeping *k = user;
    job *job = k->job;
    for (uint64_t p = 0; p < count; ++p) {
        if (!is_own(k, pairs[p].a, pairs[p].b)) continue;
        if (job->pair_count == k->room) {
            k->room = 2 * k->room + 1024;
            job->pairs = realloc(job->pairs, k->room * sizeof(*job->pairs));
            if (job->pairs == NULL) die(job, MPI_EXIT_MACHINE, "out of memory for pairs");
        }
        job->pairs[job->pair_count++] =
            (uint64_t)id_of(k->a, pairs[p].a) << 32 | id_of(k->b, pairs[p].b);
    }
    return false;
}

static carom_soup *soup_of(job *job, const faces *f) {
    uint64_t point = f->wide ? 24 : 12;
    uint8_t *positions = take(job, f->count, 3 * point, "faces");
    uint32_t *corners = take(job, 3 * f->count, sizeof(*corners), "faces");
    for (uint64_t i = 0; i < f->count; ++i)
        memcpy(positions + 3 * point * i, f->records + f->record * i + MPI_ID_BYTES, 3 * point);
    for (uint64_t c = 0; c < 3 * f->count; ++c) corners[c] = (uint32_t)c;
    carom_mesh_view view = {.positions = positions,
                            .scalar = f->wide ? CAROM_SCALAR_FLOAT64 : CAROM_SCALAR_FLOAT32,
                            .vertex_count = 3 * f->count,
                            .corners = corners,
                            .face_count = f->count};
    if (view.vertex_count > UINT32_MAX - 1)
        die(job, MPI_EXIT_MACHINE, "%" PRIu64 " faces for one rank; take more ranks", f->count);
    carom_mesh *welded;
    carom_soup *soup;
    carom_soup_def def = {.mesh = &view, .degenerate = job->degenerate};
    check_call(job, carom_mesh_weld(job->context, &view, &welded));
    free(positions);
    free(corners);
    check_call(job, carom_mesh_get_view(welded, &view));
    check_call(job, carom_soup_create(job->context, &def, &soup));
    carom_mesh_destroy(welded);
    return soup;
}

static void search_soups(job *job, const faces *all, keeping *k) {
    carom_soup *a = soup_of(job, &all[0]), *b = job->inputs == 2 ? soup_of(job, &all[1]) : NULL;
    carom_context *c = job->context;
    bool near = job->reach >= 0.0;
    carom_status status;
    if (b != NULL)
        status = near ? carom_soup_cross_each_within(c, a, NULL, b, &job->pose, job->reach, keep, k)
                      : carom_soup_cross_each(c, a, NULL, b, &job->pose, keep, k);
    else
        status = near ? carom_soup_self_each_within(c, a, job->reach, keep, k)
                      : carom_soup_self_each(c, a, keep, k);
    check_call(job, status);
    carom_soup_destroy(a);
    carom_soup_destroy(b);
}

/* Boxes: those of the second mesh follow those of the first, in a group of their own. */
static void search_boxes(job *job, const faces *all, keeping *k) {
    uint64_t first = all[0].count, count = first + (job->inputs == 2 ? all[1].count : 0);
    carom_bounds *boxes = take(job, count, sizeof(*boxes), "boxes");
    carom_broad_filter *filters = take(job, count, sizeof(*filters), "boxes");
    for (uint64_t i = 0; i < count; ++i) {
        carom_vec3 p[3];
        int second = i >= first;
        face_corners(&all[second], second ? i - first : i, p);
        carom_bounds box = {p[0], p[0]};
        for (int c = 1; c < 3; ++c) {
            const double x[3] = {p[c].x, p[c].y, p[c].z};
            double *low[3] = {&box.low.x, &box.low.y, &box.low.z};
            double *high[3] = {&box.high.x, &box.high.y, &box.high.z};
            for (int a = 0; a < 3; ++a) {
                if (x[a] < *low[a]) *low[a] = x[a];
                if (x[a] > *high[a]) *high[a] = x[a];
            }
        }
        boxes[i] = box;
        filters[i] = job->inputs == 1 ? (carom_broad_filter){0}
                     : second         ? (carom_broad_filter){.group = 2, .mask = 1}
                                      : (carom_broad_filter){.group = 1, .mask = 2};
    }
    carom_broad *broad;
    carom_pairs pairs = {0};
    carom_broad_def def = {.boxes = boxes, .box_count = count, .filters = filters};
    check_call(job, carom_broad_create(job->context, &def, &broad));
    free(boxes);
    free(filters);
    check_call(job, carom_broad_pairs(job->context, broad, &pairs));
    for (uint64_t i = 0; i < pairs.count && job->inputs == 2; ++i)
        pairs.data[i].b -= (uint32_t)first;
    (void)keep(k, pairs.data, pairs.count);
    carom_pairs_free(&pairs);
    carom_broad_destroy(broad);
}

void search(job *job, const faces *all) {
    keeping k = {.job = job, .a = &all[0], .b = &all[job->inputs - 1]};
    if (all[0].count == 0 || all[job->inputs - 1].count == 0) return;
    if (job->boxes)
        search_boxes(job, all, &k);
    else
        search_soups(job, all, &k);
}
