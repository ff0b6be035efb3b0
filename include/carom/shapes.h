/* SPDX-License-Identifier: MIT */
/* shapes.h: meshes made by formula, for tests, benchmarks, demonstrations and first steps.
 *
 * The same def gives the same mesh for any number of threads. Closed shapes are closed without
 * welding, face outward and are centred on the origin. */
#ifndef CAROM_SHAPES_H
#define CAROM_SHAPES_H

#include "carom/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Which mesh is made; in brackets the defaults of carom_shape_def. */
typedef enum carom_shape {
    /* A subdivided icosahedron: 20 4^(detail-1) triangles (detail 4), radius `size`. */
    CAROM_SHAPE_SPHERE = 0,
    /* A sphere of `detail` meridians and half as many bands (32), poles on z. */
    CAROM_SHAPE_GLOBE,
    /* `detail` steps around z and half as many around the tube (48), radius of the ring `size`,
     * `ratio` of the tube to it (0.4; below 1). */
    CAROM_SHAPE_TORUS,
    /* A cube of edge 2 `size`, `detail` cells along each edge (1). */
    CAROM_SHAPE_BOX,
    /* `detail` steps around z (32), radius `size`, height 2 `size` `ratio` (1). */
    CAROM_SHAPE_CYLINDER,
    /* The same with its tip up. */
    CAROM_SHAPE_CONE,
    /* A tube around the torus knot that winds `p` times around z (2) and `q` times around the ring
     * (3), `detail` steps along (256) and an eighth of them, at least 6, at most 24, around; the
     * ring's radius is `size`, `ratio` the tube's to it (0.12). p and q have no common factor, and
     * detail is at least 8 times the larger. */
    CAROM_SHAPE_KNOT,
    /* Chazelle's polyhedron (Convex partitions of polyhedra, 1984): a block with `detail` (8)
     * wedges cut into it from below and as many from above, whose edges lie on one hyperbolic
     * paraboloid, a tiny distance apart. The worst case of non-convexity; detail^2 near misses. */
    CAROM_SHAPE_CHAZELLE,
    /* A crumpled sheet: `detail` x `detail` cells (100), two triangles each, the sum of 24 seeded
     * waves, advanced by `phase`, positions rounded to float32; seed 0 stands for 12345. Crosses
     * itself. Open. */
    CAROM_SHAPE_CLOTH,
    /* `parts` tori (8), linked along x, each as CAROM_SHAPE_TORUS with `detail` steps (32) and
     * `ratio` (0.2, at most 0.25). */
    CAROM_SHAPE_CHAIN,
    /* A cube of edge 2 `size` broken into `parts` (32) convex shards: the cells of seeded points,
     * each shrunk by `ratio` (0.02; below 1) towards its point. */
    CAROM_SHAPE_SHARDS,
    /* A flat sheet of edge 2 `size` in the plane z = 0, `detail` x `detail` cells (10). Open. */
    CAROM_SHAPE_GRID,
    CAROM_SHAPE_COUNT
} carom_shape;

/* All zero: a unit sphere of 1,280 triangles. Fields that a shape does not mention are ignored,
 * except that every shape rejects a ratio that is not positive and finite. */
typedef struct carom_shape_def {
    carom_shape shape;
    uint64_t detail;     /* 0: the number in brackets above */
    uint64_t parts;      /* 0: the number in brackets above */
    double size;         /* 0: 1; from 2^-500 to 2^500, for float32 and cloth 2^-60 to 2^60 */
    double ratio;        /* 0: the number in brackets above */
    uint32_t p, q;       /* 0: 2 and 3 */
    uint64_t seed;       /* of cloth and shards */
    carom_scalar scalar; /* 0: doubles */
    bool polygons;       /* false: triangles; true: quads and larger where the shape has them */
    double phase;        /* of cloth: how far its waves have advanced, in radians; 0: not at all */
} carom_shape_def;

/* Makes a shape; def may be NULL. On failure *mesh is NULL. CAROM_BAD_INPUT: sizes that the shape
 * cannot have. CAROM_TOO_LARGE: too many vertices for 32-bit indices. */
CAROM_API carom_status carom_shape_make(carom_context *context, const carom_shape_def *def,
                                        carom_mesh **mesh);

/* Makes a shape and writes it: the bytes of carom_mesh_save of the mesh of carom_shape_make.
 * A cloth that becomes binary PLY is written row by row and never held, so that it may be larger
 * than memory. def may be NULL. Fails as these two do. */
CAROM_EXPERIMENTAL CAROM_API carom_status carom_shape_save(carom_context *context,
                                                           const carom_shape_def *def,
                                                           carom_mesh_format format,
                                                           const char *path);

/* "sphere", "globe" and so on. */
CAROM_API const char *carom_shape_name(carom_shape shape);
CAROM_API bool carom_shape_from_name(const char *name, carom_shape *shape);

#ifdef __cplusplus
}
#endif

#endif
