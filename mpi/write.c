/* SPDX-License-Identifier: MIT */
/* Writing: the pairs are sorted over all ranks by samples (Frazer and McKellar 1970), each rank
 * merges what it gets and writes its text where the texts of the ranks before it end. */
#include <inttypes.h>
#include <stdio.h>

#include "base/sort.h"
#include "job.h"

#define WRITE_SAMPLES 1024u               /* per rank and on average */
#define WRITE_AT_ONCE ((uint64_t)1 << 24) /* bytes of text */
#define WRITE_LINE    22u                 /* bytes of the longest line */

/* Where the ranks' pairs begin: ranks - 1 of them, from samples of all. */
static uint64_t *find_limits(ranks_job *job) {
    uint64_t total = job->pair_count, ranks = (uint64_t)job->ranks;
    MPI_Allreduce(MPI_IN_PLACE, &total, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    uint64_t step = total / (WRITE_SAMPLES * ranks) + 1;
    int own = (int)((job->pair_count + step - 1) / step), all = 0;
    uint64_t *mine = ranks_take(job, (uint64_t)own, sizeof(*mine), "samples");
    int *counts = ranks_take(job, ranks, sizeof(*counts), "samples");
    int *at = ranks_take(job, ranks, sizeof(*at), "samples");
    for (int s = 0; s < own; ++s) mine[s] = job->pairs[(uint64_t)s * step];
    MPI_Allgather(&own, 1, MPI_INT, counts, 1, MPI_INT, MPI_COMM_WORLD);
    for (uint64_t r = 0; r < ranks; ++r) {
        at[r] = all;
        all += counts[r];
    }
    uint64_t *keys = ranks_take(job, (uint64_t)all, sizeof(*keys), "samples");
    uint64_t *limits = ranks_take(job, ranks, sizeof(*limits), "samples");
    MPI_Allgatherv(mine, own, MPI_UINT64_T, keys, counts, at, MPI_UINT64_T, MPI_COMM_WORLD);
    job->sent += (uint64_t)own * sizeof(*mine);
    ranks_check(job, carom_sort_words(job->context, keys, (uint64_t)all, 0, 64));
    for (int r = 1; r < job->ranks; ++r)
        limits[r - 1] = all != 0 ? keys[ranks_share(job, (uint64_t)all, r)] : 0;
    free(mine);
    free(counts);
    free(at);
    free(keys);
    return limits;
}

/* Has each rank hold a run of the whole list. Every pair is in one rank's list. */
static void sort_all(ranks_job *job) {
    uint64_t *limits = find_limits(job), i = 0, received;
    uint64_t *counts = ranks_take(job, (uint64_t)job->ranks, sizeof(*counts), "counts");
    for (int r = 0; r < job->ranks; ++r)
        for (; i < job->pair_count && (r == job->ranks - 1 || job->pairs[i] < limits[r]); ++i)
            ++counts[r];
    uint64_t *mine = ranks_exchange(job, job->pairs, counts, sizeof(*mine), &received);
    free(job->pairs);
    free(limits);
    free(counts);
    ranks_check(job, carom_sort_words(job->context, mine, received, 0, 64));
    job->pairs = mine;
    job->pair_count = received;
}

static char *put_number(char *to, uint32_t number) {
    char digits[10];
    int n = 0;
    do digits[n++] = (char)('0' + number % 10);
    while ((number /= 10) != 0);
    while (n > 0) *to++ = digits[--n];
    return to;
}

static char *put_line(char *to, uint64_t pair) {
    to = put_number(to, (uint32_t)(pair >> 32));
    *to++ = ',';
    to = put_number(to, (uint32_t)pair);
    *to++ = '\n';
    return to;
}

static void write_at(ranks_job *job, MPI_File file, const char *path, uint64_t at, const char *text,
                     uint64_t size) {
    MPI_Status status;
    int put = 0;
    int code = MPI_File_write_at(file, (MPI_Offset)at, text, (int)size, MPI_BYTE, &status);
    ranks_check_io(job, code, path, "cannot be written");
    MPI_Get_count(&status, MPI_BYTE, &put);
    if ((uint64_t)put != size)
        ranks_die(job, RANKS_EXIT_MACHINE, "%s: cannot grow: disk full?", path);
}

void ranks_write(ranks_job *job) {
    char path[4096], line[WRITE_LINE];
    uint64_t bytes = 0, at = 0, filled = 0;
    MPI_File file;
    sort_all(job);
    snprintf(path, sizeof(path), "%s.part", job->output); /* no part of a list has its name */
    for (uint64_t i = 0; i < job->pair_count; ++i)
        bytes += (uint64_t)(put_line(line, job->pairs[i]) - line);
    MPI_Exscan(&bytes, &at, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    if (job->rank == 0) at = 0; /* undefined there */
    int code = MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL,
                             &file);
    ranks_check_io(job, code, path, "cannot be made");
    ranks_check_io(job, MPI_File_set_size(file, 0), path, "cannot be emptied");
    char *text = ranks_take(job, WRITE_AT_ONCE, 1, "text");
    for (uint64_t i = 0; i < job->pair_count; ++i) {
        filled = (uint64_t)(put_line(text + filled, job->pairs[i]) - text);
        if (filled + WRITE_LINE <= WRITE_AT_ONCE && i + 1 < job->pair_count) continue;
        write_at(job, file, path, at, text, filled);
        at += filled;
        filled = 0;
    }
    free(text);
    ranks_check_io(job, MPI_File_close(&file), path, "cannot be closed");
    if (job->rank == 0 && rename(path, job->output) != 0)
        ranks_die(job, RANKS_EXIT_MACHINE, "%s: cannot be renamed to %s", path, job->output);
    MPI_Barrier(MPI_COMM_WORLD);
}
