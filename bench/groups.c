/* SPDX-License-Identifier: MIT */
/* The list of benchmark groups. */
#include "bench/bench.h"

extern const bench_group bench_base, bench_geom, bench_distance, bench_mesh, bench_mesh_report,
    bench_soup, bench_kdet, bench_kfree, bench_solid, bench_gas;

const bench_group *const bench_groups[] = {
    &bench_base, &bench_geom, &bench_distance, &bench_mesh,  &bench_mesh_report,
    &bench_soup, &bench_kdet, &bench_kfree,    &bench_solid, &bench_gas,
    NULL};
