/* SPDX-License-Identifier: MIT */
/* Checks of a broad phase between two calls, from what broad.h says of it.
 *
 * Ids: one that is not live has an empty box and is on exactly one of the two lists of free ids.
 * Changes: states and lists agree. The prepared structure, unless changes are pending: the tree or
 * grid is over the float32 boxes of all ids (bvh_validate.c, grid_validate.c); the entries of a
 * sweep are sorted, have the coordinates of their boxes, and give each overlapping pair once. The
 * last frame: its pairs are sorted, and those of boxes that did not change are exactly those that
 * overlap. Lists of pairs are compared with all pairs for few boxes only. */
#include "broad/broad_sweep_cpu.h"
#include "geom/length.h"

/* Ids for which all pairs are compared, in quadratic time: some milliseconds. */
#define MOST_COMPARED 1024u

#define KNOWN_STATES ((unsigned)(CAROM_BROAD_LIVE | CAROM_BROAD_CHANGED | CAROM_BROAD_PENDING))

/* ---- Ids ------------------------------------------------------------------------------------- */

static bool broad_validate_is_live(const carom_broad *broad, uint64_t id) {
    return (broad->states[id] & CAROM_BROAD_LIVE) != 0;
}

static bool broad_validate_is_finite(const carom_bounds *box) {
    return carom_vec_finite(box->low) && carom_vec_finite(box->high);
}

static const char *validate_ids(const carom_broad *broad) {
    uint32_t live = 0;
    if (broad->id_count > broad->capacity || broad->id_count > CAROM_BROAD_MOST)
        return "broad: there are more ids than the arrays have";
    for (uint64_t id = 0; id < broad->capacity; ++id) {
        if ((broad->states[id] & ~KNOWN_STATES) != 0) return "broad: an id has an unknown state";
        if (id >= broad->id_count && broad->states[id] != 0)
            return "broad: an id that was never given out has a state";
        if (broad_validate_is_live(broad, id)) {
            ++live;
            if (!broad_validate_is_finite(&broad->boxes[id])) return "broad: a bound is not finite";
            continue;
        }
        if (!carom_bounds_is_empty(&broad->boxes[id]))
            return "broad: an id that is not live has a box";
        if (broad->filters != NULL && (broad->filters[id].group | broad->filters[id].mask) != 0)
            return "broad: an id that is not live has a filter";
    }
    return live == broad->live ? NULL : "broad: the number of live boxes is wrong";
}

/* Sets a bit of each id that a list names. */
static const char *broad_validate_mark(const carom_broad *broad, const carom_broad_ids *list,
                                       uint8_t bit, uint8_t *marks) {
    if (list->count > list->capacity) return "broad: a list is longer than its array";
    for (uint64_t i = 0; i < list->count; ++i) {
        uint32_t id = list->data[i];
        if (id >= broad->id_count) return "broad: a list has an id that was never given out";
        if ((marks[id] & bit) != 0) return "broad: a list has an id twice";
        marks[id] |= bit;
    }
    return NULL;
}

/* States say which ids are on a list, unless a flag stands for all. */
static const char *validate_changes(const carom_broad *broad, const carom_broad_ids *list, bool all,
                                    uint8_t state, uint8_t *marks) {
    const char *message = broad_validate_mark(broad, list, state, marks);
    if (message != NULL) return message;
    if (all) return list->count == 0 ? NULL : "broad: all ids changed, and some are on a list";
    for (uint32_t id = 0; id < broad->id_count; ++id)
        if (((broad->states[id] ^ marks[id]) & state) != 0)
            return "broad: a state is not that of the list of changes";
    return NULL;
}

static const char *broad_validate_lists(const carom_broad *broad) {
    enum { FREE = 1 }; /* beside the bits of states */
    uint8_t *marks = carom_allocate(&broad->allocator, broad->id_count, 1);
    if (marks == NULL) return "broad: no memory to check the lists";
    memset(marks, 0, broad->id_count);
    const char *message = broad_validate_mark(broad, &broad->free_ids, FREE, marks);
    if (message == NULL) message = broad_validate_mark(broad, &broad->freed_ids, FREE, marks);
    for (uint32_t id = 0; id < broad->id_count && message == NULL; ++id)
        if (((marks[id] & FREE) != 0) == broad_validate_is_live(broad, id))
            message = "broad: an id is both live and free, or neither";
    if (message == NULL)
        message = validate_changes(broad, &broad->pending, broad->all_pending, CAROM_BROAD_PENDING,
                                   marks);
    if (message == NULL)
        message = validate_changes(broad, &broad->changed, broad->all_changed, CAROM_BROAD_CHANGED,
                                   marks);
    carom_release(&broad->allocator, marks);
    return message;
}

/* ---- The prepared structure ------------------------------------------------------------------ */

static void broad_validate_give_boxes(const void *user, const uint32_t *ids, uint32_t first,
                                      uint32_t count, carom_box *boxes) {
    const carom_broad *broad = user;
    for (uint32_t i = 0; i < count; ++i)
        boxes[i] =
            carom_broad_round(&broad->space, &broad->boxes[ids != NULL ? ids[i] : first + i]);
}

