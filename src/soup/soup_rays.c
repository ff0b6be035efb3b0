/* SPDX-License-Identifier: MIT */
/* Ray casting: the first face that a ray meets, or all of them.
 *
 * The tree's boxes are visited in the order in which the ray enters them (bvh_ray_cpu.c). The box
 * test is conservative. Which faces are met, and in which order, is decided exactly (ray_item.h):
 * in doubles where their error bounds allow it, else in integers.
 *
 * All faces: what a ray meets is collected in its worker's scratch, sorted by merging and appended
 * to the worker's chunks. Each ray knows where its own begin there, so that the result is in the
 * order of the rays for any number of threads. */
#include "base/progress.h"
#include "base/worker_state.h"
#include "bvh/bvh_ray_cpu.h"
#include "geom/ray.h"
#include "soup/soup_pairs.h"
#include "soup/soup_points.h"
#include "soup/soup_rays_item.h"

CAROM_RESULT_DEFINE_FREE(carom_soup_ray_hits);

typedef struct ray_query {
    carom_soup_batch batch;
    const carom_ray *rays;
    carom_hit *hits;
    carom_ray_frame frame;
} ray_query;

/* The search for the first face of one ray. */
typedef struct soup_rays_ray_search {
    const carom_soup *soup;
    carom_ray_view view;
    double margin; /* of boxes */
    uint32_t face; /* CAROM_NONE: none met so far */
    carom_ray_hit first;
} soup_rays_ray_search;

static double soup_rays_offer(void *user, uint32_t slot) {
    soup_rays_ray_search *f = user;
    const carom_soup *soup = f->soup;
    carom_triangle triangle = carom_soup_triangle(soup, soup->slot_corners + 3 * (uint64_t)slot);
    uint32_t face = carom_soup_face(soup, soup->bvh.items[slot]);
    carom_ray_hit hit;
    if (carom_ray_meet(&f->view, triangle.corner, &hit) && carom_ray_within(&f->view, &hit)) {
        int order = f->face == CAROM_NONE ? -1 : carom_ray_compare(&f->view, &hit, &f->first);
        if (order < 0 || (order == 0 && face < f->face)) {
            f->face = face;
            f->first = hit;
        }
    }
    double end = f->view.limit_high;
    if (f->face != CAROM_NONE) end = CAROM_MIN(f->first.high, end);
    return carom_bvh_ray_limit(end, f->margin);
}

/* The normal of a face, of any length: that of its triangle whose sides at the first corner are
 * nearest to a right angle. */
static carom_vec3 face_normal(const carom_soup *soup, uint32_t face) {
    carom_soup_span span = carom_soup_span_of(soup, face);
    carom_vec3 best = carom_vec(0.0, 0.0, 0.0);
    for (uint32_t i = span.first; i < span.end; ++i) {
        carom_triangle t = carom_soup_triangle(soup, soup->corners + 3 * (uint64_t)i);
        best = carom_rays_better_normal(best, &t);
    }
    return best;
}

static carom_hit soup_rays_cast(const ray_query *q, const carom_ray *ray) {
    soup_rays_ray_search f;
    f.soup = q->batch.soup;
    f.face = CAROM_NONE;
    carom_ray_begin(ray->origin, ray->direction, ray->length, &q->frame, &f.view);
    if (f.view.misses) return carom_rays_miss(ray);
    carom_bvh_ray path = carom_rays_path(&f.view);
    f.margin = path.margin;
    double limit = carom_bvh_ray_limit(f.view.limit_high, f.margin);
    CAROM_CPU_CALL(q->batch.context, carom_bvh_cast)
    (&q->batch.soup->bvh, &path, limit, soup_rays_offer, &f);
    if (f.face == CAROM_NONE) return carom_rays_miss(ray);
    carom_hit hit = carom_rays_hit(ray, f.face, face_normal(f.soup, f.face));
    carom_ray_answer(&f.view, &f.first, &hit.distance, &hit.point);
    return hit;
}

/* The frame of the soup's boxes. */
static carom_ray_frame soup_rays_frame_of(const carom_soup *soup) {
    carom_ray_frame frame = {soup->scale, {soup->origin.x, soup->origin.y, soup->origin.z}, 0.0};
    for (int k = 0; k < 3 && soup->vertex_count != 0; ++k) {
        double low = fabs((double)soup->bounds.low[k]), high = fabs((double)soup->bounds.high[k]);
        frame.reach = CAROM_MAX(CAROM_MAX(low, high), frame.reach);
    }
    return frame;
}

static carom_status answer_ray(const carom_soup_batch *batch, uint64_t i, carom_soup_turn *turn) {
    const ray_query *q = (const ray_query *)batch;
    (void)turn;
    q->hits[i] = soup_rays_cast(q, &q->rays[i]);
    return CAROM_OK;
}

