/* SPDX-License-Identifier: MIT */
/* Figures 5 and 6 of kDet (Weller, Debowski, Zachmann 2017): k and the height of many meshes.
 *
 * The paper took 8,000 of a collection that is no longer public. Ours are the meshes that
 * index.csv in the folder of models names, each welded, as one soup of all its parts; without the
 * folder, and in quick runs, shapes of every kind with several details. */
#include "bench/kdet_models.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_MODELS 1024u
#define MOST_FACES  UINT64_C(1000000) /* of a model: k of more takes seconds */

typedef struct model {
    char name[64];
    uint64_t faces, k;
    double height, mean, neighbours; /* the mean count of a face, and the share of neighbours */
} model;

/* All models, by their number of faces; both figures show it, and measure it once. */
typedef struct survey {
    model *models;
    uint32_t count, large; /* of too many faces to be measured */
    bool found;            /* the folder of models is there */
    carom_mesh *largest_k, *largest_height;
    model of_k, of_height; /* these two */
} survey;

static void survey_free(void *data) {
    survey *s = data;
    free(s->models);
    carom_mesh_destroy(s->largest_k);
    carom_mesh_destroy(s->largest_height);
    free(s);
}

/* A copy of a mesh, to be drawn. */
static bool keep(carom_context *context, const carom_mesh_view *view, carom_mesh **kept) {
    carom_mesh_destroy(*kept);
    *kept = NULL;
    return carom_mesh_weld(context, view, kept) == CAROM_OK;
}

static bool measure(carom_context *context, survey *s, const char *name, const carom_mesh *mesh) {
    carom_mesh *welded = NULL;
    carom_mesh_view view;
    carom_soup *soup = NULL;
    carom_kfree k_free;
    if (s->count == MOST_MODELS) return false; /* none is left out in silence */
    bool good = carom_mesh_get_view(mesh, &view) == CAROM_OK &&
                carom_mesh_weld(context, &view, &welded) == CAROM_OK &&
                carom_mesh_get_view(welded, &view) == CAROM_OK &&
                carom_soup_create(context, &(carom_soup_def){.mesh = &view}, &soup) == CAROM_OK &&
                carom_kfree_measure(context, soup, &k_free, NULL) == CAROM_OK;
    if (good && k_free.faces != 0) {
        model *m = &s->models[s->count];
        *m = (model){.faces = k_free.faces,
                     .k = k_free.k,
                     .height = k_free.height,
                     .mean = k_free.mean,
                     .neighbours = k_free.neighbours};
        snprintf(m->name, sizeof(m->name), "%.60s", name);
        if (s->count == 0 || m->k > s->of_k.k) {
            s->of_k = *m;
            good = keep(context, &view, &s->largest_k);
        }
        if (good && (s->count == 0 || m->height > s->of_height.height)) {
            s->of_height = *m;
            good = keep(context, &view, &s->largest_height);
        }
        ++s->count;
    }
    carom_soup_destroy(soup);
    carom_mesh_destroy(welded);
    return good;
}

/* ---- Shapes ---------------------------------------------------------------------------------- */

static bool measure_shapes(papers_lab *lab, survey *s) {
    static const uint64_t details[] = {16, 32, 64, 128};
    for (int shape = 0; shape < CAROM_SHAPE_COUNT; ++shape)
        for (int i = 0; i < (lab->quick ? 1 : 4); ++i) {
            carom_shape_def def = {.shape = (carom_shape)shape, .detail = details[i]};
            carom_mesh *mesh;
            char name[64];
            if (shape == CAROM_SHAPE_SPHERE) def.detail = (uint64_t)i + 2;
            if (shape == CAROM_SHAPE_CHAZELLE) def.detail = details[i] / 4;
            if (shape == CAROM_SHAPE_KNOT) def.detail = 2 * details[i];
            if (carom_shape_make(lab->parallel, &def, &mesh) != CAROM_OK) return false;
            snprintf(name, sizeof(name), "%s %llu", carom_shape_name(def.shape),
                     (unsigned long long)def.detail);
            bool good = measure(lab->parallel, s, name, mesh);
            carom_mesh_destroy(mesh);
            if (!good) return false;
        }
    return true;
}

