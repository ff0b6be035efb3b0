/* SPDX-License-Identifier: MIT */
/* What Loi's thesis (2010) leaves as future work on sweep and prune, measured: sweeping along the
 * principal axis of the centres, and cutting full cells once more. Not part of the library.
 *
 * A plain sweep of float intervals, with one or two levels of cells across the axis, so that the
 * variants differ in the axis and the cells alone. Pairs are counted where two boxes begin to
 * overlap in both axes across, so that each counts once. The library's own methods are beside them.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "scenes/boxes.h"

#define PLAIN_STEPS 6.0  /* per entry, which cells are sized for, as in src/broad/broad_sweep.c */
#define FULL_CELL   1.5  /* times the mean number of entries: cut once more */
#define CUT         4u   /* cells of the second level per cell, along an edge, at most */
#define MOST_CELLS  1024 /* along an edge */

typedef enum scene_form { FORM_UNIFORM, FORM_DIAGONAL, FORM_CLUSTERS, FORM_COUNT } scene_form;
static const char *const form_names[] = {"uniform", "diagonal", "clusters"};

typedef struct entry {
    uint64_t key; /* cell, then where it begins */
    float begin, end;
    uint32_t box;
} entry;

typedef struct sweep {
    const carom_bounds *boxes;
    uint32_t count;
    bool principal;  /* sweeps along the principal axis */
    bool two_levels; /* cuts full cells once more */
    entry *entries, *sorted;
    uint64_t entry_count, entry_capacity, steps, pairs, right;
} sweep;

/* ---- the axis -------------------------------------------------------------------------------- */

/* The axis of largest variance, or the eigenvector of the covariance by power iteration. */
static carom_vec3 choose_axis(const sweep *s) {
    double mean[3] = {0}, c[3][3] = {{0}}, v[3] = {1.0, 1.0, 1.0};
    for (uint32_t i = 0; i < s->count; ++i)
        for (int k = 0; k < 3; ++k)
            mean[k] += 0.5 * ((&s->boxes[i].low.x)[k] + (&s->boxes[i].high.x)[k]) / s->count;
    for (uint32_t i = 0; i < s->count; ++i) {
        double x[3];
        for (int k = 0; k < 3; ++k)
            x[k] = 0.5 * ((&s->boxes[i].low.x)[k] + (&s->boxes[i].high.x)[k]) - mean[k];
        for (int k = 0; k < 3; ++k)
            for (int l = 0; l < 3; ++l) c[k][l] += x[k] * x[l] / s->count;
    }
    if (!s->principal) {
        int best = c[1][1] > c[0][0] ? 1 : 0;
        best = c[2][2] > c[best][best] ? 2 : best;
        return (carom_vec3){best == 0, best == 1, best == 2};
    }
    for (int step = 0; step < 50; ++step) {
        double w[3], length = 0.0;
        for (int k = 0; k < 3; ++k) {
            w[k] = c[k][0] * v[0] + c[k][1] * v[1] + c[k][2] * v[2];
            length += w[k] * w[k];
        }
        for (int k = 0; k < 3; ++k) v[k] = w[k] / sqrt(length);
    }
    return (carom_vec3){v[0], v[1], v[2]};
}

/* ---- entries --------------------------------------------------------------------------------- */

/* The interval of a box along a direction. */
static void project(const carom_bounds *b, const carom_vec3 *d, double *low, double *high) {
    double middle = 0.0, half = 0.0;
    for (int k = 0; k < 3; ++k) {
        double l = (&b->low.x)[k], h = (&b->high.x)[k];
        middle += (&d->x)[k] * 0.5 * (l + h);
        half += fabs((&d->x)[k]) * 0.5 * (h - l);
    }
    *low = middle - half;
    *high = middle + half;
}

/* Cells across the axis, in two directions. */
typedef struct cells {
    carom_vec3 across[2];
    double low[2], edge;
    uint32_t count[2];
} cells;

static uint32_t cell_at(const cells *c, int k, double x) {
    double at = (x - c->low[k]) / c->edge;
    return at <= 0.0 ? 0u : at >= c->count[k] - 1.0 ? c->count[k] - 1u : (uint32_t)at;
}

static bool add_entry(sweep *s, uint64_t cell, float begin, float end, uint32_t box) {
    if (s->entry_count == s->entry_capacity) return false;
    uint32_t bits;
    memcpy(&bits, &begin, sizeof(bits));
    bits = bits >> 31 != 0 ? ~bits : bits | 0x80000000u; /* ordered as the floats are */
    s->entries[s->entry_count++] = (entry){cell << 32 | bits, begin, end, box};
    return true;
}

