/* SPDX-License-Identifier: MIT */
/* Many boxes: any bytes are a sequence of changes, frames and queries. All methods give the pairs
 * of all boxes compared with all; bounds that are not finite are refused and change nothing; rays
 * and points find boxes that all boxes tested one by one would not beat. After each step the
 * structure is valid. */
#include <math.h>
#include <stdbool.h>

#include "broad/broad.h"
#include "fuzz/fuzz.h"

#define MOST       64u
#define MOST_STEPS 24

typedef struct model {
    carom_bounds boxes[MOST];
    bool live[MOST];
    uint32_t ids;
} model;

static bool is_finite(const carom_bounds *b) {
    const double *x = &b->low.x;
    for (int k = 0; k < 6; ++k)
        if (!isfinite(x[k])) return false;
    return true;
}

static bool is_empty(const carom_bounds *b) {
    return b->low.x > b->high.x || b->low.y > b->high.y || b->low.z > b->high.z;
}

static bool overlap(const carom_bounds *a, const carom_bounds *b) {
    if (is_empty(a) || is_empty(b)) return false;
    return a->low.x <= b->high.x && b->low.x <= a->high.x && a->low.y <= b->high.y &&
           b->low.y <= a->high.y && a->low.z <= b->high.z && b->low.z <= a->high.z;
}

/* A box from bytes: small integers, or any doubles. */
static carom_bounds take_box(const uint8_t **bytes, size_t *left) {
    carom_bounds b;
    double *x = &b.low.x;
    uint8_t kind, small[6];
    fuzz_take(bytes, left, &kind, 1);
    if (kind % 4 == 0) {
        fuzz_take(bytes, left, &b, sizeof(b));
        return b;
    }
    fuzz_take(bytes, left, small, sizeof(small));
    for (int k = 0; k < 3; ++k) {
        x[k] = ldexp((double)(int8_t)small[k], (kind >> 2) - 32);
        x[3 + k] = x[k] + ldexp((double)(small[3 + k] % 64) - 2.0, (kind >> 2) - 32);
    }
    return b;
}

static void check_pairs(const model *m, const carom_pairs *pairs) {
    uint64_t count = 0;
    for (uint32_t a = 0; a < m->ids; ++a) {
        for (uint32_t b = a + 1; b < m->ids; ++b) {
            if (!m->live[a] || !m->live[b] || !overlap(&m->boxes[a], &m->boxes[b])) continue;
            FUZZ_CHECK(count < pairs->count && pairs->data[count].a == a &&
                       pairs->data[count].b == b);
            ++count;
        }
    }
    FUZZ_CHECK(count == pairs->count);
}

static void check_queries(carom_context *context, const carom_broad *broad, const model *m,
                          const carom_bounds *from) {
    carom_pairs pairs = {0};
    carom_hit hit;
    uint64_t count = 0;
    if (!is_finite(from)) return;
    FUZZ_CHECK(carom_broad_query_boxes(context, broad, from, 1, &pairs) == CAROM_OK);
    for (uint32_t id = 0; id < m->ids; ++id) {
        if (!m->live[id] || !overlap(&m->boxes[id], from)) continue;
        FUZZ_CHECK(count < pairs.count && pairs.data[count].b == id);
        ++count;
    }
    FUZZ_CHECK(count == pairs.count);
    FUZZ_CHECK(carom_broad_closest_points(context, broad, &from->low, 1, &hit) == CAROM_OK);
    for (uint32_t id = 0; id < m->ids; ++id) { /* a box that holds the point is at distance 0 */
        carom_bounds point = {from->low, from->low};
        if (!m->live[id] || !overlap(&m->boxes[id], &point)) continue;
        FUZZ_CHECK(hit.id <= id && hit.distance == 0.0);
        break;
    }
    carom_ray ray = {from->low, from->high, 0.0};
    if (ray.direction.x == 0.0 && ray.direction.y == 0.0 && ray.direction.z == 0.0)
        ray.direction.x = 1.0;
    FUZZ_CHECK(carom_broad_query_rays(context, broad, &ray, 1, &pairs) == CAROM_OK);
    FUZZ_CHECK(carom_broad_cast_rays(context, broad, &ray, 1, &hit) == CAROM_OK);
    bool listed = false;
    for (uint64_t i = 0; i < pairs.count; ++i) listed |= pairs.data[i].b == hit.id;
    FUZZ_CHECK(pairs.count == 0 ? hit.id == CAROM_NONE : listed);
    carom_pairs_free(&pairs);
}

static void change(carom_context *context, carom_broad *broad, model *m, uint8_t what,
                   const carom_bounds *box) {
    carom_status wanted = is_finite(box) ? CAROM_OK : CAROM_BAD_INPUT;
    uint32_t id = m->ids != 0 ? what / 4 % m->ids : 0;
    if (what % 4 == 0 && m->ids < MOST) {
        FUZZ_CHECK(carom_broad_add(context, broad, box, 1, &id) == wanted);
        if (wanted != CAROM_OK) return;
        FUZZ_CHECK(id <= m->ids && !m->live[id]);
        if (id == m->ids) ++m->ids;
        m->live[id] = true;
        m->boxes[id] = *box;
    } else if (what % 4 == 1) {
        bool live = m->ids != 0 && m->live[id];
        FUZZ_CHECK((carom_broad_remove(context, broad, &id, 1) == CAROM_OK) == live);
        m->live[id] = false;
    } else {
        bool live = m->ids != 0 && m->live[id];
        carom_status status = carom_broad_move(context, broad, &id, box, 1);
        FUZZ_CHECK((status == CAROM_OK) == (live && wanted == CAROM_OK));
        if (status == CAROM_OK) m->boxes[id] = *box;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static carom_context *context; /* kept for the life of the process */
    model m = {.ids = 0};
    carom_broad *broad;
    carom_pairs pairs = {0};
    size_t left = size;
    uint8_t head;
    if (context == NULL)
        FUZZ_CHECK(carom_context_create(&(carom_context_def){.threads = 1}, &context) == CAROM_OK);
    fuzz_take(&bytes, &left, &head, 1);
    carom_broad_def def = {.method = (carom_broad_method)(head % CAROM_BROAD_METHOD_COUNT)};
    FUZZ_CHECK(carom_broad_create(context, &def, &broad) == CAROM_OK);
    FUZZ_CHECK_VALID(carom_broad_validate(broad));
    bool has_tree = def.method < CAROM_BROAD_METHOD_GRID;
    for (int step = 0; step < MOST_STEPS && left > 0; ++step) {
        uint8_t what, count;
        carom_bounds box = {{0, 0, 0}, {0, 0, 0}};
        fuzz_take(&bytes, &left, &count, 1);
        for (count %= 16; count > 0 && left > 0; --count) {
            fuzz_take(&bytes, &left, &what, 1);
            box = take_box(&bytes, &left);
            change(context, broad, &m, what, &box);
            FUZZ_CHECK_VALID(carom_broad_validate(broad));
        }
        FUZZ_CHECK(carom_broad_step(context, broad, &pairs, NULL, NULL) == CAROM_OK);
        FUZZ_CHECK_VALID(carom_broad_validate(broad));
        check_pairs(&m, &pairs);
        if (has_tree) check_queries(context, broad, &m, &box);
    }
    carom_pairs_free(&pairs);
    carom_broad_destroy(broad);
    return 0;
}
