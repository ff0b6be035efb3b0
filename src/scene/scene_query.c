/* SPDX-License-Identifier: MIT */
/* Queries of a scene: other objects, rays and points.
 *
 * The broad phase gives the objects whose boxes come into question, as items (index of the query,
 * id). Items of convex objects are answered side by side; those of a mesh together, in its frame,
 * by the batches of soup.h. Then each query takes the best of its items. The nearest object of a
 * point is at most as far as the object of the nearest box: a box of that size around the point
 * gives the items. */
#include <float.h>

#include "base/pair_list.h"
#include "base/progress.h"
#include "base/sort.h"
#include "carom/soup_points.h"
#include "geom/length.h"
#include "geom/ray_path.h"
#include "scene/scene.h"
#include "solid/solid.h"

#define SCENE_QUERY_ITEMS_PER_RANGE 16u /* items per range */
/* Of boxes around points, relative to distance and coordinates: far more than any rounding. */
#define POINT_SLACK 0x1p-40
/* Sizes from an object beyond which rays are moved to it: below, they are rounded by 2^-46 of it.
 */
#define SCENE_RAY_START_SIZES 64.0
/* Half the side of a box around a point that contains every object: these reach to some 1e300, and
 * the sum with a coordinate is finite. */
#define SCENE_POINT_MOST_RADIUS 0x1p1000

#define REQUIRE_SCENE(context, scene)                                                              \
    CAROM_ENTER(context);                                                                          \
    CAROM_REQUIRE_INPUT(scene, "scene");                                                           \
    CAROM_REQUIRE(!(scene)->stale, "objects changed since the last carom_scene_step or _update")

/* ---- Other objects --------------------------------------------------------------------------- */

typedef struct objects_query {
    carom_scene_question question;
    const carom_scene *scene;
    carom_scene_object *objects;
    carom_bounds *boxes;
    carom_pairs pairs;
    carom_scene_contact *contacts; /* one per pair */
    uint8_t *in_contact;
} objects_query;

static const carom_scene_object *other_of(const objects_query *q, uint64_t i) {
    return &q->objects[q->pairs.data[i].a];
}

static const carom_scene_object *scene_query_object_of(const objects_query *q, uint64_t i) {
    return &q->scene->objects[q->pairs.data[i].b];
}

static bool scene_query_is_light(const carom_scene_object *a, const carom_scene_object *b) {
    return carom_scene_is_light(carom_scene_kind_state(a) | carom_scene_kind_state(b));
}

static carom_status scene_query_narrow_range(void *argument, carom_range range) {
    const objects_query *q = argument;
    for (uint64_t i = range.begin; i < range.end; ++i) {
        const carom_scene_object *a = other_of(q, i), *b = scene_query_object_of(q, i);
        bool in_contact = false;
        if (!scene_query_is_light(a, b)) continue;
        CAROM_TRY(carom_scene_narrow_convex(&q->question, range.worker, a, b, &q->contacts[i],
                                            &in_contact));
        q->in_contact[i] = in_contact;
    }
    return CAROM_OK;
}

static carom_status scene_query_narrow_heavy(objects_query *q) {
    for (uint64_t i = 0; i < q->pairs.count; ++i) {
        const carom_scene_object *a = other_of(q, i), *b = scene_query_object_of(q, i);
        bool in_contact = false;
        if (!scene_query_is_light(a, b)) {
            CAROM_TRY(carom_scene_narrow_heavy(&q->question, a, b, &q->contacts[i], &in_contact));
        } else if ((a->solid != NULL || b->solid != NULL) &&
                   q->contacts[i].relation <= CAROM_RELATION_TOUCHING) {
            CAROM_TRY(carom_scene_narrow_inside(&q->question, a, b, &q->contacts[i], &in_contact));
        }
        if (in_contact) q->in_contact[i] = 1;
    }
    return CAROM_OK;
}

