/* SPDX-License-Identifier: MIT */
/* mesh.h: polygon meshes: views, files, repair, inspection and triangulation. */
#ifndef CAROM_MESH_H
#define CAROM_MESH_H

#include "carom/geom.h"
#include "carom/result.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Input: a view of positions and faces ---------------------------------------------------- */

/* The type of coordinates. */
typedef enum carom_scalar {
    CAROM_SCALAR_FLOAT64 = 0,
    CAROM_SCALAR_FLOAT32 = 1,
    CAROM_SCALAR_COUNT
} carom_scalar;

/* "float64", "float32". */
CAROM_API const char *carom_scalar_name(carom_scalar scalar);
CAROM_API bool carom_scalar_from_name(const char *name, carom_scalar *scalar);

/* The type of the values of a property, in memory and in files. */
typedef enum carom_mesh_property_type {
    CAROM_MESH_PROPERTY_TYPE_FLOAT64 = 0,
    CAROM_MESH_PROPERTY_TYPE_FLOAT32,
    CAROM_MESH_PROPERTY_TYPE_INT8,
    CAROM_MESH_PROPERTY_TYPE_UINT8,
    CAROM_MESH_PROPERTY_TYPE_INT16,
    CAROM_MESH_PROPERTY_TYPE_UINT16,
    CAROM_MESH_PROPERTY_TYPE_INT32,
    CAROM_MESH_PROPERTY_TYPE_UINT32,
    CAROM_MESH_PROPERTY_TYPE_COUNT
} carom_mesh_property_type;

/* "float64", "float32", "int8", "uint8", "int16", "uint16", "int32", "uint32". */
CAROM_API const char *carom_mesh_property_type_name(carom_mesh_property_type type);
CAROM_API bool carom_mesh_property_type_from_name(const char *name, carom_mesh_property_type *type);

/* A value per vertex or per face, such as a radius, a colour or a temperature; any value, also one
 * that is not finite. */
typedef struct carom_mesh_property {
    const char *name;              /* one word, printable ASCII */
    bool of_faces;                 /* false: per vertex */
    carom_mesh_property_type type; /* 0: doubles */
    const void *values;            /* packed, aligned to their type */
} carom_mesh_property;

/* A view of positions and faces. Faces are polygons; face f has the corners [offsets[f], offsets[f
 * + 1]). Nothing is copied or owned. */
typedef struct carom_mesh_view {
    const void *positions; /* x, y, z of each vertex */
    carom_scalar scalar;   /* 0: doubles */
    uint64_t stride;       /* bytes from one vertex to the next; 0: packed */
    uint64_t vertex_count;
    const uint32_t *corners; /* vertex indices, face after face */
    const uint64_t *offsets; /* face_count + 1 of them; NULL: all faces are triangles */
    uint64_t face_count;

    /* Parts: the bodies of an assembly, or any other division of the faces. */
    const uint32_t *parts;         /* the part of each face; NULL: all faces are in part 0 */
    const char *const *part_names; /* part_count names, UTF-8, that may be empty or repeat; NULL:
                                      no part has a name */
    uint64_t part_count;           /* 0 where parts and part_names are NULL: one part */

    const carom_mesh_property *properties; /* property_count of them; only PLY files hold them */
    uint64_t property_count;
} carom_mesh_view;

/* At most 2^32 - 1 vertices: UINT32_MAX is never a vertex index. */
#define CAROM_MESH_MOST_VERTICES UINT32_MAX

/* At most 2^24 parts, so that a table with an entry per part always fits into memory. */
#define CAROM_MESH_MOST_PARTS (UINT32_C(1) << 24)

/* At most 500 properties, as the reader of PLY has a limit. */
#define CAROM_MESH_MOST_PROPERTIES 500

/* Checks what every use of a mesh relies on: finite positions, at most CAROM_MESH_MOST_VERTICES
 * and CAROM_MESH_MOST_PARTS, offsets that start at 0 and give each face three corners or more,
 * corners that are vertex indices, parts that are indices below part_count, names without control
 * characters (bytes below 32, and 127), at most CAROM_MESH_MOST_PROPERTIES, each named by one word
 * that PLY does not use itself (x, y, z; vertex_index, vertex_indices, part). CAROM_BAD_INPUT or
 * CAROM_TOO_LARGE otherwise, with a message that names the first error. Constraint: positions are
 * aligned to their scalar, and the stride is a multiple of its size; no part name is NULL, and no
 * name and no values of a property are. O(n). */
