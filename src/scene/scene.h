/* SPDX-License-Identifier: MIT */
/* scene.h: the members of a scene, and the steps that its files share.
 *
 *   objects, by id  --broad-->  pairs of boxes  --narrow-->  contacts, kept by pair
 *
 * A pair of boxes is kept as a small record; if it is in contact, its contact is in a slot of a
 * pool, which stays where it is while the pair lives. What an earlier step learned is used to rule
 * out contacts only, by proof: the answer of a pair depends on its two objects alone. */
#ifndef CAROM_SRC_SCENE_SCENE_H
#define CAROM_SRC_SCENE_SCENE_H

#include "base/array.h"
#include "base/context.h"
#include "carom/scene.h"
#include "geom/length.h"
#include "geom/pose.h"
#include "scene/scene_cpu.h"
#include "scene/scene_device.h"
#include "scene/scene_item.h"

CAROM_RESULT_FILL(carom_scene_contacts);

/* States of an object. */
#define CAROM_SCENE_LIVE    1u
#define CAROM_SCENE_CHANGED 2u /* since the last step */
#define CAROM_SCENE_NEW     4u /* added since the last step */
#define CAROM_SCENE_CONVEX  8u /* its kind; neither: a mesh */
#define CAROM_SCENE_PACKING 16u

#define CAROM_SCENE_NO_SLOT UINT32_MAX

/* The largest coordinate, in the caller's unit, as in convex.h: products with a unit vector and
 * sums of a few are finite. */
#define CAROM_SCENE_MOST_COORDINATE 1e300

/* Flags of a pair. */
#define CAROM_SCENE_CONTACT 1u /* in contact; has a slot */
#define CAROM_SCENE_PENDING 2u /* during a step: its answer must be found anew */
#define CAROM_SCENE_WAS     4u /* during a step: was in contact after the last one */

typedef struct carom_scene_pair {
    uint32_t a, b; /* ids, a < b */
    uint32_t slot; /* of its contact; CAROM_SCENE_NO_SLOT: none */
    uint32_t flags;
    carom_vec3 direction; /* in which the two were apart when last tested; 0: not known */
} carom_scene_pair;

CAROM_ARRAY(carom_scene_pairs, carom_scene_pair);
CAROM_ARRAY(carom_scene_pool, carom_scene_contact);
CAROM_ARRAY(carom_scene_ids, uint32_t);
CAROM_ARRAY(carom_scene_states, uint8_t);
CAROM_ARRAY(carom_scene_words, uint64_t);

/* On the GPU: the triangles of a solid, which objects of the scene borrow, as a soup there. */
typedef struct carom_scene_twin {
    const carom_solid *solid;
    carom_soup *soup;
    uint64_t uses; /* objects */
} carom_scene_twin;

CAROM_ARRAY(carom_scene_twins, carom_scene_twin);

struct carom_scene {
    carom_allocator allocator;
    double reach;
    bool skip_depth, least_depth;
    bool stale; /* changed since the last update or step */
    carom_broad *broad;
    carom_scene_object *objects; /* by id, which is that of the box in `broad` */
    uint64_t capacity;
    carom_scene_states states; /* by id: CAROM_SCENE_LIVE ..., as small as what steps read of all
                                  objects should be */
    uint32_t id_count, live;
    carom_scene_ids changed;   /* ids with that state */
    carom_scene_words ignored; /* a << 32 | b, sorted */

    /* The last step: its pairs, sorted, without those of two boxes farther apart than the reach.
     * `next` is where those of a step are made. */
    carom_scene_pairs kept, next;
    carom_scene_pool pool;
    carom_scene_ids free_slots;
    carom_pairs faces; /* for pairs of meshes, kept for reuse */
    carom_soup_segments segments;
    uint64_t pairs, contacts, tested; /* of the last step: pairs of boxes ... */

    /* On a context of backend cuda: objects in device memory, whose `changed` are those that have
     * to be copied there. There are no records, and `broad` has no boxes of its own. */
    carom_device_scene *device;
    carom_scene_twins twins;
    uint32_t mesh_count;                          /* live soups and solids, of a scene on the GPU */
    bool poses_stale;                             /* moved in device memory since they were read */
    bool ignored_changed;                         /* since they were copied */
    bool device_queued;                           /* a step that is not taken up yet */
    carom_cuda_convex_results device_results;     /* of a step: of pairs of boxes; for the host: */
    carom_cuda_convex_manifolds device_manifolds; /* of convex objects and triangles */
    carom_cuda_scene_contacts device_contacts;
    carom_cuda_pairs device_begun, device_ended;
};

