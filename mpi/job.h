/* SPDX-License-Identifier: MIT */
/* job.h: what the steps of carom-mpi share.
 *
 *   input ──► cut ──► search ──► write
 *
 * Faces are records: the id of the face, 4 bytes, then the nine coordinates of its corners as the
 * file has them. Records that a rank holds ascend by id. */
#ifndef CAROM_MPI_JOB_H
#define CAROM_MPI_JOB_H

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "carom/carom.h"

/* Exit codes, as those of carom: misuse, a bad input, a failure of the machine. */
enum { MPI_EXIT_MISUSE = 2, MPI_EXIT_INPUT = 3, MPI_EXIT_MACHINE = 4 };

#define MPI_ID_BYTES 4u

/* Where the vertices and faces of a file lie. */
typedef struct layout {
    int32_t facets;           /* binary STL: a face has its own coordinates */
    int32_t wide;             /* coordinates are doubles */
    uint64_t vertices, faces; /* how many */
    uint64_t vertex_at, stride, x[3];
    uint64_t face_at, face_bytes, count_at, count_bytes, corners_at;
} layout;

/* Faces of one input that this rank holds. */
typedef struct faces {
    uint8_t *records;
    uint64_t count, record; /* bytes of a record */
    bool wide;
    const carom_pose *pose; /* NULL: where they are */
} faces;

/* Whether a rank has a cell: the curve through a grid of 2^16 cells along each axis is divided at
 * ranks - 1 keys. */
typedef struct cut {
    double low[3], scale[3], half; /* half of the reach, rounded up */
    uint64_t *keys;
} cut;

typedef struct cells {
    uint32_t low[3], high[3];
} cells;

typedef struct job {
    int rank, ranks;
    carom_context *context;
    const char *paths[2], *output;
    int inputs;
    carom_pose pose; /* of the second */
    double reach;    /* below 0: faces that meet */
    bool boxes;
    carom_soup_degenerate degenerate;
    uint64_t all_faces[2], copies; /* of the files; those that this rank searches */
    uint64_t read, sent;           /* bytes */
    uint64_t vertex_law,
        copied_bytes; /* vertices of all ranks, each wanted_here for once; records */
    cut cut;
    uint64_t *pairs; /* a << 32 | b, sorted */
    uint64_t pair_count;
} job;

/* Ends all ranks with a message of this one. */
__attribute__((noreturn, format(printf, 3, 4))) void die(const job *job, int code,
                                                         const char *format, ...);
/* calloc that does not fail; `what` is for the message. */
void *take(const job *job, uint64_t count, uint64_t size, const char *what);
void check_io(const job *job, int code, const char *path, const char *what);

/* Sends counts[r] items to each rank r, in the order in which they lie. Returns what came, ordered
 * by sender; *received is how many. */
void *exchange(job *job, const void *items, const uint64_t *counts, uint64_t size,
               uint64_t *received);

/* The first of a rank's share of `count`, at most 2^33 or so; that of the next is its end. */
static inline uint64_t share(const job *job, uint64_t count, int rank) {
    return count * (uint64_t)rank / (uint64_t)job->ranks;
}

/* Reads this rank's share of the faces of a file, by MPI-IO (input.c). */
void input_read(job *job, int index, faces *made);

/* The three corners of a face, posed. */
void face_corners(const faces *f, uint64_t face, carom_vec3 corners[3]);

/* Finds the cut together, and sends the faces to the ranks that they reach into (cut.c). */
void cut_make(job *job, const faces *all);
void cut_send(job *job, faces *f);
cells cut_cells(const cut *cut, const faces *f, uint64_t face);
int cut_owner(const job *job, const uint32_t cell[3]);

/* Finds the pairs that are this rank's own (search.c), and writes those of all (write.c). */
void search(job *job, const faces *all);
void write_pairs(job *job);

#endif
