/* SPDX-License-Identifier: MIT */
#include "tests/support/packing.h"

#include "pack/pack.h"

packing_lists packing_make(carom_context *context, const carom_packing_def *def) {
    packing_lists lists = {0};
    carom_packing *packing;
    carom_work work;
    assert_ok(context, carom_packing_create(context, def, &packing));
    assert_ok(context, carom_context_get_work(context, &work));
    lists.visits = work.visits;
    assert_ok(context, carom_packing_get_info(packing, &lists.info));
    assert_ok(context, carom_packing_list_spheres(context, packing, &lists.spheres));
    assert_ok(context, carom_packing_list_cells(context, packing, &lists.cells));
    assert_int_equal(lists.spheres.count, lists.info.spheres);
    assert_valid(carom_packing_validate(packing));
    carom_packing_destroy(packing);
    return lists;
}

void packing_lists_free(packing_lists *lists) {
    carom_packing_spheres_free(&lists->spheres);
    carom_packing_cells_free(&lists->cells);
}

carom_triangle *packing_prove(carom_context *context, const carom_packing_def *def,
                              const packing_lists *lists, const char *what, pack_claim *claim,
                              pack_proof *proof, double *volume) {
    *claim = (pack_claim){.spheres = lists->spheres.data,
                          .sphere_count = lists->spheres.count,
                          .cells = def->keep_cells ? lists->cells.data : NULL,
                          .cell_count = lists->cells.count,
                          .shares = !def->skip_shares};
    carom_triangle *triangles = pack_triangles(context, def->mesh, &claim->triangle_count, volume);
    claim->triangles = triangles;
    claim->crosses = pack_crosses(context, def->mesh);
    if (!pack_check(claim, proof)) fail_msg("%s: %s", what, proof->message);
    return triangles;
}
