/* SPDX-License-Identifier: MIT */
/* The cut, as src/parts has it: a grid of cells over the bounds of all faces, along a space-filling
 * curve (Morton 1966), which is divided among the ranks by samples of the faces. The cell of a
 * coordinate is a monotone function of it, so faces whose boxes overlap have ranges of cells that
 * overlap, and the lowest cell that both have belongs to one rank. Both faces were sent to it, so
 * it finds the pair; every other rank that has both leaves it out. */
#include <inttypes.h>
#include <math.h>

#include "job.h"

#define CUT_BITS    16u   /* cells along an axis: 2^16 */
#define CUT_SAMPLES 1024u /* per rank: shares differ by some 3 % */

void face_corners(const faces *f, uint64_t face, carom_vec3 corners[3]) {
    const uint8_t *from = f->records + face * f->record + MPI_ID_BYTES;
    for (int c = 0; c < 3; ++c) {
        double x[3];
        for (int a = 0; a < 3; ++a) {
            float narrow;
            if (f->wide)
                memcpy(&x[a], from + 8 * (3 * c + a), sizeof(x[a]));
            else
                memcpy(&narrow, from + 4 * (3 * c + a), sizeof(narrow)), x[a] = (double)narrow;
        }
        corners[c] = (carom_vec3){x[0], x[1], x[2]};
        if (f->pose != NULL) corners[c] = carom_pose_apply_value(f->pose, &corners[c]);
    }
}

static void face_bounds(const faces *f, uint64_t face, double low[3], double high[3]) {
    carom_vec3 corners[3];
    face_corners(f, face, corners);
    for (int c = 0; c < 3; ++c) {
        const double x[3] = {corners[c].x, corners[c].y, corners[c].z};
        for (int a = 0; a < 3; ++a) {
            low[a] = c == 0 || x[a] < low[a] ? x[a] : low[a];
            high[a] = c == 0 || x[a] > high[a] ? x[a] : high[a];
        }
    }
}

/* Subtraction and multiplication round monotonely, so this never decreases with x. */
static uint32_t cell_of(const cut *cut, int axis, double x) {
    double cell = (0.5 * x - cut->low[axis]) * cut->scale[axis];
    if (!(cell > 0.0)) return 0;
    double most = (double)((1u << CUT_BITS) - 1);
    return cell < most ? (uint32_t)cell : (uint32_t)most;
}

cells cut_cells(const cut *cut, const faces *f, uint64_t face) {
    double low[3], high[3];
    cells c;
    face_bounds(f, face, low, high);
    for (int a = 0; a < 3; ++a) {
        bool near = cut->half > 0.0; /* rounded outwards */
        c.low[a] = cell_of(cut, a, near ? nextafter(low[a] - cut->half, -HUGE_VAL) : low[a]);
        c.high[a] = cell_of(cut, a, near ? nextafter(high[a] + cut->half, HUGE_VAL) : high[a]);
    }
    return c;
}

static uint64_t key_of(const uint32_t cell[3]) {
    uint64_t key = 0;
    for (uint32_t bit = CUT_BITS; bit-- > 0;)
        for (int a = 3; a-- > 0;) key = key << 1 | (cell[a] >> bit & 1);
    return key;
}