carom_status carom_soup_cast_rays(carom_context *context, const carom_soup *soup,
                                  const carom_ray *rays, uint64_t count, carom_hit *hits) {
    CAROM_REQUIRE_BATCH(context, soup, rays, count, hits);
    if (carom_soup_on_device(context))
        return carom_soup_device_cast_rays(context, soup, rays, count, hits);
    CAROM_TRY(carom_soup_check_ready(context, soup));
    CAROM_TRY(carom_rays_check(context, rays, count));
    ray_query q = {{context, soup, answer_ray, NULL}, rays, hits, soup_rays_frame_of(soup)};
    return carom_soup_batch_run(&q.batch, "casting rays", count);
}

/* ---- All faces ------------------------------------------------------------------------------- */

#define SOUP_RAYS_PER_RANGE      16u
#define SOUP_RAYS_HITS_PER_CHUNK 64u /* 4 KiB */
/* Faces that a ray meets which a worker has room for at first: most rays meet fewer. */
#define SOUP_RAYS_MET_AT_FIRST 64u
/* A ray may meet every face, so the clock is checked now and then. */
#define SOUP_RAYS_OFFERS_PER_LOOK 1024u

/* Hits of a worker, in the order of its rays. */
typedef struct soup_rays_chunk {
    struct soup_rays_chunk *next;
    uint32_t count;
    carom_soup_ray_hit hits[SOUP_RAYS_HITS_PER_CHUNK];
} soup_rays_chunk;

/* Where the hits of a ray begin, and how many there are; they may go on in the next chunks. */
typedef struct soup_rays_span {
    const soup_rays_chunk *chunk;
    uint32_t at;
    uint64_t count;
} soup_rays_span;

/* A face that the ray meets, or a triangle of it. */
typedef struct soup_rays_met {
    carom_ray_hit hit;
    uint32_t face;
    uint64_t entry; /* of carom_soup_rays_list; else 0 */
} soup_rays_met;

/* What one ray meets. */
typedef struct soup_rays_row {
    carom_ray_view view;
    soup_rays_met *met;       /* `count` of `capacity` */
    uint32_t *order, *merged; /* `capacity` each */
    uint64_t count, capacity;
} soup_rays_row;

typedef struct soup_rays_all {
    carom_context *context;
    const carom_soup *soup;
    const carom_ray *rays;
    soup_rays_span *spans; /* of the rays */
    carom_ray_frame frame;
    carom_worker_states workers;
} soup_rays_all;

/* The search for all faces of one ray after the other. */
typedef struct soup_rays_worker {
    const soup_rays_all *all;
    carom_arena *scratch;
    soup_rays_chunk *chunk; /* the last one */
    uint32_t worker, offers;
    carom_status status;
    /* Of the ray under way: */
    soup_rays_row row;
    double end; /* how far to search */
} soup_rays_worker;

/* Room for more faces of a ray; what they took before is freed with all scratch. */
static bool soup_rays_reserve(soup_rays_row *r, carom_arena *scratch, uint64_t capacity) {
    soup_rays_met *met = CAROM_ARENA_TAKE(scratch, soup_rays_met, capacity);
    uint32_t *order = CAROM_ARENA_TAKE(scratch, uint32_t, 2 * capacity);
    if (met == NULL || order == NULL) return false;
    if (r->count != 0) memcpy(met, r->met, r->count * sizeof(*met));
    r->met = met;
    r->order = order;
    r->merged = order + capacity;
    r->capacity = capacity;
    return true;
}

static bool soup_rays_add_chunk(soup_rays_worker *w) {
    soup_rays_chunk *fresh = CAROM_ARENA_TAKE(w->scratch, soup_rays_chunk, 1);
    if (fresh == NULL) return false;
    fresh->next = NULL;
    fresh->count = 0;
    if (w->chunk != NULL) w->chunk->next = fresh;
    w->chunk = fresh;
    return true;
}

static bool soup_rays_worker_begin(void *user, void *state, uint32_t worker) {
    soup_rays_worker *w = state;
    const soup_rays_all *all = user;
    memset(w, 0, sizeof(*w));
    w->all = all;
    w->scratch = carom_scratch(all->context, worker);
    w->worker = worker;
    return soup_rays_reserve(&w->row, w->scratch, SOUP_RAYS_MET_AT_FIRST) && soup_rays_add_chunk(w);
}

