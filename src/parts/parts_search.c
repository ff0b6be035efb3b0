/* SPDX-License-Identifier: MIT */
/* The search of one part: its faces become a soup, or two, and the pairs that are the part's own
 * become a run. The lists of faces ascend, so that sorted pairs of their indices are sorted pairs
 * of ids.
 *
 * A part that holds too many triangles is cut again: it is one node of its cut, and the cells of
 * the grid are finer than any cut by 2^26. Where that does not help, as all faces are at one point
 * or reach everywhere, it is searched in blocks of faces, each block with each: what is in memory
 * at once is bounded, the work is the square of the number of blocks. The same where a part that
 * should fit does not.
 *
 * Boxes of faces are searched by broad (broad.h), the same way: a part has a box for each face.
 *
 * Which vertices are common: those with equal coordinates, or with the same index where nothing is
 * welded; both are known within the part, as its streams have them (carom_mesh_weld). */
#include "base/item.h"
#include "base/progress.h"
#include "carom/broad.h"
#include "parts/parts.h"

#define PARTS_BLOCK_TRIANGLES 256u /* fewer are not tried when memory ends */

CAROM_ARRAY(parts_lows, parts_cells);

/* Faces that were loaded from one input: the soup, and what is known of its faces. */
typedef struct parts_loaded {
    parts_job *job;
    const parts_cut *cut;
    uint32_t part, which;
    uint64_t faces, corners; /* room; then filled */
    void *positions;
    uint32_t *identity, *vertices, *ids;
    uint64_t *offsets; /* NULL: triangles */
    uint32_t *border;  /* the index in `cells` of a face that reaches out of the part, or NONE */
    parts_lows cells;
    carom_soup *soup;
    carom_bounds *boxes; /* instead of it, where boxes are searched */
} parts_loaded;

/* Consecutive faces of a stream. */
typedef struct parts_block {
    parts_cursor from;
    uint64_t faces, corners;
} parts_block;

CAROM_ARRAY(parts_blocks, parts_block);

/* ---- Loading --------------------------------------------------------------------------------- */

static void parts_unload(parts_loaded *l) {
    const carom_allocator *allocator = l->job->allocator;
    CAROM_RELEASE_ALL(allocator, l->positions, l->identity, l->vertices, l->ids, l->offsets,
                      l->border, l->boxes);
    parts_lows_release(&l->cells, allocator);
    carom_soup_destroy(l->soup);
    *l = (parts_loaded){.job = l->job};
}

static carom_status parts_reserve_loaded(parts_loaded *l, uint64_t faces, uint64_t corners) {
    const parts_input *input = &l->job->inputs[l->which];
    const carom_allocation arrays[] = {
        {&l->positions, corners, (size_t)(3 * carom_scalar_size(input->scalar))},
        CAROM_ALLOCATION(l->identity, corners),
        CAROM_ALLOCATION(l->vertices, l->job->def->no_weld ? corners : 0),
        CAROM_ALLOCATION(l->ids, faces),
        CAROM_ALLOCATION(l->border, faces)};
    if (!carom_allocate_all(l->job->allocator, arrays, sizeof(arrays) / sizeof(arrays[0])))
        return carom_parts_fail_memory(l->job, 40 * corners, "the faces of a part");
    if (corners == 3 * faces) return CAROM_OK;
    l->offsets = carom_allocate(l->job->allocator, faces + 1, sizeof(*l->offsets));
    if (l->offsets == NULL)
        return carom_parts_fail_memory(l->job, 8 * faces, "the polygons of a part");
    l->offsets[0] = 0;
    return CAROM_OK;
}

/* What has to be kept of a face to know its box. */
static carom_status parts_reserve_boxes(parts_loaded *l, uint64_t faces) {
    const carom_allocation arrays[] = {CAROM_ALLOCATION(l->ids, faces),
                                       CAROM_ALLOCATION(l->border, faces),
                                       CAROM_ALLOCATION(l->boxes, faces)};
    if (carom_allocate_all(l->job->allocator, arrays, sizeof(arrays) / sizeof(arrays[0])))
        return CAROM_OK;
    return carom_parts_fail_memory(l->job, 56 * faces, "the boxes of a part");
}