CAROM_API carom_status carom_mesh_check(carom_context *context, const carom_mesh_view *view);

/* Computes the bounds of all vertices of a view, used by faces or not; low > high when there are
 * none. The view must pass carom_mesh_check. O(n). */
CAROM_API carom_status carom_mesh_bounds(carom_context *context, const carom_mesh_view *view,
                                         carom_bounds *bounds);

/* ---- Meshes ---------------------------------------------------------------------------------- */

/* Owns positions, faces, parts and properties. Immutable after loading; any number of threads may
 * read it. */
typedef struct carom_mesh carom_mesh;

/* Creates a mesh from a copy of a view that carom_mesh_check accepts; on failure *mesh is NULL.
 * Positions become packed and keep their scalar; offsets are dropped when all faces are triangles,
 * and `parts` when all faces are in part 0. */
CAROM_API carom_status carom_mesh_create(carom_context *context, const carom_mesh_view *view,
                                         carom_mesh **mesh);

/* Frees the mesh. NULL is allowed. Needs no context. */
CAROM_API void carom_mesh_destroy(carom_mesh *mesh);

/* Gets a packed view of the mesh; offsets are NULL when all faces are triangles, `parts` when all
 * faces are in part 0; part_count is at least 1. Valid until the mesh is destroyed. O(1), any
 * thread. */
CAROM_API carom_status carom_mesh_get_view(const carom_mesh *mesh, carom_mesh_view *view);

/* ---- Files ----------------------------------------------------------------------------------- */

/* docs/formats.md says what is read, written and ignored in each format. Readers accept any variant
 * of a format, whichever variant is named; writers write the named variant. */
typedef enum carom_mesh_format {
    CAROM_MESH_FORMAT_GUESS = 0, /* by content and name when reading, by name when writing */
    CAROM_MESH_FORMAT_OBJ,
    CAROM_MESH_FORMAT_PLY,       /* binary, little endian */
    CAROM_MESH_FORMAT_PLY_BIG,   /* binary, big endian */
    CAROM_MESH_FORMAT_PLY_ASCII, /* text */
    CAROM_MESH_FORMAT_STL,       /* binary; triangles and float32 only */
    CAROM_MESH_FORMAT_STL_ASCII, /* text; triangles only */
    CAROM_MESH_FORMAT_OFF,
    CAROM_MESH_FORMAT_OTHER, /* binary glTF, and what assimp reads, if it was available at build
                                time; never written */
    CAROM_MESH_FORMAT_COUNT
} carom_mesh_format;

/* "guess", "obj", "ply", "ply-big", "ply-ascii", "stl", "stl-ascii", "off", "other". */
CAROM_API const char *carom_mesh_format_name(carom_mesh_format format);
CAROM_API bool carom_mesh_format_from_name(const char *name, carom_mesh_format *format);

/* Guesses the format from a file name (its extension in upper or lower case, before a .gz) and from
 * the first bytes of the content; name and bytes may be NULL. Any thread.
 * - Content that is certain (a PLY or OFF header, binary STL of the right size) takes precedence
 *   over the name.
 * - CAROM_MESH_FORMAT_OTHER when the name has another extension.
 * - Where the name has none, text whose first line (comments aside) is a statement of OBJ is OBJ.
 * - CAROM_MESH_FORMAT_GUESS when nothing decides.
 *
 * Constraint: `bytes` is uncompressed, `size` is that of the whole file. */
CAROM_API carom_mesh_format carom_mesh_format_guess(const char *name, const void *bytes,
                                                    uint64_t size);

/* Where a loaded mesh came from, and what its file held that a mesh does not. */
typedef struct carom_mesh_origin {
    carom_mesh_format format; /* the variant found; CAROM_MESH_FORMAT_GUESS: not from a file */
    bool compressed;          /* the file was gzipped */
    uint64_t skipped_faces;   /* faces with one or two corners or none; left out of the mesh */
    double metres;            /* the length of one unit of the positions, in metres, where the file
                                 says it (glTF, COLLADA, 3MF, FBX); else 0. Positions are those of
                                 the file; those of COLLADA are scaled to metres */
} carom_mesh_origin;

/* Gets where the mesh came from. */
CAROM_API carom_status carom_mesh_get_origin(const carom_mesh *mesh, carom_mesh_origin *origin);

