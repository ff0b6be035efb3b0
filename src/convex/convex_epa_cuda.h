/* SPDX-License-Identifier: MIT */
/* convex_epa_cuda.h: the search of convex_epa_item.h by the lanes of one warp, the polytope in
 * shared memory.
 *
 * Lanes share the vertices of hulls, the faces that a new point may see, the faces that it makes,
 * and the search for the nearest face. One lane walks over the seen faces, so that faces are
 * numbered in the order of carom_polytope_add; all sums are those of the items. Every choice of a
 * least or greatest value has a rule for equal ones that does not depend on the order: the first
 * vertex, the face with the least number. So every result has the CPU's bytes.
 *
 * All lanes call all functions, with the same arguments. */
#ifndef CAROM_SRC_CONVEX_EPA_CUDA_H
#define CAROM_SRC_CONVEX_EPA_CUDA_H

#include "base/device_cuda.h"
#include "convex/convex_query_item.h"

#define CAROM_EPA_ALL_LANES 0xFFFFFFFFu

/* ---- Choices of a warp ----------------------------------------------------------------------- */

/* A double as a number in the same order; -0 is 0. */
static __device__ inline unsigned long long carom_epa_key(double x) {
    long long bits = __double_as_longlong(x + 0.0);
    return (unsigned long long)(bits < 0 ? ~bits : bits | LLONG_MIN);
}

/* The least `tie` of the lanes with the least key. */
static __device__ inline unsigned carom_epa_least(unsigned long long key, unsigned tie) {
    unsigned high = (unsigned)(key >> 32), low = (unsigned)key;
    bool mine = high == __reduce_min_sync(CAROM_EPA_ALL_LANES, high);
    mine = low == __reduce_min_sync(CAROM_EPA_ALL_LANES, mine ? low : UINT_MAX) && mine;
    return __reduce_min_sync(CAROM_EPA_ALL_LANES, mine ? tie : UINT_MAX);
}

/* The same for two choices at once, so that neither waits for the other. */
static __device__ inline uint2 carom_epa_least_of_two(unsigned long long key_a, unsigned tie_a,
                                                      unsigned long long key_b, unsigned tie_b) {
    unsigned high_a = (unsigned)(key_a >> 32), high_b = (unsigned)(key_b >> 32);
    unsigned low_a = (unsigned)key_a, low_b = (unsigned)key_b;
    unsigned least_a = __reduce_min_sync(CAROM_EPA_ALL_LANES, high_a);
    unsigned least_b = __reduce_min_sync(CAROM_EPA_ALL_LANES, high_b);
    bool is_a = high_a == least_a, is_b = high_b == least_b;
    least_a = __reduce_min_sync(CAROM_EPA_ALL_LANES, is_a ? low_a : UINT_MAX);
    least_b = __reduce_min_sync(CAROM_EPA_ALL_LANES, is_b ? low_b : UINT_MAX);
    is_a = is_a && low_a == least_a;
    is_b = is_b && low_b == least_b;
    least_a = __reduce_min_sync(CAROM_EPA_ALL_LANES, is_a ? tie_a : UINT_MAX);
    least_b = __reduce_min_sync(CAROM_EPA_ALL_LANES, is_b ? tie_b : UINT_MAX);
    return make_uint2(least_a, least_b);
}

/* ---- Support points -------------------------------------------------------------------------- */

/* The farthest of this lane's share of the vertices in some blocks, the first of equals, if it is
 * farther than *value, which is raised; else UINT32_MAX. */
static __device__ inline uint32_t
carom_epa_scan_share(const carom_hull_block *blocks, uint32_t count, carom_vec3 d, double *value) {
    uint32_t best = UINT32_MAX;
    for (uint32_t i = threadIdx.x % CAROM_WARP; i < count * CAROM_HULL_LANES; i += CAROM_WARP) {
        const carom_hull_block *b = &blocks[i / CAROM_HULL_LANES];
        uint32_t k = i % CAROM_HULL_LANES;
        double dot = (__ldg(&b->x[k]) * d.x + __ldg(&b->y[k]) * d.y) + __ldg(&b->z[k]) * d.z;
        if (!(dot > *value)) continue;
        *value = dot;
        best = i;
    }
    return best;
}

