/* SPDX-License-Identifier: MIT */
/* The scenes of kDet's Table 1 (Weller, Debowski, Zachmann 2017). The paper shows them in pictures
 * only; these are of the same kind and the same numbers of polygons, with k (the mean over faces)
 * and height near those of the paper. Two things set these numbers: long thin triangles, of which
 * many lie within a quarter of their length, raise k; a few very small or very large ones, studs
 * and floors, set the height. */
#include "scenes/sequence_scenes.h"

#include <math.h>
#include <stdlib.h>

#include "base/math.h"
#include "geom/pose.h"
#include "scenes/figure.h"
#include "scenes/gas.h"
#include "scenes/sequence_mesh.h"

#define TURN    6.283185307179586477 /* 2 pi */
#define GRAVITY 9.8
#define SEED    2017u

#define CLOTH_POINTS 64u /* simulated in each direction: a course of 120 frames takes a second */

/* ---- pieces ---------------------------------------------------------------------------------- */

static carom_pose *new_poses(scene_sequence *s) {
    carom_pose *poses = calloc(s->frame_count, sizeof(*poses));
    if (poses == NULL) s->failed = true;
    return poses;
}

static double seconds(uint32_t frame) {
    return frame * SCENE_FRAME_SECONDS;
}

/* Turned about `centre`, which is then at `at`. */
static carom_pose turned(carom_vec3 centre, carom_vec3 axis, double angle, carom_vec3 at) {
    double half = carom_sin(0.5 * angle) / carom_vec_length(axis);
    carom_pose pose = {.q = {.w = carom_cos(0.5 * angle),
                             .x = half * axis.x,
                             .y = half * axis.y,
                             .z = half * axis.z}};
    carom_frame f = carom_frame_make(&pose);
    pose.t = carom_vec_sub(at, carom_frame_turn(&f, centre));
    return pose;
}

static carom_vec3 random_vector(carom_random *random) {
    carom_vec3 v;
    v.x = carom_random_between(random, -1.0, 1.0);
    v.y = carom_random_between(random, -1.0, 1.0);
    v.z = carom_random_between(random, -1.0, 1.0);
    return v;
}

static carom_vec3 floor_point(const void *user, double u, double v) {
    double size = *(const double *)user;
    return carom_vec(size * (u - 0.5), size * (v - 0.5), 0.0);
}

/* A square floor of the given edge, in cells as large as two thirds. */
static void add_floor(scene_sequence *s, double size) {
    uint32_t cells = (uint32_t)(1.5 * size);
    scene_begin_part(s, NULL);
    scene_add_grid(s, cells, cells, floor_point, &size);
}

#define STUD_AROUND 8u
#define STUD_ALONG  6u
#define STUDS       24u

/* Small balls on a circle: the smallest triangles of a scene. */
static void add_studs(scene_sequence *s, carom_vec3 centre, double circle, double radius) {
    for (uint32_t i = 0; i < STUDS; ++i) {
        double angle = TURN * i / STUDS;
        carom_vec3 p = carom_vec_add(
            centre, carom_vec(circle * carom_cos(angle), circle * carom_sin(angle), 0.0));
        scene_add_ball(s, p, radius, STUD_AROUND, STUD_ALONG);
    }
}

static carom_vec3 figure_surface(const void *user, double u, double v) {
    (void)user;
    return scene_figure_point(u, 0.002 + 0.998 * v, 1.0);
}

/* A whole figure of at most that many triangles, `aspect` times as many around as up, with hair of
 * studs. */
static void add_figure(scene_sequence *s, uint64_t triangles, double aspect, double stud) {
    uint64_t studs = STUDS * 2u * STUD_AROUND * (STUD_ALONG - 1u);
    uint64_t left = triangles > studs ? triangles - studs : 0;
    uint32_t around = (uint32_t)sqrt(0.5 * (double)left * aspect);
    around = around < 3 ? 3 : around;
    uint32_t along = (uint32_t)((left + around) / (2u * around));
    scene_begin_part(s, NULL);
    scene_add_tube(s, around, along < 2 ? 2 : along, false, true, figure_surface, NULL);
    add_studs(s, carom_vec(0.0, 0.0, 0.78 * SCENE_FIGURE_HEIGHT), 0.33, stud);
}

/* A ribbon, in a spiral around the scene, of the triangles that are left over: grids cannot have
 * every number. */