/* Reads a file: OBJ, PLY, STL, OFF and binary glTF, each also gzipped (if zlib was available at
 * build time), and what else assimp reads (if that was). On failure *mesh is NULL and the message
 * says `file: line or byte: what is wrong`, such as `bunny.ply: face 1042 names vertex 70001, the
 * file has 35947`.
 *
 * - Binary float32 (STL, PLY) stays float32, all else becomes float64. Text is rounded correctly to
 *   the nearest double, whatever type a PLY header declares.
 * - Faces stay polygons in file order; faces with fewer than three corners are left out and
 *   counted.
 * - Parts are numbered in the order of their first face, or as a PLY file numbers them; parts
 *   without faces are left out, except where a PLY file names them.
 * - Properties are the other scalars of vertices and faces in PLY, up to
 *   CAROM_MESH_MOST_PROPERTIES. One whose text has a value that its type does not hold is left out.
 * - Vertices stay as they are, also unused ones; STL gives three of its own to each triangle.
 *   Nothing is welded.
 * - CAROM_IO: cannot be opened or read.
 * - CAROM_BAD_FILE: malformed, including a coordinate that is not finite and data beyond what the
 *   header declares.
 * - CAROM_TOO_LARGE: too many vertices or parts.
 * - CAROM_UNSUPPORTED: needs a library that this build lacks, or is not a mesh but the file of a
 *   CAD program (STEP, IGES).
 * - Memory: at most 16 times the uncompressed size of the file and 128 KiB (glTF, in which many
 *   nodes may show one mesh, and assimp have no such limit); a count in a header reserves no more
 *   memory than the file could fill.
 * - Reading, unpacking and parsing report progress and can be cancelled, also while waiting for a
 *   pipe; reading by assimp cannot.
 * - Runs on the calling thread. */
CAROM_API carom_status carom_mesh_load(carom_context *context, const char *path,
                                       carom_mesh_format format, carom_mesh **mesh);

/* Reads a mesh from memory. `name` stands for the file name in messages and for guessing, and may
 * be NULL. The bytes are only read during the call. */
CAROM_API carom_status carom_mesh_load_memory(carom_context *context, const void *bytes,
                                              uint64_t size, carom_mesh_format format,
                                              const char *name, carom_mesh **mesh);

/* Writes a view that carom_mesh_check accepts. A name that ends in .gz is compressed.
 * - The file is written under a temporary name beside its final one and renamed, so that it is
 *   either the old or the complete new one. Links are followed, and an existing file keeps its
 *   mode.
 * - What is written reads back with exactly the same values (float32 too: its text is that of the
 *   nearest double) and the same faces. The exception is STL: it holds triangles only (others:
 *   CAROM_BAD_INPUT), no shared vertices, and when binary only float32 (doubles that are not
 *   float32: CAROM_BAD_INPUT; write them as text).
 * - Parts and their names are written to PLY as they are; to OBJ as objects, whose names are made
 *   unique by appending numbers; to STL text as one solid per run of faces of one part. Binary STL
 *   and OFF do not hold them.
 * - Properties are written to PLY only.
 * - CAROM_MESH_FORMAT_GUESS chooses by the name; .stl becomes text when binary STL cannot hold the
 *   values.
 * - CAROM_IO: the file cannot be written, such as on a full disk. CAROM_UNSUPPORTED: a format that
 *   Carom does not write.
 * - Reports progress and can be cancelled, also while waiting for a pipe; then no file is left
 *   behind. */
CAROM_API carom_status carom_mesh_save(carom_context *context, const carom_mesh_view *view,
                                       carom_mesh_format format, const char *path);

/* Writes a view into memory, uncompressed; the format must be named. */
CAROM_API carom_status carom_mesh_save_memory(carom_context *context, const carom_mesh_view *view,
                                              carom_mesh_format format, carom_bytes *bytes);

/* ---- Welding and inspection ------------------------------------------------------------------ */

/* Merges vertices whose coordinates are equal bit for bit (-0 = 0). The first of equal vertices
 * stays, in the old order, with its own coordinates; faces keep their order, count and corners.
 * Corners of one face that become the same vertex stay too: such a face is degenerate or has a side
 * of length zero. Parts stay as they are; they may come to share vertices. A merged
 * vertex has the properties of the first. CAROM_BAD_INPUT as for
 * carom_mesh_check. O(n). Reports progress and can be cancelled. */
CAROM_API carom_status carom_mesh_weld(carom_context *context, const carom_mesh_view *view,
                                       carom_mesh **mesh);