/* As carom_hull_scan, from a warp. */
static __device__ inline uint32_t carom_epa_scan(const carom_hull_block *blocks, uint32_t count,
                                                 carom_vec3 d, double value) {
    uint32_t best = carom_epa_scan_share(blocks, count, d, &value);
    return carom_epa_least(~carom_epa_key(value), best);
}

static __device__ inline carom_vec3 carom_epa_hull_vertex(const carom_convex_core *s, uint32_t at,
                                                          uint32_t *seed) {
    uint32_t v = at == UINT32_MAX ? 0u : CAROM_MIN(at, s->hull->count - 1);
    *seed = v;
    return carom_vec_scale(s->hull->vertices[v], s->hull_unit);
}

/* As carom_hull_support, from a warp. */
static __device__ inline carom_vec3 carom_epa_hull_support(const carom_convex_core *s, carom_vec3 d,
                                                           uint32_t *seed) {
    const carom_hull_view *h = s->hull;
    if (!s->climb)
        return carom_epa_hull_vertex(s, carom_epa_scan(h->all, h->all_count, d, -HUGE_VAL), seed);
    uint32_t v = h->seeds[carom_hull_cell(d)];
    if (*seed < h->count && carom_vec_dot(h->vertices[*seed], d) > carom_vec_dot(h->vertices[v], d))
        v = *seed;
    for (;;) {
        const carom_hull_block *blocks = h->neighbours + h->first[v];
        uint32_t next = carom_epa_scan(blocks, h->first[v + 1] - h->first[v], d,
                                       carom_vec_dot(h->vertices[v], d));
        if (next == UINT32_MAX) break;
        v = blocks[next / CAROM_HULL_LANES].index[next % CAROM_HULL_LANES];
    }
    return carom_epa_hull_vertex(s, v, seed);
}

static __device__ inline carom_vec3 carom_epa_support(const carom_convex_core *s, carom_vec3 d,
                                                      uint32_t *seed) {
    if (s->kind == CAROM_CONVEX_KIND_HULL) return carom_epa_hull_support(s, d, seed);
    return carom_convex_support(s, d, seed);
}

/* Rounding of a determinant in double-double, relative to its terms: each passes through two
 * products, off by 2^-101, and sums that add less; so below 2^-99. */
#define CAROM_EPA_ORIENT_ERROR 0x1p-96

/* carom_orient3d for coordinates up to 1. Points of two polytopes are often coplanar but for
 * rounding: doubles leave that open, double-double decides it, and expansions, which need arrays in
 * memory, are rarely wanted. Not inlined: the code of the search is to stay in the caches. */
static __device__ __noinline__ int carom_epa_orient(carom_vec3 a, carom_vec3 b, carom_vec3 c,
                                                    carom_vec3 d) {
    int sign = carom_orient3d_filter(a, b, c, d);
    if (sign != CAROM_ORIENT_UNDECIDED) return sign;
    if ((a.x == b.x && a.x == c.x && a.x == d.x) || (a.y == b.y && a.y == c.y && a.y == d.y) ||
        (a.z == b.z && a.z == c.z && a.z == d.z))
        return 0;
    carom_dd3 u = carom_dd3_diff(b, a), v = carom_dd3_diff(c, a), w = carom_dd3_diff(d, a);
    double det = carom_dd3_dot(carom_dd3_cross(u, v), w).high;
    double ux = fabs(u.x.high), uy = fabs(u.y.high), uz = fabs(u.z.high);
    double vx = fabs(v.x.high), vy = fabs(v.y.high), vz = fabs(v.z.high);
    double terms = ((uy * vz + uz * vy) * fabs(w.x.high) + (uz * vx + ux * vz) * fabs(w.y.high)) +
                   (ux * vy + uy * vx) * fabs(w.z.high);
    double error = CAROM_EPA_ORIENT_ERROR * terms + CAROM_ORIENT_UNDERFLOW;
    if (det > error) return 1;
    if (det < -error) return -1;
    return carom_orient3d_exact(a, b, c, d);
}

