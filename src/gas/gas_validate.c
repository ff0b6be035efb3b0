/* SPDX-License-Identifier: MIT */
/* Checks of a gas between two calls, from what gas.h and the headers beside it say of it.
 *
 * Cells: every sphere is filed in its home and in the ghosts of its home and nowhere else, and it
 * is where its home says, up to the skin. Lists: two spheres are in each other's lists exactly when
 * their centres are close. Queue: every sphere can be reached at its due time. Trajectories: their
 * errors are no larger than what their radii were enlarged by. Predictions: no pair of spheres
 * meets before one of the two is due. */
#include "gas/gas.h"

#include "base/memory.h"
#include "gas/gas_neighbour_lists.h"
#include "gas/gas_queue.h"
#include "gas/gas_trajectory.h"

/* Events are found to a tick, in which a sphere moves by CAROM_GAS_MOST_STEP, and cells are wider
 * than they need to be by more than this (least_edge in gas_cells.c). */
#define POSITION_TOLERANCE     2e-6 /* of the largest radius */
#define POSITION_TOLERANCE_BOX 1e-9 /* of the longest edge of the box */

#define MOST_OVERLAP 1e-8 /* of the sum of radii: a file may have 1e-9, and rounding adds */
#define MOST_PAIRED  48   /* spheres up to which all pairs are predicted again */

/* ---- Spheres --------------------------------------------------------------------------------- */

static const char *validate_labels(const carom_gas *gas) {
    uint64_t present = 0;
    if (gas->count > gas->capacity || gas->labels > gas->label_capacity)
        return "gas: there are more spheres than slots";
    for (uint64_t label = 0; label < gas->labels; ++label) {
        uint32_t slot = gas->slot_of[label];
        if (slot == CAROM_GAS_NO_SLOT) continue;
        ++present;
        if (slot >= gas->count || gas->records[slot].label != label)
            return "gas: a label and its slot do not agree";
    }
    if (present != gas->count) return "gas: the number of spheres is not that of the labels";
    if ((!gas->uniform && gas->radius == NULL) || (!(gas->common_mass > 0.0) && gas->mass == NULL))
        return "gas: radii or masses differ and are not there";
    for (uint64_t i = 0; i < gas->count; ++i) {
        const carom_gas_body *body = &gas->bodies[i];
        double radius = carom_gas_radius(gas, (uint32_t)i);
        if (!(radius >= gas->smallest && radius <= gas->largest))
            return "gas: a radius is out of range";
        for (int axis = 0; axis < 3; ++axis)
            if (!isfinite(body->x[axis]) || !isfinite(body->v[axis]))
                return "gas: a body is not finite";
        if (body->t > gas->now) return "gas: a body is from the future";
    }
    return NULL;
}

/* Present position in the box of its cells. */
static void gas_validate_position_of(const carom_gas *gas, uint32_t slot, double x[3]) {
    const carom_gas_body *body = &gas->bodies[slot];
    double v[3];
    carom_gas_state_at(&gas->rules, body, carom_gas_span(&gas->rules, gas->now - body->t), x, v);
    for (int axis = 0; axis < 3; ++axis)
        x[axis] -= (double)body->wraps[axis] * gas->rules.edge[axis];
}

/* ---- Cells ----------------------------------------------------------------------------------- */

static uint64_t count_in_cell(const carom_gas_cells *cells, uint64_t index, uint32_t entry) {
    uint64_t found = 0;
    const carom_gas_cell *cell = &cells->cells[index];
    for (; cell != NULL; cell = carom_gas_cell_after(cells, cell))
        for (int k = 0; k < CAROM_GAS_CELL_ENTRIES; ++k) found += cell->entry[k] == entry;
    return found;
}

