/* SPDX-License-Identifier: MIT */
#include "cli/defects.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN    20u /* loops, edges, vertices and faces named in words */
#define VERTICES 6u  /* of a loop named in words */

/* ---- Searching ------------------------------------------------------------------------------- */

carom_status defects_find_holes(cli *cli, const carom_mesh_view *view, defects *d) {
    carom_context *context = cli->context;
    d->has_holes = true;
    carom_status status = carom_repair_list_loops(context, view, &d->loops, &d->loop_vertices);
    if (status == CAROM_OK) status = carom_repair_list_edges(context, view, &d->edges);
    if (status == CAROM_OK) status = carom_repair_list_vertices(context, view, &d->vertices);
    if (status == CAROM_OK)
        status = carom_repair_list_flipped(context, view, &d->flipped, &d->twisted);
    return status;
}

carom_status defects_find_pairs(cli *cli, const carom_mesh_view *view, defects *d) {
    carom_soup *soup = NULL;
    carom_soup_def def = {.mesh = view};
    d->has_pairs = true;
    carom_status status = carom_soup_create(cli->context, &def, &soup);
    if (status == CAROM_OK) status = carom_soup_self_pairs(cli->context, soup, &d->pairs);
    carom_soup_destroy(soup);
    return status;
}

void defects_free(defects *d) {
    carom_repair_loops_free(&d->loops);
    carom_numbers_free(&d->loop_vertices);
    carom_pairs_free(&d->edges);
    carom_numbers_free(&d->vertices);
    carom_numbers_free(&d->flipped);
    carom_pairs_free(&d->pairs);
    *d = (defects){0};
}

/* ---- Words ----------------------------------------------------------------------------------- */

static void print_line(const char *name, uint64_t count, const char *more) {
    printf("  %-18s %12" PRIu64 "%s%s\n", name, count, more[0] != '\0' ? "  " : "", more);
}

static uint64_t edge_count(const carom_repair_loop *loop) {
    return loop->closed ? loop->count : loop->count - 1;
}

void defects_print_loop(const carom_repair_loop *loop, const uint32_t *vertices) {
    printf("  %6s %8" PRIu64 " edges, %.6g long, about %.6g %.6g %.6g: vertices",
           loop->closed ? "loop" : "chain", edge_count(loop), loop->length, loop->centre.x,
           loop->centre.y, loop->centre.z);
    for (uint64_t i = 0; i < loop->count && i < VERTICES; ++i)
        printf(" %" PRIu32, vertices[loop->first + i]);
    printf("%s", loop->count > VERTICES ? " ..." : "");
}

static void print_more(uint64_t count) {
    if (count > SHOWN) printf("  ... and %" PRIu64 " more; --json lists them all\n", count - SHOWN);
}

/* "0 1, 2 3 ...": edges, or vertices and faces where `each` is 1. */
static void print_numbers(const uint32_t *numbers, uint64_t count, uint64_t each) {
    if (count == 0) return;
    printf("        ");
    for (uint64_t i = 0; i < count && i < SHOWN; ++i) {
        printf(i == 0 ? "" : ", ");
        for (uint64_t k = 0; k < each; ++k)
            printf("%s%" PRIu32, k == 0 ? "" : " ", numbers[each * i + k]);
    }
    printf("%s\n", count > SHOWN ? " ..." : "");
}

static void print_holes(const defects *d) {
    char text[96] = "";
    uint64_t chains = 0;
    for (uint64_t i = 0; i < d->loops.count; ++i) chains += !d->loops.data[i].closed;
    if (chains != 0)
        snprintf(text, sizeof(text), "%" PRIu64 " of them chains, which do not close", chains);
    print_line("boundary loops", d->loops.count, text);
    for (uint64_t i = 0; i < d->loops.count && i < SHOWN; ++i) {
        defects_print_loop(&d->loops.data[i], d->loop_vertices.data);
        putchar('\n');
    }
    print_more(d->loops.count);
    print_line("non-manifold edges", d->edges.count,
               d->edges.count != 0 ? "with more than two sides, between vertices" : "");
    print_numbers((const uint32_t *)d->edges.data, d->edges.count, 2);
    print_line("  vertices", d->vertices.count,
               d->vertices.count != 0 ? "in which alone surfaces touch" : "");
    print_numbers(d->vertices.data, d->vertices.count, 1);
    print_line("flipped faces", d->flipped.count,
               d->flipped.count != 0 ? "that go the other way round than most beside them" : "");
    print_numbers(d->flipped.data, d->flipped.count, 1);
    if (d->twisted != 0) print_line("  twisted", d->twisted, "sets of faces have one side only");
}

