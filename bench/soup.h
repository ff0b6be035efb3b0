/* SPDX-License-Identifier: MIT */
/* soup.h: what the benchmarks of soups run on, and how answers are compared.
 *
 * Models are looked for in $CAROM_MODELS/bench, or ../shared/models/bench: bunny.ply and so on.
 * Without them only the shapes made by formula are measured. */
#ifndef CAROM_BENCH_SOUP_H
#define CAROM_BENCH_SOUP_H

#include "bench/bench.h"
#include "bench/peers/peers.h"

/* A mesh of packed float32 triangles, as view for us and as raw arrays for peers. */
typedef struct soup_input {
    carom_mesh *mesh;
    carom_mesh_view view;
    peer_mesh raw;
    carom_vec3 centre; /* of the bounds */
    double size;       /* their longest side */
} soup_input;

/* False when it is not there or cannot be used; then the input is all zero. */
bool soup_input_make(carom_context *context, const carom_shape_def *def, soup_input *input);
bool soup_input_load(carom_context *context, const char *name, soup_input *input);
void soup_input_free(soup_input *input);

/* Makes the path of a file in the models' folder. */
void soup_input_path(const char *file, char *path, size_t size);

/* What a list of pairs amounts to. `apart` and the checksum leave out pairs that share a vertex:
 * some peers do. The checksum is the sum of the splitmix64 finaliser of each pair a < b. */
typedef struct soup_answer {
    uint64_t pairs, apart, checksum;
} soup_answer;

/* `pairs` holds two face numbers a pair. */
soup_answer soup_answer_of(const peer_mesh *mesh, const uint32_t *pairs, uint64_t count);

/* ---- poses ----------------------------------------------------------------------------------- */

#define SOUP_POSES 200

/* The second of two equal meshes comes in from all sides: the depth by which their extents overlap
 * grows from the first pose to the last. */
typedef struct soup_poses {
    carom_pose poses[SOUP_POSES];
    double matrices[SOUP_POSES][12]; /* the same, 3 x 4, row by row */
} soup_poses;

/* `gap` of the first and the last pose, as a share of the mesh's extent; negative overlaps. */
void soup_poses_make(const soup_input *input, double first_gap, double last_gap, soup_poses *poses);

/* The largest difference of any number from those in a file of 3 x 4 matrices, or -1 when there is
 * no such file. */
double soup_poses_compare(const soup_poses *poses, const char *file);

/* ---- parts of the benchmark ------------------------------------------------------------------ */

/* Two rigid meshes: in contact or not, all pairs, distance, preparation. */
void soup_bench_rigid(bench *bench, carom_context *context);

/* Chazelle's polyhedron and a turned copy: nearly all faces cross. */
void soup_bench_chazelle(bench *bench, carom_context *context);

#endif