static const char *validate_chains(const carom_gas *gas, const carom_gas_cells *cells,
                                   uint64_t *entries) {
    uint64_t overflow = 0, free = 0;
    for (uint64_t index = 0; index < cells->count; ++index) {
        const carom_gas_cell *cell = &cells->cells[index];
        for (; cell != NULL; cell = carom_gas_cell_after(cells, cell)) {
            bool ended = false;
            for (int k = 0; k < CAROM_GAS_CELL_ENTRIES; ++k) {
                uint32_t entry = cell->entry[k];
                if (carom_gas_is_link(entry)) {
                    if (k + 1 < CAROM_GAS_CELL_ENTRIES || ++overflow > cells->overflow_capacity ||
                        entry - CAROM_GAS_LINK >= cells->overflow_capacity)
                        return "gas: a cell has a bad link";
                } else if (entry == CAROM_GAS_EMPTY) {
                    ended = true;
                } else if (ended || carom_gas_candidate_slot(entry) >= gas->count) {
                    return "gas: a cell is not filled from the front with slots";
                } else {
                    ++*entries;
                }
            }
        }
    }
    for (uint32_t i = cells->free_overflow; i != CAROM_GAS_EMPTY && free <= cells->free_count;
         i = cells->cells[cells->count + i].entry[0])
        ++free;
    if (free != cells->free_count || free + overflow != cells->overflow_capacity)
        return "gas: an overflow cell is neither in use nor free";
    return NULL;
}

/* Whether the sphere is in its home and all its ghosts; adds their number to *filed. */
static bool is_filed(const carom_gas *gas, uint32_t slot, uint64_t *filed) {
    const carom_gas_cells *cells = carom_gas_cells_seen(gas, carom_gas_level_at(gas, slot));
    const carom_gas_home *home = &gas->records[slot].home;
    const int64_t stride[3] = {1, carom_gas_row(cells), carom_gas_layer(cells)};
    for (uint32_t code = 0; code < 27; ++code) {
        const uint32_t digit[3] = {code % 3, code / 3 % 3, code / 9};
        int64_t index = (int64_t)carom_gas_home_index(cells, home);
        bool exists = true;
        for (int axis = 0; axis < 3; ++axis) {
            uint32_t size = cells->size[axis], at = home->at[axis];
            if (digit[axis] == 1) continue;
            exists = exists && gas->rules.periodic[axis] && at == (digit[axis] == 2 ? 0 : size - 1);
            index += (digit[axis] == 2 ? (int64_t)size : -(int64_t)size) * stride[axis];
        }
        if (!exists) continue;
        if (count_in_cell(cells, (uint64_t)index, carom_gas_candidate(slot, code)) != 1)
            return false;
        ++*filed;
    }
    return true;
}

static bool is_filed_by_extent(const carom_gas *gas, uint32_t slot, uint64_t *filed) {
    const carom_gas_home *home = &gas->records[slot].home;
    for (uint32_t n = 0; n < 8; ++n) {
        if ((n & ~(uint32_t)home->extra) != 0) continue;
        uint64_t at[3];
        for (int axis = 0; axis < 3; ++axis)
            at[axis] = (home->at[axis] + (n >> axis & 1u)) % gas->cells.size[axis];
        if (count_in_cell(&gas->cells, carom_gas_cell_index(&gas->cells, at[0], at[1], at[2]),
                          carom_gas_candidate(slot, CAROM_GAS_HERE)) != 1)
            return false;
        ++*filed;
    }
    return true;
}

/* Whether a sphere is where its home says, up to the skin. */
static bool is_at_home(const carom_gas *gas, uint32_t slot) {
    const carom_gas_home *home = &gas->records[slot].home;
    const carom_gas_cells *cells = carom_gas_cells_seen(gas, carom_gas_level_at(gas, slot));
    bool extent = gas->method == CAROM_GAS_METHOD_EXTENT;
    double tolerance = POSITION_TOLERANCE * gas->largest + POSITION_TOLERANCE_BOX * gas->longest;
    double x[3], radius = extent ? carom_gas_radius(gas, slot) : 0.0;
    gas_validate_position_of(gas, slot, x);
    for (int axis = 0; axis < 3; ++axis) {
        double edge = cells->edge[axis], low = (double)home->at[axis] * edge;
        uint32_t more = extent ? (uint32_t)home->extra >> axis & 1u : 0;
        double away = tolerance + (extent ? 0.0 : cells->skin[axis]);
        bool wall_low = !gas->rules.periodic[axis] && home->at[axis] == 0;
        bool wall_high =
            !gas->rules.periodic[axis] && home->at[axis] + more + 1 == cells->size[axis];
        if (!wall_low && x[axis] - radius < low - away) return false;
        if (!wall_high && x[axis] + radius > low + edge * (1.0 + more) + away) return false;
    }
    return true;
}

