/* SPDX-License-Identifier: MIT */
/* scene.h: many objects of all kinds, and all contacts between them in one call.
 *
 *   carom_scene_create(context, NULL, &scene);
 *   carom_scene_add(context, scene, &(carom_scene_object_def){.convex = {...}}, 1, &id);   prepare
 *
 *   carom_scene_move(context, scene, ids, poses, count);               then, for each step: what
 *   carom_scene_step(context, scene, &contacts, &begun, &ended);       changed, and the contacts
 *
 * Two objects are in contact when they touch, overlap, or are at most the scene's reach apart.
 * Boxes around the objects find the pairs to be tested (broad.h); each pair is tested by the
 * engine of its kinds, and the contact says which. Only pairs of objects that changed are tested
 * again.
 *
 * The contacts of a step depend on the objects alone, not on what happened before: they are, bit
 * for bit, those of a new scene with the same objects. They are sorted by (a, b), and identical for
 * any number of threads and any instruction set.
 *
 * No object is replaced by its convex hull, and no pair is left out silently.
 */
#ifndef CAROM_SCENE_H
#define CAROM_SCENE_H

#include "carom/broad.h"
#include "carom/convex.h"
#include "carom/solid.h"
#include "carom/soup.h"
#include "carom/tree.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Input: objects -------------------------------------------------------------------------- */

/* What an object is. */
typedef enum carom_scene_object_kind {
    CAROM_SCENE_OBJECT_KIND_CONVEX = 0, /* a convex shape, which encloses space */
    CAROM_SCENE_OBJECT_KIND_SOUP,       /* faces, which enclose nothing */
    CAROM_SCENE_OBJECT_KIND_SOLID,      /* what a closed mesh encloses */
    CAROM_SCENE_OBJECT_KIND_PACKING, /* a solid that is known by its sphere packing, within bounds
                                      */
    CAROM_SCENE_OBJECT_KIND_COUNT
} carom_scene_object_kind;

/* "convex", "soup", "solid", "packing". */
CAROM_API const char *carom_scene_object_kind_name(carom_scene_object_kind kind);
CAROM_API bool carom_scene_object_kind_from_name(const char *name, carom_scene_object_kind *kind);

/* Several objects may borrow one hull, soup, solid or tree. What is borrowed must outlive the
 * object and must not change: after a change remove the object and add it again. */
typedef struct carom_scene_object_def {
    carom_scene_object_kind kind;
    carom_convex convex; /* of a convex object; copied, but its hull or function is borrowed */
    const carom_soup *borrowed_soup;   /* of a soup; not of method GRID */
    const carom_solid *borrowed_solid; /* of a solid; not a complement */
    carom_pose pose;
    carom_broad_filter filter;       /* which objects it may be in contact with; {0}: all */
    const carom_tree *borrowed_tree; /* of a packing: its tree (tree.h) */
} carom_scene_object_def;

/* ---- Prepare --------------------------------------------------------------------------------- */

/* What counts as a contact. */
typedef struct carom_scene_def {
    double reach;    /* objects at most this far apart are in contact, too; 0: those that meet */
    bool skip_depth; /* solids, packings and meshes that overlap get no depth, which takes some 25
                        further queries */
    carom_broad_accept_fn *accept; /* NULL: accepts all pairs; ids are those of objects */
    void *accept_user;
    bool least_depth; /* try other directions than that of the force, too, until one is proved to be
                         the best: up to fifty further queries */
} carom_scene_def;

/* Many objects, and the contacts of the last step. */
typedef struct carom_scene carom_scene;

/* Creates a scene without objects. On failure *scene is NULL.
 * - CAROM_BAD_INPUT: a reach that is negative, infinite or NaN.
 * - A scene made with a context of backend cuda has its steps there, with the same contacts.
 *   CAROM_UNSUPPORTED then: `accept`; packings, support functions, and what was made on the CPU;
 *   queries and carom_scene_commit. */
CAROM_API carom_status carom_scene_create(carom_context *context, const carom_scene_def *def,
                                          carom_scene **scene);

/* NULL is fine. */
CAROM_API void carom_scene_destroy(carom_scene *scene);

/* ---- Changes ------------------------------------------------------------------------------------
 *
 * Changes need exclusive use, and take effect at the next carom_scene_step or carom_scene_commit. A
 * change that fails has changed nothing. CAROM_BAD_INPUT: an id that is not that of an object; a
 * shape or pose that is not finite, or beyond 1e300; a packing beyond 2^200. */

/* Adds objects; ids has space for count and may be NULL. Ids never change while an object lives: 0,
 * 1, 2 ... in the order of adding. Those of removed objects are given out again after the next
 * step. Cost: O(vertices) for meshes. Memory: about 400 bytes per object. */
CAROM_API carom_status carom_scene_add(carom_context *context, carom_scene *scene,
                                       const carom_scene_object_def *objects, uint64_t count,
                                       uint32_t *ids);

