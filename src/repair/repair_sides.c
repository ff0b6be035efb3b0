/* SPDX-License-Identifier: MIT */
/* The sides of a mesh, sorted by edges: two stable sorts, by the higher and then by the lower
 * vertex, put the sides of an edge side by side, in the order of their corners. */
#include "base/item.h"
#include "base/sort.h"
#include "repair/repair.h"

/* Fills next and faces of the corners. */
static void number_corners(carom_repair_sides *s) {
    for (uint64_t f = 0; f < s->view->face_count; ++f) {
        uint64_t begin = carom_mesh_offset(s->view, f), end = carom_mesh_offset(s->view, f + 1);
        for (uint64_t c = begin; c < end; ++c) {
            s->next[c] = (uint32_t)(c + 1 < end ? c + 1 : begin);
            s->faces[c] = (uint32_t)f;
        }
    }
}

static uint32_t side_low(const carom_repair_sides *s, uint32_t corner) {
    uint32_t a = carom_repair_from(s, corner), b = carom_repair_to(s, corner);
    return CAROM_MIN(a, b);
}

static uint32_t side_high(const carom_repair_sides *s, uint32_t corner) {
    uint32_t a = carom_repair_from(s, corner), b = carom_repair_to(s, corner);
    return CAROM_MAX(a, b);
}

carom_status carom_repair_sides_make(carom_context *context, const carom_mesh_view *view,
                                     carom_repair_sides *sides) {
    carom_arena *scratch = carom_scratch(context, 0);
    uint64_t corners = carom_mesh_corner_count(view);
    carom_repair_sides s = {.view = view, .corner_count = corners};
    s.next = CAROM_ARENA_TAKE(scratch, uint32_t, corners + 1);
    s.faces = CAROM_ARENA_TAKE(scratch, uint32_t, corners + 1);
    s.order = CAROM_ARENA_TAKE(scratch, uint32_t, corners + 1);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    uint32_t *keys = CAROM_ARENA_TAKE(scratch, uint32_t, corners + 1);
    if (s.next == NULL || s.faces == NULL || s.order == NULL || keys == NULL)
        return carom_fail_memory(context, 16 * corners, "the sides of a mesh");
    number_corners(&s);
    for (uint64_t c = 0; c < corners; ++c)
        if (carom_repair_from(&s, (uint32_t)c) != carom_repair_to(&s, (uint32_t)c))
            s.order[s.count++] = (uint32_t)c;
    for (uint64_t i = 0; i < s.count; ++i) keys[i] = side_high(&s, s.order[i]);
    CAROM_TRY(carom_sort_keys(context, keys, s.order, s.count));
    for (uint64_t i = 0; i < s.count; ++i) keys[i] = side_low(&s, s.order[i]);
    CAROM_TRY(carom_sort_keys(context, keys, s.order, s.count));
    carom_arena_rewind(scratch, mark);
    *sides = s;
    return CAROM_OK;
}

bool carom_repair_next_edge(const carom_repair_sides *s, uint64_t *at, carom_repair_edge *edge) {
    if (*at >= s->count) return false;
    uint32_t first = s->order[*at];
    carom_repair_edge e = {.begin = *at,
                           .end = *at,
                           .low = side_low(s, first),
                           .high = side_high(s, first),
                           .side = CAROM_NONE,
                           .other = CAROM_NONE};
    while (e.end < s->count && side_low(s, s->order[e.end]) == e.low &&
           side_high(s, s->order[e.end]) == e.high) {
        uint32_t face = s->faces[s->order[e.end]], up = CAROM_NONE, down = CAROM_NONE;
        uint64_t forward = 0, backward = 0; /* sides of this face */
        for (; e.end < s->count && s->faces[s->order[e.end]] == face; ++e.end) {
            uint32_t corner = s->order[e.end];
            if (side_low(s, corner) != e.low || side_high(s, corner) != e.high) break;
            bool ahead = carom_repair_from(s, corner) == e.low;
            uint32_t *last = ahead ? &up : &down;
            *(ahead ? &forward : &backward) += 1;
            *last = corner;
        }
        if (forward == backward) continue;
        e.kept += forward > backward ? forward - backward : backward - forward;
        e.forward += forward > backward ? forward - backward : 0;
        uint32_t corner = forward > backward ? up : down;
        if (e.side == CAROM_NONE)
            e.side = corner;
        else if (e.other == CAROM_NONE)
            e.other = corner;
    }
    *edge = e;
    *at = e.end;
    return true;
}

bool carom_repair_has_edge(const carom_repair_sides *s, uint32_t a, uint32_t b) {
    uint64_t wanted = (uint64_t)CAROM_MIN(a, b) << 32 | CAROM_MAX(a, b);
    uint64_t low = 0, high = s->count;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        uint32_t corner = s->order[middle];
        uint64_t key = (uint64_t)side_low(s, corner) << 32 | side_high(s, corner);
        if (key == wanted) return true;
        if (key < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}
