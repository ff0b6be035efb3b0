/* SPDX-License-Identifier: MIT */
/* Packings of real models hold what they claim. A few models and spheres; with CAROM_LONG=1, 1,000
 * spheres in every closed model of the shared folder, which may be divided (campaign.h) and prints
 * a line for each; there random climbs look for empty balls, too. CAROM_COUNT=20000 makes
 * another number of spheres. Skipped without the folder. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/campaign.h"
#include "tests/support/models.h"
#include "tests/support/packing.h"

static carom_context *context;

/* Spheres and triangles that a search for empty balls looks at, in all: some seconds. */
#define SEARCH_WORK 1e6

static double search_empty(const pack_claim *claim) {
    double tries = SEARCH_WORK / (double)(claim->sphere_count + claim->triangle_count);
    return pack_search_empty(claim, claim->triangle_count, tries < 4.0 ? 4 : (int)tries);
}

static void check_model(const char *file, uint64_t count) {
    char path[1024];
    carom_mesh *mesh;
    pack_claim claim;
    pack_proof proof;
    double volume;
    models_path(file, path, sizeof(path));
    carom_mesh_view view = {0};
    carom_packing_def def = {.mesh = &view, .count = count, .keep_cells = true};
    assert_ok(context, carom_mesh_load(context, path, CAROM_MESH_FORMAT_GUESS, &mesh));
    assert_ok(context, carom_mesh_get_view(mesh, &view));
    double start = carom_time_seconds();
    packing_lists lists = packing_make(context, &def);
    double seconds = carom_time_seconds() - start;
    const carom_packing_info info = lists.info;
    carom_triangle *triangles = packing_prove(context, &def, &lists, file, &claim, &proof, &volume);
    double found = campaign_is_long() ? search_empty(&claim) : 0.0;
    if (lists.spheres.count != 0) {
        if (fabs(proof.secondary_volume - info.volume) > 1e-6 * info.volume)
            fail_msg("%s: the shares add up to %.9g, not %.9g", file, proof.secondary_volume,
                     info.volume);
        if (info.empty_radius > 1.05 * info.least_radius)
            fail_msg("%s: an empty ball of radius %g beside one of %g", file, info.empty_radius,
                     info.least_radius);
        if (found > info.empty_radius)
            fail_msg("%s: an empty ball of radius %g, not %g", file, found, info.empty_radius);
        assert_true(proof.void_volume >= (info.volume - proof.ball_volume) * (1.0 - 1e-6));
    }
    if (campaign_is_long())
        printf(
            "%s: %llu spheres, fill %.4f, cover %.3f, void %.3f, largest empty ball found %.3f of "
            "what is certified, %s, %.2f s, %llu exact\n",
            file, (unsigned long long)lists.spheres.count, info.fill, proof.mean_cover,
            proof.void_volume / (info.volume - proof.ball_volume), found / info.empty_radius,
            proof.recomputed ? "shares recomputed" : "only their sum", seconds,
            (unsigned long long)proof.exact);
    free(triangles);
    packing_lists_free(&lists);
    carom_mesh_destroy(mesh);
}

/* Cuts a line at commas that are not in quotes. */
static int cut_line(char *line, char *cells[], int most) {
    int count = 0;
    bool quoted = false;
    cells[count++] = line;
    for (char *at = line; *at != '\0' && count < most; ++at) {
        if (*at == '"') quoted = !quoted;
        if (*at != ',' || quoted) continue;
        *at = '\0';
        cells[count++] = at + 1;
    }
    return count;
}

static void models_are_packed_with_proof(void **state) {
    (void)state;
    if (test_shared_folder() == NULL) skip();
    static char line[8192];
    char *cells[32];
    const char *wanted = getenv("CAROM_COUNT");
    uint64_t count = campaign_is_long() ? 1000 : 60, number = 0;
    if (wanted != NULL) count = strtoull(wanted, NULL, 10);
    FILE *index = models_open_text("index.csv");
    while (fgets(line, sizeof(line), index) != NULL) {
        if (cut_line(line, cells, 8) < 6 || strcmp(cells[5], "yes") != 0) continue;
        const char *file = strncmp(cells[0], "stats.tar.gz:", 13) == 0 ? cells[0] + 13 : cells[0];
        ++number;
        if (campaign_is_long() ? campaign_has(number) : number % 170 == 5) check_model(file, count);
    }
    fclose(index);
    assert_true(number > 670);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(models_are_packed_with_proof)};
    context = test_context(campaign_is_long() ? 1 : 2);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    carom_context_destroy(context);
    return failed;
}