typedef struct ribbon {
    double radius, edge, length;
} ribbon;

static carom_vec3 ribbon_point(const void *user, double u, double v) {
    const ribbon *r = user;
    double angle = u * r->length / r->radius, radius = r->radius + 0.1 * angle;
    return carom_vec(radius * carom_cos(angle), radius * carom_sin(angle),
                     0.5 + r->edge * v + 0.05 * carom_sin(20.0 * angle));
}

static void add_rest(scene_sequence *s, uint64_t triangles, double radius, double edge) {
    if (s->failed || s->triangle_count >= triangles) return;
    uint64_t left = triangles - s->triangle_count;
    ribbon r = {radius, edge, 0.5 * edge * (double)left};
    scene_begin_part(s, NULL);
    scene_add_strip(s, left, ribbon_point, &r);
}

static carom_vec3 nowhere(const void *user, double u, double v) {
    (void)user;
    (void)u;
    (void)v;
    return carom_vec(0.0, 0.0, 0.0);
}

/* The cloth, of at most that many triangles. */
static void add_cloth(scene_sequence *s, uint64_t triangles, const scene_cloth_def *def) {
    double ratio = carom_vec_length(def->across) / carom_vec_length(def->along);
    uint32_t columns = (uint32_t)sqrt(0.5 * (double)triangles * ratio);
    uint32_t rows = (uint32_t)(triangles / (2u * columns));
    uint64_t points = (uint64_t)def->points[0] * def->points[1];
    scene_begin_part(s, NULL); /* its positions come from the spline, not from here */
    s->sheet = (scene_sheet){.first = s->vertex_count,
                             .cells = {columns, rows},
                             .points = {def->points[0], def->points[1]},
                             .controls = malloc(s->frame_count * points * sizeof(carom_vec3))};
    s->has_sheet = true;
    scene_add_grid(s, columns, rows, nowhere, NULL);
    if (s->sheet.controls == NULL || !scene_cloth_simulate(def, s->frame_count, s->sheet.controls))
        s->failed = true;
}

static scene_contact floor_contact(carom_vec3 p) {
    return (scene_contact){.distance = p.z, .normal = {0.0, 0.0, 1.0}};
}

/* ---- a cloth on a figure --------------------------------------------------------------------- */

static scene_contact draped_obstacle(const void *user, carom_vec3 p, double time) {
    (void)user;
    (void)time;
    return scene_contact_nearer(floor_contact(p), scene_figure_contact(p));
}

static void make_draped(scene_sequence *s, uint64_t triangles) {
    scene_cloth_def cloth = {.points = {CLOTH_POINTS, CLOTH_POINTS},
                             .origin = {-1.5, -1.4, 2.04},
                             .across = {3.0, 0.0, 0.0},
                             .along = {0.0, 3.0, 0.0},
                             .thickness = 0.03,
                             .friction = 0.3,
                             .obstacle = draped_obstacle};
    add_floor(s, 4.0);
    double aspect = 9.0 * sqrt(20000.0 / (double)triangles);
    add_figure(s, triangles * 2 / 5, aspect > 3.0 ? aspect : 3.0, 0.0065);
    add_cloth(s, triangles - s->triangle_count, &cloth);
    add_rest(s, triangles, 1.8, 0.03);
}

/* ---- shards ---------------------------------------------------------------------------------- */

/* A figure cut into hollow shards: `around` about the axis and `up` of its height. The cuts are
 * wavy, and neighbours have the same wave. */
typedef struct shards {
    uint32_t around, up;
    double hollow; /* share of the radius */
    uint32_t i, j; /* of this one */
    carom_vec3 centre;
    double shrink; /* about its centre, so that neighbours do not touch */
} shards;

static carom_vec3 shard_at(const shards *d, double u, double v, double w) {
    double around = (d->i + v) / d->around, up = 0.002 + 0.96 * (d->j + w) / d->up;
    double bow = 4.0 * up * (1.0 - up); /* no waves at the ends */
    double wavy_up = up + 0.3 / d->up * bow * carom_sin(3.0 * TURN * around + 7.0 * up);
    double wavy_around = around + 0.25 / d->around * carom_sin(23.0 * up + 2.0 * TURN * around);
    return scene_figure_point(wavy_around, wavy_up, d->hollow + (1.0 - d->hollow) * u);
}