/* By radix, a byte at a time. */
static void sort_entries(sweep *s, uint64_t last_key) {
    for (int shift = 0; shift < 64 && last_key >> shift != 0; shift += 8) {
        uint64_t start[257] = {0};
        for (uint64_t i = 0; i < s->entry_count; ++i)
            ++start[(s->entries[i].key >> shift & 255) + 1];
        for (int i = 0; i < 256; ++i) start[i + 1] += start[i];
        for (uint64_t i = 0; i < s->entry_count; ++i)
            s->sorted[start[s->entries[i].key >> shift & 255]++] = s->entries[i];
        entry *swap = s->entries;
        s->entries = s->sorted;
        s->sorted = swap;
    }
}

/* ---- the sweep ------------------------------------------------------------------------------- */

static bool overlap(const carom_bounds *a, const carom_bounds *b) {
    return a->low.x <= b->high.x && b->low.x <= a->high.x && a->low.y <= b->high.y &&
           b->low.y <= a->high.y && a->low.z <= b->high.z && b->low.z <= a->high.z;
}

/* Where the common part of two boxes begins across the axis: the pair belongs to this cell. */
static void common(const cells *c, const carom_bounds *a, const carom_bounds *b, double at[2]) {
    for (int k = 0; k < 2; ++k) {
        double low_a, high_a, low_b, high_b;
        project(a, &c->across[k], &low_a, &high_a);
        project(b, &c->across[k], &low_b, &high_b);
        at[k] = fmax(low_a, low_b);
    }
}

/* A plane of cells across the axis, each cut into cut[i] by cut[i] cells of the second level. */
typedef struct plane {
    carom_vec3 axis;
    cells c;
    double across;          /* mean extent of a box */
    uint32_t *cut, *filled; /* filled: boxes in a cell */
    uint32_t all;           /* cells */
} plane;

/* The axis of most variance and two directions at right angles to it. */
static void choose_directions(const sweep *s, plane *p) {
    carom_vec3 d = p->axis = choose_axis(s);
    carom_vec3 other = fabs(d.x) < 0.7 ? (carom_vec3){1, 0, 0} : (carom_vec3){0, 1, 0};
    double along = d.x * other.x + d.y * other.y + d.z * other.z;
    for (int k = 0; k < 3; ++k) (&other.x)[k] -= along * (&d.x)[k];
    double length = sqrt(other.x * other.x + other.y * other.y + other.z * other.z);
    carom_vec3 u = {other.x / length, other.y / length, other.z / length};
    p->c.across[0] = u;
    p->c.across[1] =
        (carom_vec3){d.y * u.z - d.z * u.y, d.z * u.x - d.x * u.z, d.x * u.y - d.y * u.x};
}

/* The intervals of a box along the axis and across it. */
static void project_all(const plane *p, const carom_bounds *box, double low[3], double high[3]) {
    project(box, &p->axis, &low[0], &high[0]);
    for (int k = 0; k < 2; ++k) project(box, &p->c.across[k], &low[k + 1], &high[k + 1]);
}

static void choose_cells(const sweep *s, plane *p) {
    double low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
    double extent = 0.0, across = 0.0;
    for (uint32_t i = 0; i < s->count; ++i) {
        double l[3], h[3];
        project_all(p, &s->boxes[i], l, h);
        for (int k = 0; k < 3; ++k) low[k] = fmin(low[k], l[k]), high[k] = fmax(high[k], h[k]);
        extent += (h[0] - l[0]) / s->count;
        across += ((h[1] - l[1]) + (h[2] - l[2])) / s->count * 0.5;
    }
    double volume = (high[0] - low[0]) * (high[1] - low[1]) * (high[2] - low[2]);
    p->across = across;
    p->c.edge = fmax(sqrt(PLAIN_STEPS * volume / (s->count * extent)), 2.0 * across);
    for (int k = 0; k < 2; ++k) {
        p->c.low[k] = low[k + 1];
        p->c.count[k] = (uint32_t)fmin((high[k + 1] - low[k + 1]) / p->c.edge + 1.0, MOST_CELLS);
    }
    p->all = p->c.count[0] * p->c.count[1];
}

/* The cells of the second level in cell x, y. */
static cells cells_in(const plane *p, uint32_t x, uint32_t y) {
    uint32_t n = p->cut[x * p->c.count[1] + y];
    return (cells){.low = {p->c.low[0] + x * p->c.edge, p->c.low[1] + y * p->c.edge},
                   .edge = p->c.edge / n,
                   .count = {n, n}};
}

