/* SPDX-License-Identifier: MIT */
/* gas.h: collisions of many moving spheres, in order, none missed.
 *
 *   carom_gas_create(context, &def, &gas);                        input, prepare
 *   carom_gas_next(context, gas, until, &event);                  the next event, or
 *   carom_gas_advance(context, gas, until, on_event, user);       all up to a time
 *   carom_gas_list_spheres(context, gas, &spheres);                result: all spheres now
 *
 * Spheres move freely (with one constant acceleration for all) inside the box [0, edges], whose
 * sides reflect or are periodic, and collide with each other. Time is counted in ticks, a power of
 * two of the caller's unit of time; every event happens at a tick. Events are ordered by (time,
 * kind, a, b). The events and their order are, bit for bit, those of a simulator that tests all
 * pairs after every event. They do not depend on the cells, on the queue, or on how many calls the
 * run is split into.
 */
#ifndef CAROM_GAS_H
#define CAROM_GAS_H

#include "carom/geom.h"
#include "carom/result.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Input ----------------------------------------------------------------------------------- */

/* A moving sphere. */
typedef struct carom_gas_sphere {
    carom_vec3 position; /* where sides reflect, the whole sphere must be in the box; elsewhere
                            anywhere */
    carom_vec3 velocity; /* up to 1e60 along each axis */
    double radius;       /* 1e-60 or more; of any ratio to others */
    double mass;         /* 0: 1; else from 1e-100 to 1e100 */
} carom_gas_sphere;

CAROM_RESULT_ARRAY(carom_gas_spheres, carom_gas_sphere);

/* Kinds of events. */
typedef enum carom_gas_event_kind {
    CAROM_GAS_EVENT_KIND_PAIR = 0, /* a < b are the two spheres */
    CAROM_GAS_EVENT_KIND_WALL =
        1, /* a is the sphere, b the side: 0, 1 low and high x; 2, 3 y; 4, 5 z */
    CAROM_GAS_EVENT_KIND_NONE = 2, /* no event up to the time given */
    CAROM_GAS_EVENT_KIND_COUNT
} carom_gas_event_kind;

/* "pair", "wall", "none". */
CAROM_API const char *carom_gas_event_kind_name(carom_gas_event_kind kind);
CAROM_API bool carom_gas_event_kind_from_name(const char *name, carom_gas_event_kind *kind);

/* One collision. */
typedef struct carom_gas_event {
    double time;
    carom_gas_event_kind kind;
    uint32_t a, b;
    uint64_t index; /* events before this one since create */
} carom_gas_event;

/* A collision response of the caller: reads the event, sets the velocities. The spheres are in the
 * positions where they touch, b in the periodic image that touches a; b may be NULL: at a wall.
 * `normal` is the unit vector from a to b, or into the wall. Only the velocities are read back. */
typedef void carom_gas_response_fn(void *user, const carom_gas_event *event,
                                   const carom_vec3 *normal, carom_gas_sphere *a,
                                   carom_gas_sphere *b);

/* How candidate pairs are found. All give the same events. */
typedef enum carom_gas_method {
    CAROM_GAS_METHOD_AUTO = 0, /* chosen by packing fraction */
    CAROM_GAS_METHOD_CENTRE,   /* a sphere is in one cell, that of its centre or an adjacent one; 27
                                  are searched. Where radii are very different there are cells of
                                  several sizes, each twice the next smaller one or more */
    CAROM_GAS_METHOD_EXTENT, /* a sphere is in every cell it meets (Kim, Guibas, Shin 1997); CENTRE
                                where a periodic box is less than two cells wide, or the largest
                                radius is more than ten times the smallest */
    CAROM_GAS_METHOD_NEIGHBOURS, /* a neighbour list per sphere, rebuilt when the sphere has moved
                                    too far; CENTRE where radii are below 1e-15, an edge is above
                                    1e18, or the largest radius is more than ten times the smallest
                                  */
    CAROM_GAS_METHOD_COUNT
} carom_gas_method;

/* "auto", "centre", "extent", "neighbours". */
CAROM_API const char *carom_gas_method_name(carom_gas_method method);
CAROM_API bool carom_gas_method_from_name(const char *name, carom_gas_method *method);

