/* SPDX-License-Identifier: MIT */
/* pack.h: fills solids with disjoint spheres, with proof.
 *
 *   carom_packing_def def = {.mesh = &view, .count = 10000};
 *   carom_packing_create(context, &def, &packing);                     prepare
 *   carom_packing_list_spheres(context, packing, &spheres);             result
 *
 * A packing is a set of spheres inside a solid that do not overlap, largest first, so that any
 * number of them from the first on is a packing too. Inside means a winding number of 1 or more.
 *
 * Space is divided among the spheres: the share of a sphere is, up to the size of cells, the part
 * of the solid that is nearest to it, by (|x - centre| - radius) / sqrt(radius). (Without the root,
 * shares of small spheres would have long tips, and covers would be wide.) Three radii:
 *   radius     the ball lies inside the solid and meets no other ball but in a point. Rounded down:
 *              this holds in exact arithmetic, for the numbers as they are given.
 *   secondary  a ball of this radius has the volume of the share, so that the volumes of all these
 *              balls add up to that of the solid.
 *   cover      the share lies inside the ball of this radius. Rounded up, in exact arithmetic.
 *
 * Centres are multiples of a unit: relative to the packing's origin they are float32. The same
 * input gives the same bytes for any number of threads and any instruction set.
 */
#ifndef CAROM_PACK_H
#define CAROM_PACK_H

#include "carom/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Prepare --------------------------------------------------------------------------------- */

/* How spheres are found. */
typedef enum carom_packing_method {
    CAROM_PACKING_METHOD_OCTREE = 0, /* the largest empty ball first, within 1 + epsilon */
    CAROM_PACKING_METHOD_GREEDY,     /* the largest ball around the centre of a voxel first (Weller,
                                     Zachmann 2009) */
    CAROM_PACKING_METHOD_PROTOTYPE,  /* random points climb to where balls are largest: PROTOSPHERE
                                     with a climb of our own */
    CAROM_PACKING_METHOD_PROTOSPHERE, /* random points move away from what is nearest to them, until
                                      they come to rest (Weller, Zachmann 2010) */
    CAROM_PACKING_METHOD_COUNT
} carom_packing_method;

/* "octree", "greedy", "prototype", "protosphere". */
CAROM_API const char *carom_packing_method_name(carom_packing_method method);
CAROM_API bool carom_packing_method_from_name(const char *name, carom_packing_method *method);

/* What is packed, and how; never NULL: the mesh has no default. */
typedef struct carom_packing_def {
    const carom_mesh_view
        *mesh; /* vertices with equal coordinates are merged; nothing is kept of it */
    carom_packing_method method;
    bool allow_open; /* a mesh that is not closed: inside is a generalised winding number of 0.5 or
                        more. Spheres still meet no face, but may reach out through holes */

    /* When to stop: at the first of these. All 0: at 1,000 spheres. */
    uint64_t count; /* spheres; 0: any number */
    double fill;    /* the share of the solid's volume that is in spheres; 0: any. Not for open
                       meshes */
    double radius;  /* the smallest sphere; 0: any */

    double epsilon;   /* OCTREE: no empty ball is larger than 1 + epsilon times the last sphere; 0:
                         0.05. At least 0.001 */
    bool fast;        /* OCTREE: three times as fast, without that certificate */
    uint32_t voxels;  /* GREEDY: along the longest side; 0: 128. At most 512. Stops when all are
                         used up */
    uint64_t seed;    /* PROTOTYPE, PROTOSPHERE: of the random points */
    bool skip_shares; /* leave out secondary, cover and void_volume, which are then 0 */
    bool
        keep_cells; /* for carom_packing_list_cells: 40 bytes for each of some hundred per sphere */
} carom_packing_def;

/* The spheres inside a solid. */
typedef struct carom_packing carom_packing;

/* Packs a solid. On failure *packing is NULL.
 * - The mesh must pass carom_mesh_check, have a face and enclose a volume, and be closed and
 *   consistently oriented, unless allow_open is set. Otherwise CAROM_BAD_INPUT; the message counts
 *   open edges and names the first.
 * - Several shells, cavities, faces that cross each other and faces without area are allowed. A
 *   mesh that encloses a negative volume is inside out: it is reversed, and the info says so. A
 *   sphere meets no face, also where that lies inside the solid.
 * - Spheres smaller than 64 units of centres, some 4e-6 of the size of the mesh, are not found.
 *   Where that is why there are fewer spheres than the goal, or less fill, the info says so.
 * - CAROM_BAD_INPUT: fill outside [0, 1), a negative radius, epsilon, voxels out of range, a mesh
 *   smaller than 2^-300 or larger than 2^300.
 * - A context of backend cuda finds the spheres on the device, the same ones; CAROM_UNSUPPORTED by
 *   other methods than OCTREE, and where a mesh is open.
 *
 * Cost: about 300 us of processor time per sphere, on all threads; memory about 10 KB per sphere
 * while it works. */
