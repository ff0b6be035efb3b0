/* SPDX-License-Identifier: MIT */
/* All pairs of faces of one mesh that meet: raw arrays to pair list, everything built from nothing.
 *
 * Every contender is run once beforehand and its whole answer compared: counts and checksum with
 * the known ones, or where none are known with the first contender's. The timed rounds then compare
 * the count alone. A contender that answers otherwise is measured all the same, and marked. */
#include <stdlib.h>
#include <string.h>

#include "bench/soup.h"
#include "cli/platform.h"

/* FCL's lists hold neighbours, both orders and a hundred bytes a pair. */
#define MOST_TRIANGLES_FOR_FCL 70000
/* Beyond this size only ours. */
#define MOST_TRIANGLES_FOR_PEERS 1500000

typedef struct player {
    const char *name;
    carom_context *context;
    const soup_input *input;
    carom_soup *soup; /* kept for updates */
    carom_pairs pairs;
    peer_self_pairs_fn *peer;
    bool neighbours; /* reports pairs that share a vertex */
    bool wrong;
    uint64_t count;
    const uint32_t *list; /* two numbers a pair */
} player;

/* ---- the contenders -------------------------------------------------------------------------- */

static bool take(player *p) {
    p->count = p->pairs.count;
    p->list = (const uint32_t *)p->pairs.data;
    return true;
}

static bool query_scratch(player *p) {
    carom_soup *soup;
    bool done = carom_soup_create(p->context, &(carom_soup_def){.mesh = &p->input->view}, &soup) ==
                    CAROM_OK &&
                carom_soup_self_pairs(p->context, soup, &p->pairs) == CAROM_OK && take(p);
    carom_soup_destroy(soup);
    return done;
}

static bool query_update(player *p) {
    if (p->soup == NULL && carom_soup_create(p->context, &(carom_soup_def){.mesh = &p->input->view},
                                             &p->soup) != CAROM_OK)
        return false;
    return carom_soup_update(p->context, p->soup, &p->input->view) == CAROM_OK &&
           carom_soup_self_pairs(p->context, p->soup, &p->pairs) == CAROM_OK && take(p);
}

static bool query_peer(player *p) {
    peer_pairs found;
    if (!p->peer(&p->input->raw, &found)) return false;
    p->count = found.count;
    p->list = found.data;
    return true;
}

static bool run_scratch(void *input) {
    player *p = input;
    uint64_t before = p->count;
    return query_scratch(p) && p->count == before && !p->wrong;
}

static bool run_update(void *input) {
    player *p = input;
    uint64_t before = p->count;
    return query_update(p) && p->count == before && !p->wrong;
}

static bool run_peer(void *input) {
    player *p = input;
    uint64_t before = p->count;
    return query_peer(p) && p->count == before && !p->wrong;
}

/* ---- one input ------------------------------------------------------------------------------- */

typedef struct known_answer {
    bool counts, checksum; /* what is known */
    soup_answer answer;
} known_answer;

/* Queries once; on the first contender fills what is not known. False: it cannot take this mesh. */
static bool judge(bench *bench, player *p, bool (*query)(player *), known_answer *known) {
    if (!query(p)) return false;
    soup_answer got = soup_answer_of(&p->input->raw, p->list, p->count);
    soup_answer *want = &known->answer;
    if (!known->counts) want->pairs = got.pairs, want->apart = got.apart;
    if (!known->checksum) want->checksum = got.checksum;
    known->counts = known->checksum = true;
    p->wrong = got.apart != want->apart || got.checksum != want->checksum ||
               got.pairs != (p->neighbours ? want->pairs : want->apart);
    if (p->wrong)
        bench_note(bench, "%s: %llu pairs, %llu apart, checksum %016llx, where %llu, %llu, %016llx",
                   p->name, (unsigned long long)got.pairs, (unsigned long long)got.apart,
                   (unsigned long long)got.checksum, (unsigned long long)want->pairs,
                   (unsigned long long)want->apart, (unsigned long long)want->checksum);
    return true;
}

/* Returns the nanoseconds of processor time a triangle of our first row, from nothing on one
 * thread. */
