/* SPDX-License-Identifier: MIT */
/* The winding number of one solid around a vertex of the other: a ray from the vertex counts +1 for
 * each face through which it leaves, -1 for each through which it enters. One ray per connected
 * component of a mesh is enough (solid_spanning_tree.c).
 *
 * The ray is given by a second point, so all tests are orientations of points, which are exact. b
 * is perturbed (solid_perturbation.h), so the ray never passes through an edge or a corner, nor
 * starts on a face. It points away from the middle of the other solid, where it crosses the fewest
 * faces. Boxes are widened by more than the rounding of poses (bvh_ray_cpu.c). */
#include "geom/length.h"
#include "solid/solid_query.h"

typedef struct ray {
    carom_vec3 from, through;
    int moved_sign; /* 1: the ray is b's and perturbed; -1: the faces are */
} ray;

/* The change of the winding number where the ray crosses the face, or 0. */
static int solid_winding_crossing(const ray *r, const carom_vec3 *p) {
    int degenerate = 0, side[3];
    for (int i = 0; i < 3; ++i) {
        side[i] = carom_perturbed_orient(r->from, r->through, p[i], p[i == 2 ? 0 : i + 1],
                                         -r->moved_sign, &degenerate);
        if (side[i] == 0 || side[i] != side[0]) return 0;
    }
    int at = carom_perturbed_side(p, r->from, r->moved_sign, &degenerate);
    return at * side[0] < 0 ? side[0] : 0;
}

static int count_triangle(const carom_solid_query *query, int of_b, uint32_t triangle,
                          const ray *r) {
    carom_solid_face face;
    carom_solid_pose(query, of_b, triangle, &face);
    return solid_winding_crossing(r, face.p);
}

/* Rotation of the direction by rounding, some 2^-50 in radians, in sizes and distances: far above
 * it, as a wider box costs nothing. */
#define RAY_TURN_ERROR 0x1p-42
/* Rounding of coordinates, relative: far above a few of 2^-53. */
#define RAY_POSITION_ERROR 0x1p-45
/* Half the diagonal of a cube over half its edge, sqrt(3), rounded up. */
#define RAY_CUBE_DIAGONAL 1.8
/* Length of a ray, in radii of the solid: twice its width; and in the point's coordinates, far
 * above their rounding. */
#define RAY_LENGTH 4.0
#define RAY_SHARE  0x1p-20

/* ---- Tree traversal -------------------------------------------------------------------------- */

typedef struct solid_winding_counter {
    const carom_solid_query *query;
    int of_b;
    const ray *ray;
    int winding;
} solid_winding_counter;

static double count_slot(void *user, uint32_t slot) {
    solid_winding_counter *c = user;
    uint32_t triangle = c->query->solids[c->of_b]->view.bvh->items[slot];
    c->winding += count_triangle(c->query, c->of_b, triangle, c->ray);
    return HUGE_VAL;
}

carom_bvh_ray carom_solid_ray_to_tree(const carom_solid_query *query, int of_b, carom_vec3 start,
                                      carom_vec3 direction, double off) {
    const carom_soup_side *side = carom_solid_side(query, of_b);
    const carom_soup_view *soup = &side->view;
    const double *m = side->frame.r, back = 1.0 / query->power;
    carom_vec3 from = carom_vec_sub(carom_vec_scale(start, back), side->frame.t);
    direction = carom_vec_scale(direction, 1.0 / carom_vec_largest(direction));
    const double origin[3] = {soup->origin.x, soup->origin.y, soup->origin.z};
    double largest = 0.0, far = 0.0;
    carom_bvh_ray path;
    for (int k = 0; k < 3; ++k) {
        double x = (m[k] * from.x + m[3 + k] * from.y) + m[6 + k] * from.z;
        path.from[k] = x * soup->scale - origin[k];
        path.direction[k] = (m[k] * direction.x + m[3 + k] * direction.y) + m[6 + k] * direction.z;
        largest = CAROM_MAX(fabs(path.direction[k]), largest);
        far = CAROM_MAX(fabs(path.from[k]), far);
    }
    /* Rounding rotates the direction, too: by some 2^-50 of itself, over a path of at most the
     * soup's size and the distance to it. */
    double size = side->largest + carom_vec_largest(side->frame.t) +
                  carom_vec_largest(carom_vec_scale(start, back));
    path.margin = RAY_TURN_ERROR * (size * soup->scale + far) + 2.0 * off * back * soup->scale;
    for (int k = 0; k < 3; ++k) path.direction[k] /= largest;
    if (!(path.margin < CAROM_BVH_EVERYWHERE) || !(far < CAROM_BVH_EVERYWHERE)) {
        path.margin = CAROM_BVH_EVERYWHERE;
        path.from[0] = path.from[1] = path.from[2] = 0.0;
    }
    return path;
}

static int count_tree(const carom_solid_query *query, int of_b, const ray *r) {
    solid_winding_counter c = {query, of_b, r, 0};
    carom_bvh_ray path =
        carom_solid_ray_to_tree(query, of_b, r->from, carom_vec_sub(r->through, r->from), 0.0);
    CAROM_CPU_CALL(query->context, carom_bvh_cast)
    (query->solids[of_b]->view.bvh, &path, HUGE_VAL, count_slot, &c);
    return c.winding;
}

/* ---- Winding number -------------------------------------------------------------------------- */

int carom_solid_winding(const carom_solid_query *query, int of_b, uint32_t vertex) {
    const carom_solid *other = query->solids[!of_b];
    const carom_soup_side *side = carom_solid_side(query, !of_b);
    ray r;
    r.from = carom_solid_vertex(query, of_b, vertex);
    r.moved_sign = of_b ? query->moved_sign : -query->moved_sign;
    carom_vec3 centre =
        carom_vec_scale(carom_frame_apply(&side->frame, side->centre), query->power);
    carom_vec3 direction = carom_vec_sub(r.from, centre);
    double radius = carom_scale_apply(query->power, -side->exponent);
    double far = CAROM_MAX(CAROM_MAX(fabs(direction.x), fabs(direction.y)), fabs(direction.z));
    double rounding = RAY_POSITION_ERROR * (carom_vec_largest(r.from) + carom_vec_largest(centre));
    if (far > RAY_CUBE_DIAGONAL * radius + rounding) return other->base;
    /* The ray vector is at least as long as the solid is wide, and long enough to change the
     * point. */
    double length = RAY_LENGTH * radius + RAY_SHARE * carom_vec_largest(r.from) + DBL_MIN;
    if (far > 0.0)
        direction = carom_vec_scale(direction, length / far);
    else
        direction = carom_vec(length, 0.0, 0.0);
    r.through = carom_vec_add(r.from, direction);
    int winding = 0;
    if (!query->posed.extreme) return other->base + count_tree(query, !of_b, &r);
    for (uint32_t t = 0; t < other->view.triangle_count; ++t)
        winding += count_triangle(query, !of_b, t, &r);
    return other->base + winding;
}
