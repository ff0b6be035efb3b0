/* SPDX-License-Identifier: MIT */
/* The narrow phase: the contact of two objects, by the engine of their kinds.
 *
 *   convex, convex   GJK and EPA, then the points of the two faces across the normal (convex.h)
 *   convex, mesh     the same for each triangle whose box meets that of the shape; a triangle is a
 *                    flat hull of three vertices, so that a box that stands on it has four points
 *   mesh, mesh       the faces that meet, exactly (soup.h); of two solids their overlap (solid.h)
 *   packing, any     the spheres near the other object, or two trees of spheres (scene_pack.c)
 *
 * How deep two meshes are in each other is found in scene_depth.c. */
#include <float.h>

#include "base/progress.h"
#include "bvh/bvh_cpu.h"
#include "carom/soup_points.h"
#include "convex/convex.h"
#include "convex/convex_cpu.h"
#include "geom/length.h"
#include "scene/scene.h"
#include "solid/solid.h"
#include "soup/soup_view.h"

/* Rounding of a distance of faces, in units of their extent (carom_soup_cross_distance). */
#define SCENE_NARROW_DISTANCE_ERROR 1e-15
/* Of a box in the frame of a mesh, relative to coordinates: a thousand roundings. */
#define FRAME_SLACK 0x1p-42
/* Reaches, as lengths, whose squares are normal doubles also after products of a few of them. */
#define SCENE_REACH_SQUARE_LEAST 0x1p-400
#define SCENE_REACH_SQUARE_MOST  0x1p400
/* What a distance, and a squared one, may exceed the reach by, relative to it, before it proves
 * anything: thousands of roundings of the squares, thirty of the length. */
#define SCENE_REACH_SQUARE_SLACK 0x1p-40
#define SCENE_REACH_SLACK        0x1p-48
/* Of the radius of a ball around a triangle, relative to it: a length has three roundings. */
#define SCENE_TRIANGLE_SLACK 0x1p-50
/* Exponent of the largest power of two whose inverse is a normal double. */
#define SCENE_TRIANGLE_MOST_EXPONENT 1022
/* Extents of a shape's box from its middle to a point behind it, which is outside at any rate. */
#define SCENE_BEHIND_EXTENTS    4.0
#define SCENE_NARROW_CACHE_LINE 64u /* bytes; another size costs time only */

static double scene_narrow_extent_of(const carom_bounds *b) {
    return (b->high.x - b->low.x) + (b->high.y - b->low.y) + (b->high.z - b->low.z);
}

/* ---- Rule out -------------------------------------------------------------------------------- */

static double scene_narrow_gap_along(double low_a, double high_a, double low_b, double high_b,
                                     double reach) {
    double gap = CAROM_MAX(low_b - high_a, low_a - high_b) + reach;
    return CAROM_MAX(gap, 0.0);
}

/* The boxes were enlarged by half the reach, so that between objects the gap is larger by the
 * reach. What rounding takes away is less than the slack of the boxes (scene_cpu.c). */
bool carom_scene_is_far(const carom_bounds *a, const carom_bounds *b, double reach) {
    if (!(reach > 0.0)) return false; /* the boxes overlap, or there would be no pair */
    carom_vec3 gap =
        carom_vec(scene_narrow_gap_along(a->low.x, a->high.x, b->low.x, b->high.x, reach),
                  scene_narrow_gap_along(a->low.y, a->high.y, b->low.y, b->high.y, reach),
                  scene_narrow_gap_along(a->low.z, a->high.z, b->low.z, b->high.z, reach));
    if (reach > SCENE_REACH_SQUARE_LEAST && reach < SCENE_REACH_SQUARE_MOST)
        return carom_vec_dot(gap, gap) > reach * reach * (1.0 + SCENE_REACH_SQUARE_SLACK);
    return carom_length(gap) > reach * (1.0 + SCENE_REACH_SLACK);
}

bool carom_scene_rule_out(const carom_scene_question *q, const carom_scene_object *a,
                          const carom_scene_object *b, carom_vec3 direction) {
    if (direction.x == 0.0 && direction.y == 0.0 && direction.z == 0.0) return false;
    if (!carom_scene_is_convex(a) || !carom_scene_is_convex(b)) return false;
    return CAROM_CPU_CALL(q->context, carom_scene_separated)(a, b, direction, q->reach);
}

/* ---- Two convex shapes ----------------------------------------------------------------------- */

