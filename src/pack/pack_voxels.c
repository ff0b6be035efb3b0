/* SPDX-License-Identifier: MIT */
/* Greedy packing on voxels (Weller, Zachmann, "Inner sphere trees for proximity and penetration
 * queries", 2009).
 *
 * Each voxel centre inside the solid has its distance to the surface, in a priority queue. The
 * largest is taken as a sphere (c, d). Voxels inside it are deleted; of the others only those
 * closer than 2 d to c can be nearer to the sphere than to what was nearest so far, as no distance
 * exceeds d: these are updated. Entries of the queue are not moved: a distance only falls, so an
 * entry that is too large is put back when it comes up.
 *
 * Distances are float32, rounded down, of voxel centres rounded to the unit of centres. */
#include "base/assert.h"
#include "base/progress.h"
#include "base/worker_state.h"
#include "geom/length.h"
#include "pack/pack_octree.h"

typedef struct pack_voxels_entry {
    float apart;
    uint32_t voxel;
} pack_voxels_entry;
CAROM_ARRAY(entry_array, pack_voxels_entry);

typedef struct voxels {
    const carom_spheres_mesh *mesh;
    uint32_t size[3];
    double edge;
    float *apart; /* 0: outside, or taken */
    carom_worker_states states;
} voxels;

static carom_vec3 pack_voxels_centre_of(const voxels *v, uint32_t x, uint32_t y, uint32_t z) {
    const carom_spheres_mesh *m = v->mesh;
    return carom_spheres_mesh_round(m, carom_vec(m->low.x + ((double)x + 0.5) * v->edge,
                                                 m->low.y + ((double)y + 0.5) * v->edge,
                                                 m->low.z + ((double)z + 0.5) * v->edge));
}

static uint32_t index_of(const voxels *v, uint32_t x, uint32_t y, uint32_t z) {
    return (z * v->size[1] + y) * v->size[0] + x;
}

static bool pack_voxels_begin_worker(void *user, void *state, uint32_t worker) {
    (void)user;
    (void)worker;
    ((carom_bvh_found *)state)->count = 0;
    return true;
}

/* Distances of rows of voxels. A voxel nearer to the one before it than the surface is on the same
 * side. */
static carom_status pack_voxels_fill_rows(void *argument, carom_range range) {
    voxels *v = argument;
    carom_bvh_found *found = carom_worker_state(&v->states, range.worker);
    if (found == NULL) return CAROM_NO_MEMORY;
    for (uint64_t row = range.begin; row < range.end; ++row) {
        uint32_t y = (uint32_t)(row % v->size[1]), z = (uint32_t)(row / v->size[1]);
        uint32_t slot = CAROM_BVH_NONE;
        double last = 0.0;
        bool inside = false;
        for (uint32_t x = 0; x < v->size[0]; ++x) {
            carom_vec3 p = pack_voxels_centre_of(v, x, y, z);
            carom_spheres_hit hit = carom_spheres_mesh_distance(v->mesh, p, slot);
            slot = hit.slot;
            if (!(last > v->edge + 2.0 * v->mesh->unit))
                inside = carom_spheres_mesh_inside(v->mesh, p, found);
            last = hit.distance;
            double radius = inside ? carom_pack_radius(hit.distance, HUGE_VAL) : 0.0;
            v->apart[index_of(v, x, y, z)] = radius > 0.0 ? (float)radius : 0.0f;
        }
        if (carom_progress_stop(v->mesh->context, range.worker)) return CAROM_CANCELLED;
    }
    return CAROM_OK;
}

/* ---- Queue ----------------------------------------------------------------------------------- */

static bool pack_voxels_before(pack_voxels_entry a, pack_voxels_entry b) {
    return a.apart != b.apart ? a.apart > b.apart : a.voxel < b.voxel;
}

static void pack_voxels_sift_down(entry_array *queue, uint64_t i) {
    pack_voxels_entry e = queue->data[i];
    while (2 * i + 1 < queue->count) {
        uint64_t child = 2 * i + 1;
        if (child + 1 < queue->count &&
            pack_voxels_before(queue->data[child + 1], queue->data[child]))
            ++child;
        if (!pack_voxels_before(queue->data[child], e)) break;
        queue->data[i] = queue->data[child];
        i = child;
    }
    queue->data[i] = e;
}

/* No entry comes before its parent. */
static void voxels_check_queue(const entry_array *queue) {
    for (uint64_t i = 1; i < queue->count; ++i)
        CAROM_ASSERT(!pack_voxels_before(queue->data[i], queue->data[(i - 1) / 2]));
}

/* ---- Spheres --------------------------------------------------------------------------------- */