static void parts_load_corners(parts_loaded *l, const parts_face *face) {
    uint64_t point = 3 * carom_scalar_size(l->job->inputs[l->which].scalar);
    memcpy((uint8_t *)l->positions + l->corners * point, face->positions,
           (size_t)(face->count * point));
    for (uint64_t c = 0; c < face->count; ++c) {
        l->identity[l->corners + c] = (uint32_t)(l->corners + c);
        if (face->vertices != NULL) l->vertices[l->corners + c] = face->vertices[c];
    }
}

static carom_status parts_load_face(parts_loaded *l, const parts_face *face) {
    const parts_input *input = &l->job->inputs[l->which];
    uint64_t f = l->faces;
    parts_cells cells = carom_parts_cells_of(&l->job->grid, input, face);
    if (l->boxes != NULL)
        l->boxes[f] = carom_parts_bounds_of(input, face);
    else
        parts_load_corners(l, face);
    l->ids[f] = face->id;
    l->border[f] = PARTS_NONE;
    if (!carom_parts_cut_holds(l->cut, &cells, l->part)) {
        l->border[f] = (uint32_t)l->cells.count;
        if (!parts_lows_push(&l->cells, l->job->allocator, cells))
            return carom_parts_fail_memory(l->job, l->cells.count * sizeof(cells), "a border");
    }
    l->corners += face->count;
    if (l->offsets != NULL) l->offsets[f + 1] = l->corners;
    ++l->faces;
    return CAROM_OK;
}

static carom_status parts_load_block(parts_loaded *l, const parts_block *block) {
    parts_stream_reader reader;
    parts_face face;
    const parts_stream *stream = &l->cut->parts.data[l->part].faces[l->which];
    carom_status status =
        carom_parts_stream_open(&l->job->spill, stream, l->job->inputs[l->which].scalar,
                                l->job->def->no_weld, &block->from, &reader);
    for (uint64_t i = 0; i < block->faces && status == CAROM_OK; ++i) {
        status = carom_parts_stream_next(&reader, &face);
        if (status == CAROM_OK) status = parts_load_face(l, &face);
        if (status == CAROM_OK && i % 65536 == 0) status = carom_progress_look(l->job->context);
    }
    carom_parts_stream_close(&reader);
    return status;
}

/* ---- The soup -------------------------------------------------------------------------------- */

static carom_mesh_view parts_view_of(const parts_loaded *l) {
    return (carom_mesh_view){.positions = l->positions,
                             .scalar = l->job->inputs[l->which].scalar,
                             .vertex_count = l->corners,
                             .corners = l->identity,
                             .offsets = l->offsets,
                             .face_count = l->faces};
}

/* Vertices with one index are found by welding points that have the index as a coordinate: doubles
 * hold it exactly. Then each vertex gets the coordinates of its corners, which are all the same. */
static carom_status parts_weld_indices(parts_loaded *l, carom_mesh **welded) {
    const carom_allocator *allocator = l->job->allocator;
    carom_mesh_view view = parts_view_of(l), made;
    uint64_t point = 3 * carom_scalar_size(view.scalar);
    carom_vec3 *points = carom_allocate(allocator, l->corners, sizeof(*points));
    if (points == NULL)
        return carom_parts_fail_memory(l->job, l->corners * sizeof(*points), "indices");
    for (uint64_t c = 0; c < l->corners; ++c)
        points[c] = carom_vec((double)l->vertices[c], 0.0, 0.0);
    view.positions = points;
    view.scalar = CAROM_SCALAR_FLOAT64;
    carom_status status = carom_mesh_weld(l->job->inner, &view, welded);
    carom_release(allocator, points);
    if (status != CAROM_OK) return carom_parts_fail_inner(l->job, status);
    (void)carom_mesh_get_view(*welded, &made);
    uint8_t *positions = carom_allocate(allocator, made.vertex_count, (size_t)point);
    if (positions == NULL)
        return carom_parts_fail_memory(l->job, made.vertex_count * point, "vertices");
    for (uint64_t c = 0; c < l->corners; ++c)
        memcpy(positions + made.corners[c] * point, (uint8_t *)l->positions + c * point,
               (size_t)point);
    carom_release(allocator, l->positions);
    l->positions = positions;
    return CAROM_OK;
}