/* For tests and fuzzers, between two calls: NULL, or the first invariant that does not hold. O(n
 * log n). */
const char *carom_scene_validate(const carom_scene *scene);

static inline bool carom_scene_is_convex(const carom_scene_object *o) {
    return o->kind == CAROM_SCENE_OBJECT_KIND_CONVEX;
}

static inline bool carom_scene_is_mesh(const carom_scene_object *o) {
    return o->kind == CAROM_SCENE_OBJECT_KIND_SOUP || o->kind == CAROM_SCENE_OBJECT_KIND_SOLID;
}

static inline uint8_t carom_scene_kind_state(const carom_scene_object *o) {
    return carom_scene_is_convex(o) ? CAROM_SCENE_CONVEX
           : o->tree != NULL        ? CAROM_SCENE_PACKING
                                    : 0;
}

/* Whether a pair is tested on one worker (carom_scene_narrow_convex), beside others: by the states
 * of the two together. */
static inline bool carom_scene_is_light(uint32_t states) {
    return (states & (CAROM_SCENE_CONVEX | CAROM_SCENE_PACKING)) == CAROM_SCENE_CONVEX;
}

/* A contact point without features. */
static inline carom_convex_contact carom_scene_point(carom_vec3 a, carom_vec3 b, double depth) {
    return (carom_convex_contact){.point_a = a, .point_b = b, .depth = depth};
}

static inline uint32_t carom_scene_face_feature(uint32_t face) {
    return CAROM_CONVEX_FEATURE_FACE | (face & CAROM_CONVEX_FEATURE_INDEX);
}

static inline uint64_t carom_scene_key(uint32_t a, uint32_t b) {
    return a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
}

/* The object of a definition, with its box; checks it. `which` is for messages. */
carom_status carom_scene_object_make(carom_context *context, const carom_scene_object_def *def,
                                     const char *which, carom_scene_object *object);

/* The same for several, and their boxes for the broad phase. Callers' bugs return CAROM_INVALID. */
carom_status carom_scene_objects_make(carom_context *context, const carom_scene_object_def *defs,
                                      uint64_t count, double reach, carom_scene_object *objects,
                                      carom_bounds *boxes);

/* The box of an object in a frame. */
carom_bounds carom_scene_object_box(carom_context *context, const carom_scene_object *object,
                                    const carom_frame *frame);

/* Gives an object a pose, which is checked, and its box. */
void carom_scene_object_set_pose(carom_context *context, carom_scene_object *object,
                                 const carom_pose *pose);

/* ---- On the GPU: scene_device.c -------------------------------------------------------------- */

/* First of a change or a step: CAROM_OK where the scene was made on the context's backend; finishes
 * queued work. */
carom_status carom_scene_begin_change(carom_context *context, carom_scene *scene);
/* CAROM_OK where the scene was made on the context's backend. */
carom_status carom_scene_check_backend(carom_context *context, const carom_scene *scene);
/* CAROM_OK where, moreover, that is cpu. */
carom_status carom_scene_require_cpu(carom_context *context, const carom_scene *scene);

carom_status carom_scene_device_create(carom_context *context, const carom_scene_def *def,
                                       carom_scene *scene);
void carom_scene_device_release(carom_scene *scene);
/* Adds what is held on the device, and says what a step found that is not taken up yet. */
void carom_scene_device_info(const carom_scene *scene, carom_scene_info *info);
/* CAROM_UNSUPPORTED where an object cannot be in a scene on the GPU. */
carom_status carom_scene_device_check_new(carom_context *context,
                                          const carom_scene_object_def *objects, uint64_t count);
/* Gives solids that are added soups on the GPU, and takes these from what is removed. */
carom_status carom_scene_device_attach(carom_context *context, carom_scene *scene,
                                       carom_scene_object *objects, uint64_t count);
void carom_scene_device_detach(carom_scene *scene, const carom_scene_object *object);
/* carom_scene_step. */
carom_status carom_scene_device_step(carom_context *context, carom_scene *scene,
                                     carom_scene_contacts *contacts, carom_pairs *begun,
                                     carom_pairs *ended);

/* ---- Narrow phase: scene_narrow.c ------------------------------------------------------------ */

