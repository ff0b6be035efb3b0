/* SPDX-License-Identifier: MIT */
/* The triangles that fill one loop.
 *
 * Up to PATCH_TABLE_VERTICES vertices by dynamic programming over the diagonals (Gilbert 1979 and
 * Klincsek 1980 for polygons; Barequet and Sharir 1995, Liepa 2003 for holes in space): the best
 * triangulation of the vertices i to j is the best of those of i to k and of k to j with the
 * triangle i k j, over all k. As with Liepa, how sharply it folds comes first. His maximum of the
 * dihedral angles is decided by rounding where the surface is flat; here the number of edges at
 * which normals differ by more than a right angle is counted. Then comes the sum of squared lengths
 * of the diagonals, which prefers short ones and well-shaped triangles also in flat holes, where
 * all triangulations have the same area.
 *
 * A triangle is only taken when it is free: it has area, it meets no face and no triangle that was
 * taken before, all decided exactly, and its diagonals are no edges yet. This is tested for the
 * best k of each diagonal alone, and for the next best where that fails, so about once per
 * diagonal. Triangles of one table can still cross each other in space. Then the larger one of a
 * crossing pair is excluded and the table filled anew.
 *
 * Longer loops are made shorter by cutting ears, the shortest diagonal first. A triangle that was
 * cut stays and is an obstacle for all others. The same is tried where the tables found nothing.
 *
 * Invariant: the triangles in `made` are free of each other and of the mesh. */
#include <math.h>

#include "base/item.h"
#include "base/progress.h"
#include "bvh/bvh_cpu.h"
#include "geom/box.h"
#include "geom/face_item.h"
#include "geom/length.h"
#include "repair/repair.h"

/* A table takes 0.1 s of 2.8 million triangles and 5 MB; both grow with the third power. */
#define PATCH_TABLE_VERTICES 256u
/* Tables filled for one loop. Of 24,702 seeded loops, most of them bent, 24 took a second table and
 * one a third. */
#define PATCH_TABLES 16u

#define PATCH_NO_APEX       UINT16_MAX
#define PATCH_EARS_PER_LOOK 64u

typedef struct patch_triangle {
    uint32_t at[3];     /* vertices of the loop */
    uint32_t vertex[3]; /* of the mesh */
    carom_triangle shape;
    carom_box box; /* in the frame of the soup */
} patch_triangle;

/* Cost of a triangulation. */
typedef struct patch_cost {
    uint32_t folds; /* PATCH_IMPOSSIBLE: there is none */
    double squares;
} patch_cost;

#define PATCH_IMPOSSIBLE UINT32_MAX

typedef struct patch_cell {
    patch_cost cost;
    carom_vec3 normal; /* of the triangle with the apex */
    uint16_t apex;
} patch_cell;

typedef struct patch_ear {
    patch_cost cost;
    uint32_t at, stamp; /* stale when the stamp is not that of the vertex */
} patch_ear;

typedef struct patch {
    const carom_repair_obstacles *obstacles;
    uint32_t worker, count;
    const uint32_t *vertices;
    carom_vec3 *points; /* as they are */
    carom_vec3 *local;  /* about the loop, scaled to at most 1: for costs only */
    patch_triangle *made;
    uint32_t made_count;

    /* The loop that remains. */
    uint32_t *before, *after, *stamps;
    carom_vec3 *normals; /* beside the edge from each vertex to the one after it */
    uint32_t left, any;  /* vertices that remain; one of them */

    patch_ear *heap;
    uint64_t heap_count, heap_room;

    carom_bvh_found *found;
    const patch_triangle *tested;
    bool meets;
} patch;

/* ---- Free triangles -------------------------------------------------------------------------- */

static bool patch_pair(const patch_triangle *a, const patch_triangle *b) {
    return carom_face_pair(&a->shape, a->vertex, &b->shape, b->vertex, 0) != 0;
}