/* How the next event is found. All give the same events. */
typedef enum carom_gas_queue {
    CAROM_GAS_QUEUE_CALENDAR = 0, /* buckets of time: O(1) amortised */
    CAROM_GAS_QUEUE_TREE,         /* a binary tree of all spheres: O(log n) */
    CAROM_GAS_QUEUE_COUNT
} carom_gas_queue;

/* "calendar", "tree". */
CAROM_API const char *carom_gas_queue_name(carom_gas_queue queue);
CAROM_API bool carom_gas_queue_from_name(const char *name, carom_gas_queue *queue);

/* The box, the laws of motion, and how events are found. */
typedef struct carom_gas_def {
    const carom_gas_sphere *spheres; /* copied; sphere i has the id i */
    uint64_t sphere_count;
    carom_vec3 edges;        /* of the box; each at least twice the largest radius (a little more
                                where periodic), from 1e-60 to 1e60, and at most 1e15 times the
                                smallest radius */
    bool periodic[3];        /* false: both sides of that axis reflect */
    carom_vec3 acceleration; /* of every sphere */
    double loss;             /* 1 - restitution between spheres, in [0, 1]; 0: elastic */
    double wall_loss;        /* the same at walls */
    double elastic_below;    /* collisions at a lower normal speed are elastic; 0: none are. Keeps
                                inelastic spheres from colliding infinitely often */
    carom_gas_response_fn *response; /* NULL: by the losses above */
    void *response_user;
    carom_gas_method method;
    carom_gas_queue queue;
    double
        cell_edge; /* 0: chosen by the method; else the least edge of a cell, or about that of the
                         smallest cells where there are several sizes */
    double cutoff; /* radius of neighbour lists, in diameters; 0: chosen by packing fraction */
    double tick;   /* 0: chosen from radii and speeds; else rounded to a power of two. No sphere
                         may move by more than a millionth of the smallest radius in one tick, also
                         after falling through the box. From 1e-70 to 1e40 smallest radii; time ends
                         at 2^103 ticks */
} carom_gas_def;

/* ---- Prepare --------------------------------------------------------------------------------- */

/* Owns the spheres, their cells and the event queue. Serves one thread at a time. */
typedef struct carom_gas carom_gas;

/* Creates a gas. On failure *gas is NULL. Reports progress.
 * CAROM_BAD_INPUT:
 * - a number is not finite or beyond the limits above: choose other units then;
 * - a sphere extends beyond a reflecting side, or is too fast for the tick;
 * - two spheres overlap by more than 1e-9 of the sum of their radii (touching is allowed).
 *
 * Cost: O(n); some 200 to 335 bytes per sphere. */
CAROM_API carom_status carom_gas_create(carom_context *context, const carom_gas_def *def,
                                        carom_gas **gas);
/* NULL is fine. */
CAROM_API void carom_gas_destroy(carom_gas *gas);

/* Adds spheres at the present time; ids (may be NULL) receives their ids, the next unused ones. The
 * spheres are checked as by create.
 * If add, set or remove fails or is cancelled, the gas and its future events are unchanged: the
 * change is made on a copy, which needs memory. All three report progress. O(n). */
CAROM_API carom_status carom_gas_add(carom_context *context, carom_gas *gas,
                                     const carom_gas_sphere *spheres, uint64_t count,
                                     uint32_t *ids);

/* Sets the state of the spheres with these ids at the present time; removed ids are in use again.
 * The spheres are checked as by create. O(n). */
CAROM_API carom_status carom_gas_set(carom_context *context, carom_gas *gas, const uint32_t *ids,
                                     const carom_gas_sphere *spheres, uint64_t count);

/* Removes the spheres with these ids. O(n). */
CAROM_API carom_status carom_gas_remove(carom_context *context, carom_gas *gas, const uint32_t *ids,
                                        uint64_t count);

/* ---- Query: advance in time ------------------------------------------------------------------ */

/* Called after each event, in order, on the thread of the call, with the gas in the state right
 * after it. Return true to stop there. It must not change the gas. */
typedef bool carom_gas_event_fn(void *user, const carom_gas_event *event);

