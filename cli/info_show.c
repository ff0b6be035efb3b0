/* SPDX-License-Identifier: MIT */
/* Marks edges as carom_mesh_inspect counts them: sides, sorted, so that those of one edge follow
 * each other. Sides from a vertex to itself are left out, and two of one face in opposite
 * directions cancel. */
#include "cli/info_show.h"
#include "cli/platform.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct side {
    uint32_t low, high, face;
    bool reversed; /* from high to low */
} side;

enum { MARK_OPEN, MARK_NONMANIFOLD, MARK_INCONSISTENT, MARK_DEGENERATE, MARKS };

typedef struct marks {
    display *d;
    const display_mesh *mesh; /* with the vertices of the view */
    const carom_mesh_view *view;
    display_item *items[MARKS]; /* NULL: none yet */
    uint64_t counts[MARKS];
    carom_vec3 first[MARKS]; /* where the first one is */
} marks;

static const char *const mark_names[MARKS] = {"open edges", "non-manifold edges",
                                              "inconsistent edges", "degenerate faces"};

static int compare(const void *one, const void *other) {
    const side *x = one, *y = other;
    if (x->low != y->low) return x->low < y->low ? -1 : 1;
    if (x->high != y->high) return x->high < y->high ? -1 : 1;
    if (x->face != y->face) return x->face < y->face ? -1 : 1;
    return x->reversed - y->reversed;
}

static display_item *item_of(marks *m, int mark) {
    static const display_colour colours[MARKS] = {
        {217, 48, 37, 255}, {147, 52, 230, 255}, {232, 113, 10, 255}, {24, 128, 56, 255}};
    if (m->items[mark] == NULL) {
        m->items[mark] = display_add(m->d, DISPLAY_EDGES, mark_names[mark]);
        m->items[mark]->colour = colours[mark];
    }
    return m->items[mark];
}

static void add_edge(marks *m, int mark, uint32_t a, uint32_t b) {
    carom_vec3 p = display_mesh_point(m->mesh, a), q = display_mesh_point(m->mesh, b);
    if (m->counts[mark]++ == 0) m->first[mark] = p;
    display_add_segment(m->d, item_of(m, mark), p, q);
}

/* Sides of one edge: what is wrong with it? */
static void judge(marks *m, const side *sides, uint64_t count) {
    uint64_t kept = count, forward = 0, backward = 0;
    for (uint64_t i = 0; i < count;) { /* those of one face */
        uint64_t ahead = 0, back = 0, end = i;
        for (; end < count && sides[end].face == sides[i].face; ++end)
            sides[end].reversed ? ++back : ++ahead;
        uint64_t cancelled = ahead < back ? ahead : back;
        kept -= 2 * cancelled;
        forward += ahead - cancelled;
        backward += back - cancelled;
        i = end;
    }
    uint64_t excess = forward > backward ? forward - backward : backward - forward;
    if (kept == 1) add_edge(m, MARK_OPEN, sides[0].low, sides[0].high);
    if (kept > 2) add_edge(m, MARK_NONMANIFOLD, sides[0].low, sides[0].high);
    if (excess >= 2) add_edge(m, MARK_INCONSISTENT, sides[0].low, sides[0].high);
}

static uint64_t first_corner(const carom_mesh_view *view, uint64_t face) {
    return view->offsets != NULL ? view->offsets[face] : 3 * face;
}

static carom_status mark_edges(marks *m) {
    const carom_mesh_view *view = m->view;
    uint64_t count = 0;
    side *sides = malloc((size_t)(first_corner(view, view->face_count) + 1) * sizeof(*sides));
    if (sides == NULL) return CAROM_NO_MEMORY;
    for (uint64_t f = 0; f < view->face_count; ++f) {
        uint64_t begin = first_corner(view, f), end = first_corner(view, f + 1);
        for (uint64_t c = begin; c < end; ++c) {
            uint32_t a = view->corners[c], b = view->corners[c + 1 < end ? c + 1 : begin];
            if (a != b) sides[count++] = (side){a < b ? a : b, a < b ? b : a, (uint32_t)f, b < a};
        }
    }
    qsort(sides, (size_t)count, sizeof(*sides), compare);
    for (uint64_t i = 0; i < count;) {
        uint64_t end = i + 1;
        while (end < count && sides[end].low == sides[i].low && sides[end].high == sides[i].high)
            ++end;
        judge(m, sides + i, end - i);
        i = end;
    }
    free(sides);
    return CAROM_OK;
}

