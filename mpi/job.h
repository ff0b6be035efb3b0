/* SPDX-License-Identifier: MIT */
/* job.h: what the steps of carom-mpi share. A search is one of src/parts whose shards are ranks. */
#ifndef CAROM_MPI_JOB_H
#define CAROM_MPI_JOB_H

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "carom/carom.h"
#include "parts/parts.h"

/* Exit codes, as those of carom: misuse, a bad input, a failure of the machine. */
enum { RANKS_EXIT_MISUSE = 2, RANKS_EXIT_INPUT = 3, RANKS_EXIT_MACHINE = 4 };

#define RANKS_ID_BYTES 4u /* of a face, before its nine coordinates: a record */

typedef struct ranks_job {
    int rank, ranks;
    carom_context *context;
    const char *paths[2], *output;
    int inputs;
    carom_parts_def def;
    MPI_File files[2];
    parts_job parts;
    parts_cut shares, own; /* which rank has a node; the parts of this one */
    uint64_t all_faces[2], copies, copied_bytes, cut_bytes, read, sent;
    uint64_t *pairs; /* a << 32 | b, sorted */
    uint64_t pair_count, pair_room;
} ranks_job;

/* Ends all ranks with a message of this one. */
__attribute__((noreturn, format(printf, 3, 4))) void ranks_die(const ranks_job *job, int code,
                                                               const char *format, ...);
/* calloc that does not fail; `what` is for the message. */
void *ranks_take(const ranks_job *job, uint64_t count, uint64_t size, const char *what);
void ranks_check(const ranks_job *job, carom_status status);
void ranks_check_io(const ranks_job *job, int code, const char *path, const char *what);

/* Sends counts[r] items to each rank r, in the order in which they lie. Returns what came, ordered
 * by sender; *received is how many. */
void *ranks_exchange(ranks_job *job, const void *items, const uint64_t *counts, uint64_t size,
                     uint64_t *received);

/* The first of a rank's share of `count`, at most 2^33 or so; that of the next is its end. */
static inline uint64_t ranks_share(const ranks_job *job, uint64_t count, int rank) {
    return count * (uint64_t)rank / (uint64_t)job->ranks;
}

/* Finds the pairs that are this rank's own (search.c), and writes those of all (write.c). */
void ranks_search(ranks_job *job);
void ranks_write(ranks_job *job);
/* Writes the clash report of a scene and ends MPI (scene.c); an exit code. */
int ranks_scene(ranks_job *job, int count, char **words);

#endif