/* Deletes and updates the voxels near a new sphere. */
static void update_near(voxels *v, carom_vec3 c, double radius) {
    const double low[3] = {v->mesh->low.x, v->mesh->low.y, v->mesh->low.z};
    const double at[3] = {c.x, c.y, c.z};
    uint32_t begin[3], end[3];
    double reach = 2.0 * radius + v->edge;
    for (int k = 0; k < 3; ++k) {
        double first = floor((at[k] - reach - low[k]) / v->edge);
        double last = floor((at[k] + reach - low[k]) / v->edge) + 1.0;
        begin[k] = first > 0.0 ? (uint32_t)first : 0;
        end[k] = last < (double)v->size[k] ? (uint32_t)last : v->size[k];
    }
    for (uint32_t z = begin[2]; z < end[2]; ++z) {
        for (uint32_t y = begin[1]; y < end[1]; ++y) {
            for (uint32_t x = begin[0]; x < end[0]; ++x) {
                float *apart = &v->apart[index_of(v, x, y, z)];
                if (*apart == 0.0f) continue;
                double away =
                    carom_vec_length(carom_vec_sub(pack_voxels_centre_of(v, x, y, z), c)) - radius;
                double left = carom_pack_radius((double)*apart + CAROM_SPHERES_ERROR, away);
                left = CAROM_MIN(left, (double)*apart);
                CAROM_ASSERT(left <= CAROM_MAX(away, 0.0)); /* of the new sphere */
                *apart = left > 0.0 ? (float)left : 0.0f;
            }
        }
    }
}

static carom_status pack_voxels_take(voxels *v, const carom_pack_goal *goal, entry_array *queue,
                                     carom_pack_balls *balls, carom_pack_outcome *outcome) {
    carom_context *context = v->mesh->context;
    float last = HUGE_VALF; /* radii only fall */
    while (queue->count != 0 && balls->balls.count < goal->count &&
           outcome->volume < goal->volume) {
        pack_voxels_entry e = queue->data[0];
        float apart = v->apart[e.voxel];
        ++outcome->visits;
        if (apart < e.apart) { /* the entry is too large, or its voxel is taken */
            if (apart > 0.0f) {
                queue->data[0].apart = apart;
            } else {
                queue->data[0] = queue->data[--queue->count];
            }
            if (queue->count != 0) pack_voxels_sift_down(queue, 0);
            CAROM_ASSERT(queue->count == 0 || queue->data[0].apart <= e.apart);
            continue;
        }
        CAROM_ASSERT(apart == e.apart && apart <= last);
        last = apart;
        if ((double)apart < goal->radius) break;
        uint32_t x = e.voxel % v->size[0], rest = e.voxel / v->size[0];
        carom_vec3 c = pack_voxels_centre_of(v, x, rest % v->size[1], rest / v->size[1]);
        carom_spheres_ball ball = {c.x, c.y, c.z, (double)apart};
        if (!carom_pack_ball_array_push(&balls->balls, &balls->allocator, ball))
            return carom_fail_memory(context, sizeof(ball), "spheres of a packing");
        outcome->volume += carom_spheres_volume(ball.radius);
        update_near(v, c, ball.radius);
        carom_progress_add(context, 0, 1);
        CAROM_TRY(carom_progress_look(context));
    }
    return CAROM_OK;
}

carom_status carom_pack_by_voxels(const carom_spheres_mesh *mesh, const carom_pack_goal *goal,
                                  carom_pack_balls *balls, carom_pack_outcome *outcome) {
    carom_context *context = mesh->context;
    carom_arena *scratch = carom_scratch(context, 0);
    voxels v = {.mesh = mesh};
    carom_vec3 size = carom_vec_sub(mesh->high, mesh->low);
    const double sizes[3] = {size.x, size.y, size.z};
    uint64_t count = 1;
    v.edge = carom_vec_largest(size) / (double)goal->voxels;
    for (int k = 0; k < 3; ++k) {
        v.size[k] = (uint32_t)floor(sizes[k] / v.edge) + 1;
        count *= v.size[k];
    }
    v.apart = CAROM_ARENA_TAKE(scratch, float, count);
    if (v.apart == NULL) return carom_fail_memory(context, count * sizeof(float), "voxels");
    CAROM_TRY(carom_worker_states_begin(&v.states, context, sizeof(carom_bvh_found),
                                        pack_voxels_begin_worker, NULL));
    carom_status status =
        carom_parallel_for(context, (uint64_t)v.size[1] * v.size[2], 8, pack_voxels_fill_rows, &v);
    carom_worker_states_release(&v.states);
    if (status != CAROM_OK) return status;
    uint64_t inside = 0;
    for (uint64_t i = 0; i < count; ++i) inside += v.apart[i] > 0.0f;
    entry_array queue = {0};
    bool good = entry_array_reserve(&queue, &context->allocator, inside);
    for (uint32_t i = 0; i < count && good; ++i)
        if (v.apart[i] > 0.0f)
            good =
                entry_array_push(&queue, &context->allocator, (pack_voxels_entry){v.apart[i], i});
    if (!good) return carom_fail_memory(context, inside * sizeof(pack_voxels_entry), "voxels");
    CAROM_ASSERT(queue.count == inside);
    for (uint64_t i = queue.count / 2; i-- > 0;) pack_voxels_sift_down(&queue, i);
    voxels_check_queue(&queue);
    status = pack_voxels_take(&v, goal, &queue, balls, outcome);
    entry_array_release(&queue, &context->allocator);
    return status;
}