static const char *validate_space(const carom_broad *broad) {
    const carom_broad_space *space = &broad->space;
    bool plain = space->scale == 1.0 && space->origin[0] == 0.0 && space->origin[1] == 0.0 &&
                 space->origin[2] == 0.0;
    int exponent;
    if (frexp(space->scale, &exponent) != 0.5)
        return "broad: the scale of the float32 boxes is not a power of two";
    if (space->plain != plain) return "broad: the frame is said to be plain and is not";
    for (uint32_t id = 0; id < broad->id_count && broad->exact; ++id) {
        carom_box box = carom_broad_round(space, &broad->boxes[id]);
        if (carom_bounds_is_empty(&broad->boxes[id])) continue;
        if (!plain || !carom_broad_is_exact(&box, &broad->boxes[id]))
            return "broad: a box is said to be exact as float32 and is not";
    }
    return NULL;
}

static const char *broad_validate_tree(const carom_broad *broad) {
    const carom_bvh *tree = &broad->tree;
    if (tree->item_count < broad->id_count || tree->item_count > broad->capacity)
        return "broad: the tree is not over all ids";
    const char *message = carom_bvh_validate(tree, broad_validate_give_boxes, broad);
    if (message != NULL || !broad->slots_known) return message;
    for (uint32_t slot = 0; slot < tree->item_count; ++slot)
        if (broad->slot_of[tree->items[slot]] != slot)
            return "broad: the slot of an id is not where the tree has it";
    return NULL;
}

/* ---- Sweep ----------------------------------------------------------------------------------- */

static uint32_t broad_validate_id_of(const carom_broad_sweep *sweep, uint64_t entry) {
    return sweep->owners[entry] & CAROM_BROAD_SWEEP_ID;
}

static const char *broad_validate_entries(const carom_broad *broad) {
    const carom_broad_sweep *sweep = &broad->sweep;
    uint32_t within = (uint32_t)(((uint64_t)1 << sweep->key_bits) - 1);
    for (uint64_t i = 0; i < sweep->count; ++i) {
        uint32_t id = broad_validate_id_of(sweep, i);
        if (id >= broad->id_count) return "broad: an entry of the sweep is of no id";
        if (i > 0 && sweep->keys[i - 1] > sweep->keys[i])
            return "broad: the entries of the sweep are not sorted";
        carom_box box = carom_broad_round(&broad->space, &broad->boxes[id]);
        for (int k = 0; k < 3; ++k)
            if (sweep->rows[2 * k][i] != box.low[sweep->axis[k]] ||
                sweep->rows[2 * k + 1][i] != box.high[sweep->axis[k]])
                return "broad: an entry of the sweep does not have the coordinates of its box";
        if ((sweep->keys[i] & within) != carom_broad_sweep_key(sweep, sweep->rows[0][i]))
            return "broad: the key of an entry is not that of its low end";
    }
    for (uint64_t i = sweep->count; i < sweep->count + CAROM_BROAD_SWEEP_PADDING; ++i)
        if (sweep->keys[i] != UINT32_MAX || sweep->owners[i] != 0)
            return "broad: the sweep does not end with its padding";
    return NULL;
}

static const char *broad_validate_cells(const carom_broad_sweep *sweep) {
    uint64_t cells = 0, bound = 0;
    for (uint64_t begin = 0, end; begin < sweep->count; begin = end) {
        uint64_t cell = (uint64_t)sweep->keys[begin] >> sweep->key_bits;
        for (end = begin + 1;
             end < sweep->count && (uint64_t)sweep->keys[end] >> sweep->key_bits == cell;)
            ++end;
        if (end == begin + 1) return "broad: a cell with one box is swept";
        bound += (end - begin) * (end - begin - 1) / 2;
        ++cells;
    }
    if (sweep->cells != cells + sweep->lone_cells || sweep->bound != bound ||
        sweep->entries != sweep->count + sweep->lone_cells)
        return "broad: the counts of cells, entries or pairs of the sweep are wrong";
    return NULL;
}

typedef struct broad_validate_totals { /* of a list of pairs, in any order */
    uint64_t count, sum;
} broad_validate_totals;

static void broad_validate_add_pair(broad_validate_totals *t, uint32_t a, uint32_t b) {
    ++t->count;
    t->sum += ((uint64_t)CAROM_MIN(a, b) << 32 | CAROM_MAX(a, b)) * UINT64_C(0x9E3779B97F4A7C15);
}

static bool broad_validate_overlap(const carom_broad *broad, uint32_t a, uint32_t b) {
    carom_box x = carom_broad_round(&broad->space, &broad->boxes[a]);
    carom_box y = carom_broad_round(&broad->space, &broad->boxes[b]);
    return carom_box_overlap(&x, &y);
}