static carom_vec3 shard_point(const void *user, double u, double v, double w) {
    const shards *d = user;
    carom_vec3 p = shard_at(d, u, v, w);
    return carom_vec_add(d->centre, carom_vec_scale(carom_vec_sub(p, d->centre), d->shrink));
}

/* How a shard moves: with the figure until the hit, then by itself. */
typedef struct flight {
    uint32_t hit;     /* frame */
    carom_vec3 start; /* of the figure, in frame 0 */
    bool falls;       /* freely from frame 0 on */
    bool on_figure;   /* another figure stands there */
    carom_vec3 velocity, axis;
    double spin; /* radians per second */
} flight;

#define SHARD_STEPS  4   /* per frame */
#define SHARD_RADIUS 0.1 /* about; as seen by the floor */
#define RESTITUTION  0.3
#define ROUGHNESS    0.85 /* share of the speed along the floor that a hit leaves */

static void bounce(flight *f, carom_vec3 *at, scene_contact contact) {
    if (contact.distance >= SHARD_RADIUS) return;
    *at = carom_vec_add(*at, carom_vec_scale(contact.normal, SHARD_RADIUS - contact.distance));
    double in = carom_vec_dot(f->velocity, contact.normal);
    if (in >= 0.0) return;
    carom_vec3 across = carom_vec_sub(f->velocity, carom_vec_scale(contact.normal, in));
    f->velocity = carom_vec_sub(carom_vec_scale(across, ROUGHNESS),
                                carom_vec_scale(contact.normal, RESTITUTION * in));
    f->spin *= ROUGHNESS;
}

static carom_pose *fly(scene_sequence *s, carom_vec3 centre, flight f) {
    carom_pose *poses = new_poses(s);
    carom_vec3 at = carom_vec_add(centre, f.start);
    double angle = 0.0, step = SCENE_FRAME_SECONDS / SHARD_STEPS;
    for (uint32_t frame = 0; frame < s->frame_count && poses != NULL; ++frame) {
        if (frame <= f.hit) {
            double t = seconds(frame), drop = f.falls ? 0.5 * GRAVITY * t * t : 0.0;
            at = carom_vec_add(centre, f.start);
            at.z -= drop;
        }
        poses[frame] = turned(centre, f.axis, angle, at);
        for (int i = 0; i < SHARD_STEPS && frame >= f.hit; ++i) {
            f.velocity.z -= GRAVITY * step;
            at = carom_vec_add(at, carom_vec_scale(f.velocity, step));
            angle += f.spin * step;
            bounce(&f, &at, floor_contact(at));
            if (f.on_figure) bounce(&f, &at, scene_figure_contact(at));
        }
    }
    return poses;
}

/* The most cells across a shard's outside, as many up as around, so that all shards have no more
 * triangles than that; `deep` cells through its thickness. */
static uint32_t shard_cells(uint64_t triangles, uint64_t count, uint32_t deep) {
    uint32_t n = 1;
    while (count * 4u * ((uint64_t)(n + 1) * (n + 1) + 2u * (uint64_t)(n + 1) * deep) <= triangles)
        ++n;
    return n;
}

typedef flight shard_flight_fn(carom_vec3 centre, carom_random *random);

static void add_shards(scene_sequence *s, uint64_t triangles, shards d, uint32_t deep,
                       shard_flight_fn *flight_of) {
    carom_random random = {SEED};
    uint32_t count = d.around * d.up, n = shard_cells(triangles, count, deep);
    uint64_t all = count * 4u * ((uint64_t)n * n + 2u * (uint64_t)n * deep);
    uint64_t rows = (triangles - all) / (4u * (n + deep)); /* that some shards have more */
    for (d.j = 0; d.j < d.up; ++d.j)
        for (d.i = 0; d.i < d.around; ++d.i) {
            uint32_t more = (uint32_t)(rows / count + (d.j * d.around + d.i < rows % count));
            const uint32_t cells[3] = {deep, n, n + more};
            d.centre = shard_at(&d, 0.5, 0.5, 0.5);
            scene_begin_part(s, fly(s, d.centre, flight_of(d.centre, &random)));
            scene_add_block(s, cells, shard_point, &d);
        }
}

/* ---- a breaking figure ----------------------------------------------------------------------- */

#define BREAKING_HIT 25u /* frame */