/* A flush of the search for boxes: stops at the first face that is met. */
static bool patch_look_at_found(carom_bvh_found *found) {
    patch *p = found->user;
    const carom_soup_view *soup = &p->obstacles->soup;
    for (uint32_t i = 0; i < found->count && !p->meets; ++i) {
        const uint32_t *corners = soup->slot_corners + 3 * (uint64_t)found->b[i];
        carom_triangle face = carom_soup_view_shape(soup, corners);
        p->meets = carom_face_pair(&p->tested->shape, p->tested->vertex, &face, corners, 0) != 0;
    }
    found->count = 0;
    return !p->meets;
}

static void patch_triangle_make(const patch *p, uint32_t a, uint32_t b, uint32_t c,
                                patch_triangle *t) {
    const carom_soup_view *soup = &p->obstacles->soup;
    const uint32_t at[3] = {a, b, c};
    carom_triangle framed;
    for (int i = 0; i < 3; ++i) {
        t->at[i] = at[i];
        t->vertex[i] = p->vertices[at[i]];
        t->shape.corner[i] = p->points[at[i]];
        framed.corner[i] = carom_vec_scale(p->points[at[i]], soup->scale);
    }
    t->box = carom_box_of_triangle(&framed, soup->origin);
}

/* Whether the triangle has area and meets no face and no triangle that was made. */
static bool patch_is_free(patch *p, const patch_triangle *t) {
    const carom_repair_obstacles *o = p->obstacles;
    if (carom_face_degenerate(&t->shape)) return false;
    for (uint32_t i = 0; i < p->made_count; ++i)
        if (carom_box_overlap(&t->box, &p->made[i].box) && patch_pair(t, &p->made[i])) return false;
    p->tested = t;
    p->meets = false;
    p->found->count = 0;
    p->found->visits = 0;
    p->found->flush = patch_look_at_found;
    p->found->user = p;
    (void)CAROM_CPU_CALL(o->context, carom_bvh_find_box)(o->soup.bvh, &t->box, 0, p->found);
    (void)patch_look_at_found(p->found);
    return !p->meets;
}

static bool patch_has_edge(const patch *p, uint32_t a, uint32_t b) {
    return carom_repair_has_edge(p->obstacles->sides, p->vertices[a], p->vertices[b]);
}

/* ---- Costs ----------------------------------------------------------------------------------- */

static bool patch_is_less(patch_cost a, patch_cost b) {
    return a.folds != b.folds ? a.folds < b.folds : a.squares < b.squares;
}

static carom_vec3 patch_normal(const patch *p, uint32_t a, uint32_t b, uint32_t c) {
    return carom_vec_cross(carom_vec_sub(p->local[b], p->local[a]),
                           carom_vec_sub(p->local[c], p->local[a]));
}

static uint32_t patch_folds(carom_vec3 a, carom_vec3 b) {
    return carom_vec_dot(a, b) < 0.0 ? 1 : 0;
}

static double patch_square(const patch *p, uint32_t a, uint32_t b) {
    carom_vec3 d = carom_vec_sub(p->local[a], p->local[b]);
    return carom_vec_dot(d, d);
}

/* The normal of a face in the frame of the loop, by Newell's sums. */
static carom_vec3 patch_face_normal(const patch *p, carom_vec3 low, double scale, uint32_t face) {
    const carom_mesh_view *view = p->obstacles->sides->view;
    uint64_t begin = carom_mesh_offset(view, face), end = carom_mesh_offset(view, face + 1);
    carom_vec3 sum = carom_vec(0.0, 0.0, 0.0), first = sum, last = sum;
    for (uint64_t c = begin; c < end; ++c) {
        carom_vec3 q = carom_mesh_position(view, view->corners[c]);
        q = carom_vec_scale(carom_vec_sub(carom_vec_scale(q, 0.25), low), scale);
        if (c == begin) first = q;
        q = carom_vec_sub(q, first);
        sum = carom_vec_add(sum, carom_vec_cross(last, q));
        last = q;
    }
    return sum;
}

/* Fills points, local and normals. A quarter of each coordinate is taken, so that no difference is
 * out of range. */
