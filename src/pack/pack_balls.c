/* SPDX-License-Identifier: MIT */
/* Balls in hash grids.
 *
 * A ball is filed in the lowest level whose cells are at least a sixteenth of its radius, in every
 * cell within `reach` of it, its inside included. Balls are disjoint, so a level has about as many
 * entries as the balls' volume and their surroundings have cells. */
#include "pack/pack_balls.h"

#include "geom/vec.h"

#define PACK_BALLS_FIRST_SLOTS 1024u /* 16 KB per level in use; doubled when half full */
#define NO_CHUNK               UINT32_MAX

void carom_pack_balls_begin(carom_pack_balls *balls, const carom_allocator *allocator) {
    *balls = (carom_pack_balls){.allocator = *allocator};
}

static void free_levels(carom_pack_balls *balls) {
    for (uint32_t l = 0; l < CAROM_PACK_LEVELS; ++l) {
        carom_release(&balls->allocator, balls->levels[l].slots);
        balls->levels[l] = (carom_pack_level){0};
    }
}

void carom_pack_balls_free(carom_pack_balls *balls) {
    free_levels(balls);
    carom_pack_ball_array_release(&balls->balls, &balls->allocator);
    carom_pack_chunk_array_release(&balls->chunks, &balls->allocator);
}

/* ---- Slots ----------------------------------------------------------------------------------- */

static carom_pack_slot *slot_of(const carom_pack_level *level, uint64_t key) {
    uint64_t at = carom_pack_key_hash(key);
    CAROM_ASSERT(level->used <= level->mask); /* a free slot ends the search */
    while (true) {
        carom_pack_slot *slot = &level->slots[at & level->mask];
        if (slot->key == key || slot->key == CAROM_PACK_NO_CELL) return slot;
        ++at;
    }
}

/* Makes space for one more cell. */
static bool reserve_slot(carom_pack_balls *balls, carom_pack_level *level) {
    uint64_t old_count = level->slots != NULL ? level->mask + 1 : 0;
    if (2 * (level->used + 1) <= old_count) return true;
    uint64_t count = old_count != 0 ? 2 * old_count : PACK_BALLS_FIRST_SLOTS;
    carom_pack_slot *old = level->slots;
    carom_pack_slot *slots = carom_allocate(&balls->allocator, count, sizeof(*slots));
    if (slots == NULL) return false;
    for (uint64_t i = 0; i < count; ++i) slots[i] = (carom_pack_slot){CAROM_PACK_NO_CELL, NO_CHUNK};
    level->slots = slots;
    level->mask = count - 1;
    for (uint64_t i = 0; i < old_count; ++i)
        if (old[i].key != CAROM_PACK_NO_CELL) *slot_of(level, old[i].key) = old[i];
    carom_release(&balls->allocator, old);
    return true;
}

static bool add_entry(carom_pack_balls *balls, carom_pack_level *level, uint64_t key,
                      uint32_t ball) {
    if (!reserve_slot(balls, level)) return false;
    carom_pack_slot *slot = slot_of(level, key);
    if (slot->key == CAROM_PACK_NO_CELL) {
        slot->key = key;
        ++level->used;
    }
    if (slot->first == NO_CHUNK || balls->chunks.data[slot->first].count == CAROM_PACK_CHUNK) {
        carom_pack_chunk chunk = {.next = slot->first};
        if (!carom_pack_chunk_array_push(&balls->chunks, &balls->allocator, chunk)) return false;
        slot->first = (uint32_t)(balls->chunks.count - 1);
    }
    carom_pack_chunk *chunk = &balls->chunks.data[slot->first];
    CAROM_ASSERT(chunk->count < CAROM_PACK_CHUNK && ball < balls->balls.count);
    chunk->balls[chunk->count++] = ball;
    return true;
}

/* ---- Filing ---------------------------------------------------------------------------------- */

static bool file_ball(carom_pack_balls *balls, uint32_t index) {
    carom_spheres_ball b = balls->balls.data[index];
    uint32_t l = 0;
    while (l + 1 < CAROM_PACK_LEVELS && b.radius > CAROM_PACK_LEVEL_RATIO * balls->levels[l].cell)
        ++l;
    carom_pack_level *level = &balls->levels[l];
    double far = b.radius + balls->reach, cell = level->cell;
    int64_t low[3] = {carom_pack_cell_of(b.x - far, cell), carom_pack_cell_of(b.y - far, cell),
                      carom_pack_cell_of(b.z - far, cell)};
    int64_t high[3] = {carom_pack_cell_of(b.x + far, cell), carom_pack_cell_of(b.y + far, cell),
                       carom_pack_cell_of(b.z + far, cell)};
    for (int64_t x = low[0]; x <= high[0]; ++x) {
        double gx = carom_pack_cell_gap(b.x, x, cell);
        for (int64_t y = low[1]; y <= high[1]; ++y) {
            double gy = carom_pack_cell_gap(b.y, y, cell), square = gx * gx + gy * gy;
            if (square > far * far) continue;
            for (int64_t z = low[2]; z <= high[2]; ++z) {
                double gz = carom_pack_cell_gap(b.z, z, cell);
                if (square + gz * gz <= far * far &&
                    !add_entry(balls, level, carom_pack_key(x, y, z), index))
                    return false;
            }
        }
    }
    return true;
}