/* Result and points of two posed shapes. */
static carom_status narrow_shapes(const carom_scene_question *q, carom_arena *arena,
                                  const carom_convex_question_item *item,
                                  const carom_hull_faces *faces_a, const carom_hull_faces *faces_b,
                                  carom_convex_manifold *m) {
    m->count = 0;
    CAROM_TRY(CAROM_CPU_CALL(q->context, carom_convex_query)(item, CAROM_CONVEX_QUESTION_DEPTH,
                                                             NULL, arena, &m->result));
    if (!carom_scene_is_contact(&m->result, q->reach)) return CAROM_OK;
    return carom_convex_find_points(q->context, arena, item, faces_a, faces_b, q->reach, m);
}

static carom_convex_question_item two_convex(const carom_scene_object *a,
                                             const carom_scene_object *b) {
    return (carom_convex_question_item){.a = &a->convex,
                                        .b = &b->convex,
                                        .hull_a = a->hull,
                                        .hull_b = b->hull,
                                        .pose_a = &a->pose,
                                        .pose_b = &b->pose};
}

/* The contact of two shapes whose depth is known. */
static carom_status take_two_convex(const carom_scene_question *q, carom_arena *arena,
                                    const carom_convex_question_item *item,
                                    const carom_convex_result *result, carom_scene_contact *c,
                                    bool *in_contact) {
    carom_convex_manifold m;
    m.result = *result;
    m.count = 0;
    *in_contact = carom_scene_is_contact(result, q->reach);
    if (*in_contact)
        CAROM_TRY(carom_convex_find_points(q->context, arena, item,
                                           carom_convex_hull_faces(item->a),
                                           carom_convex_hull_faces(item->b), q->reach, &m));
    carom_scene_fill_convex(result, m.points, m.count, c);
    return CAROM_OK;
}

static carom_status narrow_two_convex(const carom_scene_question *q, carom_arena *arena,
                                      const carom_scene_object *a, const carom_scene_object *b,
                                      carom_scene_contact *c, bool *in_contact) {
    carom_convex_question_item item = two_convex(a, b);
    carom_convex_result result;
    CAROM_TRY(CAROM_CPU_CALL(q->context, carom_convex_query)(&item, CAROM_CONVEX_QUESTION_DEPTH,
                                                             NULL, arena, &result));
    return take_two_convex(q, arena, &item, &result, c, in_contact);
}

/* ---- A convex shape and a mesh --------------------------------------------------------------- */

static const uint64_t scene_triangle_offsets[3] = {0, 3, 6};
static const uint32_t scene_triangle_corners[6] = {0, 1, 2, 0, 2, 1};
static const uint32_t scene_triangle_edges[6] = {0, 1, 2, 2, 1, 0};

void carom_scene_triangle_make(const carom_triangle *t, carom_scene_triangle *f) {
    carom_vec3 at[3], centre;
    double largest = 0.0, outer = 0.0;
    for (int i = 0; i < 3; ++i) {
        at[i] = carom_vec_sub(t->corner[i], t->corner[0]);
        largest = CAROM_MAX(largest, carom_vec_largest(at[i]));
    }
    int exponent = largest > 0.0 ? carom_exponent(largest) + 1 : 0;
    exponent = CAROM_MIN(exponent, SCENE_TRIANGLE_MOST_EXPONENT);
    double scale = carom_power_of_two(-exponent);
    for (int i = 0; i < 3; ++i) f->vertices[i] = carom_vec_scale(at[i], scale);
    centre = carom_vec_scale(carom_vec_add(f->vertices[1], f->vertices[2]), 1.0 / 3.0);
    for (int i = 0; i < 3; ++i) {
        double r = carom_vec_length(carom_vec_sub(f->vertices[i], centre));
        outer = CAROM_MAX(outer, r * (1.0 + SCENE_TRIANGLE_SLACK));
    }
    for (uint32_t k = 0; k < CAROM_HULL_LANES; ++k) {
        uint32_t v = CAROM_MIN(k, 2u);
        f->block.x[k] = f->vertices[v].x;
        f->block.y[k] = f->vertices[v].y;
        f->block.z[k] = f->vertices[v].z;
        f->block.index[k] = v;
    }
    f->view = (carom_hull_view){.vertices = f->vertices,
                                .all = &f->block,
                                .all_count = 1,
                                .count = 3,
                                .exponent = exponent,
                                .extent = carom_hull_extent(f->vertices, 3),
                                .centre = centre,
                                .outer = outer};
    f->faces = (carom_hull_faces){.vertices = f->vertices,
                                  .offsets = scene_triangle_offsets,
                                  .corners = scene_triangle_corners,
                                  .edges = scene_triangle_edges,
                                  .normals = f->normals,
                                  .vertex_count = 3,
                                  .face_count = 2};
    f->normals[0] = carom_hull_face_normal(&f->faces, 0);
    f->normals[1] = carom_vec_scale(f->normals[0], -1.0);
    f->pose = (carom_pose){.t = t->corner[0]};
}