/* Advances to the next event, if that comes at or before `until`; else to `until`, with kind
 * CAROM_GAS_EVENT_KIND_NONE. `until` must be finite; beyond 2^103 ticks it is CAROM_BAD_INPUT when
 * no event comes before. A gas at rest reaches any time at once. CAROM_UNSUPPORTED, from next and
 * advance; the gas stays at the time it has reached:
 * - after an inelastic collapse: a sphere collided 65,536 times without time passing (also one that
 *   lies still on a wall that it is accelerated towards);
 * - when a sphere has become too fast for the tick, by an acceleration along a periodic axis or by
 *   collisions with far heavier ones: each of its events returns this status and still happens;
 * - when nothing has happened for 2^67 ticks or more, and some half a second of computing: the tick
 *   is too small. Calling again continues. */
CAROM_API carom_status carom_gas_next(carom_context *context, carom_gas *gas, double until,
                                      carom_gas_event *event);

/* Advances to `until` (or to the event at which on_event returned true), which is at most 2^103
 * ticks. on_event may be NULL. When cancelled, or after a failure, the gas stays at its last event
 * and can be advanced again.
 *
 * From 20,000 spheres on, all threads of the context take part where the gas's response is NULL,
 * the queue is the calendar, the method is not EXTENT and there are cells of one size. Events,
 * states and measurements are, bit for bit, those of one thread; only `crossings` and
 * `predictions`, which count work, depend on the threads. A call starts on one thread, so that
 * short ones pay nothing. Takes some 60 to 80 bytes more per sphere meanwhile.
 * Cost: amortised O(1) per event with the default queue. Allocates only when the queue needs more
 * capacity than ever before. */
CAROM_API carom_status carom_gas_advance(carom_context *context, carom_gas *gas, double until,
                                         carom_gas_event_fn *on_event, void *user);

/* ---- Result ---------------------------------------------------------------------------------- */

/* Returns the time that the gas has reached. */
CAROM_API double carom_gas_get_time(const carom_gas *gas);

/* Gets all present spheres now, in the order of their ids, positions inside the box. */
CAROM_API carom_status carom_gas_list_spheres(carom_context *context, const carom_gas *gas,
                                              carom_gas_spheres *spheres);

/* Gets one sphere now; CAROM_BAD_INPUT when there is no sphere with this id. */
CAROM_API carom_status carom_gas_find_sphere(carom_context *context, const carom_gas *gas,
                                             uint32_t id, carom_gas_sphere *sphere);

/* Measurements since create or carom_gas_reset_measures. */
typedef struct carom_gas_measures {
    double time;         /* passed since then */
    uint64_t spheres;    /* present now */
    uint64_t collisions; /* of two spheres */
    uint64_t wall_hits;
    uint64_t crossings;      /* cells entered or left, neighbour lists rebuilt: depends on the
                                method and the threads */
    uint64_t predictions;    /* searches for a sphere's next event: as above */
    double energy;           /* kinetic, now */
    carom_vec3 momentum;     /* now */
    double mean_speed;       /* now */
    double virial;           /* sum over collisions of distance times momentum exchanged */
    double z;                /* compressibility factor 1 + virial / (2 energy time); NaN where a
                                side reflects, time has not passed or nothing moves. All other
                                values are finite except mean_free_path */
    double collision_rate;   /* collisions a sphere takes part in, per unit of time */
    double mean_free_path;   /* mean speed now / collision rate; infinite without collisions */
    double packing_fraction; /* volume of the spheres / volume of the box */
} carom_gas_measures;

/* Gets the measurements. */
CAROM_API carom_status carom_gas_measure(carom_context *context, const carom_gas *gas,
                                         carom_gas_measures *measures);
/* Starts the measurements anew, at the present time. */
CAROM_API carom_status carom_gas_reset_measures(carom_context *context, carom_gas *gas);

/* Measures the deepest overlap of any two spheres, or of a sphere and a reflecting side, now,
 * relative to the sum of the two radii; 0 when there is none. Uses only positions, and cells of its
 * own. Reports progress. O(n). */
CAROM_API carom_status carom_gas_overlap(carom_context *context, const carom_gas *gas,
                                         double *overlap);