/* ---- Models ---------------------------------------------------------------------------------- */

static bool begins(const char *text, const char *with) {
    return strncmp(text, with, strlen(with)) == 0;
}

/* A line begins with file,source,licence,vertices,triangles. False: no mesh to be measured here. */
static bool read_line(const char *line, char file[256], uint64_t *triangles) {
    const char *at = line;
    for (int field = 0; field < 4; ++field) {
        at = strchr(at, ',');
        if (at == NULL) return false;
        ++at;
    }
    snprintf(file, 256, "%.*s", (int)strcspn(line, ","), line);
    *triangles = strtoull(at, NULL, 10);
    return *triangles != 0 && !begins(file, "malformed/") && !begins(file, "ccd-queries/") &&
           strstr(file, "stats.tar") == NULL;
}

/* False where a mesh cannot be measured. */
static bool measure_models(papers_lab *lab, survey *s) {
    const char *folder = getenv("CAROM_MODELS");
    char path[1024], line[4096], file[256];
    uint64_t triangles;
    if (folder == NULL) folder = "../shared/models";
    snprintf(path, sizeof(path), "%.700s/index.csv", folder);
    FILE *list = fopen(path, "r");
    s->found = list != NULL;
    bool good = true;
    while (list != NULL && good && fgets(line, sizeof(line), list) != NULL) {
        carom_mesh *mesh = NULL;
        if (!read_line(line, file, &triangles)) continue;
        s->large += triangles > MOST_FACES;
        if (triangles > MOST_FACES) continue;
        snprintf(path, sizeof(path), "%.700s/%.250s", folder, file);
        good = carom_mesh_load(lab->parallel, path, CAROM_MESH_FORMAT_GUESS, &mesh) == CAROM_OK &&
               measure(lab->parallel, s, file, mesh);
        carom_mesh_destroy(mesh);
    }
    if (list != NULL) fclose(list);
    return good;
}

static int by_faces(const void *a, const void *b) {
    const model *x = a, *y = b;
    return (x->faces > y->faces) - (x->faces < y->faces);
}

static bool survey_make(papers_lab *lab, survey *s) {
    s->models = calloc(MOST_MODELS, sizeof(*s->models));
    if (s->models == NULL || (!lab->quick && !measure_models(lab, s))) return false;
    lab->stand_ins |= !s->found;
    if (!s->found && !measure_shapes(lab, s)) return false;
    qsort(s->models, s->count, sizeof(*s->models), by_faces);
    return s->count != 0;
}

/* That of this run; NULL: it failed. */
static const survey *survey_get(papers_plot *plot) {
    static const char name[] = "kdet2017 models";
    papers_lab *lab = plot->lab;
    survey *s = papers_get_kept(lab, name);
    if (s == NULL) {
        s = calloc(1, sizeof(*s));
        if (s == NULL) return NULL;
        if (!survey_make(lab, s) || !papers_keep(lab, name, s, survey_free)) {
            survey_free(s);
            return NULL;
        }
    }
    papers_note(plot, "%u %s; %u of more than a million faces left out", s->count,
                s->found     ? "models of the folder"
                : lab->quick ? "shapes, for a quick run"
                             : "shapes, as there is no folder of models",
                s->large);
    return s;
}

/* ---- Figures --------------------------------------------------------------------------------- */

/* "cloth/x.obj: k 123, height 4.5" */
static void describe(char *text, size_t size, const model *m) {
    snprintf(text, size, "%.40s: k %llu, height %.1f", m->name, (unsigned long long)m->k,
             m->height);
}