/* As carom_epa_begin, by all lanes alike. */
static __device__ __noinline__ int carom_epa_begin_rarely(carom_convex_work *work,
                                                          carom_convex_vertex *p, carom_epa *e,
                                                          uint32_t *supports) {
    carom_convex_posed_pair pair = work->pair;
    int sign = carom_epa_begin(&pair, &work->g.s, p, e);
    *supports = pair.supports;
    return sign;
}

/* ---- Queries --------------------------------------------------------------------------------- */

enum carom_epa_state {
    CAROM_EPA_UNKNOWN, /* not searched, or there was not room enough */
    CAROM_EPA_INSIDE,  /* there is no face where the normal ends */
    CAROM_EPA_ON_FACE, /* the corners are the first three points of work.g.s */
};

/* A pair whose cores overlap, in device memory: what its distance leaves to the search, and what
 * that leaves to the result, whose point is computed by one thread. */
struct carom_epa_deep {
    carom_convex_work work;
    carom_epa e;
    double close; /* how far the bounds may stay apart */
    uint32_t pair;
    carom_epa_state state;
};

/* ---- The polytope ---------------------------------------------------------------------------- */

/* Whether the new point sees a face, and whether that was taken into the list. */
enum { CAROM_EPA_HIDDEN, CAROM_EPA_SEEN, CAROM_EPA_TAKEN };

/* A polytope of up to POINTS points, fewer than 124: faces are named by a byte. */
template <unsigned POINTS> struct carom_epa_polytope {
    static constexpr unsigned FACES = 2u * POINTS + 4u;
    static_assert(FACES < 255u, "faces are named by a byte");

    carom_convex_work work;
    carom_vec3 w[POINTS], a[POINTS];
    carom_vec3 normal[FACES], unit[FACES]; /* rounded, and of length 1 */
    double error[FACES], distance[FACES];
    uint32_t number[FACES]; /* 0: free; else the count of faces made before it, and 1 */
    uchar4 corners[FACES], next[FACES];
    uchar4 border[FACES]; /* the face beyond, and the edge's ends */
    uint8_t view[FACES], lost[FACES], free_faces[FACES], from[POINTS];
    uint32_t lost_count, edges; /* what the walk found */

    /* Corners, planes and distance of a face of the three points. */
    __device__ void make_face(uint32_t f, uint32_t u, uint32_t v, uint32_t t, uint32_t named) {
        corners[f] = make_uchar4((uint8_t)u, (uint8_t)v, (uint8_t)t, 0);
        number[f] = named;
        carom_vec3 n = carom_polytope_plane(w[u], w[v], w[t], &error[f]);
        normal[f] = n;
        distance[f] = carom_epa_distance(w[u], w[v], w[t], &n);
        unit[f] = n;
    }

    /* As carom_polytope_sees. */
    __device__ bool sees(uint32_t f, carom_vec3 p) const {
        uchar4 c = corners[f];
        double side = carom_vec_dot(normal[f], carom_vec_sub(p, w[c.x]));
        if (side > error[f]) return true;
        if (side < -error[f]) return false;
        return carom_epa_orient(w[c.x], w[c.y], w[c.z], p) > 0;
    }

    /* As the loop of carom_polytope_add, by one lane. */
    __device__ void walk(uint32_t start) {
        uint32_t found = 1, count = 0;
        lost[0] = (uint8_t)start;
        view[start] = CAROM_EPA_TAKEN;
        for (uint32_t at = 0; at < found; ++at) {
            uint32_t f = lost[at];
            uchar4 c = corners[f], n = next[f];
            const uint8_t ends[4] = {c.x, c.y, c.z, c.x}, beyonds[3] = {n.x, n.y, n.z};
            uint8_t views[3] = {view[n.x], view[n.y], view[n.z]}; /* three different faces */
#pragma unroll
            for (int i = 0; i < 3; ++i) {
                uint8_t beyond = beyonds[i];
                if (views[i] == CAROM_EPA_TAKEN) continue;
                if (views[i] == CAROM_EPA_SEEN) {
                    view[beyond] = CAROM_EPA_TAKEN;
                    lost[found++] = beyond;
                } else {
                    border[count++] = make_uchar4(beyond, ends[i], ends[i + 1], 0);
                }
            }
        }
        lost_count = found;
        edges = count;
    }
};