static carom_status query_objects(objects_query *q, const carom_scene_object_def *objects,
                                  uint64_t count, carom_scene_contacts *contacts) {
    carom_context *context = q->question.context;
    carom_arena *scratch = carom_scratch(context, 0);
    q->objects = CAROM_ARENA_TAKE(scratch, carom_scene_object, count);
    q->boxes = CAROM_ARENA_TAKE(scratch, carom_bounds, count);
    if (q->objects == NULL || q->boxes == NULL)
        return carom_fail_memory(context, count * sizeof(*q->objects), "objects");
    CAROM_TRY(
        carom_scene_objects_make(context, objects, count, q->question.reach, q->objects, q->boxes));
    CAROM_TRY(carom_broad_query_boxes(context, q->scene->broad, q->boxes, count, &q->pairs));
    q->contacts = CAROM_ARENA_TAKE(scratch, carom_scene_contact, q->pairs.count);
    q->in_contact = CAROM_ARENA_TAKE(scratch, uint8_t, q->pairs.count);
    if (q->contacts == NULL || q->in_contact == NULL)
        return carom_fail_memory(context, q->pairs.count * sizeof(*q->contacts), "contacts");
    memset(q->in_contact, 0, (size_t)q->pairs.count);
    carom_status status =
        carom_parallel_phase(context, "testing convex objects", q->pairs.count,
                             SCENE_QUERY_ITEMS_PER_RANGE, scene_query_narrow_range, q);
    if (status == CAROM_NO_MEMORY) return carom_fail_memory(context, 0, "contacts of objects");
    CAROM_TRY(status);
    CAROM_TRY(scene_query_narrow_heavy(q));
    uint64_t found = 0, writable, kept = 0;
    for (uint64_t i = 0; i < q->pairs.count; ++i) found += q->in_contact[i];
    CAROM_TRY(carom_scene_contacts_begin(context, &context->allocator, contacts, found, &writable));
    for (uint64_t i = 0; i < q->pairs.count && kept < writable; ++i) {
        if (q->in_contact[i] == 0) continue;
        CAROM_ASSERT(q->contacts[i].point_count <= CAROM_CONVEX_MOST_CONTACTS);
        contacts->data[kept] = q->contacts[i];
        contacts->data[kept].a = q->pairs.data[i].a;
        contacts->data[kept++].b = q->pairs.data[i].b;
    }
    return carom_scene_contacts_end(contacts);
}

carom_status carom_scene_query_objects(carom_context *context, const carom_scene *scene,
                                       const carom_scene_object_def *objects, uint64_t count,
                                       carom_scene_contacts *contacts) {
    REQUIRE_SCENE(context, scene);
    CAROM_REQUIRE_INPUTS(objects, count, "objects");
    CAROM_REQUIRE_RESULT(contacts, "contacts");
    CAROM_TRY(carom_scene_require_cpu(context, scene));
    carom_pairs faces = {0};
    carom_soup_segments segments = {0};
    objects_query q = {.question = {context, scene->reach, scene->skip_depth, scene->least_depth,
                                    &faces, &segments, NULL},
                       .scene = scene};
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    carom_status status = query_objects(&q, objects, count, contacts);
    carom_arena_rewind(scratch, mark);
    carom_pairs_free(&q.pairs);
    carom_pairs_free(&faces);
    carom_soup_segments_free(&segments);
    return status;
}

/* ---- Rays and points ------------------------------------------------------------------------- */

/* Items of one call; either rays or points is NULL. */
typedef struct items_query {
    carom_context *context;
    const carom_scene *scene;
    const carom_ray *rays;
    const carom_vec3 *points;
    const carom_pair *items; /* index of the query, id */
    uint64_t count;
    carom_hit *found; /* one per item */
} items_query;

static const carom_hit no_hit = {.id = CAROM_NONE, .face = CAROM_NONE, .distance = HUGE_VAL};

/* Answers the items of convex objects and packings.
 * carom_convex_cast_rays and _distance read nothing of the context but its backend and instruction
 * set, and write to it only when they fail, which checked input does not. So workers may share it.
 */
static carom_status answer_side_by_side(void *argument, carom_range range) {
    const items_query *q = argument;
    const carom_convex point = {0};
    for (uint64_t i = range.begin; i < range.end; ++i) {
        const carom_scene_object *o = &q->scene->objects[q->items[i].b];
        carom_hit *hit = &q->found[i];
        *hit = no_hit;
        if (carom_scene_is_mesh(o)) continue;
        if (o->tree != NULL) {
            bool found = true;
            if (q->rays != NULL)
                CAROM_TRY(
                    carom_scene_packing_ray(q->context, o, &q->rays[q->items[i].a], hit, &found));
            else
                CAROM_TRY(carom_scene_packing_closest_point(o, q->points[q->items[i].a], hit));
            if (found) hit->id = q->items[i].b;
            continue;
        }
        if (q->rays != NULL) {
            carom_hit found;
            CAROM_TRY(carom_convex_cast_rays(q->context, &o->convex, &o->pose,
                                             &q->rays[q->items[i].a], 1, &found));
            if (found.id == CAROM_NONE) continue;
            *hit = found;
        } else {
            carom_convex_result r;
            carom_pose at = {.t = q->points[q->items[i].a]};
            CAROM_TRY(
                carom_convex_distance(q->context, &o->convex, &o->pose, &point, &at, NULL, &r));
            bool apart = r.relation == CAROM_RELATION_APART;
            hit->distance = apart ? r.distance : 0.0;
            hit->point = apart ? r.point_a : at.t;
            if (apart) hit->normal = r.normal;
        }
        hit->id = q->items[i].b;
    }
    return CAROM_OK;
}

