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

CAROM_RESULT_FILL(carom_soup_ray_hits);
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
} soup_rays_met;

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
    carom_ray_view view;
    double end;         /* how far to search */
    soup_rays_met *met; /* `count` of `capacity` */
    uint64_t count, capacity;
    uint32_t *order, *merged; /* `capacity` each */
} soup_rays_worker;

/* Room for twice as many faces of a ray; what they took before is freed with all scratch. */
static bool soup_rays_reserve(soup_rays_worker *w) {
    uint64_t capacity = CAROM_MAX(2 * w->capacity, (uint64_t)SOUP_RAYS_MET_AT_FIRST);
    soup_rays_met *met = CAROM_ARENA_TAKE(w->scratch, soup_rays_met, capacity);
    uint32_t *order = CAROM_ARENA_TAKE(w->scratch, uint32_t, 2 * capacity);
    if (met == NULL || order == NULL) return false;
    if (w->count != 0) memcpy(met, w->met, w->count * sizeof(*met));
    w->met = met;
    w->order = order;
    w->merged = order + capacity;
    w->capacity = capacity;
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
    return soup_rays_reserve(w) && soup_rays_add_chunk(w);
}

static double soup_rays_collect(void *user, uint32_t slot) {
    soup_rays_worker *w = user;
    const carom_soup *soup = w->all->soup;
    carom_triangle triangle = carom_soup_triangle(soup, soup->slot_corners + 3 * (uint64_t)slot);
    carom_ray_hit hit;
    if (++w->offers % SOUP_RAYS_OFFERS_PER_LOOK == 0 &&
        carom_progress_stop(w->all->context, w->worker))
        w->status = CAROM_CANCELLED;
    if (w->status != CAROM_OK) return -HUGE_VAL;
    if (!carom_ray_meet(&w->view, triangle.corner, &hit) || !carom_ray_within(&w->view, &hit))
        return w->end;
    if (w->count == w->capacity && !soup_rays_reserve(w)) {
        w->status = CAROM_NO_MEMORY;
        return -HUGE_VAL;
    }
    w->met[w->count++] = (soup_rays_met){hit, carom_soup_face(soup, soup->bvh.items[slot])};
    return w->end;
}

/* Whether a comes before b: by face and then place, or by place and then face. */
static bool soup_rays_before(const soup_rays_worker *w, uint32_t a, uint32_t b, bool by_face) {
    const soup_rays_met *x = &w->met[a], *y = &w->met[b];
    if (by_face && x->face != y->face) return x->face < y->face;
    int order = carom_ray_compare(&w->view, &x->hit, &y->hit);
    return order != 0 ? order < 0 : x->face < y->face;
}

/* Merges sorted runs of `order`, first of one face, then of two, and so on. Stable. */
static void soup_rays_sort(soup_rays_worker *w, uint64_t count, bool by_face) {
    for (uint64_t width = 1; width < count; width *= 2) {
        for (uint64_t begin = 0; begin < count; begin += 2 * width) {
            uint64_t middle = CAROM_MIN(begin + width, count);
            uint64_t end = CAROM_MIN(begin + 2 * width, count), i = begin, j = middle;
            for (uint64_t at = begin; at < end; ++at) {
                bool second = i == middle ||
                              (j < end && soup_rays_before(w, w->order[j], w->order[i], by_face));
                w->merged[at] = second ? w->order[j++] : w->order[i++];
            }
        }
        uint32_t *other = w->order;
        w->order = w->merged;
        w->merged = other;
    }
}

/* Sorts what was met along the ray, each face once: a ray may pass several triangles of a polygon.
 * Returns how many faces there are. */
static uint64_t soup_rays_arrange(soup_rays_worker *w) {
    uint64_t count = w->count;
    for (uint64_t i = 0; i < count; ++i) w->order[i] = (uint32_t)i;
    if (w->all->soup->faces != NULL && count > 1) {
        soup_rays_sort(w, count, true);
        uint64_t once = 1;
        for (uint64_t i = 1; i < count; ++i)
            if (w->met[w->order[i]].face != w->met[w->order[once - 1]].face)
                w->order[once++] = w->order[i];
        count = once;
    }
    soup_rays_sort(w, count, false);
    return count;
}

static bool soup_rays_append(soup_rays_worker *w, uint32_t ray, const soup_rays_met *met) {
    const carom_ray *given = &w->all->rays[ray];
    if (w->chunk->count == SOUP_RAYS_HITS_PER_CHUNK && !soup_rays_add_chunk(w)) return false;
    soup_rays_chunk *chunk = w->chunk;
    carom_hit hit = carom_rays_hit(given, met->face, face_normal(w->all->soup, met->face));
    carom_ray_answer(&w->view, &met->hit, &hit.distance, &hit.point);
    chunk->hits[chunk->count++] =
        (carom_soup_ray_hit){ray, met->face, hit.distance, hit.point, hit.normal};
    return true;
}

static carom_status soup_rays_find_all(soup_rays_worker *w, uint32_t ray) {
    const soup_rays_all *all = w->all;
    const carom_ray *given = &all->rays[ray];
    soup_rays_span *span = &all->spans[ray];
    *span = (soup_rays_span){w->chunk, w->chunk->count, 0};
    carom_ray_begin(given->origin, given->direction, given->length, &all->frame, &w->view);
    if (w->view.misses) return CAROM_OK;
    carom_bvh_ray path = carom_rays_path(&w->view);
    w->end = carom_bvh_ray_limit(w->view.limit_high, path.margin);
    w->count = 0;
    CAROM_CPU_CALL(all->context, carom_bvh_cast)
    (&all->soup->bvh, &path, w->end, soup_rays_collect, w);
    CAROM_TRY(w->status);
    span->count = soup_rays_arrange(w);
    for (uint64_t i = 0; i < span->count; ++i)
        if (!soup_rays_append(w, ray, &w->met[w->order[i]])) return CAROM_NO_MEMORY;
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