/* ---- The search ------------------------------------------------------------------------------ */

/* HULLS: both are hulls that are searched all through. */
template <bool HULLS, unsigned POINTS> struct carom_epa_search {
    carom_epa_polytope<POINTS> *room; /* its `work` is filled in */
    carom_epa e;
    uint32_t count;                            /* of points */
    uint32_t face_count, free_count, numbered; /* as in carom_polytope */
    uint32_t seed_a, seed_b, supports;

    __device__ void add_point(uint32_t i, carom_vec3 w, carom_vec3 a) {
        if (threadIdx.x % CAROM_WARP == 0) {
            room->w[i] = w;
            room->a[i] = a;
        }
    }

    /* As carom_convex_farthest_into. */
    __device__ carom_vec3 farthest(carom_vec3 d, carom_vec3 *on_a) {
        const carom_convex_posed_pair *p = &room->work.pair;
        carom_vec3 back = carom_convex_turn_back(p->r, carom_vec_scale(d, -1.0)), a, b;
        if (HULLS) {
            const carom_hull_view *h = p->a.hull, *k = p->b.hull;
            double far_a = -HUGE_VAL, far_b = -HUGE_VAL;
            uint32_t at_a = carom_epa_scan_share(h->all, h->all_count, d, &far_a);
            uint32_t at_b = carom_epa_scan_share(k->all, k->all_count, back, &far_b);
            uint2 at =
                carom_epa_least_of_two(~carom_epa_key(far_a), at_a, ~carom_epa_key(far_b), at_b);
            a = carom_epa_hull_vertex(&p->a, at.x, &seed_a);
            b = carom_epa_hull_vertex(&p->b, at.y, &seed_b);
        } else {
            a = carom_epa_support(&p->a, d, &seed_a);
            b = carom_epa_support(&p->b, back, &seed_b);
        }
        b = carom_vec_add(carom_convex_turn(p->r, b), p->t);
        supports += 2;
        *on_a = a;
        return carom_vec_sub(a, b);
    }

    /* The first tetrahedron; returns its orientation or 0. */
    __device__ int begin() {
        carom_gjk_simplex *s = &room->work.g.s;
        carom_epa_clear(&e);
        int sign = 0;
        if (s->count == 4) sign = carom_epa_orient(s->p[0].w, s->p[1].w, s->p[2].w, s->p[3].w);
        if (sign != 0) {
            for (uint32_t i = threadIdx.x % CAROM_WARP; i < 4; i += CAROM_WARP) {
                room->w[i] = s->p[i].w;
                room->a[i] = s->p[i].a;
            }
        } else { /* rare */
            carom_convex_vertex p[4];
            carom_epa first = e;
            uint32_t evaluated;
            sign = carom_epa_begin_rarely(&room->work, p, &first, &evaluated);
            e = first;
            supports = evaluated;
            if (sign == 0) return 0;
            for (uint32_t i = 0; i < 4; ++i) add_point(i, p[i].w, p[i].a);
        }
        __syncwarp();
        /* as carom_polytope_begin */
        unsigned lane = threadIdx.x % CAROM_WARP, b = sign > 0 ? 2 : 1, c = sign > 0 ? 1 : 2;
        if (lane < 4) {
            unsigned u = lane == 0 ? 0 : lane == 1 ? b : lane == 2 ? c : 0;
            unsigned v = lane == 0 ? b : lane == 1 ? 0 : lane == 2 ? b : c;
            room->make_face(lane, u, v, lane == 0 ? c : 3, lane + 1);
            room->next[lane] = lane == 0   ? make_uchar4(1, 2, 3, 0)
                               : lane == 1 ? make_uchar4(0, 3, 2, 0)
                               : lane == 2 ? make_uchar4(0, 1, 3, 0)
                                           : make_uchar4(0, 2, 1, 0);
        }
        count = face_count = numbered = 4;
        free_count = 0;
        __syncwarp();
        return sign;
    }

    /* The live face nearest to the origin, of equals the one made first. */
    __device__ uint32_t nearest() const {
        unsigned long long least = ULLONG_MAX;
        unsigned number = UINT_MAX, face = 0;
        for (uint32_t f = threadIdx.x % CAROM_WARP; f < face_count; f += CAROM_WARP) {
            if (room->number[f] == 0) continue;
            unsigned long long key = carom_epa_key(room->distance[f]);
            if (key > least || (key == least && room->number[f] > number)) continue;
            least = key;
            number = room->number[f];
            face = f;
        }
        unsigned first = carom_epa_least(least, number);
        unsigned owner = __ballot_sync(CAROM_EPA_ALL_LANES, number == first);
        return __shfl_sync(CAROM_EPA_ALL_LANES, face, __ffs((int)owner) - 1);
    }

    /* Replaces the faces that the last point sees: the walk of one lane, then as
     * carom_polytope_close. */
    __device__ void add_faces(carom_vec3 p, uint32_t start) {
        unsigned lane = threadIdx.x % CAROM_WARP;
        for (uint32_t f = lane; f < face_count; f += CAROM_WARP)
            if (room->number[f] != 0 && f != start)
                room->view[f] = room->sees(f, p) ? CAROM_EPA_SEEN : CAROM_EPA_HIDDEN;
        __syncwarp();
        if (lane == 0) room->walk(start);
        __syncwarp();
        uint32_t lost = room->lost_count, edges = room->edges, all = free_count + lost;
        for (uint32_t i = lane; i < lost; i += CAROM_WARP) {
            room->number[room->lost[i]] = 0;
            room->free_faces[free_count + i] = room->lost[i];
        }
        __syncwarp();
        for (uint32_t i = lane; i < edges; i += CAROM_WARP) {
            uint32_t f = i < all ? room->free_faces[all - 1 - i] : face_count + (i - all);
            uchar4 edge = room->border[i], across = room->corners[edge.x];
            room->make_face(f, edge.y, edge.z, count, numbered + 1 + i);
            uint8_t *beyond = &room->next[edge.x].x;
            if (across.x == edge.z && across.y == edge.y) beyond[0] = (uint8_t)f;
            if (across.y == edge.z && across.z == edge.y) beyond[1] = (uint8_t)f;
            if (across.z == edge.z && across.x == edge.y) beyond[2] = (uint8_t)f;
            room->next[f].x = edge.x;
            room->from[edge.y] = (uint8_t)f;
        }
        __syncwarp();
        for (uint32_t i = lane; i < edges; i += CAROM_WARP) {
            uchar4 edge = room->border[i];
            uint8_t f = room->from[edge.y], after = room->from[edge.z];
            room->next[f].y = after;
            room->next[after].z = f;
        }
        __syncwarp();
        numbered += edges;
        face_count += edges > all ? edges - all : 0;
        free_count = edges > all ? 0 : all - edges;
        ++count;
    }

    /* As carom_epa_expand. */
    __device__ bool expand(uint32_t f, double close) {
        carom_vec3 n = room->unit[f], on_a, w = farthest(n, &on_a);
        double h = carom_vec_dot(n, w);
        ++e.iterations;
        if (h < e.upper) {
            e.upper = h;
            e.normal = n;
        }
        if (h - room->distance[f] <= close || !room->sees(f, w)) return false;
        add_point(count, w, on_a);
        __syncwarp();
        add_faces(w, f);
        return true;
    }

    __device__ carom_convex_vertex point(unsigned i) const {
        return carom_convex_vertex{room->w[i], room->a[i], carom_vec(0.0, 0.0, 0.0)};
    }

    /* As the loop of carom_epa_finish: the face where the normal ends, or UINT32_MAX. */
    __device__ uint32_t last_face() const {
        uint32_t best = UINT32_MAX, faces = 0;
        double least = HUGE_VAL;
        carom_vec3 end = carom_vec_scale(e.normal, e.upper);
        for (uint32_t f = threadIdx.x % CAROM_WARP; f < face_count; f += CAROM_WARP)
            if (room->number[f] != 0 && carom_epa_may_end_on(&e, room->unit[f], room->distance[f]))
                ++faces, best = f;
        if (__reduce_add_sync(CAROM_EPA_ALL_LANES, faces) == 1)
            return __reduce_min_sync(CAROM_EPA_ALL_LANES, best);
        best = UINT32_MAX;
        for (uint32_t f = threadIdx.x % CAROM_WARP; f < face_count; f += CAROM_WARP) {
            if (room->number[f] == 0) continue;
            if (!carom_epa_may_end_on(&e, room->unit[f], room->distance[f])) continue;
            uchar4 c = room->corners[f];
            const carom_convex_vertex p[3] = {point(c.x), point(c.y), point(c.z)};
            carom_gjk_simplex s = carom_epa_triangle(&p[0], &p[1], &p[2], end);
            double square = carom_gjk_simplex_solve_any(&s).square;
            if (square < least) least = square, best = f;
        }
        return carom_epa_least(carom_epa_key(least), best);
    }

    /* Keeps what carom_epa_write needs. */
    __device__ void keep(uint32_t face, carom_epa_deep *to) const {
        unsigned lane = threadIdx.x % CAROM_WARP;
        if (face != UINT32_MAX && lane < 3) {
            uchar4 c = room->corners[face];
            to->work.g.s.p[lane] = point(lane == 0 ? c.x : lane == 1 ? c.y : c.z);
        }
        if (lane != 0) return;
        to->e = e;
        to->work.pair.supports = supports;
        to->state = face != UINT32_MAX ? CAROM_EPA_ON_FACE : CAROM_EPA_INSIDE;
    }

    /* As carom_epa_run without a second search, up to the point. Returns false when there is not
     * room enough; else the result is kept there. */
    __device__ bool run(carom_epa_deep *to) {
        const double close = to->close;
        seed_a = room->work.pair.seed_a;
        seed_b = room->work.pair.seed_b;
        supports = room->work.pair.supports;
        if (begin() == 0) {
            keep(UINT32_MAX, to);
            return true;
        }
        for (;;) {
            uint32_t f = nearest();
            double distance = room->distance[f];
            e.lower = CAROM_MAX(e.lower, distance);
            if (e.upper - distance <= close) break;
            if (count >= POINTS) return false;
            if (!expand(f, close)) break;
        }
        keep(last_face(), to);
        return true;
    }
};

/* The result of a search, by one thread. */
static __device__ inline void carom_epa_write(carom_epa_deep *d, carom_convex_result *r) {
    carom_epa e = d->e;
    const carom_gjk_simplex *s = &d->work.g.s;
    if (d->state == CAROM_EPA_ON_FACE) {
        carom_gjk_simplex t =
            carom_epa_triangle(&s->p[0], &s->p[1], &s->p[2], carom_vec_scale(e.normal, e.upper));
        carom_gjk_simplex_face nearest = carom_gjk_simplex_solve_any(&t);
        carom_epa_end_on(&t, &nearest, &e);
    } else {
        carom_epa_point_inside(s, &e);
    }
    r->iterations = d->work.g.iterations;
    carom_convex_write_depth(&d->work, &e, r);
}

#endif