static double soup_rays_collect(void *user, uint32_t slot) {
    soup_rays_worker *w = user;
    soup_rays_row *r = &w->row;
    const carom_soup *soup = w->all->soup;
    carom_triangle triangle = carom_soup_triangle(soup, soup->slot_corners + 3 * (uint64_t)slot);
    carom_ray_hit hit;
    if (++w->offers % SOUP_RAYS_OFFERS_PER_LOOK == 0 &&
        carom_progress_stop(w->all->context, w->worker))
        w->status = CAROM_CANCELLED;
    if (w->status != CAROM_OK) return -HUGE_VAL;
    if (!carom_ray_meet(&r->view, triangle.corner, &hit) || !carom_ray_within(&r->view, &hit))
        return w->end;
    if (r->count == r->capacity && !soup_rays_reserve(r, w->scratch, 2 * r->capacity)) {
        w->status = CAROM_NO_MEMORY;
        return -HUGE_VAL;
    }
    r->met[r->count++] = (soup_rays_met){hit, carom_soup_face(soup, soup->bvh.items[slot]), 0};
    return w->end;
}

/* Whether a comes before b: by face and then place, or by place and then face. */
static bool soup_rays_before(const soup_rays_row *r, uint32_t a, uint32_t b, bool by_face) {
    const soup_rays_met *x = &r->met[a], *y = &r->met[b];
    if (by_face && x->face != y->face) return x->face < y->face;
    int order = carom_ray_compare(&r->view, &x->hit, &y->hit);
    return order != 0 ? order < 0 : x->face < y->face;
}

/* Merges sorted runs of `order`, first of one face, then of two, and so on. Stable. */
static void soup_rays_sort(soup_rays_row *r, uint64_t count, bool by_face) {
    for (uint64_t width = 1; width < count; width *= 2) {
        for (uint64_t begin = 0; begin < count; begin += 2 * width) {
            uint64_t middle = CAROM_MIN(begin + width, count);
            uint64_t end = CAROM_MIN(begin + 2 * width, count), i = begin, j = middle;
            for (uint64_t at = begin; at < end; ++at) {
                bool second = i == middle ||
                              (j < end && soup_rays_before(r, r->order[j], r->order[i], by_face));
                r->merged[at] = second ? r->order[j++] : r->order[i++];
            }
        }
        uint32_t *other = r->order;
        r->order = r->merged;
        r->merged = other;
    }
}

/* Sorts what was met along the ray, each face once: a ray may pass several triangles of a polygon.
 * Returns how many faces there are. */
static uint64_t soup_rays_arrange(soup_rays_row *r, bool polygons) {
    uint64_t count = r->count;
    for (uint64_t i = 0; i < count; ++i) r->order[i] = (uint32_t)i;
    if (polygons && count > 1) {
        soup_rays_sort(r, count, true);
        uint64_t once = 1;
        for (uint64_t i = 1; i < count; ++i)
            if (r->met[r->order[i]].face != r->met[r->order[once - 1]].face)
                r->order[once++] = r->order[i];
        count = once;
    }
    soup_rays_sort(r, count, false);
    return count;
}

/* A hit of a ray; the normal is of any length. */
static carom_soup_ray_hit soup_rays_hit(const carom_ray *ray, uint32_t number,
                                        const carom_ray_view *view, const soup_rays_met *met,
                                        carom_vec3 normal) {
    carom_hit hit = carom_rays_hit(ray, met->face, normal);
    carom_ray_answer(view, &met->hit, &hit.distance, &hit.point);
    return (carom_soup_ray_hit){number, met->face, hit.distance, hit.point, hit.normal};
}

static bool soup_rays_append(soup_rays_worker *w, uint32_t ray, const soup_rays_met *met) {
    if (w->chunk->count == SOUP_RAYS_HITS_PER_CHUNK && !soup_rays_add_chunk(w)) return false;
    w->chunk->hits[w->chunk->count++] = soup_rays_hit(&w->all->rays[ray], ray, &w->row.view, met,
                                                      face_normal(w->all->soup, met->face));
    return true;
}

static carom_status soup_rays_find_all(soup_rays_worker *w, uint32_t ray) {
    const soup_rays_all *all = w->all;
    const carom_ray *given = &all->rays[ray];
    soup_rays_span *span = &all->spans[ray];
    soup_rays_row *r = &w->row;
    *span = (soup_rays_span){w->chunk, w->chunk->count, 0};
    carom_ray_begin(given->origin, given->direction, given->length, &all->frame, &r->view);
    if (r->view.misses) return CAROM_OK;
    carom_bvh_ray path = carom_rays_path(&r->view);
    w->end = carom_bvh_ray_limit(r->view.limit_high, path.margin);
    r->count = 0;
    CAROM_CPU_CALL(all->context, carom_bvh_cast)
    (&all->soup->bvh, &path, w->end, soup_rays_collect, w);
    CAROM_TRY(w->status);
    span->count = soup_rays_arrange(r, all->soup->faces != NULL);
    for (uint64_t i = 0; i < span->count; ++i)
        if (!soup_rays_append(w, ray, &r->met[r->order[i]])) return CAROM_NO_MEMORY;
    return CAROM_OK;
}