static flight breaking_flight(carom_vec3 centre, carom_random *random) {
    double t = seconds(BREAKING_HIT);
    flight f = {.hit = BREAKING_HIT,
                .falls = true,
                .on_figure = true,
                .start = {0.12, 0.05, SCENE_FIGURE_HEIGHT + 0.5 * GRAVITY * t * t}};
    f.axis = random_vector(random); /* one statement per random number: the order is the seed's */
    f.spin = carom_random_between(random, 1.0, 6.0);
    carom_vec3 away = carom_vec(2.5 * centre.x, 2.5 * centre.y, 1.2 * centre.z - 1.5);
    f.velocity = carom_vec_add(away, carom_vec_scale(random_vector(random), 0.8));
    return f;
}

static void make_breaking(scene_sequence *s, uint64_t triangles) {
    add_floor(s, 8.0);
    add_figure(s, triangles / 3, 14.0, 0.0065);
    /* More shards in larger scenes, each with the same number of triangles, about. */
    shards d = {.around = 10, .up = 12, .hollow = 0.55, .shrink = 0.997};
    if (triangles < 20000) d.around = 5, d.up = 6;
    add_shards(s, triangles - s->triangle_count, d, 1, breaking_flight);
    add_rest(s, triangles, 3.0, 0.03);
}

/* ---- an exploding figure --------------------------------------------------------------------- */

#define EXPLODING_HIT  20u /* frame */
#define MISSILE_RADIUS 0.25

static flight exploding_flight(carom_vec3 centre, carom_random *random) {
    const carom_vec3 heart = {0.0, 0.0, 0.9};
    carom_vec3 away = carom_vec_sub(centre, heart);
    double speed = carom_random_between(random, 2.0, 5.0) / (0.3 + carom_vec_length(away));
    flight f = {.hit = EXPLODING_HIT, .axis = random_vector(random)};
    f.spin = carom_random_between(random, 2.0, 10.0);
    f.velocity = carom_vec_add(carom_vec_scale(away, speed), carom_vec(0.5, 0.0, 2.0));
    return f;
}

static carom_pose *missile_poses(scene_sequence *s) {
    carom_pose *poses = new_poses(s);
    for (uint32_t frame = 0; frame < s->frame_count && poses != NULL; ++frame) {
        double t = seconds(frame) - seconds(EXPLODING_HIT);
        carom_vec3 at = {-0.7 + (t < 0.0 ? 5.0 : 1.0) * t, 0.0, 1.0};
        poses[frame] = turned(carom_vec(0.0, 0.0, 0.0), carom_vec(0.0, 1.0, 0.2), 6.0 * t, at);
    }
    return poses;
}

static void make_exploding(scene_sequence *s, uint64_t triangles) {
    shards d = {.around = 10, .up = 12, .hollow = 0.7, .shrink = 0.997};
    if (triangles < 20000) d.around = 5, d.up = 6;
    add_floor(s, 10.0);
    scene_begin_part(s, missile_poses(s));
    scene_add_ball(s, carom_vec(0.0, 0.0, 0.0), MISSILE_RADIUS, 24, 12);
    add_studs(s, carom_vec(0.0, 0.0, 0.0), MISSILE_RADIUS + 0.02, 0.008);
    add_shards(s, triangles - s->triangle_count, d, 2, exploding_flight);
    add_rest(s, triangles, 4.0, 0.03);
}

/* ---- a cloth on a turning ball --------------------------------------------------------------- */

#define WHIRL_RADIUS 0.7
#define WHIRL_START  0.6 /* seconds: when the cloth hangs down */
#define WHIRL_GROWTH 9.0 /* radians per second per second */

static const carom_vec3 whirl_centre = {0.0, 0.0, 1.2};

static scene_contact whirling_obstacle(const void *user, carom_vec3 p, double time) {
    (void)user;
    double spin = time < WHIRL_START ? 0.0 : WHIRL_GROWTH * (time - WHIRL_START);
    scene_contact ball = scene_contact_capsule(p, whirl_centre, whirl_centre, WHIRL_RADIUS);
    ball.velocity = carom_vec(-spin * p.y, spin * p.x, 0.0);
    return scene_contact_nearer(floor_contact(p), ball);
}

