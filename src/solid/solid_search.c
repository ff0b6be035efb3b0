/* SPDX-License-Identifier: MIT */
/* All pairs of triangles of two solids whose boxes overlap, each pair once.
 *
 * A search of both trees on all threads (bvh_obb_search.h), in which each worker adds up the pairs
 * that it gets.
 *
 * Invariant: the sums are in fixed point, so the result does not depend on the distribution of
 * pairs among workers. */
#include "base/progress.h"
#include "bvh/bvh_obb_search.h"
#include "solid/solid_pair_cpu.h"

typedef struct solid_search_worker {
    carom_obb_worker base;
    const carom_solid_query *query;
    carom_solid_accumulator acc;
    bool batched;
    carom_solid_batch batch;
} solid_search_worker;

bool carom_solid_batch_can(const carom_solid_query *query) {
    bool normal = true;
    for (unsigned i = 0; i < CAROM_SOLID_TERMS; ++i)
        normal = normal && query->scales[i] >= CAROM_SUM_LANES_SCALE;
    return normal && query->consider == carom_solid_consider && query->changes[0] == NULL &&
           query->changes[1] == NULL && query->large[0] == HUGE_VAL && query->large[1] == HUGE_VAL;
}

static void solid_search_worker_begin(void *user, void *state) {
    const carom_solid_query *query = *(carom_solid_query **)user;
    solid_search_worker *w = state;
    w->query = query;
    w->batched = carom_solid_batch_can(query);
    carom_solid_accumulator_begin(&w->acc);
    w->acc.scratch = carom_scratch(query->context, w->base.index);
    carom_soup_begin_traversal(&query->posed, &w->base.traversal);
}

static bool solid_search_receive(void *state) {
    solid_search_worker *w = state;
    carom_obb_traversal *found = &w->base.traversal;
    const carom_solid_query *query = w->query;
    const uint32_t *items_a = query->posed.a.items, *items_b = query->posed.b.items;
    if (w->batched) {
        for (uint32_t i = 0; i < found->found_count; ++i) {
            found->found_a[i] = items_a[found->found_a[i]];
            found->found_b[i] = items_b[found->found_b[i]];
            CAROM_ASSERT(found->found_a[i] < query->solids[0]->view.triangle_count &&
                         found->found_b[i] < query->solids[1]->view.triangle_count);
        }
        CAROM_CPU_CALL(query->context, carom_solid_consider_batch)
        (query, &w->acc, &w->batch, found->found_a, found->found_b, found->found_count);
        return true;
    }
    carom_solid_face a, b;
    uint32_t last_a = CAROM_BVH_NONE, last_b = CAROM_BVH_NONE;
    for (uint32_t i = 0; i < found->found_count; ++i) {
        uint32_t triangle_a = items_a[found->found_a[i]], triangle_b = items_b[found->found_b[i]];
        if (triangle_a != last_a) carom_solid_pose(query, 0, last_a = triangle_a, &a);
        if (triangle_b != last_b) carom_solid_pose(query, 1, last_b = triangle_b, &b);
        query->consider(query, &w->acc, &a, &b);
    }
    return true;
}

static void add_accumulator(carom_solid_accumulator *to, const carom_solid_accumulator *from) {
    for (unsigned i = 0; i < CAROM_SOLID_TERMS; ++i)
        to->terms[i] = carom_sum_add(to->terms[i], from->terms[i]);
    for (int of_b = 0; of_b < 2; ++of_b)
        for (unsigned i = 0; i < CAROM_SOLID_SUMS; ++i)
            to->moments[of_b].sums[i] =
                carom_sum_add(to->moments[of_b].sums[i], from->moments[of_b].sums[i]);
    for (int of_b = 0; of_b < 2; ++of_b) {
        to->swept[of_b] = carom_sum_add(to->swept[of_b], from->swept[of_b]);
        to->moved[of_b] |= from->moved[of_b];
    }
    carom_solid_accumulator_hold(to, from->low, from->high);
    to->added += from->added;
    to->any_volume |= from->any_volume;
    for (int i = 0; i < 2; ++i) to->errors[i] = carom_sum_add(to->errors[i], from->errors[i]);
    to->span = CAROM_MAX(to->span, from->span);
    to->pairs += from->pairs;
    to->candidates += from->candidates;
    to->undecided += from->undecided;
    to->too_large |= from->too_large;
    to->one_sided |= from->one_sided;
    to->crossing |= from->crossing;
    to->plain_crossing |= from->plain_crossing;
    for (int i = 0; i < 2; ++i) {
        to->crossed[i] = CAROM_MAX(to->crossed[i], from->crossed[i]);
        to->copies[i] += from->copies[i];
    }
    to->no_memory |= from->no_memory;
}

