/* SPDX-License-Identifier: MIT */
/* Smallest enclosing ball of points or balls.
 *
 * At most four inputs, the support, determine the ball. Each round finds the input that extends
 * farthest, solves the subproblem of the support and this input, and takes its support (Gaertner
 * 1999, with the subproblem of Fischer and Gaertner 2003 for balls). The radius of the subproblem
 * grows with every round and is a lower bound of the result; the reach of the farthest input is an
 * upper bound. When they agree, or rounding stops the growth, the best centre found is the result.
 * There is no shuffling, and ties take the lowest index: the same input gives the same ball.
 *
 * The subproblem tries every subset of the support together with the new input, which must lie on
 * the boundary. The ball tangent to all of the subset gives a centre. The centre from which the
 * farthest of the (at most five) inputs is nearest is taken. No candidate is rejected for lying
 * outside by a tolerance, so duplicate, collinear and cospherical inputs need no special case: an
 * ill-conditioned subset only gives a bad centre, and then a smaller subset gives a good one. */
#include "geom/enclosing_ball.h"

#define MOST_SUPPORT 4
/* For the proof of termination: five rounds are usual, 18 the most seen. */
#define ENCLOSING_BALL_MOST_ROUNDS 1000
/* Of the longest of the vectors: a remainder below it, 8 unit roundoffs, is what rounding left of a
 * dependent vector. One that is a little longer may be rounding, too: it gives a bad centre, which
 * loses against that of a smaller subset. */
#define DEPENDENT_REMAINDER 0x1p-50
/* In local lengths, in which the inputs are about 1 in size: a ball larger than this is of a subset
 * that is dependent but for rounding, and its centre would overflow when squared twice. */
#define TANGENT_MOST_RADIUS 0x1p100
/* Relative: the lower bound is reached. The distances of both are rounded by 4.5 unit roundoffs. */
#define BOUNDS_AGREE (1.0 + 0x1p-50)

/* Inputs as they were given: points when `balls` is NULL. */
typedef struct inputs {
    const carom_vec3 *points;
    const carom_ball *balls;
    uint64_t count;
    carom_vec3 origin; /* local = (true - origin) * down */
    double down, up;
} inputs;

typedef struct support {
    carom_ball ball[MOST_SUPPORT + 1]; /* local; the most recent one is first */
    uint64_t index[MOST_SUPPORT + 1];
    int count;
} support;

static double enclosing_ball_reach_of(const support *set, carom_vec3 centre) {
    double most = 0.0;
    for (int i = 0; i < set->count; ++i) {
        double reach =
            carom_vec_length(carom_vec_sub(set->ball[i].centre, centre)) + set->ball[i].radius;
        if (!(reach <= most)) most = reach;
    }
    return most;
}

/* ---- Subproblem: the support and one input --------------------------------------------------- */

/* Orthonormal directions of up to three vectors, the longest remainder first, and the vectors in
 * them: q[order[i]] = sum over k <= i of part[i][k] e[k]. False when they are dependent. */
typedef struct enclosing_ball_frame {
    carom_vec3 e[3];
    double part[3][3];
    int order[3];
} enclosing_ball_frame;

static bool enclosing_ball_frame_of(const carom_vec3 *q, int count, enclosing_ball_frame *f) {
    carom_vec3 rest[3];
    bool used[3] = {false, false, false};
    double largest = 0.0;
    for (int i = 0; i < count; ++i) rest[i] = q[i];
    for (int k = 0; k < count; ++k) {
        int next = -1;
        double most = 0.0;
        for (int i = 0; i < count; ++i) {
            double squared = carom_vec_dot(rest[i], rest[i]);
            if (!used[i] && (next < 0 || squared > most)) {
                next = i;
                most = squared;
            }
        }
        double length = sqrt(most);
        if (k == 0) largest = length;
        if (!(length > largest * DEPENDENT_REMAINDER)) return false;
        used[next] = true;
        f->order[k] = next;
        CAROM_ASSERT(next >= 0 && next < count);
        f->e[k] = carom_vec_scale(rest[next], 1.0 / length);
        for (int i = 0; i < k; ++i) f->part[k][i] = carom_vec_dot(q[next], f->e[i]);
        f->part[k][k] = length;
        for (int i = 0; i < count; ++i)
            for (int twice = 0; twice < 2 && !used[i]; ++twice)
                for (int j = 0; j <= k; ++j)
                    rest[i] = carom_vec_sub(
                        rest[i], carom_vec_scale(f->e[j], carom_vec_dot(rest[i], f->e[j])));
    }
    return true;
}