static carom_pose *whirling_poses(scene_sequence *s) {
    carom_pose *poses = new_poses(s);
    for (uint32_t frame = 0; frame < s->frame_count && poses != NULL; ++frame) {
        double t = seconds(frame) < WHIRL_START ? 0.0 : seconds(frame) - WHIRL_START;
        double angle = 0.5 * WHIRL_GROWTH * t * t;
        poses[frame] = turned(whirl_centre, carom_vec(0.0, 0.0, 1.0), angle, whirl_centre);
    }
    return poses;
}

static void make_whirling(scene_sequence *s, uint64_t triangles) {
    scene_cloth_def cloth = {.points = {CLOTH_POINTS, CLOTH_POINTS},
                             .origin = {-1.5, -1.5, 1.95},
                             .across = {3.0, 0.0, 0.0},
                             .along = {0.0, 3.0, 0.0},
                             .thickness = 0.03,
                             .friction = 0.9,
                             .obstacle = whirling_obstacle};
    scene_begin_part(s, whirling_poses(s));
    scene_add_ball(s, whirl_centre, WHIRL_RADIUS, 48, 24);
    add_cloth(s, triangles - s->triangle_count, &cloth);
    add_rest(s, triangles, 2.0, 0.03);
}

/* ---- many balls ------------------------------------------------------------------------------ */

#define BODIES_GROWTH 1.03 /* meshes are so much larger than the spheres, so that they meet */

static carom_vec3 body_spin(uint32_t i) {
    return carom_vec(carom_sin(1.0 + i), carom_cos(2.0 + 3.0 * i), 1.0);
}

static bool run_bodies(scene_sequence *s, const carom_gas_sphere *start, uint32_t count,
                       carom_vec3 edges, carom_pose **poses) {
    carom_context *context = NULL;
    carom_gas *gas = NULL;
    carom_gas_spheres now = {0};
    const carom_context_def one = {.threads = 1};
    const carom_gas_def def = {.spheres = start, .sphere_count = count, .edges = edges};
    carom_status status = carom_context_create(&one, &context);
    if (status == CAROM_OK) status = carom_gas_create(context, &def, &gas);
    for (uint32_t frame = 0; frame < s->frame_count && status == CAROM_OK; ++frame) {
        status = carom_gas_advance(context, gas, seconds(frame), NULL, NULL);
        if (status == CAROM_OK) status = carom_gas_list_spheres(context, gas, &now);
        for (uint32_t i = 0; i < count && status == CAROM_OK; ++i)
            poses[i][frame] = turned(carom_vec(0.0, 0.0, 0.0), body_spin(i), 2.0 * seconds(frame),
                                     now.data[i].position);
    }
    carom_gas_spheres_free(&now);
    carom_gas_destroy(gas);
    carom_context_destroy(context);
    return status == CAROM_OK;
}

static void make_bodies(scene_sequence *s, uint64_t triangles) {
    enum { MOST = 160 };
    static const double radii[3] = {0.24, 0.07, 0.025};
    carom_pose *poses[MOST] = {NULL};
    carom_vec3 edges = {3.2, 3.2, 3.2};
    uint32_t count = triangles < 20000 ? 40 : MOST;
    carom_gas_sphere *start = scene_gas_lattice(count, radii[0], edges, SEED);
    if (start == NULL) {
        s->failed = true;
        return;
    }
    scene_gas_keep_inside(start, count, &(carom_gas_def){.edges = edges});
    scene_gas_set_speed(start, count, 1.5);
    for (uint32_t i = 0; i < count; ++i) {
        start[i].radius = radii[i % 3];
        start[i].mass = radii[i % 3] * radii[i % 3] * radii[i % 3];
        poses[i] = new_poses(s);
    }
    bool good = !s->failed && run_bodies(s, start, count, edges, poses);
    uint64_t each = triangles / count;
    uint32_t along = (uint32_t)sqrt(0.5 * (double)each / 3.6);
    along = along < 3 ? 3 : along;
    uint32_t around = (uint32_t)(each / (2u * (along - 1)));
    for (uint32_t i = 0; i < count; ++i) {
        scene_begin_part(s, poses[i]);
        scene_add_ball(s, carom_vec(0.0, 0.0, 0.0), BODIES_GROWTH * start[i].radius, around, along);
    }
    free(start);
    s->failed |= !good;
    add_rest(s, triangles, 3.0, 0.02);
}

/* ---- a cloth through a funnel ---------------------------------------------------------------- */

#define PLUNGER_RADIUS 0.2

static const double funnel_wall[3][2] = {{1.15, 1.2}, {0.28, 0.3}, {0.28, -0.9}}; /* radius, z */