static carom_status parts_make_soup(parts_loaded *l) {
    parts_job *job = l->job;
    carom_mesh *welded = NULL;
    carom_mesh_view view = parts_view_of(l), made;
    carom_soup_def def = {.mesh = &view, .degenerate = job->def->degenerate};
    carom_status status;
    if (job->def->no_weld) {
        status = parts_weld_indices(l, &welded);
    } else {
        status = carom_mesh_weld(job->inner, &view, &welded);
        if (status != CAROM_OK) status = carom_parts_fail_inner(job, status);
    }
    if (status == CAROM_OK) {
        (void)carom_mesh_get_view(welded, &made);
        if (job->def->no_weld) {
            made.positions = l->positions;
            made.scalar = view.scalar;
            made.stride = 0;
        } else {
            carom_release(job->allocator, l->positions);
            l->positions = NULL;
        }
        carom_release(job->allocator, l->identity);
        l->identity = NULL;
        view = made;
        status = carom_soup_create(job->inner, &def, &l->soup);
        if (status != CAROM_OK) status = carom_parts_fail_inner(job, status);
    }
    carom_mesh_destroy(welded);
    CAROM_RELEASE_ALL(job->allocator, l->positions, l->identity, l->vertices, l->offsets);
    l->positions = NULL;
    l->identity = l->vertices = NULL;
    l->offsets = NULL;
    return status;
}

/* ---- Pairs ----------------------------------------------------------------------------------- */

typedef struct parts_filter {
    parts_job *job;
    const parts_loaded *a, *b; /* equal for pairs of one soup */
    uint64_t split;            /* of two blocks of one soup: the first face of the second; else 0 */
    carom_status status;
} parts_filter;

/* Whether the pair is the part's own. A face that is all in the part has the lowest common cell in
 * the part, too. */
static bool parts_is_own(const parts_filter *f, uint32_t i, uint32_t j) {
    uint32_t a = f->a->border[i], b = f->b->border[j];
    if (a == PARTS_NONE || b == PARTS_NONE) return true;
    const parts_cells *first = &f->a->cells.data[a], *second = &f->b->cells.data[b];
    uint32_t cell[3];
    for (int k = 0; k < 3; ++k) {
        cell[k] = CAROM_MAX(first->low[k], second->low[k]);
        CAROM_ASSERT(cell[k] <= first->high[k] && cell[k] <= second->high[k]);
    }
    return carom_parts_cut_owner(f->a->cut, cell) == f->a->part;
}

/* The filter of counts: the two faces of a pair, which are in different blocks where there are two;
 * and whether the part counts a face as its own, in the block alone. */
static bool parts_owns_pair(const void *user, uint32_t face, uint32_t other) {
    const parts_filter *f = user;
    if (f->split != 0 && (face < f->split) == (other < f->split)) return false;
    return parts_is_own(f, face, other);
}

static bool parts_owns_face(const void *user, uint32_t face) {
    const parts_filter *f = user;
    uint32_t border = f->a->border[face];
    if (f->split != 0) return false;
    return border == PARTS_NONE ||
           carom_parts_cut_owner(f->a->cut, f->a->cells.data[border].low) == f->a->part;
}

static bool parts_filter_pairs(void *user, const carom_pair *pairs, uint64_t count) {
    parts_filter *f = user;
    for (uint64_t p = 0; p < count && f->status == CAROM_OK; ++p) {
        uint32_t i = pairs[p].a, j = pairs[p].b;
        if (f->split != 0 && (i >= f->split || j < f->split)) continue; /* both in one block */
        if (!parts_is_own(f, i, j)) continue;
        f->status = carom_parts_runs_add(f->job, (uint64_t)f->a->ids[i] << 32 | f->b->ids[j]);
    }
    return f->status != CAROM_OK;
}

