/* SPDX-License-Identifier: MIT */
/* scale_case.h: properties that must hold at every scale: seeded cases, and the meshes they use.
 *
 * A property is a function that makes one case from its random numbers and calls scale_expect. A
 * case that fails is named `property:number`; CAROM_CASE=property:number runs that one alone.
 * CAROM_LONG=1 and CAROM_PART as in campaign.h. */
#ifndef CAROM_TESTS_SCALE_CASE_H
#define CAROM_TESTS_SCALE_CASE_H

#include "cli/platform.h"
#include "tests/support/exact_geometry.h"
#include "tests/support/test.h"

typedef struct scale_case {
    carom_context *context;
    carom_random random;
    const char *property;
    uint64_t number;
    uint64_t checks; /* made so far, in all cases of the property */
    uint64_t wrong;  /* cases in which something was wrong */
    bool failed;     /* this one */
} scale_case;

typedef void scale_property_fn(scale_case *c);

/* Runs the cases and fails the test when any of them was wrong; the first few are described. In the
 * long form there are `longer` times as many. */
void scale_run(const char *property, scale_property_fn *run, uint64_t cases, uint64_t longer);

/* Is one case replayed? Then its meshes are printed, as OBJ with hexadecimal numbers. */
bool scale_replays(void);
void scale_print_mesh(const char *name, const carom_mesh_view *triangles, const carom_pose *pose);

/* Counts the case as wrong unless `holds`; returns it. */
bool scale_expect(scale_case *c, bool holds, const char *format, ...) PLATFORM_PRINTF(3, 4);

#define scale_ok(c, call) scale_expect_ok(c, call, #call)
bool scale_expect_ok(scale_case *c, carom_status status, const char *call);

/* ---- random choices -------------------------------------------------------------------------- */

uint32_t scale_below(scale_case *c, uint32_t n);     /* 0 .. n - 1 */
int scale_between(scale_case *c, int low, int high); /* both included */
bool scale_one_in(scale_case *c, uint32_t n);
/* An exponent: mostly anywhere in [low, high], often an end of it or near 0. */
int scale_exponent(scale_case *c, int low, int high);

/* ---- soups ----------------------------------------------------------------------------------- */

#define SCALE_FEW_FACES     24
#define SCALE_MOST_FACES    320 /* enough for three levels of the tree */
#define SCALE_MOST_VERTICES (3 * SCALE_MOST_FACES)

typedef struct scale_soup {
    const char *kind;
    uint32_t vertices, faces; /* triangles */
    carom_vec3 position[SCALE_MOST_VERTICES];
    uint32_t corners[3 * SCALE_MOST_FACES];
    int unit;     /* coordinates were multiples of 2^unit, but for those of kind "random" */
    double reach; /* the largest coordinate, but for a common offset, in units */
} scale_soup;

carom_mesh_view scale_view(const scale_soup *soup);
void scale_corners(const scale_soup *soup, uint32_t face, carom_vec3 corner[3]);

/* Faces on a small lattice, thin ones, flat ones, boxes, faces of very different size, any doubles;
 * at unit 1 around the origin. */
void scale_make_soup(scale_case *c, uint32_t most_faces, scale_soup *soup);
/* Adds the same vector to all vertices where that rounds nothing; says whether it did. */
bool scale_offset(scale_soup *soup, carom_vec3 by);
/* Multiplies by 2^k where that rounds nothing and stays below 2^1010; says whether it did. */
bool scale_by_power(scale_soup *soup, int k);
/* An offset to 2^50 of its size and any power of two. */
void scale_move_soup(scale_case *c, scale_soup *soup);

/* x 2^k, y 2^k, z 2^k */
carom_vec3 scale_vec(carom_vec3 v, int k);
bool scale_vec_exact(carom_vec3 v, int k);

#endif