/* Two boxes that overlap have one cell in common that is, along either axis, the lowest of one of
 * them. */
static const char *validate_sweep_pairs(const carom_broad *broad) {
    const carom_broad_sweep *sweep = &broad->sweep;
    const uint32_t both = CAROM_BROAD_SWEEP_LOW_U | CAROM_BROAD_SWEEP_LOW_V;
    broad_validate_totals found = {0, 0}, all = {0, 0};
    for (uint64_t i = 0; i < sweep->count; ++i)
        for (uint64_t k = i + 1;
             k < sweep->count && (uint64_t)sweep->keys[k] >> sweep->key_bits ==
                                     (uint64_t)sweep->keys[i] >> sweep->key_bits;
             ++k)
            if (((sweep->owners[i] | sweep->owners[k]) & both) == both &&
                broad_validate_overlap(broad, broad_validate_id_of(sweep, i),
                                       broad_validate_id_of(sweep, k)))
                broad_validate_add_pair(&found, broad_validate_id_of(sweep, i),
                                        broad_validate_id_of(sweep, k));
    for (uint32_t a = 0; a < broad->id_count; ++a)
        for (uint32_t b = a + 1; b < broad->id_count; ++b)
            if (broad_validate_overlap(broad, a, b)) broad_validate_add_pair(&all, a, b);
    return found.count == all.count && found.sum == all.sum
               ? NULL
               : "broad: the cells of the sweep do not give each overlapping pair once";
}

static const char *validate_sweep(const carom_broad *broad) {
    const carom_broad_sweep *sweep = &broad->sweep;
    if (sweep->count + CAROM_BROAD_SWEEP_PADDING > sweep->capacity)
        return "broad: the arrays are smaller than the sweep";
    const char *message = broad_validate_entries(broad);
    if (message == NULL) message = broad_validate_cells(sweep);
    if (message == NULL && broad->id_count <= MOST_COMPARED) message = validate_sweep_pairs(broad);
    return message;
}

static const char *validate_structure(const carom_broad *broad) {
    const carom_grid_source items = {broad->id_count, broad_validate_give_boxes, broad};
    if (broad->device != NULL) return NULL; /* it is on the device */
    if (!broad->built) return "broad: nothing is built, and nothing failed";
    const char *message = validate_space(broad);
    if (message != NULL) return message;
    if (broad->method == CAROM_BROAD_METHOD_TREE) return broad_validate_tree(broad);
    if (broad->method == CAROM_BROAD_METHOD_GRID) return carom_grid_validate(&broad->grid, &items);
    return validate_sweep(broad);
}

/* ---- The last frame -------------------------------------------------------------------------- */

static bool broad_validate_has_changed(const carom_broad *broad, uint32_t id) {
    return broad->all_changed || (broad->states[id] & CAROM_BROAD_CHANGED) != 0;
}

static bool broad_validate_is_pair(const carom_broad *broad, uint32_t a, uint32_t b) {
    const carom_bounds *x = &broad->boxes[a], *y = &broad->boxes[b];
    if (carom_bounds_is_empty(x) || carom_bounds_is_empty(y)) return false;
    return carom_bounds_overlap(x, y) &&
           (broad->filters == NULL || carom_broad_allows(broad->filters[a], broad->filters[b]));
}

static const char *broad_validate_frame(const carom_broad *broad) {
    const carom_broad_words *kept = &broad->kept;
    uint64_t unchanged = 0, pairs = 0;
    if (kept->count > kept->capacity) return "broad: a list is longer than its array";
    for (uint64_t i = 0; i < kept->count; ++i) {
        uint32_t a = (uint32_t)(kept->data[i] >> 32), b = (uint32_t)kept->data[i];
        if (a >= b || b >= broad->id_count) return "broad: a pair of the last frame is of no ids";
        if (i > 0 && kept->data[i - 1] >= kept->data[i])
            return "broad: the pairs of the last frame are not sorted";
        if (broad_validate_has_changed(broad, a) || broad_validate_has_changed(broad, b)) continue;
        if (!broad_validate_is_pair(broad, a, b))
            return "broad: a pair of the last frame does not overlap";
        ++unchanged;
    }
    if (broad->accept != NULL || broad->id_count > MOST_COMPARED) return NULL;
    for (uint32_t a = 0; a < broad->id_count; ++a)
        for (uint32_t b = a + 1; b < broad->id_count && !broad_validate_has_changed(broad, a); ++b)
            pairs += !broad_validate_has_changed(broad, b) && broad_validate_is_pair(broad, a, b)
                         ? 1
                         : 0;
    return pairs == unchanged ? NULL : "broad: a pair is missing in the last frame";
}

const char *carom_broad_validate(const carom_broad *broad) {
    const char *message = validate_ids(broad);
    if (message == NULL) message = broad_validate_lists(broad);
    if (message == NULL) message = broad_validate_frame(broad);
    if (message != NULL || broad->failure != CAROM_OK || carom_broad_is_pending(broad))
        return message;
    return validate_structure(broad);
}
