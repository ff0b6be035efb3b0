/* SPDX-License-Identifier: MIT */
/* Closing holes, in rounds.
 *
 * A round fills every loop that is waiting, each by itself and on all threads, with triangles that
 * meet nothing of the mesh as it is (repair_patch.c). Patches of one round do not know of each
 * other. So all are added, the faces that meet are searched for, and a patch that meets an earlier
 * one, or has an edge in common with it, waits for the next round, in which that is part of the
 * mesh. The first patch of a round always stays: there are at most as many rounds as loops, and
 * nearly always one.
 *
 * Invariant: the mesh of a round has no pair of faces that the given one has not. The last search
 * proves it: its pairs with a new face are counted and reported. */
#include <inttypes.h>

#include "base/array.h"
#include "base/item.h"
#include "base/progress.h"
#include "mesh/mesh_allocation.h"
#include "repair/repair.h"

typedef enum close_state {
    CLOSE_WAITS = 0,
    CLOSE_TRIED,  /* filled in this round, not yet known to meet no other */
    CLOSE_FILLED, /* or left: its outcome is set */
} close_state;

typedef struct close_job {
    carom_context *context;
    const carom_mesh_view *view;
    const carom_repair_boundary *boundary;
    uint8_t *states;     /* of each loop */
    uint32_t *triangles; /* of all loops: those of a loop begin at three times its first vertex */
    uint64_t first_new;  /* the number of faces of the view */

    /* Of one round. */
    carom_mesh *mesh;
    carom_repair_obstacles obstacles;
    uint32_t *loop_of; /* the loop of each new face of the mesh */
} close_job;

static uint32_t *loop_triangles(const close_job *job, uint64_t loop) {
    return job->triangles + 3 * job->boundary->loops[loop].first;
}

/* ---- The mesh with its patches --------------------------------------------------------------- */

/* Whether the patch of a loop is in the mesh. */
static bool has_patch(const close_job *job, uint64_t loop) {
    return job->states[loop] == CLOSE_TRIED ||
           job->boundary->loops[loop].outcome == CAROM_REPAIR_OUTCOME_FILLED;
}

static uint64_t count_patches(const close_job *job) {
    uint64_t triangles = 0;
    for (uint64_t i = 0; i < job->boundary->loop_count; ++i)
        if (has_patch(job, i)) triangles += job->boundary->loops[i].count - 2;
    return triangles;
}

static void copy_faces(const close_job *job, carom_mesh *mesh, bool polygons) {
    const carom_mesh_view *view = job->view;
    uint64_t size = 3 * carom_scalar_size(view->scalar), stride = carom_mesh_stride(view);
    uint64_t corners = carom_mesh_corner_count(view);
    for (uint64_t i = 0; i < view->vertex_count; ++i)
        memcpy((char *)mesh->positions + i * size, (const char *)view->positions + i * stride,
               size);
    if (corners != 0) memcpy(mesh->corners, view->corners, corners * sizeof(*mesh->corners));
    for (uint64_t f = 0; f <= view->face_count && polygons; ++f)
        mesh->offsets[f] = carom_mesh_offset(view, f);
    if (view->parts != NULL)
        memcpy(mesh->parts, view->parts, view->face_count * sizeof(*mesh->parts));
}

/* The face at the first edge of a loop. */
static uint32_t face_beside(const close_job *job, uint64_t loop) {
    return job->obstacles.sides->faces[job->boundary->sides[job->boundary->loops[loop].first]];
}

/* Adds the patches and fills loop_of. */
static void add_patches(close_job *job, carom_mesh *mesh, bool polygons) {
    uint64_t face = job->first_new, corner = carom_mesh_corner_count(job->view);
    for (uint64_t i = 0; i < job->boundary->loop_count; ++i) {
        if (!has_patch(job, i)) continue;
        uint64_t count = job->boundary->loops[i].count - 2;
        memcpy(mesh->corners + corner, loop_triangles(job, i), 3 * count * sizeof(*mesh->corners));
        job->boundary->loops[i].first_face = (uint32_t)face;
        job->boundary->loops[i].face_count = (uint32_t)count;
        for (uint64_t end = face + count; face < end; ++face) {
            corner += 3;
            job->loop_of[face - job->first_new] = (uint32_t)i;
            if (polygons) mesh->offsets[face + 1] = corner;
            if (job->view->parts != NULL) mesh->parts[face] = job->view->parts[face_beside(job, i)];
        }
    }
}