/* How pairs are tested. */
typedef struct carom_scene_question {
    carom_context *context;
    double reach;
    bool skip_depth, least_depth;
    carom_pairs *faces; /* of two meshes; kept for reuse */
    carom_soup_segments *segments;
    carom_scene *scene; /* of batches on the GPU */
} carom_scene_question;

/* Whether the boxes of two objects, given as the broad phase has them, are farther apart than the
 * reach, which proves that the objects are not in contact. */
bool carom_scene_is_far(const carom_bounds *a, const carom_bounds *b, double reach);

/* Whether the direction in which the two were apart, or 0, proves it. */
bool carom_scene_rule_out(const carom_scene_question *q, const carom_scene_object *a,
                          const carom_scene_object *b, carom_vec3 direction);

/* Answers a pair with a convex shape, on one worker. Sets *in_contact; where it is false, the
 * contact's normal is a direction in which the two are apart, or 0. Failures have no message. */
carom_status carom_scene_narrow_convex(const carom_scene_question *q, uint32_t worker,
                                       const carom_scene_object *a, const carom_scene_object *b,
                                       carom_scene_contact *contact, bool *in_contact);

/* Such a pair, and its answer. */
typedef struct carom_scene_test {
    const carom_scene_object *a, *b;
    carom_scene_contact *contact;
    bool in_contact;
} carom_scene_test;

/* Answers up to CAROM_SCENE_MOST_TESTS pairs as carom_scene_narrow_convex answers each, in less
 * time. */
#define CAROM_SCENE_MOST_TESTS 32u
carom_status carom_scene_narrow_tests(const carom_scene_question *q, uint32_t worker,
                                      carom_scene_test *tests, uint32_t count);

/* The answer for a convex shape, a, and a mesh, b, from those for each triangle near the shape, in
 * the order of the mesh's tree on the CPU; turned: the shape is b. */
typedef struct carom_scene_faces {
    carom_scene_contact *c;
    carom_convex_contact points[2 * CAROM_CONVEX_MOST_CONTACTS];
    bool in_contact;
    bool any; /* the contact holds a result */
} carom_scene_faces;
void carom_scene_faces_begin(carom_scene_faces *f, carom_scene_contact *contact);
void carom_scene_faces_take(carom_scene_faces *f, double reach, uint32_t triangle,
                            carom_convex_manifold *m);
void carom_scene_faces_end(carom_scene_faces *f, bool turned);

/* A triangle, posed. */
void carom_scene_triangle_make(const carom_triangle *t, carom_scene_triangle *f);

/* Appends the triangles near a shape in that order; the list is of the context's allocator. */
typedef struct carom_scene_listed {
    carom_scene_triangle hull;
    uint32_t triangle;
} carom_scene_listed;
CAROM_ARRAY(carom_scene_triangles, carom_scene_listed);
carom_status carom_scene_list_faces(const carom_scene_question *q, const carom_scene_object *shape,
                                    const carom_scene_object *mesh, carom_scene_triangles *list);

/* On the GPU: answers convex objects and triangles; waits. */
carom_status carom_scene_device_query_faces(carom_context *context, carom_scene *scene,
                                            const carom_device_scene_face *faces, uint32_t count,
                                            carom_convex_manifold *manifolds);

/* The rest of the answer for a convex shape and a solid whose faces it does not overlap: is the
 * shape inside? */
carom_status carom_scene_narrow_inside(const carom_scene_question *q, const carom_scene_object *a,
                                       const carom_scene_object *b, carom_scene_contact *contact,
                                       bool *in_contact);

/* The search for the depth of two meshes along one direction, for which b is moved along it. */
typedef struct carom_scene_along {
    carom_vec3 normal;
    double low, high; /* shifts: the two overlap at the one, and do not at the other */
    double at;        /* the next one to ask about */
    double guess;     /* while all shifts overlapped, the first one; or 0 */
    bool done;
} carom_scene_along;

/* What is known ahead of a pair of meshes, from a batch; NULL: not known. */
typedef struct carom_scene_ahead {
    const carom_solid_result *overlap; /* of two solids */
    const bool *meet;                  /* of others: whether faces meet */
    const carom_soup_gap *gap;         /* and, where none do, how far apart they are */
    const carom_scene_along *along;    /* of two solids: the first direction of their depth, done */
} carom_scene_ahead;