/* Grids are nested, and each sphere is in the level of its radius, whose cells are wide enough. */
static const char *validate_levels(const carom_gas *gas) {
    for (uint32_t k = 0; k < gas->levels.count; ++k) {
        const carom_gas_level *level = &gas->levels.level[k];
        const carom_gas_cells *cells = carom_gas_cells_seen(gas, k);
        if (k > 0 && level->shift <= level[-1].shift) return "gas: two levels are equally fine";
        if (k > 0 && level->largest <= level[-1].largest) return "gas: levels are not in order";
        for (int axis = 0; axis < 3; ++axis) {
            if (cells->size[axis] << level->shift != gas->cells.size[axis])
                return "gas: the levels are not nested";
            if (cells->edge[axis] < carom_gas_least_edge(gas, 2.0 * level->largest))
                return "gas: the cells of a level are too small";
        }
    }
    for (uint32_t slot = 0; slot < gas->count && gas->levels.count != 0; ++slot)
        if (gas->records[slot].home.extra != carom_gas_level_of(gas, carom_gas_radius(gas, slot)))
            return "gas: a sphere is not in the level of its radius";
    return NULL;
}

static const char *gas_validate_cells(const carom_gas *gas) {
    uint64_t entries = 0, filed = 0;
    const char *message = validate_chains(gas, &gas->cells, &entries);
    for (uint32_t k = 1; k < gas->levels.count && message == NULL; ++k)
        message = validate_chains(gas, &gas->levels.level[k].cells, &entries);
    if (message == NULL) message = validate_levels(gas);
    for (uint32_t slot = 0; slot < gas->count && message == NULL; ++slot) {
        const carom_gas_cells *cells = carom_gas_cells_seen(gas, carom_gas_level_at(gas, slot));
        for (int axis = 0; axis < 3; ++axis)
            if (gas->records[slot].home.at[axis] >= cells->size[axis])
                return "gas: a home is outside the cells";
        bool is = gas->method == CAROM_GAS_METHOD_EXTENT ? is_filed_by_extent(gas, slot, &filed)
                                                         : is_filed(gas, slot, &filed);
        if (!is) message = "gas: a sphere is not filed once in each of its cells";
        if (gas->method != CAROM_GAS_METHOD_NEIGHBOURS && !is_at_home(gas, slot))
            message = "gas: a sphere has left its cell";
    }
    if (message == NULL && entries != filed) message = "gas: a cell has an entry of no sphere";
    return message;
}

/* ---- Neighbour lists ------------------------------------------------------------------------- */

static uint32_t times_listed(const carom_gas *gas, uint32_t slot, uint32_t near) {
    const uint32_t *list = carom_gas_list_of(gas, slot);
    uint32_t times = 0;
    for (uint32_t i = 1; i <= list[0]; ++i) times += list[i] == near;
    return times;
}

static bool is_near_centre(const carom_gas *gas, uint32_t slot) {
    double x[3], square = 0.0;
    double tolerance = POSITION_TOLERANCE * gas->largest + 1e-6 * gas->longest; /* floats */
    gas_validate_position_of(gas, slot, x);
    for (int axis = 0; axis < 3; ++axis) {
        double away = x[axis] - (double)gas->lists.centres[slot].x[axis];
        square += away * away;
    }
    return sqrt(square) <= gas->lists.skin + tolerance;
}