/* Takes over the lists of a worker. The scratch of all but worker 0 is rewound after a search, so
 * their lists are copied to that of worker 0. */
static void adopt_lists(carom_solid_accumulator *to, const solid_search_worker *w) {
    const bool copy = w->base.index != 0;
    carom_arena *scratch = carom_scratch(w->query->context, 0);
    for (carom_solid_records *next, *block = w->acc.records; block != NULL; block = next) {
        next = block->next;
        if (copy) {
            carom_solid_records *moved = CAROM_ARENA_TAKE(scratch, carom_solid_records, 1);
            to->no_memory |= moved == NULL;
            if (moved == NULL) return;
            memcpy(moved->data, block->data, block->count * sizeof(*block->data));
            moved->count = block->count;
            block = moved;
        }
        block->next = to->records;
        to->records = block;
    }
    for (carom_solid_changes *next, *block = w->acc.changes; block != NULL; block = next) {
        next = block->next;
        if (copy) {
            carom_solid_changes *moved = CAROM_ARENA_TAKE(scratch, carom_solid_changes, 1);
            to->no_memory |= moved == NULL;
            if (moved == NULL) return;
            memcpy(moved->data, block->data, block->count * sizeof(*block->data));
            moved->count = block->count;
            block = moved;
        }
        block->next = to->changes;
        to->changes = block;
    }
}

static bool consider_two(void *user, uint32_t a, uint32_t b, const carom_triangle *posed_a,
                         const carom_triangle *posed_b) {
    solid_search_worker *w = user;
    carom_solid_face face_a, face_b;
    (void)posed_a, (void)posed_b;
    carom_solid_pose(w->query, 0, a, &face_a);
    carom_solid_pose(w->query, 1, b, &face_b);
    w->query->consider(w->query, &w->acc, &face_a, &face_b);
    return true;
}

/* What the GPU found before, or finds now. */
static carom_status search_on_device(carom_solid_query *query, carom_solid_accumulator *acc) {
    const carom_solid_query *only = query;
    if (query->ready == NULL) return carom_solid_device_search(query->context, &only, 1, &acc);
    *acc = *query->ready;
    query->ready = NULL;
    return CAROM_OK;
}

carom_status carom_solid_search(carom_solid_query *query, carom_solid_accumulator *acc) {
    carom_context *context = query->context;
    if (carom_solid_device_can(query)) return search_on_device(query, acc);
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    const solid_search_worker *w;
    carom_obb_search search = {.context = context,
                               .state_size = sizeof(solid_search_worker),
                               .user = &query,
                               .begin = solid_search_worker_begin,
                               .receive = solid_search_receive,
                               .alone = query->record && query->changes[0] != NULL,
                               .budget = UINT64_MAX};
    carom_status status = carom_obb_search_begin(&search);
    if (status == CAROM_OK && query->posed.extreme) {
        const double touching = 0.0;
        status = carom_soup_each_two(context, &query->posed, carom_vec(0.0, 0.0, 0.0), &touching,
                                     consider_two, carom_worker_state(&search.states, 0));
    } else if (status == CAROM_OK) {
        status = carom_obb_search_run(&search);
    }
    for (uint32_t i = 0; (w = carom_worker_states_next(&search.states, &i)) != NULL;) {
        add_accumulator(acc, &w->acc);
        if (query->record) adopt_lists(acc, w);
    }
    /* a pair is counted where it was a candidate */
    CAROM_ASSERT(query->consider != carom_solid_consider ||
                 (acc->pairs <= acc->candidates && acc->undecided <= acc->candidates));
    acc->visits += search.visits;
    carom_obb_search_end(&search);
    if (!query->record) carom_arena_rewind(scratch, mark);
    if (acc->no_memory)
        return carom_fail_memory(context, sizeof(carom_solid_records), "the faces that meet");
    return status;
}

carom_status carom_solid_search_and_cast(carom_solid_query *query, carom_solid_accumulator *acc) {
    CAROM_TRY(carom_solid_search(query, acc));
    for (int of_b = 0; of_b < 2; ++of_b)
        for (uint32_t i = 0; i < query->solids[of_b]->root_count; ++i) {
            uint32_t root = query->solids[of_b]->roots[i];
            CAROM_TRY(carom_progress_look(query->context));
            carom_solid_add_descendants(query, acc, of_b, root,
                                        carom_solid_winding(query, of_b, root));
        }
    return CAROM_OK;
}