bool carom_pack_balls_file(carom_pack_balls *balls, double cell, double reach) {
    free_levels(balls);
    balls->chunks.count = 0;
    balls->reach = reach;
    for (uint32_t l = 0; l < CAROM_PACK_LEVELS; ++l, cell *= CAROM_PACK_LEVEL_RATIO)
        balls->levels[l].cell = cell;
    for (uint32_t i = 0; i < balls->balls.count; ++i)
        if (!file_ball(balls, i)) return false;
    return true;
}

bool carom_pack_balls_add(carom_pack_balls *balls, carom_spheres_ball ball) {
    /* Balls are disjoint, and none is larger than the distance at which others are found. */
    CAROM_ASSERT(balls->balls.count == 0 ||
                 carom_pack_balls_distance(balls, carom_vec(ball.x, ball.y, ball.z)) >=
                     ball.radius);
    return carom_pack_ball_array_push(&balls->balls, &balls->allocator, ball) &&
           file_ball(balls, (uint32_t)(balls->balls.count - 1));
}

/* ---- Searching ------------------------------------------------------------------------------- */

/* The newest chunk of the cell that holds a point; NO_CHUNK: none. */
static uint32_t first_chunk(const carom_pack_level *level, carom_vec3 p) {
    if (level->used == 0) return NO_CHUNK;
    double cell = level->cell;
    return slot_of(level,
                   carom_pack_key(carom_pack_cell_of(p.x, cell), carom_pack_cell_of(p.y, cell),
                                  carom_pack_cell_of(p.z, cell)))
        ->first;
}

void carom_pack_balls_search(const carom_pack_balls *balls, carom_vec3 point, double spread,
                             carom_spheres_near *near) {
    for (uint32_t l = 0; l < CAROM_PACK_LEVELS; ++l) {
        uint32_t c = first_chunk(&balls->levels[l], point);
        while (c != NO_CHUNK) {
            const carom_pack_chunk *chunk = &balls->chunks.data[c];
            for (uint32_t i = 0; i < chunk->count; ++i) {
                const carom_spheres_ball *b = &balls->balls.data[chunk->balls[i]];
                double apart = carom_spheres_ball_distance(b, point);
                if (apart > near->least + spread) continue;
                near->least = CAROM_MIN(apart, near->least);
                if (near->count == CAROM_SPHERES_NEAR) continue;
                uint32_t k = near->count++;
                near->x[k] = b->x;
                near->y[k] = b->y;
                near->z[k] = b->z;
                near->radius[k] = b->radius;
                near->apart[k] = apart;
            }
            c = chunk->next;
        }
    }
}

double carom_pack_balls_distance(const carom_pack_balls *balls, carom_vec3 point) {
    double least = balls->reach;
    for (uint32_t l = 0; l < CAROM_PACK_LEVELS; ++l) {
        uint32_t c = first_chunk(&balls->levels[l], point);
        while (c != NO_CHUNK) {
            const carom_pack_chunk *chunk = &balls->chunks.data[c];
            for (uint32_t i = 0; i < chunk->count; ++i) {
                double apart =
                    carom_spheres_ball_distance(&balls->balls.data[chunk->balls[i]], point);
                least = CAROM_MIN(apart, least);
            }
            c = chunk->next;
        }
    }
    return least;
}

bool carom_pack_balls_find(const carom_pack_balls *balls, carom_vec3 point,
                           carom_spheres_ball *ball) {
    for (uint32_t l = 0; l < CAROM_PACK_LEVELS && balls->balls.count != 0; ++l) {
        for (uint32_t c = first_chunk(&balls->levels[l], point); c != NO_CHUNK;
             c = balls->chunks.data[c].next) {
            const carom_pack_chunk *chunk = &balls->chunks.data[c];
            for (uint32_t i = 0; i < chunk->count; ++i) {
                *ball = balls->balls.data[chunk->balls[i]];
                if (carom_spheres_ball_distance(ball, point) <= 0.0) return true;
            }
        }
    }
    return false;
}