/* The items of one mesh, as indices of the list. */
typedef struct mesh_items {
    const carom_scene_object *object;
    uint32_t id;
    const uint64_t *keys; /* the object's id; the item's index is the low half */
    uint64_t count;
} mesh_items;

/* The ray with its origin relative to the object's position, not turned. One from far away is moved
 * to the object first, exactly, by the t that is returned: its rounding would move it by more than
 * the object. HUGE_VAL: the ray misses the object. */
static double move_to_object(const carom_scene_object *o, carom_ray *ray) {
    carom_vec3 position = o->pose.t, from = ray->origin;
    carom_vec3 low = carom_vec_sub(o->box.low, position),
               high = carom_vec_sub(o->box.high, position);
    carom_vec3 centre = carom_vec_scale(carom_vec_add(low, high), 0.5);
    double radius = carom_length(carom_vec_sub(high, low)), size = radius + carom_length(centre);
    ray->origin = carom_vec_sub(from, position);
    if (!(carom_length(ray->origin) > SCENE_RAY_START_SIZES * size)) return 0.0;
    ray->origin = carom_vec(0.0, 0.0, 0.0); /* the difference may overflow */
    carom_ray_path path;
    const carom_ray whole = {.origin = from, .direction = ray->direction};
    carom_ray_path_begin(&path, &whole, position, size);
    double unit_radius = carom_scale_apply(radius, path.unit);
    unit_radius = CAROM_MAX(unit_radius, CAROM_RAY_LEAST_RADIUS);
    carom_vec3 unit_centre = carom_vec_scaled(centre, path.unit);
    if (!carom_ray_path_approach(&path, unit_centre, unit_radius)) return HUGE_VAL;
    /* Back out of the ball, whose radius is twice that of the box. */
    carom_ray_path_move(&path, -2.0 * unit_radius / carom_length(path.direction));
    double t = carom_ray_path_t(&path, 0.0);
    if (!(t > 0.0) || (ray->length > 0.0 && !(t < ray->length))) return HUGE_VAL;
    ray->origin = carom_vec_scaled(carom_ray_path_point(&path), -path.unit);
    if (ray->length > 0.0) ray->length -= t;
    return t;
}

static carom_status answer_rays(const items_query *q, const mesh_items *m) {
    carom_arena *scratch = carom_scratch(q->context, 0);
    carom_ray *rays = CAROM_ARENA_TAKE(scratch, carom_ray, m->count);
    carom_hit *hits = CAROM_ARENA_TAKE(scratch, carom_hit, m->count);
    double *moved = CAROM_ARENA_TAKE(scratch, double, m->count); /* the t of their starts */
    if (rays == NULL || hits == NULL || moved == NULL)
        return carom_fail_memory(q->context, m->count * sizeof(*rays), "rays");
    carom_frame f = carom_frame_make(&m->object->pose);
    for (uint64_t i = 0; i < m->count; ++i) {
        rays[i] = q->rays[q->items[(uint32_t)m->keys[i]].a];
        moved[i] = move_to_object(m->object, &rays[i]);
        rays[i].origin = carom_convex_turn_back(f.r, rays[i].origin);
        rays[i].direction = carom_convex_turn_back(f.r, rays[i].direction);
    }
    CAROM_TRY(carom_soup_cast_rays(q->context, m->object->soup, rays, m->count, hits));
    for (uint64_t i = 0; i < m->count; ++i) {
        carom_hit *hit = &q->found[(uint32_t)m->keys[i]];
        if (hits[i].face == CAROM_NONE || moved[i] == HUGE_VAL) continue;
        hit->id = m->id;
        hit->face = m->object->solid == NULL ? hits[i].face : CAROM_NONE;
        hit->distance = moved[i] + hits[i].distance;
        hit->point = carom_frame_apply(&f, hits[i].point);
        hit->normal = carom_frame_turn(&f, hits[i].normal);
    }
    return CAROM_OK;
}