static carom_vec3 plunger_at(double time) {
    return carom_vec(0.0, 0.0, 1.5 - 1.3 * time);
}

static scene_contact funnel_obstacle(const void *user, carom_vec3 p, double time) {
    (void)user;
    carom_vec3 plunger = plunger_at(time);
    scene_contact ball = scene_contact_capsule(p, plunger, plunger, PLUNGER_RADIUS);
    ball.velocity = carom_vec(0.0, 0.0, -1.3);
    return scene_contact_nearer(
        ball, scene_contact_nearer(scene_contact_wall(p, funnel_wall[0], funnel_wall[1]),
                                   scene_contact_wall(p, funnel_wall[1], funnel_wall[2])));
}

static carom_vec3 funnel_point(const void *user, double u, double v) {
    (void)user;
    const double *p = funnel_wall[(int)(2.0 * v + 0.5)];
    return carom_vec(p[0] * carom_cos(TURN * u), p[0] * carom_sin(TURN * u), p[1]);
}

static carom_pose *plunger_poses(scene_sequence *s) {
    carom_pose *poses = new_poses(s);
    for (uint32_t frame = 0; frame < s->frame_count && poses != NULL; ++frame)
        poses[frame].t = plunger_at(seconds(frame));
    return poses;
}

static void make_funnel(scene_sequence *s, uint64_t triangles) {
    scene_cloth_def cloth = {.points = {CLOTH_POINTS, CLOTH_POINTS},
                             .origin = {-0.9, -0.9, 1.28},
                             .across = {1.8, 0.0, 0.0},
                             .along = {0.0, 1.8, 0.0},
                             .thickness = 0.02,
                             .friction = 0.05,
                             .obstacle = funnel_obstacle};
    scene_begin_part(s, NULL);
    scene_add_tube(s, 64, 2, false, false, funnel_point, NULL);
    scene_begin_part(s, plunger_poses(s));
    scene_add_ball(s, carom_vec(0.0, 0.0, 0.0), PLUNGER_RADIUS - 0.01, 32, 16);
    add_cloth(s, triangles - s->triangle_count, &cloth);
    add_rest(s, triangles, 1.6, 0.03);
}

/* ---- a cloth on a chair ---------------------------------------------------------------------- */

#define RAIL_POINTS 4u
#define BARS        16u
#define TUBE_RADIUS 0.02

/* The left side of the chair: front leg, seat, back. The right one is its mirror image. */
static const carom_vec3 rail[RAIL_POINTS] = {
    {-0.45, 0.42, 0.0}, {-0.45, 0.40, 0.80}, {-0.45, -0.38, 0.76}, {-0.45, -0.52, 1.60}};
static const carom_vec3 rear_leg[2] = {{-0.45, -0.34, 0.72}, {-0.45, -0.45, 0.0}};

static carom_vec3 mirrored(carom_vec3 p, int side) {
    return carom_vec(side == 0 ? p.x : -p.x, p.y, p.z);
}

/* The left end of a bar: half of them are the seat, half of them the back. */
static carom_vec3 bar_end(uint32_t i) {
    bool seat = i < BARS / 2;
    carom_vec3 from = rail[seat ? 1 : 2], to = rail[seat ? 2 : 3];
    double t = ((seat ? i : i - BARS / 2) + 0.7) / (BARS / 2 + 0.4);
    carom_vec3 p = carom_vec_add(from, carom_vec_scale(carom_vec_sub(to, from), t));
    p.x += 1.2 * TUBE_RADIUS; /* it does not touch the rail */
    return p;
}

/* All straight pieces of the chair. */
#define PIECES (2u * RAIL_POINTS + BARS)
typedef struct chair_piece {
    carom_vec3 from, to;
} chair_piece;

static void list_pieces(chair_piece *pieces) {
    for (int side = 0; side < 2; ++side) {
        for (uint32_t i = 0; i + 1 < RAIL_POINTS; ++i)
            *pieces++ = (chair_piece){mirrored(rail[i], side), mirrored(rail[i + 1], side)};
        *pieces++ = (chair_piece){mirrored(rear_leg[0], side), mirrored(rear_leg[1], side)};
    }
    for (uint32_t i = 0; i < BARS; ++i)
        *pieces++ = (chair_piece){bar_end(i), mirrored(bar_end(i), 1)};
}

