/* SPDX-License-Identifier: MIT */
/* Shows where pairs of faces meet. Contacts are the connected components of the faces of pairs,
 * where pairs and common vertices connect, by union-find. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/where.h"

#define MOST_CONTACTS 1000u /* that have items of their own; the others share those of the last */

/* A face of a pair: those of b are numbered after those of a. */
typedef struct lit_face {
    uint64_t contact; /* its place in the list */
    display_item *part;
    uint64_t face;
} lit_face;

typedef struct contact {
    uint64_t root, faces, pairs;
    double length; /* of the segments */
    carom_bounds box;
    display_item *curve;
} contact;

typedef struct show {
    const where_def *def;
    display *d;
    display_mesh meshes[2];
    uint64_t first_of_b, face_count;
    uint32_t *parent;     /* of each face; CAROM_NONE: in no pair */
    uint32_t *contact_of; /* of the roots */
    contact *contacts;
    uint64_t contact_count;
    lit_face *faces;
    uint64_t lit_count;
} show;

static uint32_t root_of(show *s, uint32_t face) {
    while (s->parent[face] != face) {
        s->parent[face] = s->parent[s->parent[face]];
        face = s->parent[face];
    }
    return face;
}

static void join(show *s, uint32_t a, uint32_t b) {
    uint32_t x = root_of(s, a), y = root_of(s, b);
    if (x != y) s->parent[x < y ? y : x] = x < y ? x : y;
}

static const carom_mesh_view *view_of(const show *s, uint64_t face) {
    return face < s->first_of_b ? s->def->a : s->def->b;
}

static uint32_t face_in_file(const show *s, uint64_t face) {
    return (uint32_t)(face < s->first_of_b ? face : face - s->first_of_b);
}

static display_mesh *mesh_of(show *s, uint64_t face) {
    return &s->meshes[face < s->first_of_b ? 0 : 1];
}

/* ---- Contacts -------------------------------------------------------------------------------- */

/* Joins faces of pairs that have a common vertex. */
static bool join_neighbours(show *s) {
    uint64_t of_a = s->def->a->vertex_count;
    uint64_t count = of_a + (s->def->b != NULL ? s->def->b->vertex_count : 0);
    uint32_t *last = malloc((size_t)(count + 1) * sizeof(*last));
    if (last == NULL) return false;
    for (uint64_t v = 0; v < count; ++v) last[v] = CAROM_NONE;
    for (uint64_t face = 0; face < s->face_count; ++face) {
        if (s->parent[face] == CAROM_NONE) continue;
        const carom_mesh_view *view = view_of(s, face);
        uint64_t f = face_in_file(s, face), shift = face < s->first_of_b ? 0 : of_a;
        uint64_t end = view->offsets != NULL ? view->offsets[f + 1] : 3 * f + 3;
        for (uint64_t c = view->offsets != NULL ? view->offsets[f] : 3 * f; c < end; ++c) {
            uint32_t *of = &last[shift + view->corners[c]];
            if (*of != CAROM_NONE) join(s, *of, (uint32_t)face);
            *of = (uint32_t)face;
        }
    }
    free(last);
    return true;
}

static void include(carom_bounds *box, carom_vec3 p) {
    box->low = (carom_vec3){fmin(box->low.x, p.x), fmin(box->low.y, p.y), fmin(box->low.z, p.z)};
    box->high =
        (carom_vec3){fmax(box->high.x, p.x), fmax(box->high.y, p.y), fmax(box->high.z, p.z)};
}

static int compare_contacts(const void *one, const void *other) {
    const contact *x = one, *y = other;
    if (x->pairs != y->pairs) return x->pairs > y->pairs ? -1 : 1;
    return x->root < y->root ? -1 : x->root > y->root;
}

static int compare_faces(const void *one, const void *other) {
    const lit_face *x = one, *y = other;
    if (x->contact != y->contact) return x->contact < y->contact ? -1 : 1;
    if (x->part->index != y->part->index) return x->part->index < y->part->index ? -1 : 1;
    return x->face < y->face ? -1 : x->face > y->face;
}

/* Numbers the roots in their order, then sorts contacts by their pairs. */
static bool list_contacts(show *s) {
    const carom_pairs *pairs = s->def->pairs;
    uint64_t roots = 0;
    for (uint64_t f = 0; f < s->face_count; ++f) {
        if (s->parent[f] == CAROM_NONE) continue;
        ++s->lit_count;
        roots += root_of(s, (uint32_t)f) == f;
    }
    s->contacts = calloc((size_t)roots + 1, sizeof(*s->contacts));
    s->faces = malloc((size_t)(s->lit_count + 1) * sizeof(*s->faces));
    if (s->contacts == NULL || s->faces == NULL) return false;
    for (uint64_t f = 0; f < s->face_count; ++f)
        if (s->parent[f] == f) {
            s->contact_of[f] = (uint32_t)s->contact_count;
            s->contacts[s->contact_count++] = (contact){
                .root = f,
                .box = {{HUGE_VAL, HUGE_VAL, HUGE_VAL}, {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}}};
        }
    for (uint64_t i = 0; i < pairs->count; ++i)
        ++s->contacts[s->contact_of[root_of(s, pairs->data[i].a)]].pairs;
    qsort(s->contacts, (size_t)s->contact_count, sizeof(*s->contacts), compare_contacts);
    for (uint64_t i = 0; i < s->contact_count; ++i)
        s->contact_of[s->contacts[i].root] = (uint32_t)i;
    return true;
}