static carom_status soup_rays_find_range(void *argument, carom_range range) {
    soup_rays_all *all = argument;
    soup_rays_worker *w = carom_worker_state(&all->workers, range.worker);
    if (w == NULL) return CAROM_NO_MEMORY;
    for (uint64_t i = range.begin; i < range.end; ++i) {
        CAROM_TRY(soup_rays_find_all(w, (uint32_t)i));
        if (carom_progress_stop(all->context, range.worker)) return CAROM_CANCELLED;
    }
    return CAROM_OK;
}

/* Copies the hits of all rays into the result, as many as there is room for. */
static carom_status soup_rays_fill(const soup_rays_all *all, uint64_t count,
                                   carom_soup_ray_hits *hits) {
    carom_context *context = all->context;
    uint64_t found = 0, space, at = 0;
    for (uint64_t i = 0; i < count; ++i) found += all->spans[i].count;
    CAROM_TRY(carom_soup_ray_hits_begin(context, &context->allocator, hits, found, &space));
    for (uint64_t i = 0; i < count && at < space; ++i) {
        const soup_rays_span *span = &all->spans[i];
        uint64_t left = CAROM_MIN(span->count, space - at);
        uint32_t from = span->at;
        for (const soup_rays_chunk *c = span->chunk; left != 0; c = c->next, from = 0) {
            uint64_t some = CAROM_MIN(left, (uint64_t)(c->count - from));
            if (some != 0) memcpy(hits->data + at, c->hits + from, some * sizeof(*c->hits));
            at += some;
            left -= some;
        }
    }
    return carom_soup_ray_hits_end(hits);
}

static carom_status soup_rays_all_run(soup_rays_all *all, uint64_t count,
                                      carom_soup_ray_hits *hits) {
    carom_context *context = all->context;
    all->spans = CAROM_ARENA_TAKE(carom_scratch(context, 0), soup_rays_span, count + 1);
    if (all->spans == NULL)
        return carom_fail_memory(context, count * sizeof(*all->spans), "casting rays");
    CAROM_TRY(carom_worker_states_begin(&all->workers, context, sizeof(soup_rays_worker),
                                        soup_rays_worker_begin, all));
    carom_status status = carom_parallel_phase(context, "casting rays", count, SOUP_RAYS_PER_RANGE,
                                               soup_rays_find_range, all);
    if (status == CAROM_NO_MEMORY) status = carom_fail_memory(context, 0, "the faces that are met");
    if (status == CAROM_OK) status = soup_rays_fill(all, count, hits);
    carom_worker_states_release(&all->workers);
    return status;
}

carom_status carom_soup_rays_list(carom_context *context, const carom_device_ray_open *entries,
                                  uint64_t count, carom_soup_ray_hit *hits, uint64_t *found) {
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    const carom_ray *ray = &entries->ray;
    soup_rays_row row = {.count = 0};
    *found = 0;
    if (!soup_rays_reserve(&row, scratch, count)) {
        carom_arena_rewind(scratch, mark);
        return CAROM_NO_MEMORY;
    }
    carom_ray_begin(ray->origin, ray->direction, ray->length, &entries->frame, &row.view);
    for (uint64_t i = 0; i < count; ++i) {
        carom_ray_hit hit;
        if (carom_ray_meet(&row.view, entries[i].triangle.corner, &hit) &&
            carom_ray_within(&row.view, &hit))
            row.met[row.count++] = (soup_rays_met){hit, entries[i].face, i};
    }
    *found = soup_rays_arrange(&row, true);
    for (uint64_t i = 0; i < *found; ++i) {
        const soup_rays_met *met = &row.met[row.order[i]];
        hits[i] = soup_rays_hit(ray, entries->query, &row.view, met, entries[met->entry].normal);
    }
    carom_arena_rewind(scratch, mark);
    return CAROM_OK;
}

carom_status carom_soup_query_rays(carom_context *context, const carom_soup *soup,
                                   const carom_ray *rays, uint64_t count,
                                   carom_soup_ray_hits *hits) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(soup, "soup");
    CAROM_REQUIRE_INPUTS(rays, count, "rays");
    CAROM_REQUIRE_RESULT(hits, "hits");
    if (count > UINT32_MAX)
        return carom_fail(context, CAROM_TOO_LARGE, "%llu rays are too many to number",
                          (unsigned long long)count);
    if (carom_soup_on_device(context))
        return carom_soup_device_query_rays(context, soup, rays, count, hits);
    CAROM_TRY(carom_soup_check_ready(context, soup));
    CAROM_TRY(carom_rays_check(context, rays, count));
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    soup_rays_all all = {
        .context = context, .soup = soup, .rays = rays, .frame = soup_rays_frame_of(soup)};
    carom_status status = soup_rays_all_run(&all, count, hits);
    carom_arena_rewind(scratch, mark);
    return status;
}