/* The search for the triangles near a shape; the shape is a, the mesh b. */
typedef struct face_search {
    const carom_scene_question *q;
    carom_arena *arena;
    const carom_scene_object *shape;
    carom_soup_view mesh;
    carom_frame frame; /* of the mesh */
    carom_scene_faces found;
    carom_scene_triangles *list; /* of triangles, instead of answers */
    carom_status status;
} face_search;

/* Whether a result is worse, in the sense of contact, than the contact so far. */
static bool is_deeper(const carom_convex_result *r, const carom_scene_contact *c) {
    bool meets = r->relation != CAROM_RELATION_APART, met = c->relation != CAROM_RELATION_APART;
    if (meets != met) return meets;
    if (!meets) return r->distance < c->distance;
    if (r->relation != c->relation) return r->relation > c->relation;
    return r->depth > c->depth;
}

/* The feature of a mesh that is one of a triangle (scene.h). */
static uint32_t mesh_feature(uint32_t triangle, uint32_t feature) {
    uint32_t kind = feature & ~CAROM_CONVEX_FEATURE_INDEX;
    if (kind == 0 || kind == CAROM_CONVEX_FEATURE_FACE) return carom_scene_face_feature(triangle);
    uint32_t index = 3 * triangle + (feature & CAROM_CONVEX_FEATURE_INDEX);
    return kind | (index & CAROM_CONVEX_FEATURE_INDEX);
}

static void turn_round(carom_scene_contact *c) {
    c->normal = carom_vec_scale(c->normal, -1.0);
    for (uint32_t i = 0; i < c->point_count; ++i) {
        carom_convex_contact p = c->points[i];
        c->points[i].point_a = p.point_b;
        c->points[i].point_b = p.point_a;
        c->points[i].feature_a = p.feature_b;
        c->points[i].feature_b = p.feature_a;
    }
}

void carom_scene_faces_begin(carom_scene_faces *f, carom_scene_contact *contact) {
    memset(contact, 0, sizeof(*contact));
    contact->method = CAROM_SCENE_CONTACT_METHOD_CONVEX_FACES;
    f->c = contact;
    f->in_contact = f->any = false;
}

void carom_scene_faces_take(carom_scene_faces *f, double reach, uint32_t triangle,
                            carom_convex_manifold *m) {
    carom_scene_contact *c = f->c;
    if (!carom_scene_is_contact(&m->result, reach)) return;
    f->in_contact = true;
    if (m->result.relation != CAROM_RELATION_APART) ++c->triangle_pairs;
    if (!f->any || is_deeper(&m->result, c)) {
        c->relation = m->result.relation;
        c->normal = m->result.normal;
        c->distance = m->result.distance;
        c->depth = m->result.depth;
        c->error = m->result.error;
        f->any = true;
    }
    CAROM_ASSERT(c->point_count <= CAROM_CONVEX_MOST_CONTACTS && m->count != 0);
    for (uint32_t i = 0; i < m->count; ++i) {
        m->points[i].feature_b = mesh_feature(triangle, m->points[i].feature_b);
        f->points[c->point_count + i] = m->points[i];
    }
    c->point_count = carom_convex_choose_points(f->points, c->point_count + m->count, c->normal);
}

void carom_scene_faces_end(carom_scene_faces *f, bool turned) {
    carom_scene_contact *c = f->c;
    for (uint32_t i = 0; i < c->point_count; ++i) c->points[i] = f->points[i];
    carom_scene_put_deepest_first(c->points, c->point_count);
    if (turned) turn_round(c);
}

static carom_triangle posed_triangle(const carom_soup_view *mesh, const carom_frame *frame,
                                     uint32_t triangle) {
    carom_triangle t = carom_soup_view_triangle(mesh, triangle);
    for (int i = 0; i < 3; ++i) t.corner[i] = carom_frame_apply(frame, t.corner[i]);
    return t;
}

