/* SPDX-License-Identifier: MIT */
/* impacts.h: the search for vertices and faces, and for edges, that come near each other while
 * all vertices move along straight lines; for impacts, distances and safe steps. */
#ifndef CAROM_SRC_IMPACTS_IMPACTS_H
#define CAROM_SRC_IMPACTS_IMPACTS_H

#include "carom/soup_motion.h"
#include "geom/toi_cpu.h"
#include "impacts/impacts_device.h"

typedef struct carom_impacts_query carom_impacts_query;

/* Decides a vertex and a face, or two edges, given as for carom_toi_of: whether it is part of the
 * result, and an interval. Returns false if that took integers. */
typedef bool carom_impacts_decide_fn(const carom_impacts_query *query, const carom_vec3 *start,
                                     const carom_vec3 *end, int edges, carom_toi *found);

/* The same for `count` of one kind, at most CAROM_TOI_COLUMNS. Returns how many took integers. */
typedef uint32_t carom_impacts_decide_many_fn(const carom_impacts_query *query,
                                              const carom_toi_columns *motions, uint32_t count,
                                              int edges, carom_toi *found);

struct carom_impacts_query {
    carom_context *context;
    const carom_soup *a, *b;              /* b is NULL for one soup */
    const carom_mesh_view *end_a, *end_b; /* NULL: at rest */
    const carom_pose *pose_a, *pose_b;    /* of soups at rest */
    const char *what;                     /* the phase of progress */
    const char *whose_result;             /* for messages: "a search for impacts" */
    carom_impacts_decide_fn *decide;
    carom_impacts_decide_many_fn *decide_many; /* NULL: one after the other */
    carom_device_impacts_task task;            /* what `decide` does, for the GPU */
    /* Candidates are all that come within reach. false: only those that may meet. */
    bool near;
    double reach;   /* with `near`: not negative */
    double largest; /* set by the search: coordinate of any vertex at any time; 0 unless `near` */
};

/* Copies an impact to the caller, with the padding cleared: results are compared by bytes. */
void carom_impacts_pass(const carom_soup_impact *from, carom_soup_impact *to);

/* What the search passes on, in the order of results: `begin` the number, of which *writable are
 * wanted, then `put` each, from any thread. `time` is the interval that `decide` found. */
typedef struct carom_impacts_receiver {
    carom_status (*begin)(void *user, uint64_t count, uint64_t *writable);
    void (*put)(void *user, uint64_t at, const carom_soup_impact *impact);
    void *user;
} carom_impacts_receiver;

/* Passes on all that `decide` accepts, sorted by kind, then by faces. */
carom_status carom_impacts_find_all(carom_impacts_query *query,
                                    const carom_impacts_receiver *receiver);

/* How a task decides. */
carom_impacts_decide_fn *carom_impacts_decider(carom_device_impacts_task task);
extern carom_impacts_decide_fn carom_impacts_decide_meet, carom_impacts_decide_near,
    carom_impacts_decide_step;

/* CAROM_OK, or why what is near cannot be found with this reach and minimum. */
carom_status carom_impacts_near_check(carom_context *context, double reach, double minimum);

/* The searches of a context of backend cuda. Results of the first are in device memory, until the
 * next search. */
carom_status carom_impacts_device_all(carom_impacts_query *query, carom_cuda_impacts *found);
carom_status carom_impacts_device_first(carom_impacts_query *query, carom_soup_impact *first);

/* Finds the one with the least time.lower, the first of several; time.upper is the least of all.
 * Its kind is NONE where there is none. */
carom_status carom_impacts_find_first(carom_impacts_query *query, carom_soup_impact *first);

#endif