static int owner_of_key(const job *job, uint64_t key) {
    int low = 0, high = job->ranks - 1; /* the first rank whose end is beyond the key */
    while (low < high) {
        int middle = (low + high) / 2;
        if (key < job->cut.keys[middle])
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

int cut_owner(const job *job, const uint32_t cell[3]) {
    return owner_of_key(job, key_of(cell));
}

/* ---- Making it ------------------------------------------------------------------------------- */

static void find_bounds(job *job, const faces *all) {
    double bounds[6] = {HUGE_VAL, HUGE_VAL, HUGE_VAL, HUGE_VAL, HUGE_VAL, HUGE_VAL};
    for (int i = 0; i < job->inputs; ++i)
        for (uint64_t f = 0; f < all[i].count; ++f) {
            double low[3], high[3];
            carom_vec3 corners[3];
            face_corners(&all[i], f, corners);
            for (int c = 0; c < 3; ++c)
                if (!isfinite(corners[c].x) || !isfinite(corners[c].y) || !isfinite(corners[c].z))
                    die(job, MPI_EXIT_INPUT,
                        "%s: face %" PRIu64 " has a coordinate that is not finite, or its pose "
                        "moves it beyond the range of doubles",
                        job->paths[i], share(job, job->all_faces[i], job->rank) + f);
            face_bounds(&all[i], f, low, high);
            for (int a = 0; a < 3; ++a) {
                bounds[a] = fmin(bounds[a], low[a]);
                bounds[3 + a] = fmin(bounds[3 + a], -high[a]);
            }
        }
    MPI_Allreduce(MPI_IN_PLACE, bounds, 6, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
    for (int a = 0; a < 3; ++a) { /* halves do not overflow */
        double extent = -0.5 * bounds[3 + a] - 0.5 * bounds[a];
        job->cut.low[a] = 0.5 * bounds[a];
        job->cut.scale[a] = extent > 0.0 ? (double)(1u << CUT_BITS) / extent : 0.0;
    }
    job->cut.half = job->reach > 0.0 ? nextafter(0.5 * job->reach, HUGE_VAL) : 0.0;
}

static int compare_keys(const void *a, const void *b) {
    uint64_t p = *(const uint64_t *)a, q = *(const uint64_t *)b;
    return p < q ? -1 : p > q;
}

void cut_make(job *job, const faces *all) {
    uint64_t own = 0, samples = CUT_SAMPLES * (uint64_t)job->ranks;
    uint64_t *mine = take(job, CUT_SAMPLES, sizeof(*mine), "samples");
    uint64_t *keys = take(job, samples, sizeof(*keys), "samples");
    find_bounds(job, all);
    for (int i = 0; i < job->inputs; ++i) own += all[i].count;
    for (uint64_t s = 0; s < CUT_SAMPLES; ++s) {
        uint64_t at = own * s / CUT_SAMPLES;
        int i = at < all[0].count ? 0 : 1;
        if (own == 0) mine[s] = UINT64_MAX; /* the share of no faces has no part */
        if (own == 0) continue;
        cells c = cut_cells(&job->cut, &all[i], i == 0 ? at : at - all[0].count);
        mine[s] = key_of(c.low);
    }
    MPI_Allgather(mine, CUT_SAMPLES, MPI_UINT64_T, keys, CUT_SAMPLES, MPI_UINT64_T, MPI_COMM_WORLD);
    job->sent += CUT_SAMPLES * sizeof(*mine);
    qsort(keys, samples, sizeof(*keys), compare_keys);
    while (samples > 0 && keys[samples - 1] == UINT64_MAX) --samples;
    job->cut.keys = take(job, (uint64_t)job->ranks, sizeof(*job->cut.keys), "a cut");
    for (int r = 1; r < job->ranks; ++r)
        job->cut.keys[r - 1] = samples != 0 ? keys[share(job, samples, r)] : 0;
    free(mine);
    free(keys);
}

/* ---- Sending faces to where they reach ------------------------------------------------------- */

typedef struct walk {
    const job *job;
    cells cells;
    uint64_t *last; /* of each rank: the last face that it got, counted from 1 */
    uint64_t face;
    int *found; /* ranks */
    int count;
} walk;

/* Collects the owners of the cells of a node that the face reaches into. Only nodes in which the
 * curve is divided are opened. */
static void visit(walk *w, uint32_t level, const uint32_t at[3]) {
    uint32_t up = CUT_BITS - level, low[3];
    for (int a = 0; a < 3; ++a) {
        if (at[a] < w->cells.low[a] >> up || at[a] > w->cells.high[a] >> up) return;
        low[a] = at[a] << up;
    }
    uint64_t first = key_of(low), last = first + ((UINT64_C(1) << 3 * up) - 1);
    int owner = owner_of_key(w->job, first);
    if (owner == owner_of_key(w->job, last)) {
        if (w->last[owner] != w->face + 1) w->found[w->count++] = owner;
        w->last[owner] = w->face + 1;
        return;
    }
    for (uint32_t child = 0; child < 8; ++child) {
        const uint32_t to[3] = {2 * at[0] + (child & 1), 2 * at[1] + (child >> 1 & 1),
                                2 * at[2] + (child >> 2)};
        visit(w, level + 1, to);
    }
}

/* The ranks that a face reaches into, from the least node that has all of it. */
static void find_owners(walk *w, const cut *cut, const faces *f, uint64_t face) {
    uint32_t level = CUT_BITS, low[3], high[3];
    w->cells = cut_cells(cut, f, face);
    w->face = face;
    w->count = 0;
    memcpy(low, w->cells.low, sizeof(low));
    memcpy(high, w->cells.high, sizeof(high));
    for (; low[0] != high[0] || low[1] != high[1] || low[2] != high[2]; --level)
        for (int a = 0; a < 3; ++a) low[a] >>= 1, high[a] >>= 1;
    visit(w, level, low);
}

void cut_send(job *job, faces *f) {
    uint64_t ranks = (uint64_t)job->ranks, total = 0;
    uint64_t *counts = take(job, ranks, sizeof(*counts), "counts");
    uint64_t *at = take(job, ranks, sizeof(*at), "counts");
    walk w = {.job = job,
              .last = take(job, ranks, sizeof(*w.last), "counts"),
              .found = take(job, ranks, sizeof(*w.found), "counts")};
    for (uint64_t i = 0; i < f->count; ++i) {
        find_owners(&w, &job->cut, f, i);
        for (int k = 0; k < w.count; ++k) ++counts[w.found[k]];
    }
    for (uint64_t r = 0; r < ranks; ++r) {
        at[r] = total;
        total += counts[r];
    }
    uint8_t *out = take(job, total, f->record, "faces for other ranks");
    memset(w.last, 0, ranks * sizeof(*w.last));
    for (uint64_t i = 0; i < f->count; ++i) {
        find_owners(&w, &job->cut, f, i);
        for (int k = 0; k < w.count; ++k)
            memcpy(out + f->record * at[w.found[k]]++, f->records + f->record * i, f->record);
    }
    free(f->records);
    f->records = exchange(job, out, counts, f->record, &f->count);
    job->copies += f->count;
    job->copied_bytes += f->count * f->record;
    free(out);
    free(counts);
    free(at);
    free(w.last);
    free(w.found);
}