static carom_status take_triangle(face_search *s, uint32_t triangle) {
    const carom_convex polytope = {.kind = CAROM_CONVEX_KIND_HULL}; /* that of the view */
    carom_triangle t = posed_triangle(&s->mesh, &s->frame, triangle);
    carom_convex_manifold m;
    carom_scene_triangle f;
    carom_scene_triangle_make(&t, &f);
    if (s->list != NULL) {
        carom_scene_triangles *list = s->list;
        if (!carom_scene_triangles_reserve(list, &s->q->context->allocator, list->count + 1))
            return carom_fail_memory(s->q->context, list->count * sizeof(f), "triangles");
        list->data[list->count++] = (carom_scene_listed){f, triangle};
        return CAROM_OK;
    }
    carom_convex_question_item item = {.a = &s->shape->convex,
                                       .b = &polytope,
                                       .hull_a = s->shape->hull,
                                       .hull_b = &f.view,
                                       .pose_a = &s->shape->pose,
                                       .pose_b = &f.pose};
    CAROM_TRY(narrow_shapes(s->q, s->arena, &item, carom_convex_hull_faces(&s->shape->convex),
                            &f.faces, &m));
    carom_scene_faces_take(&s->found, s->q->reach, triangle, &m);
    return CAROM_OK;
}

static bool take_found(carom_bvh_found *found) {
    face_search *s = found->user;
    uint32_t count = found->count;
    found->count = 0;
    for (uint32_t i = 0; i < count && s->status == CAROM_OK; ++i)
        s->status = take_triangle(s, s->mesh.bvh->items[found->b[i]]);
    return s->status == CAROM_OK;
}

static double scene_narrow_clamp(double x) {
    return x < -DBL_MAX ? -DBL_MAX : x > DBL_MAX ? DBL_MAX : x;
}

static carom_vec3 clamp_all(carom_vec3 v) {
    return carom_vec(scene_narrow_clamp(v.x), scene_narrow_clamp(v.y), scene_narrow_clamp(v.z));
}

/* The box of the shape, enlarged by the reach, in the frame of the mesh's tree. */
static carom_box shape_box(const face_search *s) {
    const carom_scene_object *o = s->shape;
    carom_frame f = carom_frame_make(&o->pose), to;
    for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k)
            to.r[3 * i + k] = (s->frame.r[i] * f.r[k] + s->frame.r[3 + i] * f.r[3 + k]) +
                              s->frame.r[6 + i] * f.r[6 + k];
    carom_vec3 t = carom_vec_sub(f.t, s->frame.t);
    to.t = carom_convex_turn_back(s->frame.r, t);
    carom_bounds b =
        CAROM_CPU_CALL(s->q->context, carom_scene_convex_box)(&o->convex, o->hull, &to);
    double size = (carom_vec_largest(b.low) + carom_vec_largest(b.high)) +
                  (carom_vec_largest(f.t) + carom_vec_largest(s->frame.t));
    double by = s->q->reach * (1.0 + SCENE_REACH_SLACK) + FRAME_SLACK * size;
    carom_vec3 all = carom_vec(by, by, by);
    b.low = clamp_all(carom_vec_scale(carom_vec_sub(b.low, all), s->mesh.scale));
    b.high = clamp_all(carom_vec_scale(carom_vec_add(b.high, all), s->mesh.scale));
    /* Finite in floats, too: an infinite box would overlap the empty ones of a tree. */
    return carom_box_enlarge(carom_box_of_bounds(b.low, b.high, s->mesh.origin), 0.0f);
}

/* Takes all triangles near the shape, in the order of the mesh's tree on the CPU. */
static carom_status search_faces(face_search *s) {
    carom_arena_mark mark = carom_arena_get_mark(s->arena);
    carom_bvh_found *found = CAROM_ARENA_TAKE(s->arena, carom_bvh_found, 1);
    if (found == NULL) return CAROM_NO_MEMORY;
    found->count = 0;
    found->visits = 0;
    found->flush = take_found;
    found->user = s;
    carom_box box = shape_box(s);
    if (s->mesh.bvh->level_count != 0 &&
        CAROM_CPU_CALL(s->q->context, carom_bvh_find_box)(s->mesh.bvh, &box, 0, found))
        (void)take_found(found);
    carom_arena_rewind(s->arena, mark);
    return s->status;
}

static carom_status narrow_faces(const carom_scene_question *q, carom_arena *arena, bool turned,
                                 const carom_scene_object *shape, const carom_scene_object *mesh,
                                 carom_scene_contact *c, bool *in_contact) {
    face_search s = {
        .q = q, .arena = arena, .shape = shape, .frame = carom_frame_make(&mesh->pose)};
    carom_soup_get_view(mesh->soup, &s.mesh);
    carom_scene_faces_begin(&s.found, c);
    CAROM_TRY(search_faces(&s));
    carom_scene_faces_end(&s.found, turned);
    *in_contact = s.found.in_contact;
    return CAROM_OK;
}