/* Merges vertices as carom_mesh_weld does, but within each part alone: afterwards no two parts
 * share a vertex, so that faces of different parts that touch count as intersecting. A vertex that
 * several parts use is copied for each but the lowest; copies follow the other vertices.
 * CAROM_TOO_LARGE when that makes too many vertices. O(n). */
CAROM_API carom_status carom_mesh_weld_parts(carom_context *context, const carom_mesh_view *view,
                                             carom_mesh **mesh);

/* Properties of a mesh. A side is a pair of consecutive corners of a face, directed around the
 * face. Sides from a vertex to itself are left out, and two sides of one face in opposite
 * directions between the same vertices cancel, so that collapsed faces and slits to holes have no
 * effect. An edge is a pair of vertices with at least one remaining side. Vertices are the same
 * when their indices are: weld first. */
typedef struct carom_mesh_report {
    uint64_t vertices, faces;
    uint64_t triangles; /* when each face of n corners is split into n - 2 */
    uint64_t unused_vertices;
    uint64_t edges;
    uint64_t open_edges;         /* with one side */
    uint64_t nonmanifold_edges;  /* with more than two sides */
    uint64_t inconsistent_edges; /* sides in one direction exceed those in the other by two or
                                    more */
    uint64_t shells;             /* sets of faces connected by edges; collapsed faces are in none */
    uint64_t duplicate_faces;    /* with the corners of an earlier face, in the same cyclic order in
                                    either direction */
    uint64_t degenerate_faces;   /* whose corners all lie on one line; exact */
    uint64_t degenerate_triangles; /* the same for the triangles of fans from each first corner */

    bool closed;   /* has edges, and each has two sides, one in each direction; also after polygons
                      are split into fans from their first corners */
    bool balanced; /* every edge has as many sides in one direction as in the other. Winding
                      numbers, and so inside and volume, need this; all closed meshes are
                      balanced */
    bool oriented; /* no inconsistent edge */

    double volume; /* signed, of the cones from the origin over the fans: exact, rounded once. The
                      solid's where the mesh is balanced; negative when it is inside out */
    double area;   /* sum over faces of the length of the vector area, right for flat polygons of
                      any form; independent of the order of the faces */
    carom_bounds bounds; /* of all vertices, used or not; low > high when there are none */

    uint32_t first_open_edge[2]; /* vertices of the lowest such edge, the lower first; else
                                    CAROM_NONE */
    uint32_t first_nonmanifold_edge[2];
    uint32_t first_inconsistent_edge[2];
    uint32_t first_degenerate_face, first_duplicate_face;
} carom_mesh_report;

/* Inspects a view that carom_mesh_check accepts; others are CAROM_BAD_INPUT. CAROM_TOO_LARGE from
 * 2^32 - 1 corners on. O(n), on all threads; identical bits for any number of them. */
CAROM_API carom_status carom_mesh_inspect(carom_context *context, const carom_mesh_view *view,
                                          carom_mesh_report *report);

/* ---- Triangulation --------------------------------------------------------------------------- */

/* How faces are split into triangles. */
typedef struct carom_mesh_triangulate_def {
    bool fan; /* false: ear cutting; true: a fan from the first corner, whatever the form */
} carom_mesh_triangulate_def;

/* Splits each face of n corners into n - 2 triangles, face after face, with the same orientation.
 * Vertices, parts and properties stay as they are. def may be NULL. On failure *mesh is NULL.
 *
 * Ear cutting: the face is projected along the largest component of its normal, and ears are cut
 * off. All orientations are decided exactly: a polygon that is simple in the projection gets
 * triangles that do not overlap and, unless all its corners lie on one line, none without area.
 * When no ear is left (the polygon crosses itself, or is only nearly simple), the rest is split as
 * a fan. Convex faces are cut evenly, not as a fan.
 * `fan`: triangle k of a face has the corners 0, k + 1, k + 2.
 *
 * - faces[t] becomes the index of the face that triangle t came from. faces may be NULL. A caller's
 *   buffer that is too small gives CAROM_MORE, with the mesh complete.
 * - CAROM_BAD_INPUT as for carom_mesh_check, CAROM_TOO_LARGE from 2^32 - 1 corners on.
 * - Reports progress and can be cancelled, also in the middle of a face.
 *
 * Cost: O(n) for faces of few corners, O(n r) for one with r corners that are not convex. */
CAROM_API carom_status carom_mesh_triangulate(carom_context *context, const carom_mesh_view *view,
                                              const carom_mesh_triangulate_def *def,
                                              carom_mesh **mesh, carom_numbers *faces);

#ifdef __cplusplus
}
#endif

#endif