static const char *validate_list(const carom_gas *gas, uint32_t slot) {
    const uint32_t *list = carom_gas_list_of(gas, slot);
    if (list[0] > gas->lists.capacity) return "gas: a neighbour list is too long";
    if (!is_near_centre(gas, slot)) return "gas: a sphere has left the centre of its list";
    for (uint32_t i = 1; i <= list[0]; ++i) {
        uint32_t other = carom_gas_candidate_slot(list[i]);
        if (other >= gas->count || other == slot) return "gas: a list has an entry of no sphere";
        if (times_listed(gas, other, carom_gas_candidate_back(list[i], slot)) != 1)
            return "gas: two spheres are not in each other's lists";
    }
    for (int n = 0; n < 27; ++n) {
        const carom_gas_cell *cell =
            carom_gas_cell_beside(&gas->cells, &gas->records[slot].home, n);
        for (; cell != NULL; cell = carom_gas_cell_after(&gas->cells, cell))
            for (int k = 0; k < CAROM_GAS_CELL_ENTRIES; ++k) {
                uint32_t near = cell->entry[k], other = carom_gas_candidate_slot(near);
                if (near >= CAROM_GAS_LINK || other == slot) continue;
                if (carom_gas_lists_meet(gas, slot, other, near >> CAROM_GAS_SLOT_BITS) &&
                    times_listed(gas, slot, near) != 1)
                    return "gas: a neighbour is missing in a list";
            }
    }
    return NULL;
}

static const char *gas_validate_lists(const carom_gas *gas) {
    const char *message = NULL;
    if (gas->method != CAROM_GAS_METHOD_NEIGHBOURS) return NULL;
    for (uint32_t slot = 0; slot < gas->count && message == NULL; ++slot)
        message = validate_list(gas, slot);
    return message;
}

/* ---- Queue ----------------------------------------------------------------------------------- */

static const char *validate_heap(const carom_gas *gas) {
    const carom_gas_tree *tree = &gas->tree;
    if (tree->count != gas->count) return "gas: the heap does not hold every sphere";
    for (uint64_t i = 0; i < tree->count; ++i) {
        if (tree->heap[i] >= gas->count || tree->heap_index[tree->heap[i]] != i)
            return "gas: a sphere is not at its index in the heap";
        if (i > 0 && carom_gas_tree_before(gas, tree->heap[i], tree->heap[(i - 1) / 2]))
            return "gas: a sphere is due before its parent in the heap";
    }
    return NULL;
}

/* Marks the slots of a bucket that will be found there at their due time. */
static bool mark_bucket(const carom_gas *gas, uint64_t bucket, uint8_t *reached, uint64_t *entries,
                        uint64_t *chunks) {
    const carom_gas_calendar *calendar = &gas->calendar;
    for (uint32_t i = calendar->heads[bucket]; i != CAROM_GAS_EMPTY; i = calendar->chunks[i].next) {
        if (i >= calendar->chunk_count || ++*chunks > calendar->chunk_count) return false;
        const carom_gas_chunk *chunk = &calendar->chunks[i];
        *entries += chunk->count;
        for (uint32_t k = 0; k < chunk->count; ++k) {
            uint32_t slot = chunk->slot[k];
            if (slot >= gas->count) return false;
            const carom_gas_prediction *prediction = &gas->records[slot].prediction;
            int64_t due = carom_gas_due(prediction) >> calendar->shift;
            bool in_ring = bucket < calendar->buckets;
            if (prediction->current || due < calendar->base) continue;
            if (in_ring ? due - calendar->base < (int64_t)calendar->buckets &&
                              ((uint64_t)due & (calendar->buckets - 1)) == bucket
                        : due >= calendar->next_look)
                reached[slot] = 1;
        }
    }
    return true;
}