/* Whether x is nearer to [a, b] than any contact. */
static bool is_near(double x, double a, double b) {
    const double reach = 0.1; /* radius and thickness are less */
    return x > (a < b ? a : b) - reach && x < (a < b ? b : a) + reach;
}

static scene_contact chair_obstacle(const void *user, carom_vec3 p, double time) {
    const chair_piece *pieces = user;
    (void)time;
    scene_contact nearest = floor_contact(p);
    for (uint32_t i = 0; i < PIECES; ++i) {
        const chair_piece *piece = &pieces[i];
        if (is_near(p.y, piece->from.y, piece->to.y) && is_near(p.z, piece->from.z, piece->to.z))
            nearest = scene_contact_nearer(
                nearest, scene_contact_capsule(p, piece->from, piece->to, TUBE_RADIUS));
    }
    return nearest;
}

/* A tube along points; rings lie across the mean direction. */
typedef struct tube {
    const carom_vec3 *points;
    uint32_t count;
    double radius;
    int side; /* 1: the mirror image */
} tube;

static carom_vec3 tube_point(const void *user, double u, double v) {
    const tube *t = user;
    uint32_t i = (uint32_t)(v * (t->count - 1) + 0.5);
    carom_vec3 from = t->points[i > 0 ? i - 1 : 0];
    carom_vec3 to = t->points[i + 1 < t->count ? i + 1 : i];
    carom_vec3 along = carom_vec_sub(to, from);
    along = carom_vec_scale(along, 1.0 / carom_vec_length(along));
    carom_vec3 aside = fabs(along.x) < 0.5 ? carom_vec(1.0, 0.0, 0.0) : carom_vec(0.0, 1.0, 0.0);
    carom_vec3 x = carom_vec_cross(along, aside);
    x = carom_vec_scale(x, 1.0 / carom_vec_length(x));
    carom_vec3 y = carom_vec_cross(along, x);
    carom_vec3 p = carom_vec_add(
        t->points[i], carom_vec_add(carom_vec_scale(x, t->radius * carom_cos(TURN * u)),
                                    carom_vec_scale(y, t->radius * carom_sin(TURN * u))));
    return mirrored(p, t->side);
}

static void add_pipe(scene_sequence *s, const carom_vec3 *points, uint32_t count, uint32_t around,
                     int side) {
    tube t = {points, count, 0.6 * TUBE_RADIUS, side};
    scene_add_tube(s, around, count - 1, false, false, tube_point, &t);
}

static void make_chair(scene_sequence *s, uint64_t triangles) {
    chair_piece pieces[PIECES];
    list_pieces(pieces);
    scene_cloth_def cloth = {.points = {CLOTH_POINTS, CLOTH_POINTS},
                             .origin = {-0.8, -1.1, 1.68},
                             .across = {1.6, 0.0, 0.0},
                             .along = {0.0, 1.7, 0.0},
                             .thickness = 0.04,
                             .friction = 0.5,
                             .obstacle = chair_obstacle,
                             .user = pieces};
    /* The finer the scene, the more triangles around a pipe. */
    uint32_t around = 12;
    while (31u * (uint64_t)around * around < triangles) ++around;
    scene_begin_part(s, NULL);
    for (int side = 0; side < 2; ++side) {
        add_pipe(s, rail, RAIL_POINTS, around, side);
        add_pipe(s, rear_leg, 2, around, side);
    }
    for (uint32_t i = 0; i < BARS; ++i) {
        const carom_vec3 bar[2] = {bar_end(i), mirrored(bar_end(i), 1)};
        add_pipe(s, bar, 2, around, 0);
    }
    for (int side = 0; side < 2; ++side) /* rivets */
        scene_add_ball(s, mirrored(carom_vec(-0.45, -0.55, 1.62), side), 0.0006, STUD_AROUND,
                       STUD_ALONG);
    add_cloth(s, triangles - s->triangle_count, &cloth);
    add_rest(s, triangles, 1.6, 0.02);
}

/* ---------------------------------------------------------------------------------------------- */

void scene_sequence_fill(scene_sequence *s, uint64_t triangles) {
    static void (*const makers[SCENE_KIND_COUNT])(scene_sequence *, uint64_t) = {
        make_exploding, make_whirling, make_bodies, make_funnel,
        make_chair,     make_breaking, make_draped};
    makers[s->kind](s, triangles);
}