/* Counts the pairs of spheres by the present distance of their centres, for the radial distribution
 * function. weights[k] receives the pairs from k to k + 1 steps apart, for each k below `count`,
 * which is from 1 to a million.
 *
 * - Along periodic axes the nearest images count.
 * - Between walls a pair has the weight 1 / (1 - |d| / L) for each axis that is not periodic, with
 *   d its separation along the axis and L the edge less the diameter of the smallest sphere (the
 *   translation correction of Ohser and Stoyan). Otherwise weights are whole numbers.
 * - CAROM_BAD_INPUT where the last step ends beyond half an edge, or beyond L / 2.
 *
 * Runs on all threads; the weights do not depend on them. Reports progress. Cost: the pairs within
 * the range, and about half as many beyond it. */
CAROM_EXPERIMENTAL CAROM_API carom_status carom_gas_count_distances(carom_context *context,
                                                                    const carom_gas *gas,
                                                                    double step, double *weights,
                                                                    uint64_t count);

/* What the choices of the def came to. */
typedef struct carom_gas_info {
    carom_gas_method method; /* never AUTO */
    carom_gas_queue queue;
    uint32_t cells[3]; /* the smallest ones */
    double cell_edge;  /* the least of the three */
    double model_edge; /* cell edge by the equation of the 1997 paper for these spheres */
    double cutoff;     /* of neighbour lists, or 0 */
    double tick;
    uint64_t bytes; /* held by the gas */
    carom_vec3 edges;
    bool periodic[3];
    /* What the threads have done, since create. */
    uint32_t threads_used; /* in the last call of carom_gas_advance; 0: there was none */
    uint64_t windows;      /* spans of time in which several threads took part */
    uint64_t undone;       /* windows that were undone, and done again on one thread */
    double held_share;     /* of the work in windows: not done by the first pass of threads */
    double serial_share;   /* of the work in windows: done on one thread */
} carom_gas_info;

/* Gets what the choices of the def came to. */
CAROM_API carom_status carom_gas_get_info(const carom_gas *gas, carom_gas_info *info);

/* ---- Files ----------------------------------------------------------------------------------- */

/* How a gas is stored. */
typedef enum carom_gas_format {
    CAROM_GAS_FORMAT_GUESS = 0, /* the only one there is */
    CAROM_GAS_FORMAT_CAROM,     /* the complete state, all bits */
    CAROM_GAS_FORMAT_COUNT
} carom_gas_format;

/* "guess", "carom". */
CAROM_API const char *carom_gas_format_name(carom_gas_format format);
CAROM_API bool carom_gas_format_from_name(const char *name, carom_gas_format *format);

/* Writes the complete state of the gas, measures included. A loaded gas gives, bit for bit, the
 * events that the saved gas would have given. The file is written under a temporary name beside its
 * final one and renamed when complete: on any failure, such as a full disk, and when cancelled, an
 * older file stays. Not compressed: a name that ends in .gz is CAROM_UNSUPPORTED. Reports progress.
 */
CAROM_API carom_status carom_gas_save(carom_context *context, const carom_gas *gas,
                                      carom_gas_format format, const char *path);

/* The same into memory. */
CAROM_API carom_status carom_gas_save_memory(carom_context *context, const carom_gas *gas,
                                             carom_gas_format format, carom_bytes *bytes);

/* Reads a gas that carom_gas_save has written. `def` may be NULL; else its response, method, queue,
 * cell_edge and cutoff replace the saved ones (a response is never saved). CAROM_BAD_FILE, with the
 * file's name, for a file that carom_gas_save cannot have written. Reports progress. */
CAROM_API carom_status carom_gas_load(carom_context *context, const char *path,
                                      carom_gas_format format, const carom_gas_def *def,
                                      carom_gas **gas);

/* The same from bytes in memory. `name` stands for the file in messages, and may be NULL. */
CAROM_API carom_status carom_gas_load_memory(carom_context *context, const void *bytes,
                                             uint64_t size, carom_gas_format format,
                                             const char *name, const carom_gas_def *def,
                                             carom_gas **gas);

#ifdef __cplusplus
}
#endif

#endif