static void patch_localise(patch *p, const uint32_t *sides) {
    const carom_repair_sides *s = p->obstacles->sides;
    carom_bounds bounds = carom_bounds_empty();
    for (uint32_t i = 0; i < p->count; ++i) {
        p->points[i] = carom_mesh_position(s->view, p->vertices[i]);
        carom_bounds_include(&bounds, carom_vec_scale(p->points[i], 0.25));
    }
    double size = carom_vec_largest(carom_vec_sub(bounds.high, bounds.low));
    double scale = carom_power_of_two(-carom_exponent(size) - 1);
    uint32_t face = CAROM_NONE;
    carom_vec3 normal = carom_vec(0.0, 0.0, 0.0);
    for (uint32_t i = 0; i < p->count; ++i) {
        carom_vec3 q = carom_vec_scale(p->points[i], 0.25);
        p->local[i] = carom_vec_scale(carom_vec_sub(q, bounds.low), scale);
        if (s->faces[sides[i]] != face) { /* neighbours are often sides of one polygon */
            face = s->faces[sides[i]];
            normal = patch_face_normal(p, bounds.low, scale, face);
        }
        p->normals[i] = normal;
    }
}

/* ---- Tables ---------------------------------------------------------------------------------- */

enum { TRIANGLE_UNKNOWN = 0, TRIANGLE_FREE, TRIANGLE_EXCLUDED };

typedef struct patch_table {
    patch *p;
    uint32_t size;       /* vertices */
    const uint32_t *at;  /* of each, its number in the loop */
    patch_cell *cells;   /* size * size; used where the first index is the lower */
    uint8_t *states;     /* of each triangle */
    patch_cost *choices; /* of one cell */
    uint32_t *stack;
} patch_table;

static uint64_t table_number(uint64_t i, uint64_t j, uint64_t k) {
    return k * (k - 1) * (k - 2) / 6 + j * (j - 1) / 2 + i;
}

static patch_cell *table_cell(const patch_table *t, uint32_t i, uint32_t j) {
    return &t->cells[(uint64_t)i * t->size + j];
}

/* The normal beside the edge from i to j, from the side of the lower cells. */
static carom_vec3 table_normal(const patch_table *t, uint32_t i, uint32_t j) {
    return j == i + 1 ? t->p->normals[t->at[i]] : table_cell(t, i, j)->normal;
}

static patch_cost table_cost(const patch_table *t, uint32_t i, uint32_t k, uint32_t j) {
    static const patch_cost nothing = {0, 0.0}, impossible = {PATCH_IMPOSSIBLE, 0.0};
    patch_cost left = k == i + 1 ? nothing : table_cell(t, i, k)->cost;
    patch_cost right = j == k + 1 ? nothing : table_cell(t, k, j)->cost;
    if (left.folds == PATCH_IMPOSSIBLE || right.folds == PATCH_IMPOSSIBLE ||
        t->states[table_number(i, k, j)] == TRIANGLE_EXCLUDED)
        return impossible;
    carom_vec3 normal = patch_normal(t->p, t->at[i], t->at[k], t->at[j]);
    bool last = i == 0 && j == t->size - 1;
    patch_cost cost = {left.folds + right.folds, left.squares + right.squares};
    cost.folds +=
        patch_folds(normal, table_normal(t, i, k)) + patch_folds(normal, table_normal(t, k, j));
    if (last)
        cost.folds += patch_folds(normal, t->p->normals[t->at[j]]);
    else
        cost.squares += patch_square(t->p, t->at[i], t->at[j]);
    return cost;
}

/* Whether a triangle of the table is free; tested at most once. */
static bool table_is_free(patch_table *t, uint32_t i, uint32_t k, uint32_t j) {
    uint8_t *state = &t->states[table_number(i, k, j)];
    if (*state == TRIANGLE_UNKNOWN) {
        patch_triangle triangle;
        patch_triangle_make(t->p, t->at[i], t->at[k], t->at[j], &triangle);
        *state = patch_is_free(t->p, &triangle) ? TRIANGLE_FREE : TRIANGLE_EXCLUDED;
    }
    return *state == TRIANGLE_FREE;
}

