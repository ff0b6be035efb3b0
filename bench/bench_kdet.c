/* SPDX-License-Identifier: MIT */
/* The grid of kDet beside the tree (Weller, Debowski, Zachmann 2017, figures 8 and 9).
 *
 * Figure 8: what the hash costs, DJB2 and Morton as in the paper, blocks and perfect besides: all
 * pairs of a prepared soup, and a frame, which is new positions, structure and pairs. Figure 9: the
 * time of a frame against the number of polygons. One thread; every list is compared with the
 * tree's. */
#include <stdio.h>

#include "bench/soup.h"

typedef struct player {
    const char *name;
    carom_context *context;
    const soup_input *input;
    carom_soup *soup;
    carom_pairs pairs;
    soup_answer right;
} player;

/* What plays: the tree, then the grid by hash. */
enum { TREE, BLOCK, DJB2, MORTON, PERFECT, PLAYERS };

static const char *const names[PLAYERS] = {"tree", "grid, blocks", "grid, DJB2", "grid, Morton",
                                           "grid, perfect"};

static bool is_right(const player *p) {
    soup_answer got =
        soup_answer_of(&p->input->raw, (const uint32_t *)p->pairs.data, p->pairs.count);
    return got.pairs == p->right.pairs && got.checksum == p->right.checksum;
}

static bool run_query(void *input) {
    player *p = input;
    return carom_soup_self_pairs(p->context, p->soup, &p->pairs) == CAROM_OK &&
           p->pairs.count == p->right.pairs;
}

static bool run_frame(void *input) {
    player *p = input;
    return carom_soup_update(p->context, p->soup, &p->input->view) == CAROM_OK && run_query(p);
}

static bool run_update(void *input) {
    player *p = input;
    return carom_soup_update(p->context, p->soup, &p->input->view) == CAROM_OK;
}

static void say_work(bench *bench, player *p) {
    carom_work work;
    carom_soup_info info;
    uint64_t bound = 0;
    double n = (double)p->input->raw.triangle_count;
    if (carom_soup_self_pairs(p->context, p->soup, &p->pairs) != CAROM_OK ||
        carom_context_get_work(p->context, &work) != CAROM_OK ||
        carom_soup_get_info(p->soup, &info) != CAROM_OK ||
        carom_soup_self_bound(p->context, p->soup, &bound) != CAROM_OK)
        return;
    bench_note(bench, "%-13s %6.2f visits, %5.2f candidates a triangle, bound %.1f, %.0f bytes",
               p->name, (double)work.visits / n, (double)work.candidates / n, (double)bound / n,
               (double)info.bytes / n);
}

/* Seconds of processor time for a frame, tree and grid. */
typedef struct growth {
    double tree, grid;
} growth;

static void make_player(player *p, int which, carom_context *context, const soup_input *input,
                        soup_answer right) {
    carom_soup_def def = {.mesh = &input->view,
                          .method = which == TREE ? CAROM_SOUP_METHOD_TREE : CAROM_SOUP_METHOD_GRID,
                          .grid = {.hash = (carom_grid_hash)(which == TREE ? 0 : which - BLOCK)}};
    *p = (player){.name = names[which], .context = context, .input = input, .right = right};
    if (carom_soup_create(context, &def, &p->soup) != CAROM_OK) p->soup = NULL;
}

static growth measure(bench *bench, carom_context *context, const char *name,
                      const soup_input *input, bool grows) {
    player players[PLAYERS];
    bench_contender query[PLAYERS], update[PLAYERS], frame[PLAYERS];
    double triangles = (double)input->raw.triangle_count;
    soup_answer right = {0};
    char job[64];
    for (int i = 0; i < PLAYERS; ++i) {
        player *p = &players[i];
        make_player(p, i, context, input, right);
        if (p->soup == NULL || carom_soup_self_pairs(context, p->soup, &p->pairs) != CAROM_OK)
            continue;
        if (i == TREE)
            right = p->right =
                soup_answer_of(&input->raw, (const uint32_t *)p->pairs.data, p->pairs.count);
        if (!is_right(p)) bench_note(bench, "%s: wrong pairs by %s", name, p->name);
        query[i] = (bench_contender){p->name, NULL, run_query, p};
        update[i] = (bench_contender){p->name, NULL, run_update, p};
        frame[i] = (bench_contender){p->name, NULL, run_frame, p};
    }
    snprintf(job, sizeof(job), "%s, pairs", name);
    if (grows) bench_at_size(bench, "cloth, pairs", triangles);
    bench_compare(bench, job, triangles, query, PLAYERS);
    snprintf(job, sizeof(job), "%s, structure", name);
    if (grows) bench_at_size(bench, "cloth, structure", triangles);
    bench_compare(bench, job, triangles, update, PERFECT);
    uint32_t row = bench->row_count;
    snprintf(job, sizeof(job), "%s, frame", name);
    if (grows) bench_at_size(bench, "cloth, frame", triangles);
    bench_compare(bench, job, triangles, frame, PERFECT);
    growth g = {bench->rows[row + TREE].cpu_seconds, bench->rows[row + BLOCK].cpu_seconds};
    say_work(bench, &players[TREE]);
    say_work(bench, &players[BLOCK]);
    for (int i = 0; i < PLAYERS; ++i) {
        carom_pairs_free(&players[i].pairs);
        carom_soup_destroy(players[i].soup);
    }
    return g;
}

static const struct {
    const char *name;
    uint64_t detail;
} cloths[] = {{"cloth 20k", 100},  {"cloth 40k", 142},  {"cloth 90k", 212},
              {"cloth 200k", 316}, {"cloth 250k", 354}, {"cloth 1M", 707}};

/* Figure 9, with the sizes of the paper's cloth on Buddha and one larger. */
static void bench_growth(bench *bench, carom_context *context) {
    enum { MOST = sizeof(cloths) / sizeof(cloths[0]) };
    growth each[MOST];
    double triangles[MOST];
    int count = bench->quick ? 2 : MOST, done = 0;
    for (; done < count; ++done) {
        soup_input input;
        carom_shape_def def = {.shape = CAROM_SHAPE_CLOTH,
                               .detail = cloths[done].detail,
                               .scalar = CAROM_SCALAR_FLOAT32};
        if (!soup_input_make(context, &def, &input)) break;
        triangles[done] = (double)input.raw.triangle_count;
        each[done] = measure(bench, context, cloths[done].name, &input, true);
        soup_input_free(&input);
    }
    for (int i = 0; i < done; ++i)
        bench_note(bench, "figure 9: %-10s tree %7.1f ns a triangle, grid %7.1f, %.2f times",
                   cloths[i].name, 1e9 * each[i].tree / triangles[i],
                   1e9 * each[i].grid / triangles[i], each[i].grid / each[i].tree);
}

static void bench_models(bench *bench, carom_context *context) {
    static const char *const models[] = {"bunny", "armadillo", "ogre"};
    for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); ++i) {
        soup_input input;
        if (soup_input_load(context, models[i], &input))
            (void)measure(bench, context, models[i], &input, false);
        else
            bench_note(bench, "no %s: set CAROM_MODELS to the folder of models", models[i]);
        soup_input_free(&input);
    }
}

static void run(bench *bench) {
    carom_context_def def = *bench->def;
    carom_context *context;
    def.threads = 1;
    if (carom_context_create(&def, &context) != CAROM_OK) return;
    bench_growth(bench, context);
    bench_models(bench, context);
    carom_context_destroy(context);
}

const bench_group bench_kdet = {42, "kdet", "the grid by hash beside the tree, and how both grow",
                                run};