CAROM_API carom_status carom_packing_create(carom_context *context, const carom_packing_def *def,
                                            carom_packing **packing);

/* How a packing follows a mesh that deforms; never NULL: the meshes have no default. */
typedef struct carom_packing_deform_def {
    const carom_mesh_view *before; /* the mesh that was packed; nothing is kept of it */
    const carom_mesh_view *after;  /* the same vertices in other places: only positions, scalar,
                                      stride and vertex_count are read; nothing is kept of it */
    bool refill;      /* spheres move on to where they are largest, may grow, and new ones fill gaps
                         until there are as many as before. Else they stay where they were carried
                         to, and only shrink */
    bool allow_open;  /* as for create */
    bool skip_shares; /* the same */
    bool keep_cells;  /* the same */
    bool fine_shares; /* shares of as many cells as those of create: voids are a fifth smaller, for
                         most of the time of create */
} carom_packing_deform_def;

/* Makes the packing of a mesh that deforms out of that before, in a fraction of the time of
 * carom_packing_create. On failure *deformed is NULL. `packing` does not change.
 * - Each sphere is carried by the deformation of the surface: by the affine map that fits it best,
 *   weighted by the inverse fourth power of the distance (moving least squares). So affine
 *   deformations carry centres exactly, up to rounding.
 * - All that is said of a packing holds for the new one and the mesh after: spheres are inside and
 *   disjoint, measured anew; shares and covers are computed anew. It is sorted by radius: spheres
 *   have other indices. empty_radius is infinite: no search certifies it.
 * - Spheres for which there is no space are left out, as are those that shrink to less than half of
 *   the smallest one. `complete` says whether there are as many as before.
 * - The mesh after as for create; `before` must pass carom_mesh_check and have a face. Whether it
 *   is the mesh that was packed is not checked: spheres are carried, wherever they are.
 * - CAROM_BAD_INPUT: another number of vertices; meshes as for create.
 * - The same bytes for any number of threads and any instruction set. A context of backend cuda
 *   computes on the CPU.
 *
 * Cost: O(n) in the faces, and some 60 us of processor time per sphere, on all threads. */
CAROM_EXPERIMENTAL CAROM_API carom_status carom_packing_deform(carom_context *context,
                                                               const carom_packing *packing,
                                                               const carom_packing_deform_def *def,
                                                               carom_packing **deformed);

/* NULL is fine. */
CAROM_API void carom_packing_destroy(carom_packing *packing);

/* What a packing is like. */
typedef struct carom_packing_info {
    uint64_t spheres;
    carom_packing_method method;
    double volume;       /* of the solid: where the winding number is 1 or more; 0: not known */
    double fill;         /* the share of it that is in spheres */
    double least_radius; /* of the last sphere; 0: there is none */
    double empty_radius; /* no ball inside the solid and between the spheres, meeting no face, has a
                            larger radius; infinite where that is not certified */
    carom_bounds bounds; /* of the mesh */
    carom_vec3 origin;   /* centre - origin is a vector of float32, exactly */
    bool inside_out;     /* the mesh was, and has been reversed */
    bool complete;       /* stopped because it reached its goal, not for lack of space */
    bool shares;         /* secondary, cover and void_volume are there */
    uint64_t cells;      /* that shares consist of */
    uint64_t bytes;      /* held by the packing */
} carom_packing_info;

/* Gets what the packing is like. */
CAROM_API carom_status carom_packing_get_info(const carom_packing *packing,
                                              carom_packing_info *info);

/* ---- Result ---------------------------------------------------------------------------------- */

/* A sphere of a packing, and its share of the solid. */
typedef struct carom_packing_sphere {
    carom_vec3 centre;
    double radius, secondary, cover; /* as explained above; float32, scaled by a power of two */
    double void_volume; /* of its share: what is in no ball of the packing. Rounded up */
    uint32_t face;      /* of the mesh, the nearest to the centre */
    double depth;       /* no face is nearer to the centre; at least the radius. Rounded down */
} carom_packing_sphere;

CAROM_RESULT_ARRAY(carom_packing_spheres, carom_packing_sphere);

/* Gets the spheres, largest first. Spheres of equal radius are in the order they were found in. */
CAROM_API carom_status carom_packing_list_spheres(carom_context *context,
                                                  const carom_packing *packing,
                                                  carom_packing_spheres *spheres);

/* A cube of space that is part of a share. Cells do not overlap, and together they contain the
 * solid. Each lies in the cover of its sphere. */