static bool find_contacts(show *s) {
    const carom_pairs *pairs = s->def->pairs;
    s->parent = malloc((size_t)(s->face_count + 1) * sizeof(*s->parent));
    s->contact_of = malloc((size_t)(s->face_count + 1) * sizeof(*s->contact_of));
    if (s->parent == NULL || s->contact_of == NULL) return false;
    for (uint64_t f = 0; f < s->face_count; ++f) s->parent[f] = CAROM_NONE;
    uint64_t shift = s->def->b != NULL ? s->first_of_b : 0;
    for (uint64_t i = 0; i < pairs->count; ++i) {
        uint32_t a = pairs->data[i].a, b = (uint32_t)(shift + pairs->data[i].b);
        if (s->parent[a] == CAROM_NONE) s->parent[a] = a;
        if (s->parent[b] == CAROM_NONE) s->parent[b] = b;
        join(s, a, b);
    }
    return join_neighbours(s) && list_contacts(s);
}

/* ---- Items ----------------------------------------------------------------------------------- */

static void name_contact(char *name, size_t size, uint64_t number) {
    if (number < MOST_CONTACTS)
        snprintf(name, size, "contact %llu", (unsigned long long)number + 1);
    else
        snprintf(name, size, "other contacts");
}

/* Where contact `number` goes: those beyond the last one with its own items share them. */
static uint64_t shown_as(uint64_t number) {
    return number < MOST_CONTACTS ? number : MOST_CONTACTS;
}

/* The faces of each contact and part as one item. */
static void add_patches(show *s, display_item **first) {
    uint64_t at = 0;
    for (uint64_t f = 0; f < s->face_count; ++f) {
        if (s->parent[f] == CAROM_NONE) continue;
        uint64_t number = s->contact_of[root_of(s, (uint32_t)f)];
        ++s->contacts[number].faces;
        s->faces[at++] =
            (lit_face){shown_as(number), display_mesh_part(mesh_of(s, f), face_in_file(s, f)), f};
    }
    qsort(s->faces, (size_t)s->lit_count, sizeof(*s->faces), compare_faces);
    display_item *item = NULL;
    for (uint64_t i = 0; i < s->lit_count && !s->d->no_memory; ++i) {
        const lit_face *l = &s->faces[i];
        if (i == 0 || l->contact != s->faces[i - 1].contact || l->part != s->faces[i - 1].part) {
            char name[64];
            name_contact(name, sizeof(name), l->contact);
            item = display_add(s->d, DISPLAY_PATCH, name);
            item->part = l->part;
            item->contact = (uint32_t)l->contact;
            if (first[l->contact] == NULL) first[l->contact] = item;
        }
        uint64_t before = item->point_count;
        display_add_face(s->d, item, mesh_of(s, l->face), face_in_file(s, l->face));
        contact *c = &s->contacts[s->contact_of[root_of(s, (uint32_t)l->face)]];
        for (uint64_t k = before; k < item->point_count && s->def->nearest; ++k)
            include(&c->box, item->points[k]);
    }
}

/* Adds a segment, or a point where it has no length. */
static void add_segment(show *s, uint32_t face, carom_vec3 p, carom_vec3 q) {
    uint64_t number = s->contact_of[root_of(s, face)];
    contact *c = &s->contacts[number], *shown = &s->contacts[shown_as(number)];
    if (shown->curve == NULL) {
        char name[64];
        name_contact(name, sizeof(name), shown_as(number));
        shown->curve = display_add(s->d, DISPLAY_CURVE, name);
        shown->curve->contact = (uint32_t)shown_as(number);
    }
    carom_vec3 v = {q.x - p.x, q.y - p.y, q.z - p.z};
    c->length += sqrt(v.x * v.x + v.y * v.y + v.z * v.z);
    include(&c->box, p);
    include(&c->box, q);
    display_add_segment(s->d, shown->curve, p, q);
}

static carom_status add_curves(show *s) {
    const where_def *def = s->def;
    carom_soup_segments segments = {0};
    carom_status status;
    if (def->nearest) {
        carom_soup_gap *gaps = malloc((size_t)(def->pairs->count + 1) * sizeof(*gaps));
        if (gaps == NULL) return CAROM_NO_MEMORY;
        status = where_find_gaps(s->d->cli, &def->soups, def->pairs, gaps);
        for (uint64_t i = 0; i < def->pairs->count && status == CAROM_OK; ++i)
            add_segment(s, def->pairs->data[i].a, gaps[i].point_a, gaps[i].point_b);
        free(gaps);
        return status;
    }
    status = where_find_segments(s->d->cli, &def->soups, def->pairs, &segments);
    for (uint64_t i = 0; i < segments.count && status == CAROM_OK; ++i)
        add_segment(s, segments.data[i].pair.a, segments.data[i].p, segments.data[i].q);
    carom_soup_segments_free(&segments);
    return status;
}