/* Replaces the poses of objects: ids[i] gets poses[i]. NULL ids: the ids 0 to count - 1. Of an id
 * that is given several times, the last counts. */
CAROM_API carom_status carom_scene_move(carom_context *context, carom_scene *scene,
                                        const uint32_t *ids, const carom_pose *poses,
                                        uint64_t count);

/* Removes objects. An id must not be given twice. */
CAROM_API carom_status carom_scene_remove(carom_context *context, carom_scene *scene,
                                          const uint32_t *ids, uint64_t count);

/* Replaces the filters of objects: as carom_scene_move. NULL ids: the ids 0 to count - 1. */
CAROM_API carom_status carom_scene_set_filters(carom_context *context, carom_scene *scene,
                                               const uint32_t *ids,
                                               const carom_broad_filter *filters, uint64_t count);

/* Leaves pairs of objects out of the contacts, such as links of a robot that share a joint, or
 * takes them in again. The order within a pair does not matter. The pairs of these objects are
 * tested again. A pair is forgotten when one of its objects is removed. Cost: O(pairs left out). */
CAROM_API carom_status carom_scene_set_ignored(carom_context *context, carom_scene *scene,
                                               const carom_pair *pairs, uint64_t count,
                                               bool ignored);

/* ---- Step ------------------------------------------------------------------------------------ */

/* How a contact was found, and so what its numbers mean. */
typedef enum carom_scene_contact_method {
    /* Two convex shapes, as by carom_convex_contacts. */
    CAROM_SCENE_CONTACT_METHOD_CONVEX = 0,
    /* A convex shape and each triangle of a mesh, as by carom_convex_contacts. Relation, normal and
     * depth are those of the triangle that is deepest in the shape; overlapping includes a mesh
     * inside the shape. A shape in a solid that overlaps none of its triangles is inside: the
     * depth is then that of leaving through the nearest point of the surface, as if that were flat.
     */
    CAROM_SCENE_CONTACT_METHOD_CONVEX_FACES,
    /* The faces of two meshes, exactly. Touching: faces meet, but the insides of no two do.
     * Overlapping: the insides of two faces meet. Inside: no faces meet, and one mesh is a solid
     * with the other in it. The normal is the one with the least depth of up to fifty directions:
     * the axes of the world, that between the middles of the boxes, principal axes of both meshes
     * and of the curve in which they cross, normals of their largest faces. Moved by the depth
     * along the normal, b neither meets a nor is one inside the other; moved by depth - error, it
     * is in contact. There may be directions with a smaller depth. */
    CAROM_SCENE_CONTACT_METHOD_FACES,
    /* Two solids, as by carom_solid_overlap: relation and volume. The normal is the direction of
     * the force on b. Where that is 0, or with least_depth, it is the one with the least depth of
     * that, the direction from a's centroid to b's, the ways through the nearest walls, and the
     * directions of FACES; depth_bound says how much shorter another way could be. Moved by the
     * depth along the normal, b does not overlap a; moved by depth - error it does. */
    CAROM_SCENE_CONTACT_METHOD_SOLIDS,
    /* Two packings, as by carom_tree_query with narrow limits. What is said holds for the solids
     * that were packed. Apart, overlapping and inside are certain. Touching: the spheres are too
     * few to decide; the distance, or the depth along the normal, is at most the error. In contact
     * are also packings of which the lower bound of the distance is within reach. Volume: the
     * estimate; volume_error reaches to the farther bound. Normal and depth as for solids, but
     * where there is no force, the normal is the direction from the middle of a's box to that of
     * b's. */
    CAROM_SCENE_CONTACT_METHOD_PACKINGS,
    /* A packing and an object of another kind, by the distances of its spheres' centres to that.
     * Apart and overlapping are certain; touching is as for two packings; inside is said to be
     * overlapping. The normal is that of the ball nearest to the other object; where they overlap,
     * that of the deepest ball or one of the directions of FACES, whichever has the least depth.
     * Depth and error as for two packings. */
    CAROM_SCENE_CONTACT_METHOD_SPHERES,
    CAROM_SCENE_CONTACT_METHOD_COUNT
} carom_scene_contact_method;

/* "convex", "convex-faces", "faces", "solids", "packings", "spheres". */
CAROM_API const char *carom_scene_contact_method_name(carom_scene_contact_method method);
CAROM_API bool carom_scene_contact_method_from_name(const char *name,
                                                    carom_scene_contact_method *method);