/* A copy of a mesh as a picture, and its numbers as a note. */
static bool add_worst(papers_plot *plot, const char *what, const carom_mesh *mesh, const model *m) {
    char caption[80];
    carom_mesh_view view;
    carom_mesh *copy = NULL;
    describe(caption, sizeof(caption), m);
    if (carom_mesh_get_view(mesh, &view) != CAROM_OK || !keep(plot->lab->parallel, &view, &copy))
        return false;
    papers_add_mesh(plot, caption, copy);
    papers_note(plot, "%s: %s", what, caption);
    return true;
}

bool kdet_models_worst(papers_plot *plot) {
    const survey *s = survey_get(plot);
    if (s == NULL || !add_worst(plot, "the largest k", s->largest_k, &s->of_k) ||
        !add_worst(plot, "the largest height", s->largest_height, &s->of_height))
        return false;
    for (uint32_t i = 0; i < s->count; ++i) {
        const model *m = &s->models[i];
        const papers_source source = {"k-free predicate", PAPERS_ALL_THREADS, m->faces};
        papers_add(plot, &source, "models",
                   (const double[]){(double)m->faces, (double)m->k, m->height, m->mean,
                                    m->mean * m->neighbours});
    }
    return true;
}

static int by_k(const void *a, const void *b) {
    const model *x = a, *y = b;
    return (x->k > y->k) - (x->k < y->k);
}

/* Between two neighbours by proportion; models are sorted by k. */
static double quantile(const model *sorted, uint32_t count, double share) {
    double at = share * (count - 1);
    uint32_t low = (uint32_t)at, high = low + 1 < count ? low + 1 : low;
    double a = (double)sorted[low].k, b = (double)sorted[high].k;
    return a + (at - low) * (b - a);
}

#define WHISKER 1.5 /* interquartile ranges beyond the box that a whisker reaches, as Tukey's */

static bool add_box(papers_plot *plot, const char *series, double from, const model *some,
                    uint32_t count) {
    double sum = 0.0, squares = 0.0, height = 0.0, heights = 0.0, low, high;
    uint64_t faces = 0;
    if (count == 0) return true;
    model *models = malloc(count * sizeof(*models)); /* by k */
    if (models == NULL) return false;
    memcpy(models, some, count * sizeof(*models));
    qsort(models, count, sizeof(*models), by_k);
    double quartile_1 = quantile(models, count, 0.25), quartile_3 = quantile(models, count, 0.75);
    double reach = WHISKER * (quartile_3 - quartile_1);
    low = high = quantile(models, count, 0.5);
    for (uint32_t i = 0; i < count; ++i) {
        double k = (double)models[i].k;
        if (k >= quartile_1 - reach) low = fmin(low, k);
        if (k <= quartile_3 + reach) high = fmax(high, k);
        sum += k;
        squares += k * k;
        height += models[i].height;
        heights += models[i].height * models[i].height;
        faces += models[i].faces;
    }
    double mean = sum / count, mean_height = height / count;
    const papers_source source = {"k-free predicate", PAPERS_ALL_THREADS, faces};
    papers_add(plot, &source, series,
               (const double[]){from, low, quartile_1, quantile(models, count, 0.5), quartile_3,
                                high, (double)models[count - 1].k, mean,
                                sqrt(fmax(squares / count - mean * mean, 0.0)), mean_height,
                                sqrt(fmax(heights / count - mean_height * mean_height, 0.0)),
                                (double)count});
    free(models);
    return true;
}

bool kdet_models_boxes(papers_plot *plot) {
    const survey *s = survey_get(plot);
    uint32_t first = 0;
    for (double from = 1.0; s != NULL && first < s->count; from *= 10.0) {
        uint32_t end = first;
        while (end < s->count && (double)s->models[end].faces < 10.0 * from) ++end;
        if (!add_box(plot, "models", from, s->models + first, end - first)) return false;
        first = end;
    }
    return s != NULL && add_box(plot, "all", 1.0, s->models, s->count);
}
