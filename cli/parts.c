/* SPDX-License-Identifier: MIT */
/* Parts of meshes. The faces are sorted by part once, by counting, so that a view of each part
 * costs only its own size. Pairs of parts are counted in a hash table. */
#include "cli/parts.h"

#include <stdlib.h>
#include <string.h>

const char *parts_name(const carom_mesh_view *view, uint64_t part) {
    return view->part_names != NULL && part < view->part_count ? view->part_names[part] : "";
}

/* ---- All parts of a mesh --------------------------------------------------------------------- */

static uint64_t offset_of(const carom_mesh_view *view, uint64_t face) {
    return view->offsets != NULL ? view->offsets[face] : 3 * face;
}

static size_t point_size(const carom_mesh_view *view) {
    return view->scalar == CAROM_SCALAR_FLOAT32 ? 3 * sizeof(float) : 3 * sizeof(double);
}

/* One element at least, so that NULL means that there is no memory. */
static void *take(uint64_t count, size_t size) {
    return calloc((size_t)count + 1, size);
}

static uint32_t part_of(const carom_mesh_view *view, uint64_t face) {
    return view->parts != NULL ? view->parts[face] : 0;
}

static void sort_faces(parts *p) {
    const carom_mesh_view *view = &p->mesh;
    uint64_t sum = 0;
    for (uint64_t f = 0; f < view->face_count; ++f) ++p->begins[part_of(view, f)];
    for (uint64_t i = 0; i <= view->part_count; ++i) {
        uint64_t count = p->begins[i];
        p->begins[i] = sum;
        sum += count;
    }
    for (uint64_t f = 0; f < view->face_count; ++f)
        p->faces[p->begins[part_of(view, f)]++] = (uint32_t)f;
    for (uint64_t i = view->part_count; i > 0; --i) p->begins[i] = p->begins[i - 1];
    p->begins[0] = 0;
}

static size_t property_size(carom_mesh_property_type type) {
    static const uint8_t sizes[CAROM_MESH_PROPERTY_TYPE_COUNT] = {8, 4, 1, 1, 2, 2, 4, 4};
    return sizes[type];
}

/* Copies the properties of one vertex or face. */
static void copy_properties(parts *p, bool of_faces, uint64_t from, uint64_t to) {
    for (uint64_t i = 0; i < p->mesh.property_count; ++i) {
        const carom_mesh_property *property = &p->mesh.properties[i];
        size_t size = property_size(property->type);
        if (property->of_faces == of_faces)
            memcpy((char *)p->values[i] + to * size, (const char *)property->values + from * size,
                   size);
    }
}

bool parts_open(const carom_mesh_view *view, parts *p) {
    *p = (parts){.mesh = *view};
    p->begins = take(view->part_count + 1, sizeof(*p->begins));
    p->faces = take(view->face_count, sizeof(*p->faces));
    p->latest = take(view->vertex_count, sizeof(*p->latest));
    p->number = take(view->vertex_count, sizeof(*p->number));
    p->positions = take(view->vertex_count, point_size(view));
    p->corners = take(offset_of(view, view->face_count), sizeof(*p->corners));
    p->offsets = take(view->face_count, sizeof(*p->offsets));
    p->properties = take(view->property_count, sizeof(*p->properties));
    p->values = take(view->property_count, sizeof(*p->values));
    bool all = p->properties != NULL && p->values != NULL;
    for (uint64_t i = 0; i < view->property_count && all; ++i) {
        const carom_mesh_property *from = &view->properties[i];
        p->properties[i] = *from;
        p->properties[i].values = p->values[i] =
            take(from->of_faces ? view->face_count : view->vertex_count, property_size(from->type));
        all = p->values[i] != NULL;
    }
    if (!all || p->begins == NULL || p->faces == NULL || p->latest == NULL || p->number == NULL ||
        p->positions == NULL || p->corners == NULL || p->offsets == NULL)
        return false;
    sort_faces(p);
    return true;
}

void parts_close(parts *p) {
    for (uint64_t i = 0; i < p->mesh.property_count && p->values != NULL; ++i) free(p->values[i]);
    free(p->values);
    free(p->properties);
    free(p->begins);
    free(p->faces);
    free(p->latest);
    free(p->number);
    free(p->positions);
    free(p->corners);
    free(p->offsets);
    *p = (parts){0};
}

void parts_get(parts *p, uint64_t part, carom_mesh_view *view) {
    const carom_mesh_view *mesh = &p->mesh;
    size_t size = point_size(mesh);
    uint32_t vertices = 0;
    uint64_t corners = 0, faces = parts_face_count(p, part);
    for (uint64_t i = 0; i < faces; ++i) {
        uint64_t face = p->faces[p->begins[part] + i], end = offset_of(mesh, face + 1);
        for (uint64_t c = offset_of(mesh, face); c < end; ++c) {
            uint32_t v = mesh->corners[c];
            if (p->latest[v] != part + 1) {
                memcpy(p->positions + vertices * size,
                       (const char *)mesh->positions + v * mesh->stride, size);
                copy_properties(p, false, v, vertices);
                p->latest[v] = (uint32_t)part + 1;
                p->number[v] = vertices++;
            }
            p->corners[corners++] = p->number[v];
        }
        p->offsets[i + 1] = corners;
        copy_properties(p, true, face, i);
    }
    *view = (carom_mesh_view){
        .positions = p->positions,
        .scalar = mesh->scalar,
        .vertex_count = vertices,
        .corners = p->corners,
        .offsets = mesh->offsets != NULL ? p->offsets : NULL,
        .face_count = faces,
        .part_names = mesh->part_names != NULL ? mesh->part_names + part : NULL,
        .part_count = 1,
        .properties = p->properties,
        .property_count = mesh->property_count,
    };
}