static double measure(bench *bench, carom_context *serial, carom_context *parallel,
                      const char *name, const soup_input *input, known_answer known) {
    typedef bool query_fn(player *);
    player players[6] = {
        {.name = "carom", .context = serial, .neighbours = true},
        {.name = "carom, update", .context = serial, .neighbours = true},
        {.name = "carom, all threads", .context = parallel, .neighbours = true},
        {.name = "CGAL, exact", .neighbours = true},
        {.name = "Embree", .neighbours = false},
        {.name = "FCL, AABB", .neighbours = false},
    };
    static query_fn *const queries[6] = {query_scratch, query_update, query_scratch,
                                         query_peer,    query_peer,   query_peer};
    static bool (*const runs[6])(void *) = {run_scratch, run_update, run_scratch,
                                            run_peer,    run_peer,   run_peer};
    static const char *const symbols[6] = {
        NULL, NULL, NULL, "peer_cgal_self_pairs", "peer_embree_self_pairs", "peer_fcl_self_pairs"};
    uint64_t triangles = input->raw.triangle_count;
    bench_contender contenders[6];
    uint32_t count = 0, first_row = bench->row_count;
    for (int i = 0; i < 6; ++i) {
        player *p = &players[i];
        p->input = input;
        if (symbols[i] != NULL) {
            p->peer = (peer_self_pairs_fn *)bench_peer(symbols[i]);
            if (p->peer == NULL || triangles > MOST_TRIANGLES_FOR_PEERS) continue;
            if (i == 5 && triangles > MOST_TRIANGLES_FOR_FCL) continue;
        }
        if (judge(bench, p, queries[i], &known))
            contenders[count++] = (bench_contender){p->name, NULL, runs[i], p};
        else
            bench_note(bench, "%s cannot take %s", p->name, name);
    }
    bench_compare(bench, name, (double)triangles, contenders, count);
    bench_note(bench, "%llu triangles, %llu pairs, %llu share no vertex, checksum %016llx",
               (unsigned long long)triangles, (unsigned long long)known.answer.pairs,
               (unsigned long long)known.answer.apart, (unsigned long long)known.answer.checksum);
    for (int i = 0; i < 6; ++i) {
        carom_pairs_free(&players[i].pairs);
        carom_soup_destroy(players[i].soup);
    }
    return 1e9 * bench->rows[first_row].cpu_seconds / (double)triangles;
}

/* ---- memory ---------------------------------------------------------------------------------- */

#define METER_HEAD                                                                                 \
    ((size_t)64) /* bytes before a block, with its size; keeps the library's alignment */

/* Counts what a context of one thread allocates. */
typedef struct meter {
    uint64_t now, most;
} meter;

static void *meter_allocate(void *user, size_t size, size_t alignment) {
    meter *m = user;
    size_t whole = (size + alignment - 1) / alignment * alignment;
    char *memory = carom_os_aligned_allocate(METER_HEAD, whole + METER_HEAD);
    if (memory == NULL || alignment > METER_HEAD) return NULL;
    memcpy(memory, &whole, sizeof(whole));
    m->now += whole;
    m->most = m->now > m->most ? m->now : m->most;
    return memory + METER_HEAD;
}

static void meter_release(void *user, void *memory) {
    meter *m = user;
    char *begin = (char *)memory - METER_HEAD;
    size_t whole;
    memcpy(&whole, begin, sizeof(whole));
    m->now -= whole;
    carom_os_aligned_free(begin);
}

/* Says how much memory a cold context, soup and list take at most, beyond the input. */
static void weigh(bench *bench, const soup_input *input) {
    meter m = {0};
    carom_context_def def = *bench->def;
    def.threads = 1;
    def.allocator = (carom_allocator){meter_allocate, meter_release, &m};
    carom_context *context;
    carom_soup *soup = NULL;
    carom_pairs pairs = {0};
    if (carom_context_create(&def, &context) != CAROM_OK) return;
    if (carom_soup_create(context, &(carom_soup_def){.mesh = &input->view}, &soup) == CAROM_OK &&
        carom_soup_self_pairs(context, soup, &pairs) == CAROM_OK) {
        uint64_t list = pairs.capacity * sizeof(*pairs.data);
        bench_note(bench, "memory: %.1f bytes a triangle at most, and %.1f of pairs",
                   (double)(m.most - list) / (double)input->raw.triangle_count,
                   (double)list / (double)input->raw.triangle_count);
    }
    carom_soup_destroy(soup);
    carom_pairs_free(&pairs);
    carom_context_destroy(context);
}

/* ---- the inputs ------------------------------------------------------------------------------ */

typedef struct known_input {
    const char *name;
    uint64_t detail; /* of the cloth; 0: a model */
    known_answer known;
} known_input;