/* New faces have the properties of the face beside their loop. */
static bool copy_properties(const close_job *job, carom_mesh *mesh) {
    if (job->view->property_count == 0) return true;
    carom_arena *scratch = carom_scratch(job->context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    uint32_t *from = CAROM_ARENA_TAKE(scratch, uint32_t, mesh->face_count + 1);
    for (uint64_t f = 0; f < mesh->face_count && from != NULL; ++f)
        from[f] =
            f < job->first_new ? (uint32_t)f : face_beside(job, job->loop_of[f - job->first_new]);
    bool copied = from != NULL && carom_mesh_copy_properties(mesh, job->view, NULL, from);
    carom_arena_rewind(scratch, mark);
    return copied;
}

/* Replaces the mesh of the job. */
static carom_status make_mesh(close_job *job) {
    const carom_mesh_view *view = job->view;
    uint64_t triangles = count_patches(job);
    bool polygons = carom_mesh_corner_count(view) != 3 * view->face_count;
    carom_mesh_allocation space = {.scalar = view->scalar,
                                   .vertices = view->vertex_count,
                                   .faces = view->face_count + triangles,
                                   .corners = carom_mesh_corner_count(view) + 3 * triangles,
                                   .polygons = polygons,
                                   .parts = view->parts != NULL};
    carom_mesh_destroy(job->mesh);
    job->mesh = NULL;
    carom_mesh *mesh;
    CAROM_TRY(carom_mesh_reserve(job->context, &space, &mesh));
    job->mesh = mesh;
    copy_faces(job, mesh, polygons);
    add_patches(job, mesh, polygons);
    if (carom_mesh_copy_names(mesh, view) && copy_properties(job, mesh)) return CAROM_OK;
    return carom_fail_memory(job->context, 32 * view->part_count + 4 * mesh->face_count,
                             "parts and properties");
}

/* A soup of the mesh of the job; *pairs may be NULL. */
static carom_status make_soup(const close_job *job, carom_soup **soup, carom_pairs *pairs) {
    carom_mesh_view view;
    CAROM_TRY(carom_mesh_get_view(job->mesh, &view));
    carom_soup_def def = {.mesh = &view, .method = CAROM_SOUP_METHOD_TREE};
    CAROM_TRY(carom_soup_create_on_cpu(job->context, &def, soup));
    return pairs == NULL ? CAROM_OK : carom_soup_self_pairs_on_cpu(job->context, *soup, pairs);
}

/* ---- One round ------------------------------------------------------------------------------- */

static carom_status fill_loops(void *argument, carom_range range) {
    close_job *job = argument;
    for (uint64_t i = range.begin; i < range.end; ++i) {
        const carom_repair_loop *loop = &job->boundary->loops[i];
        bool filled = false;
        if (job->states[i] != CLOSE_WAITS) continue;
        CAROM_TRY(carom_repair_patch(&job->obstacles, range.worker,
                                     job->boundary->vertices + loop->first,
                                     job->boundary->sides + loop->first, (uint32_t)loop->count,
                                     loop_triangles(job, i), &filled));
        if (filled) job->states[i] = CLOSE_TRIED; /* else it waits, and is left below */
    }
    return CAROM_OK;
}

static void resolve_loop(close_job *job, uint64_t loop, carom_repair_outcome outcome) {
    job->states[loop] = CLOSE_FILLED;
    job->boundary->loops[loop].outcome = outcome;
}

/* What becomes of a patch of this round. */
enum { PATCH_STAYS = 0, PATCH_WAITS, PATCH_IS_DROPPED };

/* Makes the later of two patches that clash wait, unless the earlier one waits itself. None clashes
 * with a patch of an earlier round, which was an obstacle: if it did, it would do so again, so it
 * is dropped, and the rounds always end. */
static void make_wait(const close_job *job, uint8_t *fates, uint64_t a, uint64_t b) {
    bool tried_a = job->states[a] == CLOSE_TRIED, tried_b = job->states[b] == CLOSE_TRIED;
    CAROM_ASSERT(a < b && tried_a && tried_b);
    if (!tried_a && !tried_b) return;
    if (!tried_a || !tried_b)
        fates[tried_a ? a : b] = PATCH_IS_DROPPED;
    else if (fates[a] == PATCH_STAYS && fates[b] == PATCH_STAYS)
        fates[b] = PATCH_WAITS;
}

/* Pairs of loops whose patches of this round meet or have a common edge, by the later one: lists
 * them so that a loop is decided after all earlier ones. */
typedef struct close_clash {
    uint32_t later, earlier;
} close_clash;

CAROM_ARRAY(close_clashes, close_clash);

static bool add_clash(const close_job *job, close_clashes *clashes, uint32_t a, uint32_t b) {
    close_clash clash = {CAROM_MAX(a, b), CAROM_MIN(a, b)};
    return a == b || close_clashes_push(clashes, &job->context->allocator, clash);
}

/* New faces of two loops that meet. */
static bool find_crossing_patches(const close_job *job, const carom_pairs *pairs,
                                  close_clashes *clashes) {
    for (uint64_t i = 0; i < pairs->count; ++i) {
        const carom_pair *pair = &pairs->data[i];
        if (pair->a < job->first_new || pair->b < job->first_new) continue;
        if (!add_clash(job, clashes, job->loop_of[pair->a - job->first_new],
                       job->loop_of[pair->b - job->first_new]))
            return false;
    }
    return true;
}

/* Edges between new faces of two loops that are no boundary edges of both: then they have three
 * sides or more. */
static bool find_common_edges(const close_job *job, const carom_repair_sides *sides,
                              close_clashes *clashes) {
    uint64_t at = 0;
    carom_repair_edge edge;
    while (carom_repair_next_edge(sides, &at, &edge)) {
        for (uint64_t i = edge.begin; i < edge.end && edge.kept > 2; ++i) {
            uint32_t a = sides->faces[sides->order[i]];
            for (uint64_t k = edge.begin; k < i && a >= job->first_new; ++k) {
                uint32_t b = sides->faces[sides->order[k]];
                if (b >= job->first_new &&
                    !add_clash(job, clashes, job->loop_of[a - job->first_new],
                               job->loop_of[b - job->first_new]))
                    return false;
            }
        }
    }
    return true;
}

static int compare_clashes(const close_clash *a, const close_clash *b) {
    if (a->later != b->later) return a->later < b->later ? -1 : 1;
    return a->earlier < b->earlier ? -1 : a->earlier > b->earlier;
}

static void sink_clash(close_clash *c, uint64_t root, uint64_t count) {
    close_clash sinking = c[root];
    for (uint64_t child; (child = 2 * root + 1) < count; root = child) {
        if (child + 1 < count && compare_clashes(&c[child], &c[child + 1]) < 0) ++child;
        if (compare_clashes(&sinking, &c[child]) >= 0) break;
        c[root] = c[child];
    }
    c[root] = sinking;
}

static void sort_clashes(close_clashes *clashes) {
    close_clash *c = clashes->data;
    for (uint64_t i = clashes->count / 2; i-- > 0;) sink_clash(c, i, clashes->count);
    for (uint64_t end = clashes->count; end-- > 1;) {
        close_clash last = c[0];
        c[0] = c[end];
        c[end] = last;
        sink_clash(c, 0, end);
    }
}

/* Decides which patches of the round stay; *all says whether all did. */
static carom_status keep_patches(close_job *job, const carom_pairs *pairs, bool *all) {
    carom_arena *scratch = carom_scratch(job->context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    uint64_t loops = job->boundary->loop_count;
    close_clashes clashes = {0};
    carom_mesh_view view;
    carom_repair_sides sides;
    carom_status status = carom_mesh_get_view(job->mesh, &view);
    uint8_t *fates = CAROM_ARENA_TAKE(scratch, uint8_t, loops + 1);
    bool good = fates != NULL;
    if (good) memset(fates, PATCH_STAYS, loops);
    if (status == CAROM_OK && good) status = carom_repair_sides_make(job->context, &view, &sides);
    if (status == CAROM_OK && good)
        good =
            find_crossing_patches(job, pairs, &clashes) && find_common_edges(job, &sides, &clashes);
    if (status == CAROM_OK && !good) status = carom_fail_memory(job->context, 0, "patches");
    if (status == CAROM_OK) {
        sort_clashes(&clashes);
        for (uint64_t i = 0; i < clashes.count; ++i)
            make_wait(job, fates, clashes.data[i].earlier, clashes.data[i].later);
        *all = true;
        for (uint64_t i = 0; i < loops; ++i) {
            if (job->states[i] != CLOSE_TRIED) continue;
            if (fates[i] == PATCH_WAITS)
                job->states[i] = CLOSE_WAITS;
            else
                resolve_loop(job, i,
                             fates[i] == PATCH_STAYS ? CAROM_REPAIR_OUTCOME_FILLED
                                                     : CAROM_REPAIR_OUTCOME_CROSSING);
            *all = *all && fates[i] == PATCH_STAYS;
        }
    }
    close_clashes_release(&clashes, &job->context->allocator);
    carom_arena_rewind(scratch, mark);
    return status;
}

/* Fills what waits; loops that cannot be filled are left. `sides` are those of the job's mesh. */
static carom_status fill_round(close_job *job, const carom_repair_sides *sides) {
    carom_soup *soup = NULL;
    carom_status status = make_soup(job, &soup, NULL);
    if (status == CAROM_OK) {
        const carom_repair_sides *before = job->obstacles.sides;
        job->obstacles.sides = sides;
        carom_soup_get_view(soup, &job->obstacles.soup);
        status = carom_parallel_for(job->context, job->boundary->loop_count, 1, fill_loops, job);
        job->obstacles.sides = before;
        if (status == CAROM_NO_MEMORY) status = carom_fail_memory(job->context, 0, "a patch");
    }
    carom_soup_destroy(soup);
    for (uint64_t i = 0; i < job->boundary->loop_count && status == CAROM_OK; ++i)
        if (job->states[i] == CLOSE_WAITS) resolve_loop(job, i, CAROM_REPAIR_OUTCOME_CROSSING);
    return status;
}

static carom_status search_pairs(const close_job *job, carom_pairs *pairs) {
    carom_soup *soup = NULL;
    carom_status status = make_soup(job, &soup, pairs);
    carom_soup_destroy(soup);
    return status;
}

/* One round: fills, adds, and keeps what meets nothing. */
static carom_status run_round(close_job *job, carom_pairs *pairs, bool *done) {
    carom_arena *scratch = carom_scratch(job->context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    carom_mesh_view view;
    carom_repair_sides sides;
    CAROM_TRY(carom_mesh_get_view(job->mesh, &view));
    CAROM_TRY(carom_repair_sides_make(job->context, &view, &sides));
    CAROM_TRY(fill_round(job, &sides));
    carom_arena_rewind(scratch, mark);
    CAROM_TRY(make_mesh(job));
    CAROM_TRY(search_pairs(job, pairs));
    CAROM_TRY(keep_patches(job, pairs, done));
    if (!*done) CAROM_TRY(make_mesh(job)); /* without those that wait */
    return carom_progress_look(job->context);
}

/* ---- All ------------------------------------------------------------------------------------- */

/* Leaves what is not tried; says whether anything is. */
static bool choose_loops(close_job *job, uint64_t most) {
    bool any = false;
    for (uint64_t i = 0; i < job->boundary->loop_count; ++i) {
        carom_repair_loop *loop = &job->boundary->loops[i];
        if (!loop->closed)
            resolve_loop(job, i, CAROM_REPAIR_OUTCOME_CHAIN);
        else if (most != 0 && loop->count > most)
            resolve_loop(job, i, CAROM_REPAIR_OUTCOME_LONG);
        else if (carom_repair_on_line(job->view, job->boundary->vertices + loop->first,
                                      loop->count))
            resolve_loop(job, i, CAROM_REPAIR_OUTCOME_FLAT);
        else
            any = true;
    }
    return any;
}

static void describe_result(const close_job *job, const carom_pairs *pairs,
                            carom_repair_result *result) {
    *result = (carom_repair_result){.loops = job->boundary->loop_count};
    uint64_t closed = 0;
    for (uint64_t i = 0; i < job->boundary->loop_count; ++i) {
        carom_repair_loop *loop = &job->boundary->loops[i];
        if (loop->outcome == CAROM_REPAIR_OUTCOME_FILLED) {
            ++result->filled;
            closed += loop->count;
        } else { /* may have been tried in an earlier round */
            loop->first_face = CAROM_NONE;
            loop->face_count = 0;
        }
    }
    result->left = result->loops - result->filled;
    result->triangles = job->mesh->face_count - job->first_new;
    result->open_edges = job->boundary->open_edges - closed;
    for (uint64_t i = 0; i < pairs->count; ++i)
        result->new_pairs += pairs->data[i].b >= job->first_new;
    CAROM_ASSERT(result->new_pairs == 0);
}

static carom_status close_all(close_job *job, const carom_repair_def *def,
                              carom_repair_result *result) {
    carom_arena *scratch = carom_scratch(job->context, 0);
    uint64_t loops = job->boundary->loop_count, vertices = job->boundary->vertex_count;
    bool done = true;
    carom_pairs pairs = {0};
    job->states = CAROM_ARENA_TAKE(scratch, uint8_t, loops + 1);
    job->triangles = CAROM_ARENA_TAKE(scratch, uint32_t, 3 * vertices + 1);
    job->loop_of = CAROM_ARENA_TAKE(scratch, uint32_t, vertices + 1);
    if (job->states == NULL || job->triangles == NULL || job->loop_of == NULL)
        return carom_fail_memory(job->context, 16 * vertices + loops, "patches");
    memset(job->states, CLOSE_WAITS, loops);
    if (choose_loops(job, def != NULL ? def->max_edges : 0)) done = false;
    carom_status status = make_mesh(job);
    while (status == CAROM_OK && !done) status = run_round(job, &pairs, &done);
    if (status == CAROM_OK) describe_result(job, &pairs, result);
    carom_pairs_free(&pairs);
    return status;
}

/* Loops have fewer vertices than faces have corners, so the number of triangles stays in range. */
static carom_status close_checked(close_job *job, const carom_repair_def *def,
                                  carom_repair_result *result, carom_repair_loops *loops,
                                  carom_numbers *vertices) {
    carom_repair_sides sides;
    carom_repair_boundary boundary;
    CAROM_TRY(carom_repair_sides_make(job->context, job->view, &sides));
    CAROM_TRY(carom_repair_boundary_make(job->context, &sides, &boundary));
    job->boundary = &boundary;
    job->obstacles.sides = &sides;
    CAROM_TRY(close_all(job, def, result));
    return carom_repair_boundary_copy(job->context, &boundary, loops, vertices);
}

carom_status carom_repair_close(carom_context *context, const carom_mesh_view *view,
                                const carom_repair_def *def, carom_mesh **mesh,
                                carom_repair_result *result, carom_repair_loops *loops,
                                carom_numbers *vertices) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_OUTPUT(mesh, "mesh");
    CAROM_REQUIRE_OUTPUT(result, "result");
    if (loops != NULL) CAROM_REQUIRE_RESULT(loops, "loops");
    if (vertices != NULL) CAROM_REQUIRE_RESULT(vertices, "vertices");
    *mesh = NULL;
    CAROM_TRY(carom_mesh_check(context, view));
    CAROM_TRY(carom_mesh_check_numbers(context, view, "closed"));
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    close_job job = {.context = context, .view = view, .first_new = view->face_count};
    job.obstacles.context = context;
    carom_progress_begin(context, "closing holes", 0);
    carom_status status = close_checked(&job, def, result, loops, vertices);
    carom_arena_rewind(scratch, mark);
    status = carom_progress_finish(context, status);
    if (status == CAROM_OK || status == CAROM_MORE)
        *mesh = job.mesh;
    else
        carom_mesh_destroy(job.mesh);
    return status;
}