/* The soup of a mesh with its tree on the CPU. */
static carom_status scene_narrow_on_cpu(carom_context *context, const carom_scene_object *mesh,
                                        carom_soup_view *view) {
    if (mesh->solid == NULL) return carom_soup_get_view_on_cpu(context, mesh->soup, view);
    carom_soup_get_view(mesh->solid->soup, view);
    return CAROM_OK;
}

carom_status carom_scene_list_faces(const carom_scene_question *q, const carom_scene_object *shape,
                                    const carom_scene_object *mesh, carom_scene_triangles *list) {
    face_search s = {.q = q,
                     .arena = carom_scratch(q->context, 0),
                     .shape = shape,
                     .frame = carom_frame_make(&mesh->pose),
                     .list = list};
    CAROM_TRY(scene_narrow_on_cpu(q->context, mesh, &s.mesh));
    return search_faces(&s);
}

carom_status carom_scene_narrow_convex(const carom_scene_question *q, uint32_t worker,
                                       const carom_scene_object *a, const carom_scene_object *b,
                                       carom_scene_contact *contact, bool *in_contact) {
    carom_arena *arena = carom_scratch(q->context, worker);
    CAROM_ASSERT(carom_scene_is_light(carom_scene_kind_state(a) | carom_scene_kind_state(b)));
    if (!carom_scene_is_mesh(a) && !carom_scene_is_mesh(b))
        return narrow_two_convex(q, arena, a, b, contact, in_contact);
    bool turned = carom_scene_is_mesh(a);
    return narrow_faces(q, arena, turned, turned ? b : a, turned ? a : b, contact, in_contact);
}

/* Loads what is written: a contact is in no cache, and all that is stored behind it would wait for
 * its memory. Inlined always: GCC removes the call of a function that does nothing but prefetch. */
__attribute__((always_inline)) static inline void prefetch_contact(carom_scene_contact *contact) {
    for (uint64_t at = 0; at < sizeof(*contact); at += SCENE_NARROW_CACHE_LINE)
        __builtin_prefetch((char *)contact + at, 1);
}

carom_status carom_scene_narrow_tests(const carom_scene_question *q, uint32_t worker,
                                      carom_scene_test *tests, uint32_t count) {
    carom_convex_question_item items[CAROM_SCENE_MOST_TESTS];
    carom_convex_result results[CAROM_SCENE_MOST_TESTS];
    carom_scene_test *convex[CAROM_SCENE_MOST_TESTS];
    carom_arena *arena = carom_scratch(q->context, worker);
    uint32_t convex_count = 0;
    CAROM_ASSERT(count <= CAROM_SCENE_MOST_TESTS);
    for (uint32_t i = 0; i < count; ++i) {
        carom_scene_test *t = &tests[i];
        if (carom_scene_is_mesh(t->a) || carom_scene_is_mesh(t->b)) {
            CAROM_TRY(carom_scene_narrow_convex(q, worker, t->a, t->b, t->contact, &t->in_contact));
            continue;
        }
        items[convex_count] = two_convex(t->a, t->b);
        convex[convex_count++] = t;
    }
    CAROM_TRY(
        CAROM_CPU_CALL(q->context, carom_convex_depth_many)(items, convex_count, arena, results));
    for (uint32_t i = 0; i < convex_count; ++i) {
        if (i == 0) prefetch_contact(convex[0]->contact);
        if (i + 1 < convex_count) prefetch_contact(convex[i + 1]->contact);
        CAROM_TRY(take_two_convex(q, arena, &items[i], &results[i], convex[i]->contact,
                                  &convex[i]->in_contact));
    }
    return CAROM_OK;
}

/* A point of the world in the frame of a mesh. */
static carom_vec3 to_mesh(const carom_scene_object *mesh, carom_vec3 p) {
    carom_frame f = carom_frame_make(&mesh->pose);
    return carom_convex_turn_back(f.r, carom_vec_sub(p, f.t));
}

static carom_status scene_narrow_is_inside(const carom_scene_question *q,
                                           const carom_scene_object *solid, carom_vec3 local,
                                           bool *inside) {
    int32_t winding;
    CAROM_TRY(carom_soup_winding(q->context, solid->soup, &local, 1, &winding));
    *inside = winding != 0 && winding != CAROM_SOUP_ON_SURFACE;
    return CAROM_OK;
}

