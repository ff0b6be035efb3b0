/* SPDX-License-Identifier: MIT */
/* Scenes: any bytes are a sequence of changes and steps. After each step the scene is valid, its
 * contacts are, byte for byte, those of a scene made anew, and numbers are finite where the header
 * says so; input that is not finite is refused and changes nothing. */
#include <math.h>
#include <stdbool.h>

#include "carom/shapes.h"
#include "fuzz/fuzz.h"
#include "scene/scene.h"

#define MOST       24u
#define MOST_STEPS 16

typedef struct model {
    carom_scene_object_def objects[MOST];
    bool live[MOST];
    uint32_t ids;
    carom_pair ignored[MOST];
    uint32_t ignored_count;
} model;

/* A cube as soup, solid and packing, and a hull, made once. */
typedef struct things {
    carom_soup *soup;
    carom_solid *solid;
    carom_hull *hull;
    carom_tree *tree;
} things;

static things make_things(carom_context *context) {
    things t;
    carom_mesh *mesh;
    carom_mesh_view view;
    carom_shape_def def = {.shape = CAROM_SHAPE_BOX, .size = 1.0};
    FUZZ_CHECK(carom_shape_make(context, &def, &mesh) == CAROM_OK);
    FUZZ_CHECK(carom_mesh_get_view(mesh, &view) == CAROM_OK);
    FUZZ_CHECK(carom_soup_create(context, &(carom_soup_def){.mesh = &view}, &t.soup) == CAROM_OK);
    FUZZ_CHECK(carom_solid_create(context, &(carom_solid_def){.mesh = &view}, &t.solid) ==
               CAROM_OK);
    FUZZ_CHECK(carom_hull_create(context, &(carom_hull_def){.mesh = &view}, &t.hull) == CAROM_OK);
    carom_packing *packing;
    carom_packing_def pack = {.mesh = &view, .count = 20};
    FUZZ_CHECK(carom_packing_create(context, &pack, &packing) == CAROM_OK);
    carom_tree_def tree = {.packing = packing};
    FUZZ_CHECK(carom_tree_create(context, &tree, &t.tree) == CAROM_OK);
    carom_packing_destroy(packing);
    carom_mesh_destroy(mesh);
    return t;
}

/* Small multiples of a quarter, or any doubles. */
static double take_number(const uint8_t **bytes, size_t *left, bool any) {
    double x;
    int8_t small;
    if (any) {
        fuzz_take(bytes, left, &x, sizeof(x));
        return x;
    }
    fuzz_take(bytes, left, &small, 1);
    return 0.25 * small;
}

static carom_pose take_pose(const uint8_t **bytes, size_t *left) {
    carom_pose pose = {.t = {0.0, 0.0, 0.0}};
    uint8_t how;
    fuzz_take(bytes, left, &how, 1);
    double *t = &pose.t.x, *q = &pose.q.w;
    for (int k = 0; k < 3; ++k) t[k] = take_number(bytes, left, how % 8 == 0);
    for (int k = 0; k < 4 && how % 3 == 0; ++k) q[k] = take_number(bytes, left, how % 16 == 0);
    return pose;
}

static carom_scene_object_def take_object(const uint8_t **bytes, size_t *left, const things *t) {
    uint8_t how[2];
    carom_scene_object_def o = {0};
    fuzz_take(bytes, left, how, 2);
    bool any = how[1] % 8 == 0;
    o.kind =
        how[0] % 4 < 2 ? CAROM_SCENE_OBJECT_KIND_CONVEX : (carom_scene_object_kind)(how[0] % 4 - 1);
    if (how[0] % 4 == 1 && how[1] % 4 == 3) o.kind = CAROM_SCENE_OBJECT_KIND_PACKING;
    o.borrowed_tree = t->tree;
    o.borrowed_soup = t->soup;
    o.borrowed_solid = t->solid;
    o.convex.kind = (carom_convex_kind)(how[0] / 4 % 9); /* all but functions */
    o.convex.borrowed_hull = t->hull;
    o.convex.half.x = fabs(take_number(bytes, left, any));
    o.convex.half.y = o.convex.half.z = 0.5;
    o.convex.radius = take_number(bytes, left, any);
    o.convex.half_height = 0.5;
    o.convex.margin = how[1] % 5 == 0 ? 0.125 : 0.0;
    o.filter.mask = how[1] % 7 == 0 ? how[1] / 16 : 0;
    o.pose = take_pose(bytes, left);
    return o;
}

static void check_numbers(const carom_scene_contact *c) {
    const double *n = &c->normal.x;
    FUZZ_CHECK(c->point_count <= CAROM_CONVEX_MOST_CONTACTS);
    FUZZ_CHECK(isfinite(c->distance) && isfinite(c->depth) && c->distance >= 0.0 &&
               c->depth >= 0.0);
    FUZZ_CHECK(isfinite(c->volume) && c->error >= 0.0);
    for (int k = 0; k < 3; ++k) FUZZ_CHECK(fabs(n[k]) <= 1.0 + 1e-9);
}