static const known_input cloths[] = {
    {"cloth 20k", 100, {true, true, {5440, 5190, 0xb95522c4faaea549u}}},
    {"cloth 100k", 224, {true, true, {12598, 12328, 0xf9438ed29f18797du}}},
    {"cloth 250k", 354, {true, true, {19972, 19696, 0x868ea7c9bd16bd3bu}}},
    {"cloth 1M", 707, {true, true, {39816, 39535, 0xc8c8b16fde651b4fu}}},
    {"cloth 4M", 1414, {false, false, {0, 0, 0}}},
};
static const known_input models[] = {
    {"bunny", 0, {true, true, {0, 0, 0}}},
    {"armadillo", 0, {true, true, {0, 0, 0}}},
    {"horse", 0, {true, false, {4, 2, 0}}},
    {"ogre", 0, {true, false, {9142, 9096, 0}}},
};

static void bench_cloths(bench *bench, carom_context *serial, carom_context *parallel) {
    size_t count = bench->quick ? 2 : sizeof(cloths) / sizeof(cloths[0]), done = 0;
    double least = 0.0, most = 0.0, each[8];
    for (size_t i = 0; i < count; ++i) {
        soup_input input;
        carom_shape_def def = {
            .shape = CAROM_SHAPE_CLOTH, .detail = cloths[i].detail, .scalar = CAROM_SCALAR_FLOAT32};
        if (!soup_input_make(serial, &def, &input)) break;
        bench_at_size(bench, "cloth", (double)input.raw.triangle_count);
        double ns = measure(bench, serial, parallel, cloths[i].name, &input, cloths[i].known);
        weigh(bench, &input);
        soup_input_free(&input);
        least = done == 0 || ns < least ? ns : least;
        most = ns > most ? ns : most;
        each[done++] = ns;
    }
    for (size_t i = 0; i < done; ++i)
        bench_note(bench, "growth: %-10s %6.1f ns a triangle, %.2f of the least", cloths[i].name,
                   each[i], each[i] / least);
}

static void bench_models(bench *bench, carom_context *serial, carom_context *parallel) {
    for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); ++i) {
        soup_input input;
        if (soup_input_load(serial, models[i].name, &input))
            measure(bench, serial, parallel, models[i].name, &input, models[i].known);
        else
            bench_note(bench, "no %s: set CAROM_MODELS to the folder of models", models[i].name);
        soup_input_free(&input);
    }
}

/* Hardly a pair meets, but most boxes do: the worst that boxes can be put to. */
static void bench_wedges(bench *bench, carom_context *serial, carom_context *parallel) {
    soup_input input;
    carom_shape_def def = {
        .shape = CAROM_SHAPE_CHAZELLE, .detail = 128, .scalar = CAROM_SCALAR_FLOAT32};
    if (soup_input_make(serial, &def, &input))
        measure(bench, serial, parallel, "chazelle 128", &input, (known_answer){0});
    soup_input_free(&input);
}

/* A sheet in a plane: all its neighbours are within rounding of each other. */
static void bench_sheet(bench *bench, carom_context *serial, carom_context *parallel) {
    soup_input input;
    carom_shape_def def = {
        .shape = CAROM_SHAPE_GRID, .detail = 300, .scalar = CAROM_SCALAR_FLOAT32};
    if (soup_input_make(serial, &def, &input))
        measure(bench, serial, parallel, "flat sheet 180k", &input, (known_answer){0});
    soup_input_free(&input);
}

static void name_peers(bench *bench) {
    static const char *const symbols[] = {"peer_cgal_name", "peer_embree_name", "peer_fcl_name"};
    for (int i = 0; i < 3; ++i) {
        peer_name_fn *name = (peer_name_fn *)bench_peer(symbols[i]);
        if (name != NULL) bench_note(bench, "%s", name());
    }
}

static void run(bench *bench) {
    carom_context_def def = *bench->def;
    def.threads = 1;
    carom_context *serial, *parallel = NULL;
    if (carom_context_create(&def, &serial) == CAROM_OK &&
        carom_context_create(bench->def, &parallel) == CAROM_OK) {
        name_peers(bench);
        bench_cloths(bench, serial, parallel);
        bench_models(bench, serial, parallel);
        bench_wedges(bench, serial, parallel);
        bench_sheet(bench, serial, parallel);
        soup_bench_rigid(bench, serial);
        soup_bench_chazelle(bench, serial);
    }
    carom_context_destroy(serial);
    carom_context_destroy(parallel);
}

const bench_group bench_soup = {40, "soup", "all pairs of faces that meet; rigid meshes; peers",
                                run};