typedef struct carom_packing_cell {
    carom_vec3 low; /* its least corner */
    double edge;
    uint32_t sphere;
} carom_packing_cell;

CAROM_RESULT_ARRAY(carom_packing_cells, carom_packing_cell);

/* Gets the cells of all shares; none unless keep_cells was set. */
CAROM_API carom_status carom_packing_list_cells(carom_context *context,
                                                const carom_packing *packing,
                                                carom_packing_cells *cells);

/* ---- Overlap of two packings ----------------------------------------------------------------- */

/* What engines say of two packings in their poses; they agree bit for bit. Bounds hold for the
 * solids that were packed, up to 1e-9 of their volumes. */
typedef struct carom_packing_overlap {
    carom_relation relation; /* OVERLAPPING: inner balls overlap. APART: no covers meet. Both are
                                certain. TOUCHING: neither; the spheres are too few to decide */
    carom_interval volume;   /* value: an estimate, the sum of the lenses of secondary balls, which
                                may lie outside of the limits. lower: the sum of the lenses of inner
                                balls. upper: that, plus the voids of all shares whose covers meet
                                the other's */
    carom_vec3 centroid;     /* of the lenses of secondary balls; the pivot where there are none */
    carom_vec3 force;        /* on b: minus the derivative of the estimate by b's translation */
    carom_vec3 torque;       /* on b: minus the derivative by b's rotation about the pivot, world
                                axes */
    carom_vec3 pivot;        /* the centroid of b's shares as balls, in b's pose */
    carom_vec3 direction_2009;     /* the sum of the lenses' volumes times the vectors from a's
                                      centres to b's (Weller, Zachmann 2009, reversed) */
    uint64_t pairs;                /* of secondary balls that overlap */
    uint64_t inner_pairs;          /* of inner balls that overlap */
    uint64_t flagged_a, flagged_b; /* spheres whose covers meet the other's */
    bool partial; /* a budget or a tolerance ended the search: bounds hold, but are wider, and the
                     estimate, which may be coarse, is between them. Counts are of what was
                     searched; where no spheres were compared, they are 0 */
} carom_packing_overlap;

/* ---- Files ----------------------------------------------------------------------------------- */

/* Formats of files of spheres. */
typedef enum carom_packing_format {
    CAROM_PACKING_FORMAT_GUESS = 0, /* by the ending of the name; PLY where that says nothing */
    CAROM_PACKING_FORMAT_PLY,       /* text: x y z radius secondary cover void face depth, and the
                                    info in comments; holds all of a packing but its cells */
    CAROM_PACKING_FORMAT_CSV,  /* "x,y,z,radius,secondary,cover,void,face", with that heading */
    CAROM_PACKING_FORMAT_XYZR, /* "x y z radius" in lines (.txt, .xyzr) */
    CAROM_PACKING_FORMAT_SPH,  /* Bradshaw's sphere trees: the ball around all spheres, then each;
                               centres relative to the middle of the mesh's bounds */
    CAROM_PACKING_FORMAT_COUNT
} carom_packing_format;

/* "guess", "ply", "csv", "xyzr", "sph". */
CAROM_API const char *carom_packing_format_name(carom_packing_format format);
CAROM_API bool carom_packing_format_from_name(const char *name, carom_packing_format *format);

/* Writes the spheres of a packing, all digits. The file is complete, or what it was.
 * CAROM_IO: it cannot be written. CAROM_BAD_INPUT: SPH of a packing without spheres. */
CAROM_API carom_status carom_packing_save(carom_context *context, const carom_packing *packing,
                                          carom_packing_format format, const char *path);

/* The same into memory; the format must be named. */
CAROM_API carom_status carom_packing_save_memory(carom_context *context,
                                                 const carom_packing *packing,
                                                 carom_packing_format format, carom_bytes *bytes);

/* Reads a packing from PLY, text or binary little endian. What carom_packing_save wrote is restored
 * exactly, but for cells. Of other files, vertices with x, y, z and radius are taken, and
 * secondary, cover, void, face and depth where they are there; spheres are sorted by radius.
 * Nothing is proved about them. On failure *packing is NULL. CAROM_IO: cannot be opened or read.
 * CAROM_BAD_FILE: malformed, no such properties, a number that is not finite, a radius that is not
 * positive. CAROM_TOO_LARGE: more than 2^32 - 1 spheres. */
CAROM_API carom_status carom_packing_load(carom_context *context, const char *path,
                                          carom_packing_format format, carom_packing **packing);

/* Reads a packing from memory. `name` stands for the file in messages, and may be NULL. */
CAROM_API carom_status carom_packing_load_memory(carom_context *context, const void *bytes,
                                                 uint64_t size, carom_packing_format format,
                                                 const char *name, carom_packing **packing);

#ifdef __cplusplus
}
#endif

#endif