/* Boxes: those of b follow those of a, and each is asked for those of the other alone. */
static carom_status parts_query_boxes(parts_job *job, parts_filter *f) {
    uint64_t first = f->a->faces, count = first + (job->def->cross ? f->b->faces : 0);
    const carom_allocator *allocator = job->allocator;
    carom_broad *broad = NULL;
    carom_pairs pairs = {0};
    carom_bounds *boxes = NULL;
    carom_broad_filter *filters = NULL;
    carom_broad_def def = {.boxes = f->a->boxes, .box_count = count};
    if (job->def->cross) {
        const carom_allocation arrays[] = {CAROM_ALLOCATION(boxes, count),
                                           CAROM_ALLOCATION(filters, count)};
        if (!carom_allocate_all(allocator, arrays, 2))
            return carom_parts_fail_memory(job, 56 * count, "boxes");
        memcpy(boxes, f->a->boxes, (size_t)first * sizeof(*boxes));
        memcpy(boxes + first, f->b->boxes, (size_t)(count - first) * sizeof(*boxes));
        for (uint64_t i = 0; i < count; ++i)
            filters[i] = i < first ? (carom_broad_filter){.group = 1, .mask = 2}
                                   : (carom_broad_filter){.group = 2, .mask = 1};
        def.boxes = boxes;
        def.filters = filters;
    }
    carom_status status = carom_broad_create(job->inner, &def, &broad);
    CAROM_RELEASE_ALL(allocator, boxes, filters);
    if (status == CAROM_OK) status = carom_broad_pairs(job->inner, broad, &pairs);
    for (uint64_t i = 0; i < pairs.count && job->def->cross; ++i)
        pairs.data[i].b -= (uint32_t)first;
    if (status == CAROM_OK) (void)parts_filter_pairs(f, pairs.data, pairs.count);
    carom_pairs_free(&pairs);
    carom_broad_destroy(broad);
    return status != CAROM_OK ? carom_parts_fail_inner(job, status) : f->status;
}

static carom_status parts_query(parts_job *job, const parts_filter *f, carom_pairs *pairs) {
    const carom_parts_def *def = job->def;
    const carom_soup *a = f->a->soup, *b = f->b->soup;
    if (def->cross)
        return def->within ? carom_soup_cross_pairs_within(job->inner, a, NULL, b, &def->pose_b,
                                                           def->reach, pairs)
                           : carom_soup_cross_pairs(job->inner, a, NULL, b, &def->pose_b, pairs);
    return def->within ? carom_soup_self_pairs_within(job->inner, a, def->reach, pairs)
                       : carom_soup_self_pairs(job->inner, a, pairs);
}

static carom_status parts_query_each(parts_job *job, parts_filter *f) {
    const carom_parts_def *def = job->def;
    const carom_soup *a = f->a->soup, *b = f->b->soup;
    if (def->cross)
        return def->within ? carom_soup_cross_each_within(job->inner, a, NULL, b, &def->pose_b,
                                                          def->reach, parts_filter_pairs, f)
                           : carom_soup_cross_each(job->inner, a, NULL, b, &def->pose_b,
                                                   parts_filter_pairs, f);
    return def->within
               ? carom_soup_self_each_within(job->inner, a, def->reach, parts_filter_pairs, f)
               : carom_soup_self_each(job->inner, a, parts_filter_pairs, f);
}

static carom_status parts_add_counts_of(parts_job *job, const parts_filter *f,
                                        const carom_kfree_part *part) {
    carom_kfree_sum *sum = &job->sum;
    for (uint64_t i = 0; i < f->a->faces; ++i) {
        double diameter = part->diameters[i];
        bool own = parts_owns_face(f, (uint32_t)i);
        if (diameter < 0.0 || (!own && part->counts[i] == 0)) continue;
        CAROM_TRY(carom_parts_kfree_add(job, f->a->ids[i], part->counts[i], part->neighbours[i]));
        if (!own || !(diameter > 0.0)) continue;
        sum->least = CAROM_MIN(diameter, sum->least);
        sum->largest = CAROM_MAX(diameter, sum->largest);
    }
    sum->discs += part->discs;
    return CAROM_OK;
}