/* Whether all corners of a face lie on one line, exactly. */
static bool is_degenerate(const marks *m, uint64_t face) {
    uint64_t begin = first_corner(m->view, face), end = first_corner(m->view, face + 1);
    carom_vec3 p[3] = {display_mesh_point(m->mesh, m->view->corners[begin])};
    bool has_second = false;
    for (uint64_t c = begin + 1; c < end; ++c) {
        p[2] = display_mesh_point(m->mesh, m->view->corners[c]);
        if (!has_second) {
            p[1] = p[2];
            has_second = p[1].x != p[0].x || p[1].y != p[0].y || p[1].z != p[0].z;
            continue;
        }
        for (uint32_t axis = 0; axis < 3; ++axis)
            if (carom_points_orient_2d_value(p, axis) != 0) return false;
    }
    return true;
}

static void mark_faces(marks *m, uint64_t expected) {
    for (uint64_t f = 0; f < m->view->face_count && m->counts[MARK_DEGENERATE] < expected; ++f) {
        if (!is_degenerate(m, f)) continue;
        uint64_t begin = first_corner(m->view, f), end = first_corner(m->view, f + 1);
        uint64_t count = m->counts[MARK_DEGENERATE];
        for (uint64_t c = begin; c < end; ++c)
            add_edge(m, MARK_DEGENERATE, m->view->corners[c],
                     m->view->corners[c + 1 < end ? c + 1 : begin]);
        m->counts[MARK_DEGENERATE] = count + 1;
    }
}

static void tell(display *d, const carom_mesh_report *r, const char *path) {
    char label[300];
    snprintf(label, sizeof(label), "%.250s", carom_os_file_name(path));
    display_tell_text(d, &d->answers, label,
                      r->closed ? (r->volume < 0.0 ? "closed, inside out" : "closed")
                                : "not closed");
    display_tell_count(d, &d->answers, "faces", r->faces);
    if (r->balanced) display_tell(d, &d->answers, "volume", r->volume, NULL);
    display_tell(d, &d->answers, "area", r->area, NULL);
}

/* ---- What --holes and --pairs found ---------------------------------------------------------- */

#define LOOP_ROWS 200u /* of the list */

static double extent(const carom_bounds *b) {
    double x = b->high.x - b->low.x, y = b->high.y - b->low.y, z = b->high.z - b->low.z;
    double xy = x > y ? x : y;
    return xy > z ? xy : z;
}

/* A row per boundary loop, which lights all open edges and goes to the loop. */
static void list_loops(marks *m, const defects *found) {
    static const char *const columns[] = {"", "edges", "length"};
    if (found->loops.count == 0) return;
    display_list *list = display_add_list(m->d, "boundary loops", columns, 3);
    for (uint64_t i = 0; i < found->loops.count && i < LOOP_ROWS; ++i) {
        const carom_repair_loop *loop = &found->loops.data[i];
        char name[48], edges[24], length[32];
        const char *const cells[] = {name, edges, length};
        const display_item *items[DISPLAY_MOST_LIT] = {m->items[MARK_OPEN]};
        snprintf(name, sizeof(name), "%s %llu", loop->closed ? "loop" : "chain",
                 (unsigned long long)i);
        snprintf(edges, sizeof(edges), "%llu", (unsigned long long)loop->count - !loop->closed);
        snprintf(length, sizeof(length), "%.6g", loop->length);
        display_add_row(m->d, list, cells, items, loop->centre, extent(&loop->bounds));
    }
}

static void add_mark_row(display *d, display_list *list, const display_item *item, uint64_t number,
                         carom_vec3 at) {
    char count[24];
    const char *const cells[] = {item->name, count};
    const display_item *items[DISPLAY_MOST_LIT] = {item};
    snprintf(count, sizeof(count), "%llu", (unsigned long long)number);
    display_add_row(d, list, cells, items, at, 0.0);
}