static uint64_t key_of(uint32_t cell, uint32_t u, uint32_t v) {
    return ((uint64_t)cell * CUT + u) * CUT + v;
}

/* Full cells are cut as often as brings them to the mean, up to CUT times. */
static void cut_cells(const sweep *s, plane *p) {
    uint64_t total = 0;
    for (uint32_t i = 0; i < s->count && s->two_levels; ++i) {
        double l[3], h[3];
        project_all(p, &s->boxes[i], l, h);
        uint32_t x0 = cell_at(&p->c, 0, l[1]), x1 = cell_at(&p->c, 0, h[1]);
        uint32_t y0 = cell_at(&p->c, 1, l[2]), y1 = cell_at(&p->c, 1, h[2]);
        for (uint32_t x = x0; x <= x1; ++x)
            for (uint32_t y = y0; y <= y1; ++y) ++p->filled[x * p->c.count[1] + y], ++total;
    }
    double mean = (double)total / p->all;
    double least = p->c.edge / (2.0 * p->across); /* not below twice a box */
    for (uint32_t i = 0; i < p->all; ++i) {
        double times = sqrt(p->filled[i] / fmax(mean, 1.0));
        p->cut[i] = p->filled[i] > FULL_CELL * mean
                        ? (uint32_t)fmax(1.0, fmin(CUT, fmin(times, least)))
                        : 1u;
    }
}

/* An entry per box and cell; false where there are too many. */
static bool enter_boxes(sweep *s, const plane *p, uint64_t *last_key) {
    bool done = true;
    s->entry_count = 0;
    for (uint32_t i = 0; i < s->count && done; ++i) {
        double l[3], h[3];
        project_all(p, &s->boxes[i], l, h);
        uint32_t x0 = cell_at(&p->c, 0, l[1]), x1 = cell_at(&p->c, 0, h[1]);
        uint32_t y0 = cell_at(&p->c, 1, l[2]), y1 = cell_at(&p->c, 1, h[2]);
        for (uint32_t x = x0; x <= x1; ++x)
            for (uint32_t y = y0; y <= y1; ++y) {
                cells in = cells_in(p, x, y);
                for (uint32_t u = cell_at(&in, 0, l[1]); u <= cell_at(&in, 0, h[1]); ++u)
                    for (uint32_t v = cell_at(&in, 1, l[2]); v <= cell_at(&in, 1, h[2]); ++v) {
                        uint64_t key = key_of(x * p->c.count[1] + y, u, v);
                        *last_key = key > *last_key ? key : *last_key;
                        done = done &&
                               add_entry(s, key, (float)(l[0] - 1e-3), (float)(h[0] + 1e-3), i);
                    }
            }
    }
    return done;
}

/* Each pair counts in one cell: where the common part of its boxes begins. */
static void count_pairs(sweep *s, const plane *p) {
    s->steps = s->pairs = 0;
    for (uint64_t i = 0; i < s->entry_count; ++i) {
        const entry *e = &s->entries[i];
        for (uint64_t k = i + 1; k < s->entry_count; ++k) {
            const entry *f = &s->entries[k];
            if (f->key >> 32 != e->key >> 32 || f->begin > e->end) break;
            ++s->steps;
            if (!overlap(&s->boxes[e->box], &s->boxes[f->box])) continue;
            double at[2];
            common(&p->c, &s->boxes[e->box], &s->boxes[f->box], at);
            uint32_t x = cell_at(&p->c, 0, at[0]), y = cell_at(&p->c, 1, at[1]);
            cells in = cells_in(p, x, y);
            uint64_t key =
                key_of(x * p->c.count[1] + y, cell_at(&in, 0, at[0]), cell_at(&in, 1, at[1]));
            s->pairs += key == e->key >> 32;
        }
    }
}

static bool run_sweep(void *input) {
    sweep *s = input;
    plane p = {0};
    choose_directions(s, &p);
    choose_cells(s, &p);
    p.filled = calloc(p.all, sizeof(*p.filled));
    p.cut = malloc(p.all * sizeof(*p.cut));
    uint64_t last_key = 0;
    bool done = p.filled != NULL && p.cut != NULL;
    if (done) {
        cut_cells(s, &p);
        done = enter_boxes(s, &p, &last_key);
    }
    if (done) {
        sort_entries(s, last_key << 32 | UINT32_MAX);
        count_pairs(s, &p);
    }
    free(p.filled);
    free(p.cut);
    return done && s->pairs == s->right;
}