carom_status carom_scene_narrow_inside(const carom_scene_question *q, const carom_scene_object *a,
                                       const carom_scene_object *b, carom_scene_contact *contact,
                                       bool *in_contact) {
    bool turned = carom_scene_is_mesh(a);
    const carom_scene_object *shape = turned ? b : a, *solid = turned ? a : b;
    carom_vec3 low = shape->box.low, high = shape->box.high;
    carom_vec3 middle = carom_vec(0.5 * low.x + 0.5 * high.x, 0.5 * low.y + 0.5 * high.y,
                                  0.5 * low.z + 0.5 * high.z);
    /* The middle of the box may lie outside a cone or a hull; the nearest point of the shape does
     * not. */
    carom_convex point = {0};
    carom_convex_result r;
    carom_pose at = {.t = middle};
    CAROM_TRY(
        carom_convex_distance(q->context, &shape->convex, &shape->pose, &point, &at, NULL, &r));
    if (r.relation == CAROM_RELATION_APART) middle = r.point_a;
    carom_vec3 local = to_mesh(solid, middle);
    CAROM_TRY(scene_narrow_is_inside(q, solid, local, in_contact));
    if (!*in_contact) return CAROM_OK;
    carom_hit hit;
    CAROM_TRY(carom_soup_closest_points(q->context, solid->soup, &local, 1, &hit));
    carom_frame f = carom_frame_make(&solid->pose);
    carom_vec3 out = carom_vec_unit(carom_vec_sub(carom_frame_apply(&f, hit.point), middle));
    carom_vec3 back = carom_vec_scale(out, -1.0);
    /* The farthest point of the shape from the surface: that nearest to a point far behind. */
    double far = SCENE_BEHIND_EXTENTS * scene_narrow_extent_of(&shape->box) + hit.distance;
    at.t = carom_vec_add(middle, carom_vec_scale(back, far));
    CAROM_TRY(
        carom_convex_distance(q->context, &shape->convex, &shape->pose, &point, &at, NULL, &r));
    double behind = carom_vec_dot(carom_vec_sub(r.point_a, middle), back);
    uint64_t touching = contact->triangle_pairs;
    memset(contact, 0, sizeof(*contact));
    contact->method = CAROM_SCENE_CONTACT_METHOD_CONVEX_FACES;
    contact->triangle_pairs = touching;
    contact->relation = turned ? CAROM_RELATION_B_INSIDE_A : CAROM_RELATION_A_INSIDE_B;
    contact->normal = turned ? out : back;
    contact->depth = hit.distance + CAROM_MAX(behind, 0.0);
    contact->error = HUGE_VAL;
    contact->point_count = 1;
    contact->points[0] = carom_scene_point(middle, middle, contact->depth);
    return CAROM_OK;
}

/* ---- Two meshes ------------------------------------------------------------------------------ */

/* Chooses points that are far from each other: that nearest to the mean, then always the one whose
 * distance to those chosen is largest. Ties take the first. */
static void spread_points(const carom_soup_segments *segments, carom_scene_contact *c) {
    uint64_t count = 2 * segments->count;
    const carom_soup_segment *s = segments->data;
    carom_vec3 mean = carom_vec(0.0, 0.0, 0.0);
    double part = 1.0 / (double)count;
    for (uint64_t i = 0; i < count; ++i)
        mean = carom_vec_add(mean, carom_vec_scale(i % 2 == 0 ? s[i / 2].p : s[i / 2].q, part));
    c->point_count = 0;
    while (c->point_count < CAROM_CONVEX_MOST_CONTACTS) {
        uint64_t best = 0;
        double most = c->point_count == 0 ? -HUGE_VAL : 0.0;
        for (uint64_t i = 0; i < count; ++i) {
            carom_vec3 p = i % 2 == 0 ? s[i / 2].p : s[i / 2].q;
            double value = c->point_count == 0 ? -carom_length(carom_vec_sub(p, mean)) : HUGE_VAL;
            for (uint32_t k = 0; k < c->point_count; ++k) {
                double d = carom_length(carom_vec_sub(p, c->points[k].point_a));
                value = CAROM_MIN(value, d);
            }
            if (value > most) most = value, best = i;
        }
        if (c->point_count != 0 && !(most > 0.0)) return; /* no other point */
        carom_vec3 p = best % 2 == 0 ? s[best / 2].p : s[best / 2].q;
        carom_convex_contact *point = &c->points[c->point_count++];
        *point = carom_scene_point(p, p, 0.0);
        point->feature_a = carom_scene_face_feature(s[best / 2].pair.a);
        point->feature_b = carom_scene_face_feature(s[best / 2].pair.b);
    }
}