static carom_status answer_points(const items_query *q, const mesh_items *m) {
    carom_arena *scratch = carom_scratch(q->context, 0);
    carom_vec3 *points = CAROM_ARENA_TAKE(scratch, carom_vec3, m->count);
    carom_hit *hits = CAROM_ARENA_TAKE(scratch, carom_hit, m->count);
    int32_t *windings = CAROM_ARENA_TAKE(scratch, int32_t, m->count);
    if (points == NULL || hits == NULL || windings == NULL)
        return carom_fail_memory(q->context, m->count * sizeof(*points), "points");
    carom_frame f = carom_frame_make(&m->object->pose);
    for (uint64_t i = 0; i < m->count; ++i)
        points[i] = carom_convex_turn_back(
            f.r, carom_vec_sub(q->points[q->items[(uint32_t)m->keys[i]].a], f.t));
    CAROM_TRY(carom_soup_closest_points(q->context, m->object->soup, points, m->count, hits));
    if (m->object->solid != NULL)
        CAROM_TRY(carom_soup_winding(q->context, m->object->soup, points, m->count, windings));
    for (uint64_t i = 0; i < m->count; ++i) {
        carom_hit *hit = &q->found[(uint32_t)m->keys[i]];
        carom_vec3 at = q->points[q->items[(uint32_t)m->keys[i]].a];
        if (hits[i].face == CAROM_NONE) continue;
        hit->id = m->id;
        if (m->object->solid != NULL && windings[i] != 0) { /* inside, or on the surface */
            hit->distance = 0.0;
            hit->point = at;
            continue;
        }
        hit->face = m->object->solid == NULL ? hits[i].face : CAROM_NONE;
        hit->distance = hits[i].distance;
        hit->point = carom_frame_apply(&f, hits[i].point);
        hit->normal = carom_frame_turn(&f, hits[i].normal);
    }
    return CAROM_OK;
}

/* Answers the items of meshes, mesh by mesh. */
static carom_status answer_meshes(const items_query *q) {
    carom_context *context = q->context;
    carom_arena *scratch = carom_scratch(context, 0);
    uint64_t count = 0;
    uint64_t *keys = CAROM_ARENA_TAKE(scratch, uint64_t, q->count);
    if (keys == NULL) return carom_fail_memory(context, q->count * sizeof(*keys), "items");
    for (uint64_t i = 0; i < q->count; ++i)
        if (carom_scene_is_mesh(&q->scene->objects[q->items[i].b]))
            keys[count++] = (uint64_t)q->items[i].b << 32 | i;
    CAROM_TRY(carom_sort_words(context, keys, count, 32, 32));
    for (uint64_t first = 0, end; first < count; first = end) {
        uint32_t id = (uint32_t)(keys[first] >> 32);
        for (end = first + 1; end < count && keys[end] >> 32 == id;) ++end;
        mesh_items m = {&q->scene->objects[id], id, keys + first, end - first};
        carom_arena_mark mark = carom_arena_get_mark(scratch);
        carom_status status = q->rays != NULL ? answer_rays(q, &m) : answer_points(q, &m);
        carom_arena_rewind(scratch, mark);
        CAROM_TRY(status);
    }
    return CAROM_OK;
}

/* In checked builds: items are sorted by query, then by id, and are of live objects. */
static void scene_items_check(const items_query *q) {
#ifdef CAROM_CHECKS
    for (uint64_t i = 0; i < q->count; ++i) {
        carom_pair p = q->items[i], before = q->items[i == 0 ? 0 : i - 1];
        CAROM_ASSERT(p.b < q->scene->id_count);
        CAROM_ASSERT((q->scene->states.data[p.b] & CAROM_SCENE_LIVE) != 0);
        CAROM_ASSERT(i == 0 || before.a < p.a || (before.a == p.a && before.b < p.b));
    }
#else
    (void)q;
#endif
}

/* Answers all items, and takes the best of each query. */
static carom_status scene_query_answer(items_query *q, carom_hit *hits) {
    carom_context *context = q->context;
    scene_items_check(q);
    if (q->count >= UINT32_MAX)
        return carom_fail(context, CAROM_TOO_LARGE,
                          "more boxes come into question than 32 bits can number: query fewer at a "
                          "time");
    q->found = CAROM_ARENA_TAKE(carom_scratch(context, 0), carom_hit, q->count);
    if (q->found == NULL) return carom_fail_memory(context, q->count * sizeof(*q->found), "hits");
    CAROM_TRY(carom_parallel_phase(context, "testing convex objects", q->count,
                                   SCENE_QUERY_ITEMS_PER_RANGE, answer_side_by_side, q));
    CAROM_TRY(answer_meshes(q));
    for (uint64_t i = 0; i < q->count; ++i) {
        carom_hit *best = &hits[q->items[i].a];
        const carom_hit *hit = &q->found[i];
        bool better = hit->distance < best->distance ||
                      (hit->distance == best->distance && hit->id < best->id);
        if (better) *best = *hit;
    }
    return CAROM_OK;
}