static carom_status parts_find_counts(parts_job *job, const parts_filter *f) {
    const carom_kfree_filter filter = {parts_owns_pair, parts_owns_face, f};
    uint64_t faces = f->a->faces;
    carom_kfree_part part = {0};
    const carom_allocation arrays[] = {CAROM_ALLOCATION(part.counts, faces),
                                       CAROM_ALLOCATION(part.neighbours, faces),
                                       CAROM_ALLOCATION(part.diameters, faces)};
    if (!carom_allocate_all(job->allocator, arrays, 3))
        return carom_parts_fail_memory(job, 16 * faces, "the counts of a part");
    carom_status status = carom_kfree_count_part(job->inner, f->a->soup, &filter, &part);
    if (status != CAROM_OK) status = carom_parts_fail_inner(job, status);
    if (status == CAROM_OK) status = parts_add_counts_of(job, f, &part);
    CAROM_RELEASE_ALL(job->allocator, part.counts, part.neighbours, part.diameters);
    return status;
}

/* A list that does not fit is streamed, which takes twice as long. */
static carom_status parts_find(parts_job *job, parts_filter *f) {
    carom_pairs pairs = {0};
    CAROM_TRY(carom_parts_runs_begin(job));
    ++job->report.searches;
    if (job->def->boxes || job->counts) {
        CAROM_TRY(job->counts ? parts_find_counts(job, f) : parts_query_boxes(job, f));
        return carom_parts_runs_end(job);
    }
    carom_status status = parts_query(job, f, &pairs);
    if (status == CAROM_OK) (void)parts_filter_pairs(f, pairs.data, pairs.count);
    carom_pairs_free(&pairs);
    if (status == CAROM_NO_MEMORY) {
        (void)carom_context_trim(job->inner);
        status = parts_query_each(job, f);
    }
    if (f->status != CAROM_OK) return f->status;
    if (status != CAROM_OK) return carom_parts_fail_inner(job, status);
    return carom_parts_runs_end(job);
}

#define PARTS_KEPT_SHARE 8u /* the next search may reuse scratch of up to an eighth of memory */

