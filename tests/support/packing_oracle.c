/* SPDX-License-Identifier: MIT */
#include "tests/support/packing_oracle.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/test.h"

static carom_spheres_posed posed(const carom_spheres_transform *transform, const carom_packing *p,
                                 uint64_t i) {
    const carom_packing_sphere *s = &p->spheres[i];
    return carom_spheres_pose_sphere(transform, s->centre, s->radius, s->secondary, s->cover);
}

void packing_oracle_overlap(carom_context *context, const carom_packing *a,
                            const carom_pose *pose_a, double scale_a, const carom_packing *b,
                            const carom_pose *pose_b, double scale_b,
                            carom_packing_overlap *overlap) {
    carom_spheres_extent extent_a, extent_b;
    carom_spheres_totals totals;
    carom_spheres_flagged flagged[2] = {{0, 0}, {0, 0}};
    uint64_t count_b = b->info.spheres;
    bool *flag_b = calloc(count_b + 1, sizeof(*flag_b));
    carom_spheres_posed *posed_b = malloc((count_b + 1) * sizeof(*posed_b));
    assert_true(flag_b != NULL && posed_b != NULL);
    memset(&totals, 0, sizeof(totals));
    memset(overlap, 0, sizeof(*overlap));
    assert_ok(context, carom_spheres_extent_make(context, a, "a", &extent_a));
    assert_ok(context, carom_spheres_extent_make(context, b, "b", &extent_b));
    carom_spheres_posed_pair m =
        carom_spheres_posed_pair_make(&extent_a, pose_a, scale_a, &extent_b, pose_b, scale_b);
    for (uint64_t j = 0; j < count_b; ++j) posed_b[j] = posed(&m.transform[1], b, j);
    for (uint64_t i = 0; i < a->info.spheres; ++i) {
        carom_spheres_posed s = posed(&m.transform[0], a, i);
        bool flag_a = false;
        for (uint64_t j = 0; j < count_b; ++j) {
            carom_spheres_totals_add(&totals, &m, &s, &posed_b[j]);
            if (!carom_spheres_covers_meet(&s, &posed_b[j])) continue;
            flag_a = true;
            flag_b[j] = true;
        }
        flagged[0].count += flag_a;
        if (flag_a)
            flagged[0].voids += carom_spheres_void_units(&extent_a, a->spheres[i].void_volume);
    }
    for (uint64_t j = 0; j < count_b; ++j) {
        flagged[1].count += flag_b[j];
        if (flag_b[j])
            flagged[1].voids += carom_spheres_void_units(&extent_b, b->spheres[j].void_volume);
    }
    carom_spheres_overlap_finish(&totals, &m, &extent_a, &extent_b, flagged, overlap);
    free(flag_b);
    free(posed_b);
}

carom_packing *packing_of_spheres(carom_context *context, const carom_packing_sphere *spheres,
                                  uint64_t count, double volume) {
    carom_packing *packing = NULL;
    size_t room = 1000 + 300 * count, used;
    char *text = malloc(room);
    assert_non_null(text);
    used = (size_t)snprintf(text, room,
                            "ply\nformat ascii 1.0\ncomment volume %.17g\ncomment shares\n"
                            "element vertex %llu\nproperty double x\nproperty double y\n"
                            "property double z\nproperty double radius\n"
                            "property double secondary\nproperty double cover\n"
                            "property double void\nproperty uint face\nend_header\n",
                            volume, (unsigned long long)count);
    for (uint64_t i = 0; i < count; ++i) {
        const carom_packing_sphere *s = &spheres[i];
        used += (size_t)snprintf(
            text + used, room - used, "%.17g %.17g %.17g %.17g %.17g %.17g %.17g %u\n", s->centre.x,
            s->centre.y, s->centre.z, s->radius, s->secondary, s->cover, s->void_volume, s->face);
    }
    assert_true(used < room);
    assert_ok(context, carom_packing_load_memory(context, text, used, CAROM_PACKING_FORMAT_GUESS,
                                                 "spheres", &packing));
    free(text);
    return packing;
}

carom_packing *packing_random(carom_context *context, carom_random *random, uint32_t most,
                              double size) {
    uint32_t count = 1 + (uint32_t)(carom_random_next(random) % most);
    bool lattice = carom_random_next(random) % 3 == 0, odd = carom_random_next(random) % 4 == 0;
    carom_packing_sphere *spheres = calloc(count, sizeof(*spheres));
    assert_non_null(spheres);
    for (uint32_t i = 0; i < count; ++i) {
        carom_packing_sphere *s = &spheres[i];
        double *centre[3] = {&s->centre.x, &s->centre.y, &s->centre.z};
        for (int k = 0; k < 3; ++k)
            *centre[k] = lattice ? size * ((double)(carom_random_next(random) % 9) / 4.0 - 1.0)
                                 : carom_random_between(random, -size, size);
        s->radius = lattice ? size * (double)(1 + carom_random_next(random) % 4) / 8.0
                            : size * carom_random_between(random, 0.001, 0.3);
        if (i > 0 && carom_random_next(random) % 16 == 0) s->centre = s[-1].centre;
        s->cover = s->radius * carom_random_between(random, odd ? 1.0 : 1.2, 1.6);
        s->secondary = s->radius * carom_random_between(random, 0.95, 1.2);
        s->void_volume = s->radius * s->radius * s->radius * carom_random_between(random, 0.0, 2.0);
        s->face = i;
    }
    carom_packing *packing = packing_of_spheres(context, spheres, count, 8.0 * size * size * size);
    free(spheres);
    return packing;
}

carom_pose packing_random_pose(carom_random *random, double far) {
    return (carom_pose){
        {carom_random_between(random, -1.0, 1.0), carom_random_between(random, -1.0, 1.0),
         carom_random_between(random, -1.0, 1.0), carom_random_between(random, -1.0, 1.0)},
        {carom_random_between(random, -far, far), carom_random_between(random, -far, far),
         carom_random_between(random, -far, far)}};
}