/* Solves e-coordinates x from q[order[i]].x = right[order[i]]. */
static carom_vec3 frame_solve(const enclosing_ball_frame *f, int count, const double *right) {
    double x[3];
    carom_vec3 sum = carom_vec(0.0, 0.0, 0.0);
    for (int i = 0; i < count; ++i) {
        double rest = right[f->order[i]];
        for (int k = 0; k < i; ++k) rest -= f->part[i][k] * x[k];
        CAROM_ASSERT(f->part[i][i] > 0.0);
        x[i] = rest / f->part[i][i];
        sum = carom_vec_add(sum, carom_vec_scale(f->e[i], x[i]));
    }
    return sum;
}

/* Centres of the balls that ball 0 and those of `mask` touch from inside: at most two.
 * With x = c - c_0, q_i = c_i - c_0, t_i = r_i - r_0 and g = R - r_0 = |x|:
 * q_i.x = (q_i.q_i - t_i^2)/2 + t_i g, so x = a + b g, and g solves |a + b g| = g. */
static int tangent_centres(const support *set, unsigned mask, carom_vec3 centres[2]) {
    carom_vec3 q[3];
    double constant[3], slope[3];
    int count = 0;
    for (int i = 1; i < set->count; ++i) {
        if ((mask >> (i - 1) & 1u) == 0) continue;
        if (count == 3) return 0;
        q[count] = carom_vec_sub(set->ball[i].centre, set->ball[0].centre);
        slope[count] = set->ball[i].radius - set->ball[0].radius;
        constant[count] = 0.5 * (carom_vec_dot(q[count], q[count]) - slope[count] * slope[count]);
        ++count;
    }
    enclosing_ball_frame f;
    if (!enclosing_ball_frame_of(q, count, &f)) return 0;
    carom_vec3 a = frame_solve(&f, count, constant), b = frame_solve(&f, count, slope);
    double aa = carom_vec_dot(a, a), ab = carom_vec_dot(a, b), bb = carom_vec_dot(b, b);
    double lead = bb - 1.0, root = ab * ab - lead * aa;
    root = root > 0.0 ? sqrt(root) : 0.0;
    /* lead g^2 + 2 ab g + aa = 0 */
    double g[2] = {aa / (root - ab), (ab + root) / -lead};
    if (lead >= 0.0) g[1] = (root - ab) / lead;
    int found = 0;
    for (int i = 0; i < 2; ++i)
        if (g[i] >= 0.0 && g[i] < TANGENT_MOST_RADIUS)
            centres[found++] =
                carom_vec_add(set->ball[0].centre, carom_vec_add(a, carom_vec_scale(b, g[i])));
    if (found == 0 && aa == 0.0) centres[found++] = set->ball[0].centre; /* 0/0 for equal centres */
    return found;
}

/* Replaces the set by its support and returns the smallest ball. */
static carom_ball solve_small(support *set) {
    carom_ball best = {set->ball[0].centre, enclosing_ball_reach_of(set, set->ball[0].centre)};
    unsigned best_mask = 0;
    for (unsigned mask = 1; mask < 1u << (set->count - 1); ++mask) {
        carom_vec3 centres[2];
        int found = tangent_centres(set, mask, centres);
        for (int i = 0; i < found; ++i) {
            double reach = enclosing_ball_reach_of(set, centres[i]);
            if (reach < best.radius) {
                best.centre = centres[i];
                best.radius = reach;
                best_mask = mask;
            }
        }
    }
    int kept = 1;
    for (int i = 1; i < set->count; ++i) {
        if ((best_mask >> (i - 1) & 1u) == 0) continue;
        set->ball[kept] = set->ball[i];
        set->index[kept++] = set->index[i];
    }
    CAROM_ASSERT(kept >= 1 && kept <= MOST_SUPPORT + 1);
    set->count = kept;
    return best;
}

/* ---- All inputs ------------------------------------------------------------------------------ */

/* Index of the input that reaches farthest from the true centre; *reach in local lengths. */
static uint64_t enclosing_ball_farthest(const inputs *in, carom_vec3 centre, double *reach) {
    uint64_t index = 0;
    double most = -1.0;
    for (uint64_t i = 0; i < in->count; ++i) {
        carom_vec3 at = in->balls != NULL ? in->balls[i].centre : in->points[i];
        carom_vec3 apart = carom_vec_scale(carom_vec_sub(at, centre), in->down);
        double value = carom_vec_dot(apart, apart); /* points need no square root */
        if (in->balls != NULL) value = sqrt(value) + in->balls[i].radius * in->down;
        if (value > most) {
            most = value;
            index = i;
        }
    }
    *reach = in->balls != NULL ? most : sqrt(most);
    return index;
}