/* ---- the library ----------------------------------------------------------------------------- */

typedef struct library {
    carom_context *context;
    carom_broad_def def;
    carom_pairs pairs;
    uint64_t right;
} library;

static bool run_library(void *input) {
    library *l = input;
    carom_broad *broad;
    bool done = carom_broad_create(l->context, &l->def, &broad) == CAROM_OK &&
                carom_broad_pairs(l->context, broad, &l->pairs) == CAROM_OK;
    carom_broad_destroy(broad);
    if (l->right == 0) l->right = l->pairs.count;
    return done && l->pairs.count == l->right;
}

/* Moves the uniform scene's boxes: about the diagonal of their cube, or into eight clusters. */
static void form(scene_boxes *scene, scene_form f) {
    carom_random random = {2010};
    carom_vec3 centres[8];
    for (int i = 0; i < 8; ++i)
        for (int k = 0; k < 3; ++k)
            (&centres[i].x)[k] = carom_random_between(&random, 0.1, 0.9) * scene->edge;
    for (uint64_t i = 0; i < scene->count && f != FORM_UNIFORM; ++i) {
        double t = carom_random_uniform(&random) * 4.0 * scene->edge;
        for (int k = 0; k < 3; ++k) {
            double x = (&scene->centres[i].x)[k];
            x = f == FORM_DIAGONAL ? t + 0.5 * x : (&centres[i % 8].x)[k] + 0.3 * x;
            (&scene->bounds[i].low.x)[k] = x - scene->half[i];
            (&scene->bounds[i].high.x)[k] = x + scene->half[i];
        }
    }
}

static void measure(bench *bench, carom_context *context, uint64_t count, scene_form f) {
    static const char *const names[] = {"plain sweep", "principal axis", "two levels of cells"};
    scene_boxes scene;
    sweep sweeps[3];
    bench_contender contenders[5];
    char job[64];
    if (!scene_boxes_make(count, SCENE_BOXES_MONO, 2010, &scene)) return;
    form(&scene, f);
    library own[2] = {{.context = context}, {.context = context}};
    for (int i = 0; i < 2; ++i) {
        own[i].def = (carom_broad_def){.boxes = scene.bounds,
                                       .box_count = count,
                                       .method = i == 0 ? CAROM_BROAD_METHOD_SWEEP
                                                        : CAROM_BROAD_METHOD_TREE};
        contenders[3 + i] =
            (bench_contender){i == 0 ? "carom, sweep" : "carom, tree", NULL, run_library, &own[i]};
        (void)run_library(&own[i]);
    }
    uint64_t capacity = 16 * count;
    bool made = true;
    for (int i = 0; i < 3; ++i) {
        sweeps[i] = (sweep){.boxes = scene.bounds,
                            .count = (uint32_t)count,
                            .principal = i == 1,
                            .two_levels = i == 2,
                            .entries = malloc(capacity * sizeof(entry)),
                            .sorted = malloc(capacity * sizeof(entry)),
                            .entry_capacity = capacity,
                            .right = own[0].right};
        made = made && sweeps[i].entries != NULL && sweeps[i].sorted != NULL;
        contenders[i] = (bench_contender){names[i], NULL, run_sweep, &sweeps[i]};
    }
    snprintf(job, sizeof(job), "%s %lluk", form_names[f], (unsigned long long)count / 1000);
    if (made) bench_compare(bench, job, (double)count, contenders, 5);
    for (int i = 0; i < 3; ++i) {
        bench_note(bench, "%s, %s: %llu entries, %llu steps, %llu pairs", job, names[i],
                   (unsigned long long)sweeps[i].entry_count, (unsigned long long)sweeps[i].steps,
                   (unsigned long long)sweeps[i].pairs);
        free(sweeps[i].entries);
        free(sweeps[i].sorted);
    }
    for (int i = 0; i < 2; ++i) carom_pairs_free(&own[i].pairs);
    scene_boxes_free(&scene);
}

static void run(bench *bench) {
    carom_context_def def = *bench->def;
    carom_context *context;
    def.threads = 1;
    if (carom_context_create(&def, &context) != CAROM_OK) return;
    for (int f = 0; f < FORM_COUNT; ++f)
        measure(bench, context, bench->quick ? 10000 : 100000, (scene_form)f);
    carom_context_destroy(context);
}

const bench_group bench_sweep = {67, "sweep", "many boxes: principal axis, two levels of cells",
                                 run};