/* Touching vertices, flipped faces and faces that meet. `mesh` has the triangles. */
static carom_status show_defects(marks *m, const display_mesh *mesh, const defects *found) {
    static const char *const columns[] = {"", "number"};
    const carom_mesh_view *view = m->view;
    if (found->vertices.count + found->flipped.count + found->pairs.count == 0) return CAROM_OK;
    display_list *list = display_add_list(m->d, "other defects", columns, 2);
    if (found->vertices.count != 0) {
        display_item *item = display_add(m->d, DISPLAY_POINTS, "non-manifold vertices");
        item->colour = (display_colour){147, 52, 230, 255};
        for (uint64_t i = 0; i < found->vertices.count; ++i)
            display_add_point(m->d, item, display_mesh_point(m->mesh, found->vertices.data[i]));
        add_mark_row(m->d, list, item, found->vertices.count,
                     display_mesh_point(m->mesh, found->vertices.data[0]));
    }
    if (found->flipped.count != 0) {
        display_item *item = display_add(m->d, DISPLAY_PATCH, "flipped faces");
        uint32_t first = found->flipped.data[0];
        item->colour = (display_colour){232, 113, 10, 255};
        for (uint64_t i = 0; i < found->flipped.count; ++i)
            display_add_face(m->d, item, mesh, found->flipped.data[i]);
        add_mark_row(m->d, list, item, found->flipped.count,
                     display_mesh_point(m->mesh, view->corners[first_corner(view, first)]));
    }
    if (found->pairs.count != 0) {
        uint8_t *marked = calloc((size_t)view->face_count + 1, 1);
        display_item *item = display_add(m->d, DISPLAY_PATCH, "faces that meet");
        uint32_t first = found->pairs.data[0].a;
        uint64_t faces = 0;
        if (marked == NULL) return CAROM_NO_MEMORY;
        item->colour = (display_colour){217, 48, 37, 255};
        for (uint64_t i = 0; i < found->pairs.count; ++i)
            marked[found->pairs.data[i].a] = marked[found->pairs.data[i].b] = 1;
        for (uint64_t f = 0; f < view->face_count; ++f) {
            if (marked[f] == 0) continue;
            ++faces;
            display_add_face(m->d, item, mesh, (uint32_t)f);
        }
        free(marked);
        add_mark_row(m->d, list, item, faces,
                     display_mesh_point(m->mesh, view->corners[first_corner(view, first)]));
    }
    return CAROM_OK;
}

carom_status info_show(display *d, const carom_mesh_view *view, const carom_mesh_report *report,
                       const defects *found, const char *path) {
    static const char *const columns[] = {"", "number"};
    display_mesh mesh = {0};
    display_mesh own = {.view = *view, .matrix = {[0] = 1.0, [5] = 1.0, [10] = 1.0}};
    marks m = {.d = d, .mesh = &own, .view = view};
    if (own.view.stride == 0)
        own.view.stride =
            3 * (view->scalar == CAROM_SCALAR_FLOAT32 ? sizeof(float) : sizeof(double));
    uint64_t before = d->item_count;
    carom_status status = display_mesh_open(d->cli, view, false, NULL, &mesh);
    if (status == CAROM_OK) {
        display_add_mesh(d, &mesh, path);
        tell(d, report, path);
        status = mark_edges(&m);
    }
    if (status == CAROM_OK) mark_faces(&m, report->degenerate_faces);
    bool wrong = false;
    for (int k = 0; k < MARKS; ++k) wrong = wrong || m.counts[k] != 0;
    for (uint64_t i = before; i < d->item_count && wrong; ++i)
        if (d->items[i]->kind == DISPLAY_PART) d->items[i]->ghost = report->closed;
    display_list *list = wrong ? display_add_list(d, carom_os_file_name(path), columns, 2) : NULL;
    for (int k = 0; k < MARKS && list != NULL; ++k) {
        char number[24];
        const char *const cells[] = {mark_names[k], number};
        const display_item *items[DISPLAY_MOST_LIT] = {m.items[k]};
        snprintf(number, sizeof(number), "%llu", (unsigned long long)m.counts[k]);
        if (m.counts[k] != 0) display_add_row(d, list, cells, items, m.first[k], 0.0);
    }
    if (status == CAROM_OK) list_loops(&m, found);
    if (status == CAROM_OK) status = show_defects(&m, &mesh, found);
    display_mesh_close(&mesh);
    return status;
}