/* Whether a triangle of a solid has no area. Solids keep such triangles, as segments; they are
 * closed, so that other triangles meet what these meet. */
static bool scene_narrow_is_flat(const carom_scene_object *o, uint32_t triangle) {
    return o->solid != NULL && (o->solid->view.states[triangle] & CAROM_SOUP_DEGENERATE) != 0;
}

/* The pairs of faces that meet, without triangles of solids that have no area. */
static carom_status find_faces(const carom_scene_question *q, const carom_scene_object *a,
                               const carom_scene_object *b) {
    uint64_t kept = 0;
    carom_pair *pairs;
    CAROM_TRY(carom_soup_cross_pairs(q->context, a->soup, &a->pose, b->soup, &b->pose, q->faces));
    pairs = q->faces->data;
    for (uint64_t i = 0; i < q->faces->count; ++i)
        if (!scene_narrow_is_flat(a, pairs[i].a) && !scene_narrow_is_flat(b, pairs[i].b))
            pairs[kept++] = pairs[i];
    q->faces->count = kept;
    return CAROM_OK;
}

/* Where faces meet; relation and points. False in *meet: none do. */
static carom_status find_intersection(const carom_scene_question *q, const carom_scene_object *a,
                                      const carom_scene_object *b, carom_scene_contact *c,
                                      bool *meet) {
    CAROM_TRY(find_faces(q, a, b));
    *meet = q->faces->count != 0;
    if (!*meet) return CAROM_OK;
    CAROM_TRY(carom_soup_cross_segments(q->context, a->soup, &a->pose, b->soup, &b->pose,
                                        q->faces->data, q->faces->count, q->segments));
    c->relation = CAROM_RELATION_TOUCHING;
    c->triangle_pairs = q->faces->count;
    for (uint64_t i = 0; i < q->segments->count; ++i)
        if (q->segments->data[i].crossing) c->relation = CAROM_RELATION_OVERLAPPING;
    spread_points(q->segments, c);
    return CAROM_OK;
}

static void take_gap(carom_scene_contact *c, double distance, carom_vec3 point_a,
                     carom_vec3 point_b, double error) {
    c->relation = CAROM_RELATION_APART;
    c->distance = distance;
    c->error = error;
    c->normal = carom_vec_unit(carom_vec_sub(point_b, point_a));
    c->point_count = 1;
    c->points[0] = carom_scene_point(point_a, point_b, -distance);
}

/* A posed point of a face of a mesh; false in *any: it has none. */
static carom_status some_point(carom_context *context, const carom_scene_object *o,
                               carom_vec3 *point, bool *any) {
    carom_soup_view view;
    carom_frame f = carom_frame_make(&o->pose);
    CAROM_TRY(scene_narrow_on_cpu(context, o, &view)); /* its tree says which face is the first */
    *any = view.bvh->level_count != 0;
    if (!*any) return CAROM_OK;
    uint32_t vertex = carom_soup_view_corners(&view, view.bvh->items[0])[0];
    *point = carom_frame_apply(&f, carom_soup_view_position(&view, vertex));
    return CAROM_OK;
}

carom_status carom_scene_soup_inside(const carom_scene_question *q, const carom_scene_object *solid,
                                     const carom_scene_object *soup, bool *inside) {
    carom_vec3 point;
    bool any;
    *inside = false;
    if (solid->solid == NULL) return CAROM_OK;
    CAROM_TRY(some_point(q->context, soup, &point, &any));
    if (!any) return CAROM_OK;
    return scene_narrow_is_inside(q, solid, to_mesh(solid, point), inside);
}

/* ---- Two meshes, by their faces ---------------------------------------------------------------
 */