static bool enclosing_ball_contains(const support *set, uint64_t index) {
    for (int i = 0; i < set->count; ++i)
        if (set->index[i] == index) return true;
    return false;
}

static void insert_first(const inputs *in, support *set, uint64_t index) {
    CAROM_ASSERT(set->count <= MOST_SUPPORT && index < in->count);
    for (int i = set->count; i > 0; --i) {
        set->ball[i] = set->ball[i - 1];
        set->index[i] = set->index[i - 1];
    }
    carom_vec3 at = in->balls != NULL ? in->balls[index].centre : in->points[index];
    set->ball[0].centre = carom_vec_scale(carom_vec_sub(at, in->origin), in->down);
    set->ball[0].radius = in->balls != NULL ? in->balls[index].radius * in->down : 0.0;
    set->index[0] = index;
    ++set->count;
}

static carom_vec3 find_centre(const inputs *in) {
    support set = {.count = 0};
    carom_vec3 centre = in->origin, best = centre;
    double lower = 0.0, upper = DBL_MAX;
    for (int round = 0; round < ENCLOSING_BALL_MOST_ROUNDS; ++round) {
        double reach;
        uint64_t index = enclosing_ball_farthest(in, centre, &reach);
        if (reach < upper) {
            upper = reach;
            best = centre;
        }
        if (reach <= lower * BOUNDS_AGREE || enclosing_ball_contains(&set, index)) break;
        insert_first(in, &set, index);
        carom_ball small = solve_small(&set);
        centre = carom_vec_add(in->origin, carom_vec_scale(small.centre, in->up));
        if (round > 0 && !(small.radius > lower)) { /* rounding: this centre may still be better */
            (void)enclosing_ball_farthest(in, centre, &reach);
            if (reach < upper) best = centre;
            break;
        }
        lower = small.radius;
    }
    return best;
}

/* Takes the middle of the bounds for origin and a power of two near their size for scale. */
static bool enclosing_ball_look_at(inputs *in, uint64_t *bad) {
    carom_vec3 low = carom_vec(DBL_MAX, DBL_MAX, DBL_MAX), high = carom_vec_scale(low, -1.0);
    double most = 0.0;
    for (uint64_t i = 0; i < in->count; ++i) {
        carom_vec3 at = in->balls != NULL ? in->balls[i].centre : in->points[i];
        double radius = in->balls != NULL ? in->balls[i].radius : 0.0;
        if (!carom_vec_within(at, CAROM_LARGEST_COORDINATE) ||
            !(radius >= 0.0 && radius <= CAROM_LARGEST_COORDINATE)) {
            *bad = i;
            return false;
        }
        low = carom_vec(CAROM_MIN(at.x, low.x), CAROM_MIN(at.y, low.y), CAROM_MIN(at.z, low.z));
        high = carom_vec(CAROM_MAX(at.x, high.x), CAROM_MAX(at.y, high.y), CAROM_MAX(at.z, high.z));
        most = CAROM_MAX(radius, most);
    }
    in->origin = carom_vec_add(carom_vec_scale(low, 0.5), carom_vec_scale(high, 0.5));
    double size = carom_vec_largest(carom_vec_sub(high, low));
    int e = size > 0.0 || most > 0.0 ? carom_exponent(CAROM_MAX(size, most)) : 0;
    in->down = carom_power_of_two(-e);
    in->up = carom_power_of_two(e);
    return true;
}

bool carom_ball_around_points(const carom_vec3 *points, uint64_t count, carom_ball *ball,
                              uint64_t *bad) {
    inputs in = {.points = points, .count = count};
    if (!enclosing_ball_look_at(&in, bad)) return false;
    carom_ball result = {find_centre(&in), 0.0};
    for (uint64_t i = 0; i < count; ++i) {
        double reach = carom_reach(result.centre, points[i]);
        result.radius = CAROM_MAX(reach, result.radius);
    }
    *ball = result;
    return true;
}

bool carom_ball_around_balls(const carom_ball *balls, uint64_t count, carom_ball *ball,
                             uint64_t *bad) {
    inputs in = {.balls = balls, .count = count};
    if (!enclosing_ball_look_at(&in, bad)) return false;
    carom_ball result = {find_centre(&in), 0.0};
    for (uint64_t i = 0; i < count; ++i) {
        double reach = carom_reach_ball(result.centre, &balls[i]);
        result.radius = CAROM_MAX(reach, result.radius);
    }
    *ball = result;
    return true;
}