static void table_fill_cell(patch_table *t, uint32_t i, uint32_t j) {
    patch_cell *cell = table_cell(t, i, j);
    *cell = (patch_cell){.cost = {PATCH_IMPOSSIBLE, 0.0}, .apex = PATCH_NO_APEX};
    bool last = i == 0 && j == t->size - 1;
    if (!last && patch_has_edge(t->p, t->at[i], t->at[j])) return;
    for (uint32_t k = i + 1; k < j; ++k) t->choices[k] = table_cost(t, i, k, j);
    for (;;) {
        uint32_t best = i + 1;
        for (uint32_t k = i + 2; k < j; ++k)
            if (patch_is_less(t->choices[k], t->choices[best])) best = k;
        if (t->choices[best].folds == PATCH_IMPOSSIBLE) return;
        if (table_is_free(t, i, best, j)) {
            cell->cost = t->choices[best];
            cell->apex = (uint16_t)best;
            cell->normal = patch_normal(t->p, t->at[i], t->at[best], t->at[j]);
            return;
        }
        t->choices[best].folds = PATCH_IMPOSSIBLE;
    }
}

/* Writes the triangles of the filled table after those that were made. */
static void table_collect(patch_table *t) {
    uint32_t depth = 0, made = t->p->made_count;
    t->stack[depth++] = 0;
    t->stack[depth++] = t->size - 1;
    while (depth != 0) {
        uint32_t j = t->stack[--depth], i = t->stack[--depth];
        if (j == i + 1) continue;
        uint32_t k = table_cell(t, i, j)->apex;
        patch_triangle_make(t->p, t->at[i], t->at[k], t->at[j], &t->p->made[made++]);
        CAROM_ASSERT(depth + 4 <= 2 * t->size);
        t->stack[depth++] = k;
        t->stack[depth++] = j;
        t->stack[depth++] = i;
        t->stack[depth++] = k;
    }
    CAROM_ASSERT(made == t->p->made_count + t->size - 2);
}

static double patch_size(const patch *p, const patch_triangle *t) {
    return patch_square(p, t->at[0], t->at[1]) + patch_square(p, t->at[1], t->at[2]) +
           patch_square(p, t->at[2], t->at[0]);
}

