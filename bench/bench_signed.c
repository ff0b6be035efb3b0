/* SPDX-License-Identifier: MIT */
/* Distances of many points from a closed mesh, without and with sign, beside CGAL's tree. Points
 * are random in the box of the mesh. Signed distances are queried once more in small batches,
 * which shows what the preparation in each call costs. */
#include <math.h>
#include <stdlib.h>

#include "bench/soup.h"

#define MANY        1000000u
#define SMALL_BATCH 1000u

typedef struct player {
    carom_context *context;
    carom_soup *soup;
    void *prepared; /* a peer's */
    peer_points_fn *peer;
    const carom_vec3 *points;
    carom_hit *hits;
    double *distances;
    const double *right; /* NULL: these are */
    uint64_t count;
    double tolerance;
} player;

static bool is_right(const player *p) {
    for (uint64_t i = 0; i < p->count && p->right != NULL; ++i)
        if (!(fabs(p->distances[i] - p->right[i]) <= p->tolerance)) return false;
    return true;
}

static bool run_closest(void *input) {
    player *p = input;
    if (carom_soup_closest_points(p->context, p->soup, p->points, p->count, p->hits) != CAROM_OK)
        return false;
    for (uint64_t i = 0; i < p->count; ++i) p->distances[i] = p->hits[i].distance;
    return true;
}

static bool run_signed(void *input) {
    player *p = input;
    return carom_soup_signed_distances(p->context, p->soup, p->points, p->count, p->distances,
                                       NULL) == CAROM_OK;
}

static bool run_batches(void *input) {
    player *p = input;
    for (uint64_t at = 0; at < p->count; at += SMALL_BATCH)
        if (carom_soup_signed_distances(p->context, p->soup, p->points + at, SMALL_BATCH,
                                        p->distances + at, NULL) != CAROM_OK)
            return false;
    return is_right(p);
}

static bool run_peer(void *input) {
    player *p = input;
    p->peer(p->prepared, &p->points->x, p->count, p->distances);
    return is_right(p);
}

static void note(bench *bench, uint32_t row, uint64_t count) {
    for (uint32_t i = row; i < bench->row_count; ++i)
        bench_note(bench, "%s: %.2f microseconds per point", bench->rows[i].contender,
                   1e6 * bench->rows[i].cpu_seconds / (double)count);
}

static void measure(bench *bench, const char *job, player *ours, bool (*run)(void *), player *peer,
                    const char *symbol) {
    bench_contender contenders[2] = {{"carom, one thread", NULL, run, ours}};
    peer->peer = (peer_points_fn *)bench_peer(symbol);
    uint32_t count = 1, row = bench->row_count;
    if (peer->prepared != NULL && peer->peer != NULL)
        contenders[count++] = (bench_contender){"CGAL, AABB tree", NULL, run_peer, peer};
    bench_compare(bench, job, (double)ours->count, contenders, count);
    note(bench, row, ours->count);
}

static void bench_model(bench *bench, carom_context *context, const char *model, player ours,
                        carom_vec3 *points, double *theirs, bool with_peer) {
    soup_input input;
    carom_random random = {5};
    peer_prepare_fn *prepare = (peer_prepare_fn *)bench_peer("peer_cgal_points_prepare");
    peer_release_fn *release = (peer_release_fn *)bench_peer("peer_cgal_points_release");
    if (!soup_input_load(context, model, &input)) return;
    carom_mesh_report report;
    if (carom_mesh_inspect(context, &input.view, &report) == CAROM_OK &&
        carom_soup_create(context, &(carom_soup_def){.mesh = &input.view}, &ours.soup) ==
            CAROM_OK) {
        const carom_bounds *b = &report.bounds;
        for (uint64_t i = 0; i < ours.count; ++i)
            points[i] = (carom_vec3){carom_random_between(&random, b->low.x, b->high.x),
                                     carom_random_between(&random, b->low.y, b->high.y),
                                     carom_random_between(&random, b->low.z, b->high.z)};
        player peer = ours, small = ours;
        peer.distances = theirs;
        small.distances = theirs;
        peer.right = small.right = ours.distances;
        peer.tolerance = 1e-9 * input.size;
        if (with_peer && prepare != NULL) peer.prepared = prepare(&input.raw);
        measure(bench, "closest points", &ours, run_closest, &peer, "peer_cgal_closest_points");
        measure(bench, "signed distances", &ours, run_signed, &peer, "peer_cgal_signed_distances");
        if (peer.prepared != NULL) release(peer.prepared);
        bench_contender batches = {"carom, by thousands", NULL, run_batches, &small};
        uint32_t row = bench->row_count;
        bench_compare(bench, "signed distances", (double)ours.count, &batches, 1);
        note(bench, row, ours.count);
        bench_note(bench, "%s: %llu triangles, %llu random points in its box", model,
                   (unsigned long long)input.raw.triangle_count, (unsigned long long)ours.count);
    }
    carom_soup_destroy(ours.soup);
    soup_input_free(&input);
}

static void run(bench *bench) {
    carom_context_def def = *bench->def;
    def.threads = 1;
    carom_vec3 *points = malloc(MANY * sizeof(*points));
    double *theirs = malloc(MANY * sizeof(*theirs));
    player ours = {.points = points,
                   .hits = malloc(MANY * sizeof(carom_hit)),
                   .distances = malloc(MANY * sizeof(double))};
    if (points != NULL && theirs != NULL && ours.hits != NULL && ours.distances != NULL &&
        carom_context_create(&def, &ours.context) == CAROM_OK) {
        ours.count = bench->quick ? MANY / 50 : MANY;
        bench_model(bench, ours.context, "solid_bunny70k", ours, points, theirs, true);
        ours.count = MANY / 10;
        if (bench->quick) ours.count /= 5;
        bench_model(bench, ours.context, "solid_armadillo100k", ours, points, theirs, false);
        carom_context_destroy(ours.context);
    }
    free(points);
    free(theirs);
    free(ours.hits);
    free(ours.distances);
}

const bench_group bench_signed = {47, "signed", "signed distances of points from a closed mesh",
                                  run};
