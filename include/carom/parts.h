/* SPDX-License-Identifier: MIT */
/* parts.h: pairs of faces of meshes that do not fit into memory, exactly.
 *
 *   carom_parts_def def = {.a.path = "scan.ply", .memory = 2000000000};
 *   carom_parts_pairs(context, &def, receive, user, NULL);
 *
 * The space of the meshes is cut along a space-filling curve into parts that fit into the memory
 * given. Each part gets every face that reaches into it, is searched as a soup (soup.h), and keeps
 * the pairs that are its own; the lists of all parts are merged on disk. The pairs are those of
 * carom_soup_self_pairs and the like of the whole meshes, in the same order: `receive` gets the
 * same sequence, whatever the memory, the parts and the number of threads.
 *
 * carom_parts_def.shards divides the work among processes that share nothing: each computes the
 * pairs of its share of the curve, and their lists, merged, are the whole list.
 */
#ifndef CAROM_PARTS_H
#define CAROM_PARTS_H

#include "carom/kfree.h"
#include "carom/soup.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where the faces of a mesh come from. Both NULL: no faces. */
typedef struct carom_parts_input {
    const char *path;            /* a regular file: binary PLY, binary STL or OBJ, not compressed */
    const carom_mesh_view *mesh; /* or arrays, such as those of a mapped file; read, not copied */
} carom_parts_input;

/* The least `memory` of a def, in bytes: tables and buffers of the cut. */
#define CAROM_PARTS_LEAST_MEMORY UINT64_C(64000000)

/* What is searched, and with how much memory. Never NULL. */
typedef struct carom_parts_def {
    carom_parts_input a, b;
    bool cross;        /* pairs (face of a, face of b); false: pairs of faces of a, b is not read */
    carom_pose pose_b; /* all zero: the identity */
    bool within;       /* faces at most `reach` apart, as carom_soup_self_pairs_within */
    double reach;
    carom_soup_degenerate degenerate;
    bool fan;     /* as carom_soup_def.fan */
    bool no_weld; /* a vertex is common when its index is the same; false: when its coordinates are
                     equal, as after carom_mesh_weld */
    uint64_t memory;     /* bytes in all, at least CAROM_PARTS_LEAST_MEMORY; 0: 1,000,000,000 */
    uint64_t part_faces; /* at most so many faces in a part; 0: as many as the memory holds */
    const char
        *folder; /* for temporary files, which have no names; NULL: TMPDIR, or the system's */
    uint32_t shard, shards; /* the pairs of one share of the curve: shard < shards. 0 shards: all */
    bool count_only;        /* only read and count: the report has faces and hash, no pairs */
    bool boxes; /* pairs of faces whose boxes overlap: the bounds of posed corners, closed, of all
                   faces, those without area too; not with `within` */
} carom_parts_def;

/* What was read, kept and found. */
typedef struct carom_parts_report {
    uint64_t faces_a, faces_b;     /* of the meshes; with `fan` triangles */
    uint64_t skipped_a, skipped_b; /* faces with fewer than three corners, left out */
    uint64_t hash;                 /* of the inputs and of all that the pairs depend on */
    uint64_t parts;                /* that were searched */
    uint64_t searches;             /* of soups: more than parts where one did not fit */
    uint64_t copies;               /* faces in all parts together: a face counts in each */
    uint64_t bytes_read;           /* from the inputs; each is read two or three times */
    uint64_t bytes_spilled;        /* the most that temporary files held, faces and pairs */
    uint64_t pairs;                /* received */
    uint64_t peak_bytes;           /* the most memory in use at once */
} carom_parts_report;

/* Passes all pairs to `receive` in ascending chunks; report may be NULL.
 *
 * - The rules are those of soup.h for the whole meshes: common vertices, faces without area,
 *   polygons, poses. Each pair is found in several parts and kept by one, the part of the lowest
 *   corner of the box that is common to the two faces' boxes.
 * - At most 2^32 - 65 faces (with `fan`: triangles) in a mesh, and 2^32 - 1 vertices, beside those
 *   of STL, which has none of its own: CAROM_TOO_LARGE.
 * - A part that does not fit, as when faces are so large or so crowded that no cut separates them,
 *   is searched in blocks of faces, each with each: memory stays bounded, work does not.
 * - Files are read by place and must not change meanwhile: one that is cut short gives
 *   CAROM_BAD_FILE. Their messages are those of carom_mesh_load.
 * - CAROM_UNSUPPORTED: a format that cannot be read by place (text other than OBJ, compressed
 *   files, PLY whose vertices have lists), a pipe.
 * - On a context of backend cuda each part is searched by the GPU, in half of the device's free
 *   memory at most, with the same pairs. `memory` is that of the host. carom_parts_kfree is of the
 *   CPU alone: CAROM_UNSUPPORTED.
 * - With `boxes` the pairs are those of carom_broad_pairs (broad.h) of the faces' boxes, a box of a
 *   being asked for boxes of b alone where there are two meshes. Common vertices have no part.
 * - CAROM_BAD_INPUT: too little memory, a reach that is negative or not finite or given for boxes,
 *   a shard that is not below shards.
 * - CAROM_NO_MEMORY: the memory does not hold the tables of so many parts; the message says how
 *   much is needed. CAROM_IO: a temporary file cannot be written, as on a full disk.
 * - When `receive` returns true, the rest is left out and the call returns CAROM_OK.
 * - Memory: at most `memory` bytes beside the context's own scratch, which is not used. Temporary
 *   files have no names and are gone when the call ends, or the process, however it ends.
 *
 * Cost: docs/large.md. */
CAROM_EXPERIMENTAL CAROM_API carom_status carom_parts_pairs(carom_context *context,
                                                            const carom_parts_def *def,
                                                            carom_pairs_fn *receive, void *user,
                                                            carom_parts_report *report);

/* Receives the counts of consecutive faces, from face 0 on; returns true to stop. */
typedef bool carom_parts_counts_fn(void *user, const uint32_t *counts, uint64_t count);

/* Computes what carom_kfree_measure computes of the mesh a, the same bytes, in parts. Passes the
 * count of every face to `receive`, which may be NULL; report may be NULL, its pairs are the total
 * of the counts. Fails as carom_parts_pairs and carom_kfree_measure do; CAROM_BAD_INPUT: a def with
 * cross, within, boxes or shards.
 * When `receive` returns true, the rest is not received; *kfree is whole. */
CAROM_EXPERIMENTAL CAROM_API carom_status carom_parts_kfree(carom_context *context,
                                                            const carom_parts_def *def,
                                                            carom_parts_counts_fn *receive,
                                                            void *user, carom_kfree *kfree,
                                                            carom_parts_report *report);

#ifdef __cplusplus
}
#endif

#endif