static carom_vec3 middle_of(const carom_bounds *b, double *radius) {
    double x = b->high.x - b->low.x, y = b->high.y - b->low.y, z = b->high.z - b->low.z;
    *radius = 0.5 * sqrt(x * x + y * y + z * z);
    return (carom_vec3){0.5 * b->low.x + 0.5 * b->high.x, 0.5 * b->low.y + 0.5 * b->high.y,
                        0.5 * b->low.z + 0.5 * b->high.z};
}

/* Lists the contacts; `first` is the first item of each, and others of it follow. */
static void add_list(show *s, display_item *const *first) {
    static const char *const columns[] = {"contact", "parts", "faces", "pairs", "length"};
    display_list *list = display_add_list(s->d, "Contacts", columns, 5 - (s->def->nearest ? 1 : 0));
    for (uint64_t i = 0; i < s->contact_count && i < MOST_CONTACTS && !s->d->no_memory; ++i) {
        const contact *c = &s->contacts[i];
        const display_item *items[DISPLAY_MOST_LIT] = {NULL};
        int lit = 0;
        char number[24], faces[24], pairs[24], length[32], parts[512] = "";
        for (uint64_t k = first[i]->index; k < s->d->item_count && s->d->items[k]->contact == i &&
                                           s->d->items[k]->kind == DISPLAY_PATCH;
             ++k) {
            size_t used = strlen(parts);
            if (s->d->items[k]->part->name != NULL)
                snprintf(parts + used, sizeof(parts) - used, "%s%.200s", used != 0 ? ", " : "",
                         s->d->items[k]->part->name);
            if (lit < DISPLAY_MOST_LIT - 2) items[lit++] = s->d->items[k];
        }
        if (c->curve != NULL) items[lit++] = c->curve;
        snprintf(number, sizeof(number), "%llu", (unsigned long long)i + 1);
        snprintf(faces, sizeof(faces), "%llu", (unsigned long long)c->faces);
        snprintf(pairs, sizeof(pairs), "%llu", (unsigned long long)c->pairs);
        snprintf(length, sizeof(length), "%.6g", c->length);
        const char *const cells[] = {number, parts, faces, pairs, length};
        double radius;
        carom_vec3 at = middle_of(&c->box, &radius);
        if (!isfinite(radius)) { /* faces without area, which meet nothing */
            at = first[i]->point_count != 0 ? first[i]->points[0] : (carom_vec3){0.0, 0.0, 0.0};
            radius = 0.0;
        }
        for (int k = 0; k < lit; ++k) {
            display_item *item = s->d->items[items[k]->index];
            display_tell_count(s->d, &item->numbers, "faces of the contact", c->faces);
            display_tell_count(s->d, &item->numbers, "pairs of faces", c->pairs);
        }
        display_add_row(s->d, list, cells, items, at, radius);
    }
    if (list != NULL) list->total = s->contact_count;
}

carom_status where_show(cli *cli, const where_def *def, display *d) {
    show s = {.def = def, .d = d, .first_of_b = def->a->face_count};
    s.face_count = s.first_of_b + (def->b != NULL ? def->b->face_count : 0);
    display_begin(d, cli, def->title);
    carom_status status = s.face_count < CAROM_NONE ? CAROM_OK : CAROM_TOO_LARGE;
    if (status == CAROM_OK) status = display_mesh_open(cli, def->a, def->fan, NULL, &s.meshes[0]);
    if (status == CAROM_OK && def->b != NULL)
        status = display_mesh_open(cli, def->b, def->fan, def->soups.pose, &s.meshes[1]);
    display_item **first = calloc(MOST_CONTACTS + 1, sizeof(display_item *));
    if (status == CAROM_OK && (first == NULL || !find_contacts(&s))) status = CAROM_NO_MEMORY;
    if (status == CAROM_OK) {
        display_add_mesh(d, &s.meshes[0], def->paths[0]);
        if (def->b != NULL) display_add_mesh(d, &s.meshes[1], def->paths[1]);
        if (!d->no_memory) add_patches(&s, first);
        if (!d->no_memory) status = add_curves(&s);
        display_tell_count(d, &d->answers, "pairs of faces", def->pairs->count);
        display_tell_count(d, &d->answers, "contacts", s.contact_count);
        display_tell_count(d, &d->answers, "faces in contact", s.lit_count);
        if (status == CAROM_OK && !d->no_memory) add_list(&s, first);
        if (d->no_memory) status = CAROM_NO_MEMORY;
    }
    for (int i = 0; i < 2; ++i) display_mesh_close(&s.meshes[i]);
    free(first);
    free(s.parent);
    free(s.contact_of);
    free(s.contacts);
    free(s.faces);
    return status;
}