static const char *mark_window(const carom_gas *gas, uint8_t *reached) {
    const carom_gas_calendar *calendar = &gas->calendar;
    for (uint64_t i = calendar->window_head; i < calendar->window_tail; ++i) {
        const carom_gas_queue_entry *entry = &calendar->window[i];
        if (entry->slot >= gas->count) return "gas: the window has a slot of no sphere";
        if (i > calendar->window_head && entry->time < entry[-1].time)
            return "gas: the window is not sorted";
        if (carom_gas_queue_entry_alive(gas, *entry)) reached[entry->slot] = 1;
    }
    return NULL;
}

static const char *mark_calendar(const carom_gas *gas, uint8_t *reached) {
    const carom_gas_calendar *calendar = &gas->calendar;
    uint64_t entries = 0, chunks = 0, free = 0;
    for (uint64_t bucket = 0; bucket <= calendar->buckets; ++bucket)
        if (!mark_bucket(gas, bucket, reached, &entries, &chunks))
            return "gas: a bucket of the calendar is broken";
    for (uint32_t i = calendar->free_chunk; i != CAROM_GAS_EMPTY && free <= calendar->free_count;
         i = calendar->chunks[i].next)
        ++free;
    if (free != calendar->free_count || free + chunks != calendar->chunk_count)
        return "gas: a chunk of the calendar is neither in use nor free";
    if (entries != calendar->entries) return "gas: the number of entries of the calendar is wrong";
    for (uint32_t i = 0; i < 8; ++i)
        if (calendar->pending[i] != CAROM_GAS_NO_SLOT) {
            if (calendar->pending[i] >= gas->count) return "gas: a pending slot is of no sphere";
            reached[calendar->pending[i]] = 1;
        }
    return mark_window(gas, reached);
}

static const char *validate_calendar(const carom_gas *gas) {
    const carom_allocator allocator = carom_allocator_default();
    uint8_t *reached = carom_allocate(&allocator, gas->count, 1);
    if (reached == NULL) return "gas: no memory to check the queue";
    memset(reached, 0, gas->count);
    const char *message = mark_calendar(gas, reached);
    for (uint64_t i = 0; i < gas->count && message == NULL; ++i) {
        const carom_gas_record *record = &gas->records[i];
        if (record->follower == CAROM_GAS_NO_SLOT) continue;
        if (record->follower >= gas->count ||
            carom_gas_due(&gas->records[record->follower].prediction) <
                carom_gas_due(&record->prediction))
            message = "gas: a follower is due before the sphere that represents it";
        else
            reached[record->follower] = 1;
    }
    for (uint64_t i = 0; i < gas->count && message == NULL; ++i)
        if (!reached[i]) message = "gas: a sphere is not in the queue at its due time";
    carom_release(&allocator, reached);
    return message;
}

static const char *validate_queue(const carom_gas *gas) {
    for (uint64_t i = 0; i < gas->count; ++i)
        if (carom_gas_due(&gas->records[i].prediction) < gas->now)
            return "gas: a sphere was due before the present";
    return gas->def.queue == CAROM_GAS_QUEUE_TREE ? validate_heap(gas) : validate_calendar(gas);
}

/* ---- Trajectories and predictions ------------------------------------------------------------ */

static const char *validate_trajectories(const carom_gas *gas) {
    const carom_gas_trajectories *trajectories = &gas->trajectories;
    double span = carom_gas_span(&gas->rules, gas->now - trajectories->start);
    double time = span * trajectories->per_time;
    if (gas->now > trajectories->until) return NULL; /* renewed before the next event */
    for (uint32_t slot = 0; slot < gas->count; ++slot) {
        const carom_gas_trajectory *t = &trajectories->by_slot[slot];
        double x[3], speed = 0.0, radius = carom_gas_radius(gas, slot) * trajectories->per_length;
        if (!(t->v[0] == t->v[0])) continue; /* too fast for floats */
        gas_validate_position_of(gas, slot, x);
        for (int axis = 0; axis < 3; ++axis) speed += (double)t->v[axis] * (double)t->v[axis];
        double growth = gas->levels.count == 0
                            ? trajectories->growth
                            : gas->levels.level[carom_gas_level_at(gas, slot)].growth;
        growth += trajectories->growth_by_speed * sqrt(speed);
        if (!((double)t->radius >= radius)) return "gas: a trajectory is narrower than its sphere";
        for (int axis = 0; axis < 3; ++axis) {
            double fallen = x[axis] - 0.5 * gas->rules.acceleration[axis] * span * span;
            double there = (double)t->x[axis] + (double)t->v[axis] * time;
            if (!(fabs(fallen * trajectories->per_length - there) <= growth))
                return "gas: a trajectory is farther from its sphere than its radius has grown";
        }
    }
    return NULL;
}

