/* SPDX-License-Identifier: MIT */
/* stack.c: a stack of 20 cubes and a pyramid of 496 stand still, by sequential impulses (Catto
 * 2005) on the contacts of a scene. The solver is warm: it starts from the impulses of the last
 * step, which it finds by the features of each contact point. A step finds the contacts once and
 * has several smaller ones within; contacts are springs, as stiff as these allow.
 *
 *   stack [SECONDS of the stack [SECONDS of the pyramid]]
 *
 * Fails when a cube has moved by more than DRIFT_MOST. */
#include <carom/carom.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define STEP          (1.0 / 60.0) /* s */
#define SUBSTEPS      16
#define DT            (STEP / SUBSTEPS)
#define GRAVITY       9.81 /* m/s^2 */
#define FRICTION      0.6
#define REACH         0.02        /* m: contacts are known before cubes touch */
#define STIFFNESS     (0.25 / DT) /* 1/s: of springs, in radians 2 pi of it */
#define DAMPING       10.0        /* relative to the critical one: overlaps are pushed out softly */
#define PUSH_MOST     3.0         /* m/s */
#define DRIFT_MOST    0.05        /* m */
#define STACK_HEIGHT  20
#define PYRAMID_WIDTH 31

typedef struct body {
    carom_pose pose;
    carom_vec3 velocity, spin;
    carom_vec3 moved, turned;       /* since the contacts were found */
    double over_mass, over_inertia; /* 0: the ground */
} body;

/* A contact point of two bodies: the impulses along the normal and across it are kept. */
typedef struct point {
    uint32_t a, b, feature_a, feature_b;
    carom_vec3 arm_a, arm_b, axes[3]; /* the normal first */
    double gap, impulses[3], over_yields[3];
} point;

typedef struct world {
    carom_context *context;
    carom_scene *scene;
    carom_scene_contacts contacts;
    body *bodies;
    carom_pose *poses, *first; /* now, and at the start */
    uint32_t count;
    point *points, *last; /* of this step and the last one: sorted by their bodies */
    uint64_t point_count, last_count;
    uint64_t met, known; /* points of pairs that were in contact before; those found again */
} world;

static void must(carom_context *context, carom_status status) {
    if (status == CAROM_OK) return;
    fprintf(stderr, "%s\n", carom_context_message(context));
    exit(EXIT_FAILURE);
}

static void *must_have(void *memory) {
    if (memory != NULL) return memory;
    fprintf(stderr, "there is no memory\n");
    exit(EXIT_FAILURE);
}