/* Frees the scratch of a search, unless it is small. */
static void parts_trim(parts_job *job) {
    if (atomic_load(&job->memory.used) > job->memory.limit / PARTS_KEPT_SHARE)
        (void)carom_context_trim(job->inner);
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

/* Loads one block, or two of one input, as a soup. */
static carom_status parts_load(parts_loaded *l, const parts_block *first,
                               const parts_block *second) {
    uint64_t faces = first->faces, corners = first->corners;
    if (second != NULL) {
        faces += second->faces;
        corners += second->corners;
    }
    bool boxes = l->job->def->boxes;
    CAROM_TRY(boxes ? parts_reserve_boxes(l, faces) : parts_reserve_loaded(l, faces, corners));
    CAROM_TRY(parts_load_block(l, first));
    if (second != NULL) CAROM_TRY(parts_load_block(l, second));
    CAROM_ASSERT(l->faces == faces && l->corners == corners);
    return boxes ? CAROM_OK : parts_make_soup(l);
}

static carom_status parts_search_self(parts_job *job, const parts_cut *cut, uint32_t part,
                                      const parts_block *first, const parts_block *second) {
    parts_loaded l = {.job = job, .cut = cut, .part = part};
    parts_filter f = {.job = job, .a = &l, .b = &l, .split = second != NULL ? first->faces : 0};
    carom_status status = parts_load(&l, first, second);
    if (status == CAROM_OK) status = parts_find(job, &f);
    parts_unload(&l);
    parts_trim(job);
    return status;
}

static carom_status parts_search_cross(parts_job *job, const parts_cut *cut, uint32_t part,
                                       const parts_block *first, const parts_block *second) {
    parts_loaded a = {.job = job, .cut = cut, .part = part, .which = 0};
    parts_loaded b = {.job = job, .cut = cut, .part = part, .which = 1};
    parts_filter f = {.job = job, .a = &a, .b = &b};
    carom_status status = parts_load(&a, first, NULL);
    if (status == CAROM_OK) status = parts_load(&b, second, NULL);
    if (status == CAROM_OK) status = parts_find(job, &f);
    parts_unload(&a);
    parts_unload(&b);
    parts_trim(job);
    return status;
}

/* Divides a stream into blocks of at most `most` triangles, or one face. */
static carom_status parts_divide(parts_job *job, const parts_stream *stream, uint32_t which,
                                 uint64_t most, parts_blocks *blocks) {
    parts_stream_reader reader;
    parts_face face;
    carom_status status = carom_parts_stream_open(&job->spill, stream, job->inputs[which].scalar,
                                                  job->def->no_weld, NULL, &reader);
    while (status == CAROM_OK && reader.at.left != 0) {
        parts_block block = {.from = reader.at}, *last = NULL;
        status = carom_parts_stream_next(&reader, &face);
        if (status != CAROM_OK) break;
        if (blocks->count != 0) last = &blocks->data[blocks->count - 1];
        if (last == NULL || last->corners - 2 * last->faces + face.count - 2 > most) {
            if (!parts_blocks_push(blocks, job->allocator, block))
                status = carom_parts_fail_memory(job, sizeof(block), "blocks of a part");
            else
                last = &blocks->data[blocks->count - 1];
        }
        if (status == CAROM_OK) {
            ++last->faces;
            last->corners += face.count;
        }
    }
    carom_parts_stream_close(&reader);
    return status;
}

static carom_status parts_search_each(parts_job *job, const parts_cut *cut, uint32_t part,
                                      const parts_blocks *a, const parts_blocks *b) {
    for (uint64_t i = 0; i < a->count; ++i) {
        if (job->def->cross) {
            for (uint64_t j = 0; j < b->count; ++j)
                CAROM_TRY(parts_search_cross(job, cut, part, &a->data[i], &b->data[j]));
            continue;
        }
        CAROM_TRY(parts_search_self(job, cut, part, &a->data[i], NULL));
        for (uint64_t j = i + 1; j < a->count; ++j)
            CAROM_TRY(parts_search_self(job, cut, part, &a->data[i], &a->data[j]));
    }
    return CAROM_OK;
}

/* Searches a part in blocks of which any two have at most `most` triangles; where memory ends, in
 * smaller ones. */
static carom_status parts_search_blocks(parts_job *job, const parts_cut *cut, uint32_t part,
                                        uint64_t most) {
    const parts_part *p = &cut->parts.data[part];
    parts_runs before = job->runs;
    uint64_t discs = job->sum.discs;
    carom_status status;
    do {
        parts_blocks a = {0}, b = {0};
        (void)carom_context_trim(job->inner); /* also of a device */
        most = CAROM_MAX(most / 2, UINT64_C(1));
        job->runs.list.count = before.list.count; /* what was found so far is found again */
        job->runs.end = before.end;
        job->sum.discs = discs;
        status = parts_divide(job, &p->faces[0], 0, most, &a);
        if (status == CAROM_OK && job->def->cross)
            status = parts_divide(job, &p->faces[1], 1, most, &b);
        if (status == CAROM_OK) status = parts_search_each(job, cut, part, &a, &b);
        parts_blocks_release(&a, job->allocator);
        parts_blocks_release(&b, job->allocator);
    } while (status == CAROM_NO_MEMORY && most > PARTS_BLOCK_TRIANGLES);
    return status;
}

/* ---- Parts ----------------------------------------------------------------------------------- */

static uint64_t parts_triangles(const parts_part *p) {
    return p->faces[0].corners - 2 * p->faces[0].faces + p->faces[1].corners -
           2 * p->faces[1].faces;
}

static carom_status parts_stream_next_of(void *reader, parts_face *face) {
    return carom_parts_stream_next(reader, face);
}

typedef carom_status parts_all_fn(parts_job *job, parts_cut *cut, uint32_t which,
                                  parts_next_fn *next, void *reader);

/* Passes the faces of a part to a function of another cut. */
static carom_status parts_pass_on(parts_job *job, const parts_part *p, parts_cut *to,
                                  parts_all_fn *all) {
    carom_status status = CAROM_OK;
    for (uint32_t i = 0; i < (job->def->cross ? 2u : 1u) && status == CAROM_OK; ++i) {
        parts_stream_reader reader;
        status = carom_parts_stream_open(&job->spill, &p->faces[i], job->inputs[i].scalar,
                                         job->def->no_weld, NULL, &reader);
        if (status == CAROM_OK) status = all(job, to, i, parts_stream_next_of, &reader);
        carom_parts_stream_close(&reader);
    }
    return status;
}

/* Cuts the node of a part again, and, where all is in one node of that, again. *made: that divides
 * it. */
static carom_status parts_cut_again(parts_job *job, const parts_cut *cut, const parts_part *p,
                                    parts_cut *finer, bool *made) {
    uint32_t bits = cut->shift, cube[3];
    *made = false;
    for (int a = 0; a < 3; ++a) cube[a] = cut->base[a] + p->node[a];
    while (bits >= PARTS_LEAST_LEVELS) {
        uint64_t faces = p->faces[0].faces + p->faces[1].faces;
        CAROM_TRY(carom_parts_cut_begin(job, finer, bits, cube, faces));
        CAROM_TRY(parts_pass_on(job, p, finer, carom_parts_count_all));
        CAROM_TRY(carom_parts_cut_divide(job, finer, job->most, 0, 1));
        const parts_list *parts = &finer->parts;
        *made = parts->count != 1 || parts->data[0].count <= job->most;
        if (*made || !parts->data[0].single) break;
        for (int a = 0; a < 3; ++a) cube[a] = finer->base[a] + parts->data[0].node[a];
        bits = finer->shift;
        carom_parts_cut_release(job, finer);
    }
    return CAROM_OK;
}

static carom_status parts_search_finer(parts_job *job, parts_part *p, parts_cut *finer) {
    CAROM_TRY(parts_pass_on(job, p, finer, carom_parts_spill_all));
    CAROM_TRY(carom_parts_spill_end(job, finer));
    for (int i = 0; i < 2; ++i) carom_parts_stream_release(&job->spill, &p->faces[i]);
    for (uint32_t i = 0; i < finer->parts.count; ++i) CAROM_TRY(carom_parts_search(job, finer, i));
    return CAROM_OK;
}

carom_status carom_parts_search(parts_job *job, parts_cut *cut, uint32_t part) {
    parts_part *p = &cut->parts.data[part];
    const parts_stream *a = &p->faces[0], *b = &p->faces[1];
    carom_status status;
    ++job->report.parts;
    job->report.copies += a->faces + b->faces;
    if (a->faces == 0 || (job->def->cross && b->faces == 0)) return CAROM_OK;
    if (parts_triangles(p) <= job->most) {
        parts_block first = {{.left = a->faces}, a->faces, a->corners};
        parts_block second = {{.left = b->faces}, b->faces, b->corners};
        status = job->def->cross ? parts_search_cross(job, cut, part, &first, &second)
                                 : parts_search_self(job, cut, part, &first, NULL);
        if (status == CAROM_NO_MEMORY) status = parts_search_blocks(job, cut, part, job->most);
    } else {
        parts_cut finer = {0};
        bool made = false;
        status = p->single ? parts_cut_again(job, cut, p, &finer, &made) : CAROM_OK;
        if (status == CAROM_OK)
            status = made ? parts_search_finer(job, p, &finer)
                          : parts_search_blocks(job, cut, part, job->most);
        carom_parts_cut_release(job, &finer);
    }
    for (int i = 0; i < 2; ++i) carom_parts_stream_release(&job->spill, &p->faces[i]);
    return status;
}