/* The collision of two spheres in the images around the nearest, at most one box from it. */
static int64_t next_contact(const carom_gas *gas, uint32_t a, uint32_t b) {
    double xa[3], xb[3], v[3];
    int nearest[3];
    int64_t first = CAROM_GAS_NEVER;
    const carom_gas_body *bodies = gas->bodies;
    carom_gas_state_at(&gas->rules, &bodies[a], carom_gas_span(&gas->rules, gas->now - bodies[a].t),
                       xa, v);
    carom_gas_state_at(&gas->rules, &bodies[b], carom_gas_span(&gas->rules, gas->now - bodies[b].t),
                       xb, v);
    for (int axis = 0; axis < 3; ++axis)
        nearest[axis] = gas->rules.periodic[axis]
                            ? (int)-floor((xb[axis] - xa[axis]) / gas->rules.edge[axis] + 0.5)
                            : 0;
    for (int code = 0; code < 27; ++code) {
        int step[3] = {code % 3 - 1, code / 3 % 3 - 1, code / 9 - 1}, image[3];
        bool exists = true;
        for (int axis = 0; axis < 3; ++axis) {
            exists = exists && (step[axis] == 0 || gas->rules.periodic[axis]);
            image[axis] = nearest[axis] + step[axis];
        }
        if (!exists) continue;
        int64_t time = carom_gas_pair_time(&gas->rules, &bodies[a], &bodies[b], image,
                                           carom_gas_contact_distance(gas, a, b));
        first = CAROM_MIN(time, first);
    }
    return first;
}

static const char *validate_predictions(const carom_gas *gas) {
    if (gas->count > MOST_PAIRED) return NULL;
    for (uint32_t a = 0; a < gas->count; ++a) {
        int64_t due = carom_gas_due(&gas->records[a].prediction);
        for (int side = 0; side < 6; ++side)
            if (!gas->rules.periodic[side / 2] &&
                carom_gas_wall_time(&gas->rules, &gas->bodies[a], carom_gas_radius(gas, a),
                                    side / 2, side % 2) < due)
                return "gas: a sphere meets a wall before it is due";
        for (uint32_t b = a + 1; b < gas->count; ++b) {
            int64_t other = carom_gas_due(&gas->records[b].prediction);
            int64_t time = next_contact(gas, a, b);
            /* Only a damaged file has spheres that have passed through each other. */
            if (time >= gas->now && time < CAROM_MIN(due, other))
                return "gas: two spheres meet before one of them is due";
        }
    }
    return NULL;
}

const char *carom_gas_validate(carom_context *context, const carom_gas *gas) {
    double overlap;
    uint32_t pair[2];
    const char *message = validate_labels(gas);
    if (message == NULL && carom_gas_deepest(context, gas, &overlap, pair) != CAROM_OK)
        message = "gas: no memory to look for overlaps";
    if (message == NULL && overlap > MOST_OVERLAP) message = "gas: two spheres overlap";
    if (message != NULL || !gas->ready) return message;
    message = gas_validate_cells(gas);
    if (message == NULL) message = gas_validate_lists(gas);
    if (message == NULL && carom_gas_has_queue(gas)) message = validate_queue(gas);
    if (message == NULL) message = validate_trajectories(gas);
    return message == NULL ? validate_predictions(gas) : message;
}