/* The number of a loop vertex in the table. */
static uint32_t table_index(const patch_table *t, uint32_t at) {
    uint32_t low = 0, high = t->size;
    while (low + 1 < high) {
        uint32_t middle = (low + high) / 2;
        if (t->at[middle] <= at)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Excludes the larger triangle of each crossing pair; true when there was none. */
static bool table_crosses_nothing(patch_table *t) {
    patch *p = t->p;
    const patch_triangle *made = p->made + p->made_count;
    uint32_t count = t->size - 2;
    bool good = true;
    for (uint32_t a = 0; a < count; ++a)
        for (uint32_t b = a + 1; b < count; ++b) {
            if (!carom_box_overlap(&made[a].box, &made[b].box) || !patch_pair(&made[a], &made[b]))
                continue;
            const uint32_t *at =
                patch_size(p, &made[a]) > patch_size(p, &made[b]) ? made[a].at : made[b].at;
            t->states[table_number(table_index(t, at[0]), table_index(t, at[1]),
                                   table_index(t, at[2]))] = TRIANGLE_EXCLUDED;
            good = false;
        }
    return good;
}

static carom_status table_run(patch_table *t, bool *filled) {
    patch *p = t->p;
    for (uint32_t tables = 0; tables < PATCH_TABLES; ++tables) {
        for (uint32_t length = 2; length < t->size; ++length) {
            for (uint32_t i = 0; i + length < t->size; ++i) table_fill_cell(t, i, i + length);
            if (carom_progress_stop(p->obstacles->context, p->worker)) return CAROM_CANCELLED;
        }
        if (table_cell(t, 0, t->size - 1)->apex == PATCH_NO_APEX) return CAROM_OK;
        table_collect(t);
        if (!table_crosses_nothing(t)) continue;
        p->made_count += t->size - 2;
        p->left = 0;
        *filled = true;
        return CAROM_OK;
    }
    return CAROM_OK;
}

/* Fills what remains of the loop. The arena is rewound by the caller. */
static carom_status patch_by_table(patch *p, carom_arena *scratch, bool *filled) {
    uint64_t n = p->left, triangles = n * (n - 1) * (n - 2) / 6;
    uint32_t *at = CAROM_ARENA_TAKE(scratch, uint32_t, n);
    patch_table t = {.p = p, .size = p->left, .at = at};
    t.cells = CAROM_ARENA_TAKE(scratch, patch_cell, n * n);
    t.states = CAROM_ARENA_TAKE(scratch, uint8_t, triangles);
    t.choices = CAROM_ARENA_TAKE(scratch, patch_cost, n);
    t.stack = CAROM_ARENA_TAKE(scratch, uint32_t, 2 * n + 4);
    if (at == NULL || t.cells == NULL || t.states == NULL || t.choices == NULL || t.stack == NULL)
        return CAROM_NO_MEMORY;
    memset(t.states, TRIANGLE_UNKNOWN, triangles);
    uint32_t first = p->any; /* the lowest, so that `at` ascends */
    for (uint32_t i = p->after[first]; i != p->any; i = p->after[i]) first = CAROM_MIN(first, i);
    for (uint32_t i = 0, from = first; i < p->left; ++i, from = p->after[from]) at[i] = from;
    return table_run(&t, filled);
}

/* ---- Ears ------------------------------------------------------------------------------------ */

static bool ear_is_before(const patch_ear *a, const patch_ear *b) {
    if (patch_is_less(a->cost, b->cost)) return true;
    return !patch_is_less(b->cost, a->cost) && a->at < b->at;
}

static void push_ear(patch *p, uint32_t at) {
    uint32_t a = p->before[at], c = p->after[at];
    carom_vec3 normal = patch_normal(p, a, at, c);
    patch_ear ear = {.at = at, .stamp = ++p->stamps[at]};
    ear.cost.folds = patch_folds(normal, p->normals[a]) + patch_folds(normal, p->normals[at]);
    ear.cost.squares = patch_square(p, a, c);
    CAROM_ASSERT(p->heap_count < p->heap_room);
    uint64_t i = p->heap_count++;
    for (; i > 0 && ear_is_before(&ear, &p->heap[(i - 1) / 2]); i = (i - 1) / 2)
        p->heap[i] = p->heap[(i - 1) / 2];
    p->heap[i] = ear;
}

static patch_ear pop_ear(patch *p) {
    patch_ear first = p->heap[0], last = p->heap[--p->heap_count];
    uint64_t i = 0;
    for (uint64_t child; (child = 2 * i + 1) < p->heap_count; i = child) {
        if (child + 1 < p->heap_count && ear_is_before(&p->heap[child + 1], &p->heap[child]))
            ++child;
        if (!ear_is_before(&p->heap[child], &last)) break;
        p->heap[i] = p->heap[child];
    }
    p->heap[i] = last;
    return first;
}

static void cut_ear(patch *p, const patch_triangle *t) {
    uint32_t a = t->at[0], b = t->at[1], c = t->at[2];
    p->made[p->made_count++] = *t;
    p->normals[a] = patch_normal(p, a, b, c);
    p->after[a] = c;
    p->before[c] = a;
    ++p->stamps[b];
    p->any = a;
    --p->left;
    push_ear(p, a);
    push_ear(p, c);
}

/* Cuts ears until `wanted` vertices are left, or none can be cut. What is left of three is one
 * triangle, which has no diagonal. */
static carom_status cut_ears_down_to(patch *p, uint32_t wanted) {
    uint32_t looked_at = 0;
    p->heap_count = 0;
    for (uint32_t i = 0, at = p->any; i < p->left; ++i, at = p->after[at]) push_ear(p, at);
    while (p->left > wanted && p->heap_count != 0) {
        patch_ear ear = pop_ear(p);
        if (++looked_at % PATCH_EARS_PER_LOOK == 0 &&
            carom_progress_stop(p->obstacles->context, p->worker))
            return CAROM_CANCELLED;
        uint32_t a = p->before[ear.at], c = p->after[ear.at];
        if (ear.stamp != p->stamps[ear.at]) continue;
        patch_triangle t;
        patch_triangle_make(p, a, ear.at, c, &t);
        if ((p->left > 3 && patch_has_edge(p, a, c)) || !patch_is_free(p, &t)) continue;
        if (p->left > 3) {
            cut_ear(p, &t);
            continue;
        }
        p->made[p->made_count++] = t;
        p->left = 0;
    }
    return CAROM_OK;
}

/* ---- All ------------------------------------------------------------------------------------- */

static bool patch_reserve(patch *p, carom_arena *scratch) {
    uint64_t n = p->count;
    p->points = CAROM_ARENA_TAKE(scratch, carom_vec3, n);
    p->local = CAROM_ARENA_TAKE(scratch, carom_vec3, n);
    p->normals = CAROM_ARENA_TAKE(scratch, carom_vec3, n);
    p->before = CAROM_ARENA_TAKE(scratch, uint32_t, n);
    p->after = CAROM_ARENA_TAKE(scratch, uint32_t, n);
    p->stamps = CAROM_ARENA_TAKE(scratch, uint32_t, n);
    p->made = CAROM_ARENA_TAKE(scratch, patch_triangle, n);
    p->heap_room = 3 * n + 2; /* one per vertex, and two per cut */
    p->heap = CAROM_ARENA_TAKE(scratch, patch_ear, p->heap_room);
    p->found = CAROM_ARENA_TAKE(scratch, carom_bvh_found, 1);
    return p->points != NULL && p->local != NULL && p->normals != NULL && p->before != NULL &&
           p->after != NULL && p->stamps != NULL && p->made != NULL && p->heap != NULL &&
           p->found != NULL;
}

static carom_status patch_run(patch *p, carom_arena *scratch) {
    bool filled = false;
    CAROM_TRY(cut_ears_down_to(p, PATCH_TABLE_VERTICES));
    if (p->left > PATCH_TABLE_VERTICES) return CAROM_OK;
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    CAROM_TRY(patch_by_table(p, scratch, &filled));
    carom_arena_rewind(scratch, mark);
    return filled ? CAROM_OK : cut_ears_down_to(p, 0);
}

carom_status carom_repair_patch(const carom_repair_obstacles *obstacles, uint32_t worker,
                                const uint32_t *vertices, const uint32_t *sides, uint32_t count,
                                uint32_t *triangles, bool *filled) {
    carom_arena *scratch = carom_scratch(obstacles->context, worker);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    patch p = {.obstacles = obstacles,
               .worker = worker,
               .count = count,
               .left = count,
               .vertices = vertices};
    *filled = false;
    CAROM_ASSERT(count >= 3);
    if (!patch_reserve(&p, scratch)) {
        carom_arena_rewind(scratch, mark);
        return CAROM_NO_MEMORY;
    }
    for (uint32_t i = 0; i < count; ++i) {
        p.before[i] = i > 0 ? i - 1 : count - 1;
        p.after[i] = i + 1 < count ? i + 1 : 0;
        p.stamps[i] = 0;
    }
    patch_localise(&p, sides);
    carom_status status = patch_run(&p, scratch);
    *filled = status == CAROM_OK && p.left == 0;
    CAROM_ASSERT(!*filled || p.made_count == count - 2);
    for (uint32_t i = 0; i < p.made_count && *filled; ++i)
        memcpy(triangles + 3 * (uint64_t)i, p.made[i].vertex, sizeof(p.made[i].vertex));
    carom_arena_rewind(scratch, mark);
    return status;
}

bool carom_repair_on_line(const carom_mesh_view *view, const uint32_t *vertices, uint64_t count) {
    carom_triangle t = {0};
    bool has_second = false;
    t.corner[0] = carom_mesh_position(view, vertices[0]);
    for (uint64_t i = 1; i < count; ++i) {
        t.corner[2] = carom_mesh_position(view, vertices[i]);
        if (!has_second) {
            t.corner[1] = t.corner[2];
            has_second = carom_vec_compare(t.corner[0], t.corner[1]) != 0;
        } else if (!carom_face_degenerate(&t)) {
            return false;
        }
    }
    return true;
}