static carom_status narrow_soups(const carom_scene_question *q, const carom_scene_object *a,
                                 const carom_scene_object *b, const carom_scene_ahead *ahead,
                                 carom_scene_contact *c, bool *in_contact) {
    c->method = CAROM_SCENE_CONTACT_METHOD_FACES;
    if (ahead->meet == NULL || *ahead->meet) CAROM_TRY(find_intersection(q, a, b, c, in_contact));
    if (!*in_contact) {
        q->segments->count = 0;
        const carom_scene_object *solid = a->solid != NULL ? a : b;
        CAROM_TRY(carom_scene_soup_inside(q, solid, solid == a ? b : a, in_contact));
        if (*in_contact)
            c->relation = solid == a ? CAROM_RELATION_B_INSIDE_A : CAROM_RELATION_A_INSIDE_B;
    }
    if (*in_contact)
        return q->skip_depth || c->relation == CAROM_RELATION_TOUCHING
                   ? CAROM_OK
                   : carom_scene_find_depth(q, a, b, NULL, NULL, c);
    if (!(q->reach > 0.0)) return CAROM_OK;
    carom_soup_gap gap;
    if (ahead->gap != NULL)
        gap = *ahead->gap;
    else
        CAROM_TRY(carom_soup_cross_distance(q->context, a->soup, &a->pose, b->soup, &b->pose,
                                            q->reach, &gap));
    *in_contact = gap.distance <= q->reach;
    if (!*in_contact) return CAROM_OK;
    take_gap(c, gap.distance, gap.point_a, gap.point_b,
             SCENE_NARROW_DISTANCE_ERROR *
                 (scene_narrow_extent_of(&a->box) + scene_narrow_extent_of(&b->box)));
    c->points[0].feature_a = carom_scene_face_feature(gap.face_a);
    c->points[0].feature_b = carom_scene_face_feature(gap.face_b);
    return CAROM_OK;
}

/* ---- Two solids ------------------------------------------------------------------------------ */

static carom_status narrow_solids(const carom_scene_question *q, const carom_scene_object *a,
                                  const carom_scene_object *b, const carom_scene_ahead *ahead,
                                  carom_scene_contact *c, bool *in_contact) {
    carom_solid_result overlap;
    carom_solid_query_def def = {.distance = q->reach > 0.0};
    if (ahead->overlap != NULL)
        overlap = *ahead->overlap;
    else
        CAROM_TRY(carom_solid_overlap(q->context, a->solid, &a->pose, b->solid, &b->pose, &def,
                                      &overlap));
    c->method = CAROM_SCENE_CONTACT_METHOD_SOLIDS;
    c->relation = overlap.relation;
    c->volume = overlap.volume;
    c->volume_error = overlap.volume_error;
    c->triangle_pairs = overlap.pairs;
    if (overlap.pairs != 0 &&
        (a->solid->info.degenerate_triangles | b->solid->info.degenerate_triangles) != 0) {
        CAROM_TRY(find_faces(q, a, b));
        c->triangle_pairs = q->faces->count;
    }
    *in_contact = overlap.relation != CAROM_RELATION_APART ||
                  (overlap.has_distance && overlap.distance <= q->reach);
    if (!*in_contact) return CAROM_OK;
    if (overlap.relation == CAROM_RELATION_APART) {
        take_gap(c, overlap.distance, overlap.point_a, overlap.point_b,
                 SCENE_NARROW_DISTANCE_ERROR *
                     (scene_narrow_extent_of(&a->box) + scene_narrow_extent_of(&b->box)));
        return CAROM_OK;
    }
    c->normal = carom_scene_out_of(a, b, &overlap);
    if (overlap.relation == CAROM_RELATION_TOUCHING) {
        bool meet;
        CAROM_TRY(find_intersection(q, a, b, c, &meet));
        c->relation = CAROM_RELATION_TOUCHING; /* also where faces cross without common space */
        return CAROM_OK;
    }
    if (!q->skip_depth) CAROM_TRY(carom_scene_find_depth(q, a, b, &overlap, ahead->along, c));
    c->point_count = 1;
    c->points[0] = carom_scene_point(overlap.centroid, overlap.centroid, c->depth);
    return CAROM_OK;
}

carom_status carom_scene_narrow_meshes(const carom_scene_question *q, const carom_scene_object *a,
                                       const carom_scene_object *b, const carom_scene_ahead *ahead,
                                       carom_scene_contact *contact, bool *in_contact) {
    memset(contact, 0, sizeof(*contact));
    *in_contact = false;
    if (a->solid != NULL && b->solid != NULL)
        CAROM_TRY(narrow_solids(q, a, b, ahead, contact, in_contact));
    else
        CAROM_TRY(narrow_soups(q, a, b, ahead, contact, in_contact));
    /* Only convex objects are ruled out by a direction. */
    if (!*in_contact) contact->normal = carom_vec(0.0, 0.0, 0.0);
    return CAROM_OK;
}

carom_status carom_scene_narrow_heavy(const carom_scene_question *q, const carom_scene_object *a,
                                      const carom_scene_object *b, carom_scene_contact *contact,
                                      bool *in_contact) {
    const carom_scene_ahead nothing = {NULL, NULL, NULL, NULL};
    return a->tree != NULL || b->tree != NULL
               ? carom_scene_narrow_packing(q, a, b, contact, in_contact)
               : carom_scene_narrow_meshes(q, a, b, &nothing, contact, in_contact);
}