carom_status carom_scene_cast_rays(carom_context *context, const carom_scene *scene,
                                   const carom_ray *rays, uint64_t count, carom_hit *hits) {
    REQUIRE_SCENE(context, scene);
    CAROM_REQUIRE_INPUTS(rays, count, "rays");
    CAROM_REQUIRE_OUTPUTS(hits, count, "hits");
    CAROM_TRY(carom_scene_require_cpu(context, scene));
    carom_pairs items = {0};
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    carom_status status = carom_broad_query_rays(context, scene->broad, rays, count, &items);
    if (status == CAROM_OK) {
        items_query q = {.context = context,
                         .scene = scene,
                         .rays = rays,
                         .items = items.data,
                         .count = items.count};
        for (uint64_t i = 0; i < count; ++i) {
            hits[i] = no_hit;
            hits[i].point = rays[i].origin;
        }
        status = scene_query_answer(&q, hits);
    }
    carom_arena_rewind(scratch, mark);
    carom_pairs_free(&items);
    return status;
}

/* The items of points: first the object of the nearest box, then all that may be nearer. */
static carom_status answer_near(carom_context *context, const carom_scene *scene,
                                const carom_vec3 *points, uint64_t count, carom_pairs *items,
                                carom_hit *hits) {
    carom_arena *scratch = carom_scratch(context, 0);
    carom_hit *boxes = CAROM_ARENA_TAKE(scratch, carom_hit, count);
    carom_pair *first = CAROM_ARENA_TAKE(scratch, carom_pair, count);
    carom_bounds *around = CAROM_ARENA_TAKE(scratch, carom_bounds, count);
    if (boxes == NULL || first == NULL || around == NULL)
        return carom_fail_memory(context, count * sizeof(*around), "points");
    CAROM_TRY(carom_broad_closest_points(context, scene->broad, points, count, boxes));
    items_query q = {.context = context, .scene = scene, .points = points, .items = first};
    for (uint64_t i = 0; i < count; ++i) {
        hits[i] = no_hit;
        hits[i].point = points[i];
        if (boxes[i].id != CAROM_NONE) first[q.count++] = (carom_pair){(uint32_t)i, boxes[i].id};
    }
    CAROM_TRY(scene_query_answer(&q, hits));
    for (uint64_t i = 0; i < count; ++i) {
        double r =
            hits[i].distance * (1.0 + POINT_SLACK) + POINT_SLACK * carom_vec_largest(points[i]);
        if (!(r <= SCENE_POINT_MOST_RADIUS)) r = SCENE_POINT_MOST_RADIUS;
        carom_vec3 all = carom_vec(r, r, r);
        around[i] = (carom_bounds){carom_vec_sub(points[i], all), carom_vec_add(points[i], all)};
        hits[i] = no_hit;
        hits[i].point = points[i];
    }
    CAROM_TRY(carom_broad_query_boxes(context, scene->broad, around, count, items));
    q.items = items->data;
    q.count = items->count;
    CAROM_TRY(scene_query_answer(&q, hits));
    for (uint64_t i = 0; i < count; ++i) /* the second answer is no farther than the first */
        CAROM_ASSERT(hits[i].id == CAROM_NONE ||
                     hits[i].distance <= around[i].high.x - points[i].x);
    return CAROM_OK;
}

carom_status carom_scene_closest_points(carom_context *context, const carom_scene *scene,
                                        const carom_vec3 *points, uint64_t count, carom_hit *hits) {
    REQUIRE_SCENE(context, scene);
    CAROM_REQUIRE_INPUTS(points, count, "points");
    CAROM_REQUIRE_OUTPUTS(hits, count, "hits");
    CAROM_TRY(carom_scene_require_cpu(context, scene));
    for (uint64_t i = 0; i < count; ++i)
        if (!carom_vec_within(points[i], CAROM_SCENE_MOST_COORDINATE))
            return carom_fail(context, CAROM_BAD_INPUT,
                              "point %llu is not finite or beyond 1e300; give finite numbers",
                              (unsigned long long)i);
    carom_pairs items = {0};
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    carom_status status = answer_near(context, scene, points, count, &items, hits);
    carom_arena_rewind(scratch, mark);
    carom_pairs_free(&items);
    return status;
}