/* ---- Selection ------------------------------------------------------------------------------- */

static carom_status find_part(cli *cli, const char *path, const char *part,
                              const carom_mesh_view *view, uint64_t *found) {
    uint64_t named = 0, number;
    for (uint64_t p = view->part_count; p-- > 0;)
        if (*part != '\0' && strcmp(parts_name(view, p), part) == 0) {
            *found = p;
            ++named;
        }
    if (named == 1) return CAROM_OK;
    if (named == 0 && args_read_count(part, &number) && number < view->part_count) {
        *found = number;
        return CAROM_OK;
    }
    if (named > 1)
        snprintf(cli->message, sizeof(cli->message),
                 "%.200s: %llu parts are called %.100s, the first is number %llu; give a number",
                 path, (unsigned long long)named, part, (unsigned long long)*found);
    else
        snprintf(cli->message, sizeof(cli->message),
                 "%.200s: no part is called %.100s, and the numbers go from 0 to %llu; carom info "
                 "lists them",
                 path, *part != '\0' ? part : "\"\"", (unsigned long long)view->part_count - 1);
    return CAROM_BAD_INPUT;
}

carom_status parts_select(cli *cli, const char *path, const char *part, carom_mesh **mesh) {
    carom_mesh_view view, one;
    uint64_t found = 0;
    if (part == NULL) return CAROM_OK;
    carom_status status = carom_mesh_get_view(*mesh, &view);
    if (status == CAROM_OK) status = find_part(cli, path, part, &view, &found);
    if (status != CAROM_OK) return status;
    parts p;
    carom_mesh *selected = NULL;
    status = CAROM_NO_MEMORY;
    if (parts_open(&view, &p)) {
        parts_get(&p, found, &one);
        status = carom_mesh_create(cli->context, &one, &selected);
    }
    parts_close(&p);
    if (status != CAROM_OK) return status;
    carom_mesh_destroy(*mesh);
    *mesh = selected;
    return CAROM_OK;
}

/* ---- Pairs of parts -------------------------------------------------------------------------- */

#define FEWEST_SLOTS 256u

/* The finaliser of splitmix64. */
static uint64_t hash_pair(uint32_t a, uint32_t b) {
    uint64_t z = ((uint64_t)a << 32 | b) + UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

/* The slot of the pair, or the empty one (its count is 0) where it belongs. */
static part_pair *find_slot(const part_pairs *pairs, uint32_t a, uint32_t b) {
    uint64_t slot = hash_pair(a, b) & (pairs->size - 1);
    while (pairs->data[slot].count != 0 && (pairs->data[slot].a != a || pairs->data[slot].b != b))
        slot = (slot + 1) & (pairs->size - 1);
    return &pairs->data[slot];
}

static bool double_slots(part_pairs *pairs) {
    part_pairs larger = {.count = pairs->count,
                         .size = pairs->size != 0 ? 2 * pairs->size : FEWEST_SLOTS};
    larger.data = calloc((size_t)larger.size, sizeof(*larger.data));
    if (larger.data == NULL) return false;
    for (uint64_t i = 0; i < pairs->size; ++i)
        if (pairs->data[i].count != 0)
            *find_slot(&larger, pairs->data[i].a, pairs->data[i].b) = pairs->data[i];
    free(pairs->data);
    *pairs = larger;
    return true;
}

void part_pairs_add(part_pairs *pairs, uint32_t a, uint32_t b) {
    if (2 * (pairs->count + 1) > pairs->size && !double_slots(pairs)) {
        pairs->no_memory = true;
        return;
    }
    part_pair *slot = find_slot(pairs, a, b);
    pairs->count += slot->count == 0;
    *slot = (part_pair){a, b, slot->count + 1};
}

static int compare(const void *one, const void *other) {
    const part_pair *x = one, *y = other;
    if (x->a != y->a) return x->a < y->a ? -1 : 1;
    return x->b < y->b ? -1 : x->b > y->b;
}

void part_pairs_sort(part_pairs *pairs) {
    uint64_t kept = 0;
    for (uint64_t i = 0; i < pairs->size; ++i)
        if (pairs->data[i].count != 0) pairs->data[kept++] = pairs->data[i];
    if (kept != 0) qsort(pairs->data, (size_t)kept, sizeof(*pairs->data), compare);
    pairs->size = kept;
}

void part_pairs_free(part_pairs *pairs) {
    free(pairs->data);
    *pairs = (part_pairs){0};
}