static carom_vec3 add(carom_vec3 a, carom_vec3 b, double s) {
    return (carom_vec3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}

static double dot(carom_vec3 a, carom_vec3 b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static carom_vec3 cross(carom_vec3 a, carom_vec3 b) {
    return (carom_vec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static carom_vec3 unit(carom_vec3 a) {
    return add((carom_vec3){0}, a, 1.0 / sqrt(dot(a, a)));
}

/* ---- Impulses -------------------------------------------------------------------------------- */

static void apply(world *w, const point *p, int axis, double impulse) {
    body *a = &w->bodies[p->a], *b = &w->bodies[p->b];
    carom_vec3 d = p->axes[axis];
    a->velocity = add(a->velocity, d, -impulse * a->over_mass);
    a->spin = add(a->spin, cross(p->arm_a, d), -impulse * a->over_inertia);
    b->velocity = add(b->velocity, d, impulse * b->over_mass);
    b->spin = add(b->spin, cross(p->arm_b, d), impulse * b->over_inertia);
}

/* The speed of b's point relative to a's, or how far it went, along an axis. */
static double along(const point *p, int axis, carom_vec3 a, carom_vec3 turn_a, carom_vec3 b,
                    carom_vec3 turn_b) {
    carom_vec3 at_a = add(a, cross(turn_a, p->arm_a), 1.0);
    carom_vec3 at_b = add(b, cross(turn_b, p->arm_b), 1.0);
    return dot(add(at_b, at_a, -1.0), p->axes[axis]);
}

/* Brings the speed along an axis to `wanted`, with an impulse in all between two limits. A contact
 * that is soft gives way by some share of it. */
static void solve(world *w, point *p, int axis, double wanted, double soft, double low,
                  double high) {
    const body *a = &w->bodies[p->a], *b = &w->bodies[p->b];
    double speed = along(p, axis, a->velocity, a->spin, b->velocity, b->spin);
    double before = p->impulses[axis];
    double impulse = (1.0 - soft) * (wanted - speed) * p->over_yields[axis] - soft * before;
    p->impulses[axis] = fmin(fmax(before + impulse, low), high);
    apply(w, p, axis, p->impulses[axis] - before);
}

/* One round over all points. Pushes overlaps out, or, to take the speed away that this gave, does
 * not. */
static void solve_all(world *w, bool push) {
    double stiff = 6.283185307179586 * STIFFNESS, damped = 2.0 * DAMPING + DT * stiff;
    for (uint64_t i = 0; i < w->point_count; ++i) {
        point *p = &w->points[i];
        const body *a = &w->bodies[p->a], *b = &w->bodies[p->b];
        double gap = p->gap + along(p, 0, a->moved, a->turned, b->moved, b->turned);
        double wanted = -gap / DT, soft = 0.0;
        if (gap <= 0.0) {
            wanted = push ? fmin(-gap * stiff / damped, PUSH_MOST) : 0.0;
            soft = push ? 1.0 / (1.0 + DT * stiff * damped) : 0.0;
        }
        solve(w, p, 0, wanted, soft, 0.0, HUGE_VAL);
        double most = FRICTION * p->impulses[0];
        solve(w, p, 1, 0.0, 0.0, -most, most);
        solve(w, p, 2, 0.0, 0.0, -most, most);
    }
}

static void prepare_point(const world *w, const carom_scene_contact *c,
                          const carom_convex_contact *k, point *p) {
    const body *a = &w->bodies[c->a], *b = &w->bodies[c->b];
    carom_vec3 n = c->normal,
               aside = fabs(n.x) < 0.8 ? (carom_vec3){1, 0, 0} : (carom_vec3){0, 1, 0};
    *p = (point){.a = c->a, .b = c->b, .feature_a = k->feature_a, .feature_b = k->feature_b};
    p->arm_a = add(k->point_a, a->pose.t, -1.0);
    p->arm_b = add(k->point_b, b->pose.t, -1.0);
    p->gap = -k->depth;
    p->axes[0] = n;
    p->axes[1] = unit(cross(n, aside));
    p->axes[2] = cross(n, p->axes[1]);
    for (int i = 0; i < 3; ++i) {
        carom_vec3 turn_a = cross(p->arm_a, p->axes[i]), turn_b = cross(p->arm_b, p->axes[i]);
        p->over_yields[i] =
            1.0 / (a->over_mass + b->over_mass + a->over_inertia * dot(turn_a, turn_a) +
                   b->over_inertia * dot(turn_b, turn_b));
    }
}

/* Lists the points of all contacts, with the impulses of the last step where the same features of
 * the same bodies were in contact. Both lists are sorted by bodies, as contacts are. */
static void find_points(world *w) {
    point *swap = w->last;
    w->last = w->points;
    w->last_count = w->point_count;
    w->points = must_have(
        realloc(swap, (w->contacts.count + 1) * CAROM_CONVEX_MOST_CONTACTS * sizeof(point)));
    w->point_count = 0;
    uint64_t begin = 0;
    for (uint64_t i = 0; i < w->contacts.count; ++i) {
        const carom_scene_contact *c = &w->contacts.data[i];
        while (begin < w->last_count &&
               (w->last[begin].a < c->a || (w->last[begin].a == c->a && w->last[begin].b < c->b)))
            ++begin;
        for (uint32_t k = 0; k < c->point_count; ++k) {
            point *p = &w->points[w->point_count++];
            prepare_point(w, c, &c->points[k], p);
            for (uint64_t j = begin; j < w->last_count; ++j) {
                const point *o = &w->last[j];
                if (o->a != p->a || o->b != p->b) break;
                w->met += j == begin ? 1 : 0;
                if (o->feature_a != p->feature_a || o->feature_b != p->feature_b) continue;
                for (int axis = 0; axis < 3; ++axis) p->impulses[axis] = o->impulses[axis];
                ++w->known;
                break;
            }
        }
    }
}

/* ---- A world of cubes ------------------------------------------------------------------------ */

static void advance(body *o) {
    carom_quat q = o->pose.q;
    carom_vec3 s = o->spin;
    o->pose.t = add(o->pose.t, o->velocity, DT);
    o->moved = add(o->moved, o->velocity, DT);
    o->turned = add(o->turned, s, DT);
    o->pose.q.w -= 0.5 * DT * (s.x * q.x + s.y * q.y + s.z * q.z);
    o->pose.q.x += 0.5 * DT * (s.x * q.w + s.y * q.z - s.z * q.y);
    o->pose.q.y += 0.5 * DT * (s.y * q.w + s.z * q.x - s.x * q.z);
    o->pose.q.z += 0.5 * DT * (s.z * q.w + s.x * q.y - s.y * q.x);
    q = o->pose.q;
    double over = 1.0 / sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    o->pose.q = (carom_quat){q.w * over, q.x * over, q.y * over, q.z * over};
}

static void step(world *w) {
    must(w->context, carom_scene_step(w->context, w->scene, &w->contacts, NULL, NULL));
    find_points(w);
    for (uint32_t i = 1; i < w->count; ++i)
        w->bodies[i].moved = w->bodies[i].turned = (carom_vec3){0};
    for (int k = 0; k < SUBSTEPS; ++k) {
        for (uint32_t i = 1; i < w->count; ++i) w->bodies[i].velocity.z -= GRAVITY * DT;
        for (uint64_t i = 0; i < w->point_count; ++i)
            for (int axis = 0; axis < 3; ++axis)
                apply(w, &w->points[i], axis, w->points[i].impulses[axis]);
        solve_all(w, true);
        for (uint32_t i = 1; i < w->count; ++i) advance(&w->bodies[i]);
        solve_all(w, false);
    }
    for (uint32_t i = 1; i < w->count; ++i) w->poses[i] = w->bodies[i].pose;
    must(w->context, carom_scene_move(w->context, w->scene, NULL, w->poses, w->count));
}

/* The ground and cubes of edge 1 and mass 1, centred at positions. */
static void world_make(carom_context *context, const carom_vec3 *positions, uint32_t cubes,
                       world *w) {
    *w = (world){.context = context, .count = cubes + 1};
    carom_scene_object_def *objects = must_have(calloc(w->count, sizeof(*objects)));
    w->bodies = must_have(calloc(w->count, sizeof(*w->bodies)));
    w->poses = must_have(calloc(w->count, sizeof(*w->poses)));
    w->first = must_have(calloc(w->count, sizeof(*w->first)));
    for (uint32_t i = 0; i < w->count; ++i) {
        carom_vec3 half = i == 0 ? (carom_vec3){100, 100, 1} : (carom_vec3){0.5, 0.5, 0.5};
        body *o = &w->bodies[i];
        o->pose = (carom_pose){{1, 0, 0, 0}, i == 0 ? (carom_vec3){0, 0, -1} : positions[i - 1]};
        o->over_mass = i == 0 ? 0.0 : 1.0;
        o->over_inertia = i == 0 ? 0.0 : 6.0;
        objects[i].convex = (carom_convex){.kind = CAROM_CONVEX_KIND_BOX, .half = half};
        objects[i].pose = w->poses[i] = w->first[i] = o->pose;
    }
    must(context, carom_scene_create(context, &(carom_scene_def){.reach = REACH}, &w->scene));
    must(context, carom_scene_add(context, w->scene, objects, w->count, NULL));
    free(objects);
}

/* How far any corner of any cube is from where it was, at most. */
static double world_drift(const world *w) {
    double most = 0.0;
    for (uint32_t i = 1; i < w->count; ++i)
        for (int k = 0; k < 8; ++k) {
            carom_vec3 corner = {k & 1 ? 0.5 : -0.5, k & 2 ? 0.5 : -0.5, k & 4 ? 0.5 : -0.5};
            carom_vec3 now = carom_pose_apply_value(&w->poses[i], &corner);
            carom_vec3 way = add(now, carom_pose_apply_value(&w->first[i], &corner), -1.0);
            most = fmax(most, sqrt(dot(way, way)));
        }
    return most;
}

static void world_free(world *w) {
    carom_scene_contacts_free(&w->contacts);
    carom_scene_destroy(w->scene);
    free(w->bodies);
    free(w->poses);
    free(w->first);
    free(w->points);
    free(w->last);
}

static bool stands(carom_context *context, const char *name, const carom_vec3 *positions,
                   uint32_t cubes, double seconds) {
    world w;
    world_make(context, positions, cubes, &w);
    for (int i = 0; i < seconds / STEP; ++i) step(&w);
    double drift = world_drift(&w);
    printf(
        "%s of %u cubes, %g s: %llu contact points, %.2f %% known from the step before; moved by "
        "at most %.1f mm\n",
        name, cubes, seconds, (unsigned long long)w.point_count,
        w.met != 0 ? 100.0 * (double)w.known / (double)w.met : 0.0, 1000.0 * drift);
    world_free(&w);
    if (drift <= DRIFT_MOST) return true;
    printf("%s fell\n", name);
    return false;
}

int main(int argc, char **argv) {
    carom_vec3 stack[STACK_HEIGHT], pyramid[PYRAMID_WIDTH * (PYRAMID_WIDTH + 1) / 2];
    carom_random random = {1};
    carom_context *context;
    uint32_t cubes = 0;
    must(NULL, carom_context_create(NULL, &context));
    /* Not quite above each other: no cube is placed so well by hand. */
    for (int i = 0; i < STACK_HEIGHT; ++i)
        stack[i] = (carom_vec3){carom_random_between(&random, -0.02, 0.02),
                                carom_random_between(&random, -0.02, 0.02), 0.5 + i};
    for (int row = 0; row < PYRAMID_WIDTH; ++row)
        for (int i = row; i < PYRAMID_WIDTH; ++i)
            pyramid[cubes++] = (carom_vec3){1.1 * (i - 0.5 * row),
                                            carom_random_between(&random, -0.02, 0.02), 0.5 + row};
    bool stand = stands(context, "a stack", stack, STACK_HEIGHT, argc > 1 ? atof(argv[1]) : 60.0);
    stand &= stands(context, "a pyramid", pyramid, cubes, argc > 2 ? atof(argv[2]) : 1.0);
    carom_context_destroy(context);
    return stand ? EXIT_SUCCESS : EXIT_FAILURE;
}