/* A contact of two objects. */
typedef struct carom_scene_contact {
    uint32_t a, b; /* ids, a < b */
    carom_relation relation;
    carom_scene_contact_method method;
    carom_vec3 normal;  /* unit: b moved along it gets away from a, or out of it; else 0 */
    double distance;    /* when apart; else 0 */
    double depth;       /* when overlapping or inside: how far b must move along the normal; 0 where
                          there is none */
    double error;       /* how far distance or depth may be off; infinite: an estimate */
    double depth_bound; /* at most the depth: no shorter shift of b, in any direction, is enough; 0
                           where nothing is known */
    double volume;      /* of the overlap of two solids or two packings; else 0 */
    double volume_error;     /* how far it may be off */
    uint64_t triangle_pairs; /* of meshes: pairs of faces that meet, touching included, without
                                faces that have no area; of a convex shape and a mesh: triangles
                                that meet the shape */
    uint32_t
        point_count; /* 1 to CAROM_CONVEX_MOST_CONTACTS, 0 where one mesh is inside the other */
    /* The deepest first. Of solids that overlap one, the centroid of the overlap; of faces that
     * meet points that are on both meshes. Of a convex shape and a mesh, each point's depth is
     * along the normal of the shape and the triangle that it is from, which may be another than the
     * contact's.
     * Features (convex.h) are those of convex shapes. Of a mesh that meets a convex shape they are
     * face t, edge 3 t + 0, 1 or 2 and vertex 3 t + 0, 1 or 2 of triangle t, and face t where the
     * contact with it has one point; of two meshes the two faces that the point is on. Other
     * points have none: 0. */
    carom_convex_contact points[CAROM_CONVEX_MOST_CONTACTS];
} carom_scene_contact;

/* All contacts of a step with their points, in one array. */
CAROM_RESULT_ARRAY(carom_scene_contacts, carom_scene_contact);

/* Finds all contacts, and the pairs whose contact began or ended since the last step; contacts,
 * begun and ended may be NULL. Before the first step there are no contacts.
 * - Only pairs with an object that was added or moved since are tested; the others keep their
 *   answer.
 * - A removed object is in no contact.
 * - CAROM_MORE: a caller's buffer was too small; the step is complete all the same.
 * - Another failure leaves the last step: the next one compares with that.
 * - Pairs of meshes and pairs with a packing run one after the other, the former on all threads;
 *   other pairs side by side.
 *
 * Needs exclusive use. Allocates nothing once warm. carom_context_get_work: visits of the search
 * for boxes, pairs tested, and of these, those not in contact. */
CAROM_API carom_status carom_scene_step(carom_context *context, carom_scene *scene,
                                        carom_scene_contacts *contacts, carom_pairs *begun,
                                        carom_pairs *ended);

/* What a scene consists of. */
typedef struct carom_scene_info {
    uint64_t ids;      /* given out, those of removed objects included */
    uint64_t live;     /* objects that are not removed */
    uint64_t ignored;  /* pairs left out */
    uint64_t pairs;    /* of the last step: pairs of boxes */
    uint64_t contacts; /* of these, in contact */
    uint64_t asked;    /* of these pairs, those that an engine tested in the last step */
    uint64_t bytes;    /* held by the scene, without what it borrows */
} carom_scene_info;

/* Gets what the scene consists of. */
CAROM_API carom_status carom_scene_get_info(const carom_scene *scene, carom_scene_info *info);

/* ---- Query --------------------------------------------------------------------------------------
 *
 * Querying after a change and before a step or a commit is a caller's bug. Filters, ignored pairs
 * and `accept` do not apply. Ties take the lowest id. */

/* Brings the scene up to date for queries, without testing any pair. Needs exclusive use. */
CAROM_API carom_status carom_scene_commit(carom_context *context, carom_scene *scene);

/* Finds the contacts of `count` other objects with those of the scene, by the scene's reach: a is
 * the index of the other object, b the id; sorted. The other objects' filters do not apply. */
CAROM_API carom_status carom_scene_query_objects(carom_context *context, const carom_scene *scene,
                                                 const carom_scene_object_def *objects,
                                                 uint64_t count, carom_scene_contacts *contacts);

/* Finds the first object that each ray meets. hits has space for count. Convex shapes are hit as by
 * carom_convex_cast_rays: also by a ray that starts inside, at t = 0. Soups and solids are hit at
 * their faces, as by carom_soup_cast_rays for the ray in the mesh's frame, whose rounding is the
 * only one: some 2^-46 of the size of the mesh's box and its distance from the pose's origin, as
 * rays from farther away are first moved to it, exactly. Packings are hit at their inner balls; a
 * ray that passes between these is said to miss.
 * - hit.error, of a packing: the solid may be nearer by this.
 * - CAROM_BAD_INPUT: a ray that is not finite, of negative length or with the direction (0, 0, 0).
 */
CAROM_API carom_status carom_scene_cast_rays(carom_context *context, const carom_scene *scene,
                                             const carom_ray *rays, uint64_t count,
                                             carom_hit *hits);

/* Finds the object nearest to each point, and its nearest point. hits has space for count. The
 * distance is 0 in a convex shape and in a solid. That of a packing is to its inner balls.
 * CAROM_BAD_INPUT: a point that is not finite. */
CAROM_API carom_status carom_scene_closest_points(carom_context *context, const carom_scene *scene,
                                                  const carom_vec3 *points, uint64_t count,
                                                  carom_hit *hits);

#ifdef __cplusplus
}
#endif

#endif
