/* SPDX-License-Identifier: MIT */
/* bench.h: contenders measured side by side.
 *
 * The machines are shared and noisy, so contenders take turns, round by round, and the medians are
 * compared: read the ratios, not the milliseconds. Where others keep the machine busy, a long run
 * is interrupted and a short one may slip through, so wall time favours the quicker contender:
 * processor time, taken as well, does not. Who works between two frames of a picture needs the
 * slow rounds too: the maximum, and the 99.9th percentile where there are enough rounds for it. */
#ifndef CAROM_BENCH_BENCH_H
#define CAROM_BENCH_BENCH_H

#include "carom/carom.h"
#include "cli/platform.h"

#define BENCH_MOST_CONTENDERS 12
#define BENCH_MOST_ROWS       512
#define BENCH_MOST_NOTES      512
#define BENCH_MOST_ROUNDS     100000
#define BENCH_TAIL_ROUNDS     1000 /* fewer say nothing about one run in a thousand */

/* One row of the result. */
typedef struct bench_row {
    const char *group, *contender;
    char job[64];
    uint32_t rounds;
    double items;          /* what one run handles */
    double seconds;        /* median of the rounds */
    double most_seconds;   /* of one round */
    double tail_seconds;   /* 99.9th percentile; NaN with fewer than BENCH_TAIL_ROUNDS rounds */
    double cpu_seconds;    /* median of processor time, all threads together; NaN: not known */
    double device_seconds; /* median of the time on a device; NaN where none was used */
    double items_per_second;
    double ratio, cpu_ratio; /* to the first contender's */
    bool wrong;              /* the answer differed */
    const char *series;      /* of a growth curve; NULL: none */
    double size;             /* of the input, in such a series */
} bench_row;

typedef struct bench {
    bool quick;                                       /* smaller inputs, fewer rounds */
    uint32_t rounds;                                  /* 0: the default */
    const carom_context_def *def;                     /* of contexts the benchmarks make */
    void (*on_row)(void *user, const bench_row *row); /* called as rows come in; or NULL */
    void (*on_note)(void *user, const char *text);    /* the same for notes */
    void *user;
    const char *group;  /* the one running */
    const char *series; /* of the next comparison, and its size */
    double size;
    bench_row rows[BENCH_MOST_ROWS];
    uint32_t row_count;
    char notes[BENCH_MOST_NOTES][200];
    uint32_t note_count;
} bench;

/* `prepare` is not timed and may be NULL; `run` is timed and returns false when its answer is
 * wrong: then the row says so. */
typedef struct bench_contender {
    const char *name;
    void (*prepare)(void *input);
    bool (*run)(void *input);
    void *input;
} bench_contender;

/* Processor time of the calling thread, in seconds. */
double bench_thread_time(void);

/* Adds time that a device has worked, as its own clock says, to the run that calls this. */
void bench_add_device_seconds(double seconds);

/* Measures and reports one row per contender. `items` is what one run handles. */
void bench_compare(bench *bench, const char *job, double items, const bench_contender *contenders,
                   uint32_t count);

/* Reports a row that was measured by other means, or printed in a paper: one number, no processor
 * time. Ratios are to the first of its job. */
void bench_add_row(bench *bench, const char *job, double items, const char *contender,
                   double seconds);

/* Makes the next comparison a point of a growth curve, which is drawn over the sizes of a series.
 * `series` is a name that outlives the benchmark. */
void bench_at_size(bench *bench, const char *series, double size);

/* Says something about the rows above: counts, how a peer was built, in what an answer differed. */
PLATFORM_PRINTF(2, 3) void bench_note(bench *bench, const char *format, ...);

/* Each is defined as `const bench_group bench_X` in a file bench_X.c; the build finds it there. */
typedef struct bench_group {
    int order; /* position in the list; the build reads it (cmake/lists.cmake) */
    const char *name, *what;
    void (*run)(bench *bench);
} bench_group;

extern const bench_group *const bench_groups[]; /* ended by NULL */

/* Runs one group. */
void bench_run(bench *bench, const bench_group *group);

/* A peer from the module bench/peers, or NULL when that was not built or lacks it. `symbol` names
 * the function; each is declared in bench/peers/peers.h. */
typedef void bench_peer_fn(void);
bench_peer_fn *bench_peer(const char *symbol);

#endif