/* Compares with a scene made anew, by another number of threads. */
static void check(carom_context *context, const model *m, double reach,
                  const carom_scene_contacts *contacts) {
    carom_scene *anew;
    carom_scene_contacts found = {0};
    uint32_t to_id[MOST], from_id[MOST], count = 0;
    carom_scene_def def = {.reach = reach};
    FUZZ_CHECK(carom_scene_create(context, &def, &anew) == CAROM_OK);
    for (uint32_t id = 0; id < m->ids; ++id) {
        if (!m->live[id]) continue;
        FUZZ_CHECK(carom_scene_add(context, anew, &m->objects[id], 1, NULL) == CAROM_OK);
        from_id[id] = count;
        to_id[count++] = id;
    }
    for (uint32_t i = 0; i < m->ignored_count; ++i) {
        carom_pair p = m->ignored[i];
        if (!m->live[p.a] || !m->live[p.b]) continue;
        p = (carom_pair){from_id[p.a], from_id[p.b]};
        FUZZ_CHECK(carom_scene_set_ignored(context, anew, &p, 1, true) == CAROM_OK);
    }
    FUZZ_CHECK(carom_scene_step(context, anew, &found, NULL, NULL) == CAROM_OK);
    FUZZ_CHECK(found.count == contacts->count);
    for (uint64_t i = 0; i < found.count; ++i) {
        found.data[i].a = to_id[found.data[i].a];
        found.data[i].b = to_id[found.data[i].b];
        FUZZ_CHECK(memcmp(&found.data[i], &contacts->data[i], sizeof(found.data[i])) == 0);
        check_numbers(&found.data[i]);
    }
    carom_scene_contacts_free(&found);
    carom_scene_destroy(anew);
}

static void forget_ignored(model *m, uint32_t id) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < m->ignored_count; ++i)
        if (m->ignored[i].a != id && m->ignored[i].b != id) m->ignored[kept++] = m->ignored[i];
    m->ignored_count = kept;
}

static void change(carom_context *context, carom_scene *scene, model *m, const things *t,
                   const uint8_t **bytes, size_t *left) {
    uint8_t what[2];
    fuzz_take(bytes, left, what, 2);
    uint32_t id = m->ids != 0 ? what[1] % m->ids : 0;
    bool live = m->ids != 0 && m->live[id];
    if (what[0] % 4 == 0 && m->ids < MOST) {
        carom_scene_object_def o = take_object(bytes, left, t);
        carom_status status = carom_scene_add(context, scene, &o, 1, &id);
        FUZZ_CHECK(status == CAROM_OK || status == CAROM_BAD_INPUT);
        if (status != CAROM_OK) return;
        FUZZ_CHECK(id < MOST && !m->live[id]);
        if (id >= m->ids) m->ids = id + 1;
        m->live[id] = true;
        m->objects[id] = o;
    } else if (what[0] % 4 == 1) {
        FUZZ_CHECK((carom_scene_remove(context, scene, &id, 1) == CAROM_OK) == live);
        if (live) forget_ignored(m, id);
        m->live[id] = false;
    } else if (what[0] % 16 == 2) {
        carom_pair p = {id, m->ids != 0 ? what[0] / 16 % m->ids : 0};
        if (m->ignored_count == MOST) return;
        if (carom_scene_set_ignored(context, scene, &p, 1, true) == CAROM_OK)
            m->ignored[m->ignored_count++] = p; /* perhaps again */
    } else {
        carom_pose pose = take_pose(bytes, left);
        carom_status status = carom_scene_move(context, scene, &id, &pose, 1);
        FUZZ_CHECK(status == CAROM_OK || status == CAROM_BAD_INPUT);
        if (status == CAROM_OK) m->objects[id].pose = pose;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static carom_context *context;
    static things t;
    if (context == NULL) {
        FUZZ_CHECK(carom_context_create(&(carom_context_def){.threads = 1}, &context) == CAROM_OK);
        t = make_things(context);
    }
    model m = {0};
    uint8_t head;
    size_t left = size;
    carom_scene *scene;
    carom_scene_contacts contacts = {0};
    fuzz_take(&bytes, &left, &head, 1);
    carom_scene_def def = {.reach = head % 2 == 0 ? 0.0 : 0.125 * head};
    FUZZ_CHECK(carom_scene_create(context, &def, &scene) == CAROM_OK);
    for (int step = 0; step < MOST_STEPS && left != 0; ++step) {
        uint8_t count;
        fuzz_take(&bytes, &left, &count, 1);
        for (int i = 0; i <= count % 6; ++i) change(context, scene, &m, &t, &bytes, &left);
        carom_status status = carom_scene_step(context, scene, &contacts, NULL, NULL);
        FUZZ_CHECK_VALID(carom_scene_validate(scene));
        /* Meshes that a pose moves beyond the doubles are refused by their engines. */
        if (status == CAROM_BAD_INPUT) break;
        FUZZ_CHECK(status == CAROM_OK);
        check(context, &m, def.reach, &contacts);
    }
    carom_scene_contacts_free(&contacts);
    carom_scene_destroy(scene);
    return 0;
}