void defects_print(const defects *d) {
    char text[96] = "no two faces meet";
    if (d->has_holes) print_holes(d);
    if (!d->has_pairs) return;
    if (d->pairs.count != 0)
        snprintf(text, sizeof(text), "of faces meet, the first %" PRIu32 " and %" PRIu32,
                 d->pairs.data[0].a, d->pairs.data[0].b);
    print_line("pairs", d->pairs.count, text);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void print_vector(json *j, const char *key, carom_vec3 p) {
    json_begin_array(j, key);
    json_number(j, NULL, p.x);
    json_number(j, NULL, p.y);
    json_number(j, NULL, p.z);
    json_end_array(j);
}

static void print_array(json *j, const char *key, const uint32_t *numbers, uint64_t count) {
    json_begin_array(j, key);
    for (uint64_t i = 0; i < count; ++i) json_count(j, NULL, numbers[i]);
    json_end_array(j);
}

void defects_print_loop_json(json *j, const carom_repair_loop *loop, const uint32_t *vertices) {
    json_begin_object(j, NULL);
    json_count(j, "edges", edge_count(loop));
    json_bool(j, "closed", loop->closed);
    json_number(j, "length", loop->length);
    print_vector(j, "centre", loop->centre);
    print_vector(j, "low", loop->bounds.low);
    print_vector(j, "high", loop->bounds.high);
    print_array(j, "vertices", vertices + loop->first, loop->count);
    if (loop->outcome != CAROM_REPAIR_OUTCOME_LISTED)
        json_text(j, "outcome", carom_repair_outcome_name(loop->outcome));
    json_end_object(j);
}

static void print_holes_json(json *j, const defects *d) {
    json_begin_object(j, "holes");
    json_begin_array(j, "loops");
    for (uint64_t i = 0; i < d->loops.count; ++i)
        defects_print_loop_json(j, &d->loops.data[i], d->loop_vertices.data);
    json_end_array(j);
    json_begin_array(j, "nonmanifold_edges");
    for (uint64_t i = 0; i < d->edges.count; ++i) print_array(j, NULL, &d->edges.data[i].a, 2);
    json_end_array(j);
    print_array(j, "nonmanifold_vertices", d->vertices.data, d->vertices.count);
    print_array(j, "flipped_faces", d->flipped.data, d->flipped.count);
    json_count(j, "twisted", d->twisted);
    json_end_object(j);
}

void defects_print_json(json *j, const defects *d) {
    if (d->has_holes)
        print_holes_json(j, d);
    else
        json_null(j, "holes");
    if (d->has_pairs)
        json_count(j, "pairs", d->pairs.count);
    else
        json_null(j, "pairs");
}

/* ---- Marks ----------------------------------------------------------------------------------- */

static int compare_edges(const void *one, const void *other) {
    const carom_pair *a = one, *b = other;
    if (a->a != b->a) return a->a < b->a ? -1 : 1;
    return a->b < b->b ? -1 : a->b > b->b;
}

/* All edges of loops and all non-manifold ones, sorted; NULL: no memory. */
static carom_pair *list_edges(const defects *d, uint64_t *count) {
    carom_pair *edges = malloc((d->loop_vertices.count + d->edges.count + 1) * sizeof(*edges));
    *count = 0;
    if (edges == NULL) return NULL;
    for (uint64_t i = 0; i < d->loops.count; ++i) {
        const carom_repair_loop *loop = &d->loops.data[i];
        const uint32_t *v = d->loop_vertices.data + loop->first;
        for (uint64_t k = 0; k < edge_count(loop); ++k) {
            uint32_t a = v[k], b = v[k + 1 < loop->count ? k + 1 : 0];
            edges[(*count)++] = (carom_pair){a < b ? a : b, a < b ? b : a};
        }
    }
    for (uint64_t i = 0; i < d->edges.count; ++i) edges[(*count)++] = d->edges.data[i];
    qsort(edges, (size_t)*count, sizeof(*edges), compare_edges);
    return edges;
}

static int compare_numbers(const void *one, const void *other) {
    uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)other;
    return a < b ? -1 : a > b;
}

bool defects_mark_faces(const defects *d, const carom_mesh_view *view, uint8_t *marked) {
    uint64_t count;
    carom_pair *edges = list_edges(d, &count);
    if (edges == NULL) return false;
    memset(marked, 0, (size_t)view->face_count);
    for (uint64_t f = 0; f < view->face_count; ++f) {
        uint64_t begin = view->offsets != NULL ? view->offsets[f] : 3 * f;
        uint64_t end = view->offsets != NULL ? view->offsets[f + 1] : 3 * f + 3;
        for (uint64_t c = begin; c < end; ++c) {
            uint32_t a = view->corners[c], b = view->corners[c + 1 < end ? c + 1 : begin];
            carom_pair edge = {a < b ? a : b, a < b ? b : a};
            if (bsearch(&edge, edges, (size_t)count, sizeof(edge), compare_edges) != NULL ||
                (d->vertices.count != 0 && bsearch(&a, d->vertices.data, (size_t)d->vertices.count,
                                                   sizeof(a), compare_numbers) != NULL))
                marked[f] = 1;
        }
    }
    free(edges);
    for (uint64_t i = 0; i < d->flipped.count; ++i) marked[d->flipped.data[i]] = 1;
    for (uint64_t i = 0; i < d->pairs.count; ++i)
        marked[d->pairs.data[i].a] = marked[d->pairs.data[i].b] = 1;
    return true;
}