/* Answers a pair of meshes, on all threads. */
carom_status carom_scene_narrow_meshes(const carom_scene_question *q, const carom_scene_object *a,
                                       const carom_scene_object *b, const carom_scene_ahead *ahead,
                                       carom_scene_contact *contact, bool *in_contact);

/* On the GPU: answers pairs with a mesh in batches, as the CPU answers each: scene_batch.c. */
carom_status carom_scene_narrow_batch(const carom_scene_question *q, carom_scene_test *tests,
                                      uint64_t count);

/* Answers a pair that is not light: one of meshes, or one with a packing. */
carom_status carom_scene_narrow_heavy(const carom_scene_question *q, const carom_scene_object *a,
                                      const carom_scene_object *b, carom_scene_contact *contact,
                                      bool *in_contact);

/* The unit vector from the middle of a's box to that of b's; (1, 0, 0) where these are equal. */
carom_vec3 carom_scene_between(const carom_scene_object *a, const carom_scene_object *b);

/* Directions along which b may get out of a where there is no force: from a to b, as above, and the
 * axes of the world and their opposites. */
#define CAROM_SCENE_DIRECTIONS 7
void carom_scene_directions(const carom_scene_object *a, const carom_scene_object *b,
                            carom_vec3 *directions);

/* A list of unit vectors that differ. Initialise with {.count = 0}. */
#define CAROM_SCENE_MOST_CANDIDATES 48
typedef struct carom_scene_candidates {
    carom_vec3 data[CAROM_SCENE_MOST_CANDIDATES];
    uint32_t count;
} carom_scene_candidates;

/* Appends a direction of any length, unless it is 0, nearly one of the list, or one too many. */
void carom_scene_candidates_add(carom_scene_candidates *list, carom_vec3 direction);

/* Appends directions of two meshes: see scene_directions.c. `curve` is where they cross. */
void carom_scene_candidates_find(const carom_scene_object *a, const carom_scene_object *b,
                                 const carom_soup_segments *curve, carom_scene_candidates *list);

/* ---- Depth: scene_depth.c -------------------------------------------------------------------- */

/* A shift of b along a direction from which on the boxes of a and b are apart. */
double carom_scene_clearing_shift(const carom_scene_object *a, const carom_scene_object *b,
                                  carom_vec3 direction);

/* The direction of the force on b; where that is 0, that from a's centroid to b's; where these are
 * equal, (1, 0, 0). */
carom_vec3 carom_scene_out_of(const carom_scene_object *a, const carom_scene_object *b,
                              const carom_solid_result *overlap);

/* The first direction of a depth, and what an answer makes of it: whether the two overlap with b
 * moved by `at`. `overlap` is that of two solids, or NULL. */
void carom_scene_along_begin(const carom_scene_object *a, const carom_scene_object *b,
                             const carom_solid_result *overlap, carom_scene_along *s);
void carom_scene_along_take(carom_scene_along *s, bool overlaps);

/* Sets normal, depth, error and depth_bound of two meshes that overlap. `overlap` is that of two
 * solids; NULL: not both are, and q->segments is where faces meet. `ahead`: the first direction,
 * searched to its end, or NULL. */
carom_status carom_scene_find_depth(const carom_scene_question *q, const carom_scene_object *a,
                                    const carom_scene_object *b, const carom_solid_result *overlap,
                                    const carom_scene_along *ahead, carom_scene_contact *c);

/* Whether a soup is in what a solid encloses, where no faces of the two meet; false where that is
 * no solid. */
carom_status carom_scene_soup_inside(const carom_scene_question *q, const carom_scene_object *solid,
                                     const carom_scene_object *soup, bool *inside);

/* ---- Packings: scene_pack.c ------------------------------------------------------------------ */

/* The box of all covers, which contains the solid. */
carom_bounds carom_scene_packing_bounds(const carom_tree *tree);

/* Answers a pair with a packing. */
carom_status carom_scene_narrow_packing(const carom_scene_question *q, const carom_scene_object *a,
                                        const carom_scene_object *b, carom_scene_contact *contact,
                                        bool *in_contact);

/* The hit of a packing, but for its id. Workers may share the context. */
carom_status carom_scene_packing_closest_point(const carom_scene_object *o, carom_vec3 point,
                                               carom_hit *hit);
carom_status carom_scene_packing_ray(carom_context *context, const carom_scene_object *o,
                                     const carom_ray *ray, carom_hit *hit, bool *found);

#endif
